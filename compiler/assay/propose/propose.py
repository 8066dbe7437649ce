"""Propose a system for sample files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.propose.detect import Detected, detect
from assay.propose.grains import list_growing_fields, propose_counts, propose_grains
from assay.propose.model import GrainProposal, Proposal, SampleFile
from assay.propose.names import NameSpace, make_identifier
from assay.propose.recognize import find_times
from assay.propose.sources import Group, propose_source
from assay.util.diagnostics import fail

#: names of `let` in the specs that are written, which names of events and grains would hide
_NAMES_OF_SPECS = (
    "at", "constant", "e", "event", "field", "first", "g", "grain", "host", "key", "m", "name", "relation", "source",
)  # fmt: skip


def propose_system(name: str, samples: Sequence[SampleFile]) -> Proposal:
    """Return a system that reads the samples and measures what they have.

    Raises AssayError `unknown-format`.
    """
    layouts: dict[object, list[Detected]] = {}
    for sample in samples:
        item = detect(sample)
        layouts.setdefault((item.kind, item.layout, *_get_time_path(item)), []).append(item)
    tables, source_names = NameSpace(_NAMES_OF_SPECS), NameSpace(_NAMES_OF_SPECS)
    groups: list[Group] = []
    for items in layouts.values():
        stem = Path(items[0].sample.name).name.partition(".")[0]
        source_name = source_names.add("logs" if len(layouts) == 1 else make_identifier(stem, "logs"))
        groups.append(propose_source(source_name, items, tables))
    if not any(group.source.events for group in groups):
        raise fail("unknown-format", "the logs have no records that could be events",
                   found=", ".join(f"{group.source.kind} with {group.source.records} records" for group in groups),
                   hint="write the events by hand: docs/spec-language/events.md")  # fmt: skip
    grains = _propose_all_grains(groups, tables)
    keys = {(event, grain.key) for grain in grains for event in grain.events}
    growing = tuple(item for group in groups for item in list_growing_fields(group) if item not in keys)
    return Proposal(make_identifier(name, "service"), tuple(group.source for group in groups), grains, growing)


def _get_time_path(item: Detected) -> tuple[object, ...]:
    """Return what distinguishes logs of one kind: the path of their instants."""
    if item.kind not in ("json-lines", "logfmt"):
        return ()
    times = find_times(item.records, several=False)
    return (times.paths, times.form) if times else ()


def _propose_all_grains(groups: Sequence[Group], tables: NameSpace) -> tuple[GrainProposal, ...]:
    grains = [grain for group in groups for grain in propose_grains(group, tables)]
    if not grains:
        grains = [grain for group in groups for grain in propose_counts(group.source, tables)]
    return tuple(grains)
