"""The output folder of ingest, written atomically, and the engine that writes it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from assay.ingest.quarantine import TABLE, QuarantineLimitError
from assay.ingest.small_tables import build_drop_statement
from assay.util import atomic, checksums, scratch
from assay.util.os_errors import (
    build_disk_full_error,
    build_write_error,
    convert_os_error,
    is_disk_full_error,
    is_within,
)

if TYPE_CHECKING:
    import duckdb

MEMORY = 700  # memory limit of the engine in MiB, beyond which it spills to disk
SPILL = "spill"
SCRATCH = (SPILL, "plain", "batches")  # temporary folders


@contextmanager
def open_output_folder(out: Path, cache: Path | None = None) -> Iterator[Path]:
    """Yield a new folder that becomes `out` if the block succeeds, and is removed otherwise.

    It is created in the scratch folder of the cache, by default of the parent of `out`. If a run has too many malformed
    records, the cache stores them. Raises AssayError if the folder cannot be written.
    """
    root = cache or out.parent
    try:
        with scratch.create_temporary_folder(root) as new_folder:
            try:
                yield new_folder
            except QuarantineLimitError as error:
                if cache:
                    error.store_table(new_folder / TABLE, cache)
                raise
            for name in SCRATCH:
                shutil.rmtree(new_folder / name, ignore_errors=True)
            checksums.seal(new_folder, out.name, checks_ends_only=True)
            atomic.install(root, new_folder, out, replaces_sealed=True)
    except OSError as error:
        if not is_within(error, root):
            raise convert_os_error(error) from None
        raise build_write_error("cache", "cache folder", root, error, "pass --cache DIR") from None
    except Exception as error:
        if not is_engine_error(error) or not is_disk_full_error(error):
            raise
        raise build_disk_full_error("cache folder", root, "pass --cache DIR") from None
    finally:
        if cache is None:
            scratch.clean_up(root)


def open_engine(folder: Path, memory: int = MEMORY) -> duckdb.DuckDBPyConnection:
    """Open an engine that works only in the calling thread, so that lines stay in order."""
    import duckdb

    return duckdb.connect(
        config={
            "threads": "1",
            "memory_limit": f"{memory}MiB",
            "temp_directory": str(folder / SPILL),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )


class Engine:
    """A context manager of an engine that is loaded and started in the background."""

    def __init__(self, folder: Path, memory: int = MEMORY) -> None:
        self._folder = folder
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._started = self._pool.submit(open_engine, folder, memory)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Return its connection once the engine is started."""
        return self._started.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        """Close the engine, or keep it for reuse; not after an error, which may leave tables behind."""
        try:
            if kind is None and not self._has_spilled and not _idle:
                _idle.append(self.connection)
            else:
                self.connection.close()
        finally:
            self._pool.shutdown()

    @property
    def _has_spilled(self) -> bool:
        return (self._folder / SPILL).exists()


_idle: list[duckdb.DuckDBPyConnection] = []  # engines without tables


def get_idle_engine() -> duckdb.DuckDBPyConnection | None:
    """Return a cursor of an idle engine for small queries, None if there is no idle engine."""
    return _idle[0].cursor() if _idle else None


class Cursor:
    """A cursor of an engine for one thread, opened on first use."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Return the cursor."""
        return self._engine.connection.cursor()

    def drop(self, tables: Sequence[str]) -> None:
        """Drop tables if they exist."""
        for table in tables:
            self.connection.execute(build_drop_statement(table))

    def close(self) -> None:
        """Close it if it was opened."""
        if "connection" in self.__dict__:
            self.connection.close()


def is_engine_error(error: Exception) -> bool:
    """Return whether an error is from the engine, which may not be loaded."""
    # While another thread imports the engine, its module is there without its contents.
    error_type = getattr(sys.modules.get("duckdb"), "Error", None)
    return error_type is not None and isinstance(error, error_type)
