"""Tokens. The parser takes one at a time, since what `${` begins inside a text is an expression again."""

from __future__ import annotations

import re

from assay.dhall.errors import DhallError, Diagnostic
from assay.dhall.syntax import KEYWORDS, Source

_SPACE = re.compile(r"(?:[ \t\n]|\r\n|--[^\n]*(?:\n|\Z))+")
_COMMENT = re.compile(r"\{-|-\}")
_SYNONYMS = {"≡": "===", "∧": "/\\", "⫽": "//", "⩓": "//\\\\", "→": "->", "λ": "\\", "∀": "forall"}
_URL_CHARS = r"[A-Za-z0-9\-._~!$&'*+;=:@]|%[0-9A-Fa-f]{2}"
_TOKEN = re.compile(
    rf"""
  (?P<path>(?:\.\.|\.|~|(?=/[^/\\ \t\n]))(?:/(?:[!$-'*+\-.0-;=@-Z^-z|~]+|"[^"/\x00-\x1f]+"))+)
 |(?P<url>https?://(?:(?:[A-Za-z0-9\-._~!$&'*+;=:]|%[0-9A-Fa-f]{{2}})*@)?
      (?:\[(?:[0-9A-Fa-f:.]+|[vV][0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'*+;=:]+)\]|(?:[A-Za-z0-9\-._~!$&'*+;=]|%[0-9A-Fa-f]{{2}})*)(?::\d*)?
      (?:/(?:{_URL_CHARS})*)*(?:\?(?:{_URL_CHARS}|[/?])*)?)
 |(?P<env>env:(?:[A-Za-z_]\w*|"(?:[^"\\=\x00-\x1f]|\\["\\abfnrtv])+"))
 |(?P<sha>sha256:[0-9a-fA-F]{{64}}(?![0-9a-zA-Z]))
 |(?P<date>\d{{4}}-\d\d-\d\d(?:[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)?)?
      |\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)?|[+-]\d\d:\d\d)
 |(?P<double>[+-]?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)|-Infinity(?![\w/-]))
 |(?P<bytes>0x"(?:[0-9A-Fa-f]{{2}})*")
 |(?P<int>[+-](?:0x[0-9A-Fa-f]+|0b[01]+|[1-9]\d*|0(?!\d)))
 |(?P<nat>0x[0-9A-Fa-f]+|0b[01]+|[1-9]\d*|0(?!\d))
 |(?P<label>[A-Za-z_][A-Za-z0-9_/-]*)
 |(?P<quoted>`[\x20-\x5f\x61-\x7e]*`)
 |(?P<multi>''(?:\r\n|\n))
 |(?P<text>")
 |(?P<op>//\\\\|/\\|//|===|==|!=|::|\|\||\+\+|->|&&|[\\(){{}}\[\]<>,.:|=+\#*?@≡∧⫽⩓→λ∀])
""",
    re.X | re.A,
)
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_TEXT_HINT = "a text begins and ends with a quote on one line; one of several lines stands between `''`"


class Lexer:
    """The token at hand: its `kind`, `token`, `start`, and whether `space` is before it.

    `before` is the end of the token before it, `next` the offset after it; `open` lists the brackets that are open.
    """

    __slots__ = ("before", "file", "kind", "next", "open", "space", "start", "text", "token")

    def __init__(self, file: Source) -> None:
        self.file = file
        self.text = file.text
        self.open: list[tuple[str, int]] = []
        self.start = self.next = self.before = 0
        self.kind = self.token = ""
        while self.text.startswith("#!", self.next):
            line_end = self.text.find("\n", self.next)
            self.next = line_end + 1 if line_end >= 0 else len(self.text)
        self.space = False
        self.advance()

    def advance(self) -> None:
        """Go to the next token; `end` is the kind of what is behind the last."""
        text, position = self.text, self.next
        self.before = begin = position
        while True:
            match = _SPACE.match(text, position)
            if match:
                position = match.end()
            elif text.startswith("{-", position):
                position = self._skip_comment(position)
            else:
                break
        self.space = position > begin
        self.start = position
        if position >= len(text):
            self.kind, self.token, self.next = "end", "", position
            return
        match = _TOKEN.match(text, position)
        if match is None:
            raise self.refuse_character(position)
        kind, token = match.lastgroup or "", match.group()
        if kind == "op":
            kind = token = _SYNONYMS.get(token, token)
        elif kind == "label" and token in KEYWORDS:
            kind = token
        self.kind, self.token, self.next = kind, token, match.end()

    def _skip_comment(self, position: int) -> int:
        depth = 0
        for match in _COMMENT.finditer(self.text, position):
            depth += 1 if match.group() == "{-" else -1
            if depth == 0:
                return match.end()
        hint = "a comment ends with `-}`, and so does every comment inside it"
        raise self.fail("the comment that begins here does not end", position, position + 2, hint=hint)

    def save(self) -> tuple[int, int, int, str, str, bool]:
        """Remember the token at hand, for `restore`."""
        return self.next, self.before, self.start, self.kind, self.token, self.space

    def restore(self, state: tuple[int, int, int, str, str, bool]) -> None:
        """Go back to a remembered token."""
        self.next, self.before, self.start, self.kind, self.token, self.space = state

    def fail(
        self,
        message: str,
        start: int,
        end: int,
        expected: str | None = None,
        hint: str = "",
        notes: tuple[str, ...] = (),
    ) -> DhallError:
        """Make the error of a stretch of the text."""
        span, excerpt = self.file.make_span(start, end), self.file.make_excerpt(start, end)
        return DhallError(Diagnostic("parse", message, span, expected, None, notes, hint, excerpt))

    def refuse(self, expected: str | None = None, hint: str = "") -> DhallError:
        """Make the error of a token that cannot be here."""
        unclosed = self._describe_open() if self.kind == "end" or self.token in _CLOSERS.values() else ""
        hint = hint or unclosed
        if self.kind == "end":
            return self.fail("the text ends too early", self.before, self.before, expected, hint)
        if not hint and self.token in KEYWORDS:
            hint = f"`{self.token}` is a reserved word: as a name it is written in backticks"
        token = "''" if self.kind == "multi" else self.token
        return self.fail(f"unexpected `{token}`", self.start, self.start + len(token), expected, hint)

    def _describe_open(self) -> str:
        if not self.open:
            return f"no bracket is open that `{self.token}` could close" if self.token else ""
        bracket, offset = self.open[-1]
        if self.token == _CLOSERS[bracket]:
            return ""
        line, column = self.file.locate(offset)
        return f"the `{bracket}` at line {line}, column {column} is not closed"

    def refuse_character(self, position: int) -> DhallError:
        """Make the error of a character that begins no token."""
        character = self.text[position]
        hint = "a text stands in double quotes" if character == "'" else ""
        if self.text.startswith("''", position):
            hint = "a text of several lines begins with `''` and a new line"
        elif character == "'" and "''" in self.text[:position]:
            hint += "; if this is inside a text of several lines, a text above it lacks its end"
        if character == "`":
            hint = "a name in backticks ends with a backtick on the same line"
        if self.text.startswith("sha256:", position):
            hint = "a hash is `sha256:` and 64 hexadecimal digits"
        if character.isdigit():
            hint = "a number has no leading zeros"
        expected = None if hint.startswith("a name") else "an expression"
        name = character if character.isprintable() else f"U+{ord(character):04X}"
        return self.fail(f"unexpected `{name}`", position, position + 1, expected, hint)

    def refuse_endless_text(self, start: int) -> DhallError:
        """Make the error of a text without an end."""
        quote = '"' if self.text[start] == '"' else "''"
        hint = _TEXT_HINT if quote == '"' else "a text of several lines ends with `''`"
        if quote == "''" and "''" in self.text[:start]:
            hint += "; if this one is the end of a text, one above it lacks its own"
        return self.fail("the text that begins here does not end", start, start + len(quote), hint=hint)
