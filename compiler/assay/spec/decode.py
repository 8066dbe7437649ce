"""Plain data (from Dhall, or from a normal form) into the frozen dataclasses of `spec.model`.

Dhall writes camelCase keys and expressions as token lists; normal forms write snake_case keys and expressions as text.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from assay.spec import model
from assay.spec.diagnostics import AssayError, Span, fail
from assay.spec.expression import Expression, decode
from assay.spec.expression_text import parse

T = TypeVar("T")


def package(data: object, where: str, *, lenient: bool = False) -> model.Package:
    """The package that `data` says; `where` names its file in messages.

    With `lenient`, keys that are missing say nothing (normal forms leave them out).  Raises AssayError `spec-shape`
    when a key is missing, unknown or of the wrong kind.
    """
    found: model.Package = _value(model.Package, _filled(model.Package, data) if lenient else data, where, "package")
    return found


def _filled(hint: Any, data: object) -> Any:
    """The data with what normal forms leave out put back."""
    origin = typing.get_origin(hint)
    if origin is types.UnionType or origin is typing.Union:
        inner = next(item for item in typing.get_args(hint) if item is not type(None))
        return None if data is None else _filled(inner, data)
    if origin is tuple:
        inner = typing.get_args(hint)[0]
        return [_filled(inner, item) for item in data] if isinstance(data, list) else (data or [])
    if dataclasses.is_dataclass(hint) and hint is not Expression and isinstance(data, dict):
        fields = _fields(hint)
        return {
            **data,
            **{name: _filled(inner, data.get(name, _empty(inner))) for name, inner in fields.items()},
        }
    return data


def _empty(hint: Any) -> Any:
    if hint in (str, int, float, bool):
        return hint()
    return [] if typing.get_origin(hint) is tuple else None


_FIELDS: dict[Any, Mapping[str, Any]] = {}


def _fields(kind: Any) -> Mapping[str, Any]:
    if kind not in _FIELDS:
        hints = typing.get_type_hints(kind)
        _FIELDS[kind] = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    return _FIELDS[kind]


@functools.cache
def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found.group(1).lower(), name)


def _value(hint: Any, data: object, where: str, path: str) -> Any:
    origin = typing.get_origin(hint)
    if origin is types.UnionType or origin is typing.Union:
        return _optional(hint, data, where, path)
    if hint is Expression:
        return _expression(data, where, path)
    if origin is tuple:
        return _tuple(typing.get_args(hint)[0], data, where, path)
    if dataclasses.is_dataclass(hint):
        return _record(typing.cast("type[Any]", hint), data, where, path)
    return _scalar(hint, data, where, path)


def _optional(hint: Any, data: object, where: str, path: str) -> Any:
    inner = next(item for item in typing.get_args(hint) if item is not type(None))
    if inner is Expression:
        return None if data in (None, [], "") else _expression(data, where, path)
    return None if data is None else _value(inner, data, where, path)


def _tuple(inner: Any, data: object, where: str, path: str) -> tuple[Any, ...]:
    items = data if isinstance(data, list) else []
    if not isinstance(data, list) and data not in (None, ""):
        raise _shape(where, path, "a list", data)
    return tuple(_value(inner, item, where, f"{path}[{index}]") for index, item in enumerate(items))


def _record(kind: type[Any], data: object, where: str, path: str) -> Any:
    if not isinstance(data, dict):
        raise _shape(where, path, f"a record ({kind.__name__})", data)
    fields = _fields(kind)
    given = {_snake(str(key)): value for key, value in data.items()}
    missing = [name for name in fields if name not in given]
    extra = [name for name in given if name not in fields]
    if missing or extra:
        found = f"missing {', '.join(missing) or 'none'}; unknown {', '.join(sorted(extra)) or 'none'}"
        raise fail("spec-shape", f"{path} is not a {kind.__name__}", span=_span(where), found=found)
    return kind(**{name: _value(hint, given[name], where, f"{path}.{name}") for name, hint in fields.items()})


def _expression(data: object, where: str, path: str) -> Expression:
    try:
        node = parse(data) if isinstance(data, str) else decode(typing.cast("list[Mapping[str, object]]", data))
    except (ValueError, KeyError, TypeError) as error:
        raise fail("spec-shape", f"{path} is no expression: {error}", span=_span(where)) from None
    if node is None:
        raise fail("spec-shape", f"{path} is empty where an expression is needed", span=_span(where))
    return node


def _scalar(hint: Any, data: object, where: str, path: str) -> Any:
    if hint is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if not isinstance(data, hint) or (hint is int and isinstance(data, bool)):
        raise _shape(where, path, hint.__name__, data)
    return data


def _shape(where: str, path: str, expected: str, data: object) -> AssayError:
    return fail(
        "spec-shape",
        f"{path} has the wrong shape",
        span=_span(where),
        expected=expected,
        found=repr(data)[:200],
    )


def _span(where: str) -> Span:
    return Span(where)
