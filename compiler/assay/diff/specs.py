"""What differs between two states of the specs: metrics that are new, gone, renamed, changed in meaning, in what is
called better, or in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from assay.diff.changes import Change, ReportedChange, changes, describe_change
from assay.diff.impact import Thing, readers, thing_at, touched
from assay.diff.prose import Texts, of_articles, quoting
from assay.diff.renames import as_called, instants, renames, with_instants
from assay.explain.facts import Appearance, judging, list_appearances
from assay.lang import normal_form
from assay.lang.dependencies import collect_dependencies
from assay.lang.model.package import Metric, Package
from assay.lang.normal_form import CheckedPackage
from assay.sql import dialect

#: what is told of a metric, in this order
KINDS = ("new", "gone", "renamed", "changed in meaning", "changed in verdict", "changed in wording")
#: parts of a definition -> what a change of them is called
_ASPECTS = {
    "grains": "grain",
    "relations": "SQL",
    "events": "event",
    "earlier": "patterns tried before",
    "sources": "source",
    "constants": "constant",
    "filters": "filter",
    "series": "series",
}
_OF_METRIC = {"unit": "unit", "where": "condition", "grain": "grain"}
_SHOWN = {"reports": "report", "histories": "history", "articles": "article"}
#: members that are words for people; the rest has a meaning
_WORDS = frozenset(("doc", "message", "hint", "name", "better", "width"))


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A metric that differs; `was` is its former id; `touches` are the places that print its numbers."""

    kind: str
    metric: str
    name: str
    was: str
    told: tuple[ReportedChange, ...]
    touches: tuple[Appearance, ...]


@dataclass(frozen=True, slots=True)
class SystemDiff:
    """What differs in a system: `state` is `new`, `gone`, `both`, or `unread` where either side could not be read, as
    `unread` says; `reports` are by name; `elsewhere` is of no metric that differs.  Of two builds, `choices` are those
    that differ, and `data` what differs of their data and tools."""

    system: str
    state: str
    metrics: tuple[MetricChange, ...] = ()
    reports: Mapping[str, tuple[ReportedChange, ...]] = field(default_factory=dict)
    elsewhere: tuple[ReportedChange, ...] = ()
    unread: str = ""
    choices: tuple[ReportedChange, ...] = ()
    data: tuple[ReportedChange, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether definitions or choices differ; data may, of two builds that mean the same."""
        return self.state != "both" or bool(self.metrics or self.reports or self.elsewhere or self.choices)


def by_hashes(system: str, before: Mapping[str, str], after: Mapping[str, str], names: Mapping[str, str]) -> SystemDiff:
    """What differs in a system of which definition hashes alone are known (metric -> hash): not what of a definition,
    nor words, and a metric that is renamed is one that is gone and one that is new.  `names` are those of metrics."""

    def change(kind: str, metric: str) -> MetricChange:
        return MetricChange(kind, metric, names.get(metric, ""), "", (), ())

    found = [change("new", item) for item in after if item not in before]
    found += [change("gone", item) for item in before if item not in after]
    found += [change("changed in meaning", item) for item in after if before.get(item, after[item]) != after[item]]
    return SystemDiff(system, "both", tuple(found))


def diff(
    old: CheckedPackage, new: CheckedPackage, before_prose: Texts | None = None, after_prose: Texts | None = None
) -> SystemDiff:
    """What differs between two states of a system's package, and in the prose of articles that both know."""
    texts = before_prose or {}, after_prose or {}
    meant: set[tuple[str, ...]] = set()
    called = instants(old.package, new.package)
    metrics = tuple(_metrics(old, new, called, texts, meant))
    before, after = (
        normal_form.to_plain_data(with_instants(old.package, called)),
        normal_form.to_plain_data(new.package),
    )
    reports: dict[str, tuple[ReportedChange, ...]] = {}
    elsewhere = [item for item in _otherwise(called) if all(item not in metric.told for metric in metrics)]
    read = readers(old.package), readers(new.package)
    for item in changes(before, after):
        kind = item.path[0]
        if kind in _SHOWN and len(item.path) > 1:
            told = replace(describe_change(_SHOWN[kind], item, 2), touches=_touched(old, new, item))
            reports[item.path[1]] = (*reports.get(item.path[1], ()), told)
        elif kind != "metrics" and _in_definition(item.path) not in meant:
            told = describe_change(_elsewhere(item.path, read), item, 0)
            elsewhere.append(replace(told, touches=_touched(old, new, item)))
    renamed = {item.was: item.metric for item in metrics if item.was}
    for name, said in of_articles(old.package, new.package, *texts, renamed):
        reports[name] = (*reports.get(name, ()), said)
    return SystemDiff(new.package.system, "both", metrics, reports, tuple(elsewhere))


def _touched(old: CheckedPackage, new: CheckedPackage, item: Change) -> tuple[Appearance, ...]:
    """The printed numbers that a change touches; those that were printed where something is gone."""
    return touched((old if item.after is None else new).package, item.path)


def _elsewhere(path: tuple[str, ...], read: Iterable[Mapping[Thing, Set[str]]]) -> str:
    """What a place is about that no changed metric reads; `read` tells what else of reports does, before and after."""
    if path[0] == "examples":
        return "example"
    if path[0] == "summaries" and path[-1] not in _WORDS:
        return "averages by summary" if len(path) < 2 else f"averages by summary `{path[1]}`"
    if path[-1] in _WORDS:
        return "wording"
    by = sorted(set().union(*(item.get(thing_at(path), ()) for item in read)))
    return f"read by {', '.join(by)}" if by else "not read by any changed metric"


def _in_definition(path: tuple[str, ...]) -> tuple[str, ...]:
    """The place of a package as definitions have it: there, constants stand beside their sources."""
    return path[2:] if path[:1] == ("sources",) and path[2:3] == ("constants",) else path


def _otherwise(names: Mapping[str, Mapping[str, str]]) -> Iterator[ReportedChange]:
    """The instants of grains that are called otherwise, and found as they were."""
    for grain, renamed in names.items():
        yield from (
            ReportedChange("wording", f"name of an instant of {grain}", was, now) for was, now in renamed.items()
        )


def _metrics(
    old: CheckedPackage,
    new: CheckedPackage,
    named: Mapping[str, Mapping[str, str]],
    texts: tuple[Texts, Texts],
    meant: set[tuple[str, ...]],
) -> Iterator[MetricChange]:
    """The metrics that differ, where instants of grains are `named` otherwise; places of their definitions that differ
    are added to `meant`."""
    before = {metric.id: metric for metric in old.package.metrics}
    after = {metric.id: metric for metric in new.package.metrics}
    places = {name: _printed(new.package, metric, texts[1]) for name, metric in after.items()}
    former = {name: _printed(old.package, metric, texts[0]) for name, metric in before.items()}
    alike = with_instants(old.package, named)
    renamed = renames(alike, new.package)
    called = as_called(alike, renamed)
    was_called = {metric.id: metric for metric in called.metrics}
    for was, now in renamed.items():
        told = tuple(_words(was_called[now], after[now]))
        yield MetricChange("renamed", now, after[now].name, was, told, places.get(now, ()))
    for name, metric in after.items():
        if name not in before and name not in renamed.values():
            yield MetricChange("new", name, metric.name, "", (), places.get(name, ()))
        elif name in before and (old.definitions[name] != new.definitions[name] or metric != before[name]):
            words = (*_words(was_called[name], metric), *_otherwise(_used(old.package, before[name], named)))
            yield from _changed(called, new, was_called[name], metric, words, places.get(name, ()), meant)
    for name, metric in before.items():
        if name not in after and name not in renamed:
            yield MetricChange("gone", name, metric.name, "", (), former.get(name, ()))


def _used(package: Package, metric: Metric, named: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """The instants that are named otherwise which a metric depends on."""
    needed = collect_dependencies(package, [metric], package.filters).grains if named else {}
    return {
        grain: {was: now for was, now in names.items() if was in needed.get(grain, ())}
        for grain, names in named.items()
    }


def _printed(package: Package, metric: Metric, texts: Texts) -> tuple[Appearance, ...]:
    """The places that print numbers of a metric, or plot them."""
    places = tuple(place for place in list_appearances(package, metric) if place.kind != "dictionary")
    return (*places, *quoting(package, texts, metric.id))


def _changed(
    old: Package,
    new: CheckedPackage,
    was: Metric,
    now: Metric,
    words: tuple[ReportedChange, ...],
    touches: tuple[Appearance, ...],
    meant: set[tuple[str, ...]],
) -> Iterator[MetricChange]:
    meaning: list[ReportedChange] = []
    before, after = normal_form.collect_definition(old, was), normal_form.collect_definition(new.package, now)
    for item in changes(before, after):
        meant.add(item.path)
        if item.path[0] == "earlier":
            meant.add(("events", "order"))
        if _same_sql(item):
            words = (*words, describe_change("comments of SQL", item, 1))
        else:
            meaning.append(describe_change(_aspect(item.path), item, 1))
    if meaning:
        yield MetricChange("changed in meaning", now.id, now.name, "", (*meaning, *words), touches)
    elif was.better != now.better:
        yield MetricChange("changed in verdict", now.id, now.name, "", words, judging(new.package, now))
    elif words:
        yield MetricChange("changed in wording", now.id, now.name, "", words, touches)


def _words(was: Metric, now: Metric) -> Iterator[ReportedChange]:
    """What differs in the words of a metric, in the direction that is called better, in digits, and in examples."""
    for name in ("name", "doc", "better"):
        before, after = str(getattr(was, name)), str(getattr(now, name))
        if before != after:
            yield ReportedChange("verdict" if name == "better" else "wording", name, before, after)
    if was.width != now.width:
        yield ReportedChange("digits", "width", str(was.width), str(now.width))
    yield from (
        describe_change("example", item, 0)
        for item in changes(
            normal_form.to_plain_data(was.examples), normal_form.to_plain_data(now.examples), ("examples",)
        )
    )


def _aspect(path: tuple[str, ...]) -> str:
    """What a place of a definition is about."""
    if path[0] == "metric":
        return _OF_METRIC.get(path[1], path[1])
    if path[0] == "grains" and "instants" in path:
        return "anchor"
    return _ASPECTS.get(path[0], path[0])


def _same_sql(item: Change) -> bool:
    """Whether two texts of SQL differ in comments and layout only."""
    if item.path[-1] != "sql" or not isinstance(item.before, str) or not isinstance(item.after, str):
        return False
    return dialect.bare(item.before) == dialect.bare(item.after)
