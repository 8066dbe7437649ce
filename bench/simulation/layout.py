"""Files of a run in the layout of the workbench."""

import gzip
import hashlib
import json
import shutil
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from simulation.chain import Block, Chain
from simulation.host import HostLog, format_host
from simulation.shape import ACTIVE_SLOTS, EPOCH_LENGTH, SECURITY_PARAMETER, SYSTEM_START, Shape

COMPONENTS = {
    "ouroboros-consensus": "0.27.0.0",
    "ouroboros-network": "0.21.2.0",
    "cardano-ledger-core": "1.17.0.0",
    "plutus-core": "1.45.0.0",
    "cardano-crypto": "1.3.0",
    "cardano-prelude": "0.2.1.0",
}


@dataclass(frozen=True, slots=True)
class WrittenRun:
    """Size of a written run; `bytes` counts the plain logs."""

    slots: int
    blocks: int
    bytes: int


def write_run(folder: Path, shape: Shape, name: str, compressed: bool, workers: int) -> WrittenRun:
    """Write a run into a new folder atomically.

    Raises FileExistsError when the folder exists.
    """
    if folder.exists():
        raise FileExistsError(folder)
    blocks = Chain(shape).simulate_slots()
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    write_json(unfinished / "genesis-shelley.json", create_genesis())
    write_json(unfinished / "meta.json", {"meta": create_meta(shape, name)})
    with ProcessPoolExecutor(max_workers=workers) as pool:
        write = partial(write_host, unfinished, shape, blocks, compressed)
        sizes = list(pool.map(write, range(shape.hosts)))
    unfinished.rename(folder)
    return WrittenRun(shape.slots, len(blocks), sum(sizes))


def write_host(folder: Path, shape: Shape, blocks: list[Block], compressed: bool, host: int) -> int:
    """Write the log of a host; return its size before compression in bytes."""
    host_folder = folder / format_host(host)
    host_folder.mkdir()
    texts = HostLog(shape, blocks, host).format_seconds()
    if not compressed:
        with (host_folder / "stdout").open("wb") as file:
            return write_texts(texts, file)
    # Without file name and time in the header, the same seed gives the same bytes.
    with (host_folder / "stdout.gz").open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
        return write_texts(texts, file)


def write_texts(texts: Iterable[str], file: BinaryIO | gzip.GzipFile) -> int:
    """Write texts to a file; return the number of bytes."""
    return sum(file.write(text.encode("ascii")) for text in texts)


def write_json(path: Path, value: object) -> None:
    """Write a value as indented JSON."""
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def create_genesis() -> dict[str, object]:
    """Create the fields of the genesis file that the analysis reads."""
    return {
        "activeSlotsCoeff": ACTIVE_SLOTS,
        "protocolParams": {"maxTxSize": 16384, "maxBlockBodySize": 90112},
        "networkMagic": 42,
        "epochLength": EPOCH_LENGTH,
        "systemStart": datetime.fromtimestamp(SYSTEM_START, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "slotLength": 1,
        "securityParam": SECURITY_PARAMETER,
    }


def create_meta(shape: Shape, name: str) -> dict[str, object]:
    """Create the description of the run; commits derive from the name."""
    started = datetime.fromtimestamp(SYSTEM_START, UTC).strftime("%Y-%m-%d-%H.%M")
    versions = {"cardano-node": name, **COMPONENTS}
    generator = {"add_tx_size": 100, "inputs_per_tx": 2, "outputs_per_tx": 2, "tps": 2.0}
    return {
        "tag": f"{started}-{name}",
        "batch": name,
        "ident": name,
        "node_ghc_version": "9.6.5",
        "profile": "sim",
        "era": "conway",
        "manifest": {component: create_release(component, name, version) for component, version in versions.items()},
        "profile_content": {
            "era": "conway",
            "genesis": {"delegators": 1_000_000, "utxo": 4_000_000, "dreps": 10_000},
            "generator": generator | {"tx_count": 2 * shape.slots, "era": "conway"},
        },
    }


def create_release(component: str, name: str, version: str) -> dict[str, object]:
    """Create the manifest entry of a component."""
    commit = hashlib.sha1(f"{component}/{name}".encode(), usedforsecurity=False).hexdigest()
    return {"name": component, "commit": commit, "branch": None, "status": None, "version": version}
