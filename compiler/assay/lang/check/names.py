"""Check names: identifiers, duplicates, and names that the compiler reserves.

All other parts take that for granted.

SQL would take one for the other, and numbers would be wrong without a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from assay.lang import chart_templates, formula, reserved_names, scopes
from assay.lang.check.checker import Checker
from assay.lang.model.article import Article, Choice
from assay.lang.model.package import Check, Column, Constant, Event, Metric, Package, Relation, Series
from assay.lang.typing_rules import UnitError
from assay.lang.units import UnknownUnitError, count_nanoseconds
from assay.util.diagnostics import suggest_nearest
from assay.util.os_errors import is_below

LONGEST = 100  # characters of a name, which names files, too
COLUMN_TYPES = ("integer", "unsigned", "huge", "real", "text", "boolean", "instant")
FIELD_TYPES = ("integer", "unsigned", "real", "text", "boolean")
CONSTANT_TYPES = ("integer", "real", "text", "boolean", "instant", "duration")
PARAMETER_TYPES = ("integer", "real")
POSITIVE_TYPES = ("integer", "real", "duration")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")

Named = tuple[str, str]  # what it is of, its name


def names(checker: Checker) -> None:
    """Names of what SQL names are words; others have dots and hyphens as well, but nothing that a path, an address or
    a command would read as something else."""
    _named(checker, _columns(checker.package), _WORD, "letters, digits and `_`, no digit first")
    _named(checker, _others(checker.package), _WORDS, "letters, digits, `_`, `.` and `-`, the last two not first")


def _named(checker: Checker, found: Iterable[Named], pattern: re.Pattern[str], expected: str) -> None:
    for what, name in dict.fromkeys(found):
        if not pattern.fullmatch(name) or len(name) > LONGEST:
            said = f"{what} cannot be called `{name[:LONGEST]}`"
            checker.report("name", said, name, expected=f"{expected}, at most {LONGEST}")


def _columns(package: Package) -> Iterator[Named]:
    yield "a system", package.system
    yield from (("a unit", item.name) for item in package.units)
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
        yield from ((f"a column of grain `{grain.name}`", item.name) for item in grain.every_column)
        yield from ((f"an instant of grain `{grain.name}`", item.name) for item in grain.instants)
    yield from (("a series", item.name) for item in package.series)
    yield from (("a cut", item.name) for item in package.cuts)


def _others(package: Package) -> Iterator[Named]:
    groups: tuple[tuple[str, Iterable[str]], ...] = (
        ("a source", (item.name for item in package.sources)),
        ("a metric", (item.id for item in package.metrics)),
        ("a filter", (item.name for item in package.filters)),
        ("a summary", (item.name for item in package.summaries)),
        ("a report", (item.name for item in package.reports)),
        ("an article", (item.name for item in package.articles)),
        ("a history", (item.name for item in package.histories)),
        (
            "a chart template",
            (name for item in chart_templates.list_chart_requests(package) for name in item.templates),
        ),
    )
    for what, found in groups:
        yield from ((what, name) for name in found)
    for relation in package.relations:
        yield from ((f"a check of relation `{relation.name}`", item.code) for item in relation.checks)
    for grain in package.grains:
        yield from ((f"a check of grain `{grain.name}`", item.code) for item in grain.checks)


def types(checker: Checker) -> None:
    """Types of fields, columns, constants and parameters are among those that there are."""
    for what, name, kind, known in _typed(checker.package):
        if kind not in known:
            said = f"{what.format(name)} is of an unknown type `{kind[:LONGEST]}`"
            checker.report("unknown-type", said, name, expected=", ".join(known), hint=suggest_nearest(kind, known))


def durations(checker: Checker) -> None:
    """Constants that are durations are in units of time, or of time per something."""
    for constant in _list_constants(checker.package):
        if constant.type != "duration":
            continue
        try:
            count_nanoseconds(constant.unit.name)
        except UnitError:
            checker.report(
                "unit",
                f"constant `{constant.name}` is a duration, but not in a unit of time",
                constant.name,
                expected="second, or another unit of time",
                found=constant.unit.name,
            )
        except UnknownUnitError:
            continue  # a unit that there is not is told with all others


def _list_constants(package: Package) -> Iterator[Constant]:
    return (item for source in package.sources for item in source.constants)


def positive(checker: Checker) -> None:
    """Only numbers are above 0."""
    for constant in _list_constants(checker.package):
        if constant.positive and constant.type not in POSITIVE_TYPES:
            checker.report(
                "unknown-type",
                f"constant `{constant.name}` is above 0, which no {constant.type[:LONGEST]} is",
                constant.name,
                expected=", ".join(POSITIVE_TYPES),
                hint="leave out its `positive`",
            )


def _typed(package: Package) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    for source in package.sources:
        yield from (("constant `{}`", item.name, item.type, CONSTANT_TYPES) for item in source.constants)
    for event in package.events:
        for form in event.forms:
            yield from (
                (f"field `{{}}` of event `{event.name}`", item.name, item.type, FIELD_TYPES) for item in form.fields
            )
    for relation in package.relations:
        yield from _columns_of(f"column `{{}}` of relation `{relation.name}`", relation.columns)
    for grain in package.grains:
        yield from _columns_of(f"column `{{}}` of grain `{grain.name}`", grain.every_column)
    for item in package.filters:
        if item.parameter:
            yield f"parameter `{{}}` of filter `{item.name}`", item.parameter.name, item.parameter.type, PARAMETER_TYPES


def _columns_of(what: str, columns: Iterable[Column]) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    yield from ((what, item.name, item.type, COLUMN_TYPES) for item in columns)


def bindings(checker: Checker) -> None:
    """What is looked up in another table is found by a column at least."""
    for grain in checker.package.grains:
        bound = [(f"instant `{item.name}`", item.name, item.on) for item in grain.instants if item.of]
        bound += [(f"tally `{item.column.name}`", item.column.name, item.on) for item in grain.tallies]
        bound += [("the subject", grain.name, grain.subject.on)] if grain.subject else []
        for what, name, on in bound:
            if not on:
                said = f"{what} of grain `{grain.name}` does not say which columns its rows are found by"
                checker.report("no-key", said, name, expected="`on` with a pair of columns, such as `G.same a b`")


def files(checker: Checker) -> None:
    """Files of sources and constants are below the run's directory, prose is below the system's folder of specs."""
    for source in checker.package.sources:
        globs = [*source.logs, *([source.hosts] if source.hosts else [])]
        documents = dict.fromkeys(name for item in source.constants for name in item.files)
        for name in (*globs, *documents):
            if not is_below(name) or "***" in name:
                checker.report(
                    "run-file",
                    f"source `{source.name}` reads a file that cannot be one of a run: `{name[:LONGEST]}`",
                    name,
                    expected="a path below the run's directory, such as node-*.json",
                )
    for article in checker.package.articles:
        for name in (part.prose for part in article.parts if part.prose and not is_below(part.prose)):
            checker.report(
                "prose-file",
                f"article `{article.name}` has prose that cannot be a file of its specs: `{name[:LONGEST]}`",
                name,
                expected="a path below the system's folder of specs, such as prose/summary.md",
            )


def check_duplicates(checker: Checker) -> None:
    """Names of a kind are told apart; those of tables, and what has tables of their name; fields, checks, constants."""
    _check_duplicate_names(checker)
    _alike(checker)
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
                    f"{times} {kind}s are called `{name}`",
                    name,
                    hint="rename all but one"
                    if kind != "table"
                    else "events, relations and grains share one set of names",
                    notes=(f"again at {again}",) if again else (),
                )


def _alike(checker: Checker) -> None:
    """What has files of its name is told apart by more than capital letters, as some file systems tell no others."""
    package = checker.package
    shown = [item.name for item in package.reports] + [item.name for item in package.histories]
    shown += [item.name for item in package.articles]
    kinds = {"metric": [item.id for item in package.metrics], "report": shown}
    for kind, names in kinds.items():
        seen: dict[str, str] = {}
        for name in names:
            other = seen.setdefault(name.lower(), name)
            if other != name:
                checker.report(
                    f"duplicate-{kind}",
                    f"{kind}s `{other}` and `{name}` differ in capital letters alone: where file systems do not tell "
                    "these apart, their files are one",
                    name,
                    hint="rename one of them",
                )


def _check_duplicate_tables(checker: Checker) -> None:
    """Tables are told apart from each other (SQL does not tell small letters from capital ones), from those that the
    compiler makes, and from metrics: what these came to is kept among the tables."""
    package = checker.package
    made = {reserved_names.rows_name(item.name).lower(): item.name for item in package.grains}
    seen: dict[str, str] = {scopes.LOGS: scopes.LOGS}
    for kind, name in _list_tables(package):
        if reserved_names.is_query(name):
            said = f"{kind} `{name}` is called as a table or a query of the compiler's own"
            checker.report("reserved-name", said, name, hint="rename it")
        if name.lower() in made:
            said = f"{kind} `{name}` is called as the rows of grain `{made[name.lower()]}` before filters"
            checker.report("reserved-name", said, name, hint="rename it")
        other = seen.setdefault(name.lower(), name)
        if other != name:
            checker.report("duplicate-table", _one_name(other, name), name, hint="rename one of them")
    kinds = {name: f"{kind} of its package" for kind, name in _list_tables(package)}
    kinds |= {reserved_names.rows_name(item.name): f"rows of grain `{item.name}`" for item in package.grains}
    kinds |= {scopes.LOGS: "table of the logs"}
    for metric in package.metrics:
        if metric.id in kinds:
            said = f"metric `{metric.id}` is called as the {kinds[metric.id]}: what both come to is kept by name"
            checker.report("metric-name", said, metric.id, hint="rename one of them")


def _list_tables(package: Package) -> Iterator[tuple[str, str]]:
    kinds = {Event: "event", Relation: "relation", Series: "series"}
    yield from ((kinds.get(type(item), "grain"), item.name) for item in package.tables)


def _check_duplicate_fields(checker: Checker) -> None:
    """An event has a column for each name of a field, and the first field of that name would be read of all."""
    for event in checker.package.events:
        seen: dict[str, str] = {}
        for name in (field.name for field in event.fields):
            if (other := seen.setdefault(name.lower(), name)) != name:
                message = f"fields of event `{event.name}`: {_one_name(other, name)}"
                checker.report("duplicate-field", message, name, hint="rename one of them", within=(event.name,))
        for name, times in Counter(field.name for field in event.fields).items():
            if times > 1:
                said = f"event `{event.name}` has {times} fields called `{name}`"
                checker.report("duplicate-field", said, name, hint="rename all but one", within=(event.name,))


def _one_name(one: str, other: str) -> str:
    return f"`{one}` and `{other}` are one name to SQL, which does not tell small letters from capital ones"


def _check_duplicate_checks(checker: Checker) -> None:
    """Checks of a table have a code each; relations have one of their keys without saying so."""
    tables: list[tuple[str, str, Sequence[Check], int]] = [
        *(("relation", item.name, item.checks, 0) for item in checker.package.relations),
        *(("grain", item.name, item.checks, 1) for item in checker.package.grains),
    ]
    for kind, name, checks, borne in tables:
        for code, times in Counter(item.code for item in checks).items():
            if code == reserved_names.KEY and not borne:
                said = f"{kind} `{name}` has a check `{code}`, which is what that of its key is called"
                hint = "rename it, or leave it out: that no two rows have one key is checked by itself"
                checker.report("duplicate-check", said, code, hint=hint)
            elif times > 1:
                said = f"{kind} `{name}` has {times} checks `{code}`"
                checker.report("duplicate-check", said, code, hint="rename all but one")


def _check_duplicate_constants(checker: Checker) -> None:
    """A constant is told by one source: it is one value of a run, whatever source is read."""
    told: dict[str, tuple[str, Constant]] = {}
    seen: dict[str, str] = {}
    for source in checker.package.sources:
        for name, times in Counter(item.name for item in source.constants).items():
            if times > 1:
                said = f"source `{source.name}` has {times} constants called `{name}`"
                checker.report("duplicate-constant", said, name, hint="rename all but one")
        for item in {found.name: found for found in source.constants}.values():
            if (known := seen.setdefault(item.name.lower(), item.name)) != item.name:
                message = f"constants of runs: {_one_name(known, item.name)}"
                checker.report("duplicate-constant", message, item.name, hint="rename one of them")
            other, first = told.setdefault(item.name, (source.name, item))
            if other != source.name and first != item:
                checker.report(
                    "duplicate-constant",
                    f"sources `{other}` and `{source.name}` have a constant `{item.name}` each, and not the same",
                    item.name,
                    hint="a run has one value of each: rename one, or let one source list it, with the files of both",
                )


HINT = "rename the column"


def check_reserved_names(checker: Checker) -> None:
    """Check fields of events, what tells samples and lines of series apart, and the rows that articles ask for."""
    for event in checker.package.events:
        _check_reserved_fields(checker, event)
    for grain in checker.package.grains:
        _samples(checker, f"the key of grain `{grain.name}`", grain.key, (grain.name,))
    for metric in checker.package.metrics:
        by = metric.reduction.by if metric.reduction else ()
        names = dict.fromkeys((*by, *([metric.per] if metric.per else [])))
        _samples(checker, f"metric `{metric.id}`", names, (metric.id,))
    _series(checker)
    for article in checker.package.articles:
        for what, columns, metrics, within in _rows(checker, article):
            _listed(checker, what, columns, metrics, within)


def _check_reserved_fields(checker: Checker, event: Event) -> None:
    names = dict.fromkeys(field.name for form in event.forms for field in form.fields)
    kind = next((source.kind for source in checker.package.sources if source.name == event.source), "")
    for name in (name for name in names if reserved_names.is_of_events(name, kind)):
        said = f"event `{event.name}` has a field called `{name}`, which is what the compiler calls a column of its own"
        hint = f'rename the field: it may have another name than the key that it is read from, `E.at [ "{name}" ]`'
        checker.report("reserved-name", said, name, hint=hint, within=(event.doc, event.name))


def _samples(checker: Checker, what: str, names: Iterable[str], within: Sequence[str]) -> None:
    for name in (name for name in names if reserved_names.is_of_samples(name)):
        said = f"{what} tells samples apart by `{name}`, which is what the compiler calls one of their own columns"
        checker.report("reserved-name", said, name, hint=HINT, within=within)


def _series(checker: Checker) -> None:
    keys = {relation.name: relation.key for relation in checker.package.relations}
    for item in checker.package.series:
        key = keys.get(item.windows, ())
        _labels(checker, item, key)
        for term in item.terms:
            if term.name.lower() in (*(name.lower() for name in (*key, *item.by)), "t_ns"):
                said = f"a term of series `{item.name}` is called as a column of it: `{term.name}`"
                checker.report("reserved-name", said, term.name, hint=HINT, within=(item.name,))


def _labels(checker: Checker, item: Series, key: Sequence[str]) -> None:
    """What tells lines apart stands beside the key of the windows, and beside what is worked out of samples."""
    of_windows = {name.lower() for name in key}
    for name in dict.fromkeys((*key, *item.by)):
        said = f"series `{item.name}` tells lines apart by `{name}`, which "
        hint = f'{HINT}: a field may have another name than the label that it is read from, `["labels", "{name}"]`'
        if reserved_names.is_of_readings(name):
            said += "the compiler calls a column of its own"
            checker.report("reserved-name", said, name, hint=hint if name in item.by else HINT, within=(item.name,))
        elif name in item.by and name.lower() in of_windows:
            said += f"is in the key of its windows `{item.windows}`, too"
            checker.report("series-label", said, item.name, hint=hint, cause=f"{item.windows} {name}")


Asked = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def _rows(checker: Checker, article: Article) -> Iterator[Asked]:
    """What asks for rows, the columns and the metrics that it asks for, and the names of what it stands in."""
    keys = {grain.name: grain.key for grain in checker.package.grains}
    for choice in article.choices:
        yield f"choice `{choice.name}`", *_of_choice(choice, keys.get(choice.grain, ())), (article.name, choice.name)
    for part in article.parts:
        for block in part.blocks:
            for request in block.read_rows(checker.package):
                what, within = f"`{block.title}` of article `{article.name}`", (article.name, part.title, block.title)
                yield what, request.columns, request.metrics, within


def _of_choice(choice: Choice, key: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    pins = (pin.column for pin in choice.pins)
    columns = (*key, *choice.label, *choice.keys, *pins, choice.first, choice.begin, choice.end)
    return columns, (choice.most, choice.done, choice.due)


def _measured(checker: Checker, names: Iterable[str]) -> Sequence[Metric]:
    known = formula.index_metrics(checker.package)
    return formula.list_measured(known, [known[name] for name in names if name in known])


def _listed(
    checker: Checker, what: str, columns: tuple[str, ...], metrics: tuple[str, ...], within: tuple[str, ...]
) -> None:
    named = {name.lower() for name in columns}
    ids = dict.fromkeys((*metrics, *(metric.id for metric in _measured(checker, metrics))))
    for name in (name for name in ids if name and name.lower() in named):
        said = f"{what} shows metric `{name}` beside a column of that name: rows hold what they have by name"
        checker.report("metric-name", said, name, hint="rename one of them", within=within)
