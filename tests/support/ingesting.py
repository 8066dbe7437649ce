"""Define a small source, whose logs tests write line by line, and ingest it."""

from __future__ import annotations

import functools
import glob
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from assay.ingest.decompress import decompressed
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


def field(
    name: str,
    kind: str = "integer",
    *paths: str,
    default: str | None = None,
    required: bool = True,
    transforms: Sequence[Transform] = (),
) -> Field:
    """Create a field with dotted paths; its own name is the default path."""
    actual_paths = tuple(tuple(path.split(".")) for path in paths or (name,))
    return Field(name, kind, ONE, "value", actual_paths, default, required and default is None, tuple(transforms), "")


def fixed(name: str, kind: str, value: str | None) -> Field:
    """Create a field without a path: a constant, or null."""
    return Field(name, kind, ONE, "value", (), value, False, (), "")


def form(fields: Sequence[Field], unless: Sequence[Unless] = (), **names: str) -> Form:
    """Create a form with a name for each generation."""
    return Form(tuple(Name(generation, name) for generation, name in names.items()), tuple(unless), tuple(fields))


def event(name: str, *forms: Form) -> Event:
    """Create an event of the source."""
    return Event(name, SOURCE.name, forms, "")


@functools.cache
def _engine() -> duckdb.DuckDBPyConnection:
    """An engine that reads what tests wrote: to start one takes ten times as long as to read a small file.

    It remembers nothing of a file, which another test may have written since.
    """
    return duckdb.connect(config={"enable_external_file_cache": False})


@dataclass(frozen=True, slots=True)
class Ingested:
    """A folder written by ingest."""

    folder: Path

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Return columns (default: all) of logs, counts, quarantine, or whole event rows, in order."""
        single = self.folder / f"{table}.parquet"
        paths = [single] if single.exists() else (self.folder / "events" / table).glob("*.parquet")
        condition, order = ("", "ALL") if single.exists() else (" WHERE whole", "host, seq")
        names = ", ".join(f'"{name}"' for name in columns) or "*"
        query = f"SELECT {names} FROM read_parquet(?){condition} ORDER BY {order}"
        files = [glob.escape(str(path)) for path in paths]
        rows: list[tuple[Any, ...]] = _engine().execute(query, [files]).fetchall()
        return rows

    def broken(self) -> list[tuple[Any, ...]]:
        """Host, file, line, reason and text of what is in quarantine; its offset is checked: the text begins there (of
        an answer's sample behind its labels)."""
        for name, offset, text in self.rows("quarantine", "file", "offset", "text"):
            if offset is not None:
                content = b"".join(decompressed(self.folder.parent / "run" / name))
                form = "utf-8" if offset else "utf-8-sig"
                there = content[offset:].decode(form, errors="replace")
                begins = ("[", "null") if b'"resultType":"matrix"' in content else (text[:1],)
                assert there.startswith(begins), (name, offset)
        return self.rows("quarantine", "host", "file", "line", "reason", "text")

    def log(self) -> dict[str, Any]:
        """Return the row of the only host's log without the name of its source."""
        cursor = _engine().execute("FROM read_parquet(?)", [glob.escape(str(self.folder / "logs.parquet"))])
        names = [item[0] for item in cursor.description or ()]
        (row,) = cursor.fetchall()
        return {name: value for name, value in zip(names, row, strict=True) if name != "source"}


def record(what: object = "Tick", ts: object = "2026-02-05T18:52:16Z", **body: object) -> str:
    """Return a line: an object with a time, a name and a body."""
    return json.dumps({"ts": ts, "what": what, "body": body}, separators=(",", ":"))


TICK = event("tick", form([field("n")], new="Tick"))


def read(
    folder: Path,
    lines: Sequence[str] | bytes | Mapping[str, bytes],
    events: Sequence[Event] = (TICK,),
    wanted: Mapping[str, frozenset[str]] | None = None,
    source: Source = SOURCE,
    workers: int | None = None,
) -> Ingested:
    """Ingest a host's log from lines, from the bytes of `out`, or from files by path."""
    run = folder / "run"
    if isinstance(lines, bytes):
        lines = {"m-1/out": lines}
    elif not isinstance(lines, Mapping):
        lines = {"m-1/out": "".join(f"{line}\n" for line in lines).encode()}
    for name, content in lines.items():
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    everything = {item.name: frozenset(form_field.name for form_field in item.fields) for item in events}
    needed = everything if wanted is None else wanted
    ingest(source, events, needed, find_run(source, run, events), folder / "made", workers=workers)
    return Ingested(folder / "made")


def refusal(error: AssayError, folder: Path) -> str:
    """Return the text of an error without the folder of the test."""
    return str(error).replace(str(folder), "DIR")
