"""Measure the cost of data quality counts: processor time of builds with and without them, in turn.

    python bench/counts.py                       one run of 12 hosts, 600 MB
    python bench/counts.py --megabytes 3000

Each build runs in its own process with an empty cache. Builds without counts skip the statements that count rows and
keys. Records are counted by host and name in both, since reading yields these counts.
"""

import argparse
import resource
import shutil
import sys
from pathlib import Path

from measure import measure
from simulation.layout import write_run
from simulation.shape import Shape, choose_slots

HERE = Path(__file__).resolve().parent
MAIN = "from assay.cli.main import main; main()"
WITHOUT_COUNTS = f"""
from assay.app.quality import QualityPlan
from assay.report.data_quality import UNMEASURED
QualityPlan.counts = ()
QualityPlan.assess = lambda *_: UNMEASURED
{MAIN}
"""


def build(program: str, run: Path, work: Path) -> float:
    """Build the comparison of a run with an empty cache; return the processor seconds. Raises CommandError."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    arguments = [
        "build",
        "cardano/comparison",
        "--run",
        str(run),
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


def main() -> None:
    """Measure both kinds of builds; print the shortest time of each and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=12, help="number of hosts (default 12)")
    parser.add_argument("--megabytes", type=float, default=600, help="size of the plain logs (default 600)")
    parser.add_argument(
        "--folder", type=Path, default=HERE.parent / "build" / "bench", help="folder of the simulated runs"
    )
    parser.add_argument("--times", type=int, default=3, help="builds of each kind (default 3)")
    options = parser.parse_args()
    run = options.folder / f"counts-{options.hosts}-{options.megabytes:.0f}"
    if not run.exists():
        shape = Shape(hosts=options.hosts, slots=choose_slots(options.megabytes, options.hosts), seed=1)
        write_run(run, shape, "counts", compressed=False, workers=1)
    programs = {"with counts": MAIN, "without counts": WITHOUT_COUNTS}
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(options.times):
        for name, program in programs.items():
            seconds[name].append(build(program, run, options.folder / "counts"))
    shutil.rmtree(options.folder / "counts")
    least = {name: min(measured) for name, measured in seconds.items()}
    for name, measured in seconds.items():
        print(
            f"{name}: {least[name]:.2f} processor seconds; all: {', '.join(f'{item:.2f}' for item in sorted(measured))}"
        )
    print(f"ratio: {least['with counts'] / least['without counts']:.3f}")


if __name__ == "__main__":
    main()
