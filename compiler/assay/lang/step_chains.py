"""Derive the steps of a metric that is the time between two instants: a chain of times with the same two ends.

Instants of a grain are nodes, and metrics that are the difference of two of them edges. The steps of such a metric, the
total, are the longest path between its ends, unless it declares them. A gap, between an instant that can be reached
from the beginning and one from which the end can be reached, is a step that no metric measures: a rest. So steps need
no new metrics.

A step is a metric of its own, over those rows of the total that have all instants of the chain. There the steps add up
to the total, row by row, in whole nanoseconds.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from assay.lang.checked_package import CheckedPackage
from assay.lang.definition_hash import hash_definitions
from assay.lang.expression_types import NANOSECOND
from assay.lang.formula import is_formula
from assay.lang.model.expression import Expression
from assay.lang.model.package import Column, Derived, Grain, Metric, Package, Relation
from assay.lang.model.vocabulary import Unit
from assay.lang.segments import is_segment

_LEAST_STEPS = 2
_EVENT_PREFIX = "at_"  # of the instants of `G.eachKey`

Ends = tuple[str, str]
"""The beginning and the end of a time, as expressions in text form."""


class NoSteps(StrEnum):
    """Why a metric has no steps."""

    NO_DIFFERENCE = "it is no difference of two instants of its rows"
    REDUCED = "it is a statistic over several rows, which is not the time of one of them"
    NO_PARTS = "no other metric measures a part of it"
    SEVERAL = "several chains of metrics are equally long"
    CIRCULAR = "metrics of its grain measure the same time in both directions"
    NO_TIME = "the rows of its grain have no `time`"


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A step of a chain: the metric over the rows that have all instants, and the id of the one that measures it.

    `source` is empty for a rest.
    """

    metric: Metric
    source: str
    start: str
    end: str


@dataclasses.dataclass(frozen=True, slots=True)
class Chain:
    """A total with its steps, in the order of time. `grain` is that of a total that no metric measures, or empty.

    `rows` is the grain of its rows, with a column that says which have all instants. `statistic` is the metric whose
    values are those of the total on these rows, which `relation` chooses.
    """

    total: Metric
    steps: tuple[Step, ...]
    rows: Grain
    grain: str = ""
    statistic: Metric | None = None
    relation: Relation | None = None

    @property
    def name(self) -> str:
        """The id of the metric, or the name of the grain, that has these steps."""
        return self.grain or (self.statistic or self.total).id

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The total and its steps."""
        return self.total, *(step.metric for step in self.steps)

    @property
    def requested(self) -> tuple[Metric, ...]:
        """The metrics, and the statistic whose values are those of the total."""
        return (*self.metrics, self.statistic) if self.statistic else self.metrics


def find_ends(grain: Grain, metric: Metric) -> tuple[Expression, Expression] | None:
    """Return the instants between which a metric measures the time; None for another metric.

    Of alternatives, such as the first instant that is present, or an assumed time, the first one counts.
    """
    node = _get_first(metric.measure)
    if node.op != "minus":
        return None
    end, start = map(_get_first, node.operands)
    instants = {column.name for column in grain.all_columns if column.type == "instant"}
    are_instants = all(item.op == "instant" or (item.op == "column" and item.name in instants) for item in (start, end))
    return (start, end) if are_instants and start != end else None


def _get_first(node: Expression) -> Expression:
    return node.operands[0] if node.op == "coalesce" else node


def derive_chain(package: Package, total: Metric) -> Chain | NoSteps:
    """Return the chain of steps of a metric, or why it has none."""
    grain = next((item for item in package.grains if item.name == total.grain), None)
    ends = find_ends(grain, total) if grain and not is_formula(total) else None
    if grain is None or ends is None:
        return NoSteps.NO_DIFFERENCE
    if total.reduction:
        return NoSteps.REDUCED
    if not grain.time:
        return NoSteps.NO_TIME
    start, end = map(str, ends)
    edges = {pair: metric for pair, metric in index_edges(package, grain).items() if pair != (start, end)}
    if total.steps:
        edges = index_declared_edges(package, grain, total)
    try:
        path = _find_path(edges, start, end)
    except CycleError:
        return NoSteps.CIRCULAR
    if isinstance(path, NoSteps):
        return path
    nodes = {str(item): item for metric in (total, *edges.values()) for item in find_ends(grain, metric) or ()}
    rows = add_completeness(grain, total, [Expression("present", (nodes[item],)) for item in path])
    complete = Expression("column", name=rows.derived[-1].column.name)
    where = Expression("and", (total.where, complete)) if total.where else complete
    steps = (
        build_step(total, edges.get((str(one), str(other))), (one, other), (one.name, other.name), where)
        for one, other in pairwise(nodes[item] for item in path)
    )
    return Chain(total, tuple(steps), rows)


def derive_whole_chain(package: Package, grain: Grain) -> Chain | None:
    """Return the longest chain of the metrics of a grain, if no metric has its ends; None also for several.

    Its total is no metric of the package.
    """
    edges = index_edges(package, grain)
    starts = {start for start, _ in edges}
    try:
        paths = [path for start in sorted(starts) for path in find_longest(edges, start).values()]
    except CycleError:
        return None
    longest = max(map(len, paths), default=0)
    whole = [path for path in paths if len(path) == longest]
    if longest <= _LEAST_STEPS or len(whole) > 1 or not all(paths) or (whole[0][0], whole[0][-1]) in edges:
        return None
    path = whole[0]
    first, last = edges[path[0], path[1]], edges[path[-2], path[-1]]
    ends = find_ends(grain, first), find_ends(grain, last)
    assert ends[0]
    assert ends[1]
    start, end = ends[0][0], ends[1][1]
    total = dataclasses.replace(
        first,
        id=f"{grain.name}: total",
        name=_name_rest(start.name, end.name).capitalize(),
        doc=f"The time of `{grain.name}` from its first to its last step",
        measure=Expression("minus", (end, start)),
        margin=None,
        breaks=(),
    )
    chain = derive_chain(package, total)
    return dataclasses.replace(chain, grain=grain.name) if isinstance(chain, Chain) else None


def add_steps(checked: CheckedPackage, chain: Chain, hashed: Sequence[Metric] | None = None) -> CheckedPackage:
    """Return the package with the total of a chain and its steps among its metrics, and the rows that it chooses.

    `hashed` are those that have a definition hash, which takes long and only distributions need; by default all.
    """
    new = {item.id: item for item in chain.metrics}
    package = checked.package
    others = (item for item in package.metrics if item.id not in new)
    package = dataclasses.replace(
        package,
        metrics=tuple(sorted((*others, *new.values()), key=lambda item: item.id)),
        grains=(*(item for item in package.grains if item.name != chain.rows.name), _join_rows(package, chain.rows)),
        relations=(*package.relations, chain.relation) if chain.relation else package.relations,
    )
    origin = next(step.source for step in chain.steps if step.source)
    origin = chain.statistic.id if chain.statistic else origin
    measured = checked.measured.get(chain.total.id, checked.measured[origin])
    assert measured.unit == NANOSECOND
    exact = dataclasses.replace(measured, type="integer")
    by_id = {chain.total.id: measured, **{step.metric.id: exact for step in chain.steps}}
    definitions = hash_definitions(
        dataclasses.replace(package, metrics=tuple(new.values() if hashed is None else hashed))
    )
    return dataclasses.replace(
        checked,
        package=package,
        measured={**checked.measured, **by_id},
        definitions={**checked.definitions, **definitions},
    )


def _join_rows(package: Package, rows: Grain) -> Grain:
    """Return the grain of a chain with what other chains have added to it in a package."""
    present = next((item for item in package.grains if item.name == rows.name), None)
    return dataclasses.replace(present, derived=(*present.derived, rows.derived[-1])) if present else rows


def _list_times(package: Package, grain: Grain) -> Iterator[Metric]:
    """Yield the metrics of the rows of a grain, without segments and those of several rows."""
    for metric in package.metrics:
        if metric.grain == grain.name and not metric.reduction and not is_formula(metric) and not is_segment(metric.id):
            yield metric


def _rank_edge(metric: Metric) -> tuple[bool, bool, str]:
    """Return the sort key of metrics with the same ends: one of all rows first, and one without an assumed time."""
    return metric.where is not None, metric.measure.op == "coalesce", metric.id


def _find_path(edges: Iterable[Ends], start: str, end: str) -> tuple[str, ...] | NoSteps:
    """Return the instants of the longest chain between two, with a gap if no metrics join them.

    Raises CycleError.
    """
    pairs = list(edges)
    forward = find_longest(pairs, start)
    if end in forward:
        path = forward[end]
        return path if len(path) > _LEAST_STEPS else NoSteps.SEVERAL if not path else NoSteps.NO_PARTS
    reversed_pairs = [pair[::-1] for pair in pairs]
    backward = find_longest(reversed_pairs, end)
    after_end, before_start = find_longest(pairs, end), find_longest(reversed_pairs, start)
    firsts = {node: path for node, path in forward.items() if node not in after_end}
    rests = {node: path[::-1] for node, path in backward.items() if node not in before_start}
    if any(not path for path in (*firsts.values(), *rests.values())):
        return NoSteps.SEVERAL
    gaps = [
        (*first, *rest)
        for node, rest in rests.items()
        for reached in [find_longest(pairs, node)]
        for first in firsts.values()
        if first[-1] not in reached and len(first) + len(rest) > _LEAST_STEPS
    ]
    longest = max(map(len, gaps), default=0)
    best = [path for path in gaps if len(path) == longest]
    return NoSteps.NO_PARTS if not best else best[0] if len(best) == 1 else NoSteps.SEVERAL


def find_longest(edges: Iterable[Ends], start: str) -> dict[str, tuple[str, ...]]:
    """Return the longest path from an instant to each that it reaches; empty where several are equally long.

    Raises CycleError.
    """
    before: dict[str, set[str]] = {}
    for one, other in edges:
        before.setdefault(other, set()).add(one)
        before.setdefault(one, set())
    lengths = {start: 1}
    paths: dict[str, tuple[str, ...]] = {start: (start,)}
    for node in TopologicalSorter(before).static_order():
        reached = [item for item in sorted(before[node]) if item in lengths]
        if not reached or node == start:
            continue
        lengths[node] = 1 + max(lengths[item] for item in reached)
        best = [item for item in reached if lengths[item] + 1 == lengths[node]]
        path = paths[best[0]]
        paths[node] = (*path, node) if len(best) == 1 and path else ()
    return paths


def add_completeness(grain: Grain, total: Metric, conditions: Sequence[Expression]) -> Grain:
    """Return a grain with the column that says which rows have all steps of a total, as its last derived one."""
    column = Column(make_column("has_steps_of", total.id), "boolean", Unit("dimensionless", ""), "")
    return dataclasses.replace(grain, derived=(*grain.derived, Derived(column, Expression("and", tuple(conditions)))))


def make_column(words: str, name: str) -> str:
    """Return a name of SQL with an id."""
    return f"{words}_{re.sub(r'[^A-Za-z0-9]', '_', name)}"


def build_step(
    total: Metric, source: Metric | None, ends: tuple[Expression, Expression], names: tuple[str, str], where: Expression
) -> Step:
    """Return a step of a total between two instants of its rows, which `source` measures, if any; a rest has none.

    `names` are those of its instants, `where` selects the rows that have all instants.
    """
    metric = dataclasses.replace(
        source or dataclasses.replace(total, margin=None, breaks=()),
        id=f"{total.id}: {' to '.join(names)}",
        name=source.name if source else f"rest: {_name_rest(*names)}",
        grain=total.grain,
        measure=Expression("minus", ends[::-1]),
        where=where,
        accepted=total.accepted,
        per=total.per,
        sampled_only=total.sampled_only,
        unit=total.unit,
        better=total.better,
        examples=(),
        exact=False,
    )
    return Step(metric, source.id if source else "", *names)


def index_edges(package: Package, grain: Grain) -> dict[Ends, Metric]:
    """Return the metrics of the rows of a grain that are times between two instants, one for each pair of these."""
    edges: dict[Ends, Metric] = {}
    for metric in _list_times(package, grain):
        if ends := find_ends(grain, metric):
            key = (str(ends[0]), str(ends[1]))
            if key not in edges or _rank_edge(metric) < _rank_edge(edges[key]):
                edges[key] = metric
    return edges


def index_declared_edges(package: Package, grain: Grain, total: Metric) -> dict[Ends, Metric]:
    """Return the metrics that a total declares as its steps by the instants between which they are, in order.

    Metrics that are no times between two instants of the rows of the grain are left out.
    """
    times = {metric.id: metric for metric in _list_times(package, grain)}
    declared = ((times[name], find_ends(grain, times[name])) for name in total.steps if name in times)
    return {(str(ends[0]), str(ends[1])): metric for metric, ends in declared if ends}


def _name_rest(start: str, end: str) -> str:
    """Return two instants in words: `work started to response sent`."""
    names = (item.rpartition(".")[2].removeprefix(_EVENT_PREFIX).replace("_", " ") for item in (start, end))
    return " to ".join(names)
