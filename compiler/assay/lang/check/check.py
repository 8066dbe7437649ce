"""Run all checks of a package, in order: what Dhall's types cannot express.

Names, types, units, keys, cycles, duplicate ids.

`check(package, locate)` collects every problem of a package; `locate` finds where a word stands in the sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from assay.lang import formula, scopes
from assay.lang.check import articles, enumerations, examples, filters, formulas, names, phases, reports
from assay.lang.check import grains as check_grains
from assay.lang.check import series as check_series
from assay.lang.check import sources as line_patterns
from assay.lang.check import sources as log_positions
from assay.lang.check.checker import Checker, Locate
from assay.lang.model.package import Event, Grain, Metric, Package
from assay.lang.model.source_kinds import SOURCE_KINDS, SourceKind
from assay.lang.model.vocabulary import COMPUTED
from assay.lang.typing_rules import Scope, Typed, UnitError, infer_reduced
from assay.lang.units import UnknownUnitError, get_library
from assay.util.diagnostics import Diagnostic, did_you_mean


def check_coverage(checker: Checker) -> None:
    """Check that coverage is about events and instants of the package, and names fields that the events have."""
    if checker.problems:
        return  # a name that is wrong elsewhere would be reported twice
    events = {event.name: event for event in checker.package.events}
    instants = {f"{grain.name}.{item.name}" for grain in checker.package.grains for item in grain.instants}
    for item in checker.package.coverage:
        if item.name in instants:
            continue
        if "." in item.name:
            checker.missing("unknown-instant", f"coverage of unknown instant `{item.name}`", item.name, instants)
            continue
        if item.name not in events:
            checker.missing("unknown-event", f"coverage of unknown event `{item.name}`", item.name, events)
            continue
        fields = [field.name for field in events[item.name].fields]
        for name in (item.dropped, item.count):
            if name and name not in fields:
                message = f"coverage of event `{item.name}` names unknown field `{name}`"
                checker.missing("unknown-field", message, name, fields, within=(item.name,))


def check(package: Package, locate: Locate) -> tuple[Diagnostic, ...]:
    """Every problem of a package, in the order of its parts; problems that are alike are told once."""
    checker = Checker(package, locate, get_library(tuple(unit.name for unit in package.units)))
    for step in _FIRST:
        step(checker)
    for step in _STEPS if not checker.problems else ():
        step(checker)
    return checker.collect_problems()


def _units(checker: Checker) -> None:
    for what, unit, word in _all_units(checker.package):
        try:
            checker.library.unit(unit)
        except UnknownUnitError as error:
            checker.unknown_unit(error, what, word)


def _all_units(package: Package) -> Iterator[tuple[str, str, str]]:
    for event in package.events:
        yield from (
            (f"field `{item.name}` of event `{event.name}`", item.unit.name, item.name)
            for form in event.forms
            for item in form.fields
        )
    for relation in package.relations:
        yield from (
            (f"column `{item.name}` of relation `{relation.name}`", item.unit.name, item.name)
            for item in relation.columns
        )
    for grain in package.grains:
        what = f"of grain `{grain.name}`"
        yield from ((f"column `{item.name}` {what}", item.unit.name, item.name) for item in grain.every_column)
    for item in package.filters:
        if item.parameter:
            yield f"the parameter of filter `{item.name}`", item.parameter.unit.name, item.name
    for series in package.series:
        yield f"series `{series.name}`", series.unit.name, series.name
    for metric in package.metrics:
        yield f"metric `{metric.id}`", metric.unit.name, metric.id


def _sources(checker: Checker) -> None:
    for source in checker.package.sources:
        kind = SOURCE_KINDS.get(source.kind)
        if kind is None:
            checker.report(
                "unknown-kind",
                f"source `{source.name}` is of a kind that there is not: `{source.kind}`",
                source.kind,
                hint=did_you_mean(source.kind, SOURCE_KINDS),
                within=(source.name,),
            )
            continue
        last = source.hosts.rpartition("/")[2]
        if source.host_files and (last.count("*") != 1 or set("?[") & set(last) or source.logs):
            checker.report(
                "host-files",
                f"the hosts of source `{source.name}` are files, so its glob must tell their names",
                source.name,
                expected="one `*` in the last part of `hosts`, which stands for the name, and no `logs`",
                found=f"{source.hosts or 'nothing'}{', with logs ' + ', '.join(source.logs) if source.logs else ''}",
            )
        if kind.needs_begin != bool(source.begins):
            said = "does not say with which key one begins" if not source.begins else "is not of blocks"
            checker.report(
                "source-begins",
                f"source `{source.name}` {said}",
                source.name,
                expected="`begins` of a source of kind `blocks`, and of no other",
                found=f"kind `{source.kind}`, begins `{source.begins}`",
            )


def _events(checker: Checker) -> None:
    sources = {source.name: source for source in checker.package.sources}
    seen: dict[tuple[str, str, str], str] = {}
    for event in checker.package.events:
        if event.source not in sources:
            checker.missing(
                "unknown-source",
                f"event `{event.name}` is of an unknown source `{event.source}`",
                event.source,
                sources,
                within=(event.doc, event.name),
            )
            continue
        source = sources[event.source]
        generations = {lookup.generation for lookup in source.lookups}
        kind = SOURCE_KINDS.get(source.kind)
        if kind and not kind.has_lookups:  # their generations are words of the specs alone
            generations = {name.generation for form in event.forms for name in form.names}
        _event_names(checker, event, generations, seen)
        if kind:
            _event_forms(checker, event, kind)


def _event_names(checker: Checker, event: Event, generations: set[str], seen: dict[tuple[str, str, str], str]) -> None:
    for name in (name for form in event.forms for name in form.names):
        if name.generation not in generations:
            checker.report(
                "unknown-generation",
                f"event `{event.name}` has a name of generation `{name.generation}`, "
                f"which source `{event.source}` does not look up",
                event.name,
                hint=did_you_mean(name.generation, generations),
                within=(event.doc,),
            )
        key = (event.source, name.generation, name.name)
        if seen.setdefault(key, event.name) != event.name:
            checker.report(
                "ambiguous-event",
                f"`{name.name}` is a name of the events `{seen[key]}` and `{event.name}`",
                event.name,
                hint="a record can be one event only",
                within=(event.doc,),
            )


def _event_forms(checker: Checker, event: Event, kind: SourceKind) -> None:
    if kind.nameless and (len(event.forms) != 1 or event.forms[0].names):
        message = f"event `{event.name}` is {kind.nameless}: it has one form, without names"
        checker.report("event-of-table", message, event.name, within=(event.doc,))
    elif not kind.nameless and not any(form.names for form in event.forms):
        checker.report("event-without-name", f"no record can be event `{event.name}`: it has no name", event.name,
                       within=(event.doc,))  # fmt: skip
    shape = [(item.name, item.type, item.unit.name) for item in event.fields]
    for form in event.forms[1:]:
        if [(item.name, item.type, item.unit.name) for item in form.fields] != shape:
            checker.report(
                "event-forms",
                f"the forms of event `{event.name}` have different fields",
                event.name,
                expected=", ".join(name for name, _, _ in shape) or "no field",
                found=", ".join(item.name for item in form.fields) or "no field",
                within=(event.doc,),
            )


def _uses(checker: Checker) -> None:
    known = _tables(checker.package)
    for relation in checker.package.relations:
        for used in (*relation.uses, *(name for item in relation.checks for name in item.uses)):
            if used not in known:
                checker.missing(
                    "unknown-table",
                    f"relation `{relation.name}` uses an unknown table `{used}`",
                    used,
                    known,
                    within=(relation.doc, relation.name),
                )
    for grain in checker.package.grains:
        wanted = (grain.runs.of, "grain") if grain.runs else (grain.relation, "relation")
        if wanted[0] not in known:
            checker.missing(
                f"unknown-{wanted[1]}",
                f"grain `{grain.name}` is made of an unknown {wanted[1]} `{wanted[0]}`",
                wanted[0],
                known,
                within=(grain.doc, grain.name),
            )
        for instant in grain.instants:
            if instant.pick != COMPUTED and instant.of not in known:
                checker.missing(
                    "unknown-event",
                    f"instant `{instant.name}` of grain `{grain.name}` is bound to an unknown event `{instant.of}`",
                    instant.of,
                    known,
                    within=(grain.name, instant.doc, instant.name),
                )
        for check, used in ((item, name) for item in grain.checks for name in item.uses if name not in known):
            checker.missing(
                "unknown-table",
                f"check `{check.code}` of grain `{grain.name}` uses an unknown table `{used}`",
                used,
                known,
                within=(grain.doc, check.code),
            )


def _tables(package: Package) -> set[str]:
    return {item.name for item in package.tables} | {scopes.LOGS}


def _cycles(checker: Checker) -> None:
    edges = _edges(checker.package)
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        """Follow what a table reads, which was reached by a trail of others."""
        if name in trail:
            cycle = (*trail[trail.index(name) :], name)
            checker.report(
                "cycle",
                f"`{name}` is made of itself: {' -> '.join(cycle)}",
                name,
                hint="break the circle: one of these must not read the next",
            )
            done.update(cycle)
        elif name not in done:
            for following in sorted(edges.get(name, ())):
                visit(following, (*trail, name))
            done.add(name)

    for name in sorted(edges):
        visit(name, ())


def _edges(package: Package) -> dict[str, set[str]]:
    """What each table is made of; of a name that several have nobody can tell, and it is told of as such."""
    own = Counter([*(item.name for item in package.tables), scopes.LOGS])
    return {
        name: {other for other in read if own[other] < 2} for name, read in _reads(package).items() if own[name] < 2
    }


def _reads(package: Package) -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {relation.name: set(relation.uses) for relation in package.relations}
    for grain in package.grains:
        bound = {item.of for item in grain.instants if item.of}
        edges[grain.name] = bound | {grain.runs.of if grain.runs else grain.relation}
        # a tally over rows of a finer grain is worked out after both are known, so it closes no circle
        edges[grain.name] |= {item.of for item in grain.tallies if not _finer(package, item.of, grain)}
        edges[grain.name] |= {grain.subject.grain} if grain.subject else set()
    for series in package.series:
        read = {item.event for item in series.samples} | {item.series for item in series.terms}
        edges[series.name] = {series.windows, *read}
    return edges


def _finer(package: Package, table: str, grain: Grain) -> bool:
    return any(item.name == table and item.subject and item.subject.grain == grain.name for item in package.grains)


def _metrics(checker: Checker) -> None:
    grains = {grain.name: grain for grain in checker.package.grains}
    for metric in checker.package.metrics:
        _better(checker, metric)
        if formula.is_formula(metric):
            continue
        if metric.grain not in grains:
            checker.missing(
                "unknown-grain",
                f"metric `{metric.id}` is of an unknown grain `{metric.grain}`",
                metric.grain,
                grains,
                within=(metric.id,),
            )
            continue
        _metric(checker, metric, scopes.build_grain_scope(checker.package, grains[metric.grain]))


def _metric(checker: Checker, metric: Metric, scope: Scope) -> None:
    what = f"metric `{metric.id}`"
    found = checker.kind(metric.measure, scope, what, metric.id, "measure")
    if found and found.type not in ("integer", "real"):
        checker.report(
            "type",
            f"{what} measures no number",
            metric.id,
            expected="a number or a duration",
            found=found.type,
            hint="`elapsed` measures from one instant to another",
            field="measure",
        )
    elif found:
        _metric_unit(checker, metric, infer_reduced(found, metric.reduction.kind if metric.reduction else ""))
    if metric.where:
        checker.condition(metric.where, scope, what, metric.id)
    keys = [("is reduced by", name) for name in (metric.reduction.by if metric.reduction else ())]
    keys += [("has samples per", metric.per)] if metric.per else []
    for how, name in keys:
        if name not in scope.leaves["column"]:
            checker.report(
                "unknown-key",
                f"{what} {how} `{name}`, which grain `{metric.grain}` lacks",
                name,
                hint=did_you_mean(name, scope.leaves["column"]),
                within=(metric.id,),
                cause=f"{metric.grain} {name}",
            )


def _better(checker: Checker, metric: Metric) -> None:
    if metric.better not in ("lower", "higher", "neither"):
        checker.report(
            "better",
            f"metric `{metric.id}` is better when `{metric.better}`",
            metric.id,
            expected="lower, higher or neither",
            found=metric.better,
            cause=metric.better,
        )


def _metric_unit(checker: Checker, metric: Metric, found: Typed) -> None:
    try:
        checker.library.factor(found.unit, metric.unit.name)
    except UnitError:
        checker.report(
            "unit",
            f"metric `{metric.id}` is measured in a unit that does not convert to its own",
            metric.id,
            expected=metric.unit.name,
            found=found.unit,
            hint=checker.unit_hint(metric.unit.name, found.unit),
            cause=f"{metric.unit.name} {found.unit}",
            field="measure",
        )
    except UnknownUnitError:
        return  # noted with the units


#: what all others take for granted
_FIRST: tuple[Callable[[Checker], None], ...] = (
    names.names,
    names.types,
    names.positive,
    names.durations,
    names.bindings,
    names.files,
    enumerations.check_words,
)
_STEPS: tuple[Callable[[Checker], None], ...] = (
    names.check_duplicates,
    _units,
    _sources,
    _events,
    line_patterns.check_lines,
    _uses,
    _cycles,
    formulas.check_sql_units,
    log_positions.check_log_positions,
    check_grains.grains,
    _metrics,
    filters.filters,
    formulas.formulas,
    check_series.series,
    reports.reports,
    articles.articles,
    reports.check_titles,
    phases.phases,
    names.check_reserved_names,
    examples.examples,
    check_coverage,
)
