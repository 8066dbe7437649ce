"""The checker's part about what readers see first: titles, introductions, parts that show something."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.article import Article, Part
from assay.lang.model.package import Package
from assay.lang.model.report import History, Report
from assay.util.diagnostics import meant

OF_RUNS = ("base", "others", "last")
OF_PUBLICATIONS = ("publications", "first", "last", "workloads", "editions")
_PLACE = re.compile(r"\{([^{}]*)(\}?)")

Shown = Report | Article | History


def titles(checker: Checker) -> None:
    """Check titles, introductions and parts of every report, article and history."""
    constants = tuple(f"constant.{name}" for name in scopes.constants(checker.package))
    for what, item in list_titles(checker.package):
        known = OF_PUBLICATIONS if isinstance(item, History) else (*OF_RUNS, *constants)
        if not item.title.strip():
            checker.report("title", f"{what} has no title", item.name)
        for called, text in (("title", item.title), ("intro", item.intro)):
            _places(checker, f"the {called} of {what}", text, item.name, known)
        parts = list(_parts(item))
        for kind, title, full in parts:
            if not title.strip():
                checker.report("title", f"a {kind} of {what} has no title", item.name)
            elif not full:
                checker.report("empty-part", f"{kind} `{title}` of {what} shows nothing", title)
        if not parts:
            checker.report("empty-report", f"{what} shows nothing", item.name, expected=_EXPECTED[type(item)])


_EXPECTED = {
    Report: "sections, charts or a dictionary",
    Article: "parts",
    History: "sections",
}


def list_titles(package: Package) -> Iterator[tuple[str, Shown]]:
    yield from ((f"report `{item.name}`", item) for item in package.reports)
    yield from ((f"article `{item.name}`", item) for item in package.articles)
    yield from ((f"history `{item.name}`", item) for item in package.histories)


def _parts(item: Shown) -> Iterator[tuple[str, str, bool]]:
    """What a report is made of: its kind, its title, whether there is anything in it."""
    if isinstance(item, Article):
        yield from (("part", part.title, _full(part)) for part in item.parts)
        return
    yield from (("section", section.title, bool(section.metrics)) for section in item.sections)
    if isinstance(item, Report):
        yield from (("dictionary group", group.title, bool(group.metrics)) for group in item.dictionary)
        yield from (("chart", chart.metric, True) for chart in item.charts)


def _full(part: Part) -> bool:
    return any(getattr(part, field.name) for field in dataclasses.fields(part) if field.name != "title")


def _places(checker: Checker, what: str, text: str, name: str, known: Sequence[str]) -> None:
    """Places of a text are closed, and stand for something."""
    expected = ", ".join(f"{{{item}}}" for item in known)
    for found in _PLACE.finditer(text):
        place, closed = found.groups()
        if closed and place in known:
            continue
        word = text if checker.locate(text, 0)[0] else name
        if not closed:
            said = f"{what} has a place that is not closed: `{found[0][:40]}`"
            checker.report("placeholder", said, word, expected=expected, hint=meant(place.strip(), known),
                           cause=text + place)  # fmt: skip
        else:
            said = f"{what} has an unknown place `{found[0]}`"
            checker.report("placeholder", said, word, expected=expected, hint=meant(place, known),
                           cause=text + place)  # fmt: skip
