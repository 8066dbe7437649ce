"""Draw the changes of many hosts (or other values of a column) in one figure: host x metric, the worst host first."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from assay.judgement.report_judgements import JudgedChange
from assay.judgement.verdict import Verdict
from assay.lang.model.package import Metric
from assay.number_styles.prefixed import format_percent_change
from assay.report.document import Plot
from assay.report.group_changes import BEYOND_NOISE, GroupChanges
from assay.util.escape import escape_text, shorten_middle
from assay.util.numbers import split_numbers

TEMPLATE = "heat-map"  # chart template
COLUMNS = ("x", "y", "verdict", "strength", "text")
MOST_ROWS = 50  # hosts of a figure
MOST_COLUMNS = 40  # metrics of a figure
_MOST_TEXTS = 12  # metrics beside each other whose cells have room for a text
_MOST_LETTERS = 26  # of a name beside the figure
_OPEN = "other"  # verdict of a cell without a certain change
_BY_ITSELF, _CERTAIN = 0.3, 0.8  # strengths of colours: of a change that chance may make, and the least of another one
_FULL = 100.0  # change in percent, from which on a colour is at its strongest

Judged = Mapping[str, Mapping[str, JudgedChange]]  # metric id -> value of the column -> its change
Row = tuple[str, str, str, float, str | None]


def draw_heat_maps(
    column: str, metrics: Sequence[Metric], changes: GroupChanges, labels: Mapping[str, str], first_figure: int
) -> tuple[Plot, ...]:
    """Return a figure for each version after the first in which a value changed; none if only one metric is judged.

    Values that did not change beyond noise are left out. `labels` are those of versions by their ids; figures are
    numbered from `first_figure` on.
    """
    plots: list[Plot] = []
    for version in changes.versions:
        judged = {
            item.id: changes.changes[item.id, version] for item in metrics if (item.id, version) in changes.changes
        }
        if len(judged) > 1 and any(map(_is_changed, itertools.chain(*(item.values() for item in judged.values())))):
            name = labels.get(version, version) if len(changes.versions) > 1 else ""
            plots.append(_draw_version(column, metrics, judged, name, first_figure + len(plots)))
    return tuple(plots)


def describe_heat_maps(column: str) -> Iterator[str]:
    """Yield what the figures show."""
    yield (
        f"The first figure has a row for each {column} that changed: first those with most metrics certainly worse,"
        " then those with the greatest changes. A coloured cell changed beyond noise; it is pale if that may be chance"
        " among so many."
    )


def _draw_version(column: str, metrics: Sequence[Metric], judged: Judged, label: str, number: int) -> Plot:
    ranked = _rank_metrics(metrics, judged)
    values = _rank_values(judged)
    changed = [
        item for item in values if any(_is_changed(changes[item]) for changes in judged.values() if item in changes)
    ]
    drawn, rows = ranked[:MOST_COLUMNS], changed[:MOST_ROWS]
    names, value_names = _name_uniquely([item.name for item in drawn]), _name_uniquely(rows)
    has_texts = len(drawn) <= _MOST_TEXTS
    cells = tuple(
        _build_cell(name, value_name, change, has_text=has_texts)
        for value, value_name in zip(rows, value_names, strict=True)
        for metric, name in zip(drawn, names, strict=True)
        if (change := judged[metric.id].get(value))
    )
    of_version = f" in {escape_text(label)}" if label else ""
    return Plot(
        f"by-{column}-changes-{number}",
        number,
        f"Changes by {column}{of_version}, the worst first{_describe_rest(column, (changed, values), ranked)}",
        "",
        f"Changes of {len(drawn)} metrics by {column}{of_version}: {_describe_worst(judged, rows)}.",
        TEMPLATE,
        COLUMNS,
        cells,
        tuple(names),
        cases=tuple(value_names),
        x_label="metric",
        y_label=column,
    )


def _describe_rest(column: str, values: tuple[Sequence[str], Sequence[str]], metrics: Sequence[Metric]) -> str:
    """Return what is not drawn, for the title of a figure; `values` are those that changed, and all."""
    changed, judged = map(len, values)
    rests = [f"{MOST_ROWS} of the {changed} of {judged} {column}s that changed"] if changed > MOST_ROWS else []
    if not rests and changed < judged:
        rests = [f"{changed} of {judged} {column}s; the others did not change beyond noise"]
    rests += [f"{MOST_COLUMNS} of {len(metrics)} metrics"] if len(metrics) > MOST_COLUMNS else []
    return f" ({'; '.join(rests)})" if rests else ""


def _describe_worst(judged: Judged, values: Sequence[str]) -> str:
    """Return the number of cells with each verdict, and the first value."""
    counts = Counter(change.judgement.verdict for item in judged.values() for change in item.values())
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in BEYOND_NOISE if counts[verdict])
    return f"{listed}; first is {escape_text(values[0])}" if listed else "none beyond noise"


def _rank_values(judged: Judged) -> list[str]:
    """Return the values of the column: those with most metrics certainly worse first, then by the greatest change."""
    values = {value for item in judged.values() for value in item}
    columns = {value: [item[value] for item in judged.values() if value in item] for value in values}

    def rank(value: str) -> tuple[object, ...]:
        changes = columns[value]
        counts = (_count(changes, [verdict], certain) for certain in (True, False) for verdict in BEYOND_NOISE)
        greatest = max((abs(_get_percent(item)) for item in changes if _is_changed(item)), default=0.0)
        return (*(-count for count in counts), -greatest, split_numbers(value))

    return sorted(values, key=rank)


def _rank_metrics(metrics: Sequence[Metric], judged: Judged) -> list[Metric]:
    """Return the judged metrics: those that changed for most values first, then in the order of the report."""
    of_report = [item for item in metrics if item.id in judged]

    def rank(metric: Metric) -> tuple[int, int]:
        changes = list(judged[metric.id].values())
        return -_count(changes, BEYOND_NOISE, True), -_count(changes, BEYOND_NOISE, False)

    return sorted(of_report, key=rank)


def _count(changes: Sequence[JudgedChange], verdicts: Collection[Verdict], is_certain: bool) -> int:
    """Count changes with some verdicts, those by itself apart."""
    return sum(item.judgement.verdict in verdicts and item.is_by_itself is not is_certain for item in changes)


def _is_changed(change: JudgedChange) -> bool:
    return change.judgement.verdict in BEYOND_NOISE


def _get_percent(change: JudgedChange) -> float:
    comparison = change.judgement.comparison
    return comparison.percent.value if comparison and comparison.percent else _FULL


def _build_cell(name: str, value_name: str, change: JudgedChange, *, has_text: bool) -> Row:
    comparison = change.judgement.comparison
    text = f"{format_percent_change(comparison.percent.value)} %" if comparison and comparison.percent else ""
    if not _is_changed(change):
        return name, value_name, _OPEN, 1.0, None
    size = min(abs(_get_percent(change)) / _FULL, 1.0)
    strength = _BY_ITSELF if change.is_by_itself else round(_CERTAIN + (1 - _CERTAIN) * size, 2)
    return name, value_name, change.judgement.verdict.value, strength, text if has_text else None


def _name_uniquely(names: Sequence[str]) -> list[str]:
    """Return names that fit beside the figure; those that are then alike have numbers."""
    return list(_iter_names([shorten_middle(escape_text(name), _MOST_LETTERS) for name in names]))


def _iter_names(texts: Sequence[str]) -> Iterator[str]:
    for index, text in enumerate(texts):
        count = texts[:index].count(text)
        yield f"{text} ({count + 1})" if count else text
