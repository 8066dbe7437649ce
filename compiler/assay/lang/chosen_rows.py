"""Derive the steps of a statistic over rows, such as the time until 80 % of hosts have adopted a block.

Such a statistic is the value of one row of each group: the row that it chooses. Its steps are those of this row. They
may lead through rows of other grains with the same key: first those of the grain that the row belongs to, its subject,
then those of a grain with a row for each of its rows. The two are joined by a rest, from the last instant of the
subject that all of its longest chains have to the first one of the other grain.

The chosen rows are a relation with a column for each instant of the chain, so that its steps are metrics as those of
any grain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError
from itertools import pairwise, takewhile

from assay.lang.model.expression import Expression
from assay.lang.model.package import Column, Grain, Metric, Package, Pair, Reduction, Relation
from assay.lang.model.vocabulary import Unit
from assay.lang.segments import is_segment
from assay.lang.step_chains import (
    Chain,
    NoSteps,
    add_completeness,
    build_step,
    derive_chain,
    derive_whole_chain,
    find_ends,
    find_longest,
    index_edges,
    make_column,
)

_LEAST_INSTANTS = 3
_NANOSECOND = Unit("nanosecond", "ns")
_INSTANT = "instant "  # begins the text of an expression
_ORDERS = {
    "min": "0",
    "max": "row_count - 1",
    "centile": "least(floor(row_count * {centile})::BIGINT, row_count - 1)",
}
"""The place of the row that a reduction chooses, among the rows of a group in the order of their values."""
_SQL = """
WITH ordered AS (
  SELECT {columns},
    row_number() OVER (PARTITION BY {by} ORDER BY {value}, {key}) - 1 AS row_place,
    count(*) OVER (PARTITION BY {by}) AS row_count
  FROM {grain} WHERE {condition} AND {value} IS NOT NULL
)
SELECT {selected} FROM ordered {joins} WHERE row_place = {place}
"""


@dataclass(frozen=True, slots=True)
class _Part:
    """The instants of a chain that are of one grain, in their order, and how its rows are joined to chosen rows."""

    grain: Grain
    on: tuple[Pair, ...]
    instants: tuple[str, ...]

    def list_columns(self) -> list[str]:
        """Return the columns of chosen rows for the instants."""
        return [f"{self.grain.name}__{item}" for item in self.instants]


def derive_steps(package: Package, total: Metric) -> Chain | NoSteps:
    """Return the chain of steps of a metric, or of the rows that it chooses, or why there is none."""
    return _derive_chosen_chain(package, total) if total.reduction else derive_chain(package, total)


def list_chains(package: Package) -> Iterator[Chain]:
    """Yield the chains of all metrics that have steps, then those of grains whose steps have no total."""
    for metric in package.metrics:
        if not is_segment(metric.id) and isinstance(chain := derive_steps(package, metric), Chain):
            yield chain
    for grain in package.grains:
        if whole := derive_whole_chain(package, grain):
            yield whole


def _derive_chosen_chain(package: Package, total: Metric) -> Chain | NoSteps:
    grains = {grain.name: grain for grain in package.grains}
    grain = grains.get(total.grain)
    ends = find_ends(grain, total) if grain else None
    if grain is None or ends is None or grain.runs:
        return NoSteps.NO_DIFFERENCE
    if not total.reduction or total.reduction.kind not in _ORDERS or (total.where and total.where.op != "column"):
        return NoSteps.REDUCED
    if not grain.time:
        return NoSteps.NO_TIME
    start, end = (item.name for item in ends)
    try:
        first, rest = _follow_subject(package, grains, grain, start), _follow_rows(package, grains, grain, end)
    except CycleError:
        return NoSteps.CIRCULAR
    if not first or not rest or len(first.instants) + len(rest.instants) < _LEAST_INSTANTS:
        return NoSteps.NO_PARTS
    return _build_chain(package, grain, total, (start, end), (first, rest))


def _follow_subject(package: Package, grains: Mapping[str, Grain], grain: Grain, start: str) -> _Part | None:
    """Return what the longest chains of the subject of a grain from an instant have in common; None without one."""
    subject = grains.get(grain.subject.grain) if grain.subject else None
    if subject is None or grain.subject is None or not _has_instant(subject, start):
        return None
    paths = _list_longest(list(index_edges(package, subject)), start)
    return _Part(subject, grain.subject.on, _find_common_beginning(paths))


def _follow_rows(package: Package, grains: Mapping[str, Grain], grain: Grain, end: str) -> _Part | None:
    """Return the longest chain to an instant, of a grain with the same key; None without one."""
    parts = []
    for other in grains.values():
        if {*other.key} == {*grain.key} and _has_instant(other, end):
            pairs = [pair[::-1] for pair in index_edges(package, other)]
            path = _find_common_beginning(_list_longest(pairs, end))[::-1]
            parts.append(_Part(other, tuple(Pair(name, name) for name in grain.key), path))
    return max(parts, key=lambda part: len(part.instants), default=None)


def _list_longest(pairs: Sequence[tuple[str, str]], start: str) -> list[tuple[str, ...]]:
    """Return the longest paths of instants from one, by their names. Raises CycleError."""
    paths = [path for path in find_longest(pairs, f"{_INSTANT}{start}").values() if path]
    longest = max(map(len, paths))
    return [tuple(item.removeprefix(_INSTANT) for item in path) for path in paths if len(path) == longest]


def _find_common_beginning(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the instants with which all of some paths begin."""
    return tuple(items[0] for items in takewhile(lambda items: len(set(items)) == 1, zip(*paths, strict=False)))


def _has_instant(grain: Grain, name: str) -> bool:
    return any(item.name == name for item in grain.instants)


def _build_chain(package: Package, grain: Grain, total: Metric, ends: tuple[str, str], parts: Sequence[_Part]) -> Chain:
    """Return the chain on the rows that a statistic chooses, where these have its ends."""
    assert total.reduction
    selected = tuple(dict.fromkeys((*total.reduction.by, grain.time, *ends)))
    types = {column.name: column for column in grain.all_columns}
    added = [Column(name, "instant", _NANOSECOND, "") for part in parts for name in part.list_columns()]
    columns = (*(types.get(name) or Column(name, "instant", _NANOSECOND, "") for name in selected), *added)
    name = make_column("chosen_by", total.id)
    sql = _write_sql(grain, total, total.reduction, selected, parts)
    uses = tuple(dict.fromkeys((grain.name, *(part.grain.name for part in parts))))
    by = total.reduction.by
    relation = Relation(f"{name}_choices", sql, uses, columns, by, (), "")
    cluster = grain.cluster if grain.cluster in by else ""
    rows = Grain(name, relation.name, None, by, columns, (), (), (), None, (), "", time=grain.time, cluster=cluster)
    start, end = (Expression("column", name=item) for item in ends)
    whole = replace(total, id=f"{total.id}: chosen", grain=name, measure=Expression("minus", (end, start)), where=None,
                    reduction=None, accepted=False)  # fmt: skip
    nodes = [Expression("column", name=column.name) for column in added]
    same = Expression("equals", (nodes[0], start)), Expression("equals", (nodes[-1], end))
    rows = add_completeness(rows, total, [*(Expression("present", (item,)) for item in nodes), *same])
    where = Expression("column", name=rows.derived[-1].column.name)
    edges = {(part.grain.name, *pair): metric
             for part in parts for pair, metric in index_edges(package, part.grain).items()}  # fmt: skip
    path = [(part.grain.name, item, node) for (part, item), node in zip(
        ((part, item) for part in parts for item in part.instants), nodes, strict=True)]  # fmt: skip
    steps = [
        build_step(
            whole,
            edges.get((one, f"{_INSTANT}{before}", f"{_INSTANT}{after}")) if one == other else None,
            (node, next_node),
            (f"{one}.{before}", f"{other}.{after}"),
            where,
        )
        for (one, before, node), (other, after, next_node) in pairwise(path)
    ]
    return Chain(whole, tuple(steps), rows, statistic=total, relation=relation)


def _write_sql(grain: Grain, total: Metric, reduction: Reduction, chosen: Sequence[str], parts: Sequence[_Part]) -> str:
    """Write the query of the rows that a reduction chooses, with the instants of the rows that are joined to them."""
    start, end = (item.name for item in find_ends(grain, total) or ())
    conditions = [*(["accepted"] if total.accepted else []), *([_quote(total.where.name)] if total.where else [])]
    names = dict.fromkeys((*chosen, *grain.key, *(pair.column for part in parts for pair in part.on)))
    joined = [
        f"{_quote(part.grain.name)}.{_quote(instant)} AS {_quote(column)}"
        for part in parts
        for instant, column in zip(part.instants, part.list_columns(), strict=True)
    ]
    joins = [
        f"LEFT JOIN {_quote(part.grain.name)} ON "
        + " AND ".join(
            f"{_quote(part.grain.name)}.{_quote(pair.field)} = ordered.{_quote(pair.column)}" for pair in part.on
        )
        for part in parts
    ]
    return _SQL.format(
        columns=", ".join(map(_quote, names)),
        by=", ".join(map(_quote, reduction.by)),
        value=f"({_quote(end)} - {_quote(start)})",
        key=", ".join(map(_quote, grain.key)),
        grain=_quote(grain.name),
        condition=" AND ".join(conditions) or "TRUE",
        selected=", ".join([*(f"ordered.{_quote(name)}" for name in chosen), *joined]),
        joins=" ".join(joins),
        place=_ORDERS[reduction.kind].format(centile=f"{reduction.centile!r}::DOUBLE"),
    )


def _quote(name: str) -> str:
    return f'"{name}"'
