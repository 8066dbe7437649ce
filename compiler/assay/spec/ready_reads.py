"""What texts of the specs that come with Assay read, ready to be known: where Python keeps what it compiles of code.

To parse all texts of a system takes longer than all else that tells what is to be read of its logs.  What it came to is
kept with the hash of each text.  It is taken while the code and the library that parses are the same.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path

from assay.storage import compiled

Told = tuple[list[str], list[str] | None]


def key(sql: str, tables: Collection[str], whole: Collection[str]) -> str:
    """The hash of a text and of what it is asked about."""
    return hashlib.sha256(json.dumps([sql, sorted(tables), sorted(whole)]).encode()).hexdigest()


@functools.cache
def ready() -> Mapping[str, Told]:
    """Constants and names (None: all) by the key of a text; nothing of other code or of another library."""
    found: dict[str, Told] = {}
    for place in _place("*").parent.glob(_place("*").name):
        with contextlib.suppress(ValueError):
            found |= json.loads(compiled.read(place, _name()) or "{}")
    return found


def keep(system: str, told: Mapping[str, Told]) -> None:
    """Keep what the texts of a system of the shipped workspace read; where that cannot be, it is no matter."""
    compiled.keep(_place(system), _name(), json.dumps(told))


def _place(system: str) -> Path:
    return compiled.place(__file__, system)


@functools.cache
def _name() -> str:
    """A word for the code, and for the library."""
    return f"{compiled.code([Path(__file__).with_name('sql_reads.py')])} {compiled.library('sqlglot')}"
