"""Read the sample files of a proposal, and place them in a run."""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from assay.propose.model import SampleFile
from assay.propose.names import NameSpace
from assay.util.diagnostics import USAGE, fail
from assay.util.paths import resolve_path

#: what a proposal reads of each file; the copy in the run is whole
MAX_LINES, MAX_CHARACTERS = 20_000, 32 * 2**20
_BEGINNINGS = ("{", "[", "[{")  # first lines of a JSON document of several lines, which is of use only as a whole
RESERVED = "meta.json"  # the facts of the run


def read_samples(paths: Sequence[Path]) -> tuple[SampleFile, ...]:
    """Read the first lines of files. Files of one name get the names of their folders as hosts.

    Raises AssayError `no-file` (usage), `sample`.
    """
    counts = Counter(path.name for path in paths)
    needs_hosts = max(counts.values()) > 1
    places = NameSpace({RESERVED})
    samples = []
    for path in paths:
        host = _make_file_name(resolve_path(path).parent.name) if needs_hosts else ""
        name = places.add(f"{host}/{_make_file_name(path.name)}".lstrip("/")).rpartition("/")[2]
        lines, is_cut = _read_lines(path)
        samples.append(SampleFile(path, host, name, lines, is_cut))
    return tuple(samples)


def _make_file_name(name: str) -> str:
    """Return a name that no glob reads as a pattern."""
    return re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII).lstrip(".") or "sample"


def _open_text(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace")
    return path.open(encoding="utf-8-sig", errors="replace")


def _read_lines(path: Path) -> tuple[tuple[str, ...], bool]:
    if not path.is_file():
        actual = "a folder" if path.is_dir() else "no file"
        raise fail("no-file", f"there is no log at {path}", expected="a log file", found=actual, status=USAGE)
    try:
        with _open_text(path) as file:
            lines: list[str] = []
            size = 0
            for line in file:
                size += len(line)
                is_document = bool(lines) and lines[0].strip() in _BEGINNINGS
                if size > MAX_CHARACTERS or (len(lines) == MAX_LINES and not is_document):
                    return tuple(lines), True
                lines.append(line.rstrip("\r\n"))
    except (OSError, EOFError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise fail("sample", f"the log cannot be read: {path}", found=reason) from None
    return tuple(lines), False
