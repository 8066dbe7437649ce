"""Draft a conclusion from the verdicts of a report: whether there is a regression, which scenarios pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.app.gate import list_gated_changes, require_decision
from assay.app.judged_results import ComparedRun, JudgedResults
from assay.report.data_quality import list_names
from assay.report.document import Document
from assay.report.observations.cell_quotes import NOT_WORSE, CellQuote
from assay.report.observations.outcomes import describe_outcomes
from assay.report.observations.sentences import escape_markup
from assay.util.diagnostics import AssayError

TITLE = "Conclusion"
_GATE = "the gate does not decide: "


def draft_conclusion(results: Mapping[str, JudgedResults], documents: Mapping[str, Document]) -> str:
    """Return the conclusion as prose; empty without verdicts. Results and documents are named by their case.

    "No regression" is only said of runs whose gate decides and is open.
    """
    sentences = [
        f"{escape_markup(case)}: {sentence}" if len(documents) > 1 else sentence
        for case, document in documents.items()
        for sentence in (
            *(_list_sentences(results[case], case if len(documents) > 1 else "") if case in results else ()),
            *describe_outcomes(document),
        )
    ]
    return f"**{TITLE}**\n\n" + "".join(f"* {sentence}\n" for sentence in sentences) if sentences else ""


def _list_sentences(judged: JudgedResults, case: str) -> Iterator[str]:
    try:
        require_decision(judged)
    except AssayError as error:
        reason = error.diagnostics[0].message.removeprefix(_GATE)
        yield f"It is not decided whether there is a regression: {escape_markup(reason)}."
        return
    for run in judged.runs:
        yield _describe_run(judged, run, case)


def _describe_run(judged: JudgedResults, run: ComparedRun, case: str) -> str:
    """Return a sentence on the metrics of the gate in a run; it quotes their verdicts if none is worse."""
    gated = list_gated_changes(run)
    closing = [change for change in gated if change.is_closing]
    where = f" in {escape_markup(run.label)}" if len(judged.runs) > 1 else ""
    names = escape_markup(list_names([change.name for change in closing or gated]))
    if closing:
        verb, margin = ("is", "its margin") if len(closing) == 1 else ("are", "their margins")
        return f"{names} {verb} worse than in {escape_markup(judged.base)} by more than {margin}{where}."
    quote = CellQuote(tuple(change.metric for change in gated), (run.label,), (case,) if case else (), NOT_WORSE)
    sentence = f"No regression{where}: none of the metrics of the gate is worse by more than its margin ({names})."
    return sentence + quote.source
