"""What a report knows of its runs, and the texts that follow from it: labels, manifest cells, chart points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.lang.checked_package import CheckedPackage, MeasureResult
from assay.lang.formula import is_formula
from assay.lang.model.package import Constant, Metric
from assay.lang.model.report import ManifestRow, Report
from assay.lang.time_format import format_instant
from assay.report.data_quality import UNMEASURED, RunQuality
from assay.styles.exact_decimal import format_exact
from assay.styles.manifest_cells import format_manifest_cell
from assay.styles.points import HostSpread, PointKind, format_centile, format_host_point, format_point
from assay.styles.row import NO_VALUE, Centile, Distribution, RunResults
from assay.util.escape import normalize_text, shorten

LABEL_AND_ID = "{name} ({id})"  # what runs that share a label are called


@dataclass(frozen=True, slots=True)
class RunPhase:
    """Which phase of which run: from an instant to just before another, in ns since 1970 (None: open there)."""

    run: str
    name: str
    since: int | None
    until: int | None


@dataclass(frozen=True, slots=True)
class RunFigures:
    """A run of a report, or a phase of one: its id (unique), constants, results, number of hosts, last day, and how
    complete its data are."""

    id: str
    constants: Mapping[str, object]
    results: RunResults
    hosts: int
    notes: tuple[str, ...] = ()
    day: str = ""
    phase: RunPhase | None = None
    quality: RunQuality = UNMEASURED


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user chose for a report: number style, summary, filters as texts, date, title, author; instants and
    phases as the command line has them."""

    style: str
    summary: str
    filters: tuple[str, ...]
    date: str
    title: str = ""
    author: str = ""
    at: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()


def label_runs(report: Report, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """What each run is called in headings: its label constant, with its id where two runs share one; a phase of the
    only run by its name, of several behind that of the run: `v1 (after)`.  Long labels are shortened."""
    return make_labels_unique([shorten(label) for label in list_full_labels(report.label, runs)], runs, LABEL_AND_ID)


def list_full_labels(constant: str, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """Return the text of each run's label constant, long ones whole."""
    return tuple(normalize_text(str(run.constants[constant])) for run in runs)


def make_labels_unique(
    run_labels: Sequence[str], runs: Sequence[RunFigures], shared_label_format: str
) -> tuple[str, ...]:
    """Names of runs, `shared_label_format` (with places for name and id) where two runs share one, and of their
    phases."""
    ids = [run.phase.run if run.phase else run.id for run in runs]
    unique_names = _make_names_unique(dict(zip(ids, run_labels, strict=True)), shared_label_format)
    is_only_run = len(unique_names) == 1
    return tuple(
        unique_names[id_]
        if not run.phase
        else run.phase.name
        if is_only_run
        else _label_phase(unique_names[id_], run.phase.name)
        for id_, run in zip(ids, runs, strict=True)
    )


def _make_names_unique(names: Mapping[str, str], shared_label_format: str) -> dict[str, str]:
    """What runs (by id) are called; those of a shared name `shared_label_format`, and also those whose name that then
    is."""
    shared: set[str] = set()
    while True:
        unique_names = {
            id_: shared_label_format.format(name=name, id=id_) if name in shared else name
            for id_, name in names.items()
        }
        name_counts = Counter(unique_names.values())
        new_shared_names = {names[id_] for id_, name in unique_names.items() if name_counts[name] > 1} - shared
        if not new_shared_names:
            return unique_names
        shared |= new_shared_names


def _label_phase(run: str, phase: str) -> str:
    """What a phase of one run among several is called: in brackets, for a comma stands between labels where these are
    listed."""
    return f"{run[:-1]}, {phase})" if run.endswith(")") else f"{run} ({phase})"


def list_phase_rows(runs: Sequence[RunFigures]) -> tuple[tuple[str, ...], ...]:
    """From when to when each phase is, as rows of a table with a column a phase; none without phases."""
    if not any(run.phase for run in runs):
        return ()
    bounds = [(run.phase.since, run.phase.until) if run.phase else (None, None) for run in runs]
    return (
        ("From", *("beginning" if since is None else format_instant(since) for since, _ in bounds)),
        ("To", *("end" if until is None else format_instant(until) for _, until in bounds)),
    )


def get_average(run: RunFigures, metric: Metric, summary: str) -> float | None:
    """A metric's average over a run, or what a formula comes to over such averages; None where it has no
    value, or no sample."""
    if is_formula(metric):
        return run.results.formulas[metric.id].averages[summary]
    distribution = run.results.metrics[metric.id]
    return distribution.averages[summary] if distribution.size else None


def add_unit(name: str, symbol: str) -> str:
    """A metric's name with its unit: `Fetch duration, s`."""
    return f"{name}, {symbol}" if symbol else name


def add_unit_if_missing(name: str, symbol: str) -> str:
    """The same, but for a name that says its unit: `Peers`."""
    return name if symbol.lower() == name.lower() else add_unit(name, symbol)


def format_run_parameter(row: ManifestRow, run: RunFigures, choices: Choices) -> str:
    """A cell of the manifest."""
    if row.built == "analysis date":
        return choices.date
    if row.built == "filters applied":
        return str(len(choices.filters))
    if row.constant:
        value = run.constants[row.constant]
        if row.needs and not run.constants[row.needs]:
            value = ""
    else:
        value = run.results.relations[row.relation][row.column]
    assert value is None or isinstance(value, (str, int, float))
    return format_manifest_cell(value, row.cell)


def get_point_kind(measured: MeasureResult) -> PointKind:
    """How a metric's chart points are written."""
    if not measured.integral:
        return PointKind.RATIO
    if measured.unit == "nanosecond":
        return PointKind.DURATION
    return PointKind.COUNT if measured.type == "unsigned" else PointKind.INTEGER


def format_chart_points(
    checked: CheckedPackage, metric: Metric, distribution: Distribution, summary: str
) -> list[list[str]]:
    """The points of a metric's chart as published: centile, value; over hosts also least, greatest, less and plus the
    deviation; every number a text cut to the metric's width."""
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
    """A constant as tables and titles print it: durations in seconds, others as any value; an empty text is none."""
    if constant.type == "duration" and isinstance(value, int):
        return format_exact(value, 9)
    return format_typed_value(constant.type, None if value == "" else value)


def format_typed_value(kind: str, value: object) -> str:
    """A value of a type as tables print it: instants in UTC, truth values in words, and a dash where there is none."""
    if value is None:
        return NO_VALUE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_instant(value) if kind == "instant" and isinstance(value, int) else shorten(str(value))
