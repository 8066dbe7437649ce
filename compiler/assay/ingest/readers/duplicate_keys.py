"""JSON lines in which a required key occurs twice.

Of a line it is asked whether what such a key ends in occurs twice in it; lines where it does, which are few, are parsed
once more.  To ask this of every line would be a tenth of all work of reading logs, so in large files one of `EVERY` is
asked, chosen by its instant: whatever is read beside it, and in how many pieces, it is the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.chunks import FILE_STEP
from assay.ingest.discovery import RunFiles
from assay.ingest.dropped_records import parsed
from assay.ingest.event_forms import NumberedForm, bodies, ranges
from assay.ingest.fingerprint import FileSnapshot
from assay.ingest.line_counts import LineCount, Share
from assay.ingest.plain_copies import text_lines
from assay.ingest.recognition import Recognition
from assay.lang.model.package import Source
from assay.sql import dialect
from assay.sql.dialect import column
from assay.util.json_text import has_conflicting_key

SMALL = 2**20  # bytes of a file (as it lies) of which every line is asked

Path_ = tuple[str, ...]
#: the keys that are read of the objects at some paths
Keys = Mapping[Path_, tuple[str, ...]]


def read_twice(source: Source, forms: Sequence[NumberedForm]) -> dict[str, object]:
    """The other parameters of `stands_twice`: of each object the keys that are read of it, by the number of the form;
    none where no event is wanted."""
    count = max((item.number for item in forms if item.needed), default=-1) + 1
    found: dict[str, object] = {}
    if not count:
        return found
    for wrapped in bodies(source):
        keys = keys_read(source, forms, wrapped)
        for index, place in enumerate(objects(keys)):
            found[parameter(wrapped, index)] = [list(keys.get(number, {}).get(place, ())) for number in range(count)]
    return found


def parameter(wrapped: int, index: int) -> str:
    """The name of the parameter that tells what keys are read of an object."""
    return f"read_{wrapped}_{index}"


def paths_read(source: Source, form: NumberedForm, wrapped: int) -> list[Path_]:
    """Where a line is read that is of a form, and whose body is wrapped by a rule of that number (0: not at all)."""
    body = bodies(source)[wrapped]
    names = [(*body, *lookup.path) if lookup.in_body else lookup.path for lookup in source.lookups]
    ruled = [(*body, *rule.path) for rule in form.form.unless]
    return list(dict.fromkeys([*source.times, *names, *ruled, *((*body, *path) for path in form.paths)]))


def keys_read(source: Source, forms: Sequence[NumberedForm], wrapped: int) -> dict[int, Keys]:
    """By the number of a wanted form, the keys of each object that are read."""
    return {item.number: _by_object(paths_read(source, item, wrapped)) for item in forms if item.needed}


def _by_object(paths: Iterable[Path_]) -> Keys:
    found: dict[Path_, dict[str, None]] = {}
    for path in paths:
        for depth, key in enumerate(path):
            found.setdefault(path[:depth], {})[key] = None
    return {place: tuple(keys) for place, keys in found.items()}


def objects(keys: Mapping[int, Keys]) -> list[Path_]:
    """The objects of which keys are read."""
    return list(dict.fromkeys(place for own in keys.values() for place in own))


def duplicate_key_warnings(files: RunFiles, how: Recognition, found: Sequence[Share]) -> tuple[str, ...]:
    """A sentence on the lines of events that have two values of a key that is read, and where the first stands; none
    where none has."""
    tallies = [tally for share in found for tally in share.tallies if tally.twice]
    if not tallies:
        return ()
    first = min(tallies, key=lambda tally: (tally.host, tally.first_twice or 0))
    held, number = _place(files, first)
    total = sum(tally.twice for tally in tallies)
    most = "at least " if any(_place(files, tally)[0].size > SMALL for tally in tallies) else ""
    key = next(_keys(how, first.form, held.path, number), "")
    of = f" of `{key}`" if key else " of a key"
    where = f"{held.path.relative_to(files.directory).as_posix()}:{number}"
    if total == 1:
        count = f"{most}1" if most else "a"
        return (f"{count} log line has two values{of}, of which the first counts ({where}).",)
    return (f"{most}{total} log lines have two values of a key, of which the first counts (the first is {where}, two "
            f"values{of}).",)  # fmt: skip


def _place(files: RunFiles, tally: LineCount) -> tuple[FileSnapshot, int]:
    """The file and the number of the first such line."""
    host = next(host for host in files.hosts if host.host == tally.host)
    index, number = divmod(tally.first_twice or 0, FILE_STEP)
    return host.held[index], number


def _keys(how: Recognition, form: int, path: Path, number: int) -> Iterator[str]:
    """The paths of keys that have two values in a line, as far as Python reads it."""
    try:
        record = parsed(text_lines(path, [number])[number])
    except (ValueError, RecursionError):
        return
    own = next(item for item in how.forms if item.number == form)
    for wrapped in bodies(how.source):
        for read in paths_read(how.source, own, wrapped):
            prefixes = (read[:depth] for depth in range(1, len(read) + 1))
            yield from (".".join(prefix) for prefix in prefixes if has_conflicting_key(record, prefix))


#: the part of a key that means something else in a pattern of LIKE, or that JSON may write in several ways
_OTHERWISE = re.compile(r'.*[%_"\\/\x00-\x1f\x7f-\U0010ffff]', re.DOTALL)
#: how a key goes on that is written with an escape
ESCAPED = r'\\u[^"]*"\s*:'
EVERY = 11  # no factor of a second's parts, so that instants of whole seconds or milliseconds are chosen alike


def stands_twice(source: Source, forms: Sequence[NumberedForm]) -> exp.Expr:
    """Whether a line (`file`, `line`, `form`, `wrapped`, `t_ns`) is of a wanted event, is asked, and has two values of
    a key that is read of it.  The parameter `$small` tells of each file whether every line is, `$some` whether any
    file is such."""
    needed = [item for item in forms if item.needed]
    if not needed:
        return exp.false()
    index = exp.Add(this=column("file"), expression=dialect.integer(1))
    small = dialect.member(builder.given_list("small", "BOOLEAN"), index)
    rest = exp.Mod(this=column("t_ns"), expression=dialect.integer(EVERY))
    chosen = exp.If(this=exp.EQ(this=rest, expression=dialect.integer(0)), true=exp.true())
    some = exp.If(this=exp.Placeholder(this="some"), true=small)  # to ask for the file of each line takes time, too
    own = exp.If(this=_is([item.number for item in needed]), true=exp.Case(ifs=[chosen, some], default=exp.false()))
    return builder.when(exp.Case(ifs=[own], default=exp.false()), _of_bodies(source, needed), exp.false())


def _of_bodies(source: Source, forms: Sequence[NumberedForm]) -> exp.Expr:
    """Whether a line is one, by the rule by which its body is wrapped."""
    found = {wrapped: _of_body(keys_read(source, forms, wrapped), wrapped) for wrapped in bodies(source)}
    plain = found.pop(0)
    return builder.cases(column("wrapped"), found, plain) if found else plain


def _of_body(keys: Mapping[int, Keys], wrapped: int) -> exp.Expr:
    closely = [_twice_in(place, parameter(wrapped, index)) for index, place in enumerate(objects(keys))]
    return builder.when(_likely(keys), builder.first_of([*closely, exp.false()]), exp.false())


def _likely(keys: Mapping[int, Keys]) -> exp.Expr:
    """Whether a line has a key twice by a cheap sign, which every line gives that has."""
    own = {number: dict.fromkeys(key for found in of.values() for key in found) for number, of in keys.items()}
    every = [key for key in next(iter(own.values())) if all(key in read for read in own.values())]
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, read in own.items():
        groups.setdefault(tuple(key for key in read if key not in every), []).append(number)
    signs = [_occurs_twice(key) for key in every]
    ifs = [
        exp.If(this=_is(numbers), true=exp.or_(*map(_occurs_twice, rest))) for rest, numbers in groups.items() if rest
    ]
    signs += [exp.Case(ifs=ifs, default=exp.false())] if ifs else []
    escaped = builder.call("regexp_matches", column("line"), builder.text(ESCAPED))
    written = builder.call("contains", column("line"), builder.text("\\u"))
    return exp.or_(*signs, builder.when(written, escaped, exp.false()))


def _occurs_twice(key: str) -> exp.Expr:
    """Whether what a key ends in, and its quote, stand twice in a line."""
    end = _OTHERWISE.sub("", key) + '"'
    return exp.Like(this=column("line"), expression=builder.text(f"%{end}%{end}%"))


def _is(numbers: Sequence[int]) -> exp.Expr:
    """Whether a line is of one of some forms."""
    return exp.or_(*(builder.within(column("form"), low, high) for low, high in ranges(sorted(numbers))))


def _twice_in(place: Path_, read: str) -> exp.Expr:
    """Whether an object of a line has two values of a key of those of a parameter; null where it has not."""
    number = exp.Add(this=column("form"), expression=dialect.integer(1))
    asked = dialect.member(builder.given_list(read, "TEXT[]"), number)
    names = builder.call("json_keys", column("line"), builder.pointer(place))
    first = builder.call("list_position", names.copy(), column("k"))
    again = exp.NEQ(this=first, expression=column("i"))
    twice = _filtered(names, ("k", "i"), exp.and_(builder.call("list_contains", asked, column("k")), again))
    held = builder.member(
        builder.call("json_extract", column("line"), exp.Array(expressions=[builder.pointer(place)])), 1
    )
    pairs = builder.call("list_zip", names.copy(), builder.call("json_extract", held, builder.text("$.*")))
    key = builder.call("struct_extract", column("p"), dialect.integer(1))
    own = _filtered(pairs, ("p",), builder.call("list_contains", twice.copy(), key))
    differ = exp.GT(this=_number(own), expression=_number(twice.copy()))
    some = exp.GT(this=builder.call("len", twice), expression=dialect.integer(0))
    return builder.when(some, builder.when(differ, exp.true()))


def _number(listed: exp.Expr) -> exp.Expr:
    """How many different members a list has."""
    return builder.call("len", builder.call("list_distinct", listed))


def _filtered(listed: exp.Expr, names: Sequence[str], condition: exp.Expr) -> exp.Expr:
    """The members of a list for which a condition holds, which calls them, and their places, by names."""
    chosen = exp.Lambda(this=condition, expressions=[exp.to_identifier(name) for name in names], colon=True)
    return builder.call("list_filter", listed, chosen)
