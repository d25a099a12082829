"""The help of the plugin says what the plugin does, and all of it."""

from __future__ import annotations

import re

from .conftest import PLUGIN
from .nvim import Nvim

HELP = (PLUGIN / "doc" / "agentls.txt").read_text()


def test_every_subcommand_is_in_the_help_and_no_other(nvim: Nvim) -> None:
    names = nvim.lua("return vim.tbl_keys(require('agentls.command').subcommands)")
    described = re.findall(r"^:(?:\[range\])?Agent (\w+)", HELP, re.MULTILINE)
    assert sorted(described) == sorted(names)


def test_the_defaults_in_the_help_are_the_defaults(nvim: Nvim) -> None:
    (block,) = re.findall(r"^\tvim\.g\.agentls = (\{\n.*?^\t\})$", HELP, re.MULTILINE | re.DOTALL)
    described = nvim.lua(f"return {block}")
    assert described == nvim.lua("return require('agentls.config').defaults")


def test_every_event_is_in_the_help(nvim: Nvim) -> None:
    source = (PLUGIN / "lua" / "agentls" / "events.lua").read_text()
    events = re.findall(r'^---\| "(\w+)"', source, re.MULTILINE)
    assert events
    assert [name for name in events if f"Agentls{name}\t" not in HELP] == []


def test_every_function_of_the_module_is_in_the_help(nvim: Nvim) -> None:
    names = nvim.lua("return vim.tbl_keys(require('agentls'))")
    assert [name for name in names if f"*agentls.{name}()*" not in HELP] == []


def test_every_highlight_group_and_plug_map_is_in_the_help() -> None:
    colours = (PLUGIN / "lua" / "agentls" / "chat" / "colours.lua").read_text()
    groups = re.findall(r"^  (Agentls\w+) =", colours, re.MULTILINE)
    assert [name for name in groups if name not in HELP] == []
    maps = re.findall(
        r'^  \{ "(\w+)",', (PLUGIN / "plugin" / "agentls.lua").read_text(), re.MULTILINE
    )
    assert maps
    assert [name for name in maps if f"-{name}" not in HELP] == []


def test_the_tags_are_found(nvim: Nvim) -> None:
    nvim.command(f"helptags {PLUGIN / 'doc'}")
    for tag in ("agentls", ":Agent", "agentls-config", "agentls.send()"):
        nvim.command(f"help {tag}")
        assert nvim.lua("return vim.fn.expand('%:t')") == "agentls.txt"
