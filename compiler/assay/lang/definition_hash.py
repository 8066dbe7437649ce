"""Compute definition hashes: the SHA-256 of everything that a metric depends on, without prose."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from assay.lang import dependencies, formula, scopes
from assay.lang.model.package import Metric, Package, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.lang.plain_data import SerializationMemo, dump_compact, to_plain_data
from assay.util.repr_key import ReprKey


def hash_definitions(package: Package) -> dict[str, str]:
    """Return the definition hash of each metric.

    It covers everything that a metric depends on, but no prose: members of its grain, SQL of relations, events, fields,
    patterns that are tried before those of its events, sources, constants, and predicates of all filters that can
    apply.
    """
    memo = SerializationMemo()
    hashes = get_hash_memo(ReprKey(dataclasses.replace(package, metrics=())))
    hashes_by_id = {}
    for metric in package.metrics:
        key = ReprKey(metric)
        if formula.is_formula(metric) or key not in hashes:
            hashes[key] = hash_definition(collect_definition(package, metric, memo), memo)
        hashes_by_id[metric.id] = hashes[key]
    return hashes_by_id


@functools.lru_cache(maxsize=2)  # `assay watch` computes the same package with one metric changed
def get_hash_memo(_others: ReprKey[Package]) -> dict[ReprKey[Metric], str]:
    """Return the cached definition hashes of metrics in a package that is otherwise the same."""
    return {}


def collect_definition(package: Package, metric: Metric, memo: SerializationMemo | None = None) -> dict[str, Any]:
    """Return everything that a metric depends on, as plain data without prose: the input of its hash."""
    needs = dependencies.collect_dependencies(package, [metric], package.filters)
    memo = memo or SerializationMemo()

    def convert_all(items: Iterable[Any]) -> list[Any]:
        return [to_plain_data(item, prose=False, memo=memo) for item in items]

    constants = (item for source in package.sources for item in source.constants)
    body: dict[str, Any] = {
        "metric": to_plain_data(metric, prose=False, memo=memo),
        "grains": [
            memo.get_table(name, members, functools.partial(_convert_members, package, name, members, memo))
            for name, members in sorted(needs.grains.items())
        ],
        "relations": convert_all(item for item in _sort_by_name(package.relations) if item.name in needs.relations),
        "events": [
            memo.get_table(name, fields, functools.partial(_convert_event, package, name, fields, memo))
            for name, fields in sorted(needs.events.items())
        ],
        "sources": convert_all(_drop_run_facts(item) for item in _sort_by_name(_list_required_sources(package, needs))),
        "constants": convert_all(item for item in constants if item.name in needs.constants),
        "filters": convert_all(item for item in _sort_by_name(package.filters) if item.name in needs.filters),
    }
    if earlier_patterns := _list_earlier_patterns(package, needs):
        body["earlier"] = earlier_patterns
    if formula.is_formula(metric):
        metrics = formula.index_metrics(package)
        body["metrics"] = {
            name: collect_definition(package, metrics[name], memo) for name in formula.list_inputs(metric.measure)
        }
    if needs.series:
        body["series"] = convert_all(item for item in _sort_by_name(package.series) if item.name in needs.series)
    return body


def hash_definition(body: Mapping[str, Any], memo: SerializationMemo | None = None) -> str:
    """Return the SHA-256 (hexadecimal) of a definition, serialized canonically."""
    memo = memo or SerializationMemo()
    parts = (f"{dump_compact(name)}:{memo.serialize(part)}" for name, part in sorted(body.items()))
    return hashlib.sha256(f"{{{','.join(parts)}}}".encode()).hexdigest()


def _list_required_sources(package: Package, needs: dependencies.Dependencies) -> tuple[Source, ...]:
    """Return the sources of the events that are read.

    All sources, where a relation reads the logs or no event is read.
    """
    relations = [item for item in package.relations if item.name in needs.relations]
    if not needs.events or any(scopes.LOGS in item.uses for item in relations):
        return package.sources
    read = {event.source for event in package.events if event.name in needs.events}
    return tuple(item for item in package.sources if item.name in read)


def _list_earlier_patterns(package: Package, needs: dependencies.Dependencies) -> list[dict[str, Any]]:
    """Return the patterns of text lines that are tried before those of each event that is read.

    A line that matches an earlier pattern is not a record of the event.  The order of these patterns does not matter.
    """
    patterns_by_source: dict[str, set[str]] = {
        source.name: set() for source in package.sources if SOURCE_KINDS[source.kind].has_patterns
    }
    entries = []
    for event in package.events:
        if (patterns := patterns_by_source.get(event.source)) is None:
            continue
        if patterns and event.name in needs.events:
            entries.append({"name": event.name, "patterns": sorted(patterns)})
        patterns |= {name.name for form in event.forms for name in form.names}
    return sorted(entries, key=lambda item: str(item["name"]))


def _sort_by_name(items: Iterable[Any]) -> list[Any]:
    return sorted(items, key=lambda item: str(item.name))


def _drop_run_facts(source: Source) -> Source:
    """Return a source without its constants and ignored names, which do not shape its records."""
    return dataclasses.replace(source, constants=(), ignored=())


def _convert_members(package: Package, name: str, members: set[str], memo: SerializationMemo) -> Any:
    grain = next(item for item in package.grains if item.name == name)
    selected = dataclasses.replace(
        grain,
        columns=tuple(item for item in grain.columns if item.name in members),
        instants=tuple(item for item in grain.instants if item.name in members),
        tallies=tuple(item for item in grain.tallies if item.column.name in members),
        derived=tuple(item for item in grain.derived if item.column.name in members),
        checks=(),
        at="",  # the meaning of a number does not depend on how runs may be split, or changes judged
        time="",
        cluster="",
        dimensions=(),
    )
    return to_plain_data(selected, prose=False, memo=memo)


def _convert_event(package: Package, name: str, fields: set[str], memo: SerializationMemo) -> Any:
    event = next(item for item in package.events if item.name == name)
    forms = tuple(
        dataclasses.replace(form, fields=tuple(item for item in form.fields if item.name in fields))
        for form in event.forms
    )
    return to_plain_data(dataclasses.replace(event, forms=forms), prose=False, memo=memo)
