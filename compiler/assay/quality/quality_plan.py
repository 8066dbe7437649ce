"""Measure how complete the data of runs are, and which metrics lack samples because of it."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from sqlglot import exp

from assay.engine.compiled_plan import CompiledPlan
from assay.engine.connection import open_shared_cursor
from assay.engine.results import NO_SAMPLES, Formulas, RunResults, summarize_pooled
from assay.ingest.discovery import list_host_names
from assay.lang import dependencies, formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import HISTOGRAMS, Event, Metric, Package
from assay.lang.model.vocabulary import Coverage
from assay.lang.number_kinds import find_quantities
from assay.lang.quantities import UNSIGNED
from assay.lang.reserved_names import get_default_mark
from assay.lang.segments import get_whole, is_segment
from assay.lang.units import get_package_library
from assay.plan.planner import EventStep, GrainRowsStep, Plan, RelationStep, group_by_statement
from assay.quality.absent_hosts import find_absent_hosts
from assay.quality.assess import Assessment, Counts, Notice
from assay.quality.clock_steps import (
    find_clock_steps,
    get_clock_statement_name,
    list_clock_events,
)
from assay.quality.empty_metrics import EmptyMetrics, EmptyReasons
from assay.quality.extents import LogExtent, find_short_logs
from assay.quality.finding import Finding, RunQuality
from assay.quality.gaps import is_uneven
from assay.quality.growing_samples import build_growth_counts, find_growing_samples
from assay.quality.histogram_bounds import build_bound_counts, find_samples_above_bounds
from assay.quality.host_labels import list_source_hosts
from assay.quality.implausible_samples import find_implausible_samples, find_zero_samples, list_suspects
from assay.quality.negative_samples import find_negative_samples, list_impossible_metrics
from assay.quality.stray_lines import list_stray_findings
from assay.quality.times import Extents, build_time_statements, iter_gaps, read_extents
from assay.quality.unknown_names import count_unknown_records, iter_unknown_findings
from assay.quality.value_events import ValueEvents
from assay.runs.model import IngestedRun, RequiredFields
from assay.sql import completeness, dialect
from assay.sql.codegen import Statement
from assay.sql.completeness import name_count_statement, name_count_without_fallbacks
from assay.sql.dialect import build_column, build_scan
from assay.sql.expressions import build_placeholders
from assay.util.diagnostics import AssayError

#: Executes further statements over the run and returns their rows by statement name.
Counter = Callable[[Sequence[Statement]], Counts]


@dataclass(frozen=True)
class QualityPlan:
    """The statements that count records and rows next to the metrics of a plan, and their assessment, if any."""

    compiled_plan: CompiledPlan
    is_phase: bool = False
    is_assessed: bool = True

    @property
    def checked(self) -> CheckedPackage:
        """The checked package."""
        return self.compiled_plan.checked

    @property
    def plan(self) -> Plan:
        """The plan whose data are assessed."""
        return self.compiled_plan.plan

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of the plan."""
        return self.compiled_plan.statements

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The measured metrics: of the plan and its requested rows, without segments, whose rows are among theirs."""
        requested_metrics = (metric for item in self.plan.row_requests for metric in item.metrics)
        metrics = {metric.id: metric for metric in (*self.plan.metrics, *requested_metrics)}
        return tuple(metric for name, metric in metrics.items() if not is_segment(name))

    @cached_property
    def quantities(self) -> Mapping[str, str]:
        """What each measured metric measures, by id; empty if it may be anything."""
        return find_quantities(self.checked.package, self.metrics)

    @cached_property
    def bindings(self) -> tuple[completeness.KeyBinding, ...]:
        """The keys by which instants of the plan's grains are bound to events."""
        events = frozenset(step.name for step in self.plan.steps if isinstance(step, EventStep))
        package = self.checked.package
        bound = [name for grain in package.grains for name in {instant.of for instant in grain.instants}]
        exempt = {item.name for item in package.coverage if item.on_some_hosts}
        exclusive = frozenset(name for name in bound if bound.count(name) == 1) - exempt
        return tuple(
            binding
            for step in self.plan.steps
            if isinstance(step, GrainRowsStep) and not step.grain.runs
            for binding in completeness.list_key_bindings(step.grain, step.members, events, exclusive)
        )

    @cached_property
    def value_events(self) -> ValueEvents:
        """The events that values come from."""
        return ValueEvents(self.statements)

    @cached_property
    def counts(self) -> tuple[Statement, ...]:
        """The statements that count rows of metrics and unmatched keys; none if nothing is assessed."""
        if not self.is_assessed:
            return ()
        keys = ((item.name, completeness.count_unmatched(item, self._places)) for item in self.bindings)
        growth = build_growth_counts(self.checked.package, self.plan, self.metrics, self._places)
        rows = self._build_row_counts(self.metrics)
        bounds = build_bound_counts(self._measured_and_segments, self._places)
        return (*rows, *(Statement("count", name, query) for name, query in keys), *growth, *bounds)

    @property
    def _measured_and_segments(self) -> tuple[Metric, ...]:
        """The measured metrics and their segments: a segment may lie above bounds where its metric does not."""
        return (*self.metrics, *(item for item in self.plan.metrics if is_segment(item.id)))

    def _build_row_counts(self, metrics: Sequence[Metric]) -> Iterator[Statement]:
        grains = {item.name: item for item in self.checked.package.grains}
        unsigned = {name for name, quantity in self.quantities.items() if quantity in UNSIGNED}
        unsigned -= {item.id for item in metrics if item.reduction and item.reduction.kind in HISTOGRAMS}  # bounds
        groups = group_by_statement(metrics, lambda metric: name_count_statement(metric, grains[metric.grain]))
        for name, group in groups.items():
            query = completeness.count_rows(group, grains[group[0].grain], self._places, unsigned)
            yield Statement("count", name, query)

    @property
    def _places(self) -> dict[str, object]:
        return build_placeholders(item.name for source in self.checked.package.sources for item in source.constants)

    def build_counts_without_fallbacks(self, metrics: Sequence[Metric]) -> tuple[Statement, ...]:
        """Return statements that count the rows of metrics over relations without their SQL fallbacks."""
        counts = (
            replace(statement, name=name_count_without_fallbacks(metric))
            for metric in metrics
            for statement in self._build_row_counts([metric])
        )
        return (*(_drop_fallbacks(item) for item in self._tables), *counts)

    @property
    def _tables(self) -> tuple[Statement, ...]:
        return tuple(item for item in self.statements if item.kind in ("table", "view"))

    def _group_rejections(self, results: RunResults) -> Mapping[str, Sequence[str]]:
        """Return sentences on the rows that filters rejected: grain -> those on its rows or on its subject's."""
        return {
            grain.name: [
                item.sentence
                for item in results.filters
                if item.rejected and item.grain in (grain.name, grain.subject.grain if grain.subject else "")
            ]
            for grain in self.checked.package.grains
        }

    def assess(self, ingested_run: IngestedRun, results: RunResults, count: Counter) -> RunQuality:
        """Assess the data of a run.

        `count` executes further statements over the run; it is called only if something looks incomplete.
        """
        assessment = Assessment(
            self.checked.package,
            self.metrics,
            self.bindings,
            self.value_events,
            count_records_by_host(ingested_run),
            _list_active_hosts(ingested_run),
            results.counts,
            count_defaulted_fields(ingested_run, self._fields),
            self.is_phase,
        )
        extra_counts = self._count_without_fallbacks(assessment, count)
        reasons = self._find_reasons(assessment, results, count)
        defaults = (*assessment.find_default_samples(extra_counts), *assessment.find_defaulted_fields())
        times = self._query_times(ingested_run, assessment, count)
        extents = read_extents(ingested_run, times)
        implausible, doubtful = self._find_implausible_samples(extents, results, count)
        growing, perhaps_growing = find_growing_samples(self.metrics, results.counts, self.quantities)
        impossible = (*find_negative_samples(assessment, results.metrics), *implausible)
        steps, step_notes, too_short = self._find_clock_steps(ingested_run, times, extents)
        crashes, stray_notes = ((), ()) if self.is_phase else list_stray_findings(ingested_run)
        short_logs = () if self.is_phase else tuple(self._iter_short_logs(ingested_run, extents))
        findings = (
            *crashes,
            *reasons.findings,
            *defaults,
            *impossible,
            *steps,
            *growing,
            *find_samples_above_bounds(self._measured_and_segments, results.counts),
            *assessment.find_hosts_counted_as_zero(),
            *assessment.find_events_missing_on_hosts(),
            *(() if self.is_phase else self._iter_absent_hosts(assessment, ingested_run)),
            *short_logs,
            *iter_gaps(times, self.source_readers),
            *assessment.find_rare_events({host for finding in short_logs for host in finding.hosts}),
            *assessment.find_unknown_keys(),
            *assessment.find_dropped_records(list_notices(self.checked.package, ingested_run), self.readers),
            *assessment.find_incomplete_rows(),
            *(() if self.is_phase else iter_unknown_findings(self.checked.package, ingested_run, self.readers)),
        )
        zeros = self._iter_zero_samples(results, defaults)
        notes = (*reasons.notes, *doubtful, *step_notes, *perhaps_growing, *zeros, *stray_notes)
        quality = _create_quality(
            ingested_run, tuple(map(self.add_formulas, findings)), _find_blank_metrics(defaults), notes
        )
        return replace(
            quality,
            extents=extents,
            impossible_metrics=list_impossible_metrics(tuple(map(self.add_formulas, impossible)), results.metrics)
            | {*too_short, *self._list_formulas(too_short)},
            unused=tuple(assessment.find_repeated_records()),
        )

    def _count_without_fallbacks(self, assessment: Assessment, count: Counter) -> Counts:
        """Return the rows of metrics of rare events without fallbacks; none if a relation fails without its own."""
        if metrics := assessment.list_metrics_with_rare_events():
            with suppress(AssayError):  # the other findings do not depend on it
                return count(self.build_counts_without_fallbacks(metrics))
        return {}

    def _find_reasons(self, assessment: Assessment, results: RunResults, count: Counter) -> EmptyReasons:
        """Return why metrics have no samples."""
        empty_metrics = EmptyMetrics(assessment, self._group_rejections(results))
        counts: Counts = {}
        if statements := tuple(empty_metrics.build_counts(self._places)):
            counts = count((*self._tables, *statements))
        return empty_metrics.find_reasons(counts)

    def _query_times(self, ingested_run: IngestedRun, assessment: Assessment, count: Counter) -> Counts:
        """Return the rows of the statements on the times of records; none for a phase."""
        views = {item.name: item for item in self._tables if isinstance(item.step, EventStep)}
        events = {} if self.is_phase else list_clock_events(ingested_run, {*self.readers} & views.keys())
        uneven = {} if self.is_phase else self._list_uneven_sources(assessment, views)
        read = dict.fromkeys(name for items in (events, uneven) for names in items.values() for name in names)
        return count((*(views[name] for name in read), *build_time_statements(events, uneven))) if read else {}

    def _find_clock_steps(
        self, ingested_run: IngestedRun, times: Counts, extents: Extents
    ) -> tuple[list[Finding], list[Finding], frozenset[str]]:
        """Return findings on clocks that went back, notes on those that no time depends on, metrics not to judge."""
        findings: list[Finding] = []
        notes: list[Finding] = []
        impossible: set[str] = set()
        for source, names in list_clock_events(ingested_run, self.readers).items():
            rows = times.get(get_clock_statement_name(source), ())
            timed = tuple(item.id for item in self.metrics if self.value_events.list_timed_events(item) & {*names})
            reading = tuple(self.source_readers.get(source, ()))
            finding, is_much = find_clock_steps(extents[source], rows, timed, reading)
            if finding:
                (findings if timed else notes).append(finding)
                impossible.update(timed if is_much else ())
        return findings, notes, frozenset(impossible)

    def _iter_zero_samples(self, results: RunResults, defaults: Sequence[Finding]) -> Iterator[Finding]:
        """Yield notes on metrics that are always 0, unless these values come from `defaults`."""
        assumed = {name for item in defaults for name in item.metrics}
        measured = [item for item in self.metrics if item.id not in assumed]
        yield from find_zero_samples(measured, results.metrics, self.quantities)

    def _find_implausible_samples(
        self, extents: Extents, results: RunResults, count: Counter
    ) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Return the findings on samples that cannot be, and notes on those that only may be wrong."""
        by_metric: dict[str, list[LogExtent]] = {}
        for source, logs in extents.items():
            for name in self.source_readers.get(source, ()):
                by_metric.setdefault(name, []).extend(logs)
        library, metrics = get_package_library(self.checked.package), {item.id: item for item in self.metrics}
        suspects = tuple(list_suspects(self.metrics, results.metrics, self.quantities, library, by_metric))
        counts: dict[str, tuple[int, int]] = {}
        if suspects:
            queries = [(item.name, completeness.count_beyond(metrics[item.metric], item.value, self._places,
                                                             is_limit=item.is_limit)) for item in suspects]  # fmt: skip
            rows = count((*self._tables, *(Statement("count", name, query) for name, query in queries)))
            for item in suspects:
                (row,) = rows[item.name]
                counts[item.name] = int(str(row[completeness.BEYOND])), int(str(row[completeness.VALUES]))
        return find_implausible_samples(suspects, counts)

    def add_formulas(self, finding: Finding) -> Finding:
        """Return a finding that also names the formulas over its metrics."""
        names = self._list_formulas({*finding.metrics})
        return replace(finding, metrics=(*finding.metrics, *names)) if names else finding

    def _list_formulas(self, metrics: Set[str]) -> list[str]:
        """Return the formulas over some of these metrics."""
        return [name for name, inputs in self._formula_inputs.items() if inputs & metrics]

    @cached_property
    def _formula_inputs(self) -> Mapping[str, Set[str]]:
        """The ids of the measured metrics that each formula depends on."""
        metrics = formula.index_metrics(self.checked.package) | {item.id: item for item in self.plan.formulas}
        return {item.id: {read.id for read in formula.list_measured(metrics, [item])} for item in self.plan.formulas}

    def _iter_short_logs(self, ingested_run: IngestedRun, extents: Extents) -> Iterator[Finding]:
        for part in ingested_run.parts:
            if part.source.hosts:
                yield from find_short_logs(extents[part.source.name], self.source_readers.get(part.source.name, ()))

    def _iter_absent_hosts(self, assessment: Assessment, ingested_run: IngestedRun) -> Iterator[Finding]:
        """Yield the hosts that have records or files of one source, but not of another that metrics read."""
        events: dict[str, list[Event]] = {}
        for event in self.checked.package.events:
            if event.name in self.readers and event.name not in assessment.exempt_names:
                events.setdefault(event.source, []).append(event)
        sources = [
            list_source_hosts(part, events[part.source.name], assessment)
            for part in ingested_run.parts
            if part.source.name in events
        ]
        read = {part.source.name for part in ingested_run.parts}
        unread = (item for item in self.checked.package.sources if item.name not in read)
        unread_hosts = {item.name: list_host_names(item, ingested_run.run.directory) for item in unread}
        yield from find_absent_hosts(sources, assessment.hosts, self.readers, unread_hosts)

    def _list_uneven_sources(self, assessment: Assessment, views: Mapping[str, object]) -> dict[str, list[str]]:
        """Return the events of sources in which some hosts have fewer records of an event than others."""
        sources = {item.name for item in self.checked.package.sources if item.hosts and item.time}
        events: dict[str, list[str]] = {}
        for event in self.checked.package.events:
            if event.source in sources and event.name in views:
                events.setdefault(event.source, []).append(event.name)
        uneven = {name for name in assessment.list_measured_events() if is_uneven(assessment.by_host.get(name, {}))}
        return {source: names for source, names in events.items() if uneven & {*names}}

    @cached_property
    def source_readers(self) -> Mapping[str, Sequence[str]]:
        """The ids of the metrics that read an event of each source."""
        events = {event.name: event.source for event in self.checked.package.events}
        readers: dict[str, dict[str, None]] = {}
        for event, metrics in self.readers.items():
            readers.setdefault(events[event], {}).update(dict.fromkeys(metrics))
        order = [metric.id for metric in self.metrics]
        return {source: [name for name in order if name in metrics] for source, metrics in readers.items()}

    @cached_property
    def _fields(self) -> Mapping[str, Sequence[str]]:
        """The fields with a default that values of the metrics come from, by event."""
        events = {item.name: item for item in self.checked.package.events}
        fields: dict[str, list[str]] = {}
        for event, name in sorted({item for metric in self.metrics for item in self.value_events.list_fields(metric)}):
            fields_with_name = (field for form in events[event].forms for field in form.fields if field.name == name)
            if any(field.paths and field.default is not None for field in fields_with_name):
                fields.setdefault(event, []).append(name)
        return fields

    @cached_property
    def readers(self) -> Mapping[str, Sequence[str]]:
        """The ids of the metrics that read each event."""
        readers: dict[str, list[str]] = {}
        for metric in self.metrics:
            for event in dependencies.collect_dependencies(self.checked.package, [metric], ()).events:
                readers.setdefault(event, []).append(metric.id)
        return readers


def _drop_fallbacks(statement: Statement) -> Statement:
    if not isinstance(statement.step, RelationStep):
        return statement
    query = completeness.drop_sql_fallbacks(statement.query)
    return statement if query is None else replace(statement, query=query)


def _find_blank_metrics(defaults: Sequence[Finding]) -> frozenset[str]:
    """Return the metrics whose values all come from a fallback."""
    return frozenset(name for item in defaults if item.affected == item.total for name in item.metrics)


def _create_quality(
    ingested_run: IngestedRun, findings: Sequence[Finding], blank_metrics: frozenset[str], notes: tuple[Finding, ...]
) -> RunQuality:
    logs = ingested_run.logs
    lines, used, malformed = (
        sum(getattr(log, name) for log in logs) for name in ("lines", "recognised", "quarantined")
    )
    return RunQuality(
        ingested_run.hosts,
        lines,
        used,
        count_unknown_records(ingested_run),
        malformed,
        tuple(findings),
        blank_metrics,
        notes,
    )


def drop_blank_metrics(
    checked: CheckedPackage, plan: Plan, ingested_run: IngestedRun, results: RunResults, blank_metrics: frozenset[str]
) -> RunResults:
    """Return results in which blank metrics and their segments have no samples, and formulas over them no value."""
    if not blank_metrics & {*map(get_whole, results.metrics)}:
        return results
    metrics = {
        name: summarize_pooled(NO_SAMPLES, checked.package.summaries, result.factor, result.integral)
        if get_whole(name) in blank_metrics
        else result
        for name, result in results.metrics.items()
    }
    notes = dict.fromkeys(results.notes)
    evaluator = Formulas(checked, ingested_run.constants, notes)
    formulas = {metric.id: evaluator.evaluate_run(metric, metrics) for metric in plan.formulas}
    groups = {name: item for name, item in results.groups.items() if name not in blank_metrics}
    return replace(results, metrics=metrics, formulas=formulas, notes=tuple(notes), groups=groups)


def count_records_by_host(ingested_run: IngestedRun) -> Mapping[str, Mapping[str, int]]:
    """Return the number of records: event -> host -> number."""
    return {event: hosts for part in ingested_run.parts for event, hosts in part.facts.by_host.items()}


def _list_active_hosts(ingested_run: IngestedRun) -> Mapping[str, tuple[str, ...]]:
    """Return, for each source with several hosts, the hosts whose logs hold any event."""
    return {
        part.source.name: tuple(log.host for log in part.facts.logs if log.recognised)
        for part in ingested_run.parts
        if part.source.hosts
    }


def count_defaulted_fields(
    ingested_run: IngestedRun, fields: Mapping[str, Sequence[str]]
) -> Mapping[tuple[str, str], tuple[int, int]]:
    """Count the records in which a field took its default: (event, field) -> (defaulted, all records)."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    with open_shared_cursor() as connection:
        for event, names in fields.items():
            for path in iter_event_files(ingested_run, event):
                marks = (exp.CountIf(this=build_column(get_default_mark(name))) for name in names)
                query = dialect.select(exp.Count(this=exp.Star()), *marks).from_(build_scan(glob.escape(str(path))))
                total, *numbers = connection.execute(dialect.to_sql(query.where(build_column("whole")))).fetchall()[0]
                for name, number in zip(names, numbers, strict=True):
                    defaulted_before, total_before = counts.get((event, name), (0, 0))
                    counts[event, name] = defaulted_before + (number or 0), total_before + total
    return counts


def iter_event_files(ingested_run: IngestedRun, event: str) -> Iterator[Path]:
    """Yield the Parquet files of an event in a run."""
    for part in ingested_run.parts:
        yield from sorted((part.events / "events" / event).glob("*.parquet"))


def collect_coverage_fields(package: Package, required_fields: RequiredFields) -> RequiredFields:
    """Return the events by which logs report dropped records, with their fields for event names and numbers.

    Only events of sources that are required anyway.
    """
    events = {event.name: event for event in package.events}
    sources = {events[name].source for name in required_fields}
    return {
        item.name: frozenset(name for name in (item.dropped, item.count) if name)
        for item in package.coverage
        if item.dropped and events[item.name].source in sources
    }


def list_notices(package: Package, ingested_run: IngestedRun) -> tuple[Notice, ...]:
    """Return the notices of dropped records of known events in the logs of a run."""
    events_by_record_name = {
        name.name: event for event in package.events for form in event.forms for name in form.names
    }
    return tuple(
        notice
        for item in package.coverage
        if item.dropped and ingested_run.counts.get(item.name)
        for notice in _iter_notices(item, iter_event_files(ingested_run, item.name), events_by_record_name)
    )


def _iter_notices(
    item: Coverage, files: Iterable[Path], events_by_record_name: Mapping[str, Event]
) -> Iterator[Notice]:
    with open_shared_cursor() as connection:
        for path in files:
            value = build_column(item.dropped)
            query = dialect.select(build_column("host"), value, *([build_column(item.count)] if item.count else []))
            rows = connection.execute(
                dialect.to_sql(query.from_(build_scan(glob.escape(str(path)))).where(build_column("whole")))
            ).fetchall()
            for host, name, *numbers in rows:
                event = events_by_record_name.get(name) or events_by_record_name.get(str(name).rpartition(".")[2])
                if event:
                    yield Notice(host, event.name, name, numbers[0] if numbers else None)
