"""Show which values of a column, such as hosts, changed between versions beyond the noise within their runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.judgement.report_judgements import JudgedChange
from assay.judgement.verdict import Verdict
from assay.lang.model.package import Metric
from assay.number_styles.prefixed import format_percent_change
from assay.report.group_spreads import RunGroups, Spreads
from assay.report.judged_cells import NO_VALUE, format_judged_cells, name_judged_columns
from assay.report.tables import Table
from assay.util.numbers import format_count

BEYOND_NOISE = (Verdict.WORSE, Verdict.BETTER, Verdict.CHANGED)
MOST_NAMED = 12  # groups in a cell
_LEAST_WIDTH = 3  # columns of the table of changes of one version


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

    def list_changed(self, metric: Metric) -> set[str]:
        """Return the groups that changed beyond noise in any version."""
        judged = (self.changes.get((metric.id, version), {}) for version in self.versions)
        return {name for item in judged for name, change in item.items() if change.judgement.verdict in BEYOND_NOISE}


NO_CHANGES = GroupChanges(0.0, (), {})


def build_changes_table(metrics: Sequence[Metric], column: str, spreads: Spreads, changes: GroupChanges) -> Table:
    """Return the table of groups that changed beyond noise: a row for each metric, version and verdict."""
    several = len(changes.versions) > 1
    rows = []
    for metric in metrics:
        for version in changes.versions:
            judged = changes.changes.get((metric.id, version), {})
            for verdict in BEYOND_NOISE:
                changed = [(name, item) for name, item in judged.items() if item.judgement.verdict is verdict]
                if changed:
                    run = (_label_version(version, spreads[metric.id]),) if several else ()
                    rows.append((metric.name, *run, f"{len(changed)} of {len(judged)} {verdict}", _join(changed)))
    header = ("metric", *(("run",) if several else ()), "verdict", f"{column}, change")
    return Table(f"Changed beyond noise by {column}", header, tuple(rows))


def describe_changes(metrics: Sequence[Metric], column: str, table: Table, changes: GroupChanges) -> Iterator[str]:
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
    phrases = (f"{row[0]}{f' ({row[1]})' if len(row) > _LEAST_WIDTH else ''}: {row[-2]}" for row in table.rows)
    if table.rows:
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
