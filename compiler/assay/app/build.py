"""`assay build`: a report of any kind, by its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.app.options import Built, Options
from assay.app.outputs import refuse_sources
from assay.app.runs import named_runs
from assay.app.session import Session
from assay.lang.model.article import Article
from assay.util.diagnostics import USAGE, fail


def build_shown(
    session: Session, name: str, runs: Sequence[str], publications: Sequence[Path], out: Path, options: Options
) -> Built:
    """Build the report `system/name` over runs (`NAME=DIR`), or the history of that name over publications.

    Raises AssayError, also (usage) when the one is given what the other is made of.
    """
    named = named_runs(runs)
    refuse_sources(session, out, named)
    wanted, given = ("runs", "publications") if session.is_of_runs(name) else ("publications", "runs")
    if {"runs": runs, "publications": publications}[given]:
        raise fail(
            "report-inputs",
            f"`{name}` is built from {wanted}, not from {given}",
            hint=f"--{wanted[:-1]} in the place of --{given[:-1]}",
            status=USAGE,
        )
    checked, report = session.find_report(name)
    if wanted == "runs" and all(run.is_here for run in named):
        package = checked.package
        session.hashes.begin([(run.id, run.directory) for run in named], package.sources, package.events)
    # Each loads what only reports of its kind are made with.
    if wanted == "runs" and isinstance(report, Article):
        from assay.app.article import build_article

        return build_article(session, name, named, out, options)
    if wanted == "runs":
        from assay.app.comparison import build

        return build(session, name, named, out, options)
    from assay.app.history import build_history

    return build_history(session, name, publications, out, options)
