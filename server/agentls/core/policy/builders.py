"""Programs that build and test a project: which targets, options and settings a rule covers.

Invariant: only options known to be harmless are covered. A rule that names a target covers no
other one, and none covers a setting that may name a program or a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .tables import names
from .uses import Use, risk
from .writers import is_near


class _Tool(NamedTuple):
    """How a tool is told what to do."""

    # Options without a value, or with a glued one; those whose value is the next word.
    flags: re.Pattern[str]
    values: frozenset[str] = frozenset()
    # Settings and targets that are harmless, or not to be had without saying so.
    settings: re.Pattern[str] = re.compile(r"(?!)")
    far_reaching: re.Pattern[str] = re.compile(r"(?!)")


def _flags(letters: str, long: str, other: str = "") -> re.Pattern[str]:
    """Clusters of letters, long options, and whatever else."""
    parts = [f"-[{letters}]+", f"--(?:{'|'.join(long.split())})"]
    return re.compile("|".join([*parts, *other.split()]))


_OUTWARD = r"(?:.*[:_-])?(?:deploy|publish|upload|push|destroy|uninstall|drop)\w*(?:[:_-].*)?"
OUTWARD = re.compile(_OUTWARD)
"""Names of targets and scripts that reach beyond the project."""
_MAKE = _Tool(
    _flags(
        "knsBrRwidqS",
        "keep-going silent quiet dry-run just-print recon always-make print-directory trace debug"
        " no-print-directory version help warn-undefined-variables no-builtin-rules question"
        r" no-builtin-variables ignore-errors jobs(?:=\d+)? output-sync(?:=\w+)?"
        r" load-average(?:=[\d.]+)?",
        r"-j\d* -l[\d.]* -O\w* -v -h",
    ),
    names("-j -l --jobs --load-average"),
    re.compile(r"(?:V|VERBOSE|DEBUG|NDEBUG|COVERAGE|CI)=\d?"),
    re.compile(f"{_OUTWARD}|install.*"),
)
_MAVEN_GOALS = r"(?:dependency:(?:tree|list|analyze)|versions:display-[\w-]+|help:[\w-]+)"
_MAVEN = _Tool(
    _flags(
        "qBeXoUVvC",
        "quiet batch-mode errors debug offline update-snapshots also-make also-make-dependents"
        r" fail-at-end fail-fast fail-never no-transfer-progress show-version version help"
        r" projects=[\w:,./-]+ threads=[\w.]+",
        r"-am -amd -fae -ff -fn -ntp -nsu -T[\w.]+ -DskipTests(?:=true)? -DskipITs(?:=true)?"
        r" -Dmaven\.test\.skip=true -D(?:it\.)?test=[\w.#*,+!?-]+ -DfailIfNoTests=false"
        r" -Dsurefire\.failIfNoSpecifiedTests=false -Dstyle\.color=\w+"
        r" -Dcheckstyle\.skip(?:=true)?",
    ),
    names("-pl -rf -T --projects --resume-from --threads"),
    far_reaching=re.compile(f"{_OUTWARD}|(?!{_MAVEN_GOALS}$).*:.*"),
)
_GRADLE = _Tool(
    _flags(
        "qidsSwmv",
        "quiet info debug warn stacktrace full-stacktrace continue offline no-daemon daemon"
        " parallel no-parallel build-cache no-build-cache configuration-cache version help all"
        r" no-configuration-cache rerun-tasks dry-run refresh-dependencies tests=[\w.*$-]+"
        r" console=\w+ warning-mode=\w+ max-workers=\d+",
    ),
    names("--tests -x --exclude-task --console --warning-mode --max-workers"),
    far_reaching=re.compile(_OUTWARD),
)
_NINJA = _Tool(
    _flags("vn", "quiet verbose version help", r"-j\d* -k\d* -l[\d.]*"),
    names("-j -k -l"),
    far_reaching=_MAKE.far_reaching,
)
_JUST = _Tool(
    _flags("qvnl", r"quiet verbose dry-run list summary version help color=\w+ unsorted"),
    far_reaching=_MAKE.far_reaching,
)
_TASK = _Tool(
    _flags("vslanp", "verbose silent list list-all dry parallel summary status version help"),
    far_reaching=_MAKE.far_reaching,
)
_RAKE = _Tool(
    _flags("qsvtnTPmA", r"quiet silent verbose trace dry-run tasks prereqs multitask all version"),
    far_reaching=_MAKE.far_reaching,
)
_ANT = _Tool(
    re.compile(
        "-(?:q|quiet|v|verbose|d|debug|e|emacs|k|keep-going|p|projecthelp|diagnostics|version"
        "|silent|S|noinput|nouserlib|help|h)"
    ),
    far_reaching=_MAKE.far_reaching,
)
_TOOLS = {
    **dict.fromkeys(("make", "gmake", "bmake"), _MAKE),
    **dict.fromkeys(("mvn", "mvnw"), _MAVEN),
    **dict.fromkeys(("gradle", "gradlew"), _GRADLE),
    **dict.fromkeys(("ninja", "samu"), _NINJA),
    "just": _JUST,
    "task": _TASK,
    "rake": _RAKE,
    "ant": _ANT,
}


def _targets(use: Use) -> str:
    tool = _TOOLS[use.name]
    named = any(
        not word.startswith("-") and not word.isdigit() for word in use.words[1 : use.start]
    )
    words = iter(use.further)
    for word in words:
        if word.startswith("-"):
            takes = word in tool.values
            if not (takes or tool.flags.fullmatch(word)):
                return risk(word, use.name)
            if takes and use.name not in _TOOLS_WITH_NUMBERS and next(words, "-")[:1] == "-":
                return risk(word, use.name)
        elif "=" in word:
            if not tool.settings.fullmatch(word):
                return risk(word, use.name)
        elif word.isdigit():
            continue
        elif named:
            return f"the rule does not say the target {word}"
        elif tool.far_reaching.fullmatch(word):
            return f"the rule does not say `{use.name} {word}`"
    return ""


_TOOLS_WITH_NUMBERS = frozenset({"make", "gmake", "bmake", "ninja", "samu"})

_DOTNET_FLAGS = re.compile(
    r"--(?:no-build|no-restore|nologo|self-contained|no-dependencies|list-tests|no-incremental"
    r"|configuration=\w+|verbosity=\w+|framework=[\w.]+|runtime=[\w.-]+|info|version|help|outdated"
    r"|vulnerable|deprecated|include-transitive|filter=.*)|-nologo|-h|-m"
)
_DOTNET_VALUES = names(
    "-c --configuration -f --framework -r --runtime -v --verbosity --filter --os --arch -a -t"
)
_DOTNET_LOGGER = re.compile(r"(?:--logger[:=])?console(?:;verbosity=\w+)?")


def _dotnet(use: Use) -> str:
    words = iter(use.further)
    for word in words:
        if word in _DOTNET_VALUES:
            if next(words, "-").startswith("-"):
                return risk(word, use.name)
        elif word in {"--logger", "-l"}:
            if not _DOTNET_LOGGER.fullmatch(next(words, "")):
                return risk(word, use.name)
        elif _DOTNET_FLAGS.fullmatch(word) or _DOTNET_LOGGER.fullmatch(word):
            continue
        elif word[:1] in {"-", "@"} or re.match(r"/[A-Za-z]+(?::|\Z)", word):
            return risk(word, use.name)
    return ""


_COMPILER = re.compile(
    r"-(?:c|E|S|g\w*|O[0-3sgz]?|Ofast|w|v|s|M|MM|MP|P|H|pedantic|pedantic-errors|pthread|pipe|ansi"
    r"|fsyntax-only|shared|static|rdynamic|nostdlib|nostdinc|ffreestanding|dumpversion"
    r"|dumpmachine|W(?!l,|a,|p,)[\w=+-]*|std=[\w+]+|D\w+(?:=[\w.\"]*)?|U\w+|I[^-].*|l(?!oad)[\w.+-]+"
    r"|m[\w=.+-]+|f(?:no-)?(?:PIC|PIE|pic|pie|lto|common|exceptions|rtti|openmp|inline|builtin"
    r"|stack-protector\w*|strict-aliasing|omit-frame-pointer|sanitize=[\w,-]+|wrapv|permissive"
    r"|visibility=\w+|diagnostics-color\w*(?:=\w+)?|color-diagnostics|unroll-loops"
    r"|function-sections|data-sections|signed-char|short-enums|concepts|coroutines|fast-math)"
    r"|ffast-math|isystem|iquote|idirafter|I|D|U|l|x|print-(?:search-dirs|libgcc-file-name"
    r"|multi-lib|target-triple|resource-dir))|--(?:version|help|verbose)"
)


def _compiler(use: Use) -> str:
    for word in use.further:
        if word.startswith("@") or (word.startswith("-") and not _COMPILER.fullmatch(word)):
            return risk(word, use.name)
    return ""


_CMAKE_SETTING = re.compile(
    r"-D[A-Z][A-Za-z0-9_]*(?::[A-Z]+)?=(?:ON|OFF|TRUE|FALSE|YES|NO|[0-9]+|Debug|Release"
    r"|RelWithDebInfo|MinSizeRel)?"
)
_CMAKE = re.compile(
    r"-(?:G\w*|S\w[\w/.-]*|B\w[\w/-]*|N|L[AH]*|W(?:no-)?(?:dev|deprecated|error=\w+)|j\d*|v|h)"
    r"|--(?:version|help|fresh|verbose|parallel(?:=\d+)?|clean-first|config=\w+|preset=[\w-]+"
    r"|target=[\w.-]+|list-presets|warn-uninitialized|log-level=\w+|use-stderr|debug-output)"
)
_CMAKE_VALUES = names("-G -S -B -j --config --preset --target -t --parallel --log-level --build")


def _cmake(use: Use) -> str:
    """Configures and builds below the current folder; what is passed on goes to another tool."""
    for at, word in enumerate(use.further):
        before = use.words[use.start + at - 1]
        if word == "--":
            native = use._replace(words=("make", *use.further[at + 1 :]), name="make", start=1)
            odd = next((w for w in native.further if not w.startswith(("-", "V"))), "")
            return risk(odd, use.name) if odd else _targets(native)
        if word.startswith("-"):
            plain = _CMAKE_SETTING.fullmatch(word) or _CMAKE.fullmatch(word)
            if not plain and word not in _CMAKE_VALUES:
                return risk(word, use.name)
        elif before in {"-B", "--build"} and not is_near(word):
            return f"{word} is not plainly a folder below the current one"
        elif before in {"--target", "-t"} and _MAKE.far_reaching.fullmatch(word):
            return f"the rule does not say the target {word}"
    target = next((w for w in use.further if w.startswith("--target=")), "").partition("=")[2]
    return f"the rule does not say {target}" if _MAKE.far_reaching.fullmatch(target) else ""


CHECKS: dict[str, Callable[[Use], str]] = {
    **dict.fromkeys(_TOOLS, _targets),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran", "tcc"), _compiler),
    "dotnet": _dotnet,
    "cmake": _cmake,
}
