"""Measure builds of a run of 52 hosts from 0.3 to 50 GB, plain and gzip, and other programs on the same files.

    python bench/sizes.py                        0.3, 1, 3, 10 and 50 GB; prints the tables of bench/README.md
    python bench/sizes.py --gigabytes 0.3 --gigabytes 1
    python bench/sizes.py --before OTHER/.venv/bin/assay

Each row runs in its own process, three times up to 1 GB and once beyond; the shortest time and the largest memory are
reported. Builds start with an empty cache. Programs that are not installed are skipped. The first row reads the logs
into the page cache as far as they fit. `--before` is the command of another checkout, which builds the plain logs of up
to 10 GB, too. The tables are printed after each size, with all sizes so far.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from compare import ASSAY, HERE, INCUMBENT, REPORT, combine_best, describe_machine, report_progress
from measure import CommandError, Measurement, measure
from parts import simulate_runs

BASELINES = {  # rows of other programs that read JSON: the module that each needs, and its script
    "DuckDB, count lines": ("duckdb", ["duckdb_baseline.py", "lines"]),
    "DuckDB, read_json, inferred columns": ("duckdb", ["duckdb_baseline.py", "read_json"]),
    "ClickHouse (chDB), two paths": ("chdb", ["chdb_baseline.py"]),
    "Polars, two paths": ("polars", ["polars_baseline.py"]),
}
JQ_ROW = "jq, one field"
#: take a quarter of a minute per gigabyte or more, so they are measured at small sizes only
SLOW_ROWS = (JQ_ROW, "Polars, two paths")
#: rounds over all rows of small sizes, so that a slow minute of the machine affects every row
ROUNDS, MANY_GIGABYTES = 3, 2
MAX_BEFORE = 11_000  # megabytes that another version builds
#: stages with a row of their own; reading and hashing overlap and share one
STAGES = ("results", "charts", "pdf")
PLAIN, PACKED, BEFORE = "assay build", "assay build, gzip", "assay build, before"


@dataclass(frozen=True, slots=True)
class Build:
    """Time and memory of a build, bytes of Parquet, and processor seconds of some stages and of the whole command."""

    measurement: Measurement
    parquet: int
    stages: dict[str, float]
    processor_seconds: float


@dataclass(slots=True)
class Size:
    """Measurements at one size of logs; the logs may be deleted already. `builds` are by the name of their row."""

    megabytes: float
    other_programs: dict[str, Measurement] = field(default_factory=dict)
    builds: dict[str, Build] = field(default_factory=dict)
    rebuild: Measurement | None = None


def list_logs(run: Path) -> list[str]:
    """List the log files of a run."""
    return sorted(str(path) for path in run.glob("node-*/stdout*"))


def define_other_commands(run: Path, is_small: bool) -> dict[str, list[str]]:
    """Define commands of other programs that read the same logs, by name."""
    logs = list_logs(run)
    commands = {"wc -l": ["wc", "-l", *logs]}
    for name, (module, (script, *arguments)) in BASELINES.items():
        if find_spec(module):
            commands[name] = [sys.executable, str(HERE / script), *arguments, *logs]
    if shutil.which("jq"):
        commands[JQ_ROW] = ["jq", "-cR", "fromjson? | .ns", *logs]
    return {name: command for name, command in commands.items() if is_small or name not in SLOW_ROWS}


def pack_run(run: Path) -> Path:
    """Copy a run with logs compressed by gzip, unless the copy exists."""
    packed = run.with_name(run.name + "-gzip")
    if packed.exists():
        return packed
    unfinished = run.with_name(packed.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.copytree(run, unfinished, ignore=shutil.ignore_patterns("stdout"))

    def pack(log: str) -> None:
        with (unfinished / Path(log).parent.name / "stdout.gz").open("wb") as file:
            subprocess.run(["gzip", "-1", "-c", log], stdout=file, check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(pack, list_logs(run)))
    return unfinished.rename(packed)


def format_build_command(run: Path, work: Path, program: Sequence[str] = (ASSAY,)) -> list[str]:
    """Return the command that builds the report of a run with output and cache in `work`."""
    return [*program, "build", REPORT, "--run", str(run), "-o", str(work / "out"), "--cache", str(work / "cache")]


def measure_build(run: Path, work: Path, program: Sequence[str] = (ASSAY,)) -> Build:
    """Measure a build with an empty cache. Raises CommandError."""
    for folder in ("out", "cache"):
        shutil.rmtree(work / folder, ignore_errors=True)
    log = work / "log"
    measurement = measure([*format_build_command(run, work, program), "--log-format", "json"], log)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    sizes = {path.stat().st_ino: path.stat().st_size for path in (work / "cache" / "batches").rglob("*.parquet")}
    stages = {stage: _add_processor_seconds(lines, stage) for stage in STAGES}
    return Build(measurement, sum(sizes.values()), stages, _add_processor_seconds(lines, "command"))


def _add_processor_seconds(lines: Sequence[Mapping[str, Any]], stage: str) -> float:
    return sum(line.get("processor_seconds", 0.0) for line in lines if line["stage"] == stage)


def measure_size(run: Path, is_small: bool, work: Path, before: str | None) -> Size:
    """Measure all rows of a size, once per round."""
    size = Size(sum(Path(log).stat().st_size for log in list_logs(run)) / 1e6)
    packed = pack_run(run)
    os.sync()  # pending writes of the logs would slow down the first rows
    builds: dict[str, Callable[[], Build]] = {
        PACKED: lambda: measure_build(packed, work),
        PLAIN: lambda: measure_build(run, work),
    }
    if before and size.megabytes < MAX_BEFORE:
        # it reads the specs of its own checkout
        program = ["env", f"--chdir={Path(before).parents[2]}", before]
        builds = {BEFORE: lambda: measure_build(run.absolute(), work.absolute(), program), **builds}
    for number in range(1, (ROUNDS if is_small else 1) + 1):
        label = f"{size.megabytes:.0f} MB, round {number}"
        for name, command in define_other_commands(run, is_small).items():
            report_progress(f"{label}: {name}")
            size.other_programs[name] = update_best(size.other_programs.get(name), measure(command, work / "stderr"))
        for name, measure_row in builds.items():
            report_progress(f"{label}: {name}")
            size.builds[name] = choose_faster(size.builds.get(name), measure_row())
        size.rebuild = update_best(size.rebuild, measure(format_build_command(run, work), work / "stderr"))
    report_progress("")
    shutil.rmtree(packed)
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
    """List rows with the MB/s of plain logs of each program at each size."""
    rows = [["MB/s of plain logs", *(f"{size.megabytes / 1000:.1f} GB" for size in sizes)]]
    for name in dict.fromkeys(name for size in sizes for name in size.other_programs):
        rows.append([name, *(_format_rate(size, size.other_programs.get(name)) for size in sizes)])
    for name in dict.fromkeys(name for size in sizes for name in size.builds):
        rows.append(
            [
                f"**{name}**",
                *(_format_rate(size, size.builds[name].measurement if name in size.builds else None) for size in sizes),
            ]
        )
    return rows


def list_costs(sizes: Sequence[Size], row: str) -> list[list[str]]:
    """List rows with times, memory and speed ratios of the builds of a row of the first table at each size."""
    builds = [(size, size.builds[row]) for size in sizes if row in size.builds]
    rows = [[row, *(f"{size.megabytes / 1000:.1f} GB" for size, _ in builds)]]
    rows.append(["seconds", *(f"{build.measurement.seconds:.1f}" for _, build in builds)])
    rows.append(["peak memory, MB", *(f"{build.measurement.peak / 1e6:.0f}" for _, build in builds)])
    rows.append(["Parquet, share of raw", *(f"{build.parquet / size.megabytes / 1e4:.1f} %" for size, build in builds)])
    for name in ("wc -l", "DuckDB, read_json, inferred columns"):
        ratios = (size.other_programs[name].seconds / build.measurement.seconds for size, build in builds)
        rows.append([f"times as fast as {name}", *(f"{ratio:.2f}" for ratio in ratios)])
    ratios = (size.megabytes / build.measurement.seconds / INCUMBENT for size, build in builds)
    rows.append([f"times as fast as the incumbent ({INCUMBENT:.0f} MB/s)", *(f"{ratio:.1f}" for ratio in ratios)])
    return rows


def list_processor_seconds(sizes: Sequence[Size], row: str) -> list[list[str]]:
    """List the processor seconds per GB of each stage of the builds of a row."""
    builds = [(size.megabytes / 1000, size.builds[row]) for size in sizes if row in size.builds]
    rows = [[f"{row}, processor seconds a GB", *(f"{gigabytes:.1f} GB" for gigabytes, _ in builds)]]
    rest = [(build.processor_seconds - sum(build.stages.values())) / gigabytes for gigabytes, build in builds]
    rows.append(["start, specs, hash and read", *(f"{value:.2f}" for value in rest)])
    rows += [[stage, *(f"{build.stages[stage] / gigabytes:.2f}" for gigabytes, build in builds)] for stage in STAGES]
    rows.append(["all", *(f"{build.processor_seconds / gigabytes:.2f}" for gigabytes, build in builds)])
    return rows


def _format_rate(size: Size, measurement: Measurement | None) -> str:
    return f"{size.megabytes / measurement.seconds:.0f}" if measurement else ""


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as a Markdown table; the first one is the header."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|---" + "|---:" * (len(rows[0]) - 1) + "|", *body])


def list_tables(sizes: Sequence[Size]) -> list[list[list[str]]]:
    """List the tables of all sizes."""
    rows = [row for row in (PLAIN, PACKED, BEFORE) if row in sizes[0].builds]
    measured_rows = [row for row in rows if sizes[0].builds[row].processor_seconds]
    rebuild = ["built again, nothing changed, seconds"]
    rebuild += [f"{size.rebuild.seconds:.1f}" for size in sizes if size.rebuild]
    costs = [list_costs(sizes, row) for row in rows]
    costs[0].append(rebuild)
    return [list_rates(sizes), *costs, *(list_processor_seconds(sizes, row) for row in measured_rows)]


def main() -> int:
    """Print the tables after each size; return 1 when a command fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, action="append", help="size of the plain logs (repeatable)")
    parser.add_argument("--hosts", type=int, default=52, help="hosts of the run (default 52)")
    parser.add_argument("--before", metavar="ASSAY", help="command of another version to measure, too")
    parser.add_argument("--folder", type=Path, default=HERE.parent / "build" / "bench", help="folder of the runs")
    options = parser.parse_args()
    compileall.compile_dir(HERE.parent / "compiler", quiet=1)
    sizes: list[Size] = []
    for gigabytes in sorted(options.gigabytes or [0.3, 1, 3, 10, 50]):
        report_progress(f"simulating {gigabytes} GB")
        (run,) = simulate_runs(options.folder, 1, gigabytes * 1000, options.hosts)
        work = options.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        try:
            sizes.append(measure_size(run, gigabytes < MANY_GIGABYTES, work, options.before))
        except CommandError as failure:
            print(failure, file=sys.stderr)
            return 1
        finally:
            shutil.rmtree(work)
            if gigabytes > 1:
                shutil.rmtree(run)
        print(describe(options.hosts), *map(format_table, list_tables(sizes)), sep="\n\n", end="\n\n", flush=True)
    return 0


def describe(hosts: int) -> str:
    """Describe the machine, the data and the commit."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE).stdout.strip()
    return f"{describe_machine()}, {memory:.0f} GiB of memory; one run of {hosts} hosts; {commit}"


if __name__ == "__main__":
    sys.exit(main())
