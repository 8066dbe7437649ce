"""Check names: identifiers, duplicates, and names that the compiler reserves.

All other checks rely on valid, distinct names.  SQL would take one of two equal names for the other, and results would
be wrong without an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from assay.lang import chart_templates, formula, reserved_names, scopes
from assay.lang.check.checker import Checker
from assay.lang.expression_types import UnitError
from assay.lang.model.package import Check, Column, Constant, Event, Metric, Package, Relation
from assay.lang.model.parts import Choice
from assay.lang.model.report import Report
from assay.lang.model.series import Series
from assay.lang.units import UnknownUnitError, count_nanoseconds
from assay.util.diagnostics import suggest_nearest
from assay.util.os_errors import is_below

LONGEST = 100  # characters of a name; files are named after it
COLUMN_TYPES = ("integer", "unsigned", "huge", "real", "text", "boolean", "instant")
FIELD_TYPES = ("integer", "unsigned", "real", "text", "boolean")
CONSTANT_TYPES = ("integer", "real", "text", "boolean", "instant", "duration")
PARAMETER_TYPES = ("integer", "real")
POSITIVE_TYPES = ("integer", "real", "duration")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")

KindAndName = tuple[str, str]


def check_identifiers(checker: Checker) -> None:
    """Check that names of columns, tables and the like are identifiers.

    Other names may have dots and hyphens too, but nothing that a path, an address or a command would misread.
    """
    _check_pattern(
        checker, _list_sql_names(checker.package), _IDENTIFIER, "letters, digits and `_`, not starting with a digit"
    )
    _check_pattern(
        checker,
        _list_file_names(checker.package),
        _FILE_NAME,
        "letters, digits, `_`, `.` and `-`, not starting with `.` or `-`",
    )


def _check_pattern(checker: Checker, names: Iterable[KindAndName], pattern: re.Pattern[str], expected: str) -> None:
    for kind, name in dict.fromkeys(names):
        if not pattern.fullmatch(name) or len(name) > LONGEST:
            message = f"invalid name `{name[:LONGEST]}` of {kind}"
            checker.report("name", message, name, expected=f"{expected}, at most {LONGEST}")


def _list_sql_names(package: Package) -> Iterator[KindAndName]:
    yield "a system", package.system
    yield from (("a unit", item.name) for item in package.units)
    yield from (("a unit", item.name) for item in package.derived_units)
    for source in package.sources:
        yield from ((f"a constant of source `{source.name}`", item.name) for item in source.constants)
    for event in package.events:
        yield "an event", event.name
        yield from ((f"a field of event `{event.name}`", item.name) for form in event.forms for item in form.fields)
    for relation in package.relations:
        yield "a relation", relation.name
        yield from ((f"a column of relation `{relation.name}`", item.name) for item in relation.columns)
    for grain in package.grains:
        yield "a grain", grain.name
        yield from ((f"a column of grain `{grain.name}`", item.name) for item in grain.all_columns)
        yield from ((f"an instant of grain `{grain.name}`", item.name) for item in grain.instants)
    yield from (("a series", item.name) for item in package.series)
    yield from (("a cut", item.name) for item in package.cuts)


def _list_file_names(package: Package) -> Iterator[KindAndName]:
    groups: tuple[tuple[str, Iterable[str]], ...] = (
        ("a source", (item.name for item in package.sources)),
        ("a metric", (item.id for item in package.metrics)),
        ("a filter", (item.name for item in package.filters)),
        ("a summary", (item.name for item in package.summaries)),
        ("a report", (item.name for item in package.reports)),
        (
            "a chart template",
            (name for item in chart_templates.list_chart_requests(package) for name in item.templates),
        ),
    )
    for kind, names in groups:
        yield from ((kind, name) for name in names)
    for relation in package.relations:
        yield from ((f"a check of relation `{relation.name}`", item.code) for item in relation.checks)
    for grain in package.grains:
        yield from ((f"a check of grain `{grain.name}`", item.code) for item in grain.checks)


def check_types(checker: Checker) -> None:
    """Check that fields, columns, constants and parameters have known types."""
    for owner, name, type_name, allowed in _list_types(checker.package):
        if type_name not in allowed:
            message = f"unknown type `{type_name[:LONGEST]}` of {owner.format(name)}"
            checker.report(
                "unknown-type",
                message,
                name,
                expected=", ".join(allowed),
                hint=suggest_nearest(type_name, allowed),
                cause=f"{name} {type_name}",
            )


def check_durations(checker: Checker) -> None:
    """Check that constants that are durations are in units of time, or of time per something."""
    for constant in _list_constants(checker.package):
        if constant.type != "duration":
            continue
        try:
            count_nanoseconds(constant.unit.name)
        except UnitError:
            checker.report(
                "unit",
                f"constant `{constant.name}` is a duration but its unit is not a unit of time",
                constant.name,
                expected="second, or another unit of time",
                found=constant.unit.name,
            )
        except UnknownUnitError:
            continue  # unknown units are reported together


def _list_constants(package: Package) -> Iterator[Constant]:
    return (item for source in package.sources for item in source.constants)


def check_positive(checker: Checker) -> None:
    """Check that only numbers are declared to be above 0."""
    for constant in _list_constants(checker.package):
        if constant.positive and constant.type not in POSITIVE_TYPES:
            checker.report(
                "unknown-type",
                f"constant `{constant.name}` is `positive`, which type {constant.type[:LONGEST]} does not support",
                constant.name,
                expected=", ".join(POSITIVE_TYPES),
                hint="remove `positive`",
            )


def _list_types(package: Package) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    for source in package.sources:
        yield from (("constant `{}`", item.name, item.type, CONSTANT_TYPES) for item in source.constants)
    for event in package.events:
        for form in event.forms:
            yield from (
                (f"field `{{}}` of event `{event.name}`", item.name, item.type, FIELD_TYPES) for item in form.fields
            )
    for relation in package.relations:
        yield from _list_column_types(f"column `{{}}` of relation `{relation.name}`", relation.columns)
    for grain in package.grains:
        yield from _list_column_types(f"column `{{}}` of grain `{grain.name}`", grain.all_columns)
    for item in package.filters:
        if item.parameter:
            yield f"parameter `{{}}` of filter `{item.name}`", item.parameter.name, item.parameter.type, PARAMETER_TYPES


def _list_column_types(owner: str, columns: Iterable[Column]) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    yield from ((owner, item.name, item.type, COLUMN_TYPES) for item in columns)


def check_bindings(checker: Checker) -> None:
    """Check that each lookup in another table has at least one pair of columns."""
    for grain in checker.package.grains:
        lookups = [(f"instant `{item.name}`", item.name, item.on) for item in grain.instants if item.of]
        lookups += [(f"tally `{item.column.name}`", item.column.name, item.on) for item in grain.tallies]
        lookups += [("the subject", grain.name, grain.subject.on)] if grain.subject else []
        for owner, name, pairs in lookups:
            if not pairs:
                message = f"{owner} of grain `{grain.name}` has no columns in `on`"
                checker.report("no-key", message, name, expected="`on` with a pair of columns, such as `G.same a b`")


def check_queries(checker: Checker) -> None:
    """Check that each relation has a query."""
    for relation in checker.package.relations:
        if not relation.sql.strip():
            hint = "`G.eachKey` and `G.eachRecordOf` write it from their `events`, of which they need one"
            message = f"relation `{relation.name}` has no SQL"
            checker.report("no-sql", message, relation.name, expected="a query", found="an empty text", hint=hint)


def check_files(checker: Checker) -> None:
    """Check that files of sources and constants are below the run."""
    for source in checker.package.sources:
        globs = [*source.logs, *([source.hosts] if source.hosts else [])]
        documents = dict.fromkeys(name for item in source.constants for name in item.files)
        for name in (*globs, *documents):
            if not is_below(name) or "***" in name:
                checker.report(
                    "run-file",
                    f"path `{name[:LONGEST]}` of source `{source.name}` cannot be a file of a run",
                    name,
                    expected="a path relative to the run directory, such as node-*.json",
                )


def check_duplicates(checker: Checker) -> None:
    """Check that names are distinct: per kind, of tables, fields, checks and constants."""
    _check_duplicate_names(checker)
    _check_case_collisions(checker)
    _check_duplicate_tables(checker)
    _check_duplicate_fields(checker)
    _check_duplicate_checks(checker)
    _check_duplicate_constants(checker)


def _check_duplicate_names(checker: Checker) -> None:
    package = checker.package
    groups: Iterable[tuple[str, list[str]]] = (
        ("metric", [metric.id for metric in package.metrics]),
        ("filter", [item.name for item in package.filters]),
        ("report", [item.name for item in package.reports]),
        ("summary", [item.name for item in package.summaries]),
        ("source", [item.name for item in package.sources]),
        (
            "table",
            [item.name for item in package.tables] + [scopes.LOGS],
        ),
    )
    for kind, names in groups:
        for name, times in Counter(names).items():
            if times > 1:
                again = checker.locate(name, 1)[0]
                checker.report(
                    f"duplicate-{kind}",
                    f"{times} {kind}s are named `{name}`",
                    name,
                    hint="rename all but one"
                    if kind != "table"
                    else "events, relations and grains must all have different names",
                    notes=(f"again at {again}",) if again else (),
                )


def _check_case_collisions(checker: Checker) -> None:
    """Check that names of metrics and reports differ by more than case.

    Files are named after them, and some file systems ignore case.
    """
    package = checker.package
    kinds = {"metric": [item.id for item in package.metrics], "report": [item.name for item in package.reports]}
    for kind, names in kinds.items():
        seen: dict[str, str] = {}
        for name in names:
            first = seen.setdefault(name.lower(), name)
            if first != name:
                checker.report(
                    f"duplicate-{kind}",
                    f"{kind}s `{first}` and `{name}` differ only in case: on file systems that ignore case, "
                    "they have the same file",
                    name,
                    hint="rename one of them",
                )


def _check_duplicate_tables(checker: Checker) -> None:
    """Check that tables have names distinct from each other, from the compiler's tables and from metrics.

    SQL ignores case, and the results of metrics are stored as tables.
    """
    package = checker.package
    rows_tables = {reserved_names.get_rows_name(item.name).lower(): item.name for item in package.grains}
    table_names = [item.name for item in package.tables]
    seen: dict[str, str] = {scopes.LOGS: scopes.LOGS}
    for kind, name in _list_tables(package):
        free_name = reserved_names.choose_free_name(f"{package.system}_{name}", table_names)
        hint = f"rename it, for example to `{free_name}`"
        if reserved_names.is_reserved_table(name, kind == "grain"):
            message = f"{kind} `{name}` has a name that the compiler reserves for a table or query"
            checker.report("reserved-name", message, name, hint=hint)
        if name.lower() in rows_tables:
            message = f"{kind} `{name}` has the name of the rows of grain `{rows_tables[name.lower()]}` before filters"
            checker.report("reserved-name", message, name, hint=hint)
        first_name = seen.setdefault(name.lower(), name)
        if first_name != name:
            checker.report(
                "duplicate-table", _describe_case_collision(first_name, name), name, hint="rename one of them"
            )
    kinds = {
        name: f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} of its package" for kind, name in _list_tables(package)
    }
    kinds |= {reserved_names.get_rows_name(item.name): f"the rows of grain `{item.name}`" for item in package.grains}
    kinds |= {scopes.LOGS: "the table of the logs"}
    for metric in package.metrics:
        if metric.id in kinds:
            message = f"metric `{metric.id}` has the name of {kinds[metric.id]}: their results are stored by name"
            checker.report("metric-name", message, metric.id, hint="rename one of them")


def _list_tables(package: Package) -> Iterator[tuple[str, str]]:
    kinds = {Event: "event", Relation: "relation", Series: "series"}
    yield from ((kinds.get(type(item), "grain"), item.name) for item in package.tables)


def _check_duplicate_fields(checker: Checker) -> None:
    """Check that the fields of an event have distinct names, since each becomes a column."""
    for event in checker.package.events:
        seen: dict[str, str] = {}
        for name in (field.name for field in event.fields):
            if (first_name := seen.setdefault(name.lower(), name)) != name:
                message = f"fields of event `{event.name}`: {_describe_case_collision(first_name, name)}"
                checker.report("duplicate-field", message, name, hint="rename one of them", within=(event.name,))
        for name, times in Counter(field.name for field in event.fields).items():
            if times > 1:
                message = f"event `{event.name}` has {times} fields named `{name}`"
                checker.report("duplicate-field", message, name, hint="rename all but one", within=(event.name,))


def _describe_case_collision(first: str, second: str) -> str:
    return f"`{first}` and `{second}` are the same name in SQL, which ignores case"


def _check_duplicate_checks(checker: Checker) -> None:
    """Check that checks of a table have distinct codes.  Every relation has a check of its key."""
    tables: list[tuple[str, str, Sequence[Check], bool]] = [
        *(("relation", item.name, item.checks, False) for item in checker.package.relations),
        *(("grain", item.name, item.checks, True) for item in checker.package.grains),
    ]
    for kind, name, checks, allow_key in tables:
        for code, times in Counter(item.code for item in checks).items():
            if code == reserved_names.KEY and not allow_key:
                message = f"check `{code}` of {kind} `{name}` has the name of the check of its key"
                hint = "rename or remove it: the uniqueness of keys is always checked"
                checker.report("duplicate-check", message, code, hint=hint)
            elif times > 1:
                message = f"{kind} `{name}` has {times} checks `{code}`"
                checker.report("duplicate-check", message, code, hint="rename all but one")


def _check_duplicate_constants(checker: Checker) -> None:
    """Check that only one source declares a constant: a run has one value of it."""
    declarations: dict[str, tuple[str, Constant]] = {}
    seen: dict[str, str] = {}
    for source in checker.package.sources:
        for name, times in Counter(item.name for item in source.constants).items():
            if times > 1:
                message = f"source `{source.name}` has {times} constants named `{name}`"
                checker.report("duplicate-constant", message, name, hint="rename all but one")
        for item in {constant.name: constant for constant in source.constants}.values():
            if (first_name := seen.setdefault(item.name.lower(), item.name)) != item.name:
                message = f"constants of runs: {_describe_case_collision(first_name, item.name)}"
                checker.report("duplicate-constant", message, item.name, hint="rename one of them")
            earlier, declaration = declarations.setdefault(item.name, (source.name, item))
            if earlier != source.name and declaration != item:
                checker.report(
                    "duplicate-constant",
                    f"sources `{earlier}` and `{source.name}` define different constants `{item.name}`",
                    item.name,
                    hint="a run has one value of each constant: rename one, or list it in one source with both files",
                )


_RENAME = "rename the column"


def check_reserved_names(checker: Checker) -> None:
    """Check that fields, keys, labels and columns of reports do not collide with the compiler's columns."""
    for event in checker.package.events:
        _check_reserved_fields(checker, event)
    for grain in checker.package.grains:
        _check_sample_columns(checker, f"the key of grain `{grain.name}`", grain.key, (grain.name,))
    for metric in checker.package.metrics:
        reduction_keys = metric.reduction.by if metric.reduction else ()
        names = dict.fromkeys((*reduction_keys, *([metric.per] if metric.per else [])))
        _check_sample_columns(checker, f"metric `{metric.id}`", names, (metric.id,))
    _check_series_columns(checker)
    for report in checker.package.reports:
        for owner, columns, metrics, within in _list_row_requests(checker, report):
            _check_row_request(checker, owner, columns, metrics, within)


def _check_reserved_fields(checker: Checker, event: Event) -> None:
    names = dict.fromkeys(field.name for form in event.forms for field in form.fields)
    kind = next((source.kind for source in checker.package.sources if source.name == event.source), "")
    for name in (name for name in names if reserved_names.is_event_column(name, kind)):
        message = f"field `{name}` of event `{event.name}` has a name that the compiler reserves for a column"
        hint = f'rename the field: its name may differ from the key that it is read from, `E.at [ "{name}" ]`'
        checker.report("reserved-name", message, name, hint=hint, within=(event.doc, event.name))


def _check_sample_columns(checker: Checker, owner: str, names: Iterable[str], within: Sequence[str]) -> None:
    for name in (name for name in names if reserved_names.is_sample_column(name)):
        message = f"{owner} identifies samples by `{name}`, which the compiler reserves for a column of samples"
        checker.report("reserved-name", message, name, hint=_RENAME, within=within)


def _check_series_columns(checker: Checker) -> None:
    keys = {relation.name: relation.key for relation in checker.package.relations}
    for item in checker.package.series:
        key = keys.get(item.windows, ())
        _check_labels(checker, item, key)
        for term in item.terms:
            if term.name.lower() in (*(name.lower() for name in (*key, *item.by)), "t_ns"):
                message = f"term `{term.name}` of series `{item.name}` has the name of a column of the series"
                checker.report("reserved-name", message, term.name, hint=_RENAME, within=(item.name,))


def _check_labels(checker: Checker, item: Series, key: Sequence[str]) -> None:
    """Check that labels of lines collide neither with the key of the windows nor with computed columns."""
    window_columns = {name.lower() for name in key}
    for name in dict.fromkeys((*key, *item.by)):
        message = f"series `{item.name}` identifies lines by `{name}`, which "
        hint = f'{_RENAME}: the name of a field may differ from the label that it is read from, `["labels", "{name}"]`'
        if reserved_names.is_reading_column(name):
            message += "the compiler reserves for a column"
            checker.report(
                "reserved-name", message, name, hint=hint if name in item.by else _RENAME, within=(item.name,)
            )
        elif name in item.by and name.lower() in window_columns:
            message += f"is also in the key of its windows `{item.windows}`"
            checker.report("series-label", message, item.name, hint=hint, cause=f"{item.windows} {name}")


#: description of what needs rows, its columns, its metrics, names of the enclosing declarations
ColumnUse = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def _list_row_requests(checker: Checker, report: Report) -> Iterator[ColumnUse]:
    """Yield what the choices and parts of a report read of rows."""
    keys = {grain.name: grain.key for grain in checker.package.grains}
    for choice in report.choices:
        yield (
            f"choice `{choice.name}`",
            *_list_choice_columns(choice, keys.get(choice.grain, ())),
            (report.name, choice.name),
        )
    for part in report.parts:
        for block in part.blocks:
            for request in block.read_rows(checker.package):
                yield f"`{block.title}` of report `{report.name}`", request.columns, request.metrics, ()


def _list_choice_columns(choice: Choice, key: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    pins = (pin.column for pin in choice.pins)
    names = (*choice.label, *choice.keys, *choice.repeats, *pins, *choice.least, choice.first)
    columns = (*key, *names, choice.begin, choice.end)
    return columns, (choice.most, choice.done, choice.due)


def _check_row_request(
    checker: Checker, owner: str, columns: tuple[str, ...], metrics: tuple[str, ...], within: tuple[str, ...]
) -> None:
    column_names = {name.lower() for name in columns}
    ids = dict.fromkeys((*metrics, *(metric.id for metric in _resolve_metrics(checker, metrics))))
    for name in (name for name in ids if name and name.lower() in column_names):
        message = f"{owner} shows both a metric and a column named `{name}`"
        checker.report("metric-name", message, name, hint="rename one of them", within=within)


def _resolve_metrics(checker: Checker, names: Iterable[str]) -> Sequence[Metric]:
    metrics = formula.index_metrics(checker.package)
    return formula.list_measured(metrics, [metrics[name] for name in names if name in metrics])
