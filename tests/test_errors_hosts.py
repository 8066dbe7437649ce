"""Hosts whose logs tell nothing: whatever stops a command says which ones they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.compare_reference import CARDANO
from tests.support.commands import assay

SILENT = "none of the log lines of host {} is an event that the specs know (source workbench_logs)."


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A copy of a run of three hosts."""
    return shutil.copytree(CARDANO / "tiny" / "plain" / "run", tmp_path / "run")


def text_alone(run: Path, host: str) -> None:
    """Let a host's log be lines of text."""
    shutil.rmtree(run / host, ignore_errors=True)
    (run / host).mkdir()
    (run / host / "stdout").write_text("hello\nworld\n", encoding="utf-8")


def test_a_forger_whose_log_is_text_is_named_where_its_blocks_are_missed(run: Path, cache: Path) -> None:
    """The check that stops the command speaks of another host; the note leads to the one that is to blame."""
    text_alone(run, "node-2")
    done = assay("--cache", cache, "query", "cdfForgerTicked", "--run", run, "--no-filters")
    assert done.status == 1
    code, first, *_ = done.err.splitlines()
    assert code.startswith("error[unknown-parent]: run run: node-3 forged block ")
    assert first == f"  note: {SILENT.format('node-2')}"


def test_hosts_without_a_slot_are_told_with_what_rejects_them(run: Path, cache: Path) -> None:
    """That filters do it is told by notes alone: a log may hold no slot by itself."""
    out = run.parent / "out"
    done = assay("--cache", cache, "build", "cardano/comparison", "--run", run, "--filter=slot-geq=99999", "-o", out)
    assert (done.status, done.err) == (
        1,
        "error[no-slot-left]: run run: node-10 has no slot to analyse\n"
        "  note: 2 more like it\n"
        "  note: filter slot-geq=99999 rejected 180 of 180 of `slot`\n"
        "  hint: take the host out of the run, or let more of its slots count\n",
    )


@pytest.mark.parametrize("metric", ["CentiCpu", "cdfSpanLensCpu"])
def test_a_query_of_slots_refuses_hosts_without_one_as_a_build_does(run: Path, cache: Path, metric: str) -> None:
    """A host that the filters leave no slot would count as one whose samples are all 0."""
    done = assay("--cache", cache, "query", metric, "--run", run, "--filter=slot-geq=99999")
    assert (done.status, done.err.partition("\n")[0]) == (
        1,
        "error[no-slot-left]: run run: node-10 has no slot to analyse",
    )


def test_a_host_without_any_event_is_named_first_by_a_build(run: Path, cache: Path) -> None:
    text_alone(run, "node-99")
    done = assay(
        "--cache", cache, "build", "cardano/comparison", "--run", run, "--no-filters", "-o", run.parent / "out"
    )
    assert done.status == 1
    assert done.err.splitlines()[:2] == [
        "error[nothing-recognised]: run run: the log of node-99 holds no event that is known: 2 lines, 0 of them log "
        "objects",
        f"  note: {SILENT.format('node-99')}",
    ]
