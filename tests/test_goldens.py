"""What is committed under golden/specs and golden/sql is what the specs give now."""

from __future__ import annotations

import difflib
import functools
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.build.inspect import report_sql
from assay.spec import normal_form, workspace
from assay.spec.normal_form import Checked
from assay.spec.workspace import Workspace
from tests.support.laboratory import ROOT

pytestmark = pytest.mark.golden

HERE = Workspace(ROOT)
SYSTEMS = HERE.systems()
HINT = "`just accept` takes what is produced now for golden"

#: prints the hash of a system's package as the Dhall sources give it
HASHED = """
import hashlib, json, sys
from pathlib import Path
from assay.spec import normal_form, workspace
here = workspace.Workspace(Path(sys.argv[1]))
checked = workspace.evaluate(here, sys.argv[2], workspace.scan(here, sys.argv[2]))
print(hashlib.sha256(json.dumps(normal_form.content(checked)).encode()).hexdigest())
"""


@functools.cache
def evaluated(system: str) -> Checked:
    """A system's package out of its Dhall sources, whatever is committed or cached."""
    return workspace.evaluate(HERE, system, workspace.scan(HERE, system))


def difference(committed: Mapping[str, str], produced: Mapping[str, str]) -> str:
    """Where two sets of texts differ, as a unified diff; "" where they do not."""
    found: list[str] = []
    for name in sorted({*committed, *produced}):
        old, new = committed.get(name, "").splitlines(True), produced.get(name, "").splitlines(True)
        if (name in committed) != (name in produced) or old != new:
            found += difflib.unified_diff(old, new, f"golden/{name}", f"produced/{name}") if old != new else [name]
    return "".join(found)


def texts(folder: Path) -> dict[str, str]:
    """Every file of a folder, by its path in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_committed_normal_form_is_that_of_the_dhall_sources(system: str) -> None:
    name = f"specs/{system}.yaml"
    committed = HERE.normal_form(system).read_text(encoding="utf-8")
    changed = difference({name: committed}, {name: normal_form.dump(evaluated(system))})
    assert not changed, f"{HINT}\n{changed}"


@pytest.mark.parametrize("system", SYSTEMS)
def test_reading_the_committed_normal_form_gives_what_evaluation_gives(system: str) -> None:
    place = HERE.normal_form(system)
    loaded = normal_form.load(place.read_text(encoding="utf-8"), str(place))
    assert normal_form.content(loaded) == normal_form.content(evaluated(system))


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_committed_sql_is_just_what_the_reports_compile_to(system: str) -> None:
    checked = evaluated(system)
    produced = {
        f"sql/{system}/{report.name}/{name}": text
        for report in checked.package.reports
        for name, text in report_sql(checked, report).items()
    }
    held = texts(ROOT / "golden" / "sql" / system)
    changed = difference({f"sql/{system}/{name}": text for name, text in held.items()}, produced)
    assert not changed, f"{HINT}\n{changed}"


def test_golden_files_are_of_systems_that_exist() -> None:
    assert {path.name for path in (ROOT / "golden" / "sql").iterdir()} == set(SYSTEMS)
    assert {path.name for path in (ROOT / "golden" / "specs").iterdir()} == {f"{name}.yaml" for name in SYSTEMS}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_package_is_the_same_in_every_process(system: str) -> None:
    def printed(seed: str) -> subprocess.Popen[str]:
        around = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "compiler")}
        command = [sys.executable, "-c", HASHED, str(ROOT), system]
        return subprocess.Popen(command, env=around, stdout=subprocess.PIPE, text=True)

    found = [process.communicate()[0] for process in [printed(seed) for seed in ("0", "1", "4242")]]
    assert len(found[0]) == 65
    assert found == [found[0]] * 3


def test_a_difference_reads_as_a_diff() -> None:
    assert difference({"a": "1\n2\n", "b": "x\n"}, {"a": "1\n3\n", "b": "x\n"}) == (
        "--- golden/a\n+++ produced/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"
    )
