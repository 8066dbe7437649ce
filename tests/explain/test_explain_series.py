"""Test explanations of metrics over series, down to the samples that a series reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.app.audit.explain import describe_subject
from assay.app.audit.lineage import find_lineage
from assay.app.compute.subject import find_subject
from assay.app.session.selection import Selection
from assay.explain.wording import describe_series
from assay.plan.planner import SeriesStep
from tests.support.commands import run_assay
from tests.support.laboratory import Laboratory

RATE = (
    "the increase per second of the counter over the run's rate_window, where samples cover these, of `cpu_seconds` "
    "where `mode` = “idle”, read at steps of the run's step of each of `sampled_time`; a line for each `job`, "
    "`instance`, `cpu`"
)
USAGE = (
    "1.0 − `idle`, wherever all of these have a value: `idle` is the mean of the lines of `cpu_idle`; a line for each "
    "`job`, `instance`; in %"
)


def explain_by_name(name: str, cache: Path) -> tuple[str, dict[str, Any]]:
    """Return the screen of a metric or series as one line of text, and the same as data."""
    command = ("explain", name, "--system", "antelope", "--cache", cache)
    result, data = run_assay(*command), run_assay(*command, "--format", "json")
    assert (result.status, data.status) == (0, 0), result.err
    return " ".join(result.out.split()), data.parse_json()


def test_metric_over_a_series_lists_its_series(cache: Path) -> None:
    _, data = explain_by_name("cpu_usage", cache)
    assert data["series"] == [
        {"name": "cpu_usage_series", "sentence": USAGE}, {"name": "cpu_idle", "sentence": RATE},
    ]  # fmt: skip
    assert data["over"] == []


def test_formula_lists_its_metrics_and_their_series(cache: Path) -> None:
    _, data = explain_by_name("disk_writes_per_year", cache)
    _, rate = explain_by_name("disk_write_rate", cache)
    assert data["over"] == [{"name": "disk_write_rate", "sentence": rate["sentence"]}]
    assert rate["sentence"].startswith("`value`, in kB/s; one sample for each row of `disk_point`")
    assert data["series"] == rate["series"]
    (series,) = data["series"]
    assert series["sentence"].startswith("the increase per second of the counter over the run's rate_window")


def test_series_lists_its_terms_and_not_itself(cache: Path) -> None:
    _, data = explain_by_name("cpu_usage_series", cache)
    assert data["series"] == [{"name": "cpu_idle", "sentence": RATE}]
    _, idle_data = explain_by_name("cpu_idle", cache)
    assert (idle_data["series"], idle_data["sentence"]) == ([], RATE)


@pytest.mark.parametrize("name", ["cpu_usage", "cpu_usage_series", "disk_write_rate", "memory_used"])
def test_events_of_the_time_of_a_series_give_no_value(name: str, cache: Path) -> None:
    expected_events = {
        "cpu_usage": {"cpu_seconds"},
        "cpu_usage_series": {"cpu_seconds"},
        "disk_write_rate": {"written"},
    }
    text, data = explain_by_name(name, cache)
    values = {item["name"] for item in data["events"] if item["role"] == "value"}
    assert values == expected_events.get(name, {"memory_total", "memory_available"})
    (other_events_text,) = [part.partition(" Shown in ")[0] for part in text.split(" Also read ")[1:]]
    assert "head_block" in other_events_text
    other_events = other_events_text.partition(":")[0].split(", ")
    assert not values & set(other_events)


def test_every_series_that_a_metric_reads_is_explained(lab: Laboratory) -> None:
    for system in ("antelope", "cometbft"):
        checked = lab.session.load_package(system)
        for metric in checked.package.metrics:
            traced_metric = find_lineage(lab.session, metric.id, Selection(system=system))
            built_plan = [item.step for item in traced_metric.column_lineage.statements.values()]
            steps = {step.name for step in built_plan if isinstance(step, SeriesStep)}
            direct = {
                item.table for item, role in traced_metric.column_lineage.roles.items() if role in ("value", "picks")
            } & steps
            subject = find_subject(lab.session, metric.id, system)
            result, _ = describe_subject(subject, None, (), subject.compile(()))
            assert {item.name for item in result.facts.series} == direct, metric.id
            series_by_name = {series.name: series for series in checked.package.series}
            assert all(item.sentence == describe_series(series_by_name[item.name]) for item in result.facts.series)
