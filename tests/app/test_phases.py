"""Test phases: a metric of a phase equals the metric of the rows cut by hand, without loss or duplication."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.app.session.phases import FIRST, LAST
from assay.engine.compiled_plan import compile_statements
from assay.engine.graph import build_nodes
from assay.lang.model.expression import Expression
from assay.lang.model.package import Column, Grain, Metric, Unit
from assay.lang.model.vocabulary import SINCE, UNTIL
from assay.plan.planner import FilterStep, build_plan, can_split_by_phase
from assay.plan.request import Request
from assay.sql import dialect, distributions, grains, series
from assay.util.centiles import CENTILES
from tests.compare_reference import load_json
from tests.sql.test_series import SECOND, Samples, compute_points, create_series, fill, generate_samples
from tests.support.commands import run_assay
from tests.support.deep import scale_examples
from tests.support.documents import list_charts, list_sections
from tests.support.laboratory import ROOT, Laboratory
from tests.support.workspaces import copy_workspace, edit_file

BASELINE = ROOT / "golden" / "cardano" / "baseline" / "run"
QA = ROOT / "golden" / "cometbft" / "run"
NONE = Unit("dimensionless", "")
Row = tuple[str, int | None, float | None]
CONNECTION = duckdb.connect()
CONNECTION.execute("SET threads = 1")

# Rows of a grain: random rows, random cuts, compared with plain Python


def _make_grain() -> Grain:
    columns = (Column("host", "text", NONE, ""), Column("when", "instant", NONE, ""), Column("value", "real", NONE, ""))
    return Grain("g", "r", None, ("host",), columns, (), (), (), None, (), "", "when")


def _make_metric(per: str) -> Metric:
    return Metric("m", "", "", "g", Expression("column", name="value"), None, True, None, per, NONE, "neither", 4)


def compute_metric(
    connection: duckdb.DuckDBPyConnection, per: str, since: int, until: int
) -> dict[str, tuple[Any, ...]]:
    """Return size, mean, deviation and centiles of a metric in a phase, by host or ""."""
    grain = _make_grain()
    judging_sql = dialect.to_sql(grains.apply_filters(FilterStep(grain, (), True), {}))
    connection.execute(f"CREATE OR REPLACE TABLE g AS {judging_sql}", {SINCE: since, UNTIL: until})
    query = distributions.build_distribution(_make_metric(per), distributions.get_domain(grain), False, {})
    rows = connection.execute(dialect.to_sql(query)).fetchall()
    return {str(row[0]): row[1:] for row in rows} if per else {"": rows[0]}


def compute_by_hand(values: Sequence[float]) -> tuple[Any, ...]:
    """Compute size, mean, deviation and centiles of some values in plain Python."""
    ordered_values = sorted(values)
    size = len(ordered_values)
    mean = float(sum(map(Fraction, ordered_values)) / size)
    exact = sum((Fraction(value) - Fraction(mean)) ** 2 for value in ordered_values)
    deviation = math.sqrt(exact / (size - 1)) if size > 1 else 0.0
    centiles = [ordered_values[min(math.floor(size * Fraction(c)), size - 1)] for c in CENTILES]
    return size, pytest.approx(mean, rel=1e-12, abs=1e-12), pytest.approx(deviation, rel=1e-9, abs=1e-9), centiles


ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.one_of(st.none(), st.integers(0, 40)),
        st.one_of(st.none(), st.integers(-50, 50).map(lambda n: n / 4)),
    ),
    max_size=30,
)
CUTS = st.lists(st.integers(-2, 42), unique=True, min_size=1, max_size=3).map(sorted)


@settings(max_examples=scale_examples(30), deadline=None)
@given(rows=ROWS, cuts=CUTS, per=st.sampled_from(["", "host"]))
def test_phase_metric_equals_metric_of_rows_cut_by_hand(rows: list[Row], cuts: list[int], per: str) -> None:
    ends = [FIRST, *cuts, LAST]
    sizes = 0
    CONNECTION.execute('CREATE OR REPLACE TABLE g_rows (host TEXT, "when" BIGINT, value DOUBLE)')
    if rows:
        CONNECTION.executemany("INSERT INTO g_rows VALUES (?, ?, ?)", [list(row) for row in rows])
    for since, until in pairwise(ends):
        phase_rows = [row for row in rows if row[1] is not None and since <= row[1] < until]
        actual = compute_metric(CONNECTION, per, since, until)
        hosts = sorted({row[0] for row in phase_rows}) if per else [""]
        assert sorted(actual) == hosts
        for host in hosts:
            values = [value for name, _, value in phase_rows if value is not None and host in ("", name)]
            sizes += len(values)
            assert actual[host] == compute_by_hand(values) if values else not actual[host][0]
    assert sizes == sum(instant is not None and value is not None for _, instant, value in rows)


# Points of series.


@settings(max_examples=scale_examples(30), deadline=None)
@given(
    samples=generate_samples(st.integers(0, 50).map(float)),
    reading=st.sampled_from(["latest", "rate"]),
    window=st.integers(1, 20),
    cuts=st.lists(st.integers(0, 60 * SECOND), unique=True, min_size=1, max_size=2).map(sorted),
)
def test_series_points_of_phases_are_the_points_of_the_run(
    samples: Samples, reading: str, window: int, cuts: list[int]
) -> None:
    series = create_series(reading, window * SECOND)
    whole_points = compute_points(samples, series, 3 * SECOND, 60 * SECOND)
    parts: dict[Any, float] = {}
    ends = [FIRST, *cuts, LAST]
    for since, until in pairwise(ends):
        actual_points = compute_cut_points(samples, series, since, until)
        assert actual_points == {key: value for key, value in whole_points.items() if since <= key[1] < until}
        assert not actual_points.keys() & parts.keys()
        parts |= actual_points
    assert parts == whole_points


def compute_cut_points(samples: Samples, chosen_series: Any, since: int, until: int) -> dict[Any, float]:
    with duckdb.connect() as connection:
        fill(connection, "told", samples)
        connection.execute(f"CREATE TABLE windows AS SELECT 'w' AS id, {3 * SECOND} AS from_ns, {60 * SECOND} AS to_ns")
        text = dialect.to_sql(series.compile_series(chosen_series, ["id"], {}, cut=True))
        rows = connection.execute(text, {SINCE: since, UNTIL: until}).fetchall()
    return {((job, instance), t_ns): value for _, job, instance, t_ns, value in rows}


# A run of a system whose metrics do not support phases.

MID = "2026-02-05T19:02:00Z"
MID_NS = 1770318120 * SECOND
HALVES = ("--phase", "early=..mid", "--phase", "late=mid..", "--at", f"mid={MID}")


def test_sql_of_phase_runs_alone_and_equals_query(cache: Path) -> None:
    run = ("--run", f"run={BASELINE}", "--no-filters", "--at", f"mid={MID}", "--cache", cache)
    text = run_assay("sql", "cdfForgerTicked", "--phase", "early=..mid", *run)
    assert (text.status, text.err) == (0, "")
    with duckdb.connect() as connection:
        cursor = connection.execute(text.out)
        row = dict(zip([item[0] for item in cursor.description or ()], cursor.fetchall()[0], strict=True))
    (answer,) = run_assay("query", "cdfForgerTicked", "--phase", "early=..mid", *run, "--format", "json").parse_json()
    assert row["size"] == answer["size"] > 0
    assert row["mean"] / SECOND == pytest.approx(answer["average"], rel=1e-12)
    whole_run = run_assay("query", "cdfForgerTicked", *run[:3], "--format", "json", "--cache", cache).parse_json()
    assert row["size"] < whole_run[0]["size"]


def test_sql_of_phase_without_run_is_refused(cache: Path) -> None:
    result = run_assay("sql", "cdfForgerTicked", "--phase", "early=..mid", "--at", f"mid={MID}", "--cache", cache)
    assert (result.status, result.out) == (2, "")
    assert result.err == "error[no-run]: --phase needs a run\n  hint: pass --run DIR\n"


def test_phases_do_not_change_metrics_of_block_run(lab: Laboratory, cache: Path) -> None:
    """Blocks, observers and slots of both halves are those of the whole run, divided by hand."""
    names = ["cdfBlockSize", "cdfForgerTicked", "cdfPeerSend", "cdfStarts"]
    result = run_assay(
        "query", *names, "--run", f"run={BASELINE}", "--no-filters", *HALVES, "--format", "json", "--cache", cache
    )
    assert (result.status, result.err) == (0, "")
    figures = {(item["metric"], item["run"]): item for item in result.parse_json()}
    whole_run = lab.examine(BASELINE)
    slot_starts = {
        row["block"]: row["slot_start"] for row in whole_run.query_rows("SELECT block, slot_start FROM block")
    }
    samples = {
        "cdfBlockSize": whole_run.query_rows("SELECT block, size AS value FROM block"),
        "cdfForgerTicked": whole_run.query_rows('SELECT block, (ticked - "leading") / 1e9 AS value FROM block'),
        "cdfPeerSend": whole_run.query_rows(
            "SELECT block, (sending - fetched) / 1e9 AS value FROM observation WHERE accepted AND valid"
        ),
    }
    for name, rows in samples.items():
        rows_with_value = [row for row in rows if row["value"] is not None]
        assert len(rows_with_value) == whole_run.results.metrics[name].size
        for phase in ("early", "late"):
            values = [
                row["value"] for row in rows_with_value if (slot_starts[row["block"]] < MID_NS) == (phase == "early")
            ]
            figure = figures[name, f"run:{phase}"]
            assert values
            assert (figure["size"], figure["average"]) == (
                len(values),
                pytest.approx(statistics.fmean(values), rel=1e-12),
            )
            assert (figure["min"], figure["max"]) == pytest.approx((min(values), max(values)), rel=1e-12)
            assert figure["stddev"] == pytest.approx(statistics.stdev(values), rel=1e-9)
    starts = whole_run.query_rows("SELECT slot_start < ? AS early, count(*) AS n FROM slot GROUP BY 1", MID_NS)
    assert {row["early"]: row["n"] for row in starts} == {
        phase == "early": figures["cdfStarts", f"run:{phase}"]["size"] for phase in ("early", "late")
    }


def test_phase_report_has_columns_and_is_verified(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "out"
    result = run_assay("build", "cardano/comparison", "--run", f"run={BASELINE}", *HALVES, "-o", out, "--cache", cache)
    assert result.status == 0
    document, results = load_json(out / "document.json"), load_json(out / "results.json")
    assert result.err == f"warning: {document['warnings'][0]}\n"
    assert document["warnings"][0].startswith("Left out, because their data cannot be split into phases: ")
    columns = ("", "early", "late", "Δ", "Δ%", "95 %", "Verdict")
    assert {tuple(section["header"]) for section in list_sections(document)} == {columns}
    assert document["manifest"]["header"] == ["", "early", "late"]
    assert document["manifest"]["rows"][-2:] == [["From", "beginning", MID], ["To", MID, "end"]]
    lines = {tuple(item["run"] for item in chart["series"]) for chart in list_charts(document)}
    assert lines == {("early", "late"), ("late",)}  # one metric has no samples in the first half
    assert results["runs"] == [
        {"id": "run:early", "label": "early", "run": "run", "phase": "early", "since_ns": None, "until_ns": MID_NS},
        {"id": "run:late", "label": "late", "run": "run", "phase": "late", "since_ns": MID_NS, "until_ns": None},
    ]
    content = load_json(out / "provenance.json")["content"]
    assert content["options"]["at"] == [f"mid={MID}"]
    assert content["cut_by"] == {"block": "slot_start", "slot": "slot_start"}
    assert [item["phase"] for item in content["phases"]["run"]["phases"]] == ["early", "late"]
    verification = run_assay("verify", out, "--cache", cache)
    assert (verification.status, verification.err) == (0, "")


def test_sql_of_metric_without_phase_covers_whole_run(lab: Laboratory) -> None:
    """Phases are parameters of two tables, so one SQL text serves all phases."""
    package = lab.package.package
    metrics = [metric for metric in package.metrics if can_split_by_phase(package, metric.grain)]
    assert len(metrics) > 50
    whole_sql, cut = (
        {
            node.name: node.text
            for node in build_nodes(
                compile_statements(lab.package, build_plan(package, Request(tuple(metrics)), cut=cut))
            )
        }
        for cut in (False, True)
    )
    assert whole_sql.keys() == cut.keys()
    other = {name for name, text in cut.items() if text != whole_sql[name]}
    assert other == {"block", "slot", "host_slot", "snapshot_record", "snapshot_record_rows"}
    # only phases need the instant of these records
    assert '"at".t_ns AS "at"' in cut["snapshot_record_rows"]
    assert "t_ns" not in whole_sql["snapshot_record_rows"]
    for name in other - {"snapshot_record_rows"}:
        assert cut[name].startswith(whole_sql[name])
        instant = 'base."at"' if name == "snapshot_record" else "base.slot_start"
        assert cut[name].removeprefix(whole_sql[name]).split() == (
            f"WHERE {instant} >= ${SINCE} AND {instant} < ${UNTIL}".split()
        )


def test_phases_of_two_runs_are_side_by_side(cache: Path) -> None:
    """An instant can be set for all runs and overridden for one."""
    runs = ("--run", f"a={QA}", "--run", f"b={QA}")
    instant_options = ("--at", "load=2026-11-21T03:23:00Z", "--at", "b:load=2026-11-21T03:24:00Z")
    result = run_assay(
        "query", "latency", *runs, "--phase", "first=..load", *instant_options, "--format", "json", "--cache", cache
    )
    assert (result.status, result.err) == (0, "")
    sizes = {item["run"]: item["size"] for item in result.parse_json()}
    assert 0 < sizes["a:first"] < sizes["b:first"]


def test_phase_instant_may_come_from_data(tmp_path: Path, cache: Path) -> None:
    """The phases divide at the first transaction of the third experiment."""
    workspace_root = copy_workspace(tmp_path)
    third = """
      P.firstIn "third" r.experiments.name r.column.firstSent "The third experiment begins"
      // { where = S.x.equals (S.grain.fieldColumn r.column.number) (S.x.natural 3) }
    """
    package = workspace_root / "specs" / "cometbft" / "package.dhall"
    edit_file(package, "in  S.Package::{", f"let P = S.phase let third = {third} in S.Package::{{, cuts = [ third ]")
    cut = ("--phase", "first=..third", "--phase", "rest=third..")
    result = run_assay(
        "query", "valid_txs", "--run", f"run={QA}", *cut, "--format", "json", "--cache", cache, cwd=workspace_root
    )
    assert (result.status, result.err) == (0, "")
    assert [(item["run"], item["size"]) for item in result.parse_json()] == [("run:first", 2), ("run:rest", 6)]


def test_transactions_are_cut_by_block_time(cache: Path) -> None:
    cut = ("--phase", "first=..load", "--phase", "rest=load..", "--at", "load=2026-11-21T03:23:00Z")
    result = run_assay(
        "query", "latency", "valid_txs", "--run", f"run={QA}", *cut, "--format", "json", "--cache", cache
    )
    assert (result.status, result.err) == (0, "")
    whole_result = run_assay(
        "query", "latency", "valid_txs", "--run", f"run={QA}", "--format", "json", "--cache", cache
    )
    for metric in ("latency", "valid_txs"):
        parts = [item["size"] for item in result.parse_json() if item["metric"] == metric]
        assert all(parts)
        assert [sum(parts)] == [item["size"] for item in whole_result.parse_json() if item["metric"] == metric]


def test_metric_of_uncut_tables_cannot_be_cut(lab: Laboratory) -> None:
    package = lab.package.package
    cut: Mapping[str, bool] = {grain.name: can_split_by_phase(package, grain.name) for grain in package.grains}
    assert cut == {
        "adoption": True, "block": True, "block_on_host": True, "forging_host": False, "host": True, "host_slot": True,
        "observation": True, "slot": True, "snapshot_record": True, "span": True,
    }  # fmt: skip
