"""Write ratios of totals that the metrics of a proposal may have, as comments.

A ratio of a size and a time changes if one of these does: as a metric, it would repeat the verdict of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay_propose.dhall_text import quote_text
from assay_propose.model import GrainProposal, MetricProposal, Proposal
from assay_propose.names import join_names
from assay_propose.units import TIMES

_SIZES = ("byte", "kilobyte", "kibibyte", "megabyte", "mebibyte", "gigabyte", "gibibyte")


def write_ratios(proposal: Proposal) -> str:
    """Return the comment on each grain with a size and the time that it took; empty without one."""
    return "".join(map(_write_ratio, _list_pairs(proposal)))


def _list_pairs(proposal: Proposal) -> Iterator[tuple[MetricProposal, MetricProposal]]:
    """Yield the first size of each grain of records and the first time that is better lower."""
    for grain in proposal.grains:
        sizes = [metric for metric in _list_of_records(grain) if metric.unit in _SIZES]
        times = [metric for metric in _list_of_records(grain) if metric.unit in TIMES and metric.better == "lower"]
        if sizes and times:
            yield sizes[0], times[0]


def _list_of_records(grain: GrainProposal) -> list[MetricProposal]:
    return [metric for metric in grain.metrics if metric.field and not (metric.where[0] or metric.since or metric.per)]


def _write_ratio(pair: tuple[MetricProposal, MetricProposal]) -> str:
    size, time = pair
    name = f"{size.name} per second"
    return f"""
      -- This ratio of totals would repeat the verdicts of `{size.id}` and `{time.id}`. To report it, too, uncomment it.
      -- # [ S.metric.ratio
      --       {{ id = {quote_text(join_names(size.id, "per_second"))}
      --       , name = {quote_text(name)}
      --       , doc = "Ratio of the totals"
      --       , unit = S.unit.bytePerSecond
      --       }}
      --       m.{size.id}
      --       m.{time.id}
      --   ]"""
