"""Texts of ingest's statements that are ready: those of the shipped specs, while code and library are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

import assay
from assay.build import compiling
from assay.build.handing import statement
from assay.ingest import ready_texts
from assay.ingest.ready_texts import MAKERS, keep, text
from tests.compare_reference import CARDANO

PACKAGE = Path(assay.__file__).parent
RUN = CARDANO / "tiny" / "plain" / "run"


def forget() -> None:
    """As a fresh process knows nothing."""
    ready_texts._asked.clear()
    ready_texts._ready.cache_clear()
    ready_texts._name.cache_clear()


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where Python keeps what it compiles, elsewhere; nothing is ready."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "compiled"))
    forget()
    yield ready_texts._place()
    forget()


def never() -> str:
    """What makes a text that is ready."""
    pytest.fail("it is ready")


def test_what_is_kept_is_ready() -> None:
    assert text("a", lambda: "SELECT 1") == text("a", never) == "SELECT 1"
    keep()
    forget()
    assert text("a", never) == "SELECT 1"
    text("b", lambda: "SELECT 2")
    keep()
    forget()
    assert (text("a", never), text("b", never)) == ("SELECT 1", "SELECT 2")
    forget()
    text("c", lambda: "SELECT 3")
    keep(others=False)
    forget()
    assert (text("c", never), text("a", lambda: "anew")) == ("SELECT 3", "anew")


def test_so_many_are_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready_texts, "MOST", 2)
    for name in "abc":
        text(name, lambda: "SELECT 1")
        keep()
        forget()
    assert (text("c", never), text("a", lambda: "anew")) == ("SELECT 1", "anew")


@pytest.mark.parametrize("what", ["code", "library"])
def test_other_code_or_another_library_makes_it_stale(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text("a", lambda: "SELECT 1")
    keep()
    forget()
    monkeypatch.setattr(f"assay.storage.compiled.{what}", lambda _: "another")
    assert text("a", lambda: "anew") == "anew"


def test_what_is_damaged_is_not_taken(place: Path) -> None:
    text("a", lambda: "SELECT 1")
    keep()
    whole = place.read_bytes()
    for damaged in (whole[:-1], whole.replace(b"SELECT", b"DELETE"), b"", b"\xff" + whole, b"\0" * len(whole)):
        place.write_bytes(damaged)
        forget()
        assert text("a", lambda: "anew") == "anew"


def test_where_nothing_can_be_kept_nothing_is_lost(place: Path) -> None:
    text("a", lambda: "SELECT 1")
    place.mkdir(parents=True)
    keep()
    forget()
    assert text("a", lambda: "anew") == "anew"
    assert [item.name for item in place.parent.iterdir()] == [place.name]


def test_all_code_that_makes_texts_is_among_what_they_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    called: set[str] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        path = Path(code.co_filename)
        loads = code.co_name == "<module>" or path.name == "__init__.py"
        if event == "call" and not loads and path.is_relative_to(PACKAGE):
            called.add(path.relative_to(PACKAGE).as_posix())

    def watched(name: str, make: Callable[[], str]) -> str:
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            return ready_texts._asked.setdefault(name, make())
        finally:
            sys.setprofile(before)

    for where in ("ingest.ready_texts.text", "ingest.small_tables.text"):
        monkeypatch.setattr(f"assay.{where}", watched)
    compiling.compile_shipped()
    statement([("a", True), ("b", False)])
    assert {"sql/copying.py", "ingest/event_rows.py", "build/handing.py"} <= called <= set(MAKERS)


def test_a_run_of_a_shipped_system_is_read_without_the_library_of_trees(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "fresh"), "ASSAY_CACHE": str(tmp_path / "cache")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)

    def python(program: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", program], env=env, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    read = (
        "import sys\n"
        "from assay.cli.main import main\n"
        f"try: main(['ingest', '--system', 'cardano', {str(RUN)!r}, '--cache', sys.argv[-1]])\n"
        "except SystemExit as ended: print(ended.code, 'sqlglot' in sys.modules)"
    )
    first = python(read.replace("sys.argv[-1]", "'one'"))
    again = python(read.replace("sys.argv[-1]", "'two'"))  # what the first one made is ready
    python("from assay.build.compiling import compile_shipped; compile_shipped()")
    assert [lines[-1] for lines in (first, again)] == ["0 True", "0 False"]
    assert python(read.replace("sys.argv[-1]", "'three'"))[-1] == "0 False"
    folders = [tmp_path / lines[0] for lines in (first, again)]
    tables = [{path.relative_to(item): path.read_bytes() for path in item.rglob("*.parquet")} for item in folders]
    assert tables[0]
    assert tables[0] == tables[1]
