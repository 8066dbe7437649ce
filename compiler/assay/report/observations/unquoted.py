"""Find numbers and comparisons in edited observations that no cell is behind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.lang.model.observation import ObservationRules
from assay.report.formatted_text import list_leaves
from assay.report.observations.cell_quotes import parse_prose, render_cells
from assay.report.observations.printed_changes import Changes
from assay.report.unquoted import MARK, NUMBER_PATTERNS, NumberFinder, compile_words, list_sentences

NOTE = f"{MARK} The author's own number or comparison: it quotes no cell of the tables."
MESSAGE = "`{claim}` quotes no cell"
_COMPARISON = re.compile(
    r"(?<!\w)(?:better|best|worse|worst|unchanged|no change|regress\w*|improv\w+|(?:more|less|fewer) than|the same as"
    r"|exceed\w*|equal to)(?!\w)",
    re.I,
)
#: words for a direction that compare only before `than`
_WEAK_WORDS = ("more", "less", "fewer", "longer", "shorter")


class UnquotedFinder(NumberFinder):
    """Finds numbers and comparisons by the words of the rules; names of metrics and runs are no claims."""

    def __init__(self, rules: ObservationRules, changes: Changes, drafted: str = "") -> None:
        """`drafted` is text that a draft would have now: its sentences are backed by verdicts."""
        names = {item.name for items in changes.values() for item in items.values()}
        super().__init__(names | {name for place in changes for name in (place.case, place.base, place.run)})
        words = {word for word in (*rules.up, *rules.down) if word not in _WEAK_WORDS}
        self.comparisons = (_COMPARISON, compile_words(words))
        leaves = list_leaves(render_cells(parse_prose(drafted, "", changes, []), changes).blocks)
        self.drafted_sentences = {leaf.text[a:b].strip() for leaf in leaves for a, b in list_sentences(leaf.text)}

    def choose_patterns(self, sentence: str, *, has_quotes: bool) -> Sequence[re.Pattern[str]]:
        """Return what a sentence may claim: a number anywhere, a comparison only if no quote has its direction."""
        if sentence.strip() in self.drafted_sentences:
            return ()
        return NUMBER_PATTERNS if has_quotes else (*NUMBER_PATTERNS, *self.comparisons)


def describe_unquoted(count: int) -> str:
    """Return how many claims there are, in words."""
    return "1 number or comparison" if count == 1 else f"{count} numbers or comparisons"
