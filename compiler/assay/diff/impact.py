"""Find the printed numbers that a change of a report, figure or table affects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from assay.explain.facts import Appearance, list_appearances
from assay.lang import dependencies, formula
from assay.lang.dependencies import Dependencies, collect_dependencies
from assay.lang.model.package import Metric, Package
from assay.lang.model.report import Report
from assay.lang.model.series import Series
from assay.lang.model.vocabulary import Unit
from assay.report.run_results import add_unit

Member = tuple[str, str]
"""A list of a package (`events`, `series`, ...; `constants` of all sources) and the name of a member."""


def index_readers(package: Package) -> Mapping[Member, Set[str]]:
    """Return member -> descriptions of the series and run parameters of reports that read it."""
    readers_by_member: dict[Member, set[str]] = defaultdict(set)
    for series in package.series:
        if names := {place.report for place in list_appearances(package, series)}:
            for member in _iter_members(package, collect_dependencies(package, (), (), [series.name])):
                readers_by_member[member] |= {f"series of {name}" for name in names}
    for report in package.reports:
        reader = f"run parameters of {package.system}/{report.name}"
        for row in report.manifest:
            if row.relation:
                for member in _iter_members(package, collect_dependencies(package, (), (), [row.relation])):
                    readers_by_member[member].add(reader)
            for constant in (row.constant, row.needs):
                readers_by_member["constants", constant].add(reader)
    return readers_by_member


def _iter_members(package: Package, needed: Dependencies) -> Iterator[Member]:
    lists = {
        "events": needed.events, "relations": needed.relations, "grains": needed.grains, "series": needed.series,
        "constants": needed.constants,
        "sources": {event.source for event in package.events if event.name in needed.events},
    }  # fmt: skip
    for kind, names in lists.items():
        yield from ((kind, name) for name in names)


def get_member(path: tuple[str, ...]) -> Member:
    """Return the member that a path in a package is part of; with an empty name for a whole list."""
    if path[:1] == ("sources",) and path[2:3] == ("constants",) and len(path) > 3:
        return "constants", path[3]
    return path[0], path[1] if len(path) > 1 else ""


#: field of a summary -> the kinds of places that it affects; only results.json has the deviation
_BY_SUMMARY = {"lowest": ("table", "verdict"), "reciprocal_points": ("chart",)}
_CHOICE_WORDING = (["title"], ["label"], ["absent"])
_PRINTED = ("table", "chart", "figure", "verdict")


def list_affected_places(package: Package, path: Sequence[str]) -> tuple[Appearance, ...]:
    """Return the places whose numbers depend on a path in a package that no definition of a metric contains."""
    kind, name, *inside = (*path, "", "")
    report = f"{package.system}/{name}"
    if kind == "summaries":
        kinds = _BY_SUMMARY.get(inside[0], ())
        return _list_places(
            package,
            _has_host_distributions,
            lambda place: place.kind in kinds and place.report in _list_reports_by_summary(package, name),
        )
    if kind == "reports" and inside[0] == "summary":
        return _list_places(
            package, _has_host_distributions, lambda place: place.kind in ("table", "chart") and place.report == report
        )
    if kind == "reports" and inside[0] == "filters" and inside[1]:
        filtered = inside[1]
        return _list_places(
            package,
            lambda item: filtered in dependencies.collect_dependencies(package, [item], package.filters).filters,
            lambda place: place.kind in _PRINTED and place.report == report,
        )
    if kind == "reports" and inside[0] == "choices" and inside[1] and inside[2:3] not in _CHOICE_WORDING:
        return _list_choice_places(package, name, inside[1])
    if kind == "reports" and inside[0] == "parts" and len(inside) > 5:
        return _list_table_places(package, report, inside[1:-2])
    return ()


def _has_host_distributions(metric: Metric) -> bool:
    """Return whether a metric has several distributions, such as one for each host, which a summary averages."""
    return bool(metric.per)


def _list_reports_by_summary(package: Package, summary: str) -> set[str]:
    """Return the reports that average by a summary."""
    return {f"{package.system}/{item.name}" for item in package.reports if item.summary == summary}


def _list_places(
    package: Package,
    is_affected: Callable[[Metric], bool],
    is_listed: Callable[[Appearance], bool],
    metrics: Iterable[Metric] = (),
) -> tuple[Appearance, ...]:
    """Return the listed places of metrics that are affected, or that are formulas over an affected metric."""
    metrics_by_id = formula.index_metrics(package)
    return tuple(
        place
        for item in metrics or package.metrics
        if any(map(is_affected, formula.list_measured(metrics_by_id, [item]) if formula.is_formula(item) else [item]))
        for place in list_appearances(package, item)
        if is_listed(place)
    )


def _list_table_places(package: Package, report: str, path: Sequence[str]) -> tuple[Appearance, ...]:
    """Return the places of a table or figure; for a path inside a rule, those of the metric of the rule.

    `path` is the part, `blocks`, kind and title of the block, and the path inside the block.
    """
    part, _, block, *inside = path
    kind, _, title = block.partition(" ")
    section = f"{part}/{title}"
    metrics = [
        item for item in package.metrics if _find_rule_metric(package, report, kind, section, inside) in ("", item.id)
    ]
    return _list_places(
        package, lambda _: True, lambda place: place.report == report and place.section == section, metrics
    )


def _list_choice_places(package: Package, name: str, choice: str) -> tuple[Appearance, ...]:
    """Return the places of a report that show or exclude the rows of a choice, or show their time."""
    report = next((item for item in package.reports if item.name == name), None)
    if report is None:
        return ()
    choices = {choice, *(item.name for item in report.choices if choice in item.without)}
    places = set(_iter_choice_labels(report, choices, {item.name: item.unit for item in package.series}))
    items: tuple[Metric | Series, ...] = (*package.metrics, *package.series)
    appearances = (place for item in items for place in list_appearances(package, item))
    return tuple(
        place
        for place in dict.fromkeys(appearances)
        if place.report == f"{package.system}/{name}" and places & {(place.section, ""), (place.section, place.label)}
    )


def _iter_choice_labels(report: Report, choices: set[str], units: Mapping[str, Unit]) -> Iterator[tuple[str, str]]:
    """Yield section and label of the blocks that depend on some choices; no label for a whole section."""
    for part in report.parts:
        for block in part.blocks:
            if choices & set(block.list_choices()):
                section, name = block.locate(part.title)
                symbols = [units[series].symbol for series in block.read_series()]
                yield section, add_unit(name, symbols[0]) if name else ""


def _find_rule_metric(package: Package, name: str, kind: str, section: str, inside: Sequence[str]) -> str:
    """Return the metric that a path inside a block refers to; empty if it refers to the whole block."""
    return next(
        (
            block.find_metric(inside)
            for report in package.reports
            for part in report.parts
            for block in part.blocks
            if f"{package.system}/{report.name}" == name
            and type(block).__name__ == kind
            and block.locate(part.title)[0] == section
        ),
        "",
    )
