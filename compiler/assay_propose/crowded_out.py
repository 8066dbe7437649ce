"""The limits on what is measured, and what they leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from assay_propose.model import EventProposal, GrainProposal
from assay_propose.quantities import Quantity, describe_quantity, list_quantities
from assay_propose.sources import Group

MAX_METRICS = 12  # of the fields of a grain
MAX_GRAINS = 12  # of records, per source


def list_crowded_out(group: Group, grains: Sequence[GrainProposal]) -> Iterator[tuple[str, str]]:
    """Yield the events with numbers, and the numbers of events, for which there are too many others: this reason."""
    own_grains = [grain for grain in grains if grain.source == group.source.name]
    measured = {name for grain in own_grains for name in grain.events}
    for grain in own_grains:
        of_fields = [metric for metric in grain.metrics if metric.field and not metric.is_failure]
        if len(of_fields) >= MAX_METRICS and not group.results:
            yield from ((name, f"{MAX_METRICS} other numbers come before") for name in _list_unmeasured(group, grain))
    for event in group.source.events:
        if not group.results and event.name not in measured and list_quantities(group, event):
            yield event.name, f"{MAX_GRAINS} other events come before"


def _list_unmeasured(group: Group, grain: GrainProposal) -> Iterator[str]:
    """Yield the numbers of the events of a grain that its metrics do not have."""
    fields = {(metric.event, metric.field) for metric in grain.metrics}
    texts = {metric.where[1] for metric in grain.metrics}
    for event in map(group.source.find_event, grain.events):
        if group.known_format and group.known_format.split[0]:
            yield from (text for text in list_measured_texts(group, event) if text not in texts)
        else:
            quantities = list_quantities(group, event, (grain.key,))
            yield from (item.name for item in quantities if (event.name, item.name) not in fields)


def list_measured_texts(group: Group, event: EventProposal) -> dict[str, Quantity]:
    """Return the texts that say what a value is, in a table of a known format, with what is measured: main ones first.

    Those that are no metrics are left out.
    """
    column, value = group.known_format.split if group.known_format else ("", "")
    field = next(item for item in group.source.fields if item.path == (value,))
    texts = Counter(str(record.values.get((column,), "")) for record in group.records[event.name])
    quantities = {text: describe_quantity(group, event, field, text) for text, _ in texts.most_common()}
    measured = [text for text, quantity in quantities.items() if not quantity.omission]
    known_format = group.known_format
    ranked = sorted(measured, key=lambda text: known_format.rank((text,), group.facts) if known_format else 0)
    return {text: quantities[text] for text in ranked}
