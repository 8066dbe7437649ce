"""Read the records of a JSON document: its list, the members of an object, or objects one after another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.ingest.decompress import iter_decompressed
from assay.ingest.readers.json_record_positions import EACH, MEMBERS, has_documents, has_members, skip_blanks
from assay.lang.model.package import Source
from assay.util.diagnostics import fail
from assay.util.json_text import AmbiguousObject, build_object, has_conflicting_key


def read_list(source: Source, path: Path) -> list[object]:
    """Return the list of a document, with numbers as texts. Raises AssayError if there is no list."""
    try:
        text = b"".join(iter_decompressed(path)).decode("utf-8-sig")
        if has_documents(text, source.body):
            return list(_iter_documents(text))
        if source.body[:1] == (EACH,) and has_documents(text, ()):
            return list(_iter_nested(list(_iter_documents(text)), source.body))
        document: Any = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        raise fail("broken-file", f"the document is not UTF-8: {path}", found=str(error)) from None
    except json.JSONDecodeError as error:
        raise fail(
            "broken-file",
            f"the document cannot be read to its end: {path}",
            found=f"{error.msg}, line {error.lineno}, column {error.colno}",
            hint="is it cut off, or still being written?",
        ) from None
    except RecursionError:
        raise fail("broken-file", f"the document is nested too deep: {path}") from None
    if has_members(source.body):
        return _list_members(document, source, path)
    if EACH in source.body:
        return list(_iter_nested(document, source.body))
    if isinstance(document, list):
        return document
    value = get_value(document, source.body)
    if has_conflicting_key(document, source.body):
        raise fail("no-list", f"the document has two lists of records: {path}", expected="one",
                   found=f"a duplicate key of `{'.'.join(source.body)}`")  # fmt: skip
    if isinstance(value, list):
        return value
    location = f"at `{'.'.join(source.body)}`" if source.body else "as the whole document"
    raise fail(
        "no-list",
        f"the document has no list of records: {path}",
        expected=f"a list {location}",
        found=_describe_value(document),
    )


def _list_members(document: object, source: Source, path: Path) -> list[object]:
    """Return the members of the object at a path, each with its key. Raises AssayError if two have one key."""
    place = source.body[:-1]
    location = f"at `{'.'.join(place)}`" if place else "as the whole document"
    members = get_value(document, place)
    if not isinstance(members, dict):
        raise fail("no-list", f"the document has no object of records: {path}", expected=f"an object {location}",
                   found=_describe_value(members if place else document))  # fmt: skip
    if isinstance(members, AmbiguousObject) or has_conflicting_key(document, place):
        raise fail("no-list", f"the document has two records of one name: {path}", expected="one of each name",
                   found=f"a duplicate key {location}")  # fmt: skip
    return [Member({MEMBERS: key, **value}) if isinstance(value, dict) else value for key, value in members.items()]


def _iter_documents(text: str) -> Iterator[object]:
    """Yield the values of a text, one after another."""
    place = skip_blanks(text, 0)
    while place < len(text):
        value, end = _DECODER.raw_decode(text, place)
        yield value
        place = skip_blanks(text, end)


def _iter_nested(value: object, path: Sequence[str]) -> Iterator[object]:
    """Yield the items of the lists at a path, which leads into each item of other lists where it has `EACH`."""
    for index, key in enumerate(path):
        if key == EACH:
            for item in value if isinstance(value, list) else ():
                yield from _iter_nested(item, path[index + 1 :])
            return
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, list):
        yield from value


class Member(dict[str, Any]):
    """A member of an object with its key."""

    __slots__ = ()


class Number(str):
    """A number as a document writes it."""

    __slots__ = ()


_DECODER = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=Number, object_pairs_hook=build_object)


def get_value(value: object, path: Sequence[str]) -> object:
    """Return the value at a path; None if there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _describe_value(value: object) -> str:
    """Describe a value in words."""
    if isinstance(value, dict):
        return "an object with " + (", ".join(f"`{key}`" for key in list(value)[:8]) or "no key")
    return "null" if value is None else "a number" if isinstance(value, Number) else f"a {type(value).__name__}"
