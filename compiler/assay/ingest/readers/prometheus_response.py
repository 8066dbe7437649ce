"""Read saved responses of the Prometheus HTTP API: JSON documents with a matrix of series.

`warnings` is part of the API of Prometheus, for responses without some of its stores; `isPartial` of compatible
servers. The first value of a duplicate key counts.
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
from assay.util.json_text import parse_json
from assay.util.os_errors import is_full

if TYPE_CHECKING:
    import duckdb


PIECE = 16 * 2**20  # bytes
#: beginning of a series, as servers write it; within a string, its quotes would be escaped
BEGIN = b'{"metric":'
_HEAD, TAIL = b'{"status":"success","data":{"resultType":"matrix","result":[', b"]}}"


def split_response(plain: Path, folder: Path, size: int) -> Iterator[Path]:
    """Yield the document itself if it has at most `size` bytes or another layout, else pieces of it, one file at a
    time.

    Members of the document before its series are in the first piece, members after them in the last.
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
    """Yield the pieces of a document of about `size` bytes, each with the difference of offsets to the document."""
    pending, head, begin = b"", b"", 0
    for chunk in chunks:
        pending += chunk
        cut = pending.rfind(BEGIN) if len(pending) >= size else -1
        before = pending[:cut].rstrip() if cut > 0 else b""
        if before.endswith(b","):
            yield begin - len(head), head + before[:-1] + TAIL
            pending, head, begin = pending[cut:], _HEAD, begin + cut
    yield begin - len(head), head + pending


RESULT = ("data", "result")


def locate_samples(path: Path, numbers: Collection[int]) -> dict[int, int]:
    """Return the byte offsets of samples in the uncompressed content by their numbers, from 1.

    Nothing if Python does not read the document like the engine.
    """
    offsets: dict[int, int] = {}
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
                    offsets[count] = before + place
            if len(offsets) == len(numbers):
                break
    except (ValueError, IndexError, RecursionError):
        offsets.clear()
    return offsets


def _samples(answer: bytes) -> Iterator[int]:
    """Yield the offsets of the samples of a response."""
    text = answer.decode("latin-1")  # one character per byte; the content of names and labels does not matter
    for series, _ in members(text, list_of(text, RESULT)):
        yield from (place for place, _ in members(text, value_of(text, series, "values")))


#: within a string, the quotes would be escaped; labels have only string values
_SAID = re.compile(rb'"warnings"\s*:\s*(?=\[)|"isPartial"\s*:\s*true')
_LONGEST = 2**16  # bytes of warnings that are read
PARTIAL = "it is partial"


def warnings(text: bytes) -> tuple[str, ...]:
    """Return the warnings in the text of a response, or of a piece of one."""
    texts: list[str] = []
    for match in _SAID.finditer(text):
        if b"warnings" in match.group():
            texts += _listed(text[match.end() : match.end() + _LONGEST])
        else:
            texts.append(PARTIAL)
    return tuple(dict.fromkeys(texts))


def _listed(text: bytes) -> list[str]:
    try:
        items, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
    except ValueError:
        return ["warnings that cannot be read"]
    return [item for item in items if isinstance(item, str) and item]


HEAD = ("/status", "/error", "/data/resultType", "/data/result")
#: a sample, `[1795231211.714,"250"]`. No string in a document resembles one, since within its quotes is only a number
SAMPLE = r'\[\s*([-+0-9.eE]+)\s*,\s*"([-+0-9.eEInfNa]*)"\s*\]'
#: prefix of samples that were turned into strings, `"1795231211.714 250"`, to avoid a conversion to doubles; a string
#: in place of a sample has no such prefix
MARK = "\x7f"
SHAPE = '{"data":{"result":[{"metric":"MAP(VARCHAR, VARCHAR)","values":["VARCHAR"],"histograms":"JSON"}]}}'


def load(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path, file: int, folder: Path) -> tuple[str, ...]:
    """Add the samples of a response; return the warnings of the server.

    `plain` is the uncompressed content of `path`; `folder` is for temporary files.

    Raises AssayError if it is not JSON, an error of the server, or another result than a matrix, and for histograms.
    """
    import duckdb

    texts: list[str] = []
    plain = _unmarked(plain, folder)
    try:
        places = numbers = 0
        for index, piece in enumerate(split_response(plain, folder, PIECE)):
            if not index:
                _judge(path, _head(connection, piece))
            text = piece.read_bytes()
            texts += warnings(text)
            _unnested(connection, piece, places)
            _no_histograms(connection, path)
            count = _count(connection, "answer")
            places += count
            numbers += _add(connection, file, numbers)
    except duckdb.Error as error:
        if is_full(error):
            raise
        if isinstance(error, duckdb.OutOfMemoryException):
            raise _too_large(path, first_of(error)) from None
        raise _malformed(path, plain, first_of(error)) from None
    return tuple(texts)


def _unmarked(plain: Path, folder: Path) -> Path:
    """Return the document, or a copy of it without its byte order mark."""
    with plain.open("rb") as stream:
        if stream.read(len(BOM_UTF8)) != BOM_UTF8:
            return plain
        copy = folder / f"{plain.name}.unmarked"
        with copy.open("wb") as target:
            shutil.copyfileobj(stream, target)
    return copy


def _too_large(path: Path, cause: str) -> AssayError:
    hint = "`assay fetch prometheus` gets samples in parts, from the server itself"
    return fail("too-large", f"the answer is too large: {path}", found=cause, hint=hint)


def _add(connection: duckdb.DuckDBPyConnection, file: int, before: int) -> int:
    """Add the samples of the table `answer` after `before` samples of the file; return their number."""
    name = exp.Coalesce(this=_label(sample_store.NAME), expressions=[builder.text("")])
    add_series(
        connection, file, builder.from_source(dialect.select("place", builder.alias(name, "name"), "labels"), "answer")
    )
    make(connection, "pairs", _pairs(before))
    run(connection, _with_labels())
    add_samples(connection, file, "pairs")
    count = _count(connection, "pairs")
    drop(connection, "answer", "pairs")
    return count


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    ((number,),) = run(connection, builder.from_source(dialect.select(exp.Count(this=exp.Star())), table))
    return int(number)


def _after(before: int) -> exp.Expr:
    """Return row numbers after a number of earlier rows."""
    return exp.Add(this=counted(), expression=dialect.integer(before))


def _document(plain: Path) -> dict[str, object]:
    return {"file": glob.escape(str(plain))}


def _content() -> exp.Expr:
    return builder.call("read_text", exp.Placeholder(this="file"))


def _head(connection: duckdb.DuckDBPyConnection, plain: Path) -> list[str | None]:
    """Return the values of a document at the paths of `HEAD`; of the result only its JSON type."""
    texts_at_head = builder.call(
        "json_extract_string", column("content"), exp.Array(expressions=[builder.text(at) for at in HEAD[:3]])
    )
    kind = builder.call("json_type", column("content"), builder.text(HEAD[3]))
    ((texts, result),) = run(
        connection, builder.from_source(dialect.select(texts_at_head, kind), _content()), **_document(plain)
    )
    return [*texts, result]


def _judge(path: Path, head: list[str | None]) -> None:
    """Check that a document is a response with a matrix. Raises AssayError."""
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
    """Create the table `answer`, one row per series: place, labels, pairs (instant and value as text), histograms."""
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
    columns = [
        builder.alias(builder.call("struct_extract", column("item"), builder.text(key)), name)
        for key, name in parts.items()
    ]
    place = builder.alias(_after(before), "place")
    make(connection, "answer", builder.from_source(dialect.select(place, *columns), items),
         **_document(plain))  # fmt: skip


def _label(name: str) -> exp.Expr:
    return builder.call("map_extract_value", column("labels"), builder.text(name))


def _no_histograms(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Check that each series has samples, no native histograms, and labels that form a map.

    Raises AssayError for the first series that does not.  A duplicate label makes the labels null.
    """
    name = exp.Coalesce(this=_label(sample_store.NAME), expressions=[builder.text("")])
    is_invalid = exp.or_(
        builder.is_null(column("pairs")),
        builder.is_not_null(column("histograms")),
        builder.is_null(column("labels")),
    )
    query = builder.from_source(
        dialect.select("place", name, builder.is_not_null(column("histograms"))), "answer"
    ).where(is_invalid, copy=False)
    rows = run(connection, query.order_by("place").limit(1))
    if rows:
        ((place, name_text, native),) = rows
        raise fail(
            "not-samples",
            f"series {place} of the answer has no samples: {path}",
            expected="a metric with its labels, and values",
            found=f"native histograms of {name_text}" if native else name_text or "no metric",
        )


def _pairs(before: int) -> exp.Select:
    """Return the query for the samples of `answer`: place, number, t_ns, value, fault (null), text."""
    each = builder.from_source(
        dialect.select("place", builder.alias(exp.Explode(this=column("pairs")), "text")), "answer"
    )
    text = builder.call("ltrim", column("text"), builder.text(MARK))
    parts = [builder.call("split_part", text.copy(), builder.text(" "), dialect.integer(index)) for index in (1, 2)]
    # An item that is not a sample is still JSON, and its instant may be valid.
    is_odd = exp.Not(this=builder.starts(column("text"), MARK))
    instant = builder.tried(builder.cast(builder.call("json_extract", column("text"), builder.text("$[0]")), "TEXT"))
    t_ns = builder.alias(sample_store.instant(builder.when(is_odd, instant, parts[0])), "t_ns")
    value = builder.alias(sample_store.number(builder.when(exp.not_(is_odd.copy()), parts[1])), "value")
    fault = builder.alias(builder.cast(exp.Null(), "TEXT"), "fault")
    number = builder.alias(_after(before), "number")
    return builder.from_source(
        dialect.select("place", number, t_ns, value, fault, builder.alias(text, "text")), each.subquery("e")
    )


def _with_labels() -> exp.Update:
    """Return the statement that prefixes malformed samples with the labels of their series."""
    words = [builder.text(" "), builder.call("to_json", column("labels", "answer")), column("text", "p")]
    is_same = exp.EQ(this=column("place", "answer"), expression=column("place", "p"))
    line = builder.from_source(dialect.select(builder.call("concat_ws", *words)), "answer").where(is_same, copy=False)
    return exp.Update(
        this=exp.to_table("pairs", alias="p"),
        expressions=[exp.EQ(this=column("text"), expression=line.subquery())],
        where=exp.Where(this=exp.or_(builder.is_null(column("t_ns")), builder.is_null(column("value")))),
    )


def _malformed(path: Path, plain: Path, cause: str) -> AssayError:
    """Return the error for an invalid document, with a location if Python finds one; `cause` is that of the engine."""
    try:
        document: Any = parse_json(plain.read_text(encoding="utf-8"))
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
    except (ValueError, RecursionError):  # Python rejects it, too, without a location
        return fail("not-json", f"the answer is not JSON: {path}", found=cause)
    kind = type(document).__name__
    return fail(
        "not-samples", f"the JSON document is no answer of a Prometheus server: {path}", found=f"{kind}: {cause}"
    )
