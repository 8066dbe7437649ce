"""The work for one run: its statements, constants and raw data, and the outputs that are computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.engine.graph import Node
from assay.engine.point_rows import POINTS
from assay.plan.planner import FilterStep, Plan


@dataclass(frozen=True, slots=True)
class Job:
    """The work for one run.

    `label` names the run in messages; `graph` holds the statements of `plan`; `constants` are those of the run. `raw`
    is the hash of the run's raw data, `logs` the hash of the rules that recognize the records of its logs. `relations`
    are the relations of one row that are read as a whole.
    """

    label: str
    plan: Plan
    graph: tuple[Node, ...]
    constants: Mapping[str, object]
    raw: str
    logs: str
    relations: tuple[str, ...]


def list_outputs(job: Job) -> list[tuple[str, str]]:
    """List the outputs of the run as (kind, name of the node), in the order of the plan."""
    outputs: list[tuple[str, str]] = []
    point_names = job.plan.point_names
    for node in job.graph:
        step = node.statement.step
        if node.statement.kind == "check":
            outputs.append(("offenders", node.name))
        elif node.name in point_names:
            outputs.append((POINTS, node.name))
        elif node.statement.kind in ("metric", "rows", "count"):
            outputs.append((node.statement.kind, node.name))
        elif isinstance(step, FilterStep) and step.applied:
            outputs.append(("rejections", node.name))
        elif node.name in job.relations:
            outputs.append(("row", node.name))
    return outputs
