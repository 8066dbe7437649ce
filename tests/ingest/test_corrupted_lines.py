"""Test that counts add up exactly, whatever is broken: read = used + not needed + quarantined.

Real lines are broken in every way, at least ten thousand in each, and plain Python classifies each line.
"""

from __future__ import annotations

import functools
import gzip
import os
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from assay.app.compute.raw_data_notes import list_raw_notes
from assay.app.session.prepare import prepare
from assay.app.session.session import open_session
from assay.ingest.discovery import find_run
from assay.ingest.pipeline import ingest
from assay.lang.model.package import Quarantine
from assay.runs.model import IngestedRun, NamedRun
from tests.compare_reference import CARDANO
from tests.ingest.test_events_of_runs import load_package
from tests.support.corruption import KINDS
from tests.support.deep import is_deep
from tests.support.ingesting import IngestedFolder
from tests.support.laboratory import ROOT
from tests.support.line_oracle import INCOMPLETE, OTHER, TEXT, TIMELESS, LineCounts, classify_lines
from tests.support.runs import change_log, copy_run

#: number of random variants; `just fuzz` runs more
TIMES = int(os.environ.get("ASSAY_FUZZ_EXAMPLES", "1"))
LINES = 10_000 if is_deep() or TIMES > 1 else 2_000  # broken lines of each kind


@functools.cache
def read_real_lines() -> list[bytes]:
    """Return lines of runs in golden/, one of each shape, and those of real nodes."""
    result: dict[tuple[bytes, int], bytes] = {}
    for case in ("baseline", "candidate", "legacy", "list-ns", "edges"):
        for path in sorted((CARDANO / case / "run").glob("*/*.gz")):
            for line in gzip.decompress(path.read_bytes()).splitlines():
                if len(line) < 300:
                    result.setdefault((line[44:90], len(line) // 8), line)
    real_lines = (CARDANO / "real" / "node-0.log").read_bytes().splitlines()
    return sorted(result.values()) + [line for line in real_lines if line]


@pytest.fixture(autouse=True)
def _describe_all_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Describe more malformed lines than users need, so that each can be compared."""
    for module in ("summary", "line_counts"):
        monkeypatch.setattr(f"assay.ingest.{module}.DESCRIBED_LINES", 10**6)


def generate_log(kind: str, seed: int) -> bytes:
    """Generate a log in which whole and broken lines alternate."""
    random = Random(f"{seed} {kind}")
    broken_lines = (KINDS[kind](random, random.choice(read_real_lines())) for _ in range(LINES))
    return b"".join(
        line + b"\n" + (random.choice(read_real_lines()) + b"\n" if random.random() < 0.1 else b"")
        for line in broken_lines
    )


@given(seed=st.integers(1, 2**32))
@settings(
    derandomize=TIMES == 1,
    deadline=None,
    max_examples=TIMES,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_each_corrupted_line_is_counted_once(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    note(f"seed {seed}")
    folder = tmp_path_factory.mktemp("broken")
    source = load_package().package.sources[0]
    hosts = {f"node-{number:02}": generate_log(kind, seed) for number, kind in enumerate(KINDS)}
    for host, content in hosts.items():
        (folder / "run" / host).mkdir(parents=True)
        (folder / "run" / host / "stdout").write_bytes(content)
    quarantine_limits = Quarantine(share=1.0, at_least=10)
    events = [event for event in load_package().package.events if event.source == source.name]
    wanted = {event.name: frozenset(item.name for item in event.fields) for event in events}
    tolerant_source = type(source)(
        **{name: getattr(source, name) for name in source.__dataclass_fields__} | {"quarantine": quarantine_limits}
    )
    ingest(tolerant_source, events, wanted, find_run(tolerant_source, folder / "run"), folder / "ingested")
    ingested = IngestedFolder(folder / "ingested")
    check_counts(ingested, {host: classify_lines(source, events, content) for host, content in hosts.items()})


def check_counts(ingested: IngestedFolder, expected: Mapping[str, LineCounts]) -> None:
    """Fail unless all counts equal those of plain Python, line by line where lines are broken."""
    quarantine = ingested.read_rows("quarantine", "host", "line", "offset", "reason")
    logs = {row[0]: row[1:] for row in ingested.read_rows("logs", *COUNTED)}
    counts = ingested.read_rows("counts")
    assert [row for row in quarantine if row[-1] == "a field is missing"][:5] == []
    assert len(quarantine) == sum(row[3] for row in logs.values())
    for host, kind in zip(expected, KINDS, strict=True):
        expected_counts, kinds = expected[host], expected[host].kinds
        differing_lines = {row[1:3] for row in quarantine if row[0] == host} ^ set(expected_counts.broken)
        assert sorted(differing_lines)[:5] == [], kind
        assert {
            event: n for counted_host, event, n in counts if counted_host == host and n
        } == expected_counts.events, kind
        lines, objects, recognised, quarantined, text = logs[host]
        assert (lines, text, quarantined) == (kinds.total(), kinds[TEXT], len(expected_counts.broken)), kind
        assert recognised == expected_counts.events.total(), kind
        assert objects == recognised + kinds[OTHER] + kinds[TIMELESS] + kinds[INCOMPLETE], kind
        assert lines == recognised + (kinds[OTHER] + text) + quarantined, kind


COUNTED = ("host", "lines", "objects", "recognised", "quarantined", "text_lines")


def read_counts(run: IngestedRun) -> tuple[Any, ...]:
    """Return everything that a build uses of the counts of a run."""
    return run.logs, dict(run.counts), run.hosts, list_raw_notes(run)


def break_lines(run: Path) -> None:
    """Add lines that lack fields which only some events need, and a broken line."""

    def change(lines: list[str]) -> list[str]:
        edited_lines = [line for line in lines if '"Mempool.AddedTx"' in line or "LedgerMetrics" in line]
        return [
            *lines,
            *(line.replace('"mempoolSize"', '"x"').replace('"utxoSize"', '"y"') for line in edited_lines[:3]),
            "{",
        ]

    for host in run.iterdir():
        if host.is_dir():
            change_log(host, change)


def test_counts_do_not_depend_on_earlier_reads(tmp_path: Path) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    break_lines(run)
    named_run = NamedRun("run", run)
    all_fields = {event.name: frozenset(item.name for item in event.fields) for event in load_package().package.events}
    fields_of_one_event = {"leadership_decided": all_fields["leadership_decided"]}
    fields_of_two_events = fields_of_one_event | {"ledger_metrics": all_fields["ledger_metrics"]}
    for first in (all_fields, fields_of_two_events, fields_of_one_event):
        session = open_session(ROOT, tmp_path / f"cache-{len(first)}")
        prepare(session, load_package(), [named_run], first)
        for wanted in (fields_of_one_event, fields_of_two_events, all_fields):
            (after,) = prepare(session, load_package(), [named_run], wanted)
            separate_session = open_session(ROOT, tmp_path / f"alone-{len(wanted)}")
            (fresh_run,) = prepare(separate_session, load_package(), [named_run], wanted)
            assert read_counts(after) == read_counts(fresh_run)
