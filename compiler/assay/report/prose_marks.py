"""What of prose is no plain text: marks of Markdown that begin a block, and quotes without an end.

Prose is paragraphs.  A heading, an item, a row of a table would be printed as it stands, run together with the lines
around it, so they are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from assay.util.diagnostics import Diagnostic, Span, excerpt_at

_ITEM = "a list", "write a sentence, or a paragraph for each item"
_HEADING = "a heading", "the `title` of the part is its heading; another part has another"
_TABLE = "a table", "`listings`, `pivots` and `facts` of the part are its tables"
_CODE = "code", "nothing is printed as code"
_RULE = "a rule", "an empty line is enough between paragraphs"
_ANYWHERE = (
    (re.compile(r" {0,3}#{1,6}[ \t]+\S"), _HEADING),
    (re.compile(r" {0,3}(?:={3,}|-{3,}|\*{3,}|_{3,})[ \t]*$"), _RULE),
    (re.compile(r"[ \t]*(?:[-*+]|1[.)])[ \t]+\S"), _ITEM),
    (re.compile(r"[ \t]*\|.*\||[ \t]*:?-{3,}:?[ \t]*\|"), _TABLE),
    (re.compile(r" {0,3}(?:```|~~~)"), _CODE),
)
#: a number may come to stand at the beginning of any line but the first of a paragraph
_AT_FIRST = (re.compile(r"[ \t]*\d{1,9}[.)][ \t]+\S"), _ITEM)


def problems(text: str, path: Path, name: str) -> Iterator[Diagnostic]:
    """What is wrong with a text in which quotes that have an end are blotted out; of each kind the first place.

    `name` is what messages call the file.
    """
    told: set[str] = set()
    before = ""
    for number, line in enumerate(text.split("\n"), start=1):
        for pattern, (what, hint) in (*_ANYWHERE, *(() if before.strip() else (_AT_FIRST,))):
            if pattern.match(line) and what not in told:
                told.add(what)
                column = len(line) - len(line.lstrip()) + 1
                yield Diagnostic(
                    "prose-markdown",
                    f"prose is plain text, and this line begins {what}, as Markdown has it",
                    Span(name, number, column, 1),
                    excerpt_at(path, number, column),
                    hint=hint,
                )
                break
        if "{{" in line and "{{" not in told:
            told.add("{{")
            column = line.index("{{") + 1
            yield Diagnostic(
                "prose",
                "a quote of a result has no end",
                Span(name, number, column, 2),
                excerpt_at(path, number, column, 2),
                expected="}} behind it",
            )
        before = line
