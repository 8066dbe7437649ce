"""Write the report of a proposal: its tables, its charts, and the gate that a comment proposes."""

from __future__ import annotations

from collections.abc import Sequence

from assay_propose.dhall_text import format_member, format_record, quote_text
from assay_propose.known_formats import MAX_BENCHMARKS, is_of_benchmarks
from assay_propose.model import HOST, DimensionProposal, GrainProposal, Proposal, SourceProposal
from assay_propose.titles import lower_title, make_title

SCHEMA = "let S = ../schema/package.dhall\n"
MAX_CHARTS = 12
_NEW_LINE = "\n"


def name_fields(proposal: Proposal, source: SourceProposal) -> str:
    """Return the name of the record of a source's fields in `events.dhall`."""
    return "field" if len(proposal.sources) == 1 else f"{source.name}_field"


def write_report(proposal: Proposal) -> str:
    """Return the text of `reports.dhall`."""
    lists, sections, charts = [], [], []
    for grain in proposal.grains:
        title = quote_text(grain.title)
        listing = format_member([f"m.{metric.id}" for metric in grain.metrics], 6, len(grain.name) + 6)
        lists.append(f"let {grain.name} ={listing}\n")
        if grain.is_main:
            if not grain.step_column:  # a mean of all steps says little
                sections.append(f"R.withAllOf g.{grain.name}.grain (R.section {title} {grain.name})")
            if grain.split:
                sections.append(_write_split_section(proposal, grain))
        charts += [
            f"R.cdf m.{metric.id}"
            for metric in sorted(grain.metrics, key=lambda item: "total" not in item.id.split("_"))
            if metric.unit != "count" and not metric.is_failure and not metric.is_rate
        ]
    if others := [grain.name for grain in proposal.grains if not grain.is_main]:
        section = f'R.section "Other" ({" # ".join(others)})'
        for name in others:
            section = f"R.withAllOf g.{name}.grain ({section})"
        sections.append(section)
    rates = [_write_timeline(grain) for grain in proposal.grains if grain.is_of_seconds and not grain.buckets]
    parts = f"\n        , parts =\n          [ {_write_part(rates)}\n          ]" if rates else ""
    has_split = any("R.splitBy" in section for section in sections)
    events = "\nlet e = ./events.dhall\n" if has_split else ""
    gate = _write_gate(proposal) if has_split else ""
    return f"""-- A report: which metrics it shows, in which tables and charts. Sections add all others of their grain.
{SCHEMA}
let R = S.report

let m = ./metrics.dhall

let g = ./grains.dhall
{events}
let constant = (./source.dhall).constant

{_NEW_LINE.join(lists)}
in  {{ comparison =
        S.Report::{{
        , name = "comparison"
        , title = "{{others}} against {{base}}"
        , intro = "The logs of {{others}}, beside those of {{base}}."
        , manifest = [ R.fact "Version" constant.version (R.text 0) ]
        , sections ={format_member(sections, 10, 20)}
        , charts ={format_member(charts[:MAX_CHARTS], 10, 20, "R.Chart")}{parts}
        , dictionary ={format_member(_list_groups(proposal), 10, 22)}
        , style = "prefixed"
        , summary = "all"
        , label = constant.version.name{gate}
        , doc = "One or more runs, the first of which is the baseline"
        }}
    }}
"""


def _list_groups(proposal: Proposal) -> list[str]:
    """Return the groups of the dictionary: one for each grain, but one for all grains of a single metric."""
    groups = [f"R.groupWithAllOf g.{grain.name}.grain (R.group {quote_text(grain.title)} {grain.name})"
              for grain in proposal.grains if len(grain.metrics) > 1]  # fmt: skip
    if single := [grain for grain in proposal.grains if len(grain.metrics) == 1]:
        title = single[0].title if len(single) == 1 else "Single metrics" if groups else "Metrics"
        group = f"R.group {quote_text(title)} ({' # '.join(grain.name for grain in single)})"
        for grain in single:
            group = f"R.groupWithAllOf g.{grain.name}.grain ({group})"
        groups.append(group)
    return groups


def _find_source(proposal: Proposal, grain: GrainProposal) -> SourceProposal:
    return next(item for item in proposal.sources if item.name == grain.source)


def _write_column(proposal: Proposal, grain: GrainProposal, dimension: DimensionProposal) -> str:
    source = _find_source(proposal, grain)
    if dimension.field == HOST:
        return 'S.grain.column "text" "host" S.unit.none "Host"'
    return f"S.grain.columnOf e.{name_fields(proposal, source)}.{dimension.field}"


def _write_part(timelines: Sequence[str]) -> str:
    """Write the part with the timelines of rates."""
    blocks = f"S.block.runTimelines{format_member(timelines, 16, 42)}"
    return format_record([("title", '"Over time"', ""), ("blocks", blocks, "")], 12, "S.block.Part::{")


def _write_timeline(grain: GrainProposal) -> str:
    word = "timelineOfMean" if grain.counter or grain.terms else "timeline"
    return f"R.{word} {quote_text(grain.title)} g.{grain.name}.series"


def _write_split_section(proposal: Proposal, grain: GrainProposal) -> str:
    """Write the section that splits the metrics of a grain by one or two of its dimensions."""
    fields = " and ".join(item.field for item in grain.split)
    is_namesake = make_title(fields) == grain.title  # "Step by step" has another meaning
    title = f"Each {lower_title(grain.title)}" if is_namesake else f"{grain.title} by {fields}"
    columns = ", ".join(_write_column(proposal, grain, item) for item in grain.split)
    section = f"R.splitBy [ {columns} ] (R.section {quote_text(title)} {grain.name})"
    # A pool of the least frequent values says nothing of benchmarks, all of which are about as frequent.
    is_whole = is_of_benchmarks(_find_source(proposal, grain).format)
    limit = MAX_BENCHMARKS if is_whole else max(item.limit for item in grain.split)
    return f"{section} // {{ limit = {limit} }}" if limit else section


def _write_gate(proposal: Proposal) -> str:
    """Write a comment with a gate of a metric and one of its segments; empty if none is better in a direction."""
    for grain in proposal.grains:
        for metric in grain.metrics:
            if grain.is_main and len(grain.split) == 1 and metric.better != "neither":
                column = _write_column(proposal, grain, grain.split[0])
                segment = f"R.segmentId m.{metric.id} ({column}) {quote_text(grain.split[0].value)}"
                return f"""
          -- The gate has all metrics that are better in a direction, `assay gate --segments` also gates their segments.
          -- To gate only some, such as a metric and a segment of it (docs/ci.md#gate-segments), remove these dashes:
          -- , judgement = Some S.Judgement::{{ gate = R.metricIds [ m.{metric.id} ] # [ {segment} ] }}"""
    return ""
