"""Runs the official acceptance tests of dhall-lang; `python -m tests.dhall.conformance` prints a table."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from assay.dhall import DhallError, Evaluator, FolderPolicy, Refusal, Target, to_data
from assay.dhall.binary import encode
from assay.dhall.binary_decode import decode_expression
from assay.dhall.evaluate import evaluate
from assay.dhall.evaluator import run_deep
from assay.dhall.meter import Budget
from assay.dhall.parser import parse
from assay.dhall.quote import quote
from assay.dhall.syntax import Node, Source

ROOT = Path(__file__).parents[2]
EXCEPTIONS = Path(__file__).with_name("conformance_exceptions.toml")
BUDGET = Budget(steps=20_000_000, characters=200_000_000, items=20_000_000)


def find_suite() -> Path | None:
    """Give the folder of the official tests, where it is."""
    named = os.environ.get("DHALL_LANG_TESTS")
    for folder in (named, ROOT.parent / "shared" / "reference" / "dhall-tests"):
        if folder and (Path(folder) / "tests" / "parser").is_dir():
            return Path(folder) / "tests"
        if folder and (Path(folder) / "parser").is_dir():
            return Path(folder)
    return None


def read_exceptions() -> dict[str, str]:
    """Give the reason for each test that does not hold."""
    groups = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))["group"]
    return {name: group["reason"] for group in groups for name in group["tests"]}


class SuitePolicy:
    """Reads what the suite demands: any path, its home folder, its cache and the variables of a test."""

    modes = frozenset(("Code", "Text", "Bytes", "Location"))

    def __init__(self, suite: Path, variables: dict[str, str] | None = None) -> None:
        self.suite = suite
        self.variables = {"DHALL_TEST_VAR": "6 * 7"} | (variables or {})

    def name(self, target: Target) -> str:
        return str(target)

    def read(self, target: Target, written: str) -> bytes:
        if target.kind == "env" and target.prefix in self.variables:
            return self.variables[target.prefix].encode()
        if target.kind != "path":
            raise Refusal(f"`{written}` cannot be read", recoverable=True)
        parts = target.parts
        if parts[:2] == ("dhall-lang", "tests"):
            base, parts = self.suite, parts[2:]
        else:
            base = self.suite / "import" / "home" if target.prefix == "~" else Path("/nowhere")
        try:
            return base.joinpath(*parts).read_bytes()
        except OSError as error:
            raise Refusal(f"`{written}` cannot be read: {error}", recoverable=True) from None

    def read_cached(self, sha256: str) -> bytes | None:
        path = self.suite / "import" / "cache" / "dhall" / f"1220{sha256}"
        return path.read_bytes() if path.is_file() else None


def parse_file(path: Path) -> Node:
    return parse(Source(path.name, path.read_bytes().decode("utf-8")))[0]


class Suite:
    """The families of tests; each gives names and checks, which return a problem or an empty text."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, family: str, ending: str) -> Iterator[Path]:
        return (path for path in sorted((self.root / family).rglob(f"*{ending}")) if "data" not in path.parts)

    def evaluate(self, path: Path, variables: dict[str, str] | None = None) -> tuple[Node, Node]:
        """Give the normal form and its type."""
        evaluator = Evaluator(SuitePolicy(self.root, variables), BUDGET)
        target = Target("path", ".", ("dhall-lang", "tests", *path.relative_to(self.root).parts))
        evaluated = evaluator.evaluate_file(target)
        return run_deep(lambda: (quote(evaluated.value), quote(evaluated.type)), BUDGET)

    def check_parse(self, path: Path) -> str:
        data = encode(parse_file(path))
        wanted = path.with_name(path.name.replace("A.dhall", "B.dhallb")).read_bytes()
        return "" if data == wanted else f"encoded as {data.hex()}, not {wanted.hex()}"

    def check_decoding(self, path: Path) -> str:
        wanted = encode(parse_file(path.with_name(path.name.replace("A.dhallb", "B.dhall"))))
        decoded = encode(decode_expression(path.read_bytes()))
        return "" if decoded == wanted else f"decoded as {decoded.hex()}"

    def check_normal_form(self, path: Path) -> str:
        wanted = encode(parse_file(path.with_name(path.name.replace("A.dhall", "B.dhall"))))
        normal_form = encode(self.normalize(path))
        return "" if normal_form == wanted else f"normalized to {normal_form.hex()}"

    def normalize(self, path: Path) -> Node:
        """Give the normal form, of an open term too, which has no type."""
        node, imports = parse(Source(path.name, path.read_bytes().decode("utf-8")))
        if imports:
            return self.evaluate(path)[0]
        return run_deep(lambda: quote(evaluate(node, ())), BUDGET)

    def check_alpha(self, path: Path) -> str:
        wanted = encode(parse_file(path.with_name(path.name.replace("A.dhall", "B.dhall"))))
        return "" if encode(parse_file(path), rename=True) == wanted else "another alpha normal form"

    def check_hash(self, path: Path) -> str:
        wanted = path.with_name(path.name.replace("A.dhall", "B.hash")).read_text().strip()
        digest = hashlib.sha256(encode(self.evaluate(path)[0], rename=True)).hexdigest()
        return "" if wanted == f"sha256:{digest}" else f"the hash is {digest}"

    def check_type(self, path: Path) -> str:
        wanted = encode(parse_file(path.with_name(path.name.replace("A.dhall", "B.dhall"))))
        inferred = encode(self.evaluate(path)[1])
        return "" if inferred == wanted else f"the type is {inferred.hex()}"

    def check_import(self, path: Path) -> str:
        settings = path.with_name(path.name.replace("A.dhall", "ENV.dhall"))
        variables = self.read_variables(settings)
        wanted = encode(self.evaluate(path.with_name(path.name.replace("A.dhall", "B.dhall")))[0])
        resolved = encode(self.evaluate(path, variables)[0])
        return "" if resolved == wanted else f"resolved to {resolved.hex()}, not {wanted.hex()}"

    def read_variables(self, settings: Path) -> dict[str, str]:
        if not settings.is_file():
            return {}
        variables: dict[str, str] = to_data(Evaluator(FolderPolicy(settings.parent)).evaluate_file(settings.name).value)
        return variables

    def refuse(self, check: Callable[[Path], object]) -> Callable[[Path], str]:
        def run(path: Path) -> str:
            try:
                check(path)
            except (DhallError, UnicodeDecodeError):
                return ""
            return "is accepted"

        return run

    def families(self) -> dict[str, tuple[list[Path], Callable[[Path], str]]]:
        refused_imports = [path for path in self.find("import/failure", ".dhall") if "ENV" not in path.name]
        return {
            "parser, accepted": (list(self.find("parser/success", "A.dhall")), self.check_parse),
            "parser, refused": (list(self.find("parser/failure", ".dhall")), self.refuse(parse_file)),
            "binary, decoded": (list(self.find("binary-decode/success", "A.dhallb")), self.check_decoding),
            "binary, refused": (
                list(self.find("binary-decode/failure", ".dhallb")),
                self.refuse(lambda path: decode_expression(path.read_bytes())),
            ),
            "normal forms": (list(self.find("normalization/success", "A.dhall")), self.check_normal_form),
            "alpha normal forms": (list(self.find("alpha-normalization/success", "A.dhall")), self.check_alpha),
            "semantic hashes": (list(self.find("semantic-hash/success", "A.dhall")), self.check_hash),
            "types, inferred": (list(self.find("type-inference/success", "A.dhall")), self.check_type),
            "types, refused": (list(self.find("type-inference/failure", ".dhall")), self.refuse(self.evaluate)),
            "imports, resolved": (list(self.find("import/success", "A.dhall")), self.check_import),
            "imports, refused": (refused_imports, self.refuse(self.evaluate)),
        }

    def run(self, family: str) -> tuple[int, dict[str, str]]:
        """Run a family: the number of its tests, and the problems by the name of the test."""
        paths, check = self.families()[family]
        problems = {}
        for path in paths:
            try:
                problem = check(path)
            except (DhallError, UnicodeDecodeError) as error:
                problem = str(error)
            if problem:
                problems[path.relative_to(self.root).as_posix()] = problem
        return len(paths), problems


def main() -> None:
    root = find_suite()
    assert root, "set DHALL_LANG_TESTS to the folder of the official tests"
    suite = Suite(root)
    exceptions = read_exceptions()
    for family in suite.families():
        count, problems = suite.run(family)
        print(f"| {family} | {count - len(problems)} / {count} |")
        for name, problem in problems.items():
            if name not in exceptions:
                print(f"  {name}: {problem[:300]}")


if __name__ == "__main__":
    main()
