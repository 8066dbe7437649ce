"""Test the cache of whole builds: reuse of unchanged builds, and every reason for a new one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.app.session import inputs
from tests.support.commands import DATE, CommandResult, build, build_environment, run_assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import read_contents
from tests.support.runs import change_log, copy_run
from tests.support.workspaces import copy_workspace, edit_file

Place = tuple[Path, Path, Path]
OPTIONS = ("--filter", "slot-has-leaders", "--to", "md", "-v")
#: a truncated last line of a log
BROKEN = '{"at": "2026'


@pytest.fixture(scope="module")
def first_build(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Build a report of one run; return workspace, run and cache."""
    folder = tmp_path_factory.mktemp("kept")
    workspace_root = copy_workspace(folder / "workspace")
    shutil.copytree(ROOT / "templates", workspace_root / "templates")
    run = copy_run("tiny/plain", folder / "run")
    change_log(run / "node-2", lambda lines: [*lines, BROKEN])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "SETTLED", 0)
        result = build([f"run={run}"], folder / "out", folder / "cache", *OPTIONS, cwd=workspace_root)
    assert (result.status, _is_cached(result)) == (0, False)
    return workspace_root, run, folder / "cache"


@pytest.fixture
def place(first_build: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Copy workspace, run and cache into a folder of the test: cached marks contain paths."""
    monkeypatch.setattr(inputs, "SETTLED", 0)
    copies = tmp_path / "workspace", tmp_path / "run", tmp_path / "cache"
    for old, new in zip(first_build, copies, strict=True):
        shutil.copytree(old, new)
    shutil.rmtree(tmp_path / "cache" / "builds")
    assert not _is_cached(rebuild(copies, tmp_path / "made"))
    return copies


def rebuild(place: Place, out: Path, *options: str) -> CommandResult:
    """Repeat the build."""
    workspace_root, run, cache = place
    result = build([f"run={run}"], out, cache, *OPTIONS, *options, cwd=workspace_root)
    assert result.status == 0, result.err
    return result


def _is_cached(result: CommandResult) -> bool:
    return any(" kept report=cardano/comparison " in line for line in result.err.splitlines())


def test_unchanged_build_comes_from_cache(place: Place, tmp_path: Path) -> None:
    first, second = tmp_path / "made", tmp_path / "given"
    result = rebuild(place, second)
    assert _is_cached(result)
    assert read_contents(second) == read_contents(first)
    assert result.out == f"{second / 'report.md'}\n"
    stages = [line.split(" ")[1] for line in result.err.splitlines() if " seconds=" in line]
    assert stages == ["kept", "command"]


HEAVY = ("assay_dhall", "assay.lang.resolve", "assay.sql", "duckdb", "pydantic", "sqlglot", "typst", "yaml")
IMPORTED = f"""
import sys
from assay.app.session import inputs
from assay.cli.main import main
inputs.SETTLED = 0
try:
    main()
except SystemExit as ended:
    print(ended.code, [name for name in {HEAVY!r} if name in sys.modules])
"""


def test_cached_build_imports_no_heavy_module(place: Place, tmp_path: Path) -> None:
    workspace_root, run, cache = place
    arguments = ["build", "cardano/comparison", "--run", f"run={run}", "-o", str(tmp_path / "made"), *OPTIONS]
    arguments += ["--cache", str(cache), "--date", DATE]
    command = [sys.executable, "-c", IMPORTED, *arguments]
    result = subprocess.run(command, cwd=workspace_root, env=build_environment(), capture_output=True, text=True)
    assert " kept report=cardano/comparison " in result.stderr
    assert result.stdout.splitlines()[-1] == "0 []"


def test_warnings_of_cached_build_are_repeated(place: Place, tmp_path: Path) -> None:
    workspace_root, run, cache = place
    other = copy_run("tiny/plain", tmp_path / "other")
    shutil.copytree(other / "node-3", other / "node-7")
    runs = [f"a={run}", f"b={other}"]
    first, second = (build(runs, tmp_path / name, cache, *OPTIONS, cwd=workspace_root) for name in ("x", "y"))
    warnings = [
        [line for line in result.err.splitlines() if line.startswith("warning: ")] for result in (first, second)
    ]
    assert (_is_cached(first), _is_cached(second)) == (False, True)
    assert warnings[0] == warnings[1] != []


def test_files_of_another_build_in_folder_are_replaced(place: Place, tmp_path: Path) -> None:
    first, second = tmp_path / "made", tmp_path / "given"
    rebuild(place, second, "--title", "Another", "--to", "html")
    assert (second / "report.html").is_file()
    assert _is_cached(rebuild(place, second))
    assert read_contents(second) == read_contents(first)


def _touch_file(file: Path) -> None:
    file.write_bytes(file.read_bytes())


CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "a line of a log": lambda _, run: change_log(run / "node-2", lambda lines: lines[:-1]),
    "a log that is written anew, with nothing else in it": lambda _, run: _touch_file(next((run / "node-2").iterdir())),
    "a new file of a log": lambda _, run: (run / "node-3" / "stdout.1").write_text(f"{BROKEN}\n", encoding="utf-8"),
    "a new host": lambda _, run: shutil.copytree(run / "node-2", run / "node-7"),
    "a document of the run": lambda _, run: edit_file(run / "meta.json", "{", "{ "),
    "a spec": lambda workspace_root, _: edit_file(
        workspace_root / "specs/cardano/metrics/forging.dhall", "Started forge loop iteration", "The loop"
    ),
    "a query": lambda workspace_root, _: edit_file(workspace_root / "queries/cardano/blocks.sql", "SELECT", "SELECT "),
    "a template": lambda workspace_root, _: edit_file(workspace_root / "templates/charts/cdf.vl.json", "{", "{ "),
    "a new file among the templates": lambda workspace_root, _: (
        workspace_root / "templates/charts/x.vl.json"
    ).write_text("{}", "utf-8"),
}


def test_build_is_repeated_after_any_change(place: Place, tmp_path: Path) -> None:
    workspace_root, run, cache = place
    for change_name, change in CHANGES.items():
        change(workspace_root, run)
        assert not _is_cached(rebuild(place, tmp_path / "out")), change_name
    shutil.rmtree(cache / "builds")
    rebuild(place, tmp_path / "fresh")
    assert read_contents(tmp_path / "out") == read_contents(tmp_path / "fresh")


@pytest.mark.parametrize("options", [("--title", "T"), ("--filter", "min-adoptions=1"), ("--to", "html")])
def test_build_with_other_options_is_not_cached(place: Place, tmp_path: Path, options: tuple[str, ...]) -> None:
    assert not _is_cached(rebuild(place, tmp_path / "out", *options))
    assert _is_cached(rebuild(place, tmp_path / "out", *options))
    assert _is_cached(rebuild(place, tmp_path / "out"))


def test_build_by_other_code_is_not_cached(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(inputs, "find_code_folders", lambda: {"assay": package})
    assert not _is_cached(rebuild(place, tmp_path / "out"))
    assert _is_cached(rebuild(place, tmp_path / "out"))
    (package / "new.py").write_text("", encoding="utf-8")
    assert not _is_cached(rebuild(place, tmp_path / "out"))


def test_build_with_other_tool_version_is_not_cached(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "get_versions", lambda: {"typst": "0.0"})
    assert not _is_cached(rebuild(place, tmp_path / "out"))


def test_damaged_cached_build_is_repeated(place: Place, tmp_path: Path) -> None:
    first, out = tmp_path / "made", tmp_path / "out"
    (entry,) = (place[2] / "builds").iterdir()
    shutil.rmtree(entry / "report")
    assert not _is_cached(rebuild(place, out))
    assert read_contents(out) == read_contents(first)
    (entry / "facts.json").write_text("{", encoding="utf-8")
    assert not _is_cached(rebuild(place, out))
    assert _is_cached(rebuild(place, out))


def test_cache_has_one_build_per_command(place: Place, tmp_path: Path) -> None:
    change_log(place[1] / "node-2", lambda lines: lines[:-1])
    rebuild(place, tmp_path / "out")
    assert len(list((place[2] / "builds").iterdir())) == 1
    assert _is_cached(rebuild(place, tmp_path / "out"))


def test_build_with_recently_changed_file_is_not_cached(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "SETTLED", 10**18)
    shutil.rmtree(place[2] / "builds")
    assert not _is_cached(rebuild(place, tmp_path / "out"))
    assert not (place[2] / "builds").exists()


@pytest.mark.parametrize("kind", ["a link to a folder", "a pipe", "a link to nothing"])
def test_run_without_reliable_file_marks_is_read_again(place: Place, tmp_path: Path, kind: str) -> None:
    unreliable_run = place[1] / "odd"
    if kind == "a pipe":
        os.mkfifo(unreliable_run)
    else:
        unreliable_run.symlink_to(place[1] if kind == "a link to a folder" else tmp_path / "nothing")
    for _ in range(2):
        assert not _is_cached(rebuild(place, tmp_path / "out"))


def test_failed_build_is_not_cached(place: Place, tmp_path: Path) -> None:
    workspace_root, run, cache = place
    (run / "genesis-shelley.json").unlink()
    for _ in range(2):
        result = build([f"run={run}"], tmp_path / "out", cache, *OPTIONS, cwd=workspace_root)
        assert result.status == 1
    assert not (tmp_path / "out").exists()


def query(place: Place, *options: str) -> CommandResult:
    """Query two metrics of the run."""
    workspace_root, run, cache = place
    return run_assay(
        "query", "cdfBlockSize", "CentiCpu", "--run", f"run={run}", "--cache", cache, "-v", *options, cwd=workspace_root
    )


@pytest.mark.parametrize("change_name", ["a line of a log", "a document of the run", "a spec"])
def test_query_is_repeated_after_a_change_only(change_name: str, place: Place) -> None:
    def is_kept(result: CommandResult) -> bool:
        return any(" kept metrics=2 " in line for line in result.err.splitlines())

    first, second = query(place), query(place)
    assert (is_kept(first), is_kept(second), first.out) == (False, True, second.out)
    messages = [
        [line for line in result.err.splitlines() if " seconds=" not in line and "hashed " not in line]
        for result in (first, second)
    ]
    assert [line for line in messages[0] if line.startswith(("warning", "filters"))] == messages[1]
    assert not is_kept(query(place, "--format", "json", "--no-filters"))
    CHANGES[change_name](place[0], place[1])
    assert not is_kept(query(place))
