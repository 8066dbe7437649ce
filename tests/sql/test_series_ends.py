"""Ends of lines, and counters that begin anew, from the files of a run to a report's rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compare_reference import load_json
from tests.support.commands import run_assay
from tests.support.result_rows import read_result_rows

START = 1_767_225_600  # the first of January 2026
UPGRADE = 60
FACTS = {"upgrade": "2026-01-01T00:01:00Z", "rate_window_seconds": 10, "state": {"device": "sda"}}
#: a counter that grows by 1000 a second and restarts at 87; gauges beside it
SAMPLE_TIMES = [*range(81), *range(87, 121)]
LABELS = {"job": "n", "instance": "h"}
Samples = dict[str, list[tuple[int, str]]]


def format_counter(t: int) -> str:
    return str(5_000_000 + 1000 * t if t <= 80 else 1000 * (t - 86))


def record_samples() -> Samples:
    written_samples = [(t, format_counter(t)) for t in SAMPLE_TIMES] + [(81, "NaN")]
    return {
        "node_disk_written_bytes_total": sorted(written_samples),
        "node_memory_MemTotal_bytes": sorted([*((t, "4e9") for t in SAMPLE_TIMES), (81, "NaN")]),
        "node_memory_MemAvailable_bytes": sorted([*((t, "1e9") for t in SAMPLE_TIMES), (81, "NaN")]),
    }


def get_labels(name: str) -> dict[str, str]:
    return LABELS | ({"device": "sda"} if "disk" in name else {})


def format_dump(samples: Samples) -> str:
    """Format samples as `promtool tsdb dump` does."""
    return "".join(
        f"{{{head}}} {value} {1000 * (START + t)}\n"
        for name, values in samples.items()
        for head in [", ".join(f'{key}="{text}"' for key, text in {"__name__": name, **get_labels(name)}.items())]
        for t, value in values
    )


def format_answer(samples: Samples) -> str:
    """Format samples as an answer of a server."""
    result = [
        {"metric": {"__name__": name, **get_labels(name)}, "values": [[START + t, value] for t, value in values]}
        for name, values in samples.items()
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def build_report(folder: Path, file: str, text: str, cache: Path) -> tuple[Path, str]:
    """Build the report of a run of one file of samples; return it with the warnings."""
    run = folder / "run"
    (run / file).parent.mkdir(parents=True)
    (run / "meta.json").write_text(json.dumps(FACTS), encoding="utf-8")
    (run / file).write_text(text, encoding="utf-8")
    result = run_assay("build", "antelope/upgrade", "--run", run, "-o", folder / "out", "--to", "md", "--cache", cache)
    assert result.status == 0, result.err
    return folder / "out", result.err


def read_steps(out: Path, name: str) -> dict[int, float]:
    rows = read_result_rows(out)[f"rows {name}"]
    return {row["t_ns"] // 10**9 - START: row["value"] for row in rows}


def read_rules(out: Path) -> dict[str, str]:
    """Return the result of each rule in the report, by metric."""
    galleries = load_json(out / "document.json")["parts"]
    (table,) = (item for part in galleries for item in part["tables"] if item["title"].startswith("Expectations"))
    return {row[0]: row[-1] for row in table["rows"]}


def test_nan_in_a_dump_ends_a_gauge_and_hides_no_restart(tmp_path: Path, cache: Path) -> None:
    out, warned = build_report(tmp_path, "raw.om", format_dump(record_samples()), cache)
    assert "no number" not in warned
    assert "below 0" not in warned
    memory = read_steps(out, "memory_used_series")
    assert set(memory) == set(SAMPLE_TIMES)
    rates = read_steps(out, "disk_write_series")
    assert min(rates.values()) > 0
    # the window from 79 to 89 has samples on both sides of the restart, and near both of its ends
    assert rates[89] == pytest.approx((5_080_000 - 5_079_000 + 3000) / 10, rel=1e-9)
    assert read_rules(out)["Disk write rate, kB/s"] == "no"


def test_negative_rate_is_warned_of_and_nan_is_not_judged(tmp_path: Path, cache: Path) -> None:
    """A NaN between two values of a counter hides its restart; a server stores NaN as the target sends it."""
    out, warned = build_report(tmp_path, "prom/raw.json", format_answer(record_samples()), cache)
    assert min(value for value in read_steps(out, "disk_write_series").values() if isinstance(value, float)) < 0
    assert (
        "warning: run, after: disk_write_series: the rate of n, h, sda is below 0 at 4 of its steps: either a sample "
        "that is not a number hides a reset of the counter, or samples are below 0.\n"
    ) in warned
    assert "warning: after: disk_writes_per_year has no value: disk_write_rate is not a finite number.\n" in warned
    assert read_rules(out)["Disk write rate, kB/s"] == "data lost"


def test_constant_counter_has_a_rate_of_zero(tmp_path: Path, cache: Path) -> None:
    still = record_samples() | {"node_disk_written_bytes_total": [(t, "5000000") for t in SAMPLE_TIMES]}
    out, warned = build_report(tmp_path, "raw.om", format_dump(still), cache)
    rates = read_steps(out, "disk_write_series")
    assert (set(rates.values()), "below 0" in warned) == ({0.0}, False)
