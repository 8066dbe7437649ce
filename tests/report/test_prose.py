"""Test prose of articles: plain text whose Markdown meaning would differ is an error."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.lang.workspace import get_shipped_workspace, load_package
from assay.report.prose import read_prose_file
from assay.util.diagnostics import WIDEST, Diagnostic, Span, format_excerpt, render
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT


def find_problems(folder: Path, text: str) -> list[Diagnostic]:
    """Return the problems of a text without quotes."""
    place = folder / "part.md"
    place.write_text(text, encoding="utf-8")
    problems: list[Diagnostic] = []
    read_prose_file(place, "part.md", None, (), problems)  # type: ignore[arg-type]
    return problems


@pytest.mark.parametrize(
    ("text", "block", "position"),
    [
        ("# Head\n", "a heading", (1, 1)),
        ("Text.\n\n  ### Head\n", "a heading", (3, 3)),
        ("Head\n====\n", "a rule", (2, 1)),
        ("Text.\n- one\n- two\n", "a list", (2, 1)),
        ("* one\n", "a list", (1, 1)),
        ("Text.\n\n2) two\n", "a list", (3, 1)),
        ("Text:\n1. one\n", "a list", (2, 1)),
        ("| a | b |\n", "a table", (1, 1)),
        ("a | b\n--- | ---\n", "a table", (2, 1)),
        ("```sh\nls\n```\n", "code", (1, 1)),
    ],
)
def test_line_that_markdown_reads_as_block_is_an_error(
    tmp_path: Path, text: str, block: str, position: tuple[int, int]
) -> None:
    (problem,) = find_problems(tmp_path, text)
    assert problem.message == f"prose is plain text, but this line begins {block} in Markdown"
    assert (problem.span, bool(problem.hint)) == (Span("part.md", *position, 1), True)


@pytest.mark.parametrize(
    "text",
    [
        "It took\n2024. Then it ended; *good*, -3 to +4, #5.\n",
        "Of all\n-5 ms are |x|, and\n#hash is no heading.\n\n1.5 s, 3) or not\n",
    ],
)
def test_paragraph_stays_one_paragraph(tmp_path: Path, text: str) -> None:
    assert find_problems(tmp_path, text) == []


def test_unclosed_quote_is_an_error_with_its_place(tmp_path: Path) -> None:
    (problem,) = find_problems(tmp_path, "One.\n\nAnd {{ wait(step = 0\n")
    assert render(problem) == (
        "error[prose]: a quote of a result has no end\n  at part.md:3:5\n    3 | And {{ wait(step = 0\n"
        "      |     ^^\n  expected: }} behind it"
    )


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
    prose = read_prose_file(place, "part.md", load_package(get_shipped_workspace(), "cometbft", cache), (), problems)
    assert [quote.where for quote in prose.quotes] + [item.message for item in problems] == [QUOTES[actual_quote]]


def test_missing_prose_is_reported_at_the_naming_line(tmp_path: Path, cache: Path) -> None:
    workspace = tmp_path / "workspace"
    for name in ("specs", "queries"):
        shutil.copytree(ROOT / name, workspace / name)
    (workspace / "specs/cometbft/prose/issues.md").unlink()
    result = run_assay("check", "--system", "cometbft", "--cache", cache, cwd=workspace)
    message = "error[prose]: article `qa` has prose that does not exist: `prose/issues.md`\n  at specs/cometbft/"
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"{message}articles.dhall:")
    assert result.err.endswith("  expected: the file specs/cometbft/prose/issues.md\n")


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
