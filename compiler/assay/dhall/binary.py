"""The binary form of expressions: encoding, and the semantic hash of a normal form."""

from __future__ import annotations

import hashlib
from typing import Any

from assay.dhall.cbor import encode_float, encode_head, encode_integer, encode_text
from assay.dhall.meter import METER
from assay.dhall.syntax import (
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
    TextLit,
    TimeValue,
    ToMap,
    UnionType,
    Var,
    With,
    ZoneValue,
)

OPERATORS = ("||", "&&", "==", "!=", "+", "*", "++", "#", "/\\", "//", "//\\\\", "?", "===")
COMPLETION = 13
MODES = ("Code", "Text", "Location", "Bytes")
PATHS = {"": 2, ".": 3, "..": 4, "~": 5}
_NULL = b"\xf6"


def encode(node: Node, rename: bool = False) -> bytes:
    """Encode an expression; with `rename` all bound variables are `_` first (alpha normalization)."""
    encoder = _Encoder(rename)
    encoder.put(node)
    return b"".join(encoder.chunks)


def compute_hash(normal_form: Node) -> str:
    """Give the SHA-256 of a normal form, which imports name as `sha256:`."""
    return hashlib.sha256(encode(normal_form, rename=True)).hexdigest()


class _Encoder:
    def __init__(self, rename: bool) -> None:
        self.rename = rename
        self.depth = 0
        self.chunks: list[bytes] = []

    def put(self, node: Node) -> None:
        METER.spend()
        _ENCODERS[type(node)](self, node)

    def head(self, length: int, code: int) -> None:
        """Begin an array of `length` items, the first of which is the code of the expression."""
        self.chunks.append(encode_head(4, length))
        self.chunks.append(encode_head(0, code))

    def put_or_null(self, node: Node | None) -> None:
        if node is None:
            self.chunks.append(_NULL)
        else:
            self.put(node)

    def put_under_binder(self, node: Node) -> None:
        self.depth += 1
        self.put(node)
        self.depth -= 1

    def put_fields(self, code: int, fields: dict[str, Any]) -> None:
        self.head(2, code)
        self.chunks.append(encode_head(5, len(fields)))
        for name in sorted(fields):
            self.chunks.append(encode_text(name))
            self.put_or_null(fields[name])

    def put_texts(self, *texts: str) -> None:
        self.chunks += map(encode_text, texts)

    def put_variable(self, node: Var) -> None:
        name, index = node.name, node.index
        if self.rename and node.level is not None:
            name, index = "_", self.depth - 1 - node.level
        elif self.rename:
            index = node.free + (self.depth if name == "_" else 0)
        if name == "_":
            self.chunks.append(encode_integer(index))
        else:
            self.chunks += (encode_head(4, 2), encode_text(name), encode_integer(index))

    def put_binder(self, node: Lam | Pi) -> None:
        code = 1 if isinstance(node, Lam) else 2
        if node.name == "_" or self.rename:
            self.head(3, code)
        else:
            self.head(4, code)
            self.put_texts(node.name)
        self.put(node.domain)
        self.put_under_binder(node.body)

    def put_application(self, node: Node) -> None:
        arguments = []
        while isinstance(node, App):
            arguments.append(node.argument)
            node = node.function
        self.head(2 + len(arguments), 0)
        self.put(node)
        for argument in reversed(arguments):
            self.put(argument)

    def put_let(self, node: Node) -> None:
        bindings = []
        while isinstance(node, Let):
            bindings.append(node)
            node = node.body
        self.head(2 + 3 * len(bindings), 25)
        for binding in bindings:
            self.put_texts("_" if self.rename else binding.name)
            self.put_or_null(binding.annotation)
            self.put(binding.value)
            self.depth += 1
        self.put(node)
        self.depth -= len(bindings)

    def put_operator(self, node: Op) -> None:
        spine: list[Op] = []
        left: Node = node
        while isinstance(left, Op):
            spine.append(left)
            self.head(4, 3)
            self.chunks.append(encode_integer(OPERATORS.index(left.op)))
            left = left.left
        self.put(left)
        for item in reversed(spine):
            self.put(item.right)

    def put_completion(self, node: Complete) -> None:
        self.head(4, 3)
        self.chunks.append(encode_integer(COMPLETION))
        self.put(node.type)
        self.put(node.value)

    def put_literal(self, node: Lit) -> None:
        value = node.value
        if type(value) is str:
            self.head(2, 18)
            self.put_texts(value)
        elif type(value) is float:
            self.chunks.append(encode_float(value))
        elif type(value) is bytes:
            self.head(2, 33)
            self.chunks += (encode_head(2, len(value)), value)
        elif type(value) is bool:
            self.chunks.append(b"\xf5" if value else b"\xf4")
        else:
            self.put_number(value)

    def put_number(self, value: Any) -> None:
        if type(value) is int:
            self.head(2, 15)
            self.chunks.append(encode_integer(value))
        elif isinstance(value, IntegerValue):
            self.head(2, 16)
            self.chunks.append(encode_integer(value.number))
        elif isinstance(value, DateValue):
            self.head(4, 30)
            self.chunks += map(encode_integer, (value.year, value.month, value.day))
        elif isinstance(value, TimeValue):
            self.head(4, 31)
            self.chunks += map(encode_integer, (value.hour, value.minute))
            number = value.second * 10 ** len(value.digits) + int(value.digits or "0")
            self.chunks += (encode_head(6, 4), encode_head(4, 2))
            self.chunks += map(encode_integer, (-len(value.digits), number))
        else:
            assert isinstance(value, ZoneValue)
            self.head(4, 32)
            self.chunks.append(b"\xf4" if value.is_negative else b"\xf5")
            self.chunks += map(encode_integer, divmod(value.minutes, 60))

    def put_text(self, node: TextLit) -> None:
        self.head(1 + len(node.parts), 18)
        for part in node.parts:
            if isinstance(part, str):
                self.put_texts(part)
            else:
                self.put(part)

    def put_builtin(self, node: Builtin) -> None:
        if node.name in ("True", "False"):
            self.chunks.append(b"\xf5" if node.name == "True" else b"\xf4")
        else:
            self.put_texts(node.name)

    def put_list(self, node: ListLit) -> None:
        annotation = node.annotation
        if node.items:
            self.head(2 + len(node.items), 4)
            self.chunks.append(_NULL)
            for item in node.items:
                self.put(item)
        elif (
            isinstance(annotation, App)
            and isinstance(annotation.function, Builtin)
            and annotation.function.name == "List"
        ):
            self.head(2, 4)
            self.put(annotation.argument)
        else:
            self.head(2, 28)
            self.put_or_null(annotation)

    def put_some(self, node: SomeLit) -> None:
        self.head(3, 5)
        self.chunks.append(_NULL)
        self.put(node.value)

    def put_merge(self, node: Merge) -> None:
        self.put_all(6, node.handlers, node.union, *([node.annotation] if node.annotation else []))

    def put_to_map(self, node: ToMap) -> None:
        self.put_all(27, node.value, *([node.annotation] if node.annotation else []))

    def put_all(self, code: int, *nodes: Node) -> None:
        self.head(1 + len(nodes), code)
        for node in nodes:
            self.put(node)

    def put_select(self, node: Select) -> None:
        self.head(3, 9)
        self.put(node.value)
        self.put_texts(node.name)

    def put_project(self, node: Project) -> None:
        self.head(2 + len(node.names), 10)
        self.put(node.value)
        self.put_texts(*node.names)

    def put_project_type(self, node: ProjectType) -> None:
        self.head(3, 10)
        self.put(node.value)
        self.chunks.append(encode_head(4, 1))
        self.put(node.type)

    def put_with(self, node: With) -> None:
        self.head(4, 29)
        self.put(node.value)
        self.chunks.append(encode_head(4, len(node.path)))
        self.chunks += [encode_integer(0) if name is None else encode_text(name) for name in node.path]
        self.put(node.new)

    def put_import(self, node: Import) -> None:
        target = node.target
        kind, tail = self._describe_target(node)
        names = [*tail, *target.parts]
        is_url = target.kind == "url"
        self.chunks.append(encode_head(4, 4 + len(names) + 2 * is_url))
        self.chunks.append(encode_head(0, 24))
        digest = b"\x12\x20" + bytes.fromhex(node.sha256) if node.sha256 else b""
        self.chunks.append(encode_head(2, len(digest)) + digest if digest else _NULL)
        self.chunks += map(encode_integer, (MODES.index(node.mode), kind))
        if is_url:
            self.put_or_null(node.headers)
        self.put_texts(*names)
        if is_url:
            self.chunks.append(_NULL if target.query is None else encode_text(target.query))

    @staticmethod
    def _describe_target(node: Import) -> tuple[int, list[str]]:
        target = node.target
        if target.kind == "path":
            return PATHS[target.prefix], []
        if target.kind == "env":
            return 6, [target.prefix]
        if target.kind == "missing":
            return 7, []
        scheme, authority = target.prefix.split("://")
        return (1 if scheme == "https" else 0), [authority]


_ENCODERS: dict[type, Any] = {
    Var: _Encoder.put_variable,
    Lam: _Encoder.put_binder,
    Pi: _Encoder.put_binder,
    App: _Encoder.put_application,
    Let: _Encoder.put_let,
    Ann: lambda encoder, node: encoder.put_all(26, node.value, node.annotation),
    If: lambda encoder, node: encoder.put_all(14, node.condition, node.then, node.other),
    Op: _Encoder.put_operator,
    Lit: _Encoder.put_literal,
    TextLit: _Encoder.put_text,
    Builtin: _Encoder.put_builtin,
    ListLit: _Encoder.put_list,
    SomeLit: _Encoder.put_some,
    Rec: lambda encoder, node: encoder.put_fields(8, node.fields),
    RecType: lambda encoder, node: encoder.put_fields(7, node.fields),
    UnionType: lambda encoder, node: encoder.put_fields(11, node.fields),
    Select: _Encoder.put_select,
    Project: _Encoder.put_project,
    ProjectType: _Encoder.put_project_type,
    Merge: _Encoder.put_merge,
    ToMap: _Encoder.put_to_map,
    Assert: lambda encoder, node: encoder.put_all(19, node.annotation),
    With: _Encoder.put_with,
    Complete: _Encoder.put_completion,
    ShowConstructor: lambda encoder, node: encoder.put_all(34, node.value),
    Import: _Encoder.put_import,
}
