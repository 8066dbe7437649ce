"""Test the workspaces of examples/: their specs, their numbers, and the commands and pictures of their READMEs."""

from __future__ import annotations

import math
import re
import shlex
import shutil
import statistics
from pathlib import Path

import pytest

from tests.examples.plain_logs import MEASURES
from tests.support.commands import run_assay
from tests.support.documentation import ROOT

EXAMPLES = ROOT / "examples"
NAMES = sorted(path.name for path in EXAMPLES.iterdir())
LIMIT = 60 * 1024  # bytes of a picture


def _copy_example(name: str, folder: Path) -> Path:
    """Copy a workspace without the outputs of earlier commands."""
    return Path(shutil.copytree(EXAMPLES / name, folder / name, ignore=shutil.ignore_patterns("build")))


def _read_readme(name: str) -> str:
    return (EXAMPLES / name / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_specs_have_no_problem_and_examples_for_all(name: str, tmp_path: Path, cache: Path) -> None:
    folder = _copy_example(name, tmp_path)
    checked = run_assay("--cache", cache, "check", cwd=folder)
    assert (checked.status, checked.out.endswith(": no problem\n")) == (0, True), checked.err
    tested = run_assay("--cache", cache, "test", cwd=folder)
    assert (tested.status, tested.err) == (0, "")
    assert tested.out.splitlines()[1:] == ["  all examples pass"], tested.out


@pytest.mark.parametrize("name", NAMES)
def test_metrics_are_those_of_plain_python(name: str, tmp_path: Path, cache: Path) -> None:
    folder = _copy_example(name, tmp_path)
    listed = run_assay("--cache", cache, "list", "metrics", "--format", "json", cwd=folder)
    metrics = {item["id"] for item in listed.parse_json()}
    for run in sorted((folder / "runs").iterdir()):
        expected = MEASURES[name](run)
        assert metrics == expected.keys()
        queried = run_assay("--cache", cache, "query", *expected, "--run", run, "--format", "json", cwd=folder)
        assert (queried.status, queried.err) == (0, "")
        for row in queried.parse_json():
            samples = expected[row["metric"]]
            assert row["size"] == len(samples), row["metric"]
            for member, compute in (("average", statistics.fmean), ("min", min), ("max", max)):
                if samples:
                    value = compute(samples)
                    assert math.isclose(row[member], value, rel_tol=1e-9, abs_tol=1e-12), (row, value)


@pytest.mark.parametrize("name", NAMES)
def test_command_of_readme_builds_the_pictured_report(name: str, tmp_path: Path, cache: Path) -> None:
    """The command warns of nothing, and the description of the picture has the answer of the report."""
    folder = _copy_example(name, tmp_path)
    text = _read_readme(name)
    (block,) = re.findall(r"^```sh\n(.*?)\n```$", text, re.M | re.S)
    _, *arguments = shlex.split(block)
    built = run_assay("--cache", cache, *arguments, "--to", "pdf", "--to", "md", cwd=folder)
    assert (built.status, "warning" in built.err) == (0, False), built.err
    assert built.out.splitlines()[0] == "build/comparison/report.pdf"
    report = (folder / "build" / "comparison" / "report.md").read_text(encoding="utf-8")
    (answer,) = re.findall(r'^## <a id="answer-1"></a>(.*)$', report, re.M)
    assert f"![First page of the report: {answer}](report.png)" in text


@pytest.mark.parametrize("name", NAMES)
def test_init_writes_the_example_and_prints_its_commands(name: str, tmp_path: Path) -> None:
    """Only the README differs, whose links to other pages become words; the schema is added."""
    place = tmp_path / "place"
    result = run_assay("init", place, "--example", name)
    commands = re.findall(r"```sh\n(.*?)```", _read_readme(name), re.S)[0].splitlines()
    assert (result.status, [line.strip() for line in result.out.splitlines()[2:]]) == (0, ["assay test", *commands])
    files = {path.relative_to(EXAMPLES / name) for path in (EXAMPLES / name).rglob("*") if path.is_file()}
    files = {file for file in files if file.parts[0] != "build"}
    differing = [file for file in files if (place / file).read_bytes() != (EXAMPLES / name / file).read_bytes()]
    assert set(differing) <= {Path("README.md")}
    assert "](../" not in (place / "README.md").read_text(encoding="utf-8")
    assert (place / "specs" / "schema" / "package.dhall").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_cookbook_has_the_description_of_the_picture(name: str) -> None:
    (answer,) = re.findall(r"!\[First page of the report: (.*?)\]", _read_readme(name))
    cookbook = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
    (described,) = re.findall(rf"!\[([^\]]*)\]\(\.\./examples/{name}/report\.png\)", cookbook)
    assert described.endswith(f": {answer}")


@pytest.mark.parametrize("name", NAMES)
def test_readme_is_short_and_its_picture_small(name: str) -> None:
    assert len(_read_readme(name).splitlines()) <= 30
    content = (EXAMPLES / name / "report.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(content) <= LIMIT


def test_cookbook_lists_every_example_once() -> None:
    text = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\(\.\./examples/([\w-]+)/README\.md\)", text)) == NAMES
    assert sorted(re.findall(r"!\[.+\]\(\.\./examples/([\w-]+)/report\.png\)", text)) == NAMES
    assert set(MEASURES) == set(NAMES)
