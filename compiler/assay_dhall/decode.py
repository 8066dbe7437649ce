"""Decode expressions from their binary form; refuse all forms but those of the standard."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NoReturn

from assay_dhall.binary import MODES, OPERATORS, TARGETS
from assay_dhall.errors import DhallError, Problem
from assay_dhall.syntax import (
    BUILTINS,
    Annotation,
    Apply,
    Assert,
    Builtin,
    Complete,
    Fallback,
    If,
    Import,
    Lambda,
    Let,
    ListLiteral,
    Literal,
    Merge,
    Node,
    Operation,
    Pi,
    Project,
    ProjectType,
    RecordLiteral,
    RecordType,
    Select,
    ShowConstructor,
    SomeLiteral,
    Source,
    Target,
    TextLiteral,
    ToMap,
    UnionType,
    Var,
    With,
)
from assay_dhall.values import VInteger, VTemporal

MAX_DEPTH = 1_000
MAX_DIGITS = 2_400
COMPLETE = 13
MAX_NUMBER_BYTES = 1_024
NOWHERE = Source("(binary)", "")


def decode(content: bytes) -> Node:
    """Return the expression of a binary form; raise `DhallError`."""
    reader = _Reader(content)
    try:
        item = reader.read_item(0)
    except (IndexError, struct.error, UnicodeDecodeError):
        _refuse("the binary form ends too early")
    if reader.position != len(content):
        _refuse("unexpected bytes follow the binary form")
    return _Builder().build(item)


def _refuse(message: str) -> NoReturn:
    raise DhallError([Problem("parse", message)])


class _Reader:
    """Reads CBOR: integers, byte and text strings, arrays, maps, tags 2 to 4, doubles, Booleans and null."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0

    def read_item(self, depth: int) -> Any:
        """Read the item at the position; `depth` is the number of items around it.  Raises DhallError."""
        if depth > MAX_DEPTH:
            _refuse(f"the binary form is nested more than {MAX_DEPTH:,} deep")
        head = self.content[self.position]
        self.position += 1
        major, short = head >> 5, head & 31
        if major == 7:
            return self._read_simple(short)
        if short == 31:
            return self._read_indefinite(major, depth)
        return self._read_sized(major, self._read_number(short), depth)

    def _read_sized(self, major: int, number: int, depth: int) -> Any:
        if major == 0:
            return number
        if major == 1:
            return -1 - number
        if major in (2, 3):
            content = self._take(number)
            return content if major == 2 else content.decode("utf-8")
        if major in (4, 5) and number > len(self.content):
            _refuse("the binary form ends too early")
        if major == 4:
            return [self.read_item(depth + 1) for _ in range(number)]
        if major == 5:
            return {self._read_key(depth): self.read_item(depth + 1) for _ in range(number)}
        return self._read_tagged(number, depth)

    def _read_key(self, depth: int) -> str:
        key = self.read_item(depth + 1)
        if not isinstance(key, str):
            _refuse("the name of a field is not a text")
        return key

    def _read_tagged(self, tag: int, depth: int) -> Any:
        value = self.read_item(depth + 1)
        if tag in (2, 3) and isinstance(value, bytes):
            if len(value) > MAX_NUMBER_BYTES:
                _refuse("the binary form has a number that is too large")
            number = int.from_bytes(value, "big")
            return number if tag == 2 else -1 - number
        if tag == 4 and isinstance(value, list):
            return tuple(value)
        if tag == 55799:
            return value
        _refuse(f"the binary form has the unknown tag {tag}")

    def _take(self, number: int) -> bytes:
        content = self.content[self.position : self.position + number]
        if len(content) < number:
            _refuse("the binary form ends too early")
        self.position += number
        return content

    def _read_number(self, short: int) -> int:
        if short < 24:
            return short
        if short > 27:
            _refuse("the binary form has a number of unknown size")
        return int.from_bytes(self._take(1 << short - 24), "big")

    def _read_simple(self, short: int) -> Any:
        if short in (20, 21):
            return short == 21
        if short == 22:
            return None
        layouts = {25: ">e", 26: ">f", 27: ">d"}
        if short not in layouts:
            _refuse("the binary form has an unknown simple value")
        layout = layouts[short]
        return float(struct.unpack(layout, self._take(struct.calcsize(layout)))[0])

    def _read_indefinite(self, major: int, depth: int) -> Any:
        items = []
        while self.content[self.position] != 0xFF:
            items.append(self.read_item(depth + 1))
        self.position += 1
        if major == 4:
            return items
        if major == 5:
            return dict(zip(items[::2], items[1::2], strict=True))
        if major == 3:
            return "".join(items)
        if major == 2:
            return b"".join(items)
        _refuse("the binary form has an unknown item without end")


def _create_node(kind: Callable[..., Node], *arguments: Any) -> Node:
    return kind(NOWHERE, 0, 0, *arguments)


def _expect(value: Any, *kinds: type) -> Any:
    """Return a part of an item; refuse it if it has none of the types, where a Boolean is not an integer."""
    if type(value) not in kinds:
        _refuse("the binary form has a part of a wrong kind")
    return value


class _Builder:
    """Builds expressions from CBOR items; `names` are the binders around an item, by level."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def build(self, item: Any) -> Node:
        """Return the expression of an item.  Raises DhallError."""
        if isinstance(item, bool):
            return _create_node(Builtin, str(item))
        if isinstance(item, float):
            return _create_node(Literal, item)
        if isinstance(item, int):
            return self._build_variable("_", item)
        if isinstance(item, str):
            if item not in BUILTINS:
                _refuse(f"the binary form has the unknown name `{item}`")
            return _create_node(Builtin, item)
        if not isinstance(item, list) or not item:
            _refuse("the binary form has an item that is not an expression")
        if isinstance(item[0], str):
            return self._build_named_variable(item)
        build = _BUILDERS.get(item[0]) if isinstance(item[0], int) else None
        if build is None:
            _refuse(f"the binary form has the unknown expression {item[0]!r}")
        try:
            node: Node = build(self, *item[1:])
        except (TypeError, ValueError, AttributeError, IndexError):
            _refuse(f"the binary form has a malformed expression {item[0]}")
        return node

    def build_optional(self, item: Any) -> Node | None:
        return None if item is None else self.build(item)

    def _build_named_variable(self, item: list[Any]) -> Node:
        name, index = item
        if name == "_" or not isinstance(index, int):
            _refuse("the binary form has a malformed variable")
        return self._build_variable(name, index)

    def _build_variable(self, name: str, index: int) -> Node:
        if index < 0:
            _refuse("the binary form has a malformed variable")
        levels = [level for level, other in enumerate(self.names) if other == name]
        level = levels[-1 - index] if index < len(levels) else len(levels) - index - 1
        return _create_node(Var, name, index, level)

    def build_body(self, name: str, item: Any) -> Node:
        self.names.append(name)
        node = self.build(item)
        self.names.pop()
        return node

    def build_binder(self, kind: type[Node], *parts: Any) -> Node:
        if len(parts) == 3 and (parts[0] == "_" or not isinstance(parts[0], str)):
            _refuse("the binary form names a binder `_`")
        name, domain, body = parts if len(parts) == 3 else ("_", *parts)
        return _create_node(kind, name, self.build(domain), self.build_body(name, body))

    def build_apply(self, function: Any, *arguments: Any) -> Node:
        if not arguments:
            _refuse("the binary form applies a function to nothing")
        node = self.build(function)
        for argument in arguments:
            node = _create_node(Apply, node, self.build(argument))
        return node

    def build_operation(self, code: int, left: Any, right: Any) -> Node:
        """Return an operation by its code: a completion, a fallback or a binary operator."""
        if not 0 <= _expect(code, int) <= COMPLETE:
            _refuse("the binary form has an unknown operator")
        if code == COMPLETE:
            return _create_node(Complete, self.build(left), self.build(right))
        operator = OPERATORS[code]
        if operator == "?":
            return _create_node(Fallback, self.build(left), self.build(right))
        return _create_node(Operation, operator, self.build(left), self.build(right))

    def build_list(self, annotation: Any, *items: Any) -> Node:
        if items:
            if annotation is not None:
                _refuse("the binary form annotates a list with items")
            return _create_node(ListLiteral, [self.build(item) for item in items], None)
        applied = _create_node(Apply, _create_node(Builtin, "List"), self.build(annotation))
        return _create_node(ListLiteral, [], applied)

    def build_fields(self, kind: type[Node], fields: dict[str, Any]) -> Node:
        build = self.build_optional if kind is UnionType else self.build
        return _create_node(kind, {name: build(value) for name, value in fields.items()})

    def build_projection(self, value: Any, *names: Any) -> Node:
        node = self.build(value)
        if len(names) == 1 and isinstance(names[0], list):
            return _create_node(ProjectType, node, self.build(names[0][0]))
        if not all(isinstance(name, str) for name in names):
            _refuse("the binary form projects a field by something other than its name")
        return _create_node(Project, node, list(names))

    def build_natural(self, value: Any) -> Node:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            _refuse("the binary form has a Natural that is not a number")
        return _create_node(Literal, value)

    def build_text(self, *parts: Any) -> Node:
        if len(parts) == 1 and isinstance(parts[0], str):
            return _create_node(Literal, parts[0])
        if len(parts) % 2 == 0:
            _refuse("the binary form has an unfinished text")
        pieces = [_expect(part, str) if number % 2 == 0 else self.build(part) for number, part in enumerate(parts)]
        return _create_node(TextLiteral, pieces)

    def build_import(self, digest: bytes | None, mode: int, kind: int, *rest: Any) -> Node:
        """Return an import by hash, mode and kind; `rest` is the target, in a URL also headers and query."""
        target, headers, parts, query = TARGETS[kind], None, list(rest), None
        if target in ("http", "https"):
            headers, query = self.build_optional(parts[0]), parts[-1]
            parts = parts[1:-1]
        hexadecimal = _expect(digest, bytes)[2:].hex() if digest is not None else ""
        if not 0 <= kind < len(TARGETS) or not 0 <= mode < len(MODES) or (digest is not None and len(digest) != 34):
            _refuse("the binary form has a malformed import")
        return _create_node(
            Import,
            Target(target, tuple(_expect(part, str) for part in parts), _expect(query, str, type(None))),
            MODES[mode],
            hexadecimal,
            headers,
        )

    def build_let(self, *parts: Any) -> Node:
        """Return nested lets; `parts` are name, annotation and value of each binding, and the body."""
        bindings = []
        for number in range(0, len(parts) - 1, 3):
            name, annotation, value = parts[number : number + 3]
            _expect(name, str)
            bindings.append((name, self.build_optional(annotation), self.build(value)))
            self.names.append(name)
        node = self.build(parts[-1])
        del self.names[len(self.names) - len(bindings) :]
        for name, type_node, value_node in reversed(bindings):
            node = _create_node(Let, name, type_node, value_node, node)
        return node

    def build_with(self, value: Any, path: list[Any], update: Any) -> Node:
        names = [None if part == 0 else _expect(part, str) for part in path]
        return _create_node(With, self.build(value), names, self.build(update))

    def build_time(self, hour: int, minute: int, decimal: tuple[int, int]) -> Node:
        exponent, mantissa = _expect(decimal, tuple)
        digits = -_expect(exponent, int)
        if not 0 <= digits <= MAX_DIGITS:
            _refuse("the binary form has a time of too many digits")
        parts = (_expect(hour, int), _expect(minute, int), _expect(mantissa, int), digits)
        return _create_node(Literal, VTemporal("Time", parts))

    def build_some(self, annotation: Any, value: Any) -> Node:
        if annotation is not None:
            _refuse("the binary form annotates `Some`")
        return _create_node(SomeLiteral, self.build(value))


def _create_date(*parts: Any) -> VTemporal:
    return VTemporal("Date", tuple(_expect(part, int) for part in parts))


def _create_time_zone(sign: Any, *parts: Any) -> VTemporal:
    return VTemporal("TimeZone", (int(_expect(sign, bool)), *(_expect(part, int) for part in parts)))


_BUILDERS: dict[int, Callable[..., Any]] = {
    0: _Builder.build_apply,
    1: lambda self, *parts: self.build_binder(Lambda, *parts),
    2: lambda self, *parts: self.build_binder(Pi, *parts),
    3: _Builder.build_operation,
    4: _Builder.build_list,
    5: _Builder.build_some,
    6: lambda self, handlers, union, annotation=None: _create_node(
        Merge, self.build(handlers), self.build(union), self.build_optional(annotation)
    ),
    7: lambda self, fields: self.build_fields(RecordType, fields),
    8: lambda self, fields: self.build_fields(RecordLiteral, fields),
    9: lambda self, value, name: _create_node(Select, self.build(value), _expect(name, str)),
    10: _Builder.build_projection,
    11: lambda self, fields: self.build_fields(UnionType, fields),
    14: lambda self, *parts: _create_node(If, *[self.build(part) for part in parts]),
    15: _Builder.build_natural,
    16: lambda _self, value: _create_node(Literal, VInteger(_expect(value, int))),
    18: _Builder.build_text,
    19: lambda self, annotation: _create_node(Assert, self.build(annotation)),
    24: _Builder.build_import,
    25: _Builder.build_let,
    26: lambda self, value, annotation: _create_node(Annotation, self.build(value), self.build(annotation)),
    27: lambda self, value, annotation=None: _create_node(ToMap, self.build(value), self.build_optional(annotation)),
    28: lambda self, annotation: _create_node(ListLiteral, [], self.build(annotation)),
    29: _Builder.build_with,
    30: lambda _self, year, month, day: _create_node(Literal, _create_date(year, month, day)),
    31: _Builder.build_time,
    32: lambda _self, sign, hour, minute: _create_node(Literal, _create_time_zone(sign, hour, minute)),
    33: lambda _self, content: _create_node(Literal, _expect(content, bytes)),
    34: lambda self, value: _create_node(ShowConstructor, self.build(value)),
}
