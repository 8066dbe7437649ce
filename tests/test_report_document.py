"""The report document: its JSON, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from assay.report.document import Chart, Document, Section, Series, Table, from_json, to_json
from assay.util.diagnostics import AssayError
from tests.report_sample import sample


def chart(identifier: str = "m", figure: int = 1, *series: Series) -> Chart:
    return Chart(identifier, figure, "M", "M, s", "s", "cdf", series)


def refused(error: pytest.ExceptionInfo[AssayError]) -> str:
    (problem,) = error.value.diagnostics
    assert problem.code == "invalid-document"
    return problem.message


def test_a_document_is_read_back_as_it_was_written() -> None:
    assert from_json(to_json(sample())) == sample()


def test_the_keys_of_the_json_stand_in_the_order_of_the_contract() -> None:
    data = json.loads(to_json(sample()))
    assert list(data) == [
        *("title", "subtitle", "author", "date", "intro", "style", "manifest", "sections", "charts"),
        *("dictionary", "warnings", "filters", "provenance", "appendices", "galleries"),
    ]
    assert list(data["sections"][0]) == ["id", "title", "doc", "header", "rows", "metrics"]
    assert list(data["charts"][0]) == ["id", "figure", "title", "x_label", "unit", "template", "series", "scale", "of"]
    assert data["manifest"]["header"] == ["", "10.5-sim", "10.6-sim"]
    assert data["sections"][0]["rows"][0] == [
        "Forge loop starts, units",
        "0.99849",
        "0.99924",
        "0.001",
        "0.1",
    ]


def test_the_json_is_indented_by_one_and_writes_letters_as_they_are() -> None:
    lines = to_json(sample()).splitlines()
    assert lines[:2] == ["{", ' "title": "10.6-sim against 10.5-sim",']
    assert any('"Δ%"' in line for line in lines)


def test_a_row_must_fit_its_header() -> None:
    with pytest.raises(AssayError) as error:
        Table("Filters", ("Filter", "Argument"), (("fullness",),))
    assert refused(error) == "a row of the table `Filters` does not fit its header"


def test_a_section_names_one_metric_a_row() -> None:
    with pytest.raises(AssayError) as error:
        Section("s", "S", "", ("", "a"), (("x", "1"), ("y", "2")), ("x",))
    assert refused(error) == "the section `s` must name one metric a row"


def test_a_metric_has_one_chart_and_a_number_one_figure() -> None:
    with pytest.raises(AssayError) as error:
        replace(sample(), charts=(chart("m", 1), chart("m", 2)))
    assert refused(error) == "the chart `m` occurs twice in the document"
    with pytest.raises(AssayError) as error:
        replace(sample(), charts=(chart("m", 1), chart("n", 1)))
    assert refused(error) == "the figure `1` occurs twice in the document"


def test_a_run_occurs_once_in_a_chart() -> None:
    with pytest.raises(AssayError) as error:
        chart("m", 1, Series("a", ()), Series("a", ()))
    assert refused(error) == "the run of the chart m `a` occurs twice in the document"


@pytest.mark.parametrize("identifier", ["", "../x", "a/b", ".hidden", "a b"])
def test_the_id_of_a_chart_serves_as_a_file_name(identifier: str) -> None:
    with pytest.raises(AssayError) as error:
        chart(identifier)
    assert refused(error) == "the id of a chart must serve as a file name"


@pytest.mark.parametrize("date", ["", "2026-02-30", "21.11.2026", "2026-11-21T00:00:00"])
def test_the_date_is_a_day(date: str) -> None:
    with pytest.raises(AssayError) as error:
        replace(sample(), date=date)
    assert refused(error) == "the date of the document cannot be read"


@pytest.mark.parametrize(
    ("first", "second"), [((1.0, 0.5), (2.0, 0.5)), ((1.0, 0.5), (2.0, 0.4)), ((2.0, 0.1), (1.0, 0.2))]
)
def test_the_points_of_a_distribution_ascend(first: tuple[float, float], second: tuple[float, float]) -> None:
    with pytest.raises(AssayError) as error:
        Series("a", ((*first, None, None), (*second, None, None)))
    assert refused(error) == "the plotted points of the run `a` do not ascend"


def test_points_may_tie() -> None:
    assert len(Series("a", ((1.0, 0.1, None, None), (1.0, 0.2, None, None))).points) == 2


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_plotted_point_is_a_finite_number(number: float) -> None:
    with pytest.raises(AssayError) as error:
        Series("a", ((1.0, 0.5, None, number),))
    assert refused(error) == "a plotted point of the run `a` is not a finite number"


def altered(document: Document, change: str) -> str:
    data = json.loads(to_json(document))
    exec(change, {"data": data})
    return json.dumps(data)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("data['colour'] = 'red'", "colour: Unexpected keyword argument"),
        ("data['charts'][0]['colour'] = 'red'", "charts.0.colour: Unexpected keyword argument"),
        ("data['title'] = 7", "title: Input should be a valid string"),
        ("del data['sections'][1]['rows']", "sections.1.rows: Field required"),
        ("data['sections'][0]['rows'][2][1] = 0.5", "sections.0.rows.2.1: Input should be a valid string"),
    ],
)
def test_what_is_wrong_in_a_read_document_is_named_with_its_place(change: str, place: str) -> None:
    with pytest.raises(AssayError) as error:
        from_json(altered(sample(), change))
    (problem,) = error.value.diagnostics
    assert (problem.message, problem.found) == ("the text is not a report document", place)


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(AssayError) as error:
        from_json('{"title": ')
    assert refused(error) == "the text is not a report document"
