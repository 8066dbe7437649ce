"""Models of series: tables of values over time."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.expression import Expression
from assay.lang.model.vocabulary import Unit


@dataclass(frozen=True, slots=True)
class Sampled:
    """Samples of a series: the rows of an event where a condition holds."""

    event: str
    where: Expression | None


@dataclass(frozen=True, slots=True)
class Gone:
    """The end of a line: rows of an event that agree with it on the fields `on`, where a condition holds."""

    event: str
    on: tuple[str, ...]
    where: Expression | None


@dataclass(frozen=True, slots=True)
class Term:
    """An input of a computed series, called `name` in its value.

    `over` merges lines that agree in the labels: `mean`, `sum`, `least`, `greatest`; empty if the labels are the same.
    """

    name: str
    series: str
    over: str


#: readings of a series that combine the records of each interval between two steps
INCREASE = "increase"
INTERVAL_READINGS = ("count", "sum", "mean", "least", "greatest", INCREASE)
#: readings that are 0 in an interval without records
ZERO_READINGS = ("count", "sum")


@dataclass(frozen=True, slots=True)
class Series:
    """A table of values over time: a row for each window, step in it, and line that has a value then.

    Lines are the distinct values of the label fields `by`.  `windows` is a relation with the instants `from_ns` and
    `to_ns` (both are steps).  `reading`: `latest` (the last sample in the last `window_ns`, unless the line is `gone`
    after it), `rate` (the increase of a counter per second over `window_ns`), or one of `INTERVAL_READINGS`, which
    combine the samples from a step to the next: `increase` adds up how much each counter grew since its sample before,
    from 0 after a restart, and its intervals exclude their begin and include their end.  A sample is the `value` of a
    row; without one, its field `value`.  With several `samples`, the first that has a value at a step counts, and
    intervals have those of all; with `covered`, a rate has only the steps whose windows have samples near both ends,
    and intervals are whole, as they always are if `per_second`; with `ceases`, a line also ends where its rows of the
    event of `gone` cease while others continue.  Columns: the key of the windows, `by`, `t_ns`, `value` (in `unit`: the
    reading times `factor`, divided by the seconds of an interval if `per_second`; resolving writes both).

    Instead of samples a series may have `terms`: its `value` is computed at the steps where all terms have one.
    `window` and `every` name constants of the run, durations, that replace `window_ns` and `every_ns`.
    """

    name: str
    samples: tuple[Sampled, ...]
    by: tuple[str, ...]
    windows: str
    every_ns: int
    reading: str
    window_ns: int
    gone: Gone | None
    unit: Unit
    doc: str
    factor: str = "1"
    terms: tuple[Term, ...] = ()
    value: Expression | None = None
    window: str = ""
    every: str = ""
    covered: bool = False
    ceases: bool = False
    per_second: bool = False

    @property
    def has_intervals(self) -> bool:
        """Whether its values combine the records of intervals."""
        return self.reading in INTERVAL_READINGS
