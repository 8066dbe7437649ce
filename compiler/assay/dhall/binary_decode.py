"""Decoding of the binary form of expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.dhall.binary import COMPLETION, MODES, OPERATORS, PATHS
from assay.dhall.cbor import Tag, decode
from assay.dhall.errors import DhallError, Diagnostic
from assay.dhall.syntax import (
    BUILTINS,
    Ann,
    App,
    Assert,
    Builtin,
    Complete,
    DateValue,
    If,
    Import,
    IntegerValue,
    Lam,
    Let,
    ListLit,
    Lit,
    Merge,
    Node,
    Op,
    Pi,
    Project,
    ProjectType,
    Rec,
    RecType,
    Select,
    ShowConstructor,
    SomeLit,
    Source,
    Target,
    TextLit,
    TimeValue,
    ToMap,
    UnionType,
    Var,
    With,
    ZoneValue,
)

_AT: tuple[Source, int, int] = (Source("(binary)", ""), 0, 0)


def decode_expression(data: bytes) -> Node:
    """Decode an expression; raises `DhallError` where the bytes are none."""
    try:
        return _Decoder().read(decode(data))
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise DhallError(Diagnostic("parse", f"the bytes are no expression: {error}")) from None


def _expect(condition: bool, message: str = "an item is of the wrong form") -> None:
    if not condition:
        raise ValueError(message)


def _is_natural(item: Any) -> bool:
    return type(item) is int and item >= 0


class _Decoder:
    """Turns items into nodes; knows the binders around, so that variables get their levels."""

    def __init__(self) -> None:
        self.scope: list[str] = []

    def read(self, item: Any) -> Node:
        if type(item) is bool:
            return Builtin(*_AT, str(item))
        if type(item) is float:
            return Lit(*_AT, item)
        if type(item) is str:
            _expect(item in BUILTINS, f"there is no builtin `{item}`")
            return Builtin(*_AT, item)
        if type(item) is int:
            return self.make_variable("_", item)
        _expect(type(item) is list and len(item) > 0)
        if type(item[0]) is str:
            _expect(len(item) == 2 and item[0] != "_")
            return self.make_variable(item[0], item[1])
        rule = _RULES.get(item[0]) if type(item[0]) is int else None
        if rule is None:
            raise ValueError(f"there is no expression with the code {item[0]}")
        node: Node = rule(self, *item[1:])
        return node

    def read_optional(self, item: Any) -> Node | None:
        return None if item is None else self.read(item)

    def read_under(self, name: str, item: Any) -> Node:
        self.scope.append(name)
        node = self.read(item)
        self.scope.pop()
        return node

    def make_variable(self, name: str, index: int) -> Var:
        _expect(_is_natural(index))
        levels = [level for level, each in enumerate(self.scope) if each == name]
        if index < len(levels):
            return Var(*_AT, name, index, levels[-1 - index])
        return Var(*_AT, name, index, None, index - len(levels))

    def read_application(self, function: Any, *arguments: Any) -> Node:
        _expect(len(arguments) > 0)
        node = self.read(function)
        for argument in arguments:
            node = App(*_AT, node, self.read(argument))
        return node

    def read_binder(self, kind: type[Lam] | type[Pi], *parts: Any) -> Node:
        _expect(len(parts) in (2, 3))
        name = "_" if len(parts) == 2 else parts[0]
        _expect(type(name) is str and (len(parts) == 2 or name != "_"))
        return kind(*_AT, name, self.read(parts[-2]), self.read_under(name, parts[-1]))

    def read_operator(self, code: Any, left: Any, right: Any) -> Node:
        if code == COMPLETION:
            return Complete(*_AT, self.read(left), self.read(right))
        _expect(_is_natural(code))
        return Op(*_AT, OPERATORS[code], self.read(left), self.read(right))

    def read_list(self, annotation: Any, *items: Any) -> Node:
        if items:
            _expect(annotation is None)
            return ListLit(*_AT, [self.read(item) for item in items], None)
        return ListLit(*_AT, [], App(*_AT, Builtin(*_AT, "List"), self.read(annotation)))

    def read_fields(self, kind: Callable[..., Node], fields: Any, allow_none: bool = False) -> Node:
        _expect(type(fields) is dict and all(type(name) is str for name in fields))
        _expect(allow_none or None not in fields.values())
        read = {name: self.read_optional(item) for name, item in fields.items()}
        return kind(*_AT, read, dict.fromkeys(read, 0))

    def read_projection(self, value: Any, *names: Any) -> Node:
        if len(names) == 1 and type(names[0]) is list:
            (wanted,) = names[0]
            return ProjectType(*_AT, self.read(value), self.read(wanted))
        _expect(all(type(name) is str for name in names))
        return Project(*_AT, self.read(value), list(names), [0] * len(names))

    def read_select(self, value: Any, name: Any) -> Node:
        _expect(type(name) is str)
        return Select(*_AT, self.read(value), name)

    def read_some(self, annotation: Any, value: Any) -> Node:
        _expect(annotation is None)
        return SomeLit(*_AT, self.read(value))

    def read_text(self, *parts: Any) -> Node:
        _expect(len(parts) % 2 == 1 and all(type(part) is str for part in parts[::2]))
        if len(parts) == 1:
            return Lit(*_AT, parts[0])
        return TextLit(*_AT, [part if index % 2 == 0 else self.read(part) for index, part in enumerate(parts)])

    def read_let(self, *parts: Any) -> Node:
        _expect(len(parts) % 3 == 1 and len(parts) > 1)
        depth = len(self.scope)
        bindings = []
        for start in range(0, len(parts) - 1, 3):
            name, annotation, value = parts[start : start + 3]
            _expect(type(name) is str)
            bindings.append((name, self.read_optional(annotation), self.read(value)))
            self.scope.append(name)
        body = self.read(parts[-1])
        del self.scope[depth:]
        for name, annotation, value in reversed(bindings):
            body = Let(*_AT, name, annotation, value, body, 0)
        return body

    def read_with(self, value: Any, path: Any, new: Any) -> Node:
        _expect(type(path) is list and len(path) > 0)
        _expect(all(type(name) is str or name == 0 for name in path))
        names = [None if name == 0 else name for name in path]
        return With(*_AT, self.read(value), names, self.read(new), [0] * len(names))

    def read_import(self, digest: Any, mode: Any, scheme: Any, *parts: Any) -> Node:
        _expect(digest is None or (type(digest) is bytes and len(digest) == 34 and digest[:2] == b"\x12\x20"))
        sha256 = digest[2:].hex() if digest else None
        headers = None
        _expect(_is_natural(mode) and _is_natural(scheme))
        if scheme in (0, 1):
            head, authority, *path, query = parts
            headers = self.read_optional(head)
            target = Target("url", f"{'https' if scheme else 'http'}://{authority}", tuple(path), query)
        elif scheme == 6:
            (name,) = parts
            target = Target("env", name)
        elif scheme == 7:
            target = Target("missing")
        else:
            prefix = {code: prefix for prefix, code in PATHS.items()}[scheme]
            target = Target("path", prefix, parts)
        return Import(*_AT, target, MODES[mode], sha256, headers)


def _read_date(_: _Decoder, year: Any, month: Any, day: Any) -> Node:
    _expect(all(map(_is_natural, (year, month, day))))
    return Lit(*_AT, DateValue(year, month, day))


def _read_time(_: _Decoder, hour: Any, minute: Any, second: Any) -> Node:
    _expect(isinstance(second, Tag) and second.number == 4)
    exponent, mantissa = second.value
    _expect(all(map(_is_natural, (hour, minute, mantissa, -exponent))))
    whole, rest = divmod(mantissa, 10**-exponent)
    return Lit(*_AT, TimeValue(hour, minute, whole, f"{rest:0{-exponent}}" if exponent else ""))


def _read_zone(_: _Decoder, is_positive: Any, hour: Any, minute: Any) -> Node:
    _expect(type(is_positive) is bool and _is_natural(hour) and _is_natural(minute))
    return Lit(*_AT, ZoneValue(not is_positive, hour * 60 + minute))


def _read_natural(_: _Decoder, number: Any) -> Node:
    _expect(_is_natural(number))
    return Lit(*_AT, number)


def _read_integer(_: _Decoder, number: Any) -> Node:
    _expect(type(number) is int)
    return Lit(*_AT, IntegerValue(number))


def _read_bytes(_: _Decoder, content: Any) -> Node:
    _expect(type(content) is bytes)
    return Lit(*_AT, content)


def _read_all(kind: Callable[..., Node], least: int, most: int) -> Any:
    """Make a rule for a node of expressions only, those behind `least` being optional."""

    def read(decoder: _Decoder, *items: Any) -> Node:
        _expect(least <= len(items) <= most)
        return kind(*_AT, *map(decoder.read, items), *[None] * (most - len(items)))

    return read


_RULES: dict[int, Any] = {
    0: _Decoder.read_application,
    1: lambda decoder, *parts: decoder.read_binder(Lam, *parts),
    2: lambda decoder, *parts: decoder.read_binder(Pi, *parts),
    3: _Decoder.read_operator,
    4: _Decoder.read_list,
    5: _Decoder.read_some,
    6: _read_all(Merge, 2, 3),
    7: lambda decoder, fields: decoder.read_fields(RecType, fields),
    8: lambda decoder, fields: decoder.read_fields(Rec, fields),
    9: _Decoder.read_select,
    10: _Decoder.read_projection,
    11: lambda decoder, fields: decoder.read_fields(UnionType, fields, allow_none=True),
    14: _read_all(If, 3, 3),
    15: _read_natural,
    16: _read_integer,
    18: _Decoder.read_text,
    19: _read_all(Assert, 1, 1),
    24: _Decoder.read_import,
    25: _Decoder.read_let,
    26: _read_all(Ann, 2, 2),
    27: _read_all(ToMap, 1, 2),
    28: lambda decoder, annotation: ListLit(*_AT, [], decoder.read(annotation)),
    29: _Decoder.read_with,
    30: _read_date,
    31: _read_time,
    32: _read_zone,
    33: _read_bytes,
    34: _read_all(ShowConstructor, 1, 1),
}
