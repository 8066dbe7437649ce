"""Ingest of samples of time series: answers of Prometheus, OpenMetrics text, Parquet."""

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
from assay.lang.model.package import Event, Field, Quarantine, Unless
from assay.util.diagnostics import AssayError
from tests.support.ingesting import ONE, SOURCE, Ingested, field, form, read, refusal
from tests.support.prometheus import openmetrics, saved_series

RUN = Path(__file__).resolve().parent.parent / "golden" / "cometbft" / "run"

METRICS = replace(
    SOURCE,
    name="metrics",
    kind="samples",
    hosts="",
    logs=("*",),
    time=(),
    body=(),
    unwrap=(),
    lookups=(),
    quarantine=Quarantine(share=0.0, at_least=10),
)
VALUE = field("value", "real")
JOB = field("job", "text", "labels.job", required=False)


def event(name: str, *forms: Any) -> Event:
    return Event(name, METRICS.name, forms, "")


PEERS = event("peers", form([VALUE, JOB], new="peers", old="old_peers"))


def answer(*series: tuple[Mapping[str, str], Sequence[tuple[str, str]]]) -> bytes:
    """An answer of the API; instants are written as they are given."""
    items = ",".join(
        json.dumps({"metric": labels})[:-1] + ',"values":[' + ",".join(f'[{t},"{v}"]' for t, v in values) + "]}"
        for labels, values in series
    )
    return b'{"status":"success","data":{"resultType":"matrix","result":[' + items.encode() + b"]}}"


def up(job: str, *values: tuple[str, str]) -> tuple[Mapping[str, str], Sequence[tuple[str, str]]]:
    """A series of peers."""
    return {"__name__": "peers", "job": job}, values


def made(folder: Path, files: bytes | Mapping[str, bytes], events: Sequence[Event] = (PEERS,), **how: Any) -> Ingested:
    """What ingest makes of a file, or of files by their paths."""
    given = files if isinstance(files, Mapping) else {"a": files}
    return read(folder, given, events, how.get("wanted"), replace(METRICS, **how.get("source", {})))


def rows(folder: Path, files: bytes | Mapping[str, bytes]) -> list[tuple[int, str, float]]:
    """The samples of peers: instant, job, value."""
    found: list[Any] = made(folder, files).rows("peers", "t_ns", "job", "value")
    return found


def refused(folder: Path, files: bytes | Mapping[str, bytes], **how: Any) -> str:
    """The error of samples that cannot be ingested; nothing is left behind."""
    with pytest.raises(AssayError) as error:
        made(folder, files, **how)
    assert [path.name for path in folder.iterdir()] == ["run"]
    return refusal(error.value, folder)


S = 10**9

# Answers


def test_samples_are_numbered_in_the_order_of_time(tmp_path: Path) -> None:
    found = made(tmp_path, answer(up("b", ("1", "1"), ("3", "3")), up("a", ("2", "2"), ("3", "4"))))
    assert found.rows("peers", "host", "seq", "t_ns", "whole", "job", "value") == [
        ("", 1, 1 * S, True, "b", 1.0),
        ("", 2, 2 * S, True, "a", 2.0),
        ("", 3, 3 * S, True, "a", 4.0),
        ("", 4, 3 * S, True, "b", 3.0),
    ]
    assert found.log() == {
        "host": "", "lines": 4, "objects": 4, "recognised": 4, "quarantined": 0, "text_lines": 0,
        "first_ns": S, "last_ns": 3 * S, "first_recognised_ns": S,
    }  # fmt: skip
    assert (found.rows("counts"), found.rows("quarantine"), read_notes(found.folder)) == ([("", "peers", 4)], [], ())


@pytest.mark.parametrize(
    ("written", "t_ns"),
    [
        ("0", 0),
        ("1795231211.714", 1795231211714000000),
        ("1795231211.714123456", 1795231211714123456),
        ("9223372036.854775807", 2**63 - 1),
        ("1.795231211714123456e9", 1795231211714123456),
        ("-0.000000001", -1),
    ],
)
def test_instants_are_exact_to_the_nanosecond(tmp_path: Path, written: str, t_ns: int) -> None:
    assert rows(tmp_path, answer(up("a", (written, "1")))) == [(t_ns, "a", 1.0)]


@pytest.mark.parametrize(
    "written",
    ["0.1", "-0", "5e-324", "1.7976931348623157e+308", "9007199254740993", "NaN", "+Inf", "-Inf"],
)
def test_values_are_the_doubles_that_are_written(tmp_path: Path, written: str) -> None:
    ((_, _, value),) = rows(tmp_path, answer(up("a", ("1", written))))
    assert repr(value) == repr(float(written))


def test_an_answer_may_be_written_with_blanks(tmp_path: Path) -> None:
    text = json.dumps(json.loads(answer(up("a", ("1.5", "1"), ("2", "NaN")))), indent=2).encode()
    found = rows(tmp_path, b"\n" + text)
    assert [(t_ns, job, str(value)) for t_ns, job, value in found] == [(1500000000, "a", "1.0"), (2 * S, "a", "nan")]


@pytest.mark.parametrize("job", ['[1,"2"]', "[1,", '{"values":[[1,"2"]]}', "a\\b", "Δ\n\t", '"', '[[1,"2"]'])
def test_labels_are_any_text(tmp_path: Path, job: str) -> None:
    assert rows(tmp_path, answer(up(job, ("1", "1")))) == [(S, job, 1.0)]


def test_an_empty_label_is_none(tmp_path: Path) -> None:
    empty, without = {"__name__": "peers", "job": ""}, {"__name__": "peers"}
    files = {"a": answer((empty, [("1", "1")])), "b": answer((without, [("2", "1")]))}
    assert rows(tmp_path, files) == [(S, None, 1.0), (2 * S, None, 1.0)]


MANY = [up(f'"{{"metric":{number}', *((str(t), str(number)) for t in range(number % 7))) for number in range(50)]


@pytest.mark.parametrize("size", [10, 100, 137, 1000, 5000, 10**6])
def test_a_large_answer_is_read_in_pieces(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = answer(*MANY).replace(b"]}}", b'] }, "warnings":["x"]}')
    (tmp_path / "a").write_bytes(text)
    parts = [
        json.loads(piece.read_bytes()) for piece in prometheus_response.split_response(tmp_path / "a", tmp_path, size)
    ]
    assert [item for part in parts for item in part["data"]["result"]] == json.loads(text)["data"]["result"]
    assert (len(parts) > 2, parts[-1]["warnings"]) == (size <= 1000, ["x"])
    monkeypatch.setattr(prometheus_response, "PIECE", size)
    found = made(tmp_path / "ingested", text)
    expected = sorted((t, labels["job"], float(v)) for labels, values in MANY for t, v in values)
    assert sorted((str(t // S), job, v) for t, job, v in found.rows("peers", "t_ns", "job", "value")) == expected
    assert found.log()["lines"] == len(expected)


def test_a_large_answer_that_is_cut_off_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_response, "PIECE", 1000)
    said = refused(tmp_path, answer(*MANY)[:-1])
    assert said.startswith("error[not-json]: the answer is not JSON: DIR/run/a\n  at DIR/run/a:1:")


def test_an_error_in_place_of_an_answer_is_told(tmp_path: Path) -> None:
    text = b'{"status":"error","errorType":"bad_data","error":"invalid parameter \\"query\\""}'
    assert refused(tmp_path, text) == (
        "error[answer-error]: the saved answer of the server is an error: DIR/run/a\n"
        '  found:    invalid parameter "query"'
    )


@pytest.mark.parametrize(
    ("kind", "result"),
    [("vector", [{"metric": {}, "value": [1, "1"]}]), ("scalar", [1, "1"]), ("string", [1, "x"]), ("streams", [])],
)
def test_another_type_of_result_is_refused(tmp_path: Path, kind: str, result: Any) -> None:
    text = json.dumps({"status": "success", "data": {"resultType": kind, "result": result}}).encode()
    assert refused(tmp_path, text) == (
        "error[not-samples]: the answer holds no series of samples: DIR/run/a\n"
        "  expected: a result of type matrix\n"
        f"  found:    a result of type {kind}\n"
        "  hint: ask for a selector with a range, such as `up[1h]`, or use `assay fetch prometheus`"
    )


def test_an_answer_that_is_cut_off_is_refused_with_the_place(tmp_path: Path) -> None:
    text = b"\n" + answer(up("a", ("1", "1"), ("2", "2")))
    assert refused(tmp_path, text[:-20]) == (
        "error[not-json]: the answer is not JSON: DIR/run/a\n"
        "  at DIR/run/a:2:116\n"
        "  found:    Expecting value\n"
        "  hint: is the file cut off?"
    )


@pytest.mark.parametrize("length", range(1, 134, 7))
def test_no_part_of_an_answer_is_an_answer(tmp_path: Path, length: int) -> None:
    text = answer(up("a", ("1", "1"), ("2", "2")))
    assert refused(tmp_path, text[:-length]).startswith("error[not-json]: the answer is not JSON: DIR/run/a")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"[]", "no status"),
        (b"{}", "no status"),
        (b'{"status":"ok"}', "status ok"),
        (b'{"status":"success","data":{"resultType":"matrix"}}', "a result that is not there"),
        (b'{"status":"success","data":{"resultType":"matrix","result":{}}}', "a result that is OBJECT"),
        (b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"peers"}}]}}', "peers"),
        (
            b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"h"},"histograms":[[1,{}]]}]}}',
            "native histograms of h",
        ),
        (b"", "an empty file"),
        (b"\x00\x01", "'\\x00\\x01'"),
        (b"12,3", "'12,3'"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: bytes, found: str) -> None:
    said = refused(tmp_path, text)
    assert said.startswith("error[not-samples]: ")
    assert f"\n  found:    {found}" in said


NO_SAMPLE = "no sample: expected a name, labels, a value and an instant"
NO_TIME, NO_VALUE = "no time, or a bad one", "no value, or a bad one"


@pytest.mark.parametrize(
    ("pair", "reason", "shown"),
    [
        ('[1,"x1"]', NO_VALUE, '[1,"x1"]'),
        ("[1,1]", NO_VALUE, "[1,1]"),
        ("[1,null]", NO_VALUE, "[1,null]"),
        ('[1,"0x10"]', NO_VALUE, '[1,"0x10"]'),
        ('[1,"1e"]', NO_VALUE, "1 1e"),
        ('["1","1"]', NO_TIME, '["1","1"]'),
        ('[1,""]', NO_VALUE, "1 "),
        ("[1]", NO_VALUE, "[1]"),
        ("[]", NO_TIME, "[]"),
        ("null", NO_TIME, ""),
        ('[1e30,"1"]', NO_TIME, "1e30 1"),
    ],
)
def test_what_is_no_sample_is_quarantined(tmp_path: Path, pair: str, reason: str, shown: str) -> None:
    text = answer(up("a", ("7", "7"), ("8", "8"))).replace(b'[7,"7"]', pair.encode())
    found = made(tmp_path, text)
    assert found.rows("peers", "t_ns") == [(8 * S,)]
    labels = '{"__name__":"peers","job":"a"}'
    assert found.broken() == [("", "a", 1, reason, f"{labels} {shown}" if shown else labels)]
    assert found.log()["quarantined"] == 1
    assert found.rows("quarantine", "offset") == [(text.index(b'"values":[') + len('"values":['),)]


@pytest.mark.parametrize("piece", [1, 300, 10**6])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("ahead", [b"", b"\xef\xbb\xbf \n"])
def test_a_broken_sample_of_an_answer_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, packed: bool, ahead: bytes
) -> None:
    monkeypatch.setattr(prometheus_response, "PIECE", piece)
    series = [up(f"\u00e9{number}", *((str(at), str(at)) for at in range(9))) for number in range(10)]
    text = ahead + answer(*series).replace(b'[7,"7"]', b'\n [7, "x"]')
    found = made(tmp_path, {"a.gz": gzip.compress(text)} if packed else {"a": text})
    broken = found.rows("quarantine", "line", "offset")
    assert sorted(number for number, _ in broken) == [9 * of + 8 for of in range(10)]
    assert {text[at : at + 8] for _, at in broken} == {b'[7, "x"]'}
    assert len({at for _, at in broken}) == len(broken)


NUMBERS = [("1_000", None), ("1e400", None), ("-1e400", None), ("nan(1)", None), ("infinit", None), ("0x10", None),
           ("+Inf", math.inf), ("-Inf", -math.inf), ("1e-400", 0.0), ("1.", 1.0), ("+.5e1", 5.0)]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), NUMBERS)
def test_a_value_is_a_double_or_told(tmp_path: Path, text: str, value: float | None) -> None:
    files = {"a": f'peers{{job="a"}} {text} 1\npeers{{job="a"}} 7 3\n# EOF\n'.encode()}
    files |= {"b": answer(up("b", ("1", text), ("3", "7")))}
    found = made(tmp_path, files)
    told = [] if value is None else [(job, value) for job in "ab"]
    assert found.rows("peers", "job", "value") == [*told, ("a", 7.0), ("b", 7.0)]
    assert found.log()["quarantined"] == (2 if value is None else 0)


@pytest.mark.parametrize(
    ("seconds", "t_ns"),
    [
        ("1.0000000009", S),
        ("1.9999999999", 2 * S - 1),
        ("-1.0000000009", -S),
        ("9223372036.9", None),
        ("1.5e0", 1_500_000_000),
    ],
)
def test_an_instant_of_a_sample_is_cut_to_nanoseconds_or_told(tmp_path: Path, seconds: str, t_ns: int | None) -> None:
    files = {"a": f'peers{{job="a"}} 1 {seconds}\npeers{{job="a"}} 7 3\n# EOF\n'.encode()}
    files |= {"b": answer(up("b", (seconds, "1"), ("3", "7")))}
    found = made(tmp_path, files)
    told = [] if t_ns is None else [(job, t_ns) for job in "ab"]
    assert found.rows("peers", "job", "t_ns") == [*told, ("a", 3 * S), ("b", 3 * S)]
    assert found.log()["quarantined"] == (2 if t_ns is None else 0)


# OpenMetrics


def test_openmetrics_text_is_read(tmp_path: Path) -> None:
    text = r"""# TYPE peers gauge
# HELP peers Number of peers.
peers{job="a b", other="}\" {"} 1 1795231211.714
peers{job="q\"\\\n", z="1",} 2.5e+06 1795231211.714123456
peers 3 2.000
peers{} NaN 3 # {trace_id="x"} 0.67 1.5

old_peers{job="Δ"} +Inf 4
other_total{job="a"} 1 5
# EOF
"""
    found = rows(tmp_path, text.encode())
    assert [(t_ns, job, str(value)) for t_ns, job, value in found] == [
        (2 * S, None, "3.0"),
        (3 * S, None, "None"),
        (4 * S, "Δ", "inf"),
        (1795231211714000000, "a b", "1.0"),
        (1795231211714123456, 'q"\\\n', "2500000.0"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("peers 1", "no time, or a bad one"),
        ("peers 1 soon", "no time, or a bad one"),
        ("peers one 1", "no value, or a bad one"),
        ('{job="a"} 1 1', "no name"),
        ("peers 1 1_0", "no time, or a bad one"),
        ('peers{job="a} 1 1', "no sample: expected a name, labels, a value and an instant"),
        ('peers{job="a",job="b"} 1 1', "a label, or the name, stands twice"),
        ('peers{job="a"x="b"} 1 1', "no sample: expected a name, labels, a value and an instant"),
        ('peers{"rounds"} 1 1', "a label, or the name, stands twice"),
        ('{"peers","rounds"} 1 1', "a label, or the name, stands twice"),
        ('{"peers",job="a","job"="a"} 1 1', "a label, or the name, stands twice"),
        ('{"peers"job="a"} 1 1', "no sample: expected a name, labels, a value and an instant"),
        ('{"peers",job} 1 1', "no sample: expected a name, labels, a value and an instant"),
        ("1peers 1 1", "no sample: expected a name, labels, a value and an instant"),
        ("peers", "no sample: expected a name, labels, a value and an instant"),
    ],
)
def test_a_line_that_is_no_sample_is_quarantined(tmp_path: Path, line: str, reason: str) -> None:
    found = made(tmp_path, f"# x\npeers 7 7\n{line}\n# EOF\n".encode())
    assert found.broken() == [("", "a", 3, reason, line)]
    assert found.rows("peers", "t_ns", "value") == [(7 * S, 7.0)]


DOTTED = event(
    "dotted",
    form([VALUE, field("job", "text", "labels.job", required=False), Field("odd", "text", ONE, "value",
         (("labels", 'a"b\\.c'),), None, False, (), "")], new="my.metric, {of} \"x\""),
)  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "job", "odd"),
    [
        ("{NAME}", None, None),
        ('{NAME,job="a"}', "a", None),
        ('{ NAME , job = "a" , }', "a", None),
        ('{job="a",NAME}', "a", None),
        ('{NAME,ODD="b, \\"c\\"} =",job=""}', None, 'b, "c"} ='),
        ('{__name__=NAME,"job"="é"}', "é", None),
    ],
)
@pytest.mark.parametrize("milliseconds", [False, True])
def test_names_of_any_characters_stand_quoted_in_the_braces(
    tmp_path: Path, labels: str, job: str | None, odd: str | None, milliseconds: bool
) -> None:
    name, odd_name = '"my.metric, {of} \\"x\\""', '"a\\"b\\\\.c"'
    line = labels.replace("NAME", name).replace("ODD", odd_name)
    at, end = ("1700000000000", "") if milliseconds else ("1700000000", "# EOF\n")
    found = made(tmp_path, f'{line} 1.5 {at}\n{{"other.metric"}} 2 {at}\n{end}'.encode(), (DOTTED,))
    assert found.rows("dotted", "t_ns", "value", "job", "odd") == [(1_700_000_000 * S, 1.5, job, odd)]
    assert found.rows("quarantine") == []
    assert found.log()["lines"] == 2


@pytest.mark.parametrize(
    ("line", "value"),
    [('{"peers"}', True), ("peers", True), ('{__name__="peers"}', False), ('{"__name__"="peers"}', False)],
)
def test_nan_of_a_federated_series_is_a_value_and_of_a_dumped_one_the_end_of_its_line(
    tmp_path: Path, line: str, value: bool
) -> None:
    ((found,),) = made(tmp_path, f"{line} NaN 1700000000000\n".encode()).rows("peers", "value")
    assert (found is not None and math.isnan(found)) == value


@pytest.mark.parametrize("ending", [b"", b"# EO", b"# EOF\npeers 1 2\n"])
def test_a_text_without_its_end_is_refused(tmp_path: Path, ending: bytes) -> None:
    said = refused(tmp_path, b"peers 1 1\n" + ending)
    assert said.startswith("error[broken-file]: the OpenMetrics text has no end: DIR/run/a\n  expected: `# EOF` as its")


@pytest.mark.parametrize("text", [b"peers 1 1\r\n# EOF\r\n", b"peers 1 1\r\n# EOF\n\n", b"peers 1 1\n# EOF"])
def test_a_text_may_end_its_lines_in_several_ways(tmp_path: Path, text: bytes) -> None:
    assert rows(tmp_path, text) == [(S, None, 1.0)]


# Parquet


def parquet(folder: Path, query: str) -> bytes:
    """A Parquet file of a query's rows."""
    place = folder.parent / f"{folder.name}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{place}' (FORMAT parquet)")
    return place.read_bytes()


PARQUET = "SELECT 'peers' AS name, MAP {{'job': 'a'}} AS labels, {0} AS t_ns, {1} AS value"


def test_parquet_is_read(tmp_path: Path) -> None:
    one, two = PARQUET.format("7::BIGINT", "'NaN'::DOUBLE"), PARQUET.format("9::BIGINT", "1.5::DOUBLE")
    found = rows(tmp_path, parquet(tmp_path, f"{one} UNION ALL {two}"))
    assert [(t_ns, job, str(value)) for t_ns, job, value in found] == [(7, "a", "nan"), (9, "a", "1.5")]


def test_parquet_without_a_name_an_instant_or_a_value_is_quarantined(tmp_path: Path) -> None:
    good = PARQUET.format("7::BIGINT", "1::DOUBLE")
    bad = [PARQUET.format("NULL", "1"), PARQUET.format("8", "NULL"), good.replace("'peers'", "NULL"),
           good.replace("MAP {'job': 'a'}", "NULL")]  # fmt: skip
    found = made(tmp_path, parquet(tmp_path, " UNION ALL ".join([good, *bad])))
    assert found.rows("peers", "t_ns") == [(7,)]
    unnamed = "no name, or no labels"
    reasons = [(2, NO_TIME), (3, NO_VALUE), (4, unnamed), (5, unnamed)]
    assert found.rows("quarantine", "line", "reason") == reasons


def test_parquet_with_other_columns_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, parquet(tmp_path, "SELECT 'peers' AS name, 1.5::DOUBLE AS value, 1::INTEGER AS t_ns")) == (
        "error[not-samples]: the Parquet file holds no samples: DIR/run/a\n"
        "  expected: name VARCHAR, labels MAP(VARCHAR, VARCHAR), t_ns BIGINT, value DOUBLE\n"
        "  found:    name VARCHAR, value DOUBLE, t_ns INTEGER"
    )


def test_parquet_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    text = parquet(tmp_path, PARQUET.format("7::BIGINT", "1::DOUBLE"))
    assert refused(tmp_path, text[:-9]).startswith("error[broken-file]: the samples cannot be read: DIR/run/a\n")


# Several files


def test_a_series_of_several_files_is_one(tmp_path: Path) -> None:
    files = {
        "a.json.gz": gzip.compress(answer(up("a", ("1", "1"), ("2", "2")))),
        "b": b'peers{job="a"} 2 2\npeers{job="a"} 3 3\n# EOF\n',
        "c": parquet(tmp_path, PARQUET.format(f"{4 * S}::BIGINT", "4::DOUBLE")),
    }
    found = made(tmp_path, files)
    assert found.rows("peers", "t_ns", "job", "value") == [(n * S, "a", float(n)) for n in (1, 2, 3, 4)]
    assert read_notes(found.folder) == ("1 sample stood twice with equal values, and is counted once",)


def test_samples_out_of_order_are_sorted_with_a_note(tmp_path: Path) -> None:
    found = made(tmp_path, answer(up("a", ("2", "2"), ("1", "1")), up("b", ("1", "5"), ("2", "6"))))
    assert found.rows("peers", "t_ns", "value") == [(S, 1.0), (S, 5.0), (2 * S, 2.0), (2 * S, 6.0)]
    assert read_notes(found.folder) == ("samples of 1 series were out of order, and are sorted",)


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        (b'"warnings": ["store \\"s-2\\" ] timed out", "late"]', ['store "s-2" ] timed out', "late"]),
        (b'"isPartial":true', ["it is partial"]),
        (b'"isPartial":false,"warnings":[],"infos":["rate() of no counter"]', []),
    ],
)
@pytest.mark.parametrize("size", [2**24, 60])
def test_what_a_server_warns_of_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beside: bytes, said: list[str], size: int
) -> None:
    """An answer that lacks what a store did not tell was read as if it were whole."""
    monkeypatch.setattr(prometheus_response, "PIECE", size)
    text = answer(up("a", ("1", "1"), ("2", "2")), up("b", ("1", "5"), ("2", "6")))
    for held in (text.rstrip()[:-1] + b"," + beside + b"}", b"{" + beside + b"," + text.lstrip()[1:]):
        found = made(tmp_path / str(len(held)) / str(held[2]), {"a.json": held})
        assert len(found.rows("peers", "t_ns", "value")) == 4
        assert read_notes(found.folder) == tuple(
            f"samples may be missing in a.json, as the server said with them: {item}" for item in said
        )


def test_a_sample_that_stands_twice_counts_once_even_when_it_is_no_number(tmp_path: Path) -> None:
    found = made(tmp_path, answer(up("a", ("1", "NaN"), ("1", "NaN"), ("2", "7"), ("2", "7.0"))))
    assert [(t_ns, str(value)) for t_ns, value in found.rows("peers", "t_ns", "value")] == [(S, "nan"), (2 * S, "7.0")]
    assert found.log()["lines"] == 4


def test_the_end_of_a_line_and_a_value_at_one_instant_are_refused(tmp_path: Path) -> None:
    texts = [f"peers {value} 1\n# EOF\n".encode() for value in ("NaN", "7")]
    with pytest.raises(AssayError) as error:
        made(tmp_path, dict(zip("ab", texts, strict=True)))
    assert "peers{} at 1 s: 7.0 in b, nan in a" in refusal(error.value, tmp_path)
    both = made(tmp_path / "both", dict.fromkeys("ab", texts[0]))
    assert both.rows("peers", "value") == [(None,)]


def test_two_values_of_a_series_at_an_instant_are_refused(tmp_path: Path) -> None:
    files = {"a": answer(up("x", ("1.5", "1"), ("2", "2"))), "b": answer(up("x", ("1.5", "3"), ("2", "NaN")))}
    assert refused(tmp_path, files) == (
        "error[samples-differ]: 2 instants of series have two samples that differ\n"
        "  expected: one value of a series at an instant\n"
        '  note: peers{"job":"x"} at 1.5 s: 1.0 in a, 3.0 in b\n'
        '  note: peers{"job":"x"} at 2 s: 2.0 in a, nan in b\n'
        "  hint: are these samples of two servers, or of two runs?"
    )


# Events


def test_names_of_generations_are_of_one_event(tmp_path: Path) -> None:
    text = b"peers 1 1\nold_peers 2 2\nprefix_peers 3 3\n# EOF\n"
    events = (PEERS, event("others", form([VALUE], new="prefix_peers")))
    found = made(tmp_path, text, events, wanted={"peers": frozenset({"value"})})
    assert found.rows("peers") == [("", 1, S, 2, True, 1.0), ("", 2, 2 * S, 1, True, 2.0)]  # series in order of names
    assert found.rows("counts") == [("", "others", 1), ("", "peers", 2)]
    assert found.log()["recognised"] == 3


def test_forms_read_their_labels_in_their_own_way(tmp_path: Path) -> None:
    text = b'peers{job="a",le="+Inf"} 1 1\nold_peers{node="b"} 2 2\n# EOF\n'
    what = event(
        "peers",
        form([VALUE, field("job", "text", "labels.job"), field("name", "text", "labels.__name__")], new="peers"),
        form([VALUE, field("job", "text", "labels.node"), field("name", "text", "labels.__name__")], old="old_peers"),
    )
    assert made(tmp_path, text, (what,)).rows("peers", "value", "job", "name") == [
        (1.0, "a", "peers"), (2.0, "b", "old_peers")
    ]  # fmt: skip


def test_a_label_rules_a_series_out(tmp_path: Path) -> None:
    text = b'peers{job="a"} 1 1\npeers{job="b",dead="1"} 2 2\npeers{job="c"} 3 3\npeers 4 4\n# EOF\n'
    rules = [Unless(("labels", "job"), "a", False), Unless(("labels", "dead"), "", True)]
    what = event("peers", form([VALUE, JOB], rules, new="peers"))
    assert made(tmp_path, text, (what,)).rows("peers", "job") == [("c",), (None,)]


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        ("integer", "7", 7),
        ("integer", "-9007199254740992", -(2**53)),
        ("integer", "9.2e+18", 9200000000000000000),
        ("unsigned", "1.8e19", 18000000000000000000),
        ("real", "7", 7.0),
        ("text", "7", "7"),
    ],
)
def test_a_value_may_be_of_another_type(tmp_path: Path, kind: str, written: str, value: Any) -> None:
    what = event("peers", form([field("value", kind)], new="peers"))
    found = made(tmp_path, answer(up("a", ("1", written))), (what,)).rows("peers", "value")
    assert [(item, type(item)) for (item,) in found] == [(value, type(value))]


@pytest.mark.parametrize(
    ("given", "written", "reason"),
    [
        (field("value", "integer"), "1.5", 'field value of peers: expected an integer, found "1.5"'),
        (field("value", "integer"), "NaN", 'field value of peers: expected an integer, found "nan"'),
        (field("value", "unsigned"), "-1", 'field value of peers: expected an integer from 0, found "-1"'),
        (field("n", "integer", "labels.job"), "1", 'field n of peers: expected an integer, found "a"'),
        (field("zone", "text", "labels.zone"), "1", "field zone of peers is missing"),
    ],
)
def test_a_sample_without_what_its_event_must_have_is_quarantined(
    tmp_path: Path, given: Any, written: str, reason: str
) -> None:
    good = '{"metric":{"__name__":"peers","job":"1","zone":"z"},"values":[[9,"9"]]},'
    text = answer(up("a", ("1", written))).replace(b'{"metric"', good.encode() + b'{"metric"')
    found = made(tmp_path, text, (event("peers", form([given], new="peers")),))
    ((host, file, line, said, shown),) = found.broken()
    assert (host, file, line, said) == ("", "a", 2, reason)
    assert shown.startswith('peers{"job":"a"} ')
    assert (found.rows("peers", "t_ns"), found.rows("counts", "n")) == ([(9 * S,)], [(1,)])


def test_the_end_of_a_line_has_no_value_and_its_labels_all_the_same(tmp_path: Path) -> None:
    lines = [f'peers{{n="{n}",job="{n}"}} NaN {t}\n' for t, n in enumerate(("x", "01", "2"), start=1)]
    text = "".join(lines) + "peers NaN 4\npeers 7 5\n# EOF\n"
    what = event("peers", form([VALUE, field("n", "integer", "labels.n", default="0")], new="peers"))
    found = made(tmp_path / "a", text.encode(), (what,))
    assert found.rows("peers", "t_ns", "value", "n") == [
        (2 * S, None, 1), (3 * S, None, 2), (4 * S, None, 0), (5 * S, 7.0, 0)
    ]  # fmt: skip
    assert found.rows("quarantine", "line", "reason") == [(1, 'field n of peers: expected an integer, found "x"')]
    either = event("peers", form([field("value", "integer", "labels.n", "value")], new="peers"))
    found = made(tmp_path / "b", text.encode(), (either,))
    assert found.rows("peers", "value") == [(1,), (2,), (None,), (7,)]
    assert found.rows("quarantine", "line", "reason") == [(1, 'field value of peers: expected an integer, found "x"')]
    needed = event("peers", form([VALUE, field("job", "text", "labels.job")], new="peers"))
    found = made(tmp_path / "c", text.encode(), (needed,))
    reason = "field job of peers is missing"
    assert found.rows("quarantine", "line", "reason") == [(4, reason), (5, reason)]


@pytest.mark.parametrize("text", ["2 7", "2", "", "2 7 9"])
def test_a_text_in_the_place_of_a_sample_of_an_answer_is_none(tmp_path: Path, text: str) -> None:
    content = answer(up("a", ("1", "5"))).replace(b"]]}", f'],"{text}",[3,"6"]]}}'.encode())
    found = made(tmp_path, content)
    assert found.rows("peers", "t_ns", "value") == [(S, 5.0), (3 * S, 6.0)]
    assert found.rows("quarantine", "line", "reason") == [(2, "no time, or a bad one")]


@pytest.mark.parametrize("value", ["+-1", "1_0", "--1"])
def test_a_value_with_two_signs_is_none(tmp_path: Path, value: str) -> None:
    found = made(tmp_path, {"a": f"peers {value} 1\npeers 7 2\n# EOF\n".encode(), "b": answer(up("a", ("3", value)))})
    assert found.rows("peers", "value") == [(7.0,)]
    assert found.rows("quarantine", "reason") == [("no value, or a bad one",)] * 2


def test_more_broken_samples_than_the_source_bears_end_the_ingest(tmp_path: Path) -> None:
    how = {"source": {"quarantine": Quarantine(share=0.0, at_least=1)}}
    said = refused(tmp_path, b"peers 7 7\npeers 1\npeers 2\n# EOF\n", **how)
    assert said == (
        "error[too-many-broken-lines]: 2 of the 3 samples are broken\n"
        "  expected: at most 1\n"
        "  found:    2\n"
        "  note: a:2, byte 10: no time, or a bad one\n"
        "  note: a:3, byte 18: no time, or a bad one\n"
        "  hint: the limit stands in the source's definition (`quarantine`)"
    )


def test_samples_of_other_series_only_are_refused_with_a_hint(tmp_path: Path) -> None:
    assert refused(tmp_path, b"x_peers 1 1\ny_rounds 2 2\n# EOF\n") == (
        "error[nothing-recognised]: none of the 2 samples is of a series that an event names\n"
        "  expected: peers, old_peers\n"
        "  found:    x_peers, y_rounds\n"
        "  hint: did you mean `x_peers`?"
    )


@pytest.mark.parametrize("text", [answer(), answer(up("a")), b"# EOF\n"])
def test_a_run_without_any_sample_is_refused(tmp_path: Path, text: bytes) -> None:
    said = refused(tmp_path, text)
    assert said == (
        "error[nothing-recognised]: the files of `metrics` hold no samples at all\n  hint: did the run record anything?"
    )


# A real run


def _exactly(text: str) -> int:
    return int(Decimal(text) * S)


def test_every_sample_of_every_series_is_there(tmp_path: Path) -> None:
    with gzip.open(RUN / "prom" / "raw_all_5s.json.gz", "rb") as stream:
        series = json.load(stream, parse_float=str, parse_int=str)["data"]["result"]
    names = sorted({item["metric"]["__name__"] for item in series})
    labels = sorted({name for item in series for name in item["metric"]})
    fields = [VALUE, *(field(f"l_{name}", "text", f"labels.{name}", required=False) for name in labels)]
    # One event of all series: a form holds the names of generations.
    what = Event("all", METRICS.name, (form(fields, **{f"g{index}": name for index, name in enumerate(names)}),), "")
    source = replace(METRICS, logs=("prom/raw_*.json",))
    told: list[tuple[int, int]] = []
    files = find_run(source, RUN)
    wanted = {"all": frozenset(item.name for item in fields)}
    ingest(source, [what], wanted, files, tmp_path / "made", progress=lambda *item: told.append(item))
    found: dict[tuple[str | None, ...], list[tuple[int, float]]] = {}
    columns = [f"l_{name}" for name in labels]
    for t_ns, value, *values in Ingested(tmp_path / "made").rows("all", "t_ns", "value", *columns):
        found.setdefault(tuple(values), []).append((t_ns, value))
    assert len(series) == len(found) == 2322
    assert sum(len(values) for values in found.values()) == 152_063
    for item in series:
        key = tuple(item["metric"].get(name) for name in labels)
        expected = [(_exactly(t), float(v)) for t, v in item["values"]]
        assert len(found[key]) == len(expected)
        for (t_a, a), (t_b, b) in zip(found[key], expected, strict=True):
            assert t_a == t_b
            assert a == b or (math.isnan(a) and math.isnan(b))
    assert told == [(files.size, files.size)]
    assert read_notes(tmp_path / "made") == ()


def test_a_real_run_is_the_same_as_text_and_as_parquet(tmp_path: Path) -> None:
    series = saved_series(RUN / "prom" / "raw_all_5s.json.gz")
    names = sorted({item["metric"]["__name__"] for item in series})
    what = event("all", form([VALUE, JOB], **{f"g{index}": name for index, name in enumerate(names)}))
    rows = [
        (
            item["metric"]["__name__"],
            {k: v for k, v in item["metric"].items() if k != "__name__"},
            _exactly(t),
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
        "text": openmetrics(series).encode(),
        "text and parquet": openmetrics(series[200:]).encode(),
    }
    columns = ("seq", "t_ns", "value", "job")
    found = {}
    for name, text in files.items():
        given = {"a": text, **({"b": (tmp_path / "parquet").read_bytes()} if name.endswith("parquet") else {})}
        found[name] = [repr(row) for row in made(tmp_path / name, given, (what,)).rows("all", *columns)]
    assert len(found["json"]) == 152_063
    assert found["text"] == found["json"]
    assert found["text and parquet"] == found["json"]


SERIES = '{"metric":{"__name__":"peers","job":"a"},"values":[[1,"1"]]}'
WHOLE = f'{{"status":"success","data":{{"resultType":"matrix","result":[{SERIES}]}}}}'


@pytest.mark.parametrize(
    ("there", "put", "found"),
    [
        ('[[1,"1"]]', '[[1,"1"]],"values":[[2,"2"]]', "`values` with two values in series 2"),
        ('[[1,"1"]]', r'[[1,"1"]],"v\u0061lues":[[2,"2"]]', "`values` with two values in series 2"),
        ('"values"', '"metric":{"__name__":"rounds"},"values"', "`metric` with two values in series 2"),
        ('"result":', '"result":[],"result":', "`data.result` with two values"),
        ("}]}}", '}]},"data":{"resultType":"matrix","result":[]}}', "`data` with two values"),
    ],
)
def test_an_answer_with_two_values_of_a_key_is_refused(tmp_path: Path, there: str, put: str, found: str) -> None:
    """The first counted, and the samples of the second were dropped without a word."""
    text = WHOLE.replace(SERIES, f"{SERIES.replace('1', '7')},{SERIES}")
    at = text.rindex(there)
    said = refused(tmp_path, (text[:at] + put + text[at + len(there) :]).encode())
    head = "error[not-samples]: the answer has two values of a key: DIR/run/a\n  expected: one of each"
    assert said == f"{head}\n  found:    {found}"


def test_equal_values_of_a_key_and_labels_that_are_called_alike_are_borne(tmp_path: Path) -> None:
    text = WHOLE.replace('"job":"a"', '"job":"a","values":"1","data":"2"').replace(
        ',"values":[', ',"values":[[1,"1"]],"values":['
    )
    assert rows(tmp_path, text.encode()) == [(S, "a", 1.0)]


def test_a_label_that_stands_twice_in_an_answer_is_told(tmp_path: Path) -> None:
    said = refused(tmp_path, WHOLE.replace('"job":"a"', '"job":"a","job":"b"').encode())
    assert said.startswith("error[not-samples]: the labels of series 1 of the answer are not told apart: DIR/run/a\n")


def test_an_answer_may_begin_with_a_mark_of_the_byte_order(tmp_path: Path) -> None:
    assert rows(tmp_path, b"\xef\xbb\xbf" + WHOLE.encode()) == [(S, "a", 1.0)]


def test_half_of_a_surrogate_pair_in_an_answer_is_told_with_its_place(tmp_path: Path) -> None:
    said = refused(tmp_path, WHOLE.replace('"job":"a"', r'"job":"\ud800"').encode())
    assert said.startswith("error[not-json]: the answer is not JSON: DIR/run/a\n  at DIR/run/a:1:")
    assert "found:    half of a surrogate pair, which is no character" in said


def test_a_line_of_a_text_that_is_too_long_is_told_as_that(tmp_path: Path) -> None:
    line = 'peers{job="' + "x" * (8 * 2**20) + '"} 1 1'
    found = made(tmp_path, f"peers 1 1\n{line}\npeers 2 2\n# EOF\n".encode())
    assert found.rows("quarantine", "line", "offset", "reason") == [(2, 10, "longer than 8 MiB")]


def test_nul_bytes_ahead_of_a_line_of_a_text_are_no_part_of_what_is_quarantined(tmp_path: Path) -> None:
    found = made(tmp_path, b"peers 1 1\n\0\0peers x 2\n# EOF\n")
    assert [row[2:] for row in found.broken()] == [(2, NO_SAMPLE, "peers x 2")]
    assert found.rows("quarantine", "offset") == [(12,)]


def test_samples_that_stand_twice_are_counted_as_read(tmp_path: Path) -> None:
    found = made(tmp_path, b"peers 1 1\npeers 1 1\npeers 1 2\npeers 1\n# EOF\n")
    log = found.log()
    assert (log["lines"], log["recognised"], log["quarantined"]) == (4, 2, 1)
