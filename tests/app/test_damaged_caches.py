"""Test that commands ignore and replace damaged cache entries."""

from __future__ import annotations

import shutil
import tarfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from assay.app.session.inputs import SETTLED
from tests.support.commands import CommandResult, run_assay
from tests.support.damages import COUNT, damage_cache
from tests.support.laboratory import DATE
from tests.support.outcomes import read_contents

RUNS = ("--run", "1.0=runs/1.0", "--run", "1.1=runs/1.1")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "build": ("build", "service/comparison", *RUNS, "--date", DATE, "--to", "html", "--to", "md", "-o"),
    "query": ("query", "wait", *RUNS, "--format", "json"),
    "ingest": ("ingest", "runs/1.0"),
    "explain": ("explain", "wait", "--run", "1.0=runs/1.0"),
    "check": ("check",),
    "archive": ("query", "work", "--run", "1.0=runs.tar.gz", "--format", "json"),
    "catalogue": ("catalogue", "-o"),
}
#: kind of damaged entry -> the command that reads it
READERS = {"answers": "query", "runs": "ingest", "checks": "check", "specs": "check", "mirror": "archive"}


def run_command(name: str, place: Path, cache: Path, out: Path) -> tuple[int, str, str, dict[str, bytes]]:
    """Return status, messages (without paths of cache and output) and files of a command."""
    command = COMMANDS[name]
    result: CommandResult = run_assay(*command, *([out] if command[-1] == "-o" else []), "--cache", cache, cwd=place)
    texts = [text.replace(str(cache), "CACHE").replace(str(out), "OUT") for text in (result.out, result.err)]
    files = read_contents(Path(result.out.strip())) if name == "ingest" and result.status == 0 else read_contents(out)
    shutil.rmtree(out, ignore_errors=True)
    return result.status, texts[0], texts[1], files


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace without a committed normal form, and fill its cache."""
    folder = tmp_path_factory.mktemp("damages") / "place"
    assert run_assay("init", folder).status == 0
    shutil.rmtree(folder / "golden")
    with tarfile.open(folder / "runs.tar.gz", "w:gz") as archive:
        archive.add(folder / "runs" / "1.0", "1.0")
    time.sleep(SETTLED / 1e9)  # a build of files that have just changed is not cached
    for name in COMMANDS:
        assert run_command(name, folder, folder / "cache", folder / "out")[0] == 0
    return folder


@pytest.fixture(scope="module")
def expected_results(place: Path) -> dict[str, tuple[int, str, str, dict[str, bytes]]]:
    """Return the result of every command with the undamaged cache."""
    return {name: run_command(name, place, place / "cache", place / "out") for name in COMMANDS}


@pytest.mark.parametrize("number", range(COUNT))
def test_command_after_damage_yields_the_same(
    number: int, place: Path, expected_results: dict[str, tuple[int, str, str, dict[str, bytes]]], tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(place / "cache", cache)
    damage = damage_cache(cache, number)
    kind = damage.split()[1].partition("/")[0]
    names = sorted(COMMANDS)
    command = READERS.get(kind, ("build", "query", names[number % len(names)])[number % 3])
    for attempt in ("first", "second"):
        actual = run_command(command, place, cache, tmp_path / "out")
        assert actual == expected_results[command], f"{attempt} `{command}` after: {damage}"


def test_cache_of_damage_test_has_every_kind(place: Path) -> None:
    kinds = {path.name for path in (place / "cache").iterdir()}
    folders = {
        "answers",
        "batches",
        "builds",
        "checks",
        "drawings",
        "ingest",
        "mirror",
        "rendered",
        "results",
        "runs",
        "specs",
    }
    assert kinds >= {"files.json", *folders}


@pytest.mark.parametrize("target", ["nothing", "entry", "."])
def test_cache_with_links_for_entries_is_listed_and_pruned(target: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for kind in ("results", "builds", "ingest/key", "batches/key"):
        (cache / kind).mkdir(parents=True)
        name = "0" * 64
        (cache / kind / name).symlink_to(name if target == "entry" else target)
    listing = run_assay("cache", "--cache", cache, "--format", "csv")
    assert (listing.status, listing.err) == (0, "")
    result = run_assay("cache", "prune", "--older-than", "0d", "--cache", cache)
    assert (result.status, result.err) == (0, "")
    assert [path for path in cache.rglob("*") if path.is_symlink()] == []


@pytest.mark.parametrize("place_file", [Path.touch, lambda path: path.symlink_to("nothing")], ids=["file", "link"])
def test_file_in_place_of_scratch_folder_is_replaced(
    place_file: Callable[[Path], None], place: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    place_file(cache / "scratch")
    result = run_assay(*COMMANDS["query"], "--cache", cache, cwd=place)
    assert (result.status, result.err) == (0, "")
    assert not (cache / "scratch").is_file()
