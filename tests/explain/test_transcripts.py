"""`assay explain`, `lineage` and `trace` print the transcripts of `cases/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.transcripts import read_transcript, run_transcript

TESTS = Path(__file__).parent.parent
CASES = [*sorted((TESTS / "explain" / "cases").glob("*.txt")), *sorted((TESTS / "lineage" / "cases").glob("*.txt"))]


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_commands_print_their_transcript(
    path: Path, request: pytest.FixtureRequest, cache: Path, is_accepting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    transcript = read_transcript(path)
    folders = {"two": request.getfixturevalue("two")} if "{two}" in transcript.text else {}
    text = run_transcript(transcript, cache, folders=folders)
    if is_accepting:
        path.write_text(text, encoding="utf-8")
    else:
        assert transcript.text == text
