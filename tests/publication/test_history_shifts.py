"""Level shifts of histories: which runs are points, and what divides and bounds shifts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.publication.history import FORM, Change, Issue
from assay.publication.history_shifts import find_levels, find_repeated_bases, list_parts
from tests.publication.test_history_places import FAST, SLOW, declare, draw_plot, publish, select_marks

Labels = list[list[str]]


def list_labels(issues: Sequence[Issue], *changes: Change) -> Labels:
    """Return the labels of the points of each part."""
    parts = list_parts("m", FAST, issues, changes, find_repeated_bases(issues))
    return [[f"{point.label}: {point.value:g}" for point in part] for part in parts]


def publish_series(*cells: str) -> list[Issue]:
    """Create publications of one run each, a day apart."""
    return [publish(f"2024-01-{day:02}", f"v{day}", m=[cell]) for day, cell in enumerate(cells, start=1)]


FIRST = publish("2024-01-01", "1", "2", m=["10", "20"], n=["1", "2"])
POINTS: dict[str, tuple[list[Issue], Labels]] = {
    "base printed again": (
        [FIRST, publish("2024-02-01", "2", "3", m=["20", "30"], n=["2", "3"])],
        [["1: 10", "2: 20", "3: 30"]],
    ),
    "base printed again by another name": (
        [FIRST, publish("2024-02-01", "2.0", "3", m=["20", "30"], n=["2", "3"])],
        [["1: 10", "2: 20", "3: 30"]],
    ),
    "base printed again with other digits": (
        [FIRST, publish("2024-02-01", "2", "3", m=["20.4", "30"], n=["2", "3"])],
        [["1: 10", "2: 20", "3: 30"]],
    ),
    "base run again": (
        [FIRST, publish("2024-02-01", "2", "3", m=["20", "30"], n=["4", "3"])],
        [["1: 10", "2: 20", "2: 20", "3: 30"]],
    ),
    "only run of a publication": (
        [FIRST, publish("2024-02-01", "2", m=["20"], n=["2"])],
        [["1: 10", "2: 20", "2: 20"]],
    ),
    "base of another workload": (
        [
            publish("2024-01-01", "1", "2", workload=SLOW, m=["10", "20"]),
            publish("2024-02-01", "2", "3", m=["20", "30"]),
        ],
        [["2: 20", "3: 30"]],
    ),
    "further run of equal values": (
        [FIRST, publish("2024-02-01", "3", "4", m=["30", "20"], n=["3", "2"])],
        [["1: 10", "2: 20", "3: 30", "4: 20"]],
    ),
    "no value": ([publish("2024-01-01", "1", "2", "3", m=["10", "—", "nan"])], [["1: 10"]]),
    "no row": ([publish("2024-01-01", "1", "2", n=["1", "2"])], []),
}


@pytest.mark.parametrize("case", POINTS)
def test_points_are_runs_and_repeated_bases(case: str) -> None:
    issues, expected = POINTS[case]
    assert list_labels(issues) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (declare("2024-02-01"), [["1: 10", "2: 20"], ["3: 30", "4: 40"]]),
        (declare("2024-02-01", "4"), [["1: 10", "2: 20", "3: 30"], ["4: 40"]]),
        (declare("2024-02-01", kind=FORM), [["1: 10", "2: 20", "3: 30", "4: 40"]]),
        (declare("2024-02-01", metric="n"), [["1: 10", "2: 20", "3: 30", "4: 40"]]),
    ],
    ids=["before a publication", "before a run", "in form", "of another metric"],
)
def test_breaks_in_meaning_divide_points(change: Change, expected: Labels) -> None:
    issues = [publish("2024-01-01", "1", "2", m=["10", "20"]), publish("2024-02-01", "3", "4", m=["30", "40"])]
    assert list_labels(issues, change) == expected


def list_averages(issues: Sequence[Issue], *changes: Change) -> list[list[float]]:
    levels = find_levels(["m"], issues, changes)
    return [[level.average for level in part] for part in levels["m", FAST]]


def test_break_between_two_levels_is_no_shift() -> None:
    issues = publish_series("10.0", "10.1", "9.9", "10.0", "20.0", "20.1", "19.9", "20.0")
    assert list_averages(issues) == [[pytest.approx(10), pytest.approx(20)]]
    assert list_averages(issues, declare("2024-01-05")) == [[pytest.approx(10)], [pytest.approx(20)]]


def test_change_by_the_last_printed_digit_is_no_shift() -> None:
    assert list_averages(publish_series("3", "3", "3", "4", "4", "4")) == [[3.5]]
    assert list_averages(publish_series("3.0", "3.0", "3.0", "4.0", "4.0", "4.0")) == [[3, 4]]


def test_levels_are_drawn_from_first_to_last_point() -> None:
    issues = publish_series("10.0", "10.1", "9.9", "10.0", "20.0", "20.1", "19.9", "20.0")
    assert select_marks(draw_plot(issues, levels=find_levels(["m"], issues, ())), "level") == [
        {"panel": FAST, "mark": "level", "x": 0.5, "y": pytest.approx(10), "x2": 3.5},
        {"panel": FAST, "mark": "level", "x": 4.5, "y": pytest.approx(20), "x2": 7.5},
    ]
    constant_issues = publish_series("10.0", "10.1", "9.9", "10.0")
    constant_levels = find_levels(["m"], constant_issues, ())
    assert select_marks(draw_plot(constant_issues, levels=constant_levels), "level") == []
