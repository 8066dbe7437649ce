"""Samples of time series: large responses of Prometheus, Parquet, and a real run."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.ingest.discovery import find_run
from assay.ingest.manifest import read_notes
from assay.ingest.pipeline import ingest
from assay.ingest.readers import prometheus_response
from assay.lang.model.package import Event
from assay.util.diagnostics import AssayError
from tests.support.ingesting import SOURCES, IngestedFolder, build_field, build_form, format_error, ingest_log
from tests.support.laboratory import ROOT
from tests.support.prometheus import format_openmetrics, read_saved_series

RUN = ROOT / "golden" / "cometbft" / "run"

METRICS = SOURCES["samples"]
VALUE = build_field("value", "real")
JOB = build_field("job", "text", "labels.job", required=False)


def create_event(name: str, *forms: Any) -> Event:
    return Event(name, METRICS.name, forms, "")


PEERS = create_event("peers", build_form([VALUE, JOB], new="peers", old="old_peers"))


def format_answer(*series: tuple[Mapping[str, str], Sequence[tuple[str, str]]]) -> bytes:
    """Format an answer of the API; instants are written without a change."""
    items = ",".join(
        json.dumps({"metric": labels})[:-1] + ',"values":[' + ",".join(f'[{t},"{v}"]' for t, v in values) + "]}"
        for labels, values in series
    )
    return b'{"status":"success","data":{"resultType":"matrix","result":[' + items.encode() + b"]}}"


def create_peers_series(job: str, *values: tuple[str, str]) -> tuple[Mapping[str, str], Sequence[tuple[str, str]]]:
    """Create a series of peers."""
    return {"__name__": "peers", "job": job}, values


def ingest_files(
    folder: Path, files: bytes | Mapping[str, bytes], events: Sequence[Event] = (PEERS,), **options: Any
) -> IngestedFolder:
    """Ingest a file, or files by their paths."""
    inputs = files if isinstance(files, Mapping) else {"a": files}
    return ingest_log(folder, inputs, events, options.get("wanted"), replace(METRICS, **options.get("source", {})))


def read_rows(folder: Path, files: bytes | Mapping[str, bytes]) -> list[tuple[int, str, float]]:
    """Return the samples of peers: instant, job, value."""
    result: list[Any] = ingest_files(folder, files).read_rows("peers", "t_ns", "job", "value")
    return result


def read_refusal(folder: Path, files: bytes | Mapping[str, bytes], **options: Any) -> str:
    """Return the error of samples that cannot be ingested; check that no output remains."""
    with pytest.raises(AssayError) as error:
        ingest_files(folder, files, **options)
    assert [path.name for path in folder.iterdir()] == ["run"]
    return format_error(error.value, folder)


S = 10**9


MANY = [
    create_peers_series(f'"{{"metric":{number}', *((str(t), str(number)) for t in range(number % 7)))
    for number in range(50)
]


@pytest.mark.parametrize("size", [10, 100, 137, 1000, 5000, 10**6])
def test_large_response_is_read_in_pieces(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = format_answer(*MANY).replace(b"]}}", b'] }, "warnings":["x"]}')
    (tmp_path / "a").write_bytes(text)
    parts = [
        json.loads(piece.read_bytes()) for piece in prometheus_response.split_response(tmp_path / "a", tmp_path, size)
    ]
    assert [item for part in parts for item in part["data"]["result"]] == json.loads(text)["data"]["result"]
    assert (len(parts) > 2, parts[-1]["warnings"]) == (size <= 1000, ["x"])
    monkeypatch.setattr(prometheus_response, "PIECE", size)
    result = ingest_files(tmp_path / "ingested", text)
    expected = sorted((t, labels["job"], float(v)) for labels, values in MANY for t, v in values)
    assert sorted((str(t // S), job, v) for t, job, v in result.read_rows("peers", "t_ns", "job", "value")) == expected
    assert result.read_log()["lines"] == len(expected)


def test_truncated_large_response_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_response, "PIECE", 1000)
    message = read_refusal(tmp_path, format_answer(*MANY)[:-1])
    assert message.startswith("error[not-json]: the response is not JSON: DIR/run/a\n  at DIR/run/a:1:")


NO_TIME, NO_VALUE = "no time, or a bad one", "no value, or a bad one"


@pytest.mark.parametrize("piece", [1, 300, 10**6])
@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("ahead", [b"", b"\xef\xbb\xbf \n"])
def test_broken_sample_of_a_response_has_its_offset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, is_packed: bool, ahead: bytes
) -> None:
    monkeypatch.setattr(prometheus_response, "PIECE", piece)
    series = [
        create_peers_series(f"\u00e9{number}", *((str(time), str(time)) for time in range(9))) for number in range(10)
    ]
    text = ahead + format_answer(*series).replace(b'[7,"7"]', b'\n [7, "x"]')
    result = ingest_files(tmp_path, {"a.gz": gzip.compress(text)} if is_packed else {"a": text})
    quarantined = result.read_rows("quarantine", "line", "offset")
    assert sorted(number for number, _ in quarantined) == [9 * index + 8 for index in range(10)]
    assert {text[offset : offset + 8] for _, offset in quarantined} == {b'[7, "x"]'}
    assert len({offset for _, offset in quarantined}) == len(quarantined)


def create_parquet(folder: Path, query: str) -> bytes:
    """Write a Parquet file of a query's rows."""
    place = folder.parent / f"{folder.name}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{place}' (FORMAT parquet)")
    return place.read_bytes()


PARQUET = "SELECT 'peers' AS name, MAP {{'job': 'a'}} AS labels, {0} AS t_ns, {1} AS value"


def test_parquet_is_read(tmp_path: Path) -> None:
    nan_row, real_row = PARQUET.format("7::BIGINT", "'NaN'::DOUBLE"), PARQUET.format("9::BIGINT", "1.5::DOUBLE")
    result = read_rows(tmp_path, create_parquet(tmp_path, f"{nan_row} UNION ALL {real_row}"))
    assert [(t_ns, job, str(value)) for t_ns, job, value in result] == [(7, "a", "nan"), (9, "a", "1.5")]


def test_incomplete_row_of_parquet_is_quarantined(tmp_path: Path) -> None:
    good_row = PARQUET.format("7::BIGINT", "1::DOUBLE")
    bad_rows = [PARQUET.format("NULL", "1"), PARQUET.format("8", "NULL"), good_row.replace("'peers'", "NULL"),
           good_row.replace("MAP {'job': 'a'}", "NULL")]  # fmt: skip
    result = ingest_files(tmp_path, create_parquet(tmp_path, " UNION ALL ".join([good_row, *bad_rows])))
    assert result.read_rows("peers", "t_ns") == [(7,)]
    unnamed_reason = "no name, or no labels"
    reasons = [(2, NO_TIME), (3, NO_VALUE), (4, unnamed_reason), (5, unnamed_reason)]
    assert result.read_rows("quarantine", "line", "reason") == reasons


def test_parquet_with_other_columns_is_an_error(tmp_path: Path) -> None:
    assert read_refusal(
        tmp_path, create_parquet(tmp_path, "SELECT 'peers' AS name, 1.5::DOUBLE AS value, 1::INTEGER AS t_ns")
    ) == (
        "error[not-samples]: the Parquet file has no samples: DIR/run/a\n"
        "  expected: name VARCHAR, labels MAP(VARCHAR, VARCHAR), t_ns BIGINT, value DOUBLE\n"
        "  found:    name VARCHAR, value DOUBLE, t_ns INTEGER"
    )


def test_truncated_parquet_is_an_error(tmp_path: Path) -> None:
    text = create_parquet(tmp_path, PARQUET.format("7::BIGINT", "1::DOUBLE"))
    assert read_refusal(tmp_path, text[:-9]).startswith("error[broken-file]: the samples cannot be read: DIR/run/a\n")


def test_series_in_several_files_is_one(tmp_path: Path) -> None:
    files = {
        "a.json.gz": gzip.compress(format_answer(create_peers_series("a", ("1", "1"), ("2", "2")))),
        "b": b'peers{job="a"} 2 2\npeers{job="a"} 3 3\n# EOF\n',
        "c": create_parquet(tmp_path, PARQUET.format(f"{4 * S}::BIGINT", "4::DOUBLE")),
    }
    result = ingest_files(tmp_path, files)
    assert result.read_rows("peers", "t_ns", "job", "value") == [(n * S, "a", float(n)) for n in (1, 2, 3, 4)]
    assert read_notes(result.folder) == ("1 sample has a duplicate with an equal value, and is counted once",)


@pytest.mark.parametrize(
    ("trailing_content", "message"),
    [
        (b'"warnings": ["store \\"s-2\\" ] timed out", "late"]', ['store "s-2" ] timed out', "late"]),
        (b'"isPartial":true', ["it is partial"]),
        (b'"isPartial":false,"warnings":[],"infos":["rate() of no counter"]', []),
    ],
)
@pytest.mark.parametrize("size", [2**24, 60])
def test_warning_of_a_server_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trailing_content: bytes, message: list[str], size: int
) -> None:
    """Regression: an answer with a warning about missing data was read without a warning."""
    monkeypatch.setattr(prometheus_response, "PIECE", size)
    text = format_answer(
        create_peers_series("a", ("1", "1"), ("2", "2")), create_peers_series("b", ("1", "5"), ("2", "6"))
    )
    for content in (
        text.rstrip()[:-1] + b"," + trailing_content + b"}",
        b"{" + trailing_content + b"," + text.lstrip()[1:],
    ):
        result = ingest_files(tmp_path / str(len(content)) / str(content[2]), {"a.json": content})
        assert len(result.read_rows("peers", "t_ns", "value")) == 4
        assert read_notes(result.folder) == tuple(
            f"samples may be missing in a.json: the server warned with its response: {item}" for item in message
        )


# A real run


def _to_nanoseconds(text: str) -> int:
    return int(Decimal(text) * S)


def test_all_samples_of_a_real_run_are_read(tmp_path: Path) -> None:
    with gzip.open(RUN / "prom" / "raw_all_5s.json.gz", "rb") as stream:
        series = json.load(stream, parse_float=str, parse_int=str)["data"]["result"]
    names = sorted({item["metric"]["__name__"] for item in series})
    labels = sorted({name for item in series for name in item["metric"]})
    fields = [VALUE, *(build_field(f"l_{name}", "text", f"labels.{name}", required=False) for name in labels)]
    # One event of all series: a form holds the names of generations.
    event_read = Event(
        "all", METRICS.name, (build_form(fields, **{f"g{index}": name for index, name in enumerate(names)}),), ""
    )
    source = replace(METRICS, logs=("prom/raw_*.json",))
    progress_reports: list[tuple[int, int]] = []
    files = find_run(source, RUN)
    wanted = {"all": frozenset(item.name for item in fields)}
    ingest(source, [event_read], wanted, files, tmp_path / "made", progress=lambda *item: progress_reports.append(item))
    result: dict[tuple[str | None, ...], list[tuple[int, float]]] = {}
    columns = [f"l_{name}" for name in labels]
    for t_ns, value, *values in IngestedFolder(tmp_path / "made").read_rows("all", "t_ns", "value", *columns):
        result.setdefault(tuple(values), []).append((t_ns, value))
    assert len(series) == len(result) == 2322
    assert sum(len(values) for values in result.values()) == 152_063
    for item in series:
        key = tuple(item["metric"].get(name) for name in labels)
        expected = [(_to_nanoseconds(t), float(v)) for t, v in item["values"]]
        assert len(result[key]) == len(expected)
        for (t_a, a), (t_b, b) in zip(result[key], expected, strict=True):
            assert t_a == t_b
            assert a == b or (math.isnan(a) and math.isnan(b))
    assert progress_reports == [(files.size, files.size)]
    assert read_notes(tmp_path / "made") == ()


def test_real_run_is_equal_as_text_and_parquet(tmp_path: Path) -> None:
    series = read_saved_series(RUN / "prom" / "raw_all_5s.json.gz")
    names = sorted({item["metric"]["__name__"] for item in series})
    event_read = create_event(
        "all", build_form([VALUE, JOB], **{f"g{index}": name for index, name in enumerate(names)})
    )
    rows = [
        (
            item["metric"]["__name__"],
            {k: v for k, v in item["metric"].items() if k != "__name__"},
            _to_nanoseconds(t),
            float(v),
        )
        for item in series[:200]
        for t, v in item["values"]
    ]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (name TEXT, labels MAP(TEXT, TEXT), t_ns BIGINT, value DOUBLE)")
        query = "INSERT INTO t SELECT unnest($1), unnest($2::MAP(TEXT, TEXT)[]), unnest($3), unnest($4)"
        connection.execute(query, [list(column) for column in zip(*rows, strict=True)])
        connection.execute(f"COPY t TO '{tmp_path / 'parquet'}' (FORMAT parquet)")
    files = {
        "json": gzip.decompress((RUN / "prom" / "raw_all_5s.json.gz").read_bytes()),
        "text": format_openmetrics(series).encode(),
        "text and parquet": format_openmetrics(series[200:]).encode(),
    }
    columns = ("seq", "t_ns", "value", "job")
    result = {}
    for name, text in files.items():
        inputs = {"a": text, **({"b": (tmp_path / "parquet").read_bytes()} if name.endswith("parquet") else {})}
        result[name] = [
            repr(row) for row in ingest_files(tmp_path / name, inputs, (event_read,)).read_rows("all", *columns)
        ]
    assert len(result["json"]) == 152_063
    assert result["text"] == result["json"]
    assert result["text and parquet"] == result["json"]


def test_long_line_of_openmetrics_is_quarantined(tmp_path: Path) -> None:
    line = 'peers{job="' + "x" * (8 * 2**20) + '"} 1 1'
    result = ingest_files(tmp_path, f"peers 1 1\n{line}\npeers 2 2\n# EOF\n".encode())
    assert result.read_rows("quarantine", "line", "offset", "reason") == [(2, 10, "longer than 8 MiB")]
