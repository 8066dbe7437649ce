"""The finished report: every cell is in it, nothing but the document shapes it, all readers can read it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdf
import pytest
import typst

from assay.report.charts.render import draw
from assay.report.document import Document, Part
from assay.report.document_json import parse_document, to_json
from assay.report.render.html import build_page
from assay.report.render.markdown import list_contents, render_markdown
from assay.report.render.pdf import STANDARDS, render, warm_up_converters
from assay.report.tables import Table
from assay.util.diagnostics import AssayError, Diagnostic
from tests.report_sample import FONTS, TEMPLATES, build_sample, limit_charts, widen_document
from tests.support.documents import replace_charts, replace_sections

LABELS = ("10.5-baseline-of-the-release", "10.6", "10.7.0-pre", "rev", "11.0.1", "12.0", "13-candidate", "14")


def render_pdf(document: Document, out: Path, templates: Path = TEMPLATES) -> pypdf.PdfReader:
    render(document, out, templates)
    return pypdf.PdfReader(out / "report.pdf")


def remove_white_space(text: str) -> str:
    """Return the text without white space, because line breaks depend on the layout."""
    return re.sub(r"\s", "", text)


def read_text(reader: pypdf.PdfReader) -> str:
    return remove_white_space("".join(page.extract_text() for page in reader.pages))


def compute_digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def copy_changed_templates(folder: Path, file: str, old: str, new: str) -> Path:
    """Copy the templates and make one change."""
    templates = Path(shutil.copytree(TEMPLATES, folder / "templates"))
    text = (templates / file).read_text(encoding="utf-8")
    assert old in text
    (templates / file).write_text(text.replace(old, new), encoding="utf-8")
    return templates


@pytest.fixture(scope="module")
def report_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Render the report of two runs with all charts."""
    out = tmp_path_factory.mktemp("whole") / "report"
    render(build_sample(), out, TEMPLATES)
    return out


@pytest.fixture(scope="module")
def reader(report_folder: Path) -> pypdf.PdfReader:
    return pypdf.PdfReader(report_folder / "report.pdf")


def test_report_is_its_document_charts_layout_and_pdf(report_folder: Path) -> None:
    charts = [f"charts/{item.id}.{kind}" for item in build_sample().distributions for kind in ("svg", "vl.json")]
    layout = [str(path.relative_to(TEMPLATES)) for path in (TEMPLATES / "report").iterdir()]
    expected_files = ["document.json", "report.pdf", "report.typ", "report/lacking.json"]
    assert sorted(compute_digests(report_folder)) == sorted([*expected_files, *charts, *layout])
    assert parse_document((report_folder / "document.json").read_text(encoding="utf-8")) == build_sample()


def iter_rows(document: Document) -> Iterator[tuple[str, ...]]:
    yield from document.manifest.rows
    for section in document.metric_tables:
        yield from section.rows
    yield from document.filters.rows
    yield from document.provenance


@pytest.mark.parametrize("name", ["two", "three"])
def test_every_row_of_every_table_is_in_the_pdf_cell_by_cell(name: str, tmp_path: Path) -> None:
    document = limit_charts(build_sample(name), 1)
    text = read_text(render_pdf(document, tmp_path))
    assert [row for row in iter_rows(document) if remove_white_space("".join(row)) not in text] == []


@pytest.mark.parametrize("count", [4, 5, 8])
def test_a_report_of_many_runs_holds_every_row_in_parts(count: int, tmp_path: Path) -> None:
    document = widen_document(limit_charts(build_sample("three"), 1), LABELS[:count])
    reader = render_pdf(document, tmp_path)
    text = read_text(reader)
    parts = -(-(count - 1) // 5)
    size = -(-(count - 1) // parts)
    for section in document.metric_tables:
        for row in section.rows:
            for first in range(2, len(row), 3 * size):
                assert remove_white_space("".join((*row[:2], *row[first : first + 3 * size]))) in text
    assert all(remove_white_space(label) in text for label in LABELS[:count])
    is_wide = reader.pages[0].mediabox.width > reader.pages[0].mediabox.height
    assert is_wide == (count > 4)


def test_one_run_alone_has_tables_without_differences(tmp_path: Path) -> None:
    two = limit_charts(build_sample(), 0)
    one = replace(
        two,
        manifest=Table("Parameters", two.manifest.header[:2], tuple(row[:2] for row in two.manifest.rows)),
    )
    tables = (
        replace(item, header=item.header[:2], rows=tuple(row[:2] for row in item.rows)) for item in two.metric_tables
    )
    one = replace_sections(one, *tables)
    text = read_text(render_pdf(one, tmp_path))
    assert all(remove_white_space("".join(row)) in text for item in one.metric_tables for row in item.rows)
    assert "Δ" not in text


def test_dictionary_has_name_id_description_unit_and_hash(
    reader: pypdf.PdfReader,
) -> None:
    text = read_text(reader)
    figures = {item.id: str(item.figure) for item in build_sample().distributions}
    for group in build_sample().dictionary:
        assert remove_white_space(group.title) in text
        for entry in group.entries:
            figure = figures.get(entry.id, "")
            row = (entry.name, entry.id, entry.description, entry.unit, figure, entry.definition[:10])
            assert remove_white_space("".join(row)) in text


def test_warnings_intro_and_captions_are_printed(reader: pypdf.PdfReader) -> None:
    text = read_text(reader)
    printed_texts = [*build_sample().warnings, *build_sample().intro, build_sample().subtitle, build_sample().author]
    printed_texts += ["One warning to read before the numbers"]
    printed_texts += [f"Figure {item.figure} {item.title}" for item in build_sample().distributions]
    assert [words for words in printed_texts if remove_white_space(words) not in text] == []


def test_the_text_of_charts_is_text(reader: pypdf.PdfReader) -> None:
    assert read_text(reader).count("shareofsamples") >= len(build_sample().distributions)


def test_pages_have_a_title_and_a_number(
    reader: pypdf.PdfReader,
) -> None:
    pages = [remove_white_space(page.extract_text()) for page in reader.pages]
    for number, text in enumerate(pages, start=1):
        assert f"Page{number}of{len(pages)}" in text
        assert text.startswith(remove_white_space(build_sample().title)) or number == 1


def test_the_metadata_comes_from_the_document(reader: pypdf.PdfReader) -> None:
    metadata: Any = reader.metadata
    assert (metadata.title, metadata.author, metadata.subject) == (
        "10.6-sim against 10.5-sim",
        "A. Writer, Department of Measures",
        "Value-only workload",
    )
    assert metadata["/Keywords"] == "10.5-sim, 10.6-sim"
    assert metadata["/CreationDate"] == metadata["/ModDate"] == "D:20260214000000Z"


def get_root(reader: pypdf.PdfReader) -> Any:
    return reader.root_object


def test_report_has_tags_language_and_both_standards(reader: pypdf.PdfReader) -> None:
    root = get_root(reader)
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en-GB"
    metadata_text = root["/Metadata"].get_object().get_data().decode()
    assert "<pdfaid:part>3</pdfaid:part><pdfaid:conformance>A</pdfaid:conformance>" in metadata_text
    assert "<pdfuaid:part>1</pdfuaid:part>" in metadata_text


def iter_alternatives(node: Any) -> Iterator[str]:
    """Yield the alternative texts of the pictures of a tagged PDF."""
    if "/Alt" in node:
        yield str(node["/Alt"])
    below = node.get("/K", [])
    for item in below if isinstance(below, list) else [below]:
        result = item.get_object()
        if isinstance(result, pypdf.generic.DictionaryObject):
            yield from iter_alternatives(result)


def test_every_chart_has_an_alternative_text(reader: pypdf.PdfReader) -> None:
    result = [words for words in iter_alternatives(get_root(reader)["/StructTreeRoot"]) if "Cumulative" in words]
    assert len(result) == len(build_sample().distributions)
    assert result[0] == "Cumulative distribution of Process CPU usage. Medians: 10.5-sim 5 %; 10.6-sim 7 %."


def test_the_bookmarks_are_the_sections(reader: pypdf.PdfReader) -> None:
    titles = [item.title for item in reader.outline if not isinstance(item, list)]
    section_titles = [build_sample().manifest.title, *(item.title for item in build_sample().metric_tables)]
    section_titles += ["Distributions", "Data dictionary", "Filters", "Warnings", "Provenance"]
    assert titles == [f"{number} {title}" for number, title in enumerate(section_titles, start=1)]


def test_manifest_without_rows_is_omitted_in_every_form(tmp_path: Path) -> None:
    """Regression: an article without parameters had an empty table."""
    full_document = limit_charts(build_sample(), 0)
    title = full_document.manifest.title
    without = replace(full_document, manifest=replace(full_document.manifest, rows=(), of_rows=()))
    for document, is_present in ((full_document, True), (without, False)):
        outline = render_pdf(document, tmp_path / str(is_present)).outline
        titles = [item.title.partition(" ")[2] for item in outline if not isinstance(item, list)]
        assert (title in titles) is is_present
        assert (f'<h2 id="manifest">{title}</h2>' in build_page(document, TEMPLATES, "")) is is_present
        assert ((title, "manifest") in list_contents(document)) is is_present
        assert (f'## <a id="manifest"></a>{title}\n' in render_markdown(document)) is is_present


def count_headings(outline: list[Any]) -> int:
    return sum(count_headings(item) if isinstance(item, list) else 1 for item in outline)


def test_contents_rows_figures_and_definitions_are_linked(reader: pypdf.PdfReader) -> None:
    notes = [note.get_object() for page in reader.pages for note in page.get("/Annots", [])]
    rows = [metric for section in build_sample().metric_tables for metric in section.metrics]
    charts = [item.id for item in build_sample().distributions]
    defined_ids = [entry.id for group in build_sample().dictionary for entry in group.entries]
    from_rows = sum((metric in defined_ids) + (metric in charts) for metric in rows)
    from_charts = sum((chart in rows) + (chart in defined_ids) for chart in charts)
    from_definitions = sum(metric in charts for metric in defined_ids)
    assert [note["/Subtype"] for note in notes if "/Dest" not in note] == []
    from_front = count_headings(reader.outline) + 1  # the contents, and the remark that there are warnings
    assert len(notes) == from_front + from_rows + from_charts + from_definitions


def test_the_document_is_attached_to_the_pdf(report_folder: Path, reader: pypdf.PdfReader) -> None:
    assert dict(reader.attachments) == {"document.json": [(report_folder / "document.json").read_bytes()]}


def get_resources(page: Any) -> Any:
    return page["/Resources"]


def test_only_shipped_fonts_are_embedded(reader: pypdf.PdfReader) -> None:
    shipped_fonts = {path.stem for path in FONTS.glob("*.otf")}
    result = {
        str(font.get_object()["/BaseFont"])
        for page in reader.pages
        for font in get_resources(page).get("/Font", {}).values()
    }
    names = {re.sub(r"^/[A-Z]{6}\+|-Identity-H$", "", font) for font in result}
    assert names <= shipped_fonts
    assert "SourceSans3-Regular" in names


def test_the_fonts_are_few_and_come_with_their_licences() -> None:
    files = [path for path in FONTS.iterdir() if path.suffix == ".otf"]
    assert sum(path.stat().st_size for path in files) < 3_000_000
    for family in {re.sub(r"(Display)?-.*", "", path.name) for path in files}:
        licence = (FONTS / f"{family}-OFL.md").read_text(encoding="utf-8")
        assert "SIL OPEN FONT LICENSE Version 1.1" in licence


def test_same_document_gives_the_same_bytes_anywhere(report_folder: Path, tmp_path: Path) -> None:
    for _ in draw(reversed(build_sample().distributions[:3]), TEMPLATES):
        pass
    render(limit_charts(build_sample("three"), 2), tmp_path / "other", TEMPLATES)
    render(build_sample(), tmp_path / "a longer name" / "again", TEMPLATES)
    assert compute_digests(tmp_path / "a longer name" / "again") == compute_digests(report_folder)


PROCESS = """
import sys
from pathlib import Path
from assay.report.render.pdf import render, warm_up_converters
from tests.report_sample import TEMPLATES, build_sample, limit_charts
if sys.argv[2] == "warm":
    warm_up_converters(TEMPLATES)
render(limit_charts(build_sample(), 2), Path(sys.argv[1]), TEMPLATES)
"""


def test_report_does_not_depend_on_zone_locale_and_hash_seed(tmp_path: Path) -> None:
    render(limit_charts(build_sample(), 2), tmp_path / "here", TEMPLATES)
    settings = {
        "TZ": "Pacific/Chatham",
        "LANG": "tr_TR.UTF-8",
        "LC_ALL": "tr_TR.UTF-8",
        "PYTHONHASHSEED": "7",
    }
    command = [sys.executable, "-c", PROCESS, str(tmp_path / "there"), "warm"]
    environment = {**os.environ, **settings, "SOURCE_DATE_EPOCH": "1"}
    subprocess.run(command, check=True, cwd=TEMPLATES.parent, env=environment)
    assert compute_digests(tmp_path / "there") == compute_digests(tmp_path / "here")


def test_the_folder_compiles_by_itself(report_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(report_folder, tmp_path / "moved")
    pdf, warnings = typst.compile_with_warnings(
        str(tmp_path / "moved" / "report.typ"),
        font_paths=[str(FONTS)],
        ignore_system_fonts=True,
        pdf_standards=STANDARDS,
    )
    assert warnings == []
    recompiled_pdf = tmp_path / "again.pdf"
    recompiled_pdf.write_bytes(pdf)
    assert read_text(pypdf.PdfReader(recompiled_pdf)) == read_text(pypdf.PdfReader(report_folder / "report.pdf"))


def test_a_report_may_have_no_charts_no_dictionary_no_remarks(tmp_path: Path) -> None:
    bare_document = replace(
        replace_charts(build_sample()),
        subtitle="",
        author="",
        intro=(),
        dictionary=(),
        warnings=(),
        filters=Table("Filters", ("Filter",), ()),
        provenance=(),
    )
    reader = render_pdf(bare_document, tmp_path)
    titles = [item.title for item in reader.outline if not isinstance(item, list)]
    assert titles[-1] == "6 End-to-end propagation"
    assert "Fig." not in read_text(reader)


def test_markup_in_texts_is_printed_not_obeyed(tmp_path: Path) -> None:
    words = r"#panic() *a* _b_ $c$ <d> @e [f] \ `g` // h /* i */ = j - k + l ~ --- \u{41} #import"
    bare_document = replace(
        limit_charts(build_sample(), 0), intro=(words,), title=words, warnings=(words,), dictionary=()
    )
    assert read_text(render_pdf(bare_document, tmp_path)).count(remove_white_space(words)) >= 3


def test_words_longer_than_a_line_are_broken_and_stay_whole(tmp_path: Path) -> None:
    word = "AWordWithoutAnySpaceOrEndInSight" + "0123456789abcdef" * 8
    bare_document = replace(
        limit_charts(build_sample(), 0), title=word, warnings=(word,), provenance=(("input", word),)
    )
    first = bare_document.metric_tables[0]
    rows = ((word, *first.rows[0][1:]), *first.rows[1:])
    reader = render_pdf(replace_sections(bare_document, replace(first, title=word, rows=rows)), tmp_path)
    assert read_text(reader).count(word) >= 6
    assert not any(word in page.extract_text() for page in reader.pages)


def test_names_break_behind_punctuation_only(tmp_path: Path) -> None:
    """The parts of a name between its punctuation stay whole, in columns of any width."""
    parts = ("transcription_", "interpreting.", "acknowledged_", "milliseconds-")
    sample = limit_charts(build_sample(), 0)
    group = sample.dictionary[0]
    entries = (replace(group.entries[0], id="".join(parts) * 2), *group.entries[1:])
    reader = render_pdf(replace(sample, dictionary=(replace(group, entries=entries),)), tmp_path)
    assert "".join(parts) * 2 in read_text(reader)
    text = "\n".join(page.extract_text() for page in reader.pages)
    assert all(text.count(part) >= 2 for part in parts)


def test_character_without_a_shipped_font_is_escaped(tmp_path: Path) -> None:
    text = read_text(render_pdf(replace(limit_charts(build_sample(), 0), author="A \u6f22 B"), tmp_path, TEMPLATES))
    assert r"A\u6f22B" in text
    assert "\u6f22" not in text


def read_problem(templates: Path, out: Path) -> Diagnostic:
    """Return the problem of typesetting a report with some templates."""
    with pytest.raises(AssayError) as error:
        render(limit_charts(build_sample(), 0), out, templates)
    (problem,) = error.value.diagnostics
    return problem


def test_character_without_a_shipped_font_is_an_error(tmp_path: Path) -> None:
    templates = copy_changed_templates(tmp_path, "report/back.typ", "= Provenance", "= Provenance \u6f22")
    problem = read_problem(templates, tmp_path / "out")
    assert problem.code == "typesetting"
    assert "\u6f22" in problem.message
    assert problem.hint == f"put a font with these characters into {templates / 'fonts'}"


@pytest.mark.parametrize("family", ["Sauce Sans", "Libertinus Serif"])
def test_font_that_is_not_shipped_is_an_error(family: str, tmp_path: Path) -> None:
    templates = copy_changed_templates(tmp_path, "report/style.typ", '"Source Sans 3"', f'"{family}"')
    problem = read_problem(templates, tmp_path / "out")
    assert problem.message == f"Typst cannot typeset the report: unknown font family: {family.lower()}"


def test_today_is_the_day_of_the_document(tmp_path: Path) -> None:
    today = "= Provenance of #datetime.today().display()"
    templates = copy_changed_templates(tmp_path, "report/back.typ", "= Provenance", today)
    text = read_text(render_pdf(limit_charts(build_sample(), 0), tmp_path / "out", templates))
    assert "Provenanceof2026-02-14" in text


def test_an_error_in_a_layout_is_shown_with_its_place(tmp_path: Path) -> None:
    templates = copy_changed_templates(tmp_path, "report/back.typ", "hash.slice(0, 10)", "hash.slyce(0, 10)")
    problem = read_problem(templates, tmp_path / "out")
    assert "slyce" in problem.message
    assert "back.typ" in problem.excerpt


def test_a_workspace_can_change_the_layout(tmp_path: Path) -> None:
    templates = copy_changed_templates(tmp_path, "report/back.typ", "= Provenance", "= Where it comes from")
    text = read_text(render_pdf(limit_charts(build_sample(), 0), tmp_path / "out", templates))
    assert "Whereitcomesfrom" in text


def test_progress_is_reported(tmp_path: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    render(limit_charts(build_sample(), 2), tmp_path, TEMPLATES, lambda *step: steps.append(step))
    assert steps == [("charts", 1, 2), ("charts", 2, 2), ("typesetting", 0, 1), ("typesetting", 1, 1)]


def test_warming_up_draws_and_leaves_no_files() -> None:
    before = compute_digests(TEMPLATES)
    warm_up_converters(TEMPLATES)
    assert compute_digests(TEMPLATES) == before


def test_the_json_of_the_document_is_what_the_layout_reads(report_folder: Path) -> None:
    assert (report_folder / "document.json").read_text(encoding="utf-8") == to_json(build_sample())


def test_figure_without_samples_is_a_note(tmp_path: Path) -> None:
    first, second = limit_charts(build_sample(), 2).distributions
    document = replace_charts(build_sample(), replace(first, series=()), second)
    reader = render_pdf(document, tmp_path)
    text = read_text(reader)
    assert text.count("Nosamples.") == 1
    heights: dict[str, float] = {}

    def record_heights(part: str, user: list[float], _matrix: object, _font: object, _size: object) -> None:
        heights.update({word: user[5] for word in ("Figure 1", "No samples.") if word in part})

    next(page for page in reader.pages if "No samples." in page.extract_text()).extract_text(
        visitor_text=record_heights
    )
    assert abs(heights["Figure 1"] - heights["No samples."]) > 9, "the caption stands over the line"
    assert f"Figure{first.figure}" in text
    assert sorted(path.name for path in (tmp_path / "charts").iterdir()) == [f"{second.id}.svg", f"{second.id}.vl.json"]


def test_the_provenance_is_on_one_page(tmp_path: Path) -> None:
    facts = tuple((f"fact {number}", "value") for number in range(40))
    reader = render_pdf(replace(limit_charts(build_sample(), 0), provenance=facts), tmp_path)
    pages = [page.extract_text() for page in reader.pages]
    assert [("fact 0" in page, "fact 39" in page) for page in pages if "fact" in page] == [(True, True)]


def test_line_is_not_broken_within_an_instant(tmp_path: Path) -> None:
    instant = "2026-03-01T10:00:50Z"
    table = Table("Parameters", ("", *"abcd"), (("From", *[instant] * 4),))
    reader = render_pdf(replace(build_sample(), manifest=table), tmp_path)
    text = "\n".join(page.extract_text() for page in reader.pages)
    assert re.findall(r"10:\s*00:\s*50Z", text) == ["10:00:50Z"] * 4


def create_table_document(table: Table) -> Document:
    """Create a document that has nothing but its parameters and a table."""
    part = Part("part", "Part", (), (), (table,))
    return replace(build_sample(), parts=(part,), dictionary=(), warnings=(), provenance=())


def measure_heights(page: pypdf.PageObject) -> dict[str, float]:
    """Return the words of a page with their distance from its lower edge, in points."""
    result: dict[str, float] = {}
    page.extract_text(visitor_text=lambda text, matrix, *_: result.update(dict.fromkeys(text.split(), matrix[5])))
    return result


def test_table_of_long_rows_continues_on_the_next_page(tmp_path: Path) -> None:
    rows = tuple((f"host{number}", "a sentence of some length. " * 20, "yes") for number in range(20))
    reader = render_pdf(create_table_document(Table("Found", ("Host", "What", "Told"), rows)), tmp_path)
    places = [
        (name, place)
        for page in reader.pages
        for name, place in measure_heights(page).items()
        if re.fullmatch(r"host\d+", name)
    ]
    assert sorted(name for name, _ in places) == sorted(row[0] for row in rows)
    assert min(place for _, place in places) > 65, "no text is in the lower margin or below the page"
    first = next(page for page in reader.pages if "Found" in measure_heights(page))
    assert "host0" in measure_heights(first), "no page ends with the title of a table"


@pytest.mark.parametrize(("digits", "tables"), [(4, 1), (10, 1), (19, 2), (40, 5)])
def test_values_of_many_runs_do_not_run_into_each_other(digits: int, tables: int, tmp_path: Path) -> None:
    document = widen_document(limit_charts(build_sample(), 0), [f"run-{number}" for number in range(6)])
    section = document.metric_tables[0]
    rows = tuple(
        (row[0], *(f"{y}{x:02}".ljust(digits, "7") if x % 3 else "12.5" for x in range(1, 17)))
        for y, row in enumerate(section.rows, start=10)
    )
    reader = render_pdf(replace(replace_sections(document, replace(section, rows=rows)), dictionary=()), tmp_path)
    words = "\n".join(page.extract_text() for page in reader.pages).split()
    assert [cell for row in rows for cell in row[1:] if cell not in words] == []
    assert words.count(rows[0][1]) == tables
    ends = [end for page in reader.pages for end in measure_ends(page, set(rows[0][1:]) - {"12.5"})]
    assert max(ends) < float(reader.pages[0].mediabox.width) - 62


def measure_ends(page: pypdf.PageObject, words: set[str]) -> list[float]:
    """Return the right ends of these numbers, in points from the left edge of the page; the font size is 7.6 points."""
    result: list[float] = []
    page.extract_text(
        visitor_text=lambda text, matrix, *_: result.extend(
            matrix[4] + 3.7 * len(item) for item in text.split() if item in words
        )
    )
    return result


def test_a_tab_is_a_blank(tmp_path: Path) -> None:
    reader = render_pdf(create_table_document(Table("Found", ("What", "Text"), (("host", "one\ttwo"),))), tmp_path)
    assert "onetwo" not in "".join(page.extract_text() for page in reader.pages)


def test_text_longer_than_a_page_continues_on_the_next(tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(1500))
    document = create_table_document(Table("Found", ("Host", "What"), (("host", text),)))
    entry = replace(build_sample().dictionary[0].entries[0], description=text)
    result = replace(document, dictionary=(replace(build_sample().dictionary[0], entries=(entry,)),))
    manifest = replace(document.manifest, rows=(("What", text, text),))
    reader = render_pdf(replace(result, manifest=manifest), tmp_path)
    words = [
        item for page in reader.pages for item in measure_heights(page).items() if re.fullmatch(r"word\d+", item[0])
    ]
    assert {name for name, _ in words} == set(text.split())
    assert min(place for _, place in words) > 65, "no text is in the lower margin or below the page"


@pytest.mark.parametrize("digits", [9, 17])
def test_numbers_of_a_too_wide_table_stay_apart(digits: int, tmp_path: Path) -> None:
    header = tuple(f"Average of column {number}, blocks/s" for number in range(14))
    rows = tuple((f"row{y}", *(f"{y}{x:02}".ljust(digits, "7") for x in range(13))) for y in range(1, 4))
    reader = render_pdf(create_table_document(Table("Wide", header, rows)), tmp_path)
    words = "\n".join(page.extract_text() for page in reader.pages).split()
    assert [cell for row in rows for cell in row if cell not in words] == []
    assert [words.count(f"row{y}") for y in range(1, 4)] == [{9: 2, 17: 3}[digits]] * 3
