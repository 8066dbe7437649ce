"""Test `assay.toml`: defaults of commands, names of runs, paths, and the printed settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from assay.app.session.config import SETTINGS
from tests.support.commands import CommandResult, run_assay


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Create the workspace of `assay init`, with its settings."""
    folder = tmp_path / "place"
    assert run_assay("init", folder).status == 0
    return folder


def run(place: Path, cache: Path, *words: str, folder: str = ".") -> CommandResult:
    return run_assay("--cache", cache, *words, cwd=place / folder)


def read_runs(place: Path, name: str = "comparison") -> list[str]:
    results = json.loads((place / "build" / name / "results.json").read_text(encoding="utf-8"))
    return [item["id"] for item in results["runs"]]


def test_new_workspace_builds_without_arguments(place: Path, cache: Path) -> None:
    result = run(place, cache, "build")
    assert (result.status, result.out, result.err) == (0, "build/comparison/report.pdf\n", "")
    assert read_runs(place) == ["1.0", "1.1"]
    assert run(place, cache, "verify").status == 0
    assert run(place, cache, "gate", "--once").status == 0


def test_options_override_settings(place: Path, cache: Path) -> None:
    result = run(place, cache, "build", "--run", "1.1", "--to", "md", "-o", "build/other", "--author", "Jo")
    assert (result.status, result.out) == (0, "build/other/report.md\n")
    assert read_runs(place, "other") == ["1.1"]
    assert (place / "build/other/report.md").read_text(encoding="utf-8").splitlines()[2].startswith("Jo · ")


def test_baseline_is_first_and_lists_are_repeats(place: Path, cache: Path) -> None:
    (place / "assay.toml").write_text(
        'report = "service/comparison"\noutput = "build"\nto = ["md"]\nbaseline = "new"\n\n'
        '[runs]\nold = ["runs/1.0", "runs/1.1"]\nnew = "runs/1.1"\n',
        encoding="utf-8",
    )
    assert run(place, cache, "build").status == 0
    assert read_runs(place) == ["new", "old-1", "old-2"]


def test_paths_are_relative_to_the_settings(place: Path, cache: Path) -> None:
    result = run(place, cache, "build", "--to", "md", folder="specs/service")
    assert (result.status, result.out) == (0, "../../build/comparison/report.md\n")
    assert read_runs(place) == ["1.0", "1.1"]


def test_names_of_runs_are_known_to_other_commands(place: Path, cache: Path) -> None:
    rows = run(place, cache, "query", "wait", "--format", "json").parse_json()
    assert [row["run"] for row in rows] == ["1.0", "1.1"]
    rows = run(place, cache, "query", "wait", "--run", "1.1", "--format", "json").parse_json()
    assert [row["run"] for row in rows] == ["1.1"]
    assert run(place, cache, "compare").out.startswith("1.1 against 1.0: ")
    assert run(place, cache, "compare", "1.1", "1.0").out.startswith("1.0 against 1.1: ")
    assert run(place, cache, "explain", "wait", "--run", "1.0").status == 0


def test_run_folders_are_in_the_order_of_their_numbers(place: Path, cache: Path) -> None:
    (place / "runs" / "1.1").rename(place / "runs" / "1.10")
    (place / "runs" / "1.9").mkdir()
    rows = run(place, cache, "config", "--format", "json").parse_json()
    assert [row["setting"] for row in rows if row["setting"].startswith("runs.")] == [
        "runs.1.0", "runs.1.9", "runs.1.10",
    ]  # fmt: skip


def test_cache_of_the_settings_is_used(place: Path) -> None:
    with (place / "assay.toml").open("a", encoding="utf-8") as file:
        file.write('cache = "mine"\n')
    assert run_assay("query", "wait", cwd=place).status == 0
    assert (place / "mine" / "results").is_dir()


def test_history_does_not_take_the_default_runs(place: Path, cache: Path) -> None:
    result = run(place, cache, "build", "cardano/history")
    assert "Missing option" not in result.err
    assert result.status != 0


def test_schema_accepts_what_the_command_reads(place: Path, cache: Path) -> None:
    schema = run(place, cache, "config", "--schema").parse_json()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert set(schema["properties"]) == {item.name for item in SETTINGS}
    assert validator.is_valid({"report": "a/b", "to": ["md"], "runs": {"a": "x", "b": ["y", "z"]}})
    for document in ({"reprt": "a"}, {"author": 3}, {"to": ["docx"]}, {"to": "md"}, {"runs": {"a": 1}}):
        assert not validator.is_valid(document)
