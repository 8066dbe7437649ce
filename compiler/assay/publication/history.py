"""Order publications and builds over time and by workload, with breaks and the largest changes.

A *column* holds the publications of the same runs, one per workload; columns are in the order of their days. A *break*
is a point before a run of a publication: from this run on, something is measured or named in another way than before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Break, Edition, Experiment, Report
from assay.publication.edition import Word, choose_edition, collect_metric_words, match_rows
from assay.publication.model import MetricRow, Publication
from assay.publication.reader import MISSING, UNDEFINED, StructureChecker, read_publication
from assay.util.diagnostics import fail
from assay.util.paths import resolve_path

MEANING, FORM = "meaning", "form"
#: fewest digits of a printed base; percentages of rougher ones reflect rounding rather than the measurement
LEAST_DIGITS = 2


Notes = tuple[tuple[tuple[str, ...], str], ...]
"""What changes at a break: ids of metrics, and a sentence."""


@dataclass(frozen=True, slots=True)
class Build:
    """What is known of a build but not of a publication, by metric: unrounded values, intervals, definition hashes.

    An interval is that of the run's value if the base has its measured value, by the judgement of the build.
    """

    values: Mapping[str, tuple[Decimal | None, ...]]
    intervals: Mapping[str, tuple[tuple[float, float] | None, ...]]
    definitions: Mapping[str, str]
    summary: str
    filters: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Issue:
    """A publication in its edition, or a build, with its rows by metric; equal to itself only.

    `file` is that of the publication, or the `results.json` of the build. One that `is_part` of a publication lacks
    the base of its runs, which is in another series. The runs of an `experiment` are of other conditions than releases.
    """

    file: Path
    publication: Publication
    edition: Edition
    rows: Mapping[str, MetricRow]
    build: Build | None = None
    is_part: bool = False
    experiment: str = ""

    @property
    def name(self) -> str:
        """The name of the file; of a build, that of its folder."""
        return resolve_path(self.file).parent.name if self.build else self.file.name

    @property
    def sort_key(self) -> tuple[str, ...]:
        """The sort key: days, then workloads. It identifies a publication; builds of a day are sorted by version."""
        publication = self.publication
        if self.build:
            return publication.day, publication.workload, _pad_numbers(publication.runs[-1])
        return publication.day, publication.workload, publication.title, *publication.runs

    @property
    def has_base(self) -> bool:
        """Whether the first run is the base of others; the only run of a build is not."""
        return not (self.is_part or (self.build and len(self.publication.runs) == 1))

    def list_values(self, metric: str) -> tuple[Decimal | None, ...]:
        """Return the value of each run; None where there is none."""
        if self.build and metric in self.build.values:
            return self.build.values[metric]
        row = self.rows.get(metric)
        return tuple(map(parse_cell, row.values)) if row else (None,) * len(self.publication.runs)

    def list_numbers(self, metric: str) -> tuple[float | None, ...]:
        """Return the values as floating-point numbers."""
        return tuple(None if value is None else float(value) for value in self.list_values(metric))

    def list_resolutions(self, metric: str) -> tuple[Decimal, ...]:
        """Return the unit of the last printed digit of each run's value; 0 if it is unrounded or there is none."""
        return tuple(
            Decimal(0) if value is None or self.build else Decimal((0, (1,), cast("int", value.as_tuple().exponent)))
            for value in self.list_values(metric)
        )


@dataclass(frozen=True, slots=True)
class Change:
    """A break: its key in the report, its kind, its first day and run, and what changes for which metrics.

    The kind is `meaning` (what is measured) or `form` (how it is published). A break before a build has its `issue`.
    """

    key: str
    kind: str
    since: str
    run: str
    notes: Notes
    issue: Issue | None = None

    def affects(self, metric: str) -> bool:
        """Check that the break affects a metric."""
        return any(metric in metrics for metrics, _ in self.notes)


@dataclass(frozen=True, slots=True)
class Move:
    """The change of a run of a publication from its base, both positive; `break_keys` are the breaks between them."""

    metric: str
    issue: Issue
    run: int
    base: Decimal
    value: Decimal
    break_keys: tuple[str, ...]

    @property
    def share(self) -> Decimal:
        """(value - base) / base."""
        return (self.value - self.base) / self.base

    @property
    def factor(self) -> Decimal:
        """The ratio of the larger to the smaller, at least 1: halving counts as much as doubling."""
        return max(self.value / self.base, self.base / self.value)


def parse_cell(cell: str) -> Decimal | None:
    """Return a printed cell as a number; None where none is printed."""
    return None if cell == MISSING or cell in UNDEFINED else Decimal(cell)


def _pad_numbers(text: str) -> str:
    """Return a text by which versions are sorted: 10.9 before 10.10."""
    return re.sub(r"\d+", lambda match: match[0].zfill(12), text)


def sort_issues(all_issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """Sort publications and builds; the order of publications is ignored.

    Raises AssayError `same-publication` for two files of one publication.
    """
    sorted_issues = sorted(all_issues, key=lambda item: item.sort_key)
    for older_issue, newer_issue in pairwise(item for item in sorted_issues if not item.build):
        if older_issue.sort_key == newer_issue.sort_key:
            publication = newer_issue.publication
            raise fail(
                "same-publication",
                f"two files are the same publication: {publication.day}, {publication.title}, {publication.workload}",
                notes=[str(older_issue.file), str(newer_issue.file)],
                hint="leave one of them out",
            )
    return tuple(sorted_issues)


def separate_experiments(experiments: Iterable[Experiment], all_issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """Return the issues, in which runs of experiments have workloads of their own: `WORKLOAD: SERIES`.

    If all further runs of an issue are of one experiment, its base shows the usual condition and goes with them. Else
    the issue is divided.
    """
    series_by_run = {run: item.series for item in experiments for run in item.runs}
    separated: list[Issue] = []
    for issue in all_issues:
        base, *others = [series_by_run.get(run, "") for run in issue.publication.runs]
        all_series = [others[0], *others] if len(set(others)) == 1 and others[0] else [base, *others]
        parts = dict.fromkeys(all_series)
        for series in parts:
            runs = [index for index, item in enumerate(all_series) if item == series]
            workload = f"{issue.publication.workload}: {series}" if series else issue.publication.workload
            part = _select_runs(issue, runs, workload) if [*parts] != [""] else issue
            separated.append(replace(part, experiment=series))
    return tuple(separated)


def _select_runs(issue: Issue, runs: Sequence[int], workload: str) -> Issue:
    """Return an issue with some of its runs, in another workload."""

    def select(values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(values[index] for index in runs)

    changes = [index - 1 for index in runs if index]
    rows = {
        metric: replace(
            row,
            values=select(row.values),
            deltas=tuple(row.deltas[index] for index in changes),
            percents=tuple(row.percents[index] for index in changes),
        )
        for metric, row in issue.rows.items()
    }
    publication = replace(issue.publication, workload=workload, runs=select(issue.publication.runs))
    build = issue.build and replace(
        issue.build,
        values={metric: select(values) for metric, values in issue.build.values.items()},
        intervals={metric: select(intervals) for metric, intervals in issue.build.intervals.items()},
    )
    is_part = runs[0] > 0 or (len(runs) == 1 and len(issue.publication.runs) > 1)
    return replace(issue, publication=publication, rows=rows, build=build, is_part=is_part)


def read_issue(file: Path, checked: CheckedPackage, report: Report) -> Issue:
    """Read a publication.  Raises AssayError: the errors of `read_publication` and `match_rows`."""
    publication = read_publication(file)
    edition = choose_edition(report, publication.day, None)
    matched_rows = match_rows(
        publication, checked, report, edition, StructureChecker(file, file.read_text(encoding="utf-8")).find_span
    )
    return Issue(
        file, publication, edition, {metric: row for section in matched_rows.sections for metric, row in section}
    )


def describe_inputs(all_issues: Iterable[Issue], conjunction: str = "and", count: int = 2) -> str:
    """Return `publications`, `builds` or `publications and builds`; for one of them, the singular."""
    kinds = dict.fromkeys("build" if issue.build else "publication" for issue in all_issues)
    return f" {conjunction} ".join(f"{kind}{'' if count == 1 else 's'}" for kind in sorted(kinds, reverse=True))


def list_workloads(all_issues: Sequence[Issue]) -> tuple[str, ...]:
    """Return the workloads, in the order of their first publications."""
    return tuple(dict.fromkeys(issue.publication.workload for issue in all_issues))


def group_issues_by_runs(all_issues: Sequence[Issue]) -> tuple[tuple[Issue, ...], ...]:
    """Return the columns: publications of the same runs share one, and no workload goes back in time."""
    stacks: list[list[Issue]] = []
    last_column_by_workload: dict[str, int] = {}
    for issue in all_issues:
        workload = issue.publication.workload
        matching_columns = (
            index
            for index in range(last_column_by_workload.get(workload, -1) + 1, len(stacks))
            if stacks[index][0].publication.runs == issue.publication.runs
        )
        index = next(matching_columns, len(stacks))
        if index == len(stacks):
            stacks.append([])
        stacks[index].append(issue)
        last_column_by_workload[workload] = index
    return tuple(tuple(column) for column in stacks)


def list_changes(
    breaks: Iterable[Break],
    metric_ids: Sequence[str],
    checked: CheckedPackage,
    all_issues: Sequence[Issue],
    build_changes: Iterable[tuple[Issue, Notes]] = (),
) -> tuple[Change, ...]:
    """Return the declared breaks, those that follow from the editions, and those before builds.

    If there are only builds, declared breaks outside of them are left out. Keys are letters in the order of days.
    """
    days = [issue.publication.day for issue in all_issues]
    is_of_builds = all(issue.build for issue in all_issues)
    declared_breaks = [item for item in breaks if not is_of_builds or days[0] < item.since <= days[-1]]
    changes = [
        *(Change("", MEANING, item.since, item.run, ((item.metrics, item.doc),)) for item in declared_breaks),
        *(Change("", FORM, since, "", notes) for since, notes in _compare_editions(checked, all_issues, metric_ids)),
        *(Change("", MEANING, issue.publication.day, "", notes, issue) for issue, notes in build_changes),
    ]
    sorted_changes = sorted(changes, key=lambda item: item.since)
    return tuple(replace(change, key=_format_key(index)) for index, change in enumerate(sorted_changes))


def _format_key(index: int) -> str:
    """Return the key of a break: A, B, ..., Z, AA, AB, ..."""
    quotient, letter = divmod(index, 26)
    return (_format_key(quotient - 1) if quotient else "") + chr(ord("A") + letter)


def _compare_editions(
    checked: CheckedPackage, all_issues: Sequence[Issue], metric_ids: Sequence[str]
) -> Iterator[tuple[str, Notes]]:
    """Yield the day and notes of each edition that changes the number style, a metric's name or its unit."""
    first_issue_by_edition: dict[str, Issue] = {}
    for issue in all_issues:
        first_issue_by_edition.setdefault(issue.edition.name, issue)
    for older_issue, newer_issue in pairwise(first_issue_by_edition.values()):
        notes: dict[str, list[str]] = {}
        if newer_issue.edition.style != older_issue.edition.style:
            notes[f"The number style is {newer_issue.edition.style} instead of {older_issue.edition.style}."] = [
                *metric_ids
            ]
        old, new = (
            collect_metric_words(checked, older_issue.edition),
            collect_metric_words(checked, newer_issue.edition),
        )
        for metric in metric_ids:
            for text in _compare_words(old[metric], new[metric]):
                notes.setdefault(text, []).append(metric)
        if notes:
            yield newer_issue.publication.day, tuple((tuple(metrics), text) for text, metrics in notes.items())


def _compare_words(old: Word, new: Word) -> Iterator[str]:
    if new[0] != old[0]:
        yield f"The name is “{new[0]}” instead of “{old[0]}”."
    if new[1] != old[1]:
        yield f"The unit is {new[1] or 'none'} instead of {old[1] or 'none'}."


def find_break_place(change: Change, all_issues: Sequence[Issue], workload: str) -> tuple[Issue, int] | None:
    """Return the first publication of a workload after a break, and its first run on the new side (0: all runs).

    None if no publication of the workload follows the break, or nothing precedes it.
    """
    if change.issue:
        return (change.issue, 0) if change.issue.publication.workload == workload else None
    of_workload = [issue for issue in all_issues if issue.publication.workload == workload]
    first_issue = next((issue for issue in of_workload if issue.publication.day >= change.since), None)
    if first_issue is None:
        return None
    runs = first_issue.publication.runs
    run = runs.index(change.run) if change.run in runs else 0
    return None if first_issue is of_workload[0] and run == 0 else (first_issue, run)


def find_largest_moves(
    metric_ids: Sequence[str], all_issues: Sequence[Issue], breaks: Sequence[Change], max_moves: int
) -> tuple[Move, ...]:
    """Return the largest changes, by factor in descending order: one per metric and workload."""
    places = {
        (item.key, workload): find_break_place(item, all_issues, workload)
        for item in breaks
        for workload in list_workloads(all_issues)
    }

    def find_breaks(metric: str, issue: Issue, run: int) -> tuple[str, ...]:
        """Return the breaks in meaning between the base of an issue and a run."""
        return tuple(
            item.key
            for item in breaks
            if item.affects(metric)
            and (break_place := places[item.key, issue.publication.workload])
            and break_place[0] is issue
            and 0 < break_place[1] <= run
        )

    largest: dict[tuple[str, str], Move] = {}
    for metric in metric_ids:
        for issue in all_issues:
            for run, base, value in _list_values(issue, metric):
                metric_and_workload = (metric, issue.publication.workload)
                move = Move(metric, issue, run, base, value, find_breaks(metric, issue, run))
                if metric_and_workload not in largest or move.factor > largest[metric_and_workload].factor:
                    largest[metric_and_workload] = move
    sorted_moves = sorted(largest.values(), key=lambda item: -item.factor)
    return tuple(sorted_moves[:max_moves])


def _list_values(issue: Issue, metric: str) -> Iterator[tuple[int, Decimal, Decimal]]:
    """Yield each further run with the base's value and its own, if both are positive and the base is precise enough."""
    base, *values = issue.list_values(metric)
    if not issue.has_base or base is None or base <= 0 or count_digits(issue.rows[metric].values[0]) < LEAST_DIGITS:
        return
    for run, value in enumerate(values, start=1):
        if value is not None and value > 0:
            yield run, base, value


def count_digits(cell: str) -> int:
    """Return the number of significant digits of a printed number; 0 for zero."""
    mantissa = cell.lower().partition("e")[0]
    return len(mantissa.replace(".", "").lstrip("+-0"))


def list_history_warnings(
    breaks: Iterable[Break], metric_ids: Iterable[str], all_issues: Sequence[Issue]
) -> Iterator[str]:
    """Yield warnings about breaks outside of the publications, and about metrics that nothing has."""
    if not all(issue.build for issue in all_issues):  # declared breaks are those of publications
        yield from _list_break_warnings(breaks, all_issues)
    measured_metrics = {metric for issue in all_issues for metric in issue.rows}
    for metric in metric_ids:
        if metric not in measured_metrics:
            yield f"{metric}: no {describe_inputs(all_issues, 'or', 1)} has it."


def _list_break_warnings(breaks: Iterable[Break], all_issues: Sequence[Issue]) -> Iterator[str]:
    first, last = all_issues[0].publication.day, all_issues[-1].publication.day
    inputs = describe_inputs(all_issues)
    for item in breaks:
        subject = f"The break of {', '.join(item.metrics)} since {item.since}"
        if not first <= item.since <= last or (item.since == first and not item.run):
            yield f"{subject} lies outside of the {inputs}, which are from {first} to {last}."
        elif item.run and not any(
            _is_run_published(item.since, item.run, all_issues, name) for name in list_workloads(all_issues)
        ):
            yield f"{subject} names the run {item.run}, which the first {inputs} since that day lack."


def _is_run_published(since: str, run: str, all_issues: Sequence[Issue], workload: str) -> bool:
    of_workload = (issue.publication for issue in all_issues if issue.publication.workload == workload)
    first_publication = next((item for item in of_workload if item.day >= since), None)
    return first_publication is not None and run in first_publication.runs
