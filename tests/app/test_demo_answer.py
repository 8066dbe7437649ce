"""The first page of the demo's comparison: it says what the judgements say, in every form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pypdf
import pytest

from tests.app.test_judged_comparison import RUNS, load_results
from tests.support.commands import run_assay
from tests.support.documents import list_sections

HEADLINE = "This run of 10.6 is worse than this run of 10.5 in 16 of 39 metrics"


@pytest.fixture(scope="module")
def answered_build(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return the folder of the demo's comparison, in all forms."""
    folder = tmp_path_factory.mktemp("answered") / "build"
    run_options = [f"--run={name}={place}" for name, place in RUNS]
    forms = ("--to=pdf", "--to=html", "--to=md")
    result = run_assay("build", "cardano/comparison", *run_options, *forms, "-o", folder, "--cache", cache)
    assert result.status == 0, result.err
    return folder


def load_answer(build: Path) -> Mapping[str, Any]:
    (answer,) = json.loads((build / "document.json").read_text(encoding="utf-8"))["answers"]
    assert isinstance(answer, dict)
    return answer


def test_first_page_is_the_answer(answered_build: Path) -> None:
    pages = [page.extract_text() for page in pypdf.PdfReader(answered_build / "report.pdf").pages]
    assert HEADLINE in " ".join(pages[0].split())
    assert "0.80 adoption: 200 → 229 ms, +14 % (+8 … +21) ▲ worse" in pages[0]
    assert "Data: no findings in both runs." in pages[0]
    assert "Contents" in pages[1]
    parameters = next(number for number, text in enumerate(pages) if "Delegation map size" in text)
    assert parameters > next(number for number, text in enumerate(pages) if "Data dictionary\n" in text) > 1


def test_other_forms_have_the_same_answer(answered_build: Path) -> None:
    answer = load_answer(answered_build)
    assert (answer["headline"], answer["counts"]) == (
        HEADLINE, "19 worse (3 by themselves), 0 better, 7 same within 2 %, 13 cannot tell, 1 no interval; "
        "5 more have the values of another. By itself, so perhaps by chance among so many metrics: Acquired block "
        "context, Ledger ticking, Leadership to forged.",
    )  # fmt: skip
    assert answer["causes"] == [
        "Slot start to announced +9.7 ms (31.3 → 41.0 ms, worse): 87 % of it is Ledger ticking (26.6 → 35.0 ms, worse, "
        "by itself).",
        "0.80 adoption +29 ms (200 → 229 ms, worse): no single step explains it; 48 % of it is Fetched to adopted, in "
        "rows that have all steps.",
    ]
    for name in ("report.html", "report.md"):
        text = (answered_build / name).read_text(encoding="utf-8")
        assert text.index(HEADLINE) < text.index(
            "Overall run parameters</h2>" if name.endswith("html") else "## Contents"
        )
        assert all(item in text for item in (answer["counts"], *answer["causes"]))


def list_rows(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*(row for group in answer["groups"] for row in group["rows"]), *answer["conditions"]]


def test_rows_are_the_judgements(answered_build: Path) -> None:
    answer, judged = load_answer(answered_build), load_results(answered_build)["judgement"]["metrics"]
    rows = list_rows(answer)
    assert len({row["metric"] for row in rows}) == len(rows) > 20
    for row in rows:
        change = judged[row["metric"]]["10.6"]
        assert (row["verdict"], row["change"], row["low"], row["high"]) == (
            change["verdict"], change["percent"], change["low"], change["high"],
        )  # fmt: skip
        assert row["arrow"] == ("▲" if row["verdict"] == "worse" else "")
    certain = [name for name, item in judged.items() if item["10.6"]["verdict"] == "worse"]
    printed = {row["metric"] for row in rows if row["verdict"] == "worse"}
    sections = list_sections(json.loads((answered_build / "document.json").read_text(encoding="utf-8")))
    assert printed == set(certain) & {metric for section in sections for metric in section["metrics"]}


def test_only_parameters_that_differ_are_on_the_page(answered_build: Path) -> None:
    labels = [label for label, _, _ in load_answer(answered_build)["differing"]]
    assert "cardano-node git" in labels
    assert "Identifier" in labels  # the headline has the names that the user chose
    assert all(base != value for _, base, value in load_answer(answered_build)["differing"])
