"""Test workspaces proposed for numbers that have their unit behind them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.commands import run_assay

SPEEDS = [("1.5MB/s", 1500.0), ("900kB/s", 900.0), ("2.25MB/s", 2250.0), ("870kB/s", 870.0), ("910 kB/s", 910.0)]
ROWS = [
    {
        "time": f"2026-03-02T09:{index // 60:02}:{index % 60:02}Z",
        "disk": SPEEDS[index % 5][0],
        "cpu": f"{40 + index % 7}.5%",
        "per_block": f"{42 + index % 3}.69ms/blk",
        "requests": f"{12 + index % 9} req/s",
        "wait": f"{1 + index % 3}.5 s" if index % 2 else f"{300 + index} ms",
    }
    for index in range(60)
]
#: metric -> its unit and values
EXPECTED: Mapping[str, tuple[str, Sequence[float]]] = {
    "disk": ("kB/s", [SPEEDS[index % 5][1] for index in range(60)]),
    "cpu": ("%", [40.5 + index % 7 for index in range(60)]),
    "per_block": ("ms", [42.69 + index % 3 for index in range(60)]),
    "requests": ("/s", [12 + index % 9 for index in range(60)]),
    "wait": ("ms", [1500 + 1000 * (index % 3) if index % 2 else 300 + index for index in range(60)]),
}


def _write_csv(rows: Sequence[Mapping[str, str]]) -> str:
    return "\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)])


def _write_text(rows: Sequence[Mapping[str, str]]) -> str:
    return "\n".join(
        f"{row['time']} INFO disk read {row['disk'].replace(' ', '')}, write {SPEEDS[index % 4][0]}, "
        f"cpu {row['cpu']}, took {row['wait']}"
        for index, row in enumerate(rows)
    )


WRITERS: Mapping[str, Callable[[Sequence[Mapping[str, str]]], str]] = {
    "log.jsonl": lambda rows: "\n".join(map(json.dumps, rows)),
    "log.csv": _write_csv,
}


def _measure(log: Path, text: str, cache: Path, metrics: Sequence[str]) -> list[Mapping[str, object]]:
    log.write_text(f"{text}\n", encoding="utf-8")
    place = log.parent / "service"
    created = run_assay("init", place, "--from", log)
    assert (created.status, created.err) == (0, "")
    run = ("--run", place / "runs/log", "--format", "json")
    answer = run_assay("--cache", cache, "query", *metrics, *run, cwd=place)
    assert (answer.status, answer.err) == (0, "")
    rows: list[Mapping[str, object]] = json.loads(answer.out)
    return rows


@pytest.mark.parametrize("name", WRITERS)
def test_fields_are_converted_from_the_units_behind_their_numbers(name: str, tmp_path: Path, cache: Path) -> None:
    rows = _measure(tmp_path / name, WRITERS[name](ROWS), cache, list(EXPECTED))
    assert [row["unit"] for row in rows] == [unit for unit, _ in EXPECTED.values()]
    averages = [statistics.fmean(values) for _, values in EXPECTED.values()]
    assert [row["average"] for row in rows] == pytest.approx(averages, rel=1e-12)


def test_numbers_of_lines_are_named_by_the_words_before_them(tmp_path: Path, cache: Path) -> None:
    rows = _measure(tmp_path / "log.log", _write_text(ROWS), cache, ["read", "write", "cpu", "duration"])
    assert [row["unit"] for row in rows] == ["kB/s", "kB/s", "%", "ms"]
    averages = [statistics.fmean(EXPECTED[name][1]) for name in ("disk", "cpu", "wait")]
    assert [rows[index]["average"] for index in (0, 2, 3)] == pytest.approx(averages, rel=1e-12)
    assert rows[1]["average"] == pytest.approx(statistics.fmean(speed for _, speed in SPEEDS[:4]), rel=1e-12)


def test_placeholders_among_such_numbers_are_no_values(tmp_path: Path, cache: Path) -> None:
    rows = [{**row, "cpu": "N/A"} if index % 10 == 0 else row for index, row in enumerate(ROWS)]
    (row,) = _measure(tmp_path / "log.jsonl", WRITERS["log.jsonl"](rows), cache, ["cpu"])
    assert (row["unit"], row["size"]) == ("%", 54)
