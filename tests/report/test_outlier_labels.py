"""The names of outliers in a figure never overlap, and none is lost."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from assay.report.group_figures import _list_labels
from assay.report.group_spreads import Group

WIDTH, HEIGHT = 240, 120  # of the figure of a printed report, in pixels
LETTER, LINE = 6.0, 10.0  # of its labels
GAP = 0.09


def create_group(name: str, median: float, side: int) -> Group:
    return Group(name, 10, median, 0.0, median, median, (median,) * 5, side)


def measure_boxes(groups: Sequence[Group], places: Mapping[str, float]) -> list[tuple[float, float, float, float]]:
    """Return left, right, top and bottom of each label; medians are from 0 to 1."""
    boxes = []
    for mark, place, median, *_, text in _list_labels(groups, places, GAP, 1.0):
        assert isinstance(place, float)
        assert isinstance(median, float)
        x, y, size = place / len(places) * WIDTH, median * HEIGHT, min(len(str(text)) * LETTER, 220)
        boxes.append((*((x, x + size) if mark == "name-right" else (x - size, x)), y - LINE / 2, y + LINE / 2))
    return boxes


@pytest.mark.parametrize("seed", range(60))
def test_labels_do_not_overlap(seed: int) -> None:
    numbers = random.Random(seed)
    count = numbers.choice([6, 12, 52, 200])
    length = numbers.choice([1, 6, 12, 30])
    names = [f"{'h' * length}-{index}" for index in range(count)]
    places = {name: float(index) for index, name in enumerate(names, start=1)}
    chosen = numbers.sample(names, numbers.randrange(1, min(count, 20)))
    groups = [
        create_group(name, numbers.random() ** numbers.choice([1, 4]), numbers.choice([-1, 1])) for name in chosen
    ]
    boxes = measure_boxes(groups, places)
    for index, (left, right, top, bottom) in enumerate(boxes):
        for other_left, other_right, other_top, other_bottom in boxes[:index]:
            assert left >= other_right or right <= other_left or top >= other_bottom or bottom <= other_top
    named = sum(text.count(",") + 1 + _count_more(text) for *_, text in _list_labels(groups, places, GAP, 1.0))
    assert named == len(groups)


def _count_more(text: str) -> int:
    """Return the number of names that a label leaves out."""
    return int(text.split(" and ")[1].split()[0]) if " and " in text else 0
