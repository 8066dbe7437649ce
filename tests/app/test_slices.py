"""Test `assay slice`: examples from real runs, which `assay test` runs."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.app.author.sliced_runs import _Table
from assay.ingest.plain_copies import read_raw_lines
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import copy_workspace, edit_file

SLICE = "examples/wait-web-1-1-000"
COMETBFT = ROOT / "golden/cometbft/run"
EXPERIMENT = "947a486c-d200-4ffe-b73a-d2b72c9f89a4"


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return a new workspace."""
    folder = tmp_path_factory.mktemp("slices")
    assert run_assay("--cache", cache, "init", "own", cwd=folder).status == 0
    return folder / "own"


def write_slice(workspace: Path, cache: Path, *arguments: str | Path) -> CommandResult:
    return run_assay("--cache", cache, "slice", *arguments, cwd=workspace)


def list_contents(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def test_slice_has_the_lines_behind_a_sample_verbatim(starter: Path, cache: Path, tmp_path: Path) -> None:
    arguments = ("wait", "--run", "runs/1.0", "--around", "request=1-000")
    result = write_slice(starter, cache, *arguments)
    assert result.out.splitlines() == [
        f"{SLICE}: wait is 1.256 ms of host web-1, request 1-000",
        "  meta.json        whole",
        "  web-1/log.jsonl  2 lines: 1, 2",
        "run `assay test` to test it",
    ]
    contents = list_contents(starter / SLICE)
    lines = (starter / "runs/1.0/web-1/log.jsonl").read_bytes().splitlines(keepends=True)
    assert contents["run/web-1/log.jsonl"] == b"".join(lines[:2])
    assert contents["run/meta.json"] == (starter / "runs/1.0/meta.json").read_bytes()
    assert contents.keys() == {"example.json", "run/web-1/log.jsonl", "run/meta.json"}
    again = write_slice(starter, cache, *arguments, "-o", tmp_path / "again")
    assert (again.status, list_contents(tmp_path / "again")) == (0, contents)
    tested = run_assay("--cache", cache, "test", cwd=starter)
    assert (tested.status, tested.out.splitlines()[0]) == (0, "service: 2 examples, 4 expectations")


def test_another_value_than_in_the_run_fails_with_its_place(starter: Path, cache: Path, tmp_path: Path) -> None:
    place = tmp_path / "own"
    for name in ("specs", "queries"):
        copy_tree(starter / name, place / name)
    arguments = ("work", "--run", starter / "runs/1.1", "--around", "request=1-003", "-o", "examples/slow")
    assert write_slice(place, cache, *arguments).status == 0
    expected = json.loads((place / "examples/slow/example.json").read_bytes())["expect"][0]["value"]
    edit_file(place / "examples/slow/example.json", f'"value": "{expected}"', '"value": "7"')
    tested = run_assay("--cache", cache, "test", cwd=place)
    assert (tested.status, tested.out.splitlines()[1:5]) == (
        3,
        [
            "  FAILED slow at examples/slow/example.json:13:13",
            "    work, ms of host web-1, request 1-003",
            "      expected: 7",
            f"      found:    {expected}",
        ],
    )


def copy_tree(source: Path, target: Path) -> None:
    for name, content in list_contents(source).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["wait", "--around", "requst=1"],
            "a sample of `wait` has no column `requst`\n  hint: did you mean `request`?",
        ),
        (["wait", "--around", "request=1-00"], "no sample of `wait` in run 1.0 has request 1-00\n  hint: did you mean"),
        (["wait", "--around", "host=web-1"], "60 samples of `wait` in run 1.0 have host web-1\n  note: host web-1,"),
        (["wait"], "120 samples of `wait` in run 1.0\n"),
        (["wait"], "\n  hint: also pass the columns of one, such as --around host=web-1 --around request=1-000\n"),
        (
            ["wait", "--around", "request=1-000", "-o", "build/slow.dhall"],
            "-o names a file, but a slice is a folder: build/slow.dhall\n"
            "  expected: the name of a folder\n  hint: pass -o build/slow\n",
        ),
        (["wait", "--around", "request"], "`request` names no column and value"),
        (
            ["wait", "--around", "request=1-000", "--around", "host=web-2"],
            "no sample of `wait` in run 1.0 has request 1-000, host web-2\n  hint: each of these values occurs",
        ),
        (["wait", "--around", "request=1-000", "-o", "specs/x"], "the output folder is within the workspace's specs/"),
        (["wait", "--around", "request=1-000", "-o", "runs"], "the folder is not empty: runs"),
    ],
)
def test_sample_that_cannot_be_sliced(starter: Path, cache: Path, arguments: list[str], message: str) -> None:
    result = write_slice(starter, cache, *arguments, "--run", "runs/1.0")
    assert result.status == 2
    assert message in result.err


def test_formula_has_no_samples_to_slice(cache: Path) -> None:
    result = write_slice(ROOT, cache, "disk_writes_per_year", "--run", "anywhere")
    assert (result.status, "`disk_writes_per_year` is a formula, which has no samples" in result.err) == (2, True)


EXPECTED: dict[str, object] = {
    "metric": "wait",
    "unit": "ms",
    "row": {"host": "web-1", "request": "1-000"},
    "value": "1.256",
}
EXAMPLE: dict[str, object] = {"format": 1, "system": "service", "filters": [], "expect": [EXPECTED]}


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("format", 2, "the example has an unknown format\n  at examples/x/example.json:1:12"),
        ("system", "servce", "there is no system `servce`\n  at examples/x/example.json:1:25"),
        ("filters", 3, "`filters` is not a list"),
        ("filters", [3], "`filters` has other values than texts"),
        ("filters", ["slow"], "there is no filter `slow`"),
        ("expect", [], "the example expects no sample"),
        ("expect", [3], "the example has a wrong form"),
        ("expect", [{"metric": "wait"}], "`unit` is missing"),
        ("metric", "wat", "there is no metric `wat` with samples"),
        ("unit", "s", "the metric `wait` has another unit than the example"),
        ("row", {"host": "web-1"}, "the row does not have the columns that identify a sample of `wait`"),
        ("value", "much", "the value is not a decimal number"),
    ],
)
def test_file_of_a_slice_is_checked(
    starter: Path, cache: Path, tmp_path: Path, member: str, value: object, message: str
) -> None:
    for name in ("specs", "queries"):
        copy_tree(starter / name, tmp_path / name)
    edited = {**EXAMPLE, member: value} if member in EXAMPLE else {**EXAMPLE, "expect": [{**EXPECTED, member: value}]}
    file = tmp_path / "examples/x/example.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(edited), encoding="utf-8")
    result = run_assay("--cache", cache, "test", cwd=tmp_path)
    assert result.status != 0
    assert message in result.out + result.err


@pytest.fixture(scope="module")
def cometbft(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_workspace(tmp_path_factory.mktemp("cometbft"))


def read_expected(folder: Path) -> dict[str, object]:
    expected: dict[str, object] = json.loads((folder / "example.json").read_bytes())["expect"][0]
    return expected


def test_row_whose_key_is_the_number_of_its_line(cometbft: Path, cache: Path) -> None:
    """Row 46049 of the table is row 1 of the slice."""
    arguments = ("latency", "--run", COMETBFT, "--around", "place=46049", "-o", "examples/one")
    assert write_slice(cometbft, cache, *arguments).status == 0
    with gzip.open(COMETBFT / "report/raw_node0.csv.gz", "rb") as stream:
        lines = stream.read().splitlines(keepends=True)
    assert (cometbft / "examples/one/run/report/raw_node0.csv").read_bytes() == lines[0] + lines[46049]
    (row,) = csv.DictReader([lines[0].decode(), lines[46049].decode()])
    expected = read_expected(cometbft / "examples/one")
    assert expected["row"] == {"experiment_id": row["experiment_id"], "place": "1"}
    assert expected["value"] == f"{int(row['duration_ns']) / 1e9:.9f}"
    tested = run_assay("--cache", cache, "test", "--system", "cometbft", "--format", "json", cwd=cometbft)
    assert {item["example"]: item["holds"] for item in tested.parse_json()[0]["examples"]}["one"]


def test_records_that_the_value_does_not_name_are_added(cometbft: Path, cache: Path) -> None:
    """No block was caught up: no record is behind the 0, and yet the logs need one."""
    arguments = ("node_blocks_caught_up", "--run", COMETBFT, "--around", "node=validator1", "-o", "examples/none")
    result = write_slice(cometbft, cache, *arguments)
    assert (result.status, result.out.splitlines()[-3:-1]) == (
        0,
        ["needed besides the records behind the value:", "  logs/ephemeral0.log.gz:32"],
    )


def test_sample_of_too_many_records_is_refused(cometbft: Path, cache: Path) -> None:
    result = write_slice(cometbft, cache, "valid_txs", "--run", COMETBFT, "--around", f"experiment_id={EXPERIMENT}")
    assert (result.status, "the sample is computed from 18147 records, too many to read" in result.err) == (2, True)


def test_rows_of_tables_are_copied_as_they_are(tmp_path: Path) -> None:
    rows = [b"a;b\r\n", b'1;"x\r\ny"\r\n', b"\r\n", b"2;z\r\n", b"3;"]
    (tmp_path / "t.csv").write_bytes(b"sep=;\r\n" + b"".join(rows))
    table = _Table(tmp_path / "t.csv")
    assert table.read_rows({1}) == (b"sep=;\r\n" + rows[0] + rows[1], (2, 3, 4))
    assert table.read_rows({2, 3}) == (b"sep=;\r\n" + rows[0] + rows[3] + rows[4], (2, 6, 7))


@given(
    st.lists(st.sampled_from([b"", b"a", b"\r", b"\xff\xfe", b"long " * 9])), st.booleans(), st.sets(st.integers(1, 9))
)
def test_raw_lines_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], is_ended: bool, numbers: set[int]
) -> None:
    content = b"\n".join(texts) + b"\n" * is_ended
    file = tmp_path_factory.getbasetemp() / "raw-lines.log"
    file.write_bytes(content)
    lines: list[bytes] = re.findall(rb"[^\n]*\n|[^\n]+", content)
    expected = {number: line for number, line in enumerate(lines, start=1) if number in numbers}
    assert read_raw_lines(file, numbers) == expected
