"""The cache gives back what it was asked, and nothing that only looks like it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from tests.compare_reference import CARDANO, load
from tests.support.commands import assay, build
from tests.support.laboratory import ROOT
from tests.support.runs import changed_json, changed_log, copied, line
from tests.support.workspaces import edited, workspace

OTHER = [line(30.0 + place, "Other.Thing", {}) for place in range(5)]
EVENT = """\
    , otherThing = event "other_thing" "Something else" [ same "Other.Thing" ([] : List S.Field) ]
    , blockSent =
"""


def manifest(out: Path) -> Any:
    """The facts of the only run of a report."""
    return load(out / "results.json")["manifest"]["run"]


def built(run: Path, out: Path, cache: Path, within: Path) -> Any:
    """The manifest of a build of one run without filters."""
    done = build([f"run={run}"], out, cache, "--no-filters", within=within)
    assert done.status == 0, done.err
    return manifest(out)


def test_an_event_that_becomes_known_is_counted_in_logs_that_were_read_before(tmp_path: Path, cache: Path) -> None:
    run = copied("tiny/plain", tmp_path / "run")
    changed_log(run / "node-2", lambda lines: [*lines, *OTHER])
    before, after = workspace(tmp_path / "before"), workspace(tmp_path / "after")
    edited(after / "specs" / "cardano" / "events.dhall", "    , blockSent =\n", EVENT)
    edited(
        after / "specs" / "cardano" / "package.dhall",
        "      , e.blockSent\n",
        "      , e.blockSent\n      , e.otherThing\n",
    )
    first = built(run, tmp_path / "first", cache, before)
    second = built(run, tmp_path / "second", cache, after)
    assert second["recognised_total"] == first["recognised_total"] + len(OTHER)
    assert built(run, tmp_path / "third", cache, before) == first


def test_runs_of_the_same_logs_have_their_own_facts(tmp_path: Path, cache: Path) -> None:
    run = copied("tiny/plain", tmp_path / "run")
    first = built(run, tmp_path / "first", cache, ROOT)
    changed_json(run / "genesis-shelley.json", lambda found: found.update(epochLength=10))
    changed_json(run / "meta.json", lambda found: found["meta"].update(ident="renamed"))
    second = built(run, tmp_path / "second", cache, ROOT)
    assert {name: value for name, value in second.items() if first[name] != value} == {"ident": "renamed"}
    assert load(tmp_path / "second" / "results.json")["runs"] == [{"id": "run", "label": "renamed"}]
    sql = load(tmp_path / "second" / "sql" / "constants.json")
    assert sql["run"]["epoch_length"] == 10


def test_what_was_read_before_does_not_change_what_is_counted(tmp_path: Path, cache: Path) -> None:
    run = copied("tiny/plain", tmp_path / "run")
    broken = line(31.0, "TxSubmission.TxInbound.Collected", {"count": "many"})
    changed_log(run / "node-2", lambda lines: [*lines, broken])
    alone = built(run, tmp_path / "alone", tmp_path / "other cache", ROOT)
    everything = assay("ingest", str(run), "--all", "--cache", str(cache))
    assert everything.status == 0, everything.err
    (folder,) = everything.out.split()
    (lost,) = duckdb.sql(f"SELECT count(*) FROM read_parquet('{folder}/quarantine.parquet')").fetchall()
    assert lost == (1,)
    assert built(run, tmp_path / "after", cache, ROOT) == alone


def test_runs_of_the_same_logs_that_are_read_together_are_read_once(tmp_path: Path, cache: Path) -> None:
    runs = [copied("tiny/plain", tmp_path / name) for name in ("one", "two", "three")]
    done = assay("ingest", *map(str, runs), "--cache", str(cache))
    assert done.status == 0, done.err
    assert len(set(done.out.split())) == 1


def test_sql_that_takes_a_host_apart_as_a_text_works_as_it_is_checked(tmp_path: Path) -> None:
    """Hosts are numbers to the engine, which not every function takes for texts."""
    changed = "WHERE recognised > 0 AND host[1:5] = 'node-'"
    space = workspace(tmp_path / "ws", ("queries/cardano/openings.sql", "WHERE recognised > 0", changed))
    query = ("query", "CentiCpu", "--run", CARDANO / "tiny" / "plain" / "run", "--format", "json", "--no-filters")
    usual = assay(*query, "--cache", tmp_path / "usual")
    done = assay(*query, "--cache", tmp_path / "cache", within=space)
    assert (usual.status, done.status) == (0, 0), done.err
    assert done.json() == usual.json() != []
