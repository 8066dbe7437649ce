"""Test the observations of a built report: their place in each form, their cells, edits, and verification."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.support.commands import CommandResult, run_assay
from tests.support.documentation import ROOT
from tests.support.documents import list_sections
from tests.support.laboratory import CARDANO

RUNS = [word for case in ("baseline", "candidate") for word in ("--run", str(CARDANO / case / "run"))]


def build(out: Path, cache: Path, *options: object) -> CommandResult:
    """Build the comparison of two runs."""
    command = ("build", "cardano/comparison", *RUNS, "-o", out, "--to", "md")
    return run_assay("--cache", cache, *command, *options, cwd=ROOT)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build a report with drafted observations; return its folder."""
    out = tmp_path_factory.mktemp("observations") / "out"
    assert build(out, cache, "--to", "html").status == 0
    return out


def read_document(folder: Path) -> Any:
    """Return the document of a build."""
    return json.loads((folder / "document.json").read_text(encoding="utf-8"))


def test_drafts_say_that_no_one_has_read_them(built: Path) -> None:
    observations = read_document(built)["observations"]
    assert observations["title"] == "Drafted observations"
    assert observations["text"][0] == "Drafted from the tables by rules; no one has read this."
    for form in ("report.md", "report.html"):
        assert (built / form).read_text(encoding="utf-8").count(observations["text"][0]) == 1


def test_every_drafted_number_is_a_printed_cell(built: Path) -> None:
    document = read_document(built)
    cells = {
        (metric, column["prints"]): text.lstrip("+-")
        for section in list_sections(document)
        for row, metric in zip(section["rows"], section["metrics"], strict=True)
        for column, text in zip(section["printed"], row[1:], strict=True)
    }
    observations = document["observations"]
    for index, text in enumerate(observations["text"]):
        quoted = [item for item in observations["quoted"] if item["paragraph"] == index]
        numbers = [text[item["begin"] : item["end"]].split()[0] for item in quoted]
        assert numbers == [cells[item["entry"], item["prints"]] for item in quoted]
        without_names = re.sub(r"\d\.\d\d adoption", "", text)
        assert re.findall(r"\d+(?:\.\d+)?", without_names) == numbers


def test_only_certain_changes_are_stated(built: Path) -> None:
    document = read_document(built)
    verdicts = {
        metric: row[6]
        for section in list_sections(document)
        for row, metric in zip(section["rows"], section["metrics"], strict=True)
    }
    observations = document["observations"]
    stated = {item["entry"] for item in observations["quoted"]}
    assert stated
    assert all(verdicts[metric].startswith(("▲", "▼")) for metric in stated)


@pytest.mark.parametrize(("prints", "wrong"), [("cannot tell", "same"), ("quiet", "cannot tell")])
def test_quote_of_a_silence_states_its_verdict(
    prints: str, wrong: str, built: Path, cache: Path, tmp_path: Path
) -> None:
    document = read_document(built)
    metrics = [
        metric
        for section in list_sections(document)
        for row, metric in zip(section["rows"], section["metrics"], strict=True)
        if metric and row[6] == wrong
    ]
    (tmp_path / "o.md").write_text(f'It is so.{{{{ {metrics[0]}(prints = "{prints}") }}}}\n', encoding="utf-8")
    result = run_assay("--cache", cache, "check-prose", tmp_path / "o.md", built, cwd=ROOT)
    assert (result.status, "error[prose-quiet]" in result.err) == (3, True)


def test_drafted_number_is_traced_to_both_runs(built: Path, cache: Path) -> None:
    document = read_document(built)
    first = document["observations"]["quoted"][0]
    text = document["observations"]["text"][first["paragraph"]][first["begin"] : first["end"]]
    cell = f"Drafted observations/paragraph {first['paragraph'] + 1}/{text}"
    result = run_assay("--cache", cache, "trace", built, cell, cwd=ROOT)
    assert result.status == 0
    assert len(re.findall(r"^Run ", result.out, re.M)) == 2


def test_edited_observations_replace_the_draft(built: Path, cache: Path, tmp_path: Path) -> None:
    prose, out = tmp_path / "observations.md", tmp_path / "out"
    draft = run_assay("--cache", cache, "draft", built, cwd=ROOT)
    prose.write_text("The release needs *more* of the machine.\n\n" + draft.out, encoding="utf-8")
    assert build(out, cache, "--observations", prose).status == 0
    observations = read_document(out)["observations"]
    assert observations["title"] == "Observations"
    drafted = read_document(built)["observations"]["text"]
    assert observations["text"] == ["The release needs more of the machine.", *drafted[1:]]
    prose.unlink()  # the build has a copy
    assert run_assay("--cache", cache, "verify", out, cwd=ROOT).status == 0


def test_build_with_a_wrong_sentence_fails(built: Path, cache: Path, tmp_path: Path) -> None:
    prose, out = tmp_path / "observations.md", tmp_path / "out"
    draft = run_assay("--cache", cache, "draft", built, cwd=ROOT).out
    prose.write_text(draft.replace("usage rises", "usage falls"), encoding="utf-8")
    result = build(out, cache, "--observations", prose)
    assert (result.status, out.exists()) == (3, False)
    assert "error[prose-direction]: the sentence says `falls`, but its cells print rises" in result.err


def test_verification_reports_changed_observations(built: Path, cache: Path, tmp_path: Path) -> None:
    prose, out = tmp_path / "observations.md", tmp_path / "out"
    prose.write_text(run_assay("--cache", cache, "draft", built, cwd=ROOT).out, encoding="utf-8")
    assert build(out, cache, "--observations", prose).status == 0
    stored = out / "prose.json"
    stored.write_text(stored.read_text(encoding="utf-8").replace("usage rises", "usage grows"), encoding="utf-8")
    result = run_assay("--cache", cache, "verify", out, cwd=ROOT)
    assert result.status == 3
    assert "report definition cardano/comparison changed" in result.out + result.err


def test_report_of_one_run_has_no_observations(cache: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_assay("--cache", cache, "build", "cardano/comparison", *RUNS[:2], "-o", out, "--to", "md", cwd=ROOT)
    assert "observations" not in read_document(out)


def test_page_switches_between_table_and_sentences(built: Path, chromium: Browser) -> None:
    page = chromium.new_page()
    page.goto((built / "report.html").as_uri())
    section = page.locator("section[aria-labelledby=section-forging]")
    section.get_by_role("button", name="Sentences").click()
    expect(section.locator("table")).to_be_hidden()
    texts = [text for text in read_document(built)["observations"]["text"] if text.startswith(("Ledger", "Forged"))]
    assert section.locator("li:visible").all_text_contents() == texts
    section.get_by_role("button", name="Table").click()
    expect(section.locator("table")).to_be_visible()
    page.close()


def test_upgrade_names_averages_before_and_after(cache: Path, tmp_path: Path) -> None:
    run, out = ROOT / "golden" / "antelope" / "upgrade" / "run", tmp_path / "out"
    result = run_assay("--cache", cache, "build", "antelope/upgrade", "--run", run, "-o", out, "--to", "md", cwd=ROOT)
    assert result.status == 0
    assert read_document(out)["observations"]["text"][2:] == [
        "The rate of disk writes falls from 21.4 MB/s to 3.87 MB/s, by 82 %, by itself.",
        "The amount written to disk in a year falls from 675 TB to 122 TB, by 82 %, by itself.",
        "Conclusion",
        "Whether these expectations hold, these runs cannot tell: CPU usage is at most 10 % higher; Used memory is at "
        "most 10 % higher; Disk write rate falls by at least 50 %.",
    ]
    prose = tmp_path / "observations.md"
    prose.write_text(run_assay("--cache", cache, "draft", out, cwd=ROOT).out, encoding="utf-8")
    assert run_assay("--cache", cache, "check-prose", prose, out, cwd=ROOT).status == 0
    edited = run_assay(
        *("--cache", cache, "build", "antelope/upgrade", "--run", run, "-o", tmp_path / "edited", "--to", "md"),
        *("--observations", prose), cwd=ROOT,
    )  # fmt: skip
    assert (edited.status, read_document(tmp_path / "edited")["observations"]["title"]) == (0, "Observations")
    assert run_assay("--cache", cache, "verify", tmp_path / "edited", cwd=ROOT).status == 0


def test_levels_of_rows_are_ranges_of_printed_cells(qa: Path, cache: Path) -> None:
    document = read_document(qa)
    blocks = next(
        table for part in document["parts"] for table in part["tables"] if table["title"] == "Blocks of the nodes"
    )
    column = blocks["of_columns"].index("node_block_interval")
    intervals = sorted((row[column] for row in blocks["rows"]), key=Decimal)
    texts = document["observations"]["text"]
    assert f"The average block interval of a node is {intervals[0]} s – {intervals[-1]} s." in texts
    index = next(number for number, text in enumerate(texts, start=1) if text.startswith("The average block interval"))
    cell = f"Drafted observations/paragraph {index}/{intervals[0]} s"
    result = run_assay("--cache", cache, "trace", qa, cell, cwd=ROOT)
    assert (result.status, "node_block_interval" in result.out) == (0, True)


#: sentences, and the claims in them that quote no cell
UNQUOTED = [
    ("The latency is 99 s, twice that of before, and every node crashed.", ["99 s", "twice"]),
    ('CPU rises by {{ CentiCpu(prints = "percent") }}, or **12** GB.', ["12 GB"]),
    ("CPU is slower and heap is larger than before.", ["slower"]),
    ("CPU is worse, by ten times.", ["worse", "ten times"]),
    ("1. See #12, https://example.org/7, version 10.5.4, p95 and 2026-02-12.", []),
    ("0.50 adoption of 10.6-sim is of note.", []),
    ("* 7 of 10 nodes; −3.5 % or 1,000 MB/s.", ["7", "10", "−3.5 %", "1,000 MB/s"]),
]


@pytest.mark.parametrize("is_strict", [False, True])
def test_claims_without_quotes_are_listed(is_strict: bool, built: Path, cache: Path, tmp_path: Path) -> None:
    prose = tmp_path / "o.md"
    prose.write_text("\n\n".join(text for text, _ in UNQUOTED), encoding="utf-8")
    options = ("--require-quotes",) if is_strict else ()
    result = run_assay("--cache", cache, "check-prose", prose, built, *options, cwd=ROOT)
    listed = re.findall(r"^(\w+)\[prose-unquoted\]: `(.*)` quotes no cell\n  at .*?:(\d+):\d+$", result.err, re.M)
    expected = [(text, str(2 * index + 1)) for index, (_, claims) in enumerate(UNQUOTED) for text in claims]
    assert result.status == (3 if is_strict else 0)
    assert listed == [("error" if is_strict else "warning", *item) for item in expected]


def test_report_marks_claims_without_quotes(cache: Path, tmp_path: Path) -> None:
    prose, out = tmp_path / "o.md", tmp_path / "out"
    prose.write_text(UNQUOTED[1][0], encoding="utf-8")
    result = build(out, cache, "--observations", prose)
    observations = read_document(out)["observations"]
    assert observations["text"] == [
        "CPU rises by 31 %, or 12 GB†.",
        "† The author's own number or comparison: it quotes no cell of the tables.",
    ]
    assert "1 number or comparison without a quote of a cell, marked †" in result.err


def test_draft_has_no_claims_without_quotes(built: Path, cache: Path, tmp_path: Path) -> None:
    prose = tmp_path / "o.md"
    prose.write_text(run_assay("--cache", cache, "draft", built, cwd=ROOT).out, encoding="utf-8")
    assert run_assay("--cache", cache, "check-prose", "--require-quotes", prose, built, cwd=ROOT).status == 0
