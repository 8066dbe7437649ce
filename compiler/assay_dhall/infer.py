"""Infer and check the types of expressions, and collect errors.

`infer` and `check` dispatch on the kind of expression; `typing_rules`, `typing_records` and `typing_unions` register
the rules. An error in a part that others do not depend on (a binding, a field, an item) is reported in the context, and
checking continues. An expression that depends on a part with an error raises `ReportedError`, so that the error is
reported once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from assay_dhall.budget import spend_cells
from assay_dhall.completions import find_completion_hint, find_type_hint
from assay_dhall.convert import are_equal
from assay_dhall.errors import DhallError, Problem, ReportedError, build_error, suggest
from assay_dhall.evaluate import evaluate, instantiate
from assay_dhall.mismatch import (
    find_conversion_hint,
    find_difference,
    format_fields_hint,
    format_missing_message,
    list_fields_of_type,
)
from assay_dhall.printer import describe
from assay_dhall.quote import quote
from assay_dhall.syntax import Apply, Import, Node, RecordLiteral, Select, Var
from assay_dhall.values import (
    KIND,
    SORT,
    TYPE,
    Environment,
    NVar,
    Thunk,
    Value,
    VBuiltin,
    VConst,
    VEquivalence,
    VPi,
    VRecordType,
    VUnionType,
)

POISON = object()
"""The type of a name whose definition has an error that is reported already."""
RANKS = (TYPE, KIND, SORT)
MAX_PROBLEMS = 50


class Context:
    """Types, values and names of the variables in scope, by level; problems, shared with inner contexts.

    `is_closed` means that no lambda encloses the expression, so that each `let` has a single value.
    `record`, which only an editor needs, collects the expressions with their types.
    """

    __slots__ = ("env", "is_closed", "names", "problems", "record", "types")

    def __init__(
        self,
        types: tuple[Value, ...] = (),
        env: Environment = (),
        names: tuple[str, ...] = (),
        problems: list[Problem] | None = None,
        is_closed: bool = True,
        record: list[tuple[Node, Value, Context]] | None = None,
    ) -> None:
        self.types = types
        self.env = env
        self.names = names
        self.problems = [] if problems is None else problems
        self.is_closed = is_closed
        self.record = record

    def bind(self, name: str, domain: Value) -> Context:
        """Return the context below a binder."""
        variable = NVar(len(self.types), name)
        spend_cells(12 + 3 * len(self.types))
        return Context(
            (*self.types, domain), (*self.env, variable), (*self.names, name), self.problems, False, self.record
        )

    def define(self, name: str, type_value: Value, thunk: Thunk) -> Context:
        """Return the context after a `let`."""
        spend_cells(12 + 3 * len(self.types))
        return Context(
            (*self.types, type_value),
            (*self.env, thunk),
            (*self.names, name),
            self.problems,
            self.is_closed,
            self.record,
        )

    def report(self, error: DhallError) -> None:
        """Collect an error; raise it if the budget is used up."""
        if any(problem.code == "budget" for problem in error.problems):
            raise error
        self.problems.extend(problem for problem in error.problems if problem not in self.problems)
        if len(self.problems) > MAX_PROBLEMS:
            raise ReportedError

    def describe(self, value: Value) -> str:
        """Return a value as text for a message."""
        return describe(value, self.names)


INFERENCES: dict[type[Node], Callable[[Any, Context], Value]] = {}
CHECKS: dict[type[Node], Callable[[Any, Value, Context, str, tuple[str, ...]], bool]] = {}


def infer(node: Node, context: Context) -> Value:
    """Return the type of an expression; raise `DhallError`, or `ReportedError` after reporting all errors."""
    type_value = INFERENCES[type(node)](node, context)
    if context.record is not None:
        context.record.append((node, type_value, context))
    return type_value


def check(node: Node, expected: Value, context: Context, role: str, path: tuple[str, ...] = ()) -> None:
    """Check that an expression has a type; `role` names it in messages, `path` leads from there to a field."""
    rule = CHECKS.get(type(node))
    if rule is not None and rule(node, expected, context, role, path):
        if context.record is not None:
            context.record.append((node, expected, context))
        return
    actual = infer(node, context)
    if actual is not expected and not are_equal(expected, actual):
        fail_mismatch(node, expected, actual, context, role, path)


def infer_universe(node: Node, context: Context) -> VConst:
    """Return the type of a type, which is `Type`, `Kind` or `Sort`; refuse a value."""
    universe = infer(node, context)
    if type(universe) is VConst:
        return universe
    name = format_name(node)
    subject = f"`{name}` is a value" if name else "not a value"
    hint = ""
    if type(universe) is VRecordType and {"Type", "default"} <= universe.fields.keys():
        hint = f"`{name or 'X'}.Type` is the type; `{name or 'X'}::{{ … }}` is a value of it, with defaults"
    elif node.source.text[max(0, node.start - 200) : node.start].rstrip().endswith(":"):
        hint = "a type follows `:`, a value follows `=`"
    raise build_error("type", node, f"a type is needed here, {subject}", found=context.describe(universe), hint=hint)


def infer_type(node: Node, context: Context) -> Value:
    """Return the value of an expression that must be a type."""
    infer_universe(node, context)
    return evaluate(node, context.env)


def compute_rank(type_value: Value, context: Context) -> int:
    """Return 0, 1 or 2 for a type whose type is `Type`, `Kind` or `Sort`, and 3 for `Sort` itself."""
    kind = type(type_value)
    if kind is VConst:
        return int(type_value.rank) + 1
    if kind is VBuiltin or kind is VEquivalence:
        return 0
    if kind is VRecordType or kind is VUnionType:
        return max([compute_rank(item, context) for item in type_value.fields.values() if item is not None], default=0)
    if kind is VPi:
        return _compute_pi_rank(type_value, context)
    universe = infer(quote(type_value, list(context.names)), context)
    return int(universe.rank) if type(universe) is VConst else 0


def _compute_pi_rank(type_value: VPi, context: Context) -> int:
    inner = context.bind(type_value.name, type_value.domain)
    result = compute_rank(instantiate(type_value.closure, inner.env[-1]), inner)
    return result if result == 0 else max(result, compute_rank(type_value.domain, context))


def infer_each(
    parts: Iterable[tuple[str, Node]], context: Context, rule: Callable[[Node, Context], Value] = infer
) -> dict[str, Value]:
    """Return the types of independent parts, by name; report the errors of all of them."""
    types: dict[str, Value] = {}
    is_complete = True
    for name, node in parts:
        try:
            types[name] = rule(node, context)
        except DhallError as error:
            context.report(error)
            is_complete = False
        except ReportedError:
            is_complete = False
    if not is_complete:
        raise ReportedError
    return types


def format_name(node: Node) -> str:
    """Return the source text of an expression for a message; empty when it is long."""
    current = node
    while isinstance(current, Select):
        current = current.value
    if isinstance(current, Var | Import):
        text = node.source.text[node.start : node.end]
        if len(text) <= 50 and "\n" not in text:
            return text
    return ""


def format_function_name(node: Node) -> tuple[str, int]:
    """Return how a message names the function of an application, and how many arguments precede."""
    count = 0
    while isinstance(node, Apply):
        node = node.function
        count += 1
    name = node.source.text[node.start : node.end] if not isinstance(node, RecordLiteral) else ""
    is_short = len(name) <= 50 and "\n" not in name and not name.startswith("\\")
    return (f"`{name}`" if is_short and name else "the function"), count


def fail_mismatch(
    node: Node, expected: Value, actual: Value, context: Context, role: str, path: tuple[str, ...] = ()
) -> NoReturn:
    """Raise the error of an expression with another type than expected."""
    message = f"wrong type of field `{'.'.join(path)}` in {role}" if path else f"{role} has the wrong type"
    notes: tuple[str, ...] = ()
    fields = list_fields_of_type(format_name(node), expected, actual)
    hint = _find_mismatch_hint(node, expected, actual, context, fields)
    if type(expected) is VRecordType and type(actual) is VRecordType and not fields:
        inner, detail, close = find_difference(expected, actual)
        location = f"field `{'.'.join(path)}` of {role}" if path else role
        if detail == "unknown":
            message, hint = f"unknown field `{inner}` in {location}", close
        elif detail == "missing":
            missing = inner.split(", ")
            message = format_missing_message(missing, location)
            hint = find_completion_hint(expected, missing, context.names, context.types, context.env)
        else:
            left, right = expected, actual
            for part in inner.split("."):
                left, right = left.fields[part], right.fields[part]
            notes = (f"field `{inner}`: expected {context.describe(left)}, found {context.describe(right)}",)
    raise build_error(
        "type",
        node,
        message,
        expected=context.describe(expected),
        found=context.describe(actual),
        notes=notes,
        hint=hint,
    )


def _find_mismatch_hint(node: Node, expected: Value, actual: Value, context: Context, fields: list[str]) -> str:
    """Return the most specific hint for a value of the wrong type, of which `fields` have the right one."""
    if len(fields) == 1:
        return f"did you mean {fields[0]}?"
    return (
        find_conversion_hint(node, expected, actual)
        or find_type_hint(expected, context.names, context.types, context.env)
        or format_fields_hint(fields)
    )


def format_unknown_name_hint(name: str, names: Iterable[str]) -> str:
    """Return the hint for a name that nothing binds."""
    close = suggest(name, names).removeprefix("; ")
    return close or "no `let` or function around it binds this name"
