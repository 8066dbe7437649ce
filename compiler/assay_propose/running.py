"""Recognize numbers that sum up or average another number of their records so far, also if they are rounded."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay_propose.known_formats import is_of_benchmarks
from assay_propose.model import EventProposal
from assay_propose.sources import Group
from assay_propose.varying import AVERAGES, FEW_RECORDS, Rounded, list_rounded_by_host, only_grows

TOTALS = "they are totals since a start"
GROWING = "they only grow"
_MIN_ALIKE, _BEFORE = 2, 2  # events with a total or an average at a place; characters before such a place
_MIN_DIGITS = 3  # by which a total grows, in units of its last digit
_MIN_MOVES = 8  # of an average that the last number explains
_MAX_STRANGE = 50  # checks for each one that fails: restarts, and lines that are missing
_MIN_SIDE = 0.1  # share of the numbers that are above an average, and below it
_SMOOTH = 0.5  # how far an average moves at most, compared with the distances of numbers from it
_FACTORS = tuple(1000.0**power for power in range(-3, 4))  # of units of a total and of what it sums up

_Rows = Sequence[Sequence[Rounded]]


def add_running(group: Group) -> Group:
    """Return a source with the numbers of its events that are totals or averages of another number so far."""
    if group.known_format or is_of_benchmarks(group.source.format) or group.source.kind == "samples":
        return group
    proven = {
        (event.name, name): reason for event in group.source.events for name, reason in _list_running(group, event)
    }
    alike = dict(_list_alike(group, proven)) if group.source.kind == "text-lines" else {}
    running = {key: reason for key, reason in (proven | alike).items() if reason != GROWING}
    return replace(group, running=running)


def _list_running(group: Group, event: EventProposal) -> Iterator[tuple[str, str]]:
    """Yield the numbers of an event that another one of its records explains, with the reason for no metric."""
    records = group.records[event.name]
    if len(records) < FEW_RECORDS:
        return
    fields = [field for field in map(group.source.find_field, event.fields) if field.is_quantity]
    growing = {field.name for field in fields if only_grows(records, field)}
    rows: Mapping[str, _Rows] = {field.name: list_rounded_by_host(records, field) for field in fields}
    yield from ((name, GROWING) for name in growing)  # a reason of its own
    for field in (field for field in fields if field.name not in growing):
        others = [rows[other.name] for other in fields if other.name != field.name]
        others = [other for other in others if [*map(len, other)] == [*map(len, rows[field.name])]]
        if any(_is_total(rows[field.name], other) for other in others):
            yield field.name, TOTALS
        elif any(_is_average(rows[field.name], other) for other in others):
            yield field.name, AVERAGES


def _list_alike(group: Group, proven: Mapping[tuple[str, str], str]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the numbers at places of lines where most other lines have totals or averages: `[5.13s (42.69ms/blk)]`.

    A rounded number that hardly changes does not show by itself that it is a total.
    """
    places: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for event in group.source.events:
        texts = re.split(r"\{(\w+)\}", event.names[0]) if event.names else []
        for before, name, after in zip(texts[::2], texts[1::2], texts[2::2], strict=False):
            places[before[-_BEFORE:], after].append((event.name, name))
    for (before, after), keys in places.items():
        reasons = Counter(TOTALS if proven[key] == GROWING else proven[key] for key in keys if key in proven)
        is_marked = any(mark in before + after for mark in "([")
        if is_marked and reasons and reasons.total() >= max(_MIN_ALIKE, len(keys) / 4):
            (reason, _), *_ = reasons.most_common(1)
            yield from ((key, reason) for key in keys if proven.get(key) != GROWING)


def _is_total(totals: _Rows, others: _Rows) -> bool:
    """Return whether numbers are, but for rounding, the sums of others so far, in each series of a host."""
    checks = 0
    for row, other in zip(totals, others, strict=True):
        growth, summed = row[-1][0] - row[0][0], _sum([other[1:]])
        digit = max(digit for _, digit in row)
        if any(b < a for (a, _), (b, _) in itertools.pairwise(row)) or growth < _MIN_DIGITS * digit or summed <= 0:
            return False
        factor = _find_factor(summed, growth)
        total, bound = row[0][0], digit
        for (value, _), (step, digit_of_step) in zip(row[1:], other[1:], strict=True):
            total, bound = total + factor * step, bound + factor * digit_of_step / 2
            if abs(value - total) > bound + 1e-9 * abs(total):
                return False
        checks += len(row) - 1
    return checks >= FEW_RECORDS - 1


def _sum(rows: _Rows) -> float:
    return math.fsum(value for row in rows for value, _ in row)


def _find_factor(number: float, other: float) -> float:
    """Return the factor of units by which a number comes next to another one."""
    return min(_FACTORS, key=lambda factor: abs(factor * number - other))


def _is_average(averages: _Rows, others: _Rows) -> bool:
    """Return whether numbers move towards another one of their record, and by much less than its distance from them."""
    factor = _find_factor(_sum(others), _sum(averages))
    moves = strange = count = above = 0
    moved = distances = 0.0
    for row, other in zip(averages, others, strict=True):
        for ((before, _), (after, digit)), (value, digit_of_value) in zip(
            itertools.pairwise(row), other[1:], strict=True
        ):
            move, distance = after - before, factor * value - before
            if abs(distance) < digit + factor * digit_of_value:
                continue
            moved, distances = moved + abs(move), distances + abs(distance)
            count, above = count + 1, above + (distance > 0)
            if abs(move) < digit * 0.9 or not move:
                continue
            moves += 1
            strange += move * distance < 0
            if strange > 1 and strange * _MAX_STRANGE > moves + len(row):
                return False
    is_between = min(above, count - above) >= _MIN_SIDE * count
    is_explained = moves >= _MIN_MOVES and strange * _MAX_STRANGE <= moves
    return is_between and is_explained and moved <= _SMOOTH * distances


def list_running(group: Group) -> Iterator[tuple[str, str]]:
    """Yield the names of numbers that are totals or averages of another one so far, with the reason."""
    items = dict.fromkeys((name, reason) for (_, name), reason in group.running.items())
    yield from ((name, reason) for name, reason in items if group.source.find_field(name).is_quantity)
