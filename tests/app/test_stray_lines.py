"""Lines of text in logs: which are named, which look like a crash, and where they are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.quality import stray_lines
from assay.quality.stray_lines import StrayLine
from tests.support.commands import run_assay

PANIC = "panic: runtime error: index out of range [5] with length 3"
TRACE = (PANIC, "", "goroutine 1 [running]:", "main.main()", "\t/app/main.go:12 +0x1d", "FATAL: out of memory")


def build_shop(folder: Path, cache: Path, inserted: tuple[str, ...], *, is_compressed: bool = False) -> str:
    """Build the report of a run in which lines are inserted after line 20 of a log; return the errors."""
    assert run_assay("init", folder).status == 0
    log = folder / "runs" / "1.0" / "web-1" / "log.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines()
    text = "".join(f"{line}\n" for line in (*lines[:20], *inserted, *lines[20:]))
    if is_compressed:
        log.unlink()
        (log.parent / "log.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        log.write_text(text, encoding="utf-8")
    arguments = ("build", "service/comparison", "--run", "runs/1.0", "--to", "md", "--out", "out", "--cache", cache)
    result = run_assay(*arguments, cwd=folder)
    assert result.status == 0, result.err
    return result.err


@pytest.mark.parametrize("is_compressed", [False, True], ids=["plain", "gzip"])
def test_crash_is_named_in_warnings_and_data_quality(tmp_path: Path, cache: Path, is_compressed: bool) -> None:
    errors = build_shop(tmp_path / "shop", cache, TRACE, is_compressed=is_compressed)
    name = "web-1/log.jsonl.gz" if is_compressed else "web-1/log.jsonl"
    crash = f"2 log lines look like a crash: {name}:21 `{PANIC}`; {name}:26 `FATAL: out of memory`."
    note = (
        f"3 log lines are no JSON objects: {name}:23 `goroutine 1 [running]:`; {name}:24 `main.main()`; "
        f"{name}:25 `/app/main.go:12 +0x1d`."
    )
    assert f"warning: 1.0: {crash}\n" in errors
    assert "warning: 1.0: 1 finding on what looks like a crash, under Data quality.\n" in errors
    assert note not in errors
    report = (tmp_path / "shop" / "out" / "report.md").read_text(encoding="utf-8")
    assert f"- 1.0: {crash}\n- 1.0: {note}\n" in report
    (quality,) = json.loads((tmp_path / "shop" / "out" / "results.json").read_text())["quality"].values()
    assert quality["findings"] == [
        {"code": "crash-lines", "message": crash, "metrics": [], "hosts": ["web-1"], "affected": 2}
    ]


def test_lines_that_begin_alike_are_counted_and_escaped(tmp_path: Path, cache: Path) -> None:
    inserted = tuple(f"worker {number} \x1b[31mstarted`\u202e" for number in range(7))
    errors = build_shop(tmp_path / "shop", cache, inserted)
    assert "look like a crash" not in errors
    report = (tmp_path / "shop" / "out" / "report.md").read_text(encoding="utf-8")
    text = "worker 0 \\x1b[31mstarted'\\u202e"
    assert f"7 log lines are no JSON objects: web-1/log.jsonl:21 `{text}` (7 begin so)." in report


@pytest.mark.parametrize(
    "text",
    [
        "thread 'main' panicked at src/main.rs:4:5:",
        'Exception in thread "main" java.lang.NullPointerException',
        "Traceback (most recent call last):",
        "java.lang.OutOfMemoryError: Java heap space",
        "Segmentation fault (core dumped)",
        "Out of memory: Killed process 12 (db) total-vm:1kB",
        "db: store.c:12: put: Assertion `n > 0' failed.",
        "signal SIGSEGV: segmentation violation",
    ],
)
def test_messages_of_crashes_look_like_one(text: str) -> None:
    assert StrayLine("", "log", 1, text).is_crash


@pytest.mark.parametrize("text", ["Listening on :80", "room 12 is full", "asserting ownership", "exceptional speed"])
def test_other_messages_look_like_no_crash(text: str) -> None:
    assert not StrayLine("", "log", 1, text).is_crash


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_lines_are_the_same_however_a_file_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    content = b'\xef\xbb\xbf{"a": 1}\nfirst\n\n  {"b": 2}\n\0\0{"c": 3}\n{"d": 4}\n\tlast'
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    if size < 3:
        pieces = [content[:3], *[content[start : start + size] for start in range(3, len(content), size)]]
    monkeypatch.setattr(stray_lines, "iter_decompressed", lambda _path: iter(pieces))
    assert list(stray_lines._iter_text_lines(tmp_path)) == [(2, b"first"), (3, b""), (7, b"\tlast")]
