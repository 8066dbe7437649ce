"""Charts of fewer than three samples in each run: a sentence says why they are not drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.report.flat_charts import describe_few_samples
from tests.support.commands import run_assay


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ({"old": 2}, "Not drawn: old has 2 samples."),
        ({"old": 2, "new": 2}, "Not drawn: old and new have 2 samples each."),
        ({"old": 1, "new": 2, "none": 0}, "Not drawn: old has 1 sample; new has 2 samples."),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "Not drawn: 4 lines have 1 sample each."),
        ({"old": 2, "new": 3}, ""),
        ({"old": 0}, ""),
    ],
)
def test_few_samples_have_a_sentence(sizes: Mapping[str, int], sentence: str) -> None:
    assert describe_few_samples(sizes) == sentence


@pytest.mark.parametrize(("count", "is_drawn"), [(2, False), (3, True)])
def test_few_samples_are_not_drawn(count: int, is_drawn: bool, tmp_path: Path, cache: Path) -> None:
    log = tmp_path / "old.csv"
    log.write_text("step,latency_ms\n" + "".join(f"a{row},{row}.5\n" for row in range(count)), encoding="utf-8")
    place = tmp_path / "shop"
    assert run_assay("--cache", cache, "init", place, "--from", log).status == 0
    built = run_assay("--cache", cache, "build", "shop/comparison", "--run", "runs/old", "--to", "md",
                      "--date", "2026-01-01", "-o", "out", cwd=place)  # fmt: skip
    assert built.status == 0, built.err
    report = (place / "out/report.md").read_text(encoding="utf-8")
    assert ("\nNot drawn: old has 2 samples.\n" in report, "charts/latency_ms.svg" in report) == (
        not is_drawn,
        is_drawn,
    )
