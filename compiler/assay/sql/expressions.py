"""Expressions of the spec language as SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from sqlglot import exp

from assay.lang.model.expression import Expression
from assay.sql import dialect


@dataclass(frozen=True, slots=True)
class Names:
    """Where the leaves of an expression are found: a table for columns, values for constants and the parameter."""

    table: str = ""
    constants: Mapping[str, object] = field(default_factory=dict)
    argument: str | None = None
    argument_type: str = ""


def compile_expression(node: Expression, names: Names) -> exp.Expr:
    """The SQL of an expression; operands that are operators themselves stand in parentheses."""
    leaf = _LEAVES.get(node.op)
    if leaf:
        return leaf(node, names)
    operands = [_operand(compile_expression(operand, names)) for operand in node.operands]
    if node.op in _EXACT and _is_of_whole_numbers(node):
        operands[0] = dialect.cast(_bare(operands[0]), "integer")  # else small numbers make one of 32 bits
    if node.op in ("over", "div"):
        operands[1] = _divisor(node.operands[1], operands[1])
    if node.op in _BINARY:
        return _BINARY[node.op](this=operands[0], expression=operands[1])
    return _OPERATORS[node.op](node, operands)


def _operand(value: exp.Expr) -> exp.Expr:
    return exp.paren(value) if isinstance(value, (exp.Binary, exp.Connector, exp.Not, exp.Is)) else value


#: operators whose result may be far from what they are of
_EXACT = ("plus", "minus", "times", "whole")


def _is_of_whole_numbers(node: Expression) -> bool:
    """Whether an expression is made of literals alone that are whole numbers, and so is one."""
    leaves = [item for item in node.walk() if not item.operands]
    if any(item.op == "over" for item in node.walk()) or any(item.number is None for item in leaves):
        return False
    return not any(isinstance(_number(item, Names()), exp.Cast) for item in leaves)  # which reals are


_BINARY: Mapping[str, type[exp.Binary]] = {
    "plus": exp.Add,
    "minus": exp.Sub,
    "times": exp.Mul,
    "div": exp.IntDiv,
    "at_least": exp.GTE,
    "at_most": exp.LTE,
    "above": exp.GT,
    "below": exp.LT,
    "equals": exp.EQ,
}


def _divisor(node: Expression, value: exp.Expr) -> exp.Expr:
    """What is divided by; nothing where it is zero, and so is the quotient (as in formulas), where the engine would
    end the statement, or yield an infinity."""
    return value if node.op in ("integer", "real") and node.number else dialect.unless_zero(_bare(value))


def _quotient(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    return exp.Div(this=dialect.cast(operands[0], "real"), expression=operands[1])


def _floor(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    return dialect.cast(exp.Floor(this=_bare(operands[0])), "integer")


def _bare(value: exp.Expr) -> exp.Expr:
    return value.this if isinstance(value, exp.Paren) else value


def _whole(node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    factor = Fraction(node.factor)
    value = operands[0]
    if factor.numerator != 1:
        value = exp.paren(exp.Mul(this=value, expression=dialect.integer(factor.numerator)))
    if factor.denominator == 1:
        return value
    return exp.IntDiv(this=value, expression=dialect.integer(factor.denominator))


def _all(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    return exp.and_(*(_bare(item) for item in operands))


def _any(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    return exp.or_(*(_bare(item) for item in operands))


def _coalesce(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    bare = [_bare(item) for item in operands]
    return exp.Coalesce(this=bare[0], expressions=bare[1:])


def _greatest(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    bare = [_bare(item) for item in operands]
    return exp.Anonymous(this="greatest", expressions=bare)


_OPERATORS: Mapping[str, Callable[[Expression, list[exp.Expr]], exp.Expr]] = {
    "over": _quotient,
    "floor": _floor,
    "whole": _whole,
    "as_unit": lambda _node, operands: operands[0],
    "and": _all,
    "or": _any,
    "not": lambda _node, operands: exp.Not(this=operands[0]),
    "coalesce": _coalesce,
    "greatest": _greatest,
    "matches": lambda _node, operands: dialect.matches(*operands),
    "present": lambda _node, operands: exp.Not(this=exp.Is(this=operands[0], expression=exp.Null())),
    "absent": lambda _node, operands: exp.Is(this=operands[0], expression=exp.Null()),
}


def _named(node: Expression, names: Names) -> exp.Expr:
    return dialect.column(node.name, names.table)


def taken_branch(node: Expression, names: Names) -> exp.Expr:
    return dialect.column(f"{node.text}_{node.name}", names.table)


def _number(node: Expression, _names: Names) -> exp.Expr:
    assert node.number is not None
    if node.op == "quantity" and node.factor:
        exact = Fraction(node.number) * Fraction(node.factor)
        return dialect.integer(int(exact)) if exact.denominator == 1 else dialect.real(repr(float(exact)))
    if node.op == "integer" or (node.op == "quantity" and node.number == node.number.to_integral_value()):
        return dialect.integer(int(node.number))
    return dialect.real(f"{node.number:f}")


def _constant(node: Expression, names: Names) -> exp.Expr:
    return literal(names.constants[node.name])


def _parameter(_node: Expression, names: Names) -> exp.Expr:
    assert names.argument is not None
    number = Decimal(names.argument)
    return dialect.real(f"{number:f}") if names.argument_type == "real" else dialect.integer(int(number))


def literal(value: object) -> exp.Expr:
    """A constant of a run as a literal: integers exact, reals as doubles; a place for one stays a place."""
    if isinstance(value, exp.Expr):
        return value.copy()
    if value is None:
        return exp.Cast(this=exp.Null(), to=exp.DataType.build("BIGINT"))
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int):
        return dialect.integer(value)
    if isinstance(value, float):
        return dialect.real(repr(value))
    return exp.Literal.string(str(value))


_LEAVES: Mapping[str, Callable[[Expression, Names], exp.Expr]] = {
    "column": _named,
    "instant": _named,
    "field": _named,
    "taken": taken_branch,
    "integer": _number,
    "real": _number,
    "quantity": _number,
    "text": lambda node, _names: exp.Literal.string(node.text),
    "boolean": lambda node, _names: exp.Boolean(this=node.text == "true"),
    "constant": _constant,
    "parameter": _parameter,
}


def places(names: Iterable[str]) -> dict[str, object]:
    """A place (`$name`) for each constant: what is compiled so serves every run, with its constants as parameters."""
    return {name: exp.Placeholder(this=name) for name in names}
