"""Evaluate expressions in an environment, which holds the values of variables by level.

Only well-typed expressions are evaluated (or open ones, by tests of the standard). All recursion is from Python
function to Python function, which needs no C stack; the meter bounds its depth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay_dhall.budget import METER, build_budget_error, find_budget_error, spend_cells, spend_steps
from assay_dhall.builtin_functions import ARITIES, reduce_builtin
from assay_dhall.convert import are_equal, has_variable
from assay_dhall.errors import DhallError, place_error
from assay_dhall.hooks import HOOKS
from assay_dhall.operations import concatenate, operate, prefer, project, select, update
from assay_dhall.quote import COST, quote
from assay_dhall.syntax import (
    BUILTINS,
    Annotation,
    Apply,
    Assert,
    Builtin,
    Complete,
    Fallback,
    If,
    Import,
    Lambda,
    Let,
    ListLiteral,
    Literal,
    Merge,
    Node,
    Operation,
    Pi,
    Project,
    ProjectType,
    RecordLiteral,
    RecordType,
    Select,
    ShowConstructor,
    SomeLiteral,
    TextLiteral,
    ToMap,
    UnionType,
    Var,
    With,
)
from assay_dhall.values import (
    BOOL,
    BYTES,
    DOUBLE,
    INTEGER,
    KIND,
    MISSING,
    NATURAL,
    SORT,
    TEMPORAL,
    TEXT,
    TYPE,
    Closure,
    Constant,
    Dependent,
    Environment,
    NApply,
    NFree,
    NIf,
    NMerge,
    NShow,
    NToMap,
    NVar,
    Thunk,
    VAlternative,
    Value,
    VAssert,
    VBuiltin,
    VConstructor,
    VLambda,
    VList,
    VNone,
    VPi,
    VRecord,
    VRecordType,
    VSome,
    VUnionType,
)

ATOMS: dict[str, Value] = {name: VBuiltin(name, ()) for name in BUILTINS}
ATOMS |= {"Type": TYPE, "Kind": KIND, "Sort": SORT, "True": True, "False": False}
ATOMS |= {atom.name: atom for atom in (BOOL, NATURAL, INTEGER, DOUBLE, TEXT, BYTES, *TEMPORAL.values())}


def evaluate(node: Node, env: Environment) -> Value:
    """Return the value of an expression."""
    return _EVALUATORS[type(node)](node, env)


def force(thunk: Thunk) -> Value:
    """Return the value of a thunk; evaluate it the first time."""
    if thunk.value is MISSING:
        METER.depth -= thunk.height
        if METER.depth < 0:
            raise build_budget_error("depth")
        try:
            thunk.value = evaluate(thunk.node, thunk.env)
        except DhallError as error:
            raise place_error(error, thunk.node) from None
        METER.depth += thunk.height
    return thunk.value


def apply(function: Value, argument: Value) -> Value:
    """Apply a function to a value, or to a thunk when it is a lambda."""
    kind = type(function)
    if kind is VLambda:
        return call(function, argument)
    if kind is VBuiltin:
        arguments = (*function.arguments, argument)
        if ARITIES.get(function.name) == len(arguments):
            value = reduce_builtin(function.name, arguments)
            if value is not MISSING:
                return value
        return VBuiltin(function.name, arguments)
    if kind is VConstructor:
        return VAlternative(function.union, function.name, argument)
    return NApply(function, argument)


def call(function: VLambda, argument: Value) -> Value:
    """Evaluate the body of a function; the argument may be a thunk."""
    node = function.node
    env = (*function.env, argument)
    METER.steps -= node.cost
    METER.depth -= node.height
    METER.cells -= 12 + len(env)
    if METER.steps < 0 or METER.depth < 0 or METER.cells < 0:
        raise find_budget_error()
    value = evaluate(node.body, env)
    METER.depth += node.height
    return value


def instantiate(closure: Closure | Constant | Dependent, argument: Value) -> Value:
    """Return the type of a function's result for an argument."""
    if type(closure) is Constant:
        return closure.value
    if type(closure) is Closure:
        spend_steps(closure.cost)
        METER.depth -= 2
        value = evaluate(closure.body, (*closure.env, argument))
        METER.depth += 2
        return value
    assert type(closure) is Dependent
    if type(argument) is NVar and argument.level == closure.level:
        return closure.type
    return instantiate(_close(closure), argument)


def _close(dependent: Dependent) -> Closure | Constant:
    if dependent.closure is None:
        if not has_variable(dependent.type, dependent.level):
            dependent.closure = Constant(dependent.type)
        else:
            steps_before = METER.steps
            body = quote(dependent.type, ["_"] * (dependent.level + 1))
            dependent.closure = Closure(body, dependent.env, 1 + (steps_before - METER.steps) // COST)
    return dependent.closure


def delay(node: Node, env: Environment) -> Value:
    """Return an argument as an environment holds it: the value of a variable, or a thunk of the expression."""
    kind = type(node)
    if kind is Var and node.level >= 0:  # type: ignore[attr-defined]
        return env[node.level]  # type: ignore[attr-defined]
    thunk = Thunk(node, env)
    if kind is Literal:
        thunk.value = node.value  # type: ignore[attr-defined]
    return thunk


def _evaluate_var(node: Var, env: Environment) -> Value:
    level = node.level
    if level < 0:
        return NFree(node.name, -1 - level)
    value = env[level]
    if type(value) is Thunk:
        return force(value) if value.value is MISSING else value.value
    return value


def _evaluate_apply(node: Apply, env: Environment) -> Value:
    try:
        function = evaluate(node.function, env)
        if type(function) is VLambda:
            return call(function, delay(node.argument, env))
        return apply(function, evaluate(node.argument, env))
    except DhallError as error:
        raise place_error(error, node) from None


def _evaluate_let(node: Let, env: Environment) -> Value:
    current: Node = node
    while type(current) is Let:
        spend_cells(12 + len(env))
        env = (*env, Thunk(current.value, env, current.height) if current.shared is None else current.shared)
        current = current.body
    return evaluate(current, env)


def _evaluate_if(node: If, env: Environment) -> Value:
    condition = evaluate(node.condition, env)
    if condition is True:
        return evaluate(node.positive, env)
    if condition is False:
        return evaluate(node.negative, env)
    positive, negative = evaluate(node.positive, env), evaluate(node.negative, env)
    if positive is True and negative is False:
        return condition
    return positive if are_equal(positive, negative) else NIf(condition, positive, negative)


def _evaluate_operation(node: Operation, env: Environment) -> Value:
    left = evaluate(node.left, env)
    if type(left) is bool and (left is False if node.operator == "&&" else left is True and node.operator == "||"):
        return left
    return operate(node.operator, left, evaluate(node.right, env))


def _evaluate_list(node: ListLiteral, env: Environment) -> Value:
    METER.cells -= 16 + len(node.items)
    if node.items:
        return VList([evaluate(item, env) for item in node.items], None, node, env)
    assert node.annotation is not None
    annotation = evaluate(node.annotation, env)
    is_list = type(annotation) is VBuiltin and annotation.name == "List" and annotation.arguments
    # Only an open expression has an annotation of another form.
    return VList([], annotation.arguments[0] if is_list else NApply(annotation, MISSING), node, env)


def _evaluate_text(node: TextLiteral, env: Environment) -> Value:
    return concatenate([part if type(part) is str else evaluate(part, env) for part in node.parts])  # type: ignore[arg-type]


def _evaluate_merge(node: Merge, env: Environment) -> Value:
    handlers, union = evaluate(node.handlers, env), evaluate(node.union, env)
    if type(handlers) is VRecord:
        if type(union) is VAlternative:
            handler = handlers.fields[union.name]
            return handler if union.payload is MISSING else apply(handler, union.payload)
        if type(union) is VSome:
            return apply(handlers.fields["Some"], union.value)
        if type(union) is VNone:
            return handlers.fields["None"]
    return NMerge(handlers, union, None if node.annotation is None else evaluate(node.annotation, env))


def _evaluate_to_map(node: ToMap, env: Environment) -> Value:
    value = evaluate(node.value, env)
    annotation = None if node.annotation is None else evaluate(node.annotation, env)
    if type(value) is not VRecord:
        return NToMap(value, annotation)
    if not value.fields:
        return VList([], annotation.arguments[0] if annotation is not None else None)
    spend_cells(40 * len(value.fields))
    entries: list[Value] = [
        VRecord({"mapKey": name, "mapValue": value.fields[name]}, ("entry", name, value))
        for name in sorted(value.fields)
    ]
    return VList(entries, None)


def _evaluate_show_constructor(node: ShowConstructor, env: Environment) -> Value:
    value = evaluate(node.value, env)
    if type(value) is VAlternative:
        return value.name
    if type(value) is VSome:
        return "Some"
    return "None" if type(value) is VNone else NShow(value)


def _evaluate_complete(node: Complete, env: Environment) -> Value:
    return prefer(select(evaluate(node.type, env), "default"), evaluate(node.value, env))


def _evaluate_project_type(node: ProjectType, env: Environment) -> Value:
    return project(evaluate(node.value, env), list(evaluate(node.type, env).fields))


def _evaluate_with(node: With, env: Environment) -> Value:
    return update(evaluate(node.value, env), node.path, evaluate(node.update, env), (node.update, env))


def _evaluate_some(node: SomeLiteral, env: Environment) -> Value:
    return VSome(evaluate(node.value, env), node, env)


def _evaluate_record(node: RecordLiteral, env: Environment) -> Value:
    METER.cells -= 32 + 4 * len(node.fields)
    return VRecord({name: evaluate(value, env) for name, value in node.fields.items()}, node, env)


def _evaluate_record_type(node: RecordType, env: Environment) -> Value:
    return VRecordType({name: evaluate(value, env) for name, value in node.fields.items()})


def _evaluate_union_type(node: UnionType, env: Environment) -> Value:
    return VUnionType({name: None if value is None else evaluate(value, env) for name, value in node.fields.items()})


def _evaluate_lambda(node: Lambda, env: Environment) -> Value:
    return VLambda(node, env)


def _evaluate_pi(node: Pi, env: Environment) -> Value:
    return VPi(node.name, evaluate(node.domain, env), Closure(node.body, env))


def _evaluate_fallback(node: Fallback, env: Environment) -> Value:
    return evaluate(node.chosen or node.left, env)


def _evaluate_import(node: Import, _env: Environment) -> Value:
    return node.module.evaluate()


def _evaluate_annotation(node: Annotation, env: Environment) -> Value:
    return evaluate(node.value, env)


def _evaluate_literal(node: Literal, _env: Environment) -> Value:
    return node.value


def _evaluate_builtin(node: Builtin, _env: Environment) -> Value:
    return ATOMS[node.name]


def _evaluate_select(node: Select, env: Environment) -> Value:
    return select(evaluate(node.value, env), node.name)


def _evaluate_project(node: Project, env: Environment) -> Value:
    return project(evaluate(node.value, env), list(dict.fromkeys(node.names)))


def _evaluate_assert(node: Assert, env: Environment) -> Value:
    return VAssert(evaluate(node.annotation, env))


_EVALUATORS: dict[type[Node], Callable[[Any, Environment], Value]] = {
    Var: _evaluate_var,
    Lambda: _evaluate_lambda,
    Pi: _evaluate_pi,
    Apply: _evaluate_apply,
    Let: _evaluate_let,
    Annotation: _evaluate_annotation,
    If: _evaluate_if,
    Operation: _evaluate_operation,
    Fallback: _evaluate_fallback,
    Literal: _evaluate_literal,
    TextLiteral: _evaluate_text,
    Builtin: _evaluate_builtin,
    ListLiteral: _evaluate_list,
    SomeLiteral: _evaluate_some,
    RecordLiteral: _evaluate_record,
    RecordType: _evaluate_record_type,
    UnionType: _evaluate_union_type,
    Select: _evaluate_select,
    Project: _evaluate_project,
    ProjectType: _evaluate_project_type,
    Merge: _evaluate_merge,
    ToMap: _evaluate_to_map,
    Assert: _evaluate_assert,
    With: _evaluate_with,
    Complete: _evaluate_complete,
    ShowConstructor: _evaluate_show_constructor,
    Import: _evaluate_import,
}
HOOKS.apply, HOOKS.instantiate, HOOKS.evaluate = apply, instantiate, evaluate
