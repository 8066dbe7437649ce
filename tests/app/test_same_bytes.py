"""Test that equal definitions, data and options give equal bytes, whatever the environment."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.app.build.build_runs import build_runs
from assay.app.session.options import Options
from assay.app.session.runs import parse_runs
from assay.app.session.session import Session
from assay.engine.result_cache import Store
from tests.compare_reference import CARDANO
from tests.support import commands
from tests.support.cases import format_options, load_named_filters
from tests.support.commands import MODEL, run_assay_process
from tests.support.laboratory import DATE, ROOT, Laboratory
from tests.support.outcomes import assert_same
from tests.support.runs import copy_run

FILTERS = tuple(format_options(load_named_filters("model")))
PAIR = tuple(f"{case}={CARDANO / case / 'run'}" for case in ("baseline", "candidate"))


def build_fresh(lab: Laboratory, folder: Path, threads: int = 0) -> Path:
    """Build the report of two runs in this process, with an empty cache."""
    session = Session(lab.session.workspace, Store(folder / "cache"), threads=threads)
    build_runs(session, "cardano/comparison", parse_runs(PAIR), folder / "report", Options(filters=FILTERS, date=DATE))
    return folder / "report"


def test_other_folder_and_empty_cache_give_same_bytes(tmp_path: Path, two: Path) -> None:
    out = tmp_path / "a folder" / "elsewhere"
    result = commands.build(PAIR, out, tmp_path / "cache", *MODEL, cwd=tmp_path)
    assert (result.status, result.err) == (0, "")
    assert_same(out, two)


def test_copies_of_run_in_two_folders_give_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        copy_run("tiny/plain", tmp_path / name / "runs" / "plain")
        result = commands.build(["runs/plain"], Path("out"), tmp_path / name / "cache", cwd=tmp_path / name)
        assert (result.status, result.out) == (0, "out/report.pdf\n")
    assert_same(tmp_path / "first" / "out", tmp_path / "second" / "out")
    provenance = json.loads((tmp_path / "first" / "out" / "provenance.json").read_text(encoding="utf-8"))
    assert provenance["places"] == {"plain": "runs/plain"}


@pytest.mark.parametrize("threads", [1, 8])
def test_number_of_threads_changes_no_byte(
    lab: Laboratory, tmp_path: Path, two: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    numbers = _record_threads(monkeypatch)
    assert_same(build_fresh(lab, tmp_path, threads), two)
    # Engines of the results, and of the counts of samples that are missing.
    assert numbers
    assert set(numbers) == {threads}


def _record_threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the numbers of threads that a build sets in the engine."""
    from assay.app.compute import jobs

    numbers: list[int] = []
    connect_engine = jobs.connect

    def connect(threads: int, spill: Path, share: int = 1) -> duckdb.DuckDBPyConnection:
        connection = connect_engine(threads, spill, share)
        numbers.append(connection.execute("SELECT current_setting('threads')").fetchall()[0][0])
        return connection

    monkeypatch.setattr(jobs, "connect", connect)
    return numbers


def test_second_build_in_process_gives_same_bytes(lab: Laboratory, tmp_path: Path) -> None:
    first, second = (build_fresh(lab, tmp_path / name) for name in ("first", "second"))
    assert_same(first, second)


def test_order_of_file_listing_changes_no_byte(
    lab: Laboratory, tmp_path: Path, two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed_folders = _list_backwards(monkeypatch)
    names = [path.name for path in (ROOT / "golden").iterdir()]
    assert names == sorted(names, reverse=True)
    assert_same(build_fresh(lab, tmp_path), two)
    hosts = CARDANO / "candidate" / "run"
    assert {hosts, hosts / "node-3", ROOT / "templates" / "report"} <= {Path(place) for place in listed_folders}


def _list_backwards(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List folders from Z to A, and record which ones are listed."""
    folders: list[str] = []
    listdir, scandir = os.listdir, os.scandir

    def list_names(place: Any = ".") -> list[str]:
        folders.append(os.fspath(place) if isinstance(place, (str, os.PathLike)) else "")
        return sorted(listdir(place), reverse=True)

    @contextmanager
    def iter_entries(place: Any = ".") -> Iterator[Iterator[os.DirEntry[str]]]:
        folders.append(os.fspath(place) if isinstance(place, (str, os.PathLike)) else "")
        with scandir(place) as actual_entries:
            yield iter(sorted(actual_entries, key=lambda item: item.name, reverse=True))

    monkeypatch.setattr(os, "listdir", list_names)
    monkeypatch.setattr(os, "scandir", iter_entries)
    return folders


#: offset of the weight (usWeightClass) in the table OS/2 of an OpenType font
WEIGHT = 4


def copy_as_regular(font: Path, target: Path) -> None:
    """Create a copy of a font that claims regular weight."""
    content = bytearray(font.read_bytes())
    (tables,) = struct.unpack(">H", content[4:6])
    records = (struct.unpack(">4sIII", content[12 + 16 * i : 28 + 16 * i]) for i in range(tables))
    (start,) = (offset for tag, _, offset, _ in records if tag == b"OS/2")
    assert content[start + WEIGHT : start + WEIGHT + 2] == struct.pack(">H", 600)
    content[start + WEIGHT : start + WEIGHT + 2] = struct.pack(">H", 400)
    target.write_bytes(content)


@pytest.mark.skipif(sys.platform != "linux", reason="says by Linux's means which fonts the system has")
@pytest.mark.parametrize("fonts", ["none", "others of the same names"])
def test_system_fonts_change_no_byte(tmp_path: Path, two: Path, cache: Path, fonts: str) -> None:
    folder, settings = tmp_path / "fonts", tmp_path / "fonts.conf"
    folder.mkdir()
    settings.write_text(f'<?xml version="1.0"?><fontconfig><dir>{folder}</dir></fontconfig>\n', encoding="utf-8")
    env = {"FONTCONFIG_FILE": str(settings), "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    if fonts != "none":
        for path in (ROOT / "templates" / "fonts").glob("*-Semibold.otf"):
            copy_as_regular(path, folder / path.name)
    assert _list_fonts(env) == (set() if fonts == "none" else SHIPPED)
    out = tmp_path / "report"
    result = _build_in_process(out, copy_without_drawings(cache, tmp_path / "cache"), env)
    assert (result.status, result.err, result.out) == (0, "", f"{out / 'report.pdf'}\n")
    assert_same(out, two)


def copy_without_drawings(cache: Path, target: Path) -> Path:
    """Create a cache with events and results, but without drawings and rendered reports."""
    for name in ("specs", "ingest", "results"):
        shutil.copytree(cache / name, target / name)
    return target


SHIPPED = {"Source Sans 3", "Source Serif 4", "Source Serif 4 Display"}


def _list_fonts(env: Mapping[str, str]) -> set[str]:
    """List the system fonts that Typst finds, with additional environment variables."""
    program = "import typst; print(*typst.Fonts(include_embedded_fonts=False).families(), sep='\\n')"
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=True)
    return set(result.stdout.split("\n")) - {""}


def _build_in_process(out: Path, cache: Path, env: Mapping[str, str]) -> commands.CommandResult:
    """Build the report of two runs in a process with additional environment variables."""
    runs = [item for text in PAIR for item in ("--run", text)]
    options = ("-o", out, "--cache", cache, "--date", DATE, *MODEL)
    return run_assay_process("build", "cardano/comparison", *runs, *options, environment=env)


def test_time_zone_and_language_change_no_byte(tmp_path: Path, two: Path) -> None:
    env = {"TZ": "Pacific/Chatham", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    out = tmp_path / "report"
    result = _build_in_process(out, tmp_path / "cache", env)
    assert (result.status, result.err, result.out) == (0, "", f"{out / 'report.pdf'}\n")
    assert_same(out, two)
