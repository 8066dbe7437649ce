"""Find where the changes of metrics come from: hosts, values of dimensions, their shares, and times of the run.

Hosts and times are in the cells that verdicts need anyway. Those by dimensions are one query for each grain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.app.compute.computation import Computation
from assay.app.judge.judging import JudgedVersion, build_run_cells, has_clusters, measure_version
from assay.app.judge.mixes import Calculate
from assay.app.judge.repeats import list_versions, split_calibration
from assay.judgement.batches import Cell, RunCells
from assay.judgement.focus import Column, FocusTable, Rules, ValueFocus, can_have_foci, find_foci
from assay.judgement.gate import Key
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.split_change import PartValue, split_by_cluster, split_by_values
from assay.judgement.verdict import Direction, Judgement
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.lang.segments import is_segment, list_dimensions, name_segment
from assay.plan.request import Request
from assay.plan.value_request import DividedCells
from assay.report.declared_margin import get_whole_of_share
from assay.report.group_changes import GroupChanges
from assay.sql.divided_cells import MOST_VALUES

_MOST_METRICS = 3  # of a version that are divided


@dataclass(frozen=True, slots=True)
class _Subject:
    """A change to divide: its metric, its versions, and the verdict on all samples."""

    metric: Metric
    base: JudgedVersion
    other: JudgedVersion
    averages: tuple[Fraction, Fraction]
    judgement: Judgement
    rules: Rules
    metrics: int

    @property
    def key(self) -> Key:
        """The id of the metric and that of the version."""
        return self.metric.id, self.other.id


def locate_report_changes(
    checked: CheckedPackage,
    judgements: ReportJudgements,
    computation: Computation,
    summary: str,
    calculate: Calculate,
    by_value: GroupChanges,
) -> dict[Key, FocusTable]:
    """Return where the changes of a report come from, as far as the verdicts in its tables agree with that.

    Tables judge hosts and segments over places of their own, so that an interval may reach a margin there only.
    """
    compared, _ = split_calibration(computation)
    tables = locate_changes(checked, judgements, list_versions(compared.columns), summary, calculate)

    def agrees(key: Key, focus: ValueFocus) -> bool:
        segment = name_segment(key[0], (focus.column,), (focus.value,)), key[1]
        printed = judgements.changes.get(segment) or by_value.changes.get(key, {}).get(str(focus.value))
        return printed is None or printed.judgement.verdict is focus.judgement.verdict

    return {
        key: replace(table, values=tuple(item for item in table.values if agrees(key, item)))
        for key, table in tables.items()
    }


def locate_changes(
    checked: CheckedPackage,
    judgements: ReportJudgements,
    versions: Sequence[JudgedVersion],
    summary: str,
    calculate: Calculate,
    names: Sequence[str] = (),
) -> dict[Key, FocusTable]:
    """Return where changes come from, of the metrics with these names, or of those of a report that changed most.

    `versions` have the cells of the metrics; `calculate` computes metrics over their runs.
    """
    subjects: list[_Subject] = []
    for version in versions[1:]:
        pair = versions[0], version
        listed = [_create_subject(checked, judgements, pair, name, summary) for name in names]
        subjects += [item for item in listed if item] if names else _choose_subjects(checked, judgements, pair, summary)
    if not subjects:
        return {}
    columns = _list_columns(checked, subjects, summary, calculate)
    tables = {
        item.key: find_foci(item.other.id, item.averages, item.judgement, columns[item.key], item.rules, item.metrics)
        for item in subjects
    }
    return _add_times(checked, tables, calculate)


def _choose_subjects(
    checked: CheckedPackage, judgements: ReportJudgements, pair: tuple[JudgedVersion, JudgedVersion], summary: str
) -> list[_Subject]:
    """Return the changes of a version to divide: gated and certain ones first, then the largest."""
    candidates = [
        (_rank(judgements, name, change), name)
        for (name, version), change in judgements.changes.items()
        if version == pair[1].id and change.equal_to in ("", name) and _is_candidate(change)
    ]
    subjects: list[_Subject] = []
    undecided = sum(not rank[0] for rank, _ in candidates)
    for _, name in sorted(candidates):
        subject = _create_subject(checked, judgements, pair, name, summary)
        if subject and len(subjects) < _MOST_METRICS:
            is_certain = subject.judgement.is_certain
            subjects.append(replace(subject, metrics=1 if is_certain else max(1, undecided)))
    return subjects


def _is_candidate(change: JudgedChange) -> bool:
    """Return whether a change may have a focus: it is certain, of other things, or too uneven to tell."""
    if change.averages is None or change.is_by_itself:
        return False
    base, value = change.averages
    is_large = abs(value - base) > change.margin.convert_to_amount(base)
    return is_large and (bool(change.mix) or can_have_foci(change.judgement))


def _rank(judgements: ReportJudgements, name: str, change: JudgedChange) -> tuple[bool, bool, float]:
    """Return the sort key of a change: certain ones first, then those of the gate, then the largest."""
    base, value = change.averages or (0.0, 0.0)
    size = abs(value / base - 1) if base else 0.0
    return not change.judgement.is_certain, name not in judgements.gated, -size


def _create_subject(
    checked: CheckedPackage,
    judgements: ReportJudgements,
    pair: tuple[JudgedVersion, JudgedVersion],
    name: str,
    summary: str,
) -> _Subject | None:
    """Return the change of a metric; None without one, and without cells of its samples."""
    change, metric = judgements.changes.get((name, pair[1].id)), checked.get_metric(name)
    if change is None or is_formula(metric) or is_segment(name):
        return None
    base, other = (measure_version(checked, metric, version.runs, summary) for version in pair)
    if not base.runs or not other.runs:
        return None
    direction = Direction(metric.better)
    rules = Rules(change.margin, direction, judgements.level, metric.exact, get_whole_of_share(metric))
    judgement = rules.judge(base, other) if change.mix else change.judgement
    return _Subject(metric, *pair, (base.mean, other.mean), judgement, rules, 1)


def _list_columns(
    checked: CheckedPackage, subjects: Sequence[_Subject], summary: str, calculate: Calculate
) -> dict[Key, tuple[Column, ...]]:
    """Return the values of hosts and dimensions in the samples of each change."""
    metrics = {item.metric.id: item.metric for item in subjects}
    groups: defaultdict[tuple[str, str, tuple[str, ...]], list[Metric]] = defaultdict(list)
    for metric in metrics.values():
        if dimensions := _list_dimensions(checked, metric):
            groups[metric.grain, metric.per or "", dimensions].append(metric)
    requests = [DividedCells(tuple(group), columns) for (_, _, columns), group in groups.items()]
    rows = _read_rows(checked, requests, calculate)
    by_metric = {metric.id: request for request in requests for metric in request.metrics}
    listed = {}
    for item in subjects:
        cluster = next(grain.cluster for grain in checked.package.grains if grain.name == item.metric.grain)
        versions = [
            [build_run_cells(checked, item.metric, run.cells[item.metric.id], summary) for run in version.runs]
            for version in (item.base, item.other)
        ]
        base, other = (tuple(map(split_by_cluster, runs)) for runs in versions)
        is_cluster = not item.metric.per or has_clusters(checked, item.metric)
        columns = [Column(item.metric.per or cluster, base, other, is_cluster=is_cluster)]
        if request := by_metric.get(item.metric.id):
            tables = [rows[request.name, version.id] for version in (item.base, item.other)]
            columns += _divide(checked, item.metric, request.columns, versions, tables)
        listed[item.key] = tuple(columns)
    return listed


_Rows = Sequence[Mapping[str, object]]


def _read_rows(
    checked: CheckedPackage, requests: Sequence[DividedCells], calculate: Calculate
) -> dict[tuple[str, str], list[_Rows]]:
    """Return the rows of requests in the runs of each version."""
    if not requests:
        return {}
    compared, _ = split_calibration(calculate(checked, Request(divided=tuple(requests))))
    return {
        (request.name, version.id): [run.rows[request.name] for run in version.runs]
        for version in list_versions(compared.columns)
        for request in requests
    }


def _list_dimensions(checked: CheckedPackage, metric: Metric) -> tuple[str, ...]:
    """Return the dimensions by which samples can be divided: of a reduction, those by which it reduces rows."""
    cluster = next(grain.cluster for grain in checked.package.grains if grain.name == metric.grain)
    names = (name for name in list_dimensions(checked.package, metric) if name not in (cluster, metric.per))
    return tuple(name for name in names if metric.reduction is None or name in metric.reduction.by)


def _divide(
    checked: CheckedPackage,
    metric: Metric,
    columns: Sequence[str],
    versions: Sequence[Sequence[RunCells]],
    tables: Sequence[Sequence[_Rows]],
) -> list[Column]:
    """Return the values of dimensions in the runs of two versions; those that are cut in a run must be in all."""
    factor = Fraction(checked.measured[metric.id].factor)
    parts: dict[tuple[int, int, int], dict[PartValue, list[Cell]]] = {}
    for side, results in enumerate(tables):
        for number, rows in enumerate(results):
            clusters = {cell.cluster for cell in versions[side][number].cells}
            for row in rows:
                if row["metric"] == metric.id and str(row["cluster"]) in clusters:
                    values = parts.setdefault((int(str(row["number"])), side, number), {})
                    value = None if row["value"] is None else str(row["value"])
                    values.setdefault(value, []).append(_read_cell(row, factor))
    numbers = [(side, number) for side in (0, 1) for number in range(len(versions[side]))]
    divided = []
    for index, name in enumerate(columns):
        by_run = {(side, number): parts.get((index, side, number), {}) for side, number in numbers}
        if not all(by_run.values()):
            continue
        if any(len(values) >= MOST_VALUES for values in by_run.values()):
            shared = set.intersection(*(set(values) for values in by_run.values()))
            by_run = {run: {value: values[value] for value in shared} for run, values in by_run.items()}
        base, other = (
            tuple(split_by_values(cells, by_run[side, number]) for number, cells in enumerate(versions[side]))
            for side in (0, 1)
        )
        divided.append(Column(name, base, other))
    return divided


def _read_cell(row: Mapping[str, object], factor: Fraction) -> Cell:
    place, total, size = (int(str(row[name])) for name in ("place", "total", "size"))
    return Cell(place, str(row["cluster"]), total * factor.numerator, size)


def _add_times(
    checked: CheckedPackage, tables: Mapping[Key, FocusTable], calculate: Calculate
) -> dict[Key, FocusTable]:
    """Return where changes come from with the times at which parts of the run begin and end."""
    requests = {key: DividedCells((checked.get_metric(key[0]),), ()) for key, table in tables.items() if table.time}
    rows = _read_rows(checked, list(dict.fromkeys(requests.values())), calculate)
    timed = {}
    for key, request in requests.items():
        table, (run, *_) = tables[key], rows[request.name, key[1]]
        assert table.time
        starts = {int(str(row["place"])): int(str(row["since"])) for row in run if row["since"] is not None}
        places, time = max(starts, default=0) + 1, table.time
        batches = (time.first, time.last + 1)
        located = (
            min((start for place, start in starts.items() if place * time.batches // places >= batch), default=None)
            if 0 < batch < time.batches else None
            for batch in batches
        )  # fmt: skip
        begin, end = located
        extent = min(starts.values(), default=0), max(starts.values(), default=0)
        timed[key] = replace(table, time=replace(time, edges=(begin, end), extent=extent))
    return {**tables, **timed}
