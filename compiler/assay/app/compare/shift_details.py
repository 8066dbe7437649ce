"""Say of a level shift or drift what changed between its two runs: commits, and the cause that a report names."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from assay.app.session.config import Config
from assay.registry.history import HistoryChange, MetricHistory, Point, Shift
from assay.registry.model import RegisteredRun
from assay.util.git import run_git

MOST_COMMITS = 20
PLACE = "DIR"  # of a run whose logs are not registered
_LOG = ("-c", "log.showSignature=false", "log", "--format=%H%x00%s", f"-{MOST_COMMITS + 1}", "--end-of-options")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, its subject if it is known, and its address if the settings have one."""

    id: str
    subject: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class ShiftDetails:
    """What is known of a change besides its numbers.

    `base` and `run` are the names of the two runs around it. `commits` are those between them, the latest first;
    `commits_note` says which are left out, or why there are none, and `commit_command` adds that of a run without one.
    `causes` are sentences of the report of the two runs; without any, `command` finds the cause.
    """

    base: str
    run: str
    base_commit: Commit | None
    commit: Commit | None
    compare_address: str
    commits: tuple[Commit, ...]
    commits_note: str
    commit_command: str
    causes: tuple[str, ...]
    command: str


def list_changes(history: MetricHistory) -> tuple[HistoryChange, ...]:
    """Return the level shifts of a history, oldest first, or its drift."""
    return (*history.shifts, *([history.drift] if history.drift else []))


def get_begin(change: HistoryChange) -> Point:
    """Return the run at which a level shift or drift begins."""
    base, point = change.ends
    return point if isinstance(change, Shift) else base


def find_details(
    config: Config | None, runs: Sequence[RegisteredRun], history: MetricHistory, change: HistoryChange
) -> ShiftDetails:
    """Return what is known of a change from the registry, the settings and built reports; no logs are read."""
    base, point = change.ends
    commits, note = _list_commits(config, base, point)
    command = _find_command(config, runs, history.metric, (base, point))
    compare_link = config.values.get("compare-link", "") if config else ""
    is_linked = bool(compare_link and base.commit and point.commit)
    return ShiftDetails(
        base.run, point.run, _link_commit(config, base.commit), _link_commit(config, point.commit),
        _fill_link(compare_link, point.commit, base.commit) if is_linked else "",
        commits, note, _find_commit_command((base, point)), tuple(_find_causes(config, base, point)), command,
    )  # fmt: skip


def _link_commit(config: Config | None, commit: str, subject: str = "") -> Commit | None:
    link = config.values.get("commit-link", "") if config else ""
    return Commit(commit, subject, _fill_link(link, commit) if link else "") if commit else None


def _fill_link(link: str, commit: str, base: str = "") -> str:
    return link.replace("{commit}", quote(commit, safe="")).replace("{base}", quote(base, safe=""))


def _list_commits(config: Config | None, base: Point, point: Point) -> tuple[tuple[Commit, ...], str]:
    """Return the commits of the repository of the settings between two runs, and what is to be said of them."""
    unknown = [item.run for item in (base, point) if not item.commit]
    if unknown:
        return (), f"No commit is known of {' and '.join(unknown)}."
    if base.commit == point.commit:
        return (), "Both runs have the same commit."
    folder = config.get_path("repository") if config else None
    if folder is None:
        return (), ""
    log = run_git(Path(folder), *_LOG, f"{base.commit}..{point.commit}", "--")
    if log is None:
        return (), f"The repository {folder} does not have both commits."
    lines = [line.partition("\0") for line in log.decode(errors="replace").split("\n") if line]
    listed = (_link_commit(config, commit, subject) for commit, _, subject in lines[:MOST_COMMITS])
    note = f"These are the latest {MOST_COMMITS}; there are more." if len(lines) > MOST_COMMITS else ""
    return tuple(item for item in listed if item), note if lines else "There is no commit between them."


def _find_commit_command(ends: Sequence[Point]) -> str:
    point = next((item for item in ends if not item.commit), None)
    return shlex.join(["assay", "runs", "add", point.results.name, "--commit", "SHA"]) if point else ""


def _find_command(config: Config | None, runs: Sequence[RegisteredRun], metric: str, ends: tuple[Point, Point]) -> str:
    """Return the command that finds the cause of a change; DIR stands for logs whose place is not known."""
    has_names = config is not None and "results" in config.values
    places_by_name = {run.name: run.places for run in runs}
    words: list[str] = []
    for name in dict.fromkeys(point.results.name for point in ends):
        places = (config.find_places(name) if config else ()) or places_by_name.get(name, ())
        words += [name] if has_names and places else [f"{name}={place}" for place in places or [PLACE]]
    return shlex.join(["assay", "why", metric, *words])


def _find_causes(config: Config | None, base: Point, point: Point) -> Iterator[str]:
    """Yield the causes that the built report of two runs names, if the output folder of the settings has one."""
    folder = config.get_path("output") if config else None
    for place in sorted(Path(folder).glob("*/document.json")) if folder else ():
        try:
            results = json.loads(place.with_name("results.json").read_text(encoding="utf-8"))
            if [results["runs"][0]["id"]] != [base.run] or results["report"] != point.results.content.report:
                continue
            if point.run not in (run["id"] for run in results["runs"]):
                continue
            for answer in json.loads(place.read_text(encoding="utf-8")).get("answers", ()):
                if answer["run_id"] == point.run:
                    yield from answer.get("causes", ())
        except (OSError, ValueError, KeyError, IndexError, TypeError):
            continue  # a folder that no build of Assay wrote
