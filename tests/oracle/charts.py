"""Chart points as texts (section 8, last paragraph).

Machine metrics are plotted through two reciprocals, 1 / (1 / x): durations in whole picoseconds, each
rounded down; integers rounded to the nearest, half to even; reals as doubles.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from tests.oracle.distribution import CENTILES, Exact, Population, summarize_centile
from tests.oracle.instants import SECOND
from tests.oracle.resources import WORD
from tests.oracle.texts import PICOSECOND_DIGITS, format_decimal, format_exactly, format_integer, shorten_text

PICO: int = 10**PICOSECOND_DIGITS
_INFINITE: int = 1 << 1024  # an infinite double as a whole number

WIDTHS: Mapping[str, int] = {
    **dict.fromkeys(("CentiCpu", "CentiGC", "CentiMut", "GcsMajor", "GcsMinor"), 3),
    **dict.fromkeys(("cdfStarts", "cdfBlockBattle", "cdfBlockGap"), 4),
    **dict.fromkeys(("RSS", "Heap", "Live", "Alloc", "NetRd", "NetWr", "FsRd", "FsWr"), 5),
    **dict.fromkeys(("cdfSpanLensCpu", "cdfSpanLensCpuEpoch", "cdfBlocksPerHost", "cdfDensity"), 5),
    **dict.fromkeys(("cdfBlocksChainedRatio", "cdfBlocksFilteredRatio"), 5),
    "cdfBlockSize": 9,
}
DURATION_WIDTH = 4
UNPLOTTED = frozenset({"CentiBlkIO", "Threads", "cdfSpanLensCpuRwd", "cdfLeads", "cdfUtxo", "cdfHostSlots"})


class _NumberKind(NamedTuple):
    """How numbers of a kind pass through the reciprocals and are written."""

    to_number: Callable[[Exact], Exact]
    invert_twice: Callable[[float], Exact]
    subtract: Callable[[Exact, Exact], Exact]
    add: Callable[[Exact, Exact], Exact]
    to_text: Callable[[Exact, int], str]


def _compute_reciprocal(x: float) -> float:
    return math.inf if x == 0 else 1 / x


def _invert_duration_twice(seconds: float) -> int:
    inverse = _compute_reciprocal(seconds)
    picoseconds: int = _INFINITE * PICO if math.isinf(inverse) else math.floor(Fraction(inverse) * PICO)
    return PICO * PICO // picoseconds


def _invert_integer_twice(x: float) -> int:
    return round(_compute_reciprocal(_compute_reciprocal(x)))


_DURATION = _NumberKind(
    lambda ns: int(ns) * (PICO // SECOND),
    _invert_duration_twice,
    operator.sub,
    operator.add,
    lambda x, width: shorten_text(format_exactly(int(x), PICOSECOND_DIGITS), width),
)
_WHOLE = _NumberKind(
    int, _invert_integer_twice, operator.sub, operator.add, lambda x, width: format_integer(int(x), width)
)
_COUNT = _WHOLE._replace(
    invert_twice=lambda x: _invert_integer_twice(x) % WORD,
    subtract=lambda x, y: int(x - y) % WORD,
    add=lambda x, y: int(x + y) % WORD,
)
_REAL = _NumberKind(
    float,
    lambda x: _compute_reciprocal(_compute_reciprocal(x)),
    operator.sub,
    operator.add,
    lambda x, width: shorten_text(format_decimal(float(x)), width),
)
_SIGNED = frozenset({"cdfSpanLensCpu", "cdfSpanLensCpuEpoch"})
_REALS = frozenset({"cdfDensity", "cdfBlocksChainedRatio", "cdfBlocksFilteredRatio"})


def _compute_real_deviation(samples: Sequence[Exact]) -> float:
    """Return the deviation in doubles, where equal reals can deviate in the last bit."""
    n = len(samples)
    mean = math.fsum(samples) / n
    return math.sqrt(math.fsum((x - mean) ** 2 for x in samples) / (n - 1)) if n > 1 else 0.0


def _compute_deviation(population: Population, samples: Sequence[Exact], scale: int, kind: _NumberKind) -> float:
    return _compute_real_deviation(samples) if kind is _REAL else math.sqrt(population.variance / scale**2)


def _select_kind(name: str, scale: int) -> _NumberKind:
    if name in _REALS:
        return _REAL
    if scale != 1:
        return _DURATION
    return _WHOLE if name in _SIGNED else _COUNT


def _get_width(name: str) -> int:
    return WIDTHS.get(name, DURATION_WIDTH)


def compute_block_points(name: str, population: Population, scale: int) -> list[list[str]]:
    """Return rows of centile and value."""
    kind, width = _select_kind(name, scale), _get_width(name)
    return [
        [format_decimal(centile), kind.to_text(kind.to_number(x), width)]
        for centile, x in zip(CENTILES, population.centiles, strict=True)
    ]


def compute_machine_points(name: str, hosts: Sequence[Population], scale: int) -> list[list[str]]:
    """Return rows of centile, value, lowest and highest host, value minus and plus the deviation."""
    kind, width = _select_kind(name, scale), _get_width(name)
    rows = []
    for index, centile in enumerate(CENTILES):
        population = summarize_centile(hosts, index)
        value = kind.invert_twice(float(Fraction(population.median) / scale))
        samples = [host.centiles[index] for host in hosts]
        deviation = kind.invert_twice(_compute_deviation(population, samples, scale, kind))
        ends = [kind.to_number(population.least), kind.to_number(population.greatest)]
        numbers = [value, *ends, kind.subtract(value, deviation), kind.add(value, deviation)]
        rows.append([format_decimal(centile), *(kind.to_text(number, width) for number in numbers)])
    return rows
