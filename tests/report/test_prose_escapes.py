"""Test that no prose can break out of a form: any text that prose can have is the same text in each form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pypdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assay.report.document import Document, Part
from assay.report.formatted_text import Phrase, TextBlock, list_leaves, resolve_links
from assay.report.prose import Prose
from assay.report.prose_markup import parse_markup
from assay.report.render.html import build_page
from assay.report.render.markdown_syntax import escape_cell, escape_line
from assay.report.render.markdown_text import format_text_blocks
from assay.report.render.pdf import render
from tests.report_sample import TEMPLATES, build_sample

PIECES = (
    "*", "**", "_", "__", "`", "``", "```", "~~~", "[", "](", "](https://a.b/c)", "](#disk)", ")", "<", ">", "<b>",
    "</p>", "<https://a.b>", "&lt;", "&#42;", "&", "\\", "#", "# ", "- ", "+ ", "* ", "1. ", "2) ", "\n", "\n",
    "\n\n", "\n\n", "  ", "    ", " ", " ", "word", "word", "two words", "x", "7", ".", ",", "!", "$", "$$", "@x",
    "|", "~~", "---", "===", "%}", "{% x %}", "#panic()", "#import", "//", "/*", "*/", "\u202e", "\xa0", "é", "\t",
    "\x00", "'", '"', "</script>", "]]>", "<!-- ", "-->", "https://", "www.", "\\\n",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=24).map("".join)


def render_blocks(text: str) -> tuple[TextBlock, ...]:
    return resolve_links(Prose(Path("prose.md"), text, ()).render(lambda _: None).blocks, {"disk": "#section-disk"})


def is_prose(text: str) -> bool:
    return not parse_markup(text).problems


def build_document(texts: Sequence[str]) -> Document:
    """Return a document with a part for each text, each closed by a mark."""
    parts = [Part("disk", "disk", (), (), ())]
    for number, text in enumerate(texts):
        blocks = render_blocks(text)
        leaf_texts = (*(leaf.text for leaf in list_leaves(blocks)), "END")
        parts.append(Part(f"part-{number}", f"Part {number}", leaf_texts, (), (), formatted=blocks))
    sample = build_sample()
    return replace(sample, dictionary=(), parts=tuple(parts))


def iter_texts(document: Document) -> Iterator[str]:
    for part in document.parts[1:]:
        yield from part.text


READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
FORMS = {"<em>": "emphasis", "<strong>": "strong", "em": "emphasis", "strong": "strong", "a": "link"}
LISTS = {"bullet_list_open": "bullets", "ordered_list_open": "numbers"}
Letters = list[tuple[str, frozenset[str]]]


def read_blocks(tokens: Iterator[Token], end: str = "") -> list[object]:
    """Return blocks as a reader of Markdown finds them: kind and letters, or kind, start and items."""
    blocks: list[object] = []
    for token in tokens:
        if token.type == end:
            break
        if token.type in LISTS:
            items = []
            while next(tokens).type == "list_item_open":
                items.append(read_blocks(tokens, "list_item_close"))
            blocks.append((LISTS[token.type], token.attrs.get("start", 1), items))
        elif token.type == "fence":
            blocks.append(("code", [(letter, frozenset({"code"})) for letter in token.content.removesuffix("\n")]))
        elif token.type == "inline":
            blocks.append(("paragraph", read_letters(token)))
        else:
            assert token.type in ("paragraph_open", "paragraph_close"), token.type
    return blocks


def read_letters(inline: Token) -> Letters:
    """Return each letter of a paragraph with its forms."""
    letters: Letters = []
    forms: list[str] = []
    for token in inline.children or ():
        tag = token.tag or token.content
        if token.type == "html_inline":
            assert token.content in ("<em>", "</em>", "<strong>", "</strong>")
        if token.nesting == 1 or token.content in FORMS:
            form = FORMS[tag]
            forms.append(f"{form} {token.attrs['href']}" if form == "link" else form)
        elif token.nesting == -1 or (token.content.startswith("</") and token.type == "html_inline"):
            forms.pop()
        else:
            assert token.type in ("text", "code_inline"), token.type
            extra = ["code"] if token.type == "code_inline" else []
            letters += [(letter, frozenset([*forms, *extra])) for letter in token.content]
    return letters


def list_blocks(blocks: Sequence[TextBlock]) -> list[object]:
    """Return blocks in the form of `read_blocks`."""
    return [
        (block.kind, block.start, [list_blocks(item) for item in block.items])
        if block.items
        else (block.kind, [letter for phrase in block.phrases for letter in list_letters(phrase, ())])
        for block in blocks
    ]


def list_letters(phrase: Phrase, forms: tuple[str, ...]) -> Letters:
    all_forms = (*forms, *([f"link {phrase.link}" if phrase.link else phrase.form] if phrase.form else []))
    inner = [letter for item in phrase.phrases for letter in list_letters(item, all_forms)]
    return [(letter, frozenset(all_forms)) for letter in phrase.words] + inner


@given(text=TEXTS.filter(is_prose))
@settings(max_examples=400, deadline=None)
def test_reader_of_markdown_finds_the_prose(text: str) -> None:
    blocks = render_blocks(text)
    markdown = "\n\n".join(format_text_blocks(blocks, escape_cell, escape_line))
    assert read_blocks(iter(READER.parse(markdown))) == list_blocks(blocks)


class PageText(HTMLParser):
    """The texts of leaves in the parts of a page, and the elements in them."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.links: set[str] = set()
        self.text = ""
        self.is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_inside = self.is_inside or (tag == "h2" and str(dict(attrs).get("id")).startswith("section-part-"))
        if self.is_inside and tag == "section":
            self.is_inside = False
        if self.is_inside:
            self.elements.add(tag)
            self.links.update(str(value) for name, value in attrs if name == "href")

    def handle_endtag(self, tag: str) -> None:
        self.is_inside = self.is_inside and tag != "section"

    def handle_data(self, data: str) -> None:
        self.text += data if self.is_inside else ""


def remove_blanks(text: str) -> str:
    return re.sub(r"\s", "", text)


@given(texts=st.lists(TEXTS.filter(is_prose), min_size=12, max_size=12))
@settings(max_examples=12, deadline=None)
def test_page_has_the_words_of_prose_and_no_other_elements(texts: list[str]) -> None:
    document = build_document(texts)
    page = PageText()
    page.feed(build_page(document, TEMPLATES, ""))
    expected_texts = [part.title + "".join(part.text) for part in document.parts[1:]]
    assert remove_blanks(page.text) == remove_blanks("".join(expected_texts))
    assert page.elements <= {"h2", "p", "ul", "ol", "li", "pre", "code", "strong", "em", "a"}
    assert all(re.match(r"https?://|mailto:|#section-disk$", link) for link in page.links)


@given(texts=st.lists(TEXTS.filter(is_prose), min_size=40, max_size=40))
@settings(max_examples=2, deadline=None)
def test_pdf_has_the_words_of_prose(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    document = build_document(texts)
    folder = tmp_path_factory.mktemp("pdf")
    render(document, folder, TEMPLATES)
    pages = remove_blanks("".join(page.extract_text() for page in pypdf.PdfReader(folder / "report.pdf").pages))
    assert pages.count("END") >= len(texts)
    missing = [text for text in iter_texts(document) if len(text) < 8 and remove_blanks(text) not in pages]
    assert missing == []
