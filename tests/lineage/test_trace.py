"""`assay trace`: from a printed cell back to its samples and their raw records, or a clear word why not."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.report.cell_links import CellSource
from assay.report.document_json import parse_document
from assay.report.printed_cells import Cell, find_cell, list_document_cells
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO
from tests.explain.test_explain import compute_cpu, read_raw_line
from tests.support.commands import CommandResult, run_assay
from tests.support.documents import list_sections
from tests.support.laboratory import ROOT, Laboratory
from tests.support.loads import Experiment, create_load_run
from tests.support.runs import copy_run

QA = ROOT / "golden" / "cometbft" / "run"


@pytest.fixture(scope="module")
def moved_report(tmp_path_factory: pytest.TempPathFactory, two: Path) -> Path:
    """Build the report of two runs that are moved afterwards."""
    folder = tmp_path_factory.mktemp("moved")
    shutil.copytree(two, folder / "report")
    for name in ("baseline", "candidate"):
        copy_run(name, folder / name)
    place = folder / "report" / "provenance.json"
    result = json.loads(place.read_text(encoding="utf-8"))
    result["places"] = {name: str(folder / name) for name in result["places"]}
    place.write_text(json.dumps(result), encoding="utf-8")
    return folder


def trace_cell(folder: Path, cell: str, cache: Path, *options: str) -> dict[str, Any]:
    completed = run_assay("trace", folder, cell, *options, "--format", "json", "--cache", cache)
    assert (completed.status, completed.err) == (0, "")
    result: dict[str, Any] = completed.parse_json()
    return result


def test_a_cell_leads_to_its_lines(two: Path, cache: Path) -> None:
    result = trace_cell(two, "Resource Usage/Process CPU usage/candidate", cache)
    results = json.loads((two / "results.json").read_text(encoding="utf-8"))["metrics"]["CentiCpu"]
    (run,) = result["runs"]
    assert (result["cell"], result["metric"]) == ("Resource Usage/Process CPU usage, %/candidate", "CentiCpu")
    assert result["definition"] == results["definition"]
    assert {name: run[name] for name in ("size", "average", "median", "min", "max", "stddev")} == {
        name: results["runs"]["candidate"][name] for name in ("size", "average", "median", "min", "max", "stddev")
    }
    assert [item["value"] for item in run["greatest"]][:1] == [run["max"]]
    assert [item["value"] for item in run["least"]] == [run["min"]] * 3
    for sample in run["greatest"]:
        assert compute_cpu(sample["lines"]) == sample["measured"]
        for line in sample["lines"]:
            assert read_raw_line(CARDANO / "candidate" / "run", line["file"], line["line"]) == line["text"]
    assert sum(item["size"] for item in run["groups"]) == run["size"]
    mean = sum(item["mean"] for item in run["groups"]) / len(run["groups"])
    assert mean == pytest.approx(run["average"], rel=1e-9)


def test_a_difference_leads_to_both_runs(two: Path, cache: Path) -> None:
    result = trace_cell(two, "Forging/Ledger ticking, ms/Δ", cache)
    assert (result["cell"], result["prints"]) == ("Forging/Ledger ticking, ms/candidate Δ", "difference")
    assert [run["id"] for run in result["runs"]] == ["baseline", "candidate"]


def test_trace_as_text_is_complete(two: Path, cache: Path) -> None:
    result = run_assay("trace", two, "Forging/cdfForgerTicked/baseline", "--cache", cache)
    assert (result.status, result.err) == (0, "")
    lines = result.out.split("\n")
    assert lines[0].startswith("Forging/Ledger ticking, ms/baseline: ")
    assert lines[2] == "Metric     cdfForgerTicked: Ledger ticking, s"
    assert lines[4] == "Prints     the average of all samples"
    applied_filters = json.loads((two / "provenance.json").read_text(encoding="utf-8"))["content"]["options"]["filters"]
    assert " ".join(applied_filters).replace(" ", ", ") in " ".join(result.out.split())
    assert any(line.startswith("   node-2/stdout.gz:5598  {") for line in lines)
    assert max(map(len, lines)) <= 87  # the hash is not cut


def test_a_trace_names_filters_that_decide_through_other_tables(two: Path, cache: Path) -> None:
    def names_filters(metric: str) -> bool:
        return (
            "\nFilters    slot-leq=1100, "
            in run_assay("trace", two, f"Anomaly control/{metric}/Δ", "--cache", cache).out
        )

    assert [names_filters(metric) for metric in ("cdfBlocksFilteredRatio", "cdfBlocksPerHost")] == [True, False]


def test_every_listed_cell_can_be_found(two: Path, cache: Path, lab: Laboratory) -> None:
    data = run_assay("trace", two, "--list", "--format", "json", "--cache", cache).parse_json()
    document = json.loads((two / "document.json").read_text(encoding="utf-8"))
    cells = tuple(list_document_cells(parse_document((two / "document.json").read_text("utf-8")), lab.package.package))
    assert [item["cell"] for item in data] == [item.name for item in cells]
    assert all(find_cell(cells, item.name) is item for item in cells)
    printed_count = sum(1 for section in list_sections(document) for row in section["rows"] for text in row[1:] if text)
    kinds = ("average", "difference", "percent", "size", "interval", "verdict")
    table_cells = [item for item in cells if item.section not in ("Verdicts", "Drafted observations")]
    assert sum(item.prints in kinds for item in table_cells) == printed_count
    manifest = len(document["manifest"]["rows"]) * 2
    assert sum(item.section == document["manifest"]["title"] for item in cells) == manifest
    listed_cells = run_assay("trace", two, "--list", "--cache", cache).out.split("\n")
    assert listed_cells[: len(data)] == [f"{item['cell']}: {item['text']}" for item in data]


def test_first_page_leads_to_evidence_of_tables(two: Path, cache: Path) -> None:
    answer, table = (
        trace_cell(two, f"{section}/cdfForgerTicked/{column}", cache)
        for section, column in (("Verdicts", "verdict"), ("Forging", "Verdict"))
    )
    assert (answer["cell"], answer["text"]) == ("Verdicts/Ledger ticking/verdict", table["text"])
    assert answer["judgement"]["batches"]
    assert answer["judgement"] == table["judgement"]
    assert answer["runs"] == table["runs"]


def test_numbers_of_the_headline_lead_to_verdicts(two: Path, cache: Path) -> None:
    document = json.loads((two / "document.json").read_text(encoding="utf-8"))
    (answer,) = document["answers"]
    counts = {}
    for verdict in ("judged", "worse", "better", "same", "cannot tell", "no interval", "by itself"):
        result = trace_cell(two, f"Verdicts/metrics/{verdict}", cache)
        assert len(result["cells"]) == int(result["text"])
        counts[verdict] = int(result["text"])
        assert verdict == "judged" or all(verdict in cell["text"] for cell in result["cells"])
    assert 0 < counts["by itself"] < counts["worse"]
    (equal,) = map(int, re.findall(r"; (\d+) more have the values of another", answer["counts"]))
    number = counts["judged"] - equal
    assert f" in {counts['worse'] - counts['by itself']} of {number} metrics" in answer["headline"]
    assert counts["worse"] > 0
    assert answer["counts"].startswith(
        f"{counts['worse']} worse ({counts['by itself']} by "
        f"{'itself' if counts['by itself'] == 1 else 'themselves'}), "
        f"{counts['better']} better, {counts['same']} same within 2 %, "
        f"{counts['cannot tell'] - equal} cannot tell, {counts['no interval']} no interval; {equal} more"
    )
    counted = trace_cell(two, "Verdicts/metrics/worse", cache)["cells"][0]["cell"]
    text = run_assay("trace", two, "Verdicts/metrics/worse", "--cache", cache).out
    assert f"\n{counted}: ▲ worse\n" in text
    assert trace_cell(two, counted, cache)["text"] == "▲ worse"


def test_a_cell_of_an_article_leads_to_its_row(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "qa"
    assert run_assay("build", "cometbft/qa", "--run", QA, "-o", out, "--cache", cache).status == 0
    result = trace_cell(out, "Latencies/Latencies of the experiments/1, 1, 50/Maximum latency, s", cache)
    ((sample,),) = (run["greatest"] for run in result["runs"])
    assert f"{sample['value']:.2f}" == result["text"]
    (line,) = sample["lines"]
    assert line["text"].split(",")[2] == str(sample["measured"])
    pivot = "Saturation point/Transactions in blocks, by rate (rows) and connections (columns)/800/2"
    second_trace = trace_cell(out, pivot, cache)
    ((sample,),) = (run["greatest"] for run in second_trace["runs"])
    assert (second_trace["text"], sample["measured"], sample["records"]) == ("18147", 18147, 18147)


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build a report of two runs with one label; a faulty experiment precedes one of the same configuration."""
    folder, second = tmp_path_factory.mktemp("faults"), 10**9
    bad_experiment, good_experiment = (
        Experiment("bad", 5, latency=9 * second),
        Experiment("good", 100, latency=3 * second),
    )
    for name in ("one", "two"):
        create_load_run(folder / name, bad_experiment, good_experiment, ident="v1", experiments={"fault": 1})
    runs = ("--run", folder / "one", "--run", folder / "two")
    assert run_assay("build", "cometbft/qa", *runs, "-o", folder / "qa", "--cache", cache).status == 0
    return folder / "qa"


def test_a_cell_of_a_verdict_leads_to_the_row_that_is_judged(faults: Path, cache: Path) -> None:
    """It does not lead to another row of the same configuration, whether a choice excludes or selects that row."""
    titles = {
        "Experiments compared with the baseline": "good",
        "Experiment with a fault compared with the baseline": "bad",
    }
    for title, experiment in titles.items():
        row = f"Results/{title}: v1 (two)/1, 50, Average latency, s"
        result = trace_cell(faults, f"{row}/v1 (one)", cache)
        ((sample,),) = (run["greatest"] for run in result["runs"])
        assert sample["keys"]["experiment_id"] == experiment
        assert f"{sample['value']:.2f}" == result["text"]
        changed_cell = trace_cell(faults, f"{row}/Δ%", cache)
        assert [run["greatest"][0]["keys"]["experiment_id"] for run in changed_cell["runs"]] == [experiment] * 2
    text = " ".join(run_assay("trace", faults, f"{row}/Δ%", "--cache", cache).out.split())
    assert "Prints the difference of the value of a row from that of the baseline, in percent of the latter" in text


def test_cell_that_differs_from_its_row_is_refused(faults: Path, tmp_path: Path, cache: Path) -> None:
    out = shutil.copytree(faults, tmp_path / "qa")
    place = out / "document.json"
    place.write_text(place.read_text(encoding="utf-8").replace('"3.00"', '"4.00"'), encoding="utf-8")
    cell = "Latencies/Latencies of the experiments: v1 (one)/2, 1, 50/Average latency, s"
    check_failure(
        run_assay("trace", out, cell, "--cache", cache), 1,
        f"error[value-changed]: run one yields another value of `latency_avg` than `{cell}` prints\n"
        "  expected: 4.00\n  found:    3.00\n  hint: run `assay verify` to see what changed\n",
    )  # fmt: skip


def test_runs_of_one_label_have_the_labels_of_the_article(faults: Path, cache: Path) -> None:
    content = json.loads((faults / "provenance.json").read_text(encoding="utf-8"))["content"]
    document = json.loads((faults / "document.json").read_text(encoding="utf-8"))
    assert [run["label"] for run in content["runs"]] == document["manifest"]["header"][1:] == ["v1 (one)", "v1 (two)"]
    listing = run_assay("trace", faults, "--list", "--cache", cache).out
    for gallery in document["parts"]:
        for table in gallery["tables"]:
            name = "/".join(dict.fromkeys(filter(None, (gallery["title"], table["title"]))))
            assert (f"{name}/" in listing) == (table["rows"] != [])


def test_difference_is_described(two: Path, tmp_path: Path, cache: Path) -> None:
    def read_printed_line(folder: Path, column: str) -> str:
        lines = run_assay("trace", folder, f"Forging/cdfForgerTicked/{column}", "--cache", cache).out.split("\n")
        return next(line for line in lines if line.startswith("Prints"))

    assert read_printed_line(two, "Δ") == "Prints     the difference of two averages"
    assert read_printed_line(two, "Δ%") == "Prints     the difference of two averages, in percent of the first"
    out = shutil.copytree(two, tmp_path / "report")
    place = out / "provenance.json"
    result = json.loads(place.read_text(encoding="utf-8"))
    result["content"]["options"]["style"] = "org-2023"
    place.write_text(json.dumps(result), encoding="utf-8")
    assert read_printed_line(out, "Δ") == "Prints     the difference of two averages, both as printed"


# Errors


def check_failure(completed: CommandResult, status: int, text: str) -> None:
    assert (completed.status, completed.out, completed.err) == (status, "", text)


def test_table_without_rows_is_not_reported_as_missing(faults: Path, cache: Path) -> None:
    result = run_assay("trace", faults, "Results/Nothing/a/b", "--cache", cache)
    assert (result.status, result.out) == (2, "")
    first, _, hint = result.err.rstrip().split("\n")
    assert first == "error[unknown-cell]: `Results` has no table `Nothing` whose cells can be traced"
    assert hint == ("  hint: did you mean `Results/Scenarios`?")


def test_fact_of_a_run_is_refused_with_its_definition(two: Path, cache: Path) -> None:
    cell = "Overall run parameters/Number of filters applied/baseline"
    text = json.loads((two / "provenance.json").read_text(encoding="utf-8"))["content"]["options"]["filters"]
    check_failure(
        run_assay("trace", two, cell, "--cache", cache), 2,
        f"error[not-a-metric]: `{cell}` is a fact of run baseline, not a metric\n"
        f"  found:    {len(text)}, from genesis-shelley.json, meta.json\n"
        "  note: The number of filters that are applied to samples. The table of filters lists them.\n"
        "  hint: pass --list to list the cells\n",
    )  # fmt: skip


def test_a_log_that_changed_is_named_with_both_hashes(moved_report: Path, cache: Path) -> None:
    import hashlib

    log = moved_report / "candidate" / "node-3" / "stdout.gz"
    before = log.read_bytes()
    try:
        log.write_bytes(before[:-9])
        old, new = (hashlib.sha256(text).hexdigest()[:12] for text in (before, before[:-9]))
        check_failure(
            run_assay("trace", moved_report / "report", "Forging/Ledger ticking/candidate", "--cache", cache), 1,
            f"error[input-changed]: run candidate: node-3/stdout.gz has changed since the report was built: {log}\n"
            f"  expected: sha256 {old}\n  found:    sha256 {new}\n"
            "  hint: pass --run candidate=DIR if the run has moved\n",
        )  # fmt: skip
        assert (
            run_assay("trace", moved_report / "report", "Forging/Ledger ticking/baseline", "--cache", cache).status == 0
        )
    finally:
        log.write_bytes(before)


def test_moved_run_is_read_at_its_new_place(moved_report: Path, cache: Path) -> None:
    moved_run = moved_report / "baseline"
    moved_run.rename(moved_report / "elsewhere")
    try:
        cell = "Forging/Ledger ticking/baseline"
        check_failure(
            run_assay("trace", moved_report / "report", cell, "--cache", cache), 1,
            f"error[no-run]: the directory of run baseline does not exist: {moved_run}\n"
            "  hint: pass --run baseline=DIR if it has moved\n",
        )  # fmt: skip
        result = trace_cell(moved_report / "report", cell, cache, "--run", f"baseline={moved_report / 'elsewhere'}")
        assert result["runs"][0]["place"] == str(moved_report / "elsewhere")
    finally:
        (moved_report / "elsewhere").rename(moved_run)


def test_changed_provenance_is_a_warning(two: Path, tmp_path: Path, cache: Path) -> None:
    """Listing cells and tracing one warn like `assay verify`; without a change there is no warning."""
    place = shutil.copytree(two, tmp_path / "report") / "provenance.json"
    provenance = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(provenance | {"hash": "0" * 64}), encoding="utf-8")
    for argument in ("--list", "Resource Usage/Process CPU usage/candidate"):
        result = run_assay("trace", place.parent, argument, "--cache", cache)
        assert result.status == 0
        assert result.err == (
            f"warning: {place}: it was edited, as its hash does not match its content; run `assay verify`\n"
        )
    assert run_assay("trace", two, "--list", "--cache", cache).err == ""


def test_another_definition_or_value_is_not_traced(moved_report: Path, cache: Path) -> None:
    place = moved_report / "report" / "provenance.json"
    before = place.read_text(encoding="utf-8")
    result = json.loads(before)
    current_definitions = result["content"]["definitions"]["cdfForgerTicked"]
    result["content"]["definitions"]["cdfForgerTicked"] = "0" * 64
    results = moved_report / "report" / "results.json"
    results_text = results.read_text(encoding="utf-8")
    cell = "Forging/Ledger ticking/baseline"
    try:
        place.write_text(json.dumps(result), encoding="utf-8")
        check_failure(
            run_assay("trace", moved_report / "report", cell, "--cache", cache),
            1,
            "error[definition-changed]: the definition of `cdfForgerTicked` has changed since the report was built\n"
            "  expected: definition 000000000000, as in provenance.json\n  found:    definition "
            f"{current_definitions[:12]}\n"
            "  hint: use the specs of the build, or build the report again\n",
        )
        place.write_text(before, encoding="utf-8")
        changed_results = json.loads(results_text)
        changed_results["metrics"]["cdfForgerTicked"]["runs"]["baseline"]["average"] = 0.5
        results.write_text(json.dumps(changed_results), encoding="utf-8")
        completed = run_assay("trace", moved_report / "report", cell, "--cache", cache)
        assert (completed.status, completed.out) == (1, "")
        assert completed.err.startswith("error[value-changed]: run baseline yields another value of `cdfForgerTicked`")
    finally:
        place.write_text(before, encoding="utf-8")
        results.write_text(results_text, encoding="utf-8")


def test_folder_without_a_build_and_unknown_cell_are_errors(tmp_path: Path, two: Path, cache: Path) -> None:
    check_failure(
        run_assay("trace", tmp_path, "a/b/c", "--cache", cache), 1,
        f"error[no-build]: the folder has no provenance.json: {tmp_path}\n"
        "  hint: pass the output folder of a build (-o)\n",
    )  # fmt: skip
    assert run_assay("trace", two, "--cache", cache) == run_assay("trace", two, "--list", "--cache", cache)
    result = run_assay("trace", two, "a/b/c", "--list", "--cache", cache)
    assert (result.status, result.out) == (2, "")
    assert result.err.endswith("Error: Pass either a cell SECTION/ROW/COLUMN or --list.\n")
    broken_folder = tmp_path / "broken"
    shutil.copytree(two, broken_folder)
    (broken_folder / "document.json").write_text('{"sections": 3}', encoding="utf-8")
    result = run_assay("trace", broken_folder, "--list", "--cache", cache)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("error[no-build]: the document is not what a build writes: ")


def test_names_with_slashes_are_distinguished() -> None:
    def create_cell(section: str, row: str) -> Cell:
        return Cell(section, row, "1", "0", "average", (CellSource("m", "run"),))

    cells = [create_cell("a", "b/c"), create_cell("a/b", "c"), create_cell("a/b", "d")]
    assert find_cell(cells, "a/b/d/1") is cells[2]
    with pytest.raises(AssayError, match=r"ambiguous-cell.*names several cells") as refusal:
        find_cell([*cells, create_cell("a", "b/d")], "a/b/d/1")
    assert refusal.value.status == 2


def test_timeline_leads_to_the_explanation_of_its_series(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "out"
    build = ("build", "cardano/host-activity", "--run", CARDANO / "tiny/plain/run", "-o", out, "--to", "md")
    assert run_assay(*build, "--cache", cache).status == 0
    result = run_assay("trace", out, "Over time/Accepted transactions, tx/s", "--cache", cache)
    assert result.status == 2
    assert "`Accepted transactions` is a timeline" in result.err
    assert "`assay explain transaction_rate --run RUN`" in result.err
