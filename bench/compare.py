"""Speed and memory of Assay beside DuckDB alone, on the same simulated logs, in one go.

    python bench/compare.py                      two runs, 275 MB together
    python bench/compare.py --megabytes 1000

Every row is a command in a process of its own, as installed (with bytecode), with an empty cache. All rows are
measured once, then all of them again, so that a slow minute of the machine hits every row; of a row the shortest
time and the greatest memory count. The logs are in the page cache: the first row has read them.
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
from simulation.shape import Shape, slots_for

HERE = Path(__file__).resolve().parent
ASSAY = str(Path(sys.executable).with_name("assay"))
# What the analyser that made the published reports does with the same logs on two cores, MB/s.
INCUMBENT = 22.0
REPORT = "cardano/comparison"
# A run whose raw data are samples of 2322 time series, and the load tool's report.
SAMPLED, SAMPLES = "cometbft/qa", HERE.parent / "golden" / "cometbft" / "run"
YARDSTICK = "DuckDB, read_json, inferred columns"


@dataclass(frozen=True, slots=True)
class Data:
    """The runs that are measured, first the baseline."""

    runs: tuple[Path, ...]

    def logs(self, run: Path) -> list[str]:
        return sorted(str(path) for path in run.glob("node-*/stdout"))

    @property
    def megabytes(self) -> float:
        return sum(Path(log).stat().st_size for run in self.runs for log in self.logs(run)) / 1e6


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: `commands`, given an empty folder, are run one after the other.

    `reads` tells whether a rate makes sense. `goal` is what is aimed at, and whether it is reached.
    """

    name: str
    commands: Callable[[Path], list[list[str]]]
    reads: bool = True
    goal: tuple[str, Callable[["Result"], bool]] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A row's best measurement; `rate` in MB/s of raw log, `ratio` to read_json's."""

    measurement: Measurement
    rate: float
    ratio: float


def rows(data: Data) -> list[Row]:
    """The rows of the table. Fresh cache folders make ingest and build work for their result."""
    build = [ASSAY, "build", REPORT, *(part for run in data.runs for part in ("--run", str(run)))]
    every_log = [log for run in data.runs for log in data.logs(run)]
    alone = [sys.executable, str(HERE / "duckdb_baseline.py")]
    times = 8 if data.megabytes >= 900 else 4

    def ingest(work: Path) -> list[list[str]]:
        return [[ASSAY, "ingest", *map(str, data.runs), "--cache", str(work / "ingest")]]

    def build_in(work: Path) -> list[list[str]]:
        return [[*build, "-o", str(work / "out"), "--cache", str(work / "build")]]

    return [
        Row("DuckDB, count lines", lambda _: [[*alone, "lines", *every_log]]),
        Row(YARDSTICK, lambda _: [[*alone, "read_json", *every_log]]),
        Row("assay ingest", ingest, goal=(">= 2.3 x read_json", lambda result: result.ratio >= 2.3)),
        Row(
            "assay build",
            build_in,
            goal=(f">= {times} x {INCUMBENT:.0f} MB/s, < 2 GB", lambda result: reaches(result, times)),
        ),
        Row(
            "assay build, nothing changed",
            build_in,
            goal=("< 2 s", lambda result: result.measurement.seconds < 2),
        ),
        Row(
            "assay build, 152,063 samples",
            lambda work: [
                [
                    ASSAY,
                    "build",
                    SAMPLED,
                    "--run",
                    str(SAMPLES),
                    "-o",
                    str(work / "qa"),
                    "--cache",
                    str(work / "qa-cache"),
                ]
            ],
            reads=False,
            goal=("< 10 s", lambda result: result.measurement.seconds < 10),
        ),
        Row(
            "assay --help",
            lambda _: [[ASSAY, "--help"]],
            reads=False,
            goal=("< 0.3 s", lambda result: result.measurement.seconds < 0.3),
        ),
    ]


def reaches(result: Result, times: int) -> bool:
    return result.rate >= times * INCUMBENT and result.measurement.peak < 2e9


def measure_all(table: Sequence[Row], work: Path, repetitions: int) -> dict[str, Measurement]:
    """What counts of every row, from repetitions of the whole table.

    Within a repetition the rows share a folder: the second build finds what the first one left.
    """
    best: dict[str, Measurement] = {}
    for repetition in range(repetitions):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        for row in table:
            progress(f"{repetition + 1}/{repetitions} {row.name}")
            found = measure_row(row, work)
            known = best.get(row.name)
            best[row.name] = found if known is None else better(known, found)
    progress("")
    shutil.rmtree(work)
    return best


def better(one: Measurement, other: Measurement) -> Measurement:
    """The shorter time, but the greater memory: of that the worst counts."""
    return Measurement(min(one.seconds, other.seconds), max(one.peak, other.peak))


def measure_row(row: Row, work: Path) -> Measurement:
    """Runs a row's commands, and adds up.

    Raises CommandError, with the row's name.
    """
    total = Measurement(0.0, 0)
    for command in row.commands(work):
        try:
            total = total.then(measure(command, work / "stderr"))
        except CommandError as failure:
            raise CommandError(f"{row.name}: {' '.join(command[:3])} ... failed:\n{failure}") from None
    return total


def progress(text: str) -> None:
    """What is being done now, on a terminal only."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def results(best: dict[str, Measurement], megabytes: float) -> dict[str, Result]:
    """Rates and ratios."""
    yardstick = best[YARDSTICK].seconds
    return {name: Result(found, megabytes / found.seconds, yardstick / found.seconds) for name, found in best.items()}


def table_text(table: Sequence[Row], found: dict[str, Result]) -> str:
    """The finished table."""
    head = ("", "seconds", "MB/s", "peak MB", "x read_json", "goal", "")
    lines = [head, *(cells(row, found[row.name]) for row in table)]
    name, *numbers, goal, _ = (max(map(len, column)) for column in zip(*lines, strict=True))
    form = "  ".join([f"{{:<{name}}}", *(f"{{:>{width}}}" for width in numbers), f"{{:<{goal}}}", "{}"])
    return "\n".join(form.format(*line).rstrip() for line in lines)


def cells(row: Row, result: Result) -> tuple[str, ...]:
    """A line of the table."""
    rate, ratio = (f"{result.rate:.0f}", f"{result.ratio:.2f}") if row.reads else ("", "")
    goal, met = (row.goal[0], "met" if row.goal[1](result) else "MISSED") if row.goal else ("", "")
    peak = f"{result.measurement.peak / 1e6:.0f}"
    return (row.name, f"{result.measurement.seconds:.2f}", rate, peak, ratio, goal, met)


def simulated(folder: Path, megabytes: float, hosts: int) -> Data:
    """Two runs of half the size each, made when they are not there yet."""
    runs = []
    for seed in (1, 2):
        slots = slots_for(megabytes / 2, hosts)
        run = folder / f"run-{hosts}x{slots}-{seed}"
        if not run.exists():
            progress(f"writing {run}")
            write_run(run, Shape(hosts, slots, seed), f"sim-{seed}", False, os.cpu_count() or 1)
            progress("")
        runs.append(run)
    return Data(tuple(runs))


def machine() -> str:
    """Cores and versions: what a rate depends on besides the code."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    return f"{os.cpu_count()} cores, Python {python}, DuckDB {duckdb.__version__}"


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=275, help="plain logs of both runs (default 275)")
    parser.add_argument("--hosts", type=int, default=6, help="hosts of a run (default 6)")
    parser.add_argument("--repetitions", type=int, default=3, help="of which the best counts (default 3)")
    folder = HERE.parent / "build" / "bench"
    parser.add_argument("--data", type=Path, default=folder, help="keeps the runs (default build/bench)")
    return parser.parse_args()


def main() -> int:
    """Prints the table. Status 1 when a command fails; a goal that is missed is shown, and is no failure."""
    options = arguments()
    data = simulated(options.data, options.megabytes, options.hosts)
    table = rows(data)
    compileall.compile_dir(HERE.parent / "compiler", quiet=1)
    try:
        best = measure_all(table, options.data / "work", options.repetitions)
    except CommandError as failure:
        progress("")
        print(failure, file=sys.stderr)
        return 1
    found = results(best, data.megabytes)
    print(f"{data.megabytes:.0f} MB in {len(data.runs)} runs, best of {options.repetitions}; {machine()}\n")
    print(table_text(table, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
