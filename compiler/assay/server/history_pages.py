"""Render the pages of metrics over time, for `assay serve` and as static files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from assay.app.compare.metric_history import ACCEPTED, describe_acceptance, describe_history, describe_note
from assay.app.compare.metric_overview import MetricState, list_states
from assay.app.compare.shift_details import ShiftDetails, get_begin, list_changes
from assay.app.session.session import Session
from assay.number_styles.prefixed import format_percent
from assay.registry.history import Drift, HistoryChange, MetricHistory
from assay.registry.store import Registry
from assay.server.history_chart import draw_history, draw_sparkline
from assay.util.bidi import isolate_page

if TYPE_CHECKING:
    from jinja2 import Environment

TITLE = "Metrics over time"


@dataclass(frozen=True, slots=True)
class PageFrame:
    """What all pages of a site share: its name, the addresses and labels of its pages, and what links to an address."""

    environment: Environment
    name: str
    pages: Sequence[tuple[str, str]]
    to: Callable[[str], str]

    def render(self, template: str, place: str, title: str, **values: Any) -> bytes:
        """Return a page; `place` is the label of the page that the navigation marks."""
        page = self.environment.get_template(f"server/{template}")
        text = page.render(place=place, title=title, workspace=self.name, pages=self.pages, to=self.to, **values)
        return (isolate_page(text) + "\n").encode()


def list_states_by_tag(session: Session, registry: Registry) -> dict[str, tuple[MetricState, ...]]:
    """Return the states of all metrics over all runs ("") and over the runs with each tag. Raises AssayError."""
    names = {item.name for item in registry.recorded}
    tags = sorted({tag for run in registry.runs if run.name in names for tag in run.tags})
    return {tag: list_states(session, registry, tag) for tag in ("", *tags)}


def build_overview(
    states_by_tag: Mapping[str, Iterable[MetricState]], get_address: Callable[[str, str], str]
) -> dict[str, Any]:
    """Return the values of the page of all metrics."""
    from markupsafe import Markup

    rows = [
        {
            "system": item.history.system,
            "id": item.history.metric,
            "name": item.history.name,
            "address": get_address(*item.id),
            "spark": Markup(draw_sparkline(item.history)),
            "latest": item.latest,
            "kind": "drift: " if isinstance(item.change, Drift) else "",
            "state": item.state,
            "sentence": item.sentence,
            "note": _describe_acceptance(item),
            "since": _describe_begin(item),
            "percent": format_percent(item.change.before, item.change.after) if item.change else "",
            "tag": tag,
        }
        for tag, states in states_by_tag.items()
        for item in states
    ]
    return {
        "states": rows,
        "systems": sorted({row["system"] for row in rows}),
        "state_names": list(dict.fromkeys(row["state"] for row in rows)),
        "tags": [tag for tag in states_by_tag if tag],
    }


def _describe_acceptance(item: MetricState) -> str:
    """Return who accepted the change of a metric, when and why; empty for none."""
    note = item.change.acceptance if item.change else None
    return describe_note(note).removeprefix(f"{ACCEPTED} ") if note else ""


def _describe_begin(item: MetricState) -> str:
    """Return since which run a change lasts, and its day."""
    if item.change is None:
        return ""
    point = get_begin(item.change)
    return f"{point.run}, {point.day}" if point.day else point.run


def build_history(
    item: MetricHistory,
    fonts: Path,
    details: Sequence[ShiftDetails],
    get_comparison: Callable[[HistoryChange], str] = lambda _: "",
) -> dict[str, Any]:
    """Return the values of the page of a metric; `details` are those of its changes. Raises AssayError.

    `get_comparison` returns the address of the comparison of the two runs around a change; empty for none.
    """
    from markupsafe import Markup

    texts = describe_history(item)
    changes = [
        {
            "text": text.removesuffix(describe_acceptance(change)),
            "begin": get_begin(change).run,
            "is_accepted": change.acceptance is not None,
            "notes": list(map(describe_note, change.notes)),
            "details": each,
            "comparison": get_comparison(change),
        }
        for text, change, each in zip(texts.shifts, list_changes(item), details, strict=True)
    ]
    chart = Markup(draw_history(item, texts, fonts))
    return {"system": item.system, "metric": item.metric, "texts": texts, "changes": changes, "chart": chart}


def build_history_address(system: str, metric: str) -> str:
    """Return the address of the page of a metric on the served site."""
    return f"history/{quote(system, safe='')}/{quote(metric, safe='')}"
