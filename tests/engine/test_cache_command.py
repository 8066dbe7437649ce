"""Test `assay cache`: listing sizes and pruning."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.engine.pruning import Entry, Limits, select_surplus
from assay.engine.result_cache import get_default_folder
from assay.ingest import fingerprint
from assay.util.scratch import clean_up, get_process_folder
from tests.support.commands import CommandResult, build_environment, run_assay
from tests.support.outcomes import read_contents


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a workspace and build its report; the cache next to it has hashes of new files, too."""
    monkeypatch.setattr(fingerprint, "SETTLED", 0)
    assert run_assay("init", tmp_path / "place").status == 0
    assert build_report(tmp_path / "place").status == 0
    return tmp_path / "place"


def build_report(place: Path) -> CommandResult:
    runs = ("--run", "runs/1.0", "--run", "runs/1.1")
    return run_assay("build", "service/comparison", *runs, "-o", "out", "--cache", "../cache", cwd=place)


def read_bytes_by_kind(cache: Path) -> dict[str, int]:
    result = run_assay("cache", "--cache", cache, "--format", "csv")
    assert (result.status, result.err) == (0, "")
    return {line.split(",")[0]: int(line.split(",")[2]) for line in result.out.splitlines()[1:]}


def compute_disk_usage(*folders: Path) -> int:
    """Return the bytes on disk of all files, counting each inode once."""
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sum({path.stat().st_ino: path.stat().st_blocks * 512 for path in paths}.values())


def test_cache_size_is_listed_by_kind(place: Path) -> None:
    cache = place.parent / "cache"
    sizes = read_bytes_by_kind(cache)
    assert list(sizes) == ["logs", "results", "reports", "specs", "mirrors", "all"]
    memo = (cache / "files.json").stat().st_blocks * 512
    assert sizes["all"] == sum(sizes.values()) - sizes["all"] == compute_disk_usage(cache) - memo
    assert sizes["logs"] == compute_disk_usage(cache / "ingest", cache / "batches")
    assert sizes["logs"] < compute_disk_usage(cache / "ingest") + compute_disk_usage(
        cache / "batches"
    )  # ingested runs and batches share files
    listing = run_assay("cache", "--cache", cache)
    assert listing.out.splitlines()[0] == str(cache)


def test_whole_cache_is_removed_and_rebuilt(place: Path) -> None:
    before = read_contents(place / "out")
    result = run_assay("cache", "prune", "--all", "--cache", place.parent / "cache")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("removed ")
    assert read_bytes_by_kind(place.parent / "cache")["all"] == 0
    assert sorted(path.name for path in (place.parent / "cache").iterdir() if path.is_file()) == ["files.json"]
    assert build_report(place).status == 0
    assert read_contents(place / "out") == before


def test_long_unused_entries_are_removed(place: Path) -> None:
    cache = place.parent / "cache"
    old_time = time.time() - 40 * 86400
    for path in [*cache.glob("ingest/*/*"), *cache.glob("rendered/*")]:
        os.utime(path, (old_time, old_time))
    result = run_assay("cache", "prune", "--older-than", "30d", "--dry-run", "--cache", cache)
    assert result.out.startswith("would remove 3 entries, ")
    assert len(list(cache.glob("ingest/*/*"))) == 2
    assert run_assay("cache", "prune", "--older-than", "30d", "--cache", cache).out.startswith("removed 3 entries, ")
    assert not [*cache.glob("ingest/*"), *cache.glob("rendered/*")]
    assert list(cache.glob("results/*"))


def test_used_entry_gets_a_new_time(place: Path) -> None:
    cache = place.parent / "cache"
    old_time = time.time() - 40 * 86400
    for path in [*cache.glob("ingest/*/*"), *cache.glob("rendered/*"), *cache.glob("results/*")]:
        os.utime(path, (old_time, old_time))
    assert build_report(place).status == 0
    prune_result = run_assay("cache", "prune", "--older-than", "30d", "--cache", cache)
    assert prune_result.out == "removed 0 entries, 0 B\n"


def test_oldest_entries_are_removed_until_size_fits() -> None:
    entries = [
        Entry("logs", Path("a"), 1.0, ((1, 100), (2, 50))),
        Entry("logs", Path("b"), 2.0, ((2, 50), (3, 10))),
        Entry("logs", Path("c"), 3.0, ((4, 5),)),
    ]
    assert [item.path.name for item in select_surplus(entries, Limits(size=165))] == []
    assert [item.path.name for item in select_surplus(entries, Limits(size=164))] == ["a"]
    assert [item.path.name for item in select_surplus(entries, Limits(size=65))] == ["a"]
    assert [item.path.name for item in select_surplus(entries, Limits(size=64))] == ["a", "b"]
    assert [item.path.name for item in select_surplus(entries, Limits(since=2.0, size=64))] == ["a", "b"]
    assert [item.path.name for item in select_surplus(entries, Limits(since=2.5))] == ["a", "b"]
    assert [item.path.name for item in select_surplus(entries, Limits(size=0))] == ["a", "b", "c"]


def test_prune_waits_for_commands_that_use_the_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    get_process_folder(cache)
    command = [sys.executable, "-m", "assay", "cache", "prune", "--all", "--cache", str(cache)]
    env = build_environment()
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    assert process.stderr.readline() == f"waiting for other assay commands that work with {cache}\n"
    clean_up(cache)
    assert process.communicate() == ("removed 0 entries, 0 B\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            (),
            "error[prune]: no option selects the entries to remove\n"
            "  hint: pass --older-than 30d, --to-size 5GB, or --all\n",
        ),
        (
            ("--older-than", "soon"),
            "error[prune]: invalid time `soon` of --older-than\n  expected: a number with m, h, d or w, as in 30d\n",
        ),
        (
            ("--to-size", "5"),
            "error[prune]: invalid size `5` of --to-size\n  expected: a number with its unit, as in 5GB or 500MiB\n",
        ),
        (
            ("--all", "--to-size", "5GB"),
            "error[prune]: --all and --to-size exclude each other\n  hint: pass one of them\n",
        ),
        (
            ("--older-than", "30d", "--all"),
            "error[prune]: --all and --older-than exclude each other\n  hint: pass one of them\n",
        ),
    ],
)
def test_prune_without_option_is_refused(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run_assay("cache", "prune", *words, "--cache", tmp_path)
    assert (result.status, result.err) == (2, message)


def test_prune_of_other_folder_removes_only_own_files(tmp_path: Path) -> None:
    place = tmp_path / "place"
    assert run_assay("init", place).status == 0
    for name in ("results/mine.txt", "scratch/my work/notes.txt", "mirror/a/b"):
        (place / name).parent.mkdir(parents=True)
        (place / name).write_text("mine", encoding="utf-8")
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert run_assay("query", "wait", "--run", "runs/1.0", "--cache", ".", cwd=place).status == 0
    assert run_assay("cache", "prune", "--all", "--cache", ".", cwd=place).status == 0
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}.items() >= before.items()
    assert not list(place.glob("ingest/*/*"))


@pytest.mark.parametrize(
    ("cache_home", "home", "place"),
    [("/c", "/h", "/c/assay"), ("c", "/h", "/h/.cache/assay"), ("", "/h", "/h/.cache/assay"),
     ("", "", "USER/.cache/assay"), ("", "h", "USER/.cache/assay")],
)  # fmt: skip
def test_cache_is_in_the_users_cache_folder(
    monkeypatch: pytest.MonkeyPatch, cache_home: str, home: str, place: str
) -> None:
    """It is never below the working directory or the root."""
    monkeypatch.setenv("XDG_CACHE_HOME", cache_home)
    monkeypatch.setenv("HOME", home)
    assert get_default_folder() == Path(place.replace("USER", pwd.getpwuid(os.getuid()).pw_dir))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_user_without_home_needs_a_cache_option(tmp_path: Path) -> None:
    number = next(number for number in range(54321, 65000) if number not in {item.pw_uid for item in pwd.getpwall()})
    print_error = (
        "from assay.engine.result_cache import get_default_folder\n"
        "try: get_default_folder()\nexcept Exception as error: print(error)"
    )
    change_user = f"import os; os.setuid({number}); os.environ.clear()"
    command = [sys.executable, "-c", f"import assay.engine.result_cache\n{change_user}\n{print_error}"]
    env = build_environment()
    result = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (result.stderr, result.stdout) == ("", (
        "error[cache]: this user has no home folder for a cache\n"
        "  hint: pass --cache DIR, or set HOME or XDG_CACHE_HOME\n"
    ))  # fmt: skip
