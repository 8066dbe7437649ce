"""SQL expressions that convert a number from the unit that its record carries to the unit of its field."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from fractions import Fraction

from sqlglot import exp

from assay.ingest import sql_trees
from assay.ingest.quantities import NO_QUANTITY
from assay.lang.record_units import NUMBER, NUMBER_WITH_UNIT, REPLACED, SEPARATOR, UNIT, RecordUnit
from assay.sql import dialect


def build_converted_text(number: exp.Expr, unit: exp.Expr, record_unit: RecordUnit) -> exp.Expr:
    """Return the text of a number in the unit of its field.

    It is null without a number, or with a unit of another field, and `NO_QUANTITY`, which is malformed, with a text
    that is no unit.
    """
    simplified = _simplify(unit)
    by_factor: dict[Fraction, list[str]] = defaultdict(list)
    for text, factor in record_unit.factors.items():
        by_factor[factor].append(text)
    ifs = [
        exp.If(this=_is_one_of(simplified, texts), true=_build_product(number, factor))
        for factor, texts in sorted(by_factor.items())
    ]
    if record_unit.others:
        ifs.append(exp.If(this=_is_one_of(simplified, record_unit.others), true=exp.Null()))
    converted = exp.Case(ifs=ifs, default=sql_trees.build_text(NO_QUANTITY))
    return sql_trees.build_if(sql_trees.is_not_null(number.copy()), converted)


def build_converted_quantity(text: exp.Expr, record_unit: RecordUnit) -> exp.Expr:
    """Return the text of a number in the unit of its field, from a text with the number and its unit behind it."""
    names = exp.Array(expressions=[sql_trees.build_text(name) for name in (NUMBER, UNIT)])
    parts = sql_trees.call("regexp_extract", text, sql_trees.build_text(NUMBER_WITH_UNIT), names)
    number, unit = (
        sql_trees.call("struct_extract", parts.copy(), sql_trees.build_text(name)) for name in (NUMBER, UNIT)
    )
    number = sql_trees.call("replace", number, sql_trees.build_text(SEPARATOR), sql_trees.build_text(""))
    return build_converted_text(number, unit, record_unit)


def _is_one_of(text: exp.Expr, texts: Collection[str]) -> exp.Expr:
    return exp.In(this=text.copy(), expressions=[sql_trees.build_text(item) for item in sorted(texts)])


def _build_product(number: exp.Expr, factor: Fraction) -> exp.Expr:
    """Return the text of a number times a factor; a number that needs no factor keeps its digits."""
    if factor == 1:
        return number.copy()
    value = sql_trees.try_cast(number.copy(), dialect.TYPES["real"])
    product: exp.Expr = value.copy()
    if factor.numerator != 1:
        product = exp.Mul(this=product, expression=_build_real(factor.numerator))
    if factor.denominator != 1:
        product = exp.Div(this=product, expression=_build_real(factor.denominator))
    is_number = exp.and_(sql_trees.call("isfinite", value), sql_trees.is_plain(number.copy()))
    return sql_trees.build_if(
        sql_trees.build_coalesce([is_number, exp.false()]),
        sql_trees.cast(product, "TEXT"),
        sql_trees.build_text(NO_QUANTITY),
    )


def _build_real(number: int) -> exp.Expr:
    return sql_trees.cast(sql_trees.build_text(str(number)), dialect.TYPES["real"])


def _simplify(text: exp.Expr) -> exp.Expr:
    """Return `record_units.simplify_unit` of a text; an empty text without one."""
    text = sql_trees.build_coalesce([text, sql_trees.build_text("")])
    for pattern, replacement in REPLACED:
        arguments = [sql_trees.build_text(item) for item in (pattern, replacement, "g")]
        text = sql_trees.call("regexp_replace", text, *arguments)
    return text
