"""Series whose lines are not told apart, templates that there are not, files of SQL outside of their folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.build.report_check import report_problems
from assay.build.sql_files import write_texts
from assay.spec.article_model import Grid
from assay.spec.check import check
from assay.spec.diagnostics import AssayError, render
from assay.spec.model import Field, Package
from assay.spec.workspace import load as loaded
from assay.spec.workspace import shipped
from tests.support.commands import assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import NOWHERE, workspace


@pytest.fixture(scope="module")
def package(cache: Path) -> Package:
    return loaded(shipped(), "cometbft", cache).package


def _labelled(package: Package, label: str, default: str | None, *, required: bool) -> tuple[Package, str, str]:
    """The first series with lines, whose events have the label with this default; the names of both."""
    series = next(item for item in package.series if label in item.by and item.samples)
    name = series.samples[0].event

    def changed(field: Field) -> Field:
        return replace(field, default=default, required=required) if field.name == label else field

    event = next(item for item in package.events if item.name == name)
    forms = tuple(replace(form, fields=tuple(changed(field) for field in form.fields)) for form in event.forms)
    events = tuple(replace(item, forms=forms) if item is event else item for item in package.events)
    return replace(package, events=events), series.name, name


def test_lines_are_told_apart_by_what_every_record_has(package: Package) -> None:
    label = next(item.by[0] for item in package.series if item.by and item.samples)
    changed, series, event = _labelled(package, label, None, required=False)
    told = [render(item) for item in check(changed, NOWHERE) if item.code == "series-by"]
    assert told[0] == (
        f"error[series-by]: lines of series `{series}` are told apart by `{label}`, which records of event `{event}` "
        f"need not have\n  expected: a field that is required, or has a default\n  found:    {label}\n"
        '  hint: give the field a default, such as `""`'
    )
    for default, required in (("", False), (None, True)):
        sound, _, _ = _labelled(package, label, default, required=required)
        assert check(sound, NOWHERE) == ()


def _said(package: Package, name: str, **changes: bool) -> list[str]:
    """What is wrong with a series that is changed."""
    series = tuple(replace(item, **changes) if item.name == name else item for item in package.series)
    return [
        render(item) for item in check(replace(package, series=series), lambda _word, _passed, _within=(): (None, ""))
    ]


def test_words_of_one_reading_are_said_of_that_alone(package: Package) -> None:
    assert _said(package, "block_rate", covered=True) == []
    assert _said(package, "peer_count", covered=True) == [
        "error[series-reading]: series `peer_count` is of windows that samples cover, and reads no windows: `latest`\n"
        '  expected: `reading = "rate"`, or no `covered`'
    ]
    assert _said(package, "peer_count", ceases=False) == []
    assert _said(package, "block_rate", ceases=True) == [
        "error[series-gone]: lines of series `block_rate` end where rows cease, and it does not say which\n"
        '  expected: `reading = "latest"` and `gone`, or no `ceases`'
    ]


def test_templates_of_grids_are_looked_for(package: Package) -> None:
    article, *others = package.articles
    part, *parts = article.parts
    grid = Grid("Grid", "", (), (), "smal")
    changed = replace(article, parts=(replace(part, grids=(*part.grids, grid)), *parts))
    found = report_problems(replace(package, articles=(changed, *others)), ROOT / "templates", NOWHERE)
    assert [item.message for item in found] == [
        f"article `{article.name}` has charts of a template that does not exist: `smal`"
    ]


def test_files_of_sql_stay_in_their_folder(tmp_path: Path) -> None:
    with pytest.raises(AssayError) as caught:
        write_texts(tmp_path / "out" / "sql", {"checks/x/../../../../pwned.sql": "SELECT 1;\n"})
    assert render(caught.value.diagnostics[0]) == (
        "error[sql-file]: a file of SQL cannot be called `checks/x/../../../../pwned.sql`\n"
        "  expected: a path below its folder"
    )
    assert not list(tmp_path.rglob("*.sql"))


def test_a_check_that_would_name_a_file_elsewhere_is_told_with_its_place(tmp_path: Path, cache: Path) -> None:
    edit = ("specs/cardano/grains/host.dhall", 'code = "no-slot-left"', 'code = "x/../../../../pwned"')
    within = workspace(tmp_path / "workspace", edit)
    done = assay("check", "--system", "cardano", "--accept", "--cache", cache, within=within)
    assert done.status == 1
    assert done.err.startswith(
        "error[name]: a check of relation `slot_extents` cannot be called `x/../../../../pwned`\n  at specs/cardano/"
    )
    assert not list(tmp_path.rglob("*pwned*"))
