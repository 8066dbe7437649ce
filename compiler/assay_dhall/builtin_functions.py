"""Reduce built-in functions: the type of each, its number of arguments, and its result."""

from __future__ import annotations

import math
from collections.abc import Callable

from assay_dhall.budget import METER, build_budget_error, spend_cells, spend_characters
from assay_dhall.convert import are_equal
from assay_dhall.hooks import HOOKS
from assay_dhall.operations import concatenate
from assay_dhall.parser import parse
from assay_dhall.syntax import Source
from assay_dhall.values import (
    MISSING,
    NATURAL,
    Value,
    VInteger,
    VList,
    VNone,
    VRecord,
    VRecordType,
    VSome,
    VTemporal,
    create_list_type,
)

_NUMBER = "forall (natural : Type) -> forall (succ : natural -> natural) -> forall (zero : natural) -> natural"
_LIST = "forall (list : Type) -> forall (cons : a -> list -> list) -> forall (nil : list) -> list"
TYPES = {
    **dict.fromkeys(("Bool", "Natural", "Integer", "Double", "Text", "Bytes", "Date", "Time", "TimeZone"), "Type"),
    **dict.fromkeys(("List", "Optional"), "Type -> Type"),
    **dict.fromkeys(("True", "False"), "Bool"),
    **dict.fromkeys(("Natural/isZero", "Natural/even", "Natural/odd"), "Natural -> Bool"),
    "Type": "Kind",
    "Kind": "Sort",
    "Natural/toInteger": "Natural -> Integer",
    "Natural/show": "Natural -> Text",
    "Natural/subtract": "Natural -> Natural -> Natural",
    "Natural/fold": f"Natural -> {_NUMBER}",
    "Natural/build": f"({_NUMBER}) -> Natural",
    "Integer/toDouble": "Integer -> Double",
    "Integer/show": "Integer -> Text",
    "Integer/negate": "Integer -> Integer",
    "Integer/clamp": "Integer -> Natural",
    "Double/show": "Double -> Text",
    "Text/show": "Text -> Text",
    "Text/replace": "forall (needle : Text) -> forall (replacement : Text) -> forall (haystack : Text) -> Text",
    "List/build": f"forall (a : Type) -> ({_LIST}) -> List a",
    "List/fold": f"forall (a : Type) -> List a -> {_LIST}",
    "List/length": "forall (a : Type) -> List a -> Natural",
    "List/head": "forall (a : Type) -> List a -> Optional a",
    "List/last": "forall (a : Type) -> List a -> Optional a",
    "List/indexed": "forall (a : Type) -> List a -> List { index : Natural, value : a }",
    "List/reverse": "forall (a : Type) -> List a -> List a",
    "None": "forall (A : Type) -> Optional A",
    "Date/show": "Date -> Text",
    "Time/show": "Time -> Text",
    "TimeZone/show": "TimeZone -> Text",
}
_SUCCESSOR = parse(Source("Natural/build", "\\(x : Natural) -> x + 1"))
_CONS = parse(Source("List/build", "\\(t : Type) -> \\(a : t) -> \\(`as` : List t) -> [ a ] # `as`"))
_ESCAPES = {'"': '\\"', "\\": "\\\\", "$": "\\u0024", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = str.maketrans({chr(code): f"\\u{code:04x}" for code in range(32)} | _ESCAPES)

Arguments = tuple[Value, ...]


def reduce_builtin(name: str, arguments: Arguments) -> Value:
    """Return what a built-in function yields, or `MISSING` when an argument is neutral."""
    return _REDUCERS[name][1](*arguments)


def show_text(text: str) -> str:
    """Return a text as a literal."""
    return f'"{text.translate(_ESCAPED)}"'


def show_double(number: float) -> str:
    """Return a Double as a literal."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    mantissa, _, exponent = repr(number).partition("e")
    if not exponent:
        return mantissa
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{int(exponent)}"


def show_integer(number: int) -> str:
    """Return an Integer as a literal, with its sign."""
    return f"{number:+d}"


def show_temporal(value: VTemporal) -> str:
    """Return a date, time or time zone as a literal."""
    if value.kind == "Date":
        year, month, day = value.parts
        return f"{year:04}-{month:02}-{day:02}"
    if value.kind == "Time":
        hour, minute, mantissa, digits = value.parts
        second, fraction = divmod(mantissa, 10**digits)
        return f"{hour:02}:{minute:02}:{second:02}" + (f".{fraction:0{digits}}" if digits else "")
    sign, hour, minute = value.parts
    return f"{'+' if sign else '-'}{hour:02}:{minute:02}"


def _fold_natural(number: Value, _type: Value, successor: Value, zero: Value) -> Value:
    if type(number) is not int:
        return MISSING
    accumulator = zero
    for _ in range(number):
        METER.steps -= 1
        if METER.steps < 0:
            raise build_budget_error("steps")
        next_value = HOOKS.apply(successor, accumulator)
        # From a fixed point on, all results are equal, so folding over a huge number can end early.
        if next_value is accumulator or (type(next_value) in _SCALARS and are_equal(next_value, accumulator)):
            break
        accumulator = next_value
    return accumulator


def _build_natural(function: Value) -> Value:
    successor = HOOKS.evaluate(_SUCCESSOR, ())
    return HOOKS.apply(HOOKS.apply(HOOKS.apply(function, NATURAL), successor), 0)


def _subtract(subtrahend: Value, minuend: Value) -> Value:
    if type(subtrahend) is int:
        if type(minuend) is int:
            return max(minuend - subtrahend, 0)
        if subtrahend == 0:
            return minuend
    if type(minuend) is int and minuend == 0:
        return 0
    return 0 if are_equal(subtrahend, minuend) else MISSING


def _convert_to_double(value: Value) -> Value:
    if type(value) is not VInteger:
        return MISSING
    try:
        return float(value.number)
    except OverflowError:
        return math.inf if value.number > 0 else -math.inf


def _show_text(value: Value) -> Value:
    if type(value) is not str:
        return MISSING
    spend_characters(6 * len(value) + 2)
    return show_text(value)


def _replace(needle: Value, replacement: Value, haystack: Value) -> Value:
    if type(needle) is not str:
        return MISSING
    if needle == "":
        return haystack
    if type(haystack) is not str:
        return MISSING
    if type(replacement) is str:
        count = haystack.count(needle)
        spend_characters(len(haystack) + count * max(len(replacement) - len(needle), 0))
        return haystack.replace(needle, replacement)
    first, *rest = haystack.split(needle)
    spend_cells(2 * len(rest))
    parts: list[Value] = [first]
    for piece in rest:
        parts += [replacement, piece]
    return concatenate(parts)


def _take_head(element: Value, value: Value) -> Value:
    if type(value) is not VList:
        return MISSING
    return VSome(value.items[0], (value, 0)) if value.items else VNone(element)


def _take_last(element: Value, value: Value) -> Value:
    if type(value) is not VList:
        return MISSING
    return VSome(value.items[-1], (value, len(value.items) - 1)) if value.items else VNone(element)


def _reverse(_element: Value, value: Value) -> Value:
    if type(value) is not VList:
        return MISSING
    spend_cells(len(value.items))
    return VList(value.items[::-1], value.element, (value,))


def _index_list(element: Value, value: Value) -> Value:
    if type(value) is not VList:
        return MISSING
    spend_cells(3 * len(value.items))
    items: list[Value] = [
        VRecord({"index": number, "value": item}, ("item", number, value)) for number, item in enumerate(value.items)
    ]
    return VList(items, VRecordType({"index": NATURAL, "value": element}))


def _fold_list(_element: Value, value: Value, _type: Value, cons: Value, nil: Value) -> Value:
    if type(value) is not VList:
        return MISSING
    accumulator = nil
    for item in reversed(value.items):
        METER.steps -= 1
        if METER.steps < 0:
            raise build_budget_error("steps")
        accumulator = HOOKS.apply(HOOKS.apply(cons, item), accumulator)
    return accumulator


def _build_list(element: Value, function: Value) -> Value:
    cons = HOOKS.apply(HOOKS.evaluate(_CONS, ()), element)
    return HOOKS.apply(HOOKS.apply(HOOKS.apply(function, create_list_type(element)), cons), VList([], element))


_SCALARS = frozenset((int, bool, str, float, bytes))
_REDUCERS: dict[str, tuple[int, Callable[..., Value]]] = {
    "Natural/fold": (4, _fold_natural),
    "Natural/build": (1, _build_natural),
    "Natural/isZero": (1, lambda value: value == 0 if type(value) is int else MISSING),
    "Natural/even": (1, lambda value: value % 2 == 0 if type(value) is int else MISSING),
    "Natural/odd": (1, lambda value: value % 2 == 1 if type(value) is int else MISSING),
    "Natural/toInteger": (1, lambda value: VInteger(value) if type(value) is int else MISSING),
    "Natural/show": (1, lambda value: str(value) if type(value) is int else MISSING),
    "Natural/subtract": (2, _subtract),
    "Integer/toDouble": (1, _convert_to_double),
    "Integer/show": (1, lambda value: show_integer(value.number) if type(value) is VInteger else MISSING),
    "Integer/negate": (1, lambda value: VInteger(-value.number) if type(value) is VInteger else MISSING),
    "Integer/clamp": (1, lambda value: max(value.number, 0) if type(value) is VInteger else MISSING),
    "Double/show": (1, lambda value: show_double(value) if type(value) is float else MISSING),
    "Text/show": (1, _show_text),
    "Text/replace": (3, _replace),
    "List/build": (2, _build_list),
    "List/fold": (5, _fold_list),
    "List/length": (2, lambda _type, value: len(value.items) if type(value) is VList else MISSING),
    "List/head": (2, _take_head),
    "List/last": (2, _take_last),
    "List/indexed": (2, _index_list),
    "List/reverse": (2, _reverse),
    "None": (1, VNone),
    **dict.fromkeys(
        ("Date/show", "Time/show", "TimeZone/show"),
        (1, lambda value: show_temporal(value) if type(value) is VTemporal else MISSING),
    ),
}
ARITIES = {name: arity for name, (arity, _) in _REDUCERS.items()}
