"""Choose the unit of numbers that records have in several units, and convert numbers to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from assay.lang.model.vocabulary import Unit
from assay.lang.record_units import WITH_UNIT, find_kind, list_factors, simplify_unit, split_number
from assay_propose.units import ValueType, write_rate

_BYTES_OF_BITS = {"bit": "byte", "kilobit": "kilobyte", "megabit": "megabyte", "gigabit": "gigabyte"}


def select_unit(names: Counter[str]) -> str:
    """Return the most frequent of the units of one quantity, the least of these."""
    return min(names, key=lambda name: (-names[name], _measure(name), name))


def _measure(name: str) -> float:
    """Return how great a unit is, compared with others of its quantity."""
    factors = list_factors(Unit(name, ""))
    return -float(max(factors.values(), default=0))


def write_unit_word(name: str) -> str:
    """Return a unit as a word of the schema."""
    measured, _, time = name.partition(" / ")
    measured = _BYTES_OF_BITS.get(measured, measured)
    return write_rate("none" if measured == "dimensionless" else measured, time) if time else measured


def _get_unit_name(unit: str) -> str:
    """Return the name of the unit of a word of the schema; that of `list_factors`."""
    if " / " in unit:
        return unit
    measured, per, rest = unit.partition("PerSecond")
    if per and not rest:
        return f"{measured} / second"
    rate, _, measured = unit.partition(" ")
    return f"{measured or 'dimensionless'} / second" if rate == "perSecond" else unit


def convert_number(number: float, text: str, unit: str) -> float:
    """Return a number in the unit that a text names as one in a unit, a word of the schema."""
    factor = list_factors(Unit(_get_unit_name(unit), ""))[simplify_unit(text)]
    return number if factor == 1 else number * factor.numerator / factor.denominator


def has_unit(text: str) -> bool:
    """Return whether a text is a number with a known unit behind it, such as `85%` or `1.5MB/s`."""
    parts = split_number(text)
    return parts is not None and bool(find_kind(parts[1])[0])


def read_number_with_unit(text: str, unit: str) -> float:
    """Return the number of a text with its unit behind it, in a unit, a word of the schema."""
    parts = split_number(text)
    return convert_number(float(parts[0]), parts[1], unit) if parts else float("nan")


def describe_with_units(texts: Collection[str]) -> ValueType | None:
    """Return the type of numbers with units of one quantity behind them; None for other texts."""
    parts = [split_number(text) for text in texts]
    kinds = [find_kind(part[1]) if part else ("", "") for part in parts]
    if len({kind for kind, _ in kinds}) != 1 or not kinds[0][0]:
        return None
    names = Counter(name for _, name in kinds)
    unit = write_unit_word(select_unit(names))
    examples = sorted(min(text for text, kind in zip(texts, kinds, strict=True) if kind[1] == name) for name in names)
    reason = f"numbers with their unit such as {' and '.join(examples)}"
    return ValueType("real", WITH_UNIT, unit, reason, len(set(texts)) > 1)
