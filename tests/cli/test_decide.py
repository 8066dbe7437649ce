"""`assay decide` and `assay bisect` run real commands until they know."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.commands import run_assay

#: writes a run whose waiting time is `level` ms, with noise that depends on the name of the run only
BENCH = """
import json, os, random, sys
level, place = float(sys.argv[1]), os.environ["ASSAY_RUN"]
level *= random.Random(os.path.basename(place)).gauss(1, 0.01)
os.makedirs(f"{place}/web-1")
open(f"{place}/meta.json", "w").write('{"version": "1"}')
with open(f"{place}/web-1/log.jsonl", "w") as log:
    for i in range(20):
        for event, ms in ("request.received", 0), ("work.started", level + i % 3), ("response.sent", 50):
            time = f"2026-01-01T00:00:{i:02d}.{round(1000 * ms):06d}Z"
            data = {"request": f"r{i}"} | ({"bytes": 512} if event == "response.sent" else {})
            log.write(json.dumps({"time": time, "event": event, "data": data}) + chr(10))
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with a benchmark."""
    folder = tmp_path_factory.mktemp("decide") / "shop"
    assert run_assay("init", folder).status == 0
    (folder / "bench.py").write_text(BENCH, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("base", "candidate", "options", "status", "text"),
    [
        ("10", "11", (), 4, "wait: worse after 4 pairs of runs: +"),
        ("10", "8", (), 0, "wait: better after 4 pairs of runs: -"),
        ("10", "10", (), 0, "wait: same within 2 % after "),
        ("10", "11", ("--max-runs", "6"), 1, "error[undecided]: wait: cannot tell after 3 pairs of runs: +"),
        ("10", "11", ("--max-minutes", "0.000001"), 1, "error[undecided]: the time ended before both commands"),
        ("10", "no-number", (), 1, "error[command]: the candidate command ended with status 1: "),
        ("10", "0", (), 1, "error[no-ratio]: "),
    ],
    ids=["worse", "better", "same", "few", "late", "fails", "no average"],
)  # fmt: skip
def test_commands_run_until_decided(
    base: str, candidate: str, options: tuple[str, ...], status: int, text: str, shop: Path, tmp_path: Path
) -> None:
    commands = ("--base", f"python bench.py {base}", "--candidate", f"python bench.py {candidate}")
    if candidate == "0":
        commands = (
            *commands[:3],
            "python bench.py 0 && cd $ASSAY_RUN/web-1 && grep -v started log.jsonl > x && mv x log.jsonl",
        )
    result = run_assay("decide", *commands, "--metric", "wait", "-o", tmp_path / "runs", *options, cwd=shop)
    assert result.status == status
    assert text in result.out + result.err


def test_finished_runs_count_and_are_registered(shop: Path, tmp_path: Path) -> None:
    out, results = tmp_path / "runs", tmp_path / "results"

    def decide(*options: str | Path, base: str = "10") -> tuple[int, str]:
        commands = ("--base", f"python bench.py {base}", "--candidate", "python bench.py 11")
        result = run_assay("decide", *commands, "--metric", "wait", "-o", out, "--results", results, *options, cwd=shop)
        return result.status, result.err

    assert decide("--max-runs", "4")[0] == 1
    (out / "base-3.part").mkdir()  # a stop within a run
    status, messages = decide("--format", "json")
    assert (status, [line.split()[0] for line in messages.splitlines()]) == (
        4, ["base-3", "candidate-3", "candidate-4", "base-4"],
    )  # fmt: skip
    assert decide()[1] == ""
    listing = run_assay("runs", "list", "--results", results, "--format", "csv").out
    assert listing.count("runs-base-") == listing.count("runs-candidate-") == 4
    status, messages = decide(base="12")
    assert (status, messages.splitlines()[0]) == (
        2,
        f"error[command-runs]: the folder has runs of other commands: {out}",
    )


def _run_git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=n@example.org")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_bisect_finds_the_commit_that_made_it_worse(shop: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    _run_git(repository, "init", "--quiet")
    for number, level in enumerate(["10", "10", "fails", "10", "12", "12"]):
        (repository / "level").write_text(f"{level}\n{number}\n", encoding="utf-8")
        _run_git(repository, "add", "level")
        _run_git(repository, "commit", "--quiet", "--message", f"Change {number}")
    commits = _run_git(repository, "rev-list", "--reverse", "HEAD").split()

    def bisect(*commits: str) -> tuple[int, str, str]:
        measure = f"python {shop / 'bench.py'} $(head -n 1 level)"
        result = run_assay(
            "bisect", *commits, "--measure", measure, "--metric", "wait", "--repository", repository,
            "-o", tmp_path / "runs", cwd=shop,
        )  # fmt: skip
        return result.status, result.out, result.err

    status, out, messages = bisect(commits[0])
    assert (status, out) == (0, f"first worse commit: {commits[4]} Change 4\n")
    assert f"{commits[5][:12]} Change 5: bad, +" in messages
    status, _, messages = bisect(commits[0], commits[3])
    assert (status, f"`{commits[3]}` is not worse than `{commits[0]}`" in messages) == (1, True)
    assert _run_git(repository, "worktree", "list").count("\n") == 0
