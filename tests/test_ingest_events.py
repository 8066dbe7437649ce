"""Which records are which events, and the fields they have."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.lang.model.package import Transform, Unless, Unwrap
from tests.support.ingesting import SOURCE, event, field, fixed, form, read, record

NEW = event("fresh", form([field("n")], new="A"))
OLD = event("aged", form([field("n")], new="Z", old="B"))
OLDEST = event("ancient", form([field("n")], oldest="C"))
ALL = (NEW, OLD, OLDEST)


def names(folder: Path, *lines: str) -> list[str]:
    """The event that each line is ("" for none), told by its field n, which is its number."""
    made = read(folder, [*lines, record("A", n=-1)], ALL)
    found = {n: item.name for item in ALL for (n,) in made.rows(item.name, "n")}
    return [found.get(n, "") for n in range(len(lines))]


def test_a_record_is_known_by_the_first_lookup_that_has_its_name(tmp_path: Path) -> None:
    lines = [
        record("A", n=0, type="B"),
        record("B", n=1, type="C"),
        record("Z", n=2),
        record("other", n=3, type="B"),
        record("other", n=4, type="Lib.B"),
        record("other", n=5, type="C"),
        record("other", n=6, type="Lib.C"),
        record("other", n=7, type="A"),
        record("C", n=8),
        record("Lib.B", n=9),
        record(None, n=10),
    ]
    assert names(tmp_path, *lines) == [
        "fresh",
        "aged",
        "aged",
        "aged",
        "aged",
        "ancient",
        "",
        "",
        "",
        "",
        "",
    ]


SEGMENTS = event("deep", form([field("n")], new="a.b.c"))


@pytest.mark.parametrize("what", ["a.b.c", ["a.b.c"], ["a", "b", "c"], ["a.b", "c"], ["a", "b.c"]])
def test_a_name_may_be_a_list_of_segments(tmp_path: Path, what: object) -> None:
    assert read(tmp_path, [record(what, n=1)], (SEGMENTS,)).rows("deep", "n") == [(1,)]


@pytest.mark.parametrize("what", [["a", "b"], [], ["a", "b", "c", "d"], "[a.b.c", "a.b.c ", {"a": "b"}, 7, ["c", "b"]])
def test_another_list_is_another_name(tmp_path: Path, what: object) -> None:
    made = read(tmp_path, [record(what, n=1), record("a.b.c", n=2)], (SEGMENTS,))
    assert made.rows("deep", "n") == [(2,)]
    assert made.log()["quarantined"] == 0


def wrapped(what: str = "A", **body: object) -> str:
    return record(what, proof=1, inner=body)


def test_a_body_within_a_member_of_itself_is_unwrapped(tmp_path: Path) -> None:
    lines = [
        wrapped("A", n=0),
        wrapped("other", type="Lib.B", n=1),
        record("A", type="x", proof=1, inner={"n": -5}, n=2),
        record("A", inner={"n": -5}, n=3),
        record("A", proof=None, inner={"n": 4}, n=-5),
        record("A", type=None, proof=1, inner={"n": -5}, n=5),
    ]
    assert names(tmp_path, *lines) == ["fresh", "aged", "fresh", "fresh", "fresh", "fresh"]


@pytest.mark.parametrize("key", ["proof", "größe"])
def test_a_body_is_unwrapped_however_its_keys_are_written(tmp_path: Path, key: str) -> None:
    source = replace(SOURCE, unwrap=(Unwrap(absent="type", present=(key,), take="inner"),))
    plain = json.dumps(
        {"ts": "2026-02-05T18:52:16Z", "what": "Tick", "body": {key: 1, "inner": {"n": 7}}}, ensure_ascii=False
    )
    escaped = plain.replace(key, "".join(f"\\u{ord(character):04x}" for character in key))
    assert read(tmp_path, [plain, escaped], source=source).rows("tick", "n") == [(7,), (7,)]


RULED = event(
    "change",
    form([field("n")], [Unless(("up",), "false", False), Unless(("back",), "", True)], new="Change"),
    form([field("n")], old="Change2"),
)


@pytest.mark.parametrize(
    ("body", "is_event"),
    [
        ({}, True),
        ({"up": True}, True),
        ({"up": None}, True),
        ({"up": False}, False),
        ({"up": "false"}, False),
        ({"back": 1}, False),
        ({"back": None}, False),
        ({"up": True, "back": {}}, False),
    ],
)
def test_a_form_is_ruled_out_by_what_the_body_holds(tmp_path: Path, body: dict[str, Any], is_event: bool) -> None:
    lines = [record("Change", n=1, **body), wrapped("Change", n=2, **body), record("Change2", n=3, **body)]
    made = read(tmp_path, lines, (RULED,))
    assert made.rows("change", "n") == ([(1,), (2,), (3,)] if is_event else [(3,)])
    assert (made.log()["recognised"], made.log()["objects"]) == (3 if is_event else 1, 3)


def test_a_form_that_is_ruled_out_is_not_counted_when_its_event_is_not_wanted(tmp_path: Path) -> None:
    lines = [record("Change", n=1, up=False), record("Change", n=2), record("A", n=1)]
    made = read(tmp_path, lines, (RULED, NEW), wanted={"fresh": frozenset({"n"})})
    assert made.rows("counts") == [("m-1", "change", 1), ("m-1", "fresh", 1)]


def one(folder: Path, kind: str, written: str, **how: Any) -> Any:
    """What a field of a type is, of a JSON value as it is written; the reason when the line is quarantined."""
    what = event("tick", form([field("n", kind, **how)], new="Tick"))
    line = record(n="@").replace('"@"', written)
    made = read(folder, [line, record("Noise")], (what, event("noise", form([], new="Noise"))))
    lost = made.rows("quarantine", "reason")
    return lost[0][0] if lost else made.rows("tick", "n")[0][0]


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        ("integer", "0", 0),
        ("integer", "-1", -1),
        ("integer", "9223372036854775807", 2**63 - 1),
        ("integer", "-9223372036854775808", -(2**63)),
        ("integer", '"12"', 12),
        ("integer", "5.0", 5),
        ("integer", "1e3", 1000),
        ("unsigned", "18446744073709551615", 2**64 - 1),
        ("unsigned", "9223372036854775808", 2**63),
        ("real", "1", 1.0),
        ("real", "0.1", 0.1),
        ("real", "-2.5e-7", -2.5e-7),
        ("real", "1E400000000", None),
        ("real", "3.7974683544303798610197731022708467207849025726318359375e-2", 3 / 79),
        ("real", "123456789012345678901234567890", 1.2345678901234568e29),
        ("real", "5e-324", 5e-324),
        ("text", '"häß \\" \\u00df"', 'häß " ß'),
        ("text", "7", "7"),
        ("text", '""', ""),
        ("text", '{"a":[1,2]}', '{"a":[1,2]}'),
        ("boolean", "true", True),
        ("boolean", "false", False),
        ("boolean", '"true"', True),
    ],
)
def test_a_value_is_read_exactly(tmp_path: Path, kind: str, written: str, value: Any) -> None:
    found = one(tmp_path, kind, written)
    if value is None:
        assert found.startswith("field n of tick: expected a number, found ")
    else:
        assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "written", "reason"),
    [
        ("integer", '"abc"', 'expected an integer, found "abc"'),
        ("integer", "1.5", "expected an integer, found 1.5"),
        ("integer", "1e-7", "expected an integer, found 1E-7"),
        ("integer", "9223372036854775808", "expected an integer, found 9223372036854775808"),
        ("integer", "true", "expected an integer, found true"),
        ("integer", "{}", "expected an integer, found {}"),
        ("integer", "[1]", "expected an integer, found [1]"),
        ("integer", '""', 'expected an integer, found ""'),
        ("unsigned", "-1", "expected an integer from 0, found -1"),
        ("unsigned", "18446744073709551616", "expected an integer from 0, found 18446744073709551616"),
        ("real", '"NaN"', 'expected a number, found "NaN"'),
        ("real", '"inf"', 'expected a number, found "inf"'),
        ("boolean", "1", "expected true or false, found 1"),
        ("boolean", '"yes"', 'expected true or false, found "yes"'),
    ],
)
def test_a_value_of_another_type_is_quarantined(tmp_path: Path, kind: str, written: str, reason: str) -> None:
    assert one(tmp_path, kind, written) == f"field n of tick: {reason}"


@pytest.mark.parametrize("written", ["null", '{"m":1}'])
def test_a_field_that_must_be_there_and_is_not_is_quarantined(tmp_path: Path, written: str) -> None:
    what = event("tick", form([field("n")], new="Tick"))
    line = record().replace('"body":{}', '"body":' + ('{"n":null}' if written == "null" else written))
    made = read(tmp_path, [line, record(n=1)], (what,))
    assert made.rows("quarantine", "line", "reason", "text") == [(1, "field n of tick is missing", line)]
    assert (made.log()["recognised"], made.log()["objects"], made.rows("counts", "n")) == (1, 2, [(1,)])


@pytest.mark.parametrize("body", ['"text"', '"{broken"', "7", "null", "[]", '"{\\"n\\":1}"'])
def test_a_body_that_is_no_object_has_no_fields(tmp_path: Path, body: str) -> None:
    line = record().replace('"body":{}', f'"body":{body}')
    assert read(tmp_path, [line, record(n=1)]).rows("quarantine", "reason") == [("field n of tick is missing",)]


def test_a_default_stands_for_what_is_missing_and_not_for_what_is_wrong(tmp_path: Path) -> None:
    what = event("tick", form([field("n", default="7")], new="Tick"))
    made = read(tmp_path, [record(), record(n=None), record(n=1), record(n="x")], (what,))
    assert made.rows("tick", "seq", "n") == [(1, 7), (2, 7), (3, 1)]
    assert made.rows("quarantine", "line", "reason") == [(4, 'field n of tick: expected an integer, found "x"')]


def test_a_field_that_need_not_be_there_is_null(tmp_path: Path) -> None:
    what = event("tick", form([field("n", required=False), field("s", "text", required=False)], new="Tick"))
    made = read(tmp_path, [record(), record(n=1, s="a"), record(n="x")], (what,))
    assert made.rows("tick", "n", "s") == [(None, None), (1, "a")]
    assert made.rows("quarantine", "line") == [(3,)]


def test_the_first_path_with_a_value_is_taken(tmp_path: Path) -> None:
    what = event("tick", form([field("n", "integer", "a.b", "a", "c d.e/f.g~h")], new="Tick"))
    lines = [
        record(a={"b": 1}),
        record(a=2),
        record(a=None, **{"c d": {"e/f": {"g~h": 3}}}),
        record(a={"b": None}, **{"c d": {"e/f": {"g~h": 4}}}),
    ]
    made = read(tmp_path, lines, (what,))
    assert made.rows("tick", "seq", "n") == [(1, 1), (2, 2), (3, 3)]
    assert made.rows("quarantine", "reason") == [('field n of tick: expected an integer, found {"b": null}',)]


def test_texts_are_cut_and_numbers_moved(tmp_path: Path) -> None:
    fields = [
        field("short", "text", "s", transforms=[Transform("take", 3, "")]),
        field("front", "text", "s", transforms=[Transform("before", 0, "@")]),
        field("both", "text", "s", transforms=[Transform("before", 0, "@"), Transform("take", 2, "")]),
        field("less", "integer", "n", transforms=[Transform("plus", -1, "")]),
        field("kept", "integer", "gone", default="5", transforms=[Transform("plus", -1, "")]),
        field("more", "real", "r", transforms=[Transform("plus", 1, "")]),
    ]
    what = event("tick", form(fields, new="Tick"))
    made = read(tmp_path, [record(s="äbcd@7", n=0, r=0.5), record(s="xy", n=7, r=-1)], (what,))
    columns = [item.name for item in fields]
    assert made.rows("tick", *columns) == [("äbc", "äbcd", "äb", -1, 5, 1.5), ("xy", "xy", "xy", 6, 5, 0.0)]


def test_a_number_that_a_move_takes_out_of_its_type_is_quarantined(tmp_path: Path) -> None:
    what = event("tick", form([field("n", transforms=[Transform("plus", 1, "")])], new="Tick"))
    made = read(tmp_path, [record(n=2**63 - 2), record(n=2**63 - 1)], (what,))
    assert (made.rows("tick", "n"), made.rows("quarantine", "line")) == ([(2**63 - 1,)], [(2,)])


def test_a_number_that_a_move_takes_out_of_128_bits_is_quarantined(tmp_path: Path) -> None:
    what = event("tick", form([field("n", transforms=[Transform("plus", 1, "")])], new="Tick"))
    made = read(tmp_path, [record(n=2**127 - 1), record(n=1), record(n=str(2**127 - 1))], (what,))
    assert (made.rows("tick", "n"), made.rows("quarantine", "line")) == ([(2,)], [(1,), (3,)])


@pytest.mark.parametrize("kind", ["integer", "real", "text"])
@pytest.mark.parametrize("default", ["7", None])
def test_what_is_no_duration_is_not_taken_for_none(tmp_path: Path, kind: str, default: str | None) -> None:
    fields = [field("d", kind, default=default, required=False, transforms=[Transform("duration", 0, "")]), field("n")]
    what = event("tick", form(fields, new="Tick"))
    lines = [record(d="1us", n=1), record(d="soon", n=2), record(d=5, n=3), record(d="", n=4), record(n=5)]
    made = read(tmp_path, lines, (what,))
    of = {"integer": int, "real": float, "text": str}[kind]
    assert made.rows("tick", "n", "d") == [(1, of(1000)), (5, None if default is None else of(default))]
    assert made.rows("quarantine", "line", "reason") == [
        (line, f"field d of tick: expected a duration, such as 1m2.5s or 448.05ms, found {found}")
        for line, found in ((2, '"soon"'), (3, "5"), (4, '""'))
    ]


def test_forms_of_an_event_find_its_fields_in_their_own_way(tmp_path: Path) -> None:
    what = event(
        "adopted",
        form([field("id", "text", "tip"), field("size", required=False), fixed("own", "boolean", "false")], new="Peer"),
        form([field("id", "text", "hash"), field("size"), fixed("own", "boolean", "true")], new="Self"),
        form([field("id", "text"), fixed("size", "integer", None), fixed("own", "boolean", "true")], old="Older"),
    )
    lines = [
        record("Peer", tip="a"),
        record("Self", hash="b", size=7),
        record("Self", hash="c"),
        record("Older", id="d", size=9),
    ]
    made = read(tmp_path, lines, (what,))
    assert made.rows("adopted", "id", "size", "own") == [("a", None, False), ("b", 7, True), ("d", None, True)]
    assert made.rows("quarantine", "line", "reason") == [(3, "field size of adopted is missing")]


def test_only_wanted_fields_are_demanded_and_written(tmp_path: Path) -> None:
    what = event("tick", form([field("n"), field("m"), field("s", "text")], new="Tick"))
    made = read(tmp_path, [record(n=1), record(n=2, m="x")], (what,), wanted={"tick": frozenset({"n"})})
    assert made.rows("tick") == [("m-1", 1, 1770317536000000000, True, 1), ("m-1", 2, 1770317536000000000, True, 2)]
    assert made.rows("quarantine") == []


def test_numbers_of_many_digits_pass_beside_each_other(tmp_path: Path) -> None:
    names_ = [f"c{index}" for index in range(20)]
    what = event("tick", form([field(name, "unsigned") for name in names_], new="Tick"))
    values = {name: 2**64 - 1 - index * 10**15 for index, name in enumerate(names_)}
    made = read(tmp_path, [record(**values)], (what,))
    assert made.rows("tick", *names_) == [tuple(values.values())]


def test_the_manifest_of_the_folder_tells_what_it_holds(tmp_path: Path) -> None:
    made = read(tmp_path, [record("A", n=1)], ALL, wanted={"fresh": frozenset({"n"}), "aged": frozenset()})
    held = json.loads((made.folder / "ingest.json").read_text())
    assert {name: item["fields"] for name, item in held["events"].items()} == {"aged": [], "fresh": ["n"]}
    assert made.rows("aged") == []
