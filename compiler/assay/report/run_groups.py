"""Hold what each group of the runs of a report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.lang.blocks.grid import Grid
from assay.lang.model.report import Report
from assay.report.run_results import RunFigures
from assay.util.escape import shorten


@dataclass(frozen=True, slots=True)
class ShownPhases:
    """The phases of runs, and the instants at which they begin: (name, ns), by run."""

    phases: Sequence[RunFigures]
    instants: Mapping[str, Sequence[tuple[str, int]]]


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """The runs of a group, or all runs of a report without groups (with an empty name).

    `report` has what of the report these runs can show; sections show `cut`, the phases of the runs, instead of these.
    """

    name: str
    report: Report
    runs: Sequence[RunFigures]
    cut: ShownPhases | None = None


def list_cases(report: Report, runs: Sequence[RunFigures]) -> list[str]:
    """Return the case of each run, or an empty text.

    Without a grid, which alone shows cases, a run with a case is like all others.
    """
    has_grid = any(isinstance(block, Grid) for block in report.blocks)
    return [shorten(str(run.constants[report.cases])) if report.cases and has_grid else "" for run in runs]


def list_main_runs(report: Report, runs: Sequence[RunFigures]) -> list[RunFigures]:
    """Return the runs or phases that most tables and blocks show: those that are no cases, or all if all are."""
    cases = list_cases(report, runs)
    return [run for run, case in zip(runs, cases, strict=True) if not case] or list(runs)
