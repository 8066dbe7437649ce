"""`assay trace`: from a printed cell back to its samples and their raw records, or a clear word why not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.lineage.cells import Cell, find, of_document
from assay.report.cell_links import CellSource
from assay.report.document import from_json
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO
from tests.explain.test_explain import cpu, raw_line
from tests.support.commands import Done, assay
from tests.support.laboratory import ROOT, Laboratory
from tests.support.loads import Experiment, loaded
from tests.support.runs import copied

QA = ROOT / "golden" / "cometbft" / "run"


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory, two: Path) -> Path:
    """The report of two runs, built of copies of them that lie elsewhere by now."""
    folder = tmp_path_factory.mktemp("moved")
    shutil.copytree(two, folder / "report")
    for name in ("baseline", "candidate"):
        copied(name, folder / name)
    place = folder / "report" / "provenance.json"
    result = json.loads(place.read_text(encoding="utf-8"))
    result["places"] = {name: str(folder / name) for name in result["places"]}
    place.write_text(json.dumps(result), encoding="utf-8")
    return folder


def traced(folder: Path, cell: str, cache: Path, *more: str) -> dict[str, Any]:
    done = assay("trace", folder, cell, *more, "--format", "json", "--cache", cache)
    assert (done.status, done.err) == (0, "")
    result: dict[str, Any] = done.json()
    return result


def test_a_cell_leads_to_its_lines(two: Path, cache: Path) -> None:
    result = traced(two, "Resource Usage/Process CPU usage/candidate", cache)
    results = json.loads((two / "results.json").read_text(encoding="utf-8"))["metrics"]["CentiCpu"]
    (run,) = result["runs"]
    assert (result["cell"], result["metric"]) == ("Resource Usage/Process CPU usage, %/10.6-sim", "CentiCpu")
    assert result["definition"] == results["definition"]
    assert {name: run[name] for name in ("size", "average", "median", "min", "max", "stddev")} == {
        name: results["runs"]["candidate"][name] for name in ("size", "average", "median", "min", "max", "stddev")
    }
    assert [item["value"] for item in run["greatest"]][:1] == [run["max"]]
    assert [item["value"] for item in run["least"]] == [run["min"]] * 3
    for sample in run["greatest"]:
        assert cpu(sample["lines"]) == sample["measured"]
        for line in sample["lines"]:
            assert raw_line(CARDANO / "candidate" / "run", line["file"], line["line"]) == line["text"]
    assert sum(item["size"] for item in run["groups"]) == run["size"]
    mean = sum(item["mean"] for item in run["groups"]) / len(run["groups"])
    assert mean == pytest.approx(run["average"], rel=1e-9)


def test_a_difference_leads_to_both_runs(two: Path, cache: Path) -> None:
    result = traced(two, "Forging/Ledger ticking, s/Δ", cache)
    assert (result["cell"], result["prints"]) == ("Forging/Ledger ticking, s/10.6-sim Δ", "difference")
    assert [run["id"] for run in result["runs"]] == ["baseline", "candidate"]


def test_the_text_of_a_trace(two: Path, cache: Path) -> None:
    done = assay("trace", two, "Forging/cdfForgerTicked/baseline", "--cache", cache)
    assert (done.status, done.err) == (0, "")
    lines = done.out.split("\n")
    assert lines[0].startswith("Forging/Ledger ticking, s/10.5-sim: 0.0")
    assert lines[2] == "Metric     cdfForgerTicked: Ledger ticking, s"
    assert lines[4] == "Prints     the average of all samples"
    applied = json.loads((two / "provenance.json").read_text(encoding="utf-8"))["content"]["options"]["filters"]
    assert " ".join(applied).replace(" ", ", ") in " ".join(done.out.split())
    assert any(line.startswith("   node-2/stdout.gz:5598  {") for line in lines)
    assert max(map(len, lines)) <= 87  # the hash is not cut


def test_a_trace_names_filters_that_decide_through_other_tables(two: Path, cache: Path) -> None:
    def names_filters(metric: str) -> bool:
        return (
            "\nFilters    slot-leq=1100, " in assay("trace", two, f"Anomaly control/{metric}/Δ", "--cache", cache).out
        )

    assert [names_filters(metric) for metric in ("cdfBlocksFilteredRatio", "cdfBlocksPerHost")] == [True, False]


def test_every_listed_cell_can_be_found(two: Path, cache: Path, lab: Laboratory) -> None:
    data = assay("trace", two, "--list", "--format", "json", "--cache", cache).json()
    document = json.loads((two / "document.json").read_text(encoding="utf-8"))
    cells = tuple(of_document(from_json((two / "document.json").read_text("utf-8")), lab.package.package))
    assert [item["cell"] for item in data] == [item.name for item in cells]
    assert all(find(cells, item.name) is item for item in cells)
    printed = sum(1 for section in document["sections"] for row in section["rows"] for text in row[1:] if text)
    assert sum(item.prints in ("average", "difference", "percent", "size") for item in cells) == printed
    manifest = len(document["manifest"]["rows"]) * 2
    assert sum(item.section == document["manifest"]["title"] for item in cells) == manifest
    listed = assay("trace", two, "--list", "--cache", cache).out.split("\n")
    assert listed[: len(data)] == [f"{item['cell']}: {item['text']}" for item in data]


def test_a_cell_of_an_article_leads_to_its_row(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "qa"
    assert assay("build", "cometbft/qa", "--run", QA, "-o", out, "--cache", cache).status == 0
    result = traced(out, "Latencies/Latencies of the experiments/1, 1, 50/Greatest latency, s", cache)
    ((sample,),) = (run["greatest"] for run in result["runs"])
    assert f"{sample['value']:.5f}" == result["text"]
    (line,) = sample["lines"]
    assert line["text"].split(",")[2] == str(sample["measured"])
    pivot = "Saturation point/Transactions found in blocks, by rate (rows) and connections (columns)/800/2"
    again = traced(out, pivot, cache)
    ((sample,),) = (run["greatest"] for run in again["runs"])
    assert (again["text"], sample["measured"], sample["records"]) == ("18147", 18147, 18147)


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """A report of two runs with one label, each with an experiment with a fault before one of its configuration."""
    folder, second = tmp_path_factory.mktemp("faults"), 10**9
    bad, good = Experiment("bad", 5, latency=9 * second), Experiment("good", 100, latency=3 * second)
    for name in ("one", "two"):
        loaded(folder / name, bad, good, ident="v1", experiments={"fault": 1})
    runs = ("--run", folder / "one", "--run", folder / "two")
    assert assay("build", "cometbft/qa", *runs, "-o", folder / "qa", "--cache", cache).status == 0
    return folder / "qa"


def test_a_cell_of_a_verdict_leads_to_the_row_that_is_judged(faults: Path, cache: Path) -> None:
    """Not to another one of the same configuration, whether a choice leaves it out or means it."""
    titles = {
        "Experiments beside those of the baseline": "good",
        "The experiment with a fault beside the baseline's": "bad",
    }
    for title, experiment in titles.items():
        row = f"Results/{title}: two/1, 50, Average latency, s"
        result = traced(faults, f"{row}/one", cache)
        ((sample,),) = (run["greatest"] for run in result["runs"])
        assert sample["keys"]["experiment_id"] == experiment
        assert f"{sample['value']:.0f}." == result["text"]
        changed = traced(faults, f"{row}/Δ%", cache)
        assert [run["greatest"][0]["keys"]["experiment_id"] for run in changed["runs"]] == [experiment] * 2
    text = " ".join(assay("trace", faults, f"{row}/Δ%", "--cache", cache).out.split())
    assert "Prints how much the value of a row differs from that of the baseline's, in percent of it" in text


def test_a_row_that_does_not_give_what_a_cell_prints_is_refused(faults: Path, tmp_path: Path, cache: Path) -> None:
    out = shutil.copytree(faults, tmp_path / "qa")
    place = out / "document.json"
    place.write_text(place.read_text(encoding="utf-8").replace('"3."', '"4."'), encoding="utf-8")
    cell = "Latencies/Latencies of the experiments: one/2, 1, 50/Average latency, s"
    failed(
        assay("trace", out, cell, "--cache", cache), 1,
        f"error[value-changed]: run one does not give the value of `latency_avg` that `{cell}` prints\n"
        "  expected: 4.\n  found:    3.\n  hint: `assay verify` says what changed\n",
    )  # fmt: skip


def test_runs_of_one_label_have_the_labels_of_the_article(faults: Path, cache: Path) -> None:
    content = json.loads((faults / "provenance.json").read_text(encoding="utf-8"))["content"]
    document = json.loads((faults / "document.json").read_text(encoding="utf-8"))
    assert [run["label"] for run in content["runs"]] == document["manifest"]["header"][1:] == ["one", "two"]
    listed = assay("trace", faults, "--list", "--cache", cache).out
    for gallery in document["galleries"]:
        for table in gallery["tables"]:
            assert (f"{gallery['title']}/{table['title']}/" in listed) == (table["rows"] != [])


def test_a_difference_says_what_it_is_of(two: Path, tmp_path: Path, cache: Path) -> None:
    def prints(folder: Path, column: str) -> str:
        lines = assay("trace", folder, f"Forging/cdfForgerTicked/{column}", "--cache", cache).out.split("\n")
        return next(line for line in lines if line.startswith("Prints"))

    assert prints(two, "Δ") == "Prints     the difference of two averages"
    assert prints(two, "Δ%") == "Prints     the difference of two averages, in percent of the first"
    out = shutil.copytree(two, tmp_path / "report")
    place = out / "provenance.json"
    result = json.loads(place.read_text(encoding="utf-8"))
    result["content"]["options"]["style"] = "org-2023"
    place.write_text(json.dumps(result), encoding="utf-8")
    assert prints(out, "Δ") == "Prints     the difference of two averages, both as they are printed"


# What goes wrong


def failed(done: Done, status: int, text: str) -> None:
    assert (done.status, done.out, done.err) == (status, "", text)


def test_a_table_of_no_rows_is_not_said_to_be_missing(faults: Path, cache: Path) -> None:
    done = assay("trace", faults, "Results/Nothing/a/b", "--cache", cache)
    assert (done.status, done.out) == (2, "")
    first, _, hint = done.err.rstrip().split("\n")
    assert first == "error[unknown-cell]: `Results` has no table `Nothing` whose cells can be traced"
    assert hint == ("  hint: did you mean `Results/Scenarios`?")


def test_a_log_that_changed_is_named_with_both_hashes(moved: Path, cache: Path) -> None:
    import hashlib

    log = moved / "candidate" / "node-3" / "stdout.gz"
    before = log.read_bytes()
    try:
        log.write_bytes(before[:-9])
        old, new = (hashlib.sha256(text).hexdigest()[:12] for text in (before, before[:-9]))
        failed(
            assay("trace", moved / "report", "Forging/Ledger ticking/candidate", "--cache", cache), 1,
            f"error[input-changed]: run candidate: node-3/stdout.gz is not what the report was built of: {log}\n"
            f"  expected: sha256 {old}\n  found:    sha256 {new}\n"
            "  hint: --run candidate=DIR says where the run is now, if it moved\n",
        )  # fmt: skip
        assert assay("trace", moved / "report", "Forging/Ledger ticking/baseline", "--cache", cache).status == 0
    finally:
        log.write_bytes(before)


def test_a_run_that_moved_is_found_where_it_is_now(moved: Path, cache: Path) -> None:
    here = moved / "baseline"
    here.rename(moved / "elsewhere")
    try:
        cell = "Forging/Ledger ticking/baseline"
        failed(
            assay("trace", moved / "report", cell, "--cache", cache), 1,
            f"error[no-run]: the directory of run baseline is not there: {here}\n"
            "  hint: --run baseline=DIR says where it is\n",
        )  # fmt: skip
        result = traced(moved / "report", cell, cache, "--run", f"baseline={moved / 'elsewhere'}")
        assert result["runs"][0]["place"] == str(moved / "elsewhere")
    finally:
        (moved / "elsewhere").rename(here)


def test_a_provenance_that_was_changed_is_told(two: Path, tmp_path: Path, cache: Path) -> None:
    """As `assay verify` tells it; listing cells and tracing one, and nothing where it was not."""
    place = shutil.copytree(two, tmp_path / "report") / "provenance.json"
    provenance = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(provenance | {"hash": "0" * 64}), encoding="utf-8")
    for argument in ("--list", "Resource Usage/Process CPU usage/candidate"):
        done = assay("trace", place.parent, argument, "--cache", cache)
        assert done.status == 0
        assert done.err == (
            f"warning: {place}: its hash is not that of its content, so that it was changed: `assay verify` it\n"
        )
    assert assay("trace", two, "--list", "--cache", cache).err == ""


def test_another_definition_or_value_is_not_traced(moved: Path, cache: Path) -> None:
    place = moved / "report" / "provenance.json"
    before = place.read_text(encoding="utf-8")
    result = json.loads(before)
    now = result["content"]["definitions"]["cdfForgerTicked"]
    result["content"]["definitions"]["cdfForgerTicked"] = "0" * 64
    results = moved / "report" / "results.json"
    results_text = results.read_text(encoding="utf-8")
    cell = "Forging/Ledger ticking/baseline"
    try:
        place.write_text(json.dumps(result), encoding="utf-8")
        failed(
            assay("trace", moved / "report", cell, "--cache", cache), 1,
            "error[definition-changed]: `cdfForgerTicked` was defined in another way when the report was built\n"
            f"  expected: definition 000000000000, as provenance.json has it\n  found:    definition {now[:12]}\n"
            "  hint: trace it with the specs that it was built with, or build the report again\n",
        )  # fmt: skip
        place.write_text(before, encoding="utf-8")
        changed = json.loads(results_text)
        changed["metrics"]["cdfForgerTicked"]["runs"]["baseline"]["average"] = 0.5
        results.write_text(json.dumps(changed), encoding="utf-8")
        done = assay("trace", moved / "report", cell, "--cache", cache)
        assert (done.status, done.out) == (1, "")
        assert done.err.startswith("error[value-changed]: run baseline does not give the value of `cdfForgerTicked`")
    finally:
        place.write_text(before, encoding="utf-8")
        results.write_text(results_text, encoding="utf-8")


def test_a_folder_without_a_build_and_a_name_without_a_cell(tmp_path: Path, two: Path, cache: Path) -> None:
    failed(
        assay("trace", tmp_path, "a/b/c", "--cache", cache), 1,
        f"error[no-build]: the folder holds no provenance.json: {tmp_path}\n"
        "  hint: name the folder that a report was built into (-o)\n",
    )  # fmt: skip
    assert assay("trace", two, "--cache", cache) == assay("trace", two, "--list", "--cache", cache)
    done = assay("trace", two, "a/b/c", "--list", "--cache", cache)
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith("Error: Name a cell, SECTION/ROW/COLUMN as printed, or ask for a --list of them.\n")
    broken = tmp_path / "broken"
    shutil.copytree(two, broken)
    (broken / "document.json").write_text('{"sections": 3}', encoding="utf-8")
    done = assay("trace", broken, "--list", "--cache", cache)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error[no-build]: the document is not what a build writes: ")


def test_names_that_hold_slashes_are_told_apart() -> None:
    def cell(section: str, row: str) -> Cell:
        return Cell(section, row, "1", "0", "average", (CellSource("m", "run"),))

    cells = [cell("a", "b/c"), cell("a/b", "c"), cell("a/b", "d")]
    assert find(cells, "a/b/d/1") is cells[2]
    with pytest.raises(AssayError, match=r"ambiguous-cell.*names several cells") as refusal:
        find([*cells, cell("a", "b/d")], "a/b/d/1")
    assert refusal.value.status == 2
