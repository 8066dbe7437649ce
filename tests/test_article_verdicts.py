"""Verdicts of an article: which of several rows is judged, by exact numbers, and whose rows are missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.lang.workspace import load, shipped
from assay.report.blocks import verdict
from tests.support.cometbft import RUN, assembled
from tests.support.commands import assay
from tests.support.loads import Experiment, loaded, sampled

SECOND = 10**9
EVERY = "Experiments beside those of the baseline"
AVERAGE = "Average latency, s"


def part(document: dict[str, Any], title: str) -> Any:
    return next(item for item in document["galleries"] if item["title"] == title)


def judged(document: dict[str, Any], run: str, title: str = EVERY) -> dict[tuple[str, ...], list[str]]:
    tables = part(document, "Results")["tables"]
    rows = next(table["rows"] for table in tables if table["title"] == f"{title}: {run}")
    return {tuple(row[:3]): row[3:] for row in rows}


def scenarios(document: dict[str, Any]) -> dict[str, list[str]]:
    return {row[0]: row[3:] for row in part(document, "Results")["tables"][0]["rows"]}


def test_of_experiments_with_one_configuration_the_first_is_judged(tmp_path: Path, cache: Path) -> None:
    """Whatever their ids are."""
    first, second = Experiment("z", 5), Experiment("a", 100, latency=9 * SECOND)
    base = loaded(tmp_path / "base", first, second)
    run = loaded(tmp_path / "run", Experiment("a", 5), Experiment("z", 100, latency=9 * SECOND))
    made = assembled(cache, base, run)
    assert judged(made, "run")["1", "50", AVERAGE] == ["1.", "1.", "0.0", "pass"]
    assert part(made, "Results")["text"][1:] == [
        f"{EVERY}: where several agree in connections and rate, the least number counts (base, connections 1, rate 50: "
        "number 1, not 2; run, connections 1, rate 50: number 1, not 2)."
    ]


def test_a_scenario_that_passes_says_what_there_was_nothing_to_judge_by(tmp_path: Path, cache: Path) -> None:
    base = loaded(tmp_path / "base", Experiment("r", 5))
    run = loaded(tmp_path / "run", Experiment("r", 5), Experiment("s", 100, rate=200, latency=9 * SECOND))
    made = assembled(cache, base, run)
    assert scenarios(made)["Load: every configuration"] == ["pass", "0 of 4 values worse by more than 10 %"]
    assert part(made, "Results")["text"][1:] == [
        f"{EVERY}: not judged, as base has none like these: run, connections 1, rate 200."
    ]


def test_an_experiment_with_a_fault_stands_in_for_no_other(tmp_path: Path, cache: Path) -> None:
    """Though it came first, and where there is no other with its configuration."""
    faults = [Experiment("f", 5, latency=9 * SECOND), Experiment("g", 50, rate=100, latency=9 * SECOND)]
    base = loaded(tmp_path / "base", faults[0], Experiment("r", 100), experiments={"fault": 1})
    run = loaded(tmp_path / "run", Experiment("r", 5), faults[1], experiments={"fault": 2})
    made = assembled(cache, base, run)
    assert judged(made, "run")["1", "50", AVERAGE] == ["1.", "1.", "0.0", "pass"]
    chosen = judged(made, "run", "The chosen experiment beside the baseline's")
    assert chosen["1", "50", AVERAGE] == ["1.", "1.", "0.0", "pass"]
    assert part(made, "Results")["text"][1:] == [
        f"{EVERY}: not judged there: experiment with a fault (base: number 1, connections 1, rate 50; run: number 2, "
        "connections 1, rate 100)."
    ]
    fault = judged(made, "run", "The experiment with a fault beside the baseline's")
    assert fault["1", "50", AVERAGE] == ["9.", "—", "—", "not run"]


def test_the_reference_run_beside_itself_is_not_judged_by_its_fault(cache: Path) -> None:
    made = assembled(cache, f"a={RUN}", f"b={RUN}")
    assert judged(made, "b")["1", "100", "Throughput, tx/s"][:2] == ["101.40039", "101.40039"]
    fault = judged(made, "b", "The experiment with a fault beside the baseline's")
    assert fault["1", "100", "Throughput, tx/s"][:2] == ["91.6057", "91.6057"]


@pytest.mark.parametrize(
    ("base", "run", "said"),
    [
        (700_000_000, 770_000_000, ["10.0", "pass"]),
        (1_100_000_000, 1_210_000_000, ["10.0", "pass"]),
        (1_000_000_000, 1_100_000_001, ["10.0000001", "fail"]),
        (1_000_000_000, 1_100_400_000, ["10.04", "fail"]),
        (-500_000_000, 100_000_000, ["120.0", "fail"]),
        (-500_000_000, -600_000_000, ["-20.0", "pass"]),
        (0, 1_000_000_000, ["—", "fail"]),  # more than nothing is more by any percent
        (0, 0, ["—", "pass"]),
    ],
)
def test_a_change_is_judged_exactly_and_seen_to_be_on_its_side(
    tmp_path: Path, cache: Path, base: int, run: int, said: list[str]
) -> None:
    runs = [loaded(tmp_path / name, Experiment("e", latency=value)) for name, value in (("a", base), ("b", run))]
    assert judged(assembled(cache, *runs), "b")["1", "50", AVERAGE][2:] == said


def test_a_scenario_that_cannot_be_judged_says_whose_rows_are_missing(tmp_path: Path, cache: Path) -> None:
    short = loaded(tmp_path / "short", Experiment("e", count=1000))
    whole = loaded(tmp_path / "whole", Experiment("e"))
    faulty = loaded(tmp_path / "faulty", Experiment("e"), experiments={"fault": 1})
    made = scenarios(assembled(cache, short, whole))
    assert made["Overload"] == ["not run", "whole, which chooses, has no experiment without a fault that is saturated"]
    assert made["Fault"] == ["not run", "neither the baseline nor whole has such rows"]
    assert scenarios(assembled(cache, whole, short))["Overload"] == ["fail", "2 of 4 values worse by more than 10 %"]
    assert scenarios(assembled(cache, faulty, whole))["Fault"] == ["not run", "whole has no such rows"]
    assert scenarios(assembled(cache, whole, faulty))["Fault"] == ["not run", "the baseline has no such rows"]


def test_a_scenario_of_which_some_values_are_missing_does_not_pass(tmp_path: Path, cache: Path) -> None:
    both = loaded(tmp_path / "both", Experiment("e"), Experiment("g", 50, rate=100))
    one = loaded(tmp_path / "one", Experiment("e"))
    made = assembled(cache, both, one)
    rows = judged(made, "one")
    results = [row[-1] for row in rows.values()]
    assert (set(results), results.count("pass")) == ({"pass", "not run"}, len(results) // 2)
    said = f"0 of {len(rows)} values worse by more than 10 %, {results.count('not run')} missing"
    assert [row for row in scenarios(made).values() if "missing" in row[1]] == [["fail", said]]
    tables = part(made, "Results")["tables"]
    marked = {table["title"]: {(mark["row"], mark["column"]) for mark in table.get("marks", ())} for table in tables}
    last = next(table for table in tables if table["title"] == f"{EVERY}: one")
    assert marked[f"{EVERY}: one"] == {
        (y, len(last["header"]) - 1) for y, row in enumerate(last["rows"]) if row[-1] != "pass"
    }


@pytest.mark.parametrize("last", ["whole", "other"])
def test_parts_say_of_the_run_that_chooses_what_it_lacks(tmp_path: Path, cache: Path, last: str) -> None:
    """Of the others only that they have nothing like what it chose."""
    short = loaded(tmp_path / "short", Experiment("e", count=1000))
    loaded(tmp_path / "whole", Experiment("e"))
    loaded(tmp_path / "other", Experiment("e", count=1000, rate=80))
    for run in (short, tmp_path / last):
        sampled(run, {"node_load1": {"v": [(at, "1") for at in range(9)]}})
    said = {
        "whole": "whole, which chooses, has no experiment without a fault that is saturated.",
        "other": "short has no experiment with connections 1, rate 80.",
    }
    text = part(assembled(cache, short, tmp_path / last), "Overload")["text"]
    assert [line for line in text if line.startswith(("whole ", "whole, ", "short ", "short, "))] == [said[last]]


def test_quotes_and_shares_are_rounded_half_to_even_as_tables_are(tmp_path: Path, cache: Path) -> None:
    run = loaded(tmp_path / "run", Experiment("e", latency=12_500_000), experiments={"fault": 1})
    assert part(assembled(cache, run), "Latencies")["text"][0].endswith("0.012 s in the first experiment.")


def test_a_load_report_beside_its_copy_is_refused(tmp_path: Path, cache: Path) -> None:
    run = loaded(tmp_path / "run", Experiment("e", count=3), Experiment("f", 50, count=2))
    (run / "report" / "copy.csv").write_bytes((run / "report" / "raw.csv").read_bytes())
    done = assay("build", "cometbft/qa", "--run", run, "-o", tmp_path / "out", "--cache", cache)
    assert (done.status, done.err) == (
        1,
        """\
error[counted-twice]: run run: experiment e: 3 of its transactions stand in the load reports more than once, up to 2 \
times, e-0 among them: each would count as often
  note: 1 more like it
  hint: leave one report of an experiment in the run: a copy of it, or that of another node, has the same transactions
""",
    )


def test_an_experiment_of_two_configurations_is_refused(tmp_path: Path, cache: Path) -> None:
    run = loaded(tmp_path / "run", Experiment("e", count=3))
    place = run / "report" / "raw.csv"
    place.write_text(place.read_text(encoding="utf-8").replace("e-1,1,50", "e-1,2,100"), encoding="utf-8")
    done = assay("build", "cometbft/qa", "--run", run, "-o", tmp_path / "out", "--cache", cache)
    assert (done.status, done.err) == (
        1,
        """\
error[several-configurations]: run run: experiment e has 2 configurations: 1 x 50 tx/s of 1024 bytes, 2 x 100 tx/s of \
1024 bytes
  hint: an experiment has one number of connections, one rate and one size: give each an id of its own
""",
    )


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (["pass", "pass"], ("pass", "0 of 2 values worse by more than 10 %")),
        (["pass", "no value"], ("fail", "0 of 2 values worse by more than 10 %, 1 missing")),
        (["fail", "no value", "not run"], ("fail", "1 of 3 values worse by more than 10 %, 2 missing")),
    ],
)
def test_a_value_that_is_none_is_missing_as_one_that_was_not_measured_is(
    results: list[str], said: tuple[str, str]
) -> None:
    rows = tuple(("1", "50", AVERAGE, "1.", "—", "—", result) for result in results)
    assert verdict._outcome(rows, 10) == said


def test_of_a_metric_of_which_neither_direction_is_better_a_change_is_not_called_worse(cache: Path) -> None:
    metric = replace(load(shipped(), "cometbft", cache).metric("throughput"), name="Rounds", better="neither")
    said = verdict._outcome((("1", "Rounds", "2", "1", "-50.0", "fail"),), 10, [metric])
    assert said == ("fail", "1 of 1 values worse by more than 10 % (Rounds: changed by more)")
