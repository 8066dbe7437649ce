"""`assay build` of an article: runs in, a report of prose, figures and tables out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.audit.provenance import printed, provenance
from assay.build.article_parts import shown
from assay.build.comparison import Built, Options, date_of, figures_of, inputs_of
from assay.build.compute import Computation, compute
from assay.build.outputs import replacing
from assay.build.rendering import rendered
from assay.build.runs import NamedRun
from assay.build.session import Session
from assay.build.sql_files import write_sql
from assay.report.article import assemble_article, metrics_of
from assay.report.article_rows import listed, series_of
from assay.report.document import Document
from assay.report.figures import Choices, RunFigures
from assay.report.pdf import warm_up
from assay.report.prose import Prose, read
from assay.report.results_json import lines_json
from assay.spec.article_model import Article
from assay.spec.diagnostics import USAGE, Diagnostic, fail, raise_all
from assay.spec.normal_form import Checked


@dataclass(frozen=True, slots=True)
class Assembled:
    """An article before it is laid out: what was worked out, the runs' results, provenance, the document."""

    found: Computation
    figures: Sequence[RunFigures]
    provenance: Mapping[str, object]
    document: Document


def build_article(session: Session, name: str, runs: Sequence[NamedRun], out: Path, options: Options) -> Built:
    """Build the article `system/name` over runs, the first of which is the baseline, into `out`.

    Writes the files of a report; all or nothing.  Raises AssayError.
    """
    with replacing(out) as fresh:
        made = assembled(session, name, runs, options)
        (fresh / "results.json").write_text(lines_json(_results(name, made.figures)), "utf-8")
        (fresh / "provenance.json").write_text(lines_json(made.provenance), "utf-8")
        write_sql(fresh / "sql", made.found)
        rendered(made.document, fresh, session)
    return Built(out, out / "report.pdf", made.document.warnings)


def assembled(session: Session, name: str, runs: Sequence[NamedRun], options: Options) -> Assembled:
    """The article `system/name` over runs, with nothing of it drawn or written.  Raises AssayError."""
    checked, article = session.article(name)
    if options.filters or options.no_filters or options.summary or options.style:
        raise fail(
            "article-options", f"`{name}` has no filters, no summary and no number style to choose", status=USAGE
        )
    texts = read_prose(session, checked, article)
    part_of, notes = shown(checked, article, texts, runs)
    prose = {part.prose: texts[part.prose] for part in part_of.parts if part.prose}
    rows = listed(checked, part_of, prose.values())
    found = compute(
        session, checked, runs, [], [], [], lambda: warm_up(session.workspace.templates), rows, series_of(part_of)
    )
    choices = Choices(article.style, "", (), options.date or date_of(found), options.title, options.author)
    figures = [figures_of(item) for item in found.runs]
    made = provenance(
        checked, article, metrics_of(article), choices, figures,
        [inputs_of(checked, item) for item in found.runs], session.workspace.templates,
        texts_of(texts),
    )  # fmt: skip
    document = assemble_article(checked, part_of, figures, choices, printed(made, checked), prose, notes)
    return Assembled(found, figures, made, document)


def read_prose(session: Session, checked: Checked, article: Article) -> Mapping[str, Prose]:
    """The prose of an article by its files; AssayError with everything that is wrong in it."""
    folder = session.workspace.specs / checked.package.system
    problems: list[Diagnostic] = []
    found = {
        part.prose: read(
            folder / part.prose, f"specs/{checked.package.system}/{part.prose}", checked, article.choices, problems
        )
        for part in article.parts
        if part.prose
    }
    raise_all(problems)
    return found


def texts_of(prose: Mapping[str, Prose]) -> dict[str, str]:
    """The texts of prose by their files."""
    return {name: item.text for name, item in sorted(prose.items())}


def _results(name: str, runs: Sequence[RunFigures]) -> dict[str, object]:
    """The rows behind an article, as measured, by the names of their statements."""
    return {
        "report": name,
        "runs": [{"id": run.id} for run in runs],
        "rows": {run.id: {rows: list(found) for rows, found in sorted(run.results.rows.items())} for run in runs},
    }
