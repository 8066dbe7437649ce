"""The samples of a metric, or the rows of a series, as a query that can be asked for the records behind each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from assay.lang.model.package import Grain, Metric
from assay.plan.planner import SeriesStep
from assay.sql import dialect, distributions
from assay.sql.dialect import column

VALUE = "value"


@dataclass(frozen=True, slots=True)
class SampleQuery:
    """A query with a row for each sample: columns `keys` that say which it is, and `value`.

    `instants` are those of the keys that are instants, in ns since 1970.
    """

    query: exp.Select
    keys: tuple[str, ...]
    instants: frozenset[str]


def of_metric(
    metric: Metric, grain: Grain, integral: bool, constants: Mapping[str, object], more: tuple[str, ...] = ()
) -> SampleQuery:
    """The samples of a metric, exact integers if `integral`; reduced ones are named by what they are reduced to, others
    also by columns `more`."""
    query = distributions.samples(metric, integral, constants)
    keys = tuple(dict.fromkeys((*identifying(grain), *more))) if metric.reduction is None else metric.reduction.by
    there = {item.alias_or_name for item in query.selects}
    missing = [name for name in keys if name not in there]
    query = query.select(*(column(name) for name in missing), append=True)
    if metric.per and metric.per not in keys:
        keys = (metric.per, *keys)
        if metric.per not in {item.alias_or_name for item in query.selects}:
            query = query.select(column(metric.per))
    return SampleQuery(query, keys, _instants(grain))


def _instants(grain: Grain) -> frozenset[str]:
    """The members of a grain that are instants."""
    columns = {item.name for item in grain.every_column if item.type == "instant"}
    return frozenset(columns | {item.name for item in grain.instants})


def of_series(step: SeriesStep, since: int | None = None, until: int | None = None) -> SampleQuery:
    """The rows of a series, from a first to a last instant in ns (None: open)."""
    query = distributions.select_lines(step)
    if since is not None:
        query = query.where(exp.GTE(this=column("t_ns"), expression=dialect.integer(since)))
    if until is not None:
        query = query.where(exp.LTE(this=column("t_ns"), expression=dialect.integer(until)))
    query.set("order", None)
    return SampleQuery(query, (*step.key, *step.series.by, "t_ns"), frozenset(["t_ns"]))


def of_column(table: str, name: str, grain: Grain | None, more: tuple[str, ...]) -> SampleQuery:
    """The rows of a grain (with its key, and columns `more`), or of a relation, with the value of a column."""
    keys = tuple(dict.fromkeys((*grain.key, *more))) if grain else more
    query = dialect.select(*keys, exp.alias_(column(name), VALUE)).from_(dialect.table(table))
    return SampleQuery(query, keys, _instants(grain) if grain else frozenset())


def identifying(grain: Grain) -> tuple[str, ...]:
    """The columns that say which row of a grain it is: its key, and those that place it among hosts and in time."""
    bound = [pair.column for instant in grain.instants for pair in instant.on]
    placed = [
        node.name for instant in grain.instants if instant.value for node in instant.value.walk() if node.op == "column"
    ]
    known = {item.name for item in grain.columns}
    return tuple(dict.fromkeys(name for name in (*grain.key, *bound, *placed) if name in known or name in grain.key))


def ranked(table: str, keys: tuple[str, ...], greatest: bool, limit: int) -> exp.Select:
    """The greatest (or least) samples of a table of them; of equal ones the first by its keys."""
    order = [exp.Ordered(this=column(VALUE), desc=greatest), *(exp.Ordered(this=column(name)) for name in keys)]
    query = dialect.select("*").from_(dialect.table(table))
    query.set("order", exp.Order(expressions=order))
    return query.limit(limit)


def extremes(table: str) -> exp.Select:
    """One row: the number of samples, the least, the greatest."""
    value = column(VALUE)
    parts = [exp.Count(this=exp.Star()), exp.Min(this=value), exp.Max(this=value.copy())]
    return dialect.select(*parts).from_(dialect.table(table))


def grouped(table: str, per: str) -> exp.Select:
    """The number of samples and their mean for each value of a column, in order."""
    mean = exp.Avg(this=dialect.cast(column(VALUE), "real"))
    query = dialect.select(column(per), exp.Count(this=exp.Star()), mean).from_(dialect.table(table))
    return query.group_by(column(per)).order_by(column(per))


def binned(table: str, low: float, width: float, bins: int) -> exp.Select:
    """How many samples are in each of `bins` parts of the same width (above 0) from `low` on: part, number."""
    place = exp.Div(
        this=exp.paren(exp.Sub(this=dialect.cast(column(VALUE), "real"), expression=dialect.real(repr(low)))),
        expression=dialect.real(repr(width)),
    )
    part = exp.Anonymous(
        this="least", expressions=[dialect.cast(exp.Floor(this=place), "integer"), dialect.integer(bins - 1)]
    )
    query = dialect.select(exp.alias_(part, "part"), exp.alias_(exp.Count(this=exp.Star()), "n"))
    return query.from_(dialect.table(table)).group_by(part.copy()).order_by(part.copy())
