"""Write the specs of a proposal as Dhall, with comments that say why."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util.time_units import NANOSECONDS
from assay_propose.dhall_text import format_list, format_member, format_record, format_texts, quote_text, write_unit
from assay_propose.model import (
    EventProposal,
    FieldProposal,
    GrainProposal,
    MetricProposal,
    Proposal,
    SourceProposal,
)
from assay_propose.names import is_prefixed, split_words
from assay_propose.outcomes import FIRST_FAILURE
from assay_propose.quantities import lacks_unit
from assay_propose.spread import LAST
from assay_propose.write_grains import has_query, write_all, write_exclusions, write_grains, write_query
from assay_propose.write_histograms import write_centile
from assay_propose.write_ratios import write_ratios
from assay_propose.write_report import SCHEMA, name_fields, write_report

GENERATION = "sample"
_LISTED_NAMES = 8
_RESERVED = "docs/spec-language/package.md#reserved-names"


def write_all_specs(proposal: Proposal) -> dict[str, str]:
    """Return the files of a proposal, by their path in the workspace."""
    folder, queries = f"specs/{proposal.system}", f"queries/{proposal.system}"
    files = {
        f"{folder}/source.dhall": _write_sources(proposal),
        f"{folder}/events.dhall": _write_events(proposal),
        f"{folder}/grains.dhall": write_grains(proposal),
        f"{folder}/metrics.dhall": _write_metrics(proposal),
        f"{folder}/reports.dhall": write_report(proposal),
        f"{folder}/package.dhall": _write_package(proposal),
    }
    for grain in proposal.grains:
        if has_query(grain):
            files[f"{queries}/{grain.name}.sql"] = write_query(grain)
    return files


def _write_sources(proposal: Proposal) -> str:
    parts = ["-- Where a run keeps its logs, how a line says what it is, and the facts of the run.", SCHEMA, _VERSION]
    for source in proposal.sources:
        parts.append(f"let {source.name} =\n      {format_record(_list_source_members(source), 6, 'S.Source::{')}\n")
    names = ", ".join(source.name for source in proposal.sources)
    return "\n".join([*parts, f"in  {{ {names}, constant }}", ""])


_VERSION = """let constant =
      { version =
          S.Constant::{
          , name = "version"
          , files = [ "meta.json" ]
          , path = [ "version" ]
          , type = "text"
          , doc = "What the run is called in reports"
          }
      }
"""


def _list_source_members(source: SourceProposal) -> list[tuple[str, str, str]]:
    reasons = dict(source.reasons)
    kind = SOURCE_KINDS[source.kind]
    lookups = "[] : List S.source.Lookup"
    if source.lookup:
        lookups = (
            f'[ {{ path = {format_texts(source.lookup)}, inBody = False, drop = "", generation = "{GENERATION}" }} ]'
        )
    format_note = f"\nThe format is that of {source.format}." if source.format else ""
    members = [
        ("name", quote_text(source.name), ""),
        ("kind", quote_text(source.kind), "\n".join([reasons["kind"] + format_note, *source.notes])),
        ("hosts", quote_text(source.hosts), ""),
        ("logs", format_texts(source.logs), ""),
    ]
    if source.line:
        members.append(("line", quote_text(source.line), ""))
    if source.begins:
        members.append(("begins", quote_text(source.begins), ""))
    malformed = f"\n{source.malformed.describe()}" if source.malformed else ""
    members.append(("time", format_texts(source.time), reasons.get("time", "") + malformed))
    if source.or_time:
        members.append(("orTime", format_list([format_texts(path) for path in source.or_time], 8), ""))
    if source.time_form:
        members.append(("timeForm", quote_text(source.time_form), ""))
    if source.zone:
        members.append(("zone", quote_text(source.zone), ""))
    members += [
        ("body", format_texts(source.body), ""),
        ("lookups", lookups, reasons.get("lookups", "")),
        *_list_quarantine(source),
        *_list_ignored(source),
        ("constants", "[ constant.version ]", ""),
        ("doc", quote_text(f"{kind.files.capitalize()} {', '.join(source.files)}"), ""),
    ]
    return members


def _list_ignored(source: SourceProposal) -> list[tuple[str, str, str]]:
    if not source.ignored:
        return []
    reason = (f"{source.left_out_count} lines without an event, as `assay inspect` names them: without a warning"
              if source.kind == "text-lines" else "declared, but no record has them")  # fmt: skip
    return [("ignored", format_list([quote_text(name) for name in source.ignored], 8), reason)]


def _list_quarantine(source: SourceProposal) -> list[tuple[str, str, str]]:
    """Return the member that tolerates twice the share of malformed records of the sample, if it has any."""
    without = source.left_out_count if source.is_nameless else 0
    malformed = source.malformed.count if source.malformed else 0
    if source.broken:
        share = min(1.0, math.ceil(200 * source.broken) / 100)
        reason = f"{math.ceil(100 * source.broken)} % of the records of a host are malformed"
        return [("quarantine", f"{{ share = {share}, atLeast = 10 }}", reason)]
    if not without + malformed:
        return []
    share = min(1.0, math.ceil(200 * (without + malformed) / source.records) / 100)
    reason = f"{without + malformed} of {source.records} records have no instant: they count as malformed"
    return [("quarantine", f"{{ share = {share}, atLeast = 10 }}", reason)]


def _write_events(proposal: Proposal) -> str:
    parts = ["-- Events: which records of the logs are one, and the fields they carry.", SCHEMA, "let E = S.event\n"]
    fields = {source.name: name_fields(proposal, source) for source in proposal.sources}
    for source in proposal.sources:
        if source.fields:
            columns = [(grain.step_column, f'E.text "{grain.step_column}"', "the event of a record")
                       for grain in proposal.grains if grain.step_column and grain.source == source.name]  # fmt: skip
            record = format_record([*map(_write_field, source.fields), *columns], 6)
            parts.append(f"let {fields[source.name]} =\n      {record}\n")
    parts.append(f'let name = \\(name : Text) -> {{ generation = "{GENERATION}", name }}\n')
    parts.append(_EVENT)
    members = [(fields[source.name], "", "") for source in proposal.sources if source.fields]
    for source in proposal.sources:
        members += [(event.name, *_write_event(proposal, source, event)) for event in source.events]
    text = format_record(members, 4)
    return "\n".join([*parts, *_list_left_out(proposal), f"in  {text}", ""])


_EVENT = r"""let event =
      \(source : Text) ->
      \(e : { name : Text, names : List E.Name, unless : List E.Unless, fields : List S.Field, doc : Text }) ->
        { name = e.name, source, forms = [ e.{ names, unless, fields } ], doc = e.doc } : S.Event
"""


def _list_left_out(proposal: Proposal) -> list[str]:
    lines = []
    for source in proposal.sources:
        if source.left_out:
            lines.append(
                f"-- Records of `{source.name}` that are no event: {source.left_out_count}. The most frequent:"
            )
            lines += [
                f"--   {item.count} {_shorten(item.name) or '(no name)'}: {item.reason}"
                for item in source.left_out[:_LISTED_NAMES]
            ]
    return [*lines, ""] if lines else []


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else f"{line[:90]}..."


def _write_field(field: FieldProposal) -> tuple[str, str, str]:
    text = f"E.{field.type} {quote_text(field.name)}"
    changes = [
        *(f"E.noValue {quote_text(word)}" for word in field.no_values),
        *([f"E.{field.transform}"] * bool(field.transform)),
    ]
    if field.transform == "instant":
        text = f"E.instant {quote_text(field.name)}"
    elif changes:
        text = f"E.changed [ {', '.join(changes)} ] ({text})"
    if field.unit_of:
        text = f"E.unitOf {quote_text(field.unit_of)} ({text})"
    if field.place != (field.name,):
        text = f"E.at {format_texts(field.place)} ({text})"
    if field.unit != "none" and field.transform != "instant":
        text = f"E.inUnit {write_unit(field.unit)} ({text})"
    if field.kind:
        text = f"E.{field.kind} ({text})"
    unit = f"{field.unit}: {field.reason}" if field.unit != "none" else ""
    return field.name, text, "\n".join(filter(None, [unit, _explain_name(field.name, field.path[-1])]))


def _explain_name(name: str, text: str) -> str:
    """Return a comment on a name that has a prefix since its text is a reserved name."""
    words = "_".join(split_words(text))
    is_explained = is_prefixed(name) and not is_prefixed(words) and not words[:1].isdigit()
    return f"`{text}` is a reserved name: {_RESERVED}" if is_explained else ""


def _write_event(proposal: Proposal, source: SourceProposal, event: EventProposal) -> tuple[str, str]:
    """Return the value of an event, and the comment above it."""
    record = name_fields(proposal, source)
    items = [f"{record}.{name}" for name in event.fields]
    items = [f"E.optional {item}" if name in event.optional else item for name, item in
             zip(event.fields, items, strict=True)]  # fmt: skip
    unless = f"[ E.has {format_texts(event.ruled_out)} ]" if event.ruled_out else "[] : List E.Unless"
    members = [
        ("name", quote_text(event.name), ""),
        ("names", format_list([f"name {quote_text(text)}" for text in event.names], 12, "E.Name"), ""),
        ("unless", unless, ""),
        ("fields", format_list(items, 12, "S.Field"), ""),
        ("doc", quote_text(event.doc), ""),
    ]
    reserved = "" if source.line or not event.names else _explain_name(event.name, event.names[0])
    return (
        f"\n        event\n          {quote_text(source.name)}\n          {format_record(members, 10)}",
        "\n".join(filter(None, [f"{event.count} of {source.records} records", reserved])),
    )


def _write_metrics(proposal: Proposal) -> str:
    has_host = any(metric.unit == "count" for metric in proposal.metrics)
    parts = ["-- Metrics: what is measured on each row of a grain, and in which unit.", SCHEMA,
             "let e = ./events.dhall\n", "let g = ./grains.dhall\n"]  # fmt: skip
    if has_host:
        parts.append('let host = S.grain.column "text" "host" S.unit.none "Host"\n')
    parts += [_write_counted(proposal, grain) for grain in proposal.grains if grain.excluded and not grain.counter]
    members = []
    for grain in proposal.grains:
        source = next(item for item in proposal.sources if item.name == grain.source)
        for metric in grain.metrics:
            text = _write_metric(proposal, source, grain, metric)
            comment = "a time by its name, so less is better; its unit is unknown" if lacks_unit(source, metric) else ""
            members.append((metric.id, text, comment))
    text = format_record(members, 4)
    return "\n".join([*parts, f"in  {text}", ""])


def _write_metric(proposal: Proposal, source: SourceProposal, grain: GrainProposal, metric: MetricProposal) -> str:
    if grain.buckets:
        return write_centile(grain, metric)
    reduction = ""
    if grain.is_spread:
        measure, key = f"g.{grain.name}.delay", f"[ g.{grain.name}.key ]"
        word = f"centile {metric.centile!r}" if metric.centile < LAST else "greatest"
        reduction = f"\n        , reduction = S.metric.{word} {key}"
    elif metric.start:
        is_attempt = metric.start in grain.find_attempts()
        start = f"g.{grain.name}.before.{metric.id}" if is_attempt else _read_instant(grain, metric.start)
        measure = f"S.elapsed {{ from = [ {start} ], to = {_read_instant(grain, metric.end)} }}"
        if grain.is_of_key and not is_attempt:
            measure = f"g.{grain.name}.between e.{metric.start} e.{metric.end}"
            start = f"({start})"
        if metric.from_start:
            duration = f"S.grain.taken {start} e.{name_fields(proposal, source)}.{metric.from_start}"
            factor = f"S.x.natural {NANOSECONDS[source.find_field(metric.from_start).unit]}"
            duration = f"S.x.asUnit S.unit.nanosecond (S.x.times ({duration}) ({factor}))"
            measure = f"S.x.plus ({measure}) ({duration})"
    elif metric.is_rate or grain.terms:
        measure = f"S.x.column g.{grain.name}.value"
    elif metric.is_failure:
        measure = ""
    elif metric.field:
        measure = _read_field(proposal, source, grain, metric, metric.field)
        if metric.since:
            measure = f"S.x.minus ({measure}) ({_read_field(proposal, source, grain, metric, metric.since)})"
        elif source.find_field(metric.field).unit == "none" and metric.unit not in ("none", "percent"):
            measure = f"S.x.asUnit {write_unit(metric.unit)} ({measure})"
        if metric.per:
            measure = f"S.x.over ({measure}) ({_read_field(proposal, source, grain, metric, metric.per)})"
    else:
        measure = "S.x.asUnit S.unit.count (S.x.natural 1)"
        reduction = "\n        , reduction = S.metric.number [ host ]"
        if grain.key and not metric.where[0]:
            instant = _read_instant(grain, metric.event)
            instant = f"({instant})" if grain.is_of_key else instant
            reduction += f"\n        , where = S.x.present (S.grain.instant {instant})"
    conditions = [f"counted_{grain.name}"] if grain.excluded and not grain.counter else []
    if metric.where[0] and not (metric.is_rate or metric.is_failure):  # the series of a rate has the condition
        conditions.append(_write_condition(proposal, source, grain, metric))
    if conditions:
        reduction += f"\n        , where = {conditions[0] if len(conditions) == 1 else write_all(conditions)}"
    if metric.is_failure:
        return _write_share(grain, metric, _write_failure(proposal, source, grain, metric), conditions)
    unit = write_unit(metric.unit).strip("()")
    better = f"\n        , better = {quote_text(metric.better)}" if metric.better != "neither" else ""
    return f"""
        S.Metric::{{
        , id = {quote_text(metric.id)}
        , name = {quote_text(metric.name)}
        , grain = g.{grain.name}.grain.name
        , measure = {measure}{reduction}
        , unit = {unit}{better}
        , doc = {quote_text(metric.doc)}
        }}"""


def _write_share(grain: GrainProposal, metric: MetricProposal, condition: str, conditions: Sequence[str]) -> str:
    """Write the share of records for which a condition holds, among those that other conditions select."""
    where = f"\n                , where = {conditions[0] if len(conditions) == 1 else write_all(conditions)}" * bool(
        conditions
    )
    return f"""
        S.Metric::(     S.metric.share ({condition})
            /\\  {{ id = {quote_text(metric.id)}
                , name = {quote_text(metric.name)}
                , grain = g.{grain.name}.grain.name{where}
                , better = {quote_text(metric.better)}
                , doc = {quote_text(metric.doc)}
                }}
        )"""


def _write_counted(proposal: Proposal, grain: GrainProposal) -> str:
    """Write the condition that a row is a sample of its own, with a comment on rows that are left out."""
    condition = write_exclusions(proposal, grain, lambda field: f"S.x.column (S.grain.columnOf {field})")
    comments = "".join(f"-- {item.describe()}\n" for item in grain.excluded)
    return f"{comments}let counted_{grain.name} =\n      {condition}\n"


def _write_failure(proposal: Proposal, source: SourceProposal, grain: GrainProposal, metric: MetricProposal) -> str:
    """Return the condition that a record failed."""
    if metric.where[0]:
        return _write_condition(proposal, source, grain, metric)
    status = _read_field(proposal, source, grain, metric, metric.field)
    return f"S.x.atLeast ({status}) (S.x.natural {FIRST_FAILURE})"


def _write_condition(proposal: Proposal, source: SourceProposal, grain: GrainProposal, metric: MetricProposal) -> str:
    """Return the condition that a field has the text of a metric, or one of several, or an error."""
    name, text = metric.where
    field = _read_field(proposal, source, grain, metric, name)
    if metric.is_error:
        return f"S.x.all [ S.x.present ({field}), S.x.not (S.x.matches ({field}) {quote_text(text)}) ]"
    if metric.is_failure and "|" in text:
        return f"S.x.matches ({field}) {quote_text(text)}"
    booleans = {"true": "S.x.yes", "false": "S.x.no"}
    is_boolean = source.find_field(name).type == "boolean"
    return f"S.x.equals ({field}) {booleans[text] if is_boolean else f'(S.x.text {quote_text(text)})'}"


def _read_field(
    proposal: Proposal, source: SourceProposal, grain: GrainProposal, metric: MetricProposal, name: str
) -> str:
    """Return the expression of a field: a column of the rows of records, else taken at the instant of its record."""
    field = f"e.{name_fields(proposal, source)}.{name}"
    if not grain.key:
        return f"S.x.column (S.grain.columnOf {field})"
    if grain.is_of_key:
        return f"g.{grain.name}.taken e.{metric.event} {field}"
    return f"S.grain.taken {_read_instant(grain, metric.event)} {field}"


def _read_instant(grain: GrainProposal, event: str) -> str:
    """Return the expression of the instant of an event in the rows of a key."""
    return f"g.{grain.name}.at e.{event}" if grain.is_of_key else f"g.{grain.name}.at.{event}"


def _write_package(proposal: Proposal) -> str:
    sources = format_member([f"source.{source.name}" for source in proposal.sources], 6, 15)
    events = format_member([f"e.{event.name}" for source in proposal.sources for event in source.events], 6, 14)
    written_relations = [f"g.{grain.name}.relation" for grain in proposal.grains if not grain.windows_of]
    relations = format_member(written_relations, 6, 17)
    grains = format_member([f"g.{grain.name}.grain" for grain in proposal.grains], 6, 14)
    rates = [f"g.{grain.name}.series" for grain in proposal.grains if grain.is_of_seconds]
    series = f"\n    , series ={format_member(rates, 6, 14)}" if rates else ""
    on_some = [
        f"S.onSomeRows ({_read_instant(grain, event)})"
        for grain in proposal.grains
        for event in (*grain.elsewhere, *grain.partial)
    ]
    coverage = (
        f"\n    -- only some rows have these events\n    , coverage ={format_member(on_some, 6, 16)}" if on_some else ""
    )
    return f"""-- All that the specs of this system say. What is not listed does not exist; metrics list themselves.
{SCHEMA}
let source = ./source.dhall

let e = ./events.dhall

let g = ./grains.dhall

let m = ./metrics.dhall

in  S.Package::{{
    , system = {quote_text(proposal.system)}
    , sources ={sources}
    , events ={events}
    , relations ={relations}
    , grains ={grains}{series}
    , metrics = S.metrics (toMap m){write_ratios(proposal)}{coverage}
    , summaries = [ S.Summary::{{ name = "all", doc = "All samples count alike" }} ]
    , reports = [ (./reports.dhall).comparison ]
    }}
"""
