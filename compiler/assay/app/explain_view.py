"""Format an explanation as one screen of text, and as data."""

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

RECORDS = 3  # shown per sample
SCREEN = 50  # lines
LEAST = 24  # lines reserved for the definition if a run is shown, too
#: Parts of higher rank are shortened first if space is short: first references, then inputs of the definition, then
#: the definition itself, and last its sentence.
RANKS = {
    **dict.fromkeys(("Also read", "Shown in"), 3),
    **dict.fromkeys(("Grain", "Filters", "Events", "Constants"), 2),
    "Means": 0,
}
DEFINES = 1
WARNINGS = 2  # shown per run
KEY = 20  # characters shown of a key
DIRECT = ("value", "picks")
#: The roles of events and constants that provide no values, in words.
OTHERS = {
    "picks": "they decide which rows values are taken from",
    "rows": "they decide which rows there are",
    "check": "they decide in checks alone",
    "read": "texts on the way read them, and no value or row depends on it",
}
FIGURES = ("average", "median", "stddev", "min", "max")


def as_text(explained: Explained, width: int, encoding: str, *, full: bool = False) -> str:
    """Format the explanation: at most `SCREEN` lines, or everything with `full`."""
    head, room = list(_head(explained.facts, width)), SCREEN if not full else sys.maxsize
    parts = (Part.of(name, texts, width, RANKS.get(name, DEFINES)) for name, texts in describe_headings(explained))
    body = [part for part in parts if part.blocks]
    least = sum(part.size if part.rank <= DEFINES else min(part.size, SHORTEST) for part in body)
    least = max(least, min(LEAST, sum(part.size for part in body)))
    run = _run_fitted(explained, explained.run, width, encoding, room - len(head) - 1 - least) if explained.run else []
    return "\n".join([*head, "", *fitted(body, room - len(head) - 1 - len(run), width), *run])


def _run_fitted(explained: Explained, run: RunFacts, width: int, encoding: str, room: int) -> list[str]:
    """Format the result in a run to fit into `room` lines.

    Reduces first the records of each sample, then the samples; at least one of each is shown.
    """
    candidates = [(len(run.largest), records) for records in range(RECORDS, 0, -1)]
    candidates += [(samples, 1) for samples in range(len(run.largest) - 1, 0, -1)]
    for samples, records in candidates:
        lines = ["", *_run(explained, run, width, encoding, samples, records)]
        if len(lines) <= room:
            break
    return lines


def _head(facts: Facts, width: int) -> Iterator[str]:
    yield one_line(f"{facts.label}  ({facts.system}, {facts.kind} {facts.id})", width)
    if facts.definition:
        yield one_line(f"definition {facts.definition}", max(width, 76))
    if facts.doc:
        yield from wrapped(facts.doc, width, "", "")


def describe_headings(explained: Explained) -> Iterator[tuple[str, list[str]]]:
    """Yield the definition heading by heading. Names are in backquotes, instants in asterisks."""
    facts = explained.facts
    yield "Means", [facts.sentence]
    yield "Over", [_defined(item) for item in facts.over]
    yield "Series", [_defined(item) for item in facts.series]
    yield "Instants", [_named(item.name, item.found, item.doc) for item in facts.instants]
    yield "Columns", [f"`{name}`: {text}" for name, text in facts.columns if text]
    yield "Fallbacks", list(facts.fallbacks)
    better = {"lower": "lower is better", "higher": "higher is better"}.get(facts.better, "")
    yield "Unit", ["; ".join(part for part in (_unit(facts), *facts.conversions, better) if part)]
    if facts.grain:
        key = ", ".join(facts.key)
        parts = (facts.grain_doc, facts.grain_made, f"key: {key}")
        yield "Grain", [f"`{facts.grain}`: {'; '.join(part for part in parts if part)}"]
    yield "Filters", list(_filters(explained))
    bound = {item.of for item in facts.instants}
    direct = [event for event in facts.events if event.role == "value" or event.name in bound]
    yield "Events", [text for event in direct for text in _event(event)]
    direct_constants = [item for item in facts.constants if item.role in DIRECT]
    yield "Constants", [_constant(item) for item in direct_constants]
    rest = [event for event in facts.events if event not in direct]
    yield "Also read", list(_others([*rest, *facts.constants[len(direct_constants) :]]))
    yield "Quirks", [f"{name}: {text}" for name, text in facts.quirks]
    yield "Shown in", describe_appearances(facts) or ["no report"]


def _defined(definition: DefinitionFact) -> str:
    return f"`{definition.name}`: {definition.sentence}"


def _unit(facts: Facts) -> str:
    return facts.unit if facts.unit not in ("", "dimensionless") else "none"


def _named(name: str, rule: str, doc: str) -> str:
    return f"*{name}*: {rule}" + (f" ({doc})" if doc else "")


def _filters(explained: Explained) -> Iterator[str]:
    facts = explained.facts
    if facts.kind == "series":
        return
    if not facts.filtered:
        yield "none: filters do not decide on it"
        return
    for item in facts.filters:
        effect = "" if item.demands else " (through other grains)" if item.decides else " (does not decide here)"
        yield f"{item.label}: {item.doc or item.demands}{effect}"
    if not facts.filters:
        yield "none applied"
    if facts.could_filter:
        yield f"{len(facts.could_filter)} more could be applied, and are part of the definition"


def _others(rest: Sequence[EventFact | ConstantFact]) -> Iterator[str]:
    """Yield the events and constants that provide no values, by role."""
    for role, effect in OTHERS.items():
        names = ", ".join(_called(item) for item in rest if item.role == role)
        if names:
            yield f"{names}: {effect}"


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
    """Return a line for each report: the places where it shows the value, and the label."""
    reports: dict[tuple[str, str], list[str]] = {}
    for item in facts.shown:
        place = f"{item.kind} “{item.section}”" if item.section else item.kind
        reports.setdefault((item.report, item.label), []).append(place)
    return [f"{name} as “{label}”: {', '.join(dict.fromkeys(places))}" for (name, label), places in reports.items()]


def _run(explained: Explained, run: RunFacts, width: int, encoding: str, samples: int, records: int) -> Iterator[str]:
    symbol = explained.subject.unit.symbol
    if "over" in run.figures:
        yield from _formula(explained, run, width)
        return
    size, noun = run.figures["size"], "samples" if explained.facts.kind == "metric" else "values"
    figures = [f"{name} {number(run.figures[name])}" for name in FIGURES if size and name in run.figures]
    unit = f" (in {symbol})" if symbol else ""
    yield from headed("Run", [f"{run.run}: {', '.join([f'{size} {noun}', *figures])}{unit}"], width)
    values = [f"{constant.name} {constant.text}" for constant in run.made.constants]
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


def _formula(explained: Explained, run: RunFacts, width: int) -> Iterator[str]:
    """Format the value of a formula in a run, and the values that it is computed from."""
    value, over = run.figures["average"], cast(Mapping[str, object], run.figures["over"])
    result = "no value" if value is None else with_unit(cast(float, value), explained.subject.unit.symbol)
    symbols = {metric.id: metric.unit.symbol for metric in explained.subject.checked.package.metrics}
    values = [f"`{name}` {_valued(input_value, symbols[name])}" for name, input_value in over.items()]
    yield from headed("Run", [f"{run.run}: {result}, over {', '.join(values)}"], width)
    yield from _warnings(run, width)


def _valued(value: object, symbol: str) -> str:
    return "none" if value is None else with_unit(cast(float, value), symbol)


def _warnings(run: RunFacts, width: int) -> Iterator[str]:
    """Format the first warnings of a run, and the number of the rest."""
    for note in run.warnings[:WARNINGS]:
        yield from headed("", [one_line(f"warning: {note}", width - INDENT)], width)
    if len(run.warnings) > WARNINGS:
        yield from headed("", [more(len(run.warnings) - WARNINGS)], width)


def sample_lines(before: str, sample: Sample, symbol: str, width: int, records: int = RECORDS) -> Iterator[str]:
    """Yield the lines of a sample: its value, its keys, and one line for each of the first raw records behind it."""
    keys = ", ".join(_keys(sample))
    is_number = isinstance(sample.value, (int, float)) and not isinstance(sample.value, bool)
    value = with_unit(sample.value, symbol) if is_number else str(sample.value)
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
    """Yield the keys of a sample, shortened to fit into a line; instants come first."""
    for name in sorted(sample.keys, key=lambda name: name not in sample.instants):
        value = sample.keys[name]
        if name in sample.instants and isinstance(value, int):
            yield f"{'at' if name == 't_ns' else name.removesuffix('_ns')} {format_instant(value)}"
        else:
            text = str(value)
            yield f"{name} {text if len(text) <= KEY else text[: KEY - 1] + '…'}"


def as_data(explained: Explained) -> dict[str, object]:
    """Return the explanation as plain data."""
    data: dict[str, object] = dataclasses.asdict(explained.facts)
    data["columns"] = dict(explained.facts.columns)
    data["quirks"] = [{"relation": name, "text": text} for name, text in explained.facts.quirks]
    for event in _listed(data["events"]):
        event["names"] = {generation: list(names) for generation, names in event["names"]}
    data["report"], data["summary"] = explained.report, explained.summary
    if explained.run:
        data["run"] = run_data(explained.run)
    return data


def _listed(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, (list, tuple)) else []


def run_data(run: RunFacts) -> dict[str, object]:
    """Return the result in a run as plain data."""
    spread = run.spread and {"low": run.spread.low, "high": run.spread.high, "counts": list(run.spread.counts)}
    return {
        "id": run.run,
        **run.figures,
        "spread": spread,
        "largest": [sample_data(item) for item in run.largest],
        "constants": constants_data(run.made),
        "warnings": list(run.warnings),
    }


def constants_data(inputs: ConstantInputs) -> list[dict[str, object]]:
    """Return the constants that values are computed from as plain data."""
    return [
        {"name": constant.name, "value": _plain_value(constant.value), "place": constant.place, "told": constant.told}
        for constant in inputs.constants
    ]


def sample_data(sample: Sample) -> dict[str, object]:
    """Return a sample as plain data."""
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
    """Convert a value for JSON: values other than finite numbers, texts and booleans become texts."""
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
