"""Assign the notes of people to the level shifts and drifts of a history.

A note names the run at which a level shift began when it was written. Further runs may move that place a little, and
the levels. So a note is of the nearest shift in the same direction that begins at most three runs from there; of
simulated shifts by 3 standard deviations, which are found after two runs, 99.5 % move by no more while 28 runs follow.
A note on a drift is of the drift in the same direction, wherever it begins.

An acceptance holds for the size that was accepted: a change that is certainly more than half as large again, by its
interval, is open again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.registry.model import ShiftNote

ACCEPT, ANNOTATE, REOPEN = "accept", "annotate", "reopen"
LEVEL_SHIFT, DRIFT = "level shift", "drift"
MOST_MOVED = 3  # runs
MOST_GROWN = 1.5


@dataclass(frozen=True, slots=True)
class ChangePlace:
    """A level shift or drift: what it is, the index of its first run among comparable ones, and its levels."""

    change: str
    index: int
    before: float
    after: float

    def is_near(self, note: ShiftNote, index: int) -> bool:
        """Return whether a note is on a change of this kind and direction, near its place."""
        content = note.content
        is_alike = content.change == self.change and (content.after > content.before) == (self.after > self.before)
        return is_alike and (self.change == DRIFT or abs(self.index - index) <= MOST_MOVED)


def assign_notes(
    notes: Sequence[ShiftNote], places: Sequence[ChangePlace], find_index: Callable[[str, str], int]
) -> list[tuple[ShiftNote, ...]]:
    """Return the notes on each change, in their order; `find_index` returns that of a run by its name and day."""
    assigned: list[list[ShiftNote]] = [[] for _ in places]
    for note in notes:
        index = find_index(note.content.run, note.content.day)
        near = [number for number, place in enumerate(places) if place.is_near(note, index)]
        if near:
            assigned[min(near, key=lambda number: abs(places[number].index - index))].append(note)
    return [tuple(item) for item in assigned]


def find_acceptance(notes: Sequence[ShiftNote], interval: tuple[float, float]) -> ShiftNote | None:
    """Return the note that accepts a change with an interval; None if it is open."""
    deciding = next((note for note in reversed(notes) if note.content.kind != ANNOTATE), None)
    if deciding is None or deciding.content.kind == REOPEN:
        return None
    accepted = abs(deciding.content.after - deciding.content.before)
    return deciding if min(map(abs, interval)) <= MOST_GROWN * accepted else None
