"""Test `assay lsp` in a process, with a real client."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from assay.lsp.project import Projects
from assay_dhall.editor import complete_at
from assay_dhall.session import parse_text
from assay_dhall.syntax import Select, walk
from tests.support.commands import build_environment
from tests.support.laboratory import ROOT

PATIENCE = 15.0
STARTER = ROOT / "starter"
SPECS = "specs/service"


def start_server(*arguments: str) -> tuple[str, ...]:
    """Return the command line of a server in a process of its own."""
    return sys.executable, "-m", "assay", "lsp", *arguments


@dataclass
class Editor:
    """A client with its server: `loop` runs while an answer is awaited, `problems` are those published last."""

    root: Path
    loop: asyncio.AbstractEventLoop
    client: LanguageClient
    problems: dict[str, types.PublishDiagnosticsParams] = field(default_factory=dict)
    version: int = 0

    def wait_for_answer(self, request: Any) -> Any:
        """Return the answer to a request."""
        return self.loop.run_until_complete(asyncio.wait_for(request, PATIENCE))

    def get_document(self, file: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier((self.root / file).as_uri())

    def read(self, file: str) -> str:
        return (self.root / file).read_text(encoding="utf-8")

    @contextmanager
    def open(self, file: str, text: str | None = None) -> Iterator[None]:
        """Open a file, with a text that is not saved, and close it."""
        self.version += 1
        content = self.read(file) if text is None else text
        item = types.TextDocumentItem(self.get_document(file).uri, "dhall", self.version, content)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        try:
            yield
        finally:
            self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.get_document(file)))
            self.wait(lambda: not any(item.diagnostics for item in self.problems.values()))

    def change(self, file: str, text: str) -> None:
        """Replace the text of an open file."""
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.get_document(file).uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def wait_for(self, file: str, is_accepted: Callable[[list[types.Diagnostic]], bool]) -> list[types.Diagnostic]:
        """Return the problems of a file as soon as they are as expected."""
        uri = self.get_document(file).uri
        self.wait(lambda: uri in self.problems and is_accepted(list(self.problems[uri].diagnostics)))
        return list(self.problems[uri].diagnostics)

    def wait(self, is_done: Callable[[], bool]) -> None:
        """Let the loop run until something holds."""

        async def poll() -> None:
            while not is_done():
                await asyncio.sleep(0.02)

        self.wait_for_answer(poll())

    def split_at_mark(self, marked_text: str) -> tuple[str, types.Position]:
        """Return a text without its mark `|!|`, and the position of the mark in UTF-16 units."""
        before, mark, after = marked_text.partition("|!|")
        assert mark
        line = before.rpartition("\n")[2]
        return before + after, types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)

    def mark(self, file: str, text: str, marked_text: str) -> tuple[str, types.Position]:
        """Return a file's text with a part replaced that holds a mark, and the position of the mark."""
        content = self.read(file)
        assert text in content
        return self.split_at_mark(content.replace(text, marked_text, 1))

    def hover(self, file: str, position: types.Position) -> str | None:
        params = types.HoverParams(self.get_document(file), position)
        answer = self.wait_for_answer(self.client.text_document_hover_async(params))
        return answer.contents.value if answer else None

    def define(self, file: str, position: types.Position) -> tuple[str, int, int] | None:
        """Return the path, line and column, from 0, of a definition."""
        params = types.DefinitionParams(self.get_document(file), position)
        answer = self.wait_for_answer(self.client.text_document_definition_async(params))
        return (answer.uri, answer.range.start.line, answer.range.start.character) if answer else None

    def complete(self, file: str, position: types.Position) -> dict[str, types.CompletionItem]:
        params = types.CompletionParams(self.get_document(file), position)
        answer = self.wait_for_answer(self.client.text_document_completion_async(params))
        return {item.label: item for item in answer.items} if answer else {}

    def rename(self, file: str, position: types.Position, name: str) -> list[types.TextEdit]:
        params = types.RenameParams(self.get_document(file), position, name)
        answer = self.wait_for_answer(self.client.text_document_rename_async(params))
        return list(answer.changes[self.get_document(file).uri])


def start_editor(root: Path) -> Editor:
    """Start a server and a client that has shaken hands with it."""
    loop = asyncio.new_event_loop()
    client = LanguageClient("tests", "1")
    editor = Editor(root, loop, client)

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def publish(params: types.PublishDiagnosticsParams) -> None:
        editor.problems[params.uri] = params

    command, *arguments = start_server()
    environment = build_environment()
    editor.wait_for_answer(client.start_io(command, *arguments, cwd=root, env=environment))
    params = types.InitializeParams(types.ClientCapabilities(), process_id=os.getpid(), root_uri=root.as_uri())
    result = editor.wait_for_answer(client.initialize_async(params))
    assert result.server_info.name == "assay"
    client.initialized(types.InitializedParams())
    return editor


def stop_editor(editor: Editor, *, orderly: bool = True) -> int:
    """End the server as the protocol requires, and return its exit status."""
    if orderly:
        editor.wait_for_answer(editor.client.shutdown_async(None))
    editor.client.exit(None)
    process = editor.client._server
    assert process is not None
    status: int = editor.wait_for_answer(process.wait())
    editor.wait_for_answer(editor.client.stop())
    editor.loop.run_until_complete(editor.loop.shutdown_default_executor())
    editor.loop.close()
    return status


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """Open an editor in a copy of the starter, whose specs import the shipped schema."""
    root = tmp_path_factory.mktemp("lsp") / "workspace"
    shutil.copytree(STARTER, root)
    editor = start_editor(root)
    yield editor
    assert stop_editor(editor) == 0


METRICS = f"{SPECS}/metrics.dhall"


def get_range(item: types.Diagnostic | types.TextEdit) -> tuple[int, int, int, int]:
    start, end = item.range.start, item.range.end
    return start.line, start.character, end.line, end.character


def test_misspelt_field_is_marked_until_corrected(editor: Editor) -> None:
    text, position = editor.mark(METRICS, "e.started\n", "e.|!|startet\n")
    with editor.open(METRICS, text):
        (problem,) = editor.wait_for(METRICS, bool)
        line, column = position.line, position.character
        assert get_range(problem) == (line, column, line, column + len("startet"))
        assert problem.severity == types.DiagnosticSeverity.Error
        assert (problem.code, problem.source) == ("dhall-type", "assay")
        assert "`startet`" in problem.message.split("\n")[0]
        assert "did you mean `started`?" in problem.message
        editor.change(METRICS, editor.read(METRICS))
        assert editor.wait_for(METRICS, lambda problems: problems == []) == []
        assert editor.problems[editor.get_document(METRICS).uri].version == editor.version


@pytest.mark.parametrize(
    ("text", "changed_text", "names"),
    [
        ("e.started\n", "e.startet\n", ["started"]),
        ("S.unit.byte\n", "S.unit.bite\n", ["byte"]),
        ("S.unit.byte\n", "True\n", []),
    ],
)
def test_suggested_names_are_quick_fixes(editor: Editor, text: str, changed_text: str, names: list[str]) -> None:
    content = editor.read(METRICS)
    assert text in content
    with editor.open(METRICS, content.replace(text, changed_text)):
        problems = editor.wait_for(METRICS, bool)
        context = types.CodeActionContext(problems)
        params = types.CodeActionParams(editor.get_document(METRICS), problems[0].range, context)
        actions = editor.wait_for_answer(editor.client.text_document_code_action_async(params)) or []
        assert [item.title for item in actions] == [f"Change to `{name}`" for name in names]
        for action in actions:
            ((edit,),) = action.edit.changes.values()
            lines = content.replace(text, changed_text).split("\n")
            row, start, end = edit.range.start.line, edit.range.start.character, edit.range.end.character
            lines[row] = lines[row][:start] + edit.new_text + lines[row][end:]
            assert "\n".join(lines) == content


def test_all_problems_of_a_file_are_marked_in_utf_16(editor: Editor) -> None:
    file = f"{SPECS}/new.dhall"
    with editor.open(file, 'let x = "𝒳" in { a = 1 + True, b = zzz }'):
        problems = editor.wait_for(file, bool)
        assert [get_range(item) for item in problems] == [(0, 26, 0, 30), (0, 36, 0, 39)]


def test_syntax_error_points_to_the_bracket(editor: Editor) -> None:
    file = f"{SPECS}/new.dhall"
    with editor.open(file, "let a = { b = [ 1, 2 }\nin a"):
        (problem,) = editor.wait_for(file, bool)
        (related,) = problem.related_information or ()
        assert problem.code == "dhall-parse"
        assert related.location.uri == editor.get_document(file).uri
        assert (related.location.range.start.line, related.location.range.start.character) == (0, 14)


def test_importer_of_edited_file_is_marked_too(editor: Editor) -> None:
    file, importer = f"{SPECS}/requests.dhall", f"{SPECS}/metrics.dhall"
    text = editor.read(file).replace("in  S.grain", "let rows = S.grain") + "\nin  { rows }\n"
    with editor.open(file, text):
        problem, *_ = editor.wait_for(importer, bool)
        expected = editor.read(importer)[: editor.read(importer).index("request.grain")].count("\n")
        assert problem.range.start.line == expected
        assert "`grain`" in problem.message
        editor.change(file, editor.read(file))
        editor.wait_for(importer, lambda problems: problems == [])


def test_unknown_unit_is_marked_where_it_is_written(editor: Editor) -> None:
    text, position = editor.mark(METRICS, ", unit = S.unit.byte", ', unit = |!|{ name = "bite", symbol = "B" }')
    with editor.open(METRICS, text):
        (problem,) = editor.wait_for(METRICS, bool)
        assert problem.code == "unknown-unit"
        assert problem.message.startswith("unknown unit `bite` in metric `response_size`")
        assert get_range(problem)[:2] == (position.line, position.character + len("{ name = "))


def test_package_check_marks_a_file_that_is_not_open(editor: Editor) -> None:
    file = f"{SPECS}/package.dhall"
    with editor.open(file, editor.read(file).replace("S.metrics (toMap m)", "[ m.wait, m.work ]")):
        (problem,) = editor.wait_for(METRICS, bool)
        assert problem.code == "unknown-metric"
        assert problem.message.endswith("hint: add it to the package's lists")
        _, position = editor.mark(METRICS, '"response_size"', '|!|"response_size"')
        assert problem.range.start == position


def test_problem_points_to_the_unlisted_declaration(editor: Editor) -> None:
    package, listed_line = editor.root / SPECS / "package.dhall", "    , grains = [ request.grain ]\n"
    content = package.read_text(encoding="utf-8")
    text, position = editor.mark(METRICS, ", unit = S.unit.byte", ', unit = S.unit.byte, grain = |!|"request"')
    text = text.replace("        ofRequest::{", "        S.Metric::{")
    package.write_text(content.replace(listed_line, ""), encoding="utf-8")
    try:
        with editor.open(METRICS, text):
            problems = editor.wait_for(METRICS, bool)
            related, *_ = problems[0].related_information or ()
            _, declaration_position = editor.mark(f"{SPECS}/requests.dhall", '{ name = "', '{ name = |!|"')
            assert (problems[0].code, problems[0].range.start) == ("unknown-grain", position)
            assert related.location.uri == editor.get_document(f"{SPECS}/requests.dhall").uri
            assert related.location.range.start == declaration_position
            package.write_text(content, encoding="utf-8")
            change = types.FileEvent(editor.get_document(f"{SPECS}/package.dhall").uri, types.FileChangeType.Changed)
            editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
            editor.wait_for(METRICS, lambda problems: problems == [])
    finally:
        package.write_text(content, encoding="utf-8")


@pytest.mark.parametrize(
    ("marked_text", "expected"),
    [
        ("let S = ../sche|!|ma/package.dhall", "The spec language: every word that specs use."),
        ("S.metr|!|icOf request", "```dhall\n∀(g : { "),
        ("e.star|!|ted\n", "forms : List { "),
        ("let request = ./requ|!|ests.dhall", "a request, with the instants of its events."),
        ("let dura|!|tion =", "```dhall\n{ Type : Type, default : { "),
    ],
)
def test_hover_shows_type_and_documentation(editor: Editor, marked_text: str, expected: str) -> None:
    text, position = editor.mark(METRICS, marked_text.replace("|!|", ""), marked_text)
    with editor.open(METRICS, text):
        hover = editor.hover(METRICS, position)
    assert expected in (hover or "")


def test_hover_shows_comment_of_shipped_schema(editor: Editor) -> None:
    text, position = editor.mark(METRICS, "request.between", "S.|!|elapsed")
    with editor.open(METRICS, text):
        assert (editor.hover(METRICS, position) or "").endswith(
            "time from the first of `from` that is present, to `to`"
        )


@pytest.mark.parametrize(
    ("text", "marked_text", "file", "target"),
    [
        ("e.sent\n", "e.se|!|nt\n", f"{SPECS}/events.dhall", ", |!|sent = event"),
        ("let e = ./events.dhall", "let e = ./ev|!|ents.dhall", f"{SPECS}/events.dhall", "|!|-- Events"),
        ("duration::", "dura|!|tion::", METRICS, "let |!|duration ="),
    ],
)
def test_definition_in_another_file_opens(editor: Editor, text: str, marked_text: str, file: str, target: str) -> None:
    content, position = editor.mark(METRICS, text, marked_text)
    _, expected = editor.mark(file, target.replace("|!|", ""), target)
    with editor.open(METRICS, content):
        assert editor.define(METRICS, position) == (editor.get_document(file).uri, expected.line, expected.character)


def test_definition_in_shipped_schema_opens(editor: Editor) -> None:
    text, position = editor.mark(METRICS, "request.between", "S.elap|!|sed")
    schema = ROOT / "specs/schema/grain.dhall"
    with editor.open(METRICS, text):
        uri, line, column = editor.define(METRICS, position) or ("", 0, 0)
    assert uri == schema.as_uri()
    assert schema.read_text(encoding="utf-8").split("\n")[line][column:].startswith("elapsed =")


def test_completion_lists_fields_of_unfinished_text(editor: Editor) -> None:
    text, position = editor.mark(METRICS, "request.between e.received e.started", "request.between e.received e.|!|")
    with editor.open(METRICS, text):
        items = editor.complete(METRICS, position)
    assert list(items) == ["field", "received", "sent", "started"]
    assert (items["sent"].detail or "").startswith("{ ")
    assert isinstance(items["sent"].text_edit, types.TextEdit)
    assert items["sent"].text_edit.new_text == "sent"


def test_completion_replaces_the_typed_text(editor: Editor) -> None:
    text, position = editor.mark(METRICS, "request.between e.received", "S.ela|!| e.")
    with editor.open(METRICS, text):
        items = editor.complete(METRICS, position)
    (item,) = items.values()
    assert item.label == "elapsed"
    assert item.kind == types.CompletionItemKind.Function
    assert isinstance(item.documentation, types.MarkupContent)
    assert item.documentation.value == "time from the first of `from` that is present, to `to`"
    assert isinstance(item.text_edit, types.TextEdit)
    assert get_range(item.text_edit) == (position.line, position.character - 3, position.line, position.character)


def test_completion_lists_fields_of_a_parameter(editor: Editor) -> None:
    function = "let of = \\(m : { id : Text, name : Text, doc : Text }) -> { id = m.|!| }"
    text, position = editor.mark(METRICS, "let ofRequest", f"{function}\n\nlet ofRequest")
    with editor.open(METRICS, text):
        assert list(editor.complete(METRICS, position)) == ["doc", "id", "name"]


@pytest.mark.parametrize("file", ["metrics.dhall", "events.dhall", "reports.dhall"])
def test_completion_offers_names_of_truncated_spec(file: str) -> None:
    path = STARTER / SPECS / file
    text = path.read_text(encoding="utf-8")
    project, name = Projects().open(path, {path: text})
    selections = [node for node in walk(parse_text(name, text).node) if isinstance(node, Select)]
    assert len(selections) > 10
    for node in selections:
        line, column = node.source.locate(node.name_start)
        before, after = text[: node.name_start], text[node.name_start + len(node.name) :]
        for unfinished_text in (before, before + after, f"{before}\n\nlet other = 1 {after}"):
            items = complete_at(project.evaluator, name, unfinished_text, line, column)
            assert node.name in [item.name for item in items], (line, column, unfinished_text == before)


def test_rename_changes_a_let_and_all_its_uses(editor: Editor) -> None:
    text, position = editor.mark(METRICS, "let e =", "let |!|e =")
    with editor.open(METRICS, text):
        params = types.PrepareRenameParams(editor.get_document(METRICS), position)
        renaming = editor.wait_for_answer(editor.client.text_document_prepare_rename_async(params))
        edits = editor.rename(METRICS, position, "events")
    assert renaming.placeholder == "e"
    lines = text.split("\n")
    for edit in reversed(edits):
        line, start, _, end = get_range(edit)
        lines[line] = lines[line][:start] + edit.new_text + lines[line][end:]
    assert "\n".join(lines) == text.replace("let e =", "let events =").replace(" e.", " events.")


@pytest.mark.parametrize(
    ("name", "message"), [("let", "`let` is a reserved word"), ("List", "`List` is built in"), ("a b", "is not a name")]
)
def test_rename_to_invalid_name_is_refused(editor: Editor, name: str, message: str) -> None:
    text, position = editor.mark(METRICS, "let e =", "let |!|e =")
    with editor.open(METRICS, text), pytest.raises(JsonRpcException, match=message):
        editor.rename(METRICS, position, name)


def test_file_outside_a_workspace_is_evaluated_alone(editor: Editor, tmp_path: Path) -> None:
    file = str(tmp_path / "alone.dhall")
    (tmp_path / "other.dhall").write_text("{ one = 1 }", encoding="utf-8")
    with editor.open(file, "let o = ./other.dhall in o.two"):
        (problem,) = editor.wait_for(file, bool)
        assert get_range(problem) == (0, 27, 0, 30)


@pytest.mark.parametrize("is_saved", [True, False])
def test_specs_without_a_package_are_a_workspace(tmp_path: Path, is_saved: bool) -> None:
    path = tmp_path / "specs/new/events.dhall"
    path.parent.mkdir(parents=True)
    text = "let S = ../schema/package.dhall in { a = S.unit.second.symbl }"
    if is_saved:
        path.write_text(text, encoding="utf-8")
    (problem,) = Projects().find_problems({path: text})
    assert (problem.place.path, problem.place.line, problem.place.column) == (path, 1, text.index("symbl") + 1)


def test_exit_without_shutdown_has_status_1(tmp_path: Path) -> None:
    assert stop_editor(start_editor(tmp_path), orderly=False) == 1


def test_absent_package_pygls_is_named(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ImportError", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "compiler")])}
    result = subprocess.run(start_server(), env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "error[no-package]: the language server requires the package `pygls`" in result.stderr
    assert "pip install 'assay[lsp]'" in result.stderr
