"""Print expressions and values on one line, for messages, hovers and normal forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from assay_dhall.builtin_functions import show_double, show_integer, show_temporal, show_text
from assay_dhall.parser import PRECEDENCE
from assay_dhall.quote import ELLIPSIS, quote
from assay_dhall.syntax import (
    BUILTINS,
    KEYWORDS,
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
from assay_dhall.values import Value, VInteger, VTemporal

MAX_LENGTH = 300
_OPERATOR, _APPLICATION, _ATOM = 1, 20, 30
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_/-]*")


def describe(value: Value, names: Sequence[str] = (), depth: int = 3) -> str:
    """Return a value as text for a message: deeply nested and long parts are left out."""
    text = print_node(quote(value, list(names), depth=depth))
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 2] + " …"


def print_node(node: Node) -> str:
    """Return an expression as Dhall text of one line."""
    return _print(node, 0)


def print_label(name: str) -> str:
    """Return the name of a field or alternative as it is written, in backticks where needed."""
    if name == ELLIPSIS or (_LABEL.fullmatch(name) and (name not in KEYWORDS or name == "Some")):
        return name
    return f"`{name}`"


def print_variable(name: str) -> str:
    """Return the name of a variable as it is written, in backticks where needed."""
    return f"`{name}`" if name in BUILTINS or name == "Some" else print_label(name)


def _print(node: Node, level: int) -> str:
    """Return the text of a node; it is put into parentheses when it binds less tightly than `level`."""
    precedence, text = _PRINTERS[type(node)](node)
    return f"({text})" if precedence < level else text


def _print_var(node: Var) -> tuple[int, str]:
    return _ATOM, print_variable(node.name) + (f"@{node.index}" if node.index else "")


def _print_pi(node: Pi) -> tuple[int, str]:
    if node.name == "_":
        return 0, f"{_print(node.domain, _OPERATOR)} → {_print(node.body, 0)}"
    return 0, f"∀({print_variable(node.name)} : {_print(node.domain, 0)}) → {_print(node.body, 0)}"


def _print_lambda(node: Lambda) -> tuple[int, str]:
    return 0, f"λ({print_variable(node.name)} : {_print(node.domain, 0)}) → {_print(node.body, 0)}"


def _print_apply(node: Apply) -> tuple[int, str]:
    return _APPLICATION, f"{_print(node.function, _APPLICATION)} {_print(node.argument, _ATOM)}"


def _print_let(node: Let) -> tuple[int, str]:
    annotation = "" if node.annotation is None else f" : {_print(node.annotation, 0)}"
    return 0, f"let {print_variable(node.name)}{annotation} = {_print(node.value, 0)} in {_print(node.body, 0)}"


def _print_operation(node: Operation) -> tuple[int, str]:
    precedence = PRECEDENCE[node.operator]
    return precedence, f"{_print(node.left, precedence)} {node.operator} {_print(node.right, precedence + 1)}"


def _print_fallback(node: Fallback) -> tuple[int, str]:
    precedence = PRECEDENCE["?"]
    return precedence, f"{_print(node.left, precedence)} ? {_print(node.right, precedence + 1)}"


def _print_literal(node: Literal) -> tuple[int, str]:
    value = node.value
    if isinstance(value, str):
        return _ATOM, show_text(value)
    if isinstance(value, float):
        return _ATOM, show_double(value)
    if isinstance(value, VInteger):
        return _ATOM, show_integer(value.number)
    if isinstance(value, VTemporal):
        return _ATOM, show_temporal(value)
    if isinstance(value, bytes):
        return _ATOM, f'0x"{value.hex().upper()}"'
    return _ATOM, str(value)


def _print_text(node: TextLiteral) -> tuple[int, str]:
    parts = [show_text(part)[1:-1] if isinstance(part, str) else f"${{{_print(part, 0)}}}" for part in node.parts]
    return _ATOM, f'"{"".join(parts)}"'


def _print_list(node: ListLiteral) -> tuple[int, str]:
    if node.items:
        return _ATOM, "[ " + ", ".join([_print(item, 0) for item in node.items]) + " ]"
    assert node.annotation is not None
    return 0, f"[] : {_print(node.annotation, 0)}"


def _print_fields(node: RecordLiteral | RecordType) -> tuple[int, str]:
    sign, empty = (" = ", "{=}") if isinstance(node, RecordLiteral) else (" : ", "{}")
    if not node.fields:
        return _ATOM, empty
    parts = [
        name if name == ELLIPSIS else print_label(name) + sign + _print(value, 0) for name, value in node.fields.items()
    ]
    return _ATOM, "{ " + ", ".join(parts) + " }"


def _print_union(node: UnionType) -> tuple[int, str]:
    if not node.fields:
        return _ATOM, "<>"
    parts = [
        print_label(name) + ("" if value is None else f" : {_print(value, 0)}") for name, value in node.fields.items()
    ]
    return _ATOM, "< " + " | ".join(parts) + " >"


def _print_keyword(keyword: str, *operands: Node, annotation: Node | None = None) -> tuple[int, str]:
    text = " ".join([keyword, *[_print(operand, _ATOM) for operand in operands]])
    return (_APPLICATION, text) if annotation is None else (0, f"{text} : {_print(annotation, 0)}")


def _print_with(node: With) -> tuple[int, str]:
    path = ".".join(["?" if part is None else print_label(part) for part in node.path])
    return 0, f"{_print(node.value, _ATOM)} with {path} = {_print(node.update, _OPERATOR)}"


def _print_if(node: If) -> tuple[int, str]:
    parts = [_print(part, 0) for part in (node.condition, node.positive, node.negative)]
    return 0, f"if {parts[0]} then {parts[1]} else {parts[2]}"


def _print_import(node: Import) -> tuple[int, str]:
    return _APPLICATION, node.source.text[node.start : node.end] or "/".join([node.target.kind, *node.target.parts])


_PRINTERS: dict[type[Node], Callable[..., tuple[int, str]]] = {
    Var: _print_var,
    Pi: _print_pi,
    Lambda: _print_lambda,
    Apply: _print_apply,
    Let: _print_let,
    Operation: _print_operation,
    Fallback: _print_fallback,
    Literal: _print_literal,
    TextLiteral: _print_text,
    ListLiteral: _print_list,
    RecordLiteral: _print_fields,
    RecordType: _print_fields,
    UnionType: _print_union,
    With: _print_with,
    If: _print_if,
    Import: _print_import,
    Builtin: lambda node: (_ATOM, node.name),
    Annotation: lambda node: (0, f"{_print(node.value, _OPERATOR)} : {_print(node.annotation, 0)}"),
    SomeLiteral: lambda node: _print_keyword("Some", node.value),
    Select: lambda node: (_ATOM, f"{_print(node.value, _ATOM)}.{print_label(node.name)}"),
    Project: lambda node: (_ATOM, f"{_print(node.value, _ATOM)}.{{ {', '.join(map(print_label, node.names))} }}"),
    ProjectType: lambda node: (_ATOM, f"{_print(node.value, _ATOM)}.({_print(node.type, 0)})"),
    Merge: lambda node: _print_keyword("merge", node.handlers, node.union, annotation=node.annotation),
    ToMap: lambda node: _print_keyword("toMap", node.value, annotation=node.annotation),
    Assert: lambda node: (0, f"assert : {_print(node.annotation, 0)}"),
    Complete: lambda node: (_APPLICATION, f"{_print(node.type, _ATOM)}::{_print(node.value, _ATOM)}"),
    ShowConstructor: lambda node: _print_keyword("showConstructor", node.value),
}
