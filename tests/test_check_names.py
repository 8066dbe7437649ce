"""Names that can be names, types that there are, files of runs and of specs: what is said where they are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.lang.check.check import check
from assay.lang.model.package import Package, Pair
from assay.lang.workspace import load as loaded
from assay.lang.workspace import shipped
from assay.util.diagnostics import render
from tests.support.workspaces import NOWHERE

WORD = "letters, digits and `_`, no digit first, at most 100"
WORDS = "letters, digits, `_`, `.` and `-`, the last two not first, at most 100"
BELOW = "a path below the run's directory, such as node-*.json"
COLUMNS = "integer, unsigned, huge, real, text, boolean, instant"

Change = Callable[[Package], Package]


@pytest.fixture(scope="module")
def package(cache: Path) -> Package:
    return loaded(shipped(), "cardano", cache).package


def _event(package: Package, **changes: object) -> Package:
    first, *others = package.events
    return replace(package, events=(replace(first, **changes), *others))  # type: ignore[arg-type]


def _field(package: Package, **changes: object) -> Package:
    (form, *forms) = package.events[0].forms
    fields = (replace(form.fields[0], **changes), *form.fields[1:])  # type: ignore[arg-type]
    return _event(package, forms=(replace(form, fields=fields), *forms))


def _source(package: Package, **changes: object) -> Package:
    return replace(package, sources=(replace(package.sources[0], **changes),))  # type: ignore[arg-type]


def _constant(package: Package, **changes: object) -> Package:
    first, *others = package.sources[0].constants
    return _source(package, constants=(replace(first, **changes), *others))  # type: ignore[arg-type]


def _column(package: Package, **changes: object) -> Package:
    first, *others = package.relations
    columns = (replace(first.columns[0], **changes), *first.columns[1:])  # type: ignore[arg-type]
    return replace(package, relations=(replace(first, columns=columns), *others))


def _metric(package: Package, name: str) -> Package:
    first, *others = package.metrics
    return replace(package, metrics=(replace(first, id=name), *others))


def _filter(package: Package, kind: str) -> Package:
    found = next(item for item in package.filters if item.parameter)
    assert found.parameter
    changed = replace(found, parameter=replace(found.parameter, type=kind))
    return replace(package, filters=tuple(changed if item is found else item for item in package.filters))


def _instant(package: Package, on: tuple[Pair, ...]) -> Package:
    grain = next(item for item in package.grains if item.name == "block")
    instants = tuple(replace(item, on=on) if item.name == "started" else item for item in grain.instants)
    changed = replace(grain, instants=instants)
    return replace(package, grains=tuple(changed if item is grain else item for item in package.grains))


def _check(package: Package, of: str, code: str) -> Package:
    """The first relation, or grain, that has checks, with one of that code."""
    found = next(item for item in getattr(package, of) if item.checks)
    changed = replace(found, checks=(replace(found.checks[0], code=code), *found.checks[1:]))
    return replace(package, **{of: tuple(changed if item is found else item for item in getattr(package, of))})


def _chart(package: Package, template: str) -> Package:
    (report,) = package.reports
    charts = (replace(report.charts[0], template=template), *report.charts[1:])
    return replace(package, reports=(replace(report, charts=charts),))


def name(what: str, said: str, expected: str) -> str:
    return f"error[name]: {what} cannot be called `{said}`\n  expected: {expected}"


def kind(what: str, said: str, expected: str, hint: str = "") -> str:
    told = f"error[unknown-type]: {what} is of an unknown type `{said}`\n  expected: {expected}"
    return told + (f"\n  hint: {hint}" if hint else "")


def file(said: str) -> str:
    what = f"source `workbench_logs` reads a file that cannot be one of a run: `{said}`"
    return f"error[run-file]: {what}\n  expected: {BELOW}"


def test_an_instant_that_its_grain_does_not_list_is_told_as_that(package: Package) -> None:
    grain = next(item for item in package.grains if item.name == "observation")
    left = tuple(item for item in grain.instants if item.name != "sending")
    without = replace(grain, instants=left)
    found = check(
        replace(package, grains=tuple(without if item is grain else item for item in package.grains)), NOWHERE
    )
    (problem,) = (item for item in found if item.code == "unknown-instant")
    assert "an unknown instant `sending`" in problem.message
    assert problem.hint.startswith("is it in the grain's `instants`? ")


SLIPS: dict[str, tuple[Change, str]] = {
    "an event that would be a path": (lambda p: _event(p, name="a/b"), name("an event", "a/b", WORD)),
    "an event without a name": (lambda p: _event(p, name=""), name("an event", "", WORD)),
    "a field with a hyphen": (
        lambda p: _field(p, name="a-b"), name("a field of event `resources`", "a-b", WORD)),
    "a column that begins with a digit": (
        lambda p: _column(p, name="1st"), name("a column of relation `adoptions`", "1st", WORD)),
    "a constant of other letters": (
        lambda p: _constant(p, name="größe"), name("a constant of source `workbench_logs`", "größe", WORD)),
    "a metric that leads upwards": (lambda p: _metric(p, "../x"), name("a metric", "../x", WORDS)),
    "a metric that is long": (lambda p: _metric(p, "x" * 101), name("a metric", "x" * 100, WORDS)),
    "a system with a blank": (lambda p: replace(p, system="my system"), name("a system", "my system", WORD)),
    "a type of a field that is misspelt": (
        lambda p: _field(p, type="integr"),
        kind("field `centi_cpu` of event `resources`", "integr", "integer, unsigned, real, text, boolean",
             "did you mean `integer`?")),
    "a type of a column": (
        lambda p: _column(p, type=""), kind("column `block` of relation `adoptions`", "", COLUMNS)),
    "a type of a parameter": (
        lambda p: _filter(p, "text"),
        kind("parameter `n` of filter `epoch-geq`", "text", "integer, real")),
    "an instant that no column finds": (
        lambda p: _instant(p, ()),
        "error[no-key]: instant `started` of grain `block` does not say which columns its rows are found by\n"
        "  expected: `on` with a pair of columns, such as `G.same a b`"),
    "logs above the run": (lambda p: _source(p, logs=("../*/stdout",)), file("../*/stdout")),
    "logs of no name": (lambda p: _source(p, logs=("",)), file("")),
    "a chart template above its folder": (
        lambda p: _chart(p, "../cdf"), name("a chart template", "../cdf", WORDS)),
    "a check of a relation that leads upwards": (
        lambda p: _check(p, "relations", "x/../../../../pwned"),
        name("a check of relation `chain`", "x/../../../../pwned", WORDS)),
    "a check of a grain with a blank": (
        lambda p: _check(p, "grains", "no block"), name("a check of grain `block`", "no block", WORDS)),
    "hosts from the top": (lambda p: _source(p, hosts="/etc/*"), file("/etc/*")),
    "a text above 0": (
        lambda p: _constant(p, type="text", positive=True),
        "error[unknown-type]: constant `system_start` is above 0, which no text is\n"
        "  expected: integer, real, duration\n  hint: leave out its `positive`"),
    "a document above the run": (lambda p: _constant(p, files=("../secret.json",)), file("../secret.json")),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told_with_what_is_expected(package: Package, slip: str) -> None:
    change, said = SLIPS[slip]
    (problem,) = check(change(package), NOWHERE)
    assert render(problem) == said


@pytest.mark.parametrize("prose", ["../../../secret.txt", "/etc/passwd", "prose/../../x.md", "."])
def test_prose_is_below_the_specs_of_its_system(cache: Path, prose: str) -> None:
    package = loaded(shipped(), "cometbft", cache).package
    first, *others = package.articles
    part, *parts = first.parts
    changed = replace(first, parts=(replace(part, prose=prose), *parts))
    (problem,) = check(replace(package, articles=(changed, *others)), NOWHERE)
    assert render(problem) == (
        f"error[prose-file]: article `{first.name}` has prose that cannot be a file of its specs: `{prose}`\n"
        "  expected: a path below the system's folder of specs, such as prose/summary.md"
    )


def test_nothing_is_said_of_names_that_are_as_they_should_be(package: Package) -> None:
    assert check(package, NOWHERE) == ()
