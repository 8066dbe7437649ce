"""The small parts of a package: picks, units, summaries, phases and coverage."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.expression import Expression

#: of the rows that agree
FIRST, LAST = "first", "last"
#: the last row ahead of another instant, in the log of that
LATEST_BEFORE = "latest before"
#: of other members of the row
COMPUTED = "computed"
PICKS = (FIRST, LAST, LATEST_BEFORE, COMPUTED)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its pint expression (`mebibyte / second`) and the symbol that reports print (`MiB/s`)."""

    name: str
    symbol: str


@dataclass(frozen=True, slots=True)
class Summary:
    """How the average of a metric with one distribution per host is taken over the hosts.

    `lowest` (0: no limit) keeps only that many hosts, those of the lowest means.  `deviation` is that of the hosts'
    standard deviations which is shown: `greatest` or `mean`.  `reciprocal_points`: charts plot 1 / (1 / median).
    """

    name: str
    lowest: int
    deviation: str
    reciprocal_points: bool
    doc: str


#: parameters of statements that see one phase of a run: its first ns, and the first ns after it
SINCE, UNTIL = "phase_since", "phase_until"


@dataclass(frozen=True, slots=True)
class Cut:
    """A named instant of a run.

    It is a constant of the run, or the `first` or `last` (`pick`) value of `column` of the table `of`, of the rows
    where a condition holds; what the user says of it goes before both.  With neither, only the user can tell it.
    """

    name: str
    constant: str
    of: str
    column: str
    pick: str
    where: Expression | None
    doc: str


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run's time: from the instant `since` to just before `until`; empty: to the end of the data.

    `margin_ns` (or the constant `margin`, a duration) is left out beside each instant at which it is cut.
    """

    name: str
    since: str
    until: str
    margin_ns: int
    margin: str
    doc: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is known of the records of the event `name`, or of an instant (`grain.instant`).

    `on_some_hosts`: a host without them, or a row without the instant, is no finding.  `dropped`: the field that names
    records which the log says were dropped (empty: it says nothing of the kind); `count`: the field with their number,
    or empty.
    """

    name: str
    on_some_hosts: bool = False
    dropped: str = ""
    count: str = ""
