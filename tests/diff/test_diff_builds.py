"""Test `assay spec-diff` of builds: hashes in files of a build are verified, and missing files are reported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.compare_reference import CARDANO
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

METRICS = "specs/service/metrics.dhall"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Create a workspace as `assay init` writes it, with a build of its report."""
    place = tmp_path_factory.mktemp("builds") / "shop"
    assert run_assay("--cache", cache, "init", place).status == 0
    runs = ("--run", "runs/1.0", "--run", "runs/1.1", "--to", "md")
    assert run_assay("--cache", cache, "build", "service/comparison", *runs, "-o", "build", cwd=place).status == 0
    return place


@pytest.fixture
def shop_copy(shop: Path, tmp_path: Path) -> Path:
    """Copy the build, to change it."""
    shutil.copytree(shop, tmp_path / "shop")
    return tmp_path / "shop"


def run_diff(place: Path, cache: Path, *states: str) -> CommandResult:
    return run_assay("--cache", cache, "spec-diff", *states, cwd=place)


def list_kinds(result: CommandResult) -> list[str]:
    """Return the lines that name kinds and metrics."""
    return [line.strip() for line in result.out.splitlines() if line[:6].strip()]


def test_build_is_compared_by_its_own_specs(shop: Path, cache: Path) -> None:
    result = run_diff(shop, cache, "build", ".")
    assert (result.status, result.out, result.err) == (0, "nothing differs\n", "")


def test_definitions_of_a_build_are_hashed_again(shop_copy: Path, cache: Path) -> None:
    """Specs whose SQL was replaced do not have the definition hashes of the provenance."""
    place = shop_copy / "build/specs.json"
    specs = json.loads(place.read_text(encoding="utf-8"))
    specs["package"]["relations"][0]["sql"] = "SELECT 1"
    place.write_text(json.dumps(specs), encoding="utf-8")
    result = run_diff(shop_copy, cache, "build", ".")
    assert result.status == 3
    assert result.out.splitlines()[-1] == "metrics: 3 changed in meaning"
    assert result.err == (
        "warning: build/specs.json: definition hashes differ from those that the build recorded (response_size, "
        "wait, work): the file was changed, or written by another version of Assay; it is compared as it is\n"
    )


def test_hashes_changed_with_the_specs_are_warned_of(shop_copy: Path, cache: Path) -> None:
    place = shop_copy / "build/specs.json"
    other = json.loads(place.read_text(encoding="utf-8"))
    edit_file(shop_copy / METRICS, "S.unit.millisecond", "S.unit.second")
    runs = ("--run", "runs/1.0", "--run", "runs/1.1", "--to", "md")
    assert run_assay("--cache", cache, "build", "service/comparison", *runs, "-o", "other", cwd=shop_copy).status == 0
    shutil.copyfile(shop_copy / "other/specs.json", place)
    result = run_diff(shop_copy, cache, "build", ".")
    assert (result.status, result.out) == (0, "nothing differs\n")
    assert "definition hashes differ from those that the build recorded (wait, work)" in result.err
    assert other["dhall"] != json.loads(place.read_text(encoding="utf-8"))["dhall"]


def test_broken_or_changed_provenance_is_reported(shop_copy: Path, cache: Path) -> None:
    """A broken provenance is an error, even beside intact specs; a changed one is a warning."""
    place = shop_copy / "build/provenance.json"
    provenance_text = place.read_text(encoding="utf-8")
    place.write_text("{", encoding="utf-8")
    for name in ("build", "build/provenance.json"):
        result = run_diff(shop_copy, cache, name, ".")
        assert (result.status, result.out) == (1, "")
        assert result.err.startswith("error[provenance]: the provenance is not JSON: ")
    place.write_text(provenance_text.replace("prefixed", "postfixed"), encoding="utf-8")
    result = run_diff(shop_copy, cache, "build", ".")
    assert result.status == 0
    assert result.err == ("warning: build/provenance.json: the file was changed: its hash is not that of its content\n")


def test_a_provenance_alone_is_compared_by_its_hashes(shop_copy: Path, cache: Path) -> None:
    """The file may have any name: the diff lists metrics that changed in meaning, and removed ones."""
    (shop_copy / "away").mkdir()
    for name in ("provenance.json", "of 1.1.json"):
        shutil.copyfile(shop_copy / "build/provenance.json", shop_copy / "away" / name)
    result = run_diff(shop_copy, cache, "away/of 1.1.json", ".")
    assert (result.status, result.out) == (0, "nothing differs\n")
    assert result.err == (
        "warning: away/of 1.1.json: the folder has no specs.json of this build, so only definition hashes are "
        "compared\n"
    )
    edit_file(shop_copy / METRICS, "S.unit.byte", "S.unit.kibibyte")
    edit_file(shop_copy / METRICS, '"wait"', '"waiting"')
    for name in ("away/of 1.1.json", "away/provenance.json", "away"):
        result = run_diff(shop_copy, cache, name, ".")
        assert result.status == 3
        assert list_kinds(result) == [
            "service",
            "gone",
            "wait",
            "changed in meaning",
            "response_size: Size of the response",
            "metrics: 1 gone, 1 changed in meaning",
        ]
    reversed_diff = run_diff(shop_copy, cache, ".", "away")
    assert list_kinds(reversed_diff)[:3] == ["service", "new", "wait"]


def test_specs_of_another_build_are_not_compared(shop_copy: Path, cache: Path) -> None:
    """They are read if their hash is that of the provenance; those of another build are ignored."""
    own_provenance = shop_copy / "build/of 1.1.json"
    shutil.copyfile(shop_copy / "build/provenance.json", own_provenance)
    edit_file(shop_copy / METRICS, '"Waiting time"', '"Time of waiting"')
    result = run_diff(shop_copy, cache, "build/of 1.1.json", ".")
    assert (result.status, result.err) == (3, "")
    assert list_kinds(result)[-1] == "metrics: 1 changed in wording"
    specs = json.loads((shop_copy / "build/specs.json").read_text(encoding="utf-8"))
    (shop_copy / "build/specs.json").write_text(json.dumps(specs | {"dhall": "0" * 64}), encoding="utf-8")
    result = run_diff(shop_copy, cache, "build/of 1.1.json", ".")
    assert (result.status, result.out) == (0, "nothing differs\n")
    assert "the folder has no specs.json of this build" in result.err


def test_file_without_a_build_is_no_state(shop_copy: Path, cache: Path) -> None:
    (shop_copy / "notes.txt").write_text("words", encoding="utf-8")
    (shop_copy / "notes.json").write_text("[]", encoding="utf-8")
    result = run_diff(shop_copy, cache, "notes.txt", ".")
    assert result.status == 2
    assert "found:    a file" in result.err
    result = run_diff(shop_copy, cache, "notes.json", ".")
    assert result.status == 1
    assert result.err.startswith("error[provenance]: the provenance has an unsupported format: notes.json\n")


def test_build_with_missing_or_broken_specs_is_reported(two: Path, cache: Path, tmp_path: Path) -> None:
    """An unreadable file is an error. If it is missing, the provenance is compared, with a warning."""
    copy = tmp_path / "build"
    shutil.copytree(two, copy)
    (copy / "specs.json").write_text("{", encoding="utf-8")
    diff_of_copies = run_assay("--cache", cache, "spec-diff", copy, copy)
    assert (diff_of_copies.status, diff_of_copies.err.splitlines()[0][:60]) == (
        1,
        "error[specs]: the specs of the build cannot be read: Expecti",
    )
    for factor in ("1e99999999", "1/0", "x"):
        specs = json.loads((two / "specs.json").read_text(encoding="utf-8"))
        specs["package"]["metrics"][0]["measured"]["factor"] = factor
        (copy / "specs.json").write_text(json.dumps(specs), encoding="utf-8")
        diff_of_copies = run_assay("--cache", cache, "spec-diff", copy, copy)
        assert diff_of_copies.err.startswith(
            f"error[specs]: the specs of the build cannot be read: `{factor}` is not a factor\n"
        )
    (copy / "specs.json").unlink()
    diff_of_build = run_assay("--cache", cache, "spec-diff", copy, two)
    assert (diff_of_build.status, diff_of_build.out) == (0, "nothing differs\n")
    assert "only definition hashes are compared" in diff_of_build.err


def build_comparison(place: Path, cache: Path, out: str, *options: str, second: str = "runs/1.1") -> None:
    command = ("build", "service/comparison", "--run", "runs/1.0", "--run", second, "--to", "md", "-o", out)
    result = run_assay("--cache", cache, *command, *options, cwd=place)
    assert result.status == 0, result.err


def test_choices_of_two_builds_are_a_difference(shop_copy: Path, cache: Path) -> None:
    """Style and title are options of a build: equal definitions print different numbers."""
    build_comparison(shop_copy, cache, "other", "--style", "org-2023", "--title", "Nightly")
    result = run_diff(shop_copy, cache, "build", "other")
    assert (result.status, result.err) == (3, "")
    assert result.out.splitlines() == [
        "service",
        "  choices of the builds",
        "    style: prefixed -> org-2023",
        "    title: nothing -> Nightly",
        "no metric differs; choices that differ: style, title",
    ]
    (changes,) = run_diff(shop_copy, cache, "other", "build", "--format", "json").parse_json()
    assert [(item["aspect"], item["before"], item["after"]) for item in changes["choices"]] == [
        ("style", "org-2023", "prefixed"),
        ("title", "Nightly", ""),
    ]


def test_filters_and_summaries_of_two_builds_are_a_difference(cache: Path, tmp_path: Path) -> None:
    for out, *options in (("few", "--filter", "slot-leq=800", "--summary", "mean-of-hosts"), ("all", "--no-filters")):
        run = ("--run", CARDANO / "baseline/run", "--to", "md", "-o", tmp_path / out)
        result = run_assay("--cache", cache, "build", "cardano/comparison", *run, *options)
        assert result.status == 0, result.err
    result = run_assay("--cache", cache, "spec-diff", tmp_path / "all", tmp_path / "few/provenance.json")
    assert (result.status, result.err) == (3, "")
    assert result.out.splitlines()[2:4] == [
        "    filters: nothing -> slot-leq=800",
        "    summary: published -> mean-of-hosts",
    ]


def test_data_of_two_builds_is_listed_without_a_status(shop_copy: Path, cache: Path) -> None:
    """Reports of different runs are comparable if their definitions agree."""
    shutil.copytree(shop_copy / "runs/1.1", shop_copy / "runs/1.2")
    log = next(
        path for path in sorted((shop_copy / "runs/1.2").rglob("*")) if path.suffix in (".log", ".json", ".jsonl")
    )
    log.write_bytes(log.read_bytes() + b"\n")
    build_comparison(shop_copy, cache, "other", second="runs/1.2")
    result = run_diff(shop_copy, cache, "build", "other")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines()[1] == "  other data or tools"
    assert result.out.splitlines()[-1] == "no metric differs"
    assert [line.strip()[:6] for line in result.out.splitlines()[2:-1]] == ["run 2:"]


def test_publications_of_two_histories_are_listed_by_name(cache: Path, tmp_path: Path) -> None:
    first, second, third = sorted((ROOT / "golden/published").glob("release-10.*.plutus.json"))[:3]
    for out, *files in (("before", first, second), ("after", second, third)):
        publication_options = [part for file in files for part in ("--publication", file)]
        result = run_assay(
            "--cache", cache, "build", "cardano/history", *publication_options, "--to", "md", "-o", tmp_path / out
        )
        assert result.status == 0, result.err
    result = run_assay("--cache", cache, "spec-diff", tmp_path / "before", tmp_path / "after")
    assert result.status == 0
    assert f"    publications: {first.name} -> {third.name}" in result.out.splitlines()
    assert second.name not in result.out


def test_breaks_between_two_publications_change_the_meaning(cache: Path, tmp_path: Path) -> None:
    names = ("10.4.1", "10.5.0", "10.5.4")
    for name in names:
        file = ROOT / f"golden/published/release-{name}.plutus.json"
        assert run_assay("--cache", cache, "regenerate", file, "-o", tmp_path / name, "--to", "md").status == 0
    crossing, within = (
        run_assay("--cache", cache, "spec-diff", tmp_path / before, tmp_path / "10.5.4") for before in names[:2]
    )
    assert [line.strip().partition(":")[0] for line in crossing.out.splitlines() if line.startswith("    cdf")] == [
        "cdfForgerAnnounceCum", "cdfForgerBlkCtx", "cdfPeerFetchFirst", "cdfPeerNoticeFirst",
    ]  # fmt: skip
    assert crossing.status == 3
    assert "break" not in within.out
