"""The gate reads `results.json` alone: when it passes, fails, or does not decide."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from assay.app.judge.judged_results import read_judged_results
from assay.cli.build_summary import summarize_build
from assay.report.verdicts.figures import sort_by_relevance
from assay.report.verdicts.sentences import count_verdicts
from tests.support.commands import run_assay
from tests.support.judged_results import CAUTION, NOISE, judge_metric, write_results

LOST = judge_metric("data lost", 1.0, "a run has no samples, though another has")


@pytest.mark.parametrize(
    ("metrics", "status", "lines"),
    [
        pytest.param(
            {"a": judge_metric("same", 0.6, percent=2), "b": judge_metric("better", 1.0, percent=2)},
            0,
            [
                "none of 2 gated metrics is worse by more than its margin",
                "  Metric a  100 → 110 µs  +10 %  (+8 … +12)  margin 2 %  same",
                "  Metric b  100 → 110 µs  +10 %  (+8 … +12)  margin 2 %  better",
            ],
            id="passes",
        ),
        pytest.param(
            {
                "a": judge_metric("worse", 0.0001, percent=2, amount=0.5),
                "b": judge_metric("cannot tell", 0.3, percent=2),
            },
            4,
            [
                "1 of 2 gated metrics is worse by more than its margin",
                "  Metric a  100 → 110 µs  +10 %  (+8 … +12)  margin 2 % or 0.5 ms  worse        Holm p < 0.001",
                "  Metric b  100 → 110 µs  +10 %  (+8 … +12)  margin 2 %            cannot tell",
            ],
            id="one worse",
        ),
        pytest.param({"a": judge_metric("worse", 0.05)}, 4, [
            "1 of 1 gated metric is worse by more than its margin",
            "  Metric a  100 → 110 µs  +10 %  (+8 … +12)  margin 0  worse  Holm p 0.050",
        ], id="p at the limit"),
        pytest.param({"a": judge_metric("worse", 0.051)}, 0, [
            "none of 1 gated metric is worse by more than its margin",
            "  Metric a  100 → 110 µs  +10 %  (+8 … +12)  margin 0  worse  Holm p 0.051",
        ], id="p beyond the limit"),
        pytest.param({"a": judge_metric("no interval", 1.0, "its rows have no time"),
                      "b": judge_metric("same", 0.6)}, 0, [
            "none of 2 gated metrics is worse by more than its margin; 1 has no interval",
            "  Metric b  100 → 110 µs  +10 %  (+8 … +12)  margin 0  same",
            "  Metric a: no interval: its rows have no time",
        ], id="no interval"),
        pytest.param(
            {
                "a": judge_metric("worse", 0.06, p_margin=0.02),
                "b": judge_metric("cannot tell", 0.06, p_margin=0.03),
                "c": judge_metric("cannot tell", 0.3, p_margin=0.3),
                "d": judge_metric("cannot tell", 0.06, "the run is too short", p_margin=0.02),
            },
            0,
            [
                "passes, but cannot tell for 3 of 4 gated metrics: Metric b may have changed by up to +12 %",
                "  Metric c  100 → 110 µs  +10 %  (+8 … +12)  margin 0  cannot tell",
                "worse before correction for 4 gated metrics:",
                "  Metric a  100 → 110 µs  +10 %  (+8 … +12)  margin 0  worse        p 0.020  Holm p 0.060",
                "  Metric b  100 → 110 µs  +10 %  (+8 … +12)  margin 0  cannot tell  p 0.030  Holm p 0.060",
                "Record more runs, or widen the margin of Metric b (0).",
                "  Metric d: cannot tell: the run is too short",
            ],
            id="worse before correction",
        ),
        pytest.param(
            {
                "a": judge_metric("same", 0.6),
                "a[kind=x]": judge_metric("worse"),
                "a[kind=y]": judge_metric("better"),
                "b": judge_metric("worse"),
            },
            0,
            [
                "none of 1 gated metric is worse by more than its margin",
                "  Metric a  100 → 110 µs  +10 %  (+8 … +12)  margin 0  same",
                "worse, but not in the gate: Metric a[kind=x] +10 % (+8 … +12), Metric b +10 % (+8 … +12)",
            ],
            id="worse outside of the gate",
        ),
    ],
)  # fmt: skip
def test_gate_answers(tmp_path: Path, metrics: dict[str, Any], status: int, lines: list[str]) -> None:
    answer = run_assay("gate", write_results(tmp_path, metrics))
    assert (answer.status, answer.err) == (status, "")
    assert answer.out.splitlines() == [f"1.1 against 1.0: {lines[0]}", *lines[1:], "Data: no findings.", NOISE]


@pytest.mark.parametrize(
    ("demanded", "runs", "options", "status"),
    [(3, (1, 1), (), 1), (3, (1, 1), ("--once",), 0), (3, (3, 2), (), 1), (3, (3, 3), (), 0), (1, (1, 1), (), 0)],
)
def test_gate_decides_with_enough_repeats(
    tmp_path: Path, demanded: int, runs: tuple[int, ...], options: tuple[str, ...], status: int
) -> None:
    folder = write_results(tmp_path, {"a": judge_metric("same", 0.6)}, demanded, runs)
    answer = run_assay("gate", folder, *options)
    assert answer.status == status
    assert ("error[too-few-repeats]" in answer.err) == (status == 1)


def test_gate_without_judged_metrics_does_not_decide(tmp_path: Path) -> None:
    metrics = {name: judge_metric("no interval", 1.0, "its rows have no time") for name in ("a", "b")}
    answer = run_assay("gate", write_results(tmp_path, metrics | {"c": judge_metric("same")}), "--once")
    assert (answer.status, answer.out) == (1, "")
    assert "error[nothing-judged]" in answer.err
    assert "found:    its rows have no time\n" in answer.err


def test_gate_of_no_metric_does_not_decide(tmp_path: Path) -> None:
    answer = run_assay("gate", write_results(tmp_path, {}), "--once")
    assert (answer.status, answer.out) == (1, "")
    assert "error[nothing-gated]" in answer.err


def test_gate_of_equal_runs_says_that_they_share_files(tmp_path: Path) -> None:
    note = "1.1 has the raw files of 1.0, byte for byte: a run is compared with itself."
    metrics = {"a": judge_metric("no interval", 1.0, "the difference of the runs does not vary")}
    folder = write_results(tmp_path, metrics, shared_files=[note])
    answer = run_assay("gate", folder, "--once", "--format", "markdown")
    assert (answer.status, f"  note: {note}\n" in answer.err, note in answer.out) == (1, True, True)


def test_equal_findings_of_runs_are_listed_once(tmp_path: Path) -> None:
    folder = write_results(tmp_path, {"a": judge_metric("same", 0.6)}, labels=tuple("abc"), findings=(2, 2, 9))
    out = run_assay("gate", folder).out
    assert "\nData: all 3 runs: gap 1, gap 2; c: gap 3, gap 4; 5 further findings, under Data quality.\n" in out


WORSE = judge_metric("worse", 0.001)


def test_worse_metric_closes_a_gate_that_lacks_samples(tmp_path: Path) -> None:
    """More samples of one metric cannot open a gate that another one closes."""
    folder = write_results(tmp_path, {"a": WORSE, "b": LOST})
    answer = run_assay("gate", folder)
    assert answer == run_assay("gate", folder, "--allow-missing")
    missing = "Data are missing: no samples to compare 1.1 with 1.0: Metric b."
    assert answer.status == 4
    assert "1 of 2 gated metrics is worse by more than its margin; 1 lost data\n" in answer.out
    assert f"\n{missing}\n" in answer.out
    assert "Data: no findings." not in answer.out
    markdown = run_assay("gate", folder, "--format", "markdown")
    assert markdown.status == 4
    assert f"\n{missing}\n" in markdown.out


def test_headline_of_an_open_gate_has_the_worst_segment(tmp_path: Path) -> None:
    """It is worse for certain, although the gate does not name it."""
    metrics = {"a": judge_metric("same", 0.6), "a[kind=x]": judge_metric("worse", percents=(31.0, 24.0, 38.0))}
    folder = write_results(tmp_path, metrics)
    markdown = run_assay("gate", folder, "--format", "markdown").out.splitlines()[0]
    summary = "none of 1 gated metric is worse by more than its margin"
    assert markdown.startswith(f"**Gate passes, but Metric a\\[kind=x\\] is worse: +31 %: {summary}.** ")
    metrics |= {"a[kind=y]": judge_metric("worse")}
    markdown = run_assay("gate", write_results(tmp_path, metrics), "--format", "markdown").out
    assert "is worse: +31 %, and so is 1 more segment: none of" in markdown


def test_option_gates_all_judged_segments(tmp_path: Path) -> None:
    """Their p are adjusted for the number of segments of the metric; segments without an interval are left out."""
    metrics = {
        "a": judge_metric("same", 0.6),
        "a[kind=w]": {**judge_metric("worse", p_margin=0.02), "better": "lower"},
        "a[kind=x]": judge_metric("worse", p_margin=0.001),
        "a[kind=y]": {**LOST, "gate": None},
        "a[kind=z]": {**judge_metric("changed", p_margin=0.001), "better": "neither"},
    }
    folder = write_results(tmp_path, metrics)
    assert run_assay("gate", folder).status == 0
    assert run_assay("gate", folder, "--segments").status == 4
    gate = run_assay("gate", folder, "--segments", "--format", "json").parse_json()
    changes = {item["metric"]: (item["p"], item["is_closing"]) for item in gate["runs"][0]["changes"]}
    assert changes == {"a[kind=x]": (0.002, True), "a[kind=w]": (0.02, True), "a": (0.6, False)}
    assert gate["runs"][0]["worse_outside_gate"] == []


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_other_number_of_hosts_never_closes_the_gate(tmp_path: Path, form: str) -> None:
    folder = write_results(tmp_path, {"a": WORSE, "b": LOST}, hosts=(2, 1))
    answer = run_assay("gate", folder, "--format", form)
    assert answer.status == 1
    assert "Worse by more than their margin all the same: Metric a." in answer.out + answer.err


def test_worse_before_correction_is_in_every_form(tmp_path: Path) -> None:
    metrics = {"a": judge_metric("worse", 0.06, p_margin=0.02), "b": judge_metric("same", 0.9)}
    folder = write_results(tmp_path, metrics)
    (run,) = run_assay("gate", folder, "--format", "json").parse_json()["runs"]
    assert run["worse_before_correction"] == ["a"]
    assert (run["changes"][0]["p_margin"], run["changes"][0]["p"]) == (0.02, 0.06)
    sentence = "Worse before correction for 2 gated metrics: Metric a +10 % (+8 … +12), p 0.020, Holm p 0.060."
    assert f"\n{sentence}\n" in run_assay("gate", folder, "--format", "markdown").out


BLIND = {
    "a": judge_metric("cannot tell", 1.0, percents=(47.0, -7.0, 131.0), percent=10),
    "b": judge_metric("cannot tell", 1.0, percents=(2.0, -30.0, 50.0), percent=10),
    "c": judge_metric("cannot tell", 1.0, percents=(-10.0, -30.0, 8.0), percent=10),
}
UNDECIDED = "cannot tell for 2 of 3 gated metrics: Metric a may have changed by up to +131 %"


@pytest.mark.parametrize(
    ("repeats", "advice"),
    [
        ((1, 1), "Record more repeats: at least 12 runs of each version are needed for the margin of 10 %."),
        ((3, 3), "Record more repeats: about 36 runs of each version are needed for the margin of 10 %."),
    ],
)
def test_undecided_metrics_are_in_every_form(tmp_path: Path, repeats: tuple[int, int], advice: str) -> None:
    """A metric whose interval does not reach beyond the margin in the bad direction is decided."""
    folder, file = write_results(tmp_path, BLIND, repeats=repeats), tmp_path / "gate.xml"
    text = run_assay("gate", folder, "--junit", file)
    assert (text.status, text.out.splitlines()[0]) == (0, f"1.1 against 1.0: passes, but {UNDECIDED}")
    assert advice in text.out.splitlines()
    comment = run_assay("gate", folder, "--format", "markdown").out.split("\n\n")
    assert comment[0].startswith(f"**Gate passes, but {UNDECIDED}.** ")
    assert comment[2] == advice
    assert f'<skipped message="passes, but {UNDECIDED}. {advice}" />' in file.read_text(encoding="utf-8")
    (run,) = run_assay("gate", folder, "--format", "json").parse_json()["runs"]
    assert run["undecided"] == ["a", "b"]


def test_undecided_gate_fails_on_demand(tmp_path: Path) -> None:
    answer = run_assay("gate", write_results(tmp_path, BLIND, repeats=(3, 3)), "--undecided", "fail")
    assert answer.status == 1
    assert answer.err.splitlines() == [
        "error[gate-undecided]: the gate does not decide: gated metrics cannot tell",
        "  expected: intervals of gated metrics that do not reach beyond their margin",
        f"  found:    {UNDECIDED}",
        "  note: Data: no findings.",
        "  hint: Record more repeats: about 36 runs of each version are needed for the margin of 10 %.",
    ]
    decided = write_results(tmp_path, {"a": BLIND["c"]})
    assert run_assay("gate", decided, "--undecided", "fail").status == 0


def test_possible_fall_of_a_better_high_metric_counts(tmp_path: Path) -> None:
    metrics = {"a": BLIND["a"] | {"better": "higher"}, "c": BLIND["c"] | {"better": "higher"}}
    out = run_assay("gate", write_results(tmp_path, metrics)).out
    assert "passes, but cannot tell for 1 of 2 gated metrics: Metric c may have changed by up to -30 %\n" in out


def test_comment_counts_metrics_without_a_direction(tmp_path: Path) -> None:
    """They are counted only if there are no others, or if they changed."""
    metrics = {
        "a": judge_metric("same", 0.6, percent=2),
        "b": judge_metric("cannot tell", 0.3),
        "c": judge_metric("cannot tell"),
    }
    metrics = {name: {**item, "better": "neither"} for name, item in metrics.items()}
    markdown = run_assay("gate", write_results(tmp_path, metrics), "--format", "markdown").out
    assert "** 3 metrics without a direction: 1 same within 2 %, 2 cannot tell\n" in markdown
    markdown = run_assay(
        "gate", write_results(tmp_path, {**metrics, "d": judge_metric("same")}), "--format", "markdown"
    )
    assert "** 0 worse, 0 better, 1 same, 0 cannot tell\n" in markdown.out


def test_worst_change_is_the_largest_certain_one(tmp_path: Path) -> None:
    """Ten failures after one are +900 %, of which only +19 % are certain."""
    rare, certain = ((900.0, 19.0, 8336.0), (29.0, 24.0, 34.0))
    metrics = {"a": judge_metric("worse", percents=rare), "b": judge_metric("worse", percents=certain)}
    metrics |= {"a[kind=x]": judge_metric("worse", percents=rare), "a[kind=y]": judge_metric("worse", percents=certain)}
    folder = write_results(tmp_path, metrics | {"a[kind=z]": judge_metric("cannot tell")})
    counts = "2 worse, 0 better, 0 same, 0 cannot tell; 2 worse, 0 better of 3 segments"
    assert summarize_build(folder, 1) == f"{counts}; worst: Metric b +29 %; 1.0 s"
    (run,) = read_judged_results(folder).runs
    assert [change.metric for change in run.segments] == ["a[kind=y]", "a[kind=x]"]
    assert [change.metric for change in sort_by_relevance(run.changes)] == ["b", "a"]


def test_equal_metrics_count_once_in_each_version(tmp_path: Path) -> None:
    same = judge_metric("same", 0.6, percent=2)
    metrics = {"a": same, "b": {**same, "equal_to": "a"}, "c": {**same, "equal_to": "a"}}
    folder = write_results(tmp_path, metrics, labels=("1.0", "1.1", "1.2"))
    counts = "2 comparisons with 1.0: 0 worse, 0 better, 2 same within 2 %, 0 cannot tell"
    assert summarize_build(folder, 1) == f"{counts}; 4 more have the values of another; 1.0 s"
    lines = run_assay("gate", folder).out.splitlines()
    text = "none of 1 gated metric is worse by more than its margin; 2 more have the values of another"
    assert [line.partition(": ")[2] for line in lines if " against 1.0: " in line] == [text, text]


def test_counts_of_several_versions_say_so(tmp_path: Path) -> None:
    folder = write_results(tmp_path, {"a": judge_metric("same", 0.6, percent=2)}, labels=("1.0", "1.1", "1.2"))
    counts = "2 comparisons with 1.0: 0 worse, 0 better, 2 same within 2 %, 0 cannot tell"
    assert summarize_build(folder, 1) == f"{counts}; 1.0 s"
    markdown = run_assay("gate", folder, "--format", "markdown").out
    assert f"2 gated metrics is worse by more than its margin.** {counts}\n" in markdown


def test_counts_say_why_no_metric_is_judged(tmp_path: Path) -> None:
    """The reason is that of the table, also if metrics have directions."""
    unjudged = {**judge_metric("no interval", 1.0, "its rows have no time"), "better": "neither"}
    run = read_judged_results(write_results(tmp_path, {"a": unjudged, "b": unjudged})).runs[0]
    reason = "no interval, because its rows have no time"
    assert count_verdicts(run.changes) == f"2 metrics without a direction: 2 {reason}"
    directed = read_judged_results(write_results(tmp_path, {"a": {**unjudged, "better": "lower"}})).runs[0]
    assert count_verdicts(directed.changes) == f"1 {reason}"


def test_comment_counts_segments_for_themselves(tmp_path: Path) -> None:
    """A gated segment is not among the open metrics; a worse one outside of the gate has a sentence.

    Segments of conditions do not count, as on the first page.
    """
    metrics = {
        "a": judge_metric("cannot tell", 0.3),
        "n[kind=x]": {**judge_metric("cannot tell"), "better": "neither"},
        "a[kind=x]": judge_metric("worse"),
        "a[kind=y]": judge_metric("worse", 0.001),
        "a[kind=z]": judge_metric("cannot tell", 0.4),
    }
    markdown = run_assay("gate", write_results(tmp_path, metrics), "--format", "markdown").out
    counts = "0 worse, 0 better, 0 same, 1 cannot tell; 2 worse, 0 better of 3 segments"
    assert (
        f"1 of 3 gated metrics is worse by more than its margin (Metric a\\[kind=y\\] +10 %).** {counts}\n" in markdown
    )
    assert "\nWorse segments outside of the gate: Metric a\\[kind=x\\] +10 % (+8 … +12).\n" in markdown
    assert [line.split("µs")[0] for line in markdown.splitlines() if "µs" in line] == [
        f"| Metric a{name}, " for name in (r"\[kind=y\]", "", r"\[kind=z\]")
    ]
    (run,) = run_assay("gate", tmp_path, "--format", "json").parse_json()["runs"]
    assert run["worse_outside_gate"] == ["a[kind=x]"]


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize(
    ("metrics", "options", "missing"),
    [
        ({"a": LOST, "b": judge_metric("same", 0.6)}, {},
         "no samples to compare 1.1 with 1.0: Metric a"),
        ({"a": judge_metric("same", 0.6)}, {"hosts": (3, 2)}, "hosts: 3 in 1.0, 2 in 1.1"),
        ({"a": judge_metric("worse", 0.001)}, {"hosts": (2, 3)}, "hosts: 2 in 1.0, 3 in 1.1"),
        ({"a": LOST, "b": judge_metric("same", 0.6)},
         {"hosts": (1, 2)}, "hosts: 1 in 1.0, 2 in 1.1; no samples to compare 1.1 with 1.0: Metric a"),
        ({"a": judge_metric("same", 0.6), "other": {**LOST, "gate": None}}, {}, ""),
        ({"a": judge_metric("same", 0.6)}, {"findings": (0, 2)}, ""),
    ],
    ids=["no samples", "host lost", "host added", "both", "outside of the gate", "findings"],
)  # fmt: skip
def test_missing_data_leave_the_gate_undecided(
    tmp_path: Path, metrics: dict[str, Any], options: dict[str, Any], missing: str, form: str
) -> None:
    folder = write_results(tmp_path, metrics, **options)
    answer = run_assay("gate", folder, "--format", form)
    allowed = run_assay("gate", folder, "--format", form, "--allow-missing")
    assert allowed.status == (4 if metrics["a"]["verdict"] == "worse" else 0)
    texts = [answer.out + answer.err, allowed.out]
    if missing:
        assert answer.status == 1
        assert f"found:    {missing}\n" in answer.err
        assert "error[gate-lacks-data]" in answer.err
        assert (f"found: {missing}" in answer.out) == (form == "markdown")
    else:
        assert answer == allowed
    assert all((CAUTION in text) == (len(set(options.get("hosts", (2, 2)))) > 1) for text in texts)
    data = "1.1: gap 1, gap 2, under Data quality." if "findings" in options else "no findings."
    assert all((f"Data: {data}" in text) == (not missing) for text in texts)
    reason = LOST["reason"]
    assert all((reason in text) == (metrics["a"]["reason"] == reason) for text in texts)


@pytest.mark.parametrize(
    ("findings", "affected", "status"),
    [
        ((0, 1), ("a",), 1),
        ((1, 0), ("a",), 1),
        ((1, 1), ("a",), 4),
        ((0, 1), ("b",), 4),
        ((0, 1), (), 4),
    ],
    ids=["of the candidate", "of the base", "of both", "of another metric", "of no metric"],
)
def test_gap_in_one_version_may_be_why_its_metric_is_worse(
    tmp_path: Path, findings: tuple[int, int], affected: tuple[str, ...], status: int
) -> None:
    metrics = {"a": judge_metric("worse", 0.001), "b": judge_metric("same", 0.6)}
    folder = write_results(tmp_path, metrics, findings=findings, affected=affected)
    answer = run_assay("gate", folder)
    assert answer.status == status
    note = "  note: Worse by more than their margin all the same: Metric a.\n"
    assert (note in answer.err) == (status == 1)
    assert run_assay("gate", folder, "--allow-missing").status == 4


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        (None, 2, "no-build"),
        ("[]", 1, "no-build"),
        ("{", 1, "no-build"),
        ('{"judgement": 1}', 1, "no-build"),
        ('{"judgement": {"gate": []}, "runs": []}', 1, "no-build"),
        ('{"report": "service/comparison"}', 1, "no-judgement"),
    ],
)
def test_folder_without_judgements_is_named(tmp_path: Path, text: str | None, status: int, code: str) -> None:
    if text is not None:
        (tmp_path / "results.json").write_text(text, encoding="utf-8")
    answer = run_assay("gate", tmp_path)
    assert (answer.status, answer.out) == (status, "")
    assert f"error[{code}]" in answer.err
    assert str(tmp_path / "results.json") in answer.err


@pytest.mark.parametrize(
    ("members", "hint"),
    [
        ('"series": []', "pass the output folder of a comparison"),
        ('"noise": {}, "runs": [{}, {}, {}]', "build the report without --repeats"),
        (
            '"runs": [{}]',
            "pass a second --run to `assay build`, or compare with recorded results by `--baseline median:5`",
        ),
        (
            '"runs": [{}, {}]',
            "give the report metrics to compare, in sections or in comparisons of parts, and a `judgement`",
        ),
    ],
)
def test_reason_for_no_judgement_is_named(tmp_path: Path, members: str, hint: str) -> None:
    (tmp_path / "results.json").write_text(f'{{"report": "service/comparison", {members}}}', encoding="utf-8")
    answer = run_assay("gate", tmp_path)
    assert answer.err.endswith(f"\n  hint: {hint}\n")


@pytest.mark.parametrize(
    ("member", "value"), [("percent", "ten"), ("margin", None), ("gate", []), ("margin", {"percent": "two"})]
)
def test_damaged_judgement_is_named(tmp_path: Path, member: str, value: object) -> None:
    folder = write_results(tmp_path, {"a": judge_metric("worse", 0.01) | {member: value}})
    answer = run_assay("gate", folder)
    assert (answer.status, answer.out) == (1, "")
    assert "error[no-build]" in answer.err


def test_results_are_all_that_a_gate_needs(tmp_path: Path) -> None:
    folder = write_results(tmp_path, {"a": judge_metric("worse", 0.01)})
    assert run_assay("gate", folder / "results.json") == run_assay("gate", folder)


def test_infinite_number_of_runs_is_named(tmp_path: Path) -> None:
    answer = run_assay("gate", write_results(tmp_path, {}, repeats=(math.inf, 1)))
    assert answer.status == 1
    assert "error[no-build]" in answer.err
