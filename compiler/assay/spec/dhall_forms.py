"""The binary form of a normal form as Dhall's standard has it: every bound variable is named `_`.

The hash of an import is that of this form.  The evaluator hashes it too, but keeps the form with the names that stood
in the text; that has another hash, so what it keeps of functions it does not find again, and works it out anew.
`standard` renames what it kept.  Whether the outcome is right its hash tells.

The form is CBOR (RFC 8949): arrays that begin with the number of a kind of expression, `[name, index]` for a variable
(the number alone, for one named `_`), texts for builtins, and maps for the fields of records and unions.  All that is
no array and no map is kept as the bytes that it was, so that numbers stay as they were written.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

UNNAMED = b"\x61_"  # the text `_`
NATURAL, NEGATIVE, TEXT, ARRAY, MAP = 0, 1, 3, 4, 5  # major types of CBOR
LAMBDA, FORALL, OPERATOR, IMPORT = 1, 2, 3, 24  # kinds of expressions
LITERALS = (15, 16, 30, 31, 32)  # numbers, dates, times and zones
SHORT = 24  # what a head holds in itself is less
_NO_FORM = "not the form of an expression, or one that is nested too deep"

Item: TypeAlias = "bytes | list[Item] | dict[bytes, Item]"


def standard(form: bytes) -> bytes:
    """The form with bound variables named `_`.

    Raises:
        ValueError: it is not the form of a closed expression without imports.
    """
    try:
        return written(_renamed(read(form), ()))
    except (IndexError, TypeError, RecursionError) as error:
        raise ValueError(_NO_FORM) from error


def read(form: bytes) -> Item:
    """The expression of a form; ValueError where the bytes are none."""
    try:
        item, end = _read(form, 0)
    except (IndexError, TypeError, RecursionError) as error:
        raise ValueError(_NO_FORM) from error
    if end != len(form):
        raise ValueError("more than the form of one expression")
    return item


def written(item: Item) -> bytes:
    """The form of an expression."""
    if isinstance(item, bytes):
        return item
    if isinstance(item, list):
        return b"".join((_made(ARRAY, len(item)), *map(written, item)))
    fields = (name + written(value) for name, value in item.items())
    return b"".join((_made(MAP, len(item)), *fields))


def parts_of(item: Item) -> tuple[int | None, list[Item]]:
    """The number of the kind of expression that an array is, and what follows it; None and the item for all else."""
    if isinstance(item, list) and item:
        first = leaf(item[0])
        if first[0] >> 5 == NATURAL:
            return _head(first, 0)[0], item[1:]
    return None, [item]


def fields_of(item: Item) -> dict[str, Item]:
    """The fields of a record or union by their names; TypeError for all else."""
    if not isinstance(item, dict):
        raise TypeError("no fields")
    return {text_of(name): inner for name, inner in item.items()}


def text_of(item: Item) -> str:
    """The characters of a text."""
    found = leaf(item)
    return found[_head(found, 0)[1] :].decode()


def text(characters: str) -> bytes:
    """A text of these characters."""
    encoded = characters.encode()
    return _made(TEXT, len(encoded)) + encoded


def number_of(item: Item) -> int:
    """A whole number below 2^64, or one above -2^64 - 1."""
    found = leaf(item)
    size = _head(found, 0)[0]
    return -1 - size if found[0] >> 5 == NEGATIVE else size


def real_of(item: Item) -> float:
    """A number in one of the three lengths of IEEE 754."""
    found = leaf(item)
    return float(struct.unpack({3: ">e", 5: ">f", 9: ">d"}[len(found)], found[1:])[0])


def leaf(item: Item) -> bytes:
    """What is neither an array nor a map; TypeError for these."""
    if not isinstance(item, bytes):
        raise TypeError("an array or a map in the place of a name")
    return item


def _read(form: bytes, start: int) -> tuple[Item, int]:
    """The item that begins there, and where the next begins."""
    major, size, at = form[start] >> 5, *_head(form, start)
    if major == ARRAY:
        items: list[Item] = []
        for _ in range(size):
            item, at = _read(form, at)
            items.append(item)
        return items, at
    if major == MAP:
        fields: dict[bytes, Item] = {}
        for _ in range(size):
            name, at = _read(form, at)
            fields[leaf(name)], at = _read(form, at)
        return fields, at
    end = at + size if major == TEXT else at
    return form[start:end], end


def _head(form: bytes, start: int) -> tuple[int, int]:
    """The number in the head that begins there, and where the head ends."""
    short = form[start] & 31
    if short < SHORT:
        return short, start + 1
    end = start + 1 + (1 << short - SHORT)
    return int.from_bytes(form[start + 1 : end]), end


def _made(major: int, size: int) -> bytes:
    """The shortest head with this number."""
    if size < SHORT:
        return bytes([major << 5 | size])
    width = next(width for width in range(4) if size >> (8 << width) == 0)
    return bytes([major << 5 | SHORT + width]) + size.to_bytes(1 << width)


def _renamed(item: Item, bound: tuple[bytes, ...]) -> Item:
    """The expression; `bound` are the names of the variables around it, the innermost last."""
    if isinstance(item, dict):
        return {name: _renamed(value, bound) for name, value in item.items()}
    if isinstance(item, bytes):
        return _variable(UNNAMED, item, bound) if item[0] >> 5 == NATURAL else item
    first = leaf(item[0])
    if first[0] >> 5 == TEXT:
        return _variable(first, leaf(item[1]), bound)
    kind = _head(first, 0)[0]
    if kind in (LAMBDA, FORALL):
        name = leaf(item[1]) if len(item) == 4 else UNNAMED
        return [first, _renamed(item[-2], bound), _renamed(item[-1], (*bound, name))]
    if kind == IMPORT:
        raise ValueError("an import")
    kept = len(item) if kind in LITERALS else 2 if kind == OPERATOR else 1
    return [*item[:kept], *(_renamed(part, bound) for part in item[kept:])]


def _variable(name: bytes, index: bytes, bound: tuple[bytes, ...]) -> bytes:
    """The number of variables that are bound further inside."""
    left = _head(index, 0)[0]
    for passed, other in enumerate(reversed(bound)):
        if other == name and left == 0:
            return _made(NATURAL, passed)
        left -= other == name
    raise ValueError("a variable that nothing binds")
