"""Test raw records of every kind of source: `explain` and `trace` show what plain Python reads from the files."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.ingest.chunks import FILE_STEP
from assay.ingest.discovery import find_run
from assay.ingest.pipeline import find_records
from assay.ingest.readers.protocol import Place, RawRecord
from assay.lang.model.package import Source
from assay.util.diagnostics import AssayError
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT, Laboratory

HARNESS = ROOT / "golden" / "antelope" / "harness"
LOG = "node_01/nodeos_log_3_2.txt.gz"
RRD = ROOT / "golden" / "antelope" / "rrd"
PUBLISHED = ROOT / "golden" / "cometbft" / "published"
COUNTED = re.compile(r" #(?P<block>\d+) @ .*\[trxs: (?P<transactions>\d+),")


def get_source(lab: Laboratory, system: str, name: str) -> Source:
    return next(item for item in lab.session.load_package(system).package.sources if item.name == name)


def read_records(source_definition: Source, run: Path, numbers: Iterable[int]) -> list[RawRecord]:
    """Return the records with these numbers in the first file of a run without hosts."""
    places = [Place("", number) for number in numbers]
    records = find_records(source_definition, find_run(source_definition, run), places)
    return [records[place] for place in places]


def list_largest_samples(metric: str, run: Path, cache: Path) -> list[dict[str, Any]]:
    result = run_assay("explain", metric, "--run", run, "--format", "json", "--cache", cache)
    assert (result.status, result.err) == (0, "")
    samples: list[dict[str, Any]] = result.parse_json()["run"]["largest"]
    return samples


def create_run(run: Path, name: str, text: str) -> Path:
    run.mkdir()
    (run / name).write_text(text, encoding="utf-8")
    return run


# Lines of text


def test_explain_shows_lines_of_a_text_log(cache: Path) -> None:
    lines = gzip.decompress((HARNESS / LOG).read_bytes()).decode().splitlines()
    (sample,) = list_largest_samples("tps_max", HARNESS, cache)
    printed_lines = [(item["file"], item["line"], item["number"], item["text"]) for item in sample["lines"]]
    assert printed_lines == [(LOG, line, line, lines[line - 1]) for _, line, _, _ in printed_lines]
    counts = [COUNTED.search(text) for *_, text in printed_lines]
    assert [bool(item) for item in counts] == [True, True]
    assert sum(int(item["transactions"]) for item in counts if item) == sample["measured"] == 21


def test_cell_of_a_text_log_leads_to_its_line(cache: Path, tmp_path: Path) -> None:
    lines = gzip.decompress((HARNESS / LOG).read_bytes()).decode().splitlines()
    out = tmp_path / "out"
    result = run_assay("build", "antelope/harness", "--run", HARNESS, "--to", "md", "-o", out, "--cache", cache)
    assert result.status == 0, result.err
    cell = "Blocks and the analysis window/Block range/node_01/Last, blocks"
    completed = run_assay("trace", out, cell, "--format", "json", "--cache", cache)
    assert (completed.status, completed.err) == (0, "")
    (sample,) = completed.parse_json()["runs"][0]["greatest"]
    (line,) = sample["lines"]
    last = max(number for number, text in enumerate(lines, start=1) if COUNTED.search(text))
    assert (line["file"], line["line"], line["text"]) == (LOG, last, lines[last - 1])
    assert f" #{sample['measured']} @ " in line["text"]


# Lists of records


def test_explain_shows_records_of_a_list(cache: Path) -> None:
    lines = (RRD / "rrddata.json").read_text(encoding="utf-8").splitlines()
    for sample in list_largest_samples("vm_cpu_usage", RRD, cache):
        (line,) = sample["lines"]
        assert (line["file"], line["line"], line["number"]) == ("rrddata.json", line["line"], line["line"] - 1)
        assert line["text"] == lines[line["line"] - 1].rstrip(",")
        assert json.loads(line["text"])["cpu"] == sample["measured"]


def test_records_are_found_in_any_layout_of_a_list(lab: Laboratory, tmp_path: Path) -> None:
    source_definition = get_source(lab, "antelope", "records")
    records = json.loads((RRD / "rrddata.json").read_text(encoding="utf-8"))[:9]
    records[4] |= {"note": "a\nb\u2028 \"é] }, {", "of": [{}, [1, {"time": 3}]]}  # fmt: skip
    numbers = [9, 1, 5, 6]
    indented = json.dumps({"a": 1, "data": records}, indent=2, ensure_ascii=False)
    beginnings = [number for number, line in enumerate(indented.split("\n"), start=1) if line == "    {"]
    for name, text, lines in (
        ("one", json.dumps(records), [0, 0, 0, 0]),
        ("indented", indented, [beginnings[number - 1] for number in numbers]),
        ("returns", "\ufeff" + indented.replace("\n", "\r\n"), [beginnings[number - 1] for number in numbers]),
    ):
        raw_records = read_records(source_definition, create_run(tmp_path / name, "rrddata.json", text), numbers)
        assert [(item.file, item.line, item.number) for item in raw_records] == [
            ("rrddata.json", line, number) for line, number in zip(lines, numbers, strict=True)
        ]
        assert [json.loads(item.text) for item in raw_records] == [records[number - 1] for number in numbers]
        assert not any("\n" in item.text or "\r" in item.text for item in raw_records)
        assert raw_records[0].location == (f"rrddata.json:{lines[0]}" if lines[0] else "rrddata.json#9")
    assert read_records(source_definition, tmp_path / "one", [9])[0].text == json.dumps(records[8])


def test_records_are_found_in_several_files(lab: Laboratory, tmp_path: Path) -> None:
    source_definition = get_source(lab, "antelope", "records")
    create_run(tmp_path / "run", "rrddata-b.json", '[{"time": 3}]')
    (tmp_path / "run" / "rrddata-a.json.gz").write_bytes(gzip.compress(b'[{"time": 1},\n {"time": 2}]'))
    raw_records = read_records(source_definition, tmp_path / "run", [2, FILE_STEP + 1])
    assert [(item.location, item.text) for item in raw_records] == [
        ("rrddata-a.json.gz:2", '{"time": 2}'), ("rrddata-b.json:1", '{"time": 3}'),
    ]  # fmt: skip


def test_list_that_changed_is_an_error(lab: Laboratory, tmp_path: Path) -> None:
    source_definition = get_source(lab, "antelope", "records")
    files = find_run(source_definition, create_run(tmp_path / "run", "rrddata.json", '[{"time": 1}]'))
    (tmp_path / "run" / "rrddata.json").write_text("[", encoding="utf-8")
    with pytest.raises(AssayError, match=r"error\[changed-file\]: the file changed while it was read: "):
        find_records(source_definition, files, [Place("", 1)])


# Blocks


def parse_blocks(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Parse the blocks of a published file, side by side between bars or blanks: first line, keys with their values."""
    blocks: list[tuple[int, dict[str, str]]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        cells = [cell.strip() for cell in line.split("│")] if "│" in line else re.split(r"\s{2,}", line.strip())
        if cells[0].startswith("Experiment ID:"):
            blocks += [(number, {}) for _ in cells]
        for (_, values_by_key), cell in zip(blocks[-len(cells) :], cells, strict=False):
            if cell:
                key, _, value = cell.partition(": ")
                values_by_key[key] = value
    return blocks


@pytest.mark.parametrize("version", ["v034", "v1"])
def test_blocks_side_by_side_are_those_of_the_file(lab: Laboratory, version: str) -> None:
    run = PUBLISHED / version
    blocks = parse_blocks(run / f"{version}_report_tabbed.txt")
    assert len(blocks) >= 12
    raw_records = read_records(get_source(lab, "cometbft", "summaries"), run, range(1, len(blocks) + 1))
    assert [(item.line, item.number) for item in raw_records] == [
        (line, number) for number, (line, _) in enumerate(blocks, start=1)
    ]
    assert [item.text for item in raw_records] == [_format_in_one_line(values_by_key) for _, values_by_key in blocks]


def _format_in_one_line(values_by_key: Mapping[str, str]) -> str:
    return "; ".join(f"{key}: {value}" for key, value in values_by_key.items())


def test_cell_of_blocks_leads_to_its_block(cache: Path, tmp_path: Path) -> None:
    run, out = PUBLISHED / "v1", tmp_path / "out"
    build_options = ("--date", "2026-11-21", "--to", "md")
    assert (
        run_assay("build", "cometbft/published", "--run", run, *build_options, "-o", out, "--cache", cache).status == 0
    )
    cell = "Latencies/Latencies of the experiments/200, 2/Transactions, tx"
    result = run_assay("trace", out, cell, "--format", "json", "--cache", cache)
    assert (result.status, result.err) == (0, "")
    (sample,) = result.parse_json()["runs"][0]["greatest"]
    (line,) = sample["lines"]
    blocks = parse_blocks(run / "v1_report_tabbed.txt")
    first, values_by_key = blocks[line["number"] - 1]
    assert (values_by_key["Rate"], values_by_key["Connections"], values_by_key["Total Valid Tx"]) == (
        "200",
        "2",
        str(sample["measured"]),
    )
    assert (line["file"], line["line"], line["text"]) == (
        "v1_report_tabbed.txt",
        first,
        _format_in_one_line(values_by_key),
    )
