"""`assay verify`: rebuild a report from its provenance and compare every byte."""

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
from assay.lang import normal_form
from assay.lang.model.article import Article
from assay.lang.model.report import History, Report
from assay.lang.normal_form import CheckedPackage
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


def changed_publications(found: RecordedPublished) -> Iterator[str]:
    """A line for each publication file that is gone or has other content."""
    for path, said in zip(found.places, found.content.publications, strict=True):
        name = f"input {said.file}"
        try:
            _, _, digest = file_of(path.parent, path.name)
        except FileNotFoundError:
            yield f"{name}: gone"
        except OSError as error:
            yield f"{name}: cannot be read ({error.strerror})"
        else:
            if digest != said.sha256:
                yield f"{name}: content changed (sha256 {digest[:12]}, was {said.sha256[:12]})"


def definition(session: Session, found: RecordedPublished) -> str:
    """Hash of the definition of the report as it is now: of its edition, or of the history."""
    content = found.content
    if content.edition:
        _, report = session.report(content.report)
        return content_hash(normal_form.to_plain_data(chosen(report, "", content.edition)))
    return content_hash(normal_form.to_plain_data(session.history(content.report)[1]))


def rebuild(session: Session, found: RecordedPublished, out: Path) -> None:
    """Make the report again into a folder."""
    said = found.content
    forms = tuple(found.forms)
    if said.edition:
        regenerate(session, found.places[0], out, said.report, said.edition, forms)
    else:
        title, author, date = (said.options.get(name, "") for name in ("title", "author", "date"))
        build_history(
            session, said.report, found.places, out, Options(title=title, author=author, date=date, forms=forms)
        )


DIGITS = 12


@dataclass(frozen=True, slots=True)
class Verified:
    """What a verification found: a line for each difference, the number of files compared, and of those that differ.

    Without a rebuild (it failed, and a difference says why) no files are compared.
    """

    differences: tuple[str, ...]
    files: int
    differing: int


def verify(session: Session, folder: Path, places: Sequence[str]) -> Verified:
    """Compare a built report with what its provenance yields now.

    `places` says where runs are now, as `NAME=DIR`, for those that are not where they were.  The rebuild takes nothing
    from the cache but checked specs.  Raises AssayError when there is no provenance to go by or a run is not there,
    and when the rebuild fails although nothing changed.
    """
    found = recorded(folder)
    if isinstance(found, RecordedPublished):
        return _verify_published(session, folder, found, places)
    moved = moved_runs(found, places)
    checked, report = _report(session, found.content.report)
    runs = runs_now(session, checked, found, moved)
    causes = [
        *_changed_inputs(session, found.content, runs),
        *_changed_versions(found.content.versions, found.forms),
        *_changed_definitions(found.content, checked, report, session),
    ]

    def make(alone: Session, out: Path) -> list[str]:
        _build(alone, found, runs, out)
        fresh = recorded(out)
        assert isinstance(fresh, Recorded)
        _put_back(out, {run: found.places[run] for run in moved})
        return list(_new_inputs(found.content, fresh.content))

    return _compared(session, folder, found.intact, causes, make)


def _verify_published(session: Session, folder: Path, found: RecordedPublished, places: Sequence[str]) -> Verified:
    """The same of a report that is made of publications, not of runs."""
    if places:
        raise fail("run-name", "the report is made of publications, not of runs", hint="leave --run out", status=USAGE)
    content = found.content
    try:
        specs = session.find_report(content.report)[0].sources
        now = (definition(session, found), templates_hash(session.templates()), specs)
    except AssayError as error:
        raise _not_usage(error) from None
    said = (content.outline, content.templates, content.specs)
    names = (f"definition of {content.report} {content.edition}".rstrip(), "templates", "specs")
    causes = [
        *changed_publications(found),
        *_changed_versions(content.versions, found.forms),
        *(f"{name} changed ({_was(new, old)})" for name, new, old in zip(names, now, said, strict=True) if new != old),
    ]

    def make(alone: Session, out: Path) -> list[str]:
        rebuild(alone, found, out)
        return []

    return _compared(session, folder, found.intact, causes, make)


def _compared(
    session: Session, folder: Path, intact: bool, causes: Sequence[str], make: Callable[[Session, Path], list[str]]
) -> Verified:
    """What differs in a report that `make` makes again, with a cache that is empty; `make` may tell further causes."""
    found = [*([] if intact else [f"{NAME}: its hash is not that of its content"]), *causes]
    with _scratch(session.store.folder) as scratch:
        alone = Session(
            session.workspace, Store(scratch / "cache"), session.progress, session.threads, session.packages
        )
        try:
            with closing(alone):
                found += make(alone, scratch / "report")
        except AssayError as error:
            if not found:
                raise _not_usage(error) from None
            named = session.as_named(error).diagnostics
            return Verified((*found, *(f"not rebuilt: {item.message}" for item in named)), 0, 0)
        files = compared(folder, scratch / "report")
    differing = [lines for lines in files.values() if lines]
    if differing and not found:
        found = ["inputs, versions and definitions are what they were"]
    return Verified((*found, *(line for lines in differing for line in lines)), len(files), len(differing))


def moved_runs(found: Recorded, places: Sequence[str]) -> Mapping[str, NamedRun]:
    """Where the user says that runs are now, by their ids."""
    given = {run.id: run for run in named_runs(places)}
    unknown = sorted(given.keys() - found.places.keys())
    if unknown:
        hint = did_you_mean(unknown[0], found.places)
        raise fail("run-name", f"the report has no run `{unknown[0]}`", hint=hint, status=USAGE)
    return given


def runs_now(
    session: Session, checked: CheckedPackage, found: Recorded, moved: Mapping[str, NamedRun]
) -> tuple[NamedRun, ...]:
    """The runs in the report's order, those that are elsewhere mirrored; AssayError when any is not there.

    What is fetched because a provenance says so, not the user, is told before, and how much that is.
    """
    try:
        runs = [moved.get(run.id) or run_at(run.id, found.places[run.id]) for run in found.content.runs]
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
        checked, found = session.find_report(name)
        return session.report(name) if isinstance(found, History) else (checked, found)
    except AssayError as error:
        raise _not_usage(error) from None


def _not_usage(error: AssayError) -> AssayError:
    """The error, as one of specs or data: a provenance said what a user would say."""
    return AssayError(error.diagnostics, SPECS_OR_DATA if error.status == USAGE else error.status)


def _changed_inputs(session: Session, content: Content, runs: Sequence[NamedRun]) -> Iterator[str]:
    """A line for each recorded file that is gone or has other content."""
    wanted = [(run, item) for run, said in zip(runs, content.runs, strict=True) for item in said.inputs]
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda pair: _changed_file(*pair), wanted)
        for done, line in enumerate(found, start=1):
            session.progress("checking inputs", done, len(wanted))
            if line:
                yield line


def _changed_file(run: NamedRun, said: RecordedFile) -> str:
    name = f"input {run.id}/{said.file}"
    try:
        _, _, digest = file_of(run.directory, said.file)
    except FileNotFoundError:
        return f"{name}: gone"
    except OSError as error:
        return f"{name}: cannot be read ({error.strerror})"
    return "" if digest == said.sha256 else f"{name}: content changed (sha256 {_was(digest, said.sha256)})"


def _new_inputs(old: Content, new: Content) -> Iterator[str]:
    """A line for each file that was read now and is not recorded."""
    for before, after in zip(old.runs, new.runs, strict=True):
        known = {item.file for item in before.inputs}
        yield from (f"input {after.id}/{item.file}: new" for item in after.inputs if item.file not in known)


def _changed_versions(of_all: Mapping[str, str], forms: Forms) -> Iterator[str]:
    """A line for each tool that has another version now; those of each form count with those of all."""
    now, said = versions(), dict(of_all)
    for form, tools in forms.items():
        now |= form_tools(form)
        said |= tools
    for name in sorted({*now, *said}):
        if now.get(name) != said.get(name):
            yield f"version {name} {now.get(name, 'none')}, was {said.get(name, 'none')}"


def _changed_definitions(
    content: Content, checked: CheckedPackage, report: Report | Article, session: Session
) -> Iterator[str]:
    """A line for each metric that means something else, and for each other part of the workspace that changed."""
    said = content.definitions
    texts = read_prose(session.workspace, checked, report) if isinstance(report, Article) else {}
    if isinstance(report, Article):
        shown = metrics_of(report, texts.values())
    else:
        shown = tuple(metric.id for metric in report_metrics(checked, report))
    now = {name: checked.definitions[name] for name in shown}
    for name in sorted({*now, *said}):
        if name not in now or name not in said:
            yield f"definition {name} is {'new' if name in now else 'gone'}"
        elif now[name] != said[name]:
            yield f"definition {name} changed ({_was(now[name], said[name])})"
    prose = texts_of(texts)
    others = (
        (f"report definition {content.report}", outline(report, prose), content.outline),
        ("templates", templates_hash(session.templates()), content.templates),
        ("specs", checked.sources, content.specs),
    )
    yield from (f"{name} changed ({_was(new, old)})" for name, new, old in others if new != old)


def _was(new: str, old: str) -> str:
    return f"{new[:DIGITS]}, was {old[:DIGITS]}"


def _build(session: Session, found: Recorded, runs: Sequence[NamedRun], out: Path) -> None:
    """Build the report again into a folder."""
    said = found.content.options
    common = Options(title=said.title, author=said.author, date=said.date, at=said.at, phases=said.phases,
                     forms=tuple(found.forms))  # fmt: skip
    if isinstance(session.find_report(found.content.report)[1], Article):
        build_article(session, found.content.report, runs, out, common)
        return
    options = replace(
        common, filters=said.filters, no_filters=not said.filters, summary=said.summary, style=said.style
    )  # fmt: skip
    build(session, found.content.report, runs, out, options)


def _put_back(folder: Path, places: Mapping[str, str]) -> None:
    """Let a rebuilt provenance say where moved runs were; what they are is told by the hashes of their files."""
    if places:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
        found["places"].update(places)
        (folder / NAME).write_text(lines_json(found), encoding="utf-8")


@contextmanager
def _scratch(cache: Path) -> Iterator[Path]:
    """A folder that vanishes, in the cache folder: there is room for ingested logs, and nothing of the user's."""
    with ExitStack() as stack:
        with Store(cache).writing():
            folder = stack.enter_context(temporary(cache))
        stack.enter_context(_interruptible())
        yield folder


@contextmanager
def _interruptible() -> Iterator[None]:
    """Be interrupted, not killed, by the signals that end a process: what must be removed is removed then."""
    signals = (signal.SIGTERM, signal.SIGHUP) if threading.current_thread() is threading.main_thread() else ()
    former = {item: signal.signal(item, signal.default_int_handler) for item in signals}
    try:
        yield
    finally:
        for item, handler in former.items():
            signal.signal(item, handler)
