"""Compute the performance harness's numbers of a nodeos log in plain Python."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise

RECEIVED = re.compile(r"\] (Received|Produced) block (\w+)\.\.\. #(\d+) @ \S+ signed by (\S+) \[trxs: (\d+),(.*)\]$")
WHOLE_TURN = 12
Value = int | float | None


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the log; None for figures that older versions do not write."""

    number: int
    producer: str
    transactions: int
    net: int | None = None
    cpu: int | None = None
    elapsed: int | None = None
    time: int | None = None
    latency: int | None = None


def parse_blocks(lines: Sequence[str]) -> list[Block]:
    """Return the blocks of a log in order."""
    blocks = []
    for line in lines:
        if match := RECEIVED.search(line):
            figures = {
                key: int(value) for key, value in re.findall(r"(net|cpu|elapsed|time|latency): (-?\d+)", match[6])
            }
            blocks.append(Block(int(match[3]), match[4], int(match[5]), **figures))
    return blocks


def find_window(blocks: Sequence[Block], drop: int) -> tuple[int, int, list[Block]]:
    """Return the numbers of leading and trailing empty blocks of a test, and the analysed blocks."""
    leading = 0
    while leading < len(blocks) - 1 and blocks[leading].transactions == 0:
        leading += 1
    trailing = 0
    while trailing < len(blocks) - leading - 1 and blocks[-1 - trailing].transactions == 0:
        trailing += 1
    return leading, trailing, list(blocks[leading + drop : max(0, len(blocks) - trailing - drop)])


def compute_statistics(name: str, values: Sequence[int]) -> dict[str, Value]:
    """Return least, greatest, average and population deviation of integers; None for no integers."""
    if not values:
        return {f"{name}_{figure}": None for figure in ("min", "max", "avg", "sigma")}
    mean = Fraction(sum(values), len(values))
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    return {
        f"{name}_min": min(values), f"{name}_max": max(values), f"{name}_avg": float(mean),
        f"{name}_sigma": math.sqrt(variance),
    }  # fmt: skip


def compute_turns(blocks: Sequence[Block]) -> dict[str, Value]:
    """Return figures of producers' turns: all whole ones, and inner incomplete ones."""
    sizes = [len(list(group)) for _, group in groupby(blocks, key=lambda block: block.producer)]
    turn_sizes = [size for index, size in enumerate(sizes) if size == WHOLE_TURN or 0 < index < len(sizes) - 1]
    return {
        "production_windows_total": len(turn_sizes),
        "production_windows_average_size": sum(turn_sizes) / len(turn_sizes) if turn_sizes else None,
        "production_windows_missed": sum(size != WHOLE_TURN for size in turn_sizes),
    }


def compute_harness_figures(blocks: Sequence[Block], start: int = -1, end: int = -1, drop: int = 0) -> dict[str, Value]:
    """Return all figures of a log by metric id."""
    test = [block for block in blocks if start <= block.number and (end < 0 or block.number <= end)]
    leading, trailing, analysed = find_window(test, drop)
    tps = [a.transactions + b.transactions for a, b in pairwise(analysed)] or [b.transactions for b in analysed]
    started_blocks = analysed[:-1] if len(analysed) > 1 else analysed
    measured = {
        name: [value for block in analysed if (value := getattr(block, key)) is not None]
        for name, key in {
            "block_size": "net", "block_cpu": "cpu", "block_elapsed": "elapsed", "block_time": "time",
            "block_latency": "latency",
        }.items()
    }  # fmt: skip
    return {
        "first_block": blocks[0].number,
        "last_block": blocks[-1].number,
        "total_blocks": len(blocks),
        "setup_blocks": sum(block.number < start for block in blocks),
        "tear_down_blocks": sum(block.number >= start and 0 <= end < block.number for block in blocks),
        "leading_empty_blocks": leading,
        "trailing_empty_blocks": trailing,
        "analysed_blocks": len(analysed),
        "num_blocks": len(analysed),
        **compute_statistics("tps", tps),
        "tps_empty_blocks": sum(block.transactions == 0 for block in started_blocks),
        "block_size_empty_blocks": sum(block.net == 0 for block in analysed),
        **{
            figure: value
            for name, values in measured.items()
            for figure, value in compute_statistics(name, values).items()
        },
        **compute_turns(test),
        **{f"total_{name}": _compute_total(test, key) for name, key in TOTALS.items()},
    }


TOTALS = {
    "transactions": "transactions", "net": "net", "cpu": "cpu", "elapsed": "elapsed", "time": "time",
    "latency": "latency",
}  # fmt: skip


def _compute_total(test: Sequence[Block], key: str) -> int | None:
    values = [value for block in test if (value := getattr(block, key)) is not None]
    return sum(values) if values else None
