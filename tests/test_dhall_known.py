"""Normal forms that are kept: what comes out is what would come out of all the texts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.spec import workspace
from assay.spec.dhall_adapter import Known, available, evaluate_sources, sources
from assay.spec.diagnostics import AssayError
from assay.spec.workspace import Workspace
from tests.support.laboratory import ROOT

pytestmark = pytest.mark.skipif(not available(), reason="no Dhall evaluator is here")
FILES = {
    "types.dhall": "{ Item = { Type = { id : Text, size : Optional Natural }, default.size = None Natural } }",
    "items.dhall": 'let T = ./types.dhall in { a = T.Item::{ id = "a" }, b = T.Item::{ id = "b", size = Some 3 } }',
    "sub/text.txt": "words",
    "sub/more.dhall": "let T = (../types.dhall).Item in \\(n : Natural) -> "
    "[ T::{ id = ./text.txt as Text, size = Some n } ]",
    "a.dhall": "let I = ./items.dhall in [ I.a, I.b ] # ./sub/more.dhall 7 {- ./types.dhall -}",
}


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        place = tmp_path / "specs" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return tmp_path / "specs"


def learned(known: Known, specs: Path) -> int:
    """Learn all that there is; how many files."""
    count = 0
    while known.learn("a.dhall", sources(specs / "a.dhall", specs)):
        count += 1
    return count


def both(known: Known, specs: Path) -> tuple[object, object]:
    """The value with what is known, and without."""
    files = sources(specs / "a.dhall", specs)
    found = known.evaluate("a.dhall", files, 20)
    assert found is not None
    return found.value, evaluate_sources("a.dhall", files)


def test_what_is_known_gives_the_value_of_the_texts(specs: Path, tmp_path: Path) -> None:
    known = Known(tmp_path / "known")
    files = sources(specs / "a.dhall", specs)
    assert known.evaluate("a.dhall", files, 20) is None
    assert learned(known, specs) == 3
    assert set(known.hashes(files)) == {"types.dhall", "items.dhall", "sub/more.dhall"}
    one, other = both(known, specs)
    assert one == other == [{"id": "a", "size": None}, {"id": "b", "size": 3}, {"id": "words", "size": 7}]
    assert sorted(path.name[:4] for path in (tmp_path / "known/forms").iterdir()) == ["1220"] * 3


@pytest.mark.parametrize(
    ("name", "old", "new", "left"),
    [
        ("items.dhall", "Some 3", "Some 4", {"types.dhall", "sub/more.dhall"}),
        ("sub/text.txt", "words", "other words", {"types.dhall", "items.dhall"}),
        ("types.dhall", "None Natural", "Some 9", set()),
        ("a.dhall", "dhall 7", "dhall 8", {"types.dhall", "items.dhall", "sub/more.dhall"}),
    ],
)
def test_a_file_that_changes_is_worked_out_with_all_that_import_it(
    specs: Path, tmp_path: Path, name: str, old: str, new: str, left: set[str]
) -> None:
    known = Known(tmp_path / "known")
    learned(known, specs)
    before, _ = both(known, specs)
    (specs / name).write_text(FILES[name].replace(old, new))
    assert set(known.hashes(sources(specs / "a.dhall", specs))) == left
    if left:
        one, other = both(known, specs)
        assert one == other != before
    learned(known, specs)
    one, other = both(known, specs)
    assert one == other != before


def test_an_error_is_told_at_its_place_in_the_texts(specs: Path, tmp_path: Path) -> None:
    known = Known(tmp_path / "known")
    learned(known, specs)
    (specs / "a.dhall").write_text("let I = ./items.dhall in [ I.a, I.c ]")
    files = sources(specs / "a.dhall", specs)
    messages = []
    for given in (known, None):
        with pytest.raises(AssayError) as problem:
            evaluate_sources("a.dhall", files, known=given)
        messages.append(str(problem.value))
    assert messages[0] == messages[1]
    assert "a.dhall:1:35" in messages[0]


def test_a_form_that_was_tampered_with_does_not_count(specs: Path, tmp_path: Path) -> None:
    known = Known(tmp_path / "known")
    learned(known, specs)
    for place in (tmp_path / "known/forms").iterdir():
        place.write_bytes(place.read_bytes().replace(b"\x03", b"\x04") + b"\x00")
    files = sources(specs / "a.dhall", specs)
    assert evaluate_sources("a.dhall", files, known=known) == evaluate_sources("a.dhall", files)


def test_imports_that_are_refused_stay_refused(specs: Path, tmp_path: Path) -> None:
    learned(Known(tmp_path / "known"), specs)
    (specs / "a.dhall").write_text("[ ./items.dhall, env:HOME as Text ]")
    with pytest.raises(AssayError, match="reads the environment"):
        sources(specs / "a.dhall", specs)


def test_a_package_of_a_workspace_is_the_same_with_what_is_known(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "starter" / "specs" / "service", tmp_path / "ws" / "specs" / "service")
    shutil.copytree(ROOT / "starter" / "queries", tmp_path / "ws" / "queries")
    here, cache = Workspace(tmp_path / "ws"), tmp_path / "cache"
    while workspace.unlearned(here, "service", cache):
        assert workspace.learn(here, "service", cache)
    place = tmp_path / "ws" / "specs" / "service" / "metrics.dhall"
    place.write_text(place.read_text() + "\n-- changed\n")
    files = workspace.scan(here, "service")
    known = workspace.evaluate(here, "service", files, cache)
    assert known == workspace.evaluate(here, "service", files)
