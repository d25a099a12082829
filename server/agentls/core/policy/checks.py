"""Programs that need more than a table of options: what in their arguments is not covered.

Invariant: a check looks only at the words that the rule itself does not have, and objects to
whatever it does not know.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from typing import NamedTuple

from . import builders, linters, packages, writers
from .options import likely_risky, may_become_option
from .programs import RISKY
from .scripts import awk_only_prints, sed_only_prints
from .tables import names
from .uses import Use, risk


class Known(NamedTuple):
    """All the options of a program that are harmless, for a program where most are not."""

    flags: frozenset[str]
    valued: frozenset[str]
    names: frozenset[str]
    valued_names: frozenset[str]

    def objection(self, use: Use) -> str:
        words = iter(use.further)
        for word in words:
            if not word.startswith("-") or word in {"-", "--"}:
                continue
            takes = self._takes_next(word)
            if takes is None:
                return risk(word, use.name)
            if takes and next(words, "-").startswith("-"):
                return risk(word, use.name)
        return ""

    def _takes_next(self, word: str) -> bool | None:
        """Whether the next word is the value of this option; None if the option is not known."""
        if word.startswith("--"):
            name, equals, _ = word.partition("=")
            if name in self.valued_names:
                return not equals
            return False if name in self.names and not equals else None
        for index, letter in enumerate(word[1:], 2):
            if letter in self.valued:
                return index == len(word)
            if letter not in self.flags:
                return None
        return False


def _known(flags: str, valued: str, names: str, valued_names: str) -> Known:
    return Known(
        frozenset(flags),
        frozenset(valued),
        frozenset(names.split()),
        frozenset(valued_names.split()),
    )


_CURL = _known(
    "sSfLiIvkgGN46#0",
    "mAe",
    "--silent --show-error --fail --location --include --head --verbose --insecure --globoff --get"
    " --compressed --no-buffer --ipv4 --ipv6 --http1.1 --http2 --fail-with-body --no-progress-meter"
    " --progress-bar",
    "--max-time --connect-timeout --retry --retry-delay --retry-max-time --user-agent --referer"
    " --max-redirs --range",
)
_CURL_SINK = re.compile(r"-[sSfLiIvkgGN46]*o|--output")
_CURL_OTHER = re.compile(r"(?!https?://).*://|(?i:file:)")


def _curl(use: Use) -> str:
    """Asks for a page; `-o /dev/null`, `-w FORMAT` and `-H HEADER` are harmless too."""
    rest: list[str] = []
    words = iter(use.further)
    for word in words:
        if _CURL_SINK.fullmatch(word):
            if next(words, "") != "/dev/null":
                return risk(word, use.name)
        elif word in {"-w", "--write-out", "-H", "--header"}:
            value = next(words, "@")
            if value.startswith(("@", "-")) or "%output" in value:
                return risk(word, use.name)
        elif _CURL_OTHER.match(word):
            return f"{word} can make curl speak to any service"
        else:
            rest.append(word)
    return _CURL.objection(use._replace(words=tuple(rest), start=0))


_WGET = _known(
    "qvScN46",
    "tTU",
    "--quiet --verbose --no-verbose --spider --server-response --continue --timestamping"
    " --no-check-certificate --no-clobber --inet4-only",
    "--tries --timeout --user-agent --wait",
)


def _wget(use: Use) -> str:
    """It saves a page under the last part of its address; a hidden file may make programs run."""
    hidden = next((word for word in use.further if re.search(r"/\.|%2e", word.lower())), "")
    return f"{hidden} may be saved as a hidden file" if hidden else _WGET.objection(use)


_TAR = _known(
    "tvzjJaf",
    "",
    "--list --verbose --gzip --bzip2 --xz --zstd --auto-compress --totals --utc --full-time",
    "--file --exclude --strip-components --wildcards",
)


def _tar(use: Use) -> str:
    """Lists an archive; what else it is to do has to be said by the rule."""
    further = use.further
    if use.start == 1 and further and not further[0].startswith("-"):
        further = (f"-{further[0]}", *further[1:])
    if any(":" in word for word in further):
        return "a name with a colon makes tar connect to another machine"
    flags = [word for word in further if word.startswith("-")]
    return _TAR.objection(use._replace(words=tuple(flags), start=0))


_FIND = re.compile(
    r"-(?:i?name|i?path|i?wholename|i?regex|x?type|maxdepth|mindepth|size|[mac]time|[mac]min|empty"
    r"|newer(?:[aBcm][aBcmt])?|anewer|cnewer|perm|user|group|uid|gid|nouser|nogroup|links|inum"
    r"|samefile|prune|print0?|printf|ls|not|a|and|o|or|true|false|depth|d|mount|xdev|follow|H|L|P|E"
    r"|X|s|x|daystart|regextype|quit|readable|writable|executable|i?lname|fstype|noleaf|used|O[0-3]"
    r"|ignore_readdir_race|warn|nowarn|\d+[A-Za-z]?)"
)


def _find(use: Use) -> str:
    for word in use.further:
        if word.startswith("-") and word != "-" and not _FIND.fullmatch(word):
            return risk(word, use.name)
    return ""


_SED_FLAGS = re.compile(r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|posix|null-data|separate)")
_SED_IN_PLACE = re.compile(r"-[nErsuz]*i|--in-place")
_SED_SCRIPT = re.compile(r"-[nErsuz]*e")


def _sed(use: Use) -> str:
    scripts: list[int] = []
    files: list[int] = []
    index = 1
    while index < len(use.words):
        word = use.words[index]
        if _SED_SCRIPT.fullmatch(word) or word == "--expression":
            index += 1
            scripts.append(index)
        elif not word.startswith("-") or word == "-":
            files.append(index)
        elif index >= use.start and not _SED_FLAGS.fullmatch(word):
            return risk(word, use.name)
        index += 1
    for index in scripts or files[:1]:
        script = use.words[index] if index < len(use.words) else "w"
        if index >= use.start and (index in use.globs or not sed_only_prints(script)):
            return "its script does more than print, or is not plain enough to tell"
    if any(map(_SED_IN_PLACE.match, use.words[1 : use.start])):
        edited = (use.words[index] for index in files[not scripts :] if index >= use.start)
        far = next((path for path in edited if not writers.is_near(path) or " " in path), "")
        return f"{far} is not plainly a file below the current folder" if far else ""
    return ""


def _awk(use: Use) -> str:
    index, said = 1, False
    while index < len(use.words) and use.words[index].startswith("-") and not said:
        word = use.words[index]
        said = word[:2] not in {"-F", "-v"}
        if said and index >= use.start:
            return risk(word, use.name)
        index += 1 if len(word) > 2 else 2
    program = use.words[index] if index < len(use.words) else "@"
    unclear = any(at <= index for at in use.globs) or not awk_only_prints(program)
    if index >= use.start and unclear and not said:
        return "its program does more than print, or is not plain enough to tell"
    late = use.words[max(index, use.start) :]
    return next((risk(word, use.name) for word in late if word[:1] == "-" and word != "-"), "")


def _date(use: Use) -> str:
    words = iter(use.further)
    for word in words:
        if word in {"-d", "--date", "-r", "--reference"}:
            next(words, "")
        elif not re.fullmatch(r"\+.*|-[uRIj]+|-I[a-z]+|--(?:utc|iso-8601|rfc-).*|--date=.*", word):
            return f"{word} can make date set the clock"
    return ""


def _one_file(use: Use) -> str:
    """The second file that these are given is written."""
    words = [word for word in use.further if not word.isdigit()]
    files = [word for word in words if word == "-" or not word.startswith("-")]
    odd = any(word.startswith("-") and word[1:2] in {"r", "R"} for word in words)
    if odd or len(files) + (use.start > 1) > 1 or any(i >= use.start for i in use.globs):
        return f"{use.name} may write to the second file that it is given"
    return ""


_HOSTNAME = re.compile("-[fiIsdAa]+|--(?:fqdn|long|short|domain|ip-address|all-ip-addresses)")


def _hostname(use: Use) -> str:
    word = next((word for word in use.further if not _HOSTNAME.fullmatch(word)), "")
    return f"{word} can make {use.name} change the name" if word else ""


def _evaluates(use: Use) -> str:
    """Some shells compute the arguments of these, and run what is in an index such as a[$(id)]."""
    for word in use.further:
        if word.startswith("-v") or ("[" in word and ("$" in word or "`" in word)):
            return f"{word} can make the shell run a command"
    return ""


_UNZIP = re.compile("-q*[lvtpZzc][lvtpZzqc]*")


def _unzip(use: Use) -> str:
    """Only looks: what is in an archive may well be a hook or a setting of this project."""
    if not any(_UNZIP.fullmatch(word) for word in use.words[1:]):
        return "the rule does not say that files may be taken out of an archive"
    late = (w for w in use.further if w.startswith("-") and not _UNZIP.fullmatch(w))
    return next((risk(word, use.name) for word in late), "")


_OPENSSL = re.compile(
    r"-(?:in|noout|text|subject|issuer|dates|startdate|enddate|fingerprint|sha1|sha256|sha512|md5"
    r"|connect|servername|inform|pubkey|serial|email|purpose|checkend|showcerts|brief|CAfile|hash"
    r"|modulus|a|help|r|hex)"
)


def _openssl(use: Use) -> str:
    for word in use.further:
        if word.startswith("-") and not _OPENSSL.fullmatch(word):
            return risk(word, use.name)
    return ""


_GPG = re.compile(
    r"-[kKv]+|--(?:list-(?:keys|secret-keys|public-keys|signatures|sigs|packets)|fingerprint|verify"
    r"|verbose|version|with-colons|with-fingerprint|keyid-format(?:=\w+)?|check-sigs|no-tty|batch)"
)


def _gpg(use: Use) -> str:
    """Lists keys and checks signatures."""
    odd = (word for word in use.further if word.startswith("-") and not _GPG.fullmatch(word))
    return next((risk(word, use.name) for word in odd), "")


def _pandoc(use: Use) -> str:
    """A Lua script can be a filter, a reader or a writer."""
    for word in use.further:
        if RISKY["pandoc"].not_covered(word) or ".lua" in word.lower():
            return risk(word, use.name)
    return "pandoc runs a script" if use.words[1:2] in {("lua",), ("server",)} else ""


def _pytest(use: Use) -> str:
    """As the table says, but a plugin may be left out."""
    before = ""
    for word in use.further:
        left_out = word.startswith("-pno:") or (before == "-p" and word.startswith("no:"))
        if before == "-p" and not left_out:
            return risk("-p", use.name)
        if not left_out and word != "-p" and RISKY["pytest"].not_covered(word):
            return risk(word, use.name)
        before = word
    return risk("-p", use.name) if before == "-p" else ""


CHECKS: dict[str, Callable[[Use], str]] = {
    "curl": _curl,
    "wget": _wget,
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    **dict.fromkeys(("find", "gfind"), _find),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("date", "gdate"), _date),
    **dict.fromkeys(("uniq", "xxd", "json.tool"), _one_file),
    "hostname": _hostname,
    **dict.fromkeys(("printf", "test", "["), _evaluates),
    **builders.CHECKS,
    **packages.CHECKS,
    **linters.CHECKS,
    **dict.fromkeys(("gpg", "gpg2"), _gpg),
    **dict.fromkeys(("pytest", "py.test"), _pytest),
    "pandoc": _pandoc,
    **dict.fromkeys(writers.WRITERS, writers.objection),
    "unzip": _unzip,
    "openssl": _openssl,
}
# What a program that is not known does only when the rule says so.
_DOING = names(
    "exec run eval shell ssh sh bash call install uninstall publish deploy destroy delete remove"
    " apply push upload login"
)


_FIND_DOES = names("-delete -exec -execdir -ok -okdir -fls -fprint -fprint0 -fprintf -files0-from")


def _find_patterns(use: Use) -> tuple[int, ...]:
    """No file can be called `-delete` and match `*.py`."""
    return tuple(
        at
        for at in use.globs
        if use.words[at][0] not in "*?["
        or any(fnmatch.fnmatchcase(word, use.words[at]) for word in _FIND_DOES)
    )


def _awk_patterns(use: Use) -> tuple[int, ...]:
    """After its program awk takes no options; what is no pattern of files is another matter."""
    program = next((at for at, word in enumerate(use.words) if at and _awk_program(use, at)), 0)
    return tuple(at for at in use.globs if at <= program or use.words[at].startswith("$"))


def _awk_program(use: Use, at: int) -> bool:
    return use.words[at][:1] != "-" and use.words[at - 1] not in {"-F", "-v"}


_KNOWS_PATTERNS: dict[str, Callable[[Use], tuple[int, ...]]] = {
    **dict.fromkeys(("find", "gfind"), _find_patterns),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk_patterns),
}


def objection(use: Use) -> str:
    """Why a program is not covered with these further arguments; empty when it is."""
    check, options = CHECKS.get(use.name), RISKY.get(use.name)
    globs = use.globs if use.name not in _KNOWS_PATTERNS else _KNOWS_PATTERNS[use.name](use)
    if word := may_become_option(use.words, globs, use.start):
        return f"a file could make {word} an option of {use.name}; write ./{word}"
    if check is not None:
        return check(use)
    risky = options.not_covered if options is not None else likely_risky
    for word in use.further:
        if risky(word):
            return risk(word, use.name)
        if options is None and word in {"exec", "eval"}:
            return f"the rule does not say `{use.name} … {word}`"
    if use.start == 1 and options is None and use.further and use.further[0] in _DOING:
        return f"the rule does not say `{use.name} {use.further[0]}`"
    return ""
