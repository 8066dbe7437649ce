"""The official tests of the Dhall language, read from a folder outside of the repository.

`DHALL_LANG_TESTS` names a checkout of dhall-lang or its `tests` folder; otherwise `../shared/reference/dhall-tests`
beside the repository is used where it exists.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay_dhall.binary import compute_semantic_hash, encode
from assay_dhall.budget import Budget, apply_budget
from assay_dhall.decode import decode
from assay_dhall.errors import DhallError
from assay_dhall.evaluate import evaluate
from assay_dhall.imports import ImportRefusedError
from assay_dhall.parser import parse
from assay_dhall.quote import quote
from assay_dhall.session import Evaluator
from assay_dhall.syntax import Node, Source, Target, alpha_normalize

REPOSITORY = Path(__file__).resolve().parents[3]
EXCEPTIONS = Path(__file__).with_name("conformance_exceptions.toml")
BUDGET = Budget(steps=20_000_000)


def find_tests() -> Path | None:
    """Return the folder that holds the suites, or None."""
    configured_path = os.environ.get("DHALL_LANG_TESTS")
    candidates = (
        [Path(configured_path)] if configured_path else [REPOSITORY.parent / "shared" / "reference" / "dhall-tests"]
    )
    for candidate in candidates:
        for folder in (candidate / "tests", candidate):
            if (folder / "parser" / "success").is_dir():
                return folder
    return None


class SuitePolicy:
    """Reads what the official tests import: files anywhere below `dhall-lang`, the home folder, the environment.

    Names are paths relative to the parent of `dhall-lang`, as the suite's `as Location` tests want.
    """

    def __init__(self, tests: Path, variables: dict[str, str]) -> None:
        self.tests = tests
        self.variables = variables

    def name_of(self, path: Path) -> str:
        return f"./dhall-lang/tests/{path.relative_to(self.tests).as_posix()}"

    def resolve(self, importer: str, target: Target, mode: str, import_text: str) -> str:
        if mode == "Location":
            return ""
        if target.kind in ("http", "https", "missing"):
            raise ImportRefusedError(f"`{import_text}` is not followed", is_absent=True)
        if target.kind == "env":
            return f"env:{target.parts[0]}"
        if target.kind == "home":
            return "/".join(["./dhall-lang/tests/import/home", *target.parts])
        if target.kind == "absolute":
            return "/".join(["", *target.parts])
        folder = importer.rpartition("/")[0]
        return os.path.normpath("/".join([folder, ".." if target.kind == "parent" else ".", *target.parts]))

    def read(self, name: str) -> bytes:
        if name.startswith("env:"):
            if name[4:] not in self.variables:
                raise ImportRefusedError(f"`{name}` is not set", is_absent=True)
            return self.variables[name[4:]].encode()
        path = self.tests / os.path.relpath(name, "./dhall-lang/tests")
        if not path.is_file():
            raise ImportRefusedError(f"`{name}` does not exist", is_absent=True)
        return path.read_bytes()

    def fetch_cached(self, digest: str) -> bytes | None:
        path = self.tests / "import" / "cache" / "dhall" / f"1220{digest}"
        return path.read_bytes() if path.is_file() else None


@dataclass(frozen=True, slots=True)
class Case:
    """A test of the suite: its name, and a function that returns an empty text or the failure."""

    suite: str
    name: str
    path: Path
    run: Callable[[], str]


def read_exceptions() -> dict[str, str]:
    """Return why tests are expected to fail, by name."""
    entries = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))["exception"]
    return {entry["test"]: entry["reason"] for entry in entries}


def imports_prelude(path: Path) -> bool:
    """Return whether a test imports the official Prelude."""
    return path.suffix == ".dhall" and b"../Prelude/" in path.read_bytes()


def has_prelude(tests: Path) -> bool:
    """Return whether the Prelude is beside the tests, as in a checkout of dhall-lang."""
    return (tests.parent / "Prelude").is_dir()


def read_source(path: Path) -> Source:
    return Source(path.name, path.read_bytes().decode("utf-8"))


def iter_cases(tests: Path) -> Iterator[Case]:
    """Yield every test of every suite."""
    suites: list[tuple[str, str, str, Callable[[Path, Path], str]]] = [
        ("parser/success", "A.dhall", "B.dhallb", _check_encoding),
        ("binary-decode/success", "A.dhallb", "B.dhall", _check_decoding),
        ("alpha-normalization/success", "A.dhall", "B.dhall", _check_alpha),
        ("normalization/success", "A.dhall", "B.dhall", lambda a, b: _check_normal_form(tests, a, b)),
        ("semantic-hash/success", "A.dhall", "B.hash", lambda a, b: _check_hash(tests, a, b)),
        ("type-inference/success", "A.dhall", "B.dhall", lambda a, b: _check_type(tests, a, b)),
        ("import/success", "A.dhall", "B.dhall", lambda a, b: _check_import(tests, a, b)),
    ]
    for suite, ending, other_ending, check in suites:
        for path in sorted((tests / suite).rglob(f"*{ending}")):
            expected_path = path.with_name(path.name.removesuffix(ending) + other_ending)
            name = path.relative_to(tests).as_posix().removesuffix(ending)
            yield Case(
                suite,
                name,
                path,
                lambda path=path, expected_path=expected_path, check=check: check(path, expected_path),
            )
    failures: list[tuple[str, str, Callable[[Path], object]]] = [
        ("parser/failure", ".dhall", lambda path: parse(read_source(path))),
        ("binary-decode/failure", ".dhallb", lambda path: decode(path.read_bytes())),
        ("type-inference/failure", ".dhall", lambda path: _evaluate(tests, path)),
        ("import/failure", ".dhall", lambda path: _evaluate(tests, path)),
    ]
    for suite, ending, action in failures:
        for path in sorted((tests / suite).rglob(f"*{ending}")):
            if path.name.endswith("ENV.dhall"):
                continue
            name = path.relative_to(tests).as_posix().removesuffix(ending)
            yield Case(suite, name, path, lambda path=path, action=action: _check_refusal(path, action))


def _check_refusal(path: Path, action: Callable[[Path], object]) -> str:
    try:
        with apply_budget(BUDGET):
            action(path)
    except (DhallError, UnicodeDecodeError):
        return ""
    return "accepted"


def _compare(actual: Node, expected: Node) -> str:
    return "" if encode(actual) == encode(expected) else "another result"


def _check_encoding(path: Path, expected_path: Path) -> str:
    with apply_budget(BUDGET):
        return "" if encode(parse(read_source(path))) == expected_path.read_bytes() else "another encoding"


def _check_decoding(path: Path, expected_path: Path) -> str:
    return _compare(decode(path.read_bytes()), parse(read_source(expected_path)))


def _check_alpha(path: Path, expected_path: Path) -> str:
    return _compare(alpha_normalize(parse(read_source(path))), parse(read_source(expected_path)))


def _read_variables(tests: Path, path: Path) -> dict[str, str]:
    variables = {"DHALL_TEST_VAR": "6 * 7"}
    name = path.name.removesuffix(".dhall")
    for candidate in (name, name.removesuffix("A")):
        extra = path.with_name(f"{candidate}ENV.dhall")
        if extra.is_file():
            value = Evaluator(SuitePolicy(tests, {})).evaluate_text(extra.read_text(encoding="utf-8")).value
            variables |= {item.fields["mapKey"]: item.fields["mapValue"] for item in value.items}
    return variables


def _evaluate(tests: Path, path: Path):
    policy = SuitePolicy(tests, _read_variables(tests, path))
    return Evaluator(policy, BUDGET).evaluate_text(path.read_bytes().decode("utf-8"), policy.name_of(path))


def _is_open(path: Path) -> bool:
    """Return whether a test is of a single rule: it may be open or ill-typed, and is normalized without types."""
    return ("unit" in path.parts or "simple" in path.parts or "simplifications" in path.parts) and not any(
        word in path.read_text(encoding="utf-8") for word in ("./", "env:", "missing")
    )


def _check_normal_form(tests: Path, path: Path, expected_path: Path) -> str:
    expected = parse(read_source(expected_path))
    with apply_budget(BUDGET):
        value = evaluate(parse(read_source(path)), ()) if _is_open(path) else _evaluate(tests, path).value
        return _compare(quote(value, []), expected)


def _check_hash(tests: Path, path: Path, expected_path: Path) -> str:
    expected = expected_path.read_text(encoding="utf-8").strip()
    if "simple" in path.parts or "simplifications" in path.parts:
        with apply_budget(BUDGET):
            value = evaluate(parse(read_source(path)), ())
            actual = compute_semantic_hash(quote(value, [], anonymous=True))
    else:
        with apply_budget(BUDGET):
            actual = _evaluate(tests, path).module.compute_hash()
    return "" if f"sha256:{actual}" == expected else f"sha256:{actual}"


def _check_type(tests: Path, path: Path, expected_path: Path) -> str:
    with apply_budget(BUDGET):
        return _compare(quote(_evaluate(tests, path).type, []), parse(read_source(expected_path)))


def _check_import(tests: Path, path: Path, expected_path: Path) -> str:
    with apply_budget(BUDGET):
        actual = quote(_evaluate(tests, path).value, [])
        return _compare(actual, quote(_evaluate(tests, expected_path).value, []))
