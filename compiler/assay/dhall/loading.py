"""Loading: files are read, parsed, resolved, typed and evaluated, each once as long as its content is the same."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from assay.dhall.binary import compute_hash
from assay.dhall.binary_decode import decode_expression
from assay.dhall.errors import DhallError, Diagnostic
from assay.dhall.evaluate import evaluate, place_error
from assay.dhall.imports import ImportPolicy, Refusal, chain, show_location
from assay.dhall.parser import parse
from assay.dhall.quote import quote
from assay.dhall.syntax import Alternative, Import, Node, Source, Target
from assay.dhall.typecheck import check_file
from assay.dhall.values import ABSENT, BYTES, TEXT, Value, VInject, VUnion

MAX_BYTES = 5_000_000
MAX_FILES = 2_000
MAX_TRAIL = 64
_LOCATION = VUnion({"Environment": TEXT, "Local": TEXT, "Missing": None, "Remote": TEXT})
_BOM_HINT = "save the file in UTF-8 without a byte order mark"


@dataclass(eq=False, slots=True)
class Entry:
    """A file with its value and type; `links` are the entries that it imports, by target and mode."""

    name: str
    content: bytes
    node: Node | None
    value: Value
    type: Value
    links: dict[tuple[Target, str], Entry] = field(default_factory=dict)
    sha256: str | None = None
    is_volatile: bool = False  # a side of `?` was replaced, which may be readable the next time

    def find_hash(self) -> str:
        """Give the semantic hash, computed once."""
        if self.sha256 is None:
            self.sha256 = compute_hash(quote(self.value))
        return self.sha256


class Loader:
    """One evaluation; `known` are the entries of earlier ones, which it renews."""

    def __init__(self, policy: ImportPolicy, known: dict[tuple[Target, str], Entry]) -> None:
        self.policy = policy
        self.known = known
        self.done: dict[tuple[Target, str], Entry] = {}
        self.failed: dict[tuple[Target, str], DhallError] = {}
        self.contents: dict[Target, bytes] = {}
        self.trail: list[Target] = []
        self.size = 0

    def load(self, target: Target, mode: str, node: Import | None) -> Entry:
        """Give the entry of a file; `node` is the import that names it."""
        key = (target, mode)
        if key in self.done:
            return self.done[key]
        if key in self.failed:
            raise self.failed[key]
        try:
            entry = self._load(key, node)
        except DhallError as error:
            if node is None or error.diagnostics[0].span != node.span:
                self.failed[key] = error
            raise
        self.done[key] = self.known[key] = entry
        return entry

    def _load(self, key: tuple[Target, str], node: Import | None) -> Entry:
        target, mode = key
        if mode == "Code" and target in self.trail:
            names = [self.policy.name(each) for each in (*self.trail[self.trail.index(target) :], target)]
            message = "imports form a cycle: " + " -> ".join(names)
            raise _make_error(node, message, "move what both files need into a third one")
        content = self._read(target, node)
        known = self.known.get(key)
        if known is not None and known.content == content and self._is_current(known):
            return known
        name = self.policy.name(target)
        if mode == "Bytes":
            return Entry(name, content, None, content, BYTES)
        text = _decode(name, content)
        return Entry(name, content, None, text, TEXT) if mode == "Text" else self.load_text(name, content, text, target)

    def _is_current(self, entry: Entry) -> bool:
        if entry.is_volatile:
            return False
        try:
            return all(self.load(*key, None) is link for key, link in entry.links.items())
        except DhallError:
            self.failed.clear()  # parsing the file again gives the error its place
            return False

    def _read(self, target: Target, node: Import | None) -> bytes:
        if target in self.contents:
            return self.contents[target]
        written = str(target) if node is None else _get_text(node)
        if len(self.trail) >= MAX_TRAIL:
            raise _make_error(node, f"imports are nested more than {MAX_TRAIL} files deep", "flatten the imports")
        try:
            content = self.policy.read(target, written)
        except Refusal as refusal:
            raise _make_error(node, refusal.message, refusal.hint, refusal.recoverable) from None
        self.size += len(content)
        if self.size > MAX_BYTES or len(self.contents) >= MAX_FILES:
            message = f"the files are more than {MAX_FILES} or larger than {MAX_BYTES // 1_000_000} MB"
            raise _make_error(node, message, "data belongs in runs, not in specifications")
        self.contents[target] = content
        return content

    def load_text(self, name: str, content: bytes, text: str, target: Target | None) -> Entry:
        """Parse, resolve, type and evaluate the text of a file."""
        node, imports = parse(Source(name, text))
        entry = Entry(name, content, node, None, None)
        if target is not None:
            self.trail.append(target)
        try:
            self._resolve_all(imports, target, entry)
        finally:
            if target is not None:
                self.trail.pop()
        try:
            entry.type = check_file(node)
            entry.value = evaluate(node, ())
        except DhallError as error:
            raise place_error(error, node) from None
        return entry

    def _resolve_all(self, imports: list[Import | Alternative], parent: Target | None, entry: Entry) -> None:
        """Resolve the imports of a file; raises the errors of all of them together."""
        errors: list[DhallError] = []
        for item in imports:
            try:
                self._resolve(item, parent, entry)
            except DhallError as error:
                errors.append(error)
        if errors:
            items = dict.fromkeys(item for error in errors for item in error.diagnostics)
            raise DhallError(*items, recoverable=all(error.recoverable for error in errors))

    def _resolve(self, item: Import | Alternative, parent: Target | None, entry: Entry) -> None:
        if isinstance(item, Import):
            item.resolved = self._find(item, parent, entry)
            return
        try:
            self._resolve_all(item.left, parent, entry)
        except DhallError as error:
            if not error.recoverable:
                raise
            entry.is_volatile = True
            self._resolve_all(item.right, parent, entry)
            item.node.left = item.node.right

    def _find(self, node: Import, parent: Target | None, entry: Entry) -> tuple[Value, Value, Node | None]:
        """Give the value and the type of an import, and the expression of its file."""
        target = chain(parent, node.target)
        if node.mode not in self.policy.modes:
            names = " or ".join("Dhall" if mode == "Code" else f"`as {mode}`" for mode in sorted(self.policy.modes))
            raise _make_error(node, f"`as {node.mode}` is not supported", f"a file is imported as {names}")
        if node.mode == "Location":
            return _locate(target), _LOCATION, None
        if node.sha256:
            cached = self.policy.read_cached(node.sha256)
            if cached is not None and hashlib.sha256(cached).hexdigest() == node.sha256:
                expression = decode_expression(cached)
                return evaluate(expression, ()), check_file(expression), None
        if target.kind == "missing":
            hint = "as the name of a field it needs backticks"
            raise _make_error(node, "the import `missing` can never be resolved", hint, recoverable=True)
        link = self.load(target, node.mode, node)
        entry.links[(target, node.mode)] = link
        if node.sha256 and link.find_hash() != node.sha256:
            message, hint = (
                "the imported file is not the one whose hash is given",
                "when the change is wanted, replace the hash",
            )
            raise _make_error(node, message, hint, sides=(f"sha256:{node.sha256}", f"sha256:{link.find_hash()}"))
        return link.value, link.type, link.node


def _locate(target: Target) -> VInject:
    name = {"path": "Local", "url": "Remote", "env": "Environment", "missing": "Missing"}[target.kind]
    payload: Any = target.prefix if target.kind == "env" else show_location(target)
    return VInject(_LOCATION, name, ABSENT if name == "Missing" else payload)


def _get_text(node: Import) -> str:
    """Give an import as written, without its hash, mode and headers."""
    text = node.file.text[node.start : node.end]
    return text.split()[0]


def _make_error(
    node: Import | None,
    message: str,
    hint: str = "",
    recoverable: bool = False,
    sides: tuple[str | None, str | None] = (None, None),
) -> DhallError:
    if node is None:
        return DhallError(Diagnostic("import", message, hint=hint), recoverable=recoverable)
    end = node.start + len(_get_text(node))
    span, excerpt = node.file.make_span(node.start, end), node.file.make_excerpt(node.start, end)
    return DhallError(Diagnostic("import", message, span, *sides, (), hint, excerpt), recoverable=recoverable)


def _decode(name: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        source = Source(name, content[: error.start].decode("utf-8"))
        span = source.make_span(error.start, error.start)
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        span = type(span)(name, line, column, line, column + 1, error.start, error.start + 1)
        raise DhallError(Diagnostic("parse", "the file is not UTF-8 text", span, hint=_BOM_HINT)) from None
    if text.startswith("\ufeff"):
        span = Source(name, text).make_span(0, 1)
        raise DhallError(Diagnostic("parse", "the file begins with a byte order mark", span, hint=_BOM_HINT))
    return text
