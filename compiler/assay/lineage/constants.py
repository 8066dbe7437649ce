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
    further keys, `default` its default as text (None: a document must contain it). A constant of a line has its pattern
    in `line` instead of keys.
    """

    name: str
    role: str
    files: tuple[str, ...]
    path: tuple[str, ...]
    default: str | None
    doc: str
    or_at: tuple[tuple[str, ...], ...] = ()
    line: str = ""

    @property
    def place(self) -> str:
        """Return where a run defines it, for people."""
        return format_place(self)


def format_place(constant: Constant | ConstantFact) -> str:
    """Return files and what is read in them, for people: `run.json .target.tps`, `gc.log line "Using {value}"`."""
    paths = ("".join(f".{key}" for key in path) for path in (constant.path, *constant.or_at))
    place = f'line "{constant.line}"' if constant.line else " or ".join(paths)
    return f"{' or '.join(constant.files)} {place}"


def index_constants(package: Package) -> dict[str, Constant]:
    """Return the constants of all sources by name."""
    return {item.name: item for source in package.sources for item in source.constants}


def list_constant_facts(package: Package, lineage: Lineage) -> tuple[ConstantFact, ...]:
    """Return the constants that have a part in a lineage, those that make the value first."""
    return tuple(sorted(_collect_facts(package, lineage), key=lambda item: (ROLES.index(item.role), item.name)))


def _collect_facts(package: Package, lineage: Lineage) -> Iterator[ConstantFact]:
    constants_by_name = index_constants(package)
    sources = {source.name: source for source in package.sources}
    starts = {event.name: sources[event.source].start for event in package.events}
    roles: dict[str, str] = {}
    for item, role in lineage.roles.items():
        name = item.column if item.table == CONSTANTS else starts.get(item.table, "") if item.column == "t_ns" else ""
        if name in constants_by_name:  # other parameters are bounds of phases
            roles[name] = min(role, roles.get(name, role), key=ROLES.index)
    for name, role in roles.items():
        constant = constants_by_name[name]
        yield ConstantFact(
            name, role, constant.files, constant.path, constant.default, constant.doc, constant.or_at, constant.line
        )
