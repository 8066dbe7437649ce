"""Compare how often records of each name are written.

Some records are written for each piece of work, others at intervals of time. Where one version did more work or ran
longer, one of the two rates differs without any change of the software. So a rate has changed only if that per row of a
metric and that per second have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from assay.judgement.batches import Cell, RunCells, measure_run
from assay.judgement.discoveries import select_discoveries
from assay.judgement.interval import Version, compare
from assay.judgement.verdict import Direction, Judgement, Margin, judge

PLACES = 63  # of time, into which a run is divided
LEAST_NEW = 5  # records: of fewer, chance puts all into one of two runs in more than 5 % of cases
_LEAST_HOSTS = 5  # by which records without times are compared
_LEAST_FACTOR = 2  # by which a rate differs that nothing shows the noise of
_LEAST_RECORDS = 20  # of such a name in one version
_MARGIN = 10.0  # percent of a rate


class Presence(StrEnum):
    """How the records of a name differ."""

    NEW = "new"
    GONE = "gone"
    CHANGED = "changed"


@dataclass(frozen=True)
class RunRecords:
    """The records of a run by name: `by_host`, and `by_place` in time (from 0 to 62) and host where that is known.

    `rows` is the number of samples of the metric that is the unit of work, `seconds` the time that the logs cover, at
    least 1; `hosts` are all hosts of the run.
    """

    rows: int
    seconds: int
    hosts: tuple[str, ...]
    by_host: Mapping[str, Mapping[str, int]]
    by_place: Mapping[str, Mapping[tuple[int, str], int]] = field(default_factory=dict)

    @cached_property
    def totals(self) -> Mapping[str, int]:
        """The records of each name."""
        return Counter({name: sum(hosts.values()) for name, hosts in self.by_host.items()})


@dataclass(frozen=True, slots=True)
class RecordChange:
    """A name whose records are new, gone or changed in rate, and their numbers in both versions.

    `ratio` is that of the rate per row or per second, whichever changed less, and `judgement` the one on it. Both are
    None for a name that is new or gone, `judgement` also where nothing shows the noise.
    """

    name: str
    presence: Presence
    counts: tuple[int, int]
    ratio: float | None = None
    judgement: Judgement | None = None


def compare_records(
    base: Sequence[RunRecords], other: Sequence[RunRecords], level: float = 0.95
) -> tuple[RecordChange, ...]:
    """Return the names that differ between the runs of two versions: new ones, gone ones, then other rates.

    Of rates, those are returned that chance does not make of so many names, and that differ by more than 10 %. Each
    version must have rows.
    """
    versions = (base, other)
    names = sorted({name for version in versions for run in version for name in run.totals})
    changes, tests = [], {}
    for name in names:
        first, second = (sum(run.totals.get(name, 0) for run in version) for version in versions)
        presence = Presence.NEW if not first else Presence.GONE if not second else Presence.CHANGED
        if presence is not Presence.CHANGED:
            changes.append(RecordChange(name, presence, (first, second)))
            continue
        ratios = [_compute_ratio(name, versions, unit) for unit in _UNITS]
        judgements = [_judge_rate(name, versions, unit, level) for unit in _UNITS]
        lesser = min((0, 1), key=lambda index: abs(math.log(ratios[index])))
        ratio = 1.0 if (ratios[0] > 1) is not (ratios[1] > 1) else ratios[lesser]
        changes.append(RecordChange(name, presence, (first, second), ratio, judgements[lesser]))
        ps = [item.p_beyond for item in judgements if item.p_beyond is not None]
        if len(ps) == len(_UNITS):
            tests[name] = name, max(ps)
    certain = select_discoveries(tests, 1 - level)
    selected = (item for change in changes if (item := _select_change(change, is_certain=change.name in certain)))
    return tuple(sorted(selected, key=_rank))


def _select_change(change: RecordChange, *, is_certain: bool) -> RecordChange | None:
    """Return a change if it is more than noise; without a judgement if nothing shows the noise."""
    if change.ratio is None:
        return change if max(change.counts) >= LEAST_NEW else None
    if change.judgement and change.judgement.comparison:
        return change if is_certain and change.ratio != 1 and change.judgement.is_certain else None
    is_large = max(change.ratio, 1 / change.ratio) >= _LEAST_FACTOR
    return replace(change, judgement=None) if is_large and max(change.counts) >= _LEAST_RECORDS else None


def _rank(change: RecordChange) -> tuple[int, float, str]:
    size = abs(math.log(change.ratio)) if change.ratio else max(change.counts)
    return [*Presence].index(change.presence), -size, change.name


def _get_rows(run: RunRecords) -> int:
    return run.rows


def _get_seconds(run: RunRecords) -> int:
    return run.seconds


_UNITS = (_get_rows, _get_seconds)
_Unit = Callable[[RunRecords], int]
_Versions = tuple[Sequence[RunRecords], Sequence[RunRecords]]


def _compute_ratio(name: str, versions: _Versions, unit: _Unit) -> float:
    base, other = (sum(run.totals.get(name, 0) for run in version) / sum(map(unit, version)) for version in versions)
    return other / base


def _judge_rate(name: str, versions: _Versions, unit: _Unit, level: float) -> Judgement:
    """Judge the rate of a name as a metric without a better direction."""
    base, other = (
        Version.from_runs(measure_run(cells) for run in version if (cells := _build_cells(name, run, unit(run))))
        for version in versions
    )
    return judge(compare(base, other), Margin(_MARGIN), Direction.NEITHER, level)


def _build_cells(name: str, run: RunRecords, scale: int) -> RunCells | None:
    """Return the records of a name as samples: one of each host in each part of the time, or of each host.

    Their mean is the number of all records, divided by `scale`.
    """
    if name in run.by_place or not run.by_host.get(name):
        placed = run.by_place.get(name, {})
        hosts = run.hosts or ("",)
        number = PLACES * len(hosts)
        places = ((place, host) for place in range(PLACES) for host in hosts)
        cells = tuple(Cell(place, host, number * placed.get((place, host), 0), 1) for place, host in places)
        return RunCells(cells, PLACES, scale)
    if len(run.hosts) < _LEAST_HOSTS:
        return None
    counts = run.by_host[name]
    cells = tuple(Cell(place, "", len(run.hosts) * counts.get(host, 0), 1) for place, host in enumerate(run.hosts))
    return RunCells(cells, len(run.hosts), scale)
