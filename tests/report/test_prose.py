"""Prose of articles is plain text: what would be printed otherwise than its author means is told with its place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.lang.workspace import load, shipped
from assay.report.prose import read
from assay.util.diagnostics import WIDEST, Diagnostic, Span, excerpt_of, render
from tests.support.commands import assay
from tests.support.laboratory import ROOT


def problems(folder: Path, text: str) -> list[Diagnostic]:
    """What is wrong with a text that quotes nothing."""
    place = folder / "part.md"
    place.write_text(text, encoding="utf-8")
    found: list[Diagnostic] = []
    read(place, "part.md", None, (), found)  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("text", "what", "at"),
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
def test_a_line_that_markdown_makes_a_block_of_is_an_error(
    tmp_path: Path, text: str, what: str, at: tuple[int, int]
) -> None:
    (found,) = problems(tmp_path, text)
    assert found.message == f"prose is plain text, and this line begins {what}, as Markdown has it"
    assert (found.span, bool(found.hint)) == (Span("part.md", *at, 1), True)


@pytest.mark.parametrize(
    "text",
    [
        "It took\n2024. Then it ended; *good*, -3 to +4, #5.\n",
        "Of all\n-5 ms are |x|, and\n#hash is no heading.\n\n1.5 s, 3) or not\n",
    ],
)
def test_a_paragraph_stays_one(tmp_path: Path, text: str) -> None:
    assert problems(tmp_path, text) == []


def test_a_quote_without_an_end_is_an_error_with_its_place(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "One.\n\nAnd {{ wait(step = 0\n")
    assert render(found) == (
        "error[prose]: a quote of a result has no end\n  at part.md:3:5\n    3 | And {{ wait(step = 0\n"
        "      |     ^^\n  expected: }} behind it"
    )


#: what stands in a quote of a metric of experiments -> what is read of it, or what is wrong with it
QUOTES: dict[str, object] = {
    r'experiment_id = "a, \"b\" (c) \\ d", number = 2': (("experiment_id", 'a, "b" (c) \\ d'), ("number", 2)),
    'experiment_id = ""': (("experiment_id", ""),),
    "": (),
    "number = 1,": "a quote of a result cannot be read",
    'decimals = "2"': "a quote of a result cannot be read",
    "number = 1, number = 2": "a quote of a result says `number` twice",
    "decimals = -1": "prose quotes `valid_txs` with a number of decimals that it cannot be printed with",
    "decimals = 16": "prose quotes `valid_txs` with a number of decimals that it cannot be printed with",
    'number = "1"': "prose quotes `valid_txs` by a value that column `number` never has",
    "experiment_id = 1": "prose quotes `valid_txs` by a value that column `experiment_id` never has",
}


@pytest.mark.parametrize("said", QUOTES)
def test_a_quote_names_the_row_by_texts_and_numbers(said: str, tmp_path: Path, cache: Path) -> None:
    place = tmp_path / "part.md"
    place.write_text(f"It is {{{{ valid_txs({said}) }}}}.\n", encoding="utf-8")
    found: list[Diagnostic] = []
    prose = read(place, "part.md", load(shipped(), "cometbft", cache), (), found)
    assert [quote.where for quote in prose.quotes] + [item.message for item in found] == [QUOTES[said]]


def test_prose_that_is_not_there_is_told_at_the_line_that_names_it(tmp_path: Path, cache: Path) -> None:
    workspace = tmp_path / "workspace"
    for name in ("specs", "queries"):
        shutil.copytree(ROOT / name, workspace / name)
    (workspace / "specs/cometbft/prose/issues.md").unlink()
    done = assay("check", "--system", "cometbft", "--cache", cache, within=workspace)
    said = "error[prose]: article `qa` names prose that is not there: `prose/issues.md`\n  at specs/cometbft/"
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"{said}articles.dhall:")
    assert done.err.endswith("  expected: the file specs/cometbft/prose/issues.md\n")


LONG = "".join(f"{number:05d}" for number in range(100))


@pytest.mark.parametrize(("column", "length"), [(1, 3), (250, 4), (499, 2), (500, 9)])
def test_an_excerpt_of_a_long_line_is_what_stands_around_its_place(column: int, length: int) -> None:
    text, carets = excerpt_of([LONG], 1, column, length).split("\n")
    begin, end = carets.index("^"), carets.rindex("^") + 1
    shown = text.removeprefix("1 | ")
    assert len(shown) == WIDEST
    assert text[begin:end] == LONG[column - 1 : column - 1 + length]
    assert (shown.startswith("…"), shown.endswith("…")) == (column > WIDEST, column < len(LONG) - WIDEST)
    assert shown.strip("…") in LONG


def test_an_excerpt_of_a_line_that_is_short_enough_is_the_line() -> None:
    assert excerpt_of(["a" * WIDEST], 1, 2, 3) == f"1 | {'a' * WIDEST}\n  |  ^^^"
