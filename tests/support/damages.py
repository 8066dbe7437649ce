"""Damage a cache in numbered ways: the same number repeats the same damage."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

COUNT = 500
#: kind of entry -> kinds that must be removed so that it is read
KINDS_ABOVE = {
    "rendered": ("builds",),
    "drawings": ("builds", "rendered"),
    "results": ("answers", "builds", "rendered"),
    "tables": ("answers", "builds", "rendered", "results"),
    "ingest": ("answers", "builds", "rendered", "results"),
    "batches": ("answers", "builds", "rendered", "results", "ingest"),
    "runs": (),
    "specs": ("answers", "checks"),
}


def damage_cache(cache: Path, number: int) -> str:
    """Damage one entry of a cache, or swap two, and return a description."""
    chance = random.Random(number)
    if chance.random() < 0.9:
        kinds = sorted(path.name for path in cache.iterdir())
        kind = kinds[number % len(kinds)]
        for kind_above in KINDS_ABOVE.get(kind, ()):
            shutil.rmtree(cache / kind_above, ignore_errors=True)
    else:
        kind = ""
    paths = sorted((cache / kind).rglob("*")) if (cache / kind).is_dir() else []
    entry = chance.choice([cache / kind] * (kind != "") + paths)
    files = [path for path in paths if path.is_file()]
    if entry.is_file() and chance.random() < 0.8:
        name = chance.choice(sorted(OF_FILES))
        OF_FILES[name](entry, chance, files or [path for path in sorted(cache.rglob("*")) if path.is_file()])
    else:
        name = chance.choice(sorted(OF_ENTRIES))
        OF_ENTRIES[name](entry)
    return f"{name} {entry.relative_to(cache)}"


def _rewrite(entry: Path, content: bytes) -> None:
    entry.unlink()  # it may have hard links
    entry.write_bytes(content)


def _flip_bit(entry: Path, chance: random.Random, _files: list[Path]) -> None:
    content = bytearray(entry.read_bytes())
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    _rewrite(entry, bytes(content))


def _replace_letter(entry: Path, chance: random.Random, _files: list[Path]) -> None:
    content = bytearray(entry.read_bytes())
    if content:
        content[chance.randrange(len(content))] = chance.choice(b'abcx019"{}[]: ,\n')
    _rewrite(entry, bytes(content))


def _truncate(entry: Path, chance: random.Random, _files: list[Path]) -> None:
    content = entry.read_bytes()
    _rewrite(entry, content[: chance.randrange(len(content) + 1)])


def _fill_with_zeros(entry: Path, _chance: random.Random, _files: list[Path]) -> None:
    _rewrite(entry, bytes(len(entry.read_bytes())))


def _replace_by_json(entry: Path, chance: random.Random, _files: list[Path]) -> None:
    _rewrite(entry, chance.choice((b"{}", b"[]", b"null", b'{"files": null}', b"\xff\xfe", b"0", b'""')))


def _swap(entry: Path, chance: random.Random, files: list[Path]) -> None:
    other = chance.choice(files)
    contents = entry.read_bytes(), other.read_bytes()
    _rewrite(entry, contents[1])
    _rewrite(other, contents[0])


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink()


def _put_folder(entry: Path) -> None:
    _remove(entry)
    (entry / "in").mkdir(parents=True)
    (entry / "in" / "file").write_bytes(b"other")


def _put_file(entry: Path) -> None:
    _remove(entry)
    entry.write_bytes(b"other")


def _put_empty_file(entry: Path) -> None:
    _remove(entry)
    entry.touch()


def _link_to_missing_file(entry: Path) -> None:
    _remove(entry)
    entry.symlink_to("nothing")


def _link_to_itself(entry: Path) -> None:
    _remove(entry)
    entry.symlink_to(entry.name)


OF_FILES: Mapping[str, Callable[[Path, random.Random, list[Path]], None]] = {
    "flip": _flip_bit,
    "replace-letter": _replace_letter,
    "truncate": _truncate,
    "zeros": _fill_with_zeros,
    "json": _replace_by_json,
    "swap": _swap,
}
OF_ENTRIES: Mapping[str, Callable[[Path], None]] = {
    "remove": _remove,
    "folder": _put_folder,
    "file": _put_file,
    "empty": _put_empty_file,
    "dangling": _link_to_missing_file,
    "loop": _link_to_itself,
}
