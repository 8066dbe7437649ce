"""A run with more broken records than its source bears: every one of them is kept, for whoever is to mend it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.engine.pruning import entries
from assay.ingest import summary
from tests.support.commands import assay
from tests.support.runs import changed_log, copied

BROKEN = [f'{{"at":"broken {number}"' for number in range(30)]


def refused(run: Path, cache: Path) -> str:
    """The message of a run that is refused."""
    done = assay("ingest", run, "--system", "cardano", "--cache", cache)
    assert (done.status, done.out) == (1, "")
    return done.err


def named(said: str) -> Path:
    """The file that a message names."""
    found = re.search(
        r"note: (?:all|the first \d+) of them, with file, line, offset, reason and text, are in (\S+)", said
    )
    assert found, said
    return Path(found[1])


def rows(place: Path, *columns: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {', '.join(columns)} FROM read_parquet(?)", [str(place)]).fetchall()


def broken(tmp_path: Path, lines: Sequence[str] = BROKEN) -> Path:
    """A run that ends in broken lines."""
    run = copied("tiny/plain", tmp_path / "run")
    changed_log(run / "node-2", lambda good: [*good, *lines])
    return run


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_broken_lines_are_in_the_file_that_the_message_names(tmp_path: Path, cache: Path) -> None:
    run = broken(tmp_path)
    said = refused(run, cache)
    place = named(said)
    content = next((run / "node-2").glob("stdout*")).read_bytes()
    places = [content.index(line.encode()) for line in BROKEN]
    assert rows(place, "host", "text", '"offset"') == [
        ("node-2", line, at) for line, at in zip(BROKEN, places, strict=True)
    ]
    number = content[: places[0]].count(b"\n") + 1
    notes = [f"note: node-2/stdout:{number + n}, byte {places[n]}: not JSON" for n in range(3)]
    assert [line.strip() for line in said.splitlines() if "not JSON" in line] == notes
    assert place.is_relative_to(cache / "quarantine")


def test_next_attempt_replaces_or_removes_the_file(tmp_path: Path, cache: Path) -> None:
    run = broken(tmp_path)
    place = named(refused(run, cache))
    changed_log(run / "node-2", lambda lines: lines[:-10])
    assert named(refused(run, cache)) == place
    assert len(rows(place, "line")) == 20
    other = broken(tmp_path / "other")
    assert named(refused(other, cache)) != place
    assert [entry.kind for entry in entries(cache) if "quarantine" in entry.place.parts] == ["logs", "logs"]
    changed_log(run / "node-2", lambda lines: lines[:-20])
    assert assay("ingest", run, "--system", "cardano", "--cache", cache).status == 0
    assert not place.exists()
    assert not list((cache / "scratch").glob("*"))


def test_first_of_very_many_broken_lines_are_kept(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "DESCRIBED", 12)
    said = refused(broken(tmp_path), cache)
    assert "the first 12 of them" in said
    assert [text for (text,) in rows(named(said), "text")] == BROKEN[:12]
