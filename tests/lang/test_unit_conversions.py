"""Test that values of different units of one kind are added and compared, exactly and in the finer unit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, write_logs

COLUMNS = {
    "ms": ("integer", "millisecond", 7),
    "s": ("integer", "second", 9_007_199_254),  # in nanoseconds beyond what a double holds exactly
    "rs": ("real", "second", 1.5),
    "kb": ("integer", "kilobyte", 3),
    "kib": ("integer", "kibibyte", 3),
    "b": ("integer", "byte", 2999),
    "share": ("real", "percent", 40.0),
    "none": ("integer", "millisecond", None),
}
DECLARED = ", ".join(
    f'{name} = G.column "{kind}" "{name}" (U.unit "{unit}" "") "Column"' for name, (kind, unit, _) in COLUMNS.items()
)
SELECTED = ", ".join(
    f"CAST({'NULL' if value is None else value} AS {'DOUBLE' if kind == 'real' else 'BIGINT'}) AS {name}"
    for name, (kind, _, value) in COLUMNS.items()
)
SPECS = f"""
let c = {{ {DECLARED} }}
let v = \\(column : X.Column) -> X.column column
let rows =
      relation "rows" "SELECT host, id, {SELECTED} FROM began" [ "began" ] ([ host, id ] #
        (toMap c).(x)) [ "host", "id" ]
""".replace("(toMap c).(x)", "[ c.ms, c.s, c.rs, c.kb, c.kib, c.b, c.share, c.none ]")
SPECS += """
let pairs = [ { column = "host", field = "host" }, { column = "id", field = "id" } ]
let at = { began = picked "row" "began" began "first" pairs, ended = picked "row" "ended" ended "first" pairs }
let earlier =
      S.Instant::{ name = "earlier", grain = "row", pick = "computed", doc = "Earlier"
      , value = X.minus (G.instant at.began) (v c.ms) }
let row =
      S.Grain::{ name = "row", relation = "rows", key = [ "host", "id" ]
      , columns = [ host, id, c.ms, c.s, c.rs, c.kb, c.kib, c.b, c.share, c.none ]
      , instants = [ at.began, at.ended, earlier ], doc = "Row" }
let elapsed = X.minus (G.instant at.ended) (G.instant at.began)
"""
CASES = [
    ("X.plus (elapsed) (v c.ms)", "U.nanosecond", 2_007_000_000),
    ("X.minus (v c.ms) (elapsed)", "U.nanosecond", -1_993_000_000),
    ("X.minus (G.instant at.began) (G.instant earlier)", "U.nanosecond", 7_000_000),
    ("X.plus (v c.s) (v c.ms)", "U.millisecond", 9_007_199_254_007),
    ("X.minus (X.plus (v c.s) (elapsed)) (v c.s)", "U.nanosecond", 2_000_000_000),
    ("X.plus (v c.rs) (v c.ms)", "U.millisecond", 1507),
    ("X.plus (v c.kb) (v c.b)", "U.byte", 5999),
    ("X.greatest (v c.b) (v c.kb)", "U.byte", 3000),
    ("X.orElse (v c.none) (v c.rs)", "U.millisecond", 1500),
    ("X.firstPresent [ v c.none, v c.s, v c.ms ]", "U.second", 9_007_199_254),
    ("X.orElse (v c.ms) (X.quantity 5.0 U.second)", "U.millisecond", 7),
    ("X.plus (X.quantity 1.0 U.kilobyte) (X.quantity 1.0 U.byte)", "U.byte", 1001),
    ("X.plus (v c.share) (X.real 0.5)", "U.percent", 90),
]
CONDITIONS = [
    ("X.equals (X.orElse (v c.none) (X.quantity 5.0 U.second)) (X.quantity 5000.0 U.millisecond)", True),
    ("X.above (v c.kb) (v c.b)", True),
    ("X.atMost (v c.rs) (v c.ms)", False),
    ("X.equals (X.plus (v c.b) (X.quantity 1.0 U.byte)) (v c.kb)", True),
    ("X.atLeast (elapsed) (v c.s)", False),
]


def query(place: Path, metrics: list[str]) -> dict[str, dict[str, float]]:
    """Query metrics of a workspace; return figures by metric."""
    members = (
        """sources = [ source "log" ], events = [ began, ended ], relations = [ rows ], grains = [ row ],
      metrics = [ """
        + ", ".join(f"m{number}" for number in range(len(metrics)))
        + " ]"
    )
    definitions = "".join(f"let m{number} = {metric}\n" for number, metric in enumerate(metrics))
    create_small_workspace(place, SPECS + definitions, members)
    write_logs(place, "one", {"h-1/log.jsonl": [(1, "began", {"id": "x"}), (3, "ended", {"id": "x"})]})
    names = [f"m{number}" for number in range(len(metrics))]
    result = run_assay("query", *names, "--run", "runs/one", "--format", "json", "--cache", place / "cache", cwd=place)
    assert result.status == 0, result.err
    return {item["metric"]: item for item in json.loads(result.out)}


def test_units_of_one_kind_convert_exactly(tmp_path: Path) -> None:
    figures = query(
        tmp_path, [f'metric "m{number}" "row" ({text}) {unit}' for number, (text, unit, _) in enumerate(CASES)]
    )
    assert [figures[f"m{number}"]["average"] for number in range(len(CASES))] == [value for *_, value in CASES]


def test_comparisons_convert_units_of_one_kind(tmp_path: Path) -> None:
    figures = query(
        tmp_path,
        [
            f'metric "m{number}" "row" (v c.ms) U.millisecond // {{ where = {text} }}'
            for number, (text, _) in enumerate(CONDITIONS)
        ],
    )
    assert [figures[f"m{number}"]["size"] == 1 for number in range(len(CONDITIONS))] == [
        holds for _, holds in CONDITIONS
    ]


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("X.plus (v c.kb) (v c.kib)", "combines values of different units"),
        ("X.plus (v c.kb) (v c.ms)", "mixes units that do not convert to each other"),
        ("X.minus (G.instant at.began) (v c.rs)", "mixes units that do not convert to each other"),
    ],
)
def test_sum_without_an_exact_unit_is_refused(tmp_path: Path, measure: str, message: str) -> None:
    members = """sources = [ source "log" ], events = [ began, ended ], relations = [ rows ], grains = [ row ],
      metrics = [ m ]"""
    create_small_workspace(tmp_path, f'{SPECS}let m = metric "m" "row" ({measure}) U.byte\n', members)
    result = run_assay("check", "--cache", tmp_path / "cache", cwd=tmp_path)
    assert result.status == 1
    assert f"metric `m` {message}" in result.err
