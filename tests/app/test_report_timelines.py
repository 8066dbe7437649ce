"""Timelines of reports: they equal what plain Python counts in the log lines, and appear in every form of a report."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import CARDANO
from tests.support.commands import build, run_assay
from tests.support.workspaces import copy_workspace

RUNS = {"baseline": CARDANO / "baseline" / "run", "candidate": CARDANO / "candidate" / "run"}
TITLES = {
    "timeline-transaction_rate": "Accepted transactions, tx/s",
    "timeline-mempool_by_host-mean": "Mempool size, tx",
    "timeline-header_rate": "Headers, events/s",
}
INTERVAL = 10 * 10**9
Points = dict[int, float]


@dataclass(frozen=True)
class Line:
    """A log line with its instant in ns."""

    host: str
    t_ns: int
    name: str
    data: Mapping[str, Any]


def read_lines(run: Path) -> Iterator[Line]:
    for file in sorted(run.glob("*/stdout.gz")):
        for text in gzip.decompress(file.read_bytes()).decode().splitlines():
            if text.startswith("{"):
                record = json.loads(text)
                seconds, fraction = re.fullmatch(r"(.*?)\.?(\d*)Z", record["at"]).groups()  # type: ignore[union-attr]
                begin = int(datetime.fromisoformat(f"{seconds}+00:00").timestamp())
                nanoseconds = begin * 10**9 + int(fraction.ljust(9, "0"))
                yield Line(file.parent.name, nanoseconds, record["ns"], record["data"])


def count_by_interval(run: Path) -> dict[str, Points]:
    """Return the values of each timeline by the number of their interval since the first line of the run."""
    lines = list(read_lines(run))
    begin, end = min(line.t_ns for line in lines), max(line.t_ns for line in lines)
    whole = (end + 1 - begin) // INTERVAL
    accepted: Points = dict.fromkeys(range(whole), 0.0)
    headers: Points = dict.fromkeys(range(whole), 0.0)
    sizes: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        interval = (line.t_ns - begin) // INTERVAL
        if line.name in ("Mempool.AddedTx", "Mempool.RemoveTxs"):
            sizes[interval][line.host].append(line.data["mempoolSize"]["numTxs"])
        if line.name == "TxSubmission.TxInbound.Processed" and interval < whole:
            accepted[interval] += line.data["accepted"] / 10
        if line.name == "ChainSync.Client.DownloadedHeader" and interval < whole:
            headers[interval] += 1 / 10
    means = {
        interval: math.fsum(sum(values) / len(values) for values in hosts.values()) / len(hosts)
        for interval, hosts in sizes.items()
    }
    return dict(zip(TITLES, (accepted, means, headers), strict=True))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return the folder of the built report."""
    out = tmp_path_factory.mktemp("timelines") / "out"
    runs = [f"{name}={run}" for name, run in RUNS.items()]
    result = build(runs, out, cache, "--to", "md", "--to", "html", report="cardano/host-activity")
    assert result.status == 0, result.err
    return out


def get_plots(report: Path) -> dict[str, dict[str, Any]]:
    document = json.loads((report / "document.json").read_text(encoding="utf-8"))
    (gallery,) = (item for item in document["parts"] if item["title"] == "Over time")
    return {plot["id"]: plot for plot in gallery["plots"]}


def test_lines_are_the_counts_of_log_lines(report: Path) -> None:
    """A line for each run, in minutes since its first log line."""
    plots = get_plots(report)
    assert {name: plot["title"] for name, plot in plots.items()} == TITLES
    expected = {name: count_by_interval(run) for name, run in RUNS.items()}
    for name, plot in plots.items():
        assert plot["x_label"] == "time, minutes"
        lines: dict[str, Points] = {label: {} for label in plot["panels"]}
        for line, x, y in plot["rows"]:
            if line is not None and y is not None:
                lines[line][round(x * 60 / 10)] = y
        for values, run_values in zip(lines.values(), expected.values(), strict=True):
            assert values == pytest.approx(run_values[name], rel=1e-12, abs=0)


def test_timelines_are_in_every_form_of_a_report(report: Path) -> None:
    markdown = (report / "report.md").read_text(encoding="utf-8")
    page = (report / "report.html").read_text(encoding="utf-8")
    for name, title in TITLES.items():
        assert f"**Figure {4 + list(TITLES).index(name)}** {title}" in markdown
        assert f"(charts/{name}.svg)" in markdown
        assert (report / "charts" / f"{name}.svg").is_file()
        assert title in page
    _, _, entries = markdown.partition("### Time series\n")
    assert "Count per second in intervals of 10 s, of ChainSync.Client.DownloadedHeader" in entries
    results = json.loads((report / "results.json").read_text(encoding="utf-8"))
    entries_of_files = [item for rows in results["rows"].values() for item in rows.values() if isinstance(item, dict)]
    assert {entry["file"] for entry in entries_of_files} >= {
        f"rows/{run}/{series}.parquet" for run in RUNS for series in ("transaction_rate", "header_rate")
    }
    assert all((report / entry["file"]).is_file() for entry in entries_of_files)


def test_last_interval_is_not_drawn_if_the_end_cuts_it(cache: Path, tmp_path: Path) -> None:
    """The counts of whole intervals are those per second, times ten: the last one is no fall."""
    edit = ("specs/cardano/series.dhall", "unit = U.perSecond U.event", "unit = U.event")
    root = copy_workspace(tmp_path / "workspace", edit)
    runs = [f"baseline={RUNS['baseline']}"]
    result = build(runs, tmp_path / "out", cache, "--to", "md", report="cardano/host-activity", cwd=root)
    assert result.status == 0, result.err
    rows = get_plots(tmp_path / "out")["timeline-header_rate"]["rows"]
    drawn = {round(x * 60 / 10): y for line, x, y in rows if line is not None and y is not None}
    rates = count_by_interval(RUNS["baseline"])["timeline-header_rate"]
    assert drawn == pytest.approx({interval: 10 * rate for interval, rate in rates.items()}, rel=1e-12, abs=0)


def test_values_are_explained_by_their_records(cache: Path) -> None:
    run = RUNS["baseline"]
    highest = max(count_by_interval(run)["timeline-header_rate"].values())
    result = run_assay("explain", "header_rate", "--run", run, "--cache", cache)
    assert result.status == 0, result.err
    text = " ".join(result.out.split())
    assert "the number of records of `header_seen` in whole intervals of 10 s" in text
    assert f"1. {highest:g} events/s" in text
    assert "ChainSync.Client.DownloadedHeader" in text
    assert "cardano/host-activity" in text


def test_reports_of_phases_show_the_time_of_whole_runs(report: Path, cache: Path, tmp_path: Path) -> None:
    phases = ["--at", "mid=2026-02-05T19:00:00Z", "--phase", "early=..mid", "--phase", "late=mid.."]
    result = build(
        [f"baseline={RUNS['baseline']}"], tmp_path, cache, "--to", "md", *phases, report="cardano/host-activity"
    )
    assert result.status == 0, result.err
    plots, of_phases = get_plots(report), get_plots(tmp_path)
    assert of_phases.keys() == plots.keys()
    for name, plot in of_phases.items():
        points = [row for row in plot["rows"] if row[0] is not None]
        assert points == [row for row in plots[name]["rows"] if row[0] == points[0][0]]
