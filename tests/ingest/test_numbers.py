"""Test numbers in texts of every kind of source against plain Python."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.ingest import field_sql
from assay.ingest.event_forms import NumberedForm
from assay.ingest.quarantine import explain_missing_field
from assay.sql import dialect
from tests.support.deep import scale_examples
from tests.support.ingesting import (
    SOURCE,
    IngestedFolder,
    build_event,
    build_field,
    build_form,
    format_record,
    ingest_log,
)

#: rules of docs/sources.md
DIGITS = re.compile(r"[ \t\n\v\f\r]*[+-]?[0-9]+[ \t\n\v\f\r]*")
NUMBER = re.compile(r"[ \t\n\v\f\r]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\n\v\f\r]*")
BOUNDS = {"integer": (-(2**63), 2**63 - 1), "unsigned": (0, 2**64 - 1)}


def parse_plainly(kind: str, text: str) -> int | float | None:
    """Return the number of a kind that a text is, or None."""
    if not NUMBER.fullmatch(text):
        return None
    if kind == "real":
        return float(text) if math.isfinite(float(text)) else None
    value, (low, high) = Decimal(text), BOUNDS[kind]
    if not DIGITS.fullmatch(text) and (value != value.to_integral_value() or abs(value) >= 10**15):
        return None
    return int(value) if low <= value <= high else None


def parse_with_engine(kind: str, texts: Sequence[str]) -> list[int | float | None]:
    """Return the numbers that the engine reads from texts."""
    value = field_sql.build_typed_value(build_field("n", kind), dialect.build_column("said"))
    query = f"SELECT {value.sql(dialect=dialect.DIALECT)} FROM (SELECT unnest(?::TEXT[]) AS said)"
    return [row[0] for row in duckdb.execute(query, [list(texts)]).fetchall()]


ODD = [
    "15E-1", "0x10", "0X10", "0b11", "0B11", "0o17", "1_000", "1_0.5", "1e2", "1E2", "1.5e1", "1.50e1", "1.25e1", "5.",
    ".5e1", ".", "e5", "-", "+", "", " 5 ", "\t5\n", "+5", "-0", "-0.0", "0e99999", "00012", "00012.0", "--5",
    "1e15", "1e14", "999999999999999.0", "1000000000000000.0", "-1e14", "1e-99999", "1e99999", "1e99999999999999",
    "inf", "-inf", "nan", "Infinity", "1e", "1e+", "1e2.5", "1d", "1f", "0x1p3", "\u0663", "1\u00a0", "1,5", "5 5",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
    "18446744073709551616",
    "1.0000000000000000000000000000000000000001", "0.1", "123456789012345678901234567890e-20", "1000e-3", "1200e-3",
]  # fmt: skip
PIECES = st.sampled_from(
    ["", "+", "-", "0", "1", "9", "00", "15", ".", "e", "E", "e-", "_", "x", "b", " ", "\t", "000"]
)
TEXTS = (
    st.lists(PIECES, max_size=9).map("".join)
    | st.from_regex(NUMBER, fullmatch=True).filter(lambda text: len(text) < 60)
    | st.integers(-(2**65), 2**65).map(str)
    | st.decimals(allow_nan=None, allow_infinity=None).map(str)
)


@pytest.mark.parametrize("kind", ["integer", "unsigned", "real"])
@given(texts=st.lists(TEXTS, max_size=60))
@example(texts=ODD)
@settings(deadline=None, max_examples=scale_examples(60))
def test_text_becomes_number_of_plain_python(kind: str, texts: list[str]) -> None:
    expected = {
        text: parse_plainly(kind, text)
        for text in texts
        if len(re.sub(r".*[eE][+-]?0*", "", text)) < 6 or "e" not in text.lower()
    }
    assert dict(zip(expected, parse_with_engine(kind, list(expected)), strict=True)) == expected
    event_field = build_field("n", kind)
    assert {text: not explain_missing_field(FORM, event_field, {"n": text}) for text in expected} == {
        text: value is not None for text, value in expected.items()
    }


def test_missing_required_field_alone_is_a_reason() -> None:
    """An optional field must not be named as the reason for a broken record."""
    required_field, optional_field, defaulted_field = (
        build_field("n"),
        build_field("n", required=False),
        build_field("n", default="0"),
    )
    assert [
        explain_missing_field(FORM, item, {"m": 1}) for item in (required_field, optional_field, defaulted_field)
    ] == [
        "field n of tick is missing",
        "",
        "",
    ]
    message = 'field n of tick: expected an integer, found "x"'
    assert [
        explain_missing_field(FORM, item, {"n": "x"}) for item in (required_field, optional_field, defaulted_field)
    ] == [message] * 3


TICK = build_event("tick", build_form([build_field("n"), build_field("r", "real")], new="Tick"))
FORM = NumberedForm(0, TICK, TICK.forms[0], (), True)
ROWS = replace(SOURCE, kind="csv", hosts="", logs=("rows.csv",), time=("at",), body=(), unwrap=(), lookups=())
TABLE = replace(build_event("tick", build_form([build_field("n"), build_field("r", "real")])), source=ROWS.name)
RECORDS = replace(ROWS, kind="json-records", logs=("rows.json",), time_form="s")
TIME_S = 1770317536


def read_as_lines(folder: Path, texts: Sequence[str]) -> IngestedFolder:
    return ingest_log(folder, [format_record(n=text, r=text) for text in texts], [TICK])


def read_as_table(folder: Path, texts: Sequence[str]) -> IngestedFolder:
    rows = "".join(f'{TIME_S},"{text}","{text}"\n' for text in texts)
    return ingest_log(folder, {"rows.csv": f"at,n,r\n{rows}".encode()}, [TABLE], source=ROWS)


def read_as_records(folder: Path, texts: Sequence[str]) -> IngestedFolder:
    rows = [{"at": TIME_S, "n": text, "r": text} for text in texts]
    return ingest_log(folder, {"rows.json": json.dumps(rows).encode()}, [TABLE], source=RECORDS)


@pytest.mark.parametrize("read_texts", [read_as_lines, read_as_table, read_as_records])
def test_number_rule_is_the_same_for_every_source(tmp_path: Path, read_texts: object) -> None:
    texts = ["1", "1e2", "15E-1", "1_000", "0x10", "0b11", "15e-1", "2.50e1", " 7", "1.5", "4.0", "1e15", *["0"] * 8]
    assert callable(read_texts)
    ingested = read_texts(tmp_path, texts)
    assert ingested.read_rows("tick", "n", "r") == [
        (value, float(text)) for text in texts if (value := parse_plainly("integer", text)) is not None
    ]
    reasons = [reason for (reason,) in ingested.read_rows("quarantine", "reason")]
    broken_texts = [text for text in texts if parse_plainly("integer", text) is None]
    assert sorted(reasons) == sorted(f'field n of tick: expected an integer, found "{text}"' for text in broken_texts)


@pytest.mark.parametrize("number", ["1e99999999999999999999", "-1.5E+99999999999999999999", "1e400"])
def test_number_beyond_decimals_is_quoted_in_its_reason(tmp_path: Path, number: str) -> None:
    """Exponents of Python's decimals have 18 digits."""
    lines = [
        format_record(n="0", r=0).replace('"r":0', f'"r":{number}').replace('"r": 0', f'"r": {number}'),
        format_record(n="1", r=1),
    ]
    from_lines = ingest_log(tmp_path / "lines", lines, [TICK])
    rows = f'[{{"at": {TIME_S}, "n": 0, "r": {number}}}, {{"at": {TIME_S}, "n": 1, "r": 1}}]'
    from_records = ingest_log(tmp_path / "records", {"rows.json": rows.encode()}, [TABLE], None, RECORDS)
    for ingested in (from_lines, from_records):
        assert ingested.read_rows("tick", "n", "r") == [(1, 1.0)]
        ((reason,),) = ingested.read_rows("quarantine", "reason")
        expected, _, quoted_text = reason.partition(", found ")
        assert expected == "field r of tick: expected a number"
        assert Decimal(quoted_text) == Decimal(number) if number == "1e400" else quoted_text == number
