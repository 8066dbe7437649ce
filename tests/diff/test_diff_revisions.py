"""`assay spec-diff` over a history: revisions that today's checks refuse, and those that cannot be read at all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from assay.lang import normal_form, workspace
from assay.lang.workspace import Workspace
from tests.support.commands import CommandResult, run_assay
from tests.support.repositories import commit_folder
from tests.support.workspaces import edit_file

METRICS = "specs/service/metrics.dhall"
#: specs that no check has ever accepted, in place of specs that a stricter check refuses today
REFUSED = ('with default.better = "lower"', 'with default.better = "sideways"')
#: the evaluator refuses this
BROKEN = ("unit = S.unit.byte", "unit = S.unit.bite")


def create_history(place: Path, cache: Path, *faults: tuple[str, str]) -> Path:
    """Create a repository of two systems, `service` and `other`.

    The first revision of `service` has faults; the second has none. In it, each system has a metric of another unit.
    """
    assert run_assay("--cache", cache, "init", place).status == 0
    shutil.rmtree(place / "runs")
    shutil.copytree(place / "specs/service", place / "specs/other")
    edit_file(place / "specs/other/package.dhall", 'system = "service"', 'system = "other"')
    well = (place / METRICS).read_text(encoding="utf-8")
    for fault in faults:
        edit_file(place / METRICS, *fault)
    commit_folder(place, "first")
    (place / METRICS).write_text(well, encoding="utf-8")
    for system in ("service", "other"):
        edit_file(place / f"specs/{system}/metrics.dhall", "S.unit.millisecond", "S.unit.second")
    commit_folder(place, "second")
    return place


def run_diff(place: Path, cache: Path, *options: str) -> CommandResult:
    return run_assay("--cache", cache, "spec-diff", "HEAD~1", "HEAD", *options, cwd=place)


def collect_units(completed: CommandResult, system: str) -> dict[str, list[tuple[str, str]]]:
    """Return the units before and after, by metric of a system."""
    (result,) = (item for item in completed.parse_json() if item["system"] == system)
    return {
        item["metric"]: [
            (changes["before"], changes["after"]) for changes in item["changes"] if changes["place"].startswith("unit")
        ]
        for item in result["metrics"]
    }


def test_revision_that_checks_refuse_today_is_compared(tmp_path: Path, cache: Path) -> None:
    """A revision that a stricter check refuses is still compared, with a warning."""
    place = create_history(tmp_path / "shop", cache, REFUSED)
    completed = run_diff(place, cache, "--format", "json")
    assert completed.status == 3
    assert completed.err.startswith("warning: revision ")
    assert completed.err.endswith(
        ": the specs of service fail checks (unknown-word: unknown `better` of metric `wait`); "
        "they are compared as they are\n"
    )
    for system in ("service", "other"):
        result = collect_units(completed, system)
        assert result.keys() == {"wait", "work"}
        assert all(("millisecond", "second") in pairs for pairs in result.values())


def test_normal_form_of_an_unchecked_revision_is_read(tmp_path: Path, cache: Path) -> None:
    """A normal form of the same sources is read without an evaluation; one of other sources is ignored."""
    place = create_history(tmp_path / "shop", cache, REFUSED)
    edit_file(place / METRICS, "S.unit.second", "S.unit.millisecond")
    edit_file(place / METRICS, *REFUSED)
    result = workspace.load_unchecked(Workspace(place), "service", None)
    assert [item.code for item in result.problems] == ["unknown-word"]
    target = Workspace(place).get_normal_form_path("service")
    assert target.is_file()  # the normal form of the specs as `init` wrote them
    target.write_text(normal_form.format_normal_form(result.checked), encoding="utf-8")
    commit_folder(place, "third")
    diff_of_system = run_assay(
        "--cache", cache, "spec-diff", "HEAD~1", "HEAD", "--system", "service", "--format", "json", cwd=place
    )
    assert diff_of_system.status == 3
    assert collect_units(diff_of_system, "service")["wait"] == [("second", "millisecond"), ("s", "ms")]
    edit_file(place / METRICS, '"Waiting time"', '"Time of waiting"')
    commit_folder(place, "fourth")
    text_diff = run_assay("--cache", cache, "spec-diff", "HEAD~1", "HEAD", "--system", "service", cwd=place)
    assert text_diff.status == 3
    assert "Time of waiting" in text_diff.out


def test_unreadable_system_does_not_hide_other_systems(tmp_path: Path, cache: Path) -> None:
    """The other systems are compared; a warning gives the reason, the exit status says that some were not."""
    place = create_history(tmp_path / "shop", cache, BROKEN)
    result = run_diff(place, cache)
    assert result.status == 1
    lines = result.out.splitlines()
    assert lines[0] == "other"
    assert lines[-2:] == [
        "service: not compared, as it cannot be read: unknown field `bite` in `S.unit`",
        "metrics in the readable systems: 2 changed in meaning",
    ]
    assert "bite" in result.err
    assert "note: in revision " in result.err
    systems = json.loads(run_diff(place, cache, "--format", "json").out)
    assert [(item["system"], item["state"]) for item in systems] == [("other", "both"), ("service", "unread")]


def test_only_the_selected_system_is_compared(tmp_path: Path, cache: Path) -> None:
    """With `--system`, the other systems are not even read."""
    place = create_history(tmp_path / "shop", cache, BROKEN)
    result = run_diff(place, cache, "--system", "other", "--format", "json")
    assert (result.status, result.err, [item["system"] for item in result.parse_json()]) == (3, "", ["other"])
    result = run_diff(place, cache, "--system", "service")
    assert (result.status, result.out) == (1, "")
    result = run_diff(place, cache, "--system", "othr")
    assert (result.status, result.err) == (
        2,
        "error[unknown-system]: neither HEAD~1 nor HEAD has specs for `othr`\n  hint: did you mean `other`?\n",
    )


def test_failed_comparison_of_unchecked_specs_is_reported(tmp_path: Path, cache: Path) -> None:
    """A metric whose unit does not fit its measure has no conversion factor, so the package cannot be resolved."""
    place = create_history(tmp_path / "shop", cache, ("S.unit.millisecond", "S.unit.byte"))
    result = run_diff(place, cache)
    assert result.status == 1
    assert "service: not compared, as it cannot be read: the measure of metric `wait` has a unit" in result.out
    message = "the measure of metric `wait` has a unit that does not convert to the unit of the metric"
    assert f"error[unit]: {message}\n" in result.err
