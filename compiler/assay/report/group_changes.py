"""Show which values of a column, such as hosts, changed between versions beyond the noise within their runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.judgement.report_judgements import JudgedChange
from assay.judgement.verdict import Verdict
from assay.lang.model.package import Metric
from assay.number_styles.prefixed import format_percent_change
from assay.report.cell_links import CellVerdict
from assay.report.group_spreads import RunGroups, Spreads
from assay.report.judged_cells import NO_VALUE, format_judged_cells, name_judged_columns
from assay.report.tables import Table
from assay.util.numbers import format_count

BEYOND_NOISE = (Verdict.WORSE, Verdict.BETTER, Verdict.CHANGED)
MOST_NAMED = 12  # groups in a cell


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """The judged changes of groups from the first version: `changes` has (metric, version), then the group as keys.

    `pooled` groups have the fewest samples and are not judged.
    """

    level: float
    versions: tuple[str, ...]
    changes: Mapping[tuple[str, str], Mapping[str, JudgedChange]]
    pooled: int = 0

    def list_headings(self, runs: Sequence[RunGroups]) -> Iterator[str]:
        """Yield the headings of the judged cells: interval and verdict of each version."""
        for version in self.versions:
            prefix = f"{_label_version(version, runs)} " if len(self.versions) > 1 else ""
            yield from (f"{prefix}{heading}" for heading in name_judged_columns(self.level))

    def format_cells(self, metric: Metric, name: str) -> Iterator[str]:
        """Yield the interval and the verdict of a group in each version; dashes without one."""
        for version in self.versions:
            change = self.changes.get((metric.id, version), {}).get(name)
            yield from format_judged_cells(change, metric.unit.symbol) if change else (NO_VALUE, NO_VALUE)

    def list_verdicts(self, metric: Metric, name: str, row: int, first: int) -> Iterator[CellVerdict]:
        """Yield the verdicts on a group, in a row whose judged cells begin with the column `first`."""
        for number, version in enumerate(self.versions):
            if change := self.changes.get((metric.id, version), {}).get(name):
                yield CellVerdict(row, first + 2 * number + 1, change.judgement.verdict, change.is_by_itself)

    def list_changed(self, metric: Metric) -> set[str]:
        """Return the groups that changed beyond noise in any version."""
        return {name for name, _ in self._iter_changed(metric)}

    def list_certain(self, metric: Metric) -> set[str]:
        """Return those of them that chance does not make of so many."""
        return {name for name, change in self._iter_changed(metric) if not change.is_by_itself}

    def _iter_changed(self, metric: Metric) -> Iterator[tuple[str, JudgedChange]]:
        judged = (self.changes.get((metric.id, version), {}) for version in self.versions)
        yield from (pair for item in judged for pair in item.items() if pair[1].judgement.verdict in BEYOND_NOISE)


NO_CHANGES = GroupChanges(0.0, (), {})


@dataclass(frozen=True, slots=True)
class ChangedGroups:
    """The groups of a metric that have a verdict in a version, of so many that are judged.

    `run` is the label of the version; empty if there is only one.
    """

    metric: str
    run: str
    verdict: Verdict
    groups: Sequence[tuple[str, JudgedChange]]
    judged: int

    @property
    def count(self) -> str:
        """How many groups have the verdict: `3 of 8 worse`."""
        return f"{len(self.groups)} of {self.judged} {self.verdict}"


def list_changed_groups(metrics: Sequence[Metric], spreads: Spreads, changes: GroupChanges) -> Iterator[ChangedGroups]:
    """Yield the groups that changed beyond noise, by metric, version and verdict."""
    several = len(changes.versions) > 1
    for metric in metrics:
        for version in changes.versions:
            judged = changes.changes.get((metric.id, version), {})
            run = _label_version(version, spreads[metric.id]) if several else ""
            for verdict in BEYOND_NOISE:
                groups = [(name, item) for name, item in judged.items() if item.judgement.verdict is verdict]
                if groups:
                    yield ChangedGroups(metric.name, run, verdict, groups, len(judged))


def build_changes_table(column: str, changed: Sequence[ChangedGroups], *, has_runs: bool) -> Table:
    """Return the table of groups that changed beyond noise: a row for each metric, version and verdict."""
    rows = tuple((item.metric, *([item.run] if has_runs else []), item.count, _join(item.groups)) for item in changed)
    header = ("metric", *(("run",) if has_runs else ()), "verdict", f"{column}, change")
    verdicts = tuple(CellVerdict(row, len(header) - 2, item.verdict) for row, item in enumerate(changed))
    return Table(f"Changed beyond noise by {column}", header, rows, verdicts=verdicts)


def describe_changes(
    metrics: Sequence[Metric], column: str, changed: Sequence[ChangedGroups], changes: GroupChanges
) -> Iterator[str]:
    """Yield how groups were judged, and the verdicts on all of them."""
    if not changes.versions:
        return
    verdicts = Counter(item.judgement.verdict for judged in changes.changes.values() for item in judged.values())
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in Verdict if verdicts[verdict])
    chance = f"{100 * (1 - changes.level):.3g} of 100"
    yield (
        f"Each {column} is judged as if the runs had no other: {counts}, of {format_count(len(metrics), 'metric')}. "
        f"Intervals miss the true change in {chance} cases, so among many some change by chance."
    )
    phrases = (f"{item.metric}{f' ({item.run})' if item.run else ''}: {item.count}" for item in changed)
    if changed:
        yield f"Changed beyond noise, with names in a table below. {'; '.join(phrases)}."
    else:
        yield f"No {column} changed beyond noise in any of the metrics."
    if changes.pooled:
        yield f"Not judged: {changes.pooled} with the fewest samples."


def build_group_changes_data(changes: GroupChanges) -> dict[str, object]:
    """Return the judged changes of groups as plain data, for `results.json`."""
    data: dict[str, dict[str, object]] = {}
    for (metric, version), judged in sorted(changes.changes.items()):
        data.setdefault(metric, {})[version] = {name: _build_change_data(item) for name, item in judged.items()}
    return dict(data)


def _build_change_data(change: JudgedChange) -> dict[str, object]:
    judgement, comparison = change.judgement, change.judgement.comparison
    percent, interval = (comparison.percent, judgement.interval) if comparison and comparison.percent else (None, None)
    return {
        "verdict": judgement.verdict.value,
        "reason": judgement.reason.value if judgement.reason else None,
        "difference": comparison.difference.value if comparison else None,
        "percent": percent.value if percent else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }


def _join(changed: Sequence[tuple[str, JudgedChange]]) -> str:
    """Return the names of groups with their changes, the greatest first."""
    ordered = sorted(changed, key=lambda item: -abs(_get_percent(item[1])))
    texts = [f"{name} {_format_change(item)}" for name, item in ordered[:MOST_NAMED]]
    return ", ".join(texts) + (f" and {len(ordered) - MOST_NAMED} more" if len(ordered) > MOST_NAMED else "")


def _get_percent(change: JudgedChange) -> float:
    comparison = change.judgement.comparison
    return comparison.percent.value if comparison and comparison.percent else float("inf")


def _format_change(change: JudgedChange) -> str:
    comparison = change.judgement.comparison
    return f"{format_percent_change(comparison.percent.value)} %" if comparison and comparison.percent else "from 0"


def _label_version(version: str, runs: Sequence[RunGroups]) -> str:
    return next((item.label for item in runs if item.run == version), version)
