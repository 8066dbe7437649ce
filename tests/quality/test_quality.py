"""Test the detection of missing data, in an invented system and the shipped ones."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import CommandResult, run_assay
from tests.support.documents import list_sections
from tests.support.small import create_small_workspace, write_logs

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "quality"
CASES: Mapping[str, Any] = tomllib.loads((FOLDER / "cases.toml").read_text("utf-8"))
SHIPPED: Mapping[str, Any] = tomllib.loads((FOLDER / "shipped.toml").read_text("utf-8"))
METRICS = ("assumed", "counted", "duration", "heavy", "idle", "loads")
PACKAGE = """sources = [ source "log" ], events = [ began, ended, load, dropped, sampled ],
  relations = [ requests, weights ], grains = [ request, runs, loading ],
  metrics = [ assumed, counted, duration, heavy, idle, loads ],
  coverage = [ S.onSomeHosts sampled, S.dropNotice dropped name // { count = number.name } ]"""


def parse_log(text: str) -> dict[str, list[tuple[float, str, dict[str, object]]]]:
    """Return the records of each host's log that a case writes down."""
    logs: dict[str, list[tuple[float, str, dict[str, object]]]] = {}
    for item in text.replace("\n", " ").split(";"):
        for record in expand_item(item):
            host, name, *rest = record.split()
            log = logs.setdefault(f"h-{host}/log.jsonl", [])
            log.append((len(log) + 1, name, dict(map(parse_field, rest))))
    return logs


def expand_item(item: str) -> Iterator[str]:
    """Yield the records of an item of a log: those of its requests, or the one that it names."""
    head, *rest = item.split()
    if head[0] != "r":
        yield item
        return
    host, request = rest
    number = int(head[1:] or 1)
    for place in range(1, number + 1):
        name = f"{request}{place}" if number > 1 else request
        yield from (f"{host} began {name}", f"{host} load level=5 weight=2", f"{host} ended {name}")


def parse_field(text: str) -> tuple[str, object]:
    """Return a field's name and value: `name=number`, `name=text`, or an id alone."""
    name, _, value = text.rpartition("=")
    return name or "id", int(value) if value.isdigit() else value


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with a run for each case."""
    place = create_small_workspace(
        tmp_path_factory.mktemp("quality"), (FOLDER / "system.dhall").read_text("utf-8"), PACKAGE
    )
    for name, case in CASES.items():
        write_logs(place, name, parse_log(case["log"]))
    return place


@pytest.mark.parametrize("name", CASES)
def test_query_reports_missing_data(place: Path, cache: Path, name: str) -> None:
    run = f"{name}=runs/{name}"
    result = run_assay("query", *METRICS, "--run", run, "--format", "json", "--cache", cache, cwd=place)
    assert check_metrics(result, name, CASES[name]) == [
        re.sub(r"(host |first at |records \()\b(?=[abc]\b)", r"\1h-", item) for item in CASES[name]["says"]
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_query_reports_missing_data_of_shipped_case(cache: Path, name: str) -> None:
    run = f"x={ROOT}/golden/cases/{name}/run"
    result = run_assay("query", *SHIPPED[name]["values"], "--run", run, "--format", "json", "--cache", cache)
    assert check_metrics(result, "x", SHIPPED[name]) == SHIPPED[name]["says"]


def check_metrics(result: CommandResult, run: str, case: Mapping[str, Any]) -> list[str]:
    """Check the values of a run's metrics; return the warnings about it."""
    assert result.status == 0, result.err
    results = {item["metric"]: item for item in json.loads(result.out)}
    for metric, (size, *average) in case["values"].items():
        assert results[metric]["size"] == size
        assert not average or results[metric]["average"] == pytest.approx(average[0], rel=1e-5)
    prefix = f"warning: {run}: "
    return [line.removeprefix(prefix) for line in result.err.splitlines() if line.startswith(prefix)]


def test_report_of_fallback_values_prints_no_number(cache: Path, tmp_path: Path) -> None:
    run, out = ROOT / "golden/cases/cardano/3-no-resources/run", tmp_path / "out"
    result = run_assay(
        "build", "cardano/comparison", "--run", f"x={run}", "--to", "md", "--to", "html", "-o", out, "--cache", cache
    )
    assert result.status == 0
    document = json.loads((out / "document.json").read_text("utf-8"))
    cells = {row[0]: row[1] for section in list_sections(document) for row in section["rows"]}
    assert cells["Process CPU usage, %"] == cells["Kernel RSS, MiB"] == "—"
    (block,) = document["appendices"]
    assert block["title"] == "Data quality"
    assert dict(block["rows"]) == {
        "Hosts": "3", "Lines read": "1194", "Lines used": "1194", "Lines unknown": "0", "Lines malformed": "0",
        "Other lines": "0", "Findings": "2",
    }  # fmt: skip
    quality = json.loads((out / "results.json").read_text("utf-8"))["quality"]["x"]
    (finding, _) = quality["findings"]
    assert finding["code"] == "default-samples"
    assert (finding["affected"], finding["total"]) == (177, 177)
    assert {"CentiCpu", "RSS", "NetRd"} <= set(finding["metrics"])
    *notes, empty_note, unused_note = block["notes"]
    assert notes == [f"x: {item['message']}" for item in quality["findings"]]
    assert empty_note.startswith("x: no sample of cdfSpanLensCpuEpoch, cdfSpanLensCpuRwd: 3 rows of `span`, ")
    assert unused_note.startswith("x: records without use, as one of each key counts: ")
    assert [f"warning: x: {item['message']}" for item in quality["findings"]] == result.err.splitlines()[-2:]
    markdown = (out / "report.md").read_text("utf-8")
    lines = "".join(f"- {item}\n" for item in block["notes"])
    assert f"| Findings | 2 |\n\n{lines}" in markdown.replace("\\_", "_")
    assert "the run has no <code>resources</code> record.</li>" in (out / "report.html").read_text("utf-8")


def test_explain_reports_missing_data(cache: Path) -> None:
    run = ROOT / "golden/cases/cardano/5-ledger-metrics-every-10th-slot/run"
    result = run_assay("explain", "cdfDensity", "--run", run, "--format", "json", "--cache", cache)
    assert result.status == 0, result.err
    assert "162 of 180 values come from a fallback (cdfDensity)" in result.out


@pytest.mark.parametrize(
    ("log", "text", "counts"),
    [
        (
            "ping.log",
            "".join(f"2026-01-05 09:00:0{n} reply in {n}.5 ms\n" for n in range(1, 5))
            + "2026-01-05 09:00:06 \n2026-01-05 09:00:07 app paused\n\n2026-01-05 09:00:08 reply in\n",
            (8, 4, 0, 1, 3),
        ),
        (
            "app.jsonl",
            "".join(f'{{"time":"2026-01-05T09:00:0{n}Z","event":"sent","latency_ms":{n}}}\n' for n in range(1, 5))
            + '{"time":"2026-01-05T09:00:06Z","n":1}\ntext\n\n',
            (7, 5, 0, 0, 2),
        ),
        (
            "app.log",
            "".join(f"time=2026-01-05T09:00:0{n}Z msg=sent latency_ms={n}\n" for n in range(1, 5)) + "text\n\n",
            (6, 4, 0, 0, 2),
        ),
        ("a.csv", "time,latency_ms\n2026-01-05T09:00:01Z,4\n2026-01-05T09:00:02Z,6\n", (2, 2, 0, 0, 0)),
    ],
    ids=["text", "json", "logfmt", "csv"],
)
def test_counts_of_lines_add_up(log: str, text: str, counts: tuple[int, ...], cache: Path, tmp_path: Path) -> None:
    """The report of a proposed workspace has the counts of lines read, used, unknown, malformed and other."""
    (tmp_path / log).write_text(text, encoding="utf-8")
    place = tmp_path / "service"
    assert run_assay("init", place, "--from", tmp_path / log).status == 0
    (run,) = (place / "runs").iterdir()
    out = tmp_path / "out"
    built = run_assay("build", "service/comparison", "--run", run, "--to", "md", "-o", out, "--cache", cache, cwd=place)
    assert built.status == 0, built.err
    (quality,) = json.loads((out / "results.json").read_text("utf-8"))["quality"].values()
    assert tuple(quality["lines"].values()) == counts
    rows = ("read", "used", "unknown", "malformed")
    table = "".join(f"| Lines {name} | {count} |\n" for name, count in zip(rows, counts, strict=False))
    assert f"{table}| Other lines | {counts[-1]} |\n" in (out / "report.md").read_text("utf-8")
