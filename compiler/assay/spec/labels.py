"""What series are read of, in words: the names of the samples, and the filter on their labels."""

from __future__ import annotations

from assay.spec.expression import Expression, show
from assay.spec.model import Event, Package, Sampled, Series

COMPARED = {"equals": "=", "matches": "=~", "at_least": "≥", "at_most": "≤", "above": ">", "below": "<"}
NEGATED = {"=": "!=", "=~": "!~"}
EVERY = "every label"


def read_of(package: Package, series: Series) -> str:
    """A sentence on the samples of a series: `Of node_load1, every label.`"""
    return f"Of {'; else of '.join(sampled(package, item) for item in series.samples)}."


def sampled(package: Package, item: Sampled) -> str:
    """The names of samples, and which of them count."""
    event = next(known for known in package.events if known.name == item.event)
    return f"{' or '.join(names(event))}, {filtered(item)}"


def names(event: Event) -> tuple[str, ...]:
    """The names by which an event's records are known, each once."""
    return tuple(dict.fromkeys(name.name for form in event.forms for name in form.names))


def filtered(item: Sampled) -> str:
    """The filter of samples, in words."""
    return said(item.where) if item.where else EVERY


def said(node: Expression, *, inside: bool = False) -> str:
    """A condition in words: `job !~ ".*exporter.*"`; what has no words of its own as normal forms have it."""
    if node.op in ("and", "or"):
        text = f" {node.op} ".join(said(item, inside=True) for item in node.operands)
        return f"({text})" if inside else text
    if node.op == "not" and node.operands[0].op in ("equals", "matches"):
        return _compared(node.operands[0], NEGATED[COMPARED[node.operands[0].op]])
    if node.op == "not":
        return f"not {said(node.operands[0], inside=True)}"
    if node.op in COMPARED:
        return _compared(node, COMPARED[node.op])
    return node.name if node.op == "field" else show(node)


def _compared(node: Expression, sign: str) -> str:
    left, right = (said(item, inside=True) for item in node.operands)
    return f"{left} {sign} {right}"
