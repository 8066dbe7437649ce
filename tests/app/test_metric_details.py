"""Details of metrics of the demo: quantiles with intervals, computed again from the reference data, and figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from assay.report.document import Part, Plot
from assay.report.document_json import parse_document
from tests.compare_reference import CARDANO, load_json
from tests.support.commands import build, run_assay

RUNS = {"10.5": "baseline", "10.6": "candidate"}
TICKED, CPU = "cdfForgerTicked", "CentiCpu"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return the folder of the demo's comparison with details of two metrics."""
    folder = tmp_path_factory.mktemp("details") / "build"
    runs = [f"{name}={CARDANO / place / 'run'}" for name, place in RUNS.items()]
    result = build(runs, folder, cache, "--to=md", "--to=html", f"--details={TICKED}", f"--details={CPU}")
    assert result.status == 0, result.err
    return folder


@pytest.fixture(scope="module")
def galleries(built: Path) -> dict[str, Part]:
    """Return the parts with details, by their ids."""
    document = parse_document((built / "document.json").read_text(encoding="utf-8"))
    return {item.id: item for item in document.parts}


def read_ticked(place: str) -> list[float]:
    """Return the durations of the reference chain, in the order of slots."""
    blocks = load_json(CARDANO / place / "expected" / "chain.json.gz")
    return [block["beForge"]["bfTicked"] for block in sorted(blocks, key=lambda block: block["beSlotNo"])]


def estimate_plainly(series: Sequence[float], share: float) -> tuple[float, float, float]:
    """Return a quantile and the ends of its interval; each block is a unit of time of its own."""
    count, ascending = len(series), sorted(series)
    value = ascending[math.floor(count * share)]
    below = [float(item <= value) for item in series]
    mean = sum(below) / count
    for batches in {56: (17, 7), 64: (21, 7)}[count]:
        sums = [0.0] * batches
        for index, item in enumerate(below):
            sums[index * batches // count] += (item - mean) / count
        squares = sum(item**2 for item in sums)
        if sum(one * two for one, two in pairwise(sums)) / squares + 1 / batches < 1 / math.sqrt(batches):
            break
    reach = stats.t.ppf(0.975, batches - 1) * math.sqrt(batches / (batches - 1) * squares)
    ends = (max(0, min(math.floor(count * bound), count - 1)) for bound in (share - reach, share + reach))
    low, high = (ascending[index] for index in ends)
    return value, low, high


def test_quantiles_have_the_intervals_of_a_plain_computation(built: Path) -> None:
    judged = load_json(built / "results.json")["judgement"]["metrics"][TICKED]["10.6"]["quantiles"]
    series = [read_ticked(place) for place in RUNS.values()]
    assert [item["share"] for item in judged] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
    for item in judged:
        values = [sorted(run)[math.floor(len(run) * item["share"])] for run in series]
        assert [item["base"], item["value"]] == pytest.approx(values, abs=1e-9)
        least = min(item["share"], 1 - item["share"])
        if "reason" in item:
            assert min(len(run) * least for run in series) < 10 or least < 0.3  # an end may lie beyond the last sample
            continue
        base, other = (estimate_plainly(run, item["share"]) for run in series)
        down = math.hypot(other[0] - other[1], base[2] - base[0])
        up = math.hypot(other[2] - other[0], base[0] - base[1])
        change = other[0] - base[0]
        assert (item["low"], item["high"]) == pytest.approx((change - down, change + up), abs=1e-9)


def test_greatest_gap_is_said_in_words(galleries: dict[str, Part]) -> None:
    base, other = (read_ticked(place) for place in RUNS.values())
    expected = stats.ks_2samp(base, other)
    at = expected.statistic_location
    shares = [100 * sum(item <= at for item in run) / len(run) for run in (base, other)]
    assert galleries[f"details-{TICKED}"].text[0] == (
        f"The distributions differ most at {1000 * at:.1f} ms: {shares[0]:.0f} % of the samples of 10.5 are at "
        f"most that, and {shares[1]:.0f} % of those of 10.6."
    )


def test_figures_show_shares_shift_gaps_course_and_hosts(galleries: dict[str, Part]) -> None:
    titles = [plot.title for plot in galleries[f"details-{CPU}"].plots if plot]
    assert titles == [
        "Share of samples that are at most so much",
        "Difference of quantiles from 10.5, %",
        "Difference of shares from 10.5",
        "Averages over the run: Process CPU usage, %",
        "Averages of hosts: Process CPU usage, %",
    ]


def list_column(plot: Plot, line: str, name: str) -> list[Any]:
    index = plot.columns.index(name)
    return [row[index] for row in plot.rows if row[0] == line and row[index] is not None]


def test_course_and_hosts_are_averages_of_samples(built: Path, galleries: dict[str, Part]) -> None:
    *_, course, hosts = (plot for plot in galleries[f"details-{CPU}"].plots if plot)
    document = load_json(built / "results.json")["metrics"][CPU]["runs"]["10.5"]
    means = list_column(course, "10.5", "y")
    assert len(means) == 63
    assert sum(means) / 63 == pytest.approx(document["average"], rel=0.01)
    assert list_column(hosts, "10.5", "x") == [f"node-{number}" for number in range(6)]
    of_hosts = list_column(hosts, "10.5", "y")
    assert sum(of_hosts) / 6 == pytest.approx(document["averages"]["mean-of-hosts"], rel=1e-5)
    forged = [plot for plot in galleries[f"details-{TICKED}"].plots if plot][-1]
    assert list_column(forged, "10.6", "y") == pytest.approx(
        [1000 * value for value in read_ticked("candidate")], rel=1e-4
    )


def test_every_metric_with_times_has_details_in_the_page(built: Path) -> None:
    page = (built / "report.html").read_text(encoding="utf-8")
    assert page.count('"columns":["line","x","y","low","high","step","gap"]') > 100
    assert page.count("The distributions differ most at") > 40


def test_charts_of_equal_samples_are_sentences(built: Path) -> None:
    text = (built / "report.md").read_text(encoding="utf-8")
    assert ("Not drawn: at least 99 % of the samples of 10.5 and 10.6 are 0 events, the greatest is 7 events.") in text
    assert "charts/GcsMajor.svg" not in text
    assert not (built / "charts" / "GcsMajor.svg").exists()


def test_details_of_one_run(tmp_path: Path, cache: Path) -> None:
    run = f"10.5={CARDANO / 'baseline' / 'run'}"
    result = build([run], tmp_path / "build", cache, "--to=md", f"--details={TICKED}")
    assert result.status == 0, result.err
    document = parse_document((tmp_path / "build" / "document.json").read_text(encoding="utf-8"))
    details = document.parts[-1]
    assert [part.title for part in document.parts if part.plots] == ["Distributions", details.title]
    assert [plot.title for plot in details.plots if plot] == [
        "Share of samples that are at most so much",
        "Averages over the run: Ledger ticking, ms",
    ]
    assert not details.tables


def test_build_again_has_the_same_details(built: Path, cache: Path) -> None:
    result = run_assay("verify", built, "--cache", cache)
    assert result.status == 0, result.err


def test_trace_leads_from_a_quantile_to_its_sample(built: Path, cache: Path) -> None:
    result = run_assay("trace", built, "Details: Ledger ticking/Quantiles/p60, ms/10.6", "--cache", cache)
    assert result.status == 0, result.err
    expected = sorted(read_ticked("candidate"))[38]
    assert f"At p60 of 64 samples\n1. {expected:.6g} s" in result.out
