"""Bad input, as the command line answers it: one clear message, the right exit status, former outputs as they were."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import CARDANO
from tests.support.commands import assay
from tests.support.outcomes import FORMER, contents, former_outputs, message
from tests.support.runs import changed_json, changed_log, copied, line, lines_of, reading, write_log

PLAIN = CARDANO / "tiny" / "plain" / "run"
Change = Callable[[Path], Any]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An output folder that holds an earlier report."""
    former_outputs(tmp_path / "out")
    return tmp_path / "out"


def refusal(out: Path, cache: Path, *arguments: str | Path, status: int = 1, report: str = "cardano/comparison") -> str:
    """The message of a build that must fail; it leaves the output folder as it was."""
    done = assay("build", report, *arguments, "-o", out, "--cache", cache)
    assert done.status == status, done.err
    assert contents(out) == FORMER
    return message(done, {"RUN": out.parent / "run", "OTHER": out.parent / "other", "OUT": out, "GOLDEN": CARDANO})


USAGE: dict[tuple[str, ...], str] = {
    ("--filter", "unitry"): """\
error[unknown-filter]: there is no filter `unitry`
  hint: did you mean `unitary`?
""",
    ("--filter", "unitary=3"): """\
error[filter-argument]: filter `unitary` takes no argument
  found:    unitary=3
""",
    ("--filter", "slot-leq"): """\
error[filter-argument]: filter `slot-leq` needs an argument
  expected: slot-leq=N, a whole number
  found:    slot-leq
  hint: Slot n or earlier
""",
    ("--filter", "slot-leq=abc"): """\
error[filter-argument]: the argument of filter `slot-leq` is no number
  expected: slot-leq=N, a whole number
  found:    slot-leq=abc
  hint: Slot n or earlier
""",
    ("--filter", "slot-leq=1.5"): """\
error[filter-argument]: the argument of filter `slot-leq` does not fit
  expected: slot-leq=N, a whole number
  found:    slot-leq=1.5
  hint: Slot n or earlier
""",
    ("--filter", "fullness-above=full"): """\
error[filter-argument]: the argument of filter `fullness-above` is no number
  expected: fullness-above=X, a number
  found:    fullness-above=full
  hint: The block's size is above the share x of the limit
""",
    ("--filter", "unitary", "--no-filters"): """\
error[filters]: --no-filters and --filter exclude each other
""",
    ("--date", "2026-02-30"): """\
error[date]: --date takes a day that exists
  expected: YYYY-MM-DD
  found:    2026-02-30
""",
    ("--date", "20261121"): """\
error[date]: --date takes a day that exists
  expected: YYYY-MM-DD
  found:    20261121
""",
    ("--style", "typst2026"): """\
error[unknown-style]: there is no number style `typst2026`
  hint: did you mean `typst-2026`?
""",
    ("--summary", "mean"): """\
error[unknown-summary]: there is no summary `mean`
  hint: there are `mean-of-hosts`, `published`
""",
    ("--run", f"run={PLAIN}"): """\
error[run-name]: the same run is named twice: GOLDEN/tiny/plain/run
""",
    ("--run", ""): """\
error[run-name]: `` names no run
  expected: NAME=DIR or DIR
""",
}


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_a_wrong_argument_is_a_usage_error(out: Path, cache: Path, arguments: tuple[str, ...]) -> None:
    assert refusal(out, cache, "--run", f"run={PLAIN}", *arguments, status=2) == USAGE[arguments]


@pytest.mark.parametrize("report", ["cardano/comparision", "comparison", "cardno/comparison"])
def test_an_unknown_report_is_a_usage_error(out: Path, cache: Path, report: str) -> None:
    assert refusal(out, cache, "--run", PLAIN, report=report, status=2) == (
        f"error[unknown-report]: there is no report `{report}`\n  hint: did you mean `cardano/comparison`?\n"
    )


@pytest.mark.parametrize("metric", ["cdfForgerTiked", "cdfforgerticked"])
def test_an_unknown_metric_is_a_usage_error(cache: Path, metric: str) -> None:
    done = assay("query", metric, "--run", PLAIN, "--cache", cache)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        f"error[unknown-metric]: there is no metric `{metric}`\n  hint: did you mean `cdfForgerTicked`?\n"
    )


@pytest.mark.parametrize("command", [("check",), ("list", "metrics"), ("query", "Alloc", "--run", PLAIN)])
def test_an_unknown_system_is_a_usage_error(cache: Path, command: tuple[str | Path, ...]) -> None:
    done = assay(*command, "--system", "cardno", "--cache", cache)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error[unknown-system]: there are no specs for `cardno` in ")
    assert done.err.endswith("/specs\n  hint: did you mean `cardano`?\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bild",), "Error: No such command 'bild'. Did you mean 'build'?\n"),
        (("build", "cardano/comparison", "-o", "x"), "Error: Missing option '--run'.\n"),
        (("build", "cardano/comparison", "--run", "x"), "Error: Missing option '-o' / '--out'.\n"),
        (("list", "metric"), "'metric' is not one of 'metrics', 'events', 'grains', 'filters', 'series', 'reports'.\n"),
    ],
)
def test_a_command_line_that_is_none_says_what_is_missing(arguments: tuple[str, ...], said: str) -> None:
    done = assay(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("Usage: assay ")
    assert done.err.endswith(said)


def without(*names: str) -> Change:
    """A run that lacks files or hosts."""

    def change(run: Path) -> None:
        for name in names:
            shutil.rmtree(run / name) if (run / name).is_dir() else (run / name).unlink()

    return change


def a_file(run: Path) -> None:
    """A file in the place of a run."""
    shutil.rmtree(run)
    run.write_text("")


def empty(run: Path) -> None:
    """A run directory that holds nothing."""
    shutil.rmtree(run)
    run.mkdir()


def all_foreign(run: Path) -> None:
    """Logs of something else on all hosts."""
    for host in ("node-10", "node-2", "node-3"):
        changed_log(run / host, lambda _: FOREIGN)


def genesis(**facts: object) -> Change:
    """A run whose genesis says something else."""
    return lambda run: changed_json(run / "genesis-shelley.json", lambda found: found.update(facts))


def log(change: Callable[[list[str]], list[str]]) -> Change:
    """A run whose log of node-2 has other lines."""
    return lambda run: changed_log(run / "node-2", change)


def cut_off(name: str) -> Change:
    """A packed log that ends in its middle."""

    def change(run: Path) -> None:
        lines = lines_of(run / "node-2")
        without("node-2/stdout.gz")(run)
        write_log(run / "node-2", lines, name)
        file = run / "node-2" / name
        packed = file.read_bytes()
        file.write_bytes(packed[: len(packed) // 2])

    return change


def not_json(run: Path) -> None:
    """A document with a comma too many."""
    (run / "meta.json").write_text('{"meta":\n {"tag": "a",}}\n', encoding="utf-8")


FOREIGN = [line(1.0, "Other.Thing", {}), "hello"]
BROKEN = [line(200.0, "Forge.Loop.LedgerView", {}) for _ in range(40)]

RUNS: dict[str, tuple[Change, str]] = {
    "does not exist": (
        shutil.rmtree,
        """\
error[no-run]: the run directory does not exist: RUN
  hint: --run takes a directory of a run, an archive of one, or an s3:// address
""",
    ),
    "is a file": (
        a_file,
        """\
error[no-run]: the run is no directory: RUN
  hint: --run takes a directory of a run, an archive of one, or an s3:// address
""",
    ),
    "is empty": (
        empty,
        """\
error[no-run]: the run directory is empty: RUN
""",
    ),
    "has no host": (
        without("node-10", "node-2", "node-3"),
        """\
error[no-hosts]: the run has no host directory: RUN
  expected: directories node-*
  found:    genesis-shelley.json, meta.json
""",
    ),
    "has a host without a log": (
        without("node-2/stdout.gz"),
        """\
error[no-logs]: host node-2 has no log file: RUN/node-2
  expected: stdout, stdout*, node-*.json (also with .gz or .zst)
  found:    nothing
""",
    ),
    "lacks its genesis": (
        without("genesis-shelley.json"),
        """\
error[no-document]: the run has no genesis/genesis.shelley.json or genesis-shelley.json: RUN
  note: it tells the constants `system_start` (When slot 0 began), `slot_length` (Length of a slot), `epoch_length` \
(Slots of an epoch) and 3 more of source `workbench_logs`
  hint: `assay schema genesis/genesis.shelley.json` shows what it must hold
""",
    ),
    "lacks genesis and meta": (
        without("genesis-shelley.json", "meta.json"),
        """\
error[no-document]: the run has no genesis/genesis.shelley.json or genesis-shelley.json: RUN
  note: it tells the constants `system_start` (When slot 0 began), `slot_length` (Length of a slot), `epoch_length` \
(Slots of an epoch) and 3 more of source `workbench_logs`
  hint: `assay schema genesis/genesis.shelley.json` shows what it must hold

error[no-document]: the run has no meta.json: RUN
  note: it tells the constants `batch` (Batch of the run), `era` (Era of the ledger), `delegators` (Delegators in \
the genesis) and 6 more of source `workbench_logs`
  hint: `assay schema meta.json` shows what it must hold
""",
    ),
    "began on a day that does not exist": (
        genesis(systemStart="2026-02-31T10:00:00Z"),
        """\
error[wrong-fact]: `systemStart` of the run's genesis-shelley.json is not what it should be (When slot 0 began)
  at RUN/genesis-shelley.json:9:2
    9 |  "systemStart": "2026-02-31T10:00:00Z",
      |  ^^^^^^^^^^^^^
  expected: a time in UTC, such as 2026-02-05T18:52:16Z
  found:    "2026-02-31T10:00:00Z"
""",
    ),
    "has slots of no length": (
        genesis(slotLength=0),
        """\
error[wrong-fact]: `slotLength` of the run's genesis-shelley.json is not what it should be (Length of a slot)
  at RUN/genesis-shelley.json:11:2
    11 |  "slotLength": 0,
       |  ^^^^^^^^^^^^
  expected: a number above 0
  found:    0
""",
    ),
    "has epochs of no slot": (
        genesis(epochLength=0),
        """\
error[wrong-fact]: `epochLength` of the run's genesis-shelley.json is not what it should be (Slots of an epoch)
  at RUN/genesis-shelley.json:8:2
    8 |  "epochLength": 0,
      |  ^^^^^^^^^^^^^
  expected: a whole number above 0
  found:    0
""",
    ),
    "has a meta that is not JSON": (
        not_json,
        """\
error[not-json]: meta.json is not JSON: Expecting property name enclosed in double quotes
  at RUN/meta.json:2:14
    2 |  {"tag": "a",}}
      |              ^
""",
    ),
    "has a meta that lacks a fact": (
        lambda run: changed_json(run / "meta.json", lambda found: found["meta"].pop("batch")),
        """\
error[missing-fact]: the run's meta.json lacks `meta.batch` (Batch of the run)
  at RUN/meta.json
""",
    ),
    "has a log without any recognised line": (
        log(lambda _: FOREIGN),
        """\
error[nothing-recognised]: run run: the log of node-2 holds no event that is known: 2 lines, 1 of them log objects
  note: none of the log lines of host node-2 is an event that the specs know (source workbench_logs).
  hint: is it the log of a node? `assay list events` tells the names that are known
""",
    ),
    "has logs without any recognised line": (
        all_foreign,
        """\
error[nothing-recognised]: run run: none of the 6 log lines of 3 hosts is an event that the specs know
  note: source `workbench_logs` finds as names at ns of node-10/stdout: `Other.Thing`
  note: source `workbench_logs` finds as names at data.kind of node-10/stdout: `K`
  hint: are these logs of this system? `assay list events` tells the names that are known
""",
    ),
    "has an empty log": (
        log(lambda _: []),
        """\
error[no-logs]: run run: the log files of host node-2 are empty: RUN/node-2
""",
    ),
    "has a log of which a part is lost": (
        cut_off("stdout.zst"),
        """\
error[broken-file]: run run: the log file cannot be read to its end: RUN/node-2/stdout.zst
  found:    it ends before its content does
  hint: is it cut off, or still being written?
""",
    ),
    "has a log that is cut off": (
        cut_off("stdout.gz"),
        """\
error[broken-file]: run run: the log file cannot be read to its end: RUN/node-2/stdout.gz
  found:    it ends before its content does
  hint: is it cut off, or still being written?
""",
    ),
    "has too many broken lines": (
        log(lambda lines: [*lines, *BROKEN]),
        """\
error[too-many-broken-lines]: run run: 40 of the 133 log lines of host node-2 are broken
  expected: at most 10
  found:    40
  note: node-2/stdout:94, byte 26433: field slot of ledger_view is missing
  note: node-2/stdout:95, byte 26528: field slot of ledger_view is missing
  note: node-2/stdout:96, byte 26623: field slot of ledger_view is missing
  note: all of them, with file, line, offset, reason and text, are in QUARANTINE
  hint: the limit stands in the source's definition (`quarantine`)
""",
    ),
    "has a header of a block that nobody forged": (
        log(lambda lines: [*lines, line(190.0, "ChainSync.Client.DownloadedHeader", header("ab" * 32))]),
        f"""\
error[unknown-forger]: run run: no host forged block {"ab" * 32} (number 9, slot 189), which node-2 saw first at \
2026-02-05 18:55:26.000000000
  hint: is the log of a host missing, or cut off at its beginning?
""",
    ),
    "lacks a host, the forger of a block": (
        without("node-2"),
        f"""\
error[unknown-parent]: run run: node-3 forged block {"3" * 64} (number 2, slot 12) on a parent that no host forged \
before: {"2" * 64}
  hint: is the log of a host missing, or cut off at its beginning?
""",
    ),
    "has a silence of 1000 slots": (
        log(lambda lines: [*lines, reading(1060.5)]),
        """\
error[silence]: run run: node-2 is silent for 1000 slots, from slot 59 to slot 1060 (at 2026-02-05 19:09:56.500000000)
  hint: a silence of 1000 slots or more cannot be analysed: leave the host out, or cut the run before it
""",
    ),
}


def header(block: str) -> dict[str, Any]:
    """The fields of a header of a block."""
    return {"slot": 189, "blockNo": 9, "block": block}


@pytest.mark.parametrize("case", RUNS)
def test_a_run_that_cannot_be_analysed_is_refused(tmp_path: Path, out: Path, cache: Path, case: str) -> None:
    change, expected = RUNS[case]
    change(copied("tiny/plain", tmp_path / "run"))
    status = 2 if case in ("does not exist", "is a file") else 1
    assert refusal(out, cache, "--run", tmp_path / "run", "--no-filters", status=status) == expected
