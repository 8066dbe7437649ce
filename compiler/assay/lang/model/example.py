"""Models of examples: small runs with the expected samples of metrics."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.report import FilterUse


@dataclass(frozen=True, slots=True)
class ExampleFile:
    """A file of an example's run: its path below the run's directory, and its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected samples of a metric: decimal numbers in its unit, ascending."""

    metric: str
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A run given by the texts of its files, the filters to apply, and the expected samples of metrics."""

    name: str
    files: tuple[ExampleFile, ...]
    filters: tuple[FilterUse, ...]
    expect: tuple[Expectation, ...]
    doc: str
