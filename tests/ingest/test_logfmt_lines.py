"""Test that the engine and Python read the same pairs in a line of logfmt, whatever white space and bytes it has."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.ingest import logfmt
from assay.sql import dialect
from tests.ingest.test_contract import build_source, build_tick
from tests.support.ingesting import ingest_log

#: blanks of logfmt, other white space and line breaks of Unicode, invisible characters
ODD = " \t\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2009\u2028\u2029\u202f\u205f\u3000\u200b\ufeff\x01\x7f"
PIECES = ["a", "b", "=", "=", '"', '""', '"x y"', "\\", " ", *ODD]
LINES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join)


def parse_by_engine(lines: list[str]) -> list[object]:
    """Return the members that the engine reads in each line; None for a line that is not logfmt."""
    line = dialect.build_column("line")
    query = f"SELECT {logfmt.build_json(line).sql(dialect.DIALECT)} FROM (SELECT unnest(?) AS line)"
    texts = [text for (text,) in duckdb.execute(query, [lines]).fetchall()]
    return [_parse_members(text) for text in texts]


def _parse_members(text: str) -> object:
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except ValueError:
        return None
    return dict(reversed(pairs))


def parse_by_python(line: str) -> object:
    try:
        return logfmt.parse_line(line)
    except ValueError:
        return None


@settings(max_examples=60, deadline=None)
@given(st.lists(LINES, min_size=40, max_size=40))
def test_engine_and_python_read_same_pairs(lines: list[str]) -> None:
    texts = [line for line in lines if not line.startswith("\ufeff")]  # the engine has these quarantined before
    expected = [parse_by_python(line) for line in texts]
    assert parse_by_engine(texts) == expected


def test_each_odd_character_separates_or_belongs_to_values() -> None:
    lines = [f"a=1{character}b=2" for character in ODD]
    members = [item and list(item) for item in map(parse_by_python, lines) if isinstance(item, dict)]
    assert members == [["a", "b"]] * 5 + [["a"]] * (len(ODD) - 5)
    assert parse_by_engine(lines) == [parse_by_python(line) for line in lines]


@pytest.mark.parametrize("character", ODD)
def test_odd_key_beside_a_malformed_value_has_a_reason(character: str, tmp_path: Path) -> None:
    """Regression: two ideas of white space ended the run."""
    source = build_source("logfmt")
    line = f"ts=2026-02-05T18:52:16Z msg=Tick n=one o{character}p=1 t=x\n"
    good = "ts=2026-02-05T18:52:16Z msg=Tick n=1 t=x\n"
    ingested = ingest_log(tmp_path, {"m-1/out": (good + line).encode()}, [build_tick(source)], source=source)
    assert ingested.read_rows("quarantine", "line", "reason") == [
        (2, 'field n of tick: expected an integer, found "one"')
    ]
