"""Find the name in scope of a type, or of the record that completes it, for hints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from assay_dhall.convert import are_equal
from assay_dhall.evaluate import force
from assay_dhall.operations import select
from assay_dhall.printer import print_label, print_variable
from assay_dhall.values import TYPE, Environment, Thunk, Value, VRecord, VRecordType, VUnionType, is_list_type


def find_completion_hint(
    expected: VRecordType,
    missing: Collection[str],
    names: Sequence[str],
    types: Sequence[Value],
    env: Environment,
) -> str:
    """Return the hint at `NAME::{ … }` if it has defaults for all missing fields of a type; else an empty text.

    `names`, `types` and `env` are those of the variables in scope, outer ones first.
    """
    for name, value in _list_members(lambda item: _has_defaults(item, missing), names, types, env):
        if type(value) is VRecord and are_equal(select(value, "Type"), expected):
            return f"`{name}::{{ … }}` has {'a default for it' if len(missing) == 1 else 'defaults for them'}"
    return ""


def find_type_hint(expected: Value, names: Sequence[str], types: Sequence[Value], env: Environment) -> str:
    """Return the hint that names an expected type that is long in full; empty if nothing in scope names it."""
    item = expected.arguments[0] if is_list_type(expected) else expected
    if type(item) not in (VRecordType, VUnionType):
        return ""
    wanted = {"": expected, "List ": item}
    for name, value in _list_members(lambda kind: kind is TYPE or _has_defaults(kind, ()), names, types, env):
        named = select(value, "Type") if type(value) is VRecord else value
        suffix = ".Type" if type(value) is VRecord else ""
        for prefix, candidate in wanted.items():
            if type(named) is type(candidate) and are_equal(named, candidate):
                return f"the expected type is `{prefix}{name}{suffix}`"
    return ""


def _list_members(
    is_wanted: Callable[[Value], bool], names: Sequence[str], types: Sequence[Value], env: Environment
) -> Iterator[tuple[str, Value]]:
    """Yield the variables in scope of a wanted type, and the fields of records that have one: name and value.

    The innermost variable comes first.
    """
    seen: set[str] = set()
    for level in reversed(range(len(names))):
        variable, kind = names[level], types[level]
        if variable not in seen:
            fields = kind.fields if type(kind) is VRecordType else {}
            members = [name for name, item in fields.items() if is_wanted(item)]
            if members or is_wanted(kind):
                item = env[level]
                value = force(item) if type(item) is Thunk else item
                if is_wanted(kind):
                    yield print_variable(variable), value
                for name in members:
                    yield f"{print_variable(variable)}.{print_label(name)}", select(value, name)
        seen.add(variable)


def _has_defaults(record: Value, names: Collection[str]) -> bool:
    """Return whether records of this type are `{ Type, default }` with these defaults."""
    if type(record) is not VRecordType or "Type" not in record.fields:
        return False
    defaults = record.fields.get("default")
    return type(defaults) is VRecordType and defaults.fields.keys() >= set(names)
