"""Test that small files that are read together yield what each yields alone, and cost few statements."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from random import Random

import duckdb
import pytest

from assay.ingest import chunks, discovery, plain_copies
from assay.ingest.discovery import find_run
from assay.ingest.manifest import read_notes
from assay.ingest.plain_copies import MARK
from assay.ingest.readers import json_lines_worker, text_lines
from assay.ingest.readers.lines import build_scan_parameters
from assay.ingest.scanner import VARIABLE
from tests.ingest.test_contract import build_source, build_tick, format_record
from tests.support.ingesting import IngestedFolder, ingest_log

TABLES = ("tick", "logs", "counts", "quarantine", "unknown")
EVENT = b"info 2026-02-05T18:52:16Z ] "
NOISE = [
    *(b"", b"text", b"\xff", b"\0", b"\xef\xbb\xbfinfo", b"a\rb", b"info 2026-13-01 ] Tick n=1 t=x"),
    *(EVENT + b"Tick n=x t=\xc3", EVENT + b"Tock"),
]


READABLE_NOISE = [b"", b"text", b" ", b"\0", b"\0\0x", b"\xc3\xa9", b"{", b'{"a":}', b"a=b c=", b"# x", b'"']


def generate_files(random: Random, reader: str = "text-lines", noise: Sequence[bytes] = NOISE) -> dict[str, bytes]:
    """Return files of two hosts with odd lines and any line ends, some without the last one."""
    files = {}
    for number in range(40):
        end = random.choice([b"\n", b"\n", b"\r\n"])
        minute = b"2026-02-05T18:%02d:16Z" % (number % 60)
        record = format_record(reader, number, minute, b"%d" % number, b"x").rstrip(b"\n")
        lines = [random.choice(noise) for _ in range(random.choice([0, 0, 1, 3]))]
        lines.insert(random.randrange(len(lines) + 1), record)
        files[f"m-{number % 2}/out{number}"] = end.join(lines) + random.choice([end, end, b""])
    return files


def read_tables(ingested: IngestedFolder) -> dict[str, object]:
    return {name: ingested.read_rows(name) for name in TABLES} | {"notes": read_notes(ingested.folder)}


@pytest.mark.parametrize("seed", range(4))
def test_grouped_files_yield_what_each_yields_alone(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, source = generate_files(Random(seed)), build_source("text-lines")
    grouped = read_tables(ingest_log(tmp_path / "grouped", files, [build_tick(source)], source=source))
    monkeypatch.setattr(chunks, "GROUP_FILES", 1)
    alone = read_tables(ingest_log(tmp_path / "alone", files, [build_tick(source)], source=source))
    assert grouped == alone
    assert len(grouped["tick"]) == 40  # type: ignore[arg-type]


@pytest.mark.parametrize("reader", ["text-lines", "json-lines", "logfmt"])
def test_joined_files_yield_what_each_yields_alone(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    source, files = build_source(reader), generate_files(Random(reader), reader, READABLE_NOISE)
    files["m-0/out0"] = MARK + files["m-0/out0"]
    files["m-1/out1.gz"] = gzip.compress(files.pop("m-1/out1"))
    scans = []
    scan = build_scan_parameters
    for module in (text_lines, json_lines_worker):
        monkeypatch.setattr(module, "build_scan_parameters", lambda paths: scans.append(len(paths)) or scan(paths))
    joined = read_tables(ingest_log(tmp_path / "joined", files, [build_tick(source)], source=source))
    assert set(scans) == {1}
    monkeypatch.setattr(plain_copies, "JOINED_AVERAGE", 0)
    alone = read_tables(ingest_log(tmp_path / "alone", files, [build_tick(source)], source=source))
    assert sum(scans) > len(files)
    assert joined == alone
    assert len(joined["tick"]) == 40  # type: ignore[arg-type]


@pytest.mark.parametrize("reader", ["text-lines", "json-lines", "logfmt"])
def test_many_files_take_few_statements(reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are ordered by their first instants, whatever lines come before these."""
    source = build_source(reader)
    files = {}
    for number in range(300):
        instant = b"2026-02-05T%02d:%02d:16Z" % (number // 60, number % 60)
        head = b"no record\n" * (number % 12 if number % 50 == 0 else 0)
        files[f"m-1/out{299 - number}"] = head + format_record(reader, number, instant, b"%d" % number, b"x")
    queries, scans = [], []
    real_query, real_scan = discovery._query_first_instants, text_lines._scan_files
    monkeypatch.setattr(discovery, "_query_first_instants", lambda *args: queries.append(1) or real_query(*args))
    monkeypatch.setattr(text_lines, "_scan_files", lambda *args: scans.append(1) or real_scan(*args))
    ingested = ingest_log(tmp_path, files, [build_tick(source)], source=source)
    assert [n for (n,) in ingested.read_rows("tick", "n")] == list(range(300))
    assert (len(queries), len(scans)) == (2, int(reader == "text-lines"))
    (host,) = find_run(source, tmp_path / "run").hosts
    assert [path.name for path in host.files] == [f"out{number}" for number in range(299, -1, -1)]


def test_long_lines_are_queried_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "CHARACTERS_PER_QUERY", 50)
    lines = {tmp_path / str(number): iter(["x" * 30] * number + ["1"]) for number in range(20)}
    sizes = []
    with duckdb.connect() as connection:
        execute = connection.execute

        class Recorder:
            def execute(self, query: str, parameters: dict[str, list[str]]) -> duckdb.DuckDBPyConnection:
                sizes.append(sum(map(len, parameters["lines"])))
                return execute(query, parameters)

        query = "SELECT TRY_CAST(line AS BIGINT) FROM (SELECT unnest($lines) AS line)"
        instants = discovery._query_first_instants(Recorder(), query, lines)  # type: ignore[arg-type]
    assert instants == dict.fromkeys(lines, 1)
    assert max(sizes) < 50 + 8 * 30
