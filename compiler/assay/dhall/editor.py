"""What an editor asks about a place in a file: type, documentation, definition, completions.

A place is a line and a column, both from 1. The text may be another than the file's, and unfinished.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.dhall.budget import metered
from assay.dhall.errors import DhallError, Span, span_of
from assay.dhall.evaluate import evaluate
from assay.dhall.infer import Context
from assay.dhall.printer import describe
from assay.dhall.session import Evaluator, Inspection, Module
from assay.dhall.syntax import Import, Lambda, Let, Node, RecordLiteral, Select, Source, Var
from assay.dhall.values import Value, VConst, VRecord, VRecordType, VUnionType
from assay.dhall.walk import parts_of

_OWNER = re.compile(r"([A-Za-z_][A-Za-z0-9_/-]*(?:\s*\.\s*[A-Za-z_][A-Za-z0-9_/-]*)*|\)|\})\s*\.\s*([A-Za-z0-9_/-]*)\Z")
_BINDINGS = re.compile(r"\b(?:let|in)\s")
_REST = re.compile(r"[A-Za-z0-9_/-]*")
MAX_TRIES = 50
HOVER_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Hover:
    """The type of an expression, as text, the comment above its definition, and the expression's span."""

    type: str
    documentation: str
    span: Span


@dataclass(frozen=True, slots=True)
class Completion:
    """A name that may follow a dot: a field with its type, or an alternative with that of its payload."""

    name: str
    type: str


def describe_at(evaluator: Evaluator, name: str, text: str, line: int, column: int) -> Hover | None:
    """Return the type and documentation of the smallest expression at a place."""
    inspection = _inspect(evaluator, name, text)
    if inspection is None:
        return None
    with metered(evaluator.budget):
        entry = _find_smallest(inspection, _offset(inspection.node.source, line, column))
        if entry is None:
            return None
        node, type_value, context = entry
        target = _find_target(inspection, node, context)
        documentation = find_comment(target[0], target[1]) if target else ""
        type_text = describe(type_value, context.names, HOVER_DEPTH)
        return Hover(type_text, documentation, span_of(node.source, node.start, node.end))


def find_definition(evaluator: Evaluator, name: str, text: str, line: int, column: int) -> Span | None:
    """Return where the name at a place is defined: a `let`, a parameter, a field, or an imported file."""
    inspection = _inspect(evaluator, name, text)
    if inspection is None:
        return None
    with metered(evaluator.budget):
        entry = _find_smallest(inspection, _offset(inspection.node.source, line, column))
        target = _find_target(inspection, entry[0], entry[2]) if entry else None
        return span_of(*target) if target else None


def complete_at(evaluator: Evaluator, name: str, text: str, line: int, column: int) -> list[Completion]:
    """Return what may follow the dot before a place, sorted; what is typed after the dot narrows it."""
    offset = _offset(Source(name, text), line, column)
    match = _OWNER.search(text[max(0, offset - 2_000) : offset])
    if match is None:
        return []
    base = max(0, offset - 2_000)
    owner_start, owner_end, typed = base + match.start(1), base + match.end(1), match[2]
    rest = _REST.match(text, offset)
    for candidate, end in _make_candidates(text, owner_start, owner_end, rest.end() if rest else offset):
        inspection = _inspect(evaluator, name, candidate)
        entry = _find_ending_at(inspection, end) if inspection else None
        if entry is not None:
            with metered(evaluator.budget):
                return [item for item in _list_names(*entry) if item.name.lower().startswith(typed.lower())]
    return []


def _offset(source: Source, line: int, column: int) -> int:
    return source.offset(line, column)


def _inspect(evaluator: Evaluator, name: str, text: str) -> Inspection | None:
    try:
        return evaluator.inspect(name, text)
    except DhallError:
        return None


def _make_candidates(text: str, start: int, end: int, offset: int) -> Iterator[tuple[str, int]]:
    """Yield texts in which the expression before the dot stands by itself, and where it ends in them.

    First the text without the dot and what is typed after it; then, for a text that has other gaps, the bindings
    above, fewer and fewer, with that expression as their body.
    """
    yield text[:end] + text[offset:], end
    owner = text[start:end]
    if owner in (")", "}"):
        return
    cuts = [match.start() for match in _BINDINGS.finditer(text, 0, start)]
    for cut in list(reversed(cuts))[:MAX_TRIES]:
        head = text[:cut].rstrip()
        candidate = f"{head}\nin {owner}" if head else owner
        yield candidate, len(candidate)


Entry = tuple[Node, Value, Context]


def _find_smallest(inspection: Inspection, offset: int) -> Entry | None:
    """Return the smallest expression around an offset whose type is known."""
    source = inspection.node.source
    around = [entry for entry in inspection.types if entry[0].source is source and _contains(entry[0], offset)]
    return min(around, key=lambda entry: entry[0].end - entry[0].start, default=None)


def _contains(node: Node, offset: int) -> bool:
    return node.start <= offset < max(node.end, node.start + 1)


def _find_ending_at(inspection: Inspection, end: int) -> Entry | None:
    """Return the largest expression without an operator that ends at an offset."""
    source = inspection.node.source
    entries = [
        entry
        for entry in inspection.types
        if entry[0].source is source and entry[0].end == end and isinstance(entry[0], Var | Select | RecordLiteral)
    ]
    return max(entries, key=lambda entry: entry[0].end - entry[0].start, default=None)


def _list_names(node: Node, type_value: Value, context: Context) -> list[Completion]:
    names = context.names
    if type(type_value) is VRecordType:
        return [Completion(name, describe(item, names)) for name, item in sorted(type_value.fields.items())]
    if type(type_value) is VConst:
        union = evaluate(node, context.env)
        if type(union) is VUnionType:
            items = sorted(union.fields.items())
            return [Completion(name, "" if item is None else describe(item, names)) for name, item in items]
    return []


Target = tuple[Source, int, int]


def _find_target(inspection: Inspection, node: Node, context: Context) -> Target | None:
    if isinstance(node, Var):
        return _find_binder(inspection.node, node)
    if isinstance(node, Select):
        return find_field(node, context)
    if isinstance(node, Import) and isinstance(node.module, Module) and node.module.node is not None:
        return node.module.node.source, 0, 0
    return None


def _find_binder(root: Node, variable: Var) -> Target | None:
    """Return where the name of a variable is bound: the binder of its level on the way from the root to it."""
    node, level = root, 0
    while node is not variable:
        following = next((part for part in parts_of(node) if part.start <= variable.start < part.end), None)
        if following is None:
            return None
        if isinstance(node, Let) and variable.start >= node.body.start:
            following = node.body
        if isinstance(node, Let | Lambda) and following is node.body and level == variable.level:
            return node.source, node.name_start, node.name_start + len(node.name)
        level += hasattr(node, "body") and following is node.body
        node = following
    return None


def find_field(node: Select, context: Context) -> Target | None:
    """Return where the field that is selected was named in a record literal, in whatever file."""
    owner = evaluate(node.value, context.env)
    literal = find_literal(owner, node.name) if type(owner) is VRecord else None
    if literal is None or node.name not in literal.names:
        return None
    start = literal.names[node.name]
    return literal.source, start, start + len(node.name)


def find_literal(value: VRecord, name: str) -> RecordLiteral | None:
    """Return the literal that a field of a record comes from."""
    for _ in range(1_000):
        origin: Any = value.origin
        if isinstance(origin, RecordLiteral):
            return origin if name in origin.fields else None
        if not isinstance(origin, tuple) or not isinstance(origin[0], VRecord):
            return None
        value = origin[0] if name in origin[0].fields else origin[1]
    return None


def find_comment(source: Source, offset: int) -> str:
    """Return the comment that ends on the line above a definition, without its marks."""
    number = source.locate(offset)[0] - 1
    lines: list[str] = []
    while number >= 1 and (line := source.line(number).strip().lstrip("{[<|, ")).startswith("--"):
        lines.insert(0, line.removeprefix("--").strip())
        number -= 1
    if lines or number < 1 or not source.line(number).rstrip().endswith("-}"):
        return "\n".join(lines)
    end = source.offset(number, 1) + len(source.line(number).rstrip())
    start = source.text.rfind("{-", 0, end)
    block = source.text[start:end].removeprefix("{-").removeprefix("|").removesuffix("-}")
    return "\n".join(line.strip() for line in block.strip().splitlines())


__all__ = [
    "Completion",
    "Hover",
    "complete_at",
    "describe_at",
    "find_comment",
    "find_definition",
]
