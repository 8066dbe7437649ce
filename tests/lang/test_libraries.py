"""Test the schema and Prelude of a workspace: `assay init` writes them, upgrades may leave older ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.lang.libraries import LIBRARIES
from assay.lang.workspace import Workspace
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT

WARNING = """\
warning[schema-differs]: the schema in the workspace differs from the schema of this version of Assay
  found:    other contents of specs/schema/metric.dhall
  hint: run `assay init --update-schema DIR` to update the schema of the workspace DIR
"""


@pytest.fixture
def new_workspace(tmp_path: Path, cache: Path) -> Path:
    """Create a workspace with `assay init`."""
    assert run_assay("--cache", cache, "init", "new", cwd=tmp_path).status == 0
    return tmp_path / "new"


def read_libraries(root: Path) -> dict[str, bytes]:
    paths = [path for name in LIBRARIES for path in (root / "specs" / name).rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def test_new_workspace_has_shipped_libraries(new_workspace: Path) -> None:
    assert read_libraries(new_workspace) == read_libraries(ROOT)
    assert Workspace(new_workspace).list_systems() == ("service",)


def test_unchanged_libraries_cause_no_warning(new_workspace: Path, cache: Path) -> None:
    result = run_assay("check", "--cache", cache, cwd=new_workspace)
    assert (result.status, result.err) == (0, "")


def test_absent_libraries_come_from_assay(new_workspace: Path, cache: Path) -> None:
    for name in LIBRARIES:
        shutil.rmtree(new_workspace / "specs" / name)
    result = run_assay("check", "--cache", cache, cwd=new_workspace)
    assert (result.status, result.err) == (0, "")


def test_check_warns_of_differing_schema(new_workspace: Path, cache: Path) -> None:
    schema = new_workspace / "specs" / "schema" / "metric.dhall"
    schema.write_text("-- Of a former version.\n" + schema.read_text(encoding="utf-8"), encoding="utf-8")
    result = run_assay("check", "--cache", cache, cwd=new_workspace)
    lines = result.err.splitlines(keepends=True)
    assert (result.status, "".join(lines[1:])) == (0, WARNING)
    assert lines[0].startswith("service: the normal form in golden/specs is outdated; ")


def test_error_with_differing_schema_has_a_warning(new_workspace: Path, cache: Path) -> None:
    schema = new_workspace / "specs" / "schema" / "metric.dhall"
    schema.write_text(schema.read_text(encoding="utf-8").replace("unit = f.unit", "unit = f.unti"), encoding="utf-8")
    result = run_assay("list", "metrics", "--cache", cache, cwd=new_workspace)
    assert result.status == 1
    assert result.err.startswith("error[dhall-")
    assert result.err.endswith(f"\n\n{WARNING}")


def test_update_writes_shipped_libraries(new_workspace: Path, cache: Path) -> None:
    schema = new_workspace / "specs" / "schema" / "metric.dhall"
    schema.write_text("{=}", encoding="utf-8")
    (new_workspace / "specs" / "Prelude" / "List" / "map.dhall").unlink()
    (new_workspace / "specs" / "schema" / "mine.dhall").write_text("1", encoding="utf-8")
    result = run_assay("--cache", cache, "init", "--update-schema", ".", cwd=new_workspace)
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == ["specs/schema/metric.dhall", "specs/Prelude/List/map.dhall"]
    assert read_libraries(new_workspace) == {**read_libraries(ROOT), "specs/schema/mine.dhall": b"1"}
    assert run_assay("--cache", cache, "init", "--update-schema", ".", cwd=new_workspace).out == ""


def test_update_of_folder_without_specs_is_refused(tmp_path: Path, cache: Path) -> None:
    result = run_assay("--cache", cache, "init", "--update-schema", ".", cwd=tmp_path)
    assert (result.status, result.out) == (2, "")
    assert result.err == "error[no-workspace]: the folder has no specs/: .\n  expected: a workspace\n"
    assert list(tmp_path.iterdir()) == []
