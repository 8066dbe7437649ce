"""Forms in which the sources of the shipped systems log events: the tables and examples of golden/forms/."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import cache as memoize
from pathlib import Path

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


def write_examples(system: str, run: Path) -> None:
    """Write a run whose logs are the examples of a system."""
    sources = read_spec(system)
    lines: dict[str, list[str]] = {}
    for row in read_rows(system):
        file = LOGS[system][sources[row["event"], row["form"]]]
        lines.setdefault(file, []).append(row["example"])
    write_files(run, {file: "".join(f"{line}\n" for line in text).encode() for file, text in lines.items()})
    for file in FACTS[system].glob("*.json") if system in FACTS else ():
        shutil.copy(file, run)


def list_rows(folders: list[str], name: str, query: str) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a query over one file of each ingested source."""
    for folder in folders:
        if (Path(folder) / name).exists():
            yield from duckdb.execute(query.format(f"'{Path(folder) / name}'")).fetchall()


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
