"""Builds that cannot end well, or end with a warning: what is said, what stays."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.app import comparison
from tests.compare_reference import CARDANO, load
from tests.support.commands import assay, assay_process, build
from tests.support.laboratory import ROOT
from tests.support.outcomes import FORMER, contents, former_outputs, message
from tests.support.runs import changed_json, copied
from tests.support.workspaces import edited, workspace

PLAIN = f"plain={CARDANO / 'tiny' / 'plain' / 'run'}"
LEGACY = f"legacy={CARDANO / 'legacy' / 'run'}"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An output folder that holds an earlier report."""
    former_outputs(tmp_path / "out")
    return tmp_path / "out"


THIRD = "3" * 64
REFUSED = {
    "hdrforge": f"""\
error[no-forger]: run hdrforge: block {THIRD} (number 2) is needed for the main chain, but no host counts as its \
forger; seen by node-10, node-2, node-3
  hint: a host that forged it twice, or also fetched it, does not count as its forger
""",
    "dupforge": f"""\
error[no-forger]: run dupforge: block {THIRD} (number 2) is needed for the main chain, but no host counts as its \
forger; seen by node-10, node-2, node-3
  hint: a host that forged it twice, or also fetched it, does not count as its forger
""",
    "nosize": f"""\
error[block-incomplete]: run nosize: block {THIRD} (number 2) of the main chain lacks its size, on node-3
  hint: is the log of node-3 cut off, or were lines lost?
""",
    "gap1001": """\
error[silence]: run gap1001: node-3 is silent for 1000 slots, from slot 40 to slot 1041 \
(at 2026-02-05 19:09:37.500000000)
  hint: a silence of 1000 slots or more cannot be analysed: leave the host out, or cut the run before it
""",
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_run_that_the_incumbent_refuses_is_refused_with_its_cause(out: Path, cache: Path, case: str) -> None:
    done = build([f"{case}={CARDANO / 'tiny' / f'refused-{case}' / 'run'}"], out, cache, "--no-filters")
    assert (done.status, message(done, {})) == (1, REFUSED[case])
    assert contents(out) == FORMER


ALL_REJECTED = """\
error[all-rejected]: run plain: the filters reject all 4 blocks of the chain
  note: filter slot-geq=3 rejected 9 of 180 of `slot`
  note: filter size-geq=99999 rejected 4 of 4 of `block`
  note: filter unitary rejected 0 of 4 of `block`
  note: filter slot-geq=3 rejected 1 of 4 of `block`
  hint: loosen the filters, or see what there is with --no-filters

error[all-rejected]: run legacy: the filters reject all 38 blocks of the chain
  note: filter slot-geq=3 rejected 15 of 3000 of `slot`
  note: filter size-geq=99999 rejected 38 of 38 of `block`
  note: filter unitary rejected 0 of 38 of `block`
  note: filter slot-geq=3 rejected 0 of 38 of `block`
  hint: loosen the filters, or see what there is with --no-filters
"""


def test_where_filters_leave_nothing_it_is_said_how_much_each_rejected(out: Path, cache: Path) -> None:
    filters = ("--filter", "size-geq=99999", "--filter", "unitary", "--filter", "slot-geq=3")
    done = build([PLAIN, LEGACY], out, cache, *filters)
    assert (done.status, message(done, {})) == (1, ALL_REJECTED)
    assert contents(out) == FORMER


def test_where_filters_leave_no_slot_it_is_said_whose(out: Path, cache: Path) -> None:
    done = build([PLAIN], out, cache, "--filter", "slot-geq=100000")
    assert (done.status, message(done, {})) == (
        1,
        """\
error[no-slot-left]: run plain: node-10 has no slot to analyse
  note: 2 more like it
  note: filter slot-geq=100000 rejected 180 of 180 of `slot`
  hint: take the host out of the run, or let more of its slots count
""",
    )
    assert contents(out) == FORMER


def test_an_empty_directory_is_told_as_that_though_there_are_several_sources(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = assay("query", "valid_txs", "--run", f"a={tmp_path / 'empty'}", "--cache", cache)
    assert (done.status, message(done, {"TMP": tmp_path})) == (
        1, "error[no-run]: the run directory is empty: TMP/empty\n",
    )  # fmt: skip


def test_problems_of_several_runs_are_told_together(tmp_path: Path, out: Path, cache: Path) -> None:
    run = copied("tiny/plain", tmp_path / "run")
    (run / "meta.json").unlink()
    (tmp_path / "empty").mkdir()
    done = build([f"a={tmp_path / 'empty'}", f"b={run}"], out, cache)
    assert (done.status, message(done, {"TMP": tmp_path})) == (
        1,
        """\
error[no-run]: the run directory is empty: TMP/empty

error[no-document]: the run has no meta.json: TMP/run
  note: it tells the constants `batch` (Batch of the run), `era` (Era of the ledger), `delegators` (Delegators in \
the genesis) and 6 more of source `workbench_logs`
  hint: `assay schema meta.json` shows what it must hold
""",
    )


def other(tmp_path: Path) -> str:
    """A run of another era, with a host less and broken lines."""
    run = copied("tiny/refused-miss", tmp_path / "other")
    changed_json(run / "meta.json", lambda found: found["meta"].update(era="alonzo", ident="other"))
    return f"other={run}"


def test_what_makes_runs_hard_to_compare_is_a_warning_in_the_report(tmp_path: Path, cache: Path) -> None:
    baseline = CARDANO / "baseline" / "run"
    done = build([f"base={baseline}", other(tmp_path)], tmp_path / "report", cache, "--no-filters")
    warnings = [
        "The runs differ in era (10.5-sim: conway, other: alonzo).",
        "The runs differ in their number of hosts (10.5-sim: 6, other: 3).",
        "other: 1 broken log line left out (node-2: 1); it is node-2/stdout.gz:15: "
        "field slot of ledger_view is missing.",
        "other: no log line is a `block_sent` event, so there are no samples of cdfPeerSend.",
        "other: no log line is a `header_announced` event, so there are no samples of cdfPeerAnnounce.",
        "other: there are no samples of CPU 85% spans, Forged to announced, Forged to sending, "
        "Slot start to announced, Fetched to announced, Fetched to sending.",
        "other: 7 findings on what its data lack, under Data quality.",
    ]
    assert done.status == 0
    assert done.err.startswith("".join(f"warning: {item}\n" for item in warnings))
    assert load(tmp_path / "report" / "document.json")["warnings"] == warnings


def warned(runs: list[str], out: Path, cache: Path) -> list[str]:
    """What a build warns of raw files."""
    done = build(runs, out, cache, "--no-filters")
    assert done.status == 0
    warnings: list[str] = load(out / "document.json")["warnings"]
    assert done.err.startswith("".join(f"warning: {item}\n" for item in warnings))
    return [item for item in warnings if "raw files" in item]


def test_a_run_that_is_compared_with_itself_is_told(tmp_path: Path, cache: Path) -> None:
    run, twin = CARDANO / "tiny" / "plain" / "run", copied("tiny/plain", tmp_path / "twin")
    changed_json(twin / "meta.json", lambda found: found["meta"].update(ident="other"))
    itself = "has the raw files of {}, byte for byte: a run is compared with itself."
    assert warned([f"a={run}", f"b={run}"], tmp_path / "1", cache) == [f"list (b) {itself.format('list (a)')}"]
    assert warned([f"a={run}", f"b={twin}"], tmp_path / "2", cache) == [f"other {itself.format('list')}"]


def test_a_log_that_lies_in_two_runs_is_told(tmp_path: Path, cache: Path) -> None:
    mixed = copied("tiny/tie-hosts", tmp_path / "mixed")
    changed_json(mixed / "meta.json", lambda found: found["meta"].update(ident="mixed"))
    runs = [f"a={CARDANO / 'tiny' / 'plain' / 'run'}", f"b={mixed}"]
    for log in mixed.glob("*/stdout.gz"):
        log.write_bytes(gzip.compress(gzip.decompress(log.read_bytes()), 1))
    assert warned(runs, tmp_path / "none", cache) == []
    log = mixed / "node-3" / "stdout.gz"
    log.write_bytes((CARDANO / "tiny" / "plain" / "run" / "node-3" / "stdout.gz").read_bytes())
    assert warned(runs, tmp_path / "one", cache) == [
        "mixed has 1 of its 3 raw files from list, byte for byte (node-3/stdout.gz): files of one run may lie in the "
        "folder of another."
    ]


def test_a_metric_whose_event_no_run_has_is_told_as_such(tmp_path: Path, cache: Path) -> None:
    run = copied("tiny/plain", tmp_path / "run")
    for log in run.glob("node-*/stdout.gz"):
        lines = [
            line for line in gzip.decompress(log.read_bytes()).splitlines(True) if b"TickedLedgerState" not in line
        ]
        log.write_bytes(gzip.compress(b"".join(lines)))
    done = assay("--cache", cache, "query", "cdfForgerTicked", "--run", run)
    assert (done.status, done.err) == (
        0,
        """\
warning: run: no log line is a `ledger_ticked` event, so there are no samples of cdfForgerTicked.
filters: unitary; average: published
""",
    )


def test_runs_that_agree_give_no_warning(two: Path) -> None:
    assert load(two / "document.json")["warnings"] == []


UNWRITABLE = """\
error[output]: the output folder cannot be written: {cause}: TMP/{place}
  hint: choose a folder that can be written with -o
"""


@pytest.mark.parametrize(
    ("place", "cause"),
    [("file", "it is a file"), ("file/below", "Not a directory"), ("file/far/below", "Not a directory")],
)
def test_an_output_folder_that_cannot_be_written_is_refused(
    tmp_path: Path, cache: Path, place: str, cause: str
) -> None:
    (tmp_path / "file").write_text("mine")
    done = build([PLAIN], tmp_path / place, cache, "--no-filters")
    assert (done.status, message(done, {"TMP": tmp_path})) == (1, UNWRITABLE.format(cause=cause, place=place))
    assert (tmp_path / "file").read_text() == "mine"


def test_a_cache_folder_that_cannot_be_written_is_refused(tmp_path: Path, out: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = build([PLAIN], out, tmp_path / "file", "--no-filters")
    assert done.status == 1
    assert message(done, {"TMP": tmp_path}) == (
        "error[cache]: the cache folder cannot be written: it is a file: TMP/file\n  hint: name another with --cache\n"
    )
    assert contents(out) == FORMER


def test_a_build_that_fails_at_its_very_end_leaves_everything_as_it_was(tmp_path: Path, out: Path, cache: Path) -> None:
    place = workspace(tmp_path / "workspace")
    shutil.copytree(ROOT / "templates", place / "templates")
    edited(place / "templates" / "report.typ", "#", "#panic(1)\n#")
    done = build([PLAIN], out, cache, "--no-filters", within=place)
    assert done.status == 1
    assert message(done, {}).startswith("error[")
    assert contents(out) == FORMER
    new = build([PLAIN], tmp_path / "new", cache, "--no-filters", within=place)
    assert new.status == 1
    assert not (tmp_path / "new").exists()


SCRAPES = """\
let S = ../schema/package.dhall

let source =
      S.Source::{
      , name = "scrapes"
      , hosts = "scrape-*"
      , logs = [ "*.json" ]
      , time = [ "at" ]
      , body = [ "data" ]
      , lookups = [ { path = [ "ns" ], inBody = False, drop = "", generation = "new" } ]
      , doc = "Scrapes of nodes"
      }

let event = { name = "scraped", source = source.name, forms = [ { names = [ { generation = "new", name = "Scraped" } ]
      , unless = [] : List S.event.Unless, fields = [ S.event.integer "connections" ] } ], doc = "A scrape" } : S.Event

let host = S.grain.column "text" "host" S.unit.none "Host"

let connections = S.grain.column "integer" "connections" S.unit.none "Connections"

let relation = S.Relation::{ , name = "scrapes_of_hosts", sql = ../../queries/scrapes.sql as Text, uses = [ event.name ]
      , columns = [ host, connections ], key = [ "host" ] }

let grain = S.Grain::{ , name = "scrape", relation = relation.name, key = [ "host" ], columns = relation.columns }

let metric = S.Metric::{ , id = "connections", name = "Connections", grain = grain.name
      , measure = S.x.column connections, accepted = False, unit = S.unit.none, doc = "Connections of a node" }

in  { source, event, relation, grain, metric }
"""


def test_a_metric_whose_source_no_run_has_is_named(tmp_path: Path, out: Path, cache: Path) -> None:
    place = workspace(tmp_path / "workspace")
    (place / "specs" / "cardano" / "scrapes.dhall").write_text(SCRAPES)
    (place / "queries" / "scrapes.sql").write_text("SELECT host, connections FROM scraped\n")
    package = place / "specs" / "cardano" / "package.dhall"
    edited(package, "let source =", "let scrapes = ./scrapes.dhall\n\nlet source =")
    edited(package, "sources = [ source.logs ]", "sources = [ source.logs, scrapes.source ]")
    for kind, first in (("event", "e.resources"), ("relation", "r.roles"), ("metric", "forging.start")):
        edited(package, f"      [ {first}\n", f"      [ {first}\n      , scrapes.{kind}\n")
    edited(
        package,
        "      [ (./grains/block.dhall).grain\n",
        "      [ (./grains/block.dhall).grain\n      , scrapes.grain\n",
    )
    tables = place / "specs" / "cardano" / "contents.dhall"
    edited(tables, '"Anomaly control"\n          [ ', '"Anomaly control"\n          [ (./scrapes.dhall).metric, ')
    # With two sources, an event says whose logs are meant.
    relations = place / "specs" / "cardano" / "relations.dhall"
    said = relations.read_text(encoding="utf-8").replace('[ "logs" ]', '[ "logs", events.resources.name ]')
    relations.write_text(said, encoding="utf-8")
    done = build([PLAIN, LEGACY], out, cache, within=place)
    assert (done.status, message(done, {"GOLDEN": CARDANO})) == (
        1,
        """\
error[no-source]: no run has records of the source `scrapes`, which metrics need: `connections`
  expected: directories scrape-* in a run (Scrapes of nodes)
  found:    GOLDEN/tiny/plain/run, GOLDEN/legacy/run
  hint: leave the metrics out of the report, or add the records to the runs
""",
    )
    assert contents(out) == FORMER
    assert assay("query", "Alloc", "--run", PLAIN, "--no-filters", "--cache", cache, within=place).status == 0


ENDLESS = """WITH RECURSIVE turns AS (
    SELECT host, 0 AS slot FROM logs
    UNION ALL
    SELECT host, slot FROM turns WHERE slot < 1
)

SELECT
    host,
    (SELECT max(slot) FROM turns) + (greatest(first_recognised_ns, $system_start) - $system_start) // $slot_length
    AS slot
"""


def test_a_query_that_never_ends_meets_a_time_limit(
    tmp_path: Path, out: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = "queries/cardano/openings.sql"
    text = (ROOT / file).read_text(encoding="utf-8")
    head = text[text.index("SELECT") : text.index("FROM logs")]
    within = workspace(tmp_path / "workspace", (file, head, ENDLESS))
    monkeypatch.setenv("ASSAY_SQL_SECONDS", "0.5")
    done = build([PLAIN], out, cache, within=within)
    assert (done.status, message(done, {})) == (
        1,
        """\
error[sql-time]: run plain: the SQL of `openings` takes more than 0.5 seconds
  hint: does it end? with ASSAY_SQL_SECONDS=N in the environment it has N seconds
""",
    )
    assert contents(out) == FORMER
    monkeypatch.setenv("ASSAY_SQL_SECONDS", "soon")
    done = build([PLAIN], out, cache, within=within)
    assert (done.status, message(done, {})) == (
        2,
        """\
error[bad-limit]: ASSAY_SQL_SECONDS is no time: soon
  expected: a number of seconds above 0
""",
    )


def test_errors_are_data_where_that_is_asked_for(cache: Path) -> None:
    run = CARDANO / "tiny" / "refused-gap1001" / "run"
    done = assay("--errors", "json", "--cache", cache, "query", "Alloc", "--no-filters", "--run", f"gap={run}")
    assert (done.status, done.out) == (1, "")
    assert json.loads(done.err) == [
        {
            "severity": "error",
            "code": "silence",
            "message": "run gap: node-3 is silent for 1000 slots, from slot 40 to slot 1041 "
            "(at 2026-02-05 19:09:37.500000000)",
            "hint": "a silence of 1000 slots or more cannot be analysed: leave the host out, or cut the run before it",
        }
    ]


def test_a_process_ends_with_the_status_and_the_message(out: Path, cache: Path) -> None:
    arguments = ("--run", PLAIN, "-o", out, "--cache", cache)
    done = assay_process("build", "cardano/comparision", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "error[unknown-report]: there is no report `cardano/comparision`\n  hint: did you mean `cardano/comparison`?\n"
    )
    done = assay_process("build", "cardano/comparison", "--filter", "nonnegative", *arguments)
    assert (done.status, done.out, done.err.splitlines()[0]) == (
        1,
        "",
        "error[all-rejected]: run plain: the filters reject all 4 blocks of the chain",
    )
    assert contents(out) == FORMER


def test_a_bug_of_ours_is_said_to_be_one(out: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(comparison, "compute", broken)
    done = build([PLAIN], out, cache)
    assert (done.status, message(done, {})) == (
        70,
        "error[bug]: this is a bug of Assay: ZeroDivisionError: division by zero\n"
        "  hint: ASSAY_DEBUG=1 shows where; please report it\n",
    )
    assert contents(out) == FORMER


NOT_UTF8 = """\
error[not-utf8]: {what} is not UTF-8: `{name}`
  hint: rename the file or folder; reports name what they are made of, and are UTF-8
"""


@pytest.mark.parametrize("arguments", [("--title", b"a\xff"), ("--run", b"n\xff=RUN"), ("--author", b"\xed\xa0\x80")])
def test_arguments_that_are_no_text_are_refused(out: Path, cache: Path, arguments: tuple[str, bytes]) -> None:
    name = os.fsdecode(arguments[1])
    done = build([PLAIN], out, cache, arguments[0], name)
    told = arguments[1].decode("utf-8", "backslashreplace")
    assert (done.status, done.err) == (2, NOT_UTF8.format(what="an argument", name=told))
    assert contents(out) == FORMER


@pytest.mark.parametrize("name", [b"node-\xff/stdout", b"node-2/stdout-\xff", b"node-\xff/nothing"])
def test_files_whose_names_are_no_text_are_refused(out: Path, cache: Path, tmp_path: Path, name: bytes) -> None:
    run = copied("tiny/plain", tmp_path / "run")
    place = run / os.fsdecode(name)
    place.parent.mkdir(exist_ok=True)
    place.write_text('{"at":"2026-02-05T18:52:16Z"}\n', encoding="utf-8")
    done = build([str(run)], out, cache)
    assert done.status == 1
    assert done.err.startswith("error[not-utf8]: ")
    assert "\\xff" in done.err
    assert contents(out) == FORMER


def test_facts_with_half_of_a_character_are_refused(out: Path, cache: Path, tmp_path: Path) -> None:
    run = copied("tiny/plain", tmp_path / "run")
    text = (run / "meta.json").read_text(encoding="utf-8")
    (run / "meta.json").write_text(text.replace('"batch": "', '"batch": "\\\\ud800 is a text, this is not: \\ud800', 1))
    done = build([str(run)], out, cache)
    assert done.status == 1
    assert "error[not-json]: meta.json is not JSON: half of a surrogate pair, which is no character" in done.err
    assert contents(out) == FORMER


@pytest.mark.parametrize("argument", ["1e999999999", "9" * 5000, "1e-999999999", "NaN", "\u0663", "0x10", ""])
def test_arguments_of_filters_that_nobody_can_mean_are_refused_at_once(cache: Path, argument: str) -> None:
    """Worked out exactly, some of them would take all time and memory."""
    run = ("--run", CARDANO / "tiny" / "plain" / "run", "--cache", cache)
    done = assay("query", "cdfForgerStart", *run, "--filter", f"slot-leq={argument}")
    what = "no number" if argument in ("NaN", "\u0663", "0x10") else "too large or too fine to be meant"
    message = f"the argument of filter `slot-leq` is {what}" if argument else "filter `slot-leq` needs an argument"
    assert (done.status, done.err.splitlines()[:2]) == (
        2, [f"error[filter-argument]: {message}", "  expected: slot-leq=N, a whole number"],
    )  # fmt: skip
