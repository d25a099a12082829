"""Recordings of ACP traffic: a bounded ring of raw frames per agent, and its form as JSON lines.

Invariant: a frame leaves memory only through the redaction below. It is careful, not clever: a
secret that an agent streams in several pieces is not recognised, so read a recording before you
share it.

A recording holds one object a line: `t` (seconds since the start), `dir` ("out" to the agent, "in"
from the agent, its "stderr", or a "note" of ours) and `msg`: an object, or the raw text of a line
that is no JSON object. A frame that was cut has `size`, its true length in bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, NoReturn

from agentls import __version__
from agentls.core.errors import BadRequest

Direction = Literal["out", "in", "stderr", "note"]

RING_BYTES: Final = 4 << 20
FRAME_BYTES: Final = 64 << 10
# What a frame costs besides its bytes; without it a flood of empty lines would not be bounded.
_FRAME_COST: Final = 128

MARK: Final = "[redacted]"


class Frame(NamedTuple):
    """One line of a recording. `dir` is a Direction, or "do" in a hand-written scenario."""

    t: float
    dir: str
    msg: Any
    line: int
    size: int | None = None  # the true length of a frame that was cut


class FrameRing:
    """The latest frames to and from one agent, bounded by their total size."""

    __slots__ = ("_frames", "_held", "_limit", "_started", "dropped")

    def __init__(self, started: float, *, limit: int = RING_BYTES) -> None:
        self._frames: deque[tuple[float, Direction, bytes, int]] = deque()
        self._held = 0
        self._limit = limit
        self._started = started
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def held(self) -> int:
        """How many bytes the frames are charged with; never above the limit."""
        return self._held

    def add(self, direction: Direction, line: bytes, now: float) -> None:
        # Runs for each frame of the wire: keep it free of calls.
        size = len(line)
        if size > FRAME_BYTES:
            line = line[:FRAME_BYTES]
        self._frames.append((now, direction, line, size))
        self._held += len(line) + _FRAME_COST
        if self._held > self._limit:
            self._drop_oldest()

    def note(self, remark: str | dict[str, Any], now: float) -> None:
        """Adds a remark of ours: a start, an exit code."""
        text = remark if isinstance(remark, str) else json.dumps(remark)
        self.add("note", text.encode("utf-8", "surrogateescape"), now)

    def dump(self, agent: str, *, home: str | None = None) -> Iterator[str]:
        """The recording, redacted, line by line. `home` is shown as "~"; by default the user's."""
        frames = list(self._frames)
        clean = _Redaction(str(Path.home()) if home is None else home)
        head = {"agent": agent, "agentls": __version__, "dropped": self.dropped}
        yield json.dumps({"t": 0.0, "dir": "note", "msg": head})
        for now, direction, line, size in frames:
            t = round(now - self._started, 4)
            yield _encode(t, direction, line, size, clean)

    def save(self, path: Path, agent: str, *, home: str | None = None) -> None:
        """Writes the recording to a new file that only its owner can read."""
        text = "".join(f"{line}\n" for line in self.dump(agent, home=home))
        _write_new(path, text.encode("ascii"))

    def _drop_oldest(self) -> None:
        # A sixteenth at once, so that a full ring costs no more for each frame than a new one.
        frames, held, target = self._frames, self._held, self._limit - self._limit // 16
        before = len(frames)
        while held > target:
            held -= len(frames.popleft()[2]) + _FRAME_COST
        self._held = held
        self.dropped += before - len(frames)


def _encode(t: float, direction: Direction, line: bytes, size: int, clean: _Redaction) -> str:
    text = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    if size == len(line) and direction != "stderr":
        # A frame that is nested too deep for us is kept as text, like one that is no JSON.
        with contextlib.suppress(ValueError, RecursionError):
            msg = json.loads(text, parse_constant=_no_constant)
            if isinstance(msg, dict):
                return json.dumps({"t": t, "dir": direction, "msg": clean.value(msg)})
    raw = clean.line(text) if direction == "stderr" else clean.text(text)
    frame: dict[str, Any] = {"t": t, "dir": direction, "msg": raw}
    if size != len(line):
        frame["size"] = size
    return json.dumps(frame)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _write_new(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        # The empty file claims the name; the whole content then takes its place in one step.
        path.touch(mode=0o600, exist_ok=False)
        try:
            part.touch(mode=0o600, exist_ok=False)
            part.write_bytes(data)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            raise
    except FileExistsError:
        raise BadRequest(f"{path} exists already.", hint="Choose another name.") from None
    except OSError as error:
        raise BadRequest(f"Cannot write {path}: {error.strerror}.") from error


def load(path: Path) -> list[Frame]:
    """Reads a recording or a scenario; says which line is wrong, and why."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadRequest(f"Cannot read {path}: {error.strerror}.") from error
    frames = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                frames.append(_decode(line, number))
            except (_Malformed, ValueError, RecursionError) as error:
                raise BadRequest(f"{path}, line {number}: {error}.") from error
    if not frames:
        raise BadRequest(f"{path} holds no frames.")
    return frames


class _Malformed(Exception):
    """Why a line is not a frame."""


_MESSAGE_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "out": (dict, str),
    "in": (dict, str),
    "stderr": (str,),
    "do": (dict,),
    "note": (object,),
}
_IN_WORDS: Final[dict[type, str]] = {dict: "an object", str: "a string"}


def _decode(line: bytes, number: int) -> Frame:
    frame = json.loads(line)
    if not isinstance(frame, dict):
        raise _Malformed("a frame is an object with t, dir and msg")
    direction, t, size = frame.get("dir"), frame.get("t", 0.0), frame.get("size")
    if not isinstance(direction, str) or direction not in _MESSAGE_TYPES:
        raise _Malformed(f"dir is {direction!r}, not one of {', '.join(_MESSAGE_TYPES)}")
    types = _MESSAGE_TYPES[direction]
    if "msg" not in frame:
        raise _Malformed("msg is missing")
    if not isinstance(frame["msg"], types):
        wanted = " or ".join(_IN_WORDS[each] for each in types)
        raise _Malformed(f"msg of a frame with dir {direction!r} must be {wanted}")
    if isinstance(t, bool) or not isinstance(t, (int, float)):
        raise _Malformed(f"t is {t!r}, not a number of seconds")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
        raise _Malformed(f"size is {size!r}, not a number of bytes")
    return Frame(float(t), direction, frame["msg"], number, size)


def redacted(value: Any, *, home: str = "") -> Any:
    """A JSON value, or a text, with its secrets replaced and `home` shown as "~"."""
    return _Redaction(home).value(value)


# The end of a name decides: "access_token" is a secret, "token_count" and "maxTokens" are not.
_PASSWORD: Final = r"passw(?:or)?d|passphrase|secrets?"
_ENDINGS: Final = (
    rf"(?:{_PASSWORD}|token|api[_-]?key|(?:access|secret|private|signing)[_-]?key"
    r"|authorization|cookies?|credentials?)"
)
_SECRET_NAME: Final = rf"(?i:{_ENDINGS}$)|[A-Z0-9]_(?:KEY|PASS)$"
_ORDINARY_NAME: Final = r"(?i:(?:progress|page|next|cancel|cancellation|done|result)[_-]?token$)"
# Cheap to look for, and at least one of them is in every name above.
_HINTS: Final = ("pass", "secret", "token", "key", "authorization", "cookie", "credential")

# Where a word starts; in a raw JSON text also right after an escaped line break.
_START: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_PRIVATE_KEY: Final = r"-----{}\ [A-Z\ ]{{0,40}}PRIVATE\ KEY-----"
_SHAPES: Final = rf"""(?ax)
  {_START}(?:
    sk-(?=[\w-]{{0,200}}\d)[\w-]{{16,}} | [rs]k_(?:live|test)_\w{{16,}}
  | gh[pousr]_[A-Za-z0-9]{{20,}} | github_pat_\w{{20,}} | glpat-[\w-]{{16,}}
  | xox[a-z]-[\w-]{{10,}} | xapp-[\w-]{{20,}}
  | (?:AKIA|ASIA)[A-Z0-9]{{16}}(?![A-Za-z0-9]) | AIza[\w-]{{35}}
  | hf_[A-Za-z0-9]{{30,}} | npm_[A-Za-z0-9]{{36}}
  | eyJ[\w-]{{8,4000}}\.[\w-]{{8,}}(?:\.[\w-]*)?
  )
| {_PRIVATE_KEY.format("BEGIN")} (?s:.*?) (?:{_PRIVATE_KEY.format("END")}|\Z)
| (?<=[Bb]earer\ ) (?:(?=[\w.~+/=-]{{0,200}}\d)[\w.~+/=-]{{8,}} | [\w.~+/=-]{{20,}})
| (?<=[Aa]uthorization:\ Basic\ ) [\w+/=-]+
| (?<=[Cc]ookie:\ ) [\w.-]+=[^"'\\\n]+
| (?<=://) (?P<user>[^\s/:@"'\\]{{1,100}}:) [^\s/@"'\\]{{1,200}} (?=@)
"""
_ASSIGNED: Final = rf"""(?ix)
  (?:{_ENDINGS}|(?-i:_KEY|_PASS)) (?P<closed>\\*["'])? (?P<sep>\s{{0,4}}[:=]\s{{0,4}}|[ ])
  (?: (?P<quote>\\*["']) (?P<quoted>[^"'\\\n]+) (?=(?P=quote)|\Z)
    | (?P<bare>[^\s"'\\,;&<>()\[\]{{}}|$]+) (?![\[(]) )
"""


class _Redaction:
    """Replaces what must not leave the machine. Its patterns are built only when it is used."""

    def __init__(self, home: str) -> None:
        home = home.rstrip("/")
        place = rf"(?:(?<![\w.~-])|(?<=\\[nrt])){re.escape(home)}(?![A-Za-z0-9_-])"
        self._home = re.compile(place) if home.startswith("/") else None
        self._shapes = re.compile(_SHAPES)
        self._assigned = re.compile(_ASSIGNED)
        self._names: dict[str, bool] = {}
        self._inside_key = False

    def value(self, value: Any, *, below_secret: bool = False) -> Any:
        if isinstance(value, str):
            return MARK if below_secret and _is_random(value) else self.text(value)
        if isinstance(value, list):
            return self._items(value, below_secret)
        if isinstance(value, dict):
            return self._members(value, below_secret)
        return value

    def _members(self, members: dict[str, Any], below_secret: bool) -> dict[str, Any]:
        """The members of an object, which may be a variable or a header: {name, value}."""
        named = members.get("name", members.get("key"))
        pair = isinstance(named, str) and self._is_secret(named)
        result: dict[str, Any] = {}
        for key, item in members.items():
            shown = self.text(key)
            while shown in result:  # two names that only differed in what was removed
                shown += "+"
            secret = self._is_secret(key) or (pair and key == "value")
            result[shown] = self._member(item, secret, below_secret)
        return result

    def _member(self, item: Any, secret: bool, below_secret: bool) -> Any:
        if secret and isinstance(item, str):
            return item and MARK
        if secret and isinstance(item, list):
            return [MARK if isinstance(each, str) else self.value(each) for each in item]
        # An object under such a name may be a schema or a setting: only what looks random goes.
        return self.value(item, below_secret=below_secret or secret)

    def _items(self, items: list[Any], below_secret: bool) -> list[Any]:
        """The items of a list, which may be a command line: --api-key, its value."""
        result = []
        after_flag = False
        for item in items:
            if after_flag and isinstance(item, str) and not item.startswith("-"):
                result.append(item and MARK)
            else:
                result.append(self.value(item, below_secret=below_secret))
            after_flag = isinstance(item, str) and item[:1] == "-" and self._is_secret(item)
        return result

    def text(self, text: str) -> str:
        text = self._shapes.sub(lambda found: f"{found['user'] or ''}{MARK}", text)
        lower = text.lower()
        if any(hint in lower for hint in _HINTS):
            text = self._assigned.sub(self._assignment, text)
        return self._home.sub("~", text) if self._home else text

    def line(self, text: str) -> str:
        """One of several lines that belong together: a private key may span them."""
        if self._inside_key and re.fullmatch(r"[\w+/=:, -]*", text):
            self._inside_key = not re.match(_PRIVATE_KEY.format("END"), text)
            return MARK
        begin = [found.end() for found in re.finditer(_PRIVATE_KEY.format("BEGIN"), text)]
        self._inside_key = bool(begin) and "-----END " not in text[begin[-1] :]
        return self.text(text)

    def _assignment(self, found: re.Match[str]) -> str:
        """Decides whether `name = value` within a text gives a secret away."""
        before = re.search(r"[\w.-]*\Z", found.string[max(0, found.start() - 60) : found.start()])
        ending = found[0][: found.start("sep") - found.start()].rstrip("\\\"'")
        name = (before[0] if before else "") + ending
        kind = "quoted" if found["quoted"] else "bare"
        value = found[kind]
        if value == MARK or not self._is_secret(name):
            return found[0]
        if found["sep"] == " ":
            sure = name.startswith("-") and _is_random(value)
        elif re.fullmatch(_PASSWORD, ending, re.IGNORECASE):
            sure = kind == "quoted" or _is_mixed(value)
        else:
            sure = _is_random(value) or (kind == "quoted" and found["closed"] is not None)
        if not sure and not (found["sep"] == "=" and name.isupper()):
            return found[0]
        start = found.start(kind) - found.start()
        return found[0][:start] + MARK + found[0][start + len(value) :]

    def _is_secret(self, name: str) -> bool:
        known = self._names.get(name)
        if known is None:
            known = bool(re.search(_SECRET_NAME, name)) and not re.search(_ORDINARY_NAME, name)
            self._names[name] = known
        return known


def _is_mixed(value: str) -> bool:
    return len(value) >= 6 and bool(re.search(r"\d", value) and re.search(r"[A-Za-z]", value))


def _is_random(value: str) -> bool:
    """Letters and digits take turns too often for a word such as "uint64_t"."""
    return len(value) >= 8 and len(re.findall(r"\d(?=[A-Za-z])|[A-Za-z](?=\d)", value)) >= 3
