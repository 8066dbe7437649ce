"""A slowdown of all samples that a few large ones hide: each form of a comparison names the medians."""

from __future__ import annotations

import random
from pathlib import Path

from tests.support.commands import run_assay

MEDIANS = "eside the averages: median of Time 1.20 → 1.44 s (+20 %) worse; see --details seconds"


def write_times(path: Path, factor: float, seed: int) -> None:
    """Write the times of 51 iterations, five of which take 10 s; `factor` is that of all of them."""
    path.parent.mkdir(parents=True)
    source = random.Random(3)
    slow = random.Random(seed).sample(range(51), 5)
    rows = [
        f"2026-01-01T00:00:{second:02d}Z,{factor * (10 if second in slow else source.gauss(1.2, 0.05)):.4f}\n"
        for second in range(51)
    ]
    path.write_text("time,seconds\n" + "".join(rows), encoding="utf-8")


def test_all_forms_name_medians_of_open_metrics(tmp_path: Path, cache: Path) -> None:
    for run, factor, seed in (("old", 1.0, 5), ("new", 1.2, 6)):
        write_times(tmp_path / run / "times.csv", factor, seed)
    place = tmp_path / "shop"
    init = run_assay("--cache", cache, "init", place, "--each", "run", "--from", tmp_path / "old", tmp_path / "new")
    assert init.status == 0, init.err
    built = run_assay("--cache", cache, "build", "shop/comparison", "--run", "runs/old", "--run", "runs/new",
                      "--to", "md", "--date", "2026-01-01", "-o", "out", cwd=place)  # fmt: skip
    assert built.status == 0, built.err
    report = (place / "out/report.md").read_text(encoding="utf-8")
    assert "This run of new is worse than this run of old in median of Time\n" in report
    compared = run_assay("--cache", cache, "compare", "runs/old", "runs/new", cwd=place)
    gate = run_assay("--cache", cache, "gate", "out", "--once", "--format", "markdown", cwd=place)
    for text in (report, built.summary, compared.out, gate.out):
        assert MEDIANS in text
