"""Small sources of all kinds, whose files tests write, and what ingest makes of them."""

from __future__ import annotations

import functools
import glob
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
_PLAIN = replace(SOURCE, hosts="", unwrap=(), lookups=())
#: kind -> a source of it
SOURCES = {
    source.kind: source
    for source in (
        SOURCE,
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


def field(
    name: str,
    kind: str = "integer",
    *paths: str,
    default: str | None = None,
    required: bool = True,
    transforms: Sequence[Transform] = (),
) -> Field:
    """A field read at dotted paths; at its own name when none is given."""
    found = tuple(tuple(path.split(".")) for path in paths or (name,))
    return Field(name, kind, ONE, "value", found, default, required and default is None, tuple(transforms), "")


def fixed(name: str, kind: str, value: str | None) -> Field:
    """A field that no path has: a constant, or null."""
    return Field(name, kind, ONE, "value", (), value, False, (), "")


def form(fields: Sequence[Field], unless: Sequence[Unless] = (), **names: str) -> Form:
    """A form with a name for each generation given."""
    return Form(tuple(Name(generation, name) for generation, name in names.items()), tuple(unless), tuple(fields))


def event(name: str, *forms: Form) -> Event:
    """An event of the source."""
    return Event(name, SOURCE.name, forms, "")


@functools.cache
def _engine() -> duckdb.DuckDBPyConnection:
    """An engine that reads what tests wrote: to start one takes ten times as long as to read a small file.

    It remembers nothing of a file, which another test may have written since.
    """
    return duckdb.connect(config={"enable_external_file_cache": False})


@dataclass(frozen=True, slots=True)
class Ingested:
    """A folder that ingest wrote."""

    folder: Path

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Columns (all when none is named) of logs, counts, quarantine, or of the whole rows of an event, in order."""
        condition, order = ("", "ALL") if self._single(table).exists() else (" WHERE whole", "host, seq")
        names = ", ".join(f'"{name}"' for name in columns) or "*"
        query = f"SELECT {names} FROM read_parquet(?){condition} ORDER BY {order}"
        rows: list[tuple[Any, ...]] = _engine().execute(query, [self._files(table)]).fetchall()
        return rows

    def columns(self, table: str) -> list[str]:
        """Return the names of the columns of a table that `rows` reads."""
        cursor = _engine().execute("SELECT * FROM read_parquet(?) LIMIT 0", [self._files(table)])
        return [item[0] for item in cursor.description or ()]

    def _single(self, table: str) -> Path:
        return self.folder / f"{table}.parquet"

    def _files(self, table: str) -> list[str]:
        single = self._single(table)
        paths = [single] if single.exists() else (self.folder / "events" / table).glob("*.parquet")
        return [glob.escape(str(path)) for path in paths]

    def broken(self) -> list[tuple[Any, ...]]:
        """Host, file, line, reason and text of what is in quarantine; its offset is checked: the text begins there (of
        an answer's sample behind its labels)."""
        for name, offset, text in self.rows("quarantine", "file", "offset", "text"):
            if offset is not None:
                content = b"".join(decompressed(self.folder.parent / "run" / name))
                form = "utf-8" if offset else "utf-8-sig"
                there = content[offset:].decode(form, errors="replace")
                begins = ("[", '"', "null") if b'"resultType":"matrix"' in content else (text[:1], "{")
                assert there.startswith(begins), (name, offset)
        return self.rows("quarantine", "host", "file", "line", "reason", "text")

    def log(self) -> dict[str, Any]:
        """The row of the only host's log, but for the name of its source."""
        cursor = _engine().execute("FROM read_parquet(?)", [glob.escape(str(self.folder / "logs.parquet"))])
        names = [item[0] for item in cursor.description or ()]
        (row,) = cursor.fetchall()
        return {name: value for name, value in zip(names, row, strict=True) if name != "source"}


def record(what: object = "Tick", ts: object = "2026-02-05T18:52:16Z", **body: object) -> str:
    """A line: an object with a time, a name and a body."""
    return json.dumps({"ts": ts, "what": what, "body": body}, separators=(",", ":"))


TICK = event("tick", form([field("n")], new="Tick"))


def write_files(run: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a run by their paths in it."""
    for name, content in files.items():
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def read(
    folder: Path,
    lines: Sequence[str] | bytes | Mapping[str, bytes],
    events: Sequence[Event] = (TICK,),
    wanted: Mapping[str, frozenset[str]] | None = None,
    source: Source = SOURCE,
    workers: int | None = None,
) -> Ingested:
    """What ingest makes of a host's log: of lines, of the bytes of `out`, or of files by their paths in the run."""
    run = folder / "run"
    if isinstance(lines, bytes):
        lines = {"m-1/out": lines}
    elif not isinstance(lines, Mapping):
        lines = {"m-1/out": "".join(f"{line}\n" for line in lines).encode()}
    write_files(run, lines)
    everything = {item.name: frozenset(found.name for found in item.fields) for item in events}
    asked = everything if wanted is None else wanted
    ingest(source, events, asked, find_run(source, run, events), folder / "made", workers=workers)
    return Ingested(folder / "made")


def refusal(error: AssayError, folder: Path) -> str:
    """The text of an error, the folder of the test left out."""
    return str(error).replace(str(folder), "DIR")
