"""Test the examples of all words of the spec language, and the page that is generated from them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.words import FOLDER, PAGE, Example, format_page, read_examples, read_types

pytestmark = pytest.mark.docs


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Example]:
    return read_examples(tmp_path_factory.mktemp("cache"), tmp_path_factory.mktemp("reports"))


def test_examples_of_words_pass(cache: Path) -> None:
    result = run_assay("--cache", cache, "test", cwd=FOLDER)
    assert (result.status, result.err) == (0, "")
    assert re.match(r"words: 2 examples, \d+ expectations\n", result.out)


def test_report_without_directions_says_so(tmp_path: Path, cache: Path) -> None:
    runs = [item for name in ("before", "after") for item in ("--run", FOLDER / "runs" / name)]
    run_assay("--cache", cache, "build", "words/comparison", *runs, "-o", tmp_path / "out", "--to", "md", cwd=FOLDER)
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "\n8 metrics without a direction: " in report


def test_every_word_has_an_example_and_its_output(examples: list[Example]) -> None:
    example_words = {word for example in examples for word in example.words}
    assert read_types().keys() - example_words == set()
    assert [example.words for example in examples if not example.output] == []
    for example in examples:
        names = [word for word in example.words if not re.search(rf"\b{re.escape(word)}\b", example.text)]
        assert names == []


def test_page_of_words_is_that_of_the_examples(examples: list[Example], is_accepting: bool) -> None:
    page = format_page(examples)
    if is_accepting:
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page
