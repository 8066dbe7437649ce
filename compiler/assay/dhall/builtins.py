"""The builtin functions: how many arguments each reduces at, what it gives, and its type."""

from __future__ import annotations

import math
from typing import Any

from assay.dhall.convert import are_equal
from assay.dhall.meter import METER
from assay.dhall.operations import add, append, join_texts
from assay.dhall.syntax import DateValue, IntegerValue, TimeValue, ZoneValue
from assay.dhall.values import (
    NATURAL,
    NApp,
    Value,
    VBuiltin,
    VConstructor,
    VInject,
    VLam,
    VList,
    VNone,
    VRec,
    VRecType,
    VSome,
    make_list_type,
)

TYPES = {
    "Bool Natural Integer Double Text Bytes Date Time TimeZone": "Type",
    "List Optional": "Type -> Type",
    "Type": "Kind",
    "Kind": "Sort",
    "True False": "Bool",
    "Natural/isZero Natural/even Natural/odd": "Natural -> Bool",
    "Natural/toInteger": "Natural -> Integer",
    "Natural/show": "Natural -> Text",
    "Natural/subtract": "Natural -> Natural -> Natural",
    "Natural/fold": "Natural -> ∀(natural : Type) -> ∀(succ : natural -> natural) -> ∀(zero : natural) -> natural",
    "Natural/build": "(∀(natural : Type) -> ∀(succ : natural -> natural) -> ∀(zero : natural) -> natural) -> Natural",
    "Integer/toDouble": "Integer -> Double",
    "Integer/show": "Integer -> Text",
    "Integer/negate": "Integer -> Integer",
    "Integer/clamp": "Integer -> Natural",
    "Double/show": "Double -> Text",
    "Text/show": "Text -> Text",
    "Text/replace": "∀(needle : Text) -> ∀(replacement : Text) -> ∀(haystack : Text) -> Text",
    "Date/show": "Date -> Text",
    "Time/show": "Time -> Text",
    "TimeZone/show": "TimeZone -> Text",
    "List/build": "∀(a : Type) -> (∀(list : Type) -> ∀(cons : a -> list -> list) -> ∀(nil : list) -> list) -> List a",
    "List/fold": "∀(a : Type) -> List a -> ∀(list : Type) -> ∀(cons : a -> list -> list) -> ∀(nil : list) -> list",
    "List/length": "∀(a : Type) -> List a -> Natural",
    "List/head List/last": "∀(a : Type) -> List a -> Optional a",
    "List/indexed": "∀(a : Type) -> List a -> List { index : Natural, value : a }",
    "List/reverse": "∀(a : Type) -> List a -> List a",
    "None": "∀(A : Type) -> Optional A",
}


def apply(function: Value, argument: Value) -> Value:
    """Apply a function to a value; counts a step of the budget and the depth of calls."""
    kind = type(function)
    if kind is VLam:
        meter = METER
        meter.steps -= 1
        if meter.steps < 0:
            meter.spend()
        meter.depth += 1
        if meter.depth > meter.budget.depth:
            raise meter.exhaust("calls inside each other", meter.budget.depth)
        result = function.call(argument)
        meter.depth -= 1
        return result
    if kind is VBuiltin:
        arguments = (*function.arguments, argument)
        rule = _RULES.get((function.name, len(arguments)))
        if rule is not None:
            METER.spend()
            result = rule(*arguments)
            if result is not None:
                return result
        return VBuiltin(function.name, arguments)
    if kind is VConstructor:
        return VInject(function.union, function.name, argument)
    return NApp(function, argument)


def show_text(text: str) -> str:
    """Write a text as a literal of Dhall."""
    METER.spend_characters(6 * len(text))
    return f'"{text.translate(_TEXT_ESCAPES)}"'


_TEXT_ESCAPES: dict[int, str] = {code: f"\\u{code:04x}" for code in range(32)} | {
    ord('"'): '\\"',
    ord("\\"): "\\\\",
    ord("$"): "\\u0024",
    8: "\\b",
    9: "\\t",
    10: "\\n",
    12: "\\f",
    13: "\\r",
}


def show_double(number: float) -> str:
    """Write a Double as a literal of Dhall: the shortest that reads back."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    text = repr(number)
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{int(exponent)}"


def show_date(value: DateValue) -> str:
    """Write a date as a literal."""
    return f"{value.year:04}-{value.month:02}-{value.day:02}"


def show_time(value: TimeValue) -> str:
    """Write a time of day as a literal."""
    fraction = f".{value.digits}" if value.digits else ""
    return f"{value.hour:02}:{value.minute:02}:{value.second:02}{fraction}"


def show_zone(value: ZoneValue) -> str:
    """Write a time zone as a literal."""
    return f"{'-' if value.is_negative else '+'}{value.minutes // 60:02}:{value.minutes % 60:02}"


def _fold_natural(count: Value, _: Value, function: Value, start: Value) -> Value:
    if type(count) is not int:
        return None
    result = start
    for _index in range(count):
        METER.spend()
        following = apply(function, result)
        if following is result or (
            type(following) in _PLAIN and following == result and type(following) is type(result)
        ):
            break
        result = following
    return result


_PLAIN = (int, bool, str)


def _build_natural(function: Value) -> Value:
    successor = VLam("x", NATURAL, lambda number: add(_force(number), 1))
    return apply(apply(apply(function, NATURAL), successor), 0)


def _force(argument: Value) -> Value:
    return argument.value if type(argument).__name__ == "Thunk" else argument


def _subtract(a: Value, b: Value) -> Value:
    if type(a) is int:
        if type(b) is int:
            return max(b - a, 0)
        if a == 0:
            return b
    if type(b) is int and b == 0:
        return 0
    return 0 if are_equal(a, b) else None


def _replace(needle: Value, replacement: Value, haystack: Value) -> Value:
    if type(needle) is not str or type(haystack) is not str:
        return haystack if type(needle) is str and not needle else None
    if not needle:
        return haystack
    count = haystack.count(needle)
    if type(replacement) is str:
        METER.spend_characters(len(haystack) + count * max(0, len(replacement) - len(needle)))
        return haystack.replace(needle, replacement)
    METER.spend_items(2 * count + 1)
    first, *rest = haystack.split(needle)
    parts: list[Value] = [first]
    for piece in rest:
        parts += (replacement, piece)
    return join_texts(parts)


def _index_list(element: Value, value: Value) -> Value:
    if type(value) is not VList:
        return None
    METER.spend(3 * len(value.items))
    items = [VRec({"index": index, "value": item}) for index, item in enumerate(value.items)]
    return VList(items, VRecType({"index": NATURAL, "value": element}))


def _reverse_list(_: Value, value: Value) -> Value:
    if type(value) is not VList:
        return None
    METER.spend_items(len(value.items))
    return VList(value.items[::-1], value.element)


def _fold_list(_: Value, value: Value, __: Value, cons: Value, nil: Value) -> Value:
    if type(value) is not VList:
        return None
    result = nil
    for item in reversed(value.items):
        METER.spend()
        result = apply(apply(cons, item), result)
    return result


def _build_list(element: Value, function: Value) -> Value:
    list_type = make_list_type(element)

    def prepend(item: Value) -> Value:
        first = VList([_force(item)], element)
        return VLam("as", list_type, lambda rest: append(first, _force(rest)))

    return apply(apply(apply(function, list_type), VLam("a", element, prepend)), VList([], element))


def _pick(element: Value, value: Value, index: int) -> Value:
    if type(value) is not VList:
        return None
    return VSome(value.items[index]) if value.items else VNone(element)


def _when(kind: type, function: Any) -> Any:
    """Make a rule of one argument that reduces where it is a literal."""
    return lambda value: function(value) if type(value) is kind else None


def _show_integer(value: IntegerValue) -> str:
    return f"{value.number:+}"


def _show_natural(number: int) -> str:
    return str(number)


def _convert_integer(value: IntegerValue) -> float:
    try:
        return float(value.number)
    except OverflowError:
        return math.inf if value.number > 0 else -math.inf


_RULES: dict[tuple[str, int], Any] = {
    ("None", 1): VNone,
    ("Natural/show", 1): _when(int, _show_natural),
    ("Natural/isZero", 1): _when(int, lambda number: number == 0),
    ("Natural/even", 1): _when(int, lambda number: number % 2 == 0),
    ("Natural/odd", 1): _when(int, lambda number: number % 2 == 1),
    ("Natural/toInteger", 1): _when(int, IntegerValue),
    ("Natural/subtract", 2): _subtract,
    ("Natural/fold", 4): _fold_natural,
    ("Natural/build", 1): _build_natural,
    ("Integer/show", 1): _when(IntegerValue, _show_integer),
    ("Integer/toDouble", 1): _when(IntegerValue, _convert_integer),
    ("Integer/negate", 1): _when(IntegerValue, lambda value: IntegerValue(-value.number)),
    ("Integer/clamp", 1): _when(IntegerValue, lambda value: max(value.number, 0)),
    ("Double/show", 1): _when(float, show_double),
    ("Text/show", 1): _when(str, show_text),
    ("Text/replace", 3): _replace,
    ("Date/show", 1): _when(DateValue, show_date),
    ("Time/show", 1): _when(TimeValue, show_time),
    ("TimeZone/show", 1): _when(ZoneValue, show_zone),
    ("List/length", 2): lambda _, value: len(value.items) if type(value) is VList else None,
    ("List/head", 2): lambda element, value: _pick(element, value, 0),
    ("List/last", 2): lambda element, value: _pick(element, value, -1),
    ("List/reverse", 2): _reverse_list,
    ("List/indexed", 2): _index_list,
    ("List/fold", 5): _fold_list,
    ("List/build", 2): _build_list,
}
