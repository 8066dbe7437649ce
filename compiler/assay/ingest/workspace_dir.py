"""The folder that ingest writes, all or nothing, and the engine that writes it."""

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
from assay.ingest.small_tables import dropped
from assay.util import atomic, checksums, scratch
from assay.util.os_errors import convert_os_error, disk_full, is_full, is_within, make_write_error

if TYPE_CHECKING:
    import duckdb

MEMORY = 700  # MiB that the engine may hold before it spills to disk
SPILL = "spill"
SCRATCH = (SPILL, "plain", "batches")  # folders that are gone when all is written


@contextmanager
def atomic_output_dir(out: Path, cache: Path | None = None) -> Iterator[Path]:
    """A fresh folder that becomes `out` when the block ends well, and else leaves nothing behind.

    It is made in the scratch of the cache, by default in that of the folder that `out` is in.  Of a run with too many
    broken records these are left, where there is a cache.  Raises AssayError when it cannot be written.
    """
    root = cache or out.parent
    try:
        with scratch.temporary_folder(root) as fresh:
            try:
                yield fresh
            except QuarantineLimitError as error:
                if cache:
                    error.hold(fresh / TABLE, cache)
                raise
            for name in SCRATCH:
                shutil.rmtree(fresh / name, ignore_errors=True)
            checksums.seal(fresh, out.name, ends=True)
            atomic.install(root, fresh, out)
    except OSError as error:
        if not is_within(error, root):
            raise convert_os_error(error) from None
        raise make_write_error("cache", "cache folder", root, error, "name another with --cache") from None
    except Exception as error:
        if not is_of_engine(error) or not is_full(error):
            raise
        raise disk_full("cache folder", root, "name another with --cache") from None
    finally:
        if cache is None:
            scratch.clean_up(root)


def open_engine(folder: Path, memory: int = MEMORY) -> duckdb.DuckDBPyConnection:
    """A fresh engine that works in the threads of those who ask, so that lines keep their places."""
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
    """A fresh engine that is started, and loaded, while something else is done; there until the block ends."""

    def __init__(self, folder: Path, memory: int = MEMORY) -> None:
        self._folder = folder
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._started = self._pool.submit(open_engine, folder, memory)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """A connection to it, when it is there."""
        return self._started.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, place: object) -> None:
        """End it, or leave it idle: one that failed may hold what nobody drops."""
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


_idle: list[duckdb.DuckDBPyConnection] = []  # that hold nothing


def idle_engine() -> duckdb.DuckDBPyConnection | None:
    """An engine that has done its work, for small things; None where no run was read."""
    return _idle[0].cursor() if _idle else None


class Cursor:
    """A connection to an engine for one thread, which is made when it is asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection."""
        return self._engine.connection.cursor()

    def drop(self, tables: Sequence[str]) -> None:
        """Drop tables, those that are there."""
        for table in tables:
            self.connection.execute(dropped(table))

    def close(self) -> None:
        """End it, if it was made."""
        if "connection" in self.__dict__:
            self.connection.close()


def is_of_engine(error: Exception) -> bool:
    """Whether an error is the engine's; one that nobody has loaded has none."""
    duckdb = sys.modules.get("duckdb")
    return duckdb is not None and isinstance(error, duckdb.Error)
