"""What expressions may refer to, per grain: columns, instants, fields taken along, constants, parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from assay.lang.model.package import Column, Constant, Event, Field, Grain, Package, Parameter, Relation, Series, Table
from assay.lang.model.vocabulary import Unit
from assay.lang.typing_rules import BOOLEAN, INSTANT, NANOSECOND, NONE, Scope, Typed

T = TypeVar("T")

#: the table of each host's log, which every run has
LOGS = "logs"
#: the columns of the host whose log a record is of, and of what it was read by
HOST = "host"
SOURCE = "source"
LOG_COLUMNS: Mapping[str, Typed] = {
    SOURCE: Typed("text"),
    HOST: Typed("text"),
    "lines": Typed("integer"),
    "objects": Typed("integer"),
    "recognised": Typed("integer"),
    "quarantined": Typed("integer"),
    "text_lines": Typed("integer"),
    "first_ns": INSTANT,
    "last_ns": INSTANT,
    "first_recognised_ns": INSTANT,
}

_KINDS = {"integer": "integer", "unsigned": "integer", "huge": "integer", "real": "real", "text": "text"}


class _Last:
    """What was found in the package that was asked about last, which is asked about again and again."""

    def __init__(self) -> None:
        self._held: tuple[Package | None, dict[Any, Any]] = None, {}

    def of(self, package: Package, key: Any, make: Callable[[], T]) -> T:
        """What is known of this very package under a key, made now if it is not known."""
        held, known = self._held
        if held is not package:
            self._held = _, known = package, {}
        if key not in known:
            known[key] = make()
        found: T = known[key]
        return found


_LAST = _Last()


def typed(item: Field | Column | Parameter) -> Typed:
    """Type and unit of a field, column or parameter."""
    if item.type == "instant":
        return INSTANT
    if item.type == "boolean":
        return BOOLEAN
    return Typed(_KINDS[item.type], item.unit.name)


def of_constant(item: Constant) -> Typed:
    """Type and unit of a run's constant: durations are kept as ns (per what their unit divides by)."""
    if item.type == "instant":
        return INSTANT
    if item.type == "duration":
        _, slash, per = item.unit.name.partition("/")
        return Typed("integer", f"{NANOSECOND} / {per.strip()}" if slash else NANOSECOND)
    return Typed("text" if item.type == "text" else item.type, item.unit.name)


def constants(package: Package) -> Mapping[str, Typed]:
    """Every constant of the package's sources."""

    def collect_constants() -> dict[str, Typed]:
        return {item.name: of_constant(item) for source in package.sources for item in source.constants}

    return _LAST.of(package, "constants", collect_constants)


def durations(package: Package) -> list[str]:
    """The names of constants that are whole ns: durations."""
    found = constants(package)
    return [name for name, kind in found.items() if (kind.type, kind.unit) == ("integer", NANOSECOND)]


def rows(package: Package, table: str) -> Mapping[str, Typed] | None:
    """The columns of a table that instants and tallies may bind to: an event, relation, grain or the logs."""
    found = _find(package, table)
    if table == LOGS:
        return LOG_COLUMNS
    if isinstance(found, Event):
        base = {HOST: Typed("text"), "seq": Typed("integer"), "t_ns": INSTANT}
        return {**base, **{item.name: typed(item) for item in found.fields}}
    if isinstance(found, Relation):
        return _columns(found.columns)
    if isinstance(found, Grain):
        return {
            **_columns(found.columns),
            **added_columns(found),
            **dict.fromkeys((i.name for i in found.instants), INSTANT),
        }
    if isinstance(found, Series):
        return of_series(package, found)
    return None


def of_series(package: Package, series: Series) -> Mapping[str, Typed]:
    """The columns of a series: the key of its windows, its labels, the instant, the value."""
    return _columns(_of_lines(package, series))


def _of_lines(package: Package, series: Series) -> list[Column]:
    windows = _find(package, series.windows)
    key = [item for item in windows.columns if item.name in windows.key] if isinstance(windows, Relation) else []
    labels = [Column(name, "text", Unit(NONE, ""), "") for name in series.by]
    at = Column("t_ns", "instant", Unit(NANOSECOND, ""), "")
    return [*key, *labels, at, Column("value", "real", series.unit, "")]


def begins(package: Package, grain: Grain) -> Mapping[str, Column]:
    """The columns that a grain begins with, as what it is made of declares them: a relation, a series, runs of a grain
    (of these all but the number of rows)."""
    found = _find(package, grain.runs.of if grain.runs else grain.relation)
    if isinstance(found, Relation):
        return {column.name: column for column in found.columns}
    if isinstance(found, Series):
        return {column.name: column for column in _of_lines(package, found)}
    if not isinstance(found, Grain) or not grain.runs:
        return {}
    runs = grain.runs
    known = {column.name: column for column in found.every_column}
    named = {**{name: name for name in runs.by}, "first": runs.along, "last": runs.along}
    named |= {f"{end}_{name}": name for end in ("first", "last") for name in runs.carry}
    return {name: known[column] for name, column in named.items() if column in known}


def of_terms(package: Package, series: Series) -> Scope:
    """What the value of a series of terms may refer to: the terms by their names, and constants."""
    units = {item.name: item.unit.name for item in package.series}
    terms = {term.name: Typed("real", units[term.series]) for term in series.terms if term.series in units}
    return Scope({"column": terms, "constant": constants(package)})


def _columns(columns: Iterable[Column]) -> dict[str, Typed]:
    return {column.name: typed(column) for column in columns}


def added_columns(grain: Grain) -> dict[str, Typed]:
    """The columns that a grain adds to its relation's: tallies and derived ones."""
    return _columns([*(item.column for item in grain.tallies), *(item.column for item in grain.derived)])


def _find(package: Package, name: str) -> Table | None:
    return next((item for item in package.tables if item.name == name), None)


def of_grain(package: Package, grain: Grain, parameter: Parameter | None = None) -> Scope:
    """What a measure, a condition or a derived column of the grain may refer to."""
    return _LAST.of(package, (grain, parameter), lambda: _of_grain(package, grain, parameter))


def _of_grain(package: Package, grain: Grain, parameter: Parameter | None) -> Scope:
    taken: dict[str, Typed] = {}
    for instant in grain.instants:
        bound = rows(package, instant.of) or {}
        taken.update({f"{instant.name}.{name}": bound.get(name, Typed("text")) for name in instant.fields})
    return Scope(
        {
            "column": {**_columns(grain.columns), **added_columns(grain)},
            "instant": dict.fromkeys((item.name for item in grain.instants), INSTANT),
            "taken": taken,
            "constant": constants(package),
            "parameter": {parameter.name: typed(parameter)} if parameter else {},
        }
    )


def of_rows(package: Package, table: str) -> Scope:
    """What the `where` of an instant or tally may refer to: the bound row's columns, and constants."""
    return Scope({"field": rows(package, table) or {}, "constant": constants(package)})


NOTHING = Typed("nothing", NONE)
