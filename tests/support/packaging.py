"""Package records randomly: parts of files, compression, links, archives."""

from __future__ import annotations

import gzip
import io
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

import zstandard


def cut_into_pieces(random: Random, content: bytes) -> list[bytes]:
    """Cut content into pieces at random, some of them empty."""
    cuts = sorted(random.randrange(len(content) + 1) for _ in range(random.choice([0, 1, 4])))
    parts = [content[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    parts.insert(random.randrange(len(parts) + 1), b"")
    return parts


def compress_gzip(random: Random, content: bytes) -> bytes:
    """Compress content into several members, some followed by zeros."""
    return b"".join(gzip.compress(piece) + bytes(random.choice([0, 512])) for piece in cut_into_pieces(random, content))


def compress_zstandard(random: Random, content: bytes) -> bytes:
    """Compress content into several frames with different windows, and empty frames between them."""
    return b"".join(
        _compress_frame(random, piece) + _draw_skippable_frame(random) for piece in cut_into_pieces(random, content)
    )


def _compress_frame(random: Random, content: bytes) -> bytes:
    window, has_checksum = random.choice([10, 20, 27]), random.random() < 0.5
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=window, write_checksum=has_checksum)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return packer.compress(content) + packer.flush()


def _draw_skippable_frame(random: Random) -> bytes:
    size = random.choice([0, 3, 70_000])
    return struct.pack("<II", 0x184D2A50 + random.randrange(16), size) + b"x" * size if random.random() < 0.5 else b""


#: suffix -> compression
PACKED: Mapping[str, Callable[[Random, bytes], bytes]] = {
    "": lambda _random, content: content,
    ".gz": compress_gzip,
    ".zst": compress_zstandard,
}


def put(random: Random, path: Path, content: bytes, link_folder: Path) -> None:
    """Write a file, compressed or linked, with a random time of change."""
    suffix = random.choice(sorted(PACKED))
    path = path.with_name(path.name + suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path
    if random.random() < 0.3:
        link_folder.mkdir(parents=True, exist_ok=True)
        target = link_folder / f"{len(list(link_folder.iterdir()))}"
        path.symlink_to(target)
    target.write_bytes(PACKED[suffix](random, content))
    os.utime(target, (random.randrange(10**9), random.randrange(10**9)))


def divide_records(random: Random, records: Sequence[bytes], limit: int) -> list[list[bytes]]:
    """Divide records into nonempty parts."""
    cuts = sorted(random.sample(range(1, len(records)), random.randrange(min(limit, len(records)))))
    return [list(records[begin:end]) for begin, end in zip([0, *cuts], [*cuts, len(records)], strict=True)]


def archive_folder(random: Random, folder: Path, kind: str) -> Path:
    """Archive a folder next to it, with its files in random order."""
    names = [(Path(root) / name).relative_to(folder) for root, _, names in os.walk(folder) for name in names]
    random.shuffle(names)
    path, stream = folder.with_name(f"{folder.name}{kind}"), io.BytesIO()
    if kind == ".zip":
        method = random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
        with zipfile.ZipFile(stream, "w", method, strict_timestamps=False) as archive:
            for name in names:
                archive.write(folder / name, f"run/{name.as_posix()}")
        path.write_bytes(stream.getvalue())
        return path
    with tarfile.open(fileobj=stream, mode="w", dereference=True) as tar:
        for name in names:
            tar.add(folder / name, f"run/{name.as_posix()}")
    path.write_bytes(PACKED[kind.removeprefix(".tar")](random, stream.getvalue()))
    return path
