"""The evaluator's error text, taken apart.

The binding hands over Rust debug text that quotes, for every import on the way to the failing file, the
import and then the error inside it, always under the name `<current file>`.  `parse` unescapes it and
follows it inwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CUSTOM = re.compile(r'message: Custom\("(.*)"\) \}\) \}\)\)\Z', re.DOTALL)
_DESERIALIZE = re.compile(r'\AError\(Deserialize\("(.*)"\)\)\Z', re.DOTALL)
_ESCAPE = re.compile(r"\\(u\{([0-9a-f]+)\}|.)", re.DOTALL)
_TYPE_ERROR = re.compile(
    r"\A\s*(?:Type error: )?error: (?P<title>.*?)"
    r"(?:\n *--> <current file>:(?P<line>\d{1,9}):(?P<column>\d{1,9})\n(?P<body>.*))?\Z",
    re.DOTALL,
)
_PARSE_ERROR = re.compile(
    r"\A\s*--> (?P<line>\d{1,9}):(?P<column>\d{1,9})\n(?P<body>.*?)\n *= (?P<reason>[^\n]*)", re.DOTALL
)
_FRAME_END = re.compile(r"(?:\n *\|)+\Z")
_SOURCE = re.compile(r" *(\d{1,9}) \| ?(.*)\Z")
_MARK = re.compile(r" *\| ?(?P<before>[ |_]*)(?P<carets>\^+-*\^?)(?: (?P<text>.*))?\Z", re.DOTALL)
_NOTE = re.compile(r" *= (?:note|help): (.*)\Z")


@dataclass(frozen=True, slots=True)
class Label:
    """An underlined place: its line, the 0-based column in the line as shown, how many carets, the words
    beside.

    `shown` is the line as the evaluator printed it, possibly with marks before the text; `many` says that the
    place spans several lines, of which `line` is the last.
    """

    line: int
    shown: str
    column: int
    length: int
    many: bool
    text: str


@dataclass(frozen=True, slots=True)
class Message:
    """An error: `kind` is type, parse, value or other; `imports` are the places of those that lead to it."""

    kind: str
    title: str
    imports: tuple[tuple[int, int], ...] = ()  # line (0: not known) and column of each
    line: int = 0
    column: int = 0
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()

    def label(self, beginning: str) -> Label | None:
        """The label whose words begin so."""
        return next((label for label in self.labels if label.text.startswith(beginning)), None)


def parse(text: str) -> Message:
    """The innermost error of the evaluator's text, with the way to its file."""
    match = _DESERIALIZE.match(text)
    if match:
        return Message("value", unescape(match.group(1)))
    match = _CUSTOM.search(text)
    if not match:
        return Message("other", text)
    return _follow(unescape(match.group(1)), ())


def unescape(text: str) -> str:
    """Text out of a Rust debug literal."""
    plain = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}

    def one(match: re.Match[str]) -> str:
        if match.group(2):
            return chr(int(match.group(2), 16))
        return plain.get(match.group(1), match.group(1))

    return _ESCAPE.sub(one, text)


def _follow(text: str, imports: tuple[tuple[int, int], ...]) -> Message:
    match = _PARSE_ERROR.match(text)
    if match:
        place = (int(match["line"]), int(match["column"]))
        return Message("parse", match["reason"], imports, *place)
    match = _TYPE_ERROR.match(text)
    if not match:
        return Message("other", _FRAME_END.sub("", text).strip(), imports)
    body = match["body"] or ""
    column = int(match["column"] or 0)
    labels, notes, line = _annotations(body)
    if match["title"].strip() == "error" and body:
        inner = _inner(body)
        if inner:
            return _follow(inner, (*imports, (line, column)))
    title = _FRAME_END.sub("", match["title"]).strip()
    return Message("type", title, imports, line, column, labels, notes)


def _inner(body: str) -> str:
    """What is written beside the carets under an import: the error inside it, over many lines."""
    lines = body.split("\n")
    for index, line in enumerate(lines):
        match = _MARK.match(line)
        if match and match["text"] is not None:
            return "\n".join([match["text"], *lines[index + 1 :]])
    return ""


def _annotations(body: str) -> tuple[tuple[Label, ...], tuple[str, ...], int]:
    """The labels and notes of an excerpt, and the number of its first marked line.

    The number is 0 when that line is not shown: the evaluator folds the first line of a place that spans
    several lines and begins in the first column.
    """
    labels: list[Label] = []
    notes: list[str] = []
    number, shown, first, folded = 0, "", 0, False
    for line in body.split("\n"):
        source, mark, note = _SOURCE.match(line), _MARK.match(line), _NOTE.match(line)
        if note:
            notes.append(note.group(1))
        elif source and not mark:
            number, shown = int(source.group(1)), source.group(2)
            first = first or (number if shown.startswith("/ ") else 0)
        elif mark and number:
            many = "|" in mark["before"]
            folded = folded or (many and not first)
            first = first or number
            if mark["text"]:
                labels.append(Label(number, shown, len(mark["before"]), len(mark["carets"]), many, mark["text"]))
    return tuple(labels), tuple(notes), 0 if folded else first
