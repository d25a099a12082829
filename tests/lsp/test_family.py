"""Agents that work together, through the real tools: one directs, others work and ask."""

from __future__ import annotations

import json
from typing import Any

from fakes.bench import Bench
from fakes.conversation import ended
from fakes.editor import Editor
from fakes.processes import until_gone

Json = dict[str, Any]


def tool(name: str, /, **args: Any) -> Json:
    return {"tool": name, "args": args}


def spawn(name: str, *steps: Json, **more: Any) -> Json:
    return tool("spawn_agent", name=name, prompt=json.dumps(steps), **more)


def words(answer: Json) -> str:
    return str(answer["result"]["content"][0]["text"])


async def orchestrator(
    bench: Bench, *, orchestrate: bool = True, **options: Any
) -> tuple[Editor, str]:
    bench.add_puppet()
    editor = await bench.editor(options=options or None)
    params = {"agent": "puppet", "orchestrate": orchestrate}
    return editor, str((await editor.request("agentls/session/new", params))["session"]["id"])


async def send(editor: Editor, session: str, *steps: Json) -> None:
    params = {"sessionId": session, "text": json.dumps(steps)}
    await editor.request("agentls/session/prompt", params)


async def play(editor: Editor, session: str, *steps: Json, turns: int = 1) -> list[Json]:
    await send(editor, session, *steps)
    await ended(editor, session, turns)
    return said(editor, session)


def said(editor: Editor, session: str) -> list[Json]:
    return [json.loads(line) for line in editor.mirror(session).text().splitlines()]


async def child(editor: Editor, name: str) -> str:
    def found() -> list[str]:
        return [id for id, mirror in editor.sessions.items() if mirror.head.get("name") == name]

    return str((await editor.until(found, f"the session of {name}"))[0])


async def state(editor: Editor, session: str, wanted: str) -> None:
    mirror = editor.mirror(session)
    await editor.until(lambda: mirror.head.get("state") == wanted, f"{session} is {wanted}")


async def test_one_directs_three_of_which_one_asks_it_one_asks_you_and_one_is_killed(
    bench: Bench,
) -> None:
    editor, top = await orchestrator(bench)
    await send(
        editor,
        top,
        spawn("asker", tool("ask_orchestrator", question="Which Python?")),
        spawn("worker", tool("run_in_terminal", command="echo made")),
        spawn("sleeper", {"await": "cancel"}),
        tool("wait_for_agent", agents=["asker"]),
        tool("send_to_agent", agent="asker", text="3.12"),
        tool("wait_for_agent", agents=["asker"]),
        tool("wait_for_agent", agents=["worker"]),
        tool("kill_agent", agent="sleeper"),
        tool("list_agents"),
    )
    asker, worker, sleeper = [await child(editor, n) for n in ("asker", "worker", "sleeper")]
    for one in (asker, worker, sleeper):
        assert editor.mirror(one).head["orchestrator"] == top
    (ask,) = await editor.until(lambda: editor.mirror(worker).of_kind("ask"), "an ask")
    assert ask["shown"] == "echo made"
    assert editor.mirror(top).of_kind("ask") == [], "no agent decides what another may do"
    await state(editor, top, "waiting_for_agent")
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "allow"})
    await ended(editor, top)
    await state(editor, sleeper, "closed")

    answers = said(editor, top)
    assert [words(a) for a in answers[3:8]] == [
        "asker asks, and waits for send_to_agent:\n\nWhich Python?",
        "asker has your answer.",
        answers_of("asker", editor, asker),
        answers_of("worker", editor, worker),
        "sleeper has ended.",
    ]
    assert [a["name"] for a in answers[8]["result"]["structuredContent"]["agents"]] == [
        "asker",
        "worker",
    ]
    (question,) = editor.mirror(asker).of_kind("question")
    assert (question["to"], question["text"]) == ("orchestrator", "Which Python?")
    assert question["reply"] == {"text": "3.12", "by": "orchestrator"}
    assert words(said(editor, asker)[0]) == "3.12"
    assert "made" in words(said(editor, worker)[0])
    for one in (asker, worker, sleeper):
        task = editor.mirror(one).of_kind("message")[0]
        assert (task["role"], task["sender"]) == ("user", "orchestrator")
        assert len(editor.mirror(one).of_kind("turn_end")) == 1
    assert "orchestrator ended this session." in [
        notice["text"] for notice in editor.mirror(sleeper).of_kind("notice")
    ]
    feed = (await editor.request("agentls/family/activity", {"sessionId": top}))["lines"]
    did = [(line["name"], line["what"]) for line in feed]
    assert sorted(did) == sorted(
        [
            *((name, "started") for name in ("asker", "worker", "sleeper")),
            ("asker", "asked"),
            ("asker", "answered"),
            ("asker", "finished"),
            ("worker", "finished"),
            ("sleeper", "ended"),
        ]
    )
    assert [n["line"] for n in editor.notifications("agentls/family/didAct")] == feed
    assert (await editor.request("agentls/question/list", {}))["questions"] == []
    await nothing_is_left(bench, editor)


def answers_of(name: str, editor: Editor, session: str) -> str:
    return f"{name} has finished:\n\n{editor.mirror(session).text().strip()}"


async def nothing_is_left(bench: Bench, editor: Editor) -> None:
    pids = [pid for pid in bench.processes() if pid != editor.process.pid]
    assert await editor.close() == 0
    for pid in pids:
        await until_gone(pid)


async def test_closing_the_one_that_directs_ends_all_and_a_question_is_answered_by_nobody(
    bench: Bench,
) -> None:
    editor, top = await orchestrator(bench)
    await play(
        editor,
        top,
        spawn("asker", tool("ask_orchestrator", question="Well?")),
        spawn("sleeper", {"await": "cancel"}),
    )
    asker, sleeper = await child(editor, "asker"), await child(editor, "sleeper")
    await state(editor, asker, "waiting_for_agent")
    await editor.request("agentls/session/close", {"sessionId": top})
    for one in (asker, sleeper):
        await state(editor, one, "closed")
    (question,) = editor.mirror(asker).of_kind("question")
    assert question["reply"]["text"] is None
    await nothing_is_left(bench, editor)


async def test_what_a_child_says_wakes_the_one_that_directs_it_and_you_may_answer_for_it(
    bench: Bench,
) -> None:
    editor, top = await orchestrator(bench)
    await play(editor, top, spawn("asker", tool("ask_orchestrator", question="Well?")))
    await ended(editor, top, turns=2)
    assert said(editor, top)[-1]["heard"].startswith("asker asks")
    (open_one,) = (await editor.request("agentls/question/list", {}))["questions"]
    assert (open_one["text"], open_one["to"]) == ("Well?", "orchestrator")
    answer = {"questionId": open_one["questionId"], "text": "yes"}
    await editor.request("agentls/question/answer", answer)
    asker = await child(editor, "asker")
    await ended(editor, asker)
    assert words(said(editor, asker)[0]) == "yes"
    await ended(editor, top, turns=3)
    heard = editor.mirror(top).of_kind("message")[-2]
    assert (heard["sender"], heard["text"].splitlines()[0]) == ("asker", "asker has finished:")


async def test_cancelling_the_one_that_directs_stops_those_it_started(bench: Bench) -> None:
    editor, top = await orchestrator(bench)
    await send(editor, top, spawn("sleeper", {"await": "cancel"}), tool("wait_for_agent"))
    sleeper = await child(editor, "sleeper")
    await state(editor, sleeper, "running")
    await state(editor, top, "waiting_for_agent")
    await editor.request("agentls/session/cancel", {"sessionId": top})
    assert (await ended(editor, sleeper))["reason"] == "cancelled"
    await state(editor, top, "idle")
    assert len(editor.mirror(top).of_kind("turn_end")) == 1


async def test_only_a_session_that_was_begun_for_it_may_start_others_and_children_may_not(
    bench: Bench,
) -> None:
    editor, top = await orchestrator(bench, orchestrate=False)
    (refused,) = await play(editor, top, spawn("one"))
    assert "There is no tool 'spawn_agent' here." in str(refused)
    params = {"agent": "puppet", "orchestrate": True}
    other = (await editor.request("agentls/session/new", params))["session"]["id"]
    await play(editor, other, spawn("one", spawn("deeper")), tool("wait_for_agent"))
    one = await child(editor, "one")
    assert "There is no tool 'spawn_agent' here." in str(said(editor, one)[0])


async def test_elsewhere_each_start_is_asked_of_you(bench: Bench) -> None:
    editor, top = await orchestrator(bench, orchestrate=False, offerOrchestration=True)
    allow = [{"command": "curl"}]
    await send(editor, top, spawn("one", allow=allow), spawn("two", allow=allow))
    for name, verdict in (("one", "reject"), ("two", "allow")):

        def asked(name: str = name) -> list[Json]:
            asks = editor.mirror(top).of_kind("ask")
            return [a for a in asks if "decision" not in a and f"“{name}”" in a["title"]]

        (ask,) = await editor.until(asked, f"an ask about {name}")
        card = next(
            c for c in editor.mirror(top).of_kind("tool_call") if c["callId"] == ask["callId"]
        )
        assert "curl" in str(card["content"]), "the person sees all that is asked for"
        await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": verdict})
    await ended(editor, top)
    refused, started = said(editor, top)
    assert "one was not started" in words(refused)
    assert "two is at work" in words(started)


async def test_a_child_cannot_get_a_right_that_its_parent_lacks(bench: Bench) -> None:
    editor, top = await orchestrator(bench)
    allow = [{"command": "echo"}, {"kind": "execute"}]
    step = tool("run_in_terminal", command="echo hello")
    await send(editor, top, spawn("greedy", step, allow=allow), tool("wait_for_agent"))
    greedy = await child(editor, "greedy")
    (ask,) = await editor.until(lambda: editor.mirror(greedy).of_kind("ask"), "an ask")
    assert "the agent that started this one" in ask["why"]
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "reject"})
    await ended(editor, top)
    rule = {"verdict": "allow", "command": "echo", "scope": "project"}
    await editor.request("agentls/rule/add", rule)
    await play(editor, top, spawn("modest", step), tool("wait_for_agent"), turns=2)
    modest = await child(editor, "modest")
    assert "hello" in words(said(editor, modest)[0])


async def test_a_session_that_may_only_read_starts_none_that_may_more(bench: Bench) -> None:
    editor, top = await orchestrator(bench)
    params = {"sessionId": top, "policy": "read_only"}
    await editor.request("agentls/session/setPolicy", params)
    step = tool("run_in_terminal", command="echo hello")
    await play(editor, top, spawn("one", step), tool("wait_for_agent"))
    one = await child(editor, "one")
    assert "not allowed" in words(said(editor, one)[0])
    assert editor.mirror(one).of_kind("ask")[0]["decision"]["allowed"] is False
