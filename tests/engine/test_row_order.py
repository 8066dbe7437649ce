"""Test that no number depends on the order of rows in tables: something else orders rows of one instant."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import count
from pathlib import Path

import duckdb
import pytest

from assay.app.compute import compute
from assay.engine.mount import EVENTS, HOSTS
from assay.runs.model import IngestedRun
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT

#: report -> its runs and further arguments
REPORTS = {
    "cardano/comparison": (["cardano/baseline/run", "cardano/forks/run"], ["--no-filters"]),
    "cometbft/qa": (["cometbft/run"], []),
    "cometbft/published": (["cometbft/published/v034", "cometbft/published/v037"], ["--date", "2026-01-01"]),
    "antelope/harness": (["antelope/harness"], []),
    "antelope/upgrade": (["antelope/upgrade/run"], []),
}


def copy_shuffled(folder: Path, target: Path) -> Path:
    """Copy an ingested folder with the rows of its tables in another order, in small groups."""
    shutil.copytree(folder, target)
    moved_files = 0
    with duckdb.connect() as connection:
        for file in (target / HOSTS, *(target / EVENTS).glob("*/*.parquet")):
            rows = connection.read_parquet(str(file))
            before = rows.fetchall()
            new = file.with_suffix(".new")
            ordered_rows = rows.query("rows_there", "SELECT * FROM rows_there ORDER BY md5(CAST(rows_there AS TEXT))")
            moved_files += ordered_rows.fetchall() != before
            ordered_rows.write_parquet(str(new), row_group_size=2048)
            new.rename(file)
    assert moved_files
    return target


@pytest.mark.parametrize("report", REPORTS)
def test_results_do_not_depend_on_the_order_of_rows(
    report: str, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, options = REPORTS[report]
    arguments = ["build", report, *(f"--run={ROOT / 'golden' / run}" for run in runs), *options, "--to", "md"]
    prepare, numbers = compute.prepare, count()

    def prepare_shuffled(*args: object, **kwargs: object) -> tuple[IngestedRun, ...]:
        prepared_runs = prepare(*args, **kwargs)  # type: ignore[arg-type]
        return tuple(
            replace(item, parts=tuple(
                replace(part, events=copy_shuffled(part.events, tmp_path / f"shuffled-{next(numbers)}"))
                for part in item.parts
            ))
            for item in prepared_runs
        )  # fmt: skip

    outputs = []
    for name, preparation, store in (
        ("as read", prepare, cache),
        ("otherwise", prepare_shuffled, tmp_path / "empty cache"),
    ):
        monkeypatch.setattr(compute, "prepare", preparation)
        out = tmp_path / name
        result = run_assay(*arguments, "-o", out, "--cache", store)
        assert result.status == 0, result.err
        files = [out / "results.json", out / "document.json", *sorted((out / "rows").rglob("*.parquet"))]
        outputs.append({file.relative_to(out): file.read_bytes() for file in files})
    assert next(numbers) >= len(runs)
    assert outputs[0] == outputs[1]
