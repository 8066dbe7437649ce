"""Fixtures of the tests of the whole: one cache for the session, in which nothing is worked out twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare_reference import CARDANO
from tests.support.commands import MODEL, assay, build
from tests.support.laboratory import ROOT, Laboratory, laboratory


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """Where runs are worked out by the compiler under test."""
    return laboratory(tmp_path_factory.mktemp("laboratory"))


@pytest.fixture(scope="session")
def cache(lab: Laboratory) -> Path:
    """The cache folder that commands and the laboratory share."""
    return lab.session.store.folder


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """The folder of the report of two runs, built as the reference report was."""
    return _report(tmp_path_factory.mktemp("two") / "report", cache, "baseline", "candidate")


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """The folder of the report of three runs, built as the reference report was."""
    return _report(tmp_path_factory.mktemp("three") / "report", cache, "baseline", "candidate", "candidate2")


@pytest.fixture(scope="session")
def qa(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """The folder of the QA report of the reference run of CometBFT."""
    out = tmp_path_factory.mktemp("qa") / "out"
    done = assay("build", "cometbft/qa", "--run", ROOT / "golden" / "cometbft" / "run", "-o", out, "--cache", cache)
    assert (done.status, done.err) == (0, "")
    return out


def _report(out: Path, cache: Path, *cases: str) -> Path:
    done = build([f"{case}={CARDANO / case / 'run'}" for case in cases], out, cache, *MODEL)
    assert (done.status, done.err, done.out) == (0, "", f"{out / 'report.pdf'}\n")
    return out
