"""Titles, introductions and parts: what shows nothing, or would be printed as it stands, is an error with a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import assay
from tests.support.mixed import mixed
from tests.support.workspaces import Edit

REPORTS = "reports.dhall"
TITLE = 'title = "{others} against {base}"'
TIMES = 'R.section "Times" times'
PLACES = "{base}, {others}, {last}, {constant.release}, {constant.cores}, {constant.deploy}"
NO_LIST = "([] : List S.Metric.Type)"
CASES: dict[str, tuple[Edit, tuple[str, ...]]] = {
    "no title": (
        (REPORTS, TITLE, 'title = " "'),
        ("error[title]: report `main` has no title", "at specs/mix/reports.dhall:27:16"),
    ),
    "no title of an article": (
        (REPORTS, 'title = "Story of {last}"', 'title = ""'),
        ("error[title]: article `story` has no title", "at specs/mix/reports.dhall:"),
    ),
    "an unknown place": (
        (REPORTS, "{others} against {base}", "{others} against {bse}"),
        (
            "error[placeholder]: the title of report `main` has an unknown place `{bse}`",
            "at specs/mix/reports.dhall:28:17",
            f"expected: {PLACES}",
            "hint: did you mean `base`?",
        ),
    ),
    "an unknown constant": (
        (REPORTS, "{constant.cores}", "{constant.cors}"),
        (
            "error[placeholder]: the intro of report `main` has an unknown place `{constant.cors}`",
            "hint: did you mean `constant.cores`",
        ),
    ),
    "a place that is not closed": (
        (REPORTS, "{others} against {base}", "{others against {base}"),
        ("error[placeholder]: the title of report `main` has a place that is not closed: `{others against `",),
    ),
    "a section without a title": (
        (REPORTS, TIMES, 'R.section "" times'),
        ("error[title]: a section of report `main` has no title",),
    ),
    "a section with nothing in it": (
        (REPORTS, TIMES, f'R.section "Times" {NO_LIST}'),
        ("error[empty-part]: section `Times` of report `main` shows nothing", "at specs/mix/reports.dhall:"),
    ),
    "a part with nothing in it": (
        (REPORTS, ', comparisons = [ A.comparison "Times" times ] }', " }"),
        ("error[empty-part]: part `Compared` of article `story` shows nothing", "at specs/mix/reports.dhall:"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_would_be_printed_as_it_stands_is_an_error(tmp_path: Path, cache: Path, case: str) -> None:
    edit, said = CASES[case]
    done = assay("check", "--cache", cache, within=mixed(tmp_path / "here", edit))
    assert done.status == 1
    assert [text for text in said if text not in done.err] == [], done.err


def test_a_report_that_shows_nothing_is_an_error(tmp_path: Path, cache: Path) -> None:
    here = mixed(
        tmp_path / "here",
        (REPORTS, '[ R.section "Times" times, R.section "Rest" rest ]', "[] : List R.Section"),
        (REPORTS, "[ R.cdf m.wait, R.cdf m.work ]", "[] : List R.Chart"),
        (REPORTS, '[ R.group "All" (times # rest) ]', "[] : List R.DictionaryGroup"),
    )
    done = assay("check", "--cache", cache, within=here)
    assert done.status == 1
    assert "error[empty-report]: report `main` shows nothing\n  at specs/mix/reports.dhall:27:16\n" in done.err
    assert "  expected: sections, charts or a dictionary\n" in done.err


def test_a_package_of_another_system_than_its_folder_is_an_error(tmp_path: Path, cache: Path) -> None:
    here = mixed(tmp_path / "here", ("package.dhall", 'system = "mix"', 'system = "mux"'))
    done = assay("check", "--cache", cache, within=here)
    assert (done.status, done.err) == (
        1,
        """\
error[system]: the package in specs/mix is of another system: `mux`
  at specs/mix/package.dhall:20:16
    20 |     , system = "mux"
       |                ^^^^^
  expected: mix
  found:    mux
  hint: a system is called as its folder: rename one of them
""",
    )
