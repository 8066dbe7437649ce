"""What no text holds, in every kind of file that is no JSON: it breaks its record, and is told with its place."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from assay.ingest import invalid_text
from assay.ingest.plain_copies import lines_at
from assay.lang.model.package import Event
from tests import test_ingest_blocks as blocks
from tests import test_ingest_samples as samples
from tests import test_ingest_tables as tables
from tests import test_ingest_text as texts
from tests.support.ingesting import Ingested, field, read, record

WORD = texts.event("word", texts.form([field("word", "text")], "Word {word}"))
NAMED = tables.event("row", field("s", "text"))
NOT_UTF8 = [b"\xff", b"\xfe", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"]
STRANGE = [*((bad, "not UTF-8") for bad in NOT_UTF8), (b"\0", "a NUL byte")]


def told(found: Ingested, *columns: str) -> list[tuple[object, ...]]:
    """What is in quarantine, which is as much as is counted; each text begins where it is said to."""
    assert len(found.broken()) == sum(n for (n,) in found.rows("logs", "quarantined"))
    return found.rows("quarantine", *(columns or ("line", "offset", "reason")))


def logged(*words: bytes) -> bytes:
    return b"".join(texts.line("Word ").encode() + word + b"\n" for word in words)


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize(("bad", "reason"), STRANGE)
def test_an_event_of_a_text_log_is_broken_by_what_no_text_holds(
    tmp_path: Path, bad: bytes, reason: str, packed: type[bytes]
) -> None:
    content = logged(b"a", b"e" + bad, "é\x1a\ufeff".encode(), b"e" + bad + b"f")
    found = texts.made(tmp_path, {"m-1/out": packed(content)}, [WORD])
    assert found.rows("word", "seq", "word") == [(1, "a"), (3, "é\x1a\ufeff")]
    places = [content.index(b"\n") + 1, content.rindex(b"info")]
    assert told(found) == [(2, places[0], reason), (4, places[1], reason)]
    if reason == "not UTF-8":
        assert {text.strip("e\ufffd") for _, text in told(found, "line", "text")} == {
            texts.line("Word "), f"{texts.line('Word ')}e{chr(0xFFFD) * (1 if len(bad) == 1 else len(bad))}f"
        }  # fmt: skip


def test_of_a_broken_line_the_bytes_are_told_before_the_value(tmp_path: Path) -> None:
    lines = [texts.line("Tick 1").encode(), texts.line("Tick \xff").encode("latin-1"),
             texts.line("Tick 2", "s\xff").encode("latin-1"), "b \xff ] Tick 3".encode("latin-1")]  # fmt: skip
    found = texts.made(tmp_path, b"\n".join(lines))
    assert told(found, "line", "reason") == [(2, "not UTF-8"), (3, "not UTF-8"), (4, "not UTF-8")]


@pytest.mark.parametrize("bad", [b"\xff", b"\0", "\ufeff".encode()])
def test_a_line_of_a_text_log_that_is_no_event_may_hold_anything(tmp_path: Path, bad: bytes) -> None:
    lines = [texts.line("Tock ").encode() + bad, bad + b"text", b"te" + bad, texts.line("Tick 1").encode()]
    found = texts.made(tmp_path, b"\n".join(lines))
    assert (told(found), found.rows("tick", "seq")) == ([], [(4,)])


def test_a_mark_of_the_byte_order_breaks_an_event_where_no_file_begins(tmp_path: Path) -> None:
    """It would be a part of the first place: files were joined."""
    content = f"\ufeff{texts.line('Tick 1')}\n\ufeff{texts.line('Tick 2')}\n".encode()
    found = texts.made(tmp_path, content)
    assert found.rows("tick", "seq") == [(1,)]
    assert told(found) == [(2, content.rindex("\ufeff".encode()), "a byte order mark")]


def test_a_character_that_the_scan_would_cut_a_line_at_breaks_an_event(tmp_path: Path) -> None:
    content = logged(b"a", "b\U0010ffffc".encode())
    found = texts.made(tmp_path, {"m-1/out": content}, [WORD])
    assert told(found, "line", "reason") == [(2, "the character U+10FFFF")]


def test_a_mark_of_the_byte_order_behind_nul_bytes_breaks_an_event(tmp_path: Path) -> None:
    found = texts.made(tmp_path, f"\0\0\ufeff{texts.line('Tick 1')}\n{texts.line('Tick 2')}\n".encode())
    assert (found.rows("tick", "seq"), told(found)) == ([(2,)], [(1, 2, "a byte order mark")])


@pytest.mark.parametrize("end", ["\U0010ffff", " \U0010ffff\U0010ffff"])
def test_the_same_character_at_the_end_of_a_line_is_a_part_of_it(tmp_path: Path, end: str) -> None:
    """The scan would drop it there."""
    found = texts.made(tmp_path / "text", {"m-1/out": logged(b"a", f"b{end}".encode())}, [WORD])
    assert told(found, "line", "reason") == [(2, "the character U+10FFFF")]
    found = read(tmp_path / "json", [record(n=1), record(n=2) + end])
    assert told(found, "line", "reason") == [(2, "not JSON")]


def test_a_giant_event_with_strange_bytes_is_told_to_be_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("plain_copies", "readers.lines", "quarantine"):
        monkeypatch.setattr(f"assay.ingest.{module}.LONGEST", 2**14)
    content = logged(b"a", b"\xff" * 2**13, b"x\xff" * 2**13, b"b")
    found = texts.made(tmp_path, {"m-1/out": content}, [WORD])
    assert found.rows("word", "word") == [("a",), ("b",)]
    assert told(found, "line", "reason") == [(2, "not UTF-8"), (3, "longer than 8 MiB")]


@pytest.mark.parametrize(
    ("content", "place", "text"),
    [(b"a\n\0\0\0", 5, ""), (b"a\n\0", 3, ""), (b"a\n\0\0b", 4, "b"), (b"a\nb", 2, "b"), (b"a\n\n", 2, "")],
)
def test_a_last_line_without_an_end_is_found_though_it_is_nothing_but_nul_bytes(
    tmp_path: Path, content: bytes, place: int, text: str
) -> None:
    (tmp_path / "out").write_bytes(content)
    found = [(line.number, line.offset, line.text) for line in lines_at(tmp_path / "out", {2, 3})]
    assert found == [(2, place, text)]


# Tables


@pytest.mark.parametrize(("bad", "reason"), [*STRANGE, ("\ufeff".encode(), "a byte order mark")])
@pytest.mark.parametrize("place", ["ahead", "at", "s"])
def test_a_row_is_broken_by_what_no_text_holds(tmp_path: Path, place: str, bad: bytes, reason: str) -> None:
    row = {"ahead": bad + b"7,2,c", "at": b"7,2" + bad + b",c", "s": b'7,2,"c' + bad + b'd"'}[place]
    content = b"x,at,s\n1,1,\x1a\n" + row + b"\n3,3,d\n"
    found = tables.made(tmp_path, content, (NAMED,))
    if place == "ahead" and reason == "not UTF-8":  # in a cell that nobody reads
        assert (found.rows("row", "seq"), told(found)) == ([(1,), (2,), (3,)], [])
        return
    assert found.rows("row", "seq", "t_ns", "s") == [(1, 1, "\x1a"), (3, 3, "d")]
    assert told(found) == [(3, 13, reason)]
    assert [found.log()[name] for name in ("lines", "objects", "recognised", "first_ns")] == [3, 3, 2, 1]


@pytest.mark.parametrize(("bad", "reason"), [*STRANGE, ("\ufeff".encode(), "a byte order mark")])
@pytest.mark.parametrize("kind", ["integer", "unsigned", "real", "boolean", "text"])
def test_a_value_of_any_type_is_broken_by_what_no_text_holds(
    tmp_path: Path, kind: str, bad: bytes, reason: str
) -> None:
    good = b"true" if kind == "boolean" else b"1"
    cells = [good, bad + good, good + bad, good, b" " + bad]
    rows = b"".join(b"%d,%s\n" % (at, cell) for at, cell in enumerate(cells))
    found = tables.made(tmp_path, b"at,v\n" + rows, (tables.event("row", field("v", kind)),))
    assert found.rows("row", "seq") == [(1,), (4,)]
    assert told(found, "line", "reason") == [(line, reason) for line in (3, 4, 6)]


@pytest.mark.parametrize("rest", [b"", b"1,2,3,4\n"])
@pytest.mark.parametrize("bad", [b"\xff", b"\0", "\ufeff".encode()])
def test_a_cell_that_nobody_reads_may_hold_anything(tmp_path: Path, bad: bytes, rest: bytes) -> None:
    """Whether the engine reads the file, or refuses it for another row."""
    found = tables.made(tmp_path, b"at,n" + bad + b",s\n1," + bad + b",a\n2,x,b\n" + rest, (NAMED,))
    assert found.rows("row", "seq", "s") == [(1, "a"), (2, "b")]
    assert told(found, "reason") == [("expected 3 cells, found 4",)] * bool(rest)


def test_a_row_without_an_instant_to_have_may_be_broken_too(tmp_path: Path) -> None:
    source = tables.replace(tables.TABLE, time=())
    found = tables.made(tmp_path, b"s\na\n\xff\n\0\nb\n", (NAMED,), source)
    assert found.rows("row", "seq", "s") == [(1, "a"), (4, "b")]
    assert told(found) == [(3, 4, "not UTF-8"), (4, 6, "a NUL byte")]
    assert found.rows("counts", "n") == [(2,)]


# Blocks


@pytest.mark.parametrize(("bad", "reason"), [*STRANGE, ("\ufeff".encode(), "a byte order mark")])
def test_a_block_is_broken_by_what_no_text_holds(tmp_path: Path, bad: bytes, reason: str) -> None:
    text = b"head" + bad + b"\nId: a" + bad + b"\nN: 1\nX: " + bad + b"\nId: b\nN: 2\nX: " + bad + b"\n"
    found = blocks.made(tmp_path, text)
    assert found.rows("block", "id", "n") == [("b", 2)]
    assert told(found, "line", "reason") == [(2, reason)]


@pytest.mark.parametrize(("bad", "reason"), [*STRANGE, ("\ufeff".encode(), "a byte order mark")])
def test_a_line_of_blocks_whose_key_no_text_holds_is_broken(tmp_path: Path, bad: bytes, reason: str) -> None:
    what: Event = blocks.event(field("id", "text", "Id"), field("n", "integer", "N", required=False))
    text = b"Id: a\n" + bad + b"N: 1\nId: b\nN: 2\n"
    found = blocks.made(tmp_path, text, what)
    assert found.rows("block", "id", "n") == [("a", None), ("b", 2)]
    assert told(found) == [(2, 6, reason)]


@pytest.mark.parametrize(("bad", "reason"), [(b"\0\0", "a NUL byte"), ("\ufeff".encode(), "a byte order mark")])
def test_lines_below_a_beginning_that_is_broken_are_of_no_block(tmp_path: Path, bad: bytes, reason: str) -> None:
    """Else they would be of the block before it."""
    text = b"\xef\xbb\xbfId: a\n" + bad + b"Id: b\nN: 2\nId: c\nN: 3\n"
    what = blocks.event(field("id", "text", "Id"), field("n", "integer", "N", required=False))
    found = blocks.made(tmp_path, text, what)
    assert found.rows("block", "id", "n") == [("a", None), ("c", 3)]
    assert told(found, "line", "reason") == [(2, reason), (3, "it stands in no block")]


# Samples


def test_a_sample_of_a_label_that_is_no_text_is_broken_and_a_comment_is_not(tmp_path: Path) -> None:
    lines = [b"# HELP peers \xff", b'peers{job="e\xff"} 1 1', b'peers{job="e\xfe"} 2 1', b"peers 2 2",
             b'peers{job="e\x1a"} 3 3', b"# EOF"]  # fmt: skip
    found = samples.made(tmp_path, b"\n".join(lines))
    assert found.rows("peers", "job", "value") == [(None, 2.0), ("e\x1a", 3.0)]
    assert told(found) == [(2, len(lines[0]) + 1, "not UTF-8"), (3, len(lines[0] + lines[1]) + 2, "not UTF-8")]


def test_what_stands_for_bytes_that_are_no_text_is_in_no_text_and_makes_no_json() -> None:
    assert invalid_text.SUBSTITUTE[0] < " "
    assert invalid_text.fault(invalid_text.SUBSTITUTE) == "not UTF-8"
    assert b"e\xff".decode(errors="assay-substitute") != "e\x1a"
