"""Percentiles of histograms of Prometheus in a proposed workspace, against plain Python and a server."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay
from tests.support.commands import run_assay
from tests.support.histograms import (
    EVERY,
    LABELS,
    SCRAPES,
    START,
    add_increases,
    compute_centile,
    list_series,
    simulate_counts,
)
from tests.support.prometheus import MISSING, SKIP_REASON, create_database, format_openmetrics, serve_database

NAME = "request_seconds"
STEP = 4  # scrapes
RUNS = {"base": simulate_counts(1), "same": simulate_counts(2), "slow": simulate_counts(3, 1.3),
        "beyond": simulate_counts(4, tail=0.02)}  # fmt: skip
METRICS = f"""
let instance = S.grain.columnOf e.field.instance

let centile = S.metric.histogramCentile 0.95 g.{NAME}_histogram

in  {{ whole = S.Metric::(centile ([] : List S.Column) /\\ {{ id = "whole", name = "Whole run" }})
    , each = S.Metric::(centile [ instance ] /\\ {{ id = "each", name = "Each instance", per = "instance" }})
    , """


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return a proposed workspace with the runs, and with metrics of the whole run and of each instance."""
    folder = tmp_path_factory.mktemp("histograms")
    logs = folder / "logs"
    for name, counts in RUNS.items():
        (logs / name).mkdir(parents=True)
        (logs / name / "samples.om").write_text(format_openmetrics(list_series(NAME, counts)), encoding="utf-8")
    place = folder / "place"
    result = run_assay("--cache", cache, "init", place, "--from", logs, "--each", "run")
    assert result.status == 0, result.err
    assert f"  metrics {NAME}_p50, {NAME}_p95, {NAME}_p99\n" in result.out
    assert "no metrics of" not in result.out
    metrics = place / "specs" / "place" / "metrics.dhall"
    begin, end = metrics.read_text(encoding="utf-8").split("\nin  { ")
    metrics.write_text(f"{begin}{METRICS}{end}", encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def workspace(place: Path, cache: Path) -> Iterator[assay.Workspace]:
    with pytest.MonkeyPatch.context() as patch, assay.open(place, cache=cache) as workspace:
        patch.chdir(place)
        yield workspace


def list_steps(run: str, centile: float) -> dict[int, float | None]:
    """Return a percentile of each step, by its first second."""
    return {
        START + EVERY * first: compute_centile(add_increases(RUNS[run], LABELS, first, first + STEP), centile)
        for first in range(0, SCRAPES, STEP)
    }


def read_steps(workspace: assay.Workspace, metric: str, run: str) -> dict[int, float]:
    samples = workspace.samples(metric, [f"runs/{run}"])
    return {at // 10**9: value for at, value in samples.project("epoch_ns(t_ns), value").fetchall()}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("metric", "centile"), [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)])
def test_percentiles_of_steps_are_those_of_plain_python(
    workspace: assay.Workspace, run: str, metric: str, centile: float
) -> None:
    assert read_steps(workspace, f"{NAME}_{metric}", run) == pytest.approx(list_steps(run, centile), rel=1e-12)


def test_percentiles_of_a_run_and_of_instances_are_those_of_plain_python(workspace: assay.Workspace) -> None:
    whole, each = workspace.query(["whole", "each"], ["runs/base"])
    assert whole["average"] == pytest.approx(
        compute_centile(add_increases(RUNS["base"], LABELS, 0, SCRAPES), 0.95), rel=1e-12
    )
    instances = {instance for instance, _ in LABELS}
    expected = {
        name: compute_centile(
            add_increases(RUNS["base"], [line for line in LABELS if line[0] == name], 0, SCRAPES), 0.95
        )
        for name in instances
    }
    samples = workspace.samples("each", ["runs/base"]).project("instance, value").fetchall()
    assert dict(samples) == pytest.approx(expected, rel=1e-12)
    assert each["average"] == pytest.approx(sum(value or 0 for value in expected.values()) / 2, rel=1e-12)


@pytest.mark.skipif(bool(MISSING), reason=SKIP_REASON)
def test_percentiles_are_those_of_a_server(workspace: assay.Workspace, tmp_path: Path) -> None:
    base = create_database(tmp_path, list_series(NAME, RUNS["base"]))
    end = START + EVERY * SCRAPES
    with serve_database(base, tmp_path / "server") as url:
        steps = {
            at: query(url, f"histogram_quantile(0.95, sum by (le) (increase({NAME}_bucket[1m])))", at)
            for at in range(START + EVERY * STEP, end + 1, EVERY * STEP)
        }
        whole = query(url, f"histogram_quantile(0.95, sum by (le) (increase({NAME}_bucket[20m])))", end)
    result = read_steps(workspace, f"{NAME}_p95", "base")
    assert {at + EVERY * STEP: value for at, value in result.items()} == pytest.approx(steps, rel=1e-9)
    (row,) = workspace.query(["whole"], ["runs/base"])
    assert row["average"] == pytest.approx(whole, rel=1e-9)


def query(url: str, expression: str, at: int) -> float:
    """Return the answer of a server to an expression at an instant."""
    text = urllib.parse.urlencode({"query": expression, "time": at})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{url}/api/v1/query?{text}", timeout=30) as answer:
        (series,) = json.load(answer)["data"]["result"]
    return float(series["value"][1])


def test_percentiles_are_judged_unless_they_lie_above_the_bounds(place: Path, cache: Path) -> None:
    metric = f"{NAME}_p99"
    runs = [f"{name}=runs/{name}" for name in RUNS]
    result = run_assay("--cache", cache, "compare", *runs, "--metric", metric, "--format", "json", cwd=place)
    assert result.status == 0, result.err
    verdicts = {item["run"]: item["verdict"] for item in result.parse_json()["changes"]}
    assert verdicts["slow"] == "worse"
    assert verdicts["same"] in ("same", "cannot tell")
    assert verdicts["beyond"] == "no interval"
    above = sum(1 for value in list_steps("beyond", 0.99).values() if value == 2.5)
    assert above
    assert f"{above} of {SCRAPES // STEP} percentiles lie above the greatest bound of the histogram" in result.err


def test_histogram_of_a_file_of_which_only_the_beginning_is_read_is_proposed(tmp_path: Path, cache: Path) -> None:
    series = [
        {"metric": item["metric"] | {"instance": f"{copy}{item['metric']['instance']}"}, "values": item["values"]}
        for copy in range(10)
        for item in list_series(NAME, RUNS["base"])
    ]
    log = tmp_path / "samples.om"
    log.write_text(format_openmetrics(series), encoding="utf-8")
    result = run_assay("--cache", cache, "init", tmp_path / "place", "--from", log)
    assert result.status == 0, result.err
    assert "in the first lines of samples.om" in result.out
    assert f"  metrics {NAME}_p50, {NAME}_p95, {NAME}_p99\n" in result.out
    (run,) = (tmp_path / "place" / "runs").iterdir()
    queried = run_assay(
        "--cache", cache, "query", f"{NAME}_p95", "--run", run, "--format", "json", cwd=tmp_path / "place"
    )
    (row,) = queried.parse_json()
    values = [value or 0 for value in list_steps("base", 0.95).values()]
    assert row["average"] == pytest.approx(sum(values) / len(values), rel=1e-9)
