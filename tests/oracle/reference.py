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

from tests.oracle.distribution import compute_equicentiles
from tests.oracle.instants import SECOND, parse_instant
from tests.oracle.model import Analysis, BlockRow, Condition, Distribution, Observation, Spread
from tests.oracle.texts import format_decimal, format_manifest_cells, shorten_text

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


def load_json(path: Path) -> Any:
    """Read a JSON file, compressed or not."""
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def is_same(ours: Any, theirs: Any) -> bool:
    """Compare values, with a tolerance for reals; a whole real equals the integer."""
    if isinstance(ours, float):
        return isinstance(theirs, int | float) and math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)
    return type(ours) is type(theirs) and bool(ours == theirs)


def _check(label: str, ours: Any, theirs: Any) -> Iterator[str]:
    if not is_same(ours, theirs):
        yield f"{label}: found {ours!r}, reference {theirs!r}"


def _compare_centiles(label: str, ours: Sequence[tuple[float, Any]], theirs: Sequence[Any]) -> Iterator[str]:
    yield from _check(f"{label} number of centiles", len(ours), len(theirs))
    for (c, value), (their_c, their_value) in zip(ours, theirs, strict=False):
        yield from _check(f"{label} centile", c, their_c)
        yield from _check(f"{label} at {c}", value, their_value)


def _compare_summaries(label: str, ours: Distribution, theirs: Mapping[str, Any]) -> Iterator[str]:
    yield from _check(f"{label} size", ours.size, theirs["cdfSize"])
    yield from _check(f"{label} deviation", ours.stddev, theirs["cdfStddev"])
    yield from _check(f"{label} median", ours.median, theirs["cdfMedian"])
    yield from _check(f"{label} least", ours.min, theirs["cdfRange"][0])
    yield from _check(f"{label} greatest", ours.max, theirs["cdfRange"][1])


def _compare_plain_distribution(label: str, ours: Distribution, theirs: Mapping[str, Any]) -> Iterator[str]:
    yield from _compare_summaries(label, ours, theirs)
    yield from _check(f"{label} average", ours.average_published, theirs["cdfAverage"])
    yield from _compare_centiles(label, [(c.share, c.value) for c in ours.centiles], theirs["cdfSamples"])


def _compare_spread(
    label: str, value: Any, low: Any, high: Any, spread: Spread, theirs: Mapping[str, Any]
) -> Iterator[str]:
    yield from _check(f"{label} value", value, theirs["cdfMedian"])
    yield from _check(f"{label} lowest", low, theirs["cdfRange"][0])
    yield from _check(f"{label} highest", high, theirs["cdfRange"][1])
    yield from _check(f"{label} mean", spread.mean, theirs["cdfAverage"])
    yield from _check(f"{label} deviation", spread.stddev, theirs["cdfStddev"])
    yield from _compare_centiles(label, spread.samples, theirs["cdfSamples"])


def _compare_cluster_distribution(
    label: str, ours: Distribution, means: Sequence[float], theirs: Mapping[str, Any]
) -> Iterator[str]:
    yield from _compare_summaries(label, ours, theirs)
    average = theirs["cdfAverage"]
    yield from _check(f"{label} mean of hosts", ours.average_hosts, average["cdfAverage"])
    ascending = list(zip(compute_equicentiles(len(means)), sorted(means), strict=True))
    yield from _compare_centiles(f"{label} means", ascending, average["cdfSamples"])
    for centile, spread, their_centile in zip(ours.centiles, ours.spreads, theirs["cdfSamples"], strict=True):
        centile_label = f"{label} at {centile.share}"
        yield from _check(centile_label, centile.share, their_centile[0])
        yield from _compare_spread(centile_label, centile.value, centile.low, centile.high, spread, their_centile[1])


def compare_propagation(ours: Analysis, expected: Path) -> list[str]:
    """Compare every block metric, and the domains of slots and blocks."""
    theirs = load_json(expected / "blockprop.json.gz")
    metrics = {name: value for name, value in theirs.items() if name.startswith("cdf")} | theirs["bpPropagation"]
    differences = [
        d for name, value in metrics.items() for d in _compare_plain_distribution(name, ours.metrics[name], value)
    ]
    differences += _check("metrics", sorted(n for n, m in ours.metrics.items() if not m.is_cluster), sorted(metrics))
    accepted = [row for row in ours.chain if row.is_accepted]
    for domain, attribute in (("bpDomainBlocks", "block_no"), ("bpDomainSlots", "slot")):
        for name, rows in (("ddRaw", ours.chain), ("ddFiltered", accepted)):
            ends = [getattr(rows[0], attribute), getattr(rows[-1], attribute)]
            differences += _check(f"{domain} {name}", ends, theirs[domain][name])
    return differences


def compare_machines(ours: Analysis, expected: Path) -> list[str]:
    """Compare every machine metric, and each host's analysed slots."""
    theirs = load_json(expected / "clusterperf.json.gz")
    resources = {name: value for name, value in theirs["mpResourceCDFs"].items() if name != "kind"}
    metrics = resources | {name: value for name, value in theirs.items() if name.startswith("cdf")}
    differences: list[str] = []
    for name, value in metrics.items():
        means = [host[name].average_hosts for host in ours.host_metrics.values()]
        differences += _compare_cluster_distribution(name, ours.metrics[name], means, value)
    differences += _check("metrics", sorted(n for n, m in ours.metrics.items() if m.is_cluster), sorted(metrics))
    domains = [[host.first_slot, host.last_slot] for host in ours.hosts]
    return differences + list(_check("host slots", domains, [d["ddFiltered"] for d in theirs["mpDomainSlots"]]))


def compare_charts(ours: Analysis, expected: Path) -> list[str]:
    """Compare every chart point as text."""
    theirs = load_json(expected / "cdf.json.gz")
    differences = list(_check("plotted metrics", sorted(ours.chart_points), sorted(theirs)))
    for name in theirs:
        for mine, row in zip(ours.chart_points[name], theirs[name], strict=True):
            differences += _check(f"{name} chart", mine, row)
    return differences


def _convert_to_seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / SECOND


def _parse_condition(theirs: Mapping[str, Any]) -> Condition:
    return Condition(theirs["contents"]["tag"], theirs["contents"].get("contents"))


def _compare_observation(label: str, ours: Observation, theirs: Mapping[str, Any]) -> Iterator[str]:
    yield from _check(f"{label} observer", ours.host, theirs["boObserver"])
    for name in ("noticed", "requested", "fetched", "announced", "sending", "adopted"):
        yield from _check(
            f"{label} {ours.host} {name}", _convert_to_seconds(getattr(ours, name)), theirs[f"bo{name.title()}"]
        )
    yield from _check(f"{label} {ours.host} chain delta", ours.chain_delta, theirs["boChainDelta"])
    valid = not theirs["boErrorsCrit"] and theirs["boChainDelta"] == 1
    yield from _check(f"{label} {ours.host} validity", ours.valid, valid)


def _compare_delays(label: str, row: BlockRow, theirs: Mapping[str, Any]) -> Iterator[str]:
    delays = row.adoption_delays
    yield from _check(f"{label} adoptions", len(delays), theirs["cdfSize"])
    if delays:
        yield from _check(f"{label} first adoption", _convert_to_seconds(delays[0]), theirs["cdfRange"][0])
        yield from _check(f"{label} last adoption", _convert_to_seconds(delays[-1]), theirs["cdfRange"][1])
        yield from _check(f"{label} adoption", float(Fraction(sum(delays), len(delays) * SECOND)), theirs["cdfAverage"])


def _compare_block(label: str, ours: BlockRow, theirs: Mapping[str, Any]) -> Iterator[str]:
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
            [(_parse_condition(c), verdict) for c, verdict in theirs["beAcceptance"]],
        ),
    ):
        yield from _check(f"{label} {name}", mine, other)
    for name, metric in _FORGER.items():
        yield from _check(f"{label} {metric}", _convert_to_seconds(ours.durations[metric]), forge[name])
    their_observations = theirs["beObservations"]
    yield from _check(f"{label} observations", len(ours.observations), len(their_observations))
    for our_observation, their_observation in zip(ours.observations, their_observations, strict=False):
        yield from _compare_observation(label, our_observation, their_observation)
    yield from _compare_delays(label, ours, theirs["bePropagation"])


def compare_chain(ours: Analysis, expected: Path) -> list[str]:
    """Compare the chain by block: membership, durations, observations, verdicts."""
    theirs = load_json(expected / "chain.json.gz")
    differences = list(_check("chain length", len(ours.chain), len(theirs)))
    for row, block in zip(ours.chain, theirs, strict=False):
        differences += _compare_block(f"block {block['beBlockNo']}", row, block)
    return differences


def _compute_span(ends: Sequence[str]) -> int:
    return parse_instant(ends[1]) - parse_instant(ends[0])


def _split_date_and_time(text: str) -> tuple[str, str]:
    start = datetime.fromisoformat(text)
    return start.strftime("%Y-%m-%d"), start.strftime("%H:%M:%S")


def _read_expected_manifest(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return cell label -> the reference's uncut value."""
    time, slots = theirs["sumDomainTime"], theirs["sumDomainSlots"]["ddFilteredCount"]["cdfAverage"]
    day, clock = _split_date_and_time(theirs["sumGenesis"]["systemStart"])
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
        "Node start spread, s": _compute_span(theirs["sumStartSpread"]["ddRaw"]),
        "Node stop spread, s": _compute_span(theirs["sumStopSpread"]["ddRaw"]),
        "Slots analysed": math.floor(slots),
        "Blocks analysed": theirs["sumDomainBlocks"]["ddFilteredCount"],
        "Blocks rejected": theirs["sumBlocksRejected"],
    }


def compare_manifest(ours: Analysis, expected: Path, cells: Mapping[str, str] | None = None) -> list[str]:
    """Compare manifest numbers, rejections by condition, and the table's texts (default: the oracle's)."""
    theirs = load_json(expected / "summary.json.gz")
    differences = [d for k, v in _read_expected_manifest(theirs).items() for d in _check(k, ours.manifest[k], v)]
    rejections = {_parse_condition(c): count for c, count in theirs["sumChainRejectionStats"]}
    differences += _check("rejections", dict(ours.rejections), rejections)
    table = {row[0]: row[1] for row in load_json(expected / "tables-org.json")["summary"][2:]}
    return differences + list(_check("manifest cells", cells or format_manifest_cells(ours.manifest), table))


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


def compare_tables(ours: Analysis, expected: Path) -> list[str]:
    """Compare average, extremes, deviation and size texts of the older tables."""
    differences: list[str] = []
    for table, names in _TABLE_METRICS.items():
        rows = load_json(expected / "tables-org.json")[table][1:]
        for name, row in zip(names, rows, strict=False):
            metric = ours.metrics[name]
            numbers = [metric.average_published, metric.min, metric.max, metric.stddev, metric.size]
            mine = [shorten_text(format_decimal(float(x)), 6) for x in numbers]
            differences += _check(f"{name} cells", mine, [row[1], row[3], row[4], row[5], row[8]])
    return differences
