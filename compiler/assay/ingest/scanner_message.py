"""How it is told to the scanner what to read, and of which files: numbers of 64 bits, texts behind their length."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from assay.ingest.event_forms import NumberedForm, bodies, paths_of, wanted_events
from assay.ingest.plain_copies import LONGEST, SEPARATOR
from assay.ingest.recognition import Recognition
from assay.ingest.whole_paths import whole_paths
from assay.lang.model.package import Source, Unless

Path_ = tuple[str, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FilePart:
    """A plain file, from one place up to another."""

    path: Path
    begin: int
    end: int


def files_message(parts: Sequence[FilePart], most: int) -> bytes:
    """The part of the message about files, which comes first; of them so many bytes of rows may be held."""
    return _number(LONGEST) + _number(SEPARATOR[0]) + _number(most) + _list(parts, _part)


def lines_message(how: Recognition) -> bytes | None:
    """The part of the message about lines; None where only the engine reads them as they are to be read."""
    if not _is_tellable(how):
        return None
    source = how.source
    events = wanted_events(how.forms)
    by_event = {item.number: index for index, own in enumerate(events) for item in own}

    def form(item: NumberedForm) -> bytes:
        return _number(by_event.get(item.number, -1)) + _list(item.form.unless, lambda rule: _unless(source, rule))

    tables = (
        _list(_variants(source, table.lookup.path, table.lookup.in_body), _path)
        + _text(table.lookup.drop)
        + _list(table.forms.items(), lambda pair: _text(pair[0]) + _number(pair[1]))
        for table in how.tables
    )
    return b"".join(
        [
            _path(source.body),
            _number(_is_outside(source)),
            _text("" if source.lookups[0].in_body else source.lookups[0].path[0]),
            _path(source.time),
            _list(source.unwrap, lambda rule: _in_body(source, rule.absent) + _list(rule.present, _body_key(source))),
            _list(tables, bytes),
            _list(how.forms, form),
            _list(events, lambda own: _event(source, own)),
        ]
    )


def _is_tellable(how: Recognition) -> bool:
    """Whether instants are ISO 8601, no path leads into a list, or nowhere, and no name is that of a list."""
    source = how.source
    paths = _paths(how)
    keys = (key for path in paths for key in path)
    names = (name for table in how.tables for name in table.forms)
    plain = all(paths) and not any(key.isdigit() for key in keys) and not any(name.startswith("[") for name in names)
    return plain and bool(source.lookups) and not source.time_form


def _paths(how: Recognition) -> list[Path_]:
    """All that is read of a line; one whose instant is at another path is left to the engine."""
    source, within = how.source, bodies(how.source).values()
    found = [source.time, *(how.outer(lookup) for lookup in source.lookups)]
    found += [(*body, *path) for own in wanted_events(how.forms) for path in paths_of(own) for body in within]
    found += [(*body, *rule.path) for item in how.forms for rule in item.form.unless for body in within]
    return found + [(*source.body, key) for rule in source.unwrap for key in (rule.absent, *rule.present, rule.take)]


def _is_outside(source: Source) -> bool:
    """Whether the names that are looked up first, and the instant, stand outside of the body."""
    first, size = source.lookups[0], len(source.body)
    within = first.in_body or source.body in (first.path[:size], source.time[:size])
    return bool(source.body) and not within


def _variants(source: Source, path: Path_, in_body: bool = True) -> list[Path_]:
    """Where a path leads in a body that is not wrapped, and in one that is by each rule."""
    return [(*body, *path) if in_body else path for body in bodies(source).values()]


def _event(source: Source, own: Sequence[NumberedForm]) -> bytes:
    whole = whole_paths(own)
    return _list(paths_of(own), lambda path: _list(_variants(source, path), _path) + _number(path in whole))


def _unless(source: Source, rule: Unless) -> bytes:
    return _list(_variants(source, rule.path), _path) + _number(rule.present) + _text(rule.equals)


def _in_body(source: Source, key: str) -> bytes:
    return _path((*source.body, key))


def _body_key(source: Source) -> Callable[[str], bytes]:
    return lambda key: _in_body(source, key)


def _part(part: FilePart) -> bytes:
    return _bytes(os.fsencode(part.path)) + _number(part.begin) + _number(part.end)


def _path(path: Path_) -> bytes:
    return _list(path, _text)


def _text(text: str) -> bytes:
    return _bytes(text.encode("utf-8", errors="surrogatepass"))


def _bytes(text: bytes) -> bytes:
    return _number(len(text)) + text


def _number(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


def _list(items: Iterable[T], of: Callable[[T], bytes]) -> bytes:
    told = [of(item) for item in items]
    return _number(len(told)) + b"".join(told)
