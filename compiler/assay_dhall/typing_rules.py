"""Typing rules for everything but records and unions."""

from __future__ import annotations

from itertools import pairwise
from typing import NoReturn

from assay_dhall.builtin_functions import TYPES
from assay_dhall.convert import are_equal
from assay_dhall.errors import DhallError, ReportedError, build_error, build_problem, find_comment_hint, place_error
from assay_dhall.evaluate import evaluate, instantiate
from assay_dhall.infer import (
    CHECKS,
    INFERENCES,
    POISON,
    RANKS,
    Context,
    check,
    compute_rank,
    fail_mismatch,
    format_function_name,
    format_name,
    format_unknown_name_hint,
    infer,
    infer_type,
    infer_universe,
)
from assay_dhall.mismatch import find_argument_hint, find_conversion_hint
from assay_dhall.parser import parse
from assay_dhall.syntax import (
    BUILTINS,
    Annotation,
    Apply,
    Assert,
    Builtin,
    Fallback,
    If,
    Import,
    Lambda,
    Let,
    ListLiteral,
    Literal,
    Node,
    Operation,
    Pi,
    RecordLiteral,
    SomeLiteral,
    Source,
    TextLiteral,
    Var,
)
from assay_dhall.values import (
    BOOL,
    BYTES,
    DOUBLE,
    INTEGER,
    NATURAL,
    TEMPORAL,
    TEXT,
    TYPE,
    Constant,
    Dependent,
    Thunk,
    Value,
    VEquivalence,
    VInteger,
    VPi,
    VRecordType,
    VTemporal,
    create_list_type,
    create_optional_type,
    is_list_type,
    is_optional_type,
)

Path = tuple[str, ...]
_OPERANDS = {"+": NATURAL, "*": NATURAL, "&&": BOOL, "||": BOOL, "==": BOOL, "!=": BOOL, "++": TEXT}
_JOINS: dict[type[Node], tuple[str, str]] = {
    TextLiteral: ("++", "texts"),
    ListLiteral: ("#", "lists"),
    RecordLiteral: ("//", "records"),
}
_BUILTIN_TYPES = {name: evaluate(parse(Source("(built in)", text)), ()) for name, text in TYPES.items()}
_LITERALS = {str: TEXT, int: NATURAL, float: DOUBLE, bytes: BYTES, VInteger: INTEGER}


def _infer_var(node: Var, context: Context) -> Value:
    if node.level >= 0:
        type_value = context.types[node.level]
        if type_value is POISON:
            raise ReportedError
        return type_value
    name = node.name if node.index == 0 else f"{node.name}@{node.index}"
    hint = format_unknown_name_hint(node.name, [*context.names, *BUILTINS])
    if hint.startswith("no "):
        hint = find_comment_hint(node.source, node.start) or hint
    if hint.startswith("no ") and _is_bound_elsewhere(node):
        hint = "this name is bound elsewhere in the file: a `let` binds it in what follows"
    raise build_error("type", node, f"unknown name `{name}`", hint=hint)


def _is_bound_elsewhere(node: Var) -> bool:
    words = node.source.text.split()
    return any(first == "let" and second == node.name for first, second in pairwise(words))


def _infer_builtin(node: Builtin, _context: Context) -> Value:
    if node.name == "Sort":
        raise build_error("type", node, "`Sort` has no type, so it cannot be used as a value")
    return _BUILTIN_TYPES[node.name]


def _infer_literal(node: Literal, _context: Context) -> Value:
    if type(node.value) is VTemporal:
        return TEMPORAL[node.value.kind]
    return _LITERALS[type(node.value)]


def _infer_text(node: TextLiteral, context: Context) -> Value:
    for part in node.parts:
        if isinstance(part, str):
            continue
        actual = infer(part, context)
        if actual is not TEXT and not are_equal(actual, TEXT):
            hint = find_conversion_hint(part, TEXT, actual)
            raise build_error(
                "type",
                part,
                "a value inside a text must be a Text",
                expected="Text",
                found=context.describe(actual),
                hint=hint,
            )
    return TEXT


def _infer_lambda(node: Lambda, context: Context) -> Value:
    domain = infer_type(node.domain, context)
    result = infer(node.body, context.bind(node.name, domain))
    return VPi(node.name, domain, Dependent(result, len(context.types), context.env))


def _check_lambda(node: Lambda, expected: Value, context: Context, role: str, _path: Path) -> bool:
    if type(expected) is not VPi:
        return False
    domain = infer_type(node.domain, context)
    if not are_equal(domain, expected.domain):
        subject = f"the parameter `{node.name}` of {role}"
        fail_mismatch(node.domain, expected.domain, domain, context, subject)
    inner = context.bind(node.name, domain)
    check(node.body, instantiate(expected.closure, inner.env[-1]), inner, f"the result of {role}")
    return True


def _infer_pi(node: Pi, context: Context) -> Value:
    domain = infer_universe(node.domain, context)
    inner = context.bind(node.name, evaluate(node.domain, context.env))
    result = infer_universe(node.body, inner)
    return result if result is TYPE else RANKS[max(domain.rank, result.rank)]


def _infer_apply(node: Apply, context: Context) -> Value:
    function = infer(node.function, context)
    if type(function) is not VPi:
        _refuse_argument(node, function, context)
    name, preceding_count = format_function_name(node.function)
    is_only = preceding_count == 0 and not _has_more_parameters(function)
    role = f"the argument of {name}" if is_only else f"argument {preceding_count + 1} of {name}"
    check(node.argument, function.domain, context, role)
    closure = function.closure
    if type(closure) is Constant:
        return closure.value
    if type(closure) is Dependent and closure.closure is not None and type(closure.closure) is Constant:
        return closure.closure.value
    return instantiate(closure, evaluate(node.argument, context.env))


def _has_more_parameters(function: VPi) -> bool:
    closure = function.closure
    if type(closure) is Dependent:
        return type(closure.type) is VPi
    return isinstance(getattr(closure, "body", None), Pi)


def _refuse_argument(node: Apply, function: Value, context: Context) -> NoReturn:
    subject = format_name(node.function) or node.function.source.text[node.function.start : node.function.end]
    argument = format_name(node.argument)
    follows = f"`{argument}` follows it as an argument" if argument else "an argument follows it"
    message = f"this is not a function, but {follows}"
    if len(subject) <= 50 and "\n" not in subject:
        message = f"`{subject}` is not a function, but {follows}"
    hint = "there is an argument too many, or a comma or operator is missing before it"
    if isinstance(node.argument, Literal) and type(node.argument.value) is VInteger:
        hint = "a number with a sign is an Integer; an operator `+` has a space after it"
    if type(function) is VRecordType and {"Type", "default"} <= function.fields.keys():
        hint = f"a value of it, with defaults, is written `{subject}::{{ … }}`"
    raise build_error("type", node.function, message, found=context.describe(function), hint=hint)


def _enter_lets(node: Let, context: Context) -> tuple[Node, Context, bool]:
    """Type the bindings of a chain of `let`; return the body, its context and whether all have a type."""
    current: Node = node
    is_right = True
    while type(current) is Let:
        type_value = POISON
        try:
            type_value = _infer_binding(current, context)
        except DhallError as error:
            context.report(place_error(error, current.value))
            is_right = False
        except ReportedError:
            is_right = False
        thunk = Thunk(current.value, context.env, current.height)
        if context.is_closed:
            current.shared = thunk
        context = context.define(current.name, type_value, thunk)
        current = current.body
    return current, context, is_right


def _infer_binding(node: Let, context: Context) -> Value:
    if node.annotation is None:
        return infer(node.value, context)
    annotation = infer_type(node.annotation, context)
    check(node.value, annotation, context, f"the value of `{node.name}`")
    return annotation


def _infer_let(node: Let, context: Context) -> Value:
    body, inner, is_right = _enter_lets(node, context)
    if is_right:
        return infer(body, inner)
    _report_body(body, inner)
    raise ReportedError


def _report_body(body: Node, context: Context) -> None:
    try:
        infer(body, context)
    except DhallError as error:
        context.report(error)
    except ReportedError:
        pass


def _check_let(node: Let, expected: Value, context: Context, role: str, path: Path) -> bool:
    body, inner, is_right = _enter_lets(node, context)
    try:
        check(body, expected, inner, role, path)
    except DhallError as error:
        inner.report(error)
        is_right = False
    if not is_right:
        raise ReportedError
    return True


def _infer_annotation(node: Annotation, context: Context) -> Value:
    is_sort = type(node.annotation) is Builtin and node.annotation.name == "Sort"
    annotation = evaluate(node.annotation, ()) if is_sort else infer_type(node.annotation, context)
    check(node.value, annotation, context, "the annotated expression")
    return annotation


def _check_condition(node: If, context: Context) -> None:
    condition = infer(node.condition, context)
    if not are_equal(condition, BOOL):
        raise build_error(
            "type", node.condition, "the condition of `if` is not a Bool", found=context.describe(condition)
        )


def _infer_if(node: If, context: Context) -> Value:
    _check_condition(node, context)
    positive = infer(node.positive, context)
    if compute_rank(positive, context) > 2:
        raise build_error("type", node.positive, "a branch of `if` cannot be a `Kind`")
    check(node.negative, positive, context, "the `else` branch")
    return positive


def _check_if(node: If, expected: Value, context: Context, role: str, path: Path) -> bool:
    if compute_rank(expected, context) > 2:
        return False
    _check_condition(node, context)
    check(node.positive, expected, context, role, path)
    check(node.negative, expected, context, role, path)
    return True


def infer_simple_operation(node: Operation, context: Context) -> Value:
    """Return the type of an operation on anything but records."""
    operand = _OPERANDS.get(node.operator)
    if operand is not None:
        _refuse_other_operator(node)
        check(node.left, operand, context, f"the left side of `{node.operator}`")
        check(node.right, operand, context, f"the right side of `{node.operator}`")
        return operand
    if node.operator == "#":
        return _infer_append(node, context)
    return _infer_equivalence(node, context)


def _refuse_other_operator(node: Operation) -> None:
    """Refuse `+` or `++` beside a literal that another operator joins."""
    if node.operator not in ("+", "++"):
        return
    for side in (node.left, node.right):
        kind = TextLiteral if isinstance(side, Literal) and isinstance(side.value, str) else type(side)
        operator, operands = _JOINS.get(kind, ("", ""))
        if operator not in ("", node.operator):
            start = max(node.source.text.find(node.operator, node.left.end, node.right.start), node.left.end)
            message, hint = f"`{node.operator}` does not join {operands}", f"`{operator}` joins {operands}"
            end = start + len(node.operator)
            raise DhallError([build_problem("type", node.source, start, end, message, hint=hint)])


def _infer_append(node: Operation, context: Context) -> Value:
    left = infer(node.left, context)
    if not is_list_type(left):
        hint = find_comment_hint(node.source, node.left.end) or find_argument_hint(left)
        left_type = context.describe(left)
        raise build_error("type", node.left, "`#` joins lists", expected="List …", found=left_type, hint=hint)
    right = infer(node.right, context)
    if not is_list_type(right):
        right_type, hint = context.describe(right), find_argument_hint(right)
        raise build_error("type", node.right, "`#` joins lists", expected="List …", found=right_type, hint=hint)
    if not are_equal(left, right):
        fail_mismatch(node.right, left, right, context, "the right side of `#`")
    return left


def _infer_equivalence(node: Operation, context: Context) -> Value:
    left, right = infer(node.left, context), infer(node.right, context)
    if not are_equal(left, right):
        fail_mismatch(node.right, left, right, context, "the right side of `===`")
    if compute_rank(left, context) > 0:
        raise build_error("type", node, "`===` compares values, not types")
    return TYPE


def _infer_list(node: ListLiteral, context: Context) -> Value:
    if not node.items:
        assert node.annotation is not None
        annotation = infer_type(node.annotation, context)
        if not is_list_type(annotation):
            raise build_error(
                "type",
                node.annotation,
                "the type of an empty list is a list",
                expected="List …",
                found=context.describe(annotation),
            )
        return annotation
    element, is_right = _infer_items(node, context)
    if not is_right or element is None:
        raise ReportedError
    if compute_rank(element, context) > 0:
        raise build_error("type", node.items[0], "a list holds values, not types", found=context.describe(element))
    return create_list_type(element)


def _infer_items(node: ListLiteral, context: Context) -> tuple[Value | None, bool]:
    """Return the type of the first item that has one, and whether all items have it."""
    element, is_right = None, True
    for number, item in enumerate(node.items, 1):
        try:
            if element is None:
                element = infer(item, context)
            else:
                check(item, element, context, f"item {number} of the list")
        except DhallError as error:
            context.report(error)
            is_right = False
        except ReportedError:
            is_right = False
    return element, is_right


def _check_list(node: ListLiteral, expected: Value, context: Context, role: str, path: Path) -> bool:
    if not node.items or not is_list_type(expected):
        return False
    is_right = True
    for number, item in enumerate(node.items, 1):
        owner = f"field `{'.'.join(path)}` of {role}" if path else role
        try:
            check(item, expected.arguments[0], context, f"item {number} of {owner}")
        except DhallError as error:
            context.report(error)
            is_right = False
        except ReportedError:
            is_right = False
    if not is_right:
        raise ReportedError
    return True


def _infer_some(node: SomeLiteral, context: Context) -> Value:
    value = infer(node.value, context)
    if compute_rank(value, context) > 0:
        raise build_error("type", node.value, "`Some` needs a value, not a type", found=context.describe(value))
    return create_optional_type(value)


def _check_some(node: SomeLiteral, expected: Value, context: Context, role: str, path: Path) -> bool:
    if not is_optional_type(expected):
        return False
    check(node.value, expected.arguments[0], context, role, path)
    return True


def _infer_assert(node: Assert, context: Context) -> Value:
    equivalence = infer_type(node.annotation, context)
    if type(equivalence) is not VEquivalence:
        raise build_error(
            "type",
            node.annotation,
            "`assert` needs an equivalence",
            expected="assert : a === b",
            found=context.describe(equivalence),
        )
    if not are_equal(equivalence.left, equivalence.right):
        raise build_error(
            "assert",
            node,
            "the assertion does not hold",
            expected=context.describe(equivalence.right),
            found=context.describe(equivalence.left),
        )
    return equivalence


def _infer_fallback(node: Fallback, context: Context) -> Value:
    return infer(node.chosen or node.left, context)


def _check_fallback(node: Fallback, expected: Value, context: Context, role: str, path: Path) -> bool:
    check(node.chosen or node.left, expected, context, role, path)
    return True


def _infer_import(node: Import, _context: Context) -> Value:
    if node.module is None:
        raise ReportedError
    return node.module.type


INFERENCES.update(
    {
        Var: _infer_var,
        Builtin: _infer_builtin,
        Literal: _infer_literal,
        TextLiteral: _infer_text,
        Lambda: _infer_lambda,
        Pi: _infer_pi,
        Apply: _infer_apply,
        Let: _infer_let,
        Annotation: _infer_annotation,
        If: _infer_if,
        ListLiteral: _infer_list,
        SomeLiteral: _infer_some,
        Assert: _infer_assert,
        Fallback: _infer_fallback,
        Import: _infer_import,
    }
)
CHECKS.update(
    {
        Lambda: _check_lambda,
        Let: _check_let,
        If: _check_if,
        ListLiteral: _check_list,
        SomeLiteral: _check_some,
        Fallback: _check_fallback,
    }
)
