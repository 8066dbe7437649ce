"""Convert resource counters and gauges to whole percents, MiB and KiB (section 6)."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

from tests.oracle.instants import SECOND
from tests.oracle.model import Event
from tests.oracle.recognise import COUNTERS, GAUGES

WORD = 1 << 64
CENTI = ("CentiCpu", "CentiGC", "CentiMut", "CentiBlkIO")
RESOURCES = COUNTERS + GAUGES
_DIVISORS = {
    **dict.fromkeys(("Alloc", "RSS", "Heap", "Live"), 1 << 20),
    **dict.fromkeys(("NetRd", "NetWr", "FsRd", "FsWr"), 1 << 10),
    **dict.fromkeys(("GcsMajor", "GcsMinor", "Threads"), 1),
}


def _round_to_single(x: float) -> float:
    return float(struct.unpack("f", struct.pack("f", x))[0])


def compute_single_ratio(numerator: int, denominator: int) -> float:
    """Return the single-precision number nearest to a quotient of integers, rounded once."""
    if numerator == 0:
        return 0.0
    size = abs(numerator).bit_length() - denominator.bit_length()
    shift = 25 - size  # leaves 25 or 26 bits; the bits below them are remembered as an inexact part
    scaled = (abs(numerator) << max(shift, 0)) // (denominator << max(-shift, 0))
    exact = scaled * (denominator << max(-shift, 0)) == abs(numerator) << max(shift, 0)
    nearest = _round_to_single(float(scaled * 4 + (0 if exact else 1)))
    return math.copysign(math.ldexp(nearest, -shift - 2), numerator)


def compute_core_percentage(increase: int, elapsed: int) -> int:
    """ceil(single(100 x increase) / (single(elapsed s) x 100)) modulo 2^64; 0 when nothing elapsed.

    `increase` is in centiseconds, modulo 2^64; `elapsed` in ns, below 0 when the objects are out of order.
    """
    denominator = _round_to_single(compute_single_ratio(elapsed, SECOND) * 100.0)
    if denominator == 0.0:
        return 0
    numerator = compute_single_ratio(increase * 100 % WORD, 1)
    return math.ceil(_round_to_single(numerator / denominator)) % WORD


class ResourceMeter:
    """The last resources object of a host; initially all zeros at 1970-01-01."""

    def __init__(self) -> None:
        self._instant = 0
        self._raw: Mapping[str, int] = dict.fromkeys(RESOURCES, 0)
        self._values: dict[str, int] = dict.fromkeys(RESOURCES, 0)

    def update(self, event: Event) -> Mapping[str, int]:
        """Return the values of a new object, with its increase over the one before."""
        elapsed = event.instant - self._instant
        increase = {name: (event.data[name] - self._raw[name]) % WORD for name in COUNTERS}
        values = {name: compute_core_percentage(increase[name], elapsed) for name in CENTI}
        for name, divisor in _DIVISORS.items():
            values[name] = (event.data[name] if name in GAUGES else increase[name]) // divisor
        self._instant, self._raw, self._values = event.instant, event.data, values
        return values

    def get_carried_values(self) -> Mapping[str, int]:
        """Return the values at the start of a slot: the last percents and gauges, else 0."""
        return {name: value if name in CENTI or name in GAUGES else 0 for name, value in self._values.items()}
