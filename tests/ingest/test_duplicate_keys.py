"""Duplicate keys of JSON lines in large files, and blanks before objects."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.ingest.manifest import read_notes
from assay.ingest.readers import duplicate_keys, json_lines_tables
from tests.support.ingesting import read, record

GOOD = record(n=1)


def line(text: str, name: str = "Tick") -> str:
    return f'{{"ts":"2026-02-05T18:52:16Z","what":"{name}","body":{{{text}}}}}'


@pytest.mark.parametrize("blanks", [" ", "\t", " \r \t", " " * 5000])
def test_blanks_before_an_object_are_skipped(tmp_path: Path, blanks: str) -> None:
    """JSON allows blanks before an object."""
    lines = [GOOD, blanks + record(n=2), blanks + record(n="x"), blanks + GOOD + blanks, blanks + GOOD[:-1], blanks]
    ingested = read(tmp_path, lines)
    assert ingested.rows("tick", "seq", "n") == [(1, 1), (2, 2), (4, 1)]
    assert ingested.rows("quarantine", "line", "reason") == [
        (3, 'field n of tick: expected an integer, found "x"'),
        (5, "not JSON"),
    ]
    log = ingested.log()
    assert (log["lines"], log["recognised"], log["quarantined"], log["text_lines"]) == (6, 3, 2, 1)


@pytest.mark.usefixtures("large")
def test_large_file_is_sampled_by_instants(tmp_path: Path) -> None:
    """Whatever is read beside them: the same lines of the same file, by one worker or two."""
    lines = [line('"n":2,"n":3').replace(":16Z", f":16.{number:09d}Z") for number in range(500)]
    files = {"m-1/out": "\n".join(lines).encode(), "m-2/out": b"\n".join([GOOD.encode()] * 9)}
    result = [read(tmp_path / str(workers), files, workers=workers) for workers in (1, 2)]
    (message,) = read_notes(result[0].folder)
    begins, count, rest = re.split(r"(\d+) log", message, maxsplit=1)
    first = next(number for number in range(11) if (1770317536_000000000 + number) % 11 == 0) + 1
    assert (begins, int(count)) == ("at least ", len(range(first, 501, 11)))
    assert f"(the first is m-1/out:{first}, two values of `body.n`)" in rest
    assert read_notes(result[1].folder) == (message,)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if files of more than 1000 bytes were large."""
    monkeypatch.setattr(json_lines_tables, "SMALL", 1000)
    monkeypatch.setattr(duplicate_keys, "SMALL", 1000)
