"""Histories of metrics: order, choice of results, meaning, tags and level shifts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.app.compare.metric_history import describe_history
from assay.judgement.verdict import Direction, Margin
from assay.registry.history import HistoryScope, MetricRules, compute_history
from assay.registry.model import RecordedResults, RegisteredRun
from assay.util.diagnostics import AssayError
from tests.support.recorded import DEFINITION, create_results


def create_run(name: str, *tags: str, day: str = "", commit: str = "") -> RegisteredRun:
    return RegisteredRun(Path(f"{name}.json"), name, (name,), tags, commit, day)


def test_runs_are_by_day_then_by_numbers_in_their_names() -> None:
    recorded = [create_results(name, 1.0, day) for name, day in
                (("10.10", "2026-01-02"), ("10.9", "2026-01-02"), ("b", "2026-01-01"), ("a", ""))]  # fmt: skip
    history = compute_history(recorded, [], "wait")
    assert [point.run for point in history.points] == ["a", "b", "10.9", "10.10"]


def test_registered_day_tags_and_commit_are_those_of_points() -> None:
    recorded = [create_results("a", 1.0, "2026-01-01"), create_results("b", 2.0, "2026-01-02")]
    history = compute_history(recorded, [create_run("a", "release", day="2026-02-01", commit="c0ffee")], "Waiting time")
    assert [(point.run, point.day, point.tags, point.commit) for point in history.points] == [
        ("b", "2026-01-02", (), ""), ("a", "2026-02-01", ("release",), "c0ffee"),
    ]  # fmt: skip


@pytest.mark.parametrize(("tag", "comparable"), [("", "abce"), ("experiment", "d")])
def test_experiments_are_no_points_of_the_series(tag: str, comparable: str) -> None:
    recorded = [create_results(name, 1.0, f"2026-03-0{day}") for day, name in enumerate("abcde", start=1)]
    history = compute_history(recorded, [create_run("d", "experiment")], "wait", scope=HistoryScope(tag=tag))
    assert "".join(point.run for point in history.points if not point.differences) == comparable
    assert [point.differences for point in history.points if point.run == "d"] == [() if tag else ("conditions",)]


def test_tag_and_last_restrict_runs() -> None:
    recorded = [create_results(name, 1.0, f"2026-01-0{day}") for day, name in enumerate("abcd", start=1)]
    runs = [create_run(name, "release") for name in "abc"]
    assert [
        point.run for point in compute_history(recorded, runs, "wait", scope=HistoryScope(tag="release")).points
    ] == ["a", "b", "c"]
    points = compute_history(recorded, runs, "wait", scope=HistoryScope(last=2)).points
    assert [point.run for point in points] == [
        "c",
        "d",
    ]


def test_results_of_repeats_belong_to_their_run() -> None:
    recorded = [create_results(f"v-{number}", 1.0, version="v") for number in (1, 2)]
    history = compute_history(
        [*recorded, create_results("w", 1.0)], [create_run("v", "release")], "wait", scope=HistoryScope(tag="release")
    )
    assert [point.run for point in history.points] == ["v-1", "v-2"]


def test_other_logs_of_one_name_are_another_point() -> None:
    recorded = [create_results("nightly", value, f"2026-01-0{value:.0f}", data=f"{value}") for value in (1.0, 2.0)]
    assert [point.value for point in compute_history(recorded, [], "wait").points] == [1.0, 2.0]


def test_results_of_a_newer_assay_replace_older_ones() -> None:
    recorded = [create_results("a", value, assay=version) for value, version in ((1.0, "0.10.0"), (2.0, "0.9.0"))]
    assert [point.value for point in compute_history(recorded, [], "wait").points] == [1.0]


@pytest.mark.parametrize(
    ("members", "differences"),
    [
        ({"definition": "e" * 64}, ("definition",)),
        ({"filters": ("unitary",)}, ("filters",)),
        ({"unit": "s", "summary": "hosts"}, ("unit", "summary")),
    ],
)
def test_run_of_another_meaning_is_marked(members: dict[str, object], differences: tuple[str, ...]) -> None:
    recorded = [create_results("a", 1.0, "2026-01-01", **members), create_results("b", 1.0, "2026-01-02")]
    assert [point.differences for point in compute_history(recorded, [], "wait").points] == [differences, ()]


def test_definition_of_the_specs_decides() -> None:
    old, new = DEFINITION, "e" * 64
    recorded = [create_results("a", 1.0, "2026-01-01"), create_results("b", 1.0, "2026-01-02", definition=new)]
    for definition, expected in ((old, [False, True]), (new, [True, False]), ("f" * 64, [True, False])):
        history = compute_history(recorded, [], "wait", rules=MetricRules(definition))
        assert [bool(point.differences) for point in history.points] == expected
    rebuilt = [*recorded, create_results("a", 3.0, "2026-01-01", definition=new)]
    assert [point.value for point in compute_history(rebuilt, [], "wait", rules=MetricRules(new)).points] == [3.0, 1.0]


def list_nights(values: list[float]) -> list[RecordedResults]:
    return [create_results(f"n{number}", value, f"2026-01-{number + 1:02d}") for number, value in enumerate(values)]


def test_level_shift_has_its_run_averages_and_verdict() -> None:
    noise = random.Random(1)
    values = [10 + noise.gauss(0, 0.1) for _ in range(8)] + [12 + noise.gauss(0, 0.1) for _ in range(4)]
    recorded = list_nights(values)
    for direction, verdict in (("lower", "worse"), ("higher", "better"), ("neither", "changed")):
        rules = MetricRules(direction=Direction(direction))
        (shift,) = compute_history(recorded, [], "wait", rules=rules).shifts
        assert (shift.point.run, shift.runs_before, shift.runs_since, shift.verdict.value) == ("n8", 8, 4, verdict)
        assert shift.before == pytest.approx(sum(values[:8]) / 8)
        assert shift.after == pytest.approx(sum(values[8:]) / 4)
    assert compute_history(recorded, [], "wait", rules=MetricRules(margin=Margin(percent=30))).shifts == ()
    assert compute_history(recorded, [], "wait", scope=HistoryScope(last=4)).shifts[0].runs_before == 8
    assert compute_history(recorded, [], "wait", scope=HistoryScope(last=3)).shifts == ()


@pytest.mark.parametrize(
    ("commits", "versions", "verdict"),
    [
        (("a", "b"), (None, None), "worse"),
        (("a", "a"), (None, None), "environment"),
        (("", ""), ("v", "v"), "environment"),
        (("", ""), (None, None), "worse"),
    ],
)
def test_rerun_of_a_version_is_not_worse_than_itself(
    commits: tuple[str, str], versions: tuple[str | None, str | None], verdict: str
) -> None:
    """The shift lies between n7 and n8, which have these commits, or are repeats of one registered name."""
    values = [10 + 0.05 * (-1) ** night for night in range(8)] + [12 + 0.05 * (-1) ** night for night in range(6)]
    recorded = [
        create_results(f"n{night}", value, f"2026-01-{night + 1:02d}",
                       **({"version": versions[night - 7]} if night in (7, 8) and versions[night - 7] else {}))
        for night, value in enumerate(values)
    ]  # fmt: skip
    runs = [create_run(f"n{night}", commit=commit) for night, commit in zip((7, 8), commits, strict=True)]
    (shift,) = compute_history(recorded, runs, "wait", rules=MetricRules(direction=Direction.LOWER)).shifts
    assert (shift.point.run, shift.verdict.value) == ("n8", verdict)


def test_drift_is_one_sentence() -> None:
    noise = random.Random(1)
    recorded = list_nights([10 + 0.05 * night + noise.gauss(0, 0.05) for night in range(25)])
    history = compute_history(recorded, [], "wait", rules=MetricRules(direction=Direction.LOWER))
    (sentence,) = describe_history(history).shifts
    assert history.shifts == ()
    assert (
        sentence == "Drift from n0 to n24: from 9.99 to 11.2 ms (+12 %, 95 % interval +11.3 … +13.0), worse; p < 0.0001"
    )


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([10.0, 10.0, 15.0], "Too few runs to tell: a level shift needs at least 4 runs."),
        ([9.0, 10.0, 11.0, 13.0, 14.0, 15.0],
         "Too few runs to tell: they show a level shift only if it is larger than 15.8 ms."),
        ([10.0, 10.01] * 20, "No level shift."),
    ],
)  # fmt: skip
def test_few_runs_are_no_sign_of_no_shift(values: list[float], sentence: str) -> None:
    history = compute_history(list_nights(values), [], "wait")
    assert (history.shifts, describe_history(history).no_shift) == ((), sentence)


def test_runs_of_another_meaning_cause_no_shift() -> None:
    recorded = [
        create_results(f"a{day}", 1.0 + day / 100, f"2026-01-0{day}", definition="e" * 64) for day in range(1, 7)
    ]
    recorded += [create_results(f"b{day}", 9.0 + day / 100, f"2026-02-0{day}") for day in range(1, 7)]
    assert compute_history(recorded, [], "wait").shifts == ()


@given(st.lists(st.floats(1, 100), min_size=1, max_size=12), st.randoms())
def test_order_of_files_does_not_matter(values: list[float], order: random.Random) -> None:
    recorded = list_nights(values)
    shuffled = order.sample(recorded, len(recorded))
    assert compute_history(shuffled, [], "wait") == compute_history(recorded, [], "wait")


def test_run_without_samples_is_a_point_without_value() -> None:
    history = compute_history([create_results("a", None), create_results("b", 1.0)], [], "wait")
    assert [point.value for point in history.points] == [None, 1.0]


def test_unknown_names_are_refused_with_a_hint() -> None:
    recorded, runs = [create_results("a", 1.0)], [create_run("a", "release"), create_run("b", "nightly")]
    for words, hint in ((("wit", ""), "did you mean `wait`?"), (("wait", "relase"), "did you mean `release`?"),
                        (("wait", "nightly"), "build a report over the run by its registered name")):  # fmt: skip
        with pytest.raises(AssayError) as error:
            compute_history(recorded, runs, words[0], scope=HistoryScope(tag=words[1]))
        assert hint in str(error.value)
    two_systems = [*recorded, create_results("a", 1.0, report="other/comparison")]
    with pytest.raises(AssayError, match="several recorded metrics"):
        compute_history(two_systems, [], "wait")
    assert compute_history(two_systems, [], "wait", scope=HistoryScope(system="other")).system == "other"


def test_break_separates_runs_from_those_after_it() -> None:
    recorded = [create_results(name, 1.0, f"2026-03-0{day}") for day, name in enumerate("abcde", start=1)]
    rules = MetricRules(breaks=("2026-03-02", "2026-03-04", "2026-04-01"))
    points = compute_history(recorded, [], "wait", rules=rules).points
    assert [(point.run, point.differences) for point in points] == [
        ("a", ("meaning",)), ("b", ("meaning",)), ("c", ("meaning",)), ("d", ()), ("e", ()),
    ]  # fmt: skip
