"""The average of a series: over time of what its lines come to, each step alike."""

from __future__ import annotations

import math

import pytest

from assay.report.averages import average

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
