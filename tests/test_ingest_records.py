"""Ingest of lists of records: JSON documents that hold a list of objects."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.ingest.manifest import covers, read_notes
from assay.lang.model.package import Event, Quarantine, Source
from assay.util.diagnostics import AssayError
from tests.support.commands import assay
from tests.support.ingesting import SOURCE, Ingested, field, form, read, refusal
from tests.support.laboratory import ROOT

LISTS = replace(
    SOURCE,
    name="lists",
    kind="json-records",
    hosts="",
    logs=("a*.json",),
    time=("time",),
    body=("data", "list"),
    unwrap=(),
    lookups=(),
    quarantine=Quarantine(share=0.5, at_least=10),
    time_form="s",
)
ROW = Event("row", LISTS.name, (form([field("n", "real", required=False), field("m", required=False)]),), "")
S = 10**9


def made(
    folder: Path,
    content: str | Mapping[str, bytes],
    events: Sequence[Event] = (ROW,),
    source: Source = LISTS,
    wanted: Mapping[str, frozenset[str]] | None = None,
) -> Ingested:
    files = content if isinstance(content, Mapping) else {"a.json": content.encode()}
    return read(folder, files, events, wanted, source)


def refused(folder: Path, content: Any, **how: Any) -> str:
    with pytest.raises(AssayError) as error:
        made(folder, content, **how)
    assert [path.name for path in folder.iterdir()] == ["run"]
    return refusal(error.value, folder)


RECORDS = '[{"time": 5, "n": 0.25, "m": 1}, {"time": 6}, {"time": 7, "n": 1e-7, "m": null, "x": []}]'


@pytest.mark.parametrize("text", [RECORDS, f'{{"data": {{"list": {RECORDS}}}}}', f"\ufeff{RECORDS}\n"])
def test_a_list_stands_at_its_path_or_is_the_document(tmp_path: Path, text: str) -> None:
    found = made(tmp_path, text)
    assert found.rows("row", "seq", "t_ns", "n", "m") == [
        (1, 5 * S, 0.25, 1), (2, 6 * S, None, None), (3, 7 * S, 1e-7, None),
    ]  # fmt: skip
    assert found.log() == {
        "host": "", "lines": 3, "objects": 3, "recognised": 3, "quarantined": 0, "text_lines": 0,
        "first_ns": 5 * S, "last_ns": 7 * S, "first_recognised_ns": 5 * S,
    }  # fmt: skip
    assert (found.rows("counts"), found.rows("quarantine")) == ([("", "row", 3)], [])
    assert covers(found.folder, LISTS, [ROW], {"row": frozenset(("n",))})


def test_files_follow_each_other_and_may_be_packed(tmp_path: Path) -> None:
    files = {"a2.json": b'[{"time": 1, "n": 3, "m": 1}]', "a1.json.gz": gzip.compress(b'[{"time": 2, "n": 2, "m": 1}]')}
    assert made(tmp_path, files).rows("row", "n") == [(2.0,), (3.0,)]


@pytest.mark.parametrize(
    ("time", "form_", "zone", "t_ns"),
    [
        ("1705951200", "s", "", 1705951200 * S),
        ("1705951200.0000000015", "s", "", 1705951200 * S + 1),
        ("1705951200123", "ms", "", 1705951200123 * 10**6),
        ('"2024-01-22T19:20:00Z"', "", "", 1705951200 * S),
        ('"22.01.2024 20:20"', "%d.%m.%Y %H:%M", "+01:00", 1705951200 * S),
    ],
)
def test_the_time_is_written_as_the_source_says(tmp_path: Path, time: str, form_: str, zone: str, t_ns: int) -> None:
    source = replace(LISTS, time_form=form_, zone=zone)
    assert made(tmp_path, f'[{{"time": {time}, "n": 1, "m": 1}}]', source=source).rows("row", "t_ns") == [(t_ns,)]


@pytest.mark.parametrize(
    ("record", "reason", "text"),
    [
        ("7", "not an object", "7"),
        ("{}", "no time", "{}"),
        ('{"time": null, "n": 1}', "no time", '{"time": null, "n": 1}'),
        ('{"time": "x"}', 'bad time: "x"', '{"time": "x"}'),
        ('{"time": 1e3}', "bad time: 1e3", '{"time": 1e3}'),
        ('{"time": true}', "bad time: true", '{"time": true}'),
        ('{"time": 7, "n": "x"}', 'field n of row: expected a number, found "x"', '{"time": 7, "n": "x"}'),
        ('{"time": 7, "n": [1]}', "field n of row: expected a number, found [1]", '{"time": 7, "n": [1]}'),
        ('{"time": 7, "n": NaN}', "field n of row: expected a number, found NaN", '{"time": 7, "n": NaN}'),
        ('{"time": 7, "m": 1.5}', "field m of row: expected an integer, found 1.5", '{"time": 7, "m": 1.5}'),
    ],
)
def test_a_record_that_is_none_is_quarantined(tmp_path: Path, record: str, reason: str, text: str) -> None:
    found = made(tmp_path, f'[{{"time": 1, "n": 1, "m": 2}}, {record}, {{"time": 2}}]')
    assert found.broken() == [("", "a.json", 2, reason, text)]
    assert found.rows("row", "seq", "n") == [(1, 1.0), (3, None)]
    assert (found.rows("counts", "n"), found.log()["quarantined"]) == ([(2,)], 1)


@pytest.mark.parametrize("end", ["}}", '}, "more": {"list": 1}}\n', ', "next": null}, "z": 1}'])
def test_a_record_that_is_none_has_its_place_wherever_the_list_stands(tmp_path: Path, end: str) -> None:
    text = '{"é": [], "data": {"none": 1, "list": [{"time": 1, "n": 1, "m": 2}, "none"]'
    found = made(tmp_path, text + end)
    assert found.broken() == [("", "a.json", 2, "not an object", '"none"')]
    assert found.rows("quarantine", "offset") == [(text.encode().rindex(b'"none"'),)]


def test_half_of_a_surrogate_pair_in_what_is_read_is_never_replaced(tmp_path: Path) -> None:
    what = Event("row", LISTS.name, (form([field("s", "text")]),), "")
    texts = [r"\ud800", r"a\udc00", "?", r"\ud83d\ude00"]
    items = ", ".join(f'{{"time": {time}, "s": "{text}", "x": "\\ud801"}}' for time, text in enumerate(texts))
    found = made(tmp_path, f"[{items}]", [what])
    assert found.rows("row", "seq", "s") == [(3, "?"), (4, "\U0001f600")]
    assert found.rows("quarantine", "line", "reason") == [(n, "half of a surrogate pair") for n in (1, 2)]
    assert (found.rows("counts", "n"), found.log()["recognised"]) == ([(2,)], 2)


def test_records_may_have_no_instant(tmp_path: Path) -> None:
    what = Event("row", LISTS.name, (form([field("n", "real", required=False), field("s", "text")]),), "")
    text = r'[{"n": 1, "s": "a"}, 7, {"n": "x", "s": "b"}, {"s": "\ud800"}, {"s": "c", "time": 9}]'
    found = made(tmp_path, text, [what], source=replace(LISTS, time=(), time_form=""))
    assert found.rows("row", "seq", "t_ns", "n", "s") == [(1, None, 1.0, "a"), (5, None, None, "c")]
    assert [reason for *_, reason, _ in found.broken()] == [
        "not an object", 'field n of row: expected a number, found "x"', "half of a surrogate pair",
    ]  # fmt: skip
    assert found.log() == {
        "host": "", "lines": 5, "objects": 5, "recognised": 2, "quarantined": 3, "text_lines": 0,
        "first_ns": None, "last_ns": None, "first_recognised_ns": None,
    }  # fmt: skip
    assert found.rows("counts", "n") == [(2,)]


def test_a_key_that_no_record_has_is_an_error_that_names_what_needs_it(tmp_path: Path) -> None:
    assert refused(tmp_path, '[{"time": 1, "n_": 1, "m": 2}, {"time": 2, "m": null}]') == (
        "error[no-key]: none of the 2 records has a value of `n`, which field `n` of event `row` is "
        "read from: DIR/run\n"
        "  expected: records with `n`\n"
        "  found:    `m`, `n_`, `time`\n"
        "  hint: did you mean `n_`?"
    )


def test_a_key_without_any_value_is_an_error(tmp_path: Path) -> None:
    assert refused(tmp_path, '[{"time": 1, "n": 1, "m": null}]') == (
        "error[no-key]: none of the 1 record has a value of `m`, which field `m` of event `row` is "
        "read from: DIR/run\n"
        "  expected: records with `m`\n"
        "  found:    `m`, `n`, `time`\n"
        "  hint: the key is there, and null in each"
    )


def test_a_key_that_nobody_wants_may_be_missing(tmp_path: Path) -> None:
    found = made(tmp_path, '[{"time": 1, "n": 1}]', wanted={"row": frozenset(("n",))})
    assert found.rows("row", "n") == [(1.0,)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '[{"time": 1, "n": 0.25',
            "error[broken-file]: the document cannot be read to its end: DIR/run/a.json\n"
            "  found:    Expecting ',' delimiter, line 1, column 23\n"
            "  hint: is it cut off, or still being written?",
        ),
        (
            '{"data": {"lists": []}}',
            "error[no-list]: the document has no list of records: DIR/run/a.json\n"
            "  expected: a list at `data.list`\n"
            "  found:    an object with `data`",
        ),
        ("null", "error[no-list]: the document has no list of records: DIR/run/a.json\n"
                 "  expected: a list at `data.list`\n  found:    null"),
        ("[]", "error[nothing-recognised]: the files of `lists` hold no records at all\n"
               "  hint: did the run record anything?"),
    ],
)  # fmt: skip
def test_a_document_without_a_list_is_an_error(tmp_path: Path, content: str, message: str) -> None:
    assert refused(tmp_path, content) == message


VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.fixed_dictionaries({}, optional={"n": VALUES, "m": st.integers(-5, 5)}), max_size=8))
def test_records_come_back_as_they_are(tmp_path_factory: pytest.TempPathFactory, items: list[dict[str, Any]]) -> None:
    records = [{"time": 0, "n": 1, "m": 1}, *({"time": number, **item} for number, item in enumerate(items, start=1))]
    found = made(tmp_path_factory.mktemp("lists"), json.dumps(records))
    due = [(r["time"] * S, None if r.get("n") is None else float(r["n"]), r.get("m")) for r in records]
    assert found.rows("row", "t_ns", "n", "m") == due


def test_records_of_a_virtual_machine_are_what_plain_python_has(cache: Path) -> None:
    done = assay(
        "query", "vm_cpu_usage", "vm_memory_share", "vm_disk_write_rate", "vm_memory_used", "--format", "json",
        "--run", ROOT / "golden" / "antelope" / "rrd", "--cache", cache,
    )  # fmt: skip
    assert (done.status, done.err) == (0, "")
    records = json.loads((ROOT / "golden" / "antelope" / "rrd" / "rrddata.json").read_text(encoding="utf-8"))
    values = {
        "vm_cpu_usage": [100 * r["cpu"] for r in records if "cpu" in r],
        "vm_memory_share": [100 * r["mem"] / r["maxmem"] for r in records if "mem" in r],
        "vm_disk_write_rate": [r["diskwrite"] / 1024 for r in records if "diskwrite" in r],
        "vm_memory_used": [r["mem"] / 2**20 for r in records if "mem" in r],
    }
    for row in done.json():
        due = values[row["metric"]]
        assert row["size"] == len(due) == 67
        assert row["average"] == pytest.approx(sum(due) / len(due), rel=1e-12)
        assert (row["min"], row["max"]) == (pytest.approx(min(due), rel=1e-12), pytest.approx(max(due), rel=1e-12))


def test_of_a_key_that_stands_twice_the_first_counts_and_is_told(tmp_path: Path) -> None:
    rows = [
        '"time": 5, "n": 0, "m": 1, "m": 2',
        '"time": 6, "m": 3, "m": 3',
        '"time": 7, "time": 1, "m": 4, "x": 1, "x": 2',
    ]
    text = "[" + ", ".join(f"{{{row}}}" for row in rows) + "]"
    found = made(tmp_path, text)
    assert found.rows("row", "t_ns", "m") == [(5 * S, 1), (6 * S, 3), (7 * S, 4)]
    assert read_notes(found.folder) == (
        "record 1 of a.json has two values of `m`, and 1 more have two values of a key; the first counts.",
    )
    whole = made(tmp_path / "whole", '{"x": 1, "x": 2, "data": {"list": [{"time": 5, "n": 0, "m": 1, "m": 1}]}}')
    assert (whole.rows("row", "m"), read_notes(whole.folder)) == ([(1,)], ())


def test_a_document_with_two_lists_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, '{"data": {"list": [{"time": 5}]}, "data": {"list": [{"time": 6}]}}')
    assert said == (
        "error[no-list]: the document has two lists of records: DIR/run/a.json\n"
        "  expected: one\n"
        "  found:    a key of `data.list` that stands twice"
    )
