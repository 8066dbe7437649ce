"""Find the printed numbers that a change of a report, figure or table affects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from assay.explain.facts import Appearance, list_appearances
from assay.lang import dependencies, formula
from assay.lang.dependencies import Dependencies, collect_dependencies
from assay.lang.model.article import Article, Averages, Grid, Pivot, Verdict
from assay.lang.model.package import Metric, Package, Series
from assay.lang.model.vocabulary import Unit
from assay.report.run_results import row_label

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


#: member of a summary -> the kinds of places that it shapes (the deviation stands in results alone)
_BY_SUMMARY = {"lowest": ("table", "verdict"), "reciprocal_points": ("chart",)}
_WORDS_OF_CHOICE = (["title"], ["label"], ["absent"])
_PRINTED = ("table", "chart", "figure", "verdict")


def touched(package: Package, path: Sequence[str]) -> tuple[Appearance, ...]:
    """The places that print what a place of a package shapes, where no metric's definition tells them."""
    kind, name, *inside = (*path, "", "")
    of = f"{package.system}/{name}"
    if kind == "summaries":
        kinds = _BY_SUMMARY.get(inside[0], ())
        return _places(package, _over_hosts, lambda place: place.kind in kinds and place.report in _by(package, name))
    if kind == "reports" and inside[0] == "summary":
        return _places(package, _over_hosts, lambda place: place.kind in ("table", "chart") and place.report == of)
    if kind == "reports" and inside[0] == "filters" and inside[1]:
        filtered = inside[1]
        return _places(
            package,
            lambda item: filtered in dependencies.collect_dependencies(package, [item], package.filters).filters,
            lambda place: place.kind in _PRINTED and place.report == of,
        )
    if kind == "articles" and inside[0] == "choices" and inside[1] and inside[2:3] not in _WORDS_OF_CHOICE:
        return _of_choice(package, name, inside[1])
    if kind == "articles" and inside[0] == "parts" and len(inside) > 5:
        return _of_table(package, of, inside[1:-2])
    return ()


def _over_hosts(metric: Metric) -> bool:
    """Whether a metric has a distribution for each host, say, over which a summary averages."""
    return bool(metric.per)


def _by(package: Package, summary: str) -> set[str]:
    """The reports that average by a summary; articles do by the first."""
    found = {item.name for item in package.reports if item.summary == summary}
    if package.summaries and package.summaries[0].name == summary:
        found |= {item.name for item in package.articles}
    return {f"{package.system}/{name}" for name in found}


def _places(
    package: Package,
    holds: Callable[[Metric], bool],
    counts: Callable[[Appearance], bool],
    metrics: Iterable[Metric] = (),
) -> tuple[Appearance, ...]:
    """The places that count of the metrics for which something holds, or for one that they are formulas over."""
    known = formula.index_metrics(package)
    return tuple(
        place
        for item in metrics or package.metrics
        if any(map(holds, formula.list_measured(known, [item]) if formula.is_formula(item) else [item]))
        for place in list_appearances(package, item)
        if counts(place)
    )


def _of_table(package: Package, report: str, path: Sequence[str]) -> tuple[Appearance, ...]:
    """The places of a table or figure of a part, by the part, the kind of table, its title, and what is inside; of a
    rule, those of its metric."""
    part, kind, title, *inside = path
    section = f"{part}/{title}"
    metrics = [item for item in package.metrics if _ruled(package, report, kind, section, inside) in ("", item.id)]
    return _places(package, lambda _: True, lambda place: place.report == report and place.section == section, metrics)


def _of_choice(package: Package, name: str, choice: str) -> tuple[Appearance, ...]:
    """The places of an article that show the rows, or the time of the row, that a choice chooses, or leave them out."""
    article = next((item for item in package.articles if item.name == name), None)
    if article is None:
        return ()
    choices = {choice, *(item.name for item in article.choices if choice in item.without)}
    places = set(_by_choices(article, choices, {item.name: item.unit for item in package.series}))
    items: tuple[Metric | Series, ...] = (*package.metrics, *package.series)
    found = (place for item in items for place in list_appearances(package, item))
    of = f"{package.system}/{name}"
    return tuple(
        place
        for place in dict.fromkeys(found)
        if place.report == of and places & {(place.section, ""), (place.section, place.label)}
    )


def _by_choices(article: Article, choices: set[str], units: Mapping[str, Unit]) -> Iterator[tuple[str, str]]:
    """Section and label of what is made by one of some choices; no label where all of the section is."""
    for part in article.parts:
        tables: tuple[Pivot | Verdict | Grid | Averages, ...] = (
            *part.pivots, *part.verdicts, *part.grids, *part.averages,
        )  # fmt: skip
        for item in tables:
            without = item.without if isinstance(item, Verdict) else ()
            if choices & {item.choice, *without}:
                yield f"{part.title}/{item.title}", ""
        for line in part.timelines:
            if line.choice in choices:
                yield part.title, row_label(line.title or line.series, units[line.series].symbol)


def _ruled(package: Package, report: str, kind: str, section: str, inside: Sequence[str]) -> str:
    """The metric of the rule of a conclusion that a place is in; empty elsewhere."""
    if kind != "conclusions" or len(inside) < 2 or inside[0] != "rules":
        return ""
    if not inside[1].startswith("#"):
        return inside[1]
    rules = [
        rule
        for article in package.articles
        for part in article.parts
        for item in part.conclusions
        if f"{package.system}/{article.name}" == report and f"{part.title}/{item.title}" == section
        for rule in item.rules
    ]
    return rules[int(inside[1][1:]) - 1].metric
