"""Grains that say one thing and are another: types, units, conditions, keys of subjects, names of members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from assay.lang.check.check import check
from assay.lang.model.expression import Expression
from assay.lang.model.package import Column, Derived, Grain, Instant, Package, Pair, Subject
from assay.lang.model.vocabulary import Cut, Unit
from assay.lang.workspace import load as loaded
from assay.lang.workspace import shipped
from assay.util.diagnostics import render
from tests.support.workspaces import NOWHERE

Change = Callable[[Package], Package]
DECLARE = "  hint: declare it in `nanosecond`: what is measured of it is converted to the unit of the metric"
CLAIM = "  hint: one of the two units is not the right one; `asUnit` would claim the other, and convert nothing"
ELAPSED = Expression("minus", (Expression("instant", name="forged"), Expression("instant", name="started")))
ONE = Expression("integer", number=Decimal(1))
SECOND, SLOT, NONE, BYTE = Unit("second", "s"), Unit("slot", ""), Unit("dimensionless", ""), Unit("byte", "B")


@pytest.fixture(scope="module")
def package(cache: Path) -> Package:
    return loaded(shipped(), "cardano", cache).package


def _grain(package: Package, name: str, change: Callable[[Grain], Grain]) -> Package:
    return replace(package, grains=tuple(change(item) if item.name == name else item for item in package.grains))


def _derived(package: Package, kind: str, unit: Unit, value: Expression = ELAPSED) -> Package:
    item = Derived(Column("took", kind, unit, ""), value)
    return _grain(package, "block", lambda grain: replace(grain, derived=(*grain.derived, item)))


def _instant(package: Package, **changes: Any) -> Package:
    def change(grain: Grain) -> Grain:
        instants = tuple(replace(item, **changes) if item.name == "started" else item for item in grain.instants)
        return replace(grain, instants=instants)

    return _grain(package, "block", change)


def _computed(package: Package, value: Expression) -> Package:
    item = Instant("middle", "block", "computed", "", (), "", None, value, (), "")
    return _grain(package, "block", lambda grain: replace(grain, instants=(*grain.instants, item)))


def _tally(package: Package, **changes: Any) -> Package:
    def change(grain: Grain) -> Grain:
        first, *others = grain.tallies
        return replace(grain, tallies=(replace(first, **changes), *others))

    return _grain(package, "slot", change)


def _starts(package: Package, **changes: Any) -> Package:
    column = next(item for item in package.grains if item.name == "slot").tallies[0].column
    return _tally(package, column=replace(column, **changes))


def _column(package: Package, grain: str, name: str, **changes: Any) -> Package:
    def change(found: Grain) -> Grain:
        columns = tuple(replace(item, **changes) if item.name == name else item for item in found.columns)
        return replace(found, columns=columns)

    return _grain(package, grain, change)


def _runs(package: Package, holds: Expression) -> Package:
    def change(grain: Grain) -> Grain:
        assert grain.runs
        return replace(grain, runs=replace(grain.runs, holds=holds))

    return _grain(package, "span", change)


def _subject(package: Package, subject: Subject) -> Package:
    return _grain(package, "adoption", lambda grain: replace(grain, subject=subject))


def _of_observations(package: Package, *on: Pair) -> Package:
    return _subject(package, Subject("observation", on))


def _circle(package: Package) -> Package:
    number = Column("one", "integer", NONE, ""), Column("other", "integer", NONE, "")
    first = Derived(number[0], Expression("column", name="other"))
    second = Derived(number[1], Expression("column", name="one"))
    return _grain(package, "block", lambda grain: replace(grain, derived=(*grain.derived, first, second)))


def _cut(package: Package, where: Expression) -> Package:
    cut = Cut("half", "", "block_adopted", "t_ns", "first", where, "")
    return replace(package, cuts=(*package.cuts, cut))


SLIPS: dict[str, tuple[Change, str]] = {
    "nanoseconds declared to be seconds": (lambda p: _derived(p, "integer", SECOND),
        "error[unit]: column `took` of grain `block` is declared in another unit than its value is in\n"
        f"  expected: second\n  found:    nanosecond\n{DECLARE}"),
    "nanoseconds declared to be bytes": (lambda p: _derived(p, "integer", BYTE),
        "error[unit]: column `took` of grain `block` is declared in another unit than its value is in\n"
        f"  expected: byte\n  found:    nanosecond\n{CLAIM}"),
    "a number declared to be a text": (lambda p: _derived(p, "text", NONE),
        "error[type]: column `took` of grain `block` is declared as another type than it has\n"
        "  expected: text\n  found:    integer"),
    "an instant computed of a duration": (lambda p: _computed(p, ELAPSED),
        "error[type]: instant `middle` of grain `block` is computed of what is no instant\n"
        "  expected: instant\n  found:    integer"),
    "an instant where a number": (lambda p: _instant(p, where=ONE),
        "error[type]: instant `started` of grain `block` has a condition that is none\n"
        "  expected: boolean\n  found:    integer"),
    "a tally where a number": (lambda p: _tally(p, where=ONE),
        "error[type]: column `starts` of grain `slot` has a condition that is none\n"
        "  expected: boolean\n  found:    integer"),
    "a tally of seconds": (lambda p: _starts(p, unit=SECOND),
        "error[unit]: column `starts` of grain `slot` counts rows, and is declared in a unit that is not of things\n"
        "  expected: count, event, or a unit of the package\n  found:    second"),
    "a tally that is a text": (lambda p: _starts(p, type="text"),
        "error[type]: column `starts` of grain `slot` counts rows, and is declared as another type\n"
        "  expected: integer, unsigned, huge\n  found:    text"),
    "runs where a number": (lambda p: _runs(p, ONE),
        "error[type]: grain `span` has a condition that is none\n  expected: boolean\n  found:    integer"),
    "the first of rows where a number": (lambda p: _cut(p, ONE),
        "error[type]: instant `half` has a condition that is none\n  expected: boolean\n  found:    integer"),
    "a column of a relation in another unit": (lambda p: _column(p, "block", "slot", unit=BYTE),
        "error[unit]: column `slot` of grain `block` is declared in another unit than it has in `chain`\n"
        "  expected: slot\n  found:    byte"),
    "a column of a relation of another type": (lambda p: _column(p, "block", "slot", type="real"),
        "error[type]: column `slot` of grain `block` is declared as another type than it has in `chain`\n"
        "  expected: integer\n  found:    real"),
    "a column of runs in another unit": (lambda p: _column(p, "span", "last", unit=BYTE),
        "error[unit]: column `last` of grain `span` is declared in another unit than it has in `slot`\n"
        "  expected: slot\n  found:    byte"),
    "a length of runs in seconds": (lambda p: _column(p, "span", "length", unit=SECOND),
        "error[unit]: column `length` of grain `span` counts rows, and is declared in a unit that is not of things\n"
        "  expected: count, event, or a unit of the package\n  found:    second"),
    "a subject found by a part of its key": (lambda p: _of_observations(p, Pair("block", "block")),
        "error[subject-key]: the subject of grain `adoption` is found by less than the key of grain `observation`: "
        "a row could have several\n  expected: block, host\n  found:    block"),
    "a subject that there is not": (lambda p: _subject(p, Subject("blok", (Pair("block", "block"),))),
        "error[unknown-grain]: grain `adoption` has an unknown grain for its subject: `blok`\n"
        "  hint: is it in the package's lists? did you mean `block`?"),
    "a subject found by a column that there is not": (
        lambda p: _subject(p, Subject("block", (Pair("blck", "block"),))),
        "error[unknown-column]: the subject of grain `adoption` is found by column `blck`, which the grain lacks\n"
        "  hint: did you mean `block`?"),
    "a subject of itself": (lambda p: _subject(p, Subject("adoption", (Pair("block", "block"), Pair("host", "host")))),
        "error[cycle]: `adoption` is made of itself: adoption -> adoption\n"
        "  hint: break the circle: one of these must not read the next"),
    "a column that equals one of another type": (lambda p: _instant(p, on=(Pair("slot", "host"),)),
        "error[type]: instant `started` of grain `block` is found where `slot` is `host` of "
        "`leadership_check_started`, which is of another type\n  expected: integer\n  found:    text"),
    "a column that equals an instant": (lambda p: _instant(p, on=(Pair("forger", "host"), Pair("slot", "t_ns"))),
        "error[type]: instant `started` of grain `block` is found where `slot` is `t_ns` of "
        "`leadership_check_started`, which is of another type\n  expected: integer\n  found:    instant"),
    "a column that equals one in another unit": (lambda p: _instant(p, on=(Pair("block_no", "slot"),)),
        "error[unit]: instant `started` of grain `block` is found where `block_no` is `slot` of "
        "`leadership_check_started`, which is in another unit\n  expected: block\n  found:    slot"),
    "a tally by columns of two types": (lambda p: _tally(p, on=(Pair("host", "slot"),)),
        "error[type]: column `starts` of grain `slot` is found where `host` is `slot` of "
        "`leadership_check_started`, which is of another type\n  expected: text\n  found:    integer"),
    "a tally by a column that there is not": (lambda p: _tally(p, on=(Pair("hos", "host"),)),
        "error[unknown-column]: column `starts` of grain `slot` is bound to column `hos`, which the grain lacks\n"
        "  hint: did you mean `host`?"),
    "a tally by a field that there is not": (lambda p: _tally(p, on=(Pair("host", "hos"),)),
        "error[unknown-field]: column `starts` of grain `slot` is bound by field `hos`, which "
        "`leadership_check_started` lacks\n"
        "  hint: did you mean `host`?"),
    "a tally of a table that there is not": (lambda p: _tally(p, of="slot_mark"),
        "error[unknown-table]: column `starts` of grain `slot` counts the rows of an unknown table `slot_mark`\n"
        "  hint: did you mean `slot_marks`?"),
    "a subject by columns of two types": (lambda p: _subject(p, Subject("block", (Pair("slot_start", "block"),))),
        "error[type]: the subject of grain `adoption` is found where `slot_start` is `block` of `block`, which is of "
        "another type\n  expected: instant\n  found:    text"),
    "columns in a circle": (_circle,
        "error[cycle]: `one` of grain `block` is computed of itself: one -> other -> one\n"
        "  hint: break the circle: one of these must not refer to the next"),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told(package: Package, slip: str) -> None:
    change, said = SLIPS[slip]
    assert said in [render(item) for item in check(change(package), NOWHERE)]


def _named(package: Package, name: str) -> Package:
    item = Derived(Column(name, "integer", NONE, ""), ONE)
    return _grain(package, "block", lambda grain: replace(grain, derived=(*grain.derived, item)))


def _taking(package: Package) -> Package:
    return _named(_instant(package, fields=("slot",)), "started_slot")


SHARED = "  hint: one set of names: columns (the relation's, too), instants, and what they take, as `INSTANT_FIELD`"
NAMES: dict[str, tuple[Change, str]] = {
    "a column as one of the relation": (lambda p: _named(p, "slot"),
        f"error[duplicate-member]: 2 members of grain `block` are called `slot`\n{SHARED}"),
    "a column as an instant, but for its letters": (lambda p: _named(p, "Started"),
        f"error[duplicate-member]: 2 members of grain `block` are called `Started`\n{SHARED}"),
    "a column as a field that is taken along": (_taking,
        f"error[duplicate-member]: 2 members of grain `block` are called `started_slot`\n{SHARED}"),
    "a column as the verdict of all filters": (lambda p: _named(p, "accepted"),
        "error[reserved-name]: grain `block` has a member called `accepted`, which is what the compiler calls one of "
        "its own\n  hint: rename it"),
    "a column as the verdict of a filter": (lambda p: _named(p, "passes_2"),
        "error[reserved-name]: grain `block` has a member called `passes_2`, which is what the compiler calls one of "
        "its own\n  hint: rename it"),
    "a tally as the rows that it is joined to": (lambda p: _starts(p, name="base"),
        "error[reserved-name]: grain `slot` binds rows to `base`, which is what the compiler calls the grain's own\n"
        "  hint: rename it"),
}  # fmt: skip


@pytest.mark.parametrize("slip", NAMES)
def test_members_are_told_apart(package: Package, slip: str) -> None:
    change, said = NAMES[slip]
    assert said in [render(item) for item in check(change(package), NOWHERE)]


def test_units_of_one_number_are_one(package: Package) -> None:
    """A unit may be written in another way, where the numbers are the same."""
    per_second = _derived(package, "integer", Unit("nanosecond * second / second", "ns"))
    assert check(per_second, NOWHERE) == ()
