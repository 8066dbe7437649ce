"""Hosts that have records of one source, but not of another that most hosts have."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from assay.ingest.discovery import list_host_names
from assay.quality.absent_hosts import SourceHosts, find_absent_hosts
from tests.support.commands import run_assay
from tests.support.ingesting import SOURCE, write_files
from tests.support.laboratory import ROOT

RUN = ROOT / "golden" / "cometbft" / "run"
NODES = ("a", "b", "c", "d", "e")
READERS = {"height": ["rate"], "memory": ["most"]}
LABELLED = "host e has records of source `logs`, but no"
UNNAMED = "5 hosts have records of source `logs`, but 1 of them no"


def label(**values: Mapping[str, Sequence[str]]) -> SourceHosts:
    """Return a source of samples with the values of labels: label -> event -> values."""
    events = {name: {event: frozenset(items) for event, items in by_event.items()} for name, by_event in values.items()}
    return SourceHosts("samples", labels=events)


def list_hosts(**events: Sequence[str]) -> SourceHosts:
    return SourceHosts("samples", {event: frozenset(hosts) for event, hosts in events.items()})


#: case -> the source, and the findings on it beside the logs of five hosts
CASES: dict[str, tuple[SourceHosts, list[str]]] = {
    "all hosts": (label(job={"height": NODES}), []),
    "a host without an event": (
        label(job={"height": NODES[:4], "memory": NODES}),
        [f"{LABELLED} `height` record of source `samples`: averages over hosts are of 4 of 5 (rate)."],
    ),
    "a host without samples": (
        label(job={"height": NODES[:4], "memory": NODES[:4]}, instance={"height": ("1", "2"), "memory": ("1", "2")}),
        [f"{LABELLED} `height`, `memory` records of source `samples`: averages over hosts are of 4 of 5 (rate, most)."],
    ),
    "names with ports": (
        label(instance={"height": [f"{name}:9100" for name in NODES[:4]]}),
        [f"{LABELLED} `height` record of source `samples`: averages over hosts are of 4 of 5 (rate)."],
    ),
    "an event of few hosts": (label(job={"height": NODES, "memory": NODES[:1]}), []),
    "other names, as many": (label(instance={"height": [f"10.0.0.{number}" for number in range(5)]}), []),
    "other names, one fewer": (
        label(instance={"height": [f"10.0.0.{number}" for number in range(4)]}),
        [f"{UNNAMED} `height` record of source `samples`: averages over hosts are of 4 of 5 (rate)."],
    ),
    "other names, few": (label(instance={"height": ["10.0.0.1", "10.0.0.2"]}), []),
    "other names of another label": (label(method={"height": ["1", "2", "3", "4"]}), []),
    "a folder without a log": (
        list_hosts(height=NODES[:4]),
        [f"{LABELLED} `height` record of source `samples`: averages over hosts are of 4 of 5 (rate)."],
    ),
    "no label": (label(), []),
}


@pytest.mark.parametrize("case", CASES)
def test_hosts_of_a_source_are_compared_with_those_of_logs(case: str) -> None:
    source, expected = CASES[case]
    findings = list(find_absent_hosts([source], {"logs": NODES}, READERS))
    assert [item.message for item in findings] == expected
    assert {item.code for item in findings} <= {"missing-on-hosts"}
    assert [(item.affected, item.total) for item in findings] == [(1, 5)] * len(expected)


def test_validator_without_samples_is_named(tmp_path: Path, cache: Path) -> None:
    """The averages of samples are those of 4 nodes, those of logs of 5; the whole run is a control."""
    run = tmp_path / "run"
    shutil.copytree(RUN, run)
    (file,) = (run / "prom").glob("raw_all*")
    answer = json.loads(gzip.decompress(file.read_bytes()))
    answer["data"]["result"] = [item for item in answer["data"]["result"] if item["metric"]["job"] != "validator2"]
    file.write_bytes(gzip.compress(json.dumps(answer).encode(), 1))
    expected = (
        "no `height`, `mempool`, `peers` and 3 more records of source `samples`: averages over hosts are of 4 of 5"
    )
    for metrics, thing in ((("block_rate_avg", "node_complaints"), "records"), (("block_rate_avg",), "files")):
        warnings = []
        for place in (RUN, run):
            result = run_assay("query", *metrics, "--run", f"it={place}", "--format", "csv", "--cache", cache)
            assert result.status == 0, result.err
            warnings.append(result.err)
        subject = f"warning: it: host validator2 has {thing} of source `nodes`, but"
        assert warnings == ["", f"{subject} {expected} (block_rate_avg).\n"]


def test_hosts_are_named_by_folders_and_files_alone(tmp_path: Path) -> None:
    write_files(tmp_path, dict.fromkeys(("a/out.gz", "b/out", "c/other", "logs/d.log", "logs/e.log.zst"), b""))
    folders, files = (
        replace(SOURCE, hosts="*", logs=("out",)),
        replace(SOURCE, hosts="logs/*.log", logs=(), host_files=True),
    )
    names = [list_host_names(source, tmp_path) for source in (folders, files, replace(SOURCE, hosts=""))]
    assert names == [("a", "b"), ("d", "e"), ()]
