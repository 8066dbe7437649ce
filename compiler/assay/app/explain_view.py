"""An explanation as one screen of text, and as data."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from assay.app.explain import Explained, RunFacts
from assay.app.trace_runs import ConstantInputs, Line, Sample
from assay.explain.facts import DefinitionFact, EventFact, Facts, FieldFact
from assay.explain.terminal import (
    INDENT,
    SHORTEST,
    Part,
    bars,
    fitted,
    headed,
    more,
    number,
    one_line,
    with_unit,
    wrapped,
)
from assay.lang.time_format import format_instant
from assay.lineage.constants import ConstantFact

RECORDS = 3  # of a sample that are shown
SCREEN = 50  # lines of a screen
LEAST = 24  # lines of it that what specs say has beside a run, if it is so long
#: what is shortened first where there is no room for all: where else things are; what the definition is made over; the
#: definition itself, the sentence of which is the last
RANKS = {
    **dict.fromkeys(("Also read", "Shown in"), 3),
    **dict.fromkeys(("Grain", "Filters", "Events", "Constants"), 2),
    "Means": 0,
}
DEFINES = 1
WARNINGS = 2  # of a run that are shown
KEY = 20  # characters of a key that are shown
DIRECT = ("value", "picks")
#: what events do that give no values
OTHERS = {
    "picks": "they decide which rows values are taken from",
    "rows": "they decide which rows there are",
    "check": "they decide in checks alone",
    "read": "texts on the way read them, and no value or row depends on it",
}
FIGURES = ("average", "median", "stddev", "min", "max")


def as_text(found: Explained, width: int, encoding: str, *, full: bool = False) -> str:
    """The screen: at most `SCREEN` lines, unless all is asked for."""
    head, room = list(_head(found.facts, width)), SCREEN if not full else sys.maxsize
    parts = (Part.of(name, texts, width, RANKS.get(name, DEFINES)) for name, texts in describe_headings(found))
    body = [part for part in parts if part.blocks]
    least = sum(part.size if part.rank <= DEFINES else min(part.size, SHORTEST) for part in body)
    least = max(least, min(LEAST, sum(part.size for part in body)))
    run = _run_fitted(found, found.run, width, encoding, room - len(head) - 1 - least) if found.run else []
    return "\n".join([*head, "", *fitted(body, room - len(head) - 1 - len(run), width), *run])


def _run_fitted(found: Explained, run: RunFacts, width: int, encoding: str, room: int) -> list[str]:
    """What a run holds, with as many records of each sample, and as many samples, as there is room for; one of each at
    least."""
    ways = [(len(run.largest), records) for records in range(RECORDS, 0, -1)]
    ways += [(samples, 1) for samples in range(len(run.largest) - 1, 0, -1)]
    for samples, records in ways:
        lines = ["", *_run(found, run, width, encoding, samples, records)]
        if len(lines) <= room:
            break
    return lines


def _head(facts: Facts, width: int) -> Iterator[str]:
    yield one_line(f"{facts.label}  ({facts.system}, {facts.kind} {facts.id})", width)
    if facts.definition:
        yield one_line(f"definition {facts.definition}", max(width, 76))
    if facts.doc:
        yield from wrapped(facts.doc, width, "", "")


def describe_headings(found: Explained) -> Iterator[tuple[str, list[str]]]:
    """All that specs say, heading by heading; names stand between backquotes, instants between asterisks."""
    facts = found.facts
    yield "Means", [facts.sentence]
    yield "Over", [_defined(one) for one in facts.over]
    yield "Series", [_defined(one) for one in facts.series]
    yield "Instants", [_named(one.name, one.found, one.doc) for one in facts.instants]
    yield "Columns", [f"`{name}`: {text}" for name, text in facts.columns if text]
    yield "Fallbacks", list(facts.fallbacks)
    better = {"lower": "lower is better", "higher": "higher is better"}.get(facts.better, "")
    yield "Unit", ["; ".join(part for part in (_unit(facts), *facts.conversions, better) if part)]
    if facts.grain:
        key = ", ".join(facts.key)
        parts = (facts.grain_doc, facts.grain_made, f"key: {key}")
        yield "Grain", [f"`{facts.grain}`: {'; '.join(part for part in parts if part)}"]
    yield "Filters", list(_filters(found))
    bound = {one.of for one in facts.instants}
    direct = [event for event in facts.events if event.role == "value" or event.name in bound]
    yield "Events", [text for event in direct for text in _event(event)]
    given = [one for one in facts.constants if one.role in DIRECT]
    yield "Constants", [_constant(one) for one in given]
    rest = [event for event in facts.events if event not in direct]
    yield "Also read", list(_others([*rest, *facts.constants[len(given) :]]))
    yield "Quirks", [f"{name}: {text}" for name, text in facts.quirks]
    yield "Shown in", describe_appearances(facts) or ["no report"]


def _defined(one: DefinitionFact) -> str:
    return f"`{one.name}`: {one.sentence}"


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
        how = "" if item.demands else " (through other grains)" if item.decides else " (does not decide here)"
        yield f"{item.label}: {item.doc or item.demands}{how}"
    if not facts.filters:
        yield "none applied"
    if facts.could_filter:
        yield f"{len(facts.could_filter)} more could be applied, and are part of the definition"


def _others(rest: Sequence[EventFact | ConstantFact]) -> Iterator[str]:
    """The events and constants that give no values, by what they do."""
    for role, does in OTHERS.items():
        names = ", ".join(_called(item) for item in rest if item.role == role)
        if names:
            yield f"{names}: {does}"


def _called(item: EventFact | ConstantFact) -> str:
    return f"the run's {item.name}" if isinstance(item, ConstantFact) else item.name


def _constant(item: ConstantFact) -> str:
    default = "" if item.default is None else f"; where it is not told: {item.default or 'none'}"
    return f"`{item.name}`: {item.doc} — {item.place}{default}"


def _event(event: EventFact) -> Iterator[str]:
    names = "; ".join(f"{generation}: {', '.join(texts)}" for generation, texts in event.names)
    yield f"`{event.name}`: {event.doc}" + (f" — {names}" if names else "")
    fields = [_field(item) for item in event.fields if item.role in DIRECT]
    if fields:
        yield f"  fields: {', '.join(fields)}"


def _field(item: FieldFact) -> str:
    return f"{item.name} ({'; '.join((' or '.join(item.places), *item.changes))})"


def describe_appearances(facts: Facts) -> list[str]:
    """A line a report: where in it, and under which label."""
    reports: dict[tuple[str, str], list[str]] = {}
    for item in facts.shown:
        where = f"{item.kind} “{item.section}”" if item.section else item.kind
        reports.setdefault((item.report, item.label), []).append(where)
    return [f"{name} as “{label}”: {', '.join(dict.fromkeys(places))}" for (name, label), places in reports.items()]


def _run(found: Explained, run: RunFacts, width: int, encoding: str, samples: int, records: int) -> Iterator[str]:
    symbol = found.subject.unit.symbol
    if "over" in run.figures:
        yield from _formula(found, run, width)
        return
    size, noun = run.figures["size"], "samples" if found.facts.kind == "metric" else "values"
    told = [f"{name} {number(run.figures[name])}" for name in FIGURES if size and name in run.figures]
    unit = f" (in {symbol})" if symbol else ""
    yield from headed("Run", [f"{run.run}: {', '.join([f'{size} {noun}', *told])}{unit}"], width)
    values = [f"{one.name} {one.text}" for one in run.made.constants]
    yield from headed("", [f"with the run's {', '.join(values)}"] if values else [], width)
    yield from _warnings(run, width)
    if run.spread:
        drawn = bars(run.spread.counts, encoding)
        yield one_line(f"           {number(run.spread.low)} |{drawn}| {number(run.spread.high)}", width)
    if not run.largest:
        return
    yield ""
    yield f"Largest of {size} {noun}"
    for place, sample in enumerate(run.largest[:samples], start=1):
        yield from sample_lines(f"{place}. ", sample, symbol, width, records)
    if samples < len(run.largest):
        yield one_line(more(len(run.largest) - samples), width)


def _formula(found: Explained, run: RunFacts, width: int) -> Iterator[str]:
    """What a formula comes to, and the values that it is over."""
    value, over = run.figures["average"], cast(Mapping[str, object], run.figures["over"])
    said = "no value" if value is None else with_unit(cast(float, value), found.subject.unit.symbol)
    known = {metric.id: metric.unit.symbol for metric in found.subject.checked.package.metrics}
    values = [f"`{name}` {_valued(of, known[name])}" for name, of in over.items()]
    yield from headed("Run", [f"{run.run}: {said}, over {', '.join(values)}"], width)
    yield from _warnings(run, width)


def _valued(value: object, symbol: str) -> str:
    return "none" if value is None else with_unit(cast(float, value), symbol)


def _warnings(run: RunFacts, width: int) -> Iterator[str]:
    """The first warnings of a run, and how many more there are."""
    for note in run.warnings[:WARNINGS]:
        yield from headed("", [one_line(f"warning: {note}", width - INDENT)], width)
    if len(run.warnings) > WARNINGS:
        yield from headed("", [more(len(run.warnings) - WARNINGS)], width)


def sample_lines(before: str, sample: Sample, symbol: str, width: int, records: int = RECORDS) -> Iterator[str]:
    """A sample: its value, what it is of, and the first raw records behind it, a line each, cut to the width."""
    keys = ", ".join(_keys(sample))
    number_ = isinstance(sample.value, (int, float)) and not isinstance(sample.value, bool)
    value = with_unit(sample.value, symbol) if number_ else str(sample.value)
    yield one_line(f"{before}{value}  {keys}".rstrip(), width)
    for line in sample.lines[:records]:
        yield one_line(f"   {line.record.where}  {line.record.text}", width)
    if sample.records > records:
        rest = sample.records - records
        yield one_line(f"   and {rest} more {'record' if rest == 1 else 'records'}", width)
    if sample.given:
        yield "   no record: it is made of constants of the run"
    elif not sample.records:
        yield "   no record: it stands for what was not logged, or for the logs as a whole"


def _keys(sample: Sample) -> Iterator[str]:
    """What a sample is of, as one line has room for it: instants, which are dates and times, first."""
    for name in sorted(sample.keys, key=lambda name: name not in sample.instants):
        value = sample.keys[name]
        if name in sample.instants and isinstance(value, int):
            yield f"{'at' if name == 't_ns' else name.removesuffix('_ns')} {format_instant(value)}"
        else:
            text = str(value)
            yield f"{name} {text if len(text) <= KEY else text[: KEY - 1] + '…'}"


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
        "constants": constants_data(run.made),
        "warnings": list(run.warnings),
    }


def constants_data(made: ConstantInputs) -> list[dict[str, object]]:
    """The constants of a run that values are made of, as plain data."""
    return [
        {"name": one.name, "value": _plain_value(one.value), "place": one.place, "told": one.told}
        for one in made.constants
    ]


def sample_data(sample: Sample) -> dict[str, object]:
    """A sample as plain data."""
    return {
        "value": _plain_value(sample.value),
        "measured": _plain_value(sample.measured),
        "keys": _plain(sample.keys),
        "records": sample.records,
        "given": sample.given,
        "lines": [_line(item) for item in sample.lines],
    }


def _plain(keys: Mapping[str, object]) -> dict[str, object]:
    return {name: _plain_value(value) for name, value in keys.items()}


def _plain_value(value: object) -> object:
    """A value as JSON can hold it: what is no finite number, text or truth is told as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (int, float, str, bool)) else str(value)


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
