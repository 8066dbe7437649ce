"""Plots: rows of named columns through a template, with panels or without."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair
import jsonschema  # type: ignore[import-untyped]
import pypdf
import pytest

from assay.report.blocks.grid import Panel, _list_grid_rows, find_isolated_points
from assay.report.blocks.timeline import MEAN, break_at_gaps, choose_time_unit
from assay.report.charts.converter import Converter
from assay.report.charts.render import draw, load_template, renumber_clips
from assay.report.charts.vega_spec import build_plot_spec
from assay.report.document import Document, Part, Plot, Value
from assay.report.document_json import parse_document, to_json
from assay.report.parts import make_figure_ids_unique
from assay.report.render.html import build_web_specs
from assay.report.render.pdf import render
from assay.report.tables import Table
from assay.util.diagnostics import AssayError
from tests.report_sample import TEMPLATES, build_sample, limit_charts

COLUMNS = ("panel", "mark", "x", "y", "text")
ROWS: tuple[tuple[Value, ...], ...] = (
    ("one", "base", 0.25, 1.0, None),
    ("one", "run", 0.75, 3.0, None),
    ("two", "base", 0.25, 1000.0, None),
    ("two", "run", 0.75, 2000.0, None),
    ("two", "label", 0.5, None, "a release"),
)
#: a template of one view, with categories along x
BARS: dict[str, Any] = {
    "usermeta": {"assay": {"margins": {"left": 30, "right": 5, "top": 5, "bottom": 20}}},
    "description": "${description}",
    "padding": "${padding}",
    "autosize": {"type": "none"},
    "width": 90,
    "height": 60,
    "data": {"values": "${rows}"},
    "mark": "bar",
    "encoding": {
        "x": {"field": "who", "type": "nominal", "axis": None},
        "y": {"field": "count", "type": "quantitative", "axis": None},
    },
}


def create_plot(
    rows: Sequence[tuple[Value, ...]] = ROWS, columns: Sequence[str] = COLUMNS, panels: Sequence[str] = ("one", "two")
) -> Plot:
    return Plot("m", 1, "Length, s", "s", "Two dots.", "history", tuple(columns), tuple(rows), tuple(panels))


def add_gallery(document: Document, *plots: Plot) -> Document:
    table = Table("Notes", ("Key", "What it says"), (("A", "A note."),))
    return replace(document, parts=(*document.parts, Part("lengths", "Lengths", ("Of dots.",), plots, (table,))))


def test_a_plot_is_valid_vega_lite() -> None:
    validator = jsonschema.Draft7Validator(altair.load_schema())
    spec = build_plot_spec(create_plot(), load_template(TEMPLATES, "history"))
    assert [error.message for error in validator.iter_errors(spec)] == []
    broken_spec = json.loads(json.dumps(spec).replace('"rule"', '"ruler"'))
    assert list(validator.iter_errors(broken_spec))


def test_rows_become_records_without_missing_values() -> None:
    spec = build_plot_spec(create_plot(), load_template(TEMPLATES, "history"))
    assert spec["datasets"]["rows"][-1] == {"panel": "two", "mark": "label", "x": 0.5, "text": "a release"}
    assert spec["facet"]["row"]["sort"] == ["one", "two"]
    assert spec["description"] == "Two dots."


@pytest.mark.parametrize("panels", [("one",), ("one", "two"), ("one", "two", "three")])
def test_a_drawing_has_room_for_all_panels_and_its_margins(panels: tuple[str, ...]) -> None:
    template = load_template(TEMPLATES, "history")
    margins, view = template["usermeta"]["assay"]["margins"], template["spec"]
    rows = [(panel, "run", x, x, None) for panel in panels for x in (1.0, 2.0)]
    (drawing,) = draw([create_plot(rows, panels=panels)], TEMPLATES)
    width = margins["left"] + view["width"] + margins["right"]
    tall = len(panels) * view["height"] + (len(panels) - 1) * template["spacing"]
    assert f'width="{width}" height="{margins["top"] + tall + margins["bottom"]}"' in drawing.svg


def test_each_panel_has_an_axis_of_its_own() -> None:
    (drawing,) = draw([create_plot()], TEMPLATES)
    assert all(f">{tick}</text>" in drawing.svg for tick in ("1", "2", "3", "1000", "1500", "2000"))


def test_no_tick_of_an_axis_is_printed_twice() -> None:
    """0.15 - 0.05 is a little less than 0.1; the number of digits of ticks once depended on this difference."""
    rows: tuple[tuple[Value, ...], ...] = (("one", "base", 0.25, 0.0, None), ("one", "run", 0.75, 0.15, None))
    (drawing,) = draw([create_plot(rows, panels=("one",))], TEMPLATES)
    ticks = re.findall(r">([0-9.]+)</text>", drawing.svg)
    assert ticks == ["0", "0.05", "0.1", "0.15"]


def test_a_template_without_panels_draws_categories(tmp_path: Path) -> None:
    (tmp_path / "charts").mkdir()
    (tmp_path / "fonts").symlink_to(TEMPLATES / "fonts")
    (tmp_path / "charts" / "bars.vl.json").write_text(json.dumps(BARS))
    rows = (("ann", 3.0), ("bob", 1.0), ("cleo", 2.0))
    (drawing,) = draw([replace(create_plot(rows, ("who", "count"), ()), template="bars")], tmp_path)
    assert json.loads(drawing.spec)["data"]["values"][1] == {"who": "bob", "count": 1.0}
    assert 'width="125" height="85"' in drawing.svg
    assert drawing.svg.count('fill="#4c78a8"') == 3


def test_drawing_does_not_depend_on_loaded_fonts(tmp_path: Path) -> None:
    (drawing,) = draw([create_plot()], TEMPLATES)
    assert renumber_clips(Converter(tmp_path).convert(drawing.spec, "it")) + "\n" == drawing.svg


def test_runs_bases_and_breaks_differ_without_colour() -> None:
    layers = load_template(TEMPLATES, "history")["spec"]["layer"]
    marks_by_filter = {layer["transform"][0]["filter"]: layer["mark"] for layer in layers}
    assert marks_by_filter["datum.mark == 'base'"]["fill"] == "#ffffff"
    assert marks_by_filter["datum.mark == 'run'"]["color"] != "#ffffff"
    dashes = [mark["strokeDash"] for text, mark in marks_by_filter.items() if "datum.kind" in text]
    assert len(dashes) == 2
    assert dashes[0] != dashes[1]


def test_a_document_with_a_gallery_is_read_back_and_laid_out(tmp_path: Path) -> None:
    document = add_gallery(limit_charts(build_sample(), 1), replace(create_plot(), figure=2, id="lengths"))
    assert parse_document(to_json(document)) == document
    render(document, tmp_path / "out", TEMPLATES)
    text = "".join(page.extract_text() for page in pypdf.PdfReader(tmp_path / "out" / "report.pdf").pages)
    assert all(word in text for word in ("Lengths", "Of dots.", "Figure 2", "What it says", "A note."))
    assert (tmp_path / "out" / "charts" / "lengths.svg").is_file()


@pytest.mark.parametrize(
    ("wrong_figure", "expected_message"),
    [
        (lambda: create_plot([("one", "run", 1.0)]), "a row of the plot m does not fit its columns"),
        (lambda: create_plot([("one", "run", float("nan"), 1.0, None)]), "a number of the plot m is not finite"),
        (
            lambda: create_plot(columns=("x", "x", "y", "z", "w")),
            "the column of the plot m `x` occurs twice in the document",
        ),
        (lambda: replace(create_plot(), id="../m"), "the id of a chart must serve as a file name"),
        (
            lambda: add_gallery(limit_charts(build_sample(), 1), create_plot()),
            "the figure `1` occurs twice in the document",
        ),
        (
            lambda: add_gallery(build_sample(), create_plot(), create_plot()),
            "the chart `m` occurs twice in the document",
        ),
    ],
)
def test_a_plot_that_cannot_be_laid_out_is_refused(wrong_figure: Any, expected_message: str) -> None:
    with pytest.raises(AssayError) as error_info:
        wrong_figure()
    assert error_info.value.diagnostics[0].message == expected_message


def test_figures_have_files_of_their_own() -> None:
    wide_gallery = Part("b", "B", (), (replace(create_plot(), id="m-2"),), (), wide=(replace(create_plot(), id="M"),))
    result = make_figure_ids_unique([Part("a", "A", (), (create_plot(), None, create_plot()), ()), wide_gallery])
    plot_ids = [[item and item.id for item in (*gallery.plots, *gallery.wide)] for gallery in result]
    assert plot_ids == [["m", None, "m-2"], ["m-2-2", "M-3"]]


# Templates of articles


def create_lines_plot(*names: str, template: str = "timeline") -> Plot:
    """Create a plot of lines with two points each, and of two points that are not drawn."""
    points = tuple((name, float(x), float(x + place)) for place, name in enumerate(names) for x in (0, 1))
    rows = (*points, (None, 0.0, 0.0), (None, 1.0, 5.0))
    return Plot("m", 1, "Lines", "tx", "Lines.", template, ("line", "x", "y"), rows, names, x_label="seconds")


def build_legend(*names: str) -> tuple[list[str], int]:
    """Return the names in a legend, and its number of columns."""
    result = build_plot_spec(create_lines_plot(*names), load_template(TEMPLATES, "timeline"))["layer"][0]["encoding"][
        "color"
    ]["legend"]
    return result["values"], result["columns"]


@pytest.mark.parametrize("template", ["timeline", "timeline-mean", "timeline-area"])
def test_lines_are_valid_vega_lite_and_drawn(template: str) -> None:
    figure = create_lines_plot("mean", "a", "b", template=template)
    validator = jsonschema.Draft7Validator(altair.load_schema())
    spec = build_plot_spec(figure, load_template(TEMPLATES, template))
    assert [error.message for error in validator.iter_errors(spec)] == []
    (drawing,) = draw([figure], TEMPLATES)
    assert all(f">{name}<" in drawing.svg for name in ("mean", "a", "b", "seconds"))
    assert drawing.svg.count("#d62728") == (2 if template == "timeline-mean" else 0)  # the line, and its symbol


@pytest.mark.parametrize(
    ("greatest", "labels"),
    [
        (0.8, ["0", "0.2", "0.4", "0.6", "0.8"]),  # not 200m, which may mean minutes, metres or milli
        (0.0004, ["0", "0.0001", "0.0002", "0.0003", "0.0004"]),
        (4.0, ["0", "1", "2", "3", "4"]),
        (4e6, ["0", "1M", "2M", "3M", "4M"]),  # no 0M
    ],
)
@pytest.mark.parametrize("template", ["timeline", "timeline-mean", "timeline-area"])
def test_values_along_y_have_no_prefix_below_one(template: str, greatest: float, labels: list[str]) -> None:
    rows = (("a", 0.0, 0.0), ("a", 1.0, greatest), (None, 0.0, 0.0), (None, 1.0, greatest))
    (drawing,) = draw([replace(create_lines_plot("a", template=template), rows=rows)], TEMPLATES)
    assert re.findall(r'text-anchor="end"[^>]*>([^<]+)</text>', drawing.svg)[-len(labels) :] == labels


def test_the_axis_of_a_long_time_is_in_minutes_or_hours() -> None:
    units = [choose_time_unit(length) for length in (0.0, 599.0, 600.0, 7199.0, 7200.0, 259199.0, 259200.0)]
    assert units == [("seconds", 1)] * 2 + [("minutes", 60)] * 2 + [("hours", 3600)] * 2 + [("days", 86400)]


def test_a_line_breaks_where_steps_are_missing() -> None:
    points = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (20.0, 4.0), (21.0, 5.0)]
    line = break_at_gaps(points, 1.0)
    assert line == [*points[:3], (11.0, None), *points[3:]]
    assert break_at_gaps(points, 0.0) == points
    assert break_at_gaps(points, 15.0) == points
    assert break_at_gaps(points[2:4], 12.0) == points[2:4]  # a gap of one and a half steps lacks no step
    rows = (*(("a", x, y) for x, y in line), (None, 0.0, 0.0), (None, 21.0, 5.0))
    for template in ("timeline", "timeline-mean"):
        figure = replace(create_lines_plot("a", template=template), rows=rows)
        (drawing,) = draw([figure], TEMPLATES)
        (path,) = re.findall(r' d="(M[^"]*L[^"]*)"[^>]*stroke="#(?!ddd)[^"]*" stroke-width="1', drawing.svg)
        assert path.count("M") == 2, template
        whole_figure = replace(figure, rows=tuple(row for row in rows if row[2] is not None))
        (joined,) = draw([whole_figure], TEMPLATES)
        assert joined.svg != drawing.svg


#: a line of a point, a gap, two points, a gap and a point; and a line of one point
GAPS: tuple[tuple[Value, ...], ...] = (
    *(("a", float(x), None if x in (1, 4) else 3.0) for x in range(6)),
    ("b", 2.0, 5.0),
    (None, 0.0, 0.0),
    (None, 5.0, 5.0),
)
LINED = ("timeline", "timeline-mean", "timeline-area")


@pytest.mark.parametrize("template", [*LINED, *(f"{name}-marked" for name in LINED)])
def test_lone_point_of_a_line_is_drawn(template: str) -> None:
    has_marks = template.endswith("-marked")
    rows = (*((*row, None) for row in GAPS), (None, 3.0, None, "upgrade")) if has_marks else GAPS
    columns = ("line", "x", "y", "mark")[: len(rows[0])]
    figure = replace(create_lines_plot("a", "b", template=template), rows=rows, columns=columns)
    spec = build_plot_spec(figure, load_template(TEMPLATES, template))
    assert [(row["line"], row["x"]) for row in spec["datasets"]["alone"]] == [("a", 0.0), ("a", 5.0), ("b", 2.0)]
    (drawing,) = draw([figure], TEMPLATES)
    circles = re.findall(r' d="M[^"]*A[^"]*" fill="(#[^"]*)"', drawing.svg)
    assert circles == ["#1f3a5f", "#1f3a5f", "#d1600f"]
    web = build_web_specs([figure], TEMPLATES, ())["m"]
    assert web["datasets"]["alone"] == spec["datasets"]["alone"]
    validator = jsonschema.Draft7Validator(altair.load_schema())
    specs = [web] if has_marks else [spec, web]  # the schema does not allow removing a shared `y`
    assert [error.message for output in specs for error in validator.iter_errors(output)] == []
    assert "alone" not in json.dumps(
        build_plot_spec(create_lines_plot("a", "b", template=template), load_template(TEMPLATES, template))
    )


def test_lone_point_of_a_line_in_a_grid_is_a_point() -> None:
    line = ((0.0, 3.0), (1.0, None), (2.0, 3.0), (3.0, 4.0), (4.0, None), (5.0, 6.0))
    assert list(find_isolated_points(line)) == [(0.0, 3.0), (5.0, 6.0)]
    assert list(find_isolated_points(line[2:4])) == []
    panel = Panel("left", "time, seconds", ((0.0, 3.0), (5.0, 6.0)), lines=[{"a": line, MEAN: line[:1]}])
    rows = [row for row in _list_grid_rows([panel], ["one"]) if row[5] == "point"]
    assert rows == [("one", "left", x, y, None, "point", None) for x, y in find_isolated_points(line)]


def test_a_grid_is_valid_vega_lite() -> None:
    columns = ("case", "panel", "x", "y", "line", "mark", "text")
    rows = tuple(
        (case, panel, x, x, None, "point", None)
        for case in ("one", "two")
        for panel in ("left", "right")
        for x in (0.0, 1.0)
    )
    figure = Plot("m", 1, "Grid", "", "A grid.", "grid", columns, rows, ("left", "right"), ("one", "two"))
    template = load_template(TEMPLATES, "grid")
    spec = build_plot_spec(figure, template)
    validator = jsonschema.Draft7Validator(altair.load_schema())
    assert [error.message for error in validator.iter_errors(spec)] == []
    margins, view, gaps = template["usermeta"]["assay"]["margins"], template["spec"], template["spacing"]
    assert spec["padding"] == {
        **margins,
        "right": margins["right"] + 2 * view["width"] + gaps["column"],
        "bottom": margins["bottom"] + 2 * view["height"] + gaps["row"],
    }


def test_legend_names_several_lines_that_fit() -> None:
    assert build_legend("mean") == ([], 5)
    assert build_legend("validator0", "validator1") == (["validator0", "validator1"], 3)
    long_names = [f"validator{number}-node-exporter" for number in range(9)]
    assert build_legend(*long_names[:8]) == (long_names[:8], 2)
    assert build_legend(*long_names) == ([], 2)
    many_names = [f"validator{number}" for number in range(200)]
    assert build_legend(*many_names) == ([], 3)
