"""`assay explain`: a definition in words, and the log lines that the largest samples rest on."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import json
import math
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.app.audit.explain import Explanation, RunFacts
from assay.app.audit.explain_view import export_explanation, format_explanation
from assay.app.audit.lineage import trace_subject
from assay.app.audit.trace_runs import Line, Sample, Spread
from assay.app.compute.subject import MetricSubject, list_subjects
from assay.explain.facts import DECIDING, collect_facts, list_appearances
from assay.explain.terminal import Part, fit_parts, format_bars
from assay.explain.wording import describe_sampling, list_compatibility_comments
from assay.ingest.readers.protocol import RawRecord
from assay.lang import dependencies
from assay.lang.expression_wording import describe_expression
from assay.lang.model.expression import parse_expression
from assay.lang.model.package import Metric, Reduction
from assay.lang.model.series import Term
from assay.lang.series_wording import describe_series
from assay.lang.time_format import format_instant
from assay.report.blocks.rows import list_shown_series
from assay.report.parts import list_part_metrics
from assay.util.escape import dump_escaped_json, encode_lossless, escape_text, measure_width, truncate
from tests.compare_reference import CARDANO
from tests.oracle.instants import parse_instant
from tests.support.commands import run_assay, run_assay_process
from tests.support.laboratory import ROOT, Laboratory
from tests.support.runs import change_log, copy_run
from tests.support.workspaces import copy_workspace

CASES = Path(__file__).parent / "cases"
RUN = CARDANO / "baseline" / "run"
QA = ROOT / "golden" / "cometbft" / "run"


def read_rows(name: str) -> list[list[str]]:
    """Read the rows of a table of cases, without its header."""
    with (CASES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_every_metric_and_series_is_explained(lab: Laboratory, system: str) -> None:
    checked = lab.session.load_package(system)
    package = checked.package
    subjects = list_subjects(checked)
    assert len(subjects) > 15
    unnamed_events = {event.name for event in package.events if not any(form.names for form in event.forms)}
    for subject in subjects:
        item, report = subject.item, subject.report
        applied_filters = subject.select_filters((), False)
        result = trace_subject(subject, applied_filters, subject.compile(applied_filters))
        metric_facts = collect_facts(
            checked, item, result.column_lineage, applied_filters, report.summary if report else ""
        )
        explanation = Explanation(subject, metric_facts, "", "", None)
        text = format_explanation(explanation, 80, "utf-8", full=True)
        assert max(map(len, text.split("\n"))) <= 80
        for width, view in (
            (80, explanation),
            (100, explanation),
            (100, dataclasses.replace(explanation, run=create_crowded_facts())),
        ):
            screen = format_explanation(view, width, "utf-8").split("\n")
            assert max(map(len, screen)) <= width, max(screen, key=len)
            assert len(screen) <= 50, item
            full_lines = format_explanation(view, width, "utf-8", full=True).split("\n")
            assert (screen == full_lines) or any("--full" in line or line.endswith(("…", "records")) for line in screen)
            heads = [[line.split("  ")[0] for line in lines if line[:1].isalpha()] for lines in (screen, full_lines)]
            assert heads[0][2:] == heads[1][2:]
        assert metric_facts.sentence.split(";")[0] in " ".join(text.split())
        assert all(event.names or event.name in unnamed_events for event in metric_facts.events), metric_facts.events
        assert metric_facts.doc
        assert metric_facts.definition in text
        words = set(re.findall(r"\w+", text.partition("\nUnit ")[2]))
        deciding_fields = {
            field.name for event in metric_facts.events for field in event.fields if field.role in DECIDING
        }
        assert deciding_fields <= words
        assert metric_facts.relation in text
        json.loads(dump_escaped_json(export_explanation(Explanation(subject, metric_facts, "", "", None))))
        needed_definitions = dependencies.collect_dependencies(
            package,
            [item] if isinstance(item, Metric) else [],
            [applied_filter.filter for applied_filter in applied_filters],
            [] if isinstance(item, Metric) else [item.name],
        )
        read_fields = {name: set(fields) for name, fields in result.column_lineage.events.items()}
        # A column need not depend on all parts of a union: other columns count their rows.
        other_parts = {name: set[str]() for name in needed_definitions.events.keys() - read_fields.keys()}
        assert read_fields | other_parts == dict(needed_definitions.events)
        assert {constant.name for constant in metric_facts.constants} == needed_definitions.constants


def create_crowded_facts() -> RunFacts:
    """Create the largest facts of a metric in a run: figures, more warnings than fit, samples of many long records."""
    record = RawRecord("host/" + "log" * 30, 12, 12, "{" + "text " * 60 + "}")
    keys = {"host": "host-" * 8, "slot": 123456, "block": "f" * 64}
    sample = Sample(keys, 12, 0.012, (Line("event", "host", 1, record),) * 5, 40)
    figures: dict[str, object] = {"size": 100, "average": 1 / 3, "median": 0.1, "stddev": 0.2, "min": 0.0, "max": 9.0}
    return RunFacts("run", figures, Spread(0.0, 9.0, (1,) * 40), (sample,) * 5, ("A warning of the run. " * 12,) * 9)


def test_shortened_parts_end_with_the_number_of_omitted_lines() -> None:
    parts = [Part.create("Short", ["a", "b"], 40), Part.create("Long", [f"text {number}" for number in range(9)], 40)]
    assert list(fit_parts(parts, 99, 40))[-1] == "           text 8"
    assert list(fit_parts(parts, 6, 80)) == [
        "Short      a", "           b", "Long       text 0", "           text 1", "           text 2",
        "           ... and 6 more; `--full` or `--format json` shows all",
    ]  # fmt: skip
    first, second = Part.create("One", ["word " * 40], 40).iter_lines(2, 40)
    assert (first, second) == ("One        word word word word word wor…", "           ... and 1 more; `--full` or …")


def test_parts_of_a_higher_rank_are_shortened_first() -> None:
    parts = [Part.create(name, map(str, range(6)), 80, rank) for name, rank in (("A", 0), ("B", 2), ("C", 1))]

    def list_sizes(room: int) -> list[int]:
        lines = list(fit_parts(parts, room, 80))
        starts = [index for index, line in enumerate(lines) if line[:1].strip()]
        return [end - start for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]

    assert [list_sizes(room) for room in (18, 16, 14, 13, 10, 9, 6, 1)] == [
        [6, 6, 6], [6, 4, 6], [6, 2, 6], [6, 1, 6], [6, 1, 3], [6, 1, 2], [3, 1, 2], [2, 1, 2],
    ]  # fmt: skip
    single_part, larger_part = (
        Part.create("One", ["word " * 40], 40, 2),
        Part.create("Many", ["word " * 40, "more"], 40, 2),
    )
    assert (single_part.least, larger_part.least) == (1, 1)
    assert list(single_part.iter_lines(1, 40)) == ["One        word word word word word wor…"]
    assert list(larger_part.iter_lines(1, 80)) == ["Many       ... and 2 more; `--full` or `--format json` shows all"]


@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_definition_is_whole_beside_a_long_run_part(lab: Laboratory, system: str) -> None:
    checked = lab.session.load_package(system)
    defines = ("Means", "Over", "Series", "Instants", "Columns", "Fallbacks", "Unit", "Quirks")
    for subject in list_subjects(checked):
        item, report = subject.item, subject.report
        applied_filters = subject.select_filters((), False)
        result = trace_subject(subject, applied_filters, subject.compile(applied_filters))
        metric_facts = collect_facts(checked, item, result.column_lineage, (), report.summary if report else "")
        explained_metric = Explanation(subject, metric_facts, "", "", create_crowded_facts())
        screen, full_parts = (
            split_parts(format_explanation(explained_metric, 80, "utf-8", full=full)) for full in (False, True)
        )
        for head in defines:
            assert screen.get(head) == full_parts.get(head), (item, head)


def split_parts(text: str) -> dict[str, list[str]]:
    """Return the lines of a screen by their headings."""
    result: dict[str, list[str]] = {}
    head = ""
    for line in text.split("\n"):
        head = line[:10].strip() or head
        result.setdefault(head, []).append(line)
    return result


def test_quirks_come_from_all_relations_of_the_metric(cache: Path) -> None:
    data = run_assay("explain", "CentiCpu", "--format", "json", "--cache", cache).parse_json()
    assert [item["relation"] for item in data["quirks"]] == ["resource_usage", "slots"]
    assert data["quirks"][0]["text"].startswith("the first increase counts from 0 at 1970-01-01; increases, ")
    assert data["quirks"][0]["text"].endswith("0 where no time has passed.")


def test_filters_decide_where_the_facts_name_them(lab: Laboratory, cache: Path) -> None:
    """A filter on slots also changes metrics that it reaches through other tables."""
    checked = lab.session.load_package("cardano")
    metrics = [item.id for item in checked.package.metrics]

    def query_metrics(*filters: str) -> dict[str, Any]:
        result = run_assay("query", *metrics, "--run", RUN, *filters, "--format", "json", "--cache", cache)
        assert result.status == 0, result.err
        return {item["metric"]: {**item, "filters": ()} for item in result.parse_json()}

    def list_decisions(metric: str) -> tuple[bool, dict[str, bool]]:
        item = checked.get_metric(metric)
        subject = MetricSubject(checked, item)
        applied_filters = subject.select_filters(("slot-leq=300", "unitary"), False)
        lineage = trace_subject(subject, applied_filters, subject.compile(applied_filters)).column_lineage
        metric_facts = collect_facts(checked, item, lineage, applied_filters, "published")
        return metric_facts.filtered, {filter_fact.label: filter_fact.decides for filter_fact in metric_facts.filters}

    whole_result, cut = query_metrics("--no-filters"), query_metrics("--filter", "slot-leq=300")
    for metric in metrics:
        filtered, deciding_filters = list_decisions(metric)
        assert filtered == deciding_filters.get("slot-leq=300", False), metric
        if whole_result[metric].get("size"):  # formulas have none
            assert (whole_result[metric] != cut[metric]) == filtered, metric
    through = "cdfBlocksFilteredRatio", "cdfSpanLensCpu", "cdfHostSlots"
    assert not any(checked.get_metric(metric).accepted for metric in through)
    assert [list_decisions(metric)[1] for metric in (*through, "cdfBlocksPerHost")] == [
        {"slot-leq=300": True, "unitary": True}, *[{"slot-leq=300": True, "unitary": False}] * 2, {},
    ]  # fmt: skip


# Runs: plain Python computes each sample again from the printed lines


def parse_record(line: dict[str, Any]) -> Any:
    return json.loads(line["text"])


def create_timer(first: str, last: str) -> Callable[[Sequence[dict[str, Any]]], float]:
    """Return a function that computes the time from the line of one event to that of another, in ns."""

    def compute_time(lines: Sequence[dict[str, Any]]) -> float:
        instants_by_event = {line["event"]: parse_instant(parse_record(line)["at"]) for line in lines}
        assert set(instants_by_event) == {first, last}
        return instants_by_event[last] - instants_by_event[first]

    return compute_time


def compute_cpu(lines: Sequence[dict[str, Any]]) -> float:
    """Compute the share of a core from two readings of its counter: in single precision, rounded up."""
    before, after = sorted(lines, key=lambda line: line["line"])
    ticks = parse_record(after)["data"]["CentiCpu"] - parse_record(before)["data"]["CentiCpu"]
    elapsed = parse_instant(parse_record(after)["at"]) - parse_instant(parse_record(before)["at"])
    centiseconds = np.float32(elapsed / 1_000_000_000) * np.float32(100)
    return math.ceil(np.float32(100 * ticks) / centiseconds)


def compute_rss(lines: Sequence[dict[str, Any]]) -> float:
    (line,) = lines
    return float(parse_record(line)["data"]["RSS"] // 1024**2)


def compute_adoption_time(lines: Sequence[dict[str, Any]]) -> float:
    """Compute the time from the start of the slot that the forger names to the adoption."""
    records_by_event = {line["event"]: parse_record(line) for line in lines}
    genesis = parse_instant("2026-02-05T18:52:16Z")
    slot = records_by_event["block_forged"]["data"]["slot"]
    return parse_instant(records_by_event["block_adopted"]["at"]) - genesis - slot * 1_000_000_000


def count_forged_blocks(lines: Sequence[dict[str, Any]]) -> float:
    """Count the blocks that a host forged according to its lines."""
    (_,) = {line["host"] for line in lines}
    return len({parse_record(line)["data"]["block"] for line in lines if line["event"] == "block_forged"})


ORACLES = {
    "cdfForgerTicked": create_timer("leadership_decided", "ledger_ticked"),
    "cdfForgerLead": create_timer("ledger_view", "leadership_decided"),
    "cdfForgerAnnounce": create_timer("block_forged", "header_announced"),
    "cdfPeerFetch": create_timer("fetch_requested", "fetch_completed"),
    "cdfBlkCtx": create_timer("leadership_check_started", "block_context"),
    "cdf0.80": compute_adoption_time,
    "CentiCpu": compute_cpu,
    "RSS": compute_rss,
    "cdfBlocksPerHost": count_forged_blocks,
}


def read_raw_line(run: Path, file: str, number: int) -> str:
    """Read a single line of a log."""
    with gzip.open(run / file, "rt", encoding="utf-8", newline="") as stream:
        for count, text in enumerate(stream, start=1):
            if count == number:
                return text.rstrip("\r\n")
    raise AssertionError(f"{file} has no line {number}")


@pytest.mark.parametrize("metric", ORACLES)
def test_printed_lines_give_the_largest_samples(cache: Path, metric: str) -> None:
    data = run_assay("explain", metric, "--run", RUN, "--format", "json", "--cache", cache).parse_json()
    (run_data,) = run_assay("query", metric, "--run", RUN, "--format", "json", "--cache", cache).parse_json()
    run = data["run"]
    assert {name: run[name] for name in ("size", "average", "median", "min", "max")} == {
        name: run_data[name] for name in ("size", "average", "median", "min", "max")
    }
    assert sum(run["spread"]["counts"]) == run["size"]
    largest = run["largest"]
    assert len(largest) == min(5, run["size"])
    assert largest[0]["value"] == run["max"]
    assert [item["value"] for item in largest] == sorted((item["value"] for item in largest), reverse=True)
    for sample in largest:
        assert sample["records"] == len(sample["lines"])
        for line in sample["lines"][:2]:
            assert read_raw_line(RUN, line["file"], line["line"]) == line["text"]
        assert ORACLES[metric](sample["lines"]) == sample["measured"]


def test_printed_rows_give_the_largest_latencies(cache: Path) -> None:
    data = run_assay("explain", "latency_max", "--run", QA, "--format", "json", "--cache", cache).parse_json()
    with gzip.open(QA / "report" / "raw_node0.csv.gz", "rt", newline="") as stream:
        rows = list(csv.DictReader(stream))
    greatest: dict[str, int] = {}
    for row in rows:
        latency = int(row["duration_ns"])
        greatest[row["experiment_id"]] = max(latency, greatest.get(row["experiment_id"], latency))
    printed_rows = [(item["keys"]["experiment_id"], item["measured"]) for item in data["run"]["largest"]]
    assert printed_rows == sorted(greatest.items(), key=lambda item: -item[1])[:5]
    for sample in data["run"]["largest"]:
        (line,) = sample["lines"]
        assert list(rows[line["number"] - 1].values()) == line["text"].split(",")
        assert (line["line"], line["file"]) == (line["number"] + 1, "report/raw_node0.csv.gz")
        assert rows[line["number"] - 1]["duration_ns"] == str(sample["measured"])


def test_samples_of_a_series_are_found_in_lines_of_text(cache: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(QA, run)
    shutil.rmtree(run / "prom")
    start = 1795231300
    text = [
        f'cometbft_mempool_size{{job="a",instance="i"}} {value} {start + 5 * step}.25'
        for step, value in enumerate((3, 41, 7))
    ]
    (run / "raw.om").write_text("\n".join(["# TYPE x gauge", *text, "# EOF"]) + "\n", encoding="utf-8")
    data = run_assay("explain", "mempool_size", "--run", run, "--format", "json", "--cache", cache).parse_json()
    (line,) = data["run"]["largest"][0]["lines"]
    assert (line["file"], line["line"], line["text"]) == ("raw.om", 3, text[1])
    assert data["run"]["largest"][0]["value"] == 41.0
    assert data["run"]["largest"][0]["keys"]["t_ns"] == (start + 6) * 1_000_000_000
    assert data["kind"] == "series"
    assert "the last sample of the last 300 s of `mempool`" in data["sentence"]


# Characters that control a terminal


def test_control_characters_of_a_log_are_escaped(cache: Path, tmp_path: Path) -> None:
    run = copy_run("baseline", tmp_path / "run")

    def insert_control_characters(lines: list[str]) -> list[str]:
        changed_lines = []
        for line in lines:
            if "Forge.Loop.TickedLedgerState" in line:
                line = line.replace('"sev"', '"x\x1b[31m\u202e":"\u009b1m\u200b","sev"')
                line = line.replace("x\x1b", "x\\u001b")  # JSON text escapes these characters
            changed_lines.append(line)
        return changed_lines

    for host in run.glob("node-*"):
        change_log(host, insert_control_characters)
    result = run_assay_process(
        "explain", "cdfForgerTicked", "--run", run, "--cache", cache, environment={"COLUMNS": "400"}
    )  # fmt: skip
    assert result.status == 0, result.err
    assert not set(result.out) & {"\x1b", "\u202e", "\u009b", "\u200b"}
    assert '"x\\u001b[31m\\u202e":"\\x9b1m\\u200b"' in result.out
    assert max(map(len, result.out.split("\n"))) <= 400
    data = run_assay("explain", "cdfForgerTicked", "--run", run, "--format", "json", "--cache", cache)
    assert not set(data.out) & {"\x1b", "\u202e", "\u009b", "\u200b"}
    assert "\u202e" in data.parse_json()["run"]["largest"][0]["lines"][1]["text"]


@pytest.mark.parametrize(
    ("text", "escaped_text"),
    [
        ("plain ~", "plain ~"),
        ("é 漢", "é 漢"),
        ("a\x1b[1mb\tc\x7f", "a\\x1b[1mb\\x09c\\x7f"),
        ("\u202egpj.exe\u2066", "\\u202egpj.exe\\u2066"),
        ("\u2028\ufeff\U000e0041", "\\u2028\\ufeff\\U000e0041"),
        ("\ud800", "\\ud800"),
    ],
)
def test_control_and_invisible_characters_are_escaped(text: str, escaped_text: str) -> None:
    assert escape_text(text) == escaped_text
    assert json.loads(dump_escaped_json({"k": text}))["k"] == text
    assert escape_text(dump_escaped_json({"k": text}).replace("\n", "")) == dump_escaped_json({"k": text}).replace(
        "\n", ""
    )


def test_texts_are_cut_by_display_width() -> None:
    assert (truncate("漢字漢字", 8), truncate("漢字漢字", 7), truncate("漢字漢字", 6)) == (
        "漢字漢字",
        "漢字漢…",
        "漢字…",
    )
    assert measure_width(truncate("e\u0301" * 9, 5)) == 5


def test_terminal_without_unicode_gets_replacements() -> None:
    assert format_bars([0, 1, 4, 8], "utf-8") == " ▁▄█"
    assert format_bars([0, 1, 4, 8], "ascii") == " .=@"
    assert encode_lossless("“a” × b… é", "ascii") == '"a" x b... \\xe9'


def test_the_screen_can_be_written_in_ascii(cache: Path) -> None:
    result = run_assay_process(
        "explain", "RSS", "--full", "--run", RUN, "--cache", cache, environment={"PYTHONIOENCODING": "ascii"}
    )  # fmt: skip
    assert (result.status, result.out.isascii()) == (0, True)
    assert 'table "Resource Usage"' in result.out


def test_list_of_series_has_readings_and_samples(cache: Path) -> None:
    listing = run_assay("list", "series", "--system", "antelope", "--format", "json", "--cache", cache).parse_json()
    readings = {item["series"]: (item["reading"], item["samples"]) for item in listing}
    assert readings["disk_write_series"][0] == "rate over the run's rate_window"
    assert readings["disk_write_rates"][0] == "rate over 20 s"
    assert readings["memory_used_series"] == ("computed", "memory_total_bytes, memory_available_bytes")


def test_dictionary_names_the_lines_of_a_series(lab: Laboratory) -> None:
    """A series that is computed from others names the lines of these."""
    package = lab.session.load_package("antelope").package
    texts = {item.name: describe_series(package, item) for item in package.series}
    idle = 'of node_cpu_seconds_total, mode = "idle"'
    assert texts["cpu_usage_series"] == f"Computed from the mean of the lines of cpu_idle ({idle})."
    assert texts["memory_used_series"] == (
        "Computed from memory_total_bytes (of node_memory_MemTotal_bytes, every label) and memory_available_bytes "
        "(of node_memory_MemAvailable_bytes, every label)."
    )
    assert texts["cpu_idle"] == f"O{idle[1:]}."
    series_of_series = dataclasses.replace(
        next(item for item in package.series if item.name == "memory_used_series"),
        name="twice",
        terms=(Term("a", "cpu_usage_series", "sum"),),
    )
    assert describe_series(package, series_of_series) == (
        "Computed from the sum of the lines of cpu_usage_series (computed from the mean of the lines of cpu_idle "
        f"({idle}))."
    )


def test_grain_of_runs_of_rows_names_its_rows(cache: Path) -> None:
    data = run_assay("explain", "cdfSpanLensCpu", "--format", "json", "--cache", cache).parse_json()
    assert data["grain_made"] == (
        "the longest runs of rows of `slot` where (`cpu` ≥ 85.0 percent) or `cpu` is missing, next to each other in "
        "`slot` among those that the filters accept, for each `host`"
    )
    assert data["grain_made"] in " ".join(
        run_assay("explain", "cdfSpanLensCpu", "--full", "--cache", cache).out.split()
    )


def test_columns_of_a_computed_instant_are_explained(cache: Path) -> None:
    data = run_assay("explain", "cdfForgerAnnounceCum", "--format", "json", "--cache", cache).parse_json()
    assert data["columns"] == {"slot": "Slot"}


def test_fields_name_their_conversions(cache: Path) -> None:
    """The text states defaults, removed characters and added constants: they change the printed value."""

    def read_changes(metric: str, event: str) -> dict[str, list[str]]:
        data = run_assay("explain", metric, "--format", "json", "--cache", cache).parse_json()
        (result,) = (item for item in data["events"] if item["name"] == event)
        return {item["name"]: item["changes"] for item in result["fields"] if item["changes"]}

    assert read_changes("cdfUtxo", "leadership_check_started")["utxo_size"] == ["if missing: 0"]
    assert read_changes("cdfForgerAdoption", "block_adopted")["block"] == ["of .data.newtip its first 64 characters"]
    assert read_changes("reported_avg", "reported")["latency_avg"] == ["a duration, in nanoseconds"]


@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_metrics_of_articles_have_appearances(lab: Laboratory, system: str) -> None:
    """Tables of every kind, figures and grids."""
    package = lab.session.load_package(system).package
    for article in package.reports_over_runs:
        name = f"{system}/{article.name}"
        metrics = {*list_part_metrics(article), *article.listed_metrics}
        series = {*list_shown_series(article)}
        for item in (*package.metrics, *package.series):
            is_in_report = item.id in metrics if isinstance(item, Metric) else item.name in series
            assert (name in {place.report for place in list_appearances(package, item)}) == is_in_report, item


def test_places_of_series_and_compared_metrics(lab: Laboratory) -> None:
    package = lab.session.load_package("cometbft").package
    (series,) = (item for item in package.series if item.name == "node_memory")
    title = "Average resident memory with and without exporter processes"
    assert [(place.kind, place.section, place.label) for place in list_appearances(package, series)] == [
        ("table", f"Metrics of the nodes/{title}", "node_memory, Bytes"),
        ("table", f"200-node testnet: Metrics of the nodes/{title}", "node_memory, Bytes"),
    ]
    package = lab.session.load_package("antelope").package
    (metric,) = (item for item in package.metrics if item.id == "disk_write_rate")
    assert [(place.kind, place.section) for place in list_appearances(package, metric)] == [
        ("table", "Disk/Disk write rate before and after"),
        ("table", "Endurance/Drive lifetime in years"),
        ("verdict", "Conclusion/Expectations of the upgrade"),
    ]


def test_events_that_are_counted_by_their_place_give_the_value(cache: Path) -> None:
    """The counted column is the position of a record, so no field of the event is part of the value."""
    result = run_assay(
        "explain", "num_blocks", "--system", "antelope", "--format", "json", "--cache", cache
    ).parse_json()
    assert {event["name"]: event["role"] for event in result["events"]}["block"] == "value"
    graph = run_assay(
        "lineage", "num_blocks", "--system", "antelope", "--format", "json", "--cache", cache
    ).parse_json()
    edges = [(item["from"], item["to"], item["role"]) for item in graph["edges"]]
    assert ("rows of window_blocks", "block_statistics.num_blocks", "value") in edges


def test_events_that_are_counted_give_the_value(cache: Path) -> None:
    """A count leads through the counted tables to the events, with names and fields."""
    result = run_assay("explain", "cdfStarts", "--format", "json", "--cache", cache).parse_json()
    roles = {event["name"]: event["role"] for event in result["events"]}
    assert {name for name, role in roles.items() if role == "value"} == {"leadership_check_started"}
    graph = run_assay("lineage", "cdfStarts", "--format", "json", "--cache", cache).parse_json()
    edge = {"from": "rows of leadership_check_started", "to": "slot_rows.starts", "role": "value"}
    assert edge in graph["edges"]


def test_rows_that_are_not_counted_have_no_value_role(cache: Path) -> None:
    """They only decide which rows exist."""
    result = run_assay("lineage", "cdfForgerTicked", "--format", "json", "--cache", cache).parse_json()
    assert not [item for item in result["nodes"] if item["id"].startswith("rows of ") and item["role"] == "value"]


def test_instants_that_name_samples_are_dates(cache: Path) -> None:
    """The text has dates; the data has nanoseconds."""
    result = run_assay("explain", "block_rate", "--run", QA, "--format", "json", "--cache", cache).parse_json()
    (t_ns, *_) = (item["keys"]["t_ns"] for item in result["run"]["largest"])
    assert isinstance(t_ns, int)
    text = run_assay("explain", "block_rate", "--run", QA, "--cache", cache).out
    assert f"  at {format_instant(t_ns)}, name " in text
    assert str(t_ns) not in text


def test_comments_on_compatibility_are_found_to_their_end() -> None:
    sql = "-- Is.\n-- Compatibility: cut to\n-- whole units.\nSELECT 1 -- x\n\n  -- Compatibility: late.\nFROM t\n"
    assert list_compatibility_comments(sql) == ["cut to whole units.", "late."]


@pytest.mark.parametrize(("expression", "words"), read_rows("wording.csv"))
def test_expression_is_described_in_words(expression: str, words: str) -> None:
    assert describe_expression(parse_expression(expression)) == words


def test_reduction_by_no_column_is_of_the_run(lab: Laboratory) -> None:
    package = lab.package.package
    metric, grain = package.metrics[0], package.grains[0]
    reduced = dataclasses.replace(metric, reduction=Reduction((), "centile", 0.99))
    assert describe_sampling(reduced, grain).startswith("one sample for each run: the centile 0.99, over rows of ")


# Errors


def test_run_without_the_source_of_the_metric_is_named(cache: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(QA, run, ignore=shutil.ignore_patterns("prom"))
    result = run_assay("explain", "mempool_size", "--run", run, "--cache", cache)
    assert (result.status, result.out) == (1, "")
    first = "error[no-source]: no run has records of source `samples`, which the requested data require"
    assert result.err.split("\n")[0] == first
    assert result.err.endswith("  hint: remove the metrics from the report, or add the records to the runs\n")


def test_folder_of_runs_is_not_taken_for_a_run(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "v1" / "prom").mkdir(parents=True)
    result = run_assay("query", "valid_txs", "--run", tmp_path, "--cache", cache)
    assert (result.status, result.out) == (1, "")
    assert result.err.endswith(f"  hint: pass the directory of a run of cometbft; {tmp_path} contains v1/\n")


def test_run_without_a_sample_has_a_reason(cache: Path, tmp_path: Path) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    for log in run.glob("node-*/stdout.gz"):
        lines = gzip.decompress(log.read_bytes()).splitlines(True)
        log.write_bytes(gzip.compress(b"".join(line for line in lines if b"TickedLedgerState" not in line)))
    result = run_assay("explain", "cdfForgerTicked", "--run", run, "--no-filters", "--format", "json", "--cache", cache)
    run_data = result.parse_json()["run"]
    assert (run_data["size"], run_data["largest"], run_data["spread"]) == (0, [], None)
    assert run_data["warnings"] == [
        "no sample of cdfForgerTicked: 4 rows of `block`, 4 with `leading`, 0 with `ticked` "
        "(the run has no `ledger_ticked` record)."
    ]


def test_filters_and_summary_come_from_the_command(cache: Path) -> None:
    unfiltered_data, filtered_data = (
        run_assay("explain", "cdfBlockSize", "--run", RUN, *options, "--format", "json", "--cache", cache).parse_json()
        for options in (["--no-filters"], ["--filter", "slot-leq=300"])
    )
    assert (unfiltered_data["filters"], [item["label"] for item in filtered_data["filters"]]) == ([], ["slot-leq=300"])
    assert filtered_data["run"]["size"] < unfiltered_data["run"]["size"]
    assert max(item["keys"]["slot"] for item in filtered_data["run"]["largest"]) <= 300


def test_control_characters_of_specs_are_escaped(cache: Path, tmp_path: Path) -> None:
    edit = ("specs/cardano/metrics/forging.dhall", '"Ledger ticking"', '"Ledger \\u{1b}[2J\\u{202e}ticking"')
    workspace_root = copy_workspace(tmp_path / "here", edit)
    for command in (["explain", "cdfForgerTicked"], ["lineage", "cdfForgerTicked"],
                    ["lineage", "cdfForgerTicked", "--format", "dot"]):  # fmt: skip
        result = run_assay(*command, "--cache", cache, cwd=workspace_root)
        assert result.status == 0, result.err
        assert not set(result.out) & {"\x1b", "\u202e"}
    assert (
        "Ledger \\x1b[2J\\u202eticking, s"
        in run_assay("explain", "cdfForgerTicked", "--cache", cache, cwd=workspace_root).out
    )
