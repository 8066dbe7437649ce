"""Propose the rates of counters: how much they increase in a second."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import replace

from assay_propose.cumulative import is_counter, list_labels, list_numbers, split_series, strip_suffix
from assay_propose.model import EventProposal, FieldProposal, GrainProposal, KeyPath, MetricProposal, Record
from assay_propose.names import NameSpace, join_names, make_identifier, split_words
from assay_propose.run_order import parse_instant
from assay_propose.sources import Group
from assay_propose.titles import make_field_title, make_title, make_value_title
from assay_propose.units import RATE, TIMES, find_unit

_MAX_RATES = 12  # of a source
_WORK = frozenset(("commits", "messages", "operations", "ops", "queries", "requests", "transactions", "txs"))
_FAILURES = frozenset(("dropped", "errors", "failed", "failure", "failures", "lost", "rejected", "retries", "timeouts"))


def propose_counter_rates(group: Group, names: NameSpace) -> tuple[GrainProposal, ...]:
    """Return a grain for each counter of a source with instants, with its increase per second."""
    if not group.source.time and group.source.kind != "samples":
        return ()
    counters = [(event, field) for event, field in list_numbers(group) if is_counter(group, event, field)]
    rates = (_build_rate_grain(group, event, field, names) for event, field in counters)
    grains = list(itertools.islice((grain for grain in rates if grain), _MAX_RATES))
    if group.source.kind != "samples":
        return tuple(grains)
    by_name = {group.source.find_event(grain.events[0]).names[0]: grain for grain in grains}
    means = []
    for name, total in by_name.items():
        number = by_name.get(f"{name.removesuffix('_sum')}_count")
        if name.endswith("_sum") and number and (number.labels, number.every_ns) == (total.labels, total.every_ns):
            grains[grains.index(total)] = replace(total, windows_of=number.name)
            means.append(_build_mean_grain(group, total, number, names))
    return (*means, *grains)


def _build_mean_grain(group: Group, total: GrainProposal, number: GrainProposal, names: NameSpace) -> GrainProposal:
    """Return the grain of the mean of what a histogram or a summary of Prometheus counts, between two steps."""
    name = strip_suffix(group.source.find_event(total.events[0]).names[0])
    words = split_words(name)
    unit, _ = find_unit(words)
    title = make_title(" ".join(words[:-1] if unit != "none" and len(words) > 1 else words))
    metric = MetricProposal(names.add(make_identifier(f"{name} mean", "mean")), f"{title} (mean)", unit,
                            f"Increase of `{name}_sum` by that of `{name}_count`",
                            better="lower" if unit in TIMES else "neither")  # fmt: skip
    return replace(total, name=names.add(make_identifier(f"{name} mean step", "mean")), metrics=(metric,), counter="",
                   reason=f"the mean of `{name}`: how much its sum increases for each of its count", title=metric.name,
                   windows_of=number.name, terms=(total.name, number.name))  # fmt: skip


def _build_rate_grain(
    group: Group, event: EventProposal, field: FieldProposal, names: NameSpace
) -> GrainProposal | None:
    """Return the grain of the steps of a run, with the rate of a counter; None if its series are not distinct."""
    labels = list_labels(group, event)
    distance = measure_distance(group, split_series(group, event, field))
    if not distance or any(label.name in event.optional for label in labels):
        return None
    is_sample = field.path == ("value",) and bool(event.names)
    words = split_words(strip_suffix(event.names[0])) if is_sample else split_words(field.path[-1])
    unit = find_unit(words)[0] if is_sample and not event.names[0].endswith("_count") else field.unit
    stem = make_identifier(event.names[0] if is_sample else field.name, "counter")
    title = make_value_title(group.source, event) if is_sample else make_field_title(group.source, event, field)
    better = "lower" if _FAILURES & {*words} else "higher" if _WORK & {*words} and unit == "none" else "neither"
    place = event.names[0] if is_sample else ".".join(field.place)
    metric = MetricProposal(names.add(f"{stem}_rate"), f"{title} (rate)", RATE if unit == "none" else f"{RATE} {unit}",
                            f"Increase of `{place}` per second, of each of its series", better=better)  # fmt: skip
    reason = f"`{place}` only grows, or restarts: its increase per second"
    return GrainProposal(names.add(join_names(stem, "step")), group.source.name, "", (event.name,), (metric,), reason,
                         title=metric.name, counter=field.name, excluded=event.excluded,
                         labels=tuple(label.name for label in labels), every_ns=round(distance * 1e9))  # fmt: skip


def measure_distance(group: Group, series: Sequence[Sequence[Record]]) -> float:
    """Return the median of the seconds from sample to sample of a series; 0 if they are not told."""
    path: KeyPath = group.source.time or ("at",)
    form = group.source.time_form or ("s" if group.source.kind == "samples" else "")
    distances = []
    for row in series:
        instants = [parse_instant(str(record.values.get(path, "")), form) for record in row]
        distances += [b - a for a, b in itertools.pairwise(instants) if a is not None and b is not None and b > a]
    return statistics.median(distances) if distances else 0
