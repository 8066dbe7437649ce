"""Several runs of a version: means in tables, calibration runs, margins, and reports on the noise between runs."""

from __future__ import annotations

import datetime
import json
import math
import re
import shutil
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scipy import stats

from assay.app.session.runs import parse_runs
from tests.support.commands import CommandResult, run_assay
from tests.support.documentation import list_members, parse_page
from tests.support.documents import list_charts, list_sections

HOSTS, REQUESTS = ("web-1", "web-2"), 80
VERSIONS = {"1.0": 3, "1.1": 3, "0.9": 4}
"""Version -> number of its runs. Requests of 1.1 wait twice as long; those of one run vary together."""
START = datetime.datetime(2026, 1, 5, 9, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the workspace of `assay init` with several runs of each version."""
    folder = tmp_path_factory.mktemp("repeats") / "service"
    assert run_assay("init", folder).status == 0
    random = Random(7)
    for version, count in VERSIONS.items():
        for number in range(1, count + 1):
            write_run(folder / "runs" / f"{version}.{number}", version, random)
    return folder


def write_run(folder: Path, version: str, random: Random) -> None:
    """Write a run in which a request comes every 100 ms, waits for about 4 ms and is worked on for about 20 ms."""
    level = random.uniform(0.9, 1.1) * (2 if version == "1.1" else 1)
    for host in HOSTS:
        (folder / host).mkdir(parents=True)
        records: list[dict[str, object]] = []
        for index in range(REQUESTS):
            received = START + datetime.timedelta(milliseconds=100 * index)
            started = received + datetime.timedelta(microseconds=round(level * random.uniform(3000, 5000)))
            sent = started + datetime.timedelta(microseconds=round(random.uniform(15000, 25000)))
            name = {"request": f"{host}-{index:03}"}
            events = (("request.received", received, name), ("work.started", started, name),
                      ("response.sent", sent, {**name, "bytes": 1000 + index}))  # fmt: skip
            records += [
                {"time": f"{t:%Y-%m-%dT%H:%M:%S.%f}Z", "event": event, "data": data} for event, t, data in events
            ]
        text = "".join(f"{json.dumps(record)}\n" for record in records)
        (folder / host / "log.jsonl").write_text(text, encoding="utf-8")
    (folder / "meta.json").write_text(json.dumps({"version": version}), encoding="utf-8")


def average_waiting(folder: Path) -> float:
    """Return the average waiting time of a run in ms, from its logs."""
    times: dict[str, dict[str, datetime.datetime]] = {}
    for host in HOSTS:
        for line in (folder / host / "log.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            times.setdefault(record["data"]["request"], {})[record["event"]] = datetime.datetime.fromisoformat(
                record["time"]
            )
    waits = [(item["work.started"] - item["request.received"]).microseconds / 1000 for item in times.values()]
    return statistics.fmean(waits)


def list_averages(service: Path, version: str) -> list[float]:
    return [average_waiting(service / "runs" / f"{version}.{number}") for number in range(1, VERSIONS[version] + 1)]


def name_runs(*versions: str) -> list[str]:
    """Return the options for all runs of versions, in turns."""
    return [
        f"--run={version}=runs/{version}.{number}"
        for number in range(1, max(VERSIONS[version] for version in versions) + 1)
        for version in versions
        if number <= VERSIONS[version]
    ]


def build(service: Path, cache: Path, out: Path, *options: str) -> CommandResult:
    return run_assay(
        "build", "service/comparison", *options, "--to", "md", "-o", out, "--cache", cache, cwd=service
    )  # fmt: skip


def load(folder: Path, name: str = "results") -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def repeated(service: Path, cache: Path) -> Path:
    """Return a comparison of three runs of each of two versions."""
    out = service / "build" / "repeated"
    assert build(service, cache, out, *name_runs("1.0", "1.1")) == CommandResult(0, f"{out}/report.md\n", "")
    return out


@pytest.fixture(scope="module")
def noise(service: Path, cache: Path) -> Path:
    """Return a report on the noise between four runs."""
    out = service / "build" / "noise"
    result = build(service, cache, out, "--repeats", *name_runs("0.9"))
    assert result == CommandResult(0, f"{out}/report.md\n", "")
    return out


@pytest.mark.parametrize(
    ("texts", "runs"),
    [
        (["a=x", "b=y", "a=z"], [("a-1", "a"), ("a-2", "a"), ("b", "")]),
        (["b=y", "a=x", "a=z"], [("b", ""), ("a-1", "a"), ("a-2", "a")]),
        (["a=x", "a=z", "w/a"], [("a-1", "a"), ("a-2", "a"), ("w-a", "")]),
        (["a=x", "a=z", "w/a-1"], [("a-1", "a"), ("a-2", "a"), ("w-a-1", "")]),
        (["x", "y"], [("x", ""), ("y", "")]),
    ],
)
def test_runs_of_one_name_are_numbered(texts: Sequence[str], runs: Sequence[tuple[str, str]]) -> None:
    assert [(run.id, run.version) for run in parse_runs(texts)] == runs


def test_values_are_the_means_of_runs(service: Path, repeated: Path) -> None:
    metric = load(repeated)["metrics"]["wait"]
    for version in ("1.0", "1.1"):
        averages = list_averages(service, version)
        runs = [metric["runs"][f"{version}-{number}"]["average"] for number in range(1, 4)]
        assert runs == pytest.approx(averages, rel=1e-12)
        assert metric["versions"][version] == pytest.approx(statistics.fmean(averages), rel=1e-12)


def test_columns_are_versions(service: Path, repeated: Path) -> None:
    document = load(repeated, "document")
    section = list_sections(document)[0]
    base, other = (statistics.fmean(list_averages(service, version)) for version in ("1.0", "1.1"))
    assert section["header"][:3] == ["", "1.0", "1.1"]
    row = next(row for row, metric in zip(section["rows"], section["metrics"], strict=True) if metric == "wait")
    assert row[1:5] == [f"{base:.2f}", f"{other:.2f}", f"{other - base:+.2f}", f"{100 * (other / base - 1):+.0f}"]
    assert section["rows"][-1][:3] == ["Sample count", "480", "480"]
    assert section["notes"][0] == "Values are means of the averages of runs: 3 of 1.0, 3 of 1.1."
    assert document["title"] == "1.1 against 1.0"


def test_parameters_and_charts_are_of_runs(repeated: Path) -> None:
    document = load(repeated, "document")
    labels = [f"{version} ({number})" for version in ("1.0", "1.1") for number in (1, 2, 3)]
    assert document["manifest"]["header"][1:] == labels
    assert [series["run"] for series in list_charts(document)[0]["series"]] == labels


def test_interval_is_that_of_the_pooled_variance(service: Path, repeated: Path) -> None:
    """Runs differ by far more than either varies within, so their averages decide alone."""
    change = load(repeated)["judgement"]["metrics"]["wait"]["1.1"]
    base, other = (list_averages(service, version) for version in ("1.0", "1.1"))
    variance = (statistics.variance(base) + statistics.variance(other)) / 2
    reach = stats.t.ppf(0.975, 4) * math.sqrt(variance * 2 / 3)
    difference = statistics.fmean(other) - statistics.fmean(base)
    assert (change["verdict"], change["decided_by"], change["df"]) == ("worse", "runs", 4)
    assert change["difference_low"] == pytest.approx(difference - reach, rel=1e-9)
    assert change["difference_high"] == pytest.approx(difference + reach, rel=1e-9)


def test_gate_decides_with_repeats(service: Path, repeated: Path) -> None:
    result = run_assay("gate", repeated, cwd=service)
    assert result.status == 4
    assert "1.1 against 1.0: 1 of 2 gated metrics is worse by more than its margin" in result.out
    assert "from run to run: 3 and 3 runs." in result.out


def test_compare_takes_runs_of_a_version(service: Path, cache: Path) -> None:
    runs = [option.removeprefix("--run=") for option in name_runs("1.0", "1.1")]
    result = run_assay("compare", *runs, "--metric", "wait", "--format", "json", "--cache", cache, cwd=service)
    (change,) = result.parse_json()["changes"]
    means = [statistics.fmean(list_averages(service, version)) for version in ("1.0", "1.1")]
    assert [change["base_value"], change["value"]] == pytest.approx(means, rel=1e-12)
    assert (change["base"], change["run"], change["base_size"], change["verdict"]) == ("1.0", "1.1", 480, "worse")


def test_calibration_runs_widen_intervals(service: Path, cache: Path, tmp_path: Path) -> None:
    pair = ("--run=1.0=runs/1.0.1", "--run=1.1=runs/1.1.1")
    calibration = [f"--calibrate=runs/0.9.{number}" for number in range(1, 5)]
    for name, options in (("once", ()), ("calibrated", calibration)):
        assert build(service, cache, tmp_path / name, *pair, *options).status == 0
    once, calibrated = (load(tmp_path / name) for name in ("once", "calibrated"))
    change = calibrated["judgement"]["metrics"]["wait"]["1.1"]
    variance = statistics.variance(list_averages(service, "0.9"))
    reach = stats.t.ppf(0.975, 3 - 3 % 2) * math.sqrt(2 * variance)  # degrees of freedom are even
    assert (change["difference_high"] - change["difference_low"]) / 2 == pytest.approx(reach, rel=1e-9)
    assert calibrated["judgement"]["repeats"] == {"demanded": 3, "runs": [1, 1], "calibration": 4}
    assert "4 calibration runs" in calibrated["judgement"]["noise"]
    averages = calibrated["calibration"]
    assert [averages[f"0.9.{n}"]["wait"] for n in range(1, 5)] == pytest.approx(
        list_averages(service, "0.9"), rel=1e-12
    )
    assert {name: item for name, item in calibrated.items() if name not in ("judgement", "calibration")} == {
        name: item for name, item in once.items() if name != "judgement"
    }
    provenance = load(tmp_path / "calibrated", "provenance")
    assert [run["id"] for run in provenance["content"]["calibration"]] == [f"0.9.{n}" for n in range(1, 5)]
    assert provenance["places"]["0.9.4"] == "runs/0.9.4"
    assert run_assay("verify", tmp_path / "calibrated", cwd=service).status == 0


def test_margin_of_the_command_line_decides(service: Path, cache: Path, tmp_path: Path) -> None:
    options = (*name_runs("1.0", "1.1"), "--margin=500%")
    assert build(service, cache, tmp_path, *options).status == 0
    change = load(tmp_path)["judgement"]["metrics"]["wait"]["1.1"]
    assert (change["verdict"], change["margin"]["percent"]) == ("same", 500.0)
    assert load(tmp_path, "provenance")["content"]["options"]["margin"] == "500%"
    verification = run_assay("verify", tmp_path, cwd=service)
    assert verification.status == 0, verification.out


def test_repeats_are_the_same_when_built_again(service: Path, repeated: Path, noise: Path) -> None:
    for folder in (repeated, noise):
        verification = run_assay("verify", folder, cwd=service)
        assert verification.status == 0, verification.out


def test_moved_run_of_a_version_is_located(service: Path, repeated: Path) -> None:
    moved = service / "runs" / "1.1.2"
    moved.rename(service / "moved")
    try:
        assert "pass --run 1.1-2=DIR if it has moved" in run_assay("verify", repeated, cwd=service).err
        assert run_assay("verify", repeated, "--run", "1.1-2=moved", cwd=service).status == 0
    finally:
        (service / "moved").rename(moved)


def test_same_runs_as_versions_are_another_build(service: Path, cache: Path, tmp_path: Path) -> None:
    runs = [f"--run=1.0-{number}=runs/1.0.{number}" for number in (1, 2, 3)]
    assert build(service, cache, tmp_path / "a", *runs).status == 0
    assert "versions" not in load(tmp_path / "a")
    assert build(service, cache, tmp_path / "b", *name_runs("1.0")).status == 0
    assert [item["id"] for item in load(tmp_path / "b")["versions"]] == ["1.0"]


@pytest.mark.parametrize(
    ("column", "prints", "runs"),
    [
        ("1.0", "the mean over runs of the average of all samples", ["1.0-1", "1.0-2", "1.0-3"]),
        ("1.1 Δ", "the difference of two averages, which are means over runs",
         ["1.0-1", "1.0-2", "1.0-3", "1.1-1", "1.1-2", "1.1-3"]),
        ("1.1 Verdict", "the verdict on the difference of two averages, which are means over runs",
         ["1.0-1", "1.0-2", "1.0-3", "1.1-1", "1.1-2", "1.1-3"]),
    ],
)  # fmt: skip
def test_trace_lists_the_averages_of_all_runs(
    service: Path, repeated: Path, cache: Path, column: str, prints: str, runs: list[str]
) -> None:
    command = ("trace", repeated, f"Times/Waiting time/{column}", "--cache", cache)
    text, data = run_assay(*command, cwd=service), run_assay(*command, "--format", "json", cwd=service)
    assert prints in re.sub(r"\s+", " ", text.out)
    assert [run["id"] for run in data.parse_json()["runs"]] == runs
    assert [run["average"] for run in data.parse_json()["runs"]] == pytest.approx(
        [average for version in dict.fromkeys(run[:3] for run in runs) for average in list_averages(service, version)]
    )


def test_noise_is_that_of_the_averages(service: Path, noise: Path) -> None:
    item = load(noise)["noise"]["metrics"]["wait"]
    averages = list_averages(service, "0.9")
    mean, deviation = statistics.fmean(averages), statistics.stdev(averages)
    assert [item[name] for name in ("mean", "deviation", "percent")] == pytest.approx(
        [mean, deviation, 100 * deviation / mean], rel=1e-9
    )
    document = load(noise, "document")
    (part,) = document["parts"]
    table = next(table for table in part["tables"] if table["title"] == "Times")
    row = next(row for row in table["rows"] if row[0] == "Waiting time, ms")
    assert row[1:3] == [f"{mean:.2f}", f"{deviation:.3f}"]
    assert row[4:] == ["—" if number is None else str(number) for number in item["runs_to_detect"].values()]
    assert (document["title"], list_sections(document), list_charts(document)) == ("0.9: noise from run to run", [], [])


def test_mean_of_a_noise_table_leads_to_all_runs(service: Path, noise: Path, cache: Path) -> None:
    cell = "Noise from run to run/Times/Waiting time/Mean"
    result = run_assay("trace", noise, cell, "--format", "json", "--cache", cache, cwd=service)
    assert [run["id"] for run in result.parse_json()["runs"]] == ["0.9-1", "0.9-2", "0.9-3", "0.9-4"]


def test_copy_of_a_run_is_warned_of(service: Path, cache: Path, tmp_path: Path) -> None:
    shutil.copytree(service / "runs" / "1.0.1", tmp_path / "copy")
    options = (*name_runs("1.0", "1.1"), f"--calibrate={tmp_path / 'copy'}")
    result = build(service, cache, tmp_path / "out", *options)
    assert result.err == (
        "warning: calibration run 1.0 has the raw files of 1.0 (1), byte for byte: a run counts twice.\n"
    )


def test_noise_of_runs_without_names(service: Path, cache: Path, tmp_path: Path) -> None:
    runs = [f"--run=runs/0.9.{number}" for number in range(1, 5)]
    assert build(service, cache, tmp_path, "--repeats", *runs).status == 0
    assert load(tmp_path, "document")["manifest"]["header"][1] == "0.9 (0.9.1)"


def test_members_of_repeats_are_documented(repeated: Path, noise: Path) -> None:
    tables = [table for table in parse_page("docs/results.md").tables if table.section == "Several runs of a version"]
    members = {name for table in tables for row in table.rows for name in list_members(row[0])}
    results, noise_data = load(repeated), load(noise)["noise"]
    item = noise_data["metrics"]["wait"]
    assert members == {
        "runs[].version",
        *(f"versions[].{name}" for name in results["versions"][0]),
        "metrics.*.versions.*",
        "calibration.*.*",
        *(f"noise.metrics.*.{name}" for name in item),
        "noise.metrics.*",
        "content.runs[].version",
        "content.calibration",
        "content.options.margin",
        "content.options.repeats",
    }
