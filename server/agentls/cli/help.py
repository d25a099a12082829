"""The help that teaches, the version, and what is said to a command that does not exist."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from agentls import __version__

from . import COMMANDS
from .codes import USAGE

_HELP = """\
agentls brings AI coding agents (Claude Code, Codex, Gemini CLI, OpenCode and others) into your
editor: it is a language server to the editor, and speaks the Agent Client Protocol to the agents.
What an agent asks permission for happens only when you allow it.

Commands
  agentls [serve]      the language server on stdin and stdout; an editor starts it
  agentls run          talk to an agent in this terminal
                         agentls run --agent claude "Why does test_login fail?"
  agentls demo         see it work in a sample project, without an account or a network
                         agentls demo
  agentls agents       which agents there are, which are installed, how to install the others
                         agentls agents
  agentls doctor       start the agents that are installed: which of them work, what the others want
                         agentls doctor claude
  agentls login        log in to an agent, in one of the ways that it offers
                         agentls login claude
  agentls sessions     all sessions, live and past: list, show, search, resume, export, delete
                         agentls sessions search "flaky test"
  agentls rules        what agents may do without asking; list, add, remove, explain
                         agentls rules explain "git status && rm -rf build"
  agentls decisions    what was allowed and rejected lately, and by whom
                         agentls decisions --last 50
  agentls record       like run, and keep what was said between agentls and the agent
                         agentls record -o bug.jsonl "Say hello"
  agentls replay       play a recording as if it were an agent, on stdin and stdout
                         agentls replay bug.jsonl
  agentls demo-agent   a small agent that needs no account and no network, on stdin and stdout
                         agentls run --agent demo "Tour this project"
  agentls tools-bridge  started by agents, to reach the tools that agentls offers them
  agentls completion   completion of these words for bash, zsh and fish
                         source <(agentls completion bash)
  agentls COMMAND --help says more about each; agentls --version says which one this is.

Files
  {agents}
      your own agents, changes to the known ones, and MCP servers for all of them:
        [agents.mine]
        command = ["my-agent", "--acp"]
        [mcp.search]
        command = ["my-mcp-server"]
  {rules}
      your rules for all projects; agentls rules says where a project's own are
  {log}
      the log of the server; AGENTLS_LOG=debug, info or warning says how much goes there

Editors
  Neovim   vim.lsp.config("agentls", {{ cmd = {{ "agentls" }} }}); vim.lsp.enable("agentls")
  VS Code  install the extension "agentls"
  Helix    language-server.agentls = {{ command = "agentls" }}   (in languages.toml)
  Emacs    (add-to-list 'eglot-server-programs '(prog-mode . ("agentls")))
  others   a language server with the command "agentls", over stdio
"""


def top_level(args: Sequence[str]) -> int:
    """What is not a command: a request for help or for the version, or a mistake."""
    word = args[0]
    if word in {"--help", "-h", "help"}:
        print(help_text(), end="")
        return 0
    if word in {"--version", "-V"}:
        print(f"agentls {__version__}")
        return 0
    return unknown(word)


def help_text() -> str:
    from agentls.agent.catalog import user_file_path
    from agentls.log import log_file

    agents = user_file_path(os.environ)
    return _HELP.format(
        agents=agents, rules=agents.with_name("rules.toml"), log=log_file(os.environ)
    )


def summaries() -> dict[str, str]:
    """Each command with what it is for, in a few words."""
    found = re.findall(r"^  agentls \[?([\w-]+)\]? +(.+)$", _HELP, re.MULTILINE)
    return {name: about.partition(";")[0] for name, about in found if name in COMMANDS}


def unknown(word: str) -> int:
    from difflib import get_close_matches

    meant = next(iter(get_close_matches(word, COMMANDS, n=1)), "")
    what = "option" if word.startswith("-") else "command"
    guess = f"did you mean agentls {meant}?" if meant else "agentls --help lists the commands."
    return usage_error(f"there is no {what} {word!r}; {guess}")


def usage_error(text: str) -> int:
    """Say what was wrong with the command line."""
    print(f"agentls: {text}", file=sys.stderr)
    return USAGE
