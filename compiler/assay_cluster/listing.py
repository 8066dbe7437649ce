"""Listings: which members of entries on object storage make up a folder that a task reads.

The coordinator lists the files of its folders of events and tables. A worker gets those of its hosts only, by their
names: it never searches the storage.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.engine.mount import EVENTS
from assay.engine.portions import Portion
from assay.engine.result_cache import Store
from assay.engine.table_cache import COLUMNS, ROWS, TABLES_KIND
from assay.ingest.batches import FOLDER as BATCHES_KIND
from assay.ingest.batches import METADATA_FILE
from assay.util import atomic
from assay.util.checksums import FILE as SEAL
from assay.util.diagnostics import fail
from assay_cluster.entry_storage import Entry, EntryStorage

if TYPE_CHECKING:
    from assay.engine.portion_plan import PortionPlan

LISTINGS_KIND = "listings"
FACTS_KIND = "facts"  # of entries with the files of an ingested run that are in no batch

#: path in the folder; kind and key of an entry, and path in it; hosts of its rows, or None: any hosts
Member = tuple[str, str, str, str, tuple[str, ...] | None]


@dataclass(frozen=True)
class Listing:
    """The files of a folder: members of entries, and texts by their path."""

    members: tuple[Member, ...]
    texts: Mapping[str, str] = field(default_factory=dict)

    def publish(self, storage: EntryStorage) -> str:
        """Put the listing on the storage, and return its key."""
        text = json.dumps(asdict(self))
        key = hashlib.sha256(text.encode()).hexdigest()
        storage.put_text((LISTINGS_KIND, key), text)
        return key

    def select(self, texts: Iterable[str], hosts: Collection[str]) -> Listing:
        """Return the listing without events that no text of a statement reads, and without files of other hosts.

        Without `hosts`, files of all hosts stay.
        """
        text, wanted = "\n".join(texts), set(hosts)
        members = [item for item in self.members if not wanted or item[4] is None or wanted & set(item[4])]
        folders = {item[0].rpartition("/")[0] for item in members if item[0].startswith(f"{EVENTS}/")}
        unread = {folder for folder in folders if f"{folder}/" not in text}
        return Listing(tuple(item for item in members if item[0].rpartition("/")[0] not in unread), self.texts)

    def create_folder(self, storage: EntryStorage, store: Store, target: Path) -> None:
        """Create the folder `target`. Raises AssayError, OSError."""
        storage.pull(store, [(kind, key) for _, kind, key, _, _ in self.members])
        target.mkdir(parents=True)
        for path, kind, key, name, _ in self.members:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            atomic.link(store.get_path(kind, key) / name, target / path)
        for path, text in self.texts.items():
            (target / path).write_text(text, encoding="utf-8")


def read_listing(storage: EntryStorage, key: str) -> Listing:
    """Return a listing from the storage. Raises AssayError if it is not there."""
    text = storage.read_text((LISTINGS_KIND, key))
    if text is None:
        message = f"a list of files is missing: {storage.address}/{LISTINGS_KIND}/{key}"
        raise fail("cache", message, hint="build again; does anything else write there?")
    data = json.loads(text)
    members = tuple((*item[:4], None if item[4] is None else tuple(item[4])) for item in data["members"])
    return Listing(members, data["texts"])


class BatchFiles:
    """The files of the batches in a cache folder, which folders of events have links to."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._entries: dict[tuple[int, int], tuple[Entry, str]] = {}  # device and inode -> batch, name of the file
        self._hosts: dict[Entry, tuple[str, ...]] = {}
        for folder in store.get_path(BATCHES_KIND, "").glob("*/*"):
            entry = (f"{BATCHES_KIND}/{folder.parent.name}", folder.name)
            for item in os.scandir(folder) if folder.is_dir() else ():
                status = item.stat()
                self._entries[status.st_dev, status.st_ino] = entry, item.name

    def find(self, path: Path) -> tuple[Entry, str] | None:
        """Return the batch of a file, and its name there; None if it is in none."""
        status = path.stat()
        return self._entries.get((status.st_dev, status.st_ino))

    def get_hosts(self, entry: Entry) -> tuple[str, ...]:
        """Return the hosts of a batch."""
        if entry not in self._hosts:
            metadata = json.loads((self._store.get_path(*entry) / METADATA_FILE).read_text(encoding="utf-8"))
            self._hosts[entry] = tuple(sorted({host for host, _, _ in metadata["files"]}))
        return self._hosts[entry]


class Publisher:
    """Puts what workers read on the storage of a build: events of runs, and tables that were stored or joined.

    A shared folder needs nothing of that: workers read the coordinator's folders.
    """

    def __init__(self, storage: EntryStorage, store: Store) -> None:
        self.storage = storage
        self._store = store
        self._batches: BatchFiles | None = None
        self._listings: dict[str, str] = {}  # folder of events or key of a table -> key of its listing
        self._portions: dict[Entry, None] = {}

    def list_inputs(self, portion: Portion) -> dict[str, Any]:
        """Return the keys of the listings of what a portion reads, as plain data."""
        if not self.storage.address:
            return {}
        for folder in portion.folders:
            if folder not in self._listings:
                self._listings[folder] = self._publish_events(Path(folder))
        for scan in portion.scans:
            if scan.key not in self._listings:
                self._listings[scan.key] = self._publish_table(scan.key)
        return {
            "event_listings": [self._listings[folder] for folder in portion.folders],
            "table_listings": {scan.key: self._listings[scan.key] for scan in portion.scans},
        }

    def copy_portion(self, portion: Portion, place: str) -> bool:
        """Copy a portion that a worker has computed to a place of this build, and remember to remove both.

        False if another build, which has joined it, has removed it. Raises AssayError.
        """
        self._portions[portion.entry] = self._portions[place, portion.key] = None
        return self.storage.copy(self._store, portion.entry, place)

    def publish_joined_tables(self, plan: PortionPlan, portions: Sequence[Portion]) -> None:
        """Publish the listings of the tables that portions were joined to."""
        for key in sorted(plan.hashes[name] for name in plan.tables) if self.storage.address else ():
            if self._store.has(TABLES_KIND, key):
                self._listings[key] = self._publish_joined_table(key, portions)

    def close(self) -> None:
        """Remove the portions of this build, whose answers and tables the coordinator has."""
        if self.storage.address:
            self.storage.remove(self._portions)

    def _publish_events(self, folder: Path) -> str:
        """Publish the listing of the files of an ingested run.

        Events are those of batches, most of which workers have put there. Other files are one entry.
        """
        self._batches = self._batches or BatchFiles(self._store)
        members: list[Member] = []
        others: list[Path] = []
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SEAL):
            name = path.relative_to(folder).as_posix()
            place = self._batches.find(path) if name.startswith(f"{EVENTS}/") else None
            if place is None:
                others.append(path)
            else:
                members.append((name, *place[0], place[1], self._batches.get_hosts(place[0])))
        entry = FACTS_KIND, self._pack_facts(folder, others)
        self.storage.push(self._store, [*dict.fromkeys(item[1:3] for item in members), entry])
        names = [path.relative_to(folder).as_posix() for path in others]
        return Listing((*members, *((name, *entry, name, None) for name in names))).publish(self.storage)

    def _pack_facts(self, folder: Path, files: Sequence[Path]) -> str:
        """Make an entry of some files of an ingested run; return its key."""
        names = [path.relative_to(folder).as_posix() for path in files]
        text = json.dumps([(folder / SEAL).read_text(encoding="utf-8"), names])
        key = hashlib.sha256(text.encode()).hexdigest()
        if not self._store.has(FACTS_KIND, key):
            with self._store.fill_entry(FACTS_KIND, key) as new_folder:
                for path, name in zip(files, names, strict=True):
                    (new_folder / name).parent.mkdir(parents=True, exist_ok=True)
                    atomic.link(path, new_folder / name)
        return key

    def _publish_table(self, key: str) -> str:
        """Publish a table that was stored before this build."""
        self.storage.push(self._store, [(TABLES_KIND, key)])
        names = sorted(path.name for path in self._store.get_path(TABLES_KIND, key).iterdir() if path.name != SEAL)
        return Listing(tuple((name, TABLES_KIND, key, name, None) for name in names)).publish(self.storage)

    def _publish_joined_table(self, key: str, portions: Sequence[Portion]) -> str:
        members = tuple(
            (f"{number:06}-{ROWS}", *item.entry, f"{key}.parquet", item.partition.hosts or None)
            for number, item in enumerate(portions)
        )
        columns = (self._store.get_path(TABLES_KIND, key) / COLUMNS).read_text(encoding="utf-8")
        return Listing(members, {COLUMNS: columns}).publish(self.storage)
