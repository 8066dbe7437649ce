"""Compare two states of the specs of a system.

A metric is new, gone, renamed, or changed in meaning, in the direction that counts as better, or in wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import zip_longest

from assay.diff.changes import Change, ReportedChange, describe_change, find_changes, format_unified_diff
from assay.diff.impact import Member, get_member, index_readers, list_affected_places
from assay.diff.renames import find_renamed_instants, find_renames, rename_instants, rename_metrics
from assay.explain.facts import Appearance, list_appearances, list_verdicts
from assay.lang import definition_hash, plain_data
from assay.lang.breaks import describe_break, list_crossed_breaks
from assay.lang.checked_package import CheckedPackage
from assay.lang.dependencies import collect_dependencies
from assay.lang.formula import format_quantity
from assay.lang.model.package import Metric, Package
from assay.lang.model.parts import Part
from assay.lang.model.report import Report
from assay.report.prose import list_quotes, mark_quotes, split_paragraphs
from assay.report.run_results import add_unit
from assay.sql import dialect

Texts = Mapping[str, Mapping[str, str]]
"""Report -> file of prose -> text."""
#: kinds of changes of a metric, in the order of the output
CHANGED_IN_MEANING = "changed in meaning"
KINDS = ("new", "gone", "renamed", CHANGED_IN_MEANING, "changed in verdict", "changed in wording")
#: part of a definition -> the aspect that its change is reported as
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
_METRIC_ASPECTS = {"unit": "unit", "where": "condition", "grain": "grain"}
#: members that hold wording only; all others have a meaning
_WORDING = frozenset(("doc", "message", "hint", "name", "better", "width"))


def compare_prose(
    old: Package, new: Package, before: Texts, after: Texts, renamed: Mapping[str, str]
) -> Iterator[tuple[str, ReportedChange]]:
    """Yield the differences in the prose of each report that exists on both sides, part by part.

    A quote of a metric in `renamed` (former id -> id) counts as unchanged.
    """
    former = {report.name: report for report in old.reports}
    for report in new.reports:
        if report.name in former and report.name in before and report.name in after:
            was, now = before[report.name], after[report.name]
            parts = {part.title: part for part in former[report.name].parts}
            for part in report.parts:
                if part.title in parts:
                    texts = _join_prose(parts[part.title], was), _join_prose(part, now)
                    yield from ((report.name, item) for item in _compare_part(new, report, part, *texts, renamed))


def find_quotes(package: Package, texts: Texts, metric: str) -> tuple[Appearance, ...]:
    """Return the parts of reports whose prose quotes a metric."""
    return tuple(
        _build_appearance(package, report, part, metric)
        for report in package.reports
        for part in report.parts
        if metric in (quoted for quoted, _ in list_quotes(_join_prose(part, texts.get(report.name, {}))))
    )


def _join_prose(part: Part, texts: Mapping[str, str]) -> str:
    """Return the prose of a part, as one text."""
    return "\n\n".join(filter(None, (texts.get(file, "") for file in part.prose_files)))


def _build_appearance(package: Package, report: Report, part: Part, metric: str) -> Appearance:
    label = next((add_unit(item.name, item.unit.symbol) for item in package.metrics if item.id == metric), metric)
    return Appearance(f"{package.system}/{report.name}", "quote", part.title, label)


def _compare_part(
    package: Package, report: Report, part: Part, before: str, after: str, renamed: Mapping[str, str]
) -> Iterator[ReportedChange]:
    was = [_rename_quote(metric, words, renamed) for metric, words in list_quotes(before)]
    now = list_quotes(after)
    matched = SequenceMatcher(None, was, [words for _, words in now], autojunk=False)
    for kind, start, end, first, last in matched.get_opcodes():
        if kind != "equal":
            for old, new in zip_longest(was[start:end], now[first:last]):
                touches = (_build_appearance(package, report, part, new[0]),) if new else ()
                yield ReportedChange("quoted value", part.title, old or "", new[1] if new else "", touches=touches)
    old_words, new_words = mark_quotes(before), mark_quotes(after)
    if split_paragraphs(old_words) != split_paragraphs(new_words):
        yield ReportedChange("wording", part.title, lines=format_unified_diff(old_words, new_words))


def _rename_quote(metric: str, words: str, renamed: Mapping[str, str]) -> str:
    """Return a quote with the current id of its metric."""
    return re.sub(re.escape(metric), lambda _: renamed[metric], words, count=1) if metric in renamed else words


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A metric that differs, with its changes.

    `was` is its former id, `touches` are the places that print its numbers.
    """

    kind: str
    metric: str
    name: str
    was: str
    changes: tuple[ReportedChange, ...]
    touches: tuple[Appearance, ...]


@dataclass(frozen=True, slots=True)
class SystemDiff:
    """The differences in a system.

    `state` is `new`, `gone`, `both`, or `unread` if either side cannot be read; `unread` is then the reason. `reports`
    are by name, `elsewhere` has the changes that belong to no changed metric. For two builds, `choices` are the options
    that differ, and `data` the differences in their data and tools.
    """

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
        """Return whether definitions or choices differ. Builds with the same meaning may have different data."""
        return self.state != "both" or bool(self.metrics or self.reports or self.elsewhere or self.choices)


def diff_hashes(
    system: str, before: Mapping[str, str], after: Mapping[str, str], names: Mapping[str, str]
) -> SystemDiff:
    """Compare a system by its definition hashes (metric -> hash).

    Neither the changed part of a definition nor wording can be reported, and a renamed metric is one gone and one new.
    `names` are those of metrics.
    """

    def build_change(kind: str, metric: str) -> MetricChange:
        return MetricChange(kind, metric, names.get(metric, ""), "", (), ())

    metrics = [build_change("new", item) for item in after if item not in before]
    metrics += [build_change("gone", item) for item in before if item not in after]
    metrics += [
        build_change("changed in meaning", item) for item in after if before.get(item, after[item]) != after[item]
    ]
    return SystemDiff(system, "both", tuple(metrics))


def diff_packages(
    old: CheckedPackage, new: CheckedPackage, before_prose: Texts | None = None, after_prose: Texts | None = None
) -> SystemDiff:
    """Compare two states of a system's package, and the prose of reports that exist in both."""
    texts = before_prose or {}, after_prose or {}
    changed_paths: set[tuple[str, ...]] = set()
    instant_names = find_renamed_instants(old.package, new.package)
    metrics = tuple(_compare_metrics(old, new, instant_names, texts, changed_paths))
    before, after = (
        plain_data.to_plain_data(rename_instants(old.package, instant_names)),
        plain_data.to_plain_data(new.package),
    )
    reports: dict[str, tuple[ReportedChange, ...]] = {}
    elsewhere = [
        item for item in _report_instants(instant_names) if all(item not in metric.changes for metric in metrics)
    ]
    read_by = index_readers(old.package), index_readers(new.package)
    for item in find_changes(before, after):
        kind = item.path[0]
        if kind == "reports" and len(item.path) > 1:
            change = replace(describe_change("report", item, 2), touches=_find_touched(old, new, item))
            reports[item.path[1]] = (*reports.get(item.path[1], ()), change)
        elif kind != "metrics" and _get_definition_path(item.path) not in changed_paths:
            change = describe_change(_name_aspect(item.path, read_by), item, 0)
            elsewhere.append(replace(change, touches=_find_touched(old, new, item)))
    renamed = {item.was: item.metric for item in metrics if item.was}
    for name, change in compare_prose(old.package, new.package, *texts, renamed):
        reports[name] = (*reports.get(name, ()), change)
    return SystemDiff(new.package.system, "both", metrics, reports, tuple(elsewhere))


def add_breaks(
    changes: Sequence[MetricChange], metrics: Sequence[Metric], days: Sequence[str]
) -> tuple[MetricChange, ...]:
    """Return changes of metrics with the declared breaks between the days of two builds.

    A break changes what a metric means, though its definition is the same.
    """
    crossed = {metric.id: list_crossed_breaks(metric, days) for metric in metrics}
    names = {metric.id: metric.name for metric in metrics}
    breaks = {
        name: tuple(ReportedChange("break", item.since, after=describe_break(item)) for item in items)
        for name, items in crossed.items()
        if items
    }
    changed = [replace(item, changes=(*item.changes, *breaks.pop(item.metric, ()))) for item in changes]
    added = (MetricChange(CHANGED_IN_MEANING, name, names[name], "", items, ()) for name, items in breaks.items())
    return (*changed, *added)


def _find_touched(old: CheckedPackage, new: CheckedPackage, item: Change) -> tuple[Appearance, ...]:
    """Return the places that print numbers which a change affects; for a removal, the former places."""
    return list_affected_places((old if item.after is None else new).package, item.path)


def _name_aspect(path: tuple[str, ...], read: Iterable[Mapping[Member, Set[str]]]) -> str:
    """Return the aspect of a change that no changed metric reads.

    `read` holds which other parts of reports read it, before and after.
    """
    if path[0] == "examples":
        return "example"
    if path[0] == "summaries" and path[-1] not in _WORDING:
        return "averages by summary" if len(path) < 2 else f"averages by summary `{path[1]}`"
    if path[-1] in _WORDING:
        return "wording"
    report_parts = sorted(set().union(*(item.get(get_member(path), ()) for item in read)))
    return f"read by {', '.join(report_parts)}" if report_parts else "not read by any changed metric"


def _get_definition_path(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return a path of a package as it is in definitions, where constants are not below their sources."""
    return path[2:] if path[:1] == ("sources",) and path[2:3] == ("constants",) else path


def _report_instants(names: Mapping[str, Mapping[str, str]]) -> Iterator[ReportedChange]:
    """Yield a change of wording for each instant that only changed its name."""
    for grain, renamed in names.items():
        yield from (
            ReportedChange("wording", f"name of an instant of {grain}", was, now) for was, now in renamed.items()
        )


def _compare_metrics(
    old: CheckedPackage,
    new: CheckedPackage,
    instant_names: Mapping[str, Mapping[str, str]],
    texts: tuple[Texts, Texts],
    changed_paths: set[tuple[str, ...]],
) -> Iterator[MetricChange]:
    """Yield the metrics that differ.

    `instant_names` holds the renamed instants of each grain (old -> new). Paths of definitions that differ are added to
    `changed_paths`.
    """
    before = {metric.id: metric for metric in old.package.metrics}
    after = {metric.id: metric for metric in new.package.metrics}
    places = {name: _find_appearances(new.package, metric, texts[1]) for name, metric in after.items()}
    former = {name: _find_appearances(old.package, metric, texts[0]) for name, metric in before.items()}
    aligned = rename_instants(old.package, instant_names)
    renamed = find_renames(aligned, new.package)
    renamed_package = rename_metrics(aligned, renamed)
    metrics_before = {metric.id: metric for metric in renamed_package.metrics}
    for was, now in renamed.items():
        wording = tuple(_compare_wording(metrics_before[now], after[now]))
        yield MetricChange("renamed", now, after[now].name, was, wording, places.get(now, ()))
    for name, metric in after.items():
        if name not in before and name not in renamed.values():
            yield MetricChange("new", name, metric.name, "", (), places.get(name, ()))
        elif name in before and (old.definitions[name] != new.definitions[name] or metric != before[name]):
            wording = (
                *_compare_wording(metrics_before[name], metric),
                *_report_instants(_select_renamed_instants(old.package, before[name], instant_names)),
            )
            yield from _compare_metric(
                renamed_package, new, metrics_before[name], metric, wording, places.get(name, ()), changed_paths
            )
    for name, metric in before.items():
        if name not in after and name not in renamed:
            yield MetricChange("gone", name, metric.name, "", (), former.get(name, ()))


def _select_renamed_instants(
    package: Package, metric: Metric, instant_names: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Return the renamed instants that a metric depends on, by grain."""
    needed = collect_dependencies(package, [metric], package.filters).grains if instant_names else {}
    return {
        grain: {was: now for was, now in names.items() if was in needed.get(grain, ())}
        for grain, names in instant_names.items()
    }


def _find_appearances(package: Package, metric: Metric, texts: Texts) -> tuple[Appearance, ...]:
    """Return the places that print or plot numbers of a metric."""
    places = tuple(place for place in list_appearances(package, metric) if place.kind != "dictionary")
    return (*places, *find_quotes(package, texts, metric.id))


def _compare_metric(
    old: Package,
    new: CheckedPackage,
    was: Metric,
    now: Metric,
    wording: tuple[ReportedChange, ...],
    touches: tuple[Appearance, ...],
    changed_paths: set[tuple[str, ...]],
) -> Iterator[MetricChange]:
    meaning: list[ReportedChange] = []
    before, after = definition_hash.collect_definition(old, was), definition_hash.collect_definition(new.package, now)
    for item in find_changes(before, after):
        changed_paths.add(item.path)
        if item.path[0] == "earlier":
            changed_paths.add(("events", "order"))
        if _is_same_sql(item):
            wording = (*wording, describe_change("comments of SQL", item, 1))
        else:
            meaning.append(describe_change(_get_aspect(item.path), item, 1))
    if meaning:
        yield MetricChange("changed in meaning", now.id, now.name, "", (*meaning, *wording), touches)
    elif was.better != now.better:
        yield MetricChange("changed in verdict", now.id, now.name, "", wording, list_verdicts(new.package, now))
    elif was.margin != now.margin:
        yield MetricChange("changed in verdict", now.id, now.name, "", wording, ())
    elif wording:
        yield MetricChange("changed in wording", now.id, now.name, "", wording, touches)


def _compare_wording(was: Metric, now: Metric) -> Iterator[ReportedChange]:
    """Yield the differences in a metric's words, digits, examples and the direction that counts as better."""
    for name in ("name", "doc", "better"):
        before, after = str(getattr(was, name)), str(getattr(now, name))
        if before != after:
            yield ReportedChange("verdict" if name == "better" else "wording", name, before, after)
    if was.margin != now.margin:
        yield ReportedChange("verdict", "margin", _format_margin(was), _format_margin(now))
    if was.width != now.width:
        yield ReportedChange("digits", "width", str(was.width), str(now.width))
    yield from (
        describe_change("example", item, 0)
        for item in find_changes(
            plain_data.to_plain_data(was.examples), plain_data.to_plain_data(now.examples), ("examples",)
        )
    )


def _format_margin(metric: Metric) -> str:
    """Return the margin of a metric; empty without one."""
    margin = metric.margin
    if margin is None:
        return ""
    parts = ((margin.percent, "%"), (margin.amount, margin.unit.name))
    return " or ".join(format_quantity(number, unit) for number, unit in parts if number)


def _get_aspect(path: tuple[str, ...]) -> str:
    """Return the aspect of a path of a definition."""
    if path[0] == "metric":
        return _METRIC_ASPECTS.get(path[1], path[1])
    if path[0] == "grains" and "instants" in path:
        return "anchor"
    return _ASPECTS.get(path[0], path[0])


def _is_same_sql(item: Change) -> bool:
    """Return whether two SQL texts differ only in comments and layout."""
    if item.path[-1] != "sql" or not isinstance(item.before, str) or not isinstance(item.after, str):
        return False
    return dialect.normalize_sql(item.before) == dialect.normalize_sql(item.after)
