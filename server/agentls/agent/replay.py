"""A scripted agent: plays one recording of ACP traffic on stdin and stdout.

    python -m agentls.agent.replay FILE [--segment K] [--patience SECONDS]

Invariant: the recording is one ordered stream with one cursor. Frames from the agent are written
when the cursor reaches them. A frame to the agent is a barrier: the cursor waits until the client
sends its counterpart, a request or a notification of the same method, or the response with the
same id. Earlier messages wait for their barrier in the order of their arrival; a request that the
rest of the recording does not have is answered with "method not found".

Each `initialize` in a recording begins a segment, the life of one process. Hand-written scenarios
may also hold frames with dir "do"; `VERBS` lists what they can ask for. In their texts, and in
frames from the agent that are no objects, "\\udc80" to "\\udcff" stand for the raw bytes 80 to ff.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from agentls.agent.recording import Frame, load
from agentls.core.errors import BadRequest

VERBS: Final[dict[str, tuple[str, ...]]] = {
    "delay": ("ms",),  # let time pass
    "burst": ("count",),  # the next frames from the agent in one write
    "repeat": ("count",),  # the next frame so many times; {i} in it is the number of the turn
    "stderr": ("text",),  # as it is, without a line break of its own
    "garbage": ("text",),  # a raw line
    "big": ("bytes", "kind"),  # one line of that length: "garbage", or "notification" of "session"
    "fork": (),  # a child that outlives us, with all our pipes; its process id goes to stderr
    "deaf": (),  # read nothing more, pass all barriers and go on
    "hang": (),  # read nothing more and ignore all signals that can be ignored
    "exit": ("code",),
}
# A process that does not notice the end of its client ends by itself after this time.
LIFE_SECONDS: Final = 60
MISMATCH: Final = 4

_Key = tuple[str, str | int | None]


class Action(NamedTuple):
    """What the client did in one frame of a recording.

    A response has the method and the parameters of the agent's request, and an `answer`: an object
    with its result or its error.
    """

    segment: int
    line: int
    kind: str  # "request", "notification" or "response"
    method: str
    params: Any
    id: str | int | None
    answer: dict[str, Any]


class _ClientGone(Exception):
    """The client has closed its end."""


class _Mismatch(Exception):
    """The client does not do what the recording waits for."""


def segments(frames: Sequence[Frame]) -> list[list[Frame]]:
    """The frames of each process. What precedes the first `initialize` belongs to the first."""
    result: list[list[Frame]] = [[]]
    begun = False
    for frame in frames:
        if _message(frame).get("method") == "initialize" and frame.dir == "out":
            if begun:
                result.append([])
            begun = True
        result[-1].append(frame)
    return result


def outline(path: Path) -> list[Action]:
    """What the client does in a recording, in order, for a driver that is to do the same."""
    actions = []
    for segment, frames in enumerate(segments(load(path))):
        asked: dict[Any, dict[str, Any]] = {}
        for frame in frames:
            message = _message(frame)
            kind, name = _key(message) or ("", None)
            if frame.dir == "in" and kind == "request":
                asked[message["id"]] = message
            elif frame.dir == "out" and kind:
                about = asked.get(name, {}) if kind == "response" else message
                answer = {part: message[part] for part in message if part in ("result", "error")}
                method, params = about.get("method", ""), about.get("params")
                actions.append(
                    Action(segment, frame.line, kind, method, params, message.get("id"), answer)
                )
    return actions


def _message(frame: Frame) -> dict[str, Any]:
    """The JSON-RPC message of a frame; of one that was cut, as much as can be told."""
    if isinstance(frame.msg, dict):
        return frame.msg if frame.dir in ("in", "out") else {}
    if frame.size is None:
        return {}
    head = re.match(
        r'\{"jsonrpc": ?"2.0"(?:, ?"id": ?(\d+|"[^"\\]*"))?'
        r'(?:, ?"method": ?("[^"\\]*"))?, ?"(params|result|error)"',
        frame.msg,
    )
    if head is None:
        return {}
    named = {"id": head[1], "method": head[2]}
    message = {name: json.loads(text) for name, text in named.items() if text}
    if "method" in message:
        return {"jsonrpc": "2.0", **message, "params": {}}
    error = {"code": -32603, "message": "This answer was cut when it was recorded."}
    return {"jsonrpc": "2.0", **message, "error": error}


def _key(message: dict[str, Any]) -> _Key | None:
    """What two messages have in common that stand for each other."""
    method, number = message.get("method"), message.get("id")
    if isinstance(method, str):
        return ("request" if "id" in message else "notification", method)
    return ("response", number) if isinstance(number, (str, int)) else None


class _Player:
    """Plays the frames of one segment."""

    def __init__(self, frames: Sequence[Frame], patience: float) -> None:
        self._frames = frames
        self._patience = patience
        self._owed = Counter(_key(_message(frame)) for frame in frames if _is_barrier(frame))
        self._inbox: list[tuple[_Key, dict[str, Any]]] = []
        self._strays: deque[str] = deque(maxlen=6)
        self._live_ids: dict[Any, Any] = {}
        self._unread: list[bytes] = []
        self._deaf = False
        self._repeat: int | None = None
        self._burst = 0
        self._unwritten = b""

    def play(self) -> None:
        for frame in self._frames:
            if frame.dir == "in":
                self._emit(frame)
            elif frame.dir == "stderr":
                self._stderr(_raw(frame.msg))
            elif frame.dir == "do":
                if frame.msg["do"] not in ("repeat", "garbage"):
                    self._flush()
                getattr(self, f"_do_{frame.msg['do']}")(frame.msg)
            elif _is_barrier(frame):
                self._flush()
                self._await(frame)
        self._flush()
        if self._deaf:
            time.sleep(LIFE_SECONDS)
        while True:
            self._listen(LIFE_SECONDS)

    # From the client.

    def _await(self, frame: Frame) -> None:
        message = _message(frame)
        wanted = _key(message)
        if self._deaf:
            return
        deadline = time.monotonic() + self._patience
        while True:
            for place, (key, arrived) in enumerate(self._inbox):
                if key == wanted:
                    del self._inbox[place]
                    self._owed[key] -= 1
                    if key[0] == "request":
                        self._live_ids[message["id"]] = arrived["id"]
                    return
            left = deadline - time.monotonic()
            if left <= 0:
                unmatched = [*(_say(key) for key, _ in self._inbox), *self._strays]
                raise _Mismatch(
                    f"line {frame.line} waited {self._patience:g} seconds for {_say(wanted)}; "
                    f"unmatched so far: {', '.join(unmatched[:12]) or 'nothing'}"
                )
            self._listen(left)

    def _listen(self, seconds: float) -> None:
        """Takes in what the client sends, once, within that time."""
        if not select.select([0], [], [], min(seconds, LIFE_SECONDS))[0]:
            return
        data = os.read(0, 1 << 16)
        if not data:
            raise _ClientGone
        self._unread.append(data)
        if b"\n" in data:
            *lines, rest = b"".join(self._unread).split(b"\n")
            self._unread = [rest]
            for line in lines:
                self._arrive(line)

    def _arrive(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        key = _key(message) if isinstance(message, dict) else None
        if key is None:
            self._strays.append(f"a line that is no message ({line[:80]!r})")
        elif self._owed[key] > sum(held == key for held, _ in self._inbox):
            self._inbox.append((key, message))
        else:
            self._strays.append(_say(key))
            if key[0] == "request":
                error = {"code": -32601, "message": f"Method not found: {key[1]}"}
                self._write(_line({"jsonrpc": "2.0", "id": message["id"], "error": error}))

    # To the client.

    def _emit(self, frame: Frame) -> None:
        message = _message(frame)
        if frame.size is not None:
            _write_all(2, f"replay: line {frame.line} was cut when it was recorded\n".encode())
        if isinstance(frame.msg, str) and not message:
            line = _raw(frame.msg)
        elif "method" not in message and "id" in message:
            line = _line({**message, "id": self._live_id(message["id"])})
        else:
            line = _line(message)
        for each in self._turns(line):
            self._write(each)

    def _turns(self, data: bytes) -> Iterable[bytes]:
        times, self._repeat = self._repeat, None
        if times is None:
            return (data,)
        return (data.replace(b"{i}", b"%d" % turn) for turn in range(times))

    def _stderr(self, data: bytes) -> None:
        for each in self._turns(data):
            _write_all(2, each)

    def _live_id(self, recorded: Any) -> Any:
        if recorded in self._live_ids:
            return self._live_ids[recorded]
        if isinstance(recorded, str) and recorded.isdecimal() and int(recorded) in self._live_ids:
            return str(self._live_ids[int(recorded)])  # an agent that makes strings of our numbers
        return recorded

    def _write(self, data: bytes) -> None:
        if self._burst:
            self._burst -= 1
            self._unwritten += data
            if self._burst:
                return
            data, self._unwritten = self._unwritten, b""
        _write_all(1, data)

    def _flush(self) -> None:
        self._burst = 0
        data, self._unwritten = self._unwritten, b""
        _write_all(1, data)

    # The verbs of scenarios.

    def _do_delay(self, verb: dict[str, Any]) -> None:
        deadline = time.monotonic() + verb["ms"] / 1000
        while (left := deadline - time.monotonic()) > 0:
            if self._deaf:
                time.sleep(left)
            else:
                self._listen(left)

    def _do_burst(self, verb: dict[str, Any]) -> None:
        self._burst = verb["count"]

    def _do_repeat(self, verb: dict[str, Any]) -> None:
        self._repeat = verb["count"]

    def _do_stderr(self, verb: dict[str, Any]) -> None:
        self._stderr(verb["text"].encode("utf-8", "surrogateescape"))

    def _do_garbage(self, verb: dict[str, Any]) -> None:
        for each in self._turns(_raw(verb["text"])):
            self._write(each)

    def _do_big(self, verb: dict[str, Any]) -> None:
        before, after = b"", b"\n"
        if verb["kind"] == "notification":
            text = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""}}
            params = {"sessionId": verb.get("session", "$session"), "update": text}
            whole = _line({"jsonrpc": "2.0", "method": "session/update", "params": params})
            cut = whole.index(b'""') + 1
            before, after = whole[:cut], whole[cut:]
        _write_all(1, before)
        left = verb["bytes"] - len(before) - len(after)
        piece = b"x" * (1 << 20)
        while left > 0:
            _write_all(1, piece[:left])
            left -= len(piece)
        _write_all(1, after)

    def _do_fork(self, _verb: dict[str, Any]) -> None:
        child = os.fork()
        if child == 0:
            time.sleep(LIFE_SECONDS)
            os._exit(0)
        self._stderr(f"child {child}\n".encode())

    def _do_deaf(self, _verb: dict[str, Any]) -> None:
        self._deaf = True

    def _do_hang(self, _verb: dict[str, Any]) -> NoReturn:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _write_all(2, b"hangs\n")  # so that a test knows when the signals are ignored
        time.sleep(LIFE_SECONDS)
        raise SystemExit(0)

    def _do_exit(self, verb: dict[str, Any]) -> NoReturn:
        raise SystemExit(verb["code"])


def _is_barrier(frame: Frame) -> bool:
    key = _key(_message(frame)) if frame.dir == "out" else None
    # Messages of the transport ("$/...") may be left out, so nobody waits for them.
    return key is not None and not (key[0] == "notification" and str(key[1]).startswith("$/"))


def _say(key: _Key | None) -> str:
    kind, name = key or ("message", "")
    return f"response to id {name!r}" if kind == "response" else f"{kind} {name}"


def _line(message: dict[str, Any]) -> bytes:
    try:
        return json.dumps(message, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can carry
        return json.dumps(message).encode() + b"\n"


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape") + b"\n"


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def script(path: Path, segment: int) -> list[Frame]:
    """The frames of one segment of a file, checked."""
    parts = segments(load(path))
    if not 0 <= segment < len(parts):
        raise BadRequest(f"{path} has {len(parts)} segments, counted from 0; {segment} is none.")
    for frame in parts[segment]:
        if frame.dir == "do":
            verb = frame.msg.get("do")
            if verb not in VERBS:
                raise BadRequest(f"{path}, line {frame.line}: there is no verb {verb!r}.")
            for field in VERBS[verb]:
                if field not in frame.msg:
                    raise BadRequest(f"{path}, line {frame.line}: {verb} needs {field!r}.")
    return parts[segment]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("replay", description="Play a recording as an ACP agent.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--segment", type=int, default=0, help="which process of the recording")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds to wait at a barrier")
    wanted = parser.parse_args(argv)
    try:
        _Player(script(wanted.file, wanted.segment), wanted.patience).play()
    except (_ClientGone, BrokenPipeError):
        return 0
    except (_Mismatch, BadRequest) as error:
        where = f"{wanted.file}, " if isinstance(error, _Mismatch) else ""
        _write_all(2, f"replay: {where}{error}\n".encode())
        return MISMATCH if isinstance(error, _Mismatch) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
