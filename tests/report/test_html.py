"""The report as a web page: every text of the document is in it and stays text; its bytes are always the same."""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair
import pytest

from assay.report.document import (
    Appendix,
    Chart,
    Document,
    Entry,
    Gallery,
    Group,
    Mark,
    Plot,
    Quoted,
    Series,
    Table,
    from_json,
)
from assay.report.prose import Prose, Quote
from assay.report.render.html import (
    Behind,
    Detail,
    bundle,
    bundle_text,
    data_text,
    page,
    rows_of_tables,
    theme,
    web_specs,
)
from assay.report.render.html_tables import metric_grid, number, paragraphs, plain_grid
from assay.report.render.markdown import markdown
from assay.util.checksums import seal_text
from assay.util.diagnostics import AssayError, Span
from assay.util.escape import normalize_text
from tests.report_sample import TEMPLATES, sample, with_charts
from tests.support.laboratory import ROOT
from tools import web_fonts

PINNED = sorted(path.name.removesuffix(".document.json") for path in (ROOT / "golden/reports").glob("*.document.json"))
VOID = {"meta", "link", "br", "line", "input", "img"}
NO_BUNDLE = "/* no charts here */"


def pinned(name: str) -> Document:
    """The document of a pinned build."""
    return from_json((ROOT / "golden" / "reports" / f"{name}.document.json").read_text(encoding="utf-8"))


@dataclasses.dataclass
class Read:
    """What a reader of HTML finds: tables as rows of cells, elements as (name, attributes), texts by their elements."""

    tables: list[list[list[str]]] = dataclasses.field(default_factory=list)
    elements: list[tuple[str, dict[str, str | None]]] = dataclasses.field(default_factory=list)
    texts: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    raw: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.elements if "id" in attributes]

    def of(self, element: str) -> list[str]:
        """The texts of all elements of a name."""
        return [text for name, text in self.texts if name == element]


class _Reader(HTMLParser):
    """Reads a page; fails when elements are not closed in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.read = Read()
        self.open: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        result = dict(attributes)
        assert len(result) == len(attributes), f"<{tag}> names an attribute twice"
        self.read.elements.append((tag, result))
        if tag in VOID:
            return
        self.open.append((tag, []))
        if tag == "table":
            self.read.tables.append([])
        if tag == "tr":
            self.read.tables[-1].append([])

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)

    def handle_data(self, data: str) -> None:
        for _, parts in self.open:
            parts.append(data)

    def handle_endtag(self, tag: str) -> None:
        name, parts = self.open.pop()
        assert name == tag, f"</{tag}> closes <{name}>"
        text = "".join(parts)
        if tag in ("script", "style"):
            self.read.raw.setdefault(tag, []).append(text)
        self.read.texts.append((tag, text))
        if tag in ("td", "th"):
            self.read.tables[-1][-1].append(text)


def read(text: str) -> Read:
    """The page, read."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader.read


@functools.cache
def pinned_page(name: str) -> Read:
    """The page of a pinned build, read."""
    return read(output(pinned(name)))


def output(document: Document, behind: Behind | None = None) -> str:
    """The page of a document, without the library that draws."""
    return page(document, TEMPLATES, NO_BUNDLE, behind or Behind())


def data_of(result: Read) -> Any:
    """What the scripts of a page read."""
    return json.loads(result.raw["script"][0])


def tables_of(document: Document) -> Iterator[tuple[tuple[str, ...], ...]]:
    """The rows of the document's tables below their headings, in order; not those of the dictionary."""
    if document.manifest.rows:
        yield document.manifest.rows
    yield from (section.rows for section in document.sections)
    yield from (table.rows for gallery in document.galleries for table in gallery.tables)
    if document.filters.rows:
        yield document.filters.rows
    yield from (part.rows for part in document.appendices if part.rows)
    if document.provenance:
        yield document.provenance
    yield from (part.rows for part in document.claims)


@pytest.mark.parametrize("name", PINNED)
def test_every_cell_of_a_pinned_report_is_on_its_page(name: str) -> None:
    document = pinned(name)
    result = pinned_page(name)
    dictionary = [table for table in result.tables if table[0][:3] == ["Metric", "Description", "Unit"]]
    terms = [table for table in result.tables if table[0] == ["Number", "What it is", "Unit"]]
    others = iter(table for table in result.tables if table not in (*dictionary, *terms))
    for rows in tables_of(document):
        table = next(others)
        below = table[len(table) - len(rows) :]
        assert [tuple(cells[: len(row)]) for cells, row in zip(below, rows, strict=True)] == [
            tuple(map(normalize_text, row)) for row in rows
        ]
    assert list(others) == []
    entries = [entry for group in document.dictionary for entry in group.entries]
    assert [row[:3] for table in dictionary for row in table[1:]] == [
        [item.name + (item.id if item.id != item.name else ""), item.description, item.unit] for item in entries
    ]
    assert [row for table in terms for row in table[1:]] == [
        [item.name, item.description, item.unit] for group in document.terms for item in group.entries
    ]


@pytest.mark.parametrize("name", PINNED)
def test_texts_of_a_pinned_report_are_on_its_page(name: str) -> None:
    document = pinned(name)
    result = pinned_page(name)
    assert result.of("h1") == result.of("title") == [document.title]
    parts = [*document.sections, *document.galleries, *document.appendices]
    assert {part.title for part in parts} <= set(result.of("h2"))
    assert {table.title for part in document.galleries for table in part.tables} - {""} <= set(result.of("h3"))
    prose = {*document.intro, *(section.doc for section in document.sections if section.doc)}
    prose |= {text for part in (*document.galleries, *document.appendices) for text in part.text}
    assert prose - set(result.of("p")) == set()
    assert [text for text in result.of("li") if text in document.warnings] == list(document.warnings)
    assert {text for part in document.appendices for text in part.notes} <= set(result.of("li"))
    captions = result.of("figcaption")
    titles = [f"Figure {item.figure} {item.title}" for item in document.figures]
    assert [text[: len(title)] for text, title in zip(captions, titles, strict=True)] == titles
    drawn = [item["data-chart"] for _, item in result.elements if "data-chart" in item]
    assert set(drawn) == set(data_of(result)["charts"])
    assert drawn == [item.id for item in document.figures if isinstance(item, Plot) or item.series]


@pytest.mark.parametrize("name", PINNED)
def test_links_of_a_pinned_report_lead_to_elements_of_its_page(name: str) -> None:
    result = pinned_page(name)
    assert len(result.ids) == len(set(result.ids))
    targets = [str(item["href"]) for element, item in result.elements if element == "a" and "href" in item]
    assert {target[1:] for target in targets if target.startswith("#")} <= set(result.ids)
    assert [target for target in targets if not target.startswith(("#", "charts/"))] == []


@pytest.mark.parametrize("name", PINNED)
def test_every_number_of_a_metric_leads_to_its_definition(name: str) -> None:
    document = pinned(name)
    result = pinned_page(name)
    known = data_of(result)["metrics"]
    leading = [item["data-metric"] for element, item in result.elements if element == "a" and "data-of" in item]
    assert set(leading) <= set(known)
    expected = sum(
        bool(number(cell))
        for section in document.sections
        for metric, row in zip(section.metrics, section.rows, strict=True)
        if metric in known
        for cell in row[1:]
    )
    in_sections = {metric for section in document.sections for metric in section.metrics if metric in known}
    assert sum(metric in in_sections for metric in leading) >= expected
    assert leading != [] or not document.sections


# What a text of a report could do

HOSTILE = "</script><script>alert(1)</script><!-- \"&amp;' <b onclick=x>\u2028\u202e\x1b[31mred{{ 7*7 }}{% raw %}"


def hostile() -> Document:
    """A document all of whose texts are hostile."""
    word = HOSTILE
    row = (word, word)
    document = with_charts(sample(), 1)
    (chart,) = document.charts
    plot = Plot(
        "plot", 99, word, word, word, "timeline", ("line", "x", "y"), ((word, 0.0, 1.0), (word, 1.0, 2.0)), (word,)
    )
    first = document.sections[0]
    return replace(
        document, title=word, subtitle=word, author=word, intro=(word,), warnings=(word,),
        manifest=Table(word, (word, word), (row,)),
        sections=(replace(first, title=word, doc=word, header=(word, word, word, word, word),
                          rows=((word, "1", "2", "3", "4"),), metrics=(chart.id,)),),
        charts=(replace(chart, title=word, x_label=word, series=(replace(chart.series[0], run=word),)),),
        galleries=(Gallery("part", word, (word,), (plot,), (Table(word, (word, word), (row,)),)),),
        dictionary=tuple(replace(group, title=word, entries=tuple(
            replace(entry, name=word, description=word, unit=word) for entry in group.entries
        )) for group in document.dictionary),
        appendices=(Appendix(word, (word,), (word, word), (row,), notes=(word,)),), provenance=((word, word),),
        filters=Table(word, (word, word), (row,)),
    )  # fmt: skip


def test_texts_that_look_like_markup_stay_texts() -> None:
    document = hostile()
    chart = document.charts[0].id
    behind = Behind((HOSTILE,), {chart: Detail(((HOSTILE,),), ((HOSTILE, HOSTILE),), HOSTILE, HOSTILE)})
    text = output(document, behind)
    result, plain = read(text), read(output(with_charts(sample(), 1)))
    assert {name for name, _ in result.elements} <= {name for name, _ in plain.elements} | {"ul", "li", "h3", "p"}
    assert len(result.raw["script"]) == len(plain.raw["script"]) == 3
    assert not any(name.startswith("on") for _, attributes in result.elements for name in attributes)
    assert result.of("h1") == [normalize_text(HOSTILE)]
    assert result.tables[0][1] == [normalize_text(HOSTILE)] * 2
    assert data_of(result)["metrics"][chart]["sql"] == normalize_text(HOSTILE)
    assert data_of(result)["metrics"][chart]["events"] == [[normalize_text(HOSTILE)] * 2]
    assert "\x1b" not in text
    assert "49" not in result.of("h1")[0]


def test_data_cannot_end_the_element_that_holds_it() -> None:
    value = {"a": HOSTILE, "b": ["<!--", "</SCRIPT >", "]]>", "&lt;", "\u2028\u2029"]}
    text = data_text(value)
    assert re.search(r"[<>&\u2028\u2029]", text) is None
    assert json.loads(text) == value
    assert bundle_text('"</script>" + "<!--" + "<script>"').count("<") == 0


def test_the_page_allows_its_own_scripts_and_no_address() -> None:
    result = read(page(with_charts(sample(), 1), TEMPLATES, "window.x = 1;"))
    (policy,) = [item["content"] for _, item in result.elements if item.get("http-equiv") == "Content-Security-Policy"]
    assert policy
    rules = {name: rest for name, _, rest in (part.strip().partition(" ") for part in policy.split(";"))}
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in result.raw["script"][1:]
    ]
    assert rules["script-src"].split() == [f"'sha256-{item}'" for item in hashes]
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert not {"unsafe-eval", "http", "*"} & set(re.findall(r"unsafe-eval|http|\*", policy))
    assert [item for _, item in result.elements if "src" in item] == []
    assert re.findall(r"url\((?!\"data:)", result.raw["style"][0]) == []


# Tables


def test_numbers_are_sorted_by_what_they_stand_for() -> None:
    assert [number(text) for text in ("1e-05", "-0.5", "−2", "+3.0", "6660.", ".5", "18147 *", "(288>)", "(52)")] == [
        "1e-05", "-0.5", "-2.0", "3.0", "6660.0", "0.5", "18147.0", "288.0", "52.0",
    ]  # fmt: skip
    assert [number(text) for text in ("", "—", "NaN", "10.5-sim", "2026-02-05", "1.2.3", "1 2")] == [""] * 7


def test_a_column_that_holds_other_texts_has_no_numbers() -> None:
    grid = plain_grid(Table("T", ("name", "run", "value"), (("a", "10.2", "1.5"), ("b", "10.1.4", "—"))), {})
    assert [cell.number for row in grid.rows for cell in row] == ["", "", "1.5", "", "", ""]
    assert [column.numeric for column in grid.columns] == [False, False, True]


def test_points_of_a_column_stand_below_each_other() -> None:
    grid = plain_grid(Table("T", ("", "x"), (("a", "1.25"), ("b", "10"), ("c", "3.5"))), {})
    assert [row[1].room for row in grid.rows] == [0.0, 2.5, 1.0]


def test_what_sets_a_cell_apart_is_on_the_page_and_in_markdown() -> None:
    marks = (Mark(0, 1, "strong"), Mark(1, 1, "bad"), Mark(1, 0, "shaded"), Mark(1, 1, "shaded"))
    table = Table("T", ("a", "b"), (("x", "1.5"), ("y", "-2")), marks)
    wide = Plot(
        "wide", 9, "Wide", "s", "Words", "timeline", ("line", "x", "y"), (("a", 0.0, 1.0), ("a", 1.0, 2.0)), ("a",)
    )
    gallery = Gallery("part", "Part", (), (None,), (table,), 3, (wide,))
    claim = Appendix("Claims", ("Said.",), ("What", "Agrees"), (("x", "yes"),))
    document = replace(with_charts(sample(), 0), galleries=(gallery,), claims=(claim,))
    result = read(output(document))
    classes = [item.get("class") for name, item in result.elements if name in ("th", "td") and item.get("class")]
    assert {"number strong", "number bad shaded", "shaded"} <= set(classes)
    assert "wide" in data_of(result)["charts"]
    assert result.tables[-1] == [["What", "Agrees"], ["x", "yes"]]
    assert {"Claims", "T"} <= set(result.of("h3"))
    text = markdown(document)
    assert "| x | **1.5** |\n| y | **-2** |" in text
    assert "| --- | --: |\n| x | **1.5**" in text
    assert "](charts/wide.svg)" in text
    assert "### Claims\n\nSaid." in text


def test_numbers_of_other_tables_lead_to_their_metric() -> None:
    known = {"Size, tx": "size", "Rate, tx/s": "rate"}
    table = Table("T", ("Number", "Size, tx", "Other"), (("1", "5", "7"), ("Rate, tx/s", "6", "8")))
    assert [[cell.metric for cell in row] for row in plain_grid(table, known).rows] == [
        ["", "size", ""], ["rate", "size", "rate"],
    ]  # fmt: skip


def test_a_table_says_what_its_cells_are_values_of() -> None:
    known = {"size": 1, "day": 1, "key": 1}
    rows = (("2026-02-05", "5", "—"), ("y", "6 *", "10.5-sim"))
    by_rows = plain_grid(Table("T", ("a", "b", "c"), rows, of_rows=("day", "size")), {"y": "wrong"}, known)
    assert [[cell.metric for cell in row] for row in by_rows.rows] == [["day", "day", ""], ["size", "size", "size"]]
    assert [[cell.of for cell in row] for row in by_rows.rows][1] == ["", "T, y; b", "T, y; c"]
    table = Table("P", ("k", "1", "2"), rows, of_rows=("day", "day"), of_columns=("key", "size", ""), of_headings="key")
    by_columns = plain_grid(table, {}, known)
    assert [[cell.metric for cell in row] for row in by_columns.rows] == [["key", "size", ""], ["", "size", "day"]]
    assert (by_columns.headings, by_columns.rows[0][0].of) == ("key", "P; k")
    assert not plain_grid(table, {}).leads
    with pytest.raises(AssayError, match="must name one entry a row"):
        Table("T", ("a",), (("x",),), of_rows=("day", "day"))


def test_every_number_of_a_pinned_table_leads_to_an_entry() -> None:
    """But for counts in words, and for texts that only look like numbers: versions of runs, hosts."""
    for name in PINNED:
        document = pinned(name)
        known = {entry.id: entry for entry in document.entries}
        tables = [document.manifest, document.filters, *(table for part in document.galleries for table in part.tables)]
        for table in tables:
            if not table.of_rows and not table.of_columns:
                continue
            grid = plain_grid(table, {}, known)
            for row in grid.rows:
                for cell in row[1:]:
                    assert cell.metric or not number(cell.text), (name, table.title, cell)
        assert {item for plot in document.figures if isinstance(plot, Plot) for item in plot.shows} <= set(known)
        metrics = [item for table in tables for item in (*table.of_rows, *table.of_columns, table.of_headings) if item]
        assert set(metrics) <= set(known)
        assert {entry.id for group in document.terms for entry in group.entries} <= {*metrics, "count.samples"}
        assert all(entry.description for group in document.terms for entry in group.entries)


@pytest.mark.parametrize("name", [name for name in PINNED if any(part.quoted for part in pinned(name).galleries)])
def test_every_number_that_prose_quotes_leads_to_its_definition(name: str) -> None:
    document, result = pinned(name), pinned_page(name)
    quoted = [(part.text[item.paragraph][item.begin : item.end], item) for part in document.galleries
              for item in part.quoted]  # fmt: skip
    assert {item.entry for _, item in quoted} <= {entry.id for entry in document.entries}
    texts = [text for element, text in result.texts if element == "a"]
    links = [item for element, item in result.elements if element == "a"]
    leads = [(text, link.get("data-metric"), link.get("data-of")) for text, link in zip(texts, links, strict=True)]
    assert quoted != []
    assert [(text, item.entry, item.of) for text, item in quoted if (text, item.entry, item.of) not in leads] == []


def test_a_quoted_value_is_where_its_text_is() -> None:
    value = Quoted(0, 3, 7, "size", "run a")
    part = Gallery("part", "Part", ("In 5 tx, and <b>.",), (), (), quoted=(value,))
    pieces = paragraphs(part, {"size": 1})
    assert [[(cell.text, cell.metric, cell.of) for cell in row] for row in pieces] == [
        [("In ", "", ""), ("5 tx", "size", "run a"), (", and <b>.", "", "")]
    ]
    assert [cell.metric for cell in paragraphs(part, {})[0]] == ["", "", ""]
    for wrong in (replace(value, end=99), replace(value, paragraph=1), replace(value, end=3)):
        with pytest.raises(AssayError, match="a quoted value of the part `Part` is not in its text"):
            replace(part, quoted=(wrong,))
    with pytest.raises(AssayError, match="is not in its text"):
        replace(part, quoted=(value, value))


def test_a_paragraph_knows_where_its_quotes_are() -> None:
    first, second = (Quote(name, (), None, Span("prose.md")) for name in ("size", "rate"))
    text = "Of\n {{ size() }}\0 and\t{{ rate() }}.\n\nAlone.\n\n{{ size() }} x"
    prose = Prose(Path("prose.md"), text, (first, second, first))
    said = {"size": "5  tx", "rate": "7 tx/s"}
    shown = prose.paragraphs(lambda quote: said[quote.metric])
    assert [item.text for item in shown] == ["Of 5 tx\0 and 7 tx/s.", "Alone.", "5 tx x"]
    assert [[item.text[begin:end] for begin, end, _ in item.quoted] for item in shown] == [
        ["5 tx", "7 tx/s"], [], ["5 tx"],
    ]  # fmt: skip
    assert [item.text for item in prose.paragraphs(lambda quote: None if quote is second else "5")] == ["Alone.", "5 x"]


def test_figures_and_tables_stand_side_by_side_as_on_paper() -> None:
    tables = tuple(Table(f"T{index}", ("a", "b"), (("x", "1"),), beside=index in (1, 3, 4)) for index in range(5))
    plots = tuple(
        Plot(f"p{index}", 90 + index, "P", "s", "Words", "timeline", ("line", "x", "y"), (("a", 0.0, 1.0),), ("a",))
        for index in range(2)
    )
    gallery = Gallery("part", "Part", (), (plots[0], None, plots[1]), tables, 3)
    result = read(output(replace(with_charts(sample(), 0), galleries=(gallery,))))
    classes = [item.get("class") for _, item in result.elements]
    assert rows_of_tables(tables) == [[0, 1], [2, 3, 4]]
    assert (classes.count("gallery of-3"), classes.count("gap"), classes.count("row-of-tables")) == (1, 1, 2)
    assert "broad" in classes
    assert [text for text in result.of("h3") if text.startswith("T")] == ["T0", "T1", "T2", "T3", "T4"]


def test_further_runs_share_a_heading_above_sample_counts() -> None:
    document = pinned("three")
    grid = metric_grid(document.sections[0], {})
    assert [(column.text, column.above, column.shared) for column in grid.columns[1:6]] == [
        ("10.5-sim", "", 0), ("value", "10.6-sim", 3), ("Δ", "10.6-sim", 0), ("Δ%", "10.6-sim", 0),
        ("value", "10.7-sim", 3),
    ]  # fmt: skip
    counted = metric_grid(pinned("two-org-2023").sections[0], {})
    assert [row[0].text for row in counted.foot] == ["Sample count"]
    assert "Sample count" not in [row[0].text for row in counted.rows]


# Charts


@pytest.mark.parametrize("name", ["two", "history", "qa"])
def test_the_charts_of_a_page_are_vega_lite(name: str) -> None:
    document = pinned(name)
    specs = web_specs(document.figures, TEMPLATES, document.manifest.header[1:])
    for figure in {item.template: item for item in document.figures}.values():
        few = {key: rows[:3] for key, rows in specs[figure.id]["datasets"].items()}
        altair.Chart.from_dict(specs[figure.id] | {"config": theme(TEMPLATES), "datasets": few})
    assert set(specs) == {item.id for item in document.figures}


def test_a_chart_without_samples_says_so() -> None:
    chart = Chart("none", 1, "Nothing", "x", "s", "cdf", ())
    result = read(output(replace(with_charts(sample(), 0), charts=(chart,))))
    assert "No samples." in result.of("p")
    assert data_of(result)["charts"] == {}


def test_every_timeline_of_print_has_one_for_the_page() -> None:
    printed = {path.name for path in (TEMPLATES / "charts").glob("timeline*")}
    assert {path.name for path in (TEMPLATES / "html" / "charts").glob("timeline*")} == printed
    rows = (("a", 0.0, 1.0, None), ("b", 0.0, 2.0, None), (None, 5.0, None, "now"))
    for name in sorted(printed):
        template = name.removesuffix(".vl.json")
        plot = Plot("p", 1, "P", "s", "Words", template, ("line", "x", "y", "mark"), rows, ("a", "b", "absent"))
        result = read(output(replace(with_charts(sample(), 0), galleries=(Gallery("g", "G", (), (plot,), ()),))))
        spec = data_of(result)["charts"]["p"]
        altair.Chart.from_dict(spec)
        assert spec["usermeta"]["assay"]["toggles"]["present"] == ["a", "b"]
        strokes = [item["class"] for element, item in result.elements if element == "line"]
        assert strokes == (["mean", "run-1"] if "-mean" in template else ["run-1", "run-2"])


def test_template_without_one_for_the_page_is_as_in_print(tmp_path: Path) -> None:
    (tmp_path / "html" / "charts").mkdir(parents=True)
    (tmp_path / "charts").symlink_to(TEMPLATES / "charts")
    chart = Chart("a", 1, "A", "a", "s", "cdf", (Series("run", ((1.0, 0.0, None, None), (2.0, 1.0, None, None))),))
    spec = web_specs((chart,), tmp_path, ("run",))["a"]
    assert spec["usermeta"] == {"assay": {"paper": True}}
    assert [layer["data"]["name"] for layer in spec["layer"]] == ["points", "legend", "legend"]


# Templates of a workspace, which may be anybody's


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("<p>\n{{ ''.__class__.__mro__ }}", 2, "access to attribute '__class__' of 'str' object is unsafe."),
        ("{{ document.title.format.__globals__ }}", 1, "access to attribute '__globals__' of"),
        ("<p>\n\n{% if %}", 3, "Expected an expression, got 'end of statement block'"),
        ("\n{{ document.titel }}", 2, "has no attribute 'titel'"),
        ("{{ 1 // 0 }}", 1, "division"),
        ("{% include '../secret' %}", 1, "../secret"),
    ],
)
def test_a_template_does_nothing_but_fill_a_page(tmp_path: Path, text: str, line: int, said: str) -> None:
    templates = tmp_path / "templates"
    shutil.copytree(TEMPLATES, templates)
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    place = templates / "html" / "report.html.j2"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(AssayError) as result:
        page(sample(), templates, "")
    (problem,) = result.value.diagnostics
    assert (problem.code, problem.span) == ("template", Span(str(place), line))
    assert problem.message.startswith("the page cannot be made: ")
    assert said in problem.message


def test_a_style_sheet_cannot_end_its_element(tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    shutil.copytree(TEMPLATES, templates)
    place = templates / "html" / "report.css"
    place.write_text("p {}</style><script>", encoding="utf-8")
    with pytest.raises(AssayError) as result:
        page(sample(), templates, "")
    assert str(result.value) == (
        f"error[template]: the text would end the element of the page that holds it\n  at {place}"
    )


# Bytes


def test_the_library_is_the_same_in_every_process_and_kept(tmp_path: Path) -> None:
    program = "import sys; from assay.report.render.html import bundle; sys.stdout.write(bundle())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first = bundle(tmp_path)
    (kept,) = tmp_path.iterdir()
    assert first == done.stdout
    kept.write_text(seal_text(kept.name, "window.vegaEmbed = 1;"), encoding="utf-8")
    assert bundle(tmp_path) == bundle_text("window.vegaEmbed = 1;")


def test_a_page_is_the_same_bytes_again() -> None:
    assert output(pinned("two")) == output(pinned("two"))


def test_the_fonts_of_the_page_are_made_of_those_of_the_pdf() -> None:
    made_for_it = {f"{family.replace(' ', '')}-{style}.woff2" for family, style in web_fonts.FONTS.values()}
    assert {path.name for path in (TEMPLATES / "html" / "fonts").iterdir()} == made_for_it
    first = web_fonts.derive_font(TEMPLATES / "fonts" / "SourceSans3-Regular.otf", "Report Sans", "Regular")
    assert first == (TEMPLATES / "html" / "fonts" / "ReportSans-Regular.woff2").read_bytes()


def test_descriptions_keep_their_lines_without_empty_ones() -> None:
    metric = Entry("ratio", "Ratio", "%", "Failed by all\nFormula: failed / all.", "abc")
    line = Entry("queue", "queue", "", "Queue.", "")
    text = output(replace(sample(), dictionary=(Group("Metrics", (metric,)), Group("Time series", (line,)))))
    assert '<td class="lines">Failed by all\nFormula: failed / all.</td>' in text
    tables = [table for table in read(text).tables if table[0][:1] == ["Metric"] and "Description" in table[0]]
    assert ["Definition" in table[0] for table in tables] == [True, False]
    assert [table[1][0] for table in tables] == ["Ratioratio", "queue"]
