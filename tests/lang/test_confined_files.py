"""Test that untrusted specs, templates and normal forms reach neither other files nor the network."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from assay.lang.workspace import Workspace
from assay.report.charts.render import load_template
from assay.report.prose import ProseScope, read_prose_file
from assay.report.render.pdf import PROXIES, UNREACHABLE_PROXY, typeset_pdf
from assay.util.diagnostics import AssayError
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file


def _write_secret(folder: Path) -> Path:
    place = folder / "secret.md"
    place.write_text("What nobody is to read.\n", encoding="utf-8")
    return place


def test_prose_link_out_of_workspace_is_not_read(tmp_path: Path, cache: Path) -> None:
    workspace = tmp_path / "workspace"
    for name in ("specs", "queries"):
        shutil.copytree(ROOT / name, workspace / name)
    prose = workspace / "specs" / "cometbft" / "prose" / "results.md"
    prose.unlink()
    prose.symlink_to(_write_secret(tmp_path))
    result = run_assay("check", "--system", "cometbft", "--cache", cache, cwd=workspace)
    message = "error[prose]: a link points outside the workspace\n  at specs/cometbft/prose/results.md"
    assert (result.status, result.out, result.err.strip()) == (1, "", message)


def test_prose_link_within_workspace_is_read(tmp_path: Path, cache: Path) -> None:
    workspace = tmp_path / "workspace"
    for name in ("specs", "queries"):
        shutil.copytree(ROOT / name, workspace / name)
    prose = workspace / "specs" / "cometbft" / "prose" / "results.md"
    prose.rename(workspace / "specs" / "moved.md")
    prose.symlink_to(workspace / "specs" / "moved.md")
    assert run_assay("check", "--system", "cometbft", "--cache", cache, cwd=workspace).status == 0


@pytest.mark.parametrize("name", ["report/front.typ", "fonts"])
def test_template_link_out_of_workspace_is_not_read(tmp_path: Path, name: str) -> None:
    workspace = Workspace(tmp_path / "workspace")
    templates, outside_folder = workspace.root / "templates", tmp_path / "elsewhere"
    shutil.copytree(ROOT / "templates", templates)
    assert workspace.find_templates() == templates
    (templates / name).rename(outside_folder)
    (templates / name).symlink_to(outside_folder)
    with pytest.raises(AssayError) as error:
        _ = workspace.find_templates()
    message = f"error[template]: a link points outside the workspace\n  at {templates / name}"
    assert str(error.value) == message


def test_template_in_linked_folder_outside_is_not_read(tmp_path: Path) -> None:
    place = tmp_path / "workspace"
    assert run_assay("init", place).status == 0
    templates, shared_folder = place / "templates", place / "shared" / "report"
    shutil.copytree(ROOT / "templates", templates)
    shared_folder.parent.mkdir()
    (templates / "report").rename(shared_folder)
    (templates / "report").symlink_to("../shared/report")
    (shared_folder / "extra.typ").symlink_to(_write_secret(tmp_path))
    command = ("build", "service/comparison", "--run", "runs/1.0", "-o", "out", "--cache", tmp_path / "cache")
    result = run_assay(*command, cwd=place)
    message = (
        f"error[template]: a link points to a folder\n  at {templates / 'report'}\n"
        "  hint: use the folder itself, or links to its files\n"
    )
    assert (result.status, result.out, result.err) == (1, "", message)
    assert not (place / "out").exists()


def test_template_link_within_workspace_is_read(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace")
    templates = workspace.root / "templates"
    shutil.copytree(ROOT / "templates", templates)
    (templates / "report" / "front.typ").rename(workspace.root / "front.typ")
    (templates / "report" / "front.typ").symlink_to("../../front.typ")
    assert workspace.find_templates() == templates


def test_templates_folder_may_be_elsewhere(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace")
    workspace.root.mkdir()
    (workspace.root / "templates").symlink_to(ROOT / "templates")
    assert workspace.find_templates() == workspace.root / "templates"


# Forged normal forms


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Create a workspace with a normal form."""
    folder = tmp_path / "place"
    assert run_assay("init", folder).status == 0
    assert run_assay("check", "--accept", "--cache", tmp_path / "cache", cwd=folder).status == 0
    return folder


def forge(place: Path, old: str, new: str) -> None:
    """Replace text in the normal form and update its hash."""
    form = place / "golden" / "specs" / "service.yaml"
    *head, _, body = form.read_text(encoding="utf-8").split("\n", 3)
    assert old in body
    body = body.replace(old, new)
    digest = hashlib.sha256(body.encode()).hexdigest()
    form.write_text("\n".join([*head, f"content: {digest}", body]), encoding="utf-8")


def test_forged_normal_form_writes_no_file(place: Path, tmp_path: Path) -> None:
    forge(place, "path: web-1/log.jsonl", "path: ../../../../../../../../.." + str(tmp_path / "made.jsonl"))
    result = run_assay("--cache", tmp_path / "other", "test", cwd=place)
    assert (result.status, result.err) == (0, "")
    assert not (tmp_path / "made.jsonl").exists()


def test_forged_normal_form_reads_no_file(place: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text((place / "runs" / "1.0" / "meta.json").read_text(encoding="utf-8"), encoding="utf-8")
    (place / "runs" / "1.0" / "meta.json").unlink()
    forge(place, "- meta.json", f"- {secret}")
    result = run_assay("query", "wait", "--run", "runs/1.0", "--cache", tmp_path / "other", cwd=place)
    assert result.status == 1
    assert "the run has no meta.json" in result.err


def test_forged_definition_is_not_used(place: Path, tmp_path: Path) -> None:
    form = (place / "golden" / "specs" / "service.yaml").read_text(encoding="utf-8")
    definition = form.split("definition: ", 1)[1].split("\n", 1)[0]
    forge(place, definition, "0" * len(definition))
    result = run_assay("explain", "response_size", "--format", "json", "--cache", tmp_path / "other", cwd=place)
    assert result.status == 0, result.err
    assert definition in result.out
    assert "0" * len(definition) not in result.out


@pytest.mark.parametrize("body", ["", "a", ": [", "package: {}", "package: !!python/object:os.system {}"])
def test_empty_normal_form_is_ignored(place: Path, tmp_path: Path, body: str) -> None:
    form = place / "golden" / "specs" / "service.yaml"
    head = form.read_text(encoding="utf-8").split("\n", 3)[:2]
    digest = hashlib.sha256(body.encode()).hexdigest()
    form.write_text("\n".join([*head, f"content: {digest}", body]), encoding="utf-8")
    result = run_assay("list", "metrics", "--cache", tmp_path / "other", cwd=place)
    assert (result.status, result.err) == (0, "")


@pytest.mark.parametrize("target", ["golden", "golden/specs", "golden/specs/service.yaml", "golden/sql"])
def test_normal_form_is_not_written_through_link_outside(place: Path, tmp_path: Path, target: str) -> None:
    (place / target).rename(tmp_path / "elsewhere")
    (place / target).symlink_to(tmp_path / "elsewhere")
    before = {path: path.read_bytes() for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()}
    result = run_assay("check", "--accept", "--cache", tmp_path / "cache", cwd=place)
    assert result.status == 1
    assert result.err.startswith("error[accept]: a link points outside the workspace\n  at ")
    assert {path: path.read_bytes() for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()} == before


# Templates and the network


@pytest.mark.parametrize("package", ['"@preview/example:0.1.0"', '("@pre" + "view/example:0.1.0")'])
def test_typst_downloads_no_packages(tmp_path: Path, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    before = {name: os.environ.get(name) for name in PROXIES}
    (tmp_path / "report.typ").write_text(f"#import {package}: add\n", encoding="utf-8")
    with pytest.raises(AssayError) as error:
        typeset_pdf(tmp_path, ROOT / "templates" / "fonts", "2026-01-01")
    message = str(error.value)
    assert message.startswith("error[typesetting]: Typst cannot typeset the report: a template imports a package\n")
    assert message.endswith("\n  hint: copy the files of the package into the templates")
    assert "refused" in message  # no server listens at port 9, and no name was resolved
    assert UNREACHABLE_PROXY.startswith("http://127.0.0.1")
    assert {name: os.environ.get(name) for name in PROXIES} == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nojson", "the chart template is not JSON: Expecting value"),
        ("[]", "the chart template has no `usermeta.assay`"),
        ('"x"', "the chart template has no `usermeta.assay`"),
        ("{}", "the chart template has no `usermeta.assay`"),
        ('{"usermeta": {}}', "the chart template has no `usermeta.assay`"),
    ],
)
def test_invalid_chart_template_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    place = tmp_path / "charts" / "cdf.vl.json"
    place.parent.mkdir()
    place.write_text(text, encoding="utf-8")
    with pytest.raises(AssayError) as error:
        load_template(tmp_path, "cdf")
    assert str(error.value).startswith(f"error[template]: {message}\n  at {place}")


# Slow texts


@pytest.fixture
def braces(tmp_path: Path) -> Path:
    """Return a text of unclosed quotes only."""
    place = tmp_path / "braces.md"
    place.write_text("{{" * 200_000, encoding="utf-8")
    return place


def test_prose_of_many_unclosed_quotes_terminates(braces: Path) -> None:
    """Regression: it took an hour."""
    assert read_prose_file(braces, "braces.md", ProseScope(None), []).quotes == ()  # type: ignore[arg-type]


# Text for the terminal


HIDDEN = "a\x1b]0;PWN\x07\x1b[31m\u202ered\x9b"
ESCAPED_NAME = "a\\x1b]0;PWN\\x07\\x1b[31m\\u202ered\\x9b"


def test_error_escapes_control_characters(place: Path, tmp_path: Path) -> None:
    result = run_assay("query", HIDDEN, "--run", "runs/1.0", "--cache", tmp_path / "cache", cwd=place)
    assert result.err.startswith(f"error[unknown-metric]: there is no metric `{ESCAPED_NAME}`")
    message = run_assay("--errors", "json", "query", HIDDEN, "--run", "runs/1.0", cwd=place).err
    assert not set(HIDDEN) & set("\x1b\x07\u202e\x9b") & set(message)


def test_warning_escapes_control_characters(place: Path, tmp_path: Path) -> None:
    package = place / "specs" / "service" / "package.dhall"
    check = (
        '{ code = "odd", sql = "SELECT host FROM request_keys ORDER BY host LIMIT 1", uses = [ "request_keys" ], '
        'message = "\\u001b]0;PWN\\u0007 {host}", hint = "", severity = "warning" }'
    )
    edit_file(package, "[ request.relation ]", f"[ request.relation // {{ checks = [ {check} ] }} ]")
    command = ("build", "service/comparison", "--run", "runs/1.0", "-o", tmp_path / "out", "--to", "md")
    result = run_assay(*command, "--cache", tmp_path / "cache", cwd=place)
    assert result.status == 0, result.err
    assert "\\x1b]0;PWN\\x07 web-" in result.err
    assert not {"\x1b", "\x07"} & set(result.err)
