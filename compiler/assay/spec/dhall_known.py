"""Normal forms of unchanged files, which evaluation takes instead of reading, checking and normalising them again.

Dhall knows an import by the hash of its normal form (`./file sha256:...`), and an evaluator keeps the normal forms of
such imports.  Here every file has a key: the hash of its content and of the keys of all that it imports.  What is
learned of a key is its semantic hash, and that normal form.  In the private copy that is evaluated, files that are
known hold nothing but an import by their hash; so only files that changed, and those that import them, are worked out.
What comes out is what would come out of all the texts: the evaluator compares each normal form with its hash.

The import stands in the file, not where the file is imported: the evaluator keeps files, not hashed imports, and would
read and check the normal form again for each that imports it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from assay.spec.dhall_errors import interpolated
from assay.spec.dhall_forms import standard
from assay.spec.dhall_run import SECONDS, Copy, Outcome, copied
from assay.spec.imports import SourceFile
from assay.storage.atomic import put
from assay.storage.paths import resolve_path
from assay.storage.scratch import folder as temporary

FOLDER = "dhall"  # the evaluator's own name below its cache folder
NOTHING = "0" * 64
WRITES = 64 << 20  # bytes of a normal form
_FOUND = re.compile(r"Found\s+sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of files: `folder` holds `keys/` (semantic hashes) and `forms/` (normal forms)."""

    folder: Path

    def hashes(self, files: Sequence[SourceFile]) -> dict[str, str]:
        """Name -> semantic hash of the files that are known."""
        found = {}
        for name, key in keys(files).items():
            with contextlib.suppress(OSError):
                text = (self.folder / "keys" / key).read_text(encoding="ascii")
                if (self.folder / "forms" / form_name(text)).is_file():
                    found[name] = text
        return found

    def evaluate(self, root: str, files: Sequence[SourceFile], seconds: float) -> Outcome | None:
        """The value of the file `root`; None where nothing is known, or it comes to no value (then the texts as they
        are tell where the cause is).  What stands in texts of files that are known was an expression then."""
        hashes = self.hashes(files)
        if not hashes:
            return None
        inner = [piece.text for piece in interpolated([item for item in files if item.name not in hashes])]
        there = frozen(files, hashes)
        text = next(item.text for item in there if item.name == root)  # one normal form less than an import of it
        with copied(there) as copy, self._forms(hashes.values()) as forms:
            outcome = copy.evaluate(root, seconds, inner, expression=text, forms=forms)
        return outcome if outcome.kind == "value" else None

    def unknown(self, root: str, files: Sequence[SourceFile]) -> str:
        """The next file that is not known, but for `root`, which nothing imports; empty: there is none."""
        known = self.hashes(files)
        return next((name for name in keys(files) if name not in known and name != root), "")

    def learn(self, root: str, files: Sequence[SourceFile]) -> bool:
        """Learn of one more file, one whose imports are all known; whether there was any."""
        known, found = self.hashes(files), keys(files)
        name = self.unknown(root, files)
        if not name:
            return False
        inner = [piece.text for piece in interpolated([item for item in files if item.name == name])]
        with copied(frozen(files, known)) as copy, self._forms(known.values()) as forms:
            form = normal_form(copy, forms, name, inner)
        if not form:
            return False
        sha256 = hashlib.sha256(form).hexdigest()
        put(self.folder.parent, self.folder / "forms" / form_name(sha256), form)
        put(self.folder.parent, self.folder / "keys" / found[name], sha256)
        return True

    @contextmanager
    def _forms(self, hashes: Iterable[str]) -> Iterator[Path]:
        """A private folder with these normal forms, as the evaluator looks for them."""
        with placed({text: resolve_path(self.folder / "forms" / form_name(text)) for text in hashes}) as folder:
            yield folder


@contextmanager
def placed(forms: Mapping[str, bytes | Path]) -> Iterator[Path]:
    """A private folder with normal forms, by their hash, as the evaluator looks for them."""
    with temporary() as folder:
        (folder / FOLDER).mkdir()
        for text, form in forms.items():
            place = folder / FOLDER / form_name(text)
            if isinstance(form, bytes):
                place.write_bytes(form)
            else:
                place.symlink_to(form)
        yield folder


def normal_form(copy: Copy, forms: Path, name: str, inner: Sequence[str] = ()) -> bytes:
    """The normal form of a file, with the forms of what it imports in the folder `forms`; empty where it has none.
    Each of the texts `inner` must be an expression."""
    base = f'./"{posixpath.basename(name)}" sha256:'
    told = copy.evaluate(name, SECONDS, expression=base + NOTHING, forms=forms)
    match = _FOUND.search(told.text)
    if match is None:
        return b""
    done = copy.evaluate(name, SECONDS, inner, expression=base + match[1], forms=forms, writes=WRITES)
    return b"" if done.kind == "broken" else _standard(forms / FOLDER / form_name(match[1]), match[1])


@functools.cache
def evaluator() -> str:
    """The version of the evaluator."""
    return version("dhall")


def keys(files: Sequence[SourceFile]) -> dict[str, str]:
    """Name -> key of each file of code, those that are imported first."""
    named = {item.name: item for item in files}
    found: dict[str, str] = {}
    tool = f"{evaluator()}\0standard\0"

    def visit(item: SourceFile) -> str:
        if not item.is_code:
            return item.sha256
        if item.name not in found:
            parts = [f"{link.target}\0{visit(named[link.target])}" for link in item.imports]
            found[item.name] = hashlib.sha256("\0".join((tool, item.sha256, *parts)).encode()).hexdigest()
        return found[item.name]

    for item in files:
        visit(item)
    return found


def frozen(files: Sequence[SourceFile], hashes: Mapping[str, str]) -> list[SourceFile]:
    """The files, those that are known as imports by their hash; but not where the text itself is imported."""
    texts = {link.target for item in files for link in item.imports if link.as_text}
    known = {name: as_import(text) for name, text in hashes.items() if name not in texts}
    return [replace(item, content=known.get(item.name, item.content)) for item in files]


def as_import(sha256: str) -> bytes:
    """A text that imports the normal form of this hash."""
    return f"missing sha256:{sha256}".encode()


def _standard(place: Path, sha256: str) -> bytes:
    """The form that the evaluator wrote there, if it has this hash once it is as it is hashed; else none."""
    try:
        form = standard(place.read_bytes())
    except (OSError, ValueError):
        return b""
    return form if hashlib.sha256(form).hexdigest() == sha256 else b""


def form_name(text: str) -> str:
    """The file of a normal form: a multihash, as the evaluator names it."""
    return f"1220{text}"
