"""What a report knows of its runs, and the texts that follow from it: labels, manifest cells, chart points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.lang.checked_package import CheckedPackage, Measured
from assay.lang.formula import is_formula
from assay.lang.model.package import Constant, Metric
from assay.lang.model.report import ManifestRow, Report
from assay.lang.time_format import format_instant
from assay.report.data_quality import UNMEASURED, RunQuality
from assay.styles.exact_decimal import exact_text
from assay.styles.manifest_cells import manifest_cell
from assay.styles.points import HostSpread, PointKind, centile_text, host_point_texts, point_text
from assay.styles.row import NO_VALUE, Centile, Distribution, RunResults
from assay.util.escape import normalize_text, shorten

LABEL_AND_ID = "{name} ({id})"  # what runs that share a label are called


@dataclass(frozen=True, slots=True)
class PhaseOf:
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
    phase: PhaseOf | None = None
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


def labels(report: Report, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """What each run is called in headings: its label constant, with its id where two runs share one; a phase of the
    only run by its name, of several behind that of the run: `v1 (after)`.  Long labels are shortened."""
    return told_apart([shorten(label) for label in whole_labels(report.label, runs)], runs, LABEL_AND_ID)


def whole_labels(constant: str, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """Return the text of each run's label constant, long ones whole."""
    return tuple(normalize_text(str(run.constants[constant])) for run in runs)


def told_apart(named: Sequence[str], runs: Sequence[RunFigures], otherwise: str) -> tuple[str, ...]:
    """Names of runs, `otherwise` (with places for name and id) where two runs share one, and of their phases."""
    ids = [run.phase.run if run.phase else run.id for run in runs]
    called = _each_its_own(dict(zip(ids, named, strict=True)), otherwise)
    alone = len(called) == 1
    return tuple(
        called[id_] if not run.phase else run.phase.name if alone else _of_phase(called[id_], run.phase.name)
        for id_, run in zip(ids, runs, strict=True)
    )


def _each_its_own(names: Mapping[str, str], otherwise: str) -> dict[str, str]:
    """What runs (by id) are called; those of a shared name `otherwise`, and also those whose name that then is."""
    shared: set[str] = set()
    while True:
        called = {id_: otherwise.format(name=name, id=id_) if name in shared else name for id_, name in names.items()}
        times = Counter(called.values())
        more = {names[id_] for id_, name in called.items() if times[name] > 1} - shared
        if not more:
            return called
        shared |= more


def _of_phase(run: str, phase: str) -> str:
    """What a phase of one run among several is called: in brackets, for a comma stands between labels where these are
    listed."""
    return f"{run[:-1]}, {phase})" if run.endswith(")") else f"{run} ({phase})"


def phase_rows(runs: Sequence[RunFigures]) -> tuple[tuple[str, ...], ...]:
    """From when to when each phase is, as rows of a table with a column a phase; none without phases."""
    if not any(run.phase for run in runs):
        return ()
    bounds = [(run.phase.since, run.phase.until) if run.phase else (None, None) for run in runs]
    return (
        ("From", *("beginning" if since is None else format_instant(since) for since, _ in bounds)),
        ("To", *("end" if until is None else format_instant(until) for _, until in bounds)),
    )


def average(run: RunFigures, metric: Metric, summary: str) -> float | None:
    """A metric's average over a run, or what a formula comes to over such averages; None where it has no
    value, or no sample."""
    if is_formula(metric):
        return run.results.formulas[metric.id].averages[summary]
    found = run.results.metrics[metric.id]
    return found.averages[summary] if found.size else None


def row_label(name: str, symbol: str) -> str:
    """A metric's name with its unit: `Fetch duration, s`."""
    return f"{name}, {symbol}" if symbol else name


def named_once(name: str, symbol: str) -> str:
    """The same, but for a name that says its unit: `Peers`."""
    return name if symbol.lower() == name.lower() else row_label(name, symbol)


def manifest_text(row: ManifestRow, run: RunFigures, choices: Choices) -> str:
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
    return manifest_cell(value, row.cell)


def point_kind(measured: Measured) -> PointKind:
    """How a metric's chart points are written."""
    if not measured.integral:
        return PointKind.RATIO
    if measured.unit == "nanosecond":
        return PointKind.DURATION
    return PointKind.COUNT if measured.type == "unsigned" else PointKind.INTEGER


def chart_points(checked: CheckedPackage, metric: Metric, found: Distribution, summary: str) -> list[list[str]]:
    """The points of a metric's chart as published: centile, value; over hosts also least, greatest, less and plus the
    deviation; every number a text cut to the metric's width."""
    kind = point_kind(checked.measured[metric.id])
    reciprocal = next(item.reciprocal_points for item in checked.package.summaries if item.name == summary)
    return [
        [centile_text(item.centile), *_point_texts(kind, item, metric.width, found, reciprocal)]
        for item in found.centiles
    ]


def _point_texts(kind: PointKind, item: Centile, width: int, found: Distribution, reciprocal: bool) -> tuple[str, ...]:
    if item.low is None or item.high is None or item.deviation is None:
        return (point_text(kind, item.value, width),)
    deviation = item.deviation * found.factor.numerator / found.factor.denominator
    spread = HostSpread(item.value, item.low, item.high, deviation)
    return host_point_texts(kind, spread, width, reciprocal_points=reciprocal)


def fact(constant: Constant, value: object) -> str:
    """A constant as tables and titles print it: durations in seconds, others as any value; an empty text is none."""
    if constant.type == "duration" and isinstance(value, int):
        return exact_text(value, 9)
    return value_text(constant.type, None if value == "" else value)


def value_text(kind: str, value: object) -> str:
    """A value of a type as tables print it: instants in UTC, truth values in words, and a dash where there is none."""
    if value is None:
        return NO_VALUE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_instant(value) if kind == "instant" and isinstance(value, int) else shorten(str(value))
