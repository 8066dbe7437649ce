"""Fuzz for some minutes with `python -m fuzz.run --minutes 30`, or repeat one case with `--case NAME:SEED:NUMBER`.

A case depends only on its target, seed and number. A failed case is reported with the command that repeats it; its
bytes are written to build/fuzz/.
"""

from __future__ import annotations

import argparse
import itertools
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import FrameType

from fuzz.mutate import mutate
from fuzz.targets import TARGETS, run_target

TIMEOUT = 60  # seconds
SLOW_INTERVAL = 20  # a slow target runs once in this many rounds
FAILED_CASES = Path("build/fuzz")


class CaseTimeout(BaseException):
    """A case runs longer than `TIMEOUT`; a BaseException, so that no handler of ordinary errors catches it."""


def generate_case(name: str, seed: int, number: int) -> bytes:
    """Generate the bytes of a case."""
    return mutate(Random(f"{name} {seed} {number}"), TARGETS[name].seeds())


def run_case(name: str, data: bytes) -> str:
    """Run a case; return the traceback of its failure, or an empty text."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise CaseTimeout(f"case runs longer than {TIMEOUT} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(TIMEOUT)
    try:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            run_target(name, Path(folder), data)
    except (Exception, CaseTimeout):
        return traceback.format_exc()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    return ""


def schedule_cases(names: list[str]) -> Iterator[tuple[str, int]]:
    """Yield target and number of endless cases; targets take turns, slow ones rarely."""
    for number in itertools.count():
        for name in names:
            if not TARGETS[name].is_slow or number % SLOW_INTERVAL == 0:
                yield name, number


def fuzz(seed: int, seconds: float, names: list[str], report: Callable[[str], None]) -> int:
    """Run cases for some seconds; return the number of failures."""
    end, failure_count, case_count = time.monotonic() + seconds, 0, 0
    for name, number in schedule_cases(names):
        if time.monotonic() > end:
            break
        data = generate_case(name, seed, number)
        case_count += 1
        if problem := run_case(name, data):
            failure_count += 1
            FAILED_CASES.mkdir(parents=True, exist_ok=True)
            (FAILED_CASES / f"{name}-{seed}-{number}").write_bytes(data)
            report(f"--- repeat with: python -m fuzz.run --case {name}:{seed}:{number}\n{problem}")
    report(f"{case_count} cases with seed {seed}, {failure_count} failed")
    return failure_count


def main() -> int:
    """Run the command line; return 1 when a case failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", choices=list(TARGETS))
    parser.add_argument("--case")
    options = parser.parse_args()
    if options.case:
        name, seed, number = options.case.split(":")
        problem = run_case(name, generate_case(name, int(seed), int(number)))
        print_escaped(problem or "no failure")
        return bool(problem)
    return bool(fuzz(options.seed, options.minutes * 60, options.target or list(TARGETS), print_escaped))


def print_escaped(text: str) -> None:
    """Print a text; escape halves of surrogate pairs, which some cases contain."""
    print(text.encode("utf-8", "backslashreplace").decode(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
