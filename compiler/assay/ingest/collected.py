"""What is read of a run so far: batches, and how many bytes of its files."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from assay.ingest.batches import Batch, Batches, Lacking
from assay.ingest.line_counts import Share
from assay.util.progress import Bytes

WORKERS = 8  # more do not fit into the memory that there is


@dataclass(slots=True)
class Collected:
    """The batches of a run, its folder, and who is told how many of its `size` bytes are read."""

    folder: Path
    progress: Bytes
    size: int
    batches: Batches
    kept: list[Batch] = field(default_factory=list)
    done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def counts(self) -> list[Share]:
        """What the lines of all files came to."""
        return [batch.share for batch in self.kept]

    @property
    def incomplete_rows(self) -> list[Lacking]:
        """The rows of events that lack what they must have."""
        return [row for batch in self.kept for row in batch.lacking]

    def tell(self, more: int) -> None:
        """Say how much is read."""
        with self.lock:
            self.done += more
            self.progress(self.done, self.size)
