"""Define fixtures of all tests: one cache per session, in which nothing is computed twice."""

from __future__ import annotations

import gc
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from assay.ingest import scanner
from tests.compare_reference import CARDANO
from tests.support.commands import MODEL, build, run_assay
from tests.support.deep import VARIABLE, get_turn, is_deep, list_skipped
from tests.support.laboratory import ROOT, Laboratory, create_laboratory
from tests.support.order import rank_file

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: The cache of commands without `--cache`: never that of the user who runs the tests.
_CACHE_HOME = tempfile.TemporaryDirectory(prefix="assay-tests-")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--accept`, and `--deep`, which runs every case of the families that are sampled by default."""
    parser.addoption("--accept", action="store_true", help="write actual output into the expected files of cases")
    parser.addoption("--deep", action="store_true", help="run every case, also of families that are sampled")


def pytest_configure(config: pytest.Config) -> None:
    """Use a cache of our own, collect garbage as rarely as the command line does, and time no property test."""
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")
    if config.getoption("--deep"):
        os.environ["ASSAY_DEEP"] = "1"
    os.environ["XDG_CACHE_HOME"] = _CACHE_HOME.name
    gc.set_threshold(100_000, 50, 50)


def pytest_report_header() -> str:
    """Print the sample of long families, so that another machine can repeat it."""
    return "all cases" if is_deep() else f"of long families: {VARIABLE}={get_turn()}"


def pytest_unconfigure() -> None:
    """Remove the cache."""
    _CACHE_HOME.cleanup()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files first, so that workers that take whole files end together; drop unsampled cases.

    A test that is named on the command line always runs.
    """
    if not is_deep() and not config.option.keyword and not any("::" in argument for argument in config.args):
        deselected = set(list_skipped(items))
        config.hook.pytest_deselected(items=list(deselected))
        items[:] = [item for item in items if item not in deselected]
    items.sort(key=lambda item: rank_file(item.path.name))


@pytest.fixture(autouse=True)
def _by_scanner_or_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every third test of reading logs, always the same, as on a machine without the scanner; cases do both."""
    is_ingest_test = request.path.parent.name == "ingest" and request.path.name != "test_cases.py"
    has_choice = is_ingest_test and "with_scanner" not in request.fixturenames
    if has_choice and zlib.crc32(request.node.nodeid.encode()) % 3 == 0:
        monkeypatch.setattr(scanner, "_load_library", lambda _: None)


@pytest.fixture
def with_scanner() -> None:
    """Use the native scanner in a test; skip the test if the scanner is not built."""
    if not scanner.is_available():
        pytest.skip("there is no scanner")


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """Return a laboratory that computes runs with the compiler."""
    return create_laboratory(tmp_path_factory.mktemp("laboratory"))


@pytest.fixture(scope="session")
def cache(lab: Laboratory) -> Path:
    """Return the cache folder of commands and the laboratory."""
    return lab.session.store.folder


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report of two runs like the reference report; return its folder."""
    return _build_report(tmp_path_factory.mktemp("two") / "report", cache, "baseline", "candidate")


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report of three runs like the reference report; return its folder."""
    return _build_report(tmp_path_factory.mktemp("three") / "report", cache, "baseline", "candidate", "candidate2")


@pytest.fixture(scope="session")
def qa(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the QA report of CometBFT's reference run; return its folder."""
    out = tmp_path_factory.mktemp("qa") / "out"
    result = run_assay(
        "build", "cometbft/qa", "--run", ROOT / "golden" / "cometbft" / "run", "-o", out, "--cache", cache
    )
    assert (result.status, result.err) == (0, "")
    return out


def _build_report(out: Path, cache: Path, *cases: str) -> Path:
    result = build([f"{case}={CARDANO / case / 'run'}" for case in cases], out, cache, *MODEL)
    assert (result.status, result.err, result.out) == (0, "", f"{out / 'report.pdf'}\n")
    return out


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Run a headless browser."""
    from tests.support.browser import open_browser  # most tests need none

    with open_browser() as running:
        yield running


@pytest.fixture
def is_accepting(request: pytest.FixtureRequest) -> bool:
    """Return whether to rewrite transcripts."""
    return bool(request.config.getoption("--accept"))
