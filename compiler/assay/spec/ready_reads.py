"""What texts of the specs that come with Assay read, ready to be known: where Python keeps what it compiles of code.

To parse all texts of a system takes longer than all else that tells what is to be read of its logs.  What it came to is
kept with the hash of each text.  It is taken while the code and the library that parses are the same.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from assay.storage.seals import sealed, unsealed

Told = tuple[list[str], list[str] | None]


def key(sql: str, tables: Collection[str], whole: Collection[str]) -> str:
    """The hash of a text and of what it is asked about."""
    return hashlib.sha256(json.dumps([sql, sorted(tables), sorted(whole)]).encode()).hexdigest()


@functools.cache
def ready() -> Mapping[str, Told]:
    """Constants and names (None: all) by the key of a text; nothing of other code or of another library."""
    found: dict[str, Told] = {}
    for place in _place("*").parent.glob(_place("*").name):
        with contextlib.suppress(OSError, ValueError):
            found |= json.loads(unsealed(_name(), place.read_text(encoding="utf-8")) or "{}")
    return found


def keep(system: str, told: Mapping[str, Told]) -> None:
    """Keep what the texts of a system of the shipped workspace read; where that cannot be, it is no matter."""
    with contextlib.suppress(OSError):
        place = _place(system)
        fresh = place.with_name(f"{place.name}.{os.getpid()}")
        try:
            fresh.write_text(sealed(_name(), json.dumps(told)), encoding="utf-8")
            fresh.replace(place)
        finally:
            fresh.unlink(missing_ok=True)


def _place(system: str) -> Path:
    compiled = Path(importlib.util.cache_from_source(__file__))
    return compiled.with_name(f"{compiled.name.partition('.')[0]}.{system}.sealed")


@functools.cache
def _name() -> str:
    """A word for the code, and for the library, of which only the place is looked for: to load it takes long."""
    code = hashlib.sha256(Path(__file__).with_name("sql_reads.py").read_bytes()).hexdigest()
    library = importlib.util.find_spec("sqlglot")
    assert library
    assert library.origin
    version = Path(library.origin).with_name("_version.py")
    return f"{code} {hashlib.sha256(version.read_bytes()).hexdigest()}"
