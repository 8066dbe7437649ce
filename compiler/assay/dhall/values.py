"""What expressions evaluate to.

A Natural is an `int`, a Bool a `bool`, a Text a `str`, a Double a `float`; Integers, dates and the like are those of
`syntax`. What depends on the argument of a function that is not applied is neutral: the classes that begin with `N`.
Values are trees of mixed Python types, hence `Any`; they are never changed once made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from assay.dhall.syntax import BUILTINS, Node

Value = Any
Environment = tuple[Any, ...]


@dataclass(slots=True, eq=False, repr=False)
class VList:
    """A list; `element` is the type of items where known, always when there are none.

    `source` tells where it was written: its node and environment, or the two lists that it joins.
    """

    items: list[Value]
    element: Value = None
    source: Any = None


@dataclass(slots=True, eq=False, repr=False)
class VSome:
    """A present optional value."""

    value: Value


@dataclass(slots=True, eq=False, repr=False)
class VNone:
    """An absent optional value of a type."""

    type: Value


@dataclass(slots=True, eq=False, repr=False)
class VRec:
    """A record; `source` is its node and environment, or the two records that it joins."""

    fields: dict[str, Value]
    source: Any = None


@dataclass(slots=True, eq=False, repr=False)
class VRecType:
    """The type of a record; `sort` is its own type once known."""

    fields: dict[str, Value]
    sort: Value = None


@dataclass(slots=True, eq=False, repr=False)
class VUnion:
    """A union; alternatives without a payload have None."""

    fields: dict[str, Value]
    sort: Value = None


@dataclass(slots=True, eq=False, repr=False)
class VInject:
    """An alternative of a union with its payload, or ABSENT."""

    union: Value
    name: str
    payload: Value


@dataclass(slots=True, eq=False, repr=False)
class VConstructor:
    """An alternative that has not got its payload yet."""

    union: Value
    name: str


@dataclass(slots=True, eq=False, repr=False)
class VLam:
    """A function."""

    name: str
    domain: Value
    call: Callable[[Value], Value]


@dataclass(slots=True, eq=False, repr=False)
class VPi:
    """The type of a function; `call` gives the type of the result for an argument."""

    name: str
    domain: Value
    call: Callable[[Value], Value]


@dataclass(slots=True, eq=False, repr=False)
class VBuiltin:
    """A builtin with the arguments that it has so far."""

    name: str
    arguments: tuple[Value, ...]


@dataclass(slots=True, eq=False, repr=False)
class VConst:
    """Type, Kind or Sort."""

    name: str


@dataclass(slots=True, eq=False, repr=False)
class VText:
    """A text with neutral parts; no two strings follow each other."""

    parts: list[Value]


@dataclass(slots=True, eq=False, repr=False)
class VEquivalence:
    """The type of a proof that two values are equal."""

    left: Value
    right: Value


@dataclass(slots=True, eq=False, repr=False)
class VAssert:
    """Such a proof."""

    type: Value


@dataclass(slots=True, eq=False, repr=False)
class NVar:
    """The argument of a function, by the number of binders outside its own; `type` is None outside type checking."""

    level: int
    name: str
    type: Value = None


@dataclass(slots=True, eq=False, repr=False)
class NFree:
    """A variable without a binder."""

    name: str
    index: int


@dataclass(slots=True, eq=False, repr=False)
class NApp:
    """An application that is stuck."""

    function: Value
    argument: Value


@dataclass(slots=True, eq=False, repr=False)
class NOp:
    """An operator that is stuck."""

    op: str
    left: Value
    right: Value


@dataclass(slots=True, eq=False, repr=False)
class NIf:
    """A choice that is stuck."""

    condition: Value
    then: Value
    other: Value


@dataclass(slots=True, eq=False, repr=False)
class NSelect:
    """The field of a record that is stuck."""

    value: Value
    name: str


@dataclass(slots=True, eq=False, repr=False)
class NProject:
    """Some fields, sorted, of a record that is stuck."""

    value: Value
    names: list[str]


@dataclass(slots=True, eq=False, repr=False)
class NProjectType:
    """The fields that a type has which is stuck."""

    value: Value
    type: Value


@dataclass(slots=True, eq=False, repr=False)
class NMerge:
    """A merge that is stuck."""

    handlers: Value
    union: Value
    annotation: Value


@dataclass(slots=True, eq=False, repr=False)
class NToMap:
    """A map of a record that is stuck."""

    value: Value
    annotation: Value


@dataclass(slots=True, eq=False, repr=False)
class NWith:
    """A changed record that is stuck."""

    value: Value
    path: list[str | None]
    new: Value


@dataclass(slots=True, eq=False, repr=False)
class NShow:
    """The name of the alternative of a union that is stuck."""

    value: Value


@dataclass(slots=True, eq=False, repr=False)
class NEmptyList:
    """An empty list whose type is stuck."""

    type: Value


class _Absent:
    """What is not there, where None is a value."""

    __slots__ = ()


ABSENT = _Absent()
TYPE, KIND, SORT = VConst("Type"), VConst("Kind"), VConst("Sort")
ATOMS: dict[str, Value] = {name: VBuiltin(name, ()) for name in BUILTINS}
ATOMS |= {"Type": TYPE, "Kind": KIND, "Sort": SORT, "True": True, "False": False}
BOOL, NATURAL, INTEGER, DOUBLE, TEXT = (ATOMS[name] for name in ("Bool", "Natural", "Integer", "Double", "Text"))
BYTES, DATE, TIME, ZONE = (ATOMS[name] for name in ("Bytes", "Date", "Time", "TimeZone"))
FRESH = 1 << 40  # a level that no variable of a program has


def make_list_type(element: Value) -> VBuiltin:
    """Give the type of lists of such elements."""
    return VBuiltin("List", (element,))


def make_optional_type(element: Value) -> VBuiltin:
    """Give the type of optional values of such a type."""
    return VBuiltin("Optional", (element,))


class Constant:
    """The type of a result that does not depend on the argument."""

    __slots__ = ("type",)

    def __init__(self, type_: Value) -> None:
        self.type = type_

    def call(self, _: Value) -> Value:
        """Give the type."""
        return self.type


def make_arrow(domain: Value, result: Value) -> VPi:
    """Give the type of functions between two types."""
    return VPi("_", domain, Constant(result).call)


class Thunk:
    """An expression with its environment, evaluated at most once; it stays known, as the origin of the value."""

    __slots__ = ("environment", "node", "value")

    def __init__(self, node: Node, environment: Environment, value: Value = ABSENT) -> None:
        self.node = node
        self.environment = environment
        self.value = value
