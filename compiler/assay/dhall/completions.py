"""Find the record in scope that completes a type, for the hint at a record that lacks some of its fields."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from assay.dhall.convert import are_equal
from assay.dhall.evaluate import force
from assay.dhall.operations import select
from assay.dhall.printer import print_label, print_variable
from assay.dhall.values import Environment, Thunk, Value, VRecord, VRecordType


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
    for level, member in _list_completions(missing, names, types):
        item = env[level]
        value = force(item) if type(item) is Thunk else item
        if member:
            value = select(value, member)
        if type(value) is VRecord and are_equal(select(value, "Type"), expected):
            name = print_variable(names[level]) + (f".{print_label(member)}" if member else "")
            return f"`{name}::{{ … }}` has {'a default for it' if len(missing) == 1 else 'defaults for them'}"
    return ""


def _list_completions(
    missing: Collection[str], names: Sequence[str], types: Sequence[Value]
) -> Iterator[tuple[int, str]]:
    """Yield the variables that are records `{ Type, default }` with these defaults, and the members that are.

    A variable is given by its level, of which the innermost comes first; a variable itself has an empty member.
    """
    seen: set[str] = set()
    for level in reversed(range(len(names))):
        record = types[level]
        if names[level] not in seen and type(record) is VRecordType:
            if _has_defaults(record, missing):
                yield level, ""
            yield from ((level, name) for name, item in record.fields.items() if _has_defaults(item, missing))
        seen.add(names[level])


def _has_defaults(record: Value, names: Collection[str]) -> bool:
    """Return whether records of this type are `{ Type, default }` with these defaults."""
    if type(record) is not VRecordType or "Type" not in record.fields:
        return False
    defaults = record.fields.get("default")
    return type(defaults) is VRecordType and defaults.fields.keys() >= set(names)
