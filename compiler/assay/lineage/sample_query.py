"""Build queries for the samples of a metric or the rows of a series, which can be rewritten to carry their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from assay.lang.model.package import Grain, Metric
from assay.plan.planner import SeriesStep
from assay.sql import dialect, distributions
from assay.sql.dialect import build_column
from assay.sql.expressions import build_literal

VALUE = "value"


@dataclass(frozen=True, slots=True)
class SampleQuery:
    """A query with a row per sample: the columns `keys`, which identify it, and `value`.

    `instants` are the keys that are instants, in ns since 1970.
    """

    query: exp.Select
    keys: tuple[str, ...]
    instants: frozenset[str]


def build_metric_query(
    metric: Metric, grain: Grain, integral: bool, constants: Mapping[str, object], extra_columns: tuple[str, ...] = ()
) -> SampleQuery:
    """Return the query for the samples of a metric, as exact integers if `integral`.

    Samples of a reduction are identified by its groups, others by the keys of the grain and the columns
    `extra_columns`.
    """
    query = distributions.select_samples(metric, integral, constants)
    keys = (
        tuple(dict.fromkeys((*list_identifying_columns(grain), *extra_columns)))
        if metric.reduction is None
        else metric.reduction.by
    )
    selected = {item.alias_or_name for item in query.selects}
    missing = [name for name in keys if name not in selected]
    query = query.select(*(build_column(name) for name in missing), append=True)
    if metric.per and metric.per not in keys:
        keys = (metric.per, *keys)
        if metric.per not in {item.alias_or_name for item in query.selects}:
            query = query.select(build_column(metric.per))
    return SampleQuery(query, keys, _find_instants(grain))


def _find_instants(grain: Grain) -> frozenset[str]:
    """Return the members of a grain that are instants."""
    columns = {item.name for item in grain.all_columns if item.type == "instant"}
    return frozenset(columns | {item.name for item in grain.instants})


def build_series_query(
    step: SeriesStep,
    since: int | None = None,
    until: int | None = None,
    where: Sequence[tuple[str, str]] = (),
) -> SampleQuery:
    """Return the query for the rows of a series between two instants in ns, both included (None: unbounded).

    `where` has labels and their values, which select lines.
    """
    query = distributions.select_lines(step)
    if since is not None:
        query = query.where(exp.GTE(this=build_column("t_ns"), expression=dialect.build_integer(since)))
    if until is not None:
        query = query.where(exp.LTE(this=build_column("t_ns"), expression=dialect.build_integer(until)))
    for name, value in where:
        query = query.where(exp.EQ(this=build_column(name), expression=exp.Literal.string(value)))
    query.set("order", None)
    return SampleQuery(query, (*step.key, *step.series.by, "t_ns"), frozenset(["t_ns"]))


def build_column_query(table: str, name: str, grain: Grain | None, extra_columns: tuple[str, ...]) -> SampleQuery:
    """Return the query for a column of a grain (with its key and the columns `extra_columns`) or of a relation."""
    keys = tuple(dict.fromkeys((*grain.key, *extra_columns))) if grain else extra_columns
    query = dialect.select(*keys, exp.alias_(build_column(name), VALUE)).from_(dialect.build_table(table))
    return SampleQuery(query, keys, _find_instants(grain) if grain else frozenset())


def list_identifying_columns(grain: Grain) -> tuple[str, ...]:
    """Return the columns that identify a row of a grain: its key, and those that place it among hosts and in time."""
    joined = [pair.column for instant in grain.instants for pair in instant.on]
    timed = [
        node.name for instant in grain.instants if instant.value for node in instant.value.walk() if node.op == "column"
    ]
    columns = {item.name for item in grain.columns}
    return tuple(dict.fromkeys(name for name in (*grain.key, *joined, *timed) if name in columns or name in grain.key))


def select_ranked(
    table: str, keys: tuple[str, ...], greatest: bool, limit: int, equal_to: float | None = None, skip: int = 0
) -> exp.Select:
    """Return the query for the greatest (or least) samples of a table; equal samples are ordered by their keys.

    `equal_to` selects the samples of one value; `skip` leaves out so many of the first.
    """
    order = [
        exp.Ordered(this=build_column(VALUE), desc=greatest),
        *(exp.Ordered(this=build_column(name)) for name in keys),
    ]
    query = dialect.select("*").from_(dialect.build_table(table))
    query.set("order", exp.Order(expressions=order))
    if equal_to is not None:
        query = query.where(exp.EQ(this=build_column(VALUE), expression=build_literal(equal_to)))
    return query.limit(limit).offset(skip) if skip else query.limit(limit)


def select_extremes(table: str) -> exp.Select:
    """Return the query for one row: the number of samples, the least, the greatest."""
    value = build_column(VALUE)
    parts = [exp.Count(this=exp.Star()), exp.Min(this=value), exp.Max(this=value.copy())]
    return dialect.select(*parts).from_(dialect.build_table(table))


def select_groups(table: str, per: str) -> exp.Select:
    """Return the query for the number of samples and their mean per value of a column, in order."""
    mean = exp.Avg(this=dialect.cast(build_column(VALUE), "real"))
    query = dialect.select(build_column(per), exp.Count(this=exp.Star()), mean).from_(dialect.build_table(table))
    return query.group_by(build_column(per)).order_by(build_column(per))


def select_bins(table: str, low: float, width: float, bins: int) -> exp.Select:
    """Return the query for the number of samples per bin: `bins` bins of equal width (> 0) from `low`; bin, number."""
    place = exp.Div(
        this=exp.paren(
            exp.Sub(this=dialect.cast(build_column(VALUE), "real"), expression=dialect.build_real(repr(low)))
        ),
        expression=dialect.build_real(repr(width)),
    )
    part = exp.Anonymous(
        this="least", expressions=[dialect.cast(exp.Floor(this=place), "integer"), dialect.build_integer(bins - 1)]
    )
    query = dialect.select(exp.alias_(part, "part"), exp.alias_(exp.Count(this=exp.Star()), "n"))
    return query.from_(dialect.build_table(table)).group_by(part.copy()).order_by(part.copy())
