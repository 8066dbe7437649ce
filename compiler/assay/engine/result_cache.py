"""The cache of results and intermediate tables, by the hash of all inputs.

Entries appear whole or not at all.

They are kept when some of what a run is asked for was known and some was not: then specs are being edited.  A first
build keeps none.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.engine.mount import ENUMERATION
from assay.engine.pruning import used
from assay.sql import dialect
from assay.sql.dialect import TARGET, TYPE, column, copied
from assay.util import atomic, checksums, scratch
from assay.util.diagnostics import AssayError, fail
from assay.util.locks import locked
from assay.util.os_errors import disk_full, is_full, is_within, make_write_error

if TYPE_CHECKING:
    import duckdb


ELSEWHERE = "name another with --cache"


def default_folder() -> Path:
    """Where caches go when nothing is said: `assay` in the user's cache folder.  AssayError when the user has none.

    Paths that are not absolute count as none, as the XDG Base Directory Specification has it.
    """
    said = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if said.is_absolute():
        return said / "assay"
    home = Path(os.environ.get("HOME", ""))
    if not home.is_absolute():
        try:
            home = Path(pwd.getpwuid(os.getuid()).pw_dir)
        except KeyError:
            hint = "say --cache DIR, or set HOME or XDG_CACHE_HOME"
            raise fail("cache", "no folder for a cache is known: this user has no home", hint=hint) from None
    return home / ".cache" / "assay"


@dataclass(frozen=True, slots=True)
class Store:
    """A cache folder."""

    folder: Path

    def place(self, kind: str, key: str) -> Path:
        """Where an entry stands, or would."""
        return self.folder / kind / key

    @property
    def scratch(self) -> Path:
        """This process's folder for what is there for a while only.  AssayError when the cache cannot be written."""
        with self.writing():
            return scratch.process_dir(self.folder)

    def room(self) -> Path:
        """A fresh folder that is gone when the process ends.  AssayError when the cache cannot be written."""
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def has(self, kind: str, key: str) -> bool:
        """Whether an entry that is a folder is there, and as it was written."""
        return checksums.is_sealed(self.place(kind, key))

    def put(self, kind: str, key: str, content: str | bytes) -> None:
        """Write an entry that is a file.  AssayError when the cache cannot be written."""
        with self.writing():
            atomic.write_file(self.folder, self.place(kind, key), content)

    @contextmanager
    def filling(self, kind: str, key: str, ends: bool = False) -> Iterator[Path]:
        """A fresh folder that becomes the entry when the block ends well, and vanishes when it does not.

        It is sealed; `ends`: of large files their sizes and ends alone.
        """
        fresh = Path(tempfile.mkdtemp(dir=self.scratch))
        try:
            with self.writing():
                yield fresh
                checksums.seal(fresh, key, ends)
                atomic.install(self.folder, fresh, self.place(kind, key))
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    @contextmanager
    def alone(self, folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold the lock on a folder of the cache; `waiting` is called when another process has it."""
        with ExitStack() as stack:
            with self.writing():
                atomic.clear_way(self.folder, folder / "entry")
                stack.enter_context(locked(folder, waiting))
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """What the system or the engine says against writing to the cache, as the one error that it is."""
        try:
            yield
        except AssayError:
            raise
        except OSError as error:
            if not is_within(error, self.folder):
                raise
            raise make_write_error("cache", "cache folder", self.folder, error, ELSEWHERE) from None
        except Exception as error:
            if not is_full(error):
                raise
            raise self.full() from None

    def full(self) -> AssayError:
        """The error of a cache on a disk that is full."""
        return disk_full("cache folder", self.folder, ELSEWHERE)


TABLES_KIND = "tables"
ROWS, COLUMNS = "rows.parquet", "columns.json"
SLOW = 0.05  # seconds: what is made faster is made again
#: types that Parquet holds as they are, and those that it is given as texts
PLAIN = ("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
         "FLOAT", "DOUBLE", "VARCHAR", "DATE")  # fmt: skip
AS_TEXT = ("HUGEINT", "UHUGEINT")


@dataclass(frozen=True, slots=True)
class CachedTables:
    """The tables of a run in a cache, by the hashes of the statements that made them; `enumerated` tells that hosts
    are of a type of their own."""

    store: Store
    connection: duckdb.DuckDBPyConnection
    hashes: Mapping[str, str]
    enumerated: bool

    def known(self, names: Collection[str]) -> frozenset[str]:
        """Those of some tables that are kept."""
        return frozenset(name for name in names if self.store.has(TABLES_KIND, self.hashes[name]))

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
        with self.store.filling(TABLES_KIND, self.hashes[name], ends=True) as fresh:
            rows = dialect.select(*columns).from_(exp.to_table(name))
            self.connection.execute(copied(rows), {TARGET: str((fresh / ROWS).absolute())})
            told = {item: TYPE if kind.startswith(ENUMERATION) else kind for item, kind in types.items()}
            (fresh / COLUMNS).write_text(json.dumps(told), encoding="utf-8")

    def _place(self, name: str) -> Path:
        return self.store.place(TABLES_KIND, self.hashes[name])

    def _read(self, value: exp.Expr, kind: str) -> exp.Expr:
        return value if kind in PLAIN or (kind == TYPE and not self.enumerated) else _cast(value, kind)


def list_table_folders(store: Store) -> tuple[str, ...]:
    """The folders that a connection must reach to keep tables and to have them again."""
    return str((store.folder / TABLES_KIND).absolute()), str(store.scratch.absolute())


def encode_value(value: exp.Expr, kind: str) -> exp.Expr:
    return value if kind in PLAIN else _cast(value, "VARCHAR")


def _cast(value: exp.Expr, kind: str) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType.build(kind, dialect=dialect.DIALECT, udt=True))
