"""Test builds by two workers in which a machine fails: each failure, in each stage, ends with one machine's bytes.

The cases are rows of `faults.csv`.
"""

from __future__ import annotations

import csv
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.engine import portion_plan
from assay.util.checksums import is_sealed
from assay_cluster import coordinator
from assay_cluster.cluster import Cluster, open_cluster
from assay_cluster.task import Outcome, Task
from tests.compare_reference import CARDANO
from tests.support import faults
from tests.support.clusters import (
    finish,
    has_ray,
    read_tree,
    run_ray,
    run_scheduler,
    start_dask_worker,
    start_python,
    stop_after,
    wait_until,
)
from tests.support.commands import run_assay
from tests.support.faults import Fault

distributed = pytest.importorskip("distributed")

ROOT = CARDANO.parent.parent
REPORT = ("build", "cardano/comparison", "--run", str(CARDANO / "many-hosts" / "run"), "--to=md")
ROWS = [*csv.reader((Path(__file__).parent / "faults.csv").read_text(encoding="utf-8").splitlines())][1:]
ENGINES = ("folder", "dask", *(["ray"] if has_ray() else []))
#: what the workers of Ray import when they start
SITE = "import os\nif os.environ.get({variable!r}):\n    import tests.support.faults\n"
LEASE = 3.0  # seconds; a busy machine may not renew a shorter one in time


@pytest.fixture(scope="module")
def expected_report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the report as one machine builds it."""
    folder = tmp_path_factory.mktemp("single")
    assert run_assay("--cache", folder / "cache", *REPORT, "-o", folder / "out", cwd=ROOT).status == 0
    return read_tree(folder / "out")


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler of Dask without workers."""
    with run_scheduler(tmp_path_factory.mktemp("dask")) as address:
        yield address


@contextmanager
def run_workers(engine: str, folder: Path, scheduler: str, fault: Fault | None) -> Iterator[str]:
    """Run two workers, one of which may fail; yield the address of the cluster."""
    environment = faults.list_settings(fault)
    if engine == "folder":
        command = ["-m", "tests.support.faults", "--cache", str(folder / "cache"), "work", str(folder / "queue")]
        with stop_after([start_python(folder, *command, **environment) for _ in range(2)]):
            yield f"folder:{folder / 'queue'}"
        return
    if engine == "ray":
        (folder / "sitecustomize.py").write_text(SITE.format(variable=faults.VARIABLE), encoding="utf-8")
        with run_ray(folder, PYTHONPATH=str(folder), **environment) as address:
            yield address
        return
    options = ["--preload=tests.support.faults"]
    with (
        stop_after([start_dask_worker(folder, scheduler, *options, **environment) for _ in range(2)]),
        distributed.Client(scheduler, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield scheduler.replace("tcp://", "dask://")
        client.retire_workers(close_workers=True)


def list_build_command(folder: Path, on: str) -> list[str]:
    """Return the arguments of a build."""
    return ["--cache", str(folder / "cache"), *REPORT, "-o", str(folder / "out"), "--on", on]


def start_coordinator(folder: Path, on: str, fault: Fault | None) -> subprocess.Popen[str]:
    """Start a build, which may fail."""
    command = list_build_command(folder, on)
    return start_python(folder, "-m", "tests.support.faults", *command, **faults.list_settings(fault))


def list_unsealed_entries(cache: Path) -> list[Path]:
    """Return the entries of a cache that are not complete."""
    folders = [*cache.glob("batches/*/*"), *cache.glob("tables/*"), *cache.glob("portions/*")]
    return [folder for folder in folders if not is_sealed(folder)]


def end_process(flag: Path) -> None:
    """Kill the process that a fault lets hang."""
    wait_until(lambda: flag.exists() and flag.read_text())
    os.kill(int(flag.read_text()), signal.SIGKILL)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", ROWS, ids="-".join)
def test_build_survives_a_failure(
    engine: str, row: Sequence[str], scheduler: str, expected_report: dict[str, bytes], tmp_path: Path
) -> None:
    fault = Fault(*row, flag=str(tmp_path / "flag"))
    is_worker = fault.victim == "worker"
    (tmp_path / "assay.toml").write_text(f"[cluster]\nlease = {LEASE}\n", encoding="utf-8")
    with run_workers(engine, tmp_path, scheduler, fault if is_worker else None) as on:
        build = start_coordinator(tmp_path, on, None if is_worker else fault)
        if not is_worker:
            finish(build, status=-signal.SIGKILL)
            assert not [path for path in (tmp_path / "out").glob("*") if not path.name.startswith(".")]
            build = start_coordinator(tmp_path, on, None)
        if engine == "ray" and fault.action == "hang":  # Ray replaces no process that hangs: the user ends it
            end_process(tmp_path / "flag")
        if engine == "ray" and fault.action == "disk-full":  # Ray repeats the task on the machine whose disk is full
            assert finish(build, status=1).count("error[") == 1
            assert not (tmp_path / "out").exists()
            return
        finish(build)
    assert (tmp_path / "flag").exists()
    assert read_tree(tmp_path / "out") == expected_report
    assert not list_unsealed_entries(tmp_path / "cache")
    # A second coordinator may need other portions than the first, whose complete ones `assay cache prune` removes.
    assert not is_worker or not list((tmp_path / "cache" / "portions").iterdir())


class RepeatingCluster:
    """A cluster that runs each task twice, at the same time."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.close, self.cancel = cluster.close, cluster.cancel
        self.repeated = 0

    def map(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Yield one of the two outcomes of each task."""
        first, second = ([replace(task, name=f"{task.name}-{n}") for task in tasks] for n in "12")
        for outcome in self._cluster.map([task for pair in zip(first, second, strict=True) for task in pair]):
            outcome.raise_problems()
            if outcome.task.endswith("-1"):
                yield replace(outcome, task=outcome.task.removesuffix("-1"))
            else:
                self.repeated += 1


@pytest.mark.parametrize("engine", ENGINES)
def test_task_that_runs_twice_changes_nothing(
    engine: str, scheduler: str, expected_report: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portion_plan, "KEY_ROWS", faults.KEY_ROWS)
    clusters: list[RepeatingCluster] = []

    def open_repeating(*arguments: Any) -> RepeatingCluster:
        clusters.append(RepeatingCluster(open_cluster(*arguments)))
        return clusters[0]

    monkeypatch.setattr(coordinator, "open_cluster", open_repeating)
    with run_workers(engine, tmp_path, scheduler, None) as on:
        result = run_assay(*list_build_command(tmp_path, on), cwd=tmp_path)
    assert result.status == 0, result.err
    assert clusters[0].repeated > 60
    assert read_tree(tmp_path / "out") == expected_report
    assert not list_unsealed_entries(tmp_path / "cache")
