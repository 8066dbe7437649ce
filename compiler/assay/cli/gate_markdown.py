"""Write a gate as the Markdown of a comment on a pull request, in less than 2000 bytes whatever the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.app.compare.gate import (
    describe_closing,
    describe_data,
    describe_lacking_samples,
    describe_unjudged,
    is_open,
    list_all_gated,
    list_cautions,
)
from assay.app.compare.gate_texts import (
    count_all_verdicts,
    describe_required_runs,
    describe_run_mixes,
    describe_uncorrected,
    describe_visible_change,
    list_undecided,
    summarize_gate,
)
from assay.app.judge.judged_results import JudgedResults
from assay.judgement.verdict import VERDICT_ORDER
from assay.number_styles.cell_text import convert_text
from assay.quality.finding import list_names
from assay.report.render.markdown_syntax import break_mentions, escape_cell, format_table
from assay.report.verdicts.figures import (
    format_change,
    format_p,
    format_percents,
    format_size,
    format_values,
    list_titles,
    sort_by_relevance,
)
from assay.report.verdicts.recorded_change import RecordedChange
from assay.report.verdicts.sentences import describe_quantile_verdicts, describe_unjudged_changes
from assay.util.diagnostics import AssayError
from assay.util.numbers import format_count

MOST_BYTES = 1999
FOLDED_BYTES = 450  # that rows of the table leave to the folded part
MOST_ENTRIES = 200  # more names do not fit in any case
NAMED_RUNS = 3
NAMED_UNCORRECTED = 3
CONDITIONS = "conditions"
REST = (*VERDICT_ORDER[1:], CONDITIONS)
"""The groups of the folded part, in its order."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A change with the title of its metric, and the label of its run, which is empty if there is only one."""

    change: RecordedChange
    title: str
    label: str

    @property
    def group(self) -> str:
        """Its group in the folded part: the verdict, or conditions that did not change, which the headline omits."""
        is_condition = self.change.better == "neither" and self.change.verdict != "changed"
        return CONDITIONS if is_condition else self.change.verdict


def format_markdown(results: JudgedResults) -> str:
    """Return the gate: a headline with the counts, a table, the rest folded, the sentence on noise.

    The table has the gated metrics, those that fail the gate first, then what else is worse.
    """

    gated = list_all_gated(results)
    state = "passes" if is_open(results) else "fails"
    summary = f"{summarize_gate(gated)}{_name_closing(gated)}"
    if is_open(results) and (segments := _describe_worst_segment(results)):
        state, summary = f"passes, but {segments}", f"{summary}; {segments}" if list_undecided(gated) else summary
    summary = _clip(summary if list_undecided(gated) else f"{state}: {summary}", 280)
    headline = f"**Gate {summary}.** {_clip(count_all_verdicts(results), 200)}"
    blocks = [
        headline,
        _format_subject(results),
        *([_clip(text, 240)] if (text := describe_lacking_samples(results)) else []),
        *(
            [_clip(text, 240)]
            if (text := describe_required_runs(results, gated) or describe_visible_change(gated))
            else []
        ),
        *(_clip(text, 320) for run in results.runs for text in run.causes),
        *_list_reservations(results),
        *(_clip(text, 320) for run in results.runs if (text := describe_run_mixes(run, results.base))),
        *_list_uncorrected(results, gated),
        *_list_worse_segments(results),
        *([_clip(text, 320)] if (text := describe_quantile_verdicts(results.changes)) else []),
        *([_clip(text, 320)] if (text := describe_unjudged_changes(results.changes)) else []),
    ]
    noise = _clip(results.noise, 320)
    available = MOST_BYTES - _measure([*blocks, noise])
    entries = _list_entries(results)
    listed = [item for item in entries if item.change.p is not None or item.change.is_worse]
    listed.sort(key=lambda item: item.change.p is None)
    listed_entries = {id(item) for item in listed}  # there may be thousands, and equality compares all their parts
    rest = [item for item in entries if id(item) not in listed_entries]
    if listed:
        table = _format_table(results, listed, available - (FOLDED_BYTES if rest else 0))
        blocks.append(table)
        available -= _measure([table])
    if rest:
        blocks.append(_format_rest(rest, available))
    return "\n\n".join([*blocks, noise])


def _name_closing(gated: Sequence[RecordedChange]) -> str:
    """Return the changes that close the gate in brackets, the largest certain ones; empty if it is open."""

    closing = sort_by_relevance(change for change in gated if change.is_closing)
    return f" ({list_names([f'{change.name} {format_size(change)}' for change in closing])})" if closing else ""


def format_undecided(results: JudgedResults, error: AssayError) -> str:
    """Return why a gate does not decide: a headline, the report, what was expected and found, and what is missing.

    Then which metrics are worse all the same.
    """

    item = error.diagnostics[0]
    details = [f"{name}: {_clip(text, 400)}" for name, text in (("expected", item.expected), ("found", item.found))]
    reason = item.message.partition(": ")[2]
    headline = f"**Gate does not decide: {_clip(reason, 200)}.**"
    return "\n\n".join([headline, _format_subject(results), "<br>".join(details), *_list_reservations(results),
                        *([_clip(text, 240)] if (text := describe_closing(results)) else [])])  # fmt: skip


def _list_reservations(results: JudgedResults) -> list[str]:
    """Return what makes the comparison suspect, how complete the data are, and why gated metrics have no interval."""

    caution, data, unjudged = " ".join(list_cautions(results)), describe_data(results), describe_unjudged(results)
    return [
        *([f"**{_clip(caution, 300)}**"] if caution else []),
        *(_clip(text, 240) for text in (data, unjudged) if text),
    ]


def _list_uncorrected(results: JudgedResults, gated: Sequence[RecordedChange]) -> list[str]:
    """Return a sentence on the changes that only the correction for their number keeps from closing the gate."""
    changes = [change for change in gated if change.is_worse_uncorrected]
    texts = [
        f"{change.name} {' '.join(format_change(change))}, {format_p(change.p_margin or 0, 'p')}, "
        f"{format_p(change.p or 0)}"
        for change in changes[:NAMED_UNCORRECTED]
    ]
    more = f"; and {len(changes) - len(texts)} more" if len(changes) > len(texts) else ""
    headline = describe_uncorrected(results).capitalize()
    return [_clip(f"{headline}: {'; '.join(texts)}{more}.", 300)] if texts else []


def _list_worse_segments(results: JudgedResults) -> list[str]:
    """Return a sentence on the segments that are worse, but that the gate does not name: the table lacks them."""
    changes = [change for run in results.runs for change in run.worse_outside_gate if change.is_segment]
    texts = [f"{change.name} {' '.join(format_change(change))}" for change in changes[:NAMED_UNCORRECTED]]
    more = f" and {len(changes) - len(texts)} more" if len(changes) > len(texts) else ""
    return [_clip(f"Worse segments outside of the gate: {', '.join(texts)}{more}.", 300)] if texts else []


def _describe_worst_segment(results: JudgedResults) -> str:
    """Return the segment outside of the gate that is certainly worst, and how many are worse; empty without any."""
    changes = [change for run in results.runs for change in run.worse_outside_gate if change.is_segment]
    if not changes:
        return ""
    worst = max(changes, key=lambda change: change.certain_change)
    others = f", and so {'is' if len(changes) == 2 else 'are'} {format_count(len(changes) - 1, 'more segment')}"
    percent = format_percents(worst)[0]
    size = percent if worst.is_from_zero else f"{percent} %"
    return f"{worst.name} is worse: {size}{others if len(changes) > 1 else ''}"


def _list_entries(results: JudgedResults) -> list[_Entry]:
    """Return the changes of all runs by relevance."""
    label_by_change = {id(change): run.label for run in results.runs for change in run.changes}
    has_labels = len(results.runs) > 1
    titles = list_titles(results.runs[0].changes) if results.runs else {}
    return [
        _Entry(change, titles[change.metric], label_by_change[id(change)] if has_labels else "")
        for change in sort_by_relevance(results.changes)
    ]


def _measure(blocks: Sequence[str]) -> int:
    """Return the number of bytes of blocks, each with the blank line after it."""
    return sum(len(block.encode()) + 2 for block in blocks)


def _clip(text: str, most_bytes: int) -> str:
    """Return a text escaped for Markdown, shortened to so many bytes with an ellipsis."""

    candidates = (text, *(f"{text[:length].rstrip()}…" for length in range(min(len(text), most_bytes), -1, -1)))
    return next(
        escaped
        for candidate in candidates
        if len(candidate) <= most_bytes
        and len((escaped := break_mentions(escape_cell(candidate))).encode()) <= most_bytes
    )


def _format_subject(results: JudgedResults) -> str:
    labels = [_clip(run.label, 40) for run in results.runs]
    more = f" and {len(labels) - NAMED_RUNS} more" if len(labels) > NAMED_RUNS else ""
    return f"{_clip(results.report, 60)}: {', '.join(labels[:NAMED_RUNS])}{more} against {_clip(results.base, 40)}"


def _format_table(results: JudgedResults, entries: Sequence[_Entry], most_bytes: int) -> str:
    """Return a table of as many changes as fit, and how many are left out."""

    value = _clip(results.runs[0].label, 24) if len(results.runs) == 1 else "value"
    run_column = ["run"] if len(results.runs) > 1 else []
    interval = f"{100 * results.level:g} % interval"
    header = (*run_column, "metric", _clip(results.base, 24), value, "Δ%", interval, "margin", "verdict")
    changes = [entry.change for entry in entries]
    rows = [_list_cells(entry, changes) for entry in entries[:MOST_ENTRIES]]
    for count in range(len(rows), 0, -1):
        more = f"\n\n… and {len(entries) - count} more" if count < len(entries) else ""
        text = format_table(header, rows[:count]).rstrip("\n") + more
        if len(text.encode()) + 2 <= most_bytes:
            return text
    return f"… and {len(entries)} more"


def _list_cells(entry: _Entry, changes: Sequence[RecordedChange]) -> tuple[str, ...]:
    change = entry.change
    base, value, unit = format_values(change, changes)
    name = _clip(entry.title, 60) + (f", {_clip(unit, 16)}" if unit else "")
    texts = (base, value, *format_percents(change), change.margin)
    numbers = [convert_text(text, lambda number: _clip(number, 24)) for text in texts]
    verdict = f"{change.gate_text}{f'; fails the gate: {format_p(change.p or 0)}' if change.is_closing else ''}"
    return (*([_clip(entry.label, 24)] if entry.label else []), name, *numbers, verdict)


def _format_rest(entries: Sequence[_Entry], most_bytes: int) -> str:
    """Return what is not worse, folded: for each group the names, as many as fit."""
    by_group = {group: [item for item in entries if item.group == group] for group in REST}
    lists = [(group, listed) for group, listed in by_group.items() if listed]
    start = f"<details><summary>{', '.join(_count_group(group, len(listed)) for group, listed in lists)}</summary>"
    end = "</details>"
    available = most_bytes - _measure([start, end])
    lines = []
    for index, (group, listed) in enumerate(lists):
        line = _format_list(group, listed, available // (len(lists) - index) - 2)
        available -= _measure([line])
        lines.append(line)
    return "\n\n".join([start, "\n".join(lines), end])


def _count_group(group: str, count: int) -> str:
    return format_count(count, group.removesuffix("s")) if group == CONDITIONS else f"{count} {group}"


def _format_list(group: str, entries: Sequence[_Entry], most_bytes: int) -> str:
    """Return an item with the names of changes, as many as fit, and how many are left out."""
    texts = [_format_name(entry) for entry in entries[:MOST_ENTRIES]]
    while True:
        more = [f"… and {len(entries) - len(texts)} more"] if len(texts) < len(entries) else []
        line = f"* {group}: {', '.join([*texts, *more])}"
        if len(line.encode()) <= most_bytes or not texts:
            return line
        texts.pop()


def _format_name(entry: _Entry) -> str:
    """Return a name, with the run if there are several, and with the change if it is beyond its margin."""
    is_changed = entry.change.verdict in ("better", "changed")
    change = entry.change
    details = [
        *([_clip(entry.label, 24)] if entry.label else []),
        *([f"{format_size(change)}, {format_percents(change)[1]}"] if is_changed else []),
        *([entry.change.verdict] if entry.group == CONDITIONS else []),
    ]
    return _clip(entry.title, 60) + (f" ({'; '.join(details)})" if details else "")
