"""Wrong use: exit status 2 wherever it is found, as text or as data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.lang.workspace import shipped
from tests.support.commands import assay
from tests.support.laboratory import ROOT

FETCH = ("fetch", "prometheus")
SINCE = ("--match", "up", "--end", "2026-01-02T00:00:00Z", "--start")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("http://localhost:1", *SINCE, "soon"), "error[bad-time]: --start is no time: soon\n"),
        (("http://localhost:1", *SINCE, "2026-01-03T00:00:00Z"), "error[bad-time]: --end is before --start\n"),
        (("localhost", *SINCE, "2026-01-01T00:00:00Z"), "error[bad-address]: "),
        (("http://localhost:1", *SINCE, "0", "--step-size", "x"), "error[bad-duration]: --step-size is no duration: x"),
    ],
)
def test_a_wrong_request_of_fetch_is_wrong_use(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = assay(*FETCH, *arguments, "-o", tmp_path / "out")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(said)


@pytest.mark.parametrize("command", [("verify",), ("trace", "--list")])
def test_a_build_that_does_not_exist_is_wrong_use(tmp_path: Path, command: tuple[str, ...]) -> None:
    name, *options = command
    done = assay(name, tmp_path / "nope", *options)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error[no-build]: the folder does not exist: {tmp_path / 'nope'}\n")


def test_a_build_is_named_by_its_provenance_too(two: Path, cache: Path) -> None:
    by_folder, by_file = (assay("trace", place, "--list", "--cache", cache) for place in (two, two / "provenance.json"))
    assert (by_file.status, by_file.out) == (0, by_folder.out)


@pytest.mark.parametrize("command", ["sql", "explain"])
def test_two_runs_are_refused_where_one_is_asked_for(command: str) -> None:
    done = assay(command, "cdfForgerTicked", "--run", ROOT, "--run", ROOT / "golden")
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith("Error: Option '--run' is given 2 times: this command takes one run.\n")


def test_wrong_use_is_told_as_data() -> None:
    done = assay("--errors", "json", "build", "cardano/comparison", "-o", "x")
    assert (done.status, done.out) == (2, "")
    assert json.loads(done.err) == [
        {
            "severity": "error",
            "code": "usage",
            "message": "Missing option '--run'.",
            "hint": "assay build --help tells its arguments and options",
        }
    ]


def test_nothing_is_accepted_where_there_is_no_workspace(tmp_path: Path, cache: Path) -> None:
    """What comes with Assay is nobody's workspace: it stays as it is."""
    place = shipped().normal_form("cardano")
    before = place.stat().st_mtime_ns, place.read_bytes()
    done = assay("check", "--accept", "--system", "cardano", "--cache", cache, within=tmp_path)
    assert (done.status, done.out, done.err) == (
        2,
        "",
        "error[no-workspace]: there is no workspace to write normal forms into\n"
        "  note: no folder here or above has specs/, so these are the specs that come with Assay\n"
        "  hint: `assay init DIR` makes one\n",
    )
    assert (place.stat().st_mtime_ns, place.read_bytes()) == before


BUILD = ("build", "cardano/comparison", "--run", "nowhere", "-o", "out")


@pytest.mark.parametrize("option", ["--date", "--title", "--author", "--summary", "--style"])
@pytest.mark.parametrize("form", ["apart", "together"])
def test_an_option_without_a_value_is_wrong_use(tmp_path: Path, option: str, form: str) -> None:
    """An unset variable of a shell makes such a one."""
    words = [option, ""] if form == "apart" else [f"{option}="]
    done = assay(*BUILD, *words, within=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert f"Option '{option}' is given an empty text: is a variable not set?" in done.err
    assert "assay build" in done.err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("diff", "", "."), "Argument 'A' is"),
        (("ingest", "nowhere", ""), "Argument 'RUN' is"),
        (("init", " "), "Argument 'DIR' is"),
        (("verify", ""), "Argument 'BUILD_FOLDER' is"),
        (("trace", "build", ""), "Argument 'SECTION/ROW/COLUMN' is"),
        (("explain", "wait", "--run", ""), "Option '--run' is"),
        (("sql", "wait", "--run", " "), "Option '--run' is"),
        (("--cache", "", "list", "metrics"), "Option '--cache' is"),
        (("cache", "--cache", "", "prune", "--all"), "Option '--cache' is"),
    ],
)
def test_what_is_empty_is_neither_the_current_folder_nor_nothing(
    tmp_path: Path, command: tuple[str, ...], said: str
) -> None:
    done = assay(*command, within=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert f"{said} given an empty text: is a variable not set?" in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("--cache", "a", "--cache", "b", "list", "metrics"),
         "Option '--cache' takes one value, and is given several: a, then b."),
        ((*BUILD, "--summary", "published", "--summary", "mean-of-hosts"),
         "Option '--summary' takes one value, and is given several: published, then mean-of-hosts."),
        ((*BUILD, "--output", "a"), "No such option"),
        ((*BUILD, "-o", "a", "--out", "out"), "Option '--out' takes one value, and is given several: out, then a."),
        (("list", "metrics", "--format", "csv", "--system", "a", "--format=json"),
         "Option '--format' takes one value, and is given several: csv, then json."),
        (("cache", "prune", "--to-size", "1GB", "--to-size", "2GB"),
         "Option '--to-size' takes one value, and is given several: 1GB, then 2GB."),
    ],
)  # fmt: skip
def test_values_of_an_option_of_one_that_differ_are_wrong_use(
    tmp_path: Path, command: tuple[str, ...], said: str
) -> None:
    done = assay(*command, within=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_an_option_that_is_given_twice_with_one_value_counts_once(cache: Path) -> None:
    once = assay("list", "filters", "--system", "cardano", "--cache", cache)
    twice = assay("list", "filters", "--system", "cardano", "--system", "cardano", "--cache", cache)
    assert (twice.status, twice.out) == (0, once.out)


def test_empty_and_unclear_options_are_data_where_errors_are(tmp_path: Path) -> None:
    done = assay("--errors", "json", *BUILD, "--date", "", within=tmp_path)
    assert done.status == 2
    (problem,) = json.loads(done.err)
    assert problem["code"] == "usage"
