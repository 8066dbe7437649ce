"""Parse expressions: recursive descent, operators by precedence, in time linear in the length of the text.

Nesting is limited, so that neither the parser nor walks over its trees overflow the stack.
"""

from __future__ import annotations

from assay_dhall.literals import parse_target
from assay_dhall.primitives import PrimitiveParser
from assay_dhall.syntax import (
    Annotation,
    Apply,
    Assert,
    Complete,
    Fallback,
    If,
    Import,
    Lambda,
    Let,
    Merge,
    Node,
    Operation,
    Pi,
    Project,
    ProjectType,
    Select,
    ShowConstructor,
    SomeLiteral,
    Source,
    ToMap,
    With,
)

PRECEDENCE = {
    "===": 1, "?": 2, "||": 3, "+": 4, "++": 5, "#": 6, "&&": 7, "/\\": 8, "//": 9, "//\\\\": 10, "*": 11, "==": 12,
    "!=": 13,
}  # fmt: skip
_OPERAND_KINDS = "path url env temporal double bytes int nat label quoted multi text ( { [ < missing Infinity NaN"
_OPERANDS = frozenset(_OPERAND_KINDS.split())
_IMPORTS = frozenset(("path", "url", "env", "missing"))
_PREFIXED = frozenset(("merge", "Some", "toMap", "showConstructor"))


def parse(source: Source) -> Node:
    """Return the expression of a file; raise `DhallError` with one problem."""
    return Parser(source).read_whole()


class Parser(PrimitiveParser):
    """The parser of whole expressions."""

    def read_whole(self) -> Node:
        """Read the expression of the whole file."""
        node = self.read_expression()
        if self.kind != "end":
            self.refuse("an operator or the end of the file")
        return node

    # Expressions, from the loosest to the tightest.

    def read_expression(self) -> Node:
        """Read an expression, including its operators."""
        self.depth += 1
        if self.depth > self.deepest:
            self._check_depth(self.depth)
        read = _READERS.get(self.kind)
        node = self._read_operation() if read is None else read(self)
        self.depth -= 1
        return node

    def _read_let(self) -> Node:
        bindings = []
        while self.kind == "let":
            start = self.start
            outer, self.deepest = self.deepest, self.depth
            self.take_spaced("let")
            name_start, name = self.start, self._read_bound_name()
            annotation = None
            if self.kind == ":":
                self.take_spaced(":")
                annotation = self.read_expression()
            if self.kind != "=":
                self.refuse("`=`" if annotation else "`:` or `=`")
            self.advance()
            value = self.read_expression()
            if self.kind not in ("let", "in"):
                self.refuse("an operator, `let` or `in`")
            if not self.has_space:
                self.fail(f"a space is needed before `{self.kind}`")
            height, self.deepest = self.deepest - self.depth + 1, max(outer, self.deepest)
            self._bind(name)
            bindings.append((start, name, annotation, value, name_start, height))
        self.take_spaced("in")
        body = self.read_expression()
        for start, name, annotation, value, name_start, height in reversed(bindings):
            self._unbind(name)
            body = Let(self.source, start, self.previous_end, name, annotation, value, body, name_start, height)
        return body

    def _read_function(self) -> Node:
        start, kind = self.start, self.kind
        self.advance()
        self.open_bracket("(", self.start)
        self.take("(")
        name_start, name = self.start, self._read_bound_name()
        self.take_spaced(":")
        domain = self.read_expression()
        self.close_bracket()
        self.take("->")
        outer, self.deepest = self.deepest, self.depth
        self._bind(name)
        body = self.read_expression()
        self._unbind(name)
        height, self.deepest = self.deepest - self.depth + 1, max(outer, self.deepest)
        if kind == "\\":
            cost = 1 + (body.end - body.start) // 64
            return Lambda(self.source, start, self.previous_end, name, domain, body, height, name_start, cost)
        return Pi(self.source, start, self.previous_end, name, domain, body, name_start)

    def _read_if(self) -> Node:
        start = self.start
        self.take_spaced("if")
        condition = self.read_expression()
        if self.kind != "then":
            self.refuse("an operator or `then`")
        self.take_spaced("then")
        positive = self.read_expression()
        if self.kind != "else":
            self.refuse("an operator or `else`")
        self.take_spaced("else")
        negative = self.read_expression()
        return If(self.source, start, self.previous_end, condition, positive, negative)

    def _read_assert(self) -> Node:
        start = self.start
        self.advance()
        self.take_spaced(":")
        annotation = self.read_expression()
        return Assert(self.source, start, self.previous_end, annotation)

    def _read_operation(self) -> Node:
        start = self.start
        node = self._read_operators(1)
        if self.kind == "with":
            return self._read_with(start, node)
        if self.kind == "->":
            self.advance()
            self._bind("_")
            body = self.read_expression()
            self._unbind("_")
            return Pi(self.source, start, self.previous_end, "_", node, body)
        if self.kind == ":":
            self.take_spaced(":")
            annotation = self.read_expression()
            if isinstance(node, Merge | ToMap) and node.start == start and node.annotation is None:
                node.annotation, node.end = annotation, self.previous_end
                return node
            return Annotation(self.source, start, self.previous_end, node, annotation)
        return node

    def _read_with(self, start: int, node: Node) -> Node:
        if not self.is_plain or not self.has_space:
            self.fail("`with` follows a single expression", hint="put what is before `with` into parentheses")
        count = 0
        while self.kind == "with":
            self.take_spaced("with")
            path = [self._read_path_component()]
            while self.kind == ".":
                self.advance()
                path.append(self._read_path_component())
            self.take("=")
            update = self._read_operators(1)
            node = With(self.source, start, self.previous_end, node, path, update)
            count += 1
            self._check_depth(self.depth + count)
        return node

    def _read_path_component(self) -> str | None:
        if self.kind == "?":
            self.advance()
            return None
        return self._read_name()

    def _read_operators(self, least: int) -> Node:
        start = self.start
        left = self._read_application()
        count = 0
        while True:
            operator = self.kind
            precedence = PRECEDENCE.get(operator)
            if precedence is None or precedence < least:
                return left
            self.advance()
            if operator in "+?" and not self.has_space and self.kind != "end":
                self.fail(f"a space is needed after `{operator}`", self.previous_end - 1)
            right = self._read_operators(precedence + 1)
            if operator == "?":
                self.has_fallback = True
                left = Fallback(self.source, start, self.previous_end, left, right)
            else:
                left = Operation(self.source, start, self.previous_end, operator, left, right)
            self.is_plain = False
            count += 1
            self._check_depth(self.depth + count)

    def _read_application(self) -> Node:
        start = self.start
        is_plain = self.kind not in _PREFIXED
        node = self._read_operand() if is_plain else self._read_prefixed()
        count = 0
        while self.kind in _OPERANDS:
            if not self.has_space:
                hint = 'the text may lack its beginning `"`' if self.kind == "text" else ""
                self.fail("a space is needed between a function and its argument", self.start, hint=hint)
            is_plain = False
            argument = self._read_operand()
            node = Apply(self.source, start, self.previous_end, node, argument)
            count += 1
            self._check_depth(self.depth + count)
        self.is_plain = is_plain
        return node

    def _read_prefixed(self) -> Node:
        start, kind = self.start, self.kind
        self.take_spaced(kind)
        value = self._read_operand()
        if kind == "merge":
            if self.kind not in _OPERANDS:
                self.refuse("the second argument of `merge`")
            if not self.has_space:
                self.fail("a space is needed between the arguments of `merge`")
            union = self._read_operand()
            return Merge(self.source, start, self.previous_end, value, union, None)
        if kind == "Some":
            return SomeLiteral(self.source, start, self.previous_end, value)
        if kind == "toMap":
            return ToMap(self.source, start, self.previous_end, value, None)
        return ShowConstructor(self.source, start, self.previous_end, value)

    def _read_operand(self) -> Node:
        if self.kind in _IMPORTS:
            return self._read_import()
        node = self._read_selection()
        if self.kind == "::":
            start = node.start
            self.advance()
            value = self._read_selection()
            return Complete(self.source, start, self.previous_end, node, value)
        return node

    def _read_import(self) -> Node:
        start, kind, target = self.start, self.kind, parse_target(self.kind, self.token)
        end = self.position
        self.advance()
        headers, digest, mode = None, "", "Code"
        if kind == "url" and self.kind == "using":
            self.take_spaced("using")
            headers = self._read_operand()
            end = self.previous_end
        if self.kind == "sha" and self.has_space:
            digest, end = self.token[7:].lower(), self.position
            self.advance()
        if self.kind == "as":
            self.take_spaced("as")
            mode, end = self.token, self.position
            if mode not in ("Text", "Location", "Bytes"):
                self.refuse("`Text`, `Bytes` or `Location`")
            self.advance()
        node = Import(self.source, start, end, target, mode, digest, headers)
        self.imports.append(node)
        return node

    def _read_selection(self) -> Node:
        start = self.start
        node = self._read_primitive()
        count = 0
        while self.kind == ".":
            self.advance()
            node = self._read_selector(start, node)
            count += 1
            self._check_depth(self.depth + count)
        return node

    def _read_selector(self, start: int, node: Node) -> Node:
        if self.kind == "{":
            names = self._read_projected_names()
            return Project(self.source, start, self.previous_end, node, names)
        if self.kind == "(":
            self.open_bracket("(", self.start)
            self.advance()
            type_node = self.read_expression()
            self.close_bracket()
            return ProjectType(self.source, start, self.previous_end, node, type_node)
        name_start = self.start
        name = self._read_name("the name of a field")
        return Select(self.source, start, self.previous_end, node, name, name_start)

    def _read_projected_names(self) -> list[str]:
        names = []
        self.open_bracket("{", self.start)
        self.advance()
        if self.kind == ",":
            self.advance()
        while self.kind != "}":
            names.append(self._read_name())
            self._take_separator(",", "}")
        self.close_bracket()
        return names

    def _read_empty_list(self) -> Node:
        """Read an expression that begins with `[`: `[] : T` is a whole expression, other lists are operands."""
        state = self.save()
        self.advance()
        if self.kind == ",":
            self.advance()
        is_empty = self.kind == "]"
        self.restore(state)
        return self._read_list(can_be_empty=True) if is_empty else self._read_operation()


_READERS = {
    "let": Parser._read_let,
    "\\": Parser._read_function,
    "forall": Parser._read_function,
    "if": Parser._read_if,
    "assert": Parser._read_assert,
    "[": Parser._read_empty_list,
}
