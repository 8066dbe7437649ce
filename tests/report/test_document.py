"""Test the report document: its JSON form, and the documents that it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from assay.report.document import Chart, Document, Series
from assay.report.document_json import parse_document, to_json
from assay.report.tables import MetricTable, Table
from assay.util.diagnostics import AssayError
from tests.report_sample import build_sample
from tests.support.documents import list_charts, list_sections, replace_charts


def create_chart(identifier: str = "m", figure: int = 1, *series: Series) -> Chart:
    return Chart(identifier, figure, "M", "M, s", "s", "cdf", series)


def test_a_document_is_read_back_as_it_was_written() -> None:
    assert parse_document(to_json(build_sample())) == build_sample()


def test_keys_of_the_json_have_the_documented_order() -> None:
    data = json.loads(to_json(build_sample()))
    assert list(data) == [
        *("title", "subtitle", "author", "date", "intro", "style", "manifest", "parts"),
        *("dictionary", "warnings", "filters", "provenance", "appendices"),
    ]
    assert list(list_sections(data)[0]) == ["id", "title", "doc", "header", "rows", "metrics"]
    assert list(list_charts(data)[0]) == [
        "id",
        "figure",
        "title",
        "x_label",
        "unit",
        "template",
        "series",
        "scale",
        "of",
    ]
    assert data["manifest"]["header"] == ["", "10.5-sim", "10.6-sim"]
    assert list_sections(data)[0]["rows"][0] == [
        "Forge loop starts, units",
        "0.99849",
        "0.99924",
        "0.001",
        "0.1",
    ]


def test_json_is_indented_by_one_without_escapes() -> None:
    lines = to_json(build_sample()).splitlines()
    assert lines[:2] == ["{", ' "title": "10.6-sim against 10.5-sim",']
    assert any('"Δ%"' in line for line in lines)


ID = "the id of a chart must serve as a file name"
DATE = "the date of the document cannot be read"
ORDER = "the plotted points of the run `a` do not ascend"
FINITE = "a plotted point of the run `a` is not a finite number"


def run(*points: tuple[float, float, float | None, float | None]) -> Series:
    return Series("a", points)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Table("Filters", ("Filter", "Argument"), (("fullness",),)),
         "a row of the table `Filters` does not fit its header"),
        (lambda: MetricTable("s", "S", "", ("", "a"), (("x", "1"), ("y", "2")), ("x",)),
         "the table `s` must name one metric a row"),
        (lambda: replace_charts(build_sample(), create_chart("m", 1), create_chart("m", 2)),
         "the chart `m` occurs twice in the document"),
        (lambda: replace_charts(build_sample(), create_chart("m", 1), create_chart("n", 1)),
         "the figure `1` occurs twice in the document"),
        (lambda: create_chart("m", 1, Series("a", ()), Series("a", ())),
         "the run of the chart m `a` occurs twice in the document"),
        *((partial(create_chart, identifier), ID) for identifier in ("", "../x", "a/b", ".hidden", "a b")),
        *((partial(replace, build_sample(), date=date), DATE)
          for date in ("2026-02-30", "21.11.2026", "2026-11-21T00:00:00")),
        (lambda: run((1.0, 0.5, None, None), (2.0, 0.5, None, None)), ORDER),
        (lambda: run((1.0, 0.5, None, None), (2.0, 0.4, None, None)), ORDER),
        (lambda: run((2.0, 0.1, None, None), (1.0, 0.2, None, None)), ORDER),
        (lambda: run((1.0, 0.5, None, float("nan"))), FINITE),
        (lambda: run((1.0, 0.5, None, float("inf"))), FINITE),
        (lambda: parse_document('{"title": '), "the text is not a report document"),
    ],
)  # fmt: skip
def test_invalid_document_is_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(AssayError) as error:
        build()
    (problem,) = error.value.diagnostics
    assert (problem.code, problem.message) == ("invalid-document", message)


def test_points_may_tie() -> None:
    assert len(Series("a", ((1.0, 0.1, None, None), (1.0, 0.2, None, None))).points) == 2


def alter_document(document: Document, change: str) -> str:
    data = json.loads(to_json(document))
    exec(change, {"data": data})
    return json.dumps(data)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("data['colour'] = 'red'", "colour: Unexpected keyword argument"),
        ("data['parts'][5]['plots'][0]['colour'] = 'red'", "parts.5.plots.0.colour: Unexpected keyword argument"),
        ("data['title'] = 7", "title: Input should be a valid string"),
        ("del data['parts'][1]['tables'][0]['rows']", "parts.1.tables.0.rows: Field required"),
        (
            "data['parts'][0]['tables'][0]['rows'][2][1] = 0.5",
            "parts.0.tables.0.rows.2.1: Input should be a valid string",
        ),
    ],
)
def test_fault_of_a_read_document_has_its_place(change: str, place: str) -> None:
    with pytest.raises(AssayError) as error:
        parse_document(alter_document(build_sample(), change))
    (problem,) = error.value.diagnostics
    assert (problem.message, problem.found) == ("the text is not a report document", place)
