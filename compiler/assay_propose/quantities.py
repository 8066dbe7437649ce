"""Say what numbers measure: their unit, which direction is better, and which of them are worth a metric."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from assay_propose.choices import find_setting, is_member, is_sequel
from assay_propose.cumulative import is_bucket, is_cumulative
from assay_propose.known_formats import ONES, MetricRule, is_of_benchmarks
from assay_propose.model import EventProposal, FieldProposal, MetricProposal, Record, SourceProposal
from assay_propose.names import split_words
from assay_propose.parameters import is_choice, is_parameter, is_repetition_number
from assay_propose.read_numbers import read_number
from assay_propose.repeats import find_namesake
from assay_propose.sources import Group
from assay_propose.units import TIMES, UNITS, find_unit, find_unit_of_name, is_rate, is_rate_per_time
from assay_propose.varying import (
    FEW_RECORDS,
    count_values,
    find_restart,
    find_run_constant,
    is_average_since_start,
    is_constant,
    only_grows,
)

ZERO = "it is always 0"

#: words of names of rates that are better lower
_FAILURES = frozenset((
    "drop", "dropped", "drops", "error", "errors", "fail", "failed", "failures", "faults", "lost", "misses", "rejected",
    "retries", "stalls", "timeouts",
))  # fmt: skip
#: words of what work takes, apart from units, and of clocks, by which work is counted as by time
_COSTS = frozenset((
    "allocations", "allocs", "branches", "cost", "cycles", "energy", "eur", "instructions", "joules", "syscalls", "usd",
)) | _FAILURES  # fmt: skip
#: pieces of data, whose sizes are no costs
_DATA = frozenset((
    "block", "chunk", "file", "frame", "message", "msg", "packet", "page", "record", "row", "sample", "sector",
    "segment",
))  # fmt: skip
_ALLOCATIONS = frozenset(("alloc", "allocated", "allocation", "allocations"))  # of which a rate is neither
_CLOCKS = frozenset(("clock", "cycle", "cycles", "tick"))
#: words of things that have a duration of their own, and words of that duration
_MEDIA = frozenset((
    "audio", "clip", "episode", "film", "footage", "media", "movie", "recording", "song", "sound", "speech", "track",
    "utterance", "video",
))  # fmt: skip
_TIMES_TAKEN = (" elapsed ", " time taken ", " response time ", " latency ", " duration ")
#: last words of such names, apart from those of instants
_LAST_OF_TIMES = frozenset(("delay", "elapsed", "frametime", "time", "took"))
_INSTANTS = frozenset(("begin", "create", "created", "end", "ended", "expiry", "finish", "sim", "start", "started"))
_COUNTED = frozenset(("count", "errors", "id", "n", "num", "number", "per", "ratio", "samples", "share", "total"))
_LENGTHS = frozenset(("dur", "duration", "len", "length"))
#: names of numbers without a unit that are better lower: the time of work by that of what it processes
_LOWER_RATIOS = ("rtf", "real time factor")
_WORK_DONE = frozenset(("bandwidth", "throughput"))  # last words of names of work in a time, also without a unit
#: words of memory that is in use, and those that say that it is not
_MEMORY = frozenset(("heap", "mem", "memory", "ram", "rss"))
_UNUSED = frozenset(("available", "avail", "capacity", "free", "limit", "saved"))
_SIZES = ("byte", "kilobyte", "kibibyte", "megabyte", "mebibyte", "gigabyte", "gibibyte", "percent")
_LONG = 10 * 3600  # seconds
_MIN_SAMPLES = 2  # of a metric of a log with more records


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a number measures; with `omission` it is no metric, for this reason; `per` is a field that divides it."""

    unit: str
    better: str
    omission: str
    per: str = ""


def describe_quantity(group: Group, event: EventProposal, field: FieldProposal, text: str = "") -> Quantity:
    """Return what a number of an event measures; with `text`, in the rows that have it in the column of a split."""
    known_format, records = group.known_format, group.records[event.name]
    if not known_format:
        unit = _find_sample_unit(group, event, field)
        return Quantity(unit, field.better or _find_direction(event, field, unit), "")
    if text:
        records = [record for record in records if record.values.get((known_format.split[0],)) == text]
    is_value = field.path[-1] == "value" and event.names
    name = text or (event.names[0] if is_value else field.path[-1])
    rule = known_format.find_rule(name, field.place, group.facts.get(name, {}))
    unit = rule.unit or (find_unit_of_name(text)[0] if text and field.unit == "none" else field.unit)
    better = rule.better or field.better or _find_direction(event, field, unit, text)
    divisors = map(group.source.find_field, event.fields) if rule.per else ()
    per = next((item.name for item in divisors if item.path[-1] == rule.per), "")
    return Quantity(
        unit, better, _explain_omission(rule, field, records) or _explain_zeros(unit, better, field, records), per
    )


def _find_sample_unit(group: Group, event: EventProposal, field: FieldProposal) -> str:
    """Return the unit of a field; that of the value of a sample is in its name: `process_resident_memory_bytes`."""
    if group.source.kind != "samples" or field.path != ("value",):
        return field.unit
    unit, _ = find_unit(split_words(event.names[0]))
    return "none" if unit == "percent" else unit


def _find_direction(event: EventProposal, field: FieldProposal, unit: str, text: str = "") -> str:
    """Return which direction is better: less time and memory, more of anything a second but of time or failures.

    With `text`, the value is of what this names.
    """
    words = split_words(text or (event.names[0] if field.path == ("value",) and event.names else field.path[-1]))
    if is_rate(unit):
        is_measured = unit.split()[-1] in (*TIMES, "percent") or bool(_ALLOCATIONS & {*words})
        return "lower" if {*words} & _FAILURES else "neither" if is_measured else "higher"
    if unit in TIMES:
        return "neither" if is_length_of_media(event, field) else "lower"
    if unit == "none" and is_rate_per_time(words):
        return "lower" if {*words} & _FAILURES else "higher"
    if is_time_without_unit(event, field, unit):
        return "neither" if is_length_of_media(event, field) else "lower"
    if unit == "none" and words[-1:] and words[-1] in _WORK_DONE:
        return "higher"
    is_ratio = unit == "none" and any(f" {text} " in f" {' '.join(words)} " for text in _LOWER_RATIOS)
    is_memory = unit in _SIZES and bool({*words} & _MEMORY) and not {*words} & _UNUSED
    return "lower" if is_ratio or is_memory else _find_direction_per_work(words)


def _find_direction_per_work(words: Sequence[str]) -> str:
    """Return which direction is better of `cycles_per_access`, what work takes, and of `ops_per_cycle`, work done."""
    if "per" not in words[1:-1]:
        return "neither"
    place = words.index("per", 1)
    measured, work = {*words[:place]}, words[place + 1]
    if work in _CLOCKS:
        return "lower" if measured & _FAILURES else "higher"
    if UNITS.get(work) in TIMES:
        return "neither"
    unit = UNITS.get(words[place - 1], "")
    is_cost = measured & _COSTS or unit in TIMES or (unit in _SIZES[:-1] and work not in _DATA)
    return "lower" if is_cost else "higher" if "hits" in measured else "neither"


def is_length_of_media(event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a duration is that of what is processed, such as `audio_duration_s`, `audio.length`, `clip_s`.

    In lines of text, the words before a value may say so: `clip duration: 4.2 s`.
    """
    return any(
        first in _MEDIA and (second in _LENGTHS or second in UNITS)
        for words in _list_names(event, field)
        for first, second in itertools.pairwise(words)
    )


def is_time_without_unit(event: EventProposal, field: FieldProposal, unit: str) -> bool:
    """Return whether the name of a number without a unit is that of a time, such as `response_time`, `latency.p95`."""
    if unit != "none" or not field.is_quantity:
        return False
    names = [words for words in _list_names(event, field) if not _COUNTED & {*words}]
    is_last = any({*words[-1:]} & _LAST_OF_TIMES and not {*words} & _INSTANTS for words in names)
    return is_last or any(name in f" {' '.join(words)} " for words in names for name in _TIMES_TAKEN)


def lacks_unit(source: SourceProposal, metric: MetricProposal) -> bool:
    """Return whether a metric is a time by its name, so that less is better, but its unit is unknown."""
    events = [event for event in source.events if event.name == metric.event]
    if metric.better != "lower" or not metric.field or not events:
        return False
    return is_time_without_unit(events[0], source.find_field(metric.field), metric.unit)


def _list_names(event: EventProposal, field: FieldProposal) -> list[list[str]]:
    """Return the words of the path of a number, and those before it in lines of text."""
    texts = [" ".join(field.path)]
    texts += [name.partition(f"{{{field.name}")[0].rpartition("}")[2] for name in event.names if field.path[1:] == ()]
    return [split_words(text) for text in texts]


def list_omissions(group: Group) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a source that are no metrics, by the rules of its format, with the reasons."""
    column = group.known_format.split[0] if group.known_format else ""
    for event in group.source.events:
        for field in map(group.source.find_field, event.fields):
            if not field.is_quantity or not group.known_format:
                continue
            is_split = column and field.path[-1] == group.known_format.split[1]
            records = group.records[event.name] if is_split else ()
            texts = sorted({str(record.values[(column,)]) for record in records}) or [""]
            for text in texts:
                quantity = describe_quantity(group, event, field, text)
                if quantity.omission:
                    name = event.name if field.path[-1] == "value" and event.names else field.name
                    yield text or name, quantity.omission


def _explain_zeros(unit: str, better: str, field: FieldProposal, records: Sequence[Record]) -> str:
    """Return why a number that is always 0 is no metric; empty if it may become worse, such as a share of failures.

    A time that is always 0 is of a step that the runs do not take.
    """
    values = [record.values[field.path] for record in records if field.path in record.values]
    may_worsen = better != "neither" and unit not in TIMES
    is_measured = may_worsen or len(values) < FEW_RECORDS or any(read_number(field, value) for value in values)
    return "" if is_measured else ZERO


def _explain_omission(rule: MetricRule, field: FieldProposal, records: Sequence[Record]) -> str:
    if rule.omission != ONES:
        return rule.omission
    values = {str(record.values[field.path]) for record in records if field.path in record.values}
    return ONES if all(float(value) in (0, 1) for value in values) else ""


def choose_unit(group: Group, event: EventProposal, field: FieldProposal, unit: str) -> str:
    """Return the unit in which a number is reported: hours for many seconds, and no nanoseconds but of benchmarks."""
    if unit == "nanosecond" and field.unit == unit and not field.unit_of:
        return unit if is_of_benchmarks(group.source.format) else "millisecond"
    if unit != "second" or field.unit != unit:
        return unit
    values = [record.values[field.path] for record in group.records[event.name] if field.path in record.values]
    is_long = statistics.median(read_number(field, value) for value in values) >= _LONG
    return "hour" if is_long else unit


def list_quantities(group: Group, event: EventProposal, without: Collection[str] = ()) -> list[FieldProposal]:
    """Return the numbers of an event that are worth a metric: none that only grow, are constant, choices or ids.

    `without` are names of fields that have another use, such as a key.
    """
    fields = [field for field in map(group.source.find_field, event.fields)
              if field.is_quantity and field.name not in without]  # fmt: skip
    if group.known_format and not group.known_format.split[0]:
        fields = [field for field in fields if not describe_quantity(group, event, field).omission]
    records = group.records[event.name]
    least = _MIN_SAMPLES if group.source.records >= FEW_RECORDS else 1
    return sorted(
        (
            field
            for field in fields
            if (is_of_benchmarks(group.source.format) or not only_grows(records, field))
            and not (is_constant(group, event, field) and count_values(records, field) >= FEW_RECORDS)
            and not find_restart(group, event, field)
            and not is_bucket(event)
            and not is_cumulative(group, event, field)
            and not is_average_since_start(group, field)
            and (event.name, field.name) not in group.running
            and not is_choice(group, event, field)
            and not is_parameter(group, event, field)
            and not is_repetition_number(group, event, field)
            and not (find_run_constant(group, event, field) and not is_measured(group, event, field))
            and not find_setting(group, event, field)
            and not is_member(group, event, field)
            and not is_sequel(group, event, field)
            and not find_namesake(group, field)
            and sum(field.path in record.values for record in records) >= least
        ),
        key=lambda field: _rank_quantity(event, field, describe_quantity(group, event, field)),
    )


def is_measured(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a number is a result by its name or unit, also if each run has one value of it."""
    quantity = describe_quantity(group, event, field)
    return quantity.better != "neither" or quantity.unit != "none"


def _rank_quantity(event: EventProposal, field: FieldProposal, quantity: Quantity) -> tuple[bool, int]:
    """Return in which order numbers are measured: those with a direction first; times, others with a unit, the rest."""
    is_time = quantity.unit in TIMES or is_time_without_unit(event, field, quantity.unit)
    return quantity.better == "neither", 0 if is_time else 1 if quantity.unit != "none" else 2
