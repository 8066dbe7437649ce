"""Test `assay init`, `schema` and `watch`: a new workspace builds, and builds again after a change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import jsonschema
import pytest

from assay.app.author.run_schema import create_schema
from assay.ingest.run_constants import read_constants
from assay.lang.model.package import Constant, Quarantine, Source
from assay.lang.model.vocabulary import Unit
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import read_contents
from tests.support.repositories import run_git
from tests.support.workspaces import edit_file

RUNS = ("--run", "runs/1.0", "--run", "runs/1.1")


@pytest.fixture(scope="module")
def start_workspace(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Create a workspace with `assay init` and build its report with the printed command."""
    folder = tmp_path_factory.mktemp("started")
    completed = run_assay("--cache", cache, "init", "my metrics", cwd=folder)
    assert (completed.status, completed.err) == (0, "")
    lines = completed.out.splitlines()
    assert lines[:2] == ["Try it:", "  cd 'my metrics'"]
    place = folder / "my metrics"
    for line in lines[2:]:
        program, *arguments = line.split()
        assert program == "assay"
        if arguments[0] != "explain":
            result = run_assay("--cache", cache, *arguments, cwd=place)
            assert (result.status, result.err) == (0, ""), line
    return place


def test_new_workspace_builds_without_changes(start_workspace: Path) -> None:
    """Both runs are in the report; normal form and SQL exist; no temporary file is left."""
    document = json.loads((start_workspace / "build/comparison/document.json").read_text(encoding="utf-8"))
    assert document["title"] == "1.1 against 1.0"
    assert (start_workspace / "build/comparison/report.pdf").read_bytes()[:5] == b"%PDF-"
    assert (start_workspace / "golden/specs/service.yaml").is_file()
    assert (start_workspace / "golden/sql/service/metrics/wait.sql").is_file()
    assert not list(start_workspace.glob(".assay-*"))


@pytest.mark.parametrize(("count", "is_named"), [(99, False), (100, True)])
def test_proposal_names_percentiles_of_many_samples(count: int, is_named: bool, tmp_path: Path) -> None:
    lines = [
        f'{{"time": "2026-01-01T00:00:{number / 2:04.1f}Z", "event": "e", "ms": {number}}}' for number in range(count)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run_assay("init", tmp_path / "new", "--from", tmp_path / "a.jsonl")
    assert result.status == 0, result.err
    assert ("add `--columns median,p95,p99`" in result.out) == is_named


def test_gitignore_has_the_outputs_of_a_new_workspace(start_workspace: Path) -> None:
    """After a build, git would commit what a clone needs, and no output."""
    run_git(start_workspace, "init", "-q")
    command = ["git", "-C", start_workspace, "ls-files", "--others", "--exclude-standard", "--directory"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    shutil.rmtree(start_workspace / ".git")
    names = {name.partition("/")[0] for name in listing.splitlines()}
    assert names == {".gitignore", "README.md", "assay.toml", "golden", "runs", "specs"}


def test_workspace_without_normal_form_is_evaluated(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Specs without a committed normal form build the same report, and errors have their positions."""
    own_cache = tmp_path_factory.mktemp("cache")
    assert run_assay("--cache", own_cache, "init", "here", cwd=tmp_path).status == 0
    place = tmp_path / "here"
    completed = run_assay(
        "--cache", own_cache, "build", "service/comparison", *RUNS, "--to", "md", "-o", "out", cwd=place
    )
    assert (completed.status, completed.err) == (0, "")
    assert "1.1 against 1.0" in (place / "out" / "report.md").read_text(encoding="utf-8")
    shutil.rmtree(place / "golden")
    completed = run_assay("--cache", tmp_path_factory.mktemp("another"), "check", cwd=place)
    assert (completed.status, completed.out.split(":")[0]) == (0, "service")
    result = run_assay(
        "--cache", own_cache, "build", "service/comparison", *RUNS, "--to", "md", "-o", "again", cwd=place
    )
    assert (result.status, result.err) == (0, "")
    assert (place / "again" / "report.md").read_bytes() == (place / "out" / "report.md").read_bytes()
    metrics = place / "specs" / "service" / "metrics.dhall"
    text = metrics.read_text(encoding="utf-8")
    metrics.write_text(text.replace("S.unit.millisecond", "S.unit.milisecond", 1), encoding="utf-8")
    completed = run_assay("--cache", own_cache, "check", cwd=place)
    assert (completed.status, completed.out) == (1, "")
    message, location, line, caret, *_, hint = completed.err.splitlines()
    assert message == "error[dhall-type]: unknown field `milisecond` in `S.unit`"
    assert location.startswith("  at specs/service/metrics.dhall:")
    assert "S.unit.milisecond" in line
    assert "^^^^^" in caret
    assert hint == "  hint: did you mean `millisecond`?"


def test_report_of_one_run_has_no_differences(start_workspace: Path, tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "out"
    command = ("build", "service/comparison", "--run", "runs/1.0", "--to", "md", "-o", out, "--cache", cache)
    assert run_assay(*command, cwd=start_workspace).status == 0
    document = json.loads((out / "document.json").read_text(encoding="utf-8"))
    assert document["title"] == "service: run 1.0"
    assert document["intro"] == ["One run: 1.0. Name a second --run to compare."]


def test_init_in_unwritable_folder_fails_without_option_hint(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    result = run_assay("--cache", cache, "init", "file/place", cwd=tmp_path)
    assert (result.status, result.err) == (
        1,
        "error[output]: the output folder cannot be written: Not a directory: file/place\n"
        "  hint: choose another folder\n",
    )


def test_init_output_is_the_same_in_every_environment(start_workspace: Path, tmp_path: Path, cache: Path) -> None:
    """The name of the folder has no influence."""
    assert run_assay("--cache", cache, "init", "other", cwd=tmp_path).status == 0
    other = read_contents(tmp_path / "other")
    assert {
        name: text for name, text in read_contents(start_workspace).items() if not name.startswith("build/")
    } == other


def test_init_in_nonempty_folder_changes_nothing(tmp_path: Path, cache: Path) -> None:
    """One message, and nothing is written."""
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    result = run_assay("--cache", cache, "init", str(tmp_path))
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        f"error[not-empty]: the folder is not empty: {tmp_path}\n"
        "  expected: a new or empty folder\n"
        "  hint: choose another folder\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_run_schema_lists_document_keys_and_types(cache: Path) -> None:
    """Documents of a shipped run are valid; a document without a required fact or with a wrong type is not."""
    result = run_assay("--cache", cache, "schema", "--system", "cardano")
    assert (result.status, result.err) == (0, "")
    schemas = result.parse_json()["cardano"]
    for file in ("meta.json", "genesis-shelley.json"):
        jsonschema.Draft202012Validator.check_schema(schemas[file])
        document = json.loads((CARDANO / "baseline" / "run" / file).read_text(encoding="utf-8"))
        jsonschema.validate(document, schemas[file])
    assert _find_problem(schemas["meta.json"], "meta", "batch", None) == "'batch' is a required property"
    assert _find_problem(schemas["meta.json"], "meta", "era", 7) == "7 is not of type 'string'"
    assert schemas["genesis-shelley.json"]["properties"]["epochLength"] == {
        "type": "integer",
        "exclusiveMinimum": 0,
        "description": "Slots per epoch (slots)",
    }


#: type of a constant, its default, valid values, and invalid ones
VALUES: list[tuple[str, str | None, list[object], list[object]]] = [
    ("integer", None, [0, -3, 4.0], [4.5, "4", True]),
    ("real", None, [0.5, 3, -1e3], ["0.5", False]),
    ("text", None, ["", "x"], [3]),
    ("boolean", None, [True], ["true", 1]),
    ("duration", None, [1, 0.5], [0, -1, "1"]),
    ("instant", None, ["2026-02-05T18:52:16Z", "2026-02-05T18:52:16.5Z"],
     ["2026-02-05T18:52:16+00:00", "2026-02-05T18:52:16", "2026-02-05 18:52:16Z", "2026-02-05T18:52:16.Z", "", 1770]),
    ("instant", "", ["2026-02-05T18:52:16Z", ""], ["2026-02-05T18:52:16+01:00", "today"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "default", "valid_values", "invalid_values"), VALUES)
def test_run_schema_accepts_documents_that_are_read(
    tmp_path: Path, kind: str, default: str | None, valid_values: list[object], invalid_values: list[object]
) -> None:
    constant = Constant("x", ("facts.json",), ("x",), kind, Unit("second", "s"), default, "A fact")
    source = Source("s", "json-lines", "*", ("log",), ("at",), (), (), (), Quarantine(0.0, 0), (constant,), "")
    validator = jsonschema.Draft202012Validator(create_schema("test", "facts.json", [constant]))
    for is_valid, values in ((True, valid_values), (False, invalid_values)):
        for document in ({"x": value} for value in values):
            (tmp_path / "facts.json").write_text(json.dumps(document), encoding="utf-8")
            assert (_is_read(source, tmp_path), validator.is_valid(document)) == (is_valid, is_valid), document


def _is_read(source: Source, folder: Path) -> bool:
    try:
        read_constants(source, folder)
    except AssayError:
        return False
    return True


def _find_problem(schema: dict[str, Any], outer: str, inner: str, value: object) -> str:
    """Return the validation error of a member with this value; None removes the member."""
    document = json.loads((CARDANO / "baseline" / "run" / "meta.json").read_text(encoding="utf-8"))
    if value is None:
        del document[outer][inner]
    else:
        document[outer][inner] = value
    (error,) = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return error.message


def test_run_schema_of_one_file_has_only_its_keys(cache: Path) -> None:
    """Names of no file, or of files of several systems, are errors."""
    result = run_assay("--cache", cache, "schema", "genesis-shelley.json")
    assert result.parse_json()["title"] == "genesis-shelley.json of a run of cardano"
    unknown = run_assay("--cache", cache, "schema", "metta.json")
    assert (unknown.status, "hint: did you mean `meta.json`?" in unknown.err) == (2, True)
    several = run_assay("--cache", cache, "schema", "meta.json")
    assert several.status == 2
    assert several.err.startswith("error[systems]: several systems read a file `meta.json`: ")


@pytest.fixture
def watch_report(start_workspace: Path, cache: Path) -> Iterator[subprocess.Popen[str]]:
    """Start `assay watch` and wait for its first rebuild."""
    command = [sys.executable, "-m", "assay", "--cache", str(cache), "watch", "service/comparison", *RUNS]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*command, "-o", "build/live"],
        cwd=start_workspace,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    yield process
    process.kill()
    process.communicate()


def test_watch_rebuilds_report_after_change(start_workspace: Path, watch_report: subprocess.Popen[str]) -> None:
    """An error leaves the last good report; the report is built again after the correction."""
    file = start_workspace / "specs/service/metrics.dhall"
    before = file.read_text(encoding="utf-8")
    assert watch_report.stdout
    assert watch_report.stderr
    assert _read_line(watch_report.stdout) == "build/live/report.pdf"
    assert _read_line(watch_report.stderr).startswith("0 worse, 1 better, ")
    try:
        edit_file(file, "e.started e.sent", "e.started e.snt")
        assert "error[" in _read_line(watch_report.stderr)
        assert (start_workspace / "build/live/report.pdf").is_file()
        file.write_text(before.replace('"Working time"', '"Time of work"'), encoding="utf-8")
        assert _read_line(watch_report.stdout) == "build/live/report.pdf"
        assert "Time of work" in (start_workspace / "build/live/document.json").read_text(encoding="utf-8")
    finally:
        file.write_text(before, encoding="utf-8")


def _read_line(stream: IO[str]) -> str:
    return stream.readline().rstrip("\n")
