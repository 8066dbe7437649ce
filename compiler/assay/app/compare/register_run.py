"""Register runs, and list them with the runs that have results (`assay runs`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from assay.app.session.runs import check_run_places, create_named_run
from assay.lang.check.reports import is_day
from assay.registry.baseline import LAST, MEDIAN, describe_day_command
from assay.registry.folder_lock import lock_folder
from assay.registry.history import check_tag, find_time
from assay.registry.model import RUNS, RegisteredRun, Registration
from assay.registry.store import add_run, list_runs, read_results
from assay.remote.address import get_run_name, is_address
from assay.util.diagnostics import USAGE, fail
from assay.util.numbers import split_numbers
from assay.util.paths import resolve_path

FindPlaces = Callable[[str], Sequence[str]]
"""Returns the places of a run by its name in the settings."""


def register_run(folder: Path, registration: Registration, find_places: FindPlaces = lambda _name: ()) -> RegisteredRun:
    """Register a run in a results folder; several places are repeats. The default name is that of its directory.

    Instead of its directory, a run may be named that is registered, has recorded results, or is in the settings:
    `find_places` returns the places of a name in the settings. A run that is registered gains tags, and
    places, a commit or a day that it lacks.

    Raises AssayError (usage): a place that does not exist, a name that is in use for another run or means something
    else, an invalid day.
    """
    with ExitStack() as stack:
        if (folder / RUNS).is_dir():  # so that what is registered of the run does not change until it is written
            stack.enter_context(lock_folder(folder))
        return _register_run(folder, registration, find_places)


def _register_run(folder: Path, registration: Registration, find_places: FindPlaces) -> RegisteredRun:
    known_name, places = _find_known_run(folder, registration.places, find_places)
    check_run_places([create_named_run(registration.name or "run", place) for place in places])
    name = registration.name or known_name or _get_name(places[0])
    if "=" in name or name.startswith((LAST, MEDIAN)):
        raise fail("run-name", f"invalid name of a run: `{name}`", status=USAGE,
                   expected=f"a name without `=` that does not begin with `{LAST}` or `{MEDIAN}`")  # fmt: skip
    known_places = find_places(name)
    if known_places and locate_places(known_places) != locate_places(places):
        raise fail("same-run", f"the settings have a run `{name}` already", expected=", ".join(known_places),
                   found=", ".join(places), hint="choose another --name", status=USAGE)  # fmt: skip
    day = registration.day
    if day and not is_day(day):
        raise fail("date", "--date takes a day that exists", expected="YYYY-MM-DD", found=day, status=USAGE)
    return add_run(folder, replace(registration, name=name, places=places))


def describe_unknown_day(folder: Path, run: RegisteredRun) -> str:
    """Return a warning if a run with tags has no day, and no results that have one; else nothing."""
    if not run.tags or run.day or any(item.name == run.name and item.content.day for item in read_results(folder)):
        return ""
    return (
        f"The run {run.name} has no day, without which `{LAST}{run.tags[0]}` does not know the last of several runs. "
        f"You may {describe_day_command(run.name)}, or build a report over the run."
    )


def _find_known_run(folder: Path, places: Sequence[str], find_places: FindPlaces) -> tuple[str, Sequence[str]]:
    """Return the name and places of a run that is named instead of its directory, or else no name and `places`.

    A run of which only results are recorded has no places.
    """
    if len(places) > 1 or is_address(places[0]) or Path(places[0]).exists():
        return "", places
    (name,) = places
    if settings_places := find_places(name):
        return name, settings_places
    registered = next((run for run in list_runs(folder) if run.name == name), None)
    if registered:
        return name, registered.places
    return (name, ()) if any(results.name == name for results in read_results(folder)) else ("", places)


def locate_places(places: Sequence[str]) -> set[str]:
    """Return places in one form, whatever the folder that they are relative to."""
    return {place if is_address(place) else str(resolve_path(Path(place))) for place in places}


def _get_name(place: str) -> str:
    return get_run_name(place if is_address(place) else Path(place).absolute().as_posix())


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A registered run, or one with recorded results: their number, and the instant of the run's first record."""

    run: RegisteredRun
    start: str
    results: int


def list_known_runs(folder: Path, tag: str = "") -> list[KnownRun]:
    """Return registered runs and those that only have results, by day and by first record within a day.

    The day of a registered run without one is that of its results. Raises AssayError (usage) for an unknown tag.
    """
    runs, recorded = list_runs(folder), read_results(folder)
    if tag:
        check_tag(runs, tag)
    counts = Counter(results.name for results in recorded)
    times: dict[str, tuple[str, str]] = {}
    runs_by_name = {run.name: run for run in runs}
    for results in recorded:
        times[results.name] = max(times.get(results.name, ("", "")), find_time(results, runs_by_name))
    unregistered_runs = [RegisteredRun(folder, name, ()) for name in sorted(counts) if name not in runs_by_name]
    all_times = [(times.get(run.name, (run.day, "")), run) for run in (*runs, *unregistered_runs)]
    all_times.sort(key=lambda item: (item[0], split_numbers(item[1].name)))
    return [
        KnownRun(replace(run, day=day), f"{start}Z" if start else "", counts[run.name])
        for (day, start), run in all_times
        if not tag or tag in run.tags
    ]
