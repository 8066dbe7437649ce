"""Convert the text of a part for a web page: paragraphs, lists and code of phrases, with links of quoted values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.report.cell_links import QuotedValue
from assay.report.document import Part
from assay.report.formatted_text import LINK, PARAGRAPH, Phrase, TextBlock, list_leaves, parse_code
from assay.report.render.html_tables import Cell

NO_CELL = Cell("")


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that may link to its definition, or pieces in a form."""

    cell: Cell = NO_CELL
    form: str = ""
    link: str = ""
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A block of text on a page, like `TextBlock`."""

    kind: str = PARAGRAPH
    pieces: tuple[Piece, ...] = ()
    items: tuple[tuple[PageBlock, ...], ...] = ()
    start: int = 1


def build_text(part: Part, entries: Mapping[str, object]) -> tuple[PageBlock, ...]:
    """Return the text of a part in blocks; a quoted value links to its entry if it is in `entries`."""
    first = len(list_leaves(part.formatted))
    # The places of quoted values count backticks, so texts with both stay as they are.
    quoting = {item.paragraph for item in part.quoted}
    blocks = (
        *part.formatted,
        *(
            TextBlock(phrases=(Phrase(text),) if number in quoting else parse_code(text))
            for number, text in enumerate(part.text[first:], start=first)
        ),
    )
    return _PageBuilder(part.quoted, entries).build_blocks(blocks)


class _PageBuilder:
    """The conversion of blocks, whose leaves have the numbers of paragraphs."""

    def __init__(self, quoted: Sequence[QuotedValue], entries: Mapping[str, object]) -> None:
        self.quoted = quoted
        self.entries = entries
        self.paragraph = -1
        self.position = 0

    def build_blocks(self, blocks: Sequence[TextBlock]) -> tuple[PageBlock, ...]:
        return tuple([self._build_block(block) for block in blocks])

    def _build_block(self, block: TextBlock) -> PageBlock:
        if block.items:
            return PageBlock(block.kind, (), tuple([self.build_blocks(item) for item in block.items]), block.start)
        self.paragraph, self.position = self.paragraph + 1, 0
        return PageBlock(block.kind, self._build_pieces(block.phrases))

    def _build_pieces(self, phrases: Sequence[Phrase], *, in_link: bool = False) -> tuple[Piece, ...]:
        pieces: list[Piece] = []
        for phrase in phrases:
            if phrase.phrases:
                inner = self._build_pieces(phrase.phrases, in_link=in_link or phrase.form == LINK)
                pieces.append(Piece(form=phrase.form, link=phrase.link, pieces=inner))
            else:
                cells = self._split_words(phrase.words, self.entries if not in_link else {})
                pieces += [Piece(cell, phrase.form) for cell in cells]
        return tuple(pieces)

    def _split_words(self, words: str, entries: Mapping[str, object]) -> Iterator[Cell]:
        begin, end = self.position, self.position + len(words)
        for item in self.quoted:
            if item.paragraph == self.paragraph and self.position <= item.begin < end:
                yield Cell(words[self.position - begin : item.begin - begin])
                entry = item.entry if item.entry in entries else ""
                text = words[item.begin - begin : item.end - begin]
                yield Cell(text, metric=entry, of=item.of if entry else "")
                self.position = item.end
        yield Cell(words[self.position - begin :])
        self.position = end
