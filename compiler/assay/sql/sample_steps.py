"""Count how many rows of a metric's grain are left after each step from its rows to its samples.

`count_steps` counts the rows, `count_matches` the records that an instant of the rows is bound to.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Instant, Metric
from assay.lang.reserved_names import ACCEPTED, get_rows_name
from assay.sql import dialect
from assay.sql.completeness import HAS, RECORDS, ROWS, VALUES, Constants, iter_read_columns
from assay.sql.dialect import build_column
from assay.sql.expressions import Names, compile_expression
from assay.sql.template import Slot, fill_query

#: columns of the counts, next to those of `sql.completeness`
IN_PART, WITH_ALL, MEETING, LEFT, KNOWN = "in_part", "with_all", "meeting", "left_over", "known"


@dataclass(frozen=True, slots=True)
class ReadColumns:
    """The columns of a grain's rows that a metric reads, each once: in its measure, and only in its condition."""

    measure: tuple[str, ...]
    where: tuple[str, ...]


def list_read_columns(metric: Metric, grain: Grain) -> ReadColumns:
    """List the columns of a grain's rows that a metric reads, its instants first, in the grain's order."""
    instants = [item.name for item in grain.instants]

    def list_columns(expression: Expression | None) -> tuple[str, ...]:
        names = dict.fromkeys(iter_read_columns(expression, grain) if expression else ())
        return (*(name for name in instants if name in names), *(name for name in names if name not in instants))

    measured = list_columns(metric.measure)
    return ReadColumns(measured, tuple(name for name in list_columns(metric.where) if name not in measured))


def count_steps(metric: Metric, grain: Grain, constants: Constants) -> exp.Select:
    """Count the rows of a metric's grain, in one result row.

    `total`: rows of the run; `in_part`: those in the phase that have a row of the grain's subject; of these,
    `has_<column>`: rows with a column that the metric reads; `with_all`: with all columns that its measure reads;
    `with_value`: with a value; `meeting`: those that meet the metric's condition, too; `left_over`: those that the
    filters accept.
    """
    names = Names(constants=constants)
    columns = list_read_columns(metric, grain)
    has_value = _build_presence(exp.paren(compile_expression(metric.measure, names)))
    meets = exp.and_(has_value, *([compile_expression(metric.where, names)] if metric.where else []))
    steps = {
        WITH_ALL: exp.and_(exp.true(), *(_build_presence(build_column(name)) for name in columns.measure)),
        VALUES: has_value,
        MEETING: meets,
        LEFT: exp.and_(meets, *([build_column(ACCEPTED)] if metric.accepted else [])),
    }
    names_read = (*columns.measure, *columns.where)
    counts = [exp.alias_(exp.Count(this=build_column(name)), f"{HAS}{name}") for name in names_read]
    counts += [exp.alias_(exp.CountIf(this=condition.copy()), name) for name, condition in steps.items()]
    query = "SELECT (SELECT count(*) FROM $rows) AS $total, count(*) AS $in_part, $counts FROM $grain"
    slots: dict[str, Slot] = {"total": ROWS, "in_part": IN_PART, "counts": counts}
    return fill_query(query, rows=get_rows_name(grain.name), grain=grain.name, **slots)


def _build_presence(value: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))


def count_matches(instant: Instant, constants: Constants) -> exp.Select:
    """Count the records (or rows) of the table that an instant is bound to, in one result row.

    `records`: all; `meeting`: those that meet the instant's condition; `known`: of these, those whose keys all agree
    with one row of the grain.
    """
    condition = compile_expression(instant.where, Names(constants=constants)) if instant.where else exp.true()
    keys = [f"key_{number}" for number in range(1, len(instant.on) + 1)]
    field_keys = [exp.alias_(build_column(pair.field), key) for pair, key in zip(instant.on, keys, strict=True)]
    column_keys = [exp.alias_(build_column(pair.column), key) for pair, key in zip(instant.on, keys, strict=True)]
    records = fill_query(
        "SELECT $condition AS meets, $keys FROM $table", condition=condition, keys=field_keys, table=instant.of
    )
    rows = fill_query("SELECT DISTINCT TRUE AS known, $keys FROM $grain", keys=column_keys, grain=instant.grain)
    agree = [exp.EQ(this=build_column(key, "bound"), expression=build_column(key, "grain")) for key in keys]
    counts = {
        RECORDS: exp.Count(this=exp.Star()),
        MEETING: exp.CountIf(this=build_column("meets", "bound")),
        KNOWN: exp.CountIf(this=exp.and_(build_column("meets", "bound"), build_column("known", "grain"))),
    }
    query = dialect.select(*(exp.alias_(value, name) for name, value in counts.items()))
    query = query.from_(records.subquery(alias="bound"))
    return query.join(rows.subquery(alias="grain"), on=exp.and_(*agree) if agree else exp.true(), join_type="LEFT")
