"""Measure the evaluation of specs by Assay and by the PyPI package `dhall`, after an edit, and `assay check`.

    python bench/specs.py                        the Cardano package, five times each, in turn
    python bench/specs.py --system antelope --times 9

Each evaluation runs in its own process; its processor time includes the start of Python. The edit changes one file of
metrics in a process that has evaluated the package before. `assay check` runs with an empty cache, compiles all SQL
and executes it on empty tables.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from compare import ASSAY, HERE, describe_machine
from sizes import format_table

ROOT = HERE.parent
ASSAY_PROGRAM = """
import sys
from pathlib import Path
from assay_dhall import Evaluator, FolderPolicy, to_data
root = Path(sys.argv[1])
to_data(Evaluator(FolderPolicy([root])).evaluate_file(root / sys.argv[2]).value)
"""
DHALL_PROGRAM = """
import os, sys
import dhall
os.chdir(sys.argv[1])
dhall.loads("./" + sys.argv[2])
"""
EDIT_PROGRAM = """
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
    start = time.process_time()
    workspace.evaluate_data(Workspace(root), system, workspace.scan_sources(Workspace(root), system))
    seconds.append(time.process_time() - start)
file.write_text(text)
print(sorted(seconds[1:])[2])
"""


def measure(command: Sequence[str]) -> float:
    """Return the processor seconds of a command and its children; Python may keep bytecode, as usual."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure in turn and print a table of medians with ratios to the first row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", default="cardano")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(describe_machine(), end="\n\n")
        print(format_table([("task", "seconds", "ratio"), *measure_rows(Path(scratch), options.system, options.times)]))


def measure_rows(scratch: Path, system: str, times: int) -> list[tuple[str, str, str]]:
    """Measure each task; return rows of name, median seconds and ratio to the first."""
    root = scratch / "workspace"
    for name in ("specs", "queries"):
        shutil.copytree(ROOT / name, root / name)
    arguments = [str(root), f"specs/{system}/package.dhall"]
    commands = {
        "evaluate, Assay": [sys.executable, "-c", ASSAY_PROGRAM, *arguments],
        "evaluate, PyPI dhall": [sys.executable, "-c", DHALL_PROGRAM, *arguments],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    seconds["assay check, empty cache"] = []
    for turn in range(times):
        for name, command in commands.items():
            seconds[name].append(measure(command))
        check = [ASSAY, "--cache", str(scratch / f"cache-{turn}"), "check", "--system", system]
        seconds["assay check, empty cache"].append(measure(check))
    after_edit = subprocess.run(
        [sys.executable, "-c", EDIT_PROGRAM, *arguments], check=True, capture_output=True, text=True
    )
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    medians["evaluate after an edit, in memory"] = float(after_edit.stdout)
    first = medians["evaluate, Assay"]
    return [(name, f"{value:.3f}", f"{value / first:.2f}") for name, value in medians.items()]


if __name__ == "__main__":
    main()
