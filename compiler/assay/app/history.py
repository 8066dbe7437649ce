"""Build a history from publications (`assay build`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from assay.app.options import BuildResult, Options, list_report_files
from assay.app.outputs import replace_folder
from assay.app.rendering import AssembledReport, write_report
from assay.app.session import Session
from assay.lang import plain_data
from assay.lang.check.reports import is_day
from assay.provenance.read import hash_content
from assay.provenance.record import build_publications_provenance
from assay.provenance.versions import get_versions
from assay.publication.history import read_issues
from assay.publication.history_report import (
    Heading,
    HistoryReport,
    analyze_history,
    build_history_document,
    build_series_data,
)
from assay.publication.reader import POINTS_SUFFIX
from assay.report.document import Document
from assay.report.render.pdf import warm_up_converters
from assay.util.diagnostics import USAGE, fail

ENDING = ".json"


def build_history(session: Session, name: str, places: Sequence[Path], out: Path, options: Options) -> BuildResult:
    """Build the history `system/name` over publications, files or folders of them, into `out`.

    Writes the report in its forms, charts/, results.json, document.json, provenance.json and specs.json, atomically.
    Raises AssayError.
    """
    checked, history = session.find_history(name)
    _refuse_number_options(name, options)
    files = list_publication_files(name, places)
    (report,) = (item for item in checked.package.reports if item.name == history.of)
    with replace_folder(out, session.get_wait_notice(out)) as new_folder:
        warm_up_converters(session.get_templates())
        history_report = analyze_history(checked, report, history, read_issues(files, checked, report))
        heading = Heading(options.title, options.author, options.date)
        provenance_record = _record_provenance(name, history_report, heading, session.get_templates())
        report_document = build_history_document(
            history_report, heading, _format_provenance(provenance_record, history_report)
        )
        assembled_report = AssembledReport(
            checked, report_document, provenance_record, _export_results(name, history_report, report_document)
        )
        warnings = write_report(session, assembled_report, new_folder, options.forms)
    return BuildResult(out, list_report_files(out, options.forms), warnings)


def list_publication_files(name: str, places: Sequence[Path]) -> tuple[Path, ...]:
    """Return the publication files at places: a file itself, or the `*.json` of a folder without points of charts.

    Raises AssayError: `no-publication` if a folder has none, and (usage) if there are no places.
    """
    if not places:
        raise fail(
            "no-publication",
            f"history `{name}` requires publications",
            hint="pass --publication FILE or --publication FOLDER, repeatedly if needed",
            status=USAGE,
        )
    return tuple(file for place in places for file in (_list_folder_files(place) if place.is_dir() else (place,)))


def _list_folder_files(folder: Path) -> tuple[Path, ...]:
    files = sorted(file for file in folder.glob(f"*{ENDING}") if not file.name.endswith(POINTS_SUFFIX))
    if not files:
        raise fail(
            "no-publication",
            f"the folder has no publications: {folder}",
            expected=f"files named *{ENDING} other than *{POINTS_SUFFIX}",
        )
    return tuple(files)


def _refuse_number_options(name: str, options: Options) -> None:
    """Raise AssayError (usage) for options that change numbers: a history shows published numbers."""
    values_by_option = {"--filter": options.filters, "--no-filters": options.no_filters, "--summary": options.summary,
             "--style": options.style}  # fmt: skip
    wrong_options = [option for option, value in values_by_option.items() if value]
    if wrong_options:
        raise fail(
            "history-option",
            f"{' and '.join(wrong_options)} cannot be used with `{name}`",
            hint="a history shows published numbers; it accepts --title, --author and --date",
            status=USAGE,
        )
    if options.date and not is_day(options.date):
        raise fail(
            "date", "invalid date of --date", expected="YYYY-MM-DD", found=options.date, status=USAGE
        )  # fmt: skip


def _export_results(name: str, history_report: HistoryReport, report_document: Document) -> dict[str, object]:
    breaks = [
        {"key": item.key, "kind": item.kind, "since": item.since, "run": item.run,
         "notes": [{"metrics": list(metrics), "doc": text} for metrics, text in item.notes]}
        for item in history_report.changes
    ]  # fmt: skip
    table = report_document.galleries[0].tables[0]
    return {
        "report": name,
        "series": build_series_data(history_report),
        "breaks": breaks,
        "moves": [
            {"metric": item.metric, **dict(zip(MOVE, row[1:], strict=True))}
            for item, row in zip(history_report.moves, table.rows, strict=True)
        ],
    }


MOVE = ("workload", "day", "base", "run", "base_value", "value", "percent", "breaks")


def _record_provenance(
    name: str, history_report: HistoryReport, heading: Heading, templates: Path
) -> dict[str, object]:
    options = {"title": heading.title, "author": heading.author, "date": heading.date}
    files = [(item.file, item.edition.name) for item in history_report.issues]
    shape = hash_content(plain_data.to_plain_data(history_report.history))
    return build_publications_provenance(name, "", options, files, history_report.checked.sources, shape, templates)


def _format_provenance(provenance_record: dict[str, object], history_report: HistoryReport) -> dict[str, str]:
    """Return the lines of provenance that the report prints."""
    tools = get_versions()
    return {
        "Publications": str(len(history_report.issues)),
        "Editions": _join_names(issue.edition.name for issue in history_report.issues),
        "Values": "as published",
        "Percentages": "computed from the published values",
        "Provenance": str(provenance_record["hash"]),
        "Specs": history_report.checked.sources,
        "Assay": tools.pop("assay"),
        **tools,
    }


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
