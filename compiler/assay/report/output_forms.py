"""The forms that a report can take: the files of each, and the tools that shape only that one."""

from __future__ import annotations

from collections.abc import Iterable

PDF, MARKDOWN, HTML = "pdf", "md", "html"

FILES = {
    PDF: ("report.pdf", "report.typ", "report"),
    MARKDOWN: ("report.md",),
    HTML: ("report.html",),
}
"""Form -> what it adds to the folder of a report, first the file that a reader opens."""

TOOLS = {PDF: (), MARKDOWN: (), HTML: ("jinja2", "markupsafe")}
"""Form -> the Python packages, beside those of every form, whose versions may change its bytes."""

USUAL = (PDF,)
VEGA_LITE = "6.4"  # the version that charts are written in, and drawn by


def ordered(asked: Iterable[str]) -> tuple[str, ...]:
    """The forms that are asked for, each once, in one order; the usual ones when none is."""
    wanted = set(asked)
    return tuple(form for form in FILES if form in wanted) or USUAL
