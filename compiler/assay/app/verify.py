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

from assay.app.article import build_article
from assay.app.comparison import build
from assay.app.compute import report_metrics
from assay.app.history import build_history
from assay.app.options import Options
from assay.app.prose import read_prose, texts_of
from assay.app.regenerate import regenerate
from assay.app.runs import NamedRun, here, named_runs, run_at
from assay.app.session import Session
from assay.diff.folders import compared
from assay.engine.result_cache import Store
from assay.lang import plain_data
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Article
from assay.lang.model.report import History, Report
from assay.provenance.read import (
    NAME,
    Content,
    Forms,
    Recorded,
    RecordedFile,
    RecordedPublished,
    content_hash,
    recorded,
)
from assay.provenance.record import file_of, form_tools, outline, templates_hash, versions
from assay.publication.edition import chosen
from assay.remote.address import is_address
from assay.report.article import metrics_of
from assay.report.results_json import lines_json
from assay.util.diagnostics import SPECS_OR_DATA, USAGE, AssayError, Diagnostic, did_you_mean, fail, raise_all
from assay.util.scratch import temporary_folder as temporary


def changed_publications(record: RecordedPublished) -> Iterator[str]:
    """Yield a line for each publication file that is missing or has other content."""
    for path, recorded_file in zip(record.places, record.content.publications, strict=True):
        name = f"input {recorded_file.file}"
        try:
            _, _, digest = file_of(path.parent, path.name)
        except FileNotFoundError:
            yield f"{name}: gone"
        except OSError as error:
            yield f"{name}: cannot be read ({error.strerror})"
        else:
            if digest != recorded_file.sha256:
                yield f"{name}: content changed (sha256 {digest[:12]}, was {recorded_file.sha256[:12]})"


def definition(session: Session, record: RecordedPublished) -> str:
    """Return the hash of the report's current definition: of its edition, or of the history."""
    content = record.content
    if content.edition:
        _, report = session.report(content.report)
        return content_hash(plain_data.to_plain_data(chosen(report, "", content.edition)))
    return content_hash(plain_data.to_plain_data(session.history(content.report)[1]))


def rebuild(session: Session, record: RecordedPublished, out: Path) -> None:
    """Build a report of publications again, into a folder."""
    content = record.content
    forms = tuple(record.forms)
    if content.edition:
        regenerate(session, record.places[0], out, content.report, content.edition, forms)
    else:
        title, author, date = (content.options.get(name, "") for name in ("title", "author", "date"))
        build_history(
            session, content.report, record.places, out, Options(title=title, author=author, date=date, forms=forms)
        )


DIGITS = 12  # of a hash in a message


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a verification.

    `differences` has a line for each difference, `files` is the number of compared files, `differing` that of files
    that differ. If the rebuild failed, a difference says why and no files are compared.
    """

    differences: tuple[str, ...]
    files: int
    differing: int


def verify(session: Session, folder: Path, places: Sequence[str]) -> Verified:
    """Compare a built report with what its provenance yields now.

    `places` (`NAME=DIR`) locates runs that have moved. The rebuild takes only checked specs from the cache.

    Raises AssayError if there is no provenance, if a run is missing, or if the rebuild fails although nothing changed.
    """
    record = recorded(folder)
    if isinstance(record, RecordedPublished):
        return _verify_published(session, folder, record, places)
    moved = moved_runs(record, places)
    checked, report = _report(session, record.content.report)
    runs = runs_now(session, checked, record, moved)
    causes = [
        *_changed_inputs(session, record.content, runs),
        *_changed_versions(record.content.versions, record.forms),
        *_changed_definitions(record.content, checked, report, session),
    ]

    def make(fresh_session: Session, out: Path) -> list[str]:
        _build(fresh_session, record, runs, out)
        fresh = recorded(out)
        assert isinstance(fresh, Recorded)
        _put_back(out, {run: record.places[run] for run in moved})
        return list(_new_inputs(record.content, fresh.content))

    return _compared(session, folder, record.intact, causes, make)


def _verify_published(session: Session, folder: Path, record: RecordedPublished, places: Sequence[str]) -> Verified:
    """Verify a report that was built from publications instead of runs."""
    if places:
        raise fail("run-name", "the report is made of publications, not of runs", hint="leave --run out", status=USAGE)
    content = record.content
    try:
        specs = session.find_report(content.report)[0].sources
        current_hashes = (definition(session, record), templates_hash(session.templates()), specs)
    except AssayError as error:
        raise _not_usage(error) from None
    recorded_hashes = (content.outline, content.templates, content.specs)
    names = (f"definition of {content.report} {content.edition}".rstrip(), "templates", "specs")
    causes = [
        *changed_publications(record),
        *_changed_versions(content.versions, record.forms),
        *(
            f"{name} changed ({_was(new, old)})"
            for name, new, old in zip(names, current_hashes, recorded_hashes, strict=True)
            if new != old
        ),
    ]

    def make(fresh_session: Session, out: Path) -> list[str]:
        rebuild(fresh_session, record, out)
        return []

    return _compared(session, folder, record.intact, causes, make)


def _compared(
    session: Session, folder: Path, intact: bool, causes: Sequence[str], make: Callable[[Session, Path], list[str]]
) -> Verified:
    """Rebuild a report with an empty cache and compare it with the built one.

    `make` builds the report into a folder and may return further causes of differences.
    """
    lines = [*([] if intact else [f"{NAME}: its hash is not that of its content"]), *causes]
    with _scratch(session.store.folder) as scratch:
        fresh_session = Session(
            session.workspace, Store(scratch / "cache"), session.progress, session.threads, session.packages
        )
        try:
            with closing(fresh_session):
                lines += make(fresh_session, scratch / "report")
        except AssayError as error:
            if not lines:
                raise _not_usage(error) from None
            problems = session.as_named(error).diagnostics
            return Verified((*lines, *(f"not rebuilt: {item.message}" for item in problems)), 0, 0)
        files = compared(folder, scratch / "report")
    differing = [file_lines for file_lines in files.values() if file_lines]
    if differing and not lines:
        lines = ["inputs, versions and definitions are what they were"]
    return Verified((*lines, *(line for file_lines in differing for line in file_lines)), len(files), len(differing))


def moved_runs(record: Recorded, places: Sequence[str]) -> Mapping[str, NamedRun]:
    """Return the runs that the user located elsewhere, by id."""
    runs = {run.id: run for run in named_runs(places)}
    unknown = sorted(runs.keys() - record.places.keys())
    if unknown:
        hint = did_you_mean(unknown[0], record.places)
        raise fail("run-name", f"the report has no run `{unknown[0]}`", hint=hint, status=USAGE)
    return runs


def runs_now(
    session: Session, checked: CheckedPackage, record: Recorded, moved: Mapping[str, NamedRun]
) -> tuple[NamedRun, ...]:
    """Return the runs in the report's order, remote ones mirrored.

    Announces each fetch that follows from the provenance and not from the user's options, with its size. Raises
    AssayError if a run is missing.
    """
    try:
        runs = [moved.get(run.id) or run_at(run.id, record.places[run.id]) for run in record.content.runs]
    except AssayError as error:
        raise _not_usage(error) from None
    raise_all(
        Diagnostic(
            "no-run",
            f"the {'archive' if run.address else 'directory'} of run {run.id} is not there: {run.place}",
            hint=f"--run {run.id}=DIR says where it is",
        )
        for run in runs
        if not is_address(run.place) and not (run.directory.is_file() if run.address else run.directory.is_dir())
    )
    for run in runs:
        if is_address(run.place) and run.id not in moved:
            session.notice(
                f"run {run.id} is fetched from {run.place}, as {NAME} has it; --run {run.id}=DIR reads another"
            )
    return here(session, runs, checked.package.sources, session.notice)


def _report(session: Session, name: str) -> tuple[CheckedPackage, Report | Article]:
    try:
        checked, report = session.find_report(name)
        return session.report(name) if isinstance(report, History) else (checked, report)
    except AssayError as error:
        raise _not_usage(error) from None


def _not_usage(error: AssayError) -> AssayError:
    """Return the error with the status of specs or data: its cause is the provenance, not the command line."""
    return AssayError(error.diagnostics, SPECS_OR_DATA if error.status == USAGE else error.status)


def _changed_inputs(session: Session, content: Content, runs: Sequence[NamedRun]) -> Iterator[str]:
    """Yield a line for each recorded file that is missing or has other content."""
    inputs = [(run, item) for run, recorded_run in zip(runs, content.runs, strict=True) for item in recorded_run.inputs]
    with ThreadPoolExecutor() as pool:
        lines = pool.map(lambda pair: _changed_file(*pair), inputs)
        for done, line in enumerate(lines, start=1):
            session.progress("checking inputs", done, len(inputs))
            if line:
                yield line


def _changed_file(run: NamedRun, recorded_file: RecordedFile) -> str:
    name = f"input {run.id}/{recorded_file.file}"
    try:
        _, _, digest = file_of(run.directory, recorded_file.file)
    except FileNotFoundError:
        return f"{name}: gone"
    except OSError as error:
        return f"{name}: cannot be read ({error.strerror})"
    return (
        ""
        if digest == recorded_file.sha256
        else f"{name}: content changed (sha256 {_was(digest, recorded_file.sha256)})"
    )


def _new_inputs(old: Content, new: Content) -> Iterator[str]:
    """Yield a line for each file that is read now and not recorded."""
    for before, after in zip(old.runs, new.runs, strict=True):
        recorded_files = {item.file for item in before.inputs}
        yield from (f"input {after.id}/{item.file}: new" for item in after.inputs if item.file not in recorded_files)


def _changed_versions(common: Mapping[str, str], forms: Forms) -> Iterator[str]:
    """Yield a line for each tool with another version, including the tools of each output form."""
    current, recorded_versions = versions(), dict(common)
    for form, tools in forms.items():
        current |= form_tools(form)
        recorded_versions |= tools
    for name in sorted({*current, *recorded_versions}):
        if current.get(name) != recorded_versions.get(name):
            yield f"version {name} {current.get(name, 'none')}, was {recorded_versions.get(name, 'none')}"


def _changed_definitions(
    content: Content, checked: CheckedPackage, report: Report | Article, session: Session
) -> Iterator[str]:
    """Yield a line for each metric whose definition changed, and for other changed parts of the workspace."""
    recorded_hashes = content.definitions
    texts = read_prose(session.workspace, checked, report) if isinstance(report, Article) else {}
    if isinstance(report, Article):
        metric_ids = metrics_of(report, texts.values())
    else:
        metric_ids = tuple(metric.id for metric in report_metrics(checked, report))
    current = {name: checked.definitions[name] for name in metric_ids}
    for name in sorted({*current, *recorded_hashes}):
        if name not in current or name not in recorded_hashes:
            yield f"definition {name} is {'new' if name in current else 'gone'}"
        elif current[name] != recorded_hashes[name]:
            yield f"definition {name} changed ({_was(current[name], recorded_hashes[name])})"
    prose = texts_of(texts)
    other_parts = (
        (f"report definition {content.report}", outline(report, prose), content.outline),
        ("templates", templates_hash(session.templates()), content.templates),
        ("specs", checked.sources, content.specs),
    )
    yield from (f"{name} changed ({_was(new, old)})" for name, new, old in other_parts if new != old)


def _was(new: str, old: str) -> str:
    return f"{new[:DIGITS]}, was {old[:DIGITS]}"


def _build(session: Session, record: Recorded, runs: Sequence[NamedRun], out: Path) -> None:
    """Build a report of runs again, into a folder."""
    choices = record.content.options
    common = Options(
        title=choices.title, author=choices.author, date=choices.date, at=choices.at, phases=choices.phases,
        forms=tuple(record.forms),
    )  # fmt: skip
    if isinstance(session.find_report(record.content.report)[1], Article):
        build_article(session, record.content.report, runs, out, common)
        return
    options = replace(
        common, filters=choices.filters, no_filters=not choices.filters, summary=choices.summary, style=choices.style
    )  # fmt: skip
    build(session, record.content.report, runs, out, options)


def _put_back(folder: Path, places: Mapping[str, str]) -> None:
    """Restore the recorded places of moved runs in a rebuilt provenance.

    The content of the runs is verified by the hashes of their files.
    """
    if places:
        content = json.loads((folder / NAME).read_text(encoding="utf-8"))
        content["places"].update(places)
        (folder / NAME).write_text(lines_json(content), encoding="utf-8")


@contextmanager
def _scratch(cache: Path) -> Iterator[Path]:
    """Yield a temporary folder below the cache folder, which has room for ingested logs and no files of the user."""
    with ExitStack() as stack:
        with Store(cache).writing():
            folder = stack.enter_context(temporary(cache))
        stack.enter_context(_interruptible())
        yield folder


@contextmanager
def _interruptible() -> Iterator[None]:
    """Turn signals that end a process into interrupts, so that temporary folders are removed."""
    signals = (signal.SIGTERM, signal.SIGHUP) if threading.current_thread() is threading.main_thread() else ()
    former = {item: signal.signal(item, signal.default_int_handler) for item in signals}
    try:
        yield
    finally:
        for item, handler in former.items():
            signal.signal(item, handler)
