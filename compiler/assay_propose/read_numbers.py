"""Read the numbers of fields as their transforms do."""

from __future__ import annotations

import re

from assay_propose.model import FieldProposal

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|μs|ns|h|m|s)")
_SIZE = re.compile(r"([-+]?[\d.]+) ?([kKMGTP]?)(i?)B?")
_POWERS = "KMGTP"


def read_number(field: FieldProposal, value: object) -> float:
    """Return the number of a field; of a duration, in seconds."""
    text = str(value)
    match field.transform:
        case "grouped":
            return float(text.replace(",", ""))
        case "decimalComma":
            return float(text.replace(".", "").replace(",", "."))
        case "duration":
            seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
            return -seconds if text.startswith("-") else seconds
        case "size" | "binarySize":
            return _read_size(text, is_binary=field.transform == "binarySize")
    return value if isinstance(value, float) else float(text)


def _read_size(text: str, is_binary: bool) -> float:
    """Return the bytes of a size."""
    match = _SIZE.fullmatch(text)
    if not match:
        return float("nan")
    power = _POWERS.index(match[2].upper()) + 1 if match[2] else 0
    factor = 1024.0 if is_binary or match[3] else 1000.0
    return float(match[1]) * float(factor**power)
