"""The average of a series: over time of what its lines come to, each step alike."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from assay.app.session import Session
from assay.engine.result_cache import Store
from assay.lang.labels import describe_labels
from assay.lang.model.expression import parse
from assay.lang.model.package import Sampled
from assay.lang.workspace import Workspace
from assay.report.blocks.averages import average, within
from tests.support.laboratory import ROOT

SECOND = 10**9


@pytest.mark.parametrize(
    ("points", "due"),
    [
        # (1 + 3) / 2 at the one step, 8 at the other
        ([(0, 1.0), (0, 3.0), (1, 8.0)], 5.0),
        ([(1, 8.0), (0, 3.0), (0, 1.0)], 5.0),
        # what is no number counts neither as a value nor as a step
        ([(0, 1.0), (0, math.nan), (1, math.inf), (2, 4.0)], 2.5),
        ([(step, 0.1) for step in range(10)], 0.1),
        ([(0, math.nan)], None),
        ([], None),
    ],
)
def test_each_step_counts_as_much_whatever_the_number_of_its_lines(
    points: list[tuple[int, float]], due: float | None
) -> None:
    assert average([{"t_ns": at * SECOND, "value": value} for at, value in points]) == due


def test_the_instants_between_which_rows_count_are_among_them() -> None:
    rows = [{"t_ns": at} for at in range(5)]
    assert [row["t_ns"] for row in within(rows, (1, 3))] == [1, 2, 3]
    assert within(rows, None) == rows


def test_labels_of_a_series_that_is_worked_out_are_those_of_what_it_is_of(cache: Path) -> None:
    package = Session(Workspace(ROOT), Store(cache)).package("antelope").package
    series = {item.name: item for item in package.series}
    assert describe_labels(package, series["cpu_usage_series"]) == 'mode = "idle"'
    assert describe_labels(package, series["memory_used_series"]) == "every label"
    free = series["memory_available_bytes"]
    narrow = replace(free, samples=(Sampled(free.samples[0].event, parse('equals(field job, "a")')),))
    changed = replace(package, series=tuple(narrow if item is free else item for item in package.series))
    assert (
        describe_labels(changed, series["memory_used_series"])
        == 'of memory_total_bytes: every label; of memory_available_bytes: job = "a"'
    )
