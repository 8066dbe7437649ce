"""Export ingested runs as folders with the run's constants.

Runs of the same logs share their ingested files but may differ in constants. So each run gets a folder of links to the
shared files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from assay.app.prepare import IngestedRun
from assay.app.session import Session
from assay.engine.connection import small_engine
from assay.engine.pruning import used
from assay.engine.result_cache import Store
from assay.ingest.manifest import MANIFEST
from assay.ingest.workspace_dir import idle_engine
from assay.lang.reserved_names import OWN_CONSTANTS
from assay.util.atomic import keep, link
from assay.util.checksums import FILE, is_sealed, seal

#: Files that earlier versions wrote into the shared folders.
FORMER = "constants*.parquet"


def handed_out(session: Session, prepared: IngestedRun) -> tuple[Path, ...]:
    """Return the folders of a run's events and constants, one per source, for queries outside of Assay.

    Raises AssayError if the cache cannot be written.
    """
    return tuple(link_run(session.store, folder, prepared.constants) for folder in prepared.folders)


def link_run(store: Store, folder: Path, constants: Mapping[str, object]) -> Path:
    """Return a cache folder that links the files of an ingested folder and has a run's constants.

    Runs with the same logs and constants share the folder. Raises AssayError if the cache cannot be written.
    """
    target = store.place("runs", _key(folder, constants))
    if not is_sealed(target):
        with store.writing():
            fresh = store.room() / "run"
            _fill(fresh, folder, constants)
            seal(fresh, target.name, ends=True)
            keep(store.folder, fresh, target)
    used(target)
    return target


def _key(folder: Path, constants: Mapping[str, object]) -> str:
    """Return the hash of a folder's contents: raw data, the events and rules of ingestion, and constants."""
    manifest = (folder / MANIFEST).read_text(encoding="utf-8")
    text = json.dumps([folder.parent.name, manifest, sorted(constants.items())], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _fill(fresh: Path, folder: Path, constants: Mapping[str, object]) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != FILE and not fnmatch(path.name, FORMER):
            target = fresh / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            link(path, target)
    _write(fresh / OWN_CONSTANTS, constants)


def _write(path: Path, constants: Mapping[str, object]) -> None:
    """Write constants as a table of one row, for SQL that runs outside of Assay."""
    row = sorted(constants.items())
    non_null = [(name, value is not None) for name, value in row]
    values: dict[str, object] = {_parameter(index): value for index, (_, value) in enumerate(row) if value is not None}
    with idle_engine() or small_engine() as connection:
        connection.execute(statement(non_null), {**values, "target": str(path)})


def statement(columns: Sequence[tuple[str, bool]]) -> str:
    """Return the SQL that writes constants as one row.

    `columns` has their names, and whether they have values. Values are parameters of the statement.
    """
    from sqlglot import exp

    from assay.sql.dialect import copied_plainly
    from assay.sql.expressions import literal

    values_sql = [
        exp.Placeholder(this=_parameter(index)) if has_value else literal(None)
        for index, (_, has_value) in enumerate(columns)
    ]
    values = [exp.alias_(place, name) for place, (name, _) in zip(values_sql, columns, strict=True)]
    # A table needs a column, even without constants.
    return copied_plainly(exp.select(*(values or [exp.alias_(exp.Null(), "none")])))


def _parameter(index: int) -> str:
    return f"value_{index}"
