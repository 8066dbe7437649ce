"""Each sentence of the golden reports says what the cells say that it is about; and it would show if one did not."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.contradictions import CAUSE, find_contradictions
from tests.support.documents import list_sections
from tests.support.laboratory import ROOT

Document = dict[str, Any]
REPORTS = ("two", "three", "two-org-2023")
#: whose sentences are by the rules of their authors, on other tables
RULED = ("upgrade", "qa", "testnets")


def read_report(name: str) -> Document:
    text = (ROOT / "golden" / "reports" / f"{name}.document.json").read_text(encoding="utf-8")
    document: Document = json.loads(text)
    return document


def change_quoted(document: Document, change: Callable[[str, dict[str, Any]], str]) -> None:
    """Change the words of the first sentence that quotes a cell; quotes stay where they are."""
    observations = document["observations"]
    item = observations["quoted"][0]
    number = item["paragraph"]
    observations["text"][number] = change(observations["text"][number], item)


def change_metric(document: Document) -> None:
    change_quoted(document, lambda text, _: text.replace("Process CPU usage", "RTS Mutator CPU usage"))
    item = document["observations"]["quoted"][0]
    for end in ("begin", "end"):
        item[end] += len("RTS Mutator") - len("Process")


def change_sign(document: Document) -> None:
    change_quoted(document, lambda text, _: re.sub(r"\brises\b", "falls", text))


def change_size(document: Document) -> None:
    change_quoted(document, lambda text, item: text[: item["begin"]] + "92" + text[item["begin"] + 2 :])


def change_unit(document: Document) -> None:
    change_quoted(document, lambda text, item: text[: item["end"] - 1] + "s" + text[item["end"] :])


def change_run(document: Document) -> None:
    """Name the other run: in the sentence if there are several, else on the first page."""
    if len(document["answers"]) > 1:
        change_quoted(document, lambda text, _: text.replace(" in candidate.", " in candidate2."))
    else:
        answer = document["answers"][0]
        answer["headline"] = answer["headline"].replace("This run of candidate ", "This run of other ")


def change_verdict(document: Document) -> None:
    item = document["observations"]["quoted"][0]
    for section in list_sections(document):
        for row, metric in zip(section["rows"], section["metrics"], strict=True):
            for x, column in enumerate(section["printed"], start=1):
                if (metric, column["prints"], column["runs"][-1]) == (item["entry"], "verdict", item["run"]):
                    row[x] = "cannot tell"


CHANGES = (change_metric, change_sign, change_size, change_unit, change_run, change_verdict)


@pytest.mark.parametrize("name", [*REPORTS, *RULED])
def test_no_sentence_contradicts_a_cell(name: str) -> None:
    assert find_contradictions(read_report(name)) == []


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", REPORTS)
def test_changed_sentence_is_a_contradiction(name: str, change: Callable[[Document], None]) -> None:
    document = read_report(name)
    changed = copy.deepcopy(document)
    change(changed)
    assert changed != document
    assert find_contradictions(changed)


def change_number(document: Document) -> None:
    change_quoted(document, lambda text, item: f"{text[: item['begin']]}7{text[item['begin'] + 1 :]}")


def change_last_letter(document: Document) -> None:
    change_quoted(document, lambda text, item: f"{text[: item['end'] - 1]}X{text[item['end'] :]}")


def change_source(document: Document, **members: str) -> None:
    document["observations"]["quoted"][0]["sources"][-1].update(members)


def change_outcome(document: Document) -> None:
    """Decide what a sentence calls undecided: a scenario, or the first metric of the page."""
    for table in (table for part in document["parts"] for table in part["tables"]):
        if table["header"][:1] == ["Scenario"]:
            table["rows"][0][table["header"].index("Result")] = "passed"
    for answer in document.get("answers", ()):
        answer["groups"][0]["rows"][0]["verdict"] = "worse"


RULED_CHANGES: dict[str, Callable[[Document], None]] = {
    "metric": lambda document: change_source(document, entry="latency_min"),
    "run": lambda document: change_source(document, run="other"),
    "size": change_number,
    "unit": change_last_letter,
    "verdict": change_outcome,
}


@pytest.mark.parametrize("change", RULED_CHANGES)
@pytest.mark.parametrize("name", RULED)
def test_changed_sentence_of_a_rule_is_a_contradiction(name: str, change: str) -> None:
    document = read_report(name)
    RULED_CHANGES[change](document)
    assert document != read_report(name)
    assert find_contradictions(document)


def test_other_sign_in_a_sentence_of_a_rule_is_a_contradiction() -> None:
    document = read_report("upgrade")
    number = document["observations"]["quoted"][0]["paragraph"]
    document["observations"]["text"][number] = document["observations"]["text"][number].replace("falls", "rises")
    assert find_contradictions(document)


def test_page_names_the_step_that_a_change_comes_from() -> None:
    """Any other number, name, verdict or share in the sentence contradicts a cell."""
    document = read_report("two")
    (answer,) = document["answers"]
    cause, *others = answer["causes"]
    match = CAUSE.fullmatch(cause)
    assert match
    assert (match["total"].strip(), match["step"]) == ("Slot start to announced", "Ledger ticking")
    for group in ("total", "sign", "size", "unit", "change", "share", "step", "part"):
        words = {"sign": "-", "size": "19", "unit": "µs", "share": "47"}
        text = words.get(group, match[group].replace("worse", "better") if "worse" in match[group] else "Block size")
        begin, end = match.span(group)
        changed = copy.deepcopy(document)
        changed["answers"][0]["causes"] = [f"{cause[:begin]}{text}{cause[end:]}", *others]
        assert find_contradictions(changed), (group, text)


def test_key_changes_and_counts_are_compared_with_cells() -> None:
    changes = (
        ("+33 %", "+31 %"),
        ("31.1 →", "13.1 →"),
        ("41.3 ms", "41.3 s"),
        (" of 38 metrics", "0 of 38 metrics"),
        (" worse (", "0 worse ("),
        ('"arrow": "▲"', '"arrow": "▼"'),
    )
    for old, new in changes:
        document = read_report("two")
        text = json.dumps(document["answers"], ensure_ascii=False)
        assert old in text
        document["answers"] = json.loads(text.replace(old, new))
        assert find_contradictions(document), (old, new)
