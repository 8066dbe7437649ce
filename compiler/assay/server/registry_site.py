"""The site of `assay serve`: runs, comparisons that are built on demand, histories, and the catalogue.

    /                                        metrics over recorded runs, the worst first; without any, the runs
    /runs                                    runs, and the choice of two to compare
    /compare?report=NAME&run=A&run=B         leads to the comparison
    /builds/SYSTEM/REPORT/A/B/report.html    a comparison, and the files of its build
    /history/SYSTEM/METRIC                   a metric over recorded runs
    /shifts                                  takes the form with a note on a level shift (POST)
    /metrics/index.html                      the catalogue

Names in addresses are looked up among the known reports, runs and metrics; no path on the disk contains them.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay.app.audit.site_templates import build_asset, create_environment
from assay.app.build.watch import WatchedFiles
from assay.app.compare.metric_history import find_history
from assay.app.compare.note_shift import KINDS, NoteRequest, find_author, note_shift
from assay.app.compare.register_run import KnownRun, list_known_runs, locate_places
from assay.app.compare.shift_details import find_details, list_changes
from assay.app.session.config import Config
from assay.app.session.session import Session, open_session
from assay.lang.workspace import Workspace
from assay.registry.history import HistoryChange, HistoryScope
from assay.registry.model import SHIFTS, RegisteredRun
from assay.registry.store import Registry, read_registry
from assay.server.commands import CommandRunner, Output
from assay.server.history_pages import (
    TITLE,
    PageFrame,
    build_history,
    build_history_address,
    build_overview,
    list_states_by_tag,
)
from assay.server.http_server import Answer
from assay.server.requests import Request
from assay.server.responses import (
    CATALOGUE_POLICY,
    CATALOGUE_TYPES,
    REPORT_POLICY,
    REPORT_TYPES,
    Response,
    build_redirection,
    read_file,
)
from assay.util.diagnostics import AssayError
from assay.util.file_changes import Stamps, stamp_files
from assay.util.scratch import clean_up

RUNS, METRICS = "Runs", "Definitions"  # headings of the navigation, besides that of metrics over time
PAGES = (("", TITLE), ("runs", RUNS), ("metrics/index.html", METRICS))
ASSETS = {
    "catalogue.css": ".css", "server.css": ".css", "catalogue.js": ".js", "overview.js": ".js", "progress.js": ".js",
}  # fmt: skip
MOST_RUNS = 10_000  # of a history
PATIENCE = 1.5  # seconds for which a request waits for a build before it gets the page of progress
PAGE = "report.html"


@dataclass(frozen=True, slots=True)
class _RunRow:
    """A run of the first page."""

    name: str
    day: str
    tags: Sequence[str]
    commit: str
    systems: Sequence[str]
    reports: Sequence[str]
    places: Sequence[str]


class RegistrySite:
    """The site over a workspace, its settings, and a results folder, which may be missing."""

    def __init__(
        self, session: Session, config: Config | None, results: Path | None, root: Path, *, may_write: bool = False
    ) -> None:
        self._workspace: Workspace = session.workspace
        self._cache = session.store.folder
        self._config = config
        self._results = results
        self._session = session
        self._spec_files = WatchedFiles("", ())
        self._lock = threading.Lock()  # on the session and the registry
        self._stamps: Stamps | None = None
        self._registry, self._known_runs = Registry(), list[KnownRun]()
        self._overview: tuple[Registry | None, Session | None, dict[str, Any]] = None, None, {}
        self._environment = create_environment()
        self._token = secrets.token_urlsafe() if may_write and results else ""
        self._author = find_author(config.values.get("author", "") if config else "") if self._token else ""
        self.runner = CommandRunner(self._workspace, self._cache, root)

    @property
    def posts(self) -> Mapping[str, Answer]:
        """What answers forms, by their address; nothing if the site is read-only."""
        return {f"/{SHIFTS}": self._write_note} if self._token else {}

    def answer(self, request: Request) -> Response:
        """Return the response to a request; a page with the problem if, say, the results folder is damaged."""
        try:
            return self._choose_page(request)
        except AssayError as error:
            return self._build_message(HTTPStatus.INTERNAL_SERVER_ERROR, "An error", problem=str(error))

    def _choose_page(self, request: Request) -> Response:
        first, *rest = request.parts
        if first == "" and not rest:
            return self._show_overview() if self._read_registry().recorded else self._show_runs()
        if first == "runs" and not rest:
            return self._show_runs()
        if first == "assets" and len(rest) == 1 and rest[0] in ASSETS:
            return Response(build_asset(rest[0]).encode(), CATALOGUE_TYPES[ASSETS[rest[0]]])
        if first == "compare" and not rest:
            return self._choose_comparison(request)
        if first == "builds" and len(rest) >= 5:
            return self._show_build(rest)
        if first == "history":
            return self._show_history(request, rest)
        if first == "metrics" and rest:
            return self._show_catalogue(rest)
        return self._build_missing_page()

    def _render(self, template: str, place: str, title: str, **values: Any) -> bytes:
        name = self._workspace.root.name or "Assay"
        frame = PageFrame(self._environment, name, PAGES, lambda path: f"/{path}")
        return frame.render(template, place, title, **values)

    def _build_message(
        self, status: HTTPStatus, title: str, text: str = "", problem: str = "", place: str = ""
    ) -> Response:
        """Return a page with a text or a problem; that of an unfinished command reloads."""
        is_progress = status == HTTPStatus.ACCEPTED
        page = self._render("message.html.j2", place, title, text=text, problem=problem, is_progress=is_progress)
        return Response(page, status=status)

    def _build_missing_page(self) -> Response:
        return self._build_message(HTTPStatus.NOT_FOUND, "Not found", "There is no such page.")

    def _read_registry(self) -> Registry:
        """Return the content of the results folder; it is read again if a file has changed."""
        if self._results is None:
            return self._registry
        with self._lock:
            stamps = stamp_files([self._results])
            if stamps != self._stamps:
                self._registry, self._known_runs = read_registry(self._results), list_known_runs(self._results)
                self._stamps = stamps
            return self._registry

    def _list_run_places(self, registry: Registry) -> Mapping[str, tuple[str, ...]]:
        """Return the runs with logs: name -> `NAME=DIR`, several for repeats. Those of the settings precede."""
        places: dict[str, tuple[str, ...]] = {}
        for text in self._config.list_runs() if self._config else ():
            name = text.partition("=")[0]
            places[name] = (*places.get(name, ()), text)
        for run in registry.runs:
            places.setdefault(run.name, tuple(f"{run.name}={place}" for place in run.places))
        return places

    @contextmanager
    def _use_session(self) -> Iterator[Session]:
        """Yield a session with the current specs to one thread at a time."""
        with self._lock:
            if self._spec_files.has_changed(self._workspace):
                self._session = open_session(self._workspace.root, self._cache)
            try:
                yield self._session
            finally:
                clean_up(self._cache)  # so that `assay cache prune` need not wait

    def _list_reports(self) -> tuple[str, ...]:
        """Return the names of reports over runs. Raises AssayError for errors of the specs."""
        with self._use_session() as session:
            packages = [session.load_package(name).package for name in session.list_systems(None)]
        names = [(item.system, report.name) for item in packages for report in item.reports]
        return tuple(f"{system}/{name}" for system, name in names)

    def _show_runs(self) -> Response:
        registry = self._read_registry()
        places = self._list_run_places(registry)
        try:
            reports, problem = self._list_reports(), ""
        except AssayError as error:
            reports, problem = (), str(error)
        rows = _list_run_rows(registry, self._known_runs, places)
        comparable = {row.name: row.places for row in rows if row.places}
        values = self._config.values if self._config else {}
        recorded_reports = [name for row in rows for name in row.reports if name in reports]
        base, compared = choose_pair(comparable, values.get("baseline", ""))
        page = self._render(
            "runs.html.j2", RUNS, RUNS, rows=rows, reports=reports, problem=problem, comparable=list(comparable),
            has_results=self._results is not None, report=values.get("report") or "".join(recorded_reports[:1]),
            base=base, compared=compared,
        )  # fmt: skip
        return Response(page)

    def _choose_comparison(self, request: Request) -> Response:
        system, _, report = request.get("report").partition("/")
        runs = request.parameters.get("run", ())
        if len(runs) != 2 or not self._is_known(f"{system}/{report}", runs):
            return self._build_missing_page()
        return build_redirection("builds", system, report, *runs, PAGE)

    def _is_known(self, report: str, runs: Sequence[str]) -> bool:
        places = self._list_run_places(self._read_registry())
        return all(run in places for run in runs) and report in self._list_reports()

    def _show_build(self, parts: Sequence[str]) -> Response:
        """Return the page of a comparison, which is built if it is not current, or another file of its build."""
        system, report, base, run, *file = parts
        name, places = f"{system}/{report}", self._list_run_places(self._read_registry())
        if base not in places or run not in places:
            return self._build_missing_page()
        runs = (*places[base], *places[run])
        command = ("build", *(f"--run={text}" for text in runs), "--to", "html", "--no-results", "--", name)
        if file != [PAGE]:
            output = self.runner.find(command)
            return (output and read_file(output.folder, file, REPORT_TYPES, REPORT_POLICY)) or (
                self._build_missing_page()
            )
        try:
            if name not in self._list_reports():
                return self._build_missing_page()
        except AssayError as error:
            return self._build_message(HTTPStatus.INTERNAL_SERVER_ERROR, f"{name} cannot be built", problem=str(error))
        output = self.runner.request(command, system, runs)
        title = f"{name}: {run} against {base}"
        return self._show_output(output, title, RUNS) or self._require_file(output, file, REPORT_TYPES, REPORT_POLICY)

    def _show_catalogue(self, file: Sequence[str]) -> Response:
        command = ("catalogue",)
        is_page = file[-1].endswith(".html")
        output = self.runner.request(command) if is_page else self.runner.find(command)
        if output is None:
            return self._build_missing_page()
        message = self._show_output(output, "The catalogue", METRICS)
        return message or self._require_file(output, file, CATALOGUE_TYPES, CATALOGUE_POLICY)

    def _show_output(self, output: Output, title: str, place: str) -> Response | None:
        """Return the page of an unfinished or failed command; None if it has output."""
        if not output.finished.wait(PATIENCE):
            text = "Building … this page reloads by itself."
            return self._build_message(HTTPStatus.ACCEPTED, title, text, place=place)
        if output.problem:
            return self._build_message(HTTPStatus.INTERNAL_SERVER_ERROR, f"{title} cannot be built",
                                       problem=output.problem, place=place)  # fmt: skip
        return None

    def _require_file(self, output: Output, file: Sequence[str], types: Mapping[str, str], policy: str) -> Response:
        return read_file(output.folder, file, types, policy) or self._build_missing_page()

    def _show_overview(self) -> Response:
        """Return the page of all recorded metrics, computed again if results or specs have changed."""
        registry = self._read_registry()
        with self._use_session() as session:
            if self._overview[:2] != (registry, session):
                states = list_states_by_tag(session, registry)
                self._overview = registry, session, build_overview(states, build_history_address)
        return Response(self._render("histories.html.j2", TITLE, TITLE, **self._overview[2]))

    def _show_history(self, request: Request, parts: Sequence[str]) -> Response:
        registry = self._read_registry()
        recorded_metrics = {(item.system, metric) for item in registry.recorded for metric in item.content.metrics}
        tags = sorted({tag for run in registry.runs for tag in run.tags})
        tag, last = request.get("tag"), request.get("last")
        is_valid = tag in ("", *tags) and (not last or (last.isascii() and last.isdigit() and int(last) <= MOST_RUNS))
        if self._results is None or len(parts) != 2 or tuple(parts) not in recorded_metrics or not is_valid:
            return self._build_missing_page()
        system, metric = parts
        try:
            with self._use_session() as session:
                item = find_history(session, registry, metric, HistoryScope(system, tag, int(last or 0)))
                details = [find_details(self._config, registry.runs, item, each) for each in list_changes(item)]
                fonts = session.get_templates() / "fonts"
                values = build_history(item, fonts, details, partial(self._find_comparison, registry))
        except AssayError as error:  # such as a tag whose runs have no results
            return self._build_message(HTTPStatus.NOT_FOUND, metric, problem=str(error), place=TITLE)
        page = self._render(
            "history.html.j2", TITLE, values["texts"].title, tags=tags, tag=tag, last=int(last or 0), home="",
            address=f"/{build_history_address(system, metric)}",
            definition=f"/metrics/index.html#q={quote(metric, safe='')}", token="" if tag else self._token,
            author=self._author, **values,
        )  # fmt: skip
        return Response(page)

    def _find_comparison(self, registry: Registry, change: HistoryChange) -> str:
        """Return the address of the comparison of the two runs around a change; empty if their logs are not known."""
        names = [point.results.name for point in change.ends]
        report = change.ends[1].results.content.report
        places = self._list_run_places(registry)
        is_known = len(set(names)) > 1 and all(places.get(name) for name in names)
        return "/".join(["builds", report, *(quote(name, safe="") for name in names), PAGE]) if is_known else ""

    def _write_note(self, request: Request) -> Response:
        """Write the note of a form of the page of a metric, and lead back to that page."""
        if not secrets.compare_digest(request.get("token").encode(), self._token.encode()):
            text = "The form is not of this server, or the server was started again. Reload the page of the metric."
            return self._build_message(HTTPStatus.FORBIDDEN, "Not written", text)
        system, metric = request.get("system"), request.get("metric")
        kind, run, author, reason = map(request.get, ("kind", "run", "author", "reason"))
        if kind not in KINDS or self._results is None:
            return self._build_message(HTTPStatus.BAD_REQUEST, "Not written", f"There is no note of the kind {kind!r}.")
        try:
            with self._use_session() as session:
                note_shift(session, self._results, NoteRequest(kind, metric, run, author, reason, system))
        except AssayError as error:
            return self._build_message(HTTPStatus.BAD_REQUEST, "Not written", problem=str(error), place=TITLE)
        return build_redirection("history", system, metric)


def choose_pair(places_by_run: Mapping[str, Sequence[str]], baseline: str) -> tuple[str, str]:
    """Return the baseline and the run that a form compares by default, if possible without a log of both.

    The runs are the latest first. `baseline` is that of the settings; it may be `last:TAG`, which is no name.
    """
    located = {name: locate_places(places) for name, places in places_by_run.items()}

    def find_other(run: str) -> str:
        others = [name for name in located if name != run]
        return next((name for name in others if located[name].isdisjoint(located[run])), "".join(others[:1]))

    if baseline in located:
        return baseline, find_other(baseline)
    latest = next(iter(located), "")
    return (find_other(latest), latest) if latest else ("", "")


def _list_run_rows(
    registry: Registry, known_runs: Sequence[KnownRun], places: Mapping[str, tuple[str, ...]]
) -> list[_RunRow]:
    """Return the runs of the results folder, the latest first, then further runs of the settings."""
    reports: dict[str, set[str]] = {}
    for results in registry.recorded:
        reports.setdefault(results.name, set()).add(results.content.report)
    runs = [item.run for item in reversed(known_runs)]
    names = {run.name for run in runs}
    runs += [RegisteredRun(Path(), name, ()) for name in places if name not in names]
    return [
        _RunRow(
            run.name,
            run.day,
            run.tags,
            run.commit,
            sorted({report.partition("/")[0] for report in reports.get(run.name, ())}),
            sorted(reports.get(run.name, ())),
            [text.partition("=")[2] for text in places.get(run.name, ())],
        )
        for run in runs
    ]
