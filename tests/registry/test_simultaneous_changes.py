"""Change a results folder from several sides at once: no change is lost, and no reader sees a part of one.

A change is held at the point between reading and writing while another one runs, or its process is killed there.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from assay.app.compare.register_run import register_run
from assay.registry import store
from assay.registry.model import Registration
from assay.registry.store import append_results, list_runs, read_results, record_build, remove_run
from assay.util.diagnostics import AssayError
from tests.support.clusters import finish, start_assay, start_python
from tests.support.commands import run_assay

PATIENCE = 0.05  # seconds in which a change without a lock ends: a test that fails without it, never with it
Change = Callable[[Path, Path], object]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the workspace of `assay init` with two builds, `plain` and `hosts`."""
    folder = tmp_path_factory.mktemp("simultaneous") / "shop"
    assert run_assay("init", folder).status == 0
    for options in (("-o", "build/plain"), ("-o", "build/hosts", "--by", "host")):
        assert run_assay("--cache", folder / "cache", "build", "--to", "md", *options, cwd=folder).status == 0
    return folder


@pytest.fixture
def folder(shop: Path, tmp_path: Path) -> Path:
    """Create a results folder with a registered run."""
    register_run(tmp_path / "results", Registration([str(shop / "runs" / "1.0")], "v", ["first"]))
    return tmp_path / "results"


#: every way to change a results folder
CHANGES: dict[str, Change] = {
    "add a tag": lambda folder, _: register_run(folder, Registration(["v"], tags=["second"])),
    "add another tag": lambda folder, shop: register_run(
        folder, Registration([str(shop / "runs" / "1.0")], "v", ["third"])
    ),
    "add a commit": lambda folder, _: register_run(folder, Registration(["v"], commit="c0ffee")),
    "add a day": lambda folder, _: register_run(folder, Registration(["v"], day="2026-01-05")),
    "add a run": lambda folder, shop: register_run(folder, Registration([str(shop / "runs" / "1.1")], "w")),
    "remove the run": lambda folder, _: remove_run(folder, "v"),
    "record results": lambda folder, shop: append_results(folder, shop / "build" / "plain"),
    "record groups": lambda folder, shop: record_build(folder, shop / "build" / "hosts"),
}


def read_state(folder: Path) -> tuple[list[object], list[object]]:
    """Return everything that a results folder holds: runs and results."""
    runs = [(run.name, run.places, run.tags, run.commit, run.day) for run in list_runs(folder)]
    return runs, [(item.name, item.id) for item in read_results(folder)]


def change(folder: Path, shop: Path, *names: str) -> None:
    """Make changes one after the other. One that is impossible, such as to remove a run twice, changes nothing."""
    for name in names:
        with suppress(AssayError):
            CHANGES[name](folder, shop)


@contextmanager
def interrupt_writing(action: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Call a function when this thread has read a folder, and is about to write or to remove a file."""
    this_thread = threading.current_thread()

    def interrupt(function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: Any) -> object:
            if threading.current_thread() is this_thread:
                action()
            return function(*arguments)

        return call

    with monkeypatch.context() as patch:
        for name in ("write_files", "_remove_file"):
            patch.setattr(store, name, interrupt(getattr(store, name)))
        yield


@pytest.mark.parametrize(("first", "second"), list(itertools.product(CHANGES, repeat=2)))
def test_two_changes_are_one_after_the_other(
    folder: Path, shop: Path, tmp_path: Path, first: str, second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = []
    for number, order in enumerate([(first, second), (second, first)]):
        copy = tmp_path / f"copy-{number}"
        register_run(copy, Registration([str(shop / "runs" / "1.0")], "v", ["first"]))
        change(copy, shop, *order)
        expected.append(read_state(copy))
    other = threading.Thread(target=change, args=(folder, shop, second))

    def run_other() -> None:
        if not other.ident:
            other.start()
            other.join(PATIENCE)

    with interrupt_writing(run_other, monkeypatch):
        change(folder, shop, first)
    if other.ident:
        other.join()
        assert read_state(folder) in expected


@pytest.mark.parametrize("name", CHANGES)
def test_reader_waits_for_a_change(folder: Path, shop: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build of two runs has two results: a reader sees both or none."""
    before, states = read_state(folder), list[object]()
    reader = threading.Thread(target=lambda: states.append(read_state(folder)))
    replace = store.Path.replace

    def run_reader(path: Path, target: Path) -> Path:
        answer = replace(path, target)
        if not reader.ident:
            reader.start()
            reader.join(PATIENCE)
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", run_reader)
        change(folder, shop, name)
    if reader.ident:
        reader.join()
    assert states in ([], [read_state(folder)])
    assert read_state(folder) != before


#: makes a change in processes that are killed before their first, second, ... step of writing, until one ends
KILLED = """
import itertools, os, shutil, signal, sys
from pathlib import Path
import duckdb  # once, not in each process
from tests.registry.test_simultaneous_changes import CHANGES

def kill_at(step):
    steps = itertools.count()
    def install(name):
        function = getattr(Path, name)
        def call(*arguments, **options):
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)
        setattr(Path, name, call)
    for name in ("write_bytes", "replace", "unlink"):
        install(name)

def make_change(folder, shop, name, step):
    child = os.fork()
    if not child:
        kill_at(step)
        CHANGES[name](folder, shop)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL)
    return status

source, shop, target = map(Path, sys.argv[1:])
for number, name in enumerate(CHANGES):
    for step in itertools.count():
        folder = target / f"{number}-{step}"
        shutil.copytree(source, folder)
        if make_change(folder, shop, name, step) == 0:
            break
"""


def test_killed_change_is_whole_or_absent(folder: Path, shop: Path, tmp_path: Path) -> None:
    """Each file is. A killed process may have recorded one of the runs of a build; the same command adds the other."""
    (tmp_path / "killed").mkdir()
    finish(start_python(folder.parent, "-c", KILLED, str(folder), str(shop), str(tmp_path / "killed")))
    before = list_facts(folder)
    for number, name in enumerate(CHANGES):
        *killed, complete = sorted((tmp_path / "killed").glob(f"{number}-*"), key=lambda path: int(path.name[2:]))
        after = list_facts(complete)
        assert after != before
        assert killed
        for copy in killed:
            state = list_facts(copy)
            assert before & after <= state <= before | after, (name, copy.name)
            change(copy, shop, name)
            assert list_facts(copy) == after
            assert not list(copy.rglob(".*"))


def list_facts(folder: Path) -> set[object]:
    """Return a fact for each run, with all that is known of it, and for each recorded result."""
    runs, results = read_state(folder)
    return {*runs, *results}


def test_processes_lose_no_tag_and_no_result(folder: Path, shop: Path) -> None:
    commands = [("runs", "add", "v", "--tag", f"{letter}{number}") for letter in "ab" for number in range(2)]
    commands += [("results", "add", str(shop / "build" / name)) for name in ("plain", "hosts")]
    processes = [start_assay(shop, *command, "--results", str(folder)) for command in commands]
    for process in processes:
        finish(process)
    (run,) = list_runs(folder)
    assert run.tags == ("a0", "a1", "b0", "b1", "first")
    assert [item.name for item in read_results(folder)] == ["1.0", "1.0", "1.1", "1.1"]


def test_unknown_run_creates_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    with pytest.raises(AssayError, match="no run `v` is registered"):
        remove_run(folder, "v")
    with pytest.raises(AssayError, match="no-run"):
        register_run(folder, Registration(["v"]))
    assert not folder.exists()


def test_known_facts_need_no_writable_folder(folder: Path, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(folder, shop, "record results")
    monkeypatch.setattr(store, "write_files", lambda *_: pytest.fail("a file is written"))
    assert CHANGES["record results"](folder, shop) == ()
    assert register_run(folder, Registration(["v"], tags=["first"])).tags == ("first",)
