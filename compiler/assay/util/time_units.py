"""List the units of time: their names, sizes and symbols, and how logs and users spell them."""

from __future__ import annotations

from typing import NamedTuple


class TimeUnit(NamedTuple):
    """A unit of time: its name in specs, its size in nanoseconds, its symbol in reports, and its spellings."""

    name: str
    nanoseconds: int
    symbol: str
    spellings: tuple[str, ...]


TIME_UNITS = (
    TimeUnit("nanosecond", 1, "ns", ("ns", "nsec", "nanos", "nanosecond", "nanoseconds")),
    TimeUnit("microsecond", 10**3, "µs", ("us", "µs", "μs", "usec", "micros", "microsecond", "microseconds")),
    TimeUnit("millisecond", 10**6, "ms", ("ms", "msec", "millis", "millisecond", "milliseconds")),
    TimeUnit("second", 10**9, "s", ("s", "sec", "secs", "second", "seconds")),
    TimeUnit("minute", 60 * 10**9, "min", ("min", "mins", "minute", "minutes")),
    TimeUnit("hour", 3600 * 10**9, "h", ("h", "hr", "hrs", "hour", "hours")),
    TimeUnit("day", 86400 * 10**9, "d", ("d", "day", "days")),
)
"""The units of time, the smallest first."""

NANOSECONDS = {unit.name: unit.nanoseconds for unit in TIME_UNITS}
"""The size of each unit by its name."""

SPELLED_NANOSECONDS = {spelling: unit.nanoseconds for unit in TIME_UNITS for spelling in unit.spellings}
"""The size of each unit by its spellings."""

SECOND = NANOSECONDS["second"]
EPOCH_FORMS = ("s", "ms", "us", "ns")
"""The units in which a number since 1970 may be, as specs name them."""
