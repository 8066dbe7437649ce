"""Filter files of the workbench and profiles of runs: filters, places of slips, builds; performance without chain."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from assay.app.session.filters import list_filter_sources, parse_filters
from assay.util.diagnostics import AssayError
from assay.util.json_text import locate_value
from tests.compare_reference import CARDANO, load_json
from tests.oracle import load_filters
from tests.oracle.analysis import analyse
from tests.support.cases import format_options, load_named_filters
from tests.support.commands import build, run_assay
from tests.support.laboratory import Laboratory

FILES = sorted((CARDANO / "filters").glob("*.json"))
RUN = CARDANO / "baseline" / "run"


def block(tag: str, contents: object = True) -> dict[str, object]:
    """Return a condition on blocks as the workbench writes it."""
    return {"tag": "CBlock", "contents": {"tag": tag, "contents": contents}}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_files_have_the_filters_of_the_oracle(lab: Laboratory, file: Path) -> None:
    package = lab.session.load_package("cardano").package
    labels = [item.label for item in parse_filters(package, None, (f"@{file}",), False)]
    assert labels == format_options(load_filters(file))


@pytest.mark.parametrize("name", ["edges1", "edges2", "epoch", "model"])
def test_queries_apply_the_files(cache: Path, name: str) -> None:
    file = CARDANO / "filters" / f"{name}.json"
    run = CARDANO / ("edges" if name.startswith("edges") else "epochs" if name == "epoch" else "baseline") / "run"
    result = run_assay(
        "query", "cdfBlockSize", "--run", run, "--filter-file", file, "--format", "csv", "--cache", cache
    )
    (row,) = csv.DictReader(io.StringIO(result.out))
    expected = analyse(run, load_named_filters(name)).metrics["cdfBlockSize"]
    assert (int(row["size"]), float(row["median"])) == (expected.size, expected.median)
    assert float(row["average"]) == pytest.approx(expected.average_hosts, rel=1e-12)


@pytest.fixture
def profiled_run(tmp_path: Path) -> Path:
    """Return a copy of the run whose profile has filters: a shipped set, a file beside it, and a condition."""
    run = tmp_path / "run"
    shutil.copytree(RUN, run)
    document = json.loads((run / "meta.json").read_text(encoding="utf-8"))
    document["meta"]["profile_content"]["analysis"] = {
        "filters": ["unitary", "early"],
        "filter_exprs": [block("BMinimumAdoptions", 4)],
    }
    (run / "meta.json").write_text(json.dumps(document), encoding="utf-8")
    condition = {"tag": "CSlot", "contents": {"tag": "SlotLEq", "contents": 1100}}
    (run / "early.json").write_text(json.dumps([condition]), encoding="utf-8")
    return run


def test_filters_of_the_profile_of_a_run_are_read(lab: Laboratory, profiled_run: Path) -> None:
    package = lab.session.load_package("cardano").package
    expected = sorted(item.label for item in parse_filters(package, None, format_model(), False))
    for place in (profiled_run, profiled_run / "meta.json"):
        labels = sorted(item.label for item in parse_filters(package, None, (f"@{place}",), False))
        assert labels == expected
    sources = list_filter_sources(package, (f"@{profiled_run}",))
    assert [item.file for item in sources] == ["run/meta.json", "early.json"]
    assert [item.filters for item in sources] == [("min-adoptions=4", "unitary"), ("slot-leq=1100",)]


def format_model() -> tuple[str, ...]:
    """Return the filters of the reference reports as options."""
    return tuple(format_options(load_named_filters("model")))


def test_build_shows_and_records_where_filters_are_from(cache: Path, profiled_run: Path, tmp_path: Path) -> None:
    by_file, by_hand = tmp_path / "file", tmp_path / "hand"
    options = ("--to=md", "--filter=size-geq=100")
    assert build([f"a={RUN}"], by_file, cache, f"--filter-file={profiled_run}", *options).status == 0
    assert build([f"a={RUN}"], by_hand, cache, *(f"--filter={item}" for item in format_model()), *options).status == 0
    ours, theirs = (load_json(folder / "results.json") for folder in (by_file, by_hand))
    assert (ours["metrics"], ours["manifest"]) == (theirs["metrics"], theirs["manifest"])
    recorded = load_json(by_file / "provenance.json")["content"]["options"]
    assert sorted(recorded["filters"]) == sorted((*format_model(), "size-geq=100"))
    assert [(item["file"], item["filters"]) for item in recorded["filter_files"]] == [
        ("run/meta.json", ["min-adoptions=4", "unitary"]),
        ("early.json", ["slot-leq=1100"]),
    ]
    table = load_json(by_file / "document.json")["filters"]
    filters = {(row[1], row[6]) for row in table["rows"]}
    assert filters == {
        ("min-adoptions", "run/meta.json"),
        ("unitary", "run/meta.json"),
        ("slot-leq", "early.json"),
        ("size-geq", "command line"),
    }
    assert len(load_json(by_hand / "document.json")["filters"]["header"]) == 6
    shutil.rmtree(profiled_run)
    assert run_assay("verify", by_file, "--cache", cache).status == 0


def test_changed_file_changes_the_same_build(cache: Path, tmp_path: Path) -> None:
    file, out = tmp_path / "sizes.json", tmp_path / "out"
    sizes = []
    for least in (1, 2990):
        file.write_text(json.dumps([block("BSizeGEq", least)]), encoding="utf-8")
        assert build([f"a={RUN}"], out, cache, f"--filter-file={file}", "--to=md").status == 0
        sizes.append(load_json(out / "results.json")["metrics"]["cdfBlockSize"]["runs"]["a"]["size"])
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('[{"tag": "CBlock",\n "contents": {"tag": "BSizeGQ", "contents": 1}}]', "condition `BSizeGQ`", (2, 22)),
        ('[{"contents": {"tag": "BSizeGEq", "contents": 1},\n"tag": "CBlok"}]', "unknown condition `CBlok`", (2, 8)),
        ('[{"tag": "CSlot", "contents": {"tag": "BSizeGEq", "contents": 1}}]', "unknown condition `BSizeGEq`", (1, 39)),
        ('[{"tag": "CBlock"}]', "`CBlock` of the filter file has no inner condition", (1, 10)),
        ('[{"tag": "CBlock", "contents": {"tag": "BSizeGEq", "contents": "1"}}]', "is not a number", (1, 64)),
        ('[{"tag": "CBlock", "contents": {"tag": "BSizeGEq", "contents": 1.5}}]', "is not a whole number", (1, 64)),
        ('[{"tag": "CBlock", "contents": {"tag": "BSizeGEq"}}]', "needs an argument", (1, 40)),
        ('[{"tag": "CBlock", "contents": {"tag": "BUnitaryChainDelta", "contents": 1}}]', "takes no argument", (1, 74)),
        ('[\n 17]', "is not a condition", (2, 2)),
        ('{"analysis": {"filters": ["unitary",\n"no-such"]}}', "there is no filter file `no-such`", (2, 1)),
        ('{"analysis": {"filters": "unitary"}}', "not a list of texts", (1, 26)),
        ('{"analysis": {"filter_exprs": {}}}', "no list of conditions", (1, 31)),
        ('{"meta": {}}', "the document has no filters", (1, 1)),
        ('[{"tag"]', "not JSON", (1, 8)),
    ],
)  # fmt: skip
def test_slips_are_errors_at_their_places(
    lab: Laboratory, tmp_path: Path, text: str, message: str, place: tuple[int, int]
) -> None:
    file = tmp_path / "slip.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(AssayError) as caught:
        parse_filters(lab.session.load_package("cardano").package, None, (f"@{file}",), False)
    (problem,) = caught.value.diagnostics
    assert message in problem.message
    assert problem.span
    assert (problem.span.file, problem.span.line, problem.span.column) == (str(file), *place)


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_places_of_values_are_where_they_are_written(indent: int | None) -> None:
    document = {"a": [1, {'b"': "x]", "c": [[], {}, "here"]}], "d": {"c": "there"}}
    text = json.dumps(document, indent=indent)
    for path, value in ((("a", 1, "c", 2), '"here"'), (("d", "c"), '"there"'), (("a", 0), "1")):
        line, column = locate_value(text, path)
        assert text.splitlines()[line - 1][column - 1 :].startswith(value)
    assert locate_value(text, ("a", 1, "nothing")) == locate_value(text, ("a", 1))


CHAIN = r"Forged|Adopted|AddedToCurrentChain|SwitchedToAFork|DownloadedHeader|BlockFetch|ChainSync"


@pytest.fixture(scope="module")
def run_without_chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the run whose logs have no events of blocks."""
    run = tmp_path_factory.mktemp("performance") / "run"
    shutil.copytree(RUN, run)
    for file in run.glob("node-*/stdout*"):
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8") as stream:
            lines = [line for line in stream if not re.search(CHAIN, line)]
        with opened(file, "wt", encoding="utf-8") as stream:
            stream.writelines(lines)
    return run


def test_performance_needs_no_chain(cache: Path, tmp_path: Path, run_without_chain: Path) -> None:
    runs = [f"whole={RUN}", f"performance={run_without_chain}"]
    result = build(runs, tmp_path / "out", cache, "--to=md", "--by=host", report="cardano/performance")
    assert result.status == 0, result.err
    results = load_json(tmp_path / "out" / "results.json")
    expected = analyse(RUN, []).metrics
    by_events = ("cdfBlockGap", "cdfUtxo", "cdfDensity")  # other events than those of blocks set them, too
    assert {"RSS", "CentiCpu", "cdfStarted", "cdfLeading", "Threads", "cdfHostSlots"} <= results["metrics"].keys()
    for name, metric in results["metrics"].items():
        whole, performance = metric["runs"]["whole"], metric["runs"]["performance"]
        assert (whole["size"], whole["median"]) == (expected[name].size, expected[name].median)
        assert whole["averages"]["mean-of-hosts"] == pytest.approx(expected[name].average_hosts, rel=1e-12)
        if name not in by_events:
            assert performance["centiles"] == whole["centiles"]
    refused = build([f"a={run_without_chain}"], tmp_path / "refused", cache)
    assert (refused.status, "there is no chain to analyse" in refused.err) == (1, True)
