"""Expressions as text: whole for normal forms, shortened for messages."""

from __future__ import annotations

import re
from typing import Any

from assay.dhall.builtins import show_date, show_double, show_text, show_time, show_zone
from assay.dhall.meter import METER
from assay.dhall.quote import quote
from assay.dhall.syntax import (
    BUILTINS,
    KEYWORDS,
    Ann,
    App,
    Assert,
    Builtin,
    Complete,
    DateValue,
    Embed,
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
from assay.dhall.values import FRESH, Value

_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_/-]*\Z")
_BINDING = {
    "===": 1,
    "?": 2,
    "||": 3,
    "+": 4,
    "++": 5,
    "#": 6,
    "&&": 7,
    "/\\": 8,
    "//": 9,
    "//\\\\": 10,
    "*": 11,
    "==": 12,
    "!=": 13,
}
_OPEN, _OPERAND, _ARGUMENT = 0, 14, 15
MAX_SHOWN = 400


def show(value: Value, limit: int = MAX_SHOWN) -> str:
    """Write a value for a message; one longer than the limit loses its inner parts."""
    node = quote(value, FRESH)
    for depth in (100, 4, 3, 2):
        text = _Printer(depth).print(node, _OPEN)
        if len(text) <= limit:
            return text
    return _Printer(1).print(node, _OPEN)[: 2 * limit]


def print_node(node: Node) -> str:
    """Write an expression in full, on one line."""
    return _Printer(1 << 30).print(node, _OPEN)


def print_label(name: str, bound: bool = False) -> str:
    """Write a name, in backticks where it needs them."""
    plain = _SIMPLE.match(name) and name not in KEYWORDS and not (bound and name in BUILTINS)
    return name if plain or (name == "Some" and not bound) else f"`{name}`"


class _Printer:
    def __init__(self, depth: int) -> None:
        self.depth = depth

    def print(self, node: Any, binding: int) -> str:
        """Write a node where only what binds more tightly than `binding` needs no parentheses."""
        METER.spend()
        if isinstance(node, Embed):
            node = quote(node.value)
        text, own = self._write(node)
        METER.spend_characters(len(text))
        return f"({text})" if own < binding else text

    def _write(self, node: Any) -> tuple[str, int]:
        kind = type(node)
        if kind is Lit:
            return _write_literal(node.value), 20
        if kind in (Rec, RecType, UnionType, ListLit):
            return self._write_container(node)
        rule = _RULES.get(kind)
        if rule is None:
            return str(getattr(node, "target", "…")), 20
        written: tuple[str, int] = rule(self, node)
        return written

    def _write_container(self, node: Any) -> tuple[str, int]:
        if isinstance(node, ListLit) and node.annotation is not None:
            return f"[] : {self.print(node.annotation, _OPEN)}", _OPEN
        is_list = isinstance(node, ListLit)
        opening, closing, joiner = ("[", "]", ", ") if is_list else _BRACKETS[type(node)]
        entries = node.items if is_list else node.fields
        if not entries:
            return {Rec: "{=}", RecType: "{}", UnionType: "<>"}[type(node)], 20
        if self.depth <= 0:
            return f"{opening} … {closing}", 20
        self.depth -= 1
        if is_list:
            texts = [self.print(item, _OPEN) for item in node.items]
        else:
            texts = [self._write_field(name, item, isinstance(node, Rec)) for name, item in node.fields.items()]
        self.depth += 1
        return f"{opening} {joiner.join(texts)} {closing}", 20

    def _write_field(self, name: str, item: Any, is_value: bool) -> str:
        if item is None:
            return print_label(name)
        return f"{print_label(name)} {'=' if is_value else ':'} {self.print(item, _OPEN)}"

    def write_variable(self, node: Var) -> tuple[str, int]:
        """Write a variable."""
        return print_label(node.name, bound=True) + (f"@{node.index}" if node.index else ""), 20

    def write_binder(self, node: Lam | Pi) -> tuple[str, int]:
        """Write a function or its type."""
        body = self.print(node.body, _OPEN)
        if isinstance(node, Pi) and node.name == "_":
            return f"{self.print(node.domain, 1)} → {body}", _OPEN
        sign = "λ" if isinstance(node, Lam) else "∀"
        return f"{sign}({print_label(node.name, bound=True)} : {self.print(node.domain, _OPEN)}) → {body}", _OPEN

    def write_words(self, *parts: Any) -> tuple[str, int]:
        """Write what is applied: words and arguments."""
        return " ".join(part if isinstance(part, str) else self.print(part, _ARGUMENT) for part in parts), _OPERAND

    def write_application(self, node: App) -> tuple[str, int]:
        """Write a function with its argument."""
        return f"{self.print(node.function, _OPERAND)} {self.print(node.argument, _ARGUMENT)}", _OPERAND

    def write_operator(self, node: Op) -> tuple[str, int]:
        """Write an operator with both sides."""
        own = _BINDING[node.op]
        return f"{self.print(node.left, own)} {node.op} {self.print(node.right, own + 1)}", own

    def write_let(self, node: Let) -> tuple[str, int]:
        """Write a binding."""
        annotation = f" : {self.print(node.annotation, _OPEN)}" if node.annotation else ""
        value = self.print(node.value, _OPEN)
        return f"let {print_label(node.name, True)}{annotation} = {value} in {self.print(node.body, _OPEN)}", _OPEN

    def write_text(self, node: TextLit) -> tuple[str, int]:
        """Write a text with interpolations."""
        parts = (
            show_text(part)[1:-1] if isinstance(part, str) else f"${{{self.print(part, _OPEN)}}}" for part in node.parts
        )
        return '"' + "".join(parts) + '"', 20

    def write_if(self, node: If) -> tuple[str, int]:
        """Write a choice."""
        condition, then, other = (self.print(part, _OPEN) for part in (node.condition, node.then, node.other))
        return f"if {condition} then {then} else {other}", _OPEN

    def write_annotated(self, node: Any, *words: Any) -> tuple[str, int]:
        """Write `merge` or `toMap` with the annotation that it may have."""
        text, binding = self.write_words(*words)
        return (f"{text} : {self.print(node.annotation, 1)}", _OPEN) if node.annotation else (text, binding)

    def write_with(self, node: With) -> tuple[str, int]:
        """Write a changed record."""
        path = ".".join("?" if name is None else print_label(name) for name in node.path)
        return f"{self.print(node.value, _ARGUMENT)} with {path} = {self.print(node.new, 1)}", _OPEN


_BRACKETS = {Rec: ("{", "}", ", "), RecType: ("{", "}", ", "), UnionType: ("<", ">", " | ")}
_RULES: dict[type, Any] = {
    Var: _Printer.write_variable,
    Lam: _Printer.write_binder,
    Pi: _Printer.write_binder,
    App: _Printer.write_application,
    Let: _Printer.write_let,
    Ann: lambda printer, node: (f"{printer.print(node.value, 1)} : {printer.print(node.annotation, _OPEN)}", _OPEN),
    If: _Printer.write_if,
    Op: _Printer.write_operator,
    TextLit: _Printer.write_text,
    Builtin: lambda _, node: (node.name, 20),
    SomeLit: lambda printer, node: printer.write_words("Some", node.value),
    Select: lambda printer, node: (f"{printer.print(node.value, 16)}.{print_label(node.name)}", 17),
    Project: lambda printer, node: (
        f"{printer.print(node.value, 16)}.{{ {', '.join(map(print_label, node.names))} }}",
        17,
    ),
    ProjectType: lambda printer, node: (f"{printer.print(node.value, 16)}.({printer.print(node.type, _OPEN)})", 17),
    Merge: lambda printer, node: printer.write_annotated(node, "merge", node.handlers, node.union),
    ToMap: lambda printer, node: printer.write_annotated(node, "toMap", node.value),
    Assert: lambda printer, node: (f"assert : {printer.print(node.annotation, _OPEN)}", _OPEN),
    With: _Printer.write_with,
    Complete: lambda printer, node: (f"{printer.print(node.type, 16)}::{printer.print(node.value, 16)}", 15),
    ShowConstructor: lambda printer, node: printer.write_words("showConstructor", node.value),
    Import: lambda _, node: (str(node.target), 20),
}


def _write_literal(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return show_text(value)
    if kind is float:
        return show_double(value)
    if kind is IntegerValue:
        return f"{value.number:+}"
    if kind is bytes:
        return f'0x"{value.hex().upper()}"'
    if kind is DateValue:
        return show_date(value)
    if kind is TimeValue:
        return show_time(value)
    return show_zone(value) if kind is ZoneValue else str(value)
