"""Compile the request of a command once: the plan, its SQL statements, and the graph of what they read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.engine.graph import Node, build_nodes
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.vocabulary import Cut
from assay.plan.planner import AppliedFilter, EventStep, Plan, build_plan
from assay.plan.request import Request
from assay.sql.codegen import Statement, compile_steps
from assay.sql.dialect import build_scan, select_event_rows


@dataclass(frozen=True)
class CompiledPlan:
    """A plan with its statements, in which constants are parameters (`$name`).

    Paths of files are relative to the folder of an ingested run.
    """

    checked: CheckedPackage
    plan: Plan
    statements: tuple[Statement, ...]

    @cached_property
    def graph(self) -> tuple[Node, ...]:
        """Return the statements with the statements that each of them reads."""
        return build_nodes(self.statements)


def compile_plan(
    checked: CheckedPackage,
    request: Request,
    applied: Sequence[AppliedFilter] = (),
    cuts: Sequence[Cut] = (),
    *,
    cut: bool = False,
) -> CompiledPlan:
    """Plan what is requested and named instants under filters, and compile the plan.

    With `cut` the plan is for one phase of a run, whose bounds are parameters.
    """
    steps = build_plan(checked.package, request, applied, cuts, cut=cut)
    return CompiledPlan(checked, steps, compile_statements(checked, steps))


def compile_statements(checked: CheckedPackage, steps: Plan) -> tuple[Statement, ...]:
    """Compile the statements of a plan."""
    names = [constant.name for source in checked.package.sources for constant in source.constants]
    tables = {
        step.name: select_event_rows(build_scan(f"events/{step.name}/*.parquet"), step.fields, step.keys)
        for step in steps.steps
        if isinstance(step, EventStep)
    }
    return compile_steps(steps, checked, names, tables)
