"""Publications over time: in order, by workload, with the breaks between them and the largest moves within them.

A *column* holds the publications of the same runs, one a workload; columns stand in the order of their days.  A
*break* is a place before a run of a publication: the run and all later ones are not measured, or not called, as those
before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from assay.lang.model.report import Edition, History, Report
from assay.lang.normal_form import CheckedPackage
from assay.publication.edition import Word, chosen, matched, words
from assay.publication.model import MetricRow, Publication
from assay.publication.reader import MISSING, UNDEFINED, Shape, read
from assay.util.diagnostics import fail

MEANING, FORM = "meaning", "form"
#: a percentage of a base that is printed with fewer digits says more about rounding than about what was measured
LEAST_DIGITS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Issue:
    """A publication in its edition, with its rows by metric; equal to itself only."""

    file: Path
    publication: Publication
    edition: Edition
    rows: Mapping[str, MetricRow]

    @property
    def order(self) -> tuple[str, ...]:
        """What it is sorted by, and told from others by."""
        said = self.publication
        return said.day, said.workload, said.title, *said.runs

    def numbers(self, metric: str) -> tuple[float | None, ...]:
        """The value of each run; None where none is printed."""
        row = self.rows.get(metric)
        return tuple(map(number, row.values)) if row else (None,) * len(self.publication.runs)


@dataclass(frozen=True, slots=True)
class Change:
    """A break: its key in the report, its kind (of what is measured, or of the form it is published in), since when,
    and what changes for which metrics."""

    key: str
    kind: str
    since: str
    run: str
    notes: tuple[tuple[tuple[str, ...], str], ...]

    def concerns(self, metric: str) -> bool:
        """Whether it is about a metric."""
        return any(metric in metrics for metrics, _ in self.notes)


@dataclass(frozen=True, slots=True)
class Move:
    """A further run of a publication beside its base, both positive; `keys` are those of the breaks between them."""

    metric: str
    issue: Issue
    run: int
    base: Decimal
    value: Decimal
    keys: tuple[str, ...]

    @property
    def share(self) -> Decimal:
        """(value - base) / base."""
        return (self.value - self.base) / self.base

    @property
    def factor(self) -> Decimal:
        """How many times the one is the other, at least 1: a fall by half counts as much as a doubling."""
        return max(self.value / self.base, self.base / self.value)


def number(cell: str) -> float | None:
    """A printed cell as a number; None where none is printed."""
    return None if cell == MISSING or cell in UNDEFINED else float(cell)


def issues(files: Sequence[Path], checked: CheckedPackage, report: Report) -> tuple[Issue, ...]:
    """Publications in order, whatever the order of their files.

    Raises AssayError: what `read` and `matched` raise, and `same-publication` for two files of one publication.
    """
    found = sorted((_issue(file, checked, report) for file in files), key=lambda item: item.order)
    for before, after in pairwise(found):
        if before.order == after.order:
            said = after.publication
            raise fail(
                "same-publication",
                f"two files are the same publication: {said.day}, {said.title}, {said.workload}",
                notes=[str(before.file), str(after.file)],
                hint="leave one of them out",
            )
    return tuple(found)


def _issue(file: Path, checked: CheckedPackage, report: Report) -> Issue:
    publication = read(file)
    edition = chosen(report, publication.day, None)
    found = matched(publication, checked, report, edition, Shape(file, file.read_text(encoding="utf-8")).span)
    return Issue(file, publication, edition, {metric: row for section in found.sections for metric, row in section})


def workloads(found: Sequence[Issue]) -> tuple[str, ...]:
    """The workloads, in the order of their first publications."""
    return tuple(dict.fromkeys(issue.publication.workload for issue in found))


def columns(found: Sequence[Issue]) -> tuple[tuple[Issue, ...], ...]:
    """The columns: publications of the same runs stand above one another, no workload goes back in time."""
    made: list[list[Issue]] = []
    last: dict[str, int] = {}
    for issue in found:
        workload = issue.publication.workload
        fitting = (
            place
            for place in range(last.get(workload, -1) + 1, len(made))
            if made[place][0].publication.runs == issue.publication.runs
        )
        place = next(fitting, len(made))
        if place == len(made):
            made.append([])
        made[place].append(issue)
        last[workload] = place
    return tuple(tuple(column) for column in made)


def changes(history: History, checked: CheckedPackage, found: Sequence[Issue]) -> tuple[Change, ...]:
    """The declared breaks, and those that follow from the editions; keys are letters in the order of days."""
    declared = [(item.since, item.run, MEANING, ((item.metrics, item.doc),)) for item in history.breaks]
    shown = [name for section in history.sections for name in section.metrics]
    derived = [(since, "", FORM, notes) for since, notes in _of_editions(checked, found, shown)]
    ordered = sorted((*declared, *derived), key=lambda item: item[0])
    return tuple(
        Change(_key(place), kind, since, run, notes) for place, (since, run, kind, notes) in enumerate(ordered)
    )


def _key(place: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    more, letter = divmod(place, 26)
    return (_key(more - 1) if more else "") + chr(ord("A") + letter)


def _of_editions(
    checked: CheckedPackage, found: Sequence[Issue], shown: Sequence[str]
) -> Iterator[tuple[str, tuple[tuple[tuple[str, ...], str], ...]]]:
    """Where an edition writes numbers, or calls a metric or its unit, otherwise than the one before: (day, notes)."""
    firsts: dict[str, Issue] = {}
    for issue in found:
        firsts.setdefault(issue.edition.name, issue)
    for before, after in pairwise(firsts.values()):
        notes: dict[str, list[str]] = {}
        if after.edition.style != before.edition.style:
            notes[f"Numbers in the style {after.edition.style}, before {before.edition.style}."] = [*shown]
        old, new = words(checked, before.edition), words(checked, after.edition)
        for metric in shown:
            for text in _renamed(old[metric], new[metric]):
                notes.setdefault(text, []).append(metric)
        if notes:
            yield after.publication.day, tuple((tuple(metrics), text) for text, metrics in notes.items())


def _renamed(old: Word, new: Word) -> Iterator[str]:
    if new[0] != old[0]:
        yield f"Called “{new[0]}”, before “{old[0]}”."
    if new[1] != old[1]:
        yield f"The unit is called {new[1] or 'nothing'}, before {old[1] or 'nothing'}."


def place(change: Change, found: Sequence[Issue], workload: str) -> tuple[Issue, int] | None:
    """Where a break stands in a workload: the first publication after it, and its first run on the new side (0: all).

    None when no publication of the workload stands after it, or nothing before it.
    """
    mine = [issue for issue in found if issue.publication.workload == workload]
    after = next((issue for issue in mine if issue.publication.day >= change.since), None)
    if after is None:
        return None
    runs = after.publication.runs
    run = runs.index(change.run) if change.run in runs else 0
    return None if after is mine[0] and run == 0 else (after, run)


def moves(history: History, found: Sequence[Issue], breaks: Sequence[Change], most: int) -> tuple[Move, ...]:
    """The largest moves, those of the greatest factor first: one a metric and workload."""
    shown = [name for section in history.sections for name in section.metrics]
    places = {(item.key, name): place(item, found, name) for item in breaks for name in workloads(found)}

    def crossed(metric: str, issue: Issue, run: int) -> tuple[str, ...]:
        """The breaks in what was measured between an issue and the one before."""
        return tuple(
            item.key
            for item in breaks
            if item.concerns(metric)
            and (at := places[item.key, issue.publication.workload])
            and at[0] is issue
            and 0 < at[1] <= run
        )

    largest: dict[tuple[str, str], Move] = {}
    for metric in shown:
        for issue in found:
            for run, base, value in _moved(issue, metric):
                name = (metric, issue.publication.workload)
                move = Move(metric, issue, run, base, value, crossed(metric, issue, run))
                if name not in largest or move.factor > largest[name].factor:
                    largest[name] = move
    ordered = sorted(largest.values(), key=lambda item: -item.factor)
    return tuple(ordered[:most])


def _moved(issue: Issue, metric: str) -> Iterator[tuple[int, Decimal, Decimal]]:
    """Each further run with the base's value and its own, where both are positive and the base is not too rough."""
    base, *values = issue.numbers(metric)
    if base is None or base <= 0 or digits(issue.rows[metric].values[0]) < LEAST_DIGITS:
        return
    cells = issue.rows[metric].values
    for run, value in enumerate(values, start=1):
        if value is not None and value > 0:
            yield run, Decimal(cells[0]), Decimal(cells[run])


def digits(cell: str) -> int:
    """How many significant digits a printed number has; 0 for zero."""
    mantissa = cell.lower().partition("e")[0]
    return len(mantissa.replace(".", "").lstrip("+-0"))


def warnings(history: History, found: Sequence[Issue]) -> Iterator[str]:
    """What a report over the publications must say: breaks outside of them, metrics that none of them tells."""
    first, last = found[0].publication.day, found[-1].publication.day
    names = {metric for issue in found for metric in issue.rows}
    for item in history.breaks:
        what = f"The break of {', '.join(item.metrics)} since {item.since}"
        if not first <= item.since <= last or (item.since == first and not item.run):
            yield f"{what} lies outside of the publications, which are from {first} to {last}."
        elif item.run and not any(_begins(item.since, item.run, found, name) for name in workloads(found)):
            yield f"{what} names the run {item.run}, which no publication of then has."
    for section in history.sections:
        for metric in section.metrics:
            if metric not in names:
                yield f"{metric}: no publication tells it."


def _begins(since: str, run: str, found: Sequence[Issue], workload: str) -> bool:
    mine = (issue.publication for issue in found if issue.publication.workload == workload)
    after = next((item for item in mine if item.day >= since), None)
    return after is not None and run in after.runs
