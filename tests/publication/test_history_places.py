"""Test positions of columns, breaks, moves, dots and axes against values computed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Break, Edition, Experiment
from assay.publication.history import (
    FORM,
    MEANING,
    Change,
    Issue,
    count_digits,
    find_break_place,
    find_largest_moves,
    group_issues_by_runs,
    list_changes,
    list_history_warnings,
    parse_cell,
    separate_experiments,
)
from assay.publication.history_plot import Frame, build_plot
from assay.publication.history_shifts import Levels
from assay.publication.model import MetricRow, Publication
from assay.report.document import Plot

EDITION = Edition("2020", "2020-01-01", "org-2023", (), (), (), (), (), "")
#: a package; only tests with differing editions read it
NO_PACKAGE = cast(CheckedPackage, None)
FAST, SLOW = "fast", "slow"


def publish(day: str, *runs: str, workload: str = FAST, **values: Sequence[str]) -> Issue:
    """Create a publication of runs with the printed values of metrics."""
    publication = Publication("", "", "", day, workload, "", "", runs, (), (), (), (), (), {})
    rows = {name: MetricRow(name, "s", tuple(cells), (), ()) for name, cells in values.items()}
    return Issue(Path(f"{day}.json"), publication, EDITION, rows)


def declare(since: str, run: str = "", *, key: str = "A", kind: str = MEANING, metric: str = "m") -> Change:
    return Change(key, kind, since, run, (((metric,), "words"),))


# Experiments


#: runs of a publication -> the parts of it: workload, runs, whether the first is the base of the others
PARTS: dict[tuple[str, ...], list[tuple[str, tuple[str, ...], bool]]] = {
    ("1", "2"): [("fast", ("1", "2"), True)],
    ("1", "x1", "x2"): [("fast: budget", ("1", "x1", "x2"), True)],
    ("x1", "x2"): [("fast: budget", ("x1", "x2"), True)],
    ("1", "2", "x1"): [("fast", ("1", "2"), True), ("fast: budget", ("x1",), False)],
    ("x1", "2", "3"): [("fast: budget", ("x1",), False), ("fast", ("2", "3"), False)],
    ("1", "x1", "y"): [
        ("fast", ("1",), False), ("fast: budget", ("x1",), False), ("fast: backend", ("y",), False),
    ],
}  # fmt: skip


@pytest.mark.parametrize("runs", PARTS, ids="-".join)
def test_experiments_are_separated_from_releases(runs: tuple[str, ...]) -> None:
    experiments = (Experiment("budget", ("x1", "x2"), ""), Experiment("backend", ("y",), ""))
    numbers = tuple(map(str, range(len(runs))))
    row = MetricRow("m", "s", numbers, numbers[1:], numbers[1:])
    (issue,) = [replace(publish("2024-01-01", *runs), rows={"m": row})]
    parts = separate_experiments(experiments, [issue])
    assert [(item.publication.workload, item.publication.runs, item.has_base) for item in parts] == PARTS[runs]
    assert [item.rows["m"].values for item in parts] == [
        tuple(str(runs.index(run)) for run in item.publication.runs) for item in parts
    ]


# Columns


def test_publications_of_same_runs_share_a_column() -> None:
    first, second_publication = publish("2024-01-01", "1", "2"), publish("2024-01-02", "1", "2", workload=SLOW)
    other_publication = publish("2024-01-03", "2", "3", workload=SLOW)
    assert group_issues_by_runs([first, second_publication, other_publication]) == (
        (first, second_publication),
        (other_publication,),
    )


def test_no_line_of_a_workload_goes_back_in_time() -> None:
    """The slow workload starts with later runs, so its earlier ones cannot be in the first column."""
    first_publication, second_publication = publish("2024-01-01", "1", "2"), publish("2024-01-02", "2", "3")
    late_publication, early_publication = (
        publish("2024-01-03", "2", "3", workload=SLOW),
        publish("2024-01-04", "1", "2", workload=SLOW),
    )
    assert group_issues_by_runs([first_publication, second_publication, late_publication, early_publication]) == (
        (first_publication,),
        (second_publication, late_publication),
        (early_publication,),
    )


def test_repeated_runs_have_a_column_of_their_own() -> None:
    first_publication, repeated_publication = publish("2024-01-01", "1", "2"), publish("2024-01-02", "1", "2")
    assert group_issues_by_runs([first_publication, repeated_publication]) == (
        (first_publication,),
        (repeated_publication,),
    )


# Breaks


def test_break_keys_are_letters_then_pairs() -> None:
    breaks = [Break(("m",), f"2024-01-{1 + index % 28:02}", "", "") for index in range(703)]
    keys = [item.key for item in list_changes(breaks, ["m"], NO_PACKAGE, [publish("2024-01-01", "1", "2")])]
    expected = {0: "A", 25: "Z", 26: "AA", 27: "AB", 51: "AZ", 52: "BA", 701: "ZZ", 702: "AAA"}
    assert {index: keys[index] for index in expected} == expected


def test_breaks_are_ordered_by_day() -> None:
    later_break, earlier = Break(("m",), "2024-06-01", "", "later"), Break(("n",), "2024-02-01", "2", "earlier")
    assert list_changes([later_break, earlier], ["m"], NO_PACKAGE, [publish("2024-01-01", "1")]) == (
        Change("A", MEANING, "2024-02-01", "2", ((("n",), "earlier"),)),
        Change("B", MEANING, "2024-06-01", "", ((("m",), "later"),)),
    )


DAYS = [publish("2024-01-31", "1", "2"), publish("2024-02-01", "2", "3"), publish("2024-03-01", "3", "4")]
SLOW_FIRST = [publish("2024-01-01", "1", "2", workload=SLOW), publish("2024-03-01", "1", "2")]
PLACES: dict[str, tuple[Change, list[Issue], str, tuple[Issue, int] | None]] = {
    "on the day of a publication": (declare("2024-02-01"), DAYS, FAST, (DAYS[1], 0)),
    "between publications": (declare("2024-02-02"), DAYS, FAST, (DAYS[2], 0)),
    "from a run on": (declare("2024-01-01", "3"), DAYS[1:2], FAST, (DAYS[1], 1)),
    "after all": (declare("2024-03-02"), DAYS[1:], FAST, None),
    "before all": (declare("2024-01-01"), DAYS[1:], FAST, None),
    "from the first run on": (declare("2024-01-01", "2"), DAYS[1:], FAST, None),
    "before all of the workload": (declare("2024-02-01"), SLOW_FIRST, FAST, None),
    "after all of the workload": (declare("2024-02-01"), SLOW_FIRST, SLOW, None),
}


@pytest.mark.parametrize("case", PLACES)
def test_break_precedes_first_later_run_of_its_workload(case: str) -> None:
    change, issues, workload, expected = PLACES[case]
    assert find_break_place(change, issues, workload) == expected


@pytest.mark.parametrize(
    ("since", "run", "outside"),
    [("2024-01-31", "", True), ("2024-02-01", "", True), ("2024-02-01", "3", False), ("2024-02-02", "", False),
     ("2024-03-01", "", False), ("2024-03-02", "", True)],
)  # fmt: skip
def test_break_outside_all_publications_is_reported(since: str, run: str, outside: bool) -> None:
    issues = [
        publish("2024-02-01", "2", "3", m=["1", "2"]),
        publish("2024-03-01", "3", "4", m=["1", "2"]),
    ]
    message = f"The break of m since {since} lies outside of the publications, which are from 2024-02-01 to 2024-03-01."
    assert list(list_history_warnings([Break(("m",), since, run, "")], ["m"], issues)) == ([message] if outside else [])


def test_break_from_an_unknown_run_is_reported() -> None:
    issues = [
        publish("2024-02-01", "2", "3"),
        publish("2024-03-01", "3", "4", workload=SLOW, m=["1", "2"]),
    ]
    breaks = [Break(("m",), "2024-03-01", "4", ""), Break(("m",), "2024-03-01", "3.5", "")]
    assert list(list_history_warnings(breaks, ["m", "n"], issues)) == [
        "The break of m since 2024-03-01 names the run 3.5, which the first publications since that day lack.",
        "n: no publication has it.",
    ]


# Moves


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("0.0", 0), ("-0.05", 1), ("6e-05", 1), ("6E-05", 1), ("1.0e-5", 2), ("10", 2), ("0.10", 2), ("+204.", 3)],
)
def test_digits_are_counted_from_the_first(cell: str, expected: int) -> None:
    assert count_digits(cell) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("—", None), ("nan", None), ("NaN", None), ("5e-05", "0.00005"), ("-0.0", "0"), ("93674", "93674")],
)
def test_printed_cell_is_a_number_or_none(cell: str, expected: str | None) -> None:
    assert parse_cell(cell) == (None if expected is None else Decimal(expected))


def find_moves(*cells: Sequence[str], limit: int = 9) -> list[tuple[str, str, str]]:
    """Return workload, base and value of the largest moves of one metric, one workload per row."""
    issues = [
        publish("2024-01-01", *map(str, range(len(row))), workload=str(column_index), m=row)
        for column_index, row in enumerate(cells)
    ]
    largest = find_largest_moves(["m"], issues, (), limit)
    return [(item.issue.publication.workload, str(item.base), str(item.value)) for item in largest]


MOVES: dict[str, tuple[list[list[str]], list[tuple[str, str, str]]]] = {
    "less than a third moves further than 2.4 times": ([["10", "24", "3.3", "12"]], [("0", "10", "3.3")]),
    "the first of equal moves": ([["10", "20", "5.0", "20.0"]], [("0", "10", "20")]),
    "values that are not positive or absent": ([["10", "0.0", "-400", "—", "11"]], [("0", "10", "11")]),
    "halving equals doubling": (
        [["10", "11"], ["10", "20"], ["10", "5.0"], ["10", "41"]],
        [("3", "10", "41"), ("1", "10", "20"), ("2", "10", "5.0"), ("0", "10", "11")],
    ),
    **{f"a base of {base}": ([[base, "20"]], []) for base in ("5", "0.05", "0.0", "-10", "—", "nan")},
}


@pytest.mark.parametrize("case", MOVES)
def test_largest_moves_are_ordered_by_factor(case: str) -> None:
    cells, expected = MOVES[case]
    assert find_moves(*cells) == expected


def test_number_of_moves_is_limited() -> None:
    assert find_moves(["10", "11"], ["10", "20"], ["10", "5.0"], ["10", "41"], limit=2) == [
        ("3", "10", "41"),
        ("1", "10", "20"),
    ]


@pytest.mark.parametrize(
    ("breaks", "keys"),
    [
        ([declare("2024-02-01", "3")], ("A",)),
        ([declare("2024-02-01", "4")], ("A",)),
        ([declare("2024-02-01", "2")], ()),
        ([declare("2024-02-01", "5")], ()),
        ([declare("2024-02-01", "3", metric="n")], ()),
        ([declare("2024-01-01", "2")], ()),
        ([declare("2024-02-01", "3"), declare("2024-02-01", "4", key="B")], ("A", "B")),
    ],
    ids=["before the first further run", "before the run", "before the base", "behind the run", "of another metric",
         "of another publication", "two"],
)  # fmt: skip
def test_move_crosses_breaks_between_base_and_run(breaks: Sequence[Change], keys: tuple[str, ...]) -> None:
    """The largest move is from run 2 to run 4."""
    before = publish("2024-01-01", "1", "2", m=["10", "11"])
    after = publish("2024-02-01", "2", "3", "4", "5", m=["10", "11", "40", "12"])
    (move,) = find_largest_moves(["m"], [before, after], breaks, 9)
    assert (move.run, move.break_keys) == (2, keys)


# Plots


def draw_plot(issues: Sequence[Issue], breaks: Sequence[Change] = (), levels: Levels | None = None) -> Plot:
    names = tuple(dict.fromkeys(item.publication.workload for item in issues))
    frame = Frame(group_issues_by_runs(issues), issues, names, breaks, levels or {})
    return build_plot(frame, "m", ("Latency", "s"), 1, "history")


def select_marks(plot: Plot, *kinds: str) -> list[Mapping[str, Any]]:
    """Return the rows of some kinds, without empty members."""
    rows = [dict(zip(plot.columns, row, strict=True)) for row in plot.rows]
    return [{key: value for key, value in row.items() if value is not None} for row in rows if row["mark"] in kinds]


def find_extent(*cells: str) -> list[float]:
    drawn_plot = draw_plot([publish("2024-01-01", *map(str, range(len(cells))), m=cells)])
    return [row["y"] for row in select_marks(drawn_plot, "extent")]


@pytest.mark.parametrize(
    ("cells", "ends"),
    [
        (["5.0", "10"], [0.0, 10.0]),
        (["5.1", "10"], [5.1, 10.0]),
        (["-1", "10"], [-1.0, 10.0]),
        (["4", "4.0"], [3.6, 4.4]),
        (["-4", "-4.0"], [-4.4, -3.6]),
        (["0.0", "0.0"], [0.0, 1.0]),
    ],
)
def test_axis_starts_at_zero_near_its_least_value(cells: Sequence[str], ends: Sequence[float]) -> None:
    """A single value has room on both sides."""
    assert find_extent(*cells) == pytest.approx(ends)


def test_runs_of_publication_surround_the_column_middle() -> None:
    """Runs are 0.4 apart, and within 0.64 of the middle if there are many."""
    publication_of_two, publication_of_five = (
        publish("2024-01-01", "1", "2", m=["1", "2"]),
        publish("2024-02-01", *"23456", m=["1"] * 5),
    )
    publication_of_one = publish("2024-03-01", "7", m=["1"])
    plot = draw_plot([publication_of_two, publication_of_five, publication_of_one])
    assert [row["x"] for row in select_marks(plot, "base", "run")] == [0.3, 0.7, 1.18, 1.34, 1.5, 1.66, 1.82, 2.5]
    assert [row["x"] for row in select_marks(plot, "column")] == [1.0, 2.0]
    assert [row["x"] for row in select_marks(plot, "extent")] == [0.0, 3.0]
    assert [(row["x"], row["text"]) for row in select_marks(plot, "label")] == [(0.5, "2"), (1.5, "6"), (2.5, "7")]


def test_rule_precedes_its_run_and_is_shared() -> None:
    """A break of form next to a break of meaning is drawn as one of meaning."""
    first, second = publish("2024-01-01", "1", "2", m=["1", "2"]), publish("2024-02-01", "2", "3", m=["1", "2"])
    breaks = [
        declare("2024-02-01", kind=FORM),
        declare("2024-01-15", key="B"),
        declare("2024-02-01", "3", key="C", kind=FORM),
        declare("2024-02-01", key="D", metric="n"),
    ]
    assert select_marks(draw_plot([first, second], breaks), "break") == [
        {"panel": FAST, "mark": "break", "x": 1.0, "kind": MEANING, "text": "A B"},
        {"panel": FAST, "mark": "break", "x": 1.5, "kind": FORM, "text": "C"},
    ]


def test_run_without_value_has_no_dot_and_base_no_lines() -> None:
    plot = draw_plot([publish("2024-01-01", "1", "2", "3", m=["—", "2", "—"])])
    assert [(row["mark"], row["run"], row["value"]) for row in select_marks(plot, "base", "run", "move")] == [
        ("run", "2", "2")
    ]


def test_workload_without_a_value_has_no_panel() -> None:
    plot = draw_plot([publish("2024-01-01", "1", m=["2"]), publish("2024-01-02", "1", workload=SLOW, m=["—"])])
    assert plot.panels == (FAST,)


def test_long_label_is_cut_to_13_characters() -> None:
    short_publication, long_publication = (
        publish("2024-01-01", "10.5.4-pre-01", m=["1"]),
        publish("2024-02-01", "10.5.4-pre-012", m=["1"]),
    )
    assert [row["text"] for row in select_marks(draw_plot([short_publication, long_publication]), "label")] == [
        "10.5.4-pre-01",
        "10.5.4-pre-0…",
    ]


@pytest.mark.parametrize(
    ("count", "expected"), [(26, list(range(26))), (27, list(range(0, 27, 2))), (60, list(range(2, 60, 3)))]
)
def test_labels_that_do_not_fit_are_left_out(count: int, expected: Sequence[int]) -> None:
    issues = [publish(f"2024-{1 + index // 28:02}-{1 + index % 28:02}", str(index), m=["1"]) for index in range(count)]
    assert [int(row["text"]) for row in select_marks(draw_plot(issues), "label")] == expected


def test_plot_names_its_first_and_last_values() -> None:
    issues = [
        publish("2024-01-01", "1", "2", m=["10", "20"]),
        publish("2024-02-01", "2", "3", m=["30", "40"]),
        publish("2024-02-02", "2", "3", n=["5", "6"]),
        publish("2024-02-03", "2", "3", workload=SLOW, m=["7", "8"]),
    ]
    breaks = [declare("2024-02-01"), declare("2024-02-01", key="B", metric="n")]
    assert draw_plot(issues, breaks).description == (
        "Latency over releases: fast, 2 publications, from 10 s to 40 s; slow, 1 publication, from 7 s to 8 s. "
        "Breaks: A."
    )
