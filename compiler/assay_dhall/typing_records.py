"""Typing rules for records: literals, types, selection, projection, completion, `with`, joins and `toMap`."""

from __future__ import annotations

import re
from typing import NoReturn

from assay_dhall.completions import find_completion_hint
from assay_dhall.convert import are_equal
from assay_dhall.errors import DhallError, ReportedError, build_error, build_problem, find_comment_hint, find_nearest
from assay_dhall.evaluate import evaluate
from assay_dhall.infer import (
    CHECKS,
    INFERENCES,
    RANKS,
    Context,
    check,
    compute_rank,
    fail_mismatch,
    format_name,
    infer,
    infer_each,
    infer_type,
    infer_universe,
)
from assay_dhall.mismatch import find_argument_hint, format_missing_message, suggest_names
from assay_dhall.operations import select
from assay_dhall.syntax import (
    Complete,
    Node,
    Operation,
    Project,
    ProjectType,
    RecordLiteral,
    RecordType,
    Select,
    ToMap,
    With,
)
from assay_dhall.typing_rules import infer_simple_operation
from assay_dhall.values import (
    TEXT,
    Constant,
    Value,
    VConst,
    VPi,
    VRecordType,
    VUnionType,
    create_list_type,
    is_list_type,
    is_optional_type,
)

Path = tuple[str, ...]
MAX_LISTED = 6
MAX_WIDTH = 120
_UPDATED = re.compile(r"\bwith\s+(\S+)\s*=\s*\Z")


def _infer_record(node: RecordLiteral, context: Context) -> Value:
    types = infer_each(node.fields.items(), context)
    for name, type_value in types.items():
        if type(type_value) is VConst and compute_rank(type_value, context) > 2:
            raise build_error("type", node.fields[name], f"the field `{name}` cannot be a `Kind`")
    return VRecordType(types)


def _check_record(node: RecordLiteral, expected: Value, context: Context, role: str, path: Path) -> bool:
    if type(expected) is not VRecordType:
        return False
    is_right = _check_fields(node, expected.fields, context, role, path)
    missing = _find_missing_names(node, expected.fields)
    if missing:
        location = f"field `{'.'.join(path)}` of {role}" if path else role
        context.report(_build_missing_error(node, missing, expected.fields, context, location, is_complete=False))
        is_right = False
    if not is_right:
        raise ReportedError
    return True


def _check_fields(node: RecordLiteral, expected: dict[str, Value], context: Context, role: str, path: Path) -> bool:
    """Check the fields of a literal one by one; report each error; return whether all are right."""
    is_right = True
    for name, value in node.fields.items():
        try:
            if name not in expected:
                missing = [item for item in expected if item not in node.fields]
                location = f"field `{'.'.join(path)}` of {role}" if path else role
                context.report(_build_unknown_error(node, name, expected, missing, location, context))
                is_right = False
                infer(value, context)
            else:
                check(value, expected[name], context, role, (*path, name))
        except DhallError as error:
            context.report(error)
            is_right = False
        except ReportedError:
            is_right = False
    return is_right


def _find_missing_names(node: RecordLiteral, expected: dict[str, Value]) -> list[str]:
    """Return the fields that a literal lacks, without those that it has under a misspelt name."""
    missing = [name for name in expected if name not in node.fields]
    for name in node.fields:
        if name not in expected and (close := find_nearest(name, missing)):
            missing.remove(close)
    return missing


def _build_unknown_error(
    node: RecordLiteral, name: str, expected: dict[str, Value], missing: list[str], role: str, context: Context
) -> DhallError:
    start = node.names.get(name, node.fields[name].start)
    hint = suggest_names(name, missing)
    if not hint or hint.startswith("there"):
        hint = suggest_names(name, list(expected)) or hint
    problem = build_problem(
        "type",
        node.source,
        start,
        start + max(len(name), 1),
        f"unknown field `{name}` in {role}",
        expected=_describe_fields(expected, context),
        found=_format_names(node.fields),
        hint=hint,
    )
    return DhallError([problem])


def _describe_fields(fields: dict[str, Value], context: Context) -> str:
    text = context.describe(VRecordType(fields))
    return text if len(text) <= MAX_WIDTH else _format_names(fields)


def _format_names(fields: dict[str, Value] | dict[str, Node]) -> str:
    names = list(fields)
    return "{ " + ", ".join(names[:12]) + (", … }" if len(names) > 12 else " }") if names else "{}"


def _build_missing_error(
    node: Node, missing: list[str], expected: dict[str, Value], context: Context, role: str, is_complete: bool
) -> DhallError:
    listed = ", ".join(f"{name} : {context.describe(expected[name])}" for name in missing[:MAX_LISTED])
    more = ", …" if len(missing) > MAX_LISTED else ""
    hint = "it has no default" if len(missing) == 1 else "they have no defaults"
    if not is_complete:
        hint = find_completion_hint(VRecordType(expected), missing, context.names, context.types, context.env)
    return build_error("type", node, format_missing_message(missing, role), expected=listed + more, hint=hint)


def _infer_record_type(node: RecordType, context: Context) -> Value:
    types = infer_each(node.fields.items(), context, infer_universe)
    return RANKS[max([universe.rank for universe in types.values()], default=0)]


def _infer_select(node: Select, context: Context) -> Value:
    owner = infer(node.value, context)
    if type(owner) is VRecordType:
        field_type = owner.fields.get(node.name)
        if field_type is None:
            _refuse_name(node, f"unknown field `{node.name}`", list(owner.fields), context)
        return field_type
    if type(owner) is VConst:
        union = evaluate(node.value, context.env)
        if type(union) is VUnionType:
            return _infer_alternative(node, union, context)
    subject = format_name(node.value)
    start = node.name_start
    message = f"this is not a record, it has no field `{node.name}`"
    if subject:
        message = f"`{subject}` is not a record, it has no field `{node.name}`"
    hint = ""
    if type(owner) is VPi:
        hint = "it is a function: its argument may be missing"
    elif is_optional_type(owner):
        hint = "it is an Optional: `merge { None = …, Some = … } …` takes its value out"
    problem = build_problem("type", node.source, start, node.end, message, found=context.describe(owner), hint=hint)
    raise DhallError([problem])


def _infer_alternative(node: Select, union: VUnionType, context: Context) -> Value:
    if node.name not in union.fields:
        _refuse_name(node, f"unknown alternative `{node.name}`", list(union.fields), context)
    payload = union.fields[node.name]
    return union if payload is None else VPi(node.name, payload, Constant(union))


def _refuse_name(node: Select, message: str, names: list[str], context: Context) -> NoReturn:
    subject = format_name(node.value)
    hint = suggest_names(node.name, names)
    if not hint or hint.startswith("there"):
        hint = _find_other_record(node, context) or hint
    problem = build_problem(
        "type",
        node.source,
        node.name_start,
        node.end,
        message + (f" in `{subject}`" if subject else ""),
        hint=hint or "it has no fields",
    )
    raise DhallError([problem])


def _find_other_record(node: Select, context: Context) -> str:
    """Return a hint when another record in scope has a field of that name."""
    for name, type_value in zip(reversed(context.names), reversed(context.types), strict=True):
        if type(type_value) is VRecordType and node.name in type_value.fields:
            return f"`{name}` has a field `{node.name}`"
    return ""


def _infer_project(node: Project, context: Context) -> Value:
    owner = _infer_record_operand(node.value, context, "only a record has fields to select")
    if len(set(node.names)) < len(node.names):
        duplicate = next(name for name in node.names if node.names.count(name) > 1)
        raise build_error("type", node, f"the field `{duplicate}` is taken twice")
    for name in node.names:
        if name not in owner.fields:
            subject = format_name(node.value)
            start = node.source.text.find(name, node.value.end, node.end)
            problem = build_problem(
                "type",
                node.source,
                start if start >= 0 else node.start,
                start + len(name) if start >= 0 else node.end,
                f"unknown field `{name}`" + (f" in `{subject}`" if subject else ""),
                hint=suggest_names(name, list(owner.fields)),
            )
            raise DhallError([problem])
    return VRecordType({name: owner.fields[name] for name in node.names})


def _infer_project_type(node: ProjectType, context: Context) -> Value:
    owner = _infer_record_operand(node.value, context, "only a record has fields to select")
    record_type = infer_type(node.type, context)
    if type(record_type) is not VRecordType:
        raise build_error(
            "type", node.type, "only a record type can select fields", found=context.describe(record_type)
        )
    for name, field_type in record_type.fields.items():
        actual = owner.fields.get(name)
        if actual is None:
            hint = suggest_names(name, list(owner.fields))
            raise build_error("type", node, f"unknown field `{name}`", hint=hint)
        if not are_equal(field_type, actual):
            fail_mismatch(node.type, actual, field_type, context, f"the field `{name}`")
    return record_type


def _infer_record_operand(node: Node, context: Context, message: str) -> VRecordType:
    type_value = infer(node, context)
    if type(type_value) is not VRecordType:
        hint = find_argument_hint(type_value) or find_comment_hint(node.source, node.end)
        raise build_error("type", node, message, expected="{ … }", found=context.describe(type_value), hint=hint)
    return type_value


def _infer_operation(node: Operation, context: Context) -> Value:
    if node.operator not in ("//", "/\\", "//\\\\"):
        return infer_simple_operation(node, context)
    if node.operator == "//\\\\":
        return _infer_type_join(node, context)
    if _is_repetition(node):
        return _infer_repetition(node, context)
    left = _infer_record_operand(node.left, context, f"`{node.operator}` joins records")
    right = _infer_record_operand(node.right, context, f"`{node.operator}` joins records")
    if node.operator == "//":
        return VRecordType({**left.fields, **right.fields})
    return _join_types(node, left, right, ())


def _infer_type_join(node: Operation, context: Context) -> Value:
    universes = [infer_universe(side, context) for side in (node.left, node.right)]
    left, right = (evaluate(side, context.env) for side in (node.left, node.right))
    for side, value in ((node.left, left), (node.right, right)):
        if type(value) is not VRecordType:
            raise build_error("type", side, "`//\\\\` joins record types", found=context.describe(value))
    _join_types(node, left, right, ())
    return RANKS[max(universe.rank for universe in universes)]


def _join_types(node: Operation, left: VRecordType, right: VRecordType, path: Path) -> VRecordType:
    """Return the type of two records joined recursively."""
    fields = dict(left.fields)
    for name, value in right.fields.items():
        other = fields.get(name)
        if other is None:
            fields[name] = value
        elif type(other) is VRecordType and type(value) is VRecordType:
            fields[name] = _join_types(node, other, value, (*path, name))
        else:
            _refuse_collision(node, (*path, name))
    return VRecordType(fields)


def _is_repetition(node: Operation) -> bool:
    """Return whether an operation joins the values of a field that is written twice."""
    return node.operator == "/\\" and not node.left.start <= node.start <= node.left.end


def _infer_repetition(node: Operation, context: Context) -> Value:
    left, right = infer(node.left, context), infer(node.right, context)
    if type(left) is not VRecordType or type(right) is not VRecordType:
        _refuse_repetition(node, ())
    return _join_types(node, left, right, ())


def _refuse_repetition(node: Operation, path: Path) -> NoReturn:
    name = node.source.text[node.start : node.right.start].partition("=")[0].strip()
    message = f"the field `{'.'.join([name.partition('.')[0], *path])}` occurs twice"
    raise DhallError([build_problem("type", node.source, node.start, node.start + max(len(name), 1), message)])


def _refuse_collision(node: Operation, path: Path) -> NoReturn:
    if _is_repetition(node):
        _refuse_repetition(node, path)
    start = max(node.source.text.find(node.operator, node.left.end, node.right.start), node.left.end)
    problem = build_problem(
        "type",
        node.source,
        start,
        start + len(node.operator),
        f"both sides of `{node.operator}` have the field `{'.'.join(path)}`",
        hint="`//` prefers the right side's fields",
    )
    raise DhallError([problem])


def _infer_complete(node: Complete, context: Context) -> Value:
    schema = infer(node.type, context)
    if type(schema) is not VRecordType or not {"Type", "default"} <= schema.fields.keys():
        raise build_error(
            "type",
            node.type,
            "`::` needs a record with the fields `Type` and `default`",
            found=context.describe(schema),
        )
    defaults = schema.fields["default"]
    record_type = select(evaluate(node.type, context.env), "Type")
    if type(record_type) is not VRecordType or type(defaults) is not VRecordType:
        raise build_error("type", node.type, "`Type` must be a record type and `default` a record of it")
    name = format_name(node.type)
    role = f"`{name}::{{ … }}`" if name else "the completed record"
    _check_completion(node, record_type, defaults, context, role)
    return record_type


def _check_completion(
    node: Complete, record_type: VRecordType, defaults: VRecordType, context: Context, role: str
) -> None:
    is_right = True
    if isinstance(node.value, RecordLiteral):
        names = set(node.value.fields)
        is_right = _check_fields(node.value, record_type.fields, context, role, ())
    else:
        actual = _infer_record_operand(node.value, context, "`::` needs a record on its right")
        names = set(actual.fields)
        partial = VRecordType({name: value for name, value in record_type.fields.items() if name in names})
        if not are_equal(partial, actual):
            fail_mismatch(node.value, partial, actual, context, role)
    rest = {name: value for name, value in record_type.fields.items() if name not in names}
    missing = [name for name in rest if name not in defaults.fields]
    if isinstance(node.value, RecordLiteral):
        missing = [name for name in _find_missing_names(node.value, record_type.fields) if name in missing]
    if missing:
        context.report(_build_missing_error(node, missing, record_type.fields, context, role, is_complete=True))
        is_right = False
    if not is_right:
        raise ReportedError
    for name, value in defaults.fields.items():
        if name not in record_type.fields or (name in rest and not are_equal(rest[name], value)):
            raise build_error(
                "type",
                node.type,
                f"the default of the field `{name}` does not fit `Type`",
                expected=context.describe(record_type.fields[name]) if name in record_type.fields else "",
                found=context.describe(value),
            )


def _infer_with(node: With, context: Context) -> Value:
    return _infer_update(node, infer(node.value, context), node.path, infer(node.update, context), context)


def _infer_update(node: With, owner: Value, path: list[str | None], new_type: Value, context: Context) -> Value:
    name, rest = path[0], path[1:]
    if name is None:
        if not is_optional_type(owner):
            raise build_error("type", node, "`?` in `with` needs an Optional", found=context.describe(owner))
        inner = owner.arguments[0]
        changed = _infer_update(node, inner, rest, new_type, context) if rest else new_type
        if not are_equal(inner, changed):
            fail_mismatch(node.update, inner, changed, context, "the new value")
        return owner
    if type(owner) is not VRecordType:
        _refuse_update(node, owner, len(node.path) - len(path), context)
    inner = owner.fields.get(name, VRecordType({}))
    return VRecordType(
        {**owner.fields, name: _infer_update(node, inner, rest, new_type, context) if rest else new_type}
    )


def _refuse_update(node: With, owner: Value, depth: int, context: Context) -> NoReturn:
    """Refuse to change a field of what is no record; `depth` names of the path lead there."""
    subject = ".".join([format_name(node.value) or "(…)", *(name or "?" for name in node.path[:depth])])
    match = _UPDATED.search(node.source.text, node.value.end, node.update.start)
    start, end = match.span(1) if match else (node.start, node.end)
    message = f"`{subject}` is not a record, so `with` cannot change its field `{node.path[depth]}`"
    problem = build_problem("type", node.source, start, end, message, found=context.describe(owner))
    raise DhallError([problem])


def _infer_to_map(node: ToMap, context: Context) -> Value:
    owner = _infer_record_operand(node.value, context, "`toMap` needs a record")
    annotated_type = None if node.annotation is None else infer_type(node.annotation, context)
    if not owner.fields:
        return _infer_empty_map(node, annotated_type, context)
    names = list(owner.fields)
    first = owner.fields[names[0]]
    for name in names[1:]:
        if not are_equal(first, owner.fields[name]):
            field = node.value.fields[name] if isinstance(node.value, RecordLiteral) else node.value
            fail_mismatch(field, first, owner.fields[name], context, f"the field `{name}` of the map")
    if compute_rank(first, context) > 0:
        raise build_error("type", node.value, "a map holds values, not types")
    actual = create_list_type(VRecordType({"mapKey": TEXT, "mapValue": first}))
    if annotated_type is not None and not are_equal(annotated_type, actual):
        fail_mismatch(node, annotated_type, actual, context, "the map")
    return actual


def _infer_empty_map(node: ToMap, annotated_type: Value, context: Context) -> Value:
    form = "List { mapKey : Text, mapValue : … }"
    if annotated_type is None:
        raise build_error("type", node, "an empty map needs its type", expected=f"toMap {{=}} : {form}")
    entry = annotated_type.arguments[0] if is_list_type(annotated_type) else None
    if type(entry) is VRecordType and entry.fields.keys() == {"mapKey", "mapValue"} and entry.fields["mapKey"] is TEXT:
        return annotated_type
    assert node.annotation is not None
    raise build_error(
        "type",
        node.annotation,
        "the type of a map is a list of entries",
        expected=form,
        found=context.describe(annotated_type),
    )


INFERENCES.update(
    {
        RecordLiteral: _infer_record,
        RecordType: _infer_record_type,
        Select: _infer_select,
        Project: _infer_project,
        ProjectType: _infer_project_type,
        Operation: _infer_operation,
        Complete: _infer_complete,
        With: _infer_with,
        ToMap: _infer_to_map,
    }
)
CHECKS[RecordLiteral] = _check_record
