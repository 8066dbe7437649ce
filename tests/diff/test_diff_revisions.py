"""`assay diff` over a history: revisions that today's checks refuse, and those that cannot be read at all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from assay.lang import normal_form, workspace
from assay.lang.workspace import Workspace
from tests.support.commands import Done, assay
from tests.support.repositories import committed
from tests.support.workspaces import edited

METRICS = "specs/service/metrics.dhall"
#: no check has ever let this pass, which stands for one that is stricter by now
REFUSED = ('unit = S.unit.millisecond, better = "lower"', 'unit = S.unit.millisecond, better = "sideways"')
#: no evaluator makes a package of this
BROKEN = ("unit = S.unit.byte", "unit = S.unit.bite")


def history(place: Path, cache: Path, *faults: tuple[str, str]) -> Path:
    """A repository of two systems, `service`, whose first revision has faults, and `other`; in the second, all is
    well, and each has a metric of another unit."""
    assert assay("--cache", cache, "init", place).status == 0
    shutil.rmtree(place / "runs")
    shutil.copytree(place / "specs/service", place / "specs/other")
    edited(place / "specs/other/package.dhall", 'system = "service"', 'system = "other"')
    well = (place / METRICS).read_text(encoding="utf-8")
    for fault in faults:
        edited(place / METRICS, *fault)
    committed(place, "first")
    (place / METRICS).write_text(well, encoding="utf-8")
    for system in ("service", "other"):
        edited(place / f"specs/{system}/metrics.dhall", "S.unit.millisecond", "S.unit.second")
    committed(place, "second")
    return place


def compared(place: Path, cache: Path, *options: str) -> Done:
    return assay("--cache", cache, "diff", "HEAD~1", "HEAD", *options, within=place)


def units(done: Done, system: str) -> dict[str, list[tuple[str, str]]]:
    """By metric of a system, the units that stood there and stand there."""
    (result,) = (item for item in done.json() if item["system"] == system)
    return {
        item["metric"]: [
            (changes["before"], changes["after"]) for changes in item["told"] if changes["place"].startswith("unit")
        ]
        for item in result["metrics"]
    }


def test_a_revision_that_checks_refuse_by_now_is_compared(tmp_path: Path, cache: Path) -> None:
    """A stricter check must not hide what a metric once meant; that it would not pass is told."""
    place = history(tmp_path / "shop", cache, REFUSED)
    done = compared(place, cache, "--format", "json")
    assert done.status == 3
    assert done.err.startswith("warning: revision ")
    assert done.err.endswith(
        ": checks refuse the specs of service (better: unknown direction `sideways` in `better` of metric `wait`); "
        "they are compared as they are\n"
    )
    for system in ("service", "other"):
        result = units(done, system)
        assert result.keys() == {"wait", "work"}
        assert all(("millisecond", "second") in pairs for pairs in result.values())


def test_of_such_a_revision_the_normal_form_is_read(tmp_path: Path, cache: Path) -> None:
    """Where it is of the very sources, nothing has to evaluate them; where it is not, there is nothing to read."""
    place = history(tmp_path / "shop", cache, REFUSED)
    edited(place / METRICS, "S.unit.second", "S.unit.millisecond")
    edited(place / METRICS, *REFUSED)
    result = workspace.load_unchecked(Workspace(place), "service", None)
    assert [item.code for item in result.refused] == ["better"]
    target = Workspace(place).normal_form("service")
    assert target.is_file()  # of the specs as `init` wrote them
    target.write_text(normal_form.dump(result.checked), encoding="utf-8")
    committed(place, "third")
    known = assay("--cache", cache, "diff", "HEAD~1", "HEAD", "--system", "service", "--format", "json", within=place)
    assert known.status == 3
    assert units(known, "service")["wait"] == [("second", "millisecond"), ("s", "ms")]
    edited(place / METRICS, '"Waiting time"', '"Time of waiting"')
    committed(place, "fourth")
    evaluated = assay("--cache", cache, "diff", "HEAD~1", "HEAD", "--system", "service", within=place)
    assert evaluated.status == 3
    assert "Time of waiting" in evaluated.out


def test_a_system_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path, cache: Path) -> None:
    """They are compared; it is told with its reason, and the exit status says that not all was compared."""
    place = history(tmp_path / "shop", cache, BROKEN)
    done = compared(place, cache)
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0] == "other"
    assert lines[-2:] == [
        "service: not compared, for it could not be read: unknown field `bite` in `S.unit`",
        "metrics of what could be read: 2 changed in meaning",
    ]
    assert "bite" in done.err
    assert "note: in revision " in done.err
    systems = json.loads(compared(place, cache, "--format", "json").out)
    assert [(item["system"], item["state"]) for item in systems] == [("other", "both"), ("service", "unread")]


def test_one_system_alone_is_compared(tmp_path: Path, cache: Path) -> None:
    """`--system`: what the others hold is not even read."""
    place = history(tmp_path / "shop", cache, BROKEN)
    done = compared(place, cache, "--system", "other", "--format", "json")
    assert (done.status, done.err, [item["system"] for item in done.json()]) == (3, "", ["other"])
    done = compared(place, cache, "--system", "service")
    assert (done.status, done.out) == (1, "")
    done = compared(place, cache, "--system", "othr")
    assert (done.status, done.err) == (
        2,
        "error[unknown-system]: neither HEAD~1 nor HEAD has specs for `othr`\n  hint: did you mean `other`?\n",
    )


def test_what_breaks_the_comparison_of_unchecked_specs_is_told(tmp_path: Path, cache: Path) -> None:
    """A metric of a unit that its measure has not has no factor: such a package has no numbers at all."""
    place = history(tmp_path / "shop", cache, ("S.unit.millisecond", "S.unit.byte"))
    done = compared(place, cache)
    assert done.status == 1
    assert "service: not compared, for it could not be read: the measure of metric `wait` has a unit" in done.out
    message = "the measure of metric `wait` has a unit that does not convert to the unit of the metric"
    assert f"error[unit]: {message}\n" in done.err
