"""Write a simulated run of any size: python bench/simulate.py OUT --hosts 6 --megabytes 275 --seed 1

The run has the layout of a real cluster's, and its events, fields and line lengths, with the newest generation of
names. The same options give the same bytes on every machine.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from simulation.layout import write_run
from simulation.shape import Shape, choose_slots


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line; exit with status 2 when it is invalid."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder to write; must not exist")
    parser.add_argument("--hosts", type=int, default=6, help="number of hosts, at least 2 (default 6)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--megabytes", type=float, default=25, help="approximate size of the plain logs (default 25)")
    size.add_argument("--slots", type=int, help="length of the run in slots instead of its size")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random choices (default 1)")
    parser.add_argument("--name", help="name of the run in its metadata (default: sim-SEED)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--gzip", action="store_true", help="compress the logs")
    form.add_argument("--plain", dest="gzip", action="store_false", help="do not compress the logs (default)")
    cores = os.cpu_count() or 1
    parser.add_argument("--workers", type=int, default=cores, help="processes (default: one per core)")
    options = parser.parse_args(arguments)
    if options.hosts < 2:
        parser.error("--hosts must be at least 2: another host must receive each block")
    if options.out.exists():
        parser.error(f"output folder {options.out} already exists")
    return options


def main() -> int:
    """Write the run and print its size."""
    options = parse_arguments()
    slots = options.slots or choose_slots(options.megabytes, options.hosts)
    shape = Shape(hosts=options.hosts, slots=slots, seed=options.seed)
    name = options.name or f"sim-{options.seed}"
    started = time.perf_counter()
    run = write_run(options.out, shape, name, options.gzip, options.workers)
    seconds = time.perf_counter() - started
    rate = run.bytes / 1e6 / seconds
    print(
        f"{options.out}: {options.hosts} hosts, {run.slots} slots, {run.blocks} blocks,"
        f" {run.bytes / 1e6:.1f} MB of plain logs ({rate:.0f} MB/s)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
