"""Rebuild a report from its provenance and compare every byte (`assay verify`)."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from assay.app.build.build_runs import build_runs
from assay.app.build.history import HistoryInputs, build_history
from assay.app.build.regenerate import EditionChoice, regenerate_report
from assay.app.compute.report_metrics import list_report_metrics
from assay.app.session.options import Options
from assay.app.session.prose import AUTHOR_TEXTS, KEPT, OBSERVATIONS, Texts, get_texts, read_prose, read_stored_texts
from assay.app.session.runs import create_named_run, fetch_runs, parse_runs
from assay.app.session.session import Session
from assay.diff.builds import compare_folders
from assay.engine.result_cache import Store
from assay.lang import plain_data
from assay.lang.checked_package import CheckedPackage
from assay.lang.editions import select_edition
from assay.lang.model.report import Report
from assay.provenance.read import (
    NAME,
    Content,
    Forms,
    RecordedBuild,
    RecordedPublishedBuild,
    hash_content,
    read_provenance,
)
from assay.provenance.record import hash_input_file, hash_outline, hash_templates
from assay.provenance.versions import get_form_tools, get_versions
from assay.publication.edition import choose_edition
from assay.publication.history_builds import BuildPlace
from assay.remote.address import is_address
from assay.report.parts import list_part_metrics
from assay.report.results_json import dump_json_by_member
from assay.runs.model import NamedRun
from assay.util.diagnostics import SPECS_OR_DATA, USAGE, AssayError, Diagnostic, fail, raise_all, suggest_names
from assay.util.scratch import create_temporary_folder as temporary


def list_changed_publications(record: RecordedPublishedBuild) -> Iterator[str]:
    """Yield a line for each publication, or results of a build, that is missing or has other content."""
    publications = zip(record.places, record.content.publications, strict=True)
    builds = zip(record.folders, record.content.builds, strict=True)
    inputs = (
        *((path, path.name, item.sha256) for path, item in publications),
        *((folder / item.file, f"{folder.name}/{item.file}", item.sha256) for folder, item in builds),
    )
    for path, file, recorded_digest in inputs:
        if change := _describe_file_change(path, recorded_digest):
            yield f"input {file}: {change}"


def hash_definition(session: Session, record: RecordedPublishedBuild) -> str:
    """Return the hash of the report's current definition: of its edition, or of the report over publications."""
    content = record.content
    if content.edition:
        _, report = session.find_report_of_runs(content.report)
        return hash_content(plain_data.to_plain_data(choose_edition(report, "", content.edition)))
    return hash_content(plain_data.to_plain_data(session.find_report(content.report)[1]))


def rebuild(session: Session, record: RecordedPublishedBuild, out: Path) -> None:
    """Build a report of publications again, into a folder."""
    content = record.content
    forms = tuple(record.forms)
    if content.edition:
        regenerate_report(session, record.places[0], out, EditionChoice(content.report, content.edition), forms)
    else:
        title, author, date = (content.options.get(name, "") for name in ("title", "author", "date"))
        builds = [
            BuildPlace(item.workload, folder) for folder, item in zip(record.folders, content.builds, strict=True)
        ]
        options = Options(title=title, author=author, date=date, forms=forms)
        build_history(session, content.report, HistoryInputs(record.places, builds), out, options)


DIGITS = 12  # of a hash in a message


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification.

    `differences` has a line for each difference, `files` is the number of compared files, `differing_count` that of
    files that differ. If the rebuild failed, a difference says why and no files are compared.
    """

    differences: tuple[str, ...]
    files: int
    differing_count: int


def verify_build(session: Session, folder: Path, places: Sequence[str]) -> Verification:
    """Compare a built report with what its provenance yields now.

    `places` (`NAME=DIR`) locates runs that have moved. The rebuild uses nothing of the cache but checked specs.

    Raises AssayError if there is no provenance, if a run is missing, or if the rebuild fails although nothing changed.
    """
    record = read_provenance(folder)
    if isinstance(record, RecordedPublishedBuild):
        return _verify_published(session, folder, record, places)
    relocated_runs = parse_moved_runs(record, places)
    checked, report = _find_report(session, record.content)
    runs = locate_runs(session, checked, record, relocated_runs)
    causes = [
        *_iter_changed_inputs(session, record.content, runs),
        *_iter_changed_versions(record.content.versions, record.forms),
        *_iter_changed_definitions(record.content, checked, report, session, read_stored_texts(folder) or {}),
    ]

    def make(fresh_session: Session, out: Path) -> list[str]:
        _rebuild_report(fresh_session, record, runs, out, folder)
        rebuilt_record = read_provenance(out)
        assert isinstance(rebuilt_record, RecordedBuild)
        _restore_places(out, {run: record.places[run] for run in relocated_runs})
        return list(_iter_new_inputs(record.content, rebuilt_record.content))

    return _compare_rebuild(session, folder, record.is_intact, causes, make)


def _verify_published(
    session: Session, folder: Path, record: RecordedPublishedBuild, places: Sequence[str]
) -> Verification:
    """Verify a report that was built from publications instead of runs."""
    if places:
        raise fail("run-name", "the report is built from publications, not runs", hint="omit --run", status=USAGE)
    content = record.content
    try:
        specs = session.find_report(content.report)[0].sources
        current_hashes = (hash_definition(session, record), hash_templates(session.get_templates()), specs)
    except AssayError as error:
        raise _convert_usage_error(error) from None
    recorded_hashes = (content.outline, content.templates, content.specs)
    names = (f"definition of {content.report} {content.edition}".rstrip(), "templates", "specs")
    causes = [
        *list_changed_publications(record),
        *_iter_changed_versions(content.versions, record.forms),
        *(
            f"{name} changed ({_format_change(new, old)})"
            for name, new, old in zip(names, current_hashes, recorded_hashes, strict=True)
            if new != old
        ),
    ]

    def make(fresh_session: Session, out: Path) -> list[str]:
        rebuild(fresh_session, record, out)
        return []

    return _compare_rebuild(session, folder, record.is_intact, causes, make)


def _compare_rebuild(
    session: Session, folder: Path, is_intact: bool, causes: Sequence[str], make: Callable[[Session, Path], list[str]]
) -> Verification:
    """Rebuild a report with an empty cache and compare it with the built one.

    `make` builds the report into a folder and may return further causes of differences.
    """
    lines = [*([] if is_intact else [f"{NAME}: its hash does not match its content"]), *causes]
    with _open_scratch_folder(session.store.folder) as scratch:
        fresh_session = Session(
            session.workspace, Store(scratch / "cache"), session.progress, session.threads, session.packages
        )
        try:
            with closing(fresh_session):
                lines += make(fresh_session, scratch / "report")
        except AssayError as error:
            if not lines:
                raise _convert_usage_error(error) from None
            problems = session.localize_error(error).diagnostics
            return Verification((*lines, *(f"not rebuilt: {item.message}" for item in problems)), 0, 0)
        files = compare_folders(folder, scratch / "report")
    changed_files = [file_lines for file_lines in files.values() if file_lines]
    if changed_files and not lines:
        lines = ["inputs, versions and definitions are unchanged"]
    return Verification(
        (*lines, *(line for file_lines in changed_files for line in file_lines)), len(files), len(changed_files)
    )


def parse_moved_runs(record: RecordedBuild, places: Sequence[str]) -> Mapping[str, NamedRun]:
    """Return the runs that the user located elsewhere, by id."""
    runs = {run.id: run for run in parse_runs(places)}
    unknown_ids = sorted(runs.keys() - record.places.keys())
    if unknown_ids:
        hint = suggest_names(unknown_ids[0], record.places)
        raise fail("run-name", f"the report has no run `{unknown_ids[0]}`", hint=hint, status=USAGE)
    return runs


def locate_runs(
    session: Session, checked: CheckedPackage, record: RecordedBuild, relocated_runs: Mapping[str, NamedRun]
) -> tuple[NamedRun, ...]:
    """Return the runs in the report's order, remote ones mirrored.

    Notifies the user of each fetch from a recorded address, with its size. Raises AssayError if a run is missing.
    """
    try:
        located_runs = [
            relocated_runs.get(run.id) or create_named_run(run.id, record.places[run.id])
            for run in record.content.all_runs
        ]
    except AssayError as error:
        raise _convert_usage_error(error) from None
    runs = [
        replace(
            run,
            version=recorded_run.version,
            is_calibration=recorded_run in record.content.calibration,
            is_named=recorded_run.named,
        )
        for run, recorded_run in zip(located_runs, record.content.all_runs, strict=True)
    ]
    raise_all(
        Diagnostic(
            "no-run",
            f"the {'archive' if run.address else 'directory'} of run {run.id} does not exist: {run.place}",
            hint=f"pass --run {run.id}=DIR if it has moved",
        )
        for run in runs
        if not is_address(run.place) and not (run.directory.is_file() if run.address else run.directory.is_dir())
    )
    for run in runs:
        if is_address(run.place) and run.id not in relocated_runs:
            session.notice(
                f"fetching run {run.id} from {run.place}, as in {NAME}; pass --run {run.id}=DIR to use another copy"
            )
    return fetch_runs(session, runs, checked.package.sources, session.notice)


def _find_report(session: Session, content: Content) -> tuple[CheckedPackage, Report]:
    """Return the report of a build, in its edition if it has one."""
    try:
        return select_edition(*session.find_report_of_runs(content.report), content.options.edition)
    except AssayError as error:
        raise _convert_usage_error(error) from None


def _convert_usage_error(error: AssayError) -> AssayError:
    """Return the error with the status of specs or data: its cause is the provenance, not the command line."""
    return AssayError(error.diagnostics, SPECS_OR_DATA if error.status == USAGE else error.status)


def _iter_changed_inputs(session: Session, content: Content, runs: Sequence[NamedRun]) -> Iterator[str]:
    """Yield a line for each recorded file that is missing or has other content."""
    inputs = [
        (run, item) for run, recorded_run in zip(runs, content.all_runs, strict=True) for item in recorded_run.inputs
    ]
    with ThreadPoolExecutor() as pool:
        changes = pool.map(lambda pair: _describe_file_change(pair[0].directory / pair[1].file, pair[1].sha256), inputs)
        for done, ((run, item), change) in enumerate(zip(inputs, changes, strict=True), start=1):
            session.progress("checking inputs", done, len(inputs))
            if change:
                yield f"input {run.id}/{item.file}: {change}"


def _describe_file_change(path: Path, recorded_hash: str) -> str:
    try:
        _, _, digest = hash_input_file(path.parent, path.name)
    except FileNotFoundError:
        return "gone"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if digest == recorded_hash else f"content changed (sha256 {_format_change(digest, recorded_hash)})"


def _iter_new_inputs(old: Content, new: Content) -> Iterator[str]:
    """Yield a line for each file that is read now and not recorded."""
    for before, after in zip(old.all_runs, new.all_runs, strict=True):
        recorded_files = {item.file for item in before.inputs}
        yield from (f"input {after.id}/{item.file}: new" for item in after.inputs if item.file not in recorded_files)


def _iter_changed_versions(common_versions: Mapping[str, str], forms: Forms) -> Iterator[str]:
    """Yield a line for each tool with another version, including the tools of each output form."""
    current, recorded_versions = get_versions(), dict(common_versions)
    for form, tools in forms.items():
        current |= get_form_tools(form)
        recorded_versions |= tools
    for name in sorted({*current, *recorded_versions}):
        if current.get(name) != recorded_versions.get(name):
            yield f"version {name} {current.get(name, 'none')}, was {recorded_versions.get(name, 'none')}"


def _iter_changed_definitions(
    content: Content, checked: CheckedPackage, report: Report, session: Session, stored: Texts
) -> Iterator[str]:
    """Yield a line for each metric whose definition changed, and for other changed parts of the workspace.

    `stored` is the prose of the build, with its edited observations if it has some.
    """
    recorded_hashes = content.definitions
    texts = read_prose(session.workspace, checked, report)
    names = (metric.id for metric in list_report_metrics(checked, report))
    metric_ids = dict.fromkeys((*names, *list_part_metrics(report, texts.values())))
    current = {name: checked.definitions[name] for name in metric_ids}
    for name in sorted({*current, *recorded_hashes}):
        if name not in current or name not in recorded_hashes:
            yield f"definition {name} is {'new' if name in current else 'gone'}"
        elif current[name] != recorded_hashes[name]:
            yield f"definition {name} changed ({_format_change(current[name], recorded_hashes[name])})"
    prose = {
        **get_texts(texts),
        **{name: text for name, text in stored.items() if name == OBSERVATIONS or name.startswith(AUTHOR_TEXTS)},
    }
    other_parts = (
        (f"report definition {content.report}", hash_outline(report, prose), content.outline),
        ("templates", hash_templates(session.get_templates()), content.templates),
        ("specs", checked.sources, content.specs),
    )
    yield from (f"{name} changed ({_format_change(new, old)})" for name, new, old in other_parts if new != old)


def _format_change(new: str, old: str) -> str:
    return f"{new[:DIGITS]}, was {old[:DIGITS]}"


def _rebuild_report(session: Session, record: RecordedBuild, runs: Sequence[NamedRun], out: Path, folder: Path) -> None:
    """Build a report of runs again, into a folder. The prose of the former build is in `folder`."""
    choices = record.content.options
    stored_prose = str(folder / KEPT) if (folder / KEPT).exists() else ""
    options = Options(
        title=choices.title,
        author=choices.author,
        date=choices.date,
        at=choices.at,
        phases=choices.phases,
        forms=tuple(record.forms),
        observations=stored_prose,
        texts=stored_prose if any(name.startswith(AUTHOR_TEXTS) for name in read_stored_texts(folder) or ()) else "",
        filters=choices.filters,
        no_filters=not choices.filters,
        summary=choices.summary,
        style="" if choices.repeats else choices.style,
        margin=choices.margin,
        measures_noise=choices.repeats,
        columns=",".join(choices.columns),
        details=choices.details,
        by=choices.by,
        edition=choices.edition,
        filter_files=choices.filter_files,
    )
    build_runs(session, record.content.report, runs, out, options)


def _restore_places(folder: Path, places: Mapping[str, str]) -> None:
    """Restore the recorded places of moved runs in a rebuilt provenance.

    The content of the runs is verified by the hashes of their files.
    """
    if places:
        content = json.loads((folder / NAME).read_text(encoding="utf-8"))
        content["places"].update(places)
        (folder / NAME).write_text(dump_json_by_member(content), encoding="utf-8")


@contextmanager
def _open_scratch_folder(cache: Path) -> Iterator[Path]:
    """Yield a temporary folder below the cache folder, which has room for ingested logs and no files of the user."""
    with ExitStack() as stack:
        with Store(cache).convert_write_errors():
            folder = stack.enter_context(temporary(cache))
        stack.enter_context(_interrupt_on_signals())
        yield folder


@contextmanager
def _interrupt_on_signals() -> Iterator[None]:
    """Turn signals that end a process into interrupts, so that temporary folders are removed."""
    signals = (signal.SIGTERM, signal.SIGHUP) if threading.current_thread() is threading.main_thread() else ()
    former_handlers = {item: signal.signal(item, signal.default_int_handler) for item in signals}
    try:
        yield
    finally:
        for item, handler in former_handlers.items():
            signal.signal(item, handler)
