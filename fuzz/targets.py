"""Targets of fuzzing: each takes a folder and mutated bytes, and processes them as a command does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from assay.ingest.run_metadata import read_constants
from assay.lang.model.package import Event
from assay.publication.reader import read_publication as read_publication
from assay.util.diagnostics import DIFFERENCE, SPECS_OR_DATA, USAGE, AssayError
from tests.compare_reference import CARDANO
from tests.ingest.test_csv import TABLE
from tests.ingest.test_events_of_runs import load_package
from tests.ingest.test_json_records import LISTS, ROW
from tests.ingest.test_samples import METRICS, PEERS
from tests.ingest.test_text_lines import LINES
from tests.ingest.test_text_lines import TICK as TEXT_TICK
from tests.ingest.test_text_lines import format_line as text_line
from tests.support.commands import run_assay
from tests.support.ingesting import SOURCE, build_event, build_field, build_form, format_record, ingest_log
from tests.support.laboratory import ROOT
from tests.support.workspaces import copy_workspace

STATUSES = (0, SPECS_OR_DATA, USAGE, DIFFERENCE)


class ViolationError(Exception):
    """A case broke a rule: undocumented exit status, traceback, or wrong counts."""


@dataclass(frozen=True, slots=True)
class Target:
    """Seeds to mutate and the code to run on them; of `is_slow` targets only a few cases run per second."""

    seeds: Callable[[], list[bytes]]
    run: Callable[[Path, bytes], None]
    is_slow: bool = False


TICKS = build_event(
    "tick",
    build_form(
        [
            build_field("n"),
            build_field("r", "real", required=False),
            build_field("u", "unsigned", required=False),
            build_field("t", "text"),
        ],
        new="Tick",
    ),
)


def _read_logs(folder: Path, data: bytes) -> None:
    tolerant = replace(SOURCE, quarantine=replace(SOURCE.quarantine, share=1.0))
    ingested = ingest_log(folder, {"m-1/out": data}, (TICKS,), None, tolerant)
    _check_counts(ingested.read_log(), len(ingested.read_rows("quarantine")))


def _read_text(folder: Path, data: bytes) -> None:
    tolerant = replace(LINES, quarantine=replace(LINES.quarantine, share=1.0))
    ingested = ingest_log(folder, {"m-1/out": data}, (TEXT_TICK,), None, tolerant)
    _check_counts(ingested.read_log(), len(ingested.read_rows("quarantine")))


def _check_counts(log: dict[str, int], quarantined: int) -> None:
    if log["quarantined"] != quarantined or log["recognised"] + log["quarantined"] + log["text_lines"] > log["lines"]:
        raise ViolationError(f"counts do not add up: {log}, {quarantined} rows in quarantine")


def _read_packed(folder: Path, data: bytes) -> None:
    for name in ("m-1/out.gz", "m-2/out.zst"):
        ingest_log(folder, {name: data}, (TICKS,))


def _read_records(folder: Path, data: bytes) -> None:
    ingest_log(folder, {"a.json": data}, (ROW,), None, LISTS)


def _read_tables(folder: Path, data: bytes) -> None:
    fields = build_form([build_field("a"), build_field("b", "real", required=False)])
    row = Event("row", TABLE.name, (fields,), "")
    ingest_log(folder, {"a.csv": data}, (row,), None, TABLE)


def _read_samples(folder: Path, data: bytes) -> None:
    ingest_log(folder, {"a": data}, (PEERS,), None, METRICS)


def _read_facts(folder: Path, data: bytes) -> None:
    for name in ("genesis-shelley.json", "meta.json"):
        shutil.copyfile(CARDANO / "baseline" / "run" / name, folder / name)
    file_name = "meta.json" if b'"meta"' in data else "genesis-shelley.json"
    (folder / file_name).write_bytes(data)
    read_constants(load_package().package.sources[0], folder)


def _read_publication(folder: Path, data: bytes) -> None:
    (folder / "a.value-only.json").write_bytes(data)
    read_publication(folder / "a.value-only.json")


SPEC = "specs/cometbft/package.dhall"


def _check_specs(folder: Path, data: bytes) -> None:
    root = copy_workspace(folder / "workspace")
    (root / SPEC).write_bytes(data)
    result = run_assay("check", "--system", "cometbft", "--cache", folder / "cache", cwd=root)
    _check_status(result.status, result.err)


def _query_run(folder: Path, data: bytes) -> None:
    """Query a run through the command line after mutating one of its logs."""
    shutil.copytree(CARDANO / "tiny" / "plain" / "run", folder / "run")
    host = folder / "run" / "node-2"
    for path in host.iterdir():
        path.unlink()
    (host / "stdout").write_bytes(data)
    runs = ("--run", folder / "run")
    result = run_assay("query", "cdfForgerStart", "cdfCpu", *runs, "--system", "cardano", "--cache", folder / "cache")
    _check_status(result.status, result.err)


def _query_with_arguments(folder: Path, data: bytes) -> None:
    """Query with arguments from the data, one per line, after those for run and cache."""
    (folder / "run").symlink_to(CARDANO / "tiny" / "plain" / "run")
    arguments = [os.fsdecode(line) for line in data.replace(b"\0", b"").split(b"\n")]
    result = run_assay("query", "cdfForgerStart", "--run", "run", "--cache", "cache", *arguments, cwd=folder)
    _check_status(result.status, result.err)


def _check_status(status: int, message: str) -> None:
    if status not in STATUSES or "Traceback" in message:
        raise ViolationError(f"exit status {status}: {message[-2000:]}")


def _create_log_seeds() -> list[bytes]:
    lines = [
        format_record(n=1, r=0.5, u=3, t="x"),
        format_record(n=2, t="y", r=None),
        format_record("Noise"),
        "text",
        "{broken",
    ]
    wrapped = '{"ts":"2026-02-05T18:52:16.5Z","what":["Tick"],"body":{"proof":1,"inner":{"n":4,"t":"z"}}}'
    return ["\n".join([*lines, wrapped]).encode(), (format_record(n=7, t="é") + "\r\n").encode() * 5]


def _create_packed_seeds() -> list[bytes]:
    import gzip

    import zstandard

    plain = _create_log_seeds()[0]
    return [gzip.compress(plain, mtime=0), zstandard.ZstdCompressor().compress(plain), plain]


def _create_sample_seeds() -> list[bytes]:
    answer = (
        b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"peers","job":"a"},'
        b'"values":[[1.5,"2"],[2.5,"3"]]},{"metric":{"__name__":"peers"},"values":[[1795231211.714,"NaN"]]}]}}'
    )
    text = b'# TYPE peers gauge\npeers{job="a"} 1 1.5\npeers{job="b\\"",x=""} 2e3 2.5 # {} 1\npeers 7 3\n# EOF\n'
    return [answer, text, b'peers{job="a"} 1 1795231211714\n{__name__="peers"} 2 1795231211715\n']


def _read_files(*patterns: str) -> list[bytes]:
    return [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


TARGETS: dict[str, Target] = {
    "logs": Target(_create_log_seeds, _read_logs),
    "text": Target(lambda: [f"{text_line('Tick 5')}\n{text_line('Tick x')}\nother\r\n".encode() * 3], _read_text),
    "packed": Target(_create_packed_seeds, _read_packed),
    "records": Target(
        lambda: [b'[{"time": 5, "n": 0.25, "m": 1}, {"time": 6}, {"time": 7, "n": 1e-7, "m": null, "x": []}]',
                 b'{"data": {"list": [{"time": 5, "n": 1, "m": 2}]}}'], _read_records),
    "tables": Target(lambda: [b'at,a,b\n1,2,3\n2,"4",5.5\n', b"a,at\r\n1,2026-02-05T18:52:16Z\r\n"], _read_tables),
    "samples": Target(_create_sample_seeds, _read_samples),
    "facts": Target(lambda: _read_files("golden/cardano/baseline/run/*.json"), _read_facts),
    "publication": Target(lambda: _read_files("golden/published/release-10.[45]*.json"), _read_publication),
    "arguments": Target(
        lambda: [b"--filter\nslot-leq=41\n--filter\nfullness-above=0.5\n--format\ntable",
                 b"RSS\n--summary\nmean-of-hosts\n--no-filters\n--format\ncsv", b"--run\nother=run\n--system\ncardano"],
        _query_with_arguments, is_slow=True),
    "run": Target(lambda: _read_files("golden/cardano/real/*.log"), _query_run, is_slow=True),
    "specs": Target(lambda: _read_files(SPEC), _check_specs, is_slow=True),
}  # fmt: skip


def run_target(name: str, folder: Path, data: bytes) -> None:
    """Run a case of a target; raise when it breaks a rule."""
    try:
        TARGETS[name].run(folder, data)
    except AssayError as error:
        _check_status(error.status, "")
        str(error).encode("utf-8")
