"""Plain data (from Dhall, or from a normal form) into the frozen dataclasses of `spec.model`.

Dhall writes camelCase keys and expressions as token lists; normal forms write snake_case keys and expressions as text.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
import types
import typing
from collections.abc import Callable
from typing import Any

from assay.lang.blocks import list_kinds
from assay.lang.model import package as model
from assay.lang.model.article import Block, Part
from assay.lang.model.expression import Expression, decode, parse
from assay.util.diagnostics import AssayError, Span, fail

#: makes a value out of plain data
Maker = Callable[[object], Any]
_NOTHING = object()


class _Misfit(Exception):  # noqa: N818  never leaves this module
    """Data that is not what it should be: what the place (`path`, innermost last) is told to be, and has."""

    def __init__(self, message: str, expected: str = "", found: str = "") -> None:
        self.message = message
        self.expected = expected
        self.found = found
        self.path: list[str] = []


def package(data: object, where: str, *, lenient: bool = False) -> model.Package:
    """The package that `data` says; `where` names its file in messages.

    With `lenient`, keys that are missing say nothing (normal forms leave them out, specs of an older language do not
    know them).  Raises AssayError `spec-shape`
    when a key is missing, unknown or of the wrong kind.
    """
    try:
        found: model.Package = _maker(model.Package, lenient)(data)
    except _Misfit as misfit:
        raise _of_shape(misfit, "package", where) from None
    return found


def _of_shape(misfit: _Misfit, what: str, where: str) -> AssayError:
    path = what + "".join(reversed(misfit.path))
    message = f"{path} {misfit.message}"
    return fail("spec-shape", message, span=Span(where), expected=misfit.expected, found=misfit.found)


def sources(data: object, where: str) -> tuple[model.Source, ...]:
    """The sources of a normal form, without the rest of its package; `where` names its file in messages.

    Raises AssayError `spec-shape`.
    """
    try:
        found: tuple[model.Source, ...] = _maker(tuple[model.Source, ...], True)(data)
    except _Misfit as misfit:
        raise _of_shape(misfit, "sources", where) from None
    return found


def get_ready() -> None:
    """Find out beforehand what makes each part of a package."""
    _maker(model.Package, False)


@functools.cache
def _maker(hint: Any, lenient: bool) -> Maker:
    """What makes values of a type."""
    if inner := _inner(hint):
        if inner is Expression:
            return lambda data: None if data in (None, [], "") else _expression(data)
        make = _maker(inner, lenient)
        return lambda data: None if data is None else make(data)
    if hint is Expression:
        return _expression
    if typing.get_origin(hint) is tuple:
        return _tuple_maker(_maker(typing.get_args(hint)[0], lenient))
    if hint is Part:
        return _part_maker(lenient)
    if dataclasses.is_dataclass(hint):
        return _record_maker(typing.cast("type[Any]", hint), lenient)
    return functools.partial(_scalar, hint)


def _inner(hint: Any) -> Any:
    """The type that may be missing; None where nothing may."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return next(item for item in typing.get_args(hint) if item is not type(None))
    return None


def _empty(hint: Any) -> Any:
    """What is meant where a normal form says nothing."""
    if hint in (str, int, float, bool):
        return hint()
    if typing.get_origin(hint) is tuple:
        return ()
    return None if _inner(hint) else _NOTHING


def _tuple_maker(make: Maker) -> Maker:
    def tuple_of(data: object) -> tuple[Any, ...]:
        """The objects of a list; with leniency also of nothing, and of a mapping its pairs."""
        if not isinstance(data, list):
            if data in (None, ""):
                return ()
            raise _shape("a list", data)
        try:
            return tuple([make(item) for item in data])
        except _Misfit as misfit:
            index = next(place for place, item in enumerate(data) if _fails(make, item))
            misfit.path.append(f"[{index}]")
            raise

    return tuple_of


def _fails(make: Maker, data: object) -> bool:
    try:
        make(data)
    except _Misfit:
        return True
    return False


def _record_maker(kind: type[Any], lenient: bool) -> Maker:
    hints = typing.get_type_hints(kind)
    fields = {item.name: _maker(hints[item.name], lenient) for item in dataclasses.fields(kind)}
    empty = {name: _empty(hints[name]) if lenient else _NOTHING for name in fields}
    # What only resolving works out has a default in the class, and no place in Dhall.
    empty |= {f.name: f.default for f in dataclasses.fields(kind) if f.default is not dataclasses.MISSING}
    return _members_maker(kind, fields, empty, lambda values: kind(*values))


def _part_maker(lenient: bool) -> Maker:
    """What makes parts: of each kind of blocks a part has a list, by the name of its member."""
    lists = {kind.member: _tuple_maker(_block_maker(kind, lenient)) for kind in list_kinds()}
    fields: dict[str, Maker] = {"title": _maker(str, lenient), "prose": _maker(str, lenient), **lists}
    empty = {**dict.fromkeys(("title", "prose"), "" if lenient else _NOTHING), **dict.fromkeys(lists, ())}
    return _members_maker(
        Part, fields, empty, lambda values: Part(values[0], values[1], tuple(itertools.chain(*values[2:])))
    )


def _block_maker(kind: type[Block], lenient: bool) -> Maker:
    if not kind.is_text:
        return _record_maker(kind, lenient)
    text: Callable[[Any], Block] = kind
    return lambda data: text(_scalar(str, data))


def _members_maker(
    kind: type[Any], fields: dict[str, Maker], empty: dict[str, Any], build: Callable[[list[Any]], Any]
) -> Maker:
    """What makes a record's object out of the values of its members; `empty` are those of members that are missing."""

    def record(data: object) -> Any:
        """The object of a record, all of whose keys are members of its class."""
        if not isinstance(data, dict):
            raise _shape(f"a record ({kind.__name__})", data)
        known = data.keys() <= fields.keys()
        given = data if known else {_snake(str(key)): value for key, value in data.items()}
        values = []
        for name, make in fields.items():
            if name in given:
                try:
                    values.append(make(given[name]))
                except _Misfit as misfit:
                    misfit.path.append(f".{name}")
                    raise
            else:
                values.append(empty[name])
        missing = [name for name, value in zip(fields, values, strict=True) if value is _NOTHING]
        extra = sorted(given.keys() - fields.keys())
        if missing or extra:
            found = f"missing {', '.join(missing) or 'none'}; unknown {', '.join(extra) or 'none'}"
            raise _Misfit(f"is not a {kind.__name__}", found=found)
        return build(values)

    return record


@functools.cache
def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found.group(1).lower(), name)


def _expression(data: object) -> Expression:
    try:
        node = parse(data) if isinstance(data, str) else decode(typing.cast("list[dict[str, object]]", data))
    except (ValueError, KeyError, TypeError) as error:
        raise _Misfit(f"is no expression: {error}") from None
    if node is None:
        raise _Misfit("is empty where an expression is needed")
    return node


def _scalar(hint: Any, data: object) -> Any:
    if hint is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if not isinstance(data, hint) or (hint is int and isinstance(data, bool)):
        raise _shape(hint.__name__, data)
    return data


def _shape(expected: str, data: object) -> _Misfit:
    return _Misfit("has the wrong shape", expected, repr(data)[:200])
