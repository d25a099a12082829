"""`agentls completion`: completion of words for a shell, made from the argument parsers.

The script it prints is whole: no program runs while somebody presses Tab, but for names of agents.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from . import COMMANDS

_ABOUT = """\
Print a script that completes agentls commands in your shell. To have it always:
  bash   source <(agentls completion bash)      in ~/.bashrc
  zsh    source <(agentls completion zsh)       in ~/.zshrc, after compinit
  fish   agentls completion fish > ~/.config/fish/completions/agentls.fish
"""


class Words(Struct, frozen=True, kw_only=True):
    """What may follow some words of a command line."""

    after: tuple[str, ...]
    options: dict[str, str]
    """Each with what it does."""
    actions: dict[str, str]
    takes: frozenset[str]
    """Options that are followed by a value."""
    choices: dict[str, tuple[str, ...]]
    """The values of those that have a fixed list; "" for what is no option."""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "agentls completion",
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=tuple(_SHELLS))
    return parser


def command(args: Sequence[str]) -> int:
    print(_SHELLS[parser().parse_args(args).shell](list(grammar())), end="")
    return 0


def grammar() -> Iterator[Words]:
    """What every command, and every action of it, takes."""
    from .help import summaries

    known = summaries()
    yield Words(
        after=(),
        options={"--help": "how to use it", "--version": "which one this is"},
        actions={name: known.get(name, "") for name in COMMANDS},
        takes=frozenset(),
        choices={},
    )
    for name in COMMANDS:
        if (found := _parser_of(name)) is not None:
            yield from _read((name,), found)


def _parser_of(name: str) -> argparse.ArgumentParser | None:
    """The parser of a command; some take no arguments and have none."""
    from importlib import import_module

    make = getattr(import_module(f"agentls.cli.{COMMANDS[name]}"), "parser", None)
    return make() if make is not None else None


def _read(after: tuple[str, ...], parser: argparse.ArgumentParser) -> Iterator[Words]:
    options: dict[str, str] = {}
    takes: set[str] = set()
    choices: dict[str, tuple[str, ...]] = {}
    actions: dict[str, str] = {}
    inner: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {a.dest: a.help or "" for a in action._choices_actions}
            inner = list(action.choices.items())
            actions = {name: about.get(name, "") for name, _ in inner}
            continue
        fixed = tuple(map(str, action.choices)) if action.choices else ()
        for option in action.option_strings or ([""] if fixed else []):
            if option:
                options[option] = (action.help or "").partition(";")[0] % {"prog": "agentls"}
                if action.nargs != 0:
                    takes.add(option)
            if fixed:
                choices[option] = fixed
    yield Words(
        after=after, options=options, actions=actions, takes=frozenset(takes), choices=choices
    )
    for name, found in inner:
        yield from _read((*after, name), found)


# -- bash


def _bash(words: Sequence[Words]) -> str:
    cases = []
    for known in words:
        where = " ".join(known.after)
        offers = [*known.actions, *known.choices.get("", ()), *known.options]
        cases.append(f'        "{where}") offers="{" ".join(offers)}" takes="{_spaced(known)}" ;;')
    values = [
        f'        "{" ".join(known.after)} {option}") offers="{" ".join(fixed)}" ;;'
        for known in words
        for option, fixed in known.choices.items()
        if option
    ]
    return _BASH.format(
        actions=" ".join(f'"{" ".join(known.after)}"' for known in words if known.after),
        cases="\n".join(cases),
        values="\n".join(values) or "        *) ;;",
    )


def _spaced(known: Words) -> str:
    return f" {' '.join(sorted(known.takes))} "


_BASH = """\
# Completion of agentls for bash.
_agentls() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}"
    local where="" next word known offers="" takes=""
    local i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${{COMP_WORDS[i]}}"
        next="${{where:+$where }}$word"
        for known in {actions}; do
            if [[ "$next" == "$known" ]]; then where="$next"; fi
        done
    done
    case "$where" in
{cases}
    esac
    if [[ "$takes" == *" $prev "* ]]; then
        offers=""
        case "$where $prev" in
{values}
        esac
        case "$prev" in
            -a|--agent) offers="$(agentls agents 2>/dev/null | cut -d' ' -f1)" ;;
        esac
    fi
    case "$where" in
        doctor|login) offers="$offers $(agentls agents 2>/dev/null | cut -d' ' -f1)" ;;
    esac
    COMPREPLY=($(compgen -W "$offers" -- "$cur"))
}}
complete -o default -F _agentls agentls
"""


# -- zsh


def _zsh(words: Sequence[Words]) -> str:
    """The script of bash: zsh has a way to run those."""
    script = _bash(words).replace(" for bash.", " for zsh.")
    return f"autoload -Uz bashcompinit && bashcompinit\n{script}"


# -- fish


def _fish(words: Sequence[Words]) -> str:
    lines = ["# Completion of agentls for fish.", "complete -c agentls -e"]
    for known in words:
        when = _fish_condition(known)
        for name, about in known.actions.items():
            lines.append(f"complete -c agentls -f{when} -a {name}{_fish_about(about)}")
        if fixed := known.choices.get(""):
            lines.append(f"complete -c agentls -f{when} -a '{' '.join(fixed)}'")
        if known.after in {("doctor",), ("login",)}:
            lines.append(f"complete -c agentls -f{when} -a '{_FISH_AGENTS}'")
        for option, about in known.options.items():
            dashes = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            value = " -r" if option in known.takes else ""
            if fixed := known.choices.get(option):
                value += f" -f -a '{' '.join(fixed)}'"
            elif option in {"-a", "--agent"}:
                value += f" -f -a '{_FISH_AGENTS}'"
            lines.append(f"complete -c agentls{when} {dashes}{value}{_fish_about(about)}")
    return "\n".join(lines) + "\n"


_FISH_AGENTS = '(agentls agents 2>/dev/null | string split -f1 " ")'


def _fish_condition(known: Words) -> str:
    if not known.after:
        return " -n __fish_use_subcommand"
    seen = " ".join(f"; and __fish_seen_subcommand_from {word}" for word in known.after)
    condition = seen.removeprefix("; and ")
    if known.actions:
        condition += f"; and not __fish_seen_subcommand_from {' '.join(known.actions)}"
    return f" -n '{condition}'"


def _fish_about(text: str) -> str:
    return f" -d '{_quoted(text)}'" if text else ""


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


_SHELLS: dict[str, Callable[[Sequence[Words]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
