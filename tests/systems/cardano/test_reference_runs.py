"""The compiler agrees with the incumbent analyser, number by number, on every reference case.

Each case is worked out once, as a build works it out, and put beside what the incumbent found: every metric with its
centiles and hosts, every point of every chart, every block of the chain with its verdicts, the manifest, the tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.compare_reference import CARDANO, averages, host_metrics, load
from tests.oracle import Analysis, reference
from tests.support.analysis import analysis_of
from tests.support.cases import CASES, Case, as_options
from tests.support.laboratory import Examined, Laboratory


@dataclass(frozen=True, slots=True)
class Worked:
    """A case with what the compiler found of it."""

    case: Case
    examined: Examined
    analysis: Analysis


@pytest.fixture(scope="module", params=CASES, ids=str)
def worked(request: pytest.FixtureRequest, lab: Laboratory) -> Iterator[Worked]:
    """Every case in turn."""
    case: Case = request.param
    examined = lab.examine(case.run, as_options(case.conditions))
    with examined.connection:
        yield Worked(case, examined, analysis_of(examined, case.conditions))


def none_of(found: list[str]) -> None:
    """Fail with the first of the differences."""
    assert not found, "\n".join([f"{len(found)} differences", *found[:20]])


@pytest.mark.parametrize(
    "differences",
    [
        reference.propagation_differences,
        reference.machine_differences,
        reference.chart_differences,
        reference.chain_differences,
        reference.table_differences,
    ],
)
def test_everything_equals_what_the_incumbent_found(
    worked: Worked, differences: Callable[[Analysis, Path], list[str]]
) -> None:
    none_of(differences(worked.analysis, worked.case.results))


def test_the_manifest_equals_that_of_the_incumbent_in_numbers_and_in_texts(worked: Worked) -> None:
    cells = {label: cell for label, cell in worked.examined.manifest_cells.items() if label != "Analysis date"}
    none_of(reference.manifest_differences(worked.analysis, worked.case.results, cells))


def test_results_say_what_was_compared(worked: Worked) -> None:
    """results.json holds, of every metric, the very numbers that the tests above look at."""
    written = worked.examined.results_json()["metrics"]
    assert sorted(written) == sorted(worked.analysis.metrics)
    for name, metric in worked.analysis.metrics.items():
        said = written[name]["runs"]["run"]
        assert said["centiles"] == [
            [c.c, *(float(x) for x in (c.value, c.low, c.high) if x is not None)] for c in metric.centiles
        ]
        assert said["averages"] == {
            "published": metric.average_published,
            "mean-of-hosts": metric.average_hosts,
        }
        assert said["average"] == metric.average_published
        numbers = (metric.size, float(metric.median), metric.stddev, float(metric.min), float(metric.max))
        assert (said["size"], said["median"], said["stddev"], said["min"], said["max"]) == numbers


def test_the_published_average_is_that_of_the_29_lowest_hosts(worked: Worked) -> None:
    for name, average in averages(worked.case.key).items():
        assert math.isclose(worked.analysis.metrics[name].average_published, average, rel_tol=1e-9, abs_tol=1e-12)


def test_with_many_hosts_the_summaries_differ_as_the_published_tables_do(lab: Laboratory) -> None:
    case = next(case for case in CASES if case.name == "many-hosts")
    examined = lab.examine(case.run, as_options(case.conditions))
    with examined.connection:
        cpu = examined.results.metrics["CentiCpu"]
        assert len(examined.prepared.logs) == 34
    theirs = host_metrics(case.key)["CentiCpu"]["cdfAverage"]
    assert math.isclose(cpu.averages["mean-of-hosts"], theirs["cdfAverage"], rel_tol=1e-12)
    assert cpu.averages["published"] < cpu.averages["mean-of-hosts"]
    row = load(case.results / "tables-org.json")["clusterperf.report"][2]
    assert row[:2] == ["Process CPU usage, %", f"{cpu.averages['published']:.9f}"[:6]]


def test_no_metric_is_missing_and_none_is_made_up(lab: Laboratory) -> None:
    """`kind` among the incumbent's resource metrics is the name of their sort, no metric."""
    first = CASES[0].results
    blocks, machines = load(first / "blockprop.json.gz"), load(first / "clusterperf.json.gz")
    documents = (blocks, blocks["bpPropagation"], machines, machines["mpResourceCDFs"])
    theirs = {
        name for item in documents for name, value in item.items() if isinstance(value, dict) and "cdfSize" in value
    }
    assert {metric.id for metric in lab.package.package.metrics} == theirs
    assert "kind" in machines["mpResourceCDFs"]


def test_segments_of_names_read_like_dotted_ones(lab: Laboratory) -> None:
    found = []
    for name in ("plain", "ns-segments"):
        with (examined := lab.examine(CARDANO / "tiny" / name / "run")).connection:
            found.append(analysis_of(examined, []))
    plain, segments = found
    assert segments.metrics == plain.metrics
    assert segments.chain == plain.chain


def test_a_broken_line_is_quarantined_and_the_run_worked_out(lab: Laboratory) -> None:
    with (examined := lab.examine(CARDANO / "tiny" / "refused-miss" / "run")).connection:
        found = analysis_of(examined, [])
    assert [(host.host, host.quarantined) for host in found.hosts] == [("node-10", 0), ("node-2", 1), ("node-3", 0)]
    assert found.manifest["Total log objects analysed"] == 271
