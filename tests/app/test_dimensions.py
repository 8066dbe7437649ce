"""Metrics by dimensions: numbers against the records, judgements against metrics with conditions of their own."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import statistics
from pathlib import Path
from urllib.parse import unquote

import pypdf
import pytest
from playwright.sync_api import Browser, expect

from assay.app.judge.judged_results import read_judged_results
from assay.lang.segments import format_value, label_values, list_dimensions_of_segment, name_segment
from tests.support.browser import list_accessibility_problems, open_page
from tests.support.commands import run_assay
from tests.support.dimensions import DEFINITIONS, KINDS, ODD, PACKAGE, RUNS, Row, create_rows, write_run
from tests.support.documents import list_charts, list_sections
from tests.support.small import create_small_workspace, write_logs


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with two runs."""
    folder = create_small_workspace(tmp_path_factory.mktemp("dimensions"), DEFINITIONS, PACKAGE)
    for run, hosts in RUNS.items():
        write_run(folder, run, hosts)
    return folder


@pytest.fixture(scope="module")
def built(place: Path) -> Path:
    """Return the folder of the comparison of both runs."""
    run_options = [f"--run=runs/{run}" for run in RUNS]
    forms = ("--to=md", "--to=html", "--to=pdf")
    result = run_assay("build", "small/requests", *run_options, "-o", "build", *forms, "--cache", "cache", cwd=place)
    assert result.status == 0, result.err
    return place / "build"


def _query(place: Path, *arguments: str) -> dict[str, Row]:
    result = run_assay("query", *arguments, "--format", "csv", "--cache", "cache", cwd=place)
    assert result.status == 0, result.err
    return {row["metric"]: row for row in csv.DictReader(io.StringIO(result.out))}


def _select(run: str, **values: object) -> list[int]:
    """Return the times of the requests with some values in ascending order; a set allows any of its members."""
    sets = {name: value if isinstance(value, set) else {value} for name, value in values.items()}
    requests = (row for rows in RUNS[run].values() for row in rows)
    return sorted(row["took"] for row in requests if all(row.get(name) in members for name, members in sets.items()))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (("tree", "slow"), "tree, slow"),
        ((100, "tree"), "entries=100, kind=tree"),
        (("tree", True), "entries=tree, kind=true"),
        (("tree", None), "entries=tree, kind=(none)"),
        ((100,), "entries=100"),
        (("tree",), "tree"),
        ((None,), "(none)"),
    ],
)
def test_all_values_of_a_row_have_names_or_none(values: tuple[str | int | None, ...], text: str) -> None:
    assert label_values(("entries", "kind")[: len(values)], values) == text


def _rank_kinds(*runs: str) -> list[str | None]:
    """Return the kinds, those of most requests first, then in alphabetical order, without one last."""
    counts = {kind: sum(len(_select(run, kind=kind)) for run in runs) for kind in KINDS}
    return sorted(KINDS, key=lambda kind: (-counts[kind], kind is None, kind or ""))


def test_rows_of_values_have_the_numbers_of_their_records(place: Path) -> None:
    rows = _query(place, "time", "--by", "kind", "--run", "runs/old")
    kinds = _rank_kinds("old")
    assert len([kind for kind in kinds if kind is not None]) == 11  # the last has a row of its own, not `(other)`
    expected = {name_segment("time", ["kind"], (kind,)): _select("old", kind=kind) for kind in kinds}
    assert list(rows) == ["time", *expected]
    for name, samples in expected.items():
        assert int(rows[name]["size"]) == len(samples)
        assert float(rows[name]["average"]) == pytest.approx(statistics.fmean(samples), rel=1e-12)
        assert float(rows[name]["median"]) == samples[len(samples) // 2]


@pytest.mark.parametrize("kind", ODD)
def test_ids_of_segments_name_values_of_all_kinds(place: Path, kind: str) -> None:
    name = name_segment("time", ["kind"], (kind,))
    assert list_dimensions_of_segment(name) == ("kind",)
    (row,) = _query(place, name, "--run", "runs/new").values()
    assert int(row["size"]) == len(_select("new", kind=kind))


@pytest.mark.parametrize("words", [("--by", "cached,shard"), ("--by", "cached", "--by", "shard")])
def test_two_dimensions_split_by_pairs_of_values(place: Path, words: tuple[str, ...]) -> None:
    rows = _query(place, "time", *words, "--run", "runs/old")
    assert len(rows) == 1 + 6
    for cached in (True, False):
        for shard in (-1, 0, 1):
            name = f"time[cached={format_value(cached)},shard={shard}]"
            samples = _select("old", cached=cached, shard=shard)
            assert (int(rows[name]["size"]), float(rows[name]["median"])) == (len(samples), samples[len(samples) // 2])


def test_hosts_without_the_value_do_not_count(place: Path) -> None:
    rows = _query(place, "host_time", "--by", "kind", "--run", "runs/new")
    for kind in KINDS[:6]:
        hosts = [[row["took"] for row in rows if row.get("kind") == kind] for rows in RUNS["new"].values()]
        means = [statistics.fmean(samples) for samples in hosts if samples]
        average = float(rows[name_segment("host_time", ["kind"], (kind,))]["average"])
        assert average == pytest.approx(statistics.fmean(means), rel=1e-12)


def test_formulas_are_computed_from_segments_of_their_inputs(place: Path) -> None:
    rows = _query(place, "ratio", "time", "host_time", "--by", "shard", "--run", "runs/old")
    for shard in (-1, 0, 1):
        ratio, time, host_time = (
            float(rows[f"{name}[shard={shard}]"]["average"]) for name in ("ratio", "time", "host_time")
        )
        assert ratio == pytest.approx(time / host_time, rel=1e-12)


def test_segments_are_judged_as_metrics_with_a_condition_are(built: Path) -> None:
    judged = json.loads((built / "results.json").read_text())["judgement"]
    changes = [judged["metrics"][name]["new"] for name in ("time[kind=read]", "read_time")]
    assert {**changes[0], "gate": None} == {**changes[1], "gate": None}
    assert [item["gate"] is None for item in changes] == [True, False]
    assert judged["metrics"]["time[kind=write]"]["new"]["verdict"] == "worse"
    wholes = ["host_time", "read_time", "time"]
    assert judged["gate"] == wholes
    assert sorted(change.metric for change in read_judged_results(built).changes) == sorted([*wholes, "size"])


def test_comparison_by_a_dimension_judges_its_segments(place: Path, built: Path) -> None:
    words = ("compare", *(f"runs/{run}" for run in RUNS), "--metric", "time", "--by", "kind", "--cache", "cache")
    result = run_assay(*words, "--format", "json", cwd=place)
    assert result.status == 0, result.err
    changes = {change["metric"]: change for change in json.loads(result.out)["changes"]}
    for kind in (None, "read", "write"):
        change = changes[name_segment("time", ["kind"], (kind,))]
        for run, value, size in (("old", "base_value", "base_size"), ("new", "value", "size")):
            samples = _select(run, kind=kind)
            assert change[size] == len(samples)
            assert change[value] == pytest.approx(statistics.fmean(samples), rel=1e-12)
    judged = json.loads((built / "results.json").read_text())["judgement"]["metrics"]
    for name in ("time", "time[kind=read]", "time[kind=write]"):
        assert {key: changes[name][key] for key in ("percent", "low", "high", "verdict")} == {
            key: judged[name]["new"][key] for key in ("percent", "low", "high", "verdict")
        }
    lines = [line.strip().split("  ")[0] for line in run_assay(*words, cwd=place).out.splitlines() if "time: " in line]
    assert lines[:2] == ["time: write", 'time: ""']  # those of one verdict by the size of their change


def test_unknown_dimension_of_a_comparison_is_an_error(place: Path) -> None:
    words = ("compare", *(f"runs/{run}" for run in RUNS), "--metric", "time", "--by", "node", "--cache", "cache")
    result = run_assay(*words, cwd=place)
    assert (result.status, result.out) == (2, "")
    assert (
        "none of the metrics has a distribution for each `node`\n  expected: cached, host, kind, shard\n" in result.err
    )


def test_tables_list_the_most_frequent_values_of_all_runs(built: Path) -> None:
    sections = {item["title"]: item for item in list_sections(json.loads((built / "document.json").read_text()))}
    ranked = [kind for kind in _rank_kinds(*RUNS) if kind is not None]
    labels = [row[0] for row in sections["By kind"]["rows"]]
    values = ["", ": read", ": write", ": (none)", ": (other)"]
    assert labels == [f"{name}{value}, ms" for name in ("time", "host_time") for value in values]
    assert "by kind, those with most samples in the whole table first" in sections["By kind"]["doc"]
    listed = f"The 2 of {2 + len(ODD)} values with most samples have rows, (other) pools the rest."
    assert listed in sections["By kind"]["doc"]
    pooled = [_select(run, kind={*ranked[2:]}) for run in RUNS]
    table = sections["By kind"]["percentiles"]
    row = next(row for row in table["rows"] if row[0] == "time: (other), ms")
    assert table["header"][1:] == ["old count", "new count", "Δ%", "old p95", "new p95", "Δ%"]
    assert row[1:3] == [str(len(samples)) for samples in pooled]
    assert list(map(float, row[4:6])) == [samples[math.floor(0.95 * len(samples))] for samples in pooled]
    assert "time: cached=true, shard=-1, ms" in [row[0] for row in sections["By two"]["rows"]]


def test_counts_that_repeat_have_no_rows(built: Path) -> None:
    sections = {item["title"]: item for item in list_sections(json.loads((built / "document.json").read_text()))}
    rows = sections["By two"]["percentiles"]["rows"]
    assert len({row[0].partition(":")[0].partition(",")[0] for row in sections["By two"]["rows"]}) == 3
    assert [row[0] for row in rows if ":" not in row[0]] == ["time, ms", "read_time, ms"]
    pairs = [(cached, shard) for cached in (True, False) for shard in (-1, 0, 1)]
    labels = {f"time: cached={format_value(cached)}, shard={shard}, ms": (cached, shard) for cached, shard in pairs}
    counts = {row[0]: row[1:3] for row in rows}
    for label, (cached, shard) in labels.items():
        assert counts[label] == [str(len(_select(run, cached=cached, shard=shard))) for run in RUNS]
    assert "The sample counts of time are also those of size." in sections["By two"]["notes"]


def test_first_page_names_the_segments_that_changed(place: Path, built: Path) -> None:
    """Only writes take longer, of any shard; the largest changes come first, without those that are by themselves."""
    results = json.loads((built / "results.json").read_text())
    changes = {
        name: abs(runs["new"]["percent"])
        for name, runs in results["judgement"]["metrics"].items()
        if name.startswith("time[") and runs["new"]["verdict"] in ("worse", "better") and not runs["new"]["by_itself"]
    }
    ranked = sorted(changes, key=lambda name: (-changes[name], name))
    (answer,) = json.loads((built / "document.json").read_text())["answers"]
    rows = {row["metric"]: row for group in answer["groups"] for row in group["rows"]}
    listed = rows["time"]["segments"]
    assert [item["metric"] for item in listed] == ranked[:3]
    assert listed[0] == {
        "metric": "time[kind=write]", "section": "by-kind", "label": "write",
        "percent": listed[0]["percent"], "verdict": "worse", "arrow": "▲",
    }  # fmt: skip
    texts = {item["metric"]: item["text"] for item in answer["key_changes"]}
    assert all(texts[name].endswith(", mostly kind=write") for name in ("time", "host_time"))
    assert rows["time"].get("more_segments", 0) == len(ranked) - len(listed)
    assert "segments" not in rows["read_time"]
    markdown = (built / "report.md").read_text()
    line = re.findall(r"Within these: (.*?) \|", markdown)[0]
    targets = re.findall(r"\]\(#([^)]+)\)", line)
    assert len(targets) == len(listed)
    assert all(markdown.count(f'<a id="{target}"></a>') == 1 for target in targets)
    words = ("build", "small/requests", *(f"--run=runs/{run}" for run in RUNS), "-o", "again", "--to", "md")
    summary = run_assay(*words, "--cache", "cache", cwd=place).summary
    assert f", within these: write {listed[0]['percent']} worse" in summary


def test_pooled_values_explain_no_change(tmp_path: Path) -> None:
    """Only kinds without rows of their own take longer: the row of the rest has the change."""
    folder = create_small_workspace(tmp_path / "pooled", DEFINITIONS, PACKAGE)
    for run, hosts in {"old": RUNS["old"], "new": create_rows(2, 6.0, ODD)}.items():
        write_run(folder, run, hosts)
    words = ("build", "small/requests", "--run=runs/old", "--run=runs/new", "-o", "out", "--to", "md")
    result = run_assay(*words, "--cache", "cache", cwd=folder)
    assert result.status == 0, result.err
    judged = json.loads((folder / "out/results.json").read_text())["judgement"]["metrics"]
    assert [judged[name]["new"]["verdict"] for name in ("time", "time[kind=(other)]")] == ["worse", "worse"]
    (answer,) = json.loads((folder / "out/document.json").read_text())["answers"]
    assert "(other)" not in json.dumps(answer)


def test_names_of_segments_lead_to_their_rows(chromium: Browser, built: Path) -> None:
    with open_page(chromium, built / "report.html", bypass_csp=True) as opened:
        links = opened.page.locator(".forest .segments a")
        ids = [unquote(link.get_attribute("href") or "")[1:] for link in links.all()]
        rows = [opened.page.locator(f"[id='{name}']") for name in ids]
        assert rows
        for link, row in zip(links.all(), rows, strict=True):
            expect(row.locator("th")).to_contain_text(f": {link.inner_text()}, ms")
    pages = pypdf.PdfReader(built / "report.pdf").pages
    targets = [item.get_object().get("/Dest") for item in pages[0].get("/Annots", ())]
    assert len([target for target in targets if target]) >= len(rows)


GATE = (
    'R.metricIds [ time ] # [ R.segmentId time c.kind "write", R.segmentId hostTime c.cached "true", '
    '"time[kind=read]", R.segmentId time c.kind "$\\"[odd]" ]'
)


@pytest.fixture(scope="module")
def gated(place: Path) -> Path:
    """Return the workspace with a gate that names segments."""
    folder = Path(shutil.copytree(place, place.parent / "gated"))
    specs = folder / "specs" / "small" / "package.dhall"
    text = specs.read_text()
    rules = f", judgement = Some S.Judgement::{{ gate = {GATE} }}\n      , dictionary = "
    specs.write_text(text.replace(", dictionary = ", rules, 1))
    return folder


def test_gate_has_the_segments_that_it_names(gated: Path) -> None:
    words = ("build", "small/requests", "--run=runs/old", "--run=runs/new", "-o", "two", "--to", "md")
    assert run_assay(*words, cwd=gated).status == 0
    names = ["time", "time[kind=write]", "host_time[cached=true]", "time[kind=read]", 'time[kind="$\\"[odd]"]']
    assert json.loads((gated / "two" / "results.json").read_text())["judgement"]["gate"] == sorted(names)
    answer = run_assay("gate", "two", "--once", "--format", "json", cwd=gated)
    assert answer.status == 4
    data = answer.parse_json()
    changes = {item["metric"]: item for item in data["runs"][0]["changes"]}
    assert set(changes) == set(names)
    assert {name for name, item in changes.items() if item["is_closing"]} == set(names[:3])
    assert data["missing"] == ['no samples to compare new with old: time: "$\\"[odd]"']
    medians = [sum(samples) / len(samples) for samples in (_select(run, kind="write") for run in RUNS)]
    assert [changes[names[1]][name] for name in ("base", "value")] == pytest.approx(medians, rel=1e-12)
    compared = run_assay("compare", "runs/old", "runs/new", "--format", "json", cwd=gated).parse_json()
    assert {item["metric"] for item in compared["changes"]} >= set(names)
    markdown = (gated / "two" / "report.md").read_text()
    # whole metrics only; of `time` and `host_time`, which have the same averages, one counts
    assert "This run of new is worse than this run of old in 1 of 2 metrics" in markdown
    assert "- **time: write:** " in markdown


@pytest.mark.parametrize(
    ("column", "size"), [("old", 0), ("new", 1), ("old count", 0), ("new p95", 1), ("new Verdict", 1)]
)
def test_cells_of_segments_lead_to_their_records(place: Path, built: Path, column: str, size: int) -> None:
    cell = f"By kind/time[kind=(other)]/{column}"
    result = run_assay("trace", built, cell, "--format", "json", "--cache", "cache", cwd=place)
    assert result.status == 0, result.err
    runs = json.loads(result.out)["runs"]
    run = list(RUNS)[size]
    traced = next(item for item in runs if item["id"] == run)
    assert traced["size"] == len(_select(run, kind={*ODD}))
    records = [record for sample in traced["greatest"] for record in sample["lines"]]
    assert records
    assert all(json.loads(record["text"])["data"]["kind"] in ODD for record in records)


def test_reports_with_segments_are_verified(place: Path, built: Path) -> None:
    result = run_assay("verify", built, "--cache", "cache", cwd=place)
    assert (result.status, result.out.splitlines()[-1].partition(": ")[2]) == (0, "all the same bytes"), result.out
    assert "[kind=" not in (built / "specs.json").read_text()
    provenance = json.loads((built / "provenance.json").read_text())
    assert list(provenance["content"]["definitions"]) == ["host_time", "read_time", "size", "time"]


def test_charts_of_runs_have_a_line_for_each_value(built: Path) -> None:
    charts = list_charts(json.loads((built / "document.json").read_text()))
    assert [(item["id"], item["figure"], item["title"]) for item in charts] == [
        ("time-by-kind-1", 1, "time by kind, old"),
        ("time-by-kind-2", 2, "time by kind, new"),
        ("time-by-shard-1", 3, "time by shard, old"),
        ("time-by-shard-2", 4, "time by shard, new"),
        ("time", 5, "time"),
    ]
    for chart, run in zip(charts, RUNS, strict=False):
        lines = {line["run"]: line["points"] for line in chart["series"]}
        assert list(lines) == ["read", "(none)", "(other)"]
        samples = _select(run, kind={"write", *ODD})
        medians = [value for value, centile, *_ in lines["(other)"] if centile == 0.5]
        assert medians == [samples[len(samples) // 2]]


def test_single_value_beyond_the_limit_has_its_own_line(built: Path) -> None:
    charts = {item["id"]: item for item in list_charts(json.loads((built / "document.json").read_text()))}
    for chart, run in (("time-by-shard-1", "old"), ("time-by-shard-2", "new")):
        lines = {line["run"]: line["points"] for line in charts[chart]["series"]}
        assert sorted(lines) == ["shard=-1", "shard=0", "shard=1"]
        for shard in (-1, 0, 1):
            samples = _select(run, shard=shard)
            medians = [value for value, centile, *_ in lines[f"shard={shard}"] if centile == 0.5]
            assert medians == [samples[len(samples) // 2]]


def test_page_shows_rows_by_words_and_dimensions(chromium: Browser, built: Path) -> None:
    with open_page(chromium, built / "report.html", bypass_csp=True) as opened:
        page = opened.page
        part = page.locator("main > section", has=page.get_by_role("heading", name="By kind"))
        rows = part.locator("tbody tr:visible th")
        expect(rows).to_have_count(20)
        page.get_by_label("Rows with").fill("WRITE ms")
        names = ["time: write, ms", "host_time: write, ms"]
        expect(rows).to_have_text(names * 2)
        part.get_by_role("link", name="time: write, ms").first.focus()
        page.keyboard.press("ArrowDown")
        expect(page.locator(":focus")).to_have_text(names[1])
        page.get_by_label("Rows with").fill("")
        expect(rows).to_have_count(20)
        page.get_by_role("combobox", name="kind").select_option("(other)")
        # rows without a dimension remain
        expect(rows).to_have_text(["time, ms", "time: (other), ms", "host_time, ms", "host_time: (other), ms"] * 2)
        whole = page.locator("main > section", has=page.get_by_role("heading", name="Times", exact=True))
        expect(whole.locator("tbody tr:visible")).to_have_count(2)
        two = page.locator("main > section", has=page.get_by_role("heading", name="By two"))
        page.get_by_role("combobox", name="kind").select_option("")
        page.get_by_role("combobox", name="shard").select_option("-1")
        page.get_by_role("combobox", name="cached").select_option("true")
        labels = two.locator("table.metrics tbody tr:visible th")
        expect(labels).to_have_text(
            [
                f"{name}{value}, ms"
                for name in ("time", "size", "read_time")
                for value in ("", ": cached=true, shard=-1")
            ]
        )
        assert page.evaluate("decodeURIComponent(location.hash)") == "#?by.cached=true&by.shard=-1"
        page.reload()
        expect(labels).to_have_count(6)
        assert list_accessibility_problems(page) == []
        assert not opened.messages


def test_list_says_which_columns_split_metrics(place: Path) -> None:
    rows = run_assay("list", "columns", "--format", "json", cwd=place).parse_json()
    columns = {row["column"]: row["--by"] for row in rows}
    dimensions = dict.fromkeys(("kind", "cached", "shard"), "dimension")
    assert columns == {"host": "values", "seq": "", "took": "", **dimensions}


def test_charts_by_dimensions_lead_to_their_metric(built: Path) -> None:
    document = json.loads((built / "document.json").read_text())
    assert [item.get("shows") for item in list_charts(document)] == [*[["time"]] * 4, None]
    links = "[table](#section-{}) · [definition](#metric-time)"
    tables = {f"time by kind, {run}": "by-kind" for run in RUNS}
    tables |= {"time by shard, old": "by-kind", "time by shard, new": "by-kind", "time": "times"}
    for form, text in ((form, (built / f"report.{form}").read_text()) for form in ("md", "html")):
        for title, table in tables.items():
            pattern = rf"{title} (?:—|<span)[^\n]*#section-{table}[^\n]*\n?[^\n]*#metric-time"
            assert (links.format(table) in text) if form == "md" else re.search(pattern, text), (form, title)
    pages = [page.extract_text() for page in pypdf.PdfReader(built / "report.pdf").pages]
    assert sum(page.count("table · definition") for page in pages) == len(tables)


def test_dimension_may_be_called_size(tmp_path: Path, cache: Path) -> None:
    definitions = """
let size = E.integer "size"
let method = E.text "method"
let took = E.inUnit U.millisecond (E.integer "took")
let done = event "log" "done" [ size, method, took ]
let trials = G.eachRecord { name = "trials", event = done, fields = [ size, method, took ], doc = "A trial" }
let grain = trials.grain // { dimensions = [ size.name, method.name ] }
let time = metric "time" grain.name (X.column (G.columnOf took)) U.millisecond
"""
    package = """sources = [ source "log" ], events = [ done ], relations = [ trials.relation ], grains = [ grain ],
      metrics = [ time ]"""
    create_small_workspace(tmp_path, definitions, package)
    trials = [(size, method, 10 * size + place) for size in (1, 2, 30) for place, method in enumerate(("a", "b"))]
    records = [
        (float(second), "done", {"size": size, "method": method, "took": took})
        for second, (size, method, took) in enumerate(trials)
    ]
    write_logs(tmp_path, "one", {"h-1/log.jsonl": records})
    words = ("query", "time", "--by", "size,method", "--run", "runs/one", "--format", "json", "--cache", cache)
    result = run_assay(*words, cwd=tmp_path)
    assert result.status == 0, result.err
    assert {item["metric"]: (item["size"], item["average"]) for item in json.loads(result.out)[1:]} == {
        f"time[size={size},method={method}]": (1, took) for size, method, took in trials
    }
