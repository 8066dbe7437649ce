"""What an edit costs: a metric of Cardano changes, and the report is built again from cached Parquet.

    python bench/edits.py                        on the runs in golden/ and on two simulated ones of 1 GB together
    python bench/edits.py --gigabytes 3

`assay watch` builds at each edit, which follows some seconds after a report: until then it gets ready. Beside it
`assay build`, started anew for another edit of the same metric.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from compare import ASSAY, HERE, REPORT, machine, progress, simulated
from measure import CommandError
from sizes import table

ROOT = HERE.parent
SHIPPED = tuple(ROOT / "golden" / "cardano" / name / "run" for name in ("baseline", "candidate"))
EDITED = Path("specs", "cardano", "metrics", "forging.dhall")
BEFORE = "measure = elapsed at.slotStart at.started"
PAUSE = 5.0  # seconds from a report to the next edit
PATIENCE = 120.0


def workspace(folder: Path) -> Path:
    """A copy of the shipped workspace."""
    for name in ("specs", "queries", "templates", "golden/specs"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def edit(here: Path, number: int) -> None:
    """Give a metric another measure: what stands in for hosts that do not say."""
    text = (ROOT / EDITED).read_text(encoding="utf-8")
    if BEFORE not in text:
        raise CommandError(f"{EDITED} has no `{BEFORE}`")
    after = f"measure = S.orElse (elapsed at.slotStart at.started) (X.quantity 0.{number} U.second)"
    saved = here / EDITED.with_suffix(".saved")  # as editors do: at no moment half of it is there
    saved.write_text(text.replace(BEFORE, after), encoding="utf-8")
    saved.replace(here / EDITED)


@contextmanager
def watching(here: Path, runs: Sequence[Path], work: Path) -> Iterator[Path]:
    """`assay watch` on a workspace; where it writes its lines."""
    named = [part for run in runs for part in ("--run", str(run))]
    command = [ASSAY, "watch", REPORT, *named, "-o", str(work / "out"), "--cache", str(work / "cache")]
    lines = work / "lines"
    with lines.open("wb") as stream:
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=here, stdin=nothing, stdout=stream, stderr=stream)
        try:
            yield lines
        finally:
            process.terminate()
            process.wait()


def wait_for(lines: Path, count: int) -> None:
    """Wait until so many reports were built.  Raises CommandError with what is told instead."""
    until = time.monotonic() + PATIENCE
    while len(found := lines.read_text(encoding="utf-8").splitlines()) < count or not found[-1].endswith(" s)"):
        if time.monotonic() > until or any(line.lower().startswith("error") for line in found):
            raise CommandError("\n".join(found))
        time.sleep(0.005)


def by_watch(here: Path, runs: Sequence[Path], work: Path, edits: int) -> list[float]:
    """Seconds from each edit to the line that tells of the report."""
    with watching(here, runs, work) as lines:
        wait_for(lines, 1)
        time.sleep(PAUSE)
        found = []
        for number in range(edits):
            edit(here, 100 + number)
            began = time.monotonic()
            wait_for(lines, 2 + number)
            found.append(time.monotonic() - began)
            time.sleep(PAUSE)
    return found


def by_build(here: Path, runs: Sequence[Path], work: Path, edits: int) -> list[float]:
    """Seconds of a build after each edit, each in a process of its own."""
    named = [part for run in runs for part in ("--run", str(run))]
    command = [ASSAY, "build", REPORT, *named, "-o", str(work / "out"), "--cache", str(work / "cache")]
    found = []
    for number in range(edits):
        edit(here, 500 + number)
        began = time.monotonic()
        done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CommandError(done.stderr)
        found.append(time.monotonic() - began)
    return found


def row(name: str, found: Sequence[float]) -> list[str]:
    """A row of the table: the first edit, and the median of the others."""
    return [name, f"{found[0]:.2f}", f"{statistics.median(found[1:]):.2f}"]


def main() -> int:
    """Prints the table.  Status 1 when a command fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1.0, help="plain logs of both simulated runs (default 1)")
    parser.add_argument("--hosts", type=int, default=52, help="hosts of a simulated run (default 52)")
    parser.add_argument("--edits", type=int, default=6, help="edits of each row, at least 2 (default 6)")
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "bench", help="keeps the simulated runs")
    options = parser.parse_args()
    big = simulated(options.data, options.gigabytes * 1000, options.hosts).runs
    size = sum(path.stat().st_size for run in big for path in run.rglob("*") if path.is_file()) / 1e9
    rows = [["seconds from an edit to the report", "first edit", "others, median"]]
    work = options.data / "edits"
    try:
        for name, runs in (("two runs of golden/", SHIPPED), (f"two runs, {size:.1f} GB, {options.hosts} hosts", big)):
            shutil.rmtree(work, ignore_errors=True)
            here = workspace(work / "workspace")
            progress(f"{name}: assay watch")
            rows.append(row(f"assay watch, {name}", by_watch(here, runs, work, options.edits)))
            progress(f"{name}: assay build")
            rows.append(row(f"assay build, {name}", by_build(here, runs, work, options.edits)))
        progress("")
    except CommandError as failure:
        print(failure, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{machine()}\n\n{table(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
