"""The benchmark runs: every row is measured, with sizes too small for its numbers to mean much."""

from __future__ import annotations

import json
import math
import sys
from importlib import import_module
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))
didchange = import_module("bench.didchange")
rows = import_module("bench.rows")
run = import_module("bench.run")

KEYS = ["name", "value", "unit", "reference", "ratio", "limit", "ok"]


@pytest.fixture(autouse=True)
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(didchange, "ROUNDS", 1)


@pytest.mark.timeout(300)  # some of them start editors
@pytest.mark.parametrize("name", run.NAMES)
def test_each_module_measures_well_formed_rows(name: str) -> None:
    found = run.measure(name, rows.TINY)
    assert found
    assert len({row.name for row in found}) == len(found)
    for row in found:
        assert list(row.as_json()) == KEYS
        assert row.name
        assert row.unit
        assert math.isfinite(row.value)
        assert row.limit is None or row.limit > 0
        if row.reference is not None:
            assert row.ratio == row.value / row.reference


@pytest.mark.parametrize(
    ("value", "reference", "limit", "ok"),
    [
        (10, 10, 1.1, True),
        (12, 10, 1.1, False),
        (1, None, 1.1, True),
        (12, None, 1.1, False),
        (12, 10, None, True),
    ],
)
def test_a_limit_is_one_on_the_ratio_where_there_is_a_reference(
    value: float, reference: float | None, limit: float | None, ok: bool
) -> None:
    row = rows.Row(name="r", value=value, unit="ms", reference=reference, limit=limit)
    assert row.ok is ok


def test_a_reference_that_differs_from_run_to_run_makes_a_row_noisy() -> None:
    calm = rows.compared("calm", "ms", [1, 2, 3], [10, 10, 10, 10, 90], limit=1)
    wild = rows.compared("wild", "ms", [1, 2, 3], [5, 10, 10, 20, 30], limit=1)
    assert (calm.value, calm.reference, calm.noisy) == (2, 10, False)
    assert wild.noisy
    assert "noisy" in run.table([wild])
    assert "noisy" not in run.table([calm])


def test_the_rows_are_printed_and_written_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "build" / "bench.json"
    assert run.main(["--quick", "--only", "didchange", "--json", str(path)]) == 0
    written = json.loads(path.read_text())
    assert [list(row) for row in written] == [KEYS] * len(written)
    printed = capsys.readouterr().out
    assert "load average" in printed
    assert all(row["name"] in printed for row in written)


def test_only_a_strict_run_fails_when_a_limit_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = rows.Row(name="slow", value=3, unit="ms", reference=1, limit=2)
    monkeypatch.setattr(run, "measure", lambda name, sizes: [slow])
    args = ["--only", "startup", "--json", str(tmp_path / "bench.json")]
    assert run.main(args) == 0
    assert run.main([*args, "--strict"]) == 1
    assert "NOT OK" in capsys.readouterr().out
