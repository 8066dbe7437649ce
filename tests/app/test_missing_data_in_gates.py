"""The gate of real builds whose candidate lacks data: a host, an event, the host of one repeat."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import write_rows_of_requests

HOSTS = "The comparison itself is suspect. The number of hosts ({}) differs between the runs"

#: case -> names and folders of the runs, texts of the error, status with --allow-missing
CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...], int]] = {
    "whole": (("1.0=whole", "1.1=faster"), (), 0),
    "host": (("1.0=whole", "1.1=one-host"), (HOSTS.format("2, 1"), "found:    hosts: 2 in 1.0, 1 in 1.1"), 0),
    "event": (
        ("1.0=whole", "1.1=renamed"),
        (
            "found:    no samples to compare 1.1 with 1.0: Waiting time, Working time",
            "note: Data: 1.1: no sample of wait: 120 rows of `request`, ",
            "; 2 further findings, under Data quality.",
            "note: Data lost: Waiting time, Working time (a run has no samples, though another has).",
        ),
        1,
    ),
    "event without a trace": (
        ("1.0=whole", "1.1=silent"),
        (
            "found:    no samples to compare 1.1 with 1.0: Waiting time, Working time",
            "note: Data: 1.1: no sample of response_size, wait, work: 0 rows of `request` (",
        ),
        1,
    ),
    "event on a host": (
        ("1.0=three-hosts", "1.1=partial"),
        (
            "found:    1.1: host web-2 has no `response_sent` record, unlike the other 2 (response_size, work)",
            "note: Data: 1.1: host web-2 has no `response_sent` record, unlike the other 2 (response_size, work); 1 ",
        ),
        0,
    ),
    "end of a host": (
        ("1.0=whole", "1.1=cut-host"),
        ("found:    1.1: host web-2 ends 5.3 s before the others (90 records, the others 180) (",),
        0,
    ),
    "end of an event": (
        ("1.0=whole", "1.1=ended"),
        (
            ": the `response_sent` records end ",
            " s before the run (40, 1.0 120) (",
            "The time that runs cover (shorter in 1.1)",
        ),
        0,
    ),
    "pause of a host": (
        ("1.0=whole", "1.1=pause"),
        (
            "found:    1.1: host web-2 wrote no record for ",
            "The completeness of records (of ",
        ),
        0,
    ),
    "pause of a host in each run": (("1.0=pause", "1.1=other-pause"), (), 0),
    "clock of an event": (
        ("1.0=whole", "1.1=early"),
        (
            "found:    1.1: 60 of 120 samples are negative (work): a clock was set back or is ahead of others, or -1",
            "The meaning of values (of work in 1.1) differs between the runs",
        ),
        1,
    ),
    "ends before begins in all runs": (
        ("1.0=backwards", "1.1=other-backwards"),
        (
            ": 120 of 120 samples are negative (work): `from` and `to` may be swapped",
            "Working time (too many of its samples cannot be what it measures).",
        ),
        1,
    ),
    "end of all hosts": (
        ("1.0=whole", "1.1=cut"),
        ("found:    1.1: the run covers ", " with 180 records, 1.0 15 s with 360 ("),
        0,
    ),
    "end of all hosts of the base": (
        ("1.0=cut", "1.1=faster"),
        (": the run covers ", " with 180 records, 1.1 14 s with 360 ("),
        0,
    ),
    "end of all hosts of one repeat": (
        ("1.0=whole", "1.0=1.0", "1.1=faster", "1.1=cut"),
        ("found:    1.1 (2): the run covers ",),
        0,
    ),
    "host of a repeat": (
        ("1.0=whole", "1.0=1.0", "1.1=faster", "1.1=one-host"),
        (HOSTS.format("2, 1–2"), "found:    hosts: 2 in 1.0, 1–2 in 1.1"),
        0,
    ),
    "event of a repeat": (
        ("1.0=whole", "1.0=1.0", "1.1=faster", "1.1=renamed"),
        ("no samples to compare 1.1 with 1.0: Waiting time, Working time", "note: Data: 1.1 (2): no sample of wait"),
        1,
    ),
}


def _change_lines(runs: Path) -> None:
    """Change the lines of runs: a clock of an event, a unit, lines that occur twice, lines that are missing."""
    changes: dict[str, Callable[[str], str]] = {
        "early/web-2": lambda line: line.replace("T09:", "T08:") if "response.sent" in line else line,
        "backwards": lambda line: line.replace("T09:", "T08:") if "response.sent" in line else line,
        "other-backwards": lambda line: line.replace("T09:", "T07:") if "response.sent" in line else line,
        "bits": lambda line: re.sub(r'"bytes":(\d+)', r'"bytes":\g<1>000', line),
        "twice": lambda line: line * (2 if "-01" in line else 1),
        "half/web-2": lambda line: "" if "work.started" in line and line.endswith('5"}}\n') else line,
        "ended": lambda line: "" if "response.sent" in line and re.search('"[12]-0[2-5]', line) else line,
        "pause/web-2": lambda line: "" if re.search('"2-0(2|3[0-5])', line) else line,
        "other-pause/web-2": lambda line: "" if re.search('"2-0(1|2[0-5])', line) else line,
    }
    for place, change in changes.items():
        for log in (runs / place).rglob("*.jsonl"):
            lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
            log.write_text("".join(map(change, lines)), encoding="utf-8")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the shop of `assay init`, with copies of its runs that lack data."""
    folder = tmp_path_factory.mktemp("missing") / "shop"
    shutil.copytree(ROOT / "starter", folder)
    write_rows_of_requests(folder, "SELECT DISTINCT host, request FROM request_received")
    sources = {
        "whole": "1.0",
        "three-hosts": "1.0",
        **dict.fromkeys(
            (
                "faster",
                "one-host",
                "renamed",
                "silent",
                "partial",
                "two-events",
                "cut",
                "cut-host",
                "early",
                "backwards",
                "other-backwards",
                "bits",
                "twice",
                "half",
                "pause",
                "other-pause",
                "ended",
            ),
            "1.1",
        ),
    }
    for name, source in sources.items():
        shutil.copytree(folder / "runs" / source, folder / "runs" / name)
    shutil.rmtree(folder / "runs" / "one-host" / "web-2")
    for place in ("cut-host/web-2", "cut"):
        for log in (folder / "runs" / place).rglob("*.jsonl"):
            lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
            log.write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
    _change_lines(folder / "runs")
    for log in (folder / "runs" / "renamed").rglob("*.jsonl"):
        log.write_text(log.read_text(encoding="utf-8").replace("work.started", "work.begun"), encoding="utf-8")
    for name in ("three-hosts", "partial", "two-events"):
        shutil.copytree(folder / "runs" / name / "web-1", folder / "runs" / name / "web-3")
    incomplete = (
        ("silent", "request.received"), ("partial/web-2", "response.sent"),
        ("two-events/web-2", "response.sent"), ("two-events/web-2", "work.started"),
    )  # fmt: skip
    for place, event in incomplete:
        for log in (folder / "runs" / place).rglob("*.jsonl"):
            lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
            log.write_text("".join(line for line in lines if event not in line), encoding="utf-8")
    return folder


#: runs -> end of the finding on each run without the event; None for a note
OTHERS: dict[tuple[str, ...], str | None] = {
    ("1.0=whole", "1.1=silent"): "unlike the other run.",
    ("1.0=silent", "1.1=whole"): "unlike the other run.",
    ("1.0=silent", "1.1=silent"): None,
    ("1.0=whole", "1.1=faster", "1.2=silent"): "unlike the other 2 runs.",
    ("1.0=whole", "1.1=silent", "1.2=silent"): "unlike 1 of the other 2 runs.",
}


@pytest.mark.parametrize("runs", OTHERS, ids="-".join)
def test_event_of_other_runs_only_is_a_finding(shop: Path, cache: Path, runs: tuple[str, ...]) -> None:
    ending = OTHERS[runs]
    folders = dict(run.split("=") for run in runs)
    build = shop / "build" / "-".join(folders.values())
    options = [f"--run={name}=runs/{folder}" for name, folder in folders.items()]
    words = ["--cache", str(cache), "build", "service/comparison", *options, "--to", "md", "--to", "html"]
    answer = run_assay(*words, "-o", build, cwd=shop)
    results = json.loads((build / "results.json").read_text(encoding="utf-8"))
    message = "no sample of response_size, wait, work: 0 rows of `request` (the run has no `request_received` record)"
    expected = {
        name: [("missing-event", f"{message}, {ending}")] if folder == "silent" and ending else []
        for name, folder in folders.items()
    }
    findings = {name: item["findings"] for name, item in results["quality"].items()}
    assert {name: [(item["code"], item["message"]) for item in items] for name, items in findings.items()} == expected
    count = sum(map(len, expected.values()))
    assert (message in answer.err) == bool(count)
    texts = [(build / f"report.{form}").read_text(encoding="utf-8") for form in ("md", "html")]
    assert all(("1 finding on incomplete data, under Data quality." in text) == bool(count) for text in texts)


@pytest.mark.parametrize("case", CASES)
def test_gate_passes_only_with_all_data(shop: Path, cache: Path, case: str) -> None:
    runs, texts, allowed = CASES[case]
    options = [f"--run={name}=runs/{folder}" for name, folder in (run.split("=") for run in runs)]
    build = shop / "build" / case.replace(" ", "-")
    words = ["--cache", str(cache), "build", "service/comparison", *options, "--to", "md", "-o", str(build)]
    assert run_assay(*words, cwd=shop).status == 0
    answer = run_assay("gate", build, "--once")
    assert answer.status == (1 if texts else 0)
    assert [text for text in texts if text not in answer.err] == []
    assert run_assay("gate", build, "--once", "--allow-missing").status == allowed


#: runs of the versions 1.0 and 1.1 -> events that web-2 lacks in one of them only
LACKING: dict[tuple[str, str], tuple[str, ...]] = {
    ("three-hosts", "partial"): ("response_sent",),
    ("partial", "three-hosts"): ("response_sent",),
    ("three-hosts", "two-events"): ("response_sent", "work_started"),
    ("partial", "two-events"): ("work_started",),
    ("partial", "partial"): (),
}


@pytest.mark.parametrize("runs", LACKING, ids="-".join)
def test_first_page_names_hosts_that_lack_an_event_in_one_version(
    shop: Path, cache: Path, runs: tuple[str, str]
) -> None:
    """Averages over other hosts are no comparison."""
    options = [f"--run={name}=runs/{folder}" for name, folder in zip(("1.0", "1.1"), runs, strict=True)]
    build = shop / "build" / f"hosts-{'-'.join(runs)}"
    words = ["--cache", str(cache), "build", "service/comparison", *options, "--to", "md", "-o", str(build)]
    assert run_assay(*words, cwd=shop).status == 0
    results = json.loads((build / "results.json").read_text(encoding="utf-8"))
    (caution,) = results["judgement"]["cautions"].values()
    label = results["runs"][0 if runs == ("partial", "three-hosts") else 1]["label"]
    sets = [f"the set of hosts with `{event}` records (without web-2 in {label})" for event in LACKING[runs]]
    verb = "differ" if len(sets) > 1 else "differs"
    listed = " and ".join(sets).replace("the", "The", 1)
    sentence = f"{listed} {verb} between the runs, and may be the cause of other changes."
    assert caution == (f"The comparison itself is suspect. {sentence}" if sets else "")
    assert caution in (build / "report.md").read_text(encoding="utf-8")
    name = "1.0" if runs == ("partial", "three-hosts") else "1.1"
    folders = [item.removeprefix("--run=") for item in options]
    compared = run_assay("--cache", cache, "compare", *folders, "--format", "json", cwd=shop).parse_json()
    assert compared["cautions"].get("1.1", "").startswith(caution.replace(f" in {label})", f" in {name})"))


#: folder of a candidate -> the metrics of which it lost data that the base has
LOST = {"cut-host": {"wait", "work", "response_size"}, "renamed": {"wait", "work"}, "half": {"wait", "work"}}


@pytest.mark.parametrize(
    ("candidate", "caution"),
    [
        (
            "cut-host",
            "The comparison itself is suspect. The time that logs cover (shorter on web-2 in 1.1) differs between the "
            "runs, and may be the cause of other changes. Data: 1.1 has 1 finding on incomplete data, see the "
            "warnings.",
        ),
        ("faster", ""),
        ("renamed", "Data: 1.1 has 3 findings on incomplete data, see the warnings."),
        ("one-host", f"{HOSTS.format('2, 1')}, and may be the cause of other changes."),
        (
            "bits",
            "The comparison itself is suspect. The meaning of values (of response_size in 1.1) differs between the "
            "runs, and may be the cause of other changes. Data: 1.1 has 1 finding on incomplete data, see the "
            "warnings.",
        ),
        (
            "twice",
            "The comparison itself is suspect. The number of records of a key (several `request_received`, "
            "`response_sent`, `work_started` in 1.1) differs between the runs, and may be the cause of other changes.",
        ),
        (
            "half",
            "The comparison itself is suspect. The completeness of records (of wait, work in 1.1) differs between the "
            "runs, and may be the cause of other changes. Data: 1.1 has 1 finding on incomplete data, see the "
            "warnings.",
        ),
    ],
)
def test_comparison_of_logs_has_a_caution(shop: Path, cache: Path, candidate: str, caution: str) -> None:
    words = ("--cache", cache, "compare", "1.0=runs/whole", f"1.1=runs/{candidate}")
    data = run_assay(*words, "--format", "json", cwd=shop).parse_json()
    assert data["cautions"] == ({"1.1": caution} if caution else {})
    text = run_assay(*words, cwd=shop)
    assert text.status == 0
    assert f"\n{caution}" in text.out
    assert ("suspect" in text.out or "incomplete" in text.out) == bool(caution)
    lost = {item["metric"] for item in data["changes"] if item["verdict"] == "data lost"}
    assert lost == LOST.get(candidate, set())
