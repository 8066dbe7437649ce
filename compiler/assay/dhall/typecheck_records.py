"""Type inference of records, unions, and what takes them apart."""

from __future__ import annotations

import re

from assay.dhall.context import (
    ORDER,
    RULES,
    Context,
    Skipped,
    describe,
    find_sort,
    infer,
    infer_universe,
    make_error,
    mentions,
)
from assay.dhall.errors import DhallError, Diagnostic, suggest
from assay.dhall.mismatch import explain_mismatch
from assay.dhall.operations import select
from assay.dhall.syntax import (
    Complete,
    Merge,
    Node,
    Op,
    Project,
    ProjectType,
    Rec,
    RecType,
    Select,
    ShowConstructor,
    ToMap,
    UnionType,
    With,
)
from assay.dhall.values import (
    SORT,
    TEXT,
    TYPE,
    Constant,
    NVar,
    Value,
    VBuiltin,
    VConst,
    VPi,
    VRecType,
    VUnion,
    make_list_type,
)

_LABEL = re.compile(r"`[^`]*`|[A-Za-z_][A-Za-z0-9_/-]*")


def _infer_record(node: Rec, context: Context) -> Value:
    types = {name: context.attempt(item) for name, item in node.fields.items()}
    for name, actual in types.items():
        if actual is None:
            raise Skipped
        if actual is SORT:
            raise make_error(node.fields[name], "a field cannot be `Kind`")
    return VRecType(types)


def _infer_type_of_fields(node: RecType | UnionType, context: Context) -> Value:
    greatest, failed = TYPE, False
    for item in node.fields.values():
        if item is None:
            continue
        sort = context.attempt(item)
        failed = failed or sort is None
        if sort is not None and type(sort) is not VConst:
            infer_universe(item, context)
        if sort is not None and ORDER[sort.name] > ORDER[greatest.name]:
            greatest = sort
    if failed:
        raise Skipped
    return greatest


def infer_record_operator(node: Op, context: Context) -> Value:
    """Give the type of `//`, `/\\` or `//\\\\`."""
    left, right = context.attempt(node.left), context.attempt(node.right)
    if left is None or right is None:
        raise Skipped
    if node.op == "//\\\\":
        return _infer_type_merge(node, left, right, context)
    for operand, actual in ((node.left, left), (node.right, right)):
        if type(actual) is not VRecType:
            name = _find_repeated(node)
            raise (
                _refuse_twice(node, name)
                if name
                else make_error(operand, f"`{node.op}` joins records", "{ … }", actual)
            )
    return VRecType(left.fields | right.fields) if node.op == "//" else _merge_types(node, left, right)


def _infer_type_merge(node: Op, left: Value, right: Value, context: Context) -> Value:
    sides = []
    for operand, sort in ((node.left, left), (node.right, right)):
        value = context.evaluate(operand) if type(sort) is VConst else None
        if type(value) is not VRecType:
            raise make_error(operand, "`//\\\\` joins types of records", "{ … }", sort if value is None else value)
        sides.append(value)
    _merge_types(node, *sides)
    return left if ORDER[left.name] >= ORDER[right.name] else right


def _merge_types(node: Op, left: VRecType, right: VRecType) -> VRecType:
    fields = dict(left.fields)
    for name, item in right.fields.items():
        if name not in fields:
            fields[name] = item
        elif type(fields[name]) is VRecType and type(item) is VRecType:
            fields[name] = _merge_types(node, fields[name], item)
        else:
            raise _refuse_twice(node, name)
    return VRecType(fields)


def _find_repeated(node: Op) -> str:
    """Give the name of the field whose second definition the operator stands for; nothing for a written operator."""
    match = _LABEL.match(node.file.text, node.place)
    return match[0].strip("`") if match else ""


def _refuse_twice(node: Op, name: str) -> DhallError:
    if not _find_repeated(node):
        message = f"both sides of `{node.op}` have the field `{name}`"
        width = len(node.op) if node.file.text.startswith(node.op, node.place) else 1
        hint = "`//` prefers the right side's fields" if node.op == "/\\" else ""
        return make_error(node, message, hint=hint, at=(node.place, node.place + width))
    return make_error(node, f"the field `{name}` is given twice", at=(node.place, node.place + len(name)))


def _infer_selection(node: Select, context: Context) -> Value:
    actual = infer(node.value, context)
    if type(actual) is VRecType:
        if node.name not in actual.fields:
            raise _refuse_unknown("field", node, node.name, node.place, actual.fields)
        return actual.fields[node.name]
    union = context.evaluate(node.value) if type(actual) is VConst else None
    if type(union) is VUnion:
        if node.name not in union.fields:
            raise _refuse_unknown("alternative", node, node.name, node.place, union.fields)
        payload = union.fields[node.name]
        return union if payload is None else VPi(node.name, payload, Constant(union).call)
    message = f"{describe(node.value)} is not a record, it has no field `{node.name}`"
    hint = ""
    if type(actual) is VBuiltin and actual.name == "Optional":
        hint = "an Optional may be absent: `merge { Some = …, None = … }` gives a value in both cases"
    if type(union) is VRecType:
        message, hint = f"{describe(node.value)} is a type, it has no field `{node.name}`", "a value of it has fields"
    raise make_error(node, message, None, actual, hint, _locate_name(node, node.name, node.place))


def _locate_name(node: Node, name: str, place: int) -> tuple[int, int]:
    return place, place + len(name) + 2 * node.file.text.startswith("`", place)


def _refuse_unknown(kind: str, node: Select | Project, name: str, place: int, names: dict[str, Value]) -> DhallError:
    message = f"unknown {kind} `{name}` in {describe(node.value)}"
    return make_error(node, message, hint=suggest(name, names), at=_locate_name(node, name, place))


def _infer_projection(node: Project, context: Context) -> Value:
    actual = infer(node.value, context)
    if type(actual) is not VRecType:
        raise make_error(node.value, f"{describe(node.value)} is not a record", "{ … }", actual)
    problems: list[Diagnostic] = []
    for index, (name, place) in enumerate(zip(node.names, node.places, strict=True)):
        if name in node.names[:index]:
            at = _locate_name(node, name, place)
            problems += make_error(node, f"the field `{name}` is selected twice", at=at).diagnostics
        elif name not in actual.fields:
            problems += _refuse_unknown("field", node, name, place, actual.fields).diagnostics
    if problems:
        raise DhallError(*problems)
    return VRecType({name: actual.fields[name] for name in node.names})


def _infer_projection_by_type(node: ProjectType, context: Context) -> Value:
    actual = infer(node.value, context)
    infer_universe(node.type, context)
    wanted = context.evaluate(node.type)
    if type(actual) is not VRecType:
        raise make_error(node.value, f"{describe(node.value)} is not a record", "{ … }", actual)
    if type(wanted) is not VRecType:
        raise make_error(node.type, "the fields to select are those of a record's type", "{ … }", wanted)
    part = VRecType({name: item for name, item in actual.fields.items() if name in wanted.fields})
    if not context.are_equal(wanted, part):
        raise explain_mismatch(node.value, describe(node.value), wanted, part, context)
    return wanted


def _infer_merge(node: Merge, context: Context) -> Value:
    handlers, union = infer(node.handlers, context), infer(node.union, context)
    if type(handlers) is not VRecType:
        raise make_error(node.handlers, "the handlers of `merge` are not a record", "{ … }", handlers)
    alternatives = _find_alternatives(node, union)
    _check_handlers(node, handlers.fields, alternatives)
    result = None
    if node.annotation is not None:
        infer_universe(node.annotation, context)
        result = context.evaluate(node.annotation)
    for name, payload in alternatives.items():
        actual = _infer_handler(node, name, handlers.fields[name], payload, context)
        if result is not None and not context.are_equal(result, actual):
            raise explain_mismatch(_find_handler(node, name), f"the handler `{name}`", result, actual, context)
        result = actual if result is None else result
    if result is None:
        raise make_error(node, "`merge` without handlers needs its type: `merge {=} … : T`")
    if result is SORT:
        raise make_error(node, "a handler cannot give `Kind`")
    return result


def _find_alternatives(node: Merge, union: Value) -> dict[str, Value]:
    if type(union) is VUnion:
        return union.fields
    if type(union) is VBuiltin and union.name == "Optional":
        return {"None": None, "Some": union.arguments[0]}
    raise make_error(node.union, "`merge` takes a union or an Optional apart", "< … > or Optional …", union)


def _check_handlers(node: Merge, handlers: dict[str, Value], alternatives: dict[str, Value]) -> None:
    problems: list[Diagnostic] = []
    missing = [name for name in alternatives if name not in handlers]
    for name in handlers:
        if name not in alternatives:
            message, hint = (
                f"`merge` has a handler `{name}`, which is no alternative",
                suggest(name, missing or alternatives),
            )
            record = node.handlers
            at = None
            if isinstance(record, Rec) and name in record.places:
                at = _locate_name(node, name, record.places[name])
            problems += make_error(record, message, hint=hint, at=at).diagnostics
    if missing and not problems:
        word = "alternative" if len(missing) == 1 else "alternatives"
        names = ", ".join(f"`{name}`" for name in missing)
        problems += make_error(node.handlers, f"`merge` has no handler for the {word} {names}").diagnostics
    if problems:
        raise DhallError(*problems)


def _find_handler(node: Merge, name: str) -> Node:
    return node.handlers.fields[name] if isinstance(node.handlers, Rec) else node.handlers


def _infer_handler(node: Merge, name: str, handler: Value, payload: Value, context: Context) -> Value:
    """Give the type of what a handler yields."""
    if payload is None:
        return handler
    place = _find_handler(node, name)
    if type(handler) is not VPi:
        hint = "the alternative has a payload: the handler is written `\\(x : …) -> …`"
        raise make_error(place, f"the handler `{name}` is not a function", None, handler, hint)
    if not context.are_equal(handler.domain, payload):
        raise make_error(place, f"the handler `{name}` takes an argument of the wrong type", payload, handler.domain)
    level = len(context.types)
    result = handler.call(NVar(level, handler.name, payload))
    if mentions(result, level):
        raise make_error(place, f"the type of what the handler `{name}` yields depends on its argument")
    return result


def _infer_to_map(node: ToMap, context: Context) -> Value:
    actual = infer(node.value, context)
    if type(actual) is not VRecType:
        raise make_error(node.value, "`toMap` takes a record", "{ … }", actual)
    wanted = None
    if node.annotation is not None:
        infer_universe(node.annotation, context)
        wanted = context.evaluate(node.annotation)
    if not actual.fields:
        return _check_empty_map(node, wanted)
    names = list(actual.fields)
    first = actual.fields[names[0]]
    for name in names[1:]:
        if not context.are_equal(first, actual.fields[name]):
            part = node.value.fields.get(name) if isinstance(node.value, Rec) else None
            message = f"the field `{name}` has another type than the field `{names[0]}`, which `toMap` does not allow"
            raise make_error(part or node.value, message, first, actual.fields[name])
    if find_sort(first) is not TYPE:
        raise make_error(node.value, "a map holds values, not types", None, first)
    result = make_list_type(VRecType({"mapKey": TEXT, "mapValue": first}))
    if wanted is not None and not context.are_equal(wanted, result):
        raise explain_mismatch(node, "the map", wanted, result, context)
    return result


def _check_empty_map(node: ToMap, wanted: Value) -> Value:
    form = "List { mapKey : Text, mapValue : … }"
    if wanted is None:
        raise make_error(node, "`toMap` of an empty record needs its type", form)
    entry = wanted.arguments[0] if type(wanted) is VBuiltin and wanted.name == "List" and wanted.arguments else None
    if type(entry) is VRecType and entry.fields.keys() == {"mapKey", "mapValue"} and entry.fields["mapKey"] is TEXT:
        return wanted
    raise make_error(node.annotation or node, "this is not the type of a map", form, wanted)


def _infer_with(node: With, context: Context) -> Value:
    value, new = infer(node.value, context), infer(node.new, context)
    return _change_type(node, value, 0, new, context)


def _change_type(node: With, actual: Value, depth: int, new: Value, context: Context) -> Value:
    name, is_last = node.path[depth], depth == len(node.path) - 1
    if name is None:
        if type(actual) is not VBuiltin or actual.name != "Optional":
            raise make_error(node.value, "`?` in `with` stands for what an Optional holds", "Optional …", actual)
        content = actual.arguments[0]
        changed = new if is_last else _change_type(node, content, depth + 1, new, context)
        if not context.are_equal(content, changed):
            raise explain_mismatch(node.new, "the new value", content, changed, context)
        return actual
    if type(actual) is not VRecType:
        raise make_error(node.value, "`with` can only change the fields of a record", "{ … }", actual)
    if is_last and new is SORT:
        raise make_error(node.new, "a field cannot be `Kind`")
    inner = actual.fields.get(name, VRecType({}))
    return VRecType(actual.fields | {name: new if is_last else _change_type(node, inner, depth + 1, new, context)})


def _infer_completion(node: Complete, context: Context) -> Value:
    schema, completion = context.attempt(node.type), context.attempt(node.value)
    if schema is None or completion is None:
        raise Skipped
    if type(schema) is not VRecType or not {"Type", "default"} <= schema.fields.keys():
        message = f"{describe(node.type)} is no schema: `::` needs the fields `Type` and `default`"
        raise make_error(node.type, message, "{ Type, default }", schema)
    defaults = schema.fields["default"]
    if type(completion) is not VRecType or type(defaults) is not VRecType:
        raise make_error(node.value, "`::` is followed by a record", "{ … }", completion)
    if type(schema.fields["Type"]) is not VConst:
        raise make_error(
            node.type, f"the field `Type` of {describe(node.type)} is not a type", None, schema.fields["Type"]
        )
    wanted = select(context.evaluate(node.type), "Type")
    actual = VRecType(defaults.fields | completion.fields)
    if not context.are_equal(wanted, actual):
        subject = f"`{describe(node.type).strip('`')}::{{ … }}`"
        raise explain_mismatch(_find_completed(node, wanted, actual), subject, wanted, actual, context)
    return wanted


def _find_completed(node: Complete, wanted: Value, actual: VRecType) -> Node:
    """Place what is missing at the whole completion, everything else in its record."""
    is_missing = type(wanted) is VRecType and bool(wanted.fields.keys() - actual.fields.keys())
    is_unknown = type(wanted) is VRecType and bool(actual.fields.keys() - wanted.fields.keys())
    return node if is_missing and not is_unknown else node.value


def _infer_show_constructor(node: ShowConstructor, context: Context) -> Value:
    actual = infer(node.value, context)
    if type(actual) is VUnion or (type(actual) is VBuiltin and actual.name == "Optional"):
        return TEXT
    raise make_error(node.value, "`showConstructor` takes a union or an Optional", "< … >", actual)


RULES |= {
    Rec: _infer_record,
    RecType: _infer_type_of_fields,
    UnionType: _infer_type_of_fields,
    Select: _infer_selection,
    Project: _infer_projection,
    ProjectType: _infer_projection_by_type,
    Merge: _infer_merge,
    ToMap: _infer_to_map,
    With: _infer_with,
    Complete: _infer_completion,
    ShowConstructor: _infer_show_constructor,
}
