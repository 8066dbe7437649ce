"""Record results of builds: content, names of files, damage, and that building again adds nothing."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from jsonschema import Draft202012Validator

from assay.registry.model import RegistrationFile, ResultsFile, build_json_schema, quote_name
from assay.registry.store import append_results, list_runs, read_build, read_results
from assay.util.diagnostics import AssayError
from tests.support.commands import run_assay
from tests.support.documentation import find_code_spans, parse_page
from tests.support.repositories import run_git


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the workspace of `assay init` with a build by host, whose results are recorded in `results`."""
    folder = tmp_path_factory.mktemp("recorded") / "shop"
    assert run_assay("init", folder).status == 0
    for options in (("-o", "build/comparison"), ("-o", "build/hosts", "--by", "host")):
        words = ("build", "--to", "md", *options, "--results", "results")
        assert run_assay("--cache", folder / "cache", *words, cwd=folder).status == 0
    return folder


@pytest.fixture
def folder(shop: Path, tmp_path: Path) -> Path:
    """Copy the recorded results."""
    return Path(shutil.copytree(shop / "results", tmp_path / "results"))


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_recorded_figures_are_those_of_the_build(shop: Path) -> None:
    results = read_json(shop / "build" / "comparison" / "results.json")
    recorded = {item.content.run: item.content for item in read_build(shop / "build" / "comparison")}
    assert list(recorded) == ["1.0", "1.1"]
    for run, content in recorded.items():
        assert (content.report, content.summary, content.day) == ("service/comparison", "requests", "2026-01-05")
        for name, metric in results["metrics"].items():
            figures = content.metrics[name]
            assert (figures.name, figures.unit, figures.definition) == (
                metric["name"], metric["unit"], metric["definition"],
            )  # fmt: skip
            expected = metric["runs"][run]
            assert (figures.size, figures.average, figures.max) == (
                expected["size"], expected["average"], expected["max"],
            )  # fmt: skip
            assert [list(pair) for pair in figures.centiles] == expected["centiles"]


def test_same_results_are_recorded_once(shop: Path, folder: Path) -> None:
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert len(files) == 8  # two runs, with and without groups, as JSON and Parquet
    assert append_results(folder, shop / "build" / "comparison") == ()
    other = folder.parent / "other"
    (new, _) = append_results(other, shop / "build" / "comparison")
    same = folder / new.relative_to(other)
    assert new.read_bytes() == same.read_bytes()
    assert new.with_suffix(".parquet").read_bytes() == same.with_suffix(".parquet").read_bytes()


def test_missing_table_is_written_again(shop: Path, folder: Path) -> None:
    tables = sorted(folder.rglob("*.parquet"))
    before = {path: path.read_bytes() for path in tables}
    for path in tables:
        path.unlink()
    append_results(folder, shop / "build" / "comparison")
    append_results(folder, shop / "build" / "hosts")
    assert {path: path.read_bytes() for path in tables} == before


def test_parquet_has_the_rows_of_runs_and_groups(folder: Path) -> None:
    rows = (
        duckdb.connect()
        .sql(
            f"SELECT run, day::VARCHAR, \"group\", size, average, len(centiles), filters FROM '{folder}/**/*.parquet' "
            "WHERE metric = 'wait' AND run = '1.0' ORDER BY 3 NULLS FIRST, 4"
        )
        .fetchall()
    )
    assert rows[0] == rows[1] == ("1.0", "2026-01-05", None, 120, 4.901425, 29, [])
    assert [row[2] for row in rows[2:]] == ["web-1", "web-2"]
    assert sum(row[3] for row in rows[2:]) == 120
    assert sum(row[3] * row[4] for row in rows[2:]) / 120 == pytest.approx(4.901425)


def test_files_match_their_schema(shop: Path, folder: Path) -> None:
    assert run_assay("runs", "add", "runs/1.0", "--tag", "a", "--results", folder, cwd=shop).status == 0
    for kind, pattern in ((ResultsFile, "figures/*/*.json"), (RegistrationFile, "runs/*.json")):
        schema = build_json_schema(kind)
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        files = list(folder.glob(pattern))
        assert files
        for file in files:
            validator.validate(read_json(file))
        assert not validator.is_valid({**read_json(files[0]), "unknown": 1})


@pytest.mark.parametrize(
    ("kind", "file"), [(RegistrationFile, "runs/NAME.json"), (ResultsFile, "figures/NAME/ID.json")]
)
def test_members_are_documented(kind: type, file: str) -> None:
    table = next(item for item in parse_page("docs/registry.md").tables if item.header[0] == f"member of `{file}`")
    documented_members = [name for row in table.rows for name in find_code_spans(row[0]) if "." not in name]
    assert documented_members == [item.name for item in dataclasses.fields(kind)]


def test_line_ends_do_not_change_the_hash(folder: Path) -> None:
    path = next(folder.glob("figures/*/*.json"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert len(read_results(folder)) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"average": 4.9', '"average": 3.9', "were changed after they were written"),
        ('"format": 1', '"format": 2', "a newer version of Assay wrote this file"),
        ('"summary": "requests"', '"summary": 1', "invalid member `summary`: Input should be a valid string"),
        ('"metrics": {', '"metrics": [', "not valid JSON"),
        ('"report":', '"rapport":', "invalid member `report`: Field required"),
    ],
)
def test_changed_file_is_refused_with_its_place(folder: Path, old: str, new: str, message: str) -> None:
    path = sorted(folder.glob("figures/1.0/*.json"))[0]
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(AssayError) as error:
        read_results(folder)
    assert len(error.value.diagnostics) == 1
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_build_of_phases_is_refused(shop: Path, tmp_path: Path) -> None:
    build = Path(shutil.copytree(shop / "build" / "comparison", tmp_path / "build"))
    results = read_json(build / "results.json")
    results["runs"][0]["phase"] = "after"
    (build / "results.json").write_text(json.dumps(results), encoding="utf-8")
    with pytest.raises(AssayError, match="phases of runs"):
        append_results(tmp_path / "results", build)


def test_folder_that_is_no_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="not a build of a report over runs"):
        append_results(tmp_path / "results", tmp_path)


@pytest.mark.parametrize("name", ["10.6", "a/b", "..", ".hidden", "rotating:v0.38", "ü √", "CON?*"])
def test_any_name_is_one_file(shop: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "results"
    path = folder / "runs" / f"{quote_name(name)}.json"
    answer = run_assay("runs", "add", "runs/1.0", "--name", name, "--results", folder, cwd=shop)
    assert (answer.status, answer.err) == (0, "")
    assert path.is_file()
    assert path.parent == folder / "runs"
    assert [run.name for run in list_runs(folder)] == [name]


def test_branches_that_record_results_merge_without_conflict(shop: Path, tmp_path: Path) -> None:
    def record(branch: str, *builds: str) -> None:
        run_git(tmp_path, "checkout", "-q", "-b", branch, "start")
        for build in builds:
            append_results(tmp_path / "results", shop / "build" / build)
        run_git(tmp_path, "add", "--all")
        run_git(tmp_path, "commit", "-q", "-m", branch)

    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "commit", "-q", "--allow-empty", "-m", "start")
    run_git(tmp_path, "branch", "start")
    record("one", "comparison")
    record("other", "comparison", "hosts")
    run_git(tmp_path, "merge", "-q", "one")
    assert len(read_results(tmp_path / "results")) == 4
