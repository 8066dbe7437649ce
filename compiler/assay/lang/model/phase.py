"""Phases of a run: named instants at which it is cut, and the times between them, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.expression import Expression

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
