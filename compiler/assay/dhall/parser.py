"""The parser: recursive descent with precedence climbing, linear in the text.

Variables become levels here: each knows how many binders are outside its own, so that an environment is a tuple.
"""

from __future__ import annotations

from assay.dhall.brackets import EMPTY_LIST, LAST_NAME, parse_list, parse_projection, parse_record, parse_union
from assay.dhall.errors import DhallError
from assay.dhall.lexer import Lexer
from assay.dhall.literals import parse_import_target, parse_lines_text, parse_number, parse_quoted_text, parse_temporal
from assay.dhall.syntax import (
    BUILTINS,
    Alternative,
    Ann,
    App,
    Assert,
    Builtin,
    Complete,
    If,
    Import,
    Lam,
    Let,
    ListLit,
    Lit,
    Merge,
    Node,
    Op,
    Pi,
    ProjectType,
    Rec,
    Select,
    ShowConstructor,
    SomeLit,
    Source,
    ToMap,
    Var,
    With,
)

MAX_NESTING = 500
MAX_CHAIN = 2_000
PRECEDENCE = {
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
_STARTS = frozenset(
    [
        "path",
        "url",
        "env",
        "date",
        "double",
        "bytes",
        "int",
        "nat",
        "label",
        "quoted",
        "multi",
        "text",
        "(",
        "{",
        "[",
        "<",
        "missing",
        "Infinity",
        "NaN",
    ]
)
_IMPORTS = frozenset(("path", "url", "env", "missing"))
_WORDS = frozenset(("merge", "Some", "toMap", "showConstructor"))
_LITERALS = frozenset(("nat", "int", "double", "Infinity", "NaN", "bytes", "date"))


def parse(file: Source) -> tuple[Node, list[Import | Alternative]]:
    """Parse a file: its expression, and the imports in it in their order."""
    parser = Parser(file)
    return parser.parse_whole(), parser.imports


class Parser(Lexer):
    """A parser of one file."""

    __slots__ = ("depth", "imports", "is_single", "levels", "scope")

    def __init__(self, file: Source) -> None:
        self.scope: dict[str, list[int]] = {}
        self.levels = self.depth = 0
        self.imports: list[Import | Alternative] = []
        self.is_single = False  # whether the operand just parsed is one that `with` may follow
        super().__init__(file)

    def parse_whole(self) -> Node:
        """Parse the whole text."""
        expression = self.parse_expression()
        if self.kind != "end":
            raise self.refuse("the end of the file or an operator")
        return expression

    def take(self, kind: str, expected: str | None = None, hint: str = "") -> None:
        """Go past a token that must be here."""
        if self.kind != kind:
            raise self.refuse(expected or f"`{kind}`", hint)
        self.advance()

    def take_spaced(self, kind: str, expected: str | None = None, hint: str = "") -> None:
        """Go past a token after which a space must be."""
        self.take(kind, expected, hint)
        if not self.space and self.kind != "end":
            hint = "a colon is followed by a space" if kind == ":" else f"`{kind}` is followed by a space"
            raise self.fail(f"a space is missing after `{kind}`", self.start, self.next, "a space", hint)

    def take_label(self, expected: str = "a name", allow_some: bool = True) -> str:
        """Go past a name and give it, without its backticks."""
        if self.kind == "label":
            name = self.token
        elif self.kind == "quoted":
            name = self.token[1:-1]
        elif allow_some and self.kind == "Some":
            name = "Some"
        else:
            raise self.refuse(expected)
        self.advance()
        return name

    def _take_bound(self) -> str:
        if self.kind == "label" and self.token in BUILTINS:
            raise self.refuse(hint=f"`{self.token}` is a reserved word: as a name it is written in backticks")
        return self.take_label("a name", allow_some=False)

    def _bind(self, name: str) -> None:
        self.scope.setdefault(name, []).append(self.levels)
        self.levels += 1

    def _unbind(self, name: str) -> None:
        self.scope[name].pop()
        self.levels -= 1

    def open_bracket(self) -> None:
        """Go past an opening bracket, and remember it."""
        self.open.append((self.kind, self.start))
        self.advance()

    def close_bracket(self, kind: str, expected: str, hint: str = "") -> None:
        """Go past the closing bracket that must be here."""
        if self.kind != kind:
            raise self.refuse(expected, hint)
        self.open.pop()
        self.advance()

    def parse_expression(self) -> Node:
        """Parse an expression of any kind."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            message = f"expressions are nested more than {MAX_NESTING} deep"
            raise self.fail(message, self.start, self.next, hint="give inner parts a name with `let`")
        kind = self.kind
        if kind == "let":
            expression = self._parse_let()
        elif kind in ("\\", "forall"):
            expression = self._parse_function()
        elif kind == "if":
            expression = self._parse_if()
        elif kind == "assert":
            start = self.start
            self.advance()
            self.take_spaced(":")
            annotation = self.parse_expression()
            expression = Assert(self.file, start, self.before, annotation)
        else:
            expression = (self._parse_empty_list() if kind == "[" else None) or self._parse_annotated()
        self.depth -= 1
        return expression

    def _parse_annotated(self) -> Node:
        start, file = self.start, self.file
        expression = self.parse_operators(1)
        if self.kind == "with" and self.is_single and self.space:
            return self._parse_changes(start, expression)
        if self.kind == "->":
            self.advance()
            self._bind("_")
            body = self.parse_expression()
            self._unbind("_")
            return Pi(file, start, self.before, "_", expression, body)
        if self.kind == ":":
            self.take_spaced(":")
            annotation = self.parse_expression()
            if isinstance(expression, (Merge, ToMap)) and expression.annotation is None and expression.start == start:
                expression.annotation, expression.end = annotation, self.before
                return expression
            return Ann(file, start, self.before, expression, annotation)
        return expression

    def _parse_let(self) -> Node:
        bindings: list[tuple[str, Node | None, Node, int, int]] = []
        while self.kind == "let":
            start = self.start
            self.take_spaced("let")
            name_start, annotation = self.start, None
            name = self._take_bound()
            if self.kind == ":":
                self.take_spaced(":")
                annotation = self.parse_expression()
            self.take("=", "`=` or `:`" if annotation is None else "`=` or an operator")
            value = self.parse_expression()
            self._bind(name)
            bindings.append((name, annotation, value, start, name_start))
            if len(bindings) > MAX_CHAIN:
                raise self.fail(f"more than {MAX_CHAIN} `let` follow each other", self.start, self.next)
            if self.kind in ("let", "in") and not self.space:
                raise self.fail(f"a space is missing before `{self.kind}`", self.start, self.next)
        self.take_spaced("in", "`in` or an operator", self._hint_let())
        body = self.parse_expression()
        for name, annotation, value, start, name_start in reversed(bindings):
            self._unbind(name)
            body = Let(self.file, start, self.before, name, annotation, value, body, name_start)
        return body

    def _hint_let(self) -> str:
        if self.kind == "end":
            return "" if self.open else "a `let` needs `in` and the value after it"
        name = LAST_NAME.search(self.text, max(0, self.start - 80), self.start)
        return f"`let` may be missing before `{name[1]}`" if self.kind == "=" and name else ""

    def _parse_function(self) -> Node:
        start, kind = self.start, self.kind
        self.advance()
        if self.kind != "(":
            raise self.refuse("`(`", "the argument of a function is written `(name : Type)`")
        self.open_bracket()
        name = self._take_bound()
        self.take_spaced(":")
        domain = self.parse_expression()
        self.close_bracket(")", "`)` or an operator")
        self.take("->")
        self._bind(name)
        body = self.parse_expression()
        self._unbind(name)
        return (Lam if kind == "\\" else Pi)(self.file, start, self.before, name, domain, body)

    def _parse_if(self) -> Node:
        start, hint = self.start, "an `if` needs both `then` and `else`"
        self.take_spaced("if")
        condition = self.parse_expression()
        self.take_spaced("then", "`then` or an operator", hint if self.kind == "end" else "")
        then = self.parse_expression()
        self.take_spaced("else", "`else` or an operator", hint)
        other = self.parse_expression()
        return If(self.file, start, self.before, condition, then, other)

    def _parse_empty_list(self) -> Node | None:
        """Parse `[] : T`; nothing, and no step forward, when the list has items."""
        start, state = self.start, self.save()
        self.advance()
        if self.kind == ",":
            self.advance()
        if self.kind != "]":
            self.restore(state)
            return None
        place = self.start
        self.advance()
        if self.kind != ":":
            raise self.fail("unexpected `]`", place, place + 1, "an expression", EMPTY_LIST)
        self.take_spaced(":")
        annotation = self.parse_expression()
        return ListLit(self.file, start, self.before, [], annotation)

    def parse_operators(self, least: int) -> Node:
        """Parse operands joined by operators that bind at least as tightly."""
        start, mark, count = self.start, len(self.imports), 0
        left = self._parse_application()
        while True:
            op, place = self.kind, self.start
            precedence = PRECEDENCE.get(op)
            if precedence is None or precedence < least:
                return left
            count += 1
            if count > MAX_CHAIN:
                raise self.fail(f"more than {MAX_CHAIN} operators follow each other", place, self.next)
            self.advance()
            if op in "+?" and not self.space and self.kind != "end":
                raise self.fail(f"a space is missing after `{op}`", self.start, self.next)
            middle = len(self.imports)
            right = self.parse_operators(precedence + 1)
            left = Op(self.file, start, self.before, op, left, right, place)
            self.is_single = False
            if op == "?":
                self.imports[mark:] = [Alternative(left, self.imports[mark:middle], self.imports[middle:])]

    def _parse_application(self) -> Node:
        start, kind = self.start, self.kind
        node = self._parse_word() if kind in _WORDS else self._parse_import()
        count = 0
        while self.kind in _STARTS:
            count += 1
            if not self.space:
                if self.kind == "text" and '"' not in self.text[self.next :].partition("\n")[0]:
                    raise self.refuse_endless_text(self.start)
                hint = "a comma or an operator may be missing" if self.open else ""
                raise self.fail(f"a space is missing before `{self.token}`", self.start, self.next, "a space", hint)
            if count > MAX_CHAIN:
                raise self.fail(f"more than {MAX_CHAIN} arguments follow each other", self.start, self.next)
            argument = self._parse_import()
            node = App(self.file, start, self.before, node, argument)
        self.is_single = count == 0 and kind not in _WORDS
        return node

    def _parse_word(self) -> Node:
        start, word = self.start, self.kind
        self.take_spaced(word)
        first = self._parse_import()
        if word == "Some":
            return SomeLit(self.file, start, self.before, first)
        if word == "toMap":
            return ToMap(self.file, start, self.before, first, None)
        if word == "showConstructor":
            return ShowConstructor(self.file, start, self.before, first)
        if not self.space:
            raise self.fail(
                "a space is missing between the arguments of `merge`", self.start, max(self.next, self.start + 1)
            )
        union = self._parse_import()
        return Merge(self.file, start, self.before, first, union, None)

    def _parse_changes(self, start: int, node: Node) -> Node:
        for _ in range(MAX_CHAIN):
            if self.kind != "with":
                return node
            node = self._parse_with(start, node)
        raise self.fail(f"more than {MAX_CHAIN} `with` follow each other", self.start, self.next)

    def _parse_with(self, start: int, value: Node) -> Node:
        self.take_spaced("with")
        path: list[str | None] = []
        places: list[int] = []
        while True:
            places.append(self.start)
            if self.kind == "?":
                self.advance()
                path.append(None)
            else:
                path.append(self.take_label("the name of a field or `?`"))
            if self.kind != ".":
                break
            self.advance()
        self.take("=", "`=` or `.`")
        new = self.parse_operators(1)
        return With(self.file, start, self.before, value, path, new, places)

    def _parse_import(self) -> Node:
        """Parse an import, a completion `T::r`, or what binds more tightly."""
        start = self.start
        if self.kind in _IMPORTS:
            return self._parse_import_of_file(start)
        node = self._parse_selection()
        if self.kind == "::":
            self.advance()
            value = self._parse_selection()
            return Complete(self.file, start, self.before, node, value)
        return node

    def _parse_import_of_file(self, start: int) -> Node:
        kind, token, sha256, mode, headers = self.kind, self.token, None, "Code", None
        try:
            target = parse_import_target(kind, token)
        except ValueError as error:
            raise self.fail(str(error), start, self.next) from None
        self.advance()
        if kind == "url" and self.kind == "using":
            self.take_spaced("using")
            headers = self._parse_import()
        if self.kind == "sha":
            if not self.space:
                raise self.fail("a space is missing before the hash", self.start, self.next)
            sha256 = self.token[7:].lower()
            self.advance()
        if self.kind == "as":
            self.take_spaced("as")
            if self.token not in ("Text", "Bytes", "Location"):
                raise self.refuse("`Text`, `Bytes` or `Location`")
            mode = self.token
            self.advance()
        node = Import(self.file, start, self.before, target, mode, sha256, headers)
        self.imports.append(node)
        return node

    def _parse_selection(self) -> Node:
        start = self.start
        node = self.parse_primitive()
        count = 0
        while self.kind == ".":
            self.advance()
            count += 1
            if count > MAX_CHAIN:
                raise self.fail(f"more than {MAX_CHAIN} selections follow each other", self.start, self.next)
            if self.kind == "{":
                node = parse_projection(self, start, node)
            elif self.kind == "(":
                self.open_bracket()
                wanted = self.parse_expression()
                self.close_bracket(")", "`)` or an operator")
                node = ProjectType(self.file, start, self.before, node, wanted)
            else:
                place = self.start
                name = self.take_label("the name of a field")
                node = Select(self.file, start, self.before, node, name, place)
        return node

    def parse_primitive(self) -> Node:
        """Parse a name, a literal, or an expression in brackets."""
        start, kind = self.start, self.kind
        if kind == "label" or kind == "quoted":
            return self._parse_name(start)
        if kind == "text":
            return parse_quoted_text(self, start)
        if kind == "{":
            return parse_record(self, start)
        if kind == "(":
            self.open_bracket()
            expression = self.parse_expression()
            self.close_bracket(")", "`)` or an operator")
            return expression
        if kind == "[":
            return parse_list(self, start)
        if kind == "<":
            return parse_union(self, start)
        if kind == "multi":
            return parse_lines_text(self, start)
        if kind in _LITERALS:
            return self._parse_literal(start)
        raise self.refuse("an expression")

    def _parse_name(self, start: int) -> Node:
        token, kind = self.token, self.kind
        self.advance()
        if kind == "label" and token in BUILTINS:
            return Builtin(self.file, start, self.before, token)
        name, index = token if kind == "label" else token[1:-1], 0
        end = self.before
        if self.kind == "@":
            self.advance()
            if self.kind != "nat":
                raise self.refuse("the number of bindings of that name to skip")
            index = int(self.token[:18], 0)
            self.advance()
            end = self.before
        return self.make_variable(start, end, name, index)

    def make_variable(self, start: int, end: int, name: str, index: int) -> Var:
        """Give a variable the level of its binder."""
        stack = self.scope.get(name, ())
        if index < len(stack):
            return Var(self.file, start, end, name, index, stack[-1 - index])
        names = tuple(each for each, levels in self.scope.items() if levels)
        return Var(self.file, start, end, name, index, None, index - len(stack), names)

    def _parse_literal(self, start: int) -> Node:
        try:
            value = parse_temporal(self.token) if self.kind == "date" else parse_number(self.kind, self.token)
        except ValueError as error:
            raise self.fail(str(error), start, self.next) from None
        self.advance()
        if isinstance(value, dict):
            fields: dict[str, Node] = {name: Lit(self.file, start, self.before, item) for name, item in value.items()}
            return Rec(self.file, start, self.before, fields, dict.fromkeys(fields, start))
        return Lit(self.file, start, self.before, value)

    def parse_interpolation(self, position: int) -> tuple[Node, int]:
        """Parse what follows `${`: the expression, and the offset behind its `}`."""
        begin = position
        self.next = position
        self.open.append(("{", begin - 1))
        try:
            self.advance()
            expression = self.parse_expression()
            if self.kind != "}":
                raise self.refuse("`}` or an operator")
        except DhallError as error:
            raise self._explain_interpolation(error) from None
        self.open.pop()
        return expression, self.next

    def _explain_interpolation(self, error: DhallError) -> DhallError:
        (item,) = error.diagnostics
        if item.hint or item.span is None or self.open[-1][0] != "{":
            return error
        hint = "for the characters `${` themselves write `\\${`, or `''${` in a text of several lines"
        return self.fail(item.message, item.span.start, item.span.end, item.expected, hint, item.notes)
