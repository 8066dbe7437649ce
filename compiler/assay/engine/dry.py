"""Every statement of a plan on empty tables: what a relation's SQL really yields against what it declares."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.engine.check_texts import places_of
from assay.engine.graph import Node
from assay.engine.mount import confine
from assay.plan.steps import CheckStep, EventStep, RelationStep
from assay.spec.diagnostics import Diagnostic, did_you_mean
from assay.spec.model import Column, Constant, Relation
from assay.spec.phase_model import SINCE, UNTIL
from assay.spec.scopes import LOG_COLUMNS, LOGS
from assay.sql.events import empty_table

if TYPE_CHECKING:
    import duckdb

SECONDS = 20
MEMORY = "1GB"
_FAMILIES: Mapping[str, frozenset[str]] = {
    "whole number": frozenset(
        (
            "BIGINT",
            "INTEGER",
            "SMALLINT",
            "TINYINT",
            "HUGEINT",
            "UBIGINT",
            "UINTEGER",
            "USMALLINT",
            "UTINYINT",
            "UHUGEINT",
        )
    ),
    "real number": frozenset(("DOUBLE", "FLOAT")),
    "text": frozenset(("VARCHAR",)),
    "boolean": frozenset(("BOOLEAN",)),
}
_DECLARED = {
    "integer": "whole number",
    "unsigned": "whole number",
    "huge": "whole number",
    "instant": "whole number",
    "real": "real number",
    "text": "text",
    "boolean": "boolean",
}
_SAMPLES: Mapping[str, object] = {
    "integer": 1, "real": 0.5, "text": "", "boolean": False, "instant": 0, "duration": 1_000_000_000,
}  # fmt: skip


def dry_run(graph: Sequence[Node], constants: Iterable[Constant]) -> tuple[Diagnostic, ...]:
    """Problems of the statements: those that fail, and relations that do not yield what they declare."""
    import duckdb

    values = {item.name: _SAMPLES[item.type] for item in constants} | {SINCE: 0, UNTIL: 1}
    problems: list[Diagnostic] = []
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        confine(connection)
        connection.execute(empty_table(LOGS, ((name, found.type) for name, found in LOG_COLUMNS.items())))
        for node in graph:
            step = node.statement.step
            if isinstance(step, EventStep):
                fields = [(item.name, item.type) for item in step.event.fields if item.name in step.fields]
                base = (("host", "text"), ("seq", "integer"), ("t_ns", "instant"))
                connection.execute(empty_table(step.name, (*base, *fields)))
                continue
            if node.name == LOGS:
                continue
            try:
                with _limited(connection):
                    connection.execute(node.text, {name: values[name] for name in node.places} or None)
            except duckdb.InterruptException:
                told = f"the SQL of `{node.name}` takes more than {SECONDS} seconds on empty tables"
                problems.append(Diagnostic("sql", told))
                break
            except duckdb.Error as error:
                problems.append(_failed(node, error))
                break
            if isinstance(step, CheckStep):
                problems += _unknown_places(step, [str(item[0]) for item in connection.description or ()])
            if isinstance(step, RelationStep):
                described = connection.execute(f"DESCRIBE {node.name}").fetchall()
                problems += _compared(step.relation, {str(row[0]): str(row[1]) for row in described})
    return tuple(problems)


@contextmanager
def _limited(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """End what takes too long."""
    timer = threading.Timer(SECONDS, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _unknown_places(step: CheckStep, columns: Sequence[str]) -> Iterator[Diagnostic]:
    """Places of a check's texts that name none of its columns."""
    for name in places_of(step.check.message + step.check.hint):
        if name not in columns:
            message = f"check `{step.check.code}` of `{step.of}` speaks of a column that it does not have: `{name}`"
            yield Diagnostic("check-place", message, found=", ".join(columns), hint=did_you_mean(name, columns))


def _failed(node: Node, error: Exception) -> Diagnostic:
    text = str(error)
    cause = text.split("\n")[0]
    excerpt = text[text.index("LINE ") :] if "LINE " in text else ""
    return Diagnostic("sql", f"the SQL of `{node.name}` fails: {cause}", excerpt=excerpt)


def _compared(relation: Relation, found: Mapping[str, str]) -> list[Diagnostic]:
    declared = {item.name: item for item in relation.columns}
    problems = []
    if list(found) != list(declared):
        problems.append(
            Diagnostic(
                "relation-columns",
                f"relation `{relation.name}` does not yield the columns that it declares",
                expected=", ".join(declared),
                found=", ".join(found),
            )
        )
    for name, kind in found.items():
        if name in declared and kind not in _FAMILIES[_DECLARED[declared[name].type]]:
            problems.append(_wrong_type(relation, declared[name], kind))
    return problems


def _wrong_type(relation: Relation, column: Column, found: str) -> Diagnostic:
    expected = f"{column.type}, a {_DECLARED[column.type]}"
    return Diagnostic(
        "relation-type",
        f"column `{column.name}` of relation `{relation.name}` is of another type than it declares",
        expected=expected,
        found=found,
    )
