"""Test the numbers of Antelope's performance harness: of a nodeos log, published ones, and reports."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pypdf
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.compare_reference import load_json
from tests.support import harness as plain
from tests.support.commands import CommandResult, run_assay
from tests.support.deep import scale_examples
from tests.support.laboratory import ROOT
from tests.support.outcomes import replace_quarantine_path
from tests.support.result_rows import read_result_rows

RUN = ROOT / "golden" / "antelope" / "harness"
LOG = RUN / "node_01" / "nodeos_log_3_2.txt.gz"
PUBLISHED = ROOT / "golden" / "antelope" / "published"
LINES = gzip.decompress(LOG.read_bytes()).decode().splitlines()
METRICS = tuple(plain.compute_harness_figures(plain.parse_blocks(LINES)))


def create_run(folder: Path, facts: Mapping[str, object], logs: Mapping[str, Sequence[str]] | None = None) -> Path:
    """Create a run with the golden log or other logs, and facts of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    if logs is None:
        (folder / "node_01").mkdir()
        shutil.copy(LOG, folder / "node_01")
    for name, lines in (logs or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def query_values(run: Path, cache: Path, metrics: Sequence[str] = METRICS) -> dict[str, Any]:
    """Query metrics of one row each; messages are warnings."""
    result = run_assay("query", *metrics, "--format", "json", "--run", run, "--cache", cache)
    assert result.status == 0, result.err
    assert all(line.startswith("warning: ") for line in result.err.splitlines()), result.err
    return {row["metric"]: row["average"] if row["size"] else None for row in result.parse_json()}


def assert_equal(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Check that integers are equal, and other numbers to 1e-12."""
    assert actual.keys() == expected.keys()
    exact = {name: value for name, value in expected.items() if not isinstance(value, float)}
    assert {name: actual[name] for name in exact} == exact
    for name in expected.keys() - exact.keys():
        assert actual[name] == pytest.approx(expected[name], rel=1e-12, abs=1e-12), name


# The real log


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    out = tmp_path_factory.mktemp("harness") / "out"
    result = build_article(RUN, out, cache)
    assert (result.status, result.err) == (0, "")
    return out


def build_article(run: Path, out: Path, cache: Path) -> CommandResult:
    return run_assay("build", "antelope/harness", "--run", run, "-o", out, "--cache", cache)


def read_rows(built: Path) -> dict[str, Any]:
    """Return the rows of all listings."""
    (run_id,) = load_json(built / "results.json")["rows"]
    statements = read_result_rows(built, run_id)
    return {name: value for rows in statements.values() if len(rows) == 1 for name, value in rows[0].items()}


def test_statistics_of_real_log_have_known_values(built: Path) -> None:
    actual = read_rows(built)
    expected = {
        "first_block": 2, "last_block": 265, "total_blocks": 264, "total_transactions": 133, "total_net": 105888,
        "total_cpu": 27275, "total_elapsed": 7704, "total_time": 5743400, "total_latency": -9398,
        "leading_empty_blocks": 15, "trailing_empty_blocks": 30, "setup_blocks": 0, "tear_down_blocks": 0,
        "analysed_blocks": 219, "num_blocks": 219, "tps_min": 0, "tps_max": 21, "tps_empty_blocks": 147,
        "block_size_min": 0, "block_size_max": 66920, "block_size_empty_blocks": 147,
    }  # fmt: skip
    assert {name: actual[name] for name in expected} == expected
    assert actual["tps_avg"] == pytest.approx(1.2110091743119267, rel=1e-12)
    assert actual["tps_sigma"] == pytest.approx(3.2256807673357684, rel=1e-12)
    assert actual["block_size_avg"] == pytest.approx(483.5068493150685, rel=1e-12)
    assert actual["block_size_sigma"] == pytest.approx(4582.238297120407, rel=1e-12)


#: start, end, blocks dropped at each end -> values of the harness's own tests for the real log: leading and trailing
#: empty blocks, blocks analysed; least, greatest, average, deviation, empty blocks
HARNESS_TESTS = {
    (105, 257, 0): (103, 8, 12, 22, 119, (1, 1, 1.0, 0.0, 59)),
    (105, 257, 2): (103, 8, 12, 22, 115, (1, 1, 1.0, 0.0, 57)),
    (117, 118, 2): (115, 147, 0, 1, 0, (None, None, None, None, 0)),
    (117, 117, 0): (115, 148, 0, 0, 1, (1, 1, 1.0, 0.0, 0)),
    (80, 81, 0): (78, 184, 0, 0, 2, (3, 3, 3.0, 0.0, 0)),
}


@pytest.mark.parametrize("options", HARNESS_TESTS)
def test_windows_of_real_log_equal_the_harness(options: tuple[int, int, int], tmp_path: Path, cache: Path) -> None:
    start, end, drop = options
    run = create_run(tmp_path / "r", {"testStartBlockNum": start, "testEndBlockNum": end, "configAddlDropCnt": drop})
    actual = query_values(run, cache)
    names = ("setup_blocks", "tear_down_blocks", "leading_empty_blocks", "trailing_empty_blocks", "analysed_blocks")
    *counts, tps = HARNESS_TESTS[options]
    assert [actual[name] for name in names] == counts
    figures = ("tps_min", "tps_max", "tps_avg", "tps_sigma", "tps_empty_blocks")
    assert tuple(actual[name] for name in figures) == tps
    assert_equal(actual, plain.compute_harness_figures(plain.parse_blocks(LINES), start, end, drop))


def test_statistics_of_real_log_equal_plain_python(cache: Path) -> None:
    assert_equal(query_values(RUN, cache), plain.compute_harness_figures(plain.parse_blocks(LINES)))


# Generated logs


NUMBERS = st.one_of(st.just(0), st.integers(0, 9), st.integers(0, 2**40))
BLOCKS = st.builds(
    plain.Block, st.just(0), st.sampled_from("ab"), st.sampled_from([0, 0, 0, 1, 2, 5000]), NUMBERS, NUMBERS, NUMBERS,
    NUMBERS, st.integers(-(10**6), 10**6),
)  # fmt: skip


def format_block_line(block: plain.Block, is_new: bool, is_produced: bool) -> str:
    """Return the log line of a block, as a newer or older version writes it."""
    head = "info  2022-09-08T17:22:36.707 nodeos    producer_plugin.cpp:461       on_incoming_block    ] "
    word = "Produced" if is_produced else "Received"
    figures = f", net: {block.net}, cpu: {block.cpu}, elapsed: {block.elapsed}, time: {block.time}" if is_new else ""
    latency = "" if is_produced else f", latency: {block.latency} ms"
    return (
        f"{head}{word} block 0123456789abcdef... #{block.number} @ 2022-09-08T17:22:35.000 signed by {block.producer} "
        f"[trxs: {block.transactions}, lib: 1, {'confirmed' if is_produced else 'conf'}: 0{figures}{latency}]"
    )


@example([plain.Block(0, "a", number, 0, 0, 0, 0, 0) for number in (0, 0, 0, 1, 0, 0, 0)], "new", False, 5, -1, 2, 0)
@example([plain.Block(0, "a", 1, 0, 0, 0, 0, 0)] * 6, "new", False, 4, 6, 0, 3)
@settings(max_examples=scale_examples(9), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(BLOCKS, min_size=1, max_size=30),
    st.sampled_from(["new", "old", "mixed"]),
    st.booleans(),
    st.integers(-1, 12),
    st.integers(-1, 40),
    st.integers(0, 2),
    st.integers(0, 3),
)
def test_statistics_of_random_logs_equal_plain_python(
    tmp_path_factory: pytest.TempPathFactory,
    cache: Path,
    items: list[plain.Block],
    version: str,
    produced: bool,
    start: int,
    end: int,
    drop: int,
    back: int,
) -> None:
    """`back` is the number of blocks that a fork in the middle takes back and repeats."""
    numbered = [plain.Block(number, *_list_figures(item)) for number, item in enumerate(items, start=2)]
    middle = (len(numbered) + 1) // 2
    numbered[middle:middle] = numbered[max(0, middle - back) : middle]
    is_new = {"new": lambda _: True, "old": lambda _: False, "mixed": lambda n: n % 3 == 0}[version]
    lines = [format_block_line(block, is_new(block.number), produced) for block in numbered]
    facts = {"testStartBlockNum": start, "testEndBlockNum": end, "configAddlDropCnt": drop}
    run = create_run(tmp_path_factory.mktemp("logs") / "r", facts, {"node_00/stderr.txt": ["a", *lines]})
    assert_equal(query_values(run, cache), plain.compute_harness_figures(plain.parse_blocks(lines), start, end, drop))


def _list_figures(block: plain.Block) -> tuple[Any, ...]:
    return (
        block.producer, block.transactions, block.net, block.cpu, block.elapsed, block.time, block.latency,
    )  # fmt: skip


# The rule by which a run passes


def list_published_results() -> list[tuple[str, dict[str, Any]]]:
    """Return every result of the published reports."""
    search = load_json(PUBLISHED / "perf_test_report_sample_trimmed.json")
    reports = [("run", load_json(PUBLISHED / "perf_basic_report_sample_trimmed.json")["Result"])]
    for kind in ("InitialSearchResults", "LongRunningSearchResults"):
        reports += [(f"{kind} {number}", item["basicTestResult"]) for number, item in search[kind].items()]
    return reports


@pytest.mark.parametrize("verdict", dict(list_published_results()).values(), ids=dict(list_published_results()))
def test_rule_gives_every_published_verdict(verdict: dict[str, Any]) -> None:
    actual = judge(
        verdict["resultTxns"],
        verdict["resultAvgTps"],
        verdict["testRunCompleted"],
        verdict["targetTPS"],
        verdict["expectedTxns"],
    )
    words = {True: "yes", False: "no"}
    assert actual["run_completed"] == words[verdict["testRunCompleted"]]
    assert actual["run_successful"] == words[verdict["testRunSuccessful"]]
    assert actual["tps_expectation"] == ("met" if verdict["tpsExpectMet"] else "not met")
    assert actual["trx_expectation"] == ("met" if verdict["trxExpectMet"] else "not met")
    assert (actual["result"], actual["passed"]) == (("pass", 1) if verdict["testPassed"] else ("fail", 0))


def judge(counted: int, tps: float | None, completed: bool, target: int, expected: int) -> dict[str, Any]:
    """Return the relation `verdict` of a run."""
    sql = (ROOT / "queries" / "antelope" / "harness" / "verdict.sql").read_text(encoding="utf-8")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE guide AS SELECT 'n' AS host, ?::BIGINT AS total_transactions", [counted])
        connection.execute("CREATE TABLE tps AS SELECT 'n' AS host, ?::DOUBLE AS tps_avg", [tps])
        facts = {"completed": completed, "target_tps": target, "expected_transactions": expected}
        cursor = connection.execute(sql, facts)
        names = [item[0] for item in cursor.description]
        (row,) = cursor.fetchall()
    return dict(zip(names, row, strict=True))


@pytest.mark.parametrize(
    ("tps", "completed", "target", "expected", "result"),
    [
        (100.0, True, 199, 7, "pass"),
        (100.0, True, 200, 7, "fail"),
        (300.0, True, 100, 7, "pass"),
        (300.0, False, 100, 7, "fail"),
        (300.0, True, 100, 8, "fail"),
        (None, True, 100, 7, "fail"),
        (300.0, True, -1, 7, "not judged"),
        (300.0, True, 100, -1, "not judged"),
        (300.0, False, -1, -1, "fail"),
    ],
)
def test_run_passes_by_three_conditions(
    tps: float | None, completed: bool, target: int, expected: int, result: str
) -> None:
    assert judge(7, tps, completed, target, expected)["result"] == result


# Transactions, forks, drops


def test_generator_transactions_are_summed(tmp_path: Path, cache: Path) -> None:
    sent = [
        "aa,2022-09-30T16:48:13.100,NA,-1,12,767,25,2022-09-30T16:48:13.500Z",
        "bb,2022-09-30T16:48:13.499,NA,-1,12,8,24,2022-09-30T16:48:13.500Z",
        "cc,2022-09-30T16:48:13.200,NA,-1",
        "dd,2022-09-30T16:48:13.968,2022-09-30T16:48:14.000,150,13,20,25,2022-09-30T16:48:14.500Z",
    ]
    run = create_run(
        tmp_path / "r", {}, {"trxGenLogs/trx_data_output_1.txt": sent[:2], "trxGenLogs/trx_data_output_2.txt": sent[2:]}
    )
    expected = {"trx_samples": 3}
    measured = {"trx_cpu": [767, 8, 20], "trx_net": [25, 24, 25], "trx_ack": [-1, -1, 150]}
    for name, numbers in measured.items():
        expected |= plain.compute_statistics(name, numbers)
    expected |= {
        name: value / 1e9
        for name, value in plain.compute_statistics("trx_latency", [400_000_000, 10**6, 532_000_000]).items()
    }
    assert_equal(query_values(run, cache, tuple(expected)), expected)


def test_forks_and_drops_are_listed_by_node(tmp_path: Path, cache: Path) -> None:
    head = "info  2022-09-08T17:22:36.707 nodeos    controller.cpp:4  maybe_switch_forks   ] "
    block = plain.Block(2, "a", 1, 8, 1, 1, 1, 0)
    logs = {
        "node_00/stderr.txt": [
            format_block_line(block, True, True),
            f"{head}switching forks from aa (block number 12) to bb (block number 9)",
            f"{head}switching forks from aa (block number 20) to bb (block number 20)",
        ],
        "node_01/stderr.txt": [format_block_line(block, True, False), f"{head}dropped incoming block #7 id: 00ff"],
    }
    run = create_run(tmp_path / "r", {}, logs)
    assert build_article(run, tmp_path / "out", cache).status == 0
    table = next(v for k, v in read_result_rows(tmp_path / "out", "r").items() if k.startswith("rows node"))
    assert [tuple(row.values()) for row in table] == [
        ("node_00", "4, 1", "", 0, 1, 2, 0), ("node_01", "", "7", 1, 0, 0, 1),
    ]  # fmt: skip
    assert read_rows(tmp_path / "out")["host"] == "node_01"


# The report


def test_report_shows_statistics_and_verdict(built: Path) -> None:
    document = load_json(built / "document.json")
    assert [gallery["title"] for gallery in document["parts"]] == [
        "Throughput", "Blocks of the analysis window",
        "Verdict", "Blocks and the analysis window", "Transactions per second", "Block statistics",
        "Transaction statistics", "Producers and forks",
    ]  # fmt: skip
    tables = {item["title"]: item["rows"] for gallery in document["parts"] for item in gallery["tables"]}
    assert document["manifest"]["rows"][0] == ["Run completed", "yes"]
    assert tables["Result"] == [["node_01", "yes", "met", "met", "yes", "pass", "1", "1.21", "133", "133"]]
    assert tables["TPS"] == [["node_01", "0", "21", "1.21", "3.23", "147"]]
    assert tables["Blocks by phase"] == [["node_01", "0", "15", "219", "0", "30", "0"]]
    assert document["warnings"] == []
    text = " ".join(page.extract_text() for page in pypdf.PdfReader(built / "report.pdf").pages)
    assert "have 1.211 tx/s on average, with a standard deviation of 3.226 tx/s" in re.sub(r"\s+", " ", text)
    assert "Run harness has no records of source generators (records of the transaction generators)" in (
        re.sub(r"\s+", " ", text)
    )


def test_oddities_of_log_are_warnings_of_the_report(tmp_path: Path, cache: Path) -> None:
    lines = [format_block_line(plain.Block(n, "a", 1, 8, 1, 1, 1, 0), n < 5, False) for n in (2, 3, 4, 6)]
    run = create_run(tmp_path / "r", {"configAddlDropCnt": 3}, {"node_00/stderr.txt": lines})
    assert build_article(run, tmp_path / "out", cache).status == 0
    assert load_json(tmp_path / "out" / "document.json")["warnings"] == [
        "run: only 3 of the 4 blocks of node_00 have net, cpu, elapsed and time; an older version logged the others. "
        "Statistics of these fields cover only blocks that have them",
        "run: the log of node_00 has 4 blocks from number 2 to 6, expected 5: blocks are missing or were received more "
        "than once",
        "run: none of the 4 blocks of node_00 is analysed",
        "run: there are no samples of Transactions per second, Latency of a block, Time to validate a block, Time to "
        "apply a block's transactions, Billed CPU time of a block.",
    ]


def test_run_without_logs_is_an_error_that_names_them(tmp_path: Path, cache: Path) -> None:
    run = create_run(tmp_path / "r", {}, {})
    result = build_article(run, tmp_path / "out", cache)
    assert (result.status, result.out, result.err.replace(str(tmp_path), "DIR")) == (
        1,
        "",
        "error[no-source]: report `harness` has nothing to show: each of its parts needs records that a run lacks\n"
        "  expected: files trxGenLogs/trx_data_output_*.txt (Records of the transaction generators); "
        "directories node_* with files stderr*.txt, nodeos*.txt, nodeos*.log (Logs of the nodes; logs of the first "
        "EOSIO versions (`2449775ms thread-0 ...`) have no dates and cannot be read)\n"
        "  found:    DIR/r\n",
    )


def test_log_without_blocks_is_an_error(tmp_path: Path, cache: Path) -> None:
    run = create_run(tmp_path / "r", {}, {"node_00/stderr.txt": LINES[:100]})
    result = build_article(run, tmp_path / "out", cache)
    assert (result.status, result.err) == (
        1,
        "error[nothing-recognised]: run r: none of the 100 log lines of 1 host is an event that the specs know\n"
        f"  note: node_00/stderr.txt:51 is {LINES[50][:99]}…, which source `nodes` reads as "
        "{?{} {} {} {} {}: ?}{?{}|{} | ?}{level} {at} {thread} {file} {function} ] {message...}\n"
        "  hint: are these logs of this system? list the known names with `assay list events`\n",
    )


def test_broken_lines_are_reported_and_fail_above_limit(tmp_path: Path, cache: Path) -> None:
    whole = [format_block_line(plain.Block(n, "a", 1, 8, 1, 1, 1, 0), True, False) for n in range(2, 40)]
    torn = [line.replace("lib: 1", "bil: 1") for line in whole]
    run = create_run(tmp_path / "few", {}, {"node_00/stderr.txt": [*whole, *torn[:10]]})
    assert build_article(run, tmp_path / "out", cache).status == 0
    warning, *_ = load_json(tmp_path / "out" / "document.json")["warnings"]
    assert "10" in warning
    result = build_article(
        create_run(tmp_path / "many", {}, {"node_00/stderr.txt": [*whole, *torn[:11]]}), tmp_path / "no", cache
    )
    reason = 'not the pattern of block: expected ", lib: ", found ", bil: 1, conf: 0, net: ..."'
    assert (result.status, replace_quarantine_path(result.err)) == (
        1,
        "error[too-many-broken-lines]: run many: 11 of the 49 log lines of host node_00 are malformed\n"
        "  expected: at most 10\n"
        "  found:    11\n"
        + "".join(f"  note: node_00/stderr.txt:{39 + n}, byte {9454 + 248 * n}: {reason}\n" for n in range(3))
        + "  note: all of them, with file, line, offset, reason and text, are in QUARANTINE\n"
        + "  hint: the limit is `quarantine` in the definition of the source\n",
    )


def test_only_sources_of_the_run_are_ingested(cache: Path) -> None:
    result = run_assay("ingest", RUN, "--cache", cache)
    assert (result.status, result.err) == (0, "")
    folder = Path(result.out.strip())
    assert {path.name for path in (folder / "events").iterdir()} == {"block", "dropped", "forked"}
