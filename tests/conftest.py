"""Define fixtures of all tests: one cache per session, in which nothing is computed twice."""

from __future__ import annotations

import gc
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assay.ingest import scanner
from tests.compare_reference import CARDANO
from tests.support.commands import MODEL, assay, build
from tests.support.deep import VARIABLE, is_deep, left_out, turn
from tests.support.laboratory import ROOT, Laboratory, laboratory
from tests.support.order import heaviest_first

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: The cache of commands that are told none: never that of the user who runs the tests.
_HOME_OF_CACHES = tempfile.TemporaryDirectory(prefix="assay-tests-")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--accept`, and `--deep`: every case of the families of which a sample runs by default."""
    parser.addoption("--accept", action="store_true", help="write actual output into the expected files of cases")
    parser.addoption("--deep", action="store_true", help="run every case, also of families that are sampled")


def pytest_configure(config: pytest.Config) -> None:
    """Use a cache of our own, and collect garbage as rarely as the command line does."""
    if config.getoption("--deep"):
        os.environ["ASSAY_DEEP"] = "1"
    os.environ["XDG_CACHE_HOME"] = _HOME_OF_CACHES.name
    gc.set_threshold(100_000, 50, 50)


def pytest_report_header() -> str:
    """Print the sample of long families, so that another machine can repeat it."""
    return "all cases" if is_deep() else f"of long families: {VARIABLE}={turn()}"


def pytest_unconfigure() -> None:
    """Remove the cache."""
    _HOME_OF_CACHES.cleanup()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files first, so that workers that take whole files end together; leave out what is sampled out.

    A test that is asked for by its name runs.
    """
    if not is_deep() and not config.option.keyword and not any("::" in argument for argument in config.args):
        gone = set(left_out(items))
        config.hook.pytest_deselected(items=list(gone))
        items[:] = [item for item in items if item not in gone]
    items.sort(key=lambda item: heaviest_first(item.path.name))


@pytest.fixture(autouse=True)
def _by_scanner_or_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every third test of reading logs, always the same, as on a machine without the scanner; cases do both."""
    is_of_ingest = request.path.parent.name == "ingest" and request.path.name != "test_cases.py"
    has_choice = is_of_ingest and "with_scanner" not in request.fixturenames
    if has_choice and zlib.crc32(request.node.nodeid.encode()) % 3 == 0:
        monkeypatch.setattr(scanner, "_library", lambda _: None)


@pytest.fixture
def with_scanner() -> None:
    """Keep the native scanner for a test; skip the test where there is none."""
    if not scanner.is_there():
        pytest.skip("there is no scanner")


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """Return a laboratory that computes runs with the compiler."""
    return laboratory(tmp_path_factory.mktemp("laboratory"))


@pytest.fixture(scope="session")
def cache(lab: Laboratory) -> Path:
    """Return the cache folder of commands and the laboratory."""
    return lab.session.store.folder


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report of two runs like the reference report; return its folder."""
    return _report(tmp_path_factory.mktemp("two") / "report", cache, "baseline", "candidate")


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report of three runs like the reference report; return its folder."""
    return _report(tmp_path_factory.mktemp("three") / "report", cache, "baseline", "candidate", "candidate2")


@pytest.fixture(scope="session")
def qa(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the QA report of CometBFT's reference run; return its folder."""
    out = tmp_path_factory.mktemp("qa") / "out"
    done = assay("build", "cometbft/qa", "--run", ROOT / "golden" / "cometbft" / "run", "-o", out, "--cache", cache)
    assert (done.status, done.err) == (0, "")
    return out


def _report(out: Path, cache: Path, *cases: str) -> Path:
    done = build([f"{case}={CARDANO / case / 'run'}" for case in cases], out, cache, *MODEL)
    assert (done.status, done.err, done.out) == (0, "", f"{out / 'report.pdf'}\n")
    return out


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Run a headless browser."""
    from tests.support.browser import browser  # most tests need none

    with browser() as running:
        yield running


@pytest.fixture
def is_accepting(request: pytest.FixtureRequest) -> bool:
    """Whether transcripts are written anew."""
    return bool(request.config.getoption("--accept"))
