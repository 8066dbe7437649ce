"""Level shifts: a table of the level shifts and drifts of a report over publications."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.parts import Block


@dataclass(frozen=True, slots=True)
class LevelShifts(Block):
    """A table of the level shifts of the metrics of a report over publications."""

    is_of_publications = True
    needs_records = False
    title: str
