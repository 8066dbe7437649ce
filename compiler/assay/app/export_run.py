"""Folders that are handed out: what was ingested of a run, and its own constants.

Runs of the same logs share what was ingested of them, and may have other constants.  So each has a folder of its own,
of links to the files that are shared.
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

#: what former editions put into the folders that are shared
FORMER = "constants*.parquet"


def handed_out(session: Session, prepared: IngestedRun) -> tuple[Path, ...]:
    """The folders of a run's events with its constants, one a source, for whoever queries them without Assay.

    AssayError when the cache cannot be written.
    """
    return tuple(link_run(session.store, folder, prepared.constants) for folder in prepared.folders)


def link_run(store: Store, folder: Path, constants: Mapping[str, object]) -> Path:
    """A folder of the cache with the files of an ingested folder and a run's constants; there for no other run, unless
    its logs and its constants are the same.  AssayError when the cache cannot be written."""
    place = store.place("runs", _key(folder, constants))
    if not is_sealed(place):
        with store.writing():
            fresh = store.room() / "run"
            _fill(fresh, folder, constants)
            seal(fresh, place.name, ends=True)
            keep(store.folder, fresh, place)
    used(place)
    return place


def _key(folder: Path, constants: Mapping[str, object]) -> str:
    """The hash of all that a folder holds: the raw data, what was read of it and how, the constants."""
    held = (folder / MANIFEST).read_text(encoding="utf-8")
    text = json.dumps([folder.parent.name, held, sorted(constants.items())], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _fill(fresh: Path, folder: Path, constants: Mapping[str, object]) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != FILE and not fnmatch(path.name, FORMER):
            place = fresh / path.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            link(path, place)
    _write(fresh / OWN_CONSTANTS, constants)


def _write(place: Path, constants: Mapping[str, object]) -> None:
    """Constants as a table of one row, for SQL that stands alone."""
    row = sorted(constants.items())
    known = [(name, value is not None) for name, value in row]
    values: dict[str, object] = {_parameter(index): value for index, (_, value) in enumerate(row) if value is not None}
    with idle_engine() or small_engine() as connection:
        connection.execute(statement(known), {**values, "target": str(place)})


def statement(known: Sequence[tuple[str, bool]]) -> str:
    """The statement that writes constants: their names, and whether they have values, which are its parameters."""
    from sqlglot import exp

    from assay.sql.dialect import copied_plainly
    from assay.sql.expressions import literal

    places = [
        exp.Placeholder(this=_parameter(index)) if some else literal(None) for index, (_, some) in enumerate(known)
    ]
    values = [exp.alias_(place, name) for place, (name, _) in zip(places, known, strict=True)]
    # A table has a column, though there be no constant.
    return copied_plainly(exp.select(*(values or [exp.alias_(exp.Null(), "none")])))


def _parameter(index: int) -> str:
    return f"value_{index}"
