"""Apply operators to values; simplify operations on neutral values as the standard prescribes."""

from __future__ import annotations

from assay_dhall.budget import METER, check_number, spend_cells, spend_characters
from assay_dhall.convert import are_equal
from assay_dhall.values import (
    EMPTY_RECORD,
    MISSING,
    NOperation,
    NProject,
    NSelect,
    NWith,
    VAlternative,
    Value,
    VConstructor,
    VEquivalence,
    VList,
    VNone,
    VRecord,
    VRecordType,
    VSome,
    VText,
    VUnionType,
)

MAX_JOINED = 100


def add(left: Value, right: Value) -> Value:
    """Add Naturals."""
    if type(left) is int:
        if type(right) is int:
            return check_number(left + right)
        if left == 0:
            return right
    if type(right) is int and right == 0:
        return left
    return NOperation("+", left, right)


def multiply(left: Value, right: Value) -> Value:
    """Multiply Naturals."""
    if type(left) is int:
        if type(right) is int:
            return check_number(left * right)
        if left <= 1:
            return right if left == 1 else 0
    if type(right) is int and right <= 1:
        return left if right == 1 else 0
    return NOperation("*", left, right)


def append(left: Value, right: Value) -> Value:
    """Append lists."""
    if type(left) is VList:
        if not left.items:
            return right
        if type(right) is VList:
            if not right.items:
                return left
            spend_cells(16 + len(left.items) + len(right.items))
            depth = 1 + max(left.depth, right.depth)
            if depth > MAX_JOINED:
                return VList(left.items + right.items, left.element)
            return VList(left.items + right.items, left.element, (left, right), (), depth)
    if type(right) is VList and not right.items:
        return left
    return NOperation("#", left, right)


def concatenate(parts: list[Value]) -> Value:
    """Join strings and open texts."""
    joined: list[Value] = []
    piece: list[str] = []
    length = 0
    for part in _flatten(parts):
        if type(part) is str:
            piece.append(part)
            length += len(part)
            continue
        if length:
            joined.append("".join(piece))
        spend_characters(length + 1)
        piece, length = [], 0
        joined.append(part)
    spend_characters(length)
    if not joined:
        return "".join(piece)
    if length:
        joined.append("".join(piece))
    return joined[0] if len(joined) == 1 else VText(joined)


def _flatten(parts: list[Value]) -> list[Value]:
    if not any(type(part) is VText for part in parts):
        return parts
    flat: list[Value] = []
    for part in parts:
        if type(part) is VText:
            spend_cells(len(part.parts))
            flat.extend(part.parts)
        else:
            flat.append(part)
    return flat


def join(fields: dict[str, Value], first: VRecord, second: VRecord) -> VRecord:
    """Return a record that is joined from two others, the preferred one first.

    Beyond `MAX_JOINED` nested joins, the origin is dropped: otherwise a loop would keep all its records in memory.
    """
    spend_cells(32 + 4 * len(fields))
    depth = 1 + max(first.depth, second.depth)
    return VRecord(fields) if depth > MAX_JOINED else VRecord(fields, (first, second), (), depth)


def prefer(left: Value, right: Value) -> Value:
    """Join records; the right one wins (`//`)."""
    if type(left) is VRecord:
        if not left.fields:
            return right
        if type(right) is VRecord:
            return join({**left.fields, **right.fields}, right, left)
    if type(right) is VRecord and not right.fields:
        return left
    return left if are_equal(left, right) else NOperation("//", left, right)


def combine(left: Value, right: Value, operator: str) -> Value:
    """Join records (`/\\`) or record types (`//\\\\`) and what is in both, recursively."""
    kind = VRecord if operator == "/\\" else VRecordType
    if type(left) is kind:
        if not left.fields:
            return right
        if type(right) is kind:
            return _combine_fields(left, right, operator)
    if type(right) is kind and not right.fields:
        return left
    return NOperation(operator, left, right)


def _combine_fields(left: Value, right: Value, operator: str) -> Value:
    METER.depth -= 2
    fields = dict(left.fields)
    for name, value in right.fields.items():
        fields[name] = combine(fields[name], value, operator) if name in fields else value
    METER.depth += 2
    spend_cells(4 * len(fields))
    return join(fields, right, left) if operator == "/\\" else VRecordType(fields)


def apply_logic(operator: str, left: Value, right: Value) -> Value:
    """Apply `&&` or `||`."""
    neutral = operator == "&&"
    if type(left) is bool:
        return right if left is neutral else left
    if type(right) is bool:
        return left if right is neutral else right
    return left if are_equal(left, right) else NOperation(operator, left, right)


def compare(operator: str, left: Value, right: Value) -> Value:
    """Apply `==` or `!=`, which compare Bools."""
    is_equality = operator == "=="
    if type(left) is bool:
        if type(right) is bool:
            return (left is right) is is_equality
        if left is is_equality:
            return right
    if type(right) is bool and right is is_equality:
        return left
    return is_equality if are_equal(left, right) else NOperation(operator, left, right)


def operate(operator: str, left: Value, right: Value) -> Value:
    """Apply an operator to operands."""
    if operator == "++":
        return concatenate([left, right])
    if operator == "//":
        return prefer(left, right)
    if operator == "#":
        return append(left, right)
    if operator == "+":
        return add(left, right)
    if operator == "*":
        return multiply(left, right)
    if operator == "===":
        return VEquivalence(left, right)
    if operator in ("&&", "||"):
        return apply_logic(operator, left, right)
    if operator in ("==", "!="):
        return compare(operator, left, right)
    return combine(left, right, operator)


def select(value: Value, name: str) -> Value:
    """Return a field of a record, or an alternative of a union type."""
    if type(value) is VRecord:
        return value.fields[name]
    if type(value) is VUnionType:
        return VAlternative(value, name, MISSING) if value.fields[name] is None else VConstructor(value, name)
    if type(value) is NProject:
        return select(value.value, name)
    if type(value) is NOperation and value.operator in ("//", "/\\"):
        return _select_of_joined(value, name)
    return NSelect(value, name)


def _select_of_joined(value: NOperation, name: str) -> Value:
    left, right = value.left, value.right
    if value.operator == "//" and type(right) is VRecord:
        return right.fields[name] if name in right.fields else select(left, name)
    if type(left) is VRecord and name not in left.fields:
        return select(right, name)
    if type(right) is VRecord and name not in right.fields:
        return select(left, name)
    if type(left) is VRecord:
        return NSelect(NOperation(value.operator, VRecord({name: left.fields[name]}), right), name)
    if type(right) is VRecord:
        return NSelect(NOperation(value.operator, left, VRecord({name: right.fields[name]})), name)
    return NSelect(value, name)


def project(value: Value, names: list[str]) -> Value:
    """Return the record of some fields."""
    if not names:
        return EMPTY_RECORD
    if type(value) is VRecord:
        return join({name: value.fields[name] for name in names}, value, value)
    if type(value) is NProject:
        return project(value.value, names)
    if type(value) is NOperation and value.operator == "//" and type(value.right) is VRecord:
        fields = value.right.fields
        left = project(value.left, [name for name in names if name not in fields])
        return prefer(left, project(value.right, [name for name in names if name in fields]))
    return NProject(value, sorted(names))


def update(value: Value, path: list[str | None], new_value: Value, origin: object = None) -> Value:
    """Return a record or an Optional with a changed part (`with`); `origin` is the expression of that part."""
    name, rest = path[0], path[1:]
    if name is None:
        if type(value) is VSome:
            return VSome(update(value.value, rest, new_value, origin) if rest else new_value)
        return value if type(value) is VNone else NWith(value, path, new_value)
    if type(value) is not VRecord:
        return NWith(value, path, new_value)
    changed = update(value.fields.get(name, EMPTY_RECORD), rest, new_value, origin) if rest else new_value
    return join({**value.fields, name: changed}, VRecord({name: changed}, origin), value)
