"""Last lines without a line end: patterns that end in a value, and warnings from the cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.ingest.discovery import find_run
from assay.ingest.manifest import read_notes
from assay.ingest.pipeline import ingest
from assay.lang.line_pattern import parse_pattern
from tests.ingest import test_text_lines as texts


@pytest.mark.parametrize(
    ("pattern", "last"),
    [
        ("{a} b {c}", ["c"]),
        ("{a} b {}", []),
        ("{a} b {c} d", []),
        ("{a}{?, b: {b}?}", ["b", "a"]),
        ("{a}{?, b: {b}?}{? c: {c}?}", ["c", "b", "a"]),
        ("{a} d{? b: {b} {c}?}", ["c"]),
        ("{a}{? now?}", ["a"]),
        ("{a} {? b {b}?}.", []),
    ],
)
def test_pattern_lists_places_at_its_end(pattern: str, last: Sequence[str]) -> None:
    assert list(parse_pattern(pattern).last_places) == last


def test_several_unended_files_are_one_warning(tmp_path: Path) -> None:
    logs = {f"m-{n}/out": f"{texts.format_line('Tock')}\n{texts.format_line('Tick 1')}".encode() for n in (2, 1)}
    for name, content in logs.items():
        (tmp_path / "run" / name).parent.mkdir(parents=True)
        (tmp_path / "run" / name).write_bytes(content)
    wanted = {"tick": frozenset({"n"})}
    for name in ("once", "again"):
        files = find_run(texts.LINES, tmp_path / "run")
        ingest(texts.LINES, [texts.TICK], wanted, files, tmp_path / name, cache=tmp_path / "cache")
        assert read_notes(tmp_path / name) == (
            "the last lines of 2 files have no line end (the first is m-1/out:2); their last values are "
            "used, but may be truncated.",
        )
