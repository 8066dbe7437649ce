"""Changes that no interval shows, and samples of other things: from logs to the exit status of the gate."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from tests.support.commands import run_assay
from tests.support.workspaces import edit_file

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
Record = tuple[str, bool, float, int]
"""The kind of a request, whether it succeeded, its duration in ms, and its bytes."""


def write_run(folder: Path, records: Sequence[Record]) -> None:
    folder.mkdir(parents=True)
    lines = [
        json.dumps({"ts": (START + timedelta(milliseconds=100 * number)).isoformat(), "event": "request", "kind": kind,
                    "ok": is_ok, "wait_ms": wait, "bytes": size})
        for number, (kind, is_ok, wait, size) in enumerate(records)
    ]  # fmt: skip
    (folder / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw(share: float = 0.5, factor: float = 1.0, seed: int = 1, kinds: str = "ab", size: int = 512) -> list[Record]:
    """Draw 400 requests; of kind b, five times as slow as the other, is this share."""
    random = Random(seed)
    mean = {"a": 10.0, "b": 50.0, "c": 10.0}
    drawn = [kinds[number * 37 % 100 < 100 * share] for number in range(400)]
    return [(kind, True, round(factor * mean[kind] * random.lognormvariate(0, 0.05), 3), size) for kind in drawn]


def fail(records: Sequence[Record], every: int) -> list[Record]:
    """Let one of so many requests fail in 1 ms, with messages of other lengths."""
    return [(kind, False, 1.0, 100 + number) if number % every == 0 else (kind, is_ok, wait, size)
            for number, (kind, is_ok, wait, size) in enumerate(records)]  # fmt: skip


def time_out(records: Sequence[Record]) -> list[Record]:
    return [("a", True, 20_000.0, 512), *records[1:]]


RUNS: dict[str, Callable[[], list[Record]]] = {
    "base": draw,
    "again": lambda: draw(seed=2),
    "slower": lambda: draw(factor=1.1, seed=3),
    "other-mix": lambda: draw(share=0.2, factor=1.1, seed=4),
    "without-b": lambda: draw(share=0.0, seed=5),
    "renamed": lambda: draw(share=0.5, seed=6, kinds="cb"),
    "failing": lambda: fail(draw(share=0.0, seed=7), 2),
    "failing-more": lambda: fail(draw(share=0.0, seed=8), 5),
    "failing-less": lambda: fail(draw(share=0.0, seed=9), 20),
    "timeout": lambda: time_out(draw(share=0.0, seed=10)),
    "only-a": lambda: draw(share=0.0, seed=11),
    "doubled": lambda: draw(seed=12, size=1024),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    folder = tmp_path_factory.mktemp("certain")
    for name, records in RUNS.items():
        write_run(folder / "logs" / name, records())
    place = folder / "shop"
    logs = [folder / "logs" / name for name in ("base", "failing")]
    assert run_assay("--cache", cache, "init", place, "--from", *logs, "--each", "run").status == 0
    edit_file(place / "specs/shop/metrics.dhall", ", unit = S.unit.byte", ', unit = S.unit.byte, better = "lower"')
    for name in RUNS:
        if not (place / "runs" / name).exists():
            (place / "runs" / name).mkdir()
            (place / "runs" / name / "log.jsonl").write_bytes((folder / "logs" / name / "log.jsonl").read_bytes())
            meta = {"version": name}
            (place / "runs" / name / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    return place


@pytest.mark.parametrize(
    ("runs", "metric", "verdict", "words", "status"),
    [
        (("base", "again"), "wait_ms", "same", (), 0),
        (("base", "slower"), "wait_ms", "worse", (), 4),
        (("base", "other-mix"), "wait_ms", "worse", ("share of kind", "compared over 2 common values of kind"), 4),
        (("other-mix", "base"), "wait_ms", "better", ("share of kind",), 0),
        (("base", "without-b"), "wait_ms", "same", ("kind b in base only; compared over the common kind",), 1),
        (("without-b", "base"), "wait_ms", "same", ("kind b in base only",), 1),
        (("base", "renamed"), "wait_ms", "same", ("kind a in base only, kind c in renamed only",), 1),
        (("only-a", "failing"), "wait_ms", "same", ("ok false in failing only",), 4),
        (("only-a", "failing"), "request_failed", "worse", (), 4),
        (("failing-less", "failing-more"), "request_failed", "worse", ("share of ok ",), 4),
        (("failing-more", "failing-less"), "request_failed", "better", ("share of ok ",), 0),
        (("base", "again"), "request_failed", "same", (), 0),
        (("only-a", "timeout"), "wait_ms", "cannot tell", (), 0),
        (("base", "doubled"), "bytes", "no interval",
         ("Beyond the margin, but without an interval: Request: size +100 %",), 1),
    ],
    ids=lambda item: "-".join(item) if isinstance(item, tuple) and item and item[0] in RUNS else None,
)  # fmt: skip
def test_verdict_is_on_what_both_runs_measured(
    shop: Path, cache: Path, runs: tuple[str, str], metric: str, verdict: str, words: tuple[str, ...], status: int
) -> None:
    places = [f"runs/{name}" for name in runs]
    compared = run_assay("--cache", cache, "compare", *places, "--metric", metric, "--format", "json", cwd=shop)
    assert compared.status == 0, compared.err
    (change,) = compared.parse_json()["changes"]
    assert change["verdict"] == verdict
    build = shop / "build" / "-".join(runs)
    words_of_runs = [f"--run={place}" for place in places]
    built = run_assay("--cache", cache, "build", "shop/comparison", *words_of_runs, "--to", "md", "-o", build, cwd=shop)
    assert built.status == 0, built.err
    report = (build / "report.md").read_text(encoding="utf-8").replace("\\", "")
    printed = run_assay("--cache", cache, "compare", *places, cwd=shop).out
    headline = report.partition('<a id="answer-1"></a>')[2].partition("\n")[0]
    assert " only" in headline or not any(" only" in word for word in words)
    for word in words:
        assert word in report
        assert word in printed
        assert word.partition(": ")[2].lower() in built.summary.lower()
    gate = run_assay("gate", build, "--once", cwd=shop)
    assert gate.status == status, gate.err + gate.out
    if status == 1:
        options = ("--once", "--allow-missing", "--allow-no-interval")
        assert run_assay("gate", build, *options, cwd=shop).status == 0


def test_declared_metrics_change_exactly(shop: Path, cache: Path) -> None:
    """The gate says what to declare; with it, the change is certain."""
    build = shop / "build" / "declared"
    command = ("build", "shop/comparison", "--run=runs/base", "--run=runs/doubled", "--to=md", "-o", build)
    assert run_assay("--cache", cache, *command, cwd=shop).status == 0
    gate = run_assay("gate", build, "--once", cwd=shop)
    assert (gate.status, "declare `exact = True` in metrics" in gate.err) == (1, True)
    size = ', unit = S.unit.byte, better = "lower"'
    edit_file(shop / "specs/shop/metrics.dhall", size, f"{size}, exact = True")
    assert run_assay("--cache", cache, *command, cwd=shop).status == 0
    gate = run_assay("gate", build, "--once", cwd=shop)
    assert gate.status == 4
    assert re.search(r"Request: size +512 → 1024 Bytes +\+100 % +\(exact\) ", gate.out)


def test_spread_is_that_of_the_compared_average(shop: Path, cache: Path) -> None:
    """The kinds of requests differ more from each other than any of them varies."""
    spreads = []
    for other in ("again", "other-mix"):
        words = ("compare", "runs/base", f"runs/{other}", "--metric", "wait_ms", "--format", "csv")
        header, row = run_assay("--cache", cache, *words, cwd=shop).out.splitlines()[:2]
        spreads.append(float(dict(zip(header.split(","), row.split(","), strict=True))["base_spread"]))
    of_all, of_kinds = spreads
    assert 0 < of_kinds < of_all / 2
