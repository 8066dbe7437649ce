"""Readers of the reference data that the tests of number styles share."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
CARDANO = GOLDEN / "cardano"
PUBLISHED = GOLDEN / "published"
CASES = tuple(sorted(str(path.relative_to(CARDANO)) for path in CARDANO.glob("*/expected*")))

_WIDTHS = {
    3: ("CentiCpu", "CentiGC", "CentiMut", "GcsMajor", "GcsMinor"),
    5: (
        *("RSS", "Heap", "Live", "Alloc", "NetRd", "NetWr", "FsRd", "FsWr", "cdfDensity"),
        *("cdfSpanLensCpu", "cdfSpanLensCpuEpoch", "cdfSpanLensCpuRwd"),
        *("cdfBlocksPerHost", "cdfBlocksFilteredRatio", "cdfBlocksChainedRatio"),
    ),
    9: ("cdfBlockSize",),
}
_WIDTH = {metric: width for width, metrics in _WIDTHS.items() for metric in metrics}
RATIOS = frozenset({"cdfDensity", "cdfBlocksFilteredRatio", "cdfBlocksChainedRatio"})
SIGNED = frozenset({"cdfSpanLensCpu", "cdfSpanLensCpuEpoch"})
COUNTS = frozenset(_WIDTH) - RATIOS - SIGNED | {"cdfStarts", "cdfBlockBattle", "cdfBlockGap"}


def get_width(metric: str) -> int:
    """Return the field width of a metric; durations, starts, battles, gaps have 4."""
    return _WIDTH.get(metric, 4)


def load_json(path: Path) -> Any:
    """Load a JSON document, compressed or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)


@functools.cache
def load_block_metrics(case: str) -> dict[str, Any]:
    """Load the distributions of block metrics, by id."""
    return _select_metrics(load_json(CARDANO / case / "blockprop.json.gz"), "bpPropagation")


@functools.cache
def load_host_metrics(case: str) -> dict[str, Any]:
    """Load the distributions of metrics that are summarised host by host, by id."""
    return _select_metrics(load_json(CARDANO / case / "clusterperf.json.gz"), "mpResourceCDFs")


def compute_averages(case: str) -> dict[str, float]:
    """Compute the unrounded average of every metric that reports of this case print, by id."""
    blocks = {metric: item["cdfAverage"] for metric, item in load_block_metrics(case).items()}
    return blocks | {
        metric: _compute_lowest_hosts_mean(item["cdfAverage"]) for metric, item in load_host_metrics(case).items()
    }


def _compute_lowest_hosts_mean(means: dict[str, Any]) -> float:
    """Compute the mean of the 29 lowest hosts, with the roundings of the sum that the reports print."""
    hosts: int = means["cdfSize"]
    lowest: list[float] = [mean for _, mean in means["cdfSamples"][:29]]
    total = 0.0
    for mean in lowest:
        total += hosts * mean
    return total / (hosts * len(lowest))


def map_metric_ids(names: list[tuple[bool, str, str]]) -> dict[tuple[bool, str], str]:
    """Map (is in the table of machine metrics, label) to id, from (is a machine metric, label, id)."""
    ids = {(is_machine, label): metric for is_machine, label, metric in names}
    assert len(ids) == len(names), "two metrics of one group have the same label"
    return ids


def list_published_reports(generation: str) -> list[str]:
    """Return the file names of the published reports of a generation: `org-latex` or `typst`."""
    files = [path for path in sorted(PUBLISHED.glob("*.json")) if not path.name.endswith(".cdf.json")]
    return [path.name for path in files if load_json(path)["generation"] == generation]


def _select_metrics(document: dict[str, Any], nested: str) -> dict[str, Any]:
    merged_document = document | document[nested]
    return {metric: item for metric, item in merged_document.items() if isinstance(item, dict) and "cdfSamples" in item}


@functools.cache
def load_reference_ids() -> dict[tuple[bool, str], str]:
    """Map (is in the table of machine metrics, row label) to metric, for the reference reports and tables."""
    groups = load_json(CARDANO / "reports" / "two.json")["dictionary"]
    return map_metric_ids(
        [
            (group == "dClusterPerf", f"{item['deShortDesc']}, {item['deUnit']}", metric)
            for group, items in groups.items()
            for metric, item in items.items()
        ]
    )
