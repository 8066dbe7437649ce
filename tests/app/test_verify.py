"""Test `assay verify`: it repeats a build from its provenance and names each change."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.provenance.read import hash_content
from tests.support import commands
from tests.support.commands import CommandResult, build_environment, run_assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import format_message, read_contents
from tests.support.runs import change_json, change_log, copy_run, rotate_log
from tests.support.workspaces import copy_workspace, edit_file

PUBLISHED = ROOT / "golden" / "published"
COMETBFT = ROOT / "golden" / "cometbft" / "run"
SAME = "files: all the same bytes"
HASHES = r"[0-9a-f]{12}, was [0-9a-f]{12}"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Create a small run that a test may change."""
    return copy_run("tiny/plain", tmp_path / "run")


def build_report(run: Path, cache: Path, *options: str, root: Path = ROOT) -> Path:
    """Build a report of the run next to it; return its folder."""
    out = run.parent / "report"
    result = commands.build([f"plain={run}"], out, cache, *(options or ("--no-filters",)), cwd=root)
    assert result.status == 0, result.err
    return out


def run_verify(folder: Path, cache: Path, *options: str | Path, root: Path = ROOT) -> CommandResult:
    """Run `assay verify` on a folder, and check that it changes nothing."""
    before, cached = read_contents(folder), list_cache(cache)
    result = run_assay("verify", folder, *options, "--cache", cache, cwd=root)
    assert read_contents(folder) == before
    assert list_cache(cache) == cached
    return result


def list_cache(cache: Path) -> list[str]:
    """List a cache without the scratch folder of running processes."""
    return sorted(path.name for path in cache.glob("*") if path.name != "scratch")


def read_differences(result: CommandResult) -> list[str]:
    """Return the reported differences, without the summary line."""
    assert (result.status, result.err) == (3, "")
    *lines, last = result.out.splitlines()
    assert re.fullmatch(r"\d+ files: \d+ with other bytes", last)
    return lines


def read_causes(result: CommandResult) -> list[str]:
    """Return the reported causes, without lines about output files."""
    return [line for line in read_differences(result) if not line.startswith(("file ", "  "))]


def assert_match(lines: Sequence[str], patterns: Sequence[str]) -> None:
    """Check that each line matches its pattern."""
    assert len(lines) == len(patterns), lines
    assert [line for line, pattern in zip(lines, patterns, strict=True) if not re.fullmatch(pattern, line)] == []


def change_provenance(folder: Path, change: Any) -> None:
    """Change the content of a provenance and update its hash."""

    def change_and_rehash(provenance: Any) -> None:
        change(provenance["content"])
        provenance["hash"] = hash_content(provenance["content"])

    change_json(folder / "provenance.json", change_and_rehash)


# Unchanged builds


def test_build_of_unchanged_run_verifies(two: Path, cache: Path) -> None:
    result = run_verify(two, cache)
    assert (result.status, result.err) == (0, "")
    assert result.out == f"{len(read_contents(two))} {SAME}\n"


@pytest.mark.parametrize(
    "options",
    [
        ("--filter=unitary", "--filter=slot-leq=1100", "--style=org-2023", "--title=A & B", "--author=Ann O'Nym"),
        ("--no-filters", "--summary=mean-of-hosts"),
    ],
    ids=["filters-style-title", "no-filters-summary"],
)
def test_verify_uses_the_recorded_options(run: Path, cache: Path, options: tuple[str, ...]) -> None:
    result = run_verify(build_report(run, cache, *options), cache)
    assert (result.status, result.err) == (0, "")
    assert result.out.endswith(f" {SAME}\n")


def test_foreign_files_in_folder_stay(run: Path, cache: Path) -> None:
    out = build_report(run, cache)
    (out / "notes").mkdir()
    (out / "notes" / "mine.txt").write_text("mine\n", encoding="utf-8")
    assert run_verify(out, cache).status == 0


def test_moved_run_is_read_from_the_path_in_option(run: Path, cache: Path) -> None:
    out = build_report(run, cache)
    moved_run = run.rename(run.with_name("moved"))
    result = run_verify(out, cache)
    assert (result.status, format_message(result, {"DIR": run.parent})) == (
        1,
        "error[no-run]: the directory of run plain does not exist: DIR/run\n"
        "  hint: pass --run plain=DIR if it has moved\n",
    )
    assert run_verify(out, cache, "--run", f"plain={moved_run}").out.endswith(f" {SAME}\n")


def test_path_option_accepts_runs_of_the_report_only(run: Path, cache: Path) -> None:
    out = build_report(run, cache)
    result = run_verify(out, cache, "--run", f"plane={run}")
    assert result.status == 2
    assert (
        format_message(result, {}) == "error[run-name]: the report has no run `plane`\n  hint: did you mean `plain`?\n"
    )


def test_interrupted_verify_leaves_no_files(run: Path, cache: Path, tmp_path: Path) -> None:
    out, own_cache = build_report(run, cache), tmp_path / "own"
    command = [sys.executable, "-m", "assay", "verify", out, "--cache", own_cache]
    env = build_environment()
    with subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True) as process:
        while not list(own_cache.glob("scratch/*/*/report/.assay-*")) and process.poll() is None:
            time.sleep(0.01)
        process.terminate()
        _, errors = process.communicate()
    assert (process.returncode, errors.strip()) == (130, "interrupted")
    assert not (own_cache / "scratch").exists()


# Inputs


def test_changed_log_line_names_file_and_first_number(run: Path, cache: Path) -> None:
    change_log(run / "node-2", lambda lines: lines)
    out = build_report(run, cache)
    change_log(run / "node-2", lambda lines: lines[:-1])
    actual = read_differences(run_verify(out, cache))
    assert re.fullmatch(rf"input plain/node-2/stdout: content changed \(sha256 {HASHES}\)", actual[0])
    assert [line for line in actual[1:] if line.startswith(("input", "definition", "version"))] == []
    assert {"file results.json differs", "file report.pdf differs"} <= set(actual)
    old, new = actual[actual.index("file results.json differs") + 1 :][:2]
    place = re.match(r"  results\.json:(\d+): - ", old)
    assert place
    assert new.startswith(f"  results.json:{place[1]}: + ")
    assert old[5:] != new[5:]


#: change of a run or of the folder of its report -> patterns of the causes
CHANGES: dict[str, tuple[Callable[[Path, Path], object], list[str]]] = {
    "document": (
        lambda run, _: change_json(run / "meta.json", lambda meta: meta["meta"].update(note="another text")),
        [rf"input plain/meta\.json: content changed \(sha256 {HASHES}\)"],
    ),
    "deleted file": (lambda run, _: (run / "node-2" / "stdout").unlink(), ["input plain/node-2/stdout: gone"]),
    "added file": (
        lambda run, _: shutil.copytree(run / "node-3", run / "node-9"),
        [r"input plain/node-9/stdout\.gz: new"],
    ),
    "versions": (
        lambda _, out: change_provenance(out, lambda content: content["versions"].update(duckdb="1.4.0", other="3")),
        [r"version duckdb 2\.0\.0, was 1\.4\.0", "version other none, was 3"],
    ),
    "provenance": (
        lambda _, out: edit_file(out / "provenance.json", '"date": "2026', '"date": "2025'),
        [r"provenance\.json: its hash does not match its content"],
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_change_of_run_or_report_is_named(case: str, run: Path, cache: Path) -> None:
    change, expected = CHANGES[case]
    rotate_log(run / "node-2", ["stdout.1", "stdout"])
    out = build_report(run, cache)
    change(run, out)
    assert_match(read_causes(run_verify(out, cache)), expected)


def test_unreadable_run_is_not_rebuilt(run: Path, cache: Path) -> None:
    out = build_report(run, cache)
    (run / "meta.json").unlink()
    result = run_verify(out, cache)
    assert (result.status, result.err) == (3, "")
    assert result.out == f"input plain/meta.json: gone\nnot rebuilt: the run has no meta.json: {run}\n"


# Definitions and versions


EDITS = {
    "definition cdfPeerFetch": (
        "metrics/peers.dhall",
        "measure = elapsed at.requested at.fetched",
        "measure = elapsed at.noticed at.fetched",
    ),
    "report definition cardano/comparison": ("contents.dhall", '"Forging"', '"Forging of blocks"'),
}


@pytest.mark.parametrize("definition", EDITS)
def test_changed_definition_alone_is_named(definition: str, run: Path, cache: Path) -> None:
    workspace_root = copy_workspace(run.parent / "workspace")
    out = build_report(run, cache, root=workspace_root)
    file, old, new = EDITS[definition]
    edit_file(workspace_root / "specs/cardano" / file, old, new)
    causes = read_causes(run_verify(out, cache, root=workspace_root))
    assert_match(causes, [rf"{definition} changed \({HASHES}\)", rf"specs changed \({HASHES}\)"])


def test_changed_templates_are_named(run: Path, cache: Path) -> None:
    workspace_root = copy_workspace(run.parent / "workspace")
    shutil.copytree(ROOT / "templates", workspace_root / "templates")
    out = build_report(run, cache, root=workspace_root)
    with (workspace_root / "templates" / "report.typ").open("a", encoding="utf-8") as file:
        file.write("// another line\n")
    actual = read_differences(run_verify(out, cache, root=workspace_root))
    assert re.fullmatch(rf"templates changed \({HASHES}\)", actual[0])
    index = actual.index("file report.typ differs")
    assert actual[index + 2].endswith("+ // another line")


# Outputs


def test_edited_output_is_named_with_its_line(run: Path, cache: Path) -> None:
    out = build_report(run, cache)
    title = json.loads((out / "document.json").read_text(encoding="utf-8"))["title"]
    edit_file(out / "document.json", f'"title": "{title}"', '"title": "Forged"')
    assert read_differences(run_verify(out, cache)) == [
        "inputs, versions and definitions are unchanged",
        "file document.json differs",
        '  document.json:2: -  "title": "Forged",',
        f'  document.json:2: +  "title": "{title}",',
    ]


def test_edited_pdf_and_lost_or_added_charts_are_named(run: Path, cache: Path) -> None:
    out = build_report(run, cache)
    with (out / "report.pdf").open("ab") as file:
        file.write(b"\n")
    missing_file = sorted((out / "charts").glob("*.svg"))[0]
    missing_file.rename(out / "charts" / "more.svg")
    assert read_differences(run_verify(out, cache))[1:] == sorted(
        [
            f"file charts/{missing_file.name} is missing",
            "file charts/more.svg is no longer built",
            "file report.pdf differs",
        ]
    )


# Invalid provenance


def read_refusal(folder: Path, cache: Path, text: str) -> str:
    """Return the error for a folder whose provenance is this text."""
    folder.mkdir()
    (folder / "provenance.json").write_text(text, encoding="utf-8")
    result = run_verify(folder, cache)
    assert result.status == 1
    return format_message(result, {"DIR": folder})


def test_provenance_that_is_not_json_is_refused(tmp_path: Path, cache: Path) -> None:
    assert read_refusal(tmp_path / "a", cache, '{"format": 1,\n oops}') == (
        "error[provenance]: the provenance is not JSON: Expecting property name enclosed in double quotes\n"
        "  at DIR/provenance.json:2:2\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [('{"format": 7}', "format 7"), ("[]", "no format"), ('{"hash": "", "content": {}, "places": {}}', "no format")],
)
def test_provenance_of_unknown_format_is_refused(tmp_path: Path, cache: Path, text: str, expected: str) -> None:
    assert read_refusal(tmp_path / "a", cache, text) == (
        "error[provenance]: the provenance has an unsupported format: DIR/provenance.json\n"
        "  expected: a provenance of format 1\n"
        f"  found:    {expected}\n"
        "  hint: verify it with the version of Assay that built it\n"
    )


def test_provenance_without_a_member_is_refused(run: Path, cache: Path, tmp_path: Path) -> None:
    provenance = json.loads((build_report(run, cache) / "provenance.json").read_text(encoding="utf-8"))
    del provenance["content"]["runs"][0]["files"][0]["sha256"]
    assert read_refusal(tmp_path / "a", cache, json.dumps(provenance)) == (
        "error[provenance]: the provenance was not written by a build: DIR/provenance.json\n"
        "  found:    content.runs.0.files.0.sha256: Field required\n"
    )
    provenance["content"]["runs"] = []
    assert read_refusal(tmp_path / "b", cache, json.dumps(provenance)).endswith(
        "found:    places: does not have exactly one directory for each run\n"
    )


@pytest.mark.parametrize("name", ["/dev/zero", "../../../../etc/passwd", "a/../../b", "a\0b", ""])
def test_provenance_may_name_files_of_its_runs_only(run: Path, cache: Path, tmp_path: Path, name: str) -> None:
    provenance = json.loads((build_report(run, cache) / "provenance.json").read_text(encoding="utf-8"))
    provenance["content"]["runs"][0]["files"][0]["file"] = name
    assert read_refusal(tmp_path / "build", cache, json.dumps(provenance)) == (
        "error[provenance]: the provenance was not written by a build: DIR/provenance.json\n"
        f"  found:    runs: {json.dumps(name)} is not below the directory of a run\n"
    )


def test_input_that_became_a_folder_is_reported(run: Path, cache: Path) -> None:
    out = build_report(run, cache)
    (run / "meta.json").unlink()
    (run / "meta.json").symlink_to("/dev/zero")
    assert "input plain/meta.json: cannot be read (no regular file)" in run_verify(out, cache).out


def test_folder_without_provenance_is_refused(tmp_path: Path, cache: Path) -> None:
    hint = "  hint: pass the output folder of a build (-o)\n"
    missing_folder = tmp_path / "nowhere"
    for place, status, reason in ((tmp_path, 1, "has no provenance.json"), (missing_folder, 2, "does not exist")):
        result = run_assay("verify", place, "--cache", cache)
        assert (result.status, result.out, result.err) == (
            status,
            "",
            f"error[no-build]: the folder {reason}: {place}\n{hint}",
        )


OTHER_REPORTS = {
    "an article": (("build", "cometbft/qa", "--run", COMETBFT), "specs/cometbft/prose/results.md"),
    "a report made again": (("regenerate", PUBLISHED / "release-10.4.1.plutus.json"), ""),
    "a history": (("build", "cardano/history", "--publication", PUBLISHED), ""),
}


@pytest.mark.parametrize("report", OTHER_REPORTS)
def test_article_and_history_reports_verify(report: str, tmp_path: Path, cache: Path) -> None:
    command, prose = OTHER_REPORTS[report]
    out = tmp_path / "out"
    assert run_assay(*command, "-o", out, "--cache", cache).status == 0
    result = run_assay("verify", out, "--cache", cache)
    assert (result.status, result.err) == (0, "")
    assert result.out.endswith(" files: all the same bytes\n")
    if prose:
        workspace_root = copy_workspace(tmp_path / "workspace")
        (workspace_root / prose).write_text("Other words.\n", encoding="utf-8")
        verification = run_assay("verify", out, "--cache", cache, cwd=workspace_root)
        assert verification.status == 3
        assert "report definition cometbft/qa changed" in verification.out


def test_changed_publication_is_named(tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "release.json"
    text = (PUBLISHED / "release-10.4.1.plutus.json").read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    assert run_assay("regenerate", file, "-o", tmp_path / "out", "--cache", cache).status == 0
    file.write_text(text.replace('"5.6714"', '"5.6715"'), encoding="utf-8")
    result = run_assay("verify", tmp_path / "out", "--cache", cache)
    assert result.status == 3
    assert "input release.json: content changed" in result.out
    file.unlink()
    result = run_assay("verify", tmp_path / "out", "--cache", cache)
    assert result.status == 3
    assert "input release.json: gone" in result.out


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda data: data["content"].pop("specs"), "content.specs: Field required"),
        (lambda data: data["content"].update(versions=3), "content.versions: Input should be"),
        (lambda data: data.update(places={}), "places: does not have exactly one path for each of the publications"),
        (
            lambda data: data["places"]["publications"].append("x"),
            "places: does not have exactly one path for each of the publications",
        ),
    ],
)
def test_malformed_provenance_of_publications_is_refused(
    change: Callable[[Any], object], expected: str, tmp_path: Path, cache: Path
) -> None:
    out = tmp_path / "out"
    assert run_assay("regenerate", PUBLISHED / "release-10.4.1.plutus.json", "-o", out, "--cache", cache).status == 0
    change_json(out / "provenance.json", change)
    result = run_assay("verify", out, "--cache", cache)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("error[provenance]: the provenance was not written by a build")
    assert expected in result.err


def test_changed_edition_is_named(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "out"
    assert run_assay("regenerate", PUBLISHED / "release-10.5.4.plutus.json", "-o", out, "--cache", cache).status == 0
    workspace_root = copy_workspace(
        tmp_path / "workspace", ("specs/cardano/editions.dhall", "Binary prefixes", "New prefixes")
    )
    result = run_assay("verify", out, "--cache", cache, cwd=workspace_root)
    assert result.status == 3
    assert "definition of cardano/comparison 2026-02 changed" in result.out
