"""Read the incumbent analyser's results for a case, and compare an analysis with them."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.oracle.distribution import equicentiles
from tests.oracle.instants import SECOND, parse_instant
from tests.oracle.model import Analysis, BlockRow, Condition, Distribution, Observation, Spread
from tests.oracle.texts import decimal_text, manifest_cells, short_text

_FORGER = {
    "bfStarted": "cdfForgerStart",
    "bfBlkCtx": "cdfForgerBlkCtx",
    "bfLgrState": "cdfForgerLgrState",
    "bfLgrView": "cdfForgerLgrView",
    "bfLeading": "cdfForgerLead",
    "bfTicked": "cdfForgerTicked",
    "bfMemSnap": "cdfForgerMemSnap",
    "bfForged": "cdfForgerForge",
    "bfAnnounced": "cdfForgerAnnounce",
    "bfSending": "cdfForgerSend",
    "bfAdopted": "cdfForgerAdoption",
    "bfAnnouncedCum": "cdfForgerAnnounceCum",
}


def load(path: Path) -> Any:
    """Read a JSON file, compressed or not."""
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def same(ours: Any, theirs: Any) -> bool:
    """Compare values, with a tolerance for reals; a whole real equals the integer."""
    if isinstance(ours, float):
        return isinstance(theirs, int | float) and math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)
    return type(ours) is type(theirs) and bool(ours == theirs)


def _check(label: str, ours: Any, theirs: Any) -> Iterator[str]:
    if not same(ours, theirs):
        yield f"{label}: found {ours!r}, reference {theirs!r}"


def _centile_pairs(label: str, ours: Sequence[tuple[float, Any]], theirs: Sequence[Any]) -> Iterator[str]:
    yield from _check(f"{label} number of centiles", len(ours), len(theirs))
    for (c, value), (their_c, their_value) in zip(ours, theirs, strict=False):
        yield from _check(f"{label} centile", c, their_c)
        yield from _check(f"{label} at {c}", value, their_value)


def _summary(label: str, ours: Distribution, theirs: Mapping[str, Any]) -> Iterator[str]:
    yield from _check(f"{label} size", ours.size, theirs["cdfSize"])
    yield from _check(f"{label} deviation", ours.stddev, theirs["cdfStddev"])
    yield from _check(f"{label} median", ours.median, theirs["cdfMedian"])
    yield from _check(f"{label} least", ours.min, theirs["cdfRange"][0])
    yield from _check(f"{label} greatest", ours.max, theirs["cdfRange"][1])


def _plain(label: str, ours: Distribution, theirs: Mapping[str, Any]) -> Iterator[str]:
    yield from _summary(label, ours, theirs)
    yield from _check(f"{label} average", ours.average_published, theirs["cdfAverage"])
    yield from _centile_pairs(label, [(c.c, c.value) for c in ours.centiles], theirs["cdfSamples"])


def _over_hosts(
    label: str, value: Any, low: Any, high: Any, spread: Spread, theirs: Mapping[str, Any]
) -> Iterator[str]:
    yield from _check(f"{label} value", value, theirs["cdfMedian"])
    yield from _check(f"{label} lowest", low, theirs["cdfRange"][0])
    yield from _check(f"{label} highest", high, theirs["cdfRange"][1])
    yield from _check(f"{label} mean", spread.mean, theirs["cdfAverage"])
    yield from _check(f"{label} deviation", spread.stddev, theirs["cdfStddev"])
    yield from _centile_pairs(label, spread.samples, theirs["cdfSamples"])


def _cluster(label: str, ours: Distribution, means: Sequence[float], theirs: Mapping[str, Any]) -> Iterator[str]:
    yield from _summary(label, ours, theirs)
    average = theirs["cdfAverage"]
    yield from _check(f"{label} mean of hosts", ours.average_hosts, average["cdfAverage"])
    ascending = list(zip(equicentiles(len(means)), sorted(means), strict=True))
    yield from _centile_pairs(f"{label} means", ascending, average["cdfSamples"])
    for centile, spread, theirs_at in zip(ours.centiles, ours.spreads, theirs["cdfSamples"], strict=True):
        place = f"{label} at {centile.c}"
        yield from _check(place, centile.c, theirs_at[0])
        yield from _over_hosts(place, centile.value, centile.low, centile.high, spread, theirs_at[1])


def propagation_differences(ours: Analysis, expected: Path) -> list[str]:
    """Compare every block metric, and the domains of slots and blocks."""
    theirs = load(expected / "blockprop.json.gz")
    metrics = {name: value for name, value in theirs.items() if name.startswith("cdf")} | theirs["bpPropagation"]
    differences = [d for name, value in metrics.items() for d in _plain(name, ours.metrics[name], value)]
    differences += _check("metrics", sorted(n for n, m in ours.metrics.items() if not m.is_cluster), sorted(metrics))
    accepted = [row for row in ours.chain if row.accepted]
    for domain, attribute in (("bpDomainBlocks", "block_no"), ("bpDomainSlots", "slot")):
        for name, rows in (("ddRaw", ours.chain), ("ddFiltered", accepted)):
            ends = [getattr(rows[0], attribute), getattr(rows[-1], attribute)]
            differences += _check(f"{domain} {name}", ends, theirs[domain][name])
    return differences


def machine_differences(ours: Analysis, expected: Path) -> list[str]:
    """Compare every machine metric, and each host's analysed slots."""
    theirs = load(expected / "clusterperf.json.gz")
    resources = {name: value for name, value in theirs["mpResourceCDFs"].items() if name != "kind"}
    metrics = resources | {name: value for name, value in theirs.items() if name.startswith("cdf")}
    differences: list[str] = []
    for name, value in metrics.items():
        means = [host[name].average_hosts for host in ours.host_metrics.values()]
        differences += _cluster(name, ours.metrics[name], means, value)
    differences += _check("metrics", sorted(n for n, m in ours.metrics.items() if m.is_cluster), sorted(metrics))
    domains = [[host.first_slot, host.last_slot] for host in ours.hosts]
    return differences + list(_check("host slots", domains, [d["ddFiltered"] for d in theirs["mpDomainSlots"]]))


def chart_differences(ours: Analysis, expected: Path) -> list[str]:
    """Compare every chart point as text."""
    theirs = load(expected / "cdf.json.gz")
    differences = list(_check("plotted metrics", sorted(ours.chart_points), sorted(theirs)))
    for name in theirs:
        for mine, row in zip(ours.chart_points[name], theirs[name], strict=True):
            differences += _check(f"{name} chart", mine, row)
    return differences


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / SECOND


def _condition(theirs: Mapping[str, Any]) -> Condition:
    return Condition(theirs["contents"]["tag"], theirs["contents"].get("contents"))


def _observed(label: str, ours: Observation, theirs: Mapping[str, Any]) -> Iterator[str]:
    yield from _check(f"{label} observer", ours.host, theirs["boObserver"])
    for name in ("noticed", "requested", "fetched", "announced", "sending", "adopted"):
        yield from _check(f"{label} {ours.host} {name}", _seconds(getattr(ours, name)), theirs[f"bo{name.title()}"])
    yield from _check(f"{label} {ours.host} chain delta", ours.chain_delta, theirs["boChainDelta"])
    valid = not theirs["boErrorsCrit"] and theirs["boChainDelta"] == 1
    yield from _check(f"{label} {ours.host} validity", ours.valid, valid)


def _delays(label: str, row: BlockRow, theirs: Mapping[str, Any]) -> Iterator[str]:
    delays = row.adoption_delays
    yield from _check(f"{label} adoptions", len(delays), theirs["cdfSize"])
    if delays:
        yield from _check(f"{label} first adoption", _seconds(delays[0]), theirs["cdfRange"][0])
        yield from _check(f"{label} last adoption", _seconds(delays[-1]), theirs["cdfRange"][1])
        yield from _check(f"{label} adoption", float(Fraction(sum(delays), len(delays) * SECOND)), theirs["cdfAverage"])


def _block(label: str, ours: BlockRow, theirs: Mapping[str, Any]) -> Iterator[str]:
    forge = theirs["beForge"]
    for name, mine, other in (
        ("hash", ours.block, theirs["beBlock"]),
        ("number", ours.block_no, theirs["beBlockNo"]),
        ("parent", ours.previous, theirs["beBlockPrev"]),
        ("slot", ours.slot, theirs["beSlotNo"]),
        ("epoch", ours.epoch, theirs["beEpochNo"]),
        ("safe interval", ours.safe_interval, theirs["beEpochSafeInt"]),
        ("battles", len(ours.other_blocks), theirs["beForks"]),
        ("rivals", list(ours.other_blocks), theirs["beOtherBlocks"]),
        ("forger", ours.forger, forge["bfForger"]),
        ("size", ours.size, forge["bfBlockSize"]),
        ("chain delta", ours.chain_delta, forge["bfChainDelta"]),
        (
            "verdicts",
            list(ours.acceptance),
            [(_condition(c), verdict) for c, verdict in theirs["beAcceptance"]],
        ),
    ):
        yield from _check(f"{label} {name}", mine, other)
    for name, metric in _FORGER.items():
        yield from _check(f"{label} {metric}", _seconds(ours.durations[metric]), forge[name])
    seen = theirs["beObservations"]
    yield from _check(f"{label} observations", len(ours.observations), len(seen))
    for mine_seen, their_seen in zip(ours.observations, seen, strict=False):
        yield from _observed(label, mine_seen, their_seen)
    yield from _delays(label, ours, theirs["bePropagation"])


def chain_differences(ours: Analysis, expected: Path) -> list[str]:
    """Compare the chain by block: membership, durations, observations, verdicts."""
    theirs = load(expected / "chain.json.gz")
    differences = list(_check("chain length", len(ours.chain), len(theirs)))
    for row, block in zip(ours.chain, theirs, strict=False):
        differences += _block(f"block {block['beBlockNo']}", row, block)
    return differences


def _span(ends: Sequence[str]) -> int:
    return parse_instant(ends[1]) - parse_instant(ends[0])


def _day_and_time(text: str) -> tuple[str, str]:
    start = datetime.fromisoformat(text)
    return start.strftime("%Y-%m-%d"), start.strftime("%H:%M:%S")


def _expected_manifest(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return cell label -> the reference's uncut value."""
    time, slots = theirs["sumDomainTime"], theirs["sumDomainSlots"]["ddFilteredCount"]["cdfAverage"]
    day, clock = _day_and_time(theirs["sumGenesis"]["systemStart"])
    return {
        "Cluster system start date": day,
        "Cluster system start time": clock,
        "Machines": theirs["sumHosts"],
        "Number of filters applied": len(theirs["sumFilters"][1]),
        "Log objects emitted per host": float(theirs["cdfLogObjectsEmitted"]["cdfAverage"]),
        "Log objects analysed per host": float(theirs["cdfLogObjects"]["cdfAverage"]),
        "Host run time, s": float(theirs["cdfRuntime"]["cdfAverage"]),
        "Host log line rate, Hz": float(theirs["cdfLogLineRate"]["cdfAverage"]),
        "Total log objects analysed": theirs["sumLogObjectsTotal"],
        "Run time, s": time["ddRawCount"],
        "Analysed run duration, s": time["ddFilteredCount"],
        "Run time efficiency": time["ddFilteredCount"] / time["ddRawCount"],
        "Node start spread, s": _span(theirs["sumStartSpread"]["ddRaw"]),
        "Node stop spread, s": _span(theirs["sumStopSpread"]["ddRaw"]),
        "Slots analysed": math.floor(slots),
        "Blocks analysed": theirs["sumDomainBlocks"]["ddFilteredCount"],
        "Blocks rejected": theirs["sumBlocksRejected"],
    }


def manifest_differences(ours: Analysis, expected: Path, cells: Mapping[str, str] | None = None) -> list[str]:
    """Compare manifest numbers, rejections by condition, and the table's texts (default: the oracle's)."""
    theirs = load(expected / "summary.json.gz")
    differences = [d for k, v in _expected_manifest(theirs).items() for d in _check(k, ours.manifest[k], v)]
    rejections = {_condition(c): count for c, count in theirs["sumChainRejectionStats"]}
    differences += _check("rejections", dict(ours.rejections), rejections)
    table = {row[0]: row[1] for row in load(expected / "tables-org.json")["summary"][2:]}
    return differences + list(_check("manifest cells", cells or manifest_cells(ours.manifest), table))


_TABLE_METRICS = {
    "clusterperf.report": (
        "cdfStarts", "CentiCpu", "CentiGC", "CentiMut", "GcsMajor", "GcsMinor", "RSS", "Heap", "Live",
        "Alloc", "NetRd", "NetWr", "FsRd", "FsWr", "cdfSpanLensCpu",
    ),
    "blockprop.control": (
        "cdfBlocksPerHost", "cdfBlocksFilteredRatio", "cdfBlocksChainedRatio", "cdfBlockBattle",
        "cdfBlockSize",
    ),
}  # fmt: skip


def table_differences(ours: Analysis, expected: Path) -> list[str]:
    """Compare average, extremes, deviation and size texts of the older tables."""
    differences: list[str] = []
    for table, names in _TABLE_METRICS.items():
        rows = load(expected / "tables-org.json")[table][1:]
        for name, row in zip(names, rows, strict=False):
            m = ours.metrics[name]
            numbers = [m.average_published, m.min, m.max, m.stddev, m.size]
            mine = [short_text(decimal_text(float(x)), 6) for x in numbers]
            differences += _check(f"{name} cells", mine, [row[1], row[3], row[4], row[5], row[8]])
    return differences
