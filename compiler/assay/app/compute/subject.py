"""Define the subjects of numbers: a metric, a formula, a series, or a column of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from assay.app.session import filters
from assay.app.session.session import Session
from assay.engine.compiled_plan import CompiledPlan, compile_plan
from assay.explain.wording import describe_formula
from assay.lang import formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Column, Metric, Package
from assay.lang.model.report import Cell, Report
from assay.lang.model.series import Series
from assay.lang.model.vocabulary import Unit
from assay.lang.segments import add_segments, get_whole, is_segment, list_dimensions, parse_segment
from assay.lineage import sample_query
from assay.number_styles.run_parameter_cells import format_styled_cell
from assay.plan.planner import AppliedFilter
from assay.plan.request import Request, RowRequest
from assay.report.glossary import get_column_id, get_row_id
from assay.report.run_results import format_typed_value
from assay.sql.expressions import build_placeholders
from assay.util.diagnostics import USAGE, AssayError, fail, suggest_names
from assay.util.escape import normalize_text


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """A request for samples of a subject.

    `compiled_plan` is the plan to query; `columns` are further columns to select; `since` and `until` are bounds in ns,
    `where` selects lines of a series.
    """

    compiled_plan: CompiledPlan
    columns: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    where: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Subject(ABC):
    """The subject of a number. Two subjects are equal if they are the same definition of the same package."""

    checked: CheckedPackage = field(compare=False, repr=False)

    kind: ClassVar[str] = "metric"
    noun: ClassVar[str] = "samples"  # plural of the values behind the number

    @property
    @abstractmethod
    def id(self) -> str:
        """The id that users know it by."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Its printed name or description."""

    @property
    @abstractmethod
    def unit(self) -> Unit:
        """The unit of its values."""

    @property
    def label(self) -> str:
        """The id, title and unit in one text."""
        return f"{self.id}: {self.title}" + (f", {self.unit.symbol}" if self.unit.symbol else "")

    @property
    def groups_by(self) -> str:
        """The column by whose values its samples form several distributions; empty if there is one."""
        return ""

    @property
    def definition(self) -> str:
        """The hash of its definition; empty if it has none."""
        return ""

    @property
    def formula_text(self) -> str:
        """The formula in words; empty if it is no formula."""
        return ""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics to compute for it."""
        return ()

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations to compute for it."""
        return ()

    @property
    def series(self) -> tuple[str, ...]:
        """The series to compute for it."""
        return ()

    @property
    def row_requests(self) -> tuple[RowRequest, ...]:
        """The rows to compute for it."""
        return ()

    @property
    def inputs(self) -> tuple[Subject, ...]:
        """The subjects with samples: itself or, for a formula, the measured metrics that it depends on."""
        return (self,)

    @property
    def report(self) -> Report | None:
        """The report that shows it and whose filters apply; None if filters do not apply to it."""
        return None

    def compile(self, applied_filters: Sequence[AppliedFilter], *, is_phase: bool = False) -> CompiledPlan:
        """Compile a plan of this subject alone; with `is_phase`, for a phase of a run."""
        return compile_plan(self.checked, self.request, applied_filters, cut=is_phase)

    @property
    def request(self) -> Request:
        """What is requested of a run to compute this subject alone."""
        return Request(self.metrics, self.relations, self.row_requests, self.series)

    def select_filters(self, names: Sequence[str], no_filters: bool) -> tuple[AppliedFilter, ...]:
        """Return the filters of these names, or those of the report that shows it."""
        return filters.parse_filters(self.checked.package, self.report, names, no_filters)

    @abstractmethod
    def build_sample_query(self, request: SampleRequest) -> sample_query.SampleQuery:
        """Return the query of its samples or rows."""

    @property
    def factor(self) -> Fraction:
        """The factor that converts values of the sample query to the unit."""
        return Fraction(1)


@dataclass(frozen=True)
class MetricSubject(Subject):
    """A metric that is measured on the rows of a grain."""

    metric: Metric

    @property
    def id(self) -> str:
        return self.metric.id

    @property
    def title(self) -> str:
        return self.metric.name

    @property
    def unit(self) -> Unit:
        return self.metric.unit

    @property
    def item(self) -> Metric:
        """The metric."""
        return self.metric

    @property
    def groups_by(self) -> str:
        return self.metric.per

    @property
    def definition(self) -> str:
        return self.checked.definitions[self.metric.id]

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (self.metric,)

    @property
    def report(self) -> Report | None:
        return find_report(self.checked.package, self.metric)

    def build_sample_query(self, request: SampleRequest) -> sample_query.SampleQuery:
        grain = next(item for item in self.checked.package.grains if item.name == self.metric.grain)
        constants = build_placeholders(
            item.name for source in self.checked.package.sources for item in source.constants
        )
        integral = self.checked.measured[self.metric.id].integral
        return sample_query.build_metric_query(self.metric, grain, integral, constants, request.columns)

    @property
    def factor(self) -> Fraction:
        return Fraction(self.checked.measured[self.metric.id].factor)


@dataclass(frozen=True)
class FormulaSubject(MetricSubject):
    """A metric that is computed from other metrics and has no samples of its own."""

    @property
    def formula_text(self) -> str:
        return describe_formula(self.metric)

    @property
    def inputs(self) -> tuple[Subject, ...]:
        measured_metrics = formula.list_measured(formula.index_metrics(self.checked.package), [self.metric])
        return tuple(MetricSubject(self.checked, metric) for metric in measured_metrics)


@dataclass(frozen=True)
class SeriesSubject(Subject):
    """A series: one value per step of each window."""

    series_definition: Series

    kind: ClassVar[str] = "series"
    noun: ClassVar[str] = "values"

    @property
    def id(self) -> str:
        return self.series_definition.name

    @property
    def title(self) -> str:
        return self.series_definition.doc

    @property
    def unit(self) -> Unit:
        return self.series_definition.unit

    @property
    def item(self) -> Series:
        """The series."""
        return self.series_definition

    @property
    def series(self) -> tuple[str, ...]:
        return (self.series_definition.name,)

    def build_sample_query(self, request: SampleRequest) -> sample_query.SampleQuery:
        step = next(item for item in request.compiled_plan.plan.series if item.name == self.series_definition.name)
        return sample_query.build_series_query(step, request.since, request.until, request.where)


@dataclass(frozen=True)
class ColumnSubject(Subject):
    """A column of a grain (`rows` requests its rows), or of a one-row relation that a manifest prints (`cell`)."""

    table: str
    column: Column
    rows: RowRequest | None = None
    cell: Cell | None = None

    kind: ClassVar[str] = "column"
    noun: ClassVar[str] = "values"

    @property
    def id(self) -> str:
        return f"{self.table}.{self.column.name}"

    @property
    def title(self) -> str:
        return self.column.doc

    @property
    def unit(self) -> Unit:
        return self.column.unit

    @property
    def relations(self) -> tuple[str, ...]:
        return () if self.rows else (self.table,)

    @property
    def row_requests(self) -> tuple[RowRequest, ...]:
        return (self.rows,) if self.rows else ()

    def build_sample_query(self, request: SampleRequest) -> sample_query.SampleQuery:
        grain = self.rows.grain if self.rows else None
        return sample_query.build_column_query(self.table, self.column.name, grain, request.columns)

    def format_value(self, value: object, style: str) -> str:
        """Format a value as tables print it in a number style."""
        if self.cell is None:
            return normalize_text(format_typed_value(self.column.type, value))
        number_or_text = value if isinstance(value, (int, float, str)) else None
        return normalize_text(format_styled_cell(number_or_text, self.cell, style))


def find_report(package: Package, metric: Metric) -> Report | None:
    """Return the report that shows a metric, or the package's first report if none does; of a segment, its metric's."""
    name = get_whole(metric.id)
    reports = (
        report for report in package.reports_over_runs
        if name in report.also
        or any(name in group.metrics for group in report.dictionary)
        or any(name in block.read_metrics() for block in report.blocks)
    )  # fmt: skip
    return next(reports, next(iter(package.reports_over_runs), None))


def list_subjects(checked: CheckedPackage) -> tuple[MetricSubject | SeriesSubject, ...]:
    """Return the metrics and series of a package, in the package's order."""
    metrics = (
        (FormulaSubject if formula.is_formula(item) else MetricSubject)(checked, item)
        for item in checked.package.metrics
    )
    return (*metrics, *(SeriesSubject(checked, item) for item in checked.package.series))


def list_cell_subjects(checked: CheckedPackage, report: Report) -> dict[str, Subject]:
    """Return the subjects that cells of a report may link to, by the ids of glossary entries."""
    subjects: dict[str, Subject] = dict(_list_columns(checked))
    subjects |= _list_manifest_columns(checked, checked.package, report)
    subjects |= {item.name: SeriesSubject(checked, item) for item in checked.package.series}
    return subjects | {item.id: item for item in list_subjects(checked) if isinstance(item, MetricSubject)}


def _list_columns(checked: CheckedPackage) -> Iterator[tuple[str, Subject]]:
    for grain in checked.package.grains:
        for column in grain.all_columns:
            rows = RowRequest(grain, tuple(dict.fromkeys((*grain.key, column.name))), ())
            yield get_column_id(grain.name, column.name), ColumnSubject(checked, grain.name, column, rows)


def _list_manifest_columns(checked: CheckedPackage, package: Package, report: Report) -> dict[str, Subject]:
    columns = {(relation.name, column.name): column for relation in package.relations for column in relation.columns}
    return {
        get_row_id(row): ColumnSubject(checked, row.relation, columns[row.relation, row.column], cell=row.cell)
        for row in report.manifest
        if (row.relation, row.column) in columns
    }


def find_subject(session: Session, name: str, system: str | None) -> MetricSubject | SeriesSubject:
    """Find a metric or series by its id, or by a printed name if that is unambiguous.

    Searches all systems, or the named one. `METRIC[DIMENSION=VALUE]` is a segment of a metric. Raises AssayError
    (usage) if there is no match, or several.
    """
    if is_segment(name):
        return _find_segment(session, name, system)
    subjects = [
        item
        for system_name in session.list_systems(system)
        for item in list_subjects(session.load_package(system_name))
    ]
    matches = [item for item in subjects if item.id == name] or [
        item for item in subjects if _get_printed_name(item) == name
    ]
    if not matches:
        other_systems = _list_systems_with(session, name, system) if system else []
        hint = (
            f"{' and '.join(f'`{system_name}`' for system_name in other_systems)} has it: pass --system NAME"
            if other_systems
            else suggest_names(name, [item.id for item in subjects])
        )
        raise fail("unknown-metric", f"there is no metric `{name}`", hint=hint, notes=session.list_workspace_notes(),
                   status=USAGE)  # fmt: skip
    if len(matches) > 1:
        raise _create_ambiguity_error(name, matches)
    return matches[0]


def _find_segment(session: Session, name: str, system: str | None) -> MetricSubject:
    """Return the segment of a metric. Raises AssayError (usage) if there is none."""
    whole, _, text = name[:-1].partition("[")
    subject = find_metric(session, whole, system)
    checked, metric = subject.checked, subject.metric
    dimensions = list_dimensions(checked.package, metric)
    try:
        parsed_segment = parse_segment(checked.package, metric, text)
    except ValueError as error:
        message = f"`{text}` selects no segment of `{metric.id}`"
        raise fail("segment", message, expected=str(error), status=USAGE) from None
    unknown_names = [item for item in parsed_segment.by if item not in dimensions]
    if unknown_names:
        raise fail(
            "unknown-dimension",
            f"`{metric.id}` has no dimension `{unknown_names[0]}`",
            expected=", ".join(dimensions) or "a metric whose grain has `dimensions`",
            hint=suggest_names(unknown_names[0], dimensions) if dimensions else "",
            status=USAGE,
        )
    split_package = add_segments(checked, [parsed_segment])
    (segment_id,) = parsed_segment.list_segments(metric.id)
    kind = FormulaSubject if formula.is_formula(metric) else MetricSubject
    return kind(split_package, split_package.get_metric(segment_id))


def find_metric(session: Session, name: str, system: str | None) -> MetricSubject:
    """Find a metric by its id or printed name, as `find_subject` does.

    Raises AssayError (usage) also if the name is that of a series.
    """
    subject = find_subject(session, name, system)
    if isinstance(subject, MetricSubject):
        return subject
    hint = f"run `assay explain {subject.id} --run DIR` for its values in a run"
    message = f"`{name}` is a series, not a metric: it has no samples"
    raise fail("not-a-metric", message, hint=hint, status=USAGE)


def _get_printed_name(subject: MetricSubject | SeriesSubject) -> str:
    return subject.metric.name if isinstance(subject, MetricSubject) else subject.id


def _list_systems_with(session: Session, name: str, system: str) -> list[str]:
    """Return the other systems with a metric or series of this name; systems with invalid specs are skipped."""
    systems = []
    for candidate in session.workspace.list_systems():
        with suppress(AssayError):
            if candidate != system and any(
                name in (item.id, _get_printed_name(item)) for item in list_subjects(session.load_package(candidate))
            ):
                systems.append(candidate)
    return systems


def _create_ambiguity_error(name: str, matches: Sequence[Subject]) -> AssayError:
    systems = list(dict.fromkeys(item.checked.package.system for item in matches))
    ids = list(dict.fromkeys(item.id for item in matches))
    if len(systems) > 1:
        names_text = " and ".join(f"`{item}`" for item in systems)
        return fail("ambiguous-metric", f"`{name}` is a metric of {names_text}", hint="pass --system NAME",
                    status=USAGE)  # fmt: skip
    names_text = ", ".join(f"`{item}`" for item in ids)
    return fail(
        "ambiguous-metric",
        f"`{name}` is the name of several metrics",
        found=names_text,
        hint="use an id instead",
        status=USAGE,
    )
