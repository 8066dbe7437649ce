"""A publication to the document: labels, order and explanations of the edition, cells as printed, deltas worked out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.lang.model.report import Edition
from assay.lang.normal_form import CheckedPackage
from assay.publication.edition import Matched, Word, words
from assay.publication.model import MetricRow, Publication
from assay.report.assemble import name_columns
from assay.report.document import Appendix, Chart, Document, Entry, Group, Section, Series, Table
from assay.report.glossary import of_row, terms
from assay.report.run_results import row_label
from assay.styles.registry import Style, style

COUNTS = "Sample count"


def document(
    publication: Publication, found: Matched, checked: CheckedPackage, edition: Edition, provenance: Mapping[str, str]
) -> Document:
    """The document of a publication in its edition."""
    names = words(checked, edition)
    look = style(edition.style)
    report = next(item for item in checked.package.reports if edition in item.editions)
    manifest = _manifest(publication, found, edition)
    warnings = [*_other_deltas(found, look, checked), *_other_words(publication, checked, edition, names)]
    return Document(
        title=publication.title,
        subtitle=publication.subtitle,
        author=publication.author,
        date=publication.day,
        intro=(publication.intro,),
        style=edition.style,
        manifest=manifest,
        sections=tuple(_sections(publication, found, edition, names, look)),
        charts=tuple(_charts(publication, edition, names)),
        dictionary=_dictionary(checked, edition, names),
        warnings=tuple(warnings),
        filters=Table("Filters", ("Run", "Filter", "Argument", "Of", "Rejected", "Rows"), ()),
        provenance=tuple(provenance.items()),
        appendices=tuple(_appendices(publication, edition, names)),
        terms=terms(checked, report, (manifest,), counts=any(found.counts), printed=True),
    )


def _manifest(publication: Publication, found: Matched, edition: Edition) -> Table:
    """The rows as the edition calls them."""
    rows = tuple((facts.label, *facts.values) for facts in found.manifest)
    return Table("Overall run parameters", ("", *publication.runs), rows, of_rows=tuple(map(of_row, edition.manifest)))


def _sections(
    publication: Publication, found: Matched, edition: Edition, names: Mapping[str, Word], look: Style
) -> Iterator[Section]:
    header = name_columns(publication.runs)
    for section, rows, counts in zip(edition.sections, found.sections, found.counts, strict=True):
        cells = [_cells(row, names[metric], look) for metric, row in rows]
        metrics: list[str | None] = [metric for metric, _ in rows]
        if counts:
            first, *rest = counts
            cells.append((COUNTS, first, *(cell for count in rest for cell in (count, "", ""))))
            metrics.append(None)
        slug = "-".join(section.title.lower().split())
        yield Section(slug, section.title, section.doc, header, tuple(cells), tuple(metrics))


def _cells(row: MetricRow, word: Word, look: Style) -> tuple[str, ...]:
    deltas, percents = differences(row, look)
    first, *rest = row.values
    return (
        row_label(*word),
        first,
        *(cell for triple in zip(rest, deltas, percents, strict=True) for cell in triple),
    )


def differences(row: MetricRow, look: Style) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Deltas and percents: worked out where the style's follow from the printed values, else the printed ones."""
    if not look.follows_from_print:
        return row.deltas, row.percents
    found = look.printed_row(row.values)
    return found.deltas, found.percents


def _other_deltas(found: Matched, look: Style, checked: CheckedPackage) -> Iterator[str]:
    """Where the printed deltas are not those that the printed values give, or allow."""
    for rows in found.sections:
        for metric, row in rows:
            base, *rest = row.values
            for value, delta, percent in zip(rest, row.deltas, row.percents, strict=True):
                if not look.allows(base, value, delta, percent, checked.metric(metric).width):
                    yield (
                        f"{row.label}: the publication prints Δ {delta} and Δ% {percent} for {base} and {value}, "
                        f"which the number style {look.name} does not."
                    )


def _other_words(
    publication: Publication, checked: CheckedPackage, edition: Edition, names: Mapping[str, Word]
) -> Iterator[str]:
    """Where the publication explains or captions a metric in other words than its edition, or other metrics."""
    due = {name for group in edition.dictionary for name in group.metrics}
    told = {item.metric: item for _title, entries in publication.dictionary for item in entries}
    for name in sorted(due ^ set(told)):
        yield f"{name}: only {'the edition' if name in due else 'the publication'} explains it in its dictionary."
    for name in sorted(due & set(told)):
        if (told[name].name, told[name].description) != (names[name][0], checked.metric(name).doc):
            yield f"{name}: the publication explains it otherwise: {told[name].name}: {told[name].description}"
    charts = [chart.metric for chart in edition.charts]
    if charts != [figure.metric for figure in publication.figures]:
        yield "The publication has other charts than its edition, or in another order."
    for figure in publication.figures:
        if figure.metric in names and figure.caption != names[figure.metric][0]:
            yield f"{figure.metric}: the publication captions its chart otherwise: {figure.caption}"


def _charts(publication: Publication, edition: Edition, names: Mapping[str, Word]) -> Iterator[Chart]:
    for number, chart in enumerate(edition.charts, start=1):
        lines = publication.points.get(chart.metric)
        if lines is not None:
            name, symbol = names[chart.metric]
            series = tuple(
                Series(run, tuple((value, centile, None, None) for value, centile in lines[run]))
                for run in publication.runs
            )
            label = row_label(name, symbol)
            yield Chart(chart.metric, number, name, label, symbol, chart.template, series, chart.scale)


def _dictionary(checked: CheckedPackage, edition: Edition, names: Mapping[str, Word]) -> tuple[Group, ...]:
    def entry(name: str) -> Entry:
        said, symbol = names[name]
        # No hash: what was published was not worked out by the definitions of these specs.
        return Entry(name, said, symbol, checked.metric(name).doc, "")

    return tuple(Group(group.title, tuple(entry(name) for name in group.metrics)) for group in edition.dictionary)


def _appendices(publication: Publication, edition: Edition, names: Mapping[str, Word]) -> Iterator[Appendix]:
    undrawn = [
        (str(number), names[chart.metric][0], chart.metric)
        for number, chart in enumerate(edition.charts, start=1)
        if chart.metric not in publication.points
    ]
    if undrawn:
        yield Appendix(
            "Charts without data",
            ("The publication shows these distributions as pictures only. The points that they plot are not known.",),
            ("Figure", "Metric", "Id"),
            tuple(undrawn),
        )
    if publication.notes:
        yield Appendix("Notes on the publication's data", _sentences(publication.notes), (), ())


def _sentences(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(note[:1].upper() + note[1:] + ("" if note.endswith(".") else ".") for note in notes)
