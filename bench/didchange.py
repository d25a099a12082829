"""CPU time of one didChange: a character typed in the middle of a document, ours and stock pygls.

Both sides get the same burst of typing on a fresh document, in turns within one run. Reading the
JSON is left out; stock gets finished lsprotocol objects, while ours still checks the raw change.
Since ours joins the lines only when the text is asked for, that is measured as well.

    PYTHONPATH=server python bench/didchange.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from lsprotocol import types
from pygls.workspace import Workspace

from agentls.editor.documents import Documents

LIMIT = 0.5
URI = "file:///bench/document.py"
BURST = 40
ROUNDS = 15

Burst = Callable[[], object]


def measure() -> list[dict[str, Any]]:
    rows = []
    for line_count in (5000, 100):
        for read in (False, True):
            value, reference = _best(line_count, read=read)
            ratio = value / reference
            rows.append(
                {
                    "name": f"didChange, {line_count} lines" + (", text read" if read else ""),
                    "value": value,
                    "unit": "µs",
                    "reference": reference,
                    "ratio": ratio,
                    "limit": LIMIT,
                    "ok": ratio <= LIMIT,
                }
            )
    return rows


def _best(line_count: int, *, read: bool) -> tuple[float, float]:
    """Microseconds per change, ours and stock: the least of several rounds taken in turns."""
    text = "".join(f"    value_{n} = compute(n, other={n})\n" for n in range(line_count))
    line = line_count // 2
    ours, stock = [], []
    for _ in range(ROUNDS):
        ours.append(_microseconds(_our_burst(text, line, read=read)))
        stock.append(_microseconds(_stock_burst(text, line, read=read)))
    return min(ours), min(stock)


def _microseconds(burst: Burst) -> float:
    start = time.process_time_ns()
    burst()
    return (time.process_time_ns() - start) / BURST / 1000


def _our_burst(text: str, line: int, *, read: bool) -> Burst:
    documents = Documents()
    document = documents.open(URI, "python", 0, text)
    changes = []
    for column in range(20, 20 + BURST):
        place = {"line": line, "character": column}
        changes.append([{"range": {"start": place, "end": place}, "text": "x"}])

    def burst() -> None:
        for version, change in enumerate(changes):
            documents.change(URI, version, change)
            if read:
                len(document.text)

    return burst


def _stock_burst(text: str, line: int, *, read: bool) -> Burst:
    workspace = Workspace(None)
    workspace.put_text_document(types.TextDocumentItem(URI, "python", 0, text))
    document = workspace.get_text_document(URI)
    changes = []
    for version, column in enumerate(range(20, 20 + BURST)):
        place = types.Range(types.Position(line, column), types.Position(line, column))
        changes.append(
            (
                types.VersionedTextDocumentIdentifier(version, URI),
                types.TextDocumentContentChangePartial(range=place, text="x"),
            )
        )

    def burst() -> None:
        for identifier, change in changes:
            workspace.update_text_document(identifier, change)
            if read:
                len(document.source)

    return burst


def main() -> None:
    print(f"{'':34}{'ours µs':>10}{'stock µs':>10}{'ratio':>9}{'limit':>7}")
    for row in measure():
        verdict = "ok" if row["ok"] else "TOO SLOW"
        print(
            f"{row['name']:34}{row['value']:10.2f}{row['reference']:10.2f}"
            f"{row['ratio']:9.4f}{row['limit']:7.2f}  {verdict}"
        )


if __name__ == "__main__":
    main()
