"""Test which logs become runs of their own, by their names: `proposed_runs.csv` has the runs and globs of each set."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
import zstandard

from assay.app.session.repeat_names import find_repeats
from tests.support.commands import run_assay

TABLE = Path(__file__).parent / "proposed_runs.csv"
ROWS = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))
IN_FOLDERS = [row for row in ROWS if all("/" in name for name in row["logs"].split())]
LINE = '{"time":"2026-01-05T09:00:00Z","latency_ms":4}\n'
CONTENTS = {
    "": LINE,
    "apart": LINE.replace("T09", "THOUR"),
    "timeless": '{"latency_ms":4}\n{"latency_ms":5}\n',
    "k6": '{"metric":"http_req_duration","type":"Point","data":{"time":"2026-01-05T09:00:00Z","value":4}}\n',
    "hyperfine": '{"results":[{"command":"a","mean":1.5,"stddev":0.1,"median":1.4,"min":1.2,"max":1.9}]}\n',
}
"""What each of the logs of a row has, by the column `content`: times of their own if `apart`."""


def _write_logs(folder: Path, names: Sequence[str], content: str = "") -> None:
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        is_table = name.endswith(".csv")
        text = (
            "time,latency_ms\n2026-01-05T09:00:00Z,4\n"
            if is_table
            else CONTENTS[content].replace("HOUR", f"{number:02}")
        )
        (folder / name).write_text(text)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['logs']} {row['content']}".strip() for row in ROWS])
def test_runs_follow_from_the_names_of_logs(row: dict[str, str], tmp_path: Path) -> None:
    """Each log is in the run of its set, and the globs of the source match the logs and not the facts of the run."""
    names = row["logs"].split()
    _write_logs(tmp_path, names, row["content"])
    place = tmp_path / "service"
    logs = [tmp_path / name for name in names]
    result = run_assay("init", place, "--from", *logs, "--format", "json")
    assert (result.status, result.err) == (0, "")
    proposal = json.loads(result.out)
    runs = [f"{run['name']}:{'+'.join(run['files'])}" for run in proposal["runs"]]
    globs = [glob for source in proposal["sources"] for glob in source["logs"]]
    assert (runs, globs) == (row["runs"].split(), row["globs"].split())
    assert [run["version"] for run in proposal["runs"]] == row["versions"].split() if row["versions"] else True
    for run in proposal["runs"]:
        assert json.loads((place / "runs" / run["name"] / "meta.json").read_text()) == {"version": run["version"]}
        assert all((place / "runs" / run["name"] / file).is_file() for file in run["files"])


@pytest.mark.parametrize("row", IN_FOLDERS, ids=[f"{row['logs']} {row['content']}".strip() for row in IN_FOLDERS])
def test_folders_stand_for_the_logs_in_them(row: dict[str, str], tmp_path: Path) -> None:
    names = row["logs"].split()
    _write_logs(tmp_path, names, row["content"])
    folders = dict.fromkeys(tmp_path / name.partition("/")[0] for name in names)
    result = run_assay("init", tmp_path / "service", "--from", *folders, "--format", "json")
    assert (result.status, result.err) == (0, "")
    runs = json.loads(result.out)["runs"]
    assert {f"{run['name']}:{'+'.join(sorted(run['files']))}" for run in runs} == {
        f"{name}:{'+'.join(sorted(files.split('+')))}"
        for name, _, files in (x.partition(":") for x in row["runs"].split())
    }


REPEATS = {
    "v1-1 v1-2 v1-3 v2-1 v2-2 v2-3": "v1 v1 v1 v2 v2 v2",
    "v1.0_rep1 v1.0_rep2 v1.1_rep1 v1.1_rep2": "v1.0 v1.0 v1.1 v1.1",
    "main-run-0 main-run-1 pr-run-0 pr-run-1": "main main pr pr",
    "v1-1.run1 v1-1.run2 v1-2.run1 v1-2.run2": "v1-1 v1-1 v1-2 v1-2",
    "old.1 old.2 new.1 new.2": "old old new new",
    "v1.1 v1.2 v2.1 v2.2": "",
    "node-1 node-2": "",
    "v1-1 v1-2 v2-1": "",
    "v1-1 v2-1": "",
    "v1-3 v1-4 v2-3 v2-4": "",
    "2026-01-01 2026-01-02 2026-02-01 2026-02-02": "",
}
"""Names of runs, and the version of each; empty where they are no repeats."""


@pytest.mark.parametrize("names", REPEATS)
def test_names_with_the_same_numbers_are_repeats(names: str) -> None:
    versions = find_repeats(names.split())
    assert list(versions.items()) == list(zip(names.split(), REPEATS[names].split(), strict=False))


BASELINES = {
    "after.jsonl=09 before.jsonl=08": "before (its name says so)",
    "new-1.jsonl=08 new-2.jsonl=08 old-1.jsonl=09 old-2.jsonl=09": "old (its name says so)",
    "cache.jsonl=08 main.jsonl=09": "main (its name says so)",
    "pr-fast.jsonl=08 fast.jsonl=09": "fast (its name says so)",
    "cold.jsonl=09 warm.jsonl=08": "warm (its records are the oldest)",
    "cold.jsonl=09 warm.jsonl=09": "cold (the first on the command line)",
}
"""Logs and the hours of their records, and the baseline with its reason."""


@pytest.mark.parametrize("logs", BASELINES)
def test_baseline_follows_from_words_or_instants(logs: str, tmp_path: Path) -> None:
    names = [name for name, _, _ in (log.partition("=") for log in logs.split())]
    for name, _, hour in (log.partition("=") for log in logs.split()):
        (tmp_path / name).write_text(LINE.replace("T09", f"T{hour}"), encoding="utf-8")
    result = run_assay("init", "service", "--from", *names, cwd=tmp_path)
    assert (result.status, result.err) == (0, "")
    assert f"\nbaseline: {BASELINES[logs]}\n" in result.out
    settings = (tmp_path / "service" / "assay.toml").read_text(encoding="utf-8")
    assert f'\nbaseline = "{BASELINES[logs].partition(" ")[0]}"\n' in settings


def test_repeats_are_compared_as_two_versions(tmp_path: Path) -> None:
    names = [f"{version}-{number}" for version in ("v1", "v2") for number in (1, 2, 3)]
    _write_logs(tmp_path, [f"{name}/x.jsonl" for name in names])
    place = tmp_path / "service"
    result = run_assay("init", place, "--from", *(tmp_path / name for name in names))
    assert (result.status, result.err) == (0, "")
    assert "repeats v2-1, v2-2, v2-3: their names are v2 with a number, so they are runs of one version\n" in result.out
    assert "  to compare each run by itself, delete the table `runs` of assay.toml\n" in result.out
    assert "--run v1=runs/v1-1 --run v1=runs/v1-2 --run v1=runs/v1-3 --run v2=runs/v2-1" in result.out
    assert run_assay("check", "--accept", cwd=place).status == 0
    built = run_assay("--cache", tmp_path / "cache", "build", "--to", "md", cwd=place)
    assert built.status == 0, built.err
    results = json.loads((place / "build" / "comparison" / "results.json").read_text(encoding="utf-8"))
    assert [run["version"] for run in results["runs"]] == ["v1"] * 3 + ["v2"] * 3
    settings = place / "assay.toml"
    settings.write_text(settings.read_text(encoding="utf-8").partition("\n# Several runs")[0].replace('"v1"', '"v1-1"'))
    listed = run_assay("config", cwd=place)
    assert (listed.status, listed.out.count("runs.v")) == (0, 6)


def test_rates_of_repeats_are_those_of_each_run(tmp_path: Path) -> None:
    """Repeats of a load generator run one after another: a rate per host would count the time of all of them."""
    counts = {f"db-{version}.0-run{number}": 5 * version + number for version in (1, 2) for number in (1, 2, 3)}
    for hour, (name, count) in enumerate(counts.items()):
        lines = ['{"metric":"http_reqs","type":"Metric","data":{"type":"counter","contains":"default"}}']
        for at in range(count * 10 + 1):
            time = f"2026-01-05T0{hour}:00:{at // count:02}.{at % count:02}Z"
            values = {"http_reqs": 1, "http_req_duration": 4 + at % 3}
            lines += (f'{{"metric":"{metric}","type":"Point","data":{{"time":"{time}","value":{value}}}}}'
                      for metric, value in values.items())  # fmt: skip
        (tmp_path / f"{name}.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    place = tmp_path / "bench"
    result = run_assay("init", place, "--from", *(tmp_path / f"{name}.json" for name in counts))
    assert result.status == 0, result.err
    assert "\nrepeats db-1.0-run1, db-1.0-run2, db-1.0-run3: their names say so, so they are runs of" in result.out
    runs = [f"--run=runs/{name}" for name in counts]
    queried = run_assay("--cache", tmp_path / "cache", "query", "http_reqs_rate", *runs, "--format", "json", cwd=place)
    assert queried.status == 0, queried.err
    assert [row["average"] for row in json.loads(queried.out)] == list(counts.values())


def test_summary_says_what_is_a_run_a_host_and_no_log(tmp_path: Path) -> None:
    """Files of a folder are no logs by their ending, content, or because they are empty; compressed ones are."""
    _write_logs(tmp_path / "logs", [f"{version}/node-{host}/x.log" for version in ("2.0", "2.1") for host in "ab"])
    compressors = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}
    for (ending, compress), host in zip(compressors.items(), "ab", strict=True):
        log = tmp_path / f"logs/2.1/node-{host}/x.log"
        log.with_name(log.name + ending).write_bytes(compress(log.read_bytes()))
        log.unlink()
    for name, text in (("notes.txt", "hello\n"), ("start.sh", "true\n"), ("stop.sh", "\n"), ("empty.log", "")):
        (tmp_path / "logs" / name).write_text(text)
    result = run_assay("init", tmp_path / "service", "--from", tmp_path / "logs")
    assert result.status == 0, result.err
    folder, logs = tmp_path / "service", tmp_path / "logs"
    assert result.out.splitlines()[:9] == [
        "4 logs are 2 runs of 2 hosts",
        f"  if each log is a run: assay init {folder}-runs --from {logs} --each run",
        f"  if each log is a host: assay init {folder}-hosts --from {logs} --each host",
        "runs 2.0, 2.1: the folders of the logs have different versions",
        "hosts node-a, node-b: the folders of the logs",
        "no logs: 2 files such as start.sh: only names without an ending or with .csv, .err, .json, .jsonl, .jtl, "
        ".log, .logfmt, .ndjson, .om, .out, .prom, .tsv, .txt are logs",
        "no log: empty.log: it is empty",
        f"no log: notes.txt: the kind of the log is not recognized: {tmp_path}/logs/notes.txt",
        "logs: json-lines, 4 records in node-a/x.log, node-b/x.log, node-a/x.log.gz, node-b/x.log.zst",
    ]
    queried = run_assay("query", "latency_ms", "--run", "runs/2.1", cwd=tmp_path / "service")
    assert queried.status == 0, queried.err


READINGS = {
    "run": "node-1:node-1.jsonl node-2:node-2.jsonl",
    "host": "node:node-1/node-1.jsonl+node-2/node-2.jsonl",
    "part": "node:node-1.jsonl+node-2.jsonl",
}


@pytest.mark.parametrize("each", READINGS)
def test_option_says_what_each_log_is(each: str, tmp_path: Path) -> None:
    """Each proposal names the commands of the other readings, which work as they are printed."""
    _write_logs(tmp_path, ["node-1.jsonl", "node-2.jsonl"])
    result = run_assay("init", "s", "--from", "node-1.jsonl", "node-2.jsonl", "--each", each, cwd=tmp_path)
    assert result.status == 0, result.err
    commands = re.findall(r"^  if each log is a (\w+): assay (.*)$", result.out, re.MULTILINE)
    assert [other for other, _ in commands] == [other for other in ("run", "host") if other != each]
    for other, command in commands:
        read = run_assay(*command.split(), "--format", "json", cwd=tmp_path)
        assert read.status == 0, read.err
        runs = json.loads(read.out)["runs"]
        assert " ".join(f"{run['name']}:{'+'.join(run['files'])}" for run in runs) == READINGS[other]
        place = tmp_path / f"s-{other}s"
        built = run_assay("build", *(f"--run=runs/{run['name']}" for run in runs), "-o", "out", "--to", "md", cwd=place)
        assert built.status == 0, built.err


def test_runs_of_logs_with_dates_have_these_as_names(tmp_path: Path) -> None:
    """The command that compares them is printed as a whole, however long it is."""
    names = [f"logs-of-the-latencies-of-one-day/latency-2026-06-{day}.jsonl" for day in (26, 28)]
    _write_logs(tmp_path, names)
    result = run_assay("init", "s", "--from", *names, cwd=tmp_path)
    command = f"init s-runs --from {' '.join(names)} --each run"
    assert f"  if each log is a run: assay {command}\n" in result.out
    read = run_assay(*command.split(), "--format", "json", cwd=tmp_path)
    assert [run["name"] for run in json.loads(read.out)["runs"]] == ["2026-06-26", "2026-06-28"]


def test_logs_of_several_layouts_are_no_runs_or_hosts(tmp_path: Path) -> None:
    _write_logs(tmp_path, ["app.jsonl", "times.csv"])
    result = run_assay("init", "s", "--from", "app.jsonl", "times.csv", "--each", "host", cwd=tmp_path)
    assert (result.status, result.err.splitlines()[0]) == (
        2, "error[options]: `--each host` does not go with logs of different layouts"
    )  # fmt: skip


def test_folder_without_logs_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    result = run_assay("init", tmp_path / "service", "--from", tmp_path / "logs")
    assert (result.status, result.err.splitlines()[0]) == (
        2, f"error[no-file]: the folder has no logs: {tmp_path / 'logs'}"
    )  # fmt: skip


def test_number_that_runs_are_given_is_a_constant_of_each(tmp_path: Path) -> None:
    """It is no metric, and titles name the workspace rather than the first run."""
    for name, top in (("shallow", 3), ("deep", 5)):
        lines = [f'{{"time":"2026-01-05T09:00:0{i}Z","top_k":{top},"latency_ms":{i * 3 % 7}}}' for i in range(6)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    logs = [tmp_path / "shallow.jsonl", tmp_path / "deep.jsonl"]
    result = run_assay("init", tmp_path / "cmp", "--from", *logs)
    assert result.status == 0, result.err
    assert (
        "\n  metrics latency_ms\nno metrics of constants of runs, which may be facts of their `meta.json`: "
        "top_k of record (shallow 3, deep 5)\n"
    ) in result.out
    report = (tmp_path / "cmp/specs/cmp/reports.dhall").read_text(encoding="utf-8")
    assert 'R.section "Cmp" record_line' in report


def test_constants_of_runs_are_named_once(tmp_path: Path) -> None:
    """Those of several events have one text, with the values of the first two runs."""
    for number in range(4):
        times = [f"2026-01-05T09:00:{second:02}Z" for second in range(12)]
        lines = [f'{{"time":"{time}","event":"{"ab"[i % 2]}","version":"1.{number}","size":{i * 7 % 12 / 2}}}'
                 for i, time in enumerate(times)]  # fmt: skip
        (tmp_path / f"app-1.{number}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    logs = [tmp_path / f"app-1.{number}.jsonl" for number in range(4)]
    result = run_assay("init", tmp_path / "service", "--from", *logs)
    assert result.status == 0, result.err
    assert ": version of 2 events (app-1.0 1.0, app-1.1 1.1, and 2 more runs)\n" in result.out
