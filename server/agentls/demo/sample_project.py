"""The sample project of the demo: `copy_sample` never overwrites a file that is already there."""

from __future__ import annotations

import shutil
from pathlib import Path

_SAMPLE = Path(__file__).parent / "sample"
_FILES = ("README.md", "greet.py", "test_greet.py")


def copy_sample(target: Path) -> None:
    """Put a fresh copy of the sample project into `target`, which is created when missing."""
    target.mkdir(parents=True, exist_ok=True)
    taken = [name for name in _FILES if (target / name).exists()]
    if taken:
        raise FileExistsError(f"{target} already has {', '.join(taken)}; choose an empty folder.")
    for name in _FILES:
        shutil.copyfile(_SAMPLE / name, target / name)
