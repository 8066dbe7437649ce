"""A large answer in pieces, each an answer of its own, so that memory stays the same for any size."""

from __future__ import annotations

from collections.abc import Iterator
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
    for text in _texts(plain, size):
        place.write_bytes(text)
        yield place
    place.unlink(missing_ok=True)


def _texts(plain: Path, size: int) -> Iterator[bytes]:
    held, head = b"", b""
    with plain.open("rb") as stream:
        while chunk := stream.read(size):
            held += chunk
            cut = held.rfind(BEGIN)
            before = held[:cut].rstrip() if cut > 0 else b""
            if before.endswith(b","):
                yield head + before[:-1] + TAIL
                held, head = held[cut:], HEAD
    yield head + held
