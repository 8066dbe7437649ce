"""Build the document of a publication: names, order and explanations of its edition, printed cells, differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Edition
from assay.lang.report_shorthand import DISTRIBUTIONS
from assay.number_styles.cell_text import print_number
from assay.number_styles.registry import Style, get_style
from assay.publication.edition import MatchedRows, Word, collect_metric_words
from assay.publication.model import MetricRow, Publication
from assay.publication.reader import read_cell
from assay.report.distributions import describe_charts
from assay.report.document import Chart, Document, Entry, Group, Part, Series
from assay.report.formatted_text import name_anchor
from assay.report.glossary import build_terms, get_row_id
from assay.report.run_results import add_unit
from assay.report.sections import name_columns
from assay.report.short_counts import explain_short_counts
from assay.report.tables import Appendix, MetricTable, Table

COUNTS = "Sample count"


def build_publication_document(
    publication: Publication,
    matched_rows: MatchedRows,
    checked: CheckedPackage,
    edition: Edition,
    provenance: Mapping[str, str],
) -> Document:
    """Return the document of a publication in its edition."""
    metric_words = collect_metric_words(checked, edition)
    number_style = get_style(edition.style)
    report = next(item for item in checked.package.reports if edition in item.editions)
    manifest = _build_manifest(publication, matched_rows, edition)
    warnings = [
        *_check_deltas(matched_rows, number_style, checked),
        *_check_words(publication, checked, edition, metric_words),
    ]
    return explain_short_counts(
        Document(
            title=publication.title,
            subtitle=publication.subtitle,
            author=publication.author,
            date=publication.day,
            intro=(publication.intro,),
            style=edition.style,
            manifest=manifest,
            parts=(
                *_build_sections(publication, matched_rows, edition, metric_words, number_style),
                *_build_distributions(publication, edition, metric_words),
            ),
            dictionary=_build_dictionary(checked, edition, metric_words),
            warnings=tuple(warnings),
            filters=Table("Filters", ("Run", "Filter", "Argument", "Of", "Rejected", "Rows"), ()),
            provenance=tuple(provenance.items()),
            appendices=tuple(_build_appendices(publication, edition, metric_words)),
            terms=build_terms(
                checked, report, (manifest,), has_sample_counts=any(matched_rows.counts), is_published=True
            ),
        )
    )


def _build_manifest(publication: Publication, matched_rows: MatchedRows, edition: Edition) -> Table:
    """Return the table of run parameters, with the labels of the edition."""
    rows = tuple((facts.label, *map(read_cell, facts.values)) for facts in matched_rows.manifest)
    return Table(
        "Overall run parameters", ("", *publication.runs), rows, of_rows=tuple(map(get_row_id, edition.manifest))
    )


def _build_sections(
    publication: Publication,
    matched_rows: MatchedRows,
    edition: Edition,
    metric_words: Mapping[str, Word],
    number_style: Style,
) -> Iterator[Part]:
    header = name_columns(publication.runs)
    for section, rows, counts in zip(edition.sections, matched_rows.sections, matched_rows.counts, strict=True):
        cells = [_format_cells(row, metric_words[metric], number_style) for metric, row in rows]
        metrics: list[str | None] = [metric for metric, _ in rows]
        if counts:
            first, *rest = map(read_cell, counts)
            cells.append((COUNTS, first, *(cell for count in rest for cell in (count, "", ""))))
            metrics.append(None)
        table = MetricTable(
            name_anchor(section.title), section.title, section.doc, header, tuple(cells), tuple(metrics),
            units=(*(metric_words[metric][1] for metric, _ in rows), *([""] if counts else [])),
        )  # fmt: skip
        yield Part(table.id, table.title, (), (), (table,))


def _format_cells(row: MetricRow, word: Word, number_style: Style) -> tuple[str, ...]:
    deltas, percents = get_differences(row, number_style)
    first, *rest = map(read_cell, row.values)
    return (
        add_unit(*word),
        first,
        *(
            cell
            for triple in zip(rest, map(read_cell, deltas), map(read_cell, percents), strict=True)
            for cell in triple
        ),
    )


def get_differences(row: MetricRow, number_style: Style) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return deltas and percents: computed if the style derives them from printed values, otherwise as printed."""
    if not number_style.follows_from_print:
        return row.deltas, row.percents
    computed_row = number_style.format_printed_row(row.values)
    return computed_row.deltas, computed_row.percents


def _check_deltas(matched_rows: MatchedRows, number_style: Style, checked: CheckedPackage) -> Iterator[str]:
    """Yield a warning for each printed delta that does not follow from the printed values."""
    for rows in matched_rows.sections:
        for metric, row in rows:
            base, *rest = row.values
            for value, delta, percent in zip(rest, row.deltas, row.percents, strict=True):
                if not number_style.can_print(base, value, delta, percent, checked.get_metric(metric).width):
                    yield (
                        f"{row.label}: the publication prints Δ {delta} and Δ% {percent} for {base} and {value}, "
                        f"which the number style {number_style.name} cannot print."
                    )


def _check_words(
    publication: Publication, checked: CheckedPackage, edition: Edition, metric_words: Mapping[str, Word]
) -> Iterator[str]:
    """Yield a warning for each metric whose explanation or caption differs from the edition, and for other metrics."""
    expected_ids = {name for group in edition.dictionary for name in group.metrics}
    published_entries = {item.metric: item for _title, entries in publication.dictionary for item in entries}
    for name in sorted(expected_ids ^ set(published_entries)):
        yield (
            f"{name}: only {'the edition' if name in expected_ids else 'the publication'} explains it in "
            "its dictionary."
        )
    for name in sorted(expected_ids & set(published_entries)):
        entry = published_entries[name]
        if (entry.name, entry.description) != (metric_words[name][0], checked.get_metric(name).doc):
            yield f"{name}: the publication has another explanation: {entry.name}: {entry.description}"
    charts = [chart.metric for chart in edition.charts]
    if charts != [figure.metric for figure in publication.figures]:
        yield "The publication has other charts than its edition, or in another order."
    for figure in publication.figures:
        if figure.metric in metric_words and figure.caption != metric_words[figure.metric][0]:
            yield f"{figure.metric}: the publication has another caption for its chart: {figure.caption}"


def _build_distributions(
    publication: Publication, edition: Edition, metric_words: Mapping[str, Word]
) -> Iterator[Part]:
    """Yield the part with the charts, if the points of any are published."""
    if charts := tuple(_build_charts(publication, edition, metric_words)):
        yield Part(name_anchor(DISTRIBUTIONS), DISTRIBUTIONS, (describe_charts(charts),), charts, ())


def _build_charts(publication: Publication, edition: Edition, metric_words: Mapping[str, Word]) -> Iterator[Chart]:
    for number, chart in enumerate(edition.charts, start=1):
        lines = publication.points.get(chart.metric)
        if lines is not None:
            name, symbol = metric_words[chart.metric]
            series = tuple(
                Series(run, tuple((value, centile, None, None) for value, centile in lines[run]))
                for run in publication.runs
            )
            label = add_unit(name, symbol)
            yield Chart(chart.metric, number, name, label, symbol, chart.template, series, chart.scale)


def _build_dictionary(checked: CheckedPackage, edition: Edition, metric_words: Mapping[str, Word]) -> tuple[Group, ...]:
    def build_entry(name: str) -> Entry:
        printed_name, symbol = metric_words[name]
        # No hash: the published numbers were not computed with these definitions.
        return Entry(name, printed_name, symbol, checked.get_metric(name).doc, "")

    return tuple(Group(group.title, tuple(build_entry(name) for name in group.metrics)) for group in edition.dictionary)


def _build_appendices(
    publication: Publication, edition: Edition, metric_words: Mapping[str, Word]
) -> Iterator[Appendix]:
    undrawn_charts = [
        (print_number(str(number)), metric_words[chart.metric][0], chart.metric)
        for number, chart in enumerate(edition.charts, start=1)
        if chart.metric not in publication.points
    ]
    if undrawn_charts:
        yield Appendix(
            "Charts without data",
            ("The publication shows these distributions as pictures only. The points that they plot are not known.",),
            ("Figure", "Metric", "Id"),
            tuple(undrawn_charts),
        )
    if publication.notes:
        yield Appendix("Notes on the publication's data", _format_notes(publication.notes), (), ())


def _format_notes(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(note[:1].upper() + note[1:] + ("" if note.endswith(".") else ".") for note in notes)
