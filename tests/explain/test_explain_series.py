"""Metrics over series: explained by what the series are, down to what is read of samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.app.explain import describe
from assay.app.lineage import lineage_of
from assay.app.subject import find_subject
from assay.explain.wording import series_sentence
from assay.plan.planner import SeriesStep
from tests.support.commands import assay
from tests.support.laboratory import Laboratory

RATE = (
    "the increase a second of the counter over the run's rate_window, where samples cover these, of `cpu_seconds` "
    "where `mode` = “idle”, read at steps of the run's step of each of `sampled_time`; a line for each `job`, "
    "`instance`, `cpu`"
)
USAGE = (
    "1.0 − `idle`, wherever all of these have a value: `idle` is the mean of the lines of `cpu_idle`; a line for each "
    "`job`, `instance`; in %"
)


def explained(name: str, cache: Path) -> tuple[str, dict[str, Any]]:
    """The screen of a metric or series as one line of text, and the same as data."""
    words = ("explain", name, "--system", "antelope", "--cache", cache)
    done, data = assay(*words), assay(*words, "--format", "json")
    assert (done.status, data.status) == (0, 0), done.err
    return " ".join(done.out.split()), data.json()


def test_metric_over_a_series_lists_its_series(cache: Path) -> None:
    _, data = explained("cpu_usage", cache)
    assert data["series"] == [
        {"name": "cpu_usage_series", "sentence": USAGE}, {"name": "cpu_idle", "sentence": RATE},
    ]  # fmt: skip
    assert data["over"] == []


def test_formula_lists_its_metrics_and_their_series(cache: Path) -> None:
    _, data = explained("disk_writes_per_year", cache)
    _, rate = explained("disk_write_rate", cache)
    assert data["over"] == [{"name": "disk_write_rate", "sentence": rate["sentence"]}]
    assert rate["sentence"].startswith("`value`, in kB/s; one sample for each row of `disk_point`")
    assert data["series"] == rate["series"]
    (series,) = data["series"]
    assert series["sentence"].startswith("the increase a second of the counter over the run's rate_window")


def test_series_lists_its_terms_and_not_itself(cache: Path) -> None:
    _, data = explained("cpu_usage_series", cache)
    assert data["series"] == [{"name": "cpu_idle", "sentence": RATE}]
    _, alone = explained("cpu_idle", cache)
    assert (alone["series"], alone["sentence"]) == ([], RATE)


@pytest.mark.parametrize("name", ["cpu_usage", "cpu_usage_series", "disk_write_rate", "memory_used"])
def test_events_of_the_time_of_a_series_give_no_value(name: str, cache: Path) -> None:
    due = {"cpu_usage": {"cpu_seconds"}, "cpu_usage_series": {"cpu_seconds"}, "disk_write_rate": {"written"}}
    text, data = explained(name, cache)
    values = {item["name"] for item in data["events"] if item["role"] == "value"}
    assert values == due.get(name, {"memory_total", "memory_available"})
    (others,) = [part.partition(" Shown in ")[0] for part in text.split(" Also read ")[1:]]
    assert "head_block" in others
    named = others.partition(":")[0].split(", ")
    assert not values & set(named)


def test_every_series_that_a_metric_reads_is_told(lab: Laboratory) -> None:
    for system in ("antelope", "cometbft"):
        checked = lab.session.package(system)
        for metric in checked.package.metrics:
            traced = lineage_of(lab.session, metric.id, system)
            built_plan = [item.step for item in traced.found.statements.values()]
            steps = {step.name for step in built_plan if isinstance(step, SeriesStep)}
            direct = {item.table for item, role in traced.found.roles.items() if role in ("value", "picks")} & steps
            subject = find_subject(lab.session, metric.id, system)
            result, _ = describe(subject, None, (), subject.compile(()))
            assert {item.name for item in result.facts.series} == direct, metric.id
            own = {series.name: series for series in checked.package.series}
            assert all(item.sentence == series_sentence(own[item.name]) for item in result.facts.series)
