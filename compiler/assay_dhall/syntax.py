"""Expressions with the place where each was written, and walks over them.

A variable carries two addresses: its name and De Bruijn index, as the standard writes it, and the *level* of its
binder counted from the top of the file, which evaluation uses.

Nodes are compared by identity. Only the import resolver (`Import.module`, `Fallback.chosen`) and type inference
(`Let.shared`) write into a parsed tree.
"""

from __future__ import annotations

import copy
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Any


class Source:
    """A file's name and text, with conversion from offsets to lines and columns."""

    __slots__ = ("_starts", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._starts: list[int] | None = None

    def locate(self, offset: int) -> tuple[int, int]:
        """Return the line and column, both from 1, of an offset in characters."""
        starts = self._get_line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def get_offset(self, line: int, column: int) -> int:
        """Return the offset of a line and column, both from 1, clipped to the text."""
        starts = self._get_line_starts()
        if line > len(starts):
            return len(self.text)
        return min(starts[max(line, 1) - 1] + max(column, 1) - 1, len(self.text))

    def get_line(self, number: int) -> str:
        """Return the text of a line, numbered from 1, without its line break."""
        start = self._get_line_starts()[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")

    def _get_line_starts(self) -> list[int]:
        if self._starts is None:
            starts, position = [0], self.text.find("\n")
            while position >= 0:
                starts.append(position + 1)
                position = self.text.find("\n", position + 1)
            self._starts = starts
        return self._starts


@dataclass(slots=True, eq=False)
class Node:
    """An expression: the file, and the offsets where it starts and ends."""

    source: Source
    start: int
    end: int


@dataclass(slots=True, eq=False)
class Var(Node):
    """`name@index`; the level of a free variable is negative: -1 minus its index outside of all binders."""

    name: str
    index: int
    level: int


@dataclass(slots=True, eq=False)
class Lambda(Node):
    """`\\(name : domain) -> body`; `height` is how deeply expressions nest in the body,
    `cost` how many steps a call counts as."""

    name: str
    domain: Node
    body: Node
    height: int = 1
    name_start: int = 0
    cost: int = 1


@dataclass(slots=True, eq=False)
class Pi(Node):
    """`forall (name : domain) -> body`; `name_start` is 0 where the name is not written."""

    name: str
    domain: Node
    body: Node
    name_start: int = 0


@dataclass(slots=True, eq=False)
class Apply(Node):
    """`function argument`."""

    function: Node
    argument: Node


@dataclass(slots=True, eq=False)
class Let(Node):
    """`let name : annotation = value in body`; `shared` is the value's thunk when no lambda encloses the `let`."""

    name: str
    annotation: Node | None
    value: Node
    body: Node
    name_start: int = 0
    height: int = 1
    shared: Any = None


@dataclass(slots=True, eq=False)
class Annotation(Node):
    """`value : annotation`."""

    value: Node
    annotation: Node


@dataclass(slots=True, eq=False)
class If(Node):
    """`if condition then positive else negative`."""

    condition: Node
    positive: Node
    negative: Node


@dataclass(slots=True, eq=False)
class Operation(Node):
    """`left operator right`, for every operator but `?`."""

    operator: str
    left: Node
    right: Node


@dataclass(slots=True, eq=False)
class Fallback(Node):
    """`left ? right`; `chosen` is the side whose imports can be resolved."""

    left: Node
    right: Node
    chosen: Node | None = None


@dataclass(slots=True, eq=False)
class Literal(Node):
    """A number, text without interpolation, bytes, or a date, time or time zone, as its value."""

    value: Any


@dataclass(slots=True, eq=False)
class TextLiteral(Node):
    """Text with interpolation: strings and nodes, strings first and last."""

    parts: list[str | Node]


@dataclass(slots=True, eq=False)
class Builtin(Node):
    """A built-in type, function or constant."""

    name: str


@dataclass(slots=True, eq=False)
class ListLiteral(Node):
    """`[ items ]`, or `[] : annotation`."""

    items: list[Node]
    annotation: Node | None


@dataclass(slots=True, eq=False)
class SomeLiteral(Node):
    """`Some value`."""

    value: Node


@dataclass(slots=True, eq=False)
class RecordLiteral(Node):
    """`{ name = value }`; `names` holds the offset of the name of each field."""

    fields: dict[str, Node]
    names: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class RecordType(Node):
    """`{ name : type }`."""

    fields: dict[str, Node]
    names: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class UnionType(Node):
    """`< name : type | name >`; an alternative without a payload has None."""

    fields: dict[str, Node | None]
    names: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Select(Node):
    """`value.name`."""

    value: Node
    name: str
    name_start: int = 0


@dataclass(slots=True, eq=False)
class Project(Node):
    """`value.{ names }`."""

    value: Node
    names: list[str]


@dataclass(slots=True, eq=False)
class ProjectType(Node):
    """`value.(type)`."""

    value: Node
    type: Node


@dataclass(slots=True, eq=False)
class Merge(Node):
    """`merge handlers union : annotation`."""

    handlers: Node
    union: Node
    annotation: Node | None


@dataclass(slots=True, eq=False)
class ToMap(Node):
    """`toMap value : annotation`."""

    value: Node
    annotation: Node | None


@dataclass(slots=True, eq=False)
class Assert(Node):
    """`assert : annotation`."""

    annotation: Node


@dataclass(slots=True, eq=False)
class With(Node):
    """`value with path = update`; a None in the path is `?`."""

    value: Node
    path: list[str | None]
    update: Node


@dataclass(slots=True, eq=False)
class Complete(Node):
    """`type::value`."""

    type: Node
    value: Node


@dataclass(slots=True, eq=False)
class ShowConstructor(Node):
    """`showConstructor value`."""

    value: Node


@dataclass(frozen=True, slots=True)
class Target:
    """The target of an import.

    `kind` is one of `http`, `https`, `absolute`, `here`, `parent`, `home`, `env` and `missing`; `parts` are the
    path's components, or the variable's name; a URL has its authority first and its query (or None) in `query`.
    """

    kind: str
    parts: tuple[str, ...] = ()
    query: str | None = None


@dataclass(slots=True, eq=False)
class Import(Node):
    """An import; `mode` is `Code`, `Text`, `Location` or `Bytes`, `digest` the hexadecimal SHA-256 or empty.

    `module` is set by the resolver.
    """

    target: Target
    mode: str
    digest: str
    headers: Node | None
    module: Any = None


_BUILTIN_NAMES = """
Natural/fold Natural/build Natural/isZero Natural/even Natural/odd Natural/toInteger Natural/show Natural/subtract
Integer/toDouble Integer/show Integer/negate Integer/clamp Double/show Text/show Text/replace
List/build List/fold List/length List/head List/last List/indexed List/reverse Date/show Time/show TimeZone/show
Bool True False Optional None Natural Integer Double Text List Bytes Date Time TimeZone Type Kind Sort
"""
_KEYWORD_NAMES = """
if then else let in using missing assert as Infinity NaN merge Some toMap forall with showConstructor
"""
BUILTINS = frozenset(_BUILTIN_NAMES.split())
KEYWORDS = frozenset(_KEYWORD_NAMES.split())


_SKIPPED = frozenset(("source", "start", "end", "name", "index", "level", "names", "shared", "module", "chosen"))
_PART_NAMES: dict[type[Node], tuple[str, ...]] = {}


def _get_part_names(kind: type[Node]) -> tuple[str, ...]:
    names = _PART_NAMES.get(kind)
    if names is None:
        names = tuple(field.name for field in dataclass_fields(kind) if field.name not in _SKIPPED)
        _PART_NAMES[kind] = names
    return names


def iter_parts(node: Node) -> Iterator[Node]:
    """Yield the direct parts of an expression, in the order of their fields."""
    for name in _get_part_names(type(node)):
        part = getattr(node, name)
        if isinstance(part, Node):
            yield part
        elif isinstance(part, list):
            yield from (item for item in part if isinstance(item, Node))
        elif isinstance(part, dict):
            yield from (item for item in part.values() if isinstance(item, Node))


def walk(node: Node) -> Iterator[Node]:
    """Yield an expression and all its parts, recursively."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(iter_parts(current))


def alpha_normalize(node: Node, depth: int = 0) -> Node:
    """Return an expression with every binder named `_`; `depth` is the number of binders around it."""
    renamed = copy.copy(node)
    if isinstance(renamed, Var):
        return _rename_variable(renamed, depth)
    inner_depth = depth + 1 if isinstance(renamed, Lambda | Pi | Let) else depth
    if isinstance(renamed, Lambda | Pi | Let):
        renamed.name = "_"
    for name in _get_part_names(type(renamed)):
        part = getattr(renamed, name)
        part_depth = inner_depth if name == "body" else depth
        if isinstance(part, Node):
            setattr(renamed, name, alpha_normalize(part, part_depth))
        elif isinstance(part, list):
            items = [alpha_normalize(item, part_depth) if isinstance(item, Node) else item for item in part]
            setattr(renamed, name, items)
        elif isinstance(part, dict):
            items_by_name = {key: alpha_normalize(item, part_depth) if item else item for key, item in part.items()}
            setattr(renamed, name, items_by_name)
    return renamed


def _rename_variable(node: Var, depth: int) -> Var:
    if node.level >= 0:
        node.name, node.index = "_", depth - 1 - node.level
    else:
        outer = -1 - node.level
        node.index = outer + depth if node.name == "_" else outer
    return node
