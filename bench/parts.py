"""Measure the cost of a part of a build: processor time of builds with and without it, in turn.

    python bench/parts.py counts                 counts of the data quality, one run of 12 hosts and 600 MB
    python bench/parts.py judgements             intervals and verdicts, two runs of this size together
    python bench/parts.py counts --megabytes 3000

Each build runs in its own process with an empty cache. Builds without counts skip the statements that count rows and
keys; records are counted by host and name in both, since reading yields these counts. Builds without judgements have
neither cells nor a first page with verdicts.
"""

import argparse
import os
import resource
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from measure import measure
from simulation.layout import write_run
from simulation.shape import Shape, choose_slots

HERE = Path(__file__).resolve().parent
MAIN = "from assay.cli.main import main; main()"
WITHOUT_COUNTS = f"""
from assay.quality.quality_plan import QualityPlan
from assay.quality.finding import UNMEASURED
QualityPlan.counts = ()
QualityPlan.assess = lambda *_: UNMEASURED
{MAIN}
"""
WITHOUT_JUDGEMENTS = f"""
from dataclasses import replace
from assay.app.session.session import Session
find_comparison = Session.find_comparison
def find_unjudged(session, name):
    checked, report = find_comparison(session, name)
    return checked, replace(report, judgement=None)
Session.find_comparison = find_unjudged
{MAIN}
"""
PARTS = {"counts": WITHOUT_COUNTS, "judgements": WITHOUT_JUDGEMENTS}
RUNS = {"counts": 1, "judgements": 2}


def build(program: str, runs: Sequence[Path], work: Path) -> float:
    """Build the comparison of runs with an empty cache; return the processor seconds. Raises CommandError."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    arguments = [
        "build",
        "cardano/comparison",
        *(f"--run={run}" for run in runs),
        "-o",
        str(work / "out"),
        "--cache",
        str(work / "cache"),
    ]
    before = read_processor_seconds()
    measure([sys.executable, "-c", program, *arguments], work / "stderr")
    return read_processor_seconds() - before


def read_processor_seconds() -> float:
    """Return the processor time of all finished child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def simulate_runs(folder: Path, count: int, megabytes: float, hosts: int) -> list[Path]:
    """Write so many runs, of that size together, unless they exist."""
    runs = [folder / f"part-{hosts}-{megabytes / count:.0f}-{seed}" for seed in range(1, count + 1)]
    for seed, run in enumerate(runs, 1):
        if not run.exists():
            shape = Shape(hosts=hosts, slots=choose_slots(megabytes / count, hosts), seed=seed)
            write_run(run, shape, f"part-{seed}", compressed=False, workers=os.cpu_count() or 1)
    return runs


def main() -> None:
    """Measure both kinds of builds; print the shortest time of each and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--hosts", type=int, default=12, help="number of hosts (default 12)")
    parser.add_argument("--megabytes", type=float, default=600, help="size of the plain logs (default 600)")
    parser.add_argument(
        "--folder", type=Path, default=HERE.parent / "build" / "bench", help="folder of the simulated runs"
    )
    parser.add_argument("--times", type=int, default=3, help="builds of each kind (default 3)")
    options = parser.parse_args()
    runs = simulate_runs(options.folder, RUNS[options.part], options.megabytes, options.hosts)
    programs = {f"with {options.part}": MAIN, f"without {options.part}": PARTS[options.part]}
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(options.times):
        for name, program in programs.items():
            seconds[name].append(build(program, runs, options.folder / "parts"))
    shutil.rmtree(options.folder / "parts")
    least = {name: min(measured) for name, measured in seconds.items()}
    for name, measured in seconds.items():
        print(
            f"{name}: {least[name]:.2f} processor seconds; all: {', '.join(f'{item:.2f}' for item in sorted(measured))}"
        )
    with_part, without_part = least.values()
    print(f"ratio: {with_part / without_part:.3f}")


if __name__ == "__main__":
    main()
