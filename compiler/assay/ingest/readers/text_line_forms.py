"""How the lines of a text log are recognised: the pattern that all have, and the patterns of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.ingest.event_forms import NumberedForm
from assay.lang.line_pattern import Pattern, literal, parse
from assay.lang.model.package import Source

Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """A pattern of a form of an event, under a number of its own, by which `item` is numbered, too."""

    item: NumberedForm
    pattern: Pattern

    @property
    def number(self) -> int:
        """The number that lines of the pattern have."""
        return self.item.number

    @property
    def read(self) -> tuple[str, ...]:
        """The places that wanted fields read, in the order of the pattern."""
        asked = {path[0] for path in self.item.paths}
        return tuple(name for name in self.pattern.places if name in asked)


@dataclass(frozen=True, slots=True)
class TextForms:
    """How lines are told apart: the pattern of all (none: a line is nothing but its body), and those of events, in the
    order in which they are tried."""

    source: Source
    layout: Pattern | None
    variants: tuple[Variant, ...]

    @property
    def time(self) -> str:
        """The place of the instant."""
        return self.source.time[0]

    @property
    def heads(self) -> tuple[str, ...]:
        """Places of the layout that are read, in its order: the time, the body, and what wanted fields read."""
        if not self.layout:
            return ()
        fields = {path[0] for variant in self.variants for path in variant.item.paths}
        asked = {self.time, *self.source.body, *fields}
        return tuple(name for name in self.layout.places if name in asked)

    @property
    def marks(self) -> tuple[str, ...]:
        """The texts by which a body looks as if it were an event's."""
        return tuple(dict.fromkeys(variant.pattern.mark.rstrip() for variant in self.variants))

    @property
    def begins(self) -> str:
        """The expression of a body that begins as one of an event does; empty when any does."""
        return "" if "" in self.marks else "^(?:" + "|".join(literal(mark) for mark in self.marks) + ")"

    @property
    def within(self) -> str:
        """The expression of a line that holds the beginning of an event; empty when any line would."""
        return "" if "" in self.marks else "|".join(literal(mark) for mark in self.marks)

    def ends_in_value(self, variant: Variant) -> bool:
        """Whether lines of a pattern may end in something that is read."""
        ends = set(self.layout.last if self.layout else variant.pattern.last)
        if self.layout and ends & set(self.source.body):
            ends |= set(variant.pattern.last)
        read = {self.time, *(path[0] for path in variant.item.paths)}
        return variant.item.needed and bool(ends & read)

    def own(self, event: str) -> tuple[Variant, ...]:
        """The patterns of an event."""
        return tuple(variant for variant in self.variants if variant.item.event.name == event)


def text_forms(source: Source, forms: Sequence[NumberedForm]) -> TextForms:
    """How the lines of a source are recognised; each pattern of a form has a number of its own."""
    pairs = [(item, name.name) for item in forms for name in item.form.names]
    variants = tuple(Variant(replace(item, number=number), parse(text)) for number, (item, text) in enumerate(pairs))
    return TextForms(source, parse(source.line) if source.line else None, variants)
