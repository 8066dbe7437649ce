"""Test the conclusion that is drafted from verdicts: "no regression" only if the gate passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.app.build.observations import draft_conclusion
from assay.app.judge.judged_results import read_judged_results
from assay.report.document_json import parse_document
from tests.support.documentation import ROOT
from tests.support.judged_results import judge_metric, write_results

#: a document without tables of scenarios or expectations
EMPTY = parse_document((ROOT / "golden" / "reports" / "two.document.json").read_text(encoding="utf-8"))
QUOTE = '{{ cpu(also = "wait", run = "1.1", prints = "not worse") }}'
CASES = {
    "cannot tell": (
        {"cpu": judge_metric("cannot tell", 0.4), "wait": judge_metric("same", 0.9)}, {},
        f"No regression: none of the metrics of the gate is worse by more than its margin (CPU, Wait).{QUOTE}",
    ),
    "closed": (
        {"cpu": judge_metric("worse", 0.001), "wait": judge_metric("same", 0.9)}, {},
        "CPU is worse than in 1.0 by more than its margin.",
    ),
    "too-few-runs": (
        {"cpu": judge_metric("same", 0.9)}, {"demanded": 3},
        "It is not decided whether there is a regression: too few runs show how much runs of one version differ.",
    ),
    "missing-data": (
        {"cpu": judge_metric("same", 0.9)}, {"hosts": (2, 3)},
        "It is not decided whether there is a regression: data are missing.",
    ),
    "not-judged": (
        {"cpu": judge_metric("no interval", 1.0, "it does not vary")}, {},
        "It is not decided whether there is a regression: none of its metrics has an interval.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_conclusion_says_what_the_gate_says(name: str, tmp_path: Path) -> None:
    metrics, options, sentence = CASES[name]
    write_results(tmp_path, metrics, names={"cpu": "CPU", "wait": "Wait"}, **options)  # type: ignore[arg-type]
    text = draft_conclusion({"": read_judged_results(tmp_path)}, {"": EMPTY})
    assert text == f"**Conclusion**\n\n* {sentence}\n"


def test_conclusions_of_several_reports_name_them(tmp_path: Path) -> None:
    write_results(tmp_path, {"cpu": judge_metric("worse", 0.001)}, names={"cpu": "CPU"})
    judged = read_judged_results(tmp_path)
    text = draft_conclusion({"small": judged, "large": judged}, {"small": EMPTY, "large": EMPTY})
    sentence = "CPU is worse than in 1.0 by more than its margin."
    assert text == f"**Conclusion**\n\n* small: {sentence}\n* large: {sentence}\n"


def test_reports_without_verdicts_have_no_conclusion() -> None:
    assert draft_conclusion({}, {"": EMPTY}) == ""
