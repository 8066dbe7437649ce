"""Content of the cache that never came to the disk, as when a machine loses its power, is as if it were not kept."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

import pytest

from assay.app.build import SETTLED
from assay.util.checksums import END, is_sealed, seal, seal_text, unseal_text
from tests.support.commands import assay
from tests.support.laboratory import DATE

RUNS = ("--run", "1.0=runs/1.0", "--run", "1.1=runs/1.1")
#: what is kept, and what else must go for it to be asked for
KINDS = {
    "builds": (),
    "rendered": ("builds",),
    "drawings": ("builds", "rendered"),
    "results": ("builds", "rendered"),
    "ingest": ("builds", "rendered", "results"),
    "batches": ("builds", "rendered", "results", "ingest"),
    "specs": ("builds",),
}


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a report that was built from `cache` into `out`."""
    folder = tmp_path_factory.mktemp("seals") / "place"
    assert assay("init", folder).status == 0
    time.sleep(SETTLED / 1e9)  # else no build is kept
    build(folder, folder / "out", folder / "cache")
    return folder


def build(place: Path, out: Path, cache: Path) -> None:
    words = ("build", "service/comparison", *RUNS, "-o", out, "--cache", cache, "--date", DATE, "--to", "html")
    done = assay(*words, within=place)
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_damaged_is_made_again(kind: str, place: Path, tmp_path: Path) -> None:
    for damaged in (b"", None):  # None: as many zeros
        cache = tmp_path / "cache"
        shutil.copytree(place / "cache", cache)
        for other in KINDS[kind]:
            shutil.rmtree(cache / other)
        files = [path for path in (cache / kind).rglob("*") if path.is_file() and path.stat().st_size]
        assert files
        for file in files:
            held = file.read_bytes()
            file.unlink()  # others may have it by another name
            file.write_bytes(bytes(len(held)) if damaged is None else damaged)
        build(place, tmp_path / "out", cache)
        assert content(tmp_path / "out") == content(place / "out")
        for folder in ("out", "cache"):
            shutil.rmtree(tmp_path / folder)


def test_what_stands_under_the_name_of_another_and_hashes_that_are_not_those_remembered_are_damaged(
    place: Path, tmp_path: Path
) -> None:
    """Reports had the numbers of other metrics, and told hashes that no file has."""
    cache = tmp_path / "cache"
    shutil.copytree(place / "cache", cache)
    for other in KINDS["results"]:
        shutil.rmtree(cache / other)
    kept = sorted((cache / "results").glob("*.metric.sealed"))
    texts = [path.read_bytes() for path in kept]
    assert len(set(texts)) > 1
    for path, text in zip(kept, texts[1:] + texts[:1], strict=True):
        path.write_bytes(text)
    memo = (cache / "files.json").read_text("utf-8")
    (cache / "files.json").write_text(re.sub('": "[0-9a-f]{8}', '": "00000000', memo), encoding="utf-8")
    build(place, tmp_path / "out", cache)
    assert content(tmp_path / "out") == content(place / "out")


def test_folders_that_are_handed_out_are_made_again(place: Path, tmp_path: Path) -> None:
    def handed() -> Path:
        done = assay("ingest", "runs/1.0", "--cache", tmp_path / "cache", within=place)
        assert done.status == 0, done.err
        return Path(done.out.strip())

    whole = content(handed())
    for file in (tmp_path / "cache").rglob("*.parquet"):
        file.write_bytes(b"")
    assert content(handed()) == whole


def test_large_file_with_the_time_that_it_had_is_looked_at_by_its_ends(tmp_path: Path) -> None:
    """To read all of a large run with every command would take too long."""
    large = tmp_path / "large"
    whole = bytes(range(256)) * (3 * END // 256)
    large.write_bytes(whole)
    seal(tmp_path, tmp_path.name, ends=True)
    before = large.stat()
    for index, expected in ((0, False), (END - 1, False), (END, True), (3 * END - 1, False)):
        large.write_bytes(whole[:index] + bytes([whole[index] ^ 1]) + whole[index + 1 :])
        assert not is_sealed(tmp_path)
        os.utime(large, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert is_sealed(tmp_path) == expected


def test_query_after_damage_within_large_files_yields_the_same(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine ended the command with status 70, each time that it was asked."""
    monkeypatch.setattr("assay.util.checksums.END", 64)
    words = ("query", "wait", *RUNS, "--cache", tmp_path / "cache", "--format", "csv")
    whole = assay(*words, within=place)
    assert whole.status == 0, whole.err
    shutil.rmtree(tmp_path / "cache" / "results")
    files = [file for file in (tmp_path / "cache" / "ingest").rglob("*.parquet") if file.stat().st_size > 400]
    assert files
    for file in files:
        held = file.read_bytes()
        file.unlink()
        file.write_bytes(held[:100] + bytes(byte ^ 0x55 for byte in held[100:-100]) + held[-100:])
    assert assay(*words, within=place) == whole


def test_a_seal_tells_every_change_of_files(tmp_path: Path) -> None:
    small, large = tmp_path / "in" / "small", tmp_path / "large"
    small.parent.mkdir()
    assert not is_sealed(tmp_path)
    small.write_bytes(b"abc")
    large.write_bytes(bytes(range(256)) * (3 * END // 256))
    seal(tmp_path, tmp_path.name, ends=True)
    assert is_sealed(tmp_path)
    for file, places in ((small, (0, 2)), (large, (0, END - 1, END, 3 * END - 1))):
        held = file.read_bytes()
        for index in places:
            file.write_bytes(held[:index] + bytes([held[index] ^ 1]) + held[index + 1 :])
            assert not is_sealed(tmp_path)
        file.write_bytes(held[:-1])
        assert not is_sealed(tmp_path)
        file.write_bytes(held)
        assert is_sealed(tmp_path)
    (tmp_path / "more").touch()
    assert not is_sealed(tmp_path)


def test_a_sealed_text_comes_back_or_none_does() -> None:
    text = "a\nä\ud800\n"
    assert unseal_text("a", seal_text("a", text)) == text
    assert unseal_text("a", seal_text("a", text)[:-1]) is None
    assert unseal_text("b", seal_text("a", text)) is None
    assert unseal_text("a", "") is None
    assert unseal_text("a", "[1]") is None
