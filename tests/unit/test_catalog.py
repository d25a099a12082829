"""The catalog of agents: built-in data, the user's file, and the choice of a default."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest
from acp.schema import ClientCapabilities
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentls.agent.catalog import Catalog, user_file_path
from agentls.agent.spec import (
    BUILT_IN,
    DEFAULT_CAPABILITIES,
    AgentSpec,
    client_capabilities,
    program,
)
from agentls.core.errors import UnknownAgent

BUILT_IN_SPECS = list(Catalog.load(None))
BUILT_IN_NAMES = [spec.name for spec in BUILT_IN_SPECS]


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    return tmp_path / "agents.toml"


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH, still empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def loaded(file: Path, text: str) -> Catalog:
    file.write_text(text, encoding="utf-8")
    return Catalog.load(file)


def make_program(path: Path, mode: int = 0o755) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


# --- built-in data


def test_the_built_in_agents_are_the_ones_promised_in_order_with_demo_last() -> None:
    assert Catalog.load(None).names() == [
        *("claude", "codex", "gemini", "opencode", "kimi", "qwen", "vibe", "goose", "copilot"),
        *("cursor", "auggie", "junie", "cline", "kilo", "droid", "fast-agent", "demo"),
    ]


@pytest.mark.parametrize("spec", BUILT_IN_SPECS, ids=lambda spec: spec.name)
def test_a_built_in_agent_says_how_to_start_install_and_log_in(spec: AgentSpec) -> None:
    assert spec.title
    assert spec.login.endswith(".")
    assert spec.source == BUILT_IN
    assert spec.install
    assert "\n" not in spec.install
    assert spec.command
    assert all(spec.command)
    assert not any("{" in word for word in spec.command), "a placeholder is left"
    assert spec.command[0] not in {"npx", "uvx", "bunx"}, "starting an agent must not download it"


def test_the_adapters_of_claude_and_codex_are_started_by_their_own_names() -> None:
    catalog = Catalog.load(None)
    assert catalog.get("claude").command == ("claude-agent-acp",)
    assert catalog.get("codex").command == ("codex-acp",)


def test_the_demo_agent_runs_in_this_python_and_imports_nothing_from_where_it_starts() -> None:
    demo = Catalog.load(None).get("demo")
    assert demo.command == (sys.executable, "-P", "-m", "agentls.demo")
    assert Catalog.installed(demo)


def test_quirks_are_those_of_the_agents_they_were_seen_in() -> None:
    quirks = {
        spec.name: {field for field in spec.quirks.__struct_fields__ if getattr(spec.quirks, field)}
        for spec in Catalog.load(None)
    }
    assert {name: found for name, found in quirks.items() if found} == {
        "claude": {"close_before_load"},
        "gemini": {"missing_file_is_empty", "load_waits_a_minute", "mode_as_text"},
        "opencode": {"writes_itself"},
        "vibe": {"echoes_prompt"},
        "fast-agent": {"abandons_terminals", "asks_only_with_client_methods"},
    }


# --- the user's file


def test_a_missing_user_file_is_no_problem(user_file: Path) -> None:
    catalog = Catalog.load(user_file)
    assert catalog.problems == []
    assert catalog.names() == BUILT_IN_NAMES


def test_a_new_agent_needs_only_a_command(user_file: Path) -> None:
    catalog = loaded(user_file, '[agents.mine]\ncommand = ["my-agent", "--acp", "${HOME}", "~"]')
    assert catalog.problems == []
    assert catalog.get("mine") == AgentSpec(
        name="mine",
        title="mine",
        command=("my-agent", "--acp", "${HOME}", "~"),
        source=str(user_file),
    )


def test_every_key_of_a_user_entry_is_used(
    user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    catalog = loaded(
        user_file,
        """
        [agents.mine]
        title = "My agent"
        command = ["~/bin/agent", "serve"]
        cwd = "~/work"
        shared = false
        env = { TOKEN = "~/$x" }
        capabilities = { read_files = true, terminal_output = false, extra = { auth = { a = 1 } } }
        """,
    )
    assert catalog.problems == []
    mine = catalog.get("mine")
    assert mine.title == "My agent"
    assert mine.command == ("/home/someone/bin/agent", "serve")
    assert mine.cwd == "/home/someone/work"
    assert mine.shared is False
    assert mine.env == {"TOKEN": "~/$x"}
    assert mine.capabilities.read_files is True
    assert mine.capabilities.write_files is DEFAULT_CAPABILITIES.write_files
    assert mine.capabilities.terminal_output is False
    assert mine.capabilities.extra == {"auth": {"a": 1}}


def test_an_override_changes_only_what_it_names(user_file: Path) -> None:
    before = Catalog.load(None).get("auggie")
    catalog = loaded(user_file, '[agents.auggie]\nenv = { AUGMENT_API_TOKEN = "x" }')
    after = catalog.get("auggie")
    assert catalog.problems == []
    assert after.env == {**before.env, "AUGMENT_API_TOKEN": "x"}
    assert after.source == str(user_file)
    assert (after.title, after.command, after.install) == (
        before.title,
        before.command,
        before.install,
    )


def test_another_program_keeps_the_quirks_but_not_the_install_line(user_file: Path) -> None:
    gemini = loaded(user_file, '[agents.gemini]\ncommand = ["gemini-nightly"]').get("gemini")
    assert gemini.install == ""
    assert gemini.quirks.missing_file_is_empty


def test_other_arguments_keep_the_install_line(user_file: Path) -> None:
    gemini = loaded(user_file, '[agents.gemini]\ncommand = ["gemini", "--x"]').get("gemini")
    assert gemini.install == Catalog.load(None).get("gemini").install


def test_a_placeholder_in_the_users_file_is_taken_literally(user_file: Path) -> None:
    catalog = loaded(user_file, '[agents.mine]\ncommand = ["{python}"]')
    assert catalog.get("mine").command == ("{python}",)


def test_the_users_agents_come_first_in_the_order_of_the_file_and_demo_stays_last(
    user_file: Path,
) -> None:
    catalog = loaded(
        user_file,
        """
        agents.demo.title = "Mine"
        agents.zeta.command = ["zeta"]
        agents.gemini.shared = false
        agents.alpha.command = ["alpha"]
        """,
    )
    others = [name for name in BUILT_IN_NAMES if name not in {"gemini", "demo"}]
    assert catalog.names() == ["zeta", "gemini", "alpha", *others, "demo"]
    assert [spec.name for spec in catalog] == catalog.names()


def test_a_byte_order_mark_is_skipped(user_file: Path) -> None:
    user_file.write_bytes(b'\xef\xbb\xbf[agents.mine]\ncommand = ["x"]\r\n')
    catalog = Catalog.load(user_file)
    assert catalog.problems == []
    assert catalog.get("mine").command == ("x",)


# --- mistakes

GOOD = 'agents.good.command = ["good"]\n'
LEFT_OUT = {
    "command as a string": ('agents.bad.command = "x --acp"', "agents.bad.command must be a list"),
    "an empty command": ("agents.bad.command = []", "agents.bad.command must be a list"),
    "an empty program": ('agents.bad.command = [""]', "agents.bad.command must be a list"),
    "a word not a string": ('agents.bad.command = ["x", 1]', "agents.bad.command must be a list"),
    "a NUL": ('agents.bad.command = ["x\\u0000"]', "agents.bad.command must be a list"),
    "a relative program": ('agents.bad.command = ["./x"]', "a program on PATH or a full path"),
    "no such home": ('agents.bad.command = ["~no-such-user/x"]', "agents.bad.command must be"),
    "no command": ('agents.bad.title = "Bad"', "agents.bad is left out: add command ="),
    "a mistyped command": ('agents.bad.comand = ["x"]', "instead of comand"),
    "an entry not a table": ('agents.bad = "x"', "write it as a table, [agents.bad]"),
    "a capital letter": ('agents.Bad.command = ["x"]', "agents.Bad is left out: begin its name"),
    "a strange name": ('agents."b\\nd".command = ["x"]', "agents.'b\\nd' is left out: begin"),
    "an env of numbers": (
        'agents.bad = { command = ["x"], env = { PORT = 1 } }',
        "agents.bad.env must be a table of strings",
    ),
    "an impossible env name": (
        'agents.bad = { command = ["x"], env = { "A=B" = "1" } }',
        "agents.bad.env must be a table of strings",
    ),
    "a relative cwd": (
        'agents.bad = { command = ["x"], cwd = "work" }',
        "agents.bad.cwd must be the absolute path of a folder",
    ),
    "a title in two lines": (
        'agents.bad = { command = ["x"], title = "a\\nb" }',
        "agents.bad.title must be a line of text",
    ),
    "shared as a word": (
        'agents.bad = { command = ["x"], shared = "yes" }',
        "agents.bad.shared must be true or false",
    ),
    "capabilities as a list": (
        'agents.bad = { command = ["x"], capabilities = ["fs"] }',
        "agents.bad.capabilities must be a table",
    ),
    "a capability as a number": (
        'agents.bad = { command = ["x"], capabilities = { terminals = 1 } }',
        "agents.bad.capabilities.terminals must be true or false",
    ),
    "extra not a table": (
        'agents.bad = { command = ["x"], capabilities = { extra = true } }',
        "agents.bad.capabilities.extra must be a table",
    ),
}
IGNORED = {
    "an unknown key": (
        'agents.bad = { command = ["x"], colour = "red" }',
        "agents.bad.colour is not a known key and is ignored; known here: command, title",
    ),
    "a mistyped key": (
        'agents.bad = { command = ["x"], titel = "Bad" }',
        "agents.bad.titel is not a known key and is ignored; did you mean title?",
    ),
    "an unknown capability": (
        'agents.bad = { command = ["x"], capabilities = { terminal = true } }',
        "agents.bad.capabilities.terminal is not a known key and is ignored; did you mean",
    ),
    "an unknown key at the top": (
        'agent.x.command = ["x"]\nagents.bad.command = ["x"]',
        "agent is not a known key and is ignored; did you mean agents?",
    ),
}
UNREADABLE = {
    "not TOML": (b"agents.x = \n", "correct the TOML", "(at line 1, column 12)"),
    "a key twice": (b"[agents.x]\n[agents.x]\n", "correct the TOML", "line 2"),
    "not UTF-8": (b"# one\n# two \xff\n", "save the file as UTF-8", "line 2"),
    "nested too deep": (b"x = " + b"[" * 10_000, "correct the TOML", "recursion"),
    "too long a number": (b"x = " + b"1" * 10_000, "correct the TOML", "digits"),
    "agents not a table": (b"agents = 1", "agents must be a table", "[agents.NAME]"),
}


def the_only_problem(catalog: Catalog, file: Path) -> str:
    [problem] = catalog.problems
    assert problem.startswith(f"{file}: ")
    assert "\n" not in problem
    assert problem[-1] in ".?"
    return problem


@pytest.mark.parametrize(("text", "said"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_bad_entry_is_one_problem_and_only_it_is_left_out(
    user_file: Path, text: str, said: str
) -> None:
    catalog = loaded(user_file, GOOD + text)
    assert said in the_only_problem(catalog, user_file)
    assert "left out" in catalog.problems[0]
    assert catalog.names() == ["good", *BUILT_IN_NAMES]


@pytest.mark.parametrize(("text", "said"), IGNORED.values(), ids=IGNORED)
def test_an_unknown_key_is_one_problem_and_its_entry_is_kept(
    user_file: Path, text: str, said: str
) -> None:
    catalog = loaded(user_file, GOOD + text)
    assert said in the_only_problem(catalog, user_file)
    assert catalog.names() == ["good", "bad", *BUILT_IN_NAMES]
    assert catalog.get("bad").command == ("x",)


@pytest.mark.parametrize(("data", "said", "place"), UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_file_is_one_problem_and_the_built_in_agents_stay(
    user_file: Path, data: bytes, said: str, place: str
) -> None:
    user_file.write_bytes(data)
    catalog = Catalog.load(user_file)
    problem = the_only_problem(catalog, user_file)
    assert said in problem
    assert place in problem
    assert catalog.names() == BUILT_IN_NAMES


def test_a_file_that_cannot_be_opened_is_one_problem(user_file: Path) -> None:
    user_file.mkdir()
    catalog = Catalog.load(user_file)
    assert "make the file readable" in the_only_problem(catalog, user_file)
    assert catalog.names() == BUILT_IN_NAMES


def test_a_bad_override_leaves_the_built_in_agent_as_it_was(user_file: Path) -> None:
    catalog = loaded(user_file, '[agents.claude]\ncommand = "claude"\ntitle = "Mine"')
    the_only_problem(catalog, user_file)
    assert catalog.get("claude") == Catalog.load(None).get("claude")


def test_several_mistakes_are_several_problems_in_the_order_of_the_file(user_file: Path) -> None:
    catalog = loaded(user_file, 'agents.b = 1\nagents.a = { command = 1, title = 2 }\nx = "y"')
    said = [problem.removeprefix(f"{user_file}: ").split()[0] for problem in catalog.problems]
    assert said == ["x", "agents.b", "agents.a.command", "agents.a.title"]


TOML_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
KEYS = st.sampled_from(
    ["command", "title", "env", "cwd", "capabilities", "shared", "extra", "terminals", "claude"]
)
SCALARS = (
    st.booleans()
    | st.integers()
    | st.floats()
    | TOML_TEXT
    | st.sampled_from(["~", "~x/y", "/bin/sh", "./x", "\0"])
    | st.dates()
    | st.times()
    | st.datetimes()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS | TOML_TEXT, inner, max_size=4)
    ),
    max_leaves=12,
)
# Mostly right, so that what is wrong stands beside what is kept.
ENTRIES = st.fixed_dictionaries(
    {"command": st.lists(TOML_TEXT, min_size=1, max_size=3) | VALUES},
    optional={
        "title": TOML_TEXT,
        "env": st.dictionaries(TOML_TEXT, TOML_TEXT, max_size=2),
        "cwd": TOML_TEXT.map("/{}".format) | VALUES,
        "shared": st.booleans() | VALUES,
        "capabilities": st.dictionaries(
            st.sampled_from(["terminals", "read_files"]), st.booleans() | SCALARS
        )
        | st.dictionaries(st.just("extra"), st.dictionaries(KEYS, VALUES, max_size=2)),
    },
)
AGENTS = st.dictionaries(st.sampled_from(["claude", "demo", "x", "y-1"]) | TOML_TEXT, ENTRIES)
DOCUMENTS = st.dictionaries(st.sampled_from(["agents", "agent"]) | TOML_TEXT, VALUES, max_size=3)


def toml(value: Any) -> str:
    """`value` as an inline TOML value."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{toml(k)} = {toml(v)}" for k, v in value.items()) + "}"
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return str(value)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(DOCUMENTS | AGENTS.map(lambda agents: {"agents": agents}))
@example({"agents": {"x": {"command": ["x"], "capabilities": {"extra": {"on": date(2026, 1, 1)}}}}})
def test_whatever_the_file_holds_the_catalog_can_be_used(
    user_file: Path, document: dict[str, Any]
) -> None:
    text = "\n".join(f"{toml(key)} = {toml(value)}" for key, value in document.items())
    tomllib.loads(text)  # the junk is TOML, so that it gets past the parser
    check_usable(loaded(user_file, text), user_file)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(max_size=60) | st.text('[]{}="\\\n.#agents', max_size=60).map(str.encode))
def test_whatever_bytes_the_file_holds_the_catalog_can_be_used(
    user_file: Path, data: bytes
) -> None:
    user_file.write_bytes(data)
    check_usable(Catalog.load(user_file), user_file)


def check_usable(catalog: Catalog, file: Path) -> None:
    assert set(BUILT_IN_NAMES) <= set(catalog.names())
    assert catalog.names()[-1] == "demo"
    assert all(
        problem.startswith(f"{file}: ") and len(problem.splitlines()) == 1
        for problem in catalog.problems
    )
    for spec in catalog:
        if spec.source == BUILT_IN:
            continue
        assert spec.command
        assert spec.command[0]
        assert not any("\0" in word for word in (*spec.command, *spec.env, *spec.env.values()))
        json.dumps(client_capabilities(spec))
        program(spec)


# --- finding


def test_an_unknown_name_is_answered_with_a_guess_and_all_names() -> None:
    with pytest.raises(UnknownAgent) as caught:
        Catalog.load(None).get("cluade")
    assert str(caught.value).startswith("There is no agent named 'cluade'. Did you mean claude?")
    assert all(name in caught.value.hint for name in BUILT_IN_NAMES)


def test_a_name_unlike_any_other_gets_no_guess() -> None:
    with pytest.raises(UnknownAgent) as caught:
        Catalog.load(None).get("zzzzz")
    assert caught.value.hint.startswith("Known: claude, codex")


def test_an_agent_is_installed_when_its_program_is_on_the_path(bin_folder: Path) -> None:
    codex = Catalog.load(None).get("codex")
    assert not Catalog.installed(codex)
    make_program(bin_folder / "codex-acp", mode=0o644)
    assert not Catalog.installed(codex), "a file that cannot be executed is no program"
    make_program(bin_folder / "codex-acp")
    assert Catalog.installed(codex)
    assert program(codex) == str(bin_folder / "codex-acp")


def test_an_agent_is_looked_for_on_its_own_path_when_it_has_one(
    bin_folder: Path, tmp_path: Path
) -> None:
    make_program(bin_folder / "agent")
    own = tmp_path / "own"
    own.mkdir()
    spec = AgentSpec(name="x", title="x", command=("agent",), env={"PATH": str(own)})
    assert not Catalog.installed(spec)
    make_program(own / "agent")
    assert program(spec) == str(own / "agent")


def test_an_absolute_program_must_be_an_executable_file(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    spec = AgentSpec(name="x", title="x", command=(str(path),))
    assert not Catalog.installed(spec)
    make_program(path, mode=0o644)
    assert not Catalog.installed(spec)
    make_program(path)
    assert program(spec) == str(path)
    assert not Catalog.installed(AgentSpec(name="x", title="x", command=(str(tmp_path),)))


@pytest.mark.parametrize("path", [".", "", "bin", os.pathsep])
def test_no_program_is_found_in_the_folder_the_server_runs_in(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for folder in (tmp_path, tmp_path / "bin"):
        make_program(folder / "codex-acp")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path)
    assert program(Catalog.load(None).get("codex")) is None


# --- the default


def test_the_preferred_agent_is_the_default_even_when_it_is_not_installed(bin_folder: Path) -> None:
    assert Catalog.load(None).default("kilo").name == "kilo"


def test_an_unknown_preferred_agent_is_an_error() -> None:
    with pytest.raises(UnknownAgent):
        Catalog.load(None).default("nobody")


def test_the_first_installed_agent_is_the_default_and_demo_when_there_is_none(
    bin_folder: Path, user_file: Path
) -> None:
    catalog = loaded(user_file, 'agents.mine.command = ["mine"]\nagents.late.command = ["late"]')
    found = [catalog.default(None).name]
    for name in ("kilo", "opencode", "claude-agent-acp", "late", "mine"):
        make_program(bin_folder / name)
        found.append(catalog.default(None).name)
    assert found == ["demo", "kilo", "opencode", "claude", "late", "mine"]


# --- where the file is


def test_the_users_file_is_in_the_xdg_configuration_folder() -> None:
    path = user_file_path({"XDG_CONFIG_HOME": "/somewhere/config"})
    assert path == Path("/somewhere/config/agentls/agents.toml")


@pytest.mark.parametrize("env", [{}, {"XDG_CONFIG_HOME": ""}, {"XDG_CONFIG_HOME": "relative"}])
def test_without_a_usable_xdg_folder_the_users_file_is_under_home(
    env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = user_file_path(env)
    assert path.is_relative_to(tmp_path)
    assert path.parts[-2:] == ("agentls", "agents.toml")


# --- capabilities


@pytest.mark.parametrize("spec", BUILT_IN_SPECS, ids=lambda spec: spec.name)
def test_the_capabilities_offered_are_those_of_the_schema(spec: AgentSpec) -> None:
    offered = client_capabilities(spec)
    model = ClientCapabilities.model_validate(offered)
    assert model.model_dump(by_alias=True, exclude_unset=True) == offered, "the schema drops a key"


def test_by_default_only_what_we_can_do_is_offered() -> None:
    assert client_capabilities(Catalog.load(None).get("codex")) == {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "session": {"configOptions": {"boolean": {}}},
        "auth": {"terminal": True},
        "_meta": {"terminal-auth": True, "terminal_output": True},
    }


def test_the_users_capabilities_reach_the_agent_and_extra_is_merged_into_them(
    user_file: Path,
) -> None:
    catalog = loaded(
        user_file,
        """
        [agents.codex.capabilities]
        read_files = true
        terminals = true
        extra = { terminal = false, auth = { terminal = false }, _meta = { mine = 1 }, fs.x = 2 }
        """,
    )
    assert catalog.problems == []
    assert client_capabilities(catalog.get("codex")) == {
        "fs": {"readTextFile": True, "writeTextFile": True, "x": 2},
        "terminal": False,
        "session": {"configOptions": {"boolean": {}}},
        "auth": {"terminal": False},
        "_meta": {"terminal-auth": True, "terminal_output": True, "mine": 1},
    }


def test_without_terminal_output_it_is_not_offered(user_file: Path) -> None:
    catalog = loaded(user_file, "agents.codex.capabilities.terminal_output = false")
    assert client_capabilities(catalog.get("codex"))["_meta"] == {"terminal-auth": True}
