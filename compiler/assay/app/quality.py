"""Measure how complete the data of runs are, and which metrics lack samples."""

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
from assay.lang.model.package import Event, Metric, Package
from assay.lang.model.vocabulary import Coverage
from assay.lang.normal_form import CheckedPackage
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

NAMED = 3


def missing_data_warnings(
    checked: CheckedPackage, made: Plan, results: RunResults, prepared: IngestedRun
) -> tuple[str, ...]:
    """A sentence for each event, and for each field, that a run tells nothing of where metrics want it that have no
    samples."""
    return (
        *absent_events(checked, made, results, prepared.counts),
        *absent_fields(checked, made, results, prepared),
    )


def absent_events(
    checked: CheckedPackage, made: Plan, results: RunResults, counts: Mapping[str, int]
) -> tuple[str, ...]:
    """A sentence for each event that no log line of a run is, where metrics have no sample for want of it."""
    empty = [metric for metric in made.metrics if not results.metrics[metric.id].size]
    without: dict[str, list[str]] = {}
    for metric in empty:
        for event in _measured_events(checked.package, metric):
            if not counts.get(event):
                without.setdefault(event, []).append(metric.id)
    return tuple(
        f"no log line is a `{event}` event, so there are no samples of {_listed(names)}."
        for event, names in sorted(without.items())
    )


def absent_fields(checked: CheckedPackage, made: Plan, results: RunResults, prepared: IngestedRun) -> tuple[str, ...]:
    """A sentence for each field without a value in any row of its event, where metrics that read it have no sample."""
    without: dict[tuple[str, str], list[str]] = {}
    for metric in made.metrics:
        if not results.metrics[metric.id].size:
            for name, fields in plan(checked.package, [metric], ()).required_fields.items():
                for field in fields:
                    without.setdefault((name, field), []).append(metric.id)
    return tuple(
        f"no `{event.name}` event has a value of `{field}`{_read_from(event, field)}; there are no samples of "
        f"{_listed(without[event.name, field])}, which read{'s' if len(without[event.name, field]) == 1 else ''} it."
        for event in checked.package.events
        if prepared.counts.get(event.name)
        for field in _without_value(prepared, event, [field for name, field in without if name == event.name])
    )


def _without_value(prepared: IngestedRun, event: Event, fields: Sequence[str]) -> Iterator[str]:
    """Those of the fields that may be missing and have no value in any row, in order of their names."""
    may = {field.name for form in event.forms for field in form.fields if field.paths and not field.required}
    asked = sorted(may & set(fields))
    files = [path for folder in prepared.folders for path in sorted((folder / "events" / event.name).glob("*.parquet"))]
    if not asked or not files:
        return
    with small_engine() as connection:
        rows = [connection.execute(dialect.text(_values(path, asked))).fetchone() for path in files]
    for index, name in enumerate(asked):
        if not any(row and row[index] for row in rows):
            yield name


def _values(path: Path, fields: Sequence[str]) -> exp.Select:
    """How many rows of a file have a value of each field."""
    query = dialect.select(*(exp.Count(this=column(name)) for name in fields))
    return query.from_(scan(glob.escape(str(path)))).where(column("whole"))


def _read_from(event: Event, name: str) -> str:
    """Where a field is read, in words; empty where that is called as it is."""
    found = (
        ".".join(path) for form in event.forms for field in form.fields if field.name == name for path in field.paths
    )
    paths = list(dict.fromkeys(found))
    return "" if paths == [name] else f", which is read from {' or '.join(f'`{path}`' for path in paths)}"


def _measured_events(package: Package, metric: Metric) -> set[str]:
    """The events that the instants of a metric's measure are bound to."""
    grain = next(item for item in package.grains if item.name == metric.grain)
    named = {node.text if node.op == "taken" else node.name for node in metric.measure.walk()}
    events = {event.name for event in package.events}
    return {item.of for item in grain.instants if item.name in named and item.of in events}


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


#: works out statements of another plan over the run: their rows by name
Counter = Callable[[Sequence[Statement]], Mapping[str, Sequence[Mapping[str, object]]]]


@dataclass(frozen=True)
class QualityPlan:
    """The statements that count records and rows beside the metrics of a plan, and the assessment of the counts."""

    compiled: CompiledPlan
    is_phase: bool = False

    @property
    def checked(self) -> CheckedPackage:
        """Return the package."""
        return self.compiled.checked

    @property
    def plan(self) -> Plan:
        """Return the plan."""
        return self.compiled.plan

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Return the statements of the plan."""
        return self.compiled.statements

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics that are measured: those of the plan, and of the rows that are listed."""
        listed = (metric for item in self.plan.listed for metric in item.metrics)
        return tuple({metric.id: metric for metric in (*self.plan.metrics, *listed)}.values())

    @cached_property
    def bindings(self) -> tuple[completeness.KeyBinding, ...]:
        """Return the keys by which instants of the plan's grains are bound to events."""
        events = frozenset(step.name for step in self.plan.steps if isinstance(step, EventStep))
        return tuple(
            binding
            for step in self.plan.steps
            if isinstance(step, GrainRowsStep) and not step.grain.runs
            for binding in completeness.list_key_bindings(step.grain, step.members, events)
        )

    @cached_property
    def value_events(self) -> ValueEvents:
        """Return what finds the events of values."""
        return ValueEvents(self.statements)

    @cached_property
    def counts(self) -> tuple[Statement, ...]:
        """Return the statements that count."""
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
        """Return statements that count the rows of metrics over relations without their fallbacks."""
        tables = [item for item in self.statements if item.kind in ("table", "view")]
        return (*(_without_fallbacks(item) for item in tables), *self._row_counts(metrics))

    def assess(self, prepared: IngestedRun, results: RunResults, count: Counter) -> RunQuality:
        """Assess a run: `count` works out further statements over it, where something looks incomplete."""
        assessment = Assessment(
            self.checked.package, self.metrics, self.bindings, self.value_events, records_by_host(prepared),
            _hosts(prepared), results.counts, defaulted_fields(prepared, self._fields), self.is_phase,
        )  # fmt: skip
        further: Mapping[str, Sequence[Mapping[str, object]]] = {}
        if metrics := assessment.with_rare_events():
            # A relation may fail without its fallbacks; what is sure is found without it.
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
        """Event -> its fields with a default that values come from."""
        events = {item.name: item for item in self.checked.package.events}
        fields: dict[str, list[str]] = {}
        for event, name in sorted({item for metric in self.metrics for item in self.value_events.fields(metric)}):
            fields_with_name = (field for form in events[event].forms for field in form.fields if field.name == name)
            if any(field.paths and field.default is not None for field in fields_with_name):
                fields.setdefault(event, []).append(name)
        return fields

    @cached_property
    def _readers(self) -> Mapping[str, Sequence[str]]:
        """Event -> the ids of the metrics that read it."""
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
    """Return the metrics all of whose values rest on a fallback."""
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
    """Return results in which blank metrics have no samples, and formulas over them no value."""
    if not blank & results.metrics.keys():
        return results
    metrics = {
        name: pooled(NO_SAMPLES, checked.package.summaries, result.factor, result.integral) if name in blank else result
        for name, result in results.metrics.items()
    }
    notes = dict.fromkeys(results.notes)
    worked = Formulas(checked, prepared.constants, notes)
    formulas = {metric.id: worked.of_run(metric, metrics) for metric in plan.formulas}
    return replace(results, metrics=metrics, formulas=formulas, notes=tuple(notes))


def records_by_host(prepared: IngestedRun) -> Mapping[str, Mapping[str, int]]:
    """Return how many records of each event each host has: event -> host -> number."""
    return {event: hosts for part in prepared.parts for event, hosts in part.facts.by_host.items()}


def _hosts(prepared: IngestedRun) -> Mapping[str, tuple[str, ...]]:
    """Return the hosts of each source that has several, those whose log holds any event."""
    return {
        part.source.name: tuple(log.host for log in part.facts.logs if log.recognised)
        for part in prepared.parts
        if part.source.hosts
    }


def defaulted_fields(
    prepared: IngestedRun, fields: Mapping[str, Sequence[str]]
) -> Mapping[tuple[str, str], tuple[int, int]]:
    """Count the records of events that lack a field with a default, and all records, by event and field."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    with small_engine() as connection:
        for event, names in fields.items():
            for path in event_files(prepared, event):
                marks = (exp.CountIf(this=column(default_mark(name))) for name in names)
                query = dialect.select(exp.Count(this=exp.Star()), *marks).from_(scan(glob.escape(str(path))))
                total, *numbers = connection.execute(dialect.text(query.where(column("whole")))).fetchall()[0]
                for name, number in zip(names, numbers, strict=True):
                    before, all_before = counts.get((event, name), (0, 0))
                    counts[event, name] = before + (number or 0), all_before + total
    return counts


def event_files(prepared: IngestedRun, event: str) -> Iterator[Path]:
    """Yield the files of an event of a run."""
    for part in prepared.parts:
        yield from sorted((part.events / "events" / event).glob("*.parquet"))


def coverage_fields(package: Package, wanted: Wanted) -> Wanted:
    """Return the events by which logs say that records were dropped, with the fields that say which and how many.

    Only those of sources that are read anyway.
    """
    events = {event.name: event for event in package.events}
    sources = {events[name].source for name in wanted}
    return {
        item.name: frozenset(name for name in (item.dropped, item.count) if name)
        for item in package.coverage
        if item.dropped and events[item.name].source in sources
    }


def notices(package: Package, prepared: IngestedRun) -> tuple[Notice, ...]:
    """Return what the logs of a run say of dropped records of events that the specs know."""
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
