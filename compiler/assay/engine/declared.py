"""Compare the SQL of specs with its declaration, and fill in the texts of checks.

Placeholders in texts of checks: `{column:g}` is a real number with six digits, `{column:t}` an instant in ns since 1970
as a time.  NULL becomes `unknown`.
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


_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(?::([gt]))?\}")


def list_placeholders(text: str) -> tuple[str, ...]:
    """Return the columns that the placeholders of a text name, in order."""
    return tuple(match[1] for match in _PLACEHOLDER.finditer(text))


def fill_message(text: str, row: Mapping[str, object]) -> str:
    """Return a text with values in its placeholders; a placeholder that names no column is left as it is."""
    return _PLACEHOLDER.sub(lambda match: _format_value(row[match[1]], match[2]) if match[1] in row else match[0], text)


def _format_value(value: object, form: str | None) -> str:
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


def check_declaration(connection: duckdb.DuckDBPyConnection, relation: Relation) -> Iterator[Diagnostic]:
    """Yield the problems of a relation whose existing table has other columns or types than it declares."""
    described = connection.execute(f"DESCRIBE {dialect.to_sql(dialect.build_table(relation.name))}").fetchall()
    types = {str(row[0]): "VARCHAR" if str(row[1]).startswith(ENUMERATION) else str(row[1]) for row in described}
    declared = {item.name: item for item in relation.columns}
    if list(types) != list(declared):
        spans = (error_positions.find_result_column(relation.sql, name) for name in types if name not in declared)
        yield Diagnostic(
            "relation-columns",
            f"relation `{relation.name}` does not yield the columns that it declares",
            expected=", ".join(declared),
            found=", ".join(types),
            span=next((span for span in spans if span), None),
            text=relation.sql,
        )
    for name, kind in types.items():
        if name in declared and kind not in _FAMILIES[_DECLARED[declared[name].type]]:
            yield _describe_type_mismatch(relation, declared[name], kind)


def _describe_type_mismatch(relation: Relation, column: Column, actual_type: str) -> Diagnostic:
    family = _DECLARED[column.type]
    return Diagnostic(
        "relation-type",
        f"column `{column.name}` of relation `{relation.name}` does not have its declared type",
        expected=column.type if column.type == family else f"{column.type}, a {family}",
        found=actual_type,
        span=error_positions.find_result_column(relation.sql, column.name),
        text=relation.sql,
    )


def get_spec_sql(node: Node) -> str:
    """Return the SQL of specs behind a statement, as in its file; empty for SQL that the compiler wrote."""
    step = node.statement.step
    if isinstance(step, RelationStep):
        return step.relation.sql
    return step.check.sql if isinstance(step, CheckStep) else ""


def locate_error(connection: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, object] | None) -> Span | None:
    """Return the position of the error that the engine reports for a SQL text, which is not run."""
    import duckdb

    if not sql:
        return None
    try:
        connection.execute(f"EXPLAIN\n{sql}", values and dict(values))
    except duckdb.Error as error:
        return error_positions.locate_engine_error(sql, str(error))
    return None
