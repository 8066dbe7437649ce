"""Write runs of several nights from a run of the workspace that `assay init` creates."""

from __future__ import annotations

import datetime
import json
import random
from pathlib import Path

FIRST_DAY = datetime.date(2026, 3, 1)


def write_night(source: Path, target: Path, night: int, factor: float = 1.0) -> str:
    """Write the run of a night, which is the source on another day, its times longer by a factor and by noise.

    Returns the day.
    """
    day = FIRST_DAY + datetime.timedelta(days=night)
    noise = random.Random(night)
    of_night = factor * noise.gauss(1, 0.01)  # what all requests of a night have in common
    for file in sorted(source.rglob("*.jsonl")):
        lines, received, now = [], {}, None
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            now = datetime.datetime.fromisoformat(record["time"])
            start = received.setdefault(record["data"]["request"], now)
            moved = start + (now - start) * of_night * noise.gauss(1, 0.02)
            record["time"] = moved.replace(year=day.year, month=day.month, day=day.day).isoformat()
            record["time"] = record["time"].replace("+00:00", "Z")
            lines.append(json.dumps(record))
        new_file = target / file.relative_to(source)
        new_file.parent.mkdir(parents=True, exist_ok=True)
        new_file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (target / "meta.json").write_text(json.dumps({"version": f"night {night + 1}"}), encoding="utf-8")
    return day.isoformat()
