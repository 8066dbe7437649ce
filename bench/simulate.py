"""Writes a simulated run of any size: python bench/simulate.py OUT --hosts 6 --megabytes 275 --seed 1

The run has the layout, the mix of events, their fields and their lengths of a real cluster's, in the newest
generation of names. The same options give the same bytes, on any machine.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from simulation.layout import write_run
from simulation.shape import Shape, slots_for


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The command line; a wrong one ends the process with status 2."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder to write; must not exist")
    parser.add_argument("--hosts", type=int, default=6, help="number of hosts, at least 2 (default 6)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--megabytes", type=float, default=25, help="plain logs, about (default 25)")
    size.add_argument("--slots", type=int, help="length of the run in slots, instead of a size")
    parser.add_argument("--seed", type=int, default=1, help="decides every random choice (default 1)")
    parser.add_argument("--name", help="the run's name in its meta data (default: sim-SEED)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--gzip", action="store_true", help="compress the logs")
    form.add_argument("--plain", dest="gzip", action="store_false", help="do not (default)")
    cores = os.cpu_count() or 1
    parser.add_argument("--workers", type=int, default=cores, help="processes (default: one a core)")
    options = parser.parse_args(given)
    if options.hosts < 2:
        parser.error("--hosts must be 2 or more: a block needs somebody to see it")
    if options.out.exists():
        parser.error(f"{options.out} exists")
    return options


def main() -> int:
    """Writes the run and says how big it came out."""
    options = arguments()
    slots = options.slots or slots_for(options.megabytes, options.hosts)
    shape = Shape(hosts=options.hosts, slots=slots, seed=options.seed)
    name = options.name or f"sim-{options.seed}"
    started = time.perf_counter()
    written = write_run(options.out, shape, name, options.gzip, options.workers)
    took = time.perf_counter() - started
    rate = written.bytes / 1e6 / took
    print(
        f"{options.out}: {options.hosts} hosts, {written.slots} slots, {written.blocks} blocks,"
        f" {written.bytes / 1e6:.1f} MB of plain logs ({rate:.0f} MB/s)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
