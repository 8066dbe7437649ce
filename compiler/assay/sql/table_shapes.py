"""The columns and keys of the tables that the SQL of a package reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.spec import scopes
from assay.spec.model import Event, Grain, Package, Relation
from assay.spec.scopes import HOST, LOGS, SOURCE
from assay.spec.source_kinds import JSON_LINES, TEXT_LINES
from assay.sql.row_keys import Key, Shape


def table_shapes(package: Package, names: Iterable[str], sources: Iterable[str]) -> tuple[tuple[str, Shape], ...]:
    """The shapes of tables by their names; `sources` are those whose logs are read (none named: the only one)."""
    by_name = {item.name: item for item in (*package.events, *package.relations, *package.grains)}
    return tuple((name, _shape(package, name, by_name.get(name), len(tuple(sources)))) for name in names)


def _shape(package: Package, name: str, table: Event | Relation | Grain | None, sources: int) -> Shape:
    columns = scopes.rows(package, name)
    return Shape(
        None if columns is None else tuple(column.casefold() for column in columns),
        tuple(_keys(package, name, table, sources)),
    )


def _keys(package: Package, name: str, table: Event | Relation | Grain | None, sources: int) -> Iterator[Key]:
    if name == LOGS:
        yield Key(frozenset((SOURCE, HOST) if sources > 1 else (HOST,)))
    elif isinstance(table, Event):
        kinds = {source.name: source.kind for source in package.sources}
        # A line is one event; a row of a table is one of every event of its source.
        of_lines = kinds.get(table.source) in (JSON_LINES, TEXT_LINES)
        lines = frozenset(((table.source, name),)) if of_lines else frozenset()
        yield Key(frozenset((HOST, "seq")), lines)
    elif table is not None:
        yield Key(frozenset(column.casefold() for column in table.key))
