"""Find where lines of series end: at events that end them, and where rows cease while other lines continue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from assay.lang.model.expression import Expression
from assay.lang.model.series import Gone, Series
from assay.sql.dialect import build_column
from assay.sql.expressions import Names, compile_expression
from assay.sql.template import fill_query

Constants = Mapping[str, object]
Stage = tuple[str, exp.Query]


def filter_rows(query: exp.Select, where: Expression | None, constants: Constants) -> exp.Select:
    """Return the rows of a query for which a condition holds; all rows without a condition."""
    return query.where(compile_expression(where, Names(constants=constants)), copy=False) if where else query


def compile_ends(series: Series, key: Sequence[str], gone: Gone, latest: str, constants: Constants) -> Iterable[Stage]:
    """Yield stages; the last has the rows of the stage `latest`, and the instant `ended`.

    That is the last end (ns) of the line at or before each step; null if the line has not ended.
    """
    ends, name = f"{latest}_ends", f"{latest}_ended"
    rows = fill_query("SELECT $line, t_ns FROM $event", line=gone.on, event=gone.event)
    query: exp.Query = filter_rows(rows, gone.where, constants)
    if series.ceases:
        beats, ceased = f"{latest}_beats", f"{latest}_ceased"
        yield beats, fill_query(_BEATS, line=gone.on, event=gone.event)
        yield ceased, fill_query(_CEASED, line=gone.on, beats=beats)
        last = fill_query("SELECT $line, t_ns FROM $ceased", line=gone.on, ceased=ceased)
        query = exp.Union(this=query, expression=last, distinct=False)
    yield ends, query
    result = """
        SELECT $latest.$columns, $ends.t_ns AS ended
        FROM $latest ASOF LEFT JOIN $ends ON $same AND $ends.t_ns <= $latest.t_ns
    """
    columns = (*key, *series.by, "t_ns", "sampled_ns", "value")
    same = [exp.EQ(this=build_column(item, ends), expression=build_column(item, latest)) for item in gone.on]
    yield name, fill_query(result, latest=latest, columns=columns, ends=ends, same=same)


#: the rows of the event, with the gap (ns) to the row before
_BEATS = """
    SELECT $line, t_ns, t_ns - lag(t_ns) OVER (PARTITION BY $line ORDER BY t_ns) AS gap FROM $event
"""

#: The lines whose rows cease, with the instant at which the next row was due.
#:
#: A line has ceased when two more rows were due, at its median gap, before the last row of all lines.  A server marks
#: the end of a line when it no longer reads it, which is when the next row was due.
_CEASED = """
    SELECT $line, max(t_ns) + median(gap)::BIGINT AS t_ns
    FROM $beats GROUP BY $line
    HAVING max(t_ns) + median(gap)::BIGINT + median(gap)::BIGINT <= (SELECT max(t_ns) FROM $beats)
"""
