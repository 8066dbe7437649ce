"""Test that the compiler agrees with the incumbent analyser, number by number, on every reference case.

Each case is computed once, as a build computes it, and compared with the incumbent's results: every metric with its
centiles and hosts, every point of every chart, every block of the chain with its verdicts, the manifest, the tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.lang.formula import is_formula
from tests.compare_reference import CARDANO, compute_averages, load_host_metrics, load_json
from tests.oracle import Analysis, reference
from tests.support.analysis import OWN_GRAINS, build_analysis, list_own_metrics
from tests.support.cases import CASES, Case, format_options
from tests.support.commands import MODEL, build
from tests.support.differences import assert_no_differences
from tests.support.documents import list_charts, list_sections
from tests.support.laboratory import ExaminedRun, Laboratory


@dataclass(frozen=True, slots=True)
class ComputedCase:
    """A case with the compiler's results."""

    case: Case
    examined: ExaminedRun
    analysis: Analysis


@pytest.fixture(scope="module", params=CASES, ids=str)
def worked_case(request: pytest.FixtureRequest, lab: Laboratory) -> Iterator[ComputedCase]:
    """Compute each case in turn."""
    case: Case = request.param
    examined = lab.examine(case.run, format_options(case.conditions))
    with examined.connection:
        yield ComputedCase(case, examined, build_analysis(examined, case.conditions))


@pytest.mark.parametrize(
    "differences",
    [
        reference.compare_propagation,
        reference.compare_machines,
        reference.compare_charts,
        reference.compare_chain,
        reference.compare_tables,
    ],
)
def test_results_equal_the_incumbent(
    worked_case: ComputedCase, differences: Callable[[Analysis, Path], list[str]]
) -> None:
    assert_no_differences(differences(worked_case.analysis, worked_case.case.results))


def test_manifest_equals_the_incumbent(worked_case: ComputedCase) -> None:
    cells = {label: cell for label, cell in worked_case.examined.manifest_cells.items() if label != "Analysis date"}
    assert_no_differences(reference.compare_manifest(worked_case.analysis, worked_case.case.results, cells))


def test_results_name_the_compared_runs(worked_case: ComputedCase) -> None:
    """results.json has exactly the numbers that the tests above compare."""
    metrics = worked_case.examined.build_results_json()["metrics"]
    own_ids = list_own_metrics(worked_case.examined)
    assert sorted(metrics.keys() - own_ids) == sorted(worked_case.analysis.metrics)
    for name, metric in worked_case.analysis.metrics.items():
        figures = metrics[name]["runs"]["run"]
        if not figures["size"]:
            assert {*figures["averages"].values(), figures["average"], *figures["centiles"]} == {None}
            assert metric.average_published == metric.average_hosts == 0
            continue
        assert figures["centiles"] == [
            [c.share, *(float(x) for x in (c.value, c.low, c.high) if x is not None)] for c in metric.centiles
        ]
        assert figures["averages"] == {
            "published": metric.average_published,
            "mean-of-hosts": metric.average_hosts,
        }
        assert figures["average"] == metric.average_published
        numbers = (metric.size, float(metric.median), metric.stddev, float(metric.min), float(metric.max))
        assert (figures["size"], figures["median"], figures["stddev"], figures["min"], figures["max"]) == numbers


def test_published_average_takes_the_29_lowest_hosts(worked_case: ComputedCase) -> None:
    for name, average in compute_averages(worked_case.case.key).items():
        assert math.isclose(worked_case.analysis.metrics[name].average_published, average, rel_tol=1e-9, abs_tol=1e-12)


def test_summaries_of_many_hosts_differ_as_published(lab: Laboratory) -> None:
    case = next(case for case in CASES if case.name == "many-hosts")
    examined = lab.examine(case.run, format_options(case.conditions))
    with examined.connection:
        cpu = examined.results.metrics["CentiCpu"]
        assert len(examined.prepared.logs) == 34
    theirs = load_host_metrics(case.key)["CentiCpu"]["cdfAverage"]
    assert math.isclose(cpu.averages["mean-of-hosts"], theirs["cdfAverage"], rel_tol=1e-12)
    assert cpu.averages["published"] < cpu.averages["mean-of-hosts"]
    row = load_json(case.results / "tables-org.json")["clusterperf.report"][2]
    assert row[:2] == ["Process CPU usage, %", f"{cpu.averages['published']:.9f}"[:6]]


def test_no_metric_is_missing_or_added(lab: Laboratory) -> None:
    """`kind` among the incumbent's resource metrics is a type name, not a metric."""
    first = CASES[0].results
    blocks, machines = load_json(first / "blockprop.json.gz"), load_json(first / "clusterperf.json.gz")
    documents = (blocks, blocks["bpPropagation"], machines, machines["mpResourceCDFs"])
    theirs = {
        name for item in documents for name, value in item.items() if isinstance(value, dict) and "cdfSize" in value
    }
    metrics = lab.package.package.metrics
    assert {metric.id for metric in metrics if metric.grain not in OWN_GRAINS and not is_formula(metric)} == theirs
    assert "kind" in machines["mpResourceCDFs"]


def test_segmented_names_equal_dotted_ones(lab: Laboratory) -> None:
    analyses = []
    for name in ("plain", "ns-segments"):
        with (examined := lab.examine(CARDANO / "tiny" / name / "run")).connection:
            analyses.append(build_analysis(examined, []))
    plain, segments = analyses
    assert segments.metrics == plain.metrics
    assert segments.chain == plain.chain


def test_broken_line_is_quarantined_and_run_is_analysed(lab: Laboratory) -> None:
    with (examined := lab.examine(CARDANO / "tiny" / "refused-miss" / "run")).connection:
        analysis = build_analysis(examined, [])
    assert [(host.host, host.quarantined) for host in analysis.hosts] == [("node-10", 0), ("node-2", 1), ("node-3", 0)]
    assert analysis.manifest["Total log objects analysed"] == 271


TITLES = ("Resource Usage", "Anomaly control", "Forging", "Individual peer propagation", "End-to-end propagation")


RUNS = {"two": ("baseline", "candidate"), "three": ("baseline", "candidate", "candidate2")}
COUNT = "units"  # the incumbent's unit of counts, which are bare here
JUDGED = ("95 %", "Verdict")  # the columns that the incumbent's tables do not have


@pytest.fixture(scope="module", params=RUNS)
def reports(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cache: Path
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return our document in the incumbent's number style, and its report, of two and of three runs without names."""
    name: str = request.param
    runs, folder = [str(CARDANO / run / "run") for run in RUNS[name]], tmp_path_factory.mktemp(name) / "report"
    result = build(runs, folder, cache, *MODEL, "--style=typst-2026", "--to=md")
    assert (result.status, result.err) == (0, "")
    return load_json(folder / "document.json"), load_json(CARDANO / "reports" / f"{name}.json")


def test_manifest_equals_the_reference(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = reports
    assert {key: ours["manifest"][key] for key in theirs["manifest"]} == theirs["manifest"]
    assert len(ours["manifest"]["rows"]) == 45


@pytest.mark.parametrize("index", range(len(TITLES)), ids=TITLES)
def test_table_equals_the_reference(reports: tuple[dict[str, Any], dict[str, Any]], index: int) -> None:
    ours, theirs = reports
    section = list_sections(ours)[index]
    places = [place for place, label in enumerate(section["header"]) if label not in JUDGED]
    header, *rows = ([row[place] for place in places] for row in (section["header"], *section["rows"]))
    reference_section = theirs["sections"][index]
    reference_rows = [[row[0].removesuffix(f", {COUNT}"), *row[1:]] for row in reference_section["rows"]]
    expected = {**reference_section, "rows": reference_rows}
    assert {"title": section["title"], "header": header, "rows": rows} == expected
    assert section["title"] == TITLES[index]
    others = (len(places) - 2) // 3
    assert len(section["header"]) == len(places) + len(JUDGED) * others


def test_report_has_no_other_table(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = reports
    assert [item["title"] for item in list_sections(ours)] == [item["title"] for item in theirs["sections"]]


def test_plots_have_same_metrics_in_same_order(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = reports
    assert [item["id"] for item in list_charts(ours)] == [item["deField"] for item in theirs["charts"]]
    assert [item["title"] for item in list_charts(ours)] == [item["deShortDesc"] for item in theirs["charts"]]


def test_dictionary_has_the_same_metrics(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = reports
    mine = [[(entry["id"], entry["name"], entry["unit"]) for entry in group["entries"]] for group in ours["dictionary"]]
    groups = [theirs["dictionary"][name] for name in ("dBlockProp", "dClusterPerf")]
    expected = [
        [
            (name, entry["deShortDesc"], "" if entry["deUnit"] == COUNT else entry["deUnit"])
            for name, entry in group.items()
        ]
        for group in groups
    ]
    assert [sorted(group) for group in mine[:-1]] == [sorted(group) for group in expected]
    assert [len(group) for group in mine] == [32, 23, 2]
    assert [name for name, _, _ in mine[-1]] == ["blockMissingSteps", "blockNegativeSteps"]
