"""Read the units that records carry: a text beside or behind a number that says in which unit the number is.

Only names that mean one unit everywhere are known: `kB` and `KB` are thousands of bytes, `Mb` is none, since some
write it for megabits. A piece of work as in `ns/op` or `ops/s` says what is counted, not in which unit.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction

from assay.lang.expression_types import NONE
from assay.lang.model.package import Event, Field, Form
from assay.lang.model.vocabulary import Unit
from assay.util.time_units import SECOND, TIME_UNITS

UNIT_OF = "unitOf"
"""Kind of the transform that names the field with the unit of a record."""

WITH_UNIT = "withUnit"
"""Kind of the transform that reads a number with its unit behind it."""

NUMBER, UNIT = "number", "unit"
"""Names of the groups of `NUMBER_WITH_UNIT`."""

NUMBER_WITH_UNIT = (
    r"^ *([-+]?(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?) *([^-+0-9., ].*)$"
)
"""A number, perhaps with commas between thousands, and the unit behind it; syntax of both Python and RE2."""

SEPARATOR = ","
"""What may stand between thousands."""

TIME, SIZE, DATA_RATE, RATE, PERCENT = "time", "size", "data rate", "rate", "share"
_TIMES = {unit.name: (unit.nanoseconds, unit.spellings) for unit in TIME_UNITS}
_SIZES = {
    "byte": (Fraction(1), ("B", "byte", "bytes")),
    "kilobyte": (Fraction(10**3), ("kB", "KB", "kilobyte", "kilobytes")),
    "megabyte": (Fraction(10**6), ("MB", "megabyte", "megabytes")),
    "gigabyte": (Fraction(10**9), ("GB", "gigabyte", "gigabytes")),
    "terabyte": (Fraction(10**12), ("TB", "terabyte", "terabytes")),
    "kibibyte": (Fraction(2**10), ("KiB", "kibibyte", "kibibytes")),
    "mebibyte": (Fraction(2**20), ("MiB", "mebibyte", "mebibytes")),
    "gibibyte": (Fraction(2**30), ("GiB", "gibibyte", "gibibytes")),
    "tebibyte": (Fraction(2**40), ("TiB", "tebibyte", "tebibytes")),
    "bit": (Fraction(1, 8), ("bit", "bits")),
    "kilobit": (Fraction(10**3, 8), ("kbit", "Kbit", "kbits", "Kbits")),
    "megabit": (Fraction(10**6, 8), ("Mbit", "Mbits")),
    "gigabit": (Fraction(10**9, 8), ("Gbit", "Gbits")),
}  # bytes, and names
#: what data are counted by, as in `MB/s`, and the length of the longest symbol of a size
_TIMES_OF_DATA = {"second": ("s", "sec", "second"), "millisecond": ("ms",), "microsecond": ("us",), "minute": ("min",)}
_LONGEST_SYMBOL = 5
_HERTZ = {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9}
_PERCENT = ("%", "percent", "pct", "percentage")
_COUNTED = (NONE, "count", "event")  # what a unit of a rate of work may count
_MIN_WORD = 3  # letters of names that are written in capitals, too
#: pieces of work: what is behind `ns/`, or before `/s`
_WORK = (
    "1", "op", "ops", "operation", "operations", "iter", "iters", "iteration", "iterations", "call", "calls", "req",
    "reqs", "request", "requests", "query", "queries", "tx", "txs", "transaction", "transactions", "item", "items",
    "event", "events", "msg", "msgs", "message", "messages", "run", "runs", "round", "rounds", "invocation",
    "invocations", "record", "records", "row", "rows", "element", "elements", "elem", "elems", "task", "tasks", "loop",
    "block", "blocks", "blk", "blks", "token", "tokens", "tok", "step", "steps", "it", "its", "sample", "samples",
    "file", "files", "page", "pages", "frame", "frames", "image", "images", "doc", "docs", "packet", "packets", "key",
    "keys", "line", "lines", "batch", "batches", "job", "jobs", "epoch", "txin", "gas", "hash",
    "hashes", "H", "flop", "flops",
)  # fmt: skip
_PREFIXES = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_PREFIXED = "*"  # behind the prefix of a rate of work, as in `Mgas/s` and `kops/s`
#: what is replaced in a text of a unit, in this order, and by what; syntax of both Python and RE2
REPLACED = (
    (r"^ +| +$", ""),
    (" ?/ ?| per ", "/"),
    (rf"/(?:{'|'.join(_WORK)})$", ""),
    (rf"^(?:{'|'.join(_WORK)})/", "1/"),
    (rf"^([{''.join(_PREFIXES)}])(?:{'|'.join(_WORK)})/", rf"\1{_PREFIXED}/"),
)


@dataclass(frozen=True, slots=True)
class RecordUnit:
    """The unit of a number of a record: the field that names it, None if it is behind the number; texts of units.

    `factors` convert a number to the unit of its field, by the text after all of `REPLACED`. With a text of `others`,
    the number is of another field.
    """

    named_by: Field | None
    unit: Unit
    factors: Mapping[str, Fraction]
    others: frozenset[str]


def find_unit_field(field: Field) -> str:
    """Return the name of the field with the unit of a field; empty without one."""
    return next((change.text for change in field.transforms if change.kind == UNIT_OF), "")


def has_unit_behind(field: Field) -> bool:
    """Return whether the numbers of a field have their unit behind them."""
    return any(change.kind == WITH_UNIT for change in field.transforms)


def split_number(text: str) -> tuple[str, str] | None:
    """Return a number and the unit behind it; None for other texts."""
    match = re.search(NUMBER_WITH_UNIT, text)
    return (match[1].replace(SEPARATOR, ""), match[2]) if match else None


def find_record_unit(form: Form, field: Field) -> RecordUnit | None:
    """Return the unit of a field of a form that records carry; None if they do not.

    A text that no field with this unit reads is an error of the record: see `list_factors`.
    """
    if has_unit_behind(field):
        return RecordUnit(None, field.unit, list_factors(field.unit), frozenset())
    name = find_unit_field(field)
    named_by = next((item for item in form.fields if item.name == name), None)
    if named_by is None:
        return None
    factors = list_factors(field.unit)
    others = {text for item in form.fields if find_unit_field(item) == name for text in list_factors(item.unit)}
    return RecordUnit(named_by, field.unit, factors, frozenset(others - factors.keys()))


def add_unit_fields(event: Event, names: Set[str]) -> Set[str]:
    """Return names of fields of an event with those of the fields that say in which units they are."""
    fields = (item for form in event.forms for item in form.fields if item.name in names)
    return names | {name for item in fields if (name := find_unit_field(item))}


def simplify_unit(text: str) -> str:
    """Return the text of a unit without the work in it: `ns` for `ns/op`, `1/s` for `ops per s`."""
    for pattern, replacement in REPLACED:
        text = re.sub(pattern, replacement, text)
    return text


def find_kind(text: str) -> tuple[str, str]:
    """Return the kind of a text that names a unit, and the unit; both are empty if it names none."""
    return _list_names().get(simplify_unit(text), ("", ""))


def has_prefix(text: str) -> bool:
    """Return whether a text names a rate of work with a prefix, such as `Mgas/s`."""
    return simplify_unit(text)[1:2] == _PREFIXED and bool(find_kind(text)[0])


@functools.cache
def list_factors(unit: Unit) -> Mapping[str, Fraction]:
    """Return the simplified texts of units that convert to a unit, with their factors; else the symbol of the unit."""
    units = _list_units()
    if unit.name in units:
        kind, size = units[unit.name]
        return {text: other / size for text, (item, other) in _list_texts().items() if item == kind}
    return {simplify_unit(unit.symbol): Fraction(1)} if unit.symbol else {}


@functools.cache
def _list_units() -> dict[str, tuple[str, Fraction]]:
    """Return the units of the schema: their kind, and how much they are in nanoseconds, bytes, or these a second."""
    units: dict[str, tuple[str, Fraction]] = {name: (TIME, Fraction(size)) for name, (size, _) in _TIMES.items()}
    units |= {name: (SIZE, size) for name, (size, _) in _SIZES.items()}
    for time, (nanoseconds, _) in _TIMES.items():
        second = Fraction(SECOND, nanoseconds)
        units |= {f"{name} / {time}": (DATA_RATE, size * second) for name, (size, _) in _SIZES.items()}
        units |= {f"{name} / {time}": (RATE, second) for name in _COUNTED}
    return units | {"hertz": (RATE, Fraction(1)), "percent": (PERCENT, Fraction(1))}


@functools.cache
def _list_texts() -> dict[str, tuple[str, Fraction]]:
    """Return the simplified texts of units: their kind, and how much they are, as in `_list_units`."""
    units = _list_units()
    return {text: units[name] for text, (_, name) in _list_names().items() if name in units} | {
        text: (RATE, Fraction(factor)) for text, factor in _HERTZ.items()
    } | {
        f"{prefix}{_PREFIXED}/{per}": (RATE, factor * units[f"{NONE} / {time}"][1])
        for prefix, factor in _PREFIXES.items() for time, (_, names) in _TIMES.items() for per in names
    }  # fmt: skip


@functools.cache
def _list_names() -> dict[str, tuple[str, str]]:
    """Return the simplified texts of units with their kind and the name of a unit."""
    names_by_text = {text: (TIME, name) for name, (_, names) in _TIMES.items() for text in _list_spellings(names)}
    names_by_text |= {text: (SIZE, name) for name, (_, names) in _SIZES.items() for text in _list_spellings(names)}
    names_by_text |= {f"1/{per}": (RATE, f"{NONE} / {time}") for time, (_, names) in _TIMES.items() for per in names}
    names_by_text |= {f"{prefix}{_PREFIXED}/{per}": (RATE, f"{NONE} / {time}")
                      for prefix in _PREFIXES for time, (_, names) in _TIMES.items() for per in names}  # fmt: skip
    for time, names in _TIMES_OF_DATA.items():
        for size, (_, sizes) in _SIZES.items():
            texts = [text for text in sizes if len(text) <= _LONGEST_SYMBOL or size == "byte"]
            names_by_text |= {f"{text}/{per}": (DATA_RATE, f"{size} / {time}") for text in texts for per in names}
    names_by_text |= dict.fromkeys(_HERTZ, (RATE, f"{NONE} / second"))
    return names_by_text | dict.fromkeys(_list_spellings(_PERCENT), (PERCENT, "percent"))


def _list_spellings(names: Sequence[str]) -> Iterator[str]:
    """Yield names, and long ones of small letters as other tools write them: `MILLISECONDS`, `Milliseconds`."""
    for name in names:
        yield name
        if len(name) >= _MIN_WORD and name.islower():
            yield name.upper()
            yield name.capitalize()
