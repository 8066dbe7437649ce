"""Type inference; several independent errors of a file are reported together.

Bindings, fields and items are independent: an error in one is kept, and what depends on it is skipped.
"""

from __future__ import annotations

from typing import Any

from assay.dhall import typecheck_records
from assay.dhall.builtins import TYPES
from assay.dhall.context import (
    ORDER,
    RULES,
    Abstraction,
    Context,
    Skipped,
    describe,
    find_sort,
    infer,
    infer_universe,
    make_error,
)
from assay.dhall.errors import DhallError, Diagnostic, suggest
from assay.dhall.mismatch import explain_mismatch, hint_types
from assay.dhall.parser import parse
from assay.dhall.printing import show
from assay.dhall.syntax import (
    Ann,
    App,
    Assert,
    Builtin,
    DateValue,
    If,
    Import,
    IntegerValue,
    Lam,
    Let,
    ListLit,
    Lit,
    Node,
    Op,
    Pi,
    SomeLit,
    Source,
    TextLit,
    TimeValue,
    Var,
    ZoneValue,
)
from assay.dhall.values import (
    BOOL,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    NATURAL,
    SORT,
    TEXT,
    TIME,
    TYPE,
    ZONE,
    NVar,
    Thunk,
    Value,
    VBuiltin,
    VConst,
    VEquivalence,
    VPi,
    make_list_type,
    make_optional_type,
)

_POISON = VConst("(unknown)")
_OPERANDS = {"+": NATURAL, "*": NATURAL, "&&": BOOL, "||": BOOL, "==": BOOL, "!=": BOOL, "++": TEXT}


def check_file(node: Node) -> Value:
    """Give the type of a closed expression whose imports are resolved; raises all errors at once."""
    errors: list[Diagnostic] = []
    actual = Context((), (), errors).attempt(node)
    if errors:
        unique = dict.fromkeys(errors)
        raise DhallError(*sorted(unique, key=lambda item: item.span.start if item.span else 0))
    return actual


def _infer_variable(node: Var, context: Context) -> Value:
    if node.level is None:
        raise _refuse_unknown(node)
    actual = context.types[node.level]
    if actual is _POISON:
        raise Skipped
    return actual


def _refuse_unknown(node: Var) -> DhallError:
    if node.index:
        return make_error(node, f"`{node.name}@{node.index}` counts more bindings of `{node.name}` than there are")
    hint = suggest(node.name, node.candidates)
    if not hint.startswith("did"):
        hint = "no `let` or function around it binds this name"
        if f"let {node.name} " in node.file.text:
            hint = "this name is bound elsewhere in the file: a `let` binds it in what follows"
    return make_error(node, f"unknown name `{node.name}`", hint=hint)


def _infer_lambda(node: Lam, context: Context) -> Value:
    infer_universe(node.domain, context)
    domain = context.evaluate(node.domain)
    body_type = infer(node.body, context.bind(node.name, domain))
    if body_type is SORT:
        raise make_error(node.body, "a function cannot give `Kind`")
    return VPi(node.name, domain, Abstraction(body_type, context).call)


def _infer_function_type(node: Pi, context: Context) -> Value:
    argument = infer_universe(node.domain, context)
    result = infer_universe(node.body, context.bind(node.name, context.evaluate(node.domain)))
    return (
        TYPE if result is TYPE or ORDER[result.name] == 0 else max(argument, result, key=lambda sort: ORDER[sort.name])
    )


def _infer_application(node: App, context: Context) -> Value:
    function = infer(node.function, context)
    if type(function) is not VPi:
        raise _refuse_call(node, function)
    argument = infer(node.argument, context)
    if not context.are_equal(function.domain, argument):
        subject = _name_argument(node)
        raise explain_mismatch(node.argument, subject, function.domain, argument, context)
    owner = getattr(function.call, "__self__", None)
    if type(owner) is Abstraction and owner.quoted is not None and not owner.uses:
        return owner.type
    return function.call(context.evaluate(node.argument))


def _refuse_call(node: App, actual: Value) -> DhallError:
    message = f"{describe(node.function)} is not a function, but {describe(node.argument)} follows it as an argument"
    hint = "there is an argument too many, or a comma or operator is missing before it"
    return make_error(node.function, message, None, actual, hint)


def _name_argument(node: App) -> str:
    head, count = node.function, 1
    while isinstance(head, App):
        head, count = head.function, count + 1
    name = describe(head)
    return f"the argument of {name}" if count == 1 else f"argument {count} of {name}"


def _infer_let(node: Node, context: Context) -> Value:
    is_closed = not any(type(value) is NVar for value in context.environment)
    while isinstance(node, Let):
        actual = _infer_binding(node, context)
        thunk = Thunk(node.value, context.environment)
        if is_closed:
            node.memo = thunk
        types = (*context.types, _POISON if actual is None else actual)
        context = Context(types, (*context.environment, thunk), context.errors)
        node = node.body
    return infer(node, context)


def _infer_binding(node: Let, context: Context) -> Value:
    if node.annotation is None:
        return context.attempt(node.value)
    annotated = Ann(node.file, node.value.start, node.value.end, node.value, node.annotation)
    return context.attempt(annotated)


def _infer_annotation(node: Ann, context: Context) -> Value:
    if not (isinstance(node.annotation, Builtin) and node.annotation.name == "Sort"):
        infer_universe(node.annotation, context)
    wanted = context.evaluate(node.annotation)
    _check(node.value, wanted, context, "the annotated expression")
    return wanted


def _check(node: Node, wanted: Value, context: Context, subject: str) -> None:
    actual = infer(node, context)
    if not context.are_equal(wanted, actual):
        raise explain_mismatch(node, subject, wanted, actual, context)


def _infer_if(node: If, context: Context) -> Value:
    condition = infer(node.condition, context)
    if not context.are_equal(BOOL, condition):
        raise make_error(node.condition, "the condition of `if` is not a Bool", BOOL, condition)
    then, other = infer(node.then, context), infer(node.other, context)
    if not context.are_equal(then, other):
        raise explain_mismatch(node.other, "the `else` branch", then, other, context)
    if then is SORT:
        raise make_error(node.then, "a branch of `if` cannot be `Kind`")
    return then


def _infer_operator(node: Op, context: Context) -> Value:
    op = node.op
    wanted = _OPERANDS.get(op)
    if wanted is not None:
        for operand, side in ((node.left, "left"), (node.right, "right")):
            actual = infer(operand, context)
            if not context.are_equal(wanted, actual):
                raise explain_mismatch(operand, f"the {side} side of `{op}`", wanted, actual, context)
        return wanted
    if op == "?":
        return infer(node.left, context)
    if op == "#":
        return _infer_append(node, context)
    if op == "===":
        return _infer_equivalence(node, context)
    return typecheck_records.infer_record_operator(node, context)


def _infer_append(node: Op, context: Context) -> Value:
    left, right = context.attempt(node.left), context.attempt(node.right)
    if left is None or right is None:
        raise Skipped
    for operand, actual in ((node.left, left), (node.right, right)):
        if type(actual) is not VBuiltin or actual.name != "List":
            raise make_error(operand, "`#` joins lists", "List …", actual, "a list is written in brackets: `[ … ]`")
    if not context.are_equal(left, right):
        raise explain_mismatch(node.right, "the right side of `#`", left, right, context)
    return left


def _infer_equivalence(node: Op, context: Context) -> Value:
    left, right = infer(node.left, context), infer(node.right, context)
    if not context.are_equal(left, right):
        raise explain_mismatch(node.right, "the right side of `===`", left, right, context)
    if find_sort(left) is not TYPE:
        raise make_error(node, "`===` compares values, not types", None, left)
    return TYPE


def _infer_list(node: ListLit, context: Context) -> Value:
    if not node.items:
        assert node.annotation is not None
        infer_universe(node.annotation, context)
        wanted = context.evaluate(node.annotation)
        if type(wanted) is not VBuiltin or wanted.name != "List" or len(wanted.arguments) != 1:
            raise make_error(node.annotation, "the type of an empty list is that of a list", "List …", wanted)
        return wanted
    actual = [context.attempt(item) for item in node.items]
    known = [item for item in actual if item is not None]
    if not known:
        raise Skipped
    _check_items(node, actual, known[0], context)
    if len(known) < len(actual):
        raise Skipped
    if find_sort(known[0]) is not TYPE:
        raise make_error(node.items[0], "a list holds values, not types", None, known[0])
    return make_list_type(known[0])


def _check_items(node: ListLit, actual: list[Value], wanted: Value, context: Context) -> None:
    problems: list[Diagnostic] = []
    for index, (item, item_type) in enumerate(zip(node.items, actual, strict=True), 1):
        if item_type is not None and not context.are_equal(wanted, item_type):
            error = explain_mismatch(item, f"item {index} of the list", wanted, item_type, context)
            problems += error.diagnostics
    if problems:
        raise DhallError(*problems[:20])


def _infer_text(node: TextLit, context: Context) -> Value:
    for part in node.parts:
        if isinstance(part, Node):
            actual = infer(part, context)
            if not context.are_equal(TEXT, actual):
                hint = hint_types(TEXT, actual)
                raise make_error(part, "a value inside a text must be a Text", TEXT, actual, hint)
    return TEXT


def _infer_some(node: SomeLit, context: Context) -> Value:
    actual = infer(node.value, context)
    if find_sort(actual) is not TYPE:
        raise make_error(node.value, "`Some` holds a value, not a type", None, actual)
    return make_optional_type(actual)


def _infer_assert(node: Assert, context: Context) -> Value:
    infer_universe(node.annotation, context)
    claim = context.evaluate(node.annotation)
    if type(claim) is not VEquivalence:
        raise make_error(node.annotation, "`assert` needs an equivalence", "a === b", claim)
    if not context.are_equal(claim.left, claim.right):
        raise make_error(node, "the assertion does not hold", show(claim.right), show(claim.left))
    return claim


def _infer_builtin(node: Builtin, _: Context) -> Value:
    if node.name == "Sort":
        raise make_error(node, "`Sort` has no type")
    return _BUILTIN_TYPES[node.name]


_LITERALS: dict[type, Value] = {str: TEXT, int: NATURAL, float: DOUBLE, bytes: BYTES, IntegerValue: INTEGER}
_LITERALS |= {DateValue: DATE, TimeValue: TIME, ZoneValue: ZONE}
RULES |= {
    Var: _infer_variable,
    Lam: _infer_lambda,
    Pi: _infer_function_type,
    App: _infer_application,
    Let: _infer_let,
    Ann: _infer_annotation,
    If: _infer_if,
    Op: _infer_operator,
    Lit: lambda node, _: _LITERALS[type(node.value)],
    TextLit: _infer_text,
    Builtin: _infer_builtin,
    ListLit: _infer_list,
    SomeLit: _infer_some,
    Assert: _infer_assert,
    Import: lambda node, _: node.resolved[1],
}


def _make_builtin_types() -> dict[str, Any]:
    types: dict[str, Any] = {}
    for names, text in TYPES.items():
        value = Context((), (), []).evaluate(parse(Source("(builtin)", text))[0])
        types |= dict.fromkeys(names.split(), value)
    return types


_BUILTIN_TYPES = _make_builtin_types()
