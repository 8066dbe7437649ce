"""Normal forms of the specs that come with Assay, ready to be read: where Python keeps what it has compiled of code.

To find all files of a system by their imports, and to read the YAML of its committed normal form, takes longer than all
else that is done with specs.  What it came to is kept with the hash of every file that it is of.  While these hold the
same, and the code is the same, it is taken; else it is as if it were not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assay.spec import normal_form
from assay.storage.seals import sealed, unsealed

#: what finds the files of a system, beside what makes a package of them
FINDING = ("imports.py", "dhall_scan.py")
File = tuple[str, Path, bytes]


@dataclass(frozen=True, slots=True)
class Ready:
    """A package as the JSON of its normal form, the hash of its sources, and these: name, place, content."""

    text: str
    sources: str
    files: tuple[File, ...]


def ready(root: Path, system: str) -> Ready | None:
    """The package of a system of the shipped workspace; None where none is ready, or of other files or code."""
    place = _place(system)
    try:
        said = unsealed(_name(system), place.read_text(encoding="utf-8")) or ""
        head, _, text = said.partition("\n")
        told = json.loads(head)
        files = tuple((name, root / name, (root / name).read_bytes()) for name in told["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if any(hashlib.sha256(content).hexdigest() != told["files"][name] for name, _, content in files):
        return None
    return Ready(text, str(told["sources"]), files)


def keep(system: str, sources: str, files: Sequence[File], text: str) -> None:
    """Keep a package of the shipped workspace as JSON; where that cannot be, it is no matter."""
    told = {"sources": sources, "files": {name: hashlib.sha256(content).hexdigest() for name, _, content in files}}
    whole = sealed(_name(system), f"{json.dumps(told)}\n{text}")
    with contextlib.suppress(OSError):
        place = _place(system)
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_name(f"{place.name}.{os.getpid()}")
        try:
            fresh.write_text(whole, encoding="utf-8")
            fresh.replace(place)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise


def _place(system: str) -> Path:
    compiled = Path(importlib.util.cache_from_source(__file__))
    return compiled.with_name(f"{compiled.name.partition('.')[0]}.{system}.sealed")


@cache
def _finding() -> str:
    told = b"".join((Path(__file__).parent / name).read_bytes() for name in FINDING)
    return hashlib.sha256(told).hexdigest()


def _name(system: str) -> str:
    return f"{system} {normal_form.code_version()} {_finding()}"
