"""Write the grains of a proposal as Dhall, and the queries of their relations as SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay_propose.alternation import GUIDE
from assay_propose.dhall_text import format_list, format_member, format_record, quote_text, write_unit
from assay_propose.model import HOST, AlternatingPair, GrainProposal, Proposal
from assay_propose.write_histograms import write_histogram
from assay_propose.write_report import SCHEMA, name_fields


def has_query(grain: GrainProposal) -> bool:
    """Return whether the rows of a grain have SQL of their own: no word of the schema writes it."""
    return not (grain.is_of_records or grain.is_of_seconds or grain.is_of_key)


def write_query(grain: GrainProposal) -> str:
    """Return the SQL that yields the rows of a grain."""
    if grain.query:
        return grain.query
    if grain.step_column:
        columns = ", ".join(name for name in _list_grain_fields(grain) if name != grain.step_column)
        selects = (
            f"SELECT host, seq, {columns}, '{item}' AS {grain.step_column}\nFROM {item}\n" for item in grain.events
        )
        comment = f"-- One row for each record of {len(grain.events)} events; `{grain.step_column}` is its event.\n"
        return comment + "UNION ALL\n".join(selects)
    if grain.key:
        selects = (
            f"SELECT host, {grain.key} FROM {item} WHERE {grain.key} IS NOT NULL\n" for item in grain.events_of_rows
        )
        comment = f"-- One row for each `{grain.key}` on a host, in any of {len(grain.events_of_rows)} events.\n"
        if grain.origin:
            comment += f"-- The host with its `{grain.origin}` has none: nothing gets there.\n"
        origin = f"EXCEPT\nSELECT host, {grain.key} FROM {grain.origin}\n" if grain.origin else ""
        return comment + "UNION\n".join(selects) + origin
    event = grain.events[0]
    names = ", ".join(["host", "seq", *_list_grain_fields(grain)] if grain.is_timeless else ["host", "seq"])
    comment = f"-- One row for each record of `{event}`; `seq` is its position in the files of its host."
    return f"{comment}\nSELECT {names}\nFROM {event}\n"


def _list_grain_fields(grain: GrainProposal) -> list[str]:
    names = [
        name for metric in grain.metrics for name in (metric.since, metric.field, metric.per, metric.where[0]) if name
    ]
    names += [item.field for item in grain.dimensions if item.field != HOST]
    return list(dict.fromkeys((*names, *(item.field for item in grain.excluded))))


def write_grains(proposal: Proposal) -> str:
    """Return `grains.dhall` of a proposal."""
    parts = [
        "-- What one sample is about. A grain binds instants, and fields of their records, to the rows of a relation.",
        *map(_describe_alternating, proposal.alternating), SCHEMA, "let G = S.grain\n", "let e = ./events.dhall\n",
    ]  # fmt: skip
    if any(grain.is_timeless for grain in proposal.grains):
        parts.append(_COLUMN)
    if any(has_query(grain) for grain in proposal.grains):
        parts.append(_GRAIN)
    if any(item.pick == "last" for grain in proposal.grains for item in grain.repeated):
        parts.append(_LAST)
    if any(grain.find_attempts() for grain in proposal.grains):
        parts.append(_LATEST)
    for grain in sorted(proposal.grains, key=lambda grain: (bool(grain.terms), bool(grain.windows_of))):
        write = _write_grain
        if grain.buckets:
            write = write_histogram
        elif grain.is_spread:
            write = _write_spread
        elif grain.counter or grain.terms:
            write = _write_rate
        elif grain.is_of_records:
            write = _write_record_grain
        elif grain.is_of_seconds:
            write = _write_seconds
        elif grain.is_of_key:
            write = _write_key_grain
        parts.append(write(proposal, grain))
    names = [grain.name for grain in proposal.grains]
    return "\n".join([*parts, f"in  {{ {', '.join(names)} }}", ""])


def _describe_alternating(pair: AlternatingPair) -> str:
    return (
        f'--\n-- {pair.describe()}: an instant\n-- of `{pair.start}` with `pick = "latest before"` '
        f"at `{pair.end}` measures the time between them.\n-- Example: {GUIDE}"
    )


_DIMENSIONS = "\n-- Its dimensions are fields with few values: split metrics by them."
_STEPS_OF_RATE = 4  # a window of a rate has so many samples, so that it may lack one
_CLOCKS = "A clock that is ahead makes its host look slow: docs/how-to.md#measure-propagation-between-hosts"
_COLUMN = "let columnOf = G.columnOf\n"
_GRAIN = r"""let host = G.column "text" "host" S.unit.none "Host"

let first =
      \(grain : Text) ->
      \(key : S.Column) ->
      \(event : S.Event) ->
      \(fields : List S.Field) ->
        S.Instant::{
        , name = "at_${event.name}"
        , grain
        , pick = "first"
        , of = event.name
        , on = [ G.sameColumn host host, G.sameColumn key key ]
        , fields = G.fieldNames fields
        , doc = event.doc
        }
"""
_LAST = r"""let last =
      \(grain : Text) ->
      \(key : S.Column) ->
      \(event : S.Event) ->
      \(fields : List S.Field) ->
        first grain key event fields // { pick = "last" }
"""
_LATEST = r"""let latest =
      \(event : S.Event) ->
      \(anchor : S.Instant.Type) ->
            anchor
        //  { name = "${event.name}_before_${anchor.of}"
            , pick = "latest before"
            , of = event.name
            , before = anchor.name
            , fields = [] : List Text
            , doc = event.doc
            }
"""


def _write_record_grain(proposal: Proposal, grain: GrainProposal) -> str:
    """Write a grain with a row for each record of an event."""
    source = next(item for item in proposal.sources if item.name == grain.source)
    record = name_fields(proposal, source)
    dimension_names = [item.field for item in grain.dimensions]
    fields = format_list([f"e.{record}.{name}" for name in _list_grain_fields(grain)], 14, "S.Field")
    dimensions = format_list([f"e.{record}.{name}.name" for name in dimension_names], 14)
    members = [
        *([("dimensions", dimensions, "")] if grain.dimensions else []),
        *([("cluster", "records.host.name", "")] if source.hosts else []),
    ]
    result = f"records // {{ grain = records.grain // {format_record(members, 6)} }}" if members else "records"
    comment = _describe_excluded(grain) + (_DIMENSIONS if grain.dimensions else "")
    return f"""-- {grain.reason[:1].upper()}{grain.reason[1:]}.{comment}
let {grain.name} =
      let records =
            G.eachRecord
              {{ name = {quote_text(grain.name)}
              , event = e.{grain.events[0]}
              , fields = {fields}
              , doc = {quote_text(_describe_grain(grain))}
              }}

      in  {result}
"""


def _write_key_grain(proposal: Proposal, grain: GrainProposal) -> str:
    """Write a grain with a row for each value of a key."""
    source = next(item for item in proposal.sources if item.name == grain.source)
    record = name_fields(proposal, source)
    latest = _list_latest(grain, record)
    members = []
    if latest:
        before = format_list([f"before.{name}" for name, _, _ in latest], 18)
        members.append(("instants", f"rows.grain.instants # {before}", ""))
    if grain.dimensions:
        members += _list_taken_dimensions(grain, record)
    if not source.hosts:
        members.append(("cluster", '""', ""))
    margin = 12 if members else 6
    call = format_record(
        [("name", quote_text(grain.name), ""),
         ("key", f"e.{record}.{grain.key}", ""),
         ("events", format_list([f"e.{event}" for event in grain.events], margin + 4), ""),
         ("doc", quote_text(_describe_grain(grain)), "")], margin + 2)  # fmt: skip
    text = f"G.eachKey\n{' ' * (margin + 2)}{call}"
    if members:
        let = f"      let before =\n            {format_record(latest, 12)}\n\n" if latest else ""
        let += f"      let grain =\n                rows.grain\n            //  {format_record(members, 16)}\n\n"
        text = f"let rows =\n            {text}\n\n{let}      in  rows // {{ grain{', before' if latest else ''} }}"
    return f"{_describe_rows(grain)}\nlet {grain.name} =\n      {text}\n"


def _write_spread(proposal: Proposal, grain: GrainProposal) -> str:
    """Write a grain with a row for each key and host, and its delay since the first host."""
    source = next(item for item in proposal.sources if item.name == grain.source)
    event = f"e.{grain.events[0]}"
    members = [
        ("name", quote_text(grain.name), ""),
        ("key", f"e.{name_fields(proposal, source)}.{grain.key}", ""),
        ("from", event, ""),
        ("event", event, ""),
        ("doc", quote_text(f"`{grain.events[0]}` of a `{grain.key}` on a host"), ""),
    ]
    value = f"G.acrossHosts\n        {format_record(members, 8)}"
    return f"{_describe_rows(grain)}\n-- {_CLOCKS}\nlet {grain.name} =\n      {value}\n"


def _describe_rows(grain: GrainProposal) -> str:
    """Return the comment above a grain."""
    repeated = "".join(f"\n-- {line}." for line in grain.describe_repeated())
    repeated += f"\n-- {_CLOCKS}" if grain.origin else ""
    dimensions = _DIMENSIONS if grain.dimensions else ""
    return f"-- {grain.reason[:1].upper()}{grain.reason[1:]}.{dimensions}{repeated}{_describe_excluded(grain)}"


def _write_rate(proposal: Proposal, grain: GrainProposal) -> str:
    """Write a grain with a row for each step of a run and series of a counter, and the series with its rate."""
    source = next(item for item in proposal.sources if item.name == grain.source)
    (metric,), event, record = grain.metrics, f"e.{grain.events[0]}", f"e.{name_fields(proposal, source)}"
    labels = [f"{record}.{name}" for name in grain.labels]
    host = ['G.column "text" "host" S.unit.none "Host"'] if source.hosts or not labels else []
    columns = format_member([*host, *(f"G.columnOf {label}" for label in labels), "at", "value"], 14, 23)
    names = [*(['"host"'] if host else []), *(f"{label}.name" for label in labels)]
    by = format_list(names, 14)
    windows = f"{grain.windows_of}.relation" if grain.windows_of else f'G.wholeRun "{grain.name}_time" [ {event} ]'
    lets, members = _list_terms(grain) if grain.terms else ("", _list_samples(proposal, grain))
    return f"""-- {grain.reason[:1].upper()}{grain.reason[1:]}.
let {grain.name} =
      let relation = {windows}

{lets}      let series =
            S.Series::{{
            , name = "{grain.name}_series"
            , by = {by}
            , windows = relation.name
            , everyNs = {grain.every_ns}{members}
            , unit = {write_unit(metric.unit).strip("()")}
            , doc = {quote_text(metric.doc)}
            }}

      let at = G.column "instant" "t_ns" S.unit.nanosecond "Step"

      let value = G.column "real" "value" series.unit series.doc

      let grain =
            S.Grain::{{
            , name = {quote_text(grain.name)}
            , relation = series.name
            , key = {format_list([*names, "at.name"], 14)}
            , columns ={columns}
            , at = at.name
            , time = at.name
            , dimensions = {by}
            , doc = "A step of a series"
            }}

      in  {{ relation, series, grain, value }}
"""


def _list_samples(proposal: Proposal, grain: GrainProposal) -> str:
    """Return the members of a series with the rate of a counter."""
    source = next(item for item in proposal.sources if item.name == grain.source)
    field = source.find_field(grain.counter)
    unit = write_unit(grain.metrics[0].unit.partition(" ")[2] or "none")
    value = f"S.grain.field e.{name_fields(proposal, source)}.{field.name}"
    value = f"S.x.asUnit {unit} ({value})" if field.unit == "none" and unit != "S.unit.none" else value
    samples = f"G.samples e.{grain.events[0]}"
    if grain.excluded:
        condition = write_exclusions(proposal, grain, lambda field: f"S.grain.field {field}")
        samples = f"G.samplesWhere e.{grain.events[0]} ({condition})"
    return f"""
            , samples = {samples}
            , reading = "rate"
            , windowNs = {_STEPS_OF_RATE * grain.every_ns}
            , covered = True
            , value = {value}"""


def _list_terms(grain: GrainProposal) -> tuple[str, str]:
    """Return the terms of a series with a quotient of rates, and its members."""
    lets = "".join(
        f'      let {name} = G.term "{name}" {term}.series\n\n'
        for name, term in zip(("total", "number"), grain.terms, strict=True)
    )
    return (
        lets,
        """
            , terms = [ total, number ]
            , value = S.x.over (G.termValue total) (G.termValue number)""",
    )


def _write_seconds(proposal: Proposal, grain: GrainProposal) -> str:
    """Write a grain with a row for each second of a run, and the series with the number of records in it."""
    source = next(item for item in proposal.sources if item.name == grain.source)
    (metric,), event = grain.metrics, f"e.{grain.events[0]}"
    samples = f"G.samples {event}"
    if metric.where[0]:
        field = f"S.grain.field e.{name_fields(proposal, source)}.{metric.where[0]}"
        samples = f"G.samplesWhere {event} (S.x.equals ({field}) (S.x.text {quote_text(metric.where[1])}))"
    return f"""-- {grain.reason[:1].upper()}{grain.reason[1:]}.
let {grain.name} =
      let relation = G.wholeRun "{grain.name}_time" [ {event} ]

      let series =
            S.Series::{{
            , name = "{grain.name}_series"
            , samples = {samples}
            , windows = relation.name
            , reading = "count"
            , unit = S.unit.perSecond S.unit.event
            , doc = {quote_text(metric.doc)}
            }}

      let at = G.column "instant" "t_ns" S.unit.nanosecond "Start of the second"

      let value = G.column "real" "value" series.unit series.doc

      let grain =
            S.Grain::{{
            , name = {quote_text(grain.name)}
            , relation = series.name
            , key = [ at.name ]
            , columns = [ at, value ]
            , at = at.name
            , time = at.name
            , doc = "A second of the run"
            }}

      in  {{ relation, series, grain, value }}
"""


def _write_grain(proposal: Proposal, grain: GrainProposal) -> str:
    source = next(item for item in proposal.sources if item.name == grain.source)
    record = name_fields(proposal, source)
    instants = _list_instants(grain, record)
    latest = _list_latest(grain, record)
    if grain.key:
        field = source.find_field(grain.key)
        doc = quote_text(f"Key `{'.'.join(field.path)}`")
        key = f"G.column {quote_text(field.type)} {quote_text(grain.key)} S.unit.none {doc}"
    else:
        key = 'G.column "integer" "seq" S.unit.none "Position in the log of the host"'
    time = "begin.name" if instants else f"e.{record}.{grain.numbered_by}.name" if grain.numbered_by else "key.name"
    cluster = "\n            , cluster = host.name" if source.hosts else ""
    uses_begin = ["begin"] if instants else []
    listing = format_list([f"at.{name}" for name, _, _ in instants] + [f"before.{name}" for name, _, _ in latest]
                          + uses_begin, 12, "S.Instant.Type")  # fmt: skip
    at = f"      let at =\n            {format_record(instants, 12)}\n\n" if instants else ""
    at += f"      let before =\n            {format_record(latest, 12)}\n\n" if latest else ""
    at += _write_begin(instants) if instants else ""
    columns = [f"columnOf e.{record}.{name}" for name in _list_grain_fields(grain)] if grain.is_timeless else []
    numbered = [f"e.{record}.{grain.numbered_by}"] if grain.numbered_by else []
    keys = ["host.name", "key.name", *(f"{name}.name" for name in numbered)]
    uses = format_member(
        [f"e.{event}.name" for event in (*grain.events_of_rows, *filter(None, [grain.origin]))], 14, 20
    )
    dimensions = _write_taken_dimensions(grain, record) if grain.dimensions else ""
    return f"""{_describe_rows(grain)}
let {grain.name} =
      let name = {quote_text(grain.name)}

      let key = {key}

{at}      let relation =
            S.Relation::{{
            , name = "{grain.name}_keys"
            , sql = ../../queries/{proposal.system}/{grain.name}.sql as Text
            , uses ={uses}
            , columns ={format_member(["host", "key", *(f"columnOf {name}" for name in numbered), *columns], 14, 24)}
            , key = {format_list(keys, 14)}
            , doc = "The rows of `{grain.name}`"
            }}

      let grain =
            S.Grain::{{
            , name
            , relation = relation.name
            , key = relation.key
            , columns = relation.columns
            , instants = {listing}{dimensions}
            , time = {time}{cluster}
            , doc = {quote_text(_describe_grain(grain))}
            }}

      in  {{ relation, grain{", at" if instants else ""}{", before" if latest else ""} }}
"""


def _list_taken_dimensions(grain: GrainProposal, record: str) -> list[tuple[str, str, str]]:
    """Return the members of a grain of a key that make fields of records columns, by which metrics may be split."""
    names = [item.field for item in grain.dimensions]
    columns = [
        f"{{ column = G.columnOf e.{record}.{item.field}, value = rows.taken e.{item.event} e.{record}.{item.field} }}"
        for item in grain.dimensions
    ]
    dimensions = ["rows.host.name" if name == HOST else f"e.{record}.{name}.name" for name in names]
    return [
        ("derived", f"\n                  {format_list(columns, 18)}", ""),
        ("dimensions", format_list(dimensions, 18), ""),
    ]


def _describe_excluded(grain: GrainProposal) -> str:
    return "".join(f"\n-- {item.describe()}." for item in grain.excluded)


def write_exclusions(proposal: Proposal, grain: GrainProposal, read: Callable[[str], str]) -> str:
    """Return the condition that a record of a grain is not excluded; `read` returns the expression of a field."""
    source = next(item for item in proposal.sources if item.name == grain.source)
    event = source.find_event(grain.events[0])
    conditions = []
    for item in grain.excluded:
        is_boolean = source.find_field(item.field).type == "boolean"
        value = read(f"e.{name_fields(proposal, source)}.{item.field}")
        missing = "S.x.no" if is_boolean else '(S.x.text "")'
        value = f"S.x.orElse ({value}) {missing}" if item.field in event.optional else value
        if item.pattern:
            conditions.append(f"S.x.not (S.x.matches ({value}) {quote_text(item.pattern)})")
        for text in item.texts:
            expected = "S.x.yes" if is_boolean else f"(S.x.text {quote_text(text)})"
            conditions.append(f"S.x.not (S.x.equals ({value}) {expected})")
    return conditions[0] if len(conditions) == 1 else write_all(conditions)


def write_all(conditions: Sequence[str]) -> str:
    """Return the condition that all of several hold."""
    return f"S.x.all\n        {format_list(conditions, 8)}"


def _write_begin(instants: Sequence[tuple[str, str, str]]) -> str:
    """Write the instant that orders the rows: that of the first event that a row has."""
    listing = format_member([f"G.instant at.{name}" for name, _, _ in instants], 18, 37)
    return f"""      let begin =
            S.Instant::{{
            , name = "begin"
            , grain = name
            , pick = "computed"
            , value = S.x.firstPresent{listing}
            , doc = "The first event that the row has"
            }}

"""


def _list_instants(grain: GrainProposal, record: str) -> list[tuple[str, str, str]]:
    """Return the instants of the events of a key, each with its event."""
    instants, picks = [], {item.event: item.pick for item in grain.repeated}
    attempts = grain.find_attempts()
    for event in () if grain.is_timeless else grain.events:
        names = [
            name
            for item in grain.metrics
            if item.event == event
            for name in (item.since, item.field, item.where[0])
            if name
        ]
        names += [item.from_start for item in grain.metrics if item.from_start and item.start == event not in attempts]
        names += [item.field for item in grain.dimensions if item.event == event]
        fields = [f"e.{record}.{name}" for name in names]
        listing = format_list(list(dict.fromkeys(fields)), 14, "S.Field")
        pick = picks.get(event, "first")
        value = f"{pick} name key e.{event} {listing if fields else f'({listing})'}"
        if event == grain.origin:
            value = f"{value} // {{ on = [ G.sameColumn key key ] }}"
        instants.append((event, value, "the first on any host" if event == grain.origin else ""))
    return instants


def _list_latest(grain: GrainProposal, record: str) -> list[tuple[str, str, str]]:
    """Return the instants of the last records before others, each with the id of the metric that begins at it."""
    instants = []
    for metric in grain.metrics:
        if metric.start in grain.find_attempts():
            fields = f" // {{ fields = [ e.{record}.{metric.from_start}.name ] }}" if metric.from_start else ""
            end = f"(rows.at e.{metric.end})" if grain.is_of_key else f"at.{metric.end}"
            instants.append((metric.id, f"latest e.{metric.start} {end}{fields}", ""))
    return instants


def _write_taken_dimensions(grain: GrainProposal, record: str) -> str:
    """Write the columns by which metrics may be split: those of a relation without instants, else fields of records."""
    columns = [
        f"{{ column = G.columnOf e.{record}.{item.field}, value = G.taken at.{item.event} e.{record}.{item.field} }}"
        for item in grain.dimensions
    ]
    names = format_member(
        [f"{HOST}.name" if item.field == HOST else f"e.{record}.{item.field}.name" for item in grain.dimensions], 14, 26
    )
    derived = "" if grain.is_timeless else f"\n            , derived ={format_member(columns, 14, 23)}"
    return f"{derived}\n            , dimensions ={names}"


def _describe_grain(grain: GrainProposal) -> str:
    if grain.step_column:
        return f"A record of one of {len(grain.events)} events"
    return f"A `{grain.key}` on a host" if grain.key else f"A record of `{grain.events[0]}`"
