"""Test figures and averages of series: start of time, time range, values that are no number."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from assay.report.charts import vega_spec
from tests.compare_reference import load_json
from tests.support.cometbft import assemble_document
from tests.support.laboratory import ROOT
from tests.support.loads import Experiment, add_samples, create_load_run

MEMORY, SIZE, HEIGHT = "process_resident_memory_bytes", "cometbft_mempool_size", "cometbft_consensus_height"

COLOURS = "More lines than colours (8), so that some share one: figures 2, 4."
#: layers of a stack have no grey
SHARED = "More lines than colours (8), so that some share one: figure 2."
UNNAMED = "Too many lines for a printed legend: figure 2."
GREY = (
    "More than 12 lines, so that only those with the greatest and the least value have colours and names, and the "
    "others are grey: figure 4."
)


def find_part(document: dict[str, Any], title: str) -> Any:
    return next(item for item in document["parts"] if item["title"] == title)


def read_points(document: dict[str, Any], identifier: str) -> list[tuple[str, float, float | None]]:
    plots = [plot for item in document["parts"] for plot in item["plots"] if plot]
    figure = next(plot for plot in plots if plot["id"] == identifier)
    return [tuple(row) for row in figure["rows"] if row[0] is not None]


def test_figures_of_all_windows_have_one_start(tmp_path: Path, cache: Path) -> None:
    """Time starts when the first transaction is sent (6 s), not at the first sample."""
    run = create_load_run(tmp_path / "run", Experiment("e", 5), Experiment("f", 290))
    early_samples = [(time, "5000" if time == 250 else "7") for time in range(0, 300, 5)]
    late_samples = [(time, "99" if time >= 250 else "10") for time in range(200, 300, 5)]
    document = assemble_document(cache, add_samples(run, {SIZE: {"v": early_samples}, HEIGHT: {"v": late_samples}}))
    spike = next(x for _, x, y in read_points(document, "series-run-mempool_size") if y == 5000)
    jump = next(x for _, x, y in read_points(document, "series-run-heights") if y == 99)
    assert (spike, jump) == (250 - 6, 250 - 6)
    parts = find_part(document, "All experiments")["plots"]
    plots = [plot for plot in parts if plot and plot["id"].startswith("series-")]
    ends = {plot["id"]: [row[1] for row in plot["rows"] if row[0] is None] for plot in plots}
    assert set(map(tuple, ends.values())) == {(0.0, 292 - 6.0)}


def create_run(tmp_path: Path) -> Path:
    """Create nodes of 100 and of 300 bytes, the second without a number half of the time, and a third after the
    experiment.
    """
    run = create_load_run(tmp_path / "run", Experiment("e", 28, latency=30 * 10**9))  # sent at 0 s, in a block at 30 s
    values = {
        "v": [(time, "100") for time in range(60)],
        "w": [(time, "NaN" if time % 2 else "300") for time in range(60)],
        "x": [(time, "9000") for time in range(40, 60)],
    }
    return add_samples(run, {MEMORY: values})


def list_averages(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tables of averages in a part."""
    return [table for table in part["tables"] if table["title"].startswith("Average")]


def test_mean_over_lines_covers_those_with_a_value(tmp_path: Path, cache: Path) -> None:
    document = assemble_document(cache, create_run(tmp_path))
    mean = [y for _, _, y in read_points(document, "series-run-chosen-memory-mean") if y is not None]
    assert mean == [100.0 if time % 2 else 200.0 for time in range(31)]
    (table,) = list_averages(find_part(document, "Metrics of the nodes"))
    assert float(table["rows"][0][3]) == pytest.approx(math.fsum(mean) / len(mean), rel=5e-3)


def test_averages_of_a_choice_cover_its_time(tmp_path: Path, cache: Path) -> None:
    (table,) = list_averages(find_part(assemble_document(cache, create_run(tmp_path)), "Metrics of the nodes"))
    assert [row[2] for row in table["rows"]] == ["2", "2"]  # the third node joined after it


def test_averages_of_an_absent_choice_are_left_out(tmp_path: Path, cache: Path) -> None:
    run = create_load_run(tmp_path / "run", Experiment("e", count=10))
    document = find_part(
        assemble_document(cache, add_samples(run, {MEMORY: {"v": [(time, "1") for time in range(9)]}})),
        "Metrics of the nodes",
    )
    assert list_averages(document) == []
    assert document["text"][-1] == "run has no experiment without a fault that is not saturated."


def test_results_have_the_units_of_measurement(qa: Path) -> None:
    """Tables show the value times its factor."""
    results = load_json(qa / "results.json")
    assert results["units"].keys() == results["rows"]["run"].keys()
    name = next(name for name in results["rows"]["run"] if name.endswith(" valid_txs expected_txs throughput"))
    units = results["units"][name]
    assert units == {
        "number": {"unit": "", "factor": "1"},
        "connections": {"unit": "connections", "factor": "1"},
        "rate": {"unit": "tx/s", "factor": "1"},
        "valid_txs": {"unit": "tx", "factor": "1"},
        "expected_txs": {"unit": "tx", "factor": "1"},
        "throughput": {"unit": "tx/s", "factor": "1000000000"},
    }
    row = next(row for row in results["rows"]["run"][name] if row["number"] == 1)
    assert row["throughput"] * float(Fraction(units["throughput"]["factor"])) == pytest.approx(50.65, abs=0.1)
    assert results["units"]["rows memory"] == {
        "t_ns": {"unit": "ns", "factor": "1"},
        "value": {"unit": "Bytes", "factor": "1"},
    }
    assert results["units"]["span windows"]["from_ns"] == {"unit": "ns", "factor": "1"}
    latencies = next(name for name in results["units"] if name.endswith(" latency_stddev negative_latencies"))
    assert results["units"][latencies]["latency_avg"] == {"unit": "s", "factor": "1/1000000000"}


@pytest.mark.parametrize(
    ("count", "expected_names"),
    [(8, []), (9, [COLOURS]), (12, [COLOURS]), (13, [SHARED, GREY]), (40, [UNNAMED, SHARED, GREY])],
)
def test_indistinguishable_timeline_lines_are_reported(
    tmp_path: Path, cache: Path, count: int, expected_names: list[str]
) -> None:
    """There are eight colours. The mean has a colour of its own and is not reported."""
    run = create_load_run(tmp_path / "run", Experiment("e"))
    nodes = {f"n{number}": [(time, "1") for time in range(30)] for number in range(count)}
    texts = find_part(assemble_document(cache, add_samples(run, {MEMORY: nodes, SIZE: nodes})), "Metrics of the nodes")[
        "text"
    ]
    assert [line for line in texts if "lines" in line and "figure" in line] == expected_names


def test_number_of_colours_is_the_documented_one() -> None:
    for place in sorted((ROOT / "templates" / "charts").glob("timeline*.vl.json")):
        template = json.loads(place.read_text(encoding="utf-8"))
        strokes = template["usermeta"]["assay"].get("strokes")
        area_colours = template["layer"][0]["encoding"]["color"]["scale"]["range"]
        assert len(strokes["lines"]["colours"] if strokes else area_colours) == vega_spec.COLOURS
