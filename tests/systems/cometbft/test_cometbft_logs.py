"""CometBFT's own logs: a file a node, blocks and their intervals as plain Python finds them."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.compare_reference import load_json
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.result_rows import read_result_rows

RUN = ROOT / "golden" / "cometbft" / "run"
SECOND = 10**9
NODES = ("ephemeral0", "validator0", "validator1", "validator2", "validator3")


def iter_records(node: str) -> Iterator[dict[str, Any]]:
    with gzip.open(RUN / "logs" / f"{node}.log.gz", "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def parse_time(text: str) -> int:
    """Parse an RFC 3339 time with up to nine decimals, to ns since 1970."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return int(datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp()) * SECOND + int(fraction.ljust(9, "0"))


def summarize_log(node: str) -> dict[str, Any]:
    """Read a node's log line by line: blocks (height -> time), whether in consensus, intervals, counts."""
    blocks: dict[int, tuple[int, bool]] = {}
    summary: dict[str, Any] = {"starts": 0, "proposals": 0, "errors": 0, "catching": []}
    joined, started = True, 0
    for line in iter_records(node):
        message, instant = line["_msg"], parse_time(line["ts"])
        if message == "Started node":
            joined, started = False, instant
            summary["starts"] += 1
        elif message == "Time to switch to consensus reactor!":
            joined = True
            summary["catching"].append(instant - started)
        elif message == "committed state":
            blocks.setdefault(line["height"], (instant, joined))
        summary["proposals"] += message == "received proposal"
        summary["errors"] += line["level"] in ("warn", "error")
    summary["blocks"] = blocks
    summary["intervals"] = {
        height: instant - blocks[height - 1][0]
        for height, (instant, joined) in blocks.items()
        if height - 1 in blocks and joined and blocks[height - 1][1]
    }
    return summary


def read_rows(built: Path, start: str) -> list[dict[str, Any]]:
    rows_by_statement = read_result_rows(built)
    return list(rows_by_statement[max((name for name in rows_by_statement if name.startswith(start)), key=len)])


def test_blocks_and_intervals_are_those_of_plain_python(qa: Path) -> None:
    intervals_by_node: dict[str, dict[int, int]] = {}
    for row in read_rows(qa, "rows node_block "):
        if row["block_interval"] is not None:
            intervals_by_node.setdefault(row["node"], {})[row["block_height"]] = row["block_interval"]
    assert intervals_by_node == {node: summarize_log(node)["intervals"] for node in NODES}
    assert {node: len(intervals) for node, intervals in intervals_by_node.items()} == {
        "ephemeral0": 57, "validator0": 273, "validator1": 273, "validator2": 273, "validator3": 273,
    }  # fmt: skip


def test_metrics_of_each_node_are_those_of_plain_python(qa: Path) -> None:
    rows_by_node = {row["node"]: row for row in read_rows(qa, "rows logged_node ")}
    assert tuple(sorted(rows_by_node)) == NODES
    for node, row in rows_by_node.items():
        expected = summarize_log(node)
        intervals = expected["intervals"].values()
        assert row == {
            "node": node,
            "node_starts": expected["starts"],
            "node_catching_up": max(expected["catching"]),
            "node_blocks_committed": len(expected["blocks"]),
            "node_blocks_caught_up": sum(not joined for _, joined in expected["blocks"].values()),
            "node_block_interval": sum(intervals) // len(intervals),
            "node_block_interval_max": max(intervals),
            "node_proposals": expected["proposals"],
            "node_complaints": expected["errors"],
        }


def test_report_has_a_row_and_a_figure_of_each_node(qa: Path) -> None:
    part = next(item for item in load_json(qa / "document.json")["parts"] if item["title"] == "Logs of the nodes")
    assert [row[:2] for row in part["tables"][0]["rows"]] == [
        ["ephemeral0", "1"],
        ["validator0", "1"],
        ["validator1", "1"],
        ["validator2", "1"],
        ["validator3", "2"],
    ]
    assert [plot["title"] for plot in part["plots"]] == [f"Block interval, node {node}" for node in NODES]


def test_blocks_hold_the_transactions_of_the_load_report(cache: Path) -> None:
    text = gzip.decompress((RUN / "report" / "raw_node0.csv.gz").read_bytes()).decode()
    completed = run_assay("query", "node_txs", "--run", RUN, "--format", "json", "--cache", cache)
    (result,) = completed.parse_json()
    assert (result["size"], result["min"], result["max"]) == (5, 51497.0, 51497.0)
    assert len(text.splitlines()) - 1 == 51497


def test_report_of_a_run_without_logs_has_a_note(tmp_path: Path, cache: Path) -> None:
    run = tmp_path / "quiet"
    shutil.copytree(RUN, run, ignore=shutil.ignore_patterns("logs"))
    result = run_assay("build", "cometbft/qa", "--run", run, "-o", tmp_path / "out", "--cache", cache)
    left_out = (
        'warning: Run quiet has no records of source nodes (logs of the nodes, as JSON lines: `log_format = "json"` in '
        "config.toml), so tables of metrics leave out: Block interval, Catching up, Errors.\n"
    )
    assert (result.status, result.err) == (0, left_out)
    part = next(
        item for item in load_json(tmp_path / "out" / "document.json")["parts"] if item["title"] == "Logs of the nodes"
    )
    assert (part["plots"], part["tables"]) == ([], [])
    assert part["text"][-1] == (
        "Run quiet has no records of source nodes (logs of the nodes, as JSON lines: "
        '`log_format = "json"` in config.toml), so blocks and texts that read it are left out.'
    )
