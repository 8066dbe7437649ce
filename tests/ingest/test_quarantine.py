"""Test a run with more broken records than its source allows: every one of them is saved for inspection."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.engine.pruning import list_entries
from assay.ingest import summary
from tests.support.commands import run_assay
from tests.support.runs import change_log, copy_run

BROKEN = [f'{{"at":"broken {number}"' for number in range(30)]


def read_refusal(run: Path, cache: Path) -> str:
    """Return the message of a run that is refused."""
    result = run_assay("ingest", run, "--system", "cardano", "--cache", cache)
    assert (result.status, result.out) == (1, "")
    return result.err


def find_named_file(message_text: str) -> Path:
    """Return the file that a message names."""
    match = re.search(
        r"note: (?:all|the first \d+) of them, with file, line, offset, reason and text, are in (\S+)", message_text
    )
    assert match, message_text
    return Path(match[1])


def read_rows(place: Path, *columns: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {', '.join(columns)} FROM read_parquet(?)", [str(place)]).fetchall()


def create_broken_run(tmp_path: Path, lines: Sequence[str] = BROKEN) -> Path:
    """Create a run that ends in broken lines."""
    run = copy_run("tiny/plain", tmp_path / "run")
    change_log(run / "node-2", lambda good_lines: [*good_lines, *lines])
    return run


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_broken_lines_are_in_the_file_that_the_message_names(tmp_path: Path, cache: Path) -> None:
    run = create_broken_run(tmp_path)
    message_text = read_refusal(run, cache)
    place = find_named_file(message_text)
    content = next((run / "node-2").glob("stdout*")).read_bytes()
    places = [content.index(line.encode()) for line in BROKEN]
    assert read_rows(place, "host", "text", '"offset"') == [
        ("node-2", line, offset) for line, offset in zip(BROKEN, places, strict=True)
    ]
    number = content[: places[0]].count(b"\n") + 1
    notes = [f"note: node-2/stdout:{number + n}, byte {places[n]}: not JSON" for n in range(3)]
    assert [line.strip() for line in message_text.splitlines() if "not JSON" in line] == notes
    assert place.is_relative_to(cache / "quarantine")


def test_next_attempt_replaces_or_removes_the_file(tmp_path: Path, cache: Path) -> None:
    run = create_broken_run(tmp_path)
    place = find_named_file(read_refusal(run, cache))
    change_log(run / "node-2", lambda lines: lines[:-10])
    assert find_named_file(read_refusal(run, cache)) == place
    assert len(read_rows(place, "line")) == 20
    other_run = create_broken_run(tmp_path / "other")
    assert find_named_file(read_refusal(other_run, cache)) != place
    assert [entry.kind for entry in list_entries(cache) if "quarantine" in entry.path.parts] == ["logs", "logs"]
    change_log(run / "node-2", lambda lines: lines[:-20])
    assert run_assay("ingest", run, "--system", "cardano", "--cache", cache).status == 0
    assert not place.exists()
    assert not list((cache / "scratch").glob("*"))


def test_first_of_very_many_broken_lines_are_saved(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "DESCRIBED_LINES", 12)
    message_text = read_refusal(create_broken_run(tmp_path), cache)
    assert "the first 12 of them" in message_text
    assert [text for (text,) in read_rows(find_named_file(message_text), "text")] == BROKEN[:12]
