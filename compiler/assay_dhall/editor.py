"""Answer the questions of an editor about a place in a file: hovers, definitions, completions.

A place is a line and a column, both from 1. The text may differ from that of the file, and need not be an expression:
the scope of a completion is found from tokens alone. A binding belongs to it if the binding itself can be parsed, so
that errors elsewhere do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from assay_dhall.budget import apply_budget
from assay_dhall.errors import DhallError, Span, build_span
from assay_dhall.evaluate import evaluate
from assay_dhall.infer import Context
from assay_dhall.lexer import Token, iter_tokens
from assay_dhall.names import Binder, find_binder, find_binding, find_name_end
from assay_dhall.origin import ScopedNode, find_field_expression
from assay_dhall.parser import parse
from assay_dhall.printer import describe
from assay_dhall.session import Evaluator, Inspection, Module
from assay_dhall.syntax import KEYWORDS, Import, Let, Node, RecordLiteral, RecordType, Select, Source, Var, walk
from assay_dhall.values import Value, VConst, VRecord, VRecordType, VUnionType

_SELECTION = re.compile(r"\.\s*([A-Za-z0-9_/-]*|`[^`\n]*)\Z")
_OPENERS = {")": "(", "}": "{", "]": "[", ">": "<"}
_BRACKETS = frozenset(("(", "{", "[", "<", "${"))
_OWNERS = frozenset(("label", "quoted", ")", "}"))
_BEFORE_OPERANDS = frozenset(("", "=", "->", "in", "then", "else", "if", ":", ",", *_BRACKETS))


@dataclass(frozen=True, slots=True)
class Selection:
    """An unfinished selection: `start` and `end` are the offsets of the expression before the dot.

    `typed` is the written part of the name, which begins at `typed_start`. `scope` holds the `let ... in` and function
    heads around the expression, the outermost first.
    """

    start: int
    end: int
    typed: str
    typed_start: int
    scope: tuple[str, ...]


def find_selection(text: str, offset: int) -> Selection | None:
    """Return the selection that ends at an offset; None where there is none, or inside a comment or a text."""
    base = max(0, offset - 2_000)
    match = _SELECTION.search(text[base:offset])
    if match is None:
        return None
    head = Source("", text[: base + match.start()])
    outline = _Outline(head.text)
    end = 0
    try:
        for token in iter_tokens(head):
            outline.add(token)
            end = token.end
    except DhallError:
        return None
    if outline.previous not in _OWNERS or outline.operand < 0 or head.text[end:].strip():
        return None
    typed_start = base + match.start(1)
    return Selection(outline.operand, end, match[1].lstrip("`"), typed_start, outline.list_scope())


@dataclass(slots=True)
class _Frame:
    """An open bracket, an unfinished `let`, or the file.

    `scope` holds its bindings and function heads so far. `operand` is the offset of the current operand, `function`
    that of a function head before its arrow; each is -1 if there is none.
    """

    kind: str
    start: int
    scope: list[str] = field(default_factory=list)
    operand: int = -1
    function: int = -1


class _Outline:
    """The open frames after the tokens so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.frames = [_Frame("", 0)]
        self.previous = ""

    @property
    def operand(self) -> int:
        return self.frames[-1].operand

    def list_scope(self) -> tuple[str, ...]:
        """Return the bindings and function heads of all open frames that are expressions, the outermost first."""
        return tuple(item for frame in self.frames for item in frame.scope if _is_binder(item))

    def add(self, token: Token) -> None:
        """Go past a token."""
        kind, frame = token.kind, self.frames[-1]
        if kind in _BRACKETS:
            self._begin_operand(token.start)
            self.frames.append(_Frame("{" if kind == "${" else kind, token.start))
        elif kind in _OPENERS:
            self._close(_OPENERS[kind])
        elif kind == "let":
            self._begin_binding(token.start)
        elif kind == "in":
            self._end_binding(token.start)
        elif kind in (",", "|"):
            self._begin_item()
        elif kind == "\\":
            frame.function = token.start
        elif kind == "->":
            if frame.function >= 0:
                frame.scope.append(self.text[frame.function : token.end])
            frame.function = frame.operand = -1
        elif kind in ("label", "quoted", "piece", "path", "nat"):
            self._begin_operand(token.start)
        elif kind != ".":
            frame.operand = -1
        self.previous = kind

    def _begin_operand(self, start: int) -> None:
        if self.previous != ".":
            self.frames[-1].operand = start

    def _close(self, opener: str) -> None:
        """Leave the innermost bracket of a kind; ignore one that is not open."""
        for number in range(len(self.frames) - 1, 0, -1):
            if self.frames[number].kind == opener:
                del self.frames[number:]
                return

    def _begin_item(self) -> None:
        """Leave the frames that the previous item left open."""
        while len(self.frames) > 1 and self.frames[-1].kind == "let":
            self.frames.pop()
        frame = self.frames[-1]
        if frame.kind:
            frame.scope.clear()
        frame.operand = frame.function = -1

    def _begin_binding(self, start: int) -> None:
        if self.previous not in _BEFORE_OPERANDS:
            self._end_binding(start)
        self.frames.append(_Frame("let", start))

    def _end_binding(self, end: int) -> None:
        """Leave the innermost `let`, with brackets open in it, and add its binding to the scope around it.

        A binding with an open bracket cannot be parsed, so `list_scope` omits it.
        """
        number = next((n for n in range(len(self.frames) - 1, 0, -1) if self.frames[n].kind == "let"), 0)
        if number == 0:
            return
        binding = self.text[self.frames[number].start : end]
        del self.frames[number:]
        self.frames[-1].scope.append(f"{binding.rstrip(' ')} in ")
        self.frames[-1].operand = -1


def _is_binder(text: str) -> bool:
    """Return whether the text of a binding or function head can be parsed."""
    try:
        parse(Source("", f"{text} True"))
    except DhallError:
        return False
    return True


def join_scope(scope: Iterable[str]) -> str:
    """Return the scope of a selection as the beginning of an expression."""
    return "".join(f"{item} " for item in scope)


HOVER_DEPTH = 6
MAX_STEPS = 100
_SILENT = (KEYWORDS - {"merge", "toMap", "showConstructor", "Some"}) | frozenset((",", "=", ":", "|", "->", "\\"))
"""Tokens without a hover: the smallest expression around them is the large one that they join."""


@dataclass(frozen=True, slots=True)
class Hover:
    """The type of an expression, as text, the comment above its definition, and the expression's span."""

    type: str
    documentation: str
    span: Span


@dataclass(frozen=True, slots=True)
class Completion:
    """A name that may follow a dot: a field with its type and comment, or an alternative with that of its payload."""

    name: str
    type: str
    documentation: str = ""


def describe_at(evaluator: Evaluator, name: str, text: str, line: int, column: int) -> Hover | None:
    """Return the type and documentation of the smallest expression at a place, or of the name that is defined there."""
    inspection = _inspect(evaluator, name, text)
    if inspection is None:
        return None
    with apply_budget(evaluator.budget):
        subject = _find_subject(inspection, Source(name, text).get_offset(line, column))
        if subject is None:
            return None
        targets = tuple(_iter_targets(evaluator, inspection, subject))
        type_text = describe(subject.type, subject.context.names, HOVER_DEPTH)
        return Hover(type_text, _find_documentation(targets), build_span(*subject.target))


def find_definition(evaluator: Evaluator, name: str, text: str, line: int, column: int) -> Span | None:
    """Return where the name at a place is defined: a `let`, a parameter, a field, or an imported file.

    A field that only repeats another of the same name, such as `elapsed = M.elapsed`, leads to the other.
    """
    inspection = _inspect(evaluator, name, text)
    if inspection is None:
        return None
    with apply_budget(evaluator.budget):
        subject = _find_subject(inspection, Source(name, text).get_offset(line, column))
        if subject is None:
            return None
        targets = [target for target in _iter_targets(evaluator, inspection, subject) if target.is_definition]
        return build_span(targets[-1].source, targets[-1].start, targets[-1].end) if targets else None


def complete_at(evaluator: Evaluator, name: str, text: str, line: int, column: int) -> list[Completion]:
    """Return the names that may follow the dot before a place, sorted; each begins with the text after the dot."""
    offset = Source(name, text).get_offset(line, column)
    selection = find_selection(text, offset)
    if selection is None:
        return []
    for candidate, start, end in _make_candidates(text, selection, offset):
        inspection = _inspect(evaluator, name, candidate)
        entry = _find_between(inspection, start, end) if inspection else None
        if inspection is not None and entry is not None:
            with apply_budget(evaluator.budget):
                items = _list_names(evaluator, inspection, entry)
                return [item for item in items if item.name.lower().startswith(selection.typed.lower())]
    return []


def _inspect(evaluator: Evaluator, name: str, text: str) -> Inspection | None:
    try:
        return evaluator.inspect(name, text)
    except DhallError:
        return None


def _make_candidates(text: str, selection: Selection, offset: int) -> Iterator[tuple[str, int, int]]:
    """Yield texts without the dot, with the offsets of the start and end of the expression before it.

    The first is the text without the dot and the name after it. The second, for a text with other errors, is the
    expression within the bindings and functions around it.
    """
    rest = offset
    while rest < len(text) and (text[rest].isalnum() or text[rest] in "_/-`"):
        rest += 1
    yield text[: selection.end] + text[rest:], selection.start, selection.end
    scope = join_scope(selection.scope)
    candidate = scope + text[selection.start : selection.end]
    yield candidate, len(scope), len(candidate)


# Find the expression at a place.


Entry = tuple[Node, Value, Context]


@dataclass(frozen=True, slots=True)
class _Subject:
    """The expression at a place, or the expression that the name there is bound to, with its type."""

    node: Node
    type: Value
    context: Context
    target: tuple[Source, int, int]
    is_name: bool = False


def _find_subject(inspection: Inspection, offset: int) -> _Subject | None:
    """Return the name that is bound at an offset, else the smallest expression around it whose type is known."""
    source = inspection.node.source
    token = next((item for item in iter_tokens(source) if item.start <= offset < item.end), None)
    if token is None or token.kind in _SILENT:
        return None
    entries = [entry for entry in inspection.types if entry[0].source is source]
    bound = _find_bound(inspection.node, token.start)
    if bound is not None:
        node, is_type = bound
        target = source, token.start, token.end
        for entry_node, type_value, context in entries:
            if entry_node is node:
                bound_type = evaluate(node, context.env) if is_type else type_value
                return _Subject(node, bound_type, context, target, is_name=True)
        return None
    enclosing = [entry for entry in entries if entry[0].start <= offset < max(entry[0].end, entry[0].start + 1)]
    if not enclosing:
        return None
    node, type_value, context = min(enclosing, key=lambda entry: entry[0].end - entry[0].start)
    return _Subject(node, type_value, context, (source, node.start, node.end))


def _find_bound(root: Node, start: int) -> tuple[Node, bool] | None:
    """Return what a name that begins at an offset is bound to, and whether that is its type, not its value."""
    binder = find_binding(root, start)
    if binder is not None:
        return (binder.value, False) if isinstance(binder, Let) else (binder.domain, True)
    for node in walk(root):
        if isinstance(node, RecordLiteral | RecordType) and node.start <= start < node.end:
            for name, name_start in node.names.items():
                value = node.fields[name]
                if name_start == start and value.start != start:
                    return value, isinstance(node, RecordType)
    return None


def _find_between(inspection: Inspection, start: int, end: int) -> Entry | None:
    """Return the expression between two offsets, without the parentheses around it, which the tree does not have."""
    source = inspection.node.source
    while end > start and source.text[end - 1] in ") \n":
        end -= 1
    entries = [entry for entry in inspection.types if entry[0].source is source and start <= entry[0].start]
    ending = [entry for entry in entries if entry[0].end == end]
    return max(ending, key=lambda entry: entry[0].end - entry[0].start, default=None)


def _list_names(evaluator: Evaluator, inspection: Inspection, entry: Entry) -> list[Completion]:
    node, type_value, context = entry
    names = context.names
    if type(type_value) is VRecordType:
        owner = evaluate(node, context.env)
        completions = []
        for name, item in sorted(type_value.fields.items()):
            targets = tuple(_iter_field(evaluator, inspection, owner, name))
            completions.append(Completion(name, describe(item, names), _find_documentation(targets)))
        return completions
    if type(type_value) is VConst:
        union = evaluate(node, context.env)
        if type(union) is VUnionType:
            items = sorted(union.fields.items())
            return [Completion(name, "" if item is None else describe(item, names)) for name, item in items]
    return []


# Find definitions.


@dataclass(frozen=True, slots=True)
class _Target:
    """The place where a name is defined, or, without `is_definition`, a place that only documents it."""

    source: Source
    start: int
    end: int
    is_definition: bool = True
    is_file: bool = False


def _iter_targets(evaluator: Evaluator, inspection: Inspection, subject: _Subject) -> Iterator[_Target]:
    """Yield where the name of a subject is defined, then the definitions that this one repeats."""
    if subject.is_name:
        source, start, end = subject.target
        yield _Target(source, start, end)
        if isinstance(subject.node, Import):
            yield from _iter_import(subject.node, is_definition=False)
        return
    node, env = subject.node, subject.context.env
    if isinstance(node, Var):
        binder = find_binder(inspection.node, node)
        if binder is not None:
            yield _create_target(binder)
            if isinstance(binder, Let) and isinstance(binder.value, Import):
                yield from _iter_import(binder.value, is_definition=False)
    elif isinstance(node, Import):
        yield from _iter_import(node, is_definition=True)
    elif isinstance(node, Select):
        yield from _iter_field(evaluator, inspection, evaluate(node.value, env), node.name)


def _iter_import(node: Import, *, is_definition: bool) -> Iterator[_Target]:
    if isinstance(node.module, Module) and node.module.node is not None:
        yield _Target(node.module.node.source, 0, 0, is_definition, is_file=True)


def _create_target(binder: Binder) -> _Target:
    return _Target(binder.source, binder.name_start, find_name_end(binder.source, binder.name_start, binder.name))


def _iter_field(evaluator: Evaluator, inspection: Inspection, owner: Value, name: str) -> Iterator[_Target]:
    """Yield where a field of a record is defined, in any file, then the definitions that the field repeats."""
    for _ in range(MAX_STEPS):
        literal = find_literal(owner, name) if type(owner) is VRecord else None
        if type(owner) is not VRecord or literal is None or name not in literal.names:
            return
        start = literal.names[name]
        yield _Target(literal.source, start, find_name_end(literal.source, start, name))
        expression = find_field_expression(owner, name)
        selection = _find_alias(evaluator, inspection, expression, name) if expression else None
        if selection is None:
            return
        if isinstance(selection, _Target):
            yield selection
            return
        node, env = selection
        assert isinstance(node, Select)
        owner = evaluate(node.value, env)


def _find_alias(
    evaluator: Evaluator, inspection: Inspection, expression: ScopedNode, name: str
) -> ScopedNode | _Target | None:
    """Return the selection or the `let` that a field repeats: its value, if that has the name of the field."""
    node, env = expression
    if isinstance(node, Select) and node.name == name:
        return node, env
    if not isinstance(node, Var) or node.name != name:
        return None
    module = evaluator.modules.get(node.source.name)
    roots = [inspection.node, *([module.node] if module is not None and module.node is not None else [])]
    root = next((root for root in roots if root.source is node.source), None)
    binder = find_binder(root, node) if root is not None else None
    return _create_target(binder) if isinstance(binder, Let) else None


def find_literal(value: VRecord, name: str) -> RecordLiteral | None:
    """Return the literal that a field of a record comes from."""
    for _ in range(1_000):
        origin = value.origin
        if isinstance(origin, RecordLiteral):
            return origin if name in origin.fields else None
        if not isinstance(origin, tuple) or not isinstance(origin[0], VRecord):
            return None
        value = origin[0] if name in origin[0].fields else origin[1]
    return None


# Find comments.


def _find_documentation(targets: tuple[_Target, ...]) -> str:
    """Return the comment of an imported file, else that of the first definition that has one."""
    comments = [find_heading(target.source) for target in targets if target.is_file]
    comments += [find_comment(target.source, target.start) for target in targets if not target.is_file]
    return next((comment for comment in comments if comment), "")


def find_heading(source: Source) -> str:
    """Return the comment that a file begins with, without its marks."""
    first = next(iter_tokens(source), None)
    if first is None or not source.text.lstrip().startswith(("--", "{-")):
        return ""
    number = next((n for n in range(1, source.locate(first.start)[0]) if not source.get_line(n).strip()), 0)
    return find_comment(source, source.get_offset(number, 1) if number else first.start)


def find_comment(source: Source, offset: int) -> str:
    """Return the comment that ends on the line above a definition, without its marks."""
    number = source.locate(offset)[0] - 1
    lines: list[str] = []
    while number >= 1 and (line := source.get_line(number).strip().lstrip("{[<|, ")).startswith("--"):
        lines.insert(0, line.removeprefix("--").strip())
        number -= 1
    if lines or number < 1 or not source.get_line(number).rstrip().endswith("-}"):
        return "\n".join(lines)
    end = source.get_offset(number, 1) + len(source.get_line(number).rstrip())
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
    "find_heading",
]
