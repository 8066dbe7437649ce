"""An article over runs to the document: each part as prose, figures and tables."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.lang import dependencies, formula
from assay.lang.blocks.fact import Fact
from assay.lang.checked_package import CheckedPackage
from assay.lang.labels import describe_series
from assay.lang.model.article import Article, Choice, Part
from assay.lang.model.package import Series
from assay.report.assemble import filled, words
from assay.report.assemble import notes as noted
from assay.report.blocks import rows as asked
from assay.report.blocks.choices import called, chosen
from assay.report.blocks.context import Compared, RenderContext, ShownRun, explain_blocks, render_blocks
from assay.report.blocks.grid import UPRIGHT
from assay.report.cell_links import facts as of_facts
from assay.report.data_quality import quality_parts
from assay.report.document import Appendix, Document, Entry, Gallery, Group, Plot, Quoted, Table
from assay.report.glossary import SINCE, UNTIL, entry, of_constant, tables_of, terms
from assay.report.prose import Paragraph, Prose, Quote
from assay.report.run_results import Choices, RunFigures, fact, phase_rows, row_label, told_apart, whole_labels
from assay.styles.exact_decimal import exact_text
from assay.styles.registry import style
from assay.util.diagnostics import fail, suggest_nearest
from assay.util.escape import shorten


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
    context = _prepare(checked, article, runs, named, choices.style, compared)
    headings = labels_of(article, compared.columns) if compared else named
    said = words(checked, [shown.run for shown in context.runs], [shown.label for shown in context.runs])
    facts = manifest(checked, article, compared.columns if compared else runs, headings)
    quality = quality_parts(
        {label: run.quality for label, run in zip(headings, compared.columns if compared else runs, strict=True)},
        {label: run.quality for label, run in zip(named, runs, strict=True)} if compared else None,
    )
    galleries = distinct(
        _gallery(dataclasses.replace(context, place=place), part, prose, notes)
        for place, part in enumerate(article.parts, start=1)
    )
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
        terms=terms(checked, article, (facts, *tables_of(galleries)), more=explain_blocks(checked, article)),
    )


def with_claims(
    document: Document, checked: CheckedPackage, article: Article, claims: tuple[Appendix, ...]
) -> Document:
    """The document with what is claimed of it, and what that is about explained."""
    tables: tuple[Table | Appendix, ...] = (document.manifest, *tables_of(document.galleries), *claims)
    named = terms(checked, article, tables, more=explain_blocks(checked, article))
    return dataclasses.replace(document, claims=claims, terms=named)


def _prepare(
    checked: CheckedPackage,
    article: Article,
    runs: Sequence[RunFigures],
    named: Sequence[str],
    look: str,
    compared: Compared | None,
) -> RenderContext:
    """Who is shown: the runs of most parts, and those that are cases of grids."""
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
    return RenderContext(checked, article, style(look), rows, shown, cases, columns, headings, itertools.count(1))


def metrics_of(article: Article, texts: Iterable[Prose] = ()) -> tuple[str, ...]:
    """The metrics that an article's tables and figures show, and its texts quote, each once."""
    blocks = (name for block in asked.blocks_of(article) for name in block.read_metrics())
    return tuple(dict.fromkeys((*blocks, *(quote.metric for text in texts for quote in text.quotes))))


def compared_metrics(article: Article) -> tuple[str, ...]:
    """Return the metrics that are compared between runs or phases, each once."""
    compared = (block for block in article.blocks if block.compares_averages)
    return tuple(dict.fromkeys(name for block in compared for name in block.read_metrics()))


def labels_of(article: Article, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """What an article calls each run or phase: its label constant, or its id where two runs share one."""
    named = [shorten(label) for label in whole_labels(article.label, runs)]
    return told_apart(named, runs, "{id}")


def _gallery(
    context: RenderContext, part: Part, prose: Mapping[str, Prose], notes: Mapping[str, tuple[str, ...]]
) -> Gallery:
    """Render a part: its prose, what is to be known of its blocks and what is left out; then the blocks."""
    blocks = render_blocks(context, part)
    said = render_prose(context, prose[part.prose]) if part.prose else ()
    choices = dict.fromkeys(name for block in blocks for name in block.choices if name)
    text = (
        *(paragraph.text for paragraph in said),
        *(sentence for name in choices for sentence in _choice(context, context.article.choice(name))),
        *(note for block in blocks for note in block.notes),
        *notes.get(part.title, ()),
        *(gap for block in blocks for gap in block.gaps),
    )
    return Gallery(
        f"part-{context.place}",
        part.title,
        text,
        tuple(plot for block in blocks for plot in block.plots),
        tuple(table for block in blocks for table in block.tables),
        abreast=_abreast(len(context.runs), laid=len(context.all_runs) > UPRIGHT),
        wide=tuple(plot for block in blocks for plot in block.wide),
        quoted=tuple(_quoted(context, said)),
    )


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


def _abreast(runs: int, *, laid: bool) -> int:
    """How many figures stand side by side, those of one kind in whole rows where that can be."""
    if laid:
        return 4 if runs in (2, 4) else 3
    return 3 if runs == 3 else 2


# What a part says


def render_prose(context: RenderContext, prose: Prose) -> tuple[Paragraph, ...]:
    """The prose of a part; paragraphs that quote a choice which a run does not make are left out."""

    def render_quote(quote: Quote) -> str | None:
        run = _named(context, quote)
        row = context.row(quote.choice, run)
        if quote.choice and row is None:
            return None
        return asked.quoted(context.checked, context.look, quote, run, row)

    return prose.paragraphs(render_quote)


def _quoted(context: RenderContext, said: Sequence[Paragraph]) -> Iterator[Quoted]:
    """The values in paragraphs, and of which run and row each is."""
    for place, paragraph in enumerate(said):
        for begin, end, quote in paragraph.quoted:
            run = _named(context, quote)
            label = next(shown.label for shown in context.all_runs if shown.run is run)
            row = [f"{name.replace('_', ' ')} {value}" for name, value in quote.where]
            choice = [context.article.choice(quote.choice).title] if quote.choice else []
            said_of = "; ".join([", ".join([*choice, *row]), label]).lstrip("; ")
            row_of = asked.row_of_quote(context.checked, quote, context.row(quote.choice, run))
            where = tuple((name, str(value)) for name, value in row_of.items())
            yield Quoted(place, begin, end, quote.metric, said_of, run.id, where)


def _named(context: RenderContext, quote: Quote) -> RunFigures:
    """The run that a quote names, by its id or its label; the last one when it names none."""
    if not quote.run:
        return context.runs[-1].run
    for shown in context.all_runs:
        if shown.run.id == quote.run:
            return shown.run
    alike = [shown.run for shown in context.all_runs if shown.label == quote.run]
    if not alike:
        known = list(dict.fromkeys(name for shown in context.all_runs for name in (shown.run.id, shown.label)))
        raise fail(
            "unknown-run",
            f"prose quotes `{quote.metric}` of a run that there is not: `{quote.run}`",
            span=quote.span,
            excerpt=quote.excerpt,
            expected=", ".join(known),
            hint=suggest_nearest(quote.run, known),
        )
    return alike[0]


def _choice(context: RenderContext, choice: Choice) -> Iterator[str]:
    rows = [(shown, context.row(choice.name, shown.run)) for shown in context.runs]
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


def manifest(checked: CheckedPackage, article: Article, columns: Sequence[RunFigures], named: Sequence[str]) -> Table:
    """What is known of each run beside its label, or of each phase, and from when to when that is.

    Constants are as they are kept; those that parts tell are left out.
    """
    read = _sources(checked, article)
    constants = {
        item.name: item
        for source in checked.package.sources
        if source.name in read or not read
        for item in source.constants
    }
    left_out = {article.label, *(item.constant for part in article.parts for item in part.select(Fact))}
    told = {
        name: (row_label(item.doc, item.unit.symbol), *(fact(item, run.constants[name]) for run in columns))
        for name, item in constants.items()
        if item.type in ("integer", "real", "text", "boolean") and name not in left_out
    }
    phases = phase_rows(columns)
    means = (*map(of_constant, told), *((SINCE, UNTIL) if phases else ()))
    leads = tuple(of_facts(means, [run.id for run in columns]))
    return Table("Phases" if phases else "Runs", ("", *named), (*told.values(), *phases), of_rows=means, leads=leads)


def _sources(checked: CheckedPackage, article: Article) -> set[str]:
    """The sources of which an article shows anything."""
    rows = [item.grain.name for item in asked.of_parts(checked, article)]
    compared = [checked.metric(name) for name in compared_metrics(article)]
    metrics = formula.list_measured(formula.index_metrics(checked.package), compared)
    tables = [*rows, *asked.series_of(article), *(metric.grain for metric in metrics)]
    events = dependencies.collect_dependencies(checked.package, [], [], tables).events
    return {event.source for event in checked.package.events if event.name in events}


# What series have that cannot be drawn


def undrawn(
    checked: CheckedPackage,
    article: Article,
    runs: Sequence[RunFigures],
    named: Sequence[str],
    counts: Sequence[Mapping[str, int]],
) -> tuple[str, ...]:
    """A sentence for each series of a run that is not drawn as a whole; `counts` are the samples of each run by event.

    Of a series without any samples, the parts that show it say so.
    """
    shown = asked.series_of(article)
    found = [item for item in checked.package.series if item.name in shown]
    return tuple(
        f"{label}: {item.name}{said}"
        for label, run, samples in zip(named, runs, counts, strict=True)
        for item in found
        for said in describe_missing(item, run, samples)
    )


def describe_missing(item: Series, run: RunFigures, samples: Mapping[str, int]) -> Iterator[str]:
    rows = asked.rows(run, item)
    odd = [row for row in rows if not asked.is_drawn(row)]
    if odd:
        lines = ", ".join(dict.fromkeys(" ".join(str(row[name]) for name in item.by) for row in odd))
        what = "is no number, or infinite" if len(odd) == 1 else "are no numbers, or infinite"
        yield f": {len(odd)} of {len(rows)} values {what}, and not drawn ({lines})."
    # That samples are too far apart is a warning already.
    elif (
        not rows
        and any(samples.get(sampled.event) for sampled in item.samples)
        and not any(said.startswith(f"{item.name}: ") for said in run.results.warnings)
    ):
        width = run.constants[item.window] if item.window else item.window_ns
        window = f"two samples within {exact_text(int(str(width)), 9)} s" if item.reading == "rate" else "a sample"
        yield f" has no value: no line has {window} of any step."
