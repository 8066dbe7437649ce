"""List the constants of a run that have a part in a number, with their roles and places in documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.lang.model.package import Constant, Package
from assay.lineage.column_lineage import CONSTANTS
from assay.lineage.metric_lineage import ROLES, Lineage


@dataclass(frozen=True, slots=True)
class ConstantFact:
    """A constant and its role in a number.

    `files` are the documents that may contain it (the first that exists counts), `path` its keys in them, `or_at`
    further keys, `default` its default as text (None: a document must contain it).
    """

    name: str
    role: str
    files: tuple[str, ...]
    path: tuple[str, ...]
    default: str | None
    doc: str
    or_at: tuple[tuple[str, ...], ...] = ()

    @property
    def place(self) -> str:
        """Return where a run defines it, for people."""
        return format_place(self.files, self.path, *self.or_at)


def format_place(files: tuple[str, ...], *paths: tuple[str, ...]) -> str:
    """Return documents and keys in them, for people: `run.json .target.tps`."""
    return " ".join((" or ".join(files), " or ".join("".join(f".{key}" for key in path) for path in paths)))


def index_constants(package: Package) -> dict[str, Constant]:
    """Return the constants of all sources by name."""
    return {item.name: item for source in package.sources for item in source.constants}


def list_constant_facts(package: Package, lineage: Lineage) -> tuple[ConstantFact, ...]:
    """Return the constants that have a part in a lineage, those that make the value first."""
    return tuple(sorted(_collect_facts(package, lineage), key=lambda item: (ROLES.index(item.role), item.name)))


def _collect_facts(package: Package, lineage: Lineage) -> Iterator[ConstantFact]:
    constants_by_name = index_constants(package)
    for item, role in lineage.roles.items():
        if item.table == CONSTANTS and item.column in constants_by_name:  # other parameters are bounds of phases
            constant = constants_by_name[item.column]
            yield ConstantFact(
                constant.name, role, constant.files, constant.path, constant.default, constant.doc, constant.or_at
            )
