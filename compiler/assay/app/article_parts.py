"""What of an article can be shown of some runs: the rest is left out, and its part says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from assay.app.required_sources import has
from assay.app.runs import NamedRun
from assay.lang import dependencies, formula
from assay.lang.model.article import (
    Article,
    Averages,
    ClassTable,
    Comparison,
    Conclusion,
    Grid,
    Listing,
    Part,
    Pivot,
    Scatter,
    Timeline,
    Verdict,
)
from assay.lang.model.package import Source
from assay.lang.normal_form import CheckedPackage
from assay.report.blocks.class_tables import metrics_of_classes
from assay.report.blocks.rows import listed_of
from assay.report.prose import Prose, Quote
from assay.util.diagnostics import AssayError, fail

Item = Listing | Pivot | Verdict | Scatter | Timeline | Grid | Averages | ClassTable | Comparison | Conclusion | Quote
T = TypeVar("T", bound=Item)
Notes = Mapping[str, tuple[str, ...]]
"""Title of a part -> sentences on what it does not show."""


def drop_unavailable_parts(
    checked: CheckedPackage, article: Article, prose: Mapping[str, Prose], runs: Sequence[NamedRun]
) -> tuple[Article, Notes]:
    """The article without what some run has no records for, and what is left out of which part.

    Prose that quotes results is left out as a whole.
    """
    lacking = {source.name: [run.id for run in runs if not has(run, source)] for source in checked.package.sources}
    missing = [source for source in checked.package.sources if lacking[source.name]]
    lost = _Lost(checked, article, {source.name for source in missing})
    parts, notes, wanting = [], {}, set[str]()
    for part in article.parts:
        kept, gone = _part(lost, part, prose)
        parts.append(kept)
        wanting |= gone
        if gone:
            told = [source for source in missing if source.name in gone]
            notes[part.title] = tuple(
                f"Left out for want of {source.doc[:1].lower() + source.doc[1:]}: {_listed(lacking[source.name])} "
                f"{'has' if len(lacking[source.name]) == 1 else 'have'} none."
                for source in told
            )
    if notes and any(map(_asks, article.parts)) and not any(map(_asks, parts)):
        raise nothing_to_show_error(article, [source for source in missing if source.name in wanting], runs)
    choices = tuple(choice for choice in article.choices if not lost.of_choice(choice.name))
    return dataclasses.replace(article, parts=tuple(parts), choices=choices), notes


def _asks(part: Part) -> bool:
    """Whether a part shows anything of a run."""
    figures = (part.scatters, part.timelines, part.grids)
    return any(
        (
            *figures,
            part.listings,
            part.pivots,
            part.verdicts,
            part.class_tables,
            part.averages,
            part.comparisons,
            part.conclusions,
        )
    )


def nothing_to_show_error(article: Article, missing: Sequence[Source], runs: Sequence[NamedRun]) -> AssayError:
    """The error of runs that have nothing of what an article shows."""
    return fail(
        "no-source",
        f"article `{article.name}` has nothing to show: each of its parts needs records that a run lacks",
        expected="; ".join(f"{_files(source)} ({source.doc})" for source in missing),
        found=", ".join(run.place for run in runs),
    )


def _files(source: Source) -> str:
    """Where a source's files are looked for."""
    if source.host_files:
        return f"files {source.hosts}"
    return f"{f'directories {source.hosts} with ' if source.hosts else ''}files {', '.join(source.logs)}"


def _listed(runs: Sequence[str]) -> str:
    return "run " + runs[0] if len(runs) == 1 else "runs " + ", ".join(runs)


@dataclasses.dataclass(frozen=True, slots=True)
class _Lost:
    """What of an article's things is lost with the sources that some run lacks."""

    checked: CheckedPackage
    article: Article
    missing: set[str]

    def of_tables(self, tables: Iterable[str]) -> set[str]:
        """The missing sources of all that tables are made of."""
        events = dependencies.collect_dependencies(self.checked.package, [], [], tables).events
        return {event.source for event in self.checked.package.events if event.name in events} & self.missing

    def of_choice(self, name: str) -> set[str]:
        """The missing sources of a choice (none of an empty name)."""
        return self.of_tables([self.article.choice(name).grain]) if name else set()

    def of(self, item: Item) -> set[str]:
        """The missing sources of a table, a figure or a quote, and of the choice that it refers to."""
        if isinstance(item, Grid):
            inner: tuple[Item, ...] = (*item.scatters, *item.timelines)
            return self.of_choice(item.choice).union(*(self.of(found) for found in inner))
        if isinstance(item, Averages):
            return self.of_tables(item.series) | self.of_choice(item.choice)
        if isinstance(item, Timeline):
            return self.of_tables([item.series]) | self.of_choice(item.choice)
        if isinstance(item, (Comparison, Conclusion)):
            names = item.metrics if isinstance(item, Comparison) else [rule.metric for rule in item.rules]
            asked = [self.checked.metric(name) for name in names]
            return self.of_tables(
                {metric.grain for metric in formula.measured(formula.by_id(self.checked.package), asked)}
            )
        if isinstance(item, ClassTable):
            known = formula.by_id(self.checked.package)
            return self.of_tables(
                {metric.grain for metric in formula.measured(known, metrics_of_classes(self.checked, item))}
            )
        tables = [found.grain.name for found in listed_of(self.checked, item)]
        return self.of_tables(tables) | self.of_choice(getattr(item, "choice", ""))


def _part(lost: _Lost, part: Part, prose: Mapping[str, Prose]) -> tuple[Part, set[str]]:
    """A part without what is of missing sources, and the names of those."""
    gone: set[str] = set()

    def keep_available(items: Iterable[T]) -> tuple[T, ...]:
        found = []
        for item in items:
            sources = lost.of(item)
            gone.update(sources)
            if not sources:
                found.append(item)
        return tuple(found)

    quotes = prose[part.prose].quotes if part.prose else ()
    return (
        dataclasses.replace(
            part,
            prose=part.prose if len(keep_available(quotes)) == len(quotes) else "",
            scatters=keep_available(part.scatters),
            timelines=keep_available(part.timelines),
            listings=keep_available(part.listings),
            pivots=keep_available(part.pivots),
            verdicts=keep_available(part.verdicts),
            grids=keep_available(part.grids),
            class_tables=keep_available(part.class_tables),
            comparisons=keep_available(part.comparisons),
            conclusions=keep_available(part.conclusions),
            averages=keep_available(part.averages),
        ),
        gone,
    )
