"""Test that golden/ equals the output, and that differences are reported."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.lang import normal_form, workspace
from assay.lang.checked_package import CheckedPackage
from assay.lang.workspace import Workspace
from assay.util.diagnostics import DIFFERENCE
from tests.support.commands import CommandResult, build_environment
from tests.support.documents import list_charts, list_sections
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file
from tools import golden

pytestmark = pytest.mark.golden

WORKSPACE = Workspace(ROOT)
SYSTEMS = WORKSPACE.list_systems()
SIDES = (("---", "golden"), ("+++", "produced/golden"))
PROGRAM = ROOT / "tools" / "golden.py"
#: one build of a small run
SMALL = """
[[build]]
name = "small"
command = "build cardano/comparison --run plain=golden/cardano/tiny/plain/run --no-filters"
"""

#: a program that prints the hash of a system's package from its Dhall sources
HASH_SCRIPT = """
import hashlib, json, sys
from pathlib import Path
from assay.lang import normal_form, workspace
folder, system = workspace.Workspace(Path(sys.argv[1])), sys.argv[2]
checked = workspace.evaluate_package(folder, system, workspace.scan_sources(folder, system))
print(hashlib.sha256(json.dumps(normal_form.build_content(checked)).encode()).hexdigest())
"""


def evaluate_system(system: str) -> CheckedPackage:
    """Return a system's package from its Dhall sources, without cache and normal form."""
    return golden.evaluate(WORKSPACE, system, workspace.scan_sources(WORKSPACE, system))


@pytest.mark.parametrize("part", golden.PARTS)
def test_committed_goldens_equal_output(part: str, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = golden.main(["check", part, "--cache", str(cache)])
    assert status == 0, capsys.readouterr().out


@pytest.mark.parametrize("system", SYSTEMS)
def test_committed_normal_form_equals_evaluation(system: str) -> None:
    place = WORKSPACE.get_normal_form_path(system)
    loaded_form = normal_form.parse_normal_form(place.read_text(encoding="utf-8"), str(place))
    assert normal_form.build_content(loaded_form) == normal_form.build_content(evaluate_system(system))


def test_golden_files_are_of_existing_systems() -> None:
    assert {path.name for path in (ROOT / "golden" / "sql").iterdir()} == set(SYSTEMS)
    assert {path.name for path in (ROOT / "golden" / "specs").iterdir()} == {f"{name}.yaml" for name in SYSTEMS}


def test_hashes_of_a_build_have_the_form_of_sha256sum(two: Path) -> None:
    text = golden.hash_files(two)
    names = [line.split("  ")[1] for line in text.splitlines()]
    assert names == sorted(names)
    assert {"report.pdf", "provenance.json", "charts/CentiCpu.svg"} < set(names)
    result = subprocess.run(["sha256sum", "-c", "--strict"], cwd=two, input=text, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "".join(f"{name}: OK\n" for name in names))


def test_committed_documents_have_all_members(two: Path) -> None:
    document = json.loads((two / "document.json").read_text(encoding="utf-8"))
    text = golden.format_json(document)
    assert json.loads(text) == document
    lines = {line.strip(" ,") for line in text.splitlines()}
    tables = [document["manifest"], document["filters"], *list_sections(document)]
    assert {json.dumps(row, ensure_ascii=False) for table in tables for row in table["rows"]} <= lines


def test_pinned_reports_are_those_of_other_tests(two: Path, three: Path) -> None:
    # The pinned build `two` has a web page, so the SQL of its details, too.
    files_of_page = {"report.html", "report.md"}
    for folder, name, differing_files in ((two, "two", files_of_page), (three, "three", set[str]())):
        pinned_hashes = (ROOT / "golden" / "reports" / f"{name}.sha256").read_text(encoding="utf-8").splitlines()
        differing_lines = set(pinned_hashes) ^ set(golden.hash_files(folder).splitlines())
        names = {line.split("  ")[1] for line in differing_lines}
        assert {file for file in names if not file.startswith("sql/rows/")} == {
            "provenance.json"
        } | differing_files  # contains the paths of runs


# Differences


@pytest.fixture
def golden_copy(tmp_path: Path) -> Path:
    """Copy the inputs of one system's goldens, with one small pinned build."""
    target = tmp_path / "copy"
    for name in ("specs/schema", "specs/cardano", "queries/cardano", "golden/sql/cardano"):
        shutil.copytree(ROOT / name, target / name)
    (target / "golden" / "specs").mkdir()
    shutil.copy(ROOT / "golden" / "specs" / "cardano.yaml", target / "golden" / "specs")
    (target / "golden" / "reports").mkdir()
    (target / "golden" / "reports" / golden.PINNED).write_text(SMALL, encoding="utf-8")
    (target / "golden" / "cardano").symlink_to(ROOT / "golden" / "cardano")
    (target / "templates").symlink_to(ROOT / "templates")
    return target


@pytest.fixture
def run(golden_copy: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., CommandResult]:
    """Check or accept the goldens of the copy, like `just`."""

    def run_in_this_process(action: str, *parts: str) -> CommandResult:
        status = golden.main([action, *parts, "--root", str(golden_copy), "--cache", str(cache)])
        return CommandResult(status, *capsys.readouterr())

    return run_in_this_process


def test_changed_sql_is_shown_as_a_diff_and_accepted(golden_copy: Path, run: Callable[..., CommandResult]) -> None:
    place = golden_copy / "golden/sql/cardano/metrics/CentiCpu.sql"
    content = place.read_text(encoding="utf-8")
    edit_file(place, "SELECT", "SELECT DISTINCT")
    place.with_name("more.sql").write_text("SELECT 1;\n", encoding="utf-8")
    result = run("check", "sql")
    assert (result.status, result.err) == (DIFFERENCE, "")
    lines = result.out.splitlines()
    assert lines[:2] == [f"{mark} {place}/sql/cardano/metrics/CentiCpu.sql" for mark, place in SIDES]
    changed_lines = [line for line in lines[2:] if line.startswith(("-", "+"))]
    assert [line.replace(" DISTINCT", "")[1:] for line in changed_lines] == [changed_lines[1][1:]] * 2
    assert lines[-2] == "no longer produced: golden/sql/cardano/metrics/more.sql"
    assert lines[-1].endswith(" golden files: 2 differ; `just accept` replaces them")
    accepted = run("accept", "sql")
    assert (accepted.status, accepted.out.splitlines()[:-1]) == (0, lines[:-1])
    assert place.read_text(encoding="utf-8") == content
    assert not place.with_name("more.sql").exists()


def test_missing_sql_and_list_of_missing_file_are_differences(
    golden_copy: Path, run: Callable[..., CommandResult]
) -> None:
    folder = golden_copy / "golden/sql/cardano"
    (folder / "tables/slot.sql").unlink()
    edit_file(folder / "workloads.txt", "tables/slot.sql\n", "tables/gone.sql\ntables/slot.sql\n")
    (folder / "gone.txt").write_text("tables/slot.sql\n", encoding="utf-8")
    result = run("check", "sql")
    assert (result.status, result.err) == (DIFFERENCE, "")
    assert [line for line in result.out.splitlines() if not line.startswith((" ", "@@"))] == [
        "no longer produced: golden/sql/cardano/gone.txt",
        "new: golden/sql/cardano/tables/slot.sql",
        *(f"{mark} {place}/sql/cardano/workloads.txt" for mark, place in SIDES),
        "-tables/gone.sql",
        f"{len(list(folder.rglob('*.*')))} golden files: 3 differ; `just accept` replaces them",
    ]
    assert run("accept", "sql").status == 0
    assert run("check", "sql").status == 0


def test_changed_lost_and_new_files_of_build_are_reported(golden_copy: Path, run: Callable[..., CommandResult]) -> None:
    first = run("accept", "reports")
    assert first.out.splitlines() == [
        "new: golden/reports/small.document.json",
        "new: golden/reports/small.sha256",
        "2 golden files, 2 changed",
    ]
    second_check = run("check", "reports")
    assert (second_check.status, second_check.out) == (0, "2 golden files: no difference\n")
    place = golden_copy / "golden/reports/small.sha256"
    lines = place.read_text(encoding="utf-8").splitlines(keepends=True)
    (pdf,) = (line for line in lines if line.endswith("  report.pdf\n"))
    remaining_lines = [line for line in lines if not line.endswith("  results.json\n")]
    remaining_lines[remaining_lines.index(pdf)] = pdf.replace(pdf[:4], "beef" if pdf[:4] != "beef" else "feed")
    place.write_text("".join([*remaining_lines, f"{pdf[:64]}  gone.txt\n"]), encoding="utf-8")
    edit_file(place.with_name("small.document.json"), '"Analysis date", "2026', '"Analysis date", "2025')
    result = run("check", "reports")
    assert (result.status, result.err) == (DIFFERENCE, "")
    differences = [line for line in result.out.splitlines() if not line.startswith((" ", "@@"))]
    assert [line.replace("   ", "") for line in differences] == [
        *(f"{mark} {place}/reports/small.document.json" for mark, place in SIDES),
        '-["Analysis date", "2025-02-05"],',
        '+["Analysis date", "2026-02-05"],',
        "no longer produced: small/gone.txt",
        "hash differs: small/report.pdf",
        "new: small/results.json",
        "2 golden files: 2 differ; `just accept` replaces them",
    ]


def test_changed_normal_form_is_shown_as_a_diff(golden_copy: Path, run: Callable[..., CommandResult]) -> None:
    edit_file(golden_copy / "golden/specs/cardano.yaml", "\n  - id: CentiCpu\n", "\n  - id: CentiCPU\n")
    result = run("check", "specs")
    assert result.status == DIFFERENCE
    assert "\n-  - id: CentiCPU\n+  - id: CentiCpu\n" in result.out


def test_failing_build_is_no_difference(golden_copy: Path, run: Callable[..., CommandResult]) -> None:
    edit_file(golden_copy / "golden/reports" / golden.PINNED, "plain/run", "plain/nowhere")
    result = run("check", "reports")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("error[no-run]: the run directory does not exist")


def test_unknown_part_is_a_usage_error() -> None:
    env = build_environment()
    result = subprocess.run([sys.executable, PROGRAM, "check", "spec"], env=env, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith("error: unknown part spec; parts are specs, sql, starter, reports\n")


# Reproducibility


@pytest.mark.parametrize("system", SYSTEMS)
def test_package_is_the_same_in_every_process(system: str) -> None:
    def start_printing(seed: str) -> subprocess.Popen[str]:
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "compiler")}
        command = [sys.executable, "-c", HASH_SCRIPT, str(ROOT), system]
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)

    expected_form = json.dumps(normal_form.build_content(evaluate_system(system)))  # with the hash seed of this process
    assert start_printing("4242").communicate()[0] == f"{hashlib.sha256(expected_form.encode()).hexdigest()}\n"


@pytest.mark.parametrize("name", ["two", "three", "two-org-2023"])
def test_figures_of_a_report_have_different_captions(name: str) -> None:
    path = ROOT / "golden" / "reports" / f"{name}.document.json"
    charts = list_charts(json.loads(path.read_text(encoding="utf-8")))
    assert len({(item["title"], item["of"]) for item in charts}) == len(charts) == 29
    assert [item["of"] for item in charts if item["title"] == "Leadership check duration"] == [
        "cdfLeading",
        "cdfForgerLead",
    ]
    assert {item["of"] for item in charts if item["title"] != "Leadership check duration"} == {""}
