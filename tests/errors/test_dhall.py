"""The message for every slip, in full: `dhall/` holds a file each and the text that it must give."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.lang.sources import evaluate_file
from assay.util.diagnostics import AssayError

BAD = Path(__file__).parent / "dhall"
CASES = sorted(path.stem for path in BAD.glob("*.dhall"))


@pytest.mark.parametrize("case", CASES)
def test_bad_file_gets_its_message(case: str, request: pytest.FixtureRequest) -> None:
    with pytest.raises(AssayError) as problem:
        evaluate_file(BAD / f"{case}.dhall", BAD)
    expected = BAD / f"{case}.expected"
    if request.config.getoption("--accept"):
        expected.write_text(f"{problem.value}\n", encoding="utf-8")
    assert f"{problem.value}\n" == expected.read_text(encoding="utf-8")
    assert problem.value.status == 1


def test_expected_messages_have_their_files() -> None:
    assert sorted(path.stem for path in BAD.glob("*.expected")) == CASES
    assert len(CASES) > 60


def test_problem_is_data() -> None:
    with pytest.raises(AssayError) as problem:
        evaluate_file(BAD / "extra_field.dhall", BAD)
    (item,) = problem.value.diagnostics
    assert item.to_json() == {
        "severity": "error",
        "code": "dhall-type",
        "message": "unknown field `dock` in the argument of `metric`",
        "where": {"file": "extra_field.dhall", "line": 7, "column": 11},
        "excerpt": '7 |         , dock = "Time spent"\n  |           ^^^^',
        "expected": "{ doc : Text, id : Text }",
        "found": "{ id, dock }",
        "hint": "did you mean `doc`?",
    }


def test_message_does_not_depend_on_the_folder(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "a.dhall").write_text("{ a = 1 }.b\n")
    messages = set()
    for name in ("one", "two"):
        with pytest.raises(AssayError) as problem:
            evaluate_file(tmp_path / name / "deep" / "a.dhall", tmp_path / name)
        messages.add(str(problem.value))
    assert len(messages) == 1
    assert str(tmp_path) not in messages.pop()
