"""Define `assay bisect`: find the commit that made a metric worse."""

from __future__ import annotations

from pathlib import Path

import click

from assay.app.compare.bisect import Search, TestedCommit, bisect_commits
from assay.app.compare.decide import Budget
from assay.app.session.selection import Selection
from assay.cli import output
from assay.cli.decide import add_decision_options, format_change, register
from assay.cli.options import open_command_session
from assay.util.diagnostics import fail


@click.command()
@click.argument("good")
@click.argument("bad", default="HEAD")
@click.option("--measure", "command", required=True, metavar="COMMAND",
              help="Command that builds and measures the checkout that it is run in.")  # fmt: skip
@click.option("--repository", default=".", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="Repository of the commits  [default: the current folder]")  # fmt: skip
@add_decision_options
def bisect(
    good: str, bad: str, command: str, metric: str, repository: Path, folder: Path, max_runs: int,
    max_minutes: float | None, results: Path | None, selection: Selection,
) -> None:  # fmt: skip
    """Find the commit that made a metric worse.

    Measures commits from GOOD to BAD (by default HEAD) as `git bisect` chooses them, each against GOOD as `assay
    decide` does: a commit is bad if it has more than half of the change of BAD. Commits that fail or cannot be decided
    are skipped. --max-runs and --max-minutes are for each commit. Your checkout stays as it is. Called again, it goes
    on with the runs in DIR.
    """
    search = Search(
        repository, good, bad, command, folder,
        register=lambda run: register(run, results, run.parent.name), report=_print_commit,
    )  # fmt: skip
    budget = Budget(max_runs // 2, max_minutes and 60 * max_minutes)
    choice = Selection((metric,), **selection.to_options())
    with open_command_session() as session:
        commits = bisect_commits(session, search, choice, budget)
    if len(commits) > 1:
        names = ", ".join(item.commit[:12] for item in commits)
        raise fail("undecided", f"the first worse commit is one of {names}",
                   hint="pass a greater budget: the runs that are finished count")  # fmt: skip
    (first,) = commits
    output.print_line(f"first worse commit: {first.commit} {first.subject}")


def _print_commit(tested: TestedCommit) -> None:
    """Print a tested commit with its decision, on stderr."""
    decision = tested.decision
    word = {True: "bad", False: "good", None: "cannot tell"}[tested.is_bad]
    result = f"{word}, {format_change(decision)}" if decision else tested.problem
    output.print_line(f"{tested.commit[:12]} {tested.subject}: {result}", err=True)
