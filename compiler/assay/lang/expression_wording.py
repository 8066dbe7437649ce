"""Describe expressions in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from assay.lang import formula
from assay.lang.model.expression import Expression


def describe_expression(node: Expression) -> str:
    """Describe an expression; instants are between asterisks, columns and fields between backquotes."""
    if (time := _describe_elapsed(node)) is not None:
        return time
    leaf = _LEAVES.get(node.op)
    if leaf:
        return leaf(node)
    return _OPERATORS[node.op](node, [_describe_operand(item) for item in node.operands])


def _describe_operand(node: Expression) -> str:
    text = describe_expression(node)
    compound = node.op in _BINARY or node.op in _AMBIGUOUS or _describe_elapsed(node) is not None
    return f"({text})" if compound else text


def _describe_elapsed(node: Expression) -> str | None:
    """Describe a difference of instants as the time between them; None for other expressions."""
    if node.op != "minus" or not all(map(_is_instant, node.operands)):
        return None
    to, start = node.operands
    return f"time from {_describe_instants(start)} to {_describe_instants(to)}"


def _is_instant(node: Expression) -> bool:
    return node.op == "instant" or (node.op == "coalesce" and all(map(_is_instant, node.operands)))


def _describe_instants(node: Expression) -> str:
    if node.op == "instant":
        return f"*{node.name}*"
    return f"the first of {', '.join(_describe_instants(item) for item in node.operands)} that exists"


_BINARY = {
    "plus": "+", "minus": "−", "times": "×", "over": "/", "div": "÷", "at_least": "≥", "at_most": "≤", "above": ">",
    "below": "<", "equals": "=",
}  # fmt: skip

#: operators whose operands would be ambiguous without brackets
_AMBIGUOUS = frozenset(("and", "or", "coalesce", "greatest", "floor", "whole", "as_unit", "matches", "one_if", "when"))

_LEAVES: Mapping[str, Callable[[Expression], str]] = {
    "column": lambda node: f"`{node.name}`",
    "instant": lambda node: f"*{node.name}*",
    "field": lambda node: f"`{node.name}`",
    "taken": lambda node: f"`{node.name}` of *{node.text}*",
    "constant": lambda node: f"the run's {node.name}",
    "parameter": lambda node: node.name,
    "metric": lambda node: f"`{node.name}`",
    "integer": lambda node: str(node.number),
    "real": lambda node: str(node.number),
    "text": lambda node: f"“{node.text}”",
    "boolean": lambda node: "yes" if node.text == "true" else "no",
    "quantity": lambda node: formula.format_quantity(str(node.number), node.unit),
}

_OPERATORS: Mapping[str, Callable[[Expression, list[str]], str]] = {
    **{op: lambda _node, parts, sign=sign: f"{parts[0]} {sign} {parts[1]}" for op, sign in _BINARY.items()},  # type: ignore[misc]
    "coalesce": lambda _node, parts: ", or if missing ".join(parts),
    "greatest": lambda _node, parts: f"the greatest of {', '.join(parts)} that exist",
    "div": lambda _node, parts: f"{parts[0]} ÷ {parts[1]} cut to a whole number",
    "and": lambda _node, parts: " and ".join(parts),
    "or": lambda _node, parts: " or ".join(parts),
    "not": lambda _node, parts: f"not {parts[0]}",
    "floor": lambda _node, parts: f"{parts[0]} rounded down",
    "present": lambda _node, parts: f"{parts[0]} is present",
    "absent": lambda _node, parts: f"{parts[0]} is missing",
    "matches": lambda _node, parts: f"{parts[0]} matches {parts[1]}",
    "one_if": lambda _node, parts: f"1 if {parts[0]}, else 0",
    "when": lambda _node, parts: f"{parts[0]} if {parts[1]}",
    "converted": lambda _node, parts: parts[0],
    "whole": lambda node, parts: f"{parts[0]} {'in' if _is_exact(node) else 'cut to whole'} {node.unit}",
    "as_unit": lambda node, parts: f"{parts[0]} counted as {describe_unit(node.unit)}",
    "bound": lambda node, parts: f"the bound {parts[0]} in {describe_unit(node.unit)}",
}


def _is_exact(node: Expression) -> bool:
    """Return whether a conversion to whole numbers of a unit loses nothing."""
    return bool(node.factor) and Fraction(node.factor).denominator == 1


def describe_unit(name: str) -> str:
    return "a plain number" if name in ("", "dimensionless") else name
