"""What agents do to files is shown where it is, walked through, compared, kept, undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Desk, allow
from .nvim import Nvim

OLD = "".join(f"line {n}\n" for n in range(1, 21))
NEW = (
    OLD.replace("line 3\n", "line three\n")
    .replace("line 10\n", "line 10\nline 10 and a half\n")
    .replace("line 17\nline 18\n", "")
)
PENDING = "#require('agentls.changes').pending()"
HUNKS = "#require('agentls.changes.marks').hunks(vim.fn.bufnr('counting.txt'))"


def play(nvim: Nvim, *steps: dict[str, Any]) -> None:
    """A turn of the puppet that does these things."""
    before = ended(nvim)
    nvim.lua("require('agentls').send(...)", json.dumps(steps))
    nvim.until(lambda: ended(nvim) > before, "the end of the turn")


def ended(nvim: Nvim) -> int:
    return int(
        nvim.lua(
            "return #vim.tbl_filter(function(e) return e == 'AgentlsTurnEnd' end, _G.happened)"
        )
    )


def buffer(nvim: Nvim, name: str = "counting.txt") -> str:
    lines = nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)", name)
    return "".join(f"{line}\n" for line in lines)


def signs(nvim: Nvim) -> dict[int, str]:
    """The sign of each line that has one, as the screen shows it; lines count from 1."""
    found = nvim.lua(
        """
        local ns = vim.api.nvim_get_namespaces()["agentls.changes"]
        local buf, found = vim.fn.bufnr("counting.txt"), {}
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })) do
          for row = mark[2], mark[4].end_row do
            table.insert(found, { row + 1, vim.trim(mark[4].sign_text) })
          end
        end
        return found
        """
    )
    return dict(found)


def removed(nvim: Nvim) -> dict[int, list[str]]:
    """What is shown as removed, above or below each line."""
    found = nvim.lua(
        """
        local ns = vim.api.nvim_get_namespaces()["agentls.changes"]
        local buf, found = vim.fn.bufnr("counting.txt"), {}
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })) do
          for _, line in ipairs(mark[4].virt_lines or {}) do
            table.insert(found, { mark[2] + 1, vim.trim(line[1][1]) })
          end
        end
        return found
        """
    )
    lines: dict[int, list[str]] = {}
    for row, text in found:
        lines.setdefault(row, []).append(text)
    return lines


@pytest.fixture
def file(desk: Desk) -> Path:
    desk.bench.add_puppet()
    return desk.write("counting.txt", OLD)


@pytest.fixture
def nvim(desk: Desk, file: Path) -> Nvim:
    """With the file open and three hunks in it that the agent wrote by itself."""
    it = desk.nvim(settings={"agent": "puppet"})
    it.command("edit counting.txt")
    play(it, {"write": str(file), "text": NEW})
    it.until_lua(f"{HUNKS} == 3")
    it.until(lambda: buffer(it) == NEW, "the buffer follows the disk")
    it.until(lambda: len(signs(it)) == 3 and len(removed(it)) == 2, "all is marked")
    return it


def test_changes_have_signs_and_what_was_removed_is_shown(nvim: Nvim) -> None:
    assert signs(nvim) == {3: "┃", 11: "┃", 18: "▔"}
    assert removed(nvim) == {3: ["line 3"], 18: ["line 17", "line 18"]}
    assert nvim.lua("return vim.diagnostic.get(0)") == [], "not shown a second time"
    bar = nvim.lua(
        "local s = require('agentls.sessions').list()[1] return require('agentls.status').winbar(s)"
    )
    assert "±1" in bar


def test_marks_move_with_the_text_and_the_hunk_is_still_found(nvim: Nvim, file: Path) -> None:
    nvim.keys("ggOmine<Esc>:write<CR>")
    nvim.until(lambda: signs(nvim) == {4: "┃", 12: "┃", 19: "▔"}, "the marks moved")
    nvim.command("4")
    nvim.command("Agent undo")
    nvim.until(lambda: file.read_text() == "mine\n" + NEW.replace("line three", "line 3"), "undone")


def test_the_motions_go_through_the_hunks_and_on_to_the_next_file(desk: Desk, nvim: Nvim) -> None:
    other = desk.workspace / "other.txt"
    play(nvim, {"write": str(other), "text": "new\n"})
    nvim.until_lua(f"{PENDING} == 2")
    nvim.keys("gg")
    seen = []
    for key in ("]a", "]a", "]a", "]a", "[a", "2[a"):
        nvim.keys(key)
        seen.append(nvim.lua("return { vim.fn.expand('%:t'), vim.fn.line('.') }"))
    assert seen == [
        ["counting.txt", 3],
        ["counting.txt", 11],
        ["counting.txt", 18],
        ["other.txt", 1],
        ["counting.txt", 18],
        ["counting.txt", 3],
    ]


def test_motions_are_mapped_only_where_there_is_something_to_review(nvim: Nvim) -> None:
    here = "vim.fn.maparg(']a', 'n', false, true).buffer == 1"
    assert nvim.lua(f"return {here}")
    nvim.command("Agent keep all")
    nvim.until_lua(f"{PENDING} == 0")
    assert not nvim.lua(f"return {here}")


def test_one_hunk_is_undone_and_done_again(nvim: Nvim, file: Path) -> None:
    nvim.command("3")
    nvim.command("Agent undo")
    nvim.until(lambda: file.read_text() == NEW.replace("line three", "line 3"), "undone on disk")
    nvim.until(lambda: buffer(nvim) == file.read_text(), "and in the buffer")
    nvim.until(lambda: set(signs(nvim)) == {11, 18}, "its sign is gone")
    nvim.command("Agent redo")
    nvim.until(lambda: file.read_text() == NEW, "done again")
    nvim.until(lambda: buffer(nvim) == NEW, "and in the buffer")


def test_hunks_of_a_range_are_kept(nvim: Nvim, file: Path) -> None:
    nvim.command("1,12Agent keep")
    nvim.until(lambda: set(signs(nvim)) == {18}, "two are kept")
    assert file.read_text() == NEW


@pytest.mark.parametrize("scope", ["file", "turn", "session", "all"])
def test_more_than_a_hunk_is_undone_at_once(nvim: Nvim, file: Path, scope: str) -> None:
    nvim.command(f"Agent undo {scope}")
    nvim.until(lambda: file.read_text() == OLD, "all is undone")
    nvim.until(lambda: buffer(nvim) == OLD and not signs(nvim), "and gone from the buffer")


def test_a_turn_is_undone_and_the_turn_before_it_is_not(nvim: Nvim, file: Path) -> None:
    play(nvim, {"write": str(file), "text": NEW + "line 21\n"})
    nvim.until_lua(f"{HUNKS} == 4")
    nvim.command("$")
    nvim.command("Agent undo turn")
    nvim.until(lambda: file.read_text() == NEW, "the second turn is undone")
    nvim.until_lua(f"{HUNKS} == 3")


def test_where_there_is_no_change_the_scopes_are_named(nvim: Nvim) -> None:
    nvim.command("1")
    nvim.command("Agent undo")
    nvim.until_lua(
        "vim.iter(said):any(function(s) return s:find('file, turn, session or all') end)"
    )
    nvim.command("Agent undo everything")
    nvim.until_lua("vim.iter(said):any(function(s) return s:find('hunk, file, turn') end)")


def test_what_somebody_altered_is_merged_only_when_they_say_so(nvim: Nvim, file: Path) -> None:
    nvim.lua(
        "vim.ui.select = function(items, options, done)"
        " _G.asked = options.prompt; done(items[1]) end"
    )
    nvim.lua("vim.api.nvim_buf_set_lines(0, 2, 3, false, { 'line three!' })")
    nvim.command("write")
    nvim.until_lua("require('agentls.changes').pending()[1].hunks[1].altered")
    nvim.command("3")
    nvim.command("Agent undo")
    nvim.until_lua("_G.asked ~= nil")
    nvim.until(lambda: "<<<<<<<" in file.read_text(), "both are there, with marks")
    assert "line three!" in file.read_text()


def test_the_quickfix_list_has_all_changes_and_follows_the_decisions(nvim: Nvim) -> None:
    nvim.command("Agent changes")
    nvim.until_lua("vim.bo.buftype == 'quickfix'")
    lines = "vim.tbl_map(function(i) return { i.lnum, i.text } end, vim.fn.getqflist())"
    assert nvim.lua(f"return {lines}") == [
        [3, "puppet, turn 1: +1 -1"],
        [11, "puppet, turn 1: +1 -0"],
        [18, "puppet, turn 1: +0 -2"],
    ]
    nvim.command("cc 2")
    assert nvim.lua("return vim.fn.line('.')") == 11
    nvim.command("Agent keep")
    nvim.until_lua("#vim.fn.getqflist() == 2")


def test_before_and_after_are_compared_side_by_side(nvim: Nvim) -> None:
    nvim.command("Agent diff")
    nvim.until_lua("vim.fn.tabpagenr('$') == 2 and vim.fn.winnr('$') == 2")
    shown = nvim.lua(
        """
        return vim.tbl_map(function(win)
          local buf = vim.api.nvim_win_get_buf(win)
          local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
          return { vim.wo[win].diff, table.concat(lines, "\\n") }
        end, vim.api.nvim_tabpage_list_wins(0))
        """
    )
    assert shown == [[True, OLD.rstrip("\n")], [True, NEW.rstrip("\n")]]
    nvim.keys("<C-w>hq")
    nvim.until_lua("vim.fn.tabpagenr('$') == 1")


def test_a_file_that_was_made_and_one_that_was_deleted_are_undone(
    desk: Desk, nvim: Nvim, file: Path
) -> None:
    made, gone = desk.workspace / "made.txt", desk.write("gone.txt", "here\n")
    nvim.command("Agent keep all")
    nvim.until_lua(f"{PENDING} == 0")
    play(nvim, {"write": str(made), "text": "new\n"}, {"write": str(gone)})
    nvim.until_lua(f"{PENDING} == 2")
    nvim.command("Agent undo turn")
    nvim.until(lambda: not made.exists() and gone.exists(), "both are undone")
    assert gone.read_text() == "here\n"


def test_going_back_shows_first_what_it_means(desk: Desk, nvim: Nvim, file: Path) -> None:
    made = desk.workspace / "made.txt"
    play(nvim, {"write": str(made), "text": "new\n"})
    nvim.until_lua(f"{PENDING} == 2")
    nvim.command("Agent restore 1")
    nvim.until_lua("vim.bo.filetype == 'agentls-restore'")
    text = "\n".join(nvim.request("nvim_buf_get_lines", 0, 0, -1, False))
    assert "changes     counting.txt" in text
    assert "is removed  made.txt" in text
    assert file.read_text() == NEW, "nothing has happened yet"
    nvim.keys("<CR>")
    nvim.until(lambda: file.read_text() == OLD and not made.exists(), "all is as it was")
    nvim.until(lambda: buffer(nvim) == OLD, "the buffer too")
    nvim.until_lua("vim.iter(said):any(function(s) return s:find('Back to before turn 1') end)")
    nvim.command("Agent restore undo")
    nvim.until(lambda: file.read_text() == NEW and made.exists(), "and back again")


def test_going_back_can_be_left_alone_and_turns_are_offered(nvim: Nvim, file: Path) -> None:
    nvim.lua(
        "vim.ui.select = function(items, options, done)"
        " _G.offered = vim.tbl_map(options.format_item, items); done(items[1]) end"
    )
    nvim.command("Agent restore")
    nvim.until_lua("vim.bo.filetype == 'agentls-restore'")
    assert nvim.lua("return #_G.offered") == 1
    assert nvim.lua("return _G.offered[1]").startswith("turn 1: ")
    nvim.keys("q")
    nvim.until_lua("vim.bo.filetype ~= 'agentls-restore'")
    assert file.read_text() == NEW


def test_an_edit_that_was_asked_for_is_marked_too(desk: Desk) -> None:
    desk.write("counting.txt", OLD)
    nvim = desk.nvim()
    nvim.command("edit counting.txt")
    nvim.lua("require('agentls').send('/edit counting.txt 7 seven')")
    nvim.until_lua("#require('agentls').asks() == 1")
    allow(nvim)
    nvim.until(lambda: set(signs(nvim)) == {7}, "the line is marked")


@pytest.fixture
def conflict(desk: Desk, file: Path) -> Nvim:
    """The person and the agent have changed the same line, and the person has not saved."""
    nvim = desk.nvim(settings={"agent": "puppet"})
    nvim.command("edit counting.txt")
    nvim.command("Agent new")
    nvim.until_lua("#require('agentls').sessions() == 1")
    nvim.command("stopinsert | wincmd t")
    nvim.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('counting.txt'), 2, 3, false, { 'mine' })")
    play(nvim, {"write": str(file), "text": OLD.replace("line 3\n", "the agent's\n")})
    nvim.until_lua("#require('agentls.conflicts').list() == 1")
    return nvim


MINE = OLD.replace("line 3\n", "mine\n")
AGENTS = OLD.replace("line 3\n", "the agent's\n")


def test_a_conflict_is_said_and_neovim_does_not_stop_to_ask(conflict: Nvim, file: Path) -> None:
    conflict.until_lua("table.concat(said, ' '):find(':Agent conflicts', 1, true) ~= nil")
    conflict.post("nvim_command", "checktime")
    conflict.until_lua("table.concat(said, ' '):find('was changed on disk', 1, true) ~= nil")
    assert conflict.request("nvim_get_mode") == {"mode": "n", "blocking": False}
    assert (buffer(conflict), file.read_text()) == (MINE, AGENTS), "neither is lost"


@pytest.mark.parametrize("choice", ["mine", "agent", "merge"])
def test_a_conflict_is_settled_as_the_person_says(conflict: Nvim, file: Path, choice: str) -> None:
    conflict.lua(
        "local wanted = ...; vim.ui.select = function(items, options, done)"
        " done(vim.iter(items):find(function(i) return i.take == wanted end)) end",
        choice,
    )
    conflict.command("Agent conflicts")
    conflict.until_lua("#require('agentls.conflicts').list() == 0")
    if choice == "merge":
        conflict.until(lambda: "<<<<<<<" in buffer(conflict), "both, marked")
        assert "mine\n" in buffer(conflict)
        assert "the agent's\n" in buffer(conflict)
    else:
        wanted = MINE if choice == "mine" else AGENTS
        conflict.until(lambda: buffer(conflict) == file.read_text() == wanted, "one text")
