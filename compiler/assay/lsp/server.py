"""Serve the language server protocol.

One worker thread evaluates, so that evaluation does not block the loop that reads messages. Problems are searched when
typing pauses.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer

from assay.lsp.conversion import SOURCE, Converter, convert_completion, convert_hover, suggest_fixes
from assay.lsp.project import Place, Project, Projects
from assay_dhall import DhallError
from assay_dhall.editor import complete_at, describe_at, find_definition, find_selection
from assay_dhall.names import RenameError, find_renaming, rename
from assay_dhall.printer import print_label
from assay_dhall.syntax import Source

PAUSE = 0.2  # seconds without an edit before problems are searched
STACK = 256 * 2**20  # bytes of the worker's stack: evaluation nests too deep for the default of some platforms
WATCHED = "**/*.{dhall,sql}"

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The open files at one moment: their texts, and the client's URI and version of each."""

    texts: dict[Path, str]
    addresses: dict[Path, str]
    versions: dict[Path, int | None]
    converter: Converter


@dataclass(frozen=True, slots=True)
class PositionRequest:
    """A position that the client asks about: line and column from 1, in a text with a name in a project."""

    snapshot: Snapshot
    path: Path
    project: Project
    name: str
    text: str
    line: int
    column: int

    def convert(self, start: tuple[int, int], end: tuple[int, int]) -> types.Range:
        """Return the range between two places of the file."""
        return self.snapshot.converter.convert_place(Place(self.path, *start, *end))


class SpecsServer(LanguageServer):
    """A language server over the projects of the open files."""

    def __init__(self) -> None:
        # Send the whole text at each change: it is small, and clients and libraries disagree on line endings.
        super().__init__(SOURCE, version("assay"), text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.projects = Projects()
        self.has_shut_down = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evaluation")
        self._edits = 0
        self._timer: asyncio.TimerHandle | None = None
        self._search: asyncio.Task[None] | None = None
        self._published: dict[str, list[types.Diagnostic]] = {}

    def schedule_search(self, pause: float) -> None:
        """Search problems after a pause, unless another edit comes first."""
        self._edits += 1
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(pause, self._start_search)

    async def compute_answer(
        self,
        compute: Callable[[PositionRequest], Answer],
        document: types.TextDocumentIdentifier,
        position: types.Position,
    ) -> Answer | None:
        """Return the worker's answer about a position; None if the document is not an open file."""
        snapshot = self._take_snapshot()
        path = next((path for path, address in snapshot.addresses.items() if address == document.uri), None)
        if path is None:
            return None

        def handle_request() -> Answer:
            project, name = self.projects.open(path, snapshot.texts)
            line, column = snapshot.converter.read_position(path, position)
            return compute(PositionRequest(snapshot, path, project, name, snapshot.texts[path], line, column))

        return await asyncio.get_running_loop().run_in_executor(self._worker, handle_request)

    def _take_snapshot(self) -> Snapshot:
        """Return the open files as they are now."""
        texts: dict[Path, str] = {}
        addresses: dict[Path, str] = {}
        versions: dict[Path, int | None] = {}
        for address, document in self.workspace.text_documents.items():
            file_path = uris.to_fs_path(address)
            if file_path is not None:
                path = Path(file_path)
                texts[path], addresses[path], versions[path] = document.source, address, document.version
        return Snapshot(texts, addresses, versions, Converter(self.workspace.position_codec, texts, addresses))

    def _start_search(self) -> None:
        self._search = asyncio.ensure_future(self._search_problems(self._edits))

    async def _search_problems(self, edits: int) -> None:
        """Publish the problems of all files, unless there was another edit meanwhile."""
        snapshot = self._take_snapshot()

        def find_diagnostics() -> dict[str, list[types.Diagnostic]]:
            if edits != self._edits:  # so that searches do not pile up behind a long one
                return {}
            diagnostics: dict[str, list[types.Diagnostic]] = {address: [] for address in snapshot.addresses.values()}
            for finding in self.projects.find_problems(snapshot.texts):
                address = snapshot.converter.get_address(finding.place.path)
                diagnostics.setdefault(address, []).append(snapshot.converter.convert_finding(finding))
            return diagnostics

        try:
            diagnostics = await asyncio.get_running_loop().run_in_executor(self._worker, find_diagnostics)
        except Exception as error:
            self.report_server_error(error, PyglsError)
            return
        if edits == self._edits:
            self._publish(diagnostics, {snapshot.addresses[path]: number for path, number in snapshot.versions.items()})

    def _publish(self, diagnostics: dict[str, list[types.Diagnostic]], versions: dict[str, int | None]) -> None:
        """Send the problems of each open file, and of other files if they changed; clear those that are gone."""
        for address in sorted(diagnostics.keys() | self._published.keys()):
            items = diagnostics.get(address, [])
            if address in versions or items != self._published.get(address, []):
                self.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(address, items, versions.get(address))
                )
        self._published = {address: items for address, items in diagnostics.items() if items}


def serve() -> int:
    """Serve a client over stdin and stdout until it ends; return the exit status that the protocol requires."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # a refused request is an answer, not an event to log
    threading.stack_size(STACK)
    server = create_server()
    server.start_io()
    return 0 if server.has_shut_down else 1


def create_server() -> SpecsServer:
    """Return a server with handlers for all messages that it supports."""
    server = SpecsServer()
    for name in (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_SAVE, types.TEXT_DOCUMENT_DID_CLOSE,
                 types.WORKSPACE_DID_CHANGE_WATCHED_FILES):  # fmt: skip
        server.feature(name)(_search_at_once)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_search_after_pause)
    server.feature(types.INITIALIZED)(_watch_files)
    server.feature(types.SHUTDOWN)(_shut_down)
    server.feature(types.TEXT_DOCUMENT_HOVER)(_show_hover)
    server.feature(types.TEXT_DOCUMENT_DEFINITION)(_show_definition)
    server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["."]))(_complete)
    server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(_prepare_rename)
    kinds = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)(_suggest_fixes)
    server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(_rename)
    return server


def _search_at_once(server: SpecsServer, _params: object) -> None:
    server.schedule_search(0)


def _search_after_pause(server: SpecsServer, _params: object) -> None:
    server.schedule_search(PAUSE)


async def _watch_files(server: SpecsServer, _params: object) -> None:
    """Ask the client to report files that change on disk."""
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if watching and watching.dynamic_registration:
        watchers = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(WATCHED)])
        name = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        await server.client_register_capability_async(
            types.RegistrationParams([types.Registration(name, name, watchers)])
        )


def _shut_down(server: SpecsServer, _params: object) -> None:
    server.has_shut_down = True


async def _show_hover(server: SpecsServer, params: types.HoverParams) -> types.Hover | None:
    """Answer with the type and documentation of the expression at a position."""

    def find_hover(request: PositionRequest) -> types.Hover | None:
        evaluator = request.project.evaluator
        hover = describe_at(evaluator, request.name, request.text, request.line, request.column)
        if hover is None:
            return None
        span = hover.span
        return convert_hover(hover, request.convert((span.line, span.column), (span.end_line, span.end_column)))

    return await server.compute_answer(find_hover, params.text_document, params.position)


async def _show_definition(server: SpecsServer, params: types.DefinitionParams) -> types.Location | None:
    """Answer with the location of the definition of the name at a position."""

    def find_location(request: PositionRequest) -> types.Location | None:
        evaluator = request.project.evaluator
        span = find_definition(evaluator, request.name, request.text, request.line, request.column)
        return request.snapshot.converter.locate(request.project.convert_span(span)) if span else None

    return await server.compute_answer(find_location, params.text_document, params.position)


async def _complete(server: SpecsServer, params: types.CompletionParams) -> types.CompletionList | None:
    """Answer with the names that may follow the dot before a position."""

    def list_completions(request: PositionRequest) -> types.CompletionList | None:
        """List the names that may follow, with the place that they replace."""
        evaluator, text = request.project.evaluator, request.text
        offset = Source(request.name, text).get_offset(request.line, request.column)
        selection = find_selection(text, offset)
        if selection is None:
            return None
        width = offset - selection.typed_start
        start = request.line, request.column - width
        place = request.convert(start, (request.line, request.column))
        items = complete_at(evaluator, request.name, text, request.line, request.column)
        converted = [convert_completion(item, print_label(item.name), place) for item in items]
        return types.CompletionList(is_incomplete=False, items=converted)

    return await server.compute_answer(list_completions, params.text_document, params.position)


def _suggest_fixes(server: SpecsServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Answer with the names that the problems of a place suggest."""
    address = params.text_document.uri
    lines = server.workspace.get_text_document(address).source.split("\n")
    return [item for problem in params.context.diagnostics for item in suggest_fixes(address, lines, problem)]


async def _prepare_rename(
    server: SpecsServer, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    """Answer with the name at a position, if it can be renamed."""

    def find_placeholder(request: PositionRequest) -> types.PrepareRenamePlaceholder | None:
        """Return the name at the position and its place."""
        try:
            renaming = find_renaming(request.name, request.text, request.line, request.column)
        except DhallError:
            return None
        if renaming is None:
            return None
        span = renaming.span
        place = request.convert((span.line, span.column), (span.end_line, span.end_column))
        return types.PrepareRenamePlaceholder(place, renaming.name)

    return await server.compute_answer(find_placeholder, params.text_document, params.position)


async def _rename(server: SpecsServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Answer with the edits that rename a `let` or parameter; refuse invalid names."""

    def compute_edits(request: PositionRequest) -> types.WorkspaceEdit:
        """Return the edits of all places of the name."""
        try:
            edits = rename(request.name, request.text, request.line, request.column, params.new_name)
        except RenameError as error:
            raise JsonRpcException(str(error), types.LSPErrorCodes.RequestFailed) from None
        except DhallError as error:
            message = f"a file with a syntax error allows no renaming: {error.problems[0].message}"
            raise JsonRpcException(message, types.LSPErrorCodes.RequestFailed) from None
        changes = [
            types.TextEdit(
                request.convert((item.span.line, item.span.column), (item.span.end_line, item.span.end_column)),
                item.text,
            )
            for item in edits
        ]
        return types.WorkspaceEdit({params.text_document.uri: changes})

    return await server.compute_answer(compute_edits, params.text_document, params.position)
