"""Runs that are named wrongly, or hold less than they seem to: what is said of them, in a system of several sources."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from assay.app.runs import named_runs
from assay.ingest.discovery import TAKEN
from tests.support.commands import Done, assay
from tests.support.mixed import mixed, run_of


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with runs."""
    return mixed(tmp_path_factory.mktemp("mixed") / "here")


def asked(here: Path, cache: Path, *arguments: str | Path) -> Done:
    """What a command answers."""
    return assay(*arguments, "--cache", cache, within=here)


COMMANDS = {
    "build": ("build", "mix/main", "-o", "out", "--run"),
    "article": ("build", "mix/story", "-o", "out", "--run"),
    "query": ("query", "wait", "--run"),
    "explain": ("explain", "wait", "--run"),
    "sql": ("sql", "wait", "--run"),
    "ingest": ("ingest",),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_that_does_not_exist_is_wrong_use_of_every_command(here: Path, cache: Path, command: str) -> None:
    done = asked(here, cache, *COMMANDS[command], "nope")
    assert (done.status, done.out) == (2, "")
    assert done.err == f"error[no-run]: the run directory does not exist: nope\n  hint: {TAKEN}\n"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("runs/v11", "error[no-run]: the run directory does not exist: runs/v11\n  hint: did you mean `v1`?\n"),
        ("runs/v*", "error[no-run]: the run directory does not exist: runs/v*\n"
                    "  hint: a pattern in quotes stands for no run; each is named by a --run of its own\n"),
        ("runs/v1/facts.json", f"error[no-run]: the run is no directory: runs/v1/facts.json\n  hint: {TAKEN}\n"),
        ("nope.tar.gz", f"error[no-run]: the archive of the run does not exist: nope.tar.gz\n  hint: {TAKEN}\n"),
    ],
)  # fmt: skip
def test_a_wrong_place_of_a_run_is_told(here: Path, cache: Path, place: str, said: str) -> None:
    done = asked(here, cache, "query", "wait", "--run", place)
    assert (done.status, done.out, done.err) == (2, "", said)


def test_all_runs_that_do_not_exist_are_told_together(here: Path, cache: Path) -> None:
    done = asked(here, cache, "query", "wait", "--run", "a=nope", "--run", "runs/v1", "--run", "b=neither")
    assert done.status == 2
    assert done.err == (
        f"error[no-run]: the run directory does not exist: nope\n  hint: {TAKEN}\n\n"
        f"error[no-run]: the run directory does not exist: neither\n  hint: {TAKEN}\n"
    )


@pytest.mark.parametrize("again", ["runs/v1", "./runs/v1", "runs/../runs/v1/"])
def test_a_run_that_is_named_twice_is_told(here: Path, cache: Path, again: str) -> None:
    done = asked(here, cache, "query", "wait", "--run", "runs/v1", "--run", again)
    assert (done.status, done.err) == (2, "error[run-name]: the same run is named twice: runs/v1\n")


@pytest.fixture
def links(here: Path) -> Path:
    """A workspace with a link to a run, of another name."""
    for name, to in (("10.5", "v1"), ("also", "v2")):
        if not (here / "runs" / name).is_symlink():
            (here / "runs" / name).symlink_to(to, target_is_directory=True)
    return here


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
def test_a_run_is_called_as_the_user_wrote_it(links: Path, cache: Path, places: list[str], names: list[str]) -> None:
    words = [word for place in places for word in ("--run", place)]
    done = asked(links, cache, "query", "wait", *words, "--format", "json")
    assert done.status == 0, done.err
    assert [row["run"] for row in done.json()] == names


@pytest.mark.parametrize(("place", "name"), [(".", "v1"), ("hosts/..", "v1"), ("../10.5/../v1", "v1")])
def test_a_place_without_a_name_is_called_as_the_directory_is(links: Path, place: str, name: str) -> None:
    (links / "runs" / "v1" / "hosts").mkdir(exist_ok=True)
    with contextlib.chdir(links / "runs" / "v1"):
        (found,) = named_runs([place])
    (links / "runs" / "v1" / "hosts").rmdir()
    assert found.id == name


def test_a_run_that_is_named_by_a_link_as_well_is_named_twice(links: Path, cache: Path) -> None:
    done = asked(links, cache, "query", "wait", "--run", "runs/v1", "--run", "runs/10.5")
    assert (done.status, done.err) == (
        2,
        "error[run-name]: the same run is named twice: runs/v1\n  note: runs/10.5 leads to the same directory\n",
    )


def changed(tmp_path: Path, host: str, text: str, line: int = 0) -> Path:
    """A run in which a line of a host's log is another."""
    run = run_of(tmp_path / "run", "v1")
    log = run / host / "app.log"
    lines = log.read_text(encoding="utf-8").splitlines()
    lines[line] = text
    log.write_text("".join(f"{item}\n" for item in lines), encoding="utf-8")
    return run


UNKNOWN = "4 records of 1 name that the specs do not know: `other` (4); `assay inspect` lists them."
SILENT = (
    "warning: run: none of the log lines of hosts app-1, app-2, app-3 and 1 more is an event that the specs know "
    "(source app).\n"
)


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which but one host logs what the specs know."""
    run = run_of(tmp_path_factory.mktemp("silent") / "run", "v1")
    for host in ("app-1", "app-2", "app-3", "app-4"):
        (run / host / "app.log").write_text('{"ts": "2026-03-01T10:00:00Z", "kind": "other"}\n', encoding="utf-8")
    return run


def test_hosts_without_any_event_are_told_in_an_answer(here: Path, silent: Path, cache: Path) -> None:
    done = asked(here, cache, "query", "wait", "--run", silent)
    assert done.status == 0
    assert done.err == SILENT + f"warning: run: {UNKNOWN}\n" + "filters: none; average: all\n"


def test_hosts_without_any_event_are_told_in_a_report(here: Path, silent: Path, cache: Path, tmp_path: Path) -> None:
    done = asked(here, cache, "build", "mix/main", "--run", silent, "-o", tmp_path / "out", "--to", "md")
    said = SILENT.removeprefix("warning: run: ").rstrip()
    assert (done.status, said in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")) == (0, True)
    assert said in done.err


def test_hosts_without_any_event_are_told_in_an_explanation(here: Path, silent: Path, cache: Path) -> None:
    done = asked(here, cache, "explain", "wait", "--run", silent, "--format", "json")
    assert done.json()["run"]["warnings"] == [SILENT.removeprefix("warning: run: ").rstrip(), UNKNOWN]


def test_of_a_source_without_hosts_no_host_is_told(here: Path, cache: Path) -> None:
    done = asked(here, cache, "query", "users", "--run", "runs/v1")
    assert (done.status, done.err) == (0, "filters: none; average: all\n")


def test_a_broken_record_is_told_with_its_place_and_reason(here: Path, cache: Path, tmp_path: Path) -> None:
    run = changed(tmp_path, "app-2", '{"ts": "2026-03-01T10:00:00Z", "kind"}', 1)
    done = asked(here, cache, "query", "wait", "--run", run)
    assert done.status == 0
    assert done.err == (
        "warning: run: 1 broken log line left out (app-2: 1); it is app-2/app.log:2: not JSON.\n"
        "filters: none; average: all\n"
    )
