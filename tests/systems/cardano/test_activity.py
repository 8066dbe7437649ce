"""Test the activity of hosts by slot against the oracle: transactions, mempool, blocks, snapshots, log objects."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.compare_reference import CARDANO
from tests.oracle import Reconstruction, reconstruct
from tests.oracle.activity import Activity, count_activity
from tests.support.commands import build

#: runs with all events, of three generations of names, with gaps, and with events before the start of the system
RUNS = ("baseline", "edges", "forks", "legacy", "list-ns", "many-hosts", "tiny/gap999")
COLUMNS = {
    "logObjects": "objects",
    "txsCollected": "collected",
    "txsAccepted": "accepted",
    "txsRejected": "rejected",
    "mempoolRefusals": "refused",
    "mempoolTxs": "mempool_txs",
    "hostForges": "forged",
    "ledgerSnapshots": "snapshots",
}
#: events whose numbers a metric adds up: it has no samples in a run without them, where counts of events are 0
EVENTS = {
    "txsCollected": "txs_collected",
    "txsAccepted": "txs_processed",
    "txsRejected": "txs_processed",
    "mempoolTxs": "mempool_size",
}
Slots = dict[tuple[str, int], Activity]
BuiltRun = tuple[Path, Slots, Reconstruction]


@pytest.fixture(scope="module", params=RUNS)
def built_run(request: pytest.FixtureRequest, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> BuiltRun:
    """Build the report of a run; return its folder and the oracle's activity by host and slot."""
    run = CARDANO / request.param / "run"
    folder = tmp_path_factory.mktemp("activity") / "out"
    result = build([f"run={run}"], folder, cache, "--to", "md", report="cardano/host-activity")
    assert result.status == 0, result.err
    reconstruction = reconstruct(run)
    slots = {
        (log.host, slot): activity
        for log, timeline in zip(reconstruction.run.logs, reconstruction.timelines, strict=True)
        for slot, activity in count_activity(reconstruction.run.genesis, log, (item.slot for item in timeline)).items()
    }
    return folder, slots, reconstruction


def read_slots(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Read the listing of slots by host and slot."""
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT * FROM read_parquet('{folder}/rows/run/slots-of-hosts.parquet')")
        names = [item[0] for item in rows.description]
        records = [dict(zip(names, values, strict=True)) for values in rows.fetchall()]
    return {(row["host"], row["slot"]): row for row in records}


def test_each_slot_of_each_host_equals_the_oracle(built_run: BuiltRun) -> None:
    folder, slots, _ = built_run
    rows = read_slots(folder)
    assert list(rows) == sorted(slots)
    for key, activity in slots.items():
        assert {name: rows[key][name] for name in COLUMNS} == {
            name: getattr(activity, attribute) for name, attribute in COLUMNS.items()
        }, key


def test_metrics_are_means_over_hosts(built_run: BuiltRun) -> None:
    folder, slots, reconstruction = built_run
    logged = {event.name for log in reconstruction.run.logs for event in log.events}
    metrics = json.loads((folder / "results.json").read_text(encoding="utf-8"))["metrics"]
    for name, attribute in COLUMNS.items():
        values_by_host: dict[str, list[int]] = {}
        for (host, _), activity in slots.items():
            value = getattr(activity, attribute) if EVENTS.get(name) in {None, *logged} else None
            if value is not None:
                values_by_host.setdefault(host, []).append(value)
        means = [sum(values) / len(values) for values in values_by_host.values()]
        figures = metrics[name]["runs"]["run"]
        assert figures["size"] == sum(map(len, values_by_host.values()))
        assert figures["average"] == (pytest.approx(sum(means) / len(means), rel=1e-12) if means else None)


def test_csv_has_as_many_slots(built_run: BuiltRun) -> None:
    folder, slots, _ = built_run
    with (folder / "rows" / "run" / "slots-of-hosts.csv").open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    assert [(record["host"], int(record["slot"])) for record in records] == sorted(slots)
    assert [record["mempoolTxs"] for record in records] == [
        "" if slots[key].mempool_txs is None else str(slots[key].mempool_txs) for key in sorted(slots)
    ]


def test_timelines_draw_a_line_for_each_host(cache: Path, tmp_path: Path) -> None:
    run = CARDANO / "list-ns" / "run"
    result = build([f"run={run}"], tmp_path / "out", cache, "--to", "md", report="cardano/host-timelines")
    assert result.status == 0, result.err
    reconstruction = reconstruct(run)
    document = json.loads((tmp_path / "out" / "document.json").read_text(encoding="utf-8"))
    plots = {plot["title"]: plot for part in document["parts"] for plot in part["plots"]}
    assert len(plots) == len(COLUMNS)
    plot = plots["Mempool size, tx"]
    assert plot["panels"] == [log.host for log in reconstruction.run.logs]
    log, timeline = reconstruction.run.logs[0], reconstruction.timelines[0]
    activity = count_activity(reconstruction.run.genesis, log, (item.slot for item in timeline))
    drawn = {(x, y) for line, x, y in plot["rows"] if line == log.host and y is not None}
    assert max(y for _, y in drawn) == max(item.mempool_txs or 0 for item in activity.values())
    assert {y for _, y in drawn} <= {item.mempool_txs for item in activity.values()}
