"""Normal forms that are kept: what comes out is what would come out of all the texts."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.spec import workspace
from assay.spec.dhall_adapter import Known, available, evaluate_sources, sources
from assay.spec.dhall_forms import standard
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
    for what in (known, None):
        with pytest.raises(AssayError) as problem:
            evaluate_sources("a.dhall", files, known=what)
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


@pytest.mark.parametrize(
    "text",
    [
        "\\(_ : Natural) -> \\(x : Natural) -> \\(_ : Natural) -> _ + _@1 + x",
        "\\(x : Natural) -> \\(y : Natural) -> \\(x : Natural) -> [ x, x@1, y ]",
        "forall(t : Type) -> forall(x : t) -> t",
        "\\(t : Type) -> \\(x : t) -> { a = Some x, b = None t, c = [] : List t, d = 1.5, e = -3, f = 70000 }",
        '\\(x : Text) -> \\(y : Bool) -> { t = "a${x}b${x}", i = if y then x else x ++ x, n = y && y == False }',
        "let U = < A : Natural | B > in \\(u : U) -> { m = merge { A = \\(n : Natural) -> n, B = 0 } u, a = U.A 3 }",
        "\\(r : { x : { y : Natural, z : Text } }) -> { s = r.x.y, p = r.x.{ y, z }, c = r // { q = 1 } }",
        "\\(f : Natural -> Natural) -> Natural/fold 3 Natural f 4 + List/length Natural [ f 1 ]",
        "\\(l : List { mapKey : Text, mapValue : Bool }) -> { l, m = toMap { a = True }, k = List/head Natural }",
        "{=}",
    ],
)
def test_what_is_kept_has_the_hash_that_it_is_found_by(tmp_path: Path, text: str) -> None:
    """Dhall's standard hashes a form whose variables have no names; where it was kept with names, it was not found."""
    (tmp_path / "f.dhall").write_text(text)
    (tmp_path / "a.dhall").write_text("let f = ./f.dhall let g = ./f.dhall in 1")
    known, files = Known(tmp_path / "known"), sources(tmp_path / "a.dhall", tmp_path)
    assert known.learn("a.dhall", files)
    (form,) = (tmp_path / "known/forms").iterdir()
    assert f"1220{hashlib.sha256(form.read_bytes()).hexdigest()}" == form.name
    found = known.evaluate("a.dhall", files, 20)
    assert found is not None
    assert found.value == 1


def test_a_file_that_is_known_is_imported_as_a_text_too(tmp_path: Path) -> None:
    (tmp_path / "f.dhall").write_text("\\(n : Natural) -> n + 1")
    (tmp_path / "a.dhall").write_text("{ of = ./f.dhall 2, text = ./f.dhall as Text }")
    known, files = Known(tmp_path / "known"), sources(tmp_path / "a.dhall", tmp_path)
    assert known.learn("a.dhall", files)
    found = known.evaluate("a.dhall", files, 20)
    assert found is not None
    assert found.value == {"of": 3, "text": "\\(n : Natural) -> n + 1"}


@given(st.binary(max_size=60))
@example(b"\x82" * 5000)  # nested too deep
@example(b"\x9a\xff\xff\xff\xff")  # an array of 4 billion
@example(b"\x84\x01\x61x\x64Text\x82\x61y\x00")  # a variable that nothing binds
def test_bytes_that_are_no_form_are_an_error(form: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(standard(form), bytes)


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
