"""Convert the plain data of packages that earlier versions of Assay wrote to today's form.

Until Assay 0.3, reports of parts were articles, a part had a list for each kind of block, a report had listings and
timelines beside its parts, and reports over publications were histories.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

#: list of a former part -> kind of its blocks, in the order of pages
_KINDS = {
    "scatters": "Scatter",
    "timelines": "Timeline",
    "curves": "Curve",
    "grids": "Grid",
    "comparisons": "Section",
    "pivots": "Pivot",
    "listings": "Listing",
    "verdicts": "Verdict",
    "class_tables": "ClassTable",
    "averages": "Averages",
    "conclusions": "Conclusion",
}


@functools.cache
def convert_to_snake_case(name: str) -> str:
    """Return a name in camelCase in snake_case."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def convert_former_package(data: object) -> object:
    """Return a package in today's form; data of another shape are returned as they are, for the decoder to report."""
    if not isinstance(data, dict):
        return data
    reports = [*(data.get("reports") or ()), *(data.get("articles") or ())]
    histories = data.get("histories") or ()
    others = {name: value for name, value in data.items() if name not in ("articles", "histories")}
    return {
        **others,
        "reports": [
            *(_convert_report(item) if isinstance(item, dict) else item for item in reports),
            *(_convert_history(item) if isinstance(item, dict) else item for item in histories),
        ],
    }


def _convert_report(data: Mapping[str, Any]) -> dict[str, Any]:
    members = {name: value for name, value in data.items() if name not in ("timelines", "listings")}
    parts = [_convert_part(item) if isinstance(item, dict) else item for item in data.get("parts") or ()]
    timelines = [{"RunTimeline": item} for item in data.get("timelines") or ()]
    listings = [{"Listing": {**item, "files": True}} for item in data.get("listings") or ()]
    parts = [
        *([{"title": "Over time", "blocks": timelines}] if timelines else []),
        *parts,
        *({"title": item["Listing"]["title"], "blocks": [item]} for item in listings),
    ]
    return {**members, "parts": parts} if parts else members


def _convert_history(data: Mapping[str, Any]) -> dict[str, Any]:
    blocks = [
        {"LevelShifts": {"title": "Level shifts"}},
        {"LargestMoves": {"title": "Largest moves", "limit": data.get("moves", 20)}},
        *(
            {"Trends": {**{name: item.get(name) for name in ("title", "doc", "metrics")}, "template": "history"}}
            for item in data.get("sections") or ()
            if isinstance(item, dict)
        ),
    ]
    return {
        **{name: data[name] for name in ("name", "title", "intro", "doc") if name in data},
        "over": {"of": data.get("of", ""), "experiments": data.get("experiments") or ()},
        "parts": [{"title": next(iter(item.values()))["title"], "blocks": [item]} for item in blocks],
    }


def _convert_part(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part that lists blocks by kind as one with blocks in the order of its page."""
    if "blocks" in data:
        return data
    members = {convert_to_snake_case(str(name)): value for name, value in data.items()}
    return {
        "title": members.get("title", ""),
        "group": members.get("group", ""),
        "blocks": list(_list_blocks(members)),
    }


def _list_blocks(members: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if members.get("prose"):
        yield {"Prose": members["prose"]}
    for name, kind in _KINDS.items():
        if name == "comparisons" and members.get("facts"):
            yield {"Facts": members["facts"]}
        yield from ({kind: item} for item in members.get(name) or ())
