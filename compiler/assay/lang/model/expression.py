"""Expressions of the spec language (measures, predicates, computed instants): tree, text form and parser.

Dhall has no recursive types without encodings, so the schema writes an expression as a list of tokens in postfix
order; `decode_expression` builds the tree.  A node is an operator with operands, or a leaf (a literal or a reference).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

WORD = r"[A-Za-z_]\w*"

#: operator -> number of operands (None: the token's `count`)
ARITY: Mapping[str, int | None] = {
    "coalesce": None,
    "greatest": None,
    "and": None,
    "or": None,
    "not": 1,
    "plus": 2,
    "minus": 2,
    "times": 2,
    "over": 2,
    "div": 2,
    "floor": 1,
    "at_least": 2,
    "at_most": 2,
    "above": 2,
    "below": 2,
    "equals": 2,
    "matches": 2,
    "present": 1,
    "absent": 1,
    "one_if": 1,
    "when": 2,
    "whole": 1,
    "as_unit": 1,
    "bound": 1,
    "converted": 1,
}

LEAVES = (
    "column",
    "instant",
    "field",
    "taken",
    "constant",
    "metric",
    "parameter",
    "integer",
    "real",
    "text",
    "boolean",
    "quantity",
)


@dataclass(frozen=True, slots=True)
class Expression:
    """A node: `op`, its operands, and for leaves (and unit operators) their name or value.

    Leaves: `column` (of the grain), `instant` (of the grain), `field` (of the bound row, in an instant's `where`),
    `taken` (`name` = field that the instant `text` takes along), `constant` (of the run), `metric` (the value of
    another, in formulas), `parameter` (of the filter), literals `integer`, `real`, `text`, `boolean`, and `quantity` (a
    number with a unit).  `unit` is the unit expression of the node's unit, if it has one, and `factor` the number (a
    fraction) that converts to it, once it is computed.  In formulas `factor` converts to base units, which `text`
    names; the operator `converted`, which only the compiler adds, converts back from them.
    """

    op: str
    operands: tuple[Expression, ...] = ()
    name: str = ""
    text: str = ""
    number: Decimal | None = None
    unit: str = ""
    factor: str = ""

    def walk(self) -> Iterator[Expression]:
        """Yield this node and all nodes below it, parents first."""
        yield self
        for operand in self.operands:
            yield from operand.walk()

    def __str__(self) -> str:
        return format_expression(self)


def decode_expression(tokens: Sequence[Mapping[str, object]]) -> Expression | None:
    """Return the tree of a token list in postfix order; None for the empty list.

    Raises ValueError when operands are missing or left over (the schema's constructors never build such a list).
    """
    stack: list[Expression] = []
    for token in tokens:
        op = str(token["op"])
        arity = _get_operand_count(op, token)
        if len(stack) < arity:
            raise ValueError(f"operator {op} has too few operands")
        operands = tuple(stack[len(stack) - arity :])
        del stack[len(stack) - arity :]
        stack.append(_decode_node(op, operands, token))
    if len(stack) > 1:
        raise ValueError("operands are left over")
    return stack[0] if stack else None


def _get_operand_count(op: str, token: Mapping[str, object]) -> int:
    if op in LEAVES:
        return 0
    if op not in ARITY:
        raise ValueError(f"unknown operator {op}")
    count = ARITY[op]
    return int(str(token["count"])) if count is None else count


def _decode_node(op: str, operands: tuple[Expression, ...], token: Mapping[str, object]) -> Expression:
    if len(operands) == 1 and op in ("coalesce", "greatest", "and", "or"):
        return operands[0]
    number = None
    if op in ("integer", "real", "quantity"):
        number = Decimal(str(token["number"]))
    return Expression(op, operands, str(token["name"]), str(token["text"]), number, str(token["unit"]))


def format_expression(node: Expression) -> str:
    """Return a node as text for normal forms, hashes and messages: `minus(instant ticked, instant leading)`."""
    if node.op in ("integer", "real"):
        return str(node.number)
    if node.op == "metric":
        return f"metric {node.name if re.fullmatch(WORD, node.name) else json.dumps(node.name)}{_format_unit(node)}"
    if node.op == "quantity":
        return f"{node.number} {_format_unit(node)}"
    if node.op == "boolean":
        return node.text
    if node.op == "text":
        return json.dumps(node.text, ensure_ascii=False)
    if node.op == "taken":
        return f"{node.text}.{node.name}"
    if not node.operands:
        return f"{node.op} {node.name}{_format_unit(node)}"
    return f"{node.op}{_format_unit(node)}({', '.join(format_expression(operand) for operand in node.operands)})"


def _format_unit(node: Expression) -> str:
    if not node.unit:
        return ""
    base = f" {node.text}" if node.text else ""
    return f"[{node.unit} = {node.factor}{base}]" if node.factor else f"[{node.unit}]"


#: leaves that are written as a word and a name
_NAMED = ("column", "instant", "field", "constant", "metric", "parameter")
_TOKEN = re.compile(
    r"\s*(?:(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<unit>\[[^\]]*\])|(?P<mark>[(),.]))"
)


class _TokenReader:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        position = 0
        text = text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None or match.lastgroup is None:
                raise ValueError(f"unreadable at character {position + 1}")
            self.tokens.append((match.lastgroup, match.group(match.lastgroup)))
            position = match.end()
        self.position = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.position] if self.position < len(self.tokens) else ("end", "")

    def take(self, kind: str, text: str | None = None) -> str:
        token = self.peek()
        if token[0] != kind or (text is not None and token[1] != text):
            raise ValueError(f"expected {text or kind}, found {token[1] or 'the end'}")
        self.position += 1
        return token[1]


def parse_expression(text: str) -> Expression:
    """Parse the text of an expression.  Raises ValueError that says where it is invalid."""
    reader = _TokenReader(text)
    node = _parse_node(reader)
    reader.take("end") if reader.peek()[0] != "end" else None
    return node


def _parse_node(reader: _TokenReader) -> Expression:
    kind, text = reader.peek()
    if kind == "string":
        reader.take("string")
        return Expression("text", text=json.loads(text))
    if kind == "number":
        return _parse_number(reader)
    word = reader.take("word")
    if word in ("true", "false"):
        return Expression("boolean", text=word)
    if reader.peek() == ("mark", "."):
        reader.take("mark")
        return Expression("taken", name=reader.take("word"), text=word)
    if word in ARITY:
        return _parse_call(reader, word)
    if word not in _NAMED:
        raise ValueError(f"unknown word {word}")
    name = json.loads(reader.take("string")) if reader.peek()[0] == "string" else reader.take("word")
    unit, factor, base = _parse_unit(reader.take("unit")) if reader.peek()[0] == "unit" else ("", "", "")
    return Expression(word, name=name, text=base, unit=unit, factor=factor)


def _parse_number(reader: _TokenReader) -> Expression:
    text = reader.take("number")
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text} is out of range") from None
    if reader.peek()[0] == "unit":
        unit, factor, base = _parse_unit(reader.take("unit"))
        return Expression("quantity", number=number, text=base, unit=unit, factor=factor)
    return Expression("real" if "." in text or "e" in text.lower() else "integer", number=number)


def _parse_call(reader: _TokenReader, op: str) -> Expression:
    unit, factor, base = _parse_unit(reader.take("unit")) if reader.peek()[0] == "unit" else ("", "", "")
    reader.take("mark", "(")
    operands = [_parse_node(reader)]
    while reader.peek() == ("mark", ","):
        reader.take("mark")
        operands.append(_parse_node(reader))
    reader.take("mark", ")")
    if ARITY[op] not in (None, len(operands)):
        raise ValueError(f"{op} takes {ARITY[op]} operands, found {len(operands)}")
    return Expression(op, tuple(operands), text=base, unit=unit, factor=factor)


def _parse_unit(text: str) -> tuple[str, str, str]:
    """Return a unit, its factor and its base unit; the last two are empty where they are not written."""
    unit, _, rest = text[1:-1].partition(" = ")
    if not unit:
        raise ValueError("a unit without a name")
    factor, _, base = rest.partition(" ")
    return unit, factor, base
