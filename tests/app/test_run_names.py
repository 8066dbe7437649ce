"""Names of runs in output, and warnings about hosts without any known event."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from assay.app.session.runs import parse_runs
from assay.util.diagnostics import AssayError
from tests.support.commands import CommandResult, run_assay
from tests.support.mixed import create_mixed_run, create_mixed_workspace


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with runs."""
    return create_mixed_workspace(tmp_path_factory.mktemp("mixed") / "shop")


def run_in_folder(folder: Path, cache: Path, *arguments: str | Path) -> CommandResult:
    """Run a command in a folder."""
    return run_assay(*arguments, "--cache", cache, cwd=folder)


@pytest.fixture
def links(shop: Path) -> Path:
    """Create a workspace with links to its runs; the links have other names."""
    for name, target in (("10.5", "v1"), ("also", "v2")):
        if not (shop / "runs" / name).is_symlink():
            (shop / "runs" / name).symlink_to(target, target_is_directory=True)
    return shop


@pytest.mark.parametrize(
    ("places", "names"),
    [
        (["runs/10.5"], ["10.5"]),
        (["runs/10.5/"], ["10.5"]),
        (["runs/../runs/./10.5/."], ["10.5"]),
        (["runs/v1", "runs/also"], ["v1", "also"]),
        (["runs/10.5/../v1"], ["v1"]),
        (["name=runs/10.5"], ["name"]),
    ],
)
def test_run_has_the_name_that_the_user_wrote(links: Path, cache: Path, places: list[str], names: list[str]) -> None:
    run_options = [word for place in places for word in ("--run", place)]
    result = run_in_folder(links, cache, "query", "wait", *run_options, "--format", "json")
    assert result.status == 0, result.err
    assert [row["run"] for row in result.parse_json()] == names


@pytest.mark.parametrize(("place", "name"), [(".", "v1"), ("hosts/..", "v1"), ("../10.5/../v1", "v1")])
def test_run_without_a_name_has_the_name_of_its_directory(links: Path, place: str, name: str) -> None:
    (links / "runs" / "v1" / "hosts").mkdir(exist_ok=True)
    with contextlib.chdir(links / "runs" / "v1"):
        (named_run,) = parse_runs([place])
    (links / "runs" / "v1" / "hosts").rmdir()
    assert named_run.id == name


UNKNOWN = "4 records of 1 name that the specs do not know: `other` (4); `assay inspect` lists them."
SILENT = (
    "warning: run: none of the log lines of hosts app-1, app-2, app-3 and 1 more is an event that the specs know "
    "(source app).\n"
)


@pytest.fixture(scope="module")
def silent_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a run in which a single host logs known events."""
    run = create_mixed_run(tmp_path_factory.mktemp("silent") / "run", "v1")
    for host in ("app-1", "app-2", "app-3", "app-4"):
        (run / host / "app.log").write_text('{"ts": "2026-03-01T10:00:00Z", "kind": "other"}\n', encoding="utf-8")
    return run


def test_report_warns_of_hosts_without_any_event(shop: Path, silent_run: Path, cache: Path, tmp_path: Path) -> None:
    result = run_in_folder(shop, cache, "build", "mix/main", "--run", silent_run, "-o", tmp_path / "out", "--to", "md")
    warning_text = SILENT.removeprefix("warning: run: ").rstrip()
    assert (result.status, warning_text in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")) == (0, True)
    assert warning_text in result.err


def test_explanation_warns_of_hosts_without_any_event(shop: Path, silent_run: Path, cache: Path) -> None:
    result = run_in_folder(shop, cache, "explain", "wait", "--run", silent_run, "--format", "json")
    assert result.parse_json()["run"]["warnings"] == [SILENT.removeprefix("warning: run: ").rstrip(), UNKNOWN]


@pytest.mark.parametrize("name", [" ", "\u200b", "\u00a0\t"])
def test_run_without_a_printed_name_is_refused(name: str) -> None:
    with pytest.raises(AssayError, match="invalid run"):
        parse_runs([f"{name}=somewhere"])


@pytest.mark.parametrize("other", ["a  b", "a\u00a0b", "a b\u200b", " a b"])
def test_runs_that_look_the_same_are_refused(other: str) -> None:
    with pytest.raises(AssayError, match="two runs have names that look the same: `a b`"):
        parse_runs(["a b=one", f"{other}=two"])
    assert [run.id for run in parse_runs(["a b=one", "A b=two", "a-b=three"])] == ["a b", "A b", "a-b"]
