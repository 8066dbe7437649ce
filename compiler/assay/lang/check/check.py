"""Run all checks of a package, in order: the rules that Dhall's types cannot express.

`check_package` returns every problem of a package: names, types, units, keys, cycles, duplicate ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from assay.lang import formula, scopes
from assay.lang.check import (
    counters,
    covered_patterns,
    enumerations,
    examples,
    filters,
    formulas,
    grains,
    judgements,
    names,
    observations,
    parts,
    phases,
    printed_names,
    publications,
    record_units,
    reports,
    series,
    sources,
    steps,
    units,
)
from assay.lang.check.checker import Checker, Locate
from assay.lang.check.reports import is_day
from assay.lang.check.series import NUMERIC_TYPES
from assay.lang.expression_types import Scope, UnitError, ValueType, infer_reduced
from assay.lang.model.package import Event, Grain, Metric, Package, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.lang.model.vocabulary import COMPUTED, LATEST_BEFORE
from assay.lang.quantities import find_contradicted_unit, unwrap_measure
from assay.lang.units import UnknownUnitError, get_package_library
from assay.util.diagnostics import Diagnostic, suggest_names


def check_coverage(checker: Checker) -> None:
    """Check that coverage refers to events and instants of the package and to fields of these events."""
    if checker.problems:
        return  # a wrong name is reported where it is declared; do not report it twice
    events = {event.name: event for event in checker.package.events}
    instants = {f"{grain.name}.{item.name}" for grain in checker.package.grains for item in grain.instants}
    for item in checker.package.coverage:
        if item.name in instants:
            continue
        if "." in item.name:
            checker.report_unlisted("instant", item.name, "in the coverage", instants)
            continue
        if item.name not in events:
            checker.report_unlisted("event", item.name, "in the coverage", events)
            continue
        fields = [field.name for field in events[item.name].fields]
        for name in (item.dropped, item.count):
            if name and name not in fields:
                checker.report_unlisted(
                    "field", name, f"in the coverage of event `{item.name}`", fields, within=(item.name,)
                )


def check_package(package: Package, locate: Locate) -> tuple[Diagnostic, ...]:
    """Return the problems of a package, in the order of its parts.  Repeated problems are merged."""
    checker = Checker(package, locate, get_package_library(package))
    for run_check in _PRECONDITIONS:
        run_check(checker)
    for run_check in _CHECKS if not checker.problems else ():
        run_check(checker)
    return checker.collect_problems()


def _check_sources(checker: Checker) -> None:
    for source in checker.package.sources:
        kind = SOURCE_KINDS.get(source.kind)
        if kind is None:
            checker.report_unknown(
                "kind", source.kind, f"of source `{source.name}`", SOURCE_KINDS, within=(source.name,)
            )
            continue
        file_pattern = source.hosts.rpartition("/")[2]
        if source.host_files and (file_pattern.count("*") != 1 or set("?[") & set(file_pattern) or source.logs):
            checker.report(
                "host-files",
                f"the glob `hosts` of source `{source.name}` does not give each file a host name",
                source.name,
                expected="one `*` in the last part of `hosts`, which matches the name, and no `logs`",
                found=f"{source.hosts or 'nothing'}{', with logs ' + ', '.join(source.logs) if source.logs else ''}",
            )
        if kind.needs_begin != bool(source.begins) and not kind.may_begin:
            fault = "has blocks but no `begins`" if not source.begins else "has `begins` but no blocks or table"
            checker.report(
                "source-begins",
                f"source `{source.name}` {fault}",
                source.name,
                expected="`begins` for the kind `blocks`, which needs it, or `csv`",
                found=f"kind `{source.kind}`, begins `{source.begins}`",
            )


def _check_events(checker: Checker) -> None:
    sources = {source.name: source for source in checker.package.sources}
    seen: dict[tuple[str, str, str], str] = {}
    for event in checker.package.events:
        if event.source not in sources:
            checker.report_unlisted(
                "source", event.source, f"of event `{event.name}`", sources, within=(event.doc, event.name)
            )
            continue
        source = sources[event.source]
        generations = {lookup.generation for lookup in source.lookups}
        kind = SOURCE_KINDS.get(source.kind)
        if kind and not source.lookups:  # without lookups, a generation is only a word of the specs
            generations = {name.generation for form in event.forms for name in form.names}
        _check_event_names(checker, event, generations, seen)
        if kind:
            _check_event_forms(checker, event, kind.nameless or source.nameless)
            _check_sole_event(checker, event, source)


def _check_event_names(
    checker: Checker, event: Event, generations: set[str], seen: dict[tuple[str, str, str], str]
) -> None:
    for name in (name for form in event.forms for name in form.names):
        if name.generation not in generations:
            checker.report(
                "unknown-generation",
                f"event `{event.name}` has a name for generation `{name.generation}`, "
                f"which source `{event.source}` does not look up",
                event.name,
                hint=suggest_names(name.generation, generations),
                within=(event.doc,),
            )
        key = (event.source, name.generation, name.name)
        if seen.setdefault(key, event.name) != event.name:
            checker.report(
                "ambiguous-event",
                f"the events `{seen[key]}` and `{event.name}` share the name `{name.name}`",
                event.name,
                hint="a record can match only one event",
                within=(event.doc,),
            )


def _check_sole_event(checker: Checker, event: Event, source: Source) -> None:
    """Report an event of a log without lookups that is not the only one: each record would be of both."""
    first = next(item for item in checker.package.events if item.source == source.name)
    if source.nameless and event != first:
        checker.report(
            "ambiguous-event",
            f"the events `{first.name}` and `{event.name}` are of source `{source.name}`, which has no lookups",
            event.name,
            expected="one event, which each record is",
            hint="a record can match only one event: tell records apart with `lookups`, such as S.source.nameAt",
            within=(event.doc,),
        )


def _check_event_forms(checker: Checker, event: Event, nameless: str) -> None:
    if nameless and (len(event.forms) != 1 or event.forms[0].names):
        message = f"event `{event.name}` is {nameless} and must have exactly one form, without names"
        checker.report("event-of-table", message, event.name, within=(event.doc,))
    elif not nameless and not any(form.names for form in event.forms):
        checker.report("event-without-name", f"event `{event.name}` has no name, so no record can match it", event.name,
                       within=(event.doc,))  # fmt: skip
    shape = [(item.name, item.type, item.unit.name) for item in event.fields]
    for form in event.forms[1:]:
        if [(item.name, item.type, item.unit.name) for item in form.fields] != shape:
            checker.report(
                "event-forms",
                f"the forms of event `{event.name}` have different fields",
                event.name,
                expected=", ".join(name for name, _, _ in shape) or "no fields",
                found=", ".join(item.name for item in form.fields) or "no fields",
                within=(event.doc,),
            )


def _check_table_references(checker: Checker) -> None:
    tables = _list_table_names(checker.package)
    for relation in checker.package.relations:
        for table in (*relation.uses, *(name for item in relation.checks for name in item.uses)):
            if table not in tables:
                checker.report_unlisted(
                    "table", table, f"in relation `{relation.name}`", tables, within=(relation.doc, relation.name)
                )
    for grain in checker.package.grains:
        table, kind = (grain.runs.of, "grain") if grain.runs else (grain.relation, "relation")
        if table not in tables:
            checker.report_unlisted(kind, table, f"in grain `{grain.name}`", tables, within=(grain.doc, grain.name))
        for instant in grain.instants:
            if instant.pick != COMPUTED and instant.of not in tables:
                checker.report_unlisted(
                    "event",
                    instant.of,
                    f"of instant `{instant.name}` (grain `{grain.name}`)",
                    tables,
                    within=(grain.name, instant.doc, instant.name),
                )
        for check, table in ((item, name) for item in grain.checks for name in item.uses if name not in tables):
            checker.report_unlisted(
                "table",
                table,
                f"in check `{check.code}` of grain `{grain.name}`",
                tables,
                within=(grain.doc, check.code),
            )


def _list_table_names(package: Package) -> set[str]:
    return {item.name for item in package.tables} | {scopes.LOGS}


def _check_cycles(checker: Checker) -> None:
    edges = _collect_edges(checker.package)
    visited: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        """Follow the tables that `name` reads; `trail` holds the tables on the way to it."""
        if name in trail:
            cycle = (*trail[trail.index(name) :], name)
            checker.report(
                "cycle",
                f"`{name}` depends on itself: {' -> '.join(cycle)}",
                name,
                hint="break the cycle: one of these must not read the next",
            )
            visited.update(cycle)
        elif name not in visited:
            for table in sorted(edges.get(name, ())):
                visit(table, (*trail, name))
            visited.add(name)

    for name in sorted(edges):
        visit(name, ())


def _collect_edges(package: Package) -> dict[str, set[str]]:
    """Return the tables that each table reads.

    Names that several tables share are left out: they are ambiguous, and reported as duplicates.
    """
    counts = Counter([*(item.name for item in package.tables), scopes.LOGS])
    return {
        name: {table for table in tables if counts[table] < 2}
        for name, tables in _collect_reads(package).items()
        if counts[name] < 2
    }


def _collect_reads(package: Package) -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {relation.name: set(relation.uses) for relation in package.relations}
    for grain in package.grains:
        tables = {item.of for item in grain.instants if item.of}
        edges[grain.name] = tables | {grain.runs.of if grain.runs else grain.relation}
        # a tally over rows of a finer grain is computed after both grains, so it closes no cycle
        edges[grain.name] |= {item.of for item in grain.tallies if not _is_finer(package, item.of, grain)}
        edges[grain.name] |= {grain.subject.grain} if grain.subject else set()
    for item in package.series:
        read = {item.event for item in item.samples} | {item.series for item in item.terms}
        edges[item.name] = {item.windows, *read}
    return edges


def _is_finer(package: Package, table: str, grain: Grain) -> bool:
    """Return whether `table` is a grain whose subject is `grain`."""
    return any(item.name == table and item.subject and item.subject.grain == grain.name for item in package.grains)


def _check_metrics(checker: Checker) -> None:
    grains = {grain.name: grain for grain in checker.package.grains}
    for metric in checker.package.metrics:
        if formula.is_formula(metric):
            continue
        if metric.grain not in grains:
            checker.report_unlisted("grain", metric.grain, f"of metric `{metric.id}`", grains, within=(metric.id,))
            continue
        _check_metric(checker, metric, scopes.build_grain_scope(checker.package, grains[metric.grain]))
        _check_order(checker, metric, grains[metric.grain])
        _check_times(checker, metric, grains[metric.grain])


def _check_times(checker: Checker, metric: Metric, grain: Grain) -> None:
    """Report a measure that reads the instant of an event whose records have none: no row has a value."""
    sources = checker.package.sources
    timeless = {item.name for item in sources if not item.time and not SOURCE_KINDS[item.kind].has_series}
    events = {
        event.name: event
        for event in checker.package.events
        if event.source in timeless and not any(form.time for form in event.forms)
    }
    names = {node.name for node in metric.measure.walk() if node.op == "instant"}
    for instant in grain.instants:
        if instant.name in names and instant.of in events:
            checker.report(
                "no-time",
                f"metric `{metric.id}` reads the instant `{instant.name}`, but records of `{instant.of}` have none",
                metric.id,
                expected=f"`time` of source `{events[instant.of].source}`: where its records have their instant",
                found="no path",
                field="measure",
            )
            return


def _check_order(checker: Checker, metric: Metric, grain: Grain) -> None:
    """Report a time to an instant that is picked before the one that it begins at: it is never above 0."""
    measure = unwrap_measure(metric.measure)
    if measure.op != "minus" or measure.operands[0].op != "instant":
        return
    before = {item.name: item.before for item in grain.instants if item.pick == LATEST_BEFORE}
    end = measure.operands[0].name
    later_instants: list[str] = []
    while len(later_instants) < len(before) and (name := before.get([end, *later_instants][-1])):
        later_instants.append(name)
    begins = [node.name for node in measure.operands[1].walk() if node.op == "instant"]
    if begins and all(name in later_instants for name in begins):
        checker.report(
            "duration-order",
            f"metric `{metric.id}` is never above 0: `{end}` is picked before `{begins[0]}`",
            metric.id,
            expected="a time from an earlier instant to a later one",
            found=f"from `{'`, `'.join(begins)}` to `{end}`",
            hint="swap `from` and `to`",
            field="measure",
        )


def _check_metric(checker: Checker, metric: Metric, scope: Scope) -> None:
    owner = f"metric `{metric.id}`"
    measured = checker.infer_type(metric.measure, scope, owner, metric.id, "measure")
    if measured and measured.type not in ("integer", "real"):
        checker.report(
            "type",
            f"the measure of {owner} is not a number",
            metric.id,
            expected="a number or a duration",
            found=measured.type,
            hint="`elapsed` measures from one instant to another",
            field="measure",
        )
    elif measured:
        _check_metric_unit(checker, metric, infer_reduced(measured, metric.reduction.kind if metric.reduction else ""))
    _check_quantity(checker, metric)
    if metric.where:
        checker.check_condition(metric.where, scope, owner, metric.id)
    for item in metric.breaks:
        if not is_day(item.since):
            message = f"invalid day in a break of {owner}"
            checker.report("break-day", message, item.since, expected="YYYY-MM-DD", found=item.since)
    if metric.reduction and metric.reduction.counts:
        _check_counts(checker, metric, metric.reduction.counts, scope)
    keys = [("is reduced by", name) for name in (metric.reduction.by if metric.reduction else ())]
    keys += [("has samples per", metric.per)] if metric.per else []
    for use, name in keys:
        if name not in scope.leaves["column"]:
            checker.report(
                "unknown-key",
                f"{owner} {use} `{name}`, which is not a column of grain `{metric.grain}`",
                name,
                hint=suggest_names(name, scope.leaves["column"]),
                within=(metric.id,),
                cause=f"{metric.grain} {name}",
            )


def _check_counts(checker: Checker, metric: Metric, name: str, scope: Scope) -> None:
    """Check that the counts of a histogram are numbers in a column of the grain."""
    columns = scope.leaves["column"]
    numeric = [item for item, typed in columns.items() if typed.type in NUMERIC_TYPES]
    if name not in numeric:
        checker.report(
            "unknown-key",
            f"the counts `{name}` of metric `{metric.id}` are not a column of grain `{metric.grain}` with numbers",
            name,
            expected=", ".join(numeric) or "a column with numbers",
            found=columns[name].type if name in columns else "no such column",
            hint=suggest_names(name, numeric),
            within=(metric.id,),
            cause=f"{metric.grain} {name}",
        )


def _check_quantity(checker: Checker, metric: Metric) -> None:
    if base := find_contradicted_unit(checker.library, metric):
        checker.report(
            "unit",
            f"metric `{metric.id}` declares that it is a {metric.quantity}, but its unit is no unit of one",
            metric.id,
            expected={"duration": "a unit of time", "size": "a unit of bytes"}.get(metric.quantity, "a percentage"),
            found=f"`{metric.unit.name}`" + (f", of which the base is `{base}`" if base != metric.unit.name else ""),
            hint="correct `unit`, or leave `quantity` out: it follows from the unit",
            field="quantity",
        )


def _check_metric_unit(checker: Checker, metric: Metric, measured: ValueType) -> None:
    try:
        checker.library.compute_factor(measured.unit, metric.unit.name)
    except UnitError:
        checker.report(
            "unit",
            f"the measure of metric `{metric.id}` has a unit that does not convert to the unit of the metric",
            metric.id,
            expected=metric.unit.name,
            found=measured.unit,
            hint=checker.suggest_unit(metric.unit.name, measured.unit),
            cause=f"{metric.unit.name} {measured.unit}",
            field="measure",
        )
    except UnknownUnitError:
        return  # reported by check_units


#: checks that the others rely on; the others run only where these report no problem
_PRECONDITIONS: tuple[Callable[[Checker], None], ...] = (
    names.check_identifiers,
    names.check_types,
    names.check_positive,
    names.check_durations,
    names.check_bindings,
    names.check_queries,
    names.check_files,
    enumerations.check_words,
)
_CHECKS: tuple[Callable[[Checker], None], ...] = (
    names.check_duplicates,
    units.check_units,
    _check_sources,
    _check_events,
    record_units.check_record_units,
    sources.check_lines,
    covered_patterns.check_covered_patterns,
    sources.check_constants,
    _check_table_references,
    _check_cycles,
    formulas.check_sql_units,
    sources.check_log_positions,
    grains.check_grains,
    _check_metrics,
    counters.check_counters,
    filters.check_filters,
    filters.check_filter_files,
    formulas.check_formulas,
    series.check_series,
    reports.check_reports,
    parts.check_parts,
    publications.check_publications,
    reports.check_titles,
    printed_names.check_printed_names,
    phases.check_phases,
    judgements.check_judgements,
    steps.check_steps,
    observations.check_observations,
    names.check_reserved_names,
    examples.check_examples,
    check_coverage,
)
