"""A large answer in pieces, each an answer of its own, so that memory stays the same for any size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

PIECE = 16 * 2**20  # bytes
#: where a series begins, as servers write it; within a text its quotes would be escaped
BEGIN = b'{"metric":'
HEAD, TAIL = b'{"status":"success","data":{"resultType":"matrix","result":[', b"]}}"


def pieces(plain: Path, folder: Path, size: int) -> Iterator[Path]:
    """The document itself when it has at most `size` bytes, or is written in another way; else files, one at a time.

    What the document says before its series stands in the first piece, what it says after them in the last.
    """
    if plain.stat().st_size <= size:
        yield plain
        return
    place = folder / f"{plain.name}.piece"
    with plain.open("rb") as stream:
        for _, text in texts(iter(partial(stream.read, size), b""), size):
            place.write_bytes(text)
            yield place
    place.unlink(missing_ok=True)


def texts(chunks: Iterable[bytes], size: int) -> Iterator[tuple[int, bytes]]:
    """The pieces of a document, of about so many bytes; each with what makes a place in it one in the document."""
    held, head, begin = b"", b"", 0
    for chunk in chunks:
        held += chunk
        cut = held.rfind(BEGIN) if len(held) >= size else -1
        before = held[:cut].rstrip() if cut > 0 else b""
        if before.endswith(b","):
            yield begin - len(head), head + before[:-1] + TAIL
            held, head, begin = held[cut:], HEAD, begin + cut
    yield begin - len(head), head + held
