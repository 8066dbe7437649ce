"""Test tables in narrow terminals: no word is broken, and nothing is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.output import compute_widths, format_stacked_rows, wrap_text
from tests.support.commands import run_assay

HEADER = ("id", "name", "what it is")
ROWS = [("node_blocks", "Blocks committed", "Blocks that a node has committed"), ("up", "Up", "Whether it answered")]


def test_table_that_fits_has_width_of_its_cells() -> None:
    assert compute_widths(HEADER, ROWS, 100) == [11, 16, 32]
    assert format_stacked_rows(HEADER, ROWS, 100) == []


def test_widest_column_wraps_at_words() -> None:
    assert compute_widths(HEADER, ROWS, 60) == [11, 16, 27]
    assert compute_widths(HEADER, ROWS, 45) == [11, 14, 14]
    assert compute_widths(HEADER, ROWS, 30) == []


def test_names_are_whole_while_other_columns_can_wrap() -> None:
    rows = [("Failed password for root", "2", "a note that has several words")]
    assert compute_widths(("name", "records", "note"), rows, 60) == [24, 7, 23]
    assert compute_widths(("name", "records", "note"), rows, 40) == [14, 7, 13]


def test_names_of_words_wrap_if_nothing_has_room() -> None:
    rows = [("Failed password for root", "failed_password_for_root_count")]
    assert format_stacked_rows(("name", "metrics"), rows, 36) == [
        "name",
        "─" * 36,
        "Failed password for root",
        "    metrics:",
        "    failed_password_for_root_count",
    ]


def test_last_column_moves_below_in_narrow_terminal() -> None:
    assert format_stacked_rows(HEADER, ROWS, 32) == [
        "id            name",
        "─" * 32,
        "node_blocks   Blocks committed",
        "    Blocks that a node has",
        "    committed",
        "up            Up",
        "    Whether it answered",
    ]


def test_earlier_columns_move_below_with_their_names() -> None:
    assert format_stacked_rows(HEADER, ROWS, 20) == [
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


def test_numbers_do_not_move_below() -> None:
    assert format_stacked_rows(("metric", "max"), [("node_blocks", "123456789")], 15) == []


@pytest.mark.parametrize(("text", "lines"), [("", [""]), ("a b", ["a b"]), ("abc de", ["abc", "de"])])
def test_texts_wrap_at_blanks(text: str, lines: list[str]) -> None:
    assert wrap_text(text, 4) == lines


@pytest.mark.parametrize("kind", ["metrics", "events", "grains", "columns", "filters", "series", "reports"])
def test_list_at_80_columns_breaks_no_word(cache: Path, kind: str) -> None:
    document = json.loads(run_assay("list", kind, "--format", "json", "--cache", cache).out)
    header, rows = tuple(document[0]), [tuple(item.values()) for item in document]
    lines = format_stacked_rows(header, rows, 80)
    sizes = compute_widths(header, rows, 80)
    assert lines or sizes
    assert all(len(line) <= 80 or " " not in line.strip() for line in lines)
    words = {word.rstrip(";") for line in lines for word in line.split()}
    actual_words = {word.rstrip(";") for row in rows for cell in row for word in cell.split()}
    assert not lines or actual_words <= words
