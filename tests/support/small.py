"""Create a small workspace with JSON logs of a few hosts and additional definitions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.commands import run_assay

PACKAGE = """\
let S = ../schema/package.dhall

let G = S.grain

let X = S.x

let U = S.unit

let E = S.event

let source =
      \\(name : Text) ->
        S.Source::{
        , name
        , hosts = "h-*"
        , logs = [ "${name}*.jsonl" ]
        , time = [ "time" ]
        , body = [ "data" ]
        , lookups = [ { path = [ "event" ], inBody = False, drop = "", generation = "v1" } ]
        , doc = name
        }

let event =
      \\(source : Text) ->
      \\(name : Text) ->
      \\(fields : List S.Field) ->
        { name
        , source
        , forms = [ { names = [ { generation = "v1", name } ], unless = [] : List E.Unless, fields } ]
        , doc = name
        } : S.Event

let fid = E.text "id"

let fa = E.optional (E.integer "a")

let began = event "log" "began" [ fid, fa ]

let ended = event "log" "ended" [ fid ]

let noted = event "notes" "noted" [ fid ]

let host = G.column "text" "host" U.none "Host"

let id = G.column "text" "id" U.none "Id"

let n = G.column "integer" "n" U.count "Number"

let relation =
      \\(name : Text) ->
      \\(sql : Text) ->
      \\(uses : List Text) ->
      \\(columns : List X.Column) ->
      \\(key : List Text) ->
        S.Relation::{ name, sql, uses, columns, key, doc = name }

let metric =
      \\(id : Text) ->
      \\(grain : Text) ->
      \\(measure : X.Expression) ->
      \\(unit : U.Unit) ->
        S.Metric::{ id, name = id, doc = id, grain, measure, unit }

let picked =
      \\(grain : Text) ->
      \\(name : Text) ->
      \\(of : S.Event) ->
      \\(pick : Text) ->
      \\(on : List G.Pair) ->
        S.Instant::{ name, grain, pick, of = of.name, on, doc = name }

"""
#: (second, event, data) of each host's log
Log = Sequence[tuple[float, str, Mapping[str, object]]]


def create_small_workspace(place: Path, definitions: str, package: str) -> Path:
    """Create a workspace with a system `small` from additional Dhall and members of its package."""
    folder = place / "specs" / "small"
    folder.mkdir(parents=True)
    summaries = 'summaries = [ S.Summary::{ name = "all", doc = "all" } ]'
    text = f'{PACKAGE}{definitions}\nin  S.Package::{{ system = "small", {summaries}, {package} }}\n'
    (folder / "package.dhall").write_text(text, encoding="utf-8")
    return place


def write_logs(place: Path, run: str, logs: Mapping[str, Log]) -> None:
    """Write a run: records by file, such as `h-1/log.jsonl`."""
    for name, records in logs.items():
        path = place / "runs" / run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            json.dumps({"time": f"2026-01-01T00:00:{second:06.3f}Z", "event": event, "data": data})
            for second, event, data in records
        ]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def query_averages(place: Path, cache: Path, *metrics: str, run: str = "one") -> dict[str, tuple[int, float]]:
    """Query metrics together; return the number of samples and the average of each."""
    result = run_assay("query", *metrics, "--run", f"runs/{run}", "--format", "json", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    return {item["metric"]: (item["size"], item["average"]) for item in json.loads(result.out)}
