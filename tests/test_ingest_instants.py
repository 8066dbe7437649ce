"""Instants of logs of JSON objects and of tables, in the forms that such logs write them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.lang.model.package import Event, Quarantine
from tests.support.ingesting import SOURCE, field, form, read, record

S = 10**9
AT = 1705951200 * S  # 2024-01-22T19:20:00Z
TABLE = replace(
    SOURCE, name="table", kind="csv", hosts="", logs=("t.csv",), time=("at",), body=(), unwrap=(), lookups=()
)
ROW = Event("row", TABLE.name, (form([field("n")]),), "")
SLACK = Quarantine(share=1.0, at_least=10)

#: what stands there, the source's form and zone, and the instant; None: it is none
FORMS = [
    ("2024-01-22T19:20:00Z", "", "", AT),
    ("2024-01-22T19:20:00.25+00:00", "", "", AT + S // 4),
    ("2024-01-22T21:20:00.123456789+02:00", "", "", AT + 123456789),
    ("2024-01-22T15:50:00-03:30", "", "", AT),
    ("2024-01-22 20:20:00,5", "", "+01:00", AT + S // 2),
    ("2024-01-22T19:20:00", "", "", None),
    ("2024-01-22T19:20:00+16:00", "", "", None),
    ("99999-01-22T19:20:00+01:00", "", "", None),
    ("9999-01-22T19:20:00+01:00", "", "", None),
    ("1705951200.25", "s", "", AT + S // 4),
    ("1705951200123", "ms", "", AT + 123 * 10**6),
    ("2024-01-22T19:20:00Z", "s", "", None),
    ("2024-01-22 19:20:00.123 UTC", "%Y-%m-%d %H:%M:%S.%g UTC", "UTC", AT + 123 * 10**6),
]


@pytest.mark.parametrize(("said", "form_", "zone", "t_ns"), FORMS)
def test_objects_tell_instants_in_the_form_of_their_source(
    tmp_path: Path, said: str, form_: str, zone: str, t_ns: int | None
) -> None:
    """Two files, the earlier of which is called as the later one: they are read in the order of time."""
    source = replace(SOURCE, time_form=form_, zone=zone, quarantine=SLACK)
    good = {"": "2024-01-22T19:19:00Z", "s": "1705951140", "ms": "1705951140000"}.get(
        form_, "2024-01-22 19:19:00.000 UTC"
    )
    files = {"m-1/out": record(ts=said, n=2), "m-1/out2": record(ts=good, n=1)}
    found = read(tmp_path, {name: f"{line}\n".encode() for name, line in files.items()}, source=source)
    expected = [(AT - 60 * S, 1), *([] if t_ns is None else [(t_ns, 2)])]
    assert found.rows("tick", "t_ns", "n") == expected
    assert [text[-1] for text in found.rows("quarantine", "reason")] == ([] if t_ns else [f'bad time: "{said}"'])


@pytest.mark.parametrize("number", ["1705951200.25", "1705951200250"])
def test_objects_tell_instants_as_numbers(tmp_path: Path, number: str) -> None:
    source = replace(SOURCE, time_form="s" if "." in number else "ms")
    line = record(n=1).replace('"2026-02-05T18:52:16Z"', number)
    assert read(tmp_path, [line], source=source).rows("tick", "t_ns") == [(AT + S // 4,)]


@pytest.mark.parametrize(("said", "form_", "zone", "t_ns"), FORMS)
def test_tables_tell_instants_in_the_form_of_their_source(
    tmp_path: Path, said: str, form_: str, zone: str, t_ns: int | None
) -> None:
    source = replace(TABLE, time_form=form_, zone=zone, quarantine=SLACK)
    good = {"": str(AT), "s": "1705951200", "ms": "1705951200000"}.get(form_, "2024-01-22 19:20:00.000 UTC")
    found = read(tmp_path, {"t.csv": f'at,n\n"{said}",2\n{good},1\n'.encode()}, [ROW], source=source)
    assert found.rows("row", "t_ns", "n") == [*([] if t_ns is None else [(t_ns, 2)]), (AT, 1)]
