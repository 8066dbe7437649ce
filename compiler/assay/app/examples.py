"""`assay test`: run the examples of specs, and list what no example exercises.

Which name a record had, and at which place a field was found, no table of an event tells.  So the records are read once
more, as events of the same names with other fields: one that says which name it was, one for each place.
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
from assay.engine.mount import first_broken, mount
from assay.engine.result_cache import Store
from assay.engine.samples import Branch
from assay.lang import dependencies, workspace
from assay.lang.formula import is_formula
from assay.lang.model.example import Example, Expectation
from assay.lang.model.expression import Expression
from assay.lang.model.package import Event, Field, Form, Metric, Name, Package
from assay.lang.model.vocabulary import Unit
from assay.lang.normal_form import CheckedPackage
from assay.sql import dialect
from assay.sql.dialect import column, event_table, scan
from assay.util.diagnostics import AssayError, Diagnostic, Span
from assay.util.scratch import temporary_folder as temporary

if TYPE_CHECKING:
    import duckdb


NULL = exp.Null()
NAMED = "named"  # the probe that says which name a record had


@dataclass(frozen=True, slots=True)
class Fallback:
    """One of several names of an event (no `field`), or of several places of a field; `form` is the number (from 1) of
    the form that has it, `text` the name with its generation, or the place."""

    event: str
    field: str
    form: int
    text: str


def fallbacks(event: Event, fields: Collection[str]) -> tuple[Fallback, ...]:
    """All names of an event, where there are several, and all places of its `fields` that have several in a form."""
    names = [Fallback(event.name, "", form, text) for form, texts in _names(event) for text in texts]
    places = [
        Fallback(event.name, field.name, form, ".".join(path))
        for form, field in _with_several(event, fields)
        for path in field.paths
    ]
    return (*(names if len(names) > 1 else ()), *places)


def exercised(
    session: Session, checked: CheckedPackage, run: NamedRun, fields: Mapping[str, Collection[str]]
) -> frozenset[Fallback]:
    """Which names and places the records of a run have, of events and their fields.  Raises AssayError."""
    probes = {
        event.name: _probe(event, fields[event.name])
        for event in checked.package.events
        if event.name in fields and fallbacks(event, fields[event.name])
    }
    if not probes:
        return frozenset()
    events = tuple(probes.get(event.name, event) for event in checked.package.events)
    probed = replace(checked, package=replace(checked.package, events=events))
    wanted = {name: frozenset(field.name for field in probe.fields) for name, probe in probes.items()}
    found: set[Fallback] = set()
    with temporary() as folder:
        # What is read so is nothing to keep in the place of what the events are.
        with closing(Session(session.workspace, Store(folder), threads=session.threads)) as alone:
            (prepared,) = prepare(alone, probed, [run], wanted)
        with connect(os.cpu_count() or 1, folder) as connection:
            mount(connection, prepared.folders)
            for event in checked.package.events:
                if prepared.counts.get(event.name) and event.name in probes:
                    names = sorted(wanted[event.name])
                    rows = connection.execute(dialect.text(query_taken_paths(event.name, names))).fetchall()
                    told = [dict(zip(names, row, strict=True)) for row in rows]
                    found |= set(_of_rows(event, fields[event.name], told))
    return frozenset(found)


def _names(event: Event) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The number of each form, and its names with their generations."""
    for number, form in enumerate(event.forms, start=1):
        yield number, tuple(f"{item.generation}: {item.name}" for item in form.names)


def _with_several(event: Event, fields: Collection[str]) -> Iterator[tuple[int, Field]]:
    """The fields with several places, each with the number of its form."""
    for number, form in enumerate(event.forms, start=1):
        yield from ((number, field) for field in form.fields if field.name in fields and len(field.paths) > 1)


def _probe(event: Event, fields: Collection[str]) -> Event:
    """The event with a form for each name, and fields that tell names and places."""
    several = dict.fromkeys(field.name for _, field in _with_several(event, fields))
    most = {
        name: max(len(field.paths) for _, field in _with_several(event, fields) if field.name == name)
        for name in several
    }
    forms: list[Form] = []
    for form in event.forms:
        alone: list[tuple[Name, ...]] = [(name,) for name in form.names]
        for names in alone or [()]:
            told = Field(NAMED, "integer", Unit("", ""), "value", (), str(len(forms)), True, (), "")
            forms.append(replace(form, names=names, fields=(told, *_places(form, most))))
    return replace(event, forms=tuple(forms))


def _places(form: Form, most: Mapping[str, int]) -> Iterator[Field]:
    """A field for each place of the fields with several."""
    paths = {field.name: field.paths for field in form.fields}
    for name, number in most.items():
        for index in range(number):
            place = paths[name][index : index + 1]
            yield Field(f"{name}_{index}", "text", Unit("", ""), "value", place, None, False, (), "")


def query_taken_paths(event: str, names: Sequence[str]) -> exp.Select:
    """Which name was seen with which places: a row for each that there is; of a place, whether it had a value."""
    table = event_table(scan(f"events/{event}/*.parquet"), names)
    told = [
        column(name) if name == NAMED else exp.alias_(exp.Not(this=exp.Is(this=column(name), expression=NULL)), name)
        for name in names
    ]
    return dialect.select(*told).distinct().from_(table.subquery("told"))


def _of_rows(event: Event, fields: Collection[str], rows: Sequence[Mapping[str, object]]) -> Iterator[Fallback]:
    """The names that rows had, and the first places of fields with a value."""
    named = [
        (number, text, form)
        for (number, texts), form in zip(_names(event), event.forms, strict=True)
        for text in texts or ("",)
    ]
    for row in rows:
        number, text, form = named[int(str(row[NAMED]))]
        yield Fallback(event.name, "", number, text)
        for field in form.fields:
            if field.name in fields and len(field.paths) > 1:
                there = (path for index, path in enumerate(field.paths) if row[f"{field.name}_{index}"])
                if path := next(there, None):
                    yield Fallback(event.name, field.name, number, ".".join(path))


#: measured reals are as expected when they differ by no more than this, relatively
TOLERANCE = Fraction(1, 10**9)
RUN = "example"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An expectation and what was found: samples as texts, in the metric's unit, ascending."""

    metric: str
    unit: str
    expected: tuple[str, ...]
    found: tuple[str, ...]
    holds: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """An example: where it stands in the specs, its verdicts, or the problems for which it could not be worked out."""

    example: str
    span: Span | None
    verdicts: tuple[Verdict, ...]
    problems: tuple[Diagnostic, ...]
    events: frozenset[str] = frozenset()
    branches: frozenset[Branch] = frozenset()
    fallbacks: frozenset[Fallback] = frozenset()

    @property
    def holds(self) -> bool:
        """Whether all is as expected."""
        return not self.problems and all(item.holds for item in self.verdicts)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What no example exercises: metrics without an expectation, events that metrics read, branches of expressions;
    names and places of fields that stand in for others, of events that some example has.

    `fallbacks` says how many of the last there are, by event.
    """

    metrics: tuple[str, ...]
    events: tuple[str, ...]
    branches: tuple[Branch, ...]
    unseen: tuple[Fallback, ...] = ()
    fallbacks: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tested:
    """The examples of a system, and what they leave out."""

    system: str
    outcomes: tuple[Outcome, ...]
    coverage: Coverage = dataclasses.field(default_factory=lambda: Coverage((), (), ()))

    @property
    def holds(self) -> bool:
        """Whether every example holds."""
        return all(item.holds for item in self.outcomes)


def test(session: Session, system: str) -> Tested:
    """Work out all examples of a system's specs.  Raises AssayError when the specs themselves are wrong."""
    checked = session.package(system)
    locate = workspace.positions(session.workspace, system)
    outcomes = []
    for done, item in enumerate(checked.package.examples):
        session.progress(f"examples of {system}", done, len(checked.package.examples))
        outcomes.append(_outcome(session, checked, item, locate(item.name)[0]))
    return Tested(system, tuple(outcomes), _coverage(checked.package, outcomes))


test.__test__ = False  # type: ignore[attr-defined]  # it is no test of ours


def _outcome(session: Session, checked: CheckedPackage, item: Example, span: Span | None) -> Outcome:
    with temporary() as folder:
        try:
            write_records(item, folder)
            return _worked_out(session, checked, item, span, NamedRun(RUN, folder))
        except AssayError as error:
            return Outcome(item.name, span, (), tuple(_without(problem, folder) for problem in error.diagnostics))


def _without(problem: Diagnostic, folder: Path) -> Diagnostic:
    """A problem that names no folder of ours: the files of an example are called as the example calls them."""

    def name_file(text: str) -> str:
        return text.replace(f"{folder}/", "").replace(str(folder), "the example")

    span = replace(problem.span, file=name_file(problem.span.file)) if problem.span else None
    notes = tuple(map(name_file, problem.notes))
    return replace(problem, message=name_file(problem.message), found=name_file(problem.found), span=span, notes=notes)


def write_records(item: Example, folder: Path) -> None:
    for file in item.files:
        place = folder / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(file.text, encoding="utf-8", newline="")


def _worked_out(session: Session, checked: CheckedPackage, item: Example, span: Span | None, run: NamedRun) -> Outcome:
    package = checked.package
    metrics = [checked.metric(expectation.metric) for expectation in item.expect]
    given = [f"{use.name}={use.argument}" if use.argument else use.name for use in item.filters]
    compiled = compile_plan(checked, metrics, filters.applied(package, None, given, not given))
    graph = compiled.graph
    (prepared,) = prepare(session, checked, [run], compiled.plan.required_fields, metrics)
    broken = [
        Diagnostic(
            "example",
            f"example `{item.name}` has broken records: {sum(lost)}",
            span,
            notes=(f"the first: {first_broken(part.events)}",),
        )
        for part in prepared.parts
        if any(lost := [log.quarantined for log in part.facts.logs])
    ]
    with connect(os.cpu_count() or 1, session.store.room()) as connection:
        mount(connection, prepared.folders)
        asked = {node.name for node in graph if node.statement.kind in ("metric", "check")}
        samples.create(connection, graph, asked, prepared.constants)
        broken += samples.broken_checks(connection, graph, prepared.constants, RUN)
        measured = [_measured(connection, checked, metric, prepared) for metric in metrics]
        verdicts = [
            _verdict(checked, expectation, values) for expectation, values in zip(item.expect, measured, strict=True)
        ]
        taken = {
            branch
            for grain, expressions in _expressions(package, metrics).items()
            for branch in samples.find_taken_branches(connection, grain, expressions, prepared.constants)
        }
    with connect(os.cpu_count() or 1, session.store.room()) as connection:
        mount(connection, prepared.folders)
        samples.create(connection, graph, asked, prepared.constants, last_first=True)
        turned = [_measured(connection, checked, metric, prepared) for metric in metrics]
    others = [_verdict(checked, *pair) for pair in zip(item.expect, turned, strict=True)]
    broken += _by_chance(item, span, verdicts, others)
    seen = frozenset(name for name, number in prepared.counts.items() if number)
    had = exercised(
        session, checked, run, {name: of for name, of in compiled.plan.required_fields.items() if name in seen}
    )
    return Outcome(item.name, span, tuple(verdicts), tuple(broken), seen, frozenset(taken), had)


def _measured(
    connection: duckdb.DuckDBPyConnection, checked: CheckedPackage, metric: Metric, prepared: IngestedRun
) -> Sequence[int | float]:
    """The samples of a metric whose tables are made."""
    return samples.ascending(connection, metric, checked.measured[metric.id].integral, prepared.constants)


def _by_chance(
    item: Example, span: Span | None, verdicts: Sequence[Verdict], turned: Sequence[Verdict]
) -> Iterator[Diagnostic]:
    """Metrics that are others when the records of events stand in the opposite order."""
    for one, other in zip(verdicts, turned, strict=True):
        if one.found != other.found:
            yield Diagnostic(
                "row-order",
                f"example `{item.name}`: samples of `{one.metric}` depend on the order in which rows stand in tables, "
                "which is none",
                span,
                found=f"{', '.join(one.found) or 'none'}; in the opposite order {', '.join(other.found) or 'none'}",
                hint="an ORDER BY of its SQL leaves rows side by side: what tells them apart is `host` and `seq`",
            )


def _verdict(checked: CheckedPackage, expectation: Expectation, measured: Sequence[int | float]) -> Verdict:
    metric, factor = checked.metric(expectation.metric), checked.measured[expectation.metric].factor
    found = [Fraction(value) * factor for value in measured]
    wanted = [Fraction(text) for text in expectation.samples]
    holds = len(found) == len(wanted) and all(
        a == b or (isinstance(value, float) and abs(a - b) <= TOLERANCE * max(abs(a), abs(b)))
        for value, a, b in zip(measured, found, wanted, strict=False)
    )
    return Verdict(metric.id, metric.unit.symbol, expectation.samples, tuple(_decimal(value) for value in found), holds)


def _decimal(value: Fraction) -> str:
    """A number as people write it: exactly where its decimals end, else as a double prints."""
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1 and value.denominator <= 10**12:
        digits = 12
        text = f"{abs(value.numerator) * 10**digits // value.denominator:0{digits + 1}d}"
        return ("-" if value < 0 else "") + f"{text[:-digits]}.{text[-digits:]}".rstrip("0").rstrip(".")
    return repr(float(value))


def _expressions(package: Package, metrics: Sequence[Metric]) -> dict[str, dict[str, Expression]]:
    """Grain -> the expressions that metrics work out on its rows, by what they are of."""
    needs = dependencies.collect_dependencies(package, metrics, ())
    found: dict[str, dict[str, Expression]] = {}
    for metric in metrics:
        if is_formula(metric):
            continue
        found.setdefault(metric.grain, {})[f"metric {metric.id}"] = metric.measure
    for grain in package.grains:
        members = needs.grains.get(grain.name, set())
        for derived in grain.derived:
            if derived.column.name in members:
                found.setdefault(grain.name, {})[f"{grain.name}.{derived.column.name}"] = derived.value
    return found


def _coverage(package: Package, outcomes: Sequence[Outcome]) -> Coverage:
    expected = {item.metric for outcome in outcomes for item in outcome.verdicts}
    seen = {name for outcome in outcomes for name in outcome.events}
    taken = {branch for outcome in outcomes for branch in outcome.branches}
    needs = dependencies.collect_dependencies(package, package.metrics, ())
    had = {item for outcome in outcomes for item in outcome.fallbacks}
    every = [branch for _, branch in _branches(package)]
    known = [
        item
        for event in package.events
        if event.name in seen
        for item in fallbacks(event, needs.events.get(event.name, ()))
    ]
    return Coverage(
        tuple(item.id for item in package.metrics if item.id not in expected and not item.examples),
        tuple(event.name for event in package.events if event.name in needs.events and event.name not in seen),
        tuple(branch for branch in every if branch not in taken),
        tuple(item for item in known if item not in had),
        Counter(item.event for item in known),
    )


def _branches(package: Package) -> Iterator[tuple[str, Branch]]:
    by_grain: Mapping[str, Mapping[str, Expression]] = _expressions(package, package.metrics)
    for grain, expressions in by_grain.items():
        for of, expression in expressions.items():
            for branch, _node in samples.branches(of, expression):
                yield grain, branch
