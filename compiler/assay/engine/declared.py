"""Compare the SQL of specs with what it declares: columns of relations, and placeholders in texts of checks.

`{column:g}` is a real number with six digits, `{column:t}` an instant in ns since 1970 as a time.  NULL is `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from assay.engine.mount import ENUMERATION
from assay.lang.model.package import Column, Relation
from assay.lang.time_format import format_instant
from assay.plan.planner import CheckStep, RelationStep
from assay.sql import dialect, error_positions
from assay.util.diagnostics import Diagnostic, Span

if TYPE_CHECKING:
    import duckdb

    from assay.engine.graph import Node


_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(?::([gt]))?\}")


def places_of(text: str) -> tuple[str, ...]:
    """The columns that a text names, in order."""
    return tuple(found[1] for found in _PLACE.finditer(text))


def filled(text: str, row: Mapping[str, object]) -> str:
    """The text with values in their places; a place that names no column stays."""
    return _PLACE.sub(lambda found: _value(row[found[1]], found[2]) if found[1] in row else found[0], text)


def _value(value: object, form: str | None) -> str:
    if value is None:
        return "unknown"
    if form == "t" and isinstance(value, int):
        return format_instant(value)
    return f"{value:g}" if form == "g" and isinstance(value, (int, float)) else str(value)


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


def undeclared(connection: duckdb.DuckDBPyConnection, relation: Relation) -> Iterator[Diagnostic]:
    """What a relation whose table is there yields otherwise than it declares: columns, and their types."""
    described = connection.execute(f"DESCRIBE {dialect.text(dialect.table(relation.name))}").fetchall()
    found = {str(row[0]): "VARCHAR" if str(row[1]).startswith(ENUMERATION) else str(row[1]) for row in described}
    declared = {item.name: item for item in relation.columns}
    if list(found) != list(declared):
        places_of = (error_positions.of_result(relation.sql, name) for name in found if name not in declared)
        yield Diagnostic(
            "relation-columns",
            f"relation `{relation.name}` does not yield the columns that it declares",
            expected=", ".join(declared),
            found=", ".join(found),
            span=next((place for place in places_of if place), None),
            text=relation.sql,
        )
    for name, kind in found.items():
        if name in declared and kind not in _FAMILIES[_DECLARED[declared[name].type]]:
            yield _wrong_type(relation, declared[name], kind)


def _wrong_type(relation: Relation, column: Column, found: str) -> Diagnostic:
    family = _DECLARED[column.type]
    return Diagnostic(
        "relation-type",
        f"column `{column.name}` of relation `{relation.name}` is of another type than it declares",
        expected=column.type if column.type == family else f"{column.type}, a {family}",
        found=found,
        span=error_positions.of_result(relation.sql, column.name),
        text=relation.sql,
    )


def text_of(node: Node) -> str:
    """The SQL of specs that a statement was made of, as its file has it; empty for what the compiler wrote."""
    step = node.statement.step
    if isinstance(step, RelationStep):
        return step.relation.sql
    return step.check.sql if isinstance(step, CheckStep) else ""


def place_in(connection: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, object] | None) -> Span | None:
    """Where in a text of SQL the engine finds it wrong; it is not run."""
    import duckdb

    if not sql:
        return None
    try:
        connection.execute(f"EXPLAIN\n{sql}", values and dict(values))
    except duckdb.Error as error:
        return error_positions.of_engine_error(sql, str(error))
    return None
