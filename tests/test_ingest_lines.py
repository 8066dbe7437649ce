"""Lines of logs: what is an object, what is text, what is broken, and that nothing is lost silently."""

from __future__ import annotations

import glob
import gzip
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
import zstandard

from assay.ingest import workspace_dir as folder
from assay.lang.model.package import Quarantine
from assay.lang.reserved_names import EVENTS
from assay.lang.scopes import LOG_COLUMNS
from assay.util.diagnostics import AssayError
from tests.support.ingesting import SOURCE, TICK, read, record, refusal

GOOD = record(n=1)


def ns(text: str) -> list[tuple[int | None]]:
    return [(int(text),)]


@pytest.mark.parametrize(
    ("at", "instant"),
    [
        ("2024-10-19T10:16:27Z", 1729332987000000000),
        ("2024-10-19T10:16:27.4Z", 1729332987400000000),
        ("2024-10-19T10:16:27.0268422Z", 1729332987026842200),
        ("2024-10-19T10:16:27.459112022Z", 1729332987459112022),
        ("2024-10-19T10:16:27.459112022987Z", 1729332987459112022),
        ("2024-10-19T10:16:27.999999999999Z", 1729332987999999999),
        ("2024-02-29T23:59:59.000000001Z", 1709251199000000001),
        ("1969-12-31T23:59:59.5Z", -500000000),
    ],
)
def test_an_instant_is_exact_to_the_nanosecond_and_cut_beyond(tmp_path: Path, at: str, instant: int) -> None:
    assert read(tmp_path, [record(ts=at, n=1)]).rows("tick", "t_ns") == [(instant,)]


@pytest.mark.parametrize(
    ("ts", "reason"),
    [
        (None, "no time"),
        ("", 'bad time: ""'),
        ("yesterday", 'bad time: "yesterday"'),
        ("2024-10-19", 'bad time: "2024-10-19"'),
        ("2024-10-19T10:16:27", 'bad time: "2024-10-19T10:16:27"'),
        ("2024-10-19T10:16:27+16:00", 'bad time: "2024-10-19T10:16:27+16:00"'),
        ("2024-13-19T10:16:27Z", 'bad time: "2024-13-19T10:16:27Z"'),
        ("2024-02-30T10:16:27Z", 'bad time: "2024-02-30T10:16:27Z"'),
        ("9999-01-01T00:00:00Z", 'bad time: "9999-01-01T00:00:00Z"'),
        (1729332987, "bad time: 1729332987"),
        (["2024-10-19T10:16:27Z"], 'bad time: ["2024-10-19T10:16:27Z"]'),
    ],
)
def test_an_object_without_a_time_is_quarantined(tmp_path: Path, ts: object, reason: str) -> None:
    bad = record(ts=ts, n=2)
    made = read(tmp_path, [GOOD, bad])
    assert made.broken() == [("m-1", "m-1/out", 2, reason, bad)]
    assert made.rows("tick", "n") == [(1,)]


def test_an_object_without_the_key_of_the_time_is_quarantined(tmp_path: Path) -> None:
    made = read(tmp_path, [GOOD, '{"what":"Tick","body":{"n":2}}'])
    assert made.rows("quarantine", "line", "reason") == [(2, "no time")]


@pytest.mark.parametrize(
    "line",
    [
        '{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":2}',
        '{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":2}}}',
        '{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":2}} and more',
        '{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":2}}{"ts":"2026-02-05T18:52:16Z"}',
        '{"ts":"2026-02-05T18:52:16Z",{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":2}}}',
        '{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":2,"text":"\x00"}}',
        "{",
        "{}}",
        "{starting}",
    ],
)
def test_a_line_that_begins_like_an_object_and_is_none_is_quarantined(tmp_path: Path, line: str) -> None:
    made = read(tmp_path, [GOOD, line, record(n=3)])
    assert made.broken() == [("m-1", "m-1/out", 2, "not JSON", line)]
    assert made.rows("tick", "n") == [(1,), (3,)]
    assert made.log() | {"first_ns": 0, "last_ns": 0, "first_recognised_ns": 0} == {
        "host": "m-1",
        "lines": 3,
        "objects": 2,
        "recognised": 2,
        "quarantined": 1,
        "text_lines": 0,
        "first_ns": 0,
        "last_ns": 0,
        "first_recognised_ns": 0,
    }


def test_events_have_beside_their_fields_what_no_field_can_be_called(tmp_path: Path) -> None:
    (file,) = (read(tmp_path, [GOOD]).folder / "events" / "tick").glob("*.parquet")
    with duckdb.connect() as connection:
        columns = [item[0] for item in connection.read_parquet(glob.escape(str(file))).description]
    assert columns[-1] == "n"
    assert set(columns[:-1]) <= EVENTS


def test_the_table_of_logs_has_just_the_columns_that_specs_are_checked_by(tmp_path: Path) -> None:
    assert {"source", *read(tmp_path, [GOOD]).log()} == set(LOG_COLUMNS)


@pytest.mark.parametrize("line", ["", "starting", "[1]", '"{}"', "\x00", "\ufffd", "NULL", "a\tb"])
def test_a_line_that_does_not_begin_like_an_object_is_text_and_no_error(tmp_path: Path, line: str) -> None:
    made = read(tmp_path, [line, GOOD, line])
    assert (made.log()["lines"], made.log()["text_lines"], made.log()["quarantined"]) == (3, 2, 0)
    assert made.rows("tick", "seq", "n") == [(2, 1)]


def test_an_object_of_another_name_is_counted_and_dropped(tmp_path: Path) -> None:
    made = read(tmp_path, [record("Noise", "2026-02-05T18:52:15Z"), GOOD, record("Noise", "2026-02-05T18:52:17Z")])
    log = made.log()
    assert (log["objects"], log["recognised"], log["quarantined"]) == (3, 1, 0)
    start = 1770317536_000000000
    second = 1_000_000_000
    assert (log["first_ns"], log["first_recognised_ns"], log["last_ns"]) == (start - second, start, start + second)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_may_end_in_a_line_feed_or_both_and_the_last_in_nothing(tmp_path: Path, end: bytes, last: bool) -> None:
    content = end.join([b"text", record(n=1).encode(), b"", record(n=2).encode()]) + (end if last else b"")
    made = read(tmp_path, content)
    assert made.rows("tick", "seq", "n") == [(2, 1), (4, 2)]
    assert made.log()["lines"] == 4


def test_a_file_that_mixes_line_ends_keeps_its_lines(tmp_path: Path) -> None:
    lines = [b"10 %\r50 %\r100 %\n", record(n=1).encode() + b"\r\n", b"{\r}\n", record(n=2).encode() + b"\n"]
    made = read(tmp_path, b"".join(lines))
    assert made.rows("tick", "seq", "n") == [(2, 1), (4, 2)]
    assert made.rows("quarantine", "line", "reason") == [(3, "no time")]


@pytest.mark.parametrize(
    ("first", "bad"),
    [
        pytest.param(b"a\n", b" \r\n", id="a line of blanks with another end"),
        pytest.param(b"a\n", b" \ra\n", id="a blank at the beginning of a line"),
        pytest.param(b"a\r\n", b"10 %\r 20 %\r\n", id="a blank behind"),
        pytest.param(b"a\r\n", b"\r a\r\n", id="at the beginning of a line"),
        pytest.param(b"a\r\n", b"{\r }\r\n", id="in an object"),
    ],
)
def test_a_carriage_return_beside_a_blank_ends_no_line(tmp_path: Path, first: bytes, bad: bytes) -> None:
    """The scan would make two lines of that one."""
    end = first[1:]
    made = read(tmp_path, first + bad + record(n=1).encode() + end + b"{" + end)
    assert made.rows("tick", "seq", "n") == [(3, 1)]
    assert made.log()["lines"] == 4
    assert made.broken()[-1] == ("m-1", "m-1/out", 4, "not JSON", "{")


def test_bytes_that_are_no_utf8_make_an_object_broken_and_a_text_no_error(tmp_path: Path) -> None:
    good, bad = record(n=1).encode(), record(n=2, name="X").encode().replace(b"X", b"\xff\xfe")
    made = read(tmp_path, b"\xffstart\n" + good + b"\n" + bad + b"\n" + record(n=3, name="häß").encode() + b"\n")
    assert made.rows("tick", "seq", "n") == [(2, 1), (4, 3)]
    assert made.rows("quarantine", "line", "reason", "text") == [(3, "not JSON", bad.decode(errors="replace"))]


def test_a_character_that_ought_not_to_be_does_not_cut_a_line(tmp_path: Path) -> None:
    made = read(tmp_path, [f"text {chr(0x10FFFF)} {GOOD}", GOOD, f'{GOOD}{chr(0x10FFFF)}"'])
    assert made.rows("tick", "seq") == [(2,)]
    assert made.rows("quarantine", "line", "reason") == [(3, "not JSON")]


def test_a_line_of_megabytes_is_read(tmp_path: Path) -> None:
    long = record(n=1, text="x" * 5_000_000)
    made = read(tmp_path, [record(n=0), long, "x" * 3_000_000, record(n=2)])
    assert made.rows("tick", "seq", "n") == [(1, 0), (2, 1), (4, 2)]


def test_the_text_of_a_quarantined_line_is_cut(tmp_path: Path) -> None:
    made = read(tmp_path, [GOOD, "{" + "x" * 3000])
    assert [len(text) for (text,) in made.rows("quarantine", "text")] == [2000]


def packed(name: str, content: bytes) -> bytes:
    if name.endswith(".gz"):
        return gzip.compress(content)
    return zstandard.ZstdCompressor().compress(content) if name.endswith(".zst") else content


@pytest.mark.parametrize("name", ["out", "out.gz", "out.zst", "out-1.gz", "m-7.json", "m-7.json.gz", "m-7.json.zst"])
def test_logs_are_plain_or_packed(tmp_path: Path, name: str) -> None:
    made = read(tmp_path, {f"m-1/{name}": packed(name, f"text\n{GOOD}\n".encode())})
    assert made.rows("tick", "host", "seq", "n") == [("m-1", 2, 1)]


@pytest.mark.parametrize("name", ["out.gz", "out.zst"])
def test_a_packed_file_of_several_parts_is_read_to_its_end(tmp_path: Path, name: str) -> None:
    parts = [packed(name, f"{record(n=n)}\n".encode()) for n in range(3)]
    assert read(tmp_path, {f"m-1/{name}": b"".join(parts)}).rows("tick", "seq", "n") == [(1, 0), (2, 1), (3, 2)]


def test_zeros_after_the_end_of_a_packed_file_are_no_error(tmp_path: Path) -> None:
    content = packed("out.gz", f"{GOOD}\n".encode()) + bytes(512)
    assert read(tmp_path, {"m-1/out.gz": content}).rows("tick", "n") == [(1,)]


@pytest.mark.parametrize("name", ["out.gz", "out.zst"])
@pytest.mark.parametrize("left", [0.02, 0.5, 0.99])
def test_a_packed_file_that_is_cut_off_is_an_error_that_names_it(tmp_path: Path, name: str, left: float) -> None:
    content = packed(name, "".join(f"{record(n=n)}\n" for n in range(5000)).encode())
    with pytest.raises(AssayError) as error:
        read(tmp_path, {f"m-1/{name}": content[: int(len(content) * left)]})
    assert refusal(error.value, tmp_path) == (
        f"error[broken-file]: the log file cannot be read to its end: DIR/run/m-1/{name}\n"
        "  found:    it ends before its content does\n"
        "  hint: is it cut off, or still being written?"
    )


@pytest.mark.parametrize(("window", "told"), [(27, ""), (28, "Frame requires too much memory for decoding")])
def test_a_file_that_was_packed_with_too_wide_a_window_is_told_as_that(tmp_path: Path, window: int, told: str) -> None:
    width = zstandard.ZstdCompressionParameters.from_level(1, window_log=window)
    packer = zstandard.ZstdCompressor(compression_params=width).compressobj()
    content = packer.compress(f"{record(n=1)}\n".encode()) + packer.flush()
    if not told:
        assert read(tmp_path, {"m-1/out.zst": content}).rows("tick", "n") == [(1,)]
        return
    with pytest.raises(AssayError) as error:
        read(tmp_path, {"m-1/out.zst": content})
    assert refusal(error.value, tmp_path) == (
        "error[broken-file]: the log file cannot be read to its end: DIR/run/m-1/out.zst\n"
        f"  found:    zstd decompressor error: {told}\n"
        "  hint: it was packed with a window of more than 128 MiB (`zstd --long`): pack it again without"
    )


@pytest.mark.parametrize("place", [-6, 300])
def test_a_packed_file_with_a_wrong_byte_is_an_error(tmp_path: Path, place: int) -> None:
    content = bytearray(packed("out.gz", "".join(f"{record(n=n)}\n" for n in range(500)).encode()))
    content[place] ^= 0xFF
    with pytest.raises(AssayError, match="broken-file"):
        read(tmp_path, {"m-1/out.gz": bytes(content)})


def test_names_of_directories_and_files_are_no_patterns(tmp_path: Path) -> None:
    folder = tmp_path / "runs [10.5] *?"
    made = read(folder, {"m-[1]/out*": GOOD.encode(), "m-1/out": record(n=2).encode()})
    assert made.rows("tick", "host", "n") == [("m-1", 2), ("m-[1]", 1)]


def test_places_in_rotated_files_follow_the_first_instants(tmp_path: Path) -> None:
    files = {
        "m-1/out": [record("Noise", "2026-02-05T18:54:00Z"), record(n=5)],
        "m-1/out-a.gz": ["text", record(ts="2026-02-05T18:53:00Z", n=3), record(n=4)],
        "m-1/out-b": [record(ts="2026-02-05T18:52:00Z", n=1), record(ts="2026-02-05T18:59:00Z", n=2)],
    }
    content = {name: packed(name, "\n".join(lines).encode()) for name, lines in files.items()}
    step = 2**40
    places = [(1, 1), (2, 2), (step + 2, 3), (step + 3, 4), (2 * step + 2, 5)]
    assert read(tmp_path, content).rows("tick", "seq", "n") == places


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_the_number_of_workers_changes_no_row(tmp_path: Path, workers: int) -> None:
    files = {
        f"m-{host}/out{part}": "".join(
            f"{record(ts=f'2026-02-05T18:{part:02}:00Z', n=host * part * line)}\n" for line in range(7 * host)
        ).encode()
        for host in range(1, 6)
        for part in range(3)
    }
    made = read(tmp_path, files, workers=workers)
    expected = [
        (f"m-{host}", part * 2**40 + line + 1, host * part * line)
        for host in range(1, 6)
        for part in range(3)
        for line in range(7 * host)
    ]
    assert made.rows("tick", "host", "seq", "n") == expected
    assert made.rows("counts") == [(f"m-{host}", "tick", 21 * host) for host in range(1, 6)]


def test_an_engine_is_left_idle_that_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also lines that the engine reads are gone from it; one of a run that is refused is not left."""
    monkeypatch.setattr(folder, "_idle", [])
    broken = ["{"] * 12
    with pytest.raises(AssayError):
        read(tmp_path, [record(n=1), *broken])
    assert folder.idle_engine() is None
    read(tmp_path, [*(record(n=n) for n in range(2000)), *broken])
    idle = folder.idle_engine()
    assert idle is not None
    assert idle.execute("SHOW ALL TABLES").fetchall() == []


def test_more_broken_lines_than_the_source_bears_are_an_error_that_tells_the_first(tmp_path: Path) -> None:
    lines = [record(n=n) for n in range(9)] + ["{"] * 3 + [record(n="x")] * 8
    with pytest.raises(AssayError) as error:
        read(tmp_path, lines)
    assert refusal(error.value, tmp_path) == (
        "error[too-many-broken-lines]: 11 of the 20 log lines of host m-1 are broken\n"
        "  expected: at most 10\n"
        "  found:    11\n"
        f"  note: m-1/out:10, byte {9 * len(GOOD) + 9}: not JSON\n"
        f"  note: m-1/out:11, byte {9 * len(GOOD) + 11}: not JSON\n"
        f"  note: m-1/out:12, byte {9 * len(GOOD) + 13}: not JSON\n"
        "  hint: the limit stands in the source's definition (`quarantine`)"
    )
    assert list((tmp_path).iterdir()) == [tmp_path / "run"]


def test_as_many_broken_lines_as_the_source_bears_are_borne(tmp_path: Path) -> None:
    made = read(tmp_path, [record(n=n) for n in range(30)] + ["{"] * 30)
    assert (made.log()["quarantined"], len(made.rows("tick"))) == (30, 30)


def test_logs_without_any_event_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(AssayError) as error:
        read(tmp_path, ["text", record("Noise")])
    assert refusal(error.value, tmp_path) == (
        "error[nothing-recognised]: none of the 2 log lines of 1 host is an event that the specs know\n"
        "  note: source `machines` finds as names at what of m-1/out: `Noise`\n"
        "  note: source `machines` finds as names at body.type of m-1/out: no text\n"
        "  hint: are these logs of this system? `assay list events` tells the names that are known"
    )


def test_events_that_are_all_broken_are_told_with_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(AssayError) as error:
        read(tmp_path, [record(ts="2024-13-19T10:16:27Z", n=1), record(n="x")])
    assert refusal(error.value, tmp_path) == (
        "error[nothing-recognised]: none of the 2 log lines of 1 host is an event that the specs know\n"
        '  note: m-1/out:1, byte 0: bad time: "2024-13-19T10:16:27Z"\n'
        '  note: m-1/out:2, byte 59: field n of tick: expected an integer, found "x"\n'
        "  note: the time, `ts`, of a record of source `machines` is read as ISO 8601 with its zone, such as "
        "2026-02-05T18:52:16.5Z\n"
        "  hint: are these logs of this system? `assay list events` tells the names that are known"
    )


def test_a_host_whose_files_are_all_empty_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AssayError) as error:
        read(tmp_path, {"m-1/out": GOOD.encode(), "m-2/out": b"", "m-2/out-1": b""})
    assert refusal(error.value, tmp_path) == "error[no-logs]: the log files of host m-2 are empty: DIR/run/m-2"


def test_an_empty_file_beside_another_is_passed_over(tmp_path: Path) -> None:
    made = read(tmp_path, {"m-1/out": b"", "m-1/out-1": GOOD.encode()})
    assert made.rows("tick", "seq") == [(1,)]


def test_a_failure_leaves_what_was_there_before(tmp_path: Path) -> None:
    made = read(tmp_path, [GOOD])
    with pytest.raises(AssayError):
        read(tmp_path, ["text"])
    assert made.rows("tick", "n") == [(1,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "run"]


def test_events_that_are_not_wanted_are_counted_and_not_written(tmp_path: Path) -> None:
    made = read(tmp_path, [GOOD, record(n="x")], wanted={"tick": frozenset()})
    assert made.rows("tick") == [("m-1", 1, 1770317536000000000, True), ("m-1", 2, 1770317536000000000, True)]
    other = read(tmp_path, [GOOD, record(n="x")], wanted={})
    assert (other.rows("counts"), (other.folder / "events").exists()) == ([("m-1", "tick", 2)], False)


def test_progress_ends_with_all_bytes(tmp_path: Path) -> None:
    from assay.ingest.discovery import find_run
    from assay.ingest.pipeline import ingest
    from tests.support.ingesting import SOURCE

    read(tmp_path, {f"m-{host}/out": f"{GOOD}\n".encode() for host in range(3)})
    files = find_run(SOURCE, tmp_path / "run")
    told: list[tuple[int, int]] = []
    wanted = {"tick": frozenset({"n"})}
    ingest(SOURCE, (TICK,), wanted, files, tmp_path / "again", progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (files.size, files.size)


@pytest.mark.parametrize("share", [0.07, 0.29, 0.57])
def test_a_share_of_broken_lines_is_exact(tmp_path: Path, share: float) -> None:
    source = replace(SOURCE, quarantine=Quarantine(share=share, at_least=1))
    broken = round(100 * share)
    made = read(tmp_path / "a", [GOOD] * (100 - broken) + [record(n="x")] * broken, source=source)
    assert made.log()["quarantined"] == broken
    with pytest.raises(AssayError):
        read(tmp_path / "b", [GOOD] * (99 - broken) + [record(n="x")] * (broken + 1), source=source)


def test_hosts_may_be_called_anything(tmp_path: Path) -> None:
    """Their names are values of a type, which statements spell out."""
    hosts = ["m-'", "m-''", 'm-"', "m-$host", "m-ä", "m- ", "m-;", "m-1"]
    made = read(tmp_path, {f"{host}/out": f"{record(n=number)}\n".encode() for number, host in enumerate(hosts)})
    assert sorted(made.rows("tick", "host", "n")) == sorted((host, number) for number, host in enumerate(hosts))
