"""Constants of a run that have a part in a number: which, what each does for it, and where a run tells it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.lang.model.package import Constant, Package
from assay.lineage.column_lineage import CONSTANTS
from assay.lineage.metric_lineage import ROLES, Lineage


@dataclass(frozen=True, slots=True)
class ConstantFact:
    """A constant: what it does for a number, the documents that may tell it (the first that a run has), the keys at
    which these hold it (`or_at`: further ones), its default as a text (None: it must be told), and what it is."""

    name: str
    role: str
    files: tuple[str, ...]
    path: tuple[str, ...]
    default: str | None
    doc: str
    or_at: tuple[tuple[str, ...], ...] = ()

    @property
    def place(self) -> str:
        """Where a run tells it, as people write it."""
        return place(self.files, self.path, *self.or_at)


def place(files: tuple[str, ...], *paths: tuple[str, ...]) -> str:
    """Documents and keys in them, as people write them: `run.json .target.tps`."""
    return " ".join((" or ".join(files), " or ".join("".join(f".{key}" for key in path) for path in paths)))


def declared(package: Package) -> dict[str, Constant]:
    """The constants of all sources by their names."""
    return {item.name: item for source in package.sources for item in source.constants}


def constants(package: Package, found: Lineage) -> tuple[ConstantFact, ...]:
    """The constants that have a part in a lineage, those that make the value first."""
    return tuple(sorted(_facts(package, found), key=lambda item: (ROLES.index(item.role), item.name)))


def _facts(package: Package, found: Lineage) -> Iterator[ConstantFact]:
    known = declared(package)
    for item, role in found.roles.items():
        if item.table == CONSTANTS and item.column in known:  # others are the bounds of a phase
            of = known[item.column]
            yield ConstantFact(of.name, role, of.files, of.path, of.default, of.doc, of.or_at)
