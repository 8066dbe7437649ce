"""Test `assay test`: passing, failing and malformed examples, and coverage."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from assay.lang.workspace import Workspace
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import copy_workspace, edit_file, write_rows_of_requests

SYSTEMS = Workspace(ROOT).list_systems()
EXAMPLES = "specs/cometbft/examples.dhall"
#: alternatives of expressions that no valid run reaches
OUT_OF_REACH = {("metric cdfForgerAdoption", 2)}


@pytest.mark.parametrize("system", SYSTEMS)
def test_shipped_examples_pass_and_cover_every_metric(system: str, cache: Path) -> None:
    """Examples cover each metric, each event that metrics read, and each alternative."""
    result = run_assay("--cache", cache, "test", "--system", system, "--format", "json")
    assert (result.status, result.err) == (0, "")
    (suite,) = result.parse_json()
    assert [item["example"] for item in suite["examples"] if not item["holds"]] == []
    assert suite["coverage"]["metrics"] == []
    assert suite["coverage"]["events"] == []
    assert {(item["of"], item["number"]) for item in suite["coverage"]["alternatives"]} <= OUT_OF_REACH


@pytest.fixture
def own_workspace(tmp_path: Path) -> Path:
    """Create a workspace with CometBFT alone, for tests that break its examples."""
    place = copy_workspace(tmp_path / "workspace")
    for name in SYSTEMS:
        if name != "cometbft":
            shutil.rmtree(place / "specs" / name)
    return place


def break_example(own_workspace: Path, cache: Path, before: str, after: str, *arguments: str | Path) -> CommandResult:
    edit_file(own_workspace / EXAMPLES, before, after)
    return run_assay("--cache", cache, "test", *arguments, cwd=own_workspace)


def test_samples_that_depend_on_row_order_are_reported(tmp_path: Path, cache: Path) -> None:
    """Two requests come in at one instant and the SQL orders by time alone."""
    assert run_assay("--cache", cache, "init", "own", cwd=tmp_path).status == 0
    place = tmp_path / "own"
    lines = (
        {"time": f"2026-01-01T00:00:01.00{ms}Z", "event": event, "data": {"request": "r2"}}
        for ms, event in ((0, "request.received"), (9, "work.started"))
    )
    first = '[ line "01.000" "request.received" ""'
    edit_file(
        place / "specs/service/examples.dhall",
        first,
        "\n, ".join((first, *(json.dumps(json.dumps(line)) for line in lines))),
    )
    joined = """\
SELECT firsts.host, requests.request
FROM (SELECT host, min(t_ns) AS t_ns FROM request_received GROUP BY host) AS firsts
ASOF JOIN ({requests}) AS requests ON requests.host = firsts.host AND requests.t_ns <= firsts.t_ns
"""
    ordered_by_time, ordered_by_place = (
        joined.format(requests=f"SELECT host, t_ns, {request} FROM request_received GROUP BY {group}")
        for request, group in (("request", "ALL"), ("arg_min(request, seq) AS request", "host, t_ns"))
    )
    write_rows_of_requests(place, ordered_by_place)
    result = run_assay("--cache", cache, "test", cwd=place)
    assert (result.status, "all examples pass" in result.out) == (0, True), result.out
    write_rows_of_requests(place, ordered_by_time)
    result = run_assay("--cache", cache, "test", cwd=place)
    assert result.status == 3
    assert (
        "error[row-order]: example `one request`: samples of `wait` depend on the order of table rows, which is "
        "undefined" in result.out + result.err
    )
    assert "4; in the opposite order 9" in result.out + result.err


def test_failing_example_reports_expected_and_actual(own_workspace: Path, cache: Path, tmp_path: Path) -> None:
    """The text and the JUnit report name metric, unit, both values and the place of the example."""
    junit = tmp_path / "examples.xml"
    result = break_example(
        own_workspace, cache, 'm.average [ "-0.5", "2.5" ]', 'm.average [ "-0.5", "2.6" ]', "--junit", junit
    )
    assert result.status == 3
    assert result.out.splitlines()[1:5] == [
        "  FAILED an experiment of three transactions, and one of a single transaction "
        "at specs/cometbft/examples.dhall:21:16",
        "    latency_avg, s",
        "      expected: -0.5, 2.6",
        "      found:    -0.5, 2.5",
    ]
    suite = ElementTree.parse(junit).getroot()[0]
    assert {key: suite.get(key) for key in ("name", "failures", "errors")} == {
        "name": "cometbft", "failures": "1", "errors": "0",
    }  # fmt: skip
    (case,) = [item for item in suite if item.find("failure") is not None]
    assert case.get("name") == "latency_avg"
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "expected -0.5, 2.6; found -0.5, 2.5"


def test_junit_output_is_valid_xml_for_any_example_name(own_workspace: Path, cache: Path, tmp_path: Path) -> None:
    """XML cannot contain control characters, so they are escaped."""
    junit = tmp_path / "examples.xml"
    result = break_example(
        own_workspace, cache, "an experiment of three", "an\\u001b experiment of three", "--junit", junit
    )
    assert result.status == 0
    suite = ElementTree.parse(junit).getroot()[0]
    class_names = {case.get("classname") for case in suite}
    assert "cometbft.an\\x1b experiment of three transactions, and one of a single transaction" in class_names


def test_metrics_and_events_without_example_are_listed(own_workspace: Path, cache: Path) -> None:
    """Missing coverage is no failure."""
    result = break_example(own_workspace, cache, '        , of m.negative [ "0", "1" ]\n', "")
    assert result.status == 0
    assert result.out.splitlines()[1:3] == ["  metrics without an example:", "    negative_latencies"]


def test_example_with_broken_line_is_an_error(own_workspace: Path, cache: Path) -> None:
    """A quarantined line is a mistake in the example."""
    result = break_example(own_workspace, cache, '"1767225604000000000" "2500000000" "A2"', '"soon" "2500000000" "A2"')
    assert result.status == 3
    (line,) = (line for line in result.out.splitlines() if "error[example]" in line)
    assert line.endswith("has malformed records: 1")


def test_example_with_unreadable_run_is_an_error(own_workspace: Path, cache: Path) -> None:
    """The message is that of a run named on the command line."""
    result = break_example(own_workspace, cache, '"report/raw.csv"', '"other/raw.csv"')
    assert result.status == 3
    assert "FAILED an experiment of three transactions" in result.out
    assert "error[" in result.out


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            'm.least [ "-0.5", "1" ]',
            'm.least [ "1", "-0.5" ]',
            "error[example]: the samples of `latency_min` in example `an experiment of three transactions, and one of "
            "a single transaction` are not ascending",
        ),
        (
            'm.least [ "-0.5", "1" ]',
            'm.least [ "-0.5", "one" ]',
            "error[example]: a sample of `latency_min` in example `an experiment of three transactions, and one of a "
            "single transaction` is not a number",
        ),
        (
            '"report/raw.csv"',
            '"../raw.csv"',
            "error[example-file]: file `../raw.csv` of example `an experiment of three transactions, and one of a "
            "single transaction` is outside the run directory",
        ),
        (
            "of m.latency [",
            "of m.least [",
            "error[example]: example `an experiment of three transactions, and one of a single transaction` "
            "expects `latency_min` 2 times",
        ),
    ],
)
def test_malformed_examples_are_spec_errors(
    own_workspace: Path, cache: Path, before: str, after: str, message: str
) -> None:
    """The checker reports them with their place."""
    result = break_example(own_workspace, cache, before, after)
    assert (result.status, result.out) == (1, "")
    lines = result.err.splitlines()
    assert lines[:2] == [message, "  at specs/cometbft/examples.dhall:21:16"]


def test_misspelt_metric_is_a_type_error(own_workspace: Path, cache: Path) -> None:
    """Examples refer to metrics as values."""
    result = break_example(own_workspace, cache, "of m.latency [", "of m.latncy [")
    assert result.status == 1
    assert "latncy" in result.err
    assert "examples.dhall" in result.err
