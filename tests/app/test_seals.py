"""Test seals of cached files: content lost in a power failure counts as absent."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

import pytest

from assay.app.session.inputs import SETTLED
from assay.util.checksums import END, is_sealed, seal, seal_text, unseal_text
from tests.support.commands import run_assay
from tests.support.laboratory import DATE
from tests.support.outcomes import read_contents

RUNS = ("--run", "1.0=runs/1.0", "--run", "1.1=runs/1.1")
#: kind of entry -> kinds that must be removed so that it is read
KINDS = {
    "builds": (),
    "rendered": ("builds",),
    "drawings": ("builds", "rendered"),
    "results": ("builds", "rendered"),
    "ingest": ("builds", "rendered", "results"),
    "batches": ("builds", "rendered", "results", "ingest"),
    "specs": ("builds",),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with a report in `out`, built from `cache`."""
    folder = tmp_path_factory.mktemp("seals") / "place"
    assert run_assay("init", folder).status == 0
    time.sleep(SETTLED / 1e9)  # otherwise no build is cached
    build(folder, folder / "out", folder / "cache")
    return folder


def build(place: Path, out: Path, cache: Path) -> None:
    command = ("build", "service/comparison", *RUNS, "-o", out, "--cache", cache, "--date", DATE, "--to", "html")
    result = run_assay(*command, cwd=place)
    assert (result.status, result.err) == (0, "")


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_entries_are_computed_again(kind: str, place: Path, tmp_path: Path) -> None:
    for damaged in (b"", None):  # None: zeros of the same size
        cache = tmp_path / "cache"
        shutil.copytree(place / "cache", cache)
        for other in KINDS[kind]:
            shutil.rmtree(cache / other)
        files = [path for path in (cache / kind).rglob("*") if path.is_file() and path.stat().st_size]
        assert files
        for file in files:
            saved_content = file.read_bytes()
            file.unlink()  # it may have hard links
            file.write_bytes(bytes(len(saved_content)) if damaged is None else damaged)
        build(place, tmp_path / "out", cache)
        assert read_contents(tmp_path / "out") == read_contents(place / "out")
        for folder in ("out", "cache"):
            shutil.rmtree(tmp_path / folder)


def test_swapped_results_and_wrong_hashes_count_as_damaged(place: Path, tmp_path: Path) -> None:
    """Regression: reports had values of other metrics and hashes of no file."""
    cache = tmp_path / "cache"
    shutil.copytree(place / "cache", cache)
    for other in KINDS["results"]:
        shutil.rmtree(cache / other)
    results = sorted((cache / "results").glob("*.metric.sealed"))
    texts = [path.read_bytes() for path in results]
    assert len(set(texts)) > 1
    for path, text in zip(results, texts[1:] + texts[:1], strict=True):
        path.write_bytes(text)
    memo = (cache / "files.json").read_text("utf-8")
    (cache / "files.json").write_text(re.sub('": "[0-9a-f]{8}', '": "00000000', memo), encoding="utf-8")
    build(place, tmp_path / "out", cache)
    assert read_contents(tmp_path / "out") == read_contents(place / "out")


def test_damaged_exported_folders_are_written_again(place: Path, tmp_path: Path) -> None:
    def ingest_run() -> Path:
        result = run_assay("ingest", "runs/1.0", "--cache", tmp_path / "cache", cwd=place)
        assert result.status == 0, result.err
        return Path(result.out.strip())

    contents_before = read_contents(ingest_run())
    for file in (tmp_path / "cache").rglob("*.parquet"):
        file.write_bytes(b"")
    assert read_contents(ingest_run()) == contents_before


def test_large_file_with_old_time_is_checked_by_its_ends(tmp_path: Path) -> None:
    """Reading a whole large run with every command would take too long."""
    large_file = tmp_path / "large"
    content = bytes(range(256)) * (3 * END // 256)
    large_file.write_bytes(content)
    seal(tmp_path, tmp_path.name, checks_ends_only=True)
    before = large_file.stat()
    for index, expected in ((0, False), (END - 1, False), (END, True), (3 * END - 1, False)):
        large_file.write_bytes(content[:index] + bytes([content[index] ^ 1]) + content[index + 1 :])
        assert not is_sealed(tmp_path)
        os.utime(large_file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert is_sealed(tmp_path) == expected


def test_query_after_damage_within_large_files_is_the_same(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: the engine ended every query with status 70."""
    monkeypatch.setattr("assay.util.checksums.END", 64)
    command = ("query", "wait", *RUNS, "--cache", tmp_path / "cache", "--format", "csv")
    first_answer = run_assay(*command, cwd=place)
    assert first_answer.status == 0, first_answer.err
    shutil.rmtree(tmp_path / "cache" / "results")
    files = [file for file in (tmp_path / "cache" / "ingest").rglob("*.parquet") if file.stat().st_size > 400]
    assert files
    for file in files:
        content = file.read_bytes()
        file.unlink()
        file.write_bytes(content[:100] + bytes(byte ^ 0x55 for byte in content[100:-100]) + content[-100:])
    assert run_assay(*command, cwd=place) == first_answer


def test_seal_detects_every_change_of_files(tmp_path: Path) -> None:
    small_file, large_file = tmp_path / "in" / "small", tmp_path / "large"
    small_file.parent.mkdir()
    assert not is_sealed(tmp_path)
    small_file.write_bytes(b"abc")
    large_file.write_bytes(bytes(range(256)) * (3 * END // 256))
    seal(tmp_path, tmp_path.name, checks_ends_only=True)
    assert is_sealed(tmp_path)
    for file, places in ((small_file, (0, 2)), (large_file, (0, END - 1, END, 3 * END - 1))):
        content = file.read_bytes()
        for index in places:
            file.write_bytes(content[:index] + bytes([content[index] ^ 1]) + content[index + 1 :])
            assert not is_sealed(tmp_path)
        file.write_bytes(content[:-1])
        assert not is_sealed(tmp_path)
        file.write_bytes(content)
        assert is_sealed(tmp_path)
    (tmp_path / "more").touch()
    assert not is_sealed(tmp_path)


def test_sealed_text_is_returned_whole_or_not_at_all() -> None:
    text = "a\nä\ud800\n"
    assert unseal_text("a", seal_text("a", text)) == text
    assert unseal_text("a", seal_text("a", text)[:-1]) is None
    assert unseal_text("b", seal_text("a", text)) is None
    assert unseal_text("a", "") is None
    assert unseal_text("a", "[1]") is None
