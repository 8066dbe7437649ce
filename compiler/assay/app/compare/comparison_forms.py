"""Show a comparison of runs: cells and notes, Markdown, HTML, plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

from assay.app.compare.compared_metrics import ComparedMetric, ComparedVersion, RunComparison
from assay.number_styles.cell_text import convert_text
from assay.number_styles.prefixed import format_percent
from assay.number_styles.row import NO_VALUE
from assay.report.mixes import describe_mixes
from assay.report.render import markdown_syntax
from assay.report.render.markdown_syntax import format_table
from assay.report.verdicts.figures import format_percents, format_values, list_local_names
from assay.report.verdicts.paired_sentences import describe_paired, find_paired_change
from assay.report.verdicts.recorded_change import RecordedChange
from assay.report.verdicts.sentences import count_verdicts, describe_quantile_verdicts, describe_unjudged_changes

_COLOURS = {"worse": "#b3400f", "better": "#00687d", "changed": "inherit"}
_NOISE = "#6b7480"  # colour of rows without a certain change


def list_members() -> tuple[str, ...]:
    """Return the members of a change as plain data."""
    return ("section", "metric", "name", "unit", "base", "base_value", "base_spread", "base_size", "run", "value",
            "spread", "size", "difference", "difference_low", "difference_high", "percent", "low", "high", "margin",
            "better", "verdict", "reason", "by_itself")  # fmt: skip


def export_comparison(comparison: RunComparison) -> dict[str, Any]:
    """Return a comparison as plain data: numbers are unrounded, those of values in the metric's unit."""
    changes = [
        dict(zip(list_members(), _list_values(comparison.base, version.id, metric), strict=True))
        for version in comparison.versions
        for metric in version.metrics
    ]
    return {
        "report": comparison.report or None,
        "summary": comparison.summary,
        "filters": list(comparison.filters),
        "level": comparison.level,
        "noise": comparison.noise,
        "base": comparison.base,
        "cautions": {version.id: version.caution for version in comparison.versions if version.caution},
        "changes": changes,
    }


def _list_values(base: str, run: str, metric: ComparedMetric) -> tuple[object, ...]:
    item, (base_spread, spread), (base_size, size) = metric.change, metric.spreads, metric.sizes or (None, None)
    return (item.section, item.metric, item.name, item.unit, base, item.base, base_spread, base_size, run, item.value,
            spread, size, item.difference, item.difference_low, item.difference_high, item.percent, item.low, item.high,
            item.margin, item.better, item.verdict, item.reason, item.is_by_itself)  # fmt: skip


def list_cells(metric: ComparedMetric, name: str, rows: Sequence[RecordedChange]) -> tuple[str, ...]:
    """Return name, base value with spread, value with spread, change, interval, verdict, number of samples.

    A metric without an interval has a change all the same. `rows` are all changes of the table.
    """

    change = metric.change
    base, value, unit = format_values(change, rows)
    values = [f"{text} {unit}".rstrip() for text in (base, value)]
    spreads = [f"±{_format_spread(spread)} %" if spread is not None else "" for spread in metric.spreads]
    sizes = "" if metric.sizes is None else " / ".join(map(str, dict.fromkeys(metric.sizes)))
    percent, interval = format_percents(change)
    if not percent:
        percent, interval = format_percent(change.base, change.value), NO_VALUE
    return name, values[0], spreads[0], values[1], spreads[1], percent, interval, change.verdict_text, sizes


def _format_spread(percent: float) -> str:
    """Return a spread with two significant digits, and all digits before the point."""
    return f"{percent:.0f}" if percent >= 9.95 else f"{percent:#.2g}"


def list_notes(version: ComparedVersion, base: str) -> list[str]:
    """Return the notes below the table of a version.

    They are on segments of few samples, on quantiles, on verdicts, and why the comparison is suspect.
    """

    changes = [metric.change for metric in version.metrics]
    item = find_paired_change(changes)
    paired = describe_paired(item) if item else ""
    unjudged = describe_unjudged_changes(changes)
    mixes = describe_mixes([(item.name, item.mix) for item in changes if item.mix], (base, version.id))
    return list(
        filter(None, (mixes, paired, describe_quantile_verdicts(changes), unjudged, *version.notes, version.caution))
    )


def format_markdown(comparison: RunComparison) -> str:
    """Return a comparison as Markdown: for each version a heading with the counts, and a table for each section."""

    def escape_line(text: str) -> str:
        return markdown_syntax.break_mentions(markdown_syntax.escape_line(text))

    def escape_cell(text: str) -> str:
        return markdown_syntax.break_mentions(markdown_syntax.escape_cell(text))

    blocks = []
    for version in comparison.versions:
        changes = [metric.change for metric in version.metrics]
        blocks.append(f"## {escape_line(f'{version.id} against {comparison.base}')}")
        blocks.append(escape_line(count_verdicts(changes)))
        names = list_local_names(changes)
        header = (comparison.base, "±", version.id, "±", "Δ%", f"{100 * comparison.level:g} % interval", "verdict", "n")
        for section, group in groupby(version.metrics, key=lambda metric: metric.change.section):
            rows = []
            for metric in group:
                name, *cells = list_cells(metric, names[metric.change.metric], changes)
                rows.append([convert_text(cell, escape_cell) for cell in (name, *cells)])
            blocks.append(f"### {escape_line(section)}")
            blocks.append(format_table(["", *map(escape_cell, header)], rows).rstrip("\n"))
        blocks += map(escape_line, list_notes(version, comparison.base))
    return "\n\n".join([*blocks, escape_line(comparison.noise)])


def format_html(comparison: RunComparison) -> str:
    """Return a comparison as the HTML of a notebook: for each version the counts of verdicts, a table, and notes."""
    return "\n".join(line for version in comparison.versions for line in _format_version(comparison, version))


def _format_version(comparison: RunComparison, version: ComparedVersion) -> Iterator[str]:
    changes = [metric.change for metric in version.metrics]
    names = list_local_names(changes)
    header = ("", comparison.base, version.id, "Δ%", f"{100 * comparison.level:g} % interval", "verdict", "n")
    yield f"<h4>{escape(f'{version.id} against {comparison.base}')}</h4>"
    yield f"<p>{escape(count_verdicts(changes))}</p>"
    yield f"<table><thead><tr>{''.join(f'<th>{escape(text)}</th>' for text in header)}</tr></thead>"
    for section, group in groupby(version.metrics, key=lambda metric: metric.change.section):
        yield f'<tbody><tr><th colspan="{len(header)}" style="text-align: left">{escape(section)}</th></tr>'
        for metric in group:
            name, base, _, value, _, *others = list_cells(metric, names[metric.change.metric], changes)
            texts = "".join(f"<td>{escape(text)}</td>" for text in (base, value, *others))
            colour = _COLOURS.get(metric.change.verdict, _NOISE)
            yield f'<tr style="color: {colour}"><td style="text-align: left">{escape(name)}</td>{texts}</tr>'
        yield "</tbody>"
    yield "</table>"
    for note in (*list_notes(version, comparison.base), comparison.noise):
        yield f"<p><small>{escape(note)}</small></p>"
