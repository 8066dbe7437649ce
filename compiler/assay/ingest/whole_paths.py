"""Which paths of an event are read as integers alone, so that no text need come between."""

from __future__ import annotations

from collections.abc import Sequence

from assay.ingest.event_forms import NumberedForm, paths_of
from assay.lang.model.package import Field

#: types of fields that are integers of 64 bits
WHOLE = ("integer", "unsigned")

Path_ = tuple[str, ...]


def whole_paths(own: Sequence[NumberedForm]) -> frozenset[Path_]:
    """The paths of an event (`own` are its forms) all of whose fields are integers that are only moved.

    A field that has another path, or in another form another type, is read as a text everywhere.
    """
    found = set(paths_of(own))
    while True:
        texts = {path for name in _names(own) for path in _read(own, name) if not _is_whole(own, name, found)}
        if not texts & found:
            return frozenset(found)
        found -= texts


def _names(own: Sequence[NumberedForm]) -> list[str]:
    return list(dict.fromkeys(field.name for item in own for field in item.fields))


def _fields(own: Sequence[NumberedForm], name: str) -> list[Field]:
    return [field for item in own for field in item.fields if field.name == name]


def _read(own: Sequence[NumberedForm], name: str) -> set[Path_]:
    return {path for field in _fields(own, name) for path in field.paths}


def _is_whole(own: Sequence[NumberedForm], name: str, whole: set[Path_]) -> bool:
    fields = _fields(own, name)
    plain = all(field.type in WHOLE and all(change.kind == "plus" for change in field.transforms) for field in fields)
    return plain and _read(own, name) <= whole
