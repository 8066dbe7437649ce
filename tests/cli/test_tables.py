"""Tables of lists in narrow terminals: no word is broken, and nothing is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.table import below, widths, wrapped
from tests.support.commands import assay

HEADER = ("id", "name", "what it is")
ROWS = [("node_blocks", "Blocks committed", "Blocks that a node has committed"), ("up", "Up", "Whether it answered")]


def test_a_table_that_fits_is_as_wide_as_its_cells() -> None:
    assert widths(HEADER, ROWS, 100) == [11, 16, 32]
    assert below(HEADER, ROWS, 100) == []


def test_the_widest_column_gives_way_by_whole_words() -> None:
    assert widths(HEADER, ROWS, 60) == [11, 16, 27]
    assert widths(HEADER, ROWS, 45) == [11, 14, 14]
    assert widths(HEADER, ROWS, 30) == []


def test_the_last_column_stands_below_where_there_is_no_room() -> None:
    assert below(HEADER, ROWS, 32) == [
        "id            name",
        "─" * 32,
        "node_blocks   Blocks committed",
        "    Blocks that a node has",
        "    committed",
        "up            Up",
        "    Whether it answered",
    ]


def test_columns_before_it_do_so_too_with_their_names() -> None:
    assert below(HEADER, ROWS, 20) == [
        "id",
        "─" * 20,
        "node_blocks",
        "    name: Blocks",
        "    committed",
        "    Blocks that a",
        "    node has",
        "    committed",
        "up",
        "    name: Up",
        "    Whether it",
        "    answered",
    ]


def test_numbers_do_not_stand_below() -> None:
    assert below(("metric", "max"), [("node_blocks", "123456789")], 15) == []


@pytest.mark.parametrize(("text", "lines"), [("", [""]), ("a b", ["a b"]), ("abc de", ["abc", "de"])])
def test_texts_are_wrapped_at_blanks(text: str, lines: list[str]) -> None:
    assert wrapped(text, 4) == lines


@pytest.mark.parametrize("kind", ["metrics", "events", "grains", "filters", "series", "reports"])
def test_no_word_of_a_list_is_broken_at_80_columns(cache: Path, kind: str) -> None:
    found = json.loads(assay("list", kind, "--format", "json", "--cache", cache).out)
    header, rows = tuple(found[0]), [tuple(item.values()) for item in found]
    lines = below(header, rows, 80)
    sizes = widths(header, rows, 80)
    assert lines or sizes
    assert all(len(line) <= 80 or " " not in line.strip() for line in lines)
    words = {word.rstrip(";") for line in lines for word in line.split()}
    said = {word.rstrip(";") for row in rows for cell in row for word in cell.split()}
    assert not lines or said <= words
