"""Models of the small parts of a package: picks, units, summaries, phases and coverage."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.expression import Expression

#: the first or last of the matching rows
FIRST, LAST = "first", "last"
#: the last row before another instant, in the same log
LATEST_BEFORE = "latest before"
#: computed from other members of the row
COMPUTED = "computed"
PICKS = (FIRST, LAST, LATEST_BEFORE, COMPUTED)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its expression (`mebibyte / second`) and the symbol that reports print (`MiB/s`)."""

    name: str
    symbol: str


@dataclass(frozen=True, slots=True)
class Margin:
    """How small a change is too little to matter: up to the greater of `percent` of the base and `amount` in `unit`.

    Both are decimal texts, empty for none.
    """

    percent: str
    amount: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class MetricBreak:
    """A day (YYYY-MM-DD) from which on values of a metric cannot be compared with earlier ones.

    In publications of this day, it affects the runs from the one with the label `run` on (empty: all of them).
    """

    since: str
    run: str
    doc: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a report judges differences: the level of intervals, the margin of metrics without one, and the gate.

    `gate` names metrics (none: all that are better in a direction); it demands so many `repeats` of each version.
    """

    level: str
    margin: Margin
    gate: tuple[str, ...]
    repeats: int


@dataclass(frozen=True, slots=True)
class Summary:
    """How the averages of hosts become one average of a run.

    `lowest` (0: no limit) uses only that many hosts, those with the lowest means.  `deviation` selects which standard
    deviation of the hosts is shown: the `greatest` or the `mean`.  `reciprocal_points`: charts plot 1 / (1 / median).
    """

    name: str
    lowest: int
    deviation: str
    reciprocal_points: bool
    doc: str


#: parameters of statements for one phase of a run: its first ns, and the first ns after it
SINCE, UNTIL = "phase_since", "phase_until"


@dataclass(frozen=True, slots=True)
class Cut:
    """A boundary: a named instant of a run.

    It is a constant of the run, or the `first` or `last` (`pick`) value of `column` of the table `of`, in the rows
    where a condition holds.  An instant that the user sets has precedence.  With neither, the user must set it, unless
    it is `optional`: then a phase that begins at it is left out, and one that ends at it goes on to the end.
    """

    name: str
    constant: str
    of: str
    column: str
    pick: str
    where: Expression | None
    doc: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run: from the instant `since` to just before `until`; an empty one is the end of the data.

    `margin_ns` (or the constant `margin`, a duration) is left out at each boundary.
    """

    name: str
    since: str
    until: str
    margin_ns: int
    margin: str
    doc: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Expectations about the records of the event `name`, or about an instant (`grain.instant`).

    `on_some_hosts`: a host without records, or a row without the instant, is not a finding.  `dropped`: the field that
    names records which the log reports as dropped (empty: it reports none); `count`: the field with their number, or
    empty.
    """

    name: str
    on_some_hosts: bool = False
    dropped: str = ""
    count: str = ""
