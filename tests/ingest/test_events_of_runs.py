"""Reference runs: every event with its instant, place and fields as plain Python reads them, and every count."""

from __future__ import annotations

import functools
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.ingest.discovery import find_run
from assay.ingest.pipeline import ingest
from assay.lang import workspace
from assay.lang.checked_package import CheckedPackage
from tests.compare_reference import CARDANO
from tests.oracle.model import HostLog
from tests.oracle.reading import read_run

CASES = ("legacy", "list-ns", "defects", "edges", "many-hosts", "tiny/ns-segments", "tiny/refused-miss", "tiny/plain")
#: fields that have another name in the oracle
RENAMED = {"block_prev": "previous"}
CAPITALS = {"centi": "Centi", "cpu": "Cpu", "gc": "GC", "mut": "Mut", "blk": "Blk", "io": "IO", "rss": "RSS"}


@functools.cache
def load_package() -> CheckedPackage:
    """Return the specs of the system."""
    return workspace.load_package(workspace.find_workspace(CARDANO), "cardano", None)


def ingest_run(run: Path, out: Path) -> Path:
    """Ingest a run with all its events and fields."""
    result = load_package().package
    wanted = {event.name: frozenset(item.name for item in event.fields) for event in result.events}
    ingest(result.sources[0], result.events, wanted, find_run(result.sources[0], run), out)
    return out


def read_rows(folder: Path, event: str) -> list[dict[str, Any]]:
    """Return the whole rows of an event, in order."""
    query = "SELECT * FROM read_parquet(?) WHERE whole ORDER BY host, seq"
    cursor = duckdb.execute(query, [str(folder / "events" / event / "*.parquet")])
    names = [item[0] for item in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def get_plain_name(name: str) -> str:
    """Return the name of a field in the oracle."""
    return RENAMED.get(name) or "".join(CAPITALS.get(word, word.capitalize()) for word in name.split("_"))


def read_alike(row: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
    """Return whether a row has the fields that the oracle reads; it skips those that no metric uses."""
    values_by_name = {name: data.get(name, data.get(get_plain_name(name), ...)) for name in row}
    return all(
        value is ... or (row[name], type(row[name])) == (value, type(value)) for name, value in values_by_name.items()
    )


@pytest.mark.parametrize("case", CASES)
def test_events_are_those_of_plain_python(tmp_path: Path, case: str) -> None:
    run = CARDANO / case / "run"
    folder = ingest_run(run, tmp_path / "made")
    expected = [(log.host, event) for log in read_run(run).logs for event in log.events]
    for event in load_package().package.events:
        actual_rows = read_rows(folder, event.name)
        expected_events = [(host, item) for host, item in expected if item.name == event.name]
        assert [(row["host"], row["t_ns"]) for row in actual_rows] == [
            (host, item.instant) for host, item in expected_events
        ]
        different = [
            row for row, (_, item) in zip(actual_rows, expected_events, strict=True) if not read_alike(row, item.data)
        ]
        assert different == []


def test_comparison_detects_a_different_field() -> None:
    assert read_alike({"slot": 1, "centi_cpu": 2}, {"slot": 1, "CentiCpu": 2})
    assert not read_alike({"slot": 1, "centi_cpu": 2}, {"slot": 1, "CentiCpu": 3})
    assert not read_alike({"slot": 1.0}, {"slot": 1})


def list_counts(log: HostLog) -> tuple[Any, ...]:
    return (log.host, log.lines, log.objects, len(log.events), log.first_instant, log.last_instant)


@pytest.mark.parametrize("case", CASES)
def test_counts_are_those_of_plain_python(tmp_path: Path, case: str) -> None:
    run = CARDANO / case / "run"
    folder = ingest_run(run, tmp_path / "made")
    logs = read_run(run).logs
    with duckdb.connect() as connection:
        query = "SELECT host, lines, objects, recognised, first_ns, last_ns FROM read_parquet(?) ORDER BY host"
        assert connection.execute(query, [str(folder / "logs.parquet")]).fetchall() == [
            list_counts(log) for log in logs
        ]
        tally = Counter((log.host, event.name) for log in logs for event in log.events)
        result = connection.execute("FROM read_parquet(?)", [str(folder / "counts.parquet")]).fetchall()
        assert {(host, event): n for host, event, n in result} == tally
        quarantine_reasons = connection.execute(
            "SELECT reason FROM read_parquet(?)", [str(folder / "quarantine.parquet")]
        ).fetchall()
    assert quarantine_reasons == ([("field slot of ledger_view is missing",)] if case == "tiny/refused-miss" else [])


def test_lines_of_real_nodes_are_read(tmp_path: Path) -> None:
    host = tmp_path / "run" / "node-0"
    host.mkdir(parents=True)
    shutil.copy(CARDANO / "real" / "node-0.log", host / "stdout")
    folder = ingest_run(tmp_path / "run", tmp_path / "made")
    block = "73c090c2015a8ed1d79b01ed73b1d861c18971ce0621d29d214d7357117eda6f"
    header_rows = read_rows(folder, "header_seen")
    assert [(row["t_ns"], row["slot"], row["block_no"], row["block"]) for row in header_rows] == [
        (1787681978026973857, 665, 23, block),
        (1787681978027176227, 665, 23, block),
    ]
    assert [(row["t_ns"], row["block"]) for row in read_rows(folder, "header_announced")] == [
        (1787681978030399362, block),
        (1787681978030431492, block),
    ]
    assert [(row["block"], row["length"]) for row in read_rows(folder, "fetch_requested")] == [(block, 1)]
    assert [(row["slot"], row["leader"]) for row in read_rows(folder, "leadership_decided")] == [
        (417, False),
        (418, False),
    ]
    start_rows = read_rows(folder, "leadership_check_started")
    assert [(row["slot"], row["utxo_size"], row["chain_density"]) for row in start_rows] == [
        (418, 3, 3.7974683544303798610197731022708467207849025726318359375e-2),
        (0, 41002003, 0.0),
    ]
    assert [row["t_ns"] for row in read_rows(folder, "ledger_snapshot")] == [1729332987459112022]
