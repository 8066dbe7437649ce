"""Compare speed and memory of Assay and of DuckDB alone on the same simulated logs.

    python bench/compare.py                      two runs, 275 MB in total
    python bench/compare.py --megabytes 1000

Each row runs as an installed command (with bytecode) in its own process with an empty cache. Repetitions go over the
whole table, so that a slow minute of the machine affects every row. A row reports its shortest time and its largest
memory. The logs are in the page cache, since the first row reads them.
"""

import argparse
import compileall
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from measure import CommandError, Measurement, measure
from simulation.layout import write_run
from simulation.shape import Shape, choose_slots

HERE = Path(__file__).resolve().parent
ASSAY = str(Path(sys.executable).with_name("assay"))
# MB/s of the analyser behind the published reports on the same logs and two cores.
INCUMBENT = 22.0
REPORT = "cardano/comparison"
# A run of 2322 sampled time series and the report of the load tool.
SAMPLES_REPORT, SAMPLES_RUN = "cometbft/qa", HERE.parent / "golden" / "cometbft" / "run"
REFERENCE = "DuckDB, read_json, inferred columns"


@dataclass(frozen=True, slots=True)
class Data:
    """The measured runs; the first one is the baseline."""

    runs: tuple[Path, ...]

    def list_logs(self, run: Path) -> list[str]:
        """List the log files of a run."""
        return sorted(str(path) for path in run.glob("node-*/stdout"))

    @property
    def megabytes(self) -> float:
        """Size of all logs."""
        return sum(Path(log).stat().st_size for run in self.runs for log in self.list_logs(run)) / 1e6


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table; `commands` lists, for an empty folder, commands to run in order.

    `reads_logs` is false where a rate has no meaning. `goal` is a text and a predicate of the result.
    """

    name: str
    commands: Callable[[Path], list[list[str]]]
    reads_logs: bool = True
    goal: tuple[str, Callable[["Result"], bool]] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """Best measurement of a row; `rate` in MB/s of raw logs, `ratio` is the speed relative to read_json."""

    measurement: Measurement
    rate: float
    ratio: float


def define_rows(data: Data) -> list[Row]:
    """Define the rows of the table."""
    build = [ASSAY, "build", REPORT, *(part for run in data.runs for part in ("--run", str(run)))]
    logs = [log for run in data.runs for log in data.list_logs(run)]
    duckdb_command = [sys.executable, str(HERE / "duckdb_baseline.py")]
    factor = 8 if data.megabytes >= 900 else 4

    def ingest(work: Path) -> list[list[str]]:
        return [[ASSAY, "ingest", *map(str, data.runs), "--cache", str(work / "ingest")]]

    def build_report(work: Path) -> list[list[str]]:
        return [[*build, "-o", str(work / "out"), "--cache", str(work / "build")]]

    return [
        Row("DuckDB, count lines", lambda _: [[*duckdb_command, "lines", *logs]]),
        Row(REFERENCE, lambda _: [[*duckdb_command, "read_json", *logs]]),
        Row("assay ingest", ingest, goal=(">= 2.3 x read_json", lambda result: result.ratio >= 2.3)),
        Row(
            "assay build",
            build_report,
            goal=(f">= {factor} x {INCUMBENT:.0f} MB/s, < 2 GB", lambda result: is_fast(result, factor)),
        ),
        Row(
            "assay build, nothing changed",
            build_report,
            goal=("< 2 s", lambda result: result.measurement.seconds < 2),
        ),
        Row(
            "assay build, 152,063 samples",
            lambda work: [
                [
                    ASSAY,
                    "build",
                    SAMPLES_REPORT,
                    "--run",
                    str(SAMPLES_RUN),
                    "-o",
                    str(work / "qa"),
                    "--cache",
                    str(work / "qa-cache"),
                ]
            ],
            reads_logs=False,
            goal=("< 10 s", lambda result: result.measurement.seconds < 10),
        ),
        Row(
            "assay --help",
            lambda _: [[ASSAY, "--help"]],
            reads_logs=False,
            goal=("< 0.3 s", lambda result: result.measurement.seconds < 0.3),
        ),
    ]


def is_fast(result: Result, factor: int) -> bool:
    """Return whether a build is `factor` times as fast as the incumbent within 2 GB of memory."""
    return result.rate >= factor * INCUMBENT and result.measurement.peak < 2e9


def measure_all(table: Sequence[Row], work: Path, repetitions: int) -> dict[str, Measurement]:
    """Measure every row in each repetition of the table; return the best measurements.

    Rows of one repetition share a folder, so that the second build uses the cache of the first.
    """
    best: dict[str, Measurement] = {}
    for repetition in range(repetitions):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        for row in table:
            report_progress(f"{repetition + 1}/{repetitions} {row.name}")
            measurement = measure_row(row, work)
            previous = best.get(row.name)
            best[row.name] = combine_best(previous, measurement) if previous else measurement
    report_progress("")
    shutil.rmtree(work)
    return best


def combine_best(one: Measurement, other: Measurement) -> Measurement:
    """Combine the shorter time with the larger memory."""
    return Measurement(min(one.seconds, other.seconds), max(one.peak, other.peak))


def measure_row(row: Row, work: Path) -> Measurement:
    """Measure the commands of a row; return their sum.

    Raises CommandError with the name of the row.
    """
    total = Measurement(0.0, 0)
    for command in row.commands(work):
        try:
            total = total.add(measure(command, work / "stderr"))
        except CommandError as failure:
            raise CommandError(f"{row.name}: {' '.join(command[:3])} ... failed:\n{failure}") from None
    return total


def report_progress(text: str) -> None:
    """Show the current step if stderr is a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def compute_results(best: dict[str, Measurement], megabytes: float) -> dict[str, Result]:
    """Compute the rate and the ratio of each row."""
    reference = best[REFERENCE].seconds
    return {name: Result(row, megabytes / row.seconds, reference / row.seconds) for name, row in best.items()}


def format_table(table: Sequence[Row], results: dict[str, Result]) -> str:
    """Format the table as aligned text."""
    head = ("", "seconds", "MB/s", "peak MB", "x read_json", "goal", "")
    lines = [head, *(format_cells(row, results[row.name]) for row in table)]
    name, *numbers, goal, _ = (max(map(len, column)) for column in zip(*lines, strict=True))
    form = "  ".join([f"{{:<{name}}}", *(f"{{:>{width}}}" for width in numbers), f"{{:<{goal}}}", "{}"])
    return "\n".join(form.format(*line).rstrip() for line in lines)


def format_cells(row: Row, result: Result) -> tuple[str, ...]:
    """Format the cells of a row."""
    rate, ratio = (f"{result.rate:.0f}", f"{result.ratio:.2f}") if row.reads_logs else ("", "")
    goal, verdict = (row.goal[0], "met" if row.goal[1](result) else "MISSED") if row.goal else ("", "")
    peak = f"{result.measurement.peak / 1e6:.0f}"
    return (row.name, f"{result.measurement.seconds:.2f}", rate, peak, ratio, goal, verdict)


def simulate_runs(folder: Path, megabytes: float, hosts: int) -> Data:
    """Write two runs of half the size each unless they exist."""
    runs = []
    for seed in (1, 2):
        slots = choose_slots(megabytes / 2, hosts)
        run = folder / f"run-{hosts}x{slots}-{seed}"
        if not run.exists():
            report_progress(f"writing {run}")
            write_run(run, Shape(hosts, slots, seed), f"sim-{seed}", False, os.cpu_count() or 1)
            report_progress("")
        runs.append(run)
    return Data(tuple(runs))


def describe_machine() -> str:
    """Describe cores and versions, which rates depend on."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    return f"{os.cpu_count()} cores, Python {python}, DuckDB {duckdb.__version__}"


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=275, help="size of both runs as plain logs (default 275)")
    parser.add_argument("--hosts", type=int, default=6, help="hosts per run (default 6)")
    parser.add_argument("--repetitions", type=int, default=3, help="rounds over all rows (default 3)")
    folder = HERE.parent / "build" / "bench"
    parser.add_argument("--data", type=Path, default=folder, help="folder of the simulated runs (default build/bench)")
    return parser.parse_args()


def main() -> int:
    """Print the table; return 1 when a command fails. A missed goal is no failure."""
    options = parse_arguments()
    data = simulate_runs(options.data, options.megabytes, options.hosts)
    table = define_rows(data)
    compileall.compile_dir(HERE.parent / "compiler", quiet=1)
    try:
        best = measure_all(table, options.data / "work", options.repetitions)
    except CommandError as failure:
        report_progress("")
        print(failure, file=sys.stderr)
        return 1
    results = compute_results(best, data.megabytes)
    print(f"{data.megabytes:.0f} MB in {len(data.runs)} runs, best of {options.repetitions}; {describe_machine()}\n")
    print(format_table(table, results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
