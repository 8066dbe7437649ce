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

from tests.oracle.distribution import CENTILES, Exact, Population, across
from tests.oracle.instants import SECOND
from tests.oracle.resources import WORD
from tests.oracle.texts import PICOSECOND_DIGITS, decimal_text, exact_text, short_text, whole_text

PICO: int = 10**PICOSECOND_DIGITS
_INFINITE: int = 1 << 1024  # what an infinite double is as a whole number

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


class _Kind(NamedTuple):
    """How numbers of a kind pass through the reciprocals and are written."""

    plain: Callable[[Exact], Exact]
    through: Callable[[float], Exact]
    minus: Callable[[Exact, Exact], Exact]
    plus: Callable[[Exact, Exact], Exact]
    text: Callable[[Exact, int], str]


def _reciprocal(x: float) -> float:
    return math.inf if x == 0 else 1 / x


def _duration_through(seconds: float) -> int:
    inverse = _reciprocal(seconds)
    picoseconds: int = _INFINITE * PICO if math.isinf(inverse) else math.floor(Fraction(inverse) * PICO)
    return PICO * PICO // picoseconds


def _whole_through(x: float) -> int:
    return round(_reciprocal(_reciprocal(x)))


_DURATION = _Kind(
    lambda ns: int(ns) * (PICO // SECOND),
    _duration_through,
    operator.sub,
    operator.add,
    lambda x, width: short_text(exact_text(int(x), PICOSECOND_DIGITS), width),
)
_WHOLE = _Kind(int, _whole_through, operator.sub, operator.add, lambda x, width: whole_text(int(x), width))
_COUNT = _WHOLE._replace(
    through=lambda x: _whole_through(x) % WORD,
    minus=lambda x, y: int(x - y) % WORD,
    plus=lambda x, y: int(x + y) % WORD,
)
_REAL = _Kind(
    float,
    lambda x: _reciprocal(_reciprocal(x)),
    operator.sub,
    operator.add,
    lambda x, width: short_text(decimal_text(float(x)), width),
)
_SIGNED = frozenset({"cdfSpanLensCpu", "cdfSpanLensCpuEpoch"})
_REALS = frozenset({"cdfDensity", "cdfBlocksChainedRatio", "cdfBlocksFilteredRatio"})


def _noisy_deviation(samples: Sequence[Exact]) -> float:
    """Return the deviation in doubles, where equal reals can deviate in the last bit."""
    n = len(samples)
    mean = math.fsum(samples) / n
    return math.sqrt(math.fsum((x - mean) ** 2 for x in samples) / (n - 1)) if n > 1 else 0.0


def _deviation(over: Population, samples: Sequence[Exact], scale: int, kind: _Kind) -> float:
    return _noisy_deviation(samples) if kind is _REAL else math.sqrt(over.variance / scale**2)


def _kind(name: str, scale: int) -> _Kind:
    if name in _REALS:
        return _REAL
    if scale != 1:
        return _DURATION
    return _WHOLE if name in _SIGNED else _COUNT


def _width(name: str) -> int:
    return WIDTHS.get(name, DURATION_WIDTH)


def block_points(name: str, population: Population, scale: int) -> list[list[str]]:
    """Return rows of centile and value."""
    kind, width = _kind(name, scale), _width(name)
    return [
        [decimal_text(c), kind.text(kind.plain(x), width)] for c, x in zip(CENTILES, population.centiles, strict=True)
    ]


def machine_points(name: str, hosts: Sequence[Population], scale: int) -> list[list[str]]:
    """Return rows of centile, value, lowest and highest host, value minus and plus the deviation."""
    kind, width = _kind(name, scale), _width(name)
    rows = []
    for index, c in enumerate(CENTILES):
        over = across(hosts, index)
        value = kind.through(float(Fraction(over.median) / scale))
        samples = [host.centiles[index] for host in hosts]
        deviation = kind.through(_deviation(over, samples, scale, kind))
        ends = [kind.plain(over.least), kind.plain(over.greatest)]
        numbers = [value, *ends, kind.minus(value, deviation), kind.plus(value, deviation)]
        rows.append([decimal_text(c), *(kind.text(number, width) for number in numbers)])
    return rows
