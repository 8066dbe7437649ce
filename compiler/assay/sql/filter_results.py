"""How many rows of a grain each filter rejected."""

from __future__ import annotations

from sqlglot import exp

from assay.plan.planner import JudgeStep
from assay.sql import dialect
from assay.sql.dialect import column


def count_rejections(step: JudgeStep) -> exp.Select:
    """One row: the number of rows, the number of accepted ones, then for each filter how many it rejected."""
    accepted = exp.Case(ifs=[exp.If(this=column("accepted"), true=dialect.integer(1))])
    query = exp.select(exp.Count(this=exp.Star()), exp.Count(this=accepted))
    for index in range(1, len(step.applied) + 1):
        failed = exp.Case(ifs=[exp.If(this=exp.Not(this=column(f"passes_{index}")), true=dialect.integer(1))])
        query = query.select(exp.Count(this=failed))
    return query.from_(step.name)
