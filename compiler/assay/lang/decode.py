"""Decode plain data (from Dhall or from a normal form) into the frozen dataclasses of `lang.model`.

Dhall writes camelCase keys and expressions as token lists; normal forms write snake_case keys and expressions as text.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable
from typing import Any

from assay.lang.blocks import list_kinds
from assay.lang.former_forms import convert_former_package, convert_to_snake_case
from assay.lang.metrics_of_grains import list_grain_metrics
from assay.lang.model import package as model
from assay.lang.model.expression import Expression, decode_expression, parse_expression
from assay.lang.model.parts import Block
from assay.lang.report_shorthand import expand_reports
from assay.lang.taken_fields import add_taken_fields
from assay.util.diagnostics import AssayError, Span, fail

#: decodes plain data to a value
Decoder = Callable[[object], Any]
_REQUIRED = object()


class _ShapeError(Exception):
    """Data with the wrong shape.  `path` leads to the place, innermost step first; callers extend it."""

    def __init__(self, message: str, expected: str = "", actual: str = "") -> None:
        self.message = message
        self.expected = expected
        self.actual = actual
        self.path: list[str] = []


def decode_package(data: object, where: str, *, lenient: bool = False) -> model.Package:
    """Decode a package; `where` names its file in messages.

    With `lenient`, missing keys have empty values: normal forms leave these out, and specs of an older language do not
    have them.  Raises AssayError `spec-shape` when a key is missing, unknown or of the wrong type.
    """
    data = expand_reports(convert_former_package(data) if lenient else data)
    try:
        decoded: model.Package = _build_decoder(model.Package, lenient)(data)
    except _ShapeError as error:
        raise _convert_error(error, "package", where) from None
    return list_grain_metrics(add_taken_fields(decoded))


def _convert_error(error: _ShapeError, root: str, where: str) -> AssayError:
    path = root + "".join(reversed(error.path))
    message = f"{path} {error.message}"
    return fail("spec-shape", message, span=Span(where), expected=error.expected, found=error.actual)


def decode_sources(data: object, where: str) -> tuple[model.Source, ...]:
    """Decode the sources of a normal form, without the rest of the package; `where` names its file in messages.

    Raises AssayError `spec-shape`.
    """
    try:
        decoded: tuple[model.Source, ...] = _build_decoder(tuple[model.Source, ...], True)(data)
    except _ShapeError as error:
        raise _convert_error(error, "sources", where) from None
    return decoded


def build_decoders() -> None:
    """Build the decoders of a package ahead of time."""
    _build_decoder(model.Package, False)


@functools.cache
def _build_decoder(hint: Any, lenient: bool) -> Decoder:
    """Return the decoder of a type."""
    if inner := _get_optional_type(hint):
        if inner is Expression:
            return lambda data: None if data in (None, [], "") else _decode_expression(data)
        decode_inner = _build_decoder(inner, lenient)
        return lambda data: None if data is None else decode_inner(data)
    if hint is Expression:
        return _decode_expression
    if typing.get_origin(hint) is tuple:
        return _build_tuple_decoder(_build_decoder(typing.get_args(hint)[0], lenient))
    if hint is Block:
        return _build_block_decoder(lenient)
    if dataclasses.is_dataclass(hint):
        return _build_record_decoder(typing.cast("type[Any]", hint), lenient)
    return functools.partial(_decode_scalar, hint)


def _get_optional_type(hint: Any) -> Any:
    """Return T for the type `T | None`, else None."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return next(item for item in typing.get_args(hint) if item is not type(None))
    return None


def _get_default(hint: Any) -> Any:
    """Return the value of a key that a normal form leaves out; `_REQUIRED` for a required key."""
    if hint in (str, int, float, bool):
        return hint()
    if typing.get_origin(hint) is tuple:
        return ()
    if dataclasses.is_dataclass(hint) and hint is not Expression:
        # A record whose members are all empty is left out as a whole.
        record_type = typing.cast("type[Any]", hint)
        hints = typing.get_type_hints(record_type)
        members = {item.name: _get_default(hints[item.name]) for item in dataclasses.fields(record_type)}
        return _REQUIRED if _REQUIRED in members.values() else record_type(**members)
    return None if _get_optional_type(hint) else _REQUIRED


def _build_tuple_decoder(decode_item: Decoder) -> Decoder:
    def decode_tuple(data: object) -> tuple[Any, ...]:
        """Decode a list; None and the empty text are an empty one."""
        if not isinstance(data, list):
            if data in (None, ""):
                return ()
            raise _build_shape_error("a list", data)
        try:
            return tuple([decode_item(item) for item in data])
        except _ShapeError as error:
            index = next(number for number, item in enumerate(data) if _has_error(decode_item, item))
            error.path.append(f"[{index}]")
            raise

    return decode_tuple


def _has_error(decode_item: Decoder, data: object) -> bool:
    try:
        decode_item(data)
    except _ShapeError:
        return True
    return False


def _build_record_decoder(kind: type[Any], lenient: bool) -> Decoder:
    hints = typing.get_type_hints(kind)
    fields = {item.name: _build_decoder(hints[item.name], lenient) for item in dataclasses.fields(kind)}
    defaults = {name: _get_default(hints[name]) if lenient else _REQUIRED for name in fields}
    # Fields that only resolving sets have a default in the class and are not in Dhall.
    defaults |= {f.name: f.default for f in dataclasses.fields(kind) if f.default is not dataclasses.MISSING}
    build = _build_form if kind is model.Form else lambda values: kind(*values)
    return _build_members_decoder(kind, fields, defaults, build, lenient)


def _build_form(values: list[Any]) -> model.Form:
    """Return a form; a field of the type `TIME_FIELD` is not a field of it, but has the paths of its instant."""
    form = model.Form(*values)
    fields = tuple(item for item in form.fields if item.type != model.TIME_FIELD)
    paths = (path for item in form.fields if item.type == model.TIME_FIELD for path in item.paths)
    return dataclasses.replace(form, fields=fields, time=(*form.time, *paths))


def _build_block_decoder(lenient: bool) -> Decoder:
    """Return the decoder of blocks: an alternative of `S.Block` is a record of its name and its value."""
    decoders = {kind.__name__: _build_kind_decoder(kind, lenient) for kind in list_kinds()}

    def decode_block(data: object) -> Block:
        if isinstance(data, str):  # an alternative without a value
            data = {data: {}}
        if not isinstance(data, dict) or len(data) != 1 or not data.keys() <= decoders.keys():
            raise _build_shape_error(f"a block ({', '.join(decoders)})", data)
        ((kind, value),) = data.items()
        try:
            block: Block = decoders[kind](value)
        except _ShapeError as error:
            error.path.append(f".{kind}")
            raise
        return block

    return decode_block


def _build_kind_decoder(kind: type[Block], lenient: bool) -> Decoder:
    """Return the decoder of the value of a kind of block: a record, or the value of its only field."""
    if not kind.is_bare:
        return _build_record_decoder(kind, lenient)
    ((name, hint),) = ((name, hint) for name, hint in typing.get_type_hints(kind).items() if name in kind.__slots__)
    decode_value = _build_decoder(hint, lenient)
    return lambda data: kind(**{name: decode_value(data)})


def _build_members_decoder(
    kind: type[Any],
    fields: dict[str, Decoder],
    defaults: dict[str, Any],
    build: Callable[[list[Any]], Any],
    lenient: bool,
) -> Decoder:
    """Return a decoder that calls `build` with the values of a record's members; `defaults` are for missing ones."""

    def decode_record(data: object) -> Any:
        """Decode a record; its keys must be the fields of the class."""
        if not isinstance(data, dict):
            raise _build_shape_error(f"a record ({kind.__name__})", data)
        is_snake_case = lenient and data.keys() <= fields.keys()
        items = data if is_snake_case else {convert_to_snake_case(str(key)): value for key, value in data.items()}
        values = []
        for name, decode_field in fields.items():
            if name in items:
                try:
                    values.append(decode_field(items[name]))
                except _ShapeError as error:
                    error.path.append(f".{name}")
                    raise
            else:
                values.append(defaults[name])
        missing = [name for name, value in zip(fields, values, strict=True) if value is _REQUIRED]
        if missing or not items.keys() <= fields.keys():
            raise _build_keys_error(kind, missing, sorted(items.keys() - fields.keys()))
        return build(values)

    return decode_record


def _build_keys_error(kind: type[Any], missing: list[str], extra: list[str]) -> _ShapeError:
    differences = f"missing {', '.join(missing) or 'none'}; unknown {', '.join(extra) or 'none'}"
    return _ShapeError(f"is not a {kind.__name__}", actual=differences)


def _decode_expression(data: object) -> Expression:
    try:
        node = (
            parse_expression(data)
            if isinstance(data, str)
            else decode_expression(typing.cast("list[dict[str, object]]", data))
        )
    except (ValueError, KeyError, TypeError) as error:
        raise _ShapeError(f"is not an expression: {error}") from None
    if node is None:
        raise _ShapeError("is empty where an expression is needed")
    return node


def _decode_scalar(hint: Any, data: object) -> Any:
    if hint is str and data is None:  # the model has an empty text where the language has `None Text`
        return ""
    if hint is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if not isinstance(data, hint) or (hint is int and isinstance(data, bool)):
        raise _build_shape_error(hint.__name__, data)
    return data


def _build_shape_error(expected: str, data: object) -> _ShapeError:
    return _ShapeError("has the wrong shape", expected, repr(data)[:200])
