"""The report as a web page: every text of the document is in it and stays text; its bytes are always the same."""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
import json
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import altair
import pytest

from assay.lang.segments import list_values_of_segment
from assay.number_styles.cell_text import get_value, print_number
from assay.publication.reader import read_cell
from assay.report.document import Chart, Document, Entry, Group, Part, Plot, QuotedValue, Series
from assay.report.document_json import parse_document
from assay.report.first_page.answer import Answer
from assay.report.prose import Prose, Quote
from assay.report.render.html import (
    Detail,
    ReportDetails,
    build_chart_bundle,
    build_page,
    build_web_specs,
    format_chart_bundle,
    format_script_data,
    group_tables_by_row,
    load_theme,
)
from assay.report.render.html_tables import build_metric_grid, build_plain_grid, format_number, identify_rows
from assay.report.render.html_text import build_text
from assay.report.render.markdown import render_markdown
from assay.report.tables import Appendix, Mark, MetricTable, Table
from assay.util.checksums import seal_text
from assay.util.diagnostics import AssayError, Span
from assay.util.escape import normalize_text
from tests.report_sample import TEMPLATES, build_sample, limit_charts
from tests.support.documents import replace_charts
from tests.support.laboratory import ROOT
from tools import web_fonts

PINNED = sorted(path.name.removesuffix(".document.json") for path in (ROOT / "golden/reports").glob("*.document.json"))
VOID = {"meta", "link", "br", "line", "input", "img", "wbr"}
NO_BUNDLE = "/* no charts here */"


def load_pinned_document(name: str) -> Document:
    """Return the document of a pinned build."""
    return parse_document((ROOT / "golden" / "reports" / f"{name}.document.json").read_text(encoding="utf-8"))


@dataclasses.dataclass
class ParsedPage:
    """The content of an HTML page: tables as rows of cells, elements as (name, attributes), texts by their elements."""

    tables: list[list[list[str]]] = dataclasses.field(default_factory=list)
    elements: list[tuple[str, dict[str, str | None]]] = dataclasses.field(default_factory=list)
    texts: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    raw: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.elements if "id" in attributes]

    def list_texts(self, element: str) -> list[str]:
        """Return the texts of all elements of a name."""
        return [text for name, text in self.texts if name == element]


class _Reader(HTMLParser):
    """Reads a page; fails when elements are not closed in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parsed_page = ParsedPage()
        self.open_elements: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        result = dict(attributes)
        assert len(result) == len(attributes), f"<{tag}> names an attribute twice"
        self.parsed_page.elements.append((tag, result))
        if tag in VOID:
            return
        self.open_elements.append((tag, []))
        if tag == "table":
            self.parsed_page.tables.append([])
        if tag == "tr":
            self.parsed_page.tables[-1].append([])

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        for _, parts in self.open_elements:
            parts.append(data)

    def handle_endtag(self, tag: str) -> None:
        name, parts = self.open_elements.pop()
        assert name == tag, f"</{tag}> closes <{name}>"
        text = "".join(parts)
        if tag in ("script", "style"):
            self.parsed_page.raw.setdefault(tag, []).append(text)
        self.parsed_page.texts.append((tag, text))
        if tag in ("td", "th"):
            self.parsed_page.tables[-1][-1].append(text)


def parse_page(text: str) -> ParsedPage:
    """Parse a page."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open_elements == []
    return reader.parsed_page


@functools.cache
def read_pinned_page(name: str) -> ParsedPage:
    """Parse the page of a pinned build."""
    return parse_page(render_page(load_pinned_document(name)))


def render_page(document: Document, page_details: ReportDetails | None = None) -> str:
    """Render the page of a document, without the chart library."""
    return build_page(document, TEMPLATES, NO_BUNDLE, page_details or ReportDetails())


def read_data(result: ParsedPage) -> Any:
    """Return the data that the scripts of a page read."""
    return json.loads(result.raw["script"][0])


def iter_tables(document: Document) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Yield the rows of the document's tables below their headings, in order, without those of the dictionary."""
    yield from (tuple(list_forest_rows(answer)) for answer in document.answers)
    manifest = [document.manifest.rows] if document.manifest.rows else []
    if not document.answers:
        yield from manifest
    for table in (table for part in document.parts for table in part.tables):
        yield table.printed_rows if isinstance(table, Table) else table.rows
        if isinstance(table, MetricTable) and table.percentiles:
            yield table.percentiles.rows
    if document.answers:
        yield from manifest
    if document.filters.rows:
        yield document.filters.rows
    yield from (part.rows for part in document.appendices if part.rows)
    if document.provenance:
        yield document.provenance
    yield from (part.rows for part in document.claims)


def list_forest_rows(answer: Answer) -> Iterator[tuple[str, ...]]:
    """List the rows of all changes, below the titles of their groups and above the labels of the axis."""
    for title, rows in (
        *((group.title, group.rows) for group in answer.groups),
        *([("Conditions (neither better nor worse)", answer.conditions)] if answer.conditions else []),
    ):
        yield title, "", ""
        for row in rows:
            verdict = " ".join(filter(None, (row.arrow, row.verdict))) + ", by itself" * row.is_by_itself
            has_ends = "…" in row.interval
            evidence = f"{row.interval} %" if has_ends and row.change is not None else row.interval or row.reason
            yield row.label, row.base, row.value, row.percent, verdict, evidence, row.sizes
    yield "", "".join(label for _, label in answer.axis.ticks) + " %", ""


@pytest.mark.parametrize("name", PINNED)
def test_every_cell_of_a_pinned_report_is_on_its_page(name: str) -> None:
    document = load_pinned_document(name)
    result = read_pinned_page(name)
    dictionary = [table for table in result.tables if table[0][:3] == ["Metric", "Description", "Unit"]]
    terms = [table for table in result.tables if table[0] == ["Number", "What it is", "Unit"]]
    other_tables = iter(table for table in result.tables if table not in (*dictionary, *terms))
    for rows in iter_tables(document):
        table = next(other_tables)
        below = table[len(table) - len(rows) :]
        assert [tuple(cells[: len(row)]) for cells, row in zip(below, rows, strict=True)] == [
            tuple(map(normalize_text, row)) for row in rows
        ]
    assert list(other_tables) == []
    entries = [entry for group in document.dictionary for entry in group.entries]
    assert [row[:3] for table in dictionary for row in table[1:]] == [
        [item.name + (item.id if item.id != item.name else ""), item.description.replace("`", ""), item.unit]
        for item in entries
    ]
    assert [row for table in terms for row in table[1:]] == [
        [item.name, item.description, item.unit] for group in document.terms for item in group.entries
    ]


@pytest.mark.parametrize("name", PINNED)
def test_texts_of_a_pinned_report_are_on_its_page(name: str) -> None:
    document = load_pinned_document(name)
    result = read_pinned_page(name)
    assert result.list_texts("h1") == result.list_texts("title") == [document.title]
    parts = [*document.parts, *document.appendices]
    assert {part.title for part in parts} <= set(result.list_texts("h2"))
    titles = {table.title for part in document.parts for table in part.tables if table.title != part.title}
    assert titles - {""} <= set(result.list_texts("h3"))
    prose = {*document.intro, *(section.doc for section in document.metric_tables if section.doc)}
    prose |= {text for part in (*document.parts, *document.appendices) for text in part.text}
    prose |= {text for section in document.metric_tables for text in section.notes}
    prose |= {chart.remark for chart in document.distributions if chart.remark}
    assert {text.replace("`", "") for text in prose} - set(result.list_texts("p")) == set()
    assert [text for text in result.list_texts("li") if text in document.warnings] == list(document.warnings)
    notes = {text.replace("`", "") for part in document.appendices for text in part.notes}
    assert notes <= set(result.list_texts("li"))
    captions = result.list_texts("figcaption")
    titles = [f"Figure {item.figure} {item.title}" for item in document.figures]
    assert [text[: len(title)] for text, title in zip(captions, titles, strict=True)] == titles
    drawn_charts = [item["data-chart"] for _, item in result.elements if "data-chart" in item]
    assert set(drawn_charts) == set(read_data(result)["charts"])
    assert drawn_charts == [
        item.id for item in document.figures if isinstance(item, Plot) or (item.series and not item.remark)
    ]


@pytest.mark.parametrize("name", PINNED)
def test_answers_of_a_pinned_report_are_on_its_page(name: str) -> None:
    answers, result = load_pinned_document(name).answers, read_pinned_page(name)
    assert [text for text in result.list_texts("h2") if text in {item.headline for item in answers}] == [
        item.headline for item in answers
    ]
    paragraphs, items = result.list_texts("p"), result.list_texts("li")
    for answer in answers:
        notes = {note.replace("`", "") for note in answer.notes}
        assert {answer.counts, *filter(None, (answer.caution,)), *notes} <= set(paragraphs)
        assert any(text.startswith(answer.omitted) and "Dots are changes" in text for text in paragraphs)
        for change in answer.key_changes:
            verdict = " ".join(filter(None, (change.arrow, change.verdict))) + ", by itself" * change.is_by_itself
            assert f"{change.label}: {change.text} {verdict}" in items
    parameters = zip(result.list_texts("dt"), result.list_texts("dd"), strict=True)
    assert list(parameters) == [
        (label, f"{base} → {value}") for answer in answers for label, base, value in answer.differing
    ]


@pytest.mark.parametrize("name", PINNED)
def test_links_of_a_pinned_report_lead_to_elements_of_its_page(name: str) -> None:
    result = read_pinned_page(name)
    assert len(result.ids) == len(set(result.ids))
    targets = [str(item["href"]) for element, item in result.elements if element == "a" and "href" in item]
    assert {unquote(target[1:]) for target in targets if target.startswith("#")} <= set(result.ids)
    assert [target for target in targets if not target.startswith(("#", "charts/"))] == []


@pytest.mark.parametrize("name", PINNED)
def test_every_number_of_a_metric_leads_to_its_definition(name: str) -> None:
    document = load_pinned_document(name)
    result = read_pinned_page(name)
    metrics_by_id = read_data(result)["metrics"]
    leading = [item["data-metric"] for element, item in result.elements if element == "a" and "data-of" in item]
    assert set(leading) <= set(metrics_by_id)
    expected = sum(
        cell.number is not None
        for section in document.metric_tables
        for row, metric in enumerate(section.metrics)
        if metric in metrics_by_id
        for cell in section.list_row_cells(row)
    )
    metrics_in_sections = {
        metric for section in document.metric_tables for metric in section.metrics if metric in metrics_by_id
    }
    assert sum(metric in metrics_in_sections for metric in leading) >= expected
    assert leading != [] or not document.metric_tables


# Hostile texts of a report

HOSTILE = "</script><script>alert(1)</script><!-- \"&amp;' <b onclick=x>\u2028\u202e\x1b[31mred{{ 7*7 }}{% raw %}"


def create_hostile_document() -> Document:
    """Create a document in which all texts are hostile."""
    word = HOSTILE
    row = (word, word)
    document = limit_charts(build_sample(), 1)
    (chart,) = document.distributions
    plot = Plot(
        "plot", 99, word, word, word, "timeline", ("line", "x", "y"), ((word, 0.0, 1.0), (word, 1.0, 2.0)), (word,)
    )
    hostile_chart = replace(chart, title=word, x_label=word, series=(replace(chart.series[0], run=word),))
    table = replace(
        document.metric_tables[0],
        title=word, doc=word, header=(word, word, word, word, word), rows=((word, "1", "2", "3", "4"),),
        metrics=(chart.id,),
    )  # fmt: skip
    return replace(
        document, title=word, subtitle=word, author=word, intro=(word,), warnings=(word,),
        manifest=Table(word, (word, word), (row,)),
        parts=(
            Part("first", word, (word,), (hostile_chart,), (table,)),
            Part("part", word, (word,), (plot,), (Table(word, (word, word), (row,)),)),
        ),
        dictionary=tuple(replace(group, title=word, entries=tuple(
            replace(entry, name=word, description=word, unit=word) for entry in group.entries
        )) for group in document.dictionary),
        appendices=(Appendix(word, (word,), (word, word), (row,), notes=(word,)),), provenance=((word, word),),
        filters=Table(word, (word, word), (row,)),
    )  # fmt: skip


def test_texts_that_look_like_markup_stay_texts() -> None:
    document = create_hostile_document()
    chart = document.distributions[0].id
    page_details = ReportDetails((HOSTILE,), {chart: Detail(((HOSTILE,),), ((HOSTILE, HOSTILE),), HOSTILE, HOSTILE)})
    text = render_page(document, page_details)
    result, plain_page = parse_page(text), parse_page(render_page(limit_charts(build_sample(), 1)))
    assert {name for name, _ in result.elements} <= {name for name, _ in plain_page.elements} | {"ul", "li", "h3", "p"}
    assert len(result.raw["script"]) == len(plain_page.raw["script"]) == 3
    assert not any(name.startswith("on") for _, attributes in result.elements for name in attributes)
    assert result.list_texts("h1") == [normalize_text(HOSTILE)]
    assert result.tables[0][1] == [normalize_text(HOSTILE)] * 2
    assert read_data(result)["metrics"][chart]["sql"] == normalize_text(HOSTILE)
    assert read_data(result)["metrics"][chart]["events"] == [[normalize_text(HOSTILE)] * 2]
    assert "\x1b" not in text
    assert "49" not in result.list_texts("h1")[0]


def test_ids_of_the_dictionary_break_behind_punctuation() -> None:
    sample = limit_charts(build_sample(), 0)
    group = sample.dictionary[0]
    entry = replace(group.entries[0], id="load_time.of-<x>/y:z")
    page = render_page(replace(sample, dictionary=(replace(group, entries=(entry,)),)))
    assert "<code>load_<wbr>time.<wbr>of-<wbr>&lt;x&gt;/<wbr>y:<wbr>z</code>" in page


def test_data_cannot_end_the_element_that_holds_it() -> None:
    value = {"a": HOSTILE, "b": ["<!--", "</SCRIPT >", "]]>", "&lt;", "\u2028\u2029"]}
    text = format_script_data(value)
    assert re.search(r"[<>&\u2028\u2029]", text) is None
    assert json.loads(text) == value
    assert format_chart_bundle('"</script>" + "<!--" + "<script>"').count("<") == 0


def test_the_page_allows_its_own_scripts_and_no_address() -> None:
    result = parse_page(build_page(limit_charts(build_sample(), 1), TEMPLATES, "window.x = 1;"))
    (policy,) = [item["content"] for _, item in result.elements if item.get("http-equiv") == "Content-Security-Policy"]
    assert policy
    rules = {name: sources for name, _, sources in (part.strip().partition(" ") for part in policy.split(";"))}
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in result.raw["script"][1:]
    ]
    assert rules["script-src"].split() == [f"'sha256-{item}'" for item in hashes]
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert not {"unsafe-eval", "http", "*"} & set(re.findall(r"unsafe-eval|http|\*", policy))
    assert [item for _, item in result.elements if "src" in item] == []
    assert re.findall(r"url\((?!\"data:)", result.raw["style"][0]) == []


# Tables


def print_rows(*rows: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return rows whose cells have the numbers that they print, as those of reports have."""
    return tuple(tuple(map(print_number, row)) for row in rows)


def test_numbers_are_sorted_by_value() -> None:
    texts = ("1e-05", "-0.5", "−2", "+3.0", "6660.", ".5", "18147", "(288>)", "(52)")
    assert [format_number(get_value(read_cell(text))) for text in texts] == [
        "1e-05",
        "-0.5",
        "-2.0",
        "3.0",
        "6660.0",
        "0.5",
        "18147.0",
        "288.0",
        "52.0",
    ]
    others = ("", "—", "NaN", "10.5-sim", "2026-02-05", "1.2.3", "1 2")
    assert [get_value(read_cell(text)) for text in others] == [None] * 7
    assert format_number((1.5, 2)) == ""


def test_table_keeps_the_numbers_that_its_cells_print() -> None:
    table = Table("T", ("", "x", "y"), print_rows(("a", "1.50", "—"), ("b", "-2", "10.2-sim")))
    assert table.values == ((None, 1.5, None), (None, -2, None))
    assert Table("T", ("a",), (("1.5",),)).values == ()
    copied = pickle.loads(pickle.dumps(table))
    assert (copied, copied.values) == (table, table.values)
    with pytest.raises(AssayError, match="the values of the table `T` do not fit its cells"):
        replace(table, rows=table.rows[:1])


def test_a_column_that_holds_other_texts_has_no_numbers() -> None:
    grid = build_plain_grid(
        Table("T", ("name", "run", "value"), print_rows(("a", "10.2", "1.5"), ("b", "10.1.4", "—"))), {}
    )
    assert [cell.number for row in grid.rows for cell in row] == ["", "", "1.5", "", "", ""]
    assert [column.numeric for column in grid.columns] == [False, False, True]


def test_decimal_points_of_a_column_are_aligned() -> None:
    grid = build_plain_grid(Table("T", ("", "x"), print_rows(("a", "1.25"), ("b", "10"), ("c", "3.5"))), {})
    assert [row[1].room for row in grid.rows] == [0.0, 2.5, 1.0]


def test_marks_of_cells_are_on_the_page_and_in_markdown() -> None:
    marks = (Mark(0, 1, "strong"), Mark(1, 1, "bad"), Mark(1, 0, "shaded-2"), Mark(1, 1, "shaded"))
    table = Table("T", ("a", "b"), print_rows(("x", "1.5"), ("y", "-2")), marks)
    wide_plot = Plot(
        "wide", 9, "Wide", "s", "Words", "timeline", ("line", "x", "y"), (("a", 0.0, 1.0), ("a", 1.0, 2.0)), ("a",)
    )
    gallery = Part("part", "Part", (), (None,), (table,), 3, (wide_plot,))
    claim = Appendix("Claims", ("Said.",), ("What", "Agrees"), (("x", "yes"),))
    document = replace(build_sample(), parts=(gallery,), claims=(claim,))
    result = parse_page(render_page(document))
    classes = [item.get("class") for name, item in result.elements if name in ("th", "td") and item.get("class")]
    assert {"number strong", "number bad shaded", "shaded-2"} <= set(classes)
    assert "wide" in read_data(result)["charts"]
    assert result.tables[-1] == [["What", "Agrees"], ["x", "yes"]]
    assert {"Claims", "T"} <= set(result.list_texts("h3"))
    text = render_markdown(document)
    assert "| x | **1.5** |\n| y | **-2** |" in text
    assert "| --- | --: |\n| x | **1.5**" in text
    assert "](charts/wide.svg)" in text
    assert "### Claims\n\nSaid." in text


def test_numbers_of_other_tables_lead_to_their_metric() -> None:
    metrics_by_label = {"Size, tx": "size", "Rate, tx/s": "rate"}
    table = Table("T", ("Number", "Size, tx", "Other"), print_rows(("1", "5", "7"), ("Rate, tx/s", "6", "8")))
    assert [[cell.metric for cell in row] for row in build_plain_grid(table, metrics_by_label).rows] == [
        ["", "size", ""], ["rate", "size", "rate"],
    ]  # fmt: skip


def test_table_names_the_subjects_of_its_cells() -> None:
    known_columns = {"size": 1, "day": 1, "key": 1}
    rows = (("2026-02-05", "5", "—"), ("y", "6 *", "10.5-sim"))
    grid_by_rows = build_plain_grid(
        Table("T", ("a", "b", "c"), rows, of_rows=("day", "size")), {"y": "wrong"}, known_columns
    )
    assert [[cell.metric for cell in row] for row in grid_by_rows.rows] == [
        ["day", "day", ""],
        ["size", "size", "size"],
    ]
    assert [[cell.of for cell in row] for row in grid_by_rows.rows][1] == ["", "T, y; b", "T, y; c"]
    table = Table("P", ("k", "1", "2"), rows, of_rows=("day", "day"), of_columns=("key", "size", ""), of_headings="key")
    grid_by_columns = build_plain_grid(table, {}, known_columns)
    assert [[cell.metric for cell in row] for row in grid_by_columns.rows] == [["key", "size", ""], ["", "size", "day"]]
    assert (grid_by_columns.headings, grid_by_columns.rows[0][0].of) == ("key", "P; k")
    assert not build_plain_grid(table, {}).leads
    with pytest.raises(AssayError, match="must name one entry a row"):
        Table("T", ("a",), (("x",),), of_rows=("day", "day"))


def test_every_number_of_a_pinned_table_leads_to_an_entry() -> None:
    """Exceptions are counts in words, and texts that only look like numbers: versions of runs, hosts."""
    for name in PINNED:
        document = load_pinned_document(name)
        entries_by_id = {entry.id: entry for entry in document.entries}
        tables = [document.manifest, document.filters]
        tables += [item for part in document.parts for item in part.tables if isinstance(item, Table)]
        for table in tables:
            if not table.of_rows and not table.of_columns:
                continue
            grid = build_plain_grid(table, {}, entries_by_id)
            for row in grid.rows:
                for cell in row[1:]:
                    assert cell.metric or not cell.number, (name, table.title, cell)
        assert {item for plot in document.figures if isinstance(plot, Plot) for item in plot.shows} <= set(
            entries_by_id
        )
        metrics = [item for table in tables for item in (*table.of_rows, *table.of_columns, table.of_headings) if item]
        assert set(metrics) <= set(entries_by_id)
        assert {entry.id for group in document.terms for entry in group.entries} <= {*metrics, "count.samples"}
        assert all(entry.description for group in document.terms for entry in group.entries)


@pytest.mark.parametrize(
    "name", [name for name in PINNED if any(part.quoted for part in load_pinned_document(name).parts)]
)
def test_every_number_that_prose_quotes_leads_to_its_definition(name: str) -> None:
    document, result = load_pinned_document(name), read_pinned_page(name)
    quoted_parts = [(part.text[item.paragraph][item.begin : item.end], item) for part in document.parts
              for item in part.quoted]  # fmt: skip
    assert {item.entry for _, item in quoted_parts} <= {entry.id for entry in document.entries}
    texts = [text for element, text in result.texts if element == "a"]
    links = [item for element, item in result.elements if element == "a"]
    links_of_texts = [
        (text, link.get("data-metric"), link.get("data-of")) for text, link in zip(texts, links, strict=True)
    ]
    assert quoted_parts != []
    assert [
        (text, item.entry, item.of) for text, item in quoted_parts if (text, item.entry, item.of) not in links_of_texts
    ] == []


def test_quoted_value_has_the_position_of_its_text() -> None:
    value = QuotedValue(0, 3, 7, "size", "run a")
    part = Part("part", "Part", ("In 5 tx, and <b>.",), (), (), quoted=(value,))
    blocks = build_text(part, {"size": 1})
    assert [[(item.cell.text, item.cell.metric, item.cell.of) for item in block.pieces] for block in blocks] == [
        [("In ", "", ""), ("5 tx", "size", "run a"), (", and <b>.", "", "")]
    ]
    assert [item.cell.metric for item in build_text(part, {})[0].pieces] == ["", "", ""]
    for wrong_value in (replace(value, end=99), replace(value, paragraph=1), replace(value, end=3)):
        with pytest.raises(AssayError, match="a quoted value of the part `Part` is not in its text"):
            replace(part, quoted=(wrong_value,))
    with pytest.raises(AssayError, match="is not in its text"):
        replace(part, quoted=(value, value))


def test_paragraph_has_the_positions_of_its_quotes() -> None:
    first, second = (Quote(name, (), None, Span("prose.md")) for name in ("size", "rate"))
    text = "Of\n {{ size() }}\0 and\t{{ rate() }}.\n\nAlone.\n\n{{ size() }} x"
    prose = Prose(Path("prose.md"), text, (first, second, first))
    quoted_values = {"size": "5  tx", "rate": "7 tx/s"}
    rendered_prose = prose.render(lambda quote: quoted_values[quote.metric])
    texts = [block.text for block in rendered_prose.blocks]
    assert texts == ["Of 5 tx\\x00 and 7 tx/s.", "Alone.", "5 tx x"]
    assert [
        [text[begin:end] for begin, end, _ in quote_spans]
        for text, quote_spans in zip(texts, rendered_prose.quote_spans, strict=True)
    ] == [["5 tx", "7 tx/s"], [], ["5 tx"]]
    without_rates = prose.render(lambda quote: None if quote is second else "5")
    assert [block.text for block in without_rates.blocks] == ["Alone.", "5 x"]


def test_figures_and_tables_stand_side_by_side_as_on_paper() -> None:
    tables = tuple(Table(f"T{index}", ("a", "b"), (("x", "1"),), beside=index in (1, 3, 4)) for index in range(5))
    plots = tuple(
        Plot(f"p{index}", 90 + index, "P", "s", "Words", "timeline", ("line", "x", "y"), (("a", 0.0, 1.0),), ("a",))
        for index in range(2)
    )
    gallery = Part("part", "Part", (), (plots[0], None, plots[1]), tables, 3)
    result = parse_page(render_page(replace(build_sample(), parts=(gallery,))))
    classes = [item.get("class") for _, item in result.elements]
    assert group_tables_by_row(tables) == [[0, 1], [2, 3, 4]]
    assert (classes.count("gallery of-3"), classes.count("gap"), classes.count("row-of-tables")) == (1, 1, 2)
    assert "broad" in classes
    assert [text for text in result.list_texts("h3") if text.startswith("T")] == ["T0", "T1", "T2", "T3", "T4"]


def test_further_runs_share_a_heading_above_sample_counts() -> None:
    document = load_pinned_document("three")
    grid = build_metric_grid(document.metric_tables[0], {})
    assert [(column.text, column.above, column.shared) for column in grid.columns[1:8]] == [
        ("baseline", "", 0), ("value", "candidate", 5), ("Δ", "candidate", 0), ("Δ%", "candidate", 0),
        ("95 %", "candidate", 0), ("Verdict", "candidate", 0), ("value", "candidate2", 5),
    ]  # fmt: skip
    counted_grid = build_metric_grid(load_pinned_document("two-org-2023").metric_tables[0], {})
    assert [row[0].text for row in counted_grid.foot] == ["Sample count"]
    assert "Sample count" not in [row[0].text for row in counted_grid.rows]


# Charts


@pytest.mark.parametrize("name", ["two", "history", "qa"])
def test_the_charts_of_a_page_are_vega_lite(name: str) -> None:
    document = load_pinned_document(name)
    specs = build_web_specs(document.figures, TEMPLATES, document.manifest.header[1:])
    drawn_figures = [item for item in document.figures if isinstance(item, Plot) or not item.remark]
    for figure in {item.template: item for item in drawn_figures}.values():
        first_rows = {key: rows[:3] for key, rows in specs[figure.id]["datasets"].items()}
        altair.Chart.from_dict(specs[figure.id] | {"config": load_theme(TEMPLATES), "datasets": first_rows})
    assert set(specs) == {item.id for item in drawn_figures}


def test_chart_without_samples_has_a_note() -> None:
    chart = Chart("none", 1, "Nothing", "x", "s", "cdf", ())
    result = parse_page(render_page(replace_charts(build_sample(), chart)))
    assert "No samples." in result.list_texts("p")
    assert read_data(result)["charts"] == {}


def test_every_timeline_of_print_has_one_for_the_page() -> None:
    printed_templates = {path.name for path in (TEMPLATES / "charts").glob("timeline*")}
    assert {path.name for path in (TEMPLATES / "html" / "charts").glob("timeline*")} == printed_templates
    rows = (("mean", 0.0, 1.0, None), ("b", 0.0, 2.0, None), (None, 5.0, None, "now"))
    for name in sorted(printed_templates):
        template = name.removesuffix(".vl.json")
        plot = Plot("p", 1, "P", "s", "Words", template, ("line", "x", "y", "mark"), rows, ("mean", "b", "absent"))
        result = parse_page(render_page(replace(build_sample(), parts=(Part("g", "G", (), (plot,), ()),))))
        spec = read_data(result)["charts"]["p"]
        altair.Chart.from_dict(spec)
        assert spec["usermeta"]["assay"]["toggles"]["present"] == ["mean", "b"]
        strokes = [item["class"] for element, item in result.elements if element == "line"]
        assert strokes == (["mean", "run-1"] if "-mean" in template else ["run-1", "run-2"])


@pytest.mark.parametrize(
    ("template", "count", "named", "switched"),
    [
        ("timeline-mean", 12, (), [*"abcdefghijkl", "mean"]),
        ("timeline-mean", 200, ("mean", "b", "k"), ["b", "k", "mean"]),
        ("timeline-area", 12, (), [*"abcdefghijkl"]),
        ("timeline-area", 13, (), []),
    ],
)
def test_only_named_lines_of_many_can_be_switched_off(
    template: str, count: int, named: tuple[str, ...], switched: list[str]
) -> None:
    lines = [chr(ord("a") + index) if index < 26 else f"line {index}" for index in range(count)]
    panels = (*lines, *(["mean"] if "mean" in template else []))
    rows = tuple((line, float(x), 1.0, None) for line in panels for x in (0, 1))
    plot = Plot("p", 1, "P", "s", "Words", template, ("line", "x", "y", "mark"), rows, panels, named=named)
    gallery = Part("g", "G", (), (plot,), ())
    result = parse_page(render_page(replace(build_sample(), parts=(gallery,))))
    buttons = [item["data-line"] for element, item in result.elements if element == "button" and "data-line" in item]
    assert buttons == switched
    assert len(read_data(result)["charts"]["p"]["usermeta"]["assay"]["toggles"]["present"]) == len(panels)


def test_template_without_one_for_the_page_is_as_in_print(tmp_path: Path) -> None:
    (tmp_path / "html" / "charts").mkdir(parents=True)
    (tmp_path / "charts").symlink_to(TEMPLATES / "charts")
    chart = Chart("a", 1, "A", "a", "s", "cdf", (Series("run", ((1.0, 0.0, None, None), (2.0, 1.0, None, None))),))
    spec = build_web_specs((chart,), tmp_path, ("run",))["a"]
    assert spec["usermeta"] == {"assay": {"paper": True}}
    assert [layer["data"]["name"] for layer in spec["layer"]] == ["points", "legend", "legend"]


# Templates of a workspace, which may be hostile


@pytest.mark.parametrize(
    ("text", "line", "expected_message"),
    [
        ("<p>\n{{ ''.__class__.__mro__ }}", 2, "access to attribute '__class__' of 'str' object is unsafe."),
        ("{{ document.title.format.__globals__ }}", 1, "access to attribute '__globals__' of"),
        ("<p>\n\n{% if %}", 3, "Expected an expression, got 'end of statement block'"),
        ("\n{{ document.titel }}", 2, "has no attribute 'titel'"),
        ("{{ 1 // 0 }}", 1, "division"),
        ("{% include '../secret' %}", 1, "../secret"),
    ],
)
def test_template_only_fills_a_page(tmp_path: Path, text: str, line: int, expected_message: str) -> None:
    templates = tmp_path / "templates"
    shutil.copytree(TEMPLATES, templates)
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    place = templates / "html" / "report.html.j2"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(AssayError) as result:
        build_page(build_sample(), templates, "")
    (problem,) = result.value.diagnostics
    assert (problem.code, problem.span) == ("template", Span(str(place), line))
    assert problem.message.startswith("the page cannot be rendered: ")
    assert expected_message in problem.message


def test_a_style_sheet_cannot_end_its_element(tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    shutil.copytree(TEMPLATES, templates)
    place = templates / "html" / "report.css"
    place.write_text("p {}</style><script>", encoding="utf-8")
    with pytest.raises(AssayError) as result:
        build_page(build_sample(), templates, "")
    assert str(result.value) == (f"error[template]: the text would end its element of the page\n  at {place}")


# Bytes


def test_chart_library_is_reproducible_and_cached(tmp_path: Path) -> None:
    program = (
        "import sys; from assay.report.render.html import build_chart_bundle; sys.stdout.write(build_chart_bundle())"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first = build_chart_bundle(tmp_path)
    (cached_file,) = tmp_path.iterdir()
    assert first == result.stdout
    cached_file.write_text(seal_text(cached_file.name, "window.vegaEmbed = 1;"), encoding="utf-8")
    assert build_chart_bundle(tmp_path) == format_chart_bundle("window.vegaEmbed = 1;")


def test_rows_have_ids_runs_and_values_of_dimensions() -> None:
    table = Table("T", ("", "old", "new p95"), (("a  b", "1", "2"), ("a b", "3", "4"), ("t", "5", "6")))
    grid = build_plain_grid(replace(table, of_rows=("a  b", "a b", 't[kind="x, y",ok=true]')), {})
    grid = identify_rows(grid, "row-part", ("old", "new"))
    assert grid.row_ids == ("row-part-a-b", "row-part-a-b-2", 'row-part-t[kind="x,-y",ok=true]')
    assert [column.run for column in grid.columns] == ["", "old", ""]
    assert grid.values == ({}, {}, {"kind": "x, y", "ok": "true"})
    assert list_values_of_segment("t[kind,ok=(other 2)]") == {"kind": "(other)", "ok": "(other)"}


def test_a_page_is_the_same_bytes_again() -> None:
    assert render_page(load_pinned_document("two")) == render_page(load_pinned_document("two"))


def test_fonts_of_the_page_are_derived_from_those_of_the_pdf() -> None:
    subset_files = {f"{family.replace(' ', '')}-{style}.woff2" for family, style in web_fonts.FONTS.values()}
    assert {path.name for path in (TEMPLATES / "html" / "fonts").iterdir()} == subset_files
    first = web_fonts.derive_font(TEMPLATES / "fonts" / "SourceSans3-Regular.otf", "Report Sans", "Regular")
    assert first == (TEMPLATES / "html" / "fonts" / "ReportSans-Regular.woff2").read_bytes()


def test_descriptions_keep_their_lines_without_empty_ones() -> None:
    metric = Entry("ratio", "Ratio", "%", "Failed by all\nFormula: failed / all.", "abc")
    line = Entry("queue", "queue", "", "Queue.", "")
    text = render_page(replace(build_sample(), dictionary=(Group("Metrics", (metric,)), Group("Time series", (line,)))))
    assert '<td class="lines">Failed by all\nFormula: failed / all.</td>' in text
    tables = [table for table in parse_page(text).tables if table[0][:1] == ["Metric"] and "Description" in table[0]]
    assert ["Definition" in table[0] for table in tables] == [True, False]
    assert [table[1][0] for table in tables] == ["Ratioratio", "queue"]
