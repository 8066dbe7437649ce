"""Two folders of a build compared byte by byte, and the first line in which a text differs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from assay.util.escape import escape_text

SHOWN = 120
BEFORE = 40


def compared(old: Path, new: Path) -> dict[str, tuple[str, ...]]:
    """File name -> what differs (nothing: the same bytes), of every file that a build writes.

    `new` is fresh: what `old` holds beside the entries of `new` belongs to somebody else.
    """
    names = {*_names(new), *(name for entry in new.iterdir() for name in _names(old / entry.name, entry.name))}
    return {name: tuple(_file(old / name, new / name, name)) for name in sorted(names)}


def _names(folder: Path, above: str = "") -> Iterator[str]:
    """The names of the files of a folder, `above` put before them; of a file, `above` itself."""
    if folder.is_file():
        yield above
    for path in folder.rglob("*") if folder.is_dir() else ():
        if path.is_file():
            yield (Path(above) / path.relative_to(folder)).as_posix()


def _file(old: Path, new: Path, name: str) -> Iterator[str]:
    if not old.is_file():
        yield f"file {name} is missing"
    elif not new.is_file():
        yield f"file {name} is not made any more"
    else:
        try:
            before = old.read_bytes()
        except OSError as error:
            yield f"file {name} cannot be read ({error.strerror})"
            return
        if before != (after := new.read_bytes()):
            yield f"file {name} differs"
            yield from _first_difference(before, after, name)


def _first_difference(old: bytes, new: bytes, name: str) -> Iterator[str]:
    """The first line that differs, as it was and as it is now; nothing where either is no text."""
    try:
        lines = zip_longest(old.decode().split("\n"), new.decode().split("\n"))
    except UnicodeDecodeError:
        return
    number, before, after = next((n, a, b) for n, (a, b) in enumerate(lines, start=1) if a != b)
    column = next((i for i, (a, b) in enumerate(zip(before or "", after or "", strict=False)) if a != b), 0)
    column = column or min(len(before or ""), len(after or ""))
    yield f"  {name}:{number}: - {_part(before, column)}"
    yield f"  {name}:{number}: + {_part(after, column)}"


def _part(line: str | None, column: int) -> str:
    """What stands around a column of a line."""
    if line is None:
        return "(the text ends before)"
    start = max(0, column - BEFORE) if len(line) > SHOWN else 0
    shown = escape_text(line[start : start + SHOWN])
    return ("…" if start else "") + shown + ("…" if start + SHOWN < len(line) else "")
