"""Test the page of errors in specs, which is generated from the cases of `assay check` and `assay test`."""

from __future__ import annotations

import re

import pytest

from tests.errors.case_files import list_cases, read_case
from tests.support.documentation import ROOT

pytestmark = pytest.mark.docs

PAGE = ROOT / "docs" / "spec-language" / "errors.md"
#: topic of cases -> title and page of the words that they are about
TOPICS = {
    "dhall": ("Dhall", "package.md#dhall-in-brief"),
    "names": ("Names", "package.md"),
    "sources": ("Sources, constants and events", "sources.md"),
    "relations": ("Relations", "relations.md"),
    "grains": ("Grains, instants and expressions", "grains.md"),
    "metrics": ("Metrics", "metrics.md"),
    "formulas": ("Formulas", "metrics.md#formulas"),
    "series": ("Series", "series.md"),
    "phases": ("Phases", "filters-and-phases.md#phases"),
    "filter-files": ("Filter files", "filters-and-phases.md#filter-files"),
    "reports": ("Reports", "reports.md"),
    "judgements": ("Judgements", "reports.md#judgements"),
    "editions": ("Editions", "reports.md#editions"),
    "parts": ("Parts of reports", "parts.md"),
    "histories": ("Histories", "histories.md"),
    "examples": ("Examples", "examples-and-checks.md#examples"),
}
_INTRO = """# Errors in specs

What `assay check` and `assay test` print for specs that are wrong: the code in `error[...]`, and for each code one
message that a test provokes. A code that several topics share is below the first of them. Each message also names the
place, and says what was expected and what helps. This page is generated from the tests.
"""
_FIRST = re.compile(r"^error\[([\w-]+)\]: (.*)$", re.M)


def _format_row(code: str, message: str) -> str:
    """Format the row of an error."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (f"`{code}`", message)) + " |"


def _format_page() -> str:
    """Return the page: a table of each topic. Each code has its first case, in the first topic that has one."""
    tables: dict[str, dict[str, str]] = {topic: {} for topic in TOPICS}
    for name in list_cases():
        topic = name.partition("/")[0]
        case = read_case(name)
        match = _FIRST.search(case.answer.stderr or case.answer.stdout)
        if topic in tables and match and case.command.split()[0] in ("check", "test"):
            tables[topic].setdefault(match[1], _format_row(match[1], match[2]))
    parts = [_INTRO]
    listed: set[str] = set()
    for topic, (title, page) in TOPICS.items():
        rows = "\n".join(tables[topic][code] for code in sorted(tables[topic].keys() - listed))
        listed |= tables[topic].keys()
        parts.append(f"## {title}\n\nSee [{page.partition('#')[0]}]({page})\n")
        parts.append(f"| code | for example |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


def test_page_of_errors_is_that_of_the_cases(is_accepting: bool) -> None:
    page = _format_page()
    if is_accepting:
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page
