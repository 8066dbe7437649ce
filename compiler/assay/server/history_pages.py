"""Render the pages of metrics over time, for `assay serve` and as static files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from assay.app.compare.metric_history import describe_history
from assay.app.compare.metric_overview import MetricState, list_states
from assay.app.session.session import Session
from assay.number_styles.prefixed import format_percent
from assay.registry.history import Drift, MetricHistory
from assay.registry.model import RecordedResults, RegisteredRun
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


def list_states_by_tag(
    session: Session, recorded: Sequence[RecordedResults], runs: Sequence[RegisteredRun]
) -> dict[str, tuple[MetricState, ...]]:
    """Return the states of all metrics over all runs ("") and over the runs with each tag. Raises AssayError."""
    names = {item.name for item in recorded}
    tags = sorted({tag for run in runs if run.name in names for tag in run.tags})
    return {tag: list_states(session, recorded, runs, tag) for tag in ("", *tags)}


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


def _describe_begin(item: MetricState) -> str:
    """Return since which run a change lasts, and its day."""
    if item.change is None:
        return ""
    point = item.change.first if isinstance(item.change, Drift) else item.change.point
    return f"{point.run}, {point.day}" if point.day else point.run


def build_history(item: MetricHistory, fonts: Path) -> dict[str, Any]:
    """Return the values of the page of a metric. Raises AssayError."""
    from markupsafe import Markup

    texts = describe_history(item)
    return {"system": item.system, "texts": texts, "chart": Markup(draw_history(item, texts, fonts))}


def build_history_address(system: str, metric: str) -> str:
    """Return the address of the page of a metric on the served site."""
    return f"history/{quote(system, safe='')}/{quote(metric, safe='')}"
