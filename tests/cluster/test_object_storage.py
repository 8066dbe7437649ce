"""Test builds by workers whose cache and runs are on object storage: a real S3 server on loopback."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from assay.app.session.session import open_session
from assay.engine.result_cache import Store
from assay.ingest import chunks
from assay.ingest.absent_files import AbsentFileError, create_placeholder, is_absent
from assay.ingest.file_snapshots import create_hashed_snapshot, read_stamp
from assay.util.diagnostics import AssayError
from assay_cluster import entry_storage
from assay_cluster.entry_storage import ObjectStorage
from assay_cluster.task import READ, Task, create_requirements
from assay_cluster.worker import run_task, work_on_queue
from tests.support.clusters import (
    ObjectSite,
    finish,
    read_tree,
    run_scheduler,
    start_dask_worker,
    stop_after,
    wait_until,
)
from tests.support.commands import run_assay
from tests.support.storage import S3Server, list_settings, open_busy_gateway, run_s3_server

BUCKET = "bench"
HOSTS = ("web-1", "web-2", "web-3")


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with run_s3_server(tmp_path_factory.mktemp("s3")) as server:
        server.client.create_bucket(Bucket=BUCKET)
        yield server


@pytest.fixture
def objects(s3: S3Server, small_workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectSite:
    """Runs of three hosts in a bucket, at an address of this test."""
    name = hashlib.sha256(str(tmp_path).encode()).hexdigest()[:12]
    for run in sorted((small_workspace / "runs").iterdir()):
        s3.client.put_object(
            Bucket=BUCKET, Key=f"{name}/runs/{run.name}/meta.json", Body=(run / "meta.json").read_bytes()
        )
        for host in HOSTS:
            s3.put(run / host, BUCKET, f"{name}/runs/{run.name}/{host}")
    for item in list_settings(s3.url, tmp_path).items():
        monkeypatch.setenv(*item)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "coordinator"))
    return ObjectSite(small_workspace, tmp_path, f"s3://{BUCKET}/{name}")


@contextmanager
def run_workers(site: ObjectSite, count: int = 2) -> Iterator[list[str]]:
    """Run workers in threads, each with a folder of its own; yield the errors with which they end."""
    stopped, errors = threading.Event(), list[str]()

    def work(machine: str) -> None:
        while not stopped.is_set():
            try:
                work_on_queue(site.queue, lambda: site.open_session(machine), idle_seconds=0.2)
            except AssayError as error:
                errors.append(str(error))
                return

    threads = [threading.Thread(target=work, args=(f"worker-{number}",)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield errors
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def build_single(site: ObjectSite) -> dict[str, bytes]:
    """Build the report on one machine, and return its files."""
    cache = str(site.folder / "single")
    result = run_assay(*site.list_build_command("expected", cache=cache), cwd=site.workspace)
    assert result.status == 0, result.err
    return read_tree(site.folder / "expected")


def build_on_threads(site: ObjectSite) -> dict[str, bytes]:
    """Build the report with two workers in threads, and return its files."""
    with run_workers(site):
        result = run_assay(*site.list_build_command(on=f"folder:{site.queue}"), cwd=site.workspace)
    assert result.status == 0, result.err
    return read_tree(site.folder / "out")


def list_read_logs(s3: S3Server, site: ObjectSite) -> list[str]:
    """Return the logs of the site that were read so far."""
    prefix = site.address.removeprefix("s3://")
    return sorted(
        name.removeprefix(f"{prefix}/runs/")
        for name in s3.list_read_objects()
        if name.startswith(f"{prefix}/runs/") and name.endswith(".jsonl")
    )


def list_logs(site: ObjectSite) -> list[str]:
    runs = site.workspace / "runs"
    return sorted(f"{run.name}/{host}/log.jsonl" for run in runs.iterdir() for host in HOSTS)


def test_machines_share_nothing_but_objects(s3: S3Server, objects: ObjectSite) -> None:
    """Each log is read once, by a worker; only the coordinator lists objects, once for each run."""
    listings = s3.count_listings()
    files = build_on_threads(objects)
    assert list_read_logs(s3, objects) == list_logs(objects)
    assert s3.count_listings() == listings + 2
    assert files == build_single(objects)
    copies = list((objects.folder / "coordinator").rglob("log.jsonl"))
    assert len(copies) == 6
    assert all(is_absent(path) for path in copies)
    prefix = objects.cache.removeprefix(f"s3://{BUCKET}/")
    kinds = {name.removeprefix(f"{prefix}/").partition("/")[0] for name in s3.list_objects(BUCKET, prefix)}
    assert kinds == {"batches", "facts", "listings", "readings"}


def test_new_coordinator_reads_no_log_again(s3: S3Server, objects: ObjectSite) -> None:
    """A coordinator on another machine has an empty folder, but the batches are there."""
    files = build_on_threads(objects)
    for machine in ("coordinator", "worker-0", "worker-1"):
        shutil.rmtree(objects.folder / machine)
    assert build_on_threads(objects) == files
    assert list_read_logs(s3, objects) == list_logs(objects)


def test_changed_object_is_read_again(s3: S3Server, objects: ObjectSite) -> None:
    build_on_threads(objects)
    key = f"{objects.address.removeprefix(f's3://{BUCKET}/')}/runs/1.0/web-3/log.jsonl"
    content = s3.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    s3.client.put_object(Bucket=BUCKET, Key=key, Body=b"".join(content.splitlines(keepends=True)[:-20]))
    before = list_read_logs(s3, objects)
    files = build_on_threads(objects)
    assert "1.0/web-3/log.jsonl" in list_read_logs(s3, objects)
    assert files == build_single(objects)
    assert len(before) == 7  # of which one is the test's


def test_log_with_malformed_lines_is_fetched(s3: S3Server, objects: ObjectSite) -> None:
    """The report quotes such lines, so the coordinator needs the log. It fetches no other one."""
    key = f"{objects.address.removeprefix(f's3://{BUCKET}/')}/runs/1.0/web-3/log.jsonl"
    content = s3.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    s3.client.put_object(Bucket=BUCKET, Key=key, Body=content + b'{"ts": broken\n')
    files = build_on_threads(objects)
    logs = list_read_logs(s3, objects)
    assert [name for name in dict.fromkeys(logs) if logs.count(name) > 1] == ["1.0/web-3/log.jsonl"]
    assert files == build_single(objects)


def test_chunks_of_large_logs_are_not_read_here(
    s3: S3Server, objects: ObjectSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The coordinator takes the ends of lines from the batches."""
    monkeypatch.setattr(chunks, "PIECE", 3000)
    files = build_on_threads(objects)
    assert list_read_logs(s3, objects) == list_logs(objects)
    assert files == build_single(objects)


def test_command_without_workers_fetches_the_logs(s3: S3Server, objects: ObjectSite) -> None:
    """A placeholder is never taken for a log."""
    files = build_on_threads(objects)
    result = run_assay(*objects.list_build_command("again"), cwd=objects.workspace)
    assert result.status == 0, result.err
    assert read_tree(objects.folder / "again") == files
    assert list_read_logs(s3, objects) == sorted([*list_logs(objects), *list_logs(objects)])


def test_placeholder_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    create_placeholder(path, 1000)
    assert path.stat().st_size == 1000
    with pytest.raises(AbsentFileError, match="the log is not on this machine"):
        create_hashed_snapshot(path, read_stamp(path))


def test_processes_build_the_bytes_of_one_machine(objects: ObjectSite) -> None:
    workers = [objects.start_worker(f"machine-{number}") for number in range(2)]
    with stop_after(workers):
        wait_until(lambda: len(list((objects.queue / "workers").glob("*"))) == 2)
        finish(objects.start_build())
    assert read_tree(objects.folder / "out") == build_single(objects)
    assert not list((objects.folder / "coordinator").rglob("scratch"))


# Failures


def test_busy_server_is_asked_again(s3: S3Server, objects: ObjectSite, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = build_single(objects)
    with open_busy_gateway(s3) as gateway:
        monkeypatch.setenv("AWS_ENDPOINT_URL", gateway.url)
        gateway.is_busy = lambda number: number % 4 == 0
        assert build_on_threads(objects) == expected
        assert gateway.refusals > 10


def test_server_that_stays_busy_ends_the_build(
    s3: S3Server, objects: ObjectSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_storage, "FIRST_WAIT", 0.01)
    with open_busy_gateway(s3) as gateway:
        monkeypatch.setenv("AWS_ENDPOINT_URL", gateway.url)
        gateway.is_busy = lambda number: number > 40
        with run_workers(objects, 3):
            result = run_assay(*objects.list_build_command(on=f"folder:{objects.queue}"), cwd=objects.workspace)
    assert result.status == 1
    assert result.err.count("error[") == 1
    error = result.err[result.err.index("error[") :]
    assert error.startswith("error[no-server]: the ")
    # An answer to HEAD has no body, and so only the name of its status.
    assert "Please reduce your request rate." in error or "Service Unavailable" in error
    assert not (objects.folder / "out").exists()


def test_dask_shares_nothing_but_objects(
    s3: S3Server, objects: ObjectSite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Workers have folders of their own, and the server is busy at times."""
    expected = build_single(objects)
    with open_busy_gateway(s3) as gateway, run_scheduler(tmp_path) as scheduler, ExitStack() as stack:
        monkeypatch.setenv("AWS_ENDPOINT_URL", gateway.url)
        gateway.is_busy = lambda number: number % 7 == 0
        machines = [tmp_path / f"machine-{number}" for number in range(2)]
        for machine in machines:
            machine.mkdir()
            worker = start_dask_worker(machine, scheduler, XDG_CACHE_HOME=str(machine / "cache"))
            stack.enter_context(stop_after([worker]))
        finish(objects.start_build(on=scheduler.replace("tcp://", "dask://")))
    assert read_tree(objects.folder / "out") == expected
    assert gateway.refusals > 5
    assert any((machine / "cache").exists() for machine in machines)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for 32 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "none", place], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"no file system can be mounted here: {mount.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_worker_with_a_full_disk_ends(objects: ObjectSite, small_disk: Path) -> None:
    full = objects.start_worker("small")
    build = objects.start_build()
    with stop_after([full, build]):
        log = finish(full, status=1)
        assert "error[disk-full]: the disk of the cache has no room for" in log
        with run_workers(objects, 1):
            log = finish(build)
    assert "stopped: the disk of the cache has no room for" in log
    assert small_disk.exists()
    assert read_tree(objects.folder / "out") == build_single(objects)


@pytest.fixture
def storage(objects: ObjectSite) -> ObjectStorage:
    return ObjectStorage(objects.cache)


def fill(store: Store, key: str = "k" * 16) -> tuple[str, str]:
    """Put an entry into a cache folder."""
    with store.fill_entry("batches/x", key, ends=True) as folder:
        (folder / "a.parquet").write_bytes(b"a" * 300_000)
        (folder / "sub").mkdir()
        (folder / "sub" / "b.json").write_text("{}", encoding="utf-8")
    return "batches/x", key


def test_entry_is_one_object(s3: S3Server, objects: ObjectSite, storage: ObjectStorage, tmp_path: Path) -> None:
    one, other = Store(tmp_path / "one"), Store(tmp_path / "other")
    entry = fill(one)
    assert not storage.has(entry)
    storage.push(one, [entry, entry])
    ObjectStorage(objects.cache).pull(other, [entry])
    assert other.has(*entry)
    assert read_tree(other.get_path(*entry)) == read_tree(one.get_path(*entry))
    times = [(store.get_path(*entry) / "a.parquet").stat().st_mtime_ns for store in (one, other)]
    assert times[0] == times[1]  # so that later only its ends are checked
    prefix = objects.cache.removeprefix(f"s3://{BUCKET}/")
    assert s3.list_objects(BUCKET, prefix) == [f"{prefix}/batches/x/{entry[1]}.tar"]
    storage.remove([entry])
    assert not ObjectStorage(objects.cache).has(entry)


def cut_off(content: bytes) -> bytes:
    return content[:-200_000]


def change_byte(content: bytes) -> bytes:
    return content.replace(b"aaaa", b"aaba", 1)


def add_outside(content: bytes) -> bytes:
    """Return the tar with a member that would be written elsewhere."""
    buffer = io.BytesIO(content)
    with tarfile.open(fileobj=buffer, mode="a") as tar:
        tar.addfile(tarfile.TarInfo("../outside"), io.BytesIO())
    return buffer.getvalue()


@pytest.mark.parametrize("damage", [cut_off, change_byte, add_outside, lambda _: b"", lambda _: b"<html>"])
def test_damaged_object_counts_as_missing(
    s3: S3Server, objects: ObjectSite, storage: ObjectStorage, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    store, other = Store(tmp_path / "one"), Store(tmp_path / "other")
    entry = fill(store)
    storage.push(store, [entry])
    key = f"{objects.cache.removeprefix(f's3://{BUCKET}/')}/batches/x/{entry[1]}.tar"
    content = s3.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    s3.client.put_object(Bucket=BUCKET, Key=key, Body=damage(content))
    for problem in ("is damaged", "is missing"):
        with pytest.raises(AssayError, match=f"an entry of the cache {problem}: {objects.cache}/batches/x/k"):
            ObjectStorage(objects.cache).pull(other, [entry])
    assert not other.get_path(*entry).exists()
    assert not (tmp_path / "other" / "outside").exists()


def test_text_of_another_name_counts_as_missing(s3: S3Server, objects: ObjectSite, storage: ObjectStorage) -> None:
    storage.put_text(("listings", "one"), "text")
    assert storage.read_text(("listings", "one")) == "text"
    prefix = objects.cache.removeprefix(f"s3://{BUCKET}/")
    s3.client.copy_object(Bucket=BUCKET, Key=f"{prefix}/listings/two", CopySource=f"{BUCKET}/{prefix}/listings/one")
    assert storage.read_text(("listings", "two")) is None
    assert storage.read_text(("listings", "three")) is None


@pytest.mark.parametrize("code", ["write", "read"])
def test_request_is_repeated_so_many_times(
    s3: S3Server, objects: ObjectSite, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setattr(entry_storage, "FIRST_WAIT", 0.001)
    with open_busy_gateway(s3) as gateway:
        monkeypatch.setenv("AWS_ENDPOINT_URL", gateway.url)
        storage = ObjectStorage(objects.cache)
        gateway.is_busy = lambda number: number != entry_storage.ATTEMPTS
        request = (lambda: storage.put_text(("x", "y"), "z")) if code == "write" else lambda: storage.has(("x", "y"))
        request()
        assert (gateway.requests, gateway.refusals) == (6, 5)
        gateway.is_busy = lambda _: True
        with pytest.raises(AssayError, match="the object storage does not answer"):
            request()
        assert gateway.requests == 12


def test_worker_with_another_cache_refuses(objects: ObjectSite, storage: ObjectStorage, tmp_path: Path) -> None:
    session = objects.open_session("coordinator")
    requirements = create_requirements(session, storage, "service", session.load_package("service").sources)
    task = Task("000001-read", READ, "1.0", 1, 1, requirements, {})
    outcomes = [
        run_task(task, open_session(objects.workspace, cache)) for cache in (tmp_path / "own", f"{objects.cache}-other")
    ]
    assert [[item.code for item in outcome.problems] for outcome in outcomes] == [["other-cache"], ["other-cache"]]
    assert {outcome.problems[0].hint for outcome in outcomes} == {f"pass --cache {objects.cache} to the worker"}


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://host/cache", "error[cache-address]: unknown scheme `ftp://` of a cache"),
        ("s3://", "error[cache-address]: the address of a cache names no bucket"),
        ("s3://no-such-bucket/cache", "error[cache]: there is no such bucket: s3://no-such-bucket/cache"),
    ],
)
def test_unusable_address_is_refused(objects: ObjectSite, address: str, message: str) -> None:
    command = objects.list_build_command(on=f"folder:{objects.queue}", cache=address)
    result = run_assay(*command, cwd=objects.workspace)
    assert result.status == 2
    assert result.err.startswith(message)
    assert not (objects.folder / "out").exists()
