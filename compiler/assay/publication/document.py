"""Build the document of a publication: names, order and explanations of its edition, printed cells, differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Edition
from assay.publication.edition import Matched, Word, words
from assay.publication.model import MetricRow, Publication
from assay.report.assemble import name_columns
from assay.report.document import Appendix, Chart, Document, Entry, Group, Section, Series, Table
from assay.report.glossary import of_row, terms
from assay.report.run_results import row_label
from assay.styles.registry import Style, style

COUNTS = "Sample count"


def document(
    publication: Publication, matched: Matched, checked: CheckedPackage, edition: Edition, provenance: Mapping[str, str]
) -> Document:
    """Return the document of a publication in its edition."""
    names = words(checked, edition)
    number_style = style(edition.style)
    report = next(item for item in checked.package.reports if edition in item.editions)
    manifest = _build_manifest(publication, matched, edition)
    warnings = [*_check_deltas(matched, number_style, checked), *_check_words(publication, checked, edition, names)]
    return Document(
        title=publication.title,
        subtitle=publication.subtitle,
        author=publication.author,
        date=publication.day,
        intro=(publication.intro,),
        style=edition.style,
        manifest=manifest,
        sections=tuple(_build_sections(publication, matched, edition, names, number_style)),
        charts=tuple(_build_charts(publication, edition, names)),
        dictionary=_build_dictionary(checked, edition, names),
        warnings=tuple(warnings),
        filters=Table("Filters", ("Run", "Filter", "Argument", "Of", "Rejected", "Rows"), ()),
        provenance=tuple(provenance.items()),
        appendices=tuple(_build_appendices(publication, edition, names)),
        terms=terms(checked, report, (manifest,), counts=any(matched.counts), printed=True),
    )


def _build_manifest(publication: Publication, matched: Matched, edition: Edition) -> Table:
    """Return the table of run parameters, with the labels of the edition."""
    rows = tuple((facts.label, *facts.values) for facts in matched.manifest)
    return Table("Overall run parameters", ("", *publication.runs), rows, of_rows=tuple(map(of_row, edition.manifest)))


def _build_sections(
    publication: Publication, matched: Matched, edition: Edition, names: Mapping[str, Word], look: Style
) -> Iterator[Section]:
    header = name_columns(publication.runs)
    for section, rows, counts in zip(edition.sections, matched.sections, matched.counts, strict=True):
        cells = [_format_cells(row, names[metric], look) for metric, row in rows]
        metrics: list[str | None] = [metric for metric, _ in rows]
        if counts:
            first, *rest = counts
            cells.append((COUNTS, first, *(cell for count in rest for cell in (count, "", ""))))
            metrics.append(None)
        slug = "-".join(section.title.lower().split())
        yield Section(slug, section.title, section.doc, header, tuple(cells), tuple(metrics))


def _format_cells(row: MetricRow, word: Word, look: Style) -> tuple[str, ...]:
    deltas, percents = differences(row, look)
    first, *rest = row.values
    return (
        row_label(*word),
        first,
        *(cell for triple in zip(rest, deltas, percents, strict=True) for cell in triple),
    )


def differences(row: MetricRow, look: Style) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return deltas and percents: computed if the style derives them from printed values, otherwise as printed."""
    if not look.follows_from_print:
        return row.deltas, row.percents
    computed = look.printed_row(row.values)
    return computed.deltas, computed.percents


def _check_deltas(matched: Matched, look: Style, checked: CheckedPackage) -> Iterator[str]:
    """Yield a warning for each printed delta that does not follow from the printed values."""
    for rows in matched.sections:
        for metric, row in rows:
            base, *rest = row.values
            for value, delta, percent in zip(rest, row.deltas, row.percents, strict=True):
                if not look.allows(base, value, delta, percent, checked.metric(metric).width):
                    yield (
                        f"{row.label}: the publication prints Δ {delta} and Δ% {percent} for {base} and {value}, "
                        f"which the number style {look.name} does not."
                    )


def _check_words(
    publication: Publication, checked: CheckedPackage, edition: Edition, names: Mapping[str, Word]
) -> Iterator[str]:
    """Yield a warning for each metric whose explanation or caption differs from the edition, and for other metrics."""
    expected = {name for group in edition.dictionary for name in group.metrics}
    explained = {item.metric: item for _title, entries in publication.dictionary for item in entries}
    for name in sorted(expected ^ set(explained)):
        yield f"{name}: only {'the edition' if name in expected else 'the publication'} explains it in its dictionary."
    for name in sorted(expected & set(explained)):
        entry = explained[name]
        if (entry.name, entry.description) != (names[name][0], checked.metric(name).doc):
            yield f"{name}: the publication explains it otherwise: {entry.name}: {entry.description}"
    charts = [chart.metric for chart in edition.charts]
    if charts != [figure.metric for figure in publication.figures]:
        yield "The publication has other charts than its edition, or in another order."
    for figure in publication.figures:
        if figure.metric in names and figure.caption != names[figure.metric][0]:
            yield f"{figure.metric}: the publication captions its chart otherwise: {figure.caption}"


def _build_charts(publication: Publication, edition: Edition, names: Mapping[str, Word]) -> Iterator[Chart]:
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


def _build_dictionary(checked: CheckedPackage, edition: Edition, names: Mapping[str, Word]) -> tuple[Group, ...]:
    def build_entry(name: str) -> Entry:
        printed_name, symbol = names[name]
        # No hash: the published numbers were not computed with these definitions.
        return Entry(name, printed_name, symbol, checked.metric(name).doc, "")

    return tuple(Group(group.title, tuple(build_entry(name) for name in group.metrics)) for group in edition.dictionary)


def _build_appendices(publication: Publication, edition: Edition, names: Mapping[str, Word]) -> Iterator[Appendix]:
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
        yield Appendix("Notes on the publication's data", _format_notes(publication.notes), (), ())


def _format_notes(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(note[:1].upper() + note[1:] + ("" if note.endswith(".") else ".") for note in notes)
