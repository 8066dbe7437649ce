"""Propose percentiles of histograms of Prometheus, whose buckets count since a start."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from assay_propose.counters import measure_distance
from assay_propose.cumulative import BUCKET, is_bucket, list_labels, split_series
from assay_propose.model import EventProposal, GrainProposal, MetricProposal
from assay_propose.names import NameSpace, join_names, make_identifier, split_words
from assay_propose.sample_records import NATIVE
from assay_propose.sources import Group
from assay_propose.titles import make_title
from assay_propose.units import TIMES, find_unit

_MAX_HISTOGRAMS = 12  # of a source
_CENTILES = (0.5, 0.95, 0.99)
_BOUND = ("labels", "le")
_STEPS, _MOST_SAMPLES = 20, 4  # of a run, if its series have as many samples; and samples of a step


def propose_histograms(group: Group, names: NameSpace) -> tuple[GrainProposal, ...]:
    """Return a grain for each histogram, with percentiles of what was added in each step of a run."""
    if group.source.kind != "samples":
        return ()
    grains = (_build_grain(group, event, names) for event in group.source.events if is_bucket(event))
    return tuple(itertools.islice((grain for grain in grains if grain), _MAX_HISTOGRAMS))


def _build_grain(group: Group, event: EventProposal, names: NameSpace) -> GrainProposal | None:
    """Return the grain of a histogram; None if its samples lack bounds, or labels that tell its series apart."""
    fields = [group.source.find_field(name) for name in event.fields]
    value = next((field for field in fields if field.path == ("value",)), None)
    bound = next((field for field in fields if field.path == _BOUND), None)
    labels = [field.name for field in list_labels(group, event) if field is not bound]
    labels = [name for name in labels if name not in event.optional]  # buckets of the others add up
    if not value or not bound or bound.name in event.optional:
        return None
    series = split_series(group, event, value)
    distance = measure_distance(group, series)
    if not distance:
        return None
    samples = min(max(max(map(len, series)) // _STEPS, 1), _MOST_SAMPLES)
    name = event.names[0].removesuffix(BUCKET)
    metrics = tuple(_list_metrics(name, names))
    return GrainProposal(names.add(join_names(make_identifier(name, "histogram"), "histogram")), group.source.name, "",
                         (event.name,), metrics, f"`{event.names[0]}` has the buckets of a histogram: its percentiles",
                         title=metrics[0].name.rpartition(" (")[0], counter=value.name, buckets=bound.name,
                         labels=tuple(labels), every_ns=round(samples * distance * 1e9),
                         is_native=any(f"`{name}` {NATIVE}" in note for note in group.source.notes))  # fmt: skip


def _list_metrics(name: str, names: NameSpace) -> Iterator[MetricProposal]:
    words = split_words(name)
    unit, _ = find_unit(words)
    title = make_title(" ".join(words[:-1] if unit != "none" and len(words) > 1 else words))
    for centile in _CENTILES:
        percent = f"{100 * centile:g}"
        yield MetricProposal(names.add(make_identifier(f"{name} p{percent}", f"p{percent}")), f"{title} (p{percent})",
                             unit, f"Percentile {percent} of `{name}` in each step, over all of its series",
                             better="lower" if unit in TIMES else "neither", centile=centile)  # fmt: skip
