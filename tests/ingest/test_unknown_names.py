"""Test that names of unknown records are counted by host, with every reader and any division into chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from assay.engine.mount import read_facts
from assay.ingest import scanner, unknown_records
from assay.ingest.discovery import find_run
from assay.ingest.hashing import hash_files
from assay.ingest.pipeline import ingest
from assay.ingest.unknown_records import UnknownTally, merge_tallies
from assay.lang.model.package import Package
from assay.quality.unknown_names import UnknownRecord, suggest_renames
from tests.support.ingesting import SOURCE, build_event, build_field, build_form, format_record, ingest_log

TICK = build_event("tick", build_form([build_field("n")], new="Tick"))


@pytest.fixture(params=["scanner", "engine"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "engine":
        monkeypatch.setenv(scanner.VARIABLE, "off")
    elif not scanner.is_available():
        pytest.skip("there is no scanner")
    return str(request.param)


def iter_files() -> Iterator[tuple[str, bytes]]:
    for host in (1, 2):
        for part in ("", ".1"):
            lines = [
                format_record(n=1),
                format_record("New"),
                format_record("New" if part else "Newer"),
                format_record(None),
            ]
            yield f"m-{host}/out{part}", "".join(f"{line}\n" for line in lines * 40).encode()


@pytest.mark.usefixtures("reader")
def test_cached_batches_yield_the_same_bytes(tmp_path: Path) -> None:
    whole_read = ingest_log(tmp_path, dict(iter_files()))
    table = (whole_read.folder / unknown_records.TABLE).read_bytes()
    single_read = ingest_log(tmp_path / "one", dict(iter_files()), workers=1)
    assert (single_read.folder / unknown_records.TABLE).read_bytes() == table
    run, wanted = tmp_path / "run", {"tick": frozenset({"n"})}
    for name in ("first", "again"):
        files, _ = hash_files(find_run(SOURCE, run), tmp_path / "memo.json")
        ingest(SOURCE, (TICK,), wanted, files, tmp_path / name, cache=tmp_path / "cache")
        assert (tmp_path / name / unknown_records.TABLE).read_bytes() == table


def test_facts_list_unknown_names_and_events_by_host(tmp_path: Path) -> None:
    ingested = ingest_log(
        tmp_path,
        {
            "m-1/out": f"{format_record(n=1)}\n{format_record('New')}\n".encode(),
            "m-2/out": format_record("New").encode(),
        },
    )
    run_facts = read_facts(ingested.folder)
    assert (run_facts.events, run_facts.by_host) == ({"tick": 1}, {"tick": {"m-1": 1}})
    assert [(item.host, item.name, item.n, item.first_seq) for item in run_facts.unknown] == [
        ("m-1", "New", 1, 2), ("m-2", "New", 1, 1),
    ]  # fmt: skip


def test_names_beyond_the_most_frequent_are_summed() -> None:
    tallies = [UnknownTally("b", "x", 5, 9), UnknownTally("a", "y", 1, 3), UnknownTally("a", "z", 1, 2)]
    assert merge_tallies([*tallies, UnknownTally("b", "x", 1, 4)], 2) == (
        UnknownTally("a", "y", 1, 3), UnknownTally("a", None, 1, 2), UnknownTally("b", "x", 6, 4),
    )  # fmt: skip
    assert merge_tallies([*tallies, UnknownTally("a", None, 7, 1)], 1) == (
        UnknownTally("a", None, 9, 1), UnknownTally("b", "x", 5, 9),
    )  # fmt: skip


#: unknown name, its body, hosts with records of `snapshot` -> the events that it may belong to
RENAMES: Mapping[str, tuple[str, dict[str, object], list[str], list[str]]] = {
    "an equal last segment": ("Db.Snapshot.TookSnapshot", {}, [], ["snapshot"]),
    "another case": ("db.tooksnapshot", {}, [], ["snapshot"]),
    "a prefix of the last segment": ("Db.TraceTookSnapshot", {}, [], ["snapshot"]),
    "all fields": ("Db.Wrote", {"slot": 1, "bytes": 2}, [], ["snapshot"]),
    "one field, and a name unlike": ("Wrote", {"slot": 1}, [], []),
    "no likeness": ("Db.Wrote", {"other": 1}, [], []),
    "an event that has records on the host": ("Db.Snapshot.TookSnapshot", {}, ["m-1"], []),
    "an event that has records on another host": ("Db.Snapshot.TookSnapshot", {}, ["m-2"], ["snapshot"]),
    "a sibling of an event with records": ("Db.Wrote", {"slot": 1, "bytes": 2}, ["m-1"], ["snapshot"]),
}


@pytest.mark.parametrize("case", RENAMES)
def test_likely_renames_are_by_name_or_by_fields(case: str) -> None:
    name, body, hosts, expected = RENAMES[case]
    snapshot = build_event(
        "snapshot",
        build_form(
            [build_field("slot"), build_field("bytes"), build_field("more", default="0")], new="Db.TookSnapshot"
        ),
    )
    other_event = build_event("other", build_form([build_field("peer"), build_field("port")], new="Net.Connected"))
    package = Package("made-up", (), (SOURCE,), (snapshot, other_event), *((),) * 9)
    unknown_record = UnknownRecord(SOURCE.name, name, frozenset({"m-1"}), format_record(name, **body))
    counts = {"snapshot": dict.fromkeys(hosts, 1)}
    assert [item.event for item in suggest_renames(package, counts, [unknown_record])] == expected
