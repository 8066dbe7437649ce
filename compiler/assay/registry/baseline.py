"""Find the runs that a baseline names: `last:TAG`, or `median:N` and `median:N:TAG`.

`last:TAG` is a registered run: its logs are read. `median:N` are the last N recorded runs before the compared one: only
their results are read.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.judgement.median import LEAST_RUNS
from assay.registry.history import check_tag, find_day, find_time, get_identity, group_by_run
from assay.registry.model import EXPERIMENT, RecordedResults, RegisteredRun
from assay.registry.store import list_runs, read_results
from assay.util.diagnostics import USAGE, Span, fail
from assay.util.numbers import format_count, split_numbers

LAST, MEDIAN = "last:", "median:"


@dataclass(frozen=True, slots=True)
class MedianBaseline:
    """The last runs before a compared run: so many of them, with a tag or (if it is empty) of all."""

    runs: int
    tag: str = ""

    def __str__(self) -> str:
        return f"{MEDIAN}{self.runs}" + (f":{self.tag}" if self.tag else "")


ALL_RUNS = MedianBaseline(sys.maxsize)
"""All recorded runs before a compared run."""


def find_run(folder: Path, name: str) -> RegisteredRun | None:
    """Return the registered run of a name, or the latest one with the tag of `last:TAG`; None for an unknown name.

    Raises AssayError (usage) for an unknown tag, and if the latest run cannot be known.
    """
    if not name.startswith(LAST):
        return next((run for run in list_runs(folder) if run.name == name), None)
    return find_last_run(folder, name.removeprefix(LAST))


def find_last_run(folder: Path, tag: str) -> RegisteredRun:
    """Return the registered run with a tag whose day is the latest; of one day, the one that began last.

    If that is not known or the same, it is the run of the greatest name.

    Raises AssayError (usage) if no run has the tag, or if there are several and the day of one is not known.
    """
    runs = list_runs(folder)
    check_tag(runs, tag)
    tagged_runs = [run for run in runs if tag in run.tags]
    if len(tagged_runs) == 1:
        return tagged_runs[0]
    runs_by_name, recorded = {run.name: run for run in tagged_runs}, read_results(folder)
    times = {run.name: (run.day, "") for run in tagged_runs}
    for item in recorded:
        if item.name in times:
            times[item.name] = max(times[item.name], find_time(item, runs_by_name))
    for run in tagged_runs:
        if not times[run.name][0]:
            raise fail(
                "no-date",
                f"the last run with the tag `{tag}` is not known: the run `{run.name}` has no day",
                hint=f"{describe_day_command(run.name)}, or build a report over the run",
                status=USAGE,
            )
    return max(tagged_runs, key=lambda run: (times[run.name], split_numbers(run.name)))


def require_places(run: RegisteredRun, name: str) -> tuple[str, ...]:
    """Return the places of a registered run that was named. Raises AssayError (usage) for one without logs."""
    if run.places:
        return tuple(run.places)
    registration = f"assay runs add DIR --name {shlex.quote(run.name)}"
    median = MedianBaseline(5, name.removeprefix(LAST) if name.startswith(LAST) else "")
    raise fail(
        "run-without-logs",
        f"the run `{run.name}` is registered without logs" + ("" if name == run.name else f": it is `{name}`"),
        span=Span(str(run.path)),
        hint=f"`{registration}` adds its folders; `--baseline {median}` of `assay gate` reads recorded results only",
        status=USAGE,
    )


def describe_day_command(name: str) -> str:
    """Return what adds the day of a registered run, in words."""
    return f"add it by `assay runs add {shlex.quote(name)} --date YYYY-MM-DD`"


def is_median(text: str) -> bool:
    """Return whether a text is a baseline of several runs, well-formed or not."""
    return text.startswith(MEDIAN)


def parse_median(text: str) -> MedianBaseline:
    """Parse `median:N` or `median:N:TAG`. Raises AssayError (usage) for another text, and for fewer than three runs."""
    match = re.fullmatch(rf"{MEDIAN}(\d{{1,4}})(?::(.+))?", text)
    if not match or int(match[1]) < LEAST_RUNS:
        expected = f"median:N or median:N:TAG, N at least {LEAST_RUNS}"
        raise fail("baseline", f"invalid baseline `{text}`", expected=expected, found=text, status=USAGE)
    return MedianBaseline(int(match[1]), match[2] or "")


def select_median_runs(
    baseline: MedianBaseline,
    recorded: Sequence[RecordedResults],
    runs: Sequence[RegisteredRun],
    compared: RecordedResults,
) -> tuple[RecordedResults, ...]:
    """Return the results of the runs of a baseline, oldest first: the last ones before a compared run.

    They are of its report, with its filters and summary. A run that is not recorded, such as the candidate of a pull
    request, comes after all that are. Raises AssayError for fewer than three.
    """
    if baseline.tag:
        check_tag(runs, baseline.tag)
    runs_by_name = {run.name: run for run in runs}
    groups = group_by_run(recorded, runs_by_name)
    end = _count_earlier(groups, compared, runs_by_name)
    earlier_runs, later_runs = (
        [group for group in part if any(_has_tag(item, runs_by_name, baseline.tag) for item in group)]
        for part in (groups[:end], groups[end:])
    )
    chosen = [results for group in earlier_runs if (results := _choose_results(group, compared))][-baseline.runs :]
    if len(chosen) < LEAST_RUNS:
        others = sum(get_identity(group[0]) != get_identity(compared) for group in later_runs)
        raise fail(
            "too-few-runs",
            f"the baseline `{baseline}` has too few runs before `{compared.name}`",
            expected=f"{LEAST_RUNS} runs with results of {compared.content.report}, the same filters and summary",
            found=_describe_few(baseline, [item.content.run for item in chosen], len(earlier_runs), others),
            hint="`assay results add BUILD` records the results of earlier builds",
        )
    return tuple(chosen)


def _describe_few(baseline: MedianBaseline, names: Sequence[str], earlier_count: int, later_count: int) -> str:
    """Return which runs a baseline has, and why it has no others; counts are relative to the compared run."""
    owners = f"{format_count(earlier_count + later_count, 'recorded run')}{' with this tag' if baseline.tag else ''}"
    reasons = [
        *([f"{later_count} not before it"] if later_count else []),
        *([f"{unlike} without such results, or with the same logs"] if (unlike := earlier_count - len(names)) else []),
    ]
    return f"{', '.join(names) or 'none'} of {': '.join(filter(None, [owners, ', '.join(reasons)]))}"


def _has_tag(results: RecordedResults, runs: Mapping[str, RegisteredRun], tag: str) -> bool:
    """Return whether a run has a tag; without one, whether it is no experiment, of which no baseline is made."""
    run = runs.get(results.name)
    tags = run.tags if run else ()
    return tag in tags if tag else EXPERIMENT not in tags


def _count_earlier(
    groups: Sequence[Sequence[RecordedResults]], compared: RecordedResults, runs: Mapping[str, RegisteredRun]
) -> int:
    """Return how many runs are before a compared one: all if it is not recorded or has no day."""
    identities = [get_identity(group[0]) for group in groups]
    is_placed = get_identity(compared) in identities and find_day(compared, runs)
    return identities.index(get_identity(compared)) if is_placed else len(groups)


def _choose_results(group: Sequence[RecordedResults], compared: RecordedResults) -> RecordedResults | None:
    """Return the results of another run that compare best with those of a run; None if none are of the same choices.

    These have most metrics of the same definition; of equal ones, they are the latest.
    """
    metrics = compared.content.metrics

    def rank(results: RecordedResults) -> tuple[object, ...]:
        equal = sum(name in metrics and metrics[name].definition == figures.definition
                    for name, figures in results.content.metrics.items())  # fmt: skip
        return equal, split_numbers(results.content.assay), results.id

    candidates = [
        item
        for item in group
        if item.name != compared.name
        and item.content.data != compared.content.data
        and _get_choices(item) == _get_choices(compared)
    ]
    return max(candidates, key=rank, default=None)


def _get_choices(results: RecordedResults) -> tuple[object, ...]:
    return results.content.report, results.content.summary, results.content.filters
