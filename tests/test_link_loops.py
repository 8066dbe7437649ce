"""Loops of symbolic links, wherever a path is followed: an error that names the path and says what it is."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import assay as package
from assay.util.paths import resolve_path
from tests.support.commands import assay

BUILD = ("build", "service/comparison", "--run", "runs/1.0", "--run", "runs/1.1", "-o", "out", "--to", "md")
QUERY = ("query", "wait", "--run")
#: the path that leads to itself, and the command that follows it
LOOPS = {
    "run": ("runs/1.0", BUILD),
    "run of a query": ("runs/1.0", (*QUERY, "runs/1.0")),
    "run of an explanation": ("runs/1.0", ("explain", "wait", "--run", "runs/1.0")),
    "document": ("runs/1.0/meta.json", (*QUERY, "runs/1.0")),
    "logs": ("runs/1.0", ("ingest", "runs/1.0")),
    "build": ("out", ("verify", "out")),
    "build to trace": ("out", ("trace", "out")),
    "state of specs": ("other", ("diff", "other", "specs")),
    "output": ("out", BUILD),
    "archive": ("r.tar.gz", ("ingest", "r.tar.gz")),
    "catalogue": ("out", ("catalogue", "-o", "out")),
    "templates": ("templates", BUILD),
    "template": ("templates/charts/cdf.vl.json", BUILD),
    "import": ("specs/service/events.dhall", ("check",)),
    "SQL": ("queries/service/requests.sql", ("check",)),
    "specs": ("specs", ("check",)),
    "system": ("specs/service", ("check",)),
    "cache": ("cache", ("check",)),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace without a committed normal form: all its specs are read."""
    place = tmp_path_factory.mktemp("loops") / "place"
    assert assay("init", place).status == 0
    shutil.rmtree(place / "golden")
    return place


@pytest.mark.parametrize("case", LOOPS)
def test_loop_of_links_is_an_error_that_names_it(case: str, workspace: Path, tmp_path: Path) -> None:
    name, words = LOOPS[case]
    place = tmp_path / "place"
    shutil.copytree(workspace, place)
    path = place / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(path.name)
    done = assay("--cache", "cache", *words, within=place)
    assert (done.status, done.out) in ((1, ""), (2, ""))
    assert done.err.startswith("error[")
    assert "a loop of symbolic links" in done.err
    assert name in done.err


def test_resolved_path_follows_links_and_names_loops(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    assert resolve_path(tmp_path / "link" / "none") == tmp_path / "folder" / "none"
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=re.escape(f"a loop of symbolic links: '{tmp_path / 'a'}'")):
        resolve_path(tmp_path / "a")


def test_code_follows_links_at_one_place() -> None:
    root = Path(package.__file__).parent
    # The Dhall evaluator knows nothing of Assay; a loop of links ends its `realpath`, and is no file then.
    own = (root / "util" / "paths.py", *(root / "dhall").glob("*.py"))
    files = [path for path in root.rglob("*.py") if path not in own]
    bare = re.compile(r"\.resolve\((strict=\w+)?\)|\brealpath\(|Path\.resolve\b")
    assert [path for path in files if bare.search(path.read_text(encoding="utf-8"))] == []
    assert bare.search((root / "util" / "paths.py").read_text(encoding="utf-8"))
