"""`assay diff` of builds: what their files say of themselves is not believed, and what is missing is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.compare_reference import CARDANO
from tests.support.commands import Done, assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edited

METRICS = "specs/service/metrics.dhall"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """A workspace as `init` writes it, with a build of its report."""
    place = tmp_path_factory.mktemp("builds") / "shop"
    assert assay("--cache", cache, "init", place).status == 0
    runs = ("--run", "runs/1.0", "--run", "runs/1.1", "--to", "md")
    assert assay("--cache", cache, "build", "service/comparison", *runs, "-o", "build", within=place).status == 0
    return place


@pytest.fixture
def copy(shop: Path, tmp_path: Path) -> Path:
    """A copy of it, to change."""
    shutil.copytree(shop, tmp_path / "shop")
    return tmp_path / "shop"


def compared(place: Path, cache: Path, *states: str) -> Done:
    return assay("--cache", cache, "diff", *states, within=place)


def kinds(done: Done) -> list[str]:
    """The lines that name kinds and metrics."""
    return [line.strip() for line in done.out.splitlines() if line[:6].strip()]


def test_a_build_is_of_the_specs_that_it_was_made_of(shop: Path, cache: Path) -> None:
    done = compared(shop, cache, "build", ".")
    assert (done.status, done.out, done.err) == (0, "nothing differs\n", "")


def test_definitions_of_a_build_are_worked_out_anew(copy: Path, cache: Path) -> None:
    """Specs whose SQL somebody has replaced are not those of the hashes that stand beside it."""
    place = copy / "build/specs.json"
    specs = json.loads(place.read_text(encoding="utf-8"))
    specs["package"]["relations"][0]["sql"] = "SELECT 1"
    place.write_text(json.dumps(specs), encoding="utf-8")
    done = compared(copy, cache, "build", ".")
    assert done.status == 3
    assert done.out.splitlines()[-1] == "metrics: 3 changed in meaning"
    assert done.err == (
        "warning: build/specs.json: what it holds has other definition hashes than the build says (response_size, "
        "wait, work): it was changed, or is of another version of Assay; what it holds is compared\n"
    )


def test_hashes_changed_with_the_specs_are_warned_of(copy: Path, cache: Path) -> None:
    place = copy / "build/specs.json"
    other = json.loads(place.read_text(encoding="utf-8"))
    edited(copy / METRICS, "S.unit.millisecond", "S.unit.second")
    runs = ("--run", "runs/1.0", "--run", "runs/1.1", "--to", "md")
    assert assay("--cache", cache, "build", "service/comparison", *runs, "-o", "other", within=copy).status == 0
    shutil.copyfile(copy / "other/specs.json", place)
    done = compared(copy, cache, "build", ".")
    assert (done.status, done.out) == (0, "nothing differs\n")
    assert "other definition hashes than the build says (wait, work)" in done.err
    assert other["dhall"] != json.loads(place.read_text(encoding="utf-8"))["dhall"]


def test_a_provenance_that_is_broken_or_changed(copy: Path, cache: Path) -> None:
    """Broken is an error, whatever stands beside it; changed is told."""
    place = copy / "build/provenance.json"
    whole = place.read_text(encoding="utf-8")
    place.write_text("{", encoding="utf-8")
    for name in ("build", "build/provenance.json"):
        done = compared(copy, cache, name, ".")
        assert (done.status, done.out) == (1, "")
        assert done.err.startswith("error[provenance]: the provenance is not JSON: ")
    place.write_text(whole.replace("typst-2026", "typst-2025"), encoding="utf-8")
    done = compared(copy, cache, "build", ".")
    assert done.status == 0
    assert done.err == ("warning: build/provenance.json: its hash is not that of its content, so that it was changed\n")


def test_a_provenance_alone_is_compared_by_its_hashes(copy: Path, cache: Path) -> None:
    """Whatever it is called: which metrics mean something else, and which are gone."""
    (copy / "away").mkdir()
    for name in ("provenance.json", "of 1.1.json"):
        shutil.copyfile(copy / "build/provenance.json", copy / "away" / name)
    done = compared(copy, cache, "away/of 1.1.json", ".")
    assert (done.status, done.out) == (0, "nothing differs\n")
    assert done.err == (
        "warning: away/of 1.1.json: no specs.json of this build stands beside it, so that definition hashes alone are "
        "compared\n"
    )
    edited(copy / METRICS, "S.unit.byte", "S.unit.kibibyte")
    edited(copy / METRICS, '"wait"', '"waiting"')
    for name in ("away/of 1.1.json", "away/provenance.json", "away"):
        done = compared(copy, cache, name, ".")
        assert done.status == 3
        assert kinds(done) == [
            "service",
            "gone",
            "wait",
            "changed in meaning",
            "response_size: Size of the response",
            "metrics: 1 gone, 1 changed in meaning",
        ]
    back = compared(copy, cache, ".", "away")
    assert kinds(back)[:3] == ["service", "new", "wait"]


def test_specs_of_another_build_are_not_compared(copy: Path, cache: Path) -> None:
    """They are taken where the provenance names them, and left where they are another build's."""
    own = copy / "build/of 1.1.json"
    shutil.copyfile(copy / "build/provenance.json", own)
    edited(copy / METRICS, '"Waiting time"', '"Time of waiting"')
    done = compared(copy, cache, "build/of 1.1.json", ".")
    assert (done.status, done.err) == (3, "")
    assert kinds(done)[-1] == "metrics: 1 changed in wording"
    specs = json.loads((copy / "build/specs.json").read_text(encoding="utf-8"))
    (copy / "build/specs.json").write_text(json.dumps(specs | {"dhall": "0" * 64}), encoding="utf-8")
    done = compared(copy, cache, "build/of 1.1.json", ".")
    assert (done.status, done.out) == (0, "nothing differs\n")
    assert "no specs.json of this build stands beside it" in done.err


def test_a_file_of_something_else_is_no_state(copy: Path, cache: Path) -> None:
    (copy / "notes.txt").write_text("words", encoding="utf-8")
    (copy / "notes.json").write_text("[]", encoding="utf-8")
    done = compared(copy, cache, "notes.txt", ".")
    assert done.status == 2
    assert "found:    a file" in done.err
    done = compared(copy, cache, "notes.json", ".")
    assert done.status == 1
    assert done.err.startswith("error[provenance]: the provenance is of another form: notes.json\n")


def test_a_build_of_runs_whose_specs_are_gone_or_broken(two: Path, cache: Path, tmp_path: Path) -> None:
    """What cannot be read is an error; without it, what the provenance tells is compared, and that is said."""
    copy = tmp_path / "build"
    shutil.copytree(two, copy)
    (copy / "specs.json").write_text("{", encoding="utf-8")
    broken = assay("--cache", cache, "diff", copy, copy)
    assert (broken.status, broken.err.splitlines()[0][:60]) == (
        1,
        "error[specs]: the specs of the build cannot be read: Expecti",
    )
    for factor in ("1e99999999", "1/0", "x"):
        specs = json.loads((two / "specs.json").read_text(encoding="utf-8"))
        specs["package"]["metrics"][0]["measured"]["factor"] = factor
        (copy / "specs.json").write_text(json.dumps(specs), encoding="utf-8")
        broken = assay("--cache", cache, "diff", copy, copy)
        assert broken.err.startswith(
            f"error[specs]: the specs of the build cannot be read: `{factor}` is not a factor\n"
        )
    (copy / "specs.json").unlink()
    alone = assay("--cache", cache, "diff", copy, two)
    assert (alone.status, alone.out) == (0, "nothing differs\n")
    assert "definition hashes alone are compared" in alone.err


def of_runs(place: Path, cache: Path, out: str, *more: str, second: str = "runs/1.1") -> None:
    command = ("build", "service/comparison", "--run", "runs/1.0", "--run", second, "--to", "md", "-o", out)
    done = assay("--cache", cache, *command, *more, within=place)
    assert done.status == 0, done.err


def test_choices_of_two_builds_are_a_difference(copy: Path, cache: Path) -> None:
    """The same definitions print other numbers under another style, and another title above them."""
    of_runs(copy, cache, "other", "--style", "org-2023", "--title", "Nightly")
    done = compared(copy, cache, "build", "other")
    assert (done.status, done.err) == (3, "")
    assert done.out.splitlines() == [
        "service",
        "  choices of the builds",
        "    style: typst-2026 -> org-2023",
        "    title: nothing -> Nightly",
        "no metric differs; choices that differ: style, title",
    ]
    (changes,) = compared(copy, cache, "other", "build", "--format", "json").json()
    assert [(item["aspect"], item["before"], item["after"]) for item in changes["choices"]] == [
        ("style", "org-2023", "typst-2026"),
        ("title", "Nightly", ""),
    ]


def test_filters_and_summaries_of_two_builds_are_a_difference(cache: Path, tmp_path: Path) -> None:
    for out, *chosen in (("few", "--filter", "slot-leq=800", "--summary", "mean-of-hosts"), ("all", "--no-filters")):
        run = ("--run", CARDANO / "baseline/run", "--to", "md", "-o", tmp_path / out)
        done = assay("--cache", cache, "build", "cardano/comparison", *run, *chosen)
        assert done.status == 0, done.err
    done = assay("--cache", cache, "diff", tmp_path / "all", tmp_path / "few/provenance.json")
    assert (done.status, done.err) == (3, "")
    assert done.out.splitlines()[2:4] == [
        "    filters: nothing -> slot-leq=800",
        "    summary: published -> mean-of-hosts",
    ]


def test_data_of_two_builds_is_told_and_leaves_the_status(copy: Path, cache: Path) -> None:
    """Reports of other runs whose definitions agree compare."""
    shutil.copytree(copy / "runs/1.1", copy / "runs/1.2")
    log = next(path for path in sorted((copy / "runs/1.2").rglob("*")) if path.suffix in (".log", ".json", ".jsonl"))
    log.write_bytes(log.read_bytes() + b"\n")
    of_runs(copy, cache, "other", second="runs/1.2")
    done = compared(copy, cache, "build", "other")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[1] == "  made of other data or tools"
    assert done.out.splitlines()[-1] == "no metric differs"
    assert [line.strip()[:6] for line in done.out.splitlines()[2:-1]] == ["run 2:"]


def test_publications_of_two_histories_are_told_by_name(cache: Path, tmp_path: Path) -> None:
    first, second, third = sorted((ROOT / "golden/published").glob("release-10.*.plutus.json"))[:3]
    for out, *files in (("before", first, second), ("after", second, third)):
        named = [part for file in files for part in ("--publication", file)]
        done = assay("--cache", cache, "build", "cardano/history", *named, "--to", "md", "-o", tmp_path / out)
        assert done.status == 0, done.err
    done = assay("--cache", cache, "diff", tmp_path / "before", tmp_path / "after")
    assert done.status == 0
    assert f"    publications: {first.name} -> {third.name}" in done.out.splitlines()
    assert second.name not in done.out
