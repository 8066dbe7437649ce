"""Read a run directory: genesis, meta, and each host's log files, compressed or not, rotated or not."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import zstandard

from tests.oracle.instants import SECOND, parse_instant
from tests.oracle.model import Event, Genesis, HostLog, RefusalError, Run
from tests.oracle.recognise import recognize_event

_HOST_NAME = re.compile(r"node-.+")
_LOG_NAME = re.compile(r"(stdout.*|node-.*\.json)(\.gz|\.zst)?")


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_decode: Callable[[str], Any] = json.JSONDecoder(parse_constant=_reject_constant).decode


class _File(NamedTuple):
    """One log file: lines, log objects and quarantined ones counted; instants and events in line order."""

    name: str
    lines: int
    objects: int
    quarantined: int
    instants: list[int]
    events: list[Event]


def _open_log(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="\n")
    if path.suffix == ".zst":
        packed = zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True, closefd=True)
        return io.TextIOWrapper(packed, encoding="utf-8", errors="replace", newline="\n")
    return path.open(encoding="utf-8", errors="replace", newline="\n")


def _parse_log_object(line: str) -> dict[str, Any] | None:
    """Return the object on a line; None for anything else, also for truncated objects."""
    if not line.startswith("{"):
        return None
    try:
        document: dict[str, Any] = _decode(line)
    except (ValueError, RecursionError):
        return None
    return document


def _read_instant(log_object: dict[str, Any]) -> int | None:
    try:
        return parse_instant(log_object["at"])
    except (ValueError, KeyError, TypeError):
        return None


def _read_event(log_object: dict[str, Any], instant: int | None) -> Event | None:
    """Return the event, or None for an unrecognised object. Raise if a field or the instant is missing."""
    event = recognize_event(log_object, 0 if instant is None else instant)
    if event is not None and instant is None:
        raise ValueError("no instant")
    return event


def _read_file(path: Path) -> _File:
    lines = objects = quarantined = 0
    instants: list[int] = []
    events: list[Event] = []
    with _open_log(path) as stream:
        for line in stream:
            lines += 1
            document = _parse_log_object(line)
            if document is None:
                continue
            objects += 1
            instant = _read_instant(document)
            if instant is not None:
                instants.append(instant)
            try:
                event = _read_event(document, instant)
            except (ValueError, KeyError, TypeError):
                quarantined += 1
                continue
            if event is not None:
                events.append(event)
    return _File(path.name, lines, objects, quarantined, instants, events)


def _get_sort_key(file: _File) -> tuple[bool, int, str]:
    return (not file.instants, file.instants[0] if file.instants else 0, file.name)


def _read_host(directory: Path) -> HostLog:
    paths = [path for path in directory.iterdir() if path.is_file() and _LOG_NAME.fullmatch(path.name)]
    files = sorted((_read_file(path) for path in paths), key=_get_sort_key)
    instants = [instant for file in files for instant in file.instants]
    if not any(file.events for file in files):
        raise RefusalError(f"{directory.name}: no recognised log object")
    return HostLog(
        host=directory.name,
        events=tuple(event for file in files for event in file.events),
        lines=sum(file.lines for file in files),
        objects=sum(file.objects for file in files),
        quarantined=sum(file.quarantined for file in files),
        first_instant=instants[0],
        last_instant=instants[-1],
    )


def _read_genesis(run_dir: Path) -> Genesis:
    candidates = [run_dir / "genesis-shelley.json", run_dir / "genesis" / "genesis.shelley.json"]
    path = next((path for path in candidates if path.is_file()), None)
    if path is None:
        raise RefusalError("no genesis file")
    genesis = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    slot_length = Fraction(genesis["slotLength"]) * SECOND
    if slot_length.denominator != 1 or slot_length <= 0:
        raise RefusalError(f"slotLength {genesis['slotLength']} is not a whole number of nanoseconds above 0")
    return Genesis(
        system_start=parse_instant(genesis["systemStart"]),
        slot_length=int(slot_length),
        epoch_length=int(genesis["epochLength"]),
        security_param=int(genesis["securityParam"]),
        active_slots_coeff=float(genesis["activeSlotsCoeff"]),
        max_block_body_size=int(genesis["protocolParams"]["maxBlockBodySize"]),
    )


def _list_host_directories(run_dir: Path) -> Iterator[Path]:
    yield from sorted(
        (path for path in run_dir.iterdir() if path.is_dir() and _HOST_NAME.fullmatch(path.name)),
        key=lambda path: path.name,
    )


def read_run(run_dir: Path) -> Run:
    """Read a run directory; hosts by name as text. Raises Refused when it holds no host or an empty one."""
    logs = tuple(_read_host(directory) for directory in _list_host_directories(run_dir))
    if not logs:
        raise RefusalError("no host directory")
    meta = json.loads((run_dir / "meta.json").read_text(encoding="utf-8"))["meta"]
    return Run(_read_genesis(run_dir), meta, logs)
