"""Which reports print what no metric is made of: figures and tables of series, and tables of run parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set

from assay.explain.appearances import list_appearances
from assay.lang.dependencies import Dependencies, collect_dependencies
from assay.lang.model.package import Package

Thing = tuple[str, str]
"""A list of a package (`events`, `series`, ...; `constants` of all sources) and the name of a member."""


def readers(package: Package) -> Mapping[Thing, Set[str]]:
    """By what is read, which reports' series and run parameters read it, in words."""
    found: dict[Thing, set[str]] = defaultdict(set)
    for series in package.series:
        if names := {place.report for place in list_appearances(package, series)}:
            for thing in _things(package, collect_dependencies(package, (), (), [series.name])):
                found[thing] |= {f"series of {name}" for name in names}
    for report in package.reports:
        said = f"run parameters of {package.system}/{report.name}"
        for row in report.manifest:
            if row.relation:
                for thing in _things(package, collect_dependencies(package, (), (), [row.relation])):
                    found[thing].add(said)
            for constant in (row.constant, row.needs):
                found["constants", constant].add(said)
    return found


def _things(package: Package, needed: Dependencies) -> Iterator[Thing]:
    lists = {
        "events": needed.events, "relations": needed.relations, "grains": needed.grains, "series": needed.series,
        "constants": needed.constants,
        "sources": {event.source for event in package.events if event.name in needed.events},
    }  # fmt: skip
    for kind, names in lists.items():
        yield from ((kind, name) for name in names)


def thing_at(path: tuple[str, ...]) -> Thing:
    """The thing that a place of a package is part of; one of no name for a list as a whole."""
    if path[:1] == ("sources",) and path[2:3] == ("constants",) and len(path) > 3:
        return "constants", path[3]
    return path[0], path[1] if len(path) > 1 else ""
