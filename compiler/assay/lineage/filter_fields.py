"""Fields of events that filters can decide by, and that no filter which is applied makes part of a lineage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.lang import dependencies
from assay.lang.model.package import Metric, Package
from assay.lineage.graph import place_of, raw_places
from assay.lineage.metric_lineage import Lineage, fields
from assay.plan.planner import EventStep


def filterable(
    package: Package, metrics: Sequence[Metric], found: Lineage
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Event, field, and the places in raw records, of what the definition hashes of metrics are made over beside what
    has a part in their lineage: filters that are not applied would read it.  In order."""
    plain, under_all = (
        dependencies.collect_dependencies(package, metrics, filters).events for filters in ((), package.filters)
    )
    sources = {item.name: item for item in package.sources}
    for event in sorted(package.events, key=lambda item: item.name):
        named = found.events.get(event.name, frozenset()) | plain.get(event.name, set())
        source = sources[event.source]
        own = sorted(name for name in under_all.get(event.name, set()) - named if not place_of(source, name))
        for origin, ways in fields(EventStep(event, tuple(own))):
            yield event.name, origin.column, raw_places(source, origin.column, ways)
