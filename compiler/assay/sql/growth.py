"""Count how the samples of a metric grow on the first host from one to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from sqlglot import exp

from assay.lang.model.package import Grain, Metric
from assay.lang.reserved_names import ACCEPTED
from assay.lang.scopes import HOST
from assay.sql import dialect
from assay.sql.completeness import find_host_column
from assay.sql.dialect import build_column
from assay.sql.expressions import Names, compile_expression
from assay.sql.template import fill_expression

#: columns of the counts: steps, those that rise, those that fall, and those that fall to more than half; series; and
#: whether one step rises by more than a quarter of the range of the samples
COUNTED = ("steps", "rises", "falls", "partial", "series", "jumps")
_POSITION = "seq"  # the column of grains of records with the position in the log of a host
_COUNTS = {
    "steps": "count(before)",
    "rises": "count_if(value > before)",
    "falls": "count_if(value < before)",
    "partial": "count_if(value < before AND value > before / 2)",
    "series": "count_if(before IS NULL)",
    "jumps": "coalesce(4 * max(value - before) > max(value) - min(value), false)::INTEGER",
}


def count_steps(
    metrics: Sequence[Metric], grain: Grain, members: Set[str], constants: Mapping[str, object]
) -> exp.Select | None:
    """Return the query that counts the steps from each sample of a metric to the next; None if no samples are in order.

    The samples are those of the first host, and of a combination of the dimensions that the grain has among its
    `members`.  A metric without samples yields no row.
    """
    selected = ((metric.id, _select_steps(metric, grain, members, constants)) for metric in metrics)
    samples = [query.select(exp.alias_(exp.Literal.string(name), "metric")) for name, query in selected if query]
    if not samples:
        return None
    counts = [exp.alias_(fill_expression(_COUNTS[name]), name) for name in COUNTED]
    rows = exp.union(*samples, distinct=False) if len(samples) > 1 else samples[0]
    query = dialect.select("metric", *counts).from_(rows.subquery("samples"))
    return query.group_by(build_column("metric")).order_by(build_column("metric"))


def _select_steps(
    metric: Metric, grain: Grain, members: Set[str], constants: Mapping[str, object]
) -> exp.Select | None:
    """Select the samples of a metric, each with the one `before` it; None if they have no order."""
    columns = {column.name for column in grain.all_columns}
    order = grain.time if grain.time in members else _POSITION if _POSITION in grain.key else ""
    if not order:
        return None
    host = find_host_column(metric, grain) or (HOST if HOST in columns & members else "")
    by = dict.fromkeys(name for name in (host, *grain.dimensions) if name and name in members and name != order)
    names = Names(constants=constants)
    rows = dialect.build_table(metric.grain)
    value = exp.cast(exp.paren(compile_expression(metric.measure, names)), dialect.TYPES["real"])
    before = exp.Window(
        this=exp.Lag(this=value.copy()),
        partition_by=[build_column(name) for name in by],
        order=exp.Order(expressions=[exp.Ordered(this=item) for item in (build_column(order), value.copy())]),
    )
    samples = dialect.select(exp.alias_(value, "value"), exp.alias_(before, "before"))
    samples = samples.from_(rows)
    if host:  # one host is enough, and the others may be many
        first = dialect.select(exp.Min(this=build_column(host))).from_(rows.copy())
        samples = samples.where(exp.EQ(this=build_column(host), expression=first.subquery()))
    samples = samples.where(exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())))
    if metric.accepted:
        samples = samples.where(build_column(ACCEPTED))
    if metric.where:
        samples = samples.where(compile_expression(metric.where, names))
    return samples
