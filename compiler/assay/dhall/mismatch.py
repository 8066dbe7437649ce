"""The error of a value whose type is not the expected one: at the smallest expression that is guilty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.dhall.context import Context, make_error
from assay.dhall.errors import DhallError, suggest
from assay.dhall.syntax import Ann, ListLit, Node, Op, Rec, SomeLit
from assay.dhall.values import Value, VBuiltin, VConst, VPi, VRecType, VUnion

MAX_ERRORS = 20


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An expected and a found type; `subject` says of what, `path` leads from it to the part at hand."""

    context: Context
    subject: str
    expected: Value
    actual: Value
    path: str = ""

    def descend(self, expected: Value, actual: Value, name: str) -> Mismatch:
        """Give the mismatch of a part of both types."""
        return Mismatch(self.context, self.subject, expected, actual, f"{self.path}{name}")


def explain_mismatch(node: Node, subject: str, expected: Value, actual: Value, context: Context) -> DhallError:
    """Make the errors of an expression of the wrong type, one for each part that is wrong."""
    errors = list(_explain(node, Mismatch(context, subject, expected, actual)))[:MAX_ERRORS]
    return DhallError(*(item for error in errors for item in error.diagnostics))


def _explain(node: Node, case: Mismatch) -> Iterator[DhallError]:
    expected, actual = case.expected, case.actual
    while isinstance(node, Ann):
        node = node.value
    if type(expected) is VRecType and type(actual) is VRecType:
        yield from _explain_records(node, case)
    elif _is_applied(expected, "List") and _is_applied(actual, "List"):
        yield from _explain_lists(node, case)
    elif isinstance(node, SomeLit) and _is_applied(expected, "Optional") and _is_applied(actual, "Optional"):
        yield from _explain(node.value, case.descend(expected.arguments[0], actual.arguments[0], ".?"))
    else:
        yield _explain_leaf(node, case)


def _is_applied(value: Value, name: str) -> bool:
    return type(value) is VBuiltin and value.name == name and len(value.arguments) == 1


def _explain_leaf(node: Node, case: Mismatch) -> DhallError:
    message = f"{case.subject} has the wrong type"
    if case.path:
        message = f"wrong type of {_name_path(case.path)} in {case.subject}"
    return make_error(node, message, case.expected, case.actual, hint_types(case.expected, case.actual))


def _name_path(path: str) -> str:
    return f"field `{path[1:]}`" if path.startswith(".") else f"`{path}`"


def _explain_records(node: Node, case: Mismatch) -> Iterator[DhallError]:
    expected, actual = case.expected.fields, case.actual.fields
    unknown = [name for name in actual if name not in expected]
    missing = [name for name in expected if name not in actual]
    place = case.subject if not case.path else f"{_name_path(case.path)} of {case.subject}"
    near = {name: suggest(name, missing or expected) for name in unknown}
    for name in unknown:
        message, hint = f"unknown field `{name}` in {place}", near[name]
        yield make_error(node, message, case.expected, case.actual, hint, at=_find_name(node, name))
    excused = {name for name in missing if any(f"mean `{name}`" in hint for hint in near.values())}
    absent = [name for name in missing if name not in excused]
    if absent and (not unknown or len(absent) > len(unknown)):
        names = ", ".join(f"`{name}`" for name in absent)
        message = f"missing field{'s' if len(absent) > 1 else ''} {names} in {place}"
        yield make_error(node, message, case.expected, case.actual)
    for name in actual:
        if name in expected and not case.context.are_equal(expected[name], actual[name]):
            part = _find_field(node, name)
            yield from _explain(part or node, case.descend(expected[name], actual[name], f".{name}"))


def _find_field(node: Node, name: str) -> Node | None:
    """Give the expression of a field where the record is written here."""
    if isinstance(node, Rec):
        return node.fields.get(name)
    if isinstance(node, Op) and node.op in ("//", "/\\"):
        return _find_field(node.right, name) or _find_field(node.left, name)
    return None


def _find_name(node: Node, name: str) -> tuple[int, int] | None:
    if isinstance(node, Rec) and name in node.places:
        start = node.places[name]
        width = len(name) + 2 * node.file.text.startswith("`", start)
        return start, start + width
    return None


def _explain_lists(node: Node, case: Mismatch) -> Iterator[DhallError]:
    expected, actual = case.expected.arguments[0], case.actual.arguments[0]
    if isinstance(node, ListLit) and node.items and type(expected) is VRecType:
        yield from _explain(node.items[0], case.descend(expected, actual, "[0]"))
    else:
        yield _explain_leaf(node, case)


def hint_types(expected: Value, actual: Value) -> str:
    """Say how a value of the expected type is written, where the found one is a likely slip."""
    for wrapper, hint in _WRAPPERS.items():
        if _is_applied(expected, wrapper) and not _is_applied(actual, wrapper):
            return hint
    if _is_applied(actual, "Optional"):
        return "an Optional may be absent: `merge { Some = …, None = … }` gives a value in both cases"
    if isinstance(expected, VUnion):
        name = next(iter(expected.fields), "")
        return f"an alternative of the union is selected from its type: `(type).{name}`" if name else ""
    if type(actual) is VPi and type(expected) is not VPi:
        return "this is a function: its argument is missing"
    if type(actual) is VConst:
        return "this is a type, not a value of it"
    names = tuple(value.name if type(value) is VBuiltin else "" for value in (expected, actual))
    return _SLIPS.get(names, "")  # type: ignore[arg-type]


_WRAPPERS = {
    "Optional": "`Some` makes an Optional of a value, `None T` is an absent one",
    "List": "a list is written in brackets: `[ … ]`",
}
_TEXT_HINT = "a text is written in quotes; `{}/show` makes one of a number"
_SLIPS = {
    ("Text", "Natural"): _TEXT_HINT.format("Natural"),
    ("Text", "Integer"): _TEXT_HINT.format("Integer"),
    ("Text", "Double"): _TEXT_HINT.format("Double"),
    ("Double", "Natural"): "a Double is written with a decimal point, for example `2.0`",
    ("Double", "Integer"): "a Double is written with a decimal point, for example `-2.0`",
    ("Natural", "Integer"): "a Natural is written without a sign",
    ("Integer", "Natural"): "an Integer is written with a sign, for example `+2`",
    ("Natural", "Double"): "a Natural is written without a decimal point",
    ("Natural", "Text"): "a number is written without quotes",
    ("Double", "Text"): "a number is written without quotes",
    ("Bool", "Text"): "a Bool is `True` or `False`, without quotes",
}
