"""A last line without a line end is used, and told where a cut in it would make its last value another one."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from assay.ingest.discovery import find_run
from assay.ingest.manifest import read_notes
from assay.ingest.pipeline import ingest
from assay.lang.line_pattern import parse
from tests import test_ingest_blocks as blocks
from tests import test_ingest_tables as tables
from tests import test_ingest_text as texts
from tests.support.ingesting import Ingested, field

AFTER = "if it was cut off there, so was its last value, which is used."


def said(place: str) -> tuple[str, ...]:
    return (f"the last line of a file has no line end ({place}): {AFTER}",)


@pytest.mark.parametrize(
    ("pattern", "last"),
    [
        ("{a} b {c}", ["c"]),
        ("{a} b {}", []),
        ("{a} b {c} d", []),
        ("{a}{?, b: {b}?}", ["b", "a"]),
        ("{a}{?, b: {b}?}{? c: {c}?}", ["c", "b", "a"]),
        ("{a} d{? b: {b} {c}?}", ["c"]),
        ("{a}{? now?}", ["a"]),
        ("{a} {? b {b}?}.", []),
    ],
)
def test_a_line_may_end_in_these_places(pattern: str, last: Sequence[str]) -> None:
    assert list(parse(pattern).last) == last


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize("head", [b"", b"\xff\n"])
@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("Tick 10", True), ("Tick 10\n", False), ("Tick 10\r\n", False), ("Tick 10\r", False), ("Tick x", False),
        ("Tick 1 1", False), ("Tick", False), ("Tock 1", False), ("Tick 1\0", False), ("Tick 10 ", True),
        ("Shut 1 (done)", False),
    ],
)  # fmt: skip
def test_an_event_at_the_end_of_a_text_log_is_told_where_it_ends_in_a_value(
    tmp_path: Path, last: str, told: bool, head: bytes, packed: type[bytes]
) -> None:
    shut = texts.event("shut", texts.form([field("n")], "Shut {n} (done)"))
    content = head + f"{texts.line('Tick 1')}\n{texts.line(last)}".encode()
    found = texts.made(tmp_path, {"m-1/out": packed(content)}, [texts.TICK, shut])
    assert read_notes(found.folder) == (said(f"m-1/out:{2 + bool(head)}") if told else ())
    assert found.rows("tick", "n")[1:] == ([(10,)] if last.startswith("Tick 10") else [])


def test_what_is_not_read_at_the_end_of_a_line_is_not_told(tmp_path: Path) -> None:
    """Neither a place that nobody asks for, nor an event, nor a body that does not end its line."""
    log = f"{texts.line('Tick 1 2')}".encode()
    two = texts.event("two", texts.form([field("n"), field("m")], "Tick {n} {m}"))
    assert read_notes(texts.made(tmp_path / "a", log, [two]).folder) == said("m-1/out:1")
    assert read_notes(texts.made(tmp_path / "b", log, [two], wanted={"two": frozenset({"n"})}).folder) == ()
    closed = replace(texts.LINES, line="{level} {at} ] {message...} [{}]")
    assert read_notes(texts.made(tmp_path / "c", log + b" [x]", [two], closed).folder) == ()
    dated = replace(texts.LINES, line="{level} ] {message...} at {at}")
    found = texts.made(tmp_path / "d", f"info ] Tick 1 2 at {texts.AT}".encode(), [two], dated)
    assert read_notes(found.folder) == said("m-1/out:1")


def test_several_files_are_one_note_that_names_the_first_also_out_of_the_cache(tmp_path: Path) -> None:
    logs = {f"m-{n}/out": f"{texts.line('Tock')}\n{texts.line('Tick 1')}".encode() for n in (2, 1)}
    for name, content in logs.items():
        (tmp_path / "run" / name).parent.mkdir(parents=True)
        (tmp_path / "run" / name).write_bytes(content)
    wanted = {"tick": frozenset({"n"})}
    for name in ("once", "again"):
        files = find_run(texts.LINES, tmp_path / "run")
        ingest(texts.LINES, [texts.TICK], wanted, files, tmp_path / name, cache=tmp_path / "cache")
        assert read_notes(tmp_path / name) == (
            "the last lines of 2 files have no line end (the first is m-1/out:2): where they were cut off there, so "
            "were their last values, which are used.",
        )


NAMED = tables.event("row", field("n"), field("s", "text", required=False))


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize("torn", ["", "1,1\n"])
@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("2,a,10", True), ("2,a,10\n", False), ("2,a,10\r\n", False), ('2,a,"10"', False), ("2,a,x", False),
        ("2,a", False), ("x,a,10", False), ("2,a,10,1", False), ("2,a,\0", False), ('2,"a\nb",10', True),
    ],
)  # fmt: skip
def test_a_row_at_the_end_of_a_table_is_told_where_its_last_cell_is_read(
    tmp_path: Path, last: str, told: bool, torn: str, packed: type[bytes]
) -> None:
    found = tables.made(tmp_path, {"a.csv": packed(f"at,s,n\n1,c,1\n{torn}{last}".encode())}, (NAMED,))
    assert read_notes(found.folder) == (said("a.csv") if told else ())


def test_a_last_cell_that_nobody_reads_and_a_table_without_rows_are_not_told(tmp_path: Path) -> None:
    content = {"a.csv": b"at,n,s,x\n1,1,a,1", "b.csv": b"at,s,n"}
    assert read_notes(tables.made(tmp_path, content, (NAMED,)).folder) == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Id: a\nN: 10", True), ("Id: a\nN: 10\n", False), ("Id: a\nN: 1\nX: 1", False),
        ("Id: a  Id: b\nN: 1  N: 2", True), ("Id: a\nN: 1\nId: b\nN: x", False),
        ("Id: a\nN: 1\nX", False), ("Id: a\nN: 1\n ", False), ("Id: a  Id: b\nN: 1  N: 2\nX: 1", False),
    ],
)  # fmt: skip
def test_a_block_at_the_end_of_a_text_is_told_where_its_last_value_is_read(
    tmp_path: Path, text: str, told: bool
) -> None:
    found: Ingested = blocks.made(tmp_path, text)
    assert read_notes(found.folder) == (said("a.txt") if told else ())
