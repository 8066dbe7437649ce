"""Every slip gets its message: the cases in `cases/`, each with the whole answer that the command line gives."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.errors.case_files import Answer, accept_answer, apply_edits, list_cases, read_case
from tests.errors.workspaces import WORKSPACES
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import FORMER, read_contents, replace_quarantine_path, write_former_outputs

Place = Callable[[str], Path]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return the folder of a workspace. Each is built once, so that the evaluator can reuse unchanged files."""
    places: dict[str, Path] = {}

    def build(name: str) -> Path:
        if name not in places:
            places[name] = tmp_path_factory.mktemp("workspaces") / name
            WORKSPACES[name](places[name])
        return places[name]

    return build


@pytest.mark.parametrize("name", list_cases())
def test_slip_gets_its_message(name: str, workspace: Place, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    case = read_case(name)
    place = workspace(case.workspace)
    command = shlex.split(case.command)
    with apply_edits(place, case.edits, tmp_path / "backup"):
        keeps_outputs = bool(case.answer.status) and "out" in command and not (place / "out").is_symlink()
        if keeps_outputs:
            write_former_outputs(place / "out")
        result = run_assay(*command, cwd=place)
        answer = Answer(result.status, *(_replace_paths(text, place) for text in (result.out, result.err)))
        assert not keeps_outputs or read_contents(place / "out") == FORMER
    if request.config.getoption("--accept"):
        accept_answer(name, answer)
    else:
        assert answer == case.answer


def _replace_paths(text: str, place: Path) -> str:
    return replace_quarantine_path(text.replace(str(place), "WORKSPACE").replace(str(ROOT), "REPOSITORY"))
