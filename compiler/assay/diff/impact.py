"""Which printed numbers a change of a report touches: of filters, summary, choices, rules that judge or mark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from assay.explain.appearances import Appearance, list_appearances
from assay.lang import dependencies, formula
from assay.lang.model.article import Article, Averages, Grid, Pivot, Verdict
from assay.lang.model.package import Metric, Package, Series
from assay.lang.model.unit import Unit
from assay.report.run_results import row_label

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
    known = formula.by_id(package)
    return tuple(
        place
        for item in metrics or package.metrics
        if any(map(holds, formula.measured(known, [item]) if formula.is_formula(item) else [item]))
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
