"""Writes `rrddata.json`: what a Proxmox server would have of a virtual machine over seventy minutes.

The keys, their order, the step of a minute and the records without data at both ends are those of
`pvesh get /nodes/NODE/qemu/ID/rrddata --timeframe hour`; the values follow a machine that is busy, is restarted after
forty minutes, and writes little from then on. A fixed seed makes the file the same each time.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

START = 1705951200  # 2024-01-22 19:20 UTC
STEPS, RESTART = 70, 40
GIB = 2**30


def record(number: int, chance: random.Random) -> dict[str, float | int]:
    time = START + 60 * number
    if number in (0, STEPS - 1):
        return {"time": time}
    if number == RESTART:  # a machine that is off has a size, and no load
        return {"time": time, "maxcpu": 8, "maxmem": 64 * GIB, "maxdisk": 500 * GIB, "disk": 0}
    busy = number < RESTART
    return {
        "time": time,
        "cpu": chance.gauss(0.85 if busy else 0.60, 0.02),
        "maxcpu": 8,
        "mem": chance.gauss(52 if busy else 14 + 0.1 * (number - RESTART), 0.05) * GIB,
        "maxmem": 64 * GIB,
        "disk": 0,
        "maxdisk": 500 * GIB,
        "diskread": chance.expovariate(1 / 30_000),
        "diskwrite": chance.gauss(4_000_000, 150_000) if busy else chance.gauss(12_000, 900),
        "netin": chance.gauss(250_000, 8_000),
        "netout": chance.gauss(410_000, 9_000),
    }


if __name__ == "__main__":
    chance = random.Random(20240122)
    records = [record(number, chance) for number in range(STEPS)]
    text = "[\n" + ",\n".join(json.dumps(item) for item in records) + "\n]\n"
    Path(__file__).with_name("rrddata.json").write_text(text, encoding="utf-8")
