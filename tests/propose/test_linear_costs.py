"""Test that proposals cost work in proportion to the longest line of a log, and to lists in lists."""

from __future__ import annotations

import contextlib
import cProfile
import json
import pstats
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from assay.util.diagnostics import AssayError
from assay_propose.propose import propose_system
from assay_propose.samples import read_samples

SIZE = 1500
LIMIT = 2.5  # calls for twice the size, compared with those for the size
LINES = 12
AT = "2026-03-02T09:00:{:02}Z"


def _write_words(size: int, write: Callable[[random.Random, int], str]) -> str:
    """Return lines of text, of which one is long."""
    rng = random.Random(1)
    lines = [f"{AT.format(index)} INFO took {rng.random():.3f} ms" for index in range(LINES)]
    return "\n".join([*lines, f"{AT.format(LINES)} INFO peers " + " ".join(write(rng, index) for index in range(size))])


LOGS: Mapping[str, Callable[[int], str]] = {
    "numbers": lambda size: _write_words(size, lambda rng, _: str(rng.randrange(10**6))),
    "words": lambda size: _write_words(size, lambda rng, _: "".join(rng.choices("abcdefgh", k=6))),
    "durations": lambda size: _write_words(size, lambda rng, _: f"step took {rng.random():.3f}ms"),
    "pairs": lambda size: _write_words(size, lambda rng, index: f"key{index}={rng.random():.3f}"),
    "glued-pairs": lambda size: _write_words(size, lambda rng, index: f"a{index}={rng.random():.2f},b=1"),
    "brackets": lambda size: _write_words(size, lambda rng, _: f"[{rng.randrange(99)}, (x"),
    "one-token": lambda size: _write_words(1, lambda *_: "[" + ",".join(map(str, range(size))) + "]"),
    "closing-marks": lambda size: _write_words(1, lambda *_: "x" + "]" * size + "y"),
    "lists-of-lists": lambda size: json.dumps([[{"id": f"{index}", "n": [[index]]}] for index in range(size)]),
    "lists-of-numbers": lambda size: json.dumps([[index, [index, index]] for index in range(size)]),
    "json-line": lambda size: "\n".join(
        json.dumps({"time": AT.format(index), "ms": index + 0.5, "items": [[index, {"k": n}] for n in range(size)]})
        for index in range(3)
    ),
}  # fmt: skip


def _count_calls(text: str, folder: Path) -> int:
    """Return how many functions are called for the proposal of a log, or for the error that it has none."""
    folder.mkdir()
    log = folder / "server.log"
    log.write_text(text, encoding="utf-8")
    samples, _ = read_samples([log])
    profile = cProfile.Profile()
    profile.enable()
    with contextlib.suppress(AssayError):  # some have no numbers
        propose_system("service", samples)
    profile.disable()
    calls: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return calls


@pytest.mark.parametrize("name", LOGS)
def test_twice_the_longest_line_is_at_most_about_twice_the_work(name: str, tmp_path: Path) -> None:
    calls, calls_of_twice = (_count_calls(LOGS[name](size), tmp_path / str(size)) for size in (SIZE, 2 * SIZE))
    assert calls_of_twice <= LIMIT * calls
