"""Series that are worked out of others: the terms' values at a step, lines made one, then an expression of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from assay.lang.model.package import Series, Term
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.expressions import Names, compile_expression

Constants = Mapping[str, object]
VALUE = "value"


def joined(series: Series, key: Sequence[str], constants: Constants) -> list[tuple[str, exp.Query]]:
    """The stages of a series of terms; the last has the columns `key`, labels, `t_ns` and `value`."""
    columns = (*key, *series.by, "t_ns")
    stages: list[tuple[str, exp.Query]] = [
        (f"term_{number}", _term(term, columns)) for number, term in enumerate(series.terms, start=1)
    ]
    names = [name for name, _ in stages]
    values = [exp.alias_(column(VALUE, name), term.name) for name, term in zip(names, series.terms, strict=True)]
    known = dialect.select(*(column(name, names[0]) for name in columns), *values).from_(dialect.table(names[0]))
    for name in names[1:]:
        on = exp.and_(*(exp.EQ(this=column(item, name), expression=column(item, names[0])) for item in columns))
        known = known.join(dialect.table(name), on=on)
    assert series.value is not None
    value = compile_expression(series.value, Names(constants=constants))
    result = dialect.select(*columns, exp.alias_(value, VALUE)).from_(dialect.table("terms"))
    return [*stages, ("terms", known), ("read_1", result)]


def _term(term: Term, columns: Sequence[str]) -> exp.Select:
    """A row for each line and step: the value itself, or what the lines that agree come to."""
    if not term.over:
        return dialect.select(*columns, VALUE).from_(dialect.table(term.series))
    query = dialect.select(*columns, exp.alias_(_made_one(term.over), VALUE)).from_(dialect.table(term.series))
    return query.group_by(*(column(name) for name in columns))


def _made_one(over: str) -> exp.Expr:
    """One value of several; sums are taken in ascending order, so that no order of rows or threads shows."""
    simple = {"least": exp.Min, "greatest": exp.Max}.get(over)
    if simple:
        return simple(this=column(VALUE))
    total = dialect.exact_sum(dialect.ordered_list(column(VALUE)))
    return total if over == "sum" else exp.Div(this=total, expression=exp.Count(this=exp.Star()))
