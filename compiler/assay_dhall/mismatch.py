"""Describe how two types differ, and suggest what an author may have meant."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay_dhall.convert import are_equal
from assay_dhall.errors import suggest
from assay_dhall.printer import print_label
from assay_dhall.syntax import Literal, Node
from assay_dhall.values import (
    BOOL,
    DOUBLE,
    INTEGER,
    NATURAL,
    TEXT,
    Value,
    VInteger,
    VPi,
    VRecordType,
    is_list_type,
    is_optional_type,
)

MAX_FIELDS = 4
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def find_difference(expected: Value, actual: Value) -> tuple[str, str, str]:
    """Return how record types differ.

    The result is an unknown field, `unknown` and a hint; or missing fields, `missing` and an empty hint; or the dotted
    path of the innermost field whose type differs, `type` and an empty hint.
    """
    path: list[str] = []
    while True:
        extra = [name for name in actual.fields if name not in expected.fields]
        missing = [name for name in expected.fields if name not in actual.fields]
        prefix = "".join(f"{part}." for part in path)
        if extra:
            return prefix + extra[0], "unknown", suggest_names(extra[0], missing or list(expected.fields))
        if missing:
            return ", ".join(prefix + name for name in missing), "missing", ""
        name = next((n for n, v in expected.fields.items() if not are_equal(v, actual.fields[n])), "")
        path.append(name)
        expected, actual = expected.fields[name], actual.fields[name]
        if type(expected) is not VRecordType or type(actual) is not VRecordType:
            return ".".join(path), "type", ""


def suggest_names(name: str, names: Sequence[str]) -> str:
    """Return a hint with the closest name; without a close one, with at most 12 of all."""
    close = suggest(name, names).removeprefix("; ")
    if close or not names:
        return close
    listed = ", ".join(f"`{item}`" for item in sorted(names)[:12])
    verb = "is" if len(names) == 1 else "are"
    return f"there {verb} {listed}" + (", …" if len(names) > 12 else "")


def format_missing_message(names: Sequence[str], role: str) -> str:
    """Return the message for missing fields."""
    listed = ", ".join(f"`{name}`" for name in names)
    return f"missing field{'s' if len(names) > 1 else ''} {listed} in {role}"


def find_conversion_hint(node: Node, expected: Value, actual: Value) -> str:
    """Return the hint for the conversion of a value to the expected type; empty if there is none."""
    if expected is TEXT and actual in (NATURAL, INTEGER, DOUBLE):
        return f"a text is written in quotes; `{actual.name}/show` makes one of a number"
    if expected is TEXT and actual is BOOL:
        return 'a text is written in quotes; `if x then "True" else "False"` makes one of a Bool'
    if expected is DOUBLE and actual is NATURAL:
        return f"a Double is written with a decimal point, for example `{_format_number(node, '2')}.0`"
    if expected is INTEGER and actual is NATURAL:
        number = _format_number(node, "")
        if number:
            return f"write `+{number}`: an Integer has a sign; `Natural/toInteger` makes one of a Natural"
        return "`Natural/toInteger` makes an Integer of a Natural; a literal Integer has a sign, such as `+2`"
    if expected is NATURAL and actual is INTEGER:
        return "a Natural has no sign; `Integer/clamp` makes one of an Integer"
    if isinstance(node, Literal) and isinstance(node.value, str) and expected in (NATURAL, DOUBLE, INTEGER):
        return "a number is written without quotes" if _NUMBER.fullmatch(node.value) else ""
    if type(expected) is not VPi and type(actual) is VPi:
        return find_argument_hint(actual)
    if is_optional_type(expected) and are_equal(expected.arguments[0], actual):
        return "an Optional value is written `Some …`, or `None …` with the type"
    if is_optional_type(actual) and are_equal(actual.arguments[0], expected):
        return "`merge { None = …, Some = \\(x : …) -> x } …` takes the value out of an Optional"
    if is_list_type(expected) and are_equal(expected.arguments[0], actual):
        return "a list of one item is written `[ … ]`"
    return ""


def find_argument_hint(actual: Value) -> str:
    """Return the hint for a function in the place of its result; empty for other values."""
    if type(actual) is not VPi:
        return ""
    name = "" if actual.name == "_" else f" `{actual.name}`"
    return f"this is a function: its argument{name} may be missing"


def list_fields_of_type(name: str, expected: Value, actual: Value) -> list[str]:
    """Return the fields of the expected type that a record, called `name`, has, as they are selected."""
    if type(actual) is not VRecordType or not name:
        return []
    return [f"`{name}.{print_label(field)}`" for field, kind in actual.fields.items() if are_equal(kind, expected)]


def format_fields_hint(fields: Sequence[str]) -> str:
    """Return the hint that fields of a record have the type that it lacks; empty without fields."""
    listed = ", ".join(fields[:MAX_FIELDS]) + (", …" if len(fields) > MAX_FIELDS else "")
    return f"fields of it have this type: {listed}" if fields else ""


def _format_number(node: Node, default: str) -> str:
    if isinstance(node, Literal) and isinstance(node.value, int | VInteger):
        return str(node.value if isinstance(node.value, int) else node.value.number)
    return default
