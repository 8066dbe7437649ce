"""Parse primitive expressions: names, literals, and expressions in brackets."""

from __future__ import annotations

from typing import NoReturn

from assay_dhall.literals import LiteralLexer
from assay_dhall.syntax import (
    BUILTINS,
    KEYWORDS,
    Builtin,
    Import,
    ListLiteral,
    Literal,
    Node,
    Operation,
    RecordLiteral,
    RecordType,
    Source,
    UnionType,
    Var,
)

MAX_DEPTH = 1_000
MAX_NAMES = 1_000


class PrimitiveParser(LiteralLexer):
    """Parses primitive expressions; `scope` maps names to the levels of their binders, innermost last."""

    def __init__(self, source: Source) -> None:
        self.scope: dict[str, list[int]] = {}
        self.levels = 0
        self.depth = 0
        self.deepest = 0
        self.is_plain = False
        self.imports: list[Import] = []
        self.has_fallback = False
        super().__init__(source)

    def _check_depth(self, depth: int) -> None:
        """Refuse a depth that is too large; keep the largest in `deepest`."""
        if depth > MAX_DEPTH:
            self.fail(f"expressions are nested more than {MAX_DEPTH:,} deep", hint="give parts of it names with `let`")
        if depth > self.deepest:
            self.deepest = depth

    def _take_separator(self, separator: str, closer: str, expected: str = "") -> None:
        """Go past a separator, unless the closing bracket follows."""
        if self.kind == separator:
            self.advance()
        elif self.kind != closer:
            self.refuse(expected or f"`{separator}` or `{closer}`")

    def _read_primitive(self) -> Node:
        read = _PRIMITIVES.get(self.kind)
        if read is None:
            self._refuse_operand()
        return read(self)

    def _refuse_operand(self) -> NoReturn:
        if self.kind in KEYWORDS and self.kind not in ("then", "else", "in", "as", "using", "with"):
            self.fail(f"`{self.token}` needs parentheses here", expected="an expression")
        self.refuse("an expression")

    def _read_variable(self) -> Node:
        start, token = self.start, self.token
        is_quoted = self.kind == "quoted"
        self.advance()
        name = token[1:-1] if is_quoted else token
        if not is_quoted and name in BUILTINS:
            return Builtin(self.source, start, self.previous_end, name)
        index = 0
        if self.kind == "@":
            self.advance()
            if self.kind != "nat":
                self.refuse("a number")
            index = self.to_natural(self.token)
            self.advance()
        return self._create_variable(start, self.previous_end, name, index)

    def _create_variable(self, start: int, end: int, name: str, index: int) -> Var:
        levels = self.scope.get(name) or []
        if index < len(levels):
            return Var(self.source, start, end, name, index, levels[-1 - index])
        return Var(self.source, start, end, name, index, len(levels) - index - 1)

    def _read_parentheses(self) -> Node:
        self.open_bracket("(", self.start)
        self.advance()
        node = self.read_expression()
        if self.kind != ")":
            self.refuse("an operator or `)`")
        self.close_bracket()
        return node

    def _read_list(self, can_be_empty: bool = False) -> Node:
        start = self.start
        self.open_bracket("[", start)
        self.advance()
        if self.kind == ",":
            self.advance()
        items = []
        while self.kind != "]":
            items.append(self.read_expression())
            self._take_separator(",", "]")
        self.close_bracket()
        end = self.previous_end
        if items:
            return ListLiteral(self.source, start, end, items, None)
        if self.kind != ":" or not can_be_empty:
            hint = "put it in parentheses: `([] : List ...)`"
            self.fail("an empty list needs its type", start, end, expected="`[] : List ...`", hint=hint)
        self.take_spaced(":")
        annotation = self.read_expression()
        return ListLiteral(self.source, start, self.previous_end, [], annotation)

    def _read_union(self) -> Node:
        start = self.start
        fields: dict[str, Node | None] = {}
        names: dict[str, int] = {}
        self.open_bracket("<", start)
        self.advance()
        if self.kind == "|":
            self.advance()
        while self.kind != ">":
            name_start, name = self.start, self._read_name("the name of an alternative")
            payload = None
            if self.kind == ":":
                self.take_spaced(":")
                payload = self.read_expression()
            if name in fields:
                self.fail(f"the alternative `{name}` occurs twice", name_start, name_start + len(name))
            fields[name], names[name] = payload, name_start
            self._take_separator("|", ">", "`:`, `|` or `>`" if payload is None else "")
        self.close_bracket()
        return UnionType(self.source, start, self.previous_end, fields, names)

    def _read_record(self) -> Node:
        start = self.start
        self.open_bracket("{", start)
        self.advance()
        if self.kind == ",":
            self.advance()
        if self.kind == "=":
            self.advance()
            if self.kind == ",":
                self.advance()
            self.close_bracket()
            return RecordLiteral(self.source, start, self.previous_end, {})
        if self.kind == "}":
            self.close_bracket()
            return RecordType(self.source, start, self.previous_end, {})
        name_start, name = self.start, self._read_name("the name of a field, `=` or `}`")
        if self.kind == ":":
            return self._read_record_type(start, name_start, name)
        return self._read_record_literal(start, name_start, name)

    def _read_record_type(self, start: int, name_start: int, name: str) -> Node:
        fields: dict[str, Node] = {}
        names: dict[str, int] = {}
        while True:
            self.take_spaced(":")
            field_type = self.read_expression()
            if name in fields:
                self.fail(f"the field `{name}` occurs twice", name_start, name_start + len(name))
            fields[name], names[name] = field_type, name_start
            self._take_separator(",", "}")
            if self.kind == "}":
                break
            name_start, name = self.start, self._read_name("the name of a field or `}`")
        self.close_bracket()
        return RecordType(self.source, start, self.previous_end, fields, names)

    def _read_record_literal(self, start: int, name_start: int, name: str) -> Node:
        fields: dict[str, Node] = {}
        names: dict[str, int] = {}
        repeated = 0
        while True:
            value = self._read_field_value(name_start, name, is_first=not fields)
            other = fields.get(name)
            if other is None:
                fields[name], names[name] = value, name_start
            else:
                fields[name] = Operation(self.source, name_start, self.previous_end, "/\\", other, value)
                repeated += 1
                self._check_depth(self.depth + repeated)
            self._take_separator(",", "}")
            if self.kind == "}":
                break
            name_start, name = self.start, self._read_name("the name of a field or `}`")
        self.close_bracket()
        return RecordLiteral(self.source, start, self.previous_end, fields, names)

    def _read_field_value(self, name_start: int, name: str, *, is_first: bool) -> Node:
        """Read `= value`, `.name.name = value`, or nothing: the value is then the variable of that name."""
        if self.kind in (",", "}"):
            return self._create_variable(name_start, self.previous_end, name, 0)
        inner: list[tuple[str, int]] = []
        while self.kind == ".":
            self.advance()
            inner_start = self.start
            inner.append((self._read_name(), inner_start))
        if self.kind != "=":
            alternatives = "`=`, `:`, `.`, `,` or `}`" if is_first else "`=`, `.`, `,` or `}`"
            self.refuse("`=`" if inner else alternatives)
        self.advance()
        value = self.read_expression()
        self._check_depth(self.depth + len(inner))
        for part, part_start in reversed(inner):
            value = RecordLiteral(self.source, value.start, value.end, {part: value}, {part: part_start})
        return value

    # Names.

    def _read_name(self, expected: str = "a name") -> str:
        token = self.token
        if self.kind == "quoted":
            token = token[1:-1]
        elif self.kind not in ("label", "Some"):
            self.refuse(expected)
        self.advance()
        return token

    def _read_bound_name(self) -> str:
        if self.kind == "label" and self.token in BUILTINS:
            self.fail(f"`{self.token}` is built in and cannot be defined", hint="choose another name")
        if self.kind == "Some":
            self.refuse("a name")
        return self._read_name()

    def _bind(self, name: str) -> None:
        if self.levels >= MAX_NAMES:
            self.fail(f"more than {MAX_NAMES:,} names are in scope")
        self.scope.setdefault(name, []).append(self.levels)
        self.levels += 1

    def _unbind(self, name: str) -> None:
        self.scope[name].pop()
        self.levels -= 1

    def _read_special_double(self) -> Node:
        start, kind = self.start, self.kind
        self.advance()
        return Literal(self.source, start, self.previous_end, float("inf" if kind == "Infinity" else "nan"))


_NUMBERS = ("nat", "int", "double")
_PRIMITIVES = {
    "label": PrimitiveParser._read_variable,
    "quoted": PrimitiveParser._read_variable,
    "text": PrimitiveParser.read_text,
    "multi": PrimitiveParser.read_lines,
    "{": PrimitiveParser._read_record,
    "(": PrimitiveParser._read_parentheses,
    "[": PrimitiveParser._read_list,
    "<": PrimitiveParser._read_union,
    "bytes": PrimitiveParser.read_bytes,
    "temporal": PrimitiveParser.read_temporal,
    "Infinity": PrimitiveParser._read_special_double,
    "NaN": PrimitiveParser._read_special_double,
    **dict.fromkeys(_NUMBERS, PrimitiveParser.read_number),
}
