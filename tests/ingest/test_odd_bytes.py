"""Bytes that no JSON log should hold: NUL bytes, giant lines and unknown packings."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from assay.ingest import decompress, plain_copies
from assay.ingest.manifest import read_notes
from assay.util.diagnostics import AssayError
from tests.support.ingesting import format_error, format_record, ingest_log
from tests.support.laboratory import ROOT

GOOD = format_record(n=1)
MIB = 2**20

HEAD = '{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":'


PADDED = "a log was truncated while it was written, or a machine crashed; the text there is lost."


@pytest.mark.parametrize("size", [1, 100, 9 * MIB])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_nul_bytes_before_a_line_are_a_warning(tmp_path: Path, size: int, end: str) -> None:
    """`copytruncate` leaves as many NUL bytes as the log was long."""
    lines = [GOOD, format_record(n=2), format_record(n="x"), GOOD]
    nuls = "\0" * size
    ingested = ingest_log(tmp_path, end.join([nuls + lines[0], lines[1], nuls + lines[2], lines[3], nuls, ""]).encode())
    assert ingested.read_rows("tick", "seq", "n") == [(1, 1), (2, 2), (4, 1)]
    place = 2 * size + len(lines[0] + lines[1]) + 2 * len(end)
    reason = 'field n of tick: expected an integer, found "x"'
    assert ingested.read_rows("quarantine", "line", "offset", "reason", "text") == [(3, place, reason, lines[2])]
    log = ingested.read_log()
    assert (log["lines"], log["recognised"], log["quarantined"], log["text_lines"]) == (5, 3, 1, 1)
    assert read_notes(ingested.folder) == (
        f"3 log lines have NUL bytes before them, which are ignored (the first is m-1/out:1): {PADDED}",
    )


@pytest.mark.usefixtures("lowered_limit")
@pytest.mark.parametrize("size", [1, 4999, 5000, 5001, 70_000])
def test_nul_bytes_in_a_repaired_file_are_skipped(tmp_path: Path, size: int) -> None:
    text = b"\0" * size + f"{GOOD}\n\0\n".encode() + b"\xff\n" + b"\0" * size + f"{format_record(n=2)}\n".encode()
    ingested = ingest_log(tmp_path, {"m-1/out1": f"{GOOD}\n".encode(), "m-1/out2": text.replace(b":16Z", b":17Z")})
    assert [n for (n,) in ingested.read_rows("tick", "n")] == [1, 1, 2]
    assert (ingested.read_log()["lines"], ingested.read_log()["text_lines"], ingested.read_rows("quarantine")) == (
        5,
        2,
        [],
    )
    (message,) = read_notes(ingested.folder)
    assert message.startswith("3 log lines have NUL bytes before them, which are ignored (the first is m-1/out2:1): ")


def test_host_has_the_name_of_its_folder(tmp_path: Path) -> None:
    """Two folders with the same log are two hosts; a folder that is a link to another is one, too."""
    ingest_log(tmp_path, {"m-1/out": GOOD.encode(), "m-2/out": GOOD.encode()})
    (tmp_path / "run" / "m-3").symlink_to("m-1", target_is_directory=True)
    ingested = ingest_log(tmp_path, {"m-2/out": GOOD.encode()})
    assert ingested.read_rows("tick", "host", "n") == [("m-1", 1), ("m-2", 1), ("m-3", 1)]


def test_link_to_a_log_is_not_read_again(tmp_path: Path) -> None:
    (tmp_path / "run" / "m-1").mkdir(parents=True)
    (tmp_path / "run" / "m-1" / "out-2").symlink_to("out")
    assert ingest_log(tmp_path, [GOOD]).read_rows("tick", "seq") == [(1,)]


@pytest.fixture
def lowered_limit(monkeypatch: pytest.MonkeyPatch) -> int:
    """Lower the limit of long lines to 64 KiB, to save memory."""
    size = 2**16
    for module in ("plain_copies", "readers.lines", "quarantine", "scanner"):
        monkeypatch.setattr(f"assay.ingest.{module}.LONGEST", size)
    monkeypatch.setattr(decompress, "CHUNK", 5000)
    return size


@pytest.mark.parametrize(("size", "ends"), [(-1, "\n"), (0, "\n\n\n"), (1, ""), (5000, "\r\n"), (200_000, "\n")])
def test_long_line_that_begins_like_an_object_is_broken(
    tmp_path: Path, lowered_limit: int, size: int, ends: str
) -> None:
    line = format_record(n=2, text="")
    fill = lowered_limit + size - len(line)
    line = line.replace('""', '"' + "é" * (fill // 2) + "x" * (fill % 2) + '"')
    assert len(line.encode()) == lowered_limit + size
    text = "é" * (lowered_limit + size)
    ingested = ingest_log(tmp_path, f"{GOOD}\n{line}\n{text}\n{GOOD}\n{line}{ends}".encode())
    blank = max(len(ends.split("\n")) - 2, 0)
    assert (ingested.read_log()["lines"], ingested.read_log()["text_lines"]) == (5 + blank, 1 + blank)
    if size < 0:
        assert (ingested.read_rows("tick", "n"), ingested.read_rows("quarantine")) == ([(1,), (2,), (1,), (2,)], [])
        return
    assert ingested.read_rows("tick", "seq", "n") == [(1, 1), (4, 1)]
    offsets = [len(GOOD) + 1, 2 * len(GOOD) + len(line.encode()) + len(text.encode()) + 4]
    expected_quarantine = [
        (number, place, plain_copies.TOO_LONG) for number, place in zip((2, 5), offsets, strict=True)
    ]
    assert ingested.read_rows("quarantine", "line", "offset", "reason") == expected_quarantine
    assert ingested.read_quarantine()[0][4] == line[:2000]


SCRIPT = """
import sys
from pathlib import Path
from assay.app.session.stages import read_peak_memory
from tests.support.ingesting import ingest_log
ingested = ingest_log(Path(sys.argv[1]), {})
broken_lines = ingested.read_rows("quarantine", "line", "offset", "reason")
print([ingested.read_log()["lines"], ingested.read_rows("tick", "n"), broken_lines, read_peak_memory()])
"""


def measure_read(folder: Path, line: Callable[[], bytes]) -> tuple[int, list[object], list[object], int]:
    """Ingest a log with this second line in a process; return lines, events, broken lines and peak MiB."""
    place = folder / "run" / "m-1" / "out"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"\n".join([GOOD.encode(), line(), GOOD.encode(), b""]))
    process_environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'compiler'}"}
    completed = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder)],
        capture_output=True,
        text=True,
        env=process_environment,
        check=False,
        cwd=ROOT,
    )
    assert completed.returncode == 0, completed.stderr
    result = json.loads(completed.stdout.replace("(", "[").replace(")", "]").replace(",]", "]").replace("'", '"'))
    return tuple(result)


DEEP = 8 * MIB // 2 - 100
GIANTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "200 MB": (lambda: b'{"x":"' + b"x" * (200 * 10**6) + b'"}', plain_copies.TOO_LONG),
    "braces": (lambda: b"{" * (2 * DEEP), "not JSON"),
    "braces beyond what is read": (lambda: b'{"a":' + b"[" * (10 * 10**6), plain_copies.TOO_LONG),
    "nested": (lambda: HEAD.encode() + b'{"n":1,"x":' + b"[" * DEEP + b"]" * DEEP + b"}}", ""),
    "a nested name": (lambda: HEAD.encode().replace(b'"Tick"', b"[" * DEEP + b"]" * DEEP) + b'{"n":1}}', ""),
    "many members": (lambda: HEAD.encode() + b'{"n":1,"x":[' + b"1," * DEEP + b"1]}}", ""),
}


@pytest.mark.parametrize("giant", GIANTS)
def test_giant_line_takes_bounded_memory(tmp_path: Path, giant: str) -> None:
    line, reason = GIANTS[giant]
    lines, ticks, quarantined, memory = measure_read(tmp_path, line)
    assert lines == 3
    assert len(ticks) == (3 if giant in ("nested", "many members") else 2)
    assert quarantined == ([[2, len(GOOD) + 1, reason]] if reason else [])
    assert memory < 1024


@pytest.mark.parametrize("size", [9, 40, 200])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_giant_last_line_is_not_lost(tmp_path: Path, size: int, end: bytes) -> None:
    """The engine refuses a line of 200 MB within a file, and would drop it at its end."""
    content = GOOD.encode() + b'\n{"x":"' + b"x" * (size * 10**6) + b'"}' + end
    ingested = ingest_log(tmp_path, {"m-1/out": content})
    assert (ingested.read_log()["lines"], ingested.read_log()["quarantined"]) == (2, 1)


def test_packing_is_detected_by_bytes_not_names(tmp_path: Path) -> None:
    content = f"{GOOD}\n{{\n".encode()
    ingested = ingest_log(
        tmp_path, {"m-1/out.gz": content, "m-2/out": gzip.compress(content), "m-3/m-3.json.zst": content}
    )
    assert ingested.read_rows("tick", "host", "n") == [("m-1", 1), ("m-2", 1), ("m-3", 1)]
    assert [(file, line) for _, file, line, _, _ in ingested.read_quarantine()] == [
        ("m-1/out.gz", 2), ("m-2/out", 2), ("m-3/m-3.json.zst", 2),
    ]  # fmt: skip


def test_packed_file_without_its_beginning_is_an_error(tmp_path: Path) -> None:
    content = gzip.compress("".join(format_record(n=n) for n in range(500)).encode())
    with pytest.raises(AssayError) as error:
        ingest_log(tmp_path, {"m-1/out.gz": content[2:]})
    assert format_error(error.value, tmp_path) == (
        "error[broken-file]: the log file cannot be read to its end: DIR/run/m-1/out.gz\n"
        "  expected: gzip, zstd or plain text\n"
        "  found:    bytes of another format\n"
        "  hint: is its beginning missing?"
    )


@pytest.mark.parametrize("name", ["m-1/out.gz", "m-1/out.zst"])
def test_empty_packed_file_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(AssayError) as error:
        ingest_log(tmp_path, {name: b"", "m-1/out1": f"{GOOD}\n".encode()})
    assert format_error(error.value, tmp_path) == (
        f"error[broken-file]: the log file cannot be read to its end: DIR/run/{name}\n"
        "  expected: gzip, zstd or plain text\n"
        "  found:    an empty file\n"
        "  hint: was the disk full when it was compressed?"
    )


@pytest.mark.parametrize("inner", [gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("outer", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_doubly_packed_file_is_an_error(
    tmp_path: Path, inner: Callable[[bytes], bytes], outer: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(AssayError) as error:
        ingest_log(tmp_path, {"m-1/out.gz": outer(inner(GOOD.encode())), "m-1/out1": f"{GOOD}\n".encode()})
    assert format_error(error.value, tmp_path) == (
        "error[broken-file]: the file is compressed twice, which is not supported: DIR/run/m-1/out.gz\n"
        "  hint: decompress it once"
    )


@pytest.mark.parametrize("name", ["m-1/out", "m-1/out.zst"])
@pytest.mark.parametrize("size", [0, 4, 200_000])
def test_skippable_frames_are_skipped(tmp_path: Path, name: str, size: int) -> None:
    frame = zstandard.ZstdCompressor().compress(f"{GOOD}\n".encode())
    for low in (0x50, 0x5F):
        skippable_frame = bytes([low]) + b"\x2a\x4d\x18" + size.to_bytes(4, "little") + b"x" * size
        ingested = ingest_log(
            tmp_path / str(low), {name: skippable_frame + frame + skippable_frame + frame + skippable_frame}
        )
        assert (ingested.read_rows("tick", "seq"), ingested.read_log()["lines"]) == ([(1,), (2,)], 2)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("xz", b"\xfd7zXZ\x00"), ("bzip2", b"BZh9"), ("zip", b"PK\x03\x04"), ("lz4", b"\x04\x22\x4d\x18"),
        ("lzip", b"LZIP\x01"), ("7-Zip", b"7z\xbc\xaf\x27\x1c"), ("compress", b"\x1f\x9d\x90"),
        ("snappy", b"\xff\x06\x00\x00sNaPpY"),
    ],
)  # fmt: skip
def test_file_in_another_packing_is_an_error(tmp_path: Path, name: str, head: bytes) -> None:
    with pytest.raises(AssayError) as error:
        ingest_log(tmp_path, {"m-1/out": head + b"x" * 100})
    assert format_error(error.value, tmp_path) == (
        f"error[broken-file]: the file is compressed with {name}, which is not supported: DIR/run/m-1/out\n"
        "  hint: decompress it, or compress it with gzip or zstd"
    )


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_file_in_utf_16_is_an_error(tmp_path: Path, encoding: str) -> None:
    """Regression: it was read as lines of text without records."""
    with pytest.raises(AssayError) as error:
        ingest_log(tmp_path, {"m-1/out": f"{GOOD}\n".encode(), "m-2/out": f"\ufeff{GOOD}\n".encode(encoding)})
    assert format_error(error.value, tmp_path) == (
        "error[broken-file]: the file is in UTF-16, which is not supported: DIR/run/m-2/out\n"
        "  expected: UTF-8\n"
        "  hint: convert it with `iconv -f UTF-16 -t UTF-8`"
    )


@pytest.mark.parametrize("piece", [10**8, len(format_record(n=1))])
def test_byte_order_mark_makes_a_line_text_in_any_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    line = format_record(n=1).encode() + b"\n"
    monkeypatch.setattr("assay.ingest.chunks.PIECE", piece)
    ingested = ingest_log(tmp_path, b"\xef\xbb\xbf" + line + b"\xef\xbb\xbf" + line + line)
    assert (len(ingested.read_rows("tick")), ingested.read_log()["text_lines"]) == (2, 1)
