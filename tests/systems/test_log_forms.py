"""Forms in which the sources of the shipped systems log events: the tables and examples of golden/forms/."""

from __future__ import annotations

import csv
import itertools
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache as memoize
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from tests.support.commands import run_assay
from tests.support.ingesting import write_files
from tests.support.laboratory import ROOT

FORMS = ROOT / "golden" / "forms"

#: the file of a run that has the examples, by system and source
LOGS = {
    "cardano": {"workbench_logs": "node-0/stdout"},
    "cometbft": {"nodes": "logs/validator0.log"},
    "antelope": {"nodes": "node_01/stderr.txt", "generators": "trxGenLogs/trx_data_output_1.txt"},
}
SYSTEMS = sorted(LOGS)

#: severities of the records of cardano-node
SEVERITIES = ("Debug", "Info", "Notice", "Warning", "Error", "Critical", "Alert", "Emergency")

#: folders with the facts that a run of the system needs
FACTS = {"cardano": ROOT / "golden" / "cardano" / "tiny" / "plain" / "run"}


@memoize
def read_rows(system: str) -> list[dict[str, str]]:
    """Return the rows of a system's table."""
    with (FORMS / f"{system}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@memoize
def read_spec(system: str) -> dict[tuple[str, str], str]:
    """Return the sources of the events that a system reads from logs, by event and form."""
    text = (ROOT / "golden" / "specs" / f"{system}.yaml").read_text(encoding="utf-8")
    return {
        (event["name"], name["name"]): event["source"]
        for event in yaml.load(text, yaml.CSafeLoader)["package"]["events"]
        if event["source"] in LOGS[system]
        for form in event["forms"]
        for name in form.get("names", ())
    }


@memoize
def read_rules(system: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the rules that a record of an event must not meet, by event and form."""
    text = (ROOT / "golden" / "specs" / f"{system}.yaml").read_text(encoding="utf-8")
    return {
        (event["name"], name["name"]): form["unless"]
        for event in yaml.load(text, yaml.CSafeLoader)["package"]["events"]
        for form in event["forms"]
        for name in form.get("names", ())
        if form.get("unless")
    }


def write_logs(system: str, run: Path, lines: Mapping[str, Sequence[str]]) -> None:
    """Write a run with the lines of each file."""
    write_files(run, {file: "".join(f"{line}\n" for line in text).encode() for file, text in lines.items()})
    for file in FACTS[system].glob("*.json") if system in FACTS else ():
        shutil.copy(file, run)


def write_examples(system: str, run: Path) -> None:
    """Write a run whose logs are the examples of a system."""
    sources = read_spec(system)
    lines: dict[str, list[str]] = {}
    for row in read_rows(system):
        lines.setdefault(LOGS[system][sources[row["event"], row["form"]]], []).append(row["example"])
    write_logs(system, run, lines)


def list_rows(folders: list[str], name: str, query: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query over a file, or a folder of files, of each ingested source."""
    for place in [Path(folder) / name for folder in folders]:
        if place.exists():
            yield from duckdb.execute(query.format(f"'{place / '*.parquet' if place.is_dir() else place}'")).fetchall()


@pytest.mark.parametrize("system", SYSTEMS)
def test_table_has_each_form_of_the_definitions(system: str) -> None:
    assert {(row["event"], row["form"]) for row in read_rows(system)} == set(read_spec(system))


@pytest.mark.parametrize("system", SYSTEMS)
def test_form_without_a_file_is_not_logged(system: str) -> None:
    assert [row for row in read_rows(system) if (row["file"] == "") != (row["versions"] == "not logged")] == []
    assert all(row["versions"] and row["repository"] for row in read_rows(system))


@pytest.mark.parametrize("system", SYSTEMS)
def test_examples_are_read_as_their_events(system: str, tmp_path: Path, cache: Path) -> None:
    write_examples(system, tmp_path / "run")
    result = run_assay("ingest", "--all", tmp_path / "run", "--system", system, "--cache", cache)
    assert result.status == 0, result.err
    folders = result.out.split()
    counts = dict(
        list_rows(folders, "counts.parquet", "SELECT event, sum(n)::INT FROM {} GROUP BY event HAVING sum(n) > 0")
    )
    assert counts == Counter(row["event"] for row in read_rows(system))
    assert list(list_rows(folders, "unknown.parquet", "SELECT name, malformed FROM {}")) == []
    assert list(list_rows(folders, "quarantine.parquet", "SELECT reason FROM {}")) == []
    assert sum(n for (n,) in list_rows(folders, "logs.parquet", "SELECT lines FROM {}")) == len(read_rows(system))


def iter_variants(row: Mapping[str, str]) -> Iterator[str]:
    """Yield the example of a row as other severities and versions log it."""
    example = row["example"]
    if example.startswith("info "):  # nodeos, alone, in the journal of the system, and started by pm2
        levels = [level + example.removeprefix("info") for level in ("debug", "info", "warn", "error")]
        yield from [
            prefix + line for prefix in ("", "Oct 01 19:07:10 host nodeos[7]: ", "0|nodeos  | ") for line in levels
        ]
    elif not example.startswith("{"):
        yield example
    elif "sev" in (record := json.loads(example)):
        instants = record["at"], record["at"].replace("T", " ")
        names = [record["ns"]] + ([record["ns"].split(".")] if isinstance(record["ns"], str) else [])
        for at, ns, sev in itertools.product(instants, names, SEVERITIES):
            yield json.dumps(record | {"at": at, "ns": ns, "sev": sev})
    else:  # the level of such a line is that of its statement
        yield from [json.dumps(record), json.dumps(dict(reversed(record.items())))]


def iter_ignored(row: Mapping[str, str], rules: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the example of a row with each value that rules it out."""
    for rule in rules:
        record = json.loads(row["example"])
        (key,) = rule["path"]
        record["data"][key] = {"false": False, None: "0"}[rule.get("equals")]
        yield json.dumps(record)


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_variant_is_read_as_its_event(system: str, tmp_path: Path, cache: Path) -> None:
    sources, rules = read_spec(system), read_rules(system)
    lines: dict[str, list[tuple[str, str]]] = {}
    for row in read_rows(system):
        of_file = lines.setdefault(LOGS[system][sources[row["event"], row["form"]]], [])
        of_file += [(row["event"], line) for line in iter_variants(row)]
        of_file += [("", line) for line in iter_ignored(row, rules.get((row["event"], row["form"]), ()))]
    write_logs(system, tmp_path / "run", {file: [line for _, line in items] for file, items in lines.items()})
    result = run_assay("ingest", "--all", tmp_path / "run", "--system", system, "--cache", cache)
    assert result.status == 0, result.err
    folders = result.out.split()
    expected: dict[str, list[int]] = {}
    for items in lines.values():
        for number, (event, _) in enumerate(items, start=1):
            expected.setdefault(event, []).append(number)
    ignored = expected.pop("", [])
    read = {
        event: list_rows(folders, f"events/{event}", "SELECT seq FROM {} WHERE whole ORDER BY seq")
        for event in expected
    }
    assert {event: [number for (number,) in rows] for event, rows in read.items()} == expected
    assert bool(ignored) == any(rules.values())
    assert list(list_rows(folders, "unknown.parquet", "SELECT name, malformed FROM {}")) == []
    assert list(list_rows(folders, "quarantine.parquet", "SELECT reason FROM {}")) == []
