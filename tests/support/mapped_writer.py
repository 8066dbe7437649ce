"""Write to a file through a shared, then through a private memory mapping; only shared writes reach the disk.

    python mapped_writer.py FILE MEGABYTES SECONDS

Every second all pages are written. At the beginning, the change of mapping and the end, the program prints a line of
JSON: the time in ns since 1970, and the bytes that this process has written to storage (`write_bytes` of
/proc/self/io).
"""

from __future__ import annotations

import json
import mmap
import sys
import time
from pathlib import Path

PAGE = mmap.PAGESIZE
ROUND = 1.0  # seconds in which every page is written once


def print_state() -> None:
    """Print the state of the process."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    byte_count = next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))
    print(json.dumps({"t_ns": time.time_ns(), "written": byte_count}), flush=True)


def write(path: Path, size: int, access: int, seconds: float) -> None:
    """Write and flush every page of the mapped file once per round, for some seconds."""
    end, number = time.monotonic() + seconds, 0
    with path.open("r+b") as stream, mmap.mmap(stream.fileno(), size, access=access) as memory:
        while time.monotonic() < end:
            round_start, number = time.monotonic(), number + 1
            for offset in range(0, size, PAGE):
                memory[offset] = number % 256
            memory.flush()
            time.sleep(max(0.0, min(round_start + ROUND, end) - time.monotonic()))


def main() -> None:
    """Write through both mappings in turn."""
    path, size, seconds = Path(sys.argv[1]), int(sys.argv[2]) * 1_000_000 // PAGE * PAGE, float(sys.argv[3])
    with path.open("wb") as stream:
        stream.truncate(size)
    print_state()
    write(path, size, mmap.ACCESS_WRITE, seconds)
    print_state()
    write(path, size, mmap.ACCESS_COPY, seconds)
    print_state()
    path.unlink()


if __name__ == "__main__":
    main()
