"""Tables: pieces, long rows, broken files, and a real load report."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.ingest.discovery import find_run
from assay.ingest.manifest import has_required_events
from assay.ingest.pipeline import ingest
from assay.ingest.readers import csv_text as table_files
from assay.lang.model.package import Event, Source
from assay.util.diagnostics import AssayError
from tests.support.ingesting import SOURCES, IngestedFolder, build_field, build_form, format_error, ingest_log
from tests.support.laboratory import ROOT

RUN = ROOT / "golden" / "cometbft" / "run"

TABLE = SOURCES["csv"]


def create_event(name: str, *fields: Any, source: Source = TABLE) -> Event:
    """Create an event whose fields are columns."""
    return Event(name, source.name, (build_form(list(fields)),), "")


ROW = create_event("row", build_field("n"))


def ingest_files(
    folder: Path,
    content: str | bytes | Mapping[str, bytes],
    events: Sequence[Event] = (ROW,),
    source: Source = TABLE,
    wanted: Mapping[str, frozenset[str]] | None = None,
) -> IngestedFolder:
    """Ingest `a.csv`, or files by their paths."""
    text = content.encode() if isinstance(content, str) else content
    files = text if isinstance(text, Mapping) else {"a.csv": text}
    return ingest_log(folder, files, events, wanted, source)


def read_refusal(folder: Path, content: str | bytes | Mapping[str, bytes], **options: Any) -> str:
    """Return the error of a run that cannot be ingested; check that no output remains."""
    with pytest.raises(AssayError) as error:
        ingest_files(folder, content, **options)
    assert [path.name for path in folder.iterdir()] == ["run"]
    return format_error(error.value, folder)


@pytest.mark.parametrize("chunk", range(1, 24))
def test_offset_of_a_row_does_not_depend_on_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(table_files, "CHUNK", chunk)
    (tmp_path / "a.csv").write_bytes(b"at,n\r\n1,2\r\n\r3,x\n4,y\r\n")
    assert table_files.find_line_offsets(tmp_path / "a.csv", {2, 4}) == {1: 0, 2: 6, 4: 12}
    assert table_files.find_line_offsets(tmp_path / "a.csv", {5}) == {1: 0, 5: 16}


def test_unwanted_column_may_be_missing(tmp_path: Path) -> None:
    event_read = create_event("row", build_field("n"), build_field("gone"))
    ingested = ingest_files(tmp_path, "at,n\n1,2\n", (event_read,), wanted={"row": frozenset({"n"})})
    assert ingested.read_rows("row") == [("", 1, 1, True, 2)]
    assert has_required_events(ingested.folder, TABLE, (event_read,), {"row": frozenset({"n"})})
    assert not has_required_events(ingested.folder, TABLE, (event_read,), {"row": frozenset({"n", "gone"})})


@pytest.mark.parametrize(
    ("last", "reason"),
    [('4"', "expected 3 cells, found 2"), ('4",d,e', "expected 3 cells, found 4"), ('4"x', "a misplaced quote")],
)
def test_broken_row_says_how_many_lines_it_spans(tmp_path: Path, last: str, reason: str) -> None:
    """Two stray quotes join the rows between them into one."""
    between = "".join(f"{n},1,c\n" for n in range(998))
    ingested = ingest_files(
        tmp_path, f'at,n,s\n1,1,a\n2,"1,b\n{between}{last}\n5,5,e\n', (create_event("row", build_field("n")),)
    )
    assert ingested.read_rows("row", "t_ns", "n") == [(1, 1), (5, 5)]
    assert [row[2:4] for row in ingested.read_quarantine()] == [(3, f"{reason} (a row of 1000 lines)")]
    assert (ingested.read_log()["lines"], ingested.read_log()["quarantined"]) == (3, 1)


@pytest.mark.parametrize("rest", ["3,4\n", "3,4\n" * 100_000])
def test_unclosed_quote_is_an_error(tmp_path: Path, rest: str) -> None:
    assert read_refusal(tmp_path, f'at,n\n1,2\n1,"2\n{rest}') == (
        "error[broken-file]: the table cannot be read to its end: DIR/run/a.csv\n"
        "  found:    an unclosed quote that opens in line 3\n"
        "  hint: is the file cut off?"
    )


@pytest.mark.parametrize("rest", ["", "3\n"])
def test_long_cell_is_read(tmp_path: Path, rest: str) -> None:
    text = "x" * 300_000
    ingested = ingest_files(
        tmp_path, f'at,n,s\n1,2,"{text}"\n{rest}', (create_event("row", build_field("n"), build_field("s", "text")),)
    )
    assert ingested.read_rows("row", "s") == [(text,)]
    assert len(ingested.read_rows("quarantine")) == bool(rest)


@pytest.mark.parametrize(("rest", "good_row_count"), [("", 1), ("3,4,b\n", 2)])
@pytest.mark.parametrize("cell", ["x" * 9 * 2**20, "x" * 70 * 2**20, '"' + ("x" * 2**20 + "\n") * 8 + '"'])
def test_long_row_is_broken(tmp_path: Path, cell: str, rest: str, good_row_count: int) -> None:
    # The engine would silently drop a row of 32 MiB or more at the end of a file.
    ingested = ingest_files(
        tmp_path,
        f"at,n,s\n0,1,a\n1,2,{cell}\n{rest}",
        (create_event("row", build_field("n"), build_field("s", "text")),),
    )
    assert ingested.read_rows("row", "n", "s") == [(1, "a"), (4, "b")][:good_row_count]
    reason = "longer than 8 MiB" + (" (a row of 9 lines)" if "\n" in cell else "")
    assert ingested.read_rows("quarantine", "line", "offset", "reason") == [(3, 13, reason)]
    assert [len(text) for (text,) in ingested.read_rows("quarantine", "text")] == [2000]
    counts = ingested.read_rows("logs", "lines", "objects", "recognised", "quarantined")
    assert counts == [(good_row_count + 1, good_row_count, good_row_count, 1)], (
        "it is one row, however many line ends it has"
    )


def test_row_of_the_greatest_length_is_read(tmp_path: Path) -> None:
    text = "x" * (8 * 2**20 - 4)
    ingested = ingest_files(
        tmp_path, f"at,n,s\n1,2,{text}\n", (create_event("row", build_field("n"), build_field("s", "text")),)
    )
    assert ingested.read_rows("row", "s") == [(text,)]


def test_truncated_packed_table_is_an_error(tmp_path: Path) -> None:
    message = read_refusal(tmp_path, {"a.csv.gz": gzip.compress(b"at,n\n1,2\n" * 1000)[:-9]})
    assert message.startswith("error[broken-file]: the log file cannot be read to its end: DIR/run/a.csv.gz")


# A load report of a real run

LOAD = replace(TABLE, name="load", logs=("report/*.csv",), time=("block_time",))
WORDS = ("experiment_id", "tx_hash")
NUMBERS = ("duration_ns", "connections", "rate", "size")
FIELDS = [*(build_field(name, "text") for name in WORDS), *(build_field(name) for name in NUMBERS)]
TRANSACTION = create_event("transaction", *FIELDS, source=LOAD)


def test_all_rows_of_a_load_report_are_read(tmp_path: Path) -> None:
    wanted = {"transaction": frozenset([*WORDS, *NUMBERS])}
    progress_reports: list[tuple[int, int]] = []
    files = find_run(LOAD, RUN)
    ingest(LOAD, [TRANSACTION], wanted, files, tmp_path / "made", progress=lambda *item: progress_reports.append(item))
    with gzip.open(RUN / "report" / "raw_node0.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    actual_rows = IngestedFolder(tmp_path / "made").read_rows("transaction", "seq", "t_ns", *WORDS, *NUMBERS)
    assert actual_rows == [
        (number, int(row["block_time"]), *(row[name] for name in WORDS), *(int(row[name]) for name in NUMBERS))
        for number, row in enumerate(rows, start=1)
    ]
    assert progress_reports == [(files.size, files.size)]
    durations: dict[str, list[int]] = {}
    for row in rows:
        durations.setdefault(row["experiment_id"], []).append(int(row["duration_ns"]))
    durations_read: dict[str, list[int]] = {}
    for item in actual_rows:
        durations_read.setdefault(item[2], []).append(item[4])
    assert len(durations) == 8
    sums_by_key = {key: (len(item), sum(item), min(item), max(item)) for key, item in durations.items()}
    assert {key: (len(item), sum(item), min(item), max(item)) for key, item in durations_read.items()} == sums_by_key
