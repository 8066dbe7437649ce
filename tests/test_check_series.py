"""Series whose lines are not told apart, templates that there are not, files of SQL outside of their folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from assay.app.report_check import report_problems
from assay.app.sql_files import write_texts
from assay.lang.blocks.grid import Grid
from assay.lang.check.check import check
from assay.lang.model.package import Field, Package, Sampled
from assay.lang.model.vocabulary import Unit
from assay.lang.reserved_names import READINGS
from assay.lang.workspace import load as loaded
from assay.lang.workspace import shipped
from assay.sql import series
from assay.sql.expressions import places
from assay.util.diagnostics import AssayError, render
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


def test_lines_are_told_apart_by_a_label_at_least(package: Package) -> None:
    first = next(item for item in package.series if item.samples and item.reading == "rate")
    series = tuple(replace(item, by=()) if item is first else item for item in package.series)
    told = [render(item) for item in check(replace(package, series=series), NOWHERE) if item.code == "series-by"]
    assert told == [
        f"error[series-by]: lines of series `{first.name}` are told apart by no label\n  expected: label fields of its "
        "samples in `by`; a series with `terms` can make all lines one"
    ]


def _said(package: Package, name: str, **changes: Any) -> list[str]:
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


#: what is changed of a series that reads samples, and what is said of it
SLIPS: dict[str, tuple[dict[str, Any], str]] = {
    "no samples": ({"samples": ()},
        "error[series-samples]: series `peer_count` is made of no samples"),
    "no time from step to step": ({"every_ns": 0},
        "error[series-time]: `everyNs` of series `peer_count` is no time\n  expected: ns, above 0\n  found:    0"),
    "no window": ({"window_ns": -1},
        "error[series-time]: `windowNs` of series `peer_count` is no time\n  expected: ns, above 0\n  found:    -1"),
    "a window that is no duration": ({"window": "ident"},
        "error[series-time]: series `peer_count` takes `windowNs` from a constant that is no duration: `ident`"),
    "windows that do not end": ({"windows": "transactions"},
        "error[series-windows]: relation `transactions`, which has the windows of series `peer_count`, has no instant "
        "`from_ns`\n"),
    "samples without a value": ({"samples": (Sampled("loaded", None),), "by": (), "gone": None, "ceases": False},
        "error[series-value]: event `loaded`, which series `peer_count` is made of, has no number `value`\n"),
    "a label that is none": ({"by": ("job", "instanse"), "gone": None, "ceases": False},
        "error[series-label]: event `peers`, which series `peer_count` reads, has no text `instanse`\n"
        "  hint: did you mean `instance`?"),
    "a reading": ({"reading": "last"},
        "error[series-reading]: series `peer_count` is read in a way that there is not: `last`\n"
        "  hint: did you mean `latest`?"),
    "a unit": ({"unit": Unit("byte", "B")},
        "error[unit]: series `peer_count` reads values in a unit that does not convert to its own\n"
        "  expected: byte\n  found:    peer"),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_what_a_series_reads_is_there_and_fits(package: Package, slip: str) -> None:
    changes, due = SLIPS[slip]
    said = [text for text in _said(package, "peer_count", **changes) if text.startswith(due)]
    assert len(said) == 1


@pytest.mark.parametrize(("name", "what"), [("loaded", "a row of a table"), ("reported", "a block")])
def test_records_without_names_are_of_one_form(package: Package, name: str, what: str) -> None:
    (event,) = (item for item in package.events if item.name == name)
    events = tuple(replace(item, forms=item.forms * 2) if item is event else item for item in package.events)
    (said,) = check(replace(package, events=events), NOWHERE)
    assert render(said) == f"error[event-of-table]: event `{name}` is {what}: it has one form, without names"


def test_labels_are_not_called_as_columns_on_the_way(package: Package) -> None:
    """Such a label would be taken for what the compiler has under that name."""
    (said,) = [
        text for text in _said(package, "block_rate", by=("job", "Gap")) if text.startswith("error[reserved-name]")
    ]
    assert said == (
        "error[reserved-name]: series `block_rate` tells lines apart by `Gap`, which the compiler calls a column of "
        "its own\n  hint: rename the column: a field may have another name than the label that it is read from, "
        '`["labels", "Gap"]`'
    )


@pytest.mark.parametrize("name", ["name", "Name"])
def test_labels_are_not_called_as_the_key_of_the_windows(package: Package, name: str) -> None:
    """Gauges found no samples, as these were sought under the name of the window; rates were of all lines as one."""
    (said,) = [text for text in _said(package, "block_rate", by=("job", name)) if "its windows" in text]
    assert said == (
        f"error[series-label]: series `block_rate` tells lines apart by `{name}`, which is in the key of its windows "
        f"`windows`, too\n  hint: rename the column: a field may have another name than the label that it is read "
        f'from, `["labels", "{name}"]`'
    )


def test_columns_on_the_way_are_just_those_that_labels_cannot_be_called(cache: Path) -> None:
    """Those of the SQL of all that the shipped specs have, which take every way that there is."""
    found: set[str] = set()
    for system in ("antelope", "cometbft"):
        shown = loaded(shipped(), system, cache).package
        keys = {relation.name: relation.key for relation in shown.relations}
        constants = places(item.name for source in shown.sources for item in source.constants)
        for item in shown.series:
            own = {*keys[item.windows], *item.by, *(term.name for term in item.terms)}
            stages = series.table(item, keys[item.windows], constants).find_all(exp.Select)
            found |= {column.alias_or_name for stage in stages for column in stage.selects} - own
    assert found - {""} == READINGS


def test_templates_of_grids_are_looked_for(package: Package) -> None:
    article, *others = package.articles
    part, *parts = article.parts
    grid = Grid("Grid", "", (), (), "smal")
    changed = replace(article, parts=(replace(part, blocks=(*part.blocks, grid)), *parts))
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
    edit = ("specs/cardano/grains/slot.dhall", 'code = "no-slot-left"', 'code = "x/../../../../pwned"')
    within = workspace(tmp_path / "workspace", edit)
    done = assay("check", "--system", "cardano", "--accept", "--cache", cache, within=within)
    assert done.status == 1
    assert done.err.startswith(
        "error[name]: a check of grain `slot` cannot be called `x/../../../../pwned`\n  at specs/cardano/"
    )
    assert not list(tmp_path.rglob("*pwned*"))
