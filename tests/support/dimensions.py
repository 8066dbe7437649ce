"""A workspace whose requests have dimensions, with a report that splits sections and charts by them, and two runs."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tests.support.small import write_logs

DEFINITIONS = """\
let version =
      S.Constant::{ name = "version", files = [ "meta.json" ], path = [ "version" ], type = "text", doc = "Version" }

let service = source "log" // { constants = [ version ] }

let kind = E.optional (E.text "kind")

let cached = E.boolean "cached"

let shard = E.integer "shard"

let took = E.inUnit U.millisecond (E.integer "took")

let served = event "log" "served" [ fid, kind, cached, shard, took ]

let c =
      { kind = G.column "text" "kind" U.none "Kind"
      , cached = G.column "boolean" "cached" U.none "Cached"
      , shard = G.column "integer" "shard" U.none "Shard"
      , took = G.column "integer" "took" U.millisecond "Time"
      , seq = G.column "integer" "seq" U.none "Place"
      }

let columns = [ host, c.seq, c.kind, c.cached, c.shard, c.took ]

let requests =
      let sql = "SELECT host, seq, kind, cached, shard, took FROM served"

      in  relation "requests" sql [ served.name ] columns [ "host", "seq" ]

let request =
      S.Grain::{
      , name = "request"
      , relation = "requests"
      , key = [ "host", "seq" ]
      , columns
      , time = "seq"
      , cluster = "host"
      , dimensions = [ c.kind.name, c.cached.name, c.shard.name ]
      , doc = "Request"
      }

let duration = \\(id : Text) -> metric id "request" (X.column c.took) U.millisecond // { better = "lower" }

let time = duration "time"

let hostTime = duration "host_time" // { per = "host" }

let size = metric "size" "request" (X.plus (X.column c.took) (X.quantity 1.0 U.millisecond)) U.millisecond

let readTime = duration "read_time" // { where = X.equals (X.column c.kind) (X.text "read") }

let ratio =
      S.metric.formula
        { id = "ratio"
        , name = "ratio"
        , doc = ""
        , formula = X.over (S.metric.value time) (S.metric.value hostTime)
        , unit = U.none
        }

let R = S.report

let report =
      S.Report::{
      , name = "requests"
      , title = "Requests"
      , intro = ""
      , label = version.name
      , summary = "all"
      , style = "prefixed"
      , manifest = [ R.fact "Version" version (R.text 0) ]
      , sections =
        [ R.section "Times" [ time, readTime ]
        , R.splitBy [ c.kind ] (R.section "By kind" [ time, hostTime ]) // { limit = 2, columns = [ "p95" ] }
        , R.splitBy [ c.cached, c.shard ] (R.section "By two" [ time, size, readTime ])
        ]
      , charts =
        [ R.chartBy [ c.kind ] time // { limit = 1 }, R.chartBy [ c.shard ] time // { limit = 2 }, R.cdf time ]
      , dictionary = [ R.group "All" [ time, hostTime, readTime ] ]
      }
"""
PACKAGE = """\
sources = [ service ]
, events = [ served ]
, relations = [ requests ]
, grains = [ request ]
, metrics = [ time, hostTime, readTime, ratio, size ]
, reports = [ report ]
"""
ODD = ('a, "b"', "(none)", "(other)", "*/ SELECT $version --", "x/y=[z]", "\u202eline\nend ", "", "{version}", "'")
"""Values that a name, a statement, a file name or a page could misread."""
KINDS = ("read", "write", None, *ODD)
WEIGHTS = (50, 30, 8, *(1 for _ in ODD))
Row = Mapping[str, Any]


def create_rows(seed: int, slower: float, slow_kinds: Collection[str] = ("write",)) -> dict[str, list[Row]]:
    """Return the requests of each host; those of some kinds take longer by a factor."""
    source = random.Random(seed)
    rows: dict[str, list[Row]] = {}
    for host in ("h-1", "h-2"):
        kinds = source.choices(KINDS, WEIGHTS, k=400)
        rows[host] = [
            {
                "id": f"{host}-{number}",
                "cached": source.random() < 0.3,
                "shard": source.randint(-1, 1),
                "took": round(source.uniform(50, 150) * (slower if kind in slow_kinds else 1)),
                **({} if kind is None else {"kind": kind}),
            }
            for number, kind in enumerate(kinds)
        ]
    return rows


RUNS = {"old": create_rows(1, 1.0), "new": create_rows(2, 1.4)}


def write_run(folder: Path, run: str, hosts: Mapping[str, list[Row]]) -> None:
    """Write the logs of a run into a workspace."""
    logs = {
        f"{host}/log.jsonl": [(n / 10, "served", row) for n, row in enumerate(rows)] for host, rows in hosts.items()
    }
    write_logs(folder, run, logs)
    (folder / "runs" / run / "meta.json").write_text(json.dumps({"version": run}))
