"""Ingest of text logs: lines told apart by patterns."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.ingest.discovery import find_run
from assay.ingest.manifest import covers
from assay.lang.model.package import Event, Form, Name, Quarantine, Source
from assay.util.diagnostics import AssayError
from tests.support.ingesting import SOURCE, Ingested, field, fixed, read, refusal

LINES = replace(
    SOURCE,
    name="lines",
    kind="text-lines",
    hosts="m-*",
    logs=("out*",),
    time=("at",),
    body=("message",),
    unwrap=(),
    lookups=(),
    quarantine=Quarantine(share=0.5, at_least=10),
    line="{level} {at} ] {message...}",
    zone="UTC",
)
T = 1662657756707000000
AT = "2022-09-08T17:22:36.707"


def form(fields: Sequence[Any], *patterns: str) -> Form:
    return Form(tuple(Name("log", pattern) for pattern in patterns), (), tuple(fields))


def event(name: str, *forms: Form) -> Event:
    return Event(name, LINES.name, forms, "")


TICK = event("tick", form([field("n")], "Tick {n}"))


def line(message: str, at: str = AT, level: str = "info ") -> str:
    return f"{level} {at} ] {message}"


def made(
    folder: Path,
    lines: Sequence[str] | bytes | Mapping[str, bytes],
    events: Sequence[Event] = (TICK,),
    source: Source = LINES,
    wanted: Mapping[str, frozenset[str]] | None = None,
) -> Ingested:
    if not isinstance(lines, (bytes, Mapping)):
        lines = "".join(f"{text}\n" for text in lines).encode()
    return read(folder, {"m-1/out": lines} if isinstance(lines, bytes) else lines, events, wanted, source)


def refused(folder: Path, lines: Any, **how: Any) -> str:
    with pytest.raises(AssayError) as error:
        made(folder, lines, **how)
    assert [path.name for path in folder.iterdir()] == ["run"]
    return refusal(error.value, folder)


# Lines


def test_lines_are_events_no_events_or_text(tmp_path: Path) -> None:
    found = made(tmp_path, ["a word of greeting", line("Tick 1"), line("Tock 2"), "  more of it", line("Tick -3"), ""])
    assert found.rows("tick") == [("m-1", 2, T, True, 1), ("m-1", 5, T, True, -3)]
    assert found.log() == {
        "host": "m-1", "lines": 6, "objects": 3, "recognised": 2, "quarantined": 0, "text_lines": 3,
        "first_ns": T, "last_ns": T, "first_recognised_ns": T,
    }  # fmt: skip
    assert (found.rows("counts"), found.rows("quarantine")) == ([("m-1", "tick", 2)], [])


BROKEN = {
    "Tick one": 'field n of tick: expected an integer, found "one"',
    "Tick 1 2": 'not the pattern of tick: expected the end of the line, found " 2"',
    "Tick": 'not the pattern of tick: expected "Tick ", found "Tick"',
    "Tick 99999999999999999999": 'field n of tick: expected an integer, found "99999999999999999999"',
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_line_that_begins_as_an_event_and_is_none_is_quarantined(tmp_path: Path, message: str) -> None:
    found = made(tmp_path, [line("Tick 1"), line(message), line("Tick 2")])
    assert found.broken() == [("m-1", "m-1/out", 2, BROKEN[message], line(message))]
    assert found.rows("tick", "seq", "n") == [(1, 1), (3, 2)]
    assert found.rows("counts", "n") == [(2,)]
    assert (found.log()["recognised"], found.log()["quarantined"]) == (2, 1)


LONG = event("long", form([field("n"), field("m", required=False)], "Made {n} of {}: {...} [{m}{?, k: {k}?}]"))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Made 1 off", 'not the pattern of long: expected " of ", found " off"'),
        ("Made 1 of it: x", 'not the pattern of long: expected " [", found the end of the line'),
        ("Made 1 of it: x [2, l: 3]", 'not the pattern of long: expected "]", found ", l: 3]"'),
    ],
)
def test_the_reason_tells_where_a_line_leaves_its_pattern(tmp_path: Path, message: str, reason: str) -> None:
    found = made(tmp_path, [line("Made 1 of it: a b [7]"), line(message)], [LONG])
    assert found.rows("quarantine", "line", "reason") == [(2, reason)]
    assert found.rows("long", "n", "m") == [(1, 7)]


@pytest.mark.parametrize("count", [10, 20, 40])
def test_a_pattern_may_have_any_number_of_places(tmp_path: Path, count: int) -> None:
    """Groups of the engine's expressions end at nine where they are asked for by number."""
    names = [f"n{index}" for index in range(count)]
    pairs = ", ".join(f"{name}: {{{name}}}" for name in names)
    wide = event("wide", form([field(name) for name in names], f"Wide {pairs}"))
    layout = " ".join(f"{{h{index}}}" for index in range(count)) + " {at} ] {message...}"
    late = event("late", form([field("n"), field("h", "text", f"h{count - 1}")], "Late {n}"))

    def written(*values: object) -> str:
        head = " ".join(f"head{index}" for index in range(count))
        said = ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
        return f"{head} {AT} ] Wide {said}"

    good = [*range(count)]
    lines = [written(*good), written(*good[:-1], "x"), f"{written(*good)} 7"]
    lines += [line.split(" Wide ")[0] + " " + text for line, text in zip(lines, ("Late 1", "Late x"), strict=False)]
    found = made(tmp_path, lines, [wide, late], replace(LINES, line=layout))
    assert found.rows("wide", "seq", *names) == [(1, *good)]
    assert found.rows("late", "seq", "n", "h") == [(4, 1, f"head{count - 1}")]
    assert found.rows("quarantine", "line", "reason") == [
        (2, f'field n{count - 1} of wide: expected an integer, found "x"'),
        (3, 'not the pattern of wide: expected the end of the line, found " 7"'),
        (5, 'field n of late: expected an integer, found "x"'),
    ]


def test_places_may_differ_by_their_case_alone(tmp_path: Path) -> None:
    two = event("two", form([field("n"), field("m", "integer", "N")], "Two {n} {N}"))
    found = made(tmp_path, [line("Two 1 2"), line("Two 3 x")], [two])
    assert found.rows("two", "n", "m") == [(1, 2)]
    assert found.rows("quarantine", "reason") == [('field m of two: expected an integer, found "x"',)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bad", 'expected ",", found the end of the line'),
        ("bad words", 'expected ",", found " words"'),
        (f"a,{AT};1", 'expected ",", found the end of the line'),
        (f"a,{AT}  x", 'expected ",", found "  x"'),
        (f"a,{AT},1 more", 'expected "; to ", found " more"'),
        (f"a,{AT},12;to b (c)", 'expected "; to ", found ";to b (c)"'),
        (f"a,{AT},1; to b and c", 'expected " (", found the end of the line'),
        (f"a,{AT},1; to b (c", 'expected ")", found the end of the line'),
        (f"a,{AT},1; to b (c) d", 'expected the end of the line, found " d"'),
    ],
)
def test_what_was_found_begins_where_a_word_ends_and_not_within_it(tmp_path: Path, text: str, reason: str) -> None:
    source = replace(LINES, line="", body=())
    sent = event("sent", form([field("id", "text")], "{id},{at},{n}; to {...} ({who})"))
    found = made(tmp_path, [f"a,{AT},1; to b (c)", text], [sent], source)
    assert found.rows("quarantine", "reason") == [(f"not the pattern of sent: {reason}",)]


def test_of_a_line_without_its_head_what_was_found_begins_behind_a_word(tmp_path: Path) -> None:
    source = replace(LINES, line="[{level}] {at} ] {message...}")
    found = made(tmp_path, [f"[info] {AT} ] Tick 1", f"[info {AT} ] Tick 2"], source=source)
    reason = f'no line of the log: expected "] ", found " {AT}..."'
    assert found.rows("quarantine", "reason") == [(reason,)]


def test_a_line_whose_head_is_torn_off_is_quarantined_when_it_holds_an_event(tmp_path: Path) -> None:
    found = made(tmp_path, [line("Tick 1"), "08T17:22:36.707 ] Tick 2", "Tock"])
    reason = 'no line of the log: expected " ] ", found " Tick 2"'
    assert found.rows("quarantine", "line", "reason", "text") == [(2, reason, "08T17:22:36.707 ] Tick 2")]


@pytest.mark.parametrize(
    "at",
    [
        "soon", "2022-02-30T17:22:36", "2022-09-08T17:22", "9999-12-31T00:00:00", "1662657756",
        "2022-09-08T17:22:36+16:00", "2022-09-08T17:22:36-02:60",
    ],
)  # fmt: skip
def test_an_event_without_an_instant_is_quarantined_and_other_lines_are_text(tmp_path: Path, at: str) -> None:
    found = made(tmp_path, [line("Tick 1"), line("Tick 2", at), line("Tock", at)])
    assert found.rows("quarantine", "line", "reason") == [(2, f'bad time: "{at}"')]
    assert (found.log()["objects"], found.log()["text_lines"]) == (2, 1)


@pytest.mark.parametrize(
    ("form_", "zone", "at", "t_ns"),
    [
        ("", "UTC", "2022-09-08T17:22:36.707", T),
        ("", "UTC", "2022-09-08T17:22:36", T - 707_000_000),
        ("", "UTC", "2022-09-08T17:22:36.707123456", T + 123456),
        ("", "UTC", "2022-09-08T17:22:36,7071234567", T + 123456),
        ("", "", "2022-09-08T17:22:36.707Z", T),
        ("", "", "2022-09-08T19:22:36.707+02:00", T),
        ("", "UTC", "2022-09-08T13:52:36.707-0330", T),
        ("", "UTC", "2022-09-09T09:21:36.707+15:59", T),
        ("", "+05:30", "2022-09-08T22:52:36.707", T),
        ("", "+05:30", "2022-09-08T17:22:36.707Z", T),
        ("s", "", "1662657756.707", T),
        ("s", "", "-1.5", -1_500_000_000),
        ("ms", "", "1662657756707", T),
        ("us", "", "1662657756707001", T + 1000),
        ("ns", "", "1662657756707000001", T + 1),
        ("%d/%b/%Y:%H:%M:%S.%g", "UTC", "08/Sep/2022:17:22:36.707", T),
        ("%Y%m%d_%H%M%S.%f", "-01:00", "20220908_162236.707123", T + 123_000),
        ("%Y%m%d_%H%M%S.%n", "UTC", "20220908_172236.707123456", T + 123_456),
    ],
)
def test_instants_are_written_as_the_source_says(tmp_path: Path, form_: str, zone: str, at: str, t_ns: int) -> None:
    source = replace(LINES, time_form=form_, zone=zone)
    assert made(tmp_path, [line("Tick 1", at)], source=source).rows("tick", "t_ns") == [(t_ns,)]


def test_a_time_without_a_zone_is_none_where_the_source_names_none(tmp_path: Path) -> None:
    found = made(tmp_path, [line("Tick 1", f"{AT}Z"), line("Tick 2")], source=replace(LINES, zone=""))
    assert found.rows("quarantine", "line", "reason") == [(2, f'bad time: "{AT}"')]


@pytest.mark.parametrize(
    ("form_", "at"),
    [
        ("s", "1662657756s"),
        ("ns", "99999999999999999999"),
        ("%Y%m%d", "20220230"),
        ("ms", AT),
        ("", f"{AT}+24:00"),
        ("", f"{AT}-0060"),
        ("", f"{AT}+99:99"),
    ],
)
def test_what_is_not_written_so_is_no_instant(tmp_path: Path, form_: str, at: str) -> None:
    source = replace(LINES, time_form=form_)
    good = {"s": "1", "ns": "1", "ms": "1", "%Y%m%d": "19700101", "": AT}[form_]
    found = made(tmp_path, [line("Tick 1", good), line("Tick 2", at)], source=source)
    assert found.rows("quarantine", "line", "reason") == [(2, f'bad time: "{at}"')]


def test_ties_keep_the_order_of_the_log(tmp_path: Path) -> None:
    late, early = line("Tick 2", "2022-09-08T17:22:37"), line("Tick 3", "2022-09-08T17:22:36")
    found = made(tmp_path, [line("Tick 1"), late, early, line("Tick 4")])
    assert found.rows("tick", "seq", "n") == [(1, 1), (2, 2), (3, 3), (4, 4)]


# Versions


def test_places_that_a_version_does_not_have_are_absent(tmp_path: Path) -> None:
    fields = [field("n"), field("m", required=False), field("k", "text", default="none"), field("level", "text")]
    mixed = event("mixed", form(fields, "Sum {n}{?, m: {m}, k: {k}?}"))
    found = made(tmp_path, [line("Sum 1"), line("Sum 2, m: 3, k: x", level="warn"), line("Sum 4, m: 5")], [mixed])
    assert found.rows("mixed", "seq", "n", "m", "k", "level") == [(1, 1, None, "none", "info"), (2, 2, 3, "x", "warn")]
    reason = 'not the pattern of mixed: expected the end of the line, found ", m: 5"'
    assert found.rows("quarantine", "line", "reason") == [(3, reason)]


def test_an_event_may_have_several_forms_and_patterns(tmp_path: Path) -> None:
    made_ = event(
        "made",
        form([field("n"), fixed("how", "text", "got")], "Got {n}", "Received {n} of {...}"),
        form([field("n"), fixed("how", "text", "made")], "Made {n}"),
    )
    found = made(tmp_path, [line("Received 1 of a kind"), line("Made 2"), line("Got 3"), line("Tick 4")], [made_, TICK])
    assert found.rows("made", "seq", "n", "how") == [(1, 1, "got"), (2, 2, "made"), (3, 3, "got")]
    assert found.rows("tick", "seq", "n") == [(4, 4)]
    assert found.rows("counts", "event", "n") == [("made", 3), ("tick", 1)]


def test_events_that_nobody_wants_are_counted_and_not_written(tmp_path: Path) -> None:
    tock = event("tock", form([field("n")], "Tock {n}"))
    found = made(tmp_path, [line("Tick 1"), line("Tock 2")], [TICK, tock], wanted={"tock": frozenset(("n",))})
    assert found.rows("counts", "event", "n") == [("tick", 1), ("tock", 1)]
    assert [path.name for path in (found.folder / "events").iterdir()] == ["tock"]
    assert covers(found.folder, LINES, [TICK, tock], {"tock": frozenset(("n",))})
    assert not covers(found.folder, LINES, [TICK, tock], {"tick": frozenset(("n",))})
    assert not covers(found.folder, replace(LINES, zone="+01:00"), [TICK, tock], {"tock": frozenset(("n",))})


def test_lines_may_be_nothing_but_their_body(tmp_path: Path) -> None:
    source = replace(LINES, line="", body=())
    sent = event("sent", form([field("id", "text"), field("n", required=False)], "{id},{at}{?,{n}?}"))
    found = made(tmp_path, [f"a,{AT},1", f"b,{AT}", "c", f"d,{AT},x"], [sent], source)
    assert found.rows("sent", "seq", "t_ns", "id", "n") == [(1, T, "a", 1), (2, T, "b", None)]
    assert found.rows("quarantine", "line", "reason") == [
        (3, 'not the pattern of sent: expected ",", found the end of the line'),
        (4, 'field n of sent: expected an integer, found "x"'),
    ]


@pytest.mark.parametrize("end", [b"", b"\n", b"  \t", b"\r\n", b"\0\0\0", b"\0\0\n", b"\r"])
def test_a_blank_line_is_no_event_whatever_a_pattern_begins_with(tmp_path: Path, end: bytes) -> None:
    source = replace(LINES, line="", body=())
    sent = event("sent", form([field("id", "text")], "{id},{at}"))
    found = made(tmp_path, f"a,{AT}\n\n \nb,{AT}\n".encode() + end, [sent], source)
    assert (found.rows("sent", "seq"), found.broken()) == ([(1,), (4,)], [])
    log = found.log()
    assert (log["lines"], log["text_lines"], log["quarantined"]) == (4 + bool(end), 2 + bool(end), 0)


# Files


@pytest.mark.parametrize("packed", [gzip.compress, zstandard.ZstdCompressor().compress, bytes])
def test_files_may_be_packed(tmp_path: Path, packed: Any) -> None:
    ending = {gzip.compress: ".gz", bytes: ""}.get(packed, ".zst")
    content = packed(f"{line('Tick 1')}\n".encode())
    assert made(tmp_path, {f"m-1/out{ending}": content}).rows("tick", "n") == [(1,)]


def test_rotated_files_are_read_oldest_first(tmp_path: Path) -> None:
    logs = {
        "m-1/out": f"torn\n{line('Tick 3', '2022-09-08T17:22:38')}\n".encode(),
        "m-1/out.1": f"{line('Tick 2', '2022-09-08T17:22:37')}\n".encode(),
        "m-1/out.2.gz": gzip.compress(f"{line('Tick 1')}\n{line('Tick 9')}\n".encode()),
        "m-2/out": f"{line('Tick 7')}\n".encode(),
    }
    found = made(tmp_path, logs)
    assert found.rows("tick", "host", "n") == [("m-1", 1), ("m-1", 9), ("m-1", 2), ("m-1", 3), ("m-2", 7)]
    assert [host.host for host in find_run(LINES, tmp_path / "run").hosts] == ["m-1", "m-2"]


def test_files_whose_lines_have_no_pattern_in_common_are_ordered_by_those_of_events(tmp_path: Path) -> None:
    bare = replace(LINES, line="", body=())
    took = event("took", form([field("n")], "{at} took {n}"))
    sent = event("sent", form([field("id", "text")], "sent {id}, {at...}"))
    logs = {
        "m-1/out": b"no event\n2022-09-08T17:22:38 took 3\n",
        "m-1/out.1": b"sent a, 2022-09-08 17:22:37\n",
        "m-1/out.2": b"2022-09-08T17:22:36 took 1\n2022-09-08T17:22:39 took 9\n",
    }
    for wanted in (None, {"took": frozenset({"n"})}):  # whichever events are asked for
        found = made(tmp_path / str(wanted is None), logs, [took, sent], bare, wanted)
        assert found.rows("took", "n") == [(1,), (9,), (3,)]  # by `seq`


@pytest.mark.parametrize(
    "text", [b"%s\r\n%s\r\n", b"%s\n%s", b"%s\r\n%s\n", b"\xff\xfe\n%s\n%s\n", b"a\rb\n%s\n%s\n", b"\n\n%s\n%s\n"]
)
def test_a_file_may_be_written_in_several_ways(tmp_path: Path, text: bytes) -> None:
    found = made(tmp_path, text % (line("Tick 1").encode(), line("Tick 2").encode()))
    start = text[: text.index(b"%s")].count(b"\n")
    assert found.rows("tick", "seq", "n") == [(start + 1, 1), (start + 2, 2)]


# What cannot be read


def test_a_file_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    content = gzip.compress(f"{line('Tick 1')}\n".encode() * 100)[:-9]
    assert refused(tmp_path, {"m-1/out.gz": content}) == (
        "error[broken-file]: the log file cannot be read to its end: DIR/run/m-1/out.gz\n"
        "  found:    it ends before its content does\n"
        "  hint: is it cut off, or still being written?"
    )


def test_a_log_without_any_line_of_an_event_is_an_error(tmp_path: Path) -> None:
    assert refused(tmp_path, ["a", line("Tock 1"), "b"]) == (
        "error[nothing-recognised]: none of the 3 log lines of 1 host is an event that the specs know\n"
        "  note: source `lines` finds in m-1/out:2: info  2022-09-08T17:22:36.707 ] Tock 1, which is read as "
        "{level} {at} ] {message...}\n"
        "  hint: are these logs of this system? `assay list events` tells the names that are known"
    )


def test_a_run_without_logs_is_an_error(tmp_path: Path) -> None:
    assert refused(tmp_path, {"m-1/other": b"x"}) == (
        "error[no-logs]: host m-1 has no log file: DIR/run/m-1\n"
        "  expected: out* (also with .gz or .zst)\n"
        "  found:    other"
    )


def test_more_broken_lines_than_are_borne_are_an_error(tmp_path: Path) -> None:
    source = replace(LINES, quarantine=Quarantine(share=0.0, at_least=2))
    lines = [line("Tick 0"), *(line(f"Tick {n} {n}") for n in range(4))]
    assert refused(tmp_path, lines, source=source) == (
        "error[too-many-broken-lines]: 4 of the 5 log lines of host m-1 are broken\n"
        "  expected: at most 2\n"
        "  found:    4\n"
        '  note: m-1/out:2, byte 39: not the pattern of tick: expected the end of the line, found " 0"\n'
        '  note: m-1/out:3, byte 80: not the pattern of tick: expected the end of the line, found " 1"\n'
        '  note: m-1/out:4, byte 121: not the pattern of tick: expected the end of the line, found " 2"\n'
        "  hint: the limit stands in the source's definition (`quarantine`)"
    )


# Against plain Python


MESSAGES = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(lambda n: ("tick", n, f"Tick {n}")),
    st.sampled_from(["Tick", "Tick x", "Tick 1 1", "Tick  "]).map(lambda text: ("broken", None, text)),
    st.sampled_from(["Tock 1", "tick 1", "x Tick 1", "-"]).map(lambda text: ("other", None, text)),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.one_of(MESSAGES, st.just(("text", None, ""))), min_size=1, max_size=12))
def test_every_line_is_one_thing(tmp_path_factory: pytest.TempPathFactory, items: list[tuple[str, Any, str]]) -> None:
    lines = [line("Tick 0"), *(line(text) if kind != "text" else "a ] b" for kind, _, text in items)]
    found = made(tmp_path_factory.mktemp("lines"), lines, source=replace(LINES, quarantine=Quarantine(1.0, 10)))
    ticks = [(seq, n) for seq, (kind, n, _) in enumerate(items, start=2) if kind == "tick"]
    assert found.rows("tick", "seq", "n") == [(1, 0), *ticks]
    numbers = [kind for kind, _, _ in items]
    log = found.log()
    assert log["lines"] == len(lines)
    assert log["quarantined"] == numbers.count("broken")
    assert log["text_lines"] == numbers.count("text")
    assert log["recognised"] == 1 + numbers.count("tick")
    assert [number for (number,) in found.rows("quarantine", "line")] == [
        seq for seq, (kind, _, _) in enumerate(items, start=2) if kind == "broken"
    ]


def test_an_event_that_is_too_long_is_broken_and_other_lines_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("plain_copies", "readers.lines", "quarantine"):
        monkeypatch.setattr(f"assay.ingest.{module}.LONGEST", 2**16)
    rest = event("tick", form([field("n"), field("rest", "text", required=False)], "Tick {n} {rest...}", "Tick {n}"))
    long = [line("Tick 2 " + "x" * 2**16), line("other " + "x" * 2**17), "x" * 2**16]
    found = made(tmp_path, [line("Tick 1"), *long, line("Tick 3")], (rest,))
    assert found.rows("tick", "seq", "n") == [(1, 1), (5, 3)]
    assert [row[1:4] for row in found.broken()] == [("m-1/out", 2, "longer than 8 MiB")]
    assert (found.log()["lines"], found.log()["quarantined"]) == (5, 1)


def test_a_giant_last_line_of_a_text_is_not_lost(tmp_path: Path) -> None:
    """The engine would drop it without a word."""
    content = f"{line('Tick 5')}\n{line('Tick 6 ')}".encode() + b"x" * 200_000_000
    bears = replace(LINES, quarantine=replace(LINES.quarantine, share=1.0))
    log = read(tmp_path, {"m-1/out": content}, (TICK,), None, bears).log()
    assert (log["lines"], log["recognised"], log["quarantined"]) == (2, 1, 1)
