"""`assay verify`: a build made again from its own provenance, and what it says of each thing that can change."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.provenance.read import content_hash
from tests.support import commands
from tests.support.commands import Done, assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import contents, message
from tests.support.runs import changed_json, changed_log, copied, rotated
from tests.support.workspaces import edited, workspace

PUBLISHED = ROOT / "golden" / "published"
COMETBFT = ROOT / "golden" / "cometbft" / "run"
SAME = "files: all the same bytes"
HASHES = r"[0-9a-f]{12}, was [0-9a-f]{12}"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A small run that a test may change."""
    return copied("tiny/plain", tmp_path / "run")


def made(run: Path, cache: Path, *more: str, within: Path = ROOT) -> Path:
    """The folder of a report of the run, beside it."""
    out = run.parent / "report"
    done = commands.build([f"plain={run}"], out, cache, *(more or ("--no-filters",)), within=within)
    assert done.status == 0, done.err
    return out


def verified(folder: Path, cache: Path, *more: str | Path, within: Path = ROOT) -> Done:
    """What `assay verify` says of a folder, in which it changes nothing."""
    before, held = contents(folder), kept(cache)
    done = assay("verify", folder, *more, "--cache", cache, within=within)
    assert contents(folder) == before
    assert kept(cache) == held
    return done


def kept(cache: Path) -> list[str]:
    """What a cache keeps: without the room of processes that are at work, this one among them."""
    return sorted(path.name for path in cache.iterdir() if path.name != "scratch")


def differences(done: Done) -> list[str]:
    """The lines of a verification that found any, but for its last."""
    assert (done.status, done.err) == (3, "")
    *lines, last = done.out.splitlines()
    assert re.fullmatch(r"\d+ files: \d+ with other bytes", last)
    return lines


def causes(done: Done) -> list[str]:
    """The lines that tell what changed, without those about the files of the build."""
    return [line for line in differences(done) if not line.startswith(("file ", "  "))]


def changed_provenance(folder: Path, change: Any) -> None:
    """Change the content of a provenance, and let its hash be that of the new one."""

    def both(found: Any) -> None:
        change(found["content"])
        found["hash"] = content_hash(found["content"])

    changed_json(folder / "provenance.json", both)


# The same


def test_a_build_of_an_unchanged_run_is_the_same(two: Path, cache: Path) -> None:
    done = verified(two, cache)
    assert (done.status, done.err) == (0, "")
    assert done.out == f"{len(contents(two))} {SAME}\n"


@pytest.mark.parametrize(
    "chosen",
    [
        ("--filter=unitary", "--filter=slot-leq=1100", "--style=org-2023", "--title=A & B", "--author=Ann O'Nym"),
        ("--no-filters", "--summary=mean-of-hosts"),
    ],
    ids=["filters-style-title", "no-filters-summary"],
)
def test_what_was_chosen_is_chosen_again(run: Path, cache: Path, chosen: tuple[str, ...]) -> None:
    done = verified(made(run, cache, *chosen), cache)
    assert (done.status, done.err) == (0, "")
    assert done.out.endswith(f" {SAME}\n")


def test_files_of_others_in_the_folder_are_left_alone(run: Path, cache: Path) -> None:
    out = made(run, cache)
    (out / "notes").mkdir()
    (out / "notes" / "mine.txt").write_text("mine\n", encoding="utf-8")
    assert verified(out, cache).status == 0


def test_a_run_that_moved_is_found_where_the_user_says(run: Path, cache: Path) -> None:
    out = made(run, cache)
    moved = run.rename(run.with_name("moved"))
    done = verified(out, cache)
    assert (done.status, message(done, {"DIR": run.parent})) == (
        1,
        "error[no-run]: the directory of run plain is not there: DIR/run\n  hint: --run plain=DIR says where it is\n",
    )
    assert verified(out, cache, "--run", f"plain={moved}").out.endswith(f" {SAME}\n")


def test_a_place_is_only_taken_for_runs_of_the_report(run: Path, cache: Path) -> None:
    out = made(run, cache)
    done = verified(out, cache, "--run", f"plane={run}")
    assert done.status == 2
    assert message(done, {}) == "error[run-name]: the report has no run `plane`\n  hint: did you mean `plain`?\n"


def test_a_verification_that_is_ended_leaves_nothing_behind(run: Path, cache: Path, tmp_path: Path) -> None:
    out, own = made(run, cache), tmp_path / "own"
    command = [sys.executable, "-m", "assay", "verify", out, "--cache", own]
    around = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    with subprocess.Popen(command, cwd=ROOT, env=around, stderr=subprocess.PIPE, text=True) as process:
        while not list(own.glob("scratch/*/*/report/.assay-*")) and process.poll() is None:
            time.sleep(0.01)
        process.terminate()
        _, said = process.communicate()
    assert (process.returncode, said.strip()) == (130, "interrupted")
    assert not (own / "scratch").exists()


# Inputs


def test_a_changed_line_of_a_log_names_its_file_and_the_first_number_that_changed(run: Path, cache: Path) -> None:
    changed_log(run / "node-2", lambda lines: lines)
    out = made(run, cache)
    changed_log(run / "node-2", lambda lines: lines[:-1])
    found = differences(verified(out, cache))
    assert re.fullmatch(rf"input plain/node-2/stdout: content changed \(sha256 {HASHES}\)", found[0])
    assert [line for line in found[1:] if line.startswith(("input", "definition", "version"))] == []
    assert {"file results.json differs", "file report.pdf differs"} <= set(found)
    old, new = found[found.index("file results.json differs") + 1 :][:2]
    place = re.match(r"  results\.json:(\d+): - ", old)
    assert place
    assert new.startswith(f"  results.json:{place[1]}: + ")
    assert old[5:] != new[5:]


def test_a_changed_document_of_a_run_is_a_changed_input(run: Path, cache: Path) -> None:
    out = made(run, cache)
    changed_json(run / "meta.json", lambda meta: meta["meta"].update(note="another text"))
    (cause,) = causes(verified(out, cache))
    assert re.fullmatch(rf"input plain/meta\.json: content changed \(sha256 {HASHES}\)", cause)


def test_a_file_that_is_gone_is_named_and_what_is_left_is_built(run: Path, cache: Path) -> None:
    rotated(run / "node-2", ["stdout.1", "stdout"])
    out = made(run, cache)
    (run / "node-2" / "stdout").unlink()
    assert causes(verified(out, cache)) == ["input plain/node-2/stdout: gone"]


def test_a_run_that_cannot_be_analysed_any_more_is_not_rebuilt(run: Path, cache: Path) -> None:
    out = made(run, cache)
    (run / "meta.json").unlink()
    done = verified(out, cache)
    assert (done.status, done.err) == (3, "")
    assert done.out == f"input plain/meta.json: gone\nnot rebuilt: the run has no meta.json: {run}\n"


def test_a_file_that_was_not_there_is_new(run: Path, cache: Path) -> None:
    out = made(run, cache)
    shutil.copytree(run / "node-2", run / "node-9")
    assert causes(verified(out, cache)) == ["input plain/node-9/stdout.gz: new"]


# Definitions and versions


def test_a_changed_definition_is_named_and_no_other(run: Path, cache: Path) -> None:
    here = workspace(run.parent / "workspace")
    out = made(run, cache, within=here)
    edited(
        here / "specs/cardano/metrics/peers.dhall",
        "measure = elapsed at.requested at.fetched",
        "measure = elapsed at.noticed at.fetched",
    )
    first, second, *more = causes(verified(out, cache, within=here))
    assert re.fullmatch(rf"definition cdfPeerFetch changed \({HASHES}\)", first)
    assert re.fullmatch(rf"specs changed \({HASHES}\)", second)
    assert more == []


def test_a_changed_report_definition_is_no_changed_metric(run: Path, cache: Path) -> None:
    here = workspace(run.parent / "workspace")
    out = made(run, cache, within=here)
    edited(here / "specs/cardano/contents.dhall", '"Forging"', '"Forging of blocks"')
    first, second, *more = causes(verified(out, cache, within=here))
    assert re.fullmatch(rf"report definition cardano/comparison changed \({HASHES}\)", first)
    assert re.fullmatch(rf"specs changed \({HASHES}\)", second)
    assert more == []


def test_changed_templates_are_named(run: Path, cache: Path) -> None:
    here = workspace(run.parent / "workspace")
    shutil.copytree(ROOT / "templates", here / "templates")
    out = made(run, cache, within=here)
    with (here / "templates" / "report.typ").open("a", encoding="utf-8") as file:
        file.write("// another line\n")
    found = differences(verified(out, cache, within=here))
    assert re.fullmatch(rf"templates changed \({HASHES}\)", found[0])
    at = found.index("file report.typ differs")
    assert found[at + 2].endswith("+ // another line")


def test_a_changed_version_is_named_with_both(run: Path, cache: Path) -> None:
    out = made(run, cache)
    changed_provenance(out, lambda content: content["versions"].update(duckdb="1.4.0", other="3"))
    assert causes(verified(out, cache)) == ["version duckdb 2.0.0, was 1.4.0", "version other none, was 3"]


# Outputs


def test_a_tampered_file_is_named_with_the_line(run: Path, cache: Path) -> None:
    out = made(run, cache)
    title = json.loads((out / "document.json").read_text(encoding="utf-8"))["title"]
    edited(out / "document.json", f'"title": "{title}"', '"title": "Forged"')
    assert differences(verified(out, cache)) == [
        "inputs, versions and definitions are what they were",
        "file document.json differs",
        '  document.json:2: -  "title": "Forged",',
        f'  document.json:2: +  "title": "{title}",',
    ]


def test_a_tampered_pdf_a_lost_chart_and_one_too_many_are_named(run: Path, cache: Path) -> None:
    out = made(run, cache)
    with (out / "report.pdf").open("ab") as file:
        file.write(b"\n")
    gone = sorted((out / "charts").glob("*.svg"))[0]
    gone.rename(out / "charts" / "more.svg")
    assert differences(verified(out, cache))[1:] == sorted(
        [f"file charts/{gone.name} is missing", "file charts/more.svg is not made any more", "file report.pdf differs"]
    )


def test_a_tampered_provenance_is_not_that_of_its_hash(run: Path, cache: Path) -> None:
    out = made(run, cache)
    edited(out / "provenance.json", '"date": "2026', '"date": "2025')
    assert causes(verified(out, cache)) == ["provenance.json: its hash is not that of its content"]


# Provenance that is none


def refused(folder: Path, cache: Path, text: str) -> str:
    """What is said of a folder whose provenance is a text."""
    folder.mkdir()
    (folder / "provenance.json").write_text(text, encoding="utf-8")
    done = verified(folder, cache)
    assert done.status == 1
    return message(done, {"DIR": folder})


def test_a_provenance_must_be_json(tmp_path: Path, cache: Path) -> None:
    assert refused(tmp_path / "a", cache, '{"format": 1,\n oops}') == (
        "error[provenance]: the provenance is not JSON: Expecting property name enclosed in double quotes\n"
        "  at DIR/provenance.json:2:2\n"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [('{"format": 7}', "format 7"), ("[]", "no format"), ('{"hash": "", "content": {}, "places": {}}', "no format")],
)
def test_a_provenance_must_be_of_the_known_form(tmp_path: Path, cache: Path, text: str, found: str) -> None:
    assert refused(tmp_path / "a", cache, text) == (
        "error[provenance]: the provenance is of another form: DIR/provenance.json\n"
        "  expected: a provenance of format 1\n"
        f"  found:    {found}\n"
        "  hint: only what `assay` of this version built can be verified\n"
    )


def test_a_provenance_must_have_every_member(run: Path, cache: Path, tmp_path: Path) -> None:
    found = json.loads((made(run, cache) / "provenance.json").read_text(encoding="utf-8"))
    del found["content"]["runs"][0]["files"][0]["sha256"]
    assert refused(tmp_path / "a", cache, json.dumps(found)) == (
        "error[provenance]: the provenance is not what a build writes: DIR/provenance.json\n"
        "  found:    content.runs.0.files.0.sha256: Field required\n"
    )
    found["content"]["runs"] = []
    assert refused(tmp_path / "b", cache, json.dumps(found)).endswith(
        "found:    places: must name the directory of each run, and of no other\n"
    )


@pytest.mark.parametrize("name", ["/dev/zero", "../../../../etc/passwd", "a/../../b", "a\0b", ""])
def test_a_provenance_names_files_of_its_runs_alone(run: Path, cache: Path, tmp_path: Path, name: str) -> None:
    found = json.loads((made(run, cache) / "provenance.json").read_text(encoding="utf-8"))
    found["content"]["runs"][0]["files"][0]["file"] = name
    assert refused(tmp_path / "build", cache, json.dumps(found)) == (
        "error[provenance]: the provenance is not what a build writes: DIR/provenance.json\n"
        f"  found:    runs: {json.dumps(name)} is no file of a run\n"
    )


def test_a_file_that_is_no_file_now_is_told(run: Path, cache: Path) -> None:
    out = made(run, cache)
    (run / "meta.json").unlink()
    (run / "meta.json").symlink_to("/dev/zero")
    assert "input plain/meta.json: cannot be read (no regular file)" in verified(out, cache).out


def test_a_folder_without_a_provenance_is_no_build(tmp_path: Path, cache: Path) -> None:
    hint = "  hint: name the folder that a report was built into (-o)\n"
    nowhere = tmp_path / "nowhere"
    for place, status, said in ((tmp_path, 1, "holds no provenance.json"), (nowhere, 2, "does not exist")):
        done = assay("verify", place, "--cache", cache)
        assert (done.status, done.out, done.err) == (status, "", f"error[no-build]: the folder {said}: {place}\n{hint}")


MADE_OTHERWISE = {
    "an article": (("build", "cometbft/qa", "--run", COMETBFT), "specs/cometbft/prose/issues.md"),
    "a report made again": (("regenerate", PUBLISHED / "release-10.4.1.plutus.json"), ""),
    "a history": (("build", "cardano/history", "--publication", PUBLISHED), ""),
}


@pytest.mark.parametrize("what", MADE_OTHERWISE)
def test_other_reports_are_verified_too(what: str, tmp_path: Path, cache: Path) -> None:
    command, prose = MADE_OTHERWISE[what]
    out = tmp_path / "out"
    assert assay(*command, "-o", out, "--cache", cache).status == 0
    done = assay("verify", out, "--cache", cache)
    assert (done.status, done.err) == (0, "")
    assert done.out.endswith(" files: all the same bytes\n")
    if prose:
        within = workspace(tmp_path / "workspace")
        (within / prose).write_text("Other words.\n", encoding="utf-8")
        changed = assay("verify", out, "--cache", cache, within=within)
        assert changed.status == 3
        assert "report definition cometbft/qa changed" in changed.out


def test_a_publication_that_changed_is_named(tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "release.json"
    text = (PUBLISHED / "release-10.4.1.plutus.json").read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    assert assay("regenerate", file, "-o", tmp_path / "out", "--cache", cache).status == 0
    file.write_text(text.replace('"5.6714"', '"5.6715"'), encoding="utf-8")
    done = assay("verify", tmp_path / "out", "--cache", cache)
    assert done.status == 3
    assert "input release.json: content changed" in done.out
    file.unlink()
    done = assay("verify", tmp_path / "out", "--cache", cache)
    assert done.status == 3
    assert "input release.json: gone" in done.out


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda data: data["content"].pop("specs"), "content.specs: Field required"),
        (lambda data: data["content"].update(versions=3), "content.versions: Input should be"),
        (lambda data: data.update(places={}), "places: must name each publication file, and no other"),
        (
            lambda data: data["places"]["publications"].append("x"),
            "places: must name each publication file, and no other",
        ),
    ],
)
def test_a_provenance_of_publications_that_is_none_is_refused(
    change: Callable[[Any], object], found: str, tmp_path: Path, cache: Path
) -> None:
    out = tmp_path / "out"
    assert assay("regenerate", PUBLISHED / "release-10.4.1.plutus.json", "-o", out, "--cache", cache).status == 0
    changed_json(out / "provenance.json", change)
    done = assay("verify", out, "--cache", cache)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error[provenance]: the provenance is not what a build writes")
    assert found in done.err


def test_a_changed_edition_is_named(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "out"
    assert assay("regenerate", PUBLISHED / "release-10.5.4.plutus.json", "-o", out, "--cache", cache).status == 0
    within = workspace(tmp_path / "workspace", ("specs/cardano/editions.dhall", "Binary prefixes", "New prefixes"))
    done = assay("verify", out, "--cache", cache, within=within)
    assert done.status == 3
    assert "definition of cardano/comparison 2026-02 changed" in done.out
