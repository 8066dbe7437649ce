"""The part of CBOR (RFC 8949) that the binary form of Dhall needs."""

from __future__ import annotations

import math
import struct
from typing import Any

MAX_DEPTH = 2_000
SELF_DESCRIBED = 55_799  # a tag that only says that CBOR follows


class Tag:
    """A tagged item."""

    __slots__ = ("number", "value")

    def __init__(self, number: int, value: Any) -> None:
        self.number = number
        self.value = value


def encode_head(major: int, number: int) -> bytes:
    """Encode a major type with its argument in the shortest form."""
    if number < 24:
        return bytes(((major << 5) | number,))
    for code, width in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 1 << (8 * width):
            return bytes(((major << 5) | code,)) + number.to_bytes(width, "big")
    raise OverflowError(number)


def encode_float(number: float) -> bytes:
    """Encode a number in the shortest of the three widths that holds it exactly."""
    if math.isnan(number):
        return b"\xf9\x7e\x00"
    for head, form in ((b"\xf9", ">e"), (b"\xfa", ">f"), (b"\xfb", ">d")):
        try:
            packed: bytes = struct.pack(form, number)
        except OverflowError:
            continue
        if struct.unpack(form, packed)[0] == number:
            return head + packed
    raise ValueError(number)


def encode_integer(number: int) -> bytes:
    """Encode an integer, a large one as a bignum."""
    major, size = (0, number) if number >= 0 else (1, -1 - number)
    if size < 1 << 64:
        return encode_head(major, size)
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return encode_head(6, 2 + major) + encode_head(2, len(digits)) + digits


def encode_text(text: str) -> bytes:
    """Encode a text."""
    encoded = text.encode("utf-8")
    return encode_head(3, len(encoded)) + encoded


def decode(data: bytes) -> Any:
    """Decode one item that takes all the bytes; `ValueError` where it does not."""
    decoder = _Decoder(data)
    value = decoder.decode_item(0)
    if decoder.position != len(data):
        raise ValueError("bytes follow the item")
    return value


class _Decoder:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, count: int) -> bytes:
        chunk = self.data[self.position : self.position + count]
        if len(chunk) < count:
            raise ValueError("the bytes end too early")
        self.position += count
        return chunk

    def decode_item(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise ValueError("items are nested too deeply")
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if major == 7:
            return self._decode_simple(info)
        if info == 31:
            return self._decode_indefinite(major, depth)
        if info > 27:
            raise ValueError("no such length")
        number = info if info < 24 else int.from_bytes(self.take(1 << (info - 24)), "big")
        return self._decode_counted(major, number, depth)

    def _decode_counted(self, major: int, number: int, depth: int) -> Any:
        if major == 0:
            return number
        if major == 1:
            return -1 - number
        if major == 2:
            return self.take(number)
        if major == 3:
            return self.take(number).decode("utf-8")
        if major == 4:
            return [self.decode_item(depth + 1) for _ in range(number)]
        if major == 5:
            return {self.decode_item(depth + 1): self.decode_item(depth + 1) for _ in range(number)}
        return self._untag(number, self.decode_item(depth + 1))

    @staticmethod
    def _untag(number: int, value: Any) -> Any:
        if number in (2, 3) and isinstance(value, bytes):
            size = int.from_bytes(value, "big")
            return size if number == 2 else -1 - size
        return value if number == SELF_DESCRIBED else Tag(number, value)

    def _decode_simple(self, info: int) -> Any:
        if info in (20, 21):
            return info == 21
        if info == 22:
            return None
        if info in (25, 26, 27):
            form = {25: ">e", 26: ">f", 27: ">d"}[info]
            return struct.unpack(form, self.take(struct.calcsize(form)))[0]
        raise ValueError("no such simple value")

    def _decode_indefinite(self, major: int, depth: int) -> Any:
        items = []
        while self.data[self.position : self.position + 1] != b"\xff":
            items.append(self.decode_item(depth + 1))
        self.position += 1
        if major == 4:
            return items
        if major == 5:
            return dict(zip(items[::2], items[1::2], strict=True))
        if major == 2:
            return b"".join(items)
        if major == 3:
            return "".join(items)
        raise ValueError("no such length")
