"""Propose a system for sample files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from assay.util.diagnostics import AssayError, fail
from assay_propose.alternation import find_alternating
from assay_propose.benchmark_texts import add_results
from assay_propose.choices import MEMBER, list_settings
from assay_propose.confirm_units import confirm_units
from assay_propose.crowded_out import list_crowded_out
from assay_propose.cumulative import list_cumulative
from assay_propose.detect import Detected, detect
from assay_propose.doubts import note_doubts
from assay_propose.elements import add_elements
from assay_propose.grains import propose_counts, propose_grains
from assay_propose.model import GrainProposal, PassedOver, Proposal, SampleFile
from assay_propose.names import NameSpace, drop_prefix, make_identifier
from assay_propose.number_kinds import list_numbering, mark_kinds
from assay_propose.quantities import list_omissions
from assay_propose.repeats import list_namesakes
from assay_propose.run_order import find_extents
from assay_propose.running import add_running, list_running
from assay_propose.runs import assign_runs, list_hosts, list_runs
from assay_propose.sources import Group, propose_source
from assay_propose.spans import add_spans
from assay_propose.throughput import find_counter
from assay_propose.titles import make_title
from assay_propose.varying import (
    list_averages,
    list_constant_fields,
    list_growing_fields,
    list_repetitions,
    list_restarting,
    list_run_constants,
    note_elapsed_time,
)

#: names of `let` in the specs that are written, which names of events and grains would hide
_NAMES_OF_SPECS = (
    "at", "before", "constant", "e", "event", "field", "first", "g", "grain", "host", "key", "last", "latest", "m",
    "name", "relation", "source",
)  # fmt: skip


def propose_system(
    name: str, samples: Sequence[SampleFile], passed_over: Sequence[PassedOver] = (), each: str = ""
) -> tuple[Proposal, tuple[SampleFile, ...]]:
    """Return a system that reads the samples and measures what they have, and the samples with their runs.

    `each` is what each of the samples is (`runs.READINGS`); by default, their folders and names decide.

    Raises AssayError `unknown-format`, `options` (usage).
    """
    detected, unknown = _detect_all(samples)
    keys_by_path = {item.sample.path: (item.kind, item.layout, *_get_time_path(item)) for item in detected}
    extents = find_extents(detected)
    detected, placement = assign_runs(detected, lambda item: keys_by_path[item.sample.path], extents, each)
    tables = NameSpace(_NAMES_OF_SPECS)
    groups = _propose_sources(detected, keys_by_path, tables, name)
    if not any(group.source.events for group in groups):
        raise fail("unknown-format", "the logs have no records that could be events",
                   found=", ".join(f"{group.source.kind} with {group.source.records} records" for group in groups),
                   hint="write the events by hand: docs/spec-language/events.md")  # fmt: skip
    grains = _rename_alike(_propose_all_grains(groups, tables))
    keys = {(event, name) for grain in grains for event in grain.events for name in (grain.key, grain.counter)}
    omitted = [item for group in groups for item in (*_list_omitted(group, keys), *list_crowded_out(group, grains))]
    numbering = {name for name, reason in omitted if reason == MEMBER}
    growing = tuple(item for group in groups for item in list_growing_fields(group)
                    if item not in keys and item[1] not in numbering)  # fmt: skip
    constant = tuple(item for group in groups for item in list_constant_fields(group, grains))
    run_constants = tuple(item for group in groups for item in list_run_constants(group))
    measured = {(metric.event, metric.field) for grain in grains for metric in grain.metrics}
    run_constants = tuple(item for item in run_constants if (item.event, item.field) not in keys | measured)
    chained = {event for grain in grains if grain.key for event in grain.events}
    alternating = tuple(
        pair for group in groups if group.source.time for pair in find_alternating(group.records, chained)
    )
    placed = tuple(item.sample for item in detected)
    sources = tuple(mark_kinds(group, grains) for group in groups)
    system = drop_prefix(make_identifier(name, "service"))
    runs, baseline_reason = list_runs(placed, placement, extents)
    proposal = Proposal(
        system=system,
        sources=sources,
        grains=grains,
        growing=growing,
        runs=runs,
        baseline_reason=baseline_reason,
        repeats_reason=placement.repeats_reason,
        omitted=tuple(dict.fromkeys(omitted)),
        hosts=list_hosts(placed),
        hosts_reason=placement.hosts_reason,
        passed_over=(*passed_over, *unknown),
        alternating=alternating,
        constant=constant,
        run_constants=run_constants,
    )
    return proposal, placed


def _propose_sources(
    detected: Sequence[Detected], keys_by_path: Mapping[Path, object], tables: NameSpace, system: str
) -> list[Group]:
    """Return a group of records for each layout of files: a source of its own."""
    layouts: dict[object, list[Detected]] = {}
    for item in detected:
        layouts.setdefault(keys_by_path[item.sample.path], []).append(item)
    source_names = NameSpace(_NAMES_OF_SPECS)
    groups: list[Group] = []
    for items in layouts.values():
        stem = Path(items[0].sample.name).name.partition(".")[0]
        source_name = source_names.add("logs" if len(layouts) == 1 else make_identifier(stem, "logs"))
        group = add_spans(confirm_units(propose_source(source_name, items, tables, system)))
        groups.append(note_doubts(note_elapsed_time(add_running(add_elements(add_results(group))))))
    return groups


def _list_omitted(group: Group, keys: Collection[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return what of a group is no metric, and why; `keys` are the events with the fields that are keys of grains."""
    counter = find_counter(group)  # has a rate
    omissions = (item for item in list_omissions(group) if item[0] != counter)
    numbers = (*list_repetitions(group), *list_restarting(group), *list_averages(group), *list_running(group),
               *list_cumulative(group, keys))  # fmt: skip
    return (*omissions, *numbers, *list_settings(group, keys), *list_numbering(group, keys),
            *list_namesakes(group))  # fmt: skip


def _detect_all(samples: Sequence[SampleFile]) -> tuple[list[Detected], list[PassedOver]]:
    """Return the content of files, and the files of folders whose kind is unknown, those of one name together.

    Raises AssayError if all are unknown.
    """
    detected = []
    unknown: dict[str, PassedOver] = {}
    for number, sample in enumerate(samples, 1):
        try:
            detected.append(detect(sample))
        except AssayError as error:
            if sample.is_listed or (number == len(samples) and not detected):
                raise
            earlier = unknown.get(sample.name)
            message = earlier.reason if earlier else error.diagnostics[0].message
            unknown[sample.name] = PassedOver(earlier.count + 1 if earlier else 1, sample.name, message)
    return detected, list(unknown.values())


def _get_time_path(item: Detected) -> tuple[object, ...]:
    """Return what distinguishes logs of one kind: the path of their instants."""
    if item.kind not in ("json-lines", "logfmt"):
        return ()
    times = item.find_times()
    return (times.paths, times.form) if times else ()


def _rename_alike(grains: Sequence[GrainProposal]) -> tuple[GrainProposal, ...]:
    """Return grains with distinct titles, as of their metrics: titles that several have follow from the ids instead."""
    counts = Counter(metric.name for grain in grains for metric in grain.metrics)
    titles = Counter(grain.title for grain in grains if grain.is_main)
    return tuple(
        replace(
            grain,
            title=make_title(grain.name) if grain.is_main and titles[grain.title] > 1 else grain.title,
            metrics=tuple(
                replace(metric, name=make_title(metric.id)) if counts[metric.name] > 1 else metric
                for metric in grain.metrics
            ),
        )
        for grain in grains
    )


def _propose_all_grains(groups: Sequence[Group], tables: NameSpace) -> tuple[GrainProposal, ...]:
    grains = [grain for group in groups for grain in propose_grains(group, tables)]
    if not grains:
        grains = [grain for group in groups for grain in propose_counts(group.source, tables)]
    return tuple(grains)
