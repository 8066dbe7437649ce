"""Event tables out of ingested records.

Ingested records stand in one wide table, `events`: host, event, seq, t_ns, state (0: whole), and a column for each
field; fields of one name and type share a column.  An event's own table is the rows of that event with its fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from assay.spec.model import Event
from assay.sql import dialect
from assay.sql.dialect import column

EVENTS = "events"
KEYS = ("host", "seq", "t_ns")


def wide_column(events: Sequence[Event], event: str, field: str) -> str:
    """The column of `events` that holds a field: the field's name, or `<event>_<field>` where events disagree on its
    type."""
    types = {item.type for other in events for item in other.fields if item.name == field}
    return field if len(types) == 1 else f"{event}_{field}"


def event_table(events: Sequence[Event], event: str, fields: Iterable[str]) -> exp.Select:
    """The rows of an event: host, seq, t_ns and the fields."""
    named = [_renamed(wide_column(events, event, field), field) for field in sorted(fields)]
    of = exp.EQ(this=column("event"), expression=exp.Literal.string(event))
    whole = exp.EQ(this=column("state"), expression=dialect.integer(0))
    return exp.select(*(column(name) for name in KEYS), *named).from_(EVENTS).where(exp.and_(of, whole))


def _renamed(found: str, wanted: str) -> exp.Expr:
    return column(found) if found == wanted else exp.alias_(column(found), wanted)


def parquet(pattern: str) -> exp.Select:
    """All rows of Parquet files."""
    files = exp.ReadParquet(expressions=[exp.Literal.string(pattern)])
    return exp.select("*").from_(files)


def empty_table(name: str, columns: Iterable[tuple[str, str]]) -> str:
    """The statement that makes an empty table of (column, type of the spec language)."""
    defined = [
        exp.ColumnDef(
            this=exp.to_identifier(item),
            kind=exp.DataType.build(dialect.TYPES[kind], dialect=dialect.DIALECT),
        )
        for item, kind in columns
    ]
    schema = exp.Schema(this=exp.to_table(name), expressions=defined)
    return exp.Create(this=schema, kind="TABLE").sql(dialect=dialect.DIALECT)
