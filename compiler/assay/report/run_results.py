"""Hold the results of a report's runs, and format labels, manifest cells and chart points from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.lang.checked_package import CheckedPackage, MeasureResult
from assay.lang.editions import FORMER_ROW
from assay.lang.formula import is_formula
from assay.lang.model.filters import FilterSource
from assay.lang.model.package import Constant, Metric
from assay.lang.model.parts import get_group_name
from assay.lang.model.report import ManifestRow, Report
from assay.lang.time_format import format_instant
from assay.number_styles.cell_text import print_number, print_value
from assay.number_styles.chart_points import HostSpread, PointKind, format_centile, format_host_point, format_point
from assay.number_styles.exact_decimal import format_exact
from assay.number_styles.prefixed import format_whole_row
from assay.number_styles.registry import Style
from assay.number_styles.row import NO_VALUE, Centile, Distribution, Row, RunResults
from assay.number_styles.run_parameter_cells import format_styled_cell
from assay.quality.finding import UNMEASURED, RunQuality
from assay.util.escape import normalize_text, shorten

LABEL_AND_ID = "{name} ({id})"  # the names of runs that share a label
OWN_NAME = "Name in the data"  # the row with what runs call themselves


@dataclass(frozen=True, slots=True)
class RunPhase:
    """A phase of a run: from an instant to just before another, in ns since 1970 (None: open)."""

    run: str
    name: str
    since: int | None
    until: int | None


@dataclass(frozen=True, slots=True)
class RunFigures:
    """A run of a report, or a phase of one, with its results; `hosts` is their number, `day` the last day.

    `version` is the name of the version of one of several runs. `explained` are the metrics without samples that notes
    name. `start` and `end` are the instants of the first and last record in ns; None if no record has a time. If the
    user named the run, its version or id is this name.
    """

    id: str
    constants: Mapping[str, object]
    results: RunResults
    hosts: int
    notes: tuple[str, ...] = ()
    day: str = ""
    phase: RunPhase | None = None
    quality: RunQuality = UNMEASURED
    version: str = ""
    explained: frozenset[str] = frozenset()
    start: int | None = None
    end: int | None = None
    is_named: bool = False

    @property
    def name(self) -> str:
        """The name of the version, if it has several runs, else the id of the run; a phase has that of its run."""
        return self.phase.run if self.phase else self.version or self.id

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings of the run, as the part Warnings has them."""
        return (*self.notes, *self.results.warnings, *self.results.notes)


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a report: number style, summary, filters as texts, date, title, author.

    `at` and `phases` are the instants and phases as written on the command line, `margin` is that of judgements. With
    `measures_noise`, the report is on the noise between its runs. `columns` are the statistics that every section shows
    besides averages (empty: those of its own), `details` the metrics with a part of their own, `by`
    the column of the part that shows metrics by its values. `filter_files` are the files that filters were read from.
    `edition` is the name of that of the report.
    """

    style: str
    summary: str
    filters: tuple[str, ...]
    date: str
    title: str = ""
    author: str = ""
    at: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    margin: str = ""
    measures_noise: bool = False
    columns: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    by: str = ""
    filter_files: tuple[FilterSource, ...] = ()
    edition: str = ""


def label_runs(report: Report, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """Return the label of each run in headings, shortened: the user's name, else its label constant.

    A label constant that is the label of another run, too, has the id of its run behind it.
    Phases of the only run are called by their names, phases of several runs by run and name: `v1 (after)`.
    In a report with groups of runs, labels are `GROUP: LABEL`.
    """
    names = [get_group_name(run.id) if report.groups else "" for run in runs]
    labels = dict[int, str]()
    for name in dict.fromkeys(names):
        indexes = [index for index, item in enumerate(names) if item == name]
        group_labels = label_group_runs(report, name, [runs[index] for index in indexes])
        labels |= zip(indexes, (f"{name}: {label}" if name else label for label in group_labels), strict=True)
    return tuple(labels[index] for index in range(len(runs)))


def label_group_runs(report: Report, group: str, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """Return the label of each run or phase of a group, as `label_runs` does; names are without the group."""
    group_runs = [_leave_out_group(run, group) for run in runs]
    labels = [shorten(label) for label in list_full_labels(report.label, group_runs)]
    return make_labels_unique(labels, group_runs, LABEL_AND_ID)


def list_version_labels(report: Report, runs: Sequence[RunFigures]) -> list[str]:
    """Return the label of the version of each run, shortened; in a report with groups of runs, `GROUP: LABEL`."""
    groups = [get_group_name(run.id) if report.groups else "" for run in runs]
    labels = (name_run(report, run) for run in runs)
    return [f"{group}: {label}" if group else label for group, label in zip(groups, labels, strict=True)]


def name_run(report: Report, run: RunFigures) -> str:
    """Return the user's name of a run without its group, else its label constant."""
    group_run = _leave_out_group(run, get_group_name(run.id) if report.groups else "")
    return shorten(*list_full_labels(report.label, [group_run]))


def are_renamed(report: Report, runs: Sequence[RunFigures]) -> bool:
    """Return whether the user calls a run otherwise than it calls itself."""
    return [name_run(report, run) for run in runs] != list(map(shorten, list_own_names(report.label, runs)))


def _leave_out_group(run: RunFigures, group: str) -> RunFigures:
    prefix = f"{group}:" if group else ""
    phase = run.phase and replace(run.phase, run=run.phase.run.removeprefix(prefix))
    return replace(run, id=run.id.removeprefix(prefix), version=run.version.removeprefix(prefix), phase=phase)


def list_full_labels(constant: str, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """Return the user's name of each run, else the text of its label constant; long ones whole."""
    own_names = list_own_names(constant, runs)
    return tuple(normalize_text(run.name) if run.is_named else name for run, name in zip(runs, own_names, strict=True))


def list_own_names(constant: str, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """Return what each run calls itself: the text of its label constant; without one, its name."""
    return tuple(normalize_text(str(run.constants[constant]) if constant else run.name) for run in runs)


def make_labels_unique(
    run_labels: Sequence[str], runs: Sequence[RunFigures], shared_label_format: str
) -> tuple[str, ...]:
    """Return unique names of runs and of their phases.

    Runs that share a label are named by `shared_label_format`, which has placeholders for name and id. Several runs of
    a version are numbered: `10.5 (1)`, `10.5 (2)`.
    """
    unique_names = name_versions(run_labels, runs, shared_label_format)
    if any(run.version for run in runs):
        counts: Counter[str] = Counter()
        names = {}
        for run in runs:
            counts[run.name] += 1
            label = unique_names[run.name]
            names[run.id] = f"{label} ({counts[run.name]})" if run.version else label
        chosen_ids = {run.id for run in runs if run.is_named and not run.version}
        return tuple(_make_names_unique(names, shared_label_format, chosen_ids).values())
    is_only_run = len(unique_names) == 1
    return tuple(
        unique_names[run.name]
        if not run.phase
        else run.phase.name
        if is_only_run
        else _label_phase(unique_names[run.name], run.phase.name)
        for run in runs
    )


def name_versions(
    run_labels: Sequence[str], runs: Sequence[RunFigures], shared_label_format: str = LABEL_AND_ID
) -> dict[str, str]:
    """Return the unique names of versions by id: the label that all runs of a version share, else its id.

    A run that is no repeat, or that is cut into phases, is a version by itself.
    """
    labels: dict[str, set[str]] = {}
    for run, label in zip(runs, run_labels, strict=True):
        labels.setdefault(run.name, set()).add(label)
    names = {id_: min(shared) if len(shared) == 1 else id_ for id_, shared in labels.items()}
    return _make_names_unique(names, shared_label_format, {run.name for run in runs if run.is_named})


def _make_names_unique(
    names: Mapping[str, str], shared_label_format: str, chosen_ids: Collection[str]
) -> dict[str, str]:
    """Return unique names by run id.

    Apply `shared_label_format` to names that are shared or collide with the result. Those of `chosen_ids` change only
    if they still collide with each other.
    """
    extended: set[str] = set()
    while True:
        unique_names = {
            id_: shared_label_format.format(name=name, id=id_) if id_ in extended else name
            for id_, name in names.items()
        }
        name_counts = Counter(unique_names.values())
        colliding = {id_ for id_, name in unique_names.items() if name_counts[name] > 1} - extended
        if not colliding:
            return unique_names
        extended |= colliding.difference(chosen_ids) or colliding


def _label_phase(run: str, phase: str) -> str:
    """Return the name of a phase of one of several runs.

    The phase is in brackets, because lists of labels are separated by commas.
    """
    return f"{run[:-1]}, {phase})" if run.endswith(")") else f"{run} ({phase})"


def list_phase_rows(runs: Sequence[RunFigures]) -> tuple[tuple[str, ...], ...]:
    """Return the begin and end of each phase as two table rows with a column for each phase; empty without phases."""
    if not any(run.phase for run in runs):
        return ()
    bounds = [(run.phase.since, run.phase.until) if run.phase else (None, None) for run in runs]
    return (
        ("From", *("beginning" if since is None else format_instant(since) for since, _ in bounds)),
        ("To", *("end" if until is None else format_instant(until) for _, until in bounds)),
    )


def get_average(run: RunFigures, metric: Metric, summary: str) -> float | None:
    """Return the average of a metric over a run, or the value of a formula over averages; None if there is none.

    A run of another group than the metric has no result of it.
    """
    if not has_result(run, metric):
        return None
    if is_formula(metric):
        return run.results.formulas[metric.id].averages[summary]
    distribution = run.results.metrics[metric.id]
    return distribution.averages[summary] if distribution.size else None


def has_result(run: RunFigures, metric: Metric) -> bool:
    """Return whether a metric was computed in a run."""
    return metric.id in (run.results.formulas if is_formula(metric) else run.results.metrics)


def format_metric_row(number_style: Style, metric: Metric, values: Sequence[float | None]) -> Row:
    """Return the texts of values in the unit of a row; whole numbers of things have no decimals."""
    is_number = metric.unit.name == "count" and metric.reduction is not None
    if is_number and number_style.has_unit_prefixes and all(value is None or value.is_integer() for value in values):
        return format_whole_row(values)
    return number_style.format_table_row(values, metric.width)


def add_unit(name: str, symbol: str) -> str:
    """Return the name of a metric with its unit: `Fetch duration, s`."""
    return f"{name}, {symbol}" if symbol else name


def format_run_parameter(row: ManifestRow, run: RunFigures, choices: Choices) -> str:
    """Return a cell of the manifest."""
    if row.built == "analysis date":
        return choices.date
    if row.built == FORMER_ROW:
        return NO_VALUE
    if row.built == "filters applied":
        return print_number(str(len(choices.filters)))
    if row.constant:
        value = run.constants[row.constant]
        if row.needs and not run.constants[row.needs]:
            value = ""
    else:
        value = run.results.relations[row.relation][row.column]
    assert value is None or isinstance(value, (str, int, float))
    return format_styled_cell(value, row.cell, choices.style)


def get_point_kind(measured: MeasureResult) -> PointKind:
    """Return how the chart points of a metric are written."""
    if not measured.integral:
        return PointKind.RATIO
    if measured.unit == "nanosecond":
        return PointKind.DURATION
    return PointKind.COUNT if measured.type == "unsigned" else PointKind.INTEGER


def format_chart_points(
    checked: CheckedPackage, metric: Metric, distribution: Distribution, summary: str
) -> list[list[str]]:
    """Return the points of a metric's chart as published, each number as text, cut to the metric's width.

    A point is centile and value; over hosts also least and greatest value, value minus and plus the deviation.
    """
    kind = get_point_kind(checked.measured[metric.id])
    has_reciprocal_points = next(item.reciprocal_points for item in checked.package.summaries if item.name == summary)
    return [
        [
            format_centile(item.centile),
            *_format_centile_point(kind, item, metric.width, distribution, has_reciprocal_points),
        ]
        for item in distribution.centiles
    ]


def _format_centile_point(
    kind: PointKind, item: Centile, width: int, distribution: Distribution, has_reciprocal_points: bool
) -> tuple[str, ...]:
    if item.low is None or item.high is None or item.deviation is None:
        return (format_point(kind, item.value, width),)
    deviation = item.deviation * distribution.factor.numerator / distribution.factor.denominator
    spread = HostSpread(item.value, item.low, item.high, deviation)
    return format_host_point(kind, spread, width, reciprocal_points=has_reciprocal_points)


def format_constant(constant: Constant, value: object) -> str:
    """Return a constant as tables and titles print it: durations in seconds, an empty text as a dash."""
    if constant.type == "duration" and isinstance(value, int):
        return print_number(format_exact(value, 9))
    return format_typed_value(constant.type, None if value == "" else value)


def format_typed_value(kind: str, value: object) -> str:
    """Return a value as tables print it: instants in UTC, booleans as yes or no, and a dash for None."""
    if value is None:
        return NO_VALUE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (
        format_instant(value)
        if kind == "instant" and isinstance(value, int)
        else print_value(value, shorten(str(value)))
    )
