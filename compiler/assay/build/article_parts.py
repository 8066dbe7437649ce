"""What of an article can be shown of some runs: the rest is left out, and its part says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from assay.build.runs import NamedRun
from assay.build.sources import has
from assay.report.article_rows import listed_of
from assay.report.prose import Prose
from assay.spec import closure
from assay.spec.article_model import Article, Part, Timeline
from assay.spec.model import Source
from assay.spec.normal_form import Checked

T = TypeVar("T")
Notes = Mapping[str, tuple[str, ...]]
"""Title of a part -> sentences on what it does not show."""


def shown(
    checked: Checked, article: Article, prose: Mapping[str, Prose], runs: Sequence[NamedRun]
) -> tuple[Article, Notes]:
    """The article without what some run has no records for, and what is left out of which part.

    Prose that quotes results is left out as a whole.
    """
    lacking = {source.name: [run.id for run in runs if not has(run, source)] for source in checked.package.sources}
    missing = [source for source in checked.package.sources if lacking[source.name]]
    parts, notes = [], {}
    for part in article.parts:
        kept, gone = _part(checked, part, prose, missing)
        parts.append(kept)
        if gone:
            told = [source for source in missing if source.name in gone]
            notes[part.title] = tuple(
                f"Left out for want of {source.doc[:1].lower() + source.doc[1:]}: {_listed(lacking[source.name])} "
                f"{'has' if len(lacking[source.name]) == 1 else 'have'} none."
                for source in told
            )
    return dataclasses.replace(article, parts=tuple(parts)), notes


def _listed(runs: Sequence[str]) -> str:
    return "run " + runs[0] if len(runs) == 1 else "runs " + ", ".join(runs)


def _part(checked: Checked, part: Part, prose: Mapping[str, Prose], missing: Sequence[Source]) -> tuple[Part, set[str]]:
    """A part without what is of missing sources, and the names of those."""
    names = {source.name for source in missing}
    gone: set[str] = set()

    def kept(items: Iterable[T], tables: Callable[[T], Iterable[str]]) -> tuple[T, ...]:
        found = []
        for item in items:
            lost = _sources(checked, tables(item)) & names
            gone.update(lost)
            if not lost:
                found.append(item)
        return tuple(found)

    def rows(item: object) -> Iterable[str]:
        return [found.grain.name for found in listed_of(checked, item)]

    def lines(item: Timeline) -> Iterable[str]:
        return [item.series]

    quotes = prose[part.prose].quotes if part.prose else ()
    lost = _sources(checked, [row.grain.name for quote in quotes for row in listed_of(checked, quote)]) & names
    gone |= lost
    return (
        dataclasses.replace(
            part,
            prose="" if lost else part.prose,
            scatters=kept(part.scatters, rows),
            timelines=kept(part.timelines, lines),
            listings=kept(part.listings, rows),
            pivots=kept(part.pivots, rows),
            verdicts=kept(part.verdicts, rows),
            averages=kept(part.averages, lambda item: item.series),
        ),
        gone,
    )


def _sources(checked: Checked, tables: Iterable[str]) -> set[str]:
    """The sources of all that tables are made of."""
    events = closure.needs(checked.package, [], [], tables).events
    return {event.source for event in checked.package.events if event.name in events}
