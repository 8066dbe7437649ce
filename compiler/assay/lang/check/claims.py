"""The checker's part about claims: they are about pivots that are there, of cells with numbers, each once."""

from __future__ import annotations

import re

from assay.lang.check.checker import Checker
from assay.lang.model.article import Article
from assay.lang.model.claim import Claim
from assay.util.diagnostics import did_you_mean
from assay.util.numbers import decimal

NUMBER = r"-?[0-9]+(\.[0-9]+)?"


def claims(checker: Checker, article: Article) -> None:
    """Check what an article says that documents claim."""
    titles = [pivot.title for part in article.parts for pivot in part.pivots]
    for claim in article.claims:
        what = f"the claim of `{claim.document}` ({claim.statement}) in article `{article.name}`"
        if titles.count(claim.pivot) != 1:
            several = claim.pivot in titles
            checker.report(
                "claim-pivot",
                f"{what} is about {'several pivots' if several else 'a pivot that the article does not have'}: "
                f"`{claim.pivot}`",
                claim.pivot,
                hint="give them different titles" if several else did_you_mean(claim.pivot, titles),
            )
        _cells(checker, what, claim)


def _cells(checker: Checker, what: str, claim: Claim) -> None:
    if not claim.cells:
        checker.report("claim-cells", f"{what} has no cell", claim.document)
    places = [(cell.down, cell.across) for cell in claim.cells]
    for cell in claim.cells:
        place = f"row {cell.down}, column {cell.across}"
        if not re.fullmatch(NUMBER, cell.value) or decimal(cell.value) is None:
            message = f"a cell of {what} is no number ({place})"
            checker.report("claim-value", message, cell.value, expected="digits, as in 35600 or 1.5", found=cell.value)
        if places.count((cell.down, cell.across)) > 1:
            places.remove((cell.down, cell.across))
            checker.report("claim-cells", f"a cell of {what} stands twice ({place})", claim.document)
