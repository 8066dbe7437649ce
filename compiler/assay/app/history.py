"""`assay build` of a history: publications in, report out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from assay.app.options import Built, Options, reports
from assay.app.outputs import replacing
from assay.app.rendering import Assembled, write_report
from assay.app.session import Session
from assay.lang import plain_data
from assay.lang.check.reports import is_day
from assay.provenance.read import content_hash
from assay.provenance.record import of_publications, versions
from assay.publication.history import issues
from assay.publication.history_report import Heading, HistoryReport, analyze_history, document, series_json
from assay.publication.reader import POINTS_SUFFIX
from assay.report.document import Document
from assay.report.render.pdf import warm_up
from assay.util.diagnostics import USAGE, fail

ENDING = ".json"


def build_history(session: Session, name: str, places: Sequence[Path], out: Path, options: Options) -> Built:
    """Build the history `system/name` over publications, files or folders of them, into `out`.

    Writes the report in the forms that are asked for, charts/, results.json, document.json, provenance.json,
    specs.json; all or
    nothing.  Raises AssayError.
    """
    checked, history = session.history(name)
    _only_heading(name, options)
    files = publication_files(name, places)
    (report,) = (item for item in checked.package.reports if item.name == history.of)
    with replacing(out, session.waits_for(out)) as fresh:
        warm_up(session.templates())
        said = analyze_history(checked, report, history, issues(files, checked, report))
        heading = Heading(options.title, options.author, options.date)
        made = _provenance(name, said, heading, session.templates())
        found = document(said, heading, _printed(made, said))
        assembled = Assembled(checked, found, made, _results(name, said, found))
        warnings = write_report(session, assembled, fresh, options.forms)
    return Built(out, reports(out, options.forms), warnings)


def publication_files(name: str, places: Sequence[Path]) -> tuple[Path, ...]:
    """The publication files of a command line; of a folder its `*.json` but for the points of charts.

    Raises AssayError: `no-publication` (usage) when there is none, and when a folder holds none.
    """
    if not places:
        raise fail(
            "no-publication",
            f"`{name}` is built from publications, and none is given",
            hint="--publication FILE or --publication FOLDER, as often as there are",
            status=USAGE,
        )
    return tuple(file for place in places for file in (_of_folder(place) if place.is_dir() else (place,)))


def _of_folder(folder: Path) -> tuple[Path, ...]:
    found = sorted(file for file in folder.glob(f"*{ENDING}") if not file.name.endswith(POINTS_SUFFIX))
    if not found:
        raise fail(
            "no-publication",
            f"the folder holds no publication: {folder}",
            expected=f"files called *{ENDING}, other than *{POINTS_SUFFIX}",
        )
    return tuple(found)


def _only_heading(name: str, options: Options) -> None:
    """AssayError (usage) for options that work out numbers: those of a history are printed already."""
    given = {"--filter": options.filters, "--no-filters": options.no_filters, "--summary": options.summary,
             "--style": options.style}  # fmt: skip
    wrong = [option for option, value in given.items() if value]
    if wrong:
        raise fail(
            "history-option",
            f"{' and '.join(wrong)} cannot be used with `{name}`",
            hint="it shows numbers as they were published; a history takes --title, --author and --date",
            status=USAGE,
        )
    if options.date and not is_day(options.date):
        raise fail(
            "date", "--date takes a day that exists", expected="YYYY-MM-DD", found=options.date, status=USAGE
        )  # fmt: skip


def _results(name: str, said: HistoryReport, found: Document) -> dict[str, object]:
    breaks = [
        {"key": item.key, "kind": item.kind, "since": item.since, "run": item.run,
         "notes": [{"metrics": list(metrics), "doc": text} for metrics, text in item.notes]}
        for item in said.changes
    ]  # fmt: skip
    table = found.galleries[0].tables[0]
    return {
        "report": name,
        "series": series_json(said),
        "breaks": breaks,
        "moves": [
            {"metric": item.metric, **dict(zip(MOVE, row[1:], strict=True))}
            for item, row in zip(said.moves, table.rows, strict=True)
        ],
    }


MOVE = ("workload", "day", "base", "run", "base_value", "value", "percent", "breaks")


def _provenance(name: str, said: HistoryReport, heading: Heading, templates: Path) -> dict[str, object]:
    options = {"title": heading.title, "author": heading.author, "date": heading.date}
    files = [(item.file, item.edition.name) for item in said.issues]
    shape = content_hash(plain_data.to_plain_data(said.history))
    return of_publications(name, "", options, files, said.checked.sources, shape, templates)


def _printed(made: dict[str, object], said: HistoryReport) -> dict[str, str]:
    """What the report prints of its provenance."""
    tools = versions()
    return {
        "Publications": str(len(said.issues)),
        "Editions": _listed(issue.edition.name for issue in said.issues),
        "Values": "as published",
        "Percentages": "worked out from the published values",
        "Provenance": str(made["hash"]),
        "Specs": said.checked.sources,
        "Assay": tools.pop("assay"),
        **tools,
    }


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
