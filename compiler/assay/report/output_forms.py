"""Define the output forms of reports: the files of each, and the tools that only it needs."""

from __future__ import annotations

from collections.abc import Iterable

PDF, MARKDOWN, MARKDOWN_SINGLE, HTML = "pdf", "md", "md-single", "html"

FILES = {
    PDF: ("report.pdf", "report.typ", "report"),
    MARKDOWN: ("report.md",),
    MARKDOWN_SINGLE: ("report-single.md",),
    HTML: ("report.html",),
}
"""Form -> the files that it adds to the folder of a report, first the one that a reader opens."""

TOOLS = {PDF: (), MARKDOWN: (), MARKDOWN_SINGLE: (), HTML: ("jinja2", "markupsafe")}
"""Form -> the Python packages, in addition to those of every form, whose versions may change its bytes."""

DEFAULT_FORMS = (PDF,)
VEGA_LITE = "6.4"  # the version of the chart specifications and of the converter


def order_forms(forms: Iterable[str]) -> tuple[str, ...]:
    """Return the requested forms, each once, in a fixed order; the default forms if none is requested."""
    requested_forms = set(forms)
    return tuple(form for form in FILES if form in requested_forms) or DEFAULT_FORMS
