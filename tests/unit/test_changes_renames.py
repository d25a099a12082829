"""Files that are gone and files that are new, told apart from files that were renamed."""

from __future__ import annotations

from agentls.core.changes.looking import Found
from agentls.core.changes.record import MISSING, Blob, FileState
from agentls.core.changes.renames import renamed

TEXT = "".join(f"line {n}\n" for n in range(20))
CHANGED = TEXT.replace("line 3\n", "three\n")
OTHER = "".join(f"other {n}\n" for n in range(20))


def gone(path: str, content: str | Blob) -> Found:
    return Found(path, FileState(content), MISSING)


def made(path: str, content: str | Blob) -> Found:
    return Found(path, MISSING, FileState(content))


def pairs(*found: Found) -> dict[str, str]:
    return {new: old.path for new, old in renamed(found).items()}


def test_the_same_content_or_most_of_its_lines_is_a_rename() -> None:
    assert pairs(gone("a", TEXT), made("b", TEXT)) == {"b": "a"}
    assert pairs(gone("a", TEXT), made("b", CHANGED)) == {"b": "a"}
    blob = Blob("x", 3)
    assert pairs(gone("a", blob), made("b", blob)) == {"b": "a"}


def test_other_content_is_not() -> None:
    assert pairs(gone("a", TEXT), made("b", OTHER)) == {}
    assert pairs(gone("a", Blob("x", 3)), made("b", Blob("y", 3))) == {}
    assert pairs(gone("a", ""), made("b", "")) == {}
    assert pairs(gone("a", TEXT), Found("b", FileState("x"), FileState(TEXT))) == {}


def test_the_most_alike_are_a_pair_and_a_tie_is_none() -> None:
    assert pairs(gone("a", TEXT), made("b", CHANGED), made("c", TEXT)) == {"c": "a"}
    assert pairs(gone("a", TEXT), made("b", TEXT), made("c", TEXT)) == {}
    assert pairs(gone("a", TEXT), gone("b", OTHER), made("c", OTHER), made("d", CHANGED)) == {
        "c": "b",
        "d": "a",
    }
