"""Which segment explains the change of a metric: numbers of samples and averages in, the id of a segment out."""

from __future__ import annotations

import pytest

from assay.report.first_page.explaining_segment import SegmentChange, create_segment_change, find_explaining_segment

WHOLE = SegmentChange("time", 100.0, 110.0, 100)


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ([("write", 100.0, 120.0, 50), ("read", 100.0, 100.0, 50)], "write"),
        ([("write", 100.0, 111.0, 90), ("read", 100.0, 101.0, 10)], "write"),
        ([("write", 100.0, 110.0, 90), ("read", 100.0, 110.0, 10)], ""),
        ([("write", 100.0, 110.0, 50), ("read", 100.0, 110.0, 50)], ""),
        ([("write", 100.0, 200.0, 4), ("read", 100.0, 106.0, 96)], ""),
        ([("write", 100.0, 110.0, 100)], ""),
        ([], ""),
    ],
    ids=["half of samples", "most samples", "uniform", "halves", "few samples", "all samples", "none"],
)
def test_segment_with_most_of_the_change_explains_it(
    segments: list[tuple[str, float, float, int]], expected: str
) -> None:
    assert find_explaining_segment(WHOLE, [SegmentChange(*item) for item in segments]) == expected


def test_decrease_is_explained_as_an_increase_is() -> None:
    whole = SegmentChange("time", 110.0, 100.0, 100)
    assert find_explaining_segment(whole, [SegmentChange("write", 120.0, 100.0, 50)]) == "write"


def test_formula_and_metric_without_average_explain_nothing() -> None:
    assert create_segment_change("ratio", (1.0, 2.0), None) is None
    assert create_segment_change("time", (None, 2.0), (0, 3)) is None
    assert find_explaining_segment(None, []) == ""
