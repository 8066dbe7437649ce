"""How the lines of logs of JSON objects are told apart: what is read of each of them, and what that tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.ingest.event_forms import NumberedForm, paths_of, wanted_events
from assay.lang.model.package import Lookup, Source

Path_ = tuple[str, ...]

#: so many forms make it worth while to look for what they read in every line
SHARED = 4


@dataclass(frozen=True, slots=True)
class Table:
    """Texts that lookups of one place know, and the number of the form that each tells."""

    lookup: Lookup
    forms: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Recognition:
    """How the lines of a source are recognised: its forms, and the paths that are read of every line."""

    source: Source
    forms: tuple[NumberedForm, ...]

    @property
    def paths(self) -> tuple[Path_, ...]:
        """The time, what each lookup reads, the member by whose absence a body is known to be wrapped, shared paths."""
        looked = [self.outer(lookup) for lookup in self.source.lookups]
        absent = [(*self.source.body, rule.absent) for rule in self.source.unwrap]
        shared = [(*self.source.body, *path) for path in self.shared]
        return tuple(dict.fromkeys([*self.source.times, *looked, *absent, *shared]))

    @property
    def shared(self) -> tuple[Path_, ...]:
        """Paths of the body, each all that events of several forms read; their lines are not parsed a second time."""
        alone = Counter(paths_of(own)[0] for own in wanted_events(self.forms) for _ in own if len(paths_of(own)) == 1)
        return tuple(path for path, forms in alone.items() if forms >= SHARED)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The lookups in order, those that follow each other and read the same place as one."""
        found: list[Table] = []
        for lookup in self.source.lookups:
            known = map_known_texts(self.forms, lookup)
            last = found[-1] if found else None
            if last and (last.lookup.path, last.lookup.in_body) == (lookup.path, lookup.in_body):
                found[-1] = Table(last.lookup, known | dict(last.forms))
            else:
                found.append(Table(lookup, known))
        return tuple(found)

    def reads_line(self, own: Sequence[NumberedForm]) -> bool:
        """Whether the fields of an event, whose forms these are, are taken from the text of its lines."""
        return not set(paths_of(own)) <= set(self.shared)

    def outer(self, lookup: Lookup) -> Path_:
        """Where a lookup reads, in a record that is not wrapped."""
        return (*self.source.body, *lookup.path) if lookup.in_body else lookup.path


def map_known_texts(forms: Sequence[NumberedForm], lookup: Lookup) -> dict[str, int]:
    """The texts that a lookup knows, with and without the prefix that it drops, and their forms (a name's first)."""
    found: dict[str, int] = {}
    for item in forms:
        for name in item.form.names:
            if name.generation == lookup.generation:
                found.setdefault(lookup.drop + name.name, item.number)
                if not (lookup.drop and name.name.startswith(lookup.drop)):
                    found.setdefault(name.name, item.number)
    return found
