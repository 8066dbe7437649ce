"""Test that several targets, hosts or machines are never merged silently."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from assay.report.blocks.rows import name_keys
from tests.compare_reference import load_json
from tests.support.commands import run_assay

START = 1_767_225_600  # the first of January 2026
LABELS = ("job", "instance")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([("a", "1"), ("b", "2")], ["a", "b"]),
        ([("a", "1"), ("a", "2"), ("b", "1")], ["a, 1", "a, 2", "b"]),
        ([("a", "1"), ("a", "1")], ["a", "a"]),
        ([("", "1"), ("a", "2")], ["none", "a"]),
        ([("a", ""), ("a", "1")], ["a, none", "a, 1"]),
        ([("mean", "1"), ("a", "2")], ["job mean", "a"]),
        ([("mean", "1"), ("mean", "2")], ["mean, 1", "mean, 2"]),
        # names that would be equal are written in full
        (
            [("a", "1"), ("a", "2"), ("a, 1", "9")],
            ['job "a", instance "1"', 'job "a", instance "2"', 'job "a, 1", instance "9"'],
        ),
        ([("", "1"), ("none", "1")], ['job "", instance "1"', 'job "none", instance "1"']),
    ],
)
def test_lines_have_distinct_names(keys: Sequence[tuple[object, ...]], expected: Sequence[str]) -> None:
    names = name_keys(LABELS, "job", keys, ("mean",))
    assert [names[key] for key in keys] == expected


def format_samples(family: str, labels: str, value: Callable[[int], float], until: int = 600) -> str:
    return "".join(f"{family}{{{labels}}} {value(t)} {START + t}\n" for t in range(0, until, 5))


def format_host_samples(name: str, rate: float) -> str:
    """Return samples of a host whose drive sda is written at a rate (byte/s)."""
    labels = f'job="node",instance="{name}"'
    writes = format_samples("node_disk_written_bytes_total", f'{labels},device="sda"', lambda t: 10**9 + rate * t)
    return writes + format_samples("node_cpu_seconds_total", f'{labels},cpu="0",mode="idle"', lambda t: 1000 + 0.5 * t)


def create_run(folder: Path, *hosts: str) -> Path:
    folder.mkdir()
    facts = {"upgrade": "2026-01-01T00:05:00Z", "state": {"device": "sda"}}
    (folder / "meta.json").write_text(json.dumps(facts), encoding="utf-8")
    (folder / "raw.om").write_text("".join(hosts) + "# EOF\n", encoding="utf-8")
    return folder


def test_upgrade_is_of_one_host(tmp_path: Path, cache: Path) -> None:
    one, two = format_host_samples("h1", 1e6), format_host_samples("h2", 9e6)
    run = create_run(tmp_path / "two", one, two)
    result = run_assay(
        "build", "antelope/upgrade", "--run", run, "-o", tmp_path / "out", "--to", "md", "--cache", cache
    )
    assert result.status == 1
    assert result.err == (
        "error[one-host]: run two: the samples are of 2 hosts, but an upgrade report covers one host: "
        "node_cpu_seconds_total of node h1, node h2\n"
        "  hint: fetch the samples of one host: select its label `instance` or `job`\n"
    )
    alone = create_run(
        tmp_path / "one", one, format_samples("nodeos_head_block_num", 'job="nodeos",instance="h1:8888"', float)
    )
    result = run_assay(
        "build", "antelope/upgrade", "--run", alone, "-o", tmp_path / "out", "--to", "md", "--cache", cache
    )
    assert result.status == 0


def test_equal_drive_names_are_distinguished_by_host(tmp_path: Path, cache: Path) -> None:
    run = create_run(tmp_path / "two", format_host_samples("h1", 1e6), format_host_samples("h2", 10e6))
    result = run_assay(
        "build", "antelope/endurance", "--run", run, "-o", tmp_path / "out", "--to", "md", "--cache", cache
    )
    assert (result.status, result.err) == (0, "")
    (part,) = load_json(tmp_path / "out" / "document.json")["parts"]
    (table,) = (item for item in part["tables"] if item["title"].startswith("Drive lifetime"))
    assert table["header"] == ["Rated endurance", "sda, h1, years", "sda, h2, years"]
    (first, *_) = table["rows"]
    assert float(first[1]) == pytest.approx(10 * float(first[2]), rel=1e-3)
    (plot,) = part["plots"]
    assert plot["panels"] == ["sda, h1", "sda, h2"]
    heights = {
        line: {y for name, _, y, *_ in plot["rows"] if name == line and y is not None} for line in plot["panels"]
    }
    assert heights == {"sda, h1": {1e6}, "sda, h2": {1e7}}


def test_indistinguishable_series_are_not_merged(tmp_path: Path, cache: Path) -> None:
    """Two clusters share names of hosts and drives; only an unread label differs."""
    one = format_host_samples("h1", 1e6)
    clusters = [
        text.replace("{", f'{{cluster="{name}",') for name, text in (("a", one), ("b", format_host_samples("h1", 9e6)))
    ]
    run = create_run(tmp_path / "two", *clusters)
    result = run_assay("query", "drive_write_rate", "--run", run, "--cache", cache)
    assert result.status == 1
    assert result.err == (
        "error[several-series]: run two: disk_write_rates: the line node, h1, sda combines several series: it has up "
        "to 2 samples at an instant\n  hint: fetch the samples of one series (`--match`), or add a label that "
        "distinguishes them to `by` of the series, which has job, instance, device\n"
    )
    # series that continue each other are one line, like on the server
    turn = START + 300
    lines = [line for text in clusters for line in text.splitlines(keepends=True)]
    early = [line for line in lines if ('"a"' in line) == (int(line.split()[-1]) < turn)]
    ends = [f"{line.split()[0]} NaN {turn}\n" for line in clusters[0].splitlines() if line.endswith(f" {START}")]
    run = create_run(tmp_path / "turns", *early, *ends)
    assert run_assay("query", "drive_write_rate", "--run", run, "--cache", cache).status == 0


def test_alternating_indistinguishable_series_are_reported(tmp_path: Path, cache: Path) -> None:
    """Two servers scrape at different seconds, so no instant has two samples."""
    one = format_host_samples("h1", 1e6)
    other = "".join(
        f"{text} {int(instant) + 2}\n".replace("{", '{cluster="b",')
        for text, instant in (line.rsplit(" ", 1) for line in format_host_samples("h1", 9e6).splitlines())
    )
    run = create_run(tmp_path / "turns", one, other)
    result = run_assay("query", "drive_write_rate", "--run", run, "--cache", cache)
    assert result.status == 0
    assert (
        "warning: turns: disk_write_rates: the line node, h1, sda combines several series with interleaved "
        "samples, so its values alternate between them: the series differ in their names, or in labels other than "
        "job, instance, device.\n"
    ) in result.err
    # a series that begins after the end of the other is the same line
    begun = "".join(
        f"{text} {int(instant) + 1000}\n" for text, instant in (line.rsplit(" ", 1) for line in other.splitlines())
    )
    result = run_assay(
        "query", "drive_write_rate", "--run", create_run(tmp_path / "after", one, begun), "--cache", cache
    )
    assert (result.status, "interleaved" in result.err) == (0, False)


def test_job_named_like_computed_mean_keeps_its_line(tmp_path: Path, cache: Path) -> None:
    run = tmp_path / "run"
    (run / "report").mkdir(parents=True)
    peers = (
        format_samples("cometbft_p2p_peers", f'job="{job}",instance="i"', lambda _, n=n: n, 60)
        for job, n in (("mean", 1), ("v", 3))
    )
    (run / "raw.om").write_text("".join(peers) + "# EOF\n", encoding="utf-8")
    (run / "meta.json").write_text('{"ident": "run", "experiment_seconds": 30}', encoding="utf-8")
    head = "experiment_id,block_time,duration_ns,tx_hash,connections,rate,size"
    rows = [f"e1,{(START + 10 + n) * 10**9},1000000000,H{n},1,50,1024" for n in range(20)]
    (run / "report" / "raw.csv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    result = run_assay("build", "cometbft/qa", "--run", run, "-o", tmp_path / "out", "--to", "md", "--cache", cache)
    assert result.status == 0, result.err
    plots = [plot for part in load_json(tmp_path / "out" / "document.json")["parts"] for plot in part["plots"]]
    plot = next(item for item in plots if "peer_count" in item["id"])
    assert plot["panels"] == ["mean", "job mean", "v"]
    heights = {line: {row[2] for row in plot["rows"] if row[0] == line} for line in plot["panels"]}
    assert heights == {"mean": {2.0}, "job mean": {1.0}, "v": {3.0}}


# Records of virtual machines


FIELDS = ("cpu", "maxcpu", "mem", "maxmem", "diskread", "diskwrite", "netin", "netout")


def format_records(step: int, count: int, cpu: Callable[[int], float], start: int = START) -> str:
    """Return records in steps of so many seconds; all values but the core use are 1."""
    ones = dict.fromkeys(FIELDS, 1)
    return json.dumps([{**ones, "time": start + step * n, "cpu": cpu(n)} for n in range(count)])


def query_metric(run: Path, cache: Path, **files: str) -> tuple[int, str]:
    run.mkdir()
    for name, text in files.items():
        (run / f"rrddata_{name}.json").write_text(text, encoding="utf-8")
    result = run_assay("query", "vm_cpu_usage", "--run", run, "--format", "csv", "--cache", cache)
    return result.status, result.err + result.out


def test_records_of_two_machines_are_not_merged(tmp_path: Path, cache: Path) -> None:
    one, two = (format_records(60, 10, lambda n, k=k: (0.1, 0.9)[(n + k) % 2]) for k in (0, 1))
    status, message = query_metric(tmp_path / "two", cache, a=one, b=two)
    assert status == 1
    assert message.startswith(
        "error[two-values]: run two: 10 steps of the records have different values, the first at 2026-01-01 00:00:00: "
        "cpu\n  hint: a run needs the records of one machine with steps of one length; check for records of two "
        "machines, or of an hour and a day\n"
    )
    status, message = query_metric(tmp_path / "twice", cache, a=one, b=one)
    assert status == 0
    assert ",10,50.0," in message


def test_steps_of_several_lengths_are_reported(tmp_path: Path, cache: Path) -> None:
    hour = format_records(60, 10, lambda _: 0.5)
    status, message = query_metric(
        tmp_path / "both", cache, a=hour, b=format_records(1800, 10, lambda _: 0.1, START + 7200)
    )
    assert status == 0
    expected = (
        "warning: both: the records have steps of 60 and 1800 s; averages weight all steps equally, "
        "regardless of their length\n"
    )
    assert expected in message
    status, message = query_metric(
        tmp_path / "later", cache, a=hour, b=format_records(60, 10, lambda _: 0.1, START + 7200)
    )
    assert (status, "warning" in message) == (0, False)
