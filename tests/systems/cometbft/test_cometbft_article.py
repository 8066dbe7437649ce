"""Test the QA report of CometBFT: choices, diagonals, figures of an experiment, rotating nodes, several runs, cases."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import load_json
from tests.support.cometbft import (
    RUN,
    SECOND,
    assemble_document,
    change_samples,
    copy_variant,
    keep_transactions,
    select_report_samples,
)
from tests.support.commands import CommandResult, run_assay
from tests.support.workspaces import copy_workspace

PROSE = "specs/cometbft/prose/results.md"
QUOTES = """\
At {{ valid_txs(choice = "chosen", run = "base") }} and {{ valid_txs(choice = "chosen", run = "0.38.17") }}, now \
{{ valid_txs(choice = "chosen") }}; first {{ throughput(run = "base", number = 3, decimals = 1) }}.

Fault: {{ latency_max(choice = "fault", run = "base", decimals = 1) }}.

Fault: {{ latency_max(choice = "fault", decimals = 1) }}.
"""
Points = Mapping[str, list[tuple[float, float]]]
CHOSEN, FAULT, OVERLOAD = 6, 7, 8
SERIES = {
    "mempool_size": "mempool_size",
    "peer_count": "peers",
    "round_count": "rounds",
    "memory": "memory",
    "cpu": "cpu",
    "block_rate": "block_rate",
    "total_txs_rate": "total_txs_rate",
}


def build_article(out: Path, cache: Path, *runs: str | Path) -> CommandResult:
    options = [text for run in runs for text in ("--run", run)]
    return run_assay("build", "cometbft/qa", *options, "-o", out, "--cache", cache)


def find_part(built: Path | dict[str, Any], title: str) -> Any:
    document = load_json(built / "document.json") if isinstance(built, Path) else built
    return next(item for item in document["parts"] if item["title"] == title)


def find_plot(built: Path, identifier: str) -> Any:
    galleries = load_json(built / "document.json")["parts"]
    plots = [plot for item in galleries for plot in (*item["plots"], *item.get("wide", ())) if plot]
    return next(item for item in plots if item["id"] == identifier)


def get_lines(figure: Any) -> Points:
    points: dict[str, list[tuple[float, float]]] = {}
    for line, x, y in figure["rows"]:
        if line is not None:
            points.setdefault(line, []).append((x, y))
    return points


def get_edges(figure: Any) -> list[Any]:
    return [row for row in figure["rows"] if row[0] is None]


def read_experiments(run: Path = RUN) -> list[dict[str, Any]]:
    """Return the experiments of a load report in the order of their first blocks, in plain Python."""
    text = gzip.decompress((run / "report" / "raw_node0.csv.gz").read_bytes()).decode()
    groups: dict[str, list[dict[str, int]]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        numbers = {name: int(row[name]) for name in ("block_time", "duration_ns", "connections", "rate")}
        groups.setdefault(row["experiment_id"], []).append(numbers)
    actual_rows = []
    for rows in groups.values():
        first = min(row["block_time"] for row in rows)
        sent = min(first - row["duration_ns"] for row in rows if row["block_time"] == first)
        actual_rows.append(
            {
                "connections": rows[0]["connections"],
                "rate": rows[0]["rate"],
                "txs": len(rows),
                "due": rows[0]["connections"] * rows[0]["rate"] * 29,
                "from": sent // SECOND,
                "to": max(row["block_time"] for row in rows) // SECOND,
                "first": first,
                "latencies": [row["duration_ns"] for row in rows],
            }
        )
    return sorted(actual_rows, key=lambda item: item["first"])


def read_answer(name: str, first: int, last: int) -> Points:
    """Return the server's answer from `first` to `last`: job -> (seconds since first, value)."""
    text = gzip.decompress((RUN / "prom" / f"qr_5s_{name}.json.gz").read_bytes())
    actual_points: dict[str, list[tuple[float, float]]] = {}
    for item in json.loads(text)["data"]["result"]:
        points = [(float(t - first), float(value)) for t, value in item["values"] if first <= t <= last]
        if points:
            actual_points.setdefault(item["metric"]["job"], []).extend(points)
    return actual_points


def assert_alike(actual: Points, expected: Points) -> None:
    assert actual.keys() == expected.keys()
    for line, points in expected.items():
        assert [x for x, _ in actual[line]] == [x for x, _ in points]
        assert [y for _, y in actual[line]] == pytest.approx([y for _, y in points], rel=1e-9)


# One run


def test_chosen_experiment_is_the_fastest_unsaturated_one(qa: Path) -> None:
    rows = read_experiments()
    complete = [item for item in rows if item["txs"] * 10 >= item["due"] * 9]
    best = max(complete, key=lambda item: item["txs"])
    incomplete = [item for item in rows if item not in complete]
    assert rows.index(best) + 1 == CHOSEN
    assert [rows.index(item) + 1 for item in incomplete] == [OVERLOAD]
    assert find_part(qa, "Metrics of the nodes")["text"][-1] == "Chosen experiment: number 6, connections 2, rate 200."
    assert find_part(qa, "Overload")["text"][-1] == "Overloaded experiment: number 8, connections 2, rate 800."
    assert find_part(qa, "Fault")["text"][-1] == "Experiment with a fault: number 7, connections 1, rate 100."
    assert find_part(qa, "Saturation point")["text"][-3:] == [
        "In the chosen experiment, 11600 tx of 11600 tx are in blocks, 403.9 tx/s.",
        "Chosen experiment: number 6, connections 2, rate 200.",
        "Transactions in blocks, by rate (rows) and connections (columns): not shown: experiment with a fault "
        "(number 7, connections 1, rate 100).",
    ]


def test_equal_loads_are_shaded_and_the_choice_is_bold(qa: Path) -> None:
    pivot, diagonals, _ = find_part(qa, "Saturation point")["tables"]
    # rows 50, 100, 200, 800; columns 1, 2: their products are 50, 100, 200, 400, 800, 1600
    assert [(mark["row"], mark["column"], mark["kind"]) for mark in pivot["marks"]] == [
        (0, 2, "shaded"), (1, 1, "shaded"), (1, 2, "shaded-2"), (2, 1, "shaded-2"), (2, 2, "shaded-3"),
        (2, 2, "strong"), (3, 2, "shaded"),
    ]  # fmt: skip
    assert diagonals["header"] == [
        "Connections × rate", "Connections", "Rate, tx/s", "Transactions, tx", "Expected, tx",
        "Share of the due value, %",
        "Short by more than 10 %",
    ]  # fmt: skip
    first = {(item["rate"], item["connections"]): item for item in reversed(read_experiments())}
    expected = [
        [
            str(rate * connections), str(connections), str(rate), str(item["txs"]), str(item["due"]),
            f"{100 * item['txs'] / item['due']:.1f}", "yes" if item["txs"] * 10 < item["due"] * 9 else "no",
        ]
        for (rate, connections), item in sorted(first.items(), key=lambda pair: (math.prod(pair[0]), pair[0][1]))
    ]  # fmt: skip
    assert diagonals["rows"] == expected
    strong = {mark["row"] for mark in diagonals["marks"] if mark["kind"] == "strong"}
    assert [diagonals["rows"][row][:3] for row in strong] == [["400", "2", "200"]]


def test_diagonals_print_whole_loads_and_exact_shares(tmp_path: Path, cache: Path) -> None:
    run = tmp_path / "great"
    (run / "report").mkdir(parents=True)
    (run / "meta.json").write_text('{"experiment_seconds": 2}', encoding="utf-8")
    rows = ["experiment_id,block_time,duration_ns,connections,rate,size"]
    for index, (connections, rate, share) in enumerate(
        [(1, 1000, 899), (2, 1000, 1799), (3, 411523, 1), (3, 411524, 1)]
    ):
        rows += [f"{index},{(1000 * index + 10) * SECOND},{SECOND},{connections},{rate},1024"] * share
    (run / "report" / "raw.csv").write_text("\n".join([*rows, ""]), encoding="utf-8")
    _, diagonals, _ = find_part(assemble_document(cache, run), "Saturation point")["tables"]
    assert [(row[0], row[5], row[6]) for row in diagonals["rows"]] == [
        ("1000", "89.9", "yes"), ("2000", "89.95", "yes"), ("1234569", "0.0", "yes"), ("1234572", "0.0", "yes"),
    ]  # fmt: skip


@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize(("choice", "number"), [("chosen", CHOSEN), ("fault", FAULT), ("overload", OVERLOAD)])
def test_figure_equals_the_servers_answer_in_its_time(qa: Path, series: str, choice: str, number: int) -> None:
    experiment = read_experiments()[number - 1]
    expected = dict(read_answer(SERIES[series], experiment["from"], experiment["to"]))
    actual_points = dict(get_lines(find_plot(qa, f"series-run-{choice}-{series}")))
    mean = actual_points.pop("mean", None)
    assert_alike(actual_points, expected)
    if series in ("peer_count", "block_rate", "total_txs_rate"):
        values_by_time: dict[float, list[float]] = {}
        for points in expected.values():
            for x, y in points:
                values_by_time.setdefault(x, []).append(y)
        assert_alike(
            {"mean": mean or []}, {"mean": [(x, sum(ys) / len(ys)) for x, ys in sorted(values_by_time.items())]}
        )
    else:
        assert mean is None


def test_figures_are_drawn_as_published(qa: Path) -> None:
    drawn = [(item["title"], item["template"]) for item in find_part(qa, "Metrics of the nodes")["plots"]]
    assert drawn == [
        ("Mempool size, tx", "timeline-area"),
        ("Average mempool size, tx", "timeline"),
        ("Peers", "timeline-mean"),
        ("Rounds", "timeline"),
        ("Block rate, blocks/min", "timeline-mean"),
        ("Transaction rate, tx/min", "timeline-mean"),
        ("Resident memory, Bytes", "timeline"),
        ("Average resident memory, Bytes", "timeline"),
        ("Load average", "timeline"),
        ("Average load average", "timeline"),
    ]
    spec = load_json(qa / "charts" / "series-run-chosen-block_rate.vl.json")
    colour = spec["layer"][0]["encoding"]["color"]["scale"]
    assert (colour["domain"][0], colour["range"][0]) == ("mean", "#d62728")
    assert spec["layer"][0]["encoding"]["strokeDash"]["scale"]["range"][0] == [4, 2]
    area = load_json(qa / "charts" / "series-run-chosen-mempool_size.vl.json")
    assert (area["layer"][0]["mark"]["type"], area["layer"][0]["encoding"]["y"]["stack"]) == ("area", "zero")


def test_heights_of_rotating_nodes_equal_the_server(qa: Path) -> None:
    first = min(x for points in read_answer("rotating_eph_heights", 0, 2**40).values() for x, _ in points)
    last = read_experiments()[-1]["to"]
    figure = find_plot(qa, "series-run-rotation-eph_heights")
    begin = last - int(get_edges(figure)[1][1])
    assert 0 <= first - begin < 5  # the node's first sample is not on a whole second of the server's steps
    actual_points = get_lines(figure)
    assert {line: [(x + begin, y) for x, y in points] for line, points in actual_points.items()} == {
        line: [(float(x), y) for x, y in points if x <= last]
        for line, points in read_answer("rotating_eph_heights", 0, 2**40).items()
    }
    assert len(find_part(qa, "Rotating nodes")["plots"]) == 11


def test_latencies_of_the_run_are_those_of_all_experiments(qa: Path) -> None:
    text = gzip.decompress((RUN / "report" / "raw_node0.csv.gz").read_bytes()).decode()
    rows = [(int(row["block_time"]), int(row["duration_ns"])) for row in csv.DictReader(io.StringIO(text))]
    begin = min(item["from"] for item in read_experiments()) * SECOND
    expected = {((block - begin) / SECOND, latency / SECOND) for block, latency in rows}
    (figure,) = [plot for plot in find_part(qa, "All experiments")["plots"] if plot["template"] == "scatter"]
    assert figure["title"] == "Latency of all experiments"
    points = {(x, y) for x, y, _, _ in figure["rows"] if x is not None}
    assert points <= expected
    assert {max(points), min(points)} == {max(expected), min(expected)}
    (mean,) = [row[2] for row in figure["rows"] if row[2] is not None]
    assert mean == pytest.approx(sum(latency for _, latency in rows) / len(rows) / SECOND, rel=1e-12)


def test_results_without_another_run_have_a_note(qa: Path) -> None:
    (table,) = find_part(qa, "Results")["tables"]
    assert table["header"] == ["Scenario", "Date", "Version", "Result", "Why"]
    reason = "there is no other run to compare with"
    assert table["rows"] == [
        [scenario, "2026-11-21", "0.38.17", "no baseline", reason]
        for scenario in ("Load: every configuration", "Load: chosen experiment", "Overload", "Fault")
    ]
    assert find_part(qa, "Vote extensions")["text"][-1] == (
        "Nothing to show: the constant `vote_extensions` is empty in all runs."
    )


# Several runs


def create_small_run(target: Path, ident: str, **facts: object) -> Path:
    """Create a run without logs, with only the samples that the report reads."""
    run = copy_variant(target, "logs", ident=ident, **facts)
    change_samples(run, select_report_samples)
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Create a baseline without fault that lost an eighth at rate 200, the reference run, and two cases."""
    folder = tmp_path_factory.mktemp("runs")
    base = copy_variant(folder / "base", "logs", ident="0.37.4", experiments={})
    keep_transactions(base, lambda number, row: row["rate"] != "200" or number % 8 != 3)

    def double_memory(labels: dict[str, str], values: list[Any]) -> list[Any] | None:
        if labels["__name__"] == "process_resident_memory_bytes":
            return [[t, str(2 * float(value))] for t, value in values]
        return select_report_samples(labels, values)

    change_samples(base, double_memory)
    cases = {}
    for number, case in enumerate(("none", "2 KiB"), start=2):
        run = create_small_run(folder / f"case{number}", f"case {case}", vote_extensions=case)
        keep_transactions(run, lambda index, _, every=number: index % every != 1)  # type: ignore[misc]
        cases[case] = run
    return {"base": base, "new": create_small_run(folder / "new", "0.38.17"), **cases}


@pytest.fixture(scope="module")
def four_run_report(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    folder = tmp_path_factory.mktemp("four")
    within = copy_workspace(folder / "workspace")
    (within / PROSE).write_text(QUOTES, encoding="utf-8")
    options = [text for run in runs.values() for text in ("--run", run)]
    result = run_assay("build", "cometbft/qa", *options, "-o", folder / "out", "--cache", cache, cwd=within)
    assert result.status == 0
    lines = [line for line in result.err.splitlines() if "tables of metrics leave out" not in line]
    warnings = [line.split(": ")[1].partition(", byte for byte")[0] for line in lines]
    assert warnings == [f"{case} has 1 of its 2 raw files from 0.38.17" for case in ("case none", "case 2 KiB")]
    return folder / "out"


def test_last_run_chooses_and_baseline_follows(four_run_report: Path) -> None:
    assert find_part(four_run_report, "Metrics of the nodes")["text"][-1] == (
        "Chosen experiment: 0.37.4: number 6, connections 2, rate 200; 0.38.17: number 6, connections 2, rate 200."
    )
    base, new, *_ = find_part(four_run_report, "Saturation point")["tables"]
    assert (base["title"][-8:], new["title"][-9:], new["beside"]) == (": 0.37.4", ": 0.38.17", True)
    # the baseline is saturated there, but is printed
    assert (base["rows"][2][2][-2:], new["rows"][2][2]) == (" *", "11600")
    for table in (base, new):
        assert [(m["row"], m["column"]) for m in table["marks"] if m["kind"] == "strong"] == [(2, 2)]


def test_figures_of_runs_share_their_axes(four_run_report: Path) -> None:
    for title in ("Metrics of the nodes", "Overload", "Rotating nodes", "All experiments"):
        plots = [plot for plot in find_part(four_run_report, title)["plots"] if plot["id"].startswith("series")]
        for left, right in zip(plots[::2], plots[1::2], strict=True):
            assert left["title"].removesuffix(": 0.37.4") == right["title"].removesuffix(": 0.38.17")
            assert get_edges(left) == get_edges(right)
            assert min(x for points in get_lines(left).values() for x, _ in points) >= 0
    base_lines, new_lines = (
        get_lines(find_plot(four_run_report, f"series-{run}-chosen-memory")) for run in ("base", "new")
    )
    assert base_lines == {line: [(x, 2 * y) for x, y in points] for line, points in new_lines.items()}
    top = max(y for points in base_lines.values() for _, y in points)
    chosen = read_experiments()[CHOSEN - 1]
    length = chosen["to"] - chosen["from"]
    assert get_edges(find_plot(four_run_report, "series-new-chosen-memory"))[1] == [
        None,
        length,
        pytest.approx(1.04 * top),
    ]


def test_top_of_layers_is_the_greatest_sum(four_run_report: Path) -> None:
    sums: dict[float, float] = {}
    for points in get_lines(find_plot(four_run_report, "series-new-overload-mempool_size")).values():
        for x, y in points:
            sums[x] = sums.get(x, 0.0) + y
    assert get_edges(find_plot(four_run_report, "series-new-overload-mempool_size"))[1][2] == pytest.approx(
        1.04 * max(sums.values())
    )


def test_latencies_are_next_to_same_configuration(four_run_report: Path) -> None:
    plots = find_part(four_run_report, "Latencies")["plots"]
    assert len(plots) == 16
    for left, right in zip(plots[::2], plots[1::2], strict=True):
        assert left["title"].removesuffix(": 0.37.4") == right["title"].removesuffix(": 0.38.17")
        assert [row for row in left["rows"] if row[3]] == [row for row in right["rows"] if row[3]]


def test_run_without_chosen_row_has_empty_places(four_run_report: Path) -> None:
    fault = find_part(four_run_report, "Fault")
    assert fault["text"][-2:] == [
        "Experiment with a fault: 0.38.17: number 7, connections 1, rate 100.",
        "0.37.4 has no experiment with a fault (meta.json: experiments, fault).",
    ]
    assert [bool(item) for item in fault["plots"]] == [False, True] * 11


def test_scenario_results_pass_or_fail_by_the_rule(four_run_report: Path, runs: dict[str, Path]) -> None:
    scenarios, load_, chosen, *_ = find_part(four_run_report, "Results")["tables"]
    assert [(row[0], row[2], row[3]) for row in scenarios["rows"]] == [
        ("Load: every configuration", "0.38.17", "pass"),
        ("Load: chosen experiment", "0.38.17", "pass"),
        ("Overload", "0.38.17", "pass"),
        ("Fault", "0.38.17", "not run"),
    ]
    assert scenarios["rows"][0][4] == "0 of 28 values worse by more than 10 %"
    assert scenarios["rows"][3][4] == "the baseline has no such rows"
    assert [(mark["row"], mark["kind"]) for mark in scenarios["marks"]] == [(3, "bad")]
    before = read_experiments(runs["base"])[CHOSEN - 1]["txs"]
    assert chosen["rows"][0] == [
        "2", "200", "Transactions, tx", str(before), "11600", f"{100 * (11600 - before) / before:.1f}", "pass",
    ]  # fmt: skip
    assert len(load_["rows"]) == 28


def test_worse_runs_fail(runs: dict[str, Path], cache: Path) -> None:
    document = assemble_document(cache, runs["new"], runs["base"])
    assert document["title"] == "QA results of 0.37.4"
    scenarios, load_, *_ = find_part(document, "Results")["tables"]
    # rate 200 with 1 and with 2 connections: transactions and throughput, 12.5 % less. With 1 connection at rate 100,
    # the last run does not declare that its experiment 7 has a fault, so that this is a repeat of experiment 2.
    assert [row[3:] for row in scenarios["rows"][:2]] == [
        ["fail", "6 of 28 values worse by more than 10 %"],
        ["pass", "0 of 4 values worse by more than 10 %"],
    ]
    assert [(row[:3], row[-1]) for row in load_["rows"] if row[-1] != "pass"] == [
        (["1", "100", "Average latency, s"], "fail"),
        (["1", "100", "Maximum latency, s"], "fail"),
        (["1", "200", "Transactions, tx"], "fail"),
        (["1", "200", "Throughput, tx/s"], "fail"),
        (["2", "200", "Transactions, tx"], "fail"),
        (["2", "200", "Throughput, tx/s"], "fail"),
    ]
    # the last run chooses, and is saturated at rate 200
    assert find_part(document, "Metrics of the nodes")["text"][-1] == (
        "Chosen experiment: 0.38.17: number 5, connections 2, rate 100; 0.37.4: number 5, connections 2, rate 100."
    )


# Cases


def test_case_runs_appear_in_the_grid_only(four_run_report: Path, runs: dict[str, Path]) -> None:
    for title in ("Saturation point", "Latencies", "Results"):
        titles = [table["title"] for table in find_part(four_run_report, title)["tables"]]
        assert not any("case" in text for text in titles)
    first, second = find_part(four_run_report, "Vote extensions")["wide"]
    assert first["cases"] == second["cases"] == ["none", "2 KiB"]
    assert first["panels"] + second["panels"] == [
        "Latency, s", "Block rate, blocks/min", "Transaction rate, tx/min", "Rounds",
        "Load average", "Memory, Bytes", "Mempool, tx",
    ]  # fmt: skip
    for case in ("none", "2 KiB"):
        latencies = read_experiments(runs[case])[OVERLOAD - 1]["latencies"]
        (level,) = (row[3] for row in first["rows"] if row[0] == case and row[5] == "level")
        assert level == pytest.approx(sum(latencies) / len(latencies) / SECOND, rel=1e-9)


@pytest.mark.parametrize(
    ("panel", "series"),
    [
        ("Block rate, blocks/min", "block_rate"), ("Transaction rate, tx/min", "total_txs_rate"), ("Rounds", "rounds"),
        ("Load average", "cpu"), ("Memory, Bytes", "memory"), ("Mempool, tx", "mempool_size"),
    ],
)  # fmt: skip
def test_lines_of_grid_equal_the_servers_answer(
    four_run_report: Path, runs: dict[str, Path], panel: str, series: str
) -> None:
    rows = [
        row for item in find_part(four_run_report, "Vote extensions")["wide"] for row in item["rows"] if row[1] == panel
    ]
    for case in ("none", "2 KiB"):
        experiment = read_experiments(runs[case])[OVERLOAD - 1]
        points: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            if row[0] == case and row[5] == "line":
                points.setdefault(row[4], []).append((row[2], row[3]))
        answer = read_answer(series, experiment["from"], experiment["to"])
        assert_alike(points, answer)
        values_by_time: dict[float, list[float]] = {}
        for line in answer.values():
            for x, y in line:
                values_by_time.setdefault(x, []).append(y)
        means = [(x, sum(ys) / len(ys)) for x, ys in sorted(values_by_time.items())] if panel != "Rounds" else []
        drawn_means = [(row[2], row[3]) for row in rows if row[0] == case and row[5] == "mean"]
        assert_alike({"mean": drawn_means}, {"mean": means})
    assert len({tuple(row[2:4]) for row in rows if row[5] == "edge"}) == 2


def test_grid_has_a_panel_for_each_case_and_column(four_run_report: Path) -> None:
    spec = load_json(four_run_report / "charts" / "grid-13-1-1.vl.json")
    assert spec["facet"]["row"]["sort"] == ["none", "2 KiB"]
    width = 4 * spec["spec"]["width"] + 3 * spec["spacing"]["column"]
    assert spec["padding"]["right"] == width + 8
    svg = (four_run_report / "charts" / "grid-13-1-1.svg").read_text(encoding="utf-8")
    assert all(f">{name}<" in svg for name in ("none", "2 KiB", "Latency, s", "Rounds"))


def test_report_of_cases_only_shows_them_in_every_part(runs: dict[str, Path], cache: Path) -> None:
    document = assemble_document(cache, runs["none"], runs["2 KiB"])
    titles = [table["title"].rsplit(": ")[-1] for table in find_part(document, "Latencies")["tables"]]
    assert titles == ["case none", "case 2 KiB"]
    assert find_part(document, "Vote extensions")["wide"][0]["cases"] == ["none", "2 KiB"]


# Facts and missing data of a run


def test_run_author_may_choose_the_experiment(tmp_path: Path, cache: Path) -> None:
    run = create_small_run(tmp_path / "told", "told", experiments={"chosen": 2, "overload": 5})
    document = assemble_document(cache, run)
    assert find_part(document, "Metrics of the nodes")["text"][-2:] == [
        "Chosen experiment: number 2, connections 1, rate 100.",
        "Chosen experiment: repeated by number 7. Figures over time and quotes show the chosen one only.",
    ]
    assert find_part(document, "Overload")["text"][-1] == "Overloaded experiment: number 5, connections 2, rate 100."
    assert find_part(document, "Fault")["plots"] == []
    assert find_part(document, "Fault")["text"] == [
        "The same metrics during the experiment with a fault, such as a node that is stopped and restarted.",
        "told has no experiment with a fault (meta.json: experiments, fault).",
    ]


def test_choice_of_absent_experiment_is_an_error(tmp_path: Path, cache: Path) -> None:
    run = create_small_run(tmp_path / "wrong", "wrong", experiments={"chosen": 12})
    result = build_article(tmp_path / "out", cache, run)
    assert (result.status, result.err) == (
        1,
        """\
error[chosen-row]: run wrong: its constants choose an unknown row of `experiment`: number = 12
  expected: number = 7; number = 3; number = 2; number = 1; number = 8; number = 5; number = 4; number = 6
  found:    number = 12
  hint: correct the constants chosen_experiment of choice `chosen`
""",
    )
    assert not (tmp_path / "out").exists()


def test_part_without_rotating_nodes_has_a_note(tmp_path: Path, cache: Path) -> None:
    run = copy_variant(tmp_path / "still", "logs", ident="still")
    change_samples(
        run, lambda labels, values: None if labels["job"] == "ephemeral0" else select_report_samples(labels, values)
    )
    document = assemble_document(cache, run)
    rotating = find_part(document, "Rotating nodes")
    assert rotating["plots"] == []
    assert rotating["text"][-1] == "still has no rotating nodes (jobs whose names begin with ephemeral)."


# Prose


def test_prose_quotes_any_run_and_choice(four_run_report: Path, runs: dict[str, Path]) -> None:
    base = read_experiments(runs["base"])
    rate = base[2]["txs"] / ((find_last_block(runs["base"], 3) - find_first_send_time(runs["base"], 3)) / SECOND)
    assert find_part(four_run_report, "Results")["text"][:2] == [
        f"At {base[CHOSEN - 1]['txs']} tx and 11600 tx, now 11600 tx; first {rate:.1f} tx/s.",
        "Fault: 6.0 s.",
    ]


def read_transactions(run: Path, number: int) -> list[dict[str, int]]:
    text = gzip.decompress((run / "report" / "raw_node0.csv.gz").read_bytes()).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    order: dict[str, int] = {}
    for row in rows:
        order[row["experiment_id"]] = min(order.get(row["experiment_id"], 2**63), int(row["block_time"]))
    name = sorted(order, key=lambda item: order[item])[number - 1]
    return [
        {"block": int(row["block_time"]), "duration": int(row["duration_ns"])}
        for row in rows
        if row["experiment_id"] == name
    ]


def find_last_block(run: Path, number: int) -> int:
    return max(row["block"] for row in read_transactions(run, number))


def find_first_send_time(run: Path, number: int) -> int:
    rows = read_transactions(run, number)
    first = min(row["block"] for row in rows)
    return min(first - row["duration"] for row in rows if row["block"] == first)


WRONG = {
    "an unknown run": (
        '{{ valid_txs(number = 1, run = "bas") }}',
        """\
error[unknown-run]: prose quotes `valid_txs` of an unknown run `bas`
  at specs/cometbft/prose/results.md:2:5
    2 | See {{ valid_txs(number = 1, run = "bas") }}.
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: base, 0.37.4
  hint: did you mean `base`?
""",
    ),
    "an unknown choice": (
        '{{ valid_txs(choice = "chosn") }}',
        """\
error[unknown-choice]: prose quotes `valid_txs` of an unknown choice `chosn`
  at specs/cometbft/prose/results.md:2:5
    2 | See {{ valid_txs(choice = "chosn") }}.
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: did you mean `chosen`?
""",
    ),
    "a choice of other rows": (
        '{{ node_starts(choice = "chosen") }}',
        """\
error[other-grain]: prose quotes `node_starts` of choice `chosen`, which chooses rows of another grain
  at specs/cometbft/prose/results.md:2:5
    2 | See {{ node_starts(choice = "chosen") }}.
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: logged_node
  found:    experiment
""",
    ),
}


@pytest.mark.parametrize("slip", WRONG)
def test_quote_of_absent_row_is_an_error_with_its_place(
    runs: dict[str, Path], tmp_path: Path, cache: Path, slip: str
) -> None:
    quote, message = WRONG[slip]
    within = copy_workspace(tmp_path / "workspace")
    (within / PROSE).write_text(f"The end.\nSee {quote}.\n", encoding="utf-8")
    result = run_assay(
        "build", "cometbft/qa", "--run", runs["base"], "-o", tmp_path / "out", "--cache", cache, cwd=within
    )
    assert (result.status, result.err) == (1, message)
    assert not (tmp_path / "out").exists()
