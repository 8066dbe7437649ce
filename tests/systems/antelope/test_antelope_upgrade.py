"""Test upgrades: series equal a Prometheus server's answers; reports of a recorded and a live run."""

from __future__ import annotations

import gzip
import json
import math
import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.app.session.prepare import prepare
from assay.engine.compiled_plan import compile_statements
from assay.engine.executor import connect
from assay.engine.graph import build_nodes
from assay.engine.mount import mount_folders
from assay.lang.model.package import Constant
from assay.lang.model.vocabulary import Unit
from assay.plan.planner import build_plan
from assay.plan.request import Request
from assay.remote.prometheus_times import parse_nanoseconds
from assay.report.run_results import format_constant
from assay.runs.model import NamedRun
from tests.compare_reference import load_json
from tests.support import upgrade_run
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT, Laboratory
from tests.support.result_rows import read_result_rows

UPGRADE = ROOT / "golden" / "antelope" / "upgrade" / "run"
PROM = ROOT / "golden" / "cometbft" / "run" / "prom"
SECOND = 10**9


SECONDS, MEGABYTES = 22.0, 40.0
LIVE = "test_live_run"  # prefix of the names of tests that read the recording


@pytest.fixture(scope="module", autouse=True)
def recording(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Future[upgrade_run.RecordedRun] | None]:
    """Record a live run while other tests run; None where this is impossible or not needed."""
    folder = tmp_path_factory.mktemp("live")
    is_needed = any(item.name.startswith(LIVE) for item in request.session.items)
    if not is_needed or upgrade_run.MISSING or not upgrade_run.find_device(folder):
        yield None
        return
    (folder / "scratch").mkdir()
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(upgrade_run.record_run, folder / "run", folder / "scratch", SECONDS, MEGABYTES)


def build_report(run: Path, out: Path, cache: Path, *options: str) -> CommandResult:
    return run_assay("build", "antelope/upgrade", "--run", run, *options, "-o", out, "--cache", cache)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report of the recorded run."""
    out = tmp_path_factory.mktemp("upgrade") / "out"
    result = build_report(UPGRADE, out, cache)
    assert (result.status, result.err) == (0, "")
    return out


def find_table(report: Path, title: str) -> Any:
    galleries = load_json(report / "document.json")["parts"]
    return next(item for gallery in galleries for item in gallery["tables"] if item["title"] == title)


def read_averages(report: Path, run: str = "run") -> dict[str, tuple[float, float]]:
    """Return the average of each metric before and after."""
    metrics = load_json(report / "results.json")["metrics"]
    return {
        name: (figure["runs"][f"{run}:before"]["average"], figure["runs"][f"{run}:after"]["average"])
        for name, figure in metrics.items()
    }


# Series: the server's own answers.

ANSWERS = {
    "cpu_usage_series": "eos_cpu_pct",
    "memory_used_series": "eos_mem_used",
    "disk_write_series": "eos_disk_write_Bps",
}


def read_answer(name: str) -> dict[tuple[str, int], float]:
    """Return a Prometheus server's answer: (drive or none, instant) -> value."""
    answer = json.loads(gzip.decompress((PROM / f"qr_5s_{ANSWERS[name]}.json.gz").read_bytes()))["data"]["result"]
    return {
        (item["metric"].get("device", ""), t * SECOND): float(value) for item in answer for t, value in item["values"]
    }


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, lab: Laboratory) -> Iterator[duckdb.DuckDBPyConnection]:
    """Compute series from the scraped samples, in the window of the server's query."""
    run = tmp_path_factory.mktemp("reference") / "run"
    (run / "prom").mkdir(parents=True)
    shutil.copyfile(PROM / "raw_all_5s.json.gz", run / "prom" / "raw_all_5s.json.gz")
    times = [t for _, t in read_answer("memory_used_series")]
    checked = lab.session.load_package("antelope")
    full_plan = build_plan(checked.package, Request(series=tuple(ANSWERS)))
    (prepared,) = prepare(lab.session, checked, [NamedRun("run", run)], full_plan.required_fields)
    with connect(2, lab.folder / "spill") as connection:
        mount_folders(connection, prepared.folders)
        for node in build_nodes(compile_statements(checked, full_plan)):
            if node.name == "sampled_time":
                query = f"SELECT 'run' AS name, {min(times)} AS from_ns, {max(times)} AS to_ns"
                connection.execute(f"CREATE TEMPORARY TABLE sampled_time AS {query}")
            elif node.statement.kind in ("table", "view"):
                values = {name: prepared.constants[name] for name in node.placeholders}
                connection.execute(node.text, values or None)
        yield connection


@pytest.mark.parametrize("name", ANSWERS)
def test_series_equal_the_servers_answers(reference: duckdb.DuckDBPyConnection, name: str) -> None:
    expected = read_answer(name)
    device = "device" if name == "disk_write_series" else "''"
    rows = reference.execute(f"SELECT {device}, t_ns, value FROM {name}").fetchall()
    assert len(rows) == len({row[:2] for row in rows})
    actual = {(drive, t_ns): value for drive, t_ns, value in rows if drive in {key[0] for key in expected}}
    assert actual.keys() == expected.keys()
    assert len(expected) == 373
    if name == "memory_used_series":
        assert actual == expected
    assert [actual[key] for key in expected] == pytest.approx(list(expected.values()), rel=1e-9, abs=1e-11)


# The recorded run, against plain Python on its samples.


def read_samples(run: Path) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """Return samples by series family and label text."""
    series: dict[str, dict[str, list[tuple[int, float]]]] = {}
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT name, labels::VARCHAR, t_ns, value FROM read_parquet(?) ORDER BY t_ns",
            [str(run / "samples.parquet")],
        ).fetchall()
    for name, labels, t_ns, value in rows:
        series.setdefault(name, {}).setdefault(labels, []).append((t_ns, value))
    return series


def compute_rate(values: list[tuple[int, float]], step: int, window: int) -> float | None:
    """The increase a second over a window, extrapolated to its ends as a Prometheus server does; no resets.

    None where no sample is near one of the window's ends: the server would leave out a part of the window there.
    """
    values_in_window = [(t, value) for t, value in values if step - window <= t <= step]
    if len(values_in_window) < 2:
        return None
    assert all(a <= b for (_, a), (_, b) in pairwise(values_in_window))
    (first, low), (last, high) = values_in_window[0], values_in_window[-1]
    increase, span = high - low, last - first
    gap = span / (len(values_in_window) - 1)
    head, tail = float(first - (step - window)), float(step - last)
    if max(head, tail) >= 1.1 * gap:
        return None
    if increase > 0:
        head = min(head, span * low / increase)
    return increase * ((span + head + tail) / span) / (window / SECOND)


def find_latest_value(values: list[tuple[int, float]], step: int) -> float | None:
    index = bisect_right([t for t, _ in values], step) - 1
    return values[index][1] if index >= 0 else None


def test_averages_before_and_after_equal_plain_python(report: Path) -> None:
    facts = json.loads((UPGRADE / "meta.json").read_text(encoding="utf-8"))
    window, upgrade_instant = facts["rate_window_seconds"] * SECOND, _parse_nanoseconds(facts["upgrade"])
    series = read_samples(UPGRADE)
    (total,), (free,) = (list(series[f"node_memory_{name}_bytes"].values()) for name in ("MemTotal", "MemAvailable"))
    idle = list(series["node_cpu_seconds_total"].values())
    assert len(idle) == 2
    (drive,) = (
        actual_values
        for labels, actual_values in series["node_disk_written_bytes_total"].items()
        if "device=vda" in labels
    )
    times = [t for lines in series.values() for actual_values in lines.values() for t, _ in actual_values]
    points: dict[tuple[str, bool], list[float]] = {}
    for step in range(-(-min(times) // SECOND) * SECOND, max(times) + 1, SECOND):
        if upgrade_instant - window <= step < upgrade_instant + window:
            continue
        shares = [share for actual_values in idle if (share := compute_rate(actual_values, step, window)) is not None]
        a, b = find_latest_value(total, step), find_latest_value(free, step)
        values = {
            "cpu_usage": 100 * (1 - math.fsum(shares) / len(shares)) if shares else None,
            "memory_used": (a - b) / 2**20 if a is not None and b is not None else None,
            "disk_write_rate": None if (write_rate := compute_rate(drive, step, window)) is None else write_rate / 1000,
        }
        for name, value in values.items():
            if value is not None:
                points.setdefault((name, step < upgrade_instant), []).append(value)
    printed = read_averages(report)
    for name in ("cpu_usage", "memory_used", "disk_write_rate"):
        expected = [math.fsum(points[name, early]) / len(points[name, early]) for early in (True, False)]
        assert list(printed[name]) == pytest.approx(expected, rel=1e-9)


def format_metrics(family: str, labels: str, value: Callable[[int], float]) -> str:
    """Return samples of 12 minutes of 1 January 2026, every 15 s, as OpenMetrics text."""
    start = _parse_nanoseconds("2026-01-01T00:00:00Z") // SECOND
    return "".join(f'{family}{{job="n",instance="h",{labels}}} {value(t)} {start + t}\n' for t in range(0, 721, 15))


def test_rates_at_gaps_count_in_no_average(tmp_path: Path, cache: Path) -> None:
    """CPU usage rises from 0.1 to 0.15 at the upgrade; the write rate is constant."""
    run, cut = tmp_path / "run", 300
    run.mkdir()
    facts = {"upgrade": "2026-01-01T00:05:00Z", "rate_window_seconds": 60, "state": {"device": "sda"}}
    (run / "meta.json").write_text(json.dumps(facts), encoding="utf-8")
    idle = format_metrics(
        "node_cpu_seconds_total", 'cpu="0",mode="idle"', lambda t: 1e6 + 0.9 * t - 0.05 * max(t - cut, 0)
    )
    writes = format_metrics("node_disk_written_bytes_total", 'device="sda"', lambda t: 5e12 + 1e6 * t)
    lines = [line for line in writes.splitlines() if not 1767226050 < int(line.rsplit(" ", 1)[1]) < 1767226200]
    (run / "raw.om").write_text("\n".join([idle.rstrip(), *lines, "# EOF", ""]), encoding="utf-8")
    result = build_report(run, tmp_path / "out", cache)
    assert (result.status, result.err) == (0, "")
    printed = read_averages(tmp_path / "out")
    assert printed["cpu_usage"] == (pytest.approx(10, rel=1e-9), pytest.approx(15, rel=1e-9))
    assert printed["disk_write_rate"] == (pytest.approx(1000, rel=1e-9), pytest.approx(1000, rel=1e-9))
    (rule, *_) = find_table(tmp_path / "out", "Expectations of the upgrade")["rows"]
    assert rule[3:] == ["+50", "–", "at most 10 % higher", "no interval"]


def _parse_nanoseconds(text: str) -> int:
    return parse_nanoseconds(text, "time")


def test_recorded_disk_writes_fall_as_concluded(report: Path) -> None:
    before, after = read_averages(report)["disk_write_rate"]
    assert before > 15_000
    assert after < before / 2
    rows = find_table(report, "Disk write rate before and after")
    assert rows["header"] == ["", "before", "after", "Δ", "Δ%", "95 %", "Verdict"]
    (row,) = find_table(report, "Expectations of the upgrade")["rows"][2:]
    # the average fell by more than half, but the interval of its change reaches across the limit
    assert (row[0], *row[5:]) == ("Disk write rate, MB/s", "falls by at least 50 %", "cannot tell")


def test_tables_of_averages_have_no_undefined_number(report: Path) -> None:
    """Swap is never used; CPUs are always used after the upgrade."""
    assert find_table(report, "CPU before and after")["rows"] == [
        ["CPU usage, %", "94.7", "100", "+5.3", "+5.6", "-7 … +20", "cannot tell"],
        ["Sample count", "21", "24", "", "", "", ""],
    ]
    assert find_table(report, "Memory before and after")["rows"] == [
        ["Used memory, GiB", "0.819", "1.02", "+0.196", "+24", "-9 … +70", "cannot tell"],
        ["Used swap, MiB", "0", "0", "0", "—", "exact", "same"],
        ["Sample count", "24", "24", "", "", "", ""],
    ]


def test_figures_mark_the_instant_of_the_upgrade(report: Path) -> None:
    document = load_json(report / "document.json")
    plots = [plot for gallery in document["parts"] for plot in gallery["plots"]]
    assert len(plots) == 4
    cut = _parse_nanoseconds(json.loads((UPGRADE / "meta.json").read_text(encoding="utf-8"))["upgrade"])
    # The first sample; the first value of a rate comes later.
    (span,) = load_json(report / "results.json")["rows"]["run"]["span sampled_time"]
    start = span["from_ns"]
    (disk,) = (plot for plot in plots if "disk_write" in plot["id"])
    marks = [row for row in disk["rows"] if row[3] is not None]
    assert marks == [[None, (cut - start) / SECOND, None, "upgrade"]]
    assert "upgrade" in (report / "charts" / f"{disk['id']}.svg").read_text(encoding="utf-8")


def test_differing_upgrade_instant_is_warned_of(tmp_path: Path, cache: Path) -> None:
    """The table of facts has the instant of the run."""
    run_instant = "2026-11-21T22:52:01.77629154Z"
    result = build_report(UPGRADE, tmp_path / "other", cache, "--at", "upgrade=2026-11-21T22:52:10Z")
    cut = "mapped writer is split at upgrade 2026-11-21T22:52:10Z (--at)"
    message = f"{cut} instead of {run_instant}, the value of its constant upgrade."
    assert (result.status, result.err) == (0, f"warning: {message}\n")
    assert load_json(tmp_path / "other" / "document.json")["warnings"] == [message]
    assert ["Time of the upgrade", run_instant] in find_table(tmp_path / "other", "Facts")["rows"]
    assert build_report(UPGRADE, tmp_path / "same", cache, "--at", f"upgrade={run_instant}").err == ""


def test_missing_node_values_are_reported(report: Path) -> None:
    (node,) = (item for item in load_json(report / "document.json")["parts"] if item["title"] == "Node")
    assert node["plots"] == []
    assert node["text"][1].startswith("There are no samples of: Head block, Last irreversible block, ")
    assert (node["tables"], node["text"][2:]) == (
        [], ["There are no values for: Peers and transactions before and after."],
    )  # fmt: skip


def test_query_uses_the_phases_of_the_report(report: Path, cache: Path) -> None:
    phases = ("--phase", "before", "--phase", "after")
    result = run_assay("query", "disk_write_rate", "--run", UPGRADE, *phases, "--format", "json", "--cache", cache)
    assert (result.status, result.err) == (0, "")
    actual_averages = [(item["run"], item["average"]) for item in result.parse_json()]
    assert actual_averages == list(
        zip(("run:before", "run:after"), read_averages(report)["disk_write_rate"], strict=True)
    )


def test_each_of_several_runs_has_tables_of_its_phases(tmp_path: Path, cache: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(UPGRADE, tmp_path / name)
    runs = ("--run", f"two={tmp_path / 'two'}")
    result = build_report(tmp_path / "one", tmp_path / "out", cache, *runs)
    warning = "warning: two has the raw files of mapped writer, byte for byte: a run is compared with itself.\n"
    assert (result.status, result.err) == (0, warning)
    title = "Disk write rate before and after"
    first, second = (find_table(tmp_path / "out", f"{title}: {name}") for name in ("mapped writer", "two"))
    values = [[row[:5] for row in table["rows"]] for table in (first, second)]
    assert (first["header"][:5], values[0]) == (second["header"][:5], values[1])
    assert first["header"] == ["", "before", "after", "Δ", "Δ%", "95 %", "Verdict"]
    assert second["header"] == ["", "before", "after", "Δ", "Δ%"]  # its base is another than that of verdicts
    manifest = load_json(tmp_path / "out" / "document.json")["manifest"]
    assert manifest["header"] == ["", "mapped writer (before)", "mapped writer (after)", "two (before)", "two (after)"]


def test_upgrade_report_verifies(report: Path, cache: Path) -> None:
    result = run_assay("verify", report, "--cache", cache)
    assert (result.status, result.err) == (0, "")


def test_drive_without_samples_is_reported(tmp_path: Path, cache: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(UPGRADE, run)
    facts = json.loads((run / "meta.json").read_text(encoding="utf-8"))
    facts["state"]["device"] = "sda"
    (run / "meta.json").write_text(json.dumps(facts), encoding="utf-8")
    result = build_report(run, tmp_path / "out", cache)
    assert result.status == 1
    assert result.err.startswith(
        "error[state-device]: run run, phase before: there are no samples of the state drive `sda`, only "
        "of vda, zram0\n  hint: set `state.device` in meta.json to one of these drives\n"
    )


def test_series_of_node_are_read_and_drawn(tmp_path: Path, cache: Path) -> None:
    """A block per half second; counters of transactions, CPU time and bytes by block type."""
    run = tmp_path / "run"
    shutil.copytree(UPGRADE, run)
    start = (
        _parse_nanoseconds(json.loads((UPGRADE / "meta.json").read_text(encoding="utf-8"))["upgrade"]) // SECOND - 20
    )
    values_by_name: dict[str, Callable[[int], int]] = {
        "nodeos_head_block_num": lambda n: 1000 + 2 * n,
        "nodeos_last_irreversible": lambda n: 670 + 2 * n,
        "nodeos_p2p_clients": lambda n: 1 + n // 20,
        "nodeos_p2p_peers": lambda _: 2,
        "nodeos_trxs_incoming_total": lambda n: 100 + 5 * n,
        "nodeos_trxs_produced_total": lambda n: 100 + 3 * n,
        'nodeos_cpu_usage_us_total{block_type="incoming"}': lambda n: 400_000 + 40_000 * n,
        'nodeos_net_usage_us_total{block_type="incoming"}': lambda n: 9000 + 900 * n,
    }
    lines = [f"{name} {value(n)} {start + n}.000" for name, value in values_by_name.items() for n in range(41)]
    (run / "nodeos.om").write_text("\n".join([*lines, "# EOF", ""]), encoding="utf-8")
    result = build_report(run, tmp_path / "out", cache)
    assert (result.status, result.err) == (0, "")
    rows = read_result_rows(tmp_path / "out")

    def get_last_value(name: str) -> float:
        return next(row["value"] for row in rows[f"rows {name}"] if row["t_ns"] == (start + 40) * SECOND)

    assert (get_last_value("head_block_series"), get_last_value("irreversible_block_series")) == (1080, 750)
    assert (get_last_value("p2p_clients_series"), get_last_value("p2p_peers_series")) == (3, 2)
    rates = ("transactions_incoming_series", "transactions_produced_series", "block_cpu_series", "block_net_series")
    assert [get_last_value(name) for name in rates] == pytest.approx([5, 3, 4, 900], rel=1e-12)
    averages = read_averages(tmp_path / "out")
    constant_values = {"peers_outgoing": 2, "transactions_incoming_rate": 5, "transactions_produced_rate": 3}
    for name, value in constant_values.items():
        assert averages[name] == pytest.approx((value, value), rel=1e-12)
    # The upgrade is 20.8 s after the first sample; 5 s on both sides are left out. The last sample holds to the end.
    seconds = range(16), range(26, 50)
    expected = [sum(1 + min(n, 40) // 20 for n in phase) / len(phase) for phase in seconds]
    assert list(averages["peers_incoming"]) == pytest.approx(expected, rel=1e-12)
    (node,) = (item for item in load_json(tmp_path / "out" / "document.json")["parts"] if item["title"] == "Node")
    assert len(node["plots"]) == 8
    assert node["text"] == ["Metrics of the node itself, from its own exporter."]
    (table,) = node["tables"]
    assert "16 units of time are few: 15 batches (Incoming peers)." in table["notes"]
    assert [row[0] for row in table["rows"]] == [
        "Incoming peers, peers", "Outgoing peers, peers", "Incoming transactions, tx/s",
        "Produced transactions, tx/s", "Sample count",
    ]  # fmt: skip


# A live run.


@pytest.mark.skipif(bool(upgrade_run.MISSING), reason=upgrade_run.SKIP_REASON)
def test_live_run_with_private_mapping_writes_less(
    recording: Future[upgrade_run.RecordedRun] | None, tmp_path: Path, cache: Path
) -> None:
    if recording is None:
        pytest.skip(f"{tmp_path} is not on a drive of this machine")
    run = recording.result()
    # A private mapping writes nothing to storage; other programs may write a little.
    assert run.after < run.before / 1000
    if run.before < MEGABYTES * 250_000:
        pytest.skip(f"the kernel counts {run.before / 1e6:.1f} MB/s of the writer's {MEGABYTES:.0f}: no real drive")
    drive = upgrade_run.measure_write_rates(run, upgrade_run.find_device(tmp_path))
    other_rates = drive[1], drive[0] - run.before
    result = build_report(run.folder, tmp_path / "out", cache)
    assert (result.status, result.err) == (0, "")
    before, after = read_averages(tmp_path / "out")["disk_write_rate"]
    if max(other_rates) > run.before / 2:
        pytest.skip(f"other programs write {max(other_rates) / 1e6:.0f} MB/s to the drive")
    assert 1000 * before > run.before / 2
    assert after < before / 2


def test_durations_have_all_their_digits() -> None:
    unit = Unit("second", "s")
    step = Constant("step", ("meta.json",), ("step_seconds",), "duration", unit, "1", "Time from point to point")
    assert [format_constant(step, ns) for ns in (1_234_567 * SECOND, 123_456_789, 5 * SECOND)] == [
        "1234567",
        "0.123456789",
        "5",
    ]
