"""Files that are evaluated apart: what each comes to, with gaps where what it takes from its imports goes.

An outline is what is learned of a text: its value as plain data, for any imports of the types that it was learned
with.  So when one file changes, that file alone is evaluated, against the type that it had; the values of all others
are filled in anew.  What comes out is what would come out of all the texts, for Dhall has worked out the outlines
itself, from the texts as functions of their imports, and no other value can have the same type and go another way
through what holds no condition.

What cannot be had so (a text that computes with an import, an import that is a function, a type that has become
another) is left to the evaluation of the whole.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.spec.dhall_data import Data, Gap, StuckError, data_of, filled, members_of, type_of
from assay.spec.dhall_errors import interpolated
from assay.spec.dhall_forms import Item, read, written
from assay.spec.dhall_known import Known, as_import, evaluator, form_name, keys, normal_form, placed
from assay.spec.dhall_reads import can_be_argument, members_read, with_arguments
from assay.spec.dhall_run import SECONDS, Copy, Outcome, copied
from assay.spec.dhall_scan import Scan, imports, scan
from assay.spec.imports import SourceFile
from assay.storage.atomic import put

FORMAT = 1
WIDELY = 3  # files that most others take members of, such as a schema
OPEN, GIVEN, AS_TEXT = "open", "given", "text"


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known of a text: `type` is the hash of its type, empty where its value is no data (or it is the root).

    `imports` tells of each import, in their order, what the outline holds for: any value of a type (`open`, its hash),
    this very value (`given`, its semantic hash), this very text (`text`, its hash).
    """

    type: str
    imports: tuple[tuple[str, str], ...]
    data: Data | None


@dataclass(frozen=True, slots=True)
class Found:
    """What a file comes to: the hash of its type, and the value."""

    type: str
    value: Any


class UnknownError(Exception):
    """What is known does not suffice."""


@dataclass(frozen=True, slots=True)
class Outlines:
    """The outlines of texts, which are kept beside what is known of files; types are kept among their forms."""

    known: Known

    def evaluate(self, root: str, files: Sequence[SourceFile], seconds: float) -> Outcome | None:
        """The value of the file `root`; None where too little is known, or what has changed comes to no value."""
        try:
            return Outcome("value", _Filling(self, files, seconds).found(root).value)
        except (UnknownError, OSError, LookupError, TypeError):  # what is kept may be no outline
            return None

    def unlearned(self, files: Sequence[SourceFile]) -> str:
        """The next file of which an outline can be learned, those that are imported first; empty: there is none."""
        filling = _Filling(self, files, 0)
        return next((name for name in keys(files) if not filling.outline(name)), "")

    def learn(self, root: str, files: Sequence[SourceFile]) -> bool:
        """Learn the outline of one more file; all but `root` are known.  Whether there was any."""
        name = self.unlearned(files)
        if not name:
            return False
        learning = _Learning(self, files, root)
        put(self.known.folder.parent, self.place(learning.file(name)), _text(learning.outline(name)))
        return True

    def of(self, file: SourceFile) -> Outline | None:
        """The outline of a text; None when there is none."""
        try:
            found = json.loads(self.place(file).read_text(encoding="utf-8"))
            gaps = [_gap(*gap) for gap in found["gaps"]]
            data = Data(found["value"], gaps) if found["is_data"] else None
            return Outline(found["type"], tuple((str(how), str(what)) for how, what in found["imports"]), data)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def get_ready(self, files: Sequence[SourceFile]) -> None:
        """Read the forms of the files that most files take members of: whichever is edited, they are asked for."""
        hashes = self.known.hashes(files)
        code = (file for file in files if file.is_code)
        taken = Counter(
            target for file in code for target, names in _members_of_imports(file).items() if names is not None
        )
        for target, _ in taken.most_common(WIDELY):
            with contextlib.suppress(OSError, ValueError, KeyError):  # it may not be known yet
                _expression(self.form(hashes[target]))

    def place(self, file: SourceFile) -> Path:
        """Where the outline of a text is kept."""
        key = hashlib.sha256(f"{evaluator()}\0{FORMAT}\0{file.name}\0{file.sha256}".encode()).hexdigest()
        return self.known.folder / "outlines" / key

    def form(self, sha256: str) -> bytes:
        """A form that is kept."""
        return (self.known.folder / "forms" / form_name(sha256)).read_bytes()


@dataclass(slots=True)
class _Filling:
    """One evaluation: what of the files is found so far."""

    outlines: Outlines
    files: Sequence[SourceFile]
    seconds: float
    named: dict[str, SourceFile] = field(init=False)
    hashes: dict[str, str] = field(init=False)
    done: dict[str, Found] = field(default_factory=dict)
    fitting: dict[str, Outline | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.named = {item.name: item for item in self.files}
        self.hashes = self.outlines.known.hashes(self.files)

    def outline(self, name: str) -> Outline | None:
        """The outline of a file when it holds for what its imports are now."""
        if name not in self.fitting:
            found = self.outlines.of(self.named[name])
            links = self.named[name].imports
            fits = found is not None and len(found.imports) == len(links) and all(
                self._holds(link.target, *told) for link, told in zip(links, found.imports, strict=True)
            )  # fmt: skip
            self.fitting[name] = found if fits else None
        return self.fitting[name]

    def _holds(self, target: str, how: str, what: str) -> bool:
        """Whether an import is what an outline holds for."""
        if how == AS_TEXT:
            return self.named[target].sha256 == what
        if how == GIVEN:
            return self.hashes.get(target) == what
        outline = self.outline(target)
        return outline.type == what if outline else self._fresh(target, what)

    def _fresh(self, name: str, expected: str) -> bool:
        """Whether a file of which nothing is known has a type; then its value is found."""
        if self.seconds and name not in self.done:
            with contextlib.suppress(UnknownError):
                self.done[name] = self._evaluated(name, expected)
        return name in self.done and self.done[name].type == expected

    def _evaluated(self, name: str, expected: str) -> Found:
        """A file evaluated alone, as an expression of a type."""
        base = posixpath.basename(name)
        with _apart(self.outlines, self.named[name], self.named, self.hashes, {expected}) as (copy, forms):
            inner = [piece.text for piece in interpolated([self.named[name]])]
            text = f'./"{base}" : missing sha256:{expected}'
            outcome = copy.evaluate(name, self.seconds, inner, expression=text, forms=forms)
        if outcome.kind != "value":
            raise UnknownError
        return Found(expected, outcome.value)

    def found(self, name: str) -> Found:
        """What a file comes to; raises `UnknownError`."""
        if name not in self.done:
            outline = self.outline(name)
            if outline is None or outline.data is None:
                raise UnknownError
            links = zip(self.named[name].imports, outline.imports, strict=True)
            values = [self.found(link.target).value if how == OPEN else None for link, (how, _) in links]
            self.done[name] = Found(outline.type, filled(outline.data, values))
        return self.done[name]


@dataclass(slots=True)
class _Learning:
    """What is learned of one file, whose imports have outlines."""

    outlines: Outlines
    files: Sequence[SourceFile]
    root: str
    filling: _Filling = field(init=False)

    def __post_init__(self) -> None:
        self.filling = _Filling(self.outlines, self.files, 0)

    def file(self, name: str) -> SourceFile:
        """The file of a name."""
        return self.filling.named[name]

    def outline(self, name: str) -> Outline:
        """The outline of a file, with as many imports left open as can be."""
        file, scanned = self.file(name), scan(self.file(name).text)
        kind, value = self._known(name)
        left = self._can_be_open(file, scanned) if value is not None else {}
        while value is not None:
            try:
                data = self._as_function(file, scanned, left)
                if _equal(data, [self.filling.found(link.target).value if number in left else None
                                 for number, link in enumerate(file.imports)], value):  # fmt: skip
                    return Outline(kind, self._told(file, left), data)
                stuck = frozenset[int]()
            except StuckError as problem:
                stuck = problem.uses
            if not left:
                break
            left = {number: sha256 for number, sha256 in left.items() if number not in stuck} if stuck else {}
        return Outline("", self._told(file, {}), None)

    def _known(self, name: str) -> tuple[str, Any]:
        """The hash of a file's type and its value, where it is known and data: of the root only its value."""
        if name == self.root:
            outcome = self.outlines.known.evaluate(name, self.files, SECONDS)
            return "", outcome.value if outcome else None
        item = read(self.outlines.form(self.filling.hashes[name]))
        try:
            kind = written(type_of(item))
            return self._kept(kind), data_of(item).value
        except StuckError:
            return "", None

    def _kept(self, form: bytes) -> str:
        sha256 = hashlib.sha256(form).hexdigest()
        folder = self.outlines.known.folder
        put(folder.parent, folder / "forms" / form_name(sha256), form)
        return sha256

    def _can_be_open(self, file: SourceFile, scanned: Scan) -> dict[int, str]:
        """The numbers of imports that are data, with the hashes of their types."""
        found = {}
        for number, (link, ref) in enumerate(zip(file.imports, imports(scanned), strict=True)):
            outline = None if link.as_text else self.filling.outline(link.target)
            if outline and outline.data is not None and can_be_argument(scanned, ref):
                found[number] = outline.type
        return found

    def _told(self, file: SourceFile, left: Mapping[int, str]) -> tuple[tuple[str, str], ...]:
        def told(number: int, target: str, as_text: bool) -> tuple[str, str]:
            if number in left:
                return OPEN, left[number]
            return (AS_TEXT, self.file(target).sha256) if as_text else (GIVEN, self.filling.hashes[target])

        return tuple(told(number, link.target, link.as_text) for number, link in enumerate(file.imports))

    def _as_function(self, file: SourceFile, scanned: Scan, left: Mapping[int, str]) -> Data:
        """The data of a file as a function of imports; raises `StuckError`."""
        types = {number: f"missing sha256:{sha256}" for number, sha256 in left.items()}
        function = replace(file, content=with_arguments(scanned, types).encode())
        with _apart(self.outlines, function, self.filling.named, self.filling.hashes, set(left.values())) as (
            copy,
            forms,
        ):
            form = normal_form(copy, forms, file.name)
        if not form:
            raise StuckError
        order = list(left)
        try:
            data = data_of(read(form), len(order))
        except StuckError as problem:
            raise StuckError(frozenset(order[number] for number in problem.uses)) from None
        return Data(data.value, [_numbered(gap, order) for gap in data.gaps])


def _numbered(gap: Gap, order: Sequence[int]) -> Gap:
    """A gap with the numbers of imports in the place of those of arguments."""
    return replace(gap, parts=tuple(part if isinstance(part, str) else (order[part[0]], part[1]) for part in gap.parts))


def _equal(data: Data, values: Sequence[Any], expected: Any) -> bool:
    """Whether data, with its gaps filled, are what is expected; written as text, so that 1 and 1.0 are told apart."""
    copy = Data(json.loads(json.dumps(data.value)), data.gaps)
    return json.dumps(filled(copy, values), sort_keys=True) == json.dumps(expected, sort_keys=True)


@contextmanager
def _apart(
    outlines: Outlines, file: SourceFile, named: Mapping[str, SourceFile], hashes: Mapping[str, str], types: set[str]
) -> Iterator[tuple[Copy, Path]]:
    """A private copy of one file and of what it imports, and a folder with the forms of these, cut to the members that
    it reads, and of types; raises `UnknownError` when an import is not known."""
    texts = {link.target for link in file.imports if link.as_text}
    read_of = _members_of_imports(file)
    if texts & set(read_of) or not set(read_of) <= set(hashes):
        raise UnknownError
    forms = [outlines.form(sha256) for sha256 in types]
    there = [file, *(named[name] for name in texts)]
    for target, names in read_of.items():
        form = outlines.form(hashes[target])
        forms.append(form if names is None else _cut(form, names))
        there.append(replace(named[target], content=as_import(hashlib.sha256(forms[-1]).hexdigest())))
    with copied(there) as copy, placed({hashlib.sha256(form).hexdigest(): form for form in forms}) as folder:
        yield copy, folder


@functools.lru_cache(maxsize=256)
def _cut(form: bytes, names: frozenset[str]) -> bytes:
    """The form of a record with some of its members; remembered, as those who watch files ask for the same again."""
    return written(members_of(_expression(form), names))


@functools.lru_cache(maxsize=8)
def _expression(form: bytes) -> Item:
    """The expression of a form, which nobody changes; to read that of a schema takes a fifth of a second."""
    return read(form)


def _members_of_imports(file: SourceFile) -> dict[str, frozenset[str] | None]:
    """The names of the files that a file imports as code, with the members that it reads of them (None: all)."""
    scanned = scan(file.text)
    found: dict[str, frozenset[str] | None] = {}
    for link, ref in zip(file.imports, imports(scanned), strict=True):
        if not link.as_text:
            names, before = members_read(scanned, ref), found.get(link.target, frozenset())
            found[link.target] = None if names is None or before is None else before | names
    return found


def _gap(place: Sequence[str | int], parts: Sequence[Any], is_text: bool) -> Gap:
    """A gap as it was written."""
    found = (part if isinstance(part, str) else (int(part[0]), tuple(part[1])) for part in parts)
    return Gap(tuple(place), tuple(found), is_text)


def _text(outline: Outline) -> str:
    data = outline.data or Data()
    gaps = [(gap.place, gap.parts, gap.is_text) for gap in data.gaps]
    return json.dumps(
        {"type": outline.type, "imports": outline.imports, "is_data": outline.data is not None,
         "value": data.value, "gaps": gaps},
        sort_keys=True,
    )  # fmt: skip
