"""Test the files and texts that commands write: complete and consistent with each other."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.app.compute.report_metrics import list_judged_metrics, list_report_metrics
from assay.app.compute.sql_files import render_sql_files
from assay.app.session.filters import parse_filters
from assay.app.session.list_definitions import KINDS
from assay.engine.compiled_plan import CompiledPlan, compile_statements
from assay.engine.graph import build_nodes
from assay.lang.blocks.listing import Listing
from assay.lang.checked_package import CheckedPackage
from assay.plan.planner import build_plan
from assay.plan.request import Request
from assay.provenance.read import hash_content
from assay.provenance.record import hash_outline, hash_templates
from assay.provenance.versions import get_versions
from assay.quality.quality_plan import QualityPlan
from assay.report.blocks.rows import list_row_requests
from assay.util.checksums import unseal_text
from tests.compare_reference import CARDANO
from tests.support import commands
from tests.support.cases import format_options, load_named_filters
from tests.support.commands import MODEL, build_environment, run_assay
from tests.support.documents import list_sections
from tests.support.laboratory import DATE, ROOT, Laboratory
from tests.support.outcomes import assert_same, read_contents
from tests.support.workspaces import copy_workspace, edit_file

FILTERS = tuple(format_options(load_named_filters("model")))
PAIR = tuple(f"{case}={CARDANO / case / 'run'}" for case in ("baseline", "candidate"))
PLAIN = f"plain={CARDANO / 'tiny' / 'plain' / 'run'}"
FIGURE_NAMES = ("size", "average", "median", "stddev", "min", "max")
CENTILES = (
    *(0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99),
    *(0.995, 0.997, 0.998, 0.999, 0.9995, 0.9997, 0.9998, 0.9999, 1.0),
)


def read_json(file: Path) -> Any:
    """Read a JSON file."""
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def results(two: Path) -> Any:
    """Return `results.json` of the report of two runs."""
    return read_json(two / "results.json")


@pytest.fixture(scope="module")
def package(lab: Laboratory) -> CheckedPackage:
    """Return the package under test."""
    return lab.package


# The files of a build


def test_build_writes_documented_files_only(two: Path, package: CheckedPackage) -> None:
    report = next(item for item in package.package.reports if item.name == "comparison")
    flat = "GcsMajor"  # nearly all of its samples have one value: a sentence replaces its chart
    charts = {
        f"charts/{chart.metric}.{end}"
        for _, chart in report.metric_charts
        if chart.metric != flat
        for end in ("vl.json", "svg")
    }
    steps = ("steps-cdfForgerAnnounceCum-30", "steps-cdf0.80-31")
    charts |= {f"charts/{name}.{end}" for name in steps for end in ("vl.json", "svg")}
    templates = {f"report/{path.name}" for path in (ROOT / "templates" / "report").iterdir()}
    filters = parse_filters(package.package, report, FILTERS, False)
    judged = list_judged_metrics(package, report)
    metrics, rows_of_listings = list_report_metrics(package, report), list_row_requests(package, report, ())
    request = Request(metrics, ("run_summary",), rows_of_listings, judged=judged, detailed=judged)
    full_plan = build_plan(package.package, request, filters)
    sql = {f"sql/{name}" for name in render_sql_files(build_nodes(compile_statements(package, full_plan)))}
    quality = QualityPlan(CompiledPlan(package, full_plan, compile_statements(package, full_plan)))
    sql |= {f"sql/{name}" for name in render_sql_files(build_nodes(quality.counts))}
    data = {"results.json", "document.json", "provenance.json", "specs.json", "sql/constants.json"}
    single = {"report.pdf", "report.typ", "report/lacking.json", *data}
    rows = {
        f"rows/{run}/{listing.file_name}.{end}"
        for run in ("baseline", "candidate")
        for listing in report.blocks
        if isinstance(listing, Listing)
        for end in ("csv", "parquet")
    }
    assert set(read_contents(two)) == single | charts | templates | sql | rows


def test_results_have_every_figure_of_every_metric_and_run(results: Any, package: CheckedPackage) -> None:
    summaries = {"mean-of-hosts", "published"}
    report = next(item for item in package.package.reports if item.name == "comparison")
    assert set(results["metrics"]) == {metric.id for metric in list_report_metrics(package, report)}
    for name, metric in results["metrics"].items():
        assert metric["definition"] == package.definitions[name]
        assert set(metric["runs"]) == {"baseline", "candidate"}
        for figures in metric["runs"].values():
            assert set(figures) == {*FIGURE_NAMES, "averages", "centiles", "points"}
            assert set(figures["averages"]) == summaries
            assert figures["average"] == figures["averages"]["published"]


def test_results_have_29_centiles_in_order(results: Any, package: CheckedPackage) -> None:
    for name, metric in results["metrics"].items():
        per_host = bool(package.get_metric(name).per)
        for figures in metric["runs"].values():
            if not figures["size"]:
                assert figures["centiles"] == []
                continue
            assert tuple(item[0] for item in figures["centiles"]) == CENTILES
            assert {len(item) for item in figures["centiles"]} == {4 if per_host else 2}
            assert figures["median"] == figures["centiles"][7][1]
            assert figures["min"] == min(figures["centiles"][0][1:])
            assert figures["max"] == max(figures["centiles"][-1][1:])
            assert all(low <= value <= high for _, value, low, high in figures["centiles"]) if per_host else True


def test_provenance_names_definitions_versions_and_options(two: Path, package: CheckedPackage) -> None:
    provenance = read_json(two / "provenance.json")
    content = provenance["content"]
    assert provenance["hash"] == hash_content(content)
    assert content["specs"] == package.sources
    assert content["definitions"] == {
        name: package.definitions[name] for name in read_json(two / "results.json")["metrics"]
    }
    assert content["versions"] == get_versions()
    assert content["options"]["filters"] == list(FILTERS)
    assert content["options"]["date"] == DATE
    assert content["outline"] == hash_outline(package.package.reports[0], {})
    assert content["templates"] == hash_templates(ROOT / "templates")
    labels = [(run["id"], run["label"]) for run in content["runs"]]
    assert labels == [(run["id"], run["label"]) for run in read_json(two / "results.json")["runs"]]


def test_provenance_has_hashes_of_input_files(two: Path) -> None:
    provenance = read_json(two / "provenance.json")
    for run in provenance["content"]["runs"]:
        place = Path(provenance["places"][run["id"]])
        logs = sorted(path for path in place.glob("node-*/*") if path.is_file())
        documents = [place / "genesis-shelley.json", place / "meta.json"]
        for listed_files, paths in ((run["files"], logs), (run["documents"], documents)):
            assert [(item["file"], item["bytes"], item["sha256"]) for item in listed_files] == [
                (path.relative_to(place).as_posix(), path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
                for path in paths
            ]


def test_provenance_and_results_have_same_rejections(two: Path, results: Any) -> None:
    for run in read_json(two / "provenance.json")["content"]["runs"]:
        rejections = [
            (item["filter"], item["argument"], item["grain"], item["rejected"], item["rows"]) for item in run["filters"]
        ]
        filtered = results["filtered"][run["id"]]
        assert rejections == [(i["filter"], i["argument"], i["grain"], i["rejected"], i["rows"]) for i in filtered]
        assert {item[0] for item in rejections} == {text.partition("=")[0] for text in FILTERS}


# The cache


def list_files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and inode of every file of a cache: a rewritten file has another inode."""
    files = ((path, path.stat()) for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (stat.st_size, stat.st_ino) for path, stat in files}


def build_plain(out: Path, cache: Path, root: Path = ROOT) -> None:
    """Build the report of a small run without filters."""
    result = commands.build([PLAIN], out, cache, "--no-filters", cwd=root)
    assert result.status == 0, result.err


def test_unchanged_build_adds_nothing_to_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    build_plain(tmp_path / "first", cache)
    kinds = ("results/", "rendered/", "drawings/", "specs/")
    before = list_files(cache)
    build_plain(tmp_path / "second", cache)
    files_after = list_files(cache)
    assert set(files_after) == set(before)
    assert [name for name in before if name.startswith(kinds) and files_after[name] != before[name]] == []
    assert [name for name in before if "/events/" in name and files_after[name] != before[name]] == []
    assert_same(tmp_path / "second", tmp_path / "first")


def test_changed_metric_alone_is_computed_again(tmp_path: Path) -> None:
    workspace_root, cache = copy_workspace(tmp_path / "workspace"), tmp_path / "cache"
    build_plain(tmp_path / "first", cache, workspace_root)
    before = set(list_files(cache / "results"))
    ingested_files = list_files(cache / "ingest")
    edit_file(
        workspace_root / "specs/cardano/metrics/peers.dhall",
        "measure = elapsed at.requested at.fetched",
        "measure = elapsed at.noticed at.fetched",
    )
    build_plain(tmp_path / "second", cache, workspace_root)
    added_files = sorted(set(list_files(cache / "results")) - before, key=lambda name: name.split(".")[-2])
    # Rows are the sums of cells, on which intervals rest, and the quantiles.
    assert [name.split(".")[-2] for name in added_files] == ["count", "metric", "rows", "rows"]
    added_file = added_files[1]
    assert set(list_files(cache / "ingest")) == set(ingested_files)
    old, new = (read_json(tmp_path / name / "results.json")["metrics"] for name in ("first", "second"))
    assert [name for name in old if old[name] != new[name]] == ["cdfPeerFetch"]
    assert new["cdfPeerFetch"]["runs"]["plain"]["min"] == 0.02
    text = unseal_text(added_file, (cache / "results" / added_file).read_text()) or ""
    assert json.loads(text)[0][0] == old["cdfPeerFetch"]["runs"]["plain"]["size"]


# The output folder


def test_foreign_files_beside_a_former_build_stay(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "report"
    build_plain(out, cache)
    (out / "mine").mkdir()
    (out / "notes.txt").write_text("mine\n", encoding="utf-8")
    (out / "mine" / "data.csv").write_text("a,b\n", encoding="utf-8")
    build_plain(out, cache)
    assert (out / "notes.txt").read_text(encoding="utf-8") == "mine\n"
    assert (out / "mine" / "data.csv").read_text(encoding="utf-8") == "a,b\n"
    assert (out / "report.pdf").read_bytes().startswith(b"%PDF-")
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []


def test_build_removes_files_of_earlier_build(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "report"
    build_plain(out, cache)
    (out / "charts" / "gone.svg").write_text("<svg/>", encoding="utf-8")
    build_plain(out, cache)
    assert not (out / "charts" / "gone.svg").exists()


def test_failed_build_leaves_outputs_unchanged(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "report"
    build_plain(out, cache)
    before = list_files(out)
    contents_before = read_contents(out)
    broken_run = CARDANO / "tiny" / "refused-nosize" / "run"
    result = commands.build([f"broken={broken_run}"], out, cache, "--no-filters")
    assert (result.status, result.out) == (1, "")
    assert (list_files(out), read_contents(out)) == (before, contents_before)


# query, list, sql


QUERIED_METRICS = ("cdfForgerTicked", "CentiCpu", "cdfBlocksPerHost")


def query_metrics(cache: Path, form: str) -> commands.CommandResult:
    """Query some metrics of two runs."""
    runs = [item for text in PAIR for item in ("--run", text)]
    result = run_assay("query", *QUERIED_METRICS, *runs, *MODEL, "--format", form, "--cache", cache)
    assert result.status == 0, result.err
    return result


def test_query_json_equals_results(cache: Path, results: Any) -> None:
    rows = query_metrics(cache, "json").parse_json()
    assert [(row["metric"], row["run"]) for row in rows] == [
        (name, run) for name in QUERIED_METRICS for run in ("baseline", "candidate")
    ]
    for row in rows:
        figures = dict(results["metrics"][row["metric"]]["runs"][row["run"]])
        del figures["points"]
        assert {name: row[name] for name in figures} == figures
        assert (row["filters"], row["summary"]) == (list(FILTERS), "published")


def test_query_csv_has_every_digit(cache: Path, results: Any) -> None:
    header, *rows = csv.reader(io.StringIO(query_metrics(cache, "csv").out))
    assert header == ["metric", "run", "unit", *FIGURE_NAMES]
    assert rows == [
        [name, run, metric["unit"], *(repr(metric["runs"][run][item]) for item in FIGURE_NAMES)]
        for name, metric in ((name, results["metrics"][name]) for name in QUERIED_METRICS)
        for run in ("baseline", "candidate")
    ]


def test_query_table_has_six_digits_and_conventions(cache: Path, results: Any) -> None:
    result = query_metrics(cache, "table")
    lines = result.out.splitlines()
    assert lines[0].split() == ["metric", "run", "unit", *FIGURE_NAMES]
    assert [line.split() for line in lines[2:]] == [
        [name, run, metric["unit"], *(_format_six(metric["runs"][run][item]) for item in FIGURE_NAMES)]
        for name, metric in ((name, results["metrics"][name]) for name in QUERIED_METRICS)
        for run in ("baseline", "candidate")
    ]
    # One of the numbers of samples is even.
    note = "median: the greater of two in the middle"
    assert result.err == f"filters: {', '.join(FILTERS)}; average: published; {note}\n"


def _format_six(value: float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


NAMES: dict[str, Callable[[CheckedPackage], list[str]]] = {
    "metrics": lambda checked: [item.id for item in checked.package.metrics],
    "events": lambda checked: [item.name for item in checked.package.events],
    "grains": lambda checked: [item.name for item in checked.package.grains],
    "filters": lambda checked: [
        item.name + (f"={item.parameter.name.upper()}" if item.parameter else "") for item in checked.package.filters
    ],
    "series": lambda checked: [item.name for item in checked.package.series],
    "columns": lambda checked: [grain.name for grain in checked.package.grains for _ in grain.all_columns],
    "reports": lambda checked: [f"cardano/{item.name}" for item in checked.package.reports],
}


@pytest.mark.parametrize("kind", KINDS)
def test_list_has_all_items_in_every_format(kind: str, cache: Path, package: CheckedPackage) -> None:
    expected = NAMES[kind](package)
    table, data, rows = (
        run_assay("list", kind, "--system", "cardano", "--format", form, "--cache", cache)
        for form in ("table", "json", "csv")
    )
    header, *cells = csv.reader(io.StringIO(rows.out))
    assert [row[0] for row in cells] == expected
    assert data.parse_json() == [dict(zip(header, row, strict=True)) for row in cells]
    firsts = [line.split()[0] for line in table.out.splitlines()[2:] if line.strip() and not line.startswith(" ")]
    assert firsts == expected
    assert all(row[0] and row[-1] for row in cells)


@pytest.fixture(scope="module")
def ingested(cache: Path) -> Path:
    """Return the folder of the baseline's events."""
    result = run_assay("ingest", CARDANO / "baseline" / "run", "--cache", cache)
    assert (result.status, result.err) == (0, "")
    return Path(result.out.strip())


def query_folder(folder: Path, text: str) -> list[tuple[Any, ...]]:
    """Run SQL in a folder with an engine of its own."""
    with chdir(folder), duckdb.connect() as connection:
        return connection.execute(text).fetchall()


def query_baseline(metric: str, cache: Path) -> Any:
    """Return the row of `assay query` for a metric of the baseline."""
    (row,) = run_assay(
        "query", metric, "--run", PAIR[0], *MODEL, "--format", "json", "--cache", cache
    ).parse_json()  # fmt: skip
    return row


def test_sql_of_pooled_metric_runs_alone(cache: Path, ingested: Path) -> None:
    row = query_baseline("cdfForgerTicked", cache)
    text = run_assay("sql", "cdfForgerTicked", *MODEL, "--cache", cache).out
    ((size, mean, stddev, centiles),) = query_folder(ingested, text)
    assert size == row["size"]
    assert mean / 1e9 == pytest.approx(row["average"], rel=1e-15)
    assert stddev / 1e9 == pytest.approx(row["stddev"], rel=1e-15)
    assert [value / 1e9 for value in centiles] == [value for _, value in row["centiles"]]


def test_sql_comments_name_units_and_figures(cache: Path, ingested: Path) -> None:
    """The comments suffice to compute each figure of `assay query`."""
    text = run_assay("sql", "cdfForgerTicked", *MODEL, "--cache", cache).out
    assert text.splitlines()[:5] == [
        "-- mean, stddev and centiles are in nanosecond: times 1/1000000000 they are in second (s), the unit of",
        "-- cdfForgerTicked",
        "-- 29 centiles: 0.0 (the least), 0.01, ... 1.0 (the greatest)",
        "-- average = mean, median = centiles[8], min = centiles[1], max = centiles[29]",
        "WITH constants AS (",
    ]
    actual_row = query_baseline("cdfForgerTicked", cache)
    places = "mean * 1/1000000000, centiles[8] / 1000000000, centiles[1] / 1000000000, centiles[29] / 1000000000"
    (row,) = query_folder(ingested, f"SELECT {places} FROM ({text.rstrip().removesuffix(';')})")
    assert row == pytest.approx([actual_row[name] for name in ("average", "median", "min", "max")], rel=1e-15)


def test_sql_comments_of_host_metric_name_the_summary(cache: Path, ingested: Path) -> None:
    text = run_assay("sql", "CentiCpu", *MODEL, "--cache", cache).out
    assert text.splitlines()[:8] == [
        "-- mean, stddev and centiles are in percent (%), the unit of CentiCpu",
        "-- 29 centiles: 0.0 (the least), 0.01, ... 1.0 (the greatest)",
        "-- a row for each host; over the n rows, with 0 where a row has no samples:",
        "-- size = the sum of size",
        "-- median = centiles[8] of the row at place floor(n / 2) + 1 when they ascend by it",
        "-- min = the least centiles[1], max = the greatest centiles[29]",
        "-- by summary published: average = the average of the 29 least mean, stddev = the greatest stddev",
        "-- by summary mean-of-hosts: average = the average of mean, stddev = the greatest stddev",
    ]
    row = query_baseline("CentiCpu", cache)
    rows = "SELECT list_sort(list(centiles[8])) AS medians, min(centiles[1]), max(centiles[29]), avg(mean)"
    query = f"{rows} FROM ({text.rstrip().removesuffix(';')})"
    ((medians, *other_figures),) = query_folder(ingested, query)
    assert medians[len(medians) // 2] == row["median"]
    assert other_figures == pytest.approx([row["min"], row["max"], row["averages"]["mean-of-hosts"]], rel=1e-12)


def test_sql_of_host_metric_runs_alone(cache: Path, ingested: Path) -> None:
    actual_row = query_baseline("CentiCpu", cache)
    rows = query_folder(ingested, run_assay("sql", "CentiCpu", *MODEL, "--cache", cache).out)
    assert [row[0] for row in rows] == sorted(path.name for path in (CARDANO / "baseline" / "run").glob("node-*"))
    assert sum(row[1] for row in rows) == actual_row["size"]
    assert sum(row[2] for row in rows) / len(rows) == pytest.approx(actual_row["averages"]["mean-of-hosts"], rel=1e-12)
    for index, (_, middle, low, high) in enumerate(actual_row["centiles"]):
        ordered_values = sorted(row[4][index] for row in rows)
        assert (ordered_values[len(ordered_values) // 2], ordered_values[0], ordered_values[-1]) == (middle, low, high)


def test_sql_with_run_reads_it_from_any_folder(cache: Path, tmp_path: Path, ingested: Path) -> None:
    run = CARDANO / "baseline" / "run"
    sql_of_workspace = run_assay("sql", "cdfForgerTicked", *MODEL, "--cache", cache).out
    sql_of_run = run_assay("sql", "cdfForgerTicked", "--run", run, *MODEL, "--cache", cache).out
    assert query_folder(tmp_path, sql_of_run) == query_folder(ingested, sql_of_workspace)


# Options


def build_two(out: Path, cache: Path, *options: str) -> Iterator[Any]:
    """Build two runs with some options; return results.json and document.json."""
    result = commands.build(PAIR, out, cache, *options)
    assert result.status == 0, result.err
    yield read_json(out / "results.json")
    yield read_json(out / "document.json")


def test_no_filters_accepts_every_block(tmp_path: Path, cache: Path, results: Any) -> None:
    actual_results, document = build_two(tmp_path, cache, "--no-filters")
    assert actual_results["filters"] == []
    assert actual_results["filtered"] == {"baseline": [], "candidate": []}
    assert document["filters"]["rows"] == []
    for run in ("baseline", "candidate"):
        (rows,) = {item["rows"] for item in results["filtered"][run] if item["grain"] == "block"}
        assert actual_results["metrics"]["cdfForgerTicked"]["runs"][run]["size"] == rows
        assert results["metrics"]["cdfForgerTicked"]["runs"][run]["size"] < rows


def test_mean_of_hosts_changes_the_average(tmp_path: Path, cache: Path, results: Any) -> None:
    actual_results, document = build_two(tmp_path, cache, *MODEL, "--summary", "mean-of-hosts")
    assert actual_results["summary"] == "mean-of-hosts"
    for name, metric in actual_results["metrics"].items():
        for run, item in metric["runs"].items():
            assert item["average"] == item["averages"]["mean-of-hosts"]
            assert item["averages"] == results["metrics"][name]["runs"][run]["averages"]
    assert document["style"] == "prefixed"


def test_org_2023_style_has_a_row_of_sample_counts(tmp_path: Path, cache: Path, results: Any) -> None:
    _, document = build_two(tmp_path, cache, *MODEL, "--style", "org-2023")
    assert document["style"] == "org-2023"
    (forging,) = [section for section in list_sections(document) if section["title"] == "Forging"]
    sizes = [results["metrics"]["cdfForgerTicked"]["runs"][run]["size"] for run in ("baseline", "candidate")]
    assert forging["rows"][-1] == ["Sample count", *(f"({size})" for size in sizes), "", "", "", ""]
    assert [section["rows"][-1][0] for section in list_sections(document)] == ["Sample count"] * 5


def test_third_run_has_differences_to_the_first(three: Path, two: Path) -> None:
    document, other_document = read_json(three / "document.json"), read_json(two / "document.json")
    for section, pair in zip(list_sections(document), list_sections(other_document), strict=True):
        assert section["header"][1] == pair["header"][1]
        assert len(section["header"]) == len(pair["header"]) + 5
        assert {len(row) for row in section["rows"]} == {len(section["header"])}
    assert [run["id"] for run in read_json(three / "results.json")["runs"]] == ["baseline", "candidate", "candidate2"]


def test_named_run_has_its_name_in_report(tmp_path: Path, cache: Path) -> None:
    result = commands.build([PLAIN.replace("plain=", "release 10.5=")], tmp_path / "named", cache, "--no-filters")
    assert result.status == 0, result.err
    results = read_json(tmp_path / "named" / "results.json")
    assert [run["id"] for run in results["runs"]] == ["release 10.5"]
    assert {run for metric in results["metrics"].values() for run in metric["runs"]} == {"release 10.5"}


def test_title_and_author_appear_in_report(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "titled"
    result = commands.build([PLAIN], out, cache, "--no-filters", "--title", "A & B <1>", "--author", "Ann O'Nym")
    assert result.status == 0, result.err
    document = read_json(out / "document.json")
    assert (document["title"], document["author"], document["date"]) == ("A & B <1>", "Ann O'Nym", DATE)


# Imports

HEAVY = ("duckdb", "sqlglot", "typst", "vl_convert", "rich", "yaml", "pydantic")
IMPORTED = f"""
import sys
sys.argv = ["assay", "--help"]
from assay.cli.main import main
try:
    main()
except SystemExit as ended:
    print(ended.code, [name for name in {HEAVY!r} if name in sys.modules])
"""


def test_help_imports_no_heavy_module() -> None:
    env = build_environment()
    result = subprocess.run([sys.executable, "-c", IMPORTED], env=env, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[0].startswith("Usage:")
    assert result.stdout.splitlines()[-1] == "0 []"
    assert all(shutil.which(name) or __import__(name) for name in HEAVY)


@pytest.mark.parametrize(
    ("summary", "wording"),
    [("published", "only the 29 lowest means count"), ("mean-of-hosts", "Mean over all hosts of their means.")],
)
def test_every_format_names_the_summary_of_host_averages(
    summary: str, wording: str, cache: Path, tmp_path: Path
) -> None:
    run = ("--run", CARDANO / "baseline" / "run", "--summary", summary, "--to", "md", "--to", "html")
    result = run_assay("build", "cardano/comparison", *run, "-o", tmp_path / "report", "--cache", cache)
    assert result.status == 0, result.err
    sentence = json.loads((tmp_path / "report/document.json").read_text(encoding="utf-8"))["averages"]
    assert sentence.startswith(
        "Values are averages of all samples. "
        f"Those of metrics with a distribution for each host are averaged by the summary {summary}. "
    )
    assert wording in sentence
    for form in ("md", "html"):
        page = (tmp_path / f"report/report.{form}").read_text(encoding="utf-8")
        assert f"are averaged by the summary {summary}. " in page
        assert wording in page
