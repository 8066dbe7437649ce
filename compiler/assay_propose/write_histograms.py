"""Write the grains of histograms of a proposal, and their metrics."""

from __future__ import annotations

from assay_propose.dhall_text import format_list, format_record, quote_text, write_unit
from assay_propose.model import GrainProposal, MetricProposal, Proposal
from assay_propose.write_report import name_fields


def write_histogram(proposal: Proposal, grain: GrainProposal) -> str:
    """Write a grain with a row for each step, series and bucket of a histogram."""
    source = next(item for item in proposal.sources if item.name == grain.source)
    record = f"e.{name_fields(proposal, source)}"
    members = [
        ("name", quote_text(grain.name), ""),
        ("buckets", f"e.{grain.events[0]}", ""),
        ("le", f"{record}.{grain.buckets}", ""),
        ("by", format_list([f"{record}.{name}" for name in grain.labels], 12, "S.Field"), ""),
        ("everyNs", f"{grain.every_ns}", ""),
        ("unit", write_unit(grain.metrics[0].unit).strip("()"), ""),
        ("doc", quote_text("A bucket of a series, in a step of the run"), ""),
    ]
    reason = f"{grain.reason[:1].upper()}{grain.reason[1:]}"
    text = f"G.histogram\n        {format_record(members, 8)}"
    text = f"G.exponential (\n      {text})" if grain.is_native else text
    return f"-- {reason}.\nlet {grain.name} =\n      {text}\n"


def write_centile(grain: GrainProposal, metric: MetricProposal) -> str:
    """Write a metric with a percentile of a histogram in each step."""
    better = f"\n                , better = {quote_text(metric.better)}" if metric.better != "neither" else ""
    return f"""
        S.Metric::(     S.metric.histogramCentile {metric.centile!r} g.{grain.name} [ g.{grain.name}.at ]
            /\\  {{ id = {quote_text(metric.id)}
                , name = {quote_text(metric.name)}{better}
                , doc = {quote_text(metric.doc)}
                }}
        )"""
