"""Test verdicts of an article: judged rows, exact comparisons, missing rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from assay.lang.workspace import get_shipped_workspace, load_package
from assay.report.blocks import verdict
from tests.support.cometbft import RUN, assemble_document
from tests.support.commands import run_assay
from tests.support.loads import Experiment, add_samples, create_load_run

SECOND = 10**9
EVERY = "Experiments compared with the baseline"
AVERAGE = "Average latency, s"


def find_part(document: dict[str, Any], title: str) -> Any:
    return next(item for item in document["parts"] if item["title"] == title)


def judge(document: dict[str, Any], run: str, title: str = EVERY) -> dict[tuple[str, ...], list[str]]:
    tables = find_part(document, "Results")["tables"]
    rows = next(table["rows"] for table in tables if table["title"] == f"{title}: {run}")
    return {tuple(row[:3]): row[3:] for row in rows}


def find_scenarios(document: dict[str, Any]) -> dict[str, list[str]]:
    return {row[0]: row[3:] for row in find_part(document, "Results")["tables"][0]["rows"]}


def test_mean_of_equal_experiments_is_judged(tmp_path: Path, cache: Path) -> None:
    """The ids have no influence."""
    base = create_load_run(tmp_path / "base", Experiment("z", 5), Experiment("a", 100, latency=9 * SECOND))
    run = create_load_run(
        tmp_path / "run", Experiment("a", 5), Experiment("z", 100, latency=3 * SECOND), Experiment("b", 200)
    )
    document = assemble_document(cache, base, run)
    mean = Fraction(1 + 3 + 1, 3)
    change = f"{float(100 * (mean - 5) / 5):.1f}"
    titles = (EVERY, "Chosen experiment compared with the baseline")
    for title in titles:
        expected = ["5.00 (n=2)", f"{float(mean):.2f} (n=3)", change, "over 1000 %", "pass"]
        assert judge(document, "run", title)["1", "50", AVERAGE] == expected
    assert find_part(document, "Results")["text"][1:] == [
        *(
            f"{title}: rows with the same connections and rate are repeats, of which the mean counts; n is their "
            "number (base, connections 1, rate 50: number 1, 2; run, connections 1, rate 50: number 1, 2, 3)."
            for title in titles
        ),
        verdict.INTERVAL_NOTE,
    ]


@pytest.mark.parametrize(
    ("base", "run", "cells"),
    [
        # By hand: s² = 2, df = 2, t = 4.303, error = sqrt(2 (1/2 + 1/2)) = 1.41 s of (12 - 10) / ln 1.2 = 10.97 s.
        ((9, 11), (11, 13), ["20.0", "-31 … +109", "cannot tell"]),
        ((9, 11), (29, 31), ["200.0", "+115 … +319", "fail"]),
        ((9, 11), (9, 12), ["5.0", "-51 … +124", "pass"]),
        ((10, 10), (12, 12), ["20.0", "fail"]),  # without any noise, the means decide
        ((9, 11), (12,), ["20.0", "fail"]),  # two repeats and one do not show the noise
    ],
)
def test_change_within_noise_of_repeats_does_not_fail(
    tmp_path: Path, cache: Path, base: tuple[int, ...], run: tuple[int, ...], cells: list[str]
) -> None:
    runs = [
        create_load_run(tmp_path / name, *(Experiment(f"{n}", latency=x * SECOND) for n, x in enumerate(latencies)))
        for name, latencies in (("a", base), ("b", run))
    ]
    document = assemble_document(cache, *runs)
    assert judge(document, "b")["1", "50", AVERAGE][2:] == cells
    result, reason = find_scenarios(document)["Load: every configuration"]
    assert (result, "within the noise" in reason) == (cells[-1], cells[-1] == "cannot tell")


def test_passing_scenario_names_rules_without_a_verdict(tmp_path: Path, cache: Path) -> None:
    base = create_load_run(tmp_path / "base", Experiment("r", 5))
    run = create_load_run(tmp_path / "run", Experiment("r", 5), Experiment("s", 100, rate=200, latency=9 * SECOND))
    document = assemble_document(cache, base, run)
    assert find_scenarios(document)["Load: every configuration"] == ["pass", "0 of 4 values worse by more than 10 %"]
    assert find_part(document, "Results")["text"][1:] == [
        f"{EVERY}: not judged, because base has no such rows: run, connections 1, rate 200."
    ]


def test_experiment_with_fault_replaces_no_other(tmp_path: Path, cache: Path) -> None:
    """This holds even if it is the first or the only one with its configuration."""
    faults = [Experiment("f", 5, latency=9 * SECOND), Experiment("g", 50, rate=100, latency=9 * SECOND)]
    base = create_load_run(tmp_path / "base", faults[0], Experiment("r", 100), experiments={"fault": 1})
    run = create_load_run(tmp_path / "run", Experiment("r", 5), faults[1], experiments={"fault": 2})
    document = assemble_document(cache, base, run)
    assert judge(document, "run")["1", "50", AVERAGE] == ["1.00", "1.00", "0.0", "pass"]
    chosen_verdict = judge(document, "run", "Chosen experiment compared with the baseline")
    assert chosen_verdict["1", "50", AVERAGE] == ["1.00", "1.00", "0.0", "pass"]
    assert find_part(document, "Results")["text"][1:] == [
        f"{EVERY}: not judged: experiment with a fault (base: number 1, connections 1, rate 50; run: number 2, "
        "connections 1, rate 100)."
    ]
    fault = judge(document, "run", "Experiment with a fault compared with the baseline")
    assert fault["1", "50", AVERAGE] == ["9.00", "—", "—", "not run"]


def test_reference_run_is_not_judged_by_its_own_fault(cache: Path) -> None:
    document = assemble_document(cache, f"a={RUN}", f"b={RUN}")
    assert judge(document, "b")["1", "100", "Throughput, tx/s"][:2] == ["101", "101"]
    fault = judge(document, "b", "Experiment with a fault compared with the baseline")
    assert fault["1", "100", "Throughput, tx/s"][:2] == ["91.6", "91.6"]


@pytest.mark.parametrize(
    ("base", "run", "cells"),
    [
        (700_000_000, 770_000_000, ["10.0", "pass"]),
        (1_100_000_000, 1_210_000_000, ["10.0", "pass"]),
        (1_000_000_000, 1_100_000_001, ["10.0000001", "fail"]),
        (1_000_000_000, 1_100_400_000, ["10.04", "fail"]),
        (-500_000_000, 100_000_000, ["120.0", "fail"]),
        (-500_000_000, -600_000_000, ["-20.0", "pass"]),
        (0, 1_000_000_000, ["—", "fail"]),  # any increase of 0 exceeds every percentage
        (0, 0, ["—", "pass"]),
    ],
)
def test_change_is_judged_exactly_and_printed_on_its_side(
    tmp_path: Path, cache: Path, base: int, run: int, cells: list[str]
) -> None:
    runs = [
        create_load_run(tmp_path / name, Experiment("e", latency=value)) for name, value in (("a", base), ("b", run))
    ]
    assert judge(assemble_document(cache, *runs), "b")["1", "50", AVERAGE][2:] == cells


def test_unjudged_scenario_names_the_missing_rows(tmp_path: Path, cache: Path) -> None:
    short_run = create_load_run(tmp_path / "short", Experiment("e", count=1000))
    whole_run = create_load_run(tmp_path / "whole", Experiment("e"))
    faulty = create_load_run(tmp_path / "faulty", Experiment("e"), experiments={"fault": 1})
    document = find_scenarios(assemble_document(cache, short_run, whole_run))
    assert document["Overload"] == [
        "not run",
        "whole, which determines the choice, has no experiment without a fault that is saturated",
    ]
    assert document["Fault"] == ["not run", "neither the baseline nor whole has such rows"]
    assert find_scenarios(assemble_document(cache, whole_run, short_run))["Overload"] == [
        "fail",
        "2 of 4 values worse by more than 10 %",
    ]
    assert find_scenarios(assemble_document(cache, faulty, whole_run))["Fault"] == ["not run", "whole has no such rows"]
    assert find_scenarios(assemble_document(cache, whole_run, faulty))["Fault"] == [
        "not run",
        "the baseline has no such rows",
    ]


def test_scenario_with_missing_values_does_not_pass(tmp_path: Path, cache: Path) -> None:
    run_of_both = create_load_run(tmp_path / "both", Experiment("e"), Experiment("g", 50, rate=100))
    run_of_one = create_load_run(tmp_path / "one", Experiment("e"))
    document = assemble_document(cache, run_of_both, run_of_one)
    rows = judge(document, "one")
    results = [row[-1] for row in rows.values()]
    assert (set(results), results.count("pass")) == ({"pass", "not run"}, len(results) // 2)
    message = f"0 of {len(rows)} values worse by more than 10 %, {results.count('not run')} missing"
    assert [row for row in find_scenarios(document).values() if "missing" in row[1]] == [["fail", message]]
    tables = find_part(document, "Results")["tables"]
    marked_cells = {
        table["title"]: {(mark["row"], mark["column"]) for mark in table.get("marks", ())} for table in tables
    }
    last = next(table for table in tables if table["title"] == f"{EVERY}: one")
    assert marked_cells[f"{EVERY}: one"] == {
        (y, len(last["header"]) - 1) for y, row in enumerate(last["rows"]) if row[-1] != "pass"
    }


@pytest.mark.parametrize("last", ["whole", "other"])
def test_parts_name_missing_data_of_the_choosing_run(tmp_path: Path, cache: Path, last: str) -> None:
    """Parts of the other runs only state that the chosen row is absent."""
    short_run = create_load_run(tmp_path / "short", Experiment("e", count=1000))
    create_load_run(tmp_path / "whole", Experiment("e"))
    create_load_run(tmp_path / "other", Experiment("e", count=1000, rate=80))
    for run in (short_run, tmp_path / last):
        add_samples(run, {"node_load1": {"v": [(time, "1") for time in range(9)]}})
    texts = {
        "whole": "whole, which determines the choice, has no experiment without a fault that is saturated.",
        "other": "short has no experiment with connections 1, rate 80.",
    }
    text = find_part(assemble_document(cache, short_run, tmp_path / last), "Overload")["text"]
    assert [line for line in text if line.startswith(("whole ", "whole, ", "short ", "short, "))] == [texts[last]]


def test_quotes_and_shares_round_half_to_even(tmp_path: Path, cache: Path) -> None:
    run = create_load_run(tmp_path / "run", Experiment("e", latency=12_500_000), experiments={"fault": 1})
    assert find_part(assemble_document(cache, run), "Latencies")["text"][0].endswith("0.012 s in the first experiment.")


@pytest.mark.parametrize("has_hashes", [True, False])
def test_transaction_in_two_blocks_is_named(has_hashes: bool, tmp_path: Path, cache: Path) -> None:
    """Without hashes, the instant of sending tells transactions apart."""
    rows = [("a", 10, 4), ("b", 10, 3), ("a", 12, 6), ("c", 12, 1)]  # block, seconds since sending
    header = ["experiment_id", "block_time", "duration_ns", "tx_hash", "connections", "rate", "size"]
    lines = [["e", f"{block}000000000", f"{age}000000000", name, "1", "50", "1024"] for name, block, age in rows]
    run = tmp_path / "run"
    (run / "report").mkdir(parents=True)
    texts = [",".join(cell for key, cell in zip(header, line, strict=True) if has_hashes or key != "tx_hash")
             for line in (header, *lines)]  # fmt: skip
    (run / "report" / "raw.csv").write_text("\n".join(texts) + "\n", encoding="utf-8")
    result = run_assay("query", "valid_txs", "--run", run, "--cache", cache)
    name = "a" if has_hashes else "the one sent at 6000000000 ns"
    assert f"experiment e: 1 transactions, such as {name}, are in up to 2 blocks, and count in each" in result.err


def test_duplicate_load_report_is_refused(tmp_path: Path, cache: Path) -> None:
    run = create_load_run(tmp_path / "run", Experiment("e", count=3), Experiment("f", 50, count=2))
    (run / "report" / "copy.csv").write_bytes((run / "report" / "raw.csv").read_bytes())
    result = run_assay("build", "cometbft/qa", "--run", run, "-o", tmp_path / "out", "--cache", cache)
    assert (result.status, result.err) == (
        1,
        """\
error[counted-twice]: run run: experiment e: 3 transactions, such as e-0, are in the load reports up to 2 times and \
would be counted as often
  note: 1 more like it
  hint: keep one load report per experiment: a copy, or the report of another node, has the same transactions
""",
    )


def test_experiment_of_two_configurations_is_refused(tmp_path: Path, cache: Path) -> None:
    run = create_load_run(tmp_path / "run", Experiment("e", count=3))
    place = run / "report" / "raw.csv"
    place.write_text(place.read_text(encoding="utf-8").replace("e-1,1,50", "e-1,2,100"), encoding="utf-8")
    result = run_assay("build", "cometbft/qa", "--run", run, "-o", tmp_path / "out", "--cache", cache)
    assert (result.status, result.err) == (
        1,
        """\
error[several-configurations]: run run: experiment e has 2 configurations: 1 x 50 tx/s of 1024 bytes, 2 x 100 tx/s of \
1024 bytes
  hint: an experiment has one number of connections, one rate and one size: use one id per configuration
""",
    )


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (["pass", "pass"], ("pass", "0 of 2 values worse by more than 10 %")),
        (["pass", "no value"], ("fail", "0 of 2 values worse by more than 10 %, 1 missing")),
        (["fail", "no value", "not run"], ("fail", "1 of 3 values worse by more than 10 %, 2 missing")),
    ],
)
def test_non_number_counts_as_missing(results: list[str], expected: tuple[str, str]) -> None:
    assert verdict._summarize_results(results, 10) == expected


def test_change_without_better_direction_is_not_worse(cache: Path) -> None:
    metric = replace(
        load_package(get_shipped_workspace(), "cometbft", cache).get_metric("throughput"),
        name="Rounds",
        better="neither",
    )
    cells = verdict._summarize_results(["fail"], 10, [metric])
    assert cells == ("fail", "1 of 1 values worse by more than 10 % (Rounds: changed by more)")
