"""Hold the results of the runs of a command, and join those of groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.app.session.phases import Bounds, PhaseSelection, RunPhases
from assay.engine.compiled_plan import CompiledPlan, compile_plan
from assay.engine.graph import Node, build_nodes
from assay.engine.results import RunResults
from assay.lang.checked_package import CheckedPackage
from assay.plan.planner import AppliedFilter
from assay.plan.request import Request
from assay.quality.finding import UNMEASURED, RunQuality
from assay.quality.quality_plan import QualityPlan
from assay.runs.model import IngestedRun


@dataclass(frozen=True, slots=True)
class RunResult:
    """The results of a run or phase, with its data quality and warnings about missing data.

    `data_warnings` has the metrics without samples that each warning names.
    """

    ingested_run: IngestedRun
    results: RunResults
    data_warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    phase: Bounds | None = None
    quality: RunQuality = UNMEASURED

    @property
    def id(self) -> str:
        """Return the id in results: that of the run, or of the run and the phase."""
        return f"{self.ingested_run.run.id}:{self.phase.name}" if self.phase else self.ingested_run.run.id


@dataclass(frozen=True, slots=True)
class Computation:
    """The results of runs, with the compiled plan.

    `graph` also has the statements that count missing data. If runs are cut, `phase_graph` has the statements that are
    executed for each phase, `phases` the phases of each run, and `views` the results of all phases.
    """

    compiled_plan: CompiledPlan
    graph: tuple[Node, ...]
    runs: tuple[RunResult, ...]
    phase_graph: tuple[Node, ...] = ()
    phases: tuple[RunPhases, ...] = ()
    views: tuple[RunResult, ...] = ()

    @property
    def columns(self) -> tuple[RunResult, ...]:
        """Return the compared columns: the phases of every run, or the runs if they are not cut."""
        return self.views or self.runs

    def sort_runs(self, names: Sequence[str]) -> Computation:
        """Return the computation with the runs in the order of `names`, which are their ids."""
        order = sorted(range(len(self.runs)), key=lambda index: names.index(self.runs[index].id))
        return replace(
            self,
            runs=tuple(self.runs[index] for index in order),
            phases=tuple(self.phases[index] for index in order) if self.phases else (),
            views=tuple(sorted(self.views, key=lambda item: names.index(item.ingested_run.run.id))),
        )


def join_computations(
    checked: CheckedPackage,
    computations: Sequence[Computation],
    request: Request,
    phase_selection: PhaseSelection | None,
    applied_filters: Sequence[AppliedFilter] = (),
) -> Computation:
    """Join the computations of several groups of runs, with one plan of what is requested of all of them.

    The runs have the results of their own group only.
    """
    if len(computations) == 1:
        return computations[0]
    run_plan, phase_plan = compile_plans(checked, request, applied_filters, phase_selection)
    run_quality, phase_quality = QualityPlan(run_plan), QualityPlan(phase_plan, is_phase=True)
    return Computation(
        run_plan,
        build_nodes((*run_quality.statements, *run_quality.counts)),
        tuple(run for item in computations for run in item.runs),
        build_nodes((*phase_quality.statements, *phase_quality.counts)) if phase_selection else (),
        tuple(phases for item in computations for phases in item.phases),
        tuple(view for item in computations for view in item.views),
    )


def compile_plans(
    checked: CheckedPackage,
    request: Request,
    applied_filters: Sequence[AppliedFilter],
    phase_selection: PhaseSelection | None,
) -> tuple[CompiledPlan, CompiledPlan]:
    """Return the plan for runs as a whole and that for each phase, which is the same if runs are not cut."""
    if phase_selection is None:
        plan = compile_plan(checked, request, applied_filters)
        return plan, plan
    of_runs, of_phases = Request(rows=request.rows, series=request.series), replace(request, rows=(), series=())
    run_plan = compile_plan(checked, of_runs, cuts=phase_selection.cuts)
    return run_plan, compile_plan(checked, of_phases, applied_filters, cut=True)
