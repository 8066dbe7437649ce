"""Files of a run yield the rows, warnings and errors that `cases/` records, with and without the native scanner."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from assay.ingest import scanner
from tests.ingest.case_files import FOLDER, Case, compute_result, list_cases, read_file, to_text

CASES = list_cases()
#: readers of JSON lines; the engine alone reads all other kinds
READERS = ("scanner", "engine")
RUNS = [(case, reader) for case in CASES for reader in READERS[case.source.kind != "json-lines" :]]


@pytest.mark.parametrize(("case", "reader"), RUNS, ids=[f"{case.id}-{reader}" for case, reader in RUNS])
def test_files_yield_recorded_result(case: Case, reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reader == "engine":
        monkeypatch.setattr(scanner, "_load_library", lambda _: None)
    elif not scanner.is_available():
        pytest.skip("there is no scanner")
    assert to_text(compute_result(case, tmp_path)) == to_text(case.expect)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_file_of_cases_is_in_its_own_form(path: Path) -> None:
    """So `python -m tests.ingest.case_files` changes only results."""
    text = path.read_text(encoding="utf-8")
    head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    assert text == head + to_text(read_file(path))


def test_cases_of_ingest_are_many_and_distinct() -> None:
    counts = Counter(case.id for case in CASES)
    assert [name for name, count in counts.items() if count > 1] == []
    assert [case.id for case in CASES if len(case.name) > 60 or not case.expect] == []
    assert len(CASES) >= 600
