"""Measure builds of runs of 52 hosts from 0.3 to 10 GB, and other programs on the same files.

    python bench/sizes.py                        0.3, 1, 3 and 10 GB; prints the tables of bench/README.md
    python bench/sizes.py --gigabytes 0.3 --gigabytes 1

Each row runs three times in its own process; the shortest time and the largest memory are reported. Builds start with
an empty cache. Programs that are not installed are skipped. The first row reads the logs into the page cache as far
as they fit.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from compare import (
    ASSAY,
    HERE,
    INCUMBENT,
    REPORT,
    Data,
    combine_best,
    describe_machine,
    report_progress,
    simulate_runs,
)
from measure import CommandError, Measurement, measure

DUCKDB = [sys.executable, str(HERE / "duckdb_baseline.py")]
CHDB = [sys.executable, str(HERE / "chdb_baseline.py")]
#: takes minutes per gigabyte, so it is measured at the smallest size only
JQ_ROW = "jq, one field"
#: rounds over all rows, so that a slow minute of the machine affects every row
ROUNDS = 3
STAGES = ("hash", "read", "results", "charts", "pdf")


@dataclass(frozen=True, slots=True)
class Build:
    """Time and memory of a build, bytes of Parquet, and seconds per stage from its first start to its last end.

    Stages of several runs overlap.
    """

    measurement: Measurement
    parquet: int
    stages: dict[str, float]


@dataclass(slots=True)
class Size:
    """Measurements at one size of logs; the logs may be deleted already."""

    megabytes: float
    other_programs: dict[str, Measurement] = field(default_factory=dict)
    build: Build | None = None
    rebuild: Measurement | None = None


def define_other_commands(data: Data, is_smallest: bool) -> dict[str, list[str]]:
    """Define commands of other programs that read the same logs, by name."""
    logs = [log for run in data.runs for log in data.list_logs(run)]
    commands = {
        "wc -l": ["wc", "-l", *logs],
        "DuckDB, count lines": [*DUCKDB, "lines", *logs],
        "DuckDB, read_json, inferred columns": [*DUCKDB, "read_json", *logs],
    }
    if find_spec("chdb"):
        commands["ClickHouse (chDB), two paths"] = [*CHDB, *logs]
    if is_smallest and shutil.which("jq"):
        commands[JQ_ROW] = ["jq", "-cR", "fromjson? | .ns", *logs]
    return commands


def format_build_command(data: Data, work: Path) -> list[str]:
    """Return the command that builds the report of all runs with output and cache in `work`."""
    runs = [part for run in data.runs for part in ("--run", str(run))]
    return [ASSAY, "build", REPORT, *runs, "-o", str(work / "out"), "--cache", str(work / "cache")]


def measure_build(data: Data, work: Path, log: Path) -> Build:
    """Measure a build with an empty cache. Raises CommandError."""
    measurement = measure([*format_build_command(data, work), "--log-format", "json"], log)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    stages = {stage: _compute_span([line for line in lines if line["stage"] == stage]) for stage in STAGES}
    sizes = {path.stat().st_ino: path.stat().st_size for path in (work / "cache" / "batches").rglob("*.parquet")}
    return Build(measurement, sum(sizes.values()), stages)


def _compute_span(lines: Sequence[Mapping[str, Any]]) -> float:
    """Compute the seconds from the first start to the last end of some log lines."""
    ends = [datetime.fromisoformat(line["at"]).timestamp() for line in lines]
    return max(ends) - min(end - line["seconds"] for end, line in zip(ends, lines, strict=True)) if lines else 0.0


def measure_size(data: Data, is_smallest: bool, work: Path) -> Size:
    """Measure all rows of a size, once per round."""
    size = Size(data.megabytes)
    os.sync()  # pending writes of the logs would slow down the first rows
    for number in range(1, ROUNDS + 1):
        for name, command in define_other_commands(data, is_smallest).items():
            report_progress(f"{data.megabytes:.0f} MB, {number}/{ROUNDS}: {name}")
            size.other_programs[name] = update_best(size.other_programs.get(name), measure(command, work / "stderr"))
        report_progress(f"{data.megabytes:.0f} MB, {number}/{ROUNDS}: assay build")
        for folder in ("out", "cache"):
            shutil.rmtree(work / folder, ignore_errors=True)
        size.build = choose_faster(size.build, measure_build(data, work, work / "log"))
        size.rebuild = update_best(size.rebuild, measure(format_build_command(data, work), work / "stderr"))
    report_progress("")
    return size


def update_best(best: Measurement | None, new: Measurement) -> Measurement:
    """Combine the shorter time with the larger memory."""
    return combine_best(best, new) if best else new


def choose_faster(best: Build | None, new: Build) -> Build:
    """Choose the faster build, with the larger memory of both."""
    if best is None:
        return new
    faster = min(best, new, key=lambda item: item.measurement.seconds)
    return replace(faster, measurement=combine_best(best.measurement, new.measurement))


def list_rates(sizes: Sequence[Size]) -> list[list[str]]:
    """List rows with the MB/s of raw logs of each program at each size."""
    names = list(dict.fromkeys(name for size in sizes for name in size.other_programs))
    rows = [["MB/s of raw logs", *(f"{size.megabytes / 1000:.1f} GB" for size in sizes)]]
    for name in names:
        rows.append([name, *(_format_rate(size, size.other_programs.get(name)) for size in sizes)])
    rows.append(
        ["**assay build**, empty cache", *(_format_rate(size, size.build and size.build.measurement) for size in sizes)]
    )
    return rows


def list_costs(sizes: Sequence[Size]) -> list[list[str]]:
    """List rows with times, memory and speed ratios of the builds at each size."""
    rows = [["assay build", *(f"{size.megabytes / 1000:.1f} GB" for size in sizes)]]
    builds = [(size, size.build) for size in sizes if size.build]
    rows.append(["seconds", *(f"{item.measurement.seconds:.1f}" for _, item in builds)])
    rows += [[f"of these, {stage}", *(f"{build.stages[stage]:.1f}" for _, build in builds)] for stage in STAGES]
    rows.append(["peak memory, MB", *(f"{item.measurement.peak / 1e6:.0f}" for _, item in builds)])
    rows.append(["Parquet, share of raw", *(f"{item.parquet / size.megabytes / 1e4:.1f} %" for size, item in builds)])
    for name in ("wc -l", "DuckDB, read_json, inferred columns"):
        ratios = (size.other_programs[name].seconds / item.measurement.seconds for size, item in builds)
        rows.append([f"times as fast as {name}", *(f"{ratio:.2f}" for ratio in ratios)])
    ratios = (size.megabytes / item.measurement.seconds / INCUMBENT for size, item in builds)
    rows.append([f"times as fast as the incumbent ({INCUMBENT:.0f} MB/s)", *(f"{ratio:.1f}" for ratio in ratios)])
    rows.append(
        ["rebuild without changes, seconds", *(f"{size.rebuild.seconds:.1f}" for size in sizes if size.rebuild)]
    )
    return rows


def _format_rate(size: Size, measurement: Measurement | None) -> str:
    return f"{size.megabytes / measurement.seconds:.0f}" if measurement else ""


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as a Markdown table; the first one is the header."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|---" + "|---:" * (len(rows[0]) - 1) + "|", *body])


def main() -> int:
    """Print the tables; return 1 when a command fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, action="append", help="size of both runs as plain logs (repeatable)")
    parser.add_argument("--hosts", type=int, default=52, help="hosts per run (default 52)")
    parser.add_argument(
        "--data", type=Path, default=HERE.parent / "build" / "bench", help="folder of runs of up to 1 GB"
    )
    options = parser.parse_args()
    compileall.compile_dir(HERE.parent / "compiler", quiet=1)
    sizes: list[Size] = []
    for gigabytes in sorted(options.gigabytes or [0.3, 1, 3, 10]):
        data = simulate_runs(options.data, gigabytes * 1000, options.hosts)
        work = options.data / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        try:
            sizes.append(measure_size(data, not sizes, work))
        except CommandError as failure:
            print(failure, file=sys.stderr)
            return 1
        finally:
            shutil.rmtree(work)
            for run in data.runs if gigabytes > 1 else ():
                shutil.rmtree(run)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False, cwd=HERE
    )
    print(
        f"{describe_machine()}, {memory:.0f} GiB of memory; {options.hosts} hosts, two runs; {commit.stdout.strip()}\n"
    )
    print(format_table(list_rates(sizes)), format_table(list_costs(sizes)), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
