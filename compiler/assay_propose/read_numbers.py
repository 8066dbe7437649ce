"""Read the numbers of fields as their transforms do."""

from __future__ import annotations

import functools
import re

from assay.lang.record_units import WITH_UNIT
from assay.util.time_units import NANOSECONDS, SECOND, SPELLED_NANOSECONDS
from assay_propose.model import FieldProposal
from assay_propose.unit_words import read_number_with_unit

_SECONDS = {
    "m": NANOSECONDS["minute"] / SECOND,
    **{name: SPELLED_NANOSECONDS[name] / SECOND for name in ("h", "s", "ms", "us", "µs", "μs", "ns")},
}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|μs|ns|h|m|s)")
_SIZE = re.compile(r"([-+]?[\d.]+) ?([kKMGTP]?)(i?)B?")
_POWERS = "KMGTP"
_BEFORE = "before "  # transform with the text of a unit


def read_number(field: FieldProposal, value: object) -> float:
    """Return the number of a field; of a duration, in seconds."""
    text = str(value)
    match field.transform:
        case "grouped":
            return float(text.replace(",", ""))
        case "decimalComma":
            return float(text.replace(".", "").replace(",", "."))
        case "duration":
            seconds = read_duration(text)
            return -seconds if text.startswith("-") else seconds
        case "clockDuration":
            return _read_clock_duration(text)
        case "size" | "binarySize":
            return _read_size(text, is_binary=field.transform == "binarySize")
    if field.transform.startswith(_BEFORE):
        return float(text.partition(field.transform.removeprefix(_BEFORE)[1:-1])[0])
    if field.transform == WITH_UNIT:
        return read_number_with_unit(text, field.unit)
    return value if isinstance(value, float) else float(text)


def read_duration(text: str) -> float:
    """Return the seconds of a duration such as `1m2.5s`, without its sign."""
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))


def _read_clock_duration(text: str) -> float:
    """Return the seconds of a duration such as `1:02:03.5`, perhaps with days before it."""
    sign = -1.0 if text.startswith("-") else 1.0
    before, *others = text.lstrip("+-").split(":")
    days, _, first = before.replace("-", ".").rpartition(".")
    seconds = functools.reduce(lambda total, part: 60.0 * total + float(part), others, float(first))
    return sign * (86_400.0 * float(days or 0) + seconds)


def _read_size(text: str, is_binary: bool) -> float:
    """Return the bytes of a size."""
    match = _SIZE.fullmatch(text)
    if not match:
        return float("nan")
    power = _POWERS.index(match[2].upper()) + 1 if match[2] else 0
    factor = 1024.0 if is_binary or match[3] else 1000.0
    return float(match[1]) * float(factor**power)
