"""What a run's logs do not tell: metrics without samples because an event that they need never stands in the logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.engine.results import RunResults
from assay.plan.steps import Plan
from assay.spec.model import Metric, Package
from assay.spec.normal_form import Checked

NAMED = 3


def absent_events(checked: Checked, made: Plan, results: RunResults, counts: Mapping[str, int]) -> tuple[str, ...]:
    """A sentence for each event that no log line of a run is, where metrics have no sample for want of it."""
    empty = [metric for metric in made.metrics if not results.metrics[metric.id].size]
    without: dict[str, list[str]] = {}
    for metric in empty:
        for event in _measured_events(checked.package, metric):
            if not counts.get(event):
                without.setdefault(event, []).append(metric.id)
    return tuple(
        f"no log line is a `{event}` event, so there are no samples of {_listed(names)}."
        for event, names in sorted(without.items())
    )


def _measured_events(package: Package, metric: Metric) -> set[str]:
    """The events that the instants of a metric's measure are bound to."""
    grain = next(item for item in package.grains if item.name == metric.grain)
    named = {node.text if node.op == "taken" else node.name for node in metric.measure.walk()}
    events = {event.name for event in package.events}
    return {item.of for item in grain.instants if item.name in named and item.of in events}


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
