"""Define what may fill the cache before a command reads logs and computes results itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.app.session.hashing import PendingHashes
    from assay.app.session.session import Session
    from assay.engine.job import Job
    from assay.ingest.discovery import RunFiles
    from assay.lang.checked_package import CheckedPackage
    from assay.lang.model.package import Event, Source
    from assay.runs.model import IngestedRun, NamedRun


@dataclass(frozen=True, slots=True)
class DiscoveredFiles:
    """The files of a run's source, whose hashes may be pending, and the required events."""

    run: NamedRun
    source: Source
    files: RunFiles
    hashing: PendingHashes
    events: tuple[Event, ...]
    required_fields: Mapping[str, frozenset[str]]


class CacheFiller(Protocol):
    """Fills the cache with what a command is about to read or compute. What it leaves out, the command does itself.

    If it `reads_objects`, logs on object storage have placeholders here.
    """

    @property
    def reads_objects(self) -> bool:
        """Return whether logs on object storage are read there, so that they need not be fetched."""

    def read_logs(self, session: Session, checked: CheckedPackage, items: Sequence[DiscoveredFiles], /) -> None:
        """Read logs, of which the cache has no complete run, into batches, and remember the hashes of files."""

    def compute_results(
        self, session: Session, checked: CheckedPackage, jobs: Sequence[Job], runs: Sequence[IngestedRun], /
    ) -> None:
        """Compute answers and tables of runs, each with its job."""

    def cancel(self) -> None:
        """Stop filling, from another thread: the command ends."""
