"""Two types that should be one, explained by the fields in which they differ."""

from __future__ import annotations

import difflib
from itertools import pairwise

from assay.spec.dhall_context import Context, Part
from assay.spec.dhall_types import EXTRA, MISSING, OTHER, WIDTH, Difference, differences, fields, short, short_pair
from assay.spec.diagnostics import Diagnostic, did_you_mean

_MANY = 6


def mismatch(context: Context, part: Part, expected: str, found: str, name: str) -> Diagnostic:
    """The diagnostic for an expression of the wrong type; `name` says what the expression is."""
    items = differences(expected, found)
    if not items or set(items[0].path) <= {"[]"} or _unlike(items, expected):
        message = f"{name} has the wrong type"
        wanted, given = short_pair(expected, found)
        hint = conversion(expected, found)
        return context.problem(message, part, expected=wanted, found=given, hint=hint)
    renamed = _renamed(items)
    told = [item for item in items if item not in renamed.values()]
    places = (locate(context, part, item) for item in told if item.kind != MISSING)
    place = next((written for written in places if written), part)
    pair = told[0] if len(told) == 1 and told[0].kind == OTHER else Difference(OTHER, (), expected, found)
    lacking = _lacking(told, expected)
    wanted, given = (lacking, "") if lacking else short_pair(pair.expected, pair.found)
    hint = _hints(told, renamed, expected)
    return context.problem(f"{_parts(told)} in {name}", place, expected=wanted, found=given, hint=hint)


def _lacking(items: list[Difference], expected: str) -> str:
    """The fields that are missing, with their types, where nothing else is wrong and the record is too long to be read
    beside the one that is expected."""
    if len(expected) <= WIDTH or any(item.kind != MISSING for item in items):
        return ""
    return ", ".join(f"{item.name} : {short(item.expected)}" for item in items[:_MANY])


def _unlike(items: list[Difference], expected: str) -> bool:
    """Whether two records have less than half of their fields in common."""
    wanted = fields(expected)
    unlike = [item for item in items if item.kind != OTHER and len(item.path) == 1]
    return wanted is not None and len(wanted) > 2 and len(unlike) > len(wanted)


def _renamed(items: list[Difference]) -> dict[tuple[str, ...], Difference]:
    """The missing field that an extra one was most likely meant to be, by the path of the extra one."""
    missing = {item.name: item for item in items if item.kind == MISSING}
    renamed = {}
    for item in items:
        near = difflib.get_close_matches(item.name, list(missing), n=1, cutoff=0.6) if item.kind == EXTRA else []
        if near:
            renamed[item.path] = missing.pop(near[0])
    return renamed


def _parts(items: list[Difference]) -> str:
    kinds = (
        (EXTRA, "unknown field{s} {names}"),
        (MISSING, "missing field{s} {names}"),
        (OTHER, "wrong type of field{s} {names}"),
    )
    parts = []
    for kind, sentence in kinds:
        names = [f"`{item.name}`" for item in items if item.kind == kind]
        if names:
            more = [f"{len(names) - _MANY} more"] if len(names) > _MANY else []
            listed = ", ".join(names[:_MANY] + more)
            parts.append(sentence.format(s="s" if len(names) > 1 else "", names=listed))
    return ", ".join(parts)


def _hints(items: list[Difference], renamed: dict[tuple[str, ...], Difference], expected: str) -> str:
    for item in items:
        known = [renamed[item.path].path[-1]] if item.path in renamed else list(fields(expected) or {})
        hint = did_you_mean(item.path[-1], known) if item.kind == EXTRA else ""
        if hint.startswith("did"):
            return hint
    for item in items:
        if item.kind == OTHER and (hint := conversion(item.expected, item.found)):
            return hint
    return ""


def locate(context: Context, part: Part, item: Difference) -> Part | None:
    """Where the literal `part` gives the field, following the path inwards; nothing when it does not."""
    place: Part | None = None
    inside = part
    for name in item.path:
        if name == "[]":
            continue
        tokens = context.words(inside)
        label = next(
            (token for token, after in pairwise(tokens) if token.names(name) and after.text == "="),
            None,
        )
        if label is None:
            return place
        place = context.cut(label.start, label.end)
        inside = context.cut(label.end, inside.end)
    return place


def conversion(expected: str, found: str) -> str:
    """What to write instead, for the usual slips."""
    if expected == "Double" and found in ("Natural", "Integer"):
        return "a Double is written with a decimal point, for example `2.0`"
    if expected == "Integer" and found == "Natural":
        return "an Integer is written with its sign, for example `+2`"
    if expected == "Natural" and found == "Integer":
        return "a Natural is written without a sign"
    if expected == f"Optional {found}" or expected == f"Optional ({found})":
        return "an optional value is written `Some …`"
    if expected == f"List {found}" or expected == f"List ({found})":
        return "a list of one item is written `[ … ]`"
    if found.startswith("∀"):
        return "the function lacks an argument"
    if expected == "Text" and found in ("Natural", "Integer", "Double"):
        return f"a text is written in quotes; `{found}/show` makes one of a number"
    return ""
