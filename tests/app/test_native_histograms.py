"""Percentiles of native histograms, in the forms of Prometheus and OpenTelemetry, against plain Python."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay
from tests.support import native_histograms as native
from tests.support.commands import run_assay
from tests.support.histograms import list_series, simulate_counts
from tests.support.prometheus import format_openmetrics

NAME = "request_seconds"
STEP = 4  # scrapes
VALUES = {"base": native.simulate_values(1), "slow": native.simulate_values(2, 1.4)}
FORMS = {
    "base-response": native.write_response(NAME, VALUES["base"]),
    "base-dump": native.write_dump(NAME, VALUES["base"]),
    "base-otlp": native.write_otlp(NAME, VALUES["base"], is_delta=False),
    "base-delta": native.write_otlp(NAME, VALUES["base"], is_delta=True),
    "slow-response": native.write_response(NAME, VALUES["slow"]),
}


CENTILES = {"p2": 0.02, "p6": 0.06, "p50": 0.5, "p99": 0.99}
#: few values are below zero: where merged buckets have none of those that are counted alone, the bounds before remain
CASES = [(run, *item) for run in FORMS for item in CENTILES.items() if (run, item[0]) != ("base-delta", "p2")]
METRICS = f"""
let steps = g.{NAME}_histogram

let centile = \\(c : Double) -> S.metric.histogramCentile c steps [ steps.at ]

in  {{ low = S.Metric::(centile 0.02 /\\ {{ id = "{NAME}_p2", name = "Low" }})
    , zeros = S.Metric::(centile 0.06 /\\ {{ id = "{NAME}_p6", name = "Zeros" }})
    , """


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[assay.Workspace]:
    """Return the workspace proposed for classic histograms, whose grain has exponential buckets, with native runs."""
    folder = tmp_path_factory.mktemp("native")
    (folder / "samples.om").write_text(format_openmetrics(list_series(NAME, simulate_counts(1))), encoding="utf-8")
    place = folder / "place"
    result = run_assay("--cache", cache, "init", place, "--from", folder / "samples.om")
    assert result.status == 0, result.err
    grains = place / "specs" / "place" / "grains.dhall"
    text = grains.read_text(encoding="utf-8")
    begin, rest = text.split("G.histogram", 1)
    body, end = rest.split("}", 1)
    grains.write_text(f"{begin}G.exponential (G.histogram{body}}}){end}", encoding="utf-8")
    metrics = place / "specs" / "place" / "metrics.dhall"
    begin, end = metrics.read_text(encoding="utf-8").split("\nin  { ")
    metrics.write_text(f"{begin}{METRICS}{end}", encoding="utf-8")
    (log,) = (path.name for path in (place / "runs" / "samples").rglob("*.om"))
    for run, content in FORMS.items():
        shutil.copytree(place / "runs" / "samples", place / "runs" / run)
        (path,) = (place / "runs" / run).rglob(log)
        path.write_text(content, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, assay.open(place, cache=cache) as workspace:
        patch.chdir(place)
        yield workspace


@pytest.mark.parametrize("form", ["base-response", "base-otlp"])
def test_native_histograms_are_proposed(form: str, tmp_path: Path, cache: Path) -> None:
    (tmp_path / "metrics.json").write_text(FORMS[form], encoding="utf-8")
    place = tmp_path / "place"
    result = run_assay("--cache", cache, "init", place, "--from", tmp_path / "metrics.json")
    assert (result.status, result.err) == (0, "")
    assert f"`{NAME}` is a native histogram: its buckets are the samples of `{NAME}_bucket`\n" in result.out
    assert "G.exponential (" in (place / "specs" / "place" / "grains.dhall").read_text(encoding="utf-8")
    assert run_assay("--cache", cache, "check", cwd=place).status == 0
    query = ("query", f"{NAME}_p95", "--run", "runs/metrics", "--format", "json")
    answer = run_assay("--cache", cache, *query, cwd=place)
    assert answer.status == 0, answer.err
    (row,) = answer.parse_json()
    assert "out of order" not in answer.err
    assert "negative" not in answer.err
    size = native.SCRAPES // row["size"]  # scrapes of a step
    steps = list_steps(VALUES["base"], 0.95, size)
    assert row["average"] == pytest.approx(sum(steps.values()) / len(steps), rel=1e-12)


def list_steps(values: native.Values, centile: float, size: int = STEP) -> dict[int, float]:
    """Return a percentile of each step over all instances, by its first second: at the scale of the merged buckets."""
    steps = {}
    for first in range(0, native.SCRAPES, size):
        counts: Counter[tuple[int, int]] = Counter()
        for rows in values.values():
            counts += native.list_counts(rows[first : first + size], native.COARSE)
        steps[native.START + native.EVERY * first] = native.compute_centile(counts, native.COARSE, centile)
    return steps


@pytest.mark.parametrize(("run", "metric", "centile"), CASES)
def test_percentiles_of_native_histograms_are_those_of_python(
    workspace: assay.Workspace, run: str, metric: str, centile: float
) -> None:
    samples = workspace.samples(f"{NAME}_{metric}", [f"runs/{run}"])
    steps = {at // 10**9: value for at, value in samples.project("epoch_ns(t_ns), value").fetchall()}
    assert steps == pytest.approx(list_steps(VALUES[run.partition("-")[0]], centile), rel=1e-12)
