"""Claims of documents, judged by the runs of an article and the files that they were read from."""

from __future__ import annotations

from collections.abc import Sequence

from assay.app.compute import RunResult
from assay.lang import dependencies
from assay.lang.model.article import Article
from assay.lang.normal_form import CheckedPackage
from assay.report.article import labels_of
from assay.report.blocks.claims import File, Judged, check_claims
from assay.report.run_results import RunFigures


def claims_of(
    checked: CheckedPackage, article: Article, runs: Sequence[RunResult], figures: Sequence[RunFigures]
) -> tuple[Judged, ...]:
    """What comes of each claim of an article."""
    if not article.claims:
        return ()
    files = {
        (run.prepared.run.id, pivot.title): _files(checked, run, pivot.grain)
        for run in runs
        for part in article.parts
        for pivot in part.pivots
    }
    return check_claims(checked, article, figures, labels_of(article, figures), files)


def _files(checked: CheckedPackage, run: RunResult, grain: str) -> tuple[File, ...]:
    """The raw files of a run that the rows of a grain are made of."""
    events = dependencies.collect_dependencies(checked.package, [], [], [grain]).events
    sources = {event.source for event in checked.package.events if event.name in events}
    parts = [part for part in run.prepared.parts if part.source.name in sources]
    return tuple((item.name, item.size, item.sha256) for part in parts for item in part.hashes)
