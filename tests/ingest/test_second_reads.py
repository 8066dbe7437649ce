"""Warnings of a run do not depend on earlier reads for other fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from assay.ingest.manifest import has_required_events, read_notes
from assay.lang.model.package import Event, Source
from tests.ingest import test_csv as tables
from tests.ingest import test_json_records as records
from tests.ingest import test_text_lines as texts
from tests.support.ingesting import build_field, build_form, ingest_log

FIELDS = [build_field("n"), build_field("s", "text", required=False)]
TEXT = Event("it", texts.LINES.name, (texts.create_form(FIELDS, "Tick {n} of {s}"),), "")
ROWS = Event("it", tables.TABLE.name, (build_form(FIELDS),), "")
ITEMS = Event("it", records.LISTS.name, (build_form(FIELDS),), "")


@pytest.mark.parametrize(
    ("name", "content", "event", "source"),
    [
        pytest.param("m-1/out", texts.format_line("Tick 1 of a"), TEXT, texts.LINES, id="a text log without its end"),
        pytest.param("a.csv", "n,s\n1,a", ROWS, replace(tables.TABLE, time=()), id="a table without its end"),
        pytest.param("a.csv", "Id: 1\nn: 1\ns: a", ROWS, replace(tables.TABLE, kind="blocks", begins="Id", time=()),
                     id="blocks without their end"),
        pytest.param("a.json", '[{"time":1,"n":1,"s":"a","s":"b"}]', ITEMS, records.LISTS,
                     id="records with two values"),
    ],
)  # fmt: skip
def test_warning_of_an_unwanted_field_is_not_cached(
    tmp_path: Path, name: str, content: str, event: Event, source: Source
) -> None:
    def ingest_wanted(place: str, *fields: str) -> tuple[Path, Sequence[str]]:
        ingested = ingest_log(tmp_path / place, {name: content.encode()}, [event], {"it": frozenset(fields)}, source)
        assert ingested.read_rows("it", "n") == [(1,)]
        return ingested.folder, read_notes(ingested.folder)

    (large_folder, large_notes), (small_folder, small_notes) = (
        ingest_wanted("more", "n", "s"),
        ingest_wanted("less", "n"),
    )
    assert (len(large_notes), small_notes) == (1, ())
    fields_of_both, fields_of_one = {"it": ("n", "s")}, {"it": ("n",)}
    assert [
        has_required_events(large_folder, source, [event], wanted) for wanted in (fields_of_both, fields_of_one)
    ] == [True, False]
    assert [
        has_required_events(small_folder, source, [event], wanted) for wanted in (fields_of_both, fields_of_one)
    ] == [False, True]
