"""Test that a number is independent of other requested metrics, and which of several hosts' rows is first."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from assay.engine.mount import bind_parameters
from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, query_averages, write_logs

LOGS = {
    "h-1/log.jsonl": [
        (1, "began", {"id": "x", "a": 10}), (2, "ended", {"id": "x"}), (40, "began", {"id": "z", "a": 1}),
    ],
    "h-2/log.jsonl": [
        (3, "began", {"id": "x", "a": 10}), (4, "began", {"id": "y", "a": 20}), (5, "ended", {"id": "x"}),
        (6, "began", {"id": "w", "a": 7}), (7, "ended", {"id": "w"}), (55, "ended", {"id": "z"}),
        (56, "began", {"id": "z", "a": 2}),
    ],
    "h-1/notes.jsonl": [(1, "noted", {"id": "x"}), (2, "noted", {"id": "x"})],
    "h-2/notes.jsonl": [(1, "noted", {"id": "x"})],
}  # fmt: skip
SPECS = """\
let distinct =
      relation
        "distinct_rows"
        ''
        SELECT host, count(*)::BIGINT AS n
        FROM (SELECT DISTINCT * EXCLUDE (seq, t_ns) FROM began)
        GROUP BY host
        ''
        [ "began" ]
        [ host, n ]
        [ "host" ]

let endings =
      relation
        "endings_by_host"
        ''
        SELECT logs.host, count(ended.seq) AS n
        FROM logs LEFT JOIN ended ON ended.host = logs.host
        GROUP BY logs.host
        ''
        [ "logs", "ended" ]
        [ host, n ]
        [ "host" ]

let rows =
      relation
        "rows_as_values"
        "SELECT host, sum(struct_extract(began, 'a'))::BIGINT AS n FROM began GROUP BY host"
        [ "began" ]
        [ host, n ]
        [ "host" ]

let cased =
      relation
        "in_capitals"
        "SELECT BEGAN.HOST, max(A) AS n FROM BEGAN GROUP BY HOST"
        [ "began" ]
        [ host, n ]
        [ "host" ]

let natural =
      relation
        "joined_by_names"
        "SELECT began.host, count(*) AS n FROM began NATURAL JOIN (SELECT HOST, ID FROM ended) GROUP BY began.host"
        [ "began", "ended" ]
        [ host, n ]
        [ "host" ]

let ids = relation "ids" "SELECT id FROM began GROUP BY id" [ "began" ] [ id ] [ "id" ]

let notes = relation "notes" "SELECT host, count(*) AS n FROM noted GROUP BY host" [ "noted" ] [ host, n ] [ "host" ]

let bare = \\(name : Text) -> S.Grain::{ name, key = [ "host" ], columns = [ host, n ], doc = name }

let byId = [ G.sameColumn id id ]

let first = picked "journey" "first" began "first" byId // { fields = [ "a" ] }

let last = picked "journey" "last" ended "last" byId

let journey =
      S.Grain::{
      , name = "journey"
      , relation = "ids"
      , key = [ "id" ]
      , columns = [ id ]
      , instants = [ first, last ]
      , doc = "journey"
      }
"""
PACKAGE = """\
    sources = [ source "log", source "notes" ]
  , events = [ began, ended, noted ]
  , relations = [ distinct, endings, rows, cased, natural, ids, notes ]
  , grains =
    [ bare "distinct_of" // { relation = "distinct_rows" }
    , bare "endings_of" // { relation = "endings_by_host" }
    , bare "notes_of" // { relation = "notes" }
    , bare "rows_of" // { relation = "rows_as_values" }
    , bare "capitals_of" // { relation = "in_capitals" }
    , bare "joined_of" // { relation = "joined_by_names" }
    , journey
    ]
  , metrics =
    [ metric "distinct" "distinct_of" (X.column n) U.count
    , metric "endings" "endings_of" (X.column n) U.count
    , metric "rows_n" "rows_of" (X.column n) U.count
    , metric "capitals_n" "capitals_of" (X.column n) U.count
    , metric "joined_n" "joined_of" (X.column n) U.count
    , metric "noted_n" "notes_of" (X.column n) U.count
    , metric "journey_time" "journey" (S.elapsed { from = [ first ], to = last }) U.second
    , metric "journey_a" "journey" (G.taken first fa) U.none
    ]
"""
EXPECTED = {
    "distinct": (2, 3.0),  # h-1 has x and z; h-2 has x, y, w and z
    "endings": (2, 2.0),  # one and three
    "rows_n": (2, (11 + 39) / 2),
    "capitals_n": (2, (10 + 20) / 2),
    "joined_n": (2, (1 + 3) / 2),  # x; x, w and z
    "noted_n": (2, 1.5),
    "journey_time": (3, (4.0 + 1.0 + 15.0) / 3),  # x, w, z: from the first of either host to the last of either
    "journey_a": (4, (10 + 20 + 7 + 1) / 4),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = create_small_workspace(tmp_path / "place", SPECS, PACKAGE)
    write_logs(folder, "one", LOGS)
    return folder


@pytest.mark.parametrize(
    "metrics",
    [["distinct"], ["endings"], ["rows_n"], ["capitals_n"], ["joined_n"],
     ["journey_time"], ["journey_a"], ["endings", "noted_n"], ["noted_n", "distinct"],
     ["journey_a", "journey_time"], list(EXPECTED)],
)  # fmt: skip
def test_number_is_independent_of_other_metrics(place: Path, tmp_path: Path, metrics: list[str]) -> None:
    actual = query_averages(place, tmp_path / "cache", *metrics)
    assert actual == {name: pytest.approx(EXPECTED[name], rel=1e-12) for name in metrics}


def test_first_of_simultaneous_rows_is_of_the_first_host(place: Path, tmp_path: Path) -> None:
    """The position in a log does not order records of different logs."""
    logs = {
        "h-1/log.jsonl": [(1, "began", {"id": "o", "a": 1}), (2, "began", {"id": "x", "a": 10})],
        "h-2/log.jsonl": [(2, "began", {"id": "x", "a": 30}), (3, "ended", {"id": "x"})],
        "h-1/notes.jsonl": [(1, "noted", {"id": "x"})],
        "h-2/notes.jsonl": [(1, "noted", {"id": "x"})],
    }
    write_logs(place, "tied", logs)
    actual = query_averages(place, tmp_path / "cache", "journey_a", run="tied")
    assert actual == {"journey_a": (2, (1 + 10) / 2)}


def test_cache_of_one_query_does_not_serve_another(place: Path, tmp_path: Path) -> None:
    for name in (*EXPECTED, *reversed(EXPECTED)):
        assert query_averages(place, tmp_path / "cache", name) == {name: pytest.approx(EXPECTED[name], rel=1e-12)}


def test_specs_with_and_without_order_pass_the_check(place: Path, tmp_path: Path) -> None:
    result = run_assay("check", "--cache", tmp_path / "cache", cwd=place)
    message = (
        "small: no report shows `capitals_n`, `distinct`, `endings` and 5 more, so no build, comparison or gate does\n"
    )
    assert (result.status, result.err) == (0, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ('began "first" byId', 'began "latest before" byId // { before = "last" }'),
            "error[pick]: instant `first` of grain `journey` is the latest before `last`, but `first` is not bound by "
            "host, and logs of several hosts have no order",
        ),
        (
            ('began "first" byId', 'noted "latest before" byId // { before = "last" }'),
            "error[pick]: instant `first` of grain `journey` is the latest before `last`, but records of "
            "different sources have no order",
        ),
        (
            ('[ "logs", "ended" ]', '[ "logs" ]'),
            "error[logs]: relation `endings_by_host` reads `logs` but no event, so its source is unknown",
        ),
    ],
)
def test_rows_without_an_order_are_an_error(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in SPECS
    place = create_small_workspace(tmp_path / "place", SPECS.replace(*change), PACKAGE)
    result = run_assay("check", "--cache", tmp_path / "cache", cwd=place)
    assert result.status == 1
    assert message in result.err.splitlines()


TALLY = """
let times = G.column "integer" "times" U.count "Journeys of the id"

let ended_last = picked "each" "ended_last" ended "last" byId

let each =
      S.Grain::{
      , name = "each"
      , relation = "ids"
      , key = [ "id" ]
      , columns = [ id ]
      , instants = [ ended_last ]
      , tallies = [ { column = times, of = "journey", on = byId, where = X.nothing } ]
      , at = "ended_last"
      , doc = "each"
      }
"""


BACK = """
let byHost = [ G.sameColumn host host ]

let last_end = picked "back" "last_end" ended "last" (byHost # byId)

let start = picked "back" "start" began "latest before" byHost // { before = "last_end" }

let former = picked "back" "former" ended "latest before" byHost // { before = "start" }

let endings_of_ids = relation "endings_of_ids" "SELECT DISTINCT host, id FROM ended" [ "ended" ] [ host, id ] [ "host", "id" ]

let back =
      S.Grain::{
      , name = "back"
      , relation = "endings_of_ids"
      , key = [ "host", "id" ]
      , columns = [ host, id ]
      , instants = [ former, start, last_end ]
      , doc = "back"
      }
"""  # noqa: E501


def test_instants_may_be_declared_in_any_order(tmp_path: Path) -> None:
    """Each instant of a journey looks back from the next: w on h-2 at 7, 6 and 5; z at 55, 6 and 5."""
    package = PACKAGE.replace("ids, notes ]", "ids, notes, endings_of_ids ]").replace("    , journey\n", "    , back\n")
    metrics = '[ metric "back_n" "back" (S.elapsed { from = [ former ], to = last_end }) U.second ]\n'
    place = create_small_workspace(tmp_path / "place", SPECS + BACK, package[: package.index("[ metric")] + metrics)
    write_logs(place, "one", LOGS)
    assert query_averages(place, tmp_path / "cache", "back_n") == {"back_n": (2, (2 + 50) / 2)}


def test_counts_cover_the_whole_run(tmp_path: Path) -> None:
    """A journey that ends in the phase began before it, and is counted."""
    package = PACKAGE.replace("    , journey\n", '    , journey // { at = "first" }\n    , each\n').replace(
        "  , metrics =\n    [ ", '  , metrics =\n    [ metric "times_n" "each" (X.column times) U.count\n    , '
    )
    place = create_small_workspace(tmp_path / "place", SPECS + TALLY, package)
    write_logs(place, "one", LOGS)
    phases = ("--at", "mid=2026-01-01T00:00:41Z", "--phase", "early=..mid", "--phase", "late=mid..")
    command = ("query", "times_n", "--run", "runs/one", *phases, "--format", "json", "--cache", tmp_path / "cache")
    result = run_assay(*command, cwd=place)
    assert result.status == 0, result.err
    assert [(item["run"], item["size"], item["average"]) for item in result.parse_json()] == [
        ("one:early", 2, 1.0),
        ("one:late", 1, 1.0),
    ]


def test_integer_constants_have_64_bits() -> None:
    """Regression: products of small constants overflowed 32 bits."""
    values = bind_parameters(["a", "b"], {"a": 100_000, "b": True, "other": 1})
    assert duckdb.execute("SELECT $a * $a, typeof($a), typeof($b)", values).fetchall() == [
        (10_000_000_000, "BIGINT", "BOOLEAN")
    ]
    assert bind_parameters([], {"a": 1}) is None
