"""A small workspace of a system with several sources and every kind of definition, and runs of it.

Of each source: a log of JSON objects and a text log of each host, a table, samples.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.support.workspaces import Edit, edit_file

MIXED = Path(__file__).parent.parent / "mixed"
HOSTS = ("app-1", "app-2", "app-3", "app-4", "app-5")
JOBS = 6


def create_mixed_workspace(target: Path, *edits: Edit) -> Path:
    """Create the workspace with edits and its runs `v1` and `v2`."""
    shutil.copytree(MIXED, target)
    for file, text, replacement in edits:
        edit_file(target / "specs" / "mix" / file, text, replacement)
    for name in ("v1", "v2"):
        create_mixed_run(target / "runs" / name, name)
    return target


def create_mixed_run(folder: Path, release: str) -> Path:
    """Create a run whose jobs take as many tenths of a second as their numbers; each host's last one fails."""
    for host in HOSTS:
        (folder / host).mkdir(parents=True)
        _write(
            folder / host / "app.log",
            [json.dumps(item) for job in range(JOBS) for item in build_job_records(host, job)],
        )
        proxy = [f"2026-03-01 10:00:{job:02}.000 INFO GET /job/{host}-{job} 200 {job}000us" for job in range(JOBS)]
        _write(folder / host / "proxy.log", proxy)
    facts = {"release": release, "cores": 4, "deploy": "2026-03-01T10:00:03Z"}
    (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    _write(folder / "cost.csv", ["step,users,cpu_ms", "0,10,1.5", "1,20,2.5"])
    (folder / "prom").mkdir()
    _write(folder / "prom" / "s.om", ["# TYPE cpu_seconds counter", *_format_samples("cpu_seconds_total"),
                                     "# TYPE queue_len gauge", *_format_samples("queue_len"), "# EOF"])  # fmt: skip
    return folder


def build_job_records(host: str, job: int) -> list[dict[str, object]]:
    """Return the records of a job."""
    enqueued, started, ended = (f"2026-03-01T10:00:{job:02}.{tenths}Z" for tenths in (0, 1, job + 2))
    is_last = job == JOBS - 1
    end: dict[str, object] = {"kind": "fail", "err": "timeout"} if is_last else {"kind": "done", "kb": 100 + job}
    name = f"{host}-{job}"
    return [
        {"ts": enqueued, "kind": "enqueue", "job": name, "prio": "hi" if job % 2 else "lo"},
        {"ts": started, "kind": "start", "job": name},
        {"ts": ended, "job": name, **end},
    ]


def _format_samples(name: str) -> list[str]:
    return [f'{name}{{instance="a"}} {step} {1772359200 + 5 * step}' for step in range(10)]


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
