"""Walks over expressions: the parts of one, and renaming all binders to `_`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import fields as dataclass_fields

from assay.dhall.syntax import Lambda, Let, Node, Pi, Var

_SKIPPED = frozenset(("source", "start", "end", "name", "index", "level", "names", "shared", "module", "chosen"))
_PART_NAMES: dict[type[Node], tuple[str, ...]] = {}


def _part_names(kind: type[Node]) -> tuple[str, ...]:
    names = _PART_NAMES.get(kind)
    if names is None:
        names = tuple(field.name for field in dataclass_fields(kind) if field.name not in _SKIPPED)
        _PART_NAMES[kind] = names
    return names


def parts_of(node: Node) -> Iterator[Node]:
    """Yield the expressions that an expression is directly made of, in the order of their fields."""
    for name in _part_names(type(node)):
        part = getattr(node, name)
        if isinstance(part, Node):
            yield part
        elif isinstance(part, list):
            yield from (item for item in part if isinstance(item, Node))
        elif isinstance(part, dict):
            yield from (item for item in part.values() if isinstance(item, Node))


def walk(node: Node) -> Iterator[Node]:
    """Yield an expression and all below it."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(parts_of(current))


def alpha_normalize(node: Node, depth: int = 0) -> Node:
    """Return an expression with every binder named `_`; `depth` is the number of binders around it."""
    renamed = copy.copy(node)
    if isinstance(renamed, Var):
        return _rename_variable(renamed, depth)
    below = depth + 1 if isinstance(renamed, Lambda | Pi | Let) else depth
    if isinstance(renamed, Lambda | Pi | Let):
        renamed.name = "_"
    for name in _part_names(type(renamed)):
        part = getattr(renamed, name)
        inside = below if name == "body" else depth
        if isinstance(part, Node):
            setattr(renamed, name, alpha_normalize(part, inside))
        elif isinstance(part, list):
            items = [alpha_normalize(item, inside) if isinstance(item, Node) else item for item in part]
            setattr(renamed, name, items)
        elif isinstance(part, dict):
            items_by_name = {key: alpha_normalize(item, inside) if item else item for key, item in part.items()}
            setattr(renamed, name, items_by_name)
    return renamed


def _rename_variable(node: Var, depth: int) -> Var:
    if node.level >= 0:
        node.name, node.index = "_", depth - 1 - node.level
    else:
        outer = -1 - node.level
        node.index = outer + depth if node.name == "_" else outer
    return node
