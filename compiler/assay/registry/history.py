"""The values of a metric in recorded runs, in the order of their days, with level shifts.

The runs of a history have raw data of their own: a name that was built with other logs on another day is another point.
A metric means the same in all of them but those that are marked: these have another definition, unit, summary or other
filters, and take no part in level shifts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from assay.judgement.level_shifts import (
    LevelShift,
    compute_mean,
    find_course,
    find_interval,
    find_least_shift,
    find_stray_points,
)
from assay.judgement.verdict import Direction, Margin, Verdict
from assay.registry.model import EXPERIMENT, Figures, RecordedResults, RegisteredRun, ShiftNote
from assay.registry.shift_notes import DRIFT, LEVEL_SHIFT, ChangePlace, assign_notes, find_acceptance
from assay.util.diagnostics import USAGE, fail, suggest_names, suggest_nearest
from assay.util.numbers import split_numbers
from assay.util.percent_change import compute_percent_change

DEFAULT_MARGIN = Margin(percent=2.0)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What decides on the value of a metric besides the raw data of the run."""

    definition: str
    unit: str
    summary: str
    filters: tuple[str, ...]

    def list_differences(self, other: Meaning) -> tuple[str, ...]:
        """Return in which members two meanings differ."""
        return tuple(name for name in self.__slots__ if getattr(self, name) != getattr(other, name))


#: how a run with the tag of experiments differs
CONDITIONS = "conditions"
#: how a run differs whose values a break separates from those of the last run
MEANING = "meaning"


@dataclass(frozen=True, slots=True)
class MetricRules:
    """What the specs say of a metric today: its definition hash, better direction, margin and days of breaks.

    `notes` are those of people on level shifts, also of other metrics.
    """

    definition: str = ""
    direction: Direction = Direction.NEITHER
    margin: Margin = DEFAULT_MARGIN
    breaks: tuple[str, ...] = ()
    notes: Sequence[ShiftNote] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """A run of a history; `differences` are those of the meaning of its value and of its conditions.

    `day` is empty if it is not known.
    """

    run: str
    day: str
    tags: tuple[str, ...]
    commit: str
    figures: Figures
    results: RecordedResults
    differences: tuple[str, ...] = ()

    @property
    def value(self) -> float | None:
        """The average; None without samples, and for a number that is not finite."""
        return self.figures.value


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryChange:
    """A change of a metric over runs: its levels, the interval of their difference, p of its test, and notes on it."""

    before: float
    after: float
    interval: tuple[float, float]
    p: float
    verdict: Verdict
    notes: tuple[ShiftNote, ...] = ()

    @property
    def ends(self) -> tuple[Point, Point]:
        """The two runs around the change."""
        raise NotImplementedError

    @property
    def percent(self) -> float | None:
        """The change in percent of the level before; None if that is 0."""
        return compute_percent_change(self.before, self.after) if self.before else None

    @property
    def percent_interval(self) -> tuple[float, float] | None:
        """The interval in percent of the level before; None if that is 0."""
        low, high = self.interval
        return (100 * low / abs(self.before), 100 * high / abs(self.before)) if self.before else None

    @property
    def acceptance(self) -> ShiftNote | None:
        """The note that accepts the change; None if it is open."""
        return find_acceptance(self.notes, self.interval)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift(HistoryChange):
    """A shift of the level of a metric at a point, and the comparable point before; levels are averages of runs."""

    base: Point
    point: Point
    runs_before: int
    runs_since: int

    @property
    def ends(self) -> tuple[Point, Point]:
        """The two runs around the change."""
        return self.base, self.point


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift(HistoryChange):
    """A steady drift of a metric between two points; levels are its line at either."""

    first: Point
    last: Point

    @property
    def ends(self) -> tuple[Point, Point]:
        """The first and the last run of the change."""
        return self.first, self.last


@dataclass(frozen=True, slots=True)
class MetricHistory:
    """The values of a metric over runs, oldest first; `meaning` is that of its points without differences.

    `drift` takes the place of level shifts, and is that of all runs, not of the shown ones alone.
    `strays` are points that stand out alone, which count for no level. Without level shifts or drift, `hidden_shift` is
    how large one can be that so few runs do not show: infinite if they show none, 0 if that is within the margin.
    """

    system: str
    metric: str
    name: str
    meaning: Meaning
    points: tuple[Point, ...]
    shifts: tuple[Shift, ...]
    hidden_shift: float = 0.0
    strays: tuple[Point, ...] = ()
    drift: Drift | None = None


@dataclass(frozen=True, slots=True)
class HistoryScope:
    """Which recorded runs a history shows: those of a system, with a tag, and the last ones; empty or 0 for all."""

    system: str = ""
    tag: str = ""
    last: int = 0


def compute_history(
    recorded: Sequence[RecordedResults],
    runs: Sequence[RegisteredRun],
    metric: str,
    *,
    scope: HistoryScope | None = None,
    rules: MetricRules | None = None,
) -> MetricHistory:
    """Return the history of a metric, an id or a name, over the runs of a scope (default: all).

    Raises AssayError (usage): an unknown metric or tag, or a
    metric of several systems.
    """
    rules, scope = rules or MetricRules(), scope or HistoryScope()
    tag = scope.tag
    system, metric = find_recorded_metric(recorded, metric, scope.system)
    runs_by_name = {item.name: item for item in runs}
    if tag:
        check_tag(runs, tag)
    shown_records = [
        results
        for results in recorded
        if results.system == system
        and metric in results.content.metrics
        and (not tag or (results.name in runs_by_name and tag in runs_by_name[results.name].tags))
    ]
    if not shown_records:
        raise fail("no-results", f"no run with the tag `{tag}` has results of `{metric}`", status=USAGE,
                   hint="build a report over the run by its registered name")  # fmt: skip
    meaning = _choose_meaning(shown_records, runs_by_name, metric, rules.definition)
    points = _list_points(shown_records, runs_by_name, metric, meaning, with_experiments=tag == EXPERIMENT)
    points = _mark_breaks(points, rules.breaks)
    shown_points = points[-scope.last :]
    pairs = _list_values(points)
    notes = [item for item in rules.notes if (item.content.system, item.content.metric) == (system, metric)]
    all_shifts, drift = _find_changes(pairs, replace(rules, notes=notes))
    shifts = tuple(item for item in all_shifts if item.point in shown_points)
    values = [value for _, value in pairs]
    hidden_shift = 0.0 if all_shifts or drift else _find_hidden_shift(values, rules.margin)
    strays = tuple(point for point in _list_strays(pairs, rules.margin) if point in shown_points)
    name = points[-1].figures.name
    return MetricHistory(system, metric, name, meaning, tuple(shown_points), shifts, hidden_shift, strays, drift)


def find_recorded_metric(recorded: Sequence[RecordedResults], metric: str, system: str = "") -> tuple[str, str]:
    """Return the system and id of a recorded metric, by its id or else by its name. Raises AssayError (usage)."""
    ids: dict[tuple[str, str], list[str]] = {}
    for results in recorded:
        if system in ("", results.system):
            for name, figures in results.content.metrics.items():
                ids.setdefault((results.system, name), []).append(figures.name)
    matches = [key for key in ids if key[1] == metric] or [key for key in ids if metric in ids[key]]
    if not matches:
        hint = suggest_names(metric, [name for _, name in ids]) if ids else "`assay build` with --results records some"
        raise fail("unknown-metric", f"no results of a metric `{metric}` are recorded", hint=hint, status=USAGE)
    if len(matches) > 1:
        owners = ", ".join(f"`{name}` of {owner}" for owner, name in sorted(matches))
        raise fail("ambiguous-metric", f"`{metric}` is the name of several recorded metrics", found=owners,
                   hint="pass an id, and --system NAME if two systems have it", status=USAGE)  # fmt: skip
    return matches[0]


def check_tag(runs: Sequence[RegisteredRun], tag: str) -> None:
    """Raise AssayError (usage) if no registered run has a tag."""
    tags = {item for run in runs for item in run.tags}
    if tag not in tags:
        hint = suggest_nearest(tag, tags) or (f"there are {', '.join(sorted(tags))}" if tags else
                                              "`assay runs add DIR --name NAME --tag TAG` registers one")  # fmt: skip
        raise fail("unknown-tag", f"no registered run has the tag `{tag}`", hint=hint, status=USAGE)


def get_meaning(results: RecordedResults, metric: str) -> Meaning:
    """Return what a recorded metric means."""
    content = results.content
    figures = content.metrics[metric]
    return Meaning(figures.definition, figures.unit, content.summary, tuple(content.filters))


def _choose_meaning(
    recorded: Sequence[RecordedResults], runs: Mapping[str, RegisteredRun], metric: str, definition: str
) -> Meaning:
    """Return the meaning to compare by: by the definition of the specs if it is recorded, else that of the latest run.

    If the latest run has several, it is the one that most runs have.
    """
    current = [results for results in recorded if results.content.metrics[metric].definition == definition] or recorded
    numbers = Counter(get_meaning(results, metric) for results in current)
    candidates = [get_meaning(results, metric) for results in group_by_run(current, runs)[-1]]
    return max(candidates, key=lambda item: (numbers[item], item.definition, item.summary, item.filters))


def get_identity(results: RecordedResults) -> tuple[str, str]:
    """Return what distinguishes a run from all others: its name and its raw data."""
    return results.content.run, results.content.data


def group_by_run(recorded: Iterable[RecordedResults], runs: Mapping[str, RegisteredRun]) -> list[list[RecordedResults]]:
    """Return the results of each run, the oldest run first.

    Runs of one day are in the order of their first records, those of one instant in the order of their names. Results
    that an older Assay recorded have no instant: those of the same run may.
    """
    groups: dict[tuple[str, str], list[RecordedResults]] = {}
    for results in recorded:
        groups.setdefault(get_identity(results), []).append(results)
    order = {
        identity: (max(find_time(item, runs) for item in group), split_numbers(identity[0]), identity[1])
        for identity, group in groups.items()
    }
    return [groups[identity] for identity in sorted(groups, key=order.__getitem__)]


def find_time(results: RecordedResults, runs: Mapping[str, RegisteredRun]) -> tuple[str, str]:
    """Return the day of a run and the instant of its first record, as texts that sort by time."""
    return find_day(results, runs), results.content.start.removesuffix("Z")


def find_day(results: RecordedResults, runs: Mapping[str, RegisteredRun]) -> str:
    """Return the day of a run: the registered one, else that of its last record; empty if neither is known."""
    run = runs.get(results.name)
    return (run.day if run else "") or results.content.day


def _list_points(
    recorded: Sequence[RecordedResults],
    runs: Mapping[str, RegisteredRun],
    metric: str,
    meaning: Meaning,
    *,
    with_experiments: bool,
) -> list[Point]:
    """Return a point for each run, oldest first, from the results that mean the same, or else differ least.

    A run with the tag of experiments has other conditions than the others, unless the history is of experiments.
    """

    def rank(results: RecordedResults) -> tuple[object, ...]:
        differences = get_meaning(results, metric).list_differences(meaning)
        return -len(differences), split_numbers(results.content.assay), results.id

    points = []
    for group in group_by_run(recorded, runs):
        results = max(group, key=rank)
        run = runs.get(results.name)
        is_experiment = run is not None and EXPERIMENT in run.tags and not with_experiments
        points.append(
            Point(
                results.content.run,
                find_day(results, runs),
                run.tags if run else (),
                run.commit if run else "",
                results.content.metrics[metric],
                results,
                (*get_meaning(results, metric).list_differences(meaning), *([CONDITIONS] if is_experiment else [])),
            )
        )
    return points


def _mark_breaks(points: Sequence[Point], breaks: Sequence[str]) -> list[Point]:
    """Return points, of which those on the other side of a break than the last one differ from it in meaning."""
    sides = [sum(bool(point.day) and point.day >= day for day in breaks) for point in points]
    return [
        replace(point, differences=(*point.differences, MEANING)) if side != sides[-1] else point
        for point, side in zip(points, sides, strict=True)
    ]


def _list_values(points: Iterable[Point]) -> list[tuple[Point, float]]:
    return [(point, point.value) for point in points if point.value is not None and not point.differences]


def _list_strays(pairs: Sequence[tuple[Point, float]], margin: Margin) -> Iterator[Point]:
    """Yield the points that stand out alone, by more than the margin."""
    values = [value for _, value in pairs]
    center = median(values) if values else 0.0
    for index in find_stray_points(values):
        if abs(values[index] - center) > margin.convert_to_amount(center):
            yield pairs[index][0]


def _find_hidden_shift(values: Sequence[float], margin: Margin) -> float:
    least_shift = find_least_shift(values)
    return least_shift if not values or least_shift > margin.convert_to_amount(compute_mean(values)) else 0.0


def _find_changes(pairs: Sequence[tuple[Point, float]], rules: MetricRules) -> tuple[tuple[Shift, ...], Drift | None]:
    """Return the level shifts beyond the margin, oldest first, or the drift in their place, with the notes on them."""
    values = [value for _, value in pairs]
    course = find_course(values)
    if (drift := course.drift) and _is_beyond(drift.before, drift.after, rules):
        (notes,) = _assign_notes(pairs, rules, [ChangePlace(DRIFT, 0, drift.before, drift.after)])
        return (), Drift(
            before=drift.before, after=drift.after, interval=find_interval(values, 0, len(values)), p=drift.p,
            verdict=_choose_verdict(drift.before, drift.after, rules.direction), notes=notes,
            first=pairs[0][0], last=pairs[-1][0],
        )  # fmt: skip
    bounds = [0, *(item.index for item in course.shifts), len(pairs)]
    levels = [
        (item, begin, end)
        for item, begin, end in zip(course.shifts, bounds, bounds[2:], strict=False)
        if _is_beyond(item.before, item.after, rules)
    ]
    places = [ChangePlace(LEVEL_SHIFT, item.index, item.before, item.after) for item, _, _ in levels]
    return tuple(
        _build_shift(pairs, rules, item, (begin, end), notes)
        for (item, begin, end), notes in zip(levels, _assign_notes(pairs, rules, places), strict=True)
    ), None


def _build_shift(
    pairs: Sequence[tuple[Point, float]],
    rules: MetricRules,
    item: LevelShift,
    bounds: tuple[int, int],
    notes: tuple[ShiftNote, ...],
) -> Shift:
    """Return a level shift; its levels begin and end at bounds."""
    base, point = pairs[item.index - 1][0], pairs[item.index][0]
    verdict = (
        Verdict.ENVIRONMENT if _is_same_version(base, point)
        else _choose_verdict(item.before, item.after, rules.direction)
    )  # fmt: skip
    return Shift(
        before=item.before, after=item.after, p=item.p, verdict=verdict, notes=notes,
        interval=find_interval([value for _, value in pairs], *bounds, item.index),
        base=base, point=point, runs_before=item.index - bounds[0], runs_since=bounds[1] - item.index,
    )  # fmt: skip


def _assign_notes(
    pairs: Sequence[tuple[Point, float]], rules: MetricRules, places: Sequence[ChangePlace]
) -> list[tuple[ShiftNote, ...]]:
    """Return the notes on each change; a run that is no point any more is where its day belongs."""

    def find_index(run: str, day: str) -> int:
        places = [index for index, (point, _) in enumerate(pairs) if point.run == run]
        return places[-1] if places else sum(point.day < day for point, _ in pairs)

    return assign_notes(rules.notes, places, find_index)


def _is_same_version(before: Point, after: Point) -> bool:
    """Return whether two runs have the same commit or are repeats of one name: only their environment can differ."""
    is_repeat = before.results.name == after.results.name and before.run != after.run
    return is_repeat or (bool(before.commit) and before.commit == after.commit)


def _is_beyond(before: float, after: float, rules: MetricRules) -> bool:
    return abs(after - before) > rules.margin.convert_to_amount(before)


def _choose_verdict(before: float, after: float, direction: Direction) -> Verdict:
    if direction is Direction.NEITHER:
        return Verdict.CHANGED
    return Verdict.BETTER if (after < before) == (direction is Direction.LOWER) else Verdict.WORSE
