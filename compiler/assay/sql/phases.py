"""Phases as SQL: the condition that a row is in one, whose bounds are parameters, and named instants of a run."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from assay.lang.model.phase import SINCE, UNTIL, Cut
from assay.lang.model.picks import LAST
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.expressions import Names, compile_expression


def within(instant: exp.Expr) -> exp.Expr:
    """That an instant is in the phase: at or after its first ns, before the first ns after it."""
    return exp.and_(
        exp.GTE(this=instant, expression=exp.Placeholder(this=SINCE)),
        exp.LT(this=instant.copy(), expression=exp.Placeholder(this=UNTIL)),
    )


def instant(cut: Cut, constants: Mapping[str, object]) -> exp.Select:
    """One row: `t_ns`, the instant, null where no row tells it."""
    pick = exp.Max if cut.pick == LAST else exp.Min
    query = dialect.select(exp.alias_(pick(this=column(cut.column)), "t_ns")).from_(dialect.table(cut.of))
    return query.where(compile_expression(cut.where, Names(constants=constants)), copy=False) if cut.where else query
