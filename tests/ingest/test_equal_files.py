"""Files of a run with equal content are a warning, whatever their hosts."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.ingest.discovery import find_run
from assay.ingest.hashing import hash_files
from assay.ingest.manifest import read_notes
from assay.ingest.pipeline import ingest
from tests.support.commands import run_assay
from tests.support.ingesting import SOURCE, TICK, format_record
from tests.support.runs import copy_run

TEXT = b"".join(format_record(n=n).encode() + b"\n" for n in range(4))
LIKE = "have the same content"
COUNTED_TWICE = "if one is a copy, its records are counted twice."


def read_warnings(folder: Path, contents: Mapping[str, bytes]) -> tuple[str, ...]:
    for name, content in contents.items():
        path = folder / "run" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    files, _ = hash_files(find_run(SOURCE, folder / "run"), folder / "files.json")
    ingest(SOURCE, [TICK], {"tick": frozenset({"n"})}, files, folder / "made")
    return tuple(note for note in read_notes(folder / "made") if LIKE in note)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("m-1/out", "m-1/out-copy"), "m-1/out and m-1/out-copy"),
        (("m-1/out", "m-2/out"), "m-1/out and m-2/out"),
        (
            ("m-1/out", "m-2/out", "m-3/out"),
            f"m-1/out and m-2/out {LIKE} (1 more file has the content of another): {COUNTED_TWICE}",
        ),
    ],
)
def test_equal_files_are_a_warning(tmp_path: Path, names: tuple[str, ...], message: str) -> None:
    assert read_warnings(tmp_path, dict.fromkeys(names, TEXT)) == (
        message if LIKE in message else f"{message} {LIKE}: {COUNTED_TWICE}",
    )


def test_equal_packed_files_are_a_warning(tmp_path: Path) -> None:
    assert len(read_warnings(tmp_path, dict.fromkeys(["m-1/out.gz", "m-2/out.gz"], gzip.compress(TEXT, mtime=0)))) == 1


@pytest.mark.parametrize("text", [b"", b"\n\n\n\n\n\n", b"started\n\n", TEXT[: 3 * len(TEXT) // 4]])
def test_equal_short_files_are_not_a_warning(tmp_path: Path, text: bytes) -> None:
    assert read_warnings(tmp_path, {"m-1/out": TEXT, "m-1/out1": text, "m-2/out": text, "m-2/out2": TEXT[:-2]}) == ()


def test_query_warns_of_equal_files(tmp_path: Path) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    (log,) = (run / "node-10").glob("stdout*")
    (run / "node-10" / "stdout-copy").write_bytes(log.read_bytes())
    result = run_assay("query", "CentiCpu", "--run", run, "--cache", tmp_path / "cache")
    assert f"node-10/stdout-copy and node-10/stdout.gz {LIKE}: {COUNTED_TWICE}" in result.err
