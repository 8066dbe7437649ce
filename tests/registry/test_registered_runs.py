"""Register runs on the command line, use their names, and see metrics over time without logs."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import duckdb
import pytest
from jsonschema import Draft202012Validator

import assay
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.nights import write_night


@pytest.fixture(scope="module")
def built_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with a results folder, two registered runs and a build of each, the later run first."""
    folder = tmp_path_factory.mktemp("registered") / "shop"
    assert run_assay("init", folder).status == 0
    with (folder / "assay.toml").open("a", encoding="utf-8") as file:
        file.write('results = "results"\ncache = "cache"\nto = ["md"]\n')
    for night in (1, 0):
        write_night(folder / "runs" / "1.0", folder / "nights" / f"{night}", night)
        words = ("runs", "add", f"nights/{night}", "--name", f"night {night}", "--tag", "release")
        assert run_assay(*words, cwd=folder).status == 0
        words = ("build", "--run", f"night {night}", "-o", f"build/{night}")
        assert run_assay(*words, cwd=folder).status == 0
    return folder


@pytest.fixture
def shop(built_shop: Path, tmp_path: Path) -> Path:
    """Copy the workspace."""
    return Path(shutil.copytree(built_shop, tmp_path / "shop"))


def run(shop: Path, *words: str) -> CommandResult:
    return run_assay(*words, cwd=shop)


def test_runs_are_listed_in_their_order(shop: Path) -> None:
    rows = run(shop, "runs", "list", "--format", "json").parse_json()
    assert [tuple(row.values()) for row in rows] == [
        ("night 0", "2026-03-01", "2026-03-01T09:00:00.010646Z", "release", "", "1", "nights/0"),
        ("night 1", "2026-03-02", "2026-03-02T09:00:00.010646Z", "release", "", "1", "nights/1"),
    ]


def test_history_needs_no_logs_and_no_specs(shop: Path) -> None:
    before = run(shop, "history", "wait", "--format", "json")
    assert before.status == 0
    for name in ("nights", "runs", "specs", "build", "cache"):
        shutil.rmtree(shop / name)
    after = run(shop, "history", "wait", "--format", "json")
    assert (after.status, after.out) == (0, before.out)
    (history,) = after.parse_json()
    assert [point["run"] for point in history["runs"]] == ["night 0", "night 1"]


def test_last_run_with_a_tag_is_a_run(shop: Path) -> None:
    answer = run(shop, "query", "wait", "--run", "last:release", "--format", "json")
    assert [row["run"] for row in answer.parse_json()] == ["night 1"]
    assert answer.err == "last:release is the run night 1: nights/1\n"


def test_run_without_logs_gains_its_folders(shop: Path) -> None:
    assert run(shop, "runs", "remove", "night 1").status == 0
    words = ("runs", "add", "night 1", "--tag", "main", "--date", "2026-03-02")
    assert run(shop, *words).status == 0
    query = ("query", "wait", "--run", "last:main", "--format", "json")
    assert run(shop, *query).err.startswith("error[run-without-logs]: the run `night 1` is registered without logs")
    added = run(shop, "runs", "add", "nights/1", "--name", "night 1", "--tag", "release")
    assert added.status == 0
    assert json.loads((shop / added.out.strip()).read_text(encoding="utf-8")) == {
        "format": 1, "name": "night 1", "places": ["../nights/1"], "tags": ["main", "release"], "day": "2026-03-02",
    }  # fmt: skip
    assert [row["run"] for row in run(shop, *query).parse_json()] == ["night 1"]
    assert run(shop, "runs", "add", "night 1", "--tag", "good").status == 0


def test_registered_runs_can_have_another_name(shop: Path) -> None:
    words = ("query", "wait", "--run", "base=night 0", "--run", "new=last:release", "--format", "json")
    answer = run(shop, *words)
    assert [row["run"] for row in answer.parse_json()] == ["base", "new"]
    assert answer.err == "last:release is the run night 1: nights/1\n"
    pair = run(shop, "compare", "base=last:release", "new=1.1", "--metric", "wait", "--format", "csv")
    (row,) = csv.DictReader(pair.out.splitlines())
    assert (row["base"], row["run"]) == ("base", "new")
    unknown = run(shop, "query", "wait", "--run", "base=night-7")
    assert (unknown.status, unknown.err.splitlines()[0]) == (
        2,
        "error[no-run]: the run directory does not exist: night-7",
    )


def test_last_run_can_be_the_baseline_of_the_settings(shop: Path) -> None:
    text = (shop / "assay.toml").read_text(encoding="utf-8")
    (shop / "assay.toml").write_text(text.replace('baseline = "1.0"', 'baseline = "last:release"'), encoding="utf-8")
    answer = run(shop, "build", "-o", "build/all")
    assert answer.status == 0
    assert "last:release is the run night 1: nights/1\n" in answer.err
    results = json.loads((shop / "build" / "all" / "results.json").read_text(encoding="utf-8"))
    assert [item["id"] for item in results["runs"]] == ["night 1", "1.0", "1.1"]
    assert run(shop, "runs", "list", "--format", "csv").out.count("\n") == 5


def test_runs_are_found_from_other_folders(shop: Path) -> None:
    answer = run_assay("query", "wait", "--run", "night 0", "--format", "csv", cwd=shop / "specs")
    assert answer.status == 0
    assert "night 0" in answer.out


def test_removed_run_leaves_results(shop: Path) -> None:
    assert run(shop, "runs", "remove", "night 1").out == "results/runs/night%201.json\n"
    assert run(shop, "runs", "list", "--format", "json").parse_json()[1] == {
        "run": "night 1", "day": "2026-03-02", "start": "2026-03-02T09:00:00.010646Z", "tags": "", "commit": "",
        "results": "1", "place": "",
    }  # fmt: skip


def test_recorded_builds_are_the_same_whether_cached(shop: Path) -> None:
    before = sorted((path.name, path.read_bytes()) for path in (shop / "results").rglob("*") if path.is_file())
    assert run(shop, "build", "--run", "night 0", "-o", "build/again").status == 0
    after = sorted((path.name, path.read_bytes()) for path in (shop / "results").rglob("*") if path.is_file())
    assert after == before


def test_history_has_all_forms(shop: Path) -> None:
    values = [point["value"] for point in run(shop, "history", "wait", "--format", "json").parse_json()[0]["runs"]]
    rows = list(csv.DictReader(run(shop, "history", "wait", "work", "--format", "csv").out.splitlines()))
    assert [(row["metric"], row["run"]) for row in rows] == [
        ("wait", "night 0"), ("wait", "night 1"), ("work", "night 0"), ("work", "night 1"),
    ]  # fmt: skip
    assert [float(row["value"]) for row in rows[:2]] == values
    lines = run(shop, "history", "wait", "--format", "openmetrics").out.splitlines()
    assert [float(line.rpartition(" ")[2]) for line in lines if line.startswith("assay_average{")] == values


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "openmetrics", "python"])
def test_exports_have_what_is_registered(shop: Path, form: str) -> None:
    """As `runs list` and `history` do; the recorded files do not."""
    words = ("runs", "add", "night 1", "--tag", "main", "--commit", "c0ffee")
    assert run(shop, *words).status == 0
    for name, day in (("night 0", "2026-02-01"), ("night 1", "2026-02-02")):
        assert run(shop, "runs", "add", name, "--date", day).status == 0
    file = shop / "out"
    words = ("results", "export", "--to", form, "-o", str(file))
    if form == "openmetrics":
        for command in (words[:-2], ("history", "wait", "--format", form)):
            lines = [line for line in run(shop, *command).out.splitlines() if 'run="night 1"' in line]
            labels = {'day="2026-02-02"', 'tags="main, release"', 'commit="c0ffee"'}
            assert all(all(label in line for label in labels) for line in lines)
            assert lines
        return
    if form == "python":
        with assay.open(shop, shop / "cache") as workspace:
            relation = workspace.results()
            rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    else:
        assert run(shop, *words).status == 0
        if form == "csv":
            rows = [{**row, "tags": row["tags"].split(", ")} for row in csv.DictReader(file.read_text().splitlines())]
        elif form == "json":
            rows = json.loads(file.read_text(encoding="utf-8"))
        else:
            relation = duckdb.connect().read_parquet(str(file))
            rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    facts = {(row["run"], str(row["day"]), *row["tags"], row["commit"] or "") for row in rows}
    assert facts == {
        ("night 0", "2026-02-01", "release", ""), ("night 1", "2026-02-02", "main", "release", "c0ffee"),
    }  # fmt: skip
    (table, *_) = (shop / "results" / "figures").rglob("*.parquet")
    assert not {"tags", "commit"} & set(duckdb.connect().sql(f"SELECT * FROM '{table}'").columns)


def test_export_of_a_build_is_that_of_its_recorded_results(shop: Path) -> None:
    of_build = run(shop, "results", "export", "build/0").out.splitlines()
    of_folder = run(shop, "results", "export").out.splitlines()
    assert of_build == [line for line in of_folder if line.startswith(("run,", "night 0,"))]
    assert run(shop, "results", "export", "--to", "parquet", "-o", "all.parquet").status == 0
    assert duckdb.connect().sql(f"SELECT count(*) FROM '{shop}/all.parquet'").fetchall() == [(len(of_folder) - 1,)]
    assert run(shop, "results", "export", "--to", "parquet").status == 2


def test_earlier_builds_are_recorded_once(shop: Path) -> None:
    first, again = (run(shop, "results", "add", "build/0", "build/1", "--results", "other") for _ in range(2))
    assert [line.split("/")[2] for line in first.out.splitlines()] == ["night%200", "night%201"]
    assert (first.status, again.status, again.out) == (0, 0, "")


@pytest.mark.parametrize("kind", ["results", "runs"])
def test_printed_schema_is_a_schema(kind: str) -> None:
    schema = run_assay("results", "schema", kind).parse_json()
    Draft202012Validator.check_schema(schema)
    assert "format" in schema["properties"]


#: options of `runs add` for a run that is registered or recorded already -> its tags
ADDITIONS: dict[tuple[str, ...], str] = {
    ("night 0", "--tag", "good"): "good, release",
    ("nights/0", "--name", "night 0", "--tag", "good"): "good, release",
    ("night 0", "--tag", "good", "--tag", "release"): "good, release",
    ("night 0",): "release",
    ("night 0", "--tag", "release"): "release",
    ("1.0", "--tag", "good"): "good",
    ("runs/1.0", "--tag", "good"): "good",
}


@pytest.mark.parametrize("words", ADDITIONS, ids=" ".join)
def test_known_run_gains_tags(shop: Path, words: tuple[str, ...]) -> None:
    name = "1.0" if "1.0" in words[0] else "night 0"
    file = shop / "results" / "runs" / f"{name.replace(' ', '%20')}.json"
    before = file.read_bytes() if file.exists() else b""
    for _ in range(2):
        answer = run(shop, "runs", "add", *words)
        assert (answer.status, answer.out) == (0, f"{file.relative_to(shop)}\n")
        assert ("warning: The run 1.0 has no day" in answer.err) == (name == "1.0")
    rows = {row["run"]: row for row in run(shop, "runs", "list", "--format", "json").parse_json()}
    assert rows[name]["tags"] == ADDITIONS[words]
    assert (file.read_bytes() == before) == (ADDITIONS[words] == "release")


def test_registered_run_gains_the_day_that_it_lacks(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shutil.copytree(ROOT / "starter", shop)
    with (shop / "assay.toml").open("a", encoding="utf-8") as file:
        file.write('results = "results"\n')
    answer = run(shop, "runs", "add", "runs/1.0", "--name", "v 1", "--tag", "release")
    assert (answer.status, answer.err) == (0, (
        "warning: The run v 1 has no day, without which `last:release` does not know the last of several runs. "
        "You may add it by `assay runs add 'v 1' --date YYYY-MM-DD`, or build a report over the run.\n"
    ))  # fmt: skip
    added = run(shop, "runs", "add", "v 1", "--date", "2026-05-14", "--commit", "5f3c2a1")
    assert (added.status, added.err) == (0, "")
    (row,) = run(shop, "runs", "list", "--format", "json").parse_json()
    assert (row["day"], row["commit"], row["tags"]) == ("2026-05-14", "5f3c2a1", "release")
    changed = run(shop, "runs", "add", "v 1", "--date", "2026-05-15")
    assert (changed.status, "with other `day`" in changed.err) == (2, True)


def test_recorded_run_without_logs_gains_tags(shop: Path) -> None:
    """The gate of `median:N:TAG` reads only results, so a run may be tagged without its logs."""
    assert run(shop, "runs", "remove", "night 1").status == 0
    shutil.rmtree(shop / "nights")
    assert run(shop, "runs", "add", "night 1", "--tag", "good").out == "results/runs/night%201.json\n"
    row = run(shop, "runs", "list", "--tag", "good", "--format", "json").parse_json()
    assert [(item["run"], item["results"], item["place"]) for item in row] == [("night 1", "1", "")]
    answer = run(shop, "query", "wait", "--run", "last:good")
    assert (answer.status, "error[run-without-logs]" in answer.err) == (2, True)


def test_repeats_of_a_registered_run_are_one_version(shop: Path) -> None:
    assert run(shop, "runs", "add", "nights/0", "nights/1", "--name", "both").status == 0
    assert run(shop, "build", "--run", "1.0", "--run", "both", "-o", "build/both").status == 0
    history = run(shop, "history", "wait", "--last", "2", "--format", "json").parse_json()
    assert len(history[0]["runs"]) == 2
    rows = {row["run"]: row for row in run(shop, "runs", "list", "--format", "json").parse_json()}
    assert (rows["both"]["results"], rows["both"]["place"]) == ("2", "nights/0, nights/1")
