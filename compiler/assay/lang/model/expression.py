"""The expressions of the spec language: measures, predicates, computed instants.

Dhall has no recursive types without encodings, so the schema writes an expression as a list of tokens in postfix
order; `decode` makes the tree.  A node is an operator with operands, or a leaf (a literal or a reference).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

WORD = r"[A-Za-z_]\w*"

#: operator -> number of operands (None: the token's `count` says)
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
    "whole": 1,
    "as_unit": 1,
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
    """A node: `op`, its operands, and for leaves (and unit operators) what they name or hold.

    Leaves: `column` (of the grain), `instant` (of the grain), `field` (of the bound row, in an instant's `where`),
    `taken` (`name` = field that the instant `text` takes along), `constant` (of the run), `metric` (the value of
    another, in formulas), `parameter` (of the filter), literals `integer`, `real`, `text`, `boolean`, and `quantity` (a
    number with a unit).  `unit` is the unit's pint expression where one belongs to the node, `factor` the number (a
    fraction) that converts to it, once it is known; in formulas `factor` converts to base units, which `text` names,
    and `converted` (which no author writes) back from them.
    """

    op: str
    operands: tuple[Expression, ...] = ()
    name: str = ""
    text: str = ""
    number: Decimal | None = None
    unit: str = ""
    factor: str = ""

    def walk(self) -> Iterator[Expression]:
        """This node and all below it, the node first."""
        yield self
        for operand in self.operands:
            yield from operand.walk()

    def __str__(self) -> str:
        return show(self)


def decode(tokens: Sequence[Mapping[str, object]]) -> Expression | None:
    """The tree that a token list in postfix order stands for; None for the empty list.

    Raises ValueError when operands are missing or left over (a malformed list: the schema's constructors make none).
    """
    stack: list[Expression] = []
    for token in tokens:
        op = str(token["op"])
        arity = _arity(op, token)
        if len(stack) < arity:
            raise ValueError(f"operator {op} lacks operands")
        operands = tuple(stack[len(stack) - arity :])
        del stack[len(stack) - arity :]
        stack.append(_node(op, operands, token))
    if len(stack) > 1:
        raise ValueError("operands are left over")
    return stack[0] if stack else None


def _arity(op: str, token: Mapping[str, object]) -> int:
    if op in LEAVES:
        return 0
    if op not in ARITY:
        raise ValueError(f"unknown operator {op}")
    fixed = ARITY[op]
    return int(str(token["count"])) if fixed is None else fixed


def _node(op: str, operands: tuple[Expression, ...], token: Mapping[str, object]) -> Expression:
    if len(operands) == 1 and op in ("coalesce", "greatest", "and", "or"):
        return operands[0]
    number = None
    if op in ("integer", "real", "quantity"):
        number = Decimal(str(token["number"]))
    return Expression(op, operands, str(token["name"]), str(token["text"]), number, str(token["unit"]))


def show(node: Expression) -> str:
    """A node as readable text, for normal forms, hashes and messages: `minus(instant ticked, instant leading)`."""
    if node.op in ("integer", "real"):
        return str(node.number)
    if node.op == "metric":
        return f"metric {node.name if re.fullmatch(WORD, node.name) else json.dumps(node.name)}{_unit(node)}"
    if node.op == "quantity":
        return f"{node.number} {_unit(node)}"
    if node.op == "boolean":
        return node.text
    if node.op == "text":
        return json.dumps(node.text, ensure_ascii=False)
    if node.op == "taken":
        return f"{node.text}.{node.name}"
    if not node.operands:
        return f"{node.op} {node.name}{_unit(node)}"
    return f"{node.op}{_unit(node)}({', '.join(show(operand) for operand in node.operands)})"


def _unit(node: Expression) -> str:
    if not node.unit:
        return ""
    base = f" {node.text}" if node.text else ""
    return f"[{node.unit} = {node.factor}{base}]" if node.factor else f"[{node.unit}]"
