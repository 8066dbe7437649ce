"""Tell fields that vary as results do from those that only grow, are constant, or are choices of whoever ran it."""

from __future__ import annotations

import itertools
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.util.time_units import EPOCH_FORMS, TIME_UNITS
from assay_propose.dhall_text import format_texts, quote_text
from assay_propose.known_formats import is_of_benchmarks
from assay_propose.merge_templates import STEP
from assay_propose.model import EventProposal, FieldProposal, GrainProposal, Record, RunConstant
from assay_propose.names import split_words
from assay_propose.parameters import (
    GREATEST_CHOICE,
    is_choice,
    is_parameter,
    is_repetition_number,
    list_values,
)
from assay_propose.read_numbers import read_number
from assay_propose.sources import Group

FEW_RECORDS = 10
AVERAGES = "they are averages since a start"
REPETITIONS = "they number repetitions"  # reason for no metrics
_MIN_STEPS, _MIN_ONES = 4, 0.8  # steps from record to record, and the share of them that are one, of what counts up
_MIN_STEPS_OF_RESTART = 5  # records on average from one start of a counter to the next
_MIN_REPEATS = 5  # records of a run with a constant
_TIME_FORMS = {unit.name: form for unit in TIME_UNITS for form in EPOCH_FORMS if form in unit.spellings}
_ELAPSED = frozenset(("elapsed", "t", "time", "uptime"))  # words of names of elapsed time
_STEP = (STEP,)  # each has a total of its own
_INSTANTS = ("instant",)  # transforms of no quantity
_DECIMALS = re.compile(r"\d+(?:\.(\d+))?")
_FEW_VALUES = 12  # of what only grows there are more, or one for every other record
_FEW_STEPS = 3  # the same for whole numbers without a unit that are greater than any choice, such as counters


Rounded = tuple[float, float]  # a number, and what one of its last digit is


def list_growing_fields(group: Group) -> list[tuple[str, str]]:
    """Return the events and their numbers that would be worth a metric, but only grow.

    Results of benchmarks may be in any order.
    """
    source = group.source
    if is_of_benchmarks(source.format):
        return []
    return [
        (event.name, field.name)
        for event in source.events
        for field in map(source.find_field, event.fields)
        if field.is_quantity
        and only_grows(group.records[event.name], field)
        and not is_parameter(group, event, field)
        and (never_falls(group.records[event.name], field) or not is_repetition_number(group, event, field))
    ]


def list_constant_fields(group: Group, grains: Sequence[GrainProposal]) -> list[tuple[str, str]]:
    """Return the events and their fields that always are the same, apart from keys and fields with a metric."""
    source = group.source
    used = {(event, grain.key) for grain in grains for event in grain.events}
    used |= {(metric.event, name) for grain in grains for metric in grain.metrics
             for name in (metric.field, metric.where[0])}  # fmt: skip
    return [
        (event.name, field.name)
        for event in source.events
        for field in map(source.find_field, event.fields)
        if (event.name, field.name) not in used and is_constant(group, event, field)
    ]


def list_run_constants(group: Group) -> list[RunConstant]:
    """Return the fields that are the same in all records of a run, but not in all runs."""
    source = group.source
    return [
        constant
        for event in source.events
        for field in map(source.find_field, event.fields)
        if (constant := find_run_constant(group, event, field))
    ]


def is_constant(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a field is the same in all of several records. Known formats have rules of their own."""
    if group.known_format:
        return False
    values = list_values(group.records[event.name], field)
    return len(values) > 1 and len(set(values)) == 1


def find_run_constant(group: Group, event: EventProposal, field: FieldProposal) -> RunConstant | None:
    """Return the values of a field by run if each of several runs has many records with one, and not all the same."""
    if group.known_format:
        return None
    values: dict[str, list[str]] = defaultdict(list)
    for record in group.records[event.name]:
        if (value := record.values.get(field.path)) is not None:
            values[record.run].append(str(value))
    texts = {run: row[0] for run, row in values.items() if len(row) >= _MIN_REPEATS and len(set(row)) == 1}
    if len(texts) < len(values) or len(set(texts.values())) < 2:
        return None
    return RunConstant(event.name, field.name, tuple(texts.items()))


def list_repetitions(group: Group) -> Iterator[tuple[str, str]]:
    """Yield the names of numbers that would be worth a metric, but number repetitions, with the reason."""
    growing = {*list_growing_fields(group)}
    for event in group.source.events:
        for field in map(group.source.find_field, event.fields):
            is_growing = (event.name, field.name) in growing
            if field.is_quantity and not is_growing and is_repetition_number(group, event, field):
                yield field.name, REPETITIONS


def counts_up(records: Sequence[Record], field: FieldProposal) -> bool:
    """Return whether whole numbers grow by one from nearly each record of a host to its next, as positions do."""
    if field.type != "integer" or field.transform:
        return False
    steps = [b - a for row in _list_numbers_by_host(records, field) for a, b in itertools.pairwise(row)]
    return len(steps) >= _MIN_STEPS and sum(step == 1 for step in steps) >= _MIN_ONES * len(steps)


def only_grows(records: Sequence[Record], field: FieldProposal) -> bool:
    """Return whether a number never falls from record to record of a host, and has many values."""
    if field.transform in _INSTANTS:
        return False
    if counts_up(records, field):
        return True
    rows = _list_numbers_by_host(records, field)
    if len(records) < FEW_RECORDS:  # only positions, which grow by one
        return field.type == "integer" and all(
            len(row) > 1 and all(b - a == 1 for a, b in itertools.pairwise(row)) for row in rows
        )
    is_counter = field.type == "integer" and field.unit == "none" and any(max(row) > GREATEST_CHOICE for row in rows)
    few = _FEW_STEPS if is_counter else _FEW_VALUES
    has_many = any(len(set(row)) > min(few, len(row) // 2) for row in rows if len(row) > 1)
    return has_many and never_falls(records, field)


def is_average_since_start(group: Group, field: FieldProposal) -> bool:
    """Return whether a number is the average of all values of a host so far: a total over the number of records.

    The quotients of what only grows and the number count up, but for rounding. Somewhere, those of the same totals over
    the mean of the numbers do not, or else it may be a rate that hardly varies.
    """
    count = conclusive = 0
    for event in group.source.events:
        if field.name not in event.fields:
            continue
        records = group.records[event.name]
        totals = [total for total in map(group.source.find_field, event.fields)
                  if total.name != field.name and total.is_quantity and only_grows(records, total)]  # fmt: skip
        for total in totals:
            rows = zip(*(list_rounded_by_host(records, item) for item in (total, field)), strict=False)
            series = [_pair_filled(*row) for row in rows]
            series = [pairs for pairs in series if len(pairs) >= FEW_RECORDS]
            if series and not all(map(_count_up, series)):
                return False
            count += len(series)
            conclusive += sum(not _count_up(_flatten(pairs)) for pairs in series)
    return conclusive > count / 4


def list_averages(group: Group) -> Iterator[tuple[str, str]]:
    """Yield the names of numbers that would be worth a metric, but are averages since a start, with the reason."""
    for field in group.source.fields:
        if field.is_quantity and is_average_since_start(group, field):
            yield field.name, AVERAGES


def _pair_filled(totals: Sequence[Rounded], averages: Sequence[Rounded]) -> list[tuple[Rounded, Rounded]]:
    """Return totals with averages, without zeros at which both may be rounded; nothing if they are not as many."""
    if len(totals) != len(averages):
        return []
    return [(total, average) for total, average in zip(totals, averages, strict=True) if total[0] and average[0]]


def _flatten(pairs: Sequence[tuple[Rounded, Rounded]]) -> list[tuple[Rounded, Rounded]]:
    """Return pairs with the mean in place of each average."""
    mean = statistics.fmean(average for _, (average, _) in pairs)
    return [(total, (mean, digit)) for total, (_, digit) in pairs]


def _count_up(pairs: Sequence[tuple[Rounded, Rounded]]) -> bool:
    """Return whether quotients lie on a line that rises, within what their last digits leave open."""
    counts = [total / average for (total, _), (average, _) in pairs]
    bounds = [count * (first / total + second / average) / 2
              for count, ((total, first), (average, second)) in zip(counts, pairs, strict=True)]  # fmt: skip
    middle, last = len(counts) // 2, len(counts) - 1
    step = (counts[last] - counts[middle]) / (last - middle)
    of_step = (bounds[last] + bounds[middle]) / (last - middle)
    return step > 0 and all(
        abs(count - counts[middle] - (index - middle) * step) <= bound + bounds[middle] + abs(index - middle) * of_step
        for index, (count, bound) in enumerate(zip(counts, bounds, strict=True))
    )


def list_rounded_by_host(records: Sequence[Record], field: FieldProposal) -> list[list[Rounded]]:
    """Return the numbers of each host with what one of their last digit is."""
    rows: dict[tuple[object, ...], list[Rounded]] = defaultdict(list)
    for record in records:
        if (value := record.values.get(field.path)) is not None:
            number, match = read_number(field, value), _DECIMALS.search(str(value))
            digits = float(match[0]) if match else 0
            size = 10.0 ** -len(match[1] or "") * (number / digits) if match and digits else 0.0
            rows[record.host, record.values.get(_STEP)].append((number, size))
    return list(rows.values())


def never_falls(records: Sequence[Record], field: FieldProposal) -> bool:
    """Return whether no number of a host is less than the one before it."""
    return all(row == sorted(row) for row in _list_numbers_by_host(records, field))


def find_restart(group: Group, event: EventProposal, field: FieldProposal) -> str:
    """Return the counter of an event that starts again wherever a whole number falls; empty without one.

    The number only grows from one start to the next, such as the tokens of a conversation whose turns are counted.
    """
    if group.known_format or field.type != "integer" or field.transform or field.unit in _TIME_FORMS:
        return ""
    records = group.records[event.name]
    for other in map(group.source.find_field, event.fields):
        if other.type != "integer" or other.transform or is_choice(group, event, other):
            continue
        both = [record for record in records if field.path in record.values and other.path in record.values]
        rows = zip(_list_numbers_by_host(both, other), _list_numbers_by_host(both, field), strict=True)
        if len(both) == len(records) and _restarts_with(list(rows)):
            return other.path[-1]
    return ""


def _restarts_with(rows: Sequence[tuple[Sequence[float], Sequence[float]]]) -> bool:
    """Return whether the first numbers count up by one from a start to which they return, and the second fall there."""
    count = restarts = falls = 0
    for counter, numbers in rows:
        for (a, b), (c, d) in zip(itertools.pairwise(counter), itertools.pairwise(numbers), strict=True):
            is_restart = b == min(counter) < a
            if not (is_restart or b == a + 1) or (d < c and not is_restart):
                return False
            restarts, falls = restarts + is_restart, falls + (d < c)
        count += len(counter)
    return falls > restarts / 2 and count >= _MIN_STEPS_OF_RESTART * (restarts + len(rows))


def list_restarting(group: Group) -> Iterator[tuple[str, str]]:
    """Yield the names of numbers that would be worth a metric, but grow until a counter starts again."""
    growing = {*list_growing_fields(group)}
    for event in group.source.events:
        for field in map(group.source.find_field, event.fields):
            is_other = (event.name, field.name) in growing or is_repetition_number(group, event, field)
            if field.is_quantity and not is_other and (counter := find_restart(group, event, field)):
                yield field.name, f"they grow until `{counter}` starts again"


def note_elapsed_time(group: Group) -> Group:
    """Return a source without instants with a comment that names the column of elapsed time, if it has one."""
    source = group.source
    if source.time or source.kind == "samples":
        return group
    fields = (source.find_field(name) for _, name in list_growing_fields(group))
    field = next(
        (item for item in fields if item.unit in _TIME_FORMS or _ELAPSED & {*split_words(item.path[-1])}), None
    )
    if field is None:
        return group
    form = quote_text(_TIME_FORMS.get(field.unit, "s"))
    text = (
        f"no instants; `{field.path[-1]}` only grows: if it counts from the start of the run, it is the instant with\n"
        f"`time = {format_texts(field.path)}`, `timeForm = {form}` and `start`: "
        "docs/sources.md#times-relative-to-a-start"
    )
    return replace(group, source=replace(source, reasons=(*source.reasons, ("time", text))))


def count_values(records: Sequence[Record], field: FieldProposal) -> int:
    """Return how many records have a field."""
    return sum(field.path in record.values for record in records)


def _list_numbers_by_host(records: Sequence[Record], field: FieldProposal) -> list[list[float]]:
    """Return the numbers of each host, of samples those of each combination of labels."""
    rows: dict[tuple[object, ...], list[float]] = defaultdict(list)
    is_sample = field.path == ("value",)
    for record in records:
        if (value := record.values.get(field.path)) is not None:
            labels = [item for item in record.values.items() if item[0][0] == "labels"] if is_sample else ()
            rows[record.host, record.values.get(_STEP), *labels].append(read_number(field, value))
    return list(rows.values())
