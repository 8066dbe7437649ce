"""Fuzz for some minutes: `python -m fuzz.run --minutes 30`; again one case: `--case NAME:SEED:NUMBER`.

A case depends on its name, its seed and its number alone.  What fails is told with what repeats it, and its bytes are
kept under build/fuzz/.
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

from fuzz.mutate import mutated
from fuzz.targets import TARGETS, attempt

HANGS = 60  # seconds of a case that are too many
SLOW = 20  # of so many cases one is of a slow target
KEPT = Path("build/fuzz")


class Hangs(BaseException):
    """A case that does not end.  No handler of ordinary errors catches it."""


def case(name: str, seed: int, number: int) -> bytes:
    """The bytes of a case."""
    return mutated(Random(f"{name} {seed} {number}"), TARGETS[name].seeds())


def failure(name: str, data: bytes) -> str:
    """What a case does that it may not; empty when it does nothing of that."""

    def hangs(_signal: int, _frame: FrameType | None) -> None:
        raise Hangs(f"it takes longer than {HANGS} s")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(HANGS)
    try:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            attempt(name, Path(folder), data)
    except (Exception, Hangs):
        return traceback.format_exc()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return ""


def cases(names: list[str]) -> Iterator[tuple[str, int]]:
    """Cases without end: the targets take turns, slow ones rarely."""
    for number in itertools.count():
        for name in names:
            if not TARGETS[name].slow or number % SLOW == 0:
                yield name, number


def fuzz(seed: int, seconds: float, names: list[str], tell: Callable[[str], None]) -> int:
    """Try cases for some seconds; how many failed."""
    end, failed, done = time.monotonic() + seconds, 0, 0
    for name, number in cases(names):
        if time.monotonic() > end:
            break
        data = case(name, seed, number)
        done += 1
        if said := failure(name, data):
            failed += 1
            KEPT.mkdir(parents=True, exist_ok=True)
            (KEPT / f"{name}-{seed}-{number}").write_bytes(data)
            tell(f"--- again: python -m fuzz.run --case {name}:{seed}:{number}\n{said}")
    tell(f"{done} cases with seed {seed}, {failed} failed")
    return failed


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", choices=list(TARGETS))
    parser.add_argument("--case")
    given = parser.parse_args()
    if given.case:
        name, seed, number = given.case.split(":")
        said = failure(name, case(name, int(seed), int(number)))
        print(said or "nothing is wrong")
        return bool(said)
    return bool(fuzz(given.seed, given.minutes * 60, given.target or list(TARGETS), told))


def told(text: str) -> None:
    """Print what may hold halves of surrogate pairs, which are what some cases are about."""
    print(text.encode("utf-8", "backslashreplace").decode(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
