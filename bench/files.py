"""Measure what many small files cost: an ingest of files of one line each, in ms of processor time for each file.

    python bench/files.py                   10,000 files of one host, then 2,000 hosts of one file
    python bench/files.py --files 1000

The time of the same lines in one file is subtracted. The goal is at most 1 ms for a file, 5 ms for a host.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from malformed import KINDS, run_command, write_workspace

FILE_GOAL, HOST_GOAL = 1.0, 5.0  # ms
LOGS = ("text-lines", "json-lines", "logfmt")


def format_line(name: str, number: int) -> str:
    """Return a good record of a kind."""
    return KINDS[name].good.format(number=number, event=0, minute=number // 60 % 60, second=number % 60)


def measure_ingest(workspace: Path, lines: list[str], places: list[str]) -> float:
    """Return the processor seconds of an ingest of a line at each place, with an empty cache."""
    with tempfile.TemporaryDirectory() as work:
        for place, line in zip(places, lines, strict=True):
            path = Path(work) / "run" / place
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as stream:
                stream.write(f"{line}\n")
        arguments = ("ingest", "--all", "--system", "made", Path(work) / "run", "--cache", Path(work) / "cache")
        return run_command(*arguments, folder=workspace)


def main() -> int:
    """Measure; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=2_000)
    options = parser.parse_args()
    print("| logs | one file, s | many, s | ms for each |\n|---|---:|---:|---:|")
    is_met = True
    for name in LOGS:
        with tempfile.TemporaryDirectory() as work:
            workspace = Path(work) / "workspace"
            write_workspace(name, workspace, events=1)
            for count, goal, noun in ((options.files, FILE_GOAL, "files"), (options.hosts, HOST_GOAL, "hosts")):
                lines = [format_line(name, number) for number in range(count)]
                one = measure_ingest(workspace, lines, ["h1/log"] * count)
                places = [f"h1/log{number}" if noun == "files" else f"h{number}/log" for number in range(count)]
                many = measure_ingest(workspace, lines, places)
                cost = (many - one) / count * 1000
                is_met &= cost <= goal
                print(f"| {name}, {count} {noun} | {one:.1f} | {many:.1f} | {cost:.2f} |", flush=True)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
