"""Divide a report and its runs into groups, and join what was computed for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from assay.app.compute.available_parts import Notes
from assay.lang.blocks.pivot import Pivot
from assay.lang.model.parts import Part, get_group_name
from assay.lang.model.report import Report
from assay.report.prose import Prose
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail, suggest_names


@dataclasses.dataclass(frozen=True, slots=True)
class GroupInputs:
    """A group of runs with what of a report is about it: parts with its blocks, and prose with its quotes.

    A report without groups has one, with an empty name.
    """

    name: str
    report: Report
    texts: Mapping[str, Prose]
    runs: tuple[NamedRun, ...]


def check_run_names(report: Report, runs: Sequence[NamedRun]) -> None:
    """Raise AssayError (usage) unless each run of a report with groups is named by a group and a label of its own."""
    for run in runs if report.groups else ():
        _check_run_name(report, run)


def divide_into_groups(report: Report, texts: Mapping[str, Prose], runs: Sequence[NamedRun]) -> list[GroupInputs]:
    """Return the groups of a report that have runs, in the order of the report."""
    if not report.groups:
        return [GroupInputs("", report, texts, tuple(runs))]
    groups = []
    for group in report.groups:
        group_runs = tuple(run for run in runs if get_group_name(run.id) == group.name)
        if group_runs:
            group_texts = _select_quotes(report, group.name, texts)
            group_report = _select_parts(report, group.name, group_texts)
            groups.append(GroupInputs(group.name, group_report, group_texts, group_runs))
    return groups


def _check_run_name(report: Report, run: NamedRun) -> None:
    names = [group.name for group in report.groups]
    run_name = run.version or run.id  # `version` is a name that several runs have
    group, colon, label = run_name.partition(":")
    option = "--calibrate" if run.is_calibration else "--run"
    expected = f"GROUP:LABEL=DIR with one of the groups {', '.join(names)}"
    if not colon:
        raise fail("no-group", f"run `{run_name}` is of no group, but the report `{report.name}` has groups",
                   expected=expected, found=run.place, status=USAGE,
                   hint=f"name its group, as in {option} {names[0]}:{run_name}={run.place}")  # fmt: skip
    if group not in names:
        raise fail("unknown-group", f"run `{run_name}` is of an unknown group `{group}`",
                   expected=f"one of the groups {', '.join(names)} of the report `{report.name}`",
                   hint=suggest_names(group, names), status=USAGE)  # fmt: skip
    if not label:
        raise fail("no-group", f"a run of group `{group}` has no label", expected=expected, found=run.place,
                   status=USAGE)  # fmt: skip


def _select_quotes(report: Report, group: str, texts: Mapping[str, Prose]) -> dict[str, Prose]:
    """Return texts with only the quotes of a group: those that name it, and those of its parts that name none."""
    own_files = {file for part in report.parts if part.group == group for file in part.prose_files}
    return {
        file: dataclasses.replace(
            prose,
            quotes=tuple(
                item for item in prose.quotes if item.group == group or (not item.group and file in own_files)
            ),
        )
        for file, prose in texts.items()
    }


def _select_parts(report: Report, group: str, texts: Mapping[str, Prose]) -> Report:
    """Return a report with what of it is about a group; `texts` have the quotes of the group."""
    parts = tuple(_iter_parts(report, group, texts))
    prose_quotes = (quote for part in parts for file in part.prose_files for quote in texts[file].quotes)
    names = {name for part in parts for block in part.blocks for name in block.list_choices()}
    names |= {quote.choice for quote in prose_quotes}
    names |= {name for choice in report.choices if choice.name in names for name in choice.without}
    titles = {pivot.title for part in parts for pivot in part.select(Pivot)}
    return dataclasses.replace(
        report,
        parts=parts,
        choices=tuple(choice for choice in report.choices if choice.name in names),
        claims=tuple(claim for claim in report.claims if claim.pivot in titles),
    )


def _iter_parts(report: Report, group: str, texts: Mapping[str, Prose]) -> Iterator[Part]:
    for part in report.parts:
        blocks = tuple(
            block
            for block in part.blocks
            if block.get_group(part) == group or any(texts[file].quotes for file in block.read_prose())
        )
        if part.group == group or blocks:
            yield dataclasses.replace(part, blocks=blocks)


def join_reports(report: Report, groups: Sequence[GroupInputs], available: Sequence[Report]) -> Report:
    """Return a report with what its groups have available of it.

    A part of a group is left out with it. A part without a group keeps its verdicts on groups without runs, and its
    prose if all groups that it quotes have what is quoted.
    """
    if not report.groups:
        return available[0]
    names = {choice.name for item in available for choice in item.choices}
    return dataclasses.replace(
        report,
        parts=tuple(_iter_joined_parts(report, groups, available)),
        choices=tuple(choice for choice in report.choices if choice.name in names),
    )


def _iter_joined_parts(report: Report, groups: Sequence[GroupInputs], available: Sequence[Report]) -> Iterator[Part]:
    parts_by_group = {
        group.name: {part.title: part for part in item.parts} for group, item in zip(groups, available, strict=True)
    }
    blocks_by_group = {
        group.name: {(part.title, block) for part in group.report.parts for block in part.blocks} for group in groups
    }
    for part in report.parts:
        if part.group and part.title not in parts_by_group.get(part.group, {}):
            continue
        remaining = {name: parts[part.title] for name, parts in parts_by_group.items() if part.title in parts}
        if part.group:
            yield dataclasses.replace(part, blocks=remaining[part.group].blocks)
            continue
        blocks = tuple(
            block
            for block in part.blocks
            if all(
                name in remaining and block in remaining[name].blocks
                for name, group_blocks in blocks_by_group.items()
                if (part.title, block) in group_blocks
            )
        )
        yield dataclasses.replace(part, blocks=blocks)


def join_notes(notes: Sequence[Notes]) -> dict[str, tuple[str, ...]]:
    """Return the notes of all groups by part, each once."""
    titles = dict.fromkeys(title for item in notes for title in item)
    return {title: tuple(dict.fromkeys(text for item in notes for text in item.get(title, ()))) for title in titles}


def describe_absent_groups(report: Report, groups: Sequence[GroupInputs]) -> Iterator[str]:
    """Yield a sentence on each group that is not among `groups`, with the parts that are left out."""
    names = [group.name for group in groups]
    for group in report.groups:
        if group.name not in names:
            titles = [part.title for part in report.parts if part.group == group.name]
            left_out = f". Its parts are left out: {'; '.join(titles)}" if titles else ""
            yield f"There is no run of group {group.name}{left_out}."
