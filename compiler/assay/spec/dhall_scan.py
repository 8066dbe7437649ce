"""Words of Dhall text with their places: enough to find imports, names and nesting without evaluating it.

This is a lexer, not a parser: it follows the lexical rules of the Dhall grammar (comments, both kinds of text
literals with interpolation, labels, paths), so nothing inside a comment or a text is taken for an import and
no import outside of them is missed.  Text that is not Dhall gives some list of words and never an error; the
evaluator says what is wrong with it.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

OPENING = {"{": "}", "[": "]", "(": ")", "<": ">", "${": "}"}
CLOSING = frozenset("}])>")
LAMBDAS = ("\\", "λ", "forall", "∀")
KEYWORDS = frozenset(
    [
        "if",
        "then",
        "else",
        "let",
        "in",
        "using",
        "missing",
        "assert",
        "as",
        "merge",
        "Some",
        "toMap",
        "forall",
        "with",
    ]
)
BUILTINS = frozenset(
    [
        "Bool",
        "Natural",
        "Integer",
        "Double",
        "Text",
        "List",
        "Optional",
        "None",
        "True",
        "False",
        "Type",
        "Kind",
        "Sort",
    ]
)

_PATH = r'(?:/(?:[!$%&\'*+\-.0-9:;=@A-Z^_`a-z|~]+|"[^"/\x00-\x1f]+"))+'
_CODE = re.compile(
    r"(?P<space>(?:[ \t\r\n]+|--[^\n]*)+)"
    r"|(?P<remark>\{-)"
    r"|(?P<http>https?://[^\s()\[\]{}<>,\"]*)"
    r'|(?P<env>env:(?:[A-Za-z_][A-Za-z0-9_]*|"[^"]*"))'
    r"|(?P<hash>sha256:[0-9a-fA-F]{64})"
    rf"|(?P<path>(?:\.\.|\.|~)?{_PATH})"
    r"|(?P<label>[A-Za-z_][A-Za-z0-9_/\-]*)"
    r"|(?P<quoted>`[^`\n]*`)"
    r"|(?P<number>0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r'|(?P<text>"|\'\')'
    r"|(?P<op>->|===|==|!=|&&|\|\||\+\+|//\\\\|/\\|//|::)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_REMARK = re.compile(r"\{-|-\}")
_TEXT_ENDS = {
    '"': re.compile(r'\\[^\n]|\$\{|"|\n'),  # a text in quotes is of one line
    "''": re.compile(r"'''|''\$\{|\$\{|''"),
}


class Token(NamedTuple):
    """A word: `kind` is import, hash, label, quoted, number, text, text-end, open, close or op."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset after the last character."""
        return self.start + len(self.text)

    def names(self, word: str) -> bool:
        """Whether this is the label `word`, bare or in backticks."""
        return (self.kind == "label" and self.text == word) or (self.kind == "quoted" and self.text[1:-1] == word)


@dataclass(frozen=True, slots=True)
class ImportRef:
    """An import as written: `form` is path, env, http or missing; `mode` is what follows `as`, or empty."""

    form: str
    text: str
    mode: str
    start: int

    @property
    def parts(self) -> tuple[str, ...]:
        """The components of a path without quotes; the first is `.`, `..`, `~`, or empty (absolute)."""
        return tuple(part[1:-1] if part.startswith('"') else part for part in self.text.split("/"))


@dataclass(frozen=True)
class Scan:
    """A file's text, its words (without spaces and comments), and offsets as lines and columns from 1."""

    text: str
    tokens: tuple[Token, ...]
    unclosed: tuple[Token, ...] = field(default=())

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def token_starts(self) -> list[int]:
        """The offset at which each word begins."""
        return [token.start for token in self.tokens]

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column; the end of the text when the line does not exist."""
        if not 1 <= line <= len(self.line_starts):
            return len(self.text)
        return min(self.line_starts[line - 1] + column - 1, len(self.text))

    def line(self, number: int) -> str:
        """The text of a line without its end."""
        if not 1 <= number <= len(self.line_starts):
            return ""
        start = self.line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")

    def index_at(self, offset: int) -> int:
        """The number of the first word at or after an offset (the number of words when there is none)."""
        index = bisect_right(self.token_starts, offset)
        if index and self.tokens[index - 1].start == offset:
            return index - 1
        return index


@functools.lru_cache(maxsize=512)
def scan(text: str) -> Scan:
    """The words of a Dhall text; remembered, as those who watch files scan most of them again unchanged."""
    lexer = _Lexer(text)
    tokens = tuple(lexer.words())
    return Scan(text, tokens, tuple(lexer.open))


class _Lexer:
    """One pass over a text; `open` holds the brackets and text literals that are not closed yet."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = self._after_shebang()
        self.open: list[Token] = []

    def _after_shebang(self) -> int:
        position = 0
        while self.text.startswith("#!", position):
            end = self.text.find("\n", position)
            position = len(self.text) if end < 0 else end + 1
        return position

    def words(self) -> Iterator[Token]:
        """All words, in order."""
        while self.position < len(self.text):
            if self.open and self.open[-1].kind == "text":
                yield from self._in_text(self.open[-1].text)
                continue
            match = _CODE.match(self.text, self.position)
            assert match is not None  # the last alternative takes any character
            start, kind = self.position, match.lastgroup or ""
            self.position = match.end()
            if kind == "remark":
                self._skip_remark(start)
            elif kind != "space":
                yield self._word(kind, match.group(), start)

    def _word(self, kind: str, text: str, start: int) -> Token:
        if kind in ("http", "env", "path"):
            return Token("import", text, start)
        if kind == "text" or text in OPENING:
            token = Token("text" if kind == "text" else "open", text, start)
            self.open.append(token)
            return token
        if text in CLOSING:
            self._close(text)
            return Token("close", text, start)
        return Token("op" if kind == "other" else kind, text, start)

    def _close(self, bracket: str) -> None:
        if self.open and OPENING.get(self.open[-1].text) == bracket:
            self.open.pop()

    def _skip_remark(self, start: int) -> None:
        depth = 1
        while depth:
            match = _REMARK.search(self.text, self.position)
            if not match:
                self.open.append(Token("comment", "{-", start))
                self.position = len(self.text)
                return
            self.position = match.end()
            depth += 1 if match.group() == "{-" else -1

    def _in_text(self, quote: str) -> Iterator[Token]:
        match = _TEXT_ENDS[quote].search(self.text, self.position)
        if not match or match.group() == "\n":  # what follows would be taken the wrong way round, text for code
            self.position = len(self.text)
            return
        found = match.group()
        self.position = match.end()
        if found == "${":
            token = Token("open", "${", match.start())
            self.open.append(token)
            yield token
        elif found == quote:
            self.open.pop()
            yield Token("text-end", quote, match.start())


def endless(scanned: Scan) -> Token | None:
    """The comment or text that does not end, if there is one: what is after it has no words.

    Of a text of one line inside another on that line (`"a ${b"`) it is the outer one: either may lack its end.
    """
    found = [token for token in scanned.unclosed if token.text in ("{-", '"', "''")]
    if not found or found[-1].text != '"':
        return found[-1] if found else None
    line = scanned.place(found[-1].start)[0]
    return next(token for token in found if scanned.place(token.start)[0] == line and token.text == '"')


def imports(scanned: Scan) -> list[ImportRef]:
    """All imports of a text, in order, also those that must be refused."""
    found = []
    for index, token in enumerate(scanned.tokens):
        if token.kind == "import":
            found.append(ImportRef(_form(token.text), token.text, _mode(scanned.tokens, index), token.start))
        elif token.kind == "label" and token.text == "missing":
            found.append(ImportRef("missing", token.text, "", token.start))
    return found


def _form(text: str) -> str:
    if text.startswith("env:"):
        return "env"
    return "http" if text.startswith("http") else "path"


def _mode(tokens: Sequence[Token], index: int) -> str:
    following = tokens[index + 1 : index + 4]
    if following and following[0].kind == "hash":
        following = following[1:]
    if len(following) > 1 and following[0].text == "as" and following[1].kind == "label":
        return following[1].text
    return ""


def interpolations(scanned: Scan) -> list[tuple[int, int]]:
    """The offsets between which the expressions inside texts stand, without `${` and `}`."""
    found = []
    for index, token in enumerate(scanned.tokens):
        last = closing_index(scanned.tokens, index) if token.text == "${" else None
        if last is not None:
            found.append((token.end, scanned.tokens[last].start))
    return found


def bound_names(scanned: Scan) -> set[str]:
    """Every name bound by `let` or as the parameter of a function anywhere in a text."""
    tokens = scanned.tokens
    names = set()
    for index, token in enumerate(tokens):
        if token.kind not in ("label", "quoted") or index == 0:
            continue
        parameter = index > 1 and tokens[index - 1].text == "(" and tokens[index - 2].text in LAMBDAS
        if parameter or tokens[index - 1].text == "let":
            names.add(token.text.strip("`"))
    return names


def closing_index(tokens: Sequence[Token], index: int) -> int | None:
    """The number of the word that closes the bracket or text literal which opens at `index`."""
    depth = 0
    for number in range(index, len(tokens)):
        depth += {"open": 1, "text": 1, "close": -1, "text-end": -1}.get(tokens[number].kind, 0)
        if depth == 0:
            return number
    return None


@dataclass(frozen=True, slots=True)
class Nesting:
    """How costly a text is to parse: `weight` grows threefold a level; the deepest place, its `levels`."""

    weight: float
    levels: int
    start: int


def nesting(scanned: Scan) -> Nesting:
    """The cost that nested literals have for the evaluator's parser, and where the deepest begins.

    Its parser reads every bracketed expression three times (twice when it is the argument of a function),
    and so again at every level inside.
    """
    factors: list[float] = [1.0]
    weight, levels, start = 0.0, 0, 0
    before: Token | None = None
    for token in scanned.tokens:
        if token.kind == "open":
            factors.append(factors[-1] * (2.0 if before is not None and _applied(before) else 3.0))
            if len(factors) - 1 > levels:
                levels, start = len(factors) - 1, token.start
        elif token.kind == "close" and len(factors) > 1:
            factors.pop()
        weight += factors[-1]
        before = token
    return Nesting(weight, levels, start)


def _applied(token: Token) -> bool:
    """Whether what follows the word, when it is an opening bracket, is an argument."""
    if token.kind == "label":
        return token.text not in KEYWORDS or token.text in ("Some", "merge", "toMap")
    return token.kind in ("quoted", "close", "text-end", "import")
