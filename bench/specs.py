"""What specs cost: evaluating a package with Assay's evaluator, beside the PyPI package `dhall`, and after an edit.

    python bench/specs.py                        the Cardano package, five times each, in turns
    python bench/specs.py --system antelope --times 9

Each evaluation is a process of its own, so that it starts with nothing in memory; seconds are of processor time and
include the start of Python. The edit changes one file of metrics, in a process that has evaluated the package before.
Last comes `assay check` with an empty cache, which also compiles all SQL and runs it on empty tables.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from compare import ASSAY, HERE, machine
from sizes import table

ROOT = HERE.parent
OWN = """
import sys
from pathlib import Path
from assay.dhall import Evaluator, FolderPolicy, to_data
root = Path(sys.argv[1])
to_data(Evaluator(FolderPolicy([root])).evaluate_file(root / sys.argv[2]).value)
"""
BINDING = """
import os, sys
import dhall
os.chdir(sys.argv[1])
dhall.loads("./" + sys.argv[2])
"""
EDIT = """
import sys, time
from pathlib import Path
from assay.lang import workspace
from assay.lang.workspace import Workspace
root, system = Path(sys.argv[1]), sys.argv[2].split("/")[1]
file = max((root / "specs" / system / "metrics").glob("*.dhall"), default=root / "specs" / system / "metrics.dhall",
           key=lambda path: path.stat().st_size)
text = file.read_text()
seconds = []
for number in range(6):
    file.write_text(text.replace('doc = "', f'doc = "{number} ', 1))
    began = time.process_time()
    workspace.evaluate_data(Workspace(root), system, workspace.scan(Workspace(root), system))
    seconds.append(time.process_time() - began)
file.write_text(text)
print(sorted(seconds[1:])[2])
"""


def measure(command: Sequence[str]) -> float:
    """Return the processor seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure in turns, and print a table of medians with ratios to the first row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", default="cardano")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(machine(), end="\n\n")
        print(table([("what", "seconds", "ratio"), *rows(Path(scratch), options.system, options.times)]))


def rows(scratch: Path, system: str, times: int) -> list[tuple[str, str, str]]:
    """Return a row for each thing that is measured."""
    root = scratch / "workspace"
    for name in ("specs", "queries"):
        shutil.copytree(ROOT / name, root / name)
    arguments = [str(root), f"specs/{system}/package.dhall"]
    commands = {
        "evaluate, Assay": [sys.executable, "-c", OWN, *arguments],
        "evaluate, PyPI dhall": [sys.executable, "-c", BINDING, *arguments],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    seconds["assay check, empty cache"] = []
    for turn in range(times):
        for name, command in commands.items():
            seconds[name].append(measure(command))
        check = [ASSAY, "--cache", str(scratch / f"cache-{turn}"), "check", "--system", system]
        seconds["assay check, empty cache"].append(measure(check))
    edited = subprocess.run([sys.executable, "-c", EDIT, *arguments], check=True, capture_output=True, text=True)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    medians["evaluate after an edit, in memory"] = float(edited.stdout)
    first = medians["evaluate, Assay"]
    return [(name, f"{value:.3f}", f"{value / first:.2f}") for name, value in medians.items()]


if __name__ == "__main__":
    main()
