"""Test a build by workers of Ray, which starts slowly: only `--deep` runs it, where Ray is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clusters import SmallSite, finish, has_ray, read_tree, run_ray, start_assay

pytestmark = pytest.mark.skipif(not has_ray(), reason="slow, and needs the package `ray`")


def test_ray_builds_the_bytes_of_one_machine(site: SmallSite, expected_files: dict[str, bytes], tmp_path: Path) -> None:
    with run_ray(tmp_path) as address:
        finish(start_assay(site.workspace, *site.list_build_command(on=address)))
    assert read_tree(site.folder / "out") == expected_files
