"""Test builds by workers when something fails: the bytes of one machine, or one clear error."""

from __future__ import annotations

import resource
import signal
import subprocess
from pathlib import Path

import pytest

from assay.engine import host_plan, key_plan
from assay_cluster import coordinator
from assay_cluster.sample import choose_sample
from tests.support.clusters import (
    SmallSite,
    copy_small_workspace,
    finish,
    read_tree,
    start_python,
    stop_after,
    wait_until,
)
from tests.support.commands import run_assay
from tests.support.faults import Fault, list_settings
from tests.support.workspaces import write_rows_of_requests


def test_interrupted_build_leaves_no_task(site: SmallSite) -> None:
    build = site.start_build()
    with stop_after([build]):
        wait_until(lambda: any(site.queue.glob("build-*/tasks/*.json")))
        build.send_signal(signal.SIGINT)
        assert build.wait(timeout=20) == 130
    assert not list(site.queue.glob("*build-*"))
    assert not (site.folder / "out").exists()


def test_interrupted_build_stops_the_task_of_a_worker(
    site: SmallSite, expected_files: dict[str, bytes], tmp_path: Path
) -> None:
    """The worker, which would be busy for an hour, works for the next build."""
    fault = Fault("worker", "read", "start", "sleep", str(tmp_path / "flag"))
    command = ("-m", "tests.support.faults", "--cache", str(site.cache), "work", str(site.queue))
    with stop_after([start_python(site.workspace, *command, **list_settings(fault))]):
        build = site.start_build()
        with stop_after([build]):
            wait_until((tmp_path / "flag").exists)
            build.send_signal(signal.SIGINT)
            assert build.wait(timeout=60) == 130
        finish(site.start_build())
    assert read_tree(site.folder / "out") == expected_files


def test_full_disk_of_worker_ends_it_but_not_the_build(site: SmallSite, expected_files: dict[str, bytes]) -> None:
    full, build = start_limited_worker(site), site.start_build()
    with stop_after([build]):
        log = finish(full, status=1)
        assert "error[disk-full]" in log
        with stop_after([site.start_worker()]):
            log = finish(build)
        assert "stopped: the disk of the cache folder is full" in log
    assert read_tree(site.folder / "out") == expected_files


def start_limited_worker(site: SmallSite) -> subprocess.Popen[str]:
    """Start a worker that cannot write more than a few bytes into a file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, before[1]))
    try:
        return site.start_worker()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_disk_that_is_full_everywhere_ends_the_build(site: SmallSite) -> None:
    workers, build = [start_limited_worker(site) for _ in range(3)], site.start_build()
    with stop_after([*workers, build]):
        log = finish(build, status=1)
    assert log.rsplit("error[", 1)[1].startswith("disk-full]")
    assert not (site.folder / "out").exists()


def test_broken_log_ends_the_build_with_its_own_error(site: SmallSite, tmp_path: Path) -> None:
    """The error is that of one machine."""
    run = tmp_path / "broken"
    (run / "web-1").mkdir(parents=True)
    (run / "meta.json").write_bytes((site.workspace / "runs" / "1.0" / "meta.json").read_bytes())
    (run / "web-1" / "log.jsonl.gz").write_bytes(b"\x1f\x8b broken")
    command = ["--cache", str(site.cache), "build", "service/comparison", f"--run=1.0={run}", "--to=md"]
    expected = run_assay(*command, "-o", tmp_path / "single", cwd=site.workspace)
    with stop_after([site.start_worker()]):
        result = run_assay(*command, "-o", tmp_path / "out", "--on", f"folder:{site.queue}", cwd=site.workspace)
    assert expected.status == result.status == 1
    assert result.err == expected.err


def read_difference(tmp_path: Path, partition: str) -> str:
    """Return the error of a build by a worker: rows of a relation depend on how many others a part of the run has."""
    site = SmallSite(copy_small_workspace(tmp_path), tmp_path)
    relating = f"QUALIFY count(*) OVER (PARTITION BY {partition}) > 1"
    sql = f"SELECT host, request FROM request_received GROUP BY host, request {relating}"
    write_rows_of_requests(site.workspace, sql)
    with stop_after([site.start_worker()]):
        result = run_assay(*site.list_build_command(), cwd=site.workspace)
    assert result.status == 70
    assert not (site.folder / "out").exists()
    assert not list((site.cache / "portions").iterdir())
    return result.err


def test_wrong_proof_is_detected_by_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that relates hosts, but is taken for one that does not, ends the build."""
    monkeypatch.setattr(host_plan, "is_partitionable", lambda _query, _key: True)
    assert read_difference(tmp_path, "request").startswith(
        "error[cluster-difference]: run 1.0: `request` of a host differs when other hosts"
    )


def test_wrong_proof_of_a_key_is_detected_by_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_plan, "is_partitionable", lambda _query, _key: False)
    monkeypatch.setattr(key_plan, "is_partitionable", lambda _query, _key: True)
    monkeypatch.setattr(coordinator, "count_partitions", lambda *_: 40)
    assert read_difference(tmp_path, "host").startswith(
        "error[cluster-difference]: run 1.0: `request` of a request differs when other values"
    )


def test_error_of_a_later_stage_is_that_of_one_machine(tmp_path: Path) -> None:
    site = SmallSite(copy_small_workspace(tmp_path), tmp_path)
    relating = "GROUP BY request HAVING CAST('x' || request AS BIGINT) > 1"
    write_rows_of_requests(site.workspace, f"SELECT min(host) AS host, request FROM request_received {relating}")
    runs = [f"--run=runs/{name}" for name in ("1.0", "1.1")]
    single = run_assay(
        "--cache", tmp_path / "single", "build", "service/comparison", *runs, "-o", tmp_path / "o", cwd=site.workspace
    )  # fmt: skip
    with stop_after([site.start_worker()]):
        result = run_assay(*site.list_build_command(), cwd=site.workspace)
    assert (result.status, result.err) == (single.status, single.err)
    assert single.err.startswith("error[sql]")
    assert not list(site.cache.glob("portions/*"))


def test_sample_of_large_run_has_hosts_of_several_portions() -> None:
    sizes = {f"h{number}": 10 for number in range(9)}
    groups = [["h0", "h1", "h2"], ["h3", "h4", "h5"], ["h6", "h7", "h8"]]
    assert choose_sample("seed", sizes, groups, 90) == tuple(sorted(sizes))
    samples = [choose_sample(str(seed), sizes, groups, 89) for seed in range(40)]
    assert all([int(host[1]) // 3 for host in hosts] == [0, 1, 2] for hosts in samples)
    assert len(set(samples)) > 10
    assert {len(choose_sample("seed", sizes, groups, most)) for most in (1, 19, 20, 29)} == {2}
