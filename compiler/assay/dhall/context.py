"""What type checking knows at a place, and how rules report errors."""

from __future__ import annotations

from typing import Any

from assay.dhall.convert import are_equal
from assay.dhall.errors import DhallError, Diagnostic
from assay.dhall.evaluate import evaluate, place_error
from assay.dhall.meter import METER
from assay.dhall.printing import show
from assay.dhall.quote import Quoter
from assay.dhall.syntax import Node
from assay.dhall.values import (
    KIND,
    SORT,
    TYPE,
    Environment,
    NApp,
    NIf,
    NSelect,
    NVar,
    Value,
    VConst,
    VPi,
    VRecType,
    VUnion,
)

ORDER = {"Type": 0, "Kind": 1, "Sort": 2}


class Skipped(Exception):  # noqa: N818
    """The type of an expression is unknown because of an error that is reported already."""


class Context:
    """The types and values of the variables in scope, and the errors found so far in the file."""

    __slots__ = ("environment", "errors", "types")

    def __init__(self, types: tuple[Value, ...], environment: Environment, errors: list[Diagnostic]) -> None:
        self.types = types
        self.environment = environment
        self.errors = errors

    def bind(self, name: str, domain: Value) -> Context:
        """Give the context inside a function, where its argument is a variable."""
        variable = NVar(len(self.types), name, domain)
        return Context((*self.types, domain), (*self.environment, variable), self.errors)

    def evaluate(self, node: Node) -> Value:
        """Evaluate an expression whose type is known."""
        return evaluate(node, self.environment)

    def are_equal(self, a: Value, b: Value) -> bool:
        """Tell whether two types, or values, are equal here."""
        return a is b or are_equal(a, b, len(self.types))

    def attempt(self, node: Node) -> Value:
        """Infer a type, or keep the error and give None, where others may be found behind it."""
        depth = METER.depth
        try:
            return infer(node, self)
        except Skipped:
            return None
        except DhallError as error:
            if error.diagnostics[0].code == "budget":
                raise place_error(error, node) from None
            self.errors += error.diagnostics
            METER.depth = depth
            return None


RULES: dict[type, Any] = {}


def infer(node: Node, context: Context) -> Value:
    """Give the type of an expression, in normal form."""
    return RULES[type(node)](node, context)


def make_error(
    node: Node,
    message: str,
    expected: Value = None,
    actual: Value = None,
    hint: str = "",
    at: tuple[int, int] | None = None,
) -> DhallError:
    """Make a type error at an expression, or at the offsets `at`; types are shown, texts taken as they are."""
    start, end = at or (node.start, node.end)
    texts = [side if side is None or isinstance(side, str) else show(side) for side in (expected, actual)]
    span, excerpt = node.file.make_span(start, end), node.file.make_excerpt(start, end)
    return DhallError(Diagnostic("type", message, span, texts[0], texts[1], (), hint, excerpt))


def describe(node: Node) -> str:
    """Name an expression by its text where that is short, the function for an application."""
    text = node.file.text[node.start : node.end]
    return f"`{text}`" if len(text) <= 40 and "\n" not in text else "this expression"


def infer_universe(node: Node, context: Context) -> VConst:
    """Infer the type of a type: Type, Kind or Sort."""
    actual = infer(node, context)
    if type(actual) is VConst:
        return actual
    hint, name = "", describe(node)
    if type(actual) is VRecType and {"Type", "default"} <= actual.fields.keys():
        short = name.strip("`")
        hint = f"`{short}.Type` is the type; `{short}::{{ … }}` is a value of it, with defaults"
    elif type(actual) is VPi:
        hint = "it is a function that gives a type: its argument is missing"
    raise make_error(node, f"a type is needed here, {name} is a value", None, actual, hint)


def find_sort(value: Value) -> VConst:
    """Give the type of a type that is in normal form."""
    kind = type(value)
    if kind is VRecType or kind is VUnion:
        if value.sort is None:
            sorts = [find_sort(item) for item in value.fields.values() if item is not None]
            value.sort = max(sorts, key=lambda sort: ORDER[sort.name], default=TYPE)
        sort: VConst = value.sort
        return sort
    if kind is VConst:
        return KIND if value.name == "Type" else SORT
    if kind is VPi:
        result = find_sort(value.call(NVar(1 << 41, value.name, value.domain)))
        return (
            TYPE if result.name == "Type" else max(find_sort(value.domain), result, key=lambda sort: ORDER[sort.name])
        )
    if kind is NIf:
        return find_sort(value.then)
    actual = find_neutral_type(value)
    return actual if type(actual) is VConst else TYPE


def find_neutral_type(value: Value) -> Value:
    """Give the type of a neutral value as far as its head tells, else None."""
    kind = type(value)
    if kind is NVar:
        return value.type
    if kind is NApp:
        function = find_neutral_type(value.function)
        return function.call(value.argument) if type(function) is VPi else None
    if kind is NSelect:
        record = find_neutral_type(value.value)
        return record.fields.get(value.name) if type(record) is VRecType else None
    return None


class Abstraction:
    """The type of a function's body for any argument; quoted only where it depends on the argument."""

    __slots__ = ("environment", "level", "quoted", "type", "uses")

    def __init__(self, body_type: Value, context: Context) -> None:
        self.type = body_type
        self.environment = context.environment
        self.level = len(context.types)
        self.quoted: Node | None = None
        self.uses = False

    def call(self, argument: Value) -> Value:
        """Give the type of the result."""
        if type(argument) is NVar and argument.level == self.level:
            return self.type
        if self.quoted is None:
            quoter = Quoter(self.level, embed=True)
            self.quoted = quoter.quote(self.type)
            self.uses = quoter.uses_base
        return evaluate(self.quoted, (*self.environment, argument)) if self.uses else self.type


def mentions(value: Value, level: int) -> bool:
    """Tell whether the variable of a level occurs in a value."""
    quoter = Quoter(level, embed=True)
    quoter.quote(value)
    return quoter.uses_base
