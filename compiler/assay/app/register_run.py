"""Register runs, and list them with the runs that have results (`assay runs`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from assay.app.runs import check_run_places, create_named_run
from assay.lang.check.reports import is_day
from assay.registry.baseline import LAST, MEDIAN
from assay.registry.history import check_tag
from assay.registry.model import RegisteredRun
from assay.registry.store import add_run, list_runs, read_results
from assay.remote.address import get_run_name, is_address
from assay.util.diagnostics import USAGE, fail
from assay.util.numbers import split_numbers


def register_run(
    folder: Path,
    places: Sequence[str],
    name: str = "",
    tags: Sequence[str] = (),
    commit: str = "",
    day: str = "",
    known_names: Collection[str] = (),
) -> RegisteredRun:
    """Register a run in a results folder; several places are repeats. The default name is that of its directory.

    `known_names` are those of the settings. Raises AssayError (usage): a place that does not exist, a name that is in
    use or means something else, an invalid day.
    """
    check_run_places([create_named_run(name or "run", place) for place in places])
    name = name or _get_name(places[0])
    if "=" in name or name.startswith((LAST, MEDIAN)):
        raise fail("run-name", f"invalid name of a run: `{name}`", status=USAGE,
                   expected=f"a name without `=` that does not begin with `{LAST}` or `{MEDIAN}`")  # fmt: skip
    if name in known_names:
        raise fail("same-run", f"the settings have a run `{name}` already", hint="choose another --name", status=USAGE)
    if day and not is_day(day):
        raise fail("date", "--date takes a day that exists", expected="YYYY-MM-DD", found=day, status=USAGE)
    return add_run(folder, name, places, tags, commit, day)


def _get_name(place: str) -> str:
    return get_run_name(place if is_address(place) else Path(place).absolute().as_posix())


def list_known_runs(folder: Path, tag: str = "") -> list[tuple[RegisteredRun, int]]:
    """Return registered runs and those that only have results, by day, each with its number of recorded results.

    The day of a registered run without one is that of its results. Raises AssayError (usage) for an unknown tag.
    """
    runs, recorded = list_runs(folder), read_results(folder)
    if tag:
        check_tag(runs, tag)
    counts = Counter(results.name for results in recorded)
    days: dict[str, str] = {}
    for results in recorded:
        days[results.name] = max(days.get(results.name, ""), results.content.day)
    names = {run.name for run in runs}
    unregistered_runs = [RegisteredRun(folder, name, ()) for name in sorted(counts) if name not in names]
    known_runs = [replace(run, day=run.day or days.get(run.name, "")) for run in (*runs, *unregistered_runs)]
    shown_runs = [run for run in known_runs if not tag or tag in run.tags]
    return [(run, counts[run.name]) for run in sorted(shown_runs, key=lambda run: (run.day, split_numbers(run.name)))]
