"""The samples of metrics one by one, and which branches of expressions they take: what examples are judged by."""

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
    """An alternative of an expression: the `number`th operand (from 1) of a first-that-is-there, in words."""

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
    """Make the tables that the statements of these names read; with `last_first` the records of events stand in the
    opposite order."""
    needed = demanded(graph, names)
    for node in graph:
        if node.name in needed and node.statement.kind in ("table", "view"):
            turned = last_first and isinstance(node.statement.step, EventStep)
            text = creation(_last_first(node.statement)) if turned else node.text
            limit.execute(
                connection,
                text,
                bind_parameters(node.places, constants),
                limit.read_limits(f"the SQL of `{node.name}`"),
            )


def _last_first(statement: Statement) -> Statement:
    """The table of an event with its last record first: kept as it stands, as what is asked of a view has no order."""
    order = [exp.Ordered(this=dialect.column(name), desc=True) for name in ("seq", HOST)]
    alias = exp.TableAlias(this=exp.to_identifier("records"))
    records = exp.Subquery(this=statement.query.copy(), alias=alias)
    return replace(statement, kind="table", query=dialect.select("*").from_(records).order_by(*order))


def broken_checks(
    connection: duckdb.DuckDBPyConnection, graph: Sequence[Node], constants: Mapping[str, object], label: str
) -> Iterator[Diagnostic]:
    """What the checks of a plan find; expects that the tables they read are made."""
    for node in graph:
        step = node.statement.step
        if isinstance(step, CheckStep) and step.check.severity == "error":
            limits = limit.read_limits(f"the SQL of `{node.name}`")
            cursor = limit.execute(connection, node.text, bind_parameters(node.places, constants), limits)
            first, more = offenders(cursor)
            if first is not None:
                yield check_problem(step, first, more, label)


def ascending(
    connection: duckdb.DuckDBPyConnection, metric: Metric, integral: bool, constants: Mapping[str, object]
) -> list[int | float]:
    """All samples of a metric (exact integers if `integral`) as measured, ascending; expects that its grain's table is
    made."""
    found = samples(metric, integral, places(list(constants)))
    query = exp.select("value").from_(found.subquery("samples")).order_by("value")
    return [row[0] for row in _rows(connection, query, constants)]


def find_taken_branches(
    connection: duckdb.DuckDBPyConnection,
    grain: str,
    expressions: Mapping[str, Expression],
    constants: Mapping[str, object],
) -> Iterator[Branch]:
    """The branches of expressions (by what they are of) that some row of a grain takes."""
    names = Names(constants=places(list(constants)))
    for of, expression in expressions.items():
        for branch, node in branches(of, expression):
            before = [is_present(compile_expression(item, names), False) for item in node.operands[: branch.number - 1]]
            own = is_present(compile_expression(node.operands[branch.number - 1], names), True)
            query = exp.select(exp.Count(this=exp.Star())).from_(dialect.table(grain)).where(*before, own)
            if _rows(connection, query, constants)[0][0]:
                yield branch


def branches(of: str, expression: Expression) -> Iterator[tuple[Branch, Expression]]:
    """All branches of an expression, each with the node that it is an operand of."""
    for node in expression.walk():
        if node.op == "coalesce":
            for number, operand in enumerate(node.operands, start=1):
                yield Branch(of, number, show(operand)), node


def is_present(value: exp.Expr, wanted: bool) -> exp.Expr:
    missing = exp.Is(this=exp.paren(value), expression=exp.Null())
    return exp.Not(this=missing) if wanted else missing


def _rows(connection: duckdb.DuckDBPyConnection, query: exp.Expr, constants: Mapping[str, object]) -> list[Any]:
    named = {str(place.this) for place in query.find_all(exp.Placeholder)}
    return connection.execute(dialect.text(query), bind_parameters(named, constants)).fetchall()
