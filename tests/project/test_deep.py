"""Test the sampling of long families of cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import deep
from tests.support.laboratory import ROOT
from tests.support.order import HEAVIEST


def test_every_case_runs_once_over_all_turns(request: pytest.FixtureRequest) -> None:
    items = [item for item in request.session.items if item.path == request.path]
    family = f"{request.path.name}::test_of_a_family"
    run_counts = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(deep.SAMPLED, family, 3)
        for turn in (7, 8, 9):
            patch.setattr(deep, "get_turn", lambda turn=turn: turn)
            left_out_items = deep.list_skipped(items)
            run_counts += [
                item.name for item in items if item not in left_out_items and item.name.startswith("test_of_a_family")
            ]
            assert 1 <= len(left_out_items) < len(items)
    assert sorted(run_counts) == sorted(item.name for item in items if item.name.startswith("test_of_a_family"))


@pytest.mark.parametrize("number", range(5))
def test_of_a_family(number: int) -> None:
    assert deep.TURNS % (number + 1) == 0


def test_sampled_and_ordered_tests_exist() -> None:
    """A misspelt entry would have no effect and no error."""
    paths = sorted([*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("compiler/*/tests/test_*.py")])
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    assert len(texts) == len(paths), "two test files of one name would be sampled and ordered as one"
    test_ids = [item.split("::") for item in deep.SAMPLED]
    assert [item for item in test_ids if f"\ndef {item[1]}(" not in texts.get(item[0], "")] == []
    assert {*deep.SAMPLED_FILES, *deep.COSTLY_FILES, *HEAVIEST} - set(texts) == set()
    fixtures = {name: fixture for name, (fixture, _) in deep.SAMPLED_CASES.items()}
    assert [name for name, fixture in fixtures.items() if f"\ndef {fixture}(" not in texts.get(name, "")] == []
    costly = [name.split("::") for name in deep.read_rates()]
    assert [name for name in costly if f"\ndef {name[1]}(" not in texts.get(name[0], "")] == []
    rates = (
        *deep.RATES,
        *deep.COSTLY_FILES.values(),
        *deep.SAMPLED.values(),
        *deep.SAMPLED_FILES.values(),
        *(interval for _, interval in deep.SAMPLED_CASES.values()),
    )
    assert [interval for interval in rates if deep.TURNS % interval] == []


def test_all_tests_of_a_case_run_or_none(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    (tmp_path / "test_of_cases.py").write_text(
        "import pytest\n\n@pytest.fixture(scope='module', params=range(4))\ndef made(request):\n"
        "    return request.param\n\ndef test_one(made):\n    pass\n\ndef test_two(made):\n    pass\n"
    )
    module = pytest.Module.from_parent(request.session, path=tmp_path / "test_of_cases.py")
    items = list(request.session.genitems(module))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(deep.SAMPLED_CASES, "test_of_cases.py", ("made", 2))
        patch.setattr(deep, "get_turn", lambda: 1)
        left_out_names = [item.name for item in deep.list_skipped(items)]
    assert sorted(left_out_names) == ["test_one[0]", "test_one[2]", "test_two[0]", "test_two[2]"]


def test_turn_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deep.VARIABLE, "41")
    assert deep.get_turn.__wrapped__() == 41


def test_turn_comes_from_the_committed_files() -> None:
    assert deep.get_turn() == deep.get_turn.__wrapped__()
    assert 0 <= deep.get_turn() < deep.TURNS**2


def test_costly_test_runs_once_in_its_turns(request: pytest.FixtureRequest) -> None:
    items = [item for item in request.session.items if item.path == request.path]
    runs = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deep, "read_rates", lambda: {f"{request.path.name}::test_of_a_family": 4})
        for turn in range(4):
            patch.setattr(deep, "get_turn", lambda turn=turn: turn * deep.TURNS)
            left_out = deep.list_skipped(items)
            runs += [item.name for item in items if item not in left_out and item.name.startswith("test_of_a_family")]
    assert sorted(runs) == sorted(item.name for item in items if item.name.startswith("test_of_a_family"))
