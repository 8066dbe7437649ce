"""Test prose of articles: its forms in every output, what it cannot have, and its quotes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pypdf
import pytest

from assay.lang.checked_package import CheckedPackage
from assay.lang.workspace import Workspace, get_shipped_workspace, load_package
from assay.report.cell_links import QuotedValue
from assay.report.document import Entry, Group, Part
from assay.report.formatted_text import list_leaves, resolve_links
from assay.report.prose import Prose, ProseScope, read_prose_file
from assay.report.render.html import build_page
from assay.report.render.markdown import render_markdown
from assay.report.render.pdf import render as render_pdf
from assay.util.diagnostics import WIDEST, Diagnostic, format_excerpt, render
from tests.report_sample import TEMPLATES, build_sample
from tests.support.commands import run_assay
from tests.support.drives import create_drives_workspace
from tests.support.laboratory import ROOT


def find_problems(folder: Path, text: str) -> list[Diagnostic]:
    """Return the problems of a text without quotes."""
    place = folder / "part.md"
    place.write_text(text, encoding="utf-8")
    problems: list[Diagnostic] = []
    read_prose_file(place, "part.md", ProseScope(None), problems)  # type: ignore[arg-type]
    return problems


def test_unclosed_quote_is_an_error_with_its_place(tmp_path: Path) -> None:
    (problem,) = find_problems(tmp_path, "One.\n\nAnd {{ wait(step = 0\n")
    assert render(problem) == (
        "error[prose]: a quote of a result has no end\n  at part.md:3:5\n    3 | And {{ wait(step = 0\n"
        "      |     ^^\n  expected: }} behind it"
    )


CASES = Path(__file__).parent / "prose"
ANCHORS = ("disk", "cpu-and-memory")
VALUES = {"disk_write_rate": "1.5 MB/s", "disk_writes_per_year": "47 TB"}


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> CheckedPackage:
    workspace = create_drives_workspace(tmp_path_factory.mktemp("drives"))
    return load_package(Workspace(workspace), "drives", cache)


def render_forms(prose: Prose, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each form and the text of the prose in it."""
    rendered_prose = prose.render(lambda quote: VALUES[quote.metric] if not quote.choice else None)
    addresses = {name: f"#section-{name}" for name in ANCHORS}
    formatted = resolve_links(rendered_prose.blocks, addresses)
    text = tuple(leaf.text for leaf in list_leaves(formatted))
    quoted = tuple(
        QuotedValue(number, begin, end, quote.metric, "run a")
        for number, quote_spans in enumerate(rendered_prose.quote_spans)
        for begin, end, quote in quote_spans
    )
    parts = [Part(name, name, (), (), ()) for name in ANCHORS]
    document = replace(
        (sample := build_sample()),
        manifest=replace(sample.manifest, rows=(), leads=(), of_rows=()),
        dictionary=(), warnings=(), provenance=(), appendices=(), intro=(),
        parts=(Part("prose", "Prose", text, (), (), quoted=quoted, formatted=formatted), *parts),
        terms=(Group("Quoted", tuple(Entry(name, name, "", name, "") for name in VALUES)),),
    )  # fmt: skip
    yield "html", cut_section(build_page(document, TEMPLATES, ""), '<h2 id="section-prose">Prose</h2>\n', "</section>")
    yield "markdown", cut_section(render_markdown(document), '<a id="section-prose"></a>Prose\n\n', "\n## ")
    render_pdf(document, folder, TEMPLATES)
    pages = "\n".join(page.extract_text() for page in pypdf.PdfReader(folder / "report.pdf").pages)
    yield "pdf", cut_section(pages, "1 Prose\n", "\n2 disk")


def cut_section(text: str, begin: str, end: str) -> str:
    return text.rpartition(begin)[2].partition(end)[0].strip("\n") if begin in text else f"no {begin!r}"


@pytest.mark.parametrize("path", sorted(CASES.glob("*.md")), ids=lambda path: path.stem)
def test_prose_is_in_every_form(
    path: Path, drives: CheckedPackage, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    problems: list[Diagnostic] = []
    prose = read_prose_file(path, path.name, ProseScope(drives, anchors=ANCHORS), problems)
    forms = render_forms(prose, tmp_path) if not problems else [("problems", "\n\n".join(map(render, problems)))]
    actual_text = "".join(f"===== {name}\n{text}\n" for name, text in forms)
    expected_file = path.with_suffix(".txt")
    if pytestconfig.getoption("--accept"):
        expected_file.write_text(actual_text, encoding="utf-8")
    assert actual_text == expected_file.read_text(encoding="utf-8")


#: arguments of a quote of an experiment's metric -> the parsed conditions, or the error
QUOTES: dict[str, object] = {
    r'experiment_id = "a, \"b\" (c) \\ d", number = 2': (("experiment_id", 'a, "b" (c) \\ d'), ("number", 2)),
    'experiment_id = ""': (("experiment_id", ""),),
    "": (),
    "number = 1,": "a quote of a result cannot be read",
    'decimals = "2"': "a quote of a result cannot be read",
    "number = 1, number = 2": "a quote of a result has `number` twice",
    "decimals = -1": "prose quotes `valid_txs` with an invalid number of decimals",
    "decimals = 16": "prose quotes `valid_txs` with an invalid number of decimals",
    'number = "1"': "prose quotes `valid_txs` by a value that column `number` never has",
    "experiment_id = 1": "prose quotes `valid_txs` by a value that column `experiment_id` never has",
}


@pytest.mark.parametrize("actual_quote", QUOTES)
def test_quote_selects_rows_by_texts_and_numbers(actual_quote: str, tmp_path: Path, cache: Path) -> None:
    place = tmp_path / "part.md"
    place.write_text(f"It is {{{{ valid_txs({actual_quote}) }}}}.\n", encoding="utf-8")
    problems: list[Diagnostic] = []
    prose = read_prose_file(
        place, "part.md", ProseScope(load_package(get_shipped_workspace(), "cometbft", cache)), problems
    )
    assert [quote.where for quote in prose.quotes] + [item.message for item in problems] == [QUOTES[actual_quote]]


def test_missing_prose_is_reported_at_the_naming_line(tmp_path: Path, cache: Path) -> None:
    workspace = tmp_path / "workspace"
    for name in ("specs", "queries"):
        shutil.copytree(ROOT / name, workspace / name)
    (workspace / "specs/cometbft/prose/results.md").unlink()
    result = run_assay("check", "--system", "cometbft", "--cache", cache, cwd=workspace)
    message = "error[prose]: report `qa` has prose that does not exist: `prose/results.md`\n  at specs/cometbft/"
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"{message}qa.dhall:")
    assert "  expected: the file specs/cometbft/prose/results.md\n" in result.err


LONG = "".join(f"{number:05d}" for number in range(100))


@pytest.mark.parametrize(("column", "length"), [(1, 3), (250, 4), (499, 2), (500, 9)])
def test_excerpt_of_long_line_surrounds_its_place(column: int, length: int) -> None:
    text, carets = format_excerpt([LONG], 1, column, length).split("\n")
    begin, end = carets.index("^"), carets.rindex("^") + 1
    shown_text = text.removeprefix("1 | ")
    assert len(shown_text) == WIDEST
    assert text[begin:end] == LONG[column - 1 : column - 1 + length]
    assert (shown_text.startswith("…"), shown_text.endswith("…")) == (column > WIDEST, column < len(LONG) - WIDEST)
    assert shown_text.strip("…") in LONG


def test_excerpt_of_short_line_is_the_line() -> None:
    assert format_excerpt(["a" * WIDEST], 1, 2, 3) == f"1 | {'a' * WIDEST}\n  |  ^^^"


@pytest.mark.parametrize("text", ["*a " * 3000 + "b*" * 3000, "[" * 3000 + "a" + "](#disk)" * 3000, "- " * 3000 + "a"])
def test_prose_of_many_levels_is_refused_or_text(tmp_path: Path, text: str) -> None:
    problems = find_problems(tmp_path, text)
    assert {problem.message for problem in problems} <= {
        "prose cannot have so many forms within each other",
        "prose cannot have so deep a list",
        "prose links to an unknown part `disk`",
    }
    assert problems
