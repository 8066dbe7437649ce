"""The checker's part about texts that readers see: no character of them controls a terminal or a printer."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterator

from assay.spec.checker import Checker
from assay.spec.expression import Expression

LINES = "\n\t"  # what separates lines and words of longer texts
SHOWN = 60  # characters of a text that are told


def texts(checker: Checker) -> None:
    """Check every name, title and text of metrics, filters, summaries, reports, articles and histories."""
    package = checker.package
    metrics = [(f"metric `{item.id}`", item.id, item) for item in package.metrics]
    named = [
        (f"{kind} `{item.name}`", item.name, item)
        for kind, items in (
            ("filter", package.filters),
            ("summary", package.summaries),
            ("report", package.reports),
            ("article", package.articles),
            ("history", package.histories),
        )
        for item in items
    ]
    for what, name, item in (*metrics, *named):
        for field, text in _texts(item, ""):
            if any(unicodedata.category(sign) == "Cc" and sign not in LINES for sign in text):
                checker.report(
                    "control-character",
                    f"a `{field}` in {what} has a control character: `{text[:SHOWN]}`",
                    text,
                    hint="no page can show it",
                    within=(name,),
                )


def _texts(value: object, field: str) -> Iterator[tuple[str, str]]:
    """The texts of a value, each with the field that it is of; not those of expressions, which are compared."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _texts(item, field)
    elif dataclasses.is_dataclass(value) and not isinstance(value, (type, Expression)):
        for member in dataclasses.fields(value):
            yield from _texts(getattr(value, member.name), member.name)
