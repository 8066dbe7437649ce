"""`assay compare`: averages, changes and verdicts of runs in the terminal."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.util.escape import measure_width
from tests.compare_reference import CARDANO
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.terminals import run_on_terminal

RUNS = (f"10.5={CARDANO / 'baseline' / 'run'}", f"10.6={CARDANO / 'candidate' / 'run'}")
METRICS = ("--metric", "cdfPeerFetch", "--metric", "CentiCpu", "--metric", "Heap", "--metric", "cdfForgerLgrView")


def compare(cache: Path, *options: str | Path, runs: tuple[str, ...] = RUNS, cwd: Path = ROOT) -> CommandResult:
    return run_assay("--cache", cache, "compare", *runs, *options, cwd=cwd)


TABLE = """\
10.6 against 10.5: 2 worse, 0 better, 1 same within 2 %, 1 cannot tell

                            10.5              10.6            Δ%  95 % interval  verdict              n
Resource Usage
  Process CPU usage       7.53 %   ±33 %    9.86 %   ±13 %   +31  +12 … +52      worse             7200
  RTS heap size         6.45 GiB  ±1.3 %  6.45 GiB  ±1.3 %     0  exact          same              7200
Forging
  Acquired ledger view   29.4 µs  ±7.6 %   43.6 µs   ±11 %   +48  +33 … +65      worse          56 / 64
Individual peer propagation
  Fetch duration         59.3 ms   ±22 %   56.7 ms   ±28 %  -4.3  -38 … +47      cannot tell  275 / 315

56 units of time are few: 17 batches (Acquired ledger view, Fetch duration).
Intervals hold what varies within these runs (batches of time, hosts). How much a run differs from the next is not \
known: there are too few repeats.
"""


def test_table_is_grouped_by_the_sections_of_the_report(cache: Path) -> None:
    result = compare(cache, *METRICS)
    assert result == CommandResult(0, TABLE, "report: cardano/comparison; filters: unitary; average: published\n")


def test_each_run_is_compared_with_the_first(cache: Path) -> None:
    options = ("--metric", "Process CPU usage", "--format", "csv")
    runs = (*RUNS, f"again={CARDANO / 'baseline' / 'run'}")
    result = compare(cache, *options, runs=runs)
    assert result.status == 0
    assert "again has the raw files of 10.5, byte for byte: a run is compared with itself" in result.err
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [(row["base"], row["run"], row["verdict"]) for row in rows] == [
        ("10.5", "10.6", "worse"), ("10.5", "again", "same"),
    ]  # fmt: skip
    assert rows[0]["base_value"] == rows[1]["value"] == repr(7.534305555555555)


def test_json_has_unrounded_numbers(cache: Path) -> None:
    data = compare(cache, *METRICS, "--format", "json").parse_json()
    assert (data["report"], data["base"], data["level"]) == ("cardano/comparison", "10.5", 0.95)
    assert [item["metric"] for item in data["changes"]] == ["CentiCpu", "Heap", "cdfForgerLgrView", "cdfPeerFetch"]
    view = data["changes"][2]
    assert (view["name"], view["unit"], view["base_size"], view["size"]) == ("Acquired ledger view", "s", 56, 64)
    assert view["value"] == pytest.approx(4.36e-5, rel=0.01)
    assert [round(view[name]) for name in ("percent", "low", "high", "base_spread")] == [48, 33, 65, 8]


def test_markdown_has_a_table_for_each_section(cache: Path) -> None:
    lines = compare(cache, *METRICS, "--format", "markdown").out.splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "## 10.6 against 10.5", "### Resource Usage", "### Forging", "### Individual peer propagation",
    ]  # fmt: skip
    assert "| Acquired ledger view | 29.4 µs | ±7.6 % | 43.6 µs | ±11 % | +48 | +33 … +65 | worse | 56 / 64 |" in lines


@pytest.mark.parametrize(("name", "is_colored"), [("NO_COLOR", False), ("ANY", True)])
def test_verdicts_have_colors_on_a_terminal(cache: Path, name: str, is_colored: bool) -> None:
    """The verdicts are words in any case."""
    words = ("--cache", cache, "compare", *RUNS, *METRICS)
    status, output = run_on_terminal(words, "stdout", TERM="xterm", COLUMNS="90", **{name: "1"})
    assert status == 0
    (line,) = [line for line in output.splitlines() if "Process CPU usage" in line]
    assert ("\x1b[31m" in line, "worse" in line) == (is_colored, True)


def test_metric_without_time_has_a_change_without_verdict(cache: Path) -> None:
    result = compare(cache, "--metric", "cdfBlocksPerHost")
    (row,) = [line.split() for line in result.out.splitlines() if line.startswith("  Blocks per host ")]
    assert row[3:] == ["9.67", "blocks", "11.0", "blocks", "+14", "—", "no", "interval", "6"]
    assert "Intervals" not in result.out


def test_report_of_a_workspace_is_the_default(tmp_path: Path) -> None:
    assert run_assay("init", tmp_path / "place").status == 0
    result = compare(tmp_path / "cache", runs=("runs/1.0", "runs/1.1"), cwd=tmp_path / "place")
    assert result.status == 0, result.err
    assert result.out.startswith("1.1 against 1.0: ")
    assert [line for line in result.out.splitlines() if line in ("Times", "Sizes")] == ["Times", "Sizes"]
    assert result.err == "report: service/comparison; filters: none; average: requests\n"


def test_run_as_an_option_is_refused_with_a_hint(cache: Path) -> None:
    result = compare(cache, "--run", RUNS[1], runs=RUNS[:1])
    assert (result.status, result.err.splitlines()[-1]) == (
        2, "Error: No such option '--run'. Runs are arguments: assay compare BASE CANDIDATE."
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "runs", "code"),
    [
        ((), RUNS[:1], "runs"),
        (("--metric", "nothing"), RUNS, "unknown-metric"),
        (("--report", "cardano/nothing"), RUNS, "unknown-report"),
        (("--report", "cardano/history"), RUNS, "unknown-report"),
        (("--summary", "nothing"), RUNS, "unknown-summary"),
        ((), (RUNS[0], "nowhere"), "no-run"),
        ((), (RUNS[0].removeprefix("10.5="),) * 2, "run-name"),
    ],
)
def test_usage_errors_are_named(cache: Path, options: tuple[str, ...], runs: tuple[str, ...], code: str) -> None:
    result = compare(cache, *options, runs=runs)
    assert (result.status, result.out) == (2, "")
    assert f"error[{code}]" in result.err


def test_runs_of_another_system_are_refused_with_the_files_that_it_needs(cache: Path) -> None:
    result = compare(cache, "--system", "antelope")
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("error[no-source]: ")
    assert "hint: pass the directory of a run of antelope" in result.err


@pytest.mark.parametrize("columns", [12, 30, 50, 70, 84, 100, 140])
def test_table_fits_the_terminal(cache: Path, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are whole, but for names; those without room are below their row."""
    whole = compare(cache, *METRICS).out.splitlines()
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(sys.modules["assay.cli.compare"], "sys", terminal)
    monkeypatch.setenv("NO_COLOR", "1")
    lines = compare(cache, *METRICS).out.splitlines()
    longest_word = max(len(word) for line in whole for word in line.split())
    assert max(map(measure_width, lines)) <= max(columns, longest_word + 2)
    words_of_rows = Counter(word.strip(";") for line in lines for word in line.split())
    assert not Counter(word for line in whole for word in line.split()) - words_of_rows


def test_segments_are_sorted_by_change(tmp_path: Path) -> None:
    """Each metric is before its segments, of which the one that became worst is the first, in all forms."""
    assert run_assay("init", tmp_path / "place").status == 0
    words = ("--by", "host", "--format", "csv")
    result = compare(tmp_path / "cache", *words, runs=("runs/1.0", "runs/1.1"), cwd=tmp_path / "place")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["metric"] for row in rows] == [
        *("wait", "wait[host=web-2]", "wait[host=web-1]"), *("work", "work[host=web-1]", "work[host=web-2]"),
        *("response_size", "response_size[host=web-1]", "response_size[host=web-2]"),
    ]  # fmt: skip
