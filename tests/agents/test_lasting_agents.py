"""Real agents over the end of their server, and under the eyes of the doctor."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended, prompt
from fakes.editor import Editor
from fakes.leftovers import VARIABLE, nothing_left
from fakes.real_agents import AGENTS

pytestmark = [pytest.mark.real_agent, pytest.mark.timeout(300)]
MINUTE = 100.0
"""Gemini can take a session up only a minute after it was made."""
LOGIN_AGENT = Path(__file__).parent.parent / "fakes" / "login_agent.py"


@pytest.fixture
def _a_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The agents keep what they remember from process to process."""
    cache = Path.home() / ".cache"  # Codex runs no commands for a home in a temporary folder
    cache.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=cache, prefix="agentls-test-", ignore_cleanup_errors=True) as home:
        monkeypatch.setenv("AGENTS_HOME", home)
        yield


async def _goes_on(editor: Editor, session: str, turns: int) -> None:
    """It is answered as if nothing had happened, by an agent that remembers."""
    before = editor.mirror(session).text()
    again = {"sessionId": session, "text": "#fake text 3"}
    assert (await editor.request("agentls/session/prompt", again))["turn"] == turns
    mirror = editor.mirror(session)
    ends = await editor.until(
        lambda: len(found := mirror.of_kind("turn_end")) >= turns and found, "the end", MINUTE
    )
    assert ends[-1]["reason"] == "end_turn", ends[-1]
    assert mirror.text() == before + "chunk 0 chunk 1 chunk 2 "
    said = [notice["text"] for notice in mirror.of_kind("notice")]
    assert not [text for text in said if "does not remember" in text], said


@pytest.mark.usefixtures("_a_memory")
@pytest.mark.parametrize("agent", AGENTS)
async def test_a_killed_server_leaves_no_process_forgets_no_ask_and_the_agents_go_on(
    bench: Bench, agent: str
) -> None:
    first = await bench.editor()
    asking = await prompt(first, agent, "#fake text 3")
    await ended(first, asking)
    shell = {"sessionId": asking, "text": "#fake shell touch made.txt"}
    await first.request("agentls/session/prompt", shell)
    streaming = await prompt(first, agent, "#fake slow 400")
    await first.until(lambda: first.mirror(asking).of_kind("ask"), "the ask", 60)
    await first.until(lambda: "chunk 3 " in first.mirror(streaming).text(), "some text", 60)
    for session in (asking, streaming):  # all that was said until now is in the store
        wanted = {"sessionId": session, "format": "json"}
        await first.request("agentls/session/export", wanted)
    known = first.mirror(streaming).text()
    os.kill(first.process.pid, signal.SIGKILL)
    await first.process.wait()
    await first.gone()
    await nothing_left(bench.mark)

    second = await bench.editor()
    listed = (await second.request("agentls/session/list", {}))["sessions"]
    assert {head["id"]: head["died"] for head in listed} == {asking: True, streaming: True}
    read = await second.snapshot(asking)
    (ask,) = (entry for entry in read["entries"] if entry["kind"] == "ask")
    assert (ask["decision"]["allowed"], "server ended" in ask["decision"]["by"]) == (False, True)
    await second.snapshot(streaming)
    assert second.mirror(streaming).text().startswith(known)
    await _goes_on(second, asking, 3)
    await _goes_on(second, streaming, 2)
    assert not (bench.workspace / "made.txt").exists(), "nobody allowed that"


async def test_the_doctor_knows_which_agents_work_and_which_wants_a_login(
    bench: Bench, tmp_path: Path
) -> None:
    file = tmp_path / "logged-in"
    bench.add_agent("secret", [sys.executable, str(LOGIN_AGENT), str(file), "new"])
    doctor = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "agentls", "doctor", "--json", *AGENTS, "secret"),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "XDG_CONFIG_HOME": str(bench.config), VARIABLE: bench.mark},
    )
    out, _ = await asyncio.wait_for(doctor.communicate(), 200)
    found: dict[str, dict[str, Any]] = {a["name"]: a for a in json.loads(out)["agents"]}
    assert set(found) == {*AGENTS, "secret"}
    for name in AGENTS:
        agent = found[name]
        assert agent["ok"], agent
        assert (agent["login"], agent["version"] != "") == ("fine", True)
        assert min(agent["handshake"], agent["session"]) > 0
        assert "load" in agent["abilities"]
    secret = found["secret"]
    assert (secret["ok"], secret["login"]) == (False, "needed")
    assert [method["id"] for method in secret["methods"]] == ["browser", "term", "key"]
    assert "agentls login secret" in secret["advice"]
    assert doctor.returncode == 1
