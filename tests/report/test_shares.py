"""Test that reports print only averages of metrics whose samples are 0 or 100 %, or 0 and 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.documents import list_charts, list_sections

STATUSES, HITS = (200, 500, 200, 200), (0, 1, 1)
LENGTH = 24


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with one run: a quarter of its requests fail, two thirds are hits."""
    folder = tmp_path_factory.mktemp("shares")
    records = [
        {"time": f"2026-01-05T09:00:{i:02}Z", "status": STATUSES[i % 4], "hit": HITS[i % 3], "wait_ms": i * 7 % 11}
        for i in range(LENGTH)
    ]
    (folder / "app.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    assert run_assay("init", folder / "service", "--from", folder / "app.jsonl").status == 0
    return folder / "service"


@pytest.mark.parametrize(
    ("columns", "shares"),
    [
        ("median,p95", {}),
        ("mean,p95,count", {"Hit": ["0.667", "—", "24"], "App: failed, %": ["25.0", "—", "24"]}),
    ],
)
def test_share_has_only_its_mean(
    columns: str, shares: dict[str, list[str]], service: Path, tmp_path: Path, cache: Path
) -> None:
    words = (
        "build",
        "service/comparison",
        "--run",
        "runs/app",
        "--columns",
        columns,
        "--to",
        "md",
        "-o",
        tmp_path / "b",
    )
    built = run_assay("--cache", cache, *words, cwd=service)
    assert built.status == 0, built.err
    document = json.loads((tmp_path / "b/document.json").read_text(encoding="utf-8"))
    table = next(section["percentiles"] for section in list_sections(document))
    rows = {label: cells for label, *cells in table["rows"]}
    assert rows.pop("Wait, ms")[0] != "—"
    assert rows == shares
    assert [lead["row"] for lead in table["leads"] if table["rows"][lead["row"]][lead["column"]] == "—"] == []
    (chart,) = [chart for chart in list_charts(document) if chart["id"] == "hit"]
    assert chart["remark"] == "Not drawn: each sample is 0 or 1; the average is the share of samples of 1."
