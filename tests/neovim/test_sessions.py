"""Sessions last: past ones are listed, read, taken up, searched; none is lost with the server."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from .conftest import Desk, chat_text, nothing_left
from .nvim import Nvim
from .test_start import server_pid

CHOOSE = (
    "_G.offered = nil; vim.ui.select = function(items, options, done)"
    " _G.offered = vim.tbl_map(options.format_item or tostring, items); done(items[1]) end"
)
HEAD = "(require('agentls').sessions()[1] or {})"


def say(nvim: Nvim, text: str) -> None:
    """Have the demo agent answer this."""
    before = turns(nvim)
    nvim.lua("require('agentls').send(...)", text)
    nvim.until(lambda: turns(nvim) > before, f"the answer to {text!r}")


def turns(nvim: Nvim) -> int:
    return int(
        nvim.lua(
            "return vim.iter(_G.happened):filter(function(e)"
            " return e == 'AgentlsTurnEnd' end):fold(0, function(n) return n + 1 end)"
        )
    )


def offered(nvim: Nvim) -> list[str]:
    nvim.until_lua("_G.offered ~= nil")
    return list(nvim.lua("return _G.offered"))


def told(nvim: Nvim, words: str) -> None:
    nvim.until_lua("table.concat(said, '\\n'):find(..., 1, true) ~= nil", words)


def past(desk: Desk, *prompts: str) -> None:
    """Sessions of a Neovim that has been closed."""
    for prompt in prompts:
        nvim = desk.nvim()
        say(nvim, prompt)
        nvim.close()
        nothing_left(desk.bench.mark)  # all is written down


def test_live_and_past_sessions_are_in_one_list_and_a_past_one_goes_on(desk: Desk) -> None:
    past(desk, "/think")
    nvim = desk.nvim()
    say(nvim, "/help")
    nvim.lua(CHOOSE.replace("items[1]", "items[2]"))
    nvim.command("Agent sessions")
    assert [line.split(" (")[0] for line in offered(nvim)] == ["/help", "/think"]
    assert "ready" in offered(nvim)[0]
    nvim.until(lambda: "I have thought about it" in shown(nvim), "what was said then")
    bar = "require('agentls.status').winbar(session(require('agentls.chat').current()))"
    nvim.lua("session = require('agentls.sessions').get")
    assert "past: a prompt takes it up" in nvim.lua(f"return {bar}")
    nvim.command("stopinsert")
    say(nvim, "/think")
    nvim.until(lambda: shown(nvim).count("I have thought about it") == 2, "it goes on")


def shown(nvim: Nvim) -> str:
    """The text of the chat that is current."""
    return str(
        nvim.lua(
            """
            local chat = require("agentls.chat")
            local it = chat.get(chat.current() or "")
            local lines = it and vim.api.nvim_buf_get_lines(it.buf, 0, -1, false)
            return table.concat(lines or {}, "\\n")
            """
        )
    )


def test_resume_offers_past_sessions_of_this_folder(desk: Desk) -> None:
    past(desk, "/think", "/help")
    nvim = desk.nvim()
    nvim.lua(CHOOSE)
    nvim.command("Agent resume think")
    assert len(offered(nvim)) == 1
    nvim.until_lua(f"{HEAD}.state == 'idle'")
    nvim.until(lambda: "I have thought about it" in shown(nvim), "what was said then")
    assert nvim.request("nvim_get_mode")["mode"] == "i", "ready for the next prompt"
    nvim.lua("_G.offered = nil")
    nvim.command("stopinsert")
    nvim.command("Agent resume nothing-like-that")
    told(nvim, "There is no such session")


def test_search_opens_the_session_at_the_place(desk: Desk) -> None:
    past(desk, "/think", "/slow 30")
    nvim = desk.nvim()
    nvim.lua(CHOOSE)
    nvim.command("Agent search word17")
    assert "word17" in offered(nvim)[0]
    nvim.until(lambda: "word17" in shown(nvim), "the session")
    nvim.until_lua("vim.bo.filetype == 'agentls' and vim.fn.line('.') > 1")
    nvim.until_lua("vim.api.nvim_get_current_line():find('word1 ', 1, true) ~= nil")
    nvim.command("Agent search neversaid")
    told(nvim, "Nobody has said")


def test_a_session_is_renamed_put_aside_and_written_to_a_file(desk: Desk) -> None:
    nvim = desk.nvim()
    say(nvim, "/think")
    nvim.command("Agent rename A good thought")
    nvim.until_lua(f"{HEAD}.title == 'A good thought'")
    nvim.command("Agent export notes.md")
    told(nvim, "Written to notes.md")
    assert "I have thought about it" in (desk.workspace / "notes.md").read_text()
    nvim.command("Agent export notes.md")
    told(nvim, "is there already")
    nvim.command("Agent export notes.json")
    told(nvim, "Written to notes.json")
    assert json.loads((desk.workspace / "notes.json").read_text().splitlines()[0])
    nvim.command("Agent export")
    nvim.until_lua("vim.bo.filetype == 'markdown'")
    nvim.command("tabclose")
    nvim.command("Agent archive")
    told(nvim, "Put aside")
    nvim.lua(CHOOSE)
    nvim.command("Agent sessions")
    told(nvim, "There is no such session")
    nvim.command("Agent archive")
    told(nvim, "Brought back")


def test_a_restarted_server_goes_on_with_the_chat(desk: Desk) -> None:
    nvim = desk.nvim()
    say(nvim, "/think")
    before, id = server_pid(desk), nvim.lua(f"return {HEAD}.id")
    nvim.command("Agent restart")
    told(nvim, "started again")
    nvim.until(lambda: server_pid(desk) != before, "another server")
    nvim.until_lua(f"{HEAD}.place == 'past'")
    assert "I have thought about it" in shown(nvim)
    say(nvim, "/think")
    nvim.until(lambda: shown(nvim).count("I have thought about it") == 2, "it goes on")
    assert nvim.lua(f"return {HEAD}.id") == id
    assert nvim.lua("return #require('agentls').sessions()") == 1


def test_a_server_killed_in_mid_turn_is_started_by_the_next_prompt(desk: Desk) -> None:
    nvim = desk.nvim()
    nvim.command("Agent send /slow 500")
    nvim.until(lambda: "word3" in chat_text(nvim), "some words")
    id = nvim.lua(f"return {HEAD}.id")
    os.kill(server_pid(desk), signal.SIGKILL)
    nvim.until_lua("vim.tbl_contains(happened, 'AgentlsDisconnected')")
    assert nvim.lua(f"return {HEAD}.turnRunning") is False
    say(nvim, "/think")
    assert nvim.lua(f"return {HEAD}.id") == id
    text = shown(nvim)
    assert "word1" in text
    assert "I have thought about it" in text


def test_an_ask_of_a_killed_server_is_withdrawn(desk: Desk) -> None:
    nvim = desk.nvim()
    nvim.command("Agent send /run echo hi")
    nvim.until_lua("#require('agentls').asks() == 1")
    os.kill(server_pid(desk), signal.SIGKILL)
    nvim.until_lua("#require('agentls').asks() == 0")
    assert nvim.lua("return require('agentls').statusline()") == ""


def test_a_killed_agent_is_said_and_the_session_goes_on(desk: Desk) -> None:
    nvim = desk.nvim()
    nvim.command("Agent send /slow 500")
    nvim.until(lambda: "word3" in chat_text(nvim), "some words")
    os.kill(agent_pid(desk, "agentls.demo"), signal.SIGKILL)
    nvim.until_lua(f"{HEAD}.state == 'failed'")
    nvim.until(lambda: "> **Error**" in shown(nvim), "why it ended")
    bar = nvim.lua("return require('agentls.status').winbar(require('agentls.sessions').list()[1])")
    assert "gR starts the agent again" in bar
    go_to_chat(nvim)
    nvim.keys("gR")
    nvim.until_lua(f"{HEAD}.state == 'idle'")
    say(nvim, "/think")
    assert "I have thought about it" in shown(nvim)


def head(nvim: Nvim, field: str) -> object:
    return nvim.lua(f"return {HEAD}.{field}")


def agent_pid(desk: Desk, words: str) -> int:
    """The process of that agent; 0 when there is none."""
    return min((pid for pid, line in desk.bench.processes().items() if words in line), default=0)


def test_neovim_killed_in_mid_turn_leaves_a_session_that_goes_on(desk: Desk) -> None:
    first = desk.nvim()
    first.command("Agent send /slow 500")
    first.until(lambda: "word3" in chat_text(first), "some words")
    first.process.kill()
    first.process.wait(10)
    second = desk.nvim()
    second.lua(CHOOSE)
    second.until(lambda: server_gone(desk), "the end of the first server")
    second.command("Agent resume")
    assert offered(second)[0].startswith("/slow 500")
    second.until(lambda: "word1 " in shown(second), "what was said then")
    second.command("stopinsert")
    say(second, "/think")
    assert "I have thought about it" in shown(second)


def server_gone(desk: Desk) -> bool:
    lines = desk.bench.processes().values()
    return not any(line.rstrip().endswith("-m agentls") for line in lines)


BAR = "require('agentls.status').winbar(require('agentls.sessions').list()[1])"


def go_to_chat(nvim: Nvim) -> None:
    name = f"agentls://{head(nvim, 'id')}"
    nvim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid(vim.fn.bufnr(...)))", f"^{name}$")
    nvim.command("stopinsert")


def test_an_agent_that_gives_no_sign_of_life_is_said_and_killed_with_one_key(desk: Desk) -> None:
    desk.bench.add_scenario("deaf")
    nvim = desk.nvim(settings={"agent": "deaf", "stuckAfter": 0.2})
    nvim.command("Agent send hello")
    told(nvim, "gives no sign of life")
    assert "<C-c> stops it" in nvim.lua(f"return {BAR}")
    go_to_chat(nvim)
    nvim.keys("<C-c>")
    nvim.until_lua(f"{BAR}:find('<C-c> again kills it', 1, true) ~= nil")
    before = agent_pid(desk, "deaf.jsonl")
    nvim.lua(CHOOSE.replace("items[1]", "items[2]"))
    nvim.keys("<C-c>")
    assert offered(nvim) == ["Wait", "Kill it and take the session up again"]
    nvim.until(lambda: agent_pid(desk, "deaf.jsonl") not in (0, before), "another agent")
    nvim.until_lua(f"{HEAD}.state == 'idle'")


@pytest.fixture
def refused(desk: Desk) -> Nvim:
    """With a session whose prompt waits for a login."""
    script = Path(__file__).parents[1] / "fakes" / "login_agent.py"
    file = desk.folder / "logged in"
    desk.bench.add_agent("guarded", [sys.executable, str(script), str(file), "prompt"])
    nvim = desk.nvim(settings={"agent": "guarded"})
    nvim.command("Agent send hello")
    told(nvim, "guarded wants you to log in: :Agent login")
    assert "not logged in: gl or :Agent login" in nvim.lua(f"return {BAR}")
    return nvim


def answered(nvim: Nvim) -> None:
    nvim.until(lambda: "You said: hello" in shown(nvim), "the answer to the prompt that waited")
    nvim.until_lua(f"{HEAD}.state == 'idle'")
    assert "not logged in" not in nvim.lua(f"return {BAR}")


def test_the_way_to_log_in_is_chosen_and_the_prompt_is_answered(refused: Nvim) -> None:
    refused.lua(CHOOSE)
    go_to_chat(refused)
    refused.keys("gl")
    assert offered(refused) == ["In the browser", "In a terminal", "A key"]
    answered(refused)


def test_a_login_program_is_shown_first_then_run_in_a_terminal(refused: Nvim) -> None:
    refused.lua(CHOOSE.replace("; done(", "; _G.asked = options.prompt; done("))
    refused.command("Agent login term")
    assert offered(refused) == ["Run it", "Leave it"]
    assert "--login" in refused.lua("return _G.asked")
    refused.until_lua("vim.bo.filetype == 'agentls-terminal'")
    refused.keys("igood<CR>")
    answered(refused)


def test_a_session_stands_below_the_one_that_started_it(desk: Desk) -> None:
    nvim = desk.nvim()
    heads = [
        {"id": "low", "orchestrator": "top", "name": "tester"},
        {"id": "top"},
        {"id": "deep", "orchestrator": "low"},
        {"id": "orphan", "orchestrator": "not in the list"},
    ]
    nested = nvim.lua("return require('agentls.commands.sessions').nested(...)", heads)
    assert [(head["id"], head["depth"]) for head in nested] == [
        ("top", 0),
        ("low", 1),
        ("deep", 2),
        ("orphan", 0),
    ]
