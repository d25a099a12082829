"""What a shell line comes down to: the commands it runs, the files it redirects, the doubts left.

Invariant: these are plain values; a line with a doubt is never allowed without a person.
"""

from __future__ import annotations

import msgspec


class SimpleCommand(msgspec.Struct, frozen=True):
    """One program with its arguments, as the program would get them."""

    words: tuple[str, ...]
    # Which words stand for words that are not known yet: file patterns, and what xargs adds.
    globs: tuple[int, ...] = ()
    # The harmless wrapper in front of it as written, such as ("timeout", "10").
    under: tuple[str, ...] = ()
    # Its words as they are written, where the input takes the place of some.
    written: tuple[str, ...] = ()


class Redirect(msgspec.Struct, frozen=True):
    """A file that the line opens, or a folder that it enters (as a read)."""

    path: str
    write: bool


class ShellReading(msgspec.Struct, frozen=True):
    """A line, read.

    `harmless` is what needs no rule (cd, true, exit, what a command runs that has a rule of its
    own) but may be denied by one. `opaque` says which text is run that was not looked into: rules
    that deny or ask cannot be excluded then.
    """

    commands: tuple[SimpleCommand, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    doubts: tuple[str, ...] = ()
    harmless: tuple[SimpleCommand, ...] = ()
    opaque: tuple[str, ...] = ()
