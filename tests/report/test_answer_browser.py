"""The answer of a comparison as part of a web page: it fits screens, and leads to the definitions of metrics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from assay.report.first_page.answer import Answer, JudgedSegment
from assay.report.render.html import build_page
from tests.report.test_answer import compose, create_crowded_answer, create_document
from tests.report_sample import TEMPLATES
from tests.support.browser import list_accessibility_problems, open_page
from tests.support.documents import replace_charts

EXTENT = "() => [document.documentElement.scrollWidth, innerWidth]"


def create_linked_answer(metric: str) -> Answer:
    """Create an answer whose first row is a metric of the dictionary."""
    answer = compose(
        {"verdicts": {"worse": 2, "better": 1, "cannot tell": 1, "no interval": 1}, "conditions": {"changed": 1}}
    )
    (group,) = answer.groups
    segments = tuple(JudgedSegment(f"a[b={number}]", "s", "value " * 9, "+16 %", "worse", "▲") for number in range(3))
    rows = (replace(group.rows[0], metric=metric, segments=segments, more_segments=4), *group.rows[1:])
    return replace(answer, groups=(replace(group, rows=rows),), axis=replace(answer.axis, high=20.5))


@pytest.fixture(scope="module")
def answered_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page with a usual and a crowded answer."""
    document = create_document([])
    answers = (create_linked_answer(document.entries[0].id), create_crowded_answer())
    file = tmp_path_factory.mktemp("answered") / "report.html"
    file.write_text(build_page(replace(replace_charts(document), answers=answers), TEMPLATES, ""), encoding="utf-8")
    return file


@pytest.mark.parametrize("width", [320, 390, 900, 1280])
def test_answers_fit_the_screen(chromium: Browser, answered_page: Path, width: int) -> None:
    with open_page(chromium, answered_page, viewport={"width": width, "height": 900}) as result:
        page_width, screen_width = result.page.evaluate(EXTENT)
        assert page_width <= screen_width
        assert all(
            box["width"] > 100
            for place in result.page.locator(".forest tbody tr:not(.group) td.plot").all()
            if (box := place.bounding_box())
        )


def test_line_of_the_plot_is_where_the_interval_is(chromium: Browser, answered_page: Path) -> None:
    with open_page(chromium, answered_page, viewport={"width": 1280, "height": 900}) as result:
        row = result.page.locator(".forest tr.worse").first
        change, zero = row.locator("circle.change").bounding_box(), row.locator("line.zero").bounding_box()
        assert change
        assert zero
        assert change["x"] > zero["x"] + 50
        assert row.locator("svg.tip").count() == 1  # its upper end is beyond the axis
        better = result.page.locator(".forest tr.better circle.change").first.bounding_box()
        assert better
        assert better["x"] < zero["x"] - 50


def test_row_leads_to_the_metric(chromium: Browser, answered_page: Path) -> None:
    with open_page(chromium, answered_page, viewport={"width": 1280, "height": 900}) as result:
        link = result.page.locator(".forest tr.worse th a").first
        link.click()
        assert "v2 against v1" in (result.page.locator("#definition-body").text_content() or "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_the_answer(chromium: Browser, answered_page: Path, scheme: str) -> None:
    with open_page(chromium, answered_page, color_scheme=scheme) as result:
        assert list_accessibility_problems(result.page) == []


def test_texts_of_an_answer_stay_texts() -> None:
    answer = compose({"verdicts": {"worse": 1}})
    hostile = "<b onclick=alert(1)>&amp;</b>"
    (group,) = answer.groups
    changed = replace(
        answer,
        headline=hostile,
        groups=(replace(group, title=hostile, rows=(replace(group.rows[0], label=hostile, base=hostile),)),),
        key_changes=(replace(answer.key_changes[0], label=hostile, text=hostile),),
        differing=((hostile, hostile, hostile),),
        notes=(hostile,),
    )
    page = build_page(replace_charts(create_document([changed])), TEMPLATES, "")
    assert "<b onclick" not in page
    assert page.count("&lt;b onclick=alert(1)&gt;&amp;amp;&lt;/b&gt;") >= 10
