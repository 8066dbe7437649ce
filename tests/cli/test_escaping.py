"""Test printed text: control characters in specs, logs and paths neither act on a terminal nor hide."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import threading
from itertools import takewhile
from pathlib import Path

import duckdb
import pytest

from assay.cli.main import cli
from assay.cli.output import print_rows
from assay.sql.dialect import escape_statement
from tests.support.commands import CommandResult, build_environment, run_assay, run_assay_process
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

#: characters that control a terminal (ESC, CSI), reverse a line, or begin another line
HOSTILE = "a\x1b[31m\x9b1m\u202eb\nFORGED"
ACTING = {"\x1b", "\x9b", "\u202e"}
#: the same as a Dhall text, and as printed
IN_DHALL = "a\\u001b[31m\\u009b1m\\u202eb\\nFORGED"
ESCAPED_NAME = "a\\x1b[31m\\x9b1m\\u202eb\\x0aFORGED"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace whose folder, specs and logs contain control characters."""
    folder = tmp_path_factory.mktemp("echo") / HOSTILE
    result = run_assay("init", folder)
    _assert_harmless(result)
    assert ESCAPED_NAME in result.out
    specs = folder / "specs" / "service"
    edit_file(specs / "metrics.dhall", '"Waiting time"', f'"Waiting {IN_DHALL}"')
    edit_file(specs / "metrics.dhall", '"Time from the start by a worker to the response"', f'"From then {IN_DHALL}"')
    for file, doc in (
        ("requests", "A request, on the host that received it"),
        ("reports", "Comparison of two or more versions of the service; the first is the baseline"),
        ("source", "Version of the service"),
        ("events", "A request was received"),
    ):
        edit_file(specs / f"{file}.dhall", f'"{doc}"', f'"{doc} {IN_DHALL}"')
    key = f'request.key // {{ doc = "Id {IN_DHALL}" }}'
    columns = f"{{ columns = [ request.host, {key} ] }}"
    edit_file(specs / "package.dhall", "[ request.relation ]", f"[ request.relation // {columns} ]")
    edit_file(specs / "package.dhall", "[ request.grain ]", f"[ request.grain // {columns} ]")
    edit_file(specs / "examples.dhall", '"one request"', f'"one {IN_DHALL}"')
    edit_file(specs / "examples.dhall", '[ "21" ]', '[ "22" ]')
    edit_file(specs / "events.dhall", '"response.sent"', f'"response.sent{IN_DHALL}"')
    for log in folder.glob("runs/*/*/log.jsonl"):
        text = log.read_text(encoding="utf-8")
        assert '"response.sent"' in text
        log.write_text(text.replace('"response.sent"', json.dumps(f"response.sent{HOSTILE}")), encoding="utf-8")
    edit_file(specs / "examples.dhall", '"response.sent"', f'"response.sent{IN_DHALL.replace(chr(92), chr(92) * 2)}"')
    (folder / "runs" / "1.1").rename(folder / "runs" / f"1.1{HOSTILE}")
    return folder


def _assert_harmless(result: CommandResult) -> None:
    """Check that no printed character acts on a terminal and that no text adds a line."""
    output = result.out + result.err
    assert not ACTING & set(output)
    assert not re.search(r"^\W*FORGED", output, re.MULTILINE)


def _name_run(place: Path) -> str:
    return f"new{HOSTILE}={place / 'runs' / ('1.1' + HOSTILE)}"


QUERY = ("query", "wait", "response_size", "--run", "RUN")
BUILD = ("build", "service/comparison", "--run", "old=runs/1.0", "--run", "RUN", "--to", "md", "-o")


COMMANDS: list[tuple[tuple[str, ...], int]] = [
        (("check",), 0),
        (("config",), 0),
        (("work", "queue", "--idle-exit", "0"), 0),
        (("check", "--verbose"), 0),
        (("test",), 3),
        (("test", "--format", "json"), 3),
        (("schema",), 0),
        (("schema", "meta.json"), 0),
        *((("list", kind, "--format", form), 0) for kind in ("metrics", "events", "grains", "reports")
          for form in ("table", "csv", "json")),
        *(((*QUERY, "--format", form), 0) for form in ("table", "csv", "json")),
        *((("compare", "runs/1.0", "RUN", "--format", form), 0) for form in ("text", "json", "csv", "markdown")),
        *((("why", "request", "runs/1.0", "RUN", "--format", form), 0) for form in ("text", "json")),
        ((*QUERY, "--log-format", "json"), 0),
        ((*QUERY, "--log-format", "text"), 0),
        *((("samples", "wait", "--run", "RUN", "--format", form), 0) for form in ("csv", "json")),
        (("query", f"wait{HOSTILE}", "--run", "RUN"), 2),
        (("query", "wait", f"--{HOSTILE}"), 2),
        (("--errors", "json", "query", f"wait{HOSTILE}", "--run", "RUN"), 2),
        (("sql", "work"), 0),
        (("sql", "work", "--run", "RUN"), 0),
        (("ingest", "RUN"), 0),
        (("serve", "--host", HOSTILE), 2),
        (("lineage", "wait"), 0),
        (("lineage", "wait", "--format", "dot"), 0),
        (("lineage", "wait", "--format", "json"), 0),
        (("explain", "wait", "--run", "RUN"), 0),
        (("slice", "wait", "--run", "RUN"), 2),
        (("inspect", "RUN"), 0),
        (("explain", "work", "--run", "RUN", "--format", "json"), 0),
        (("spec-diff", str(ROOT / "starter"), "."), 3),
        (("catalogue", "-o", "site"), 0),
        (("cache",), 0),
        (("cache", "--format", "json"), 0),
        (("cache", "prune", "--older-than", "1d"), 0),
        (("completion", "bash"), 0),
        (("runs", "add", "runs/1.0", "--name", HOSTILE, "--tag", HOSTILE, "--results", f"results{HOSTILE}"), 0),
        (("runs", "list", "--results", f"results{HOSTILE}"), 0),
        (("runs", "list", "--results", f"results{HOSTILE}", "--format", "csv"), 0),
        (("results", "export", "--results", f"results{HOSTILE}", "--to", "openmetrics"), 0),
        (("decide", "--base", f"false {HOSTILE}", "--candidate", "true", "--metric", "wait", "-o", "decided"), 1),
        (("bisect", f"v1{HOSTILE}", "--measure", "true", "--metric", "wait", "-o", "bisected"), 2),
        (("site", "--results", f"results{HOSTILE}", "-o", f"pages{HOSTILE}"), 2),
        (("history", f"wait{HOSTILE}", "--results", f"results{HOSTILE}"), 2),
        (("watch-runs", f"absent{HOSTILE}", "service/comparison", "--once", "-o", "watched", "--results", "r"), 2),
        (("shifts", "list", "--results", f"results{HOSTILE}"), 2),
        (("shifts", "accept", f"wait{HOSTILE}", "--reason", HOSTILE, "--results", f"results{HOSTILE}"), 2),
        (("fetch", "prometheus", f"http://127.0.0.1:9/{HOSTILE}", "--match", "up", "--start", HOSTILE, "--end", "2",
          "-o", "fetched"), 2),
        (("regenerate", f"{HOSTILE}.json", "-o", "again"), 1),
        (("draft", f"build{HOSTILE}"), 2),
        (("check-prose", f"prose{HOSTILE}.md", f"build{HOSTILE}"), 2),
]  # fmt: skip


@pytest.mark.parametrize(("words", "status"), COMMANDS)
def test_control_characters_are_escaped_on_the_terminal(place: Path, words: tuple[str, ...], status: int) -> None:
    arguments = [_name_run(place) if word == "RUN" else word for word in words]
    result = run_assay("--cache", place / "cache", *arguments, cwd=place)
    assert result.status == status, result.err
    _assert_harmless(result)


def test_every_command_is_covered() -> None:
    covered_commands = {word for words, _ in COMMANDS for word in words[:3]} & set(cli.load_commands())
    commands_tested_elsewhere = {
        "init",
        "build",
        "trace",
        "verify",
        "gate",
        "plan",
        "watch",
        "lsp",
    }  # a language server prints nothing for users
    assert covered_commands | commands_tested_elsewhere == set(cli.load_commands())


def test_watch_escapes_control_characters(place: Path) -> None:
    arguments = [
        _name_run(place) if word == "RUN" else word for word in ("watch", *BUILD[1:-3], "-o", f"watched{HOSTILE}")
    ]
    command = [sys.executable, "-m", "assay", "--cache", str(place / "cache"), *arguments]
    env = build_environment()
    with subprocess.Popen(
        command, cwd=place, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:  # fmt: skip
        timer = threading.Timer(60, process.kill)
        timer.start()
        assert process.stdout
        lines = [process.stdout.readline().decode() for _ in range(2)]
        package = place / "specs" / "service" / "package.dhall"
        text = package.read_text(encoding="utf-8")
        package.write_text(text.replace(", system =", f", {json.dumps(HOSTILE)} ="), encoding="utf-8")
        lines += [line.decode() for line in takewhile(bytes.strip, process.stdout)]
        process.kill()
        timer.cancel()
        package.write_text(text, encoding="utf-8")
    assert re.fullmatch(rf"watched{re.escape(ESCAPED_NAME)}/report\.pdf\n", lines[0])
    assert lines[2].startswith("error[")
    _assert_harmless(CommandResult(1, "", "".join(lines)))


def test_build_escapes_control_characters(place: Path) -> None:
    cache = ("--cache", place / "cache")
    arguments = [_name_run(place) if word == "RUN" else word for word in BUILD]
    out = f"out{HOSTILE}"
    result = run_assay(*cache, *arguments, out, cwd=place)
    assert (result.status, result.out) == (0, f"out{ESCAPED_NAME}/report.md\n"), result.err
    _assert_harmless(result)
    for command, status in (
        (("trace", out, "--list"), 0),
        (("trace", out, "--list", "--format", "json"), 0),
        (("verify", out), 0),
        (("spec-diff", out, "."), 0),
        (("gate", out), 1),
        (("plan", out), 0),
        (("verify", f"no{HOSTILE}"), 2),
    ):
        result = run_assay(*cache, *command, cwd=place)
        assert result.status == status, result.err
        _assert_harmless(result)


def test_json_output_has_exact_values(place: Path) -> None:
    cache = ("--cache", place / "cache")
    listing = run_assay(*cache, "list", "metrics", "--format", "json", cwd=place).parse_json()
    assert f"Waiting {HOSTILE}" in [item["name"] for item in listing]
    rows = run_assay(*cache, "query", "wait", "--run", _name_run(place), "--format", "json", cwd=place).parse_json()
    assert rows[0]["run"] == f"new{HOSTILE}"
    other_cache = ("--cache", place / "other-cache")  # whose rows are not remembered
    log = run_assay(*other_cache, *QUERY[:-1], _name_run(place), "--log-format", "json", cwd=place).err
    assert f"new{HOSTILE}" in [json.loads(line).get("run") for line in log.splitlines() if line[0] == "{"]


def test_tables_and_csv_show_escapes(place: Path) -> None:
    cache = ("--cache", place / "cache")
    listing = run_assay(*cache, "list", "metrics", "--format", "csv", cwd=place).out
    assert f"Waiting {ESCAPED_NAME}" in [row[1] for row in csv.reader(io.StringIO(listing))]
    assert ESCAPED_NAME in run_assay(*cache, "query", "wait", "--run", _name_run(place), cwd=place).out


def test_printed_sql_means_the_same_as_the_sql() -> None:
    text = "it's\\a 'b' \x1b\x9b\u202e"
    sql = f"SELECT {_quote_literal(text)} AS \"a'b\" /* it's */, 'plain\\n' -- it's\n"
    printed_sql = escape_statement(sql)
    assert not ACTING & set(printed_sql)
    assert duckdb.execute(printed_sql).fetchall() == [(text, "plain\\n")]
    assert escape_statement("SELECT 'a\\b\n' AS \"é\"") == "SELECT 'a\\b\n' AS \"é\""


def _quote_literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def test_limited_terminal_gets_replacement_characters() -> None:
    ascii_ = {"PYTHONIOENCODING": "ascii"}
    result = run_assay_process("list", "metrics", "--system", "cardano", "--format", "json", environment=ascii_)
    listing = run_assay("list", "metrics", "--system", "cardano", "--format", "json")
    assert result.status == 0, result.err
    assert result.parse_json() == listing.parse_json()
    assert not listing.out.isascii()


def test_rows_of_marks_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(("a",), [("[red]x[/red]\x1b",)], "table")
    assert "[red]x[/red]\\x1b" in capsys.readouterr().out


def test_only_one_module_prints() -> None:
    folder = ROOT / "compiler" / "assay" / "cli"
    files = [path for path in folder.glob("*.py") if path.name != "output.py"]
    assert len(files) > 10
    printing_call = re.compile(r"\bclick\.(echo|secho|echo_via_pager)\b|\bprint\(|\bstd(out|err)\.write\b")
    allowed_counts = {"progress.py": 1}  # a progress display
    counts = {path.name: len(printing_call.findall(path.read_text(encoding="utf-8"))) for path in files}
    assert {name: number for name, number in counts.items() if number} == allowed_counts


@pytest.mark.parametrize("cell", ["=1+1", "+1+1", "-1-1", "@SUM(1+1)", "-", "-1.5.", "+a"])
def test_csv_cell_like_a_formula_is_quoted(cell: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(["name", "value"], [["a", cell]], "csv")
    print_rows(["name", "value"], [["a", cell]], "json")
    output = capsys.readouterr().out
    assert output.startswith(f"name,value\na,'{cell}\n")
    assert json.loads(output.partition("\n[")[2].join(["[", ""])) == [{"name": "a", "value": cell}]


@pytest.mark.parametrize("cell", ["-1.5", "+2", "-1e-05", "-.5", "-inf", "1=1", "a@b", "", "'=1"])
def test_other_csv_cell_is_unchanged(cell: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(["name", "value"], [["a", cell]], "csv")
    assert capsys.readouterr().out == f"name,value\na,{cell}\n"


def test_csv_of_run_named_like_a_formula_is_quoted(place: Path, tmp_path: Path) -> None:
    command = ("query", "wait", "--run", "@SUM(1+1)=runs/1.0", "--format", "csv", "--cache", tmp_path)
    result = run_assay(*command, cwd=place)
    assert (result.status, result.out.splitlines()[1][:16]) == (0, "wait,'@SUM(1+1),")
