"""The ring of frames, the files it is saved to, and what is removed from them."""

from __future__ import annotations

import json
import stat
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls import __version__
from agentls.agent.recording import FRAME_BYTES, MARK, Direction, FrameRing, load, redacted
from agentls.core.errors import BadRequest

TRACES = sorted((Path(__file__).parent.parent / "traces").glob("*.jsonl"))
HOME = "/home/ann"


def dumped(*frames: tuple[Direction, bytes], home: str = HOME) -> list[Any]:
    ring = FrameRing(100.0)
    for number, (direction, line) in enumerate(frames):
        ring.add(direction, line, 100.0 + number)
    return [json.loads(line) for line in ring.dump("scripted", home=home)][1:]


# The ring.


@given(st.lists(st.integers(0, 700), max_size=60), st.integers(1000, 5000))
def test_a_ring_keeps_the_newest_frames_within_its_limit(sizes: list[int], limit: int) -> None:
    ring = FrameRing(0.0, limit=limit)
    for number, size in enumerate(sizes):
        ring.add("in", b"x" * size, float(number))
        assert ring.held <= limit
        assert len(ring) > 0
    assert len(ring) + ring.dropped == len(sizes)
    times = [json.loads(line)["t"] for line in ring.dump("a", home="")][1:]
    assert times == [float(number) for number in range(ring.dropped, len(sizes))]


def test_empty_lines_are_bounded_too() -> None:
    ring = FrameRing(0.0, limit=10_000)
    for _ in range(1000):
        ring.add("in", b"", 0.0)
    assert len(ring) < 100


def test_a_long_frame_is_cut_and_its_true_length_is_kept() -> None:
    line = b'{"jsonrpc":"2.0","method":"m","params":"' + b"x" * FRAME_BYTES + b'"}\n'
    (frame,) = dumped(("in", line))
    assert frame["size"] == len(line)
    assert frame["msg"] == line[:FRAME_BYTES].decode()


def test_a_frame_of_just_the_greatest_length_is_whole() -> None:
    line = b'{"a":"' + b"x" * (FRAME_BYTES - 8) + b'"}'
    (frame,) = dumped(("in", line))
    assert len(line) == FRAME_BYTES
    assert frame["msg"] == json.loads(line)
    assert "size" not in frame


# The format.


def test_a_dump_starts_with_a_note_about_itself() -> None:
    ring = FrameRing(0.0, limit=1000)
    for _ in range(20):
        ring.add("in", b"{}", 0.0)
    first = json.loads(next(ring.dump("scripted")))
    assert first == {
        "t": 0.0,
        "dir": "note",
        "msg": {"agent": "scripted", "agentls": __version__, "dropped": ring.dropped},
    }
    assert ring.dropped > 0


def test_objects_are_kept_as_objects_and_all_other_lines_as_text() -> None:
    frames = dumped(
        ("out", b'{"id": 1, "method": "initialize"}\n'),
        ("in", b'{"id": 1, "result": {"text": "w\xc3\xb6rld"}}\r\n'),
        ("in", b"Welcome!\n"),
        ("in", b"null"),
        ("in", b"[1, 2]"),
        ("in", b'{"a": NaN}'),
        ("in", b"\xff\xfe"),
        ("stderr", b'{"level": "warn"}\n'),
    )
    assert [(frame["t"], frame["dir"], frame["msg"]) for frame in frames] == [
        (0.0, "out", {"id": 1, "method": "initialize"}),
        (1.0, "in", {"id": 1, "result": {"text": "wörld"}}),
        (2.0, "in", "Welcome!"),
        (3.0, "in", "null"),
        (4.0, "in", "[1, 2]"),
        (5.0, "in", '{"a": NaN}'),
        (6.0, "in", "\udcff\udcfe"),
        (7.0, "stderr", '{"level": "warn"}'),
    ]


def test_notes_may_be_text_or_objects() -> None:
    ring = FrameRing(0.0)
    ring.note("started", 0.0)
    ring.note({"exit_code": 3}, 1.0)
    assert [json.loads(line)["msg"] for line in ring.dump("a")][1:] == ["started", {"exit_code": 3}]


def test_a_frame_that_is_nested_too_deep_is_kept_as_redacted_text() -> None:
    line = b'{"a":' * 50_00 + b'"sk-abcdef0123456789abcdef"' + b"}" * 50_00
    (frame,) = dumped(("in", line))
    assert isinstance(frame["msg"], str)
    assert "sk-" not in frame["msg"]


@given(st.binary(max_size=60).filter(lambda line: b"\n" not in line and b"\r" not in line))
def test_every_line_that_is_no_object_survives_byte_by_byte(line: bytes) -> None:
    (frame,) = dumped(("in", line), home="")
    assert frame["msg"].encode("utf-8", "surrogateescape") == line


# Files.


def test_a_saved_recording_can_be_loaded(tmp_path: Path) -> None:
    ring = FrameRing(0.0)
    ring.add("out", b'{"method": "session/cancel"}\n', 0.25)
    ring.add("in", b"x" * (FRAME_BYTES + 1), 0.5)
    path = tmp_path / "recording.jsonl"
    ring.save(path, "scripted")
    note, sent, cut = load(path)
    assert (note.dir, note.line, note.msg["agent"]) == ("note", 1, "scripted")
    assert sent == (0.25, "out", {"method": "session/cancel"}, 2, None)
    assert (cut.msg, cut.size) == ("x" * FRAME_BYTES, FRAME_BYTES + 1)


def test_only_its_owner_can_read_a_saved_recording(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    FrameRing(0.0).save(path, "scripted")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    path.write_text("precious")
    with pytest.raises(BadRequest, match=r"exists already\. Choose another name\."):
        FrameRing(0.0).save(path, "scripted")
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_behind_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_path: Path, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(BadRequest, match="No space left"):
        FrameRing(0.0).save(tmp_path / "recording.jsonl", "scripted")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"Cannot write .*: No such file or directory\."):
        FrameRing(0.0).save(tmp_path / "nowhere" / "recording.jsonl", "scripted")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Expecting property name"),
        ("[]", "a frame is an object with t, dir and msg"),
        ('{"t": 1, "msg": {}}', "dir is None, not one of out, in, stderr, do, note"),
        ('{"t": 1, "dir": ["in"], "msg": {}}', r"dir is \['in'\]"),
        ('{"t": 1, "dir": "sideways", "msg": {}}', "dir is 'sideways'"),
        ('{"t": 1, "dir": "in"}', "msg is missing"),
        (
            '{"t": 1, "dir": "in", "msg": 5}',
            "msg of a frame with dir 'in' must be an object or a string",
        ),
        (
            '{"t": 1, "dir": "stderr", "msg": {}}',
            "msg of a frame with dir 'stderr' must be a string",
        ),
        ('{"t": 1, "dir": "do", "msg": "exit"}', "msg of a frame with dir 'do' must be an object"),
        ('{"t": "1", "dir": "in", "msg": {}}', "t is '1', not a number of seconds"),
        ('{"size": 1.5, "dir": "in", "msg": ""}', "size is 1.5, not a number of bytes"),
    ],
)
def test_a_malformed_file_is_named_with_line_and_reason(
    tmp_path: Path, line: str, reason: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"dir": "note", "msg": null}\n\n' + line + "\n")
    with pytest.raises(BadRequest, match=rf"bad\.jsonl, line 3: {reason}"):
        load(path)


def test_an_empty_file_and_a_missing_file_are_errors_in_words(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(BadRequest, match=r"empty\.jsonl holds no frames\."):
        load(tmp_path / "empty.jsonl")
    with pytest.raises(BadRequest, match=r"Cannot read .*: No such file or directory\."):
        load(tmp_path / "missing.jsonl")


# Redaction.

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----"
WORD = string.ascii_letters + string.digits
TAIL = st.text(WORD, min_size=36, max_size=50).map(lambda tail: tail + "7")
SECRETS = st.one_of(
    st.builds("sk-{}".format, TAIL),
    st.builds("sk-ant-api03-{}".format, TAIL),
    st.builds("ghp_{}".format, TAIL),
    st.builds("github_pat_{}".format, TAIL),
    st.builds("xoxb-12-{}".format, TAIL),
    st.text(string.ascii_uppercase + string.digits, min_size=16, max_size=16).map("AKIA".__add__),
    st.builds("eyJ{}.{}.{}".format, TAIL, TAIL, TAIL),
    st.builds("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----".format, TAIL),
)
PROSE = st.sampled_from(
    ["", " ", "The token is ", "use ", "\n", "key: ", '{"a": "', "(", "export X=", "\\n"]
)


@given(PROSE, SECRETS, st.sampled_from(["", " rest", "\n", '"}', ")", ", then"]))
def test_a_key_of_a_known_shape_never_survives(before: str, secret: str, after: str) -> None:
    text = before + secret + after
    assert redacted(text) == before + MARK + after
    for direction in ("in", "out", "stderr", "note"):
        (frame,) = dumped((direction, text.replace("\n", " ").encode()))
        assert secret.split("\n")[-2:][0][-20:] not in json.dumps(frame)
    (frame,) = dumped(("in", json.dumps({"deep": [{"text": text, text: 1}]}).encode()))
    assert frame["msg"] == {"deep": [{"text": before + MARK + after, before + MARK + after: 1}]}


@pytest.mark.parametrize(
    "name",
    [
        "api_key", "apiKey", "x-api-key", "OPENAI_API_KEY", "apikey", "token", "access_token",
        "refreshToken", "GITHUB_TOKEN", "secret", "client_secret", "clientSecret", "password",
        "passwd", "passphrase", "Authorization", "Proxy-Authorization", "cookie", "Set-Cookie",
        "credential", "credentials", "AWS_SECRET_ACCESS_KEY", "privateKey", "DEEPL_KEY", "DB_PASS",
    ],
)  # fmt: skip
def test_values_under_a_secret_name_are_removed(name: str) -> None:
    assert redacted({name: "abc"}) == {name: MARK}
    assert redacted({name: ["abc", 1]}) == {name: [MARK, 1]}
    assert redacted([{"name": name, "value": "abc"}]) == [{"name": name, "value": MARK}]
    assert redacted({"key": name, "value": "abc"}) == {"key": name, "value": MARK}
    assert redacted({name: ""}) == {name: ""}
    assert redacted({name: {"id": "1a2b3c4d5e", "type": "string"}}) == {
        name: {"id": MARK, "type": "string"}
    }


def test_the_value_after_a_secret_flag_of_a_command_is_removed() -> None:
    command = ["serve", "--api-key", "abc", "--token", "--port", "80", "--password=x1y2z3"]
    assert redacted(command) == [
        "serve", "--api-key", MARK, "--token", "--port", "80", f"--password={MARK}"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OPENAI_API_KEY=abc next", f"OPENAI_API_KEY={MARK} next"),
        ("export MAPS_KEY=abc", f"export MAPS_KEY={MARK}"),
        ('{"apiKey": "abc", "n": 1}', f'{{"apiKey": "{MARK}", "n": 1}}'),
        (r"{\"apiKey\": \"abc\"}", rf"{{\"apiKey\": \"{MARK}\"}}"),
        ('{"apiKey": "abc', f'{{"apiKey": "{MARK}'),
        ("password: hunter22", f"password: {MARK}"),
        ("password = 'correct horse'", f"password = '{MARK}'"),
        ("GET /x?token=1a2b3c4d5e6f&n=1", f"GET /x?token={MARK}&n=1"),
        ("run --token 1a2b3c4d5e6f now", f"run --token {MARK} now"),
        ("Authorization: Bearer abc.def-123", f"Authorization: Bearer {MARK}"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {MARK}"),
        ("-H 'Cookie: a=b; c=d' x", f"-H 'Cookie: {MARK}' x"),
        ("https://bob:hunter2@example.com/", f"https://bob:{MARK}@example.com/"),
        (f"got {JWT}.", f"got {MARK}."),
        (f"{PEM} rest", f"{MARK} rest"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE", MARK),
        ("x /home/ann/a /home/ann", "x ~/a ~"),
        ("file:///home/ann/a:3", "file://~/a:3"),
        (r"a\n/home/ann/b", r"a\n~/b"),
    ],
)
def test_secrets_within_a_text_are_removed(text: str, expected: str) -> None:
    assert redacted(text, home=HOME) == expected
    if "\n" not in text:
        frames = dumped(("in", b"> " + text.encode()), ("stderr", text.encode()))
        assert [frame["msg"] for frame in frames] == ["> " + expected, expected]


@pytest.mark.parametrize(
    "value",
    [
        "The token: a word, or part of one.",
        "Pass a token to it; the secret is to keep the password out of the log.",
        "cookies: 3, secrets: none, authorization: required",
        "token = parser.next_token()",
        "api_key = config.get('x')",
        "f(token=token, password=password)",
        "let token: uint64_t = 5;",
        'type Token = "plus" | "minus"',
        "use --token to set it",
        "MAX_TOKENS=5 TOKEN_COUNT=7",
        "task-force sk-button-primary-large, bearer authentication",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "/home/ann2 /mnt/home/ann /home/anna",
        "http://localhost:8080/a@b",
        {"maxTokens": 5, "totalTokens": 120, "token_count": {"input_tokens": 1}},
        {"token": 5, "password": None, "secret": True, "tokens": ["ls", "-l"]},
        {"sessionId": "01a1edc8-c000-7080-b435-b2812008482d", "toolCallId": "call_fake_0003"},
        {"_meta": {"progressToken": "abc"}, "nextPageToken": "def", "tokenizer": "bpe"},
        {"password": {"type": "string", "title": "Password", "description": "Your password."}},
        {"api-key": {"provider": "google"}, "apiKeyHelper": "/bin/true", "key": "value"},
        [{"name": "PATH", "value": "/usr/bin"}, {"id": "token", "value": "x"}],
    ],
)
def test_ordinary_text_and_data_are_left_alone(value: Any) -> None:
    assert redacted(value, home=HOME) == value


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_the_recordings_of_real_agents_are_left_alone(path: Path) -> None:
    frames = load(path)
    assert [redacted(frame.msg, home=HOME) for frame in frames] == [frame.msg for frame in frames]


def test_a_private_key_that_spans_lines_of_stderr_is_removed() -> None:
    lines = ["loading", *PEM.split("\n"), "loaded", "-----BEGIN EC PRIVATE KEY-----", "ok: done."]
    frames = dumped(*[("stderr", line.encode()) for line in lines])
    assert [frame["msg"] for frame in frames] == [
        "loading", MARK, MARK, MARK, MARK, "loaded", MARK, "ok: done."
    ]  # fmt: skip


def test_a_home_of_root_replaces_nothing() -> None:
    assert redacted("/ and /etc", home="/") == "/ and /etc"


PIECES = st.sampled_from(
    [
        *"=:\"'\\ \n-/@[]&",
        *("token", "PASSWORD", "apiKey", "_KEY", "Bearer ", "Cookie: ", "Authorization: Basic "),
        *("sk-1234567890abcdefgh", "1a2b3c4d", "-----BEGIN ", "PRIVATE KEY-----", "a=b", "://"),
        *(HOME, "~", MARK, "plain words"),
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_redaction_of_redacted_text_changes_nothing(text: str) -> None:
    once = redacted(text, home=HOME)
    assert redacted(once, home=HOME) == once


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | PIECES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(PIECES | st.text(max_size=5), inner)
    ),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    return "text" if isinstance(value, str) else value


@given(JSON)
def test_redaction_keeps_the_structure_and_all_that_is_not_text(value: Any) -> None:
    assert shape(redacted(value)) == shape(value)
