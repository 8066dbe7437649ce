"""Write what the language has for authors as the model has it.

`sections` and `charts` of a report are short for parts at its start; values of manifest rows are alternatives of a
union, and the time of a choice is a record.
"""

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
    if short or "parts" in report:
        others["parts"] = [*short, *(report.get("parts") or ())]
    for name, flatten in (("manifest", _flatten_row), ("choices", _flatten_choice)):
        if isinstance(report.get(name), list):
            others[name] = [flatten(item) if isinstance(item, dict) else item for item in report[name]]
    return others


_NO_VALUE = {"constant": "", "needs": "", "relation": "", "column": "", "built": ""}


def _flatten_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest row whose value, an alternative of a union, has a member for each part of it."""
    if "value" not in row:
        return row
    members = {name: item for name, item in row.items() if name != "value"}
    value = row["value"]
    if "Built" in value:
        return {**members, **_NO_VALUE, "built": value["Built"]}
    return {**members, **_NO_VALUE, **next(iter(value.values()))}


def _flatten_choice(choice: dict[str, Any]) -> dict[str, Any]:
    """Return a choice with the columns of its time as members of its own."""
    if "time" not in choice:
        return choice
    members = {name: item for name, item in choice.items() if name != "time"}
    return {**members, **(choice["time"] or {"begin": "", "end": ""})}
