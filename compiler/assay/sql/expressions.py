"""Compile expressions of the spec language to SQL."""

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
    """The values of the leaves of an expression: the table of its columns, the constants, and the parameter."""

    table: str = ""
    constants: Mapping[str, object] = field(default_factory=dict)
    argument: str | None = None
    argument_type: str = ""


def compile_expression(node: Expression, names: Names) -> exp.Expr:
    """Compile an expression to SQL; operands that are operators themselves get parentheses."""
    leaf = _LEAVES.get(node.op)
    if leaf:
        return leaf(node, names)
    operands = [_wrap_operand(compile_expression(operand, names)) for operand in node.operands]
    if node.op in _EXACT and _has_only_integers(node):
        operands[0] = dialect.cast(_unwrap(operands[0]), "integer")  # the engine would give small literals 32 bits
    if node.op in ("over", "div"):
        operands[1] = _guard_divisor(node.operands[1], operands[1])
    if node.op in _BINARY:
        return _BINARY[node.op](this=operands[0], expression=operands[1])
    return _OPERATORS[node.op](node, operands)


def _wrap_operand(value: exp.Expr) -> exp.Expr:
    return exp.paren(value) if isinstance(value, (exp.Binary, exp.Connector, exp.Not, exp.Is)) else value


#: operators whose result may be much larger than their operands
_EXACT = ("plus", "minus", "times", "whole")


def _has_only_integers(node: Expression) -> bool:
    """Return whether all leaves of an expression are integer literals, so that its value is an integer."""
    leaves = [item for item in node.walk() if not item.operands]
    if any(item.op == "over" for item in node.walk()) or any(item.number is None for item in leaves):
        return False
    # the literal of a real number is a cast
    return not any(isinstance(_compile_number(item, Names()), exp.Cast) for item in leaves)


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


def _guard_divisor(node: Expression, value: exp.Expr) -> exp.Expr:
    """Return a divisor that is null where it is zero, so that the quotient is null, as in formulas.

    The engine would end the statement, or yield an infinity.
    """
    return value if node.op in ("integer", "real") and node.number else dialect.build_nullif_zero(_unwrap(value))


def _compile_quotient(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    return exp.Div(this=dialect.cast(operands[0], "real"), expression=operands[1])


def _compile_floor(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    return dialect.cast(exp.Floor(this=_unwrap(operands[0])), "integer")


def _unwrap(value: exp.Expr) -> exp.Expr:
    return value.this if isinstance(value, exp.Paren) else value


def _scale_integer(node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    factor = Fraction(node.factor)
    value = operands[0]
    if factor.numerator != 1:
        value = exp.paren(exp.Mul(this=value, expression=dialect.build_integer(factor.numerator)))
    if factor.denominator == 1:
        return value
    return exp.IntDiv(this=value, expression=dialect.build_integer(factor.denominator))


def _compile_and(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    return exp.and_(*(_unwrap(item) for item in operands))


def _compile_or(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    return exp.or_(*(_unwrap(item) for item in operands))


def _compile_coalesce(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    values = [_unwrap(item) for item in operands]
    return exp.Coalesce(this=values[0], expressions=values[1:])


def _compile_greatest(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    values = [_unwrap(item) for item in operands]
    return exp.Anonymous(this="greatest", expressions=values)


def _compile_choice(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    value, condition = (_unwrap(item) for item in operands)
    return exp.Case(ifs=[exp.If(this=condition, true=value)])


_OPERATORS: Mapping[str, Callable[[Expression, list[exp.Expr]], exp.Expr]] = {
    "over": _compile_quotient,
    "floor": _compile_floor,
    "whole": _scale_integer,
    "as_unit": lambda _node, operands: operands[0],
    "bound": lambda _node, operands: exp.TryCast(this=_unwrap(operands[0]), to=exp.DataType.build("DOUBLE")),
    "and": _compile_and,
    "or": _compile_or,
    "not": lambda _node, operands: exp.Not(this=operands[0]),
    "coalesce": _compile_coalesce,
    "greatest": _compile_greatest,
    "matches": lambda _node, operands: dialect.build_match(*operands),
    "present": lambda _node, operands: exp.Not(this=exp.Is(this=operands[0], expression=exp.Null())),
    "absent": lambda _node, operands: exp.Is(this=operands[0], expression=exp.Null()),
    "one_if": lambda _node, operands: dialect.cast(_unwrap(operands[0]), "integer"),
    "when": _compile_choice,
}


def _compile_column(node: Expression, names: Names) -> exp.Expr:
    return dialect.build_column(node.name, names.table)


def _compile_taken_field(node: Expression, names: Names) -> exp.Expr:
    return dialect.build_column(f"{node.text}_{node.name}", names.table)


def _compile_number(node: Expression, _names: Names) -> exp.Expr:
    assert node.number is not None
    if node.op == "quantity" and node.factor:
        exact = Fraction(node.number) * Fraction(node.factor)
        return dialect.build_integer(int(exact)) if exact.denominator == 1 else dialect.build_real(repr(float(exact)))
    if node.op == "integer" or (node.op == "quantity" and node.number == node.number.to_integral_value()):
        return dialect.build_integer(int(node.number))
    return dialect.build_real(f"{node.number:f}")


def _compile_constant(node: Expression, names: Names) -> exp.Expr:
    return build_literal(names.constants[node.name])


def _compile_parameter(_node: Expression, names: Names) -> exp.Expr:
    assert names.argument is not None
    number = Decimal(names.argument)
    return dialect.build_real(f"{number:f}") if names.argument_type == "real" else dialect.build_integer(int(number))


def build_literal(value: object) -> exp.Expr:
    """Return a constant of a run as a literal: integers exact, reals as doubles; a placeholder as it is."""
    if isinstance(value, exp.Expr):
        return value.copy()
    if value is None:
        return exp.Cast(this=exp.Null(), to=exp.DataType.build("BIGINT"))
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int):
        return dialect.build_integer(value)
    if isinstance(value, float):
        return dialect.build_real(repr(value))
    return exp.Literal.string(str(value))


_LEAVES: Mapping[str, Callable[[Expression, Names], exp.Expr]] = {
    "column": _compile_column,
    "instant": _compile_column,
    "field": _compile_column,
    "taken": _compile_taken_field,
    "integer": _compile_number,
    "real": _compile_number,
    "quantity": _compile_number,
    "text": lambda node, _names: exp.Literal.string(node.text),
    "boolean": lambda node, _names: exp.Boolean(this=node.text == "true"),
    "constant": _compile_constant,
    "parameter": _compile_parameter,
}


def build_placeholders(names: Iterable[str]) -> dict[str, object]:
    """Return a placeholder (`$name`) for each constant.

    SQL that is compiled with them serves every run, whose constants are its parameters.
    """
    return {name: exp.Placeholder(this=name) for name in names}
