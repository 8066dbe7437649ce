"""Tables of benchmarks: the comparison of one sample each in all its forms, and the order of values."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import run_assay

HEADER = '"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit","Param: size"\n'
BENCHMARKS = 6
SIZES = (16, 64)


def write_scores(path: Path, factor: float) -> None:
    """Write the scores of 6 benchmarks of 2 sizes each; `factor` is that of the smaller size."""
    path.parent.mkdir()
    rows = [
        f'"b{number}","avgt",1,5,{10**number * size * (factor if size == min(SIZES) else 1):g},0,"ns/op",{size}\n'
        for number in range(BENCHMARKS)
        for size in SIZES
    ]
    path.write_text(HEADER + "".join(rows), encoding="utf-8")


def test_slow_benchmarks_of_one_sample_are_counted(tmp_path: Path, cache: Path) -> None:
    for run, factor in (("old", 1), ("new", 1.25)):
        write_scores(tmp_path / run / "scores.csv", factor)
    place = tmp_path / "shop"
    assert run_assay("--cache", cache, "init", place, "--from", tmp_path / "old", tmp_path / "new").status == 0
    built = run_assay("--cache", cache, "build", "shop/comparison", "--run", "runs/old", "--run", "runs/new",
                      "--to", "md", "--date", "2026-01-01", "-o", "out", cwd=place)  # fmt: skip
    assert built.status == 0, built.err
    report = (place / "out/report.md").read_text(encoding="utf-8")
    assert "6 of 12 segments of Score changed by more than 2 % from old to new\n" in report
    assert (
        "6 of 12 segments of Score changed by more than 2 %: 6 worse, 0 better (no interval: one sample each). By "
        "benchmark and param_size: b0, 16 +25 %; b1, 16 +25 %; b2, 16 +25 % and 3 more. Geometric mean: +12 % "
        in report
    )
    results = json.loads((place / "out/results.json").read_text(encoding="utf-8"))
    paired = results["judgement"]["metrics"]["score"]["new"]["paired"]
    assert (paired["segments"], paired["samples"]) == (12, 1)
    assert "+4 … +21); one run of each version does not tell it from a slower day." in report
    assert list(paired["rises"].values()) == [25.0] * 6
    assert (
        "6 of 12 segments of Score changed by more than 2 % (no interval: one sample each); most: b0, 16"
        in built.summary
    )
    sentence = report[report.index("6 of 12 segments of Score changed by more than 2 %: ") :].partition("\n")[0]
    for form in ("text", "markdown"):
        compared = run_assay("--cache", cache, "compare", "runs/old", "runs/new", "--format", form, cwd=place)
        assert sentence in compared.out.replace("\\", ""), compared.err


def test_values_with_numbers_are_listed_in_their_order(tmp_path: Path, cache: Path) -> None:
    """The greater a number, the more rows it has; frequency does not decide."""
    rows = [f"{name},{number}.5\n" for count, name in enumerate(("v2", "v9", "v10"), 2) for number in range(count)]
    log = tmp_path / "log.csv"
    log.write_text("engine,latency_ms\n" + "".join(rows), encoding="utf-8")
    place = tmp_path / "shop"
    assert run_assay("--cache", cache, "init", place, "--from", log).status == 0
    options = ("--by", "engine", "--run", "runs/log", "--format", "json")
    queried = run_assay("--cache", cache, "query", "latency_ms", *options, cwd=place)
    assert queried.status == 0, queried.err
    names = [row["metric"].partition("=")[2] for row in json.loads(queried.out)]
    assert names == ["", "v2]", "v9]", "v10]"]
