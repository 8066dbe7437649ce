"""Format an explanation as one screen of text or as plain data."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from assay.app.audit.explain import Explanation, RunFacts
from assay.app.audit.trace_runs import ConstantInputs, Line, Sample
from assay.explain.facts import DECIDING, DefinitionFact, EventFact, Facts, FieldFact
from assay.explain.terminal import (
    INDENT,
    SHORTEST,
    Part,
    fit_parts,
    format_bars,
    format_more,
    format_number,
    format_with_heading,
    format_with_unit,
    truncate_line,
    wrap_text,
)
from assay.lang.time_format import format_instant
from assay.lineage.constants import ConstantFact

MAX_RECORDS = 3  # shown per sample
SCREEN_LINES = 50
MIN_DEFINITION_LINES = 24  # reserved for the definition if a run is shown, too
#: Parts of higher rank are shortened first if space is short: first references, then inputs of the definition, then
#: the definition itself, and last its sentence.
RANKS = {
    **dict.fromkeys(("Also read", "Shown in"), 3),
    **dict.fromkeys(("Grain", "Filters", "Events", "Constants"), 2),
    "Means": 0,
}
DEFINITION_RANK = 1
MAX_WARNINGS = 2  # shown per run
MAX_KEY = 20  # characters shown of a key
DIRECT_ROLES = ("value", "picks")
#: What events and constants do that provide no values, by role.
INDIRECT_ROLES = {
    "picks": "they decide which rows values are taken from",
    "rows": "they decide which rows exist",
    "check": "only checks use them",
    "read": "they are read, but no value or row depends on them",
}
FIGURES = ("average", "median", "stddev", "min", "max")


def format_explanation(explanation: Explanation, width: int, encoding: str, *, full: bool = False) -> str:
    """Format the explanation in lines of at most `width` characters.

    The text has at most `SCREEN_LINES` lines, or everything with `full`. `encoding` is that of the terminal, which
    decides on the characters of bars.
    """
    head = list(_format_head(explanation.facts, width))
    line_limit = (sys.maxsize if full else SCREEN_LINES) - len(head) - 1
    parts = (
        Part.create(name, texts, width, RANKS.get(name, DEFINITION_RANK))
        for name, texts in describe_headings(explanation)
    )
    body = [part for part in parts if part.blocks]
    min_lines = sum(part.size if part.rank <= DEFINITION_RANK else min(part.size, SHORTEST) for part in body)
    min_lines = max(min_lines, min(MIN_DEFINITION_LINES, sum(part.size for part in body)))
    run_lines = (
        _fit_run(explanation, explanation.run, width, encoding, line_limit - min_lines) if explanation.run else []
    )
    return "\n".join([*head, "", *fit_parts(body, line_limit - len(run_lines), width), *run_lines])


def _fit_run(explanation: Explanation, run: RunFacts, width: int, encoding: str, line_limit: int) -> list[str]:
    """Format the result in a run, if possible within `line_limit` lines.

    To save lines, shows first fewer records of each sample, then fewer samples, but at least one of each.
    """
    candidates = [(len(run.largest), max_records) for max_records in range(MAX_RECORDS, 0, -1)]
    candidates += [(max_samples, 1) for max_samples in range(len(run.largest) - 1, 0, -1)]
    for max_samples, max_records in candidates:
        lines = ["", *_format_run(explanation, run, Screen(width, encoding), max_samples, max_records)]
        if len(lines) <= line_limit:
            break
    return lines


def _format_head(facts: Facts, width: int) -> Iterator[str]:
    yield truncate_line(f"{facts.label}  ({facts.system}, {facts.kind} {facts.id})", width)
    if facts.definition:
        yield truncate_line(f"definition {facts.definition}", max(width, 76))
    if facts.doc:
        yield from wrap_text(facts.doc, width, "", "")


def describe_headings(explanation: Explanation) -> Iterator[tuple[str, list[str]]]:
    """Yield the headings of the definition with their texts; names are in backquotes, instants in asterisks."""
    facts = explanation.facts
    yield "Means", [facts.sentence]
    yield "Over", [_format_definition(item) for item in facts.over]
    yield "Series", [_format_definition(item) for item in facts.series]
    yield "Instants", [_format_named_rule(item.name, item.rule, item.doc) for item in facts.instants]
    yield "Columns", [f"`{name}`: {text}" for name, text in facts.columns if text]
    yield "Fallbacks", list(facts.fallbacks)
    better = {"lower": "lower is better", "higher": "higher is better"}.get(facts.better, "")
    yield "Unit", ["; ".join(part for part in (_format_unit(facts), *facts.conversions, better) if part)]
    if facts.grain:
        key = ", ".join(facts.key)
        dimensions = f"dimensions: {', '.join(facts.dimensions)}" if facts.dimensions else ""
        query = f"SQL of its relation `{facts.relation}`: `assay sql {facts.id}`" if facts.relation else ""
        parts = (facts.grain_doc, facts.grain_made, f"key: {key}", dimensions, query)
        yield "Grain", [f"`{facts.grain}`: {'; '.join(part for part in parts if part)}"]
    yield "Filters", list(_format_filters(explanation))
    bound_events = {item.of for item in facts.instants}
    direct_events = [event for event in facts.events if event.role == "value" or event.name in bound_events]
    yield "Events", [text for event in direct_events for text in _format_event(event)]
    direct_constants = [item for item in facts.constants if item.role in DIRECT_ROLES]
    yield "Constants", [_format_constant(item) for item in direct_constants]
    other_events = [event for event in facts.events if event not in direct_events]
    yield "Also read", list(_format_others([*other_events, *facts.constants[len(direct_constants) :]]))
    yield "Quirks", [f"{name}: {text}" for name, text in facts.quirks]
    yield "Shown in", [*facts.breaks, *(describe_appearances(facts) or ["no report"])]


def _format_definition(definition: DefinitionFact) -> str:
    return f"`{definition.name}`: {definition.sentence}"


def _format_unit(facts: Facts) -> str:
    return facts.unit if facts.unit not in ("", "dimensionless") else "none"


def _format_named_rule(name: str, rule: str, doc: str) -> str:
    return f"*{name}*: {rule}" + (f" ({doc})" if doc else "")


def _format_filters(explanation: Explanation) -> Iterator[str]:
    facts = explanation.facts
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


def _format_others(entries: Sequence[EventFact | ConstantFact]) -> Iterator[str]:
    """Yield the events and constants that provide no values, by role."""
    for role, effect in INDIRECT_ROLES.items():
        names = ", ".join(_format_name(item) for item in entries if item.role == role)
        if names:
            yield f"{names}: {effect}"


def _format_name(item: EventFact | ConstantFact) -> str:
    """Return the name of an event or constant, of an event with the fields that decide on the number."""
    if isinstance(item, ConstantFact):
        return f"the run's {item.name}"
    fields = ", ".join(field.name for field in item.fields if field.role in DECIDING)
    return f"{item.name} ({fields})" if fields else item.name


def _format_constant(item: ConstantFact) -> str:
    default = "" if item.default is None else f"; default: {item.default or 'none'}"
    return f"`{item.name}`: {item.doc} — {item.place}{default}"


def _format_event(event: EventFact) -> Iterator[str]:
    names = "; ".join(": ".join(filter(None, (generation, ", ".join(texts)))) for generation, texts in event.names)
    yield f"`{event.name}`: {event.doc}" + (f" — {names}" if names else "")
    fields = [_format_field(item) for item in event.fields if item.role in DIRECT_ROLES]
    if fields:
        yield f"  fields: {', '.join(fields)}"
    deciding_fields = [_format_field(item) for item in event.fields if item.role == "rows"]
    if deciding_fields:
        yield f"  to decide which rows exist: {', '.join(deciding_fields)}"


def _format_field(item: FieldFact) -> str:
    return f"{item.name} ({'; '.join((' or '.join(item.places), *item.changes))})"


def describe_appearances(facts: Facts) -> list[str]:
    """Return a line for each report: its label of the value, and the places where the report shows it."""
    reports: dict[tuple[str, str], list[str]] = {}
    for item in facts.appearances:
        place = f"{item.kind} “{item.section}”" if item.section else item.kind
        reports.setdefault((item.report, item.label), []).append(place)
    return [f"{name} as “{label}”: {', '.join(dict.fromkeys(places))}" for (name, label), places in reports.items()]


@dataclass(frozen=True, slots=True)
class Screen:
    """What text is written to: its width in columns, and its encoding."""

    width: int
    encoding: str


def _format_run(
    explanation: Explanation, run: RunFacts, screen: Screen, max_samples: int, max_records: int
) -> Iterator[str]:
    """Yield the lines on a run: its figures, constants, warnings, histogram and largest samples."""
    width = screen.width
    symbol = explanation.subject.unit.symbol
    if "over" in run.figures:
        yield from _format_formula(explanation, run, width)
        return
    size, noun = run.figures["size"], "samples" if explanation.facts.kind == "metric" else "values"
    figures = [f"{name} {format_number(run.figures[name])}" for name in FIGURES if size and name in run.figures]
    unit = f" (in {symbol})" if symbol else ""
    yield from format_with_heading("Run", [f"{run.run}: {', '.join([f'{size} {noun}', *figures])}{unit}"], width)
    values = [f"{constant.name} {constant.text}" for constant in run.constant_inputs.constants]
    yield from format_with_heading("", [f"with the run's {', '.join(values)}"] if values else [], width)
    yield from _format_warnings(run, width)
    if run.spread:
        histogram = format_bars(run.spread.counts, screen.encoding)
        yield truncate_line(
            f"           {format_number(run.spread.low)} |{histogram}| {format_number(run.spread.high)}", width
        )
    if not run.largest:
        return
    yield ""
    yield f"Largest of {size} {noun}"
    for rank, sample in enumerate(run.largest[:max_samples], start=1):
        yield from format_sample(f"{rank}. ", sample, symbol, width, max_records)
    if max_samples < len(run.largest):
        yield truncate_line(format_more(len(run.largest) - max_samples), width)


def _format_formula(explanation: Explanation, run: RunFacts, width: int) -> Iterator[str]:
    """Format the value of a formula in a run, and the values that it is computed from."""
    value, input_values = run.figures["average"], cast(Mapping[str, object], run.figures["over"])
    result = "no value" if value is None else format_with_unit(cast(float, value), explanation.subject.unit.symbol)
    symbols = {metric.id: metric.unit.symbol for metric in explanation.subject.checked.package.metrics}
    values = [f"`{name}` {_format_value(input_value, symbols[name])}" for name, input_value in input_values.items()]
    yield from format_with_heading("Run", [f"{run.run}: {result}, over {', '.join(values)}"], width)
    yield from _format_warnings(run, width)


def _format_value(value: object, symbol: str) -> str:
    return "none" if value is None else format_with_unit(cast(float, value), symbol)


def _format_warnings(run: RunFacts, width: int) -> Iterator[str]:
    """Format the first warnings of a run, in full if it has no samples to show, and the number of the rest."""
    for text in (f"warning: {warning}" for warning in run.warnings[:MAX_WARNINGS]):
        yield from format_with_heading("", [text if not run.largest else truncate_line(text, width - INDENT)], width)
    if len(run.warnings) > MAX_WARNINGS:
        yield from format_with_heading("", [format_more(len(run.warnings) - MAX_WARNINGS)], width)


def format_sample(
    prefix: str, sample: Sample, symbol: str, width: int, max_records: int = MAX_RECORDS
) -> Iterator[str]:
    """Yield the lines of a sample: its value and keys, and one line for each of the first raw records behind it."""
    keys = ", ".join(_format_keys(sample))
    is_number = isinstance(sample.value, (int, float)) and not isinstance(sample.value, bool)
    value = format_with_unit(sample.value, symbol) if is_number else str(sample.value)
    yield truncate_line(f"{prefix}{value}  {keys}".rstrip(), width)
    for line in sample.lines[:max_records]:
        yield truncate_line(f"   {line.record.location}  {line.record.text}", width)
    if sample.records > max_records:
        more_records = sample.records - max_records
        yield truncate_line(f"   and {more_records} more {'record' if more_records == 1 else 'records'}", width)
    if sample.is_from_constants:
        yield "   no record: the value is computed from constants of the run"
    elif not sample.records:
        yield "   no record: the value is about missing records, or about the logs as a whole"


def _format_keys(sample: Sample) -> Iterator[str]:
    """Yield the keys of a sample that are not empty, shortened to fit into a line; instants come first.

    The host is empty if the logs are in the run's own folder.
    """
    for name in sorted(sample.keys, key=lambda name: name not in sample.instants):
        value = sample.keys[name]
        if value == "":
            continue
        if name in sample.instants and isinstance(value, int):
            yield f"{'at' if name == 't_ns' else name.removesuffix('_ns')} {format_instant(value)}"
        else:
            text = str(value)
            yield f"{name} {text if len(text) <= MAX_KEY else text[: MAX_KEY - 1] + '…'}"


def export_explanation(explanation: Explanation) -> dict[str, object]:
    """Return the explanation as plain data."""
    data: dict[str, object] = dataclasses.asdict(explanation.facts)
    data["columns"] = dict(explanation.facts.columns)
    data["breaks"] = list(explanation.facts.breaks)
    data["quirks"] = [{"relation": name, "text": text} for name, text in explanation.facts.quirks]
    for event in _filter_dicts(data["events"]):
        event["names"] = {generation: list(names) for generation, names in event["names"]}
    data["report"], data["summary"] = explanation.report, explanation.summary
    if explanation.run:
        data["run"] = export_run_facts(explanation.run)
    return data


def _filter_dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, (list, tuple)) else []


def export_run_facts(run: RunFacts) -> dict[str, object]:
    """Return the result in a run as plain data."""
    spread = run.spread and {"low": run.spread.low, "high": run.spread.high, "counts": list(run.spread.counts)}
    return {
        "id": run.run,
        **run.figures,
        "spread": spread,
        "largest": [export_sample(item) for item in run.largest],
        "constants": export_constants(run.constant_inputs),
        "warnings": list(run.warnings),
    }


def export_constants(inputs: ConstantInputs) -> list[dict[str, object]]:
    """Return the constants that values are computed from as plain data."""
    return [
        {
            "name": constant.name,
            "value": _export_value(constant.value),
            "place": constant.place,
            "is_defined": constant.is_defined,
        }
        for constant in inputs.constants
    ]


def export_sample(sample: Sample) -> dict[str, object]:
    """Return a sample as plain data."""
    return {
        "value": _export_value(sample.value),
        "measured": _export_value(sample.measured_value),
        "keys": _export_keys(sample.keys),
        "records": sample.records,
        "is_from_constants": sample.is_from_constants,
        "lines": [_export_line(item) for item in sample.lines],
    }


def _export_keys(keys: Mapping[str, object]) -> dict[str, object]:
    return {name: _export_value(value) for name, value in keys.items()}


def _export_value(value: object) -> object:
    """Convert a value to JSON: values other than finite numbers, texts and booleans become texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (int, float, str, bool)) else str(value)


def _export_line(item: Line) -> dict[str, object]:
    record = item.record
    return {
        "event": item.event,
        "host": item.host,
        "file": record.file,
        "line": record.line,
        "number": record.number,
        "text": record.text,
    }
