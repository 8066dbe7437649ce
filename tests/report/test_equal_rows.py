"""Test repeats: rows of a run that agree in the keys of a block are combined and named, in every kind of block."""

from __future__ import annotations

import csv
import gzip
import math
import shutil
import statistics
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from assay.report.blocks.grid import join_lines
from assay.report.blocks.repeats import average_rows, format_count_of_repeats
from assay.report.blocks.timeline import Lines
from tests.compare_reference import load_json
from tests.support.cometbft import RUN, assemble_document
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.loads import Experiment, add_samples, create_load_run

CASE = ROOT / "golden" / "cases" / "networks" / "14-vote-extension-runs" / "run"
SECOND = 10**9
GRID = "Cases of vote extensions"
PIVOT = "Transactions in blocks, by rate (rows) and connections (columns)"


def find_part(document: dict[str, Any], title: str) -> Any:
    return next(item for item in document["parts"] if item["title"] == title)


def read_latencies(run: Path) -> list[list[float]]:
    """Return the latencies of each experiment in seconds, in the order of their first blocks, in plain Python."""
    text = gzip.decompress((run / "report" / "raw.csv.gz").read_bytes()).decode()
    experiments: dict[str, list[tuple[int, int]]] = {}
    for row in csv.DictReader(text.splitlines()):
        block = int(row["block_time"]), int(row["duration_ns"])
        experiments.setdefault(row["experiment_id"], []).append(block)
    return [[latency / SECOND for _, latency in rows] for rows in sorted(experiments.values(), key=min)]


# Cases of grids


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report of the reference run and of a case with five equal experiments."""
    folder = tmp_path_factory.mktemp("repeats")
    shutil.copytree(CASE, folder / "case")
    runs = ("--run", RUN, "--run", folder / "case")
    result = run_assay("build", "cometbft/qa", *runs, "--to", "md", "-o", folder / "out", "--cache", cache)
    assert result.status == 0, result.err
    return folder / "out"


def test_each_repeat_of_a_case_and_their_mean_is_listed(built: Path) -> None:
    latencies = read_latencies(CASE)
    means = [math.fsum(values) / len(values) for values in latencies]
    cases, table = find_part(load_json(built / "document.json"), "Vote extensions")["tables"]
    assert (cases["header"], cases["rows"]) == (["Case", "Version", "Date"], [["2k", "2k", "2026-11-21"]])
    *rows, last = table["rows"]
    assert [(row[:4], row[5]) for row in rows] == [
        (["2k", str(number), "1", "50"], str(len(values))) for number, values in enumerate(latencies, start=1)
    ]
    assert [float(row[4]) for row in rows] == [float(f"{mean:.3g}") for mean in means]
    mean = math.fsum(means) / 5
    deviation = f"{100 * statistics.stdev(means) / mean:.1f}"
    assert (last[0], last[4:]) == ("2k, mean", [f"{mean:.2f}", "5", deviation])
    assert (round(mean, 2), deviation) == (2.84, "55.6")


def test_points_of_all_repeats_are_drawn_together_and_apart(built: Path) -> None:
    """The case has no samples of nodes, so the grid has no columns of series."""
    latencies = read_latencies(CASE)
    all_repeats, *single_repeats = find_part(load_json(built / "document.json"), "Vote extensions")["wide"]
    assert all_repeats["panels"] == ["Latency, s"]
    levels = [row[3] for row in all_repeats["rows"] if row[5] == "level"]
    assert levels == pytest.approx([statistics.fmean(map(statistics.fmean, latencies))], rel=1e-12)
    panels = [name for plot in single_repeats for name in plot["panels"]]
    assert panels == [f"Repeat {number}, s" for number in range(1, 6)]
    rows = [row for plot in single_repeats for row in plot["rows"]]
    for name, values in zip(panels, latencies, strict=True):
        level = [row[3] for row in rows if row[1] == name and row[5] == "level"]
        assert level == pytest.approx([statistics.fmean(values)], rel=1e-12)
        assert {row[3] for row in rows if row[1] == name and row[5] == "point"} <= set(values)
    edges = {tuple(row[2:4]) for row in rows if row[5] == "edge"}
    assert {y for _, y in edges} == {min(map(min, latencies)), max(map(max, latencies))}


def test_mean_of_a_case_leads_to_the_records_of_each_repeat(built: Path, cache: Path) -> None:
    cell = f"Vote extensions/{GRID}: latency of repeats/2k, mean, —, 1, 50/Latency, s"
    result = run_assay("trace", built, cell, "--format", "json", "--cache", cache)
    assert result.status == 0, result.err
    trace = result.parse_json()
    experiments = [{sample["keys"]["experiment_id"] for sample in run["greatest"]} for run in trace["runs"]]
    assert (trace["prints"], experiments) == ("repeats", [{f"00000000-0000-4000-8000-{k:012}"} for k in range(5)])


def test_lines_of_repeats_follow_one_another(tmp_path: Path, cache: Path) -> None:
    """Another load between two repeats is left out, and so is one with a fault."""
    experiments = [
        Experiment("a", 18, latency=10 * SECOND),
        Experiment("b", 48, latency=10 * SECOND, rate=25),
        Experiment("c", 78, latency=20 * SECOND),
        Experiment("d", 108, latency=20 * SECOND),
    ]
    run = create_load_run(tmp_path / "run", *experiments, vote_extensions="2k", experiments={"fault": 4})
    add_samples(run, {"cometbft_mempool_size": {"v": [(time, str(time)) for time in range(120)]}})
    part = find_part(assemble_document(cache, run), "Vote extensions")
    (rows,) = [
        [row[2:4] for row in plot["rows"] if row[1] == "Mempool, tx" and row[5] == "line"]
        for plot in part["wide"]
        if "Mempool, tx" in plot["panels"]
    ]
    # a is sent at 10 s and found at 20 s; c is sent at 60 s and found at 80 s
    times = [*range(10, 21), *range(60, 81)]
    assert [row for row in rows if row[1] is not None] == [[time - 10, time] for time in times]
    assert [row[0] for row in rows if row[1] is None] == [30.0]
    assert [row[1:4] for row in part["tables"][1]["rows"]] == [["1", "1", "50"], ["3", "1", "50"], ["—", "1", "50"]]


def test_joined_lines_keep_the_order_of_time() -> None:
    second_run = Lines({"v": [(0.0, 5.0)], "w": [(1.0, 7.0)]}, 2.0, 30 * SECOND)
    joined = join_lines([second_run, Lines({"v": [(0.0, 1.0), (1.0, 2.0)]}, 4.0, 10 * SECOND)])
    assert joined == Lines(
        {"v": [(0.0, 1.0), (1.0, 2.0), (10.5, None), (20.0, 5.0)], "w": [(21.0, 7.0)]}, 22.0, 10 * SECOND
    )
    assert (join_lines([second_run]), join_lines([])) == (second_run, None)


# Pivots, and rows that are chosen


def test_cell_of_a_pivot_has_the_mean_of_repeats(tmp_path: Path, cache: Path) -> None:
    """Of 1450 due, 1400 and 1201 are 1300.5 on average: short, though one of them is not."""
    run = create_load_run(
        tmp_path / "run",
        Experiment("a", 5, count=1400),
        Experiment("b", 100, count=1201),
        Experiment("c", 200, rate=100, count=2900),
    )
    part = find_part(assemble_document(cache, run), "Saturation point")
    pivot, diagonals, listing = part["tables"]
    assert pivot["rows"] == [["50", "1300 (n=2) *"], ["100", "2900"]]
    share = f"{float(100 * Fraction(2601, 2) / 1450):.1f}"
    assert diagonals["rows"][0][3:] == ["1300 (n=2)", "1450", share, "yes"]
    assert [row[3] for row in listing["rows"]] == ["1400", "1201", "2900"]
    assert part["text"][-1] == (
        f"{PIVOT}: rows with the same rate and connections are repeats, of which the mean counts; n is their number "
        "(rate 50, connections 1: number 1, 2)."
    )


def test_configuration_is_chosen_by_the_mean_of_its_repeats(tmp_path: Path, cache: Path) -> None:
    """The best single experiment, number 1, is one of a saturated configuration."""
    run = create_load_run(
        tmp_path / "run",
        Experiment("a", 5, rate=100, count=2900),
        Experiment("b", 100, rate=100, count=2000),
        Experiment("c", 200, count=1440),
    )
    text = find_part(assemble_document(cache, run), "Saturation point")["text"]
    assert "Chosen experiment: number 3, connections 1, rate 50." in text


def test_experiment_with_a_fault_is_in_no_cell(tmp_path: Path, cache: Path) -> None:
    experiments = [Experiment("a", 5, count=1400), Experiment("b", 100, count=10)]
    run = create_load_run(tmp_path / "run", *experiments, experiments={"fault": 2})
    part = find_part(assemble_document(cache, run), "Saturation point")
    assert part["tables"][0]["rows"] == [["50", "1400"]]
    assert part["text"][-1] == f"{PIVOT}: not shown: experiment with a fault (number 2, connections 1, rate 50)."


@pytest.mark.parametrize(
    ("experiments", "sentence"),
    [
        ([Experiment("a", 5), Experiment("b", 99), Experiment("c", 200, count=1400)], "repeated by number 2, 3"),
        (
            [Experiment("a", 5, rate=100, count=2900), Experiment("b", 99, connections=2, count=2900)],
            "as good would be number 2, connections 2, rate 50",
        ),
        ([Experiment("a", 5), Experiment("b", 99, rate=100, count=2900)], ""),
    ],
)
def test_parts_name_what_a_chosen_row_stands_for(
    tmp_path: Path, cache: Path, experiments: Sequence[Experiment], sentence: str
) -> None:
    run = create_load_run(tmp_path / "run", *experiments)
    text = find_part(assemble_document(cache, run), "Saturation point")["text"]
    named = f"Chosen experiment: {sentence}. Figures over time and quotes show the chosen one only."
    assert (named in text) == bool(sentence)
    assert len([line for line in text if "Figures over time" in line]) == bool(sentence)


def test_grid_names_rows_that_are_as_heavy(tmp_path: Path, cache: Path) -> None:
    experiments = [Experiment("a", 5, rate=100), Experiment("b", 99, connections=2)]
    run = create_load_run(tmp_path / "run", *experiments, vote_extensions="2k")
    part = find_part(assemble_document(cache, RUN, run), "Vote extensions")
    assert f"{GRID}, 2k: not shown, though as good: number 2, connections 2, rate 50." in part["text"]
    assert [table["title"] for table in part["tables"]] == ["Cases"]


# Means


@pytest.mark.parametrize(
    ("values", "mean", "count"),
    [
        ([3], 3, ""),
        ([3, 4, 5], 4, " (n=3)"),
        ([3, 4], Fraction(7, 2), " (n=2)"),
        ([0.1, 0.2, 0.3], Fraction(1, 5), " (n=3)"),
        ([None, 4, 5], Fraction(9, 2), " (n=2 of 3)"),
        ([None, None], None, ""),
        ([1.5, math.inf], math.inf, " (n=2)"),
    ],
)
def test_mean_of_rows_is_exact(values: list[float | None], mean: object, count: str) -> None:
    rows = [{"number": number, "metric": value} for number, value in enumerate(values)]
    row = average_rows(rows, ["metric"])
    assert row == {"number": 0, "metric": mean}
    assert type(row["metric"]) is type(mean)
    assert format_count_of_repeats(rows, "metric") == count
