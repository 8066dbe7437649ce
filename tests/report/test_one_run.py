"""Test reports over one run: they say so, and their title compares nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run_assay

ONE, TWO = ["--run", "runs/1.0"], ["--run", "runs/1.0", "--run", "runs/1.1"]


@pytest.mark.parametrize(
    ("runs", "title", "line"),
    [
        (ONE, "# service: run 1.0", "One run: 1.0. Name a second --run to compare."),
        (TWO, "# 1.1 against 1.0", "Response times and sizes of 1.1, compared with 1.0."),
    ],
)
def test_title_and_first_line_follow_the_runs(
    runs: list[str], title: str, line: str, tmp_path: Path, cache: Path
) -> None:
    place = tmp_path / "service"
    assert run_assay("--cache", cache, "init", place).status == 0
    built = run_assay("--cache", cache, "build", "service/comparison", *runs, "-o", "out", "--to", "md", cwd=place)
    assert built.status == 0, built.err
    text = (place / "out" / "report.md").read_text(encoding="utf-8").splitlines()
    assert text[0] == title
    assert line in text
