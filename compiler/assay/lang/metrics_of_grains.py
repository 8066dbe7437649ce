"""List the metrics of a grain where a report names the grain instead: `*GRAIN` in a section or a dictionary group.

Metrics that a report prints and none of its dictionary groups names become a last group.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping
from typing import Any, TypeVar

from assay.lang.model.package import Package
from assay.lang.model.report import DictionaryGroup, Edition, Report, Section

GRAIN_MARK = "*"
OTHER_METRICS = "Other metrics"

Group = TypeVar("Group", Section, DictionaryGroup)


def list_grain_metrics(package: Package) -> Package:
    """Return a package whose reports and editions name each metric.

    The metrics of a grain are in the order of the package, without those that another section (or group) of the same
    report names; in parts of a group of runs, another section of these parts. The name of a grain that does not exist
    remains, for the checks to report.
    """
    ids = {metric.id for metric in package.metrics}
    by_grain: dict[str, list[str]] = {grain.name: [] for grain in package.grains}
    for metric in package.metrics:
        by_grain.get(metric.grain, []).append(metric.id)
    reports = tuple(
        dataclasses.replace(
            _list_others(_list_in_parts(report, by_grain), ids),
            editions=tuple(_list_in_edition(edition, by_grain) for edition in report.editions),
        )
        for report in package.reports
    )
    return dataclasses.replace(package, reports=reports)


def _list_in_edition(edition: Edition, by_grain: Mapping[str, Iterable[str]]) -> Edition:
    return dataclasses.replace(
        edition,
        sections=_list_groups(edition.sections, by_grain),
        dictionary=_list_groups(edition.dictionary, by_grain),
    )


def _list_in_parts(report: Report, by_grain: Mapping[str, Iterable[str]]) -> Report:
    blocks_by_group: dict[str, list[Any]] = {}
    for part in report.parts:
        blocks_by_group.setdefault(part.group, []).extend(block for block in part.blocks if block.may_name_grains)
    listed = {group: iter(_list_groups(tuple(blocks), by_grain)) for group, blocks in blocks_by_group.items()}
    parts = tuple(
        dataclasses.replace(
            part,
            blocks=tuple(next(listed[part.group]) if block.may_name_grains else block for block in part.blocks),
        )
        for part in report.parts
    )
    return dataclasses.replace(report, parts=parts, dictionary=_list_groups(report.dictionary, by_grain))


def _list_others(report: Report, ids: Container[str]) -> Report:
    """Return a report with a last dictionary group of the metrics that it prints and its groups lack.

    A report without any group has no dictionary.
    """
    listed = {name for group in report.dictionary for name in group.metrics}
    printed = (name for block in report.blocks for name in block.read_metrics())
    others = tuple(name for name in dict.fromkeys(printed) if name in ids and name not in listed)
    if not others or not report.dictionary:
        return report
    return dataclasses.replace(report, dictionary=(*report.dictionary, DictionaryGroup(OTHER_METRICS, others)))


def _is_split(group: Section | DictionaryGroup) -> bool:
    """Return whether a table shows its metrics by their dimensions: another one may show them as a whole."""
    return isinstance(group, Section) and bool(group.by)


def _list_groups(groups: tuple[Group, ...], by_grain: Mapping[str, Iterable[str]]) -> tuple[Group, ...]:
    if not any(name.startswith(GRAIN_MARK) for group in groups for name in group.metrics):
        return groups
    listed = {name for group in groups if not _is_split(group) for name in group.metrics}

    def iter_names(group: Group) -> Iterable[str]:
        for name in group.metrics:
            grain = name.removeprefix(GRAIN_MARK)
            if name == grain or grain not in by_grain:
                yield name
            elif _is_split(group):
                yield from (item for item in by_grain[grain] if item not in group.metrics)
            else:
                others = [item for item in by_grain[grain] if item not in listed]
                listed.update(others)
                yield from others

    return tuple(dataclasses.replace(group, metrics=tuple(iter_names(group))) for group in groups)
