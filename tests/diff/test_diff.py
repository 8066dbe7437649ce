"""Test `assay spec-diff`: the differences between two states of the specs, and the printed numbers that they affect."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.repositories import commit_folder, run_git
from tests.support.workspaces import Edit, copy_workspace, edit_file

FORGING = "specs/cardano/metrics/forging.dhall"
PACKAGE = "specs/cardano/package.dhall"
#: an edit -> its kind of change
MEANING: tuple[Edit, ...] = (
    (FORGING, ", measure = elapsed at.leading at.ticked", ", measure = elapsed at.started at.ticked"),  # other anchor
    (FORGING, '"cdfForgerStart"', '"cdfForgerStarted"'),  # renamed
    (FORGING, '"Acquired block context"', '"Block context"'),  # wording
    ("specs/cardano/metrics/anomaly.dhall", ", unit = U.byte", ", unit = U.kibibyte"),  # unit
)


@pytest.fixture(scope="module")
def shipped_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a git repository with the shipped specs as its only commit."""
    place = copy_workspace(tmp_path_factory.mktemp("diff") / "repository")
    commit_folder(place, "first")
    return place


def copy_with_edits(repository: Path, target: Path, *edits: Edit) -> Path:
    """Copy a repository and make edits that are not committed."""
    shutil.copytree(repository, target)
    for file, text, replacement in edits:
        edit_file(target / file, text, replacement)
    return target


@pytest.fixture(scope="module")
def changed_repository(shipped_repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a copy of the repository in which metrics are renamed and changed."""
    return copy_with_edits(shipped_repository, tmp_path_factory.mktemp("diff") / "changed", *MEANING)


def read_diff(cache: Path, *arguments: str | Path, root: Path) -> list[dict[str, Any]]:
    """Return the difference as data, and check its exit status."""
    completed = run_assay("--cache", cache, "spec-diff", *arguments, "--format", "json", cwd=root)
    result: list[dict[str, Any]] = completed.parse_json()
    assert (completed.status, completed.err) == (3 if result else 0, "")
    return result


def index_by_metric(result: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    (system,) = result
    return {item["metric"]: item for item in system["metrics"]}


def test_comments_of_sql_are_wording(shipped_repository: Path, cache: Path, tmp_path: Path) -> None:
    """A comment changes the definition hash, but no number."""
    sql = next(path for path in sorted((shipped_repository / "queries/cardano").glob("slots.sql")))
    name = sql.relative_to(shipped_repository).as_posix()
    first = sql.read_text(encoding="utf-8").splitlines()[0]
    place = copy_with_edits(shipped_repository, tmp_path / "repository", (name, first, f"{first} Or so."))
    metrics = index_by_metric(read_diff(cache, "HEAD", ".", root=place))
    assert metrics
    assert {item["kind"] for item in metrics.values()} == {"changed in wording"}


def test_hosts_of_a_source_are_part_of_the_meaning(shipped_repository: Path, cache: Path, tmp_path: Path) -> None:
    edit = ("specs/cardano/source.dhall", 'hosts = "node-*"', 'hosts = "node-1*"')
    place = copy_with_edits(shipped_repository, tmp_path / "changed", edit)
    (system,) = read_diff(cache, "HEAD", ".", root=place)
    assert {item["kind"] for item in system["metrics"]} == {"changed in meaning"}
    aspects = {item["metric"]: {change["aspect"] for change in item["changes"]} for item in system["metrics"]}
    assert aspects.pop("txsAcceptedShare") == {"metrics", "source"}  # a formula
    assert set(map(frozenset, aspects.values())) == {frozenset({"source"})}
    assert len(aspects) == 72


def test_sql_that_changes_is_shown_line_by_line(shipped_repository: Path, cache: Path, tmp_path: Path) -> None:
    """If a relation's SQL changes, every metric over it changes in meaning, and the text shows the lines once."""
    name = "queries/cardano/slots.sql"
    text = (shipped_repository / name).read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "max(seq) AS seq" in line)
    place = copy_with_edits(shipped_repository, tmp_path / "repository", (name, "max(seq) AS seq", "min(seq) AS seq"))
    metrics = index_by_metric(read_diff(cache, "HEAD", ".", root=place))
    assert all(item["kind"] == "changed in meaning" for item in metrics.values())
    lines = {change["aspect"]: change["lines"] for item in metrics.values() for change in item["changes"]}
    assert f"-{line}" in lines["SQL"]
    assert f"+{line.replace('max(seq)', 'min(seq)')}" in lines["SQL"]
    out = run_assay("--cache", cache, "spec-diff", "HEAD", ".", cwd=place).out
    assert out.count(f"-{line}") == 1
    assert out.count("SQL: slots / sql: as above") == len(metrics) - 1


def test_builds_contain_their_specs(two: Path, changed_repository: Path, cache: Path) -> None:
    """A build against a workspace, by its folder and by its provenance."""
    own_diff = read_diff(cache, two, ".", root=changed_repository)
    assert {item["metric"] for item in own_diff[0]["metrics"]} >= {"cdfForgerTicked", "cdfForgerStarted"}
    assert read_diff(cache, two / "provenance.json", two, root=changed_repository) == []


def test_new_system_is_listed(shipped_repository: Path, cache: Path, tmp_path: Path) -> None:
    """A new system is one line."""
    place = copy_with_edits(shipped_repository, tmp_path / "repository")
    shutil.rmtree(place / "specs" / "cometbft")
    result = read_diff(cache, ".", "HEAD", root=place)
    assert [(item["system"], item["state"]) for item in result] == [("cometbft", "new")]


def test_invalid_state_is_an_error(shipped_repository: Path, cache: Path, tmp_path: Path) -> None:
    """A name of nothing and a folder of something else give one message each, with the expected kinds of states."""
    result = run_assay("--cache", cache, "spec-diff", "nothing", ".", cwd=shipped_repository)
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        "error[unknown-state]: `nothing` is not a workspace, a build or a git revision\n"
        "  expected: a folder with specs/, a folder that a report was built into, its provenance.json, or a revision\n"
        "  found:    nothing\n"
    )
    result = run_assay("--cache", cache, "spec-diff", str(tmp_path), ".", cwd=shipped_repository)
    assert (result.status, "found:    a folder with none of these" in result.err) == (2, True)


@pytest.mark.parametrize("filters", [True, False])
def test_revisions_are_read_by_every_python(
    shipped_repository: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filters: bool
) -> None:
    """Versions before 3.11.4 have no extraction filters."""
    if not filters:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    place = copy_with_edits(shipped_repository, tmp_path / "repository", MEANING[1])
    result = read_diff(cache, "HEAD", ".", root=place)
    assert {item["metric"] for item in result[0]["metrics"]}


def test_revision_with_invalid_specs_is_an_error(shipped_repository: Path, cache: Path, tmp_path: Path) -> None:
    """The message of the specs names the revision; the other systems are compared."""
    place = copy_with_edits(shipped_repository, tmp_path / "repository", (FORGING, "unit = U.second", "unit = U.secnd"))
    run_git(place, "commit", "-q", "-a", "-m", "second")
    result = run_assay("--cache", cache, "spec-diff", "HEAD~1", "HEAD", cwd=place)
    assert result.status == 1
    assert result.out == (
        "cardano: not compared, as it cannot be read: unknown field `secnd` in `U`\n"
        "nothing differs in the readable systems\n"
    )
    assert "note: in revision " in result.err
    assert "secnd" in result.err
