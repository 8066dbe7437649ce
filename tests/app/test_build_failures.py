"""Builds that fail, or end with a warning: the message, the exit status, the output folder."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.app.compute.report_request import ReportRequest
from tests.compare_reference import CARDANO, load_json
from tests.support.commands import build, run_assay, run_assay_process
from tests.support.laboratory import ROOT
from tests.support.outcomes import FORMER, format_message, read_contents, write_former_outputs
from tests.support.runs import change_json, copy_run, read_lines, write_log
from tests.support.workspaces import copy_workspace, edit_file

PLAIN = f"plain={CARDANO / 'tiny' / 'plain' / 'run'}"
LEGACY = f"legacy={CARDANO / 'legacy' / 'run'}"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Create an output folder that holds an earlier report."""
    write_former_outputs(tmp_path / "out")
    return tmp_path / "out"


def test_problems_of_several_runs_are_reported_together(tmp_path: Path, out: Path, cache: Path) -> None:
    for name in ("first", "second"):
        (copy_run("tiny/plain", tmp_path / name) / "meta.json").unlink()
    (tmp_path / "empty").mkdir()
    result = build([f"{name}={tmp_path / name}" for name in ("empty", "first", "second")], out, cache)
    assert (result.status, format_message(result, {"TMP": tmp_path})) == (
        1,
        """\
error[no-run]: the run directory is empty: TMP/empty

error[no-document]: 2 runs have no meta.json: TMP/first, TMP/second
  note: it has the constants `batch` (Batch of the run), `era` (Era of the ledger), `delegators` (Delegators in \
the genesis) and 6 more of source `workbench_logs`
  hint: see its required content with `assay schema meta.json`
""",
    )


def create_other_run(tmp_path: Path) -> str:
    """Create a run of another era, with one host fewer and some broken lines."""
    run = copy_run("tiny/refused-miss", tmp_path / "other")
    change_json(run / "meta.json", lambda data: data["meta"].update(era="alonzo", ident="other"))
    return f"other={run}"


def test_differences_between_runs_are_warnings_in_the_report(tmp_path: Path, cache: Path) -> None:
    baseline = CARDANO / "baseline" / "run"
    result = build([f"base={baseline}", create_other_run(tmp_path)], tmp_path / "report", cache, "--no-filters")
    warnings = [
        "The runs differ in era (base: conway, other: alonzo).",
        "The runs differ in their number of hosts (base: 6, other: 3).",
        "other: 1 broken log line left out (node-2: 1); it is node-2/stdout.gz:15: "
        "field slot of ledger_view is missing.",
        "other: there are no samples of CPU 85% spans, Forged to announced, Forged to sending, "
        "Slot start to announced, Fetched to announced, Fetched to sending.",
        "other: 10 findings on incomplete data, under Data quality.",
    ]
    assert result.status == 0
    assert result.err.startswith("".join(f"warning: {item}\n" for item in warnings))
    assert load_json(tmp_path / "report" / "document.json")["warnings"] == warnings
    findings = load_json(tmp_path / "report" / "results.json")["quality"]["other"]["findings"]
    counts = {tuple(item["metrics"]): item["total"] for item in findings if item["code"] == "no-samples"}
    assert counts == {("cdfPeerAnnounce",): 8, ("cdfPeerSend",): 8}


def list_build_warnings(runs: list[str], out: Path, cache: Path) -> list[str]:
    """Return the warnings of a build about raw files."""
    result = build(runs, out, cache, "--no-filters")
    assert result.status == 0
    warnings: list[str] = load_json(out / "document.json")["warnings"]
    texts = [item for item in warnings if "raw files" in item]
    assert all(f"warning: {item}\n" in result.err for item in texts)  # stderr groups others by run
    return texts


def test_run_compared_with_itself_is_a_warning(tmp_path: Path, cache: Path) -> None:
    run, copied_run = CARDANO / "tiny" / "plain" / "run", copy_run("tiny/plain", tmp_path / "twin")
    change_json(copied_run / "meta.json", lambda data: data["meta"].update(ident="other"))
    itself = "has the raw files of {}, byte for byte: a run is compared with itself."
    assert list_build_warnings([f"a={run}", f"b={run}"], tmp_path / "1", cache) == [f"b {itself.format('a')}"]
    assert list_build_warnings([f"a={run}", f"b={copied_run}"], tmp_path / "2", cache) == [f"b {itself.format('a')}"]


def test_log_that_lies_in_two_runs_is_a_warning(tmp_path: Path, cache: Path) -> None:
    mixed = copy_run("tiny/tie-hosts", tmp_path / "mixed")
    change_json(mixed / "meta.json", lambda data: data["meta"].update(ident="mixed"))
    runs = [f"a={CARDANO / 'tiny' / 'plain' / 'run'}", f"b={mixed}"]
    for log in mixed.glob("*/stdout.gz"):
        log.write_bytes(gzip.compress(gzip.decompress(log.read_bytes()), 1))
    assert list_build_warnings(runs, tmp_path / "none", cache) == []
    log = mixed / "node-3" / "stdout.gz"
    log.write_bytes((CARDANO / "tiny" / "plain" / "run" / "node-3" / "stdout.gz").read_bytes())
    assert list_build_warnings(runs, tmp_path / "one", cache) == [
        "b has 1 of its 3 raw files from a, byte for byte (node-3/stdout.gz): files of one run may lie in the "
        "folder of another."
    ]


def test_metric_of_an_event_without_records_is_a_warning(tmp_path: Path, cache: Path) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    for log in run.glob("node-*/stdout.gz"):
        lines = [
            line for line in gzip.decompress(log.read_bytes()).splitlines(True) if b"TickedLedgerState" not in line
        ]
        log.write_bytes(gzip.compress(b"".join(lines)))
    result = run_assay("--cache", cache, "query", "cdfForgerTicked", "--run", run)
    assert (result.status, result.err) == (
        0,
        """\
warning: run: no sample of cdfForgerTicked: 4 rows of `block`, 4 with `leading`, 0 with `ticked` \
(the run has no `ledger_ticked` record).
filters: unitary; average: published
""",
    )


def test_runs_that_agree_give_no_warning(two: Path) -> None:
    assert load_json(two / "document.json")["warnings"] == []


def test_build_that_fails_at_its_end_leaves_the_output_folder(tmp_path: Path, out: Path, cache: Path) -> None:
    place = copy_workspace(tmp_path / "workspace")
    shutil.copytree(ROOT / "templates", place / "templates")
    edit_file(place / "templates" / "report.typ", "#", "#panic(1)\n#")
    result = build([PLAIN], out, cache, "--no-filters", cwd=place)
    assert result.status == 1
    assert format_message(result, {}).startswith("error[")
    assert read_contents(out) == FORMER
    new = build([PLAIN], tmp_path / "new", cache, "--no-filters", cwd=place)
    assert new.status == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["stdout.gz", "stdout.zst"])
def test_packed_log_that_is_cut_off_is_refused(tmp_path: Path, out: Path, cache: Path, name: str) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    lines = read_lines(run / "node-2")
    (run / "node-2" / "stdout.gz").unlink()
    write_log(run / "node-2", lines, name)
    file = run / "node-2" / name
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    result = build([f"run={run}"], out, cache, "--no-filters")
    tool = "zcat" if name.endswith(".gz") else "zstd -dc"
    assert (result.status, format_message(result, {"RUN": run})) == (
        1,
        f"""\
error[broken-file]: run run: the log file cannot be read to its end: RUN/node-2/{name}
  found:    the compressed data ends before the content
  hint: is it cut off, or still being written? `{tool} {name} > stdout` saves the readable part; \
then move {name} out of the run
""",
    )
    assert read_contents(out) == FORMER


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


def test_metric_of_a_missing_source_is_named(tmp_path: Path, out: Path, cache: Path) -> None:
    place = copy_workspace(tmp_path / "workspace")
    (place / "specs" / "cardano" / "scrapes.dhall").write_text(SCRAPES)
    (place / "queries" / "scrapes.sql").write_text("SELECT host, connections FROM scraped\n")
    package = place / "specs" / "cardano" / "package.dhall"
    edit_file(package, "let source =", "let scrapes = ./scrapes.dhall\n\nlet source =")
    edit_file(package, "sources = [ source.logs ]", "sources = [ source.logs, scrapes.source ]")
    for kind, first in (("event", "e.resources"), ("relation", "r.roles")):
        edit_file(package, f"      [ {first}\n", f"      [ {first}\n      , scrapes.{kind}\n")
    edit_file(package, "S.metrics (toMap forging)", "[ scrapes.metric ] # S.metrics (toMap forging)")
    edit_file(
        package,
        "      [ (./grains/block.dhall).grain\n",
        "      [ (./grains/block.dhall).grain\n      , scrapes.grain\n",
    )
    tables = place / "specs" / "cardano" / "contents.dhall"
    edit_file(tables, '"Anomaly control" [ ', '"Anomaly control" [ (./scrapes.dhall).metric, ')
    # With two sources, a message about an event names the source.
    relations = place / "specs" / "cardano" / "relations.dhall"
    edited_text = relations.read_text(encoding="utf-8").replace('[ "logs" ]', '[ "logs", events.resources.name ]')
    relations.write_text(edited_text, encoding="utf-8")
    result = build([PLAIN, LEGACY], out, cache, cwd=place)
    assert (result.status, format_message(result, {"GOLDEN": CARDANO})) == (
        1,
        """\
error[no-source]: no run has records of source `scrapes`, which metrics `connections` require
  expected: directories scrape-* in a run (Scrapes of nodes)
  found:    GOLDEN/tiny/plain/run, GOLDEN/legacy/run
  hint: remove the metrics from the report, or add the records to the runs
""",
    )
    assert read_contents(out) == FORMER
    assert run_assay("query", "Alloc", "--run", PLAIN, "--no-filters", "--cache", cache, cwd=place).status == 0


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


def test_query_that_never_ends_meets_a_time_limit(
    tmp_path: Path, out: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = "queries/cardano/openings.sql"
    text = (ROOT / file).read_text(encoding="utf-8")
    head = text[text.index("SELECT") : text.index("FROM logs")]
    workspace_root = copy_workspace(tmp_path / "workspace", (file, head, ENDLESS))
    monkeypatch.setenv("ASSAY_SQL_SECONDS", "0.5")
    result = build([PLAIN], out, cache, cwd=workspace_root)
    assert (result.status, format_message(result, {})) == (
        1,
        """\
error[sql-time]: run plain: the SQL of `openings` takes more than 0.5 seconds
  hint: check that it ends, or set ASSAY_SQL_SECONDS to more seconds
""",
    )
    assert read_contents(out) == FORMER
    monkeypatch.setenv("ASSAY_SQL_SECONDS", "soon")
    result = build([PLAIN], out, cache, cwd=workspace_root)
    assert (result.status, format_message(result, {})) == (
        2,
        """\
error[bad-limit]: invalid value of ASSAY_SQL_SECONDS
  expected: a number of seconds above 0
  found:    soon
""",
    )


def test_process_ends_with_the_status_and_the_message(out: Path, cache: Path) -> None:
    arguments = ("--run", PLAIN, "-o", out, "--cache", cache)
    result = run_assay_process("build", "cardano/comparision", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        "error[unknown-report]: there is no report `cardano/comparision`\n  hint: did you mean `cardano/comparison`?\n"
    )
    result = run_assay_process("build", "cardano/comparison", "--filter", "nonnegative", *arguments)
    assert (result.status, result.out, result.err.splitlines()[0]) == (
        1,
        "",
        "error[all-rejected]: run plain: the filters reject all 4 blocks of the main chain",
    )
    assert read_contents(out) == FORMER


def test_exception_is_reported_as_a_bug(out: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_error(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(ReportRequest, "compute", raise_error)
    result = build([PLAIN], out, cache)
    assert (result.status, format_message(result, {})) == (
        70,
        "error[bug]: internal error: ZeroDivisionError: division by zero\n"
        "  hint: report this bug of Assay; ASSAY_DEBUG=1 shows the traceback\n",
    )
    assert read_contents(out) == FORMER


NOT_UTF8 = """\
error[not-utf8]: {what} is not UTF-8: `{name}`
  hint: rename the file or folder: reports are UTF-8, and print its name
"""


@pytest.mark.parametrize("arguments", [("--title", b"a\xff"), ("--run", b"n\xff=RUN"), ("--author", b"\xed\xa0\x80")])
def test_arguments_that_are_no_text_are_refused(out: Path, cache: Path, arguments: tuple[str, bytes]) -> None:
    name = os.fsdecode(arguments[1])
    result = build([PLAIN], out, cache, arguments[0], name)
    printed_argument = arguments[1].decode("utf-8", "backslashreplace")
    assert (result.status, result.err) == (2, NOT_UTF8.format(what="an argument", name=printed_argument))
    assert read_contents(out) == FORMER


@pytest.mark.parametrize("name", [b"node-\xff/stdout", b"node-2/stdout-\xff", b"node-\xff/nothing"])
def test_files_whose_names_are_no_text_are_refused(out: Path, cache: Path, tmp_path: Path, name: bytes) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    place = run / os.fsdecode(name)
    place.parent.mkdir(exist_ok=True)
    place.write_text('{"at":"2026-02-05T18:52:16Z"}\n', encoding="utf-8")
    result = build([str(run)], out, cache)
    assert result.status == 1
    assert result.err.startswith("error[not-utf8]: ")
    assert "\\xff" in result.err
    assert read_contents(out) == FORMER
