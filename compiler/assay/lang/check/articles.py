"""Check articles: their names, constants, choices, blocks and claims."""

from __future__ import annotations

import re

from assay.lang import scopes
from assay.lang.blocks.pivot import Pivot
from assay.lang.check.checker import Checker
from assay.lang.check.choices import choices
from assay.lang.model.article import Article, Claim
from assay.util.diagnostics import did_you_mean
from assay.util.numbers import parse_decimal


def articles(checker: Checker) -> None:
    """Check every article of the package."""
    names = [item.name for item in checker.package.reports] + [item.name for item in checker.package.histories]
    for article in checker.package.articles:
        what = f"article `{article.name}`"
        if names.count(article.name) or [item.name for item in checker.package.articles].count(article.name) > 1:
            checker.report(
                "duplicate-report",
                f"{what} has the same name as another report, history or article",
                article.name,
                hint="rename all but one",
            )
        _constants(checker, what, article)
        choices(checker, what, article)
        for part in article.parts:
            for block in part.blocks:
                block.check(checker, f"part `{part.title}` of {what}", article, part)
        claims(checker, article)


def _constants(checker: Checker, what: str, article: Article) -> None:
    known = set(scopes.collect_constants(checker.package))
    for name in (article.label, *([article.cases] if article.cases else [])):
        if name not in known:
            checker.report(
                "unknown-constant",
                f"unknown constant `{name}` in {what}",
                name or article.name,
                hint=did_you_mean(name, known),
            )


NUMBER = r"-?[0-9]+(\.[0-9]+)?"


def claims(checker: Checker, article: Article) -> None:
    """Check what an article says that documents claim."""
    titles = [pivot.title for part in article.parts for pivot in part.select(Pivot)]
    for claim in article.claims:
        what = f"the claim of `{claim.document}` ({claim.statement}) in article `{article.name}`"
        if titles.count(claim.pivot) != 1:
            several = claim.pivot in titles
            checker.report(
                "claim-pivot",
                f"{'ambiguous' if several else 'unknown'} pivot `{claim.pivot}` in {what}",
                claim.pivot,
                hint="give each pivot a different title" if several else did_you_mean(claim.pivot, titles),
            )
        _cells(checker, what, claim)


def _cells(checker: Checker, what: str, claim: Claim) -> None:
    if not claim.cells:
        checker.report("claim-cells", f"{what} has no cells", claim.document)
    places = [(cell.down, cell.across) for cell in claim.cells]
    for cell in claim.cells:
        place = f"row {cell.down}, column {cell.across}"
        if not re.fullmatch(NUMBER, cell.value) or parse_decimal(cell.value) is None:
            message = f"a cell of {what} is not a number ({place})"
            checker.report("claim-value", message, cell.value, expected="digits, as in 35600 or 1.5", found=cell.value)
        if places.count((cell.down, cell.across)) > 1:
            places.remove((cell.down, cell.across))
            checker.report("claim-cells", f"duplicate cell in {what} ({place})", claim.document)
