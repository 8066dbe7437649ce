"""Find where lines of series end: at rows that say so, and where rows cease while those of other lines continue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from assay.lang.model.expression import Expression
from assay.lang.model.package import Gone, Series
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.expressions import Names, compile_expression

Constants = Mapping[str, object]
Stage = tuple[str, exp.Query]


def narrowed(query: exp.Select, where: Expression | None, constants: Constants) -> exp.Select:
    """Return the rows of a query for which a condition holds; all rows without a condition."""
    return query.where(compile_expression(where, Names(constants=constants)), copy=False) if where else query


def ended(series: Series, key: Sequence[str], gone: Gone, latest: str, constants: Constants) -> Iterable[Stage]:
    """Yield stages; the last has the rows of the stage `latest`, and the instant `ended`.

    That is the last instant (ns) at or before each step at which the line has ended; null where there is none.
    """
    ends, name = f"{latest}_ends", f"{latest}_ended"
    query: exp.Query = narrowed(
        dialect.select(*gone.on, "t_ns").from_(dialect.table(gone.event)), gone.where, constants
    )
    if series.ceases:
        beats, ceased = f"{latest}_beats", f"{latest}_ceased"
        yield beats, _select_beats(gone)
        yield ceased, _select_ceased(gone, beats)
        last = dialect.select(*gone.on, "t_ns").from_(dialect.table(ceased))
        query = exp.Union(this=query, expression=last, distinct=False)
    yield ends, query
    same = [exp.EQ(this=column(item, ends), expression=column(item, latest)) for item in gone.on]
    on = exp.and_(*same, exp.LTE(this=column("t_ns", ends), expression=column("t_ns", latest)))
    columns = [column(item, latest) for item in (*key, *series.by, "t_ns", "told", "value")]
    result = dialect.select(*columns, exp.alias_(column("t_ns", ends), "ended")).from_(dialect.table(latest))
    yield name, dialect.latest_before(result, dialect.table(ends), on)


def _select_beats(gone: Gone) -> exp.Select:
    """Return the rows of the event, with the gap (ns) to the row before."""
    order = exp.Order(expressions=[exp.Ordered(this=column("t_ns"))])
    partition = [column(item) for item in gone.on]
    before = exp.Window(this=_call_function("lag", column("t_ns")), partition_by=partition, order=order)
    gap = exp.alias_(exp.Sub(this=column("t_ns"), expression=before), "gap")
    return dialect.select(*gone.on, "t_ns", gap).from_(dialect.table(gone.event))


def _select_ceased(gone: Gone, beats: str) -> exp.Select:
    """Select the lines whose rows cease, with the instant at which the next row was due.

    A line has ceased when two more rows were due, at its median gap, before the last row of all lines.  A server marks
    the end of a line when it no longer reads it, which is when the next row was due.
    """
    last, median_gap = exp.Max(this=column("t_ns")), dialect.cast(_call_function("median", column("gap")), "integer")
    due = exp.Add(this=last, expression=median_gap)
    second = exp.Add(this=due.copy(), expression=median_gap.copy())
    last_of_all = dialect.select(exp.Max(this=column("t_ns"))).from_(dialect.table(beats)).subquery()
    query = dialect.select(*gone.on, exp.alias_(due, "t_ns")).from_(dialect.table(beats))
    return query.group_by(*(column(item) for item in gone.on)).having(exp.LTE(this=second, expression=last_of_all))


def _call_function(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))
