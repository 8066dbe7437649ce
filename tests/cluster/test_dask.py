"""Test builds by workers of Dask on this machine."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.app.session.cluster_settings import ClusterSettings
from assay.util.diagnostics import AssayError
from assay.util.progress import ignore
from assay_cluster.cluster import open_cluster
from assay_cluster.task import READ, Requirements, Task
from tests.support.clusters import COMPILER, SmallSite, finish, read_tree, run_scheduler, start_assay, wait_until
from tests.support.commands import run_assay

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[Any]:
    """A scheduler with two workers, which are processes."""
    paths = [str(COMPILER), *filter(None, [os.environ.get("PYTHONPATH")])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        with distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            host="127.0.0.1",
            # without it the scheduler takes port 8787, which another test's scheduler may have
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        ) as cluster:
            yield cluster


def get_address(cluster: Any) -> str:
    """Return the address of a scheduler as `--on` takes it."""
    return str(cluster.scheduler_address).replace("tcp://", "dask://")


def list_tasks(client: Any) -> list[str]:
    """Return the names of the tasks of a scheduler."""
    return [str(name) for name in client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))]


def test_dask_builds_the_bytes_of_one_machine(
    site: SmallSite, dask_cluster: Any, expected_files: dict[str, bytes]
) -> None:
    result = run_assay(*site.list_build_command(on=get_address(dask_cluster)), cwd=site.workspace)
    assert result.status == 0, result.err
    assert read_tree(site.folder / "out") == expected_files


def test_killed_dask_worker_is_replaced(site: SmallSite, dask_cluster: Any, expected_files: dict[str, bytes]) -> None:
    build = start_assay(site.workspace, *site.list_build_command(on=get_address(dask_cluster)))
    wait_until(lambda: (site.cache / "batches").exists())
    os.kill(next(iter(dask_cluster.workers.values())).pid, signal.SIGKILL)
    finish(build)
    assert read_tree(site.folder / "out") == expected_files


def test_interrupted_build_cancels_tasks_of_dask(site: SmallSite, dask_cluster: Any) -> None:
    with distributed.Client(dask_cluster, set_as_default=False) as client:
        blockers = client.map(time.sleep, [3.0, 3.0], pure=False)
        build = start_assay(site.workspace, *site.list_build_command(on=get_address(dask_cluster)))
        wait_until(lambda: any("assay-" in name for name in list_tasks(client)))
        build.send_signal(signal.SIGINT)
        finish(build, status=130)
        wait_until(lambda: not any("assay-" in name for name in list_tasks(client)))
        del blockers


def test_scheduler_with_tls_answers() -> None:
    security = distributed.Security.temporary()
    settings = {"ca-file": security.tls_ca_file}
    settings |= {"client.key": security.tls_client_key, "client.cert": security.tls_client_cert}
    options = {"host": "127.0.0.1", "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"}}
    with (
        distributed.LocalCluster(n_workers=0, protocol="tls", security=security, **options) as cluster,
        dask.config.set({f"distributed.comm.tls.{name}": value for name, value in settings.items()}),
        dask.config.set({"distributed.comm.default-scheme": "tls"}),
    ):
        address = str(cluster.scheduler_address)
        assert address.startswith("tls://")
        open_cluster(ClusterSettings(address.replace("tls:", "dask:")), ignore).close()


def test_user_of_dask_without_workers_gets_a_notice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("assay_cluster.cluster.PATIENCE", 0.2)
    notices: list[str] = []
    with run_scheduler(tmp_path) as scheduler:
        address = scheduler.removeprefix("tcp://")
        cluster = open_cluster(ClusterSettings(f"dask://{address}"), notices.append)
        canceller = threading.Thread(target=lambda: (wait_until(lambda: notices), cluster.cancel()))
        canceller.start()
        with pytest.raises(AssayError, match="the build was cancelled"):
            list(cluster.map([Task("1", READ, "a", 1, 1, Requirements({}, "", "", "", "", "", ""), {})]))
        canceller.join()
        cluster.close()
    assert notices == [f"waiting for workers: run `dask worker {address}` on machines that share the cache"]


def test_scheduler_that_does_not_answer_is_an_error(site: SmallSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_cluster.dask_cluster.TIMEOUT", 1)
    result = run_assay(*site.list_build_command(on="dask://127.0.0.1:1"), cwd=site.workspace)
    assert result.status == 2
    assert "error[cluster]: no scheduler of Dask answers at 127.0.0.1:1" in result.err
