"""Convert positions and answers to the protocol: lines from 0, columns in the client's units (mostly UTF-16)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.workspace import PositionCodec

from assay.lsp.project import Finding, Place
from assay_dhall.editor import Completion, Hover

SOURCE = "assay"
_SUGGESTIONS = re.compile(r"did you mean ([^?\n]*)\?")
_WORD = re.compile(r"[A-Za-z_](?:[\w./-]*\w)?")
_SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}


class Converter:
    """Converts positions for one state of the open files; the text of other files is read from disk."""

    def __init__(self, codec: PositionCodec, texts: Mapping[Path, str], addresses: Mapping[Path, str]) -> None:
        self._codec = codec
        self._texts = texts
        self._addresses = addresses
        self._lines: dict[Path, list[str]] = {}

    def get_address(self, path: Path) -> str:
        """Return the URI of a file, the client's own when the file is open."""
        return self._addresses.get(path) or str(uris.from_fs_path(str(path)))

    def convert_place(self, place: Place) -> types.Range:
        """Return a place as a range of the protocol."""
        start = self._convert_position(place.path, place.line, place.column)
        return types.Range(start, self._convert_position(place.path, place.end_line, place.end_column))

    def locate(self, place: Place) -> types.Location:
        """Return a place with its file."""
        return types.Location(self.get_address(place.path), self.convert_place(place))

    def read_position(self, path: Path, position: types.Position) -> tuple[int, int]:
        """Return the line and column, from 1, of a position in a file."""
        lines = self._get_lines(path)
        if position.line >= len(lines):
            return len(lines), len(lines[-1]) + 1
        units = 0
        for number, character in enumerate(lines[position.line]):
            if units >= position.character:
                return position.line + 1, number + 1
            units += self._codec.client_num_units(character)
        return position.line + 1, len(lines[position.line]) + 1

    def convert_finding(self, finding: Finding) -> types.Diagnostic:
        """Return a problem as a diagnostic of the protocol."""
        related = [types.DiagnosticRelatedInformation(self.locate(place), "see also") for place in finding.related]
        return types.Diagnostic(
            self.convert_place(finding.place),
            finding.message,
            severity=_SEVERITIES.get(finding.severity, types.DiagnosticSeverity.Information),
            code=finding.code,
            source=SOURCE,
            related_information=related or None,
        )

    def _convert_position(self, path: Path, line: int, column: int) -> types.Position:
        lines = self._get_lines(path)
        text = lines[line - 1] if line <= len(lines) else ""
        return types.Position(line - 1, self._codec.client_num_units(text[: column - 1]))

    def _get_lines(self, path: Path) -> list[str]:
        if path not in self._lines:
            text = self._texts.get(path)
            self._lines[path] = (_read_text(path) if text is None else text).split("\n")
        return self._lines[path]


def suggest_fixes(address: str, lines: Sequence[str], diagnostic: types.Diagnostic) -> list[types.CodeAction]:
    """Return an edit for each name that a problem suggests (`did you mean ...?`), in place of the name most like it."""
    actions = []
    for hint in _SUGGESTIONS.findall(diagnostic.message):
        for name in re.findall(r"`([^`]+)`", hint):
            place = _locate_name(lines, diagnostic.range, name)
            if place:
                edit = types.WorkspaceEdit(changes={address: [types.TextEdit(place, name)]})
                actions.append(
                    types.CodeAction(
                        f"Change to `{name}`", kind=types.CodeActionKind.QuickFix, diagnostics=[diagnostic], edit=edit
                    )
                )
    return actions


def _locate_name(lines: Sequence[str], place: types.Range, name: str) -> types.Range | None:
    """Return where the name most like another is in a range of one line; None without any.

    Text that is not ASCII yields None: its columns depend on the client.
    """
    row, start, end = place.start.line, place.start.character, place.end.character
    if row != place.end.line or row >= len(lines) or not lines[row][:end].isascii():
        return None

    def measure_likeness(match: re.Match[str]) -> float:
        return difflib.SequenceMatcher(None, match[0].lower(), name.lower()).ratio()

    nearest = max(_WORD.finditer(lines[row], start, end), key=measure_likeness, default=None)
    if nearest is None:
        return None
    return types.Range(types.Position(row, nearest.start()), types.Position(row, nearest.end()))


def convert_hover(hover: Hover, place: types.Range) -> types.Hover:
    """Return the type as a code block, followed by the documentation."""
    text = f"```dhall\n{hover.type}\n```"
    if hover.documentation:
        text += f"\n\n{hover.documentation}"
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), place)


def convert_completion(item: Completion, label: str, place: types.Range) -> types.CompletionItem:
    """Return a completion that replaces the typed part of a name.

    `label` is the name, in backticks if it needs them.
    """
    documentation = types.MarkupContent(types.MarkupKind.Markdown, item.documentation) if item.documentation else None
    is_function = item.type.startswith(("∀", "λ")) or " → " in item.type
    return types.CompletionItem(
        item.name,
        kind=types.CompletionItemKind.Function if is_function else types.CompletionItemKind.Field,
        detail=item.type or None,
        documentation=documentation,
        filter_text=label,
        text_edit=types.TextEdit(place, label),
    )


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
