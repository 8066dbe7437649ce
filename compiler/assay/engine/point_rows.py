"""Rows behind the points of figures: often very many, so they are cached as Parquet and held by column.

The bytes of a file depend only on its rows: it has texts instead of enumerations, and no columns whose type Parquet
lacks. A build copies it into its output.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from sqlglot import exp

from assay.engine.pruning import mark_used
from assay.engine.result_cache import Store
from assay.engine.table_cache import AS_TEXT, PLAIN, ROWS, TABLES_KIND
from assay.sql import dialect
from assay.sql.codegen import Statement, build_create_sql

if TYPE_CHECKING:
    import duckdb

#: the kind of answer of a statement whose rows are points
POINTS = "points"
WRITTEN = "points to write"  # no name of a table of specs
#: rows that are converted at a time
CHUNK = 20_000
#: the type of large integers in Parquet, which has none of 128 bits
DECIMAL = "DECIMAL(38, 0)"
#: type of a column in Parquet -> type code of an array
CODES = {"BIGINT": "q", "INTEGER": "q", "UBIGINT": "Q", "DOUBLE": "d"}

Row = Mapping[str, object]
Execute = Callable[..., "duckdb.DuckDBPyConnection"]


@dataclass(frozen=True, slots=True, eq=False)
class PointRows(Sequence[Row]):
    """Rows by column, in the order of their Parquet `file`; a row is created when it is read."""

    file: Path
    columns: Mapping[str, Sequence[object]]
    _distinct: dict[tuple[str, ...], tuple[tuple[object, ...], ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return {name: values[index] for name, values in self.columns.items()}

    def __iter__(self) -> Iterator[Row]:
        names = tuple(self.columns)
        return (dict(zip(names, values, strict=True)) for values in zip(*self.columns.values(), strict=True))

    def list_distinct(self, names: tuple[str, ...]) -> tuple[tuple[object, ...], ...]:
        """Return the distinct values of some columns, in the order of their first rows."""
        if names not in self._distinct:
            rows = zip(*(self.columns[name] for name in names), strict=True)
            self._distinct[names] = tuple(dict.fromkeys(rows))
        return self._distinct[names]


def get_column(rows: Sequence[Row], name: str) -> Sequence[Any]:
    """Return the values of a column of rows."""
    return rows.columns[name] if isinstance(rows, PointRows) else [row[name] for row in rows]


def list_distinct(rows: Sequence[Row], names: tuple[str, ...]) -> Sequence[tuple[object, ...]]:
    """Return the distinct values of some columns of rows, in the order of their first rows."""
    if isinstance(rows, PointRows):
        return rows.list_distinct(names)
    return tuple(dict.fromkeys(tuple(row[name] for name in names) for row in rows))


def cache_points(store: Store, key: str, query: exp.Expr, execute: Execute) -> None:
    """Write the rows of a query into the cache as Parquet.

    `execute` runs the text of a statement; with False, one without constants.
    """
    assert isinstance(query, exp.Select)
    described = execute(dialect.to_sql(dialect.select("*").from_(query.copy().subquery("described")).limit(0)))
    types = {str(item[0]): str(item[1]) for item in described.description}
    if not all(kind in PLAIN for kind in types.values()):
        columns = [exp.alias_(_encode_column(name, kind), name, quoted=True) for name, kind in types.items()]
        query = dialect.select(*columns).from_(query.copy().subquery("measured"))
    else:
        query = query.copy()
    with store.fill_entry(TABLES_KIND, key) as folder:
        # Straight from the query, the bytes would depend on how many rows at a time the engine gets from its tables.
        execute(build_create_sql(Statement("table", WRITTEN, query)))
        rows = dialect.select("*").from_(dialect.build_table(WRITTEN))
        execute(dialect.build_copy_to(str((folder / ROWS).absolute()), rows), False)
        execute(dialect.to_sql(exp.Drop(tables=[dialect.build_table(WRITTEN)], kind="TABLE")), False)


def _encode_column(name: str, kind: str) -> exp.Expr:
    """Return a column as Parquet can store it."""
    value = dialect.build_column(name)
    if kind in PLAIN:
        return value
    stored_type = exp.DataType.build(DECIMAL if kind in AS_TEXT else "VARCHAR", dialect=dialect.DIALECT)
    return exp.Cast(this=value, to=stored_type)


def load_points(store: Store, key: str, connection: duckdb.DuckDBPyConnection) -> PointRows | None:
    """Return cached rows; None if the cache does not hold them."""
    if not store.has(TABLES_KIND, key):
        return None
    file = store.get_path(TABLES_KIND, key).absolute() / ROWS
    rows = connection.execute(dialect.to_sql(dialect.select("*").from_(dialect.build_scan(str(file)))))
    columns = [_Column(str(item[1])) for item in rows.description]
    names = [str(item[0]) for item in rows.description]
    while chunk := rows.fetchmany(CHUNK):
        for column, values in zip(columns, zip(*chunk, strict=True), strict=True):
            column.extend(values)
    mark_used(file.parent)
    return PointRows(file, {name: column.values for name, column in zip(names, columns, strict=True)})


class _Column:
    """The values of a column: an array of numbers if all are of its type, else a list in which equal texts are one."""

    def __init__(self, kind: str) -> None:
        self.code = CODES.get(kind, "")
        self.values: Any = array(self.code) if self.code else []
        self.texts: dict[object, object] = {}

    def extend(self, values: Iterable[object]) -> None:
        """Append values."""
        if self.code:
            try:
                self.values.extend(array(self.code, values))  # type: ignore[type-var]
            except TypeError:  # a null
                self.code, self.values = "", list(self.values)
            else:
                return
        self.values.extend(map(self.convert, values))

    def convert(self, value: object) -> object:
        """Return a value as the engine would, and one object for equal texts."""
        if isinstance(value, str):
            return self.texts.setdefault(value, value)
        return int(value) if isinstance(value, Decimal) else value
