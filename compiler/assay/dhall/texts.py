"""Where the texts of a value were written.

A text keeps its identity on its way through functions, lists and records, so the literal that wrote it is found by
the identity of the Python string. Python shares texts of one character and the empty one; these, and texts that are
computed, have the expression of the field or item that holds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.dhall.origin import Place, field_written, follow_expressions, item_written
from assay.dhall.session import Evaluated, Module
from assay.dhall.syntax import Let, Literal, Node, RecordLiteral, Var
from assay.dhall.values import ABSENT, VAlternative, Value, VList, VRecord, VSome
from assay.dhall.walk import walk

Link = tuple["Link | None", Value, str | int]
"""A step into a value: the step before, the record or list, and the name of the field or number of the item."""


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A text of a value: the path to it, and the literal that wrote it, where that is known."""

    path: Place
    text: str
    literal: Node | None
    link: Link | None

    def iterate_usages(self) -> Iterator[Node]:
        """Yield the expressions that the text comes from, from that of its field or item on; not the literal."""
        if self.link is not None:
            yield from (node for node in _follow(self.link) if node is not self.literal)

    def iterate_field(self, name: str) -> Iterator[Node]:
        """Yield the expressions of another field of the record that the text is in."""
        if self.link is not None and type(self.link[1]) is VRecord and name in self.link[1].fields:
            yield from _follow((self.link[0], self.link[1], name))

    def iterate_enclosing(self) -> Iterator[Node]:
        """Yield the expressions of the records and lists around the text, the innermost first."""
        link = self.link and self.link[0]
        while link is not None:
            yield from _follow(link)
            link = link[0]


def iterate_texts(evaluated: Evaluated) -> Iterator[PlacedText]:
    """Yield every text of a value with its origin. A path has an item's number also where plain data have a map."""
    literals = {
        id(node.value): node
        for node in iterate_nodes(evaluated)
        if isinstance(node, Literal) and type(node.value) is str
    }
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
        elif kind is VAlternative and value.payload is not ABSENT:
            pending.append((path, value.payload, link))


def iterate_nodes(evaluated: Evaluated) -> Iterator[Node]:
    """Yield every expression of the files that an evaluation read, file by file in the order of their names."""
    modules: dict[str, Module] = {}
    pending = [evaluated.module]
    while pending:
        module = pending.pop()
        if module.name not in modules:
            modules[module.name] = module
            pending.extend(used for _, _, _, used in module.uses if used is not None)
    for name in sorted(modules):
        node = modules[name].node
        if node is not None:
            yield from walk(node)


def iterate_declarations(evaluated: Evaluated, names: frozenset[str]) -> Iterator[tuple[str, str, Node]]:
    """Yield the fields of record literals with one of these names whose value is a literal text, or a `let` of one.

    Each is the name of the field, the text, and the literal.
    """
    bindings: dict[tuple[str, str], Node] = {}
    variables: list[tuple[str, Var]] = []
    for node in iterate_nodes(evaluated):
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


def _follow(link: Link) -> Iterator[Node]:
    """Yield the expressions of a field or item, from the one in the record or list to the one that wrote it."""
    _, value, part = link
    written = item_written(value, part) if isinstance(part, int) else field_written(value, part)
    if written is not None:
        yield from follow_expressions(*written)
