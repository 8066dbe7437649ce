"""The checker's first part: names that can be names, types that there are, keys, files of runs and of specs.

All other parts take that for granted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.lang import chart_templates
from assay.lang.check.checker import Checker
from assay.lang.model.package import Column, Constant, Package
from assay.lang.typing_rules import UnitError
from assay.lang.units import UnknownUnitError, nanoseconds_of
from assay.util.diagnostics import meant
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
        ("a chart template", (name for item in chart_templates.of_package(package) for name in item.templates)),
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
            checker.report("unknown-type", said, name, expected=", ".join(known), hint=meant(kind, known))


def durations(checker: Checker) -> None:
    """Constants that are durations are in units of time, or of time per something."""
    for constant in _constants(checker.package):
        if constant.type != "duration":
            continue
        try:
            nanoseconds_of(constant.unit.name)
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


def _constants(package: Package) -> Iterator[Constant]:
    return (item for source in package.sources for item in source.constants)


def positive(checker: Checker) -> None:
    """Only numbers are above 0."""
    for constant in _constants(checker.package):
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
