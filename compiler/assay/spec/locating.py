"""Where a word (a name, an id, a title) is written in the sources of a package.

A value that Dhall evaluates does not say where it was written, so its words are searched for.  The same word may stand
in many places; what is known is in which declaration the word in question is, so it is searched for there first.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.spec.dhall_scan import Scan, closing_index, scan
from assay.spec.diagnostics import Span, excerpt_at
from assay.spec.imports import SourceFile

#: how a text is written that declares its name: `id = "..."`, `name = "..."`, `latest "..."`; else it refers to one
ID, NAME, ARGUMENT, REFERENCE = range(4)
_DECLARES = {"id": ID, "name": NAME}

SCHEMA = "specs/schema/"

_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|.)")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

Place = tuple[Span | None, str]


@dataclass(frozen=True)
class Written:
    """A text of one piece: the word at `index` of a scanned file opens it; `how` is one of the above."""

    file: SourceFile
    scan: Scan
    index: int
    how: int

    @property
    def place(self) -> Place:
        """The text with its quotes, and its line."""
        token, end = self.scan.tokens[self.index : self.index + 2]
        line, column = self.scan.place(token.start)
        span = Span(self.file.name, line, column, end.end - token.start)
        return span, excerpt_at(self.file.path, line, column, span.length)


@dataclass(frozen=True)
class Locator:
    """Finds words in the sources, of which those that are code count."""

    files: Sequence[SourceFile]

    def __call__(self, word: str, passed: int = 0, within: Sequence[str] = ()) -> Place:
        """Where a word is written in quotes, and the line; None and nothing where it is not.

        Ids come first, then names, then what refers to them; `passed` places are passed over.  `within` names the
        declaration that the word is in, and those around that one, the outermost first: then it is the word in the
        innermost that has it; else, where it stands but once, that; else the declaration.
        """
        found = self._texts.get(word, [])
        owners = [name for name in within if name in self._texts and name != word]
        for name in reversed(owners):
            near = _nearest(self._texts[name], found)
            if near:
                return near.place
        if owners and not (len(found) == 1 and found[0].how == REFERENCE):
            return self._declaration(owners)
        return found[passed].place if passed < len(found) else (None, "")

    def _declaration(self, owners: Sequence[str]) -> Place:
        """Where the last of these names is written, in the declarations of those before or at least in a file with one
        of them."""
        found = self._texts[owners[-1]]
        for wide in (False, True):
            for name in reversed(owners[:-1]):
                near = _nearest(self._texts[name], found, wide)
                if near:
                    return near.place
        return found[0].place

    def declared(self, word: str) -> Place:
        """Where something is given this name by `id = "..."` or `name = "..."`, if it is."""
        found = self._texts.get(word, [])
        return found[0].place if found and found[0].how in (ID, NAME) else (None, "")

    @cached_property
    def _texts(self) -> dict[str, list[Written]]:
        """All texts in quotes by what they say, ids and names first; those of the language itself, which users do not
        write, last."""
        found: dict[str, list[Written]] = {}
        for file in (item for item in self.files if item.is_code):
            scanned = scan(file.text)
            for text, item in _written(file, scanned):
                found.setdefault(text, []).append(item)
        return {text: sorted(items, key=_rank) for text, items in found.items()}


def _rank(item: Written) -> tuple[bool, int]:
    return item.file.name.startswith(SCHEMA), item.how


def _written(file: SourceFile, scanned: Scan) -> Iterator[tuple[str, Written]]:
    naming = _naming(scanned)
    for index, token in enumerate(scanned.tokens[:-1]):
        after = scanned.tokens[index + 1]
        if token.text == '"' and token.kind == "text" and after.kind == "text-end":
            said = _ESCAPE.sub(_meant, file.text[token.end : after.start])
            yield said, Written(file, scanned, index, _how(scanned, index, naming))


def _naming(scanned: Scan) -> dict[str, int]:
    """The variables that declare a name somewhere, and how: `name = grain`."""
    words = [token.text for token in scanned.tokens]
    declared = zip(words, words[1:], words[2:], scanned.tokens[2:], strict=False)
    return {value: _DECLARES[key] for key, equals, value, token in declared
            if key in _DECLARES and equals == "=" and token.kind == "label"}  # fmt: skip


def _meant(escape: re.Match[str]) -> str:
    """The character that an escape stands for."""
    code = escape[1] or escape[2]
    if code:
        return chr(min(int(code, 16), sys.maxunicode))
    return _SHORT.get(escape[0][1:], escape[0][1:])


def _how(scanned: Scan, index: int, naming: Mapping[str, int]) -> int:
    before = [token.text for token in scanned.tokens[max(index - 3, 0) : index]]
    if len(before) > 1 and before[-1] == "=":
        of_variable = naming.get(before[-2], REFERENCE) if before[:-2] == ["let"] else REFERENCE
        return _DECLARES.get(before[-2], of_variable)
    return ARGUMENT if scanned.tokens[max(index - 1, 0)].kind == "label" else REFERENCE


def _nearest(owners: Sequence[Written], found: Sequence[Written], wide: bool = False) -> Written | None:
    """The one that is in the smallest declaration of one of these owners, if any is; if `wide`, in the file of one."""
    best: tuple[int, Written] | None = None
    for owner in owners:
        extents = [(0, len(owner.scan.tokens))] if wide else _extents(owner)
        for size, (first, last) in enumerate(extents):
            inside = [item for item in found if item.file is owner.file and first <= item.index < last]
            if inside and (best is None or size < best[0]):
                best = size, inside[0]
    return best[1] if best else None


def _extents(owner: Written) -> list[tuple[int, int]]:
    """The words that are of a declaration, from the first to before the last: the item of a list or record that the
    name stands in, and the record if it is a field's value there."""
    tokens = owner.scan.tokens
    opening = _opening(owner.scan, owner.index)
    closing = closing_index(tokens, opening) if opening >= 0 else None
    end = len(tokens) if closing is None else closing
    found = [_item(owner, opening + 1, end)]
    if owner.index and tokens[owner.index - 1].text == "=" and opening >= 0:
        found.append((opening, end))
    return found


def _opening(scanned: Scan, index: int) -> int:
    """The word that opens the innermost bracket around one, -1 where there is none."""
    depth = 0
    for number in range(index - 1, -1, -1):
        kind = scanned.tokens[number].kind
        depth += {"close": 1, "text-end": 1, "open": -1, "text": -1}.get(kind, 0)
        if depth < 0:
            return number
    return -1


def _item(owner: Written, first: int, last: int) -> tuple[int, int]:
    """The part between commas, or keywords of `let`, of a bracket's words that the name is in."""
    depth, begin = 0, first
    for number in range(first, last):
        token = owner.scan.tokens[number]
        depth -= token.kind in ("close", "text-end")
        if depth == 0 and token.text in (",", "let", "in"):
            if number > owner.index:
                return begin, number
            begin = number
        depth += token.kind in ("open", "text")
    return begin, last
