"""Where a change comes from: workspaces of `init --from` name what changed in their logs, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.api import Workspace
from tests.support.commands import run_assay
from tests.support.contradictions import find_contradictions
from tests.support.located_logs import CHANGES, HOSTS, Request, draw_requests, write_logs

TOTAL, WORK = "request_received_to_response_sent", "work_started_to_response_sent"
SEEDS = {name: number for number, name in enumerate(CHANGES, start=2)}
CASES = tuple(name for name in CHANGES if name != "same")


@pytest.fixture(scope="module")
def requests() -> dict[str, list[Request]]:
    return {"base": draw_requests("same", 1)} | {name: draw_requests(name, seed) for name, seed in SEEDS.items()}


@pytest.fixture(scope="module")
def place(requests: dict[str, list[Request]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace from the logs of two runs, with all others beside it."""
    folder = tmp_path_factory.mktemp("foci")
    for name, items in requests.items():
        write_logs(folder / "logs" / name, items)
    logs = [path for name in ("base", "same") for path in sorted((folder / "logs" / name).glob("*/log.jsonl"))]
    assert run_assay("init", folder / "place", "--from", *logs).status == 0
    return folder / "place"


@pytest.fixture(scope="module")
def workspace(place: Path, cache: Path) -> Iterator[Workspace]:
    with assay.open(place, cache) as opened:
        yield opened


def list_runs(place: Path, case: str) -> list[str]:
    return [f"{name}={place.parent / 'logs' / name}" for name in ("base", case)]


def explain(workspace: Workspace, place: Path, case: str, metric: str = WORK) -> tuple[str, ...]:
    return workspace.explain_change(metric, list_runs(place, case)).sentences[case]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("step", r"nothing stands out among 5 hosts, 3 values of kind and the parts of the run\."),
        ("everything", r"nothing stands out among 5 hosts, 3 values of kind and the parts of the run\."),
        ("host", r"1?\d\d % of it is on host web-2 \(\+2\d\d %, worse; without it [+-][\d.]+ %, cannot tell\)\."),
        ("kind", r"1?\d\d % of it is in kind write \(\+\d+ %, worse; without it [+-][\d.]+ %, cannot tell\)\."),
        ("mix", r"1?\d\d % of it is mix: the share of kind write rose from [\d.]+ to [\d.]+ %; no kind is worse\."),
        ("time", r"1?\d\d % of it is from 12:1[34]:\d\dZ on \(1\d\.\d → 3\d\.\d ms; before 1\d\.\d → 1\d\.\d ms\)\."),
    ],
)
def test_what_changed_is_named(case: str, expected: str, workspace: Workspace, place: Path) -> None:
    (sentence,) = explain(workspace, place, case)
    assert re.search(f": {expected}$", sentence), sentence


def test_unchanged_runs_name_nothing(workspace: Workspace, place: Path) -> None:
    for metric in (WORK, TOTAL, "request_received_to_work_started", "bytes"):
        explanation = workspace.explain_change(metric, list_runs(place, "same"))
        assert not any(table.has_focus for table in explanation.foci.values())
        assert all("of it is" not in text for text in explanation.sentences["same"])


def test_metric_with_steps_has_both(workspace: Workspace, place: Path) -> None:
    step, where = explain(workspace, place, "kind", TOTAL)
    assert "of it is Work started to response sent" in step
    assert "of it is in kind write" in where
    steps = explain(workspace, place, "step", TOTAL)
    assert "of it is Work started to response sent" in steps[0]
    assert "nothing stands out" in steps[1]


@pytest.mark.parametrize("case", CASES)
def test_parts_are_those_of_plain_python(
    case: str, workspace: Workspace, place: Path, requests: dict[str, list[Request]]
) -> None:
    table = workspace.explain_change(WORK, list_runs(place, case)).foci[case]
    for division in table.divisions:
        assert division.within + division.mix == table.difference
        parts = {str(part.value): part for part in division.parts}
        for side, name in enumerate(("base", case)):
            listed = requests[name]
            for value, part in parts.items():
                chosen = [item for item in listed if value in (item.kind, f"web-{item.host}")]
                times = [item.sent - item.started for item in chosen]
                assert part.weights[side] == Fraction(len(chosen), len(listed))
                assert part.averages[side] == Fraction(sum(times), len(times) * 1000)
    assert [len(item.parts) for item in table.divisions] in ([], [HOSTS, 3])


@pytest.mark.parametrize("case", CASES)
def test_page_names_what_changed(case: str, place: Path, cache: Path, tmp_path: Path) -> None:
    answer = build_answer(place, cache, tmp_path, case)
    causes = " ".join(answer.get("causes", ()))
    named = {
        "step": "",
        "everything": "",
        "host": "on host web-2",
        "kind": "in kind write",
        "mix": "share of kind write rose",
        "time": "of it is from 12:1",
    }
    for other, text in named.items():
        assert not text or (text in causes) is (other == case), causes


def build_answer(place: Path, cache: Path, out: Path, case: str) -> dict[str, Any]:
    runs = (f"--run={run}" for run in list_runs(place, case))
    words = ("build", f"{place.name}/comparison", *runs, "-o", out / "out", "--to", "md", "--cache", cache)
    assert run_assay(*words, cwd=place).status == 0
    document = json.loads((out / "out" / "document.json").read_text(encoding="utf-8"))
    # Counts and averages of the whole page are those of reports without segments.
    starts = ("focus", "cause", "page 1: no cause")
    assert [text for text in find_contradictions(document) if text.startswith(starts)] == []
    answer: dict[str, Any]
    (answer,) = document["answers"]
    return answer


def test_gate_has_the_causes(place: Path, cache: Path, tmp_path: Path) -> None:
    causes = build_answer(place, cache, tmp_path, "kind")["causes"]
    assert len(causes) == 3
    for form in ("text", "markdown", "json"):
        out = run_assay("gate", tmp_path / "out", "--once", "--format", form, cwd=place).out
        listed = json.loads(out)["runs"][0]["causes"] if form == "json" else out.replace("\\", "").splitlines()
        assert [text for text in listed if "% of it is" in text] == causes


def test_panel_of_the_page_has_the_causes(place: Path, cache: Path, tmp_path: Path) -> None:
    runs = (f"--run={run}" for run in list_runs(place, "kind"))
    words = ("build", f"{place.name}/comparison", *runs, "-o", tmp_path / "out", "--to", "html", "--cache", cache)
    assert run_assay(*words, cwd=place).status == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    ((_, *sentences),) = read_panel(page, WORK)
    assert re.search(r"of it is in kind write \(\+\d+ %, worse; without it", sentences[-1])


def read_panel(page: str, metric: str) -> list[list[str]]:
    """Return the sentences on the changes of a metric: the run first."""
    start = page.index("{", page.index('id="data"'))
    data, _ = json.JSONDecoder().raw_decode(page, start)
    changes: list[list[str]] = data["metrics"][metric]["changes"]
    return changes


def test_data_have_the_parts(place: Path, cache: Path) -> None:
    words = ("--cache", cache, "why", WORK, *list_runs(place, "kind"), "--format", "json")
    data = run_assay(*words, cwd=place).parse_json()
    (version,) = data["versions"]
    where = version["where"]
    assert [(item["column"], item["value"], item["verdict"]) for item in where["values"]] == [
        ("kind", "write", "worse")
    ]
    assert (where["mix"], where["time"]) == (None, None)
    for column in where["columns"]:
        assert column["within"] + column["mix"] == pytest.approx(where["value"] - where["base_value"])
    assert data["no_steps"] == "no other metric measures a part of it"


def test_text_has_a_table_of_what_stands_out(place: Path, cache: Path) -> None:
    out = run_assay("--cache", cache, "why", WORK, *list_runs(place, "mix"), cwd=place).out
    lines = [line.split() for line in out.splitlines()]
    assert ["kind", "base", "rows", "mix", "rows", "base", "mix", "Δ", "ms", "within", "mix"] in lines
    assert [line[0] for line in lines if line and line[0] in ("read", "scan", "write", "all")] == [
        "write", "read", "scan", "all"
    ]  # fmt: skip
