"""All readers have one contract, `contract.csv`: the same bytes at a place of a record have the same result.

Each row has a place of a record, the bytes there, the readers that it is about (`all`: those that no other row of these
bytes names), and what the record yields: a value, none, or a reason why it is malformed.
"""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.ingest import scanner
from assay.lang.model.package import Event, Quarantine, Source
from assay.util.diagnostics import AssayError
from tests.support.ingesting import SOURCES, IngestedFolder, build_event, build_field, build_form, ingest_log

INSTANT = b"2026-02-05T18:52:16Z"
EXPECTED = {
    "no integer": "expected an integer",
    "no pattern": "not the pattern of tick",
    "no line": "no line of the log",
}
NO_EVENT = "none of the"
#: reader -> kind of its source, its file, the text before its records and behind them
READERS = {
    "json-lines": ("json-lines", "m-1/out", b"", b""),
    "engine": ("json-lines", "m-1/out", b"", b""),
    "logfmt": ("logfmt", "m-1/out", b"", b""),
    "logfmt-quoted": ("logfmt", "m-1/out", b"", b""),
    "text-lines": ("text-lines", "m-1/out", b"", b""),
    "csv": ("csv", "a.csv", b"at,n,t,x\n", b""),
    "csv-quoted": ("csv", "a.csv", b"at,n,t,x\n", b""),
    "blocks": ("blocks", "a.txt", b"", b""),
    "json-records": ("json-records", "a.json", b'{"data":{"list":[', b"{}]}}\n"),
    "samples": ("samples", "a.om", b"# TYPE Tick gauge\n", b"# EOF\n"),
}
OF_SAMPLES = ("text",)  # a number and an instant of a sample have the notation of its format


def format_record(reader: str, number: int, at: bytes, n: bytes, t: bytes) -> bytes:
    """Return a record with these bytes at its places."""
    match reader:
        case "json-lines" | "engine":
            return b'{"ts":"%b","what":"Tick","body":{"n":"%b","t":"%b"}}\n' % (at, n, t)
        case "logfmt":
            return b"ts=%b msg=Tick n=%b t=%b\n" % (at, n, t)
        case "logfmt-quoted":
            return b'ts="%b" msg=Tick n="%b" t="%b"\n' % (at, n, t)
        case "text-lines":
            return b"info %b ] Tick n=%b t=%b\n" % (at, n, t)
        case "csv":
            return b"%b,%b,%b,1\n" % (at, n, t)
        case "csv-quoted":
            return b'"%b","%b","%b","1"\n' % (at, n, t)
        case "blocks":
            return b"Id: %d\nat: %b\nn: %b\nt: %b\n" % (number, at, n, t)
        case "json-records":
            return b'{"time":"%b","n":"%b","t":"%b"},' % (at, n, t)
    return b'Tick{t="%b"} %b %d\n' % (t, n, number)


def build_source(reader: str) -> Source:
    kind = READERS[reader][0]
    source = replace(SOURCES[kind], quarantine=Quarantine(share=1.0, at_least=10), zone="UTC", time_form="")
    return replace(source, time=("at",)) if kind == "blocks" else source


def build_tick(source: Source) -> Event:
    is_sample = source.kind == "samples"
    fields = [
        build_field("n", "real" if is_sample else "integer", "value" if is_sample else "n", required=False),
        build_field("t", "text", "labels.t" if is_sample else "t", required=False),
    ]
    names = {"new": "Tick"} if is_sample or source.lookups else {}
    form = build_form(fields, **({"log": "Tick n={n} t={t...}"} if source.kind == "text-lines" else names))
    return replace(build_event("tick", form), source=source.name)


def read_rows() -> list[dict[str, str]]:
    with Path(__file__).with_name("contract.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def iter_contract() -> Iterator[Any]:
    """Yield reader, place, bytes and result of each row."""
    rows = read_rows()
    for row in rows:
        of_others = " ".join(
            item["readers"] for item in rows if item["place"] == row["place"] and item["raw"] == row["raw"]
        )
        for reader in READERS:
            own_name = "json-lines" if reader == "engine" else reader
            is_named = own_name in row["readers"].split()
            is_of_all = row["readers"] == "all" and own_name not in of_others.split()
            if (is_named or is_of_all) and (reader != "samples" or row["place"] in OF_SAMPLES):
                raw = row["raw"].encode("latin-1").decode("unicode-escape").encode("latin-1")
                yield pytest.param(reader, row["place"], raw, row["result"], id=f"{reader}-{row['place']}-{row['raw']}")


@pytest.fixture(autouse=True)
def _disable_scanner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if getattr(request.node, "callspec", None) and request.node.callspec.params.get("reader") == "engine":
        monkeypatch.setenv(scanner.VARIABLE, "off")


def ingest_records(folder: Path, reader: str, content: bytes) -> IngestedFolder:
    source = build_source(reader)
    _, name, before, behind = READERS[reader]
    whole = before + content + behind
    return ingest_log(folder, {name: whole.replace(b",{}]", b"]")}, [build_tick(source)], source=source)


@pytest.mark.parametrize(("reader", "place", "raw", "result"), [*iter_contract()])
def test_same_bytes_have_same_result(reader: str, place: str, raw: bytes, result: str, tmp_path: Path) -> None:
    places = {"instant": INSTANT, "number": b"7", "text": b"x", place: raw}
    good = [format_record(reader, number, INSTANT, b"1", b"good") for number in (1, 3)]
    record = format_record(reader, 2, places["instant"], places["number"], places["text"])
    if result == "error":
        with pytest.raises(AssayError, match="the document"):
            ingest_records(tmp_path, reader, good[0] + record + good[1])
        return
    ingested = ingest_records(tmp_path, reader, good[0] + record + good[1])
    column = "t" if place == "text" else "n"
    values = [value for seq, value, t in ingested.read_rows("tick", "seq", column, "t") if t != "good"]
    reasons = [reason for (reason,) in ingested.read_rows("quarantine", "reason")]
    assert len(ingested.read_rows("tick")) + len(reasons) == 3
    try:
        value = None if result == "none" else ast.literal_eval(result)
    except (SyntaxError, ValueError):
        expected = EXPECTED.get(result, result)
        expected = "not logfmt" if expected == "not JSON" and reader.startswith("logfmt") else expected
        assert values == []
        (reason,) = reasons
        assert expected in reason
    else:
        assert (values, reasons) == ([value], [])


@pytest.mark.parametrize("reader", READERS)
def test_last_record_needs_no_line_end(reader: str, tmp_path: Path) -> None:
    content = b"".join(format_record(reader, number, INSTANT, b"7", b"x") for number in (1, 2))
    _, name, before, behind = READERS[reader]
    source = build_source(reader)
    whole = (before + content + behind).replace(b",{}]", b"]").rstrip(b"\n")
    ingested = ingest_log(tmp_path, {name: whole}, [build_tick(source)], source=source)
    assert ingested.read_rows("tick", "n", "t") == [(7, "x")] * 2
    assert ingested.read_rows("quarantine") == []


@pytest.mark.parametrize("reader", [item for item in READERS if item != "json-records"])
def test_long_record_is_malformed_and_others_are_read(reader: str, tmp_path: Path) -> None:
    texts = (b"x", b"y" * (8 * 2**20), b"z")
    content = b"".join(format_record(reader, number, INSTANT, b"7", t) for number, t in enumerate(texts, start=1))
    ingested = ingest_records(tmp_path, reader, content)
    rest = [(None,)] if reader == "blocks" else []  # of a block, a line is malformed, not its other lines
    assert ingested.read_rows("tick", "t") == [("x",), *rest, ("z",)]
    assert [reason for (reason,) in ingested.read_rows("quarantine", "reason")] == ["longer than 8 MiB"]
