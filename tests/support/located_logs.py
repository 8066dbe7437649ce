"""Logs of requests on several hosts, of several kinds: one step, host, kind, time, or only the mix of kinds changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

START = datetime.fromisoformat("2026-01-05T12:00:00")
HOSTS = 5
ROWS = 120  # of a host
PERIOD = 10_000_000  # µs from one request of a host to the next
KINDS = {"read": 2.0, "scan": 4.0, "write": 6.0}
SHARES = (0.6, 0.3, 0.1)

Factors = Mapping[str, float]
Change = Callable[[int, str, float], Factors]
"""By which factors the steps of a request become slower: of its host, kind, and time from 0 to 1."""


@dataclass(frozen=True)
class Request:
    """A request: its host and kind, and the times of its records in µs since the start."""

    host: int
    kind: str
    received: int
    started: int
    sent: int


CHANGES: dict[str, tuple[Change, Sequence[float]]] = {
    "same": (lambda *_: {}, SHARES),
    "everything": (lambda *_: {"wait": 1.3, "work": 1.3}, SHARES),
    "step": (lambda *_: {"work": 1.3}, SHARES),
    "host": (lambda host, *_: {"work": 3} if host == 2 else {}, SHARES),
    "kind": (lambda _, kind, __: {"work": 2} if kind == "write" else {}, SHARES),
    "mix": (lambda *_: {}, (0.3, 0.3, 0.4)),
    "time": (lambda *columns: {"work": 2} if columns[2] >= 0.7 else {}, SHARES),
}


def draw_requests(case: str, seed: int, hosts: int = HOSTS, rows: int = ROWS) -> list[Request]:
    random, (change, shares) = Random(seed), CHANGES[case]
    requests = []
    for host in range(hosts):
        for number in range(rows):
            (kind,) = random.choices(list(KINDS), shares)
            factors = change(host, kind, number / rows)
            received = number * PERIOD + random.randrange(PERIOD * 9 // 10)
            started = received + round(1000 * random.gammavariate(4, 1.0) * factors.get("wait", 1))
            sent = started + round(1000 * random.gammavariate(6, KINDS[kind]) * factors.get("work", 1))
            requests.append(Request(host, kind, received, started, sent))
    return requests


def write_logs(folder: Path, requests: Sequence[Request]) -> Path:
    """Write the logs of a run, one of each host, and the facts of the run."""
    for host in sorted({request.host for request in requests}):
        lines = []
        for number, request in enumerate(item for item in requests if item.host == host):
            name = f"{host}-{number:03d}"
            lines += [
                (request.received, "request.received", {"request": name, "kind": request.kind}),
                (request.started, "work.started", {"request": name}),
                (request.sent, "response.sent", {"request": name, "bytes": 1000 + request.received % 1000}),
            ]
        log = folder / f"web-{host}" / "log.jsonl"
        log.parent.mkdir(parents=True)
        texts = [
            json.dumps({"time": _format_time(time), "event": event, "data": data})
            for time, event, data in sorted(lines, key=lambda line: line[0])
        ]
        log.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    (folder / "meta.json").write_text(json.dumps({"version": folder.name}), encoding="utf-8")
    return folder


def _format_time(time: int) -> str:
    return f"{(START + timedelta(microseconds=time)).isoformat(timespec='microseconds')}Z"
