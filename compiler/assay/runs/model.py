"""Define runs: where their files are, and what was ingested of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.engine.mount import HostLog, RunFacts
    from assay.ingest.discovery import RunFiles
    from assay.ingest.hashing import FileHash
    from assay.lang.model.package import Source

RequiredFields = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run's directory, and its id in results.

    A remote or archived run has an address: an address of object storage, or the path of an archive. Until
    `fetch_runs` mirrors the run, `directory` is this address, too. One of several runs of a version has the name of
    the `version`. A calibration run is not compared: it only shows how much runs of one version differ. If the user
    named the run, reports call it by this name.
    """

    id: str
    directory: Path
    address: str = ""
    version: str = ""
    is_calibration: bool = False
    is_named: bool = False

    @property
    def place(self) -> str:
        """The place of the run, as the user named it."""
        return self.address or str(self.directory)

    @property
    def is_here(self) -> bool:
        """Whether its directory can be read."""
        return not self.address or self.directory != Path(self.address)


@dataclass(frozen=True)
class Part:
    """The data of one source in a run.

    `content_hash` is the hash of all files, `recognition` that of the rules by which records are recognised; `hashes`
    has the hash of each file. `events` is the folder of the ingested events.
    """

    source: Source
    files: RunFiles
    content_hash: str
    recognition: str
    hashes: tuple[FileHash, ...]
    events: Path

    @cached_property
    def facts(self) -> RunFacts:
        """The facts about the ingested records."""
        from assay.engine.mount import read_facts  # slow to import, and not always needed

        return read_facts(self.events)


@dataclass(frozen=True, slots=True)
class IngestedRun:
    """A run with its constants, its ingested data by required source, and notes on the constants."""

    run: NamedRun
    constants: Mapping[str, object]
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()

    @property
    def content_hash(self) -> str:
        """The hash of all raw data."""
        return _join_hashes([part.content_hash for part in self.parts])

    @property
    def recognition(self) -> str:
        """The hash of the recognition rules of all parts."""
        return _join_hashes([part.recognition for part in self.parts])

    @property
    def hashes(self) -> tuple[FileHash, ...]:
        """The hashes of all raw files."""
        return tuple(item for part in self.parts for item in part.hashes)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of ingested events."""
        return tuple(part.events for part in self.parts)

    @property
    def logs(self) -> tuple[HostLog, ...]:
        """The facts about each host of each source."""
        return tuple(log for part in self.parts for log in part.facts.logs)

    @property
    def hosts(self) -> int:
        """The number of hosts: the largest of any source."""
        return max((len(part.facts.logs) for part in self.parts), default=0)

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of records of each event."""
        return {event: number for part in self.parts for event, number in part.facts.events.items()}


def _join_hashes(hashes: Sequence[str]) -> str:
    """Combine several hashes into one; a single hash is returned as it is."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("|".join(hashes).encode()).hexdigest()
