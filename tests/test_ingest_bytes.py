"""Bytes that no log should hold: what becomes of each, and that every broken line is told with its place."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from assay.ingest import decompress, plain_copies
from assay.ingest.manifest import read_notes
from assay.util.diagnostics import AssayError
from tests.support.ingesting import TICK, event, field, form, read, record, refusal
from tests.support.laboratory import ROOT

GOOD = record(n=1)
S = 1_000_000_000
MIB = 2**20
LABEL = event("tick", form([field("n"), field("label", "text", required=False)], new="Tick"))
NAMED = event("tick", form([field("n", "text")], new="Tick"))
REAL = event("tick", form([field("n", "real")], new="Tick"))

HEAD = '{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":'


def test_a_place_is_that_of_the_first_byte_in_the_uncompressed_content(tmp_path: Path) -> None:
    lines = ["häß", GOOD, "{broken", GOOD, '{"what":"Tick"}', record(n="x")]
    content = "\r\n".join(lines).encode()
    made = read(tmp_path, {"m-1/out": content, "m-2/out.gz": gzip.compress(content)})
    places = [content.index(line.encode()) for line in (lines[2], lines[4], lines[5])]
    told = [(3, places[0]), (5, places[1]), (6, places[2])]
    assert made.rows("quarantine", "host", "line", "offset") == [(f"m-{n}", *place) for n in (1, 2) for place in told]


@pytest.mark.parametrize("first", [GOOD, record(n="x"), "text"])
def test_a_mark_of_the_byte_order_is_no_part_of_the_first_line(tmp_path: Path, first: str) -> None:
    made = read(tmp_path, f"\ufeff{first}\n{GOOD}\n\ufeff{GOOD}\n".encode())
    good = [(1, 1)] if first == GOOD else []
    assert made.rows("tick", "seq", "n") == [*good, (2, 1)]
    wrong = [("m-1", "m-1/out", 1, 'field n of tick: expected an integer, found "x"', first)]
    assert made.broken() == (wrong if first == record(n="x") else [])
    assert made.log()["text_lines"] == (2 if first == "text" else 1), "a mark within a file is text"


def test_a_mark_of_the_byte_order_does_not_change_the_order_of_files(tmp_path: Path) -> None:
    later, earlier = record(ts="2026-02-05T18:53:00Z", n=2), record(ts="2026-02-05T18:52:00Z", n=1)
    made = read(tmp_path, {"m-1/out": later.encode(), "m-1/out-1": f"\ufeff{earlier}\n".encode()})
    assert made.rows("tick", "n") == [(1,), (2,)]


BYTES = [b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x1a"]


@pytest.mark.parametrize(
    ("where", "byte"),
    [
        *((where, byte) for where in ("in a text", "between", "at the end") for byte in BYTES),
        *(("before", byte) for byte in BYTES[1:]),  # NUL bytes ahead of a line are no part of it
    ],
)
def test_a_byte_that_no_json_holds_breaks_its_line_only(tmp_path: Path, byte: bytes, where: str) -> None:
    line = record(n=2, text="ab").encode()
    at = {"in a text": line.index(b"ab") + 1, "between": line.index(b',"what'), "at the end": len(line), "before": 0}
    bad = line[: at[where]] + byte + line[at[where] :]
    made = read(tmp_path, b"\n".join([GOOD.encode(), bad, GOOD.encode(), record(n="x").encode()]))
    assert made.rows("tick", "seq") == [(1,), (3,)]
    text, wrong = where == "before", (4, 2 * len(GOOD) + len(bad) + 3)
    torn = [] if text else [(2, len(GOOD) + 1)]
    assert made.rows("quarantine", "line", "offset") == [*torn, wrong]
    assert (made.log()["lines"], made.log()["text_lines"]) == (4, int(text))


PADDED = "a log was cut in place while it was written, or a machine went down; what stood there is lost."


@pytest.mark.parametrize("size", [1, 100, 9 * MIB])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_nul_bytes_ahead_of_a_line_are_no_part_of_it_and_are_told(tmp_path: Path, size: int, end: str) -> None:
    """`copytruncate` leaves as many as the log was long; the line behind them was taken for text, and none was told."""
    lines = [GOOD, record(n=2), record(n="x"), GOOD]
    nuls = "\0" * size
    made = read(tmp_path, end.join([nuls + lines[0], lines[1], nuls + lines[2], lines[3], nuls, ""]).encode())
    assert made.rows("tick", "seq", "n") == [(1, 1), (2, 2), (4, 1)]
    place = 2 * size + len(lines[0] + lines[1]) + 2 * len(end)
    reason = 'field n of tick: expected an integer, found "x"'
    assert made.rows("quarantine", "line", "offset", "reason", "text") == [(3, place, reason, lines[2])]
    log = made.log()
    assert (log["lines"], log["recognised"], log["quarantined"], log["text_lines"]) == (5, 3, 1, 1)
    assert read_notes(made.folder) == (
        f"3 log lines have NUL bytes ahead of them, which are passed over (the first is m-1/out:1): {PADDED}",
    )


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("size", [1, 4999, 5000, 5001, 70_000])
def test_nul_bytes_ahead_are_passed_over_in_a_file_that_is_mended(tmp_path: Path, size: int) -> None:
    text = b"\0" * size + f"{GOOD}\n\0\n".encode() + b"\xff\n" + b"\0" * size + f"{record(n=2)}\n".encode()
    made = read(tmp_path, {"m-1/out1": f"{GOOD}\n".encode(), "m-1/out2": text.replace(b":16Z", b":17Z")})
    assert [n for (n,) in made.rows("tick", "n")] == [1, 1, 2]
    assert (made.log()["lines"], made.log()["text_lines"], made.rows("quarantine")) == (5, 2, [])
    (said,) = read_notes(made.folder)
    assert said.startswith(
        "3 log lines have NUL bytes ahead of them, which are passed over (the first is m-1/out2:1): "
    )


@pytest.mark.parametrize("end", [b"", b"\xff\n"])
def test_nul_bytes_behind_a_mark_of_the_byte_order_are_passed_over(tmp_path: Path, end: bytes) -> None:
    mark = "\ufeff\0\0".encode()
    files = {"m-1/out1": mark + f"{record()}\n{record(n=2)}\n".encode() + end, "m-1/out2": f"{GOOD}\n".encode()}
    later = {"m-1/out1": files["m-1/out1"].replace(b":16Z", b":17Z"), "m-1/out2": files["m-1/out2"]}
    made = read(tmp_path, later)
    assert [n for (n,) in made.rows("tick", "n")] == [1, 2]
    text = record().replace(":16Z", ":17Z")
    assert made.rows("quarantine", "file", "line", "offset", "reason", "text") == [
        ("m-1/out1", 1, len(mark), "field n of tick is missing", text)
    ]


def test_a_log_without_nul_bytes_ahead_of_a_line_is_told_of_nothing(tmp_path: Path) -> None:
    made = read(tmp_path, f"{GOOD}\nte\0xt\n{GOOD}\0\n".encode())
    assert (read_notes(made.folder), made.rows("quarantine", "line")) == ((), [(3,)])


def test_files_are_read_in_the_order_of_the_instants_that_their_first_objects_have(tmp_path: Path) -> None:
    """As texts these would sort otherwise: a blank before T, a digit before Z, a key that stands twice, no time."""
    first = ["2026-02-05T18:00:00Z", "2026-02-05 18:00:01Z", "2026-02-05T18:00:01.5Z", "2026-02-05 18:00:02.25Z",
             "2026-2-05T18:00:03.0Z", "2026-02-05T24:00:00Z", "2026-02-06T00:00:01Z"]  # fmt: skip
    files = {f"m-1/out-{9 - n}": f"{record(ts=at, n=n)}\n".encode() for n, at in enumerate(first)}
    twice = record(ts="2026-02-06T00:00:02Z", n=7).replace('"what"', '"ts":"2026-02-01T00:00:00Z","what"')
    files["m-1/out-2"] = f"{{\n{record(ts='2026-02-01T00:00:00', n=0)}\n{twice}\n".encode()
    made = read(tmp_path, files)
    assert [n for (n,) in made.rows("tick", "n")] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert [t_ns for (t_ns,) in made.rows("tick", "t_ns")] == sorted(t_ns for (t_ns,) in made.rows("tick", "t_ns"))


def test_carriage_returns_alone_end_no_line(tmp_path: Path) -> None:
    made = read(tmp_path, f"{GOOD}\r{GOOD}\n{GOOD}\n".encode())
    assert made.rows("quarantine", "line", "offset", "reason") == [(1, 0, "not JSON")]
    assert made.rows("tick", "seq") == [(2,)]


@pytest.mark.parametrize("end", ["", "\r"])
def test_a_file_without_a_line_feed_is_one_line(tmp_path: Path, end: str) -> None:
    files = {"m-1/out": f"{GOOD}\r{GOOD}{end}".encode(), "m-2/out": f"{GOOD}{end}".encode()}
    made = read(tmp_path, files)
    assert made.rows("quarantine", "host", "line", "offset", "reason") == [("m-1", 1, 0, "not JSON")]
    assert made.rows("tick", "host", "seq") == [("m-2", 1)]
    assert made.rows("logs", "host", "lines", "quarantined") == [("m-1", 1, 1), ("m-2", 1, 0)]


VALUES = [
    ('{"n":1,"n":2}', TICK, [(1,)]),
    ('{"n":"x","n":2}', TICK, 'field n of tick: expected an integer, found "x"'),
    ('{"n":null,"n":2}', TICK, "field n of tick is missing"),
    ('{"n":9223372036854775807}', TICK, [(2**63 - 1,)]),
    ('{"n":9223372036854775808}', TICK, "field n of tick: expected an integer, found 9223372036854775808"),
    ('{"n":-9223372036854775809}', TICK, "field n of tick: expected an integer, found -9223372036854775809"),
    ('{"n":18446744073709551616}', NAMED, [("18446744073709551616",)]),
    ('{"n":' + "9" * 5000 + "}", NAMED, [("9" * 5000,)]),
    ('{"n":' + "9" * 5000 + "}", TICK, "field n of tick: expected an integer, found " + "9" * 80),
    ('{"n":18446744073709551616}', REAL, [(2.0**64,)]),
    ('{"n":1e400}', REAL, "field n of tick: expected a number, found 1E+400"),
    ('{"n":4.0}', TICK, [(4,)]),
    ('{"n":4.5}', TICK, "field n of tick: expected an integer, found 4.5"),
    ('{"n":1e3}', TICK, [(1000,)]),
    ('{"n":1e15}', TICK, "field n of tick: expected an integer, found 1E+15"),
    ('{"n":"4"}', TICK, [(4,)]),
    ('{"n":"4.0"}', TICK, [(4,)]),
    ('{"n":"1e3"}', TICK, [(1000,)]),
    ('{"n":"15E-1"}', TICK, 'field n of tick: expected an integer, found "15E-1"'),
    ('{"n":true}', TICK, "field n of tick: expected an integer, found true"),
    ('{"n":NaN}', REAL, "field n of tick: expected a number, found NaN"),
    ('{"n":NaN}', TICK, "field n of tick: expected an integer, found NaN"),
    ('{"n":-Infinity}', REAL, "field n of tick: expected a number, found -Infinity"),
    ('{"n":1,"x":NaN}', TICK, [(1,)]),
    ('{"n":1,}', TICK, [(1,)]),
    ('{"n":"x",}', TICK, 'field n of tick: expected an integer, found "x"'),
    ('{"n":[1,],}', TICK, "field n of tick: expected an integer, found [1]"),
    ('{"n":1,"x":"\\ud800"}', TICK, "not JSON"),
    ('{"n":"\\u0000"}', NAMED, [("\0",)]),
]


@pytest.mark.parametrize(("body", "wanted", "found"), VALUES, ids=[body[:30] for body, _, _ in VALUES])
def test_a_value_is_taken_or_told(tmp_path: Path, body: str, wanted: object, found: object) -> None:
    made = read(tmp_path, [f'{HEAD}{{"n":1}}}}', f"{HEAD}{body}}}"], (wanted,))  # type: ignore[arg-type]
    assert made.rows("tick", "n")[1:] == ([] if isinstance(found, str) else found)
    told = made.rows("quarantine", "line", "offset", "reason")
    assert told == ([(2, len(HEAD) + 9, found)] if isinstance(found, str) else [])


TIMES = [
    ("2026-02-05T23:59:60Z", None),
    ("2016-12-31T23:59:60Z", None),
    ("0000-01-01T00:00:00Z", None),
    ("99999-01-01T00:00:00Z", None),
    ("1600-01-01T00:00:00Z", None),
    ("2300-01-01T00:00:00Z", None),
    ("-2026-02-05T18:52:16Z", None),
    ("2026-02-05T24:00:00Z", 1770336000 * S),
    ("2026-02-05T24:00:01Z", None),
    ("2026-02-05 18:52:16Z", 1770317536 * S),
    ("2026-02-05T18:52:16,5Z", None),
    ("2026-02-05T18:52:16 Z", None),
    ("2026-02-05T 8:52:16.5Z", None),
    ("2026-02-05  18:52:16Z", None),
    ("2026-02-05T18:52:16.44 126453Z", None),
    ("2026-02-05T18:52:16.Z", 1770317536 * S),
    ("2026-02-05t18:52:16z", None),
    ("1677-09-22T00:00:00Z", -9223286400 * S),
    ("2262-04-11T23:47:15Z", 9223372035 * S),
]


@pytest.mark.parametrize(("at", "t_ns"), TIMES)
def test_an_instant_is_taken_or_told(tmp_path: Path, at: str, t_ns: int | None) -> None:
    made = read(tmp_path, [GOOD, record(ts=at, n=2)])
    assert made.rows("tick", "t_ns")[1:] == ([] if t_ns is None else [(t_ns,)])
    assert made.rows("quarantine", "line", "reason") == ([(2, f'bad time: "{at}"')] if t_ns is None else [])


def test_a_clock_that_steps_back_changes_no_order(tmp_path: Path) -> None:
    """Events follow each other as they stand in the log; first and last instant are those of its ends."""
    times = ["18:52:16", "18:52:20", "18:52:10", "18:52:10", "18:52:11"]
    made = read(tmp_path, [record(ts=f"2026-02-05T{at}Z", n=n) for n, at in enumerate(times)])
    seconds = [1770317536 + step for step in (0, 4, -6, -6, -5)]
    assert made.rows("tick", "seq", "t_ns", "n") == [(n + 1, second * S, n) for n, second in enumerate(seconds)]
    log = made.log()
    assert (log["first_ns"], log["last_ns"], log["quarantined"]) == (seconds[0] * S, seconds[-1] * S, 0)


def test_a_line_that_stands_twice_is_two_events(tmp_path: Path) -> None:
    made = read(tmp_path, [GOOD, GOOD, record(n=2), GOOD])
    assert made.rows("tick", "seq", "n") == [(1, 1), (2, 1), (3, 2), (4, 1)]


def test_a_host_is_what_its_folder_is_called_whatever_its_logs_say(tmp_path: Path) -> None:
    """Two folders with the same log are two hosts; a folder that is a link to another is one, too."""
    read(tmp_path, {"m-1/out": GOOD.encode(), "m-2/out": GOOD.encode()})
    (tmp_path / "run" / "m-3").symlink_to("m-1", target_is_directory=True)
    made = read(tmp_path, {"m-2/out": GOOD.encode()})
    assert made.rows("tick", "host", "n") == [("m-1", 1), ("m-2", 1), ("m-3", 1)]


def test_the_same_log_twice_at_a_host_is_read_once_when_it_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "run" / "m-1").mkdir(parents=True)
    (tmp_path / "run" / "m-1" / "out-2").symlink_to("out")
    assert read(tmp_path, [GOOD]).rows("tick", "seq") == [(1,)]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> int:
    """Lines that are too long from 64 KiB on, so that it takes no memory to have some."""
    size = 2**16
    for module in ("plain_copies", "readers.lines", "quarantine", "scanner"):
        monkeypatch.setattr(f"assay.ingest.{module}.LONGEST", size)
    monkeypatch.setattr(decompress, "CHUNK", 5000)
    return size


@pytest.mark.parametrize(("size", "ends"), [(-1, "\n"), (0, "\n\n\n"), (1, ""), (5000, "\r\n"), (200_000, "\n")])
def test_a_line_that_is_too_long_is_broken_when_it_begins_like_an_object(
    tmp_path: Path, short: int, size: int, ends: str
) -> None:
    line = record(n=2, text="")
    fill = short + size - len(line)
    line = line.replace('""', '"' + "é" * (fill // 2) + "x" * (fill % 2) + '"')
    assert len(line.encode()) == short + size
    text = "é" * (short + size)
    made = read(tmp_path, f"{GOOD}\n{line}\n{text}\n{GOOD}\n{line}{ends}".encode())
    blank = max(len(ends.split("\n")) - 2, 0)
    assert (made.log()["lines"], made.log()["text_lines"]) == (5 + blank, 1 + blank)
    if size < 0:
        assert (made.rows("tick", "n"), made.rows("quarantine")) == ([(1,), (2,), (1,), (2,)], [])
        return
    assert made.rows("tick", "seq", "n") == [(1, 1), (4, 1)]
    offsets = [len(GOOD) + 1, 2 * len(GOOD) + len(line.encode()) + len(text.encode()) + 4]
    told = [(number, place, plain_copies.TOO_LONG) for number, place in zip((2, 5), offsets, strict=True)]
    assert made.rows("quarantine", "line", "offset", "reason") == told
    assert made.broken()[0][4] == line[:2000]


SCRIPT = """
import sys
from pathlib import Path
from assay.app.stages import peak_mib
from tests.support.ingesting import read
made = read(Path(sys.argv[1]), {})
lines, broken = made.log()["lines"], made.rows("quarantine", "line", "offset", "reason")
print([lines, made.rows("tick", "n"), broken, peak_mib()])
"""


def measured(folder: Path, line: Callable[[], bytes]) -> tuple[int, list[object], list[object], int]:
    """Lines, events, broken lines and MiB at most of a process that reads a log whose second line is another."""
    place = folder / "run" / "m-1" / "out"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"\n".join([GOOD.encode(), line(), GOOD.encode(), b""]))
    around = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'compiler'}"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True, env=around, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.replace("(", "[").replace(")", "]").replace(",]", "]").replace("'", '"'))
    return tuple(found)


DEEP = 8 * MIB // 2 - 100
GIANTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "200 MB": (lambda: b'{"x":"' + b"x" * (200 * 10**6) + b'"}', plain_copies.TOO_LONG),
    "braces": (lambda: b"{" * (2 * DEEP), "not JSON"),
    "braces beyond what is read": (lambda: b'{"a":' + b"[" * (10 * 10**6), plain_copies.TOO_LONG),
    "nested": (lambda: HEAD.encode() + b'{"n":1,"x":' + b"[" * DEEP + b"]" * DEEP + b"}}", ""),
    "a nested name": (lambda: HEAD.encode().replace(b'"Tick"', b"[" * DEEP + b"]" * DEEP) + b'{"n":1}}', ""),
    "many members": (lambda: HEAD.encode() + b'{"n":1,"x":[' + b"1," * DEEP + b"1]}}", ""),
}


@pytest.mark.parametrize("giant", GIANTS)
def test_a_giant_line_takes_memory_that_is_bounded(tmp_path: Path, giant: str) -> None:
    line, reason = GIANTS[giant]
    lines, ticks, broken, memory = measured(tmp_path, line)
    assert lines == 3
    assert len(ticks) == (3 if giant in ("nested", "many members") else 2)
    assert broken == ([[2, len(GOOD) + 1, reason]] if reason else [])
    assert memory < 1024


@pytest.mark.parametrize("size", [9, 40, 200])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_giant_last_line_is_not_lost(tmp_path: Path, size: int, end: bytes) -> None:
    """The engine refuses a line of 200 MB within a file, and would drop it at its end."""
    content = GOOD.encode() + b'\n{"x":"' + b"x" * (size * 10**6) + b'"}' + end
    made = read(tmp_path, {"m-1/out": content})
    assert (made.log()["lines"], made.log()["quarantined"]) == (2, 1)


def test_what_is_packed_is_told_by_its_bytes_whatever_its_name(tmp_path: Path) -> None:
    content = f"{GOOD}\n{{\n".encode()
    made = read(tmp_path, {"m-1/out.gz": content, "m-2/out": gzip.compress(content), "m-3/m-3.json.zst": content})
    assert made.rows("tick", "host", "n") == [("m-1", 1), ("m-2", 1), ("m-3", 1)]
    assert [(file, line) for _, file, line, _, _ in made.broken()] == [
        ("m-1/out.gz", 2), ("m-2/out", 2), ("m-3/m-3.json.zst", 2),
    ]  # fmt: skip


def test_a_packed_file_whose_beginning_is_missing_is_an_error(tmp_path: Path) -> None:
    content = gzip.compress("".join(record(n=n) for n in range(500)).encode())
    with pytest.raises(AssayError) as error:
        read(tmp_path, {"m-1/out.gz": content[2:]})
    assert refusal(error.value, tmp_path) == (
        "error[broken-file]: the log file cannot be read to its end: DIR/run/m-1/out.gz\n"
        "  expected: gzip, zstd or plain text\n"
        "  found:    bytes that are none of these\n"
        "  hint: is its beginning missing?"
    )


@pytest.mark.parametrize("name", ["m-1/out.gz", "m-1/out.zst"])
def test_a_packed_file_without_a_byte_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(AssayError) as error:
        read(tmp_path, {name: b"", "m-1/out1": f"{GOOD}\n".encode()})
    assert refusal(error.value, tmp_path) == (
        f"error[broken-file]: the log file cannot be read to its end: DIR/run/{name}\n"
        "  expected: gzip, zstd or plain text\n"
        "  found:    not a single byte\n"
        "  hint: was the disk full when it was packed?"
    )


@pytest.mark.parametrize("inner", [gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("outer", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_file_that_is_packed_twice_is_an_error(
    tmp_path: Path, inner: Callable[[bytes], bytes], outer: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(AssayError) as error:
        read(tmp_path, {"m-1/out.gz": outer(inner(GOOD.encode())), "m-1/out1": f"{GOOD}\n".encode()})
    assert refusal(error.value, tmp_path) == (
        "error[broken-file]: the file is packed twice, which is not read: DIR/run/m-1/out.gz\n  hint: unpack it once"
    )


@pytest.mark.parametrize("name", ["m-1/out", "m-1/out.zst"])
@pytest.mark.parametrize("size", [0, 4, 200_000])
def test_frames_without_content_are_no_part_of_a_packed_file(tmp_path: Path, name: str, size: int) -> None:
    frame = zstandard.ZstdCompressor().compress(f"{GOOD}\n".encode())
    for low in (0x50, 0x5F):
        skipped = bytes([low]) + b"\x2a\x4d\x18" + size.to_bytes(4, "little") + b"x" * size
        made = read(tmp_path / str(low), {name: skipped + frame + skipped + frame + skipped})
        assert (made.rows("tick", "seq"), made.log()["lines"]) == ([(1,), (2,)], 2)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("xz", b"\xfd7zXZ\x00"), ("bzip2", b"BZh9"), ("zip", b"PK\x03\x04"), ("lz4", b"\x04\x22\x4d\x18"),
        ("lzip", b"LZIP\x01"), ("7-Zip", b"7z\xbc\xaf\x27\x1c"), ("compress", b"\x1f\x9d\x90"),
        ("snappy", b"\xff\x06\x00\x00sNaPpY"),
    ],
)  # fmt: skip
def test_a_file_packed_in_another_way_is_an_error_that_says_so(tmp_path: Path, name: str, head: bytes) -> None:
    with pytest.raises(AssayError) as error:
        read(tmp_path, {"m-1/out": head + b"x" * 100})
    assert refusal(error.value, tmp_path) == (
        f"error[broken-file]: the file is packed with {name}, which is not read: DIR/run/m-1/out\n"
        "  hint: unpack it, or pack it with gzip or zstd"
    )


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_an_error_that_says_so(tmp_path: Path, encoding: str) -> None:
    """It was taken for lines of text, which hold no record."""
    with pytest.raises(AssayError) as error:
        read(tmp_path, {"m-1/out": f"{GOOD}\n".encode(), "m-2/out": f"\ufeff{GOOD}\n".encode(encoding)})
    assert refusal(error.value, tmp_path) == (
        "error[broken-file]: the file is in UTF-16, which is not read: DIR/run/m-2/out\n"
        "  expected: UTF-8\n"
        "  hint: `iconv -f UTF-16 -t UTF-8` makes it that"
    )


@pytest.mark.parametrize("piece", [10**8, len(record(n=1))])
def test_a_mark_of_the_byte_order_makes_a_line_text_wherever_a_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    line = record(n=1).encode() + b"\n"
    monkeypatch.setattr("assay.ingest.chunks.PIECE", piece)
    made = read(tmp_path, b"\xef\xbb\xbf" + line + b"\xef\xbb\xbf" + line + line)
    assert (len(made.rows("tick")), made.log()["text_lines"]) == (2, 1)
