"""Normal forms of the specs that come with Assay, ready to be read: where Python keeps what it has compiled of code.

To find all files of a system by their imports, and to read the YAML of its committed normal form, takes longer than all
else that is done with specs.  What it came to is kept with the hash of every file that it is of.  While these hold the
same, and the code is the same, it is taken; else it is as if it were not there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.spec import normal_form
from assay.storage import compiled

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
        said = compiled.read(place, _name(system)) or ""
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
    compiled.keep(_place(system), _name(system), f"{json.dumps(told)}\n{text}")


def _place(system: str) -> Path:
    return compiled.place(__file__, system)


def _name(system: str) -> str:
    return f"{system} {normal_form.code_version()}"
