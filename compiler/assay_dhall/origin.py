"""Find where the parts and texts of a value were written.

A record, a list and a `Some` remember their literal and its environment. From there the expression of a field or
item is followed through variables, imports, annotations, `let`, selections and `//` to the literal that wrote it.

A text keeps its identity on its way through functions, lists and records, so the literal that wrote it is found by
the identity of the Python string. Python shares the empty text and texts of one character; these and computed texts
have no literal, only the expression of the field or item that holds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay_dhall.session import Evaluation, Module
from assay_dhall.syntax import (
    Annotation,
    Fallback,
    Import,
    Let,
    ListLiteral,
    Literal,
    Node,
    RecordLiteral,
    Select,
    SomeLiteral,
    Var,
    walk,
)
from assay_dhall.values import MISSING, Environment, Thunk, VAlternative, Value, VList, VRecord, VSome

Place = tuple[str | int, ...]
MAX_STEPS = 1_000

ScopedNode = tuple[Node, Environment]
"""An expression and the environment that it was evaluated in."""


def find_origin(value: Value, path: Place) -> Node | None:
    """Return the expression that wrote a part of a value; without one, that of the smallest part around it with one.

    The path is that of the plain data: names of fields, keys of maps, positions in lists.
    """
    best = find_literal_origin(value)
    for part in path:
        value = _unwrap(value)
        step = _take_step(value, part)
        if step is None:
            break
        value, expression = step
        origin = find_literal_origin(_unwrap(value))
        if origin is None and expression is not None:
            origin = trace(*expression)
        best = origin or best
    return best


def _unwrap(value: Value) -> Value:
    """Return what is inside `Some` and alternatives, which plain data do not show."""
    while True:
        if isinstance(value, VSome):
            value = value.value
        elif isinstance(value, VAlternative) and value.payload is not MISSING:
            value = value.payload
        else:
            return value


def find_literal_origin(value: Value) -> Node | None:
    """Return the literal that made a record or list."""
    origin = value.origin if type(value) in (VRecord, VList) else None
    if isinstance(origin, Node):
        return origin
    if type(value) is VRecord and isinstance(origin, tuple) and isinstance(origin[0], VRecord):
        return find_literal_origin(origin[0]) or find_literal_origin(origin[1])
    return None


def _take_step(value: Value, part: str | int) -> tuple[Value, ScopedNode | None] | None:
    if type(value) is VRecord and part in value.fields:
        return value.fields[part], find_field_expression(value, str(part))
    if type(value) is not VList:
        return None
    if isinstance(part, int) and 0 <= part < len(value.items):
        return value.items[part], find_item_expression(value, part)
    for item in reversed(value.items):
        if type(item) is VRecord and item.fields.get("mapKey") == part and "mapValue" in item.fields:
            return item.fields["mapValue"], find_field_expression(item, "mapValue")
    return None


def find_field_expression(value: VRecord, name: str) -> ScopedNode | None:
    """Return the expression of a field, with its environment."""
    for _ in range(MAX_STEPS):
        origin: Any = value.origin
        if isinstance(origin, RecordLiteral):
            node = origin.fields.get(name)
            return (node, value.env) if node is not None else None
        if not isinstance(origin, tuple):
            return None
        if isinstance(origin[0], VRecord):
            value = origin[0] if name in origin[0].fields else origin[1]
        elif origin[0] == "entry":
            return find_field_expression(origin[2], origin[1]) if name == "mapValue" else None
        elif origin[0] == "item":
            return find_item_expression(origin[2], origin[1]) if name == "value" else None
        else:
            return origin[0], origin[1]
    return None


def find_item_expression(value: VList, number: int) -> ScopedNode | None:
    """Return the expression of an item, with its environment."""
    for _ in range(MAX_STEPS):
        origin: Any = value.origin
        if isinstance(origin, ListLiteral):
            return (origin.items[number], value.env) if number < len(origin.items) else None
        if not isinstance(origin, tuple):
            return None
        if len(origin) == 1:
            number = len(value.items) - 1 - number
            value = origin[0]
        elif number < len(origin[0].items):
            value = origin[0]
        else:
            number -= len(origin[0].items)
            value = origin[1]
    return None


def trace(node: Node, env: Environment) -> Node:
    """Return the expression that wrote the value of an expression, as far as it can be followed."""
    *_, last = follow_expressions(node, env)
    return last


def follow_expressions(node: Node, env: Environment) -> Iterator[Node]:
    """Yield an expression and those that it takes its value from, one after the other."""
    for _ in range(MAX_STEPS):
        if not isinstance(node, Let):  # its place is that of its first name
            yield node
        following = _follow(node, env)
        if following is None:
            return
        if isinstance(node, Select):
            yield from follow_expressions(node.value, env)
        node, env = following


def _follow(node: Node, env: Environment) -> ScopedNode | None:
    if isinstance(node, Var) and 0 <= node.level < len(env):
        value = env[node.level]
        if isinstance(value, Thunk):
            return value.node, value.env
        literal = find_literal_origin(value)
        return (literal, value.env) if literal is not None else None
    if isinstance(node, Annotation):
        return node.value, env
    if isinstance(node, Fallback):
        return node.chosen or node.left, env
    if isinstance(node, SomeLiteral):
        return node.value, env
    if isinstance(node, Import):
        inner = getattr(node.module, "node", None)
        return (inner, ()) if inner is not None else None
    if isinstance(node, Let):
        return _follow_let(node, env)
    if isinstance(node, Select):
        return _follow_select(node, env)
    return None


def _follow_let(node: Let, env: Environment) -> ScopedNode:
    current: Node = node
    while isinstance(current, Let):
        env = (*env, current.shared or Thunk(current.value, env))
        current = current.body
    return current, env


def _follow_select(node: Select, env: Environment) -> ScopedNode | None:
    """Follow a selection of a record that is evaluated already."""
    value = get_evaluated_value(node.value, env)
    if type(value) is VRecord and node.name in value.fields:
        return find_field_expression(value, node.name)
    return None


def get_evaluated_value(node: Node, env: Environment) -> Value:
    """Return the value of an expression when it is evaluated already, else `MISSING`."""
    if isinstance(node, Var) and 0 <= node.level < len(env):
        value = env[node.level]
        return value.value if isinstance(value, Thunk) else value
    if isinstance(node, Import):
        return getattr(node.module, "value", MISSING)
    if isinstance(node, Select):
        owner = get_evaluated_value(node.value, env)
        if type(owner) is VRecord:
            return owner.fields.get(node.name, MISSING)
    return MISSING


Link = tuple["Link | None", Value, str | int]
"""A step into a value: the step before, the record or list, and the name of the field or number of the item."""


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A text of a value: the path to it, and the literal that wrote it, or None if it is unknown."""

    path: Place
    text: str
    literal: Node | None
    link: Link | None

    def iter_usages(self) -> Iterator[Node]:
        """Yield the expressions that passed the text on, from that of its field or item, without the literal."""
        if self.link is not None:
            yield from (node for node in _follow_link(self.link) if node is not self.literal)

    def iter_field(self, name: str) -> Iterator[Node]:
        """Yield the expressions of another field of the record that the text is in."""
        if self.link is not None and type(self.link[1]) is VRecord and name in self.link[1].fields:
            yield from _follow_link((self.link[0], self.link[1], name))

    def iter_enclosing(self) -> Iterator[Node]:
        """Yield the expressions of the records and lists around the text, the innermost first."""
        for expressions in self.iter_enclosing_parts():
            yield from expressions

    def iter_enclosing_parts(self) -> Iterator[Iterator[Node]]:
        """Yield the expressions of each record and list around the text, from where it is listed to what wrote it."""
        link = self.link and self.link[0]
        while link is not None:
            yield _follow_link(link)
            link = link[0]


def iter_texts(evaluated: Evaluation) -> Iterator[PlacedText]:
    """Yield every text of a value with its origin. A path has the number of an entry of a map, not its key."""
    literals = {id(node.value): node for node in _iter_text_nodes(evaluated) if isinstance(node, Literal)}
    pending: list[tuple[Place, Value, Link | None]] = [((), evaluated.value, None)]
    while pending:
        path, value, link = pending.pop()
        kind = type(value)
        if kind is str:
            yield PlacedText(path, value, literals.get(id(value)) if len(value) > 1 else None, link)
        elif kind is VRecord:
            parts = [((*path, name), item, (link, value, name)) for name, item in value.fields.items()]
            pending.extend(reversed(parts))
        elif kind is VList:
            items = [((*path, number), item, (link, value, number)) for number, item in enumerate(value.items)]
            pending.extend(reversed(items))
        elif kind is VSome:
            pending.append((path, value.value, link))
        elif kind is VAlternative and value.payload is not MISSING:
            pending.append((path, value.payload, link))


def _iter_text_nodes(evaluated: Evaluation) -> Iterator[Node]:
    """Yield literal texts, `let`s and record literals of the files that an evaluation read, file by file, by name."""
    modules: dict[str, Module] = {}
    pending = [evaluated.module]
    while pending:
        module = pending.pop()
        if module.name not in modules:
            modules[module.name] = module
            pending.extend(used for _, _, _, used in module.uses if used is not None)
    for name in sorted(modules):
        yield from _list_text_nodes(modules[name])


def _list_text_nodes(module: Module) -> list[Node]:
    if module.text_nodes is None:  # later evaluations reuse an unchanged module
        nodes = walk(module.node) if module.node is not None else ()
        module.text_nodes = [node for node in nodes if isinstance(node, Let | RecordLiteral) or _is_text(node)]
    return module.text_nodes


def iter_declarations(evaluated: Evaluation, names: frozenset[str]) -> Iterator[tuple[str, str, Node]]:
    """Yield the fields of record literals with one of these names whose value is a literal text, or a `let` of one.

    Each item is the name of the field, the text, and the literal.
    """
    bindings: dict[tuple[str, str], Node] = {}
    variables: list[tuple[str, Var]] = []
    for node in _iter_text_nodes(evaluated):
        if isinstance(node, Let) and _is_text(node.value):
            bindings.setdefault((node.source.name, node.name), node.value)
        elif isinstance(node, RecordLiteral):
            for name in names & node.fields.keys():
                value = node.fields[name]
                if isinstance(value, Var):
                    variables.append((name, value))
                elif isinstance(value, Literal) and type(value.value) is str:
                    yield name, value.value, value
    for name, variable in variables:
        literal = bindings.get((variable.source.name, variable.name))
        if isinstance(literal, Literal):
            yield name, str(literal.value), literal


def _is_text(node: Node) -> bool:
    return isinstance(node, Literal) and type(node.value) is str


def _follow_link(link: Link) -> Iterator[Node]:
    """Yield the expressions of a field or item, from the one in the record or list to the one that wrote it."""
    _, value, part = link
    expression = find_item_expression(value, part) if isinstance(part, int) else find_field_expression(value, part)
    if expression is not None:
        yield from follow_expressions(*expression)
