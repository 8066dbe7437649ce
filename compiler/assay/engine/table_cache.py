"""Tables of a run that are kept, so that a metric that is edited is worked out of them and not of the raw events.

They are kept when some of what a run is asked for was known and some was not: then specs are being edited.  A first
build keeps none.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.engine.hosts import ENUMERATION
from assay.engine.pruning import used
from assay.engine.result_cache import Store
from assay.sql import dialect
from assay.sql.copy_to import TARGET, copied
from assay.sql.dialect import column
from assay.sql.host_type import TYPE

if TYPE_CHECKING:
    import duckdb

KIND = "tables"
ROWS, COLUMNS = "rows.parquet", "columns.json"
SLOW = 0.05  # seconds: what is made faster is made again
#: types that Parquet holds as they are, and those that it is given as texts
PLAIN = ("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
         "FLOAT", "DOUBLE", "VARCHAR", "DATE")  # fmt: skip
AS_TEXT = ("HUGEINT", "UHUGEINT")


@dataclass(frozen=True, slots=True)
class KeptTables:
    """The tables of a run in a cache, by the hashes of the statements that made them; `enumerated` tells that hosts
    are of a type of their own."""

    store: Store
    connection: duckdb.DuckDBPyConnection
    hashes: Mapping[str, str]
    enumerated: bool

    def known(self, names: Collection[str]) -> frozenset[str]:
        """Those of some tables that are kept."""
        return frozenset(name for name in names if self.store.has(KIND, self.hashes[name]))

    def recall(self, name: str) -> None:
        """Let a table that is kept be there, as a view of it."""
        place = self._place(name)
        types = json.loads((place / COLUMNS).read_text(encoding="utf-8"))
        columns = [exp.alias_(self._read(column(item), kind), item) for item, kind in types.items()]
        scan = exp.ReadParquet(expressions=[exp.Literal.string(str((place / ROWS).absolute()))])
        view = exp.Create(
            this=exp.to_table(exp.to_identifier(name).sql(dialect.DIALECT)),
            kind="VIEW",
            expression=dialect.select(*columns).from_(scan),
        )
        self.connection.execute(dialect.text(view))
        used(place)

    def keep(self, name: str, make: Callable[[], None]) -> None:
        """Make a table, and keep it when that took long and its types allow it."""
        began = time.perf_counter()
        make()
        if time.perf_counter() - began < SLOW:
            return
        described = self.connection.execute(dialect.text(exp.Describe(this=exp.to_table(name)))).fetchall()
        types = {str(row[0]): str(row[1]) for row in described}
        if not all(kind in PLAIN or kind in AS_TEXT or kind.startswith(ENUMERATION) for kind in types.values()):
            return
        columns = [exp.alias_(encode_value(column(item), kind), item) for item, kind in types.items()]
        with self.store.filling(KIND, self.hashes[name], ends=True) as fresh:
            rows = dialect.select(*columns).from_(exp.to_table(name))
            self.connection.execute(copied(rows), {TARGET: str((fresh / ROWS).absolute())})
            told = {item: TYPE if kind.startswith(ENUMERATION) else kind for item, kind in types.items()}
            (fresh / COLUMNS).write_text(json.dumps(told), encoding="utf-8")

    def _place(self, name: str) -> Path:
        return self.store.place(KIND, self.hashes[name])

    def _read(self, value: exp.Expr, kind: str) -> exp.Expr:
        return value if kind in PLAIN or (kind == TYPE and not self.enumerated) else _cast(value, kind)


def folders(store: Store) -> tuple[str, ...]:
    """The folders that a connection must reach to keep tables and to have them again."""
    return str((store.folder / KIND).absolute()), str(store.scratch.absolute())


def encode_value(value: exp.Expr, kind: str) -> exp.Expr:
    return value if kind in PLAIN else _cast(value, "VARCHAR")


def _cast(value: exp.Expr, kind: str) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType.build(kind, dialect=dialect.DIALECT, udt=True))
