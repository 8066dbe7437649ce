"""Trace numbers column by column from raw records through events, relations, grains and series to metrics.

The lineage comes from the statements that run (`sql.codegen`) and, for the fields of events, from the query with which
ingest types them (`ingest.event_query`), so nothing is described twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from assay.ingest.event_forms import NumberedForm, list_field_paths, number_forms
from assay.ingest.event_query import build_typed_query
from assay.lang.model.package import Form
from assay.lang.reserved_names import KEYS
from assay.lang.scopes import LOG_COLUMNS, LOGS
from assay.lineage.column_lineage import ROWS, ColumnOrigins, Origin, Origins, trace_columns
from assay.plan.planner import CheckStep, EventStep, RelationStep, SeriesStep
from assay.sql import dialect
from assay.sql.codegen import Statement
from assay.sql.dialect import build_column
from assay.sql.read_tables import find_tables

#: roles of a column in a number, the most direct first: it makes the value (or is the rows that are counted); it picks
#: the row of the value; it decides which rows exist; it decides in a check whether a run can be analysed; it is only
#: read (a record without it is left out, or the text of a relation names it)
ROLES = ("value", "picks", "rows", "check", "read")
#: the column of a series that holds its values
VALUE = "value"
Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FieldPaths:
    """The paths at which a form of an event reads a field, in order; empty where the field is constant."""

    form: Form
    paths: tuple[Path_, ...]


@dataclass(frozen=True, slots=True)
class Lineage:
    """The lineage of some columns (`roots`) of statements.

    `origins_by_statement` holds the origins of every statement's columns by its name, `roles` the most direct role of
    every column that has a part, `field_paths` where the fields of events are read.
    """

    roots: tuple[Origin, ...]
    origins_by_statement: Mapping[str, ColumnOrigins]
    roles: Mapping[Origin, str]
    statements: Mapping[str, Statement]
    field_paths: Mapping[Origin, tuple[FieldPaths, ...]]

    @property
    def events(self) -> Mapping[str, frozenset[str]]:
        """Return the events that have a part, each with its fields that have a part."""
        plain_columns = {
            name: {*item.step.keys, ROWS} for name, item in self.statements.items() if isinstance(item.step, EventStep)
        }
        return {
            name: frozenset(
                item.column for item in self.roles if item.table == name and item.column not in plain_columns[name]
            )
            for name in sorted({item.table for item in self.roles} & set(plain_columns))
        }

    def iter_edges(self) -> Iterator[tuple[Origin, Origin, str]]:
        """Yield each column with one that it depends on directly, and the role of that one, in order.

        The column `*` is the rows of a table.
        """
        for item in sorted(self.roles):
            for role, origins in _get_direct_origins(self.origins_by_statement, item, self.roles[item]):
                yield from ((item, origin, role) for origin in sorted(origins))


def build_lineage(statements: Sequence[Statement], roots: Iterable[Origin], checks: bool = True) -> Lineage:
    """Return the lineage of columns of statements, including the checks on the way if `checks` is set."""
    statements = _rename_metrics(statements)
    origins_by_statement = _trace_statements(statements)
    start = tuple(roots)
    roles: dict[Origin, str] = {}
    _assign_roles(origins_by_statement, [(item, "value") for item in start], roles)
    _assign_roles(
        origins_by_statement,
        [(Origin(item.table, ROWS), "rows") for item in start if item.table in origins_by_statement],
        roles,
    )
    if checks:
        _assign_check_roles(statements, origins_by_statement, roles)
    for item in reversed(statements):  # readers come before what they read
        if any(origin.table == item.name for origin in roles):
            _assign_roles(
                origins_by_statement,
                [(origin, "read") for origin in _find_extra_reads(item, origins_by_statement)],
                roles,
            )
    statements_by_name = {item.name: item for item in statements}
    raw = {
        origin: paths
        for item in statements
        if isinstance(item.step, EventStep)
        for origin, paths in trace_fields(item.step)
    }
    return Lineage(
        start,
        origins_by_statement,
        roles,
        statements_by_name,
        {origin: paths for origin, paths in raw.items() if origin in roles},
    )


def _assign_check_roles(
    statements: Sequence[Statement], origins_by_statement: Mapping[str, ColumnOrigins], roles: dict[Origin, str]
) -> None:
    """Assign the role `check` to columns that checks on the way read, also those reached by other checks."""
    pending = [item for item in statements if item.kind == "check"]
    while True:
        reached = {item.table for item in roles}
        reached_checks = [item for item in pending if get_checked_table(item) in reached]
        if not reached_checks:
            return
        pending = [item for item in pending if item not in reached_checks]
        _assign_roles(
            origins_by_statement,
            [(origin, "check") for item in reached_checks for origin in origins_by_statement[item.name].all_origins],
            roles,
        )


def _find_extra_reads(item: Statement, origins_by_statement: Mapping[str, ColumnOrigins]) -> Iterator[Origin]:
    """Yield what a statement reads in addition to the origins of its columns.

    For an event: every field of its table, since a record that lacks one is left out. For a relation: everything that
    its text reads, since a definition contains the whole text.
    """
    if isinstance(item.step, EventStep):
        yield from (
            Origin(item.name, name) for name in origins_by_statement[item.name].values if name not in item.step.keys
        )
    elif isinstance(item.step, RelationStep):
        yield from origins_by_statement[item.name].all_origins
        yield from (Origin(table.name, ROWS) for table in find_tables(item.query) if table.name in origins_by_statement)


def get_root(statements: Sequence[Statement], metric: str, result: str) -> Origin:
    """Return a column of the statement of a metric, as a root."""
    tables = {item.name for item in statements if item.kind in ("table", "view")}
    return Origin(f"metric {metric}" if metric in tables else metric, result)


def _rename_metrics(statements: Sequence[Statement]) -> list[Statement]:
    """Make the names of statements unique: a metric may share its name with a table."""
    return [
        replace(item, name=get_root(statements, item.name, "").table) if item.kind == "metric" else item
        for item in statements
    ]


def get_checked_table(check: Statement) -> str:
    """Return the table that a check is about."""
    return check.step.table if isinstance(check.step, CheckStep) else ""


def _trace_statements(statements: Sequence[Statement]) -> dict[str, ColumnOrigins]:
    """Return the origins of every statement's columns."""
    schema: dict[str, tuple[str, ...]] = {LOGS: tuple(LOG_COLUMNS)}
    origins_by_statement: dict[str, ColumnOrigins] = {}
    for item in statements:
        if item.kind == "view":
            names = (
                tuple(value.alias_or_name for value in item.query.selects) if isinstance(item.query, exp.Query) else ()
            )
            origins_by_statement[item.name] = ColumnOrigins(
                dict.fromkeys(names, frozenset()), dict.fromkeys(names, frozenset()), frozenset()
            )
        else:
            origins_by_statement[item.name] = _adjust_origins(item, trace_columns(item.query, schema))
        if item.kind in ("table", "view"):
            schema[item.name] = tuple(origins_by_statement[item.name].values)
    return origins_by_statement


def _adjust_origins(item: Statement, origins: ColumnOrigins) -> ColumnOrigins:
    """Correct the origins of a statement for what its SQL does not show.

    The windows of a series decide which steps exist, but give no values.
    """
    if isinstance(item.step, RelationStep):
        return replace(origins, values={**origins.values, **dict(_trace_counts(item.query, origins))})
    if not isinstance(item.step, SeriesStep) or VALUE not in origins.values:
        return origins
    windows_table = item.step.series.windows
    windows = frozenset(origin for origin in origins.values[VALUE] | origins.counted if origin.table == windows_table)
    values = {**origins.values, VALUE: origins.values[VALUE] - windows}
    return ColumnOrigins(values, origins.picks, origins.rows | windows, origins.counted - windows)


def _trace_counts(query: exp.Expr, origins: ColumnOrigins) -> Iterator[tuple[str, Origins]]:
    """Yield the columns `count(COLUMN)` of a query, whose origins include the rows that are counted."""
    for item in query.selects if isinstance(query, exp.Select) else ():
        count, name = item.unalias(), item.alias_or_name
        if isinstance(count, exp.Count) and isinstance(count.this, exp.Column) and name in origins.values:
            counted = origins.values[name]
            yield name, counted | frozenset(Origin(origin.table, ROWS) for origin in counted)


def build_origin_lookup(statements: Sequence[Statement]) -> Callable[[Origin], frozenset[Origin]]:
    """Return a function that finds all columns that a column's value comes from, itself included.

    Columns that pick the row of a value, or decide which rows exist, are not among them.
    """
    origins_by_statement = _trace_statements(statements)

    @functools.cache
    def collect_origins(item: Origin) -> frozenset[Origin]:
        """Return all columns that a column's value comes from."""
        direct = (
            origins_by_statement[item.table].values.get(item.column, frozenset())
            if item.table in origins_by_statement
            else frozenset()
        )
        return frozenset([item]).union(*(collect_origins(inner) for inner in direct if inner != item))

    return collect_origins


def _get_direct_origins(
    origins_by_statement: Mapping[str, ColumnOrigins], item: Origin, role: str
) -> list[tuple[str, Origins]]:
    """Return the direct origins of a column by their role; a count depends on the rows that it counts."""
    if (origins := origins_by_statement.get(item.table)) is None:
        return []
    if item.column == ROWS:
        counted = origins.counted if role == "value" else frozenset()
        return [("value", counted), ("rows", origins.rows - counted)]
    return [
        ("value", origins.values.get(item.column, frozenset())),
        ("picks", origins.picks.get(item.column, frozenset())),
    ]


def _assign_roles(
    origins_by_statement: Mapping[str, ColumnOrigins], start: Iterable[tuple[Origin, str]], roles: dict[Origin, str]
) -> None:
    """Assign roles to columns and to everything they depend on: the least direct role on the path to it."""
    queue = list(start)
    while queue:
        item, role = queue.pop()
        if item in roles and ROLES.index(roles[item]) <= ROLES.index(role):
            continue
        roles[item] = role
        for direct_role, origins in _get_direct_origins(origins_by_statement, item, role):
            queue += [(origin, max(role, direct_role, key=ROLES.index)) for origin in origins]


@functools.lru_cache(maxsize=1024)
def trace_fields(step: EventStep) -> tuple[tuple[Origin, tuple[FieldPaths, ...]], ...]:
    """Return the fields of an event that are read, each with the paths at which its forms read it.

    Cached, since many metrics read the same fields.
    """
    forms = [(item, _trace_paths(item)) for item in number_forms([step.event], {step.name: frozenset(step.fields)})]
    return tuple(
        (Origin(step.name, name), tuple(FieldPaths(item.form, paths[name]) for item, paths in forms))
        for name in step.fields
    )


def _trace_paths(item: NumberedForm) -> dict[str, tuple[Path_, ...]]:
    """Return the paths that the typing query reads for each field of a form, in the order of the field."""
    texts = {path: f"path_{index}" for index, path in enumerate(list_field_paths([item]))}
    read = {path: build_column(name) for path, name in texts.items()}
    raw = dialect.select(*KEYS, "form", *texts.values()).from_(dialect.build_table("raw"))
    typed = trace_columns(build_typed_query([item], dict(read), raw), {"raw": (*KEYS, "form", *texts.values())})
    named = {text: path for path, text in texts.items()}
    origins = {name: [origin.column for origin in typed.values[name]] for name in typed.values}
    order = list(texts.values())
    return {
        field.name: tuple(named[text] for text in sorted(set(origins[field.name]) & set(named), key=order.index))
        for field in item.fields
    }


def group_forms_by_path(field_paths: Iterable[FieldPaths]) -> dict[Path_, list[Form]]:
    """Return the paths at which a field is read, each with the forms that read it."""
    forms_by_path: dict[Path_, list[Form]] = {}
    for item in field_paths:
        for path in item.paths:
            forms_by_path.setdefault(path, []).append(item.form)
    return forms_by_path
