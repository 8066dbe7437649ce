"""Damage a cache in numbered ways: the same number repeats the same damage."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

COUNT = 500
#: kind of entry -> kinds that must be removed so that it is read
ABOVE = {
    "rendered": ("builds",),
    "drawings": ("builds", "rendered"),
    "results": ("builds", "rendered"),
    "tables": ("builds", "rendered", "results"),
    "ingest": ("builds", "rendered", "results"),
    "batches": ("builds", "rendered", "results", "ingest"),
    "runs": (),
}


def damage_cache(cache: Path, number: int) -> str:
    """Damage one entry of a cache, or swap two, and return a description."""
    chance = random.Random(number)
    if chance.random() < 0.9:
        kinds = sorted(path.name for path in cache.iterdir())
        kind = kinds[number % len(kinds)]
        for above in ABOVE.get(kind, ()):
            shutil.rmtree(cache / above, ignore_errors=True)
    else:
        kind = ""
    places = sorted((cache / kind).rglob("*")) if (cache / kind).is_dir() else []
    place = chance.choice([cache / kind] * (kind != "") + places)
    files = [path for path in places if path.is_file()]
    if place.is_file() and chance.random() < 0.8:
        name = chance.choice(sorted(OF_FILES))
        OF_FILES[name](place, chance, files or [path for path in sorted(cache.rglob("*")) if path.is_file()])
    else:
        name = chance.choice(sorted(OF_ENTRIES))
        OF_ENTRIES[name](place)
    return f"{name} {place.relative_to(cache)}"


def _rewrite(place: Path, content: bytes) -> None:
    place.unlink()  # it may have hard links
    place.write_bytes(content)


def _flip(place: Path, chance: random.Random, _files: list[Path]) -> None:
    content = bytearray(place.read_bytes())
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    _rewrite(place, bytes(content))


def _replace_letter(place: Path, chance: random.Random, _files: list[Path]) -> None:
    content = bytearray(place.read_bytes())
    if content:
        content[chance.randrange(len(content))] = chance.choice(b'abcx019"{}[]: ,\n')
    _rewrite(place, bytes(content))


def _truncate(place: Path, chance: random.Random, _files: list[Path]) -> None:
    content = place.read_bytes()
    _rewrite(place, content[: chance.randrange(len(content) + 1)])


def _fill_with_zeros(place: Path, _chance: random.Random, _files: list[Path]) -> None:
    _rewrite(place, bytes(len(place.read_bytes())))


def _replace_by_json(place: Path, chance: random.Random, _files: list[Path]) -> None:
    _rewrite(place, chance.choice((b"{}", b"[]", b"null", b'{"files": null}', b"\xff\xfe", b"0", b'""')))


def _swap(place: Path, chance: random.Random, files: list[Path]) -> None:
    other = chance.choice(files)
    contents = place.read_bytes(), other.read_bytes()
    _rewrite(place, contents[1])
    _rewrite(other, contents[0])


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()


def _put_folder(place: Path) -> None:
    _remove(place)
    (place / "in").mkdir(parents=True)
    (place / "in" / "file").write_bytes(b"other")


def _put_file(place: Path) -> None:
    _remove(place)
    place.write_bytes(b"other")


def _put_empty_file(place: Path) -> None:
    _remove(place)
    place.touch()


def _link_to_nothing(place: Path) -> None:
    _remove(place)
    place.symlink_to("nothing")


def _link_to_itself(place: Path) -> None:
    _remove(place)
    place.symlink_to(place.name)


OF_FILES: Mapping[str, Callable[[Path, random.Random, list[Path]], None]] = {
    "flip": _flip,
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
    "dangling": _link_to_nothing,
    "loop": _link_to_itself,
}
