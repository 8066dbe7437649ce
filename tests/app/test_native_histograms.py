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


def list_steps(values: native.Values, centile: float) -> dict[int, float]:
    """Return a percentile of each step over all instances, by its first second: at the scale of the merged buckets."""
    steps = {}
    for first in range(0, native.SCRAPES, STEP):
        counts: Counter[tuple[int, int]] = Counter()
        for rows in values.values():
            counts += native.list_counts(rows[first : first + STEP], native.COARSE)
        steps[native.START + native.EVERY * first] = native.compute_centile(counts, native.COARSE, centile)
    return steps


@pytest.mark.parametrize(("run", "metric", "centile"), CASES)
def test_percentiles_of_native_histograms_are_those_of_python(
    workspace: assay.Workspace, run: str, metric: str, centile: float
) -> None:
    samples = workspace.samples(f"{NAME}_{metric}", [f"runs/{run}"])
    steps = {at // 10**9: value for at, value in samples.project("epoch_ns(t_ns), value").fetchall()}
    assert steps == pytest.approx(list_steps(VALUES[run.partition("-")[0]], centile), rel=1e-12)
