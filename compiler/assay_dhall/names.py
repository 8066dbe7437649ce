"""Find where names are bound and used, and rename them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay_dhall.errors import Span, build_span
from assay_dhall.printer import print_label, print_variable
from assay_dhall.session import parse_text
from assay_dhall.syntax import BUILTINS, KEYWORDS, Lambda, Let, Node, Pi, RecordLiteral, Source, Var, iter_parts

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_/-]*")

Binder = Let | Lambda | Pi
Scope = tuple[Binder, ...]
"""The binders around an expression, by level."""


class RenameError(Exception):
    """A name cannot be changed, or the new name is invalid; the message says why."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """A name that can be changed, and its span at the requested place."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Replacement:
    """A piece of a file, and the text that replaces it."""

    span: Span
    text: str


def find_name_end(source: Source, start: int, name: str) -> int:
    """Return the end of a name that begins at an offset, with the backticks that it may have."""
    return start + len(name) + (2 if source.text.startswith("`", start) else 0)


def find_binder(root: Node, variable: Var) -> Binder | None:
    """Return the binder of a variable; None for a free variable."""
    for node, scope in _iter_scopes(root):
        if node is variable:
            return scope[variable.level] if 0 <= variable.level < len(scope) else None
    return None


def find_binding(root: Node, start: int) -> Binder | None:
    """Return the `let` or function whose name begins at an offset."""
    for node, _ in _iter_scopes(root):
        if isinstance(node, Binder) and node.name_start == start > node.start:
            return node
    return None


def find_renaming(name: str, text: str, line: int, column: int) -> Renaming | None:
    """Return the name of a `let` or parameter at a place (line and column from 1); None where there is none.

    Raises `DhallError` when the text is no expression.
    """
    root = parse_text(name, text).node
    located = _locate(root, root.source.get_offset(line, column))
    return Renaming(located[0].name, build_span(root.source, *located[1])) if located else None


def rename(name: str, text: str, line: int, column: int, new_name: str) -> tuple[Replacement, ...]:
    """Return the replacements that rename the `let` or parameter at a place, in the order of the text.

    Every variable keeps its binder: it gets an index (`x@1`) where another binder of the name is between them.
    Raises `RenameError`, and `DhallError` when the text is no expression.
    """
    check_name(new_name)
    root = parse_text(name, text).node
    located = _locate(root, root.source.get_offset(line, column))
    if located is None:
        raise RenameError("there is no name of a `let` or a parameter here")
    target, source = located[0], root.source
    edits = [(target.name_start, find_name_end(source, target.name_start, target.name), new_name)]
    puns = _find_puns(root)
    for node, scope in _iter_scopes(root):
        if isinstance(node, Var) and 0 <= node.level < len(scope):
            new_variable = _compute_variable(node, scope, target, new_name)
            if new_variable != (node.name, node.index):
                label = f"{print_label(puns[id(node)])} = " if id(node) in puns else ""
                edits.append((node.start, node.end, label + _print_variable(*new_variable)))
    return tuple(Replacement(build_span(source, start, end), text) for start, end, text in sorted(edits))


def check_name(name: str) -> None:
    """Raise `RenameError` for what cannot be the name of a `let`."""
    if not _NAME.fullmatch(name):
        raise RenameError(
            f"`{name}` is not a name: a name has letters, digits, `_`, `-` and `/`, and begins with a letter"
        )
    if name in KEYWORDS:
        raise RenameError(f"`{name}` is a reserved word")
    if name in BUILTINS:
        raise RenameError(f"`{name}` is built in and cannot be defined")


def _iter_scopes(root: Node) -> Iterator[tuple[Node, Scope]]:
    """Yield every expression with the binders around it."""
    pending: list[tuple[Node, Scope]] = [(root, ())]
    while pending:
        node, scope = pending.pop()
        yield node, scope
        for part in iter_parts(node):
            pending.append((part, (*scope, node) if isinstance(node, Binder) and part is node.body else scope))


def _locate(root: Node, offset: int) -> tuple[Binder, tuple[int, int]] | None:
    """Return the binder of the name around an offset, and the offsets of that name there."""
    for node, scope in _iter_scopes(root):
        if isinstance(node, Var) and node.start <= offset <= node.end and 0 <= node.level < len(scope):
            binder, start = scope[node.level], node.start
        elif isinstance(node, Binder) and node.start < node.name_start <= offset:
            binder, start = node, node.name_start
        else:
            continue
        end = find_name_end(root.source, start, binder.name)
        if offset <= end and binder.name_start > binder.start:
            return binder, (start, end)
    return None


def _find_puns(root: Node) -> dict[int, str]:
    """Return the fields that are written as a variable alone, `{ x }`, by the identity of the variable."""
    return {
        id(value): name
        for node, _ in _iter_scopes(root)
        if isinstance(node, RecordLiteral)
        for name, value in node.fields.items()
        if isinstance(value, Var) and node.names.get(name) == value.start
    }


def _compute_variable(node: Var, scope: Scope, target: Binder, new_name: str) -> tuple[str, int]:
    """Return the name and index of a variable after a binder got a new name."""
    names = [new_name if binder is target else binder.name for binder in scope]
    return names[node.level], names[node.level + 1 :].count(names[node.level])


def _print_variable(name: str, index: int) -> str:
    return print_variable(name) + (f"@{index}" if index else "")
