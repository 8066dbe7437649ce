"""Read saved responses of the Prometheus HTTP API: JSON documents with a matrix of series.

`warnings` is of Prometheus' own interface, where some of its stores did not answer; `isPartial` is of servers like it.
"""

from __future__ import annotations

import glob
import json
import re
import shutil
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.decompress import decompressed
from assay.ingest.readers import sample_store
from assay.ingest.readers.json_record_positions import list_of, members, value_of
from assay.ingest.readers.sample_store import add_samples, add_series, counted, drop, first_of, make, run
from assay.sql import dialect
from assay.sql.dialect import column
from assay.util.diagnostics import AssayError, Span, fail
from assay.util.json_text import Ambiguous, build_object, has_conflicting_key, parse_json
from assay.util.os_errors import is_full

if TYPE_CHECKING:
    import duckdb


PIECE = 16 * 2**20  # bytes
#: where a series begins, as servers write it; within a text its quotes would be escaped
BEGIN = b'{"metric":'
_HEAD, TAIL = b'{"status":"success","data":{"resultType":"matrix","result":[', b"]}}"


def split_response(plain: Path, folder: Path, size: int) -> Iterator[Path]:
    """The document itself when it has at most `size` bytes, or is written in another way; else files, one at a time.

    What the document says before its series stands in the first piece, what it says after them in the last.
    """
    if plain.stat().st_size <= size:
        yield plain
        return
    place = folder / f"{plain.name}.piece"
    with plain.open("rb") as stream:
        for _, text in split_text(iter(partial(stream.read, size), b""), size):
            place.write_bytes(text)
            yield place
    place.unlink(missing_ok=True)


def split_text(chunks: Iterable[bytes], size: int) -> Iterator[tuple[int, bytes]]:
    """The pieces of a document, of about so many bytes; each with what makes a place in it one in the document."""
    held, head, begin = b"", b"", 0
    for chunk in chunks:
        held += chunk
        cut = held.rfind(BEGIN) if len(held) >= size else -1
        before = held[:cut].rstrip() if cut > 0 else b""
        if before.endswith(b","):
            yield begin - len(head), head + before[:-1] + TAIL
            held, head, begin = held[cut:], _HEAD, begin + cut
    yield begin - len(head), head + held


_ESCAPED = re.compile(rb'\\u[0-9a-fA-F]{4}[^"]*"\s*:')  # in a key, most likely
OF_ALL = (("data",), ("data", "result"))
OF_SERIES = ("metric", "values")


def find_duplicate_keys(text: bytes, series: int, before: int = 0) -> str:
    """What stands twice in the text of an answer with so many series, `before` others being read; empty: nothing.

    Within texts quotes are escaped, so as long as each key stands as often as there are series, nothing does.
    """
    number = {"data": 1, "result": 1} | dict.fromkeys(OF_SERIES, series)
    if all(text.count(f'"{key}"'.encode()) <= most for key, most in number.items()) and not _ESCAPED.search(text):
        return ""
    return next(iterate_duplicates(text, before), "")


def label_twice(text: bytes, place: int) -> bool:
    """Whether a label of the series at a place, from 1, stands twice."""
    found = _series(_parse_exactly(text))
    return place <= len(found) and isinstance(found[place - 1].get("metric"), Ambiguous)


def iterate_duplicates(text: bytes, before: int) -> Iterator[str]:
    document = _parse_exactly(text)
    yield from (f"`{'.'.join(path)}` with two values" for path in OF_ALL if has_conflicting_key(document, path))
    for place, item in enumerate(_series(document), before + 1):
        yield from (
            f"`{key}` with two values in series {place}" for key in OF_SERIES if has_conflicting_key(item, (key,))
        )


def _parse_exactly(text: bytes) -> object:
    """What the engine has read; numbers are texts."""
    return json.loads(text, object_pairs_hook=build_object, parse_float=str, parse_int=str)


def _series(document: object) -> list[dict[str, object]]:
    for key in ("data", "result"):
        document = document.get(key) if isinstance(document, dict) else None
    return [item if isinstance(item, dict) else {} for item in document] if isinstance(document, list) else []


RESULT = ("data", "result")


def locate_samples(path: Path, numbers: Collection[int]) -> dict[int, int]:
    """Number of a sample (from 1, in the order of the document) -> the place of its first byte, from 0, in the
    uncompressed content.  Of a document that Python reads in another way than the engine, none."""
    found: dict[int, int] = {}
    count = 0
    chunks = decompressed(path)
    first = next(chunks, b"")
    bare = first.removeprefix(BOM_UTF8)
    try:
        for before, text in split_text(chain([bare], chunks), PIECE):
            before += len(first) - len(bare)
            for place in _samples(text):
                count += 1
                if count in numbers:
                    found[count] = before + place
            if len(found) == len(numbers):
                break
    except (ValueError, IndexError, RecursionError):
        found.clear()
    return found


def _samples(answer: bytes) -> Iterator[int]:
    """Where the samples of an answer begin."""
    text = answer.decode("latin-1")  # a character a byte: what names and labels say is not asked
    for series, _ in members(text, list_of(text, RESULT)):
        yield from (place for place, _ in members(text, value_of(text, series, "values")))


#: within a text the quotes would be escaped, and labels are texts alone
_SAID = re.compile(rb'"warnings"\s*:\s*(?=\[)|"isPartial"\s*:\s*true')
_LONGEST = 2**16  # bytes of all warnings that are read
PARTIAL = "it is partial"


def warnings(text: bytes) -> tuple[str, ...]:
    """The warnings that the text of an answer holds, or a part of one."""
    found: list[str] = []
    for match in _SAID.finditer(text):
        if b"warnings" in match.group():
            found += _listed(text[match.end() : match.end() + _LONGEST])
        else:
            found.append(PARTIAL)
    return tuple(dict.fromkeys(found))


def _listed(text: bytes) -> list[str]:
    try:
        said, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
    except ValueError:
        return ["warnings that cannot be read"]
    return [item for item in said if isinstance(item, str) and item]


HEAD = ("/status", "/error", "/data/resultType", "/data/result")
#: a sample, `[1795231211.714,"250"]`: no text within a document can look like one, since a number alone stands
#: between its quotes
SAMPLE = r'\[\s*([-+0-9.eE]+)\s*,\s*"([-+0-9.eEInfNa]*)"\s*\]'
#: what samples become texts behind, `"1795231211.714 250"`, so that no double comes between; a text that stands in the
#: place of a sample has no such mark
MARK = "\x7f"
SHAPE = '{"data":{"result":[{"metric":"MAP(VARCHAR, VARCHAR)","values":["VARCHAR"],"histograms":"JSON"}]}}'


def load(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path, file: int, folder: Path) -> tuple[str, ...]:
    """Add the samples of an answer, whose uncompressed content is `plain`; `folder` is for scratch.  What the server
    warns of comes back.

    Raises AssayError: no JSON, an error in place of an answer, another type of result than a matrix, histograms.
    """
    import duckdb

    told: list[str] = []
    plain = _unmarked(plain, folder)
    try:
        places = numbers = 0
        for index, piece in enumerate(split_response(plain, folder, PIECE)):
            if not index:
                _judge(path, _head(connection, piece))
            text = piece.read_bytes()
            told += warnings(text)
            _unnested(connection, piece, places)
            _no_histograms(connection, path, text, places)
            found = _count(connection, "answer")
            _nothing_twice(path, text, found, places)
            places += found
            numbers += _add(connection, file, numbers)
    except duckdb.Error as error:
        if is_full(error):
            raise
        if isinstance(error, duckdb.OutOfMemoryException):
            raise _too_large(path, first_of(error)) from None
        raise _malformed(path, plain, first_of(error)) from None
    return tuple(told)


def _unmarked(plain: Path, folder: Path) -> Path:
    """The document, or a copy of it without the mark of the byte order that it begins with."""
    with plain.open("rb") as stream:
        if stream.read(len(BOM_UTF8)) != BOM_UTF8:
            return plain
        copy = folder / f"{plain.name}.unmarked"
        with copy.open("wb") as target:
            shutil.copyfileobj(stream, target)
    return copy


def _nothing_twice(path: Path, text: bytes, series: int, before: int) -> None:
    """AssayError when the answer has two values where one is read."""
    if said := find_duplicate_keys(text, series, before):
        raise fail("not-samples", f"the answer has two values of a key: {path}", expected="one of each", found=said)


def _too_large(path: Path, cause: str) -> AssayError:
    hint = "`assay fetch prometheus` gets samples in parts, from the server itself"
    return fail("too-large", f"the answer is too large: {path}", found=cause, hint=hint)


def _add(connection: duckdb.DuckDBPyConnection, file: int, before: int) -> int:
    """Add the samples of the table `answer`, so many of the file's being there already; how many they are."""
    name = exp.Coalesce(this=_label(sample_store.NAME), expressions=[builder.text("")])
    add_series(
        connection, file, builder.from_source(dialect.select("place", builder.alias(name, "name"), "labels"), "answer")
    )
    make(connection, "pairs", _pairs(before))
    run(connection, _with_labels())
    add_samples(connection, file, "pairs")
    found = _count(connection, "pairs")
    drop(connection, "answer", "pairs")
    return found


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    ((number,),) = run(connection, builder.from_source(dialect.select(exp.Count(this=exp.Star())), table))
    return int(number)


def _after(before: int) -> exp.Expr:
    """The numbers of rows, so many having come before."""
    return exp.Add(this=counted(), expression=dialect.integer(before))


def _document(plain: Path) -> dict[str, object]:
    return {"file": glob.escape(str(plain))}


def _content() -> exp.Expr:
    return builder.call("read_text", exp.Placeholder(this="file"))


def _head(connection: duckdb.DuckDBPyConnection, plain: Path) -> list[str | None]:
    """What the document says of itself, at the places of `HEAD`; of its result only what type of JSON it is."""
    said = builder.call(
        "json_extract_string", column("content"), exp.Array(expressions=[builder.text(at) for at in HEAD[:3]])
    )
    kind = builder.call("json_type", column("content"), builder.text(HEAD[3]))
    ((texts, result),) = run(
        connection, builder.from_source(dialect.select(said, kind), _content()), **_document(plain)
    )
    return [*texts, result]


def _judge(path: Path, head: list[str | None]) -> None:
    """AssayError when the document is no answer with a matrix."""
    status, error, kind, result = head
    if status == "error":
        raise fail("answer-error", f"the saved answer of the server is an error: {path}", found=error or "")
    if status != "success":
        raise fail(
            "not-samples",
            f"the JSON document is no answer of a Prometheus server: {path}",
            expected='`"status":"success"`',
            found="no status" if status is None else f"status {status}",
        )
    if kind != "matrix" or result != "ARRAY":
        raise fail(
            "not-samples",
            f"the answer holds no series of samples: {path}",
            expected="a result of type matrix",
            found=f"a result of type {kind}" if kind != "matrix" else f"a result that is {result or 'not there'}",
            hint="ask for a selector with a range, such as `up[1h]`, or use `assay fetch prometheus`",
        )


def _unnested(connection: duckdb.DuckDBPyConnection, plain: Path, before: int) -> None:
    """The table `answer`: place, labels, pairs (texts of instant and value), histograms; a row a series."""
    quoted = builder.text(rf'"{MARK}\1 \2"')
    content = builder.call("regexp_replace", column("content"), builder.text(SAMPLE), quoted, builder.text("g"))
    document = builder.call("from_json", content, builder.text(SHAPE))
    result = builder.call(
        "struct_extract",
        builder.call("struct_extract", document, builder.text("data")),
        builder.text("result"),
    )
    items = builder.from_source(dialect.select(builder.alias(exp.Explode(this=result), "item")), _content()).subquery(
        "items"
    )
    parts = {"metric": "labels", "values": "pairs", "histograms": "histograms"}
    found = [
        builder.alias(builder.call("struct_extract", column("item"), builder.text(key)), name)
        for key, name in parts.items()
    ]
    place = builder.alias(_after(before), "place")
    make(connection, "answer", builder.from_source(dialect.select(place, *found), items),
         **_document(plain))  # fmt: skip


def _label(name: str) -> exp.Expr:
    return builder.call("map_extract_value", column("labels"), builder.text(name))


def _no_histograms(connection: duckdb.DuckDBPyConnection, path: Path, text: bytes, before: int) -> None:
    """AssayError when a series has histograms, or nothing at all, in place of samples, or a label twice."""
    name = exp.Coalesce(this=_label(sample_store.NAME), expressions=[builder.text("")])
    lost = exp.or_(
        builder.is_null(column("pairs")),
        builder.is_not_null(column("histograms")),
        builder.is_null(column("labels")),
    )
    query = builder.from_source(
        dialect.select("place", name, builder.is_not_null(column("histograms"))), "answer"
    ).where(lost, copy=False)
    rows = run(connection, query.order_by("place").limit(1))
    if rows:
        ((place, said, native),) = rows
        if not (said or native) and label_twice(text, place - before):
            raise fail("not-samples", f"the labels of series {place} of the answer are not told apart: {path}",
                       expected="each once", found="a label that stands twice")  # fmt: skip
        raise fail(
            "not-samples",
            f"series {place} of the answer has no samples: {path}",
            expected="a metric with its labels, and values",
            found=f"native histograms of {said}" if native else said or "no metric",
        )


def _pairs(before: int) -> exp.Select:
    """The samples of `answer`: place, number, t_ns, value, fault (none), text."""
    each = builder.from_source(
        dialect.select("place", builder.alias(exp.Explode(this=column("pairs")), "text")), "answer"
    )
    said = builder.call("ltrim", column("text"), builder.text(MARK))
    parts = [builder.call("split_part", said.copy(), builder.text(" "), dialect.integer(index)) for index in (1, 2)]
    # What is no sample is still JSON: its instant may be right.
    odd = exp.Not(this=builder.starts(column("text"), MARK))
    written = builder.tried(builder.cast(builder.call("json_extract", column("text"), builder.text("$[0]")), "TEXT"))
    t_ns = builder.alias(sample_store.instant(builder.when(odd, written, parts[0])), "t_ns")
    value = builder.alias(sample_store.number(builder.when(exp.not_(odd.copy()), parts[1])), "value")
    fault = builder.alias(builder.cast(exp.Null(), "TEXT"), "fault")
    number = builder.alias(_after(before), "number")
    return builder.from_source(
        dialect.select("place", number, t_ns, value, fault, builder.alias(said, "text")), each.subquery("e")
    )


def _with_labels() -> exp.Update:
    """The statement that writes the labels of its series ahead of what is no sample."""
    words = [builder.text(" "), builder.call("to_json", column("labels", "answer")), column("text", "p")]
    own = exp.EQ(this=column("place", "answer"), expression=column("place", "p"))
    said = builder.from_source(dialect.select(builder.call("concat_ws", *words)), "answer").where(own, copy=False)
    return exp.Update(
        this=exp.to_table("pairs", alias="p"),
        expressions=[exp.EQ(this=column("text"), expression=said.subquery())],
        where=exp.Where(this=exp.or_(builder.is_null(column("t_ns")), builder.is_null(column("value")))),
    )


def _malformed(path: Path, plain: Path, cause: str) -> AssayError:
    """The error of a document that is no JSON, with its place; `cause` is what the engine says."""
    try:
        found: Any = parse_json(plain.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        return sample_store.unreadable(path, str(error))
    except json.JSONDecodeError as error:
        return fail(
            "not-json",
            f"the answer is not JSON: {path}",
            span=Span(str(path), error.lineno, error.colno),
            found=error.msg,
            hint="is the file cut off?",
        )
    except (ValueError, RecursionError):  # which Python does not read either, and has no place for
        return fail("not-json", f"the answer is not JSON: {path}", found=cause)
    kind = type(found).__name__
    return fail(
        "not-samples", f"the JSON document is no answer of a Prometheus server: {path}", found=f"{kind}: {cause}"
    )
