"""Test the upgrade report from records of a hypervisor: its averages equal plain Python."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import load_json
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT

RECORDS = ROOT / "golden" / "antelope" / "rrd" / "rrddata.json"
SAMPLES = ROOT / "golden" / "antelope" / "upgrade" / "run"
UPGRADE, SECOND_START = "2024-01-22T20:00:00Z", "2024-01-22T20:15:00Z"
MARGIN = 20  # the default window of rates, which is left out on both sides of an instant
KIB, MIB = 2**10, 2**20
YEAR = 365 * 24 * 3600
FACTORS = {
    "vm_cpu_usage": ("cpu", 100.0),
    "vm_memory_used": ("mem", 1 / MIB),
    "vm_disk_write_rate": ("diskwrite", 1 / KIB),
    "vm_disk_read_rate": ("diskread", 1 / KIB),
    "vm_network_in": ("netin", 1 / KIB),
    "vm_network_out": ("netout", 1 / KIB),
    "vm_disk_writes_per_year": ("diskwrite", YEAR / 10**12),
    "vm_disk_writes_per_year_binary": ("diskwrite", YEAR / 2**40),
}
RECORD_PARTS = [
    "CPU of the virtual machine",
    "Memory of the virtual machine",
    "Disk and network of the virtual machine",
]
SAMPLE_PARTS = ["CPU", "Memory", "Disk", "Node"]


def build_report(run: Path, out: Path, cache: Path, *options: object) -> CommandResult:
    return run_assay("build", "antelope/upgrade", "--run", f"run={run}", *options, "-o", out, "--cache", cache)


def copy_records(run: Path, facts: Mapping[str, object]) -> Path:
    run.mkdir()
    shutil.copyfile(RECORDS, run / "rrddata.json")
    (run / "meta.json").write_text(json.dumps(facts), encoding="utf-8")
    return run


def parse_seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


def compute_averages(since: str, until: str) -> dict[str, float]:
    """Return the averages of the records between two times (empty: open), beside the margins, in plain Python."""
    first = parse_seconds(since) + MARGIN if since else -math.inf
    end = parse_seconds(until) - MARGIN if until else math.inf
    records = [item for item in json.loads(RECORDS.read_text(encoding="utf-8")) if first <= item["time"] < end]
    values = {name: [item[name] for item in records if name in item] for name, _ in FACTORS.values()}
    averages = {name: factor * math.fsum(values[key]) / len(values[key]) for name, (key, factor) in FACTORS.items()}
    shares = [item["mem"] / item["maxmem"] for item in records if "mem" in item]
    return averages | {"vm_memory_share": 100 * math.fsum(shares) / len(shares)}


def read_averages(report: Path, column: str) -> dict[str, float]:
    metrics = load_json(report / "results.json")["metrics"]
    return {name: figure["runs"][column]["average"] for name, figure in metrics.items()}


def list_galleries(report: Path) -> dict[str, Any]:
    return {gallery["title"]: gallery for gallery in load_json(report / "document.json")["parts"]}


def list_tables(galleries: Iterable[Any]) -> dict[str, Any]:
    return {table["title"]: table for gallery in galleries for table in gallery["tables"]}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report of bare records, whose upgrade only the user knows."""
    out = tmp_path_factory.mktemp("records") / "out"
    result = build_report(RECORDS.parent, out, cache, "--at", f"upgrade={UPGRADE}")
    assert (result.status, result.err) == (0, "")
    return out


def test_averages_of_records_equal_plain_python(report: Path) -> None:
    before, after = compute_averages("", UPGRADE), compute_averages(UPGRADE, "")
    assert read_averages(report, "run:before") == pytest.approx(before, rel=1e-12)
    assert read_averages(report, "run:after") == pytest.approx(after, rel=1e-12)
    printed = [f"{phase[name]:.4g}" for name in ("vm_cpu_usage", "vm_disk_write_rate") for phase in (before, after)]
    assert printed == ["85.62", "60.38", "3856", "11.53"]
    assert [round(phase["vm_disk_writes_per_year"], 3) for phase in (before, after)] == [124.508, 0.372]


def test_query_splits_records_by_phase(report: Path, cache: Path) -> None:
    options = ("--phase", "before", "--phase", "after", "--at", f"upgrade={UPGRADE}", "--format", "json")
    run = ("--run", f"run={RECORDS.parent}", "--cache", cache)
    result = run_assay("query", "vm_cpu_usage", *run, *options)
    assert (result.status, result.err) == (0, "")
    expected = [(f"run:{name}", read_averages(report, f"run:{name}")["vm_cpu_usage"]) for name in ("before", "after")]
    assert [(item["run"], item["average"]) for item in result.parse_json()] == expected


def test_report_of_records_has_their_parts_only(report: Path) -> None:
    galleries = list_galleries(report)
    assert list(galleries) == ["Host and configuration", *RECORD_PARTS, "Endurance", "Conclusion"]
    host, *others = galleries.values()
    assert host["text"][-1] == (
        "This report reads source records (records of a virtual machine from a Proxmox server). Source "
        "samples, its alternative, is left out, and with it the parts CPU, Memory, Disk, Node."
    )
    assert not [text for gallery in others for text in gallery["text"] if "left out" in text or "no samples" in text]
    assert [row[0].split(",")[0] for row in list_tables([host])["Facts"]["rows"]] == [
        "Rate window", "Step between points of a series",
    ]  # fmt: skip
    rules = list_tables(others)["Expectations of the upgrade (virtual machine)"]["rows"]
    assert [row[-1] for row in rules] == ["yes", "yes", "yes"]
    (machine,) = list_tables([host])["Virtual machine"]["rows"]
    assert machine[:2] == ["2024-01-22T19:21:00Z", "2024-01-22T20:28:00Z"]
    assert [float(cell) for cell in machine[2:]] == [8, 65536, 68]


def test_figures_draw_records_and_mark_the_upgrade(report: Path) -> None:
    plots = [plot for gallery in list_galleries(report).values() for plot in gallery["plots"]]
    assert [plot["title"] for plot in plots] == [
        "CPU usage of the virtual machine, %", "Memory usage, MiB",
        "Disk write and read rates, KiB/s", "Network traffic, KiB/s",
    ]  # fmt: skip
    points = [tuple(row[1:3]) for row in plots[0]["rows"] if row[0] is not None]
    records = json.loads(RECORDS.read_text(encoding="utf-8"))
    start = records[0]["time"]
    drawn = [(pytest.approx((item["time"] - start) / 60), item.get("cpu")) for item in records]
    assert [(x, y and y / 100) for x, y in points] == [(x, y and pytest.approx(y, rel=1e-12)) for x, y in drawn]
    assert [row[1:] for row in plots[0]["rows"] if row[3]] == [[40, None, "upgrade"]]
    assert list(plots[1]["panels"]) == ["Used memory", "Total memory"]


def test_second_start_is_a_phase_of_its_own(tmp_path: Path, cache: Path) -> None:
    facts = {"ident": "peer", "upgrade": UPGRADE, "second_start": SECOND_START, "hardware": {"memory": "32 GB"}}
    run, out = copy_records(tmp_path / "run", facts), tmp_path / "out"
    result = build_report(run, out, cache)
    assert (result.status, result.err) == (0, "")
    bounds = {"before": ("", UPGRADE), "after": (UPGRADE, SECOND_START), "second start": (SECOND_START, "")}
    for phase, (since, until) in bounds.items():
        assert read_averages(out, f"run:{phase}") == pytest.approx(compute_averages(since, until), rel=1e-12)
    assert load_json(out / "document.json")["manifest"]["header"] == ["", *bounds]
    rows = list_tables(list_galleries(out).values())["Facts"]["rows"]
    assert [row for row in rows if not row[0].endswith(", s")] == [
        ["Time of the upgrade", UPGRADE],
        ["Time of the second start of the upgraded node", SECOND_START],
        ["Memory", "32 GB"],
    ]
    verified = run_assay("verify", out, "--cache", cache)
    assert (verified.status, verified.err) == (0, "")


def test_run_with_both_sources_shows_all_parts(tmp_path: Path, cache: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(SAMPLES, run)
    upgrade, (full_record, *_) = int(parse_seconds("2026-11-21T22:52:00Z")), json.loads(RECORDS.read_bytes())[1:]
    records = [full_record | {"time": upgrade + 20 * step, "cpu": 0.5 + step / 100} for step in (-1, 1)]
    (run / "rrddata.json").write_text(json.dumps(records), encoding="utf-8")
    result = build_report(run, tmp_path / "out", cache)
    assert (result.status, result.err) == (0, "")
    titles = ["Host and configuration", *SAMPLE_PARTS[:3], *RECORD_PARTS, "Endurance", "Node", "Conclusion"]
    galleries = list_galleries(tmp_path / "out")
    assert list(galleries) == titles
    assert not any("is left out, and" in text for gallery in galleries.values() for text in gallery["text"])
    averages = [read_averages(tmp_path / "out", f"run:{phase}")["vm_cpu_usage"] for phase in ("before", "after")]
    assert averages == pytest.approx([49, 51], rel=1e-12)


def test_runs_of_different_sources_are_refused(tmp_path: Path, cache: Path) -> None:
    run = copy_records(tmp_path / "run", {"upgrade": UPGRADE})
    result = build_report(run, tmp_path / "out", cache, "--run", f"other={SAMPLES}")
    assert result.status == 1
    assert result.err == (
        "error[no-source]: report `upgrade` has nothing to show: each of its parts needs records that a run lacks\n"
        "  expected: files rrddata*.json (Records of a virtual machine from a Proxmox server) or "
        "files prom/raw*.json, *.parquet, *.om "
        "(Samples of host and node metrics, from a Prometheus server)\n"
        f"  found:    {run}, {SAMPLES}\n"
    )
