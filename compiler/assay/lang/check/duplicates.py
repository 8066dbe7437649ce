"""The checker's part about names that are given twice, or are the compiler's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from assay.lang import reserved_names, scopes
from assay.lang.check.checker import Checker
from assay.lang.model.package import Check, Constant, Event, Package, Relation, Series


def duplicates(checker: Checker) -> None:
    """Names of a kind are told apart; those of tables, and what has tables of their name; fields, checks, constants."""
    _names(checker)
    _alike(checker)
    _tables(checker)
    _fields(checker)
    _checks(checker)
    _constants(checker)


def _names(checker: Checker) -> None:
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


def _tables(checker: Checker) -> None:
    """Tables are told apart from each other (SQL does not tell small letters from capital ones), from those that the
    compiler makes, and from metrics: what these came to is kept among the tables."""
    package = checker.package
    made = {reserved_names.rows_name(item.name).lower(): item.name for item in package.grains}
    seen: dict[str, str] = {scopes.LOGS: scopes.LOGS}
    for kind, name in _every_table(package):
        if reserved_names.is_query(name):
            said = f"{kind} `{name}` is called as a table or a query of the compiler's own"
            checker.report("reserved-name", said, name, hint="rename it")
        if name.lower() in made:
            said = f"{kind} `{name}` is called as the rows of grain `{made[name.lower()]}` before filters"
            checker.report("reserved-name", said, name, hint="rename it")
        other = seen.setdefault(name.lower(), name)
        if other != name:
            checker.report("duplicate-table", _one_name(other, name), name, hint="rename one of them")
    kinds = {name: f"{kind} of its package" for kind, name in _every_table(package)}
    kinds |= {reserved_names.rows_name(item.name): f"rows of grain `{item.name}`" for item in package.grains}
    kinds |= {scopes.LOGS: "table of the logs"}
    for metric in package.metrics:
        if metric.id in kinds:
            said = f"metric `{metric.id}` is called as the {kinds[metric.id]}: what both come to is kept by name"
            checker.report("metric-name", said, metric.id, hint="rename one of them")


def _every_table(package: Package) -> Iterator[tuple[str, str]]:
    kinds = {Event: "event", Relation: "relation", Series: "series"}
    yield from ((kinds.get(type(item), "grain"), item.name) for item in package.tables)


def _fields(checker: Checker) -> None:
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


def _checks(checker: Checker) -> None:
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


def _constants(checker: Checker) -> None:
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
