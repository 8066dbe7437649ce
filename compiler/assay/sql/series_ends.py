"""What ends lines of series: rows that say so, and rows that cease while those of others go on."""

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
    """The rows of a query where a condition holds; all of them without one."""
    return query.where(compile_expression(where, Names(constants=constants)), copy=False) if where else query


def ended(series: Series, key: Sequence[str], gone: Gone, told: str, constants: Constants) -> Iterable[Stage]:
    """Stages, of which the last has the rows of `told` and `ended`: the last instant (ns) at or before each step at
    which the line was gone; null where there is none."""
    ends, name = f"{told}_ends", f"{told}_ended"
    query: exp.Query = narrowed(
        dialect.select(*gone.on, "t_ns").from_(dialect.table(gone.event)), gone.where, constants
    )
    if series.ceases:
        beats, ceased = f"{told}_beats", f"{told}_ceased"
        yield beats, _beats(gone)
        yield ceased, _ceased(gone, beats)
        last = dialect.select(*gone.on, "t_ns").from_(dialect.table(ceased))
        query = exp.Union(this=query, expression=last, distinct=False)
    yield ends, query
    same = [exp.EQ(this=column(item, ends), expression=column(item, told)) for item in gone.on]
    on = exp.and_(*same, exp.LTE(this=column("t_ns", ends), expression=column("t_ns", told)))
    columns = [column(item, told) for item in (*key, *series.by, "t_ns", "told", "value")]
    found = dialect.select(*columns, exp.alias_(column("t_ns", ends), "ended")).from_(dialect.table(told))
    yield name, dialect.latest_before(found, dialect.table(ends), on)


def _beats(gone: Gone) -> exp.Select:
    """The rows of the event, and how far each is from the one before (ns)."""
    order = exp.Order(expressions=[exp.Ordered(this=column("t_ns"))])
    partition = [column(item) for item in gone.on]
    before = exp.Window(this=_call("lag", column("t_ns")), partition_by=partition, order=order)
    gap = exp.alias_(exp.Sub(this=column("t_ns"), expression=before), "gap")
    return dialect.select(*gone.on, "t_ns", gap).from_(dialect.table(gone.event))


def _ceased(gone: Gone, beats: str) -> exp.Select:
    """Whose rows cease, and when the next one was due: a server that no longer asks for it marks the line then.

    They cease when two were due before the last row of all; that is told by the middle of their distances.
    """
    last, middle = exp.Max(this=column("t_ns")), dialect.cast(_call("median", column("gap")), "integer")
    due = exp.Add(this=last, expression=middle)
    second = exp.Add(this=due.copy(), expression=middle.copy())
    of_all = dialect.select(exp.Max(this=column("t_ns"))).from_(dialect.table(beats)).subquery()
    query = dialect.select(*gone.on, exp.alias_(due, "t_ns")).from_(dialect.table(beats))
    return query.group_by(*(column(item) for item in gone.on)).having(exp.LTE(this=second, expression=of_all))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))
