"""An article over runs to the document: each part as prose, figures and tables."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang import formula
from assay.lang.labels import describe_series
from assay.lang.model.article import Article, Choice, Part
from assay.lang.normal_form import CheckedPackage
from assay.report.assemble import filled, words
from assay.report.assemble import notes as noted
from assay.report.blocks import rows as asked
from assay.report.blocks.averages import averages
from assay.report.blocks.choices import called, chosen
from assay.report.blocks.class_tables import class_tables
from assay.report.blocks.comparison_columns import Compared, add_comparisons, manifest
from assay.report.blocks.plots import grids, not_drawn, not_named, scatters, timelines
from assay.report.blocks.tables import RenderContext, ShownRun, tables
from assay.report.blocks.verdicts import verdict_notes, verdicts
from assay.report.data_quality import quality_parts
from assay.report.document import Appendix, Document, Entry, Gallery, Group, Plot, Quoted, Table
from assay.report.glossary import entry, tables_of, terms
from assay.report.prose import Paragraph, Prose, Quote
from assay.report.run_results import Choices, RunFigures, told_apart, whole_labels
from assay.styles.registry import style
from assay.util.diagnostics import fail, suggest_nearest
from assay.util.escape import shorten

#: columns of a grid, on a page held upright and on one laid down
UPRIGHT, LAID = 4, 8


def assemble_article(
    checked: CheckedPackage,
    article: Article,
    runs: Sequence[RunFigures],
    choices: Choices,
    provenance: Mapping[str, str],
    prose: Mapping[str, Prose],
    notes: Mapping[str, tuple[str, ...]],
    compared: Compared | None = None,
) -> Document:
    """The document of an article over some runs.

    `prose` is that of the files by their names, `notes` what parts (by their titles) leave out, `compared` the phases
    that comparisons have as columns, instead of the runs.
    AssayError when prose quotes what is not there, or a run's constants choose a row that it does not have.
    """
    named = labels_of(article, runs)
    cast = _cast(checked, article, runs, named, prose, notes, choices.style, compared)
    headings = labels_of(article, compared.columns) if compared else named
    said = words(checked, [shown.run for shown in cast.main], [shown.label for shown in cast.main])
    numbers = iter(range(1, 10_000))
    facts = manifest(checked, article, compared.columns if compared else runs, headings)
    quality = quality_parts(
        {label: run.quality for label, run in zip(headings, compared.columns if compared else runs, strict=True)},
        {label: run.quality for label, run in zip(named, runs, strict=True)} if compared else None,
    )
    galleries = distinct(_gallery(cast, part, place, numbers) for place, part in enumerate(article.parts, start=1))
    return Document(
        title=choices.title or filled(article.title, said),
        subtitle="",
        author=choices.author,
        date=choices.date,
        intro=tuple(filled(text, said) for text in article.intro.split("\n\n") if text.strip()),
        style=choices.style,
        manifest=facts,
        sections=(),
        charts=(),
        dictionary=_dictionary(checked, article, prose.values()),
        warnings=(
            *noted(runs, named),
            *(noted(compared.columns, headings) if compared else ()),
            *quality.warnings,
        ),
        filters=Table("Filters", ("Run", "Filter", "Argument", "Of", "Rejected", "Rows"), ()),
        provenance=tuple(provenance.items()),
        galleries=galleries,
        appendices=quality.appendices,
        terms=terms(checked, article, (facts, *tables_of(galleries))),
    )


def with_claims(
    document: Document, checked: CheckedPackage, article: Article, claims: tuple[Appendix, ...]
) -> Document:
    """The document with what is claimed of it, and what that is about explained."""
    named = terms(checked, article, (document.manifest, *tables_of(document.galleries), *claims))
    return dataclasses.replace(document, claims=claims, terms=named)


@dataclass(frozen=True, slots=True)
class Cast:
    """Who is shown: the runs of most parts, the first of which is the baseline, and those that are cases of grids;
    and what is said: prose by its files, notes by the titles of parts."""

    setting: RenderContext
    main: Sequence[ShownRun]
    cases: Sequence[ShownRun]
    prose: Mapping[str, Prose]
    notes: Mapping[str, tuple[str, ...]]
    columns: Compared
    headings: Sequence[str]

    @property
    def runs(self) -> Sequence[ShownRun]:
        """All runs, each once."""
        return [*self.main, *(shown for shown in self.cases if shown.run not in [item.run for item in self.main])]


def _cast(
    checked: CheckedPackage,
    article: Article,
    runs: Sequence[RunFigures],
    named: Sequence[str],
    prose: Mapping[str, Prose],
    notes: Mapping[str, tuple[str, ...]],
    look: str,
    compared: Compared | None,
) -> Cast:
    told = [shorten(str(run.constants[article.cases])) if article.cases else "" for run in runs]
    main = [place for place, case in enumerate(told) if not case] or list(range(len(runs)))
    shown = [ShownRun(runs[place], named[place], named[place] if len(main) > 1 else "") for place in main]
    cases = [
        ShownRun(run, case if told.count(case) == 1 else f"{case} ({run.id})", "")
        for run, case in zip(runs, told, strict=True)
        if case
    ]
    rows = {
        **chosen(checked, article, [item.run for item in cases]),
        **chosen(checked, article, [item.run for item in shown]),
    }
    columns = compared or Compared([item.run for item in shown], {})
    headings = labels_of(article, columns.columns)
    setting = RenderContext(checked, article, style(look), rows, columns.instants)
    return Cast(setting, shown, cases, prose, notes, columns, headings)


def metrics_of(article: Article, texts: Iterable[Prose] = ()) -> tuple[str, ...]:
    """The metrics that an article's tables and figures show, and its texts quote, each once."""
    found: list[str] = []
    for part in article.parts:
        found += [name for listing in part.listings for name in listing.metrics]
        found += [name for pivot in part.pivots for name in (pivot.metric, pivot.due) if name]
        found += [name for verdict in part.verdicts for name in verdict.metrics]
        found += compared_metrics(part)
        found += [name for scatter in asked.scatters_of(part) for name in (scatter.x, scatter.y)]
        found += [name for table in part.class_tables for name in formula.list_inputs(table.value)]
    found += [quote.metric for text in texts for quote in text.quotes]
    return tuple(dict.fromkeys(found))


def compared_metrics(part: Part) -> tuple[str, ...]:
    """The metrics that are compared between runs or phases, each once."""
    found = [name for item in part.comparisons for name in item.metrics]
    found += [rule.metric for item in part.conclusions for rule in item.rules]
    return tuple(dict.fromkeys(found))


def labels_of(article: Article, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """What an article calls each run or phase: its label constant, or its id where two runs share one."""
    named = [shorten(label) for label in whole_labels(article.label, runs)]
    return told_apart(named, runs, "{id}")


def _gallery(cast: Cast, part: Part, place: int, numbers: Iterator[int]) -> Gallery:
    """A part, its figures numbered in their order."""
    setting, runs = cast.setting, cast.main
    plots: list[Plot | None] = []
    for scatter in part.scatters:
        plots += scatters(setting, scatter, runs)
    for timeline in part.timelines:
        plots += timelines(setting, timeline, runs)
    wide = [
        plot
        for count, grid in enumerate(part.grids, start=1)
        if cast.cases
        for plot in grids(setting, grid, cast.cases, LAID if len(cast.runs) > UPRIGHT else UPRIGHT, f"{place}-{count}")
    ]
    classes, why = _classes(cast, part)
    said = render_prose(cast, part)
    numbered = [dataclasses.replace(plot, figure=next(numbers)) if plot else None for plot in plots]
    gallery = Gallery(
        f"part-{place}",
        part.title,
        (
            *(paragraph.text for paragraph in said),
            *_meant(cast, part),
            *verdict_notes(setting, part, runs),
            *cast.notes.get(part.title, ()),
            *not_drawn(setting, part, runs),
            *not_named(numbered),
            *why,
        ),
        tuple(numbered),
        (*tables(setting, part, runs), *verdicts(setting, part, runs), *classes, *_averages(setting, part, runs)),
        abreast=_abreast(len(runs), laid=len(cast.runs) > UPRIGHT),
        wide=tuple(dataclasses.replace(plot, figure=next(numbers)) for plot in wide),
        quoted=tuple(_quoted(cast, said)),
    )
    shown = [item.run for item in runs], [item.label for item in runs]
    return add_comparisons(gallery, setting.checked, setting.look, part, cast.columns, shown)


def distinct(galleries: Iterable[Gallery]) -> tuple[Gallery, ...]:
    """The parts, with the ids of figures that would share one told apart by a number: a series may be drawn twice, a
    metric over two others, and runs whose names differ in what no name of a file has."""
    taken: set[str] = set()

    def own(plot: Plot) -> Plot:
        tried = itertools.chain([plot.id], (f"{plot.id}-{number}" for number in itertools.count(2)))
        name = next(name for name in tried if name.casefold() not in taken)
        taken.add(name.casefold())
        return dataclasses.replace(plot, id=name)

    return tuple(
        dataclasses.replace(
            gallery,
            plots=tuple(plot and own(plot) for plot in gallery.plots),
            wide=tuple(own(plot) for plot in gallery.wide),
        )
        for gallery in galleries
    )


def _averages(setting: RenderContext, part: Part, runs: Sequence[ShownRun]) -> list[Table]:
    """The tables of averages of series of a part."""
    found = [averages(setting, item, shown) for item in part.averages for shown in runs]
    return [table for table in found if table]


def _classes(cast: Cast, part: Part) -> tuple[list[Table], list[str]]:
    """The tables against classes of a part, and why cells of them are empty."""
    tables_, notes = [], []
    runs, named = [shown.run for shown in cast.main], [shown.label for shown in cast.main]
    for table in part.class_tables:
        columns = (runs, named) if table.across else (cast.columns.columns, cast.headings)
        found, why = class_tables(cast.setting.checked, cast.setting.look, table, *columns)
        tables_ += found
        notes += why
    return tables_, notes


def _abreast(runs: int, *, laid: bool) -> int:
    """How many figures stand side by side, those of one kind in whole rows where that can be."""
    if laid:
        return 4 if runs in (2, 4) else 3
    return 3 if runs == 3 else 2


# What a part says


def render_prose(cast: Cast, part: Part) -> tuple[Paragraph, ...]:
    """The prose of a part; paragraphs that quote a choice which a run does not make are left out."""
    if not part.prose:
        return ()

    def render_quote(quote: Quote) -> str | None:
        run = _named(cast, quote)
        row = cast.setting.row(quote.choice, run)
        if quote.choice and row is None:
            return None
        return asked.quoted(cast.setting.checked, cast.setting.look, quote, run, row)

    return cast.prose[part.prose].paragraphs(render_quote)


def _quoted(cast: Cast, said: Sequence[Paragraph]) -> Iterator[Quoted]:
    """The values in paragraphs, and of which run and row each is."""
    for place, paragraph in enumerate(said):
        for begin, end, quote in paragraph.quoted:
            run = _named(cast, quote)
            label = next(shown.label for shown in cast.runs if shown.run is run)
            row = [f"{name.replace('_', ' ')} {value}" for name, value in quote.where]
            choice = [cast.setting.article.choice(quote.choice).title] if quote.choice else []
            said_of = "; ".join([", ".join([*choice, *row]), label]).lstrip("; ")
            row_of = asked.row_of_quote(cast.setting.checked, quote, cast.setting.row(quote.choice, run))
            where = tuple((name, str(value)) for name, value in row_of.items())
            yield Quoted(place, begin, end, quote.metric, said_of, run.id, where)


def _named(cast: Cast, quote: Quote) -> RunFigures:
    """The run that a quote names, by its id or its label; the last one when it names none."""
    if not quote.run:
        return cast.main[-1].run
    for shown in cast.runs:
        if shown.run.id == quote.run:
            return shown.run
    alike = [shown.run for shown in cast.runs if shown.label == quote.run]
    if not alike:
        known = list(dict.fromkeys(name for shown in cast.runs for name in (shown.run.id, shown.label)))
        raise fail(
            "unknown-run",
            f"prose quotes `{quote.metric}` of a run that there is not: `{quote.run}`",
            span=quote.span,
            excerpt=quote.excerpt,
            expected=", ".join(known),
            hint=suggest_nearest(quote.run, known),
        )
    return alike[0]


def _meant(cast: Cast, part: Part) -> Iterator[str]:
    """Which rows a part's choices are, and which runs have none; that there are no cases, or nothing to judge by."""
    names = [item.choice for item in part.timelines]
    names += [item.choice for item in part.pivots]
    names += [item.choice for item in part.averages]
    for name in dict.fromkeys(name for name in names if name):
        yield from _choice(cast, cast.setting.article.choice(name))
    if part.grids and not cast.cases:
        yield f"Nothing to show: no run tells a case of its own (constant `{cast.setting.article.cases}`)."
    if part.verdicts and len(cast.main) == 1:
        yield "There is no other run to judge by."


def _choice(cast: Cast, choice: Choice) -> Iterator[str]:
    rows = [(shown, cast.setting.row(choice.name, shown.run)) for shown in cast.main]
    there = [f"{shown.titled}{': ' if shown.titled else ''}{called(choice, row)}" for shown, row in rows if row]
    if there and choice.label:
        yield f"{choice.title}: {'; '.join(there)}."
    missing = [shown.label for shown, row in rows if row is None]
    if not choice.keys and missing:
        yield f"{_have(missing)} {choice.absent}."
    elif rows[-1][1] is None:
        yield f"{rows[-1][0].label}{', which chooses,' if len(rows) > 1 else ''} has {choice.absent}."
    elif missing:
        row = rows[-1][1]
        said = ", ".join(f"{name.replace('_', ' ')} {row[name]}" for name in choice.keys)
        yield f"{_have(missing)} no {choice.grain.replace('_', ' ')} with {said}."


def _have(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'has' if len(names) == 1 else 'have'}"


def _dictionary(checked: CheckedPackage, article: Article, texts: Iterable[Prose]) -> tuple[Group, ...]:
    names = list(metrics_of(article, texts))
    for name in names:  # the list grows meanwhile: by what formulas are over, which may be formulas, too
        names += [item for item in formula.list_inputs(checked.metric(name).measure) if item not in names]
    entries = tuple(entry(checked, name) for name in names)
    shown = asked.series_of(article)
    lines = tuple(
        Entry(item.name, item.name, item.unit.symbol, f"{item.doc}. {describe_series(checked.package, item)}", "")
        for item in checked.package.series
        if item.name in shown
    )
    groups = (Group("Metrics", entries), Group("Time series", lines))
    return tuple(group for group in groups if group.entries)
