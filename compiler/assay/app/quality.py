"""Measure how complete the data of runs are, and which metrics lack samples because of it."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from sqlglot import exp

from assay.app.prepare import IngestedRun, Wanted
from assay.app.unknown_names import count_unknown, find_unknown
from assay.engine.compiled_plan import CompiledPlan
from assay.engine.connection import small_engine
from assay.engine.results import NO_SAMPLES, Formulas, RunResults, pooled
from assay.lang import dependencies
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Event, Metric, Package
from assay.lang.model.vocabulary import Coverage
from assay.lang.reserved_names import default_mark
from assay.plan.planner import EventStep, GrainRowsStep, Plan, RelationStep, plan
from assay.quality.assess import Assessment, Notice, count_name
from assay.quality.value_events import ValueEvents
from assay.report.data_quality import Finding, RunQuality
from assay.sql import completeness, dialect
from assay.sql.codegen import Statement
from assay.sql.dialect import column, scan
from assay.sql.expressions import places
from assay.util.diagnostics import AssayError

NAMED = 3  # metrics that a warning names


def missing_data_warnings(
    checked: CheckedPackage, metric_plan: Plan, results: RunResults, prepared: IngestedRun
) -> tuple[str, ...]:
    """Return a warning for each event or field that the run lacks and that a metric without samples reads."""
    return (
        *absent_events(checked, metric_plan, results, prepared.counts),
        *absent_fields(checked, metric_plan, results, prepared),
    )


def absent_events(
    checked: CheckedPackage, metric_plan: Plan, results: RunResults, counts: Mapping[str, int]
) -> tuple[str, ...]:
    """Return a warning for each event that the run lacks and that metrics without samples are measured by."""
    empty = [metric for metric in metric_plan.metrics if not results.metrics[metric.id].size]
    readers: dict[str, list[str]] = {}
    for metric in empty:
        for event in _measured_events(checked.package, metric):
            if not counts.get(event):
                readers.setdefault(event, []).append(metric.id)
    return tuple(
        f"no log line is a `{event}` event, so there are no samples of {_listed(names)}."
        for event, names in sorted(readers.items())
    )


def absent_fields(
    checked: CheckedPackage, metric_plan: Plan, results: RunResults, prepared: IngestedRun
) -> tuple[str, ...]:
    """Return a warning for each field that is null in every row of its event and that metrics without samples read."""
    readers: dict[tuple[str, str], list[str]] = {}
    for metric in metric_plan.metrics:
        if not results.metrics[metric.id].size:
            for name, fields in plan(checked.package, [metric], ()).required_fields.items():
                for field in fields:
                    readers.setdefault((name, field), []).append(metric.id)
    return tuple(
        f"no `{event.name}` event has a value of `{field}`{_read_from(event, field)}; there are no samples of "
        f"{_listed(readers[event.name, field])}, which read{'s' if len(readers[event.name, field]) == 1 else ''} it."
        for event in checked.package.events
        if prepared.counts.get(event.name)
        for field in _without_value(prepared, event, [field for name, field in readers if name == event.name])
    )


def _without_value(prepared: IngestedRun, event: Event, fields: Sequence[str]) -> Iterator[str]:
    """Yield, in order of their names, the optional fields that are null in every row of an event."""
    optional = {field.name for form in event.forms for field in form.fields if field.paths and not field.required}
    names = sorted(optional & set(fields))
    files = [path for folder in prepared.folders for path in sorted((folder / "events" / event.name).glob("*.parquet"))]
    if not names or not files:
        return
    with small_engine() as connection:
        rows = [connection.execute(dialect.text(_values(path, names))).fetchone() for path in files]
    for index, name in enumerate(names):
        if not any(row and row[index] for row in rows):
            yield name


def _values(path: Path, fields: Sequence[str]) -> exp.Select:
    """Return a query that counts the non-null values of each field in the complete records of a file."""
    query = dialect.select(*(exp.Count(this=column(name)) for name in fields))
    return query.from_(scan(glob.escape(str(path)))).where(column("whole"))


def _read_from(event: Event, name: str) -> str:
    """Return a clause that names the paths a field is read from; empty if the only path is its name."""
    all_paths = (
        ".".join(path) for form in event.forms for field in form.fields if field.name == name for path in field.paths
    )
    paths = list(dict.fromkeys(all_paths))
    return "" if paths == [name] else f", which is read from {' or '.join(f'`{path}`' for path in paths)}"


def _measured_events(package: Package, metric: Metric) -> set[str]:
    """Return the events that the instants of a metric's measure are bound to."""
    grain = next(item for item in package.grains if item.name == metric.grain)
    measure_names = {node.text if node.op == "taken" else node.name for node in metric.measure.walk()}
    events = {event.name for event in package.events}
    return {item.of for item in grain.instants if item.name in measure_names and item.of in events}


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


#: Executes further statements over the run and returns their rows by statement name.
Counter = Callable[[Sequence[Statement]], Mapping[str, Sequence[Mapping[str, object]]]]


@dataclass(frozen=True)
class QualityPlan:
    """The statements that count records and rows next to the metrics of a plan, and their assessment."""

    compiled: CompiledPlan
    is_phase: bool = False

    @property
    def checked(self) -> CheckedPackage:
        """The checked package."""
        return self.compiled.checked

    @property
    def plan(self) -> Plan:
        """The plan whose data are assessed."""
        return self.compiled.plan

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of the plan."""
        return self.compiled.statements

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The measured metrics: those of the plan and those of its requested rows."""
        listed = (metric for item in self.plan.listed for metric in item.metrics)
        return tuple({metric.id: metric for metric in (*self.plan.metrics, *listed)}.values())

    @cached_property
    def bindings(self) -> tuple[completeness.KeyBinding, ...]:
        """The keys by which instants of the plan's grains are bound to events."""
        events = frozenset(step.name for step in self.plan.steps if isinstance(step, EventStep))
        return tuple(
            binding
            for step in self.plan.steps
            if isinstance(step, GrainRowsStep) and not step.grain.runs
            for binding in completeness.list_key_bindings(step.grain, step.members, events)
        )

    @cached_property
    def value_events(self) -> ValueEvents:
        """Finds the events that values come from."""
        return ValueEvents(self.statements)

    @cached_property
    def counts(self) -> tuple[Statement, ...]:
        """The statements that count rows of metrics and unmatched keys."""
        keys = ((item.name, completeness.count_unmatched(item, self._places)) for item in self.bindings)
        return (*self._row_counts(self.metrics), *(Statement("count", name, query) for name, query in keys))

    def _row_counts(self, metrics: Sequence[Metric]) -> Iterator[Statement]:
        grains = {item.name: item for item in self.checked.package.grains}
        for metric in metrics:
            query = completeness.count_rows(metric, grains[metric.grain], self._places)
            yield Statement("count", count_name(metric), query)

    @property
    def _places(self) -> dict[str, object]:
        return places(item.name for source in self.checked.package.sources for item in source.constants)

    def without_fallbacks(self, metrics: Sequence[Metric]) -> tuple[Statement, ...]:
        """Return statements that count the rows of metrics over relations without their SQL fallbacks."""
        tables = [item for item in self.statements if item.kind in ("table", "view")]
        return (*(_without_fallbacks(item) for item in tables), *self._row_counts(metrics))

    def assess(self, prepared: IngestedRun, results: RunResults, count: Counter) -> RunQuality:
        """Assess the data of a run.

        `count` executes further statements over the run; it is called only if something looks incomplete.
        """
        assessment = Assessment(
            self.checked.package, self.metrics, self.bindings, self.value_events, records_by_host(prepared),
            _hosts(prepared), results.counts, defaulted_fields(prepared, self._fields), self.is_phase,
        )  # fmt: skip
        further: Mapping[str, Sequence[Mapping[str, object]]] = {}
        if metrics := assessment.with_rare_events():
            # A relation may fail without its fallbacks. The other findings do not depend on it.
            with suppress(AssayError):
                further = count(self.without_fallbacks(metrics))
        defaults = (*assessment.default_samples(further), *assessment.defaulted_fields())
        findings = (
            *defaults,
            *assessment.counted_as_zero(),
            *assessment.missing_on_hosts(),
            *assessment.rare_events(),
            *assessment.unknown_keys(),
            *assessment.dropped_records(notices(self.checked.package, prepared), self._readers),
            *assessment.incomplete_rows(),
            *(() if self.is_phase else find_unknown(self.checked.package, prepared, self._readers)),
        )
        return _quality(prepared, findings, _blank(defaults))

    @cached_property
    def _fields(self) -> Mapping[str, Sequence[str]]:
        """Event -> its fields with a default that values of the metrics come from."""
        events = {item.name: item for item in self.checked.package.events}
        fields: dict[str, list[str]] = {}
        for event, name in sorted({item for metric in self.metrics for item in self.value_events.fields(metric)}):
            fields_with_name = (field for form in events[event].forms for field in form.fields if field.name == name)
            if any(field.paths and field.default is not None for field in fields_with_name):
                fields.setdefault(event, []).append(name)
        return fields

    @cached_property
    def _readers(self) -> Mapping[str, Sequence[str]]:
        """Event -> ids of the metrics that read it."""
        readers: dict[str, list[str]] = {}
        for metric in self.metrics:
            for event in dependencies.collect_dependencies(self.checked.package, [metric], ()).events:
                readers.setdefault(event, []).append(metric.id)
        return readers


def _without_fallbacks(statement: Statement) -> Statement:
    if not isinstance(statement.step, RelationStep):
        return statement
    query = completeness.drop_sql_fallbacks(statement.query)
    return statement if query is None else replace(statement, query=query)


def _blank(defaults: Sequence[Finding]) -> frozenset[str]:
    """Return the metrics whose values all rest on a fallback."""
    return frozenset(name for item in defaults if item.affected == item.total for name in item.metrics)


def _quality(prepared: IngestedRun, findings: Sequence[Finding], blank: frozenset[str]) -> RunQuality:
    logs = prepared.logs
    return RunQuality(
        prepared.hosts,
        sum(log.lines for log in logs),
        sum(log.recognised for log in logs),
        count_unknown(prepared),
        sum(log.quarantined for log in logs),
        tuple(findings),
        blank,
    )


def without_blank(
    checked: CheckedPackage, plan: Plan, prepared: IngestedRun, results: RunResults, blank: frozenset[str]
) -> RunResults:
    """Return results in which blank metrics have no samples, and formulas over them have no value."""
    if not blank & results.metrics.keys():
        return results
    metrics = {
        name: pooled(NO_SAMPLES, checked.package.summaries, result.factor, result.integral) if name in blank else result
        for name, result in results.metrics.items()
    }
    notes = dict.fromkeys(results.notes)
    evaluator = Formulas(checked, prepared.constants, notes)
    formulas = {metric.id: evaluator.of_run(metric, metrics) for metric in plan.formulas}
    return replace(results, metrics=metrics, formulas=formulas, notes=tuple(notes))


def records_by_host(prepared: IngestedRun) -> Mapping[str, Mapping[str, int]]:
    """Return the number of records: event -> host -> number."""
    return {event: hosts for part in prepared.parts for event, hosts in part.facts.by_host.items()}


def _hosts(prepared: IngestedRun) -> Mapping[str, tuple[str, ...]]:
    """Return, for each source with several hosts, the hosts whose logs hold any event."""
    return {
        part.source.name: tuple(log.host for log in part.facts.logs if log.recognised)
        for part in prepared.parts
        if part.source.hosts
    }


def defaulted_fields(
    prepared: IngestedRun, fields: Mapping[str, Sequence[str]]
) -> Mapping[tuple[str, str], tuple[int, int]]:
    """Count the records in which a field took its default: (event, field) -> (defaulted, all records)."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    with small_engine() as connection:
        for event, names in fields.items():
            for path in event_files(prepared, event):
                marks = (exp.CountIf(this=column(default_mark(name))) for name in names)
                query = dialect.select(exp.Count(this=exp.Star()), *marks).from_(scan(glob.escape(str(path))))
                total, *numbers = connection.execute(dialect.text(query.where(column("whole")))).fetchall()[0]
                for name, number in zip(names, numbers, strict=True):
                    defaulted_before, total_before = counts.get((event, name), (0, 0))
                    counts[event, name] = defaulted_before + (number or 0), total_before + total
    return counts


def event_files(prepared: IngestedRun, event: str) -> Iterator[Path]:
    """Yield the Parquet files of an event in a run."""
    for part in prepared.parts:
        yield from sorted((part.events / "events" / event).glob("*.parquet"))


def coverage_fields(package: Package, required_fields: Wanted) -> Wanted:
    """Return the events by which logs report dropped records, with the fields that name the events and the number.

    Covers only sources that are read anyway.
    """
    events = {event.name: event for event in package.events}
    sources = {events[name].source for name in required_fields}
    return {
        item.name: frozenset(name for name in (item.dropped, item.count) if name)
        for item in package.coverage
        if item.dropped and events[item.name].source in sources
    }


def notices(package: Package, prepared: IngestedRun) -> tuple[Notice, ...]:
    """Return what the logs of a run report about dropped records of known events."""
    events_by_record_name = {
        name.name: event for event in package.events for form in event.forms for name in form.names
    }
    return tuple(
        notice
        for item in package.coverage
        if item.dropped and prepared.counts.get(item.name)
        for notice in _notices(item, event_files(prepared, item.name), events_by_record_name)
    )


def _notices(item: Coverage, files: Iterable[Path], events_by_record_name: Mapping[str, Event]) -> Iterator[Notice]:
    with small_engine() as connection:
        for path in files:
            value = column(item.dropped)
            query = dialect.select(column("host"), value, *([column(item.count)] if item.count else []))
            rows = connection.execute(
                dialect.text(query.from_(scan(glob.escape(str(path)))).where(column("whole")))
            ).fetchall()
            for host, name, *numbers in rows:
                event = events_by_record_name.get(name) or events_by_record_name.get(str(name).rpartition(".")[2])
                if event:
                    yield Notice(host, event.name, name, numbers[0] if numbers else None)
