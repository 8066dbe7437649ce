"""The columns and keys of the tables that the SQL of a package reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.lang import scopes
from assay.lang.model.package import Event, Grain, Package, Relation
from assay.lang.model.source_kinds import JSON_LINES, SAMPLES, TEXT_LINES
from assay.lang.reserved_names import SERIES
from assay.lang.scopes import HOST, LOGS, SOURCE
from assay.sql.row_keys import Key, Shape


def table_shapes(package: Package, names: Iterable[str], sources: Iterable[str]) -> tuple[tuple[str, Shape], ...]:
    """Return the shapes of tables by their names; `sources`: those whose logs are read (none: the only one)."""
    every: tuple[Event | Relation | Grain, ...] = (*package.events, *package.relations, *package.grains)
    by_name = {item.name: item for item in every}
    return tuple((name, _shape(package, name, by_name.get(name), len(tuple(sources)))) for name in names)


def _shape(package: Package, name: str, table: Event | Relation | Grain | None, sources: int) -> Shape:
    columns = scopes.rows(package, name)
    if columns is not None and isinstance(table, Event) and _kind(package, table) == SAMPLES:
        columns = {**columns, SERIES: columns[HOST]}
    return Shape(
        None if columns is None else tuple(column.casefold() for column in columns),
        tuple(_keys(package, name, table, sources)),
    )


def _keys(package: Package, name: str, table: Event | Relation | Grain | None, sources: int) -> Iterator[Key]:
    if name == LOGS:
        yield Key(frozenset((SOURCE, HOST) if sources > 1 else (HOST,)))
    elif isinstance(table, Event):
        # A line is one event; a row of a table is one of every event of its source.
        of_lines = _kind(package, table) in (JSON_LINES, TEXT_LINES)
        lines = frozenset(((table.source, name),)) if of_lines else frozenset()
        yield Key(frozenset((HOST, "seq")), lines)
    elif table is not None:
        yield Key(frozenset(column.casefold() for column in table.key))


def _kind(package: Package, event: Event) -> str:
    """Return the kind of an event's source; empty where the package has no such source."""
    return next((source.kind for source in package.sources if source.name == event.source), "")
