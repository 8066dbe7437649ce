"""The values of a statement's places, as they are given to the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

LEAST, GREATEST = -(2**63), 2**63 - 1


def bind_parameters(names: Iterable[str], constants: Mapping[str, object]) -> dict[str, object] | None:
    """The constants that a statement has places for; None, which is what the engine takes for none.

    Whole numbers are of 64 bits: the engine would take small ones to be of 32, and end where products are beyond.
    """
    return {name: _wide(constants[name]) for name in names} or None


def _wide(value: object) -> object:
    from duckdb.value.constant import LongValue

    if isinstance(value, bool) or not isinstance(value, int) or not LEAST <= value <= GREATEST:
        return value
    return LongValue(value)
