"""Compute the samples of metrics one by one, and the branches of expressions that rows take, for `assay test`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.engine import connection as limit
from assay.engine.executor import check_problem, offenders
from assay.engine.graph import Node, demanded
from assay.engine.mount import bind_parameters
from assay.lang.model.expression import Expression, show
from assay.lang.model.package import Metric
from assay.lang.scopes import HOST
from assay.plan.planner import CheckStep, EventStep
from assay.sql import dialect
from assay.sql.codegen import Statement, creation
from assay.sql.distributions import samples
from assay.sql.expressions import Names, compile_expression, places
from assay.util.diagnostics import Diagnostic

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class Branch:
    """An alternative of an expression: the `number`th operand (from 1) of a `coalesce`, in words."""

    of: str
    number: int
    text: str


def create(
    connection: duckdb.DuckDBPyConnection,
    graph: Sequence[Node],
    names: set[str],
    constants: Mapping[str, object],
    last_first: bool = False,
) -> None:
    """Create the tables that the statements `names` read.

    With `last_first`, the records of events are in reverse order.
    """
    needed = demanded(graph, names)
    for node in graph:
        if node.name in needed and node.statement.kind in ("table", "view"):
            is_reversed = last_first and isinstance(node.statement.step, EventStep)
            text = creation(_reverse_records(node.statement)) if is_reversed else node.text
            limit.execute(
                connection,
                text,
                bind_parameters(node.places, constants),
                limit.read_limits(f"the SQL of `{node.name}`"),
            )


def _reverse_records(statement: Statement) -> Statement:
    """Return the table of an event with its last record first; a view would have no defined order."""
    order = [exp.Ordered(this=dialect.column(name), desc=True) for name in ("seq", HOST)]
    alias = exp.TableAlias(this=exp.to_identifier("records"))
    records = exp.Subquery(this=statement.query.copy(), alias=alias)
    return replace(statement, kind="table", query=dialect.select("*").from_(records).order_by(*order))


def broken_checks(
    connection: duckdb.DuckDBPyConnection, graph: Sequence[Node], constants: Mapping[str, object], label: str
) -> Iterator[Diagnostic]:
    """Yield the problems of the failed checks of a plan.  Expects that the tables that they read exist."""
    for node in graph:
        step = node.statement.step
        if isinstance(step, CheckStep) and step.check.severity == "error":
            limits = limit.read_limits(f"the SQL of `{node.name}`")
            cursor = limit.execute(connection, node.text, bind_parameters(node.places, constants), limits)
            first, further_count = offenders(cursor)
            if first is not None:
                yield check_problem(step, first, further_count, label)


def ascending(
    connection: duckdb.DuckDBPyConnection, metric: Metric, integral: bool, constants: Mapping[str, object]
) -> list[int | float]:
    """Return all samples of a metric as measured, ascending; `integral`: they are exact integers.

    Expects that the table of the metric's grain exists.
    """
    sample_query = samples(metric, integral, places(list(constants)))
    query = exp.select("value").from_(sample_query.subquery("samples")).order_by("value")
    return [row[0] for row in _fetch_rows(connection, query, constants)]


def find_taken_branches(
    connection: duckdb.DuckDBPyConnection,
    grain: str,
    expressions: Mapping[str, Expression],
    constants: Mapping[str, object],
) -> Iterator[Branch]:
    """Yield the branches of expressions (by their names) that some row of a grain takes."""
    names = Names(constants=places(list(constants)))
    for name, expression in expressions.items():
        for branch, node in branches(name, expression):
            earlier_are_null = [
                is_present(compile_expression(item, names), False) for item in node.operands[: branch.number - 1]
            ]
            is_taken = is_present(compile_expression(node.operands[branch.number - 1], names), True)
            query = (
                exp.select(exp.Count(this=exp.Star())).from_(dialect.table(grain)).where(*earlier_are_null, is_taken)
            )
            if _fetch_rows(connection, query, constants)[0][0]:
                yield branch


def branches(name: str, expression: Expression) -> Iterator[tuple[Branch, Expression]]:
    """Yield all branches of an expression, each with the node that has it as an operand."""
    for node in expression.walk():
        if node.op == "coalesce":
            for number, operand in enumerate(node.operands, start=1):
                yield Branch(name, number, show(operand)), node


def is_present(value: exp.Expr, wanted: bool) -> exp.Expr:
    """Return the condition that a value is not null; if not `wanted`, that it is null."""
    is_null = exp.Is(this=exp.paren(value), expression=exp.Null())
    return exp.Not(this=is_null) if wanted else is_null


def _fetch_rows(connection: duckdb.DuckDBPyConnection, query: exp.Expr, constants: Mapping[str, object]) -> list[Any]:
    placeholders = {str(placeholder.this) for placeholder in query.find_all(exp.Placeholder)}
    return connection.execute(dialect.text(query), bind_parameters(placeholders, constants)).fetchall()
