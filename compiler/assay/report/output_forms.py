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

DEFAULT_FORMS = (PDF,)
VEGA_LITE = "6.4"  # the version that charts are written in, and drawn by


def order_forms(forms: Iterable[str]) -> tuple[str, ...]:
    """The forms that are asked for, each once, in one order; the usual ones when none is."""
    requested_forms = set(forms)
    return tuple(form for form in FILES if form in requested_forms) or DEFAULT_FORMS
