"""Lineage of numbers: from raw records through events, relations, series and grains to what is asked, column by column.

It is read off the statements that run (`sql.program`), and, for the fields of events, off the query by which ingest
types them (`ingest.event_rows`); nothing is described a second time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from assay.ingest.event_forms import NumberedForm, numbered, paths_of
from assay.ingest.event_query import typed_rows
from assay.lang.model.package import Form
from assay.lang.reserved_names import KEYS
from assay.lang.scopes import LOG_COLUMNS, LOGS
from assay.lineage.column_lineage import ROWS, ColumnOrigins, Origin, Origins, trace_columns
from assay.plan.planner import EventStep, RelationStep, SeriesStep
from assay.sql import dialect
from assay.sql.codegen import Statement
from assay.sql.dialect import column

#: what a column does for a number, the most direct first: it makes the value (or is rows that are counted); picks the
#: row that the value is taken from; decides which rows there are; decides in a check whether a run can be analysed; is
#: read beside the others (a record without it is left out, a relation's text holds it)
ROLES = ("value", "picks", "rows", "check", "read")
#: the column of a series that holds its values
VALUE = "value"
Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FieldPaths:
    """How a form of an event finds a field: the paths that it reads, in order; none where it is always the same."""

    form: Form
    paths: tuple[Path_, ...]


@dataclass(frozen=True, slots=True)
class Lineage:
    """The lineage of some columns (`roots`) of statements.

    `made` tells of each statement by its name what its columns are made of; `roles` the most direct role of every
    column that has a part; `found` where the fields of events are read.
    """

    roots: tuple[Origin, ...]
    made: Mapping[str, ColumnOrigins]
    roles: Mapping[Origin, str]
    statements: Mapping[str, Statement]
    found: Mapping[Origin, tuple[FieldPaths, ...]]

    @property
    def events(self) -> Mapping[str, frozenset[str]]:
        """The events that have a part, each with its fields that do."""
        own = {
            name: {*item.step.keys, ROWS} for name, item in self.statements.items() if isinstance(item.step, EventStep)
        }
        return {
            name: frozenset(item.column for item in self.roles if item.table == name and item.column not in own[name])
            for name in sorted({item.table for item in self.roles} & set(own))
        }

    def edges(self) -> Iterator[tuple[Origin, Origin, str]]:
        """Pairs of a column and one that it depends on directly, and how, in order; `*` stands for a table's rows."""
        for item in sorted(self.roles):
            for role, origins in _direct(self.made, item, self.roles[item]):
                yield from ((item, origin, role) for origin in sorted(origins))


def lineage(statements: Sequence[Statement], roots: Iterable[Origin], checks: bool = True) -> Lineage:
    """The lineage of columns of statements; so do those of checks on the way, unless told otherwise."""
    statements = _named_apart(statements)
    found = _all_made(statements)
    start = tuple(roots)
    roles: dict[Origin, str] = {}
    _spread(found, [(item, "value") for item in start], roles)
    _spread(found, [(Origin(item.table, ROWS), "rows") for item in start if item.table in found], roles)
    if checks:
        _spread_checks(statements, found, roles)
    for item in reversed(statements):  # what reads before what is read
        if any(origin.table == item.name for origin in roles):
            _spread(found, [(origin, "read") for origin in _whole(item, found)], roles)
    by_name = {item.name: item for item in statements}
    raw = {origin: of for item in statements if isinstance(item.step, EventStep) for origin, of in fields(item.step)}
    return Lineage(start, found, roles, by_name, {origin: of for origin, of in raw.items() if origin in roles})


def _spread_checks(
    statements: Sequence[Statement], found: Mapping[str, ColumnOrigins], roles: dict[Origin, str]
) -> None:
    """Give their role to columns that checks of tables on the way read, and to those that lead to further checks."""
    left = [item for item in statements if item.kind == "check"]
    while True:
        reached = {item.table for item in roles}
        now = [item for item in left if table_of_check(item) in reached]
        if not now:
            return
        left = [item for item in left if item not in now]
        _spread(found, [(origin, "check") for item in now for origin in found[item.name].everything], roles)


def _whole(item: Statement, found: Mapping[str, ColumnOrigins]) -> Iterator[Origin]:
    """What a statement on the way reads beside what makes its columns.

    Of an event's every field that its table has: a record without one is left out.  Of a relation's all that its text
    reads: a definition holds it as a whole.
    """
    if isinstance(item.step, EventStep):
        yield from (Origin(item.name, name) for name in found[item.name].values if name not in item.step.keys)
    elif isinstance(item.step, RelationStep):
        yield from found[item.name].everything
        yield from (Origin(table.name, ROWS) for table in item.query.find_all(exp.Table) if table.name in found)


def root(statements: Sequence[Statement], metric: str, result: str) -> Origin:
    """A column of a metric's own statement, as a root."""
    tables = {item.name for item in statements if item.kind in ("table", "view")}
    return Origin(f"metric {metric}" if metric in tables else metric, result)


def _named_apart(statements: Sequence[Statement]) -> list[Statement]:
    """Statements whose names are all different: a metric may have the name of a table."""
    return [
        replace(item, name=root(statements, item.name, "").table) if item.kind == "metric" else item
        for item in statements
    ]


def table_of_check(check: Statement) -> str:
    """The table that a check is of."""
    return str(getattr(check.step, "of", ""))


def _all_made(statements: Sequence[Statement]) -> dict[str, ColumnOrigins]:
    """What every statement's columns are made of."""
    schema: dict[str, tuple[str, ...]] = {LOGS: tuple(LOG_COLUMNS)}
    found: dict[str, ColumnOrigins] = {}
    for item in statements:
        if item.kind == "view":
            names = (
                tuple(value.alias_or_name for value in item.query.selects) if isinstance(item.query, exp.Query) else ()
            )
            found[item.name] = ColumnOrigins(
                dict.fromkeys(names, frozenset()), dict.fromkeys(names, frozenset()), frozenset()
            )
        else:
            found[item.name] = _stepped(item, trace_columns(item.query, schema))
        if item.kind in ("table", "view"):
            schema[item.name] = tuple(found[item.name].values)
    return found


def _stepped(item: Statement, found: ColumnOrigins) -> ColumnOrigins:
    """What a statement is made of; of a series, the windows say which steps there are, and give no values to these."""
    if isinstance(item.step, RelationStep):
        return replace(found, values={**found.values, **dict(_numbers(item.query, found))})
    if not isinstance(item.step, SeriesStep) or VALUE not in found.values:
        return found
    own = item.step.series.windows
    windows = frozenset(origin for origin in found.values[VALUE] | found.counted if origin.table == own)
    values = {**found.values, VALUE: found.values[VALUE] - windows}
    return ColumnOrigins(values, found.picks, found.rows | windows, found.counted - windows)


def _numbers(query: exp.Expr, found: ColumnOrigins) -> Iterator[tuple[str, Origins]]:
    """The columns of a text that are numbers of values, `count(COLUMN)`: made of the rows that have these, too."""
    for item in query.selects if isinstance(query, exp.Select) else ():
        count, name = item.unalias(), item.alias_or_name
        if isinstance(count, exp.Count) and isinstance(count.this, exp.Column) and name in found.values:
            own = found.values[name]
            yield name, own | frozenset(Origin(origin.table, ROWS) for origin in own)


def value_origins(statements: Sequence[Statement]) -> Callable[[Origin], frozenset[Origin]]:
    """Return what finds the columns that the value of a column comes from, directly or not; itself among them.

    What picks the row of a value, and what decides which rows there are, gives no value.
    """
    found = _all_made(statements)

    @functools.cache
    def origins(item: Origin) -> frozenset[Origin]:
        """Return all columns that a column's value comes from."""
        direct = found[item.table].values.get(item.column, frozenset()) if item.table in found else frozenset()
        return frozenset([item]).union(*(origins(inner) for inner in direct if inner != item))

    return origins


def _direct(found: Mapping[str, ColumnOrigins], item: Origin, role: str) -> list[tuple[str, Origins]]:
    """What a column, which has this role, depends on directly, and how; a number of rows on the rows that they were."""
    if (of := found.get(item.table)) is None:
        return []
    if item.column == ROWS:
        counted = of.counted if role == "value" else frozenset()
        return [("value", counted), ("rows", of.rows - counted)]
    return [("value", of.values.get(item.column, frozenset())), ("picks", of.picks.get(item.column, frozenset()))]


def _spread(found: Mapping[str, ColumnOrigins], start: Iterable[tuple[Origin, str]], roles: dict[Origin, str]) -> None:
    """Give columns their roles, and all that they depend on: the less direct one of the way there."""
    queue = list(start)
    while queue:
        item, role = queue.pop()
        if item in roles and ROLES.index(roles[item]) <= ROLES.index(role):
            continue
        roles[item] = role
        for how, origins in _direct(found, item, role):
            queue += [(origin, max(role, how, key=ROLES.index)) for origin in origins]


@functools.lru_cache(maxsize=1024)
def fields(step: EventStep) -> tuple[tuple[Origin, tuple[FieldPaths, ...]], ...]:
    """The fields of an event that are read, each with the paths at which the forms find it; remembered, as many metrics
    read the same."""
    ways = [(item, _paths(item)) for item in numbered([step.event], {step.name: frozenset(step.fields)})]
    return tuple(
        (Origin(step.name, name), tuple(FieldPaths(item.form, paths[name]) for item, paths in ways))
        for name in step.fields
    )


def _paths(item: NumberedForm) -> dict[str, tuple[Path_, ...]]:
    """The paths of which the typing query makes each field of a form, in the order in which the field names them."""
    texts = {path: f"path_{index}" for index, path in enumerate(paths_of([item]))}
    read = {path: column(name) for path, name in texts.items()}
    raw = dialect.select(*KEYS, "form", *texts.values()).from_(dialect.table("raw"))
    typed = trace_columns(typed_rows([item], dict(read), raw), {"raw": (*KEYS, "form", *texts.values())})
    named = {text: path for path, text in texts.items()}
    origins = {name: [origin.column for origin in typed.values[name]] for name in typed.values}
    order = list(texts.values())
    return {
        field.name: tuple(named[text] for text in sorted(set(origins[field.name]) & set(named), key=order.index))
        for field in item.fields
    }


def places(found: Iterable[FieldPaths]) -> dict[Path_, list[Form]]:
    """The paths at which a field is found, each with the forms that look there."""
    ways: dict[Path_, list[Form]] = {}
    for item in found:
        for path in item.paths:
            ways.setdefault(path, []).append(item.form)
    return ways
