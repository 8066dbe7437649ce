"""Sections: tables of metrics, a column for each run or phase."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from assay.lang.model import report as report_model
from assay.lang.model.parts import Block


@dataclass(frozen=True, slots=True)
class Section(report_model.Section):
    """A section in a part of a report: a column for each run, or each phase of it, with differences from the first."""

    compares_averages = True

    def read_metrics(self) -> Iterable[str]:
        return self.metrics

    def list_inner_blocks(self) -> tuple[Section, ...]:
        """Return a section of each metric."""
        return tuple(replace(self, metrics=(name,)) for name in self.metrics)

    def keep_inner_blocks(self, blocks: Sequence[Block]) -> Self:
        """Return the section with the metrics of these."""
        return replace(self, metrics=tuple(name for block in blocks for name in block.read_metrics()))
