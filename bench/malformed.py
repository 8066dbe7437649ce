"""Measure what malformed records cost: processor time of an ingest of them, as a ratio to one of good records.

    python bench/malformed.py                   200,000 records of each kind of source, 50 events where it has names
    python bench/malformed.py --records 50000

The time of the same command with 3 records is subtracted from both. The goal is a ratio of at most 2.
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from parts import MAIN, read_processor_seconds

EVENTS = 50
GOAL = 2.0
SOURCE = 'quarantine = { share = 1.0, atLeast = 1000000000 }, doc = "Generated."'
LINE_SOURCE = f'hosts = "h*", logs = [ "log*" ], {SOURCE}'
BODY = 'time = [ "at" ], body = [] : List Text, lookups = [ S.source.nameAt [ "msg" ] ]'
NO_LOOKUPS = 'time = [ "at" ], zone = "UTC", lookups = [] : List S.source.Lookup'


@dataclass(frozen=True)
class Kind:
    """A kind of source: its definition, the name of event N, a good record, and malformed ones by what is wrong."""

    source: str
    name: str
    good: str
    malformed: dict[str, str]
    file: str = "h1/log"
    header: str = ""
    events: int = EVENTS


TIME = "2026-01-01T00:{minute:02d}:{second:02d}Z"
KINDS = {
    "text-lines": Kind(
        'kind = "text-lines", line = "{at} {level} {message...}", body = [ "message" ], '
        f"{NO_LOOKUPS}, {LINE_SOURCE}",
        "op{event} {{n}} done",
        TIME + " INFO op{event} {number} done",
        {
            "pattern": TIME + " INFO op{event} {number} dxne",
            "field": TIME + " INFO op{event} x{number} done",
            "instant": "2026-13-01T00:00:00Z INFO op{event} {number} done",
        },
    ),
    "json-lines": Kind(
        f'kind = "json-lines", {BODY}, {LINE_SOURCE}',
        "op{event}",
        '{{"at":"' + TIME + '","msg":"op{event}","n":{number}}}',
        {
            "syntax": '{{"at":"' + TIME + '","msg":"op{event}","n":{number}',
            "field": '{{"at":"' + TIME + '","msg":"op{event}","n":"x{number}"}}',
            "instant": '{{"at":"2026-13-01","msg":"op{event}","n":{number}}}',
        },
    ),
    "logfmt": Kind(
        f'kind = "logfmt", {BODY}, {LINE_SOURCE}',
        "op{event}",
        "at=" + TIME + " msg=op{event} n={number}",
        {
            "syntax": "at=" + TIME + ' msg="op{event} n={number}',
            "field": "at=" + TIME + " msg=op{event} n=x{number}",
            "instant": "at=2026-13-01 msg=op{event} n={number}",
        },
    ),
    "csv": Kind(
        f'kind = "csv", hosts = "", logs = [ "a.csv" ], body = [] : List Text, {NO_LOOKUPS}, {SOURCE}',
        "",
        TIME + ",{number}",
        {"width": TIME + ",{number},1", "field": TIME + ",x{number}", "instant": "2026-13-01,{number}"},
        file="a.csv",
        header="at,n\n",
        events=1,
    ),
}


def write_workspace(name: str, folder: Path, events: int = EVENTS) -> None:
    """Write a workspace with a source of a kind and its events."""
    kind = KINDS[name]
    run_command("init", folder)
    names = [
        f'[ "{kind.name.format(event=event)}" ]' if kind.name else "[] : List Text"
        for event in range(min(events, kind.events))
    ]
    definitions = ", ".join(
        f'E.event {{ name = "e{event}", source = "log", names = {item}, fields = [ E.integer "n" ], doc = "x" }}'
        for event, item in enumerate(names)
    )
    text = f"""let S = ../schema/package.dhall
let E = S.event
let source = S.Source::{{ name = "log", {kind.source} }}
in S.Package::{{ system = "made", sources = [ source ], events = [ {definitions} ] }}
"""
    (folder / "specs/made").mkdir(parents=True)
    (folder / "specs/made/package.dhall").write_text(text, encoding="utf-8")


def write_run(name: str, record: str, records: int, folder: Path) -> None:
    """Write a run with a good record and so many others."""
    kind = KINDS[name]
    path = folder / kind.file
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as stream:
        stream.write(kind.header)
        for number in range(records + 1):
            line = (record if number else kind.good).format(
                number=number, event=number % kind.events, minute=number * 60 // (records + 1), second=number % 60
            )
            stream.write(f"{line}\n")


def run_command(*arguments: object, folder: Path | None = None) -> float:
    """Run a command of assay; return its processor seconds. Raises CalledProcessError."""
    before = read_processor_seconds()
    command = [sys.executable, "-c", MAIN, *map(str, arguments)]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return read_processor_seconds() - before


def measure_ingest(workspace: Path, name: str, record: str, records: int) -> float:
    """Return the processor seconds of an ingest of so many records, with an empty cache."""
    with tempfile.TemporaryDirectory() as work:
        write_run(name, record, records, Path(work) / "run")
        arguments = ("ingest", "--all", "--system", "made", Path(work) / "run", "--cache", Path(work) / "cache")
        return run_command(*arguments, folder=workspace)


def main() -> int:
    """Measure; return 1 if a ratio exceeds the goal."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--kind", choices=KINDS, action="append")
    options = parser.parse_args()
    print("| records | good, s | malformed, s | ratio |\n|---|---:|---:|---:|")
    is_met = True
    for name in options.kind or KINDS:
        with tempfile.TemporaryDirectory() as work:
            workspace = Path(work) / "workspace"
            write_workspace(name, workspace)
            base = min(measure_ingest(workspace, name, KINDS[name].good, 2) for _ in range(3))
            good = measure_ingest(workspace, name, KINDS[name].good, options.records) - base
            for fault, record in KINDS[name].malformed.items():
                seconds = measure_ingest(workspace, name, record, options.records) - base
                ratio = seconds / good
                is_met &= ratio <= GOAL
                print(f"| {name}, {fault} | {good:.2f} | {seconds:.2f} | {ratio:.1f} |", flush=True)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
