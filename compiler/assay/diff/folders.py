"""Compare two folders of a build byte by byte, and find the first line in which a text differs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from assay.util.escape import escape_text

EXCERPT_LENGTH = 120
BEFORE = 40


def compare_folders(old: Path, new: Path) -> dict[str, tuple[str, ...]]:
    """Return the differences of every file that a build writes, by file name; empty for equal bytes.

    `new` is a fresh build. Entries of `old` that `new` does not have were not written by a build and are ignored.
    """
    names = {
        *_list_files(new),
        *(name for entry in new.iterdir() for name in _list_files(old / entry.name, entry.name)),
    }
    return {name: tuple(_compare_file(old / name, new / name, name)) for name in sorted(names)}


def _list_files(folder: Path, above: str = "") -> Iterator[str]:
    """Yield the names of the files of a folder, below `above`; of a file `above` itself."""
    if folder.is_file():
        yield above
    for path in folder.rglob("*") if folder.is_dir() else ():
        if path.is_file():
            yield (Path(above) / path.relative_to(folder)).as_posix()


def _compare_file(old: Path, new: Path, name: str) -> Iterator[str]:
    if not old.is_file():
        yield f"file {name} is missing"
    elif not new.is_file():
        yield f"file {name} is no longer built"
    else:
        try:
            before = old.read_bytes()
        except OSError as error:
            yield f"file {name} cannot be read ({error.strerror})"
            return
        if before != (after := new.read_bytes()):
            yield f"file {name} differs"
            yield from _find_first_difference(before, after, name)


def _find_first_difference(old: bytes, new: bytes, name: str) -> Iterator[str]:
    """Yield the first line that differs, before and after; nothing if either file is not text."""
    try:
        lines = zip_longest(old.decode().split("\n"), new.decode().split("\n"))
    except UnicodeDecodeError:
        return
    number, before, after = next((n, a, b) for n, (a, b) in enumerate(lines, start=1) if a != b)
    column = next((i for i, (a, b) in enumerate(zip(before or "", after or "", strict=False)) if a != b), 0)
    column = column or min(len(before or ""), len(after or ""))
    yield f"  {name}:{number}: - {_cut_line(before, column)}"
    yield f"  {name}:{number}: + {_cut_line(after, column)}"


def _cut_line(line: str | None, column: int) -> str:
    """Return the part of a line around a column."""
    if line is None:
        return "(end of text)"
    start = max(0, column - BEFORE) if len(line) > EXCERPT_LENGTH else 0
    excerpt = escape_text(line[start : start + EXCERPT_LENGTH])
    return ("…" if start else "") + excerpt + ("…" if start + EXCERPT_LENGTH < len(line) else "")
