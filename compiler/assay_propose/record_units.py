"""Find numbers whose unit another field of their record names, and convert them to one unit of each quantity."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.lang.record_units import DATA_RATE, RATE, TIME, find_kind
from assay_propose.dhall_text import quote_text
from assay_propose.model import FieldProposal, KeyPath, Record
from assay_propose.names import split_words
from assay_propose.unit_words import convert_number, select_unit, write_unit_word
from assay_propose.units import find_unit

MAX_TEXTS = 12  # of a field that names units
_UNIT_WORDS = frozenset(("unit", "units"))
_COUNTS = frozenset((
    "batch", "clients", "concurrency", "count", "forks", "id", "index", "iter", "iterations", "iters", "n", "no", "num",
    "number", "repetition", "repetitions", "reps", "runs", "samples", "size", "threads", "workers",
))  # fmt: skip
#: words of numbers that are results, if a field only says that it is the unit
_RESULTS = re.compile(
    r"score|value|result|mean|avg|average|median|min|max|error|deviation|std\w*|dev|estimate|bound|quantile|percentile"
    r"|p\d+|time|latency|duration|elapsed|rate|throughput|best|worst"
)
_WORK = re.compile(r"(?:/| per )\s*[A-Za-z]\w*$")


@dataclass(frozen=True, slots=True)
class Conversion:
    """Numbers at a path of which the unit is at another: their quantity, their unit as a word of the schema.

    `symbol` is the text of units of no known quantity. `better` is the direction that the unit tells.
    """

    place: KeyPath
    unit_path: KeyPath
    kind: str
    unit: str
    better: str


def convert_units(
    records: Sequence[Record], format_units: Mapping[str, KeyPath]
) -> tuple[list[Record], dict[KeyPath, Conversion]]:
    """Return the records with numbers in one unit of each quantity, and the conversions by the path of the numbers.

    Numbers of several quantities have a path of their own for each, which begins with the quantity. `format_units` are
    paths of units by the last keys of the numbers, of a known format.
    """
    stated = {*format_units.values()}
    unit_paths = [path for path in _list_unit_paths(records) if _has_units(records, path, path in stated)]
    conversions: dict[KeyPath, Conversion] = {}
    places: dict[KeyPath, tuple[KeyPath, dict[str, Conversion]]] = {}
    for place, unit_path in _match_numbers(records, unit_paths, format_units):
        by_kind = _find_conversions(records, place, unit_path)
        is_single = len(by_kind) == 1 and all(unit_path in r.values for r in records if place in r.values)
        conversions |= {place if is_single else (item.kind, *place): item for item in by_kind.values()}
        places[place] = (unit_path, by_kind)
    if not places:
        return list(records), {}
    return [_convert_record(record, places, conversions) for record in records], conversions


def attach_units(
    fields: Sequence[FieldProposal], conversions: Mapping[KeyPath, Conversion]
) -> tuple[FieldProposal, ...]:
    """Return fields with the units that their records name."""
    names = {field.path: field.name for field in fields}
    return tuple(
        replace(field, type="real", unit=item.unit, unit_of=names[item.unit_path], is_quantity=True,
                quantity=item.kind if field.path != item.place else "", better=item.better,
                reason=f"records name their unit in `{'.'.join(item.unit_path)}`")
        if (item := conversions.get(field.path)) and item.unit_path in names else field
        for field in fields
    )  # fmt: skip


def _list_unit_paths(records: Sequence[Record]) -> list[KeyPath]:
    paths = dict.fromkeys(path for record in records for path in record.values)
    return [path for path in paths if {*split_words(path[-1])[-1:]} & _UNIT_WORDS]


def _has_units(records: Sequence[Record], path: KeyPath, is_stated: bool) -> bool:
    """Return whether the values at a path are few texts, of which some name units, unless the format states it."""
    values = {record.values[path] for record in records if path in record.values}
    if not all(isinstance(value, str) for value in values) or not 0 < len(values) <= MAX_TEXTS:
        return False
    return (is_stated and len(values) > 1) or any(find_kind(str(value))[0] for value in values)


def _match_numbers(
    records: Sequence[Record], unit_paths: Sequence[KeyPath], format_units: Mapping[str, KeyPath]
) -> Iterator[tuple[KeyPath, KeyPath]]:
    """Yield the paths of numbers without a unit of their own, each with the path of its unit.

    It is the nearest, and of several in one object that of its name: `latency_unit` for `latency`.
    """
    pairs = {(path, unit) for record in records for unit in unit_paths if unit in record.values
             for path in record.values if path[: len(unit) - 1] == unit[:-1]}  # fmt: skip
    paths = dict.fromkeys(path for record in records for path in record.values)
    by_unit: dict[KeyPath, list[KeyPath]] = defaultdict(list)
    for path in (path for path in paths if _is_number(records, path)):
        around = [unit for unit in unit_paths if (path, unit) in pairs]
        if path[-1] in format_units:
            yield from ((path, unit) for unit in around if unit == format_units[path[-1]])
        elif around and not {*split_words(path[-1])} & _COUNTS and find_unit(split_words(path[-1]))[0] == "none":
            nearest = max(around, key=lambda unit: (len(unit), _is_named(path, unit), len(split_words(unit[-1])) == 1))
            by_unit[nearest].append(path)
    for unit, of_unit in by_unit.items():
        chosen = [path for path in of_unit if _is_named(path, unit)]
        chosen = chosen or [
            path for path in of_unit if any(map(_RESULTS.fullmatch, _list_words(path[len(unit) - 1 :])))
        ]
        yield from ((path, unit) for path in chosen or (of_unit if len(of_unit) == 1 else ()))


def _is_named(path: KeyPath, unit: KeyPath) -> bool:
    """Return whether the name of a unit has that of a number before it, such as `score_unit` that of `score_error`."""
    words = split_words(unit[-1])[:-1]
    return bool(words) and set(words) <= _list_words(path[len(unit) - 1 :])


def _list_words(keys: Sequence[str]) -> set[str]:
    return {word for key in keys for word in split_words(key)}


def _is_number(records: Sequence[Record], path: KeyPath) -> bool:
    values = [record.values[path] for record in records if path in record.values]
    return all(not isinstance(value, bool) and _read_number(value) is not None for value in values)


def _read_number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _find_conversions(records: Sequence[Record], place: KeyPath, unit_path: KeyPath) -> dict[str, Conversion]:
    """Return the conversion of each quantity of the numbers at a place: to its most frequent unit, the least of these.

    A text of no known unit is a quantity of its own.
    """
    texts = Counter(
        str(record.values[unit_path]) for record in records if place in record.values and unit_path in record.values
    )
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for text, count in texts.items():
        kind, name = find_kind(text)
        by_kind[kind or text][name] += count
    conversions = {}
    for kind, names in by_kind.items():
        first = next(text for text in texts if (find_kind(text)[0] or text) == kind)
        is_per_work = kind not in (TIME, RATE, DATA_RATE) and bool(_WORK.search(first))
        better = "higher" if kind in (RATE, DATA_RATE) else "lower" if is_per_work else ""
        name = select_unit(names)
        unit = write_unit_word(name) if name else quote_text(first)
        conversions[kind] = Conversion(place, unit_path, kind, unit, better)
    return conversions


def _convert_record(
    record: Record,
    places: Mapping[KeyPath, tuple[KeyPath, Mapping[str, Conversion]]],
    conversions: Mapping[KeyPath, Conversion],
) -> Record:
    values: dict[KeyPath, object] = {}
    for path, value in record.values.items():
        unit_path, by_kind = places.get(path, ((), {}))
        text = record.values.get(unit_path)
        if text is None:
            values[path] = value
            continue
        kind = find_kind(str(text))[0]
        item = by_kind[kind or str(text)]
        number = _read_number(value)
        assert number is not None
        if kind:
            number = convert_number(number, str(text), item.unit)
        values[path if path in conversions else (item.kind, *path)] = number
    return replace(record, values=values)
