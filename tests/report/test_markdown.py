"""The report as Markdown: a reader of Markdown finds every text of the document in it, just as it is."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assay.number_styles.cell_text import print_number
from assay.report.document import Chart, Document, Entry, Group
from assay.report.document_json import parse_document
from assay.report.first_page.answer import Answer, JudgedRow, KeyChange
from assay.report.render.markdown import list_contents, render_markdown
from assay.report.render.markdown_syntax import escape_cell, escape_line, format_cell, format_line, format_table
from assay.report.tables import Appendix, Table
from assay.util.escape import normalize_text, quote_code
from tests.compare_reference import PUBLISHED
from tests.report_sample import build_sample, limit_charts
from tests.support.commands import CommandResult, run_assay
from tests.support.documents import replace_charts
from tests.support.laboratory import ROOT

PINNED = sorted(path.name.removesuffix(".document.json") for path in (ROOT / "golden/reports").glob("*.document.json"))
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

Rows = list[list[str]]


def load_pinned_document(name: str) -> Document:
    """Return the document of a pinned build."""
    return parse_document((ROOT / "golden" / "reports" / f"{name}.document.json").read_text(encoding="utf-8"))


def read_token_text(inline: Token) -> str:
    """Return the visible text of an inline token; anchors are invisible, a break is a line feed, code has backticks."""
    text_by_type = {"text": lambda item: item.content, "html_inline": lambda item: "\n" * (item.content == "<br>"),
            "code_inline": lambda item: f"`{item.content}`", "softbreak": lambda _: "\n",
            "image": lambda item: f"[image {item.attrs['src']}]"}  # fmt: skip
    return "".join(text_by_type.get(item.type, lambda _: "")(item) for item in inline.children or ())


def list_tables(tokens: Sequence[Token]) -> list[Rows]:
    """Return the tables of a text: rows of cells, the header first."""
    result: list[Rows] = []
    for before, token in pairwise(tokens):
        if before.type == "table_open":
            result.append([])
        if before.type == "tr_open":
            result[-1].append([])
        if before.type in ("th_open", "td_open"):
            result[-1][-1].append(read_token_text(token))
    return result


def list_forest_rows(answer: Answer) -> Rows:
    """Return the table of all changes as a reader should see it."""
    groups = [(group.title, group.rows) for group in answer.groups]
    groups += [("Conditions (neither better nor worse)", answer.conditions)] if answer.conditions else []
    result = [["", answer.base, answer.run, "Change", answer.level, "Verdict", "Samples"]]
    for title, rows in groups:
        result.append([title, *[""] * 6])
        for row in rows:
            verdict = format_verdict(row) if row.interval else f"{row.verdict}: {row.reason}"
            result.append([row.label, row.base, row.value, row.percent, row.interval, verdict, row.sizes])
    return result


def format_verdict(change: JudgedRow | KeyChange) -> str:
    return " ".join(filter(None, (change.arrow, change.verdict))) + ", by itself" * change.is_by_itself


def iter_expected_tables(document: Document) -> Iterator[Rows]:
    """Yield the tables of a document as a reader should see them."""
    numbers = {item.id: str(item.figure) for item in document.figures}

    def list_rows(item: Table | Appendix) -> Rows:
        rows = item.printed_rows if isinstance(item, Table) else item.rows
        return [list(item.header), *map(list, rows)]

    for answer in document.answers:
        yield list_forest_rows(answer)
        if answer.differing:
            yield [["", answer.base, answer.run], *map(list, answer.differing)]
    manifest = [list_rows(document.manifest)] if document.manifest.rows else []
    if not document.answers:
        yield from manifest
    for section in (table for part in document.parts for table in part.tables):
        if isinstance(section, Table):
            yield list_rows(section)
            continue
        has_figures = any(metric in numbers for metric in section.metrics)
        figures = [numbers.get(metric or "", "") for metric in section.metrics]
        figure_column = ["Fig.", *figures] if has_figures else []
        rows = [list(section.header), *map(list, section.rows)]
        yield [[*row, *figure_column[index : index + 1]] for index, row in enumerate(rows)]
        if section.percentiles:
            yield list_rows(section.percentiles)
    for group in document.dictionary:
        hashed = any(entry.definition for entry in group.entries)
        has_names = any(entry.id != entry.name for entry in group.entries)
        has_figures = any(
            entry.id in numbers for group_of_entries in document.dictionary for entry in group_of_entries.entries
        )
        header = [
            "Metric",
            *["Id"] * has_names,
            "Description",
            "Unit",
            *["Fig."] * has_figures,
            *["Definition"] * hashed,
        ]
        yield [header] + [
            [item.name, *[item.id] * has_names, item.description, item.unit]
            + [numbers.get(item.id, "")] * has_figures + [item.definition[:10]] * hashed
            for item in group.entries
        ]  # fmt: skip
    if document.answers:
        yield from manifest
    if document.filters.rows:
        yield list_rows(document.filters)
    yield from (list_rows(part) for part in document.appendices if part.rows)
    if document.provenance:
        yield [["What", "Value"], *map(list, document.provenance)]
    yield from map(list_rows, document.claims)


def list_paragraphs(tokens: Sequence[Token], kind: str) -> list[str]:
    """Return the texts of headings, or of paragraphs."""
    return [read_token_text(token) for before, token in pairwise(tokens) if before.type == f"{kind}_open"]


@pytest.mark.parametrize("name", PINNED)
def test_reader_finds_every_cell_of_a_pinned_report(name: str) -> None:
    document = load_pinned_document(name)
    tokens = READER.parse(render_markdown(document))
    assert list_tables(tokens) == list(iter_expected_tables(document))


@pytest.mark.parametrize("name", PINNED)
def test_reader_finds_texts_and_pictures_of_a_pinned_report(name: str) -> None:
    document = load_pinned_document(name)
    tokens = READER.parse(render_markdown(document))
    headings = list_paragraphs(tokens, "heading")
    printed_paragraphs = list_paragraphs(tokens, "paragraph")
    headlines = [answer.headline for answer in document.answers]
    assert headings[: len(headlines) + 2] == [document.title, *headlines, "Contents"]
    titles = [title for title, anchor in list_contents(document) if not anchor.startswith("answer-")]
    assert [item for item in headings if item in titles] == titles
    assert {table.title for gallery in document.parts for table in gallery.tables} - {""} <= set(headings)
    assert {group.title for group in document.dictionary} <= set(headings)
    prose = [*document.intro, *(section.doc for section in document.metric_tables if section.doc), *document.warnings]
    prose += [text for part in (*document.parts, *document.appendices) for text in part.text]
    prose += [text for part in document.appendices for text in part.notes]
    prose += [text for section in document.metric_tables for text in section.notes]
    prose += [chart.remark for chart in document.distributions if chart.remark]
    for answer in document.answers:
        prose += filter(None, (answer.counts, answer.caution, answer.omitted, *answer.notes))
        prose += [f"{item.label}: {item.text} {format_verdict(item)}" for item in answer.key_changes]
    assert [text for text in prose if text not in printed_paragraphs] == []
    pictures = [text for text in printed_paragraphs if text.startswith("[image ")]
    assert pictures == [f"[image charts/{item.id}.svg]" for item in document.figures if not getattr(item, "remark", "")]
    captions = [text for text in printed_paragraphs if text.startswith("Figure ")]
    assert [text.split(" — ")[0] for text in captions] == [
        f"Figure {item.figure} {item.caption}" for item in document.figures
    ]


@pytest.mark.parametrize("name", PINNED)
def test_links_of_a_pinned_report_lead_to_anchors_in_it(name: str) -> None:
    text = render_markdown(load_pinned_document(name))
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
    (rows,) = list_tables(
        READER.parse(format_table([escape_cell(text), ""], [[escape_cell(text), escape_cell(text)], ["", ""]]))
    )
    assert rows == [[normalize_text(text), ""], [normalize_text(text)] * 2, ["", ""]]
    if normalize_text(text).strip():
        assert list_paragraphs(READER.parse(f"# {escape_line(text)}\n\n{escape_line(text)}\n"), "heading") == [
            normalize_text(text)
        ]
        assert list_paragraphs(READER.parse(f"# {escape_line(text)}\n\n{escape_line(text)}\n"), "paragraph") == [
            normalize_text(text)
        ]
        assert list_paragraphs(READER.parse(f"- {escape_line(text)}\n- b\n"), "paragraph") == [
            normalize_text(text),
            "b",
        ]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",))), min_size=2, max_size=4))
def test_any_cells_come_back(texts: list[str]) -> None:
    cells = [escape_cell(text) for text in texts]
    assert list_tables(READER.parse(format_table(cells, [cells, cells]))) == [
        [[normalize_text(text) for text in texts]] * 3
    ]


@given(st.text(st.characters(exclude_categories=("Cs",))).filter(lambda text: normalize_text(text).strip()))
def test_any_line_is_read_back(text: str) -> None:
    assert list_paragraphs(READER.parse(f"## {escape_line(text)}\n\n{escape_line(text)}\n"), "heading") == [
        normalize_text(text)
    ]
    assert list_paragraphs(READER.parse(f"## {escape_line(text)}\n\n{escape_line(text)}\n"), "paragraph") == [
        normalize_text(text)
    ]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from("`|\\ a")), min_size=2))
def test_names_between_backticks_are_read_as_code(texts: list[str]) -> None:
    """A cell and a line have the same text as without code, but for the backticks of code."""
    text = "`".join(normalize_text(text) for text in texts)
    ((_, (cell, _)),) = list_tables(READER.parse(format_table(["", ""], [[format_cell(text), "x"]])))
    assert cell.replace("`", "").strip() == text.replace("`", "").strip()
    if text.strip("`").strip():
        assert list_paragraphs(READER.parse(f"- {format_line(text)}\n"), "paragraph") == [cell]


CODED = [
    ("0 rows of `a_b`, `c|d`.", [("text", "0 rows of "), ("code_inline", "a_b"), ("text", ", "),
                                 ("code_inline", "c|d"), ("text", ".")]),
    ("`-x`", [("code_inline", "-x")]), ("one ` alone", [("text", "one ` alone")]),
    ("a `` b", [("text", "a `` b")]), ("`two\nlines`", [("text", "`two\nlines`")]),
]  # fmt: skip


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl")) | st.sampled_from("`|\\ a"), min_size=1))
def test_any_quoted_text_is_read_as_code(text: str) -> None:
    expected = ("code_inline", normalize_text(text))
    for format_text in (format_cell, format_line):
        cell = format_text(f"such as {quote_code(normalize_text(text))}!")
        table = READER.parse(format_table(["", ""], [[cell, ""]]))
        inline = next(item for item in table if item.type == "inline" and item.content)
        if format_text is format_cell or "|" not in text:  # only cells escape `|` in code
            assert [(item.type, item.content) for item in inline.children or ()][1:2] == [expected]


@pytest.mark.parametrize(("text", "expected"), CODED)
def test_code_is_what_stands_between_two_backticks(text: str, expected: list[tuple[str, str]]) -> None:
    table = READER.parse(format_table(["", ""], [[format_cell(text), ""]]))
    inline = next(item for item in table if item.type == "inline" and item.content)
    pieces = [(item.type, item.content) for item in inline.children or () if item.content != "<br>"]
    assert [kind for kind, _ in pieces if kind == "code_inline"] == [kind for kind, _ in expected if kind != "text"]
    assert read_token_text(inline) == text
    if "\n" not in text:
        assert pieces == expected


def decode_pictures(text: str) -> dict[str, bytes]:
    """Return the embedded pictures of a text by their labels, after checking that it refers to nothing else."""
    assert "charts/" not in text
    pattern = r"^\[(figure-\d+)\]: data:image/svg\+xml;base64,(\S+)$"
    pictures = {label: b64decode(data, validate=True) for label, data in re.findall(pattern, text, re.M)}
    assert set(re.findall(r"^!\[.*\]\[(figure-\d+)\]$", text, re.M)) == set(pictures)
    return pictures


def test_pictures_of_a_single_file_are_those_of_charts(tmp_path: Path, cache: Path) -> None:
    """A reader that takes data addresses for pictures shows all of them; the rest of the text is that of report.md."""
    place, out = tmp_path / "place", tmp_path / "report"
    run_assay("init", place)
    assert run_assay("build", "-o", out, "--to", "md-single", "--to", "md", "--cache", cache, cwd=place).status == 0
    text, linked_text = ((out / name).read_text(encoding="utf-8") for name in ("report-single.md", "report.md"))
    document = parse_document((out / "document.json").read_text(encoding="utf-8"))
    files = {f"figure-{item.figure}": out / "charts" / f"{item.id}.svg" for item in document.figures}
    assert decode_pictures(text) == {label: file.read_bytes() for label, file in files.items()}
    body = text[: text.index("\n[figure-")]
    for label, file in files.items():
        body = body.replace(f"[{label}]", f"(charts/{file.name})")
    assert body == linked_text
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    reader.validateLink = lambda _: True  # type: ignore[method-assign]
    assert reader.render(text).count('<img src="data:image/svg+xml;base64,') == len(files)
    assert run_assay("verify", out, "--cache", cache, cwd=place).status == 0


def test_control_characters_are_shown_as_escapes() -> None:
    assert escape_cell("\x1b<\x00\x7f\x85\u202e") == r"\\x1b\<\\x00\\x7f\\x85\\u202e"
    assert "\x1b" not in render_markdown(replace(limit_charts(build_sample(), 0), title="\x1b[31mred"))


def test_columns_of_numbers_stand_flush_right() -> None:
    rows = [[print_number(text) for text in row] for row in (("x", "1.5", "n/a"), ("y", "—", "2"))]
    assert format_table(["", "a", "b"], rows).split("\n")[1] == "| --- | --: | --- |"


def test_a_document_without_parts_has_no_empty_headings() -> None:
    bare_document = replace(
        build_sample(), parts=(), dictionary=(), warnings=(), provenance=(), intro=(), author="",
        filters=Table("Filters", ("a",), ()), appendices=(Appendix("Notes", ("One.",), (), ()),),
    )  # fmt: skip
    headings = list_paragraphs(READER.parse(render_markdown(bare_document)), "heading")
    assert headings == [bare_document.title, "Contents", bare_document.manifest.title, "Notes"]


# The command line


def regenerate_publication(out: Path, cache: Path, *options: str) -> CommandResult:
    """Regenerate a small publication."""
    file = PUBLISHED / "execbudget-10.3-mem_scaling.json"
    return run_assay("regenerate", file, "-o", out, "--cache", cache, *options)


def test_report_is_written_in_the_requested_forms(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "report"
    result = regenerate_publication(out, cache, "--to", "md", "--to", "pdf", "--to", "md")
    assert (result.status, result.out) == (0, f"{out / 'report.pdf'}\n{out / 'report.md'}\n")
    text = (out / "report.md").read_text(encoding="utf-8")
    assert text == render_markdown(parse_document((out / "document.json").read_text(encoding="utf-8")))
    assert list(json.loads((out / "provenance.json").read_text(encoding="utf-8"))["forms"]) == ["pdf", "md"]
    for picture in re.findall(r"\]\((charts/[^)]*)\)", text):
        assert (out / picture).is_file()
    assert run_assay("verify", out, "--cache", cache).status == 0
    (out / "report.md").write_text(text.replace("# ", "## ", 1), encoding="utf-8")
    completed = run_assay("verify", out, "--cache", cache)
    assert completed.status == 3
    assert "file report.md differs" in completed.out


def test_output_of_a_dropped_form_is_removed(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "report"
    regenerate_publication(out, cache, "--to", "md", "--to", "pdf")
    (out / "notes.md").write_text("mine", encoding="utf-8")
    assert regenerate_publication(out, cache, "--to", "md").status == 0
    remaining_files = {path.name for path in out.iterdir()}
    assert remaining_files == {"charts", "document.json", "notes.md", "provenance.json", "report.md", "specs.json"}
    assert regenerate_publication(out, cache).status == 0
    assert {path.name for path in out.iterdir()} == remaining_files - {"report.md"} | {
        "report.pdf",
        "report.typ",
        "report",
    }
    assert "forms" not in json.loads((out / "provenance.json").read_text(encoding="utf-8"))


def test_report_of_another_program_stays(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "report"
    out.mkdir()
    (out / "report.md").write_text("mine", encoding="utf-8")
    assert regenerate_publication(out, cache).status == 2
    assert (out / "report.md").read_text(encoding="utf-8") == "mine"


def test_unknown_form_is_an_error(tmp_path: Path, cache: Path) -> None:
    result = regenerate_publication(tmp_path / "report", cache, "--to", "docx")
    assert (result.status, result.out) == (2, "")
    assert "'docx' is not one of 'pdf', 'md', 'md-single', 'html'" in result.err


@pytest.mark.parametrize(
    "forms", [{}, [], {"docx": {}}, {"pdf": 1}, {"pdf": {"a": 1}}], ids=["none", "list", "unknown", "number", "version"]
)
def test_provenance_with_unknown_forms_is_an_error(tmp_path: Path, cache: Path, forms: object) -> None:
    out = tmp_path / "report"
    regenerate_publication(out, cache, "--to", "md")
    place = out / "provenance.json"
    place.write_text(json.dumps(json.loads(place.read_text(encoding="utf-8")) | {"forms": forms}), encoding="utf-8")
    result = run_assay("verify", out, "--cache", cache)
    assert result.status == 1
    assert "forms: expected some of pdf, md, md-single, html, each with its tools" in result.err


def test_figure_without_samples_is_a_note() -> None:
    chart = Chart("none", 1, "Nothing", "x", "s", "cdf", ())
    text = render_markdown(replace_charts(build_sample(), chart))
    assert '<a id="figure-none"></a>**Figure 1** Nothing\n\nNo samples.\n' in text
    assert "none.svg" not in text


def test_dictionary_has_no_empty_columns() -> None:
    line, metric = Entry("queue", "queue", "", "Queue.", ""), Entry("wait", "Waiting", "s", "Wait.", "abc")
    text = render_markdown(
        replace(limit_charts(build_sample(), 0), dictionary=(Group("A", (metric,)), Group("B", (line,))))
    )
    assert "| Metric | Id | Description | Unit | Definition |" in text
    assert "| Metric | Description | Unit |" in text
