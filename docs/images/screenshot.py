"""Makes docs/images/demo.svg from a real run of `agentls demo` in a terminal (needs tmux)."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
AGENTLS = Path(sys.executable).parent / "agentls"
TMUX = ["tmux", "-L", "agentls-screenshot"]
WIDTH, HEIGHT = 92, 60


def screen() -> str:
    shown = subprocess.run(
        [*TMUX, "capture-pane", "-e", "-p", "-S", "-"], check=True, capture_output=True, text=True
    )
    return shown.stdout


def until(words: str) -> None:
    for _ in range(300):
        if words in screen():
            return
        time.sleep(0.1)
    raise SystemExit(f"{words!r} never came:\n{screen()}")


def main() -> None:
    size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
    start = "PS1='$ ' AGENTLS_DEMO_DELAY=0.005 exec bash --norc"
    subprocess.run([*TMUX, "new-session", "-d", *size, start], check=True)
    try:
        until("$")
        subprocess.run(
            [*TMUX, "send-keys", f"PATH={AGENTLS.parent}:$PATH; clear", "Enter"], check=True
        )
        subprocess.run([*TMUX, "clear-history"], check=True)
        subprocess.run([*TMUX, "send-keys", "agentls demo", "Enter"], check=True)
        for count in (1, 2):
            until_count(count)
            subprocess.run([*TMUX, "send-keys", "y", "Enter"], check=True)
        until("is gone now")
        text = screen()
    finally:
        subprocess.run([*TMUX, "kill-server"], check=False)
    lines = text[text.index("$ agentls demo") :].rstrip().splitlines()
    console = Console(record=True, width=WIDTH, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(Text.from_ansi("\n".join(lines[:-2])), no_wrap=True)
    (HERE / "demo.svg").write_text(standing_alone(console.export_svg(title="agentls demo")))


def standing_alone(svg: str) -> str:
    """Without fonts from elsewhere, and with every space where it was."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas").replace(
        "<text ", '<text xml:space="preserve" '
    )
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


def until_count(count: int) -> None:
    """The question has come for the n-th time."""
    for _ in range(300):
        if screen().count("Allow always") + screen().count("Always allow") >= count:
            return
        time.sleep(0.1)
    raise SystemExit(f"question {count} never came:\n{screen()}")


if __name__ == "__main__":
    main()
