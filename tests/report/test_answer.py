"""The first page of a comparison: what its sentences say, what its axis shows, and that it is one page."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pypdf
import pytest
import yaml

from assay.app.judge.judging import mark_equal_changes
from assay.judgement.batches import RunCells, measure_run
from assay.judgement.change import Change, Interval
from assay.judgement.interval import Comparison, Component, Reason, Spread, Version, compare
from assay.judgement.paired_segments import SegmentPair, pair_segments
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.tails import TailChange
from assay.judgement.verdict import Direction, Margin, Verdict, judge, withdraw_verdict
from assay.lang.model.package import Metric
from assay.report.document import Document
from assay.report.document_json import parse_document, to_json
from assay.report.first_page.answer import Answer, JudgedRow, JudgedSegment
from assay.report.first_page.candidates import Candidate, format_values
from assay.report.first_page.compose import ComparedPair, compose_answer, describe_change, explain_undecided
from assay.report.first_page.forest_axis import choose_axis
from assay.report.judged_cells import (
    describe_few_units,
    explain_short_reasons,
    get_arrow,
    get_reason,
    get_word,
    list_judgement_notes,
)
from assay.report.render.markdown import render_markdown
from assay.report.render.pdf import render
from assay.report.verdicts.headline import compose_counts, compose_headline
from assay.report.verdicts.recorded_change import ComparedAverages, RecordedChange, build_change_data, parse_change
from tests.report_sample import TEMPLATES, build_sample, limit_charts
from tests.support.deep import is_deep
from tests.support.simulated_metrics import simulate_propagation, simulate_resources

CASES = Path(__file__).parent / "cases" / "answers.yaml"
#: change and standard error in percent with which a metric that is better if lower has a verdict at a margin of 2 %
CHANGES = {
    "worse": (20.0, 1.0),
    "better": (-20.0, 1.0),
    "changed": (20.0, 1.0),
    "same": (0.1, 0.2),
    "cannot tell": (5.0, 9.0),
    "data lost": (20.0, 1.0),
}
LABELS = ("v1", "v2")
PAIR = ComparedPair(LABELS, "two", "95 %")
SLOW_PAIRS = 50 if is_deep() else 10
SLOWED = set(simulate_propagation(1))
BOTTOM = 20 / 25.4 * 72  # points: the margin of the page


def create_change(
    word: str, direction: Direction, margin: float = 2.0, sizes: tuple[float, float] = (0.0, 0.0)
) -> JudgedChange:
    """Return a change with a verdict; `sizes` are the change and its standard error if not those of the verdict."""
    if word == "no interval":
        return JudgedChange(judge(Reason.NO_TIME, Margin(margin), direction), Margin(margin))
    value, error = sizes if any(sizes) else CHANGES[word]
    comparison = Comparison(
        100.0,
        100.0 + value,
        Change(value, error, 60),
        Change(value, error, 60),
        Spread(error**2, 60, Component.TIME, 61),
        500,
    )
    judgement = judge(comparison, Margin(margin), direction)
    if word == Verdict.DATA_LOST:
        judgement = withdraw_verdict(judgement)
    assert judgement.verdict == word
    return JudgedChange(judgement, Margin(margin), sizes=(500, 501))


def record(label: str, change: JudgedChange, section: str = "Section") -> RecordedChange:
    comparison = change.judgement.comparison
    averages = change.averages or ((comparison.base, comparison.value) if comparison else (100.0, 100.0))
    compared = ComparedAverages(f"m.{label}", label, "ms", section, averages)
    return parse_change(compared, build_change_data(f"m.{label}", change, 0.95), 0.95)


def create_candidate(label: str, change: JudgedChange, section: str = "Section") -> Candidate:
    judgement = change.judgement
    interval = judgement.interval
    row = JudgedRow(
        f"m.{label}", label, "100 ms", "120 ms", "+20 %", "+18 … +22" if interval else "", get_word(change),
        get_arrow(change), "500 / 501", judgement.comparison.percent.value if judgement.comparison else None,
        interval.low if interval else None, interval.high if interval else None, judgement.margin,
        judgement.reason.value if judgement.reason else "",
    )  # fmt: skip
    return Candidate(record(label, change, section), row)


def list_changes(
    verdicts: Mapping[str, int], direction: Direction, margins: Sequence[float]
) -> Iterator[tuple[str, JudgedChange]]:
    for word, count in verdicts.items():
        for number in range(count):
            yield f"{word} {number}", create_change(word, direction, margins[number % len(margins)])


def list_candidates(verdicts: Mapping[str, int], direction: Direction, margins: Sequence[float]) -> Iterator[Candidate]:
    yield from itertools.starmap(create_candidate, list_changes(verdicts, direction, margins))


def compose(case: Mapping[str, Any]) -> Answer:
    margins = case.get("margins", [2.0])
    named_changes = [
        *list_changes(case["verdicts"], Direction.LOWER, margins),
        *list_changes(case.get("conditions", {}), Direction.NEITHER, margins),
    ]
    labels, changes = ([item[index] for item in named_changes] for index in (0, 1))
    if percents := case.get("paired"):
        pairs = [SegmentPair(f"m[case={number}]", Fraction(100), 100 + Fraction(percent), (1, 1))
                 for number, percent in enumerate(percents)]  # fmt: skip
        changes[0] = replace(changes[0], paired=pair_segments(pairs, changes[0].margin))
    for number, (share, base, value, word) in enumerate(case.get("tails", ())):
        tail = TailChange(
            Fraction(str(share)), base, value, Interval(0.0, 0.0), Verdict(word), is_closing=False, p=0.01
        )
        changes[number] = replace(changes[number], tails=(tail,))
    for number in case.get("by_itself", ()):
        changes[number] = replace(changes[number], is_by_itself=True)
    candidates = list(map(create_candidate, labels, changes))
    segments = tuple(Verdict(word) for word in case.get("segments", ()))
    if segments:
        changed = tuple((10.0 - number, JudgedSegment(f"m[op={number}]", "s", f"write {number}", "+20 %", word, "▲"))
                        for number, word in enumerate(segments) if word in ("worse", "better"))  # fmt: skip
        candidates[0] = replace(candidates[0], segment_verdicts=segments, segments=changed)
    return compose_answer(
        replace(PAIR, unequal=tuple(case.get("unequal", ())), are_single_runs=case.get("single_runs", False)),
        candidates,
    )


CASE_LIST = yaml.safe_load(CASES.read_text(encoding="utf-8"))


def test_changes_within_the_margin_are_not_seen() -> None:
    """However narrow an interval is, a change is seen only beyond the margin."""
    wide, narrow = (
        create_change("cannot tell", Direction.LOWER, sizes=(5.0, 900.0)),
        create_change("same", Direction.LOWER, sizes=(0.0, 0.01)),
    )
    answer = compose_answer(PAIR, [create_candidate("wide", wide), create_candidate("narrow", narrow)])
    assert answer.headline.endswith("; changes of 2 % would have been seen in 1 of 2 metrics")


@pytest.mark.parametrize("case", CASE_LIST, ids=[item["case"] for item in CASE_LIST])
def test_sentences_say_what_the_verdicts_are(case: Mapping[str, Any]) -> None:
    answer = compose(case)
    assert (answer.headline, answer.counts) == (case["headline"], case["counts"])
    assert answer.caution == case.get("caution", "")
    if "omitted" in case:
        assert answer.omitted == case["omitted"]


def test_rows_that_changed_precede_others_when_lines_are_few() -> None:
    answer = compose({"verdicts": {"same": 30, "cannot tell": 30, "worse": 5, "no interval": 30}})
    verdicts = [row.verdict for group in answer.groups for row in group.rows]
    assert (verdicts.count("worse"), verdicts.count("cannot tell")) == (5, 30)
    assert verdicts == sorted(verdicts, key=["same", "cannot tell", "worse"].index)  # in the order of the report


def test_main_result_is_a_key_change_if_it_changed() -> None:
    """It is the first of the report, however large others are; a gate that names metrics decides without it."""
    candidates = list(list_candidates({"worse": 4}, Direction.LOWER, [2.0]))
    for word, sizes in (("worse", (10.0, 1.0)), ("same", (0.1, 0.2))):
        main = create_candidate("main", create_change(word, Direction.LOWER, sizes=sizes))
        answer = compose_answer(PAIR, [main, *candidates])
        labels = [item.label for item in answer.key_changes]
        assert labels == ["worse 0", "worse 1", "main" if word == "worse" else "worse 2"]
    main = create_candidate("main", create_change("worse", Direction.LOWER, sizes=(10.0, 1.0)))
    gated = [main, replace(candidates[0], is_key=True), *candidates[1:]]
    answer = compose_answer(PAIR, gated)
    assert [item.label for item in answer.key_changes] == ["worse 0"]


def test_key_changes_are_the_gate_else_what_changed() -> None:
    candidates = list(list_candidates({"same": 1, "worse": 5}, Direction.LOWER, [2.0]))
    labels = [item.label for item in compose_answer(PAIR, candidates).key_changes]
    assert labels == ["worse 0", "worse 1", "worse 2"]
    candidates[0] = replace(candidates[0], is_key=True)
    answer = compose_answer(PAIR, candidates)
    assert [item.label for item in answer.key_changes] == ["same 0", "worse 0", "worse 1", "worse 2"]
    candidates[4] = replace(candidates[4], is_key=True)
    answer = compose_answer(PAIR, candidates)
    assert [(item.label, item.arrow) for item in answer.key_changes] == [("worse 3", "▲"), ("same 0", "")]


@pytest.mark.parametrize(("error", "notes"), [
    (0.9, []), (1.1, ["Same by the 90 % interval, though that of 95 % reaches beyond the margin: Metric a."]),
])  # fmt: skip
def test_note_names_what_is_the_same_beyond_the_margin(error: float, notes: list[str]) -> None:
    changes = {("a", "two"): create_change("same", Direction.LOWER, 2.0, (0.0, error))}
    metric = SimpleNamespace(id="a", name="Metric a")
    judgements = ReportJudgements(0.95, (1, 1), 0, 0, "", (), changes)
    assert list(list_judgement_notes(judgements, [cast(Metric, metric)], "two")) == notes


def test_reasons_of_many_metrics_are_short() -> None:
    """A note names five of them; a row of the first page has few words, which a sentence below explains."""
    change = JudgedChange(judge(Reason.FEW_SAMPLES, Margin(2.0), Direction.LOWER), Margin(2.0))
    changes = {(f"m{number}", "two"): change for number in range(8)}
    metrics = [cast(Metric, SimpleNamespace(id=name, name=f"Metric {name}")) for name, _ in changes]
    judgements = ReportJudgements(0.95, (1, 1), 0, 0, "", (), changes)
    names = "Metric m0, Metric m1, Metric m2, Metric m3, Metric m4 and 3 more"
    assert list(list_judgement_notes(judgements, metrics, "two")) == [
        f"No interval: {names} (a run has fewer than 5 samples)."
    ]
    assert get_reason(change) == "few samples"
    others = [("other", create_change(word, Direction.LOWER)) for word in ("no interval", "worse")]
    assert explain_short_reasons([("Wait", change), *others]) == (
        "No interval: Wait (a run has fewer than 5 samples). Record more samples, or repeats (`--run v=A --run v=B`)."
    )
    assert explain_short_reasons(others) == ""


@pytest.mark.parametrize(("value", "error", "is_noted"), [(20.0, 1.0, True), (-20.0, 1.0, True), (5.0, 9.0, False)])
def test_note_says_why_a_clear_change_is_open(value: float, error: float, is_noted: bool) -> None:
    change = Change(value, error, 60)
    spread = Spread(error**2, 60, Component.TIME, 61, Reason.FEW_BATCHES)
    judgement = judge(Comparison(100.0, 100.0 + value, change, change, spread, 500), Margin(2.0), Direction.LOWER)
    changes = [record("Wait", JudgedChange(judgement, Margin(2.0)))]
    reason = f"Wait ({Reason.FEW_BATCHES})"
    assert explain_undecided(changes) == (
        f"Cannot tell, though the interval lies beyond the margin: {reason}." if is_noted else ""
    )
    others = itertools.starmap(record, list_changes({"cannot tell": 1, "worse": 1}, Direction.LOWER, [2.0]))
    assert explain_undecided(others) == ""


def judge_simulated(base: Mapping[str, RunCells], other: Mapping[str, RunCells]) -> Iterator[Candidate]:
    """Judge metrics of two simulated runs that are better if lower, at a margin of 2 %."""
    for name, cells in base.items():
        versions = [Version.from_runs([measure_run(item)]) for item in (cells, other[name])]
        judgement = judge(compare(*versions), Margin(2.0), Direction.LOWER)
        yield create_candidate(name, JudgedChange(judgement, Margin(2.0)))


def test_slowed_metrics_are_worse_on_first_page() -> None:
    """The delays of a block are 20 % longer; the resources of hosts are those of another run as fast."""
    pages = []
    for seed in range(SLOW_PAIRS):
        candidates = [
            *judge_simulated(simulate_propagation(1000 + seed), simulate_propagation(2000 + seed, 1.2)),
            *judge_simulated(simulate_resources(1000 + seed), simulate_resources(2000 + seed)),
        ]
        answer = compose_answer(PAIR, candidates)
        worse = {row.label for group in answer.groups for row in group.rows if row.verdict == "worse"}
        pages.append(bool(worse) and worse <= SLOWED and answer.headline.startswith("v2 is worse than v1 in "))
    assert sum(pages) >= 0.95 * SLOW_PAIRS


@pytest.mark.parametrize(
    ("values", "symbol", "expected"),
    [
        ((2.94e-5, 4.36e-5), "s", ("29.4 µs", "43.6 µs")),
        ((0.00079, 0.00124), "s", ("0.790 ms", "1.24 ms")),
        ((7.53, 9.857), "%", ("7.53 %", "9.86 %")),
        ((1.0, 0.966), "∶", ("1.00", "0.966")),
        ((None, 3.0), "s", ("—", "3.00 s")),
    ],
)
def test_values_have_one_unit(values: tuple[float | None, ...], symbol: str, expected: tuple[str, str]) -> None:
    assert format_values(values, symbol) == expected


def test_few_units_name_their_metrics_unless_all_have_few() -> None:
    judgement = create_change("worse", Direction.LOWER).judgement
    assert judgement.comparison
    short = replace(judgement, comparison=replace(judgement.comparison, units=51))
    named = [("wait", short), ("work", judgement)]
    assert describe_few_units(named) == "51 units of time are few: 61 batches (wait)."
    assert describe_few_units(named[:1]) == "51 units of time are few: 61 batches."
    assert describe_few_units(named[1:]) == ""


def test_change_in_words_has_its_unit_once() -> None:
    row = create_candidate("m", create_change("worse", Direction.LOWER)).row
    assert describe_change(row) == "100 → 120 ms, +20 % (+18 … +22)"


@pytest.mark.parametrize(
    ("intervals", "margin", "low", "high", "labels"),
    [
        ([(10, 50)] * 4, 2, -13.125, 52.5, ["-10", "0", "+10", "+20", "+30", "+40", "+50"]),
        ([(-1, 1)] * 4, 2, -1.05, 1.05, ["-1", "-0.5", "0", "+0.5", "+1"]),
        ([(3, 9), (2, 10), (-400, 900), (1, 8), (4, 10)], 2, -26.25, 26.25, ["-20", "-10", "0", "+10", "+20"]),
        ([(15, 21), (8, 12), (1392, 4000)], 2, -13.78125, 55.125, ["-10", "0", "+10", "+20", "+30", "+40", "+50"]),
        ([], 2, -3.15, 3.15, ["-3", "-2", "-1", "0", "+1", "+2", "+3"]),
    ],
)
def test_axis_has_nice_ticks_and_is_not_stretched(
    intervals: Sequence[tuple[float, float]], margin: float, low: float, high: float, labels: Sequence[str]
) -> None:
    row = create_candidate("m", create_change("cannot tell", Direction.LOWER)).row
    rows = [replace(row, low=first, high=last, margin=margin) for first, last in intervals]
    axis = choose_axis(rows or [replace(row, low=None, high=None, margin=margin)], "better", "worse")
    assert (axis.low, axis.high) == pytest.approx((low, high))
    assert [label for _, label in axis.ticks] == labels
    assert all(position == pytest.approx(float(label)) for position, label in axis.ticks)


def test_axis_has_the_dots_of_worse_and_better_metrics() -> None:
    """Two metrics of which nothing is certain do not push the only worse one off the axis."""
    row = create_candidate("m", create_change("worse", Direction.LOWER)).row
    unsure = [replace(row, change=0.0, low=-5.0, high=4.0, margin=2.0, verdict="cannot tell") for _ in range(5)]
    for change, verdict in ((20.0, "worse"), (-60.0, "better"), (300.0, "worse")):
        certain = replace(row, change=change, low=change - 9, high=change + 9, margin=2.0, verdict=verdict)
        axis = choose_axis([*unsure, certain], "better", "worse")
        assert axis.low < change < axis.high


# The page


def create_document(answers: Sequence[Answer]) -> Document:
    return replace(limit_charts(build_sample(), 1), answers=tuple(answers))


def create_crowded_answer() -> Answer:
    """Create the answer of 300 metrics with long names, in 40 sections, with long values and parameters."""
    long = "A metric whose name goes on and on, as names of metrics do in reports of some systems, number"
    words = ("worse", "cannot tell", "better", "same", "no interval")
    candidates = [
        create_candidate(
            f"{long} {number}", create_change(words[number % 5], Direction.LOWER), f"Section {number % 40} {long}"
        )
        for number in range(300)
    ]
    conditions = list(list_candidates({"changed": 9}, Direction.NEITHER, [2.0]))
    differing = tuple((f"{long} {number}", "x" * 70, f"{long} {number}") for number in range(30))
    labels = ("release-candidate-of-a-branch-with-a-long-name", "release-candidate-of-another-branch-with-a-long-name")
    answer = compose_answer(
        ComparedPair(labels, "two", "95 %", differing, ("A sentence. " * 30, "The end.")),
        [*candidates, *conditions],
    )
    return replace(answer, key_changes=tuple(replace(item, text=long) for item in answer.key_changes))


def list_lowest_texts(page: pypdf.PageObject) -> list[float]:
    """List the heights above the bottom of the page at which its texts are."""
    heights: list[float] = []

    def visit(text: str, user: Any, matrix: Any, font: Any, size: Any) -> None:  # noqa: ARG001
        if text.strip():
            heights.append(user[5] + user[3] * matrix[5])

    page.extract_text(visitor_text=visit)
    return heights


def test_answers_are_one_page_each_before_the_contents(tmp_path: Path) -> None:
    crowded, short = create_crowded_answer(), compose({"verdicts": {"worse": 1}})
    document = create_document([crowded, short])
    assert parse_document(to_json(document)) == document
    render(document, tmp_path, TEMPLATES)
    pages = [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(tmp_path / "report.pdf").pages[:3]]
    assert [("Contents" in page, "verdict" in page) for page in pages] == [(False, True), (False, True), (True, False)]
    assert "in 60 of 240 metrics" in pages[0]
    assert "The end." in pages[0]
    assert short.headline in pages[1]
    heights = list_lowest_texts(pypdf.PdfReader(tmp_path / "report.pdf").pages[0])
    assert sorted(heights)[3] >= BOTTOM  # below are the three texts of the foot


def test_cut_names_of_versions_differ_in_a_report_without_contents(tmp_path: Path) -> None:
    """Columns have no room for long names, whose common begin is cut; four pages or fewer have no contents."""
    names = [f"service 1.0 (release-candidate {number} of the spring)" for number in ("one", "two")]
    answer = replace(compose({"verdicts": {"worse": 1}}), base=names[0], run=names[1])
    document = create_document([answer])
    short = replace(document, parts=document.parts[:1], dictionary=(), terms=(), appendices=(), provenance=())
    render(short, tmp_path, TEMPLATES)
    pages = [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(tmp_path / "report.pdf").pages]
    assert len(pages) < 5
    assert not any("Contents" in page for page in pages)
    assert ("…one of" in pages[0], "…two of" in pages[0]) == (True, True)


def test_parameters_of_runs_move_behind_the_tables() -> None:
    plain, answered = build_sample(), replace(build_sample(), answers=(compose({"verdicts": {"worse": 1}}),))
    title, section = f"</a>{plain.manifest.title}", f"</a>{plain.metric_tables[0].title}"
    assert render_markdown(plain).index(title) < render_markdown(plain).index(section)
    assert render_markdown(answered).index(title) > render_markdown(answered).index(section)


def test_markdown_has_verdicts_in_words() -> None:
    text = render_markdown(create_document([compose({"verdicts": {"worse": 1, "cannot tell": 1, "no interval": 1}})]))
    rows = [line for line in text.split("## Contents")[0].splitlines() if line.startswith("|")]
    assert rows[0] == "|  | v1 | v2 | Change | 95 % | Verdict | Samples |"
    assert rows[2:] == [
        "| **Section** |  |  |  |  |  |  |",
        "| worse 0 | 100 ms | 120 ms | +20 % | +18 … +22 | **▲ worse** | 500 / 501 |",
        "| cannot tell 0 | 100 ms | 120 ms | +20 % | +18 … +22 | cannot tell | 500 / 501 |",
        "| no interval 0 | 100 ms | 120 ms | +20 % |  | no interval: its rows have no time | 500 / 501 |",
    ]


def test_equal_metrics_count_once_in_headline_and_counts() -> None:
    """A metric of another version or direction, and one without an interval, is not equal; a segment has no mark."""
    worse, same, other = (create_change(word, Direction.LOWER) for word in ("worse", "same", "no interval"))
    changes = {("a", "v"): same, ("b", "v"): worse, ("c", "v"): worse, ("d", "v"): worse, ("e", "v"): other,
               ("f", "v"): other, ("a[k=1]", "v"): worse, ("b", "w"): worse}  # fmt: skip
    marked = mark_equal_changes(changes)
    assert {key: change.equal_to for key, change in marked.items() if change.equal_to} == {
        ("b", "v"): "b", ("c", "v"): "b", ("d", "v"): "b",
    }  # fmt: skip
    of_version = [
        record(name, change) for (name, version), change in marked.items() if version == "v" and "[" not in name
    ]
    assert compose_headline(("old", "new"), of_version) == "new is worse than old in 1 of 2 metrics"
    assert compose_counts(of_version[1:4]) == (
        "1 worse, 0 better, 0 same within 2 %, 0 cannot tell; 2 more have the values of another."
    )
