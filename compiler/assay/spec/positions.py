"""Where the words of a package (names, ids, titles) are written.

The evaluated value knows where each of its texts was written (`assay.dhall.texts`). A word may be written in many
places: which of them counts follows from the declaration that the word is in, which is a record of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay import dhall
from assay.dhall.texts import PlacedText, iterate_declarations, iterate_texts
from assay.spec.diagnostics import Span
from assay.spec.sources import convert_span

#: fields whose text declares a name, by rank; any other text refers to one
DECLARING = {"id": 0, "name": 1}
REFERENCE = len(DECLARING)

SCHEMA = "specs/schema/"

Place = tuple[Span | None, str]
"""A position in the sources, and an excerpt of its line."""


@dataclass(frozen=True)
class _Word:
    """One text of the value; `nodes` are the expressions that it can be shown at, the best first."""

    path: dhall.Place
    rank: int
    nodes: tuple[dhall.Node, ...]

    @property
    def order(self) -> tuple[bool, int, str, int]:
        """Sort the users' own files before those of the language, ids before names before references."""
        node = self.nodes[0]
        return node.source.name.startswith(SCHEMA), self.rank, node.source.name, node.start

    @property
    def declaration(self) -> dhall.Place:
        """The path of the record that the text is a field of."""
        return self.path[:-1]

    def place(self, file: str = "") -> Place:
        """Return the position in a file, or the best one when nothing of this word is written in that file."""
        node = next((node for node in self.nodes if node.source.name == file), self.nodes[0])
        return convert_span(dhall.node_span(node), node.source.text.split("\n"))


class Positions:
    """Finds words in the sources of a package, which `evaluate` evaluates when the first is needed."""

    def __init__(self, evaluate: Callable[[], dhall.Evaluated]) -> None:
        self._evaluate = evaluate

    def __call__(self, word: str, passed: int = 0, within: Sequence[str] = ()) -> Place:
        """Return where a word is written; None and nothing where it is not.

        Ids come first, then names, then what refers to them; `passed` places are passed over. `within` names the
        declaration that the word is in, and those around that one, the outermost first. The word in the innermost
        declaration that has it is returned; otherwise its only place; otherwise that of the declaration.
        """
        words = self._words.get(word, [])
        owners = [name for name in within if name in self._words and name != word]
        for name in reversed(owners):
            if near := _find_nearest(self._words[name], words):
                inner, owner = near
                return inner.place(owner.nodes[0].source.name)
        distinct = list({item.place()[0]: item for item in words}.values())
        if owners and not (len(distinct) == 1 and distinct[0].rank == REFERENCE):
            return self._find_declaration(owners)
        return distinct[passed].place() if passed < len(distinct) else (None, "")

    def declared(self, word: str) -> Place:
        """Return where something gets this name by `id = "..."` or `name = "..."`, listed by the package or not."""
        node = self._declarations.get(word)
        return convert_span(dhall.node_span(node), node.source.text.split("\n")) if node else (None, "")

    def _find_declaration(self, owners: Sequence[str]) -> Place:
        """Return where the last of these names is written, near one of those before."""
        words = self._words[owners[-1]]
        for name in reversed(owners[:-1]):
            if near := _find_nearest(self._words[name], words):
                return near[0].place(near[1].nodes[0].source.name)
        files = {item.nodes[0].source.name for name in owners[:-1] for item in self._words[name]}
        beside = [item for item in words if item.nodes[0].source.name in files]
        return (beside or words)[0].place()

    @cached_property
    def _evaluated(self) -> dhall.Evaluated:
        return self._evaluate()

    @cached_property
    def _words(self) -> dict[str, list[_Word]]:
        words: dict[str, list[_Word]] = {}
        for item in iterate_texts(self._evaluated):
            nodes = tuple(_order_nodes(item))
            if nodes:
                rank = DECLARING.get(str(item.path[-1]), REFERENCE) if item.path else REFERENCE
                words.setdefault(item.text, []).append(_Word(item.path, rank, nodes))
        return {text: sorted(items, key=lambda item: item.order) for text, items in words.items()}

    @cached_property
    def _declarations(self) -> dict[str, dhall.Node]:
        nodes: dict[str, tuple[tuple[bool, int, str, int], dhall.Node]] = {}
        for name, text, node in iterate_declarations(self._evaluated, frozenset(DECLARING)):
            order = (node.source.name.startswith(SCHEMA), DECLARING[name], node.source.name, node.start)
            if text not in nodes or order < nodes[text][0]:
                nodes[text] = order, node
        return {text: node for text, (_, node) in nodes.items()}


def _order_nodes(item: PlacedText) -> Iterator[dhall.Node]:
    """Yield the expressions of a text: its literal before the expression of its field, the schema's own last."""
    nodes = [node for node in (item.literal, item.usage) if node is not None]
    yield from sorted(nodes, key=lambda node: node.source.name.startswith(SCHEMA))


def _find_nearest(owners: Sequence[_Word], words: Sequence[_Word]) -> tuple[_Word, _Word] | None:
    """Return the word that is in the smallest declaration of one of these owners, with the owner."""
    by_declaration = {owner.declaration: owner for owner in reversed(owners)}
    best: tuple[int, _Word, _Word] | None = None
    for word in words:
        for length in range(len(word.path) - 1, -1 if best is None else best[0], -1):
            owner = by_declaration.get(word.path[:length])
            if owner is not None:
                best = length, word, owner
                break
    return best and (best[1], best[2])
