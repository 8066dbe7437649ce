"""Evaluate files: parse, resolve imports, infer types, evaluate; unchanged files are not evaluated again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay_dhall import typing_records, typing_rules, typing_unions
from assay_dhall.binary import compute_semantic_hash
from assay_dhall.budget import Budget, apply_budget, spend_characters
from assay_dhall.decode import decode
from assay_dhall.errors import DhallError, Problem, ReportedError, Span, build_error, build_problem, place_error
from assay_dhall.evaluate import evaluate
from assay_dhall.imports import LOCATION, FolderPolicy, ImportPolicy, ImportRefusedError, NoImports, locate
from assay_dhall.infer import Context, infer
from assay_dhall.parser import Parser
from assay_dhall.quote import quote
from assay_dhall.syntax import Fallback, Import, Let, Literal, Node, Source, iter_parts
from assay_dhall.values import BYTES, MISSING, TEXT, Value

MAX_FILES = 2_000
MAX_TRAIL = 64
MAX_BYTES = 5_000_000

RULES = (typing_rules, typing_records, typing_unions)
"""The modules that register the rules of types."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that an evaluation read; `mode` is `Code`, `Text` or `Bytes`."""

    name: str
    mode: str
    sha256: str


@dataclass(slots=True, eq=False)
class Constant:
    """An import whose value needs no evaluation, such as a file as text."""

    value: Value
    type: Value

    def evaluate(self) -> Value:
        """Return the value."""
        return self.value


@dataclass(slots=True, eq=False)
class Module:
    """A file that is parsed and typed, and evaluated when its value is first needed.

    `problems` are the errors of the file and of its imports; with any, `type` is None. `is_absent` means that all
    problems are imports that do not exist. `uses` are the imports: name, mode, SHA-256, and the module of code.
    `text_nodes` are the expressions that write or name texts, once `dhall.origin` has listed them.
    """

    name: str
    sha256: str
    node: Node | None = None
    type: Value = None
    problems: list[Problem] = field(default_factory=list)
    is_absent: bool = False
    uses: list[tuple[str, str, str, Module | None]] = field(default_factory=list)
    can_be_reused: bool = True
    digest: str = ""
    value: Value = MISSING
    text_nodes: list[Node] | None = None

    @property
    def body(self) -> Node:
        """Return the expression after the definitions of the file."""
        assert self.node is not None
        node = self.node
        while isinstance(node, Let):
            node = node.body
        return node

    def evaluate(self) -> Value:
        """Return the value; the module must be without problems."""
        if self.value is MISSING:
            assert self.node is not None
            try:
                self.value = evaluate(self.node, ())
            except DhallError as error:
                raise place_error(error, self.body) from None
        return self.value

    def compute_hash(self) -> str:
        """Return the semantic hash: the SHA-256 of the binary normal form."""
        if not self.digest:
            self.digest = compute_semantic_hash(quote(self.evaluate(), [], anonymous=True))
        return self.digest


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The expression of a file, and its imports."""

    node: Node
    imports: list[Import]
    has_fallback: bool


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The value and type of a file, and every file that was read for it, sorted by name."""

    value: Value
    type: Value
    files: tuple[ReadFile, ...]
    module: Module


@dataclass(frozen=True, slots=True)
class Inspection:
    """The expression of a text, its parts whose types could be inferred, and its problems."""

    node: Node
    types: list[tuple[Node, Value, Context]]
    problems: tuple[Problem, ...]


class Evaluator:
    """Evaluates files, and remembers each of them until it or one of its imports changes.

    The budget is that of one call; remembered files cost nothing.
    """

    def __init__(self, policy: ImportPolicy | None = None, budget: Budget | None = None) -> None:
        self.policy: ImportPolicy = policy or NoImports()
        self.budget = budget or Budget()
        self.modules: dict[str, Module] = {}
        self._parsed: dict[str, tuple[bytes, ParsedFile]] = {}

    def find_module(self, name: str, sha256: str) -> Module | None:
        """Return the module of a file with this content, when it was evaluated without problems."""
        module = self.modules.get(name)
        if module is None or module.sha256 != sha256 or module.problems or not module.can_be_reused:
            return None
        return module

    def parse(self, name: str, content: bytes) -> ParsedFile:
        """Parse a file; it is not parsed again when it is evaluated. Raise `DhallError` when it is no expression."""
        parsed = parse_file(name, content)
        self._parsed[name] = content, parsed
        return parsed

    def take_parsed(self, name: str, content: bytes) -> ParsedFile:
        """Return a parsed file and forget it, since evaluation writes into its tree."""
        cached_content, parsed = self._parsed.pop(name, (None, None))
        return parsed if parsed is not None and cached_content == content else parse_file(name, content)

    def evaluate_file(self, path: Path) -> Evaluation:
        """Evaluate a file inside the folders of the policy; raise `DhallError` with every problem."""
        if not isinstance(self.policy, FolderPolicy):
            raise TypeError("only a FolderPolicy has names for paths")
        try:
            name = self.policy.get_name(path)
        except ImportRefusedError as error:
            raise DhallError([Problem("import", error.message, hint=error.hint)]) from None
        return self.evaluate_name(name)

    def evaluate_name(self, name: str) -> Evaluation:
        """Evaluate the file that the policy reads for a name."""
        with apply_budget(self.budget):
            load = Loader(self)
            try:
                module = load.load_module(name)
            except ImportRefusedError as error:
                raise DhallError([Problem("import", error.message, hint=error.hint)]) from None
            return self._finish(load, module)

    def evaluate_text(self, text: str, name: str = "(text)") -> Evaluation:
        """Evaluate an expression; its imports are relative to `name`."""
        with apply_budget(self.budget):
            load = Loader(self)
            return self._finish(load, load.load_text_module(name, text))

    def inspect(self, name: str, text: str) -> Inspection:
        """Infer types in a text that replaces a file, as far as possible; raise `DhallError` at syntax errors."""
        with apply_budget(self.budget):
            load = Loader(self)
            parsed = parse_text(name, text)
            module = Module(name, "", parsed.node)
            load.trail.append(name)
            load.resolve_imports(module, parsed)
            context = Context(record=[])
            load.type_module(module, context)
            assert module.node is not None
            return Inspection(module.node, context.record or [], (*module.problems, *context.problems))

    def _finish(self, load: Loader, module: Module) -> Evaluation:
        if module.problems:
            raise DhallError(module.problems)
        files = {(use.name, use.mode): use for use in load.iter_files(module)}
        return Evaluation(module.evaluate(), module.type, tuple(files[key] for key in sorted(files)), module)


class Loader:
    """One evaluation: `checked` are the modules that are up to date, `trail` are the files that are being loaded."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.policy = evaluator.policy
        self.checked: dict[str, Module] = {}
        self.contents: dict[str, bytes] = {}
        self.trail: list[str] = []
        self.total_bytes = 0

    def read(self, name: str) -> bytes:
        """Return the content of a name, read once."""
        if name not in self.contents:
            content = self.policy.read(name)
            self.total_bytes += len(content)
            if len(self.contents) >= MAX_FILES or self.total_bytes > MAX_BYTES:
                raise ImportRefusedError(
                    f"the imports are more than {MAX_FILES:,} files or {MAX_BYTES // 1_000_000} MB",
                    "data belongs in runs, not in specifications",
                )
            self.contents[name] = content
        return self.contents[name]

    def load_module(self, name: str) -> Module:
        """Return the module of a file, the remembered one if neither the file nor its imports changed."""
        module = self.checked.get(name)
        if module is None:
            content = self.read(name)
            digest = hashlib.sha256(content).hexdigest()
            loaded_module = self.evaluator.modules.get(name)
            if loaded_module is None or loaded_module.sha256 != digest or not self._is_current(loaded_module):
                loaded_module = self._load_file(name, content, digest)
                self.evaluator.modules[name] = loaded_module
            module = self.checked[name] = loaded_module
        return module

    def _is_current(self, module: Module) -> bool:
        if not module.can_be_reused or module.problems or module.name in self.trail:
            return False
        self.trail.append(module.name)
        try:
            for name, mode, digest, used in module.uses:
                if mode != "Code":
                    if hashlib.sha256(self.read(name)).hexdigest() != digest:
                        return False
                elif self.load_module(name) is not used:
                    return False
        except ImportRefusedError:
            return False
        finally:
            self.trail.pop()
        return True

    def _load_file(self, name: str, content: bytes, digest: str) -> Module:
        return self._fill(Module(name, digest), lambda: self.evaluator.take_parsed(name, content))

    def load_text_module(self, name: str, text: str) -> Module:
        """Return the module of a text without a file."""
        content = text.encode("utf-8", "replace")
        return self._fill(Module(name, hashlib.sha256(content).hexdigest()), lambda: parse_text(name, text))

    def _fill(self, module: Module, parse: Callable[[], ParsedFile]) -> Module:
        self.trail.append(module.name)
        try:
            parsed = parse()
            module.node = parsed.node
            self.resolve_imports(module, parsed)
            self.type_module(module, Context(problems=module.problems))
        except DhallError as error:
            module.problems.extend(error.problems)
        finally:
            self.trail.pop()
        _raise_when_exhausted(module.problems)
        return module

    def type_module(self, module: Module, context: Context) -> None:
        """Set the type of a parsed module, or report its errors."""
        assert module.node is not None
        try:
            inferred = infer(module.node, context)
        except ReportedError:
            return
        except DhallError as error:
            context.report(place_error(error, module.body))
            return
        if not module.problems:
            module.type = inferred

    def resolve_imports(self, module: Module, parsed: ParsedFile) -> None:
        """Load the targets of the imports of a module."""
        assert module.node is not None
        if parsed.has_fallback:
            module.is_absent = self._resolve_expression(module, module.node, module.problems)
            return
        states = [self._resolve_import(module, node, module.problems) for node in parsed.imports]
        module.is_absent = any(states) and all(state is not False for state in states)

    def _resolve_expression(self, module: Module, node: Node, problems: list[Problem]) -> bool:
        """Resolve the imports of an expression; return whether there are problems, all of them missing files."""
        problem_count = len(problems)
        is_only_absent = True
        pending = [node]
        while pending:
            current = pending.pop()
            if isinstance(current, Fallback):
                is_only_absent &= self._resolve_fallback(module, current, problems)
            elif isinstance(current, Import):
                is_only_absent &= self._resolve_import(module, current, problems) is not False
            else:
                pending.extend(iter_parts(current))
        return is_only_absent and len(problems) > problem_count

    def _resolve_fallback(self, module: Module, node: Fallback, problems: list[Problem]) -> bool:
        left_problems: list[Problem] = []
        is_absent = self._resolve_expression(module, node.left, left_problems)
        node.chosen = node.left
        if not left_problems:
            return True
        module.can_be_reused = False
        if not is_absent:
            problems.extend(left_problems)
            return False
        node.chosen = node.right
        problem_count = len(problems)
        is_absent = self._resolve_expression(module, node.right, problems)
        return is_absent or len(problems) == problem_count

    def _resolve_import(self, module: Module, node: Import, problems: list[Problem]) -> bool | None:
        """Resolve an import; return None on success, else whether its target does not exist."""
        try:
            node.module = self._load_import(module, node)
        except ImportRefusedError as error:
            problems.append(describe_refusal(node, error))
            return error.is_absent
        except DhallError as error:
            _raise_when_exhausted(error.problems)
            _extend(problems, error.problems)
            return False
        if isinstance(node.module, Module) and node.module.problems:
            _extend(problems, node.module.problems)
            is_absent, node.module = node.module.is_absent, None
            return is_absent
        return None

    def resolve(self, importer: str, node: Import) -> str:
        """Return the name of the file that an import leads to; raise `ImportRefusedError`."""
        return self.policy.resolve(importer, node.target, node.mode, get_import_text(node))

    def check_trail(self, name: str, node: Import) -> None:
        """Raise `DhallError` for a cycle of imports, `ImportRefusedError` for a chain that is too long."""
        if name in self.trail:
            cycle = " -> ".join([*self.trail[self.trail.index(name) :], name])
            hint = "move what both files need into a third one"
            raise build_error("import", node, f"imports form a cycle: {cycle}", hint=hint)
        if len(self.trail) >= MAX_TRAIL:
            raise ImportRefusedError(f"imports are nested more than {MAX_TRAIL} files deep", "flatten the imports")

    def _load_import(self, module: Module, node: Import) -> Module | Constant:
        if node.digest and (content := self.policy.fetch_cached(node.digest)) is not None:
            cached = self._decode_cached(node, content)
            if cached is not None:
                return cached
        if node.mode == "Location":
            self.resolve(module.name, node)
            return Constant(locate(module.name, node.target), LOCATION)
        name = self.resolve(module.name, node)
        if node.mode == "Code":
            return self._import_code(module, node, name)
        content = self.read(name)
        module.uses.append((name, node.mode, hashlib.sha256(content).hexdigest(), None))
        constant = self._decode_constant(node, name, content)
        if node.digest:
            literal = Literal(node.source, 0, 0, constant.value)
            self._check_hash(node, compute_semantic_hash(literal))
        return constant

    def _decode_constant(self, node: Import, name: str, content: bytes) -> Constant:
        spend_characters(len(content))
        if node.mode == "Bytes":
            return Constant(content, BYTES)
        try:
            return Constant(content.decode("utf-8"), TEXT)
        except UnicodeDecodeError:
            raise build_error("import", node, f"the file `{name}` is not UTF-8 text") from None

    def _import_code(self, module: Module, node: Import, name: str) -> Module:
        try:
            self.check_trail(name, node)
        except DhallError:
            module.can_be_reused = False
            raise
        imported = self.load_module(name)
        module.uses.append((name, "Code", imported.sha256, imported))
        if node.digest and not imported.problems:
            self._check_hash(node, imported.compute_hash())
        return imported

    def _check_hash(self, node: Import, actual: str) -> None:
        if node.digest != actual:
            raise build_error(
                "import",
                node,
                "the import does not match its hash",
                expected=f"sha256:{node.digest}",
                found=f"sha256:{actual}",
                hint="when the change is wanted, replace the hash",
            )

    def _decode_cached(self, node: Import, content: bytes) -> Constant | None:
        """Return the value of a cached normal form; None if its hash does not match."""
        if hashlib.sha256(content).hexdigest() != node.digest:
            return None
        expression = decode(content)
        type_value = infer(expression, Context())
        return Constant(evaluate(expression, ()), type_value)

    def iter_files(self, module: Module) -> Iterable[ReadFile]:
        """Yield the files that the evaluation of a module read."""
        pending, seen = [module], {id(module)}
        while pending:
            current = pending.pop()
            yield ReadFile(current.name, "Code", current.sha256)
            for name, mode, digest, used in current.uses:
                if used is None:
                    yield ReadFile(name, mode, digest)
                elif id(used) not in seen:
                    seen.add(id(used))
                    pending.append(used)


def _raise_when_exhausted(problems: Sequence[Problem]) -> None:
    """Raise the first problem of a used-up budget, since nothing that follows can be evaluated."""
    first = next((problem for problem in problems if problem.code == "budget"), None)
    if first is not None:
        raise DhallError([first])


def _extend(problems: list[Problem], more: Iterable[Problem]) -> None:
    problems.extend(problem for problem in more if problem not in problems)


def describe_refusal(node: Import, error: ImportRefusedError) -> Problem:
    """Return the problem of a refused import, at its target."""
    end = node.start + len(get_import_text(node))
    return build_problem("import", node.source, node.start, end, error.message, hint=error.hint)


def get_import_text(node: Import) -> str:
    """Return the target of an import as it is written, without hash and `as Text`."""
    return node.source.text[node.start : node.end].split()[0]


def parse_file(name: str, content: bytes) -> ParsedFile:
    """Parse the content of a file; raise `DhallError` with one problem."""
    try:
        return parse_text(name, content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = len(content[content.rfind(b"\n", 0, error.start) + 1 : error.start].decode("utf-8")) + 1
        span = Span(name, error.start, error.end, line, column, line, column + 1)
        hint = "save the file in UTF-8 without a byte order mark"
        raise DhallError([Problem("parse", "the file is not UTF-8 text", span, hint=hint)]) from None


def parse_text(name: str, text: str) -> ParsedFile:
    """Parse a text; raise `DhallError` with one problem."""
    parser = Parser(Source(name, text))
    return ParsedFile(parser.read_whole(), parser.imports, parser.has_fallback)


def evaluate_file(
    path: Path, policy: FolderPolicy, budget: Budget | None = None, cache: dict[str, Module] | None = None
) -> Evaluation:
    """Evaluate a file; unchanged modules of earlier calls with the same `cache` are not evaluated again."""
    evaluator = Evaluator(policy, budget)
    if cache is not None:
        evaluator.modules = cache
    return evaluator.evaluate_file(path)


__all__ = ["Evaluation", "Evaluator", "Module", "ReadFile", "evaluate_file"]
