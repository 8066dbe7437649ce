"""Cache results and intermediate tables by the hash of all their inputs.

Entries are atomic: complete or absent.

Intermediate tables are cached if some outputs of a run are cached and some are not, since then specs are being edited.
A first build caches no tables.
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
from assay.engine.pruning import mark_used
from assay.sql import dialect
from assay.sql.dialect import TARGET, TYPE, build_column, build_copy_with_stats
from assay.util import atomic, checksums, scratch
from assay.util.diagnostics import AssayError, fail
from assay.util.locks import acquire_lock
from assay.util.os_errors import build_disk_full_error, build_write_error, is_disk_full_error, is_within

if TYPE_CHECKING:
    import duckdb


ELSEWHERE = "pass --cache DIR"


def get_default_folder() -> Path:
    """Return the default folder for caches: `assay` in the user's cache folder.

    Relative paths in the environment are ignored, as the XDG Base Directory Specification demands.  Raises AssayError
    when the user has no home.
    """
    xdg_folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if xdg_folder.is_absolute():
        return xdg_folder / "assay"
    home = Path(os.environ.get("HOME", ""))
    if not home.is_absolute():
        try:
            home = Path(pwd.getpwuid(os.getuid()).pw_dir)
        except KeyError:
            hint = "pass --cache DIR, or set HOME or XDG_CACHE_HOME"
            raise fail("cache", "this user has no home folder for a cache", hint=hint) from None
    return home / ".cache" / "assay"


@dataclass(frozen=True, slots=True)
class Store:
    """A cache folder."""

    folder: Path

    def get_path(self, kind: str, key: str) -> Path:
        """Return the path of an entry, which need not exist."""
        return self.folder / kind / key

    @property
    def scratch(self) -> Path:
        """Return the temporary folder of this process.  Raises AssayError when the cache cannot be written."""
        with self.convert_write_errors():
            return scratch.get_process_folder(self.folder)

    def create_folder(self) -> Path:
        """Create an empty folder that is removed when the process ends.

        Raises AssayError when the cache cannot be written.
        """
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def has(self, kind: str, key: str) -> bool:
        """Return whether an entry that is a folder exists and has its checksum."""
        return checksums.is_sealed(self.get_path(kind, key))

    def put(self, kind: str, key: str, content: str | bytes) -> None:
        """Write an entry that is a file.  Raises AssayError when the cache cannot be written."""
        with self.convert_write_errors():
            atomic.write_file(self.folder, self.get_path(kind, key), content)

    @contextmanager
    def fill_entry(self, kind: str, key: str, ends: bool = False) -> Iterator[Path]:
        """Yield an empty folder that becomes the entry when the block succeeds, and is removed when it fails.

        The entry gets a checksum; with `ends`, only the size and the ends of large files enter it.
        """
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        try:
            with self.convert_write_errors():
                yield folder
                checksums.seal(folder, key, ends)
                atomic.install(self.folder, folder, self.get_path(kind, key))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def lock_folder(self, folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold the lock on a folder of the cache; `waiting` is called when another process holds it."""
        with ExitStack() as stack:
            with self.convert_write_errors():
                atomic.create_parents(self.folder, folder / "entry")
                stack.enter_context(acquire_lock(folder, waiting))
            yield

    @contextmanager
    def convert_write_errors(self) -> Iterator[None]:
        """Convert errors of the system or the engine while writing to the cache into AssayError."""
        try:
            yield
        except AssayError:
            raise
        except OSError as error:
            if not is_within(error, self.folder):
                raise
            raise build_write_error("cache", "cache folder", self.folder, error, ELSEWHERE) from None
        except Exception as error:
            if not is_disk_full_error(error):
                raise
            raise self.build_full_error() from None

    def build_full_error(self) -> AssayError:
        """Return the error of a cache on a full disk."""
        return build_disk_full_error("cache folder", self.folder, ELSEWHERE)


TABLES_KIND = "tables"
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

    def load_table(self, name: str) -> None:
        """Create a view of a cached table under the table's name."""
        folder = self._get_folder(name)
        types = json.loads((folder / COLUMNS).read_text(encoding="utf-8"))
        columns = [exp.alias_(self._decode_value(build_column(item), kind), item) for item, kind in types.items()]
        scan = exp.ReadParquet(expressions=[exp.Literal.string(str((folder / ROWS).absolute()))])
        view = exp.Create(
            this=exp.to_table(exp.to_identifier(name).sql(dialect.DIALECT)),
            kind="VIEW",
            expression=dialect.select(*columns).from_(scan),
        )
        self.connection.execute(dialect.to_sql(view))
        mark_used(folder)

    def create_table(self, name: str, create: Callable[[], None]) -> None:
        """Create a table, and cache it if that was slow and all its types can be written."""
        start = time.perf_counter()
        create()
        if time.perf_counter() - start < SLOW:
            return
        described = self.connection.execute(dialect.to_sql(exp.Describe(this=exp.to_table(name)))).fetchall()
        types = {str(row[0]): str(row[1]) for row in described}
        if not all(kind in PLAIN or kind in AS_TEXT or kind.startswith(ENUMERATION) for kind in types.values()):
            return
        columns = [exp.alias_(encode_value(build_column(item), kind), item) for item, kind in types.items()]
        with self.store.fill_entry(TABLES_KIND, self.hashes[name], ends=True) as folder:
            rows = dialect.select(*columns).from_(exp.to_table(name))
            self.connection.execute(build_copy_with_stats(rows), {TARGET: str((folder / ROWS).absolute())})
            cached_types = {item: TYPE if kind.startswith(ENUMERATION) else kind for item, kind in types.items()}
            (folder / COLUMNS).write_text(json.dumps(cached_types), encoding="utf-8")

    def _get_folder(self, name: str) -> Path:
        return self.store.get_path(TABLES_KIND, self.hashes[name])

    def _decode_value(self, value: exp.Expr, kind: str) -> exp.Expr:
        return value if kind in PLAIN or (kind == TYPE and not self.has_host_type) else _cast(value, kind)


def list_table_folders(store: Store) -> tuple[str, ...]:
    """Return the folders that a connection needs access to for writing and reading cached tables."""
    return str((store.folder / TABLES_KIND).absolute()), str(store.scratch.absolute())


def encode_value(value: exp.Expr, kind: str) -> exp.Expr:
    """Return a value as Parquet can store it: types that Parquet lacks become text."""
    return value if kind in PLAIN else _cast(value, "VARCHAR")


def _cast(value: exp.Expr, kind: str) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType.build(kind, dialect=dialect.DIALECT, udt=True))
