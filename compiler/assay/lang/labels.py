"""What series are read of, in words: the names of the samples, and the filter on their labels."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lang.model.expression import Expression, show
from assay.lang.model.package import Event, Package, Sampled, Series, Term

COMPARED = {"equals": "=", "matches": "=~", "at_least": "≥", "at_most": "≤", "above": ">", "below": "<"}
NEGATED = {"=": "!=", "=~": "!~"}
EVERY = "every label"
#: how the lines of a series become one; of one with the same labels they stay
LINES = {
    "": "", "mean": "the mean of the lines of ", "sum": "the sum of the lines of ",
    "least": "the least of the lines of ", "greatest": "the greatest of the lines of ",
}  # fmt: skip


def read_of(package: Package, series: Series) -> str:
    """A sentence on what a series is made of: `Of node_load1, every label.`; of one that is worked out, of which."""
    if series.terms:
        return f"Worked out of {' and '.join(_worked(package, term) for term in series.terms)}."
    return f"{_samples(package, series)}."


def _samples(package: Package, series: Series) -> str:
    return f"Of {'; else of '.join(sampled(package, item) for item in series.samples)}"


def _worked(package: Package, term: Term) -> str:
    """A series that another is worked out of, how its lines become one, and what it is made of in turn."""
    found = next(item for item in package.series if item.name == term.series)
    of = read_of(package, found).removesuffix(".") if found.terms else _samples(package, found)
    return f"{LINES[term.over]}{term.series} ({of[:1].lower()}{of[1:]})"


def sampled(package: Package, item: Sampled) -> str:
    """The names of samples, and which of them count."""
    event = next(known for known in package.events if known.name == item.event)
    return f"{' or '.join(names(event))}, {filtered(item)}"


def names(event: Event) -> tuple[str, ...]:
    """The names by which an event's records are known, each once."""
    return tuple(dict.fromkeys(name.name for form in event.forms for name in form.names))


def filtered(item: Sampled) -> str:
    """The filter of samples, in words."""
    return describe_condition(item.where) if item.where else EVERY


def labels_of(package: Package, series: Series) -> str:
    """Which labels of the samples that a series is made of count; of one that is worked out, for each that it is of."""
    found = {
        item.name: "; else ".join(filtered(sampled) for sampled in item.samples) for item in _read(package, series)
    }
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    return "; ".join(f"of {name}: {text}" for name, text in found.items())


def _read(package: Package, series: Series) -> Iterator[Series]:
    """The series that are read of samples, of those that a series is worked out of in the end."""
    if not series.terms:
        yield series
    for term in series.terms:
        yield from _read(package, next(item for item in package.series if item.name == term.series))


def describe_condition(node: Expression, *, inside: bool = False) -> str:
    """A condition in words: `job !~ ".*exporter.*"`; what has no words of its own as normal forms have it."""
    if node.op in ("and", "or"):
        text = f" {node.op} ".join(describe_condition(item, inside=True) for item in node.operands)
        return f"({text})" if inside else text
    if node.op == "not" and node.operands[0].op in ("equals", "matches"):
        return _compared(node.operands[0], NEGATED[COMPARED[node.operands[0].op]])
    if node.op == "not":
        return f"not {describe_condition(node.operands[0], inside=True)}"
    if node.op in COMPARED:
        return _compared(node, COMPARED[node.op])
    return node.name if node.op == "field" else show(node)


def _compared(node: Expression, sign: str) -> str:
    left, right = (describe_condition(item, inside=True) for item in node.operands)
    return f"{left} {sign} {right}"
