"""Measure the time from an edit of a Cardano metric to the report, which is rebuilt from cached Parquet.

    python bench/edits.py                        the runs in golden/, and two simulated ones of 1 GB in total
    python bench/edits.py --gigabytes 3

`assay watch` rebuilds at each edit; edits follow some seconds after a report, while it prepares the next build.
`assay build` is started anew for each edit of the same metric.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from compare import ASSAY, HERE, REPORT, describe_machine, report_progress, simulate_runs
from measure import CommandError
from sizes import format_table

ROOT = HERE.parent
SHIPPED = tuple(ROOT / "golden" / "cardano" / name / "run" for name in ("baseline", "candidate"))
EDITED_FILE = Path("specs", "cardano", "metrics", "forging.dhall")
OLD_MEASURE = "measure = elapsed at.slotStart at.started"
PAUSE = 5.0  # seconds between a report and the next edit
TIMEOUT = 120.0  # seconds
SUMMARY = re.compile(r"; \d+\.\d s$")  # ends the last line of a build


def copy_workspace(folder: Path) -> Path:
    """Copy the shipped workspace into a folder; return the folder."""
    for name in ("specs", "queries", "templates", "golden/specs"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def edit_metric(workspace: Path, number: int) -> None:
    """Change the measure of a metric: add a fallback value that depends on the number."""
    text = (ROOT / EDITED_FILE).read_text(encoding="utf-8")
    if OLD_MEASURE not in text:
        raise CommandError(f"{EDITED_FILE} does not contain `{OLD_MEASURE}`")
    new_measure = f"measure = S.orElse (elapsed at.slotStart at.started) (X.quantity 0.{number} U.second)"
    temporary = workspace / EDITED_FILE.with_suffix(".saved")  # replace atomically, as editors do
    temporary.write_text(text.replace(OLD_MEASURE, new_measure), encoding="utf-8")
    temporary.replace(workspace / EDITED_FILE)


@contextmanager
def run_watch(workspace: Path, runs: Sequence[Path], work: Path) -> Iterator[Path]:
    """Run `assay watch` on a workspace; yield the file of its output."""
    options = [part for run in runs for part in ("--run", str(run))]
    command = [ASSAY, "watch", REPORT, *options, "-o", str(work / "out"), "--cache", str(work / "cache")]
    output = work / "output"
    with output.open("wb") as stream:
        null = subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=workspace, stdin=null, stdout=stream, stderr=stream)
        try:
            yield output
        finally:
            process.terminate()
            process.wait()


def wait_for_reports(output: Path, count: int) -> None:
    """Wait until `count` reports are built; raise CommandError with the output on an error or timeout."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        lines = output.read_text(encoding="utf-8").splitlines()
        if sum(bool(SUMMARY.search(line)) for line in lines) >= count:
            return
        if time.monotonic() > deadline or any(line.lower().startswith("error") for line in lines):
            raise CommandError("\n".join(lines))
        time.sleep(0.005)


def measure_watch(workspace: Path, runs: Sequence[Path], work: Path, edits: int) -> list[float]:
    """Measure the seconds from each edit to the output line of its report."""
    with run_watch(workspace, runs, work) as output:
        wait_for_reports(output, 1)
        time.sleep(PAUSE)
        seconds = []
        for number in range(edits):
            edit_metric(workspace, 100 + number)
            start = time.monotonic()
            wait_for_reports(output, 2 + number)
            seconds.append(time.monotonic() - start)
            time.sleep(PAUSE)
    return seconds


def measure_build(workspace: Path, runs: Sequence[Path], work: Path, edits: int) -> list[float]:
    """Measure the seconds of a build in a new process after each edit."""
    options = [part for run in runs for part in ("--run", str(run))]
    command = [ASSAY, "build", REPORT, *options, "-o", str(work / "out"), "--cache", str(work / "cache")]
    seconds = []
    for number in range(edits):
        edit_metric(workspace, 500 + number)
        start = time.monotonic()
        result = subprocess.run(command, cwd=workspace, capture_output=True, text=True, check=False)
        if result.returncode:
            raise CommandError(result.stderr)
        seconds.append(time.monotonic() - start)
    return seconds


def format_row(name: str, seconds: Sequence[float]) -> list[str]:
    """Format a row of the table: the first edit and the median of the others."""
    return [name, f"{seconds[0]:.2f}", f"{statistics.median(seconds[1:]):.2f}"]


def main() -> int:
    """Print the table; return 1 when a command fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1.0, help="size of both simulated runs (default 1)")
    parser.add_argument("--hosts", type=int, default=52, help="hosts per simulated run (default 52)")
    parser.add_argument("--edits", type=int, default=6, help="edits per row, at least 2 (default 6)")
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "bench", help="folder of the simulated runs")
    options = parser.parse_args()
    large_runs = simulate_runs(options.data, options.gigabytes * 1000, options.hosts).runs
    size = sum(path.stat().st_size for run in large_runs for path in run.rglob("*") if path.is_file()) / 1e9
    rows = [["seconds from an edit to the report", "first edit", "others, median"]]
    work = options.data / "edits"
    try:
        for name, runs in (
            ("two runs of golden/", SHIPPED),
            (f"two runs, {size:.1f} GB, {options.hosts} hosts", large_runs),
        ):
            shutil.rmtree(work, ignore_errors=True)
            workspace = copy_workspace(work / "workspace")
            report_progress(f"{name}: assay watch")
            rows.append(format_row(f"assay watch, {name}", measure_watch(workspace, runs, work, options.edits)))
            report_progress(f"{name}: assay build")
            rows.append(format_row(f"assay build, {name}", measure_build(workspace, runs, work, options.edits)))
        report_progress("")
    except CommandError as failure:
        print(failure, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{describe_machine()}\n\n{format_table(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
