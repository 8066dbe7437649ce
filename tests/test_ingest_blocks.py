"""Ingest of blocks: `Key: value` texts, one under another and side by side; durations as Go writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.ingest import field_sql
from assay.lang.model.package import Event, Quarantine, Transform
from assay.sql import dialect
from assay.util.diagnostics import AssayError
from tests.support.deep import examples
from tests.support.ingesting import SOURCE, Ingested, field, form, read, refusal
from tests.support.laboratory import ROOT

GOLDEN = ROOT / "golden" / "cometbft"
BLOCKS = replace(
    SOURCE,
    name="texts",
    kind="blocks",
    begins="Id",
    hosts="",
    logs=("*.txt",),
    time=(),
    body=(),
    unwrap=(),
    lookups=(),
    quarantine=Quarantine(share=0.0, at_least=10),
)
DURATION = [Transform("duration", 0, "")]


def event(*fields: Any) -> Event:
    return Event("block", BLOCKS.name, (form(list(fields)),), "")


BLOCK = event(field("id", "text", "Id"), field("n", "integer", "N"))


def made(folder: Path, content: str | bytes | Mapping[str, bytes], what: Event = BLOCK, **source: Any) -> Ingested:
    """What ingest makes of `a.txt`, or of files by their paths."""
    text = content.encode() if isinstance(content, str) else content
    files = text if isinstance(text, Mapping) else {"a.txt": text}
    return read(folder, files, (what,), source=replace(BLOCKS, **source))


def refused(folder: Path, content: str | bytes, **how: Any) -> str:
    """The error of a text that cannot be ingested; nothing is left behind."""
    with pytest.raises(AssayError) as error:
        made(folder, content, **how)
    assert [path.name for path in folder.iterdir()] == ["run"]
    return refusal(error.value, folder)


def quarantined(found: Ingested) -> list[tuple[Any, ...]]:
    assert found.log()["quarantined"] == len(found.rows("quarantine"))
    return found.rows("quarantine", "line", "reason")


# What a text says

WAYS = {
    "one under another": "Id: a\n\tN: 1\n\n\tX: 9\nId: b\nN: 2\n",
    "between bars": "Id: a │Id: b\n      │\n   N: 1│  N: 2\n",
    "between blanks": "Id: a  Id: b\n    N: 1     N: 2\n",
    "between blanks, not aligned": "Id: a        Id: b\n  N: 1  N: 2\n",
    "between tabs": "Id: a\tId: b\n\tN: 1\tN: 2\n",
    "two bands": "Id: a │\nN: 1 │\nId: b │\nN: 2 │",
    "with a heading, and no last line end": "All of them:\n============\n\nId: a\nN: 1\nId: b\nN: 2",
    "with a byte order mark and other line ends": "\ufeffId: a\r\nN: 1\r\nId: b\r\nN:  2\r\n",
    "a key on some line only": "Id: a │Id: b\n │ X: 7\nN: 1 │ N: 2\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_blocks_stand_one_under_another_or_side_by_side(tmp_path: Path, way: str) -> None:
    found = made(tmp_path, WAYS[way])
    assert found.rows("block", "host", "seq", "t_ns", "id", "n") == [("", 1, None, "a", 1), ("", 2, None, "b", 2)]
    assert found.log() == {
        "host": "", "lines": 2, "objects": 2, "recognised": 2, "quarantined": 0, "text_lines": 0,
        "first_ns": None, "last_ns": None, "first_recognised_ns": None,
    }  # fmt: skip
    assert (found.rows("counts"), found.rows("quarantine")) == ([("", "block", 2)], [])


def test_values_may_hold_colons_commas_and_quotes(tmp_path: Path) -> None:
    text = 'Id: http://h:1/a,"b"\nN: 1\nId:\nN: 2\n'
    found = made(tmp_path, text, event(field("id", "text", "Id", required=False), field("n", "integer", "N")))
    assert found.rows("block", "id", "n") == [('http://h:1/a,"b"', 1), (None, 2)]


def test_of_blocks_numbers_alone_may_be_read(tmp_path: Path) -> None:
    found = made(tmp_path, "Id: a\nN: 1\nId: b\nN: x\n", event(field("n", "integer", "N")))
    assert (found.rows("block", "n"), len(quarantined(found))) == ([(1,)], 1)


def test_a_block_of_one_key_without_a_value_is_a_block(tmp_path: Path) -> None:
    found = made(tmp_path, "Id: a\nId:\nId: c\n", event(field("id", "text", "Id", default="z")))
    assert found.rows("block", "seq", "id") == [(1, "a"), (2, "z"), (3, "c")]
    assert found.log()["lines"] == 3


def test_blocks_may_have_an_instant(tmp_path: Path) -> None:
    found = made(tmp_path, "Id: a\nAt: 2026-02-05T18:52:16Z\nN: 1\nId: b\nAt: soon\nN: 2\n", time=("At",))
    assert found.rows("block", "t_ns", "n") == [(1770317536 * 10**9, 1)]
    assert quarantined(found) == [(4, 'bad time: "soon"')]


def test_files_may_be_packed_and_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    import gzip

    found = made(tmp_path, {"b.txt": b"Id: b\nN: 2\n", "a.txt.gz": gzip.compress(b"Id: a\nN: 1\n")})
    assert found.rows("block", "id", "n") == [("a", 1), ("b", 2)]


# Published reports of the load tool: read again by other rules (places of columns, the order of keys)

NUMBERS = ("Connections", "Rate", "Size", "Total Valid Tx", "Total Negative Latencies")
TIMES = ("Minimum Latency", "Maximum Latency", "Average Latency", "Standard Deviation")
NANOSECONDS = {"h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "µs": 10**3, "ns": 1}


def exactly(text: str) -> int:
    """A duration as Go writes it, in ns."""
    parts = re.findall(r"([\d.]+)(h|ms|µs|ns|m|s)", text)
    assert "".join(a + b for a, b in parts) == text
    exact = sum(Fraction(number) * NANOSECONDS[unit] for number, unit in parts)
    assert exact.denominator == 1
    return int(exact)


def said(text: str) -> list[tuple[object, ...]]:
    """The blocks of a report: all values of each key in their order, whichever line they stand in."""

    def values(key: str) -> list[str]:
        return re.findall(rf"{key}: (\S+)", text)

    columns = [values("Experiment ID"), *(list(map(int, values(key))) for key in NUMBERS)]
    columns += [[exactly(value) for value in values(key)] for key in TIMES]
    return list(zip(*columns, strict=True))


SUMMARY = event(
    field("id", "text", "Experiment ID"),
    *(field(name.lower().replace(" ", "_"), "integer", name) for name in NUMBERS),
    *(field(name.lower().replace(" ", "_"), "integer", name, transforms=DURATION) for name in TIMES),
)
REPORTS = [*sorted(GOLDEN.glob("published/*/*.txt")), GOLDEN / "run" / "report" / "report_node0.txt"]


@pytest.mark.parametrize("path", REPORTS, ids=[path.stem for path in REPORTS])
def test_published_reports_are_read_to_the_nanosecond(tmp_path: Path, path: Path) -> None:
    found = made(tmp_path, path.read_bytes(), SUMMARY, begins="Experiment ID")
    due = said(path.read_text(encoding="utf-8"))
    assert len(due) == (8 if path.parent.name == "report" else 12)
    assert found.rows("block", *(item.name for item in SUMMARY.fields)) == due
    assert found.broken() == []


# Durations


@pytest.mark.parametrize(
    ("written", "ns"),
    [
        ("0s", 0),
        ("0", 0),
        ("15ns", 15),
        ("1.5µs", 1500),
        ("1.5μs", 1500),
        ("1.5us", 1500),
        ("448.050467ms", 448_050_467),
        ("1.16816912s", 1_168_169_120),
        ("1m2.5s", 62_500_000_000),
        ("1h0m0.000000001s", 3_600_000_000_001),
        ("-3m0s", -180_000_000_000),
        ("2562047h47m16.854775807s", 2**63 - 1),
    ],
)
def test_a_duration_is_exact(tmp_path: Path, written: str, ns: int) -> None:
    what = event(field("t", "integer", "T", transforms=DURATION))
    assert made(tmp_path, f"Id: a\nT: {written}\n", what).rows("block", "t") == [(ns,)]


@pytest.mark.parametrize(
    "written", ["1", "s", "-", "1.5", "1.5ns", "1.0000001ms", "1s1m", "1 s", "1S", "1d", "1e3s", "2562048h0m0s"]
)
def test_what_is_no_duration_breaks_its_block(tmp_path: Path, written: str) -> None:
    what = event(field("t", "integer", "T", transforms=DURATION))
    found = made(tmp_path, f"Id: a\nT: 1s\nId: b\nT: {written}\n", what)
    assert found.rows("block", "t") == [(10**9,)]
    ((line, reason),) = quarantined(found)
    assert line == 3
    if written != "2562048h0m0s":  # it is a duration, of more nanoseconds than fit
        assert reason == f'field t of block: expected a duration, such as 1m2.5s or 448.05ms, found "{written}"'


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=20))
@settings(max_examples=examples(30), deadline=None)
def test_every_duration_that_go_writes_is_read_back(durations_ns: list[int]) -> None:
    texts = [written(ns) for ns in durations_ns]
    value = field_sql.duration_ns(dialect.column("said")).sql(dialect=dialect.DIALECT)
    found = duckdb.execute(f"SELECT {value} FROM (SELECT unnest(?::TEXT[]) AS said)", [texts]).fetchall()
    assert [row[0] for row in found] == [str(ns) for ns in durations_ns]
    assert all(field_sql.is_duration(text) for text in texts)


def written(ns: int) -> str:
    """A duration as Go's `Duration.String` writes it."""
    sign, size = "-" * (ns < 0), abs(ns)
    if size < 10**9:
        unit, factor = next(((u, f) for u, f in (("ns", 1), ("µs", 10**3), ("ms", 10**6)) if size < 1000 * f))
        return f"{sign}{decimal(size, factor)}{unit}" if size else "0s"
    hours, rest = divmod(size, 3600 * 10**9)
    minutes, rest = divmod(rest, 60 * 10**9)
    parts = [f"{hours}h"] * bool(hours) + [f"{minutes}m"] * bool(hours or minutes)
    return f"{sign}{''.join(parts)}{decimal(rest, 10**9)}s"


def decimal(number: int, factor: int) -> str:
    whole, part = divmod(number, factor)
    digits = str(part).rjust(len(str(factor)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


# What cannot be read


def test_a_text_that_is_cut_off_loses_only_what_is_not_there(tmp_path: Path) -> None:
    text = (GOLDEN / "published" / "v038" / "v038_report_tabbed.txt").read_text(encoding="utf-8")
    cut = text[: text.rindex("Maximum Latency") - 3]
    found = made(tmp_path, cut, SUMMARY, begins="Experiment ID")
    assert found.rows("block", *(item.name for item in SUMMARY.fields)) == said(text)[:9]
    assert quarantined(found) == [
        (31, "field maximum_latency of block is missing"),
        (31, "field maximum_latency of block is missing"),
        (31, "field maximum_latency of block is missing"),
        (38, "expected a cell for each of 3 blocks, found 2"),
    ]


@pytest.mark.parametrize(
    ("text", "kept", "broken"),
    [
        ("Id: a  Id: b\nN: 1\nId: c\nN: 3\n", [("c", 3)],
         [(1, "field n of block is missing"), (1, "field n of block is missing"),
          (2, "expected a cell for each of 2 blocks, found 1")]),
        ("Id: a  Id: b\nN: 1  N: 2  N: 3\nN: 4  N: 5\n", [("a", 4), ("b", 5)],
         [(2, "expected a cell for each of 2 blocks, found 3")]),
        ("Id: a │ Id: b\nN: 1 │\nId: c │\nN: 3 │", [("a", 1), ("c", 3)], [(1, "field n of block is missing")]),
        ("Id: a\nN: 1\nN: 2\nId: b\nN: 3\n", [("b", 3)], [(1, "`N` stands twice")]),
        ("Id: a\nsomething else\nN: 1\n", [("a", 1)], [(2, "expected `Key: value`, found `something else`")]),
        ("Id: a  Id: b\nN: 1  N: 2\nN: 3  Id: c\nX: 1  N: 4\nId: d\nN: 5\n", [("a", 1), ("b", 2), ("d", 5)],
         [(3, "blocks begin beside something else"), (4, "it stands in no block")]),
        ("Id: a\nN: one\nId: b\nN: 2\n", [("b", 2)], [(1, 'field n of block: expected an integer, found "one"')]),
    ],
)  # fmt: skip
def test_what_is_broken_is_quarantined_and_counted(
    tmp_path: Path, text: str, kept: Sequence[tuple[str, int]], broken: Sequence[tuple[int, str]]
) -> None:
    found = made(tmp_path, text)
    assert found.rows("block", "id", "n") == kept
    assert quarantined(found) == broken


def test_a_line_that_is_too_long_is_broken(tmp_path: Path) -> None:
    found = made(tmp_path, f"Id: a\nN: 1\nX: {'x' * 9 * 2**20}\nId: b\nN: 2\n")
    assert found.rows("block", "id", "n") == [("a", 1), ("b", 2)]
    assert found.broken() == [("", "a.txt", 3, "longer than 8 MiB", "X: " + "x" * 1997)]


BESIDE = {
    "between blanks": "Id: a  Id: bé   Id: c\nN: x  N: 2  N: y\n",
    "between bars": "  Id: a │ Id: bé│Id: c\nN: x │ N: 2 │N: y\n",
    "after a byte order mark": "\ufeff Id: a\tId: bé\tId: c\nN: x\tN: 2\tN: y\n",
    "below others": "Id: é  Id: f\r\nN: 1  N: 2\r\n\r\n Id: a  Id: é  Id: c\r\nN: x  N: 2  N: y",
}


@pytest.mark.parametrize("bad", [b"", b"\xff", b"\xe2\x82", "\u20ac".encode()])
@pytest.mark.parametrize("beside", BESIDE)
def test_a_broken_block_is_told_where_its_cells_begin(tmp_path: Path, beside: str, bad: bytes) -> None:
    content = BESIDE[beside].encode().replace(b"Id: b", b"Id: " + bad) + b"\nId: z\nN: 9\n"
    found = made(tmp_path, content)
    due = [(content.index(b"Id: a"), "Id: a; N: x"), (content.index(b"Id: c"), "Id: c; N: y")]
    told = [row for row in found.rows("quarantine", "offset", "text") if "\ufffd" not in row[1]]
    assert (told, len(found.broken())) == (due, len(found.rows("quarantine")))


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_broken_line_of_blocks_is_told_where_its_first_cell_begins(tmp_path: Path, mark: str) -> None:
    content = f"{mark}  Id: a  x\nId: b\n \té x\nN: 1\n".encode()
    found = made(tmp_path, content)
    assert found.rows("quarantine", "line", "offset", "text") == [
        (1, content.index(b"Id"), "Id: a  x"), (3, content.index("é".encode()), "é x"),
    ]  # fmt: skip


def test_a_broken_block_is_quarantined_with_what_it_says(tmp_path: Path) -> None:
    found = made(tmp_path, "Id: a  Id: b\nN: x  N: 2\n")
    assert found.broken() == [("", "a.txt", 1, 'field n of block: expected an integer, found "x"', "Id: a; N: x")]


def test_more_broken_blocks_than_the_source_bears_end_the_ingest(tmp_path: Path) -> None:
    said_ = refused(tmp_path, "Id: a  Id: b\nN: x  N: 2\n", quarantine=Quarantine(share=0.0, at_least=0))
    assert said_ == (
        "error[too-many-broken-lines]: 1 of the 2 blocks are broken\n"
        "  expected: at most 0\n"
        "  found:    1\n"
        '  note: a.txt:1, byte 0: field n of block: expected an integer, found "x"\n'
        "  hint: the limit stands in the source's definition (`quarantine`)"
    )


@pytest.mark.parametrize(
    ("text", "found"), [("", "nothing"), ("\n\n", "nothing"), ("a,b\n1,2\n", "a,b"), ("ID: a\nN: 1\n", "ID: a")]
)
def test_a_text_without_a_block_is_refused(tmp_path: Path, text: str, found: str) -> None:
    assert refused(tmp_path, text) == (
        "error[no-block]: the text has no block: DIR/run/a.txt\n"
        "  expected: a line that begins with `Id:`\n"
        f"  found:    {found}"
    )


def test_a_key_that_no_block_has_is_named_with_those_there_are(tmp_path: Path) -> None:
    assert refused(tmp_path, "Id: a\nM: 1\n") == (
        "error[no-key]: the text has no key N: DIR/run/a.txt\n"
        "  expected: N\n"
        "  found:    Id, M\n"
        "  hint: there are `Id`, `M`"
    )


@pytest.mark.parametrize("filling", [b"x", b'"'])
@pytest.mark.parametrize(
    ("sizes", "found"), [([9], [1, 2, 3]), ([4, 3], [1, 2, 3]), ([4, 4], [1, 3]), ([7] * 3, [1, 3])]
)
def test_a_block_that_is_too_long_is_broken_and_ends_no_work(
    tmp_path: Path, filling: bytes, sizes: list[int], found: list[int]
) -> None:
    """Several long lines of one block are a row that the engine refuses, and with it the whole file."""
    long = b"".join(b"K%d: %s\n" % (place, filling * (size * 2**20)) for place, size in enumerate(sizes))
    if sizes == [9]:
        long = b"K: " + filling * (8 * 2**20 - 100) + b"\n"
    text = b"Id: 1\nN: 1\nId: 2\nN: 2\n" + long + b"Id: 3\nN: 3\n"
    kept = made(tmp_path, text)
    assert kept.rows("block", "n") == [(n,) for n in found]
    told = [] if 2 in found else [("a.txt", 3, "longer than 8 MiB")]
    assert [(file, line, reason) for _, file, line, reason, _ in kept.broken()] == told
    assert (kept.log()["lines"], kept.log()["quarantined"]) == (3, len(told))
