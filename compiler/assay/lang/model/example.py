"""Examples: small runs with what metrics come to over them, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.report import FilterUse


@dataclass(frozen=True, slots=True)
class ExampleFile:
    """A file of an example's run: its path from the run's directory, its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a metric comes to: its samples as decimal numbers in the metric's unit, ascending."""

    metric: str
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A run given by the texts of its files, the filters that are applied, and what metrics come to over it."""

    name: str
    files: tuple[ExampleFile, ...]
    filters: tuple[FilterUse, ...]
    expect: tuple[Expectation, ...]
    doc: str
