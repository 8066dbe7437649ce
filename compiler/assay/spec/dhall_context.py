"""The place of an error in the sources, and questions to the evaluator about expressions around it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from assay.spec.dhall_message import Label, Message, parse
from assay.spec.dhall_run import Copy
from assay.spec.dhall_scan import Scan, Token, closing_index, scan
from assay.spec.dhall_types import fields
from assay.spec.diagnostics import Diagnostic, Span, excerpt_at
from assay.spec.imports import SourceFile

PROBE_SECONDS = 5.0
_PROBE = "< assay_probe >"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a file's text between two offsets."""

    start: int
    end: int
    text: str

    @property
    def shown(self) -> str:
        """The text on one line, cut to what fits a message."""
        line = " ".join(self.text.split())
        return line if len(line) <= 48 else line[:46].rstrip() + " …"


@dataclass(frozen=True)
class Context:
    """An error with the file it is in; `root` is the file evaluated, `copy` a private copy of the sources."""

    message: Message
    file: SourceFile
    files: Sequence[SourceFile]
    root: str
    copy: Copy
    deadline: float = field(default_factory=lambda: time.monotonic() + PROBE_SECONDS)

    @cached_property
    def scan(self) -> Scan:
        """The words of the file."""
        return scan(self.file.text)

    @cached_property
    def part(self) -> Part:
        """The expression that the error's first mark underlines, as far as the evaluator tells its end."""
        start = self.scan.offset(self.message.line or self._start_line(), self.message.column)
        first = self.message.labels[0] if self.message.labels else None
        if first is None:
            return self.cut(start, start)
        if not first.many:
            return self.cut(start, start + first.length)
        return self.cut(start, min(self._reach(start), self.scan.offset(first.line + 1, 1)))

    def _start_line(self) -> int:
        """The line on which a place begins of which only the column and the last line are known."""
        last = next((label.line for label in self.message.labels), 1)
        depth = 0
        for token in reversed(self.scan.tokens):
            line, column = self.scan.place(token.start)
            if line <= last:
                depth += {"open": -1, "text": -1, "close": 1, "text-end": 1}.get(token.kind, 0)
                begins = token.kind not in ("close", "text-end") and token.text not in (
                    ",",
                    "in",
                    "then",
                    "else",
                )
                if column == self.message.column and line < last and depth <= 0 and begins:
                    return line
        return last

    def _reach(self, start: int) -> int:
        """Where an expression that begins at an offset must have ended: at a comma, bracket or keyword."""
        depth, end = 0, start
        for token in self.scan.tokens[self.scan.index_at(start) :]:
            depth += {"open": 1, "text": 1, "close": -1, "text-end": -1}.get(token.kind, 0)
            if depth < 0 or (depth == 0 and (token.text == "," or token.text in ("in", "then", "else", "let"))):
                break
            end = token.end
        return end

    def cut(self, start: int, end: int) -> Part:
        """The piece of the file between two offsets."""
        return Part(start, end, self.file.text[start:end])

    def label_start(self, label: Label) -> int:
        """The offset at which a single-line label begins (the evaluator counts a tab as nothing there)."""
        line = self.scan.line(label.line)
        wanted = label.column - (len(label.shown.rstrip("\r")) - len(line))
        for index, char in enumerate(line):
            if char != "\t" and len(line[:index].replace("\t", "")) == wanted:
                return self.scan.offset(label.line, index + 1)
        return self.scan.offset(label.line, 1)

    def primary(self, index: int) -> Part | None:
        """The operand at a word: a name, literal, import or bracket with the fields selected from it."""
        tokens = self.scan.tokens
        if index >= len(tokens):
            return None
        last = self._operand_end(index)
        while last is not None and last + 2 < len(tokens) and tokens[last + 1].text in (".", "::"):
            last = self._operand_end(last + 2)
        if last is None:
            return None
        return self.cut(tokens[index].start, tokens[last].end)

    def _operand_end(self, index: int) -> int | None:
        token, after = self.scan.tokens[index], self.scan.tokens[index + 1 : index + 2]
        if token.kind in ("open", "text"):
            return closing_index(self.scan.tokens, index)
        if token.text in ("+", "-") and after and after[0].kind == "number" and after[0].start == token.end:
            return index + 1
        return index if token.kind in ("label", "quoted", "number", "import") else None

    def operands(self, start: int) -> list[Part]:
        """The operands that follow one another from an offset on: a function and its arguments."""
        found: list[Part] = []
        index = self.scan.index_at(start)
        while index < len(self.scan.tokens):
            part = self.primary(index)
            if part is None or (found and part.text in ("in", "then", "else", "let", "with")):
                break
            found.append(part)
            index = self.scan.index_at(part.end)
        return found

    def word(self, offset: int) -> Part:
        """The word at or after an offset."""
        index = self.scan.index_at(offset)
        if index >= len(self.scan.tokens):
            return self.cut(offset, offset)
        return self.cut(self.scan.tokens[index].start, self.scan.tokens[index].end)

    def closing(self, index: int) -> int:
        """The offset at which the bracket that opens at a word is closed, else the end of the text."""
        last = closing_index(self.scan.tokens, index)
        return len(self.file.text) if last is None else self.scan.tokens[last].start

    def words(self, part: Part) -> tuple[Token, ...]:
        """The words of a piece."""
        return self.scan.tokens[self.scan.index_at(part.start) : self.scan.index_at(part.end)]

    def top_level(self, part: Part) -> list[Token]:
        """The words of a piece that are in no bracket of it."""
        found, depth = [], 0
        for token in self.words(part):
            depth -= token.kind in ("close", "text-end")
            if depth == 0:
                found.append(token)
            depth += token.kind in ("open", "text")
        return found

    def inside(self, part: Part) -> Part:
        """A bracketed piece without its brackets."""
        return self.cut(part.start + 1, part.end - 1)

    def split(self, part: Part, separator: str) -> list[Part]:
        """The pieces between top-level separators."""
        ends = [token for token in self.top_level(part) if token.text == separator]
        starts = [part.start, *(token.end for token in ends)]
        pieces = zip(starts, [*(token.start for token in ends), part.end], strict=True)
        return [self.cut(start, end) for start, end in pieces if self.file.text[start:end].strip()]

    def types(self, replaced: Part, pieces: Sequence[str]) -> list[str] | None:
        """The types of expressions at the place of `replaced`, from the evaluator; nothing when it cannot
        say.

        The place is filled with a record of the expressions under a wrong type annotation; the evaluator's
        complaint states the record's type.
        """
        entries = ", ".join(f"p{number} = {piece}\n" for number, piece in enumerate(pieces))
        text = self.file.text
        changed = f"{text[: replaced.start]}({{ {entries} }} : {_PROBE}){text[replaced.end :]}"
        title = self._ask(changed)
        if not title.startswith("annot mismatch: ") or not title.endswith(f" != {_PROBE}"):
            return None
        found = fields(title.removeprefix("annot mismatch: ").removesuffix(f" != {_PROBE}"))
        if found is None or len(found) != len(pieces):
            return None
        return [found[f"p{number}"] for number in range(len(pieces))]

    def _ask(self, text: str) -> str:
        left = self.deadline - time.monotonic()
        if left <= 0:
            return ""
        with self.copy.changed(self.file.name, text):
            outcome = self.copy.evaluate(self.root, left)
        return parse(outcome.text).title if outcome.kind == "error" else ""

    def problem(
        self,
        message: str,
        part: Part | None = None,
        *,
        code: str = "dhall-type",
        expected: str = "",
        found: str = "",
        hint: str = "",
        notes: Sequence[str] = (),
    ) -> Diagnostic:
        """A diagnostic at a piece of the file (the error's own place when there is none)."""
        known = part is not None or self.message.column > 0
        part = part or self.part
        span, excerpt = Span(self.file.name), ""
        if known:
            line, column = self.scan.place(part.start)
            length = max(1, min(part.end - part.start, len(self.scan.line(line)) - column + 1))
            span = Span(self.file.name, line, column, length)
            excerpt = excerpt_at(self.file.path, line, column, length)
        return Diagnostic(code, message, span, excerpt, expected, found, hint, tuple(notes))
