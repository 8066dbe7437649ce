"""Find where the words of a package (names, ids, titles) are written.

The evaluated value has the origin of each of its texts (`assay_dhall.origin`).  A word may be written in many places:
the declaration around it, a record of the value, decides which place is meant.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import assay_dhall
from assay.lang.check.checker import Field
from assay.lang.sources import convert_span
from assay.util.diagnostics import Span
from assay_dhall.origin import PlacedText, iter_declarations, iter_texts

#: fields whose text declares a name, by rank; any other text refers to one
DECLARING = {"id": 0, "name": 1}
REFERENCE = len(DECLARING)

SCHEMA = "specs/schema/"

Place = tuple[Span | None, str]
"""A position in the sources, and an excerpt of its line."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A text of the value; `node` is its literal, or the nearest expression.

    `is_reference`: the literal declares the name of something else, which this text refers to.
    """

    placed: PlacedText
    node: assay_dhall.Node
    rank: int
    is_reference: bool

    @property
    def order(self) -> tuple[bool, int, str, int]:
        """Sort files of the user before those of the language, then ids before names before references."""
        return self.is_of_schema, self.rank, self.node.source.name, self.node.start

    @property
    def is_of_schema(self) -> bool:
        """Return whether the text is written in the schema."""
        return _is_of_schema(self.node)

    @property
    def declaration(self) -> assay_dhall.Place:
        """Return the path of the record that the text is a field of."""
        return self.placed.path[:-1]

    def locate(self, file: str = "") -> Place:
        """Return the position of the literal; for a reference, or a literal elsewhere, where `file` uses it."""
        node = self._choose(file) if file else self.node
        if _is_of_schema(node):  # a word of the language made the record: show where the user wrote that word
            node = next(itertools.chain(self._iter_usages_outside(), self._iter_writers_outside()), node)
        return _locate_node(node)

    def _iter_usages_outside(self) -> Iterator[assay_dhall.Node]:
        """Yield the expressions outside the schema that pass the text on."""
        return (node for node in self.placed.iter_usages() if not _is_of_schema(node))

    def _iter_writers_outside(self) -> Iterator[assay_dhall.Node]:
        """Yield, for each record and list around the text, the last expression outside the schema on the way to it."""
        for expressions in self.placed.iter_enclosing_parts():
            outside = itertools.dropwhile(_is_of_schema, expressions)
            yield from [*itertools.takewhile(lambda node: not _is_of_schema(node), outside)][-1:]

    def _choose(self, file: str) -> assay_dhall.Node:
        if self.node.source.name == file and not self.is_reference:
            return self.node
        # A usage that contains the literal is the declaration that the text refers to.
        usages = (node for node in self.placed.iter_usages() if not _contains(node, self.node))
        for node in (*usages, *self.placed.iter_enclosing()):
            if node.source.name == file:
                return self.node if _contains(node, self.node) else node
        return self.node


class Positions:
    """Finds words in the sources of a package; calls `evaluate` when the first position is needed."""

    def __init__(self, evaluate: Callable[[], assay_dhall.Evaluation]) -> None:
        self._evaluate = evaluate
        self._words: dict[str, list[_Word]] = {}

    def __call__(self, word: str, skipped: int = 0, within: Sequence[str] = ()) -> Place:
        """Return where a word is written; (None, "") where it is not.

        Ids come first, then names, then references; `skipped` places are passed over.  `within` names the enclosing
        declarations, outermost first; a `Field` among them is a field that the word is in.  The result is the word in
        the innermost of these declarations that has it; otherwise its only place; otherwise the declaration.
        """
        words = self._find_words(word)
        fields = {str(name) for name in within if isinstance(name, Field)}
        words = [item for item in words if fields.issubset(item.placed.path)] or words
        owners = [name for name in within if not isinstance(name, Field) and name != word and self._find_words(name)]
        for name in reversed(owners):
            if nearest := _find_nearest(self._find_words(name), words):
                inner, owner = nearest
                return inner.locate(owner.node.source.name)
        distinct = list({item.locate()[0]: item for item in words}.values())
        if owners and not (len(distinct) == 1 and distinct[0].rank == REFERENCE):
            return self._find_owner_declaration(owners)
        return distinct[skipped].locate() if skipped < len(distinct) else (None, "")

    def find_field(self, word: str, name: str) -> Place:
        """Return the expression of the field `name` in the declaration of `word`; (None, "") if there is none."""
        for item in self._find_words(word):
            if item.rank != REFERENCE:
                for node in item.placed.iter_field(name):
                    if node.source.name == item.node.source.name and not _contains(node, item.node):
                        return _locate_node(node)
                return None, ""
        return None, ""

    def find_declaration(self, word: str) -> Place:
        """Return where `id = "..."` or `name = "..."` declares this name, listed by the package or not."""
        node = self._declarations.get(word)
        return _locate_node(node) if node else (None, "")

    def _find_owner_declaration(self, owners: Sequence[str]) -> Place:
        """Return where the last of these names is written, near one of the names before it."""
        words = self._find_words(owners[-1])
        for name in reversed(owners[:-1]):
            if nearest := _find_nearest(self._find_words(name), words):
                return nearest[0].locate(nearest[1].node.source.name)
        files = {item.node.source.name for name in owners[:-1] for item in self._find_words(name)}
        same_file = [item for item in words if item.node.source.name in files]
        return (same_file or words)[0].locate()

    @cached_property
    def _evaluated(self) -> assay_dhall.Evaluation:
        return self._evaluate()

    def _find_words(self, text: str) -> list[_Word]:
        """Return where a text is written, in their order."""
        if text not in self._words:
            words = (_create_word(item, self._declaring) for item in self._texts.get(text, []))
            self._words[text] = sorted((word for word in words if word), key=lambda word: word.order)
        return self._words[text]

    @cached_property
    def _texts(self) -> dict[str, list[PlacedText]]:
        texts: dict[str, list[PlacedText]] = {}
        for item in iter_texts(self._evaluated):
            texts.setdefault(item.text, []).append(item)
        return texts

    @cached_property
    def _declaring(self) -> frozenset[int]:
        """The identities of the literals that declare names."""
        texts = itertools.chain.from_iterable(self._texts.values())
        literals = {id(item.literal) for item in texts if _get_rank(item) != REFERENCE}
        return frozenset(literals.union(id(node) for _, _, node in self._name_declarations))

    @cached_property
    def _name_declarations(self) -> list[tuple[str, str, assay_dhall.Node]]:
        return list(iter_declarations(self._evaluated, frozenset(DECLARING)))

    @cached_property
    def _declarations(self) -> dict[str, assay_dhall.Node]:
        nodes: dict[str, tuple[tuple[bool, int, str, int], assay_dhall.Node]] = {}
        for name, text, node in self._name_declarations:
            order = (node.source.name.startswith(SCHEMA), DECLARING[name], node.source.name, node.start)
            if text not in nodes or order < nodes[text][0]:
                nodes[text] = order, node
        return {text: node for text, (_, node) in nodes.items()}


def _create_word(item: PlacedText, declaring: Container[int]) -> _Word | None:
    """Return the word of a text; None if no expression of it is known. `declaring` are literals that declare names."""
    node = item.literal or next(item.iter_usages(), None) or next(item.iter_enclosing(), None)
    if node is None:
        return None
    rank = _get_rank(item)
    return _Word(item, node, rank, rank == REFERENCE and id(item.literal) in declaring)


def _get_rank(item: PlacedText) -> int:
    return DECLARING.get(str(item.path[-1]), REFERENCE) if item.path else REFERENCE


def _is_of_schema(node: assay_dhall.Node) -> bool:
    """Return whether an expression is written in the schema."""
    return node.source.name.startswith(SCHEMA)


def _locate_node(node: assay_dhall.Node) -> Place:
    return convert_span(assay_dhall.get_node_span(node), node.source.text.split("\n"))


def _contains(outer: assay_dhall.Node, inner: assay_dhall.Node) -> bool:
    return outer.source.name == inner.source.name and outer.start <= inner.start and inner.end <= outer.end


def _find_nearest(owners: Sequence[_Word], words: Sequence[_Word]) -> tuple[_Word, _Word] | None:
    """Return the word in the smallest declaration of one of these owners, with that owner.

    Several words in one declaration: the first in the file of the owner.
    """
    by_declaration = {owner.declaration: owner for owner in reversed(owners)}
    length, nearest = 0, list[tuple[_Word, _Word]]()
    for word in words:
        path = word.placed.path
        for size in range(len(path) - 1, length - 1, -1):
            owner = by_declaration.get(path[:size])
            if owner is not None:
                nearest = [*(nearest if size == length else []), (word, owner)]
                length = size
                break
    return min(nearest, key=_get_sort_key, default=None)


def _get_sort_key(pair: tuple[_Word, _Word]) -> tuple[bool, str, int, int]:
    word, owner = pair
    file = owner.node.source.name
    span, _ = word.locate(file)
    return (span.file != file, span.file, span.line, span.column) if span else (True, "", 0, 0)
