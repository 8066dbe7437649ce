"""Bad inputs of a QA run, from the files to the report: each has one clear message, and nothing is lost unseen."""

from __future__ import annotations

import functools
import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.compare_reference import load_json
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import replace_quarantine_path

RUN = ROOT / "golden" / "cometbft" / "run"
HEAD = "experiment_id,block_time,duration_ns,tx_hash,connections,rate,size"


@functools.cache
def read_saved_answer() -> str:
    return gzip.decompress((RUN / "prom" / "raw_all_5s.json.gz").read_bytes()).decode()


@functools.cache
def read_sent_rows() -> tuple[str, ...]:
    """Return the rows of the load report."""
    header, *rows = gzip.decompress((RUN / "report" / "raw_node0.csv.gz").read_bytes()).decode().splitlines()
    assert header == HEAD
    return tuple(rows)


def create_run(folder: Path, samples: str | None = None, rows: str | None = None) -> Path:
    """Create a run with other samples, or another load report."""
    for name, text in (
        ("prom/raw.json", samples or read_saved_answer()),
        ("report/raw.csv", rows or format_table(*read_sent_rows())),
    ):
        place = folder / "run" / name
        place.parent.mkdir(parents=True)
        place.write_text(text, encoding="utf-8")
    facts = load_json(RUN / "meta.json")
    del facts["experiments"]  # otherwise it lists experiments that the changed report lacks
    (folder / "run" / "meta.json").write_text(json.dumps(facts), encoding="utf-8")
    return folder / "run"


def format_table(*rows: str, header: str = HEAD) -> str:
    return "\n".join([header, *rows, ""])


def build(run: Path, cache: Path) -> CommandResult:
    return run_assay("build", "cometbft/qa", "--run", run, "-o", run.parent / "out", "--cache", cache)


def read_refusal(run: Path, cache: Path) -> str:
    """Return the error of a run without a report; check that no output remains."""
    result = build(run, cache)
    assert (result.status, result.out) == (1, "")
    assert not (run.parent / "out").exists()
    return result.err.replace(str(run), "RUN")


def change_answer(change: Callable[[dict[str, list[dict[str, Any]]]], None]) -> str:
    """Return the saved answer with series (by name) changed."""
    answer_data = json.loads(read_saved_answer())
    series_by_name: dict[str, list[dict[str, Any]]] = {}
    for item in answer_data["data"]["result"]:
        series_by_name.setdefault(item["metric"]["__name__"], []).append(item)
    change(series_by_name)
    answer_data["data"]["result"] = [item for items in series_by_name.values() for item in items]
    return json.dumps(answer_data)


# Errors


def test_truncated_answer_is_an_error(tmp_path: Path, cache: Path) -> None:
    error_text = read_refusal(create_run(tmp_path, read_saved_answer()[:100_000]), cache)
    assert error_text.startswith(
        "error[not-json]: run run: the response is not JSON: RUN/prom/raw.json\n  at RUN/prom/raw.json:1:"
    )
    assert error_text.endswith("  hint: is the file cut off?\n")


@pytest.mark.parametrize(
    ("kind", "result"), [("vector", [{"metric": {}, "value": [1, "1"]}]), ("scalar", [1, "1"]), ("string", [1, "x"])]
)
def test_answer_of_another_type_is_an_error(tmp_path: Path, cache: Path, kind: str, result: Any) -> None:
    text = json.dumps({"status": "success", "data": {"resultType": kind, "result": result}})
    assert read_refusal(create_run(tmp_path, text), cache) == (
        "error[not-samples]: run run: the response has no series of samples: RUN/prom/raw.json\n"
        "  expected: a result of type matrix\n"
        f"  found:    a result of type {kind}\n"
        "  hint: ask for a selector with a range, such as `up[1h]`, or use `assay fetch prometheus`\n"
    )


def test_two_values_of_a_series_at_an_instant_are_an_error(tmp_path: Path, cache: Path) -> None:
    def duplicate_series(series_by_name: dict[str, list[dict[str, Any]]]) -> None:
        first = series_by_name["cometbft_p2p_peers"][0]
        t, value = first["values"][3]
        series_by_name["cometbft_p2p_peers"].append({**first, "values": [[t, str(float(value) + 1)]]})

    error_text = read_refusal(create_run(tmp_path, change_answer(duplicate_series)), cache)
    assert error_text.startswith("error[samples-differ]: run run: 1 instant of a series has two samples that differ\n")
    assert error_text.endswith("  hint: are these samples of two servers, or of two runs?\n")


def test_load_report_with_a_missing_column_is_an_error(tmp_path: Path, cache: Path) -> None:
    text = format_table(*read_sent_rows()[:5], header=HEAD.replace("duration_ns", "duration"))
    assert read_refusal(create_run(tmp_path, rows=text), cache) == (
        "error[no-column]: run run: the table has no column duration_ns: RUN/report/raw.csv\n"
        "  expected: duration_ns\n"
        "  found:    experiment_id, block_time, duration, tx_hash, connections, rate, size\n"
        "  hint: did you mean `duration`? name the column in field `duration_ns` of event `loaded`, or make the "
        "field `S.event.optional` if some runs lack it\n"
    )


def test_load_report_without_a_transaction_is_an_error(tmp_path: Path, cache: Path) -> None:
    assert read_refusal(create_run(tmp_path, rows=format_table()), cache) == (
        "error[nothing-recognised]: run run: the files of `load` have no rows\n  hint: did the run record anything?\n"
    )


def test_load_report_with_too_many_broken_rows_is_refused(tmp_path: Path, cache: Path) -> None:
    rows = [row.replace(row.split(",")[2], "soon") for row in read_sent_rows()[:11]]
    error_text = read_refusal(create_run(tmp_path, rows=format_table(*rows, *read_sent_rows()[11:2000])), cache)
    places = [67, 68 + len(rows[0]), 69 + len(rows[0] + rows[1])]
    assert replace_quarantine_path(error_text) == (
        "error[too-many-broken-lines]: run run: 11 of the 2000 rows are malformed\n"
        "  expected: at most 10\n"
        "  found:    11\n"
        f'  note: report/raw.csv:2, byte {places[0]}: field duration_ns of loaded: expected an integer, found "soon"\n'
        f'  note: report/raw.csv:3, byte {places[1]}: field duration_ns of loaded: expected an integer, found "soon"\n'
        f'  note: report/raw.csv:4, byte {places[2]}: field duration_ns of loaded: expected an integer, found "soon"\n'
        "  note: all of them, with file, line, offset, reason and text, are in QUARANTINE\n"
        "  hint: the limit is `quarantine` in the definition of the source\n"
    )


# Warnings


def insert_odd_values(series_by_name: dict[str, list[dict[str, Any]]]) -> None:
    """Insert a NaN, an infinity and a text among values; put samples out of order; repeat a series."""
    peers = next(item for item in series_by_name["cometbft_p2p_peers"] if item["metric"]["job"] == "validator0")
    peers["values"][20][1], peers["values"][30][1] = "NaN", "+Inf"
    rounds = series_by_name["cometbft_consensus_rounds"]
    rounds[0]["values"].reverse()
    rounds.append(rounds[1])
    load1 = series_by_name["node_load1"][0]
    load1["values"][7][1] = "high"


@pytest.fixture(scope="module")
def odd_build(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Path, CommandResult]:
    """Build the report of a run with every input that causes a warning, not an error."""
    first = read_sent_rows()[0]
    rows = [first.replace(first.split(",")[2], "soon"), *read_sent_rows()[1:]]
    run = create_run(tmp_path_factory.mktemp("odd"), change_answer(insert_odd_values), format_table(*rows))
    return run.parent / "out", build(run, cache)


def test_odd_values_are_counted_with_warnings(odd_build: tuple[Path, CommandResult]) -> None:
    out, result = odd_build
    assert result.status == 0, result.err
    rows = read_points(out, "rows peer_count")
    odd_values = [row["value"] for row in rows if not math.isfinite(row["value"])]
    assert {str(value) for value in odd_values} == {"inf", "nan"}
    assert result.err.splitlines() == [
        "warning: Run run has no records of source nodes (logs of the nodes, as JSON lines: "
        '`log_format = "json"` in config.toml), so tables of metrics leave out: Block interval, Catching up, Errors.',
        # the repeated series begins again in the middle of the file, so it is out of order, too
        "warning: 0.38.17: samples of 2 series were out of order, and are sorted",
        f"warning: 0.38.17: {count_rounds(1)} samples have duplicates with equal values, and are counted once",
        "warning: 0.38.17: 2 broken records left out; the first is report/raw.csv:2: "
        'field duration_ns of loaded: expected an integer, found "soon".',
        f"warning: 0.38.17: peer_count: {len(odd_values)} of {len(rows)} values are not finite and not "
        "drawn (validator0 127.0.0.1:26660).",
    ]
    (recorded_run,) = load_json(out / "provenance.json")["content"]["runs"]
    assert recorded_run["quarantined"] == [{"host": "", "lines": 1}, {"host": "", "lines": 1}]


def read_points(out: Path, name: str) -> list[dict[str, Any]]:
    """Read the rows of a series from the file that results.json names."""
    file = load_json(out / "results.json")["rows"]["run"][name]["file"]
    result = duckdb.sql(f"SELECT * FROM read_parquet('{out / file}')")
    return [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]


def count_rounds(index: int) -> int:
    """Count the samples of a series of rounds."""
    series = [item for item in json.loads(read_saved_answer())["data"]["result"]
              if item["metric"]["__name__"] == "cometbft_consensus_rounds"]  # fmt: skip
    return len(series[index]["values"])


def test_infinite_and_nan_values_are_not_drawn(odd_build: tuple[Path, CommandResult]) -> None:
    plots = [plot for gallery in load_json(odd_build[0] / "document.json")["parts"] for plot in gallery["plots"]]
    figures = [plot for plot in plots if plot and plot["id"].endswith("peer_count")]
    assert figures
    # a point without a value breaks a line
    assert all(y is None or math.isfinite(y) for plot in figures for _, _, y in plot["rows"])
    rows = read_points(odd_build[0], "rows peer_count")
    assert sum(not math.isfinite(row["value"]) for row in rows) == 10
    for plot in figures:
        drawn_lines = {
            line: {x for name, x, y in plot["rows"] if name == line and y is not None}
            for line in ("validator0", "validator1", "mean")
        }
        assert drawn_lines["validator0"] == drawn_lines["mean"] <= drawn_lines["validator1"]


def test_unordered_and_repeated_samples_have_answered_values(odd_build: tuple[Path, CommandResult]) -> None:
    answered_series = json.loads(gzip.decompress((RUN / "prom" / "qr_5s_rounds.json.gz").read_bytes()))["data"][
        "result"
    ]
    expected_values = {
        (item["metric"]["job"], t): float(value) for item in answered_series for t, value in item["values"]
    }
    rows = read_points(odd_build[0], "rows round_count")
    assert len(rows) > 1000
    assert all(expected_values[row["job"], row["t_ns"] // 10**9] == row["value"] for row in rows)


def test_window_with_one_sample_has_no_rate(tmp_path: Path, cache: Path) -> None:
    def keep_one_value(series_by_name: dict[str, list[dict[str, Any]]]) -> None:
        for item in (item for items in series_by_name.values() for item in items):
            item["values"] = item["values"][50:51]

    result = build(
        create_run(
            tmp_path, change_answer(keep_one_value), format_table(*read_sent_rows()[:1], *read_sent_rows()[-50:])
        ),
        cache,
    )
    assert (result.status, [line for line in result.err.splitlines() if " has no value: " in line]) == (
        0,
        [
            f"warning: 0.38.17: {name} has no value: no line has {expected_cell} of any step."
            for name, expected_cell in (
                ("block_rate", "two samples within 20 s"),
                ("eph_heights", "a sample"),
                ("total_txs_rate", "two samples within 20 s"),
            )
        ],
    )
    tables = [table for part in load_json(tmp_path / "out" / "document.json")["parts"] for table in part["tables"]]
    latencies = next(item for item in tables if item["title"] == "Latencies of the experiments")
    duration = int(read_sent_rows()[0].split(",")[2])
    first = next(row for row in latencies["rows"] if row[0] == "1")
    assert [float(text) for text in first[3:6]] == [pytest.approx(duration / 10**9, rel=1e-3)] * 3
    assert first[6:] == ["—", "0"]
