"""What an agent writes to an open file through the editor is saved there, as a person would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Desk, allow
from .nvim import Nvim
from .test_changes import buffer, ended


def write(path: Path, text: str) -> dict[str, Any]:
    return {"call": "fs/write_text_file", "params": {"path": str(path), "content": text}}


def written(nvim: Nvim, path: Path, text: str) -> None:
    """The agent writes it, and is allowed to."""
    before = ended(nvim)
    nvim.lua("require('agentls').send(...)", json.dumps([write(path, text)]))
    nvim.until_lua("#require('agentls').asks() > 0")
    allow(nvim)
    nvim.until(lambda: ended(nvim) > before, "the end of the turn")


@pytest.fixture
def file(desk: Desk) -> Path:
    desk.bench.add_puppet()
    return desk.write("counting.txt", "one\ntwo\nthree\n")


@pytest.fixture
def nvim(desk: Desk, file: Path) -> Nvim:
    it = desk.nvim(settings={"agent": "puppet"})
    it.command("edit counting.txt")
    return it


MODIFIED = "return vim.bo[vim.fn.bufnr('counting.txt')].modified"


def test_the_buffer_is_written_and_not_modified(nvim: Nvim, file: Path) -> None:
    written(nvim, file, "one\n2\nthree\n")
    assert buffer(nvim) == file.read_text() == "one\n2\nthree\n"
    assert nvim.lua(MODIFIED) is False


def test_what_happens_on_writing_happens(nvim: Nvim, file: Path) -> None:
    nvim.lua(
        """
        vim.api.nvim_create_autocmd("BufWritePre", {
          pattern = "counting.txt",
          callback = function() vim.cmd("silent %s/ *= */ = /e") end,
        })
        """
    )
    written(nvim, file, "one\nx=2\nthree\n")
    assert buffer(nvim) == file.read_text() == "one\nx = 2\nthree\n"
    assert nvim.lua(MODIFIED) is False


def test_unsaved_text_is_kept_and_saved_with_it(nvim: Nvim, file: Path) -> None:
    nvim.keys("ggOmine<Esc>")
    nvim.until(lambda: buffer(nvim).startswith("mine\n"), "what was typed")
    written(nvim, file, "one\ntwo\nTHREE\n")
    assert buffer(nvim) == file.read_text() == "mine\none\ntwo\nTHREE\n"


def test_a_buffer_that_is_read_only_is_left_alone(nvim: Nvim) -> None:
    nvim.command("set readonly")
    uri = nvim.lua("return vim.uri_from_bufnr(0)")
    assert nvim.lua("return require('agentls.save').save(...)", uri) is False
    assert nvim.lua("return require('agentls.save').save('file:///not/open.txt')") is False
