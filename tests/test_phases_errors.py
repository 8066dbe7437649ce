"""Bad input about phases: every message, in full."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.commands import Done, assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edited, workspace

QA = ROOT / "golden" / "cometbft" / "run"
UPGRADE = ROOT / "golden" / "antelope" / "upgrade" / "run"
INSIDE = "2026-11-21T03:23:00Z"


def asked(cache: Path, *arguments: str, run: Path = QA) -> Done:
    return assay("query", "valid_txs", "--run", f"run={run}", *arguments, "--cache", cache)


USAGE = {
    "there is no phase": (
        ("--phase", "befor"),
        "error[unknown-phase]: there is no phase `befor`\n  hint: --phase NAME=FROM..TO makes one\n",
    ),
    "no phase": (
        ("--phase", "a=load"),
        "error[bad-phase]: --phase a=load is no phase\n"
        "  expected: NAME=FROM..TO, instants by their names; one of them may be left out\n",
    ),
    "open on both sides": (
        ("--phase", "a=.."),
        "error[bad-phase]: --phase a=.. is no phase\n"
        "  expected: NAME=FROM..TO, instants by their names; one of them may be left out\n",
    ),
    "an instant that nobody tells": (
        ("--phase", "a=..load"),
        "error[unknown-instant]: there is no instant `load`\n  hint: --at load=TIME tells it\n",
    ),
    "an instant misspelt": (
        ("--phase", "a=..load", "--at", f"lod={INSIDE}"),
        "error[unknown-instant]: there is no instant `lod`\n  hint: did you mean `load`?\n",
    ),
    "a bad time": (
        ("--phase", "a=..load", "--at", "load=yesterday"),
        "error[bad-time]: --at load is no time: yesterday\n"
        "  expected: RFC 3339, such as 2026-02-05T18:52:16Z, or seconds since 1970\n",
    ),
    "a day that is not": (
        ("--phase", "a=..load", "--at", "load=2026-02-30T00:00:00Z"),
        "error[bad-time]: --at load is no time: 2026-02-30T00:00:00Z\n"
        "  expected: RFC 3339, such as 2026-02-05T18:52:16Z, or seconds since 1970\n",
    ),
    "no name": (
        ("--phase", "a=..load", "--at", INSIDE),
        f"error[bad-time]: --at {INSIDE} names no instant\n  expected: NAME=TIME\n",
    ),
    "an instant without phases": (
        ("--at", f"load={INSIDE}"),
        "error[no-phases]: --at tells an instant of phases, and there are none\n"
        "  hint: --phase NAME=FROM..TO names one\n",
    ),
    "one name twice": (
        ("--phase", "a=..load", "--phase", "a=load..", "--at", f"load={INSIDE}"),
        "error[duplicate-phase]: two phases are called `a`\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", USAGE)
def test_wrong_use_is_told(case: str, cache: Path) -> None:
    arguments, message = USAGE[case]
    done = asked(cache, *arguments)
    assert (done.status, done.out, done.err) == (2, "", message)


def test_an_instant_of_a_run_that_is_not_there_is_told(cache: Path) -> None:
    done = asked(cache, "--phase", "a=..load", "--at", f"load={INSIDE}", "--at", f"rum:load={INSIDE}")
    message = "error[run-name]: --at rum:load is about a run that there is not\n  hint: did you mean `run`?\n"
    assert (done.status, done.out, done.err) == (2, "", message)


def test_an_instant_outside_of_the_data_says_from_when_to_when_there_is_data(cache: Path) -> None:
    done = asked(cache, "--phase", "a=..load", "--at", "load=2024-01-22T20:00:00Z")
    lines = done.err.splitlines()
    assert done.status == 1
    assert lines[0] == "error[instant-outside]: run run: the instant `load` is outside of the run's data"
    assert lines[1].startswith("  expected: from 2026-11-21T03:")
    assert lines[2] == "  found:    2024-01-22T20:00:00Z (--at)"


def test_phases_that_are_backwards_or_overlap_are_told(cache: Path) -> None:
    at = ("--at", f"one={INSIDE}", "--at", "two=2026-11-21T03:24:00Z")
    back = asked(cache, "--phase", "a=two..one", *at)
    assert (back.status, back.err) == (
        1,
        "error[phase-backwards]: run run: the phase `a` ends before it begins\n"
        "  found:    from 2026-11-21T03:24:00Z (`two`) to 2026-11-21T03:23:00Z (`one`)\n",
    )
    none = asked(cache, "--phase", "a=one..two", "--at", f"one={INSIDE}", "--at", f"two={INSIDE}")
    assert none.err.startswith("error[phase-backwards]: run run: the phase `a` ends where it begins\n")
    over = asked(cache, "--phase", "a=..two", "--phase", "b=one..", *at)
    assert (over.status, over.err) == (
        1,
        "error[phase-overlap]: run run: the phases `a` and `b` overlap\n"
        "  found:    `a` from its first instant to 2026-11-21T03:24:00Z; `b` from 2026-11-21T03:23:00Z to its last\n",
    )


def test_a_phase_without_rows_is_told_with_the_extent_of_the_data(cache: Path) -> None:
    at = ("--at", f"one={INSIDE}", "--at", "two=2026-11-21T03:23:00.000000001Z")
    done = asked(cache, "--phase", "a=one..two", *at)
    lines = done.err.splitlines()
    assert (done.status, lines[0]) == (
        1,
        "error[empty-phase]: run run: there are no samples of valid_txs in the phase `a`, from 2026-11-21T03:23:00Z to "
        "2026-11-21T03:23:00.000000001Z",
    )
    assert lines[1].startswith("  expected: samples; the run's data is from 2026-11-21T03:")
    assert lines[2].startswith("  hint: is the instant right, and its margin not too large? Without phases, does ")


def test_a_metric_that_phases_cannot_cut_is_told(cache: Path) -> None:
    run = ROOT / "golden" / "cardano" / "baseline" / "run"
    cut = ("--phase", "a=..mid", "--at", "mid=2026-02-05T19:02:00Z")
    done = assay("query", "cdfBlocksPerHost", "--run", f"run={run}", *cut, "--cache", cache)
    assert (done.status, done.err) == (
        1,
        "error[no-instant]: phases cannot cut metric `cdfBlocksPerHost`: not all that it is made of has an instant\n"
        "  hint: name the instant of grain `forging_host` with `at`\n",
    )


def upgraded(tmp_path: Path, cache: Path, changed: dict[str, object], *more: str) -> Done:
    """The upgrade report of the recorded run with other facts."""
    run = tmp_path / "run"
    shutil.copytree(UPGRADE, run)
    facts = json.loads((run / "meta.json").read_text(encoding="utf-8")) | changed
    kept = {name: value for name, value in facts.items() if value is not None}
    (run / "meta.json").write_text(json.dumps(kept), encoding="utf-8")
    return assay("build", "antelope/upgrade", "--run", run, *more, "-o", tmp_path / "out", "--cache", cache)


def test_an_instant_that_is_not_given_is_told(tmp_path: Path, cache: Path) -> None:
    done = upgraded(tmp_path, cache, {"upgrade": None})
    assert (done.status, done.err) == (
        1,
        "error[no-instant-given]: run run: the instant `upgrade` is not known\n"
        "  hint: --at upgrade=TIME tells it, or the run's constant `upgrade`\n",
    )
    assert not (tmp_path / "out").exists()


def test_what_the_user_says_goes_before_the_constant(tmp_path: Path, cache: Path) -> None:
    when = json.loads((UPGRADE / "meta.json").read_text(encoding="utf-8"))["upgrade"]
    done = upgraded(tmp_path, cache, {"upgrade": "2020-01-01T00:00:00Z"}, "--at", f"upgrade={when}")
    assert done.status == 0
    assert done.err.endswith("(--at), and not at 2020-01-01T00:00:00Z, which its constant upgrade tells.\n")


def test_a_margin_that_leaves_no_samples_is_told(tmp_path: Path, cache: Path) -> None:
    done = upgraded(tmp_path, cache, {"rate_window_seconds": 60})
    assert done.status == 1
    assert done.err.startswith("error[empty-phase]: run run: there are no samples of cpu_usage, disk_write_rate, ")


def test_a_misspelt_instant_of_a_declared_phase_is_told(tmp_path: Path, cache: Path) -> None:
    within = workspace(tmp_path)
    place = within / "specs/antelope/phases.dhall"
    edited(place, "P.told constant.upgrade", '(P.told constant.upgrade // { name = "upgraded" })')
    edited(place, 'P.after "after" upgrade', 'P.Phase::{ name = "after", since = "upgrade" }')
    done = assay("check", "--system", "antelope", "--cache", cache, within=within)
    assert done.status == 1
    assert "error[unknown-instant]: phase `after` of article `upgrade` names an unknown instant `upgrade`" in done.err
    assert "hint: did you mean `upgraded`?" in done.err
