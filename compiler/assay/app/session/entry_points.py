"""Load what packages beside the core do for a command: its entry point in the group `assay.commands`.

The core imports none of these packages. `assay init --from` asks one of them for a proposal, `assay build --on` for a
filler of the cache, and `assay work` for a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from assay.util.diagnostics import USAGE, fail

if TYPE_CHECKING:
    from assay.app.session.cluster_settings import ClusterSettings
    from assay.app.session.session import Session
    from assay.util.progress import Notice

GROUP = "assay.commands"


class ProposedWorkspace(Protocol):
    """A new workspace for logs, whose specs are a proposal."""

    @property
    def commands(self) -> Sequence[str]:
        """Return commands to try next."""

    @property
    def has_percentiles(self) -> bool:
        """Return whether a metric has so many samples that percentiles are worth a column."""

    def describe(self) -> Iterable[str]:
        """Return lines that say what the logs contain and what the specs measure."""

    def to_json(self) -> dict[str, Any]:
        """Return the proposal as data."""


class Proposer(Protocol):
    """Writes a workspace whose specs read the logs, which become its first runs; `each` is what each log is."""

    def __call__(self, place: Path, logs: Sequence[Path], each: str = "", /) -> ProposedWorkspace: ...


class FillerOpener(Protocol):
    """Yields a session whose cache is filled by the workers of a cluster."""

    def __call__(self, session: Session, settings: ClusterSettings, /) -> AbstractContextManager[Session]: ...


class QueueRunner(Protocol):
    """Runs tasks of a queue of builds and returns their number; each build gets a session of its own."""

    def __call__(
        self,
        queue: Path,
        open_session: Callable[[], Session],
        /,
        *,
        once: bool,
        idle_seconds: float | None,
        notice: Notice,
    ) -> int: ...


def load_proposer() -> Proposer:
    """Return what `assay init --from` calls. Raises AssayError (usage) if it is not installed."""
    return cast(Proposer, _load("init"))


def load_filler_opener() -> FillerOpener:
    """Return what `assay build --on` calls. Raises AssayError (usage) if it is not installed."""
    return cast(FillerOpener, _load("build"))


def load_queue_runner() -> QueueRunner:
    """Return what `assay work` calls. Raises AssayError (usage) if it is not installed."""
    return cast(QueueRunner, _load("work"))


def _load(command: str) -> object:
    for entry_point in entry_points(group=GROUP, name=command):
        return entry_point.load()
    raise fail("no-package", f"this installation lacks a part of `assay {command}`",
               expected=f"an entry point `{command}` of the group `{GROUP}`",
               hint="install Assay again", status=USAGE)  # fmt: skip
