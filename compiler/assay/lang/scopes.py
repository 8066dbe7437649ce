"""Types of the names that expressions may refer to: columns, instants, taken fields, constants, parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from assay.lang.expression_types import BOOLEAN, INSTANT, NANOSECOND, NONE, Scope, ValueType
from assay.lang.model.filters import Parameter
from assay.lang.model.package import Column, Constant, Event, Field, Grain, Package, Relation, Table
from assay.lang.model.series import Series
from assay.lang.model.vocabulary import Unit

T = TypeVar("T")

#: table with a row for each log of a host; every run has it
LOGS = "logs"
#: columns of events and logs: the host of the log, the source that read it
HOST = "host"
SOURCE = "source"
LOG_COLUMNS: Mapping[str, ValueType] = {
    SOURCE: ValueType("text"),
    HOST: ValueType("text"),
    "lines": ValueType("integer"),
    "objects": ValueType("integer"),
    "recognised": ValueType("integer"),
    "quarantined": ValueType("integer"),
    "text_lines": ValueType("integer"),
    "first_ns": INSTANT,
    "last_ns": INSTANT,
    "first_recognised_ns": INSTANT,
}

_KINDS = {"integer": "integer", "unsigned": "integer", "huge": "integer", "real": "real", "text": "text"}


class _PackageCache:
    """Cache values for the last package that was used: a command needs the same values many times."""

    def __init__(self) -> None:
        self._entry: tuple[Package | None, dict[Any, Any]] = None, {}

    def get(self, package: Package, key: Any, compute: Callable[[], T]) -> T:
        """Return the value of a key for this package object; compute it the first time."""
        cached_package, values = self._entry
        if cached_package is not package:
            self._entry = _, values = package, {}
        if key not in values:
            values[key] = compute()
        value: T = values[key]
        return value


_CACHE = _PackageCache()


def type_column(item: Field | Column | Parameter) -> ValueType:
    """Return type and unit of a field, column or parameter."""
    if item.type == "instant":
        return INSTANT
    if item.type == "boolean":
        return BOOLEAN
    return ValueType(_KINDS[item.type], item.unit.name)


def type_constant(item: Constant) -> ValueType:
    """Return type and unit of a constant; durations are in ns (per the unit that theirs divides by)."""
    if item.type == "instant":
        return INSTANT
    if item.type == "duration":
        _, slash, per = item.unit.name.partition("/")
        return ValueType("integer", f"{NANOSECOND} / {per.strip()}" if slash else NANOSECOND)
    return ValueType("text" if item.type == "text" else item.type, item.unit.name)


def collect_constants(package: Package) -> Mapping[str, ValueType]:
    """Return every constant of the package's sources."""

    def compute() -> dict[str, ValueType]:
        return {item.name: type_constant(item) for source in package.sources for item in source.constants}

    return _CACHE.get(package, "constants", compute)


def list_durations(package: Package) -> list[str]:
    """Return the names of constants that are durations: whole numbers of ns."""
    types = collect_constants(package)
    return [name for name, kind in types.items() if (kind.type, kind.unit) == ("integer", NANOSECOND)]


def list_row_columns(package: Package, table: str) -> Mapping[str, ValueType] | None:
    """Return the columns of a table that instants and tallies may bind to; None for an unknown table."""
    definition = _find_table(package, table)
    if table == LOGS:
        return LOG_COLUMNS
    if isinstance(definition, Event):
        base = {HOST: ValueType("text"), "seq": ValueType("integer"), "t_ns": INSTANT}
        return {**base, **{item.name: type_column(item) for item in definition.fields}}
    if isinstance(definition, Relation):
        return _type_columns(definition.columns)
    if isinstance(definition, Grain):
        return {
            **_type_columns(definition.columns),
            **list_added_columns(definition),
            **dict.fromkeys((i.name for i in definition.instants), INSTANT),
        }
    if isinstance(definition, Series):
        return list_series_columns(package, definition)
    return None


def list_series_columns(package: Package, series: Series) -> Mapping[str, ValueType]:
    """Return the columns of a series: the key of its windows, its labels, the instant, the value."""
    return _type_columns(_build_series_columns(package, series))


def _build_series_columns(package: Package, series: Series) -> list[Column]:
    windows = _find_table(package, series.windows)
    key = [item for item in windows.columns if item.name in windows.key] if isinstance(windows, Relation) else []
    labels = [Column(name, "text", Unit(NONE, ""), "") for name in series.by]
    instant = Column("t_ns", "instant", Unit(NANOSECOND, ""), "")
    return [*key, *labels, instant, Column("value", "real", series.unit, "")]


def list_inherited_columns(package: Package, grain: Grain) -> Mapping[str, Column]:
    """Return the columns that a grain inherits, as its base declares them.

    The base is a relation, a series, or the grain whose runs it counts (without the number of rows).
    """
    base = _find_table(package, grain.runs.of if grain.runs else grain.relation)
    if isinstance(base, Relation):
        return {column.name: column for column in base.columns}
    if isinstance(base, Series):
        return {column.name: column for column in _build_series_columns(package, base)}
    if not isinstance(base, Grain) or not grain.runs:
        return {}
    runs = grain.runs
    base_columns = {column.name: column for column in base.all_columns}
    origins = {**{name: name for name in runs.by}, "first": runs.along, "last": runs.along}
    origins |= {f"{end}_{name}": name for end in ("first", "last") for name in runs.carry}
    return {name: base_columns[column] for name, column in origins.items() if column in base_columns}


def build_term_scope(package: Package, series: Series) -> Scope:
    """Return what the value of a computed series may refer to: terms by name, and constants."""
    units = {item.name: item.unit.name for item in package.series}
    terms = {term.name: ValueType("real", units[term.series]) for term in series.terms if term.series in units}
    return Scope({"column": terms, "constant": collect_constants(package)})


def _type_columns(columns: Iterable[Column]) -> dict[str, ValueType]:
    return {column.name: type_column(column) for column in columns}


def list_added_columns(grain: Grain) -> dict[str, ValueType]:
    """Return the columns that a grain adds to those of its base: tallies and derived columns."""
    return _type_columns([*(item.column for item in grain.tallies), *(item.column for item in grain.derived)])


def _find_table(package: Package, name: str) -> Table | None:
    return next((item for item in package.tables if item.name == name), None)


def build_grain_scope(package: Package, grain: Grain, parameter: Parameter | None = None) -> Scope:
    """Return what a measure, a condition or a derived column of the grain may refer to."""
    return _CACHE.get(package, (grain, parameter), lambda: _compute_grain_scope(package, grain, parameter))


def _compute_grain_scope(package: Package, grain: Grain, parameter: Parameter | None) -> Scope:
    taken_fields: dict[str, ValueType] = {}
    for instant in grain.instants:
        columns = list_row_columns(package, instant.of) or {}
        names = (*(name for name in columns if name not in (HOST, "seq", "t_ns")), *instant.fields)
        taken_fields.update({f"{instant.name}.{name}": columns.get(name, ValueType("text")) for name in names})
    return Scope(
        {
            "column": {**_type_columns(grain.columns), **list_added_columns(grain)},
            "instant": dict.fromkeys((item.name for item in grain.instants), INSTANT),
            "taken": taken_fields,
            "constant": collect_constants(package),
            "parameter": {parameter.name: type_column(parameter)} if parameter else {},
        }
    )


def build_row_scope(package: Package, table: str) -> Scope:
    """Return what the `where` of an instant or tally may refer to: columns of the bound row, and constants."""
    return Scope({"field": list_row_columns(package, table) or {}, "constant": collect_constants(package)})


UNTYPED = ValueType("nothing", NONE)
