"""One end of JSON-RPC: exactly one answer to everything, whatever the other end does."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.agent.framing import Lines
from agentls.agent.peer import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Peer,
    Reply,
    RpcError,
)


class End:
    """Our end, and everything that went through it."""

    def __init__(self, limit: int = 10**6) -> None:
        self.sent: list[Any] = []
        self.requests: list[tuple[str, Any, Reply]] = []
        self.notifications: list[tuple[str, Any]] = []
        self.garbage: list[str] = []
        self.answers: list[tuple[str, Any, RpcError | None]] = []
        self.order: list[str] = []
        self.peer = Peer(self._write, self._request, self._notification, self._on_garbage)
        self._lines = Lines(self.peer.receive, self.peer.too_long, limit)

    def _write(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        self.sent.append(json.loads(line))

    def _request(self, method: str, params: Any, reply: Reply) -> None:
        self.order.append(f"request {method}")
        if method == "broken":
            raise RuntimeError("broken handler")
        if method == "known":
            self.requests.append((method, params, reply))
        else:
            reply.error(METHOD_NOT_FOUND, f"Method not found: {method}")

    def _notification(self, method: str, params: Any) -> None:
        self.order.append(f"notification {method}")
        if method == "broken":
            raise RuntimeError("broken handler")
        self.notifications.append((method, params))

    def _on_garbage(self, text: str) -> None:
        self.garbage.append(text)

    def call(self, method: str = "ours", params: Any = None) -> int:
        def answered(result: Any, error: RpcError | None) -> None:
            self.order.append(f"answer {method}")
            self.answers.append((method, result, error))

        return self.peer.call(method, params, answered)

    def gets(self, *messages: Any) -> None:
        for message in messages:
            self.gets_line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def gets_line(self, line: bytes) -> None:
        self._lines.feed(line + b"\n")

    def answers_to(self, id: Any) -> list[Any]:
        """Strictly: 1 is neither "1" nor 1.0 nor true."""
        return [m for m in self.sent if "method" not in m and json.dumps(m["id"]) == json.dumps(id)]

    def works(self) -> bool:
        """Whether the next message is taken in as if nothing had happened."""
        before = len(self.notifications)
        self.gets({"method": "still there?"})
        return len(self.notifications) == before + 1


# -- our requests


def test_a_request_gets_its_result_or_its_error() -> None:
    end = End()
    one, two = end.call("a", {"x": 1}), end.call("b")
    assert end.sent[0] == {"jsonrpc": "2.0", "id": one, "method": "a", "params": {"x": 1}}
    end.gets({"id": two, "error": {"code": -32002, "message": "No such thing", "data": [1]}})
    end.gets({"id": one, "result": {"ok": True}})
    (_, nothing, error), (_, result, no_error) = end.answers
    assert (nothing, no_error, result) == (None, None, {"ok": True})
    assert error is not None
    assert (error.code, error.message, error.data) == (-32002, "No such thing", [1])


def test_a_second_answer_and_answers_to_nothing_are_harmless() -> None:
    end = End()
    id = end.call()
    end.gets({"id": id, "result": 1}, {"id": id, "result": 2}, {"id": id, "error": {}})
    end.gets({"id": 999, "result": 1}, {"id": "nobody", "result": 1}, {"id": None, "result": 1})
    assert end.answers == [("ours", 1, None)]
    assert end.works()


def test_an_agent_may_make_a_string_of_our_number() -> None:
    end = End()
    id = end.call()
    end.gets({"id": str(id), "result": "yes"}, {"id": id, "result": "again"})
    assert end.answers == [("ours", "yes", None)]


@pytest.mark.parametrize("id", [True, 1.5, "one", "1.0", [1], {"1": 1}, None, "", "-1", "9" * 5000])
def test_an_id_that_only_looks_like_ours_answers_nothing(id: Any) -> None:
    end = End()
    assert end.call() == 1
    end.gets({"id": id, "result": "wrong"})
    assert end.answers == []
    end.gets({"id": 1, "result": "right"})
    assert end.answers == [("ours", "right", None)]


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({}, INTERNAL_ERROR, "unknown error"),
        ({"code": "x", "message": None}, INTERNAL_ERROR, "unknown error"),
        ({"code": 400, "message": 7}, 400, "7"),
        ("just words", INTERNAL_ERROR, "just words"),
        ([1], INTERNAL_ERROR, "[1]"),
        (False, INTERNAL_ERROR, "False"),
    ],
)
def test_an_error_of_any_shape_is_an_error(error: Any, code: int, message: str) -> None:
    end = End()
    end.gets({"id": end.call(), "error": error})
    [(_, _, told)] = end.answers
    assert told is not None
    assert (told.code, told.message) == (code, message)


def test_an_answer_without_a_result_is_an_answer_but_a_line_of_a_log_is_not() -> None:
    end = End()
    id = end.call()
    end.gets_line(b'{"level": "info", "id": %d}' % id)
    assert end.answers == []
    assert len(end.garbage) == 1
    end.gets({"id": id})
    assert end.answers == [("ours", None, None)]


def test_an_answer_that_is_no_longer_wanted_is_called_off_and_ignored() -> None:
    end = End()
    id = end.call()
    end.peer.drop(id)
    end.peer.drop(id)
    assert end.sent[1:] == [
        {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}
    ]
    end.gets({"id": id, "result": 1})
    assert end.answers == []


def test_everything_is_handed_on_in_the_order_it_came() -> None:
    end = End()
    id = end.call()
    end.gets({"method": "one"}, {"id": 5, "method": "known"}, {"id": id, "result": 1})
    end.gets({"method": "two"})
    assert end.order == ["notification one", "request known", "answer ours", "notification two"]


# -- requests of the other side


IDS: list[Any] = [0, 1, -1, "1", "", "5d1c0d5e-4b0e-4f9a-9f51-6f1f3f3e7a01", None, 1.5, 2**70, [1]]


@pytest.mark.parametrize("id", IDS)
def test_any_id_comes_back_as_it_was(id: Any) -> None:
    end = End()
    end.gets({"id": id, "method": "known", "params": {"a": 1}})
    [(_, params, reply)] = end.requests
    assert params == {"a": 1}
    reply.result("yes")
    assert end.sent == [{"jsonrpc": "2.0", "id": id, "result": "yes"}]
    assert type(end.sent[0]["id"]) is type(id)


def test_ids_of_the_two_directions_are_kept_apart() -> None:
    end = End()
    id = end.call()
    end.gets({"id": id, "method": "known"})
    assert end.answers == []
    end.requests[0][2].result("theirs")
    end.gets({"id": id, "result": "ours"})
    assert end.answers == [("ours", "ours", None)]
    assert end.answers_to(id) == [{"jsonrpc": "2.0", "id": id, "result": "theirs"}]


def test_only_the_first_answer_goes_out() -> None:
    end = End()
    end.gets({"id": 7, "method": "known"})
    reply = end.requests[0][2]
    reply.result(1)
    reply.result(2)
    reply.error(INTERNAL_ERROR, "no")
    assert end.answers_to(7) == [{"jsonrpc": "2.0", "id": 7, "result": 1}]


def test_unknown_methods_are_answered_so() -> None:
    end = End()
    end.gets({"id": "a", "method": "session/teleport"}, {"id": "b", "method": 17})
    assert [m["error"]["code"] for m in end.sent] == [METHOD_NOT_FOUND] * 2
    assert [m["id"] for m in end.sent] == ["a", "b"]


def test_a_handler_that_fails_is_answered_for(caplog: pytest.LogCaptureFixture) -> None:
    end = End()
    with caplog.at_level(logging.CRITICAL):
        end.gets({"id": 3, "method": "broken"})
    assert end.answers_to(3) == [
        {
            "jsonrpc": "2.0",
            "id": 3,
            "error": {"code": INTERNAL_ERROR, "message": "Internal error"},
        }
    ]
    assert end.works()


def test_a_handler_that_fails_does_not_harm_what_comes_after(
    caplog: pytest.LogCaptureFixture,
) -> None:
    end = End()

    def fails(result: Any, error: RpcError | None) -> None:
        raise RuntimeError("broken answer")

    id = end.peer.call("ours", None, fails)
    with caplog.at_level(logging.CRITICAL):
        lines = [{"method": "broken"}, {"id": id, "result": 1}, {"method": "fine"}]
        end._lines.feed(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert end.notifications == [("fine", None)]


def test_two_open_requests_of_the_same_id_both_get_an_answer() -> None:
    end = End()
    end.gets({"id": 1, "method": "known"}, {"id": 1, "method": "known"})
    cancelled: list[int] = []
    end.requests[1][2].on_cancel = lambda: cancelled.append(2)
    end.requests[0][2].result("first")
    end.gets({"method": "$/cancel_request", "params": {"requestId": 1}})
    assert cancelled == [2]
    end.requests[1][2].result("second")
    assert [m["result"] for m in end.answers_to(1)] == ["first", "second"]


def test_a_cancelled_request_is_told_and_still_answered_once() -> None:
    end = End()
    end.gets({"id": "1", "method": "known"}, {"id": 1, "method": "known"})
    reply = end.requests[0][2]
    told: list[str] = []
    reply.on_cancel = lambda: told.append("cancel")
    end.gets({"method": "$/cancel_request", "params": {"requestId": 1}})
    assert told == [], 'the request "1" was cancelled instead of 1'
    end.gets({"method": "$/cancel_request", "params": {"requestId": "1"}})
    assert told == ["cancel"]
    reply.result("cancelled")
    end.gets({"method": "$/cancel_request", "params": {"requestId": "1"}})
    assert told == ["cancel"]
    assert len(end.answers_to("1")) == 1


@pytest.mark.parametrize("params", [None, [], {}, {"requestId": "zzz"}, {"requestId": [1]}, 5])
def test_cancelling_what_is_not_open_is_harmless(params: Any) -> None:
    end = End()
    end.gets({"method": "$/cancel_request", "params": params})
    assert end.sent == []
    assert end.works()


def test_the_params_reach_the_handler_as_they_are_whatever_is_in_meta() -> None:
    """One client library lets `_meta` overwrite the arguments of the handler."""
    end = End()
    params = {
        "sessionId": "mine",
        "options": [{"optionId": "no"}],
        "_meta": {"sessionId": "other", "options": [{"optionId": "yes"}], "params": {}, "id": 9},
    }
    end.gets({"id": 1, "method": "known", "params": params, "_meta": {"id": 2, "params": {}}})
    assert end.requests[0][1] == params
    assert end.requests[0][2].id == 1


# -- what is no message


GARBAGE: list[bytes] = [
    b"null",
    b"42",
    b'"text"',
    b"[]",
    b'[{"jsonrpc":"2.0","method":"session/update"}]',
    b"{}",
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","method":"session/upd',
    b"Welcome!",
    b"\xff\xfe not UTF-8",
    b'\xef\xbb\xbf"text"',
    b"NaN",
    b"[" * 100_000,
    b'{"a":' * 5000 + b"1" + b"}" * 5000,
    b"\x00",
    b'{"id":1}',
    b'{"result":1}',
]


@pytest.mark.parametrize("line", GARBAGE, ids=lambda line: repr(line[:30]))
def test_what_is_no_message_is_reported_and_harmless(line: bytes) -> None:
    end = End()
    end.call()
    end.gets_line(line)
    assert len(end.garbage) == 1
    assert len(end.garbage[0]) <= 200
    assert end.answers == []
    assert end.works()


def test_blank_lines_are_not_worth_a_word() -> None:
    end = End()
    end.gets_line(b"  \r")
    end.gets_line(b"")
    assert end.garbage == []


def text_of(end: End) -> Any:
    [(_, params)] = end.notifications
    return params


@pytest.mark.parametrize(
    ("line", "params"),
    [
        (rb'{"method":"m","params":"a\ud800b"}', "a\ufffdb"),
        (rb'{"method":"m","params":{"k\udc00":["\ud83d\ude00"]}}', {"k\ufffd": ["\U0001f600"]}),
        (b'{"method":"m","params":"caf\xe9"}', "caf\ufffd"),
        (b'\xef\xbb\xbf{"method":"m","params":"bom"}', "bom"),
        (b'{"method":"m","params":[NaN,Infinity,-Infinity]}', [None, None, None]),
        (b'{"method":"m","params":1}\r', 1),
    ],
)
def test_json_that_a_strict_reader_refuses_is_read_all_the_same(line: bytes, params: Any) -> None:
    end = End()
    end.gets_line(line)
    assert text_of(end) == params


@pytest.mark.parametrize("depth", range(100, 1500, 50))
@pytest.mark.parametrize("inner", [b"1", b"NaN"])
def test_no_depth_of_nesting_does_harm(depth: int, inner: bytes) -> None:
    end = End()
    end.gets_line(b'{"method":"m","params":' + b"[" * depth + inner + b"]" * depth + b"}")
    assert len(end.notifications) + len(end.garbage) == 1
    assert end.works()


def test_a_request_that_cannot_be_read_is_answered_and_a_lost_answer_is_not_waited_for() -> None:
    end = End()
    id = end.call()
    deep = b"[" * 5000 + b"]" * 5000
    end.gets_line(b'{"jsonrpc":"2.0","id":"q","method":"known","params":' + deep + b"}")
    end.gets_line(b'{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_tu' % id)
    assert end.sent[-1]["id"] == "q"
    assert end.sent[-1]["error"]["code"] == PARSE_ERROR
    [(_, _, error)] = end.answers
    assert error is not None


def test_what_an_editor_says_in_half_pairs_is_sent_all_the_same() -> None:
    end = End()
    end.peer.notify("m", {"text": "a\ud800b"})
    end.call("ours", ["\udc00"])
    assert end.sent[0]["params"] == {"text": "a\ufffdb"}
    assert end.sent[1]["params"] == ["\ufffd"]


# -- lines that are too long


LONG = "x" * 10_000


def test_a_long_answer_ends_the_request_with_an_error() -> None:
    end = End(limit=5000)
    one, two = end.call("one"), end.call("two")
    end.gets({"id": one, "result": LONG})
    end.gets_line(json.dumps({"jsonrpc": "2.0", "result": LONG, "id": two}).encode())
    assert [(name, result) for name, result, _ in end.answers] == [("one", None), ("two", None)]
    error = end.answers[0][2]
    assert error is not None
    assert "too long" in error.message
    assert end.works()


def test_a_long_request_is_answered_with_an_error() -> None:
    end = End(limit=5000)
    for number, order in enumerate((["id", "method"], ["method", "id"])):
        fields = {"id": f"q{number}", "method": "known"}
        message = {"jsonrpc": "2.0"} | {key: fields[key] for key in order} | {"params": LONG}
        end.gets_line(json.dumps(message).encode())
    end.gets_line(json.dumps({"method": "known", "params": LONG, "id": "q2"}).encode())
    assert [(m["id"], m["error"]["code"]) for m in end.sent] == [
        ("q0", INVALID_REQUEST),
        ("q1", INVALID_REQUEST),
        ("q2", INVALID_REQUEST),
    ]
    assert end.requests == []


@pytest.mark.parametrize(
    "message",
    [
        {"method": "m", "params": {"id": 1, "text": LONG}},
        {"method": "m", "params": {"text": LONG, "id": 1}},
        {"result": {"id": 1, "text": LONG}},
        {"result": {"models": [{"id": 1}], "text": LONG}, "id": 99},
        {"id": 99, "result": {"id": 1, "text": LONG, "more": {"a": 1, "id": 1}}},
    ],
)
def test_an_id_inside_a_long_message_is_not_taken_for_its_own(message: dict[str, Any]) -> None:
    end = End(limit=5000)
    assert end.call() == 1
    end.gets({"id": 1, "method": "known"})
    end.gets(message)
    assert end.answers == []
    assert end.answers_to(1) == []
    end.gets({"id": 1, "result": "right"})
    assert end.answers == [("ours", "right", None)]


# -- the end


def test_closing_ends_everything_once(caplog: pytest.LogCaptureFixture) -> None:
    end = End()
    ids = [end.call("one"), end.call("two")]

    def fails(result: Any, error: RpcError | None) -> None:
        raise RuntimeError("broken answer")

    end.peer.call("broken", None, fails)
    end.call("three")
    end.gets({"id": 1, "method": "known"}, {"id": 2, "method": "known"})
    told: list[Any] = []

    def withdraw(reply: Reply) -> None:
        told.append(reply.id)
        reply.result("late")

    for _, _, reply in end.requests:
        reply.on_cancel = partial(withdraw, reply)
    sent = len(end.sent)
    with caplog.at_level(logging.CRITICAL):
        end.peer.close("it ended")
        end.peer.close("again")
    assert [name for name, _, _ in end.answers] == ["one", "two", "three"]
    assert {error.message for _, _, error in end.answers if error} == {"it ended"}
    assert told == [1, 2]
    end.gets({"id": ids[0], "result": 1})
    end.requests[0][2].result(1)
    end.peer.notify("m", None)
    assert len(end.sent) == sent, "something was sent after the end"
    assert len(end.answers) == 3


def test_a_request_after_the_end_fails_at_once() -> None:
    end = End()
    end.peer.close("it ended")
    end.call("late")
    [(name, result, error)] = end.answers
    assert (name, result) == ("late", None)
    assert error is not None
    assert error.message == "it ended"


# -- laws


numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
plain = st.none() | st.booleans() | numbers | st.text(max_size=6)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
members = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": values,
        "method": st.sampled_from(["known", "broken", "other", "$/cancel_request"]) | values,
        "params": values,
        "result": values,
        "error": values,
    },
)


@settings(deadline=None, max_examples=300)
@given(st.lists(members | values, max_size=6))
def test_no_message_of_any_shape_does_harm_and_every_request_has_one_answer(
    messages: list[Any],
) -> None:
    end = End()
    for message in messages:
        end.gets_line(json.dumps(message).encode())
    for _, _, reply in end.requests:
        reply.result(None)
        reply.result(None)
    asked = [
        json.dumps(json.loads(json.dumps(m["id"])))
        for m in messages
        if isinstance(m, dict) and "id" in m and m.get("method") is not None
    ]
    answered = [json.dumps(m["id"]) for m in end.sent]
    assert sorted(answered) == sorted(asked)
    assert end.works()


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["call", "answer", "drop", "close"]), st.integers(1, 6))))
def test_each_of_our_requests_is_answered_exactly_once_unless_it_was_dropped(
    steps: list[tuple[str, int]],
) -> None:
    end = End()
    asked, dropped = 0, set()
    for what, number in steps:
        if what == "call":
            asked = end.call(str(asked + 1))
        elif what == "answer":
            end.gets({"id": number, "result": number})
        elif what == "drop":
            if number <= asked and str(number) not in [name for name, _, _ in end.answers]:
                dropped.add(str(number))
            end.peer.drop(number)
        else:
            end.peer.close("it ended")
    end.peer.close("it ended")
    expected = {str(number) for number in range(1, asked + 1)} - dropped
    assert sorted(name for name, _, _ in end.answers) == sorted(expected)
