"""Notes on level shifts: what is accepted stays so while runs follow, and what is new, or grows, is open."""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from assay.judgement.verdict import Direction
from assay.registry.history import HistoryChange, MetricHistory, MetricRules, compute_history
from assay.registry.model import ShiftNote, ShiftNoteFile
from tests.server.test_static_site import record_night
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.recorded import create_results
from tests.support.repositories import run_git
from tests.support.workspaces import edit_file

LATER = "2026-06-01T00:00:00Z"


def create_history(values: Sequence[float], *notes: ShiftNote) -> MetricHistory:
    recorded = [
        create_results(f"n{number}", value, f"2026-{number // 28 + 1:02d}-{number % 28 + 1:02d}")
        for number, value in enumerate(values)
    ]
    rules = MetricRules(direction=Direction.LOWER, notes=notes)
    return compute_history(recorded, [], "wait", rules=rules)


def create_note(change: HistoryChange, kind: str = "accept", time: str = "2026-05-01T00:00:00Z") -> ShiftNote:
    """Return a note on a change as it is now."""
    name = "drift" if type(change).__name__ == "Drift" else "level shift"
    begin = change.ends[name == "level shift"]
    content = ShiftNoteFile(system="service", metric="wait", kind=kind, change=name, run=begin.run, day=begin.day,
                            before=change.before, after=change.after, author="A", reason="r", time=time)  # type: ignore[arg-type]  # fmt: skip
    return ShiftNote(Path("note.json"), "0", content)


def list_open(history: MetricHistory) -> list[str]:
    return [shift.point.run for shift in history.shifts if not shift.acceptance]


@pytest.mark.parametrize("deviations", [3, 5])
def test_accepted_shift_stays_accepted_while_runs_follow(deviations: int) -> None:
    """The shift is accepted as soon as it is found; its place and size then move with the runs that follow."""
    histories, opened = 0, 0
    for seed in range(12):
        noise = random.Random(seed)
        values = [10 + noise.gauss(0, 0.1) + (0.1 * deviations if number >= 30 else 0) for number in range(60)]
        note = None
        for end in range(32, 61, 3):
            if note is None:
                shifts = create_history(values[:end]).shifts
                note = create_note(shifts[-1]) if shifts else None
            else:
                history = create_history(values[:end], note)
                histories += bool(history.shifts)
                opened += bool(list_open(history))
    assert histories > 80
    assert opened <= 0.02 * histories


def list_steps(*steps: tuple[int, float]) -> list[float]:
    """Return 60 values with steps: from an index on, so much more."""
    noise = random.Random(1)
    return [10 + noise.gauss(0, 0.1) + sum(size for start, size in steps if number >= start) for number in range(60)]


def test_new_shift_is_open_beside_an_accepted_one() -> None:
    accepted = create_note(create_history(list_steps((30, 1.0))).shifts[0])
    for new in (45, 33, 34, 27):
        history = create_history(list_steps((30, 1.0), (new, 1.0)), accepted)
        assert len(history.shifts) == 2, new
        assert len(list_open(history)) == 1, new
    assert list_open(create_history(list_steps((30, -1.0)), accepted)) == ["n30"]


def test_accepted_change_that_grows_by_half_is_open_again() -> None:
    accepted = create_note(create_history(list_steps((30, 1.0))).shifts[0])
    assert list_open(create_history(list_steps((30, 1.3)), accepted)) == []
    history = create_history(list_steps((30, 1.7)), accepted)
    assert list_open(history) == ["n30"]
    assert history.shifts[0].notes == (accepted,)


def test_accepted_drift_is_open_again_once_it_has_grown() -> None:
    noise = random.Random(2)
    values = [10 + 0.05 * number + noise.gauss(0, 0.05) for number in range(100)]
    drift = create_history(values[:40]).drift
    assert drift
    accepted = create_note(drift)
    for count, is_accepted in ((41, True), (55, True), (70, False), (100, False)):
        drift = create_history(values[:count], accepted).drift
        assert drift
        assert (drift.acceptance is not None) == is_accepted, count


def test_reopened_change_is_open_and_a_remark_decides_nothing() -> None:
    values = list_steps((30, 1.0))
    shift = create_history(values).shifts[0]
    accepted, reopened, remark = (create_note(shift, kind) for kind in ("accept", "reopen", "annotate"))
    assert list_open(create_history(values, accepted, remark)) == []
    assert list_open(create_history(values, accepted, reopened)) == ["n30"]
    assert list_open(create_history(values, accepted, reopened, remark, accepted)) == []


def test_note_is_found_by_day_once_its_run_is_gone() -> None:
    values = list_steps((30, 1.0))
    accepted = create_note(create_history(values).shifts[0])
    del values[30]
    recorded = [
        create_results(f"other-{number}", value, f"2026-{day // 28 + 1:02d}-{day % 28 + 1:02d}")
        for number, value in enumerate(values)
        if (day := number + (number >= 30)) >= 0
    ]
    (shift,) = compute_history(recorded, [], "wait", rules=MetricRules(notes=(accepted,))).shifts
    assert shift.acceptance == accepted


def test_interval_of_a_shift_has_the_shift_in_95_of_100_series() -> None:
    hits = count = 0
    for seed in range(200):
        noise = random.Random(seed)
        history = create_history([10 + noise.gauss(0, 0.1) + (0.5 if number >= 20 else 0) for number in range(40)])
        for shift in history.shifts:
            count += 1
            hits += shift.interval[0] <= 0.5 <= shift.interval[1]
    assert count >= 195
    assert 0.91 <= hits / count <= 0.99


# Commands


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with 30 nights: `wait` becomes slower at night 11, and again at night 21."""
    place = tmp_path_factory.mktemp("shifts") / "shop"
    assert run_assay("init", place).status == 0
    edit_file(place / "assay.toml", "baseline", 'results = "results"\nauthor = "Ann"\nbaseline')
    noise = random.Random(1)
    for night in range(30):
        factor = 1 + 0.1 * (night >= 10) + 0.1 * (night >= 20)
        averages = {"wait": 10 * factor, "work": 20.0}
        record_night(place / "results", night, {name: value * noise.gauss(1, 0.01) for name, value in averages.items()})
    return place


def run(shop: Path, words: str) -> CommandResult:
    return run_assay("shifts", *shlex.split(words), cwd=shop)


def list_states(shop: Path) -> list[tuple[str, str]]:
    return [(item["run"], item["state"]) for item in run(shop, "list --format json").parse_json()]


def test_shifts_are_accepted_annotated_and_reopened(shop: Path) -> None:
    assert list_states(shop) == [("night-11", "open"), ("night-21", "open")]
    result = run(shop, "accept wait --reason 'TLS is on'")
    assert result.out.startswith("results/shifts/wait/")
    assert run(shop, "annotate 'Metric wait' night-21 --reason 'see #12' --author Bob").status == 0
    assert list_states(shop) == [("night-11", "open"), ("night-21", "accepted")]
    listed = run(shop, "list --open --format csv").out.splitlines()
    assert [line.split(",")[2] for line in listed] == ["begins at", "night-11"]
    notes = run(shop, "list --format json").parse_json()[1]["notes"]
    assert [(item["kind"], item["author"], item["reason"]) for item in notes] == [
        ("accept", "Ann", "TLS is on"), ("annotate", "Bob", "see #12"),
    ]  # fmt: skip
    text = run_assay("history", "wait", cwd=shop).out
    assert "▲ accepted" in text
    assert "; accepted by Ann on 20" in text
    assert text.endswith(": TLS is on\n")
    assert run(shop, "reopen wait --reason 'TLS is off'").status == 0
    assert list_states(shop) == [("night-11", "open"), ("night-21", "open")]


ERRORS = (
    ("accept work --reason x", "no-shift", "`work` has no level shift and no drift"),
    ("accept wait night-12 --reason x", "no-shift", "no level shift or drift of `wait` begins at `night-12`"),
    ("accept wiat --reason x", "unknown-metric", "no results of a metric `wiat` are recorded"),
    ("reopen wait --reason x", "shift-state", "the change of `wait` at `night-21` is open already"),
    (f"accept wait --reason {'x' * 2001}", "note-text", "invalid reason of a note"),
    ("accept wait --reason 'a\nb'", "note-text", "invalid reason of a note"),
    ("list --results absent", "no-results", "no results are recorded in absent"),
)


@pytest.mark.parametrize(("words", "code", "message"), ERRORS)
def test_impossible_notes_are_refused(shop: Path, words: str, code: str, message: str) -> None:
    result = run(shop, words)
    assert (result.status, result.err.splitlines()[0]) == (2, f"error[{code}]: {message}")


def test_changed_note_is_an_error(shop: Path) -> None:
    file = shop / run(shop, "annotate wait --reason remark").out.strip()
    edit_file(file, "remark", "remark!")
    assert f"error[damaged-result]: the note was changed after it was written: {file.relative_to(shop)}" in (
        run(shop, "list").err
    )
    file.unlink()
    assert run(shop, "list").status == 0


def test_commits_between_the_runs_are_listed(shop: Path) -> None:
    repository = shop / "software"
    repository.mkdir()
    run_git(repository, "init", "-q")
    for number in range(3):
        run_git(repository, "commit", "--allow-empty", "-q", "-m", f"Change {number}")
    for number, name in ((2, "good"), (0, "bad")):
        run_git(repository, "tag", name, f"HEAD~{number}")
    for night, commit in (("night-20", "good"), ("night-21", "bad")):
        assert run_assay("runs", "add", night, "--commit", commit, cwd=shop).status == 0
    links = 'commit-link = "https://example.org/{commit}"\ncompare-link = "https://example.org/{base}..{commit}"\n'
    edit_file(shop / "assay.toml", "baseline", f'{links}repository = "software"\nbaseline')
    without, item = run(shop, "list --format json").parse_json()
    assert [entry["subject"] for entry in item["log"]] == ["Change 2", "Change 1"]
    assert item["log"][0]["address"] == f"https://example.org/{item['log'][0]['commit']}"
    assert item["compare"] == "https://example.org/good..bad"
    assert item["why"] == "assay why wait night-20=DIR night-21=DIR"
    assert (without["log"], without["log_note"]) == ([], "No commit is known of night-10 and night-11.")


def test_cause_is_that_of_the_report_of_the_two_runs(shop: Path) -> None:
    build = shop / "build" / "comparison"
    build.mkdir(parents=True)
    runs = '[{"id": "night-10"}, {"id": "night-11"}]'
    (build / "results.json").write_text(f'{{"report": "service/comparison", "runs": {runs}}}', encoding="utf-8")
    answers = '[{"run_id": "night-11", "causes": ["Host web-2 has most of it."]}]'
    (build / "document.json").write_text(f'{{"answers": {answers}}}', encoding="utf-8")
    causes = [item["causes"] for item in run(shop, "list --format json").parse_json()]
    assert causes == [["Host web-2 has most of it."], []]


def test_invalid_link_is_an_error_of_the_settings(tmp_path: Path) -> None:
    for link in ("javascript:alert('{commit}')", "https://example.org/", "https://example.org/ {commit}"):
        (tmp_path / "assay.toml").write_text(f'commit-link = "{link}"\n', encoding="utf-8")
        result = run_assay("config", cwd=tmp_path)
        assert result.status == 2
        assert "invalid value of the setting `commit-link`" in result.err


def test_exports_have_shifts_and_states(shop: Path, tmp_path: Path) -> None:
    assert run(shop, "accept wait night-21 --reason expected").status == 0
    for form in ("csv", "json", "parquet"):
        words = ("results", "export", "--to", form, "-o", tmp_path / f"rows.{form}")
        assert run_assay(*words, cwd=shop).status == 0
    columns = "metric, run, shift, shift_percent > 0, shift_low < shift_percent, shift_state, state"
    expected = [
        ("wait", "night-11", "worse", True, True, "open", None),
        ("wait", "night-21", "worse", True, True, "accepted", None),
        ("wait", "night-30", None, None, None, None, "worse"),
        ("work", "night-30", None, None, None, None, "no level shift"),
    ]
    for form in ("csv", "json", "parquet"):
        statement = (
            f"SELECT {columns} FROM '{tmp_path / f'rows.{form}'}' "
            "WHERE shift IS NOT NULL OR state IS NOT NULL ORDER BY metric, run"
        )
        assert duckdb.connect().sql(statement).fetchall() == expected, form
    text = run_assay("results", "export", "--to", "openmetrics", cwd=shop).out
    assert 'assay_state{system="service",metric="wait",name="Metric wait",state="worse"} 1\n' in text
    assert text.count("assay_shift_low{") == 2
    assert set(re.findall(r"assay_\w+(?=[ {])", "\n".join(list_queries()))) <= set(re.findall(r"TYPE (\w+)", text))


def list_queries() -> list[str]:
    """Return the queries of the dashboard, with metrics in place of its variables."""
    panels = json.loads((ROOT / "integrations/grafana/assay-dashboard.json").read_text(encoding="utf-8"))["panels"]
    return [item["expr"].replace("$", "") for panel in panels for item in panel["targets"]]


@pytest.mark.skipif(not shutil.which("promtool"), reason="requires promtool")
def test_promtool_accepts_exported_shifts_and_queries_of_the_dashboard(shop: Path, tmp_path: Path) -> None:
    text = run_assay("results", "export", "--to", "openmetrics", cwd=shop).out
    result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    rules = [{"record": f"query:{number}", "expr": text} for number, text in enumerate(list_queries())]
    (tmp_path / "rules.json").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    result = subprocess.run(["promtool", "check", "rules", tmp_path / "rules.json"], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
