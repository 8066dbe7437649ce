"""The binary form of expressions (CBOR as the Dhall standard prescribes it) and semantic hashes.

Encoding walks the tree with an explicit list of parts, so deep trees need no deep stack.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable

from assay_dhall.syntax import (
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
    TextLiteral,
    ToMap,
    UnionType,
    Var,
    With,
)
from assay_dhall.values import VInteger, VTemporal

OPERATORS = ("||", "&&", "==", "!=", "+", "*", "++", "#", "/\\", "//", "//\\\\", "?", "===")
TARGETS = ("http", "https", "absolute", "here", "parent", "home", "env", "missing")
MODES = ("Code", "Text", "Location", "Bytes")
NULL, FALSE, TRUE = b"\xf6", b"\xf4", b"\xf5"

_OPCODES = {operator: bytes([number]) if number < 24 else b"" for number, operator in enumerate(OPERATORS)}
_Part = bytes | Node


def encode(node: Node) -> bytes:
    """Return the binary form of an expression."""
    out: list[bytes] = []
    pending: list[_Part] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, bytes):
            out.append(part)
        else:
            pending.extend(reversed(_ENCODERS[type(part)](part)))
    return b"".join(out)


def compute_semantic_hash(node: Node) -> str:
    """Return the SHA-256, in hexadecimal, of the binary form of a normal form with all binders named `_`."""
    return hashlib.sha256(encode(node)).hexdigest()


def _encode_head(major: int, number: int) -> bytes:
    if number < 24:
        return bytes([major << 5 | number])
    for size, code in ((1, 24), (2, 25), (4, 26), (8, 27)):
        if number < 1 << 8 * size:
            return bytes([major << 5 | code]) + number.to_bytes(size, "big")
    raise OverflowError(number)


def _encode_array(length: int) -> bytes:
    return _encode_head(4, length)


def _encode_string(text: str) -> bytes:
    content = text.encode("utf-8", "surrogatepass")
    return _encode_head(3, len(content)) + content


def _encode_bytes(content: bytes) -> bytes:
    return _encode_head(2, len(content)) + content


def _encode_integer(number: int) -> bytes:
    magnitude = number if number >= 0 else -1 - number
    if magnitude < 1 << 64:
        return _encode_head(0 if number >= 0 else 1, magnitude)
    tag = b"\xc2" if number >= 0 else b"\xc3"
    return tag + _encode_bytes(magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "big"))


def _encode_double(number: float) -> bytes:
    if number != number:
        return b"\xf9\x7e\x00"
    for code, layout in ((b"\xf9", ">e"), (b"\xfa", ">f")):
        try:
            content = struct.pack(layout, number)
        except OverflowError:
            continue
        if struct.unpack(layout, content)[0] == number:
            return code + content
    return b"\xfb" + struct.pack(">d", number)


def _encode_optional(node: Node | None) -> _Part:
    return NULL if node is None else node


def _encode_var(node: Var) -> list[_Part]:
    if node.name == "_":
        return [_encode_integer(node.index)]
    return [_encode_array(2), _encode_string(node.name), _encode_integer(node.index)]


def _encode_binder(code: int, name: str, domain: Node, body: Node) -> list[_Part]:
    if name == "_":
        return [_encode_array(3), _encode_head(0, code), domain, body]
    return [_encode_array(4), _encode_head(0, code), _encode_string(name), domain, body]


def _encode_apply(node: Apply) -> list[_Part]:
    arguments: list[_Part] = []
    function: Node = node
    while isinstance(function, Apply):
        arguments.append(function.argument)
        function = function.function
    return [_encode_array(2 + len(arguments)), b"\x00", function, *reversed(arguments)]


def _encode_let(node: Node) -> list[_Part]:
    parts: list[_Part] = []
    count = 0
    while isinstance(node, Let):
        parts += [_encode_string(node.name), _encode_optional(node.annotation), node.value]
        node = node.body
        count += 1
    return [_encode_array(2 + 3 * count), b"\x18\x19", *parts, node]


def _encode_operation(node: Operation | Fallback) -> list[_Part]:
    operator = "?" if isinstance(node, Fallback) else node.operator
    return [_encode_array(4), b"\x03", _OPCODES[operator], node.left, node.right]


def _encode_literal(node: Literal) -> list[_Part]:
    value = node.value
    if isinstance(value, str):
        return [b"\x82\x12", _encode_string(value)]
    if isinstance(value, bytes):
        return [b"\x82\x18\x21", _encode_bytes(value)]
    if isinstance(value, float):
        return [_encode_double(value)]
    if isinstance(value, VTemporal):
        return [_encode_temporal(value)]
    if isinstance(value, VInteger):
        return [b"\x82\x10", _encode_integer(value.number)]
    return [b"\x82\x0f", _encode_integer(value)]


def _encode_temporal(value: VTemporal) -> bytes:
    if value.kind == "Date":
        return b"\x84\x18\x1e" + b"".join(_encode_integer(part) for part in value.parts)
    if value.kind == "Time":
        hour, minute, mantissa, digits = value.parts
        decimal = b"\xc4\x82" + _encode_integer(-digits) + _encode_integer(mantissa)
        return b"\x84\x18\x1f" + _encode_integer(hour) + _encode_integer(minute) + decimal
    sign, hour, minute = value.parts
    return b"\x84\x18\x20" + (TRUE if sign else FALSE) + _encode_integer(hour) + _encode_integer(minute)


def _encode_list(node: ListLiteral) -> list[_Part]:
    if node.items:
        return [_encode_array(2 + len(node.items)), b"\x04", NULL, *node.items]
    annotation = node.annotation
    applied = annotation.function if isinstance(annotation, Apply) else None
    if isinstance(annotation, Apply) and isinstance(applied, Builtin) and applied.name == "List":
        return [b"\x82\x04", annotation.argument]
    assert annotation is not None
    return [b"\x82\x18\x1c", annotation]


def _encode_fields(code: int, fields: dict[str, Node | None] | dict[str, Node]) -> list[_Part]:
    parts: list[_Part] = [b"\x82", _encode_head(0, code), _encode_head(5, len(fields))]
    for name in sorted(fields):
        parts += [_encode_string(name), _encode_optional(fields[name])]
    return parts


def _encode_text(node: TextLiteral) -> list[_Part]:
    parts: list[_Part] = [_encode_string(part) if isinstance(part, str) else part for part in node.parts]
    return [_encode_array(1 + len(parts)), b"\x12", *parts]


def _encode_import(node: Import) -> list[_Part]:
    target = node.target
    digest = _encode_bytes(b"\x12\x20" + bytes.fromhex(node.digest)) if node.digest else NULL
    parts: list[_Part] = [
        b"\x18\x18",
        digest,
        _encode_head(0, MODES.index(node.mode)),
        _encode_head(0, TARGETS.index(target.kind)),
    ]
    if target.kind in ("http", "https"):
        parts.append(_encode_optional(node.headers))
    parts += [_encode_string(part) for part in target.parts]
    if target.kind in ("http", "https"):
        parts.append(NULL if target.query is None else _encode_string(target.query))
    return [_encode_array(len(parts)), *parts]


def _encode_path(node: With) -> list[_Part]:
    path = [b"\x00" if part is None else _encode_string(part) for part in node.path]
    return [b"\x84\x18\x1d", node.value, _encode_array(len(path)), *path, node.update]


def _encode_annotated(code: int, operands: list[Node], annotation: Node | None) -> list[_Part]:
    parts: list[_Part] = [_encode_head(0, code), *operands]
    if annotation is not None:
        parts.append(annotation)
    return [_encode_array(len(parts)), *parts]


def _encode_builtin(node: Builtin) -> list[_Part]:
    return [{"True": TRUE, "False": FALSE}.get(node.name) or _encode_string(node.name)]


_ENCODERS: dict[type[Node], Callable[..., list[_Part]]] = {
    Var: _encode_var,
    Lambda: lambda node: _encode_binder(1, node.name, node.domain, node.body),
    Pi: lambda node: _encode_binder(2, node.name, node.domain, node.body),
    Apply: _encode_apply,
    Let: _encode_let,
    Annotation: lambda node: [b"\x83\x18\x1a", node.value, node.annotation],
    If: lambda node: [b"\x84\x0e", node.condition, node.positive, node.negative],
    Operation: _encode_operation,
    Fallback: _encode_operation,
    Literal: _encode_literal,
    TextLiteral: _encode_text,
    Builtin: _encode_builtin,
    ListLiteral: _encode_list,
    SomeLiteral: lambda node: [b"\x83\x05", NULL, node.value],
    RecordLiteral: lambda node: _encode_fields(8, node.fields),
    RecordType: lambda node: _encode_fields(7, node.fields),
    UnionType: lambda node: _encode_fields(11, node.fields),
    Select: lambda node: [b"\x83\x09", node.value, _encode_string(node.name)],
    Project: lambda node: [_encode_array(2 + len(node.names)), b"\x0a", node.value, *map(_encode_string, node.names)],
    ProjectType: lambda node: [b"\x83\x0a", node.value, b"\x81", node.type],
    Merge: lambda node: _encode_annotated(6, [node.handlers, node.union], node.annotation),
    ToMap: lambda node: _encode_annotated(27, [node.value], node.annotation),
    Assert: lambda node: [b"\x82\x13", node.annotation],
    With: _encode_path,
    Complete: lambda node: [b"\x84\x03\x0d", node.type, node.value],
    ShowConstructor: lambda node: [b"\x82\x18\x22", node.value],
    Import: _encode_import,
}
