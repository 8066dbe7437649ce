"""Write judged changes as figures: percents, intervals, averages, names; and order them by relevance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from assay.lang.segments import get_whole
from assay.number_styles.prefixed import format_change_within, format_percent_interval, format_value
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.judged_cells import format_difference_interval
from assay.report.verdicts.recorded_change import RecordedChange

LEAST_P = 0.001


def format_percents(change: RecordedChange) -> tuple[str, str]:
    """Return the change in percent and its interval, without units: `+31`, `+11 … +51`; empty if there is none.

    From a base of 0 there is no percentage: a dash, and the interval of the difference, `Δ +2.5 … +3.8 %`.
    """

    if change.percent is None and change.difference_low is not None and change.difference_high is not None:
        ends = (change.difference_low, change.difference_high)
        return NO_VALUE, format_difference_interval(ends, change.value or 0.0, change.unit)
    if change.percent is None or change.low is None or change.high is None:
        return "", ""
    limits = (change.low, change.high, change.least_margin)
    return format_change_within(change.percent, *limits), format_percent_interval(*limits)


def format_size(change: RecordedChange) -> str:
    """Return the change of a judged metric in a word or two: `+31 %`, or `from 0`, of which there is no percentage."""
    return "from 0" if change.is_from_zero else f"{format_percents(change)[0]} %"


def format_values(change: RecordedChange, rows: Iterable[RecordedChange] = ()) -> tuple[str, str, str]:
    """Return the averages of base and run with three digits, and the symbol of the unit that they are written in.

    Of the `rows` of the table, segments of one metric are in one unit.
    """

    values = (change.base, change.value)
    whole = get_whole(change.metric)
    alike = (end for item in rows if get_whole(item.metric) == whole for end in (item.base, item.value))
    factor, symbol = choose_prefix([*values, *alike], change.unit)
    base, value = (format_value(None if item is None else float(item * factor)) for item in values)
    return base, value, symbol


def format_change(change: RecordedChange) -> tuple[str, str]:
    """Return the change and its interval as words of a line: `+31 %`, `(+11 … +51)`; empty if there is none.

    A change from 0 is written as `0 → 3.12 %`, `(Δ +2.5 … +3.8 %)`.
    """
    percent, interval = format_percents(change)
    if change.is_from_zero:
        base, value, unit = format_values(change)
        return f"{base} → {value} {unit}".rstrip(), f"({interval})"
    return (f"{percent} %", f"({interval})") if percent else ("", "")


def format_p(p: float, name: str = "Holm p") -> str:
    """Return a p of the gate: one that is adjusted, unless another name is given."""
    return f"{name} < {LEAST_P:g}" if p < LEAST_P else f"{name} {p:.3f}"


def sort_by_relevance(changes: Iterable[RecordedChange]) -> Sequence[RecordedChange]:
    """Return changes by relevance: those that close the gate first, then by how far their interval is from 0."""
    return sorted(changes, key=lambda item: (not item.is_closing, -item.certain_change, item.metric))


def list_titles(changes: Iterable[RecordedChange]) -> dict[str, str]:
    """Return a title for each metric: its name, with its section or id if another metric has the same name."""
    listed = list(changes)
    numbers = Counter(change.name for change in listed)
    local_names = list_local_names(listed)
    titles = {}
    for change in listed:
        local_name = local_names[change.metric]
        is_shared = numbers[change.name] > 1 and local_name == change.name
        titles[change.metric] = f"{change.name} ({change.section})" if is_shared else local_name
    return titles


def list_local_names(changes: Iterable[RecordedChange]) -> dict[str, str]:
    """Return a name for each metric that is unique in its section: its name, with its id if another one has it."""
    listed = list(changes)
    numbers = Counter((change.section, change.name) for change in listed)
    return {
        change.metric: change.name if numbers[change.section, change.name] == 1 else f"{change.name} ({change.metric})"
        for change in listed
    }
