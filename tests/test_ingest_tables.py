"""Ingest of tables: CSV files, their columns, rows and what breaks them."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

from assay.ingest.discovery import find_run
from assay.ingest.manifest import covers
from assay.ingest.pipeline import ingest
from assay.ingest.readers import csv_text as table_files
from assay.lang.model.package import Event, Quarantine, Source
from assay.util.diagnostics import AssayError
from tests.support.ingesting import SOURCE, Ingested, field, fixed, form, read, refusal

RUN = Path(__file__).resolve().parent.parent / "golden" / "cometbft" / "run"

TABLE = replace(
    SOURCE,
    name="tables",
    kind="csv",
    hosts="",
    logs=("*.csv",),
    time=("at",),
    body=(),
    unwrap=(),
    lookups=(),
    quarantine=Quarantine(share=0.5, at_least=10),
)


def event(name: str, *fields: Any, source: Source = TABLE) -> Event:
    """An event whose fields are columns."""
    return Event(name, source.name, (form(list(fields)),), "")


ROW = event("row", field("n"))
T = 1770317536000000000


def made(
    folder: Path,
    content: str | bytes | Mapping[str, bytes],
    events: Sequence[Event] = (ROW,),
    source: Source = TABLE,
    wanted: Mapping[str, frozenset[str]] | None = None,
) -> Ingested:
    """What ingest makes of `a.csv`, or of files by their paths."""
    text = content.encode() if isinstance(content, str) else content
    files = text if isinstance(text, Mapping) else {"a.csv": text}
    return read(folder, files, events, wanted, source)


def refused(folder: Path, content: str | bytes | Mapping[str, bytes], **how: Any) -> str:
    """The error of a run that cannot be ingested; nothing is left behind."""
    with pytest.raises(AssayError) as error:
        made(folder, content, **how)
    assert [path.name for path in folder.iterdir()] == ["run"]
    return refusal(error.value, folder)


# Files and rows


def test_rows_are_those_of_the_file_in_order(tmp_path: Path) -> None:
    found = made(tmp_path, f"at,n,x\n{T},1,a\n{T + 1},-2,b\n")
    assert found.rows("row") == [("", 1, T, True, 1), ("", 2, T + 1, True, -2)]
    assert found.log() == {
        "host": "", "lines": 2, "objects": 2, "recognised": 2, "quarantined": 0, "text_lines": 0,
        "first_ns": T, "last_ns": T + 1, "first_recognised_ns": T,
    }  # fmt: skip
    assert (found.rows("counts"), found.rows("quarantine")) == ([("", "row", 2)], [])


@pytest.mark.parametrize(
    ("at", "t_ns"),
    [
        ("2026-02-05T18:52:16Z", T),
        ("2026-02-05T18:52:16.000000001Z", T + 1),
        ("2026-02-05T18:52:16.5Z", T + 500_000_000),
        ("1770317536000000000", T),
        ("9223372036854775807", 2**63 - 1),
        ("-1", -1),
        ("0", 0),
    ],
)
def test_an_instant_is_an_integer_or_a_utc_time(tmp_path: Path, at: str, t_ns: int) -> None:
    assert made(tmp_path, f"at,n\n{at},1\n").rows("row", "t_ns") == [(t_ns,)]


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        ("", "no time"),
        ("soon", 'bad time: "soon"'),
        ("1.5", 'bad time: "1.5"'),
        ("9223372036854775808", 'bad time: "9223372036854775808"'),
        ("2026-02-05T18:52:16", 'bad time: "2026-02-05T18:52:16"'),
        ("2026-02-30T18:52:16Z", 'bad time: "2026-02-30T18:52:16Z"'),
        ("9999-12-31T00:00:00Z", 'bad time: "9999-12-31T00:00:00Z"'),
    ],
)
def test_a_row_without_an_instant_is_quarantined(tmp_path: Path, at: str, reason: str) -> None:
    found = made(tmp_path, f"at,n\n{at},1\n{T},2\n")
    assert found.broken() == [("", "a.csv", 2, reason, f"{at},1")]
    assert (found.rows("row", "seq", "n"), found.rows("counts", "n")) == ([(2, 2)], [(1,)])


FORMS = {
    "plain": b"at,n,s\n1,2,a b\n3,4,c\n",
    "crlf": b"at,n,s\r\n1,2,a b\r\n3,4,c\r\n",
    "bom": b"\xef\xbb\xbfat,n,s\n1,2,a b\n3,4,c\n",
    "bom and quotes": b'\xef\xbb\xbf"at","n","s"\n"1","2","a b"\n3,4,c',
    "no last line end": b"at,n,s\n1,2,a b\n3,4,c",
    "empty lines": b"at,n,s\n\n1,2,a b\n\n3,4,c\n\n",
    "carriage returns": b"at,n,s\r1,2,a b\r3,4,c\r",
    "an empty line first": b"\nat,n,s\n1,2,a b\n3,4,c\n",
    "a mark and empty lines first": b"\xef\xbb\xbf\r\n\r\nat,n,s\r\n1,2,a b\r\n3,4,c\r\n",
    "lines within the header": b'at,n,s,"a\nb"\r\n1,2,a b,\r\n3,4,c,x\r\n',
    "mixed line ends": b"at,n,s\r\n1,2,a b\n3,4,c\r\n",
    "another order": b"s,x,at,n\na b,,1,2\nc,,3,4\n",
    "an empty cell more": b"at,n,s\n1,2,a b,\n3,4,c\n",
    "empty cells more, and mixed line ends": b"at,n,s\n1,2,a b,,\r\n3,4,c\n",
}


@pytest.mark.parametrize("form_", FORMS)
def test_a_file_may_be_written_in_several_ways(tmp_path: Path, form_: str) -> None:
    found = made(tmp_path, FORMS[form_], (event("row", field("n"), field("s", "text")),))
    assert found.rows("row", "seq", "t_ns", "n", "s") == [(1, 1, 2, "a b"), (2, 3, 4, "c")]
    assert found.broken() == []


def test_quoted_cells_hold_commas_quotes_and_lines(tmp_path: Path) -> None:
    texts = ["a,b", 'say "so"', "two\nlines", "", "Δ"]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([["at", "s"], *([str(n), text] for n, text in enumerate(texts))])
    found = made(tmp_path, stream.getvalue(), (event("row", field("s", "text", required=False)),))
    assert found.rows("row", "seq", "s") == [(n, text or None) for n, text in enumerate(texts, start=1)]


@pytest.mark.parametrize("header", ["at,s", 'at,s,"another\nline"'])
@pytest.mark.parametrize("text", ["\r", "a\rb", "\r\n", "\n\r", '"\r,', "\r\r\n"])
def test_a_cell_holds_any_line_end_though_other_rows_are_mended(tmp_path: Path, text: str, header: str) -> None:
    cell = '"' + text.replace('"', '""') + '"'
    more = "," if "another" in header else ""
    rows = "\n".join([header, f"1,{cell}{more}", f"2,{more}", f"3,x{more}", f"4,y{more},"]) + "\n"
    found = made(tmp_path, rows, (event("row", field("s", "text", required=False)),))
    assert found.rows("row", "seq", "s") == [(1, text), (2, None), (3, "x"), (4, "y")]
    assert found.broken() == []


@pytest.mark.parametrize(
    ("row", "cell"),
    [('2, "a"', ' "a"'), ('2,"a" ', None), ('2, "a,b"', None), ('2, "a', ' "a'), ('2, "a"\t', ' "a"\t')],
)
@pytest.mark.parametrize("other", ["", "4,x,x\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_quote_beside_a_blank_is_the_same_whatever_other_rows_are(
    tmp_path: Path, row: str, cell: str | None, other: str, end: str
) -> None:
    text = f"at,s\n1,x\n{row}\n{other}3,y\n".replace("\n", end)
    found = made(tmp_path, text, (event("row", field("s", "text")),))
    assert found.rows("row", "t_ns", "s") == [(1, "x"), *([(2, cell)] if cell else []), (3, "y")]
    assert found.rows("quarantine", "line") == [(3,)] * (not cell) + [(4,)] * bool(other)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_a_blank_behind_a_carriage_return_is_a_part_of_its_cell(tmp_path: Path, end: str) -> None:
    what = event("row", field("s", "text"), field("n"), source=replace(TABLE, time=()))
    text = f"s,n{end}a,1\r b,2{end}c,3{end}"
    found = made(tmp_path, text, [what], replace(TABLE, time=()))
    assert found.rows("row", "seq", "s", "n") == [(1, "a", 1), (2, " b", 2), (3, "c", 3)]


def test_a_row_of_nothing_is_none_in_a_table_of_one_column(tmp_path: Path) -> None:
    one = replace(TABLE, time=())
    found = made(tmp_path, 'n\n1\n,\n""\n\n2\n', (event("row", field("n"), source=one),), one)
    assert found.rows("row", "seq", "n") == [(1, 1), (2, 2)]
    assert found.log()["lines"] == found.log()["recognised"] == 2


@pytest.mark.parametrize("chunk", range(1, 24))
def test_the_place_of_a_row_is_right_wherever_a_file_is_read_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(table_files, "CHUNK", chunk)
    (tmp_path / "a.csv").write_bytes(b"at,n\r\n1,2\r\n\r3,x\n4,y\r\n")
    assert table_files.offsets(tmp_path / "a.csv", {2, 4}) == {1: 0, 2: 6, 4: 12}
    assert table_files.offsets(tmp_path / "a.csv", {5}) == {1: 0, 5: 16}


@pytest.mark.parametrize("packed", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_files_may_be_packed(tmp_path: Path, packed: Any) -> None:
    ending = ".gz" if packed is gzip.compress else ".zst"
    assert made(tmp_path, {f"a.csv{ending}": packed(b"at,n\n1,2\n")}).rows("row", "n") == [(2,)]


def test_files_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    found = made(tmp_path, {"b.csv": b"n,at\n3,1\n", "a.csv": b"at,n\n9,1\n8,2\n"})
    assert found.rows("row", "n") == [(1,), (2,), (3,)]
    assert (found.log()["first_ns"], found.log()["last_ns"]) == (9, 1)


def test_a_file_both_plain_and_packed_is_refused(tmp_path: Path) -> None:
    files = {"a.csv": b"at,n\n1,2\n", "a.csv.gz": gzip.compress(b"at,n\n1,2\n")}
    assert refused(tmp_path, files).startswith("error[same-log]: a.csv and a.csv.gz are the same file: DIR/run")


def test_files_of_one_name_in_several_folders_are_several(tmp_path: Path) -> None:
    source = replace(TABLE, logs=("*/a.csv",))
    found = made(tmp_path, {"y/a.csv": b"at,n\n1,2\n", "x/a.csv": b"at,n\n1,1\n"}, source=source)
    assert found.rows("row", "n") == [(1,), (2,)]


def test_files_below_host_folders_are_those_of_hosts(tmp_path: Path) -> None:
    source = replace(TABLE, hosts="m-*")
    found = made(tmp_path, {"m-2/a.csv": b"at,n\n1,2\nx,0\n", "m-1/a.csv": b"at,n\n1,1\n"}, source=source)
    assert found.rows("row", "host", "n") == [("m-1", 1), ("m-2", 2)]
    assert found.rows("counts") == [("m-1", "row", 1), ("m-2", "row", 1)]
    assert found.rows("quarantine", "host", "file", "line") == [("m-2", "m-2/a.csv", 3)]


def test_a_run_without_a_file_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, {"other.txt": b"x"}) == (
        "error[no-logs]: the run has no file of tables: DIR/run\n"
        "  expected: *.csv (also with .gz or .zst)\n"
        "  found:    other.txt"
    )


# Columns


def test_a_column_that_is_missing_is_named_with_what_there_is(tmp_path: Path) -> None:
    assert refused(tmp_path, "at,latency\n1,2\n", events=(event("row", field("latncy")),)) == (
        "error[no-column]: the table has no column latncy: DIR/run/a.csv\n"
        "  expected: latncy\n"
        "  found:    at, latency\n"
        "  hint: did you mean `latency`?"
    )


def test_all_that_files_lack_is_told_at_once(tmp_path: Path) -> None:
    said = refused(tmp_path, {"a.csv": b"x\n1\n", "b.csv": b"at,m\n1,2\n"})
    assert [line for line in said.splitlines() if line.startswith("error")] == [
        "error[no-column]: the table has no column at: DIR/run/a.csv",
        "error[no-column]: the table has no column n: DIR/run/a.csv",
        "error[no-column]: the table has no column n: DIR/run/b.csv",
    ]


def test_a_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, "at,n,n\n1,2,3\n")
    assert said.startswith("error[column-twice]: the table has the column n more than once: DIR/run/a.csv")


def test_the_first_column_with_a_value_is_taken(tmp_path: Path) -> None:
    what = event("row", field("n", "integer", "new", "old"), field("m", required=False), field("k", default="7"))
    found = made(tmp_path, {"a.csv": b"at,new,old\n1,1,9\n2,,2\n", "b.csv": b"at,old,m,k\n1,3,4,5\n"}, (what,))
    assert found.rows("row", "n", "m", "k") == [(1, None, 7), (2, None, 7), (3, 4, 5)]


def test_a_column_that_is_not_wanted_need_not_be_there(tmp_path: Path) -> None:
    what = event("row", field("n"), field("gone"))
    found = made(tmp_path, "at,n\n1,2\n", (what,), wanted={"row": frozenset({"n"})})
    assert found.rows("row") == [("", 1, 1, True, 2)]
    assert covers(found.folder, TABLE, (what,), {"row": frozenset({"n"})})
    assert not covers(found.folder, TABLE, (what,), {"row": frozenset({"n", "gone"})})


def test_a_name_with_other_letters_is_another_column(tmp_path: Path) -> None:
    what = event("row", field("n"), field("big", "integer", "N"))
    assert made(tmp_path, 'at,n,N,"a "".;\n"\n1,2,3,x\n', (what,)).rows("row", "n", "big") == [(2, 3)]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_a_header_is_refused(tmp_path: Path, content: bytes) -> None:
    said = refused(tmp_path, {"a.csv": content, "b.csv": b"at,n\n1,2\n"})
    assert said == "error[no-header]: the table is empty, without even a header: DIR/run/a.csv"


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    assert made(tmp_path, {"a.csv": b"at,n\n", "b.csv": b"at,n\n1,2\n"}).rows("row", "n") == [(2,)]


@pytest.mark.parametrize("content", ["at,n", "at,n\n", "at,n\n\n"])
def test_a_run_without_any_row_is_refused(tmp_path: Path, content: str) -> None:
    said = refused(tmp_path, content)
    assert said == (
        "error[nothing-recognised]: the files of `tables` hold no rows at all\n  hint: did the run record anything?"
    )


# Types


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        ("integer", "-9223372036854775808", -(2**63)),
        ("integer", "5.0", 5),
        ("unsigned", "18446744073709551615", 2**64 - 1),
        ("real", "0.1", 0.1),
        ("real", "1e-7", 1e-7),
        ("text", "007", "007"),
        ("text", " a ", " a "),
        ("boolean", "true", True),
    ],
)
def test_a_cell_is_read_exactly(tmp_path: Path, kind: str, written: str, value: Any) -> None:
    found = made(tmp_path, f"at,n\n1,{written}\n", (event("row", field("n", kind)),)).rows("row", "n")
    assert [(item, type(item)) for (item,) in found] == [(value, type(value))]


@pytest.mark.parametrize(
    ("kind", "written", "reason"),
    [
        ("integer", "1.5", 'field n of row: expected an integer, found "1.5"'),
        ("integer", "x", 'field n of row: expected an integer, found "x"'),
        ("integer", "", "field n of row is missing"),
        ("integer", '""', "field n of row is missing"),
        ("unsigned", "-1", 'field n of row: expected an integer from 0, found "-1"'),
        ("real", "NaN", 'field n of row: expected a number, found "NaN"'),
        ("real", "+-1", 'field n of row: expected a number, found "+-1"'),
        ("boolean", "yes", 'field n of row: expected true or false, found "yes"'),
        ("text", "", "field n of row is missing"),
    ],
)
def test_a_cell_of_another_type_breaks_its_row(tmp_path: Path, kind: str, written: str, reason: str) -> None:
    found = made(tmp_path, f"at,n\n1,0\n2,{written}\n".replace(",0", ",true" if kind == "boolean" else ",0"),
                 (event("row", field("n", kind)),))  # fmt: skip
    assert found.broken() == [("", "a.csv", 3, reason, f"2,{written}")]
    assert (found.rows("row", "seq"), found.rows("counts", "n")) == ([(1,)], [(1,)])
    assert (found.log()["recognised"], found.log()["quarantined"]) == (1, 1)


def test_a_row_is_one_of_every_event(tmp_path: Path) -> None:
    events = (event("row", field("n")), event("other", field("m"), fixed("k", "text", "x")))
    found = made(tmp_path, "at,n,m\n1,2,3\n2,x,4\n", events)
    assert (found.rows("row", "seq", "n"), found.rows("other", "seq", "m", "k")) == (
        [(1, 2)],
        [(1, 3, "x"), (2, 4, "x")],
    )
    assert found.rows("counts") == [("", "other", 2), ("", "row", 1)]
    assert (found.log()["recognised"], found.log()["quarantined"]) == (1, 1)


# Broken rows


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("2", "expected 3 cells, found 1"),
        ("2,3", "expected 3 cells, found 2"),
        ("2,3,4,5", "expected 3 cells, found 4"),
        ("2,3,4,,5", "expected 3 cells, found 5"),
        ('2,3,"4"x', "a quote in a wrong place"),
    ],
)
def test_a_row_of_another_width_is_broken(tmp_path: Path, row: str, reason: str) -> None:
    found = made(
        tmp_path, f'at,n,s\n1,1,"a\nb"\n{row}\n3,3,c\nx,4,d\n', (event("row", field("n"), field("s", "text")),)
    )
    assert found.rows("row", "seq", "t_ns", "n", "s") == [(1, 1, 1, "a\nb"), (3, 3, 3, "c")]
    assert found.broken() == [
        ("", "a.csv", 4, reason, row), ("", "a.csv", 6, 'bad time: "x"', "x,4,d")
    ]  # fmt: skip
    assert [found.log()[name] for name in ("lines", "objects", "recognised", "quarantined")] == [4, 3, 2, 2]


@pytest.mark.parametrize(
    ("last", "reason"),
    [('4"', "expected 3 cells, found 2"), ('4",d,e', "expected 3 cells, found 4"), ('4"x', "a quote in a wrong place")],
)
def test_a_broken_row_tells_how_many_lines_it_takes(tmp_path: Path, last: str, reason: str) -> None:
    """Two quotes that ought not to be there make one row of those between them."""
    between = "".join(f"{n},1,c\n" for n in range(998))
    found = made(tmp_path, f'at,n,s\n1,1,a\n2,"1,b\n{between}{last}\n5,5,e\n', (event("row", field("n")),))
    assert found.rows("row", "t_ns", "n") == [(1, 1), (5, 5)]
    assert [row[2:4] for row in found.broken()] == [(3, f"{reason} (a row of 1000 lines)")]
    assert (found.log()["lines"], found.log()["quarantined"]) == (3, 1)


@pytest.mark.parametrize("rest", ["3,4\n", "3,4\n" * 100_000])
def test_a_quote_that_is_never_closed_ends_the_ingest(tmp_path: Path, rest: str) -> None:
    assert refused(tmp_path, f'at,n\n1,2\n1,"2\n{rest}') == (
        "error[broken-file]: the table cannot be read to its end: DIR/run/a.csv\n"
        "  found:    a quote that is opened in line 3 and not closed\n"
        "  hint: is the file cut off?"
    )


@pytest.mark.parametrize("rest", ["", "3\n"])
def test_a_cell_may_be_long(tmp_path: Path, rest: str) -> None:
    text = "x" * 300_000
    found = made(tmp_path, f'at,n,s\n1,2,"{text}"\n{rest}', (event("row", field("n"), field("s", "text")),))
    assert found.rows("row", "s") == [(text,)]
    assert len(found.rows("quarantine")) == bool(rest)


@pytest.mark.parametrize(("rest", "good"), [("", 1), ("3,4,b\n", 2)])
@pytest.mark.parametrize("cell", ["x" * 9 * 2**20, "x" * 70 * 2**20, '"' + ("x" * 2**20 + "\n") * 8 + '"'])
def test_a_row_that_is_too_long_is_broken(tmp_path: Path, cell: str, rest: str, good: int) -> None:
    # The engine would not say a word of one of 32 MiB or more at the end of a file.
    found = made(tmp_path, f"at,n,s\n0,1,a\n1,2,{cell}\n{rest}", (event("row", field("n"), field("s", "text")),))
    assert found.rows("row", "n", "s") == [(1, "a"), (4, "b")][:good]
    reason = "longer than 8 MiB" + (" (a row of 9 lines)" if "\n" in cell else "")
    assert found.rows("quarantine", "line", "offset", "reason") == [(3, 13, reason)]
    assert [len(text) for (text,) in found.rows("quarantine", "text")] == [2000]
    counts = found.rows("logs", "lines", "objects", "recognised", "quarantined")
    assert counts == [(good + 1, good, good, 1)], "it is one row, however many line ends it has"


def test_a_row_of_as_many_bytes_as_it_may_have_is_read(tmp_path: Path) -> None:
    text = "x" * (8 * 2**20 - 4)
    found = made(tmp_path, f"at,n,s\n1,2,{text}\n", (event("row", field("n"), field("s", "text")),))
    assert found.rows("row", "s") == [(text,)]


def test_a_packed_file_that_is_cut_off_ends_the_ingest(tmp_path: Path) -> None:
    said = refused(tmp_path, {"a.csv.gz": gzip.compress(b"at,n\n1,2\n" * 1000)[:-9]})
    assert said.startswith("error[broken-file]: the log file cannot be read to its end: DIR/run/a.csv.gz")


def test_more_broken_rows_than_the_source_bears_end_the_ingest(tmp_path: Path) -> None:
    source = replace(TABLE, quarantine=Quarantine(share=0.1, at_least=1))
    assert refused(tmp_path, "at,n\n" + "1,2\n" * 20 + "1\n1,x\nx,1\n", source=source) == (
        "error[too-many-broken-lines]: 3 of the 23 rows are broken\n"
        "  expected: at most 2\n"
        "  found:    3\n"
        "  note: a.csv:22, byte 85: expected 2 cells, found 1\n"
        '  note: a.csv:23, byte 87: field n of row: expected an integer, found "x"\n'
        '  note: a.csv:24, byte 91: bad time: "x"\n'
        "  note: the time, `at`, of a record of source `tables` is read as a whole number of ns since 1970, or ISO "
        "8601 with its zone, such as 2026-02-05T18:52:16.5Z\n"
        "  hint: the limit stands in the source's definition (`quarantine`)"
    )


# A load report of a real run

LOAD = replace(TABLE, name="load", logs=("report/*.csv",), time=("block_time",))
WORDS = ("experiment_id", "tx_hash")
NUMBERS = ("duration_ns", "connections", "rate", "size")
FIELDS = [*(field(name, "text") for name in WORDS), *(field(name) for name in NUMBERS)]
TRANSACTION = event("transaction", *FIELDS, source=LOAD)


def test_every_row_of_a_load_report_is_there(tmp_path: Path) -> None:
    wanted = {"transaction": frozenset([*WORDS, *NUMBERS])}
    told: list[tuple[int, int]] = []
    files = find_run(LOAD, RUN)
    ingest(LOAD, [TRANSACTION], wanted, files, tmp_path / "made", progress=lambda *item: told.append(item))
    with gzip.open(RUN / "report" / "raw_node0.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = Ingested(tmp_path / "made").rows("transaction", "seq", "t_ns", *WORDS, *NUMBERS)
    assert found == [
        (number, int(row["block_time"]), *(row[name] for name in WORDS), *(int(row[name]) for name in NUMBERS))
        for number, row in enumerate(rows, start=1)
    ]
    assert told == [(files.size, files.size)]
    durations: dict[str, list[int]] = {}
    for row in rows:
        durations.setdefault(row["experiment_id"], []).append(int(row["duration_ns"]))
    ingested: dict[str, list[int]] = {}
    for item in found:
        ingested.setdefault(item[2], []).append(item[4])
    assert len(durations) == 8
    summed = {key: (len(item), sum(item), min(item), max(item)) for key, item in durations.items()}
    assert {key: (len(item), sum(item), min(item), max(item)) for key, item in ingested.items()} == summed
