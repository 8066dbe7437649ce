"""Small sources of all kinds, with functions that write their files and ingest them."""

from __future__ import annotations

import functools
import glob
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from assay.ingest.decompress import iter_decompressed
from assay.ingest.discovery import find_run
from assay.ingest.pipeline import ingest
from assay.lang.model.package import (
    Event,
    Field,
    Form,
    Lookup,
    Name,
    Quarantine,
    Source,
    Transform,
    Unit,
    Unless,
    Unwrap,
)
from assay.util.diagnostics import AssayError

ONE = Unit("dimensionless", "")
SOURCE = Source(
    name="machines",
    kind="json-lines",
    hosts="m-*",
    logs=("out", "out*", "m-*.json"),
    time=("ts",),
    body=("body",),
    unwrap=(Unwrap(absent="type", present=("proof", "inner"), take="inner"),),
    lookups=(
        Lookup(path=("what",), in_body=False, drop="", generation="new"),
        Lookup(path=("what",), in_body=False, drop="", generation="old"),
        Lookup(path=("type",), in_body=True, drop="Lib.", generation="old"),
        Lookup(path=("type",), in_body=True, drop="", generation="oldest"),
    ),
    quarantine=Quarantine(share=0.5, at_least=10),
    constants=(),
    doc="",
)
_PLAIN = replace(SOURCE, hosts="", unwrap=(), lookups=())
#: kind -> a source of this kind
SOURCES = {
    source.kind: source
    for source in (
        SOURCE,
        replace(SOURCE, name="pairs", kind="logfmt", body=(), lookups=(Lookup(("msg",), False, "", "new"),)),
        replace(
            _PLAIN,
            name="lines",
            kind="text-lines",
            hosts="m-*",
            logs=("out*",),
            time=("at",),
            body=("message",),
            line="{level} {at} ] {message...}",
            zone="UTC",
        ),
        replace(
            _PLAIN,
            name="lists",
            kind="json-records",
            logs=("a*.json",),
            time=("time",),
            body=("data", "list"),
            time_form="s",
        ),
        replace(_PLAIN, name="tables", kind="csv", logs=("*.csv",), time=("at",), body=()),
        replace(
            _PLAIN,
            name="texts",
            kind="blocks",
            begins="Id",
            logs=("*.txt",),
            time=(),
            body=(),
            quarantine=Quarantine(share=0.0, at_least=10),
        ),
        replace(
            _PLAIN,
            name="metrics",
            kind="samples",
            logs=("*",),
            time=(),
            body=(),
            quarantine=Quarantine(share=0.0, at_least=10),
        ),
    )
}


def build_field(
    name: str,
    kind: str = "integer",
    *paths: str,
    default: str | None = None,
    required: bool = True,
    transforms: Sequence[Transform] = (),
) -> Field:
    """Build a field that is read at dotted paths, by default at its own name."""
    field_paths = tuple(tuple(path.split(".")) for path in paths or (name,))
    return Field(name, kind, ONE, "value", field_paths, default, required and default is None, tuple(transforms), "")


def build_fixed_field(name: str, kind: str, value: str | None) -> Field:
    """Build a field without a path: a constant, or null."""
    return Field(name, kind, ONE, "value", (), value, False, (), "")


def build_form(fields: Sequence[Field], unless: Sequence[Unless] = (), **names: str) -> Form:
    """Build a form with a name for each of these generations."""
    return Form(tuple(Name(generation, name) for generation, name in names.items()), tuple(unless), tuple(fields))


def build_event(name: str, *forms: Form) -> Event:
    """Build an event of the source."""
    return Event(name, SOURCE.name, forms, "")


@functools.cache
def _get_engine() -> duckdb.DuckDBPyConnection:
    """Return an engine that reads ingested files; starting one takes ten times as long as reading a small file.

    It caches nothing of a file, because another test may rewrite the file.
    """
    return duckdb.connect(config={"enable_external_file_cache": False})


@dataclass(frozen=True, slots=True)
class IngestedFolder:
    """A folder that ingest wrote."""

    folder: Path

    def read_rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Return columns (by default all) of logs, counts, quarantine, or of the whole rows of an event, in order."""
        condition, order = ("", "ALL") if self._get_table_path(table).exists() else (" WHERE whole", "host, seq")
        names = ", ".join(f'"{name}"' for name in columns) or "*"
        query = f"SELECT {names} FROM read_parquet(?){condition} ORDER BY {order}"
        rows: list[tuple[Any, ...]] = _get_engine().execute(query, [self._list_files(table)]).fetchall()
        return rows

    def list_columns(self, table: str) -> list[str]:
        """Return the names of the columns of a table that `rows` reads."""
        cursor = _get_engine().execute("SELECT * FROM read_parquet(?) LIMIT 0", [self._list_files(table)])
        return [item[0] for item in cursor.description or ()]

    def _get_table_path(self, table: str) -> Path:
        return self.folder / f"{table}.parquet"

    def _list_files(self, table: str) -> list[str]:
        table_path = self._get_table_path(table)
        paths = [table_path] if table_path.exists() else (self.folder / "events" / table).glob("*.parquet")
        return [glob.escape(str(path)) for path in paths]

    def read_quarantine(self) -> list[tuple[Any, ...]]:
        """Return host, file, line, reason and text of the quarantined records.

        Check their offsets: the text begins there, in an answer's sample after its labels.
        """
        for name, offset, text in self.read_rows("quarantine", "file", "offset", "text"):
            if offset is not None:
                content = b"".join(iter_decompressed(self.folder.parent / "run" / name))
                encoding = "utf-8" if offset else "utf-8-sig"
                remainder = content[offset:].decode(encoding, errors="replace")
                prefixes = ("[", '"', "null") if b'"resultType":"matrix"' in content else (text[:1], "{")
                assert remainder.startswith(prefixes), (name, offset)
        return self.read_rows("quarantine", "host", "file", "line", "reason", "text")

    def read_log(self) -> dict[str, Any]:
        """Return the row of the only host's log, without the name of its source."""
        cursor = _get_engine().execute("FROM read_parquet(?)", [glob.escape(str(self.folder / "logs.parquet"))])
        names = [item[0] for item in cursor.description or ()]
        (row,) = cursor.fetchall()
        return {name: value for name, value in zip(names, row, strict=True) if name != "source"}


def format_record(event_name: object = "Tick", ts: object = "2026-02-05T18:52:16Z", **body: object) -> str:
    """Format a line: an object with a time, a name and a body."""
    return json.dumps({"ts": ts, "what": event_name, "body": body}, separators=(",", ":"))


TICK = build_event("tick", build_form([build_field("n")], new="Tick"))


def write_files(run: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a run by their paths in it."""
    for name, content in files.items():
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def ingest_log(
    folder: Path,
    lines: Sequence[str] | bytes | Mapping[str, bytes],
    events: Sequence[Event] = (TICK,),
    required_fields: Mapping[str, frozenset[str]] | None = None,
    source: Source = SOURCE,
    workers: int | None = None,
) -> IngestedFolder:
    """Ingest a host's log: lines, the bytes of `out`, or files by their paths in the run."""
    run = folder / "run"
    if isinstance(lines, bytes):
        lines = {"m-1/out": lines}
    elif not isinstance(lines, Mapping):
        lines = {"m-1/out": "".join(f"{line}\n" for line in lines).encode()}
    write_files(run, lines)
    all_fields = {item.name: frozenset(field.name for field in item.fields) for item in events}
    requested_fields = all_fields if required_fields is None else required_fields
    ingest(source, events, requested_fields, find_run(source, run, events), folder / "made", workers=workers)
    return IngestedFolder(folder / "made")


def format_error(error: AssayError, folder: Path) -> str:
    """Return the text of an error, without the folder of the test."""
    return str(error).replace(str(folder), "DIR")
