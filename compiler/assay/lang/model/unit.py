"""The unit of a number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its pint expression (`mebibyte / second`) and the symbol that reports print (`MiB/s`)."""

    name: str
    symbol: str
