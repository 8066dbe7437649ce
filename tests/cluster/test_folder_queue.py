"""Test builds by workers of a folder queue: same bytes, refusals, abandoned and repeated tasks."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from pathlib import Path

import pytest

import assay
from assay.app.session.session import open_session
from assay.util.diagnostics import AssayError
from assay_cluster.coordinator import HOSTS, REST
from assay_cluster.entry_storage import SharedFolder
from assay_cluster.folder_queue import ClaimedTask, FolderQueue, QueueWorker
from assay_cluster.task import READ, VERIFY, Outcome, Task, create_requirements
from assay_cluster.worker import run_task, work_on_queue
from tests.support.clusters import LEASE, SmallSite, copy_small_workspace, finish, read_tree, stop_after, wait_until
from tests.support.commands import run_assay


def create_task(site: SmallSite, name: str = "000001-read") -> Task:
    """Return a task without work, as a coordinator creates it."""
    session = site.open_session()
    requirements = create_requirements(
        session, SharedFolder(session.store), "service", session.load_package("service").sources
    )
    return Task(name, READ, "1.0", 1, 1, requirements, {})


def wait_for_task(worker: QueueWorker) -> ClaimedTask:
    """Return the next task that a worker gets."""
    claims: list[ClaimedTask] = []

    def take() -> bool:
        claimed = worker.take()
        claims.extend([claimed] if claimed else [])
        return bool(claims)

    wait_until(take)
    return claims[0]


def open_queue(site: SmallSite, notices: list[str]) -> FolderQueue:
    return FolderQueue(site.queue, LEASE, notices.append)


def test_two_workers_build_the_bytes_of_one_machine(site: SmallSite, expected_files: dict[str, bytes]) -> None:
    with stop_after([site.start_worker() for _ in range(2)]):
        wait_until(lambda: len(list((site.queue / "workers").glob("*"))) == 2)
        log = finish(site.start_build("--log-format", "json"))
    assert read_tree(site.folder / "out") == expected_files
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    tasks = [line for line in lines if line["stage"] == "task"]
    # The hosts have unequal numbers of records, so that gaps in their logs are measured after the results.
    assert Counter(line["task"].partition("-")[2] for line in tasks) == {READ: 12, HOSTS: 28, VERIFY: 4, REST: 2}
    assert len({line["worker"] for line in tasks}) == 2
    last = [line for line in tasks if VERIFY in line["task"]][-1]
    assert last["hosts_done"] == last["hosts_total"] == 6  # gaps are measured run by run
    assert last["bytes_done"] == last["bytes_total"]
    assert [line["cached"] for line in lines if line["stage"] == "read"] == [False, False]
    assert not list(site.queue.glob("build-*"))
    assert not list((site.cache / "portions").iterdir())


def test_python_interface_builds_on_workers(site: SmallSite, expected_files: dict[str, bytes]) -> None:
    runs = [site.workspace / "runs" / name for name in ("1.0", "1.1")]
    with stop_after([site.start_worker()]), assay.open(site.workspace, site.cache) as workspace:
        workspace.build("service/comparison", runs, site.folder / "out", forms=["md"], on=f"folder:{site.queue}")
    assert (site.folder / "out" / "report.md").read_bytes() == expected_files["report.md"]
    # All results are cached now, so that no worker is needed.
    result = run_assay(*site.list_build_command("again"), cwd=site.workspace)
    assert result.status == 0, result.err
    assert read_tree(site.folder / "again") == expected_files


def test_worker_with_other_specs_refuses(site: SmallSite, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = copy_small_workspace(tmp_path / "other")
    metrics = next(path for path in (other / "specs" / "service").rglob("*.dhall") if "wait" in path.read_text())
    metrics.write_text(metrics.read_text(encoding="utf-8") + "\n-- changed\n", encoding="utf-8")
    task = create_task(site)
    outcome = run_task(task, open_session(other, site.cache))
    assert outcome.status == 2
    assert [item.code for item in outcome.problems] == ["other-specs"]
    assert outcome.problems[0].hint.startswith("start the worker in the workspace of the build")


def test_worker_in_another_folder_refuses(site: SmallSite, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    outcome = run_task(create_task(site), open_session(tmp_path / "elsewhere", site.cache))
    (problem,) = outcome.problems
    assert (outcome.status, problem.code, problem.found.split()[0]) == (2, "other-specs", "none")
    assert str(site.workspace) in problem.expected


def test_worker_with_other_cache_refuses(site: SmallSite, tmp_path: Path) -> None:
    outcome = run_task(create_task(site), open_session(site.workspace, tmp_path / "own"))
    assert [item.code for item in outcome.problems] == ["other-cache"]
    assert outcome.problems[0].hint == "pass --cache DIR to both: a folder that all machines share"


@pytest.mark.parametrize(("name", "actual"), [("get_versions", "duckdb 1.9.9"), ("hash_program", "ffffffffffffffff")])
def test_worker_with_other_version_refuses(
    site: SmallSite, monkeypatch: pytest.MonkeyPatch, name: str, actual: str
) -> None:
    task = create_task(site)
    replacements = {
        "get_versions": lambda: {**task.requirements.versions, "duckdb": "1.9.9"},
        "hash_program": lambda: "f" * 64,
    }
    monkeypatch.setattr(f"assay_cluster.task.{name}", replacements[name])
    outcome = run_task(task, site.open_session())
    assert [(item.code, item.found) for item in outcome.problems] == [("other-version", actual)]
    assert "all machines" in outcome.problems[0].hint


def test_refused_task_waits_for_another_worker(site: SmallSite, tmp_path: Path) -> None:
    notices: list[str] = []
    queue = open_queue(site, notices)
    outcomes: list[Outcome] = []
    coordinator = threading.Thread(target=lambda: outcomes.extend(queue.map([create_task(site)])))
    coordinator.start()
    with pytest.raises(AssayError, match="other-cache"):
        work_on_queue(
            site.queue, lambda: open_session(site.workspace, tmp_path / "own"), once=True
        )  # fmt: skip
    wait_until(lambda: notices)
    assert "stopped: the cache of this worker is not the cache of the build (expected" in notices[0]
    assert coordinator.is_alive()
    worker = QueueWorker(site.queue)
    claimed = wait_for_task(worker)
    assert claimed.path.name.startswith("000001-read.1.")
    worker.finish(claimed, Outcome(claimed.task.name, "good"))
    coordinator.join()
    assert [item.worker for item in outcomes] == ["good"]
    queue.close()


def test_task_of_hung_worker_is_taken_again(site: SmallSite) -> None:
    queue = open_queue(site, [])
    outcomes: list[Outcome] = []
    coordinator = threading.Thread(target=lambda: outcomes.extend(queue.map([create_task(site)])))
    coordinator.start()
    hung, other = QueueWorker(site.queue), QueueWorker(site.queue)
    first = wait_for_task(hung)
    assert other.take() is None
    second = wait_for_task(other)
    assert second.path.name.startswith("000001-read.2.")
    assert not first.path.exists()
    other.finish(second, Outcome(second.task.name, "other"))
    hung.finish(first, Outcome(first.task.name, "hung"))  # it wakes up: harmless
    coordinator.join()
    assert len(outcomes) == 1
    queue.close()


def test_hung_workers_end_a_build_with_an_error(site: SmallSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_cluster.folder_queue.MOST_ATTEMPTS", 1)
    queue = open_queue(site, [])
    tasks = queue.map([create_task(site)])
    taker = threading.Thread(target=wait_for_task, args=(QueueWorker(site.queue),))
    taker.start()
    with pytest.raises(AssayError, match="1 workers took the task 000001-read and no longer answer"):
        list(tasks)
    taker.join()
    queue.close()


def test_user_without_workers_gets_a_notice(site: SmallSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_cluster.folder_queue.PATIENCE", 0.2)
    notices: list[str] = []
    queue = open_queue(site, notices)
    canceller = threading.Thread(target=lambda: (wait_until(lambda: notices), queue.cancel()))
    canceller.start()
    with pytest.raises(AssayError, match="the build was cancelled"):
        list(queue.map([create_task(site)]))
    canceller.join()
    assert notices == [f"waiting for workers: run `assay work {site.queue}` on machines that share it"]


def test_worker_without_tasks_gives_one_notice(site: SmallSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_cluster.cluster.PATIENCE", 0.2)
    notices: list[str] = []
    assert work_on_queue(site.queue, site.open_session, idle_seconds=1, notice=notices.append) == 0
    assert notices == [f"waiting for tasks: run `assay build --on folder:{site.queue}`"]


def test_queue_of_dead_coordinator_is_removed(site: SmallSite) -> None:
    dead = open_queue(site, [])
    dead._heartbeat.stop()
    (folder,) = site.queue.glob("build-*")
    os.utime(folder / "coordinator", (0, 0))
    assert QueueWorker(site.queue).take() is None
    open_queue(site, []).close()
    assert not list(site.queue.glob("*build-*"))


@pytest.mark.parametrize(
    "address",
    [
        *("folder", "folder:", "spark://host:1", "/shared/queue", "dask:/x", "dask:host:1", "dask://host"),
        *("dask://host:port", "dask://:1", "ray:host:1", "ray://host"),
    ],
)
def test_invalid_address_is_refused(site: SmallSite, address: str) -> None:
    result = run_assay(*site.list_build_command(on=address), cwd=site.workspace)
    assert result.status == 2
    assert result.err.startswith(f"error[cluster]: invalid address of a cluster: `{address}`")


def test_folder_that_cannot_be_written_is_refused(site: SmallSite) -> None:
    (site.folder / "queue").write_text("a file", encoding="utf-8")
    for command in (site.list_build_command(), ["work", str(site.queue), "--once"]):
        result = run_assay(*command, cwd=site.workspace)
        assert (result.status, result.err.splitlines()[0]) == (
            2,
            f"error[cluster]: the folder of the queue cannot be written: {site.queue}",
        )
