"""Test the strokes of lines: the mean stands out from any number of lines; of many, only the extremes have colours."""

from __future__ import annotations

import re

import pytest

from assay.report.charts.line_strokes import MEAN, MOST_NAMED, choose_named_lines, order_rows
from assay.report.charts.render import draw, load_template
from assay.report.charts.vega_spec import build_plot_spec
from assay.report.document import Plot
from assay.report.render.html import build_web_specs
from tests.support.laboratory import ROOT

TEMPLATES = ROOT / "templates"
RED, GREY = "#d62728", "#b9c2cf"
MANY = MOST_NAMED + 1


def create_lines(count: int) -> dict[str, list[tuple[float, float | None]]]:
    """Create the lines of nodes with 10, 20, ... peers, and their mean."""
    lines: dict[str, list[tuple[float, float | None]]] = {
        f"n{number:02d}": [(0.0, 10.0 * number), (1.0, None), (2.0, 10.0 * number)] for number in range(1, count + 1)
    }
    return {**lines, MEAN: [(x, 5.0 * (count + 1)) for x in (0.0, 1.0, 2.0)]}


def create_plot(count: int, template: str = "timeline-mean") -> Plot:
    lines = create_lines(count)
    rows = tuple((name, x, y) for name, points in lines.items() for x, y in points if y is not None)
    panels = tuple(sorted(lines, key=lambda name: name != MEAN))
    return Plot(
        "m", 1, "Peers", "", "Peers.", template, ("line", "x", "y"), (*rows, (None, 0.0, 0.0)), panels,
        named=choose_named_lines(lines),
    )  # fmt: skip


@pytest.mark.parametrize("template", ["timeline-mean", "timeline-mean-marked"])
@pytest.mark.parametrize("count", [1, 8, 9, MOST_NAMED, MANY, 200])
def test_mean_is_the_only_thick_red_line_and_the_last(count: int, template: str) -> None:
    (drawing,) = draw([create_plot(count, template)], TEMPLATES)
    paths = re.findall(r' d="M[^"]*L[^"]*"[^>]* stroke="(#[^"]*)" stroke-width="([0-9.]+)"', drawing.svg)
    lines = [(colour, width) for colour, width in paths if width in ("2.2", "1.1", "0.5")]
    assert len(lines) == count + 1
    assert [line for line in lines if line[0] == RED] == [(RED, "2.2")]
    assert lines[-1] == (RED, "2.2")
    assert sum(line == (GREY, "0.5") for line in lines) == (0 if count <= MOST_NAMED else count - 2)


def test_many_lines_name_the_extremes_and_the_mean() -> None:
    assert choose_named_lines(create_lines(MOST_NAMED)) == ()
    assert choose_named_lines(create_lines(MANY)) == (MEAN, "n13", "n01")
    lines = create_lines(MANY) | {"n05": [(0.0, -1.0), (1.0, 999.0)]}
    assert choose_named_lines(lines) == (MEAN, "n05")
    equal_lines = {f"n{number}": [(0.0, 1.0)] for number in range(MANY)}
    assert choose_named_lines(equal_lines) == ("n0",)
    assert choose_named_lines({name: [] for name in equal_lines}) == ()
    spec = build_plot_spec(create_plot(MANY), load_template(TEMPLATES, "timeline-mean"))
    assert spec["layer"][0]["encoding"]["color"]["legend"]["values"] == [MEAN, "n13", "n01"]


def test_named_lines_are_drawn_over_the_rest() -> None:
    rows = [row[0] for row in order_rows(create_plot(MANY))]
    assert rows[-7:] == ["n01", "n01", "n13", "n13", MEAN, MEAN, MEAN]


def test_page_has_the_same_strokes() -> None:
    spec = build_web_specs([create_plot(MANY)], TEMPLATES, ())["m"]
    scales = {name: spec["layer"][0]["encoding"][name]["scale"] for name in ("color", "strokeDash", "size")}
    styles = list(zip(scales["color"]["domain"], scales["color"]["range"], scales["size"]["range"], strict=False))
    assert styles[:3] == [(MEAN, "var(--alert)", 2.6), ("n01", "var(--run-1)", 1.3), ("n02", "var(--run-5)", 0.5)]
    assert styles[-1] == ("n13", "var(--run-2)", 1.3)
