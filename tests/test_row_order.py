"""No number depends on where rows stand in tables: rows of one instant are ordered by something, or it is no matter."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import count
from pathlib import Path

import duckdb
import pytest

from assay.app import compute
from assay.app.prepare import IngestedRun
from assay.engine.mount import EVENTS, HOSTS
from tests.support.commands import assay
from tests.support.laboratory import ROOT

#: report -> its runs, and what else it is asked with
REPORTS = {
    "cardano/comparison": (["cardano/baseline/run", "cardano/forks/run"], ["--no-filters"]),
    "cometbft/qa": (["cometbft/run"], []),
    "cometbft/published": (["cometbft/published/v034", "cometbft/published/v037"], ["--date", "2026-01-01"]),
    "antelope/harness": (["antelope/harness"], []),
    "antelope/upgrade": (["antelope/upgrade/run"], []),
}


def shuffled(folder: Path, to: Path) -> Path:
    """A copy of an ingested folder whose tables have their rows in another order, in small groups."""
    shutil.copytree(folder, to)
    moved = 0
    with duckdb.connect() as connection:
        for file in (to / HOSTS, *(to / EVENTS).glob("*/*.parquet")):
            rows = connection.read_parquet(str(file))
            before = rows.fetchall()
            new = file.with_suffix(".new")
            ordered = rows.query("rows_there", "SELECT * FROM rows_there ORDER BY md5(CAST(rows_there AS TEXT))")
            moved += ordered.fetchall() != before
            ordered.write_parquet(str(new), row_group_size=2048)
            new.rename(file)
    assert moved
    return to


@pytest.mark.parametrize("report", REPORTS)
def test_rows_may_stand_in_any_order(report: str, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, more = REPORTS[report]
    asked = ["build", report, *(f"--run={ROOT / 'golden' / run}" for run in runs), *more, "--to", "md"]
    prepare, numbers = compute.prepare, count()

    def otherwise(*given: object, **named: object) -> tuple[IngestedRun, ...]:
        found = prepare(*given, **named)  # type: ignore[arg-type]
        return tuple(
            replace(item, parts=tuple(
                replace(part, events=shuffled(part.events, tmp_path / f"shuffled-{next(numbers)}"))
                for part in item.parts
            ))
            for item in found
        )  # fmt: skip

    made = []
    for name, how, kept in (("as read", prepare, cache), ("otherwise", otherwise, tmp_path / "empty cache")):
        monkeypatch.setattr(compute, "prepare", how)
        out = tmp_path / name
        done = assay(*asked, "-o", out, "--cache", kept)
        assert done.status == 0, done.err
        made.append([(out / file).read_bytes() for file in ("results.json", "document.json")])
    assert next(numbers) >= len(runs)
    assert made[0] == made[1]
