"""Warnings of a run do not depend on earlier reads for other fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from assay.ingest.manifest import covers, read_notes
from assay.lang.model.package import Event, Source
from tests.ingest import test_csv as tables
from tests.ingest import test_json_records as records
from tests.ingest import test_text_lines as texts
from tests.support.commands import assay
from tests.support.ingesting import SOURCE, event, field, form, read, record
from tests.support.mixed import mixed

FIELDS = [field("n"), field("s", "text", required=False)]
TICKS = event("it", form(FIELDS, new="Tick"))
TEXT = Event("it", texts.LINES.name, (texts.form(FIELDS, "Tick {n} of {s}"),), "")
ROWS = Event("it", tables.TABLE.name, (form(FIELDS),), "")
ITEMS = Event("it", records.LISTS.name, (form(FIELDS),), "")
TWICE = record(n=1, s="a").replace('"s":"a"', '"s":"a","s":"b"')


@pytest.mark.parametrize(
    ("name", "content", "of", "source"),
    [
        pytest.param("m-1/out", f"{TWICE}\n", TICKS, SOURCE, id="lines of JSON with two values"),
        pytest.param("m-1/out", texts.line("Tick 1 of a"), TEXT, texts.LINES, id="a text log without its end"),
        pytest.param("a.csv", "n,s\n1,a", ROWS, replace(tables.TABLE, time=()), id="a table without its end"),
        pytest.param("a.csv", "Id: 1\nn: 1\ns: a", ROWS, replace(tables.TABLE, kind="blocks", begins="Id", time=()),
                     id="blocks without their end"),
        pytest.param("a.json", '[{"time":1,"n":1,"s":"a","s":"b"}]', ITEMS, records.LISTS,
                     id="records with two values"),
    ],
)  # fmt: skip
def test_warning_of_an_unwanted_field_is_not_cached(
    tmp_path: Path, name: str, content: str, of: Event, source: Source
) -> None:
    def ingest_wanted(place: str, *fields: str) -> tuple[Path, Sequence[str]]:
        ingested = read(tmp_path / place, {name: content.encode()}, [of], {"it": frozenset(fields)}, source)
        assert ingested.rows("it", "n") == [(1,)]
        return ingested.folder, read_notes(ingested.folder)

    (more, reported), (less, nothing) = ingest_wanted("more", "n", "s"), ingest_wanted("less", "n")
    assert (len(reported), nothing) == (1, ())
    both, one = {"it": ("n", "s")}, {"it": ("n",)}
    assert [covers(more, source, [of], wanted) for wanted in (both, one)] == [True, False]
    assert [covers(less, source, [of], wanted) for wanted in (both, one)] == [False, True]


def test_query_warns_the_same_after_a_larger_one(tmp_path: Path) -> None:
    place = mixed(tmp_path / "mixed")
    log = place / "runs" / "v1" / "app-1" / "app.log"
    log.write_text(log.read_text(encoding="utf-8").replace('"kb": 101', '"kb": 101, "kb": 7'), encoding="utf-8")
    everything = assay("ingest", "runs/v1", "--all", "--cache", tmp_path / "full", within=place)
    assert everything.status == 0
    message = [assay("query", "came", "--run", "runs/v1", "--cache", tmp_path / name, within=place)
            for name in ("full", "empty")]  # fmt: skip
    assert message[0] == message[1]
    assert "two values" not in message[0].err
    more = assay("query", "size", "--run", "runs/v1", "--cache", tmp_path / "full", within=place)
    assert "warning: v1: a log line has two values of `kb`, of which the first counts (app-1/app.log:6)." in more.err
