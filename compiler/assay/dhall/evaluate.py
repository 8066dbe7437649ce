"""Evaluation: an expression and an environment, the values of the variables by level, give a value."""

from __future__ import annotations

from typing import Any

from assay.dhall.builtins import apply
from assay.dhall.convert import are_equal
from assay.dhall.errors import DhallError, Diagnostic
from assay.dhall.meter import METER
from assay.dhall.operations import add, append, change, combine, decide, join_texts, multiply, prefer, project, select
from assay.dhall.syntax import (
    Ann,
    App,
    Assert,
    Builtin,
    Complete,
    Embed,
    If,
    Import,
    Lam,
    Let,
    ListLit,
    Lit,
    Merge,
    Node,
    Op,
    Pi,
    Project,
    ProjectType,
    Rec,
    RecType,
    Select,
    ShowConstructor,
    SomeLit,
    TextLit,
    ToMap,
    UnionType,
    Var,
    With,
)
from assay.dhall.values import (
    ABSENT,
    ATOMS,
    Environment,
    NEmptyList,
    NFree,
    NIf,
    NMerge,
    NProjectType,
    NShow,
    NToMap,
    Thunk,
    Value,
    VAssert,
    VBuiltin,
    VEquivalence,
    VInject,
    VLam,
    VList,
    VNone,
    VPi,
    VRec,
    VRecType,
    VSome,
    VUnion,
)


def evaluate(node: Node, environment: Environment) -> Value:
    """Evaluate an expression that is well typed."""
    return _RULES[type(node)](node, environment)


def force(thunk: Thunk) -> Value:
    """Evaluate a thunk, once."""
    if thunk.value is ABSENT:
        try:
            thunk.value = evaluate(thunk.node, thunk.environment)
        except DhallError as error:
            raise place_error(error, thunk.node) from None
    return thunk.value


def place_error(error: DhallError, node: Node) -> DhallError:
    """Give an error without a place that of an expression."""
    (item, *rest) = error.diagnostics
    if item.span is not None or rest:
        return error
    excerpt = node.file.make_excerpt(node.start, node.end)
    placed = Diagnostic(item.code, item.message, node.span, item.expected, item.found, item.notes, item.hint, excerpt)
    return DhallError(placed)


def _evaluate_variable(node: Var, environment: Environment) -> Value:
    if node.level is None:
        return NFree(node.name, node.free)
    value = environment[node.level]
    if type(value) is Thunk:
        return value.value if value.value is not ABSENT else force(value)
    return value


def _evaluate_lambda(node: Lam, environment: Environment) -> Value:
    body = node.body
    rule = _RULES[type(body)]
    return VLam(node.name, evaluate(node.domain, environment), lambda argument: rule(body, (*environment, argument)))


def _evaluate_function_type(node: Pi, environment: Environment) -> Value:
    body = node.body
    rule = _RULES[type(body)]
    return VPi(node.name, evaluate(node.domain, environment), lambda argument: rule(body, (*environment, argument)))


def _evaluate_application(node: App, environment: Environment) -> Value:
    function = evaluate(node.function, environment)
    argument = evaluate(node.argument, environment)
    if type(function) is VLam:
        return apply(function, Thunk(node.argument, environment, argument))
    return apply(function, argument)


def extend_by_let(node: Let, environment: Environment) -> Environment:
    """Add the value of a `let` to an environment, unevaluated."""
    return (*environment, node.memo if node.memo is not None else Thunk(node.value, environment))


def _evaluate_let(node: Node, environment: Environment) -> Value:
    while type(node) is Let:
        environment = extend_by_let(node, environment)
        node = node.body
    return evaluate(node, environment)


def _evaluate_if(node: If, environment: Environment) -> Value:
    condition = evaluate(node.condition, environment)
    if condition is True:
        return evaluate(node.then, environment)
    if condition is False:
        return evaluate(node.other, environment)
    then, other = evaluate(node.then, environment), evaluate(node.other, environment)
    if then is True and other is False:
        return condition
    return then if are_equal(then, other) else NIf(condition, then, other)


_OPERATIONS: dict[str, Any] = {
    "#": append,
    "++": lambda a, b: join_texts([a, b]),
    "//": prefer,
    "/\\": combine,
    "//\\\\": lambda a, b: combine(a, b, "//\\\\"),
    "+": add,
    "*": multiply,
    "===": VEquivalence,
}


def _evaluate_operator(node: Op, environment: Environment) -> Value:
    op = node.op
    if op == "?":
        return evaluate(node.left, environment)
    a = evaluate(node.left, environment)
    if (op == "&&" and a is False) or (op == "||" and a is True):
        return a
    b = evaluate(node.right, environment)
    operation = _OPERATIONS.get(op)
    return operation(a, b) if operation is not None else decide(op, a, b)


def _evaluate_list(node: ListLit, environment: Environment) -> Value:
    if node.items:
        METER.spend_items(len(node.items))
        return VList([_RULES[type(item)](item, environment) for item in node.items], None, (node, environment))
    assert node.annotation is not None
    wanted = evaluate(node.annotation, environment)
    if type(wanted) is VBuiltin and wanted.name == "List" and wanted.arguments:
        return VList([], wanted.arguments[0], (node, environment))
    return NEmptyList(wanted)


def _evaluate_record(node: Rec, environment: Environment) -> Value:
    fields = {name: _RULES[type(item)](item, environment) for name, item in node.fields.items()}
    METER.spend(1 + len(fields) // 4)
    return VRec(fields, (node, environment))


def _evaluate_record_type(node: RecType, environment: Environment) -> Value:
    METER.spend(1 + len(node.fields) // 4)
    return VRecType({name: evaluate(item, environment) for name, item in node.fields.items()})


def _evaluate_union_type(node: UnionType, environment: Environment) -> Value:
    METER.spend(1 + len(node.fields) // 4)
    return VUnion({name: item if item is None else evaluate(item, environment) for name, item in node.fields.items()})


def _evaluate_annotation(node: Node | None, environment: Environment) -> Value:
    return None if node is None else evaluate(node, environment)


def _evaluate_merge(node: Merge, environment: Environment) -> Value:
    handlers, union = evaluate(node.handlers, environment), evaluate(node.union, environment)
    kind = type(union)
    if type(handlers) is VRec:
        if kind is VInject:
            handler = handlers.fields[union.name]
            return handler if union.payload is ABSENT else apply(handler, union.payload)
        if kind is VSome:
            return apply(handlers.fields["Some"], union.value)
        if kind is VNone:
            return handlers.fields["None"]
    return NMerge(handlers, union, _evaluate_annotation(node.annotation, environment))


def _evaluate_to_map(node: ToMap, environment: Environment) -> Value:
    value = evaluate(node.value, environment)
    if type(value) is not VRec:
        return NToMap(value, _evaluate_annotation(node.annotation, environment))
    if not value.fields:
        wanted = _evaluate_annotation(node.annotation, environment)
        return VList([], wanted.arguments[0])
    METER.spend(2 * len(value.fields))
    items = []
    for name in sorted(value.fields):
        items.append(VRec({"mapKey": name, "mapValue": value.fields[name]}, (value, name)))
    return VList(items)


def _evaluate_show_constructor(node: ShowConstructor, environment: Environment) -> Value:
    value = evaluate(node.value, environment)
    if type(value) is VInject:
        return value.name
    return {VSome: "Some", VNone: "None"}.get(type(value)) or NShow(value)


def _evaluate_completion(node: Complete, environment: Environment) -> Value:
    schema = evaluate(node.type, environment)
    return prefer(select(schema, "default"), evaluate(node.value, environment))


def _evaluate_projection_by_type(node: ProjectType, environment: Environment) -> Value:
    value, wanted = evaluate(node.value, environment), evaluate(node.type, environment)
    return project(value, list(wanted.fields)) if type(wanted) is VRecType else NProjectType(value, wanted)


def _evaluate_text(node: TextLit, environment: Environment) -> Value:
    return join_texts([part if type(part) is str else evaluate(part, environment) for part in node.parts])


def _evaluate_with(node: With, environment: Environment) -> Value:
    value = change(evaluate(node.value, environment), node.path, evaluate(node.new, environment))
    if type(value) is VRec and len(node.path) == 1 and node.path[0] is not None:
        written = Rec(node.file, node.start, node.end, {node.path[0]: node.new}, {node.path[0]: node.places[0]})
        value.source = (value.source[0], VRec({node.path[0]: value.fields[node.path[0]]}, (written, environment)))
    return value


_RULES: dict[type, Any] = {
    Var: _evaluate_variable,
    Lam: _evaluate_lambda,
    Pi: _evaluate_function_type,
    App: _evaluate_application,
    Let: _evaluate_let,
    Ann: lambda node, environment: evaluate(node.value, environment),
    If: _evaluate_if,
    Op: _evaluate_operator,
    Lit: lambda node, _: node.value,
    TextLit: _evaluate_text,
    Builtin: lambda node, _: ATOMS[node.name],
    ListLit: _evaluate_list,
    SomeLit: lambda node, environment: VSome(evaluate(node.value, environment)),
    Rec: _evaluate_record,
    RecType: _evaluate_record_type,
    UnionType: _evaluate_union_type,
    Select: lambda node, environment: select(evaluate(node.value, environment), node.name),
    Project: lambda node, environment: project(evaluate(node.value, environment), node.names),
    ProjectType: _evaluate_projection_by_type,
    Merge: _evaluate_merge,
    ToMap: _evaluate_to_map,
    Assert: lambda node, environment: VAssert(evaluate(node.annotation, environment)),
    With: _evaluate_with,
    Complete: _evaluate_completion,
    ShowConstructor: _evaluate_show_constructor,
    Import: lambda node, _: node.resolved[0],
    Embed: lambda node, _: node.value,
}
