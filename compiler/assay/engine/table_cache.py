"""Cache intermediate tables of a run by the hash of the statements that create them.

They are cached once some outputs of a run were cached and some were not: then specs are being edited. A first build
caches no tables.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.engine.mount import ENUMERATION
from assay.engine.pruning import mark_used
from assay.engine.result_cache import Store
from assay.sql import dialect
from assay.sql.dialect import TARGET, TYPE, build_column, build_copy_with_stats

if TYPE_CHECKING:
    import duckdb

TABLES_KIND = "tables"
#: the rows of an entry are in one file, or in several whose names end like this, in their order
ROWS, COLUMNS = "rows.parquet", "columns.json"
SLOW = 0.05  # seconds: a table that is created faster is not worth caching
#: types that Parquet has, and types that are written as texts
PLAIN = ("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
         "FLOAT", "DOUBLE", "VARCHAR", "DATE")  # fmt: skip
AS_TEXT = ("HUGEINT", "UHUGEINT")


@dataclass(frozen=True, slots=True)
class CachedTables:
    """The cached tables of a run, by the hashes of the statements that create them.

    `has_host_type`: hosts are values of an enumeration type of the connection.
    """

    store: Store
    connection: duckdb.DuckDBPyConnection
    hashes: Mapping[str, str]
    has_host_type: bool

    def list_cached(self, names: Collection[str]) -> frozenset[str]:
        """Return which of some tables are cached."""
        return frozenset(name for name in names if self.store.has(TABLES_KIND, self.hashes[name]))

    def load_table(self, name: str, file: int | None = None, condition: exp.Expr | None = None) -> None:
        """Create a view of a cached table under the table's name.

        It has the rows of all its files, or of one of them, that fulfil a condition on their columns.
        """
        folder = self._get_folder(name)
        scan: exp.Expr = self._scan(name, file)
        types = json.loads((folder / COLUMNS).read_text(encoding="utf-8"))
        columns = [exp.alias_(self._decode_value(build_column(item), kind), item) for item, kind in types.items()]
        if condition is not None:
            scan = exp.Subquery(this=dialect.select("*").from_(scan).where(condition))
        view = exp.Create(
            this=exp.to_table(exp.to_identifier(name).sql(dialect.DIALECT)),
            kind="VIEW",
            expression=dialect.select(*columns).from_(scan),
        )
        self.connection.execute(dialect.to_sql(view))
        mark_used(folder)

    def count_rows(self, name: str) -> int:
        """Return the number of rows of a cached table."""
        query = dialect.select(exp.Count(this=exp.Star())).from_(self._scan(name))
        row = self.connection.execute(dialect.to_sql(query)).fetchone()
        assert row is not None
        return int(row[0])

    def create_table(self, name: str, create: Callable[[], None]) -> None:
        """Create a table, and cache it if that was slow and all its types can be written."""
        start = time.perf_counter()
        create()
        if time.perf_counter() - start < SLOW:
            return
        types = read_storable_types(self.connection, name)
        if types is None:
            return
        with self.store.fill_entry(TABLES_KIND, self.hashes[name], ends=True) as folder:
            write_rows(self.connection, name, types, folder / ROWS)
            (folder / COLUMNS).write_text(json.dumps(types), encoding="utf-8")

    def _scan(self, name: str, file: int | None = None) -> exp.ReadParquet:
        paths = sorted(self._get_folder(name).glob(f"*{ROWS}"))
        selected = paths if file is None else paths[file : file + 1]
        files = [exp.Literal.string(str(path.absolute())) for path in selected]
        return exp.ReadParquet(expressions=[exp.Array(expressions=files)])

    def _get_folder(self, name: str) -> Path:
        return self.store.get_path(TABLES_KIND, self.hashes[name])

    def _decode_value(self, value: exp.Expr, kind: str) -> exp.Expr:
        return value if kind in PLAIN or (kind == TYPE and not self.has_host_type) else _cast(value, kind)


def list_table_folders(store: Store) -> tuple[str, ...]:
    """Return the folders that a connection needs access to for writing and reading cached tables."""
    return str((store.folder / TABLES_KIND).absolute()), str(store.scratch.absolute())


def read_storable_types(connection: duckdb.DuckDBPyConnection, name: str) -> dict[str, str] | None:
    """Return column -> type of a table, as its stored rows have them; None if a type cannot be stored."""
    described = connection.execute(dialect.to_sql(exp.Describe(this=exp.to_table(name)))).fetchall()
    types = {str(row[0]): TYPE if str(row[1]).startswith(ENUMERATION) else str(row[1]) for row in described}
    return types if all(kind in PLAIN or kind in AS_TEXT or kind == TYPE for kind in types.values()) else None


def write_rows(connection: duckdb.DuckDBPyConnection, name: str, types: Mapping[str, str], file: Path) -> None:
    """Write the rows of a table, whose types can be stored, into a file."""
    columns = [exp.alias_(encode_value(build_column(item), kind), item) for item, kind in types.items()]
    rows = dialect.select(*columns).from_(exp.to_table(name))
    connection.execute(build_copy_with_stats(rows), {TARGET: str(file.absolute())})


def encode_value(value: exp.Expr, kind: str) -> exp.Expr:
    """Return a value as Parquet can store it: types that Parquet lacks become text."""
    return value if kind in PLAIN else _cast(value, "VARCHAR")


def _cast(value: exp.Expr, kind: str) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType.build(kind, dialect=dialect.DIALECT, udt=True))
