"""Names that are given twice, or are the compiler's own: tables, metrics, checks, constants."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.lang.check.check import check
from assay.lang.model.package import Check, Package
from assay.lang.reserved_names import is_query
from assay.lang.workspace import load as loaded
from assay.lang.workspace import shipped
from assay.util.diagnostics import render
from tests.support.laboratory import ROOT
from tests.support.workspaces import NOWHERE

PART = re.compile(r"^(?:WITH |\), )(\w+) AS \($", re.MULTILINE)
Change = Callable[[Package], Package]
RENAME = "  hint: rename it"


@pytest.fixture(scope="module")
def package(cache: Path) -> Package:
    return loaded(shipped(), "cardano", cache).package


def _metric(package: Package, name: str) -> Package:
    first, *others = package.metrics
    return replace(package, metrics=(*others, replace(first, id=name)))


def _event(package: Package, name: str) -> Package:
    """One event more, called so."""
    first = package.events[0]
    form = replace(first.forms[0], names=tuple(replace(item, name="More") for item in first.forms[0].names))
    return replace(package, events=(*package.events, replace(first, name=name, forms=(form,))))


def _fields(package: Package, *names: str) -> Package:
    """The last event has these fields."""
    *others, last = package.events
    fields = tuple(replace(package.events[0].fields[0], name=name) for name in names)
    forms = tuple(replace(form, fields=fields) for form in last.forms)
    return replace(package, events=(*others, replace(last, forms=forms)))


def _checks(package: Package, *codes: str) -> Package:
    first, *others = package.relations
    checks = tuple(Check(code, "SELECT 1", (), "wrong", "", "error") for code in codes)
    return replace(package, relations=(replace(first, checks=checks), *others))


def _checks_of_grain(package: Package, *codes: str) -> Package:
    first, *others = package.grains
    checks = tuple(Check(code, "SELECT 1", (), "wrong", "", "error") for code in codes)
    return replace(package, grains=(replace(first, checks=checks), *others))


def _constant(package: Package, **changes: object) -> Package:
    source = package.sources[0]
    constant = replace(source.constants[0], **changes)  # type: ignore[arg-type]
    return replace(package, sources=(source, replace(source, name="more", constants=(constant,))))


def _constant_twice(package: Package) -> Package:
    source = package.sources[0]
    changed = replace(source, constants=(*source.constants, source.constants[0]))
    return replace(package, sources=(changed,))


ASKED = "what both come to is kept by name\n  hint: rename one of them"
SLIPS: dict[str, tuple[Change, str]] = {
    "a metric as a grain": (lambda p: _metric(p, "block"),
        f"error[metric-name]: metric `block` is called as the grain of its package: {ASKED}"),
    "a metric as a relation": (lambda p: _metric(p, "timeline"),
        f"error[metric-name]: metric `timeline` is called as the relation of its package: {ASKED}"),
    "a metric as an event": (lambda p: _metric(p, "block_adopted"),
        f"error[metric-name]: metric `block_adopted` is called as the event of its package: {ASKED}"),
    "a metric as the rows of a grain": (lambda p: _metric(p, "block_rows"),
        f"error[metric-name]: metric `block_rows` is called as the rows of grain `block`: {ASKED}"),
    "a metric as the logs": (lambda p: _metric(p, "logs"),
        f"error[metric-name]: metric `logs` is called as the table of the logs: {ASKED}"),
    "a table as the rows of a grain": (lambda p: _event(p, "block_rows"),
        "error[reserved-name]: event `block_rows` is called as the rows of grain `block` before filters\n" + RENAME),
    "a table as the constants": (lambda p: _event(p, "constants"),
        "error[reserved-name]: event `constants` is called as a table or a query of the compiler's own\n" + RENAME),
    "a table as a part of a query": (lambda p: _event(p, "steps"),
        "error[reserved-name]: event `steps` is called as a table or a query of the compiler's own\n" + RENAME),
    "a table as another, but for its letters": (lambda p: _event(p, "Block"),
        "error[duplicate-table]: `Block` and `block` are one name to SQL, which does not tell small letters from "
        "capital ones\n  hint: rename one of them"),
    "two checks of a code on a relation": (lambda p: _checks(p, "late", "late"),
        "error[duplicate-check]: relation `adoptions` has 2 checks `late`\n  hint: rename all but one"),
    "two checks of a code on a grain": (lambda p: _checks_of_grain(p, "late", "late"),
        "error[duplicate-check]: grain `adoption` has 2 checks `late`\n  hint: rename all but one"),
    "a check as that of a relation's key": (lambda p: _checks(p, "duplicate-key"),
        "error[duplicate-check]: relation `adoptions` has a check `duplicate-key`, which is what that of its key is "
        "called\n  hint: rename it, or leave it out: that no two rows have one key is checked by itself"),
    "a constant of two sources": (lambda p: _constant(p, default="another"),
        "error[duplicate-constant]: sources `workbench_logs` and `more` have a constant `{constant}` each, and not the "
        "same\n  hint: a run has one value of each: rename one, or let one source list it, with the files of both"),
    "constants that differ in capital letters": (lambda p: _constant(p, name=p.sources[0].constants[0].name.upper()),
        "error[duplicate-constant]: constants of runs: `{constant}` and `{CONSTANT}` are one name to SQL, which does "
        "not tell small letters from capital ones\n  hint: rename one of them"),
    "a constant as the beginning of a phase": (lambda p: _constant(p, name="Phase_Since"),
        "error[reserved-name]: a constant has the name of a phase's parameter: `Phase_Since`"),
    "a field twice in an event": (lambda p: _fields(p, "n", "m", "n"),
        "error[duplicate-field]: event `{event}` has 2 fields called `n`\n  hint: rename all but one"),
    "fields that differ in capital letters": (lambda p: _fields(p, "n", "N"),
        "error[duplicate-field]: fields of event `{event}`: `n` and `N` are one name to SQL, which does not tell small "
        "letters from capital ones\n  hint: rename one of them"),
    "a constant twice in a source": (_constant_twice,
        "error[duplicate-constant]: source `workbench_logs` has 2 constants called `{constant}`\n"
        "  hint: rename all but one"),
}  # fmt: skip


def problems(package: Package) -> list[str]:
    """What is said of a package."""
    return [render(item) for item in check(package, NOWHERE)]


@pytest.mark.parametrize("slip", SLIPS)
def test_a_name_that_is_taken_is_told(package: Package, slip: str) -> None:
    change, said = SLIPS[slip]
    constant = package.sources[0].constants[0].name
    said = said.replace("{constant}", constant).replace("{CONSTANT}", constant.upper())
    assert said.replace("{event}", package.events[-1].name) in problems(change(package))


def test_what_does_not_collide_is_let_pass(package: Package) -> None:
    """A check of another table of the same code, a grain's check of the key's name, and a constant that two sources
    define alike."""
    assert problems(_checks(_checks_of_grain(package, "late", "duplicate-key"), "late")) == []
    assert not [item for item in problems(_constant(package)) if "duplicate-constant" in item]


def test_ids_that_differ_in_capital_letters_alone_are_one_on_some_file_systems(package: Package) -> None:
    """Their charts and files of SQL would be."""
    first = next(item for item in package.metrics if item.id == "cdfPeerFetch")
    twice = replace(package, metrics=(*package.metrics, replace(first, id="cdfpeerfetch", name="Another")))
    (problem,) = check(twice, NOWHERE)
    assert render(problem) == (
        "error[duplicate-metric]: metrics `cdfPeerFetch` and `cdfpeerfetch` differ in capital letters alone: where "
        "file systems do not tell these apart, their files are one\n  hint: rename one of them"
    )
    (report,) = package.reports
    reports = replace(package, reports=(report, replace(report, name="Comparison")))
    assert [item.code for item in check(reports, NOWHERE)] == ["duplicate-report"]


def test_queries_of_the_compiler_have_names_that_no_table_has() -> None:
    """Every part that the compiler gives a query of its own is one of the names that are refused."""
    kinds = ("metrics/*", "rows/*", "tables/*_rows", "tables/*_series")
    files = [path for kind in kinds for path in (ROOT / "golden" / "sql").glob(f"*/*/{kind}.sql")]
    parts = {name for path in files for name in PART.findall(path.read_text(encoding="utf-8"))}
    assert {"samples", "domain", "bound", "computed_1", "steps", "samples_1_grid", "terms"} <= parts
    assert [name for name in sorted(parts) if not is_query(name)] == []
