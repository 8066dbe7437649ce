"""Test a build by workers of Ray, which starts slowly: only `--deep` runs it, where Ray is installed."""

from __future__ import annotations

import importlib.util
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.clusters import COMPILER, SmallSite, finish, read_tree, start_assay
from tests.support.deep import is_deep

pytestmark = pytest.mark.skipif(
    not is_deep() or importlib.util.find_spec("ray") is None, reason="slow, and needs the package `ray`"
)
#: starts a cluster on loopback, prints its address, and ends it with its input
CLUSTER = """
import sys, ray
ray.init(num_cpus=2, _node_ip_address="127.0.0.1", include_dashboard=False, log_to_driver=False,
         object_store_memory=100 << 20)
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
"""


def test_ray_builds_the_bytes_of_one_machine(
    site: SmallSite, expected_files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(COMPILER), *filter(None, [os.environ.get("PYTHONPATH")])]))
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
    ) as cluster:
        assert cluster.stdout
        assert cluster.stdin
        address = next(line for line in cluster.stdout if line[:1].isdigit()).strip()
        finish(start_assay(site.workspace, *site.list_build_command(on=f"ray://{address}")))
        cluster.stdin.close()
    assert read_tree(site.folder / "out") == expected_files
