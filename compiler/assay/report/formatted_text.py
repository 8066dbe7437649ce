"""Define formatted text of a report: lists, code blocks and paragraphs of phrases."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from assay.util.diagnostics import fail

PARAGRAPH, CODE, BULLETS, NUMBERS = "paragraph", "code", "bullets", "numbers"
STRONG, EMPHASIS, LINK = "strong", "emphasis", "link"

#: members that are left out of JSON text if they have these values
DEFAULT_MEMBERS = {"words": "", "form": "", "link": "", "phrases": (), "items": (), "start": 1}
#: the addresses that a link may have: pages, mail, and parts of the report. Spaces, controls and quotation marks are
#: percent-encoded in them
LINK_ADDRESS = re.compile(r"(?:https?://|mailto:)[!#$%&'()*+,\-./:;=?@\[\]~\w]+|#[\w.+%-]+", re.ASCII | re.I)
#: code between runs of as many backticks, and what it is without the blanks that keep backticks apart
_CODE = re.compile(r"(?<!`)(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)")
_PADDED = re.compile(r"^ (.*[^ ].*) $")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words, or phrases in a form: `strong`, `emphasis`, or a link to an address.

    Words without a form are plain; words of the form `code` are literal.
    """

    words: str = ""
    form: str = ""
    link: str = ""
    phrases: tuple[Phrase, ...] = ()

    def __post_init__(self) -> None:
        if self.link and not LINK_ADDRESS.fullmatch(self.link):
            raise fail("invalid-document", "a link leads to an address that links cannot have", found=self.link)

    def iter_words(self) -> Iterator[str]:
        """Yield the words of the phrase and of those in it, in order."""
        yield self.words
        for phrase in self.phrases:
            yield from phrase.iter_words()


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A paragraph or a block of code, which have phrases, or a list, which has items (each some blocks).

    `start` is the number of the first item of a numbered list.
    """

    kind: str = PARAGRAPH
    phrases: tuple[Phrase, ...] = ()
    items: tuple[tuple[TextBlock, ...], ...] = ()
    start: int = 1

    @property
    def text(self) -> str:
        """The words of the phrases."""
        return "".join(words for phrase in self.phrases for words in phrase.iter_words())


def parse_code(text: str) -> tuple[Phrase, ...]:
    """Return a text as phrases: names between backticks are code (`quote_code`).

    Without a pair for each run of backticks, all is plain.
    """
    pieces = _CODE.split(text)
    if any("`" in piece for piece in pieces[::3]):
        return (Phrase(text),)
    phrases = [(Phrase(plain), Phrase(_PADDED.sub(r"\1", code), CODE)) for plain, _, code in
               zip(pieces[::3], pieces[1::3], pieces[2::3], strict=False)]  # fmt: skip
    return (*itertools.chain.from_iterable(phrases), Phrase(pieces[-1]))


def list_leaves(blocks: Sequence[TextBlock]) -> list[TextBlock]:
    """Return the paragraphs and code blocks among some blocks and in the items of their lists, in order."""
    leaves = []
    for block in blocks:
        if block.kind in (BULLETS, NUMBERS):
            leaves += [leaf for item in block.items for leaf in list_leaves(item)]
        else:
            leaves.append(block)
    return leaves


def is_plain(blocks: Sequence[TextBlock]) -> bool:
    """Return whether all blocks are paragraphs of words without a form."""
    return all(block.kind == PARAGRAPH and not any(item.form for item in block.phrases) for block in blocks)


def name_anchor(title: str) -> str:
    """Return the name by which links lead to a part with this title: `cpu-and-memory`."""
    return re.sub(r"[^\w]+", "-", title.lower()).strip("-")


def get_anchor(link: str) -> str:
    """Return the name of the part that a link leads to; empty for other links."""
    return unquote(link[1:]) if link.startswith("#") else ""


def resolve_links(blocks: Sequence[TextBlock], addresses: Mapping[str, str]) -> tuple[TextBlock, ...]:
    """Return blocks whose links to parts have addresses in the report, by name; others become plain."""
    return tuple(
        replace(
            block,
            phrases=_resolve_phrases(block.phrases, addresses),
            items=tuple(resolve_links(item, addresses) for item in block.items),
        )
        for block in blocks
    )


def _resolve_phrases(phrases: Sequence[Phrase], addresses: Mapping[str, str]) -> tuple[Phrase, ...]:
    resolved_phrases: list[Phrase] = []
    for phrase in phrases:
        inner = _resolve_phrases(phrase.phrases, addresses)
        anchor = get_anchor(phrase.link)
        if anchor and anchor not in addresses:
            resolved_phrases += inner
        else:
            resolved_phrases.append(replace(phrase, link=addresses.get(anchor, phrase.link), phrases=inner))
    return tuple(resolved_phrases)
