"""Files that are evaluated apart: what comes out is what would come out of all the texts."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.spec import learning, workspace
from assay.spec.dhall_adapter import Known, Outlines, available, evaluate_sources, sources
from assay.spec.dhall_data import StuckError, data_of, filled, type_of
from assay.spec.dhall_forms import read
from assay.spec.dhall_reads import members_read
from assay.spec.dhall_scan import imports, scan
from assay.spec.diagnostics import AssayError
from assay.spec.learning import Learner
from assay.spec.workspace import Workspace
from tests.support.laboratory import ROOT

pytestmark = pytest.mark.skipif(not available(), reason="no Dhall evaluator is here")
ROOT_FILE = "a.dhall"
SCHEMA = """
let Item = { Type = { id : Text, size : Optional Natural, at : < Now | After : Double > }, default.size = None Natural }
let pair = \\(one : Item.Type) -> \\(other : Item.Type) -> { both = [ one, other ], name = "${one.id} and ${other.id}" }
let twice = \\(n : Natural) -> n * 2
in { Item, pair, twice, At = < Now | After : Double > }
"""
FILES = {
    "schema.dhall": SCHEMA,
    "items.dhall": 'let S = ./schema.dhall in { first = S.Item::{ id = "a", at = S.At.Now }'
    ', second = S.Item::{ id = "b", size = Some 3, at = S.At.After 0.5 }, count = 7, all = True, '
    'more = [ S.Item::{ id = "c", at = S.At.Now } ] }',
    "sub/text.txt": "words",
    "sub/pairs.dhall": "let S = ../schema.dhall let I = ../items.dhall in "
    "{ pair = S.pair I.first I.second, words = ./text.txt as Text, map = toMap { one = I.first.id }, n = I.count }",
    "a.dhall": "let I = ./items.dhall let P = ./sub/pairs.dhall in "
    "{ items = [ I.first ] # ([ I.second ] # I.more), P, also = P.map # P.map, said = I.first.id ++ '!', "
    "maps = P.map # toMap { zero = I.first.id, one = 'again' }, "
    "sizes = [ I.second.size, Some I.count ], deep = { it = P.pair.name } }".replace("'", '"'),
}


class Specs:
    """A folder of Dhall files, and what is learned of them."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder, self.known = folder / "specs", Known(folder / "known")
        self.outlines = Outlines(self.known)
        for name, text in files.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def files(self) -> Any:
        return sources(self.folder / ROOT_FILE, self.folder)

    def learn(self) -> list[str]:
        """Learn all that there is; the files of which outlines were learned."""
        while self.known.learn(ROOT_FILE, self.files()):
            pass
        found = []
        while name := self.outlines.unlearned(self.files()):
            assert self.outlines.learn(ROOT_FILE, self.files())
            found.append(name)
        return found

    def apart(self) -> str | None:
        """The value out of outlines, as text; None where they do not suffice."""
        found = self.outlines.evaluate(ROOT_FILE, self.files(), 20)
        return None if found is None else json.dumps(found.value)

    def whole(self) -> str:
        """The value of the texts."""
        return json.dumps(evaluate_sources(ROOT_FILE, self.files()))


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all of the files above is learned."""
    folder = tmp_path_factory.mktemp("learned")
    assert Specs(folder, FILES).learn() == ["schema.dhall", "items.dhall", "sub/pairs.dhall", "a.dhall"]
    return folder


@pytest.fixture
def specs(tmp_path: Path, learned: Path) -> Specs:
    shutil.copytree(learned, tmp_path, dirs_exist_ok=True)
    return Specs(tmp_path, {})


def test_nothing_is_known_before_it_is_learned(tmp_path: Path) -> None:
    assert Specs(tmp_path, FILES).apart() is None


def test_outlines_give_the_value_of_the_texts(specs: Specs) -> None:
    assert specs.apart() == specs.whole()
    assert json.loads(specs.whole())["P"]["map"] == {"one": "a"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("items.dhall", "Some 3", "Some 4"),
        ("items.dhall", "S.At.After 0.5", "S.At.Now"),
        ("items.dhall", "S.At.Now", "S.At.After 1.0"),
        ("items.dhall", "count = 7", "count = S.twice 8"),
        ("items.dhall", 'id = "b", size = Some 3', 'id = "\\"\\n é"'),
        ("sub/pairs.dhall", "I.first I.second", "I.second I.first"),
        ("sub/pairs.dhall", "toMap { one =", "toMap { two ="),
        ("sub/text.txt", "words", "other words"),
    ],
)
def test_a_file_that_changes_is_evaluated_alone(specs: Specs, name: str, old: str, new: str) -> None:
    before = specs.apart()
    assert old in FILES[name]
    specs.write(name, FILES[name].replace(old, new))
    assert specs.apart() == specs.whole() != before
    assert specs.known.evaluate(ROOT_FILE, specs.files(), 20) is not None


def test_two_files_that_change_are_evaluated_alone(specs: Specs) -> None:
    specs.write("sub/pairs.dhall", FILES["sub/pairs.dhall"].replace("I.count", "I.count + 1"))
    specs.learn()
    specs.write("items.dhall", FILES["items.dhall"].replace("7", "9"))
    specs.write("a.dhall", FILES["a.dhall"] + "-- the root, too\n")
    assert specs.apart() is None, "what imports a changed file cannot be evaluated apart from it"
    assert json.loads(json.dumps(evaluate_sources(ROOT_FILE, specs.files(), known=specs.known)))["P"]["n"] == 10


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("items.dhall", FILES["items.dhall"].replace("count = 7", "count = +7")),  # another type
        ("items.dhall", FILES["items.dhall"].replace(", all = True", "")),  # another type
        ("items.dhall", FILES["items.dhall"].replace("Some 3", "Some three")),  # no value
        ("items.dhall", FILES["items.dhall"].replace("S.Item::", "S.Items::")),  # no such member of what is imported
        ("schema.dhall", SCHEMA.replace("n * 2", "n * 3")),  # a function
        ("a.dhall", FILES["a.dhall"].replace("Some I.count", "Some (I.count + 1)")),  # the root
    ],
)
def test_what_cannot_be_had_apart_is_left_to_the_whole(specs: Specs, name: str, text: str) -> None:
    assert text != FILES[name]
    specs.write(name, text)
    assert specs.apart() is None
    told = []
    for known in (specs.known, None):
        try:
            told.append(json.dumps(evaluate_sources(ROOT_FILE, specs.files(), known=known)))
        except AssayError as error:
            told.append(str(error))
    assert told[0] == told[1]


@pytest.mark.parametrize(
    "use",
    [
        "if I.all then 1 else 2",
        "I.count + 1",
        "List/length Natural [ I.count ]",
        "merge { Now = 0.0, After = \\(n : Double) -> n } I.first.at",
        'Text/replace "a" "b" I.first.id',
        'I.first // { id = "z" }',
        "I.{ count, all }",
        "toMap { a = I.count, b = I.count + 1 }",
        "[ { mapKey = I.first.id, mapValue = 1 } ]",
        "(let both = I in both.count)",
        "let _ = assert : I.count === 7 in 1",
    ],
)
def test_what_computes_with_an_import_is_not_left_open(tmp_path: Path, use: str) -> None:
    specs = Specs(tmp_path, FILES | {"a.dhall": f"let I = ./items.dhall in {{ fixed = I.second, use = {use} }}"})
    specs.learn()
    assert specs.apart() == specs.whole()
    specs.write("items.dhall", FILES["items.dhall"].replace('"a"', '"aa"').replace("S.At.Now", "S.At.After 2.0"))
    assert specs.apart() in (None, specs.whole())


def test_an_import_whose_hash_is_demanded_is_not_left_open(tmp_path: Path) -> None:
    specs = Specs(tmp_path, FILES)
    specs.learn()
    hashes = specs.known.hashes(specs.files())
    specs.write("a.dhall", f"let I = ./items.dhall sha256:{hashes['items.dhall']} in [ I.first, I.second ]")
    specs.learn()
    assert specs.apart() == specs.whole()
    specs.write("items.dhall", FILES["items.dhall"].replace("Some 3", "Some 4"))
    assert specs.apart() is None
    with pytest.raises(AssayError):
        specs.whole()


def test_entries_of_a_map_that_are_imported_make_a_map(tmp_path: Path) -> None:
    """Of a list of what is imported it cannot be seen that it is a map: it is not left open."""
    specs = Specs(tmp_path, {
        "entry.dhall": '{ one = { mapKey = "k", mapValue = 1 } }',
        "a.dhall": "let E = ./entry.dhall in [ E.one, E.one ]",
    })  # fmt: skip
    specs.learn()
    assert specs.apart() == specs.whole() == '{"k": 1}'
    specs.write("entry.dhall", '{ one = { mapKey = "l", mapValue = 2 } }')
    assert specs.apart() in (None, '{"l": 2}')


def test_an_outline_that_was_tampered_with_does_not_count(specs: Specs) -> None:
    for place in (specs.known.folder / "outlines").iterdir():
        place.write_text(place.read_text()[:-9])
    assert specs.apart() is None
    for place in (specs.known.folder / "outlines").iterdir():
        place.write_text(
            '{"type": "", "imports": [], "is_data": true, "value": [], "gaps": [[[0], [[3, ["x"]]], false]]}'
        )
    assert evaluate_sources(ROOT_FILE, specs.files(), known=specs.known) == json.loads(specs.whole())


scalars = st.one_of(
    st.booleans().map(str),
    st.integers(0, 2**40).map(str),
    st.integers(-(2**40), 2**40).map(lambda number: f"{number:+d}"),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda number: f"{number:.9e}" if number else "0.0"),
    st.sampled_from(["NaN", "Infinity", "-Infinity", "-0.0"]),
    st.text(st.characters(codec="utf-8", exclude_characters='"\\$', exclude_categories=["Cc", "Cs"]), max_size=30).map(
        lambda text: f'"{text}"'
    ),
    st.sampled_from(["None Natural", "[] : List Text", "[] : List { mapKey : Text, mapValue : Bool }", "{=}",
                     "< A | B : Natural >.A", "< A | B : Natural >.B 3", "Some (Some +1)", "[ None Bool, Some True ]",
                     "[ { mapKey = \"k\", mapValue = [ 1 ] } ]", "toMap { a = 1.5, `b c` = 2.0 }",
                     "[ { mapKey = \"k\", mapValue = 1 }, { mapKey = \"k\", mapValue = 2 } ]"]),
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(
            lambda items: "{ " + ", ".join(f"m{number} = {item}" for number, item in enumerate(items)) + " }"
        ),
        inner.map(lambda item: f"[ {item}, {item} ]"),
        inner.map(lambda item: f"Some ({item})"),
    ),
    max_leaves=12,
)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=values)
def test_forms_of_data_are_the_data_that_the_evaluator_gives(tmp_path: Path, value: str) -> None:
    """Also below a type that is read off the form: Dhall agrees that it is the type."""
    shutil.rmtree(tmp_path)
    specs = Specs(tmp_path, {
        "v.dhall": f"{{ v = {value} }}",
        "a.dhall": "let V = ./v.dhall in { v = V.v, more = [ V.v ], text = \"a\" }",
    })  # fmt: skip
    assert specs.learn() == ["v.dhall", "a.dhall"]
    assert specs.apart() == specs.whole()
    specs.write("v.dhall", f"-- as it was\n{{ v = {value} }}")
    assert specs.apart() in (None, specs.whole())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("let S = ./s.dhall in S.a S.b.c", {"a", "b"}),
        ('let S = ./s.dhall let T = S.a in "${S.b T}" {- S -} -- S', {"a", "b"}),
        ("let S = ./s.dhall in x.S", set()),
        ("let S = ./s.dhall in (./s.dhall).q", set()),
        ("(./s.dhall).q 1", {"q"}),
        ("let S = ./s.dhall in S", None),
        ("let S = ./s.dhall in S.{ a }", None),
        ("let S = ./s.dhall in S::{ a = 1 }", None),
        ("let S = ./s.dhall in S // S.a", None),
        ("let S = ./s.dhall in { S }", None),
        ("let S = ./s.dhall in S.`a b`", None),
        ("let S = ./s.dhall in `S` + S.a", None),
        ("let S = ./s.dhall // ./t.dhall in S.a", None),
        ("let S : T = ./s.dhall in S.a", None),
        ("let S = ./s.dhall ? ./t.dhall in S.a", None),
        ("[ ./s.dhall ]", None),
        ("./s.dhall", None),
    ],
)
def test_the_members_that_a_text_reads(text: str, names: set[str] | None) -> None:
    scanned = scan(text)
    assert members_read(scanned, imports(scanned)[0]) == (None if names is None else frozenset(names))


def test_a_function_is_no_data() -> None:
    form = read(b"\x84\x01\x61x\x64Bool\x00")
    with pytest.raises(StuckError):
        data_of(form)
    with pytest.raises(StuckError):
        type_of(form)
    assert filled(data_of(form, 1), [{"of": "the argument"}]) == {"of": "the argument"}


def test_an_edit_of_a_package_is_evaluated_apart(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "starter" / "specs" / "service", tmp_path / "ws" / "specs" / "service")
    shutil.copytree(ROOT / "starter" / "queries", tmp_path / "ws" / "queries")
    here, cache = Workspace(tmp_path / "ws"), tmp_path / "cache"
    while workspace.unlearned(here, "service", cache):
        assert workspace.learn(here, "service", cache)
    place = tmp_path / "ws" / "specs" / "service" / "metrics.dhall"
    place.write_text(place.read_text().replace('doc = "', 'doc = "Changed: '))
    files = workspace.scan(here, "service")
    root = workspace.root_name(here, "service", files)
    apart = Outlines(Known(cache / workspace.KNOWN)).evaluate(root, files, 20)
    assert apart is not None
    assert json.dumps(apart.value) == json.dumps(evaluate_sources(root, files))
    assert "Changed: " in json.dumps(apart.value)


def test_what_cannot_be_learned_ends_the_learning(tmp_path: Path) -> None:
    """A mistake in the specs is for the next build to tell."""
    shutil.copytree(ROOT / "starter" / "specs" / "service", tmp_path / "ws" / "specs" / "service")
    shutil.copytree(ROOT / "starter" / "queries", tmp_path / "ws" / "queries")
    here, cache = Workspace(tmp_path / "ws"), tmp_path / "cache"
    place = tmp_path / "ws" / "specs" / "service" / "metrics.dhall"
    good = place.read_text()
    place.write_text(good.replace("id = ", "idd = "))
    learning.learn(here.root, "service", cache)
    assert workspace.unlearned(here, "service", cache)
    place.write_text(good)
    learning.learn(here.root, "service", cache)
    assert not workspace.unlearned(here, "service", cache)


def test_learning_goes_on_beside_other_work_and_ends_when_told(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "specs", tmp_path / "ws" / "specs")
    shutil.copytree(ROOT / "queries", tmp_path / "ws" / "queries")
    cache = tmp_path / "cache"
    learner = Learner()
    assert not learner.runs
    learner.start(tmp_path / "ws", "cardano", cache)
    until = time.monotonic() + 60
    while not list(cache.glob("dhall/keys/*")) and time.monotonic() < until:
        time.sleep(0.01)
    assert learner.runs  # of some forty files one
    learner.stop()
    while learner.runs and time.monotonic() < until:
        time.sleep(0.01)
    assert not learner.runs
    assert list(cache.glob("dhall/keys/*"))
    assert not list(cache.glob("scratch/*"))
