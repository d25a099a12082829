"""Nothing that this server started outlives it by more than a second, not even its SIGKILL.

A small shell beside the server holds the reading end of a pipe from it, and is told which process
groups there are. When the pipe ends, it ends the groups that are left, and on Linux everything that
carries the server's mark in its environment: daemons leave their group, but not that behind.

It is a shell because that starts in 1 ms and takes 0.4 MB, a tenth of what a Python does; and it is
nobody's child, so that whoever kills the server's whole tree does not get it first.
"""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress

log = logging.getLogger(__name__)

VARIABLE = "AGENTLS_STARTED_BY"
_SHELL = "/bin/sh"
_SCRIPT = r"""
trap '' HUP INT TERM
mark=$1 groups=' '

end() {
    found=
    for group in $groups; do
        kill -"$1" -"$group" && found=yes
    done
    for file in $(grep -lsF -e "$mark" /proc/[0-9]*/environ); do
        file=${file%/environ}
        kill -"$1" "${file#/proc/}" && found=yes
    done
}

watch() {
    while read -r what group; do
        case $what in
            guard) groups="$groups$group " ;;
            forget) case $groups in
                *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;;
            esac ;;
        esac
    done
    end TERM
    for pause in 0.3 0.1 0.1 0.1; do
        [ "$found" ] || exit
        sleep $pause
        end KILL
    done
}

exec 3<&0
watch <&3 3<&- &
"""


class Warden:
    """Implements `core.ports.Warden`. Started with the first group that there is to guard."""

    def __init__(self) -> None:
        self._mark = os.urandom(8).hex()
        self._marks = 0
        self._groups: set[int] = set()
        self._pipe: int | None = None
        self._unsent = b""

    def guard(self, group: int) -> None:
        """This process group ends with the server, at the latest."""
        assert group > 1, "these would be our own group, or everything"
        self._groups.add(group)
        self._tell(b"guard %d\n" % group)

    def forget(self, group: int) -> None:
        """It is gone, and its number may come to belong to somebody else."""
        if group in self._groups:
            self._groups.remove(group)
            if self._pipe is not None:
                self._tell(b"forget %d\n" % group)

    def mark(self, env: Mapping[str, str]) -> tuple[dict[str, str], str]:
        """The environment for something to be started, and the mark in it that only this and
        its descendants carry."""
        self._marks += 1
        mark = f"{self._mark}.{self._marks};"
        # Within a terminal of another server, that one must find it too.
        return {**env, VARIABLE: env.get(VARIABLE, "") + mark}, mark

    def close(self) -> None:
        """The server goes: what is still guarded ends now."""
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None
        self._groups.clear()
        self._unsent = b""

    def _tell(self, line: bytes) -> None:
        if self._pipe is None:
            self._start()
            return
        self._unsent += line
        try:
            self._unsent = self._unsent[os.write(self._pipe, self._unsent) :]
        except BlockingIOError:
            pass  # it has been stopped; it hears of this with the next one
        except BrokenPipeError:
            log.warning("the warden was gone and is started again")
            os.close(self._pipe)
            self._start()

    def _start(self) -> None:
        self._pipe = None
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        try:
            # The shell that is waited for leaves another one behind and ends at once.
            subprocess.run(
                [_SHELL, "-c", _SCRIPT, "agentls-warden", self._mark],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                # Not ours: it would carry the mark of a server around this one.
                env={"PATH": os.environ.get("PATH", os.defpath)},
                start_new_session=True,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            log.warning("no warden could be started: %s", error)
            os.close(writing)
        else:
            self._pipe = writing
            self._unsent = b"".join(b"guard %d\n" % group for group in sorted(self._groups))
            with suppress(BlockingIOError, BrokenPipeError):
                self._unsent = self._unsent[os.write(writing, self._unsent) :]
        finally:
            os.close(reading)
