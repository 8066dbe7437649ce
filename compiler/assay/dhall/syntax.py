"""Expressions as parsed; every node knows its file and the offsets where it begins and ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.dhall.errors import Span


class Source:
    """The name and the text of a file; turns offsets into lines and columns."""

    __slots__ = ("name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def locate(self, offset: int) -> tuple[int, int]:
        """Give the line and the column of an offset, both from 1."""
        return self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)

    def make_span(self, start: int, end: int) -> Span:
        """Place a stretch of the text; an empty one is taken as one character."""
        return Span(self.name, *self.locate(start), *self.locate(max(end, start)), start, end)

    def make_excerpt(self, start: int, end: int) -> str:
        """Quote the line of `start`, with the stretch underlined."""
        line, column = self.locate(start)
        text = self.text.split("\n")[line - 1].replace("\t", " ").rstrip("\r")
        left = max(0, column - 60) if len(text) > 160 else 0
        width = max(1, min(end - start, len(text) - column + 1, 100))
        gutter = " " * len(str(line))
        return f"{line} | {text[left : left + 160]}\n{gutter} | {' ' * (column - 1 - left)}{'^' * width}"


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """An expression; `start` and `end` are offsets into the text of `file`."""

    file: Source
    start: int
    end: int

    @property
    def span(self) -> Span:
        """The place of the expression."""
        return self.file.make_span(self.start, self.end)


@dataclass(slots=True, eq=False, repr=False)
class Var(Node):
    """A variable; `level` counts binders from outside, and is None for a free one.

    Of a free variable, `free` is its index once all binders of the name around it are left, and
    `candidates` are the names in scope.
    """

    name: str
    index: int
    level: int | None
    free: int = 0
    candidates: tuple[str, ...] = ()


@dataclass(slots=True, eq=False, repr=False)
class Lam(Node):
    """A function."""

    name: str
    domain: Node
    body: Node


@dataclass(slots=True, eq=False, repr=False)
class Pi(Node):
    """The type of a function."""

    name: str
    domain: Node
    body: Node


@dataclass(slots=True, eq=False, repr=False)
class App(Node):
    """A function with its argument."""

    function: Node
    argument: Node


@dataclass(slots=True, eq=False, repr=False)
class Let(Node):
    """A binding and what follows it; `memo` is its value once it is known not to depend on an argument."""

    name: str
    annotation: Node | None
    value: Node
    body: Node
    name_start: int
    memo: Any = None


@dataclass(slots=True, eq=False, repr=False)
class Ann(Node):
    """An expression with its type."""

    value: Node
    annotation: Node


@dataclass(slots=True, eq=False, repr=False)
class If(Node):
    """A choice."""

    condition: Node
    then: Node
    other: Node


@dataclass(slots=True, eq=False, repr=False)
class Op(Node):
    """An operator between two expressions; `place` is the offset of the operator."""

    op: str
    left: Node
    right: Node
    place: int = 0


@dataclass(slots=True, eq=False, repr=False)
class Lit(Node):
    """A number, a text without interpolations, bytes, a date, a time or a time zone."""

    value: Any


@dataclass(slots=True, eq=False, repr=False)
class TextLit(Node):
    """A text with interpolations: strings and expressions in turn, a string first and last."""

    parts: list[Any]


@dataclass(slots=True, eq=False, repr=False)
class Builtin(Node):
    """A name that the language defines."""

    name: str


@dataclass(slots=True, eq=False, repr=False)
class ListLit(Node):
    """A list; an empty one has the annotation."""

    items: list[Node]
    annotation: Node | None


@dataclass(slots=True, eq=False, repr=False)
class SomeLit(Node):
    """A present optional value."""

    value: Node


@dataclass(slots=True, eq=False, repr=False)
class Rec(Node):
    """A record; `places` gives the offsets of the names."""

    fields: dict[str, Node]
    places: dict[str, int]


@dataclass(slots=True, eq=False, repr=False)
class RecType(Node):
    """The type of a record."""

    fields: dict[str, Node]
    places: dict[str, int]


@dataclass(slots=True, eq=False, repr=False)
class UnionType(Node):
    """A union; alternatives without a payload have None."""

    fields: dict[str, Node | None]
    places: dict[str, int]


@dataclass(slots=True, eq=False, repr=False)
class Select(Node):
    """A field of a record or an alternative of a union; `place` is the offset of the name."""

    value: Node
    name: str
    place: int = 0


@dataclass(slots=True, eq=False, repr=False)
class Project(Node):
    """Some fields of a record; `places` are the offsets of the names."""

    value: Node
    names: list[str]
    places: list[int]


@dataclass(slots=True, eq=False, repr=False)
class ProjectType(Node):
    """The fields of a record that a type has."""

    value: Node
    type: Node


@dataclass(slots=True, eq=False, repr=False)
class Merge(Node):
    """A handler for each alternative, applied to a union."""

    handlers: Node
    union: Node
    annotation: Node | None


@dataclass(slots=True, eq=False, repr=False)
class ToMap(Node):
    """A record as a list of keys and values."""

    value: Node
    annotation: Node | None


@dataclass(slots=True, eq=False, repr=False)
class Assert(Node):
    """A proof that both sides of an equivalence are equal."""

    annotation: Node


@dataclass(slots=True, eq=False, repr=False)
class With(Node):
    """A record with one field changed; None in the path stands for `?`."""

    value: Node
    path: list[str | None]
    new: Node
    places: list[int]


@dataclass(slots=True, eq=False, repr=False)
class Complete(Node):
    """The defaults of a schema, completed by a record."""

    type: Node
    value: Node


@dataclass(slots=True, eq=False, repr=False)
class ShowConstructor(Node):
    """The name of the alternative of a union."""

    value: Node


@dataclass(frozen=True, slots=True)
class Target:
    """What an import names.

    `kind` is `path`, `env`, `url` or `missing`. A path has the prefix `.`, `..`, `~` or the empty one of an
    absolute path, a URL that of its scheme and authority; `parts` are the components of the path.
    """

    kind: str
    prefix: str = ""
    parts: tuple[str, ...] = ()
    query: str | None = None

    def __str__(self) -> str:
        if self.kind == "env":
            return f"env:{self.prefix}"
        if self.kind == "missing":
            return "missing"
        joined = self.prefix + "".join(f"/{part}" for part in self.parts)
        return joined if self.query is None else f"{joined}?{self.query}"


@dataclass(slots=True, eq=False, repr=False)
class Import(Node):
    """An import; `mode` is `Code`, `Text`, `Bytes` or `Location`.

    Once known, `resolved` is its value, its type, and the expression of its file where there is one.
    """

    target: Target
    mode: str
    sha256: str | None
    headers: Node | None
    resolved: Any = None


@dataclass(slots=True, eq=False, repr=False)
class Embed(Node):
    """A value in the place of an expression: what quotation need not take apart."""

    value: Any


@dataclass(frozen=True, slots=True)
class Alternative:
    """The imports on both sides of the operator `?`, which is itself in `node`."""

    node: Op
    left: list[Import | Alternative]
    right: list[Import | Alternative]


@dataclass(frozen=True, slots=True)
class IntegerValue:
    """An Integer, which Python's `int` is not: that is a Natural."""

    number: int


@dataclass(frozen=True, slots=True)
class DateValue:
    """A date."""

    year: int
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class TimeValue:
    """A time of day; `digits` are those of the second's fraction as written."""

    hour: int
    minute: int
    second: int
    digits: str


@dataclass(frozen=True, slots=True)
class ZoneValue:
    """An offset from UTC in minutes; `is_negative` tells -00:00 from +00:00."""

    is_negative: bool
    minutes: int


BUILTINS = frozenset(
    [
        "Natural/fold",
        "Natural/build",
        "Natural/isZero",
        "Natural/even",
        "Natural/odd",
        "Natural/toInteger",
        "Natural/show",
        "Natural/subtract",
        "Integer/toDouble",
        "Integer/show",
        "Integer/negate",
        "Integer/clamp",
        "Double/show",
        "List/build",
        "List/fold",
        "List/length",
        "List/head",
        "List/last",
        "List/indexed",
        "List/reverse",
        "Text/show",
        "Text/replace",
        "Date/show",
        "Time/show",
        "TimeZone/show",
        "Bool",
        "True",
        "False",
        "Optional",
        "None",
        "Natural",
        "Integer",
        "Double",
        "Text",
        "List",
        "Type",
        "Kind",
        "Sort",
        "Bytes",
        "Date",
        "Time",
        "TimeZone",
    ]
)
KEYWORDS = frozenset(
    [
        "if",
        "then",
        "else",
        "let",
        "in",
        "using",
        "missing",
        "assert",
        "as",
        "Infinity",
        "NaN",
        "merge",
        "Some",
        "toMap",
        "forall",
        "with",
        "showConstructor",
    ]
)
