"""Test that the rows of a metric and its segments in one table have one unit."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.documents import list_sections

#: MiB/s of each device, and the cells in the unit that suits all of them
RATES = {"fast": 2048.0, "slow": 7.5}
CELLS = {"RX": "1028", "RX: fast": "2048", "RX: slow": "7.50"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with two runs, in which rates of two devices have different magnitudes."""
    folder = tmp_path_factory.mktemp("units")
    for run in ("v1.0", "v1.1"):
        records = [
            {
                "time": f"2026-01-05T09:00:{i:02}Z",
                "device": device,
                "rx_mib_per_s": RATES[device] + (i % 4 - 1.5) / 1000,
            }
            for i, device in enumerate([*RATES] * 20)
        ]
        (folder / f"net-{run}.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in records), encoding="utf-8")
    logs = [folder / "net-v1.0.jsonl", folder / "net-v1.1.jsonl"]
    assert run_assay("init", folder / "service", "--from", *logs).status == 0
    return folder / "service"


def test_rows_of_a_split_section_have_one_unit(service: Path, tmp_path: Path, cache: Path) -> None:
    words = (
        "build",
        "service/comparison",
        "--run",
        "runs/net-v1.0",
        "--by",
        "device",
        "--to",
        "md",
        "-o",
        tmp_path / "b",
    )
    built = run_assay("--cache", cache, *words, cwd=service)
    assert built.status == 0, built.err
    document = json.loads((tmp_path / "b/document.json").read_text(encoding="utf-8"))
    split = next(section for section in list_sections(document) if section["title"].endswith("by device"))
    for table in (split, split["percentiles"]):
        assert [row[0] for row in table["rows"]] == [f"{name}, MiB/s" for name in CELLS]
    assert {label.split(",")[0]: cells[0] for label, *cells in split["rows"]} == CELLS


def test_metric_has_one_unit_in_the_whole_report(service: Path, tmp_path: Path, cache: Path) -> None:
    """The table of the whole metric, figures, details and answers have the unit of the split table, too."""
    words = ("build", "service/comparison", "--run", "runs/net-v1.0", "--run", "runs/net-v1.1", "--by", "device")
    options = ("--details", "rx_mib_per_s", "--margin", "1%", "--to", "md", "-o", tmp_path / "b")
    built = run_assay("--cache", cache, *words, *options, cwd=service)
    assert built.status == 0, built.err
    text = (tmp_path / "b/document.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert [section["rows"][0][0] for section in list_sections(document)] == ["RX, MiB/s"] * len(
        list_sections(document)
    )
    assert '"1028 MiB/s"' in json.dumps(document["answers"])
    assert {*re.findall(r"[KMGT]iB/s", text)} == {"MiB/s"}


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_rows_of_a_split_comparison_have_one_unit(form: str, service: Path, cache: Path) -> None:
    words = (
        "compare",
        "runs/net-v1.0",
        "runs/net-v1.1",
        "--metric",
        "rx_mib_per_s",
        "--by",
        "device",
        "--format",
        form,
    )
    compared = run_assay("--cache", cache, *words, cwd=service)
    assert compared.status == 0, compared.err
    assert [text for text in CELLS.values() if f"{text} MiB/s" not in compared.out] == []
