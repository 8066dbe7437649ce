"""Write `sections` and `charts` of reports, which are short for parts at the start of a report, as these parts."""

from __future__ import annotations

from typing import Any

DISTRIBUTIONS = "Distributions"
"""Title of the part with the charts of a report."""


def expand_reports(data: object) -> object:
    """Return the plain data of a package whose reports have parts instead of sections and charts.

    Each section becomes a part with its title; the charts share one. Data of another shape are returned as they are,
    for the decoder to report.
    """
    if not isinstance(data, dict) or not isinstance(data.get("reports"), list):
        return data
    return {**data, "reports": [_expand(item) if isinstance(item, dict) else item for item in data["reports"]]}


def _expand(report: dict[str, Any]) -> dict[str, Any]:
    others = {name: value for name, value in report.items() if name not in ("sections", "charts")}
    sections, charts = report.get("sections") or (), report.get("charts") or ()
    short = [
        *({"title": item["title"], "group": "", "blocks": [{"Section": item}]} for item in sections),
        *([{"title": DISTRIBUTIONS, "group": "", "blocks": [{"Chart": item} for item in charts]}] if charts else []),
    ]
    return {**others, "parts": [*short, *(report.get("parts") or ())]} if short or "parts" in report else others
