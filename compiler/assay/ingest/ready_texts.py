"""Texts of statements that depend on the specs alone, ready to be run.

To load the library of syntax trees, and to make texts of them, takes longer than what they ask of a small log.  So they
are kept where Python keeps what it compiles of code, those of specs that come with Assay.  They are taken while the
code that makes them, and the library, are the same.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from assay.storage import compiled
from assay.storage.paths import resolve_path

#: the modules that make such texts, from the folder of the package
MAKERS = (
    "build/handing.py",
    "ingest/durations.py",
    "ingest/empty_tables.py",
    "ingest/event_rows.py",
    "ingest/event_writing.py",
    "ingest/fields.py",
    "ingest/filling.py",
    "ingest/forms.py",
    "ingest/small_tables.py",
    "ingest/spellings.py",
    "ingest/tree.py",
    "ingest/whole_paths.py",
    "spec/own_names.py",
    "spec/sql_reads.py",
    "sql/copying.py",
    "sql/dialect.py",
    "sql/expressions.py",
    "sql/host_type.py",
)
MOST = 2000  # texts that are kept, or held in memory

_asked: dict[str, str] = {}  # texts that somebody asked for


def text(name: str, make: Callable[[], str]) -> str:
    """The text of a name, which is to tell all that it depends on; made now, unless it is ready."""
    found = _asked.get(name) or _ready().get(name) or make()
    if len(_asked) >= MOST:  # of specs that were edited meanwhile
        _asked.clear()
    return _asked.setdefault(name, found)


def keep(others: bool = True) -> None:
    """Keep what was asked for, with the others that are ready unless these are many, or not to be kept."""
    if others and _asked.keys() <= _ready().keys():
        return
    ready = _ready() if others and len(_ready()) < MOST else {}
    compiled.keep(_place(), _name(), json.dumps({**ready, **_asked}))


@functools.cache
def _ready() -> Mapping[str, str]:
    with contextlib.suppress(ValueError):
        found: dict[str, str] = json.loads(compiled.read(_place(), _name()) or "{}")
        return found
    return {}


def _place() -> Path:
    return compiled.place(__file__, "shipped")


@functools.cache
def _name() -> str:
    package = resolve_path(Path(__file__)).parent.parent
    return f"{compiled.code(package / name for name in MAKERS)} {compiled.library('sqlglot')}"
