"""Values that evaluation yields, in weak head normal form at functions and in normal form elsewhere.

A Natural is `int`, a Bool `bool`, a Text without open parts `str`, a Double `float`, Bytes `bytes`. The others are
the classes below; those that begin with `N` are neutral: they wait for a variable.

Records, lists and `Some` remember the expression that wrote them and its environment, for `assay_dhall.origin`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay_dhall.syntax import Lambda, Node

Value = Any
Environment = tuple[Any, ...]
"""The values or thunks of variables, by level."""


class Missing:
    """The type of `MISSING`: no value, where None could be a value."""

    __slots__ = ()


MISSING = Missing()


class Thunk:
    """An expression that is evaluated when its value is first needed; it stays for `assay_dhall.origin`."""

    __slots__ = ("env", "height", "node", "value")

    def __init__(self, node: Node, env: Environment, height: int = 1) -> None:
        self.node = node
        self.env = env
        self.height = height
        self.value: Value = MISSING


@dataclass(slots=True, eq=False)
class VInteger:
    """An Integer."""

    number: int


@dataclass(slots=True, eq=False)
class VTemporal:
    """A Date (year, month, day), a Time (hour, minute, second times 10 to the power of its digits, digits) or
    a TimeZone (1 or 0 for plus or minus, hour, minute).
    """

    kind: str
    parts: tuple[int, ...]


@dataclass(slots=True, eq=False)
class VList:
    """A list; `element` is the type of its items, known when it is empty."""

    items: list[Value]
    element: Value
    origin: Any = None
    env: Environment = ()
    depth: int = 0


@dataclass(slots=True, eq=False)
class VSome:
    """`Some value`."""

    value: Value
    origin: Any = None
    env: Environment = ()


@dataclass(slots=True, eq=False)
class VNone:
    """`None type`."""

    type: Value


@dataclass(slots=True, eq=False)
class VRecord:
    """A record. `origin` is its literal and `env` the literal's environment, or `origin` is the pair of records
    that it was joined from, the preferred one first, and `depth` how many joins there are.
    """

    fields: dict[str, Value]
    origin: Any = None
    env: Environment = ()
    depth: int = 0


@dataclass(slots=True, eq=False)
class VRecordType:
    """The type of records."""

    fields: dict[str, Value]


@dataclass(slots=True, eq=False)
class VUnionType:
    """The type of unions; an alternative without a payload has None."""

    fields: dict[str, Value]


@dataclass(slots=True, eq=False)
class VAlternative:
    """A value of a union; `payload` is `MISSING` for an alternative without one."""

    union: VUnionType
    name: str
    payload: Value


@dataclass(slots=True, eq=False)
class VConstructor:
    """The function that makes values of an alternative with a payload."""

    union: VUnionType
    name: str


@dataclass(slots=True, eq=False)
class VLambda:
    """A function: its expression and environment."""

    node: Lambda
    env: Environment


@dataclass(slots=True, eq=False)
class Closure:
    """The type of a function's result: an expression below one binder; `cost` is how many steps it takes."""

    body: Node
    env: Environment
    cost: int = 1


@dataclass(slots=True, eq=False)
class Constant:
    """The type of a function's result when it does not depend on the argument."""

    value: Value


class Dependent:
    """The type of the body of a lambda, inferred with the variable of `level` as the argument.

    It becomes a `Closure` or `Constant` only when it is instantiated with another argument.
    """

    __slots__ = ("closure", "env", "level", "type")

    def __init__(self, result_type: Value, level: int, env: Environment) -> None:
        self.type = result_type
        self.level = level
        self.env = env
        self.closure: Closure | Constant | None = None


@dataclass(slots=True, eq=False)
class VPi:
    """The type of functions."""

    name: str
    domain: Value
    closure: Closure | Constant | Dependent


@dataclass(slots=True, eq=False)
class VConst:
    """`Type`, `Kind` or `Sort`; `rank` orders them."""

    name: str
    rank: int


@dataclass(slots=True, eq=False)
class VBuiltin:
    """A built-in type or function applied to fewer arguments than reduce it."""

    name: str
    arguments: tuple[Value, ...]


@dataclass(slots=True, eq=False)
class VText:
    """A Text with open parts: strings and neutral values."""

    parts: list[Value]


@dataclass(slots=True, eq=False)
class VEquivalence:
    """`left === right`."""

    left: Value
    right: Value


@dataclass(slots=True, eq=False)
class VAssert:
    """`assert : type`."""

    type: Value


@dataclass(slots=True, eq=False)
class NVar:
    """A variable that is bound by a function around the value."""

    level: int
    name: str


@dataclass(slots=True, eq=False)
class NFree:
    """A free variable."""

    name: str
    index: int


@dataclass(slots=True, eq=False)
class NApply:
    """An application of a neutral function."""

    function: Value
    argument: Value


@dataclass(slots=True, eq=False)
class NOperation:
    """An operation with a neutral operand."""

    operator: str
    left: Value
    right: Value


@dataclass(slots=True, eq=False)
class NIf:
    """An `if` with a neutral condition."""

    condition: Value
    positive: Value
    negative: Value


@dataclass(slots=True, eq=False)
class NSelect:
    """A field of a neutral record."""

    value: Value
    name: str


@dataclass(slots=True, eq=False)
class NProject:
    """Some fields of a neutral record."""

    value: Value
    names: list[str]


@dataclass(slots=True, eq=False)
class NMerge:
    """A `merge` of a neutral union or with neutral handlers."""

    handlers: Value
    union: Value
    annotation: Value


@dataclass(slots=True, eq=False)
class NToMap:
    """A `toMap` of a neutral record."""

    value: Value
    annotation: Value


@dataclass(slots=True, eq=False)
class NWith:
    """A `with` on a neutral record or Optional."""

    value: Value
    path: list[str | None]
    update: Value


@dataclass(slots=True, eq=False)
class NShow:
    """A `showConstructor` of a neutral union."""

    value: Value


TYPE = VConst("Type", 0)
KIND = VConst("Kind", 1)
SORT = VConst("Sort", 2)
BOOL, NATURAL, INTEGER, DOUBLE, TEXT, BYTES = (
    VBuiltin(name, ()) for name in ("Bool", "Natural", "Integer", "Double", "Text", "Bytes")
)
TEMPORAL = {name: VBuiltin(name, ()) for name in ("Date", "Time", "TimeZone")}
EMPTY_RECORD = VRecord({})


def create_list_type(element: Value) -> VBuiltin:
    """Return the type `List element`."""
    return VBuiltin("List", (element,))


def create_optional_type(element: Value) -> VBuiltin:
    """Return the type `Optional element`."""
    return VBuiltin("Optional", (element,))


def is_list_type(value: Value) -> bool:
    """Return whether a value is `List T`."""
    return type(value) is VBuiltin and value.name == "List" and len(value.arguments) == 1


def is_optional_type(value: Value) -> bool:
    """Return whether a value is `Optional T`."""
    return type(value) is VBuiltin and value.name == "Optional" and len(value.arguments) == 1
