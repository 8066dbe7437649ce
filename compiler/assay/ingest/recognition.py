"""Recognize the lines of JSON logs: which paths are read, and which form a name selects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.ingest.event_forms import NumberedForm, group_required_forms, list_field_paths
from assay.lang.model.package import Lookup, Source
from assay.lang.model.source_kinds import SOURCE_KINDS

Path_ = tuple[str, ...]

#: a path is read of every line if at least so many forms of events read only this path
SHARED = 4


@dataclass(frozen=True, slots=True)
class Table:
    """The texts that lookups at one path recognize, with the number of the form of each.

    `prefixes` are the beginnings of texts that names ending in `*` recognize.
    """

    lookup: Lookup
    forms: Mapping[str, int]
    has_prefixes: bool = False

    @property
    def prefixes(self) -> dict[str, int]:
        """Return the beginnings that are recognized, longest first."""
        names = sorted(self.forms, key=lambda name: -len(name)) if self.has_prefixes else []
        return {name[:-1]: self.forms[name] for name in names if name.endswith("*")}


@dataclass(frozen=True, slots=True)
class Recognition:
    """Recognition of the lines of a source: its forms, and the paths that are read of every line."""

    source: Source
    forms: tuple[NumberedForm, ...]

    @property
    def paths(self) -> tuple[Path_, ...]:
        """Return the paths of instants, of lookups, of members that unwrap rules require to be absent, shared paths."""
        lookup_paths = [self.get_outer_path(lookup) for lookup in self.source.lookups]
        absent_paths = [(*self.source.body, rule.absent) for rule in self.source.unwrap]
        shared = [(*self.source.body, *path) for path in self.shared]
        return tuple(dict.fromkeys([*self.time_paths, *lookup_paths, *absent_paths, *shared]))

    @property
    def time_paths(self) -> tuple[Path_, ...]:
        """Return every path of an instant: of the source, and of forms with their own."""
        form_paths = (path for item in self.forms for path in item.form.time)
        return tuple(dict.fromkeys([*self.source.time_paths, *form_paths]))

    @property
    def forms_by_time(self) -> dict[tuple[Path_, ...], tuple[int, ...]]:
        """Return the numbers of the forms with instants of their own, by the paths of these."""
        forms: dict[tuple[Path_, ...], tuple[int, ...]] = {}
        for item in self.forms:
            if item.form.time:
                forms[item.form.time] = (*forms.get(item.form.time, ()), item.number)
        return forms

    @property
    def shared(self) -> tuple[Path_, ...]:
        """Return the paths of the body that are the only path of events with at least `SHARED` forms in total.

        They are read of every line, so that the lines of these events are not parsed twice.
        """
        sole_paths = Counter(
            list_field_paths(forms)[0]
            for forms in group_required_forms(self.forms)
            for _ in forms
            if len(list_field_paths(forms)) == 1
        )
        return tuple(path for path, count in sole_paths.items() if count >= SHARED)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return the lookups in order; consecutive lookups at the same path are merged."""
        tables: list[Table] = []
        for lookup in self.source.lookups:
            names = map_names_to_forms(self.forms, lookup)
            last = tables[-1] if tables else None
            if last and (last.lookup.path, last.lookup.in_body) == (lookup.path, lookup.in_body):
                tables[-1] = replace(last, forms=names | dict(last.forms))
            else:
                tables.append(Table(lookup, names, SOURCE_KINDS[self.source.kind].has_pairs))
        return tuple(tables)

    def needs_line_text(self, forms: Sequence[NumberedForm]) -> bool:
        """Return whether the fields of an event, by its forms, are read from the text of its lines."""
        return not set(list_field_paths(forms)) <= set(self.shared)

    def get_outer_path(self, lookup: Lookup) -> Path_:
        """Return the path of a lookup in a record without a wrapped body."""
        return (*self.source.body, *lookup.path) if lookup.in_body else lookup.path


def map_names_to_forms(forms: Sequence[NumberedForm], lookup: Lookup) -> dict[str, int]:
    """Return the form of each name that a lookup recognizes, with and without its prefix; the first form of a name."""
    numbers: dict[str, int] = {}
    for item in forms:
        for name in item.form.names:
            if name.generation == lookup.generation:
                numbers.setdefault(lookup.drop + name.name, item.number)
                if not (lookup.drop and name.name.startswith(lookup.drop)):
                    numbers.setdefault(name.name, item.number)
    return numbers
