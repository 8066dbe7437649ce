"""Build one report twice at once on one queue and one cache: both end with the bytes of one machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.engine.portions import OWN_KIND, PORTIONS_KIND
from assay_cluster import coordinator
from assay_cluster.coordinator import ClusterFiller
from assay_cluster.task import Outcome, Task
from assay_cluster.worker import run_task
from tests.support.clusters import SmallSite, finish, read_tree, start_assay, stop_after
from tests.support.commands import run_assay


def list_left(site: SmallSite) -> list[Path]:
    """Return the portions that builds have left."""
    return [path for kind in (PORTIONS_KIND, OWN_KIND) for path in (site.cache / kind).glob("*")]


def test_two_builds_at_once_end_with_the_same_bytes(site: SmallSite, expected_files: dict[str, bytes]) -> None:
    with stop_after([site.start_worker() for _ in range(2)]):
        builds = [start_assay(site.workspace, *site.list_build_command(f"out-{number}")) for number in range(3)]
        for build in builds:
            finish(build)
    for number in range(3):
        assert read_tree(site.folder / f"out-{number}") == expected_files
    assert not list_left(site)


class LocalCluster:
    """Runs tasks in this process, and calls a function after each, as a build on another machine may do anything."""

    def __init__(self, site: SmallSite) -> None:
        self._site = site

    def map(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Run tasks."""
        session = self._site.open_session()
        for task in tasks:
            yield run_task(task, session)

    def cancel(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("stage", ["hosts", "verify", "rest"])
def test_other_build_may_end_at_any_moment(
    site: SmallSite, expected_files: dict[str, bytes], stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another build of the report begins and ends when the first task of a stage is done."""
    monkeypatch.setattr(coordinator, "open_cluster", lambda *_: LocalCluster(site))
    map_tasks, others = ClusterFiller._map, list[int]()

    def run_other() -> None:
        others.append(run_assay(*site.list_build_command("other"), cwd=site.workspace).status)

    def map_and_build(self: ClusterFiller, session: Any, tasks: Sequence[Task]) -> Iterator[Outcome]:
        for outcome in map_tasks(self, session, tasks):
            if outcome.task.endswith(stage) and not others:
                others.append(-1)
                thread = threading.Thread(target=run_other)
                thread.start()
                thread.join()
            yield outcome

    monkeypatch.setattr(ClusterFiller, "_map", map_and_build)
    assert run_assay(*site.list_build_command("out"), cwd=site.workspace).status == 0
    assert others == [-1, 0]
    assert read_tree(site.folder / "out") == read_tree(site.folder / "other") == expected_files
    assert not list_left(site)


def test_lost_portion_is_computed_again(
    site: SmallSite, expected_files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another build removes a portion that a worker has just computed; one that is lost for ever is an error."""
    monkeypatch.setattr(coordinator, "open_cluster", lambda *_: LocalCluster(site))
    copy, losses = coordinator.Publisher.copy_portion, list[str]()

    def lose(most: int) -> None:
        def copy_or_lose(self: Any, portion: Any, place: str) -> bool:
            if losses.count(portion.key) < most:
                losses.append(portion.key)
                coordinator.remove_portions([portion], self._store)
            return copy(self, portion, place)

        monkeypatch.setattr(coordinator.Publisher, "copy_portion", copy_or_lose)

    lose(coordinator.MOST_LOSSES)
    assert run_assay(*site.list_build_command("out"), cwd=site.workspace).status == 0
    assert read_tree(site.folder / "out") == expected_files
    monkeypatch.setattr(site.__class__, "cache", property(lambda self: self.folder / "other-cache"))
    losses.clear()
    lose(10**6)
    result = run_assay(*site.list_build_command("lost"), cwd=site.workspace)
    assert (result.status, result.err.splitlines()[0].partition(": ")[0]) == (1, "error[cache]")
