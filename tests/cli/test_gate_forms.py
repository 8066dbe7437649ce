"""What `assay gate` writes for systems of continuous integration: JUnit XML, and a comment for a pull request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from tests.support.commands import run_assay
from tests.support.judged_results import CAUTION, NOISE, judge_metric, write_results

METRICS = {
    "slow": judge_metric("worse", 0.0001, percent=2, amount=0.5),
    "near": judge_metric("cannot tell", 0.04, percents=(5.0, 1.9, 8.1), percent=2),
    "heap": judge_metric("worse", percent=2),
    "fast": judge_metric("better", percents=(-12.0, -15.0, -9.0), percent=2),
    "even": judge_metric("same", percents=(0.0, -0.3, 0.3), percent=2),
    "wide": judge_metric("cannot tell", percents=(-3.0, -45.0, 37.2), percent=2),
    "rare": judge_metric("no interval", reason="its rows have no time"),
}
SECTIONS = {"Times": ["slow", "near", "even"], "Memory": ["heap", "fast", "wide"]}

#: element -> attributes that the schemas of Jenkins and Ant both allow, and the elements within it
SCHEMA: Mapping[str, tuple[set[str], tuple[str, ...]]] = {
    "testsuites": (set(), ("testsuite",)),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped"}, ("properties", "testcase")),
    "properties": (set(), ("property",)),
    "property": ({"name", "value"}, ()),
    "testcase": ({"classname", "name"}, ("skipped", "error", "failure", "system-out")),
    "error": ({"type", "message"}, ()),
    "failure": ({"type", "message"}, ()),
    "skipped": ({"message"}, ()),
    "system-out": (set(), ()),
}


def write_junit(folder: Path, metrics: Mapping[str, Mapping[str, Any]], **options: Any) -> ElementTree.Element:
    """Return the suites that a gate writes, which is closed."""
    file = folder / "gate.xml"
    result = run_assay("gate", write_results(folder, metrics, **options), "--junit", file)
    assert (result.status, result.err) == (4, "")
    return ElementTree.parse(file).getroot()


def check_element(element: ElementTree.Element) -> None:
    attributes, children = SCHEMA[element.tag]
    assert set(element.attrib) == attributes
    tags = [child.tag for child in element]
    assert tags == sorted(tags, key=children.index)
    for child in element:
        check_element(child)


def test_junit_has_a_case_for_each_metric(tmp_path: Path) -> None:
    root = write_junit(tmp_path, METRICS, sections=SECTIONS)
    check_element(root)
    (suite,) = root
    counts = {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "7", "failures": "2", "errors": "0", "skipped": "2"}
    assert suite.attrib["name"] == "service/comparison: 1.1 against 1.0"
    cases = [
        (
            case.get("classname"),
            case.get("name"),
            *((item.tag, item.get("type"), item.get("message") or item.text) for item in case),
        )
        for case in suite.iter("testcase")
    ]
    assert cases == [
        ("Times", "Metric slow", ("failure", "worse", "+10 % (+8 … +12), margin 2 % or 0.5 ms, Holm p < 0.001")),
        ("Times", "Metric near", ("failure", "worse (one-sided)", "+5.0 % (+1.9 … +8), margin 2 %, Holm p 0.040")),
        ("Times", "Metric even"),
        ("Memory", "Metric heap", ("system-out", None, "worse, not in the gate: +10 % (+8 … +12), margin 2 %")),
        ("Memory", "Metric fast"),
        ("Memory", "Metric wide", ("skipped", None, "cannot tell: -3.0 % (-45 … +37), margin 2 %")),
        ("Other metrics", "Metric rare", ("skipped", None, "no interval: its rows have no time")),
    ]


def test_junit_has_a_suite_for_each_run(tmp_path: Path) -> None:
    names = {"slow": "Time \x1b&<", "heap": "Time \x1b&<"}
    root = write_junit(tmp_path, METRICS, names=names, labels=("1.0", "1.1", "1.2"))
    check_element(root)
    assert [suite.attrib["name"].split(": ")[1] for suite in root] == ["1.1 against 1.0", "1.2 against 1.0"]
    titles = [case.attrib["name"] for case in root[1].iter("testcase")]
    assert (titles[0], titles[2]) == (r"Time \x1b&< (slow)", r"Time \x1b&< (heap)")


def test_junit_has_caution_and_findings(tmp_path: Path) -> None:
    options = {"hosts": (2, 1), "findings": (0, 3)}
    file = tmp_path / "gate.xml"
    run_assay("gate", write_results(tmp_path, METRICS, **options), "--junit", file, "--allow-missing")
    root = ElementTree.parse(file).getroot()
    check_element(root)
    data = "Data: 1.1: gap 1, gap 2, gap 3, under Data quality."
    properties = {item.attrib["name"]: item.attrib["value"] for item in root.iter("property")}
    assert properties == {"noise": NOISE, "caution": CAUTION, "data": data}


def test_json_has_caution_and_findings(tmp_path: Path) -> None:
    folder = write_results(tmp_path, METRICS, hosts=(2, 1), findings=(0, 3))
    data = run_assay("gate", folder, "--allow-missing", "--format", "json").parse_json()
    assert (data["findings"], data["missing"]) == ({"1.0": 0, "1.1": 3}, ["hosts: 2 in 1.0, 1 in 1.1"])
    assert [run["caution"] for run in data["runs"]] == [CAUTION]


UNDECIDED: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
    "too-few-repeats": (METRICS, {"demanded": 3}, "expected 3 runs of each version, or 3 calibration runs, found 1, 1"),
    "gate-lacks-data": (METRICS, {"hosts": (2, 1)}, "found hosts: 2 in 1.0, 1 in 1.1"),
    "nothing-judged": ({"rare": judge_metric("no interval", 1.0, "it has no time")}, {}, "found it has no time"),
}


@pytest.mark.parametrize("code", UNDECIDED)
def test_junit_has_why_a_gate_does_not_decide(tmp_path: Path, code: str) -> None:
    metrics, options, reason = UNDECIDED[code]
    file = tmp_path / "gate.xml"
    result = run_assay("gate", write_results(tmp_path, metrics, **options), "--junit", file)
    root = ElementTree.parse(file).getroot()
    check_element(root)
    assert [suite.attrib | {"name": ""} for suite in root] == [
        {"name": "", "tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
    ]
    (error,) = root.iter("error")
    assert (result.status, error.attrib["type"]) == (1, code)
    assert error.attrib["message"].startswith(f"{result.err.splitlines()[0].partition(': ')[2]}; expected ")
    assert reason in error.attrib["message"]


COMMENT = f"""\
**Gate fails: 2 of 2 gated metrics are worse by more than their margin (Metric slow +10 %, Metric near +5.0 %).** \
2 worse, 1 better, 1 same within 2 %, 2 cannot tell, 1 no interval

service/comparison: 1.1 against 1.0

These runs would show a change of 3.1 % in each of 2 gated metrics.

Data: no findings.

| metric | 1.0 | 1.1 | Δ% | 95 % interval | margin | verdict |
| --- | --: | --: | --: | --: | --- | --- |
| Metric slow, µs | 100 | 110 | +10 | +8 … +12 | 2 % or 0.5 ms | worse; fails the gate: Holm p < 0.001 |
| Metric near, µs | 100 | 110 | +5.0 | +1.9 … +8 | 2 % | worse (one-sided); fails the gate: Holm p 0.040 |
| Metric heap, µs | 100 | 110 | +10 | +8 … +12 | 2 % | worse |

<details><summary>1 better, 1 cannot tell, 1 same, 1 no interval</summary>

* better: Metric fast (-12 %, -15 … -9)
* cannot tell: Metric wide
* same: Metric even
* no interval: Metric rare

</details>

{NOISE}
"""


def test_comment_lists_what_is_worse_and_folds_the_rest(tmp_path: Path) -> None:
    result = run_assay("gate", write_results(tmp_path, METRICS, sections=SECTIONS), "--format", "markdown")
    assert (result.status, result.out, result.err) == (4, COMMENT, "")


def test_comment_of_an_open_gate_lists_gated_metrics(tmp_path: Path) -> None:
    metrics = {"even": judge_metric("same", 0.9, percent=2), "rest": judge_metric("same", percent=2)}
    folder = write_results(tmp_path, metrics)
    result = run_assay("gate", folder, "--format", "markdown")
    assert result.status == 0
    assert result.out.startswith(
        "**Gate passes: none of 1 gated metric is worse by more than its margin.** 0 worse, 0 better, 2 same "
    )
    table = [line for line in result.out.splitlines() if line.startswith("|")]
    assert table[2:] == ["| Metric even, µs | 100 | 110 | +10 | +8 … +12 | 2 % | same |"]
    assert "* same: Metric rest\n" in result.out


def test_comment_has_gated_metrics_before_others(tmp_path: Path) -> None:
    """Metrics outside of the gate that are worse do not hide the numbers that the gate decides by."""
    gated = {"open": judge_metric("cannot tell", 1.0, percents=(47.0, -7.0, 131.0), percent=2)}
    rare = judge_metric("no interval", 1.0, "its rows have no time")
    metrics = {"heap": METRICS["heap"], **gated, "rare": rare, "fast": METRICS["fast"]}
    result = run_assay("gate", write_results(tmp_path, metrics), "--format", "markdown")
    assert [line for line in result.out.splitlines() if line.startswith("|")][2:] == [
        "| Metric open, µs | 100 | 110 | +47 | -7 … +131 | 2 % | cannot tell |",
        "| Metric rare, µs | 100 | 110 |  |  | 0 | no interval |",
        "| Metric heap, µs | 100 | 110 | +10 | +8 … +12 | 2 % | worse |",
    ]
    assert "<summary>1 better</summary>" in result.out


NAMES = {
    "plain": "A rather long name of a metric, as it would stand in the table of a report on memory",
    "wide": "名" * 90,
    "marked": "|<b>*_`[x](y)$~\\&amp;" * 12,
    "blank": " " * 200,
    "hidden": "\x1b[31m\u202e" * 30,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("runs", [1, 30])
@pytest.mark.parametrize("verdicts", [("worse",), ("worse", "better", "changed", "same", "cannot tell", "no interval")])
def test_comment_is_short_whatever_the_report(tmp_path: Path, name: str, runs: int, verdicts: tuple[str, ...]) -> None:
    count = 300
    reasons = {"no interval": "its rows have no time"}
    metrics = {
        f"m{number}": judge_metric(verdict, number / 1e4, reasons.get(verdict), percents=(1e9, 9e8, 1.1e9))
        for number in range(count)
        for verdict in [verdicts[number % len(verdicts)]]
    }
    names = {metric: f"{NAMES[name]} {metric}" for metric in metrics}
    labels = [f"{NAMES[name]} {number}" for number in range(runs + 1)]
    folder = write_results(tmp_path, metrics, names=names, labels=labels)
    result = run_assay("gate", folder, "--format", "markdown")
    assert result.status == 4
    assert len(result.out.encode()) < 2000
    assert result.out.endswith(f"{NOISE}\n")
    assert "more" in result.out


def test_comment_shows_names_as_text(tmp_path: Path) -> None:
    """No name becomes markup, or a further cell."""
    names = {"slow": NAMES["marked"][:21], "fast": NAMES["marked"][:21]}
    folder = write_results(tmp_path, METRICS, names=names, labels=("<i>1.0</i>", "1|1"))
    out = run_assay("gate", folder, "--format", "markdown").out
    tokens = MarkdownIt("commonmark").enable("table").parse(out)
    rows = [token for token in tokens if token.type == "tr_open"]
    cells = [token for token in tokens if token.type in ("td_open", "th_open")]
    assert len(cells) == 7 * len(rows) == 28
    texts = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in texts} <= {"text", "text_special", "strong_open", "strong_close", "softbreak"}
    assert [token.content.strip() for token in tokens if token.type == "html_block"] == [
        "<details><summary>1 better, 1 cannot tell, 1 same, 1 no interval</summary>",
        "</details>",
    ]


def test_comment_mentions_nobody(tmp_path: Path) -> None:
    names = {"slow": "Time of @peer #12", "fast": "@all, see org/project#3"}
    out = run_assay(
        "gate", write_results(tmp_path, METRICS, names=names, labels=("@old", "#7")), "--format", "markdown"
    ).out
    assert re.search(r"(?<!\w)@\w|#\d(?!203;)", out) is None
    texts = "".join(
        child.content for token in MarkdownIt().enable("table").parse(out) for child in token.children or ()
    )
    assert "Time of @peer #12" in texts.replace("\u200b", "")


def test_comment_lists_conditions_apart(tmp_path: Path) -> None:
    conditions = {
        "size": judge_metric("same", percent=2),
        "load": judge_metric("cannot tell", percents=(1.0, -2.0, 4.0)),
    }
    metrics = METRICS | {name: item | {"better": "neither"} for name, item in conditions.items()}
    out = run_assay("gate", write_results(tmp_path, metrics), "--format", "markdown").out
    assert ", 1 same within 2 %, 2 cannot tell, 1 no interval\n" in out
    assert "<summary>1 better, 1 cannot tell, 1 same, 1 no interval, 2 conditions</summary>" in out
    assert "\n* conditions: Metric size (same), Metric load (cannot tell)\n" in out
