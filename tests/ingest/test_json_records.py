"""JSON documents that hold a list of objects, against plain Python."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.ingest.manifest import has_required_events
from assay.lang.model.package import Event, Source
from tests.support.commands import run_assay
from tests.support.ingesting import SOURCES, IngestedFolder, build_field, build_form, ingest_log
from tests.support.laboratory import ROOT

LISTS = SOURCES["json-records"]
ROW = Event(
    "row", LISTS.name, (build_form([build_field("n", "real", required=False), build_field("m", required=False)]),), ""
)
S = 10**9


def ingest_files(
    folder: Path,
    content: str | Mapping[str, bytes],
    events: Sequence[Event] = (ROW,),
    source: Source = LISTS,
    wanted: Mapping[str, frozenset[str]] | None = None,
) -> IngestedFolder:
    files = content if isinstance(content, Mapping) else {"a.json": content.encode()}
    return ingest_log(folder, files, events, wanted, source)


RECORDS = '[{"time": 5, "n": 0.25, "m": 1}, {"time": 6}, {"time": 7, "n": 1e-7, "m": null, "x": []}]'


@pytest.mark.parametrize("text", [RECORDS, f'{{"data": {{"list": {RECORDS}}}}}', f"\ufeff{RECORDS}\n"])
def test_list_is_at_its_path_or_is_the_document(tmp_path: Path, text: str) -> None:
    ingested = ingest_files(tmp_path, text)
    assert ingested.read_rows("row", "seq", "t_ns", "n", "m") == [
        (1, 5 * S, 0.25, 1), (2, 6 * S, None, None), (3, 7 * S, 1e-7, None),
    ]  # fmt: skip
    assert ingested.read_log() == {
        "host": "", "lines": 3, "objects": 3, "recognised": 3, "quarantined": 0, "text_lines": 0,
        "first_ns": 5 * S, "last_ns": 7 * S, "first_recognised_ns": 5 * S,
    }  # fmt: skip
    assert (ingested.read_rows("counts"), ingested.read_rows("quarantine")) == ([("", "row", 3)], [])
    assert has_required_events(ingested.folder, LISTS, [ROW], {"row": frozenset(("n",))})


VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.fixed_dictionaries({}, optional={"n": VALUES, "m": st.integers(-5, 5)}), max_size=8))
def test_records_are_read_back(tmp_path_factory: pytest.TempPathFactory, items: list[dict[str, Any]]) -> None:
    records = [{"time": 0, "n": 1, "m": 1}, *({"time": number, **item} for number, item in enumerate(items, start=1))]
    ingested = ingest_files(tmp_path_factory.mktemp("lists"), json.dumps(records))
    expected_rows = [(r["time"] * S, None if r.get("n") is None else float(r["n"]), r.get("m")) for r in records]
    assert ingested.read_rows("row", "t_ns", "n", "m") == expected_rows


def test_records_of_a_machine_are_those_of_plain_python(cache: Path) -> None:
    result = run_assay(
        "query", "vm_cpu_usage", "vm_memory_share", "vm_disk_write_rate", "vm_memory_used", "--format", "json",
        "--run", ROOT / "golden" / "antelope" / "rrd", "--cache", cache,
    )  # fmt: skip
    assert (result.status, result.err) == (0, "")
    records = json.loads((ROOT / "golden" / "antelope" / "rrd" / "rrddata.json").read_text(encoding="utf-8"))
    values = {
        "vm_cpu_usage": [100 * r["cpu"] for r in records if "cpu" in r],
        "vm_memory_share": [100 * r["mem"] / r["maxmem"] for r in records if "mem" in r],
        "vm_disk_write_rate": [r["diskwrite"] / 1024 for r in records if "diskwrite" in r],
        "vm_memory_used": [r["mem"] / 2**20 for r in records if "mem" in r],
    }
    for row in result.parse_json():
        expected_rows = values[row["metric"]]
        assert row["size"] == len(expected_rows) == 67
        assert row["average"] == pytest.approx(sum(expected_rows) / len(expected_rows), rel=1e-12)
        assert (row["min"], row["max"]) == (
            pytest.approx(min(expected_rows), rel=1e-12),
            pytest.approx(max(expected_rows), rel=1e-12),
        )
