"""Labels of the axis of values: they tell the values, and none runs into another or over the drawing's edge."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from assay.report.charts.axis import Room, Scale, labelled, tick_format
from assay.report.charts.render import draw, load_template
from assay.report.charts.vega_spec import chart_spec
from assay.report.document import Chart, Series
from tests.report_sample import TEMPLATES

ROOM = Room(256, 40, 14)
#: x and text of the labels below an axis, in a drawing
LABELS = re.compile(
    r'text-anchor="middle" transform="translate\(([\d.]+),[\d.]+\)"[^>]*font-size="9.5px"[^>]*>([^<]+)<'
)


def chart(least: float, greatest: float) -> Chart:
    """A chart of eleven values at like distances."""
    step = (greatest - least) / 10
    points = tuple((least + step * place, place / 10, None, None) for place in range(11))
    return Chart("m", 1, "Time", "Time, s", "s", "cdf", (Series("run", points),))


def labels(least: float, greatest: float) -> list[tuple[float, str]]:
    """The labels below the axis of such a chart, each with its place from the drawing's left edge."""
    (drawing,) = draw([chart(least, greatest)], TEMPLATES)
    return [(float(x) + 40, text) for x, text in LABELS.findall(drawing.svg) if text != "Time, s"]


@pytest.mark.parametrize(
    ("least", "greatest", "expected"),
    [
        (0.0, 3.0, ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"]),
        (0.0, 2.5e-12, ["0", "5e-13", "1e-12", "1.5e-12", "2e-12"]),  # were 0 alone
        (1e-13, 1.2e-13, ["1e-13", "1.05e-13", "1.1e-13", "1.15e-13"]),
        (0.1, 0.1000002, ["0.10000000", "0.10000005", "0.10000010", "0.10000015"]),
        (1.7e9, 1.7e9 + 2, ["1.7G", "1.7000000005G", "1.700000001G", "1.7000000015G"]),
        (1e18, 2e18, ["1E", "1.2E", "1.4E", "1.6E", "1.8E", "2E"]),
    ],
)
def test_values_of_any_size_have_labels_that_tell_them_apart(
    least: float, greatest: float, expected: list[str]
) -> None:
    found = labels(least, greatest)
    assert [text for _, text in found] == expected
    widths = [4.6 * len(text) for _, text in found]
    edges = [(x - width / 2, x + width / 2) for (x, _), width in zip(found, widths, strict=True)]
    assert edges[0][0] >= 0
    assert edges[-1][1] <= 40 + 256 + 14
    assert all(right < left for (_, right), (left, _) in pairwise(edges))


def test_a_logarithmic_axis_of_many_decades_has_labels_at_some() -> None:
    powers = tuple(10.0**power for power in range(-12, 13))
    found = labelled(Scale("log", 1e-12, 1e12, powers), ROOM)
    assert found.ticks == powers[::2]
    assert tick_format(found.ticks) == "~s"
    assert tick_format(powers[:12]) == "~g"


def test_a_tick_whose_label_has_no_room_is_the_only_one() -> None:
    ticks = (1.0, 1.0000000000000002)
    assert labelled(Scale("linear", *ticks, ticks), ROOM).ticks == ticks[:1]


@pytest.mark.parametrize(
    ("offset", "said"), [(0.0, "axis cut: values up to 10000"), (0.1, "axis cut: values up to 0.100001")]
)
def test_an_axis_that_is_cut_says_how_far_beyond_its_end_values_go(offset: float, said: str) -> None:
    step = 1e-10 if offset else 1.0
    values = [offset + step * (place if place < 1000 else 10_000) for place in range(1001)]
    points = tuple((value, place / 1000, None, None) for place, value in enumerate(values))
    made = chart_spec(
        Chart("m", 1, "Time", "Time, s", "s", "cdf", (Series("run", points),)), load_template(TEMPLATES, "cdf")
    )
    assert made["encoding"]["x"]["axis"]["title"][1:] == [said]
