"""Build a history from publications and builds (`assay build`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.app.build.rendering import AssembledReport, write_report
from assay.app.session.options import BuildResult, Options, list_report_files
from assay.app.session.outputs import refuse_sources, replace_folder
from assay.app.session.session import Session
from assay.lang import plain_data
from assay.lang.check.reports import is_day
from assay.provenance.read import hash_content
from assay.provenance.record import build_publications_provenance
from assay.provenance.versions import get_versions
from assay.publication.analysis import PublishedRuns, analyze_publications
from assay.publication.blocks import build_move_row
from assay.publication.history import read_issue, separate_experiments, sort_issues
from assay.publication.history_builds import BuildPlace, read_builds
from assay.publication.history_report import Heading, build_history_document, build_series_data
from assay.publication.reader import POINTS_SUFFIX
from assay.remote.address import is_address
from assay.report.render.pdf import warm_up_converters
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail
from assay.util.paths import resolve_path

ENDING = ".json"


@dataclass(frozen=True, slots=True)
class HistoryInputs:
    """What a history is built from: publications (files or folders of them), and builds."""

    publications: Sequence[Path]
    builds: Sequence[BuildPlace] = ()


def build_history(session: Session, name: str, inputs: HistoryInputs, out: Path, options: Options) -> BuildResult:
    """Build the history `system/name` over publications and builds, into `out`.

    Writes the report in its forms, charts/, results.json, document.json, provenance.json and specs.json, atomically.
    Raises AssayError.
    """
    checked, report = session.find_report(name)
    assert report.over
    _refuse_number_options(name, options)
    source = next(item for item in checked.package.reports if item.name == report.over.of)
    places, builds = inputs.publications, inputs.builds
    if not places and not builds:
        raise fail(
            "no-publication",
            f"history `{name}` requires publications or builds",
            hint="pass --publication FILE, --publication FOLDER or --run BUILD, repeatedly if needed",
            status=USAGE,
        )
    files = list_publication_files(places)
    refuse_sources(session, out, [NamedRun(str(build.folder), build.folder) for build in builds])
    with replace_folder(out, session.get_wait_notice(out)) as new_folder:
        warm_up_converters(session.get_templates())
        issues = sort_issues(
            (
                *(read_issue(file, checked, source) for file in files),
                *read_builds(builds, checked, source, report.shown_metrics),
            )
        )
        content = analyze_publications(checked, report, source, separate_experiments(report.over.experiments, issues))
        heading = Heading(options.title, options.author, options.date)
        provenance_record = _record_provenance(name, content, heading, session.get_templates())
        report_document = build_history_document(content, heading, _format_provenance(provenance_record, content))
        assembled_report = AssembledReport(checked, report_document, provenance_record, _export_results(name, content))
        warnings = write_report(session, assembled_report, new_folder, options.forms)
    return BuildResult(out, list_report_files(out, options.forms), warnings)


def parse_builds(session: Session, name: str, texts: Sequence[str]) -> tuple[BuildPlace, ...]:
    """Parse the builds of a command line: `DIR` or `WORKLOAD=DIR`; by default the workload is the name of the report.

    Raises AssayError (usage): an empty name or place, an address, or a folder that is passed twice.
    """
    checked, report = session.find_report(name)
    assert report.over
    default = f"{checked.package.system}/{report.over.of}"
    places = tuple(BuildPlace(workload or default, Path(folder)) for workload, folder in map(_split_build, texts))
    folders_by_target: dict[Path, Path] = {}
    for place in places:
        former_folder = folders_by_target.setdefault(resolve_path(place.folder), place.folder)
        if former_folder is not place.folder:
            raise fail("same-build", f"duplicate build: {former_folder}", status=USAGE)
    return places


def _split_build(text: str) -> tuple[str, str]:
    workload, equals, folder = text.partition("=")
    if not equals or Path(text).exists():
        workload, folder = "", text
    if not folder or (equals and not workload and folder != text):
        raise fail("run-name", f"invalid build `{text}`", expected="WORKLOAD=DIR or DIR", found=text, status=USAGE)
    if is_address(folder):
        raise fail(
            "build-address",
            f"a history reads builds from folders only: {folder}",
            hint="copy results.json and document.json of the build into a folder",
            status=USAGE,
        )
    return workload, folder


def list_publication_files(places: Sequence[Path]) -> tuple[Path, ...]:
    """Return the publication files at places: a file itself, or the `*.json` of a folder without points of charts.

    Raises AssayError `no-publication` if a folder has none.
    """
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
    """Raise AssayError (usage) for options that change numbers: a history shows numbers of finished reports."""
    values_by_option = {"--filter": options.filters, "--no-filters": options.no_filters, "--summary": options.summary,
             "--style": options.style, "--columns": options.columns, "--details": options.details,
             "--by": options.by, "--edition": options.edition,
             "--phase": options.phases, "--at": options.at,
             "--calibrate": options.calibration, "--margin": options.margin,
             "--repeats": options.measures_noise,
             "--observations": options.observations, "--texts": options.texts}  # fmt: skip
    wrong_options = [option for option, value in values_by_option.items() if value]
    if wrong_options:
        raise fail(
            "history-option",
            f"{' and '.join(wrong_options)} cannot be used with `{name}`",
            hint="a history shows numbers of finished reports; it accepts --title, --author and --date",
            status=USAGE,
        )
    if options.date and not is_day(options.date):
        raise fail(
            "date", "invalid date of --date", expected="YYYY-MM-DD", found=options.date, status=USAGE
        )  # fmt: skip


def _export_results(name: str, content: PublishedRuns) -> dict[str, object]:
    breaks = [
        {"key": item.key, "kind": item.kind, "since": item.since, "run": item.run,
         "notes": [{"metrics": list(metrics), "doc": text} for metrics, text in item.notes]}
        for item in content.changes
    ]  # fmt: skip
    return {
        "report": name,
        "series": build_series_data(content),
        "breaks": breaks,
        "moves": [
            {"metric": item.metric, **dict(zip(MOVE, build_move_row(content, item)[1:], strict=True))}
            for item in content.moves
        ],
        "level_shifts": [
            {"metric": item.metric, "workload": item.workload, "day": item.start.issue.publication.day,
             "last_run_before": item.before.points[-1].label, "first_run": item.start.label,
             "before": item.before.average, "after": item.after.average,
             "percent": None if item.share is None else float(100 * item.share),
             "runs_before": len(item.before.points), "runs_after": len(item.after.points),
             "p": item.after.p, "may_be_chance": item.after.may_be_chance, "verdict": item.verdict.value}
            for item in content.shifts
        ],
        "drifts": [
            {"metric": item.metric, "workload": item.workload, "first_run": item.points[0].label,
             "last_run": item.points[-1].label, "before": item.drift.before, "after": item.drift.after,
             "percent": None if item.share is None else float(100 * item.share),
             "p": item.drift.p, "may_be_chance": item.drift.may_be_chance, "verdict": item.verdict.value}
            for item in content.drifts
        ],
    }  # fmt: skip


MOVE = ("workload", "day", "base", "run", "base_value", "value", "percent", "breaks")


def _record_provenance(name: str, content: PublishedRuns, heading: Heading, templates: Path) -> dict[str, object]:
    options = {"title": heading.title, "author": heading.author, "date": heading.date}
    files = [(item.file, item.edition.name) for item in content.publications]
    builds = [(item.file, item.publication.workload, item.publication.day) for item in content.builds]
    shape = hash_content(plain_data.to_plain_data(content.report))
    return build_publications_provenance(name, "", options, files, content.checked.sources, shape, templates, builds)


def _format_provenance(provenance_record: dict[str, object], content: PublishedRuns) -> dict[str, str]:
    """Return the lines of provenance that the report prints."""
    tools = get_versions()
    publications = {
        "Publications": str(len(content.publications)),
        "Editions": _join_names(issue.edition.name for issue in content.publications),
        "Values": "as published",
        "Percentages": "computed from the published values",
    }
    builds = {"Builds": str(len(content.builds)), "Values of builds": "unrounded averages of results.json"}
    return {
        **(publications if content.publications else {}),
        **(builds if content.builds else {}),
        "Provenance": str(provenance_record["hash"]),
        "Specs": content.checked.sources,
        "Assay": tools.pop("assay"),
        **tools,
    }


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
