"""An explanation as one screen of text, and as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from assay.audit.facts import EventFact, Facts, FieldFact
from assay.audit.screen import bars, headed, number, one_line, with_unit, wrapped
from assay.build.explain import Explained, RunFacts
from assay.build.trace_run import Line, Sample

RECORDS = 3  # of a sample that are shown
DIRECT = ("value", "picks")
FIGURES = ("average", "median", "stddev", "min", "max")


def as_text(found: Explained, width: int, encoding: str) -> str:
    """The screen."""
    lines = [*_head(found.facts, width), "", *_body(found, width)]
    if found.run:
        lines += ["", *_run(found, found.run, width, encoding)]
    return "\n".join(lines)


def _head(facts: Facts, width: int) -> Iterator[str]:
    yield one_line(f"{facts.label}  ({facts.system}, {facts.kind} {facts.id})", width)
    if facts.definition:
        yield one_line(f"definition {facts.definition}", max(width, 76))
    if facts.doc:
        yield from wrapped(facts.doc, width, "", "")


def _body(found: Explained, width: int) -> Iterator[str]:
    facts = found.facts
    yield from headed("Means", [facts.sentence], width)
    yield from headed("Instants", [_named(one.name, one.found, one.doc) for one in facts.instants], width)
    yield from headed("Columns", [f"`{name}`: {text}" for name, text in facts.columns if text], width)
    yield from headed("Fallbacks", facts.fallbacks, width)
    better = {"lower": "lower is better", "higher": "higher is better"}.get(facts.better, "")
    yield from headed("Unit", ["; ".join(part for part in (_unit(facts), *facts.conversions, better) if part)], width)
    if facts.grain:
        key = ", ".join(facts.key)
        yield from headed("Grain", [f"`{facts.grain}`: {facts.grain_doc}; key: {key}"], width)
    yield from headed("Filters", _filters(found), width)
    direct = [event for event in facts.events if event.role in DIRECT]
    yield from headed("Events", [text for event in direct for text in _event(event)], width)
    others = [event.name for event in facts.events if event.role not in DIRECT]
    yield from headed("Also read", [f"{', '.join(others)}: decide which rows there are"] if others else [], width)
    yield from headed("Quirks", [f"{name}: {text}" for name, text in facts.quirks], width)
    yield from headed("Shown in", _shown(facts) or ["no report"], width)


def _unit(facts: Facts) -> str:
    return facts.unit if facts.unit not in ("", "dimensionless") else "none"


def _named(name: str, found: str, doc: str) -> str:
    return f"*{name}*: {found}" + (f" ({doc})" if doc else "")


def _filters(found: Explained) -> Iterator[str]:
    facts = found.facts
    if facts.kind == "series":
        return
    if not facts.filtered:
        yield "none: filters do not decide on it"
        return
    for item in facts.filters:
        yield f"{item.label}: {item.doc or item.demands}" + ("" if item.demands else " (decides on a coarser grain)")
    if not facts.filters:
        yield "none applied"
    if facts.could_filter:
        yield f"could be applied: {', '.join(facts.could_filter)}"


def _event(event: EventFact) -> Iterator[str]:
    names = "; ".join(f"{generation}: {', '.join(texts)}" for generation, texts in event.names)
    yield f"`{event.name}`: {event.doc}" + (f" — {names}" if names else "")
    fields = [_field(item) for item in event.fields if item.role in DIRECT]
    if fields:
        yield f"  fields: {', '.join(fields)}"


def _field(item: FieldFact) -> str:
    return f"{item.name} ({' or '.join(item.places)})"


def _shown(facts: Facts) -> list[str]:
    """A line a report: where in it, and under which label."""
    reports: dict[str, list[str]] = {}
    for item in facts.shown:
        where = f"{item.kind} “{item.section}”" if item.section else item.kind
        reports.setdefault(item.report, []).append(where)
    return [f"{name} as “{facts.label}”: {', '.join(dict.fromkeys(places))}" for name, places in reports.items()]


def _run(found: Explained, run: RunFacts, width: int, encoding: str) -> Iterator[str]:
    symbol = found.checked.metric(found.facts.id).unit.symbol if found.facts.kind == "metric" else _series_symbol(found)
    size = run.figures["size"]
    told = [f"{name} {number(run.figures[name])}" for name in FIGURES if name in run.figures]
    yield from headed("Run", [f"{run.run}: " + ", ".join([f"{size} samples", *told]) + f" {symbol}".rstrip()], width)
    for note in run.warnings:
        yield from headed("", [f"warning: {note}"], width)
    if run.spread:
        drawn = bars(run.spread.counts, encoding)
        yield one_line(f"           {number(run.spread.low)} |{drawn}| {number(run.spread.high)}", width)
    yield ""
    yield f"Largest of {size} samples"
    for place, sample in enumerate(run.largest, start=1):
        yield from sample_lines(f"{place}. ", sample, symbol, width)


def _series_symbol(found: Explained) -> str:
    return str(found.item.unit.symbol)


def sample_lines(before: str, sample: Sample, symbol: str, width: int) -> Iterator[str]:
    """A sample: its value, what it is of, and the raw records behind it, a line each, cut to the width."""
    keys = ", ".join(f"{name} {value}" for name, value in sample.keys.items())
    yield one_line(f"{before}{with_unit(sample.value, symbol)}  {keys}", width)
    for line in sample.lines[:RECORDS]:
        yield one_line(f"   {line.record.where}  {line.record.text}", width)
    if sample.records > RECORDS:
        yield one_line(f"   and {sample.records - RECORDS} more records", width)
    if not sample.records:
        yield "   no record: nothing was logged that would make it another"


def as_data(found: Explained) -> dict[str, object]:
    """The explanation as plain data."""
    data: dict[str, object] = dataclasses.asdict(found.facts)
    data["columns"] = dict(found.facts.columns)
    data["quirks"] = [{"relation": name, "text": text} for name, text in found.facts.quirks]
    for event in _listed(data["events"]):
        event["names"] = {generation: list(names) for generation, names in event["names"]}
    data["report"], data["summary"] = found.report, found.summary
    if found.run:
        data["run"] = run_data(found.run)
    return data


def _listed(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, (list, tuple)) else []


def run_data(run: RunFacts) -> dict[str, object]:
    """What a run holds, as plain data."""
    spread = run.spread and {"low": run.spread.low, "high": run.spread.high, "counts": list(run.spread.counts)}
    return {
        "id": run.run,
        **run.figures,
        "spread": spread,
        "largest": [sample_data(item) for item in run.largest],
        "warnings": list(run.warnings),
    }


def sample_data(sample: Sample) -> dict[str, object]:
    """A sample as plain data."""
    return {
        "value": sample.value,
        "measured": sample.measured,
        "keys": _plain(sample.keys),
        "records": sample.records,
        "lines": [_line(item) for item in sample.lines],
    }


def _plain(keys: Mapping[str, object]) -> dict[str, object]:
    return {name: value if isinstance(value, (int, float, str, bool)) else str(value) for name, value in keys.items()}


def _line(item: Line) -> dict[str, object]:
    record = item.record
    return {
        "event": item.event,
        "host": item.host,
        "file": record.file,
        "line": record.line,
        "number": record.number,
        "text": record.text,
    }
