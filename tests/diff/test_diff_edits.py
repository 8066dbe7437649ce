"""`assay spec-diff` of the shipped specs and edited ones prints the transcripts of `cases/`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.transcripts import read_transcript, run_transcript
from tests.support.workspaces import copy_workspace, edit_file

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))


@pytest.fixture(scope="module")
def shipped_specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the shipped specs."""
    return copy_workspace(tmp_path_factory.mktemp("diff") / "shipped")


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_diff_of_edits_equals_its_transcript(
    path: Path, shipped_specs: Path, tmp_path: Path, cache: Path, is_accepting: bool
) -> None:
    transcript = read_transcript(path)
    changed_workspace = shutil.copytree(shipped_specs, tmp_path / "changed")
    for file, old, new in transcript.edits:
        edit_file(changed_workspace / file, old, new)
    text = run_transcript(transcript, cache, cwd=changed_workspace, folders={"shipped": shipped_specs})
    if is_accepting:
        path.write_text(text, encoding="utf-8")
    else:
        assert transcript.text == text
