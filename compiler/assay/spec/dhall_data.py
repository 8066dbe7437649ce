"""Normal forms of data as the evaluator gives them to Python, and the types of such forms.

A form may stand below functions whose arguments are imports: where it takes a member of one, plain data have a gap.
Any other use of an argument, such as a condition on it, cannot be left open: `StuckError` tells which are used so.

The numbers of kinds are those of Dhall's standard of its binary form.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.spec.dhall_forms import (
    FORALL,
    LAMBDA,
    NATURAL,
    OPERATOR,
    TEXT,
    Item,
    fields_of,
    number_of,
    parts_of,
    real_of,
    text,
    text_of,
)


class Kind(enum.IntEnum):
    """Kinds of expressions that data are made of."""

    APPLIED, LIST, SOME, RECORD_TYPE, RECORD, MEMBER, UNION_TYPE = 0, 4, 5, 7, 8, 9, 11
    NATURAL, INTEGER, TEXT, EMPTY = 15, 16, 18, 28


class Operation:
    """Operations that make data of what is not known yet: their kind, and the number that tells which it is."""

    OF = OPERATOR
    TEXTS, LISTS = b"\x06", b"\x07"


NONE = text("None")
TRUTHS = {b"\xf4": False, b"\xf5": True}
REAL = 7  # the major type of numbers with a point; truths and nothing are of it too
KEY, VALUE = "mapKey", "mapValue"  # the fields of a map's entries

Place = tuple[str | int, ...]
Part = str | tuple[int, tuple[str, ...]]
"""What stands in a gap: a text, or a member of an import: its number, and the names that lead to it."""


class StuckError(ValueError):
    """A form that is no data, whatever the arguments are: `uses` are the numbers of those that it would depend on."""

    def __init__(self, uses: frozenset[int] = frozenset()) -> None:
        super().__init__("not data")
        self.uses = uses


@dataclass(frozen=True, slots=True)
class Gap:
    """A place in data where something of imports goes: one part, or the parts of a text; or, without parts, where lists
    that stand there (some of them from imports) become one."""

    place: Place
    parts: tuple[Part, ...]
    is_text: bool = False


@dataclass(slots=True)
class Data:
    """Plain data, with None where a gap is."""

    value: Any = None
    gaps: list[Gap] = field(default_factory=list)


def data_of(form: Item, arguments: int = 0) -> Data:
    """The data of a form below that many functions; raises `StuckError`."""
    for _ in range(arguments):
        kind, parts = parts_of(form)
        if kind != LAMBDA:
            raise StuckError
        form = parts[-1]
    reading = _Reading(arguments)
    value = reading.value(form, ())
    return Data(value, reading.gaps)


def filled(data: Data, imports: Sequence[Any]) -> Any:
    """The data with what goes into its gaps, which is written into `data.value`."""
    whole = [data.value]
    for gap in data.gaps:
        found = [part if isinstance(part, str) else _taken(imports[part[0]], part[1]) for part in gap.parts]
        holder: Any = whole
        *way, last = (0, *gap.place)
        for step in way:
            holder = holder[step]
        if not gap.parts:
            holder[last] = _joined(holder[last])
        else:
            holder[last] = "".join(found) if gap.is_text else found[0]
    return whole[0]


def _joined(lists: Sequence[Any]) -> Any:
    """Lists one after the other; or maps, of which the last value of a key counts."""
    if isinstance(lists[0], dict):
        found = {key: value for item in lists for key, value in item.items()}
        return {key: found[key] for key in sorted(found)}
    return [entry for item in lists for entry in item]


def _taken(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = value[name]
    return value


class _Reading:
    """One pass over a form below `arguments` functions; `gaps` are those found so far."""

    def __init__(self, arguments: int) -> None:
        self.arguments = arguments
        self.gaps: list[Gap] = []

    def value(self, item: Item, place: Place) -> Any:
        """The data of an expression that stands at a place."""
        part = self._part(item)
        if part is not None:
            self.gaps.append(Gap(place, (part,)))
            return None
        match parts_of(item):
            case (None, [bytes(simple)]):
                return self._simple(simple)
            case (Kind.RECORD, [fields]):
                return {name: self.value(inner, (*place, name)) for name, inner in fields_of(fields).items()}
            case (Kind.LIST | Kind.EMPTY, [of]) if not _is_entry(of, Kind.RECORD_TYPE):
                return []
            case (Kind.LIST, [of]) if fields_of(parts_of(of)[1][0])[KEY] == text("Text"):
                return {}
            case (Kind.LIST, [_, *items]):
                return self._list(item, items, place)
            case (Kind.SOME, [*_, inner]):
                return self.value(inner, place)
            case (Kind.NATURAL | Kind.INTEGER, [number]):
                return number_of(number)
            case (Kind.TEXT, pieces):
                return self._text(item, pieces, place)
            case (Operation.OF, [Operation.LISTS, *_]):
                return self._lists(_operands(item, Operation.LISTS), place)
            case (Operation.OF, [Operation.TEXTS, *_]):
                return self._text(
                    item, [part for one in _operands(item, Operation.TEXTS) for part in _pieces(one)], place
                )
            case (Kind.MEMBER, [of, name]) if _is_union(of):
                return text_of(name)
            case (Kind.APPLIED, [function, _]) if function == NONE:
                return None
            case (Kind.APPLIED, [function, given]) if _alternative_of(function):
                return self.value(given, place)
        raise self._stuck(item)

    def _simple(self, item: bytes) -> Any:
        if item in TRUTHS:
            return TRUTHS[item]
        if _is_real(item):
            return real_of(item)
        raise self._stuck(item)

    def _list(self, item: Item, items: Sequence[Item], place: Place) -> Any:
        """A list; one of a map's entries is a map, of which the last value of a key counts."""
        if not all(_is_entry(inner, Kind.RECORD) for inner in items):
            return [self.value(inner, (*place, number)) for number, inner in enumerate(items)]
        found: dict[str, Any] = {}
        before = len(self.gaps)
        for entry in items:
            fields = fields_of(parts_of(entry)[1][0])
            key = self.value(fields[KEY], ())
            if not isinstance(key, str) or (key in found and len(self.gaps) > before):
                raise self._stuck(item)
            found[key] = self.value(fields[VALUE], (*place, key))
        return found

    def _lists(self, items: Sequence[Item], place: Place) -> Any:
        """Lists that become one when it is known what they are."""
        found = [self.value(inner, (*place, number)) for number, inner in enumerate(items)]
        self.gaps.append(Gap(place, ()))
        return found

    def _text(self, item: Item, pieces: Sequence[Item], place: Place) -> str | None:
        parts = [text_of(piece) if _is_text(piece) else self._part(piece) for piece in pieces]
        found = tuple(part for part in parts if part is not None)
        if len(found) < len(parts):
            raise self._stuck(item)
        if len(found) == 1 and isinstance(found[0], str):
            return found[0]
        self.gaps.append(Gap(place, found, is_text=True))
        return None

    def _part(self, item: Item) -> Part | None:
        """The member of an argument that an expression is; None when it is something else."""
        names: list[str] = []
        kind, parts = parts_of(item)
        while kind == Kind.MEMBER:
            names.append(text_of(parts[1]))
            item = parts[0]
            kind, parts = parts_of(item)
        if isinstance(item, bytes) and item[0] >> 5 == NATURAL:
            return self.arguments - 1 - number_of(item), tuple(reversed(names))
        return None

    def _stuck(self, item: Item) -> StuckError:
        """That an expression is no data, with the arguments in it."""
        return StuckError(frozenset(self.arguments - 1 - number for number in _free(item, 0)))


def _operands(item: Item, operation: bytes) -> list[Item]:
    """What an operation is of, where its operands may be of the same one."""
    kind, parts = parts_of(item)
    if kind != Operation.OF or parts[0] != operation:
        return [item]
    return [inner for operand in parts[1:] for inner in _operands(operand, operation)]


def _pieces(item: Item) -> list[Item]:
    """The pieces of an interpolated text; any other is one."""
    kind, parts = parts_of(item)
    return parts if kind == Kind.TEXT else [item]


def _free(item: Item, inside: int) -> Iterator[int]:
    """The numbers of the variables of an expression that functions outside bind, `inside` functions up from it."""
    if isinstance(item, dict):
        for value in item.values():
            yield from _free(value, inside)
        return
    kind, parts = parts_of(item)
    if isinstance(item, bytes):
        if item[0] >> 5 == NATURAL and number_of(item) >= inside:
            yield number_of(item) - inside
    elif kind in (LAMBDA, FORALL):
        yield from _free(parts[-2], inside)
        yield from _free(parts[-1], inside + 1)
    elif kind not in (Kind.NATURAL, Kind.INTEGER):
        for part in parts[1 if kind == OPERATOR else 0 :]:
            yield from _free(part, inside)


def type_of(item: Item) -> Item:
    """The type of closed data, as a form; raises `StuckError` for all that is no data."""
    match parts_of(item):
        case (None, [bytes(simple)]) if simple in TRUTHS:
            return text("Bool")
        case (None, [bytes(simple)]) if _is_real(simple):
            return text("Double")
        case (Kind.NATURAL, _):
            return text("Natural")
        case (Kind.INTEGER, _):
            return text("Integer")
        case (Kind.TEXT, _):
            return text("Text")
        case (Kind.RECORD, [dict(fields)]):
            return [bytes([Kind.RECORD_TYPE]), {name: type_of(inner) for name, inner in fields.items()}]
        case (Kind.LIST, [of]):
            return _of("List", of)
        case (Kind.LIST, [_, first, *_]):
            return _of("List", type_of(first))
        case (Kind.EMPTY, [whole]):
            return whole
        case (Kind.SOME, [*_, inner]):
            return _of("Optional", type_of(inner))
        case (Kind.APPLIED, [function, of]) if function == NONE:
            return _of("Optional", of)
        case (Kind.APPLIED, [function, _]) if (union := _alternative_of(function)) is not None:
            return union
        case (Kind.MEMBER, [of, _]) if _is_union(of):
            return of
    raise StuckError


def _of(name: str, item: Item) -> Item:
    return [bytes([Kind.APPLIED]), text(name), item]


def _is_union(item: Item) -> bool:
    return parts_of(item)[0] == Kind.UNION_TYPE


def _alternative_of(item: Item) -> Item | None:
    """The union of which an expression is an alternative; None when it is none."""
    kind, parts = parts_of(item)
    return parts[0] if kind == Kind.MEMBER and _is_union(parts[0]) else None


def _is_real(item: bytes) -> bool:
    return item[0] >> 5 == REAL and len(item) > 1


def _is_text(item: Item) -> bool:
    return isinstance(item, bytes) and item[0] >> 5 == TEXT


def _is_entry(item: Item, kind: int) -> bool:
    """Whether an expression is an entry of a map, or the type of one."""
    found, parts = parts_of(item)
    return found == kind and isinstance(parts[0], dict) and set(fields_of(parts[0])) == {KEY, VALUE}


def members_of(form: Item, names: frozenset[str]) -> Item:
    """The record of some members of the record that a form is; the form itself when it is none."""
    match form:
        case [kind, dict(fields)] if parts_of(form)[0] == Kind.RECORD:
            return [kind, {name: inner for name, inner in fields.items() if text_of(name) in names}]
    return form
