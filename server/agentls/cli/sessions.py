"""`agentls sessions`: the sessions of all agents and editors, listed, read, searched and deleted.

Reads and changes the store only: no agent is started but by `resume`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentls.core.errors import AgentlsError, BadRequest
from agentls.core.printable import one_line, printable
from agentls.core.store import Hit, SessionStore, SessionSummary
from agentls.core.transcript import Entry

from .codes import DONE, USAGE
from .help import usage_error
from .session_tree import show_tree
from .session_usage import show_usage
from .session_words import (
    add_filters,
    filter_of,
    named,
    short_folder,
    state_words,
    title_words,
    when,
)

_ABOUT = """\
The sessions with all agents, from every editor and terminal: those that run now, and the past ones.
An id may be shortened as long as it is clear which session is meant.
"""
_EXAMPLES = """\
examples:
  agentls sessions                                    the newest ones
  agentls sessions list --project . --agent claude --since 7d
  agentls sessions search "flaky test" --file tests/test_login.py
  agentls sessions tree                               which agents started which
  agentls sessions usage --since 30d                  tokens and money, by day
  agentls sessions export k3v9 -o talk.md
"""
_LIMIT = 30


def command(args: Sequence[str]) -> int:
    # Options without an action are options of the list.
    words = list(args)
    if not words or (words[0].startswith("-") and words[0] not in {"-h", "--help"}):
        words = ["list", *words]
    if words[0] == "resume" and not {"-h", "--help"} & set(words):
        return _resume(words[1:])
    wanted = parser().parse_args(words)
    try:
        wanted.do(_store(), wanted)
    except AgentlsError as error:
        print(f"agentls: {error}", file=sys.stderr)
        return USAGE
    return DONE


def _store() -> SessionStore:
    from agentls.runtime import LoopClock, new_id
    from agentls.storage.paths import database_file
    from agentls.storage.store import Store

    return Store(database_file(os.environ), LoopClock(), new_id).sessions


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "agentls sessions",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(
        required=True, metavar="list|tree|usage|show|search|resume|export|import|archive|delete"
    )

    def action(name: str, help: str, do: Any) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=help, description=help, allow_abbrev=False)
        added.set_defaults(do=do)
        return added

    listing = action("list", "which there are, the newest first", _list)
    listing.add_argument("--title", default="", metavar="WORDS", help="with this in the title")
    add_filters(listing)
    _add_limit(listing)

    tree = action("tree", "agents that started others, and those below them", show_tree)
    tree.add_argument("id", nargs="?", default="", metavar="ID", help="only this one's")
    add_filters(tree)
    _add_limit(tree)

    using = action("usage", "what agents used, by day", show_usage)
    add_filters(using)
    _add_limit(using)

    showing = action("show", "read one", _show)
    showing.add_argument("id", metavar="ID")
    showing.add_argument("--last", type=_count, default=20, metavar="N", help="so many pieces (20)")
    _add_json(showing)

    searching = action("search", "look for words in all that was ever said, edited or run", _search)
    searching.add_argument("words", nargs="+", metavar="WORDS")
    searching.add_argument("--file", default="", metavar="PATH", help="only about this file")
    add_filters(searching)
    _add_limit(searching)

    resuming = action("resume", "go on with one: agentls run --resume ID, in a chat", _show)
    resuming.add_argument("id", metavar="ID")
    resuming.add_argument("prompt", nargs="*", metavar="PROMPT", help="what to say; else a chat")
    resuming.epilog = "It takes the options of agentls run, too."

    exporting = action("export", "write one out, as Markdown or JSON", _export)
    exporting.add_argument("id", metavar="ID")
    exporting.add_argument(
        "-o", "--output", default="", metavar="FILE", help="a new file; else stdout"
    )
    _add_json(exporting, "all of it as JSON, which import takes; so too with FILE.json")

    importing = action("import", "take in what export --json has written", _import)
    importing.add_argument("file", metavar="FILE")

    archiving = action("archive", "put out of sight, and back with --undo", _archive)
    archiving.add_argument("ids", nargs="+", metavar="ID")
    archiving.add_argument("--undo", action="store_true", help="take back into the list")

    deleting = action("delete", "for good", _delete)
    deleting.add_argument("ids", nargs="+", metavar="ID")
    deleting.add_argument("-y", "--yes", action="store_true", help="do not ask first")
    return parser


def _add_limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--limit",
        type=_count,
        default=_LIMIT,
        metavar="N",
        help=f"at most so many ({_LIMIT})",
    )
    _add_json(parser)


def _add_json(parser: argparse.ArgumentParser, help: str = "as JSON") -> None:
    parser.add_argument("--json", action="store_true", help=help)


def _count(text: str) -> int:
    if not 0 < (count := int(text)) < 1 << 31:
        raise argparse.ArgumentTypeError("must be more than 0")
    return count


# -- looking


def _list(store: SessionStore, wanted: argparse.Namespace) -> None:
    found = store.summaries(filter_of(wanted, title=wanted.title), limit=wanted.limit)
    if wanted.json:
        _print_json([_facts(s) for s in found])
        return
    if not found:
        print("There are no such sessions.")
        return
    rows = [
        (
            s.id,
            one_line(s.agent),
            state_words(s),
            when(s.active),
            title_words(s),
            short_folder(s.cwd),
        )
        for s in found
    ]
    _print_table(("id", "agent", "state", "active", "title", "folder"), rows)


def _facts(summary: SessionSummary) -> dict[str, Any]:
    import msgspec

    facts: dict[str, Any] = msgspec.to_builtins(summary)
    return facts


def _show(store: SessionStore, wanted: argparse.Namespace) -> None:
    summary = named(store, wanted.id)
    page = store.page(summary.id, last=wanted.last)
    if wanted.json:
        entries = [_entry_facts(entry) for entry in page.entries]
        _print_json({**_facts(summary), "first": page.first, "shown": entries})
        return
    from agentls.core.markdown import transcript_markdown
    from agentls.core.transcript import Transcript

    part = Transcript()
    part.entries.extend(page.entries)
    print(_head(summary))
    if page.first > 1:
        print(f"({page.first - 1} earlier pieces are left out; see them with --last {page.total})")
    text = transcript_markdown(part, title=title_words(summary))
    print(printable(text.partition("\n\n")[2]).rstrip("\n"))


def _entry_facts(entry: Entry) -> dict[str, Any]:
    import msgspec

    from agentls.storage.codec import KINDS

    # A text that grows is the only thing in an entry that is not plain data.
    return {"type": KINDS[type(entry)], **msgspec.to_builtins(entry, enc_hook=str)}


def _head(summary: SessionSummary) -> str:
    model = f" ({one_line(summary.model)})" if summary.model else ""
    return (
        f"{title_words(summary)}\n{summary.id}  {one_line(summary.agent)}{model}"
        f"  {state_words(summary)}  {when(summary.active)}  {short_folder(summary.cwd)}\n"
    )


def _search(store: SessionStore, wanted: argparse.Namespace) -> None:
    words = " ".join(wanted.words)
    hits = store.search(words, filter_of(wanted, file=wanted.file), limit=wanted.limit)
    if wanted.json:
        import msgspec

        _print_json([msgspec.to_builtins(hit) for hit in hits])
        return
    if not hits:
        print("Nothing was found.")
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for hit in hits:
        console.print(_hit(hit))


def _hit(hit: Hit) -> Any:
    from rich.text import Text

    line = Text.assemble(
        (hit.session, "bold"),
        f"  {when(hit.at)}  {one_line(hit.agent)}  ",
        (one_line(hit.title) or "(no title)", "dim"),
        "\n    ",
    )
    at = 0
    for start, end in hit.marks:
        line.append(_flat(hit.snippet[at:start]))
        line.append(_flat(hit.snippet[start:end]), "bold yellow")
        at = end
    return line.append(_flat(hit.snippet[at:]))


def _flat(text: str) -> str:
    """On one line, with the spaces at its ends."""
    return printable(text).replace("\n", " ").replace("\t", " ")


def _resume(words: Sequence[str]) -> int:
    """What `run` does, with the session that is meant."""
    if not words or words[0].startswith("-"):
        return usage_error("sessions resume wants the id of a session first.")
    try:
        id = named(_store(), words[0]).id
    except AgentlsError as error:
        return usage_error(str(error))
    from .run import command as run

    chat = [] if any(not word.startswith("-") for word in words[1:]) else ["--chat"]
    return run(["--resume", id, *chat, *words[1:]])


# -- taking out and in


def _export(store: SessionStore, wanted: argparse.Namespace) -> None:
    summary = named(store, wanted.id)
    as_json = wanted.json or wanted.output.endswith(".json")
    if as_json:
        data = store.export(summary.id)
    else:
        from agentls.core.markdown import transcript_markdown

        stored = store.load(summary.id)
        text = transcript_markdown(
            stored.transcript, title=summary.title, agent=summary.agent, cwd=summary.cwd
        )
        data = text.encode("utf-8", "replace")
    if not wanted.output:
        sys.stdout.buffer.write(data.removesuffix(b"\n") + b"\n")
        return
    try:
        with Path(wanted.output).open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise BadRequest(f"{wanted.output} exists already.", hint="Name a new file.") from None
    except OSError as error:
        raise BadRequest(f"{wanted.output} cannot be written: {error.strerror}.") from None
    print(f"Saved to {wanted.output}; read it before you share it.")


def _import(store: SessionStore, wanted: argparse.Namespace) -> None:
    try:
        data = Path(wanted.file).read_bytes()
    except OSError as error:
        raise BadRequest(f"{wanted.file} cannot be read: {error.strerror}.") from None
    print(store.take_in(data))


# -- changing


def _archive(store: SessionStore, wanted: argparse.Namespace) -> None:
    for summary in [named(store, id) for id in wanted.ids]:
        store.archive(summary.id, not wanted.undo)
        print(f"{'back' if wanted.undo else 'archived'}: {summary.id}  {title_words(summary)}")


def _delete(store: SessionStore, wanted: argparse.Namespace) -> None:
    doomed = [named(store, id) for id in wanted.ids]
    if not wanted.yes:
        for summary in doomed:
            print(f"{summary.id}  {title_words(summary)}")
        if not sys.stdin.isatty():
            raise BadRequest("Nobody can be asked here.", hint="Add --yes to delete them.")
        answer = input(f"Delete {'it' if len(doomed) == 1 else 'them'} for good? [y/N] ")
        if answer.strip().lower() not in {"y", "yes"}:
            print("Nothing was deleted.")
            return
    for summary in doomed:
        store.delete(summary.id)
        print(f"deleted: {summary.id}  {title_words(summary)}")


# -- printing


def _print_json(value: Any) -> None:
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value)).decode("utf-8", "replace"))


def _print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if not sys.stdout.isatty():
        for row in rows:
            print("\t".join(row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, header_style="dim")
    for name in names:
        long = name in {"title", "folder"}
        table.add_column(name, no_wrap=True, overflow="ellipsis", ratio=2 if long else None)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(table)
