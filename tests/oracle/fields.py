"""Typed access to the fields of a log object: one that is missing or of another type is an error.

Where a field has a default, absent and null are the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HASH_LENGTH = 64


def read_integer(data: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """Read an integer field; `5.0` is 5, truth values and texts are errors."""
    value = data.get(name)
    if value is None and default is not None:
        return default
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name}: not an integer")
    return value


def read_real(data: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """Read a number as a double."""
    value = data.get(name)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name}: not a number")
    return float(value)


def read_text(data: Mapping[str, Any], name: str) -> str:
    """Read a text field."""
    value = data[name]
    if not isinstance(value, str):
        raise ValueError(f"{name}: not a text")
    return value


def read_point_hash(data: Mapping[str, Any], name: str) -> str:
    """Return the hash at the front of a point (`hash@slot`)."""
    return read_text(data, name)[:HASH_LENGTH]
