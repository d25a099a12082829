"""Programs that manage packages and run the scripts of a project: which options a rule covers.

Invariant: npm takes any option in many spellings, so only those known to be harmless are covered;
what goes on to a script is judged with the caution for programs that are not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .builders import OUTWARD
from .launchers import INTERPRETERS
from .options import likely_risky
from .programs import RISKY
from .tables import names
from .uses import Use, risk

_NPM = re.compile(
    r"-(?:s|q|d{1,3}|ws|w|l|p|a|[DSEOBP]|h|v)"
    r"|--(?:silent|quiet|verbose|loglevel(?:=\w+)?|(?:no-)?color(?:=\w+)?|if-present|json|long|all"
    r"|ignore-scripts|workspaces|include-workspace-root|workspace(?:=@?\w[\w/-]*)?|parseable"
    r"|depth(?:=\w+)?|omit(?:=\w+)?|include(?:=\w+)?|only(?:=\w+)?|production|no-audit|no-fund"
    r"|no-save|save(?:-dev|-exact|-optional|-peer|-prod)?|legacy-peer-deps|prefer-offline|offline"
    r"|prefer-online|no-progress|progress(?:=\w+)?|dry-run|no-package-lock|no-optional|help|version"
    r"|foreground-scripts|no-update-notifier|strict-peer-deps|audit-level(?:=\w+)?)"
)
_OTHERS = re.compile(
    r"-F|--(?:recursive|filter(?:=@?\w[\w/.-]*)?|(?:no-|prefer-)?frozen-lockfile|stream|parallel"
    r"|workspace-root|aggregate-output|no-bail|lockfile-only|immutable(?:-cache)?|check-cache"
    r"|non-interactive|pure-lockfile|inline-builds|reporter=[a-z-]+)"
)
# Options of the usual test programs and builders that look worse than they are.
_PASSED_ON = re.compile(
    r"--(?:run|runInBand|ci|bail|watch(?:All)?(?:=\w+)?|coverage|passWithNoTests|forceExit"
    r"|reporter=(?:verbose|dot|json|default|basic|spec|list|line|tap)|runTestsByPath|no-[a-z-]+|test-threads(?:=\d+)?|target(?:=[\w.-]+)?)|-i"
)
_LOADS = re.compile(r"-[rRfd]|--(?:rules?-?dir|parser|transform|ui|inspect)(?:[=-]|\Z)")
_RUN = frozenset({"run", "run-script"})
_SCRIPT = re.compile(r"[\w@][\w:@./*-]*")
_INSTALLS = names("install i add in ci isntall update up upgrade link")
_ELSEWHERE = re.compile(r"[./~]|[^@]*[:/]|.*[:]")


def _packages(use: Use) -> str:
    """What comes after `--`, or what the manager does not know, goes to a script."""
    if why := _script(use):
        return why
    passed_on = False
    installs = any(word in _INSTALLS for word in use.words[1:3])
    for word in use.further:
        if word == "--":
            passed_on = True
        elif not word.startswith("-"):
            if likely_risky(word) or (installs and not passed_on and _ELSEWHERE.match(word)):
                return f"{word} is not plainly the name of a package or a test"
        elif passed_on:
            if _risky_for_a_script(word):
                return risk(word, use.name)
        elif _NPM.fullmatch(word) or (use.name != "npm" and _OTHERS.fullmatch(word)):
            continue
        elif use.name == "npm" or not _is_harmless(use.name, word):
            return risk(word, use.name)
    return ""


def _script(use: Use) -> str:
    """`npm run env` runs its arguments; others run any program where there is no such script."""
    if use.start > len(use.words) - 1 or use.words[use.start - 1] not in _RUN:
        return ""
    script = next((word for word in use.further if not word.startswith("-")), "test")
    # An option before the script may take a word, as -w does.
    runs_others = "env" in use.further or INTERPRETERS.fullmatch(script)
    if runs_others or OUTWARD.fullmatch(script) or not _SCRIPT.fullmatch(script):
        return f"the rule does not say `{use.name} run {script}`"
    return ""


def _is_harmless(name: str, word: str) -> bool:
    """For managers that hand options on to the script."""
    if RISKY[name].risky(word):
        return False
    return not _risky_for_a_script(word)


def _risky_for_a_script(word: str) -> bool:
    """Test programs load what comes after -r and -R, others after -f or -d."""
    if _PASSED_ON.fullmatch(word):
        return False
    return likely_risky(word) or _LOADS.match(word) is not None


def _tools(use: Use) -> str:
    """Those with options of their own; after `--` come those of another program."""
    options = RISKY[use.name]
    passed_on = False
    for word in use.further:
        if passed_on:
            risky = likely_risky(word) and not _PASSED_ON.fullmatch(word)
        else:
            described = use.name == "cargo" and word.endswith(".json")
            risky = described or options.not_covered(word)
        if risky:
            return risk(word, use.name)
        passed_on = passed_on or word == "--"
    return ""


_FROM_ELSEWHERE = re.compile(r"(?!\.(?:\[[\w,-]+\])?$)[./~]|.*:|.*/")


def _pip(use: Use) -> str:
    """Packages by name; of what is in files only the project itself and lists of names."""
    before = ""
    for word in use.further:
        lists = word == "-f" and use.words[1:2] == ("show",)
        if not lists and RISKY["pip"].not_covered(word):
            return risk(word, use.name)
        a_list = before in {"-r", "--requirement", "-c", "--constraint"}
        package = "install" in use.words[1:3] and not word.startswith("-") and not a_list
        if package and _FROM_ELSEWHERE.match(word):
            return f"{word} is not plainly the name of a package"
        before = word
    return ""


_TOX_RUNS = names("exec e devenv d quickstart q")


def _tox(use: Use) -> str:
    named = [
        word
        for before, word in zip(use.words, use.words[1:], strict=False)
        if not word.startswith("-") and before not in {"-e", "-m", "-f"}
    ]
    if named[:1] and named[0] in _TOX_RUNS and use.start == 1:
        return f"the rule does not say `tox {named[0]}`"
    return _tools(use)


CHECKS: dict[str, Callable[[Use], str]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _packages),
    **dict.fromkeys(("cargo", "deno"), _tools),
    **dict.fromkeys(("pip", "pip3"), _pip),
    "tox": _tox,
}
