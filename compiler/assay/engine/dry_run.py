"""Run every statement of a plan on empty tables, to compare what SQL yields with what it declares.

Their sum depends in its last digits on which are added first, and that on the number of threads.  The engine tells the
types of all that a query works out, in its plan.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engine.connection import Limits, apply_limits
from assay.engine.declared import place_in, places_of, text_of, undeclared
from assay.engine.graph import Node, demanded
from assay.engine.mount import bind_parameters, confine
from assay.lang.model.package import Constant
from assay.lang.model.vocabulary import SINCE, UNTIL
from assay.lang.reserved_names import SERIES
from assay.lang.scopes import HOST, LOG_COLUMNS, LOGS
from assay.plan.planner import CheckStep, EventStep, RelationStep
from assay.sql import dialect
from assay.sql.dialect import empty_table
from assay.sql.error_positions import near, of_word
from assay.sql.relations import filled
from assay.util.diagnostics import Diagnostic, did_you_mean

if TYPE_CHECKING:
    import duckdb


#: functions of a group that add or multiply on the way
_SUMS = frozenset(
    (
        "sum", "avg", "mean", "fsum", "sumkahan", "kahan_sum", "favg", "product", "geomean", "geometric_mean",
        "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "sem", "skewness", "kurtosis",
        "kurtosis_pop", "entropy", "corr", "covar_samp", "covar_pop", "regr_avgx", "regr_avgy", "regr_intercept",
        "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy",
    )
)  # fmt: skip
_REAL = ("DOUBLE", "FLOAT")
_AS_PLANNED = "SELECT json_serialize_plan(?, optimize := false)"
_WHOLE = ("UNBOUNDED_PRECEDING", "UNBOUNDED_FOLLOWING")


def inexact(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[str]:
    """The functions of a query, without places, over tables of the connection, that add up real numbers in no order.

    Of lists they are not: these have one.  None of a query that the engine can plan and not write down.
    """
    row = connection.execute(_AS_PLANNED, [sql]).fetchone()
    assert row is not None
    yield from dict.fromkeys(name for item in _calls(json.loads(row[0])) if (name := _name(item)))


def _calls(plan: object) -> Iterator[Mapping[str, Any]]:
    """The functions of groups and of windows in a plan, but for those that lists are given to."""
    if isinstance(plan, list):
        for item in plan:
            yield from _calls(item)
    elif isinstance(plan, dict):
        if plan.get("expression_class") in ("BOUND_AGGREGATE", "BOUND_WINDOW"):
            yield plan
        for key, item in plan.items():
            if key != "function_data":
                yield from _calls(item)


def _name(call: Mapping[str, Any]) -> str:
    """What a call is to, where it adds up real numbers in no order; else empty."""
    name = str(call.get("qname", {}).get("path", [""])[-1])
    real = any(item["id"] in _REAL for item in call.get("arguments", ()))
    return name if name in _SUMS and real and not _ordered(call) else ""


def _ordered(call: Mapping[str, Any]) -> bool:
    """Whether a call is told which of its rows come first; of a window, also by that it is of the rows up to each."""
    if call["expression_class"] == "BOUND_AGGREGATE":
        return bool(call.get("order_bys"))
    return bool(call.get("arg_orders")) or bool(call.get("orders") and (call.get("start"), call.get("end")) != _WHOLE)


SECONDS = 20
MEMORY = "1GB"
ROOM = 1500  # MiB by which the process may grow during a statement
_KEYS = {HOST: "text", "seq": "integer", "t_ns": "instant", SERIES: "integer"}
_SAMPLES: Mapping[str, object] = {
    "integer": 1, "real": 0.5, "text": "", "boolean": False, "instant": 0, "duration": 1_000_000_000,
}  # fmt: skip


def dry_run(
    graph: Sequence[Node], constants: Iterable[Constant], passed: Iterable[Node] = ()
) -> tuple[Diagnostic, ...]:
    """Problems of the statements: those that fail, and relations that do not yield what they declare.

    `passed` are statements of the same specs that have none: they are run again only where another reads them.
    """
    import duckdb

    values = {item.name: _SAMPLES[item.type] for item in constants} | {SINCE: 0, UNTIL: 1}
    problems: list[Diagnostic] = []
    needed = demanded(graph, _unlike(graph, passed))
    spoilt: set[str] = set()  # tables that are not what they are declared to be, and those that are made of them
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        confine(connection)
        connection.execute(empty_table(LOGS, ((name, found.type) for name, found in LOG_COLUMNS.items())))
        for node in graph:
            if node.name not in needed:
                continue
            step = node.statement.step
            if isinstance(step, EventStep):
                fields = [(item.name, item.type) for item in step.event.fields if item.name in step.fields]
                base = [(name, _KEYS[name]) for name in step.keys]
                connection.execute(empty_table(step.name, (*base, *fields)))
                continue
            if node.name == LOGS:
                continue
            spoilt |= {node.name} if spoilt & set(node.reads) else set()
            constants_of = bind_parameters(node.places, values)
            limits = Limits(f"the SQL of `{node.name}` on empty tables", SECONDS, ROOM, is_fixed=True)
            try:
                with apply_limits(connection, limits):
                    connection.execute(node.text, constants_of)
                    if isinstance(step, CheckStep):
                        problems += _unknown_places(step, [str(item[0]) for item in connection.description or ()])
                    if isinstance(step, RelationStep):
                        wrong = list(undeclared(connection, step.relation))
                        problems += wrong
                        spoilt |= {node.name} if wrong else set()
                    problems += _unordered_sums(connection, node, values)
            except duckdb.InterruptException:
                problems += (replace(item, text=text_of(node)) for item in limits.too_long().diagnostics)
                break
            except duckdb.Error as error:
                if node.name in spoilt:
                    continue  # it fails for what is told already
                with apply_limits(connection, limits):
                    problems.append(_failed(connection, node, constants_of, error, _columns(graph, node)))
                break
    return tuple(problems)


def _unordered_sums(
    connection: duckdb.DuckDBPyConnection, node: Node, values: Mapping[str, object]
) -> Iterator[Diagnostic]:
    """Sums of real numbers that the SQL of specs takes in no order."""
    sql = text_of(node)
    if not sql:
        return
    for name in inexact(connection, dialect.text(filled(node.statement.query, values))):
        said = f"the SQL of `{node.name}` has a `{name}` of real numbers in no order: the engine may take others first"
        yield Diagnostic(
            "sql-order",
            f"{said} each time, and its last digits are other ones then",
            of_word(sql, name, before="("),
            expected=f"ORDER BY within it, such as `{name}(value ORDER BY value)`",
            hint="sums of whole numbers need none",
            text=sql,
        )


def _unlike(graph: Iterable[Node], others: Iterable[Node]) -> set[str]:
    """The statements that are not among others, or read such."""
    texts = {node.name: node.text for node in others}
    found: set[str] = set()
    for node in graph:
        if texts.get(node.name) != node.text or found & set(node.reads):
            found.add(node.name)
    return found


def _unknown_places(step: CheckStep, columns: Sequence[str]) -> Iterator[Diagnostic]:
    """Places of a check's texts that name none of its columns."""
    for name in places_of(step.check.message + step.check.hint):
        if name not in columns:
            message = f"check `{step.check.code}` of `{step.table}` speaks of a column that it does not have: `{name}`"
            yield Diagnostic("check-place", message, found=", ".join(columns), hint=did_you_mean(name, columns))


def _columns(graph: Iterable[Node], node: Node) -> list[str]:
    """The columns of the tables that a relation uses, those too that nothing names so far."""
    step = node.statement.step
    used = {*step.relation.uses} if isinstance(step, RelationStep) else set()
    steps = [item.statement.step for item in graph]
    events = [one.event for one in steps if isinstance(one, EventStep) and one.name in used]
    relations = [one.relation for one in steps if isinstance(one, RelationStep) and one.relation.name in used]
    fields = [item.name for event in events for form in event.forms for item in form.fields]
    return [*fields, *(column.name for relation in relations for column in relation.columns)]


def _failed(
    connection: duckdb.DuckDBPyConnection,
    node: Node,
    values: Mapping[str, object] | None,
    error: Exception,
    columns: Iterable[str],
) -> Diagnostic:
    said = str(error)
    sql = text_of(node)
    place = place_in(connection, sql, values)
    excerpt = said[said.index("LINE ") :] if "LINE " in said and not place else ""
    cause = said.split("\n")[0]
    return Diagnostic(
        "sql", f"the SQL of `{node.name}` fails: {cause}", place, excerpt, hint=near(said, columns), text=sql
    )
