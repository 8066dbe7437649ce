"""Apply the rules of observations to printed changes: which metrics changed, where, and in which direction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from statistics import median

from assay.judgement.verdict import Verdict
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.observation import (
    ALIKE,
    BELOW,
    LEVEL,
    MEDIAN,
    OF_ROWS,
    OF_SIZES,
    RUNS,
    TREND,
    Observation,
    ObservationGroup,
    ObservationRules,
)
from assay.report.cell_links import AVERAGE, PERCENT
from assay.report.observations.printed_changes import Changes, Place, PrintedChange, is_large, is_on_most_rows
from assay.report.prose import BASE

#: why a group has no statement on metrics: all are the same, none can tell, or the report judges no differences
SAME, CANNOT_TELL, UNJUDGED = "same", "cannot tell", "unjudged"
_LEAST_TREND = 2  # further runs
#: a sentence lists the values of so many places; of more it has the range
MOST_LISTED = 2


@dataclass(frozen=True, slots=True)
class Statement:
    """That metrics rise or fall (`direction` is 1 or -1), at some places.

    `changes` are the cells that it is about: of each metric, those of all places. `details` are statements on metrics
    that its sentence names too. A statement with the name of its observation `is_common`.
    """

    observation: Observation
    metrics: tuple[str, ...]
    direction: int
    changes: tuple[PrintedChange, ...]
    details: tuple[Statement, ...] = ()
    is_common: bool = False

    @property
    def is_by_itself(self) -> bool:
        """Whether chance may explain all of its changes among so many metrics."""
        return all(item.is_by_itself for item in self.changes)

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of the changes, in order."""
        return tuple(dict.fromkeys(item.place for item in self.changes))


@dataclass(frozen=True, slots=True)
class Silence:
    """That no statement of a group is on `metrics` at `places`; `is_rest` if there are statements on others.

    `state` says what stands behind it: SAME, CANNOT_TELL or UNJUDGED.
    """

    metrics: tuple[str, ...]
    places: tuple[Place, ...]
    is_rest: bool
    state: str


@dataclass(frozen=True, slots=True)
class DraftedGroup:
    """What is said of a group of metrics: `quiet` if none of them changes, `rest` of those that do not.

    Both are about metrics that are the same by their verdicts; other silences have the words of the rules.
    """

    title: str
    quiet: str
    rest: str
    statements: tuple[Statement, ...]
    silences: tuple[Silence, ...]


def draft_groups(checked: CheckedPackage, rules: ObservationRules, changes: Changes) -> tuple[DraftedGroup, ...]:
    """Return what the rules say of printed changes; groups of which nothing is said are left out."""
    groups = [_Drafter(checked, changes, group).draft() for group in rules.groups]
    return tuple(item for item in groups if item.statements or item.silences)


@dataclass(frozen=True, slots=True)
class _Drafter:
    """The rules of a group, applied to the changes of all places."""

    checked: CheckedPackage
    changes: Changes
    group: ObservationGroup

    def draft(self) -> DraftedGroup:
        statements = [item for rule in self.group.observations for item in self._draft_observation(rule)]
        group = self.group
        return DraftedGroup(
            group.title, group.quiet, group.rest, tuple(statements), tuple(self._list_silences(statements))
        )

    def _draft_observation(self, rule: Observation) -> Iterator[Statement]:
        """Yield the statements of a rule; equal ones at several places are one."""
        if rule.whole == RUNS:
            yield from self._list_run_trends(rule)
            return
        merged: dict[tuple[object, ...], list[Statement]] = {}
        for place in self.changes:
            for item in self._list_statements(rule, place):
                details = tuple((detail.metrics, detail.direction) for detail in item.details)
                row_place = None if rule.whole in OF_SIZES else self._get_row_place(rule, place)
                key = (item.metrics, item.direction, item.is_by_itself, item.is_common, details, row_place)
                merged.setdefault(key, []).append(item)
        for statements in merged.values():
            for places in self._group_places([place for item in statements for place in item.places]):
                yield _merge([item for item in statements if item.places[0] in places])

    def _get_row_place(self, rule: Observation, place: Place) -> Place | str:
        """Return which statements on rows share a sentence: those of a few runs of a report or group.

        A range over the rows of more runs would say little.
        """
        is_listed = sum(other.case == place.case for other in self.changes) <= MOST_LISTED
        return place.case if is_listed and rule.whole in OF_ROWS else place

    def _list_statements(self, rule: Observation, place: Place) -> Iterator[Statement]:
        if self._is_consequence(rule, place):
            return
        if rule.whole in OF_ROWS:
            for item in self._get_changes(rule.metrics, place):
                if _holds_on_rows(rule, item):
                    yield Statement(rule, (item.metric,), item.row_direction, (item,), is_common=bool(rule.name))
            return
        if rule.whole == ALIKE:
            alike = [item for item in self._get_changes(rule.metrics, place) if _is_alike(rule, item)]
            if alike:
                metrics = tuple(item.metric for item in alike)
                yield Statement(rule, metrics, 0, tuple(alike), is_common=bool(rule.name))
            return
        if rule.whole == MEDIAN:
            yield from self._list_common_statements(rule, place)
            return
        large = [item for item in self._get_changes(rule.metrics, place) if is_large(self.checked, item, rule.at_least)]
        for changes in _split_alike(large):
            yield self._create_statement(rule, changes, place)

    def _list_run_trends(self, rule: Observation) -> Iterator[Statement]:
        """Yield a statement on each metric whose printed averages rise or fall over all runs of a report or group."""
        for case in dict.fromkeys(place.case for place in self.changes):
            places = [place for place in self.changes if place.case == case]
            for metric in rule.metrics:
                changes = [
                    item for place in places for item in self._get_changes([metric], place) if BASE in item.cells
                ]
                if _is_trend(changes):
                    last = changes[-1]
                    yield Statement(rule, (metric,), last.direction, (last,), is_common=bool(rule.name))

    def _list_common_statements(self, rule: Observation, place: Place) -> Iterator[Statement]:
        """Yield a statement on all metrics if the median of their changes is large enough, and those on outliers."""
        changes = self._get_changes(rule.metrics, place)
        if not changes:
            return
        middle = median(item.percent for item in changes)
        outliers = [item for item in changes if rule.outlier and abs(item.percent - middle) >= Decimal(rule.outlier)]
        if abs(middle) >= Decimal(rule.at_least.percent):
            sign = 1 if middle > 0 else -1
            common = [
                item for item in changes if item not in outliers and item.direction == sign and item.may_be_stated
            ]
            if common:
                metrics = tuple(item.metric for item in common)
                yield Statement(rule, metrics, sign, tuple(common), is_common=True)
        for alike in _split_alike([item for item in outliers if is_large(self.checked, item, rule.at_least)]):
            yield self._create_statement(rule, alike, place)

    def _create_statement(self, rule: Observation, changes: Sequence[PrintedChange], place: Place) -> Statement:
        """Return a statement on alike changes, which have the name of the rule unless they are outliers."""
        first = changes[0]
        also = [item for item in self._get_changes(rule.also, place) if is_large(self.checked, item, rule.at_least)]
        details = [
            Statement(rule, (item.metric,), item.direction, (item,))
            for item in also
            if (item.direction, item.is_by_itself) == (first.direction, first.is_by_itself)
        ]
        metrics = tuple(item.metric for item in changes)
        is_common = bool(rule.name) and rule.whole != MEDIAN
        return Statement(rule, metrics, first.direction, tuple(changes), tuple(details), is_common)

    def _is_consequence(self, rule: Observation, place: Place) -> bool:
        """Return whether there is a statement on one of the metrics that a rule comes after."""
        rules = [other for other in self.group.observations if set(other.metrics) & set(rule.after) and other != rule]
        return any(
            item.metric in rule.after and is_large(self.checked, item, other.at_least)
            for other in rules
            for item in self._get_changes(other.metrics, place)
        )

    def _get_changes(self, metrics: Iterable[str], place: Place) -> list[PrintedChange]:
        return [self.changes[place][name] for name in metrics if name in self.changes[place]]

    def _list_silences(self, statements: Sequence[Statement]) -> Iterator[Silence]:
        """Yield which metrics of the group do not change at which places."""
        quiet: dict[tuple[tuple[str, ...], bool, str], list[Place]] = {}
        for place in self.changes:
            cells = [item for statement in statements for item in _list_cells(statement)]
            stated = {item.metric for item in cells if item.place == place}
            silent, is_rest = self._find_silent(stated, place)
            if not (self.group.rest if is_rest else self.group.quiet):
                continue
            for state in (SAME, CANNOT_TELL, UNJUDGED):
                metrics = tuple(name for name in silent if get_silence(self.changes[place], name) == state)
                if metrics:
                    quiet.setdefault((metrics, is_rest, state), []).append(place)
        for (metrics, is_rest, state), silent_places in quiet.items():
            for places in self._group_places(silent_places):
                yield Silence(metrics, tuple(places), is_rest, state)

    def _group_places(self, places: Sequence[Place]) -> list[list[Place]]:
        """Return places in groups that a quote can name by runs and reports: all together, or those of each report."""
        runs, cases = {place.run for place in places}, {place.case for place in places}
        named = [place for place in self.changes if place.run in runs and place.case in cases]
        if len(named) == len(places):
            return [list(places)]
        return [[place for place in places if place.case == case] for case in dict.fromkeys(p.case for p in places)]

    def _find_silent(self, stated: Set[str], place: Place) -> tuple[tuple[str, ...], bool]:
        """Return the metrics that do not change, and whether others of the group do, in statements or verdicts."""
        rules = [rule for rule in self.group.observations if rule.whole in OF_SIZES]
        metrics = dict.fromkeys(name for rule in rules for name in rule.metrics)
        # What a statement replaces does change.
        replaced = {
            name for rule in self.group.observations if not stated.isdisjoint(rule.after) for name in rule.metrics
        }
        certain = {item.metric for item in self._get_changes(metrics, place) if item.is_certain}
        excluded = {*stated, *replaced, *certain}
        silent = tuple(name for name in metrics if name not in excluded and name in self.changes[place])
        return silent, bool(excluded)


def get_silence(changes: Mapping[str, PrintedChange], metric: str) -> str:
    """Return what stands behind a silence on a metric in the changes of a place; empty if nothing may be said.

    In a report that judges, a metric without interval is passed over: its verdict says why, a sentence would not.
    """
    if not any(item.verdict for item in changes.values()):
        return UNJUDGED
    return {Verdict.SAME.value: SAME, Verdict.CANNOT_TELL.value: CANNOT_TELL}.get(changes[metric].verdict, "")


def _holds_on_rows(rule: Observation, change: PrintedChange) -> bool:
    """Return whether a rule on rows holds for the printed values of a metric."""
    if rule.whole in (LEVEL, TREND):
        return bool(change.rows) and (rule.whole == LEVEL or change.is_monotone)
    return is_on_most_rows(change, *((rule.bound, "") if rule.whole == BELOW else ("", rule.bound)))


def _is_alike(rule: Observation, change: PrintedChange) -> bool:
    """Return whether all printed changes of a metric are of at most the percentage of a rule."""
    cells = change.row_changes or tuple(change.cells[kind] for kind in (PERCENT,) if kind in change.cells)
    return bool(cells) and all(cell.number is not None and abs(cell.number) <= Decimal(rule.bound) for cell in cells)


def _is_trend(changes: Sequence[PrintedChange]) -> bool:
    """Return whether printed averages of a base and at least two runs rise or fall, and never go the other way."""
    cells = [changes[0].cells[BASE], *(item.cells[AVERAGE] for item in changes)] if changes else []
    numbers = [cell.number for cell in cells if cell.number is not None]
    if len(changes) < _LEAST_TREND or len(numbers) < len(cells) or numbers[0] == numbers[-1]:
        return False
    sign = 1 if numbers[-1] > numbers[0] else -1
    return all((b - a) * sign >= 0 for a, b in pairwise(numbers))


def _list_cells(statement: Statement) -> tuple[PrintedChange, ...]:
    """Return the changes of a statement and of its details."""
    return (*statement.changes, *(change for detail in statement.details for change in detail.changes))


def _split_alike(changes: Iterable[PrintedChange]) -> list[list[PrintedChange]]:
    """Return changes by direction and by whether chance may explain them, in the order of the first of each."""
    groups: dict[tuple[int, bool], list[PrintedChange]] = {}
    for item in changes:
        groups.setdefault((item.direction, item.is_by_itself), []).append(item)
    return list(groups.values())


def _merge(statements: Sequence[Statement]) -> Statement:
    """Return one statement for equal ones at several places."""
    first = statements[0]
    details = tuple(map(_merge, zip(*(item.details for item in statements), strict=True)))
    changes = tuple(change for item in statements for change in item.changes)
    return replace(first, changes=changes, details=details)
