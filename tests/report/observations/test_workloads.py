"""Test the report on several workloads: its tables are those of the comparison, and one text is about all of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.documentation import ROOT
from tests.support.documents import list_sections
from tests.support.laboratory import CARDANO

#: the runs under each workload
WORKLOADS = {"value-only": ("baseline", "candidate"), "plutus": ("baseline", "candidate2")}
SENTENCES = {
    "Process CPU usage rises by 31 % (clear) under value-only.",
    "Process CPU usage falls by 25 % (clear) under plutus, by itself.",
    "Forged to self-adopted rises by 16.4 ms or 35 % (clear) under value-only.",
    "These runs cannot tell: Fetch duration and Fetched to sending under value-only.",
    "0.50 adoption and 0.80 adoption rise by 12 % – 14 % (clear) under value-only.",
}


def read_document(folder: Path) -> Any:
    """Return the document of a build."""
    return json.loads((folder / "document.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report over both workloads; return its folder."""
    out = tmp_path_factory.mktemp("workloads") / "out"
    runs = [
        text
        for workload, names in WORKLOADS.items()
        for name in names
        for text in ("--run", f"{workload}:{name}={CARDANO / name / 'run'}")
    ]
    result = run_assay("--cache", cache, "build", "cardano/workloads", *runs, "-o", out, "--to", "md", cwd=ROOT)
    assert (result.status, result.summary.partition(" worse")[0]) == (0, "Value-only workload: 19")
    return out


@pytest.mark.parametrize("workload", WORKLOADS)
def test_tables_are_those_of_the_comparison(workload: str, built: Path, cache: Path, tmp_path: Path) -> None:
    runs = [text for name in WORKLOADS[workload] for text in ("--run", CARDANO / name / "run")]
    command = ("build", "cardano/comparison", *runs, "-o", tmp_path / "out", "--to", "md")
    assert run_assay("--cache", cache, *command, cwd=ROOT).status == 0
    sections = list_sections(read_document(tmp_path / "out"))
    part = next(
        part
        for part in read_document(built)["parts"]
        if part["tables"][0]["printed"][0]["runs"][0].startswith(f"{workload}:")
    )
    assert [table["title"] for table in part["tables"]] == [section["title"] for section in sections]
    for table, section in zip(part["tables"], sections, strict=True):
        assert [row[1:] for row in table["rows"]] == [row[1:] for row in section["rows"]]


def test_one_text_is_about_all_workloads(built: Path) -> None:
    texts = read_document(built)["observations"]["text"]
    assert set(texts) >= SENTENCES
    assert all("under" in text for text in texts[1:] if text.endswith("."))


def test_title_names_the_runs_of_all_workloads(built: Path) -> None:
    assert read_document(built)["title"] == "candidate and candidate2 against baseline under several workloads"


def test_every_number_of_the_text_is_a_cell_of_its_workload(built: Path) -> None:
    document = read_document(built)
    cells = {
        (run, metric, text.lstrip("+-"))
        for table in list_sections(document)
        for metric, row in zip(table["metrics"], table["rows"], strict=True)
        for printed, text in zip(table["printed"], row[1:], strict=True)
        for run in printed["runs"]
    }
    observations = document["observations"]
    for item in observations["quoted"]:
        text = observations["text"][item["paragraph"]][item["begin"] : item["end"]].split()[0]
        assert (item["sources"][-1]["run"], item["entry"], text) in cells
    names = re.compile(r"\d\.\d\d adoption|CPU 85%")
    numbers = [number for text in observations["text"] for number in re.findall(r"\d+(?:\.\d+)?", names.sub("", text))]
    assert len(numbers) == len(observations["quoted"])


def test_edited_text_of_workloads_is_checked(built: Path, cache: Path, tmp_path: Path) -> None:
    prose = tmp_path / "observations.md"
    draft = run_assay("--cache", cache, "draft", built, cwd=ROOT).out
    prose.write_text(draft, encoding="utf-8")
    assert run_assay("--cache", cache, "check-prose", prose, built, cwd=ROOT).status == 0
    prose.write_text(draft.replace("usage falls", "usage rises"), encoding="utf-8")
    result = run_assay("--cache", cache, "check-prose", prose, built, cwd=ROOT)
    assert (result.status, "plutus: Plutus workload/Resource Usage/Process CPU usage, %" in result.err) == (3, True)


def test_build_of_workloads_is_verified(built: Path, cache: Path) -> None:
    result = run_assay("--cache", cache, "verify", built, cwd=ROOT)
    assert (result.status, result.out.endswith("all the same bytes\n")) == (0, True)


def test_number_of_a_workload_is_traced_to_its_runs(built: Path, cache: Path) -> None:
    result = run_assay("--cache", cache, "trace", built, "Drafted observations/paragraph 3/31 %", cwd=ROOT)
    assert result.status == 0
    assert re.findall(r"^Run .*\((.*?)\)", result.out, re.M) == ["value-only:baseline", "value-only:candidate"]
