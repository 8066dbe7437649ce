"""Names of current versions of the nodes: cases under golden/cases/, and nodes whose logs hold no block."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import replace_quarantine_path

CASES = ROOT / "golden" / "cases"
EXPECTED = [
    pytest.param(path.parent, expected, id=f"{path.parent.name}/{expected['run']}")
    for path in sorted(CASES.glob("*/*/query.json"))
    for expected in json.loads(path.read_text(encoding="utf-8"))
]
V1 = CASES / "networks" / "2-cometbft-v1-log" / "run"
SPRING = CASES / "networks" / "1-spring-block-lines" / "run"
NO_KIND = CASES / "cardano" / "15-no-kind" / "run"


def query_run(run: Path, cache: Path, *metrics: str) -> CommandResult:
    return run_assay("query", *metrics, "--format", "json", "--run", f"run={run}", "--cache", cache)


@pytest.mark.parametrize(("case", "expected"), EXPECTED)
def test_case_of_new_names_has_expected_numbers(case: Path, expected: dict[str, Any], cache: Path) -> None:
    result = query_run(case / expected["run"], cache, *expected["metrics"])
    assert result.status == 0, result.err
    assert {row["metric"]: [row["size"], row["average"]] for row in result.parse_json()} == expected["metrics"]
    assert result.err.splitlines() == expected["warnings"]


@pytest.mark.parametrize(
    ("case", "event", "rows"),
    [
        ("7-switched-to-a-fork", "fork_switched", {"node-0": 2, "node-1": 2, "node-2": 2}),
        ("14-snapshot-renamed", "ledger_snapshot", {"node-0": 1, "node-1": 1, "node-2": 1}),
    ],
)
def test_event_with_new_name_is_ingested(case: str, event: str, rows: dict[str, int], cache: Path) -> None:
    result = run_assay("ingest", "--all", CASES / "cardano" / case / "run", "--cache", cache)
    assert result.status == 0, result.err
    files = Path(result.out.strip()) / "events" / event / "*.parquet"
    counts = duckdb.execute(f"SELECT host, count(*) FROM '{files}' GROUP BY host ORDER BY host").fetchall()
    assert dict(counts) == rows


def test_switches_are_no_analysed_log_objects(tmp_path: Path, cache: Path) -> None:
    run = CASES / "cardano" / "7-switched-to-a-fork" / "run"
    options = ("--run", f"run={run}", "--to", "md", "-o", tmp_path / "out", "--cache", cache)
    result = run_assay("build", "cardano/comparison", *options)
    assert result.status == 0, result.err
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "| Total log objects analysed | 1368 |" in report
    assert "happened as node-0, node-1 switched to another fork (SwitchedToAFork)" in report


def test_log_without_dates_is_an_error(cache: Path) -> None:
    result = query_run(CASES / "networks" / "11-old-nodeos" / "run", cache, "tps_avg")
    log = "node_01/stderr.txt"
    reason = 'no line of the log: expected " ] ", found " Received block 00000000..."'
    assert (result.status, replace_quarantine_path(result.err)) == (
        1,
        "error[too-many-broken-lines]: run run: 12 of the 12 log lines of host node_01 are malformed\n"
        "  expected: at most 10\n"
        "  found:    12\n"
        f"  note: {log}:1, byte 0: {reason}\n"
        f"  note: {log}:2, byte 197: {reason}\n"
        f"  note: {log}:3, byte 394: {reason}\n"
        "  note: source `nodes` reads a line as `{?{} {} {} {} {}: ?}{?{}|{} | ?}{level} {at} {thread} {file} "
        "{function} ] {message...}`: Logs of the nodes; logs of the first EOSIO versions (`2449775ms thread-0 ...`) "
        "have no dates and cannot be read\n"
        "  note: all of them, with file, line, offset, reason and text, are in QUARANTINE\n"
        "  hint: the limit is `quarantine` in the definition of the source\n",
    )


def test_cometbft_node_without_commits_is_a_warning(tmp_path: Path, cache: Path) -> None:
    shutil.copytree(V1, tmp_path / "run")
    lines = (V1 / "logs" / "validator0.log").read_text(encoding="utf-8").splitlines(keepends=True)
    idle = [line for line in lines if "Started node" in line or "Error dialing peer" in line]
    (tmp_path / "run" / "logs" / "validator1.log").write_text("".join(idle), encoding="utf-8")
    result = query_run(tmp_path / "run", cache, "node_blocks_committed")
    assert result.err == (
        "warning: run: the logs of validator1 have no committed block (2 lines, 1 starts, 0 proposals received)\n"
    )


def test_antelope_node_without_blocks_is_a_warning(tmp_path: Path, cache: Path) -> None:
    shutil.copytree(SPRING, tmp_path / "run")
    (tmp_path / "run" / "node_02").mkdir()
    head = "info  2024-10-01T19:07:10.000 nodeos    producer_plugin.cpp:461       on_incoming_block    ]"
    line = f"{head} dropped incoming block #7 id: 620af4ee1adc2bab\n"
    (tmp_path / "run" / "node_02" / "stderr.txt").write_text(line, encoding="utf-8")
    result = query_run(tmp_path / "run", cache, "received")
    assert result.err.splitlines()[-1] == "warning: run: the logs of node_02 have no received or produced block"


def test_cardano_node_without_adoptions_is_a_warning(tmp_path: Path, cache: Path) -> None:
    shutil.copytree(NO_KIND, tmp_path / "run")
    log = tmp_path / "run" / "node-0" / "stdout.gz"
    lines = gzip.decompress(log.read_bytes()).splitlines(keepends=True)
    (tmp_path / "run" / "node-3").mkdir()
    idle = (line for line in lines if b"StartLeadershipCheck" in line or b"Resources" in line)
    (tmp_path / "run" / "node-3" / "stdout").write_bytes(b"".join(idle))
    result = query_run(tmp_path / "run", cache, "cdf0.96")
    events = "`block_adopted`, `block_sent`, `fetch_completed` and 3 more records"
    missing_records = f"host node-3 has no {events}, unlike the other 3 (cdf0.96)"
    idle_node = "no block was forged or adopted on node-3, although leadership checks ran there"
    assert result.err == f"warning: run: {missing_records}.\nwarning: run: {idle_node}\n"
