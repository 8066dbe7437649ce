"""Test invalid bytes in text files: long lines, NUL bytes, and the replacement of invalid UTF-8."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.ingest import invalid_text
from assay.ingest.plain_copies import read_lines
from tests.ingest import test_text_lines as texts
from tests.support.ingesting import IngestedFolder, build_field

WORD = texts.create_event("word", texts.create_form([build_field("word", "text")], "Word {word}"))


def read_quarantine(ingested: IngestedFolder, *columns: str) -> list[tuple[object, ...]]:
    """Return rows of the quarantine; check that they are as many as counted, and their offsets."""
    assert len(ingested.read_quarantine()) == sum(n for (n,) in ingested.read_rows("logs", "quarantined"))
    return ingested.read_rows("quarantine", *(columns or ("line", "offset", "reason")))


def format_log(*words: bytes) -> bytes:
    return b"".join(texts.format_line("Word ").encode() + word + b"\n" for word in words)


def test_long_event_with_invalid_bytes_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("plain_copies", "readers.lines", "quarantine"):
        monkeypatch.setattr(f"assay.ingest.{module}.LONGEST", 2**14)
    content = format_log(b"a", b"\xff" * 2**13, b"x\xff" * 2**13, b"b")
    ingested = texts.ingest_files(tmp_path, {"m-1/out": content}, [WORD])
    assert ingested.read_rows("word", "word") == [("a",), ("b",)]
    assert read_quarantine(ingested, "line", "reason") == [(2, "not UTF-8"), (3, "longer than 8 MiB")]


@pytest.mark.parametrize(
    ("content", "place", "text"),
    [(b"a\n\0\0\0", 5, ""), (b"a\n\0", 3, ""), (b"a\n\0\0b", 4, "b"), (b"a\nb", 2, "b"), (b"a\n\n", 2, "")],
)
def test_last_line_of_nul_bytes_is_found(tmp_path: Path, content: bytes, place: int, text: str) -> None:
    (tmp_path / "out").write_bytes(content)
    lines = [(line.number, line.offset, line.text) for line in read_lines(tmp_path / "out", {2, 3})]
    assert lines == [(2, place, text)]


def test_stand_in_for_invalid_bytes_is_never_text() -> None:
    assert invalid_text.SUBSTITUTE[0] < " "
    assert invalid_text.find_fault(invalid_text.SUBSTITUTE) == "not UTF-8"
    assert b"e\xff".decode(errors="assay-substitute") != "e\x1a"
