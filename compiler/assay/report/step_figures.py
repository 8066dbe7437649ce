"""Draw how the change of a total divides into those of its steps: a waterfall, in the order of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from assay.judgement.report_judgements import ReportJudgements
from assay.judgement.steps import StepChange, StepTable
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.segments import get_whole, name_file
from assay.number_styles.prefixed import format_value
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.document import Part, Plot
from assay.report.judged_cells import CERTAIN, get_word
from assay.report.step_sentences import format_share
from assay.util.escape import escape_text

TEMPLATE = "steps"  # chart template
COLUMNS = ("mark", "step", "x", "x2", "text", "verdict", "metric", "share")
PART = "steps-of-changes"
REST = "rows that lack an instant"
_OPEN = "other"  # verdict of a bar without a certain change
_SIGNIFICANT = 6  # digits of a drawn number

Row = tuple[str, str, float, float, str, str, str | None, str]


def build_steps_part(
    checked: CheckedPackage, judgements: ReportJudgements, labels: Mapping[str, str], first_figure: int
) -> Part | None:
    """Return the part with a figure for each total whose steps are known; None without one.

    `labels` are those of versions by their ids; figures are numbered from `first_figure` on.
    """
    plots = tuple(
        _draw_steps(checked.get_metric(name), table, (labels[judgements.base], labels[version]), number)
        for number, ((name, version), table) in enumerate(judgements.steps.items(), first_figure)
        if version in labels
    )
    if not plots:
        return None
    text = (
        "Each bar but the last is what a step adds to the change of a total, which is the last one. It begins where the"
        " bar above it ends. Colours are verdicts. On the web page, a click on a bar opens the metric.",
    )
    return Part(PART, "Steps of changes", text, plots, ())


def _draw_steps(metric: Metric, table: StepTable, labels: tuple[str, str], number: int) -> Plot:
    factor, symbol = choose_prefix([float(abs(table.total.difference))], metric.unit.symbol)
    rows = tuple(_list_rows(metric, table, factor))
    name, base, other = map(escape_text, (metric.name, *labels))
    described = ", ".join(f"{row[1]} {row[4]}" for row in rows)
    return Plot(
        f"steps-{name_file(metric.id)}-{number}",
        number,
        f"Steps of {name}: {other} against {base}",
        symbol,
        f"What each step adds to the change of {name} in {symbol}: {described}.",
        TEMPLATE,
        COLUMNS,
        rows,
        tuple(row[1] for row in rows),
        x_label=f"change, {symbol}",
        y_label="step",
        shows=(get_whole(metric.id),),
    )


def _list_rows(metric: Metric, table: StepTable, factor: Fraction) -> Iterator[Row]:
    """Yield the bars of the steps, each from the end of the one before, then that of the total."""
    place, names = Fraction(0), _name_steps(table)
    for step, name in zip(table.steps, names, strict=False):
        end = place + step.difference
        yield _build_row(("step", name, step.metric), (place * factor, end * factor), step, format_share(table, step))
        place = end
    total = table.total
    if table.has_rest:
        begin, end = place * factor, total.difference * factor
        share = table.compute_share(total.difference - place)
        text = "" if share is None else f"{float(100 * share):.0f} %"
        yield "step", REST, _round(begin), _round(end), _format_signed(end - begin), _OPEN, None, text
    ends = Fraction(0), total.difference * factor
    yield _build_row(("total", names[-1], metric.id), ends, total, "100 %")


def _build_row(subject: tuple[str, str, str], ends: tuple[Fraction, Fraction], step: StepChange, share: str) -> Row:
    """Return a bar; `subject` are its mark, its name and the id of its metric, empty for a rest."""
    mark, name, metric = subject
    verdict = get_word(step.change) if step.change.judgement.verdict in CERTAIN else _OPEN
    text = _format_signed(ends[1] - ends[0])
    return mark, name, _round(ends[0]), _round(ends[1]), text, verdict, metric or None, share


def _name_steps(table: StepTable) -> list[str]:
    """Return the names of the steps and of the total; one that occurs again has a number."""
    names: list[str] = []
    for item in (*table.steps, table.total):
        name, count = escape_text(item.name), sum(item.name == other.name for other in _list_before(table, item))
        names.append(f"{name} ({count + 1})" if count else name)
    return names


def _list_before(table: StepTable, item: StepChange) -> Sequence[StepChange]:
    return table.steps[: table.steps.index(item)] if item in table.steps else table.steps


def _format_signed(number: Fraction) -> str:
    text = format_value(float(number))
    return f"+{text}" if number > 0 else text


def _round(number: Fraction) -> float:
    return float(f"{float(number):.{_SIGNIFICANT}g}")
