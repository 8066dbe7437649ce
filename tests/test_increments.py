"""What was read of log files is not read again when others are added."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import duckdb
import pytest

from assay.ingest import shares
from tests.support.commands import assay
from tests.support.runs import copied, lines_of

BYTES = b"\xff"


def plain_run(case: str, target: Path) -> Path:
    """A run with the log of each host in two plain files."""
    run = copied(case, target)
    for host in run.glob("node-*"):
        lines = lines_of(host)
        for file in host.iterdir():
            file.unlink()
        for name, part in (("node-0.json", lines[: len(lines) // 2]), ("node-1.json", lines[len(lines) // 2 :])):
            (host / name).write_text("".join(f"{line}\n" for line in part), encoding="utf-8")
    return run


def unreadable(file: Path) -> None:
    """Other bytes in the place of a file's but for its first line, which nothing but reading it tells."""
    before = file.stat()
    with file.open("r+b") as stream:
        first = len(stream.readline())
        stream.seek(first)
        stream.write(BYTES * (before.st_size - first))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def rows(run: Path, cache: Path) -> dict[str, list[tuple[object, ...]]]:
    """All events of a run, and what is counted of its lines."""
    done = assay("ingest", run, "--system", "cardano", "--cache", cache)
    assert done.status == 0, done.err
    folder = Path(done.out.strip())
    places = {path.name: f"{path}/*.parquet" for path in (folder / "events").iterdir()}
    places |= {name: f"{folder}/{name}.parquet" for name in ("logs", "counts", "quarantine")}
    return {name: duckdb.sql(f"SELECT * FROM read_parquet('{place}') ORDER BY ALL").fetchall()
            for name, place in places.items()}  # fmt: skip


def test_a_file_that_is_added_is_read_alone(tmp_path: Path) -> None:
    run = plain_run("tiny/plain", tmp_path / "run")
    whole = rows(run, tmp_path / "other cache")
    late = sorted(run.glob("node-*/node-1.json"))[-1]
    text = late.read_bytes()
    late.unlink()
    before = rows(run, tmp_path / "cache")
    for file in run.glob("node-*/node-*.json"):
        unreadable(file)
    late.write_bytes(text)
    assert rows(run, tmp_path / "cache") == whole != before


def test_broken_lines_of_files_that_were_read_before_are_told_as_well(tmp_path: Path) -> None:
    run = plain_run("tiny/plain", tmp_path / "run")
    for file in run.glob("node-*/node-*.json"):
        file.write_text(file.read_text(encoding="utf-8") + '{"at":"2026-02-05T18\n', encoding="utf-8")
    whole = rows(run, tmp_path / "other cache")
    late = sorted(run.glob("node-*/node-1.json"))[-1]
    text = late.read_bytes()
    late.unlink()
    before = rows(run, tmp_path / "cache")
    late.write_bytes(text)
    assert rows(run, tmp_path / "cache") == whole != before
    assert len(whole["quarantine"]) == len(before["quarantine"]) + 1 > 3


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    run = plain_run("tiny/plain", tmp_path / "run")
    before = rows(run, tmp_path / "cache")
    file = sorted(run.glob("node-*/node-1.json"))[-1]
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-5]), encoding="utf-8")
    after = rows(run, tmp_path / "cache")
    assert after == rows(run, tmp_path / "other cache") != before


def test_a_batch_that_is_damaged_is_read_again(tmp_path: Path) -> None:
    run = plain_run("tiny/plain", tmp_path / "run")
    whole = rows(run, tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache" / "ingest")
    (facts,) = (tmp_path / "cache").glob("batches/*/*/batch.json")
    facts.write_text(facts.read_text(encoding="utf-8")[:100], encoding="utf-8")
    assert rows(run, tmp_path / "cache") == whole
    assert json.loads(facts.read_text(encoding="utf-8"))["files"]


@pytest.mark.parametrize("piece", [5000, 700])
def test_a_large_file_is_read_in_pieces_and_nothing_tells(
    piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = plain_run("tiny/plain", tmp_path / "run")
    for number, file in enumerate(sorted(run.glob("node-*/node-*.json"))):
        lines = file.read_text(encoding="utf-8").splitlines()
        lines[10:10] = ["a text", '{"at":"2026-02-05T18', "\ufeff", "x" * (300 * number)]
        file.write_text(("\r\n" if number % 2 else "\n").join(lines), encoding="utf-8")
    whole = rows(run, tmp_path / "cache")
    assert len(whole["quarantine"]) >= 5
    monkeypatch.setattr(shares, "PIECE", piece)
    monkeypatch.setattr(shares, "ROUND", 4 * piece)
    assert rows(run, tmp_path / "pieces") == whole
    folders = list((tmp_path / "pieces").glob("batches/*/*"))
    assert len(folders) > 3
    # Some pieces are lost, and what is lost alone is read again.
    shutil.rmtree(tmp_path / "pieces" / "ingest")
    for folder in folders[::2]:
        shutil.rmtree(folder)
    assert rows(run, tmp_path / "pieces") == whole
