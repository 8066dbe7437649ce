"""Texts that are kept where Python keeps what it compiles of code: they are of code, too, and can be made again."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path

from assay.storage.seals import sealed, unsealed


def code(modules: Iterable[Path]) -> str:
    """A word for the code of some modules."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in modules)).hexdigest()


@functools.cache
def library(name: str) -> str:
    """A word for a library that tells its version in a module `_version`, of which only the place is looked for: to
    load it takes long."""
    found = importlib.util.find_spec(name)
    assert found
    assert found.origin
    return code([Path(found.origin).with_name("_version.py")])


def place(module: str, name: str) -> Path:
    """Where a text of a name is kept that is of a module, by the path of this."""
    compiled = Path(importlib.util.cache_from_source(module))
    return compiled.with_name(f"{compiled.name.partition('.')[0]}.{name}.sealed")


def read(where: Path, seal: str) -> str | None:
    """The text that is kept at a place by a seal; None where there is none, or it is damaged, or by another."""
    try:
        return unsealed(seal, where.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def keep(where: Path, seal: str, text: str) -> None:
    """Keep a text; where that cannot be, it is no matter."""
    with contextlib.suppress(OSError):
        where.parent.mkdir(parents=True, exist_ok=True)
        fresh = where.with_name(f"{where.name}.{os.getpid()}")
        try:
            fresh.write_text(sealed(seal, text), encoding="utf-8")
            fresh.replace(where)
        finally:
            fresh.unlink(missing_ok=True)
