"""Test that tables print numbers of things as whole numbers."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.commands import run_assay


def test_numbers_of_records_have_no_decimals(tmp_path: Path, cache: Path) -> None:
    lines = [f"2026-01-05 09:00:{second:02} Worker started\n" for second in range(9)]
    log, place = tmp_path / "app.log", tmp_path / "service"
    log.write_text("".join(lines), encoding="utf-8")
    assert run_assay("init", place, "--from", log).status == 0
    shutil.copytree(place / "runs" / "app", place / "runs" / "other")
    (place / "runs" / "other" / "app.log").write_text(lines[0], encoding="utf-8")
    runs = [argument for name in ("other", "app") for argument in ("--run", f"{name}={place}/runs/{name}")]
    built = run_assay(
        "build", "service/comparison", *runs, "--to", "md", "--columns", "median,max", "--cache", cache, "-o",
        tmp_path / "out", cwd=place,
    )  # fmt: skip
    assert built.status == 0, built.err
    table = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "(#metric-worker_started_count) | 1 | 9 | +8 | +800 |" in table
    assert "app median" not in table, "a table of percentiles repeats the only sample"
    assert "Values are averages of all samples." in table
