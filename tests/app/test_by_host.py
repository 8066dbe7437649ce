"""Metrics by host: numbers against the oracle and the reference, outliers, figures, and many hosts."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import math
import re
import shutil
import statistics
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.app.compute.query import query_metrics
from assay.app.session.runs import parse_runs
from assay.app.session.selection import Selection
from assay.report.document import Part
from assay.report.document_json import parse_document
from assay.report.group_figures import MOST_DRAWN, MOST_LISTED, build_groups_part
from assay.report.group_spreads import Group, RunGroups
from tests.compare_reference import CARDANO, load_json
from tests.oracle.analysis import analyse
from tests.support.cases import load_named_filters
from tests.support.commands import build, run_assay
from tests.support.laboratory import Laboratory

RUN = CARDANO / "many-hosts" / "run"
ODD = {"node-7": 3, "node-21": 2}
"""Hosts of the altered run, with the factor of their memory and CPU usage."""


@pytest.fixture(scope="module")
def odd_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the run in which two hosts use more memory and CPU."""
    run = tmp_path_factory.mktemp("odd") / "run"
    shutil.copytree(RUN, run)
    for host, factor in ODD.items():
        file = run / host / "stdout.gz"
        text = gzip.decompress(file.read_bytes()).decode()
        pieces = re.split(r'("CentiCpu": ?|"RSS": ?)(\d+)', text)
        pieces[2::3] = [str(int(number) * factor) for number in pieces[2::3]]
        text = "".join(pieces)
        file.write_bytes(gzip.compress(text.encode(), mtime=0))
    return run


def query_rows(cache: Path, *arguments: str | Path) -> list[dict[str, str]]:
    """Return the rows of a query as CSV."""
    result = run_assay("query", *arguments, "--format", "csv", "--cache", cache)
    assert result.status == 0, result.err
    return list(csv.DictReader(io.StringIO(result.out)))


def test_hosts_have_the_numbers_of_the_oracle(cache: Path) -> None:
    metrics = ("RSS", "CentiCpu", "cdfStarted", "cdfDensity", "cdfSpanLensCpu")
    rows = query_rows(cache, *metrics, "--run", RUN, "--by", "host")
    hosts = analyse(RUN, load_named_filters("unitary")).host_metrics
    by_metric_and_host = {(row["metric"], row["host"]): row for row in rows}
    for metric in metrics:
        expected = {host: values[metric] for host, values in hosts.items() if values[metric].size}
        assert {host for name, host in by_metric_and_host if name == metric} == expected.keys()
        for host, distribution in expected.items():
            row = by_metric_and_host[metric, host]
            assert int(row["size"]) == distribution.size
            assert [float(row[name]) for name in ("average", "median")] == pytest.approx(
                [distribution.average_hosts, distribution.median], rel=1e-12
            )


def test_hosts_of_pooled_samples_have_those_of_the_reference(cache: Path) -> None:
    samples = defaultdict(list)
    for block in load_json(RUN.parent / "expected" / "chain.json.gz"):
        for item in block["beObservations"]:
            durations = [item[name] for name in ("boNoticed", "boRequested", "boFetched", "boAdopted")]
            if all(value is not None and value >= 0 for value in durations) and item["boChainDelta"] == 1:
                samples[item["boObserver"]].append(item["boAdopted"])
    rows = query_rows(cache, "cdfPeerAdoption", "--run", RUN, "--by", "host")
    assert {row["host"] for row in rows} == samples.keys()
    for row in rows:
        values = samples[row["host"]]
        assert int(row["size"]) == len(values)
        expected = [statistics.fmean(values), statistics.median_high(values), min(values), max(values)]
        actual = [float(row[name]) for name in ("average", "median", "min", "max")]
        assert actual == pytest.approx(expected, abs=1e-9)
    assert [row["host"] for row in rows] == sorted(samples, key=lambda name: int(name.removeprefix("node-")))


def test_query_marks_the_odd_hosts(cache: Path, odd_run: Path) -> None:
    rows = query_rows(cache, "CentiCpu", "RSS", "--run", odd_run, "--by", "host")
    assert {(row["metric"], row["host"]) for row in rows if row["outlier"] == "high"} == {
        (metric, host) for metric in ("CentiCpu", "RSS") for host in ODD
    }
    assert not [row for row in rows if row["outlier"] == "low"]


def test_other_columns_and_phases_are_possible(cache: Path) -> None:
    rows = query_rows(cache, "cdfBlockSize", "--run", RUN, "--by", "forger")
    blocks = load_json(RUN.parent / "expected" / "chain.json.gz")
    assert sum(int(row["size"]) for row in rows) == len(blocks)
    assert {row["forger"] for row in rows} == {block["beForge"]["bfForger"] for block in blocks}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path, odd_run: Path) -> Path:
    """Return the folder of a comparison of the run with the altered one, by host."""
    folder = tmp_path_factory.mktemp("by-host") / "build"
    result = build([f"plain={RUN}", f"odd={odd_run}"], folder, cache, "--by=host", "--to=pdf", "--to=html", "--to=md")
    assert result.status == 0, result.err
    return folder


def get_gallery(folder: Path) -> Part:
    """Return the part of a built report with metrics by host."""
    document = parse_document((folder / "document.json").read_text(encoding="utf-8"))
    return next(item for item in document.parts if item.id == "by-host")


def test_report_names_the_odd_hosts(built: Path) -> None:
    gallery = get_gallery(built)
    outliers = next(item for item in gallery.tables if item.title == "Outliers by host")
    sentence = next(text for text in gallery.text if text.startswith("Outliers."))
    assert "Process CPU usage: node-7, node-21 (high) in odd." in sentence
    assert "Kernel RSS: node-7, node-21 (high) in odd." in sentence
    table = {(row[0], row[1]): row[3] for row in outliers.rows}
    assert all("Kernel RSS" in table[host, "odd"] for host in ODD)
    assert not any("Kernel RSS" in cell for (_, run), cell in table.items() if run != "odd")
    for form in ("report.md", "report.html"):
        assert "node-7, node-21 (high)" in (built / form).read_text(encoding="utf-8")


def test_figures_draw_the_hosts_of_the_results(built: Path) -> None:
    data = load_json(built / "results.json")["by"]
    assert data["column"] == "host"
    gallery = get_gallery(built)
    plot = next(item for item in gallery.plots if item and item.id == "by-host-RSS-1")
    groups = data["metrics"]["RSS"]["odd"]["groups"]
    drawn = [dict(zip(plot.columns, row, strict=True)) for row in plot.rows]
    marks = [row for row in drawn if row["mark"] in ("group", "outlier")]
    medians = {group["name"]: group["median"] for group in groups}
    assert [row["text"] for row in marks] == [f"node-{index}" for index in range(34)]
    assert [row["x"] for row in marks] == [float(index) for index in range(1, 35)]
    assert [row["x"] for row in drawn if row["mark"] == "extent"] == [0.5, 34.5]
    factor = medians["node-0"] / float(marks[0]["y"])
    assert [row["y"] for row in marks] == pytest.approx([medians[row["text"]] / factor for row in marks], rel=1e-5)
    names = {row["text"]: row["mark"] for row in drawn if str(row["mark"]).startswith("name")}
    assert names == {"node-7": "name-right", "node-21": "name-left"}
    assert (built / "charts" / "by-host-RSS-1.svg").read_text(encoding="utf-8").count("node-21") >= 1


def test_table_has_the_average_of_each_host_in_each_run(built: Path) -> None:
    data = load_json(built / "results.json")["by"]["metrics"]["RSS"]
    table = next(item for item in get_gallery(built).tables if item.title.startswith("Kernel RSS"))
    assert (table.title, table.header) == (
        "Kernel RSS, GiB: average of each host", ("host", "plain", "odd", "Δ%", "95 %", "Verdict"),
    )  # fmt: skip
    others = [f"node-{index}" for index in range(34) if f"node-{index}" not in ODD]
    assert [row[0] for row in table.rows] == [*ODD, *others]
    averages = {run: {group["name"]: group["average"] for group in data[run]["groups"]} for run in ("plain", "odd")}
    for host, plain, odd, change, *_ in table.rows:
        expected = [averages[run][host] / 2**10 for run in ("plain", "odd")]
        assert [float(plain), float(odd)] == pytest.approx(expected, rel=5e-3)
        assert change == {"node-7": "+200", "node-21": "+100"}.get(host, "0")
    assert {"node-7", "node-21"} <= {row[0] for row in table.printed_rows}


def test_one_figure_has_the_changes_of_all_hosts(built: Path) -> None:
    judged = load_json(built / "results.json")["by"]["judgement"]
    (plot,) = get_gallery(built).wide
    assert plot.title.endswith("(2 of 34 hosts; the others did not change beyond noise)")
    cells = {(row["y"], row["x"]): row for row in (dict(zip(plot.columns, item, strict=True)) for item in plot.rows)}
    assert {host for host, _ in cells} == {*plot.cases} == {*ODD}
    for metric, name in {"RSS": "Kernel RSS", "CentiCpu": "Process CPU usage", "Heap": "RTS heap size"}.items():
        for host in ODD:
            verdict = judged[metric]["odd"][host]["verdict"]
            assert cells[host, name]["verdict"] == (verdict if verdict == "worse" else "other")
    assert {cells[host, "Kernel RSS"]["verdict"] for host in ODD} == {"worse"}
    assert cells["node-7", "Kernel RSS"]["strength"] == 1.0


def test_metrics_without_an_odd_host_have_a_row_each(built: Path) -> None:
    data, gallery = load_json(built / "results.json")["by"]["metrics"], get_gallery(built)
    table = gallery.tables[-1]
    assert table.title == "Other metrics: least and greatest average of a host"
    assert table.header == ("metric", "plain: least", "plain: greatest", "odd: least", "odd: greatest")
    averages = [group["average"] for group in data["Heap"]["plain"]["groups"]]
    row = next(row for row in table.rows if row[0] == "RTS heap size, GiB")
    assert [float(cell) for cell in row[1:3]] == pytest.approx([min(averages) / 2**10, max(averages) / 2**10], rel=5e-3)
    drawn = {plot.id for plot in gallery.plots if plot}
    assert {"by-host-RSS-0", "by-host-CentiCpu-1"} <= drawn
    assert not any(name.startswith("by-host-Heap") for name in drawn)


def test_report_judges_hosts_as_the_comparison_does(tmp_path: Path, cache: Path) -> None:
    shop, out = tmp_path / "shop", tmp_path / "out"
    assert run_assay("init", shop).status == 0
    runs = ("runs/1.0", "runs/1.1")
    compared = run_assay("--cache", cache, "compare", *runs, "--by", "host", "--format", "json", cwd=shop)
    options = ("--run", runs[0], "--run", runs[1], "--by", "host", "--to", "md", "--out", out)
    assert run_assay("--cache", cache, "build", "service/comparison", *options, cwd=shop).status == 0
    judged = load_json(out / "results.json")["by"]["judgement"]
    members = ("verdict", "reason", "difference", "percent", "low", "high")
    expected = {row["metric"]: tuple(row[name] for name in members) for row in json.loads(compared.out)["changes"]}
    actual = {
        f"{metric}[host={host}]": tuple(change[name] for name in members)
        for metric, versions in judged.items()
        for host, change in versions["1.1"].items()
    }
    assert actual == {name: item for name, item in expected.items() if "[" in name}
    table = next(item for item in get_gallery(out).tables if item.title == "Changed beyond noise by host")
    changed = {row[:2]: row[2] for row in table.rows}
    host, *_ = changed["Working time", "1 of 2 better"].split()
    (answer,) = load_json(out / "document.json")["answers"]
    rows = {row["label"]: row for group in answer["groups"] for row in group["rows"]}
    assert [item["label"] for item in rows["Working time"]["segments"]] == [f"host {host}"]
    assert rows["Working time"]["within"] == "1 of 2 hosts better"


def test_comparison_judges_a_host_as_runs_that_have_only_it(cache: Path, tmp_path: Path) -> None:
    assert run_assay("init", tmp_path / "shop").status == 0

    def compare(*arguments: str) -> dict[str, dict[str, str]]:
        words = ("compare", "runs/1.0", "runs/1.1", *arguments, "--format", "csv", "--cache", cache)
        result = run_assay(*words, cwd=tmp_path / "shop")
        assert result.status == 0, result.err
        return {row["metric"]: row for row in csv.DictReader(io.StringIO(result.out))}

    by_host = compare("--by", "host")
    for run in ("1.0", "1.1"):
        shutil.rmtree(tmp_path / "shop" / "runs" / run / "web-2")
    alone = compare()
    assert [*alone] == ["wait", "work", "response_size"]
    differing = {"metric", "name"}
    for metric, row in alone.items():
        host_row = by_host[f"{metric}[host=web-1]"]
        assert {key: host_row[key] for key in row.keys() - differing} == {
            key: row[key] for key in row.keys() - differing
        }
    assert by_host["wait[host=web-1]"]["verdict"] == "better"


def test_comparison_has_hosts_in_the_order_of_their_changes(cache: Path, odd_run: Path) -> None:
    arguments = ("--metric", "CentiCpu", "--metric", "cdf0.80", "--format", "csv", "--cache", cache)
    result = run_assay("compare", f"plain={RUN}", f"odd={odd_run}", "--by", "host", *arguments)
    assert result.status == 0, result.err
    rows = list(csv.DictReader(io.StringIO(result.out)))
    names = [row["metric"] for row in rows]
    hosts = [name for name in names if "[" in name]
    assert sorted(hosts) == sorted(f"CentiCpu[host=node-{index}]" for index in range(34))
    growths = [float(row["value"]) / float(row["base_value"]) for row in rows if "[" in row["metric"]]
    assert growths == sorted(growths, reverse=True)
    assert sorted({*names} - {*hosts}) == ["CentiCpu", "cdf0.80"]


def test_axis_of_two_hosts_has_two_ranks(tmp_path: Path, cache: Path) -> None:
    folder, out = tmp_path / "shop", tmp_path / "out"
    assert run_assay("init", folder).status == 0
    arguments = ("service/comparison", "--run", "runs/1.0", "--by", "host", "--to", "md", "--out", out)
    result = run_assay("--cache", cache, "build", *arguments, cwd=folder)
    assert result.status == 0, result.err
    chart = (out / "charts" / "by-host-wait-0.svg").read_text(encoding="utf-8")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", chart)
    assert list(itertools.takewhile(str.isdigit, texts)) == ["1", "2"]


def test_build_by_host_can_be_verified(built: Path, cache: Path) -> None:
    assert load_json(built / "provenance.json")["content"]["options"]["by"] == "host"
    result = run_assay("verify", built, "--cache", cache)
    assert (result.status, result.err) == (0, "")


def create_groups(count: int) -> RunGroups:
    """Return groups with ascending medians, the last of which is an outlier."""
    groups = [
        Group(f"node-{index}", 10, index, 1.0, index - 4.0, index + 4.0,
              tuple(index + step for step in (-3.0, -1.0, 0.0, 1.0, 3.0)), 0)
        for index in range(count - 1)
    ]  # fmt: skip
    far = Group("node-far", 10, 9.0 * count, 1.0, 9.0 * count, 9.0 * count, (9.0 * count,) * 5, 1)
    return RunGroups("run", "run", (*groups, far), count / 2, 2.0 * count, ("node-silent",))


@pytest.mark.parametrize("count", [52, 200, 1000])
def test_figures_of_many_hosts_have_few_marks(lab: Laboratory, count: int) -> None:
    checked = lab.session.load_package("cardano")
    gallery = build_groups_part(checked, "host", {"CentiCpu": (create_groups(count),)}, 1)
    (plot,) = (item for item in gallery.plots if item)
    rows = [dict(zip(plot.columns, row, strict=True)) for row in plot.rows]
    groups = [row for row in rows if row["mark"] in ("group", "outlier")]
    assert len(groups) == min(count, MOST_DRAWN)
    assert [groups[0]["x"], groups[-1]["x"]] == [1.0, float(count)]
    assert [row["text"] for row in rows if row["mark"] == "name-left"] == ["node-far"]
    assert any("are drawn" in text for text in gallery.text) is (count > MOST_DRAWN)
    assert "node-silent of Process CPU usage" in gallery.text[-1]
    outliers, averages = gallery.tables
    assert len(outliers.rows) <= MOST_LISTED
    assert (len(averages.rows), len(averages.printed_rows), averages.printed_rows[0][0]) == (count, 20, "node-far")


def test_queries_of_phases_have_hosts(lab: Laboratory) -> None:
    runs, selection = parse_runs([f"run={CARDANO / 'baseline' / 'run'}"]), Selection(no_filters=True, by="host")
    of_phases = replace(selection, at=["mid=2026-02-05T19:02:00Z"], phases=["early=..mid", "late=mid.."])
    answer = query_metrics(lab.session, ["RSS"], runs, of_phases)
    whole = query_metrics(lab.session, ["RSS"], runs, selection)
    early, late = ({group.name: group.size for group in item.groups} for item in answer.spreads["RSS"])
    total = {group.name: group.size for group in whole.spreads["RSS"][0].groups}
    assert {host: early[host] + late[host] for host in total} == total


def test_groups_without_finite_samples_are_named(cache: Path, built: Path) -> None:
    data: Any = load_json(built / "results.json")["by"]["metrics"]["cdfSpanLensCpu"]["plain"]
    rows = query_rows(cache, "cdfSpanLensCpu", "--run", RUN, "--by", "host")
    assert {row["host"] for row in rows} == {group["name"] for group in data["groups"]}
    assert len(data["absent"]) + len(data["groups"]) == len(list(RUN.glob("node-*")))
    assert all(math.isfinite(group["median"]) for group in data["groups"])
    assert json.dumps(data["absent"]) == json.dumps(sorted(data["absent"]))
