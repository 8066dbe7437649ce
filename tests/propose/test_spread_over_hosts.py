"""How a record spreads over hosts: `G.acrossHosts` in a proposed workspace, against plain Python over its logs."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.commands import run_assay

HOSTS, BLOCKS = 5, 24
START = datetime(2026, 5, 1, tzinfo=UTC)
SPREAD = """
let spread = G.acrossHosts { name = "spread", key = e.field.block, from = e.forged, event = e.adopted, doc = "A block" }

in  { spread, """
METRICS = """
let ofSpread = (S.metricOf g.spread.grain) with default.unit = S.unit.millisecond

let by = [ g.spread.key ]

in  { most =
        ofSpread::{ id = "most", name = "Most", measure = g.spread.delay, reduction = S.metric.centile 0.6 by }
    , last =
        ofSpread::{ id = "last", name = "Last", measure = g.spread.delay, reduction = S.metric.greatest by }
    , """


def write_logs(folder: Path) -> dict[int, list[int]]:
    """Write the logs of hosts; return the delays of each block in milliseconds, ascending."""
    source = random.Random(7)
    records: dict[int, list[tuple[datetime, str, int]]] = {host: [] for host in range(HOSTS)}
    delays: dict[int, list[int]] = {}
    for block in range(BLOCKS):
        forged = START + timedelta(seconds=3 * block)
        records[block % HOSTS].append((forged, "forged", block))
        lost = block % 4  # this host never adopts the block
        delays[block] = []
        for host in range(HOSTS):
            if host != lost:
                delay = source.randrange(20, 400)
                records[host].append((forged + timedelta(milliseconds=delay), "adopted", block))
                delays[block].append(delay)
        delays[block].sort()
    for host, items in records.items():
        path = folder / f"node-{host}" / "node.log"
        path.parent.mkdir(parents=True)
        lines = ({"at": at.isoformat(timespec="milliseconds"), "event": name, "block": f"b{block}"}
                 for at, name, block in sorted(items))  # fmt: skip
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return delays


def test_delays_of_hosts_are_those_of_the_logs(tmp_path: Path, cache: Path) -> None:
    delays = write_logs(tmp_path / "logs")
    place = tmp_path / "place"
    assert run_assay("--cache", cache, "init", place, "--from", tmp_path / "logs", "--each", "host").status == 0
    for name, old, new in (
        ("grains", "\nin  { ", SPREAD),
        ("metrics", "\nin  { ", METRICS),
        ("package", "relations = [ ", "relations = [ g.spread.relation, "),
        ("package", "grains = [ ", "grains = [ g.spread.grain, "),
    ):
        path = place / "specs" / "place" / f"{name}.dhall"
        text = path.read_text(encoding="utf-8")
        assert text.count(old) >= 1
        begin, end = text.rsplit(old, 1)
        path.write_text(f"{begin}{new}{end}", encoding="utf-8")
    (run,) = (place / "runs").iterdir()
    result = run_assay("--cache", cache, "query", "most", "last", "--run", run, "--format", "json", cwd=place)
    assert result.status == 0, result.err
    averages = {item["metric"]: item["average"] for item in result.parse_json()}
    expected = {
        "most": sum(items[int(0.6 * len(items))] for items in delays.values()) / BLOCKS,
        "last": sum(items[-1] for items in delays.values()) / BLOCKS,
    }
    assert averages == pytest.approx(expected, rel=1e-12)


def write_imports(folder: Path) -> dict[str, list[int]]:
    """Write the logs of hosts that all import blocks, but for a few; return the delays since the first host."""
    source = random.Random(11)
    instants: dict[str, list[int]] = {}
    for host in range(HOSTS):
        lines = []
        for block in range(BLOCKS):
            if (block + host) % 9:
                offset = 3000 * block + source.randrange(20, 400)
                key = f"{7919 * (block + 1):08x}"
                instants.setdefault(key, []).append(offset)
                at = (START + timedelta(milliseconds=offset)).isoformat(timespec="milliseconds")
                lines.append(json.dumps({"at": at, "event": "block_imported", "hash": key}) + "\n")
        path = folder / f"node-{host}" / "node.log"
        path.parent.mkdir(parents=True)
        path.write_text("".join(lines), encoding="utf-8")
    return {key: sorted(offset - min(row) for offset in row) for key, row in instants.items()}


def test_proposed_delays_are_those_of_the_logs(tmp_path: Path, cache: Path) -> None:
    delays = write_imports(tmp_path / "logs")
    place = tmp_path / "place"
    assert run_assay("--cache", cache, "init", place, "--from", tmp_path / "logs", "--each", "host").status == 0
    assert "G.acrossHosts" in (place / "specs" / "place" / "grains.dhall").read_text(encoding="utf-8")
    (run,) = (place / "runs").iterdir()
    names = ("block_imported_to_last", "block_imported_to_half")
    result = run_assay("--cache", cache, "query", *names, "--run", run, "--format", "json", cwd=place)
    assert result.status == 0, result.err
    averages = {item["metric"]: item["average"] for item in result.parse_json()}
    expected = (
        sum(row[-1] for row in delays.values()) / len(delays),
        sum(row[len(row) // 2] for row in delays.values()) / len(delays),
    )
    assert averages == pytest.approx(dict(zip(names, expected, strict=True)), rel=1e-12)
    for command in (("check",), ("build", "place/comparison", "--run", f"a={run}", "--run", f"b={run}", "-o", "out")):
        checked = run_assay("--cache", cache, *command, cwd=place)
        assert checked.status == 0, checked.err
    gated = run_assay("--cache", cache, "gate", "out", "--once", cwd=place)
    assert gated.status == 0, gated.err + gated.out
