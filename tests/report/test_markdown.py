"""The report as Markdown: a reader of Markdown finds every text of the document in it, just as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assay.report.document import Appendix, Chart, Document, Entry, Group, Table, from_json
from assay.report.render.markdown import DISTRIBUTIONS, cell, contents, line, markdown, table
from assay.util.escape import normalize_text
from tests.compare_reference import PUBLISHED
from tests.report_sample import sample, with_charts
from tests.support.commands import Done, assay
from tests.support.laboratory import ROOT

PINNED = sorted(path.name.removesuffix(".document.json") for path in (ROOT / "golden/reports").glob("*.document.json"))
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

Rows = list[list[str]]


def pinned(name: str) -> Document:
    """The document of a pinned build."""
    return from_json((ROOT / "golden" / "reports" / f"{name}.document.json").read_text(encoding="utf-8"))


def text_of(inline: Token) -> str:
    """What a reader sees of an inline token; anchors are not seen, a break is a line feed."""
    seen = {"text": lambda item: item.content, "html_inline": lambda item: "\n" * (item.content == "<br>"),
            "softbreak": lambda _: "\n", "image": lambda item: f"[image {item.attrs['src']}]"}  # fmt: skip
    return "".join(seen.get(item.type, lambda _: "")(item) for item in inline.children or ())


def tables(tokens: Sequence[Token]) -> list[Rows]:
    """The tables of a text: rows of cells, the header first."""
    result: list[Rows] = []
    for before, token in pairwise(tokens):
        if before.type == "table_open":
            result.append([])
        if before.type == "tr_open":
            result[-1].append([])
        if before.type in ("th_open", "td_open"):
            result[-1][-1].append(text_of(token))
    return result


def expected_tables(document: Document) -> Iterator[Rows]:
    """The tables that a document has, as a reader should see them."""
    numbers = {item.id: str(item.figure) for item in document.figures}

    def plain(item: Table | Appendix) -> Rows:
        return [list(item.header), *map(list, item.rows)]

    if document.manifest.rows:
        yield plain(document.manifest)
    for section in document.sections:
        drawn = any(metric in numbers for metric in section.metrics)
        figures = [numbers.get(metric or "", "") for metric in section.metrics]
        more = ["Fig.", *figures] if drawn else []
        rows = [list(section.header), *map(list, section.rows)]
        yield [[*row, *more[index : index + 1]] for index, row in enumerate(rows)]
    for gallery in document.galleries:
        yield from map(plain, gallery.tables)
    for group in document.dictionary:
        hashed = any(entry.definition for entry in group.entries)
        named = any(entry.id != entry.name for entry in group.entries)
        drawn = any(entry.id in numbers for of in document.dictionary for entry in of.entries)
        header = ["Metric", *["Id"] * named, "Description", "Unit", *["Fig."] * drawn, *["Definition"] * hashed]
        yield [header] + [
            [item.name, *[item.id] * named, item.description, item.unit]
            + [numbers.get(item.id, "")] * drawn + [item.definition[:10]] * hashed
            for item in group.entries
        ]  # fmt: skip
    if document.filters.rows:
        yield plain(document.filters)
    yield from (plain(part) for part in document.appendices if part.rows)
    if document.provenance:
        yield [["What", "Value"], *map(list, document.provenance)]
    yield from map(plain, document.claims)


def paragraphs(tokens: Sequence[Token], kind: str) -> list[str]:
    """The texts of headings, or of paragraphs."""
    return [text_of(token) for before, token in pairwise(tokens) if before.type == f"{kind}_open"]


@pytest.mark.parametrize("name", PINNED)
def test_reader_finds_every_cell_of_a_pinned_report(name: str) -> None:
    document = pinned(name)
    tokens = READER.parse(markdown(document))
    assert tables(tokens) == list(expected_tables(document))


@pytest.mark.parametrize("name", PINNED)
def test_reader_finds_texts_and_pictures_of_a_pinned_report(name: str) -> None:
    document = pinned(name)
    tokens = READER.parse(markdown(document))
    headings = paragraphs(tokens, "heading")
    printed = paragraphs(tokens, "paragraph")
    assert headings[:2] == [document.title, "Contents"]
    titles = [title for title, _ in contents(document)]
    assert [item for item in headings if item in titles] == titles
    assert {table.title for gallery in document.galleries for table in gallery.tables} - {""} <= set(headings)
    assert {group.title for group in document.dictionary} <= set(headings)
    prose = [*document.intro, *(section.doc for section in document.sections if section.doc), *document.warnings]
    prose += [text for part in (*document.galleries, *document.appendices) for text in part.text]
    prose += [text for part in document.appendices for text in part.notes]
    assert [text for text in prose if text not in printed] == []
    pictures = [text for text in printed if text.startswith("[image ")]
    assert pictures == [f"[image charts/{item.id}.svg]" for item in document.figures]
    captions = [text for text in printed if text.startswith("Figure ")]
    assert [text.split(" — ")[0] for text in captions] == [
        f"Figure {item.figure} {item.caption}" for item in document.figures
    ]


@pytest.mark.parametrize("name", PINNED)
def test_links_of_a_pinned_report_lead_to_anchors_in_it(name: str) -> None:
    text = markdown(pinned(name))
    anchors = re.findall(r'<a id="([^"]*)">', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\]\(#([^)]*)\)", text)) <= set(anchors)


HOSTILE = (
    "a|b", "a\\|b", "\\", "`code`", "``", "<script>alert(1)</script>", "<br>", "<!-- -->", "&lt;", "&#35;", "&",
    "A & B", "# no heading", "- no item", "1. no item", "10.6-sim", "-0.5", "+ x", "> q", "=", "---", "*a*", "**",
    "_a_", "a_b_c", "__init__", "~~gone~~", "[a](b)", "![a](b)", "[x]: y", "https://example.org/a_b_c",
    "www.example.org", "$a$ $$", "two\nlines", "three\r\nlines\r", "\n", " leading", "trailing ", "\u00a0", "\t",
    "  ", "a  b", "18147 *", "\u202eabc\u200f", "Δ%", "a\u2028b", "# #", "a #", "||", "|",
    "a\\", ":-:", "\\n", "x<y>z", "1)", "\x85",
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_that_looks_like_markup_stays_text(text: str) -> None:
    (rows,) = tables(READER.parse(table([cell(text), ""], [[cell(text), cell(text)], ["", ""]])))
    assert rows == [[normalize_text(text), ""], [normalize_text(text)] * 2, ["", ""]]
    if normalize_text(text).strip():
        assert paragraphs(READER.parse(f"# {line(text)}\n\n{line(text)}\n"), "heading") == [normalize_text(text)]
        assert paragraphs(READER.parse(f"# {line(text)}\n\n{line(text)}\n"), "paragraph") == [normalize_text(text)]
        assert paragraphs(READER.parse(f"- {line(text)}\n- b\n"), "paragraph") == [normalize_text(text), "b"]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",))), min_size=2, max_size=4))
def test_any_cells_come_back(texts: list[str]) -> None:
    cells = [cell(text) for text in texts]
    assert tables(READER.parse(table(cells, [cells, cells]))) == [[[normalize_text(text) for text in texts]] * 3]


@given(st.text(st.characters(exclude_categories=("Cs",))).filter(lambda text: normalize_text(text).strip()))
def test_any_line_comes_back(text: str) -> None:
    assert paragraphs(READER.parse(f"## {line(text)}\n\n{line(text)}\n"), "heading") == [normalize_text(text)]
    assert paragraphs(READER.parse(f"## {line(text)}\n\n{line(text)}\n"), "paragraph") == [normalize_text(text)]


def test_control_characters_are_shown_as_escapes() -> None:
    assert cell("\x1b<\x00\x7f\x85\u202e") == r"\\x1b\<\\x00\\x7f\\x85\\u202e"
    assert "\x1b" not in markdown(replace(with_charts(sample(), 0), title="\x1b[31mred"))


def test_columns_of_numbers_stand_flush_right() -> None:
    assert table(["", "a", "b"], [["x", "1.5", "n/a"], ["y", "—", "2"]]).split("\n")[1] == "| --- | --: | --- |"


def test_a_document_without_parts_has_no_empty_headings() -> None:
    bare = replace(
        with_charts(sample(), 0), sections=(), dictionary=(), warnings=(), provenance=(), intro=(), author="",
        filters=Table("Filters", ("a",), ()), appendices=(Appendix("Notes", ("One.",), (), ()),),
    )  # fmt: skip
    headings = paragraphs(READER.parse(markdown(bare)), "heading")
    assert headings == [bare.title, "Contents", bare.manifest.title, "Notes"]


# The command line


def regenerated(out: Path, cache: Path, *more: str) -> Done:
    """A small publication made again."""
    file = PUBLISHED / "execbudget-10.3-mem_scaling.json"
    return assay("regenerate", file, "-o", out, "--cache", cache, *more)


def test_a_report_is_written_in_the_forms_that_are_asked_for(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "report"
    both = regenerated(out, cache, "--to", "md", "--to", "pdf", "--to", "md")
    assert (both.status, both.out) == (0, f"{out / 'report.pdf'}\n{out / 'report.md'}\n")
    text = (out / "report.md").read_text(encoding="utf-8")
    assert text == markdown(from_json((out / "document.json").read_text(encoding="utf-8")))
    assert list(json.loads((out / "provenance.json").read_text(encoding="utf-8"))["forms"]) == ["pdf", "md"]
    for picture in re.findall(r"\]\((charts/[^)]*)\)", text):
        assert (out / picture).is_file()
    assert assay("verify", out, "--cache", cache).status == 0
    (out / "report.md").write_text(text.replace("# ", "## ", 1), encoding="utf-8")
    done = assay("verify", out, "--cache", cache)
    assert done.status == 3
    assert "file report.md differs" in done.out


def test_output_of_a_dropped_form_is_removed(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "report"
    regenerated(out, cache, "--to", "md", "--to", "pdf")
    (out / "notes.md").write_text("mine", encoding="utf-8")
    assert regenerated(out, cache, "--to", "md").status == 0
    left = {path.name for path in out.iterdir()}
    assert left == {"charts", "document.json", "notes.md", "provenance.json", "report.md", "specs.json"}
    assert regenerated(out, cache).status == 0
    assert {path.name for path in out.iterdir()} == left - {"report.md"} | {"report.pdf", "report.typ", "report"}
    assert "forms" not in json.loads((out / "provenance.json").read_text(encoding="utf-8"))


def test_a_report_that_another_wrote_stays(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "report"
    out.mkdir()
    (out / "report.md").write_text("mine", encoding="utf-8")
    assert regenerated(out, cache).status == 0
    assert (out / "report.md").read_text(encoding="utf-8") == "mine"


def test_an_unknown_form_is_told(tmp_path: Path, cache: Path) -> None:
    done = regenerated(tmp_path / "report", cache, "--to", "docx")
    assert (done.status, done.out) == (2, "")
    assert "'docx' is not one of 'pdf', 'md', 'html'" in done.err


@pytest.mark.parametrize(
    "forms", [{}, [], {"docx": {}}, {"pdf": 1}, {"pdf": {"a": 1}}], ids=["none", "list", "unknown", "number", "version"]
)
def test_a_provenance_with_other_forms_is_told(tmp_path: Path, cache: Path, forms: object) -> None:
    out = tmp_path / "report"
    regenerated(out, cache, "--to", "md")
    place = out / "provenance.json"
    place.write_text(json.dumps(json.loads(place.read_text(encoding="utf-8")) | {"forms": forms}), encoding="utf-8")
    done = assay("verify", out, "--cache", cache)
    assert done.status == 1
    assert "forms: must name some of pdf, md, html, each with its tools" in done.err


def test_a_figure_without_samples_is_a_line_that_says_so() -> None:
    chart = Chart("none", 1, "Nothing", "x", "s", "cdf", ())
    text = markdown(replace(with_charts(sample(), 0), charts=(chart,)))
    assert '<a id="figure-none"></a>**Figure 1** Nothing\n\nNo samples.\n' in text
    assert "none.svg" not in text


def test_a_dictionary_has_columns_only_for_what_says_anything() -> None:
    line, metric = Entry("queue", "queue", "", "Queue.", ""), Entry("wait", "Waiting", "s", "Wait.", "abc")
    text = markdown(replace(with_charts(sample(), 0), dictionary=(Group("A", (metric,)), Group("B", (line,)))))
    assert "| Metric | Id | Description | Unit | Definition |" in text
    assert "| Metric | Description | Unit |" in text


@pytest.mark.parametrize("name", ["report/charts.typ", "html/report.html.j2"])
def test_reading_of_a_curve_is_explained_alike_in_every_form(name: str) -> None:
    text = (ROOT / "templates" / name).read_text(encoding="utf-8")
    plain = " ".join(re.sub(r"</?i>|_", "", text).split())
    assert DISTRIBUTIONS.replace("*", "") in plain
