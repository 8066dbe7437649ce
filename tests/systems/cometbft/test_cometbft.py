"""Test CometBFT: the load tool's report to the nanosecond, the Prometheus server's answers, the article."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import json
import re
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pypdf
import pytest

from assay.lang import checked_package, definition_hash, dependencies
from assay.lang import workspace as workspaces
from assay.lang.workspace import Workspace
from tests.compare_reference import load_json
from tests.support.cometbft import assemble_document
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.result_rows import read_result_rows
from tests.support.workspaces import copy_workspace, edit_file

RUN = ROOT / "golden" / "cometbft" / "run"
SECOND = 10**9
UNITS = {"h": 3600 * SECOND, "m": 60 * SECOND, "s": SECOND, "ms": 10**6, "µs": 10**3, "ns": 1}


def build_article(out: Path, cache: Path, run: Path = RUN, cwd: Path = ROOT) -> CommandResult:
    return run_assay("build", "cometbft/qa", "--run", run, "-o", out, "--cache", cache, cwd=cwd)


@pytest.fixture
def built(qa: Path) -> Path:
    return qa


def read_rows(built: Path, start: str) -> list[dict[str, Any]]:
    """Return the rows of the statement with this prefix and the most columns."""
    rows = read_result_rows(built)
    names = [name for name in rows if name == start or name.startswith(f"{start} ")]
    return list(rows[max(names, key=len)])


def parse_go_duration(text: str) -> int:
    """Parse a Go duration (`1.578019353s`, `206.08651ms`) into ns."""
    parts = re.findall(r"([\d.]+)(h|ms|µs|ns|m|s)", text)
    assert "".join(a + b for a, b in parts) == text
    exact = sum(Fraction(number) * UNITS[unit] for number, unit in parts)
    assert exact.denominator == 1
    return int(exact)


def read_tool_report() -> dict[str, dict[str, int]]:
    """Return the load tool's own summary by experiment."""
    text = (RUN / "report" / "report_node0.txt").read_text(encoding="utf-8")
    report = {}
    for block in text.split("Experiment ID: ")[1:]:
        identifier, *lines = block.strip().split("\n")
        fields = dict(line.strip().split(": ") for line in lines if ": " in line)
        report[identifier] = {
            "connections": int(fields["Connections"]),
            "rate": int(fields["Rate"]),
            "valid_txs": int(fields["Total Valid Tx"]),
            "negative_latencies": int(fields["Total Negative Latencies"]),
            "latency_min": parse_go_duration(fields["Minimum Latency"]),
            "latency_max": parse_go_duration(fields["Maximum Latency"]),
            "latency_avg": parse_go_duration(fields["Average Latency"]),
            "latency_stddev": parse_go_duration(fields["Standard Deviation"]),
        }
    return report


def find_table(built: Path, title: str) -> Any:
    galleries = load_json(built / "document.json")["parts"]
    return next(item for gallery in galleries for item in gallery["tables"] if item["title"] == title)


def test_load_metrics_equal_load_tool_to_the_nanosecond(built: Path) -> None:
    expected = list(read_tool_report().values())
    experiments = read_rows(built, "rows experiment number connections rate latency_min latency_avg")
    throughputs = read_rows(built, "rows experiment number connections rate valid_txs expected_txs throughput")
    assert len(experiments) == len(throughputs) == len(expected) == 8
    key = ("connections", "rate", "latency_avg")
    actual = sorted(
        ({**a, **b} for a, b in zip(experiments, throughputs, strict=True)), key=lambda row: tuple(row[k] for k in key)
    )
    for row, expected_row in zip(actual, sorted(expected, key=lambda row: tuple(row[k] for k in key)), strict=True):
        assert {name: row[name] for name in expected_row} == expected_row


def test_throughput_and_due_transactions_equal_plain_python(built: Path) -> None:
    text = gzip.decompress((RUN / "report" / "raw_node0.csv.gz").read_bytes()).decode()
    groups: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        groups.setdefault(row["experiment_id"], []).append(row)
    expected_values = []
    for group in groups.values():
        first = min(int(row["block_time"]) for row in group)
        sent = min(first - int(row["duration_ns"]) for row in group if int(row["block_time"]) == first)
        span = max(int(row["block_time"]) for row in group) - sent
        load_ = int(group[0]["connections"]) * int(group[0]["rate"])
        expected_values.append((first, load_ * 29, pytest.approx(len(group) / (span / SECOND), rel=1e-9)))
    actual = read_rows(built, "rows experiment number connections rate valid_txs expected_txs throughput")
    actual.sort(key=lambda row: row["number"])
    assert [(row["number"], row["expected_txs"]) for row in actual] == [
        (number, expected)
        for number, (_, expected, _) in enumerate(sorted(expected_values, key=lambda item: item[0]), start=1)
    ]
    printed = [row[-1] for row in find_table(built, "Experiments")["rows"]]
    ordered = sorted(expected_values, key=lambda item: item[0])
    assert printed == [f"{value.expected:.{1 if value.expected < 100 else 0}f}" for _, _, value in ordered]


def test_saturation_table_takes_first_of_equal_rows(built: Path) -> None:
    actual = find_table(built, "Transactions in blocks, by rate (rows) and connections (columns)")
    assert actual["header"][1:] == ["1", "2"]
    assert actual["rows"] == [
        ["50", "1450", "2900"],
        ["100", "2900", "5800"],
        ["200", "5800", "11600"],
        ["800", "—", "18147 *"],
    ]


ANSWERS = {
    "mempool_size": "mempool_size",
    "peers": "peer_count",
    "rounds": "round_count",
    "memory": "memory",
    "cpu": "cpu",
    "block_rate": "block_rate",
    "total_txs_rate": "total_txs_rate",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_series_equal_the_servers_answers(built: Path, name: str) -> None:
    answer = json.loads(gzip.decompress((RUN / "prom" / f"qr_5s_{name}.json.gz").read_bytes()))["data"]["result"]
    actual = {
        (row["job"], row["instance"], row["t_ns"] // SECOND): row["value"]
        for row in read_rows(built, f"rows {ANSWERS[name]}")
    }
    first, last = min(t for *_, t in actual), max(t for *_, t in actual)
    expected = {
        (item["metric"]["job"], item["metric"]["instance"], t): float(value)
        for item in answer
        for t, value in item["values"]
        if first <= t <= last
    }
    assert actual.keys() == expected.keys()
    assert len(expected) > 300
    exact = {} if name.endswith("_rate") else expected
    assert {key: actual[key] for key in exact} == exact
    assert [actual[key] for key in expected] == pytest.approx(list(expected.values()), rel=1e-9)


def test_older_names_are_the_same_metrics(tmp_path: Path, cache: Path, built: Path) -> None:
    run = tmp_path / "old"
    shutil.copytree(RUN, run)
    raw = run / "prom" / "raw_all_5s.json.gz"
    text = gzip.decompress(raw.read_bytes()).decode().replace('"cometbft_', '"tendermint_')
    raw.unlink()
    (run / "prom" / "raw_all_5s.json").write_text(text, encoding="utf-8")
    result = build_article(tmp_path / "out", cache, run)
    assert result.status == 0, result.err
    old = read_result_rows(tmp_path / "out", "old")
    new = read_result_rows(built)
    assert {name: value for name, value in old.items() if name in new} == new


def test_report_shows_every_part_and_quotes_results(built: Path) -> None:
    text = " ".join(page.extract_text() for page in pypdf.PdfReader(built / "report.pdf").pages)
    flat = re.sub(r"\s+", " ", text.replace("\u200b", ""))
    for title in (
        "QA results of 0.38.17",
        "Saturation point",
        "Latencies",
        "Metrics of the nodes",
        "Overload",
        "Fault",
        "Rotating nodes",
        "All experiments",
        "Logs of the nodes",
        "Vote extensions",
        "Results",
    ):
        assert title in flat
    assert "Replace this comment" not in flat
    assert "In the first experiment, 1450 tx of 1450 tx are in blocks, 50.7 tx/s." in flat
    assert "There is no other run to compare with." in flat
    document = load_json(built / "document.json")
    assert [len(gallery["plots"]) for gallery in document["parts"]] == [0, 0, 0, 0, 0, 8, 10, 10, 11, 11, 5, 5, 0, 0]


PROSE = "specs/cometbft/prose/saturation.md"


@pytest.mark.parametrize(
    ("quote", "message"),
    [
        (
            "{{ valid_tx(number = 1) }}",
            """\
error[unknown-metric]: prose quotes `valid_tx`, which is no metric, series or constant
  at specs/cometbft/prose/saturation.md:6:26
    6 | In the first experiment, {{ valid_tx(number = 1) }} of {{ expected_txs(number = 1) }} are in blocks,
      |                          ^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: did you mean `valid_txs`?
""",
        ),
        (
            "{{ valid_txs(nummer = 1) }}",
            """\
error[unknown-column]: prose quotes `valid_txs` by an unknown column `nummer`
  at specs/cometbft/prose/saturation.md:6:26
    6 | In the first experiment, {{ valid_txs(nummer = 1) }} of {{ expected_txs(number = 1) }} are in blocks,
      |                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: did you mean `number`?
""",
        ),
        (
            "{{ valid_txs(rate = 100) }}",
            """\
error[quote]: run run: a quote of `valid_txs` matches 3 rows of `experiment` (rate = 100)
  at specs/cometbft/prose/saturation.md:6:26
  expected: one row
  hint: name more columns
""",
        ),
        (
            "{{ valid_txs of 1 }}",
            """\
error[prose]: a quote of a result cannot be read
  at specs/cometbft/prose/saturation.md:6:26
  expected: {{ METRIC(COLUMN = "text" or number, ..., decimals = number) }}
  found:    {{ valid_txs of 1 }}
""",
        ),
    ],
)
def test_invalid_quote_is_an_error_with_a_place(tmp_path: Path, cache: Path, quote: str, message: str) -> None:
    within = copy_workspace(tmp_path / "workspace")
    edit_file(within / PROSE, "{{ valid_txs(number = 1) }}", quote)
    result = build_article(tmp_path / "out", cache, cwd=within)
    assert (result.status, result.err) == (1, message)
    assert not (tmp_path / "out").exists()


def drop_samples(run: Path, step: int) -> None:
    """Drop samples, so that the remaining ones are further apart."""
    raw = run / "prom" / "raw_all_5s.json.gz"
    data = json.loads(gzip.decompress(raw.read_bytes()))
    for item in data["data"]["result"]:
        item["values"] = item["values"][::step]
    raw.write_bytes(gzip.compress(json.dumps(data).encode()))


def test_sparse_samples_are_a_warning_with_both_intervals(tmp_path: Path, cache: Path) -> None:
    run = tmp_path / "sparse"
    shutil.copytree(RUN, run)
    drop_samples(run, 6)
    result = build_article(tmp_path / "out", cache, run)
    assert result.status == 0
    assert result.err == (
        "warning: 0.38.17: block_rate: samples of ephemeral0, 127.0.0.5:26660 are 30 s apart, more than the window "
        "of 20 s, so the rate has no values.\n"
        "warning: 0.38.17: total_txs_rate: samples of ephemeral0, 127.0.0.5:26660 are 30 s apart, more than the "
        "window of 20 s, so the rate has no values.\n"
        "warning: 0.38.17: there are no samples of Average block rate.\n"
    )


def test_further_run_is_judged_by_the_baseline(tmp_path: Path, cache: Path) -> None:
    """One experiment loses every seventh transaction: 14.3 % fewer fails; latencies stay good."""
    run = tmp_path / "slow"
    shutil.copytree(RUN, run)
    path = run / "report" / "raw_node0.csv.gz"
    head, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    first = lines[0].split(",")[0]
    remaining_lines = [row for number, row in enumerate(lines) if not (row.startswith(first) and number % 7 == 3)]
    path.write_bytes(gzip.compress("\n".join([head, *remaining_lines, ""]).encode()))
    document = assemble_document(cache, f"base={RUN}", f"slow={run}")
    results = next(gallery for gallery in document["parts"] if gallery["title"] == "Results")
    _, verdict, *_ = results["tables"]
    assert verdict["header"] == [
        "Connections", "Rate, tx/s", "Metric", "base", "slow", "Δ%", "Result",
    ]  # fmt: skip
    rows = {tuple(row[:3]): row[3:] for row in verdict["rows"]}
    assert len(rows) == 7 * 4
    lost = 1450 - sum(1 for row in remaining_lines if row.startswith(first))
    assert rows["1", "50", "Transactions, tx"] == ["1450", str(1450 - lost), f"{-100 * lost / 1450:.1f}", "fail"]
    assert rows["1", "50", "Throughput, tx/s"][-1] == "fail"
    assert rows["1", "50", "Average latency, s"][-1] == "pass"
    assert {row[-1] for key, row in rows.items() if key[:2] != ("1", "50")} == {"pass"}
    plots = next(gallery for gallery in document["parts"] if gallery["title"] == "Latencies")["plots"]
    assert [plot["title"].rsplit(": ", 1)[1] for plot in plots[:4]] == ["base", "slow", "base", "slow"]


def test_slower_latencies_are_the_headline_and_fail_the_gate(tmp_path: Path, cache: Path) -> None:
    """Latencies take three times as long. Costs a whole build of two runs: page, gate and results of users."""
    run = tmp_path / "slow"
    shutil.copytree(RUN, run)
    path = run / "report" / "raw_node0.csv.gz"
    head, *lines = csv.reader(io.StringIO(gzip.decompress(path.read_bytes()).decode()))
    column = head.index("duration_ns")
    slower = [[*row[:column], str(3 * int(row[column])), *row[column + 1 :]] for row in lines]
    path.write_bytes(gzip.compress("\n".join(",".join(row) for row in [head, *slower, []]).encode()))
    out = tmp_path / "out"
    words = ("build", "cometbft/qa", "--run", f"base={RUN}", "--run", f"slow={run}", "-o", out, "--to", "md")
    result = run_assay(*words, "--cache", cache)
    assert result.status == 0
    assert "worst: Latency +200 %" in result.summary
    (answer,) = load_json(out / "document.json")["answers"]
    assert answer["headline"] == "This run of slow is worse than this run of base in 1 of 4 metrics"
    assert run_assay("gate", out, "--once").status == 4
    # Judgements read sums of samples, tables distributions: both have the same averages, also of rates.
    results = load_json(out / "results.json")
    judged_percents = {name: change["slow"]["percent"] for name, change in results["judgement"]["metrics"].items()}
    averages = {name: [metric["runs"][run]["average"] for run in ("base", "slow")]
                for name, metric in results["metrics"].items() if judged_percents.get(name) is not None}  # fmt: skip
    assert {"latency", "throughput"} <= averages.keys()
    for name, (base, value) in averages.items():
        assert judged_percents[name] == pytest.approx(100 * (value - base) / base, rel=1e-9), name


def test_part_without_data_has_a_note(tmp_path: Path, cache: Path) -> None:
    run = tmp_path / "load only"
    shutil.copytree(RUN, run, ignore=shutil.ignore_patterns("prom"))
    result = build_article(tmp_path / "out", cache, run)
    assert (result.status, result.err.count("\n")) == (0, 1)
    assert result.err.startswith("warning: Run load only has no records of source samples (")
    galleries = {item["title"]: item for item in load_json(tmp_path / "out" / "document.json")["parts"]}
    nodes = galleries["Metrics of the nodes"]
    assert nodes["plots"] == []
    assert nodes["text"][-1] == (
        "Run load only has no records of source samples (samples of the nodes' metrics, from a Prometheus "
        "server), so blocks and texts that read it are left out."
    )
    assert len(galleries["Latencies"]["plots"]) == 8


@pytest.mark.parametrize("complete", [0, 1])
def test_figures_show_the_runs_that_have_their_records(tmp_path: Path, cache: Path, complete: int) -> None:
    runs = [tmp_path / "first", tmp_path / "second"]
    for number, run in enumerate(runs):
        shutil.copytree(RUN, run, ignore=None if number == complete else shutil.ignore_patterns("prom"))
    out = tmp_path / "out"
    named = [word for run in runs for word in ("--run", run)]
    result = run_assay("build", "cometbft/qa", *named, "--to", "md", "-o", out, "--cache", cache)
    assert result.status == 0, result.err
    galleries = {item["title"]: item for item in load_json(out / "document.json")["parts"]}
    nodes = galleries["Metrics of the nodes"]
    assert len(nodes["plots"]) == 10
    assert {plot["title"].rsplit(": ", 1)[1] for plot in nodes["plots"]} == {f"0.38.17 ({runs[complete].name})"}
    assert nodes["text"][-1] == (
        f"Run {runs[1 - complete].name} has no records of source samples (samples of the nodes' metrics, from a "
        "Prometheus server), so figures that read it show the other runs, and other blocks and texts that read it are "
        "left out."
    )
    assert len(galleries["Latencies"]["plots"]) == 16
    assert [run["id"] for run in load_json(out / "results.json")["runs"]] == [run.name for run in runs]
    verified = run_assay("verify", out, "--cache", cache)
    assert verified.status == 0, verified.out


def test_empty_run_is_refused(tmp_path: Path, cache: Path) -> None:
    run = tmp_path / "bare"
    run.mkdir()
    (run / "meta.json").write_text("{}", encoding="utf-8")
    result = build_article(tmp_path / "out", cache, run)
    assert (result.status, result.err.replace(str(run), "RUN")) == (
        1,
        """\
error[no-source]: report `qa` has nothing to show: each of its parts needs records that a run lacks
  expected: files report/*.csv, results/raw.csv (Reports of the load tool, with a row for each transaction in a \
block); files logs/*.log (Logs of the nodes, as JSON lines: `log_format = "json"` in config.toml); files \
prom/raw*.json, *.parquet, *.om (Samples of the nodes' metrics, from a Prometheus server)
  found:    RUN
""",
    )
    assert not (tmp_path / "out").exists()


def test_memory_names_its_filter_and_missing_exporters(built: Path) -> None:
    """Plain Python averages the server's answer to the published expression."""
    answer = json.loads(gzip.decompress((RUN / "prom" / "qr_5s_memory.json.gz").read_bytes()))["data"]["result"]
    chosen = next(row for row in read_rows(built, "rows experiment experiment_id") if row["number"] == 6)
    steps = set(range(chosen["from_ns"] // SECOND, chosen["to_ns"] // SECOND + 1))
    means = []
    for jobs in (lambda _job: True, lambda job: job.startswith(("validator", "ephemeral")) and "-" not in job):
        values: dict[int, list[float]] = {}
        for item in answer:
            for t, value in item["values"] if jobs(item["metric"]["job"]) else ():
                if t in steps:
                    values.setdefault(t, []).append(float(value))
        means.append(sum(sum(actual_values) / len(actual_values) for actual_values in values.values()) / len(values))
    actual_values = find_table(built, "Average resident memory with and without exporter processes")
    assert actual_values["header"] == ["Series", "Labels", "Lines", "Average, MB", "Δ%"]
    every, nodes = actual_values["rows"]
    assert [every[1:3], nodes[1:3]] == [["every label", "5"], ['job !~ ".*exporter.*|prometheus"', "4"]]
    assert [every[3], nodes[3]] == [f"{mean / 1e6:.0f}" for mean in means]
    assert (every[4], nodes[4]) == ("", f"{100 * (means[1] / means[0] - 1):.1f}")
    descriptions = {entry["id"]: entry["description"] for group in load_json(built / "document.json")["dictionary"]
            for entry in group["entries"]}  # fmt: skip
    assert descriptions["memory"] == "Resident memory of each process. Of process_resident_memory_bytes, every label."
    assert descriptions["node_memory"] == (
        'Resident memory of each node\'s process. Of process_resident_memory_bytes, job !~ ".*exporter.*|prometheus".'
    )


@pytest.mark.parametrize(
    ("file", "text", "replacement", "message"),
    [
        (
            "specs/cometbft/qa.dhall",
            "[ s.memory, s.nodeMemory ]",
            "[ s.memory, s.peers ]",
            "error[averages-unit]: the series of table `Average resident memory with and without exporter "
            "processes` of part `Metrics of the nodes` of report `qa` have different units\n",
        ),
        (
            "specs/cometbft/qa.dhall",
            "[ s.memory, s.nodeMemory ]",
            '[ s.memory, s.nodeMemory // { name = "node_memori" } ]',
            "error[unknown-series]: unknown series `node_memori` in table `Average resident memory with and without "
            "exporter processes` of part `Metrics of the nodes` of report `qa`\n",
        ),
        (
            "specs/cometbft/series.dhall",
            'X.matches (G.field e.job) ".*exporter.*|prometheus"',
            'X.matches (G.field e.value) ".*exporter.*|prometheus"',
            "error[type]: the condition of series `node_memory`",
        ),
        (
            "specs/cometbft/series.dhall",
            'X.matches (G.field e.job) ".*exporter.*|prometheus"',
            'X.matches (G.field e.job) "(exporter"',
            "error[sql]: ",
        ),
    ],
)
def test_invalid_filter_or_series_table_is_an_error(
    tmp_path: Path, cache: Path, file: str, text: str, replacement: str, message: str
) -> None:
    within = copy_workspace(tmp_path / "workspace")
    edit_file(within / file, text, replacement)
    result = run_assay("check", "--system", "cometbft", "--cache", cache, cwd=within)
    assert result.status == 1
    assert message in result.err


def test_further_source_changes_no_definition() -> None:
    root_workspace = Workspace(ROOT)
    checked = workspaces.evaluate_package(
        root_workspace, "cometbft", workspaces.scan_sources(root_workspace, "cometbft")
    )
    further = dataclasses.replace(checked.package.sources[0], name="further", kind="json-lines", constants=())
    wider = dataclasses.replace(checked.package, sources=(*checked.package.sources, further))
    log_metrics = {name for name in checked.definitions if _needs_logs(checked, name)}
    definitions = definition_hash.hash_definitions(wider)
    assert {name for name in definitions if definitions[name] != checked.definitions[name]} == log_metrics
    load_ = next(source for source in wider.sources if source.name == "load")
    other = tuple(dataclasses.replace(load_, time=("time",)) if source is load_ else source for source in wider.sources)
    changed = definition_hash.hash_definitions(dataclasses.replace(wider, sources=other))
    differing = {name for name in changed if changed[name] != checked.definitions[name]}
    assert differing == {
        name for name in changed if name in log_metrics or "loaded" in _collect_dependencies(checked, name).events
    }


def _collect_dependencies(checked: checked_package.CheckedPackage, metric: str) -> dependencies.Dependencies:
    return dependencies.collect_dependencies(checked.package, [checked.get_metric(metric)], checked.package.filters)


def _needs_logs(checked: checked_package.CheckedPackage, metric: str) -> bool:
    """Return whether a metric reads fields that every source records about its hosts."""
    relations = _collect_dependencies(checked, metric).relations
    return any("logs" in item.uses for item in checked.package.relations if item.name in relations)
