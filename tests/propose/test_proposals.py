"""Test proposals for logs: each case has logs, the expected proposal and the samples of a metric.

`proposal.json` is written by `pytest tests/propose --accept`; `expected.yaml` is computed by hand from the logs.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import statistics
from pathlib import Path

import duckdb
import pytest
import yaml

from tests.support.commands import run_assay

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name for path in CASES.iterdir())


def _list_logs(case: str) -> list[Path]:
    return sorted(path for path in (CASES / case / "logs").rglob("*") if path.is_file())


def _propose(case: str, folder: Path, cache: Path) -> Path:
    """Create the workspace of a case below a folder; return it."""
    place = folder / "service"
    result = run_assay("--cache", cache, "init", place, "--from", *_list_logs(case))
    assert (result.status, result.err) == (0, "")
    return place


@pytest.mark.parametrize("case", NAMES)
def test_proposal_is_that_of_the_case(case: str, tmp_path: Path, cache: Path, is_accepting: bool) -> None:
    expected = CASES / case / "proposal.json"
    result = run_assay("--cache", cache, "init", tmp_path / "service", "--from", *_list_logs(case), "--format", "json")
    assert (result.status, result.err) == (0, "")
    if is_accepting:
        expected.write_text(result.out, encoding="utf-8")
    assert result.out == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", NAMES)
def test_proposed_workspace_measures_the_logs(case: str, tmp_path: Path, cache: Path) -> None:
    """The specs have no problem, no record is broken, and a metric has the samples that the logs have."""
    place = _propose(case, tmp_path, cache)
    checked = run_assay("--cache", cache, "check", cwd=place)
    assert (checked.status, checked.out.endswith(": no problem\n")) == (0, True), checked.err
    expected = yaml.safe_load((CASES / case / "expected.yaml").read_text(encoding="utf-8"))
    (run,) = (place / "runs").iterdir()
    queried = run_assay("--cache", cache, "query", expected["metric"], "--run", run, "--format", "json", cwd=place)
    assert queried.status == 0, queried.err
    assert f"{expected.get('broken', 0)} broken" in (queried.err if "broken" in queried.err else "0 broken")
    (row,) = json.loads(queried.out)
    proposal = json.loads((CASES / case / "proposal.json").read_text(encoding="utf-8"))
    metrics = {metric["id"]: metric for grain in proposal["grains"] for metric in grain["metrics"]}
    metric = metrics[expected["metric"].partition("[")[0]]
    assert metric["better"] == expected.get("better", metric["better"])
    samples = expected["samples"]
    assert (row["unit"], row["size"]) == (expected["unit"], len(samples))
    for member, value in (("average", statistics.fmean(samples)), ("min", min(samples)), ("max", max(samples))):
        assert math.isclose(row[member], value, rel_tol=1e-12, abs_tol=1e-12), member


@pytest.mark.parametrize(("case", "count"), [("json-levels-hosts", 1), ("logfmt", 1), ("locust", 0)])
def test_comments_explain_names_with_a_prefix(case: str, count: int, tmp_path: Path, cache: Path) -> None:
    """Names of columns such as `50%` need no comment."""
    text = (_propose(case, tmp_path, cache) / "specs/service/events.dhall").read_text(encoding="utf-8")
    names = re.findall(r"-- `(\w+)` is a reserved name: docs/\S+#reserved-names\n *[{,]? *of_(\w+) = ", text)
    assert len(names) == count
    assert all(name == prefixed for name, prefixed in names)
    assert "\n        of_" in text or "\n      , of_" in text


TITLES = {
    "text-steps": ["Step", "Each step"],
    "json-timed-stages": ["Doc", "Each stage"],
    "json-level-numbers": ["Node", "Node by route"],
    "json-processes": ["Block"],
    "k6-custom-trend": ["Query duration", "Query duration by query"],
    "k6-names": ["HTTP req duration", "HTTP req duration by name"],
}


@pytest.mark.parametrize("case", TITLES)
def test_titles_say_by_what_tables_are_split(case: str, tmp_path: Path, cache: Path) -> None:
    text = (_propose(case, tmp_path, cache) / "specs/service/reports.dhall").read_text(encoding="utf-8")
    assert re.findall(r'R\.section "([^"]*)"', text)[:2] == TITLES[case]


def test_report_draws_each_metric_of_a_log(tmp_path: Path, cache: Path) -> None:
    text = (_propose("json-keys-of-hosts", tmp_path, cache) / "specs/service/reports.dhall").read_text(encoding="utf-8")
    proposal = json.loads((CASES / "json-keys-of-hosts/proposal.json").read_text(encoding="utf-8"))
    metrics = [item["id"] for grain in proposal["grains"] for item in grain["metrics"]
               if item["unit"] != "count" and not item["is_failure"]]  # fmt: skip
    assert len(metrics) > 4
    assert sorted(re.findall(r"R\.cdf m\.(\w+)", text)) == sorted(metrics)


def test_dictionary_has_one_table_of_grains_with_one_metric(tmp_path: Path, cache: Path) -> None:
    place = _propose("k6-json-kinds", tmp_path, cache)
    text = (place / "specs/service/reports.dhall").read_text(encoding="utf-8")
    assert re.findall(r'R\.group "([^"]*)"', text) == ["Metrics"]
    assert text.count("R.groupWithAllOf") > 1


def test_commands_split_by_what_the_report_splits_by(tmp_path: Path, cache: Path) -> None:
    place = tmp_path / "service"
    result = run_assay("--cache", cache, "init", place, "--from", *_list_logs("k6-names"))
    (command,) = re.findall(r"^  assay (query \S+ --by name .*)$", result.out, re.MULTILINE)
    queried = run_assay("--cache", cache, *command.split(), "--format", "json", cwd=place)
    assert queried.status == 0, queried.err
    assert [row["metric"].partition("[")[2] for row in json.loads(queried.out)] == ["", "name=list]", "name=login]"]


def test_summary_has_the_numbers_that_are_no_results(tmp_path: Path, cache: Path) -> None:
    result = run_assay("--cache", cache, "init", tmp_path / "service", "--from", *_list_logs("text-without-year"))
    assert "\nno metrics of connection: they say which one of several it is\n" in result.out
    result = run_assay("--cache", cache, "init", tmp_path / "epoch", "--from", *_list_logs("json-kinds-of-numbers"))
    assert "\nno metrics of timeout_ms: they are a threshold by their name\n" in result.out


def test_summary_has_the_counter_of_numbers_that_restart(tmp_path: Path, cache: Path) -> None:
    result = run_assay("--cache", cache, "init", tmp_path / "service", "--from", *_list_logs("csv-restarts"))
    assert "\nno metrics of input_tokens: they grow until `turns` starts again\n" in result.out


def test_report_shows_all_values_of_a_swept_parameter(tmp_path: Path, cache: Path) -> None:
    """Repetitions alone split no report, and do not only grow."""
    result = run_assay("--cache", cache, "init", tmp_path / "service", "--from", *_list_logs("csv-sweep"))
    text = (tmp_path / "service/specs/service/reports.dhall").read_text(encoding="utf-8")
    assert 'e.field.size_bytes ] (R.section "Cache by size_bytes" row) // { limit = 12 }' in text
    assert "only grow" not in result.out
    log = tmp_path / "trials.csv"
    log.write_text("trial,ns\n" + "".join(f"{trial % 9},{7 * trial % 40}\n" for trial in range(36)), encoding="utf-8")
    result = run_assay("--cache", cache, "init", tmp_path / "trials", "--from", log)
    assert (" --by " in result.out, "only grow" in result.out) == (False, False)


@pytest.mark.parametrize("command", ["query", "compare"])
def test_commands_show_as_many_values_as_the_report(command: str, tmp_path: Path, cache: Path) -> None:
    (log,) = _list_logs("csv-sweep")
    logs = [shutil.copy(log, tmp_path / f"cache-v{version}.csv") for version in (1, 2)]
    place = tmp_path / "service"
    assert run_assay("--cache", cache, "init", place, "--from", *logs).status == 0
    words = (
        ("runs/cache-v1", "runs/cache-v2", "--metric", "ns") if command == "compare" else ("ns", "--run=runs/cache-v1")
    )
    result = run_assay("--cache", cache, command, *words, "--by", "size_bytes", cwd=place)
    assert result.status == 0, result.err
    assert {*re.findall(r"size_bytes=([\w()]+)", result.out)} == {str(16384 << step) for step in range(12)}


def test_comment_says_that_a_time_has_no_unit(tmp_path: Path, cache: Path) -> None:
    text = (_propose("csv-restarts", tmp_path, cache) / "specs/service/metrics.dhall").read_text(encoding="utf-8")
    assert "-- a time by its name, so less is better; its unit is unknown\n      response_time =\n" in text


def test_system_with_a_reserved_name_has_no_prefix(tmp_path: Path, cache: Path) -> None:
    (log,) = _list_logs("csv-per-time")
    assert run_assay("--cache", cache, "init", "only", "--from", log, cwd=tmp_path).status == 0
    assert run_assay("--cache", cache, "check", cwd=tmp_path / "only").out.startswith("only: 1 source, ")


def test_summary_and_specs_say_what_limits_leave_out(tmp_path: Path, cache: Path) -> None:
    log = tmp_path / "wide.csv"
    rows = [
        [f"c{column}_ms" for column in range(64)],
        *([str(column % 7 + row) for column in range(64)] for row in (1, 5, 3)),
    ]
    log.write_text("".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    result = run_assay("--cache", cache, "init", tmp_path / "service", "--from", log)
    note = (
        "60 of 64 fields are read, the limit of `init`; not read: `c60_ms`, `c61_ms`, `c62_ms` and 1 more, which need"
    )
    assert f"\n  {note} fields in events.dhall\n" in result.out
    assert note in (tmp_path / "service/specs/service/source.dhall").read_text(encoding="utf-8")
    (names,) = re.findall(r"^no metrics of (.*): 12 other numbers come before$", result.out, re.MULTILINE)
    (measured,) = re.findall(r"^  metrics (.*)$", result.out, re.MULTILINE)
    assert sorted([*names.split(", "), *measured.split(", ")]) == sorted(f"c{column}_ms" for column in range(60))


def test_failed_runs_of_lists_have_a_share(tmp_path: Path, cache: Path) -> None:
    place = _propose("hyperfine-failures", tmp_path, cache)
    words = ("query", "listed_failed", "run_time", "--by", "command", "--run", "runs/bench", "--format", "json")
    rows = run_assay("--cache", cache, *words, cwd=place).parse_json()
    values = {row["metric"]: (row["size"], round(row["average"], 9)) for row in rows}
    assert values["listed_failed"] == (6, round(200 / 6, 9))
    assert values["listed_failed[command=npm ci]"] == (5, 40)
    assert values["run_time[command=npm ci]"] == (3, 3.1)


def test_summary_names_lists_that_are_not_read(tmp_path: Path, cache: Path) -> None:
    log = tmp_path / "trials.json"
    log.write_text('[{"name": "a", "ms": 1, "raw": {"all": [1, 2]}}, {"name": "b", "ms": 2, "raw": {"all": [3]}}]')
    result = run_assay("--cache", cache, "init", tmp_path / "service", "--from", log)
    assert ": `raw.all`, a list with 3 numbers, is not read: SQL of a relation can unnest it\n" in result.out


@pytest.mark.parametrize("case", ["csv-unnamed", "text-elapsed"])
def test_summary_and_specs_say_what_is_not_read(case: str, tmp_path: Path, cache: Path) -> None:
    result = run_assay("--cache", cache, "init", tmp_path / "service", "--from", *_list_logs(case))
    source = (tmp_path / "service/specs/service/source.dhall").read_text(encoding="utf-8")
    for note in {"csv-unnamed": ("1 unnamed column with 12 values is not read", "2 columns are empty"),
                 "text-elapsed": ("20 of 36 lines are not read, as they have no such instant",)}[case]:  # fmt: skip
        assert f": {note}\n" in result.out
        assert re.search(f" -- .*: {note}\n", source)


def test_hint_names_the_edits_that_make_a_dimension(tmp_path: Path, cache: Path) -> None:
    place = _propose("jmh-csv", tmp_path, cache)
    queried = run_assay("--cache", cache, "query", "score", "--by", "mode", "--run", "runs/results", cwd=place)
    assert queried.err.splitlines()[0] == "error[no-column]: none of the metrics has a distribution for each `mode`"
    assert "  at specs/service/grains.dhall:" in queried.err
    assert queried.err.splitlines()[-1] == (
        "  hint: `mode` is a field of `measured`: add it to the SQL and the `columns` of relation `row_keys`, and its "
        "name to `dimensions` of grain `row` (docs/spec-language/grains.md#dimensions)"
    )


def test_logs_of_versions_are_compared_by_the_commands(tmp_path: Path, cache: Path) -> None:
    """The summary says why there are two runs, and the workspace has the oldest version as its baseline."""
    logs = [tmp_path / "db-2.4.json", tmp_path / "db-2.3.json"]
    for number, log in enumerate(logs):
        lines = [f'{{"time":"2026-01-05T09:00:{second:02}Z","latency_ms":{number + 1}}}' for second in range(3)]
        log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    place = tmp_path / "service"
    result = run_assay("--cache", cache, "init", place, "--from", *logs)
    first, _, reason, *_, query, _, build = result.out.splitlines()
    assert (first, reason) == (
        "2 logs are 2 runs",
        "runs db-2.3, db-2.4: the names of the logs have different versions",
    )
    assert build.split("service/comparison")[1] == " --run runs/db-2.3 --run runs/db-2.4 -o build/comparison"
    queried = run_assay("--cache", cache, *query.split()[1:], "--format", "json", cwd=place)
    assert [(row["run"], row["average"]) for row in json.loads(queried.out)] == [("db-2.3", 2), ("db-2.4", 1)]
    assert (place / "assay.toml").read_text(encoding="utf-8").endswith('\nbaseline = "db-2.3"\n')


def test_run_of_odd_names_has_plain_ones(tmp_path: Path) -> None:
    (tmp_path / "my log=1.txt").write_text('{"time":"2026-01-05T09:00:00Z","latency_ms":4}\n', encoding="utf-8")
    assert run_assay("init", tmp_path / "service", "--from", tmp_path / "my log=1.txt").status == 0
    facts = (tmp_path / "service/runs/my_log_1/meta.json").read_text(encoding="utf-8")
    assert facts == '{"version": "my_log_1"}\n'


@pytest.mark.parametrize("case", ["hyperfine", "json-lines", "json-many-events", "text-brackets"])
def test_proposed_workspace_builds_at_once(case: str, tmp_path: Path, cache: Path) -> None:
    """The last printed command builds the report."""
    folder = tmp_path / "service"
    result = run_assay("--cache", cache, "init", folder, "--from", *_list_logs(case))
    *_, command = result.out.splitlines()
    _, *arguments = command.replace("$(date +%F)", "2026-01-01").split()
    built = run_assay("--cache", cache, *arguments, "--to", "md", cwd=folder)
    assert (built.status, built.out) == (0, "build/comparison/report.md\n")


@pytest.mark.parametrize("day", ["", "2026-02-14"])
def test_report_of_relative_times_has_the_date_of_the_run(day: str, tmp_path: Path, cache: Path) -> None:
    """Instants of 1970 say nothing of the day; the fact `date` of the run does, if it has one."""
    place = _propose("text-sysbench-1", tmp_path, cache)
    source = place / "specs/service/source.dhall"
    text = source.read_text(encoding="utf-8")
    if day:
        text = text.replace(
            "let logs =", 'let date = constant.version // { name = "date", path = [ "date" ] }\n\nlet logs ='
        )
        source.write_text(text.replace("[ constant.version ]", "[ constant.version, date ]"), encoding="utf-8")
        (place / "runs/oltp/meta.json").write_text(f'{{"version": "1", "date": "{day}"}}\n', encoding="utf-8")
    built = run_assay("--cache", cache, "build", "service/comparison", "--run", "runs/oltp", "-o", "out", "--to", "md",
                      "--to", "pdf", cwd=place)  # fmt: skip
    assert built.status == 0, built.err
    report = (place / "out/report.md").read_text(encoding="utf-8")
    assert (f"\n\n{day}\n\n" in report, "1970" in report) == (bool(day), False)
    assert json.loads((place / "out/document.json").read_text(encoding="utf-8"))["date"] == day


def test_folders_of_criterion_are_benchmarks_of_two_runs(tmp_path: Path, cache: Path) -> None:
    """Each folder with results of a run is a host; changes and samples are passed over."""
    text = (CASES / "criterion-estimates/logs/estimates.json").read_text(encoding="utf-8")
    for benchmark, factor in (("fib/10", 1), ("fib/20", 100), ("sort", 10)):
        for run, change in (("base", 1.5), ("new", 1)):
            folder = tmp_path / "criterion" / benchmark / run
            folder.mkdir(parents=True)
            estimates = json.loads(text)
            estimates["mean"]["point_estimate"] = 8 * factor * change
            (folder / "estimates.json").write_text(json.dumps(estimates), encoding="utf-8")
            (folder / "sample.json").write_text(
                '{"sampling_mode":"Flat","iters":[1,2],"times":[3,4]}', encoding="utf-8"
            )
        (tmp_path / "criterion" / benchmark / "change").mkdir()
        changes = json.dumps({name: estimates[name] for name in ("mean", "median")})
        (tmp_path / "criterion" / benchmark / "change/estimates.json").write_text(changes, encoding="utf-8")
    place = tmp_path / "service"
    result = run_assay("--cache", cache, "init", place, "--from", tmp_path / "criterion")
    assert (result.status, result.out.count("no logs: ")) == (0, 2), result.err
    query = ("mean_point_estimate", "--by", "host", "--run", "runs/base", "--run", "runs/new", "--format", "json")
    queried = run_assay("--cache", cache, "query", *query, cwd=place)
    assert [(row["run"], row["average"], row["unit"]) for row in json.loads(queried.out)[2:]] == [
        ("base", 12, "ns"), ("new", 8, "ns"), ("base", 1200, "ns"), ("new", 800, "ns"), ("base", 120, "ns"),
        ("new", 80, "ns"),
    ]  # fmt: skip


def test_title_of_a_run_named_like_the_workspace_is_its_name(tmp_path: Path, cache: Path) -> None:
    (log,) = _list_logs("hyperfine")
    assert run_assay("--cache", cache, "init", "bench", "--from", log, cwd=tmp_path).status == 0
    built = run_assay("--cache", cache, "build", "bench/comparison", "--run", "runs/bench", "-o", "out", "--to", "md",
                      "--date", "2026-01-01", cwd=tmp_path / "bench")  # fmt: skip
    assert built.status == 0, built.err
    assert (tmp_path / "bench/out/report.md").read_text(encoding="utf-8").startswith("# bench\n")


def test_report_counts_the_records_of_attempts_without_use(tmp_path: Path, cache: Path) -> None:
    """One document was converted twice, another converted and captioned twice."""
    place = _propose("json-attempts", tmp_path, cache)
    built = run_assay("--cache", cache, "build", "service/comparison", "--run", "runs/index", "-o", "out", "--to", "md",
                      cwd=place)  # fmt: skip
    assert built.status == 0, built.err
    assert (
        "\n- index: no findings, but notes:\n- index: records without use, as one of each key counts: "
        "2 of 14 `converted` by `doc`, 1 of 13 `captioned` by `doc`.\n"
    ) in (place / "out/report.md").read_text(encoding="utf-8")


def test_report_has_no_table_of_counts_of_single_samples(tmp_path: Path, cache: Path) -> None:
    """A table of results has a row for each model: a sentence has the counts of all of them."""
    place = _propose("text-table-rows", tmp_path, cache)
    built = run_assay("--cache", cache, "build", "service/comparison", "--run", "runs/asr", "-o", "out", "--to", "md",
                      cwd=place)  # fmt: skip
    assert built.status == 0, built.err
    text = (place / "out/report.md").read_text(encoding="utf-8")
    assert "\nEach value of name has a single sample in each run.\n" in text
    assert "asr count" not in text


def test_unknown_kind_is_an_error_with_what_was_tried(tmp_path: Path) -> None:
    log = tmp_path / "notes.txt"
    log.write_text("hello world\nthis is no log\n", encoding="utf-8")
    result = run_assay("init", tmp_path / "service", "--from", log)
    assert result.status == 1
    assert result.err == (
        f"error[unknown-format]: the kind of the log is not recognized: {log}\n"
        "  expected: JSON, logfmt, a table with a header, samples, or text lines with instants\n"
        "  note: not json-records: it does not begin with a brace or bracket\n"
        "  note: not json-lines: 0 of 2 lines are objects of JSON\n"
        "  note: not logfmt: 0 of 2 lines are members `key=value`\n"
        "  note: not samples: 0 of 2 lines are samples\n"
        "  note: not csv: the first line has no delimiter (, ; tab |)\n"
        "  note: not text-lines: less than half of the lines have an instant in a known form\n"
        "  note: line: hello world\n"
        "  note: line: this is no log\n"
        "  hint: write the source by hand: docs/sources.md describes patterns of lines and forms of instants\n"
    )
    assert not (tmp_path / "service").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"ts":"2026-01-05T09:00:00Z","n":1}\n' * 9 + '{"ts":"no time","n":2}\n',
            "too few records of LOG have an instant",
        ),
        ('{"event":"a","n":1}\nnoise\n', "no key of the records of LOG has an instant in a known form"),
        ("", "the log is empty: LOG"),
        ('up{job="a"} 1\n', "the kind of the log is not recognized: LOG"),
        ("took 5 ms, sent 3 kB, ok 1\n" * 3, "the kind of the log is not recognized: LOG"),
        ("run 1,5 ms,10.5\nrun 2,6 ms,10.75\n", "the kind of the log is not recognized: LOG"),
    ],
)
def test_log_without_what_a_source_needs_is_an_error(text: str, message: str, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(text, encoding="utf-8")
    result = run_assay("init", tmp_path / "service", "--from", log)
    assert result.status == 1
    assert result.err.splitlines()[0] == f"error[unknown-format]: {message.replace('LOG', str(log))}"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("6,7,3794.53\n12,12,3780.39\n", "a,b,c"),
        ("".join(f"{number}.5\n" for number in range(12)), "latency_ms"),
        ("6,7,3794.53\r12,12,3780.39\r", "a,b,c"),
    ],
)
def test_table_without_header_gets_a_hint(text: str, names: str, tmp_path: Path) -> None:
    log = tmp_path / "system.csv"
    log.write_text(text, encoding="utf-8")
    result = run_assay("init", tmp_path / "service", "--from", log)
    assert result.status == 1
    hint = f"  hint: a table needs names of columns: add a header line, such as {names}"
    assert result.err.splitlines()[-1] == hint


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("cell", ["get", '"g,et"', '"a\rb"', "g\x0bt", "g\u2028t", "g\x85t", "g\x1ct"])
def test_table_is_read_with_any_line_end(end: str, cell: str, tmp_path: Path, cache: Path) -> None:
    rows = ["time,elapsed_ms,op", *(f"2026-03-02T09:00:{n}Z,{n * 7 % 30 + 20},{cell}" for n in range(10, 40))]
    (tmp_path / "r.csv").write_bytes("".join(f"{row}{end}" for row in rows).encode())
    place = tmp_path / "service"
    assert run_assay("init", place, "--from", tmp_path / "r.csv").status == 0
    arguments = ("query", "elapsed_ms", "--run", place / "runs/r", "--format", "json", "--cache", cache)
    result = run_assay(*arguments, cwd=place)
    assert result.status == 0, result.err
    assert '"average": 34.5' in result.out


def test_table_of_elapsed_times_says_how_to_read_them(tmp_path: Path, cache: Path) -> None:
    """A comment of the source names the members; with them, its records have instants."""
    place = _propose("csv-rates", tmp_path, cache)
    source = place / "specs/service/source.dhall"
    text = source.read_text(encoding="utf-8")
    assert (
        "        -- no instants; `seconds` only grows: if it counts from the start of the run, it is the instant with\n"
        '        -- `time = [ "seconds" ]`, `timeForm = "s"` and `start`: docs/sources.md#times-relative-to-a-start\n'
    ) in text
    started = 'started = constant.version // { name = "started", path = [ "started" ], type = "instant" }'
    members = 'time = [ "seconds" ], timeForm = "s", start = started.name'
    text = text.replace("let logs =", f"let {started}\n\nlet logs =").replace("time = [] : List Text", members)
    source.write_text(text.replace("[ constant.version ]", "[ constant.version, started ]"), encoding="utf-8")
    facts = '{"version": "1", "started": "2026-01-05T09:00:00Z"}\n'
    (place / "runs/system/meta.json").write_text(facts, encoding="utf-8")
    result = run_assay("--cache", cache, "ingest", "runs/system", cwd=place)
    assert result.status == 0, result.err
    table = f"{result.out.strip()}/events/measured/*.parquet"
    with duckdb.connect() as connection:  # other tests use the default one
        query = f"SELECT make_timestamp_ns(min(t_ns))::VARCHAR FROM read_parquet('{table}')"
        first = connection.sql(query).fetchall()
    assert first == [("2026-01-05 09:00:05",)]


def test_hint_makes_a_field_of_records_a_dimension(tmp_path: Path, cache: Path) -> None:
    """The edits that the hint of an unknown column names are enough."""
    place = _propose("json-stages", tmp_path, cache)
    query = ("--cache", cache, "query", "total_ms", "--by", "index_version", "--run", "runs/latency")
    assert run_assay(*query, cwd=place).err.splitlines()[-1] == (
        "  hint: `index_version` is a field of `record`: add the field to `fields` of `G.eachRecord`, and its name to "
        "`dimensions` of grain `record_line` (docs/spec-language/grains.md#a-row-for-each-record)"
    )
    grains = place / "specs/service/grains.dhall"
    text = grains.read_text(encoding="utf-8")
    for old in ("fields = [ ", "dimensions = [ "):
        name = ".name" * old.startswith("dimensions")
        text = text.replace(old, f"{old}e.field.index_version{name}, ")
    grains.write_text(text, encoding="utf-8")
    result = run_assay(*query, cwd=place)
    assert (result.status, "total_ms[index_version=v2]" in result.out) == (0, True), result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("service", "--from", "missing.log"), "error[no-file]: there is no log at missing.log"),
        (("service", "other.log"), "error[options]: unexpected argument `other.log`"),
        (
            ("service", "--format", "json"),
            "error[options]: `--format` needs `--from`, since there is no other proposal",
        ),
        (("service", "--each", "run"), "error[options]: `--each` needs `--from`, since there are no other logs"),
        (("service", "--update-schema", "--from", "a"), "error[options]: `--update-schema` does not go with `--from`"),
    ],
)
def test_wrong_options_are_usage_errors(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run_assay("init", *arguments, cwd=tmp_path)
    assert (result.status, result.err.splitlines()[0]) == (2, message)


def test_unknown_names_of_a_report_have_single_blanks(tmp_path: Path) -> None:
    """Loggers pad words so that columns are aligned."""
    stamp = "2026-01-05 09:00:0"
    lines = [f"{stamp}{number}.100 request done in {number} ms" for number in range(1, 6)]
    (tmp_path / "app.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert run_assay("init", "s", "--from", "app.log", cwd=tmp_path).status == 0
    lines += [f"{stamp}9.{number}00 pool    exhausted" for number in range(1, 5)]
    place = tmp_path / "s"
    (place / "runs/app/app.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    built = run_assay("build", "--run", "runs/app", "-o", "out", "--to", "md", cwd=place)
    assert built.status == 0, built.err
    assert ": `pool exhausted` (4); " in (place / "out/report.md").read_text(encoding="utf-8")


AMBIGUOUS = {
    "app.log": ("the log", [f"01/0{day}/2026 09:00:00 request {day} took 4 ms" for day in range(1, 8)]),
    "app.csv": ("`when` in app.csv", ["when,ms", *(f"01/0{day}/2026 09:00:00,{day}" for day in range(1, 8))]),
    "pair.csv": (
        "`day clock` in pair.csv",
        ["day,clock,ms", *(f"01/0{day}/2026,09:00:00,{day}" for day in range(1, 8))],
    ),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_dates_without_a_late_day_are_an_error(name: str, tmp_path: Path) -> None:
    place, lines = AMBIGUOUS[name]
    (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run_assay("init", "s", "--from", name, cwd=tmp_path)
    assert (result.status, result.err.splitlines()[:3]) == (1, [
        f"error[unknown-format]: the dates of {place} may begin with the month or the day, as none has a day after the "
        "12th",
        "  expected: %m/%d/%Y %H:%M:%S or %d/%m/%Y %H:%M:%S",
        "  found:    01/01/2026 09:00:00",
    ])  # fmt: skip


def test_summary_says_where_units_of_times_come_from(tmp_path: Path, cache: Path) -> None:
    log = tmp_path / "app.jsonl"
    rows = [f'{{"time":"2026-01-05T09:00:0{i}Z","event":"query","latency":{i * 7 % 10}}}\n' for i in range(9)]
    log.write_text("".join(rows), encoding="utf-8")
    first = run_assay("--cache", cache, "init", tmp_path / "service", "--from", log)
    assert (
        "\nunit unknown: latency: for milliseconds, write `E.inUnit S.unit.millisecond (...)` around it in events"
        in first.out
    )
    second = run_assay("--cache", cache, "init", tmp_path / "known", "--from", *_list_logs("json-unit-of-keys"))
    assert "\n  unit of duration: microsecond: 8 of 8 are the time from `job_started` to `job_done`\n" in second.out
    assert "unit unknown" not in second.out
