"""Typing rules for unions: types, `merge` and `showConstructor`."""

from __future__ import annotations

from assay_dhall.convert import are_equal, has_variable
from assay_dhall.errors import DhallError, build_error, build_problem, suggest
from assay_dhall.evaluate import instantiate
from assay_dhall.infer import (
    INFERENCES,
    RANKS,
    Context,
    fail_mismatch,
    infer,
    infer_each,
    infer_type,
    infer_universe,
)
from assay_dhall.syntax import Lambda, Merge, Node, RecordLiteral, ShowConstructor, UnionType
from assay_dhall.values import TEXT, NVar, Value, VPi, VRecordType, VUnionType, is_optional_type


def _infer_union_type(node: UnionType, context: Context) -> Value:
    payloads = [(name, value) for name, value in node.fields.items() if value is not None]
    types = infer_each(payloads, context, infer_universe)
    return RANKS[max([universe.rank for universe in types.values()], default=0)]


def _infer_merge(node: Merge, context: Context) -> Value:
    handlers = infer(node.handlers, context)
    if type(handlers) is not VRecordType:
        message = "the first argument of `merge` is a record of handlers"
        raise build_error("type", node.handlers, message, found=context.describe(handlers))
    alternatives = _find_alternatives(node, infer(node.union, context), context)
    _check_names(node, handlers, alternatives)
    result = None if node.annotation is None else infer_type(node.annotation, context)
    for name, payload in alternatives.items():
        actual = _infer_result(node, name, handlers.fields[name], payload, context)
        if result is None:
            result = actual
        elif not are_equal(result, actual):
            handler = _find_handler(node, name)
            body = handler.body if isinstance(handler, Lambda) and payload is not None else handler
            fail_mismatch(body, result, actual, context, f"the result of the handler `{name}`")
    if result is None:
        raise build_error("type", node, "`merge` without handlers needs a type", expected="merge {=} x : T")
    return result


def _find_alternatives(node: Merge, union: Value, context: Context) -> dict[str, Value]:
    if type(union) is VUnionType:
        return union.fields
    if is_optional_type(union):
        return {"None": None, "Some": union.arguments[0]}
    message = "the second argument of `merge` is a union or an Optional"
    raise build_error("type", node.union, message, found=context.describe(union))


def _check_names(node: Merge, handlers: VRecordType, alternatives: dict[str, Value]) -> None:
    missing = [name for name in alternatives if name not in handlers.fields]
    unused = [name for name in handlers.fields if name not in alternatives]
    if unused:
        start = node.handlers.names.get(unused[0], -1) if isinstance(node.handlers, RecordLiteral) else -1
        place = (node.handlers.start, node.handlers.end) if start < 0 else (start, start + len(unused[0]))
        hint = suggest(unused[0], missing or alternatives).removeprefix("; ")
        message = f"`merge` has a handler `{unused[0]}`, which is not an alternative"
        raise DhallError([build_problem("type", node.handlers.source, *place, message, hint=hint)])
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        plural = "alternatives" if len(missing) > 1 else "alternative"
        raise build_error("type", node.handlers, f"`merge` has no handler for the {plural} {listed}")


def _find_handler(node: Merge, name: str) -> Node:
    return node.handlers.fields[name] if isinstance(node.handlers, RecordLiteral) else node.handlers


def _infer_result(node: Merge, name: str, handler: Value, payload: Value, context: Context) -> Value:
    if payload is None:
        return handler
    place = _find_handler(node, name)
    if type(handler) is not VPi:
        raise build_error(
            "type",
            place,
            f"the handler `{name}` must be a function, since the alternative has a value",
            expected=f"\\(value : {context.describe(payload)}) -> …",
            found=context.describe(handler),
        )
    if not are_equal(handler.domain, payload):
        domain = place.domain if isinstance(place, Lambda) else place
        fail_mismatch(domain, payload, handler.domain, context, f"the parameter of the handler `{name}`")
    level = len(context.types)
    result = instantiate(handler.closure, NVar(level, handler.name))
    if has_variable(result, level):
        raise build_error("type", place, f"the type of the result of the handler `{name}` depends on its argument")
    return result


def _infer_show_constructor(node: ShowConstructor, context: Context) -> Value:
    union = infer(node.value, context)
    if type(union) is not VUnionType and not is_optional_type(union):
        raise build_error("type", node.value, "`showConstructor` needs a union", found=context.describe(union))
    return TEXT


INFERENCES.update({UnionType: _infer_union_type, Merge: _infer_merge, ShowConstructor: _infer_show_constructor})
