"""Find the runs that a baseline names: `last:TAG`, or `median:N` and `median:N:TAG`.

`last:TAG` is a registered run: its logs are read. `median:N` are the last N recorded runs before the compared one: only
their results are read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.judgement.median import LEAST_RUNS
from assay.registry.history import check_tag, find_day
from assay.registry.model import RecordedResults, RegisteredRun
from assay.registry.store import list_runs, read_results
from assay.util.diagnostics import USAGE, fail
from assay.util.numbers import split_numbers

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
    """Return the registered run with a tag whose day is the latest; of one day, that of the greatest name.

    Raises AssayError (usage) if no run has the tag, or if there are several and the day of one is not known.
    """
    runs = list_runs(folder)
    check_tag(runs, tag)
    tagged_runs = [run for run in runs if tag in run.tags]
    if len(tagged_runs) == 1:
        return tagged_runs[0]
    recorded = () if all(run.day for run in tagged_runs) else read_results(folder)
    days = {run.name: max([run.day, *(item.content.day for item in recorded if item.name == run.name and not run.day)])
            for run in tagged_runs}  # fmt: skip
    for run in tagged_runs:
        if not days[run.name]:
            raise fail(
                "no-date",
                f"the last run with the tag `{tag}` is not known: the run `{run.name}` has no day",
                hint=f'add `"day": "YYYY-MM-DD"` to {run.path}, or build a report over the run',
                status=USAGE,
            )
    return max(tagged_runs, key=lambda run: (days[run.name], split_numbers(run.name)))


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

    They are of its report, with its filters and summary. Raises AssayError for fewer than three.
    """
    if baseline.tag:
        check_tag(runs, baseline.tag)
    runs_by_name = {run.name: run for run in runs}
    best: dict[tuple[object, ...], RecordedResults] = {}
    for results in sorted(recorded, key=lambda item: (split_numbers(item.content.assay), item.id)):
        run = runs_by_name.get(results.name)
        if (
            (not baseline.tag or (run is not None and baseline.tag in run.tags))
            and results.name != compared.name
            and results.content.data != compared.content.data
            and _get_choices(results) == _get_choices(compared)
        ):
            key = find_day(results, runs_by_name), split_numbers(results.content.run), results.content.data
            best[key] = _choose_nearest(best.get(key), results, compared)
    end = (find_day(compared, runs_by_name) or "9999", split_numbers(compared.content.run))
    chosen = [results for key, results in sorted(best.items()) if (key[0], key[1]) <= end][-baseline.runs :]
    if len(chosen) < LEAST_RUNS:
        raise fail(
            "too-few-runs",
            f"the baseline `{baseline}` has too few runs before `{compared.name}`",
            expected=f"{LEAST_RUNS} runs with results of {compared.content.report}, the same filters and summary",
            found=", ".join(results.content.run for results in chosen) or "none",
            hint="`assay results add BUILD` records the results of earlier builds",
        )
    return tuple(chosen)


def _get_choices(results: RecordedResults) -> tuple[object, ...]:
    return results.content.report, results.content.summary, results.content.filters


def _choose_nearest(
    former: RecordedResults | None, results: RecordedResults, compared: RecordedResults
) -> RecordedResults:
    """Return those of two results of a run with more metrics of the same definition; the later ones if equal."""
    if former is None:
        return results

    def count_equal(item: RecordedResults) -> int:
        metrics = compared.content.metrics
        return sum(name in metrics and metrics[name].definition == figures.definition
                   for name, figures in item.content.metrics.items())  # fmt: skip

    return results if count_equal(results) >= count_equal(former) else former
