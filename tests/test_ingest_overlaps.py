"""Log files of one host that overlap in time are told of; those that a rotation leaves are not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assay.ingest.manifest import read_notes
from assay.lang.model.package import Quarantine
from assay.util.diagnostics import AssayError
from tests.support.ingesting import SOURCE, read, record, refusal

TOLD = "log files of host m-1 overlap in time: m-1/out-b begins 60 s before m-1/out-a ends, and is read after it."


def log(*times: str) -> bytes:
    """A log with a record at each of these times of an hour (MM:SS and a fraction)."""
    return "".join(record(ts=f"2026-02-05T18:{time}Z", n=1) + "\n" for time in times).encode()


def notes_of(folder: Path, **files: bytes) -> tuple[str, ...]:
    """What is told of a run of a host with these log files."""
    made = read(folder, {f"m-1/out-{name}": content for name, content in files.items()})
    return read_notes(made.folder)


def test_a_file_that_begins_before_the_one_before_it_ends_is_told(tmp_path: Path) -> None:
    assert notes_of(tmp_path, a=log("00:00", "02:00"), b=log("01:00", "03:00")) == (TOLD,)


def test_several_are_told_by_the_first(tmp_path: Path) -> None:
    files = {"a": log("00:00", "02:00"), "b": log("01:00", "01:30"), "c": log("01:40", "05:00")}
    assert notes_of(tmp_path, **files) == (TOLD.removesuffix(".") + " (1 more overlap).",)


@pytest.mark.parametrize(
    "files",
    [
        {"a": log("00:00", "02:00"), "b": log("02:00", "03:00")},
        {"a": log("00:00", "02:00.9"), "b": log("02:00", "03:00")},  # two threads about a rotation
        {"a": log("00:00", "02:01"), "b": log("02:00", "03:00")},
        {"a": log("00:00", "05:00", "02:00"), "b": log("02:01", "03:00")},  # a clock that was set back
        {"a": log("00:00", "02:00"), "b": b"no object\n"},
        {"a": log("00:00", "02:00")},
    ],
    ids=["next", "within a second", "a second", "clock set back", "no instant", "one file"],
)
def test_files_of_a_rotation_are_not(tmp_path: Path, files: dict[str, bytes]) -> None:
    assert notes_of(tmp_path, **files) == ()


def test_files_of_several_hosts_do_not_overlap(tmp_path: Path) -> None:
    made = read(tmp_path, {"m-1/out": log("00:00", "02:00"), "m-2/out": log("01:00", "03:00")})
    assert read_notes(made.folder) == ()


@pytest.mark.parametrize(("ts", "reason"), [("yesterday", 'bad time: "yesterday"'), (None, "no time")])
def test_too_many_without_a_time_are_told_with_the_form_that_is_read(
    tmp_path: Path, ts: str | None, reason: str
) -> None:
    strict = replace(SOURCE, quarantine=Quarantine(0.0, 0))
    bad = json.dumps(({} if ts is None else {"ts": ts}) | {"what": "Tick", "body": {"n": 1}})
    with pytest.raises(AssayError) as error:
        read(tmp_path, [record(n=1), bad], source=strict)
    assert refusal(error.value, tmp_path) == (
        "error[too-many-broken-lines]: 1 of the 2 log lines of host m-1 are broken\n"
        "  expected: at most 0\n"
        "  found:    1\n"
        f"  note: m-1/out:2, byte {len(record(n=1)) + 1}: {reason}\n"
        "  note: the time, `ts`, of a record of source `machines` is read as ISO 8601 with its zone, such as "
        "2026-02-05T18:52:16.5Z\n"
        "  hint: the limit stands in the source's definition (`quarantine`)"
    )
