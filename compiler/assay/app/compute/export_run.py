"""Export ingested runs as folders with the run's constants.

Runs with the same logs share their ingested files but may differ in constants. So each run gets a folder with links to
the shared files and with its own constants.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from assay.app.session.session import Session
from assay.engine.connection import open_shared_cursor
from assay.engine.pruning import mark_used
from assay.engine.result_cache import Store
from assay.ingest.manifest import MANIFEST
from assay.ingest.output_folder import get_idle_engine
from assay.lang.reserved_names import CONSTANTS_FILE
from assay.runs.model import IngestedRun
from assay.util.atomic import install, link
from assay.util.checksums import FILE, is_sealed, seal

#: Files that earlier versions of Assay wrote into the shared folders.
OBSOLETE_FILES = "constants*.parquet"


def link_run_folders(session: Session, ingested_run: IngestedRun) -> tuple[Path, ...]:
    """Return the folders with a run's events and constants, one per source, for SQL that runs outside of Assay.

    Raises AssayError if the cache cannot be written.
    """
    return tuple(link_run(session.store, folder, ingested_run.constants) for folder in ingested_run.folders)


def link_run(store: Store, folder: Path, constants: Mapping[str, object]) -> Path:
    """Return the cache folder with links to the files of an ingested folder and with a run's constants.

    The folder is created if it does not exist. Runs with the same logs and constants share it. Raises AssayError if the
    cache cannot be written.
    """
    target = store.get_path("runs", _compute_key(folder, constants))
    if not is_sealed(target):
        with store.convert_write_errors():
            new_folder = store.create_folder() / "run"
            _fill_folder(new_folder, folder, constants)
            seal(new_folder, target.name, checks_ends_only=True)
            install(store.folder, new_folder, target)
    mark_used(target)
    return target


def _compute_key(folder: Path, constants: Mapping[str, object]) -> str:
    """Return the hash of a folder's contents: raw data, the events and rules of ingestion, and constants."""
    manifest = (folder / MANIFEST).read_text(encoding="utf-8")
    text = json.dumps([folder.parent.name, manifest, sorted(constants.items())], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _fill_folder(new_folder: Path, folder: Path, constants: Mapping[str, object]) -> None:
    """Link the files of `folder` into `new_folder` and write constants there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != FILE and not fnmatch(path.name, OBSOLETE_FILES):
            target = new_folder / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            link(path, target)
    _write_constants(new_folder / CONSTANTS_FILE, constants)


def _write_constants(path: Path, constants: Mapping[str, object]) -> None:
    """Write constants as a table of one row, for SQL that runs outside of Assay."""
    row = sorted(constants.items())
    non_null = [(name, value is not None) for name, value in row]
    values: dict[str, object] = {
        _name_parameter(index): value for index, (_, value) in enumerate(row) if value is not None
    }
    with get_idle_engine() or open_shared_cursor() as connection:
        connection.execute(build_constants_statement(non_null), {**values, "target": str(path)})


def build_constants_statement(columns: Sequence[tuple[str, bool]]) -> str:
    """Return the SQL that writes constants as a Parquet file of one row.

    `columns` has the name of each constant, and whether it has a value. The values and the path of the file are
    parameters of the statement.
    """
    from sqlglot import exp

    from assay.sql.dialect import build_copy
    from assay.sql.expressions import build_literal

    selected = [
        exp.alias_(exp.Placeholder(this=_name_parameter(index)) if has_value else build_literal(None), name)
        for index, (name, has_value) in enumerate(columns)
    ]
    # A table needs a column, even without constants.
    return build_copy(exp.select(*(selected or [exp.alias_(exp.Null(), "none")])))


def _name_parameter(index: int) -> str:
    return f"value_{index}"
