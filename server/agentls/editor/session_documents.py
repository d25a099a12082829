"""Sessions, asks and reasons as ordinary files in the state folder, for editors that show files."""

from __future__ import annotations

import re
from pathlib import Path

from ..core.asks import PendingAsk
from ..core.markdown import transcript_markdown
from ..core.model import AskId, Diff
from ..core.session import Session
from ..core.transcript import ToolCall

_NOTE = re.compile(r"<!--.*?-->", re.DOTALL)


class SessionDocuments:
    """Writes them; each has one name, so that an editor shows it in one place."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, session: Session) -> Path:
        return self._folder / "transcripts" / f"{session.id}.md"

    def write(self, session: Session) -> Path:
        """The conversation so far."""
        text = transcript_markdown(
            session.transcript, title=session.title, agent=session.agent_name, cwd=session.cwd
        )
        return _written(self.path(session), text)

    def write_ask(self, ask: PendingAsk, call: ToolCall | None, agent: str) -> Path:
        """What an ask is about, whole: the command, or the change."""
        parts = [f"# {agent} asks: {ask.title}", ask.judgement.ruling.why]
        if ask.judgement.shown:
            parts.append(_fenced(ask.judgement.shown))
        for content in call.content if call else ():
            if isinstance(content, Diff):
                parts.append(f"## {content.path}")
                if content.old is not None:
                    parts.append("Before:\n\n" + _fenced(content.old))
                parts.append("After:\n\n" + _fenced(content.new))
        return _written(self._folder / "asks" / f"{ask.id}.md", "\n\n".join(parts) + "\n")

    def write_page(self, ask: AskId, number: int, name: str, text: str) -> str:
        """A text that an ask is about, to be edited before it is accepted."""
        folder = self._folder / "proposals" / ask / str(number)
        return str(_written(folder / (name or "text"), text))

    def write_reason(self, ask: PendingAsk, agent: str) -> Path:
        """An empty page for the words of a rejection."""
        text = (
            "<!-- Write below why you reject this, and save. The agent hears it from you. -->\n"
            f"<!-- {agent} asks: {ask.title.replace('--', '- -')} -->\n\n"
        )
        return _written(self._folder / "reasons" / f"{ask.id}.md", text)


def reason_in(text: str) -> str:
    """What somebody wrote on the page for a reason."""
    return _NOTE.sub("", text).strip()


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def _fenced(text: str) -> str:
    fence = "`" * max(3, max((len(run) + 1 for run in re.findall(r"`+", text)), default=3))
    return f"{fence}\n{text}\n{fence}"
