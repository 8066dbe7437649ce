"""Build reports of a small workspace with workers: processes or threads that share a cache and a queue."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import pytest

import assay
from assay.app.session.session import Session, open_session
from assay.engine.result_cache import Store
from tests.support.commands import run_assay
from tests.support.deep import is_deep

COMPILER = Path(assay.__file__).parents[1]
LEASE = 1.0  # seconds, so that tests need not wait long for the task of a killed worker
TIME_TO_LIVE = 3.0  # seconds without a sign of life after which a scheduler of Dask gives up a worker


@dataclass(frozen=True, slots=True)
class SmallSite:
    """A workspace with two runs of some hosts each, and the folders of a cluster."""

    workspace: Path
    folder: Path

    @property
    def cache(self) -> Path:
        """Return the shared cache."""
        return self.folder / "cache"

    @property
    def queue(self) -> Path:
        """Return the folder of the queue."""
        return self.folder / "queue"

    def list_build_command(self, out: str = "out", *options: str, on: str = "") -> list[str]:
        """Return the arguments of a build by the workers of an address, by default those of the queue."""
        runs = [f"--run=runs/{name}" for name in ("1.0", "1.1")]
        return [
            "--cache", str(self.cache), "build", "service/comparison", *runs, "-o", str(self.folder / out),
            "--to=md", "--on", on or f"folder:{self.queue}", *options,
        ]  # fmt: skip

    def start_build(self, *options: str) -> subprocess.Popen[str]:
        """Start a build by workers."""
        return start_assay(self.workspace, *self.list_build_command("out", *options))

    def start_worker(self, *options: str) -> subprocess.Popen[str]:
        """Start a worker."""
        return start_assay(self.workspace, "--cache", str(self.cache), "work", str(self.queue), *options)

    def open_session(self) -> Session:
        """Open a session as a worker does."""
        return open_session(self.workspace, self.cache)


def copy_small_workspace(folder: Path) -> Path:
    """Create a workspace with two runs of six hosts each, and return it."""
    run_assay("init", folder / "shop", cwd=folder)
    workspace = folder / "shop"
    (workspace / "assay.toml").write_text(f"[cluster]\nlease = {LEASE}\n", encoding="utf-8")
    for run in (workspace / "runs").iterdir():
        for number in (3, 4, 5, 6):
            host = run / f"web-{number}"
            host.mkdir()
            lines = (run / f"web-{1 + number % 2}" / "log.jsonl").read_bytes().splitlines(keepends=True)
            (host / "log.jsonl").write_bytes(b"".join(lines[: -10 * number]))
    return workspace


@dataclass(frozen=True, slots=True)
class ObjectSite:
    """A workspace whose runs and cache are on object storage; no two machines share a folder, except for the queue."""

    workspace: Path
    folder: Path
    address: str

    @property
    def cache(self) -> str:
        """Return the address of the cache."""
        return f"{self.address}/cache"

    @property
    def queue(self) -> Path:
        """Return the folder of the queue."""
        return self.folder / "queue"

    def list_build_command(self, out: str = "out", on: str = "", cache: str = "") -> list[str]:
        """Return the arguments of a build; without `on`, by this machine alone."""
        runs = [f"--run={name}={self.address}/runs/{name}" for name in ("1.0", "1.1")]
        build = ["build", "service/comparison", *runs, "-o", str(self.folder / out), "--to=md"]
        return ["--cache", cache or self.cache, *build, *(["--on", on] if on else [])]

    def start_build(self, machine: str = "coordinator", on: str = "") -> subprocess.Popen[str]:
        """Start a build by workers on a machine, which has a folder of its own for copies of the cache."""
        command = self.list_build_command(on=on or f"folder:{self.queue}")
        return start_assay(self.workspace, *command, XDG_CACHE_HOME=str(self.folder / machine))

    def start_worker(self, machine: str, *options: str) -> subprocess.Popen[str]:
        """Start a worker on a machine."""
        command = ("--cache", self.cache, "work", str(self.queue), *options)
        return start_assay(self.workspace, *command, XDG_CACHE_HOME=str(self.folder / machine))

    def open_session(self, machine: str) -> Session:
        """Open a session as a worker on a machine does, in this process."""
        session = open_session(self.workspace, self.cache)
        return replace(session, store=Store(self.folder / machine / "cache"))


def start_assay(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start a command of assay in a folder."""
    return start_python(folder, "-m", "assay", *arguments, **environment)


def start_python(
    folder: Path, *arguments: str, log: IO[str] | None = None, **environment: str
) -> subprocess.Popen[str]:
    """Start Python in a folder. It can import assay, and the helpers of tests.

    Pass a `log` for messages that nobody reads: a process that writes more than a pipe holds would wait for ever.
    """
    paths = [str(COMPILER), str(COMPILER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
        stdout=subprocess.PIPE,
        stderr=log or subprocess.PIPE,
        text=True,
    )


@contextmanager
def run_scheduler(folder: Path) -> Iterator[str]:
    """Run a scheduler of Dask, which soon gives up workers that hang; yield its address."""
    file = folder / "scheduler.json"
    # a scheduler listens on port 8787 even without its dashboard unless another one is set
    ports = ["--port=0", "--dashboard-address=127.0.0.1:0"]
    command = ["-m", "distributed.cli.dask_scheduler", "--host=127.0.0.1", *ports, "--no-dashboard", "--no-jupyter"]
    time_to_live = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": f"{TIME_TO_LIVE} s"}
    with (
        (folder / "scheduler.log").open("w", encoding="utf-8") as log,
        stop_after([start_python(folder, *command, f"--scheduler-file={file}", log=log, **time_to_live)]),
    ):
        wait_until(lambda: file.exists() and file.read_text(encoding="utf-8").endswith("}"))
        yield str(json.loads(file.read_text(encoding="utf-8"))["address"])


def start_dask_worker(folder: Path, scheduler: str, *options: str, **environment: str) -> subprocess.Popen[str]:
    """Start a worker of a scheduler, which nobody starts again."""
    command = ["-m", "distributed.cli.dask_worker", scheduler, "--no-nanny", "--nthreads=1", "--no-dashboard"]
    places = ["--host=127.0.0.1", f"--local-directory={folder / 'dask'}"]
    return start_python(folder, *command, *places, *options, **environment)


#: starts a cluster of Ray on loopback, prints its address, and ends it with its input
RAY_CLUSTER = """
import sys, ray
ray.init(num_cpus=2, _node_ip_address="127.0.0.1", include_dashboard=False, log_to_driver=False,
         object_store_memory=100 << 20)
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
"""


def has_ray() -> bool:
    """Return whether tests use Ray, which starts slowly: in a deep run, where it is installed."""
    return is_deep() and importlib.util.find_spec("ray") is not None


@contextmanager
def run_ray(folder: Path, **environment: str) -> Iterator[str]:
    """Run a cluster of Ray with two workers; yield its address. Commands that build on it need its token."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        paths = [environment.get("PYTHONPATH"), str(COMPILER), str(COMPILER.parent), os.environ.get("PYTHONPATH")]
        with subprocess.Popen(
            [sys.executable, "-c", RAY_CLUSTER],
            env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
        ) as cluster:
            assert cluster.stdout
            assert cluster.stdin
            address = next(line for line in cluster.stdout if line[:1].isdigit()).strip()
            yield f"ray://{address}"
            cluster.stdin.close()


@contextmanager
def stop_after(processes: Sequence[subprocess.Popen[str]]) -> Iterator[None]:
    """Kill processes after the block."""
    try:
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()


def finish(process: subprocess.Popen[str], status: int = 0) -> str:
    """Wait until a command ends, with an exit status; return what it wrote to stderr."""
    with stop_after([process]):
        _, log = process.communicate(timeout=180)
    assert process.returncode == status, log
    return log


def wait_until(is_true: Callable[[], object], seconds: float = 60) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.02)


def read_tree(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by their relative paths."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
