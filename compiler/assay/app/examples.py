"""Run the examples of specs and list what no example exercises (`assay test`).

Event tables do not record which name a record had, or at which path the value of a field was. So the records are
ingested a second time as probe events, which have the same names but other fields: one with the number of the name, and
one for each path, whose value is missing if the path has none.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.app import filters
from assay.app.prepare import IngestedRun, prepare
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.engine import samples
from assay.engine.compiled_plan import compile_plan
from assay.engine.executor import connect
from assay.engine.mount import find_first_quarantined, mount_folders
from assay.engine.result_cache import Store
from assay.engine.samples import Branch
from assay.lang import dependencies, workspace
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.example import Example, Expectation
from assay.lang.model.expression import Expression
from assay.lang.model.package import Event, Field, Form, Metric, Name, Package
from assay.lang.model.vocabulary import Unit
from assay.sql import dialect
from assay.sql.dialect import build_column, build_scan, select_event_rows
from assay.util.diagnostics import AssayError, Diagnostic, Span
from assay.util.scratch import create_temporary_folder

if TYPE_CHECKING:
    import duckdb


NULL = exp.Null()
NAME_NUMBER = "named"  # the probe field with the number of the record's name


@dataclass(frozen=True, slots=True)
class Fallback:
    """One of several names of an event (`field` is empty), or one of several paths of a field.

    `form` is the number (from 1) of the form that has it; `text` is the name with its generation, or the path.
    """

    event: str
    field: str
    form: int
    text: str


def list_fallbacks(event: Event, fields: Collection[str]) -> tuple[Fallback, ...]:
    """Return the names of an event if it has several, and the paths of those `fields` that have several in a form."""
    name_fallbacks = [Fallback(event.name, "", form, text) for form, texts in _iter_form_names(event) for text in texts]
    path_fallbacks = [
        Fallback(event.name, field.name, form, ".".join(path))
        for form, field in _iter_multi_path_fields(event, fields)
        for path in field.paths
    ]
    return (*(name_fallbacks if len(name_fallbacks) > 1 else ()), *path_fallbacks)


def find_exercised_fallbacks(
    session: Session, checked: CheckedPackage, run: NamedRun, fields: Mapping[str, Collection[str]]
) -> frozenset[Fallback]:
    """Return the names and paths that occur in the records of a run, for the given fields by event.

    Raises AssayError.
    """
    probes = {
        event.name: _create_probe(event, fields[event.name])
        for event in checked.package.events
        if event.name in fields and list_fallbacks(event, fields[event.name])
    }
    if not probes:
        return frozenset()
    events = tuple(probes.get(event.name, event) for event in checked.package.events)
    probe_package = replace(checked, package=replace(checked.package, events=events))
    probe_fields = {name: frozenset(field.name for field in probe.fields) for name, probe in probes.items()}
    used_fallbacks: set[Fallback] = set()
    with create_temporary_folder() as folder:
        # The probes use a separate store: they must not replace the real events in the cache.
        with closing(Session(session.workspace, Store(folder), threads=session.threads)) as probe_session:
            (ingested_run,) = prepare(probe_session, probe_package, [run], probe_fields)
        with connect(os.cpu_count() or 1, folder) as connection:
            mount_folders(connection, ingested_run.folders)
            for event in checked.package.events:
                if ingested_run.counts.get(event.name) and event.name in probes:
                    names = sorted(probe_fields[event.name])
                    rows = connection.execute(dialect.to_sql(build_path_query(event.name, names))).fetchall()
                    row_values = [dict(zip(names, row, strict=True)) for row in rows]
                    used_fallbacks |= set(_iter_used_fallbacks(event, fields[event.name], row_values))
    return frozenset(used_fallbacks)


def _iter_form_names(event: Event) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number of each form, and its names with their generations."""
    for number, form in enumerate(event.forms, start=1):
        yield number, tuple(f"{item.generation}: {item.name}" for item in form.names)


def _iter_multi_path_fields(event: Event, fields: Collection[str]) -> Iterator[tuple[int, Field]]:
    """Yield the fields with several paths, each with the number of its form."""
    for number, form in enumerate(event.forms, start=1):
        yield from ((number, field) for field in form.fields if field.name in fields and len(field.paths) > 1)


def _create_probe(event: Event, fields: Collection[str]) -> Event:
    """Return the probe of an event: a form for each name, with fields that identify the name and the paths."""
    multi_path_fields = dict.fromkeys(field.name for _, field in _iter_multi_path_fields(event, fields))
    path_counts = {
        name: max(len(field.paths) for _, field in _iter_multi_path_fields(event, fields) if field.name == name)
        for name in multi_path_fields
    }
    forms: list[Form] = []
    for form in event.forms:
        single_names: list[tuple[Name, ...]] = [(name,) for name in form.names]
        for names in single_names or [()]:
            name_field = Field(NAME_NUMBER, "integer", Unit("", ""), "value", (), str(len(forms)), True, (), "")
            forms.append(replace(form, names=names, fields=(name_field, *_iter_path_fields(form, path_counts))))
    return replace(event, forms=tuple(forms))


def _iter_path_fields(form: Form, path_counts: Mapping[str, int]) -> Iterator[Field]:
    """Yield a field for each path of the fields with several paths."""
    paths = {field.name: field.paths for field in form.fields}
    for name, number in path_counts.items():
        for index in range(number):
            path = paths[name][index : index + 1]
            yield Field(f"{name}_{index}", "text", Unit("", ""), "value", path, None, False, (), "")


def build_path_query(event: str, names: Sequence[str]) -> exp.Select:
    """Return a query of the distinct combinations of names and paths.

    Each row has the number of the name and, for each path, whether it had a value.
    """
    table = select_event_rows(build_scan(f"events/{event}/*.parquet"), names)
    columns = [
        build_column(name)
        if name == NAME_NUMBER
        else exp.alias_(exp.Not(this=exp.Is(this=build_column(name), expression=NULL)), name)
        for name in names
    ]
    return dialect.select(*columns).distinct().from_(table.subquery("probes"))


def _iter_used_fallbacks(
    event: Event, fields: Collection[str], rows: Sequence[Mapping[str, object]]
) -> Iterator[Fallback]:
    """Yield the names that rows have and, for each field with several paths, the first path with a value."""
    numbered_names = [
        (number, text, form)
        for (number, texts), form in zip(_iter_form_names(event), event.forms, strict=True)
        for text in texts or ("",)
    ]
    for row in rows:
        number, text, form = numbered_names[int(str(row[NAME_NUMBER]))]
        yield Fallback(event.name, "", number, text)
        for field in form.fields:
            if field.name in fields and len(field.paths) > 1:
                paths_with_value = (path for index, path in enumerate(field.paths) if row[f"{field.name}_{index}"])
                if path := next(paths_with_value, None):
                    yield Fallback(event.name, field.name, number, ".".join(path))


#: The relative tolerance for comparing measured reals with expected samples.
TOLERANCE = Fraction(1, 10**9)
RUN_ID = "example"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The expected and the computed samples of a metric: texts in the metric's unit, ascending."""

    metric: str
    unit: str
    expected: tuple[str, ...]
    actual: tuple[str, ...]
    holds: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an example: verdicts, and the problems that prevented them or that the example revealed.

    `span` is the position of the example in the specs. `events`, `branches` and `fallbacks` are those that it covers.
    """

    example: str
    span: Span | None
    verdicts: tuple[Verdict, ...]
    problems: tuple[Diagnostic, ...]
    events: frozenset[str] = frozenset()
    branches: frozenset[Branch] = frozenset()
    fallbacks: frozenset[Fallback] = frozenset()

    @property
    def holds(self) -> bool:
        """Return whether all samples are as expected and there are no problems."""
        return not self.problems and all(item.holds for item in self.verdicts)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What no example exercises.

    `metrics` have no expectation, `events` are read by metrics but occur in no example, `branches` of expressions are
    never taken. `unused_fallbacks` are the fallbacks (names and paths of fields) that no record uses, of events that
    occur in an example. `fallbacks` is the total number of fallbacks by event.
    """

    metrics: tuple[str, ...]
    events: tuple[str, ...]
    branches: tuple[Branch, ...]
    unused_fallbacks: tuple[Fallback, ...] = ()
    fallbacks: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExampleResults:
    """The outcomes of a system's examples, and what they do not cover."""

    system: str
    outcomes: tuple[Outcome, ...]
    coverage: Coverage = dataclasses.field(default_factory=lambda: Coverage((), (), ()))

    @property
    def holds(self) -> bool:
        """Return whether every example holds."""
        return all(item.holds for item in self.outcomes)


def run_system_examples(session: Session, system: str) -> ExampleResults:
    """Run all examples of a system. Raises AssayError if the specs themselves are wrong."""
    checked = session.load_package(system)
    locate = workspace.get_positions(session.workspace, system)
    outcomes = []
    for index, item in enumerate(checked.package.examples):
        session.progress(f"examples of {system}", index, len(checked.package.examples))
        outcomes.append(_test_example(session, checked, item, locate(item.name)[0]))
    return ExampleResults(system, tuple(outcomes), _compute_coverage(checked.package, outcomes))


run_system_examples.__test__ = False  # type: ignore[attr-defined]  # pytest must not collect it


def _test_example(session: Session, checked: CheckedPackage, item: Example, span: Span | None) -> Outcome:
    with create_temporary_folder() as folder:
        try:
            write_records(item, folder)
            return _run_example(session, checked, item, span, NamedRun(RUN_ID, folder))
        except AssayError as error:
            return Outcome(item.name, span, (), tuple(_drop_folder(problem, folder) for problem in error.diagnostics))


def _drop_folder(problem: Diagnostic, folder: Path) -> Diagnostic:
    """Return a problem in which paths are relative to the example, without the temporary folder."""

    def drop_path(text: str) -> str:
        return text.replace(f"{folder}/", "").replace(str(folder), "the example")

    span = replace(problem.span, file=drop_path(problem.span.file)) if problem.span else None
    notes = tuple(map(drop_path, problem.notes))
    return replace(problem, message=drop_path(problem.message), found=drop_path(problem.found), span=span, notes=notes)


def write_records(item: Example, folder: Path) -> None:
    """Write the files of an example into a folder."""
    for file in item.files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8", newline="")


def _run_example(session: Session, checked: CheckedPackage, item: Example, span: Span | None, run: NamedRun) -> Outcome:
    """Compute the metrics that an example expects and compare their samples."""
    package = checked.package
    metrics = [checked.get_metric(expectation.metric) for expectation in item.expect]
    filter_texts = [f"{use.name}={use.argument}" if use.argument else use.name for use in item.filters]
    compiled_plan = compile_plan(checked, metrics, filters.parse_filters(package, None, filter_texts, not filter_texts))
    graph = compiled_plan.graph
    (ingested_run,) = prepare(session, checked, [run], compiled_plan.plan.required_fields, metrics)
    problems = [
        Diagnostic(
            "example",
            f"example `{item.name}` has malformed records: {sum(quarantined_counts)}",
            span,
            notes=(f"the first: {find_first_quarantined(part.events)}",),
        )
        for part in ingested_run.parts
        if any(quarantined_counts := [log.quarantined for log in part.facts.logs])
    ]
    with connect(os.cpu_count() or 1, session.store.create_folder()) as connection:
        mount_folders(connection, ingested_run.folders)
        table_names = {node.name for node in graph if node.statement.kind in ("metric", "check")}
        samples.create_tables(connection, graph, table_names, ingested_run.constants)
        problems += samples.find_failed_checks(connection, graph, ingested_run.constants, RUN_ID)
        measured_samples = [_measure_samples(connection, checked, metric, ingested_run) for metric in metrics]
        verdicts = [
            _judge_expectation(checked, expectation, values)
            for expectation, values in zip(item.expect, measured_samples, strict=True)
        ]
        taken_branches = {
            branch
            for grain, expressions in _collect_expressions(package, metrics).items()
            for branch in samples.find_taken_branches(connection, grain, expressions, ingested_run.constants)
        }
    with connect(os.cpu_count() or 1, session.store.create_folder()) as connection:
        mount_folders(connection, ingested_run.folders)
        samples.create_tables(connection, graph, table_names, ingested_run.constants, last_first=True)
        reversed_samples = [_measure_samples(connection, checked, metric, ingested_run) for metric in metrics]
    reversed_verdicts = [_judge_expectation(checked, *pair) for pair in zip(item.expect, reversed_samples, strict=True)]
    problems += _iter_row_order_problems(item, span, verdicts, reversed_verdicts)
    seen_events = frozenset(name for name, number in ingested_run.counts.items() if number)
    seen_fallbacks = find_exercised_fallbacks(
        session,
        checked,
        run,
        {name: field_names for name, field_names in compiled_plan.plan.required_fields.items() if name in seen_events},
    )
    return Outcome(
        item.name, span, tuple(verdicts), tuple(problems), seen_events, frozenset(taken_branches), seen_fallbacks
    )


def _measure_samples(
    connection: duckdb.DuckDBPyConnection, checked: CheckedPackage, metric: Metric, ingested_run: IngestedRun
) -> Sequence[int | float]:
    """Return the samples of a metric whose tables have been created."""
    return samples.fetch_samples(connection, metric, checked.measured[metric.id].integral, ingested_run.constants)


def _iter_row_order_problems(
    item: Example, span: Span | None, verdicts: Sequence[Verdict], reversed_verdicts: Sequence[Verdict]
) -> Iterator[Diagnostic]:
    """Yield a problem for each metric whose samples change if the records of events are in the opposite order."""
    for first, second in zip(verdicts, reversed_verdicts, strict=True):
        if first.actual != second.actual:
            actual, reordered = (", ".join(item.actual) or "none" for item in (first, second))
            yield Diagnostic(
                "row-order",
                f"example `{item.name}`: samples of `{first.metric}` depend on the order of table rows, "
                "which is undefined",
                span,
                found=f"{actual}; in the opposite order {reordered}",
                hint="add `host` and `seq` to an ORDER BY of its SQL that does not order all rows",
            )


def _judge_expectation(
    checked: CheckedPackage, expectation: Expectation, measured_samples: Sequence[int | float]
) -> Verdict:
    """Compare the samples of a metric with those expected."""
    metric, factor = checked.get_metric(expectation.metric), checked.measured[expectation.metric].factor
    samples_in_unit = [Fraction(value) * factor for value in measured_samples]
    expected = [Fraction(text) for text in expectation.samples]
    holds = len(samples_in_unit) == len(expected) and all(
        a == b or (isinstance(value, float) and abs(a - b) <= TOLERANCE * max(abs(a), abs(b)))
        for value, a, b in zip(measured_samples, samples_in_unit, expected, strict=False)
    )
    return Verdict(
        metric.id,
        metric.unit.symbol,
        expectation.samples,
        tuple(_format_decimal(value) for value in samples_in_unit),
        holds,
    )


def _format_decimal(value: Fraction) -> str:
    """Return a number as text: with at most 12 decimals, or as a double prints it if its decimals do not end."""
    if value.denominator == 1:
        return str(value.numerator)
    denominator = value.denominator
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    if denominator == 1 and value.denominator <= 10**12:
        digits = 12
        text = f"{abs(value.numerator) * 10**digits // value.denominator:0{digits + 1}d}"
        return ("-" if value < 0 else "") + f"{text[:-digits]}.{text[-digits:]}".rstrip("0").rstrip(".")
    return repr(float(value))


def _collect_expressions(package: Package, metrics: Sequence[Metric]) -> dict[str, dict[str, Expression]]:
    """Return the expressions that metrics compute on the rows of each grain: grain -> label -> expression."""
    required = dependencies.collect_dependencies(package, metrics, ())
    expressions_by_grain: dict[str, dict[str, Expression]] = {}
    for metric in metrics:
        if is_formula(metric):
            continue
        expressions_by_grain.setdefault(metric.grain, {})[f"metric {metric.id}"] = metric.measure
    for grain in package.grains:
        members = required.grains.get(grain.name, set())
        for derived in grain.derived:
            if derived.column.name in members:
                expressions_by_grain.setdefault(grain.name, {})[f"{grain.name}.{derived.column.name}"] = derived.value
    return expressions_by_grain


def _compute_coverage(package: Package, outcomes: Sequence[Outcome]) -> Coverage:
    """Return what no example exercises of the metrics, events, branches and fallbacks of a package."""
    expected = {item.metric for outcome in outcomes for item in outcome.verdicts}
    seen_events = {name for outcome in outcomes for name in outcome.events}
    taken_branches = {branch for outcome in outcomes for branch in outcome.branches}
    required = dependencies.collect_dependencies(package, package.metrics, ())
    seen_fallbacks = {item for outcome in outcomes for item in outcome.fallbacks}
    all_branches = _list_branches(package)
    all_fallbacks = [
        item
        for event in package.events
        if event.name in seen_events
        for item in list_fallbacks(event, required.events.get(event.name, ()))
    ]
    return Coverage(
        tuple(item.id for item in package.metrics if item.id not in expected and not item.examples),
        tuple(
            event.name for event in package.events if event.name in required.events and event.name not in seen_events
        ),
        tuple(branch for branch in all_branches if branch not in taken_branches),
        tuple(item for item in all_fallbacks if item not in seen_fallbacks),
        Counter(item.event for item in all_fallbacks),
    )


def _list_branches(package: Package) -> list[Branch]:
    """Return the branches of all expressions that the metrics of a package compute."""
    return [
        branch
        for expressions in _collect_expressions(package, package.metrics).values()
        for label, expression in expressions.items()
        for branch, _ in samples.list_branches(label, expression)
    ]
