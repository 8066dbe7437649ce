"""Find records that sum up others, such as rows of totals and averages of repetitions, or that measured nothing."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay_propose.model import EventProposal, Exclusion, FieldProposal, KeyPath, Record
from assay_propose.names import split_words

_TOTALS = frozenset(("aggregate", "aggregated", "all", "grand total", "overall", "sum", "total", "totals"))

#: what Google Benchmark appends to the name of a benchmark that it repeated
_AGGREGATES = ("mean", "median", "stddev", "cv", "BigO", "RMS")
_NOTHING_MEASURED = frozenset(("error", "failed", "skipped"))
_TOLERANCE = 1e-6
_MIN_GROUPS, _MIN_ALIKE = 5, 0.9  # records at one instant, and the share of them with a total
_MIN_PARTS = 2
_MIN_SUMS = 2  # numbers of a table without instants that are totals
_MAX_VALUES = 100  # of a field whose values may be totals


def exclude_records(
    events: Sequence[EventProposal],
    by_event: Mapping[str, Sequence[Record]],
    fields: Sequence[FieldProposal],
    time: KeyPath,
    is_of_benchmarks: bool,
) -> tuple[tuple[EventProposal, ...], dict[str, Sequence[Record]]]:
    """Return events with what metrics leave out of them, and the other records of each."""
    result: list[EventProposal] = []
    remaining: dict[str, Sequence[Record]] = {}
    paths = {field.name: field.path for field in fields}
    for event in events:
        records = by_event[event.name]
        of_event = [field for field in fields if field.name in event.fields]
        excluded = find_exclusions(records, of_event, time, is_of_benchmarks)
        result.append(replace(event, excluded=excluded))
        remaining[event.name] = [
            record for record in records if not any(item.has(record.values.get(paths[item.field])) for item in excluded)
        ]
    return tuple(result), remaining


def find_exclusions(
    records: Sequence[Record], fields: Sequence[FieldProposal], time: KeyPath, is_of_benchmarks: bool
) -> tuple[Exclusion, ...]:
    """Return which records of an event are no samples of their own, with the reason."""
    texts = [field for field in fields if field.type == "text" and not field.is_quantity]
    exclusions = list(_list_without_result(records, fields)) if is_of_benchmarks else []
    for field in texts:
        values = Counter(str(record.values[field.path]) for record in records if field.path in record.values)
        if not 1 < len(values) <= _MAX_VALUES:
            continue
        exclusions += _list_totals(records, fields, field, values, time, is_of_benchmarks)
        if is_of_benchmarks and not exclusions:
            exclusions += _list_aggregates(field, values)
    return tuple(exclusions)


def _list_without_result(records: Sequence[Record], fields: Sequence[FieldProposal]) -> Iterator[Exclusion]:
    for field in fields:
        if field.type == "boolean" and _NOTHING_MEASURED & {*split_words(field.path[-1])}:
            count = sum(str(record.values.get(field.path)).lower() == "true" for record in records)
            if 0 < count < len(records):
                yield Exclusion(field.name, ("true",), "", count, "failed or skipped, so nothing was measured")


def _list_aggregates(field: FieldProposal, values: Counter[str]) -> Iterator[Exclusion]:
    """Yield the names of benchmarks that are another with what was computed from its repetitions."""
    pattern = re.compile(rf"(.+)_(?:{'|'.join(_AGGREGATES)})")
    named = [value for value in values if (match := pattern.fullmatch(value)) and match[1] in values]
    if named:
        count = sum(values[value] for value in named)
        yield Exclusion(field.name, (), pattern.pattern.replace("(.+)", ".+"), count, "computed from repetitions")


def _list_totals(
    records: Sequence[Record],
    fields: Sequence[FieldProposal],
    field: FieldProposal,
    values: Counter[str],
    time: KeyPath,
    is_of_benchmarks: bool,
) -> Iterator[Exclusion]:
    numbers = [item for item in fields if item.type in ("integer", "real")]
    groups = _group_by_instant(records, field, time)
    for value in values:
        word = value.strip().lower()
        if word in _TOTALS or _is_total(groups, value, field, numbers, is_timed=bool(time)):
            reason = "computed from repetitions" if is_of_benchmarks else "totals of the others"
            yield Exclusion(field.name, (value,), "", values[value], reason)


def _group_by_instant(records: Sequence[Record], field: FieldProposal, time: KeyPath) -> list[list[Record]]:
    groups: dict[tuple[str, object], list[Record]] = defaultdict(list)
    for record in records:
        if field.path in record.values:
            groups[record.host, record.values.get(time)].append(record)
    return list(groups.values())


def _is_total(
    groups: Sequence[Sequence[Record]],
    value: str,
    field: FieldProposal,
    numbers: Sequence[FieldProposal],
    is_timed: bool,
) -> bool:
    """Return whether a number of the records with a value is the sum of those of the others at the same instant.

    Without instants, at least two numbers are such sums.
    """
    sums = 0
    for number in numbers:
        alike = [
            is_sum for group in groups
            if (is_sum := _is_sum_of_others(group, value, field.path, number.path)) is not None
        ]  # fmt: skip
        if is_timed and len(alike) >= _MIN_GROUPS and sum(alike) >= _MIN_ALIKE * len(alike):
            return True
        sums += not is_timed and len(alike) > 0 and all(alike)
    return sums >= _MIN_SUMS


def _is_sum_of_others(group: Sequence[Record], value: str, path: KeyPath, number: KeyPath) -> bool | None:
    """Return whether one record of a group is the sum of the others; None if it has no parts that could tell."""
    totals = [_read(record, number) for record in group if record.values[path] == value]
    parts = [_read(record, number) for record in group if record.values[path] != value]
    present = [part for part in parts if part is not None]
    if len(totals) != 1 or totals[0] is None or sum(part != 0 for part in present) < _MIN_PARTS:
        return None
    return math.isclose(totals[0], math.fsum(present), rel_tol=_TOLERANCE)


def _read(record: Record, path: KeyPath) -> float | None:
    try:
        return float(str(record.values[path]))
    except (KeyError, ValueError):
        return None
