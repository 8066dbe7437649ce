"""Which keys are read of a line, object by object: those that may stand there twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.ingest.event_forms import NumberedForm, bodies
from assay.lang.model.package import Source

SMALL = 2**20  # bytes of a file (as it lies) of which every line is asked

Path_ = tuple[str, ...]
#: the keys that are read of the objects at some paths
Keys = Mapping[Path_, tuple[str, ...]]


def read_twice(source: Source, forms: Sequence[NumberedForm]) -> dict[str, object]:
    """The other parameters of `stands_twice`: of each object the keys that are read of it, by the number of the form;
    none where no event is wanted."""
    count = max((item.number for item in forms if item.needed), default=-1) + 1
    found: dict[str, object] = {}
    if not count:
        return found
    for wrapped in bodies(source):
        keys = keys_read(source, forms, wrapped)
        for index, place in enumerate(objects(keys)):
            found[parameter(wrapped, index)] = [list(keys.get(number, {}).get(place, ())) for number in range(count)]
    return found


def parameter(wrapped: int, index: int) -> str:
    """The name of the parameter that tells what keys are read of an object."""
    return f"read_{wrapped}_{index}"


def paths_read(source: Source, form: NumberedForm, wrapped: int) -> list[Path_]:
    """Where a line is read that is of a form, and whose body is wrapped by a rule of that number (0: not at all)."""
    body = bodies(source)[wrapped]
    names = [(*body, *lookup.path) if lookup.in_body else lookup.path for lookup in source.lookups]
    ruled = [(*body, *rule.path) for rule in form.form.unless]
    return list(dict.fromkeys([*source.times, *names, *ruled, *((*body, *path) for path in form.paths)]))


def keys_read(source: Source, forms: Sequence[NumberedForm], wrapped: int) -> dict[int, Keys]:
    """By the number of a wanted form, the keys of each object that are read."""
    return {item.number: _by_object(paths_read(source, item, wrapped)) for item in forms if item.needed}


def _by_object(paths: Iterable[Path_]) -> Keys:
    found: dict[Path_, dict[str, None]] = {}
    for path in paths:
        for depth, key in enumerate(path):
            found.setdefault(path[:depth], {})[key] = None
    return {place: tuple(keys) for place, keys in found.items()}


def objects(keys: Mapping[int, Keys]) -> list[Path_]:
    """The objects of which keys are read."""
    return list(dict.fromkeys(place for own in keys.values() for place in own))
