"""The folder that ingest writes, all or nothing, and the engine that writes it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest.refused import TABLE, TooManyBrokenError
from assay.spec.file_errors import disk_full, is_full, is_within, of_system, unwritable
from assay.sql import dialect
from assay.storage import atomic, scratch, seals

if TYPE_CHECKING:
    import duckdb

MEMORY = 700  # MiB that the engine may hold before it spills to disk
SCRATCH = ("spill", "plain", "batches")  # folders that are gone when all is written


@contextmanager
def written(out: Path, cache: Path | None = None) -> Iterator[Path]:
    """A fresh folder that becomes `out` when the block ends well, and else leaves nothing behind.

    It is made in the scratch of the cache, by default in that of the folder that `out` is in.  Of a run with too many
    broken records these are left, where there is a cache.  Raises AssayError when it cannot be written.
    """
    import duckdb

    root = cache or out.parent
    try:
        with scratch.folder(root) as fresh:
            try:
                yield fresh
            except TooManyBrokenError as error:
                if cache:
                    error.hold(fresh / TABLE, cache)
                raise
            for name in SCRATCH:
                shutil.rmtree(fresh / name, ignore_errors=True)
            seals.seal(fresh, out.name, ends=True)
            atomic.install(root, fresh, out)
    except OSError as error:
        if not is_within(error, root):
            raise of_system(error) from None
        raise unwritable("cache", "cache folder", root, error, "name another with --cache") from None
    except duckdb.Error as error:
        if not is_full(error):
            raise
        raise disk_full("cache folder", root, "name another with --cache") from None
    finally:
        if cache is None:
            scratch.leave(root)


def connected(folder: Path, memory: int = MEMORY) -> duckdb.DuckDBPyConnection:
    """A fresh engine that works in the threads of those who ask, so that lines keep their places."""
    import duckdb

    return duckdb.connect(
        config={
            "threads": "1",
            "memory_limit": f"{memory}MiB",
            "temp_directory": str(folder / "spill"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )


def empty(table: str, columns: Mapping[str, str]) -> str:
    """The statement that makes an empty table of columns of the engine's types."""
    defined = [
        exp.ColumnDef(this=exp.to_identifier(name), kind=exp.DataType.build(kind, dialect=dialect.DIALECT))
        for name, kind in columns.items()
    ]
    schema = exp.Schema(this=exp.to_table(table), expressions=defined)
    return exp.Create(this=schema, kind="TABLE").sql(dialect=dialect.DIALECT)
