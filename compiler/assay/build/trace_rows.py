"""Which row of a run a cell of an article prints where its columns alone do not say so, by the rows of the build."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.compare.style import style
from assay.engine.results import RunResults
from assay.report.article_choices import chosen
from assay.report.article_tables import Setting
from assay.report.article_verdicts import groups_of
from assay.report.figures import RunFigures
from assay.spec.article_model import Article, Verdict
from assay.spec.diagnostics import fail
from assay.spec.normal_form import Checked


def json_of(place: Path) -> Any:
    """A file of a build as plain data.  AssayError when it cannot be read."""
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise fail("no-build", f"a file of the build cannot be read: {place}", found=str(error),
                   hint="name the folder that a report was built into (-o)") from None  # fmt: skip


def judged(
    checked: Checked, article: Article, look: str, folder: Path, verdict: Verdict, where: Mapping[str, str], run: str
) -> dict[str, str] | None:
    """The key (column -> text) of the row that a verdict judges of a run, among those whose columns have the texts
    `where`: as the choices of the article have it, over all runs of the build.  None where it judges none.

    AssayError when the build's files are not what a build writes.
    """
    rows, constants = json_of(folder / "results.json"), json_of(folder / "sql" / "constants.json")
    try:
        places = main(article, constants, list(rows["rows"]))
        runs = {name: _figures(name, constants[name], rows["rows"][name]) for name in places}
        article = _for(article, verdict)
        setting = Setting(checked, article, style(look), chosen(checked, article, list(runs.values())))
        groups = groups_of(setting, verdict, runs[run])
    except (KeyError, TypeError, AttributeError):
        raise fail("no-build", f"results.json has no rows of `{verdict.title}`: {folder}",
                   hint="build the report again") from None  # fmt: skip
    texts = tuple(where[name] for name in verdict.keys)
    row = next((found[0] for key, found in groups.items() if tuple(map(str, key)) == texts), None)
    grain = next(item for item in checked.package.grains if item.name == verdict.grain)
    return {name: str(row[name]) for name in grain.key} if row else None


def main(article: Article, constants: Mapping[str, Mapping[str, object]], runs: Sequence[str]) -> list[str]:
    """The runs that an article shows beside each other, by their ids: those that are no cases, unless all are."""
    return [name for name in runs if not (article.cases and constants[name][article.cases])] or list(runs)


def _for(article: Article, verdict: Verdict) -> Article:
    """The article with no other choices than those that the verdict depends on: a build asks for the rows of these."""
    names = {verdict.choice, *verdict.without}
    names |= {other for choice in article.choices if choice.name in names for other in choice.without}
    return replace(article, choices=tuple(item for item in article.choices if item.name in names))


def _figures(name: str, constants: Mapping[str, object], rows: Mapping[str, Any]) -> RunFigures:
    return RunFigures(name, constants, RunResults({}, {}, (), (), rows), 0)
