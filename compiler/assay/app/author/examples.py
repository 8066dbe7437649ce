"""Run the examples of specs and of slices of runs, and list what no example exercises (`assay test`)."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.audit.trace_runs import is_row
from assay.app.author.example_fallbacks import Fallback, find_exercised_fallbacks, list_fallbacks
from assay.app.author.slice_files import RowExpectation, Slice, describe_row, list_slices
from assay.app.session import filters
from assay.app.session.prepare import prepare
from assay.app.session.session import Session
from assay.engine import samples
from assay.engine.compiled_plan import compile_plan
from assay.engine.executor import connect
from assay.engine.mount import find_first_quarantined, mount_folders
from assay.engine.samples import Branch
from assay.lang import dependencies, workspace
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.example import Example, Expectation
from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric, Package
from assay.lineage.sample_query import VALUE, build_metric_query
from assay.plan.request import Request
from assay.runs.model import IngestedRun, NamedRun
from assay.sql.expressions import build_placeholders
from assay.util.diagnostics import AssayError, Diagnostic, Span
from assay.util.scratch import create_temporary_folder

if TYPE_CHECKING:
    import duckdb


#: The relative tolerance for comparing measured reals with expected samples.
TOLERANCE = Fraction(1, 10**9)
RUN_ID = "example"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The expected and the computed samples of a metric: texts in the metric's unit, ascending.

    `row` describes the row whose sample it is; empty for all samples.
    """

    metric: str
    unit: str
    expected: tuple[str, ...]
    actual: tuple[str, ...]
    holds: bool
    row: str = ""


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
    """Run all examples of a system, and its slices of runs.

    Raises AssayError if the specs themselves or the files of slices are wrong.
    """
    checked = session.load_package(system)
    locate = workspace.get_positions(session.workspace, system)
    slices = list_slices(session.workspace, checked)
    size = len(checked.package.examples) + len(slices)
    outcomes = []
    for index, item in enumerate(checked.package.examples):
        session.progress(f"examples of {system}", index, size)
        outcomes.append(_test_example(session, checked, item, locate(item.name)[0]))
    for index, sliced in enumerate(slices, start=len(outcomes)):
        session.progress(f"examples of {system}", index, size)
        outcomes.append(_test_slice(session, checked, sliced))
    return ExampleResults(system, tuple(outcomes), _compute_coverage(checked.package, outcomes))


run_system_examples.__test__ = False  # type: ignore[attr-defined]  # pytest must not collect it


def _test_example(session: Session, checked: CheckedPackage, item: Example, span: Span | None) -> Outcome:
    with create_temporary_folder() as folder:
        try:
            write_records(item, folder)
            return run_example(session, checked, item, span, folder)
        except AssayError as error:
            return Outcome(item.name, span, (), tuple(drop_folder(problem, folder) for problem in error.diagnostics))


def _test_slice(session: Session, checked: CheckedPackage, sliced: Slice) -> Outcome:
    item, root = sliced.example, session.workspace.root
    try:
        return run_example(session, checked, item, sliced.span, sliced.run)
    except AssayError as error:
        return Outcome(item.name, sliced.span, (), tuple(drop_folder(problem, root) for problem in error.diagnostics))


def drop_folder(problem: Diagnostic, folder: Path) -> Diagnostic:
    """Return a problem in which paths are relative to a folder, which is that of an example."""

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


def run_example(
    session: Session, checked: CheckedPackage, item: Example, span: Span | None, directory: Path
) -> Outcome:
    """Compute the metrics that an example expects, with its files in a directory, and compare their samples.

    Checks are about whole runs, so they do not apply to a slice. Raises AssayError if they cannot be computed.
    """
    package, run = checked.package, NamedRun(RUN_ID, directory)
    is_slice = any(isinstance(expectation, RowExpectation) for expectation in item.expect)
    metrics = [checked.get_metric(name) for name in dict.fromkeys(expected.metric for expected in item.expect)]
    filter_texts = [f"{use.name}={use.argument}" if use.argument else use.name for use in item.filters]
    compiled_plan = compile_plan(
        checked, Request(tuple(metrics)), filters.parse_filters(package, None, filter_texts, not filter_texts)
    )
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
        kinds = ("metric",) if is_slice else ("metric", "check")
        table_names = {node.name for node in graph if node.statement.kind in kinds}
        samples.create_tables(connection, graph, table_names, ingested_run.constants)
        if not is_slice:
            problems += samples.find_failed_checks(connection, graph, ingested_run.constants, RUN_ID)
        measured_samples = [_measure_samples(connection, checked, expected, ingested_run) for expected in item.expect]
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
        reversed_samples = [_measure_samples(connection, checked, expected, ingested_run) for expected in item.expect]
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
    connection: duckdb.DuckDBPyConnection, checked: CheckedPackage, expectation: Expectation, ingested_run: IngestedRun
) -> Sequence[int | float]:
    """Return the samples of a metric whose tables have been created, or those of the expected row."""
    metric, constants = checked.get_metric(expectation.metric), ingested_run.constants
    if isinstance(expectation, RowExpectation):
        grain = next(item for item in checked.package.grains if item.name == metric.grain)
        placeholders = build_placeholders(list(constants))
        sample_query = build_metric_query(metric, grain, checked.measured[metric.id].integral, placeholders)
        rows = samples.fetch_rows(connection, sample_query.query, constants)
        return sorted(row[VALUE] for row in rows if is_row(row, expectation.row))
    return samples.fetch_samples(connection, metric, checked.measured[metric.id].integral, constants)


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
        is_sample(value, factor, sample) for value, sample in zip(measured_samples, expected, strict=True)
    )
    return Verdict(
        metric.id,
        metric.unit.symbol,
        expectation.samples,
        tuple(format_decimal(value) for value in samples_in_unit),
        holds,
        describe_row(expectation.row) if isinstance(expectation, RowExpectation) else "",
    )


def is_sample(value: int | float, factor: Fraction, expected: Fraction) -> bool:
    """Return whether a value as measured is the expected sample: whole numbers exactly, others within a tolerance."""
    actual = Fraction(value) * factor
    is_near = abs(actual - expected) <= TOLERANCE * max(abs(actual), abs(expected))
    return actual == expected or (isinstance(value, float) and is_near)


def format_decimal(value: Fraction) -> str:
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
