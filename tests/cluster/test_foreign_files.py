"""Put files into a queue that neither coordinators nor workers have written: they end neither, whatever they are."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.util.diagnostics import AssayError
from assay_cluster.entry_storage import SharedFolder
from assay_cluster.folder_queue import FolderQueue, QueueWorker
from assay_cluster.queue_files import write_file
from assay_cluster.task import READ, Outcome, Task, create_requirements, read_secret
from assay_cluster.worker import run_task, work_on_queue
from tests.support.clusters import SmallSite, finish, stop_after, wait_until

LEASE = 60.0
NAME = "000001-read"

#: what may be in the place of a file
CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "cut": b'{"name": "000001-read", "kind": "re',
    "text": b"#!/bin/bash\n",
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "zeros": bytes(4096),
    "list": b"[1, 2]",
    "number": b"1e999",
    "null": b"null",
    "no members": b"{}",
    "unknown members": b'{"lease": 60, "name": "x", "new": true}',
    "wrong types": b'{"lease": "60", "task": 1, "worker": [], "name": {}, "kind": null, "requirements": []}',
    "half of a pair": b'{"lease": 60, "coordinator": "\\ud800"}',
    "deep": b"[" * 100_000,
    "lease that is no number": b'{"lease": NaN}',
    "lease without end": b'{"lease": Infinity}',
    "negative lease": b'{"lease": -1}',
}
#: others than regular files
OTHERS: dict[str, Callable[[Path], object]] = {
    "folder": Path.mkdir,
    "full folder": lambda path: (path / "x").mkdir(parents=True),
    "FIFO": os.mkfifo,
    "endless device": lambda path: path.symlink_to("/dev/zero"),
    "link to a file": lambda path: path.symlink_to("/etc/passwd"),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
}
KINDS = [*CONTENTS, *OTHERS]
NAMES = (
    "notes.txt", "000001-read.json", "000001-read.x.json", "000001-read.1.json~", "000001-read.99999999999.json", "a b",
    "000001-read..json", "\u0663.\u0663.json", ".json", "..1.json", os.fsdecode(b"\xff.1.json"), "x" * 255,
    "a\nb.1.host.json",
)  # fmt: skip


def put(path: Path, kind: str) -> None:
    """Put a file of a kind at a path, instead of what is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind in CONTENTS:
        path.write_bytes(CONTENTS[kind])
    else:
        OTHERS[kind](path)


def create_task(site: SmallSite, body: dict[str, object] | None = None) -> Task:
    """Return a task as a coordinator creates it."""
    session = site.open_session()
    storage = SharedFolder(session.store)
    required = create_requirements(session, storage, "service", session.load_package("service").sources)
    return Task(NAME, READ, "1.0", 1, 1, required, body or {}).add_seal(read_secret(required, storage) or "")


@pytest.fixture
def task(site: SmallSite) -> Task:
    """Create a task."""
    return create_task(site)


def write_build(queue: Path, name: str, task: Task | None = None) -> Path:
    """Write the folder of a build whose coordinator lives, with a task that waits."""
    build = queue / name
    for folder in ("tasks", "claims", "results", "failures"):
        (build / folder).mkdir(parents=True)
    (build / "build.json").write_text(json.dumps({"lease": LEASE}), encoding="utf-8")
    (build / "coordinator").touch()
    if task:
        write_file(build / "tasks" / f"{NAME}.1.json", json.dumps(task.to_json()).encode())
    return build


def take_good_task(queue: Path, notices: list[str]) -> None:
    """Take the task of a build that is the last one, and look twice at all others."""
    worker = QueueWorker(queue, notices.append)
    claimed = worker.take()
    assert claimed
    assert claimed.build.name == "build-z"
    assert worker.take() is None
    worker.close()


@pytest.mark.parametrize("kind", KINDS)
def test_odd_file_of_any_kind_is_passed_over(site: SmallSite, task: Task, kind: str) -> None:
    """Each odd file is in a build of its own; the good task is taken all the same, and each file is reported once."""
    queue, notices = site.queue, list[str]()
    positions = ("tasks/000001-read.1.json", "claims/000001-read.1.other.json", "build.json", "tasks", "claims")
    for number, position in enumerate(positions):
        build = write_build(queue, f"build-{number}")
        put(build / position, kind)
        if position.startswith("claims/"):  # of a worker that no longer lives
            os.utime(build / position, (0, 0), follow_symlinks=False)
    dead = write_build(queue, "build-dead")
    os.utime(dead / "coordinator", (0, 0))
    put(dead / "build.json", kind)
    put(write_build(queue, "build-x") / "results" / "000001-read.json", kind)
    put(queue / "build-y", kind)
    put(queue / "workers" / "other.json", kind)
    write_build(queue, "build-z", task)
    take_good_task(queue, notices)
    assert len(set(notices)) == len(notices)
    places = ["build-0/tasks", "build-1/claims", "build-2/build.json", "build-dead/build.json"]
    if not (queue / "build-y").is_dir():  # else it may be a build that is about to be removed
        places.append("build-y")
    for place in places:
        assert len([notice for notice in notices if place in notice]) == 1, (place, notices)
    # Who waits for the task that cannot be read learns that it has failed.
    for number in range(2):
        (result,) = (queue / f"build-{number}" / "results").iterdir()
        outcome = Outcome.from_json(json.loads(result.read_bytes()))
        assert (outcome.task, outcome.status, outcome.problems[0].code) == (NAME, 1, "queue-file")


def test_odd_names_are_passed_over(site: SmallSite, task: Task) -> None:
    notices: list[str] = []
    for folder in ("tasks", "claims"):
        build = write_build(site.queue, f"build-{folder}")
        for name in NAMES:
            put(build / folder / name, "text")
            os.utime(build / folder / name, (0, 0))
    write_build(site.queue, "build-z", task)
    take_good_task(site.queue, notices)
    assert len(set(notices)) == len(notices) == 2 * (len(NAMES) - 2)  # two are hidden
    assert all(notice.isprintable() for notice in notices)


class Build:
    """A build in a thread that waits for one task."""

    def __init__(self, site: SmallSite, task: Task) -> None:
        self.notices: list[str] = []
        self.queue = FolderQueue(site.queue, LEASE, self.notices.append)
        self.outcomes: list[Outcome] = []
        self.errors: list[AssayError] = []
        self._thread = threading.Thread(target=self._run, args=(task,))
        self._thread.start()
        wait_until(lambda: list(site.queue.glob("build-*/tasks/*.json")))
        (self.folder,) = site.queue.glob("build-*")

    def _run(self, task: Task) -> None:
        try:
            self.outcomes += self.queue.map([task])
        except AssayError as error:
            self.errors.append(error)

    def end(self) -> None:
        """Wait for the end."""
        self._thread.join()
        self.queue.close()


@pytest.mark.parametrize("kind", KINDS)
def test_coordinator_passes_over_odd_files(site: SmallSite, task: Task, kind: str) -> None:
    build = Build(site, task)
    for folder in ("claims", "failures", "results"):
        for name in ("notes.txt", "000002-read.3.other.json", f"{NAME}.txt", f"{NAME}.x.json"):
            put(build.folder / folder / name, kind)
            os.utime(build.folder / folder / name, (0, 0), follow_symlinks=False)
    put(build.folder / "failures" / f"{NAME}.1.other.json", kind)
    worker = QueueWorker(site.queue)
    claimed = worker.take()
    assert claimed
    wait_until(lambda: any("failures" in notice for notice in build.notices))
    worker.finish(claimed, Outcome(NAME, "good"))
    build.end()
    assert [item.worker for item in build.outcomes] == ["good"]
    assert len(set(build.notices)) == len(build.notices)


@pytest.mark.parametrize("kind", KINDS)
def test_odd_file_of_its_own_task_ends_a_build(site: SmallSite, task: Task, kind: str) -> None:
    """The error is one of data, not a bug, whether the task is damaged or its result."""
    for position in (f"tasks/{NAME}.1.json", f"results/{NAME}.json"):
        build = Build(site, task)
        put(build.folder / position, kind)
        claimed = QueueWorker(site.queue).take()
        assert claimed is None or position.startswith("results")
        build.end()
        if build.outcomes:
            with pytest.raises(AssayError) as caught:
                build.outcomes[0].raise_problems()
            build.errors.append(caught.value)
        ((problem,), status) = build.errors[0].diagnostics, build.errors[0].status
        assert (problem.code, status) == ("queue-file", 1)
        assert position in problem.message or f"claims/{NAME}.1." in problem.message


def test_file_of_another_task_is_no_task(site: SmallSite, task: Task) -> None:
    build = Build(site, task)
    (file,) = (build.folder / "tasks").iterdir()
    file.write_text(json.dumps(replace(task, name="000002-read").to_json()), encoding="utf-8")
    assert QueueWorker(site.queue).take() is None
    build.end()
    assert build.outcomes[0].problems[0].found == "000002-read"


#: how a task names a file that is not of a run: directory, name
POISONS = {
    "device": ("/", "dev/zero"),
    "absolute": ("RUN", "/etc/passwd"),
    "parent": ("RUN", "../../../../../../../../etc/passwd"),
    "link": ("RUN", "web-1/link"),
    "other file of the run": ("RUN", "meta.json"),
    "other folder": ("/etc", "passwd"),
}


@pytest.mark.parametrize("poison", POISONS)
def test_task_names_no_other_file(site: SmallSite, poison: str, tmp_path: Path) -> None:
    """A task is that of a coordinator, but for the file: nobody opens it."""
    run = Path(shutil.copytree(site.workspace / "runs" / "1.0", tmp_path / "run"))
    (run / "web-1" / "link").symlink_to("/dev/zero")
    place, name = POISONS[poison]
    fields = {"request_received": ["request"]}
    body = {"source": "log", "start_ns": None, "address": "", "directory": str(run), "required_fields": fields}
    task = create_task(site, {**body, "hosts": [["web-1", [["web-1/log.jsonl", 1000, ""]]]]})
    directory = place.replace("RUN", str(run))
    poisoned = replace(task, body={**body, "directory": directory, "hosts": [["web-1", [[name, 1000, ""]]]]})
    outcome = run_task(poisoned, site.open_session())
    assert [(item.code, outcome.status, outcome.is_retryable) for item in outcome.problems] == [
        ("queue-file", 1, False)
    ]
    assert [item.code for item in run_task(task, site.open_session()).problems] != ["queue-file"]


@pytest.mark.parametrize("token", ["", "../files.json", "/etc/passwd", "/dev/zero", "0" * 31])
def test_token_names_no_other_file(site: SmallSite, task: Task, token: str) -> None:
    poisoned = replace(task, requirements=replace(task.requirements, token=token)).add_seal("")
    assert [item.code for item in run_task(poisoned, site.open_session()).problems] == ["other-cache"]


def test_poisoned_build_ends_with_an_error_and_its_worker_does_not(site: SmallSite) -> None:
    build = site.start_build()
    with stop_after([build]):
        wait_until(lambda: list(site.queue.glob("build-*/tasks/*.json")))
        file = sorted(site.queue.glob("build-*/tasks/*.json"))[0]
        data = json.loads(file.read_bytes())
        data["body"]["hosts"][0][1][0][0] = "/dev/zero"
        write_file(file, json.dumps(data).encode())
        (site.queue / "build-a").mkdir()
        (site.queue / "build-a" / "build.json").touch()
        notices: list[str] = []
        assert work_on_queue(site.queue, site.open_session, idle_seconds=1, notice=notices.append) >= 1
        assert "error[queue-file]: run 1.0: the coordinator of the build has not written this task" in finish(build, 1)
    assert [notice.rpartition(": ")[0] for notice in notices] == [
        f"passed over in the queue: {site.queue}/build-a/build.json: Invalid JSON",
    ]


def test_worker_outlives_the_folder_of_the_queue(site: SmallSite, task: Task) -> None:
    worker = QueueWorker(site.queue)
    shutil.rmtree(site.queue)
    assert worker.take() is None
    write_build(site.queue, "build-z", task)
    claimed = worker.take()
    assert claimed
    shutil.rmtree(claimed.build)
    worker.finish(claimed, Outcome(NAME, "x"))
    worker.release(claimed)
    shutil.rmtree(site.queue)
    worker.close()


def test_files_are_durable_before_they_are_named(site: SmallSite, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is on the disk when it gets its name, and the name is when others may rely on it."""
    steps: list[tuple[str, str]] = []
    fsync, replace_file = os.fsync, Path.replace

    def note_fsync(descriptor: int) -> None:
        steps.append(("sync", Path(f"/proc/self/fd/{descriptor}").readlink().name))
        fsync(descriptor)

    def note_replace(path: Path, target: Path) -> Path:
        steps.append(("name", f"{path.name} {target.name}"))
        return replace_file(path, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "replace", note_replace)
    build = Build(site, task)
    worker = QueueWorker(site.queue)
    claimed = worker.take()
    assert claimed
    worker.finish(claimed, Outcome(NAME, "good"))
    build.end()
    names = [(index, *name.split()) for index, (kind, name) in enumerate(steps) if kind == "name"]
    assert {target for _, _, target in names} >= {"build.json", f"{NAME}.1.json", f"{NAME}.json"}
    for index, temporary, target in names:
        assert ("sync", temporary) in steps[:index]
        folder = {"build.json": ".new-", f"{NAME}.1.json": "tasks", f"{NAME}.json": "results"}.get(target)
        assert not folder or any(kind == "sync" and name.startswith(folder) for kind, name in steps[index:])
