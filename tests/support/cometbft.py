"""Runs derived from the reference run of CometBFT: shortened, renamed, or with changed data."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.app.build import build_runs
from assay.app.session.options import Options
from assay.app.session.runs import parse_runs
from assay.app.session.session import open_session
from assay.report.document_json import to_json
from tests.support.laboratory import ROOT

RUN = ROOT / "golden" / "cometbft" / "run"
SECOND = 10**9


def copy_variant(target: Path, *without: str, **facts: object) -> Path:
    """Copy the reference run without some files or folders, and with other facts in meta.json."""
    shutil.copytree(RUN, target, ignore=shutil.ignore_patterns(*without, "qr_*", "metadata*", "targets*"))
    meta = target / "meta.json"
    meta.write_text(json.dumps({**json.loads(meta.read_text(encoding="utf-8")), **facts}), encoding="utf-8")
    return target


def keep_transactions(run: Path, is_kept: Callable[[int, dict[str, str]], bool]) -> None:
    """Drop rows of the load report; `keep` gets the number of a row and the row."""
    path = run / "report" / "raw_node0.csv.gz"
    head, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    names = head.split(",")
    rows = [
        line for number, line in enumerate(lines) if is_kept(number, dict(zip(names, line.split(","), strict=True)))
    ]
    path.write_bytes(gzip.compress("\n".join([head, *rows, ""]).encode(), mtime=0))


def change_samples(run: Path, change: Callable[[dict[str, str], list[Any]], list[Any] | None]) -> None:
    """Change series of samples; `change` gets labels and values, and returns values or None to drop the series."""
    path = run / "prom" / "raw_all_5s.json.gz"
    data = json.loads(gzip.decompress(path.read_bytes()))
    series = [(item, change(item["metric"], item["values"])) for item in data["data"]["result"]]
    data["data"]["result"] = [{**item, "values": values} for item, values in series if values]
    path.write_bytes(gzip.compress(json.dumps(data).encode(), mtime=0))


def assemble_document(cache: Path, *runs: Path | str) -> dict[str, Any]:
    """Assemble the QA report over runs as data, without drawings. Raise AssayError like a build."""
    session = open_session(ROOT, cache)
    named = parse_runs([str(run) for run in runs])
    built = build_runs.assemble_runs(session, "cometbft/qa", named, Options())
    document: dict[str, Any] = json.loads(to_json(built.document))
    return document


NODE_METRICS = (
    "mempool_size", "p2p_peers", "consensus_rounds", "consensus_height", "blocksync_latest_block_height",
    "consensus_total_txs", "process_resident_memory_bytes", "node_load1", "up",
)  # fmt: skip


def select_report_samples(labels: dict[str, str], values: list[Any]) -> list[Any] | None:
    """Return the samples that the report reads, so that small runs are read fast."""
    return values if labels["__name__"].endswith(NODE_METRICS) else None
