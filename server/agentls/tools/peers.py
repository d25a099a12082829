"""Whose program is on the other end of a connection on this machine.

A second lock: others on the machine may see the secret of a session, because some agents pass it
on to a program of theirs as an argument. It is Linux that tells; elsewhere the secret has to do.
"""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress
from pathlib import Path

Address = tuple[str, int]
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ROOT = 0
_LOCAL, _REMOTE, _UID = 1, 2, 7
"""Columns of a table."""


def is_a_strangers(peer: Address, here: Address, tables: tuple[Path, ...] = _TABLES) -> bool:
    """Whether a connection from `peer` to `here` is known to be another user's (root may all)."""
    owner = _owner(peer, here, tables)
    return owner is not None and owner not in {os.getuid(), _ROOT}


def _owner(peer: Address, here: Address, tables: tuple[Path, ...]) -> int | None:
    ends = (_written(peer), _written(here))
    for table in tables:
        with suppress(OSError):
            for line in table.read_text("ascii").splitlines()[1:]:
                columns = line.split()
                # An IPv4 address within IPv6 ends with the same digits.
                if columns[_LOCAL].endswith(ends[0]) and columns[_REMOTE].endswith(ends[1]):
                    return int(columns[_UID])
    return None


def _written(address: Address) -> str:
    """As the tables have it: the bytes of the address as a number of this machine, and the port."""
    host, port = address
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}:{port:04X}"
