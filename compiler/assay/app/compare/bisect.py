"""Find the commit that made a metric worse, by `git bisect` with `assay decide` as its test (`assay bisect`)."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.app.compare.command_runs import CommandRuns, MeasuringCommand
from assay.app.compare.decide import Budget, Decision, iter_decisions
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.judgement.verdict import Verdict
from assay.util.diagnostics import USAGE, AssayError, fail

_DONE = "is the first bad commit"
_UNTESTABLE = "There are only 'skip'ped commits left to test"


@dataclass(frozen=True, slots=True)
class Search:
    """What to search: commits from `good` to `bad` of a repository, measured by a command run in a checkout of each.

    `register` is called with the folder of each new run, `report` with each tested commit, the bad one first.
    """

    repository: Path
    good: str
    bad: str
    command: str
    folder: Path
    register: Callable[[Path], None]
    report: Callable[[TestedCommit], None]


@dataclass(frozen=True, slots=True)
class TestedCommit:
    """A commit, its subject, and the decision against the good one; `problem` says why there is none.

    `is_bad` is None if the commit cannot be decided.
    """

    commit: str
    subject: str
    decision: Decision | None
    problem: str
    is_bad: bool | None


def bisect_commits(session: Session, search: Search, selection: Selection, budget: Budget) -> tuple[TestedCommit, ...]:
    """Return the first commit with more than half of the change of the bad one; several if some cannot be decided.

    The user's checkout does not change: both versions are measured in work trees of their own. Raises AssayError, also
    if the bad commit is not worse.
    """
    good, bad = (_read_git(search.repository, "rev-parse", "--verify", f"{item}^{{commit}}")
                 for item in (search.good, search.bad))  # fmt: skip
    with _add_work_trees(search.repository, good, bad) as (good_tree, tree):

        def test(commit: str, is_bad: Callable[[Decision], bool | None]) -> TestedCommit:
            """Measure a commit against the good one, until it is known on which side it is."""
            runs = CommandRuns(
                search.folder / commit[:12],
                MeasuringCommand(search.command, good, good_tree),
                MeasuringCommand(search.command, commit, tree),
                search.register,
            )
            decision, problem = None, "the time ended"
            try:
                for item in iter_decisions(session, runs, selection, budget, lambda item: is_bad(item) is not None):
                    decision, problem = item, ""
            except AssayError as error:
                decision, problem = None, error.diagnostics[0].message
            subject = _read_git(tree, "log", "-1", "--format=%s", commit)
            tested = TestedCommit(commit, subject, decision, problem, is_bad(decision) if decision else None)
            search.report(tested)
            return tested

        whole = test(bad, _is_worse)
        if not whole.is_bad or whole.decision is None:
            raise fail("bisect", f"`{search.bad}` is not worse than `{search.good}`", expected="worse",
                       found=whole.decision.verdict.value if whole.decision else whole.problem,
                       hint="pass a greater budget, or other commits")  # fmt: skip
        half = whole.decision.change.percent / 2
        tested_commits = {bad: whole}
        output = _run_git(tree, "bisect", "start", bad, good)
        while _DONE not in output and _UNTESTABLE not in output:
            commit = _read_git(tree, "rev-parse", "HEAD")
            tested = test(commit, lambda decision: decision.change.is_beyond(half, decision.level))
            tested_commits[commit] = tested
            term = "skip" if tested.is_bad is None else "bad" if tested.is_bad else "good"
            output = _run_git(tree, "bisect", term)
        skipped = [] if _DONE in output else _list_skipped(tree)
        last = _read_git(tree, "rev-parse", "refs/bisect/bad")
        return tuple(tested_commits[commit] for commit in (*skipped, last))


def _is_worse(decision: Decision) -> bool | None:
    """Return whether a decision is that the metric is worse, or changed if neither way is worse; None for none."""
    return decision.verdict in (Verdict.WORSE, Verdict.CHANGED) if decision.is_decided else None


def _list_skipped(tree: Path) -> list[str]:
    """Return the skipped commits that may be the first bad one, oldest first."""
    skipped = _read_git(tree, "for-each-ref", "--format=%(objectname)", "refs/bisect/skip-*").split()
    goods = _read_git(tree, "for-each-ref", "--format=%(objectname)", "refs/bisect/good-*").split()
    candidates = _read_git(tree, "rev-list", "--reverse", "refs/bisect/bad", "--not", *goods).split()
    return [commit for commit in candidates if commit in skipped]


@contextmanager
def _add_work_trees(repository: Path, *commits: str) -> Iterator[tuple[Path, ...]]:
    """Yield a work tree of the repository for each commit; they are removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="assay-bisect-") as place:
        trees = tuple(Path(place) / str(number) for number in range(len(commits)))
        try:
            for tree, commit in zip(trees, commits, strict=True):
                _read_git(repository, "worktree", "add", "--detach", str(tree), commit)
            yield trees
        finally:
            for tree in trees:
                _run_git(repository, "worktree", "remove", "--force", str(tree))


def _read_git(folder: Path, *arguments: str) -> str:
    """Return the output of git. Raises AssayError (usage) if it fails."""
    result = _call_git(folder, *arguments)
    if result.returncode:
        raise fail("git", f"git {arguments[0]} failed in {folder}", found=result.stderr.strip() or "no output",
                   hint="pass the repository with --repository, and commits that it has", status=USAGE)  # fmt: skip
    return result.stdout.strip()


def _run_git(folder: Path, *arguments: str) -> str:
    """Return the output of a command of git, which may fail: `git bisect` does if only skipped commits are left."""
    result = _call_git(folder, *arguments)
    return result.stdout + result.stderr


def _call_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise fail(
            "git", "git is not installed, or the folder does not exist", found=str(folder), status=USAGE
        ) from None
