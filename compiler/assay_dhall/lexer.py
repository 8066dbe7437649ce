"""Tokens of Dhall text, one at a time or all at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from assay_dhall.errors import DhallError, Span, build_problem, build_span, find_comment_hint
from assay_dhall.syntax import KEYWORDS, Source

ALIASES = {"≡": "===", "∧": "/\\", "⫽": "//", "⩓": "//\\\\", "→": "->", "λ": "\\", "∀": "forall"}
CLOSERS = {"{": "}", "[": "]", "(": ")", "<": ">", "${": "}"}

_SPACE = re.compile(r"(?:[ \t\n]|\r\n|--[^\n]*(?:\n|\Z))+")
_COMMENT = re.compile(r"\{-|-\}")
_INVALID_ASCII = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n)")
_INVALID = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(chr(plane << 16 | low) for plane in range(1, 17) for low in (0xFFFE, 0xFFFF))
    + "]|\r(?!\n)"
)
_PATH = r"""[!$-'*+\-.0-;=@-Z^-z|~]+|"[^"/\x00-\x1f]+\""""
_PCHAR = r"(?:[A-Za-z0-9\-._~!$&'*+;=:@]|%[0-9A-Fa-f]{2})"
_NAME = r"(?:[A-Za-z0-9\-._~!$&'*+;=]|%[0-9A-Fa-f]{2})"
_LITERAL_HOST = r"\[(?:[0-9A-Fa-f:.]+|[vV][0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'*+;=:]+)\]"
_URL = rf"""https?://(?:(?:{_NAME}|:)*@)?(?:{_LITERAL_HOST}|{_NAME}*)(?::[0-9]*)?(?:/{_PCHAR}*)*(?:\?(?:{_PCHAR}|[/?])*)?"""
_TIME = r"\d\d:\d\d:\d\d(?:\.\d+)?"
_ZONE = r"(?:[Zz]|[+-]\d\d:\d\d)"
_TOKEN = re.compile(
    rf"""
 (?P<label>(?!https?://|env:["A-Za-z_]|sha256:[0-9a-fA-F]{{64}})[A-Za-z_][A-Za-z0-9_/-]*)
|(?P<path>(?:\.\.|\.|~|)(?:/(?:{_PATH}))+)
|(?P<url>{_URL})
|(?P<env>env:(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[\x20\x21\x23-\x3c\x3e-\x5b\x5d-\x7e]|\\["\\abfnrtv])+"))
|(?P<sha>sha256:[0-9a-fA-F]{{64}}(?![0-9a-zA-Z]))
|(?P<temporal>\d{{4}}-\d\d-\d\d(?:[Tt]{_TIME}{_ZONE}?)?|{_TIME}{_ZONE}?|[+-]\d\d:\d\d)
|(?P<double>[+-]?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)|-Infinity(?![\w/-]))
|(?P<bytes>0x"(?:[0-9A-Fa-f]{{2}})*")
|(?P<int>[+-](?:0x[0-9A-Fa-f]+|0b[01]+|[1-9]\d*|0(?!\d)))
|(?P<nat>0x[0-9A-Fa-f]+|0b[01]+|[1-9]\d*|0(?!\d))
|(?P<quoted>`[\x20-\x5f\x61-\x7e]*`)
|(?P<multi>''(?:\r\n|\n))
|(?P<text>")
|(?P<op>//\\\\|/\\|//|===|==|!=|::|\|\||\+\+|->|&&|[\\(){{}}\[\]<>,.:|=+\#*?@≡∧⫽⩓→λ∀])
""",
    re.X,
)

_LAST_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_/-]*)\s*\Z")
_UNFILLED = re.compile(r"([A-Za-z_][A-Za-z0-9_/-]*)\s*=\s*\Z")
_UNFINISHED = {
    "`else`": "an `if` needs both `then` and `else`",
    "`then`": "an `if` needs both `then` and `else`",
    "`in`": "a `let` needs `in` and the value after it",
}
DESCRIPTIONS = {
    "end": "end of the file",
    "nat": "number",
    "int": "number",
    "double": "number",
    "text": "text",
    "multi": "text",
    "path": "import",
    "url": "import",
    "env": "import",
}


State = tuple[int, int, int, str, str, bool]


class Lexer:
    """The current token: `kind`, `token`, where it starts and ends, and whether space precedes it.

    Keywords and operators are kinds of their own. `previous_end` is where the token before ended.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.position = 0
        self.start = 0
        self.previous_end = 0
        self.kind = ""
        self.token = ""
        self.has_space = False
        self.brackets: list[tuple[str, int]] = []
        self._refuse_characters()
        while self.text.startswith("#!", self.position):
            end = self.text.find("\n", self.position)
            self.position = len(self.text) if end < 0 else end + 1
        self.advance()

    def advance(self) -> None:
        """Go to the next token."""
        text = self.text
        self.previous_end = position = self.position
        space = _SPACE.match(text, position)
        if space is not None:
            position = space.end()
        while text.startswith("{-", position):
            position = self._skip_comment(position)
            space = _SPACE.match(text, position)
            if space is not None:
                position = space.end()
        self.has_space = position > self.previous_end
        self.start = position
        token = _TOKEN.match(text, position)
        if token is None:
            self._advance_to_end(position)
            return
        kind, value = token.lastgroup or "", token.group()
        if kind == "op":
            kind = value = ALIASES.get(value, value)
        elif kind == "label" and value in KEYWORDS:
            kind = value
        self.kind, self.token, self.position = kind, value, token.end()

    def save(self) -> State:
        """Return the state of the lexer, for `restore`."""
        return self.position, self.start, self.previous_end, self.kind, self.token, self.has_space

    def restore(self, state: State) -> None:
        """Go back to the token that was current when the state was saved."""
        self.position, self.start, self.previous_end, self.kind, self.token, self.has_space = state

    def take(self, kind: str) -> None:
        """Go past a token of a kind; refuse any other."""
        if self.kind != kind:
            self.refuse(f"`{kind}`")
        self.advance()

    def take_spaced(self, kind: str) -> None:
        """Go past a token that a space must follow."""
        self.take(kind)
        if self.kind == "end":
            self.refuse("an expression")
        if not self.has_space:
            hint = "`=` alone defines a name or a field" if kind == ":" and self.kind == "=" else ""
            self.fail(f"a space is needed after `{kind}`", self.previous_end - len(kind), hint=hint)

    def open_bracket(self, bracket: str, start: int) -> None:
        """Remember where a bracket opens, for messages."""
        self.brackets.append((bracket, start))

    def close_bracket(self) -> None:
        """Go past the bracket that closes the innermost one."""
        bracket, _ = self.brackets[-1]
        self.take(CLOSERS[bracket])
        self.brackets.pop()

    def refuse(self, expected: str) -> NoReturn:
        """Refuse the current token."""
        if self.kind == "end" and self.brackets:
            self._refuse_unclosed(expected)
        start, end = (self.previous_end, self.previous_end) if self.kind == "end" else (self.start, self.position)
        self.fail(
            f"unexpected {self._describe()}",
            start,
            max(end, start + 1),
            expected=expected,
            hint=find_comment_hint(self.source, self.start) or self._find_hint(expected),
        )

    def _find_hint(self, expected: str) -> str:
        """Return what an author may have meant where the current token is not expected."""
        if self.kind == "end":
            return next((hint for token, hint in _UNFINISHED.items() if token in expected), "")
        before = _LAST_NAME.search(self.text[max(0, self.start - 200) : self.start])
        if before and self.kind in (":", "==") and expected.startswith("`=`"):
            return f"the value of a field is written `{before[1]} = …`"
        if before and self.kind == "=" and expected == "`:`":
            return f"this `{{` holds types, since `:` follows its first field; a value is written `{before[1]} = …`"
        if before and self.kind in ("=", ":") and ("`,`" in expected or "`let`" in expected):
            word = "a comma" if "`,`" in expected else "`let`"
            return f"{word} may be missing before `{before[1]}`"
        if self.brackets and self.brackets[-1][0] == "${":
            return "for the characters themselves write `\\${`, or `''${` in a text of several lines"
        if self.kind in CLOSERS.values() and not self.brackets:
            return f"no bracket is open that `{self.kind}` could close"
        if self.kind in KEYWORDS and "name" in expected:
            return f"`{self.token}` is a reserved word; as a name it is written in backticks"
        if self.kind == "multi" and "expression" not in expected:
            return 'a text on one line is written between `"`'
        unfilled = _UNFILLED.search(self.text[max(0, self.start - 200) : self.start])
        if unfilled and expected == "an expression":
            return f"the value of `{unfilled[1]}` is missing"
        return "equality of Bools is `==`; `=` defines a name or a field" if self.kind == "=" else ""

    def fail(
        self, message: str, start: int | None = None, end: int | None = None, *, expected: str = "", hint: str = ""
    ) -> NoReturn:
        """Raise a parse error, at the current token unless a place is passed."""
        begin = self.start if start is None else start
        finish = end if end is not None else max(self.position if start is None else begin + 1, begin + 1)
        notes, related = self._create_bracket_notes() if expected else ((), ())
        problem = build_problem(
            "parse", self.source, begin, finish, message, expected=expected, notes=notes, hint=hint, related=related
        )
        raise DhallError([problem])

    def _refuse_unclosed(self, expected: str) -> NoReturn:
        bracket, start = self.brackets[-1]
        line, column = self.source.locate(start)
        self.fail(
            f"the file ends, but the `{bracket}` at {line}:{column} is not closed",
            self.previous_end,
            expected=expected,
            hint=f"add `{CLOSERS[bracket]}`",
        )

    def _create_bracket_notes(self) -> tuple[tuple[str, ...], tuple[Span, ...]]:
        """Return a note of the innermost bracket that is open, and its place."""
        if not self.brackets:
            return (), ()
        bracket, start = self.brackets[-1]
        span = build_span(self.source, start, start + len(bracket))
        return (f"inside the `{bracket}` opened at {span.line}:{span.column}",), (span,)

    def _describe(self) -> str:
        if self.kind in ("label", "quoted") or self.kind not in DESCRIPTIONS:
            return f"`{self.token}`"
        if self.kind == "end":
            return DESCRIPTIONS["end"]
        return DESCRIPTIONS[self.kind] + (f" `{self.token}`" if self.kind not in ("text", "multi") else "")

    def _advance_to_end(self, position: int) -> None:
        if position < len(self.text):
            self._refuse_character(position)
        self.kind, self.token, self.position = "end", "", position

    def _refuse_character(self, position: int) -> NoReturn:
        character = self.text[position]
        if self.text.startswith("''", position):
            self.fail(
                "a line break is needed after `''`",
                position,
                position + 2,
                hint="a text of several lines begins on the line after `''`; write a text of one line between `\"`",
            )
        is_in_lines = "''" in self.text[:position]
        above = ", or the text of several lines above ends too early" if is_in_lines else ""
        hints = {
            "'": 'a text on one line is written between `"`' + above,
            "`": "a name in backticks has no line breaks and no characters beyond ASCII",
            "/": "an absolute path begins with `/` and a name; `//` joins records",
            "-": "there is no subtraction operator; use `Natural/subtract`, and `-5` for a negative Integer",
            ";": "items of lists and fields of records are separated by `,`",
            "0": "a number has no leading zeros",
            "!": "negation is written `x == False`",
            "&": "the operator is `&&`",
        }
        if self.text.endswith("sha256:", 0, position):
            self.fail("a hash has 64 hexadecimal digits after `sha256:`", position)
        if character == "\ufeff":
            self.fail("the file contains a byte order mark", position, hint="save the file without a byte order mark")
        hint = find_comment_hint(self.source, position) or hints.get(character, "")
        self.fail(f"unexpected character `{character}`", position, hint=hint)

    def _skip_comment(self, start: int) -> int:
        depth, end = 0, -1
        for mark in _COMMENT.finditer(self.text, start):
            depth += 1 if mark.group() == "{-" else -1
            if depth == 0:
                end = mark.end()
                break
        if end < 0:
            self.fail(
                "the comment that begins here does not end",
                start,
                start + 2,
                hint="a comment ends with `-}`, and so does every comment inside it",
            )
        return end

    def _refuse_characters(self) -> None:
        invalid = (_INVALID_ASCII if self.text.isascii() else _INVALID).search(self.text)
        if invalid is not None:
            offset = invalid.start()
            self.fail(f"the character U+{ord(self.text[offset]):04X} is not allowed", offset, offset + 1)


_PIECES = {
    "text": re.compile(r'(?:[^"\\$]|\\.|\$(?!\{))*', re.S),
    "multi": re.compile(r"(?:''\$\{|'''|[^'$]|'(?!')|\$(?!\{))*"),
}
_QUOTES = {"text": '"', "multi": "''"}


class Token(NamedTuple):
    """A token and its offsets.

    `kind` is that of the lexer, but `piece` for a piece of a text literal, and `unclosed` for one that does not end.
    """

    kind: str
    start: int
    end: int


def iter_tokens(source: Source) -> Iterator[Token]:
    """Yield the tokens of a text; raise `DhallError` at characters that form no token."""
    lexer = Lexer(source)
    braces: list[str] = []
    while lexer.kind != "end":
        kind, start, end = lexer.kind, lexer.start, lexer.position
        literal = kind if kind in _PIECES else ""
        if kind == "{":
            braces.append("")
        elif kind == "}" and braces:
            literal = braces.pop()
        if not literal or kind == "}":
            yield Token(kind, start, end)
            start = end
        if literal:
            end = _find_piece_end(source.text, literal, end)
            is_interpolated = source.text.startswith("${", end)
            if not is_interpolated and end == len(source.text):
                yield Token("unclosed", start, end)
                return
            piece_end = end if is_interpolated else end + len(_QUOTES[literal])
            yield Token("piece", start, piece_end)
            end = piece_end
            if is_interpolated:
                yield Token("${", end, end + 2)
                braces.append(literal)
                end += 2
        lexer.position = end
        lexer.advance()


def _find_piece_end(text: str, literal: str, start: int) -> int:
    """Return where a piece of a text literal ends: at its closing quotes, at `${`, or at the end of the text."""
    match = _PIECES[literal].match(text, start)
    assert match is not None
    return match.end() if text[match.end() : match.end() + 1] in ('"', "'", "$") else len(text)
